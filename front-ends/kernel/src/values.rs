//! The ranges of values, and which are constants.
//!
//! In: expressions of whole numbers. Out: the least and the greatest value, from what they are made of.
//! Ranges are of each value by itself: what values have to do with each other is not seen. Those of
//! indices are in [`crate::range`].

use crate::tree::{Expr, ExprKind, Local, Op};
use crate::types::Elem;
use std::cell::Cell;

impl Expr {
    /// The constant that all lanes are.
    pub fn same_constant(&self) -> Option<i128> {
        match &self.kind {
            ExprKind::Const(values) => values.iter().all(|c| *c == values[0]).then(|| values[0]),
            ExprKind::Shuffle(parts, _) => match &parts[..] {
                [part] => part.same_constant(),
                _ => None,
            },
            ExprKind::Apply(Op::Cast, args)
                if self.ty.elem.is_int() && args[0].ty.elem.is_int() =>
            {
                args[0].same_constant().map(|n| self.ty.elem.wrap(n))
            }
            _ => None,
        }
    }
}

/// The least and the greatest value.
pub type Range = (i128, i128);

/// The range of a type.
fn whole(elem: Elem) -> Range {
    (elem.min(), elem.max())
}

/// Whether a type holds all values of a range.
pub fn within((least, most): Range, elem: Elem) -> bool {
    elem.min() <= least && most <= elem.max()
}

/// How many values are looked at for one question. Values that are used twice, by values that are
/// used twice, are without end.
const MAX_STEPS: u32 = 4096;

/// The values of a kernel, of which a bounded number is looked at.
pub struct Values<'a> {
    /// What names stand for.
    pub locals: &'a [Local],
    left: Cell<u32>,
}

impl<'a> Values<'a> {
    /// Those of expressions with these names; what other names stand for is not known.
    pub fn of(locals: &'a [Local]) -> Values<'a> {
        Values {
            locals,
            left: Cell::new(MAX_STEPS),
        }
    }

    /// Whether one more may be looked at.
    pub fn step(&self) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(1));
        left > 0
    }

    /// The range of the values of an expression of whole numbers.
    pub fn range(&self, e: &Expr) -> Option<Range> {
        let elem = e.ty.elem;
        if !elem.is_int() {
            return None;
        }
        if !self.step() {
            return Some(whole(elem));
        }
        let known = match &e.kind {
            ExprKind::Const(numbers) => numbers
                .iter()
                .min()
                .zip(numbers.iter().max())
                .map(|(a, b)| (*a, *b)),
            ExprKind::Local(id) => self
                .locals
                .get(*id)
                .and_then(|name| self.range(&name.value)),
            ExprKind::Shuffle(parts, _) => parts
                .iter()
                .map(|part| self.range(part))
                .reduce(|a, b| Some(joined(a?, b?)))
                .flatten(),
            ExprKind::Apply(op, args) => self.of_operation(*op, args, elem),
            _ => None,
        };
        Some(known.filter(|r| within(*r, elem)).unwrap_or(whole(elem)))
    }

    /// The narrowest integers that hold all values of an expression of integers, where these are narrower
    /// than its own: of two as narrow those with a sign.
    pub fn narrower_elements(&self, e: &Expr) -> Option<Elem> {
        let range = self.range(e)?;
        let of = |bits| [true, false].map(|signed| Elem::Int { bits, signed });
        let mut narrow = (3..e.ty.elem.bits().ilog2()).flat_map(|log| of(1 << log));
        narrow.find(|elem| within(range, *elem))
    }

    /// The range of what an operation gives before it wraps.
    pub fn of_operation(&self, op: Op, args: &[Expr], to: Elem) -> Option<Range> {
        let of = |k: usize| self.range(&args[k]);
        let count = || args[1].same_constant().filter(|n| (0..64).contains(n));
        let ends = |f: &dyn Fn(i128, i128) -> Option<i128>| -> Option<Range> {
            let (a, b) = (of(0)?, of(1)?);
            let all = [f(a.0, b.0)?, f(a.0, b.1)?, f(a.1, b.0)?, f(a.1, b.1)?];
            Some((*all.iter().min()?, *all.iter().max()?))
        };
        match op {
            Op::Cast => of(0),
            Op::SatCast => {
                of(0).map(|(a, b)| (a.clamp(to.min(), to.max()), b.clamp(to.min(), to.max())))
            }
            Op::Add => ends(&i128::checked_add),
            Op::Sub => ends(&i128::checked_sub),
            Op::Mul => ends(&i128::checked_mul),
            Op::Min => ends(&|a, b| Some(a.min(b))),
            Op::Max => ends(&|a, b| Some(a.max(b))),
            Op::Absd => ends(&|a, b| Some((a - b).abs())).map(|(_, most)| (0, most)),
            Op::Avg => ends(&|a, b| Some((a + b + 1) >> 1)),
            Op::AvgFloor => ends(&|a, b| Some((a + b) >> 1)),
            Op::Select => Some(joined(of(1)?, of(2)?)),
            Op::And => match (of(0)?, of(1)?) {
                ((0.., a), (0.., b)) => Some((0, a.min(b))),
                ((0.., most), _) | (_, (0.., most)) => Some((0, most)),
                _ => None,
            },
            Op::Shl => count().and_then(|n| {
                let (a, b) = of(0)?;
                Some((a.checked_mul(1 << n)?, b.checked_mul(1 << n)?))
            }),
            Op::Shr => count().and_then(|n| of(0).map(|(a, b)| (a >> n, b >> n))),
            Op::RoundShr => count().and_then(|n| {
                let half = (1 << n) >> 1;
                of(0).map(|(a, b)| ((a + half) >> n, (b + half) >> n))
            }),
            Op::Popcount | Op::Clz => Some((0, i128::from(args[0].ty.elem.bits()))),
            _ => None,
        }
    }
}

fn joined(a: Range, b: Range) -> Range {
    (a.0.min(b.0), a.1.max(b.1))
}

#[cfg(test)]
mod tests;
