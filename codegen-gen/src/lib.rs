//! Dictionaries and programs to text.
//!
//! In: a checked kernel and what was found for its windows. Out: text, one module for each
//! back end ([`back_end`] says what that is): [`c`] writes C with intrinsics, [`llvm`] LLVM IR,
//! [`machine`] C, assembly and listings of machines with tiles; [`check_harness`] and [`timing_harness`] programs
//! that run and time instructions. [`artefact`] is what a dictionary becomes for other tools. Lowering is one to one: it chooses nothing,
//! proves nothing, and reads and writes no file.

pub mod artefact;
pub mod back_end;
pub mod c;
pub mod check_harness;
mod command;
pub mod exo;
pub mod header;
pub mod llvm;
pub mod loops;
pub mod lowering;
pub mod machine;
pub mod mlir;
pub mod reference;
mod statements;
pub mod tablegen;
pub mod timing_harness;
pub mod variant;
