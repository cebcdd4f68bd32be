//! What occurs in a term.
//!
//! In: terms. Out: their numbers and operators, by which operations and constants are chosen.

use semantics::op::OpCode;
use semantics::term::{Kind, Term};
use std::collections::{BTreeSet, HashSet};

/// The numbers that occur in a term: its constants, shift amounts and bounds of saturation.
pub fn numbers_of(t: Term) -> BTreeSet<i128> {
    let mut out = BTreeSet::new();
    let mut seen = HashSet::new();
    let mut stack = vec![t];
    while let Some(t) = stack.pop() {
        if !seen.insert(t) {
            continue;
        }
        match t.kind() {
            Kind::Bv(bits) if bits.width() < 100 => {
                let v = bits.to_u128().unwrap_or(0) as i128;
                out.insert(v);
                if bits.bit(bits.width() - 1) {
                    out.insert(v - (1i128 << bits.width()));
                }
            }
            Kind::App { op, args } => {
                if op.code == OpCode::Extract {
                    let shift = args[1].as_int().unwrap_or(0);
                    out.insert(i128::from(shift));
                    if shift > 0 && shift < 62 {
                        out.insert(1i128 << (shift - 1));
                    }
                }
                // What lies above a part is shifted up by its width.
                if op.code == OpCode::Concat {
                    let widths = args.iter().map(|part| i128::from(part.width()));
                    out.extend(widths.filter(|width| *width < 64));
                }
                if matches!(op.code, OpCode::SatSS | OpCode::SatUS) && op.params[0] < 64 {
                    out.extend([
                        (1i128 << (op.params[0] - 1)) - 1,
                        -(1i128 << (op.params[0] - 1)),
                    ]);
                }
                if matches!(op.code, OpCode::SatSU | OpCode::SatUU) && op.params[0] < 64 {
                    out.insert((1i128 << op.params[0]) - 1);
                }
            }
            _ => {}
        }
        stack.extend(t.children());
    }
    out
}

/// The operators that a term uses, without those that only move or resize.
pub fn operators_of(t: Term) -> BTreeSet<OpCode> {
    let mut out = BTreeSet::new();
    let mut seen = HashSet::new();
    let mut stack = vec![t];
    while let Some(t) = stack.pop() {
        if seen.insert(t) {
            if let Some((op, _)) = t.as_app() {
                out.insert(op.code);
            }
            stack.extend(t.children());
        }
    }
    for plain in [OpCode::Extract, OpCode::Zext, OpCode::Sext, OpCode::Concat] {
        out.remove(&plain);
    }
    out
}

/// The operators that terms compute with, a bit for each, without those that only say where bits
/// stand.
pub fn signature(terms: impl IntoIterator<Item = Term>) -> u128 {
    const PLACES: [OpCode; 8] = [
        OpCode::Extract,
        OpCode::Zext,
        OpCode::Sext,
        OpCode::Concat,
        OpCode::IntAdd,
        OpCode::IntMul,
        OpCode::IntDiv,
        OpCode::IntMod,
    ];
    let (mut all, mut seen) = (0, HashSet::new());
    let mut stack: Vec<Term> = terms.into_iter().collect();
    while let Some(t) = stack.pop() {
        if seen.insert(t) {
            all |= t.as_app().map_or(0, |(op, _)| signature_of(op.code));
            stack.extend(t.children());
        }
    }
    PLACES
        .into_iter()
        .fold(all, |all, place| all & !signature_of(place))
}

/// The bit of one operator in [`signature`].
pub fn signature_of(code: OpCode) -> u128 {
    1 << code as u32
}

/// Whether a term with this signature computes with these operators only.
pub(crate) fn is_within(signature: u128, codes: &[OpCode]) -> bool {
    codes
        .iter()
        .fold(signature, |rest, code| rest & !signature_of(*code))
        == 0
}

/// Whether a term computes with floating-point numbers.
pub fn computes_floats(t: Term) -> bool {
    let of_floats = |code: &OpCode| code.info().params.contains(&"format");
    operators_of(t).iter().any(of_floats)
}

/// Whether any of these operators occurs in a term.
pub fn contains(t: Term, codes: &[OpCode]) -> bool {
    let mut seen = HashSet::new();
    let mut stack = vec![t];
    while let Some(t) = stack.pop() {
        if !seen.insert(t) {
            continue;
        }
        if t.as_app().is_some_and(|(op, _)| codes.contains(&op.code)) {
            return true;
        }
        stack.extend(t.children());
    }
    false
}
