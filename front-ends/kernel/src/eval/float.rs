//! What each operation does to floats, by the arithmetic of this machine.
//!
//! In: an operation, types, bit patterns. Out: a pattern or an integer, as IEEE 754 rounds
//! to nearest, ties to even. `f32` and `f64` are computed as such; the two formats of 16
//! bits in `f64`, rounded to odd there and to nearest once, which is exact (Boldo and
//! Melquiond 2008). It shares nothing with the interpreter of terms: the two are compared
//! in tests. Functions of the C library are those that this program is linked with.

use crate::tree::{Function, Op};
use crate::types::Elem;
use num_traits::Float;
use semantics::float::Format;

/// The exact value of a pattern; a NaN for a NaN.
pub(super) fn decode(format: Format, pattern: i128) -> f64 {
    let bits = u64::try_from(pattern).expect("a pattern has at most 64 bits");
    match format {
        Format::F64 => f64::from_bits(bits),
        Format::F32 => f64::from(f32::from_bits(bits as u32)),
        Format::Bf16 => f64::from(f32::from_bits((bits as u32) << 16)),
        Format::F16 => {
            let (field, fraction) = ((bits >> 10 & 31) as i32, (bits & 1023) as f64);
            let magnitude = match field {
                31 if fraction > 0.0 => f64::NAN,
                31 => f64::INFINITY,
                0 => fraction * power(-24),
                _ => (1024.0 + fraction) * power(field - 25),
            };
            if bits >> 15 == 1 {
                -magnitude
            } else {
                magnitude
            }
        }
    }
}

/// Two to an exponent in the range of normal `f64`.
fn power(exponent: i32) -> f64 {
    let field = u64::try_from(exponent + 1023).expect("the caller's exponents are small");
    f64::from_bits(field << 52)
}

/// The pattern of the nearest value of a format, ties to even.
fn encode(format: Format, value: f64) -> i128 {
    match format {
        Format::F64 => i128::from(value.to_bits()),
        Format::F32 => i128::from((value as f32).to_bits()),
        Format::F16 | Format::Bf16 => i128::from(encode_narrow(format, value)),
    }
}

fn encode_narrow(format: Format, value: f64) -> u64 {
    let sign = if value.is_sign_negative() {
        format.sign()
    } else {
        0
    };
    if value.is_nan() {
        return format.infinity() | format.quiet_bit();
    }
    let magnitude = value.abs();
    let fraction = i32::try_from(format.fraction()).expect("at most 52");
    let least = if format == Format::F16 { -14 } else { -126 };
    let greatest = 1 - least;
    let exponent = ((magnitude.to_bits() >> 52) as i32 - 1023).max(least);
    if exponent > greatest {
        return sign | format.infinity();
    }
    // A carry out of the significand lands in the exponent, as it should.
    let steps = (magnitude * power(fraction - exponent)).round_ties_even() as u64;
    let field = u64::try_from(exponent - least).expect("at least 0");
    sign | ((field << fraction) + steps)
}

/// The neighbour with an odd last bit in the direction of what was rounded away.
fn to_odd(value: f64, rest: f64) -> f64 {
    if rest == 0.0 || !rest.is_finite() || !value.is_finite() || value.to_bits() & 1 == 1 {
        return value;
    }
    if rest > 0.0 {
        value.next_up()
    } else {
        value.next_down()
    }
}

/// A sum rounded to odd.
fn odd_sum(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let other = sum - a;
    to_odd(sum, (a - (sum - other)) + (b - other))
}

/// The result of an operation whose first operand or result is a float.
pub(super) fn apply(op: Op, to: Elem, from: &[Elem], x: &[i128]) -> i128 {
    let Some(format) = from[0].format() else {
        let format = to.format().expect("the operand or the result is a float");
        return from_integer(format, x[0]);
    };
    let v: Vec<f64> = x.iter().map(|&x| decode(format, x)).collect();
    match op {
        Op::Eq => return i128::from(v[0] == v[1]),
        Op::Ne => return i128::from(v[0] != v[1]),
        Op::Lt => return i128::from(v[0] < v[1]),
        Op::Le => return i128::from(v[0] <= v[1]),
        Op::Min => return if v[0] < v[1] { x[0] } else { x[1] },
        Op::Max => return if v[0] > v[1] { x[0] } else { x[1] },
        Op::Cast | Op::SatCast => return convert(op, to, v[0]),
        Op::Flush if x[0] & i128::from(format.infinity()) == 0 => {
            return x[0] & i128::from(format.sign());
        }
        Op::Flush => return x[0],
        _ => {}
    }
    to.wrap(match format {
        Format::F32 => {
            let s: Vec<f32> = v.iter().map(|&v| v as f32).collect();
            i128::from(single(op, &s).to_bits())
        }
        Format::F64 => i128::from(double(op, &v).to_bits()),
        Format::F16 | Format::Bf16 => encode(format, narrow(op, &v)),
    })
}

/// An integer or a truth value as the nearest float.
fn from_integer(format: Format, x: i128) -> i128 {
    match format {
        Format::F64 => i128::from((x as f64).to_bits()),
        Format::F32 => i128::from((x as f32).to_bits()),
        Format::F16 | Format::Bf16 => {
            let near = x as f64;
            encode(format, to_odd(near, (x - near as i128) as f64))
        }
    }
}

fn convert(op: Op, to: Elem, v: f64) -> i128 {
    if let Some(format) = to.format() {
        return to.wrap(encode(format, v));
    }
    let whole = v.trunc() as i128;
    match op {
        Op::SatCast => to.saturate(whole),
        _ if !v.is_nan() && to.saturate(whole) == whole => whole,
        _ if to.is_signed() => to.min(),
        _ => to.max(),
    }
}

fn single(op: Op, v: &[f32]) -> f32 {
    native(op, v).unwrap_or_else(|| unary(op, f64::from(v[0])) as f32)
}

fn double(op: Op, v: &[f64]) -> f64 {
    native(op, v).unwrap_or_else(|| unary(op, v[0]))
}

/// What this machine computes in the format itself.
fn native<F: Float>(op: Op, v: &[F]) -> Option<F> {
    Some(match op {
        Op::Add => v[0] + v[1],
        Op::Sub => v[0] - v[1],
        Op::Mul => v[0] * v[1],
        Op::Div => v[0] / v[1],
        Op::Fma => v[0].mul_add(v[1], v[2]),
        Op::Sqrt => v[0].sqrt(),
        Op::Absd => (v[0] - v[1]).abs(),
        Op::Call(function) => called(function, v),
        _ => return None,
    })
}

/// A function of the C library.
fn called<F: Float>(function: Function, v: &[F]) -> F {
    match function {
        Function::Exp => v[0].exp(),
        Function::Log => v[0].ln(),
        Function::Pow => v[0].powf(v[1]),
        Function::Sin => v[0].sin(),
        Function::Cos => v[0].cos(),
        Function::Tan => v[0].tan(),
        Function::Asin => v[0].asin(),
        Function::Acos => v[0].acos(),
        Function::Atan => v[0].atan(),
        Function::Atan2 => v[0].atan2(v[1]),
        Function::Sinh => v[0].sinh(),
        Function::Cosh => v[0].cosh(),
        Function::Tanh => v[0].tanh(),
    }
}

/// Values of 16 bits: exact, or rounded to odd.
fn narrow(op: Op, v: &[f64]) -> f64 {
    match op {
        Op::Add => odd_sum(v[0], v[1]),
        Op::Sub => odd_sum(v[0], -v[1]),
        Op::Absd => odd_sum(v[0], -v[1]).abs(),
        Op::Mul => v[0] * v[1],
        Op::Fma => odd_sum(v[0] * v[1], v[2]),
        Op::Div => {
            let quotient = v[0] / v[1];
            let rest = (-quotient).mul_add(v[1], v[0]);
            to_odd(quotient, if v[1] < 0.0 { -rest } else { rest })
        }
        Op::Sqrt => {
            let root = v[0].sqrt();
            to_odd(root, (-root).mul_add(root, v[0]))
        }
        _ => unary(op, v[0]),
    }
}

/// Operations that are exact in every format.
fn unary(op: Op, v: f64) -> f64 {
    match op {
        Op::Neg => -v,
        Op::Abs => v.abs(),
        Op::RoundEven => v.round_ties_even(),
        Op::Floor => v.floor(),
        Op::Ceil => v.ceil(),
        Op::Trunc => v.trunc(),
        _ => unreachable!("the checker does not let {op} be applied to floats"),
    }
}
