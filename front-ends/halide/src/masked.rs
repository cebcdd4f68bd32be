//! Statements and loads under masks that are numbers: whole vectors where all lanes are active.
//!
//! In: a mask over sizes and loop variables, and how a statement is made with a mask and without. Out:
//! the statement without it where all lanes are active, which is asked when the code runs; the one
//! with it where some are; nothing where none is. Tails of `GuardWithIf` inside of other loops,
//! `RDom.where` and triangles are such. What is loaded or stored of leading lanes alone is loaded or
//! stored at once, in a loop of one partial iteration. Masks that are data are left to those who make
//! the statement.

use super::chosen::{Mask, inside};
use super::import::{Importer, Made};
use super::normal::{Sum, normal};
use super::value::{LANE, Number, least, not, product, zero_or_one};
use kernel::index::Index;
use kernel::tree::{For, Stmt};

/// With fewer lanes, to ask takes as long as to move them one by one.
const MIN_LANES: u32 = 4;

/// What is asked of the lanes of a mask.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    /// At least 1 only where every lane is active.
    All,
    /// Less than 1 only where no lane is.
    Any,
}

/// A mask in one number for all lanes; `None` where lanes are not evenly apart.
fn lanes(mask: &Index, last: i64, of: Of) -> Option<Index> {
    if !mask.mentions(LANE) {
        return Some(mask.clone());
    }
    let greatest = super::value::greatest;
    match mask {
        Index::Min(a, b) => Some(least(&lanes(a, last, of)?, &lanes(b, last, of)?)),
        Index::Max(a, b) => Some(greatest(&lanes(a, last, of)?, &lanes(b, last, of)?)),
        _ => {
            let (_, step) = Sum::of(mask)?.split(LANE)?;
            let at = |lane: i64| normal(&mask.substitute(LANE, &Index::Const(lane)));
            let (first, last) = (at(0), at(last));
            Some(match (step.constant_value(), of) {
                (Some(0..), Of::All) | (Some(..0), Of::Any) => first,
                (Some(_), _) => last,
                (None, Of::All) => least(&first, &last),
                (None, Of::Any) => greatest(&first, &last),
            })
        }
    }
}

/// What is at least 1 only where a mask is active in all lanes; `None` where lanes are not evenly apart.
pub(super) fn in_all_lanes(mask: &Index, last: i64) -> Option<Index> {
    lanes(mask, last, Of::All)
}

/// Whether a mask is active where another is.
fn follows(mask: &Index, from: &Index) -> bool {
    let part = |parts: &Index| match parts {
        Index::Min(a, b) => follows(mask, a) || follows(mask, b),
        _ => false,
    };
    let both = match mask {
        Index::Min(a, b) => follows(a, from) && follows(b, from),
        _ => false,
    };
    mask == from || part(from) || both
}

/// A mask without limits that change none of its lanes: Halide compares with lane numbers in the
/// fewest bits that hold these, to which it saturates what they are compared with.
pub(super) fn unclamped(mask: Number) -> Number {
    Number::new(&without_limits(&mask.index, mask.ty.lanes), mask.ty)
}

fn without_limits(mask: &Index, lanes: u32) -> Index {
    let part = |part: &Index| without_limits(part, lanes);
    match mask {
        _ if !mask.mentions(LANE) => mask.clone(),
        Index::Min(a, b) => least(&part(a), &part(b)),
        Index::Max(a, b) => super::value::greatest(&part(a), &part(b)),
        _ => match without_limit(mask, lanes) {
            Some(index) => part(&index),
            None => mask.clone(),
        },
    }
}

/// A lane is active where `factor * limited + at >= 1`, with an `at` for each lane.
fn without_limit(mask: &Index, lanes: u32) -> Option<Index> {
    let (base, step) = Sum::of(mask)?.split(LANE)?;
    let (limited, factor, constant) = Sum::of(&base)?.single()?;
    let step = step.constant_value()?;
    let last = step.checked_mul(i64::from(lanes) - 1)?;
    let (low, high) = (
        constant.checked_add(last.min(0))?,
        constant.checked_add(last.max(0))?,
    );
    let (inner, limit, from_above) = match &limited {
        Index::Min(inner, limit) => (inner, limit.constant_value()?, true),
        Index::Max(inner, limit) => (inner, limit.constant_value()?, false),
        _ => return None,
    };
    let active = |at: i64| i128::from(factor) * i128::from(limit) + i128::from(at) >= 1;
    // At the limit the lanes have to be as they are beyond it.
    let idle = match (factor, from_above) {
        (1, true) | (-1, false) => active(low),
        (1, false) | (-1, true) => !active(high),
        _ => false,
    };
    let rest = Index::Sym(LANE).times(step).offset(constant);
    idle.then(|| normal(&inner.times(factor).plus(&rest)))
}

/// The lanes for which a mask holds, when they are the first ones: their number.
pub(super) fn prefix(mask: &Number) -> Option<Index> {
    let (base, factor) = mask.ramp()?;
    match factor.constant_value()? {
        0 => Some(normal(&product(
            &zero_or_one(&base),
            &Index::Const(i64::from(mask.ty.lanes)),
        ))),
        -1 => Some(normal(&least(
            &base,
            &Index::Const(i64::from(mask.ty.lanes)),
        ))),
        _ => None,
    }
}

impl Importer<'_> {
    /// A statement under a mask.
    pub(super) fn under(
        &mut self,
        mask: Option<&Mask>,
        mut make: impl FnMut(&mut Self, Option<&Mask>) -> Made<Vec<Stmt>>,
    ) -> Made<Vec<Stmt>> {
        let number = match mask {
            Some(Mask::Number(n)) if self.is_split(n) => n.clone(),
            _ => return make(self, mask),
        };
        let last = i64::from(number.ty.lanes) - 1;
        let of = |of| lanes(&number.index, last, of).map(|index| normal(&index));
        let (Some(all), Some(any)) = (of(Of::All), of(Of::Any)) else {
            return make(self, mask);
        };
        self.active.push(number.clone());
        let whole = self.guarded(&all, |importer| {
            importer.closed(|importer| make(importer, None))
        });
        self.active.pop();
        let mut out = whole?;
        if all != any {
            let some = normal(&least(&not(&zero_or_one(&all)), &any));
            self.parted.push(number);
            let part = self.guarded(&some, |importer| {
                importer.closed(|importer| make(importer, mask))
            });
            self.parted.pop();
            out.extend(part?);
        }
        Ok(out)
    }

    /// A statement that does to all lanes what is done to so many of the leading ones.
    pub(super) fn leading(&mut self, lanes: u32, count: Index, all: Stmt) -> Stmt {
        Stmt::For(For {
            step: i64::from(lanes),
            partial: true,
            ..For::new(
                self.variable("first"),
                (Index::Const(0), count),
                vec![all],
                self.span,
            )
        })
    }

    /// Statements with what has to be done before them.
    fn closed(&mut self, make: impl FnOnce(&mut Self) -> Made<Vec<Stmt>>) -> Made<Vec<Stmt>> {
        let open = self.chosen.len();
        let made = make(self);
        let before = std::mem::take(&mut self.before);
        self.chosen.truncate(open);
        Ok(inside(before, made?))
    }

    /// Whether it is asked when the code runs which lanes of a mask are active.
    fn is_split(&self, mask: &Number) -> bool {
        let lanes = mask.ty.lanes;
        lanes >= MIN_LANES && mask.index.constant_value().is_none() && !self.parted.contains(mask)
    }

    /// Whether all lanes of a mask are active in the statement that is being made.
    pub(super) fn is_active(&self, mask: &Mask) -> bool {
        let Mask::Number(mask) = mask else {
            return false;
        };
        mask.index.constant_value().is_some_and(|c| c >= 1)
            || (self.active.iter())
                .any(|known| known.ty.lanes == mask.ty.lanes && follows(&mask.index, &known.index))
    }
}
