//! Conversions of floats to integers by those that saturate.
//!
//! In: a conversion, or a choice. Out: the conversion as a choice between what a machine gives whose
//! conversions saturate (the nearest integer that fits, 0 for a NaN) and the one pattern for what
//! does not fit; and back, which is how it is proved. Only formats of 32 and 64 bits: shorter
//! ones are converted through them ([`super::wider`]).

use super::{Format, Rounding};
use crate::build as b;
use crate::op::{Op, OpCode};
use crate::term::Term;

/// A conversion and what its machine has to compare it with.
struct Conversion {
    format: Format,
    x: Term,
    whole: Term,
    signed: bool,
}

impl Conversion {
    fn of(op: Op, args: &[Term]) -> Option<Conversion> {
        let signed = op.code == OpCode::FToSint;
        let format = Format::from_code(op.params[0])?;
        let long = matches!(format, Format::F32 | Format::F64) && matches!(op.params[1], 32 | 64);
        // What is rounded to -1 does not fit; what is cut off to 0 does.
        let cut = op.code == OpCode::FToUint && op.params[2] == Rounding::Zero.code();
        let &[x] = args else { return None };
        (long && (signed || cut)).then_some(Conversion {
            format,
            x,
            whole: Term::raw_app(op, args).ok()?,
            signed,
        })
    }

    /// The bits of a power of two, negative or not.
    fn power(&self, exponent: u32, negative: bool) -> Term {
        let one = (self.format.infinity() >> 1) & self.format.infinity();
        let pattern = one + (u64::from(exponent) << self.format.fraction());
        let sign = if negative { self.format.sign() } else { 0 };
        Term::bv(self.format.width(), i128::from(pattern | sign))
    }

    fn compared(&self, code: OpCode, x: Term, y: Term) -> Term {
        b::app(Op::with(code, self.format.code()), &[x, y])
    }

    /// What is too large, as a float.
    fn bound(&self) -> Term {
        self.power(self.whole.width() - u32::from(self.signed), false)
    }

    /// The conversion that saturates.
    fn saturated(&self) -> Term {
        let (x, w) = (self.x, self.whole.width());
        let sign = b::extract(x, self.format.width() - 1, 1);
        let (most, inside) = match self.signed {
            true => (Term::bv(w, (1 << (w - 1)) - 1), self.whole),
            false => {
                let negative = b::eq(sign, Term::bv(1, 1));
                (Term::bv(w, -1), b::ite(negative, b::zero(w), self.whole))
            }
        };
        let above = self.compared(OpCode::FLe, self.bound(), x);
        let unordered = self.compared(OpCode::FUnord, x, x);
        b::ite(unordered, b::zero(w), b::ite(above, most, inside))
    }

    /// A choice by what fits. What is too small for a number with sign saturates to its pattern.
    fn chosen(&self) -> Term {
        let w = self.whole.width();
        let below = self.compared(OpCode::FLt, self.x, self.bound());
        let (fits, other) = match self.signed {
            true => (below, Term::bv(w, -(1 << (w - 1)))),
            false => {
                let least = self.power(0, true);
                let above = self.compared(OpCode::FLt, least, self.x);
                (b::both(above, below), Term::bv(w, -1))
            }
        };
        b::ite(fits, self.saturated(), other)
    }
}

/// A conversion by one that saturates.
pub fn by_saturating(op: Op, args: &[Term]) -> Option<Term> {
    Some(Conversion::of(op, args)?.chosen())
}

/// The conversion that a choice by what fits, of one that saturates, is.
pub fn of_saturating(op: Op, args: &[Term]) -> Option<Term> {
    let mut inner = *args.get(1).filter(|_| op.code == OpCode::Ite)?;
    // One that saturates chooses for a NaN, above, and without sign below.
    for _ in 0..3 {
        inner = inner.args_of(OpCode::Ite).map_or(inner, |arms| arms[2]);
    }
    let (code, of) = inner.as_app()?;
    let conversion = Conversion::of(code, of)?;
    let whole = conversion.chosen();
    let same = whole.as_app().is_some_and(|(o, a)| o == op && a == args);
    same.then_some(conversion.whole)
}

#[cfg(test)]
mod tests {
    use super::{by_saturating, of_saturating};
    use crate::bits::Bits;
    use crate::eval::{Input, Program};
    use crate::float::Format;
    use crate::op::{Op, OpCode};
    use crate::random::Random;
    use crate::sort::Sort;
    use crate::term::Term;
    use crate::value::Value;

    /// A float near a power of two that is an end of a type, or any bits.
    fn pattern(random: &mut Random, format: Format) -> u64 {
        let bits = random.next_bits();
        let mask = u64::MAX >> (64 - format.width());
        let exponent = *random.pick(&[-1i64, 0, 30, 31, 32, 62, 63, 64]);
        let bias = (format.infinity() >> 1 & format.infinity()) >> format.fraction();
        let biased = (i64::try_from(bias).expect("small") + exponent).unsigned_abs();
        let at = biased << format.fraction() | bits & format.sign();
        match random.below(4) {
            0 => bits & mask,
            1 => at,
            2 => at + 1,
            _ => at - 1,
        }
    }

    #[test]
    fn what_does_not_fit_is_mended_at_every_edge() {
        for format in [Format::F32, Format::F64] {
            for code in [OpCode::FToSint, OpCode::FToUint] {
                for (w, rounding) in [(32, 3), (64, 3), (32, 0), (64, 1), (32, 2)] {
                    let mut op = Op::new(code);
                    op.params[..3].copy_from_slice(&[format.code(), w, rounding]);
                    let x = Term::var("x", Sort::Bv(format.width()));
                    // Without sign only what is cut off: a rounded -0.7 does not fit.
                    if code == OpCode::FToUint && rounding != 3 {
                        assert!(by_saturating(op, &[x]).is_none());
                        continue;
                    }
                    holds(op, x, format);
                }
            }
        }
    }

    fn holds(op: Op, x: Term, format: Format) {
        let whole = Term::raw_app(op, &[x]).expect("the types fit");
        let other = by_saturating(op, &[x]).expect("it is long");
        let (code, args) = other.as_app().expect("a choice");
        assert_eq!(of_saturating(code, args), Some(whole));
        let input = Input {
            name: "x".to_owned(),
            sort: x.sort(),
        };
        let program = Program::compile(&[whole, other], &[input]).expect("both are closed");
        let mut random = Random::new(3);
        for _ in 0..20_000 {
            let bits = Bits::from_u64(format.width(), pattern(&mut random, format));
            let results = program.run(&[Value::Bv(bits.clone())]);
            assert_eq!(results[0], results[1], "{op:?} at {bits:?}");
        }
    }

    #[test]
    fn a_choice_of_another_bound_is_none() {
        let mut op = Op::new(OpCode::FToSint);
        op.params[..3].copy_from_slice(&[Format::F32.code(), 32, 3]);
        let x = Term::var("x", Sort::Bv(32));
        let other = by_saturating(op, &[x]).expect("it is long");
        let (code, args) = other.as_app().expect("a choice");
        let wrong = [args[0], args[1], Term::bv(32, 7)];
        assert_eq!(of_saturating(code, &wrong), None);
        let wrong = [Term::var("c", Sort::Bool), args[1], args[2]];
        assert_eq!(of_saturating(code, &wrong), None);
    }
}
