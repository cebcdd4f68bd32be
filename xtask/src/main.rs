//! The chores of the project: `cargo xtask COMMAND`.
//!
//! In: a command word. Out: its printed result and exit code (0 done, 1 wrong usage or a
//! chore that failed). It runs cargo and pip and reads the source tree; it uses no crate of
//! the workspace, so that it builds in a second and works when they do not compile.

mod browser;
mod c_names;
mod downloads;
mod program;
mod riscv;
mod skipped;
mod solver;
mod space;
mod steps;
mod tidy;
mod tools;
mod wasm;
mod wheel;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The help text.
const USAGE: &str = "\
The chores of the project.

Usage: cargo xtask COMMAND

  test             all tests: formatting, house rules, clippy, tests, documentation; with --fast,
                   while working: formatting, house rules and the tests beside the code
  tidy             the house rules that a program can check
  tools            where LLVM 19, MLIR 19 and Exo are; brought from Debian and PyPI when they are not here
  solver           the path of a Z3 program, brought from PyPI when none is on the PATH
  browser          installs Debian's chromium, which the tests of the guide use, when there is none
  fuzz-input       mutants of every kind of file that is read: --seed S, --count N of each kind
                   (100000), --format KIND for one kind only
  hostile          every field of every format, with each text that would be code in what is written
                   from it, for every command that writes
  fuzz             random kernels, compiled, proved and run: --seed S, --count N (2000),
                   --target T (x86-64-v3); or with --machine M (rvm, amx, gemmini) sums of sizes to 1024
                   for a machine with tiles, schedules searched for, run in its simulator, --count N (400)
  accelerators     random kernels of random sizes on every machine with tiles or an array, mapped, run in
                   the simulator and compared: --seed S, --count N (30), --machine M (whose name
                   begins so)
  test-servers     stores that others share, on Redis, nginx and S3 (moto of PyPI) where they are
                   installed; the clients take minutes to compile
  mutants          faults planted in rewrites, in the C that is written and in specifications, each to
                   be found by the table of rewrites, by a run or by the processor: --every N for one
                   of so many only (1); $ISAFORGE_VENDOR names a vendor's file, the second witness
  operators        every operator of the kernel language at every type, as vectors:
                   --target T (x86-64-v3)
  compositions     what expressions of two operators cost beside their parts, drawn at random: --target T
                   (x86-64-v3), --isa I (x86), --seed S (1), --count N (100)
  lanes            vectors of 1 to 64 lanes of every element type with every kind of tail, run with
                   sanitizers between pages that may not be touched
  costs            what known sequences cost, for those that take seconds each to search for
  c-names          the names that C takes, into codegen-gen/src/c/names, by the compiler here
  wheel            the Python package with its program as a wheel, under target/wheels
  bench            the benchmarks, in release mode
  check-hardware   every specified instruction against this processor, in release mode
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let root = root();
    let done = match arguments.first().map(String::as_str) {
        Some("test") if arguments[1..] == ["--fast"] => steps::fast(&root),
        Some("test") if arguments.len() == 1 => steps::test(&root),
        Some("test") => {
            eprintln!("error: `test` takes `--fast` or nothing\n\n{USAGE}");
            false
        }
        Some("tidy") => tidy::run(&root),
        Some("solver") => print_solver(),
        Some("browser") => print_browser(),
        Some("tools") => print_tools(),
        Some("c-names") => c_names::run(&root),
        Some("fuzz-input") => steps::fuzz_input(&root, &arguments[1..]),
        Some("hostile") => steps::hostile(&root),
        Some("test-servers") => steps::test_servers(&root),
        Some("mutants") => steps::mutants(&root, &arguments[1..]),
        Some("operators") => steps::operators(&root, &arguments[1..]),
        Some("compositions") => steps::compositions(&root, &arguments[1..]),
        Some("lanes") => steps::lanes(&root),
        Some("costs") => steps::costs(&root),
        Some("fuzz") => steps::fuzz(&root, &arguments[1..]),
        Some("accelerators") => steps::accelerators(&root, &arguments[1..]),
        Some("wheel") => print_wheel(&root),
        Some("bench") => steps::bench(&root),
        Some("check-hardware") => steps::check_hardware(&root, &arguments[1..]),
        Some("help" | "--help" | "-h") => {
            print!("{USAGE}");
            true
        }
        Some(other) => {
            eprintln!("error: there is no chore `{other}`\n\n{USAGE}");
            false
        }
        None => {
            eprint!("{USAGE}");
            false
        }
    };
    if done {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// The root of the workspace.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask is a folder of the workspace")
        .to_path_buf()
}

/// Prints where the tools are that read what a build writes, and which cannot be had.
fn print_tools() -> bool {
    let (folders, mut reasons) = tools::llvm(&root());
    println!("{}={folders}", tools::LLVM);
    match tools::exo(&root()) {
        Ok(folder) => println!("{}={}", tools::EXO, folder.display()),
        Err(reason) => reasons.push(reason),
    }
    for reason in &reasons {
        eprintln!("error: {reason}");
    }
    reasons.is_empty()
}

/// Prints where Z3 is, or why it cannot be had.
fn print_solver() -> bool {
    match solver::find_or_fetch(&root()) {
        Ok(path) => {
            println!("{}", path.display());
            true
        }
        Err(reason) => {
            eprintln!("error: {reason}");
            false
        }
    }
}

/// Prints where the wheel is and how large, or why there is none.
fn print_wheel(root: &Path) -> bool {
    match wheel::make(root) {
        Ok((path, size)) => {
            println!("{} ({} KiB)", path.display(), size / 1024);
            true
        }
        Err(reason) => {
            eprintln!("error: {reason}");
            false
        }
    }
}

/// Prints which browser there is, or why there is none.
fn print_browser() -> bool {
    match browser::find_or_install() {
        Ok(version) => {
            println!("{version}");
            true
        }
        Err(reason) => {
            eprintln!("error: {reason}");
            false
        }
    }
}
