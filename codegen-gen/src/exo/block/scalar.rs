//! A function of one float as C.
//!
//! In: a term over the variable `x`, a float of 32 bits, whose value is a small signed
//! integer. Out: a statement that returns it as a float; nothing for operators that are not
//! needed for rounding and clamping.

use semantics::float::{Format, Rounding};
use semantics::op::OpCode;
use semantics::term::Term;

/// The variable.
pub(super) const X: &str = "x";

/// The body of the function.
pub(super) fn function(t: Term) -> Option<String> {
    Some(format!("return (float)({});", integer(t)?))
}

fn signed(t: Term) -> Option<i64> {
    let w = t.width();
    let value = t.as_bits()?.low_u64();
    (w <= 64).then(|| (value << (64 - w)).cast_signed() >> (64 - w))
}

/// A signed number.
fn integer(t: Term) -> Option<String> {
    if let Some(n) = signed(t) {
        return Some(n.to_string());
    }
    let (op, args) = t.as_app()?;
    Some(match op.code {
        OpCode::Smax | OpCode::Smin => {
            let (a, b) = (integer(args[0])?, integer(args[1])?);
            let sign = if op.code == OpCode::Smax { '<' } else { '>' };
            format!("({a} {sign} {b} ? {b} : {a})")
        }
        OpCode::Ite => {
            let (yes, no) = (integer(args[1])?, integer(args[2])?);
            format!("({} ? {yes} : {no})", condition(args[0])?)
        }
        OpCode::FToSint if op.params[2] == Rounding::Zero as u32 => {
            // What does not fit is the least number.
            let (w, x) = (op.params[1], float(args[0])?);
            let bound = (1_i64 << (w - 1)) as f32;
            let least = -(1_i64 << (w - 1));
            format!(
                "({x} >= {:?}f && {x} < {bound:?}f ? (int){x} : {least})",
                -bound
            )
        }
        _ => return None,
    })
}

fn condition(t: Term) -> Option<String> {
    let (op, args) = t.as_app()?;
    Some(match op.code {
        OpCode::FLe => format!("{} <= {}", float(args[0])?, float(args[1])?),
        OpCode::FUnord => {
            format!(
                "__builtin_isunordered({}, {})",
                float(args[0])?,
                float(args[1])?
            )
        }
        _ => return None,
    })
}

fn float(t: Term) -> Option<String> {
    if let Some(bits) = t.as_bits() {
        let value = f32::from_bits(u32::try_from(bits.low_u64()).ok()?);
        return value.is_finite().then(|| format!("{value:?}f"));
    }
    if t.as_var() == Some(X) {
        return Some(X.to_owned());
    }
    let (op, args) = t.as_app()?;
    let nearest = [Format::F32.code(), Rounding::NearestEven as u32];
    match op.code {
        OpCode::FRound if op.params[..2] == nearest => {
            Some(format!("__builtin_rintf({})", float(args[0])?))
        }
        _ => None,
    }
}
