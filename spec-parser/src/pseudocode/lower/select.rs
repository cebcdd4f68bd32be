//! One of two values, by a condition on operands.
//!
//! In: a truth value and two values. Out: a value. Counters that go up under a condition stay
//! sums, comparisons of the outcomes become minima and maxima; words and values without a
//! width stay choices.

use super::float;
use super::idiom;
use super::memory::Address;
use super::value::{Computed, Sym, Value, add, common};
use semantics::build as b;
use semantics::op::{Op, OpCode};
use semantics::term::Term;
use std::rc::Rc;

/// One bit of a truth value.
pub(crate) fn bit_of(c: Term) -> Term {
    if let Some(inner) = c.args_of(OpCode::Not) {
        return b::not(bit_of(inner[0]));
    }
    if let Some(args) = c.args_of(OpCode::Eq)
        && args[0].sort().width() == Some(1)
        && args[1] == Term::bv(1, 1)
    {
        return args[0];
    }
    b::bool_to_bit(c)
}

/// If-then-else on bits; comparisons of its arms become minimum and maximum, and guards
/// against shift counts that are too large go.
pub(crate) fn choose(c: Term, x: Term, y: Term) -> Term {
    if x.width() == 1 && x.as_bits().is_some() && y.as_bits().is_some() && x != y {
        let bit = bit_of(c);
        return if x == Term::bv(1, 1) {
            bit
        } else {
            b::not(bit)
        };
    }
    if let Some(shift) = idiom::guarded_shift(c, x, y) {
        return shift;
    }
    if let Some((op, args)) = c.as_app() {
        let (p, q) = (args[0], args.get(1).copied().unwrap_or(args[0]));
        let less = (p, q) == (x, y);
        if less || (q, p) == (x, y) {
            match op.code {
                OpCode::BvSlt | OpCode::BvSle if less => return b::smin(x, y),
                OpCode::BvSlt | OpCode::BvSle => return b::smax(x, y),
                OpCode::FLt => {
                    let code = if less { OpCode::FMin } else { OpCode::FMax };
                    return b::app(Op::with(code, op.params[0]), &[x, y]);
                }
                OpCode::BvUlt | OpCode::BvUle if less => return b::umin(x, y),
                OpCode::BvUlt | OpCode::BvUle => return b::umax(x, y),
                _ => {}
            }
        }
    }
    if let Some(t) = conditional_change(c, x, y) {
        return t;
    }
    b::ite(c, x, y)
}

/// `y ^ p` under a condition, else `y`: the condition moves to `p`, so that nests of such
/// choices stay as small as their text; likewise `y + 1`, and 1 or 0.
fn conditional_change(c: Term, x: Term, y: Term) -> Option<Term> {
    let width = x.width();
    let one = Term::bv(width, 1);
    if x == one && y == b::zero(width) {
        return Some(b::zext(bit_of(c), width));
    }
    let (op, args) = x.as_app()?;
    let change = match args {
        [p, q] if *p == y => *q,
        [p, q] if *q == y => *p,
        _ => return None,
    };
    match op.code {
        OpCode::BvXor => Some(b::xor(y, b::ite(c, change, b::zero(width)))),
        OpCode::BvAdd if change == one => Some(b::add(y, b::zext(bit_of(c), width))),
        _ => None,
    }
}

/// The value under a condition, else the other.
pub(crate) fn select(c: Term, x: &Value, y: &Value) -> Value {
    if let Some(choice) = c.as_bool() {
        return if choice { x.clone() } else { y.clone() };
    }
    if x == y {
        return x.clone();
    }
    if let Some(v) = float_or_literal(c, x, y) {
        return v;
    }
    match (x, y) {
        (Value::Address(p), Value::Address(q)) if p.base == q.base => {
            Value::Address(Box::new(Address {
                base: p.base,
                offset: select(c, &p.offset, &q.offset),
                bytes: p.bytes,
            }))
        }
        (Value::Truth(p), Value::Truth(q)) => Value::Truth(b::ite(c, *p, *q)),
        (Value::Token(_) | Value::Choice(..) | Value::Shifted(..) | Value::Pending(..), _)
        | (_, Value::Token(_) | Value::Choice(..) | Value::Shifted(..) | Value::Pending(..)) => {
            Value::Choice(c, Rc::new(x.clone()), Rc::new(y.clone()))
        }
        _ => select_numbers(c, x, y),
    }
}

/// What becomes of a value, on either side of a choice.
pub(crate) fn each(x: &Value, f: &impl Fn(&Value) -> Computed<Value>) -> Computed<Value> {
    match x {
        Value::Choice(c, x, y) => Ok(select(*c, &each(x, f)?, &each(y, f)?)),
        _ => f(x),
    }
}

/// A float, or a number with a fraction or zero in the same format: still a float. Other
/// integers may be patterns of bits.
fn float_or_literal(c: Term, x: &Value, y: &Value) -> Option<Value> {
    let literal = |v: &Value| matches!(v, Value::Real(_) | Value::Int(0));
    let (format, x, y) = match (x, y) {
        (Value::Sym(s), v) if literal(v) => {
            let format = float::format_of(x)?;
            (format, s.term, float::constant(float::number(v)?, format))
        }
        (v, Value::Sym(s)) if literal(v) => {
            let format = float::format_of(y)?;
            (format, float::constant(float::number(v)?, format), s.term)
        }
        _ => return None,
    };
    Some(float::float(b::ite(c, x, y), format))
}

fn select_numbers(c: Term, x: &Value, y: &Value) -> Value {
    if let (Some(p), Some(q)) = (x.known(), y.known()) {
        let (c, high, low) = if p > q {
            (c, p, q)
        } else {
            (b::negate(c), q, p)
        };
        if let Some(scale) = high.checked_sub(low) {
            let mut s = Sym::new(bit_of(c), false);
            (s.scale, s.offset) = (scale, low);
            return Value::Sym(s);
        }
    }
    match (x.sym(), y.sym()) {
        (Ok(p), Ok(q)) => {
            counted(c, &p, &q).map_or_else(|| Value::Sym(merge_syms(c, &p, &q)), Value::Sym)
        }
        _ => Value::Choice(c, Rc::new(x.clone()), Rc::new(y.clone())),
    }
}

/// `s·t + o + s·n` under `c`, else `s·t + o`: a counter that goes up by `n` steps.
fn counted(c: Term, p: &Sym, q: &Sym) -> Option<Sym> {
    if p.term != q.term || p.signed != q.signed || p.scale != q.scale {
        return None;
    }
    let step = p.offset.checked_sub(q.offset)?;
    if step <= 0 || step % q.scale != 0 {
        return None;
    }
    let mut bit = Sym::new(bit_of(c), false);
    bit.scale = step / q.scale;
    let base = Sym {
        scale: 1,
        offset: 0,
        ..q.clone()
    };
    let sum = add(&Value::Sym(base), &Value::Sym(bit)).ok()?.sym().ok()?;
    Some(Sym {
        scale: q.scale,
        offset: q.offset,
        ..sum.plainly()
    })
}

pub(crate) fn merge_syms(c: Term, p: &Sym, q: &Sym) -> Sym {
    let (p, q) = (p.plainly(), q.plainly());
    let (s, t, signed) = common(&p, &q);
    let range = p
        .range
        .zip(q.range)
        .map(|(a, d)| (a.0.min(d.0), a.1.max(d.1)));
    let chosen = choose(c, s, t);
    let range = range
        .zip(p.range.zip(q.range))
        .map(|(all, (a, d))| match chosen.as_app() {
            Some((op, _)) if op.code == OpCode::Smax => (a.0.max(d.0), all.1),
            Some((op, _)) if op.code == OpCode::Smin => (all.0, a.1.min(d.1)),
            _ => all,
        });
    let mut out = Sym::ranged(chosen, signed, range);
    if p.class == q.class && p.element == q.element {
        (out.class, out.element, out.raw) = (p.class, p.element, p.raw && q.raw);
    }
    out
}
