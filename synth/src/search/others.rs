//! Other ways to write what no operation computes as it is written, as a target has use for them.
//!
//! In: a value of a lane, and the operations on so many lanes. Out: equal terms ([`crate::alternatives`]),
//! and the cheapest choice by those that are of use only where the target has what they rest on.

use super::Search;
use super::cover::{Choices, Expression, How, cheaper};
use crate::alternatives::fewer_bits::{as_element, extended_in_steps};
use crate::alternatives::floats::saturated;
use crate::alternatives::{alternatives, by_halves, by_upper_half, shifted_both_ways, variants};
use crate::fragment::{lane_width, regular, replace};
use semantics::op::OpCode;
use semantics::term::Term;
use std::collections::HashMap;

impl Search<'_> {
    /// Other ways to write what no operation computes as it is written.
    pub(super) fn others(&mut self, t: Term) -> Vec<Term> {
        let down = match t.as_app().map(|(op, _)| op.code) {
            Some(OpCode::BvAshr) => &[OpCode::BvAshr][..],
            Some(OpCode::BvLshr) => &[OpCode::BvLshr],
            Some(OpCode::BvShl) => &[OpCode::BvLshr, OpCode::BvAshr],
            _ => &[],
        };
        let once = !self.memory.one_way.contains(&t);
        let ways = down.iter().filter(|_| once);
        let mut ways = ways.filter_map(|down| self.candidates.both_ways(lane_width(t), *down));
        let shifted = ways.find_map(|ways| shifted_both_ways(t, ways));
        // Its arms are shifts too, which would be written like this without end.
        let arms = shifted.and_then(|t| t.args_of(OpCode::Ite));
        let arms = arms.iter().flat_map(|a| &a[1..]);
        self.memory.one_way.extend(arms);
        shifted.into_iter().chain(alternatives(t)).collect()
    }

    /// Other ways to write a value that may be cheaper even where one is known: shifted products by their
    /// upper halves, and conversions by those that saturate, only where the target computes those, as else each would
    /// be written in many ways.
    pub(super) fn variants_of(&mut self, choices: &Choices, t: Term) -> Vec<Term> {
        let mut all = variants(t);
        all.extend(self.extremes(t).iter());
        for (other, product) in by_upper_half(t) {
            if self.is_one_operation(choices, product) {
                all.push(other);
            }
        }
        for (other, conversion, x) in saturated(t) {
            if self.is_one_operation_of(choices, conversion, &[x]) {
                all.push(other);
            }
        }
        if let Some((other, of)) = extended_in_steps(t) {
            let computed: Vec<Term> = of.into_iter().filter(|x| x.as_bits().is_none()).collect();
            if self.is_one_operation_of(choices, other, &computed)
                || self.is_one_operation_of(choices, other, &of)
            {
                all.push(other);
            }
        }
        all
    }

    /// A product by parts, where the target multiplies by half elements.
    pub(super) fn by_half_elements(
        &mut self,
        e: &Expression,
        choices: &mut Choices,
        t: Term,
    ) -> Option<(u64, How)> {
        let mut best = None;
        for (other, low) in by_halves(t) {
            if self.is_one_operation(choices, low) && self.choose(e, choices, low).is_some() {
                best = cheaper(best, self.on_named(e, choices, (other, low)));
            }
        }
        best
    }

    /// A value of the expression that holds a narrower element, where one operation of the target computes that.
    pub(super) fn by_element(
        &mut self,
        e: &Expression,
        choices: &mut Choices,
        t: Term,
    ) -> Option<(u64, How)> {
        let of_it = choices.own.contains(&t);
        let mut best = None;
        for (other, low) in of_it.then(|| as_element(t)).into_iter().flatten() {
            if !choices.made.contains_key(&low) && self.is_one_operation(choices, low) {
                let found = self.by_operation(e, choices, low);
                choices.made.insert(low, found);
            }
            if choices.made.get(&low).is_some_and(Option::is_some) {
                best = cheaper(best, self.on_named(e, choices, (other, low)));
            }
        }
        best
    }

    /// A value written otherwise on one that was chosen.
    fn on_named(
        &mut self,
        e: &Expression,
        choices: &mut Choices,
        (other, low): (Term, Term),
    ) -> Option<(u64, How)> {
        let name = choices.name(low);
        let other = replace(other, &mut HashMap::from([(low, name)]));
        choices.count(other);
        self.same(e, choices, other)
    }

    /// Whether one operation may compute a value of others that are no wider.
    fn is_one_operation(&mut self, choices: &Choices, t: Term) -> bool {
        let width = lane_width(t);
        self.memory.cuts.of(t).into_iter().any(|cut| {
            let whole = cut.iter().all(|l| regular(*l) && lane_width(*l) == width);
            whole && self.is_one_operation_of(choices, t, &cut)
        })
    }

    /// Whether one operation may compute a value of these.
    fn is_one_operation_of(&mut self, choices: &Choices, t: Term, of: &[Term]) -> bool {
        let piece = self.fragment(t, of);
        piece.is_some_and(|piece| !choices.lane_library.find(piece.1).is_empty())
    }
}

impl Choices {
    /// A variable that stands for a value that was chosen: how it is written says nothing of what
    /// rests on it.
    pub(super) fn name(&mut self, t: Term) -> Term {
        let name = Term::var(&format!("value{}", self.named.len()), t.sort());
        let flow = self
            .made
            .get(&t)
            .and_then(Option::as_ref)
            .map(|made| made.0);
        let named = flow.map(|flow| (flow, How::Same(t)));
        self.named.push((name, t));
        self.made.insert(name, named);
        name
    }
}
