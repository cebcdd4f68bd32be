//! Windows that one instruction computes for each register, than which none takes less of the machine.
//!
//! In: windows. Out: registers, where one instruction on what is given holds each of them, or computes all of a round
//! but what the loop carries, which is joined last. There is nothing cheaper to search for then, and of several
//! ways to deal lanes that are as good this says which is the best one before any of them is searched for.
//!
//! It proposes; what is chosen is claimed and proved like all else.

use super::{Search, cheaper};
use crate::cost::{Cost, Rule};
use crate::goal::Goal;
use crate::matching::summands;
use autoir::program::{Node, Value};
use std::collections::HashMap;

/// Whether elements add up several values: what does that by one instruction takes two otherwise.
fn adds_several(goal: &Goal) -> bool {
    goal.live().next().is_some_and(|t| summands(t).len() > 1)
}

impl Search<'_> {
    /// Registers that hold the goal by one instruction each that takes the least of the machine, or by one and
    /// what a loop carries.
    pub fn least_registers(&mut self, goal: &Goal) -> Option<Vec<Value>> {
        if !adds_several(goal) {
            return None;
        }
        let one = self.defined(goal).filter(|(value, _)| {
            self.takes_least(*value) && !self.estimator.waits(&self.graph, &[*value])
        });
        if let Some((value, _)) = one {
            self.claim(value, goal);
            return Some(vec![value]);
        }
        self.joined_to_one(goal)
    }

    /// Whether a value is an instruction that takes the machine no longer than any two.
    fn takes_least(&self, value: Value) -> bool {
        let Node::Apply { operation, .. } = self.graph.node(value) else {
            return false;
        };
        let c = &self.candidates.list[*operation];
        self.candidates.costs.rule == Rule::Pressure
            && c.weight.timing.throughput <= 2 * self.candidates.least_throughput(c.width)
    }

    /// The cheapest instruction that computes a window, as it is written or, unless that is the least, otherwise.
    pub(super) fn one_instruction(&mut self, goal: &Goal) -> Option<(Value, Cost)> {
        let defined = self.defined(goal);
        if let Some((value, _)) = defined {
            self.claim(value, goal);
            self.tried("by one instruction", Some(self.estimate(&[value]).cost));
            if self.is_least(value) {
                return defined;
            }
        }
        let below = defined.map_or(self.bound, |(_, cost)| cost.min(self.bound));
        let computed = self.computed(goal, below);
        if let Some((value, cost)) = computed {
            self.claim(value, goal);
            self.tried("by one instruction, written otherwise", Some(cost));
        }
        cheaper(defined, computed)
    }

    /// Whether a window is one instruction than which none takes less of the machine, or one that adds several
    /// values than which no two do, unless rounds of a loop wait for it and nothing can be joined afterwards.
    pub(super) fn is_enough(&self, goal: &Goal, value: Value) -> bool {
        self.is_least(value)
            || adds_several(goal)
                && self.takes_least(value)
                && (!self.estimator.waits(&self.graph, &[value]) || self.round(goal).is_some())
    }

    /// Registers that hold a wider goal by one instruction each, none of which costs less or takes less of the
    /// machine, where what they read lies in as few registers as it can.
    pub(super) fn each_by_one(&mut self, goal: &Goal) -> Option<Vec<Value>> {
        let widest = self.candidates.widths.widest();
        let lanes = (widest / goal.element) as usize;
        if goal.width() <= widest || !goal.elements.len().is_multiple_of(lanes) {
            return None;
        }
        let mut values = Vec::new();
        for first in (0..goal.elements.len()).step_by(lanes) {
            let part = goal.part(first, lanes);
            if part.live().next().is_none() {
                // Of what nobody reads any register will do.
                values.push(*values.last()?);
                continue;
            }
            let (value, _) = self.defined(&part)?;
            if !self.is_enough(&part, value) {
                return None;
            }
            self.claim(value, &part);
            values.push(value);
        }
        let cost = self.estimate(&values).cost;
        self.tried("by one instruction for each register", Some(cost));
        self.reads_least(&values).then_some(values)
    }

    /// Whether values read each input in as few registers as hold what they read of it.
    fn reads_least(&self, values: &[Value]) -> bool {
        let mut read: HashMap<&str, (u32, u32, u32)> = HashMap::new();
        for value in self.graph.needed(values) {
            if let Node::Input { name, lo, width } = self.graph.node(value) {
                let (low, end, registers) = read.entry(name).or_insert((*lo, *lo, 0));
                (*low, *end) = ((*low).min(*lo), (*end).max(lo + width));
                *registers += 1;
            }
        }
        let widest = self.candidates.widths.widest();
        let least =
            |(low, end, registers): &(u32, u32, u32)| *registers <= (end - low).div_ceil(widest);
        read.values().all(least)
    }

    /// Registers that hold the window where what a round computes beside the carried register is one
    /// instruction for each, than which no two take less of the machine, and no instruction that rounds
    /// do not wait for does all: there is nothing cheaper to look for. One that they wait for is taken where
    /// that takes no longer.
    pub(super) fn joined_to_one(&mut self, goal: &Goal) -> Option<Vec<Value>> {
        let round = self.round(goal)?;
        let widest = self.candidates.widths.widest();
        let lanes = (widest.min(goal.width()) / goal.element) as usize;
        let held = self.candidates.widths.is_held(lanes as u32 * goal.element);
        if !held || !goal.elements.len().is_multiple_of(lanes) {
            return None;
        }
        let (mut whole, mut beside) = (Vec::new(), Vec::new());
        for first in (0..goal.elements.len()).step_by(lanes) {
            let part = round.beside.part(first, lanes);
            if !adds_several(&part) {
                return None;
            }
            let all = goal.part(first, lanes);
            if let Some((value, _)) = self.defined(&all) {
                if !self.estimator.waits(&self.graph, &[value]) {
                    return None;
                }
                self.claim(value, &all);
                whole.push(value);
            }
            let (value, _) = self.defined(&part)?;
            self.claim(value, &part);
            beside.push(value);
        }
        if !beside.iter().all(|value| self.takes_least(*value)) {
            return None;
        }
        let joined = self.joined_last(goal, &round, &beside)?;
        let cost = self.estimate(&joined).cost;
        self.tried("by one instruction and what the loop carries", Some(cost));
        let at_once =
            whole.len() == beside.len() && self.estimate(&whole) <= self.estimate(&joined);
        Some(if at_once { whole } else { joined })
    }
}
