//! Where configuration is written.
//!
//! In: work, each with the commands that set what it needs. Out: commands. Every need is
//! written before its work; then a write is left out where the same one is known to hold,
//! and moved before a loop where every round would write the same: its operands do not
//! mention the loop's variable, nothing in the loop may write those fields otherwise, and
//! nothing reads them before it. Which fields a command reads and writes is asked of its
//! procedure ([`semantics::machine::effects`]), definitely and maybe.

use super::program::{Amount, Command, CommandNode, Work};
use semantics::machine::Machine;
use semantics::machine::effects::{Effects, effects};
use std::collections::{BTreeMap, BTreeSet};

/// Places configuration.
pub fn place(machine: &Machine, body: Vec<CommandNode<Work>>) -> Vec<CommandNode> {
    let mut settings = BTreeSet::new();
    let body = written_out(body, &mut settings);
    let mut placing = Placing {
        machine,
        settings,
        known: BTreeMap::new(),
    };
    let body = placing.lean(body, &mut BTreeSet::new());
    let body = placing.hoisted(body);
    placing.lean(body, &mut BTreeSet::new())
}

/// Every need before its work.
fn written_out(body: Vec<CommandNode<Work>>, settings: &mut BTreeSet<Command>) -> Vec<CommandNode> {
    let mut out = Vec::new();
    for node in body {
        match node {
            CommandNode::Loop { var, count, body } => out.push(CommandNode::Loop {
                var,
                count,
                body: written_out(body, settings),
            }),
            CommandNode::Do(work) => {
                for need in work.needs {
                    settings.insert(need.clone());
                    out.push(CommandNode::Do(need));
                }
                out.push(CommandNode::Do(work.command));
            }
        }
    }
    out
}

struct Placing<'m> {
    machine: &'m Machine,
    /// The commands that configure.
    settings: BTreeSet<Command>,
    known: BTreeMap<(usize, Vec<Option<i64>>), Effects>,
}

impl Placing<'_> {
    /// What a command does to fields.
    fn effects(&mut self, command: &Command) -> Effects {
        let fixed = |a: &Amount| (a.array.is_none() && a.terms.is_empty()).then_some(a.constant);
        let operands: Vec<Option<i64>> = command.operands.iter().map(fixed).collect();
        let at = self.machine.instructions[command.instruction].procedure;
        let machine = self.machine;
        let key = (command.instruction, operands);
        let make = |key: &(usize, Vec<Option<i64>>)| match at {
            Some(at) => effects(machine, at, &key.1),
            None => Effects::default(),
        };
        if let Some(found) = self.known.get(&key) {
            return found.clone();
        }
        let found = make(&key);
        self.known.insert(key, found.clone());
        found
    }

    /// What may be written in a body, but for `same`.
    fn written(&mut self, body: &[CommandNode], same: Option<&Command>, out: &mut BTreeSet<usize>) {
        for node in body {
            match node {
                CommandNode::Loop { body, .. } => self.written(body, same, out),
                CommandNode::Do(command) if Some(command) == same => {}
                CommandNode::Do(command) => out.extend(self.effects(command).maybe),
            }
        }
    }

    /// What may be read in a body.
    fn read(&mut self, body: &[CommandNode], out: &mut BTreeSet<usize>) {
        for node in body {
            match node {
                CommandNode::Loop { body, .. } => self.read(body, out),
                CommandNode::Do(command) => {
                    let effects = self.effects(command);
                    out.extend(effects.reads);
                    out.extend(effects.checks);
                }
            }
        }
    }

    /// Leaves out writes of what holds anyway; `held` are the settings that hold before.
    fn lean(&mut self, body: Vec<CommandNode>, held: &mut BTreeSet<Command>) -> Vec<CommandNode> {
        let mut out = Vec::new();
        for node in body {
            match node {
                CommandNode::Loop { var, count, body } => {
                    // What some round may change does not hold at the start of the next.
                    let before: Vec<Command> = held.iter().cloned().collect();
                    for command in before {
                        let mut written = BTreeSet::new();
                        self.written(&body, Some(&command), &mut written);
                        let own = self.effects(&command).maybe;
                        if !own.is_disjoint(&written) || mentions(&command, var) {
                            held.remove(&command);
                        }
                    }
                    let body = self.lean(body, held);
                    held.retain(|c| !mentions(c, var));
                    out.push(CommandNode::Loop { var, count, body });
                }
                CommandNode::Do(command) => {
                    if held.contains(&command) {
                        continue;
                    }
                    let effects = self.effects(&command);
                    let before: Vec<Command> = held.iter().cloned().collect();
                    for other in before {
                        if !self.effects(&other).maybe.is_disjoint(&effects.maybe) {
                            held.remove(&other);
                        }
                    }
                    let complete = effects.maybe == effects.definite && !effects.works;
                    if self.settings.contains(&command) && complete {
                        held.insert(command.clone());
                    }
                    out.push(CommandNode::Do(command));
                }
            }
        }
        out
    }

    /// Moves writes before the loops that do not change them, from the innermost on.
    fn hoisted(&mut self, body: Vec<CommandNode>) -> Vec<CommandNode> {
        let mut out = Vec::new();
        for node in body {
            let CommandNode::Loop { var, count, body } = node else {
                out.push(node);
                continue;
            };
            let mut body = self.hoisted(body);
            while let Some(command) = self.movable(var, &body) {
                body.retain(|n| *n != CommandNode::Do(command.clone()));
                out.push(CommandNode::Do(command));
            }
            out.push(CommandNode::Loop { var, count, body });
        }
        out
    }

    /// A write directly in a loop that may stand before it.
    fn movable(&mut self, var: usize, body: &[CommandNode]) -> Option<Command> {
        for (k, node) in body.iter().enumerate() {
            let CommandNode::Do(command) = node else {
                continue;
            };
            if !self.settings.contains(command) || mentions(command, var) {
                continue;
            }
            let own = self.effects(command);
            let (mut written, mut earlier) = (BTreeSet::new(), BTreeSet::new());
            self.written(body, Some(command), &mut written);
            self.written(&body[..k], None, &mut earlier);
            let mut read = BTreeSet::new();
            self.read(&body[..k], &mut read);
            let complete = own.maybe == own.definite && !own.works;
            // Nothing else writes what it writes or reads, nothing before it reads what it
            // writes, and what it requires is as it was when the loop began.
            let free = own.maybe.is_disjoint(&written)
                && own.reads.is_disjoint(&written)
                && own.checks.is_disjoint(&earlier)
                && own.maybe.is_disjoint(&read);
            if complete && free {
                return Some(command.clone());
            }
        }
        None
    }
}

fn mentions(command: &Command, var: usize) -> bool {
    command.operands.iter().any(|a| a.terms.contains_key(&var))
}

#[cfg(test)]
mod tests;
