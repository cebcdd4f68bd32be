//! Polynomials with integer coefficients over integer readings of terms.
//!
//! In: atoms (a term read as a signed or as an unsigned integer). Out: [`Poly`] with the
//! ring operations, and [`Range`], an interval. It knows nothing of widths: reduction
//! modulo 2^w belongs to [`super::ring`].

use num_bigint::BigInt;
use num_traits::{One, Signed, Zero};
use semantics::bits::Bits;
use semantics::term::Term;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// A bit-vector term read as an integer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Atom {
    /// The term.
    pub(crate) term: Term,
    /// Whether it is read as two's complement.
    pub(crate) signed: bool,
}

/// Smaller terms first, then structural order: the same in every run.
impl Ord for Atom {
    fn cmp(&self, other: &Atom) -> Ordering {
        let by_size = self.term.size().cmp(&other.term.size());
        by_size
            .then_with(|| self.term.cmp(&other.term))
            .then_with(|| self.signed.cmp(&other.signed))
    }
}

impl PartialOrd for Atom {
    fn partial_cmp(&self, other: &Atom) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A product of atoms in order, with repetitions; empty for the constant.
pub(crate) type Monomial = Vec<Atom>;

/// A sum of products with integer coefficients, none of them zero.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub(crate) struct Poly(pub(crate) BTreeMap<Monomial, BigInt>);

/// The integers from `lo` to `hi`, both included.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Range {
    /// The least.
    pub(crate) lo: BigInt,
    /// The greatest.
    pub(crate) hi: BigInt,
}

/// 2 to the power `n`.
pub(crate) fn pow2(n: u32) -> BigInt {
    BigInt::one() << n
}

/// The unsigned value of a constant.
pub(crate) fn from_bits(bits: &Bits) -> BigInt {
    BigInt::from_bytes_le(num_bigint::Sign::Plus, &bits.to_bytes())
}

/// An integer as a constant, wrapped to the width.
pub(crate) fn to_bits(value: &BigInt, width: u32) -> Bits {
    let wrapped: BigInt = ((value % pow2(width)) + pow2(width)) % pow2(width);
    let (_, mut bytes) = wrapped.to_bytes_le();
    bytes.resize(width.div_ceil(8) as usize, 0);
    Bits::from_bytes(width, &bytes)
}

/// The representative modulo 2^width that lies from -2^(width-1) to 2^(width-1)-1.
pub(crate) fn wrap_signed(value: &BigInt, width: u32) -> BigInt {
    let half = pow2(width - 1);
    if *value >= -&half && *value < half {
        return value.clone();
    }
    let full = pow2(width);
    let wrapped: BigInt = ((value % &full) + &full) % &full;
    if wrapped >= half {
        wrapped - full
    } else {
        wrapped
    }
}

/// How often 2 divides a non-zero integer.
pub(crate) fn valuation(value: &BigInt) -> u32 {
    u32::try_from(value.trailing_zeros().unwrap_or(0))
        .expect("coefficients have fewer than 2^32 bits")
}

/// Quotient rounded down by 2^n.
pub(crate) fn floor_shift(value: &BigInt, n: u32) -> BigInt {
    value >> n // BigInt's right shift rounds towards minus infinity
}

/// The greatest common divisor, never negative.
pub(crate) fn gcd(a: &BigInt, b: &BigInt) -> BigInt {
    let (mut a, mut b) = (a.abs(), b.abs());
    while !b.is_zero() {
        (a, b) = (b.clone(), a % b);
    }
    a
}

/// The quotient by a positive divisor, rounded down.
pub(crate) fn floor_div(a: &BigInt, b: &BigInt) -> BigInt {
    let rest = a % b;
    if rest.is_negative() { a / b - 1 } else { a / b }
}

impl Poly {
    /// A constant.
    pub(crate) fn constant(c: BigInt) -> Poly {
        let mut p = Poly::default();
        p.add_term(Vec::new(), c);
        p
    }

    /// One atom.
    pub(crate) fn atom(atom: Atom) -> Poly {
        Poly(BTreeMap::from([(vec![atom], BigInt::one())]))
    }

    /// Adds one product.
    pub(crate) fn add_term(&mut self, m: Monomial, c: BigInt) {
        if c.is_zero() {
            return;
        }
        match self.0.entry(m) {
            std::collections::btree_map::Entry::Vacant(e) => {
                e.insert(c);
            }
            std::collections::btree_map::Entry::Occupied(mut e) => {
                *e.get_mut() += c;
                if e.get().is_zero() {
                    e.remove();
                }
            }
        }
    }

    /// Adds `factor` times the other.
    pub(crate) fn accumulate(&mut self, other: &Poly, factor: &BigInt) {
        for (m, c) in &other.0 {
            self.add_term(m.clone(), c * factor);
        }
    }

    /// The sum of this and `factor` times the other.
    pub(crate) fn plus(&self, other: &Poly, factor: &BigInt) -> Poly {
        let mut out = self.clone();
        out.accumulate(other, factor);
        out
    }

    /// The sum.
    pub(crate) fn add(&self, other: &Poly) -> Poly {
        self.plus(other, &BigInt::one())
    }

    /// The difference.
    pub(crate) fn sub(&self, other: &Poly) -> Poly {
        self.plus(other, &-BigInt::one())
    }

    /// The product with a constant.
    pub(crate) fn scale(&self, factor: &BigInt) -> Poly {
        Poly::default().plus(self, factor)
    }

    /// The product.
    pub(crate) fn mul(&self, other: &Poly) -> Poly {
        let mut out = Poly::default();
        for (m, c) in &self.0 {
            for (n, d) in &other.0 {
                let mut both: Monomial = m.iter().chain(n).copied().collect();
                both.sort();
                both.dedup_by(|a, b| a == b && a.term.width() == 1); // a bit is its own square
                out.add_term(both, c * d);
            }
        }
        out
    }

    /// The product of many: those that are one atom are put in order once.
    pub(crate) fn product(factors: impl IntoIterator<Item = Poly>) -> Poly {
        let (mut atoms, mut product) = (Monomial::new(), Poly::constant(BigInt::one()));
        for factor in factors {
            match factor.as_atom() {
                Some(atom) => atoms.push(atom),
                None => product = product.mul(&factor),
            }
        }
        product.mul(&Poly(BTreeMap::from([(atoms, BigInt::one())])))
    }

    /// The most factors of one of its products.
    pub(crate) fn degree(&self) -> usize {
        self.0.keys().map(Vec::len).max().unwrap_or(0)
    }

    /// The constant part.
    pub(crate) fn constant_part(&self) -> BigInt {
        self.0.get(&Vec::new()).cloned().unwrap_or_default()
    }

    /// Everything but the constant.
    pub(crate) fn without_constant(&self) -> Poly {
        let mut out = self.clone();
        out.0.remove(&Vec::new());
        out
    }

    /// The value, when there are no atoms.
    pub(crate) fn as_constant(&self) -> Option<BigInt> {
        match self.0.len() {
            0 => Some(BigInt::zero()),
            1 => self.0.get(&Vec::new()).cloned(),
            _ => None,
        }
    }

    /// The atom, when this is one atom with coefficient 1.
    pub(crate) fn as_atom(&self) -> Option<Atom> {
        let (m, c) = self.0.first_key_value()?;
        (self.0.len() == 1 && m.len() == 1 && c.is_one()).then(|| m[0])
    }

    /// The coefficient of a product.
    pub(crate) fn coefficient(&self, m: &Monomial) -> BigInt {
        self.0.get(m).cloned().unwrap_or_default()
    }

    /// The greatest common divisor of the coefficients; 0 when there are none.
    pub(crate) fn content(&self) -> BigInt {
        self.0.values().fold(BigInt::zero(), |g, c| gcd(&g, c))
    }

    /// Every coefficient divided, rounding down.
    pub(crate) fn divided(&self, divisor: &BigInt) -> Poly {
        let mut out = Poly::default();
        for (m, c) in &self.0 {
            out.add_term(m.clone(), floor_div(c, divisor));
        }
        out
    }

    /// Whether the first product with atoms has a negative coefficient.
    pub(crate) fn leads_negative(&self) -> bool {
        self.0
            .iter()
            .find(|(m, _)| !m.is_empty())
            .is_some_and(|(_, c)| c.is_negative())
    }
}

impl Range {
    /// One value.
    pub(crate) fn point(c: BigInt) -> Range {
        Range {
            lo: c.clone(),
            hi: c,
        }
    }

    /// All values of a width.
    pub(crate) fn full(width: u32, signed: bool) -> Range {
        if signed {
            Range {
                lo: -pow2(width - 1),
                hi: pow2(width - 1) - 1,
            }
        } else {
            Range {
                lo: BigInt::zero(),
                hi: pow2(width) - 1,
            }
        }
    }

    /// Sums.
    pub(crate) fn add(&self, other: &Range) -> Range {
        Range {
            lo: &self.lo + &other.lo,
            hi: &self.hi + &other.hi,
        }
    }

    /// Multiples.
    pub(crate) fn scale(&self, factor: &BigInt) -> Range {
        let (a, b) = (&self.lo * factor, &self.hi * factor);
        if factor.is_negative() {
            Range { lo: b, hi: a }
        } else {
            Range { lo: a, hi: b }
        }
    }

    /// Products.
    pub(crate) fn mul(&self, other: &Range) -> Range {
        let corners = [
            &self.lo * &other.lo,
            &self.lo * &other.hi,
            &self.hi * &other.lo,
            &self.hi * &other.hi,
        ];
        let lo = corners
            .iter()
            .min()
            .expect("there are four corners")
            .clone();
        let hi = corners
            .iter()
            .max()
            .expect("there are four corners")
            .clone();
        Range { lo, hi }
    }

    /// Powers.
    pub(crate) fn power(&self, n: u32) -> Range {
        let (lo, hi) = (self.lo.pow(n), self.hi.pow(n));
        if n % 2 == 1 {
            return Range { lo, hi };
        }
        if self.lo.is_negative() && self.hi.is_positive() {
            return Range {
                lo: BigInt::zero(),
                hi: lo.max(hi),
            };
        }
        Range {
            lo: (&lo).min(&hi).clone(),
            hi: lo.max(hi),
        }
    }

    /// The least interval that holds both.
    pub(crate) fn union(&self, other: &Range) -> Range {
        Range {
            lo: self.lo.clone().min(other.lo.clone()),
            hi: self.hi.clone().max(other.hi.clone()),
        }
    }

    /// Whether every value lies in the other.
    pub(crate) fn within(&self, other: &Range) -> bool {
        self.lo >= other.lo && self.hi <= other.hi
    }

    /// The least width that holds every value, and whether it must be signed.
    pub(crate) fn width(&self) -> (u32, bool) {
        let bits = |v: &BigInt| u32::try_from(v.bits()).expect("ranges have fewer than 2^32 bits");
        if !self.lo.is_negative() {
            return (bits(&self.hi).max(1), false);
        }
        let below = bits(&(-&self.lo - 1i32));
        let above = if self.hi.is_negative() {
            0
        } else {
            bits(&self.hi)
        };
        (below.max(above) + 1, true)
    }

    /// The least width that holds every value as two's complement.
    pub(crate) fn signed_width(&self) -> u32 {
        match self.width() {
            (w, false) => w + 1,
            (w, true) => w,
        }
    }
}
