//! Plain spellings: what people write for an operator, as the operator.
//!
//! In: an application whose operands are plain. Out: an equal, plainer one; nothing where it is
//! plain. Each rule holds at every width and makes a term smaller, so that they come to an end in
//! any order. Which instructions there are plays no part here.

use semantics::bits::Bits;
use semantics::build as b;
use semantics::op::{Op, OpCode};
use semantics::range::ends;
use semantics::term::Term;

/// A plainer way to write an application.
pub(super) fn plainer(t: Term) -> Option<Term> {
    use OpCode as C;
    let (op, args) = t.as_app()?;
    match (op.code, args) {
        (C::BvAdd, &[x, y]) => sum(x, y).or_else(|| sum(y, x)),
        (C::BvSub, &[x, y]) => difference(x, y),
        (C::BvNot, &[x]) => complement(x),
        (C::BvOr, &[x, y]) => either(x, y),
        (C::BvAnd, &[x, y]) => low_bits(x, y).or_else(|| low_bits(y, x)),
        (C::Smax, &[x, y]) => magnitude(x, y).or_else(|| magnitude(y, x)),
        (C::Ite, &[c, x, y]) => negated(c, x, y).or_else(|| chosen(c, x, y)),
        (C::Extract, &[x, _]) => saturation(op, args, x),
        _ => None,
    }
}

fn inverse(t: Term, code: OpCode) -> Option<Term> {
    Some(*t.args_of(code)?.first()?)
}

/// `~x` of what is a complement or a constant.
fn complement_of(t: Term) -> Option<Term> {
    match t.as_bits() {
        Some(bits) => Some(Term::bits(bits.not())),
        None => inverse(t, OpCode::BvNot),
    }
}

fn is_number(t: Term, n: i128) -> bool {
    t.as_bits().is_some() && t == Term::bv(t.width(), n)
}

/// Whether two terms are applied to the same two operands.
fn same_two(x: Term, one: OpCode, y: Term, other: OpCode) -> Option<(Term, Term)> {
    let (p, q) = (x.args_of(one)?, y.args_of(other)?);
    let same = p == q || p[..] == [q[1], q[0]];
    same.then_some((p[0], p[1]))
}

fn sum(x: Term, y: Term) -> Option<Term> {
    use OpCode as C;
    if let Some(y) = inverse(y, C::BvNeg) {
        // -1 - y is the complement.
        return Some(if is_number(x, -1) {
            b::not(y)
        } else {
            b::sub(x, y)
        });
    }
    if let (Some(x), true) = (inverse(x, C::BvNot), is_number(y, 1)) {
        return Some(b::neg(x));
    }
    if let (Some([p, q]), true) = (x.args_of(C::BvAdd), is_number(y, 1)) {
        for (p, q) in [(*p, *q), (*q, *p)] {
            if let Some(q) = inverse(q, C::BvNot) {
                return Some(b::sub(p, q));
            }
        }
    }
    if let Some((p, q)) = same_two(x, C::BvXor, y, C::BvAnd) {
        return Some(b::or(p, q));
    }
    // What is more than another, and the other: the greater.
    excess(y)
        .filter(|&(_, other)| other == x)
        .map(|(p, q)| b::umax(p, q))
}

fn difference(x: Term, y: Term) -> Option<Term> {
    use OpCode as C;
    if let Some(y) = inverse(y, C::BvNeg) {
        return Some(b::add(x, y));
    }
    if let (Some(x), true) = (inverse(x, C::BvNeg), is_number(y, 1)) {
        return Some(b::not(x));
    }
    if let Some((p, q)) = same_two(x, C::BvOr, y, C::BvXor) {
        return Some(b::and(p, q));
    }
    if let Some((p, q)) = same_two(x, C::BvOr, y, C::BvAnd) {
        return Some(b::xor(p, q));
    }
    excess(y)
        .filter(|&(one, _)| one == x)
        .map(|(p, q)| b::umin(p, q))
}

/// The values of a difference without sign that ends at 0.
fn excess(t: Term) -> Option<(Term, Term)> {
    let [x, y] = *t.args_of(OpCode::SatSU)?.first()?.args_of(OpCode::BvSub)? else {
        return None;
    };
    let (x, y) = (inverse(x, OpCode::Zext)?, inverse(y, OpCode::Zext)?);
    (x.sort() == t.sort() && y.sort() == t.sort()).then_some((x, y))
}

fn complement(x: Term) -> Option<Term> {
    use OpCode as C;
    let (op, args) = x.as_app()?;
    let &[p, q] = args else { return None };
    match op.code {
        C::BvAnd | C::BvOr => {
            let both = p.as_bits().is_none() || q.as_bits().is_none();
            let (p, q) = (complement_of(p)?, complement_of(q)?);
            let other = if op.code == C::BvAnd { b::or } else { b::and };
            both.then(|| other(p, q))
        }
        // ~(~p + q) is p - q.
        C::BvAdd => match (inverse(p, C::BvNot), inverse(q, C::BvNot)) {
            (Some(p), _) => Some(b::sub(p, q)),
            (None, Some(q)) => Some(b::sub(q, p)),
            (None, None) => None,
        },
        C::BvSub => Some(b::add(inverse(p, C::BvNot)?, q)),
        _ => None,
    }
}

/// `p & ~q | ~p & q`.
fn either(x: Term, y: Term) -> Option<Term> {
    let (first, second) = (x.args_of(OpCode::BvAnd)?, y.args_of(OpCode::BvAnd)?);
    let turned = |p: Term, q: Term| complement_of(p) == Some(q) || complement_of(q) == Some(p);
    let (p, q) = (first[0], first[1]);
    let (r, s) = (second[0], second[1]);
    let crossed = turned(p, r) && turned(q, s) || turned(p, s) && turned(q, r);
    let plain = |t: Term| inverse(t, OpCode::BvNot);
    if !crossed {
        return None;
    }
    match (plain(p), plain(q)) {
        (None, Some(q)) => Some(b::xor(p, q)),
        (Some(p), None) => Some(b::xor(p, q)),
        _ => None,
    }
}

/// The low bits of an extension with the sign are one with zeros.
fn low_bits(x: Term, ones: Term) -> Option<Term> {
    let inner = inverse(x, OpCode::Sext)?;
    let all = Bits::ones(inner.width()).zext(x.width());
    (*ones.as_bits()? == all).then(|| b::zext(inner, x.width()))
}

fn magnitude(x: Term, y: Term) -> Option<Term> {
    (inverse(y, OpCode::BvNeg)? == x).then(|| b::abs(x))
}

fn negated(c: Term, x: Term, y: Term) -> Option<Term> {
    Some(b::ite(inverse(c, OpCode::Not)?, y, x))
}

/// A choice by a comparison between what is compared, or between the low bits of it.
fn chosen(c: Term, x: Term, y: Term) -> Option<Term> {
    use OpCode as C;
    let (op, compared) = c.as_app()?;
    let (least, most) = match op.code {
        C::BvSlt | C::BvSle => (C::Smin, C::Smax),
        C::BvUlt | C::BvUle => (C::Umin, C::Umax),
        _ => return None,
    };
    let &[p, q] = compared else { return None };
    let w = x.sort().width()?;
    if w > p.width() {
        return None;
    }
    let low = |t: Term| b::extract(t, 0, w);
    let signed = matches!(op.code, C::BvSlt | C::BvSle);
    if signed && w == p.width() {
        let zero = is_number(q, 0) && p == y && inverse(x, C::BvNeg) == Some(p);
        let zero = zero || is_number(p, 0) && q == x && inverse(y, C::BvNeg) == Some(q);
        if zero {
            return Some(b::abs(if is_number(q, 0) { p } else { q }));
        }
    }
    if (x, y) == (low(p), low(q)) {
        return Some(low(b::app(Op::new(least), &[p, q])));
    }
    if (x, y) == (low(q), low(p)) {
        return Some(low(b::app(Op::new(most), &[p, q])));
    }
    signed.then(|| bounded([p, q], x, y))?
}

/// `p < c ? c : min(p, m)` with `c <= m`, with signs: both bounds; and the same from above.
fn bounded([p, q]: [Term; 2], x: Term, y: Term) -> Option<Term> {
    use OpCode as C;
    let low = |t: Term| b::extract(t, 0, x.width());
    let value = |t: Term| t.as_bits().map(Bits::to_i128);
    // The rest is the low bits of the value with one bound.
    let rest = |t: Term| match t.width() == p.width() {
        true => Some(t),
        false => Some(t.args_of(C::Extract).filter(|a| is_first(a))?[0]),
    };
    let bound = |code: C, of: Term, t: Term| {
        let inner = rest(t)?;
        let parts = inner.args_of(code)?;
        let (first, second) = (parts[0], parts[1]);
        let other = if first == of { second } else { first };
        let has = first == of || second == of;
        Some((inner, value(other)??)).filter(|_| has)
    };
    if let Some(Some(c)) = value(q)
        && x == low(q)
        && let Some((inner, m)) = bound(C::Smin, p, y)
    {
        return (c <= m).then(|| low(b::smax(inner, q)));
    }
    if let Some(Some(c)) = value(p)
        && x == low(p)
        && let Some((inner, m)) = bound(C::Smax, q, y)
    {
        return (m <= c).then(|| low(b::smin(inner, p)));
    }
    None
}

fn is_first(extract: &[Term]) -> bool {
    extract.get(1).and_then(|lo| lo.as_int()) == Some(0)
}

/// The low bits of what is bounded by all that they can hold.
fn saturation(op: Op, args: &[Term], x: Term) -> Option<Term> {
    use OpCode as C;
    let to = op.params[0];
    if !is_first(args) || to > 64 || to >= x.width() {
        return None;
    }
    let w = x.width();
    let clip = |t: Term, code: C, bound: i128| {
        let parts = t.args_of(code)?;
        let bound = Term::bv(w, bound);
        match (parts[0] == bound, parts[1] == bound) {
            (true, _) => Some(parts[1]),
            (_, true) => Some(parts[0]),
            _ => None,
        }
    };
    if let Some(inner) = clip(x, C::Umin, ends(to, false).1) {
        return Some(b::sat_uu(inner, to));
    }
    let both = |signed: bool| {
        let (least, most) = ends(to, signed);
        let inside = |first, a, second, z| clip(clip(x, first, a)?, second, z);
        inside(C::Smin, most, C::Smax, least).or_else(|| inside(C::Smax, least, C::Smin, most))
    };
    match (both(true), both(false)) {
        (Some(inner), _) => Some(b::sat_ss(inner, to)),
        (_, Some(inner)) => Some(b::sat_su(inner, to)),
        _ => None,
    }
}
