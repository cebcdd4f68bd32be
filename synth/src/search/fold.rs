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
    /// The cheapest fold, when the goal is one.
    pub(super) fn fold(&mut self, goal: &Goal, depth: usize) -> Option<(Value, Cost)> {
        let mut live = goal.elements.iter().enumerate();
        let (place, total) = live.find_map(|(k, t)| t.map(|t| (k, t)))?;
        if place != 0
            || goal.live().count() != 1
            || goal.width() != self.candidates.widths.narrowest()
            || depth > 2
        {
            return None;
        }
        let sum = sum_of(total, FEWEST)?;
        let mut best = None;
        let candidates = self.candidates;
        for width in candidates.widths.vectors().rev() {
            let lanes = (width / goal.element) as usize;
            if lanes < 2 || lanes > sum.parts.len() {
                continue;
            }
            for apart in [false, true] {
                if apart && lanes == sum.parts.len() {
                    continue;
                }
                let found = self.fold_from(goal, &sum, lanes, apart, depth);
                best = cheaper(best, found);
            }
        }
        best
    }

    fn fold_from(
        &mut self,
        goal: &Goal,
        sum: &Sum,
        lanes: usize,
        apart: bool,
        depth: usize,
    ) -> Option<(Value, Cost)> {
        let each = sum.parts.len() / lanes;
        let dealt = |lane: usize| {
            let parts = (0..each).map(|k| match apart {
                true => sum.parts[k * lanes + lane],
                false => sum.parts[lane * each + k],
            });
            parts.reduce(|x, y| b::app(sum.op, &[x, y]))
        };
        let wide = Goal {
            element: goal.element,
            elements: (0..lanes).map(dealt).collect(),
        };
        let (mut value, _) = self.solve(&wide, depth + 1)?;
        let mut left = lanes;
        while left > 1 {
            left /= 2;
            let register = self.named(value);
            let at = |k: usize| b::extract(register, k as u32 * goal.element, goal.element);
            let half = Goal {
                element: goal.element,
                elements: (0..left)
                    .map(|k| Some(b::app(sum.op, &[at(k), at(left + k)])))
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
