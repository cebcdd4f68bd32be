//! `isaforge check`: every instruction's meaning against this processor.
//!
//! In: instructions, what this machine has, how many inputs. Out: a [`Summary`]: what agreed
//! on every bit, what did not and on which input, what was skipped and why. Each instruction
//! is compiled from its C name, run on random and edge inputs, and compared with the
//! interpreter; bits that the vendor leaves undefined are not.

mod command;
mod compare;
mod inputs;
mod machine;
#[cfg(test)]
mod tests;

use crate::target::{Target, Targets};
use codegen_gen::check_harness::{Case, unsupported};
use inputs::Inputs;
use machine::{Job, Ran};
use rayon::prelude::*;
use semantics::instruction::{Form, Instruction};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

pub(crate) use command::command;
pub(crate) use compare::Difference;

/// Instructions in one C program: few enough that two compilers share the work evenly, many
/// enough that reading the headers is a small part of it.
const BATCH: usize = 120;

/// What is asked.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// Only instructions whose names contain this.
    pub(crate) filter: Option<String>,
    /// Records for each instruction, at least.
    pub(crate) inputs: usize,
    /// The seed of the inputs.
    pub(crate) seed: u64,
}

/// What came of one instruction.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Verdict {
    /// Every bit of every result, on so many records.
    Agreed(usize),
    /// A bit differs; the first such record.
    Differs(Box<Difference>),
    /// The program ended in the middle of it.
    Crashed(String),
    /// It was not compared.
    Skipped(String),
}

/// What came of all.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Summary {
    /// Verdicts by name of the instruction.
    pub(crate) verdicts: BTreeMap<String, Verdict>,
}

/// Checks instructions on this machine.
pub(crate) fn run(
    instructions: &[Instruction],
    targets: &Targets,
    host: &Target,
    options: &Options,
    done: &(dyn Fn(usize) + Sync),
) -> Summary {
    let wanted = |i: &&Instruction| options.filter.as_ref().is_none_or(|f| i.name.contains(f));
    let chosen: Vec<&Instruction> = instructions.iter().filter(wanted).collect();
    let Some(compiler) = crate::run::c_compiler() else {
        let reason = "there is no C compiler: gcc, cc, clang or $CC";
        let skip = |i: &&Instruction| (i.name.clone(), Verdict::Skipped(reason.to_owned()));
        return Summary {
            verdicts: chosen.iter().map(skip).collect(),
        };
    };
    let verdicts = chosen
        .par_chunks(BATCH)
        .flat_map_iter(|batch| {
            let verdicts = check_batch(&compiler, batch, targets, host, options);
            done(batch.len());
            verdicts
        })
        .collect();
    Summary { verdicts }
}

/// Checks the instructions of one program.
fn check_batch(
    compiler: &str,
    batch: &[&Instruction],
    targets: &Targets,
    host: &Target,
    options: &Options,
) -> Vec<(String, Verdict)> {
    let mut verdicts = Vec::new();
    let mut jobs: Vec<(&Instruction, Inputs, Option<String>)> = Vec::new();
    for &instruction in batch {
        match (instruction.form, unsupported(instruction)) {
            (Form::Library, _) => {
                let reason = "it is a call of a library".to_owned();
                verdicts.push((instruction.name.clone(), Verdict::Skipped(reason)));
            }
            (_, Some(reason)) => {
                verdicts.push((
                    instruction.name.clone(),
                    Verdict::Skipped(reason.to_owned()),
                ));
            }
            _ => {
                let inputs = inputs::inputs(instruction, options.seed, options.inputs);
                jobs.push((instruction, inputs, lacking(instruction, targets, host)));
            }
        }
    }
    let programs: Vec<Job<'_>> = jobs
        .iter()
        .map(|(instruction, inputs, lacking)| Job {
            case: Case {
                instruction,
                features: features(instruction, targets, host),
                immediates: inputs.immediates.clone(),
            },
            records: lacking.is_none().then(|| compare::encode(inputs)),
        })
        .collect();
    let results = machine::run(compiler, &programs);
    for ((instruction, inputs, lacking), ran) in jobs.iter().zip(results) {
        let verdict = match ran {
            Ran::Results(bytes) => compare::verdict(instruction, inputs, &bytes),
            Ran::Compiled => {
                let missing = lacking.clone().unwrap_or_default();
                Verdict::Skipped(format!("this processor lacks {missing}"))
            }
            Ran::Refused(message) => Verdict::Skipped(refusal(&message)),
            Ran::Crashed(how) => Verdict::Crashed(how),
            Ran::Impossible(why) => Verdict::Skipped(why),
        };
        verdicts.push((instruction.name.clone(), verdict));
    }
    verdicts
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
pub(crate) fn features(instruction: &Instruction, targets: &Targets, host: &Target) -> Vec<String> {
    let mut needed: BTreeSet<String> = instruction.features.iter().cloned().collect();
    if instruction.origin.family.is_none() {
        needed.extend(host.features.iter().cloned());
    }
    let one = |feature: String| targets.flags(&BTreeSet::from([feature]));
    let flags = targets.closure(&needed).into_iter().flat_map(one);
    flags
        .map(|flag| flag.trim_start_matches("-m").to_owned())
        .collect()
}

impl Summary {
    /// How many of each kind: agreed, disagreed or crashed, skipped.
    pub(crate) fn counts(&self) -> (usize, usize, usize) {
        self.verdicts
            .values()
            .fold((0, 0, 0), |(a, d, s), verdict| match verdict {
                Verdict::Agreed(_) => (a + 1, d, s),
                Verdict::Differs(_) | Verdict::Crashed(_) => (a, d + 1, s),
                Verdict::Skipped(_) => (a, d, s + 1),
            })
    }

    /// The names of the skipped ones by reason.
    pub(crate) fn skipped(&self) -> BTreeMap<&str, Vec<&str>> {
        let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (name, verdict) in &self.verdicts {
            if let Verdict::Skipped(reason) = verdict {
                reasons.entry(reason).or_default().push(name);
            }
        }
        reasons
    }
}

/// The most names that are printed for one reason to skip.
const NAMES: usize = 4;

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, verdict) in &self.verdicts {
            match verdict {
                Verdict::Differs(difference) => write!(f, "{name}: disagrees\n{difference}")?,
                Verdict::Crashed(how) => writeln!(f, "{name}: the program ended: {how}")?,
                Verdict::Agreed(_) | Verdict::Skipped(_) => {}
            }
        }
        let (agreed, disagreed, skipped) = self.counts();
        let records: usize = self
            .verdicts
            .values()
            .map(|v| if let Verdict::Agreed(n) = v { *n } else { 0 })
            .sum();
        writeln!(f, "{:>9}  instructions", self.verdicts.len())?;
        writeln!(f, "{agreed:>9}  agreed, on {records} inputs")?;
        writeln!(f, "{disagreed:>9}  disagreed")?;
        writeln!(f, "{skipped:>9}  skipped")?;
        for (reason, names) in self.skipped() {
            let shown = names[..names.len().min(NAMES)].join(", ");
            let more = if names.len() > NAMES { ", …" } else { "" };
            writeln!(f, "{:>15}  {reason}: {shown}{more}", names.len())?;
        }
        Ok(())
    }
}
