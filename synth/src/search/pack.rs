//! Packing: lanes brought together from two registers of lanes twice as wide.
//!
//! In: goals whose lanes are computed with elements wider than they are. Out: the register that an
//! instruction makes of two registers with half the lanes each, which hold the same values in
//! twice the width: it saturates, and values that fit stay what they are. What the wide
//! registers hold is a goal like others, so that lanes of a quarter of the width are packed twice.
//! Where the instruction leaves lanes in another order a movement follows.
//!
//! Instructions that narrow one register are operations on lanes, not looked at here.

use super::{Search, cheaper};
use crate::candidates::Action;
use crate::cost::Cost;
use crate::fragment::replace;
use crate::goal::{Goal, leaf};
use autoir::program::{Argument, Node, Value};
use semantics::build as b;
use semantics::op::{Op, OpCode};
use semantics::range::range;
use semantics::sort::Sort;
use semantics::subst::{free_vars, replace_vars};
use semantics::term::Term;
use smt::verdict::Verdict;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Packings of packings: from 64 bits to 8, with the movements between them.
const MAX_PACKING_DEPTH: usize = 4;

/// An instruction that packs the lanes of two registers.
pub(super) struct Packing {
    candidate: usize,
    /// For each lane of the result its place in the lanes of both operands, one after the other.
    places: Vec<usize>,
    /// What becomes of a wide lane, the variable [`WIDE`].
    function: Term,
    /// Whether wide lanes that are extended narrow ones stay what they are: with zeros, with the
    /// sign.
    keeps: [bool; 2],
}

/// The name of a wide lane.
const WIDE: &str = "@wide";

impl Search<'_> {
    /// Whether a goal takes one end each of elements of inputs twice as wide, each element once.
    /// What registers hold is packed where it is computed.
    pub(super) fn takes_ends(&self, goal: &Goal) -> bool {
        let (twice, mut seen) = (2 * goal.element, HashSet::new());
        let mut ends = goal.live().map(|t| {
            leaf(t).is_some_and(|(name, lo)| {
                let within = lo % twice;
                (within == 0 || within == goal.element)
                    && seen.insert((name, lo / twice))
                    && !self.named.contains_key(name)
            })
        });
        goal.elements.len() > 1 && ends.all(|end| end)
    }

    /// The cheapest packing of a goal.
    pub(super) fn packed(&mut self, goal: &Goal, depth: usize) -> Option<(Value, Cost)> {
        let half = goal.elements.len() / 2;
        let whole =
            half > 0 && goal.elements.len().is_multiple_of(2) && goal.live().count() == 2 * half;
        if !whole || goal.element > 32 || depth > MAX_PACKING_DEPTH {
            return None;
        }
        let mut best = None;
        for packing in self.packings(goal.width(), goal.element).iter() {
            for wide in self.widened(goal, packing) {
                best = cheaper(best, self.pack(goal, packing, &wide, depth));
            }
        }
        best
    }

    /// Goals of wide lanes that a packing makes the goal of.
    fn widened(&self, goal: &Goal, packing: &Packing) -> Vec<Goal> {
        let twice = 2 * goal.element;
        let goal_of = |f: &dyn Fn(Term) -> Term| Goal {
            element: twice,
            elements: goal.elements.iter().map(|t| t.map(f)).collect(),
        };
        let mut all = Vec::new();
        // What is clamped from wider yet may be clamped in between.
        let clamped = goal_of(&|t| match clamped_value(t) {
            Some(x) if x.width() > twice => b::sat_ss(x, twice),
            Some(x) => x,
            None => t,
        });
        let fits = clamped.live().all(|t| t.width() == twice);
        let first = clamped.live().zip(goal.live()).next();
        if fits && first.is_some_and(|(wide, now)| self.same_value(packing.of(wide), now)) {
            all.push(clamped);
        }
        for (keeps, signed) in packing.keeps.into_iter().zip([false, true]) {
            if keeps {
                let extended = Extension::new(twice, signed);
                all.push(goal_of(&|t| extended.of(t)));
            }
        }
        all
    }

    fn pack(
        &mut self,
        goal: &Goal,
        packing: &Packing,
        wide: &Goal,
        depth: usize,
    ) -> Option<(Value, Cost)> {
        let half = goal.elements.len() / 2;
        let (low, _) = self.solve(&wide.part(0, half), depth + 1)?;
        let (high, _) = self.solve(&wide.part(half, half), depth + 1)?;
        let args = [low, high].map(Argument::Value).to_vec();
        let operation = packing.candidate;
        let value = self.graph.add(Node::Apply { operation, args });
        let places = &packing.places;
        let made = Goal {
            element: goal.element,
            elements: places.iter().map(|&k| goal.elements[k]).collect(),
        };
        self.claim(value, &made);
        if places.iter().enumerate().all(|(k, &at)| k == at) {
            return Some((value, self.estimator.sum(&self.graph, &[value])));
        }
        let register = self.named(value);
        let mut elements = vec![None; places.len()];
        for (lane, &k) in places.iter().enumerate() {
            let lo = lane as u32 * goal.element;
            elements[k] = Some(b::extract(register, lo, goal.element));
        }
        let moves = Goal {
            element: goal.element,
            elements,
        };
        let (value, _) = self.solve(&moves, depth + 1)?;
        Some((value, self.estimator.sum(&self.graph, &[value])))
    }

    /// The instructions that pack into a register of so many bits lanes of so many.
    fn packings(&mut self, width: u32, element: u32) -> Rc<Vec<Packing>> {
        if let Some(done) = self.packings.get(&(width, element)) {
            return Rc::clone(done);
        }
        let all = self.candidates.by_width(width).iter();
        let found: Vec<Packing> = all.filter_map(|&k| self.packing(k, element)).collect();
        let found = Rc::new(found);
        self.packings.insert((width, element), Rc::clone(&found));
        found
    }

    /// A candidate as a packing, when it is one.
    fn packing(&self, candidate: usize, element: u32) -> Option<Packing> {
        let c = &self.candidates.list[candidate];
        let formals = &c.instance.formals;
        let registers = formals
            .iter()
            .all(|o| o.width == c.width && !o.role.is_constant());
        if formals.len() != 2
            || !registers
            || c.natural != element
            || c.action() == Action::Movement
        {
            return None;
        }
        let lanes = (c.width / element) as usize;
        let mut places = Vec::new();
        let mut function = None;
        for result in c.elements(element) {
            let (name, lo, term) = of_one_lane(result, 2 * element)?;
            if *function.get_or_insert(term) != term {
                return None;
            }
            let operand = formals.iter().position(|o| o.name == name)?;
            places.push(operand * lanes / 2 + lo);
        }
        let mut sorted = places.clone();
        sorted.sort_unstable();
        let function = function.filter(|_| sorted.iter().enumerate().all(|(k, &at)| k == at))?;
        let narrow = Term::var("@narrow", Sort::Bv(element));
        let mut packing = Packing {
            candidate,
            places,
            function,
            keeps: [true; 2],
        };
        let wide = [b::zext(narrow, 2 * element), b::sext(narrow, 2 * element)];
        packing.keeps = wide.map(|wide| self.same_value(packing.of(wide), narrow));
        packing.keeps.contains(&true).then_some(packing)
    }

    fn same_value(&self, x: Term, y: Term) -> bool {
        matches!(self.prover.prove_equal(x, y), Verdict::Proved(_))
    }
}

impl Packing {
    /// What becomes of a wide lane.
    fn of(&self, wide: Term) -> Term {
        replace_vars(self.function, &HashMap::from([(WIDE, wide)]))
    }
}

/// A term of one lane of a variable: its name, the lane's number, and the term over
/// [`WIDE`].
fn of_one_lane(t: Term, width: u32) -> Option<(&'static str, usize, Term)> {
    let [variable] = free_vars(t)[..] else {
        return None;
    };
    let (mut lanes, mut work) = (Vec::new(), vec![t]);
    let mut seen = HashSet::new();
    while let Some(t) = work.pop() {
        if !seen.insert(t) {
            continue;
        }
        match leaf(t) {
            Some((_, lo)) => lanes.push((t, lo)),
            None => work.extend(t.children()),
        }
    }
    let &(part, lo) = lanes.first()?;
    let one = lanes.iter().all(|&(t, _)| t == part);
    if !one || part.width() != width || !lo.is_multiple_of(width) {
        return None;
    }
    let wide = Term::var(WIDE, Sort::Bv(width));
    let term = replace(t, &mut HashMap::from([(part, wide)]));
    Some((variable.as_var()?, (lo / width) as usize, term))
}

/// Values in more bits, computed in them where they can be; shared ones once.
struct Extension {
    to: u32,
    signed: bool,
    done: RefCell<HashMap<Term, Term>>,
}

impl Extension {
    fn new(to: u32, signed: bool) -> Extension {
        let done = RefCell::default();
        Extension { to, signed, done }
    }

    fn of(&self, t: Term) -> Term {
        if let Some(&done) = self.done.borrow().get(&t) {
            return done;
        }
        let new = self.computed(t).unwrap_or_else(|| self.outside(t));
        self.done.borrow_mut().insert(t, new);
        new
    }

    /// The value computed as it is, then extended.
    fn outside(&self, t: Term) -> Term {
        match self.signed {
            true => b::sext(t, self.to),
            false => b::zext(t, self.to),
        }
    }

    fn computed(&self, t: Term) -> Option<Term> {
        let (op, args) = t.as_app()?;
        match op.code {
            OpCode::Ite => Some(b::ite(args[0], self.of(args[1]), self.of(args[2]))),
            OpCode::Smin | OpCode::Smax if !self.signed => None,
            OpCode::Umin | OpCode::Umax if self.signed => None,
            OpCode::Smin
            | OpCode::Smax
            | OpCode::Umin
            | OpCode::Umax
            | OpCode::BvAnd
            | OpCode::BvOr
            | OpCode::BvXor => {
                let args: Vec<Term> = args.iter().map(|&a| self.of(a)).collect();
                Some(b::app(Op::new(op.code), &args))
            }
            OpCode::Extract if args[1].as_int() == Some(0) && args[0].width() >= self.to => {
                self.cut(b::extract(args[0], 0, self.to), t)
            }
            OpCode::Extract => self.end_of_element(t),
            _ => None,
        }
    }

    /// The lower or upper end of an element of an input, as what that element holds.
    fn end_of_element(&self, t: Term) -> Option<Term> {
        let (_, lo) = leaf(t)?;
        let of = t.args_of(OpCode::Extract)?[0];
        let (first, above) = (lo - lo % self.to, self.to - t.width());
        if first + self.to > of.width() {
            return None;
        }
        let whole = b::extract(of, first, self.to);
        match lo - first {
            0 => self.cut(whole, t),
            by if by == above && self.signed => Some(b::ashr(whole, Term::bv(self.to, by.into()))),
            by if by == above => Some(b::lshr(whole, Term::bv(self.to, by.into()))),
            _ => None,
        }
    }

    /// The low bits of a wider value: the value itself where it fits, else what is left of it.
    fn cut(&self, whole: Term, t: Term) -> Option<Term> {
        let least = |bits: u32| -(1_i128 << (bits - 1));
        let (low, high) = match self.signed {
            true => (least(t.width()), -least(t.width()) - 1),
            false => (0, (1_i128 << t.width()) - 1),
        };
        let (from, past) = range(whole);
        match low <= from && past <= high {
            true => Some(whole),
            false if self.signed => None,
            false => Some(b::and(whole, Term::bv(self.to, high))),
        }
    }
}

/// What is clamped between constants and cut to fewer bits.
fn clamped_value(t: Term) -> Option<Term> {
    let signs = [OpCode::SatSS, OpCode::SatSU];
    if let Some(args) = signs.iter().find_map(|&code| t.args_of(code)) {
        return Some(args[0]);
    }
    let mut x = t.args_of(OpCode::Extract)?[0];
    let whole = x;
    let bounds = [OpCode::Smin, OpCode::Smax];
    while let Some([p, q]) = bounds.iter().find_map(|&code| x.args_of(code)) {
        x = match (p.as_bits(), q.as_bits()) {
            (None, Some(_)) => *p,
            (Some(_), None) => *q,
            _ => return None,
        };
    }
    (x != whole).then_some(x)
}
