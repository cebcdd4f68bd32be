//! Folding: one number from many.
//!
//! In: goals with one element that matters, a sum (or least, greatest, ...) of many parts
//! most of which are one function of different elements. Out: a register in which each lane
//! combines some of the parts, its halves combined until one lane is left, then what else
//! belongs to the sum. How the parts are dealt to the lanes is tried: neighbours together,
//! which suits instructions that add within a lane, and apart, which suits loads.

use super::lanewise::abstract_leaves;
use super::{Search, cheaper};
use crate::cost::Cost;
use crate::goal::{Goal, leaf};
use crate::matching::flatten;
use autoir::program::Value;
use semantics::build as b;
use semantics::op::{Op, OpCode};
use semantics::term::Term;
use std::collections::{HashMap, HashSet};

/// The fewest parts that are dealt to lanes.
const FEWEST: usize = 4;
/// How many registers of sums are made and added.
const BLOCKS: [usize; 4] = [1, 2, 4, 8];
/// The widest lanes that parts are dealt to.
const MOST_IN_LANE: u32 = 64;
/// Operators whose arguments may be grouped in any way.
const GROUPING: [OpCode; 8] = [
    OpCode::BvAdd,
    OpCode::BvAnd,
    OpCode::BvOr,
    OpCode::BvXor,
    OpCode::Smin,
    OpCode::Smax,
    OpCode::Umin,
    OpCode::Umax,
];

/// A sum: equal parts, in order, and what else is added.
pub(super) struct Sum {
    pub(super) op: Op,
    pub(super) parts: Vec<Term>,
    pub(super) rest: Option<Term>,
}

impl Search<'_> {
    /// Sums by instructions that add many elements of what is given, and whether nothing else need be
    /// looked for.
    pub(super) fn sums_defined(
        &mut self,
        goal: &Goal,
        depth: usize,
    ) -> (Option<(Value, Cost)>, bool) {
        let folded = self.fold_defined(goal, depth);
        if folded.is_some() {
            return (folded, true);
        }
        let summed = self.summed_wider(goal, depth);
        (summed, summed.is_some() && depth == 0)
    }

    /// The cheapest fold of lanes in which one instruction on what is given adds some of the parts,
    /// when the goal is one; or on a register of the parts, where they are computed and extended.
    fn fold_defined(&mut self, goal: &Goal, depth: usize) -> Option<(Value, Cost)> {
        let sum = self.sum_to_fold(goal, depth)?;
        let found = self.fold_by_defined(goal, &sum, depth);
        if found.is_some() {
            return found;
        }
        let computed = self.computed_parts(sum)?;
        self.fold_by_defined(goal, &computed, depth)
    }

    fn fold_by_defined(&mut self, goal: &Goal, sum: &Sum, depth: usize) -> Option<(Value, Cost)> {
        let mut best = None;
        for deal in &self.deals(goal, sum) {
            let blocks = BLOCKS.into_iter().filter(|&blocks| {
                let each = deal.parts.len() / blocks;
                each > deal.lanes && each.is_multiple_of(deal.lanes)
            });
            for blocks in blocks {
                let found = self.blocks(sum, deal, blocks, depth);
                let found = found.and_then(|v| self.fold_from(goal, sum, deal, v, depth));
                best = cheaper(best, found);
            }
        }
        best
    }

    /// The same sum of what a register holds: its parts, computed, that are extended to be added.
    fn computed_parts(&mut self, sum: Sum) -> Option<Sum> {
        let narrow = |part: &Term| {
            let (op, args) = part.as_app()?;
            let extended = matches!(op.code, OpCode::Zext | OpCode::Sext);
            (extended && leaf(args[0]).is_none()).then(|| (op, args[0]))
        };
        let all: Vec<(Op, Term)> = sum.parts.iter().map(narrow).collect::<Option<_>>()?;
        let element = all[0].1.width();
        let lanes = Goal {
            element,
            elements: all.iter().map(|(_, t)| Some(*t)).collect(),
        };
        if !self.candidates.widths.is_vector(lanes.width())
            || all.iter().any(|(op, _)| *op != all[0].0)
        {
            return None;
        }
        let value = self.covered_in_one(&lanes)?;
        let register = self.named(value);
        let at = |k: usize| b::extract(register, k as u32 * element, element);
        let parts = (0..all.len()).map(|k| b::app(all[0].0, &[at(k)]));
        Some(Sum {
            parts: parts.collect(),
            ..sum
        })
    }

    /// A register that holds a goal, covered with rules as a window is.
    pub(super) fn covered_in_one(&mut self, goal: &Goal) -> Option<Value> {
        match self.cover_window(goal)?.0[..] {
            [one] => Some(one),
            _ => None,
        }
    }

    /// A register of sums, made of so many registers of sums of neighbouring parts each of which one
    /// instruction computes of what is given.
    fn blocks(&mut self, sum: &Sum, deal: &Deal, blocks: usize, depth: usize) -> Option<Value> {
        let mut whole = None;
        for parts in deal.parts.chunks(deal.parts.len() / blocks) {
            let (value, _) = self.defined(&deal.goal(sum.op, parts))?;
            whole = Some(match whole {
                Some(before) => self.added(sum.op, deal, [before, value], depth)?,
                None => value,
            });
        }
        whole
    }

    /// Two registers of sums, lane by lane.
    fn added(&mut self, op: Op, deal: &Deal, two: [Value; 2], depth: usize) -> Option<Value> {
        let registers = two.map(|value| self.named(value));
        let lane = |k: usize| {
            let [x, y] = registers.map(|r| b::extract(r, k as u32 * deal.lane, deal.lane));
            Some(b::app(op, &[x, y]))
        };
        let goal = Goal {
            element: deal.lane,
            elements: (0..deal.lanes).map(lane).collect(),
        };
        Some(self.solve(&goal, depth + 1)?.0)
    }

    /// The cheapest fold, when the goal is one.
    pub(super) fn fold(&mut self, goal: &Goal, depth: usize) -> Option<(Value, Cost)> {
        let sum = self.sum_to_fold(goal, depth)?;
        let mut best = None;
        for deal in self.deals(goal, &sum) {
            let wide = deal.goal(sum.op, &deal.parts);
            let plain = self.solve(&wide, depth + 1).map(|(value, _)| value);
            let ruled = (depth == 0).then(|| self.covered_in_one(&wide));
            for value in plain.into_iter().chain(ruled.flatten()) {
                best = cheaper(best, self.fold_from(goal, &sum, &deal, value, depth));
            }
        }
        best
    }

    /// Sums of extended parts that one instruction each computes of what is given in the wider lanes
    /// of a register or of a few, of which the low ends are taken.
    fn summed_wider(&mut self, goal: &Goal, depth: usize) -> Option<(Value, Cost)> {
        let last = goal.elements.iter().rposition(Option::is_some);
        let count = last.filter(|last| *last > 0)? + 1;
        let live = &goal.elements[..count.next_power_of_two().min(goal.elements.len())];
        let mut sums = Vec::new();
        for t in live {
            let sum = t.map(|t| sum_of(t, FEWEST).filter(|sum| sum.rest.is_none()));
            sums.push(match sum {
                Some(sum) => Some(sum?.in_lanes(goal.element)),
                None => None,
            });
        }
        let first = sums.iter().flatten().next()?;
        let lanes: Vec<u32> = first.iter().skip(1).map(|(lane, _)| *lane).collect();
        let mut best = None;
        for (lane, blocks) in lanes
            .iter()
            .flat_map(|lane| BLOCKS.map(|blocks| (*lane, blocks)))
        {
            // Of each sum so many lanes, one after the other.
            let wide = sums.iter().map(|all| match all {
                None => Some(vec![None; blocks]),
                Some(all) => {
                    let (_, parts) = all.iter().find(|(of, _)| *of == lane)?;
                    let each = parts.len() / blocks;
                    let block = |of: &[Term]| of.iter().copied().reduce(b::add);
                    let dealt = each > 1 && parts.len().is_multiple_of(blocks);
                    dealt.then(|| parts.chunks(each).map(block).collect())
                }
            });
            let wide = wide.collect::<Option<Vec<_>>>().map(|wide| wide.concat());
            let found = wide.and_then(|wide| self.ends_of(goal, &wide, (lane, blocks), depth));
            best = cheaper(best, found);
            if found.is_some() {
                break;
            }
        }
        best
    }

    /// The low ends of wide lanes that instructions on what is given compute, in as few registers as
    /// hold them; of so many lanes each the sum.
    fn ends_of(
        &mut self,
        goal: &Goal,
        wide: &[Option<Term>],
        (lane, blocks): (u32, usize),
        depth: usize,
    ) -> Option<(Value, Cost)> {
        let all = wide.len() as u32 * lane;
        let widest = self.candidates.widths.vectors().rev().find(|w| *w <= all)?;
        let each = (widest / lane) as usize;
        let mut ends = vec![None; goal.elements.len() * blocks];
        for (part, elements) in wide.chunks(each).enumerate() {
            let (value, _) = self.defined(&Goal {
                element: lane,
                elements: elements.to_vec(),
            })?;
            let register = self.named(value);
            for (k, _) in elements.iter().enumerate().filter(|(_, t)| t.is_some()) {
                let end = b::extract(register, k as u32 * lane, goal.element);
                ends[part * each + k] = Some(end);
            }
        }
        let sum = |of: &[Option<Term>]| of.iter().copied().flatten().reduce(b::add);
        let ends = Goal {
            element: goal.element,
            elements: ends.chunks(blocks).map(sum).collect(),
        };
        let (value, _) = self.solve(&ends, depth + 1)?;
        Some((value, self.estimator.sum(&self.graph, &[value])))
    }

    /// The sum that a goal is, where all that matters of it is one.
    fn sum_to_fold(&self, goal: &Goal, depth: usize) -> Option<Sum> {
        let mut live = goal.elements.iter().enumerate();
        let (place, total) = live.find_map(|(k, t)| t.map(|t| (k, t)))?;
        let folds = place == 0
            && goal.live().count() == 1
            && goal.width() == self.candidates.widths.narrowest()
            && depth <= 2;
        folds.then(|| sum_of(total, FEWEST))?
    }

    /// The ways to deal the parts of a sum to the lanes of a register, the widest register first.
    fn deals(&self, goal: &Goal, sum: &Sum) -> Vec<Deal> {
        let mut deals = Vec::new();
        for width in self.candidates.widths.vectors().rev() {
            for (lane, parts) in sum.in_lanes(goal.element) {
                let lanes = (width / lane) as usize;
                if lanes < 2 || lanes > parts.len() {
                    continue;
                }
                let ways = if lanes == parts.len() { 1 } else { 2 };
                deals.extend([false, true].into_iter().take(ways).map(|apart| Deal {
                    parts: parts.clone(),
                    lanes,
                    lane,
                    apart,
                }));
            }
        }
        deals
    }

    /// The halves of a register of dealt parts combined until one lane is left, then the rest.
    fn fold_from(
        &mut self,
        goal: &Goal,
        sum: &Sum,
        deal: &Deal,
        mut value: Value,
        depth: usize,
    ) -> Option<(Value, Cost)> {
        let spare = (deal.lane / goal.element) as usize - 1;
        let mut left = deal.lanes;
        while left > 1 {
            left /= 2;
            let register = self.named(value);
            let at = |k: usize| b::extract(register, k as u32 * deal.lane, goal.element);
            let both = |k: usize| Some(b::app(sum.op, &[at(k), at(left + k)]));
            let half = Goal {
                element: goal.element,
                elements: (0..left)
                    .flat_map(|k| std::iter::once(both(k)).chain(vec![None; spare]))
                    .collect(),
            };
            value = self.solve(&self.padded(&half), depth + 1)?.0;
        }
        if let Some(rest) = sum.rest {
            let register = self.named(value);
            let low = b::extract(register, 0, goal.element);
            let whole = Goal {
                element: goal.element,
                elements: vec![Some(b::app(sum.op, &[low, rest]))],
            };
            value = self.solve(&self.padded(&whole), depth + 1)?.0;
        }
        Some((value, self.estimator.sum(&self.graph, &[value])))
    }
}

/// How the parts of a sum are dealt to the lanes of a register.
struct Deal {
    parts: Vec<Term>,
    lanes: usize,
    /// Bits of a lane.
    lane: u32,
    /// Whether neighbours go to different lanes.
    apart: bool,
}

impl Deal {
    /// What the lanes hold, of some of the parts.
    fn goal(&self, op: Op, parts: &[Term]) -> Goal {
        let each = parts.len() / self.lanes;
        let dealt = |at: usize| {
            let parts = (0..each).map(|k| match self.apart {
                true => parts[k * self.lanes + at],
                false => parts[at * each + k],
            });
            parts.reduce(|x, y| b::app(op, &[x, y]))
        };
        Goal {
            element: self.lane,
            elements: (0..self.lanes).map(dealt).collect(),
        }
    }
}

impl Sum {
    /// The parts in lanes of a width, and in wider ones where they are extended: some instructions
    /// add many narrow elements in a wide lane.
    fn in_lanes(&self, element: u32) -> Vec<(u32, Vec<Term>)> {
        let wider = |lane: u32| {
            let one = |&part: &Term| {
                let (op, args) = part.as_app()?;
                let extended = matches!(op.code, OpCode::Zext | OpCode::Sext);
                extended.then(|| b::app(Op::with(op.code, lane), args))
            };
            Some((lane, self.parts.iter().map(one).collect::<Option<_>>()?))
        };
        let lanes = std::iter::successors(Some(element * 2), |lane| Some(lane * 2));
        let lanes = lanes.take_while(|lane| *lane <= MOST_IN_LANE && self.op.code == OpCode::BvAdd);
        std::iter::once((element, self.parts.clone()))
            .chain(lanes.filter_map(wider))
            .collect()
    }
}

/// Whether arguments may be grouped in any way.
pub(super) fn grouping(op: Op) -> bool {
    GROUPING.contains(&op.code)
}

/// What parts of a sum have in common: the function, and the inputs that it is of.
type Shape = (Term, Vec<&'static str>);

/// The equal parts of a sum, as many as can be dealt evenly and no fewer than these.
pub(super) fn sum_of(total: Term, fewest: usize) -> Option<Sum> {
    let (op, _) = total.as_app()?;
    if !grouping(op) {
        return None;
    }
    let all = flatten(op.code, total);
    let mut shapes: Vec<(Shape, Vec<Term>)> = Vec::new();
    for &part in &all {
        let mut leaves = Vec::new();
        let function = abstract_leaves(part, &mut leaves, &mut HashMap::new());
        let names = leaves.iter().filter_map(|l| leaf(*l)).map(|(n, _)| n);
        let shape = (function, names.collect());
        match shapes.iter_mut().find(|(s, _)| *s == shape) {
            Some((_, list)) => list.push(part),
            None => shapes.push((shape, vec![part])),
        }
    }
    let (_, mut parts) = shapes.into_iter().max_by_key(|(_, list)| list.len())?;
    parts.sort_by_key(|t| first_leaf(*t));
    let even = 1usize << parts.len().checked_ilog2()?;
    if even < fewest {
        return None;
    }
    parts.truncate(even);
    let rest = all.into_iter().filter(|t| !parts.contains(t));
    let rest = rest.reduce(|x, y| b::app(op, &[x, y]));
    Some(Sum { op, parts, rest })
}

/// Where the first element that a term reads lies.
pub(super) fn first_leaf(t: Term) -> Option<(&'static str, u32)> {
    let mut found = None;
    let mut seen = HashSet::new();
    let mut stack = vec![t];
    while let Some(t) = stack.pop() {
        if !seen.insert(t) {
            continue;
        }
        match leaf(t) {
            Some(place) => found = found.map_or(Some(place), |f| Some(place.min(f))),
            None => stack.extend(t.children()),
        }
    }
    found
}
