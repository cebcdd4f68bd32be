//! Which instructions are one operation with different numbers.
