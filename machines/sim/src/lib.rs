//! Programs of a machine: assembled, disassembled and run by the meaning of each instruction.
//!
//! In: a [`semantics::machine::Machine`], and a program as text or words. Out:
//! [`program::MachineProgram`], and what running it does to registers and memory, or the
//! [`semantics::diagnostic::Diagnostic`] that names the instruction at which it went wrong.
//! No instruction is known by name: all that happens is in the machine's description. How long
//! commands take is known without running them ([`timing`]), and how long programs with loops take
//! without running all of their rounds ([`rounds`]).

pub mod accelerator;
mod assemble;
pub mod memory;
pub mod program;
pub mod retirement;
pub mod rounds;
pub mod run;
pub mod timing;
mod unit;
