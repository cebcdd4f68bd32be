//! Questions about terms: normalisation, proofs, SAT and SMT engines.
