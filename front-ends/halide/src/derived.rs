//! Operations of Halide that are several of the kernel language.
//!
//! In: a name, the result type, operands. Out: an expression with Halide's result, to the bit where
//! Halide states it: `lerp`, divisions towards zero, halving differences, tests of floats, bits
//! taken apart and joined. Approximate reciprocals are the quotients that they approximate.

use super::value::{apply, cast, constant};
use kernel::tree::{Expr, ExprKind, Function, Op};
use kernel::types::{Elem, Type};
use semantics::float::Format;
use semantics::span::Span;

const F32: Elem = Elem::Float(Format::F32);
const F64: Elem = Elem::Float(Format::F64);

/// A whole number as a float, rounded to nearest.
fn float(elem: Elem, value: f64) -> i128 {
    match elem.format() {
        Some(Format::F64) => i128::from(value.to_bits()),
        _ => i128::from((value as f32).to_bits()),
    }
}

fn number(elem: Elem, value: i128, span: Span) -> Expr {
    let pattern = match elem.format() {
        Some(_) => float(elem, value as f64),
        None => value,
    };
    constant(Type::scalar(elem), pattern, span)
}

fn two(op: Op, a: Expr, b: Expr, span: Span) -> Expr {
    let elem = match op {
        Op::Eq | Op::Ne | Op::Lt | Op::Le => Elem::Bool,
        _ => a.ty.elem,
    };
    apply(op, elem, vec![a, b], span)
}

/// The operation of that name; `None` when there is none here.
pub(super) fn derived(name: &str, to: Type, args: &[Expr], span: Span) -> Option<Expr> {
    let elem = to.elem;
    let simple = |op: Op| apply(op, elem, args.to_vec(), span);
    Some(match (name, args) {
        ("halving_sub", [a, b]) => halving_sub(a, b, span),
        ("sorted_avg", [_, _]) => simple(Op::AvgFloor),
        ("fast_inverse" | "fast_inverse_f32", [a]) => {
            two(Op::Div, number(elem, 1, span), a.clone(), span)
        }
        ("fast_inverse_sqrt" | "fast_inverse_sqrt_f32", [a]) => {
            let root = apply(Op::Sqrt, elem, vec![a.clone()], span);
            two(Op::Div, number(elem, 1, span), root, span)
        }
        ("is_nan_f16" | "is_nan_f32" | "is_nan_f64", [a]) => {
            two(Op::Ne, a.clone(), a.clone(), span)
        }
        ("is_inf_f16" | "is_inf_f32" | "is_inf_f64", [a]) => {
            let (size, most) = size_and_infinity(a, span);
            two(Op::Eq, size, most, span)
        }
        ("is_finite_f16" | "is_finite_f32" | "is_finite_f64", [a]) => {
            let (size, most) = size_and_infinity(a, span);
            two(Op::Lt, size, most, span)
        }
        ("count_trailing_zeros", [a]) => {
            let below = two(Op::Sub, a.clone(), number(elem, 1, span), span);
            let not = apply(Op::Not, elem, vec![a.clone()], span);
            apply(
                Op::Popcount,
                elem,
                vec![two(Op::And, not, below, span)],
                span,
            )
        }
        ("div_round_to_zero", [a, b]) => toward_zero(a, b, span).0,
        ("mod_round_to_zero", [a, b]) => toward_zero(a, b, span).1,
        ("extract_bits", [a, at]) => {
            let shift = cast(at.clone(), a.ty.elem);
            cast(two(Op::Shr, a.clone(), shift, span), elem)
        }
        ("concat_bits", parts) => joined(elem, parts, span)?,
        ("strict_add", [_, _]) => simple(Op::Add),
        ("strict_sub", [_, _]) => simple(Op::Sub),
        ("strict_mul", [_, _]) => simple(Op::Mul),
        ("strict_div", [_, _]) => simple(Op::Div),
        ("strict_min", [_, _]) => simple(Op::Min),
        ("strict_max", [_, _]) => simple(Op::Max),
        ("strict_fma", [_, _, _]) => simple(Op::Fma),
        ("strict_eq", [a, b]) => two(Op::Eq, a.clone(), b.clone(), span),
        ("strict_lt", [a, b]) => two(Op::Lt, a.clone(), b.clone(), span),
        ("strict_le", [a, b]) => two(Op::Le, a.clone(), b.clone(), span),
        ("strict_cast", [a]) => cast(a.clone(), elem),
        ("lerp", [a, b, weight]) => {
            let (sum, ty) = weighted(a, b, weight, span);
            if elem.format().is_some() {
                sum
            } else {
                divided(sum, ty, span)
            }
        }
        _ => return None,
    })
}

/// The function of the C library that a call of Halide's is, and the type it is of.
pub(super) fn library(name: &str) -> Option<(Function, Elem)> {
    let (name, elem) = match name.rsplit_once('_')? {
        (name, "f32") => (name, F32),
        (name, "f64") => (name, F64),
        _ => return None,
    };
    let found = Function::ALL.into_iter().find(|f| f.name() == name)?;
    Some((found, elem))
}

/// The remainder of floats, with the sign of the divisor.
pub(super) fn remainder(a: &Expr, b: &Expr, span: Span) -> Expr {
    let elem = a.ty.elem;
    let quotient = two(Op::Div, a.clone(), b.clone(), span);
    let whole = apply(Op::Floor, elem, vec![quotient], span);
    two(
        Op::Sub,
        a.clone(),
        two(Op::Mul, b.clone(), whole, span),
        span,
    )
}

fn size_and_infinity(a: &Expr, span: Span) -> (Expr, Expr) {
    let elem = a.ty.elem;
    let infinity = elem.format().map_or(0, |f| i128::from(f.infinity()));
    let size = apply(Op::Abs, elem, vec![a.clone()], span);
    (size, constant(Type::scalar(elem), infinity, span))
}

/// `(a - b) >> 1`, the difference not wrapped: the rounded average of `a` and `~b`, from which
/// half of the range goes where that is unsigned.
fn halving_sub(a: &Expr, b: &Expr, span: Span) -> Expr {
    let elem = a.ty.elem;
    let not = apply(Op::Not, elem, vec![b.clone()], span);
    let average = two(Op::Avg, a.clone(), not, span);
    match elem.is_signed() {
        true => average,
        false => {
            let half = number(elem, 1 << (elem.bits() - 1), span);
            two(Op::Xor, average, half, span)
        }
    }
}

/// Quotient and remainder as C has them; by zero both are 0.
fn toward_zero(a: &Expr, b: &Expr, span: Span) -> (Expr, Expr) {
    let elem = a.ty.elem;
    let quotient = two(Op::Div, a.clone(), b.clone(), span);
    let rest = two(Op::Rem, a.clone(), b.clone(), span);
    if !elem.is_signed() {
        return (quotient, rest);
    }
    let zero = || number(elem, 0, span);
    let one = || number(elem, 1, span);
    let negative = two(Op::Lt, a.clone(), zero(), span);
    let inexact = two(Op::Ne, rest, zero(), span);
    let off = apply(Op::And, Elem::Bool, vec![negative, inexact], span);
    let up = two(Op::Add, quotient.clone(), one(), span);
    let down = two(Op::Sub, quotient.clone(), one(), span);
    let positive = two(Op::Lt, zero(), b.clone(), span);
    let nearer = apply(Op::Select, elem, vec![positive, up, down], span);
    let quotient = apply(Op::Select, elem, vec![off, nearer, quotient], span);
    let back = two(Op::Mul, quotient.clone(), b.clone(), span);
    let by_zero = two(Op::Eq, b.clone(), zero(), span);
    let rest = two(Op::Sub, a.clone(), back, span);
    let rest = apply(Op::Select, elem, vec![by_zero, zero(), rest], span);
    (quotient, rest)
}

/// Parts side by side, the first lowest.
fn joined(elem: Elem, parts: &[Expr], span: Span) -> Option<Expr> {
    let each = elem.bits() / u32::try_from(parts.len()).ok().filter(|n| *n > 0)?;
    let unsigned = elem.as_unsigned();
    let mut whole = None;
    for (k, part) in (0u32..).zip(parts) {
        let wide = cast(cast(part.clone(), part.ty.elem.as_unsigned()), unsigned);
        let count = number(unsigned, i128::from(k * each), span);
        let moved = match k {
            0 => wide,
            _ => two(Op::Shl, wide, count, span),
        };
        whole = Some(match whole {
            None => moved,
            Some(low) => two(Op::Or, low, moved, span),
        });
    }
    whole.map(|whole| cast(whole, elem))
}

/// Between `a` and `b`, by a weight of which the greatest value, or 1, means `b`: of integers the
/// sum at twice the width, that [`divided`] makes the result of.
pub(super) fn weighted(a: &Expr, b: &Expr, weight: &Expr, span: Span) -> (Expr, Elem) {
    let elem = a.ty.elem;
    if elem.format().is_some() {
        let weight = fraction(weight, elem, span);
        let rest = two(Op::Sub, number(elem, 1, span), weight.clone(), span);
        let (p, q) = (
            two(Op::Mul, a.clone(), rest, span),
            two(Op::Mul, b.clone(), weight, span),
        );
        return (two(Op::Add, p, q, span), elem);
    }
    let unsigned = elem.as_unsigned();
    let bias = |e: &Expr| {
        let same = cast(e.clone(), unsigned);
        let half = number(unsigned, 1 << (elem.bits() - 1), span);
        match elem.is_signed() {
            true => two(Op::Xor, same, half, span),
            false => same,
        }
    };
    let (a, b) = (bias(a), bias(b));
    let weight = scaled(weight, unsigned, span);
    let most = number(unsigned, unsigned.max(), span);
    let rest = two(Op::Sub, most, weight.clone(), span);
    let wide = Elem::unsigned((elem.bits() * 2).min(64));
    let product = |x: Expr, y: Expr| two(Op::Mul, cast(x, wide), cast(y, wide), span);
    (
        two(Op::Add, product(a, rest), product(b, weight), span),
        elem,
    )
}

/// A sum of [`weighted`], divided by the greatest weight and rounded.
pub(super) fn divided(sum: Expr, elem: Elem, span: Span) -> Expr {
    let (wide, bits) = (sum.ty.elem, elem.bits());
    let count = || number(wide, i128::from(bits), span);
    let near = two(Op::RoundShr, sum.clone(), count(), span);
    let divided = two(Op::RoundShr, two(Op::Add, near, sum, span), count(), span);
    let narrow = cast(divided, elem.as_unsigned());
    match elem.is_signed() {
        true => {
            let half = number(elem.as_unsigned(), 1 << (bits - 1), span);
            cast(two(Op::Xor, narrow, half, span), elem)
        }
        false => narrow,
    }
}

/// A weight as a float from 0 to 1.
fn fraction(weight: &Expr, elem: Elem, span: Span) -> Expr {
    let from = weight.ty.elem;
    if from.format().is_some() {
        return cast(weight.clone(), elem);
    }
    let middle = if from.bits() >= 32 { F64 } else { F32 };
    let most = constant(Type::scalar(middle), float(middle, from.max() as f64), span);
    let ratio = two(Op::Div, cast(weight.clone(), middle), most, span);
    cast(ratio, elem)
}

/// A weight as an unsigned number of another width, the greatest for the greatest.
fn scaled(weight: &Expr, to: Elem, span: Span) -> Expr {
    let from = weight.ty.elem;
    if from.format().is_some() {
        let middle = if to.bits() >= 32 { F64 } else { F32 };
        let most = constant(Type::scalar(middle), float(middle, to.max() as f64), span);
        let product = two(Op::Mul, cast(weight.clone(), middle), most, span);
        let near = apply(Op::RoundEven, middle, vec![product], span);
        return cast(near, to);
    }
    let (mut value, mut bits) = (weight.clone(), from.bits());
    while bits < to.bits() {
        let wide = Elem::unsigned(bits * 2);
        let factor = number(wide, (1 << bits) + 1, span);
        value = two(Op::Mul, cast(value, wide), factor, span);
        bits *= 2;
    }
    if bits > to.bits() {
        let most = number(from, (from.max()) / to.max(), span);
        value = two(Op::Div, value, most, span);
    }
    cast(value, to)
}

/// The index that a float of one lane is for certain: numbers that were converted, and what
/// leaves them whole. Taken to be exact: below 2^24 in `float32`.
pub(super) fn whole(e: &Expr) -> Option<kernel::index::Index> {
    use kernel::index::Index;
    if e.ty.lanes != 1 || e.ty.elem.format().is_none() {
        return None;
    }
    let pair = |args: &[Expr]| Some((Box::new(whole(&args[0])?), Box::new(whole(&args[1])?)));
    match &e.kind {
        ExprKind::Const(values) => {
            let value = match e.ty.elem.format()? {
                Format::F32 => f64::from(f32::from_bits(u32::try_from(values[0]).ok()?)),
                Format::F64 => f64::from_bits(u64::try_from(values[0]).ok()?),
                _ => return None,
            };
            let small = value.fract() == 0.0 && value.abs() < f64::from(1 << 24);
            small.then_some(Index::Const(value as i64))
        }
        ExprKind::Apply(Op::Cast, args) => match &args[0].kind {
            ExprKind::Index(index) => Some(index.clone()),
            _ => whole(&args[0]),
        },
        ExprKind::Apply(Op::Floor | Op::Ceil | Op::Trunc | Op::RoundEven, args) => whole(&args[0]),
        ExprKind::Apply(Op::Min, args) => pair(args).map(|(a, b)| Index::Min(a, b)),
        ExprKind::Apply(Op::Max, args) => pair(args).map(|(a, b)| Index::Max(a, b)),
        ExprKind::Apply(Op::Add, args) => pair(args).map(|(a, b)| a.plus(&b)),
        ExprKind::Apply(Op::Sub, args) => pair(args).map(|(a, b)| a.minus(&b)),
        ExprKind::Apply(Op::Mul, args) => pair(args).map(|(a, b)| Index::Mul(a, b)),
        _ => None,
    }
}
