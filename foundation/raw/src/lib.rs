//! What is asked about terms that nobody has normalised.
//!
//! In: terms, rolled or flat. Out: their equality as terms of SMT-LIB ([`question`]), made from the
//! shape of the terms alone: nothing is simplified, unrolled or put in order on the way.
//! It uses no smart constructor, no interpreter and no prover, and it starts no solver.

mod define;
pub mod question;
