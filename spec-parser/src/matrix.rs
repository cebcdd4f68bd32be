//! The matrix dialect: machines whose registers have rows, columns and typed views.
//!
//! In: a manifest with `dialect: matrix`, and the files of instructions that it names. Out: a
//! [`semantics::machine::Machine`]: state, meanings, words and assembly text, and what is
//! wrong. Unlike Intel's dialect it describes whole machines, not C functions, and its
//! notation is our own. It runs nothing.

mod abi;
mod ast;
mod block;
mod cost;
mod encoding;
mod erratum;
mod file;
mod grammar;
pub mod load;
mod lower;
mod parser;
mod place;
mod procedure;
mod role;
mod setup;
mod state;
mod view;
