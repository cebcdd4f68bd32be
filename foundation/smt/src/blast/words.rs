//! Arithmetic on words of literals, least significant bit first.
//!
//! In: words of equal length (unless told). Out: words of gates: ripple-carry adders,
//! carry-save multipliers, restoring division, barrel shifters, comparators.

use super::gates::{Gates, Lit};

/// A bit vector as literals, least significant first.
pub(crate) type Word = Vec<Lit>;

/// The constant zero.
pub(crate) fn zeros(width: usize) -> Word {
    vec![Lit::FALSE; width]
}

/// Complement of every bit.
pub(crate) fn not(a: &[Lit]) -> Word {
    a.iter().map(|&l| !l).collect()
}

/// Each pair of bits through a gate.
pub(crate) fn zip(
    g: &mut Gates,
    a: &[Lit],
    b: &[Lit],
    gate: fn(&mut Gates, Lit, Lit) -> Lit,
) -> Word {
    a.iter().zip(b).map(|(&x, &y)| gate(g, x, y)).collect()
}

/// `if c then a else b`.
pub(crate) fn mux(g: &mut Gates, c: Lit, a: &[Lit], b: &[Lit]) -> Word {
    a.iter().zip(b).map(|(&x, &y)| g.mux(c, x, y)).collect()
}

/// The sum with a carry in, and the carry out.
pub(crate) fn add_carry(g: &mut Gates, a: &[Lit], b: &[Lit], mut carry: Lit) -> (Word, Lit) {
    let mut sum = Vec::with_capacity(a.len());
    for (&x, &y) in a.iter().zip(b) {
        let half = g.xor(x, y);
        sum.push(g.xor(half, carry));
        carry = g.majority(x, y, carry);
    }
    (sum, carry)
}

/// The sum.
pub(crate) fn add(g: &mut Gates, a: &[Lit], b: &[Lit]) -> Word {
    add_carry(g, a, b, Lit::FALSE).0
}

/// The difference, and whether there was no borrow.
pub(crate) fn sub(g: &mut Gates, a: &[Lit], b: &[Lit]) -> (Word, Lit) {
    add_carry(g, a, &not(b), Lit::TRUE)
}

/// Two's complement negation.
pub(crate) fn neg(g: &mut Gates, a: &[Lit]) -> Word {
    sub(g, &zeros(a.len()), a).0
}

/// Negated when asked.
pub(crate) fn neg_if(g: &mut Gates, c: Lit, a: &[Lit]) -> Word {
    let negated = neg(g, a);
    mux(g, c, &negated, a)
}

/// The low bits of the product: columns of partial products, reduced by full adders.
///
/// A word whose top bits are one literal is a sign-extended shorter number: its partial
/// products are those of the short number, the ones with a sign bit subtracted (Baugh and
/// Wooley, 1973), so that extended products cost what the short ones do.
pub(crate) fn mul(g: &mut Gates, a: &[Lit], b: &[Lit]) -> Word {
    let width = a.len();
    let (a, b) = if constants(b) > constants(a) || constants(a) == constants(b) && b < a {
        (b, a)
    } else {
        (a, b)
    };
    let (n, m) = (short(a), short(b));
    let mut columns: Vec<Vec<Lit>> = vec![Vec::new(); width];
    let mut subtracted = vec![Lit::FALSE; width];
    for (i, &x) in a.iter().take(n).enumerate() {
        for (j, &y) in b.iter().take(m.min(width - i)).enumerate() {
            let bit = g.and(x, y);
            if bit == Lit::FALSE {
                continue;
            }
            let negative = (i + 1 == n && n < width) != (j + 1 == m && m < width);
            columns[i + j].push(if negative { !bit } else { bit });
            if negative {
                // -p * 2^k is not(p) * 2^k - 2^k
                let mut one = zeros(width);
                one[i + j] = Lit::TRUE;
                subtracted = sub(g, &subtracted, &one).0;
            }
        }
    }
    for (column, &bit) in columns.iter_mut().zip(&subtracted) {
        if bit == Lit::TRUE {
            column.push(bit);
        }
    }
    reduce_columns(g, columns)
}

/// The number of bits, sign included, after which only the sign repeats; the whole length
/// when there is no repetition.
fn short(a: &[Lit]) -> usize {
    let top = a[a.len() - 1];
    let repeated = a.iter().rev().take_while(|&&l| l == top).count();
    a.len() + 1 - repeated
}

fn constants(a: &[Lit]) -> usize {
    a.iter().filter(|l| l.as_constant().is_some()).count()
}

/// Adds up columns of bits, column `k` counting 2^k, dropping what is carried past the top.
pub(crate) fn reduce_columns(g: &mut Gates, mut columns: Vec<Vec<Lit>>) -> Word {
    let width = columns.len();
    let mut sum = Vec::with_capacity(width);
    for k in 0..width {
        let mut column: std::collections::VecDeque<Lit> = std::mem::take(&mut columns[k]).into();
        while column.len() > 1 {
            let x = column.pop_front().expect("there are two bits");
            let y = column.pop_front().expect("there are two bits");
            let z = column.pop_front().unwrap_or(Lit::FALSE);
            let half = g.xor(x, y);
            column.push_back(g.xor(half, z));
            let carry = g.majority(x, y, z);
            if k + 1 < width && carry != Lit::FALSE {
                columns[k + 1].push(carry);
            }
        }
        sum.push(column.pop_front().unwrap_or(Lit::FALSE));
    }
    sum
}

/// Unsigned quotient and remainder by restoring division; by zero all ones and the dividend.
pub(crate) fn udivrem(g: &mut Gates, a: &[Lit], b: &[Lit]) -> (Word, Word) {
    let width = a.len();
    let divisor: Word = b.iter().copied().chain([Lit::FALSE]).collect();
    let mut rest = zeros(width + 1);
    let mut quotient = zeros(width);
    for k in (0..width).rev() {
        rest.pop();
        rest.insert(0, a[k]);
        let (difference, fits) = sub(g, &rest, &divisor);
        quotient[k] = fits;
        rest = mux(g, fits, &difference, &rest);
    }
    rest.truncate(width);
    (quotient, rest)
}

/// Signed quotient towards zero and remainder with the dividend's sign, as SMT-LIB.
pub(crate) fn sdivrem(g: &mut Gates, a: &[Lit], b: &[Lit]) -> (Word, Word) {
    let (sa, sb) = (a[a.len() - 1], b[b.len() - 1]);
    let (ua, ub) = (neg_if(g, sa, a), neg_if(g, sb, b));
    let (q, r) = udivrem(g, &ua, &ub);
    let differ = g.xor(sa, sb);
    (neg_if(g, differ, &q), neg_if(g, sa, &r))
}

/// `a < b` unsigned.
pub(crate) fn ult(g: &mut Gates, a: &[Lit], b: &[Lit]) -> Lit {
    let mut carry = Lit::TRUE; // of a + not(b) + 1: no borrow
    for (&x, &y) in a.iter().zip(b) {
        carry = g.majority(x, !y, carry);
    }
    !carry
}

/// `a < b` signed.
pub(crate) fn slt(g: &mut Gates, a: &[Lit], b: &[Lit]) -> Lit {
    let (mut a, mut b) = (a.to_vec(), b.to_vec());
    let top = a.len() - 1;
    (a[top], b[top]) = (!a[top], !b[top]);
    ult(g, &a, &b)
}

/// Whether all bits agree.
pub(crate) fn equal(g: &mut Gates, a: &[Lit], b: &[Lit]) -> Lit {
    a.iter().zip(b).fold(Lit::TRUE, |all, (&x, &y)| {
        let same = !g.xor(x, y);
        g.and(all, same)
    })
}

/// Right shift by a count of any length, `fill` coming in from the top.
pub(crate) fn shift_right(g: &mut Gates, a: &[Lit], count: &[Lit], fill: Lit) -> Word {
    let width = a.len();
    let mut out = a.to_vec();
    let mut past = Lit::FALSE;
    for (k, &bit) in count.iter().enumerate() {
        match 1usize
            .checked_shl(u32::try_from(k).expect("counts are short"))
            .filter(|&n| n < width)
        {
            Some(n) => {
                let moved: Word = (0..width)
                    .map(|i| out.get(i + n).copied().unwrap_or(fill))
                    .collect();
                out = mux(g, bit, &moved, &out);
            }
            None => past = g.or(past, bit),
        }
    }
    mux(g, past, &vec![fill; width], &out)
}

/// Left shift by a count of any length.
pub(crate) fn shift_left(g: &mut Gates, a: &[Lit], count: &[Lit]) -> Word {
    let reversed: Word = a.iter().rev().copied().collect();
    let mut out = shift_right(g, &reversed, count, Lit::FALSE);
    out.reverse();
    out
}
