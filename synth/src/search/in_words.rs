//! Elements wider than those that a machine computes with, as elements that it has.
//!
//! In: goals for which nothing was found. Out: where what they compute is wider than the widest element
//! that operations add in, the same over words of half its width ([`crate::words`]): the low words of
//! all elements are one goal and the high ones another, and both are brought together as they lie in
//! memory. Words that are too wide still are halved again.
//!
//! It proposes; what is chosen is claimed and proved like all else. Each of these goals has a window's limits.

use super::Search;
use super::lanewise::{lane_goal_as_read, of_streams, stays};
use super::place::APART_GOALS;
use crate::goal::Goal;
use crate::words::{in_words, widest};
use autoir::program::Value;
use semantics::build as b;
use semantics::term::Term;
use std::collections::HashMap;

impl Search<'_> {
    /// Registers that hold a goal, with elements as wide as they are or in words: little is tried before
    /// words where what is computed is wider than operations add in, and words of all elements before
    /// those of their halves.
    pub(super) fn solve_at_any_width(&mut self, goal: &Goal) -> Option<Vec<Value>> {
        if self.undivided || goal.only_moves() || !self.is_wide(goal) {
            return self.solve_in_registers(goal);
        }
        let lanes = goal.live().count() as u32;
        let all_bits = |t: Term| 2 * lanes * widest(t) >= self.candidates.widths.widest();
        let fills = goal.live().any(all_bits);
        let stopped = self.report.stopped_by.clone();
        self.undivided = true;
        let found = self.within(APART_GOALS, |search| search.solve_in_registers(goal));
        self.undivided = false;
        if found.is_none() {
            // That few goals were spent is no limit of the window.
            self.report.stopped_by = stopped;
        }
        // Words that fill less than half a register are moved more than computed.
        let found = found.or_else(|| fills.then(|| self.solve_in_words(goal))?);
        // What elements hold may be narrower than what they are computed from.
        let further = || {
            self.candidates
                .widest_sum()
                .is_some_and(|most| goal.element <= most)
        };
        found.or_else(|| further().then(|| self.solve_in_registers(goal))?)
    }

    /// Whether something is computed that is wider than the elements that operations add in.
    fn is_wide(&self, goal: &Goal) -> bool {
        let most = self.candidates.widest_sum();
        most.is_some_and(|most| goal.live().any(|t| widest(t) > most))
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
        let mut parts = word_goals(goal, word, word <= least)?;
        if let [one] = &parts[..] {
            let other = word_goals(goal, word, false)?.swap_remove(0);
            let found = self.written(goal, one);
            return found.or_else(|| self.written(one, &other));
        }
        let mut read = HashMap::new();
        for k in 0..parts.len() {
            let mut held = self.words_in_registers(&parts[k], &mut read);
            // Where no operation has the upper words of products, they are made of those of halves.
            let halves = held.is_none().then(|| word_goals(goal, word, false));
            if let Some(other) = halves.flatten().filter(|other| other[k] != parts[k]) {
                held = self.words_in_registers(&other[k], &mut read);
            }
            parts[k] = held?;
        }
        let both =
            (0..goal.elements.len()).flat_map(|k| parts.iter().map(move |word| word.elements[k]));
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

    /// Registers for a goal that is another one, where it is another one.
    fn written(&mut self, goal: &Goal, words: &Goal) -> Option<Vec<Value>> {
        let found = || self.unspent(|search| search.solve_registers(words));
        (words != goal).then(found)?
    }

    fn words_in_registers(&mut self, part: &Goal, read: &mut HashMap<Goal, Goal>) -> Option<Goal> {
        match self.over_registers(part, read) {
            Some(lanes) => self.within(APART_GOALS, |search| search.as_registers(&lanes)),
            None => self.as_registers(part),
        }
    }

    /// A goal of words over registers that hold what its lanes read, each lane where it computes: what is
    /// dealt out for one word is there for the other, and no more movements are looked for.
    fn over_registers(&mut self, goal: &Goal, read: &mut HashMap<Goal, Goal>) -> Option<Goal> {
        let (lane, streams) = lane_goal_as_read(goal)?;
        let mut held = Vec::new();
        for stream in streams {
            held.push(match read.get(&stream) {
                Some(known) => known.clone(),
                None if stays(&stream) => stream,
                None => {
                    let moved = self.as_registers(&stream)?;
                    read.entry(stream).or_insert(moved).clone()
                }
            });
        }
        Some(of_streams(&lane, &held, goal))
    }

    /// A goal as elements of registers that hold it.
    fn as_registers(&mut self, goal: &Goal) -> Option<Goal> {
        let whole = self.padded(goal);
        let values = self.unspent(|search| search.solve_registers(&whole))?;
        let held = whole.elements.len() / values.len();
        let names: Vec<Term> = values.iter().map(|v| self.named(*v)).collect();
        let element = goal.element;
        let at = |k: usize| b::extract(names[k / held], (k % held) as u32 * element, element);
        let lanes = goal.elements.iter().enumerate();
        Some(Goal {
            element,
            elements: lanes.map(|(k, t)| t.map(|_| at(k))).collect(),
        })
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
