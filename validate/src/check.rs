//! Every instruction's meaning against this processor.
//!
//! In: instructions, what this machine has, how many inputs. Out: a [`Summary`]: what agreed,
//! what did not and on which input, what was skipped and why. Each instruction is compiled
//! from its C name, run on edge and random inputs, and compared with the interpreter; bits
//! that the vendor leaves undefined are not. Beside the machine there are other witnesses:
//! [`against`] the vendor's text, [`lint`] the specification itself, [`headers`] C's.

pub mod against;
pub mod compare;
mod edges;
pub mod faults;
pub mod headers;
mod inputs;
pub mod judge;
pub mod lint;
pub mod machine;
mod memory;
mod reduce;
pub mod summary;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod tolerance;

use codegen_gen::check_harness::{Case, unsupported};
use compare::{Agreement, Difference, Meaning};
use faults::Faults;
use inputs::Inputs;
use judge::Judge;
use machine::{Compiler, Job, Ran};
use rayon::prelude::*;
use semantics::instruction::{Form, Instruction};
use std::collections::BTreeSet;
use summary::Summary;
use target::{Target, Targets};

/// Instructions in one C program: few enough that two compilers share the work evenly, many
/// enough that reading the headers is a small part of it.
const BATCH: usize = 120;
/// Records in one C program, of all its instructions: they are in memory together.
const RECORDS: usize = 240_000;

/// What is asked.
#[derive(Clone, Debug)]
pub struct Options {
    /// Only instructions whose names contain this.
    pub filter: Option<String>,
    /// Records for each instruction, at least.
    pub inputs: usize,
    /// The seed of the inputs.
    pub seed: u64,
    /// What the C compiler is known to do wrong.
    pub faults: Faults,
    /// Flags for the C compiler besides those that every program gets.
    pub flags: Vec<String>,
    /// Who runs the programs.
    pub judge: Judge,
}

/// What came of one instruction.
#[derive(Clone, PartialEq, Debug)]
pub enum Verdict {
    /// Every result, on so many records.
    Agreed(Agreement),
    /// A bit differs; the first such record.
    Differs(Box<Difference>),
    /// The program ended in the middle of it.
    Crashed(String),
    /// A record differs, as is known of this C compiler.
    Compiler(String),
    /// It compiled, but this processor lacks these features.
    Lacking(String),
    /// It was not compared.
    Skipped(String),
}

/// Checks instructions on this machine.
pub fn run(
    instructions: &[Instruction],
    targets: &Targets,
    options: &Options,
    done: &(dyn Fn(usize) + Sync),
) -> Summary {
    let wanted = |i: &&Instruction| options.filter.as_ref().is_none_or(|f| i.name.contains(f));
    let chosen: Vec<&Instruction> = instructions.iter().filter(wanted).collect();
    if let Err(reason) = &options.judge.compiler {
        let skip = |i: &&Instruction| (i.name.clone(), Verdict::Skipped(reason.clone()));
        return Summary {
            verdicts: chosen.iter().map(skip).collect(),
            ..Summary::default()
        };
    }
    let batch = (RECORDS / options.inputs.max(1)).clamp(1, BATCH);
    let verdicts = chosen
        .par_chunks(batch)
        .flat_map_iter(|batch| {
            let verdicts = check_batch(batch, targets, options);
            done(batch.len());
            verdicts
        })
        .collect();
    Summary {
        verdicts,
        ..Summary::default()
    }
}

/// Checks the instructions of one program.
fn check_batch(
    batch: &[&Instruction],
    targets: &Targets,
    options: &Options,
) -> Vec<(String, Verdict)> {
    let of_batch = options.judge.clone().with_meanings(batch.iter().copied());
    let mut compiler = of_batch.compiler.clone().expect("the caller has asked");
    compiler.flags.extend(options.flags.iter().cloned());
    let compiler = &compiler;
    let mut verdicts = Vec::new();
    let mut jobs: Vec<Ready<'_>> = Vec::new();
    for &instruction in batch {
        match ready(instruction, targets, options, &of_batch) {
            Ok(job) => jobs.push(job),
            Err(reason) => verdicts.push((instruction.name.clone(), Verdict::Skipped(reason))),
        }
    }
    let programs: Vec<Job<'_>> = jobs
        .iter()
        .map(|job| Job {
            case: job.case.clone(),
            records: (job.lacking.is_none()).then(|| compare::encode(&job.inputs.records)),
        })
        .collect();
    let results = machine::run(compiler, &programs);
    for (job, ran) in jobs.iter().zip(results) {
        let verdict = match ran {
            Ran::Results(bytes) => judge(compiler, job, &options.faults, &bytes),
            Ran::Compiled => Verdict::Lacking(job.lacking.clone().unwrap_or_default()),
            Ran::Refused(message) => Verdict::Skipped(refusal(&message)),
            Ran::Crashed(how) => Verdict::Crashed(how),
            Ran::Impossible(why) => Verdict::Skipped(why),
        };
        verdicts.push((job.case.instruction.name.clone(), verdict));
    }
    verdicts
}

/// An instruction with its inputs.
struct Ready<'a> {
    case: Case<'a>,
    inputs: Inputs,
    lacking: Option<String>,
}

/// Prepares an instruction.
fn ready<'a>(
    instruction: &'a Instruction,
    targets: &Targets,
    options: &Options,
    judge: &Judge,
) -> Result<Ready<'a>, String> {
    let host = &judge.host;
    if instruction.form == Form::Library {
        return Err("it is a call of a library".to_owned());
    }
    if let Some(reason) = unsupported(instruction) {
        return Err(reason.to_owned());
    }
    if let Some(reason) = judge.left_out.get(&instruction.name) {
        return Err(format!("it has no reference function: {reason}"));
    }
    let inputs = inputs::inputs(instruction, options.seed, options.inputs)?;
    Ok(Ready {
        case: Case {
            instruction,
            features: match judge.by_reference {
                true => Vec::new(),
                false => features(instruction, targets, host),
            },
            immediates: inputs.immediates.clone(),
            window: inputs.window,
            headers: judge.headers.clone(),
        },
        inputs,
        lacking: lacking(instruction, targets, host),
    })
}

/// Compares the results of one instruction; a difference comes with a program that shows it.
fn judge(compiler: &Compiler, job: &Ready<'_>, faults: &Faults, bytes: &[u8]) -> Verdict {
    let meaning = match Meaning::of(job.case.instruction) {
        Ok(meaning) => meaning,
        Err(reason) => return Verdict::Skipped(reason),
    };
    let mut verdict = meaning.verdict(&job.inputs, bytes);
    if let Verdict::Differs(difference) = &mut verdict {
        if let Some(known) = faults.of(&job.case.instruction.name) {
            return Verdict::Compiler(known.to_owned());
        }
        let record = &job.inputs.records[difference.number];
        difference.program = reduce::program(compiler, &job.case, &meaning, record);
    }
    verdict
}

/// A compiler's refusal in words that group.
fn refusal(message: &str) -> String {
    if message.starts_with("implicit declaration") {
        "the C compiler does not know it".to_owned()
    } else {
        format!("the C compiler refuses it: {message}")
    }
}

/// The features that this machine lacks.
fn lacking(instruction: &Instruction, targets: &Targets, host: &Target) -> Option<String> {
    let needed: BTreeSet<String> = instruction.features.iter().cloned().collect();
    let missing: Vec<String> = targets
        .closure(&needed)
        .into_iter()
        .chain(needed)
        .filter(|f| !host.features.contains(f))
        .collect::<BTreeSet<String>>()
        .into_iter()
        .collect();
    (!missing.is_empty()).then(|| missing.join(", "))
}

/// Features as the compiler's `target` attribute spells them: all that the instruction's own
/// imply, each by itself, for compilers know fewer implications than `targets.yaml`. Our own
/// specifications must name what the headers ask for; the vendor's text leaves some of it out,
/// so there this machine's features are added.
pub fn features(instruction: &Instruction, targets: &Targets, host: &Target) -> Vec<String> {
    let mut needed: BTreeSet<String> = instruction.features.iter().cloned().collect();
    if instruction.origin.family.is_none() {
        needed.extend(host.features.iter().cloned());
    }
    let all = targets.closure(&needed);
    let spelt = all.iter().filter_map(|f| targets.spelling(f));
    spelt.map(str::to_owned).collect()
}
