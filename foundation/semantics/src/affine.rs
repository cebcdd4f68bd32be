//! Affine index expressions: `c0 + c1·x1 + c2·x2 + …`.
//!
//! In: index terms. Out: [`Affine`], their normal form, and terms rebuilt from it. Whatever
//! is not a sum or a product with a constant is an atom. Overflow wraps at 64 bits, as the
//! operators do.

use crate::op::{Op, OpCode};
use crate::term::{Kind, Term};
use std::collections::BTreeMap;

/// A sum of atoms with coefficients, and a constant.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Affine {
    /// Coefficients that are not zero, by atom.
    pub coefficients: BTreeMap<Term, i64>,
    /// The constant.
    pub constant: i64,
}

impl Affine {
    /// The normal form of an index term.
    pub fn of(t: Term) -> Affine {
        if let Some(c) = t.as_int() {
            return Affine {
                constant: c,
                ..Affine::default()
            };
        }
        if let Some(args) = t.args_of(OpCode::IntAdd) {
            return Affine::of(args[0]).plus(&Affine::of(args[1]));
        }
        if let Some(args) = t.args_of(OpCode::IntMul) {
            let (a, b) = (Affine::of(args[0]), Affine::of(args[1]));
            if b.coefficients.is_empty() {
                return a.times(b.constant);
            }
            if a.coefficients.is_empty() {
                return b.times(a.constant);
            }
        }
        Affine {
            coefficients: BTreeMap::from([(t, 1)]),
            constant: 0,
        }
    }

    /// The sum.
    pub fn plus(mut self, other: &Affine) -> Affine {
        self.constant = self.constant.wrapping_add(other.constant);
        for (&atom, &c) in &other.coefficients {
            let sum = self.coefficients.entry(atom).or_insert(0);
            *sum = sum.wrapping_add(c);
            if *sum == 0 {
                self.coefficients.remove(&atom);
            }
        }
        self
    }

    /// The product with a constant.
    pub fn times(mut self, factor: i64) -> Affine {
        self.constant = self.constant.wrapping_mul(factor);
        self.coefficients
            .values_mut()
            .for_each(|c| *c = c.wrapping_mul(factor));
        self.coefficients.retain(|_, c| *c != 0);
        self
    }

    /// The coefficient of an atom, 0 when it does not occur.
    pub fn coefficient(&self, atom: Term) -> i64 {
        self.coefficients.get(&atom).copied().unwrap_or(0)
    }

    /// The term in normal form: atoms in structural order, the constant last.
    pub fn to_term(&self) -> Term {
        let app =
            |code, a, b| Term::raw_app(Op::new(code), &[a, b]).expect("indices add and multiply");
        let mut sum: Option<Term> = None;
        for (&atom, &c) in &self.coefficients {
            let product = if c == 1 {
                atom
            } else {
                app(OpCode::IntMul, atom, Term::int(c))
            };
            sum = Some(sum.map_or(product, |s| app(OpCode::IntAdd, s, product)));
        }
        match sum {
            None => Term::int(self.constant),
            Some(s) if self.constant == 0 => s,
            Some(s) => app(OpCode::IntAdd, s, Term::int(self.constant)),
        }
    }
}

/// Whether an index term is never negative, judged from its shape (map and fold indices
/// count up from 0).
pub fn never_negative(t: Term) -> bool {
    let mut seen = hashbrown::HashSet::new();
    let mut stack = vec![t];
    while let Some(t) = stack.pop() {
        if !seen.insert(t) {
            continue;
        }
        match t.kind() {
            Kind::Int(i) if *i >= 0 => {}
            Kind::Bound { .. } => {}
            Kind::App { op, args } => match op.code {
                OpCode::IntAdd | OpCode::IntMul | OpCode::IntDiv | OpCode::IntMod => {
                    stack.extend(args.iter());
                }
                _ => return false,
            },
            _ => return false,
        }
    }
    true
}
