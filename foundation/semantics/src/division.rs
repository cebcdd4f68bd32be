//! Divisions of extended values by constants.
//!
//! In: a dividend and a constant divisor. Out: [`Narrower`]: what the dividend was extended from, when quotient
//! and remainder of that, extended, are those of the dividend. Nothing is rewritten here.

use crate::op::{Op, OpCode};
use crate::term::Term;

/// A division at fewer bits, whose results are extended as the dividend was.
#[derive(Clone, Copy, Debug)]
pub struct Narrower {
    /// How the dividend was extended: with zeros the division is one without signs, whatever it was.
    pub extension: OpCode,
    /// What was extended.
    pub dividend: Term,
    /// The divisor, which is a number of the dividend's width.
    pub divisor: i128,
}

impl Narrower {
    /// The division of an extended value by a constant other than 0, if the constant fits.
    pub fn of(signed: bool, x: Term, divisor: Term) -> Option<Narrower> {
        let extends = |op: &Op| matches!(op.code, OpCode::Zext | OpCode::Sext);
        let (op, args) = x.as_app().filter(|(op, _)| extends(op))?;
        let dividend = *args.first()?;
        let (w, width) = (dividend.sort().width()?, x.width());
        let bits = i128::from(divisor.as_bits().filter(|_| width <= 64)?.to_u64()?);
        let divisor = match signed && bits >> (width - 1) == 1 {
            true => bits - (1 << width),
            false => bits,
        };
        let half = 1 << (w - 1);
        let fits = match op.code {
            OpCode::Zext => 0 < divisor && divisor < 2 * half,
            // The least number by -1 is no number of its width.
            OpCode::Sext if signed => {
                -half <= divisor && divisor < half && ![0, -1].contains(&divisor)
            }
            _ => false,
        };
        fits.then_some(Narrower {
            extension: op.code,
            dividend,
            divisor,
        })
    }

    /// The divisor at the dividend's width.
    pub fn by(&self) -> Term {
        Term::bv(self.dividend.width(), self.divisor)
    }
}
