//! The parser that pest makes of `grammar.pest`.
//!
//! In: a body of pseudocode. Out: pairs, one [`Rule`] each. [`super::parser`] makes the tree.
#![allow(missing_docs)] // the derive writes an enum without documentation

/// The grammar; its rules are named as in `grammar.pest`.
#[derive(pest_derive::Parser)]
#[grammar = "matrix/grammar.pest"]
pub(crate) struct Grammar;
