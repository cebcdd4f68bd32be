//! The dictionary of parameterised operations and the programs over it.
