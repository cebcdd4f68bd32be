//! Merging: a register whose elements come from several others, one after the other.
//!
//! In: goals whose elements are pieces of more registers than one instruction reads. Out: a chain
//! of movements: the elements of the first two registers each in its place, then those of each
//! further one beside them. Where no instruction does that with a register as it is, its elements
//! are brought to their places by themselves first. So `n` registers take `n - 1` movements by
//! instructions that choose every element of two registers, and `2n - 1` by others. Registers that
//! have zeros where the others have elements are joined by a disjunction, which takes no movement.
//!
//! Which instruction makes a step is solved from its move table ([`super::movement`]).

use super::{Search, cheaper};
use crate::cost::Cost;
use crate::goal::{Goal, leaf};
use crate::legal::two;
use autoir::program::{Node, Value};
use semantics::build as b;
use semantics::op::OpCode;
use semantics::sort::Sort;
use semantics::term::Term;
use std::collections::BTreeSet;

/// How deep disjunctions are looked for: they save units where a window moves elements and no more.
const MOST_DEPTH: usize = 1;

/// The most registers that are merged.
const MAX_MERGED: usize = 8;

impl Search<'_> {
    /// The cheapest chain of movements that gives a goal, at its width or as the low end of a wider
    /// register, which may hold more of a stretch of memory.
    pub(super) fn merged(&mut self, goal: &Goal, depth: usize) -> Option<(Value, Cost)> {
        let own = goal.width();
        let mut best = None;
        for width in self.candidates.widths.vectors().collect::<Vec<u32>>() {
            if width < own || !width.is_multiple_of(goal.element) {
                continue;
            }
            let wide = goal.widened(width);
            let Some(registers) = self.registers_of(&wide) else {
                continue;
            };
            // Of what costs the same the disjunctions, for which machines have more units.
            let joined = match depth <= MOST_DEPTH {
                true => self.unspent(|search| search.merge_by_or(&wide, &registers, depth)),
                false => None,
            };
            let found = cheaper(joined, self.merge(&wide, &registers, depth));
            best = cheaper(best, found.map(|found| self.low_end(found, own)));
        }
        best
    }

    fn low_end(&mut self, (value, cost): (Value, Cost), width: u32) -> (Value, Cost) {
        match self.graph.width(value) == width {
            true => (value, cost),
            false => (self.graph.add(Node::Cast { value, width }), cost),
        }
    }

    /// Each register's elements in their places with zeros in the others', and the disjunction of all.
    fn merge_by_or(
        &mut self,
        goal: &Goal,
        registers: &[Goal],
        depth: usize,
    ) -> Option<(Value, Cost)> {
        let (mut there, mut made) = (BTreeSet::new(), None);
        for register in registers {
            let own: BTreeSet<Term> = register.live().filter(|t| !there.contains(t)).collect();
            let part = zeroed(goal, &own);
            let value = match part.constant() {
                Some(bits) => self.graph.add(Node::Constant(bits)),
                None => self.move_between(&part, std::slice::from_ref(register))?.0,
            };
            self.claim(value, &part);
            there.extend(own);
            made = Some(match made {
                None => value,
                Some(before) => {
                    let value = self.disjunction(goal, [before, value], depth)?;
                    self.claim(value, &zeroed(goal, &there));
                    value
                }
            });
        }
        let value = made.filter(|_| registers.len() > 1)?;
        Some((value, self.estimator.sum(&self.graph, &[value])))
    }

    /// The disjunction of two registers in the places of a goal.
    fn disjunction(&mut self, goal: &Goal, both: [Value; 2], depth: usize) -> Option<Value> {
        let registers = both.map(|value| self.named(value));
        let width = goal.element;
        let piece = |register: Term, k: usize| b::extract(register, k as u32 * width, width);
        let either = |(k, t): (usize, &Option<Term>)| {
            t.and_then(|_| two(OpCode::BvOr, piece(registers[0], k), piece(registers[1], k)))
        };
        let step = Goal {
            element: width,
            elements: goal.elements.iter().enumerate().map(either).collect(),
        };
        Some(self.solve(&step, depth + 1)?.0)
    }

    /// One register after the other.
    fn merge(&mut self, goal: &Goal, registers: &[Goal], depth: usize) -> Option<(Value, Cost)> {
        let (first, others) = registers.split_first()?;
        if others.is_empty() {
            let (value, _) = self.move_between(goal, registers)?;
            return Some((value, self.estimator.sum(&self.graph, &[value])));
        }
        let mut done = first.clone();
        let mut there: BTreeSet<Term> = first.live().collect();
        let mut made = None;
        for next in others {
            let both = there.union(&next.live().collect()).copied().collect();
            let wanted = only(goal, &both);
            let value = self.beside(&wanted, (made, &done), next, depth)?;
            self.claim(value, &wanted);
            done = wanted;
            there = both;
            made = Some(value);
        }
        let value = made?;
        Some((value, self.estimator.sum(&self.graph, &[value])))
    }

    /// The elements of two registers, each in its place: of `done`, which `made` holds where it was
    /// made here, and of `next`.
    fn beside(
        &mut self,
        goal: &Goal,
        (made, done): (Option<Value>, &Goal),
        next: &Goal,
        depth: usize,
    ) -> Option<Value> {
        let (goal, done) = match made {
            Some(value) => self.in_terms_of(goal, value, done),
            None => (goal.clone(), done.clone()),
        };
        if let Some((value, _)) = self.move_between(&goal, &[done.clone(), next.clone()]) {
            return Some(value);
        }
        let mut goal = goal;
        let mut placed = Vec::new();
        for part in [&done, next] {
            let alone = only(&goal, &part.live().collect());
            let (value, _) = self.solve(&alone, depth + 1)?;
            let (spelled, held) = self.in_terms_of(&goal, value, &alone);
            goal = spelled;
            placed.push(held);
        }
        Some(self.move_between(&goal, &placed)?.0)
    }

    /// A goal with the elements that a value holds as pieces of that value, and what it holds so.
    pub(super) fn in_terms_of(&mut self, goal: &Goal, value: Value, held: &Goal) -> (Goal, Goal) {
        let register = self.named(value);
        let piece = |k: usize| b::extract(register, k as u32 * goal.element, goal.element);
        // What stands in several places is meant where it is in its own.
        let spelled = |(k, t): (usize, &Option<Term>)| {
            let is = |h: &Option<Term>| h.is_some() && h == t;
            let own = Some(k).filter(|&k| held.elements.get(k).is_some_and(is));
            let at = own.or_else(|| held.elements.iter().position(is));
            at.map(piece).or(*t)
        };
        let new = Goal {
            element: goal.element,
            elements: goal.elements.iter().enumerate().map(spelled).collect(),
        };
        let held = Goal {
            element: goal.element,
            elements: (0..held.elements.len())
                .map(|k| held.elements[k].map(|_| piece(k)))
                .collect(),
        };
        (new, held)
    }

    /// The registers of the goal's width that hold its elements: whole registers, pieces of memory
    /// that begin with the first element that is in none before, and constants in their places.
    fn registers_of(&self, goal: &Goal) -> Option<Vec<Goal>> {
        let mut registers = Vec::new();
        for name in crate::swizzle::inputs_of(goal) {
            let input = self.input(name)?;
            let mut places: Vec<u32> = leaves(goal, name).collect();
            places.sort_unstable();
            let mut past = 0;
            for lo in places {
                if lo + goal.element <= past {
                    continue;
                }
                let start = self.start(&input, lo, goal)?;
                past = start + goal.width().min(input.width);
                registers.push(stretch(name, input.width, start, goal));
            }
        }
        let constant = |t: &Option<Term>| t.filter(|t| t.as_bits().is_some());
        let constants: Vec<Option<Term>> = goal.elements.iter().map(constant).collect();
        if constants.iter().any(Option::is_some) {
            registers.push(Goal {
                element: goal.element,
                elements: constants,
            });
        }
        let few = (1..=MAX_MERGED).contains(&registers.len());
        few.then_some(registers)
    }

    /// Where the register begins that is taken from an input for an element at `lo`.
    fn start(&self, input: &crate::estimate::WindowInput, lo: u32, goal: &Goal) -> Option<u32> {
        let whole = input.width <= goal.width();
        if whole {
            return lo.is_multiple_of(goal.element).then_some(0);
        }
        let last = input.width - goal.width();
        let late = lo.saturating_sub(last).next_multiple_of(goal.element);
        let start = lo.checked_sub(late)?;
        (input.in_memory && start.is_multiple_of(8)).then_some(start)
    }
}

/// The places in an input that a goal's elements are.
fn leaves<'a>(goal: &'a Goal, name: &'static str) -> impl Iterator<Item = u32> + 'a {
    let of = move |(n, lo): (&'static str, u32)| (n == name).then_some(lo);
    goal.live().filter_map(leaf).filter_map(of)
}

/// A register's worth of an input, from a place on.
fn stretch(name: &'static str, whole: u32, start: u32, goal: &Goal) -> Goal {
    let var = Term::var(name, Sort::Bv(whole));
    let piece = |k: u32| {
        let lo = start + k * goal.element;
        (lo + goal.element <= whole).then(|| b::extract(var, lo, goal.element))
    };
    Goal {
        element: goal.element,
        elements: (0..goal.elements.len() as u32).map(piece).collect(),
    }
}

/// A goal with zeros for what is not among those elements.
fn zeroed(goal: &Goal, own: &BTreeSet<Term>) -> Goal {
    let zero = Term::bv(goal.element, 0);
    let kept = |t: Term| if own.contains(&t) { t } else { zero };
    Goal {
        element: goal.element,
        elements: goal.elements.iter().map(|t| t.map(kept)).collect(),
    }
}

/// A goal of which only those elements matter.
fn only(goal: &Goal, wanted: &BTreeSet<Term>) -> Goal {
    Goal {
        element: goal.element,
        elements: goal
            .elements
            .iter()
            .map(|t| t.filter(|t| wanted.contains(t)))
            .collect(),
    }
}
