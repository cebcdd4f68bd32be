//! Commands with affine operands, in loops.
//!
//! In: built by `emit` and `config`. Out: [`CommandProgram`]. A command is an
//! instruction whose operands are scalar registers; what the registers hold is an [`Amount`].

use crate::program::{ArrayUse, Placed};
use semantics::span::Span;
use std::collections::BTreeMap;

/// The address of an array, a constant, and multiples of loop variables.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Amount {
    /// The array whose address is added.
    pub array: Option<usize>,
    /// The constant; it wraps.
    pub constant: i64,
    /// Factors by loop variable; none is zero.
    pub terms: BTreeMap<usize, i64>,
}

impl Amount {
    /// A constant.
    pub fn of(constant: i64) -> Amount {
        Amount {
            constant,
            ..Amount::default()
        }
    }

    /// A loop variable.
    pub fn var(var: usize) -> Amount {
        Amount {
            terms: BTreeMap::from([(var, 1)]),
            ..Amount::default()
        }
    }

    /// The sum; at most one of the two is an address.
    pub fn plus(&self, other: &Amount) -> Amount {
        let mut sum = self.clone();
        sum.array = self.array.or(other.array);
        sum.constant = sum.constant.wrapping_add(other.constant);
        for (&var, &factor) in &other.terms {
            let now = sum.terms.entry(var).or_insert(0);
            *now += factor;
            if *now == 0 {
                sum.terms.remove(&var);
            }
        }
        sum
    }

    /// The sum with a constant.
    pub fn add(&self, constant: i64) -> Amount {
        self.plus(&Amount::of(constant))
    }

    /// The product with a constant.
    pub fn times(&self, factor: i64) -> Amount {
        if factor == 0 {
            return Amount::default();
        }
        Amount {
            array: self.array,
            constant: self.constant.wrapping_mul(factor),
            terms: self.terms.iter().map(|(&v, &f)| (v, f * factor)).collect(),
        }
    }

    /// Its value.
    pub fn value(&self, addresses: &[i64], vars: &[i64]) -> i64 {
        let base = self.array.map_or(0, |a| addresses[a]);
        let terms = self.terms.iter().map(|(&v, &f)| vars[v].wrapping_mul(f));
        terms.fold(base.wrapping_add(self.constant), i64::wrapping_add)
    }
}

/// A command: an instruction and what its registers hold.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Command {
    /// Its index in [`semantics::machine::Machine::instructions`].
    pub instruction: usize,
    /// In the order of its operands.
    pub operands: Vec<Amount>,
}

/// A command that works, and the configuration that must hold for it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Work {
    /// The command.
    pub command: Command,
    /// Commands that set what it needs.
    pub needs: Vec<Command>,
}

/// A part of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CommandNode<C = Command> {
    /// A loop from 0.
    Loop {
        /// Its variable.
        var: usize,
        /// How often it runs, at least once.
        count: i64,
        /// What it runs.
        body: Vec<CommandNode<C>>,
    },
    /// A command.
    Do(C),
}

/// Instructions of the host that no command is: they find each array by its address in the register of
/// the function's argument of that number, and keep nothing in others.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HostCode {
    /// Before which node on the top level they run; behind all, where it is their number.
    pub before: usize,
    /// The instructions.
    pub code: Vec<Placed>,
}

/// A program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CommandProgram {
    /// The kernel's name.
    pub name: String,
    /// The kernel's arrays, by their index.
    pub arrays: Vec<ArrayUse>,
    /// How many loop variables there are.
    pub vars: usize,
    /// The commands.
    pub body: Vec<CommandNode>,
    /// Code of the host among them, in its order.
    pub host: Vec<HostCode>,
    /// What was chosen: for reports.
    pub choices: Vec<String>,
    /// The statement of the kernel that its commands make.
    pub span: Span,
}

/// What runs of a program.
#[derive(Clone, Copy, Debug)]
pub enum Step<'a> {
    /// A command with the values of its operands.
    Command(usize, &'a [i64]),
    /// Code of the host, which finds arrays in the registers of arguments.
    Host(&'a [Placed]),
}

impl CommandProgram {
    /// Calls `f` for each command as it runs and for code of the host, in order.
    pub fn for_each_step(&self, addresses: &[i64], f: &mut impl FnMut(Step<'_>)) {
        let mut vars = vec![0; self.vars];
        for at in 0..=self.body.len() {
            for host in self.host.iter().filter(|h| h.before == at) {
                f(Step::Host(&host.code));
            }
            let node = self.body.get(at..=at).unwrap_or_default();
            walk(node, addresses, &mut vars, &mut |k, operands| {
                f(Step::Command(k, operands));
            });
        }
    }

    /// Calls `f` for each command as it runs, with the values of its operands; code of the host is
    /// not told of, so that what comes of a program that has some is known only where all of it runs.
    pub fn for_each(&self, addresses: &[i64], f: &mut impl FnMut(usize, &[i64])) {
        let mut vars = vec![0; self.vars];
        walk(&self.body, addresses, &mut vars, f);
    }

    /// Calls `f` for each command as it is written, with the loops around it.
    pub fn for_each_written(&self, f: &mut impl FnMut(&Command, usize)) {
        written(&self.body, 0, f);
    }
}

impl CommandProgram {
    /// This, then another program of the same arrays.
    #[must_use]
    pub(crate) fn then(mut self, next: CommandProgram) -> CommandProgram {
        let mut body = next.body;
        renamed(&mut body, self.vars);
        let before = self.body.len();
        self.host.extend(next.host.into_iter().map(|h| HostCode {
            before: h.before + before,
            ..h
        }));
        self.body.extend(body);
        self.vars += next.vars;
        self.choices.extend(next.choices);
        self
    }
}

/// Gives loop variables other numbers.
fn renamed(body: &mut [CommandNode], by: usize) {
    for node in body {
        match node {
            CommandNode::Loop { var, body, .. } => {
                *var += by;
                renamed(body, by);
            }
            CommandNode::Do(command) => {
                for amount in &mut command.operands {
                    let terms = std::mem::take(&mut amount.terms);
                    amount.terms = terms.into_iter().map(|(v, f)| (v + by, f)).collect();
                }
            }
        }
    }
}

fn written(body: &[CommandNode], depth: usize, f: &mut impl FnMut(&Command, usize)) {
    for node in body {
        match node {
            CommandNode::Loop { body, .. } => written(body, depth + 1, f),
            CommandNode::Do(command) => f(command, depth),
        }
    }
}

fn walk(
    body: &[CommandNode],
    addresses: &[i64],
    vars: &mut Vec<i64>,
    f: &mut impl FnMut(usize, &[i64]),
) {
    for node in body {
        match node {
            CommandNode::Loop { var, count, body } => {
                for k in 0..*count {
                    vars[*var] = k;
                    walk(body, addresses, vars, f);
                }
            }
            CommandNode::Do(command) => {
                let operands = command.operands.iter();
                let values: Vec<i64> = operands.map(|a| a.value(addresses, vars)).collect();
                f(command.instruction, &values);
            }
        }
    }
}
