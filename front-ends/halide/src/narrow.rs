//! Whole numbers in no more bits than they need.
//!
//! In: expressions as Halide has them, which widens before it adds and narrows at the end. Out: the
//! same value computed in fewer bits where each step stays in the range of those; a rounding shift as a
//! sum and a shift where the sum does not wrap. Ranges are those of [`kernel::values`].

use super::value::{apply, cast, constant, expr};
use kernel::tree::{Expr, ExprKind, Kernel, Local, Op};
use kernel::types::{Elem, Type};
use kernel::values::{Values, within};

/// A rounding shift by a constant as a sum and a shift, where nothing wraps.
pub(super) fn rounded(locals: &[Local], value: &Expr, by: &Expr) -> Option<Expr> {
    let (elem, span) = (value.ty.elem, value.span);
    let n = by
        .same_constant()
        .filter(|n| (1..i128::from(elem.bits())).contains(n))?;
    let half = 1i128 << (n - 1);
    let (least, most) = Values::of(locals).range(value)?;
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
    let values = Values::of(&kernel.locals);
    kinds.find_map(|elem| recomputed(&values, e, elem))
}

/// The same values in another type, all steps computed in it.
fn recomputed(values: &Values, e: &Expr, to: Elem) -> Option<Expr> {
    match within(values.range(e)?, to) {
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
        ExprKind::Local(id) => each(values, &values.locals[*id].value, to),
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
            let known = values.of_operation(*op, args, elem)?;
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
            let n = args[1]
                .same_constant()
                .filter(|n| *n < i128::from(to.bits()))?;
            vec![of(0)?, constant(Type::scalar(to), n, e.span)]
        }
        _ => return None,
    };
    let rounding = (op == Op::RoundShr).then(|| rounded(values.locals, &args[0], &args[1]));
    let plain = || apply(op, to, args.clone(), e.span);
    Some(rounding.flatten().unwrap_or_else(plain))
}
