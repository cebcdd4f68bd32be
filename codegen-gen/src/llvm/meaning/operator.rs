//! Operators on integers and truth values, in vectors or alone.
//!
//! In: an operator, the values of its arguments. Out: the name of its result.

use super::super::text::Function;
use super::super::types::{self, integers};
use super::{bits, constant};
use semantics::bits::Bits;
use semantics::op::{Op, OpCode};
use semantics::term::Term;

/// Writes an operator that LLVM has, or that is a few lines of what it has.
pub(super) fn written(
    f: &mut Function<'_>,
    op: Op,
    terms: &[Term],
    args: &[Vec<Term>],
    x: &[String],
) -> Result<String, String> {
    let lanes = terms.len();
    let from = bits(args[0][0]);
    let (ty, to) = (integers(lanes, from), integers(lanes, bits(terms[0])));
    let ones = types::everywhere(lanes, &Bits::ones(from));
    let zeros = types::everywhere(lanes, &Bits::zero(from));
    let two = |f: &mut Function<'_>, op: &str| f.value(&format!("{op} {ty} {}, {}", x[0], x[1]));
    Ok(match op.code {
        OpCode::Not | OpCode::BvNot => f.value(&format!("xor {ty} {}, {ones}", x[0])),
        OpCode::And | OpCode::BvAnd => two(f, "and"),
        OpCode::Or | OpCode::BvOr => two(f, "or"),
        OpCode::BvXor => two(f, "xor"),
        OpCode::Eq => two(f, "icmp eq"),
        OpCode::Ite => f.value(&format!(
            "select {ty} {}, {to} {}, {to} {}",
            x[0], x[1], x[2]
        )),
        OpCode::BvNeg => f.value(&format!("sub {ty} {zeros}, {}", x[0])),
        OpCode::BvAdd => two(f, "add"),
        OpCode::BvSub => two(f, "sub"),
        OpCode::BvMul => two(f, "mul"),
        OpCode::BvUlt => two(f, "icmp ult"),
        OpCode::BvUle => two(f, "icmp ule"),
        OpCode::BvSlt => two(f, "icmp slt"),
        OpCode::BvSle => two(f, "icmp sle"),
        OpCode::BvUdiv | OpCode::BvUrem | OpCode::BvSdiv | OpCode::BvSrem => {
            divide(f, op.code, (lanes, from), x)
        }
        OpCode::BvShl | OpCode::BvLshr | OpCode::BvAshr => shift(f, op.code, &args[1], x),
        OpCode::Zext => f.value(&format!("zext {ty} {} to {to}", x[0])),
        OpCode::Sext => f.value(&format!("sext {ty} {} to {to}", x[0])),
        OpCode::Concat => concat(f, terms, args, x),
        _ => return Err(format!("`{}` is not written in LLVM IR", op.info().name)),
    })
}

/// Pieces of each lane, the first the most significant.
fn concat(f: &mut Function<'_>, terms: &[Term], args: &[Vec<Term>], x: &[String]) -> String {
    let (lanes, width) = (terms.len(), bits(terms[0]));
    let ty = integers(lanes, width);
    let (mut whole, mut at) = (None, 0);
    for (arg, value) in args.iter().zip(x).rev() {
        let own = bits(arg[0]);
        let mut wide = value.clone();
        if own < width {
            wide = f.value(&format!("zext {} {wide} to {ty}", integers(lanes, own)));
        }
        if at > 0 {
            let by = types::everywhere(lanes, &Bits::from_u64(width, u64::from(at)));
            wide = f.value(&format!("shl {ty} {wide}, {by}"));
        }
        whole = Some(match whole {
            None => wide,
            Some(low) => f.value(&format!("or {ty} {low}, {wide}")),
        });
        at += own;
    }
    whole.unwrap_or_else(|| "0".to_owned())
}

/// A shift; past the width, what is left is the sign or nothing.
fn shift(f: &mut Function<'_>, code: OpCode, counts: &[Term], x: &[String]) -> String {
    let (lanes, w) = (counts.len(), bits(counts[0]));
    let ty = integers(lanes, w);
    let name = match code {
        OpCode::BvShl => "shl",
        OpCode::BvLshr => "lshr",
        _ => "ashr",
    };
    let small = |t: &Term| constant(*t).is_some_and(|n| n.to_u64().is_some_and(|n| n < w.into()));
    if counts.iter().all(small) {
        return f.value(&format!("{name} {ty} {}, {}", x[0], x[1]));
    }
    let width = types::everywhere(lanes, &Bits::from_u64(w, u64::from(w)));
    let inside = f.value(&format!("icmp ult {ty} {}, {width}", x[1]));
    let past = if code == OpCode::BvAshr { w - 1 } else { 0 };
    let past = types::everywhere(lanes, &Bits::from_u64(w, u64::from(past)));
    let truth = integers(lanes, 1);
    let count = f.value(&format!(
        "select {truth} {inside}, {ty} {}, {ty} {past}",
        x[1]
    ));
    let shifted = f.value(&format!("{name} {ty} {}, {count}", x[0]));
    if code == OpCode::BvAshr {
        return shifted;
    }
    let zeros = types::everywhere(lanes, &Bits::zero(w));
    f.value(&format!(
        "select {truth} {inside}, {ty} {shifted}, {ty} {zeros}"
    ))
}

/// A division as SMT-LIB defines it: by zero all ones (signed: 1 for a negative number) and
/// the number itself as the remainder.
fn divide(
    f: &mut Function<'_>,
    code: OpCode,
    (lanes, width): (usize, u32),
    x: &[String],
) -> String {
    let (a, b) = (&x[0], &x[1]);
    let (ty, truth) = (integers(lanes, width), integers(lanes, 1));
    let all = |bits: &Bits| types::everywhere(lanes, bits);
    let (zeros, ones) = (all(&Bits::zero(width)), all(&Bits::ones(width)));
    let unit = all(&Bits::one(width));
    let zero = f.value(&format!("icmp eq {ty} {b}, {zeros}"));
    let signed = matches!(code, OpCode::BvSdiv | OpCode::BvSrem);
    let minus = f.value(&format!("icmp eq {ty} {b}, {ones}"));
    let odd = match signed {
        true => f.value(&format!("or {truth} {zero}, {minus}")),
        false => zero.clone(),
    };
    let divisor = f.value(&format!("select {truth} {odd}, {ty} {unit}, {ty} {b}"));
    let name = match code {
        OpCode::BvUdiv => "udiv",
        OpCode::BvUrem => "urem",
        OpCode::BvSdiv => "sdiv",
        _ => "srem",
    };
    let mut value = f.value(&format!("{name} {ty} {a}, {divisor}"));
    if code == OpCode::BvSdiv {
        let negated = f.value(&format!("sub {ty} {zeros}, {a}"));
        value = f.value(&format!(
            "select {truth} {minus}, {ty} {negated}, {ty} {value}"
        ));
    }
    let by_zero = match code {
        OpCode::BvUdiv => ones,
        OpCode::BvSdiv => {
            let negative = f.value(&format!("icmp slt {ty} {a}, {zeros}"));
            f.value(&format!(
                "select {truth} {negative}, {ty} {unit}, {ty} {ones}"
            ))
        }
        _ => a.clone(),
    };
    f.value(&format!(
        "select {truth} {zero}, {ty} {by_zero}, {ty} {value}"
    ))
}
