//! Word-level normal forms.
//!
//! In: closed terms. Out: equal flat terms, such that many pairs of equal terms come out as
//! the same node.

use semantics::term::Term;
use semantics::unroll::unroll;

/// The normal form of a closed term: flat and equal to it.
pub fn normalise(t: Term) -> Term {
    unroll(t)
}

/// The normal forms of two flat terms that are to be compared.
pub(crate) fn pair(a: Term, b: Term) -> (Term, Term) {
    (normalise(a), normalise(b))
}
