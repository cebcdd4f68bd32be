//! Signs: sums of products of elements whose signs are not those that the machine multiplies.
//!
//! In: goals whose elements add up products of narrow elements, read with a sign or without, where
//! an operation of the target adds up products too, but of other signs. Out: the same sum with a
//! factor read the other way, its top bit turned over, which is that factor and half of its range,
//! and the other factors, so many times, taken away again:
//! `x·y = (x ^ 2^(n-1))·y - 2^(n-1)·y` with the first factor read with a sign on the left and
//! without one on the right, and the other way round with `+`.
//!
//! It proposes; what is chosen is claimed and proved like all else.

use super::{Search, cheaper};
use crate::candidates::Candidates;
use crate::cost::Cost;
use crate::goal::Goal;
use crate::matching::{extended, factors, narrowed, summands};
use autoir::program::Value;
use semantics::build as b;
use semantics::op::OpCode;
use semantics::subst::free_vars;
use semantics::term::Term;
use std::collections::BTreeSet;

/// How the elements of both factors of products are read: their width, and whether with a sign.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Signs {
    width: u32,
    signed: [bool; 2],
}

/// A sum of products, both factors of each in the same order, and what else is in it.
struct Products {
    wide: u32,
    pairs: Vec<[Term; 2]>,
    rest: Vec<Term>,
}

/// The first factors read the other way, to have products of these signs.
#[derive(Clone, Copy)]
struct Turn {
    to: Signs,
    /// Which factor it is.
    first: usize,
}

/// The same sum by products of other signs: `whole` without `more`.
struct Turned {
    whole: Term,
    more: Term,
}

impl Search<'_> {
    /// A sum of products by one of products whose signs the machine has.
    pub(super) fn by_other_signs(&mut self, goal: &Goal, depth: usize) -> Option<(Value, Cost)> {
        let products = Products::of(goal.live().next()?)?;
        let mut best = None;
        for turn in products.useful_turns(self.candidates) {
            best = cheaper(best, self.turned(goal, turn, depth));
        }
        best
    }

    fn turned(&mut self, goal: &Goal, turn: Turn, depth: usize) -> Option<(Value, Cost)> {
        let read = |t: &Option<Term>| match t {
            Some(t) => Products::of(*t)?.turned(turn).map(Some),
            None => Some(None),
        };
        let all: Option<Vec<Option<Turned>>> = goal.elements.iter().map(read).collect();
        let all = all?;
        let goal_of = |part: fn(&Turned) -> Term| Goal {
            element: goal.element,
            elements: all.iter().map(|t| t.as_ref().map(part)).collect(),
        };
        let whole = self.named_goal(&goal_of(|t| t.whole), depth)?;
        let mut more = goal_of(|t| t.more);
        if !more.is_constant() {
            more = self.named_goal(&more, depth)?;
        }
        let without = |(x, y): (&Option<Term>, &Option<Term>)| Some(b::sub((*x)?, (*y)?));
        let parts = whole.elements.iter().zip(&more.elements);
        let sum = Goal {
            element: goal.element,
            elements: parts.map(without).collect(),
        };
        self.solve(&sum, depth + 1)
    }

    /// The elements of a register that holds a goal.
    pub(super) fn named_goal(&mut self, goal: &Goal, depth: usize) -> Option<Goal> {
        if goal.input_part().is_some() {
            return Some(goal.clone());
        }
        let (value, _) = self.solve(goal, depth + 1)?;
        let register = self.named(value);
        let element = |(k, t): (usize, &Option<Term>)| {
            t.map(|_| b::extract(register, k as u32 * goal.element, goal.element))
        };
        Some(Goal {
            element: goal.element,
            elements: goal.elements.iter().enumerate().map(element).collect(),
        })
    }
}

impl Signs {
    /// How products are read that are added up, two or more, in elements of an operation's result.
    pub(crate) fn of_sum(t: Term) -> BTreeSet<Signs> {
        let products = Products::of(t);
        let orders = |[x, y]: [bool; 2]| [[x, y], [y, x]];
        let read = |p: Products| {
            let all = p.possible_signs();
            all.into_iter().flat_map(move |Signs { width, signed }| {
                orders(signed).map(|signed| Signs { width, signed })
            })
        };
        products.into_iter().flat_map(read).collect()
    }

    /// The element that a factor is the extension of.
    fn element(self, factor: Term, side: usize) -> Option<Term> {
        narrowed(extension(self.signed[side]), factor, self.width)
    }

    /// The same with a factor read the other way.
    fn but(mut self, side: usize) -> Signs {
        self.signed[side] = !self.signed[side];
        self
    }
}

fn extension(signed: bool) -> OpCode {
    match signed {
        true => OpCode::Sext,
        false => OpCode::Zext,
    }
}

impl Products {
    /// The products in a sum, at least two.
    fn of(t: Term) -> Option<Products> {
        t.args_of(OpCode::BvAdd)?;
        let (mut pairs, mut rest): (Vec<[Term; 2]>, _) = (Vec::new(), Vec::new());
        for part in summands(t) {
            match factors(part)[..] {
                [x, y] => pairs.push([x, y]),
                _ => rest.push(part),
            }
        }
        let [x, y] = (*pairs.first().filter(|_| pairs.len() > 1)?).map(free_vars);
        for pair in &mut pairs {
            if x != y && free_vars(pair[0]) != x && free_vars(pair[1]) == x {
                pair.swap(0, 1);
            }
        }
        let wide = t.width();
        Some(Products { wide, pairs, rest })
    }

    /// How the factors may be read, as elements of the least width that holds all of them.
    fn possible_signs(&self) -> Vec<Signs> {
        let both = [[false, false], [false, true], [true, false], [true, true]];
        let of = |width| both.map(|signed| Signs { width, signed });
        let read = |width| {
            of(width)
                .into_iter()
                .filter(|signs| self.read(*signs))
                .collect()
        };
        let mut all = [8, 16].into_iter().map(read);
        all.find(|found: &Vec<Signs>| !found.is_empty())
            .unwrap_or_default()
    }

    /// Whether all factors are extensions of elements read so.
    fn read(&self, signs: Signs) -> bool {
        let element = |pair: &[Term; 2], k: usize| signs.element(pair[k], k).is_some();
        2 * signs.width <= self.wide && self.pairs.iter().all(|p| element(p, 0) && element(p, 1))
    }

    /// What to read the other way so that the target has operations for it, where it has none for
    /// the products as they are.
    fn useful_turns(&self, candidates: &Candidates) -> Vec<Turn> {
        let (known, read) = (candidates.products(self.wide), self.possible_signs());
        if read.iter().any(|signs| known.contains(signs)) {
            return Vec::new();
        }
        let turns = |from: Signs| {
            [0, 1].map(|first| Turn {
                to: from.but(first),
                first,
            })
        };
        let turns = read.into_iter().flat_map(turns);
        turns.filter(|turn| known.contains(&turn.to)).collect()
    }

    fn turned(&self, Turn { to, first }: Turn) -> Option<Turned> {
        let (from, other) = (to.but(first), 1 - first);
        let wide = |t: Term, side: usize| extended(extension(to.signed[side]), t, self.wide);
        let top = Term::bv(to.width, 1 << (to.width - 1));
        // Half of the range, as a factor that is read as the one that is turned is.
        let half = 1i128 << (to.width - 1);
        let half = Term::bv(self.wide, if to.signed[first] { -half } else { half });
        let (mut whole, mut more) = (self.rest.clone(), Vec::new());
        for pair in &self.pairs {
            let turned = b::xor(from.element(pair[first], first)?, top);
            let partner = wide(from.element(pair[other], other)?, other);
            whole.push(b::mul(wide(turned, first), partner));
            more.push(b::mul(half, partner));
        }
        Some(Turned {
            whole: whole.into_iter().reduce(b::add)?,
            more: more.into_iter().reduce(b::add)?,
        })
    }
}
