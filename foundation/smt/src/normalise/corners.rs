//! Ranges of polynomials whose products share atoms: interpolations.
//!
//! In: a polynomial and ranges of its atoms. Out: the least and the greatest value of it over these, where it
//! is of first degree in each atom: at corners of the box that the atoms span ([`semantics::range`] says why and
//! looks at them); the ends of products alone are further apart.

use super::Normaliser;
use super::poly::{Atom, Poly, Range};
use num_bigint::BigInt;
use num_traits::ToPrimitive;
use semantics::range::at_corners;

/// The most atoms: there are two to the power of their number of corners.
const ATOMS: usize = 8;

impl Normaliser {
    /// The range of a polynomial of which two products share an atom; none where none do, or there are too many.
    pub(super) fn range_at_corners(&mut self, poly: &Poly) -> Option<Range> {
        if poly.0.keys().all(|product| product.len() <= 1) {
            return None;
        }
        let (mut atoms, mut products): (Vec<Atom>, Vec<(u32, i128)>) = (Vec::new(), Vec::new());
        let (mut seen, mut shared) = (0, 0);
        for (product, coefficient) in &poly.0 {
            let mut own = 0u32;
            for atom in product {
                let known = atoms.iter().position(|a| a == atom);
                let place = known.unwrap_or(atoms.len());
                // A square is no straight line.
                if place == ATOMS || own >> place & 1 == 1 {
                    return None;
                }
                if known.is_none() {
                    atoms.push(*atom);
                }
                own |= 1 << place;
            }
            shared |= seen & own;
            seen |= own;
            products.push((own, coefficient.to_i128()?));
        }
        if shared == 0 {
            return None;
        }
        let ends = atoms.iter().map(|atom| {
            let range = self.range_of(atom.term, atom.signed);
            Some((range.lo.to_i128()?, range.hi.to_i128()?))
        });
        let ends: Vec<(i128, i128)> = ends.collect::<Option<_>>()?;
        let (lo, hi) = at_corners(&ends, products.into_iter())?;
        Some(Range {
            lo: BigInt::from(lo),
            hi: BigInt::from(hi),
        })
    }
}
