//! Loads of neighbours that are clamped at the edges of a buffer.
//!
//! In: the places of lanes, `max(min(first + lane, hi), lo)` and what is added to that. Out: where
//! no lane is clamped, which is asked when the code runs, one dense load; else one lane at a time.
//! What Halide's boundary conditions leave of a stencil that has no interior of its own is such.

use super::import::Importer;
use super::normal::normal;
use super::value::{LANE, Number, expr, least};
use kernel::index::Index;
use kernel::tree::{Expr, ExprKind, Id, Stmt};
use kernel::types::Type;

/// With fewer lanes, to ask takes as long as to load one by one.
const MIN_LANES: u32 = 8;

/// Places without their clamps, and what is at least 1 where none has an effect.
struct Free {
    place: Index,
    holds: Option<Index>,
}

/// The places of lanes without clamps; `None` where something else is done with a lane.
fn free(index: &Index, last: i64) -> Option<Free> {
    let both = |a: &Index, b: &Index| {
        let (a, b) = (free(a, last)?, free(b, last)?);
        let holds = match (a.holds, b.holds) {
            (Some(a), Some(b)) => Some(least(&a, &b)),
            (a, b) => a.or(b),
        };
        Some((a.place, b.place, holds))
    };
    if !index.mentions(LANE) {
        let place = index.clone();
        return Some(Free { place, holds: None });
    }
    match index {
        Index::Add(a, b) => {
            let (a, b, holds) = both(a, b)?;
            let place = a.plus(&b);
            Some(Free { place, holds })
        }
        Index::Mul(a, b) => {
            let (a, b, holds) = both(a, b)?;
            let place = Index::Mul(Box::new(a), Box::new(b));
            Some(Free { place, holds })
        }
        Index::Min(a, b) | Index::Max(a, b) => {
            let (moving, end) = match (a.mentions(LANE), b.mentions(LANE)) {
                (true, false) => (a, b),
                (false, true) => (b, a),
                _ => return None,
            };
            let inner = free(moving, last)?;
            let at = |lane: i64| inner.place.substitute(LANE, &Index::Const(lane));
            let inside = |place: Index| match index {
                Index::Min(..) => end.minus(&place).offset(1),
                _ => place.minus(end).offset(1),
            };
            // Lanes are evenly apart, so that the others lie between these.
            let ends = least(&inside(at(0)), &inside(at(last)));
            let holds = match inner.holds {
                Some(holds) => least(&holds, &ends),
                None => ends,
            };
            let place = inner.place;
            Some(Free {
                place,
                holds: Some(holds),
            })
        }
        Index::Sym(_) => Some(Free {
            place: index.clone(),
            holds: None,
        }),
        _ => None,
    }
}

impl Importer<'_> {
    /// Lanes that are neighbours where they are not clamped; `None` where they are others.
    pub(super) fn clamped(&mut self, array: Id, number: &Number) -> Option<Expr> {
        let (lanes, span) = (number.ty.lanes, self.span);
        if lanes < MIN_LANES {
            return None;
        }
        let found = free(&number.index, i64::from(lanes) - 1)?;
        let holds = normal(&least(&found.holds?, &Index::Const(1)));
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
