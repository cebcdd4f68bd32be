//! Ranges of polynomials.
//!
//! In: terms in normal form, polynomials over them. Out: [`Range`]s that hold every value. What is no sum or
//! product is known by its shape, of which [`semantics::range`] says what follows; that is told what the sums
//! and products below it are known to be. Intervals only, except that a minimum or maximum is known to lie by
//! its operands, and an interpolation between its ends.

use super::Normaliser;
use super::poly::{Atom, Monomial, Poly, Range, from_bits, wrap_signed};
use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive, Zero};
use semantics::op::OpCode;
use semantics::term::Term;

/// Of wider values only constants, sums and extensions have a range.
const WIDEST: u32 = 99;

impl Normaliser {
    /// The values of a term read as an integer.
    pub(super) fn range_of(&mut self, t: Term, signed: bool) -> Range {
        let atom = Atom { term: t, signed };
        if let Some(known) = self.ranges.get(&atom) {
            return known.clone();
        }
        let range = match t.width() <= WIDEST {
            true => self.range_by_shape(t, signed),
            false => self.range_of_wide(t, signed),
        };
        self.ranges.insert(atom, range.clone());
        range
    }

    /// Notes the range of an atom.
    pub(super) fn learn(&mut self, atom: Atom, range: Range) {
        let ends = (range.lo.to_i128(), range.hi.to_i128());
        if let (Some(lo), Some(hi), true) = (ends.0, ends.1, atom.term.width() <= WIDEST) {
            self.values.learn(atom.term, atom.signed, (lo, hi));
        }
        self.ranges.insert(atom, range);
    }

    fn range_by_shape(&mut self, t: Term, signed: bool) -> Range {
        let exact = self.range_of_sum(t, signed);
        if exact.is_none() {
            let below = t.children().filter(|x| x.as_app().is_some());
            let below =
                below.filter(|x| x.sort().width().is_some_and(|w| (1..=WIDEST).contains(&w)));
            for x in below {
                self.range_of(x, true);
                self.range_of(x, false);
            }
        }
        let of = |values: &mut semantics::range::Ranges| match signed {
            true => values.of(t),
            false => values.unsigned(t),
        };
        of(&mut self.values);
        if let Some(exact) = exact {
            self.learn(Atom { term: t, signed }, exact);
        }
        let found = of(&mut self.values);
        Range {
            lo: BigInt::from(found.0),
            hi: BigInt::from(found.1),
        }
    }

    fn range_of_wide(&mut self, t: Term, signed: bool) -> Range {
        if let Some(bits) = t.as_bits() {
            let value = from_bits(bits);
            return Range::point(match signed {
                true => wrap_signed(&value, t.width()),
                false => value,
            });
        }
        let found = match t.as_app() {
            Some((op, args)) if op.code == OpCode::Zext => Some(self.range_of(args[0], false)),
            Some((op, args)) if op.code == OpCode::Sext => {
                let found = self.range_of(args[0], true);
                Some(found).filter(|found| signed || !found.lo.is_negative())
            }
            _ => self.range_of_sum(t, signed),
        };
        found.unwrap_or_else(|| Range::full(t.width(), signed))
    }

    /// The values of what is a sum or a product of others, and wraps nowhere.
    fn range_of_sum(&mut self, t: Term, signed: bool) -> Option<Range> {
        use OpCode as C;
        let (op, _) = t.as_app()?;
        if !matches!(
            op.code,
            C::BvAdd | C::BvSub | C::BvNeg | C::BvMul | C::BvNot | C::Concat
        ) {
            return None;
        }
        let poly = self.rings.get(&t).cloned()?;
        if poly.as_atom().is_some() {
            return None;
        }
        let exact = self.lifted(&poly, t.width(), signed)?;
        Some(self.range(&exact))
    }

    /// The values of a polynomial.
    pub(super) fn range(&mut self, poly: &Poly) -> Range {
        let mut best = self.plain_range(poly);
        let chosen: Vec<(Monomial, BigInt)> = poly
            .0
            .iter()
            .filter(|(m, _)| m.len() == 1 && self.choice_named(m[0]).is_some())
            .map(|(m, c)| (m.clone(), c.clone()))
            .collect();
        for (m, c) in chosen {
            for candidate in self.ranges_by_operands(poly, &m, &c) {
                best = Range {
                    lo: best.lo.max(candidate.lo),
                    hi: best.hi.min(candidate.hi),
                };
            }
        }
        best
    }

    fn plain_range(&mut self, poly: &Poly) -> Range {
        let mut sum = Range::point(BigInt::zero());
        for (m, c) in &poly.0 {
            let product = self.range_of_product(m);
            sum = sum.add(&product.scale(c));
        }
        self.range_at_corners(poly).unwrap_or(sum)
    }

    fn range_of_product(&mut self, m: &Monomial) -> Range {
        let mut product = Range::point(BigInt::from(1));
        for same in m.chunk_by(|a, b| a == b) {
            let range = self.range_of(same[0].term, same[0].signed);
            let times = u32::try_from(same.len()).unwrap_or(u32::MAX);
            product = product.mul(&range.power(times));
        }
        product
    }

    /// With a choice `m` between two operands written as one of them plus a difference of
    /// known sign, or as their mean plus or minus half their distance.
    fn ranges_by_operands(&mut self, poly: &Poly, m: &Monomial, c: &BigInt) -> Vec<Range> {
        let choice = self.choices[&m[0].term].clone();
        let [p, q] = &choice.operands[..] else {
            return Vec::new();
        };
        let mut rest = poly.clone();
        rest.0.remove(m);
        let zero = BigInt::zero();
        let above = |r: &Range| r.hi.clone().max(BigInt::zero());
        let (pq, qp) = (self.plain_range(&p.sub(q)), self.plain_range(&q.sub(p)));
        let (pq, qp) = (above(&pq), above(&qp));
        let mut found = Vec::new();
        for (operand, distance) in [
            (p, if choice.max { &qp } else { &pq }),
            (q, if choice.max { &pq } else { &qp }),
        ] {
            let shift = if choice.max {
                Range {
                    lo: zero.clone(),
                    hi: distance.clone(),
                }
            } else {
                Range {
                    lo: -distance,
                    hi: zero.clone(),
                }
            };
            let base = self.plain_range(&rest.plus(operand, c));
            found.push(base.add(&shift.scale(c)));
        }
        if (c % BigInt::from(2)).is_zero() {
            let half = c / BigInt::from(2);
            let base = self.plain_range(&rest.plus(&p.add(q), &half));
            let distance = Range {
                lo: zero,
                hi: pq.max(qp),
            };
            let sign = if choice.max { half } else { -half };
            found.push(base.add(&distance.scale(&sign)));
        }
        found
    }
}
