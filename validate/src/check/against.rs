//! Our meaning of each instruction against a vendor's body of the same name.
//!
//! In: our instructions and the vendor's, a prover. Out: a [`Comparison`]: for each of ours
//! proved equal, different (on which input), not decided (why), or not comparable. Operands
//! are matched by their places, for names differ; constants take only the values that the
//! instruction allows; bits that either leaves undefined do not count. Nothing is run on a
//! machine: a prover's input is confirmed by the interpreter.

#[cfg(test)]
mod tests;

use super::compare::hex;
use super::summary::few;
use rayon::prelude::*;
use semantics::bits::Bits;
use semantics::build;
use semantics::instruction::{Constants, Instruction, Operand, Output};
use semantics::sort::Sort;
use semantics::subst::{free_vars, replace_vars};
use semantics::term::Term;
use semantics::value::Value;
use smt::prover::Prover;
use smt::verdict::{Model, Verdict};
use std::collections::{BTreeMap, HashMap};
use std::fmt;

/// The most lists of constants for which a question is asked one by one.
const LISTS: u64 = 256;

/// What came of one instruction.
#[derive(Clone, PartialEq, Debug)]
pub enum Answer {
    /// Equal for every input.
    Proved,
    /// Different: the operands with values, our result and the vendor's.
    Different(Vec<(String, Value)>),
    /// Not decided.
    Unknown(String),
    /// The signatures differ.
    Signature(String),
    /// The vendor's text has no such name, or no meaning for it.
    Absent,
}

/// What came of all.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Comparison {
    /// By name: the features, the errata that were applied to the vendor's body, the answer.
    pub answers: BTreeMap<String, (String, Vec<String>, Answer)>,
}

/// Compares ours with the vendor's.
pub fn compare(
    ours: &[&Instruction],
    vendors: &[Instruction],
    prover: &Prover,
    done: &(dyn Fn(usize) + Sync),
) -> Comparison {
    let by_name: HashMap<&str, &Instruction> =
        vendors.iter().map(|i| (i.name.as_str(), i)).collect();
    let one = |instruction: &&Instruction| {
        let vendor = by_name.get(instruction.name.as_str());
        let answer = vendor.map_or(Answer::Absent, |v| equal(instruction, v, prover));
        done(1);
        let errata = vendor.map_or(Vec::new(), |v| v.origin.errata.clone());
        let features = instruction.features.join(", ");
        (instruction.name.clone(), (features, errata, answer))
    };
    Comparison {
        answers: ours.par_iter().map(one).collect(),
    }
}

/// Compares one instruction with the vendor's, or with another one.
pub fn equal(ours: &Instruction, theirs: &Instruction, prover: &Prover) -> Answer {
    if let Some(difference) = signatures(ours, theirs) {
        return Answer::Signature(difference);
    }
    let values: HashMap<&str, Term> = theirs
        .operands
        .iter()
        .zip(&ours.operands)
        .map(|(t, o)| (t.name.as_str(), build::resize_unsigned(o.var(), t.width)))
        .collect();
    let mut unknown = None;
    for (o, t) in ours.outputs.iter().zip(&theirs.outputs) {
        let term = replace_vars(t.term, &values);
        match outputs(ours, o, t, term, prover) {
            Answer::Proved => {}
            Answer::Unknown(why) => unknown = Some(why),
            answer => return answer,
        }
    }
    unknown.map_or(Answer::Proved, Answer::Unknown)
}

/// In what two signatures differ.
fn signatures(ours: &Instruction, theirs: &Instruction) -> Option<String> {
    let (o, t) = (&ours.operands, &theirs.operands);
    if o.len() != t.len() {
        return Some(format!("{} operands against {}", o.len(), t.len()));
    }
    let unlike = |(o, t): &(&Operand, &Operand)| {
        o.role.is_constant() != t.role.is_constant() || !o.role.is_constant() && o.width != t.width
    };
    if let Some((o, t)) = o.iter().zip(t).find(unlike) {
        let told = |o: &Operand| {
            let when = if o.role.is_constant() {
                "constant "
            } else {
                ""
            };
            format!("`{when}{} {}`", o.c_type, o.name)
        };
        return Some(format!("{} against {}", told(o), told(t)));
    }
    let sorts =
        |i: &Instruction| -> Vec<Sort> { i.outputs.iter().map(|o| o.term.sort()).collect() };
    (sorts(ours) != sorts(theirs)).then(|| "the results are of other kinds".to_owned())
}

/// Compares one result with the vendor's, which is already over our operands.
fn outputs(ours: &Instruction, o: &Output, t: &Output, term: Term, prover: &Prover) -> Answer {
    let live = live(
        o.term.sort().width(),
        &[&o.undefined[..], &t.undefined[..]].concat(),
    );
    let ask = |values: &HashMap<&str, Term>| {
        let (a, b) = (replace_vars(o.term, values), replace_vars(term, values));
        prover.prove_equal_live(a, b, &live)
    };
    // Those without effect on either need no value.
    let used: Vec<&str> = [o.term, term]
        .iter()
        .flat_map(|&t| free_vars(t))
        .filter_map(|v| v.as_var())
        .collect();
    let constants: Vec<(&Operand, Constants)> = ours
        .operands
        .iter()
        .filter(|o| used.contains(&o.name.as_str()))
        .filter_map(|o| Some((o, o.role.constants()?)))
        .collect();
    let lists: u64 = constants.iter().map(|(_, c)| c.count()).product();
    let listed = constants
        .iter()
        .any(|(_, c)| !matches!(c, Constants::UpTo(_)));
    if !listed {
        let bounded = constants
            .iter()
            .map(|(o, c)| (o.name.as_str(), within(o, *c)));
        match ask(&bounded.collect()) {
            Verdict::Proved(_) => return Answer::Proved,
            Verdict::Refuted(model) => return Answer::Different(shown(ours, o, term, &model)),
            Verdict::Unknown(reason) if constants.is_empty() || lists > LISTS => {
                return Answer::Unknown(reason.to_string());
            }
            Verdict::Unknown(_) => {}
        }
    }
    if lists > LISTS {
        return Answer::Unknown(format!("{lists} lists of constants are too many to try"));
    }
    for number in 0..lists {
        let values = list(number, &constants);
        let terms = values
            .iter()
            .map(|(name, bits)| (*name, Term::bits(bits.clone())));
        match ask(&terms.collect()) {
            Verdict::Proved(_) => {}
            Verdict::Refuted(mut model) => {
                let values = values.into_iter();
                model.extend(values.map(|(name, bits)| (name.to_owned(), Value::Bv(bits))));
                return Answer::Different(shown(ours, o, term, &model));
            }
            Verdict::Unknown(reason) => return Answer::Unknown(reason.to_string()),
        }
    }
    Answer::Proved
}

/// A constant that takes no value that is not allowed.
fn within(operand: &Operand, constants: Constants) -> Term {
    let var = operand.var();
    let Constants::UpTo(max) = constants else {
        return var;
    };
    let bits = 32 - max.leading_zeros();
    if bits == 0 {
        return build::zero(operand.width);
    }
    if bits < operand.width && u64::from(max) + 1 == 1 << bits {
        return build::zext(build::extract(var, 0, bits), operand.width);
    }
    let largest = Term::bv(operand.width, i128::from(max));
    build::ite(build::ult(largest, var), largest, var)
}

/// A number as one value of each constant.
fn list<'a>(mut number: u64, constants: &[(&'a Operand, Constants)]) -> Vec<(&'a str, Bits)> {
    let mut one = |(operand, constants): &(&'a Operand, Constants)| {
        let value = constants.nth(number % constants.count()).unwrap_or(0);
        number /= constants.count();
        let bits = Bits::from_u64(operand.width, u64::from(value));
        (operand.name.as_str(), bits)
    };
    constants.iter().map(&mut one).collect()
}

/// The bits that both define, as ranges.
fn live(width: Option<u32>, undefined: &[(u32, u32)]) -> Vec<(u32, u32)> {
    let Some(width) = width else {
        return vec![(0, u32::MAX)];
    };
    let mut undefined = undefined.to_vec();
    undefined.sort_unstable();
    let (mut live, mut at) = (Vec::new(), 0);
    for (from, to) in undefined {
        if from > at {
            live.push((at, from));
        }
        at = at.max(to);
    }
    if at < width {
        live.push((at, width));
    }
    live
}

/// The operands' values in a counterexample, and both results there.
fn shown(ours: &Instruction, o: &Output, theirs: Term, model: &Model) -> Vec<(String, Value)> {
    let default = |o: &Operand| Value::Bv(Bits::zero(o.width));
    let mut values: Vec<(String, Value)> = ours
        .operands
        .iter()
        .map(|o| {
            let value = model.get(&o.name).cloned();
            (o.name.clone(), value.unwrap_or_else(|| default(o)))
        })
        .collect();
    let memory = model.get(super::memory::MEMORY).cloned();
    let memory = memory.unwrap_or_else(|| Value::Mem(Default::default()));
    let inputs: Vec<Value> = values
        .iter()
        .map(|(_, v)| v.clone())
        .chain([memory])
        .collect();
    let variables = super::memory::variables(ours);
    if let Ok(program) = semantics::eval::CompiledTerms::compile(&[o.term, theirs], &variables) {
        let results = program.run(&inputs);
        let names = ["ours", "theirs"].map(str::to_owned);
        values.extend(names.into_iter().zip(results));
    }
    values
}

/// The rows of the table: proved, different, not decided, other signature, absent.
type Row = [usize; 5];

impl Answer {
    fn column(&self) -> usize {
        match self {
            Answer::Proved => 0,
            Answer::Different(_) => 1,
            Answer::Unknown(_) => 2,
            Answer::Signature(_) => 3,
            Answer::Absent => 4,
        }
    }
}

impl Comparison {
    /// Counts for all.
    pub fn counts(&self) -> Row {
        let mut row = Row::default();
        for (_, _, answer) in self.answers.values() {
            row[answer.column()] += 1;
        }
        row
    }

    /// Whether an instruction was proved equal.
    pub fn is_proved(&self, name: &str) -> bool {
        matches!(self.answers.get(name), Some((_, _, Answer::Proved)))
    }

    /// How many proved ones needed an erratum.
    fn mended(&self) -> usize {
        let mended = |(_, errata, answer): &&(String, Vec<String>, Answer)| {
            !errata.is_empty() && *answer == Answer::Proved
        };
        self.answers.values().filter(mended).count()
    }
}

/// Names with values, a line each.
pub fn listed<'a>(values: impl Iterator<Item = (&'a String, &'a Value)>) -> String {
    let line = |(name, value): (&String, &Value)| match value {
        Value::Bv(bits) => format!("    {name:<8} = {}\n", hex(bits)),
        other => format!("    {name:<8} = {other:?}\n"),
    };
    values.map(line).collect()
}

fn row(f: &mut fmt::Formatter<'_>, name: &str, row: &Row) -> fmt::Result {
    let [p, d, u, s, a] = row;
    writeln!(f, "{p:>8}{d:>11}{u:>9}{s:>11}{a:>8}  {name}")
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut unknown: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (name, (_, errata, answer)) in &self.answers {
            match answer {
                Answer::Different(values) => {
                    writeln!(
                        f,
                        "{name}: the vendor's text says something else, such as for"
                    )?;
                    f.write_str(&listed(values.iter().map(|(n, v)| (n, v))))?;
                    if !errata.is_empty() {
                        writeln!(f, "    (with the errata {})", errata.join(", "))?;
                    }
                }
                Answer::Signature(why) => writeln!(f, "{name}: another signature: {why}")?,
                Answer::Unknown(why) => unknown.entry(why).or_default().push(name),
                Answer::Proved | Answer::Absent => {}
            }
        }
        let mut rows: BTreeMap<&str, Row> = BTreeMap::new();
        for (features, _, answer) in self.answers.values() {
            rows.entry(features).or_default()[answer.column()] += 1;
        }
        writeln!(
            f,
            "  proved  different  unknown  signature  absent  features"
        )?;
        for (features, counts) in &rows {
            row(f, features, counts)?;
        }
        row(f, "all", &self.counts())?;
        writeln!(
            f,
            "{:>8}  of the proved ones with errata applied",
            self.mended()
        )?;
        for (why, names) in &unknown {
            writeln!(f, "{:>8}  unknown: {why}: {}", names.len(), few(names))?;
        }
        Ok(())
    }
}
