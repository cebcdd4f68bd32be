//! Kernel windows to proved programs.

pub mod candidates;
pub mod canonical;
pub mod compile;
pub mod cost;
pub mod goal;
pub mod graph;
pub mod lanes;
pub mod matching;
pub mod prepare;
pub mod search;
pub mod swizzle;

#[cfg(test)]
mod tests;
