//! Loop nests to machines with local memories and configuration.
//!
//! In: a checked kernel, its sizes, a [`semantics::machine::Machine`] with declared state.
//! Out: a [`program::CommandProgram`]: commands with affine operands in loops, configuration
//! written where it is needed and outside loops where it does not change. `parts` cuts the kernel
//! into sums, `form` reads one, `layout` chooses tiles and rows, `emit` writes commands, `config` places
//! configuration, `code` makes machine code of them, `proof` shows that what the commands do is the kernel.

pub mod code;
pub mod config;
mod emit;
mod form;
mod hardware;
mod layout;
mod nodes;
pub mod outline;
mod parts;
mod pieces;
pub mod place;
pub mod plan;
pub mod program;
pub mod proof;
mod staged;
mod store;
mod units;

pub use units::without_array;
