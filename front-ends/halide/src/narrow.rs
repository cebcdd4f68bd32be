//! Whole numbers in no more bits than they need.
//!
//! In: expressions as Halide has them, which widens before it adds and narrows at the end. Out: the
//! ranges of their values, from what they are made of; the same value computed in fewer bits where
//! each step stays in the range of those; a rounding shift as a sum and a shift where the sum does
//! not wrap. Ranges are of each value by itself: what values have to do with each other is not seen.

use super::operation::same_constant;
use super::value::{apply, cast, constant, expr};
use kernel::tree::{Expr, ExprKind, Kernel, Op};
use kernel::types::{Elem, Type};
use std::cell::Cell;

/// The least and the greatest value.
type Range = (i128, i128);

/// The range of a type.
fn whole(elem: Elem) -> Range {
    (elem.min(), elem.max())
}

fn within((least, most): Range, elem: Elem) -> bool {
    elem.min() <= least && most <= elem.max()
}

/// How many values are looked at for one question. Values that are used twice, by values that are
/// used twice, are without end.
const MAX_STEPS: u32 = 4096;

/// The values of a kernel, of which a bounded number is looked at.
struct Values<'a> {
    kernel: &'a Kernel,
    left: Cell<u32>,
}

impl Values<'_> {
    fn of(kernel: &Kernel) -> Values<'_> {
        Values {
            kernel,
            left: Cell::new(MAX_STEPS),
        }
    }

    /// Whether one more may be looked at.
    fn step(&self) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(1));
        left > 0
    }
}

/// The range of the values of an expression of whole numbers.
fn range(values: &Values, e: &Expr) -> Option<Range> {
    let elem = e.ty.elem;
    if !elem.is_int() {
        return None;
    }
    if !values.step() {
        return Some(whole(elem));
    }
    let known = match &e.kind {
        ExprKind::Const(numbers) => numbers
            .iter()
            .min()
            .zip(numbers.iter().max())
            .map(|(a, b)| (*a, *b)),
        ExprKind::Local(id) => range(values, &values.kernel.locals[*id].value),
        ExprKind::Shuffle(parts, _) => parts
            .iter()
            .map(|part| range(values, part))
            .reduce(|a, b| Some(joined(a?, b?)))
            .flatten(),
        ExprKind::Apply(op, args) => of_operation(values, *op, args, elem),
        _ => None,
    };
    Some(known.filter(|r| within(*r, elem)).unwrap_or(whole(elem)))
}

fn joined(a: Range, b: Range) -> Range {
    (a.0.min(b.0), a.1.max(b.1))
}

/// The range of what an operation gives before it wraps.
fn of_operation(values: &Values, op: Op, args: &[Expr], to: Elem) -> Option<Range> {
    let of = |k: usize| range(values, &args[k]);
    let count = || same_constant(&args[1]).filter(|n| (0..64).contains(n));
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

/// A rounding shift by a constant as a sum and a shift, where nothing wraps.
pub(super) fn rounded(kernel: &Kernel, value: &Expr, by: &Expr) -> Option<Expr> {
    let (elem, span) = (value.ty.elem, value.span);
    let n = same_constant(by).filter(|n| (1..i128::from(elem.bits())).contains(n))?;
    let half = 1i128 << (n - 1);
    let (least, most) = range(&Values::of(kernel), value)?;
    let number = |n: i128| constant(Type::scalar(elem), n, span);
    within((least, most + half), elem).then(|| {
        let sum = apply(Op::Add, elem, vec![value.clone(), number(half)], span);
        apply(Op::Shr, elem, vec![sum, number(n)], span)
    })
}

/// A computed vector that is about to be cut or clamped to a type of fewer bits, in the fewest bits
/// in which no step of it wraps; nothing where it needs all that it has.
pub(super) fn in_fewer_bits(kernel: &Kernel, e: &Expr, to: Elem) -> Option<Expr> {
    let computed = matches!(e.kind, ExprKind::Apply(..)) && e.ty.lanes > 1;
    if !computed || !e.ty.elem.is_int() || !to.is_int() {
        return None;
    }
    let bits = std::iter::successors(Some(to.bits()), |bits| Some(2 * bits));
    let fewer = bits.take_while(|bits| *bits < e.ty.elem.bits());
    let mut kinds = fewer.flat_map(|bits| [Elem::signed(bits), Elem::unsigned(bits)]);
    let values = Values::of(kernel);
    kinds.find_map(|elem| recomputed(&values, e, elem))
}

/// The same values in another type, all steps computed in it.
fn recomputed(values: &Values, e: &Expr, to: Elem) -> Option<Expr> {
    match within(range(values, e)?, to) {
        true => in_type(values, e, to, &recomputed),
        false => None,
    }
}

/// Values of another type with the same low bits, whatever these steps make of the others.
fn low_bits(values: &Values, e: &Expr, to: Elem) -> Option<Expr> {
    in_type(values, e, to, &low_bits)
}

/// How the operands of a value are had in another type.
type Operands<'a> = &'a dyn Fn(&Values, &Expr, Elem) -> Option<Expr>;

/// A value in another type, of which `each` says how the parts are had. Sums and products need the low
/// bits of their operands only.
fn in_type(values: &Values, e: &Expr, to: Elem, each: Operands) -> Option<Expr> {
    let (elem, span) = (e.ty.elem, e.span);
    if !values.step() {
        return None;
    }
    if elem.bits() <= to.bits() {
        return Some(cast(e.clone(), to));
    }
    let ty = Type { elem: to, ..e.ty };
    match &e.kind {
        ExprKind::Const(numbers) => {
            let numbers = numbers.iter().map(|n| to.wrap(*n)).collect();
            Some(expr(ExprKind::Const(numbers), ty, span))
        }
        ExprKind::Local(id) => each(values, &values.kernel.locals[*id].value, to),
        ExprKind::Shuffle(parts, order) => {
            let parts = parts.iter().map(|part| each(values, part, to));
            let parts = parts.collect::<Option<Vec<_>>>()?;
            Some(expr(ExprKind::Shuffle(parts, order.clone()), ty, span))
        }
        ExprKind::Apply(Op::Cast, args) if args[0].ty.elem.is_int() => each(values, &args[0], to),
        ExprKind::Apply(op @ (Op::Add | Op::Sub | Op::Mul), args) => {
            let both = args.iter().map(|arg| low_bits(values, arg, to));
            let both = both.collect::<Option<Vec<_>>>()?;
            Some(apply(*op, to, both, span))
        }
        ExprKind::Apply(op, args) => {
            let known = of_operation(values, *op, args, elem)?;
            let exact = within(known, elem) && within(known, to);
            exact.then(|| operation_in(values, *op, args, to, e))?
        }
        _ => None,
    }
}

fn operation_in(values: &Values, op: Op, args: &[Expr], to: Elem, e: &Expr) -> Option<Expr> {
    let of = |k: usize| recomputed(values, &args[k], to);
    let args = match op {
        Op::Min | Op::Max | Op::And => vec![of(0)?, of(1)?],
        Op::Shl | Op::Shr | Op::RoundShr => {
            let n = same_constant(&args[1]).filter(|n| *n < i128::from(to.bits()))?;
            vec![of(0)?, constant(Type::scalar(to), n, e.span)]
        }
        _ => return None,
    };
    let rounding = (op == Op::RoundShr).then(|| rounded(values.kernel, &args[0], &args[1]));
    let plain = || apply(op, to, args.clone(), e.span);
    Some(rounding.flatten().unwrap_or_else(plain))
}
