//! Bytes: values whose bytes are bytes of inputs, however that is written.
//!
//! In: goals. Out: the same goal with bytes as elements where shifts, logic with constants and
//! extensions do no more than choose where each bit comes from: a swap of bytes, a rotation by
//! whole bytes, fields put together. What only moves is found by movements ([`super::movement`]).

use crate::goal::{Goal, leaf};
use semantics::bits::Bits;
use semantics::build as b;
use semantics::op::OpCode;
use semantics::sort::Sort;
use semantics::term::Term;
use std::collections::HashMap;

/// Where a bit comes from: a bit of a variable, or a constant.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    Bit(Term, u32),
    Constant(bool),
}

/// The largest value that is looked at, in bits.
const MAX_WIDTH: u32 = 128;

/// The bits of a value, least significant first; none where one is computed.
type Sources = Option<Vec<Source>>;

/// The goal with bytes of inputs and constants as elements, where it is no more.
pub(super) fn by_bytes(goal: &Goal) -> Option<Goal> {
    if goal.element <= 8 || !goal.element.is_multiple_of(8) {
        return None;
    }
    let mut known = HashMap::new();
    let mut elements = Vec::new();
    for element in &goal.elements {
        match element {
            None => elements.extend((0..goal.element / 8).map(|_| None)),
            Some(t) => {
                let sources = sources(*t, &mut known)?;
                for byte in sources.chunks(8) {
                    elements.push(Some(whole_byte(byte)?));
                }
            }
        }
    }
    let element = 8;
    Some(Goal { element, elements })
}

/// Eight bits as a byte of a variable, or a constant.
fn whole_byte(bits: &[Source]) -> Option<Term> {
    match bits[0] {
        Source::Bit(variable, lo) => {
            let next = |(k, bit): (u32, &Source)| *bit == Source::Bit(variable, lo + k);
            let all = (0..).zip(bits).all(next);
            (all && lo.is_multiple_of(8)).then(|| b::extract(variable, lo, 8))
        }
        Source::Constant(_) => {
            let mut byte = 0;
            for (k, bit) in bits.iter().enumerate() {
                match bit {
                    Source::Constant(one) => byte |= u64::from(*one) << k,
                    Source::Bit(..) => return None,
                }
            }
            Some(Term::bits(Bits::from_u64(8, byte)))
        }
    }
}

fn sources(t: Term, known: &mut HashMap<Term, Sources>) -> Sources {
    if let Some(done) = known.get(&t) {
        return done.clone();
    }
    let found = match t.sort() {
        Sort::Bv(_) if t.as_var().is_some() => None,
        Sort::Bv(width) if width <= MAX_WIDTH => traced(t, width, known),
        _ => None,
    };
    known.insert(t, found.clone());
    found
}

fn traced(t: Term, width: u32, known: &mut HashMap<Term, Sources>) -> Sources {
    use OpCode as C;
    if let Some(bits) = t.as_bits() {
        return Some((0..width).map(|k| Source::Constant(bits.bit(k))).collect());
    }
    let (op, args) = t.as_app()?;
    let zero = Source::Constant(false);
    let constant = |t: Term| t.as_bits()?.to_u64().and_then(|n| usize::try_from(n).ok());
    match op.code {
        C::Extract => {
            let lo = u32::try_from(args[1].as_int()?).ok()?;
            if args[0].as_var().is_some() {
                return Some((0..width).map(|k| Source::Bit(args[0], lo + k)).collect());
            }
            let of = sources(args[0], known)?;
            Some(of.get(lo as usize..(lo + width) as usize)?.to_vec())
        }
        C::Concat => {
            let mut all = Vec::new();
            for part in args.iter().rev() {
                all.extend(sources(*part, known)?);
            }
            Some(all)
        }
        C::Zext | C::Sext => {
            let mut of = sources(args[0], known)?;
            let fill = if op.code == C::Sext {
                *of.last()?
            } else {
                zero
            };
            of.resize(width as usize, fill);
            Some(of)
        }
        C::BvShl | C::BvLshr | C::Rotl | C::Rotr => {
            let (of, by) = (sources(args[0], known)?, constant(args[1])?);
            Some(shifted(op.code, of, by))
        }
        C::BvAnd | C::BvOr | C::BvXor => {
            let mut sides = args.iter().map(|&a| sources(a, known));
            let first = sides.next()??;
            sides.try_fold(first, |x, y| {
                let both = x.into_iter().zip(y?);
                both.map(|(x, y)| combined(op.code, x, y)).collect()
            })
        }
        _ => None,
    }
}

fn shifted(code: OpCode, of: Vec<Source>, by: usize) -> Vec<Source> {
    let width = of.len();
    let at = |k: usize| match code {
        OpCode::BvShl => k.checked_sub(by),
        OpCode::BvLshr => Some(k + by),
        OpCode::Rotl => Some((k + width - by % width) % width),
        _ => Some((k + by) % width),
    };
    let bit = |k| at(k).and_then(|from| of.get(from).copied());
    let filled = |k| bit(k).unwrap_or(Source::Constant(false));
    (0..width).map(filled).collect()
}

/// A bit of two, where it is one of them or a constant.
fn combined(code: OpCode, x: Source, y: Source) -> Option<Source> {
    let (constant, other) = match (x, y) {
        (Source::Constant(one), other) | (other, Source::Constant(one)) => (one, other),
        _ if x == y && code != OpCode::BvXor => return Some(x),
        _ => return None,
    };
    match (code, constant, other) {
        (OpCode::BvAnd, false, _) => Some(Source::Constant(false)),
        (OpCode::BvOr, true, _) => Some(Source::Constant(true)),
        (OpCode::BvAnd, true, _) | (OpCode::BvOr | OpCode::BvXor, false, _) => Some(other),
        (_, _, Source::Constant(one)) => Some(Source::Constant(!one)),
        _ => None,
    }
}

/// A goal with pieces of inputs that begin within elements of their width, by bytes.
pub(super) fn in_bytes(goal: &Goal) -> Option<Goal> {
    let starts = goal.live().filter_map(leaf).map(|(_, lo)| lo);
    let mut within = starts.filter(|lo| !lo.is_multiple_of(goal.element));
    let byte = goal.element > 8 && within.any(|lo| lo.is_multiple_of(8));
    byte.then(|| goal.with_element(8)).flatten()
}
