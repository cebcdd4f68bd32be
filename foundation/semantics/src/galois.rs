//! Inverses in the fields of 256 elements.
//!
//! In: a polynomial of degree 8 over bits (bit `k` is the coefficient of `x^k`) and a byte.
//! Out: the byte's 254th power modulo the polynomial, which is its inverse where the
//! polynomial is irreducible, and 0 for 0; and the same as a term over simpler operators.
//! Ciphers' substitution tables are this between two affine maps. Sums and products of such
//! fields are exclusive ors and shifts and need nothing of their own.

use crate::build as b;
use crate::term::Term;

/// Whether a parameter is a polynomial of degree 8.
pub(crate) fn is_polynomial(p: u32) -> bool {
    (0x100..0x200).contains(&p)
}

fn product(polynomial: u32, x: u32, y: u32) -> u32 {
    let (mut sum, mut x) = (0, x);
    for bit in 0..8 {
        if y >> bit & 1 == 1 {
            sum ^= x;
        }
        x <<= 1;
        if x & 0x100 != 0 {
            x ^= polynomial;
        }
    }
    sum
}

/// The 254th power of a byte.
pub fn inverse(polynomial: u32, byte: u8) -> u8 {
    let times = |x, y| product(polynomial, x, y);
    let square = |x| times(x, x);
    let x2 = square(u32::from(byte));
    let x3 = times(x2, u32::from(byte));
    let x12 = square(square(x3));
    let x15 = times(x12, x3);
    let x240 = (0..4).fold(x15, |x, _| square(x));
    (times(times(x240, x12), x2) & 0xff) as u8
}

/// The remainder of a polynomial of less than 16 bits, given by its bits.
fn reduced(polynomial: u32, mut bits: Vec<Term>) -> Term {
    for top in (8..bits.len()).rev() {
        let carry = bits[top];
        for k in (0..8).filter(|k| polynomial >> k & 1 == 1) {
            bits[top - 8 + k] = b::xor(bits[top - 8 + k], carry);
        }
    }
    bits.truncate(8);
    bits.reverse();
    b::concat(&bits)
}

fn bits_of(x: Term) -> Vec<Term> {
    (0..8).map(|k| b::extract(x, k, 1)).collect()
}

fn product_term(polynomial: u32, x: Term, y: Term) -> Term {
    let (x, y) = (bits_of(x), bits_of(y));
    let zero = b::zero(1);
    let bits = (0..15).map(|n| {
        let pairs = (0..8).filter(|k| (n - 7..=n).contains(k));
        pairs.fold(zero, |sum, k| {
            b::xor(sum, b::and(x[k as usize], y[(n - k) as usize]))
        })
    });
    reduced(polynomial, bits.collect())
}

/// Squaring spreads the bits: it has no products.
fn square_term(polynomial: u32, x: Term) -> Term {
    let zero = b::zero(1);
    let bits = bits_of(x).into_iter().flat_map(|bit| [bit, zero]);
    reduced(polynomial, bits.collect())
}

/// The 254th power over simpler operators: four products.
pub(crate) fn inverse_term(p: &[u32], a: &[Term]) -> Term {
    let times = |x, y| product_term(p[0], x, y);
    let square = |x| square_term(p[0], x);
    let x2 = square(a[0]);
    let x3 = times(x2, a[0]);
    let x12 = square(square(x3));
    let x15 = times(x12, x3);
    let x240 = (0..4).fold(x15, |x, _| square(x));
    times(times(x240, x12), x2)
}

#[cfg(test)]
mod tests;
