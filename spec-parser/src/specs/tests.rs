//! Tests of loading whole instruction sets.
