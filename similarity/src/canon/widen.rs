//! Elements that are as wide as their products, read as if they had been extended.
//!
//! In: an element of a register. Out: an equal term in which both factors of every product in
//! a sum are extended to the width that they have, so that a product of whole elements is
//! the last member of the products of extended narrower ones. It is a further reading, for
//! instructions that nobody shares the plain one with; the proof of the member decides.

use super::form::flatten;
use semantics::op::{Op, OpCode};
use semantics::term::Term;

/// The element with extensions; nothing when there are not several such products.
pub(super) fn widened(element: Term) -> Option<Term> {
    let mut addends = Vec::new();
    flatten(OpCode::BvAdd, element, &mut addends);
    let products = addends.iter().filter(|&&t| factors(t).is_some()).count();
    if products < 2 {
        return None;
    }
    let apply = |op: Op, args: &[Term]| Term::raw_app(op, args).ok();
    let mut addends = addends.into_iter().map(|t| {
        let Some((a, b)) = factors(t) else {
            return Some(t);
        };
        let extend = |x: Term| apply(Op::with(OpCode::Sext, x.width()), &[x]);
        apply(Op::new(OpCode::BvMul), &[extend(a)?, extend(b)?])
    });
    let first = addends.next()??;
    addends.try_fold(first, |sum, t| apply(Op::new(OpCode::BvAdd), &[sum, t?]))
}

/// The factors of a product of two elements of registers.
fn factors(t: Term) -> Option<(Term, Term)> {
    let args = t.args_of(OpCode::BvMul)?;
    let element = |x: Term| {
        let part = x.args_of(OpCode::Extract);
        part.is_some_and(|p| p[0].as_var().is_some())
    };
    (element(args[0]) && element(args[1])).then(|| (args[0], args[1]))
}
