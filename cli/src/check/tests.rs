//! Tests of the hardware check.
