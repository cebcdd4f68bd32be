//! Operators on rows of words of at most 64 bits.
//!
//! In: an operator, the width of its arguments, rows. Out: the result row, masked. Each
//! function restates a row of the operator table for one word; a property test holds every
//! one of them against the table's concrete function on random and edge inputs.

use super::mask;
use crate::op::OpCode;

/// An operator with a row form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Code {
    /// A table operator of one or two arguments of one width.
    Table(OpCode),
    /// Sign extension to the width; the argument's is given.
    Sext { from: u32 },
    /// Saturation: width of the argument, and how it and the result are read.
    Saturate {
        from: u32,
        signed: bool,
        to_signed: bool,
    },
}

/// Whether an operator has a row form for arguments and results of at most 64 bits.
pub(super) fn supported(code: OpCode) -> bool {
    use OpCode as C;
    matches!(
        code,
        C::Not
            | C::And
            | C::Or
            | C::Eq
            | C::BvNot
            | C::BvAnd
            | C::BvOr
            | C::BvXor
            | C::BvNeg
            | C::BvAdd
            | C::BvSub
            | C::BvMul
            | C::BvUdiv
            | C::BvUrem
            | C::BvShl
            | C::BvLshr
            | C::BvAshr
            | C::Rotl
            | C::Rotr
            | C::BvUlt
            | C::BvUle
            | C::BvSlt
            | C::BvSle
            | C::Smin
            | C::Smax
            | C::Umin
            | C::Umax
            | C::Abs
            | C::Popcnt
            | C::Clz
            | C::Ctz
    )
}

fn signed(x: u64, width: u32) -> i64 {
    let shift = 64 - width;
    ((x << shift) as i64) >> shift
}

/// Fills `to` with the operator applied lane by lane; `width` is the arguments' (the
/// result's for extensions and saturations).
pub(super) fn apply(code: Code, width: u32, to: &mut [u64], a: &[u64], b: &[u64]) {
    match code {
        Code::Table(code) => apply_table(code, width, to, a, b),
        Code::Sext { from } => {
            let mask = mask(width);
            unary(to, a, |x| signed(x, from) as u64 & mask);
        }
        Code::Saturate {
            from,
            signed: is_signed,
            to_signed,
        } => {
            let mask = mask(width);
            if is_signed {
                let (min, max) = match (to_signed, width) {
                    (true, 64) => (i64::MIN, i64::MAX),
                    (true, _) => (-(1 << (width - 1)), (1 << (width - 1)) - 1),
                    (false, 64) => (0, i64::MAX),
                    (false, _) => (0, mask as i64),
                };
                unary(to, a, |x| signed(x, from).clamp(min, max) as u64 & mask);
            } else {
                let max = if to_signed { mask >> 1 } else { mask };
                unary(to, a, |x| x.min(max));
            }
        }
    }
}

fn unary(to: &mut [u64], a: &[u64], f: impl Fn(u64) -> u64) {
    to.iter_mut().zip(a).for_each(|(t, &x)| *t = f(x));
}

fn binary(to: &mut [u64], a: &[u64], b: &[u64], f: impl Fn(u64, u64) -> u64) {
    for ((t, &x), &y) in to.iter_mut().zip(a).zip(b) {
        *t = f(x, y);
    }
}

fn apply_table(code: OpCode, width: u32, to: &mut [u64], a: &[u64], b: &[u64]) {
    use OpCode as C;
    let m = mask(width);
    let w = u64::from(width);
    let s = |x: u64| signed(x, width);
    match code {
        C::Not => unary(to, a, |x| x ^ 1),
        C::And | C::BvAnd => binary(to, a, b, |x, y| x & y),
        C::Or | C::BvOr => binary(to, a, b, |x, y| x | y),
        C::Eq => binary(to, a, b, |x, y| u64::from(x == y)),
        C::BvNot => unary(to, a, |x| !x & m),
        C::BvXor => binary(to, a, b, |x, y| x ^ y),
        C::BvNeg => unary(to, a, |x| x.wrapping_neg() & m),
        C::BvAdd => binary(to, a, b, |x, y| x.wrapping_add(y) & m),
        C::BvSub => binary(to, a, b, |x, y| x.wrapping_sub(y) & m),
        C::BvMul => binary(to, a, b, |x, y| x.wrapping_mul(y) & m),
        C::BvUdiv => binary(to, a, b, |x, y| x.checked_div(y).unwrap_or(m)),
        C::BvUrem => binary(to, a, b, |x, y| x.checked_rem(y).unwrap_or(x)),
        C::BvShl => binary(to, a, b, |x, y| if y >= w { 0 } else { x << y & m }),
        C::BvLshr => binary(to, a, b, |x, y| if y >= w { 0 } else { x >> y }),
        C::BvAshr => binary(to, a, b, |x, y| (s(x) >> y.min(w - 1)) as u64 & m),
        C::Rotl => binary(to, a, b, |x, y| rotate_left(x, y % w, w) & m),
        C::Rotr => binary(to, a, b, |x, y| rotate_left(x, (w - y % w) % w, w) & m),
        C::BvUlt => binary(to, a, b, |x, y| u64::from(x < y)),
        C::BvUle => binary(to, a, b, |x, y| u64::from(x <= y)),
        C::BvSlt => binary(to, a, b, |x, y| u64::from(s(x) < s(y))),
        C::BvSle => binary(to, a, b, |x, y| u64::from(s(x) <= s(y))),
        C::Smin => binary(to, a, b, |x, y| if s(x) <= s(y) { x } else { y }),
        C::Smax => binary(to, a, b, |x, y| if s(x) <= s(y) { y } else { x }),
        C::Umin => binary(to, a, b, u64::min),
        C::Umax => binary(to, a, b, u64::max),
        C::Abs => unary(to, a, |x| s(x).unsigned_abs() & m),
        C::Popcnt => unary(to, a, |x| u64::from(x.count_ones()) & m),
        C::Clz => unary(to, a, |x| (u64::from(x.leading_zeros()) - (64 - w)) & m),
        C::Ctz => unary(to, a, |x| u64::from(x.trailing_zeros()).min(w) & m),
        other => unreachable!("`{other:?}` has no row form"),
    }
}

fn rotate_left(x: u64, n: u64, w: u64) -> u64 {
    if n == 0 { x } else { x << n | x >> (w - n) }
}

/// Whether an operator has a form for values of 65 to 128 bits: two words each.
pub(super) fn supported_double(code: OpCode) -> bool {
    use OpCode as C;
    matches!(
        code,
        C::Eq
            | C::BvNeg
            | C::BvAdd
            | C::BvSub
            | C::BvMul
            | C::BvShl
            | C::BvLshr
            | C::BvAshr
            | C::BvUlt
            | C::BvUle
            | C::BvSlt
            | C::BvSle
    )
}

/// Whether the result is a truth value.
pub(super) fn is_comparison(code: OpCode) -> bool {
    use OpCode as C;
    matches!(code, C::Eq | C::BvUlt | C::BvUle | C::BvSlt | C::BvSle)
}

/// An operator on one pair of values of 65 to 128 bits, masked to that width.
pub(super) fn double(code: OpCode, width: u32, x: u128, y: u128) -> u128 {
    use OpCode as C;
    let w = u128::from(width);
    let signed = |x: u128| ((x << (128 - width)) as i128) >> (128 - width);
    let truth = u128::from;
    let result = match code {
        C::Eq => return truth(x == y),
        C::BvUlt => return truth(x < y),
        C::BvUle => return truth(x <= y),
        C::BvSlt => return truth(signed(x) < signed(y)),
        C::BvSle => return truth(signed(x) <= signed(y)),
        C::BvNeg => x.wrapping_neg(),
        C::BvAdd => x.wrapping_add(y),
        C::BvSub => x.wrapping_sub(y),
        C::BvMul => x.wrapping_mul(y),
        C::BvShl if y < w => x << y,
        C::BvLshr if y < w => x >> y,
        C::BvShl | C::BvLshr => 0,
        C::BvAshr => (signed(x) >> y.min(w - 1)) as u128,
        other => unreachable!("`{other:?}` has no form on two words"),
    };
    result & (u128::MAX >> (128 - width))
}
