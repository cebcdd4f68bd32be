//! Ranges of polynomials whose products share atoms: interpolations.
//!
//! In: a polynomial and ranges of its atoms. Out: the least and the greatest value of it over these, where it
//! is of first degree in each atom. Along each atom it is then a straight line, so that the extremes are at
//! corners of the box that the atoms span; the ends of products alone are further apart. As
//! [`semantics::range`] does, over what that sees as variables.

use super::Normaliser;
use super::poly::{Atom, Poly, Range};
use num_bigint::BigInt;
use num_traits::ToPrimitive;

/// The most atoms: there are two to the power of their number of corners.
const ATOMS: usize = 8;

impl Normaliser {
    /// The range of a polynomial of which two products share an atom; none where none do, or there are too many.
    pub(super) fn range_at_corners(&mut self, poly: &Poly) -> Option<Range> {
        let products = || poly.0.keys().filter(|m| !m.is_empty());
        if products().all(|m| m.len() == 1) {
            return None;
        }
        let mut atoms: Vec<Atom> = Vec::new();
        let mut shared = false;
        for product in products() {
            let own = atoms.len();
            for (k, atom) in product.iter().enumerate() {
                match atoms.iter().position(|a| a == atom) {
                    // A square is no straight line.
                    Some(_) if product[..k].contains(atom) => return None,
                    Some(known) => shared |= known < own,
                    None if atoms.len() == ATOMS => return None,
                    None => atoms.push(*atom),
                }
            }
        }
        if !shared {
            return None;
        }
        let ends = atoms.iter().map(|atom| {
            let range = self.range_of(atom.term, atom.signed);
            Some([range.lo.to_i128()?, range.hi.to_i128()?])
        });
        let ends: Vec<[i128; 2]> = ends.collect::<Option<_>>()?;
        let mut products = Vec::new();
        for (product, coefficient) in &poly.0 {
            let place = |atom: &Atom| atoms.iter().position(|a| a == atom);
            let places: Vec<usize> = product.iter().map(place).collect::<Option<_>>()?;
            products.push((places, coefficient.to_i128()?));
        }
        let at = |corner: usize| {
            let end = |&k: &usize| ends[k][corner >> k & 1];
            products
                .iter()
                .try_fold(0i128, |sum, (places, coefficient)| {
                    let mut factors = places.iter().map(end);
                    let product = factors.try_fold(*coefficient, i128::checked_mul)?;
                    sum.checked_add(product)
                })
        };
        let values: Vec<i128> = (0..1 << atoms.len()).map(at).collect::<Option<_>>()?;
        Some(Range {
            lo: BigInt::from(*values.iter().min()?),
            hi: BigInt::from(*values.iter().max()?),
        })
    }
}
