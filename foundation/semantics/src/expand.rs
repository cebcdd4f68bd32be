//! Operators defined by simpler ones, for solvers.
//!
//! In: an application's parameters and arguments. Out: an equal term over operators that
//! have an SMT-LIB symbol. The interpreter does not use these; a property test holds them
//! against the table's concrete functions.

use crate::bits::Bits;
use crate::build as b;
use crate::float::Format;
use crate::term::Term;

/// The count of a rotation, taken modulo the width.
fn rotation_count(a: &[Term]) -> Term {
    let w = a[0].width();
    let exact = w
        .checked_ilog2()
        .is_some_and(|n| n < 64 && 1u64 << n == u64::from(w));
    if exact {
        return b::and(a[1], Term::bv(w, i128::from(w) - 1));
    }
    b::urem(a[1], Term::bv(w, i128::from(w)))
}

pub(crate) fn rotl(_: &[u32], a: &[Term]) -> Term {
    let w = a[0].width();
    if w == 1 {
        return a[0];
    }
    let n = rotation_count(a);
    let rest = b::sub(Term::bv(w, i128::from(w)), n);
    b::or(b::shl(a[0], n), b::lshr(a[0], rest))
}

pub(crate) fn rotr(_: &[u32], a: &[Term]) -> Term {
    let w = a[0].width();
    if w == 1 {
        return a[0];
    }
    let n = rotation_count(a);
    let rest = b::sub(Term::bv(w, i128::from(w)), n);
    b::or(b::lshr(a[0], n), b::shl(a[0], rest))
}

/// Brings two bit vectors to the wider one's width, plus `spare` bits.
fn level(x: Term, y: Term, spare: u32) -> (Term, Term) {
    let w = x.width().max(y.width()) + spare;
    (b::zext(x, w), b::zext(y, w))
}

pub(crate) fn slice(p: &[u32], a: &[Term]) -> Term {
    let (x, off) = level(a[0], a[1], 0);
    let (x, off) = (
        b::zext(x, x.width().max(p[0])),
        b::zext(off, off.width().max(p[0])),
    );
    b::extract(b::lshr(x, off), 0, p[0])
}

/// A balanced tree of choices by the index bits; outside the vector the result is 0.
pub(crate) fn elem(p: &[u32], a: &[Term]) -> Term {
    let (x, idx, w) = (a[0], a[1], p[0]);
    let count = x.width().div_ceil(w);
    let bits = if count <= 1 {
        0
    } else {
        32 - (count - 1).leading_zeros()
    };
    let bits_used = bits.min(idx.width());
    let mut level: Vec<Term> = (0..1u32 << bits_used)
        .map(|k| {
            if k < count {
                b::extract(x, k * w, w)
            } else {
                Term::bits(Bits::zero(w))
            }
        })
        .collect();
    for bit in 0..bits_used {
        let chosen = b::bit(idx, bit);
        level = level
            .chunks(2)
            .map(|pair| b::ite(chosen, pair[1], pair[0]))
            .collect();
    }
    if idx.width() == bits_used {
        return level[0];
    }
    let high = b::extract(idx, bits_used, idx.width() - bits_used);
    let inside = b::eq(high, Term::bits(Bits::zero(high.width())));
    b::ite(inside, level[0], Term::bits(Bits::zero(w)))
}

pub(crate) fn insert(_: &[u32], a: &[Term]) -> Term {
    let w = a[0].width();
    let (base, off) = level(a[0], a[1], 0);
    let wide = base.width();
    let ones = b::zext(Term::bits(Bits::ones(a[2].width())), wide);
    let mask = b::shl(ones, off);
    let piece = b::shl(b::zext(a[2], wide), off);
    b::extract(b::or(b::and(base, b::not(mask)), piece), 0, w)
}

fn clamp(x: Term, p: u32, signed: bool, to_signed: bool) -> Term {
    let w = x.width() + 1;
    let wide = if signed { b::sext(x, w) } else { b::zext(x, w) };
    let max = Bits::ones(if to_signed { p - 1 } else { p }.max(1));
    let max = if to_signed && p == 1 {
        Bits::zero(w)
    } else {
        max.zext(w)
    };
    let min = if to_signed { max.not() } else { Bits::zero(w) };
    let (min, max) = (Term::bits(min), Term::bits(max));
    let upper = b::ite(
        b::slt(max, wide),
        b::extract(max, 0, p),
        b::extract(wide, 0, p),
    );
    b::ite(b::slt(wide, min), b::extract(min, 0, p), upper)
}

pub(crate) fn sat_ss(p: &[u32], a: &[Term]) -> Term {
    clamp(a[0], p[0], true, true)
}

pub(crate) fn sat_su(p: &[u32], a: &[Term]) -> Term {
    clamp(a[0], p[0], true, false)
}

pub(crate) fn sat_us(p: &[u32], a: &[Term]) -> Term {
    clamp(a[0], p[0], false, true)
}

pub(crate) fn sat_uu(p: &[u32], a: &[Term]) -> Term {
    clamp(a[0], p[0], false, false)
}

pub(crate) fn smin(_: &[u32], a: &[Term]) -> Term {
    b::ite(b::sle(a[0], a[1]), a[0], a[1])
}

pub(crate) fn smax(_: &[u32], a: &[Term]) -> Term {
    b::ite(b::sle(a[0], a[1]), a[1], a[0])
}

pub(crate) fn umin(_: &[u32], a: &[Term]) -> Term {
    b::ite(b::ule(a[0], a[1]), a[0], a[1])
}

pub(crate) fn umax(_: &[u32], a: &[Term]) -> Term {
    b::ite(b::ule(a[0], a[1]), a[1], a[0])
}

pub(crate) fn abs(_: &[u32], a: &[Term]) -> Term {
    b::ite(b::bit(a[0], a[0].width() - 1), b::neg(a[0]), a[0])
}

pub(crate) fn popcnt(_: &[u32], a: &[Term]) -> Term {
    let w = a[0].width();
    let bits = 32 - w.leading_zeros();
    let mut sums: Vec<Term> = (0..w)
        .map(|k| b::zext(b::extract(a[0], k, 1), bits.max(1)))
        .collect();
    while sums.len() > 1 {
        sums = sums
            .chunks(2)
            .map(|pair| {
                pair.iter()
                    .copied()
                    .reduce(b::add)
                    .expect("chunks are not empty")
            })
            .collect();
    }
    fit(sums[0], w)
}

pub(crate) fn clz(_: &[u32], a: &[Term]) -> Term {
    let w = a[0].width();
    let count = |n: u32| Term::bv(w, i128::from(n));
    (0..w).fold(count(w), |rest, k| {
        b::ite(b::bit(a[0], k), count(w - 1 - k), rest)
    })
}

pub(crate) fn ctz(_: &[u32], a: &[Term]) -> Term {
    let w = a[0].width();
    let count = |n: u32| Term::bv(w, i128::from(n));
    (0..w)
        .rev()
        .fold(count(w), |rest, k| b::ite(b::bit(a[0], k), count(k), rest))
}

fn fit(x: Term, w: u32) -> Term {
    if x.width() < w {
        b::zext(x, w)
    } else {
        b::extract(x, 0, w)
    }
}

fn float_nan(p: &[u32], x: Term) -> Term {
    let format = Format::from_code(p[0]).expect("the type rule checked the format");
    let (w, infinity) = (format.width(), i128::from(format.infinity()));
    let magnitude = b::extract(x, 0, w - 1);
    b::ult(Term::bv(w - 1, infinity), magnitude)
}

pub(crate) fn funord(p: &[u32], a: &[Term]) -> Term {
    b::either(float_nan(p, a[0]), float_nan(p, a[1]))
}

fn both_zero(a: &[Term]) -> Term {
    let w = a[0].width();
    let magnitudes = b::extract(b::or(a[0], a[1]), 0, w - 1);
    b::eq(magnitudes, b::zero(w - 1))
}

pub(crate) fn feq(p: &[u32], a: &[Term]) -> Term {
    let same = b::either(b::eq(a[0], a[1]), both_zero(a));
    b::both(b::negate(funord(p, a)), same)
}

pub(crate) fn flt(p: &[u32], a: &[Term]) -> Term {
    let sign = |x: Term| b::bit(x, x.width() - 1);
    let first_negative = b::ite(sign(a[1]), b::ult(a[1], a[0]), b::negate(both_zero(a)));
    let first_positive = b::both(b::negate(sign(a[1])), b::ult(a[0], a[1]));
    let less = b::ite(sign(a[0]), first_negative, first_positive);
    b::both(b::negate(funord(p, a)), less)
}

pub(crate) fn fle(p: &[u32], a: &[Term]) -> Term {
    b::either(flt(p, a), feq(p, a))
}

/// One bit of the control word for each class, from bit 0.
pub(crate) fn fclass(p: &[u32], a: &[Term]) -> Term {
    let f = Format::from_code(p[0]).expect("the type rule checked the format");
    let (x, w) = (a[0], f.width());
    let is = |pattern: u64| b::eq(x, Term::bits(Bits::from_u64(w, pattern)));
    let at = |lo: u32, width: u32, value: u64| {
        b::eq(
            b::extract(x, lo, width),
            Term::bits(Bits::from_u64(width, value)),
        )
    };
    let exponent_bits = w - 1 - f.fraction();
    let exponent = |value: u64| at(f.fraction(), exponent_bits, value);
    let special = exponent((1 << exponent_bits) - 1);
    let nan = b::both(special, b::negate(at(0, f.fraction(), 0)));
    let quiet = b::bit(x, f.fraction() - 1);
    let zero = at(0, w - 1, 0);
    let classes = [
        b::both(nan, quiet),
        is(0),
        is(f.sign()),
        is(f.infinity()),
        is(f.sign() | f.infinity()),
        b::both(exponent(0), b::negate(zero)),
        b::both(b::bit(x, w - 1), b::negate(b::either(special, zero))),
        b::both(nan, b::negate(quiet)),
    ];
    let asked = |(bit, class): (u32, &Term)| b::both(b::bit(a[1], bit), *class);
    let first = Term::bool(false);
    (0..8).zip(&classes).map(asked).fold(first, b::either)
}

pub(crate) fn fmin(p: &[u32], a: &[Term]) -> Term {
    b::ite(flt(p, a), a[0], a[1])
}

pub(crate) fn fmax(p: &[u32], a: &[Term]) -> Term {
    b::ite(flt(p, &[a[1], a[0]]), a[0], a[1])
}
