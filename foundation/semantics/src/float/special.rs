//! The floating-point functions that x86 has beyond IEEE 754's: scaling, parts of a number,
//! rounding to a binary place, range, fix-up, classification, approximation.
//!
//! In: parameters and words as in [`crate::float`]. Out: bit patterns. The rules for NaN,
//! infinities and zeros are those of Intel's manual (volume 2), held against a processor by
//! the hardware check. An approximation is evaluated as the correctly rounded value: how far
//! a processor may be from it is in its parameters and is not decided here.

use super::{
    Format, Rounding, convert, first_nan, format, integral, key, rounding, sqrt, with_type,
};
use rustc_apfloat::{Float as _, FloatConvert as _, ieee};

/// A quiet NaN.
fn is_quiet(f: Format, x: u64) -> bool {
    f.is_nan(x) && x & f.quiet_bit() != 0
}

/// A signalling NaN.
fn is_signalling(f: Format, x: u64) -> bool {
    f.is_nan(x) && x & f.quiet_bit() == 0
}

fn is_negative(f: Format, x: u64) -> bool {
    x & f.sign() != 0
}

fn is_zero(f: Format, x: u64) -> bool {
    x & !f.sign() == 0
}

fn is_infinite(f: Format, x: u64) -> bool {
    x & !f.sign() == f.infinity()
}

/// The pattern of one.
fn one(f: Format) -> u64 {
    f.infinity() >> (f.fraction() + 1) << f.fraction()
}

/// The exponent of a finite number that is not zero, as if it were normal.
fn exponent(f: Format, x: u64) -> i32 {
    with_type!(f, F => F::from_bits(x.into()).ilogb())
}

/// The pattern of an integer, which the format holds exactly.
fn whole(f: Format, n: i32) -> u64 {
    with_type!(f, F => F::from_i128(n.into()).value.to_bits() as u64)
}

/// `a · 2^floor(b)`, rounded once; parameters: format, rounding.
pub(crate) fn scale(p: &[u32], [a, b, _]: [u64; 3]) -> u64 {
    let (f, r) = (format(p[0]), rounding(p[1]));
    let positive = |x: u64| !is_negative(f, x);
    if is_signalling(f, a) || is_quiet(f, a) && !is_infinite(f, b) {
        return a | f.quiet_bit();
    }
    if f.is_nan(a) {
        return if positive(b) { f.infinity() } else { 0 };
    }
    if f.is_nan(b) {
        return b | f.quiet_bit();
    }
    if is_infinite(f, b) {
        let loses = if positive(b) {
            is_zero(f, a)
        } else {
            is_infinite(f, a)
        };
        let gains = if positive(b) { f.infinity() } else { 0 };
        return if loses {
            f.default_nan()
        } else {
            a & f.sign() | gains
        };
    }
    // No format has numbers more than 2^4196 apart.
    let floor = integral(&[p[0], 64, Rounding::Down.code()], b);
    let by = floor.map_or(if positive(b) { 9_999 } else { -9_999 }, |n| {
        n.clamp(-9_999, 9_999)
    });
    scaled(f, r, a, by as i32)
}

/// `a · 2^by`, rounded once.
fn scaled(f: Format, r: Rounding, a: u64, by: i32) -> u64 {
    with_type!(f, F => {
        F::from_bits(a.into()).scalbn_r(by, r.round()).to_bits() as u64
    })
}

/// The exponent as a number: `floor(log2 |x|)`; parameter: format.
pub(crate) fn get_exponent(p: &[u32], [x, ..]: [u64; 3]) -> u64 {
    let f = format(p[0]);
    if let Some(nan) = first_nan(f, &[x]) {
        return nan;
    }
    if is_infinite(f, x) {
        return f.infinity();
    }
    if is_zero(f, x) {
        return f.sign() | f.infinity();
    }
    whole(f, exponent(f, x))
}

/// The significand in the interval that bits 1:0 of the control name (0: [1, 2), 1: [1/2, 2),
/// 2: [1/2, 1), 3: [3/4, 3/2)); bit 2 drops the sign, bit 3 refuses negative numbers;
/// parameter: format.
pub(crate) fn get_mantissa(p: &[u32], [x, control, _]: [u64; 3]) -> u64 {
    let f = format(p[0]);
    if let Some(nan) = first_nan(f, &[x]) {
        return nan;
    }
    let (interval, unsigned, refuse) = (control & 3, control & 4 != 0, control & 8 != 0);
    if refuse && is_negative(f, x) && !is_zero(f, x) {
        return f.default_nan();
    }
    let sign = if unsigned { 0 } else { x & f.sign() };
    if is_zero(f, x) || is_infinite(f, x) {
        return sign | one(f);
    }
    let exponent = exponent(f, x);
    let magnitude = scaled(f, Rounding::NearestEven, x & !f.sign(), -exponent);
    let halve = match interval {
        0 => false,
        1 => exponent & 1 != 0,
        2 => true,
        _ => magnitude & f.quiet_bit() != 0,
    };
    let half = 1 << f.fraction();
    sign | if halve { magnitude - half } else { magnitude }
}

/// How an immediate rounds: bits 1:0, or to nearest where bit 2 asks for the current mode.
fn immediate_rounding(control: u64) -> Rounding {
    if control & 4 != 0 {
        return Rounding::NearestEven;
    }
    rounding((control & 3) as u32)
}

/// The number rounded to a multiple of `2^-M`, M in bits 7:4 of the control and the rounding
/// in bits 2:0; parameter: format.
pub(crate) fn round_scale(p: &[u32], [x, control, _]: [u64; 3]) -> u64 {
    let f = format(p[0]);
    if let Some(nan) = first_nan(f, &[x]) {
        return nan;
    }
    let (r, places) = (
        immediate_rounding(control).round(),
        (control >> 4 & 15) as i32,
    );
    with_type!(f, F => {
        let exact: ieee::Quad = F::from_bits(x.into()).convert(&mut false).value;
        let rounded = exact.scalbn(places).round_to_integral(r).value.scalbn(-places);
        let result: F = rounded.convert(&mut false).value;
        result.to_bits() as u64
    })
}

/// What [`round_scale`] takes away; for an infinity it is zero; parameter: format.
pub(crate) fn reduce(p: &[u32], [x, control, _]: [u64; 3]) -> u64 {
    let f = format(p[0]);
    if is_infinite(f, x) {
        return 0;
    }
    let rounded = round_scale(p, [x, control, 0]);
    super::sub(&[p[0], immediate_rounding(control).code()], [x, rounded, 0])
}

/// The smaller or larger (bit 0) of two numbers or of their magnitudes (bit 1), with the sign
/// (bits 3:2) of the first (0), of the result (1), positive (2) or negative (3); a quiet NaN
/// gives way to a number; parameter: format.
pub(crate) fn range(p: &[u32], [a, b, control]: [u64; 3]) -> u64 {
    let f = format(p[0]);
    if let Some(nan) = [a, b].into_iter().find(|&x| is_signalling(f, x)) {
        return nan | f.quiet_bit();
    }
    let chosen = if f.is_nan(b) {
        a
    } else if f.is_nan(a) {
        b
    } else {
        let order = |x: u64| {
            if control & 2 == 0 {
                signed_key(f, x)
            } else {
                (x & !f.sign()) as i64
            }
        };
        // Equal magnitudes are ordered by their signs.
        let rank = |x: u64| (order(x), signed_key(f, x));
        let first = if control & 1 == 0 {
            rank(a) <= rank(b)
        } else {
            rank(b) <= rank(a)
        };
        if first { a } else { b }
    };
    match control >> 2 & 3 {
        0 => chosen & !f.sign() | a & f.sign(),
        1 => chosen,
        2 => chosen & !f.sign(),
        _ => chosen | f.sign(),
    }
}

/// As [`key`], with the negative zero below the positive one.
fn signed_key(f: Format, x: u64) -> i64 {
    key(f, x) - i64::from(is_negative(f, x))
}

/// The answer that a table of 4-bit entries has for the class of the second number, or the
/// first or second number; parameter: format.
pub(crate) fn fix_up(p: &[u32], [old, x, table]: [u64; 3]) -> u64 {
    let f = format(p[0]);
    let token = if is_quiet(f, x) {
        0
    } else if f.is_nan(x) {
        1
    } else if is_zero(f, x) {
        2
    } else if x == one(f) {
        3
    } else if is_infinite(f, x) {
        if is_negative(f, x) { 4 } else { 5 }
    } else if is_negative(f, x) {
        6
    } else {
        7
    };
    let infinity = f.infinity();
    let largest = infinity - 1;
    match table >> (4 * token) & 15 {
        0 => old,
        1 => x,
        2 => x | infinity | f.quiet_bit(),
        3 => f.default_nan(),
        4 => f.sign() | infinity,
        5 => infinity,
        6 => x & f.sign() | infinity,
        7 => f.sign(),
        8 => 0,
        9 => f.sign() | one(f),
        10 => one(f),
        11 => one(f) - (1 << f.fraction()),
        12 => whole(f, 90),
        13 => half_pi(f),
        14 => largest,
        _ => f.sign() | largest,
    }
}

/// π/2 rounded to nearest.
fn half_pi(f: Format) -> u64 {
    let double = std::f64::consts::FRAC_PI_2.to_bits();
    let to = [Format::F64.code(), f.code(), Rounding::NearestEven.code()];
    convert(&to, [double, 0, 0])
}

/// Whether the number is of one of the classes that the control names, from bit 0: quiet
/// NaN, +0, -0, +infinity, -infinity, subnormal, negative and finite, signalling NaN;
/// parameter: format.
pub(crate) fn class(p: &[u32], [x, control, _]: [u64; 3]) -> u64 {
    let f = format(p[0]);
    let exponent_zero = x & f.infinity() == 0;
    let classes = [
        is_quiet(f, x),
        x == 0,
        x == f.sign(),
        x == f.infinity(),
        x == f.sign() | f.infinity(),
        exponent_zero && !is_zero(f, x),
        is_negative(f, x) && x & f.infinity() != f.infinity() && !is_zero(f, x),
        is_signalling(f, x),
    ];
    let holds = |(bit, yes): (usize, bool)| yes && control >> bit & 1 == 1;
    u64::from(classes.into_iter().enumerate().any(holds))
}

/// The reciprocal, correctly rounded; parameter: format, then the stated error.
pub(crate) fn reciprocal(p: &[u32], [x, ..]: [u64; 3]) -> u64 {
    let nearest = Rounding::NearestEven.code();
    super::div(&[p[0], nearest], [one(format(p[0])), x, 0])
}

/// The reciprocal of the square root, rounded from twice the precision where the format has
/// a wider one; parameter: format, then the stated error.
pub(crate) fn reciprocal_root(p: &[u32], [x, ..]: [u64; 3]) -> u64 {
    let (nearest, wide) = (Rounding::NearestEven.code(), Format::F64.code());
    let f = format(p[0]);
    if is_zero(f, x) {
        return x & f.sign() | f.infinity();
    }
    let exact = convert(&[p[0], wide, nearest], [x, 0, 0]);
    let root = sqrt(&[wide, nearest], [exact, 0, 0]);
    let inverse = reciprocal(&[wide], [root, 0, 0]);
    convert(&[wide, p[0], nearest], [inverse, 0, 0])
}

#[cfg(test)]
mod tests;
