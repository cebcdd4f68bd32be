//! Terms as bits, and proofs that no bit differs: small enough to be read in one sitting.
//!
//! In: flat terms, and what a SAT solver learnt. Out: the clauses that say that two terms differ
//! ([`words`], [`circuit`]); whether what was learnt shows that they cannot all be true
//! ([`refutation`]), or that by running them on every input (`trial`). It searches for nothing and believes no solver. It simplifies no term, but order,
//! grouping and width of sums, products, extremes and exclusive ors do not matter (`totals`), and of
//! products it knows ranges (`products`), and which by constants are quotients (`quotients`); of floats' arithmetic and of memory it knows only that they are functions.

pub mod circuit;
mod floats;
mod products;
mod quotients;
pub mod refutation;
mod totals;
mod trial;
pub mod words;

#[cfg(test)]
mod tests;
