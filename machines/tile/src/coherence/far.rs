//! The host and a unit with no fence between them.
//!
//! In: a nest and its fences. Out: two parts, one of the host, that may touch one word without a
//! fence on every way from the first to the second: the host's store is not seen by the unit yet,
//! or the unit's by the host. Ways are told apart by the outermost loop that has gone on.

use super::{Clash, Kind, Later, Text, Touch};
use kernel::index::Symbol;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// The first clash: within one iteration before across iterations, inner loops before outer ones.
pub(super) fn clash(text: &Text, fences: &BTreeSet<usize>) -> Option<Clash> {
    let depth = text.parts.iter().map(|p| p.around.len()).max();
    let levels = std::iter::once(None).chain((0..depth.unwrap_or(0)).rev().map(Some));
    for carried in levels {
        for second in 0..text.parts.len() {
            for first in 0..text.parts.len() {
                if clashes(text, fences, (first, second), carried) {
                    return Some((first, second));
                }
            }
        }
    }
    None
}

/// Pairs of accesses that host and unit must make in order.
fn pairs(text: &Text, (first, second): Clash) -> Vec<(&Touch, &Touch)> {
    match (&text.parts[first].kind, &text.parts[second].kind) {
        (Kind::Host(touched), Kind::Tile(_, _, Some(moved))) => {
            let stores = touched
                .iter()
                .filter(|t| t.writes && t.array == moved.array);
            stores.map(|t| (t, moved)).collect()
        }
        (Kind::Tile(_, _, Some(moved)), Kind::Host(touched)) if moved.writes => {
            let same = touched.iter().filter(|t| t.array == moved.array);
            same.map(|t| (moved, t)).collect()
        }
        _ => Vec::new(),
    }
}

/// Whether two parts clash, the loop at a depth around both having gone on, or none.
fn clashes(
    text: &Text,
    fences: &BTreeSet<usize>,
    (first, second): Clash,
    carried: Option<usize>,
) -> bool {
    let pairs = pairs(text, (first, second));
    let shared = text.shared(first, second);
    let possible = match carried {
        None => first < second,
        Some(depth) => depth < shared && text.range(text.parts[first].around[depth]).count > 1,
    };
    if pairs.is_empty() || !possible || fenced(text, fences, (first, second), carried) {
        return false;
    }
    let around = &text.parts[second].around[..shared];
    let depth = |symbol: Symbol| around.iter().position(|&l| text.var(l) == symbol);
    let later = |symbol: Symbol| match (depth(symbol), carried) {
        (Some(_), None) => Later::By(0),
        (Some(at), Some(carried)) if at < carried => Later::By(0),
        (Some(at), Some(carried)) if at == carried => Later::Further,
        _ => Later::Any,
    };
    pairs
        .into_iter()
        .any(|pair| text.meet(pair, &|_| None, &later))
}

/// Whether a fence is on every way from the first to the second.
fn fenced(
    text: &Text,
    fences: &BTreeSet<usize>,
    (first, second): Clash,
    carried: Option<usize>,
) -> bool {
    let around = |part: usize, l: usize| text.parts[part].around.contains(&l);
    // A fence is passed when every loop around it that is around neither end goes round.
    let passed = |mut between: RangeInclusive<usize>, own: &dyn Fn(usize) -> bool| {
        between.any(|at| {
            let part = &text.parts[at];
            let sure = |l: &usize| own(*l) || text.range(*l).least > 0;
            fences.contains(&part.id) && part.around.iter().all(sure)
        })
    };
    let Some(depth) = carried else {
        let own = |l: usize| around(first, l) || around(second, l);
        return passed(first + 1..=second, &own);
    };
    let body = text.parts[first].around[depth];
    let inside = (body + 1..text.parts.len()).take_while(|&at| around(at, body));
    let last = inside.last().unwrap_or(body);
    passed(first + 1..=last, &|l| around(first, l))
        || passed(body + 1..=second, &|l| around(second, l))
}
