//! Dealt lanes: wide lanes in two registers, in the order in which interleaving leaves them and packing
//! takes them.
//!
//! In: a value that is narrowed from one twice as wide. Out: how that is chosen and placed in two
//! registers whose lanes need not lie in their order: of each block of a register of narrow lanes the
//! first half lies in the one and the second half in the other. What interleaves and what packs works
//! within such blocks on many machines, so that nothing crosses them. Wide values are made there of
//! their halves, which are computed in narrow lanes for both registers at once: an extended lane has
//! zeros or signs above it, a product has a lower and an upper half, and two lanes beside each other
//! are what instructions that add the products of neighbours take.
//!
//! It proposes; what is chosen is claimed and proved like all else.

use super::Search;
use super::cover::{Choices, Cover, Expression, How, LaneView, PARTS, Style, cheaper, users};
use super::narrowed::{Lanes, Lying, Narrowing};
use super::place::{Placed, partial_sums};
use crate::alternatives::{alternatives, halves_of_wide, multiplies, products_in_pairs};
use crate::fragment::lane_width;
use crate::goal::Goal;
use autoir::program::Value;
use semantics::op::OpCode;
use semantics::term::Term;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// How often lanes are dealt that are dealt already: bytes of words are narrowed twice.
const LEVELS: u8 = 2;

/// What the lanes of an expression are dealt from.
pub(super) struct Dealt {
    /// The expression in narrow lanes.
    of: Expression,
    /// How often its lanes are dealt.
    level: u8,
    /// The narrow lanes of a register, and their width.
    lanes: u32,
    narrow: u32,
    block: u32,
    /// Sums that are parts of larger ones.
    inner: HashSet<Term>,
}

/// Where a lane of two registers lies among the narrow lanes of one.
pub(super) fn undealt(lane: u32, lanes: u32, of_block: u32) -> u32 {
    let half = (of_block / 2).clamp(1, lanes / 2);
    let (register, at) = (lane / (lanes / 2), lane % (lanes / 2));
    at / half * (2 * half) + register * half + at % half
}

impl Search<'_> {
    /// Blocks in which lanes may be dealt, in bits: the narrowest registers, and the whole one.
    fn dealt_blocks(&self, width: u32) -> Vec<u32> {
        let least = self.candidates.widths.narrowest();
        match least < width {
            true => vec![least, width],
            false => vec![width],
        }
    }

    /// The cheapest way to narrow a value from two registers of dealt lanes.
    pub(super) fn narrowing_of_dealt(
        &mut self,
        e: &Expression,
        choices: &mut Choices,
        how: Narrowing,
    ) -> Option<(u64, How)> {
        let (of, narrow) = (how.of, lane_width(how.to));
        let width = choices.lanes * narrow;
        let widths = &self.candidates.widths;
        // Of lanes that fill no register there are more ways to bring them together than this.
        let filled = width == widths.widest() || choices.lanes == e.lanes;
        let whole = widths.is_one(width) && filled && lane_width(of) == 2 * narrow;
        if !whole || e.view == LaneView::Pairs || choices.lanes < 4 || self.memory.narrows.is_some()
        {
            return None;
        }
        let dealt = self.dealt_blocks(width).into_iter().filter_map(|block| {
            let lanes = how.lanes(choices.lanes / 2, 2, Lying::Packed(block));
            let own = Lanes::interleaved(narrow, choices.lanes, block, false);
            let cost = u64::from(self.sequence(lanes)?.cost) * PARTS;
            let made = u64::from(self.sequence(own)?.cost) * PARTS;
            Some((cost + made, cost, block, lanes))
        });
        let (_, cost, block, lanes) = dealt.min_by_key(|found| found.0)?;
        let flow = self.choose_dealt(e, choices, of, block)?;
        Some((2 * flow + cost, How::Narrowed { of, lanes }))
    }

    /// What a wide value costs in each of two registers of lanes that are dealt from those of these
    /// choices, which hold how it is computed then.
    fn choose_dealt(
        &mut self,
        e: &Expression,
        choices: &mut Choices,
        of: Term,
        block: u32,
    ) -> Option<u64> {
        let (width, lanes) = (lane_width(of), choices.lanes / 2);
        if let Some(made) = choices.dealt.get(&width).and_then(|d| d.made.get(&of)) {
            return made.as_ref().map(|(flow, _)| *flow);
        }
        let own = e.dealt(of, choices.lanes, block)?;
        let empty = self.no_choices(choices.lanes, choices.style);
        let mut below = match choices.dealt.remove(&width).map(Rc::try_unwrap) {
            Some(Ok(known)) => known,
            Some(Err(shared)) => shared.with(shared.made.clone()),
            None => self.no_choices(lanes, Style::Dealt),
        };
        below.count(of);
        below.narrow = Some(Box::new(std::mem::replace(choices, empty)));
        let flow = self.choose(&own, &mut below, of);
        *choices = *below.narrow.take()?;
        // What was dealt meanwhile is known as well.
        if let Some(other) = choices.dealt.remove(&width) {
            let own = std::mem::replace(&mut below.made, other.made.clone());
            below.made.extend(own);
        }
        choices.dealt.insert(width, Rc::new(below));
        flow
    }

    /// A cover of a window in which what is narrowed may be computed in dealt lanes: what it costs by
    /// latencies says little of what it takes of a machine.
    pub(super) fn cover_in_dealt(
        &mut self,
        e: &Expression,
        goal: &Goal,
        lanes: u32,
    ) -> Option<(Cover, Rc<Choices>)> {
        if users(e.root).into_keys().all(|t| self.holds(lanes, t)) {
            return None;
        }
        self.cover_in_style(e, goal, lanes, (Style::Dealt, "in dealt lanes"))
    }

    /// A cover of a window of products of narrow elements in two registers of dealt lanes at a time, which
    /// are brought into their order at the end.
    pub(super) fn cover_of_dealt(
        &mut self,
        e: &Expression,
        goal: &Goal,
        lanes: u32,
    ) -> Option<Cover> {
        let (wide, all) = (e.element, 2 * lanes);
        let narrow = e.streams.iter().any(|s| 2 * s.element == wide);
        let whole = self.candidates.widths.is_one(lanes * wide) && e.lanes.is_multiple_of(all);
        if !narrow
            || !whole
            || lanes < 2
            || e.view == LaneView::Pairs
            || e.is_dealt()
            || !multiplies(e.root)
        {
            return None;
        }
        let blocks = self
            .dealt_blocks(lanes * wide)
            .into_iter()
            .filter_map(|block| {
                let own = [
                    Lanes::interleaved(wide / 2, all, block, false),
                    Lanes::gathered(wide, lanes, block, false),
                ];
                let costs = own.map(|lanes| self.sequence(lanes).map(|s| s.cost));
                Some((costs[0]? + costs[1]?, block))
            });
        let (_, block) = blocks.min()?;
        let mut choices = self.no_choices(all, Style::Dealt);
        self.choose_dealt(e, &mut choices, e.root, block)?;
        let mut values = Vec::new();
        for first in (0..e.lanes).step_by(all as usize) {
            let mut placed = Placed::new(e, &choices, first);
            let registers = self.place_dealt(e, (e.root, block), &choices, 0, &mut placed)?;
            for upper in [false, true] {
                let sequence = self.sequence(Lanes::gathered(wide, lanes, block, upper))?;
                let value = sequence.placed(&mut self.graph, &registers)?;
                let first = if upper { first + lanes } else { first };
                let part = goal.part(first as usize, lanes as usize);
                self.claim(value, &self.padded(&part));
                values.push(value);
            }
        }
        let estimate = self.estimate(&values);
        self.tried(
            "in dealt lanes, brought into their order",
            Some(estimate.cost),
        );
        Some(Cover {
            values,
            estimate,
            filled: true,
        })
    }

    /// How a value of dealt lanes is computed.
    pub(super) fn choice_of_dealt(
        &mut self,
        e: &Expression,
        of: &Dealt,
        choices: &mut Choices,
        t: Term,
    ) -> Option<(u64, How)> {
        if let Some(&k) = e.leaves.get(&t) {
            let lanes = &e.streams[k].elements;
            return match lanes.windows(2).all(|two| two[0] == two[1]) {
                true => Some((0, How::Leaf(k))),
                // Two registers whose halves are exchanged.
                false if lane_width(t) == 2 * of.narrow => {
                    let exchanged = 2 * self.processor().operation;
                    Some((u64::from(exchanged) * PARTS, How::Leaf(k)))
                }
                false => None,
            };
        }
        t.as_app()?;
        let mut best = self.by_interleaving(of, choices, t);
        best = cheaper(best, self.by_one(e, choices, t));
        let whole = !of.inner.contains(&t);
        let mut others = Vec::from_iter(whole.then(|| products_in_pairs(t)).flatten());
        if best.is_none() {
            others.extend([self.variants_of(choices, t), alternatives(t)].concat());
        }
        for other in others {
            choices.count(other);
            best = cheaper(best, self.same(e, choices, other));
        }
        for how in Narrowing::all(t) {
            best = cheaper(best, self.narrowing_of_dealt(e, choices, how));
        }
        best
    }

    /// A wide value by its halves, of which narrow lanes are interleaved.
    fn by_interleaving(
        &mut self,
        of: &Dealt,
        choices: &mut Choices,
        t: Term,
    ) -> Option<(u64, How)> {
        if lane_width(t) != 2 * of.narrow || choices.lanes * 2 != of.lanes {
            return None;
        }
        let mut best = None;
        let cost = u64::from(self.sequence(of.interleaved(false))?.cost) * PARTS;
        let product = t.args_of(OpCode::BvMul).is_some();
        for halves in halves_of_wide(t) {
            let mut narrow = choices.narrow.take()?;
            let flow = halves.iter().map(|half| {
                narrow.count(*half);
                match product {
                    true => self.choose_plainly(&of.of, &mut narrow, *half),
                    false => self.choose(&of.of, &mut narrow, *half),
                }
            });
            // What both registers are made of is computed once.
            let flow: Option<u64> = flow.sum();
            choices.narrow = Some(narrow);
            let found = flow.map(|flow| (cost + flow / 2, How::Interleaved(halves)));
            best = cheaper(best, found);
        }
        best
    }

    /// What a value costs that one operation is to compute: halves of products are long to write otherwise.
    fn choose_plainly(&mut self, e: &Expression, choices: &mut Choices, t: Term) -> Option<u64> {
        if let Some(made) = choices.made.get(&t) {
            return made.as_ref().map(|(flow, _)| *flow);
        }
        if !choices.open.insert(t) {
            return None;
        }
        let found = self.by_operation(e, choices, t);
        choices.open.remove(&t);
        let flow = found.as_ref()?.0;
        choices.made.insert(t, found);
        Some(flow)
    }

    /// Both registers of a value of dealt lanes.
    pub(super) fn place_dealt(
        &mut self,
        e: &Expression,
        (of, block): (Term, u32),
        choices: &Choices,
        depth: usize,
        placed: &mut Placed,
    ) -> Option<[Value; 2]> {
        let own = e.dealt(of, choices.lanes, block)?;
        let below = choices.dealt.get(&lane_width(of))?;
        let mut halves = HashMap::new();
        for half in below.halves(of) {
            halves.insert(half, self.place(e, choices, half, depth, placed)?);
        }
        let mut registers = Vec::new();
        for first in placed.all_lanes().step_by(below.lanes as usize) {
            let mut inner = Placed::new(&own, below, first);
            inner.halves.clone_from(&halves);
            registers.push(self.place(&own, below, of, depth, &mut inner)?);
        }
        registers.try_into().ok()
    }

    /// The register of a wide value that is made of its halves.
    pub(super) fn place_interleaved(
        &mut self,
        e: &Expression,
        halves: [Term; 2],
        placed: &Placed,
    ) -> Option<Value> {
        let of = e.dealt.as_deref()?;
        let upper = !placed.all_lanes().start.is_multiple_of(of.lanes);
        let [low, high] = halves.map(|half| placed.halves.get(&half).copied());
        let sequence = self.sequence(of.interleaved(upper))?;
        sequence.placed(&mut self.graph, &[low?, high?])
    }
}

impl Choices {
    /// The halves of lanes that a value rests on, in an order of their own.
    fn halves(&self, of: Term) -> Vec<Term> {
        let (mut out, mut seen, mut work) = (Vec::new(), HashSet::new(), vec![of]);
        while let Some(t) = work.pop() {
            let made = self.made.get(&t).and_then(Option::as_ref);
            let Some((_, how)) = made.filter(|_| seen.insert(t)) else {
                continue;
            };
            // What is dealt once more is looked through when it is placed.
            work.extend(how.operands());
            if let How::Interleaved(halves) = how {
                out.extend(halves);
            }
        }
        let mut known = HashSet::new();
        out.retain(|half| known.insert(*half));
        out
    }
}

impl Dealt {
    fn interleaved(&self, upper: bool) -> Lanes {
        Lanes::interleaved(self.narrow, self.lanes, self.block, upper)
    }
}

impl Expression {
    /// A value over lanes that are dealt from so many, in blocks of so many bits.
    fn dealt(&self, of: Term, lanes: u32, block: u32) -> Option<Expression> {
        let level = self.dealt.as_ref().map_or(0, |dealt| dealt.level) + 1;
        let narrow = lane_width(of) / 2;
        let dealt = Dealt {
            of: self.below(self.root),
            level,
            lanes,
            narrow,
            block,
            inner: partial_sums(of),
        };
        let of_block = block / narrow;
        let place = |k: usize| {
            let (register, lane) = (k / lanes as usize, k as u32 % lanes);
            register * lanes as usize + undealt(lane, lanes, of_block) as usize
        };
        let streams = self.streams.iter().map(|stream| {
            let mut own = stream.clone();
            for (k, element) in own.elements.iter_mut().enumerate() {
                *element = stream.elements[place(k)];
            }
            own
        });
        (level <= LEVELS).then(|| Expression {
            streams: streams.collect(),
            dealt: Some(Rc::new(dealt)),
            ..self.below(of)
        })
    }

    /// Whether its lanes are dealt: of these values are made otherwise.
    pub(super) fn is_dealt(&self) -> bool {
        self.dealt.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_dealt_within_blocks() {
        let all = |lanes, of_block| {
            (0..lanes)
                .map(|k| undealt(k, lanes, of_block))
                .collect::<Vec<_>>()
        };
        assert_eq!(all(8, 4), [0, 1, 4, 5, 2, 3, 6, 7]);
        assert_eq!(all(8, 8), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(all(4, 2), [0, 2, 1, 3]);
    }
}
