//! Programs of others: where they are, and how they are run.
//!
//! In: names of compilers and tools, C, arguments. Out: tools or the reasons why there are
//! none, what compilers complain of, how programs ended, folders for their files. It knows
//! neither kernels nor instructions: what is compiled and what a result means is its users'
//! to say. It reads the environment (`CC`, `PATH`, `ISAFORGE_…`) and starts processes; crates
//! that do neither leave both to it.

pub mod c;
pub mod find;
pub mod folder;
pub mod process;
