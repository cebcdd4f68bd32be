//! The dictionary of parameterised operations and the programs over it.

pub mod build;
pub mod dictionary;
pub mod formula;
pub mod names;
pub mod program;
