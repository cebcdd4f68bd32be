//! What replays proofs: small enough to be read in one sitting.
//!
//! In: terms, and the steps that are said to lead from one to the other. Out: whether they do
//! ([`replay`]), rolled terms being written out first ([`flat`]). It simplifies nothing, knows
//! no normal form, and proves no step: whoever calls it has to vouch for each.

pub mod flat;
pub mod replay;

#[cfg(test)]
mod tests;
