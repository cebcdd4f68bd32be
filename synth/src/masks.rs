//! Truth values as masks: elements of ones or zeros.
//!
//! In: a choice. Out: equal terms in which the choice is made by an element that is all ones
//! where the condition holds and zeros elsewhere: what machines compute that have no registers
//! for truth values. Who uses one proves it.

use crate::alternatives::floats;
use crate::alternatives::one_comparison;
use crate::fragment::constant_bits;
use crate::legal::{raw, resize, two};
use semantics::bits::Bits;
use semantics::op::{Op, OpCode};
use semantics::sort::Sort;
use semantics::term::Term;
use std::collections::HashSet;

/// Other ways to write a choice, or the complement of a mask, likeliest first.
pub(crate) fn by_masks(t: Term) -> Vec<Term> {
    let Sort::Bv(w) = t.sort() else {
        return Vec::new();
    };
    if let Some(&[x]) = t.args_of(OpCode::BvNot) {
        return two(OpCode::BvXor, x, Term::bits(Bits::ones(w)))
            .into_iter()
            .collect();
    }
    if let Some(bit) = extended_bit(t) {
        return bit.into_iter().collect();
    }
    let Some(&[c, x, y]) = t.args_of(OpCode::Ite) else {
        return Vec::new();
    };
    if !matches!(w, 8 | 16 | 32 | 64) || tests_mask(c) {
        return Vec::new();
    }
    let found = match (is_ones(x), is_zero(y)) {
        (true, true) => of_condition(c, w),
        _ => choices(c, x, y, w),
    };
    found.into_iter().flatten().collect()
}

/// A truth value that was made a bit and extended, as a choice of two numbers.
fn extended_bit(t: Term) -> Option<Option<Term>> {
    let (op, args) = t.as_app().filter(|(op, _)| op.code == OpCode::Zext)?;
    let choice = args[0].args_of(OpCode::Ite)?;
    let wide = |x: Term| Some(Term::bits(x.as_bits()?.zext(op.params[0])));
    let both = wide(choice[1]).zip(wide(choice[2]));
    Some(both.and_then(|(x, y)| raw(Op::new(OpCode::Ite), &[choice[0], x, y])))
}

fn not(x: Term) -> Option<Term> {
    raw(Op::new(OpCode::BvNot), &[x])
}

/// All ones where a condition holds, zeros elsewhere.
pub(crate) fn mask(c: Term, w: u32) -> Option<Term> {
    let (ones, zero) = (Term::bits(Bits::ones(w)), Term::bits(Bits::zero(w)));
    raw(
        Op::new(OpCode::Ite),
        &[other_numbers(c).unwrap_or(c), ones, zero],
    )
}

/// A comparison with ones or zeros that are not the terms which a mask is made of: what an
/// instruction compares with is its operand, what it makes is not.
fn other_numbers(c: Term) -> Option<Term> {
    let (op, args) = c.as_app()?;
    let apart = |t: Term| -> Option<Term> {
        if !matches!(t.sort(), Sort::Bv(8 | 16 | 32 | 64)) {
            return None;
        }
        let w = t.width();
        match (is_zero(t), is_ones(t)) {
            (true, _) => raw(Op::with(OpCode::Zext, w), &[Term::bits(Bits::zero(w / 2))]),
            (_, true) => raw(Op::with(OpCode::Sext, w), &[Term::bits(Bits::ones(w / 2))]),
            _ => Some(t),
        }
    };
    let args: Option<Vec<Term>> = args.iter().map(|&t| apart(t)).collect();
    raw(op, &args?)
}

fn is_ones(t: Term) -> bool {
    t.as_bits().is_some_and(|b| *b == Bits::ones(b.width()))
}

fn is_zero(t: Term) -> bool {
    t.as_bits().is_some_and(Bits::is_zero)
}

/// Whether a condition is the sign of a mask: what a choice was written as here.
fn tests_mask(c: Term) -> bool {
    c.args_of(OpCode::BvSlt)
        .is_some_and(|args| is_zero(args[1]) && is_mask(args[0]))
}

/// Whether an element is made of masks.
fn is_mask(t: Term) -> bool {
    let (mut seen, mut open) = (HashSet::from([t]), vec![t]);
    while let Some(t) = open.pop() {
        let Some((op, args)) = t.as_app() else {
            return false;
        };
        let of = match op.code {
            OpCode::Ite if is_ones(args[1]) && is_zero(args[2]) => &[],
            OpCode::BvNot | OpCode::Sext | OpCode::Extract => &args[..1],
            OpCode::BvAnd | OpCode::BvOr | OpCode::BvXor => args,
            _ => return false,
        };
        open.extend(of.iter().copied().filter(|&t| seen.insert(t)));
    }
    true
}

/// A choice between two values by the mask of its condition.
fn choices(c: Term, x: Term, y: Term, w: u32) -> Vec<Option<Term>> {
    use OpCode as C;
    let Some(m) = mask(c, w) else {
        return Vec::new();
    };
    let kept = |x: Term| two(C::BvAnd, m, x);
    let others = |y: Term| two(C::BvAnd, not(m)?, y);
    if is_zero(y) {
        return vec![kept(x)];
    }
    if is_zero(x) {
        return vec![others(y)];
    }
    if is_ones(x) {
        return vec![two(C::BvOr, m, y)];
    }
    if is_ones(y) {
        return vec![not(m).and_then(|m| two(C::BvOr, m, x))];
    }
    let sign = two(C::BvSlt, m, Term::bits(Bits::zero(w)));
    let blended = sign.and_then(|sign| raw(Op::new(C::Ite), &[sign, x, y]));
    let both = kept(x).zip(others(y)).and_then(|(x, y)| two(C::BvOr, x, y));
    vec![blended, both]
}

/// The mask of a condition by those of its parts, or of a comparison that machines have.
fn of_condition(c: Term, w: u32) -> Vec<Option<Term>> {
    use OpCode as C;
    let Some((op, args)) = c.as_app() else {
        return Vec::new();
    };
    let each = |k: usize| mask(args[k], w);
    let joined = |code: C| each(0).zip(each(1)).and_then(|(x, y)| two(code, x, y));
    match op.code {
        C::Not => return vec![each(0).and_then(not)],
        C::And => return vec![joined(C::BvAnd), one_comparison(c).and_then(|c| mask(c, w))],
        C::Or => return vec![joined(C::BvOr), one_comparison(c).and_then(|c| mask(c, w))],
        C::Eq if args[0].sort() == Sort::Bool => return vec![joined(C::BvXor).and_then(not)],
        C::Ite => {
            let first = each(0).zip(each(1)).and_then(|(p, q)| two(C::BvAnd, p, q));
            let second = each(0).and_then(not).zip(each(2));
            let second = second.and_then(|(p, r)| two(C::BvAnd, p, r));
            return vec![first.zip(second).and_then(|(q, r)| two(C::BvOr, q, r))];
        }
        _ => {}
    }
    let Some(v) = args.first().and_then(|x| x.sort().width()) else {
        return Vec::new();
    };
    if let Some(tested) = bits_tested(op, args) {
        return vec![mask(tested, w)];
    }
    match v.cmp(&w) {
        std::cmp::Ordering::Equal => compared(op, args, w),
        std::cmp::Ordering::Less if v >= 8 => vec![mask(c, v).and_then(|m| resize(m, w, true))],
        std::cmp::Ordering::Greater => vec![mask(c, v).and_then(|m| resize(m, w, false))],
        std::cmp::Ordering::Less => Vec::new(),
    }
}

/// A field that is compared with a number, as a comparison of the whole with other bits cleared.
fn bits_tested(op: Op, args: &[Term]) -> Option<Term> {
    let [x, number] = *args else { return None };
    let (field, number) = match (x.as_bits(), number.as_bits()) {
        (None, Some(bits)) => (x, bits),
        (Some(bits), None) => (number, bits),
        _ => return None,
    };
    let [whole, lo] = *field.args_of(OpCode::Extract)? else {
        return None;
    };
    let lo = u32::try_from(lo.as_int()?).ok()?;
    let regular = matches!(whole.width(), 8 | 16 | 32 | 64);
    if op.code != OpCode::Eq || !regular || matches!(field.width(), 8 | 16 | 32 | 64) {
        return None;
    }
    let place = |bits: &Bits| Term::bits(bits.zext(whole.width()).shl_u32(lo));
    let kept = two(OpCode::BvAnd, whole, place(&Bits::ones(field.width())))?;
    two(OpCode::Eq, kept, place(number))
}

/// The mask of a comparison at its own width by others. Elements of 64 bits have no minimum
/// that is not made of the comparison.
fn compared(op: Op, args: &[Term], w: u32) -> Vec<Option<Term>> {
    use OpCode as C;
    let [x, y] = *args else { return Vec::new() };
    let minimum = |x: Term, y: Term| two(C::Umin, x, y).filter(|_| w < 64);
    let test = |code: C, x: Term, y: Term| two(code, x, y).and_then(|c| mask(c, w));
    let flipped = |t: Term| match constant_bits(t) {
        Some(bits) => Some(Term::bits(bits.xor(&Bits::one(w).shl_u32(w - 1)))),
        None => two(C::BvXor, t, Term::bits(Bits::one(w).shl_u32(w - 1))),
    };
    match op.code {
        C::BvSle => vec![test(C::BvSlt, y, x).and_then(not)],
        C::BvUle => {
            let least = minimum(x, y).and_then(|least| test(C::Eq, least, x));
            let signed = flipped(y).zip(flipped(x));
            let signed = signed.and_then(|(y, x)| test(C::BvSlt, y, x));
            vec![least, signed.and_then(not)]
        }
        C::BvUlt => {
            let signed = flipped(x).zip(flipped(y));
            let signed = signed.and_then(|(x, y)| test(C::BvSlt, x, y));
            let least = minimum(x, y).and_then(|least| test(C::Eq, least, y));
            vec![signed, least.and_then(not)]
        }
        _ => {
            let others = floats::simpler(op, args).into_iter();
            others.map(|other| mask(other, w)).collect()
        }
    }
}
