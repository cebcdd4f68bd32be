//! Running compiled kernels: C compiler, program, comparison with the evaluator.
//!
//! In: a kernel, its C or LLVM IR, a compiler with what runs its programs, flags, a seed. Out:
//! [`Outcome`]. Results are compared element by element; that the machine has the instructions is the
//! caller's to know.

use crate::check::machine::{self, Compiler};
use codegen_gen::back_end::{Code, Language};
use codegen_gen::c::harness;
use kernel::data::{Limits, fill, generate, numbers, ordinary, shapes, sizes};
use kernel::eval::{self, Data};
use kernel::index::Symbol;
use kernel::tree::Kernel;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use toolchain::{c, find, folder, process};

/// How many sets of random arguments a kernel is run on.
pub const DRAWS: u64 = 8;

/// How many sets of sizes at the edges it is run on before, and how large they are at most.
const EDGES: usize = 16;
const EDGE_ELEMENTS: i64 = 1 << 13;

/// How often the largest run is repeated to measure its time.
const REPEATS: &str = "1000";

/// What came of running a kernel.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// Every element of every result was as the evaluator says.
    Agreed {
        /// Sets of arguments.
        draws: u64,
        /// Elements compared.
        elements: usize,
        /// Seconds of one call on the largest set of arguments.
        seconds: f64,
    },
    /// An element was not.
    Differs {
        /// The seed of the arguments.
        seed: u64,
        /// The array.
        array: String,
        /// The element's index in row-major order.
        index: usize,
        /// What the machine computed.
        found: i128,
        /// What the evaluator computed.
        expected: i128,
    },
    /// It could not be run, and that is nobody's mistake.
    Skipped(String),
    /// No arguments were found that the kernel's preconditions let through.
    Unsized(String),
    /// It could not be compiled or run, or did not end well.
    Broken(String),
}

/// Compiles and runs a kernel on [`DRAWS`] sets of arguments, and at sizes around the `lanes` of
/// its widest vector.
pub fn run(
    kernel: &Kernel,
    lanes: u32,
    code: &Code,
    (compiler, flags): (&Compiler, &[String]),
    seed: u64,
) -> Outcome {
    let folder = match folder::temporary() {
        Ok(folder) => folder,
        Err(why) => return Outcome::Skipped(why),
    };
    let program = match compile(kernel, code, (compiler, flags), folder.path()) {
        Ok(program) => program,
        Err(outcome) => return outcome,
    };
    let (mut elements, mut largest) = (0, (0, seed));
    for sizes in edges(kernel, lanes) {
        let data = fill(kernel, &sizes, &mut numbers(seed));
        match once(kernel, &program, &data, seed, false) {
            Ok((compared, _)) => elements += compared,
            Err(outcome) => return outcome,
        }
    }
    let limits = Limits::default();
    let none = || Outcome::Unsized("no sizes were found that satisfy `requires`".to_owned());
    for draw in 0..DRAWS {
        let seed = seed.wrapping_add(draw);
        let drawn = generate(kernel, seed, &limits).ok_or_else(none);
        let ran = drawn.and_then(|data| once(kernel, &program, &data, seed, false));
        match ran {
            Ok((compared, _)) => {
                elements += compared;
                largest = largest.max((compared, seed));
            }
            Err(outcome) => return outcome,
        }
    }
    let seed = largest.1;
    let sized = sizes(kernel, &mut numbers(seed), &limits).ok_or_else(none);
    let ran = sized.and_then(|sizes| {
        let data = ordinary(kernel, &sizes, &mut numbers(seed));
        once(kernel, &program, &data, seed, true)
    });
    let seconds = match ran {
        Ok((_, seconds)) => seconds,
        Err(outcome) => return outcome,
    };
    Outcome::Agreed {
        draws: DRAWS,
        elements,
        seconds,
    }
}

/// Compiles a kernel and measures it on data, on which its results have to be as expected;
/// the seconds of one call.
///
/// # Errors
/// What went wrong.
pub fn timed(
    kernel: &Kernel,
    code: &str,
    (compiler, flags): (&Compiler, &[String]),
    data: &Data,
    expected: &Data,
) -> Result<f64, Outcome> {
    let folder = folder::temporary().map_err(Outcome::Skipped)?;
    let code = Code::of(Language::C, &[], code.to_owned());
    let program = compile(kernel, &code, (compiler, flags), folder.path())?;
    let mut least = f64::INFINITY;
    for _ in 0..ROUNDS {
        least = least.min(against(kernel, &program, data, expected, 1, true)?.1);
    }
    Ok(least)
}

/// How often a measurement is made anew; the least counts.
const ROUNDS: usize = 3;

/// Sizes at the edges: 0, 1, one less than the lanes, as many, and one more.
fn edges(kernel: &Kernel, lanes: u32) -> Vec<BTreeMap<Symbol, i64>> {
    let mut all = shapes(kernel, i64::from(lanes), EDGE_ELEMENTS);
    if all.len() > EDGES {
        all = (0..EDGES)
            .map(|n| all[n * all.len() / EDGES].clone())
            .collect();
    }
    all
}

/// A compiled program, and the command before it where this processor does not run it.
struct Program<'a> {
    path: PathBuf,
    runner: &'a [String],
}

/// Compiles the kernel with the program around it.
fn compile<'a>(
    kernel: &Kernel,
    code: &Code,
    (compiler, flags): (&'a Compiler, &[String]),
    folder: &Path,
) -> Result<Program<'a>, Outcome> {
    let write = |name: &str, text: &str| fs::write(folder.join(name), text);
    let name = match code.language {
        Language::C => "kernel.c",
        Language::Llvm(_) => "kernel.ll",
        Language::Assembly => {
            let why = "a listing of a machine runs in `isaforge sim`";
            return Err(Outcome::Skipped(why.to_owned()));
        }
    };
    write(name, &code.to_string())
        .and_then(|()| write("main.c", &harness::harness(kernel)))
        .and_then(|()| compiler.write_files(folder))
        .map_err(|error| Outcome::Skipped(format!("cannot write a temporary file: {error}")))?;
    let name = match &code.language {
        Language::Llvm(flags) => object(flags, folder)?,
        _ => name,
    };
    let first = ["-std=gnu11", "-O2", "-Wall", "-Wextra"];
    let last = [name, "main.c", "-o", "program", "-lm"];
    let flags = compiler.flags.iter().chain(flags).map(String::as_str);
    let arguments = first.into_iter().chain(flags);
    match c::compile(&compiler.program, arguments.chain(last), folder) {
        Ok(()) => Ok(Program {
            path: folder.join("program"),
            runner: &compiler.runner,
        }),
        Err(c::Failure::Absent(why)) => Err(Outcome::Skipped(why)),
        Err(c::Failure::Refused(messages)) => Err(Outcome::Broken(match unresolved(&messages) {
            Some(names) => format!(
                "the code compiles, and calls what no library of this machine has: {names}; it \
                 links where a C library does"
            ),
            None => format!("{} refuses the code:\n{messages}", compiler.program),
        })),
    }
}

/// The functions that a linker did not find, when that is what was wrong: as lld and GNU ld tell it.
fn unresolved(messages: &str) -> Option<String> {
    let name = |line: &str| {
        let lld = line.split_once("undefined symbol: ").map(|(_, name)| name);
        let gnu = line.split_once("undefined reference to `");
        let gnu = gnu
            .and_then(|(_, rest)| rest.split_once('\''))
            .map(|(name, _)| name);
        Some(format!("`{}`", lld.or(gnu)?.trim()))
    };
    let names: BTreeSet<String> = messages.lines().filter_map(name).collect();
    let names: Vec<String> = names.into_iter().collect();
    (!names.is_empty()).then(|| names.join(", "))
}

/// The object file of `kernel.ll`.
fn object(flags: &[String], folder: &Path) -> Result<&'static str, Outcome> {
    let run = |name: &str, arguments: &[&str]| {
        let (program, _) = find::llvm(name).map_err(Outcome::Skipped)?;
        let program = program.display().to_string();
        match c::compile(&program, arguments, folder) {
            Ok(()) => Ok(()),
            Err(c::Failure::Absent(why)) => Err(Outcome::Skipped(why)),
            Err(c::Failure::Refused(messages)) => Err(Outcome::Broken(format!(
                "`{name}` refuses the code:\n{messages}"
            ))),
        }
    };
    let passes = "-passes=verify,default<O2>,verify";
    run("opt", &[passes, "kernel.ll", "-o", "kernel.bc"])?;
    let first = ["-O2", "-relocation-model=pic", "-filetype=obj"];
    let last = ["kernel.bc", "-o", "kernel.o"];
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    run("llc", &[&first[..], &flags, &last].concat())?;
    Ok("kernel.o")
}

/// One run: elements compared, and seconds of a call if they were measured.
fn once(
    kernel: &Kernel,
    program: &Program<'_>,
    data: &Data,
    seed: u64,
    measure: bool,
) -> Result<(usize, f64), Outcome> {
    let expected = eval::run(kernel, data)
        .map_err(|error| Outcome::Broken(format!("the evaluator stops: {error}")))?;
    against(kernel, program, data, &expected, seed, measure)
}

/// One run on data for which the results are known.
fn against(
    kernel: &Kernel,
    program: &Program<'_>,
    data: &Data,
    expected: &Data,
    seed: u64,
    measure: bool,
) -> Result<(usize, f64), Outcome> {
    let broken = |message: String| Outcome::Broken(message);
    let (input, output) = (
        program.path.with_file_name("input"),
        program.path.with_file_name("output"),
    );
    fs::write(&input, harness::arguments(kernel, data))
        .map_err(|error| Outcome::Skipped(format!("cannot write a temporary file: {error}")))?;
    let mut command = machine::command(program.runner, &program.path);
    command.args([&input, &output]);
    if measure {
        command.arg(REPEATS);
    }
    let ran = command
        .output()
        .map_err(|error| broken(format!("the program does not start: {error}")))?;
    if !ran.status.success() {
        return Err(broken(format!(
            "the program ended with {}: {}",
            ran.status,
            process::text(&ran)
        )));
    }
    let bytes = fs::read(&output)
        .map_err(|error| broken(format!("the program left no results: {error}")))?;
    let arrays = harness::results(kernel, data, &bytes)
        .ok_or_else(|| broken("the program's results have the wrong size".to_owned()))?;
    let seconds = String::from_utf8_lossy(&ran.stdout)
        .trim()
        .parse()
        .unwrap_or(0.0);
    let mut compared = 0;
    for (array, found) in arrays {
        let want = &expected.arrays[&array];
        if let Some(index) = (0..found.len()).find(|&i| found[i] != want[i]) {
            let (found, expected) = (found[index], want[index]);
            return Err(Outcome::Differs {
                seed,
                array,
                index,
                found,
                expected,
            });
        }
        compared += found.len();
    }
    Ok((compared, seconds))
}

#[cfg(test)]
mod tests {
    use super::unresolved;

    #[test]
    fn functions_that_a_linker_misses_are_named_once() {
        let lld = "ld.lld: error: undefined symbol: sqrtf\n>>> referenced by kernel.c\n\
                   ld.lld: error: undefined symbol: expf\n";
        let gnu = "kernel.c:(.text+0x5): undefined reference to `expf'\n\
                   kernel.c:(.text+0x9): undefined reference to `expf'\n";
        assert_eq!(unresolved(lld).as_deref(), Some("`expf`, `sqrtf`"));
        assert_eq!(unresolved(gnu).as_deref(), Some("`expf`"));
        assert_eq!(unresolved("kernel.c:3:1: error: expected ';'"), None);
    }
}
