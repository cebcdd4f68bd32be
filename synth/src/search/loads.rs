//! Loads: registers of what memory holds.
//!
//! In: goals whose elements are a stretch of an input, or constants. Out: the load that brings it, as it is or into
//! the low end of a register; where no single load does, the longest one with the rest put beside it.
//! Elements are not brought into another order here.

use super::Search;
use super::movement::Sources;
use crate::cost::Cost;
use crate::estimate::WindowInput;
use crate::goal::Goal;
use crate::widths::NUMBERS;
use autoir::program::{Node, Value};

impl Search<'_> {
    /// A constant, or bits of an input.
    pub(super) fn given(&mut self, goal: &Goal) -> Option<(Value, Cost)> {
        if let Some(bits) = goal.constant() {
            let constant = (
                self.graph.add(Node::Constant(bits)),
                self.processor().constant,
            );
            return Some(constant).filter(|_| self.candidates.widths.is_one(goal.width()));
        }
        let (name, lo) = goal.input_part()?;
        let width = goal.width();
        if let Some((value, term)) = self.named.get(name) {
            return match width {
                w if lo == 0 && w == term.width() => Some((*value, 0)),
                w if lo == 0 && w < term.width() && self.candidates.widths.is_vector(w) => {
                    let value = *value;
                    Some((self.graph.add(Node::Cast { value, width }), 0))
                }
                _ => None,
            };
        }
        let input = self.loadable(name, lo, width)?;
        let cost = if input.in_memory {
            self.processor().load
        } else {
            0
        };
        let node = Node::Input {
            name: name.to_owned(),
            lo,
            width,
        };
        Some((self.graph.add(node), cost))
    }

    /// A goal that fills a vector register, with elements that do not matter.
    pub(super) fn padded(&self, goal: &Goal) -> Goal {
        let mut goal = goal.clone();
        let least = self.candidates.widths.least_lanes(goal.element);
        if goal.elements.len() < least {
            goal.elements.resize(least, None);
        }
        goal
    }

    /// The input, when these bits of it are a register as they are, or can be loaded.
    pub(super) fn loadable(&self, name: &str, lo: u32, width: u32) -> Option<WindowInput> {
        let input = self.input(name)?;
        let whole = lo == 0 && width == input.width && self.candidates.widths.is_one(width);
        let part = input.in_memory
            && lo.is_multiple_of(8)
            && lo + width <= input.width
            && width <= self.candidates.widths.widest()
            && self.candidates.widths.is_held(width);
        (whole || part).then_some(input)
    }

    /// A source register: bits of an input, or a smaller input seen as a wider register.
    pub(super) fn source_value(&mut self, source: &Goal) -> Option<(Value, Cost)> {
        if let Some(v) = self.given(source) {
            return Some(v);
        }
        if source.width() == self.candidates.widths.narrowest() {
            let piece = self.low_piece(source);
            return piece.or_else(|| self.loaded_in_pieces(source));
        }
        let n = source.elements.len();
        let live = source
            .elements
            .iter()
            .take_while(|e| e.is_some())
            .count()
            .next_power_of_two();
        if live >= n {
            return self.loaded_in_pieces(source);
        }
        // Numbers change their width by themselves.
        let least = match source.width() < self.candidates.widths.narrowest() {
            true => 1,
            false => self.candidates.widths.least_lanes(source.element),
        };
        let (value, cost) = self.source_value(&source.part(0, live.max(least)))?;
        Some((
            self.graph.add(Node::Cast {
                value,
                width: source.width(),
            }),
            cost,
        ))
    }

    /// When only the low end of the smallest vector register matters, and that is a piece of
    /// an input: the piece, brought into the register as it is loaded.
    pub(super) fn low_piece(&mut self, goal: &Goal) -> Option<(Value, Cost)> {
        for width in self.candidates.widths.pieces() {
            if width < goal.element {
                continue;
            }
            let count = (width / goal.element) as usize;
            if goal.elements[count..].iter().any(Option::is_some) {
                continue;
            }
            let Some((value, cost)) = self.given(&goal.part(0, count)) else {
                continue;
            };
            let node = Node::Cast {
                value,
                width: goal.width(),
            };
            return Some((self.graph.add(node), cost + self.processor().transfer));
        }
        None
    }

    /// A register whose first elements are a stretch of memory that no single load brings: the longest
    /// load that fits, and the rest put beside it.
    pub(super) fn loaded_in_pieces(&mut self, source: &Goal) -> Option<(Value, Cost)> {
        let live = source.live().count();
        let lead = source.part(0, live);
        let (name, _) = lead.input_part()?;
        let apart = lead.live().count() < live;
        if apart || live == source.elements.len() || !self.input(name)?.in_memory {
            return None;
        }
        // What one load would bring is none of several.
        let mut there = self.longest_load(source, 0, live)?;
        if there == live {
            return None;
        }
        let mut done = first(source, there);
        let mut value = self.source_value(&done)?.0;
        while there < live {
            let count = self.longest_load(source, there, live)?;
            let piece = source.part(there, count);
            there += count;
            let wanted = first(source, there);
            let (spelled, held) = self.in_terms_of(&wanted, value, &done);
            let mut sources = Sources::from([(held.width(), [held].into())]);
            for width in NUMBERS.into_iter().chain(self.candidates.widths.vectors()) {
                if width >= piece.width() && width.is_multiple_of(source.element) {
                    let wide = || [piece.widened(width)].into();
                    sources.entry(width).or_insert_with(wide);
                }
            }
            value = self.move_from(&spelled, sources)?.0;
            self.claim(value, &wanted);
            done = wanted;
        }
        Some((value, self.estimator.sum(&self.graph, &[value])))
    }

    /// How many elements of a register the longest load brings, from one on up to another.
    fn longest_load(&self, source: &Goal, from: usize, to: usize) -> Option<usize> {
        let held = |count: &usize| {
            let width = source.element * *count as u32;
            self.candidates.widths.is_held(width)
        };
        (1..=to - from).rev().find(held)
    }
}

/// A goal of whose elements only the first matter.
fn first(goal: &Goal, count: usize) -> Goal {
    let mut goal = goal.clone();
    goal.elements[count..].fill(None);
    goal
}
