//! Matrices of bits in an expression: values that few steps compute, however long they are written.
//!
//! In: an expression of one lane. Out: the expression with parts of an element that it reads as a whole
//! too as parts of that one, so that a matrix has one argument; and the value of a matrix by the
//! steps that [`crate::bit_matrix`] finds. One operation for all of it is looked for by
//! [`super::bilinear`].

use super::Search;
use super::common::leaf_name;
use super::cover::{Choices, Expression, How, cheaper};
use crate::bit_matrix::{self, Factored};
use crate::fragment;
use crate::goal::{Goal, leaf};
use crate::legal;
use semantics::op::{Op, OpCode};
use semantics::sort::Sort;
use semantics::term::Term;
use std::collections::{HashMap, HashSet, VecDeque};
use std::rc::Rc;

/// How many values of an expression are looked at for matrices of bits.
const MATRICES: usize = 12;

impl Search<'_> {
    /// A value as a matrix of bits, read once for all numbers of lanes.
    pub(super) fn factored(&mut self, t: Term) -> Rc<Factored> {
        let known = self.memory.factored.entry(t);
        Rc::clone(known.or_insert_with(|| Rc::new(bit_matrix::factored(t))))
    }

    /// Whether lanes rest on a matrix of bits that takes far fewer steps than it is written with.
    pub(super) fn is_matrix(&mut self, goal: &Goal) -> bool {
        let expression = self.expression(goal);
        expression.is_some_and(|e| self.has_matrix(e.root))
    }

    /// A matrix of bits by fewer steps; by counting bits where the machine does.
    pub(super) fn by_factors(
        &mut self,
        e: &Expression,
        choices: &mut Choices,
        shorter: &Factored,
    ) -> Option<(u64, How)> {
        let mut best = None;
        for &other in &shorter.terms {
            choices.count(other);
            best = cheaper(best, self.same(e, choices, other));
        }
        if let Some((count, whole)) = shorter.counted
            && self.by_operation(e, choices, count).is_some()
        {
            choices.count(whole);
            best = cheaper(best, self.same(e, choices, whole));
        }
        best
    }

    /// The expression with streams that are parts of the elements of another as parts of that one, where it
    /// rests on a matrix of bits by then.
    pub(super) fn one_argument(&mut self, root: Term, streams: &[Goal]) -> Term {
        let of = |k: usize| Term::var(&leaf_name(k), Sort::Bv(streams[k].element));
        let part = |k: usize| -> Option<(Term, Term)> {
            let (other, lo) = part_of_another(&streams[k], streams)?;
            let lo = Term::int(i64::from(lo));
            let part = Op::with(OpCode::Extract, streams[k].element);
            Some((of(k), legal::raw(part, &[of(other), lo])?))
        };
        let mut parts: HashMap<Term, Term> = (0..streams.len()).filter_map(part).collect();
        if parts.is_empty() {
            return root;
        }
        let joined = fragment::replace_below(root, &mut parts);
        match self.has_matrix(joined) {
            true => joined,
            false => root,
        }
    }

    /// Whether a value, or one of the first that it is made of, is a matrix of bits that is written at length.
    fn has_matrix(&mut self, root: Term) -> bool {
        let mut work = VecDeque::from([root]);
        let mut seen = HashSet::new();
        while let Some(t) = work.pop_front() {
            if !seen.insert(t) {
                continue;
            }
            if seen.len() > MATRICES {
                return false;
            }
            if self.factored(t).much {
                return true;
            }
            work.extend(fragment::operands(t));
        }
        false
    }
}

/// The stream whose elements a stream is a part of, and from which bit on.
fn part_of_another(part: &Goal, streams: &[Goal]) -> Option<(usize, u32)> {
    let within = |other: &Goal| -> Option<u32> {
        let mut lows = (part.elements.iter().zip(&other.elements)).filter_map(|(p, o)| {
            let (Some(p), Some(o)) = (p, o) else {
                return None;
            };
            let ((name, lo), (of, from)) = (leaf(*p)?, leaf(*o)?);
            (name == of).then(|| lo.checked_sub(from)).flatten()
        });
        let lo = lows.next()?;
        let all = 1 + lows.filter(|other| *other == lo).count();
        let fits = lo + part.element <= other.element && part.element < other.element;
        (fits && all == part.elements.len()).then_some(lo)
    };
    let mut found = streams.iter().enumerate();
    found.find_map(|(j, other)| Some((j, within(other)?)))
}
