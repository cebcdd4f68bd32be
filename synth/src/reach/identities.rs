//! Identities of machine arithmetic, applied at random: other spellings of a value.
//!
//! In: a term, a number of steps, a seed. Out: an equal term that is written otherwise, as people
//! might. Every identity holds at every width. They are kept apart from what the search itself
//! knows ([`crate::alternatives`]), which has to see through them.

use semantics::bits::Bits;
use semantics::build as b;
use semantics::op::{Op, OpCode};
use semantics::random::Random;
use semantics::range::ends;
use semantics::subst::rebuild;
use semantics::term::Term;
use std::collections::{BTreeSet, HashMap};

/// A term in which so many values, one after the other, are written otherwise; none where no
/// identity applies.
pub fn written(t: Term, steps: usize, seed: u64) -> Option<Term> {
    let mut random = Random::new(seed);
    let mut now = t;
    for _ in 0..steps {
        let mut places = Vec::new();
        collect(now, &mut BTreeSet::new(), &mut places);
        if places.is_empty() {
            break;
        }
        let &(place, other) = random.pick(&places);
        now = replaced(now, place, other, &mut HashMap::new());
    }
    (now != t).then_some(now)
}

/// The values of a term that can be written otherwise, with every way to.
fn collect(t: Term, seen: &mut BTreeSet<Term>, out: &mut Vec<(Term, Term)>) {
    if !seen.insert(t) {
        return;
    }
    if let Some((op, args)) = t.as_app() {
        let others = spellings(op, args, t);
        let same = |other: &Term| *other != t && other.sort() == t.sort();
        out.extend(others.into_iter().filter(same).map(|other| (t, other)));
    }
    for child in t.children() {
        collect(child, seen, out);
    }
}

fn replaced(t: Term, place: Term, other: Term, memo: &mut HashMap<Term, Term>) -> Term {
    if t == place {
        return other;
    }
    if let Some(&done) = memo.get(&t) {
        return done;
    }
    let new = rebuild(t, |child, _| replaced(child, place, other, memo));
    memo.insert(t, new);
    new
}

/// Other spellings of an application.
pub fn spellings(op: Op, args: &[Term], t: Term) -> Vec<Term> {
    use OpCode as C;
    match (op.code, args) {
        (C::BvAdd, &[x, y]) => vec![b::sub(x, b::neg(y))],
        (C::BvSub, &[x, y]) => vec![b::add(x, b::neg(y)), b::not(b::add(b::not(x), y))],
        (C::BvAnd, &[x, y]) => vec![
            b::not(b::or(b::not(x), b::not(y))),
            b::sub(b::or(x, y), b::xor(x, y)),
        ],
        (C::BvOr, &[x, y]) => vec![
            b::add(b::xor(x, y), b::and(x, y)),
            b::not(b::and(b::not(x), b::not(y))),
        ],
        (C::BvXor, &[x, y]) => vec![
            b::sub(b::or(x, y), b::and(x, y)),
            b::or(b::and(x, b::not(y)), b::and(b::not(x), y)),
        ],
        (C::BvNot, &[x]) => vec![b::sub(b::neg(x), number(x, 1))],
        (C::BvNeg, &[x]) => vec![b::add(b::not(x), number(x, 1))],
        (C::Smin, &[x, y]) => vec![b::ite(b::slt(x, y), x, y), b::ite(b::sle(y, x), y, x)],
        (C::Smax, &[x, y]) => vec![b::ite(b::slt(x, y), y, x), b::ite(b::sle(y, x), x, y)],
        (C::Umin, &[x, y]) => vec![b::ite(b::ult(x, y), x, y), b::sub(x, difference(x, y))],
        (C::Umax, &[x, y]) => vec![b::ite(b::ult(x, y), y, x), b::add(y, difference(x, y))],
        (C::Abs, &[x]) => vec![
            b::smax(x, b::neg(x)),
            b::ite(b::slt(x, number(x, 0)), b::neg(x), x),
        ],
        (C::Ite, &[c, x, y]) => vec![b::ite(b::negate(c), y, x)],
        (C::BvUlt, &[x, y]) => vec![b::negate(b::ule(y, x))],
        (C::BvSlt, &[x, y]) => vec![b::negate(b::sle(y, x))],
        (C::Zext, &[x]) => extended(x, t.width()),
        (C::SatSS, &[x]) => clamped(x, op.params[0], true, true),
        (C::SatSU, &[x]) => clamped(x, op.params[0], true, false),
        (C::SatUU, &[x]) => clamped(x, op.params[0], false, false),
        (C::BvShl, &[x, by]) => scaled(x, by).into_iter().collect(),
        (C::BvLshr, &[x, by]) => divided(x, by).into_iter().collect(),
        (C::Rotl, &[x, by]) => turned(x, by).into_iter().collect(),
        _ => Vec::new(),
    }
}

fn number(like: Term, n: i128) -> Term {
    Term::bv(like.width(), n)
}

/// How much the first is more, without sign; 0 where it is less.
fn difference(x: Term, y: Term) -> Term {
    let wide = |t: Term| b::zext(t, x.width() + 1);
    b::sat_su(b::sub(wide(x), wide(y)), x.width())
}

/// A value with zeros above: by its sign and a mask.
fn extended(x: Term, to: u32) -> Vec<Term> {
    let ones = Term::bits(Bits::ones(x.width()).zext(to));
    vec![b::and(b::sext(x, to), ones)]
}

/// A saturation as bounds on the wide value, whose low bits are taken.
fn clamped(x: Term, to: u32, from_signed: bool, to_signed: bool) -> Vec<Term> {
    let w = x.width();
    if to >= w || to >= 100 {
        return Vec::new();
    }
    let (least, most) = ends(to, to_signed);
    let low = |t: Term| b::extract(t, 0, to);
    let (least, most) = (Term::bv(w, least), Term::bv(w, most));
    if !from_signed {
        return vec![low(b::umin(x, most)), low(b::ite(b::ult(most, x), most, x))];
    }
    vec![
        low(b::smax(b::smin(x, most), least)),
        low(b::smin(b::smax(x, least), most)),
        low(b::ite(b::slt(x, least), least, b::smin(x, most))),
    ]
}

/// A shift up by a constant as a product.
fn scaled(x: Term, by: Term) -> Option<Term> {
    let n = by.as_bits()?.to_u64().filter(|&n| n < x.width().into())?;
    let factor = Bits::from_u64(x.width(), 1).shl_u32(u32::try_from(n).ok()?);
    Some(b::mul(x, Term::bits(factor)))
}

/// A shift down by a constant as a quotient.
fn divided(x: Term, by: Term) -> Option<Term> {
    let n = by.as_bits()?.to_u64().filter(|&n| n < x.width().into())?;
    let divisor = Bits::from_u64(x.width(), 1).shl_u32(u32::try_from(n).ok()?);
    Some(b::udiv(x, Term::bits(divisor)))
}

/// A rotation by a constant as two shifts.
fn turned(x: Term, by: Term) -> Option<Term> {
    let w = i128::from(x.width());
    let n = i128::from(by.as_bits()?.to_u64()?);
    (0 < n && n < w).then(|| b::or(b::shl(x, number(x, n)), b::lshr(x, number(x, w - n))))
}
