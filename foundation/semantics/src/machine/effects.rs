//! Which configuration fields a procedure reads and writes, definitely or maybe.
//!
//! In: a machine, a procedure, the operands that are known. Out: [`Effects`]. What is not
//! known may be anything: both branches of a condition on it are taken, a loop over it runs
//! never or often. What is written on every way is written definitely; what is read before
//! that is read.

use super::Machine;
use super::arithmetic;
use super::procedure::{Action, Value, ValueKind};
use crate::instruction::Element;
use std::collections::BTreeSet;

/// What a procedure does to fields, by their place among all.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Effects {
    /// What may be read before this procedure has written it.
    pub reads: BTreeSet<usize>,
    /// What only a requirement reads.
    pub checks: BTreeSet<usize>,
    /// What only how long it takes depends on.
    pub times: BTreeSet<usize>,
    /// What may be written.
    pub maybe: BTreeSet<usize>,
    /// What is written whatever happens.
    pub definite: BTreeSet<usize>,
    /// Whether it touches cells or memory.
    pub works: bool,
}

/// The effects of a procedure; operands that are `None` are not known.
pub fn effects(machine: &Machine, procedure: usize, operands: &[Option<i64>]) -> Effects {
    let mut walk = Walk {
        machine,
        effects: Effects::default(),
        reading: For::Work,
    };
    walk.procedure(procedure, operands);
    walk.effects
}

struct Walk<'m> {
    machine: &'m Machine,
    effects: Effects,
    /// What for something is read.
    reading: For,
}

/// What a value is read for.
#[derive(Clone, Copy)]
enum For {
    Work,
    /// It is only required to be something.
    Requirement,
    Time,
}

struct Frame<'a> {
    operands: &'a [Option<i64>],
    slots: Vec<Option<i64>>,
}

impl Walk<'_> {
    fn procedure(&mut self, at: usize, operands: &[Option<i64>]) {
        let procedure = &self.machine.procedures[at];
        let mut frame = Frame {
            operands,
            slots: vec![None; procedure.slots],
        };
        self.block(&procedure.body, &mut frame);
    }

    fn block(&mut self, body: &[Action], f: &mut Frame<'_>) {
        for action in body {
            self.action(action, f);
        }
    }

    fn action(&mut self, action: &Action, f: &mut Frame<'_>) {
        match action {
            Action::Let(slot, value) => f.slots[*slot] = self.value(value, f),
            Action::Field(first, index, value) => {
                self.value(value, f);
                let index = self.value(index, f);
                let all = self.places(*first, index);
                if let [one] = all[..] {
                    self.effects.definite.insert(one);
                }
                self.effects.maybe.extend(all);
            }
            Action::Cell(_, a, b, c) => {
                for value in [a, b, c] {
                    self.value(value, f);
                }
                self.effects.works = true;
            }
            Action::Memory(a, b) => {
                self.value(a, f);
                self.value(b, f);
                self.effects.works = true;
            }
            Action::If(condition, then, other) => match self.value(condition, f) {
                Some(0) => self.block(other, f),
                Some(_) => self.block(then, f),
                None => {
                    let before = self.effects.definite.clone();
                    self.block(then, f);
                    let one = std::mem::replace(&mut self.effects.definite, before);
                    self.block(other, f);
                    self.effects.definite.retain(|at| one.contains(at));
                }
            },
            Action::For(slot, low, high, body) => {
                let (low, high) = (self.value(low, f), self.value(high, f));
                let runs = low.zip(high).map(|(low, high)| low < high);
                if runs == Some(false) {
                    return;
                }
                let before = self.effects.definite.clone();
                f.slots[*slot] = None;
                self.block(body, f);
                if runs.is_none() {
                    self.effects.definite = before;
                }
            }
            Action::Require(value, _) => self.reads_for(For::Requirement, value, f),
            Action::Spend(_, cycles) => self.reads_for(For::Time, cycles, f),
            Action::Blank(_) => {}
            Action::Perform(at, args) => {
                let args: Vec<Option<i64>> = args.iter().map(|a| self.value(a, f)).collect();
                self.procedure(*at, &args);
            }
            Action::Settle => self.effects.works = true,
        }
    }

    fn reads_for(&mut self, reading: For, value: &Value, f: &Frame<'_>) {
        self.reading = reading;
        self.value(value, f);
        self.reading = For::Work;
    }

    /// The fields of a name, or the one that is meant.
    fn places(&self, first: usize, index: Option<i64>) -> Vec<usize> {
        let fields = &self.machine.state.fields;
        let count = fields
            .iter()
            .find(|f| f.first == first)
            .map_or(1, |f| f.count);
        match index.and_then(|n| u32::try_from(n).ok()) {
            Some(n) if n < count => vec![first + n as usize],
            _ => (first..first + count as usize).collect(),
        }
    }

    fn value(&mut self, v: &Value, f: &Frame<'_>) -> Option<i64> {
        match &v.kind {
            ValueKind::Constant(n) => Some(*n),
            ValueKind::Local(slot) => f.slots[*slot],
            ValueKind::Operand(k) => f.operands[*k],
            ValueKind::Field(first, index) => {
                let index = self.value(index, f);
                for place in self.places(*first, index) {
                    if !self.effects.definite.contains(&place) {
                        match self.reading {
                            For::Work => self.effects.reads.insert(place),
                            For::Requirement => self.effects.checks.insert(place),
                            For::Time => self.effects.times.insert(place),
                        };
                    }
                }
                None
            }
            ValueKind::Cell(_, a, b) => {
                self.value(a, f);
                self.value(b, f);
                self.effects.works = true;
                None
            }
            ValueKind::Memory(a) => {
                self.value(a, f);
                self.effects.works = true;
                None
            }
            ValueKind::Unary(op, a) => {
                let (x, from) = (self.value(a, f)?, a.element);
                Some(arithmetic::unary(*op, x, from, v.element))
            }
            ValueKind::Binary(op, a, b) => {
                let (x, y) = (self.value(a, f), self.value(b, f));
                if v.element == Element::Mask && (x == Some(0) || y == Some(0)) {
                    // A conjunction with something false.
                    if *op == super::procedure::Binary::And {
                        return Some(0);
                    }
                }
                Some(arithmetic::binary(*op, x?, y?, a.element))
            }
            ValueKind::Select(c, a, b) => {
                let c = self.value(c, f);
                let (a, b) = (self.value(a, f), self.value(b, f));
                match c {
                    Some(0) => b,
                    Some(_) => a,
                    None => None,
                }
            }
        }
    }
}
