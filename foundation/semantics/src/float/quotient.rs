//! Quotients of integers by those of floats.
//!
//! In: a quotient or remainder of integers that are no constants, a choice that guards one, or the
//! quotient of two floats cut off to an integer. Out: the same through floats; and back, which is how
//! it is proved. Nothing is lost: where `|a|, |b| < 2^m` are whole and floats have `p > m` bits of
//! precision, both are floats, and `a / b` is never rounded up to the next whole number `k`. That is
//! at least `1 / b` away, and to be rounded to `k` it would have to be less than `k * 2^-p` away, so
//! that `b * k > 2^p`; but `b * k <= a + b < 2^(m+1)`.

use super::wider::float;
use super::{Format, Rounding};
use crate::bits::Bits;
use crate::build as b;
use crate::op::{Op, OpCode};
use crate::subst::replace_parts;
use crate::term::Term;

/// An integer, of which this many bits are told; the rest are its sign or 0.
#[derive(Clone, Copy)]
struct Integer {
    core: Term,
    signed: bool,
}

impl Integer {
    /// The integer that a float is.
    fn of(t: Term, format: Format) -> Option<Integer> {
        if let Some(bits) = t.as_bits() {
            return Integer::constant(bits.to_u64()?, format);
        }
        Integer::centred(t, format).or_else(|| Integer::converted(t, format))
    }

    /// A constant that is whole.
    fn constant(bits: u64, format: Format) -> Option<Integer> {
        let value = match format {
            Format::F32 => f64::from(f32::from_bits(u32::try_from(bits).ok()?)),
            Format::F64 => f64::from_bits(bits),
            _ => return None,
        };
        let n = (value.fract() == 0.0 && value.abs() <= f64::from(u32::MAX)).then_some(value)?;
        #[allow(clippy::cast_possible_truncation, reason = "it is whole and short")]
        let n = n as i64;
        let signed = n < 0;
        let bits = u64::BITS - n.unsigned_abs().leading_zeros();
        let width = bits.max(1) + u32::from(signed);
        Some(Integer {
            core: Term::bv(width, n.into()),
            signed,
        })
    }

    /// What is converted without a sign by half of it more and half less, as [`super::wider`] does.
    fn centred(t: Term, format: Format) -> Option<Integer> {
        let sides = t.as_app().filter(|(op, _)| op.code == OpCode::FAdd)?.1;
        let constant = |&k: &usize| sides[k].as_bits().is_some();
        let k = [0, 1].into_iter().find(constant)?;
        let more = Integer::constant(sides[k].as_bits()?.to_u64()?, format)?;
        let less = Integer::converted(sides[1 - k], format)?;
        let w = less.core.width();
        let half = more.core.as_bits()?.to_u64()? == 1 << (w - 1);
        let fits = less.signed && !more.signed && w <= WIDEST && w <= format.fraction();
        (fits && half).then(|| Integer {
            core: b::xor(less.core, Term::bv(w, -(1 << (w - 1)))),
            signed: false,
        })
    }

    /// What is converted to a float.
    fn converted(t: Term, format: Format) -> Option<Integer> {
        let (op, args) = t.as_app()?;
        let signed = op.code == OpCode::FFromSint;
        let converts = signed || op.code == OpCode::FFromUint;
        if !converts || op.params[0] != format.code() {
            return None;
        }
        let x = args[0];
        let extended = x.as_app().and_then(|(op, of)| match op.code {
            OpCode::Zext => Some((of[0], false)),
            // Extended with its sign and read without one it is larger.
            OpCode::Sext if signed => Some((of[0], true)),
            _ => None,
        });
        let (core, signed) = extended.unwrap_or((x, signed));
        Some(Integer { core, signed })
    }

    /// The bits that tell it, with a sign or without.
    fn bits(self, signed: bool) -> u32 {
        self.core.width() + u32::from(signed && !self.signed)
    }

    fn at(self, width: u32) -> Term {
        match self.signed {
            true => b::resize_signed(self.core, width),
            false => b::resize_unsigned(self.core, width),
        }
    }
}

/// The quotient of integers that a quotient of floats is, cut off to an integer.
pub fn of_floats(op: Op, args: &[Term]) -> Option<Term> {
    let signed_result = op.code == OpCode::FToSint;
    if !(signed_result || op.code == OpCode::FToUint) || op.params[2] != Rounding::Zero.code() {
        return None;
    }
    let format = Format::from_code(op.params[0])?;
    let (divide, sides) = args[0].as_app().filter(|(op, _)| op.code == OpCode::FDiv)?;
    let nearest = [format.code(), Rounding::NearestEven.code()];
    if divide.params[..2] != nearest {
        return None;
    }
    let (x, y) = (
        Integer::of(sides[0], format)?,
        Integer::of(sides[1], format)?,
    );
    let signed = x.signed || y.signed;
    let (w, whole) = (x.bits(signed).max(y.bits(signed)), op.params[1]);
    let held = w <= format.fraction();
    let fits = w < whole && (signed_result || !signed) || w == whole && signed == signed_result;
    if !held || !fits {
        return None;
    }
    let (x, y) = (x.at(w), y.at(w));
    // Nothing by 0 fits.
    let none = match signed_result {
        true => Term::bv(whole, -(1 << (whole - 1))),
        false => Term::bv(whole, -1),
    };
    let quotient = if !signed {
        b::zext(b::udiv(x, y), whole)
    } else if w == whole {
        b::sdiv(x, y)
    } else {
        b::extended_quotient(b::sdiv(x, y), x, y, whole)
    };
    Some(b::ite(b::eq(y, b::zero(w)), none, quotient))
}

/// A quotient or remainder, or a choice that guards such, through floats: for every width in which
/// machines convert them.
pub fn by_floats(op: Op, args: &[Term]) -> Vec<Term> {
    let by = |whole: u32| match op.code {
        OpCode::Ite => guarded(args, whole),
        _ => unguarded(op, args, whole),
    };
    CONVERTED.into_iter().filter_map(by).collect()
}

/// By 0 it is what the operator says.
fn unguarded(op: Op, args: &[Term], whole: u32) -> Option<Term> {
    let (x, y, w) = (args[0], *args.get(1)?, args[0].sort().width()?);
    let inside = through(op, x, y, whole)?;
    let zero = b::zero(w);
    let by_zero = match op.code {
        OpCode::BvUdiv => Term::bv(w, -1),
        OpCode::BvSdiv => b::ite(b::slt(x, zero), Term::bv(w, 1), Term::bv(w, -1)),
        _ => x,
    };
    Some(b::ite(b::eq(y, zero), by_zero, inside))
}

/// A choice of what there is by 0, and what is computed elsewhere.
fn guarded(args: &[Term], whole: u32) -> Option<Term> {
    let &[condition, by_zero, elsewhere] = args else {
        return None;
    };
    let y = divisor(condition)?;
    let divided = |t: Term| {
        let (op, of) = t.as_app()?;
        let by_it = of.get(1) == Some(&y);
        by_it.then(|| through(op, of[0], y, whole))?
    };
    let other = replace_parts(elsewhere, &divided);
    if other == elsewhere {
        return None;
    }
    // The low bits of what does not fit are 0.
    let zero = y.width() < whole && by_zero.as_bits().is_some_and(Bits::is_zero);
    let quotient = elsewhere
        .as_app()
        .is_some_and(|(op, of)| is_quotient(op.code) && of[1] == y);
    Some(match zero && quotient {
        true => other,
        false => b::ite(condition, by_zero, other),
    })
}

/// What is 0 where a condition holds.
pub fn divisor(condition: Term) -> Option<Term> {
    let sides = condition.args_of(OpCode::Eq)?;
    let zero = |t: Term| t.as_bits().is_some_and(Bits::is_zero);
    match (zero(sides[0]), zero(sides[1])) {
        (false, true) => Some(sides[0]),
        (true, false) => Some(sides[1]),
        _ => None,
    }
}

fn is_quotient(code: OpCode) -> bool {
    matches!(code, OpCode::BvUdiv | OpCode::BvSdiv)
}

/// The widest integers that floats hold here.
const WIDEST: u32 = 32;
/// The widths that machines convert: some only what is as wide as the float.
const CONVERTED: [u32; 2] = [32, 64];

/// A quotient or remainder through floats, where the divisor is not 0.
fn through(op: Op, x: Term, y: Term, whole: u32) -> Option<Term> {
    use OpCode as C;
    let signed = match op.code {
        C::BvUdiv | C::BvUrem => false,
        C::BvSdiv | C::BvSrem => true,
        _ => return None,
    };
    let w = x.width();
    if w > WIDEST || y.as_bits().is_some() {
        return None;
    }
    let extension = if signed { C::Sext } else { C::Zext };
    let reported = |t: Term| t.args_of(extension).map_or(w, |of| of[0].width());
    let bits = reported(x).max(reported(y));
    let holds = |f: &Format| bits <= f.fraction();
    let format = [Format::F32, Format::F64].into_iter().find(holds)?;
    if whole > format.width() {
        return None;
    }
    // What fits is converted with a sign, as more machines do.
    let (from, to) = match signed || bits < whole {
        true => (C::FFromSint, C::FToSint),
        false => (C::FFromUint, C::FToUint),
    };
    let (format, nearest) = (format.code(), Rounding::NearestEven.code());
    let converted = |t: Term| {
        let wide = match signed {
            true => b::sext(t, whole),
            false => b::zext(t, whole),
        };
        float(from, &[format, nearest], &[wide])
    };
    let quotient = float(C::FDiv, &[format, nearest], &[converted(x), converted(y)]);
    let cut_off = float(to, &[format, whole, Rounding::Zero.code()], &[quotient]);
    let quotient = b::extract(cut_off, 0, w);
    match is_quotient(op.code) {
        true => Some(quotient),
        false => Some(b::sub(x, b::mul(quotient, y))),
    }
}

#[cfg(test)]
mod tests;
