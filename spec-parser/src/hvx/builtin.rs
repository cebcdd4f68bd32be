//! The notation's functions.
//!
//! In: a name and values. Out: a value, or why there is none; nothing where there is no such
//! function. Integers are exact until a function gives them a width.

use super::tree::{BYTES, IS_SET};
use crate::pseudocode::lower::compare::{absolute, equal, extreme};
use crate::pseudocode::lower::select::each;
use crate::pseudocode::lower::shift;
use crate::pseudocode::lower::value::{self, Computed, Sym, Value, counted, refuse};
use crate::pseudocode::width_in;
use semantics::build as b;
use semantics::term::Term;

/// Names of the functions, for suggestions.
pub(super) const NAMES: &[&str] = &[
    "VELEM",
    "SWAP",
    "sat8",
    "sat16",
    "sat32",
    "usat8",
    "usat16",
    "usat32",
    "sxt5",
    "sxt8",
    "sxt16",
    "sxt32",
    "zxt8",
    "zxt16",
    "zxt32",
    "abs",
    "min",
    "max",
    "count_ones",
    "count_leading_zeros",
    "count_leading_ones",
    "carry_from",
    "bytes_from",
];

/// The value of a call; none when there is no such function on so many values.
pub(super) fn call(name: &str, args: &[Value]) -> Option<Computed<Value>> {
    match args {
        [x] => one(name, x),
        [x, y] => two(name, x, y),
        [x, width, signed] if name == "element" => Some(element(x, width, signed)),
        [high, low, first] if name == "bytes_from" => Some(bytes_from(high, low, first)),
        [width, x, y, c] if name == "carry_from" => Some(carry(width, x, y, c)),
        _ => None,
    }
}

fn one(name: &str, x: &Value) -> Option<Computed<Value>> {
    if let Some(width) = width_in(name, "usat", 64) {
        return Some(saturated(x, width, false));
    }
    if let Some(width) = width_in(name, "sat", 64) {
        return Some(saturated(x, width, true));
    }
    if let Some(width) = width_in(name, "sxt", 64) {
        return Some(x.bits(width).map(|t| Value::Sym(Sym::new(t, true))));
    }
    if let Some(width) = width_in(name, "zxt", 64) {
        return Some(x.bits(width).map(Value::unsigned));
    }
    Some(match name {
        IS_SET => equal(x, &Value::Int(0)).map(|none| Value::Truth(b::negate(none))),
        "abs" => absolute(x),
        "count_ones" => x.sym().map(|s| counted(b::popcnt(s.plainly().term))),
        "count_leading_zeros" => x.sym().map(|s| counted(b::clz(s.plainly().term))),
        "count_leading_ones" => x.sym().map(|s| counted(b::clz(b::not(s.plainly().term)))),
        _ => return None,
    })
}

fn two(name: &str, x: &Value, y: &Value) -> Option<Computed<Value>> {
    Some(match name {
        "min" => extreme(x, y, false),
        "max" => extreme(x, y, true),
        BYTES => y.known().map_or_else(
            || refuse("how many bits of the predicate are written must be known"),
            |bits| bytes(x, bits),
        ),
        _ => return None,
    })
}

/// An element that was read, as its field says.
fn element(x: &Value, width: &Value, signed: &Value) -> Computed<Value> {
    let Some(width) = width.known().and_then(|w| u32::try_from(w).ok()) else {
        return refuse("the width of an element must be known");
    };
    x.bits(width)
        .map(|t| Value::Sym(Sym::new(t, signed.known() == Some(1))).settled())
}

/// An integer clamped to a width; a choice is clamped on either side.
fn saturated(x: &Value, width: u32, signed: bool) -> Computed<Value> {
    each(x, &|x| value::saturate(&shift::exact(x)?, width, signed))
}

/// The bytes of bits of a predicate: all of them where the value is a condition, else one for
/// each bit of a number.
fn bytes(x: &Value, bits: i128) -> Computed<Value> {
    let Some(count) = u32::try_from(bits).ok().filter(|n| (1..=64).contains(n)) else {
        return refuse("so many bits of a predicate are not written at a time");
    };
    each(x, &|x| match x {
        Value::Int(k) if count > 1 => {
            let byte = |n: u32| Term::bv(8, if k >> n & 1 == 1 { -1 } else { 0 });
            let all: Vec<Term> = (0..count).rev().map(byte).collect();
            Ok(Value::unsigned(b::concat(&all)))
        }
        _ => {
            let ones = Term::bv(8 * count, -1);
            let term = b::ite(x.truth()?, ones, b::zero(8 * count));
            Ok(Value::unsigned(term))
        }
    })
}

/// The carry out of a sum of two unsigned numbers of that width and a carry in.
fn carry(width: &Value, x: &Value, y: &Value, c: &Value) -> Computed<Value> {
    let Some(width) = width.known().and_then(|w| u32::try_from(w).ok()) else {
        return refuse("the width of a sum must be known");
    };
    let cut = |v: &Value| v.bits(width).map(Value::unsigned);
    let sum = value::add(
        &value::add(&cut(x)?, &cut(y)?)?,
        &Value::unsigned(c.bits(1)?),
    )?;
    let sum = sum.bits(width + 1)?;
    Ok(Value::Truth(b::eq(
        b::extract(sum, width, 1),
        Term::bv(1, 1),
    )))
}

/// A register's worth of bytes out of two registers, from a byte of the lower one on.
fn bytes_from(high: &Value, low: &Value, first: &Value) -> Computed<Value> {
    let (high, low) = (high.sym()?.plainly().term, low.sym()?.plainly().term);
    if high.width() != low.width() {
        return refuse("both registers have the same width");
    }
    let both = Value::unsigned(b::concat(&[high, low]));
    let bits = value::mul(first, &Value::Int(8))?;
    let moved = shift::both_ways(&both, &bits, true)?;
    moved.bits(low.width()).map(Value::unsigned)
}
