//! Loop nests to the tile instructions of a machine.
//!
//! In: a checked kernel, its sizes, a [`semantics::machine::Machine`]. Out of [`mapped::map`]:
//! a [`mapped::MappedProgram`] with its verdict. A block of loops
//! is an instruction when what it does to every element is proved equal to the instruction's
//! meaning; how it is written does not matter. Sizes are numbers here: of small blocks the outer
//! loops are run, and the program has no branches; larger sums are tiles in loops. It reads no
//! text and writes none.

pub mod block;
mod coherence;
pub mod configured;
pub mod cost;
mod elementwise;
mod emit;
pub mod error;
pub mod frame;
pub mod hazard;
pub mod host;
pub mod loop_codegen;
pub mod map;
pub mod mapped;
mod matching;
mod nest;
mod products;
pub mod program;
mod registers;
mod setup;
mod shapes;
mod spilled;
mod sum;
pub mod systolic;
mod tiling;
mod webs;
pub mod whole;
