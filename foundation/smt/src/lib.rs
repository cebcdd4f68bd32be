//! Questions about terms: normal forms, proofs of equality, solving for unknowns.
//!
//! In: terms of [`semantics`]. Out: three-valued answers with their evidence. It knows no
//! instructions, kernels or programs; what it cannot decide it says so ([`verdict::Reason`]).
//!
//! ```
//! use semantics::{build as b, sort::Sort, term::Term};
//! use smt::{config::Config, prover::Prover};
//!
//! let x = Term::var("x", Sort::Bv(32));
//! let y = Term::var("y", Sort::Bv(32));
//! let prover = Prover::new(Config::default());
//! let sum = b::add(b::xor(x, y), b::mul(Term::bv(32, 2), b::and(x, y)));
//! assert!(prover.prove_equal(b::add(x, y), sum).is_proved());
//! assert!(prover.prove_equal(x, y).is_refuted());
//! ```

mod blast;
mod cache;
pub mod config;
mod elements;
pub mod normalise;
mod products;
pub mod prover;
pub mod quotient;
mod sample;
mod smtlib;
mod sweep;
pub mod verdict;

#[cfg(test)]
mod tests;
