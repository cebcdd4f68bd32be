//! The chores that run cargo: all tests, the benchmarks, the hardware check.
//!
//! In: the workspace root. Out: whether every step passed. A step that fails does not stop
//! the others; the table at the end names each with its time, and the tests that were skipped
//! are counted and listed with their reasons.

use crate::skipped::{self, Skipped};
use crate::{downloads, riscv, solver, space, tidy, tools, wasm};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// What is worth asking after every edit: the tests beside the code, and none of the whole program.
/// It does not say that a change may land.
pub(crate) fn fast(root: &Path) -> bool {
    let mut table = Table::default();
    let mut counts = Counts::default();
    let records = skipped::begin(root);
    table.step("formatting", || {
        cargo(root, &["fmt", "--all", "--check"]).run()
    });
    table.step("house rules", || tidy::run(root));
    table.step("unit tests", || {
        let tests = ["test", "--workspace", "--lib", "--locked", "--no-fail-fast"];
        let tests = cargo(root, &tests).env(skipped::VARIABLE, &records.to_string_lossy());
        tests.run_counting(&mut counts)
    });
    let passed = table.print();
    println!("{}", counts.without(&Skipped::read(&records)));
    passed
}

/// Everything that must pass before a change lands.
pub(crate) fn test(root: &Path) -> bool {
    if let Some(lacking) = space::lacking(root) {
        eprintln!("error: {lacking}");
        return false;
    }
    println!("{}", downloads::reported(&downloads::missing(root)));
    let z3 = solver::find_or_fetch(root);
    match &z3 {
        Ok(path) => println!("solver for the tests: {}", path.display()),
        Err(reason) => println!("tests of an SMT solver will be skipped: {reason}"),
    }
    let toolchain = riscv::find_or_fetch(root);
    match &toolchain {
        Ok(Some(folder)) => println!("RISC-V toolchain for the tests: {}", folder.display()),
        Ok(None) => println!("RISC-V toolchain for the tests: the one on the PATH"),
        Err(reason) => println!("tests of RISC-V code will be skipped: {reason}"),
    }
    let (llvm, reasons) = tools::llvm(root);
    for reason in reasons {
        println!("tests of LLVM's and MLIR's tools will be skipped: {reason}");
    }
    let exo = tools::exo(root);
    if let Err(reason) = &exo {
        println!("tests of the Exo library will be skipped: {reason}");
    }
    if let Err(reason) = wasm::find_or_install() {
        println!("tests of trying instructions in the guide will be skipped: {reason}");
    }
    let mut table = Table::default();
    let mut counts = Counts::default();
    let records = skipped::begin(root);
    table.step("formatting", || {
        cargo(root, &["fmt", "--all", "--check"]).run()
    });
    table.step("house rules", || tidy::run(root));
    table.step("clippy", || {
        let lints = [
            "--workspace",
            "--all-targets",
            "--locked",
            "--",
            "-Dwarnings",
        ];
        cargo(root, &["clippy"]).args(&lints).run()
    });
    table.step("documentation", || {
        let flags = ["--workspace", "--no-deps", "--document-private-items"];
        cargo(root, &["doc", "--quiet"])
            .args(&flags)
            .env("RUSTDOCFLAGS", "-Dwarnings")
            .run()
    });
    table.step("tests", || {
        let mut tests = cargo(root, &["test", "--workspace", "--locked", "--no-fail-fast"]);
        tests = tests.env(skipped::VARIABLE, &records.to_string_lossy());
        if let Ok(path) = &z3 {
            tests = tests.env(solver::VARIABLE, &path.to_string_lossy());
        }
        if let Ok(Some(folder)) = &toolchain {
            tests = tests.env(riscv::VARIABLE, &folder.to_string_lossy());
        }
        tests = tests.env(tools::LLVM, &llvm);
        if let Ok(folder) = &exo {
            tests = tests.env(tools::EXO, &folder.to_string_lossy());
        }
        tests.run_counting(&mut counts)
    });
    let passed = table.print();
    println!("{}", counts.without(&Skipped::read(&records)));
    passed
}

/// All benchmarks, in release mode.
pub(crate) fn bench(root: &Path) -> bool {
    cargo(root, &["bench", "--workspace", "--locked"]).run()
}

/// Mutants of every kind of file that is read, in processes of their own.
pub(crate) fn fuzz_input(root: &Path, arguments: &[String]) -> bool {
    let tests = ["test", "--package", "cli", "--bin", "isaforge", "--locked"];
    let quick = ["--profile", "fuzz"];
    let options = [
        ("--seed", "ISAFORGE_FUZZ_SEED"),
        ("--count", "ISAFORGE_FUZZ_COUNT"),
        ("--format", "ISAFORGE_FUZZ_FORMAT"),
    ];
    let tests = cargo(root, &tests).args(&quick).env(options[0].1, "1");
    drawn("fuzz::many", tests, &options, arguments)
}

/// Every field of every format with every text that means harm, for every writer.
pub(crate) fn hostile(root: &Path) -> bool {
    let tests = end_to_end(root).env("ISAFORGE_HOSTILE_ALL", "1");
    drawn("hostile::", tests, &[], &[])
}

/// Shared stores on servers that the tests start; the clients take minutes to compile.
pub(crate) fn test_servers(root: &Path) -> bool {
    let clients = cargo(root, &["test", "--package", "remote"]);
    let whole = cargo(root, &["test", "--package", "cli", "--test", "end_to_end"]);
    let only = ["--features", "servers", "--locked"];
    clients.args(&only).run() && whole.args(&only).args(&["--", "store::"]).run()
}

/// Random kernels, compiled, proved and run beside the evaluator where the machine can.
pub(crate) fn fuzz(root: &Path, arguments: &[String]) -> bool {
    let options = [
        ("--seed", "ISAFORGE_FUZZ_KERNELS"),
        ("--count", "ISAFORGE_FUZZ_COUNT"),
        ("--target", "ISAFORGE_FUZZ_TARGET"),
    ];
    let tests = end_to_end(root).env(options[0].1, "1");
    if arguments.iter().any(|a| a == MACHINE.0) {
        let options = [options[0], options[1], MACHINE];
        return drawn("accelerators::many", tests, &options, arguments);
    }
    drawn("fuzz::many", tests, &options, arguments)
}

/// The option that says for which machine with tiles kernels are drawn.
const MACHINE: (&str, &str) = ("--machine", "ISAFORGE_FUZZ_MACHINE");

/// Random kernels on every machine with tiles or an array, run in the simulator.
pub(crate) fn accelerators(root: &Path, arguments: &[String]) -> bool {
    let options = [
        ("--seed", "ISAFORGE_ACCELERATORS_SEED"),
        ("--count", "ISAFORGE_ACCELERATORS_COUNT"),
        ("--machine", "ISAFORGE_ACCELERATORS_MACHINE"),
    ];
    let tests = ["test", "--package", "tile", "--test", "accelerators"];
    let tests = cargo(root, &tests).args(&["--release", "--locked"]);
    drawn("random_kernels_agree", tests, &options, arguments)
}

/// Every operator of the kernel language at every type, compiled, proved and run.
pub(crate) fn operators(root: &Path, arguments: &[String]) -> bool {
    let options = [("--target", "ISAFORGE_OPERATORS")];
    let tests = end_to_end(root).env(options[0].1, "x86-64-v3");
    drawn("fuzz::every_operator", tests, &options, arguments)
}

/// Compositions of two expressions beside their parts.
pub(crate) fn compositions(root: &Path, arguments: &[String]) -> bool {
    let options = [
        ("--target", "ISAFORGE_COMPOSITIONS"),
        ("--isa", "ISAFORGE_COMPOSITIONS_ISA"),
        ("--seed", "ISAFORGE_COMPOSITIONS_SEED"),
        ("--count", "ISAFORGE_COMPOSITIONS_COUNT"),
    ];
    let tests = end_to_end(root).env(options[0].1, "x86-64-v3");
    drawn("compositions::many", tests, &options, arguments)
}

/// Vectors of every number of lanes of every element type, run with sanitizers.
pub(crate) fn lanes(root: &Path) -> bool {
    let name = "partial::vectors_of_every_number_of_lanes_touch_just_their_elements";
    let tests = end_to_end(root).env("ISAFORGE_TEST_FULL", "1");
    drawn(name, tests, &[], &[])
}

/// Known sequences that take seconds each to be searched for.
pub(crate) fn costs(root: &Path) -> bool {
    let name = "costs::known_sequences_that_are_searched_for_long_are_found";
    drawn(name, end_to_end(root).env("ISAFORGE_COSTS", "1"), &[], &[])
}

/// Faults planted in rewrites, in the C that is written and in specifications: all, or one of so many.
pub(crate) fn mutants(root: &Path, arguments: &[String]) -> bool {
    let options = [("--every", FAULTS_EVERY)];
    let mut rewrites = faults_in_rewrites(root).env(FAULTS_EVERY, "1");
    if let Ok(path) = solver::find_or_fetch(root) {
        rewrites = rewrites.env(solver::VARIABLE, &path.to_string_lossy());
    }
    let tests = [
        "test",
        "--package",
        "cli",
        "--test",
        "end_to_end",
        "--locked",
    ];
    let written = cargo(root, &tests).env(FAULTS_EVERY, "1");
    let tests = ["test", "--package", "validate", "--test", "specifications"];
    let specified = cargo(root, &tests)
        .args(&["--locked"])
        .env(FAULTS_EVERY, "1");
    let [in_rewrites, in_c, in_specifications] = [
        "faults_in_rewrites_are_found",
        "faults::faults_in_c_are_found_by_runs",
        "faults_in_specifications_are_found_by_the_processor",
    ];
    let rewrites = drawn(in_rewrites, rewrites, &options, arguments);
    let written = drawn(in_c, written, &options, arguments);
    drawn(in_specifications, specified, &options, arguments) && written && rewrites
}

/// The variable that says how many faults are planted.
const FAULTS_EVERY: &str = "ISAFORGE_FAULTS_EVERY";

/// The tests that make rewrites wrong.
fn faults_in_rewrites(root: &Path) -> Cargo {
    let package = ["test", "--package", "certify", "--locked"];
    cargo(root, &package).args(&["--test", "faults"])
}

/// The tests of the whole program, in release mode.
fn end_to_end(root: &Path) -> Cargo {
    let tests = ["test", "--package", "cli", "--test", "end_to_end"];
    cargo(root, &tests).args(&["--release", "--locked"])
}

/// A test that is told by variables what to draw.
fn drawn(name: &str, tests: Cargo, options: &[(&str, &str)], arguments: &[String]) -> bool {
    let mut tests = tests.args(&["--", "--exact", name, "--nocapture"]);
    for pair in arguments.chunks(2) {
        let [name, value] = pair else {
            eprintln!("error: `{}` needs a value", pair[0]);
            return false;
        };
        let Some((_, variable)) = options.iter().find(|(option, _)| option == name) else {
            let all: Vec<&str> = options.iter().map(|(option, _)| *option).collect();
            eprintln!("error: there are `{}`, not `{name}`", all.join("`, `"));
            return false;
        };
        tests = tests.env(variable, value);
    }
    tests.run()
}

/// Every specified instruction against this processor; more arguments go to `isaforge check`.
pub(crate) fn check_hardware(root: &Path, more: &[String]) -> bool {
    let more: Vec<&str> = more.iter().map(String::as_str).collect();
    cargo(root, &["run", "--release", "--locked", "--package", "cli"])
        .args(&["--", "check", "--isa", "x86"])
        .args(&more)
        .run()
}

/// Tests counted over all test programs.
#[derive(Default)]
struct Counts {
    passed: u64,
    failed: u64,
}

impl Counts {
    /// What came of the tests. To the harness, a test that was skipped has passed.
    fn without(&self, skipped: &Skipped) -> String {
        let count = skipped.count();
        let passed = self.passed.saturating_sub(count);
        let counts = format!("{passed} passed, {} failed, {count} skipped", self.failed);
        format!("{counts}\n{}", skipped.list())
            .trim_end()
            .to_owned()
    }
}

/// The steps that ran: name, whether it passed, seconds.
#[derive(Default)]
struct Table(Vec<(&'static str, bool, f64)>);

impl Table {
    /// Runs one step and keeps its result.
    fn step(&mut self, name: &'static str, run: impl FnOnce() -> bool) {
        println!("== {name}");
        let start = Instant::now();
        let passed = run();
        self.0.push((name, passed, start.elapsed().as_secs_f64()));
    }

    /// Prints the table; whether all passed.
    fn print(&self) -> bool {
        println!();
        for (name, passed, seconds) in &self.0 {
            let word = if *passed { "passed" } else { "FAILED" };
            println!("{name:<14} {word}  {seconds:7.1} s");
        }
        self.0.iter().all(|row| row.1)
    }
}

/// A cargo command in the workspace.
struct Cargo(Command);

/// `cargo` with its first arguments.
fn cargo(root: &Path, arguments: &[&str]) -> Cargo {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.current_dir(root).args(arguments);
    Cargo(command)
}

impl Cargo {
    /// Adds arguments.
    fn args(mut self, arguments: &[&str]) -> Self {
        self.0.args(arguments);
        self
    }

    /// Sets a variable of its environment.
    fn env(mut self, name: &str, value: &str) -> Self {
        self.0.env(name, value);
        self
    }

    /// Whether it ran and succeeded.
    fn run(mut self) -> bool {
        match self.0.status() {
            Ok(status) => status.success(),
            Err(error) => {
                eprintln!("error: cargo does not run: {error}");
                false
            }
        }
    }

    /// As [`Cargo::run`], passing its output on and adding up the counts of the test harness.
    fn run_counting(mut self, counts: &mut Counts) -> bool {
        use std::io::{BufRead, BufReader};
        let mut child = match self.0.stdout(std::process::Stdio::piped()).spawn() {
            Ok(child) => child,
            Err(error) => {
                eprintln!("error: cargo does not run: {error}");
                return false;
            }
        };
        if let Some(out) = child.stdout.take() {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                println!("{line}");
                counts.passed += count_before(&line, " passed");
                counts.failed += count_before(&line, " failed");
            }
        }
        child.wait().is_ok_and(|status| status.success())
    }
}

/// The number before a word in a `test result:` line; 0 in any other line.
fn count_before(line: &str, word: &str) -> u64 {
    let number = || {
        let before = line.strip_prefix("test result:")?.split(word).next()?;
        before.rsplit(' ').next()?.parse().ok()
    };
    number().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{Counts, count_before};
    use crate::skipped::Skipped;

    #[test]
    fn what_was_skipped_has_not_passed() {
        let counts = Counts {
            passed: 12,
            failed: 3,
        };
        assert_eq!(
            counts.without(&Skipped::default()),
            "12 passed, 3 failed, 0 skipped"
        );
        let skipped = Skipped::parse("skipped\ta::one\tno z3\n");
        assert_eq!(
            counts.without(&skipped),
            "11 passed, 3 failed, 1 skipped\nskipped: no z3\n  a::one"
        );
    }

    #[test]
    fn the_counts_of_the_harness_are_read() {
        let line = "test result: FAILED. 12 passed; 3 failed; 0 ignored; finished in 0.1s";
        assert_eq!(count_before(line, " passed"), 12);
        assert_eq!(count_before(line, " failed"), 3);
        assert_eq!(count_before("test a::b ... ok", " passed"), 0);
    }
}
