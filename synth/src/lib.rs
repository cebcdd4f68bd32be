//! Kernel windows to proved programs.

pub mod alternatives;
pub mod candidates;
pub mod canonical;
pub mod compile;
pub mod cost;
pub mod exhaust;
pub mod fragment;
pub mod goal;
pub mod graph;
pub mod lanes;
pub mod legal;
pub mod library;
pub mod limit;
pub mod matching;
pub mod memo;
pub mod prepare;
pub mod proof;
pub mod record;
pub mod search;
pub mod stock;
pub mod supply;
pub mod swizzle;
pub mod weigh;

#[cfg(test)]
mod tests;
