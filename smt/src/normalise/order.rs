//! Operators in which neither order nor grouping matters.
//!
//! In: flat terms. Out: equal terms, in which the arguments of sums, products, bitwise
//! logic, minima and maxima stand in one order and are grouped one way, equal arguments of
//! idempotent ones once. Nothing else changes: this settles terms that differ only in how
//! they were written down, whatever their size.

use semantics::build as b;
use semantics::op::{Op, OpCode};
use semantics::subst::rebuild;
use semantics::term::Term;
use std::collections::HashMap;

/// Chains with more arguments than this keep their grouping: shared subterms would be
/// written out again and again.
const MAX_ARGUMENTS: usize = 512;

/// Puts terms in order; terms that share subterms share the work.
#[derive(Default)]
pub(super) struct Order {
    done: HashMap<Term, Term>,
}

impl Order {
    /// The term in order.
    pub(super) fn of(&mut self, t: Term) -> Term {
        if let Some(&known) = self.done.get(&t) {
            return known;
        }
        let out = match t.as_app() {
            Some((op, _)) if associates(op.code) => self.chain(op, t),
            _ => rebuild(t, |child, _| self.of(child)),
        };
        self.done.insert(t, out);
        out
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
        flat.sort();
        if idempotent(op.code) {
            flat.dedup();
        }
        let joined = flat.into_iter().reduce(|x, y| b::app(op, &[x, y]));
        joined.expect("an application has arguments")
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
