//! Operations on integers of 64 bits, in C that has no wider type: machines with registers of 32
//! bits have none, and no compiler for them takes one.
//!
//! In: an operation with the types of its result and of its operands. Out: what its function does,
//! or nothing where 64 bits hold every value on the way, so that [`super::operation`] computes it
//! in them. Products to be shifted are not here: the kernel language has them up to 32 bits.

use super::operation::{c_type, clamped, constant};
use kernel::tree::Op;
use kernel::types::Elem;

/// What the function of an operation does; operands are `a` and `b`, a count of bits is `n`.
pub(super) fn body(op: Op, to: Elem, from: Elem) -> Option<String> {
    if op == Op::SatCast {
        return Some(saturated(to, from));
    }
    if from.bits() < 64 {
        return None;
    }
    let t = c_type(to);
    Some(match op {
        Op::Div | Op::Rem => divided(op, to),
        Op::SatAdd | Op::SatSub => clamped_sum(op, to),
        Op::Abs if !from.is_signed() => "return a;".to_owned(),
        Op::Abs => format!("return ({t})(a < 0 ? 0 - (uint64_t)a : (uint64_t)a);"),
        Op::Absd => {
            format!("return ({t})(a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a);")
        }
        // What both have, and half of what one has: Dietz's average without a carry.
        Op::Avg => "return (a | b) - ((a ^ b) >> 1);".to_owned(),
        Op::AvgFloor => "return (a & b) + ((a ^ b) >> 1);".to_owned(),
        Op::RoundShr => "if (n == 0 || n > 64)\n    return n == 0 ? a : 0;\n\
                         a >>= n - 1;\nreturn (a >> 1) + (a & 1);"
            .to_owned(),
        _ => return None,
    })
}

/// The nearest value of a type: one comparison where an end is no value of the other type.
fn saturated(to: Elem, from: Elem) -> String {
    let (t, v) = (
        c_type(to),
        if from.is_signed() {
            "int64_t"
        } else {
            "uint64_t"
        },
    );
    let clamp = match (from.is_signed(), to.is_signed(), to.bits()) {
        (true, true, 64) => "return v;".to_owned(),
        (true, false, 64) => format!("return v < 0 ? 0 : ({t})v;"),
        (signed, ..) => clamped(to, !signed),
    };
    format!("{v} v = a;\n{clamp}")
}

/// A sum or difference that wraps, unless what it wrapped past is in its signs.
fn clamped_sum(op: Op, to: Elem) -> String {
    let (min, max) = (constant(to, to.min()), constant(to, to.max()));
    match (op == Op::SatAdd, to.is_signed()) {
        (true, false) => format!("uint64_t v = a + b;\nreturn v < a ? {max} : v;"),
        (false, false) => "return a < b ? 0 : a - b;".to_owned(),
        (adds, true) => {
            let (sign, unlike) = if adds {
                ("+", "~(a ^ b)")
            } else {
                ("-", "(a ^ b)")
            };
            format!(
                "int64_t v = (int64_t)((uint64_t)a {sign} (uint64_t)b);\n\
                 return ({unlike} & (a ^ v)) >= 0 ? v : a < 0 ? {min} : {max};"
            )
        }
    }
}

/// A quotient or remainder that rounds down for a divisor above 0: only that of the least number
/// by -1 is no number.
fn divided(op: Op, to: Elem) -> String {
    let t = c_type(to);
    match (op, to.is_signed()) {
        (Op::Div, false) => "return b == 0 ? 0 : a / b;".to_owned(),
        (_, false) => "return b == 0 ? 0 : a % b;".to_owned(),
        (Op::Div, true) => format!(
            "if (b == 0 || b == -1)\n    return b == 0 ? 0 : ({t})(0 - (u{t})a);\n\
             {t} q = a / b;\nreturn a % b >= 0 ? q : b > 0 ? q - 1 : q + 1;"
        ),
        (_, true) => format!(
            "if (b == 0 || b == -1)\n    return 0;\n\
             {t} r = a % b;\nreturn r >= 0 ? r : b > 0 ? r + b : r - b;"
        ),
    }
}
