//! Proofs that do not rest on this program's normal forms.
//!
//! In: pairs of terms that are said to be equal. Out: what an SMT solver says of them as they
//! stand ([`ask`], [`many`]), or else of each step of a chain between them ([`chain`]), and what is
//! shown by a proof that is checked here ([`bits`]); for each rewrite by its name, whether it holds at many widths
//! ([`rules`]). It has no opinion of its own: what a solver does not answer in time is not
//! answered, and an input that is said to tell two terms apart is run before it is believed.

mod alike;
pub mod ask;
pub mod bits;
pub mod chain;
pub mod corpus;
mod exhaust;
pub mod many;
pub mod rules;
pub mod session;
mod sweep;
