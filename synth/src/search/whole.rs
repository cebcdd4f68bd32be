//! Definitions by what they compute: goals that one instruction computes of what is there,
//! however they are written.
//!
//! In: goals that are functions of a few registers. Out: the cheapest instruction that gives the
//! same on fixed inputs and is proved equal, where that is proved. [`super::defined`] compares
//! how a goal is written; this one is for those written otherwise.

use super::decompositions::Wanted;
use super::{Search, cheaper};
use crate::cost::Cost;
use crate::goal::{Goal, leaf};
use crate::whole::{Entry, MAX_OPERANDS, WholeLibrary};
use autoir::program::Value;
use semantics::build as b;
use semantics::sort::Sort;
use semantics::subst::replace_vars;
use semantics::term::Term;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Consecutive bits of an input that a goal reads: first bit, and the bit after the last.
type Spans = BTreeMap<&'static str, (u32, u32)>;

impl Search<'_> {
    /// The cheapest value by one instruction on what is given that costs less than a bound.
    pub(super) fn computed(&mut self, goal: &Goal, below: Cost) -> Option<(Value, Cost)> {
        if goal.only_moves() || !self.candidates.widths.is_held(goal.width()) {
            return None;
        }
        let low = low_bits(goal)?;
        let spans = spans(goal)?;
        let mut best: Option<(Value, Cost)> = None;
        for whole in [true, false] {
            let begin = |lo: u32| if whole { lo / 64 * 64 } else { lo };
            if !whole && spans.values().all(|&(lo, _)| lo == begin(lo) / 64 * 64) {
                break;
            }
            let read: Option<Vec<(Term, u32)>> = spans
                .iter()
                .map(|(name, &(lo, _))| {
                    let width = self.input(name)?.width;
                    Some((Term::var(name, Sort::Bv(width)), begin(lo)))
                })
                .collect();
            best = cheaper(best, self.computed_of(goal, low, &read?, below));
        }
        best
    }

    /// The same, of inputs from these bits on.
    fn computed_of(
        &mut self,
        goal: &Goal,
        low: Term,
        read: &[(Term, u32)],
        below: Cost,
    ) -> Option<(Value, Cost)> {
        let library = self.candidates.whole_library(goal.width());
        let mut best: Option<(Value, Cost)> = None;
        for order in crate::library::orders(read.len()) {
            let placed: Vec<(Term, usize, u32)> = read
                .iter()
                .zip(*order)
                .map(|(&(input, lo), &position)| (input, position, lo))
                .collect();
            let behaviour = WholeLibrary::behaviour(low, &placed)?;
            for entry in library.find(behaviour) {
                let bound = best.map_or(below, |(_, cost)| cost);
                if self.candidates.list[entry.candidate].cost >= bound {
                    break;
                }
                best = cheaper(best, self.proved(goal, entry, &placed));
            }
        }
        best
    }

    /// The instruction on these inputs, when it is proved to be the goal.
    fn proved(
        &mut self,
        goal: &Goal,
        entry: &Entry,
        placed: &[(Term, usize, u32)],
    ) -> Option<(Value, Cost)> {
        let c = &self.candidates.list[entry.candidate];
        let (mut operands, mut held) = (Vec::new(), HashMap::new());
        let mut position = 0;
        for o in &c.instance.formals {
            if let Some(bits) = entry.immediates.get(&o.name) {
                held.insert(o.name.as_str(), Term::bits(bits.clone()));
                operands.push(Wanted::Immediate(bits.clone()));
                continue;
            }
            let &(input, _, lo) = placed.iter().find(|p| p.1 == position)?;
            position += 1;
            let there = (input.width() - lo).min(o.width);
            let part = b::extract(input, lo, there);
            let nothing = |width| Term::var(super::NOTHING, Sort::Bv(width));
            let all = match o.width - there {
                0 => part,
                more => b::concat(&[nothing(more), part]),
            };
            held.insert(o.name.as_str(), all);
            operands.push(Wanted::Register(piece(part, o.width)?, 0));
        }
        let live = goal.elements.iter().enumerate();
        let equal = live.filter_map(|(k, t)| Some((k, (*t)?))).all(|(k, t)| {
            let meaning = replace_vars(c.element(goal.element, k as u32), &held);
            self.prover.prove_equal(meaning, t).is_proved()
        });
        match equal {
            true => self.on_given(entry.candidate, &operands),
            false => None,
        }
    }
}

/// The lowest bits of a goal, all of which matter.
fn low_bits(goal: &Goal) -> Option<Term> {
    let count = (64 / goal.element).max(1) as usize;
    let lowest: Option<Vec<Term>> = goal.elements.iter().take(count).rev().copied().collect();
    let all = b::concat(&lowest?);
    Some(b::extract(all, 0, all.width().min(64)))
}

/// What a goal reads of each input, where they are not too many.
fn spans(goal: &Goal) -> Option<Spans> {
    let mut spans = Spans::new();
    let (mut seen, mut work) = (HashSet::new(), goal.live().collect::<Vec<_>>());
    while let Some(t) = work.pop() {
        if !seen.insert(t) {
            continue;
        }
        let Some((name, lo)) = leaf(t) else {
            work.extend(t.children());
            continue;
        };
        let hi = lo + t.width();
        let span = spans.entry(name).or_insert((lo, hi));
        *span = (span.0.min(lo), span.1.max(hi));
        if spans.len() > MAX_OPERANDS {
            return None;
        }
    }
    (!spans.is_empty()).then_some(spans)
}

/// A register of a width whose low end is a piece of an input; of the rest nothing matters.
fn piece(part: Term, width: u32) -> Option<Goal> {
    let element = match part.width() == width {
        true => width,
        false => 8,
    };
    if !part.width().is_multiple_of(element) || !width.is_multiple_of(element) {
        return None;
    }
    let there = (0..part.width() / element).map(|k| Some(b::extract(part, k * element, element)));
    let mut elements: Vec<Option<Term>> = there.collect();
    elements.resize((width / element) as usize, None);
    Some(Goal { element, elements })
}
