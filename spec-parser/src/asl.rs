//! Arm's dialect: ASL, the language of the Arm architecture's instruction descriptions.
//!
//! In: C signatures and bodies in this notation. Out, through [`crate::pseudocode`]:
//! instructions whose results are rolled terms. Bits have a width and are no integers; `Elem`
//! names elements; blocks are told by their indentation. Decoding of instruction words and the
//! state of the processor that no intrinsic returns (sticky saturation) are not here.

mod builtin;
mod dialect;
mod float;
mod grammar;
mod layout;
mod parser;
mod tree;

pub(crate) use dialect::Asl;
