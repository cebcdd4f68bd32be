//! Kernel windows to proved programs.
//!
//! In: a lowered kernel of crate `kernel`, and [`TargetOperations`](operations::TargetOperations): the operations of a
//! dictionary that a target has instructions for, with a cost table. Out of
//! [`compile::compile`]: for each window a program of the dictionary's operations, proved equal to
//! it, and a report of what was done. `examples/synthesise.rs` is a whole program around it. It
//! reads no files and writes no code: `codegen-gen` does.

pub mod alternatives;
mod bit_matrix;
pub mod candidates;
pub mod canonical;
pub mod classes;
pub mod compile;
pub mod cost;
mod elements;
pub mod estimate;
pub mod exhaust;
pub mod fragment;
pub mod goal;
mod identities;
mod lane_function;
pub mod lanes;
pub mod legal;
pub mod library;
pub mod limit;
pub mod masks;
pub mod matching;
mod memo;
pub mod operations;
mod pairs;
pub mod placement;
pub mod prepare;
pub mod proof;
pub mod reach;
pub mod record;
pub mod search;
mod sequence;
pub mod shared;
pub mod swizzle;
mod tabulate;
mod twins;
mod whole;
pub mod widths;

#[cfg(test)]
mod tests;
