//! Pairs: sums of many parts with the sums of two in half the width.
//!
//! In: goals whose elements are sums of parts that are one function of different elements, no
//! element a part of two sums, and small enough that two parts fit in half the width. Out: the same
//! goal with each two parts added there and extended: what instructions that add neighbours take.
//!
//! It proposes; what is chosen is claimed and proved like all else.

use super::fold::{first_leaf, sum_of};
use crate::goal::Goal;
use crate::matching::{extended, narrowed};
use semantics::build as b;
use semantics::op::OpCode;
use semantics::term::Term;
use std::collections::HashSet;

/// The goal with pairs of parts added in half the width first.
pub(super) fn by_pairs(goal: &Goal) -> Option<Goal> {
    if !goal.element.is_multiple_of(16) {
        return None;
    }
    let mut used = HashSet::new();
    let paired = goal.with_all(&mut |t| in_pairs(t, &mut used))?;
    (paired != *goal).then_some(paired)
}

/// A sum with its parts in pairs; none of them is among those of other sums.
fn in_pairs(total: Term, used: &mut HashSet<(&'static str, u32)>) -> Option<Term> {
    let sum = sum_of(total, 2).filter(|sum| sum.op.code == OpCode::BvAdd)?;
    // A pair of pairs fits again, and is no pair of neighbours.
    if sum.parts.len() == 2 && sum.parts.iter().any(is_extended_sum) {
        return None;
    }
    let mut places = sum.parts.iter().map(|t| first_leaf(*t));
    if !places.all(|place| place.is_some_and(|place| used.insert(place))) {
        return None;
    }
    let half = total.width() / 2;
    let in_half = |pair: &[Term]| {
        let both = b::add(pair[0], pair[1]);
        [OpCode::Sext, OpCode::Zext].into_iter().find_map(|code| {
            let low = narrowed(code, both, half)?;
            Some(extended(code, low, total.width()))
        })
    };
    let pairs: Option<Vec<Term>> = sum.parts.chunks(2).map(in_half).collect();
    pairs?.into_iter().chain(sum.rest).reduce(b::add)
}

fn is_extended_sum(t: &Term) -> bool {
    t.as_app().is_some_and(|(op, args)| {
        matches!(op.code, OpCode::Sext | OpCode::Zext) && args[0].args_of(OpCode::BvAdd).is_some()
    })
}
