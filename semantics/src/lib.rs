//! What an instruction means: bit-vector terms, the operator table, the interpreter.

pub mod affine;
pub mod bits;
pub mod build;
pub mod diagnostic;
pub mod eval;
mod expand;
pub mod instruction;
mod named;
pub mod op;
pub mod parse;
pub mod print;
mod rules;
pub mod sexpr;
pub mod sort;
pub mod span;
pub mod subst;
pub mod table;
pub mod term;
#[cfg(test)]
mod testing;
pub mod unroll;
pub mod value;
