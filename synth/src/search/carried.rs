//! What a round of a loop waits for: the register that the window changes, last.
//!
//! In: windows whose elements add to (or take the least, the greatest with, …) those of the register
//! that the loop carries, and registers that hold them. Out: registers in which everything else
//! of the round is computed by itself, as it was found with nothing carried or searched for anew,
//! and joined with the carried register by one operation more. Where the shortest program has a
//! long chain from one round to the next, as a product that also adds, this is the faster one.
//!
//! It proposes; what is chosen is claimed and proved like all else.

use super::Search;
use super::fold::grouping;
use crate::estimate::Estimate;
use crate::goal::{Goal, leaf};
use crate::matching::flatten;
use autoir::program::{Node, Value};
use semantics::bits::Bits;
use semantics::build as b;
use semantics::op::Op;
use semantics::subst::{free_vars, replace_vars};
use semantics::term::Term;
use std::collections::{BTreeMap, HashMap};

/// Goals that are expanded for this at least, and matches, whatever the search before has left.
const GOALS: usize = 256;
const MATCHES: usize = 20_000;

/// A window as one operation of the carried register and what a round computes beside it.
pub(super) struct Round {
    /// The name of the register.
    name: String,
    op: Op,
    /// The part of the carried register in each element, in some nothing else.
    carried: Goal,
    /// All else.
    pub(super) beside: Goal,
    /// What changes nothing when it is carried, for one element.
    nothing: Bits,
}

impl Search<'_> {
    /// Registers that hold the window, the carried register joined last, where that costs less
    /// than those that were found.
    pub(super) fn carried_last(
        &mut self,
        goal: &Goal,
        found: &[Value],
        known: Estimate,
    ) -> Option<Vec<Value>> {
        let round = self.round(goal)?;
        let (outer, mut bound) = (self.bound, self.bound);
        let mut best: Option<(Estimate, Vec<Value>)> = None;
        for anew in [false, true] {
            self.grant();
            // What is looked for anew has to be cheaper.
            self.bound = bound;
            let beside = match anew {
                true => self.solve_registers(&round.beside),
                false => self.with_nothing_carried(found, &round),
            };
            self.bound = outer;
            let Some(beside) = beside else { continue };
            bound = self.estimator.sum(&self.graph, &beside);
            self.grant();
            let joined = self.joined_last(goal, &round, &beside);
            let Some(joined) = joined else { continue };
            let estimate = self.estimate(&joined);
            self.tried("what the loop carries last", Some(estimate.cost));
            let least = best.as_ref().map_or(known, |(estimate, _)| *estimate);
            if estimate < least {
                best = Some((estimate, joined));
            }
        }
        best.map(|(_, joined)| joined)
    }

    /// Allows for some goals and matches more.
    fn grant(&mut self) {
        self.limits.goals = self.limits.goals.max(self.report.goals + GOALS);
        self.limits.matches = self.limits.matches.max(self.report.matches + MATCHES);
    }

    /// What was found, with a constant in place of the carried register.
    fn with_nothing_carried(&mut self, found: &[Value], round: &Round) -> Option<Vec<Value>> {
        let width = self.inputs.iter().find(|i| i.name == round.name)?.width;
        let lanes = width / round.nothing.width();
        let nothing = round.nothing.repeated(lanes);
        let held = HashMap::from([(round.name.as_str(), Term::bits(nothing.clone()))]);
        let mut place: BTreeMap<Value, Value> = BTreeMap::new();
        for value in self.graph.needed(found) {
            let node = match self.graph.node(value) {
                Node::Input { name, lo, width } if *name == round.name => {
                    Node::Constant(nothing.extract(*lo, *width))
                }
                other => other.moved(&place, &mut |operation| operation),
            };
            let changed = self.graph.add(node);
            place.insert(value, changed);
            for claim in self.claims.get(&value).cloned().unwrap_or_default() {
                let without = claim.with_all(&mut |t| Some(replace_vars(t, &held)));
                without.iter().for_each(|goal| self.claim(changed, goal));
            }
        }
        Some(found.iter().map(|value| place[value]).collect())
    }

    pub(super) fn joined_last(
        &mut self,
        goal: &Goal,
        round: &Round,
        beside: &[Value],
    ) -> Option<Vec<Value>> {
        let lanes = goal.elements.len() / beside.len();
        let mut joined = Vec::new();
        for (k, &value) in beside.iter().enumerate() {
            let carried = round.carried.part(k * lanes, lanes);
            let register = self.named(value);
            let at = |lane: usize| b::extract(register, lane as u32 * goal.element, goal.element);
            let join = |lane: usize| Some(b::app(round.op, &[carried.elements[lane]?, at(lane)]));
            let step = self.padded(&Goal {
                element: goal.element,
                elements: (0..lanes).map(join).collect(),
            });
            let (value, _) = self.solve(&step, 1)?;
            let part = self.padded(&goal.part(k * lanes, lanes));
            self.claim(value, &part);
            joined.push(value);
        }
        Some(joined)
    }

    /// The window in two parts, where each element has the carried one once, as an operand.
    pub(super) fn round(&self, goal: &Goal) -> Option<Round> {
        let name = self.inputs.iter().find(|i| i.chains > 0)?.name.clone();
        let (op, _) = goal
            .live()
            .next()?
            .as_app()
            .filter(|(op, _)| grouping(*op))?;
        let is_carried = |t: &Term| leaf(*t).is_some_and(|(n, _)| n == name);
        let mentions = |t: Term| free_vars(t).iter().any(|v| v.as_var() == Some(&name));
        let nothing = op.code.neutral(goal.element)?;
        let apart = |t: Term| {
            if is_carried(&t) {
                return Some((t, Term::bits(nothing.clone())));
            }
            t.as_app().filter(|(other, _)| *other == op)?;
            let parts = flatten(op.code, t);
            let (own, others): (Vec<Term>, Vec<Term>) = parts.into_iter().partition(is_carried);
            let others = others.into_iter().reduce(|x, y| b::app(op, &[x, y]))?;
            (own.len() == 1 && !mentions(others)).then(|| (own[0], others))
        };
        Some(Round {
            op,
            carried: goal.with_all(&mut |t| apart(t).map(|(own, _)| own))?,
            beside: goal.with_all(&mut |t| apart(t).map(|(_, others)| others))?,
            nothing: nothing.clone(),
            name,
        })
    }
}
