//! Word-level normal forms.
//!
//! In: closed terms. Out: equal flat terms, such that many pairs of equal terms come out as
//! the same node: sums and products are polynomials modulo 2^w over extended atoms
//! (`ring`), with interval analysis (`range`) carrying extensions and comparisons
//! inside; choices (`choice`), comparisons (`compare`), extractions and logic
//! (`bitwise`) have one form each; operations on short floats are those on long ones; sums over the field of two elements are compared bit by bit
//! (`linear`). Near linear, deterministic, no search. It does not
//! decide: equal terms may keep different normal forms.

mod bitwise;
mod choice;
mod compare;
mod corners;
mod known;
mod linear;
pub mod order;
mod poly;
mod range;
mod ring;
mod rule;

#[cfg(test)]
mod tests;

use known::Known;
use num_bigint::BigInt;
use num_traits::One;
use poly::{Atom, Poly, Range};
use semantics::bits::Bits;
use semantics::build as b;
use semantics::op::{Op, OpCode};
use semantics::range::{Ranges, decided, never_saturates};
use semantics::sort::Sort;
use semantics::term::{Kind, Term};
use semantics::unroll::unroll;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use known::Named;
pub use rule::{Rule, Step};

/// What normal forms make of a closed term, each rewrite by its name: every subterm that is
/// looked at, and its normal form; with inputs whole, and cut where the term reads parts of them.
pub fn steps(t: Term) -> Vec<Step> {
    let t = unroll(t);
    let mut all = Vec::new();
    for cuts in [BTreeMap::new(), cuts(&[t])] {
        let mut normaliser = Normaliser {
            cuts,
            ..Normaliser::default()
        };
        normaliser.normal.watch();
        normaliser.norm(t);
        all.extend(normaliser.normal.watched());
    }
    all
}

/// What putting a closed term in order makes of its subterms, each by its name.
pub fn steps_of_order(t: Term) -> Vec<Step> {
    let mut order = order::Order::default();
    order.done.watch();
    order.of(unroll(t));
    order.done.watched()
}

/// Normal forms of the parts of two flat terms that are to be compared, one after the other.
pub struct Forms(Normaliser);

impl Forms {
    /// For the parts of these terms: inputs are cut where either reads only a part.
    pub fn of_both(a: Term, b: Term) -> Forms {
        let mut normaliser = Normaliser {
            cuts: cuts(&[a, b]),
            ..Normaliser::default()
        };
        normaliser.normal.watch();
        Forms(normaliser)
    }

    /// The normal form of a flat term, and the rewrite that made it.
    pub fn of(&mut self, t: Term) -> (Term, Option<Rule>) {
        let to = self.0.norm(t);
        (to, self.0.normal.rule_of(t))
    }
}

/// The step from the second of two closed terms to the first, when the bits of both are the same
/// sums over the field of two elements.
pub fn step_of_sums(a: Term, b: Term) -> Option<Step> {
    let (a, b) = (unroll(a), unroll(b));
    let mut known = Known::default();
    known.watch();
    known.becomes(b, linear::same(a, b)?);
    known.watched().pop()
}

/// The normal form of a closed term: flat, equal to it, the same in every run.
pub fn normalise(t: Term) -> Term {
    Normaliser::default().norm(unroll(t))
}

/// The normal forms of two flat terms that are to be compared. Terms that differ only in the
/// order and grouping of their arguments meet before anything else is tried.
///
/// When they differ, both are normalised once more with every input cut where either term
/// reads only part of it, so that a product of whole numbers and the same product from
/// high and low halves meet.
pub(crate) fn pair(a: Term, b: Term) -> (Term, Term) {
    let mut order = order::Order::default();
    let (x, y) = (order.of(a), order.of(b));
    if x == y {
        return (x, y);
    }
    if let Some(sums) = linear::same(a, b) {
        let one = order.done.becomes(b, sums);
        return (one, one);
    }
    let mut normaliser = Normaliser::default();
    let (x, y) = (normaliser.norm(a), normaliser.norm(b));
    if x == y {
        return (x, y);
    }
    let cuts = cuts(&[a, b, x, y]);
    if cuts.is_empty() {
        return (x, y);
    }
    let mut finer = Normaliser {
        cuts,
        ..Normaliser::default()
    };
    let (p, q) = (finer.norm(a), finer.norm(b));
    if p == q { (p, q) } else { (x, y) }
}

/// A minimum or maximum that was given a name.
#[derive(Clone, Debug)]
struct Choice {
    max: bool,
    /// How the atom is read.
    signed: bool,
    /// What it chooses from, in order.
    operands: Vec<Poly>,
}

/// The memory of one normalisation.
#[derive(Default)]
struct Normaliser {
    /// Where inputs are cut.
    cuts: BTreeMap<Term, BTreeSet<u32>>,
    normal: Known,
    rings: HashMap<Term, Rc<Poly>>,
    ranges: HashMap<Atom, Range>,
    /// Ranges of terms by their shapes.
    values: Ranges,
    /// Atoms that are a minimum or maximum.
    choices: HashMap<Term, Choice>,
    /// Conditions that say that an integer is negative.
    compares: HashMap<Term, Poly>,
    /// Extractions that are being worked out.
    rounding: HashSet<Term>,
    /// Whether some term is a quotient by what is no constant.
    divides: bool,
}

impl Normaliser {
    /// The normal form.
    fn norm(&mut self, t: Term) -> Term {
        if let Some(done) = self.normal.of(t) {
            return done;
        }
        match t.kind() {
            Kind::App { op, args } => {
                let named = self.norm_app(t, *op, args);
                let out = self.normal.becomes(t, named);
                self.normal.stays_unless_known(out);
                out
            }
            _ => self.normal.stays(t),
        }
    }

    fn norm_app(&mut self, t: Term, op: Op, args: &[Term]) -> Named {
        use OpCode as C;
        let known = decided(t, &mut self.values);
        if let Some(other) = known.or_else(|| never_saturates(t, &mut self.values)) {
            return Rule::DecidedByRange.gives(self.norm(other));
        }
        if matches!(op.code, C::FToSint | C::FToUint)
            && let Some(other) = semantics::float::quotient::of_floats(op, &[self.norm(args[0])])
        {
            return Rule::QuotientOfFloats.gives(self.norm(other));
        }
        if let Some(other) = semantics::float::wider::by_wider(op, args) {
            return Rule::WiderFloat.gives(self.norm(other));
        }
        if let Some(other) = semantics::float::rounded::of_rounding(op, args) {
            return Rule::RoundedConversion.gives(self.norm(other));
        }
        if let Some(other) = semantics::float::saturating::of_clamped(op, args) {
            return Rule::ClampedConversion.gives(self.norm(other));
        }
        if let Some(other) = semantics::float::saturating::of_wider(op, args) {
            return Rule::WiderConversion.gives(self.norm(other));
        }
        if op.code.divides() {
            let normal = [self.norm(args[0]), self.norm(args[1])];
            if let Some(other) = crate::quotient::at_fewer_bits(op, &normal) {
                return Rule::NarrowQuotient.gives(self.norm(other));
            }
            if let Some(other) = crate::quotient::by_constant(op, args) {
                return Rule::QuotientByConstant.gives(self.norm(other));
            }
        }
        if let Some(other) = crate::quotient::by_quotient(op, args) {
            return Rule::RemainderByQuotient.gives(self.norm(other));
        }
        if op.code == C::Ite
            && let Some(other) = semantics::float::saturating::of_saturating(op, args)
                .or_else(|| semantics::float::saturating::mended_below(op, args))
        {
            return Rule::SaturatingConversion.gives(self.norm(other));
        }
        if op.code == C::Ite
            && let Some(other) = crate::quotient::at_fewer_bits(op, args)
        {
            return Rule::NarrowQuotient.gives(self.norm(other));
        }
        if op.code == C::Ite
            && let Some(other) = crate::quotient::euclidean(op, args)
        {
            return Rule::EuclideanQuotient.gives(self.norm(other));
        }
        if op.code == C::Ite
            && let Some(other) = choice::absolute_difference(t)
        {
            return Rule::AbsoluteDifference.gives(self.norm(other));
        }
        if matches!(op.code, C::BvUdiv | C::BvSdiv) {
            self.divides = true;
            let args = [self.norm(args[0]), self.norm(args[1])];
            if let Some(other) = crate::quotient::narrowed(op, &args) {
                return Rule::NarrowQuotient.gives(self.norm(other));
            }
        }
        match op.code {
            C::Not => {
                let inner = self.norm(args[0]);
                Rule::Negation.gives(b::negate(inner))
            }
            C::And | C::Or => Rule::Junction.gives(self.junction(op.code, args)),
            C::Eq if args[0].sort().width().is_some() => {
                Rule::Equality.gives(self.equal(args[0], args[1]))
            }
            C::Ite => Rule::Choice.gives(self.if_then_else(args[0], args[1], args[2])),
            C::BvNot | C::BvNeg | C::BvAdd | C::BvSub => Rule::Sum.gives(self.polynomial(t)),
            C::BvMul => Rule::Product.gives(self.polynomial(t)),
            C::Zext | C::Sext => Rule::Extension.gives(self.polynomial(t)),
            C::Concat => Rule::Concatenation.gives(self.polynomial(t)),
            C::BvXor if t.width() == 1 => Rule::SumOfBits.gives(self.polynomial(t)),
            C::BvShl if args[1].as_bits().is_some() => {
                Rule::ShiftByConstant.gives(self.polynomial(t))
            }
            C::BvAnd | C::BvOr | C::BvXor => Rule::Logic.gives(self.logic(op.code, args)),
            C::BvUlt => Rule::Less.gives(self.less(args[0], args[1], false)),
            C::BvSlt => Rule::Less.gives(self.less(args[0], args[1], true)),
            C::BvUle => Rule::AtMost.gives(b::negate(self.less(args[1], args[0], false))),
            C::BvSle => Rule::AtMost.gives(b::negate(self.less(args[1], args[0], true))),
            C::Extract => match constant_extract(t) {
                Some((x, lo)) => Rule::Extraction.gives(self.extraction(x, lo, op.params[0])),
                None => self.rebuilt(t, op, args),
            },
            C::SatSS | C::SatSU | C::SatUS | C::SatUU => {
                let (from, to) = (
                    matches!(op.code, C::SatSS | C::SatSU),
                    matches!(op.code, C::SatSS | C::SatUS),
                );
                let clamped = self.saturated(args[0], op.params[0], from, to);
                Rule::Saturation.gives(self.emit_reduced(clamped, op.params[0]))
            }
            C::Smin | C::Smax | C::Umin | C::Umax => {
                let signed = matches!(op.code, C::Smin | C::Smax);
                let (x, y) = (self.exact(args[0], signed), self.exact(args[1], signed));
                let chosen = self.choose(matches!(op.code, C::Smax | C::Umax), &x, &y);
                Rule::Extreme.gives(self.emit_reduced(chosen, t.width()))
            }
            C::Abs => {
                let x = self.exact(args[0], true);
                let size = self.choose(true, &x, &x.scale(&-BigInt::one()));
                Rule::Magnitude.gives(self.emit_reduced(size, t.width()))
            }
            C::Popcnt if (8..=64).contains(&t.width()) => {
                Rule::Population.gives(self.population(args[0]))
            }
            C::Rotl | C::Rotr => self.rotation(t, op, args),
            _ => self.rebuilt(t, op, args),
        }
    }

    /// The term of a term's polynomial.
    fn polynomial(&mut self, t: Term) -> Term {
        let poly = self.ring(t);
        self.emit(&poly, t.width())
    }

    /// The operator over normal arguments; normalised again if that made another operator.
    fn rebuilt(&mut self, t: Term, op: Op, args: &[Term]) -> Named {
        let args: Vec<Term> = args.iter().map(|&a| self.norm(a)).collect();
        let new = b::app(op, &args);
        let same = new == t
            || new
                .as_app()
                .is_some_and(|(o, a)| o == op && (a == args || op.info().commutative));
        Rule::Arguments.gives(if same { new } else { self.norm(new) })
    }

    fn less(&mut self, x: Term, y: Term, signed: bool) -> Term {
        let difference = self.exact(x, signed).sub(&self.exact(y, signed));
        self.negative(&difference)
    }

    /// A conjunction or disjunction: arguments flat, in order, each once.
    fn junction(&mut self, code: OpCode, args: &[Term]) -> Term {
        let mut stack: Vec<Term> = args.to_vec();
        let mut flat = BTreeSet::new();
        while let Some(t) = stack.pop() {
            let t = self.norm(t);
            match t.args_of(code) {
                Some(inner) => stack.extend(inner),
                None => {
                    flat.insert(t);
                }
            }
        }
        let absorbing = Term::bool(code == OpCode::Or);
        if flat.contains(&absorbing) || flat.iter().any(|&t| flat.contains(&b::negate(t))) {
            return absorbing;
        }
        flat.remove(&b::negate(absorbing));
        let join = if code == OpCode::And {
            b::both
        } else {
            b::either
        };
        flat.into_iter()
            .reduce(join)
            .unwrap_or(b::negate(absorbing))
    }

    /// The number of ones as a sum of bits.
    fn population(&mut self, x: Term) -> Term {
        let width = x.width();
        let mut sum = Poly::default();
        for k in 0..width {
            let bit = b::extract(x, k, 1);
            sum.accumulate(&self.exact(bit, false), &BigInt::one());
        }
        self.emit_reduced(sum, width)
    }

    /// A rotation by a constant is two pieces exchanged; by a variable, to the left by the
    /// count modulo the width where that is a power of 2.
    fn rotation(&mut self, t: Term, op: Op, args: &[Term]) -> Named {
        let width = t.width();
        let left = op.code == OpCode::Rotl;
        let count = self.norm(args[1]);
        if let Some(n) = count.as_bits() {
            let n = n.urem(&Bits::from_u64(width.max(64), u64::from(width)).trunc(n.width()));
            let n = u32::try_from(n.low_u64()).unwrap_or(0) % width;
            let n = if left || n == 0 { n } else { width - n };
            if n == 0 {
                return Rule::RotationByConstant.gives(self.norm(args[0]));
            }
            let parts = [
                b::extract(args[0], 0, width - n),
                b::extract(args[0], width - n, n),
            ];
            return Rule::RotationByConstant.gives(self.norm(b::concat(&parts)));
        }
        if !width.is_power_of_two() || width < 2 {
            return self.rebuilt(t, op, args);
        }
        let bits = width.ilog2();
        let low = b::extract(count, 0, bits);
        let low = self.norm(if left { low } else { b::neg(low) });
        let (x, n) = (self.norm(args[0]), self.norm(b::zext(low, width)));
        if n.as_bits().is_some() {
            return self.rotation(t, Op::new(OpCode::Rotl), &[x, n]);
        }
        Rule::Rotation.gives(b::rotl(x, n))
    }
}

/// The source and offset of an extraction at a constant.
fn constant_extract(t: Term) -> Option<(Term, u32)> {
    let args = t.args_of(OpCode::Extract)?;
    Some((args[0], u32::try_from(args[1].as_int()?).ok()?))
}

/// The variable and offset, when a term is a variable or some of its bits.
fn slice_of(t: Term) -> Option<(Term, u32)> {
    if matches!(
        t.kind(),
        Kind::Var {
            sort: Sort::Bv(_),
            ..
        }
    ) {
        return Some((t, 0));
    }
    constant_extract(t).filter(|(x, _)| matches!(x.kind(), Kind::Var { .. }))
}

/// For each input the bits at which some slice of it begins or ends within it.
fn cuts(terms: &[Term]) -> BTreeMap<Term, BTreeSet<u32>> {
    let mut cuts: BTreeMap<Term, BTreeSet<u32>> = BTreeMap::new();
    let mut seen = HashSet::new();
    let mut stack = terms.to_vec();
    while let Some(t) = stack.pop() {
        if !seen.insert(t) {
            continue;
        }
        if let Some((variable, lo)) =
            constant_extract(t).filter(|(x, _)| matches!(x.kind(), Kind::Var { .. }))
        {
            let ends = [lo, lo + t.width()];
            let inside = ends.into_iter().filter(|&e| e > 0 && e < variable.width());
            cuts.entry(variable).or_default().extend(inside);
        }
        stack.extend(t.children());
    }
    cuts.retain(|_, at| !at.is_empty());
    cuts
}
