//! What an instruction means: bit-vector terms, the operator table, the interpreter.

pub mod affine;
pub mod bits;
pub mod build;
pub mod diagnostic;
pub mod eval;
mod expand;
pub mod instruction;
pub mod op;
pub mod print;
mod rules;
pub mod sort;
pub mod span;
pub mod subst;
pub mod table;
pub mod term;
pub mod unroll;
pub mod value;
