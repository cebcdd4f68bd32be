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
mod inspect;
mod intake;
mod interrupt;
mod kept;
mod known;
mod llvm;
mod lower;
mod map;
mod output;
mod pipeline;
mod programs;
mod report;
mod run;
mod schedule;
mod simulate;
mod status;
mod terminal;
mod verify;

use args::{Arguments, Command};
use clap::Parser as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    interrupt::install();
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(u8::from(error.use_stderr()));
        }
    };
    let status = match arguments.command {
        Command::Compile(request) => compile::command(&request),
        Command::Build(request) => build::command(&request),
        Command::Check(request) => check::command(&request),
        Command::Lower(request) => lower::command(&request),
        Command::Calibrate(request) => calibrate::command(&request),
        Command::Explain(request) => inspect::explain(&request),
        Command::Ablate(request) => ablate::command(&request),
        Command::Classes(request) => inspect::classes(&request),
        Command::Verify(request) => verify::command(&request),
        Command::Sim(request) => simulate::command(&request),
        Command::Map(request) => map::command(&request),
        Command::Schedule(request) => schedule::command(&request),
    };
    status.into()
}
    assets::clean();
