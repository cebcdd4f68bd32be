//! The functions of block ciphers: substitutions, and arithmetic on bytes and bits without
//! carries.
//!
//! In: a name and argument values. Out: a value. Substitution tables are not written down:
//! each is the inverse in a field of 256 elements between two affine maps, and a table of
//! a body that is one of them is recognised. Texts that use these functions say what they
//! are only by their name; the meanings here are those of FIPS 197 and of GB/T 32907.

use crate::pseudocode::lower::value::{Computed, Value, refuse};
use semantics::build as b;
use semantics::galois::inverse;
use semantics::op::{Op, OpCode};
use semantics::term::Term;

/// Names of the functions, for suggestions.
pub(crate) const NAMES: [&str; 10] = [
    "inverse",
    "SubBytes",
    "InvSubBytes",
    "SubWord",
    "RotWord",
    "ShiftRows",
    "InvShiftRows",
    "MixColumns",
    "InvMixColumns",
    "MOD2",
];

/// The polynomial of AES and of GFNI.
const AES: u32 = 0x11b;

/// The most bits of a polynomial that is divided.
const WIDEST_DIVIDEND: u32 = 256;

/// An affine map of a byte: the exclusive or of its rotations by the set bits of `turns`,
/// and of a constant.
#[derive(Clone, Copy)]
struct Affine {
    turns: u8,
    constant: u8,
}

/// A substitution: an affine map, an inverse, an affine map.
#[derive(Clone, Copy)]
struct Substitution {
    before: Affine,
    polynomial: u32,
    after: Affine,
}

const NONE: Affine = Affine {
    turns: 1,
    constant: 0,
};
const INVERSE: Substitution = Substitution {
    before: NONE,
    polynomial: AES,
    after: NONE,
};
const AES_SUBSTITUTION: Substitution = Substitution {
    after: Affine {
        turns: 0b0001_1111,
        constant: 0x63,
    },
    ..INVERSE
};
const AES_BACK: Substitution = Substitution {
    before: Affine {
        turns: 0b0100_1010,
        constant: 0x05,
    },
    ..INVERSE
};
const SM4_SUBSTITUTION: Substitution = Substitution {
    before: Affine {
        turns: 0b1100_1011,
        constant: 0xd3,
    },
    polynomial: 0x1f5,
    after: Affine {
        turns: 0b1100_1011,
        constant: 0xd3,
    },
};

impl Affine {
    fn byte(self, x: u8) -> u8 {
        let turned = (0..8).filter(|k| self.turns >> k & 1 == 1);
        turned.fold(self.constant, |sum, k| sum ^ x.rotate_left(k))
    }

    fn term(self, x: Term) -> Term {
        let turned = (0..8).filter(|k| self.turns >> k & 1 == 1);
        let rotated = |k: u32| {
            if k == 0 {
                return x;
            }
            b::concat(&[b::extract(x, 0, 8 - k), b::extract(x, 8 - k, k)])
        };
        let sum = turned.map(rotated).reduce(b::xor).unwrap_or(b::zero(8));
        if self.constant == 0 {
            return sum;
        }
        b::xor(sum, Term::bv(8, i128::from(self.constant)))
    }
}

impl Substitution {
    fn byte(self, x: u8) -> u8 {
        self.after
            .byte(inverse(self.polynomial, self.before.byte(x)))
    }

    fn term(self, x: Term) -> Term {
        let op = Op::with(OpCode::GfInverse, self.polynomial);
        self.after.term(b::app(op, &[self.before.term(x)]))
    }
}

/// What a table of 256 bytes gives for an index, when it is a substitution known here.
pub(crate) fn substituted(table: &[i128], index: Term) -> Option<Term> {
    if table.len() != 256 || index.width() != 8 {
        return None;
    }
    let all = [INVERSE, AES_SUBSTITUTION, AES_BACK, SM4_SUBSTITUTION];
    let same = |s: &Substitution| {
        (0..=255u8)
            .zip(table)
            .all(|(x, &y)| i128::from(s.byte(x)) == y)
    };
    Some(all.into_iter().find(same)?.term(index))
}

/// The value of a call of one argument; none when there is no such function.
pub(super) fn one(name: &str, x: &Value) -> Option<Computed<Value>> {
    type Change = fn(&[Term]) -> Vec<Term>;
    let (width, change): (u32, Change) = match name {
        "inverse" => (8, |x| substitute(INVERSE, x)),
        "SubBytes" => (128, |x| substitute(AES_SUBSTITUTION, x)),
        "InvSubBytes" => (128, |x| substitute(AES_BACK, x)),
        "SubWord" => (32, |x| substitute(AES_SUBSTITUTION, x)),
        "RotWord" => (32, |x| moved(x, |n| (n + 1) % 4)),
        "ShiftRows" => (128, |x| moved(x, |n| 5 * n % 16)),
        "InvShiftRows" => (128, |x| moved(x, |n| 13 * n % 16)),
        "MixColumns" => (128, |x| columns(x, [2, 3, 1, 1])),
        "InvMixColumns" => (128, |x| columns(x, [14, 11, 13, 9])),
        _ => return None,
    };
    Some(x.bits(width).map(|term| {
        let bytes: Vec<Term> = (0..width / 8).map(|k| b::extract(term, 8 * k, 8)).collect();
        let mut out = change(&bytes);
        out.reverse();
        Value::unsigned(b::concat(&out))
    }))
}

/// The value of a call of two arguments; none when there is no such function.
pub(super) fn two(name: &str, x: &Value, y: &Value) -> Option<Computed<Value>> {
    match name {
        "MOD2" => Some(remainder(x, y)),
        _ => None,
    }
}

fn substitute(s: Substitution, bytes: &[Term]) -> Vec<Term> {
    bytes.iter().map(|&x| s.term(x)).collect()
}

/// Byte `n` of the result is byte `from(n)`.
fn moved(bytes: &[Term], from: fn(usize) -> usize) -> Vec<Term> {
    (0..bytes.len()).map(|n| bytes[from(n)]).collect()
}

/// Twice a byte in the field.
fn doubled(x: Term) -> Term {
    let shifted = b::concat(&[b::extract(x, 0, 7), b::zero(1)]);
    let carry = b::sext(b::extract(x, 7, 1), 8);
    b::xor(shifted, b::and(carry, Term::bv(8, 0x1b)))
}

/// A byte times a small factor in the field.
fn multiplied(x: Term, factor: u32) -> Term {
    let powers = std::iter::successors(Some(x), |&p| Some(doubled(p)));
    let chosen = (0..4)
        .zip(powers)
        .filter(|(k, _)| factor >> k & 1 == 1)
        .map(|(_, p)| p);
    chosen.reduce(b::xor).unwrap_or(b::zero(8))
}

/// Each byte of a column of four: the sum of its bytes times factors that go round.
fn columns(bytes: &[Term], factors: [u32; 4]) -> Vec<Term> {
    let byte = |n: usize| {
        let column = n / 4 * 4;
        let terms = (0..4).map(|k| multiplied(bytes[column + (n + k) % 4], factors[k]));
        terms.reduce(b::xor).unwrap_or(b::zero(8))
    };
    (0..bytes.len()).map(byte).collect()
}

/// The remainder of a polynomial over bits by a known one: long division, one bit of the
/// dividend after another.
fn remainder(x: &Value, y: &Value) -> Computed<Value> {
    let Some(divisor) = y.known().filter(|k| *k > 3) else {
        return refuse("the divisor of polynomials must be known, of degree 2 or more");
    };
    let degree = 127 - divisor.leading_zeros();
    let dividend = x.sym()?.plainly().term;
    if dividend.width() > WIDEST_DIVIDEND {
        return refuse(format!(
            "a dividend of more than {WIDEST_DIVIDEND} bits is not described"
        ));
    }
    let low = Term::bv(degree, divisor & ((1 << degree) - 1));
    let mut rest = b::zero(degree);
    for k in (0..dividend.width()).rev() {
        let carry = b::sext(b::extract(rest, degree - 1, 1), degree);
        let next = b::extract(dividend, k, 1);
        let shifted = b::concat(&[b::extract(rest, 0, degree - 1), next]);
        rest = b::xor(shifted, b::and(carry, low));
    }
    Ok(Value::unsigned(rest))
}
