//! Kernels mapped to AMX, a machine that no line of code names, and run in the simulator.

#[path = "amx/any_size.rs"]
mod any_size;
#[path = "rvm/board.rs"]
#[allow(dead_code, reason = "other machines need more of it")]
mod board;
