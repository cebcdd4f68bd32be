//! What a prover may use and for how long.
//!
//! In: nothing (the command line fills it in). Out: [`Config`]. It reads no environment and
//! opens no file.

use std::path::PathBuf;
use std::time::Duration;
use store::object::Store;

/// Settings of a [`crate::prover::Prover`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Config {
    /// Seed of the random inputs.
    pub seed: u64,
    /// Inputs on which a question is evaluated before an engine sees it.
    pub samples: usize,
    /// Conflicts that the embedded engine may use for one question.
    pub conflicts: u64,
    /// Time that the embedded engine may use for one question.
    pub sat_time: Duration,
    /// The SMT solver for what the embedded engine leaves open.
    pub solver: Option<SolverConfig>,
    /// Ask the SMT solver everything that normal forms do not settle, not the embedded engine.
    pub only_solver: bool,
    /// Where answers and proofs are kept.
    pub cache: Option<Store>,
    /// Where to write everything that is sent to and received from the SMT solver.
    pub transcript: Option<PathBuf>,
}

/// An SMT solver to run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SolverConfig {
    /// Its name in evidence and cache keys.
    pub name: String,
    /// The program.
    pub program: PathBuf,
    /// Its arguments: it must read SMT-LIB from its standard input.
    pub args: Vec<String>,
    /// Time for one query; after it the process is ended.
    pub time: Duration,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            seed: 0x15af_0a9e,
            samples: 96,
            conflicts: 100_000,
            sat_time: Duration::from_secs(10),
            solver: None,
            only_solver: false,
            cache: None,
            transcript: None,
        }
    }
}

impl SolverConfig {
    /// A solver by its common name (`z3`, `bitwuzla`, `cvc5`) or by the path of a program,
    /// whose file name then tells which arguments it takes (Z3's when it tells nothing).
    pub fn named(name_or_path: &str) -> SolverConfig {
        let program = PathBuf::from(name_or_path);
        let name = program.file_stem().map_or_else(
            || name_or_path.to_owned(),
            |s| s.to_string_lossy().into_owned(),
        );
        let args: &[&str] = match name.as_str() {
            "bitwuzla" => &["--lang", "smt2", "--produce-models"],
            "cvc5" => &[
                "-q",
                "--incremental",
                "--produce-models",
                "--lang",
                "smt2",
                "-",
            ],
            _ => &["-in", "-smt2"],
        };
        let args = args.iter().map(|&a| a.to_owned()).collect();
        SolverConfig {
            name,
            program,
            args,
            time: Duration::from_secs(20),
        }
    }
}
