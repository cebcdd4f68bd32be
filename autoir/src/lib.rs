//! The dictionary of parameterised operations and the programs over it.

pub mod program;
