//! Intel's dialect: the pseudocode of the Intrinsics Guide.
//!
//! In: C signatures and bodies of pseudocode. Out: [`semantics::instruction::Instruction`]s
//! whose results are rolled terms, and diagnostics for the bodies that have no such meaning.
//! It describes what computes on registers, masks, floats and memory; prose, and what depends
//! on state of the processor that no operand names, is refused with a reason.

mod builtin;
mod constants;
mod dialect;
mod grammar;
pub mod guide;
mod layout;
pub mod lower;
pub mod parser;
mod tree;
pub mod types;
pub mod vendor;

pub(crate) use dialect::Intel;
