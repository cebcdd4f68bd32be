//! Operators in which neither order nor grouping matters.
//!
//! In: flat terms. Out: equal terms, in which the arguments of sums, products, bitwise
//! logic, minima and maxima stand in one order and are grouped one way, equal arguments of
//! idempotent ones once, and those that change nothing not at all; a choice between two
//! values by comparing them is their minimum or maximum. Nothing else changes: this settles terms that differ only in how
//! they were written down, whatever their size.

use super::known::Known;
use super::rule::Rule;
use semantics::build as b;
use semantics::op::{Op, OpCode};
use semantics::subst::rebuild;
use semantics::term::Term;

/// Chains with more arguments than this keep their grouping: shared subterms would be
/// written out again and again.
const MAX_ARGUMENTS: usize = 512;

/// Puts terms in order; terms that share subterms share the work.
#[derive(Default)]
pub(super) struct Order {
    pub(super) done: Known,
}

impl Order {
    /// The term in order.
    pub(super) fn of(&mut self, t: Term) -> Term {
        if let Some(known) = self.done.of(t) {
            return known;
        }
        let named = match t.as_app() {
            Some((op, _)) if associates(op.code) => Rule::Regrouped.gives(self.chain(op, t)),
            _ => {
                let inner = rebuild(t, |child, _| self.of(child));
                match extreme(inner) {
                    // A minimum of minima is a longer chain.
                    Some(chosen) if chosen != inner => Rule::ChoiceIsExtreme.gives(self.of(chosen)),
                    _ => Rule::WithinOrdered.gives(inner),
                }
            }
        };
        self.done.becomes(t, named)
    }

    fn chain(&mut self, op: Op, t: Term) -> Term {
        let (mut stack, mut flat) = (vec![t], Vec::new());
        while let Some(next) = stack.pop() {
            match next.args_of(op.code) {
                Some(args) => stack.extend(args),
                None => flat.push(next),
            }
            if stack.len() + flat.len() > MAX_ARGUMENTS {
                return rebuild(t, |child, _| self.of(child));
            }
        }
        let mut flat: Vec<Term> = flat.into_iter().map(|a| self.of(a)).collect();
        if let Some(neutral) = op.code.neutral(t.width()) {
            let changes = |a: &Term| a.as_bits() != Some(&neutral);
            if flat.iter().any(changes) {
                flat.retain(changes);
            }
        }
        flat.sort();
        if idempotent(op.code) {
            flat.dedup();
        }
        let joined = flat.into_iter().reduce(|x, y| b::app(op, &[x, y]));
        joined.expect("an application has arguments")
    }
}

/// A choice between two values by comparing them, as their minimum or maximum.
pub fn extreme(t: Term) -> Option<Term> {
    let args = t.args_of(OpCode::Ite)?;
    let (op, compared) = args[0].as_app()?;
    let (x, y) = (*compared.first()?, *compared.get(1)?);
    let least = if (args[1], args[2]) == (x, y) {
        true
    } else if (args[1], args[2]) == (y, x) {
        false
    } else {
        return None;
    };
    match (op.code, least) {
        (OpCode::BvUlt | OpCode::BvUle, true) => Some(b::umin(x, y)),
        (OpCode::BvUlt | OpCode::BvUle, false) => Some(b::umax(x, y)),
        (OpCode::BvSlt | OpCode::BvSle, true) => Some(b::smin(x, y)),
        (OpCode::BvSlt | OpCode::BvSle, false) => Some(b::smax(x, y)),
        _ => None,
    }
}

fn idempotent(code: OpCode) -> bool {
    use OpCode as C;
    matches!(
        code,
        C::BvAnd | C::BvOr | C::Smin | C::Smax | C::Umin | C::Umax
    )
}

fn associates(code: OpCode) -> bool {
    use OpCode as C;
    idempotent(code) || matches!(code, C::BvXor | C::BvAdd | C::BvMul)
}
