//! Which instructions are one operation with different numbers.

pub mod cached;
pub mod canon;
pub mod class;
pub mod classify;
pub mod mode;
pub mod number;
pub mod relate;
pub mod shard;
pub mod skeleton;
