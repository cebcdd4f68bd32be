//! Names, types and features of every intrinsic against the C compiler's headers.
//!
//! In: instructions. Out: what the compiler says of a file that wraps each of them in a
//! function of its declared types, where a warning is an error. Nothing is run.

use super::judge::Judge;
use super::machine::compile_wrappers;
use super::summary::few;
use codegen_gen::check_harness::Case;
use rayon::prelude::*;
use semantics::instruction::{Form, Instruction};
use std::collections::BTreeMap;
use std::fmt;
use target::Targets;

/// Intrinsics in one file.
const BATCH: usize = 400;

/// What the compiler says.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Report {
    /// How many it accepts without a warning.
    pub clean: usize,
    /// The names that it does not know.
    pub unknown: Vec<String>,
    /// What it says of others, by name.
    pub complaints: BTreeMap<String, String>,
    /// Why some could not be compiled at all.
    pub problems: Vec<String>,
}

/// Compiles wrappers of the instructions.
pub fn check(
    instructions: &[&Instruction],
    targets: &Targets,
    judge: &Judge,
    done: &(dyn Fn(usize) + Sync),
) -> Report {
    let mut report = Report::default();
    let compiler = match &judge.compiler {
        Ok(compiler) => compiler,
        Err(problem) => {
            report.problems.push(problem.clone());
            return report;
        }
    };
    let chosen = instructions.iter().filter(|i| i.form != Form::Library);
    let cases: Vec<Case<'_>> = chosen
        .map(|instruction| Case {
            instruction,
            features: super::features(instruction, targets, &judge.host),
            immediates: vec![largest(instruction)],
            window: 0,
            headers: judge.headers.clone(),
        })
        .collect();
    let results: Vec<_> = cases
        .par_chunks(BATCH)
        .map(|batch| {
            let complaints = compile_wrappers(compiler, batch);
            done(batch.len());
            (batch, complaints)
        })
        .collect();
    for (batch, complaints) in results {
        match complaints {
            Ok(complaints) => report.add(batch, &complaints),
            Err(problem) => report.problems.push(problem),
        }
    }
    report
}

/// The largest value of each immediate.
fn largest(instruction: &Instruction) -> Vec<u32> {
    let constants = instruction
        .operands
        .iter()
        .filter_map(|o| o.role.constants());
    constants
        .map(|c| c.nth(c.count() - 1).unwrap_or(0))
        .collect()
}

impl Report {
    fn add(&mut self, batch: &[Case<'_>], complaints: &BTreeMap<usize, String>) {
        for (index, case) in batch.iter().enumerate() {
            let name = case.instruction.name.clone();
            match complaints.get(&index) {
                None => self.clean += 1,
                Some(text) if text.starts_with("implicit declaration") => self.unknown.push(name),
                Some(text) => {
                    self.complaints.insert(name, text.clone());
                }
            }
        }
    }

    /// Whether the compiler had nothing to say but that it does not know some.
    pub fn is_clean(&self) -> bool {
        self.complaints.is_empty() && self.problems.is_empty()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, complaint) in &self.complaints {
            writeln!(f, "{name}: {complaint}")?;
        }
        for problem in &self.problems {
            writeln!(f, "{problem}")?;
        }
        writeln!(f, "{:>9}  wrappers compile without a warning", self.clean)?;
        writeln!(f, "{:>9}  do not", self.complaints.len())?;
        let unknown: Vec<&str> = self.unknown.iter().map(String::as_str).collect();
        if !unknown.is_empty() {
            let (count, names) = (unknown.len(), few(&unknown));
            writeln!(f, "{count:>9}  are not known to the C compiler: {names}")?;
        }
        Ok(())
    }
}
