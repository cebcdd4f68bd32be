//! Flat terms to rolled ones.
use semantics::term::Term;
/// roll
pub fn roll(t: Term) -> Term { t }
