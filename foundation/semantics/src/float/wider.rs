//! Operations on floats by others that more machines have.
//!
//! In: an application of a float operator. Out: an equal term: 16-bit formats are computed in
//! `f32`, short integers are converted through 32 bits, long ones by halves. Each equation holds
//! for every input, NaN included; that it rounds only once is said beside it, and the tests hold
//! it against the interpreter. It knows no machine and does not say what is cheaper.

use super::{Format, Rounding, bounds};
use crate::build as b;
use crate::op::{Op, OpCode};
use crate::term::Term;

/// An equal term, when there is one; whoever follows it again and again comes to an end.
pub fn by_wider(op: Op, args: &[Term]) -> Option<Term> {
    use OpCode as C;
    let nearest = |at: usize| op.params[at] == Rounding::NearestEven.code();
    let format = || Format::from_code(op.params[0]);
    match op.code {
        // `f32` has more than twice the bits of either format and two more: what is rounded to it
        // and then to the format is as if rounded once (Figueroa, 1995). Products below the least
        // normal `bf16` have no more bits than an `f32` there.
        C::FAdd | C::FSub | C::FMul | C::FDiv | C::FSqrt if nearest(1) => in_f32(op, args),
        C::FRound => in_f32(op, args),
        C::FMadd if nearest(1) => multiplied_and_added(format()?, args),
        C::FConvert => converted(op, args[0]),
        C::FFromSint | C::FFromUint if nearest(1) => from_integer(op, args[0]),
        C::FToSint | C::FToUint => match narrow(format()?) {
            true => Some(float(
                op.code,
                &[F32, op.params[1], op.params[2]],
                &[widened(format()?, args[0])],
            )),
            false => to_integer(op, args[0]),
        },
        _ => None,
    }
}

const F32: u32 = Format::F32 as u32;
const NEAREST: u32 = Rounding::NearestEven as u32;
const ZERO: u32 = Rounding::Zero as u32;

fn narrow(format: Format) -> bool {
    matches!(format, Format::F16 | Format::Bf16)
}

/// An operation on floats, with its parameters.
pub(super) fn float(code: OpCode, params: &[u32], args: &[Term]) -> Term {
    let mut op = Op::new(code);
    op.params[..params.len()].copy_from_slice(params);
    b::app(op, args)
}

/// A float of 16 bits as an `f32`. A signalling `bf16` stays one: what it is handed to quiets it.
fn widened(format: Format, x: Term) -> Term {
    match format {
        Format::Bf16 => b::concat(&[x, b::zero(16)]),
        _ => float(OpCode::FConvert, &[format.code(), F32, NEAREST], &[x]),
    }
}

/// The operation on 16-bit floats in `f32`, its result rounded.
fn in_f32(op: Op, args: &[Term]) -> Option<Term> {
    let format = Format::from_code(op.params[0]).filter(|f| narrow(*f))?;
    let args: Vec<Term> = args.iter().map(|&x| widened(format, x)).collect();
    let whole = float(op.code, &[F32, op.params[1]], &args);
    Some(float(
        OpCode::FConvert,
        &[F32, format.code(), NEAREST],
        &[whole],
    ))
}

/// A fused product and sum of 16-bit floats in `f64`, where the product is exact. The sum of an
/// `f16`'s is exact too where it lies between two of them: a part that is lost has less than
/// `2^-53` of the other, which an `f16` has not where the product is past its least bit.
fn multiplied_and_added(format: Format, args: &[Term]) -> Option<Term> {
    if !narrow(format) {
        return None;
    }
    let wide = |x: &Term| {
        let params = [F32, Format::F64.code(), NEAREST];
        float(OpCode::FConvert, &params, &[widened(format, *x)])
    };
    let wide: Vec<Term> = args.iter().map(wide).collect();
    let double = [Format::F64.code(), NEAREST];
    let whole = float(OpCode::FMadd, &double, &wide);
    let product = || float(OpCode::FMul, &double, &wide[..2]);
    let odd = match format {
        Format::F16 => whole,
        _ => odd_sum(whole, product(), wide[2]),
    };
    let params = [Format::F64.code(), format.code(), NEAREST];
    Some(float(OpCode::FConvert, &params, &[odd]))
}

/// The sum of two `f64` rounded to odd, given the nearest: its neighbour whose last bit is set where
/// it is not exact, so that rounding it again to fewer bits is as if it was rounded once (Boldo and
/// Melquiond, 2008). What the sum lost is exact (Knuth's two-sum).
fn odd_sum(whole: Term, x: Term, y: Term) -> Term {
    let format = Format::F64;
    let minus = |x: Term, y: Term| float(OpCode::FSub, &[format.code(), NEAREST], &[x, y]);
    let of_y = minus(whole, x);
    let of_x = minus(whole, of_y);
    let lost = sum(format, minus(x, of_x), minus(y, of_y));
    let number = |n: i128| Term::bv(64, n);
    let inexact = b::either(less(format, lost, number(0)), less(format, number(0), lost));
    let odd = b::eq(b::and(whole, number(1)), number(1));
    let away = b::sle(number(0), b::xor(lost, whole));
    let moved = b::add(whole, b::ite(away, number(1), number(-1)));
    b::ite(b::both(inexact, b::negate(odd)), moved, whole)
}

fn less(format: Format, x: Term, y: Term) -> Term {
    float(OpCode::FLt, &[format.code()], &[x, y])
}

/// An `f64` as an `f32` rounded to odd: the nearest, moved towards zero where it is past the value,
/// its last bit set where it is not exact.
fn odd_single(x: Term) -> Term {
    let (single, double) = (Format::F32, Format::F64);
    let near = float(OpCode::FConvert, &[double.code(), F32, NEAREST], &[x]);
    let back = float(OpCode::FConvert, &[F32, double.code(), NEAREST], &[near]);
    let magnitude = |t: Term| b::and(t, Term::bv(64, i128::from(u64::MAX >> 1)));
    let past = less(double, magnitude(x), magnitude(back));
    let short = less(double, magnitude(back), magnitude(x));
    let number = |n: i128| Term::bv(single.width(), n);
    let truncated = b::add(near, b::ite(past, number(-1), number(0)));
    b::or(
        truncated,
        b::ite(b::either(past, short), number(1), number(0)),
    )
}

/// An integer of more bits than a format has, rounded to odd at a bit from `exact` bits on.
fn odd_integer(x: Term, signed: bool, low: u32) -> Term {
    let w = x.width();
    let number = |n: i128| Term::bv(w, n);
    let most = number(1 << (w - low));
    let inside = match signed {
        true => b::ule(b::add(x, most), b::add(most, most)),
        false => b::ule(x, most),
    };
    let lost = b::and(x, number((1 << low) - 1));
    let sticky = b::ite(b::eq(lost, number(0)), number(0), number(1 << low));
    let rounded = b::or(b::sub(x, lost), sticky);
    b::ite(inside, x, rounded)
}

fn converted(op: Op, x: Term) -> Option<Term> {
    let [from, to] = [0, 1].map(|at| Format::from_code(op.params[at]));
    match (from?, to?) {
        (Format::F32, Format::Bf16) if op.params[2] == NEAREST => Some(upper_half(x)),
        (Format::F64, to) if narrow(to) && op.params[2] == NEAREST => {
            Some(in_half(to, odd_single(x)))
        }
        (from, to) if narrow(from) && to != Format::F32 && to != from => {
            let params = [F32, to.code(), op.params[2]];
            Some(float(OpCode::FConvert, &params, &[widened(from, x)]))
        }
        _ => None,
    }
}

/// An `f32` rounded to its upper half: half of what is cut off is added, less one where the half
/// that stays is even.
fn upper_half(x: Term) -> Term {
    let number = |n: i128| Term::bv(32, n);
    let magnitude = b::and(x, number(0x7fff_ffff));
    let is_nan = b::slt(number(i128::from(Format::F32.infinity())), magnitude);
    let shifted = b::lshr(x, number(16));
    let odd = b::and(shifted, number(1));
    let rounded = b::lshr(b::add(b::add(x, number(0x7fff)), odd), number(16));
    let quiet = b::or(shifted, number(i128::from(Format::Bf16.quiet_bit())));
    b::extract(b::ite(is_nan, quiet, rounded), 0, 16)
}

/// The pattern of a power of two.
fn power(format: Format, exponent: i128) -> Term {
    let one = (format.infinity() >> 1) & format.infinity();
    let pattern = i128::from(one) + (exponent << format.fraction());
    Term::bv(format.width(), pattern)
}

fn from_integer(op: Op, x: Term) -> Option<Term> {
    let (format, w) = (Format::from_code(op.params[0])?, x.width());
    let signed = op.code == OpCode::FFromSint;
    let by = |format: Format, signed: bool, x: Term| {
        let code = [OpCode::FFromUint, OpCode::FFromSint][usize::from(signed)];
        float(code, &[format.code(), NEAREST], &[x])
    };
    match format {
        // What an `f32` does not hold exactly is past the greatest `f16`; a `bf16` goes as far.
        Format::F16 => return Some(in_half(Format::F16, by(Format::F32, signed, x))),
        Format::Bf16 if w <= 24 => return Some(in_half(Format::Bf16, by(Format::F32, signed, x))),
        // 24 bits are exact in `f32`, and are two more than twice those of a `bf16`.
        Format::Bf16 if w == 32 => {
            let odd = odd_integer(x, signed, 8);
            return Some(in_half(Format::Bf16, by(Format::F32, signed, odd)));
        }
        Format::Bf16 if w == 64 => {
            let wide = by(Format::F64, signed, odd_integer(x, signed, 11));
            return converted(
                Op::with3(OpCode::FConvert, Format::F64.code(), format.code(), NEAREST),
                wide,
            );
        }
        Format::Bf16 => return None,
        _ => {}
    }
    if let Some((extension, inner)) = x.as_app() {
        let y = inner
            .first()
            .copied()
            .filter(|y| y.sort().width().is_some());
        match (extension.code, y) {
            (OpCode::Zext, Some(y)) if !signed || w > 32 => return Some(by(format, false, y)),
            (OpCode::Sext, Some(y)) if signed && w > 32 => return Some(by(format, true, y)),
            _ => {}
        }
    }
    if w < 32 {
        let wide = if signed {
            b::sext(x, 32)
        } else {
            b::zext(x, 32)
        };
        return Some(by(format, true, wide));
    }
    match (format, signed, w) {
        (Format::F64, false, 32) => {
            let sign = Term::bv(32, 1 << 31);
            let centred = by(format, true, b::xor(x, sign));
            Some(sum(format, centred, power(format, 31)))
        }
        (Format::F32, false, 32) => {
            let high = by(format, true, b::lshr(x, Term::bv(32, 16)));
            let low = by(format, true, b::and(x, Term::bv(32, 0xffff)));
            Some(sum(format, raised(format, high, 16), low))
        }
        // 53 bits are exact in `f64`.
        (Format::F32, _, 64) => {
            let wide = by(Format::F64, signed, odd_integer(x, signed, 11));
            let params = [Format::F64.code(), F32, NEAREST];
            Some(float(OpCode::FConvert, &params, &[wide]))
        }
        // The upper part is exact, and so is its product: the sum rounds once.
        (Format::F64, _, 64) => {
            let high = by(format, signed, half(x, 32));
            let low = by(format, false, half(x, 0));
            Some(sum(format, raised(format, high, 32), low))
        }
        _ => None,
    }
}

/// The 32 bits from one on, of the value as a whole: of a sum it needs no narrower one.
fn half(x: Term, lo: u32) -> Term {
    if x.as_bits().is_some() {
        return b::extract(x, lo, 32);
    }
    let whole = Term::raw_app(Op::with(OpCode::Extract, 32), &[x, Term::int(lo.into())]);
    whole.expect("64 bits have two halves")
}

fn in_half(format: Format, x: Term) -> Term {
    float(OpCode::FConvert, &[F32, format.code(), NEAREST], &[x])
}

fn sum(format: Format, x: Term, y: Term) -> Term {
    float(OpCode::FAdd, &[format.code(), NEAREST], &[x, y])
}

fn raised(format: Format, x: Term, by: i128) -> Term {
    let factor = power(format, by);
    float(OpCode::FMul, &[format.code(), NEAREST], &[x, factor])
}

/// A conversion to an integer by narrower or signed ones.
fn to_integer(op: Op, x: Term) -> Option<Term> {
    let (format, truncates) = (Format::from_code(op.params[0])?, op.params[2] == ZERO);
    if let Some(fits) = that_fits(op, x) {
        return Some(fits);
    }
    match op.params[1] {
        8 | 16 => to_short(op, x),
        32 if truncates && op.code == OpCode::FToUint => Some(to_unsigned(format, x)),
        64 if truncates && format == Format::F64 => Some(by_parts(op.code, x)),
        64 if truncates => {
            let wide = float(OpCode::FConvert, &[F32, Format::F64.code(), NEAREST], &[x]);
            Some(by_parts(op.code, wide))
        }
        _ => None,
    }
}

/// A conversion of what lies within 32 bits with sign: it is one to these.
fn that_fits(op: Op, x: Term) -> Option<Term> {
    let (least, most) = bounds::converted(op, &[x])?;
    let within = least >= -(1 << 31) && most < 1 << 31;
    if !within || op.code == OpCode::FToSint && op.params[1] == 32 {
        return None;
    }
    let whole = float(OpCode::FToSint, &[op.params[0], 32, op.params[2]], &[x]);
    Some(match op.params[1] {
        w if w > 32 => b::sext(whole, w),
        w => b::extract(whole, 0, w),
    })
}

/// A truncation to 32 bits without sign by one with: values from `2^31` on are brought below, which
/// is exact. What is negative then did not fit.
fn to_unsigned(format: Format, x: Term) -> Term {
    let number = |n: i128| Term::bv(32, n);
    let half = power(format, 31);
    let big = b::negate(less(format, x, half));
    let below = float(OpCode::FSub, &[format.code(), NEAREST], &[x, half]);
    let moved = b::ite(big, below, x);
    let whole = float(OpCode::FToSint, &[format.code(), 32, ZERO], &[moved]);
    let sign = b::ite(big, number(1 << 31), number(0));
    b::ite(b::slt(whole, number(0)), number(-1), b::xor(whole, sign))
}

/// A truncation of an `f64` to 64 bits by its upper and its lower 32 bits, each of them exact.
fn by_parts(code: OpCode, x: Term) -> Term {
    let format = Format::F64;
    let number = |n: i128| Term::bv(64, n);
    let signed = code == OpCode::FToSint;
    let round = |x: Term, rounding: Rounding| {
        float(OpCode::FRound, &[format.code(), rounding.code()], &[x])
    };
    let whole = round(x, Rounding::Zero);
    let upper = round(raised(format, whole, -32), Rounding::Down);
    let rest = raised(format, upper, 32);
    let lower = float(OpCode::FSub, &[format.code(), NEAREST], &[whole, rest]);
    let part = |code: OpCode, x: Term| float(code, &[format.code(), 32, ZERO], &[x]);
    let joined = b::concat(&[part(code, upper), part(OpCode::FToUint, lower)]);
    let sign = number(1 << 63);
    let (least, most, else_) = match signed {
        true => (b::xor(power(format, 63), sign), power(format, 63), sign),
        false => (number(0), power(format, 64), number(-1)),
    };
    let inside = b::both(
        b::negate(less(format, whole, least)),
        less(format, whole, most),
    );
    b::ite(inside, joined, else_)
}

/// A conversion to 8 or 16 bits through 32: what fits there is the same.
fn to_short(op: Op, x: Term) -> Option<Term> {
    let w = op.params[1];
    if !matches!(w, 8 | 16) {
        return None;
    }
    let whole = float(OpCode::FToSint, &[op.params[0], 32, op.params[2]], &[x]);
    let (least, most, else_) = match op.code {
        OpCode::FToSint => (
            -(1i128 << (w - 1)),
            (1i128 << (w - 1)) - 1,
            1i128 << (w - 1),
        ),
        _ => (0, (1i128 << w) - 1, (1i128 << w) - 1),
    };
    let number = |n: i128| Term::bv(32, n);
    let inside = b::both(b::sle(number(least), whole), b::sle(whole, number(most)));
    let short = b::ite(inside, whole, number(else_));
    Some(b::extract(short, 0, w))
}

#[cfg(test)]
mod tests {
    use super::{Format, by_wider};
    use crate::eval::{CompiledTerms, Input};
    use crate::op::{Op, OpCode};
    use crate::random::Random;
    use crate::sort::Sort;
    use crate::term::Term;
    use crate::value::Value;

    /// How many inputs each equation is tried on.
    const TRIED: usize = 20_000;

    /// A pattern of a width, often one at an edge of a format or between two floats.
    fn pattern(random: &mut Random, width: u32) -> u64 {
        let bits = random.next_bits();
        let mask = u64::MAX >> (64 - width);
        let exponents = [0u64, 1, 0x7f, 0x80, 0xff, 0x3ff, 0x433, 0x7ff];
        let exponent = *random.pick(&exponents);
        match random.below(6) {
            0 => bits & mask & !(mask >> random.below(u64::from(width))),
            1 => (bits >> (64 - random.below(u64::from(width)).max(1))) & mask,
            2 if width == 32 => (exponent & 0xff) << 23 | bits & 0x8000_ffff,
            3 if width == 32 => bits & 0xffff_0000 | (0x7fff + random.below(3)),
            2 if width == 64 => exponent << 52 | bits & 0x800f_ffff_0000_0000,
            3 if width == 16 => (exponent & 0xff) << 7 | bits & 0x807f,
            4 => {
                1u64.wrapping_shl(random.below(u64::from(width)) as u32)
                    .wrapping_sub(bits & 1)
                    & mask
            }
            _ => bits & mask,
        }
    }

    fn holds(code: OpCode, params: &[u32], widths: &[u32]) {
        let mut op = Op::new(code);
        op.params[..params.len()].copy_from_slice(params);
        let name = |k: usize| format!("x{k}");
        let args = widths.iter().enumerate();
        let args: Vec<Term> = args
            .map(|(k, &w)| Term::var(&name(k), Sort::Bv(w)))
            .collect();
        let other = by_wider(op, &args);
        let other = other.unwrap_or_else(|| panic!("{op:?} is written otherwise"));
        let whole = Term::raw_app(op, &args).expect("the types fit");
        let inputs = widths.iter().enumerate().map(|(k, &w)| Input {
            name: name(k),
            sort: Sort::Bv(w),
        });
        let inputs: Vec<Input> = inputs.collect();
        let program = CompiledTerms::compile(&[whole, other], &inputs).expect("both are closed");
        let mut random = Random::new(u64::from(params[0]) + 1);
        for _ in 0..TRIED {
            let values: Vec<Value> = widths
                .iter()
                .map(|&w| Value::Bv(crate::bits::Bits::from_u64(w, pattern(&mut random, w))))
                .collect();
            let results = program.run(&values);
            assert_eq!(results[0], results[1], "{op:?} at {values:?}: {other}");
        }
    }

    #[test]
    fn every_equation_holds_on_edges_and_random_patterns() {
        use OpCode as C;
        let [f16, bf16, f32, f64] = Format::ALL.map(Format::code);
        for format in [f16, bf16] {
            for code in [C::FAdd, C::FSub, C::FMul, C::FDiv] {
                holds(code, &[format, 0], &[16, 16]);
            }
            holds(C::FSqrt, &[format, 0], &[16]);
            for rounding in 0..4 {
                holds(C::FRound, &[format, rounding], &[16]);
            }
            holds(C::FConvert, &[format, f64, 0], &[16]);
            for width in [8, 16, 32, 64] {
                holds(C::FToSint, &[format, width, 3], &[16]);
                holds(C::FToUint, &[format, width, 3], &[16]);
            }
        }
        holds(C::FConvert, &[f16, bf16, 0], &[16]);
        holds(C::FConvert, &[bf16, f16, 0], &[16]);
        holds(C::FConvert, &[f32, bf16, 0], &[32]);
        for code in [C::FToSint, C::FToUint] {
            for width in [8, 16] {
                holds(code, &[f32, width, 3], &[32]);
                holds(code, &[f64, width, 3], &[64]);
            }
        }
        for code in [C::FFromSint, C::FFromUint] {
            for width in [8, 16] {
                for format in [f16, bf16, f32, f64] {
                    holds(code, &[format, 0], &[width]);
                }
            }
            holds(code, &[f16, 0], &[32]);
            holds(code, &[f16, 0], &[64]);
            holds(code, &[f64, 0], &[64]);
        }
        for format in [f16, bf16] {
            holds(C::FMadd, &[format, 0], &[16, 16, 16]);
            holds(C::FConvert, &[f64, format, 0], &[64]);
        }
        for code in [C::FFromSint, C::FFromUint] {
            for width in [32, 64] {
                holds(code, &[bf16, 0], &[width]);
            }
            holds(code, &[f32, 0], &[64]);
        }
        for format in [f32, f64] {
            let width = Format::from_code(format).expect("it is one").width();
            holds(C::FToUint, &[format, 32, 3], &[width]);
            for code in [C::FToSint, C::FToUint] {
                holds(code, &[format, 64, 3], &[width]);
            }
        }
        holds(C::FFromUint, &[f32, 0], &[32]);
        holds(C::FFromUint, &[f64, 0], &[32]);
    }
}
