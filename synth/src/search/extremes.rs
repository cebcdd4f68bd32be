//! Choices that are the greater or the less of what they choose among.
//!
//! In: a choice of two values by a comparison, of whatever. Out: bounds that are equal to it:
//! `a > 0 ? a : a >> 3` is the greater of both, as a shift down brings a value towards 0. That the comparison
//! orders the values is guessed from fixed inputs of a few values that all rest on, then proved of those.

use super::Search;
use crate::candidates::Equality;
use crate::fragment::{Fragment, regular, variable};
use crate::lanes::operators_of;
use semantics::op::{Op, OpCode};
use semantics::sort::Sort;
use semantics::subst::free_vars;
use semantics::term::Term;
use std::rc::Rc;

/// The most borders below a choice that are looked at, and their values.
const BORDERS: usize = 6;
const VALUES: usize = 2;
const COMPARISONS: [OpCode; 4] = [OpCode::BvSlt, OpCode::BvSle, OpCode::BvUlt, OpCode::BvUle];
const BOUNDS: [OpCode; 4] = [OpCode::Smax, OpCode::Smin, OpCode::Umax, OpCode::Umin];

impl Search<'_> {
    /// The bounds that a choice is; found once.
    pub(super) fn extremes(&mut self, t: Term) -> Rc<Vec<Term>> {
        if let Some(known) = self.memory.extremes.get(&t) {
            return Rc::clone(known);
        }
        let found = Rc::new(self.as_bounds(t).unwrap_or_default());
        self.memory.extremes.insert(t, Rc::clone(&found));
        found
    }

    fn as_bounds(&mut self, t: Term) -> Option<Vec<Term>> {
        let &[test, x, y] = t.args_of(OpCode::Ite)?.first_chunk()?;
        let compares = COMPARISONS.contains(&test.as_app()?.0.code);
        if !compares || !matches!(t.sort(), Sort::Bv(_)) || !regular(t) || x == y {
            return None;
        }
        let bounds = BOUNDS.map(|code| Term::raw_app(Op::new(code), &[x, y]).ok());
        let cuts = self.memory.cuts.of(t).into_iter();
        // Where both values are at the border, an operation is found as it is.
        let inside = |cut: &Vec<Term>| {
            let few = (1..=VALUES).contains(&cut.len()) && cut.iter().all(|l| regular(*l));
            few && !(cut.contains(&x) && cut.contains(&y))
        };
        let cuts: Vec<Vec<Term>> = cuts.filter(inside).take(BORDERS).collect();
        for cut in cuts {
            let Some(of) = self.fragment(t, &cut) else {
                continue;
            };
            if !is_plain(of.0.term) {
                continue;
            }
            let mut found = Vec::new();
            for bound in bounds.into_iter().flatten() {
                let piece = Fragment::new(bound, &cut);
                let alike = is_over_its_leaves(&piece) && piece.behaviour() == Some(of.1);
                if alike && self.is_proved(piece.term, of.0.term) {
                    found.push(bound);
                }
            }
            if !found.is_empty() {
                return Some(found);
            }
        }
        None
    }

    fn is_proved(&self, x: Term, y: Term) -> bool {
        let equality = self.candidates.equality(x, y, self.prover);
        matches!(equality, Equality::Equal)
    }
}

/// Whether a piece has no floats, products or quotients, whose orders take long to prove.
fn is_plain(piece: Term) -> bool {
    use OpCode as C;
    let hard = [C::BvMul, C::BvUdiv, C::BvUrem, C::BvSdiv, C::BvSrem];
    let codes = operators_of(piece);
    let of_floats = |code: &C| code.info().params.contains(&"format");
    !codes
        .iter()
        .any(|code| hard.contains(code) || of_floats(code))
}

/// Whether a piece reads nothing but the values of its border.
fn is_over_its_leaves(piece: &Fragment) -> bool {
    let widths = piece.widths().into_iter().enumerate();
    let leaves: Vec<Term> = widths.map(|(k, w)| variable(k, w)).collect();
    free_vars(piece.term).iter().all(|v| leaves.contains(v))
}
