//! Which instructions are one operation with different numbers.

pub mod mode;
pub mod number;
pub mod skeleton;
