//! Quotients by constants as products and shifts.
//!
//! In: a value and a constant. Out: an equal term without a division. That it is equal is
//! arithmetic, not search: with `m = ⌈2^(w+s) / d⌉` and `e = m·d − 2^(w+s)`, the quotient of every
//! `x < 2^n` is `⌊m·x / 2^(w+s)⌋` when `e·2^n ≤ 2^(w+s)` (Granlund and Montgomery, 1994); where no
//! `m < 2^w` is one, an even `d = 2^k·d'` divides `⌊x / 2^k⌋ < 2^(n-k)` by `d'`. What is
//! not a constant, or wider than 64 bits, is left alone; values of more than 32 bits have no wider product, so that
//! its upper half is put together of four of halves. A quotient rounded so that the remainder is
//! never negative is that of the value or of its complement: `⌊x/d⌋ = ¬⌊¬x/d⌋` for a negative `x`.

use semantics::build;
use semantics::division::Narrower;
use semantics::op::{Op, OpCode};
use semantics::range::range;
use semantics::term::Term;

fn app(op: Op, args: &[Term]) -> Option<Term> {
    Term::raw_app(op, args).ok()
}

fn two(code: OpCode, x: Term, y: Term) -> Option<Term> {
    app(Op::new(code), &[x, y])
}

fn number(width: u32, n: u128) -> Option<Term> {
    Some(Term::bv(width, i128::try_from(n).ok()?))
}

fn shifted(x: Term, by: u32) -> Option<Term> {
    two(OpCode::BvLshr, x, number(x.width(), by.into())?)
}

fn low(x: Term, width: u32) -> Option<Term> {
    app(Op::with(OpCode::Extract, width), &[x, Term::int(0)])
}

/// Whether values of a width are divided here: products of up to 32 bits are computed in twice the
/// width, others by halves, of which there have to be two alike.
fn is_divided(w: u32) -> bool {
    (2..=32).contains(&w) || w <= 64 && w.is_multiple_of(2)
}

/// Whether bits of a width are a negative number, and its magnitude.
fn magnitude(bits: u64, w: u32) -> (bool, u64) {
    match bits >> (w - 1) {
        0 => (false, bits),
        _ => (true, bits.wrapping_neg() & (u64::MAX >> (64 - w))),
    }
}

/// A quotient or remainder by a constant without a division: as it stands, not simplified.
pub fn by_constant(op: Op, args: &[Term]) -> Option<Term> {
    let &[x, divisor] = args else { return None };
    let w = x.sort().width().filter(|w| is_divided(*w))?;
    let d = divisor.as_bits()?.to_u64()?;
    let (negative, size) = magnitude(d, w);
    match op.code {
        OpCode::BvUdiv => unsigned(x, d, bits_of(x)),
        OpCode::BvSdiv if d != 0 => {
            let least = two(OpCode::BvSlt, x, number(w, 0)?)?;
            let minus = |t: Term| two(OpCode::BvSub, number(w, 0)?, t);
            let (up, down) = (unsigned(x, size, w)?, unsigned(minus(x)?, size, w)?);
            let sides = match negative {
                false => [least, minus(down)?, up],
                true => [least, down, minus(up)?],
            };
            app(Op::new(OpCode::Ite), &sides)
        }
        _ if d != 0 => left_over(op, args, by_constant),
        _ => None,
    }
}

/// A value without sign is below 2 to the power of so many bits, as far as its range tells.
fn bits_of(x: Term) -> u32 {
    match range(x) {
        (0.., most) => (i128::BITS - most.leading_zeros()).max(1),
        _ => x.width(),
    }
}

/// A remainder by the quotient; by 0 it is the dividend.
pub(crate) fn by_quotient(op: Op, args: &[Term]) -> Option<Term> {
    left_over(op, args, app)
}

/// What a quotient leaves, which is written in some way.
fn left_over(op: Op, args: &[Term], divide: fn(Op, &[Term]) -> Option<Term>) -> Option<Term> {
    let code = match op.code {
        OpCode::BvUrem => OpCode::BvUdiv,
        OpCode::BvSrem => OpCode::BvSdiv,
        _ => return None,
    };
    let multiple = two(OpCode::BvMul, divide(Op::new(code), args)?, args[1])?;
    two(OpCode::BvSub, args[0], multiple)
}

/// A quotient or remainder of a value that fits fewer bits by a constant that does: that at these bits, extended.
/// So is a remainder of two that were extended alike, and what is rounded so that no remainder is negative.
pub(crate) fn at_fewer_bits(op: Op, args: &[Term]) -> Option<Term> {
    if op.code == OpCode::Ite {
        return euclidean_of_extended(op, args);
    }
    let &[x, divisor] = args else { return None };
    let (signed, unsigned) = match op.code {
        OpCode::BvUdiv => (false, OpCode::BvUdiv),
        OpCode::BvUrem => (false, OpCode::BvUrem),
        OpCode::BvSdiv => (true, OpCode::BvUdiv),
        OpCode::BvSrem => (true, OpCode::BvUrem),
        _ => return None,
    };
    let Some(narrower) = narrower(signed, x, divisor) else {
        return remainder_of_extended(op, x, divisor);
    };
    let code = match narrower.extension {
        OpCode::Zext => unsigned,
        _ => op.code,
    };
    let result = two(code, narrower.dividend, narrower.by())?;
    app(Op::with(narrower.extension, x.width()), &[result])
}

/// A division at fewer bits, where values of these are divided.
fn narrower(signed: bool, x: Term, divisor: Term) -> Option<Narrower> {
    let found = Narrower::of(signed, x, divisor)?;
    is_divided(found.dividend.width()).then_some(found)
}

/// A remainder of two values that were extended alike; by 0 it is the first, and of the least one by -1 it is 0,
/// at any width.
fn remainder_of_extended(op: Op, x: Term, divisor: Term) -> Option<Term> {
    let (extension, extend): (_, fn(Term, u32) -> Term) = match op.code {
        OpCode::BvUrem => (OpCode::Zext, build::zext),
        OpCode::BvSrem => (OpCode::Sext, build::sext),
        _ => return None,
    };
    let inner = |t: Term| Some(t.args_of(extension)?[0]).filter(|t| is_divided(t.width()));
    let (own, other) = (inner(x)?, inner(divisor)?);
    let w = own.width().max(other.width());
    let rest = two(op.code, extend(own, w), extend(other, w))?;
    app(Op::with(extension, x.width()), &[rest])
}

/// A choice by the sign of the remainder of such a value, between low bits of a quotient or a remainder of it.
fn euclidean_of_extended(op: Op, args: &[Term]) -> Option<Term> {
    let &[negative, mended, plain] = args else {
        return None;
    };
    let &[rest, zero] = negative.args_of(OpCode::BvSlt)? else {
        return None;
    };
    let &[x, divisor] = rest.args_of(OpCode::BvSrem)? else {
        return None;
    };
    let narrower = narrower(true, x, divisor)?;
    let (inner, d) = (narrower.dividend, narrower.divisor);
    let (w, v) = (inner.width(), plain.sort().width()?);
    let is_zero = zero == build::zero(zero.width());
    if narrower.extension != OpCode::Sext || v < w || v > x.width() || !is_zero {
        return None;
    }
    let part = |t: Term| build::extract(t, 0, v);
    let own_rest = two(OpCode::BvSrem, inner, narrower.by())?;
    let (own, more) = if plain == part(rest) {
        (own_rest, d.abs())
    } else if plain == part(two(OpCode::BvSdiv, x, divisor)?) {
        let own = two(OpCode::BvSdiv, inner, narrower.by())?;
        (own, if d < 0 { 1 } else { -1 })
    } else {
        return None;
    };
    if mended != build::add(plain, Term::bv(v, more)) {
        return None;
    }
    let own_mended = build::add(own, Term::bv(w, more));
    let own_negative = two(OpCode::BvSlt, own_rest, build::zero(w))?;
    let narrow = euclidean(op, &[own_negative, own_mended, own])?;
    match v == w {
        true => Some(narrow),
        false => app(Op::with(OpCode::Sext, v), &[narrow]),
    }
}

/// A quotient of values that were extended alike by that of what they were.
pub(crate) fn narrowed(op: Op, args: &[Term]) -> Option<Term> {
    let signed = op.code == OpCode::BvSdiv;
    let extension = match op.code {
        OpCode::BvUdiv => OpCode::Zext,
        OpCode::BvSdiv => OpCode::Sext,
        _ => return None,
    };
    let inner = |t: Term| Some(t.args_of(extension)?[0]);
    let (x, y) = (inner(args[0])?, inner(args[1])?);
    let (w, width) = (x.width().max(y.width()), args[0].width());
    let at = |t: Term| match signed {
        true => build::sext(t, w),
        false => build::zext(t, w),
    };
    let (x, y) = (at(x), at(y));
    let quotient = two(op.code, x, y)?;
    if signed {
        return Some(build::extended_quotient(quotient, x, y, width));
    }
    let zero = build::eq(y, build::zero(w));
    Some(build::ite(
        zero,
        Term::bv(width, -1),
        build::zext(quotient, width),
    ))
}

/// The unsigned quotient of a value below `2^bits`: the upper part of a product, shifted.
fn unsigned(x: Term, d: u64, bits: u32) -> Option<Term> {
    let (w, d) = (x.width(), u128::from(d));
    match d {
        0 => return None,
        1 => return Some(x),
        _ if d.is_power_of_two() => return shifted(x, d.trailing_zeros()),
        _ => {}
    }
    if d > 1 << (w - 1) && w > 32 {
        return None;
    }
    let exact = |s: u32| {
        let m = (1u128 << (w + s)).div_ceil(d);
        let error = m * d - (1u128 << (w + s));
        (m < 1 << w && error << bits <= 1 << (w + s)).then_some((m, w + s))
    };
    if let Some((m, s)) = (0..w).find_map(exact) {
        return upper(x, m, s);
    }
    // Halves of even numbers need no factor of one bit more.
    if d.is_multiple_of(2) {
        let by = d.trailing_zeros();
        return unsigned(shifted(x, by)?, u64::try_from(d >> by).ok()?, bits - by);
    }
    // A factor of one bit more: its upper bit is the dividend itself, added by halves.
    let s = 128 - (d - 1).leading_zeros();
    let m = (1u128 << (w + s)).div_ceil(d) - (1 << w);
    let upper = upper(x, m, w)?;
    let rest = two(OpCode::BvSub, x, upper)?;
    shifted(two(OpCode::BvAdd, shifted(rest, 1)?, upper)?, s - 1)
}

/// A product with a number of the same width, from a bit of its upper half on.
fn upper(x: Term, m: u128, from: u32) -> Option<Term> {
    let w = x.width();
    if w > 32 {
        let high = upper_by_halves(x, m)?;
        return match from - w {
            0 => Some(high),
            by => shifted(high, by),
        };
    }
    let extend = |t: Term| app(Op::with(OpCode::Zext, 2 * w), &[t]);
    let product = two(OpCode::BvMul, extend(x)?, extend(number(w, m)?)?)?;
    low(shifted(product, from)?, w)
}

/// The upper half of a product by the products of halves: what the lower ones carry is added.
fn upper_by_halves(x: Term, m: u128) -> Option<Term> {
    let (w, half) = (x.width(), x.width() / 2);
    let parts = [low(x, half)?, low(shifted(x, half)?, half)?];
    let parts = parts.map(|t| app(Op::with(OpCode::Zext, w), &[t]));
    let of = |k: usize, n: u128| two(OpCode::BvMul, parts[k]?, number(w, n)?);
    let lower = |t: Term| app(Op::with(OpCode::Zext, w), &[low(t, half)?]);
    let add = |x: Term, y: Term| two(OpCode::BvAdd, x, y);
    let (m_low, m_high) = (m & ((1 << half) - 1), m >> half);
    let crossed = [of(1, m_low)?, of(0, m_high)?];
    let carried = add(shifted(of(0, m_low)?, half)?, lower(crossed[0])?)?;
    let carried = shifted(add(carried, lower(crossed[1])?)?, half)?;
    let high = add(of(1, m_high)?, shifted(crossed[0], half)?)?;
    add(add(high, shifted(crossed[1], half)?)?, carried)
}

/// A quotient or remainder by a constant that is not 0, rounded so that no remainder is negative:
/// a choice by the sign of the remainder, without it and without a division.
pub fn euclidean(op: Op, args: &[Term]) -> Option<Term> {
    let &[negative, mended, plain] = args else {
        return None;
    };
    let rest = *negative.args_of(OpCode::BvSlt)?.first()?;
    let &[x, divisor] = rest.args_of(OpCode::BvSrem)? else {
        return None;
    };
    let w = x.sort().width().filter(|w| is_divided(*w))?;
    let d = divisor.as_bits()?.to_u64().filter(|d| *d != 0)?;
    let (below, size) = magnitude(d, w);
    let is_zero = negative.args_of(OpCode::BvSlt)?[1] == number(w, 0)?;
    let is = |by: i128| {
        let sum = build::add(plain, Term::bv(w, by));
        mended == sum || mended == build::sub(plain, Term::bv(w, -by))
    };
    if op.code != OpCode::Ite || !is_zero || size >> (w - 1) == 1 {
        return None;
    }
    let quotient = |power: bool| -> Option<Term> {
        if power {
            let by = number(w, size.trailing_zeros().into())?;
            return two(OpCode::BvAshr, x, by);
        }
        let sign = two(OpCode::BvAshr, x, number(w, (w - 1).into())?)?;
        // A value or its complement, whichever is not negative.
        let magnitude = unsigned(two(OpCode::BvXor, x, sign)?, size, w - 1)?;
        two(OpCode::BvXor, magnitude, sign)
    };
    let power = size.is_power_of_two();
    if plain == rest && is(i128::from(size)) {
        if power {
            return two(OpCode::BvAnd, x, number(w, u128::from(size) - 1)?);
        }
        let whole = two(OpCode::BvMul, quotient(false)?, number(w, size.into())?)?;
        return two(OpCode::BvSub, x, whole);
    }
    if plain.args_of(OpCode::BvSdiv)? != [x, divisor] || !is(if below { 1 } else { -1 }) {
        return None;
    }
    match below {
        false => quotient(power),
        true => two(OpCode::BvSub, number(w, 0)?, quotient(power)?),
    }
}

#[cfg(test)]
mod tests {
    use super::{by_constant, euclidean};
    use crate::normalise::normalise;
    use semantics::build as b;
    use semantics::eval::{CompiledTerms, Input};
    use semantics::op::{Op, OpCode};
    use semantics::random::Random;
    use semantics::sort::Sort;
    use semantics::term::Term;

    /// Both on every dividend of 8 or 16 bits.
    fn holds(code: OpCode, width: u32, d: i128) {
        let x = Term::var("x", Sort::Bv(width));
        let args = [x, Term::bv(width, d)];
        let whole = b::app(Op::new(code), &args);
        let other = by_constant(Op::new(code), &args).expect("it is written otherwise");
        same_on_all(width, whole, other);
    }

    fn same_on_all(width: u32, whole: Term, other: Term) {
        let values: Vec<u64> = (0..1 << width).collect();
        same_on(width, whole, other, &values);
    }

    fn same_on(width: u32, whole: Term, other: Term, values: &[u64]) {
        let inputs = [Input {
            name: "x".to_owned(),
            sort: Sort::Bv(width),
        }];
        let program = CompiledTerms::compile(&[whole, other], &inputs).expect("both are closed");
        let mut frame = program.frame(values.len());
        program.input_words(&mut frame, 0).copy_from_slice(values);
        program.execute(&mut frame);
        let [is, wanted] = [0, 1].map(|k| program.output_words(&frame, k));
        assert_eq!(is, wanted, "{whole}");
    }

    /// The whole of a choice by the sign of a remainder, quotient or remainder, on every dividend.
    fn rounds_down(width: u32, d: i128, quotient: bool) {
        let x = Term::var("x", Sort::Bv(width));
        let by = Term::bv(width, d);
        let rest = b::srem(x, by);
        let (plain, more) = match quotient {
            true => (b::sdiv(x, by), if d < 0 { 1 } else { -1 }),
            false => (rest, d.abs()),
        };
        let negative = b::slt(rest, Term::bv(width, 0));
        let args = [negative, b::add(plain, Term::bv(width, more)), plain];
        let ite = Op::new(OpCode::Ite);
        let whole = b::app(ite, &args);
        let other = euclidean(ite, &args).expect("it is written otherwise");
        same_on_all(width, whole, other);
    }

    #[test]
    fn quotients_that_are_rounded_down_are_right_for_every_byte_and_many_of_two() {
        for d in (-127..=127).filter(|d| *d != 0) {
            rounds_down(8, d, true);
            rounds_down(8, d, false);
        }
        for d in [-32_767, -1000, -7, -2, -1, 1, 3, 7, 10, 16, 255, 12_345] {
            rounds_down(16, d, true);
            rounds_down(16, d, false);
        }
    }

    #[test]
    fn a_quotient_and_its_form_over_simplified_terms_have_one_normal_form() {
        let x = b::extract(Term::var("a", Sort::Bv(256)), 192, 64);
        let number = |n: i128| Term::bv(64, n);
        let rest = b::srem(x, number(10));
        let quotient = b::sdiv(x, number(10));
        let down = b::add(quotient, number(-1));
        let whole = b::ite(b::slt(rest, number(0)), down, quotient);
        let sign = b::ashr(x, number(63));
        let magnitude = b::xor(x, sign);
        let half = |lo| b::zext(b::extract(magnitude, lo, 32), 64);
        let upper = |t| b::zext(b::extract(t, 32, 32), 64);
        let lower = |t| b::zext(b::extract(t, 0, 32), 64);
        let by = |lo, factor| b::mul(half(lo), number(factor));
        let (high, low) = (0x6666_6666, 0x6666_6667);
        let carried = b::add(lower(by(32, low)), upper(by(0, low)));
        let carried = upper(b::add(carried, lower(by(0, high))));
        let sum = b::add(by(32, high), upper(by(32, low)));
        let sum = b::add(b::add(sum, upper(by(0, high))), carried);
        let other = b::xor(sign, b::lshr(sum, number(2)));
        assert_eq!(normalise(whole), normalise(other));
    }

    #[test]
    fn wide_quotients_are_right_at_edges_and_by_chance() {
        for width in [34, 40, 62, 64] {
            wide_quotients(width);
        }
        let x = Term::var("x", Sort::Bv(39));
        let odd = by_constant(Op::new(OpCode::BvUdiv), &[x, Term::bv(39, 7)]);
        assert!(odd.is_none(), "39 bits have no two halves");
    }

    fn wide_quotients(width: u32) {
        let mut random = Random::new(7);
        let most = u64::MAX >> (64 - width);
        let edges = [0, 1, 2, most, most - 1, most / 2 + 1, most / 2];
        for d in [2, 3, 5, 7, 10, 641, 1_000_000_007, 1 << 32, most / 2] {
            let near = (1..6).flat_map(|k: u64| {
                let multiple = d * (most / d / k);
                [multiple, multiple.wrapping_sub(1) & most]
            });
            let chance: Vec<u64> = (0..200).map(|_| random.next_bits() & most).collect();
            let values: Vec<u64> = edges.into_iter().chain(near).chain(chance).collect();
            let x = Term::var("x", Sort::Bv(width));
            let args = [x, Term::bv(width, i128::from(d))];
            use OpCode as C;
            for code in [C::BvUdiv, C::BvUrem, C::BvSdiv, C::BvSrem] {
                let whole = b::app(Op::new(code), &args);
                let other = by_constant(Op::new(code), &args).expect("it is written otherwise");
                same_on(width, whole, other, &values);
            }
        }
    }

    #[test]
    fn every_quotient_of_a_byte_and_many_of_two_are_right() {
        use OpCode as C;
        let codes = [C::BvUdiv, C::BvUrem, C::BvSdiv, C::BvSrem];
        for d in 1..256 {
            codes.iter().for_each(|&code| holds(code, 8, d));
        }
        for d in [
            1, 2, 3, 5, 6, 7, 10, 100, 641, 1000, 25_000, 32_767, 32_768, 65_535,
        ] {
            codes.iter().for_each(|&code| holds(code, 16, d));
        }
    }
}
