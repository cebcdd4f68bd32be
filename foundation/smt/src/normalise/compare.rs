//! Comparisons.
//!
//! In: integer polynomials to compare, terms to equate. Out: truth values in one form:
//! order is the sign of a difference, its coefficients divided by their common divisor, the
//! first product positive; equality is of the difference at the least width that tells.

use super::Normaliser;
use super::poly::{Poly, Range, floor_div, pow2, to_bits, valuation};
use num_bigint::BigInt;
use num_traits::{One, Signed, Zero};
use semantics::build as b;
use semantics::op::OpCode;
use semantics::term::Term;

impl Normaliser {
    /// Whether an integer is negative.
    pub(super) fn negative(&mut self, d: &Poly) -> Term {
        let range = self.range(d);
        if range.hi.is_negative() {
            return Term::bool(true);
        }
        if !range.lo.is_negative() {
            return Term::bool(false);
        }
        let open = d.without_constant();
        let factor = open.content();
        let open = open.divided(&factor);
        let d = open.add(&Poly::constant(floor_div(&d.constant_part(), &factor)));
        if open.leads_negative() {
            let flipped = d
                .scale(&-BigInt::one())
                .add(&Poly::constant(-BigInt::one()));
            return b::negate(self.negative(&flipped));
        }
        let threshold = -d.constant_part();
        if let Some(known) = self.compare_choice(&open, &threshold) {
            return known;
        }
        let condition = self.written_comparison(&open, &threshold);
        self.compares.insert(condition, d);
        condition
    }

    /// A minimum or maximum with a bound, against a threshold.
    fn compare_choice(&mut self, open: &Poly, threshold: &BigInt) -> Option<Term> {
        let atom = open.as_atom()?;
        let choice = self.choice_named(atom)?.clone();
        let [x, bound] = &choice.operands[..] else {
            return None;
        };
        let (x, bound) = if x.as_constant().is_some() {
            (bound, x)
        } else {
            (x, bound)
        };
        let below = bound.as_constant()? < *threshold;
        Some(match (choice.max, below) {
            (true, false) => Term::bool(false),
            (false, true) => Term::bool(true),
            _ => self.negative(&x.sub(&Poly::constant(threshold.clone()))),
        })
    }

    /// `open < threshold`, one product of `open` being positive.
    fn written_comparison(&mut self, open: &Poly, threshold: &BigInt) -> Term {
        if let Some(atom) = open.as_atom() {
            let top = atom.term.width() - 1;
            let sign = if atom.signed {
                BigInt::zero()
            } else {
                pow2(top)
            };
            if *threshold == sign {
                let bit = self.norm(b::extract(atom.term, top, 1));
                let set = self.bit_is_set(bit);
                return if atom.signed { set } else { b::negate(set) };
            }
        }
        let range = self.range(open).union(&Range::point(threshold.clone()));
        let width = range.signed_width();
        let left = self.emit_reduced(open.clone(), width);
        let condition = b::slt(left, Term::bits(to_bits(threshold, width)));
        self.normal.stays(condition);
        condition
    }

    /// Whether a one-bit term in normal form is 1.
    pub(super) fn bit_is_set(&mut self, bit: Term) -> Term {
        if let Some(inner) = bit.args_of(OpCode::BvNot) {
            let set = self.bit_is_set(inner[0]);
            return b::negate(set);
        }
        let set = b::eq(bit, Term::bv(1, 1));
        if set.args_of(OpCode::Eq).is_some() {
            self.normal.stays(set);
        }
        set
    }

    /// Equality of two bit vectors.
    pub(super) fn equal(&mut self, x: Term, y: Term) -> Term {
        let mut width = x.width();
        let difference = self.ring(x).sub(&self.ring(y));
        let mut difference = self.reduce(difference, width);
        if let Some(c) = difference.as_constant() {
            return Term::bool(c.is_zero());
        }
        for signed in [false, true] {
            let exact = self.exact(x, signed).sub(&self.exact(y, signed));
            let range = self.range(&exact);
            if range.lo.is_positive() || range.hi.is_negative() {
                return Term::bool(false);
            }
            let reach = (-&range.lo).max(range.hi);
            let enough = u32::try_from(reach.bits())
                .expect("ranges have fewer than 2^32 bits")
                .max(1);
            if enough < width {
                let divisor = exact.without_constant().content();
                if !(exact.constant_part() % &divisor).is_zero() {
                    return Term::bool(false);
                }
                width = enough;
                difference = self.reduce(exact, width);
            }
        }
        self.vanishes(difference, width)
    }

    /// Whether a polynomial is 0 modulo 2^width.
    fn vanishes(&mut self, difference: Poly, width: u32) -> Term {
        let (mut difference, mut width) = (difference, width);
        let shift = difference.0.values().map(valuation).min().unwrap_or(0);
        if shift > 0 {
            width -= shift;
            difference = self.reduce(difference.divided(&pow2(shift)), width);
        }
        if let Some(c) = difference.as_constant() {
            return Term::bool(c.is_zero());
        }
        if difference.leads_negative() {
            difference = self.reduce(difference.scale(&-BigInt::one()), width);
        }
        let constant = difference.constant_part();
        let open = difference.without_constant();
        if width == 1 {
            let bit = self.emit_reduced(open, 1);
            let set = self.bit_is_set(bit);
            return if constant.is_zero() {
                b::negate(set)
            } else {
                set
            };
        }
        let (left, right): (Poly, Poly) = split_by_sign(&open);
        let condition = if constant.is_zero() && left.0.len() == 1 && right.0.len() == 1 {
            let (x, y) = (
                self.emit_reduced(left, width),
                self.emit_reduced(right, width),
            );
            b::eq(x, y)
        } else {
            let x = self.emit_reduced(open, width);
            b::eq(x, Term::bits(to_bits(&-constant, width)))
        };
        if condition.args_of(OpCode::Eq).is_some() {
            self.normal.stays(condition);
        }
        condition
    }
}

fn split_by_sign(open: &Poly) -> (Poly, Poly) {
    let (mut left, mut right) = (Poly::default(), Poly::default());
    for (m, c) in &open.0 {
        if c.is_negative() {
            right.add_term(m.clone(), -c);
        } else {
            left.add_term(m.clone(), c.clone());
        }
    }
    (left, right)
}
