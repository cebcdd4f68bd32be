//! Definitions: goals that one instruction computes of what is there.
//!
//! In: goals. Out: the cheapest instruction whose meaning is the goal with operands that are
//! inputs, pieces of them or constants. That is looked for first: of what has to be computed
//! before, nothing is known here. How terms are matched is in [`crate::matching`].

use super::decompositions::Wanted;
use super::{Search, cheaper};
use crate::cost::Cost;
use crate::goal::{Goal, leaf};
use crate::matching::{slot_of, summands};
use crate::variants::Variant;
use autoir::program::{Argument, Node, Value};
use semantics::build as b;
use semantics::op::OpCode;
use semantics::sort::Sort;
use semantics::term::Term;
use std::collections::{HashMap, HashSet};

impl Search<'_> {
    /// Whether a value is one instruction than which none is cheaper.
    pub(super) fn is_least(&self, value: Value) -> bool {
        let least = self.candidates.least_cost(self.graph.width(value));
        let least = least.map_or(0, |cost| cost.max(self.processor().operation));
        self.estimator.own(&self.graph, value) <= least
    }

    /// The cheapest value by one instruction on what is given.
    pub(super) fn defined(&mut self, goal: &Goal) -> Option<(Value, Cost)> {
        if goal.only_moves() {
            return None;
        }
        let wanted = crate::lanes::signature(goal.live());
        let found = self.defined_among(goal, wanted, wanted);
        if found.is_some_and(|(value, _)| self.is_least(value)) || !adds_extended(goal) {
            return found;
        }
        let multiplied = wanted | crate::lanes::signature_of(OpCode::BvMul);
        cheaper(found, self.defined_among(goal, multiplied, wanted))
    }

    /// The cheapest value by one instruction on what is given whose operators are those wanted, of a goal with
    /// those that are `present`.
    fn defined_among(&mut self, goal: &Goal, wanted: u128, present: u128) -> Option<(Value, Cost)> {
        let list = self.candidates.alike(goal.width(), wanted);
        let mut best: Option<(Value, Cost)> = None;
        for &index in &*list {
            let c = &self.candidates.list[index];
            if best.is_some_and(|(_, cost)| c.cost >= cost) {
                break;
            }
            let (own, widths) = (c.cost, c.element_widths());
            for variant in self.variants(index, goal.element).iter() {
                if let Some(found) = self.of_inputs(index, variant, goal) {
                    best = cheaper(best, Some(found));
                    continue;
                }
                for binding in self.bindings(variant, goal, present, widths) {
                    self.report.matches += 1;
                    let way = self.way(index, own, &variant.immediates, &binding, goal);
                    let found = way.and_then(|way| self.on_given(way.candidate, &way.operands));
                    best = cheaper(best, found);
                }
            }
        }
        best
    }

    /// An instruction whose operands are consecutive bits of inputs, wherever it reads them.
    fn of_inputs(
        &mut self,
        operation: usize,
        variant: &Variant,
        goal: &Goal,
    ) -> Option<(Value, Cost)> {
        let mut alike = Alike::default();
        for (k, t) in goal.elements.iter().enumerate() {
            if t.is_some_and(|t| !alike.fit(variant.pattern(k), t)) {
                return None;
            }
        }
        let mut operands = Vec::new();
        for o in &self.candidates.list[operation].instance.formals {
            if let Some(bits) = variant.immediates.get(&o.name) {
                operands.push(Wanted::Immediate(bits.clone()));
                continue;
            }
            let &(input, from) = alike.places.get(o.name.as_str())?;
            let whole = Term::var(input, Sort::Bv(self.input(input)?.width));
            let lo = u32::try_from(from).ok()?;
            let part = Goal {
                element: o.width,
                elements: vec![Some(b::extract(whole, lo, o.width))],
            };
            operands.push(Wanted::Register(part, 0));
        }
        self.on_given(operation, &operands)
    }

    /// An instruction on operands that are there.
    pub(super) fn on_given(
        &mut self,
        operation: usize,
        operands: &[Wanted],
    ) -> Option<(Value, Cost)> {
        let argument = |wanted: &Wanted| match wanted {
            Wanted::Immediate(bits) => Some(Argument::Immediate(bits.clone())),
            Wanted::Register(goal, _) => self.there(goal).map(Argument::Value),
        };
        let args: Option<Vec<Argument>> = operands.iter().map(argument).collect();
        let value = self.applied(operation, args?);
        Some((value, self.estimator.sum(&self.graph, &[value])))
    }

    /// A value that is there; of a register whose upper half does not matter the lower one.
    fn there(&mut self, goal: &Goal) -> Option<Value> {
        if let Some((value, _)) = self.given(goal) {
            return Some(value);
        }
        if goal.width() == self.candidates.widths.narrowest() {
            return self.low_piece(goal).map(|(value, _)| value);
        }
        let vector = goal.width() > self.candidates.widths.narrowest();
        let value = self.there(&goal.lower_half().filter(|_| vector)?)?;
        let width = goal.width();
        Some(self.graph.add(Node::Cast { value, width }))
    }
}

/// Whether elements add up several that are extended: instructions that multiply and add neighbours do that
/// with ones.
fn adds_extended(goal: &Goal) -> bool {
    let extended = |t: &Term| {
        let args = t.args_of(OpCode::Zext).or(t.args_of(OpCode::Sext));
        args.is_some_and(|args| leaf(args[0]).is_some())
    };
    let first = goal.live().next();
    first.is_some_and(|t| summands(t).into_iter().filter(extended).count() > 1)
}

/// How many pairs of terms are compared for one instruction.
const MAX_STEPS: u32 = 50_000;

/// Patterns that are goals but for the names of what they read.
#[derive(Default)]
struct Alike {
    /// For each operand the input that it is, and the bit of it where it begins.
    places: HashMap<&'static str, (&'static str, i64)>,
    /// What was found to be alike, given these places.
    known: HashSet<(Term, Term)>,
    /// Pairs looked at so far.
    steps: u32,
}

impl Alike {
    /// Whether a pattern is a goal, with the places so far and new ones for other operands.
    fn fit(&mut self, pattern: Term, goal: Term) -> bool {
        if self.known.contains(&(pattern, goal)) {
            return true;
        }
        self.steps += 1;
        if pattern.sort() != goal.sort() || self.steps > MAX_STEPS {
            return false;
        }
        let fits = match (slot_of(pattern), leaf(goal)) {
            (Some(slot), Some((input, lo))) => {
                let place = (input, i64::from(lo) - i64::from(slot.lo));
                *self.places.entry(slot.operand).or_insert(place) == place
            }
            (None, None) => self.fit_parts(pattern, goal),
            _ => false,
        };
        if fits {
            self.known.insert((pattern, goal));
        }
        fits
    }

    fn fit_parts(&mut self, pattern: Term, goal: Term) -> bool {
        let (Some((op, patterns)), Some((other, goals))) = (pattern.as_app(), goal.as_app()) else {
            return pattern == goal;
        };
        if op != other || patterns.len() != goals.len() {
            return false;
        }
        let before = op.info().commutative.then(|| self.places.clone());
        if patterns.iter().zip(goals).all(|(&p, &t)| self.fit(p, t)) {
            return true;
        }
        // The other order; what was alike by other places may not be by these.
        before.is_some_and(|places| {
            self.places = places;
            self.known.clear();
            self.fit(patterns[0], goals[1]) && self.fit(patterns[1], goals[0])
        })
    }
}
