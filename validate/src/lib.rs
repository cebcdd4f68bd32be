//! What is run to believe it: instructions and kernels on this machine, and their times.
//!
//! In: instructions with their meanings, kernels with their C, what the machine has. Out: for
//! each what agreed, what did not and on which input, what was skipped and why, or how long it
//! took. It prints nothing and reads no arguments: whoever asks shows what came of it.
//!
//! | module | what | beside what |
//! |---|---|---|
//! | [`check`] | instructions | the processor, a vendor's text, C's headers, the specification itself |
//! | [`run`] | compiled kernels | the kernel language's evaluator |
//! | [`calibrate`] | latency, throughput and resources of instructions | a cycle |
//! | [`disassembly`] | what a compiler makes of the C of a kernel | nothing |
//! | [`models`] | what LLVM's scheduling models say of instructions | nothing: it is told with its source |

pub mod calibrate;
pub mod check;
pub mod disassembly;
pub mod models;
pub mod run;
