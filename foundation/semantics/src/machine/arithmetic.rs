//! The operators of procedures on concrete values.
//!
//! In: operators, types, values. Out: values. [`super::symbolic`] has the same operators on
//! terms: a test equates the two, so that procedures have the one meaning that operators have
//! everywhere.

use super::procedure::{Binary, Unary};
use crate::instruction::Element;

/// Cuts an integer to its type; a float's bits and conditions stay.
pub fn wrap(n: i64, element: Element) -> i64 {
    match element {
        Element::Signed(w) if w < 64 => n << (64 - w) >> (64 - w),
        Element::Unsigned(w) if w < 64 => n & !(-1 << w),
        Element::Float(_) => n & 0xffff_ffff,
        _ => n,
    }
}

fn float(n: i64) -> f32 {
    f32::from_bits(n as u32)
}

/// The bits of a float; there is one NaN, as in the kernel language and on RISC-V, where the table
/// has those of x86.
fn bits(x: f32) -> i64 {
    i64::from(if x.is_nan() { 0x7fc0_0000 } else { x.to_bits() })
}

/// The least and the greatest integer of a type.
pub fn range(element: Element) -> (i64, i64) {
    match element {
        Element::Signed(w) => (-1 << (w - 1), !(-1 << (w - 1))),
        Element::Unsigned(w) if w < 63 => (0, !(-1 << w)),
        _ => (0, i64::MAX),
    }
}

/// An operator on a value of type `from`, giving one of type `to`.
pub fn unary(op: Unary, a: i64, from: Element, to: Element) -> i64 {
    let floats = (
        matches!(from, Element::Float(_)),
        matches!(to, Element::Float(_)),
    );
    match (op, floats) {
        (Unary::Convert | Unary::Saturate, (true, true)) | (Unary::AsFloat, _) => a & 0xffff_ffff,
        (Unary::Convert | Unary::Saturate, (false, true)) => bits(a as f32),
        (Unary::Convert | Unary::Saturate, (true, false)) => {
            let (low, high) = range(to);
            (float(a).round_ties_even() as i64).clamp(low, high)
        }
        (Unary::Convert, (false, false)) => wrap(a, to),
        (Unary::Saturate, (false, false)) => {
            let (low, high) = range(to);
            a.clamp(low, high)
        }
        (Unary::Not, _) if to == Element::Mask => a ^ 1,
        (Unary::Not, _) => wrap(!a, to),
        (Unary::IsFinite, _) => i64::from(float(a).is_finite()),
    }
}

/// An operator on two values of a type.
#[inline]
pub fn binary(op: Binary, a: i64, b: i64, element: Element) -> i64 {
    if matches!(element, Element::Float(_)) {
        return of_floats(op, a, b);
    }
    let width = element.width().unwrap_or(64);
    let past = !(0..i64::from(width)).contains(&b);
    let n = match op {
        Binary::Add => a.wrapping_add(b),
        Binary::Sub => a.wrapping_sub(b),
        Binary::Mul => a.wrapping_mul(b),
        Binary::Div if b == 0 => 0,
        Binary::Div => a.wrapping_div_euclid(b),
        Binary::Rem if b == 0 => 0,
        Binary::Rem => a.wrapping_rem_euclid(b),
        Binary::And => a & b,
        Binary::Or => a | b,
        Binary::Xor => a ^ b,
        Binary::Shl if past => 0,
        Binary::Shl => a << b,
        Binary::Shr if past => a >> 63,
        Binary::Shr => a >> b,
        Binary::RoundShr => rounded(a, b, past),
        Binary::Min => a.min(b),
        Binary::Max => a.max(b),
        Binary::Equal => return i64::from(a == b),
        Binary::Below => return i64::from(a < b),
        Binary::AtMost => return i64::from(a <= b),
    };
    wrap(n, element)
}

/// A shift to the right that rounds to the nearest, ties to even.
fn rounded(a: i64, by: i64, past: bool) -> i64 {
    if by == 0 {
        return a;
    }
    if past {
        return 0;
    }
    let floor = a >> by;
    let rest = a & !(-1 << by);
    let half = 1 << (by - 1);
    floor + i64::from(rest > half || rest == half && floor & 1 == 1)
}

fn of_floats(op: Binary, a: i64, b: i64) -> i64 {
    let (x, y) = (float(a), float(b));
    match op {
        Binary::Add => bits(x + y),
        Binary::Sub => bits(x - y),
        Binary::Mul => bits(x * y),
        // As x86 and C's `a < b ? a : b` have it: the second when they do not compare.
        Binary::Min => bits(if x < y { x } else { y }),
        Binary::Max => bits(if x > y { x } else { y }),
        Binary::Equal => i64::from(x == y),
        Binary::Below => i64::from(x < y),
        Binary::AtMost => i64::from(x <= y),
        _ => a,
    }
}
