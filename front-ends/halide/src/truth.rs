//! Truth values over sizes, loop variables and lanes as data.
//!
//! In: an index over [`LANE`] that is at least 1 where the truth value holds, and in how many bits the
//! data that it meets are. Out: comparisons of lanes with numbers that are the same in every lane,
//! joined by `and` and `or`; or nothing, where lanes are not evenly apart. A lane's distance from the
//! first one is a small constant, and what it is compared with is brought between the least and the
//! greatest of them, so that lanes of few bits hold both, however large the index is.

use super::normal::{Sum, normal};
use super::value::{LANE, apply, expr, greatest, least};
use kernel::index::Index;
use kernel::tree::{Expr, ExprKind, Op};
use kernel::types::{Elem, Type};
use semantics::span::Span;

/// With more comparisons, all of them are made of one number.
const MAX_COMPARISONS: u32 = 12;

/// How a truth value is written out.
pub(super) struct Truth {
    pub(super) lanes: u32,
    /// Of the elements that it chooses between.
    pub(super) bits: u32,
    pub(super) span: Span,
}

impl Truth {
    /// The lanes in which an index is at least 1.
    pub(super) fn of(&self, index: &Index) -> Option<Expr> {
        let mut left = MAX_COMPARISONS;
        self.part(index, &mut left)
    }

    fn part(&self, index: &Index, left: &mut u32) -> Option<Expr> {
        if !index.mentions(LANE) {
            return self.comparison(index, 0, left);
        }
        let (op, a, b) = match index {
            Index::Min(a, b) => (Op::And, (**a).clone(), (**b).clone()),
            Index::Max(a, b) => (Op::Or, (**a).clone(), (**b).clone()),
            _ => {
                let sum = Sum::of(index)?;
                if let Some((base, step)) = sum.split(LANE) {
                    return self.comparison(&base, step.constant_value()?, left);
                }
                sum.spread(LANE)?
            }
        };
        let (a, b) = (self.part(&a, left)?, self.part(&b, left)?);
        Some(apply(op, Elem::Bool, vec![a, b], self.span))
    }

    /// `base + step * lane >= 1`.
    fn comparison(&self, base: &Index, step: i64, left: &mut u32) -> Option<Expr> {
        *left = left.checked_sub(1)?;
        let far = step.checked_mul(i64::from(self.lanes) - 1)?;
        let (low, high) = (far.min(0), far.max(0).checked_add(1)?);
        let holds = |bits: u32| {
            [low, high]
                .map(i128::from)
                .map(|n| Elem::signed(bits).wrap(n))
                == [low, high].map(i128::from)
        };
        let mut widths = [8, 16, 32, 64].into_iter();
        let elem = Elem::signed(widths.find(|bits| *bits >= self.bits && holds(*bits))?);
        let least_step = Index::Const(1).minus(base);
        let bound = least(
            &greatest(&least_step, &Index::Const(low)),
            &Index::Const(high),
        );
        let steps = (0..i128::from(self.lanes)).map(|lane| lane * i128::from(step));
        let lanes = self.lanes;
        let steps = expr(
            ExprKind::Const(steps.collect()),
            Type { elem, lanes },
            self.span,
        );
        let bound = expr(
            ExprKind::Index(normal(&bound)),
            Type::scalar(elem),
            self.span,
        );
        Some(apply(Op::Le, Elem::Bool, vec![bound, steps], self.span))
    }
}
