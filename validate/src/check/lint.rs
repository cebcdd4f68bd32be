//! Mistakes of specifications that need neither a processor nor a vendor's text to be seen.
//!
//! In: instructions of our own specifications, the features that exist. Out: for each
//! instruction its [`Finding`]s. Faults are certain: result bits that are never written (those
//! of a mask past its elements, and the upper part of a narrow result, are 0 by rule) or written twice, slices outside a register,
//! operands that the meaning does not use, results that are constant, features that are not
//! in `targets.yaml`, immediates that do not fit. Notes are what no input has shown otherwise:
//! operands and bits of immediates without effect, a single result.

#[cfg(test)]
mod tests;

use super::compare::{Meaning, Outcome};
use super::inputs::{self, Inputs, Record};
use super::memory::MEMORY;
use super::summary::few;
use codegen_gen::check_harness::{recorded, returned};
use rayon::prelude::*;
use semantics::instruction::{Constants, Element, Form, Instruction, Role};
use semantics::subst::free_vars;
use spec_parser::pseudocode::lower::trace::{Trace, trace};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use target::Targets;

/// Inputs on which an effect must show.
const SAMPLES: usize = 200;

/// Something about one specification.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Finding {
    /// Result bits from (inclusive) to (exclusive) are never written.
    Unwritten(u32, u32),
    /// Result bits are written twice, the first value being lost.
    Twice(u32, u32),
    /// A slice of that register, from and to, reaches past it.
    Outside(String, u32, u32),
    /// The meaning does not use the operand.
    Unused(String),
    /// The meaning uses what is no operand.
    Foreign(String),
    /// The result is the same for every input.
    Constant,
    /// All inputs show the same result.
    OneResult,
    /// There is no such feature.
    Feature(String),
    /// The immediate's largest value does not fit into its width.
    Immediate(String),
    /// No input shows an effect of the operand.
    NoEffect(String),
    /// No input shows an effect of that bit of the immediate.
    NoEffectOfBit(String, u32),
}

impl Finding {
    /// Whether it is certain that the specification is wrong.
    pub fn is_fault(&self) -> bool {
        !matches!(
            self,
            Finding::OneResult | Finding::NoEffect(_) | Finding::NoEffectOfBit(..)
        )
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Finding::Unwritten(lo, end) => {
                write!(f, "bits {}:{lo} of the result are never written", end - 1)
            }
            Finding::Twice(lo, end) => {
                write!(f, "bits {}:{lo} of the result are written twice", end - 1)
            }
            Finding::Outside(name, lo, end) => {
                write!(f, "`{name}[{}:{lo}]` lies outside it", end - 1)
            }
            Finding::Unused(name) => write!(f, "the operand `{name}` is not used"),
            Finding::Foreign(name) => write!(f, "`{name}` is used and is no operand"),
            Finding::Constant => f.write_str("the result is constant"),
            Finding::OneResult => f.write_str("all inputs show the same result"),
            Finding::Feature(name) => write!(f, "there is no feature `{name}` in targets.yaml"),
            Finding::Immediate(name) => write!(f, "values of `{name}` do not fit into its width"),
            Finding::NoEffect(name) => write!(f, "no input shows an effect of `{name}`"),
            Finding::NoEffectOfBit(name, bit) => {
                write!(f, "no input shows an effect of bit {bit} of `{name}`")
            }
        }
    }
}

/// What was found in all.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Report {
    /// By name of the instruction; all that were looked at.
    pub findings: BTreeMap<String, BTreeSet<Finding>>,
}

/// Looks at all instructions, whose pseudocode is in that dialect.
pub fn lint(
    instructions: &[&Instruction],
    dialect: &str,
    targets: &Targets,
    seed: u64,
    done: &(dyn Fn(usize) + Sync),
) -> Report {
    let one = |instruction: &&Instruction| {
        let found = findings(instruction, dialect, targets, seed);
        done(1);
        (instruction.name.clone(), found)
    };
    Report {
        findings: instructions.par_iter().map(one).collect(),
    }
}

/// Looks at one instruction.
fn findings(
    instruction: &Instruction,
    dialect: &str,
    targets: &Targets,
    seed: u64,
) -> BTreeSet<Finding> {
    let mut found = faults(instruction, dialect, targets);
    if instruction.form != Form::Library {
        effects(instruction, seed, &mut found);
    }
    found
}

/// What is seen without inputs.
pub fn faults(instruction: &Instruction, dialect: &str, targets: &Targets) -> BTreeSet<Finding> {
    let mut found = BTreeSet::new();
    let unknown = |name: &&String| !targets.has_feature(name);
    let features = instruction.features.iter().filter(unknown).cloned();
    found.extend(features.map(Finding::Feature));
    let trace = trace(dialect, instruction).ok();
    if let Some(trace) = &trace {
        bits(instruction, trace, &mut found);
    }
    operands(instruction, trace.as_ref(), &mut found);
    found
}

/// What the body does to bits.
fn bits(instruction: &Instruction, trace: &Trace, found: &mut BTreeSet<Finding>) {
    let output = returned(instruction);
    let undefined = output.map_or(&[][..], |o| &o.undefined);
    if output.is_some_and(|o| o.element != Element::Mask) {
        let declared =
            |&&(lo, end): &&(u32, u32)| undefined.iter().any(|u| u.0 <= lo && end <= u.1);
        let width = output.and_then(|o| o.term.sort().width());
        // A narrow result is extended with zeros without saying so.
        let extended = |&&(lo, end): &&(u32, u32)| Some(end) == width && lo.is_power_of_two();
        let faulty = |range: &&(u32, u32)| !declared(range) && !extended(range);
        let unwritten = trace.unwritten.iter().filter(faulty);
        found.extend(unwritten.map(|&(lo, end)| Finding::Unwritten(lo, end)));
    }
    let twice = trace.twice.iter();
    found.extend(twice.map(|&(lo, end)| Finding::Twice(lo, end)));
    let outside = trace.outside.iter();
    found.extend(outside.map(|(name, lo, end)| Finding::Outside(name.clone(), *lo, *end)));
}

/// Which operands the text and the meaning use, and whether immediates fit.
fn operands(instruction: &Instruction, trace: Option<&Trace>, found: &mut BTreeSet<Finding>) {
    // What the result begins as has to be left in it somewhere.
    let kept = |t: &Trace, name: &str| t.read.contains(name) && t.begins.as_deref() != Some(name);
    let read = |name: &str| trace.is_some_and(|trace| kept(trace, name));
    let outputs = instruction.outputs.iter();
    let used: BTreeSet<&str> = outputs
        .flat_map(|o| free_vars(o.term))
        .filter_map(|v| v.as_var())
        .collect();
    for operand in &instruction.operands {
        let name = operand.name.as_str();
        if operand.role != Role::Sae && !used.contains(name) {
            // What a function is told need not matter for its value.
            found.insert(if read(name) {
                Finding::NoEffect(operand.name.clone())
            } else {
                Finding::Unused(operand.name.clone())
            });
        }
        if let Some(Constants::UpTo(max)) = operand.role.constants()
            && operand.width < 32
            && max >> operand.width != 0
        {
            found.insert(Finding::Immediate(operand.name.clone()));
        }
    }
    if used.is_empty() && !instruction.operands.is_empty() {
        found.insert(Finding::Constant);
    }
    for name in used {
        if name != MEMORY && instruction.operand(name).is_none() {
            found.insert(Finding::Foreign(name.to_owned()));
        }
    }
}

/// What operands do to the results of sampled inputs.
fn effects(instruction: &Instruction, seed: u64, found: &mut BTreeSet<Finding>) {
    let (Ok(meaning), Ok(inputs)) = (
        Meaning::of(instruction),
        inputs::inputs(instruction, seed, SAMPLES),
    ) else {
        return;
    };
    let run = |records: &[Record], lists: &[Vec<u32>]| meaning.expected(records, lists);
    let plain = run(&inputs.records, &inputs.immediates);
    let same = |a: &[Outcome], b: &[Outcome]| a == b;
    let free = !instruction.operands.is_empty() && returned(instruction).is_some();
    if free && plain.windows(2).all(|pair| pair[0].value == pair[1].value) {
        found.insert(Finding::OneResult);
        return;
    }
    for (place, operand) in recorded(instruction).enumerate() {
        if operand.role.is_pointer() {
            continue;
        }
        let mut moved = inputs.records.clone();
        moved.iter_mut().enumerate().for_each(|(k, record)| {
            let other = (k + 1) % inputs.records.len();
            record.values[place] = inputs.records[other].values[place].clone();
        });
        if same(&plain, &run(&moved, &inputs.immediates)) {
            found.insert(Finding::NoEffect(operand.name.clone()));
        }
    }
    immediates(instruction, &inputs, &plain, &run, found);
}

/// Runs records with lists of immediates.
type Runner<'a> = dyn Fn(&[Record], &[Vec<u32>]) -> Vec<Outcome> + 'a;

/// What the bits of immediates do.
fn immediates(
    instruction: &Instruction,
    inputs: &Inputs,
    plain: &[Outcome],
    run: &Runner<'_>,
    found: &mut BTreeSet<Finding>,
) {
    let constants = instruction.operands.iter().filter(|o| o.role.is_constant());
    for (place, operand) in constants.enumerate() {
        let Some(Constants::UpTo(max)) = operand.role.constants() else {
            continue;
        };
        for bit in 0..32 - max.leading_zeros() {
            let flipped = |list: &Vec<u32>| {
                let mut list = list.clone();
                let value = list[place] ^ 1 << bit;
                list[place] = if value <= max { value } else { list[place] };
                list
            };
            let lists: Vec<Vec<u32>> = inputs.immediates.iter().map(flipped).collect();
            if run(&inputs.records, &lists) == plain {
                found.insert(Finding::NoEffectOfBit(operand.name.clone(), bit));
            }
        }
    }
}

impl Report {
    /// How many instructions have faults, and how many only notes.
    pub fn counts(&self) -> (usize, usize) {
        let all = self.findings.values();
        let faulty = |f: &&BTreeSet<Finding>| f.iter().any(Finding::is_fault);
        let faults = all.clone().filter(faulty).count();
        (faults, all.filter(|f| !f.is_empty()).count() - faults)
    }

    /// Whether an instruction was looked at and has no fault.
    pub fn is_clean(&self, name: &str) -> bool {
        let found = self.findings.get(name);
        found.is_some_and(|f| !f.iter().any(Finding::is_fault))
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut notes: BTreeMap<&Finding, Vec<&str>> = BTreeMap::new();
        for (name, findings) in &self.findings {
            for finding in findings {
                match finding.is_fault() {
                    true => writeln!(f, "{name}: {finding}")?,
                    false => notes.entry(finding).or_default().push(name),
                }
            }
        }
        for (finding, names) in &notes {
            writeln!(f, "note: {finding}: {} ({})", few(names), names.len())?;
        }
        let (faults, noted) = self.counts();
        let clean = self.findings.len() - faults - noted;
        writeln!(f, "{:>9}  intrinsics", self.findings.len())?;
        writeln!(f, "{clean:>9}  without findings")?;
        writeln!(f, "{noted:>9}  with notes only")?;
        writeln!(f, "{faults:>9}  with faults")
    }
}
