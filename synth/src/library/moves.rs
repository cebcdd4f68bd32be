//! Movements as functions of lanes wider than the elements that they move.
//!
//! In: operations that only move elements. Out: [`Known`]s of wider lanes, at the numbers for which all of these are
//! made alike of the same lanes of the operands: what takes some elements of one register and the others of
//! another by an immediate, what deals out even or odd elements of two, what exchanges halves. In a lane
//! that is the low part of one value beside the high part of another, or one with its halves exchanged.

use super::{Known, WIDTHS, holds};
use crate::candidates::{Action, Candidate, Candidates};
use crate::fragment;
use crate::lane_function::{bitwise, immediates_of, moved};
use crate::lanes::{self, LaneOp};
use semantics::subst::free_vars;
use std::sync::Arc;

/// Up to how many numbers of an immediate all are tried.
const NUMBERS: u64 = 256;

/// What movements do to so many lanes that are wider than what they move.
pub(super) fn moves(candidates: &Candidates, lanes: u32) -> Vec<Known> {
    let mut all = Vec::new();
    for (index, c) in candidates.list.iter().enumerate() {
        if c.action() != Action::Movement || bitwise(c.signature()) {
            continue;
        }
        for lane in WIDTHS {
            let wider = lane > c.natural && holds(&candidates.widths, c.width, lanes, lane);
            let ops = wider.then(|| of_candidate(candidates, (index, c), lane, lanes));
            all.extend(ops.into_iter().flatten().map(|op| Known {
                taken: candidates.taken((op.term, op.inputs.clone())),
                op: Arc::new(op),
                lane,
            }));
        }
    }
    all
}

/// The functions of wider lanes that one operation is, at numbers that may be its immediate.
fn of_candidate(
    candidates: &Candidates,
    (index, c): (usize, &Candidate),
    lane: u32,
    lanes: u32,
) -> Vec<LaneOp> {
    let immediates = immediates_of(c);
    let numbers: Vec<Vec<u64>> = match &immediates[..] {
        [] => vec![Vec::new()],
        [(_, _, of)] if of.count() <= NUMBERS => (0..of.count())
            .filter_map(|rank| Some(vec![u64::from(of.nth(rank)?)]))
            .collect(),
        _ => return Vec::new(),
    };
    let constants = |name: &str| immediates.iter().any(|(known, ..)| known == name);
    let operands: Vec<_> = (c.instance.formals.iter())
        .filter(|o| !constants(&o.name))
        .collect();
    let fit = |width: u32| holds(&candidates.widths, width, lanes, lane);
    let few = (1..=fragment::MAX_LEAVES).contains(&operands.len());
    if !few || !operands.iter().all(|o| fit(o.width)) {
        return Vec::new();
    }
    let inputs: Vec<(String, u32)> = operands.iter().map(|o| (o.name.clone(), lane)).collect();
    let of = |values: Vec<u64>| {
        let f = moved(c, lane, (&inputs, &immediates), &values)?;
        let op = lanes::fix_immediates(index, &c.instruction, &f, &values, c.cost)?;
        // What gives an operand back, or leaves one out, is less than an operation.
        let all = free_vars(op.term).len() == inputs.len();
        (all && op.term.as_var().is_none()).then_some(op)
    };
    numbers.into_iter().filter_map(of).collect()
}
