//! The `isaforge` binary.
fn main() {}
