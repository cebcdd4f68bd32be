//! Minimum, maximum, clamping, absolute value and if-then-else.
//!
//! In: integer polynomials, or a condition and two terms. Out: one form: what both sides
//! share is taken out, the greater of two unknowns is their sum less the smaller, a clamp
//! is the minimum of a maximum, and an if-then-else whose condition compares what its arms
//! differ by is a minimum or maximum.

use super::poly::{Atom, Poly, Range, to_bits};
use super::{Choice, Normaliser, Rule};
use num_bigint::BigInt;
use num_traits::{One, Signed, Zero};
use semantics::build as b;
use semantics::difference;
use semantics::float::quotient::divisor;
use semantics::op::{Op, OpCode};
use semantics::sort::Sort;
use semantics::subst::rebuild;
use semantics::term::Term;
use std::collections::HashMap;

impl Normaliser {
    /// The smaller or greater of two integers.
    pub(super) fn choose(&mut self, max: bool, x: &Poly, y: &Poly) -> Poly {
        let difference = x.sub(y);
        let range = self.range(&difference);
        if !range.hi.is_positive() {
            return if max { y.clone() } else { x.clone() };
        }
        if !range.lo.is_negative() {
            return if max { x.clone() } else { y.clone() };
        }
        let factor = difference.content();
        let mut difference = difference.divided(&factor);
        let mut base = y;
        if difference.leads_negative() {
            difference = difference.scale(&-BigInt::one());
            base = x;
        }
        let (mut left, mut right) = (Poly::default(), Poly::default());
        for (m, c) in &difference.0 {
            if c.is_negative() || m.is_empty() {
                right.add_term(m.clone(), -c);
            } else {
                left.add_term(m.clone(), c.clone());
            }
        }
        let shared = base.plus(&right, &-&factor);
        let unknowns = right.as_constant().is_none();
        let chosen = if max && unknowns {
            left.add(&right)
                .sub(&self.choose_apart(false, &left, &right))
        } else {
            self.choose_apart(max, &left, &right)
        };
        shared.plus(&chosen, &factor)
    }

    /// As [`Normaliser::choose`], for integers that share nothing.
    fn choose_apart(&mut self, max: bool, x: &Poly, y: &Poly) -> Poly {
        let mut operands = self.operands_of(x, max);
        if let (true, Some(lo), Some(inner)) = (max, y.as_constant(), self.choice_of(x, false)) {
            let (bounds, open): (Vec<Poly>, Vec<Poly>) = inner
                .operands
                .into_iter()
                .partition(|p| p.as_constant().is_some());
            if let Some(hi) = bounds.into_iter().next() {
                let rest = open
                    .into_iter()
                    .reduce(|p, q| self.choose(false, &p, &q))
                    .expect("one operand is open");
                let raised = self.choose(true, &rest, &Poly::constant(lo));
                return self.choose(false, &raised, &hi);
            }
        }
        operands.extend(self.operands_of(y, max));
        let mut constants: Vec<BigInt> = operands.iter().filter_map(Poly::as_constant).collect();
        operands.retain(|p| p.as_constant().is_none());
        constants.sort();
        let bound = if max {
            constants.pop()
        } else {
            constants.into_iter().next()
        };
        operands.extend(bound.map(Poly::constant));
        operands.sort();
        operands.dedup();
        self.choice_atom(max, operands)
    }

    /// The operands of a choice of that kind, or the integer itself.
    fn operands_of(&self, x: &Poly, max: bool) -> Vec<Poly> {
        self.choice_of(x, max)
            .map_or_else(|| vec![x.clone()], |c| c.operands)
    }

    fn choice_of(&self, x: &Poly, max: bool) -> Option<Choice> {
        self.choice_named(x.as_atom()?)
            .filter(|c| c.max == max)
            .cloned()
    }

    /// The minimum or maximum that an atom is, as it is read.
    pub(super) fn choice_named(&self, atom: Atom) -> Option<&Choice> {
        self.choices
            .get(&atom.term)
            .filter(|c| c.signed == atom.signed)
    }

    fn choice_atom(&mut self, max: bool, operands: Vec<Poly>) -> Poly {
        let ranges: Vec<Range> = operands.iter().map(|p| self.range(p)).collect();
        let whole = ranges
            .iter()
            .skip(1)
            .fold(ranges[0].clone(), |all, r| all.union(r));
        let result = ranges.iter().skip(1).fold(ranges[0].clone(), |a, r| {
            if max {
                Range {
                    lo: a.lo.max(r.lo.clone()),
                    hi: a.hi.max(r.hi.clone()),
                }
            } else {
                Range {
                    lo: a.lo.min(r.lo.clone()),
                    hi: a.hi.min(r.hi.clone()),
                }
            }
        });
        let (width, negative) = whole.width();
        let code = match (max, negative) {
            (true, true) => OpCode::Smax,
            (true, false) => OpCode::Umax,
            (false, true) => OpCode::Smin,
            (false, false) => OpCode::Umin,
        };
        let mut terms: Vec<Term> = operands
            .iter()
            .map(|p| self.emit_reduced(p.clone(), width))
            .collect();
        terms.sort();
        let term = terms
            .into_iter()
            .reduce(|x, y| b::app(Op::new(code), &[x, y]))
            .expect("there are operands");
        let (narrow, signed) = result.width();
        let atom = if narrow < width {
            b::extract(term, 0, narrow)
        } else {
            term
        };
        self.choices.insert(
            atom,
            Choice {
                max,
                signed,
                operands,
            },
        );
        self.learn(Atom { term: atom, signed }, result);
        self.normal.stays(atom);
        let poly = self.atom(atom, signed);
        if atom != term {
            let widened = self.emit_reduced(poly.clone(), width);
            self.normal
                .becomes(term, Rule::NarrowExtreme.gives(widened));
        }
        poly
    }

    /// A saturation: the argument's reading clamped to what the result can hold.
    pub(super) fn saturated(
        &mut self,
        x: Term,
        width: u32,
        from_signed: bool,
        to_signed: bool,
    ) -> Poly {
        let x = self.exact(x, from_signed);
        let bounds = Range::full(width, to_signed);
        let raised = self.choose(true, &x, &Poly::constant(bounds.lo));
        self.choose(false, &raised, &Poly::constant(bounds.hi))
    }

    /// The normal form of an if-then-else over bit vectors.
    pub(super) fn if_then_else(&mut self, c: Term, x: Term, y: Term) -> Term {
        let c = self.norm(c);
        if let Some(choice) = c.as_bool() {
            return self.norm(if choice { x } else { y });
        }
        if let Some(inner) = c.args_of(OpCode::Not) {
            return self.if_then_else(inner[0], y, x);
        }
        if x.sort().width().is_none() {
            return self.plain_choice(c, x, y);
        }
        let width = x.width();
        let (x, y) = self.where_decided(c, [x, y]);
        let (p, q) = (self.ring(x), self.ring(y));
        if p == q {
            return self.emit(&p, width);
        }
        if let Some(chosen) = self.as_minimum(c, &p, &q, width) {
            return self.emit_reduced(chosen, width);
        }
        if let Some(step) = self.reduce(p.sub(&q), width).as_constant() {
            let bit = self.truth_as_bit(c);
            return self.emit_reduced(q.plus(&bit, &step), width);
        }
        let mut shared = Poly::default();
        for (m, k) in
            p.0.iter()
                .filter(|(m, k)| !m.is_empty() && q.coefficient(m) == **k)
        {
            shared.add_term(m.clone(), k.clone());
        }
        if shared.0.is_empty() {
            return self.narrow_choice(c, &p, &q, width);
        }
        let (p, q) = (p.sub(&shared), q.sub(&shared));
        let (p, q) = (self.reduce(p, width), self.reduce(q, width));
        let chosen = self.narrow_choice(c, &p, &q, width);
        let chosen = self.ring(chosen);
        self.emit_reduced(shared.add(&chosen), width)
    }

    /// What the sides of a choice are where its condition is decided. Only looked at beside quotients,
    /// of which every one is a choice by whether the divisor is 0.
    fn where_decided(&mut self, c: Term, sides: [Term; 2]) -> (Term, Term) {
        if divisor(c).is_none() {
            return sides.into();
        }
        let normal = sides.map(|t| self.norm(t));
        if !self.divides {
            return sides.into();
        }
        let mut decide = |t: Term, holds: bool| {
            let mut known = HashMap::from([(c, Term::bool(holds))]);
            self.norm(decided(t, c, holds, &mut known))
        };
        (decide(normal[0], true), decide(normal[1], false))
    }

    /// The factors of a product without the choice whether one is 0 in the other: the product is 0 then.
    pub(super) fn times_divisor(&mut self, factors: [Term; 2]) -> [Term; 2] {
        if factors.iter().any(|t| t.as_bits().is_some()) {
            return factors;
        }
        let mut normal = factors.map(|t| self.norm(t));
        if !self.divides {
            return factors;
        }
        for k in [0, 1] {
            let zero = b::eq(normal[1 - k], b::zero(normal[1 - k].width()));
            let zero = self.norm(zero);
            if let Some(arms) = normal[k]
                .args_of(OpCode::Ite)
                .filter(|arms| arms[0] == zero)
            {
                normal[k] = arms[2];
            }
        }
        normal
    }

    /// A condition in normal form as 1 or 0.
    fn truth_as_bit(&mut self, c: Term) -> Poly {
        let bit = match c.args_of(OpCode::Eq) {
            Some(args)
                if args[0].sort() == Sort::Bv(1) && args[1].as_bits().is_some_and(|k| k.bit(0)) =>
            {
                args[0]
            }
            _ => b::bool_to_bit(c),
        };
        self.normal.stays_unless_known(bit);
        self.exact(bit, false)
    }

    /// The choice at the least width that holds both arms.
    fn narrow_choice(&mut self, c: Term, p: &Poly, q: &Poly, width: u32) -> Term {
        for signed in [false, true] {
            let (Some(x), Some(y)) = (self.lifted(p, width, signed), self.lifted(q, width, signed))
            else {
                continue;
            };
            let range = self.range(&x).union(&self.range(&y));
            let narrow = if signed {
                range.signed_width()
            } else {
                range.width().0
            };
            if narrow < width {
                let (x, y) = (self.emit_reduced(x, narrow), self.emit_reduced(y, narrow));
                let chosen = self.plain_choice(c, x, y);
                let chosen = self.exact(chosen, signed);
                return self.emit_reduced(chosen, width);
            }
        }
        let (x, y) = (self.emit(p, width), self.emit(q, width));
        self.plain_choice(c, x, y)
    }

    fn plain_choice(&mut self, c: Term, x: Term, y: Term) -> Term {
        let (x, y) = (self.norm(x), self.norm(y));
        let chosen = b::ite(c, x, y);
        if chosen
            .args_of(OpCode::Ite)
            .is_some_and(|a| a[0] == c && a[1] == x && a[2] == y)
        {
            self.normal.stays(chosen);
            return chosen;
        }
        self.norm(chosen)
    }

    /// `if d < 0 then p else q`, when the arms differ by d, or by d + 1, or by their negation.
    fn as_minimum(&mut self, c: Term, p: &Poly, q: &Poly, width: u32) -> Option<Poly> {
        let arms = self.reduce(p.sub(q), width);
        for d in self.conditions(c, p, q) {
            for step in [0, 1] {
                let e = d.add(&Poly::constant(BigInt::from(step)));
                let zero = Poly::default();
                if self.reduce(e.clone(), width) == arms {
                    return Some(q.add(&self.choose(false, &e, &zero)));
                }
                let e = e.scale(&-BigInt::one());
                if self.reduce(e.clone(), width) == arms {
                    return Some(q.add(&self.choose(true, &e, &zero)));
                }
            }
        }
        None
    }

    /// Integers whose sign is this condition: as it was written, and with what it compares
    /// replaced by a minimum or maximum in the arms that compares alike.
    fn conditions(&mut self, c: Term, p: &Poly, q: &Poly) -> Vec<Poly> {
        let mut found: Vec<Poly> = self.compares.get(&c).cloned().into_iter().collect();
        if let Some((variable, top)) = tested_bit(c) {
            for m in p.0.keys().chain(q.0.keys()).flatten() {
                let ends = super::slice_of(m.term)
                    .is_some_and(|(v, lo)| v == variable && lo + m.term.width() == top + 1);
                if ends {
                    found.push(self.atom(m.term, true));
                }
            }
        }
        let mut more = Vec::new();
        for d in &found {
            let (open, threshold) = (d.without_constant(), -d.constant_part());
            for m in p.0.keys().chain(q.0.keys()).filter(|m| m.len() == 1) {
                let term = super::constant_extract(m[0].term)
                    .filter(|&(t, lo)| lo == 0 && self.choices.contains_key(&t))
                    .map_or(m[0].term, |(t, _)| t);
                let Some(choice) = self.choices.get(&term) else {
                    continue;
                };
                let compares_alike = choice.operands.contains(&open)
                    && choice.operands.iter().all(|o| match o.as_constant() {
                        Some(k) if choice.max => k < threshold,
                        Some(k) => k >= threshold,
                        None => *o == open,
                    });
                if compares_alike {
                    let atom = Atom {
                        term,
                        signed: choice.signed,
                    };
                    more.push(Poly::atom(atom).sub(&Poly::constant(threshold.clone())));
                }
            }
        }
        found.extend(more);
        found
    }
}

/// The greater less the lesser, chosen by a comparison, as the magnitude of the difference with a
/// bit more, which is how others write it.
pub(super) fn absolute_difference(choice: Term) -> Option<Term> {
    let (two, signed) = difference::of(choice)?;
    let width = choice.width();
    let [x, y] = two.map(|t| match signed {
        true => b::sext(t, width + 1),
        false => b::zext(t, width + 1),
    });
    Some(b::extract(b::abs(b::sub(x, y)), 0, width))
}

/// The variable and bit, when a condition tests one bit of an input.
fn tested_bit(c: Term) -> Option<(Term, u32)> {
    let args = c.args_of(OpCode::Eq)?;
    let (variable, lo) = super::slice_of(args[0])?;
    (args[0].sort() == Sort::Bv(1)
        && args[1].as_bits()? == &to_bits(&BigInt::one(), 1)
        && !variable.width().is_zero())
    .then_some((variable, lo))
}

/// A term with the arms of choices by a condition that is decided.
fn decided(t: Term, c: Term, holds: bool, known: &mut HashMap<Term, Term>) -> Term {
    if let Some(&done) = known.get(&t) {
        return done;
    }
    let new = match t.args_of(OpCode::Ite).filter(|arms| arms[0] == c) {
        Some(arms) => decided(arms[if holds { 1 } else { 2 }], c, holds, known),
        None => rebuild(t, |part, _| decided(part, c, holds, known)),
    };
    known.insert(t, new);
    new
}
