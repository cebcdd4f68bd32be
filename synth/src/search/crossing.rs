//! Crossing: a movement inside of the parts of a register, and one of what lies across them.
//!
//! In: goals whose elements are pieces of two registers, which no single instruction brings to their
//! places, as most of a machine's movements stay inside of a part of a register, as wide as the narrowest
//! one. Out: an instruction that moves across parts by a constant in itself, over registers that one
//! instruction each makes. So two vectors are dealt out by turns, or taken apart, in whole registers; what
//! is made for one register of a goal is there for the next.
//!
//! Which instructions cross parts is read off their move tables; what they read is found by
//! [`super::movement`].

use super::{Search, cheaper};
use crate::candidates::Candidate;
use crate::cost::Cost;
use crate::goal::{Goal, leaf};
use crate::swizzle::{Brought, IndexBit, MoveTable};
use autoir::program::{Argument, Node, Value};
use semantics::bits::Bits;
use semantics::build as b;
use semantics::sort::Sort;
use semantics::term::Term;
use std::collections::{BTreeSet, HashSet};
use std::rc::Rc;

/// How many bits the constant of an instruction has at most that is tried with each value.
const MOST_BITS: usize = 8;

/// An instruction with its constant, that moves elements across parts of a register.
pub(super) struct Crossing {
    operation: usize,
    own: Cost,
    constants: Vec<(String, Bits)>,
    data: Vec<String>,
    /// For each element the operand that it comes from, and which of that one's it is.
    from: Vec<(usize, usize)>,
}

impl Crossing {
    /// What the operands have to hold.
    fn operands(&self, goal: &Goal) -> Vec<Goal> {
        let nothing = Goal {
            element: goal.element,
            elements: vec![None; goal.elements.len()],
        };
        let mut operands = vec![nothing; self.data.len()];
        for (t, &(data, at)) in goal.elements.iter().zip(&self.from) {
            operands[data].elements[at] = *t;
        }
        operands
    }
}

impl Search<'_> {
    /// Registers of a goal that no single instruction gives: whole ones in two steps each, or those of its
    /// halves where these cost less.
    pub(super) fn crossed_or_halves(&mut self, goal: &Goal) -> Option<Vec<Value>> {
        let Some(values) = self.crossed_registers(goal) else {
            return self.solve_halves(goal, None);
        };
        let known = self.estimate(&values);
        self.tried("by registers, two movements each", Some(known.cost));
        Some(self.solve_halves(goal, Some(known)).unwrap_or(values))
    }

    /// The registers of a goal that fills several and only moves, each by two movements at most.
    fn crossed_registers(&mut self, goal: &Goal) -> Option<Vec<Value>> {
        let widest = self.candidates.widths.widest();
        if goal.width() <= widest || !goal.width().is_multiple_of(widest) || !goal.only_moves() {
            return None;
        }
        let each = (widest / goal.element) as usize;
        let parts = (0..goal.elements.len() / each).map(|k| goal.part(k * each, each));
        parts
            .map(|part| Some(self.crossed_once(&part)?.0))
            .collect()
    }

    fn crossed_once(&mut self, part: &Goal) -> Option<(Value, Cost)> {
        let moved = self.move_once(part);
        let (value, cost) = moved.or_else(|| self.crossed(part))?;
        self.claim(value, part);
        Some((value, cost))
    }

    /// The cheapest two steps that give a goal.
    pub(super) fn crossed(&mut self, goal: &Goal) -> Option<(Value, Cost)> {
        let registers = self.whole_pieces(goal)?;
        let mut best: Option<(Value, Cost)> = None;
        for way in self.crossings(goal).iter() {
            if best.is_some_and(|(_, cost)| way.own >= cost) {
                break;
            }
            best = cheaper(best, self.cross(way, goal, &registers));
        }
        best
    }

    fn cross(&mut self, way: &Crossing, goal: &Goal, registers: &[Goal]) -> Option<(Value, Cost)> {
        let mut values = Vec::new();
        for operand in way.operands(goal) {
            let value = match registers.iter().find(|register| register.holds(&operand)) {
                Some(register) => self.source_value(register)?.0,
                None => self.move_between(&operand, registers)?.0,
            };
            self.claim(value, &operand);
            values.push(value);
        }
        let formals = self.candidates.list[way.operation].instance.formals.clone();
        let argument = |name: &str| {
            let place = way.data.iter().position(|data| data == name);
            let constant = || way.constants.iter().find(|(own, _)| own == name);
            place
                .map(|place| Argument::Value(values[place]))
                .or_else(|| {
                    let (_, bits) = constant()?;
                    Some(Argument::Immediate(bits.clone()))
                })
        };
        let args = formals
            .iter()
            .map(|f| argument(&f.name))
            .collect::<Option<Vec<_>>>()?;
        let operation = way.operation;
        let value = self.graph.add(Node::Apply { operation, args });
        Some((value, self.estimator.sum(&self.graph, &[value])))
    }

    /// The two registers of the goal's width that hold its elements: whole ones, or pieces of memory
    /// that stand where registers of it do.
    fn whole_pieces(&self, goal: &Goal) -> Option<Vec<Goal>> {
        let (width, element) = (goal.width(), goal.element);
        let mut starts: BTreeSet<(&'static str, u32)> = BTreeSet::new();
        for t in goal.live() {
            let (name, lo) = leaf(t)?;
            starts.insert((name, lo / width * width));
        }
        if starts.len() != 2 {
            return None;
        }
        let piece = |(name, start): (&'static str, u32)| {
            let whole = self.loadable(name, start, width)?.width;
            let var = Term::var(name, Sort::Bv(whole));
            let one = |k| Some(b::extract(var, start + k * element, element));
            Some(Goal {
                element,
                elements: (0..width / element).map(one).collect(),
            })
        };
        starts.into_iter().map(piece).collect()
    }

    /// What moves elements as wide as a goal's across parts of registers of its width, cheapest first:
    /// of those that move alike one.
    fn crossings(&mut self, goal: &Goal) -> Rc<Vec<Crossing>> {
        let (width, element) = (goal.width(), goal.element);
        if let Some(known) = self.crossings.get(&(width, element)) {
            return Rc::clone(known);
        }
        let part = (self.candidates.widths.narrowest() / element) as usize;
        let (mut found, mut seen) = (Vec::new(), HashSet::new());
        let moves = self.candidates.movements(width);
        for &index in moves.iter().filter(|_| part > 0) {
            let c = &self.candidates.list[index];
            let table = self.candidates.move_table(index, element);
            for way in table.iter().flat_map(|table| of_table(index, c, table)) {
                let crosses = (0..)
                    .zip(&way.from)
                    .any(|(k, (_, at))| at / part != k / part);
                if crosses && seen.insert(way.from.clone()) {
                    found.push(way);
                }
            }
        }
        found.sort_by_key(|way| way.own);
        let found = Rc::new(found);
        self.crossings.insert((width, element), Rc::clone(&found));
        found
    }
}

/// What an instruction does with each of its constants, where it brings whole elements of registers as
/// wide as its own and none twice.
fn of_table(index: usize, c: &Candidate, table: &MoveTable) -> Vec<Crossing> {
    let operand = |name: &String| c.operand(name);
    let whole = |name| operand(name).is_some_and(|o| o.width == c.width);
    let [(constant, width)] = table.index.as_slice() else {
        return Vec::new();
    };
    let allowed = operand(constant).and_then(|o| o.role.constants());
    let (Some(allowed), true) = (allowed, table.data.iter().all(whole)) else {
        return Vec::new();
    };
    let one = |value: u64| {
        let from = moved_by(table, value)?;
        let each: HashSet<_> = from.iter().collect();
        (allowed.contains(value) && each.len() == from.len()).then(|| Crossing {
            operation: index,
            own: c.cost,
            constants: vec![(constant.clone(), Bits::from_u64(*width, value))],
            data: table.data.clone(),
            from,
        })
    };
    (0..1 << MOST_BITS).filter_map(one).collect()
}

/// Where each element comes from under a constant.
fn moved_by(table: &MoveTable, constant: u64) -> Option<Vec<(usize, usize)>> {
    let elements = table.elements.iter().map(|moves| {
        let is_set = |(_, bit): IndexBit| constant >> bit & 1 == 1;
        match moves.brought_by(is_set)? {
            Brought::Element { data, at } => Some((*data, *at)),
            Brought::Constant(_) => None,
        }
    });
    elements.collect()
}
