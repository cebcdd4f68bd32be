//! Loads of neighbours, but at the edges of a buffer.
//!
//! In: the places of lanes, as boundary conditions leave them: `max(min(first + lane, hi), lo)`, what wraps
//! around or is mirrored where a lane lies outside, and what is added to that. Out: where all lanes lie
//! inside, which is asked when the code runs, one dense load; else one lane at a time. Stencils that have no
//! interior of their own are such.

use super::import::Importer;
use super::masked::in_all_lanes;
use super::normal::{Sum, normal};
use super::value::{LANE, Number, expr, least, product};
use kernel::index::Index;
use kernel::tree::{Expr, ExprKind, Id, Stmt};
use kernel::types::Type;
use std::collections::BTreeMap;

/// With fewer lanes, to ask takes as long as to load one by one.
const MIN_LANES: u32 = 8;

/// Places where no lane is outside.
struct Free {
    place: Index,
    /// That is so where each of these is at least 1.
    holds: Vec<Index>,
}

impl Free {
    /// A place that is what it is wherever it lies.
    fn always(place: &Index) -> Free {
        let (place, holds) = (place.clone(), Vec::new());
        Free { place, holds }
    }

    /// One that is so only where something more holds.
    fn if_also(mut self, more: impl IntoIterator<Item = Index>) -> Free {
        self.holds.extend(more);
        self
    }

    /// Made of two.
    fn both(place: Index, a: Free, b: Free) -> Free {
        let holds = a.holds;
        Free { place, holds }.if_also(b.holds)
    }

    /// A number that is 0 where its condition holds, whatever it is multiplied by.
    fn is_nothing(&self) -> bool {
        normal(&self.place).constant_value() == Some(0)
    }
}

/// The least of some numbers: of those that differ by a constant one is enough.
fn least_of(numbers: Vec<Index>) -> Option<Index> {
    let mut by_rest: BTreeMap<Index, i64> = BTreeMap::new();
    let mut work = numbers;
    while let Some(number) = work.pop() {
        if let Index::Min(a, b) = number {
            work.extend([*a, *b]);
            continue;
        }
        let sum = Sum::of(&number)?;
        let (constant, rest) = sum.split_constant();
        let least = by_rest.entry(rest.to_index()).or_insert(constant);
        *least = constant.min(*least);
    }
    let numbers = by_rest
        .into_iter()
        .map(|(rest, constant)| rest.offset(constant));
    numbers.reduce(|a, b| least(&a, &b))
}

/// What `min(max(t, 0), 1)` is the truth value of, as a number.
fn truth(index: &Index) -> Option<&Index> {
    let beside = |a: &'_ Index, b: &'_ Index, n: i64| {
        (a.constant_value() == Some(n), b.constant_value() == Some(n))
    };
    let Index::Min(a, b) = index else { return None };
    let inner = match beside(a, b, 1) {
        (true, _) => b,
        (_, true) => a,
        _ => return None,
    };
    let Index::Max(a, b) = &**inner else {
        return None;
    };
    match beside(a, b, 0) {
        (true, _) => Some(b),
        (_, true) => Some(a),
        _ => None,
    }
}

/// The places of lanes as they are where none is outside.
fn free(index: &Index, last: i64) -> Free {
    if !index.mentions(LANE) {
        return Free::always(index);
    }
    // Which place is chosen where a lane is inside.
    if let Some(inside) = truth(index)
        && let Some(all) = in_all_lanes(inside, last)
    {
        return Free::always(&Index::Const(1)).if_also([all]);
    }
    let inside = |moving: &Index, conditions: &dyn Fn(&Index) -> Vec<Index>| {
        let inner = free(moving, last);
        // Lanes are evenly apart, so that the others lie between these.
        Sum::of(&inner.place)?.split(LANE)?;
        let at = |lane: i64| inner.place.substitute(LANE, &Index::Const(lane));
        let ends = [0, last]
            .map(at)
            .into_iter()
            .flat_map(|place| conditions(&place));
        let ends: Vec<Index> = ends.collect();
        Some(inner.if_also(ends))
    };
    let found = match index {
        Index::Add(a, b) => {
            let (a, b) = (free(a, last), free(b, last));
            Some(Free::both(a.place.plus(&b.place), a, b))
        }
        Index::Mul(a, b) => match (free(a, last), free(b, last)) {
            (zero, _) | (_, zero) if zero.is_nothing() => Some(zero),
            (a, b) => Some(Free::both(product(&a.place, &b.place), a, b)),
        },
        Index::Min(a, b) | Index::Max(a, b) => match (a.mentions(LANE), b.mentions(LANE)) {
            (true, true) => None,
            (of_a, _) => {
                let (moving, end) = if of_a { (a, b) } else { (b, a) };
                inside(moving, &|place| match index {
                    Index::Min(..) => vec![end.minus(place).offset(1)],
                    _ => vec![place.minus(end).offset(1)],
                })
            }
        },
        Index::Mod(moving, end) if !end.mentions(LANE) => {
            inside(moving, &|place| vec![place.offset(1), end.minus(place)])
        }
        _ => None,
    };
    // What else is done with a lane may have no part in the sum.
    found.unwrap_or_else(|| Free::always(index))
}

impl Importer<'_> {
    /// Lanes that are neighbours where none is outside; `None` where they are others.
    pub(super) fn clamped(&mut self, array: Id, number: &Number) -> Option<Expr> {
        let (lanes, span) = (number.ty.lanes, self.span);
        if lanes < MIN_LANES {
            return None;
        }
        let found = free(&number.index, i64::from(lanes) - 1);
        let holds = least(&least_of(found.holds)?, &Index::Const(1));
        let plain = Number::new(&found.place, number.ty);
        let (base, factor) = plain.ramp()?;
        if factor.constant_value() != Some(1) {
            return None;
        }
        let elem = self.kernel.arrays[array].elem;
        let ty = Type { elem, lanes };
        let buffer = self.local_array("clamped", elem, Index::Const(i64::from(lanes)));
        let whole = self.access(buffer, Index::Const(0), lanes, 1);
        let dense = expr(ExprKind::Load(self.access(array, base, lanes, 1)), ty, span);
        let inside = vec![self.assign(whole.clone(), dense)];
        let number = number.clone();
        let each = self.each_lane(lanes, None, |importer, lane| {
            let index = super::import::at_lane(&number, lane);
            let from = ExprKind::Load(importer.access(array, index, 1, 1));
            let value = expr(from, Type::scalar(elem), span);
            vec![importer.assign(importer.access(buffer, Index::Sym(lane), 1, 1), value)]
        });
        let outside = normal(&Index::Const(1).minus(&holds));
        let outside = least(&outside, &Index::Const(1));
        for (hi, body) in [(holds, inside), (outside, vec![each])] {
            let once = self.variable("once");
            let stmt: Stmt = self.loop_of(once, Index::Const(0), hi, body);
            self.before.push(stmt);
        }
        Some(expr(ExprKind::Load(whole), ty, span))
    }
}
