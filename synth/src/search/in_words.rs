//! Elements wider than those that a machine computes with, as elements that it has.
//!
//! In: goals for which nothing was found. Out: where what they compute is wider than the widest element
//! that operations add in, the same over words of half its width ([`crate::words`]): the low words of
//! all elements are one goal and the high ones another, and both are brought together as they lie in
//! memory. Words that are too wide still are halved again.
//!
//! It proposes; what is chosen is claimed and proved like all else. Each of these goals has a window's limits.

use super::Search;
use super::place::APART_GOALS;
use crate::goal::Goal;
use crate::words::{in_words, widest};
use autoir::program::Value;
use semantics::build as b;
use semantics::term::Term;

impl Search<'_> {
    /// Registers that hold a goal, with elements as wide as they are or in words. Not much is tried where
    /// no operation adds in elements so wide.
    pub(super) fn solve_at_any_width(&mut self, goal: &Goal) -> Option<Vec<Value>> {
        let (all, most) = (self.limits.goals, self.candidates.widest_sum());
        if !goal.only_moves() && most.is_some_and(|most| goal.element > most) {
            self.limits.goals = all.min(self.report.goals + APART_GOALS);
        }
        let found = self.solve_in_registers(goal);
        self.limits.goals = all;
        found.or_else(|| self.solve_in_words(goal))
    }

    /// Registers that hold a goal whose values are computed in words.
    fn solve_in_words(&mut self, goal: &Goal) -> Option<Vec<Value>> {
        let found = self.found_in_words(goal);
        // What else holds one of the goals of words does not hold this one.
        self.second = None;
        found
    }

    fn found_in_words(&mut self, goal: &Goal) -> Option<Vec<Value>> {
        let least = self.candidates.widest_sum()?;
        let most = goal.live().map(widest).max().filter(|w| *w > least)?;
        let word = most.next_power_of_two() / 2;
        let parts = word_goals(goal, word, word <= least)?;
        if let [one] = &parts[..] {
            return (one != goal).then(|| self.unspent(|s| s.solve_registers(one)))?;
        }
        let mut words = Vec::new();
        for part in &parts {
            let values = self.unspent(|search| search.solve_registers(part))?;
            let held = part.elements.len() / values.len();
            let names: Vec<Term> = values.iter().map(|v| self.named(*v)).collect();
            words.push(move |k: usize| b::extract(names[k / held], (k % held) as u32 * word, word));
        }
        let lanes = goal.elements.iter().enumerate();
        let both = lanes.flat_map(|(k, t)| {
            let of = |word: &dyn Fn(usize) -> Term| t.map(|_| word(k));
            words.iter().map(|word| of(word)).collect::<Vec<_>>()
        });
        let together = Goal {
            element: word,
            elements: both.collect(),
        };
        let values = self.solve_registers(&together)?;
        let part = goal.elements.len() / values.len();
        for (k, &value) in values.iter().enumerate() {
            self.claim(value, &self.padded(&goal.part(k * part, part)));
        }
        Some(values)
    }
}

/// A goal's elements as words, the low ones of all elements first.
fn word_goals(goal: &Goal, word: u32, last: bool) -> Option<Vec<Goal>> {
    let count = goal.element.div_ceil(word) as usize;
    let element = goal.element.min(word);
    let mut parts = vec![Vec::new(); count];
    for t in &goal.elements {
        let words = t.map_or(Some(None), |t| in_words(t, word, last).map(Some))?;
        for (k, part) in parts.iter_mut().enumerate() {
            part.push(words.as_ref().map(|words| words[k]));
        }
    }
    let goal = |elements| Goal { element, elements };
    Some(parts.into_iter().map(goal).collect())
}
