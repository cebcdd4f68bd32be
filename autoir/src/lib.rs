//! The dictionary of parameterised operations and the programs over it.

mod apart;
pub mod build;
pub mod contrast;
pub mod dictionary;
pub mod formula;
pub mod graph;
mod lex;
pub mod names;
pub mod program;
pub mod text;
pub mod verify;
