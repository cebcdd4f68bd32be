//! Comparisons of exact integers, and what is made of them.
//!
//! In: values. Out: truth values, minima and maxima, absolute values. One shape for each
//! comparison: with a constant it is strict or the negation of a strict one. What the ranges
//! decide is decided.

use super::value::{Computed, Sym, Value, common, refuse, width_of};
use semantics::build as b;
use semantics::term::Term;

/// Equality.
pub(crate) fn equal(x: &Value, y: &Value) -> Computed<Term> {
    if let (Value::Token(p), Value::Token(q)) = (x, y) {
        return Ok(Term::bool(p == q));
    }
    if let (Some(p), Some(q)) = (x.known(), y.known()) {
        return Ok(Term::bool(p == q));
    }
    if let (Value::Address(_), k) | (k, Value::Address(_)) = (x, y)
        && k.known().is_some()
    {
        return refuse("an address is no number that is known");
    }
    let (p, q) = aligned(&x.number()?, &y.number()?);
    if let (Some(a), Some(c)) = (p.range, q.range)
        && (a.1 < c.0 || c.1 < a.0)
    {
        return Ok(Term::bool(false));
    }
    let (s, t, _) = common(&p, &q);
    if s.width() == 1 {
        if t.as_bits().is_some_and(|k| k.is_zero()) {
            return Ok(b::negate(b::eq(s, Term::bv(1, 1))));
        }
        if s.as_bits().is_some_and(|k| k.is_zero()) {
            return Ok(b::negate(b::eq(t, Term::bv(1, 1))));
        }
    }
    Ok(b::eq(s, t))
}

/// Moves the offset of one side to a constant other side, then makes both plain.
fn aligned(x: &Sym, y: &Sym) -> (Sym, Sym) {
    let moved = |s: &Sym, k: &Sym| -> Option<(Sym, Sym)> {
        let known = Value::Sym(k.clone()).known()?;
        if s.scale != 1 || s.offset == 0 {
            return None;
        }
        let base = Sym {
            offset: 0,
            ..s.clone()
        };
        let rest = Value::Int(known.checked_sub(s.offset)?).sym().ok()?;
        Some((base, rest))
    };
    if let Some((s, k)) = moved(x, y) {
        return (s, k);
    }
    if let Some((s, k)) = moved(y, x) {
        return (k, s);
    }
    (x.plainly(), y.plainly())
}

/// Strictly less.
pub(crate) fn less(x: &Value, y: &Value) -> Computed<Term> {
    ordered(x, y, true)
}

/// Less or equal.
pub(crate) fn at_most(x: &Value, y: &Value) -> Computed<Term> {
    ordered(x, y, false)
}

fn ordered(x: &Value, y: &Value, strict: bool) -> Computed<Term> {
    let (p, q) = aligned(&x.number()?, &y.number()?);
    if let (Some(a), Some(c)) = (p.range, q.range) {
        let always = if strict { a.1 < c.0 } else { a.1 <= c.0 };
        let never = if strict { a.0 >= c.1 } else { a.0 > c.1 };
        if always || never {
            return Ok(Term::bool(always));
        }
    }
    // One shape for comparisons with constants: strict, or its negation.
    if !strict
        && (Value::Sym(p.clone()).known().is_some() || Value::Sym(q.clone()).known().is_some())
    {
        return ordered(&Value::Sym(q), &Value::Sym(p), true).map(b::negate);
    }
    let (s, t, signed) = common(&p, &q);
    let zero = |k: Term| k.as_bits().is_some_and(|k| k.is_zero());
    Ok(match (signed, strict) {
        (false, true) if zero(s) => b::negate(equal(&Value::Sym(q), &Value::Int(0))?),
        (false, true) => b::ult(s, t),
        (false, false) => b::ule(s, t),
        (true, true) => b::slt(s, t),
        (true, false) => b::sle(s, t),
    })
}

/// The smaller or the larger.
pub(crate) fn extreme(x: &Value, y: &Value, largest: bool) -> Computed<Value> {
    let (p, q) = (x.number()?.plainly(), y.number()?.plainly());
    let (s, t, signed) = common(&p, &q);
    let term = match (signed, largest) {
        (false, false) => b::umin(s, t),
        (false, true) => b::umax(s, t),
        (true, false) => b::smin(s, t),
        (true, true) => b::smax(s, t),
    };
    let range = p.range.zip(q.range).map(|(a, c)| {
        if largest {
            (a.0.max(c.0), a.1.max(c.1))
        } else {
            (a.0.min(c.0), a.1.min(c.1))
        }
    });
    Ok(Value::Sym(Sym::ranged(term, signed, range)))
}

/// The absolute value.
pub(crate) fn absolute(x: &Value) -> Computed<Value> {
    if let Some(k) = x.known() {
        return Ok(Value::Int(k.abs()));
    }
    let s = x.number()?.plainly();
    if s.natural() {
        return Ok(Value::Sym(s));
    }
    let term = b::abs(s.term);
    let range = s.range.map(|(lo, hi)| (0, hi.max(-lo)));
    let all = Sym::ranged(term, false, range);
    let width = range.map_or(term.width(), |(lo, hi)| width_of(lo, hi).0);
    Ok(Value::Sym(Sym::ranged(all.cut(width), false, range)))
}
