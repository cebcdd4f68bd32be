//! Fields: functions of whole elements by the same function of their parts.
//!
//! In: goals and values whose elements count bits, where those of narrower elements are counted or looked up
//! for less. Out: the same over the parts, which stand where they are, and what is made of them:
//! the ones of an element are those of its bytes, the zeros above the first one are those of its
//! upper half, and where that is empty those of the lower half too.
//!
//! It proposes; what is chosen is claimed and proved like all else.

use super::Search;
use super::cover::{self, Choices, Expression, How};
use super::views::{View, other_lane};
use crate::cost::Cost;
use crate::fragment::{is_much, replace};
use crate::goal::Goal;
use autoir::program::Value;
use semantics::build as b;
use semantics::op::{Op, OpCode};
use semantics::sort::Sort;
use semantics::term::Term;
use std::collections::HashMap;

/// The narrowest part.
const BYTE: u32 = 8;

impl Search<'_> {
    /// A goal about bits of wider elements by one about parts of them.
    pub(super) fn by_fields(&mut self, goal: &Goal, depth: usize) -> Option<(Value, Cost)> {
        let counted = goal.with_all(&mut ones_of_bytes);
        self.solve(&counted?, depth + 1)
    }

    /// The ones of an element of an expression, or the zeros above its first one, by those of its bytes: ones
    /// are added up at once, and both are joined by neighbours in twice their width until that is the element's.
    pub(super) fn by_counted_parts(
        &mut self,
        e: &Expression,
        choices: &mut Choices,
        t: Term,
    ) -> Option<(u64, How)> {
        let (op, args) = t.as_app()?;
        let joined = match op.code {
            OpCode::Popcnt => sum_of_parts,
            OpCode::Clz => zeros_of_two_parts,
            _ => return None,
        };
        let (x, w) = (args[0], t.width());
        if w <= BYTE || !w.is_multiple_of(BYTE) {
            return None;
        }
        let count = b::app(op, &[other_lane(0, BYTE)]);
        let bytes = self.named_parts(e, choices, x, count)?;
        let by_halves = self.joined_by_halves(e, choices, (bytes, w), joined);
        if op.code == OpCode::Clz {
            return by_halves;
        }
        let leaves = vec![bytes];
        let root = sum_of_parts(BYTE, w);
        let at_once = self.by_one_view(e, choices, View { root, leaves });
        cover::cheaper(at_once, by_halves)
    }

    /// What is counted in an element, of what is counted in its bytes: neighbours are joined in twice their
    /// width at each step.
    fn joined_by_halves(
        &mut self,
        e: &Expression,
        choices: &mut Choices,
        (bytes, w): (Term, u32),
        joined: fn(u32, u32) -> Term,
    ) -> Option<(u64, How)> {
        let (mut counted, mut part) = (bytes, BYTE);
        while part < w {
            counted = self.named_parts(e, choices, counted, joined(part, 2 * part))?;
            part *= 2;
        }
        self.same(e, choices, counted)
    }

    /// A variable that stands for a value of which each part is a function of that part of another value.
    fn named_parts(
        &mut self,
        e: &Expression,
        choices: &mut Choices,
        of: Term,
        function: Term,
    ) -> Option<Term> {
        let width = function.width();
        let view = View {
            root: function,
            leaves: vec![of],
        };
        let found = self.by_one_view(e, choices, view)?;
        let value = parts(of.sort().width()? / width, |k| {
            let own = b::extract(of, k * width, width);
            replace(function, &mut HashMap::from([(other_lane(0, width), own)]))
        });
        choices.made.insert(value, Some(found));
        Some(choices.name(value))
    }
}

/// The parts of a width of a lane, added in the lane's.
fn sum_of_parts(width: u32, lane: u32) -> Term {
    let of = other_lane(0, lane);
    let all = (0..lane / width).map(|k| b::zext(b::extract(of, k * width, width), lane));
    all.reduce(b::add).expect("a lane has parts")
}

/// The zeros above the first one of two parts of a width, of those of each, in the lane's: where the upper
/// one is empty, those of the lower one too.
fn zeros_of_two_parts(width: u32, lane: u32) -> Term {
    let of = other_lane(0, lane);
    let zeros = |k: u32| b::zext(b::extract(of, k * width, width), lane);
    let all = b::eq(zeros(1), Term::bv(lane, width.into()));
    b::add(zeros(1), b::ite(all, zeros(0), b::zero(lane)))
}

/// So many parts, the first lowest.
fn parts(count: u32, part: impl Fn(u32) -> Term) -> Term {
    let all: Vec<Term> = (0..count).rev().map(part).collect();
    b::concat(&all)
}

/// A number of ones as the sum of those of bytes; as part of a sum too.
fn ones_of_bytes(t: Term) -> Option<Term> {
    let (op, args) = t.as_app().filter(|_| !is_much(t))?;
    match op.code {
        OpCode::BvAdd => {
            let others: Vec<_> = args.iter().map(|&t| (t, ones_of_bytes(t))).collect();
            others.iter().find(|(_, other)| other.is_some())?;
            let parts = others.into_iter().map(|(t, other)| other.unwrap_or(t));
            parts.reduce(b::add)
        }
        OpCode::Zext => bytes_counted(args[0], t.width()),
        _ => bytes_counted(t, t.width()),
    }
}

/// The ones of the bytes of what is counted, added in a width.
fn bytes_counted(t: Term, width: u32) -> Option<Term> {
    let x = *t.args_of(OpCode::Popcnt)?.first()?;
    let Sort::Bv(w) = x.sort() else { return None };
    if w < 2 * BYTE || !w.is_multiple_of(BYTE) {
        return None;
    }
    let byte = |k| b::app(Op::new(OpCode::Popcnt), &[b::extract(x, k * BYTE, BYTE)]);
    let bytes = (0..w / BYTE).map(|k| b::zext(byte(k), width));
    bytes.reduce(b::add)
}
