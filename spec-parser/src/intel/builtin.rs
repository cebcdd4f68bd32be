//! The functions that bodies use without defining them.
//!
//! In: a name and argument values. Out: a value. Functions on floats are tried first,
//! see [`float`].

pub(super) mod carry;
pub(super) mod float;
pub(super) mod galois;
pub(super) mod library;
mod strings;

use crate::pseudocode::lower::compare;
use crate::pseudocode::lower::value::{self, Computed, Sym, Value};
use crate::pseudocode::width_in;
use semantics::build as b;

/// Names of the functions, for suggestions.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    INTEGERS
        .into_iter()
        .chain(float::NAMES)
        .chain(galois::NAMES)
        .chain(library::names())
        .chain(strings::NAMES)
}

const INTEGERS: [&str; 29] = [
    "Carry",
    "Borrow",
    "SignExtend16",
    "SignExtend32",
    "SignExtend64",
    "ZeroExtend16",
    "ZeroExtend32",
    "ZeroExtend64",
    "Saturate8",
    "Saturate16",
    "Saturate32",
    "SaturateU8",
    "SaturateU16",
    "SaturateU32",
    "SIGNED_DWORD_SATURATE",
    "UNSIGNED_DWORD_SATURATE",
    "Truncate8",
    "Truncate16",
    "Truncate32",
    "ABS",
    "MIN",
    "MAX",
    "POPCNT",
    "PopCount",
    "Signed",
    "Int8",
    "Int16",
    "Int32",
    "Int64",
];

/// The width in the name of a function.
fn numbered(name: &str, stem: &str) -> Option<u32> {
    width_in(name, stem, 128)
}

/// The width of `SignExtendN`.
pub(super) fn sign_extension(name: &str) -> Option<u32> {
    numbered(name, "SignExtend").or_else(|| numbered(name, "Sign_Extend"))
}

/// The value of a call; none when there is no such function.
pub(super) fn call(name: &str, args: &[Value]) -> Option<Computed<Value>> {
    match args {
        [x] => one(name, x),
        [x, y] => match name {
            "MIN" => Some(compare::extreme(x, y, false)),
            "MAX" => Some(compare::extreme(x, y, true)),
            _ => galois::two(name, x, y).or_else(|| strings::call(name, args)),
        },
        _ => strings::call(name, args),
    }
}

fn one(name: &str, x: &Value) -> Option<Computed<Value>> {
    if let Some(width) = sign_extension(name) {
        return Some(value::sign_extend(x, width));
    }
    if let Some(width) = numbered(name, "ZeroExtend").or_else(|| numbered(name, "Zero_Extend")) {
        return Some(value::zero_extend(x, width));
    }
    if let Some(width) = numbered(name, "Truncate") {
        return Some(x.bits(width).map(Value::unsigned));
    }
    if let Some(width) = numbered(name, "SaturateU").filter(|w| *w <= 64) {
        return Some(value::saturate(x, width, false));
    }
    if let Some(width) = numbered(name, "Saturate").filter(|w| *w <= 64) {
        return Some(value::saturate(x, width, true));
    }
    if numbered(name, "Int").is_some() {
        return Some(Ok(x.clone()));
    }
    Some(match name {
        "SIGNED_DWORD_SATURATE" => value::saturate(x, 32, true),
        "UNSIGNED_DWORD_SATURATE" => value::saturate(x, 32, false),
        "ABS" => compare::absolute(x),
        "Signed" | "Int" | "TRUNCATE" => Ok(x.clone()),
        "POPCNT" | "PopCount" => population(x),
        _ => return galois::one(name, x),
    })
}

/// The number of one bits.
pub(super) fn population(x: &Value) -> Computed<Value> {
    if let Some(k) = x.known().filter(|k| *k >= 0) {
        return Ok(Value::Int(i128::from(k.count_ones())));
    }
    let s = x.sym()?.plainly();
    let mut count = Sym::new(b::popcnt(s.term), false);
    if s.term.width() > 1 {
        count.range = Some((0, i128::from(s.term.width())));
    }
    Ok(Value::Sym(count))
}
