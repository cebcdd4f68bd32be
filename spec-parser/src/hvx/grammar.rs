//! The parser that pest makes of `grammar.pest`.
//!
//! In: text. Out: pairs, one [`Rule`] each. [`super::tree`] makes the tree of them.
#![allow(missing_docs)] // the derive writes an enum without documentation

/// The grammar; its rules are named as in `grammar.pest`.
#[derive(pest_derive::Parser)]
#[grammar = "hvx/grammar.pest"]
pub(crate) struct Grammar;
