//! The `isaforge` binary: the command line around the pipeline.
//!
//! In: the command line. Out: results on standard output, messages on standard error, an
//! exit code ([`status::Status`]). [`pipeline`] is the whole flow on one screen.

mod ablate;
mod args;
mod assets;
mod auto;
mod build;
mod calibrate;
mod check;
mod compile;
mod cost;
#[cfg(test)]
mod fuzz;
mod inspect;
mod intake;
mod interrupt;
mod known;
mod llvm;
mod lower;
mod machine_lint;
mod map;
mod new_isa;
mod output;
mod pin;
mod pipeline;
mod programs;
mod reach;
mod report;
mod rules;
mod schedule;
mod shard;
mod simulate;
mod status;
mod terminal;
mod trust;
mod verify;

use args::{Arguments, Command};
use clap::Parser as _;
use std::process::ExitCode;

/// Bytes of the stack of the thread that does the work, and of those that help it. What is not
/// touched takes no memory. Readers bound how deep texts may nest; this is room to spare.
const STACK: usize = 256 << 20;
const HELPERS_STACK: usize = 32 << 20;

/// Searches and proofs make and drop millions of small nodes on several threads: with the C library's
/// allocator they take 1.1 times as long.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let helpers = rayon::ThreadPoolBuilder::new().stack_size(HELPERS_STACK);
    // Where that is not possible, helpers have the usual stacks.
    let _ = helpers.build_global();
    let work = std::thread::Builder::new().stack_size(STACK).spawn(run);
    match work.map(std::thread::JoinHandle::join) {
        Ok(Ok(code)) => code,
        Ok(Err(panic)) => std::panic::resume_unwind(panic),
        Err(_) => run(),
    }
}

/// The whole program.
fn run() -> ExitCode {
    interrupt::install();
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(u8::from(error.use_stderr()));
        }
    };
    if let Err(wrong) = assets::share(arguments.store) {
        terminal::complain(&[wrong]);
        return status::Status::WrongInput.into();
    }
    if let Err(wrong) = args::files::are_apart(&arguments.command) {
        terminal::complain(&[wrong]);
        return status::Status::WrongInput.into();
    }
    let status = match arguments.command {
        Command::Compile(request) => compile::command(&request),
        Command::Build(request) => build::command(&request),
        Command::Check(request) => check::command(&request),
        Command::Lower(request) => lower::command(&request),
        Command::Calibrate(request) => calibrate::command(&request),
        Command::Explain(request) => inspect::explain(&request),
        Command::Ablate(request) => ablate::command(&request),
        Command::Reach(request) => reach::command(&request),
        Command::Rules(request) => rules::command(&request),
        Command::Classes(request) => inspect::classes(&request),
        Command::Verify(request) => verify::command(&request),
        Command::Sim(request) => simulate::command(&request),
        Command::NewIsa(request) => new_isa::command(&request),
        Command::Map(request) => map::command(&request),
        Command::Schedule(request) => schedule::command(&request),
    };
    terminal::complain(&assets::store().problems());
    terminal::complain(&assets::shared_counts());
    assets::clean();
    status.into()
}
