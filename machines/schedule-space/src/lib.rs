//! What can be chosen about a kernel on a machine.
//!
//! In: a kernel that is written without a schedule, or with a part of one; a machine. Out: a
//! space with a model of its costs for `autosched`, and for each candidate in it the directives of
//! the kernel language that make it. A candidate is no claim: its directives are applied with all
//! their conditions, and what comes out is mapped and proved like what somebody has written.

pub mod climb;
mod completed;
pub mod loops;
pub mod nest;
pub mod pace;
pub mod plan;
pub mod systolic;
pub mod tiles;
