//! SMT-LIB: terms with their sorts, and the conversation with a solver.
//!
//! | module | what |
//! |---|---|
//! | [`expression`] | terms of SMT-LIB, each of a sort that is checked when it is made |
//! | [`function`] | what a conversation introduces: names with sorts, and what they are |
//! | [`value`] | constants as solvers write them |
//! | [`conversation`] | one solver process, spoken to by crate `rsmt2` |
//!
//! It has no opinion of what our own operators are in SMT-LIB: `smt` and `raw` each say that.

pub mod conversation;
pub mod expression;
pub mod function;
mod reading;
mod symbols;
#[cfg(test)]
mod tests;

pub mod value;
