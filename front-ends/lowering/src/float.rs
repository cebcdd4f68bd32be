//! Operations on floats as terms.
//!
//! In: an operation, its result type, operands as terms with their types. Out: a term over
//! the float operators of the table, rounded to nearest, ties to even.

use kernel::tree::Op;
use kernel::types::Elem;
use semantics::build as b;
use semantics::float::{Format, Rounding, library};
use semantics::op::{Op as Operator, OpCode};
use semantics::term::Term;

const NEAREST: Rounding = Rounding::NearestEven;

fn operator(code: OpCode, params: &[u32], args: &[Term]) -> Term {
    let mut operator = Operator::new(code);
    operator.params[..params.len()].copy_from_slice(params);
    b::app(operator, args)
}

/// The sum of two floats.
pub(super) fn add(format: Format, x: Term, y: Term) -> Term {
    operator(OpCode::FAdd, &[format.code(), NEAREST.code()], &[x, y])
}

/// The first where it is less, else the second; greater, if `most`.
pub(super) fn extreme(format: Format, most: bool, x: Term, y: Term) -> Term {
    let code = if most { OpCode::FMax } else { OpCode::FMin };
    operator(code, &[format.code()], &[x, y])
}

/// The term of an operation whose first operand or result is a float.
pub(super) fn term(op: Op, to: Elem, from: &[Elem], x: &[Term]) -> Term {
    let Some(format) = from[0].format() else {
        let format = to.format().expect("the operand or the result is a float");
        return from_integer(format, from[0], x[0]);
    };
    let w = format.width();
    let rounded = |code| operator(code, &[format.code(), NEAREST.code()], x);
    let compared = |code| operator(code, &[format.code()], x);
    let integral = |r: Rounding| operator(OpCode::FRound, &[format.code(), r.code()], x);
    let sign = || Term::bv(w, i128::from(format.sign()));
    match op {
        Op::Add => rounded(OpCode::FAdd),
        Op::Sub => rounded(OpCode::FSub),
        Op::Mul => rounded(OpCode::FMul),
        Op::Div => match x[1]
            .as_bits()
            .and_then(|by| reciprocal(format, by.low_u64()))
        {
            Some(by) => {
                let by = Term::bv(w, i128::from(by));
                let params = [format.code(), NEAREST.code()];
                operator(OpCode::FMul, &params, &[x[0], by])
            }
            None => rounded(OpCode::FDiv),
        },
        Op::Fma => rounded(OpCode::FMadd),
        Op::Sqrt => rounded(OpCode::FSqrt),
        Op::Min | Op::Max => extreme(format, op == Op::Max, x[0], x[1]),
        Op::Eq => compared(OpCode::FEq),
        Op::Ne => b::negate(compared(OpCode::FEq)),
        Op::Lt => compared(OpCode::FLt),
        Op::Le => compared(OpCode::FLe),
        Op::RoundEven => integral(NEAREST),
        Op::Floor => integral(Rounding::Down),
        Op::Ceil => integral(Rounding::Up),
        Op::Trunc => integral(Rounding::Zero),
        Op::Flush => {
            let exponent = b::and(x[0], Term::bv(w, i128::from(format.infinity())));
            b::ite(b::eq(exponent, b::zero(w)), b::and(x[0], sign()), x[0])
        }
        Op::Neg => b::xor(x[0], sign()),
        Op::Abs => b::and(x[0], b::not(sign())),
        Op::Absd => b::and(rounded(OpCode::FSub), b::not(sign())),
        Op::Cast | Op::SatCast => convert(op, to, format, x[0]),
        Op::Call(function) => {
            let number = library::number(function.name()).expect("a library has it");
            operator(OpCode::FLibrary, &[format.code(), number], x)
        }
        _ => unreachable!("the checker does not let {op} be applied to floats"),
    }
}

fn from_integer(format: Format, from: Elem, x: Term) -> Term {
    let params = [format.code(), NEAREST.code()];
    match from {
        Elem::Bool => {
            let one = Term::bv(format.width(), i128::from(power(format, 0)));
            b::ite(x, one, b::zero(format.width()))
        }
        _ if from.is_signed() => operator(OpCode::FFromSint, &params, &[x]),
        _ => operator(OpCode::FFromUint, &params, &[x]),
    }
}

/// The pattern of two to an exponent that is not negative; infinity where that is too much.
fn power(format: Format, exponent: u32) -> u64 {
    let one = (format.infinity() >> 1) & format.infinity();
    let pattern = one + (u64::from(exponent) << format.fraction());
    pattern.min(format.infinity())
}

/// The bits of the reciprocal of a power of two, negative or not, where both are normal: a product by it is the
/// quotient, rounded from the same number.
fn reciprocal(format: Format, bits: u64) -> Option<u64> {
    let (sign, exponents) = (bits & format.sign(), format.infinity());
    let exponent = bits & exponents;
    // Twice the bias, so that exponents add up to it.
    let twice = exponents - (1 << format.fraction());
    let normal = exponent > 0 && exponent < twice;
    (normal && bits == sign | exponent).then(|| sign | (twice - exponent))
}

fn convert(op: Op, to: Elem, format: Format, x: Term) -> Term {
    if let Some(other) = to.format() {
        let params = [format.code(), other.code(), NEAREST.code()];
        return match (format, other) {
            _ if other == format => x,
            // The upper half of an f32 is a bf16: its lower half is zeros.
            (Format::Bf16, Format::F32) => b::concat(&[x, b::zero(16)]),
            _ => operator(OpCode::FConvert, &params, &[x]),
        };
    }
    let bits = to.bits();
    let params = [format.code(), bits, Rounding::Zero.code()];
    let code = if to.is_signed() {
        OpCode::FToSint
    } else {
        OpCode::FToUint
    };
    let whole = operator(code, &params, &[x]);
    if op == Op::Cast {
        return whole;
    }
    // What does not fit gives the least value of a signed type, the greatest of another.
    let is_nan = operator(OpCode::FUnord, &[format.code()], &[x, x]);
    let at_most = |p, q| operator(OpCode::FLe, &[format.code()], &[p, q]);
    let bound = |pattern: u64| Term::bv(format.width(), i128::from(pattern));
    let whole = if to.is_signed() {
        let above = at_most(bound(power(format, bits - 1)), x);
        b::ite(above, Term::bv(bits, to.max()), whole)
    } else {
        let below = at_most(x, bound(power(format, 0) | format.sign()));
        b::ite(below, b::zero(bits), whole)
    };
    b::ite(is_nan, b::zero(bits), whole)
}

#[cfg(test)]
mod tests {
    use super::reciprocal;
    use semantics::float::Format;

    #[test]
    fn only_powers_of_two_have_a_reciprocal_that_is_exact() {
        let of = |x: f64| reciprocal(Format::F64, x.to_bits()).map(f64::from_bits);
        for x in [
            1.0,
            2.0,
            -0.5,
            32768.0,
            2f64.powi(1022),
            -(2f64.powi(-1022)),
        ] {
            assert_eq!(of(x), Some(1.0 / x), "{x}");
        }
        // The last has a subnormal one.
        for x in [
            0.0,
            -0.0,
            3.0,
            0.1,
            f64::INFINITY,
            f64::NAN,
            5e-324,
            2f64.powi(1023),
        ] {
            assert_eq!(of(x), None, "{x}");
        }
        let short = |x: f32| reciprocal(Format::F32, x.to_bits().into());
        assert_eq!(short(32768.0), Some((1f32 / 32768.0).to_bits().into()));
        // One half and two of 16 bits.
        assert_eq!(reciprocal(Format::F16, 0x3800), Some(0x4000));
        assert_eq!(reciprocal(Format::Bf16, 0xbf00), Some(0xc000));
    }
}
