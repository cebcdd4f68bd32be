//! ASL's operators and functions on bits and integers.
//!
//! In: a name or an operator and values. Out: a value, or why there is none. Integers are
//! exact until a function gives them a width.

use super::tree::{BITS_OF, INTEGER, LITERAL, SIZED};
use crate::pseudocode::ast::BinaryOp;
use crate::pseudocode::lower::compare::{absolute, equal, extreme};
use crate::pseudocode::lower::memory::Address;
use crate::pseudocode::lower::select::each;
use crate::pseudocode::lower::shift::{both_ways, exact};
use crate::pseudocode::lower::value::{self, Computed, Sym, Value, counted, refuse, saturate};
use crate::pseudocode::tree::CONCAT;
use semantics::build as b;
use semantics::table::MAX_WIDTH;
use semantics::term::Term;

/// Names of the functions, for suggestions.
pub(super) const NAMES: &[&str] = &[
    "UInt",
    "SInt",
    "Int",
    "Zeros",
    "Ones",
    "ZeroExtend",
    "SignExtend",
    "Extend",
    "Replicate",
    "Abs",
    "Min",
    "Max",
    "SignedSat",
    "UnsignedSat",
    "Sat",
    "SignedSatQ",
    "UnsignedSatQ",
    "SatQ",
    "LSL",
    "LSR",
    "ASR",
    "ROL",
    "ROR",
    "BitCount",
    "CountLeadingZeroBits",
    "CountLeadingSignBits",
    "PolynomialMult",
    "Reverse",
    "IsZero",
];

/// The value of a call; none when there is no such function on so many values.
pub(super) fn call(name: &str, args: &[Value]) -> Option<Computed<Value>> {
    let (name, part) = match name.split_once('.') {
        Some((name, part)) => (name, Some(part)),
        None => (name, None),
    };
    if let Some(part) = part {
        return several(name, part, args);
    }
    match args {
        [x] => one(name, x),
        [x, y] => two(name, x, y),
        [x, y, z] => three(name, x, y, z),
        _ => None,
    }
}

/// A part of what a function with several values returns.
fn several(name: &str, part: &str, args: &[Value]) -> Option<Computed<Value>> {
    let (x, width, signed) = match (name, args) {
        ("SignedSatQ", [x, n]) => (x, n, Ok(true)),
        ("UnsignedSatQ", [x, n]) => (x, n, Ok(false)),
        ("SatQ", [x, n, u]) => (x, n, truth(u).map(|u| !u)),
        _ => return None,
    };
    let value = |signed: bool| saturated(x, width, signed);
    match part {
        "0" => Some(signed.and_then(value)),
        "1" => Some(signed.and_then(|signed| {
            let bits = value(signed)?;
            let exact = exact(x)?;
            let back = integer(&bits, signed)?;
            equal(&exact, &back).map(|same| Value::Truth(b::negate(same)))
        })),
        _ => None,
    }
}

fn one(name: &str, x: &Value) -> Option<Computed<Value>> {
    Some(match name {
        BITS_OF => address(x),
        "UInt" => integer(x, false),
        "SInt" => integer(x, true),
        INTEGER => match x.width() {
            Some(width) => refuse(format!("this has {width} bits: write UInt or SInt of it")),
            None => Ok(x.clone()),
        },
        "Zeros" => width(x).map(|w| Value::of_bits(b::zero(w))),
        "Ones" => width(x).map(|w| Value::of_bits(b::not(b::zero(w)))),
        "Abs" => plain(x).and_then(|x| absolute(&x)),
        "BitCount" => bits(x).map(|t| counted(b::popcnt(t))),
        "CountLeadingZeroBits" => bits(x).map(|t| counted(b::clz(t))),
        "CountLeadingSignBits" => bits(x).map(leading_signs),
        "IsZero" => bits(x).map(|t| Value::Truth(b::eq(t, b::zero(t.width())))),
        "Reverse" => bits(x).map(|t| {
            let all: Vec<Term> = (0..t.width()).map(|k| b::extract(t, k, 1)).collect();
            Value::of_bits(b::concat(&all))
        }),
        _ => return None,
    })
}

fn two(name: &str, x: &Value, y: &Value) -> Option<Computed<Value>> {
    Some(match name {
        "Int" => truth(y).and_then(|unsigned| integer(x, !unsigned)),
        "ZeroExtend" => widened(x, y, false),
        "SignExtend" => widened(x, y, true),
        "Replicate" => replicated(x, y),
        "Min" => plain(x).and_then(|x| extreme(&x, &plain(y)?, false)),
        "Max" => plain(x).and_then(|x| extreme(&x, &plain(y)?, true)),
        "SignedSat" => saturated(x, y, true),
        "UnsignedSat" => saturated(x, y, false),
        "LSL" => shifted(x, y, b::shl),
        "LSR" => shifted(x, y, b::lshr),
        "ASR" => shifted(x, y, b::ashr),
        "ROL" => shifted(x, y, b::rotl),
        "ROR" => shifted(x, y, b::rotr),
        "PolynomialMult" => polynomial(x, y),
        CONCAT => bits(x).and_then(|p| Ok(Value::of_bits(b::concat(&[p, bits(y)?])))),
        SIZED => sized(x, y),
        LITERAL => literal(x, y),
        _ => return None,
    })
}

fn three(name: &str, x: &Value, y: &Value, z: &Value) -> Option<Computed<Value>> {
    Some(match name {
        "Sat" => truth(z).and_then(|unsigned| saturated(x, y, !unsigned)),
        "Extend" => truth(z).and_then(|unsigned| widened(x, y, !unsigned)),
        _ => return None,
    })
}

/// The address of a byte, whose offset becomes one in bits.
fn address(x: &Value) -> Computed<Value> {
    let Value::Address(a) = x else {
        return refuse("this is no address: add a number of bytes to a pointer");
    };
    let offset = value::mul(&a.offset, &Value::Int(8))?;
    Ok(Value::Address(Box::new(Address {
        base: a.base,
        offset,
        bytes: false,
    })))
}

/// The bits of a value of bits.
pub(super) fn bits(x: &Value) -> Computed<Term> {
    match x.width() {
        Some(width) => x.bits(width),
        None => refuse("this is no bits: give the integer a width with a slice"),
    }
}

/// Bits as an integer.
fn integer(x: &Value, signed: bool) -> Computed<Value> {
    bits(x).map(|t| Value::Sym(Sym::new(t, signed)))
}

/// An integer, not bits.
fn plain(x: &Value) -> Computed<Value> {
    match x.width() {
        Some(width) => refuse(format!("this has {width} bits: write UInt or SInt of it")),
        None => exact(x),
    }
}

/// A width that is known.
pub(super) fn width(x: &Value) -> Computed<u32> {
    let known = x.known().and_then(|k| u32::try_from(k).ok());
    match known.filter(|w| (1..=MAX_WIDTH).contains(w)) {
        Some(width) => Ok(width),
        None => refuse(format!("a width is a known number from 1 to {MAX_WIDTH}")),
    }
}

/// A truth value that is known.
pub(super) fn truth(x: &Value) -> Computed<bool> {
    match x {
        Value::Truth(c) if c.as_bool().is_some() => Ok(c.as_bool() == Some(true)),
        Value::Int(k @ (0 | 1)) => Ok(*k == 1),
        _ => refuse("this must be a known truth value"),
    }
}

/// How many bits after the first are equal to it, in a row.
fn leading_signs(t: Term) -> Value {
    let width = t.width();
    if width == 1 {
        return Value::Int(0);
    }
    let changes = b::xor(b::extract(t, 1, width - 1), b::extract(t, 0, width - 1));
    counted(b::clz(changes))
}

fn widened(x: &Value, to: &Value, signed: bool) -> Computed<Value> {
    let (term, to) = (bits(x)?, width(to)?);
    if to < term.width() {
        return refuse(format!("{} bits do not extend to {to}", term.width()));
    }
    Ok(Value::of_bits(value::fit(term, signed, to)))
}

fn replicated(x: &Value, times: &Value) -> Computed<Value> {
    let (term, times) = (bits(x)?, width(times)?);
    if term
        .width()
        .checked_mul(times)
        .is_none_or(|w| w > MAX_WIDTH)
    {
        return refuse(format!("at most {MAX_WIDTH} bits are written"));
    }
    Ok(Value::of_bits(b::concat(&vec![term; times as usize])))
}

fn sized(width_of: &Value, x: &Value) -> Computed<Value> {
    let declared = width(width_of)?;
    match bits(x)?.width() {
        own if own == declared => Ok(x.clone()),
        own => refuse(format!("this has {own} bits, not {declared}")),
    }
}

fn literal(digits: &Value, length: &Value) -> Computed<Value> {
    let (Some(number), width) = (digits.known(), width(length)?) else {
        return refuse("this is no string of bits");
    };
    Ok(Value::of_bits(Term::bv(width, number)))
}

/// A shift or a rotation of bits; it keeps their width.
fn shifted(x: &Value, count: &Value, op: fn(Term, Term) -> Term) -> Computed<Value> {
    let term = bits(x)?;
    let count = count.number()?.plainly();
    if !count.natural() {
        return refuse("this count may be negative");
    }
    let by = value::shift_count(&count, term.width());
    Ok(Value::of_bits(op(term, by)))
}

/// The product of two polynomials over bits, as wide as both together.
fn polynomial(x: &Value, y: &Value) -> Computed<Value> {
    let (p, q) = (bits(x)?, bits(y)?);
    let width = p.width() + q.width();
    if width > MAX_WIDTH {
        return refuse(format!("at most {MAX_WIDTH} bits are written"));
    }
    let wide = b::zext(p, width);
    let none = b::zero(width);
    let parts = (0..q.width()).map(|k| {
        let shifted = match k {
            0 => wide,
            _ => b::concat(&[b::extract(wide, 0, width - k), b::zero(k)]),
        };
        b::ite(b::eq(b::extract(q, k, 1), Term::bv(1, 1)), shifted, none)
    });
    Ok(Value::of_bits(
        parts.reduce(b::xor).expect("bits have a width"),
    ))
}

/// An integer clamped to a width. A choice is clamped on either side, so that what is not
/// shifted to the left stays narrow.
fn saturated(x: &Value, to: &Value, signed: bool) -> Computed<Value> {
    let to_width = width(to)?;
    if to_width > 64 {
        return refuse("integers saturate to at most 64 bits");
    }
    each(x, &|x| {
        let s = saturate(&plain(x)?, to_width, signed)?;
        s.bits(to_width).map(Value::of_bits)
    })
}

/// An operator with bits on one side at least.
pub(super) fn on_bits(op: BinaryOp, x: &Value, y: &Value) -> Computed<Value> {
    use BinaryOp as B;
    if x.width().is_some() && matches!(op, B::Shl | B::Shr) {
        return refuse("bits are shifted by LSL, LSR and ASR");
    }
    let (width, x, y) = match (x.width(), y.width()) {
        (Some(p), Some(q)) if p == q => (p, x, y),
        (Some(p), Some(q)) => {
            return refuse(format!("one side has {p} bits, the other {q}"));
        }
        // A sum with an integer has the width of the bits.
        (Some(p), None) if matches!(op, B::Add | B::Sub) => (p, x, y),
        _ => return refuse("one side is bits, the other is not: write UInt or SInt of the bits"),
    };
    let (p, q) = (x.bits(width)?, y.bits(width)?);
    Ok(match op {
        B::Add => Value::of_bits(b::add(p, q)),
        B::Sub => Value::of_bits(b::sub(p, q)),
        B::And => Value::of_bits(b::and(p, q)),
        B::Or => Value::of_bits(b::or(p, q)),
        B::Xor => Value::of_bits(b::xor(p, q)),
        B::Eq => Value::Truth(b::eq(p, q)),
        B::Ne => Value::Truth(b::negate(b::eq(p, q))),
        _ => return refuse("this works on integers: write UInt or SInt of the bits"),
    })
}

/// An operator on integers that ASL has in its own way.
pub(super) fn on_integers(op: BinaryOp, x: &Value, y: &Value) -> Option<Computed<Value>> {
    match op {
        BinaryOp::Shl => Some(both_ways(x, y, false)),
        BinaryOp::Shr => Some(both_ways(x, y, true)),
        BinaryOp::Div | BinaryOp::Rem => {
            let natural = |v: &Value| v.sym().is_ok_and(|s| s.plainly().natural());
            match natural(x) && natural(y) {
                true => None,
                false => Some(refuse("only what is never negative is divided")),
            }
        }
        BinaryOp::Eq | BinaryOp::Ne => truths(op, x, y),
        _ => None,
    }
}

/// Equality of truth values.
fn truths(op: BinaryOp, x: &Value, y: &Value) -> Option<Computed<Value>> {
    let (Value::Truth(p), Value::Truth(q)) = (x, y) else {
        return None;
    };
    let same = b::eq(*p, *q);
    Some(Ok(Value::Truth(match op {
        BinaryOp::Eq => same,
        _ => b::negate(same),
    })))
}
