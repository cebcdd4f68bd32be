//! The dictionary of parameterised operations and the programs over it.

pub mod dictionary;
pub mod program;
