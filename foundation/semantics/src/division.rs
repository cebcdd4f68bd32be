//! Divisions by constants of values that need fewer bits.
//!
//! In: a dividend and a constant divisor. Out: [`Narrower`]: what the dividend was extended from, or its low bits
//! where its range says that they hold it, when quotient and remainder of that, extended, are those of the
//! dividend. Nothing is rewritten here.

use crate::build as b;
use crate::op::OpCode;
use crate::range::{ends, range};
use crate::term::Term;

/// Widths of elements that are divided instead of wider ones.
const WIDTHS: [u32; 3] = [8, 16, 32];

/// A division at fewer bits, whose results are extended as the dividend was.
#[derive(Clone, Copy, Debug)]
pub struct Narrower {
    /// How the dividend is extended: with zeros the division is one without signs, whatever it was.
    pub extension: OpCode,
    /// What is extended.
    pub dividend: Term,
    /// The divisor, which is a number of the dividend's width.
    pub divisor: i128,
}

impl Narrower {
    /// The division of a value of fewer bits by a constant other than 0, if the constant fits these.
    pub fn of(signed: bool, x: Term, divisor: Term) -> Option<Narrower> {
        let width = x.sort().width().filter(|w| *w <= 64)?;
        let bits = i128::from(divisor.as_bits()?.to_u64()?);
        let divisor = match signed && bits >> (width - 1) == 1 {
            true => bits - (1 << width),
            false => bits,
        };
        let (extension, dividend) = extended(x).or_else(|| in_range(x))?;
        let negative = extension == OpCode::Sext;
        let (least, most) = ends(dividend.width(), negative);
        let fits = least <= divisor && divisor <= most;
        // The least number by -1 is no number of its width.
        let fits = fits && divisor != 0 && (!negative || signed && divisor != -1);
        fits.then_some(Narrower {
            extension,
            dividend,
            divisor,
        })
    }

    /// The divisor at the dividend's width.
    pub fn by(&self) -> Term {
        Term::bv(self.dividend.width(), self.divisor)
    }
}

/// How a value was extended, and from what.
fn extended(x: Term) -> Option<(OpCode, Term)> {
    let (op, args) = x.as_app()?;
    matches!(op.code, OpCode::Zext | OpCode::Sext).then(|| (op.code, args[0]))
}

/// The low bits of a value, which hold it, and how they are extended to it.
fn in_range(x: Term) -> Option<(OpCode, Term)> {
    let (lo, hi) = range(x);
    let extension = if lo < 0 { OpCode::Sext } else { OpCode::Zext };
    let holds = |w: &u32| {
        let (least, most) = ends(*w, lo < 0);
        *w < x.width() && least <= lo && hi <= most
    };
    let width = WIDTHS.into_iter().find(holds)?;
    Some((extension, b::extract(x, 0, width)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::{CompiledTerms, Input};
    use crate::random::Random;
    use crate::sort::Sort;

    /// Quotient and remainder at fewer bits, extended, on edges and random inputs.
    fn agrees(signed: bool, x: Term, divisor: i128) -> Narrower {
        let by = Term::bv(x.width(), divisor);
        let found = Narrower::of(signed, x, by).expect("it is divided at fewer bits");
        let divide = |signed: bool, x: Term, by: Term| match signed {
            true => [b::sdiv(x, by), b::srem(x, by)],
            false => [b::udiv(x, by), b::urem(x, by)],
        };
        let wide = divide(signed, x, by);
        let own = divide(found.extension == OpCode::Sext, found.dividend, found.by());
        let own = own.map(|t| match found.extension {
            OpCode::Sext => b::sext(t, x.width()),
            _ => b::zext(t, x.width()),
        });
        let inputs = ["p", "q"].map(|name| Input {
            name: name.to_owned(),
            sort: Sort::Bv(8),
        });
        let program = CompiledTerms::compile(&[wide, own].concat(), &inputs).expect("closed");
        let mut random = Random::new(3);
        for round in 0..300 {
            let byte = |k: usize, random: &mut Random| match round < 9 {
                true => [0, 127, 255][round / [1, 3][k] % 3],
                false => random.below(256),
            };
            let values = [0, 1].map(|k| {
                let bits = crate::bits::Bits::from_u64(8, byte(k, &mut random));
                crate::value::Value::Bv(bits)
            });
            let results = program.run(&values);
            assert_eq!(results[..2], results[2..], "{x} by {divisor}");
        }
        found
    }

    #[test]
    fn values_are_divided_at_as_many_bits_as_hold_them() {
        let [p, q] = ["p", "q"].map(|name| Term::var(name, Sort::Bv(8)));
        for width in [32, 64] {
            let wide = |t: Term| b::zext(t, width);
            let sum = b::add(wide(p), b::mul(wide(q), Term::bv(width, 2)));
            let difference = b::sub(b::sext(p, width), wide(q));
            for divisor in [1, 3, 10, 255, 765] {
                let found = agrees(true, sum, divisor);
                assert_eq!(
                    (found.extension, found.dividend.width()),
                    (OpCode::Zext, 16)
                );
                agrees(false, sum, divisor);
                for by in [divisor, -divisor - 1] {
                    let found = agrees(true, difference, by);
                    assert_eq!(
                        (found.extension, found.dividend.width()),
                        (OpCode::Sext, 16)
                    );
                }
            }
            let by = |n: i128| Term::bv(width, n);
            assert!(
                Narrower::of(false, difference, by(3)).is_none(),
                "it is huge"
            );
            assert!(Narrower::of(true, difference, by(-1)).is_none());
            assert!(Narrower::of(true, sum, by(-3)).is_none(), "it has no sign");
            assert!(Narrower::of(true, sum, by(0)).is_none());
            assert!(Narrower::of(true, sum, by(70000)).is_none());
        }
    }
}
