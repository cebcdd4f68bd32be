//! Kernel windows to proved programs.
//!
//! In: a lowered kernel of crate `kernel`, and [`TargetOperations`](operations::TargetOperations): the operations of a
//! dictionary that a target has instructions for, with a cost table. Out of
//! [`compile::compile`]: for each window a program of the dictionary's operations, proved equal to
//! it, and a report of what was done. `examples/synthesise.rs` is a whole program around it. It
//! reads no files and writes no code: `codegen-gen` does.

pub mod adopt;
pub mod alternatives;
mod bit_matrix;
mod candidates;
pub mod canonical;
mod classes;
pub mod compile;
pub mod cost;
mod elements;
pub mod estimate;
pub mod exhaust;
pub mod fragment;
mod goal;
mod identities;
mod lane_function;
pub mod lanes;
pub mod legal;
mod library;
pub mod limit;
mod masks;
pub mod matching;
mod memo;
pub mod operations;
mod pairs;
pub mod placement;
mod prepare;
pub mod proof;
pub mod reach;
mod record;
pub mod search;
mod sequence;
pub mod shared;
mod swizzle;
mod tabulate;
mod twins;
mod variants;
mod whole;
mod widths;
mod words;

#[cfg(test)]
mod tests;
