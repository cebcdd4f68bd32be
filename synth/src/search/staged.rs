//! Sums in two stages: what is added first, in registers of its own, and then the sums.
//!
//! In: goals whose elements are sums of neighbours, narrower values that are computed and extended, or of one of
//! two numbers. Out: a register that holds these values, each in as many bits as it has, and the
//! goal as sums of the elements of that: what instructions take that add neighbours, or their products
//! by ones, in wider elements.
//!
//! It proposes; what is chosen is claimed and proved like all else.

use super::Search;
use super::fold::{first_leaf, sum_of};
use super::pairs::by_pairs;
use crate::candidates::Action;
use crate::goal::{Goal, leaf};
use crate::matching::{extended, narrowed};
use autoir::program::Value;
use semantics::build as b;
use semantics::op::OpCode;
use semantics::term::Term;
use std::collections::HashMap;

/// The fewest values that are added in an element.
const FEWEST: usize = 2;

/// Goals that are expanded for this at most, and matches, whatever the search before has left.
const GOALS: usize = 32;
const MATCHES: usize = 2_000;

/// A value as the extension of a narrower one.
struct Part {
    code: OpCode,
    low: Term,
}

impl Search<'_> {
    /// Registers that hold a goal in two stages, where that costs less than those that were found.
    pub(super) fn in_two_stages(
        &mut self,
        goal: &Goal,
        found: Option<Vec<Value>>,
    ) -> Option<Vec<Value>> {
        let outer = self.bound;
        if let Some(values) = &found {
            self.bound = outer.min(self.estimator.sum(&self.graph, values));
        }
        let limits = self.limits;
        self.limits.goals = self.report.goals + GOALS;
        self.limits.matches = self.report.matches + MATCHES;
        let staged = self.unspent(|search| search.sums_of_computed(goal));
        (self.bound, self.limits) = (outer, limits);
        if let Some(staged) = staged {
            let cost = self.estimate(&[staged]).cost;
            self.tried("what is added first, in a register", Some(cost));
        }
        self.cheaper_registers(goal, found, staged.map(|staged| vec![staged]))
    }

    /// What else was found for a goal, and not for a part of it.
    pub(crate) fn second_of(&mut self, goal: &Goal) -> Option<Vec<Value>> {
        let of_it = self.second.take_if(|(of, _)| of == goal);
        of_it.map(|(_, values)| values)
    }

    /// The registers of a goal that cost less; where these are the others, the first ones stay its second
    /// choice.
    pub(super) fn cheaper_registers(
        &mut self,
        goal: &Goal,
        found: Option<Vec<Value>>,
        other: Option<Vec<Value>>,
    ) -> Option<Vec<Value>> {
        match (&found, &other) {
            (_, None) => found,
            (Some(values), Some(more)) if self.estimate(values) <= self.estimate(more) => found,
            _ => {
                let second = found.map(|found| (goal.clone(), found));
                self.second = second.or(self.second.take());
                other
            }
        }
    }

    /// A goal of several sums by a register of what is added.
    fn sums_of_computed(&mut self, goal: &Goal) -> Option<Value> {
        let (mut parts, mut rests) = (Vec::new(), Vec::new());
        for total in goal.live() {
            let sum = sum_of(total, FEWEST).filter(|sum| sum.op.code == OpCode::BvAdd)?;
            rests.push(sum.rest);
            parts.push(sum.parts);
        }
        if parts.len() < 2 || !self.candidates.widths.is_one(goal.width()) {
            return None;
        }
        let all = parts.concat();
        if !all.is_sorted_by_key(|t| first_leaf(*t)) {
            return None;
        }
        let held = self.in_a_register(&all, goal.element)?;
        let sums = parts.iter().zip(rests).map(|(parts, rest)| {
            let parts = parts.iter().map(|part| held[part]);
            parts.chain(rest).reduce(b::add)
        });
        let mut sums = sums.collect::<Vec<_>>().into_iter();
        let sums = goal.with_all(&mut |_| sums.next().flatten())?;
        let mut best = self.match_candidates(&sums, 1, None, Action::Computation);
        if let Some(paired) = by_pairs(&sums) {
            best = self.match_candidates(&paired, 1, best, Action::Computation);
        }
        best.map(|(value, _)| value)
    }

    /// What stands for each of these values where a register holds them one after the other.
    fn in_a_register(&mut self, all: &[Term], wide: u32) -> Option<HashMap<Term, Term>> {
        let parts: Vec<Part> = all.iter().map(|t| part(*t)).collect::<Option<_>>()?;
        let (code, element) = (parts[0].code, parts[0].low.width());
        if parts
            .iter()
            .any(|p| p.code != code || p.low.width() != element)
        {
            return None;
        }
        let lanes = Goal {
            element,
            elements: parts.iter().map(|p| Some(p.low)).collect(),
        };
        if !self.candidates.widths.is_vector(lanes.width()) {
            return None;
        }
        let value = self.covered_in_one(&lanes)?;
        let register = self.named(value);
        let at = |k: usize| b::extract(register, k as u32 * element, element);
        let held = (0..all.len()).map(|k| (all[k], extended(code, at(k), wide)));
        Some(held.collect())
    }
}

/// A value that is extended, or one of two numbers as an element of the width of what they are
/// chosen by.
fn part(t: Term) -> Option<Part> {
    let (op, args) = t.as_app()?;
    match op.code {
        OpCode::Zext | OpCode::Sext if leaf(args[0]).is_none() => Some(Part {
            code: op.code,
            low: args[0],
        }),
        OpCode::Ite if args[1..].iter().all(|n| n.as_bits().is_some()) => {
            let compared = args[0].children().filter_map(|x| x.sort().width()).max()?;
            let fits = |code| narrowed(code, t, compared).map(|_| code);
            let code = [OpCode::Zext, OpCode::Sext].into_iter().find_map(fits)?;
            let low = |n: Term| b::extract(n, 0, compared);
            Some(Part {
                code,
                low: b::ite(args[0], low(args[1]), low(args[2])),
            })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use semantics::sort::Sort;
    use smt::prover::Prover;

    #[test]
    fn one_of_two_numbers_is_an_element_as_wide_as_what_is_compared() {
        let [x, y] = ["x", "y"].map(|name| Term::var(name, Sort::Bv(8)));
        let number = |n| Term::bv(32, n);
        let prover = Prover::new(Default::default());
        for (then, otherwise, code) in [
            (1, 0, OpCode::Zext),
            (3, -1, OpCode::Sext),
            (200, 7, OpCode::Zext),
        ] {
            let t = b::ite(b::ult(x, y), number(then), number(otherwise));
            let found = part(t).expect("both fit");
            assert_eq!((found.code, found.low.width()), (code, 8));
            let wide = extended(found.code, found.low, 32);
            assert!(prover.prove_equal(wide, t).is_proved(), "{t}");
        }
        assert!(part(b::ite(b::ult(x, y), number(256), number(0))).is_none());
        assert!(part(b::ite(b::ult(x, y), number(255), number(-1))).is_none());
        assert!(part(b::zext(x, 32)).is_none(), "it is there already");
        assert!(part(b::zext(b::popcnt(x), 32)).is_some());
    }
}
