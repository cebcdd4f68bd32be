//! Interval analysis of terms and polynomials.
//!
//! In: terms in normal form, polynomials over them. Out: [`Range`]s that hold every value.
//! Intervals only, except that a minimum or maximum is known to lie by its operands, and an interpolation
//! between its ends.

use super::Normaliser;
use super::poly::{Atom, Monomial, Poly, Range, from_bits, pow2, wrap_signed};
use num_bigint::BigInt;
use num_traits::{Signed, Zero};
use semantics::op::{Op, OpCode};
use semantics::term::{Kind, Term};

impl Normaliser {
    /// The values of a term read as an integer.
    pub(super) fn range_of(&mut self, t: Term, signed: bool) -> Range {
        let atom = Atom { term: t, signed };
        if let Some(known) = self.ranges.get(&atom) {
            return known.clone();
        }
        let full = Range::full(t.width(), signed);
        let range = match t.kind() {
            Kind::Bv(bits) => {
                let value = from_bits(bits);
                Range::point(if signed {
                    wrap_signed(&value, t.width())
                } else {
                    value
                })
            }
            Kind::App { .. } => self.range_of_app(t, signed).unwrap_or(full),
            _ => full,
        };
        self.ranges.insert(atom, range.clone());
        range
    }

    fn range_of_app(&mut self, t: Term, signed: bool) -> Option<Range> {
        let (op, args) = t.as_app()?;
        let width = t.width();
        let (range, reading) = match op.code {
            OpCode::Ite => {
                return Some(
                    self.range_of(args[1], signed)
                        .union(&self.range_of(args[2], signed)),
                );
            }
            OpCode::FToSint | OpCode::FToUint => {
                (converted_range(op, args)?, op.code == OpCode::FToSint)
            }
            OpCode::Extract => {
                let (op, inner) = args[0].as_app()?;
                let range = converted_range(op, inner)?;
                let signed = range.lo.is_negative();
                let held = args[1].as_int() == Some(0) && range.within(&Range::full(width, signed));
                (held.then_some(range)?, signed)
            }
            OpCode::Zext => (self.range_of(args[0], false), false),
            OpCode::Sext => (self.range_of(args[0], true), true),
            OpCode::Popcnt | OpCode::Clz | OpCode::Ctz if width >= 8 => (
                Range {
                    lo: BigInt::zero(),
                    hi: BigInt::from(width),
                },
                false,
            ),
            OpCode::BvAnd => {
                let (x, y) = (self.range_of(args[0], false), self.range_of(args[1], false));
                (
                    Range {
                        lo: BigInt::zero(),
                        hi: x.hi.min(y.hi),
                    },
                    false,
                )
            }
            OpCode::BvOr | OpCode::BvXor => {
                let (x, y) = (self.range_of(args[0], false), self.range_of(args[1], false));
                let bits = u32::try_from(x.hi.max(y.hi).bits()).unwrap_or(width);
                (
                    Range {
                        lo: BigInt::zero(),
                        hi: pow2(bits) - 1,
                    },
                    false,
                )
            }
            OpCode::BvLshr => (
                Range {
                    lo: BigInt::zero(),
                    hi: self.range_of(args[0], false).hi,
                },
                false,
            ),
            OpCode::BvUdiv | OpCode::BvUrem => {
                let divisor = from_bits(args[1].as_bits()?);
                if divisor.is_zero() {
                    return None;
                }
                let hi = self.range_of(args[0], false).hi;
                let hi = if op.code == OpCode::BvUdiv {
                    hi / divisor
                } else {
                    hi.min(divisor - 1)
                };
                (
                    Range {
                        lo: BigInt::zero(),
                        hi,
                    },
                    false,
                )
            }
            OpCode::BvAdd
            | OpCode::BvSub
            | OpCode::BvNeg
            | OpCode::BvMul
            | OpCode::BvNot
            | OpCode::Concat => {
                let poly = self.rings.get(&t).cloned()?;
                if poly.as_atom().is_some() {
                    return None;
                }
                let exact = self.lifted(&poly, width, signed)?;
                (self.range(&exact), signed)
            }
            _ => return None,
        };
        let same = reading == signed || !range.lo.is_negative() && range.hi < pow2(width - 1);
        same.then_some(range)
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

/// The integers that a conversion of what always fits gives.
fn converted_range(op: Op, args: &[Term]) -> Option<Range> {
    let (lo, hi) = semantics::float::bounds::converted(op, args)?;
    Some(Range {
        lo: BigInt::from(lo),
        hi: BigInt::from(hi),
    })
}
