//! A dictionary against the instructions that it speaks of.
//!
//! In: a dictionary (read from a file, not trusted), the instructions, a prover. Out: for
//! each member whether its own meaning is proved equal to the operation's at the member's
//! numbers. Nothing that the dictionary says of its evidence is believed.

use crate::dictionary::{Dictionary, Member, Operation};
use rayon::prelude::*;
use semantics::instruction::{Instruction, Output};
use semantics::term::Term;
use smt::prover::Prover;
use smt::verdict::{Evidence, Model, Reason, Verdict};
use std::collections::BTreeMap;
use std::fmt;

/// What became of one member.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Finding {
    /// Proved.
    Proved(Evidence),
    /// Different on this input.
    Different(Model),
    /// Not decided.
    Unknown(Reason),
    /// The operation has no meaning at the member's numbers, or other results.
    NoMeaning(String),
    /// There is no such instruction.
    Missing,
}

/// One member and what became of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Checked {
    /// The operation's name.
    pub operation: String,
    /// The instruction's name in C.
    pub instruction: String,
    /// What became of it.
    pub finding: Finding,
}

/// Proves every member again; in the dictionary's order. `done` is called after each.
pub fn verify(
    dictionary: &Dictionary,
    instructions: &[Instruction],
    prover: &Prover,
    done: &(dyn Fn() + Sync),
) -> Vec<Checked> {
    let checked = |&(operation, member, instruction): &Spoken| {
        let finding = match instruction {
            Some(instruction) => check(operation, member, instruction, prover),
            None => Finding::Missing,
        };
        done();
        Checked {
            operation: operation.name.clone(),
            instruction: member.name.clone(),
            finding,
        }
    };
    let members = spoken_of(dictionary, instructions);
    members.par_iter().map(checked).collect()
}

/// A member of an operation, and the instruction that it speaks of.
type Spoken<'a> = (&'a Operation, &'a Member, Option<&'a Instruction>);

/// Every member, in the dictionary's order.
fn spoken_of<'a>(dictionary: &'a Dictionary, instructions: &'a [Instruction]) -> Vec<Spoken<'a>> {
    let known = instructions
        .iter()
        .map(|i| ((i.isa.as_str(), i.name.as_str()), i));
    let known: BTreeMap<(&str, &str), &Instruction> = known.collect();
    let spoken = |(operation, member): (&'a Operation, &'a Member)| {
        let instruction = known.get(&(member.isa.as_str(), member.name.as_str()));
        (operation, member, instruction.copied())
    };
    dictionary.members().map(spoken).collect()
}

/// The instruction's results beside those that a member makes of the operation's, by their
/// place; what they are is compared here, that they are equal is not.
fn results<'a, E: fmt::Display>(
    operation: &Operation,
    instruction: &'a Instruction,
    made: impl Fn(usize) -> Result<Term, E> + 'a,
) -> Result<impl Iterator<Item = Result<(&'a Output, Term), String>>, String> {
    if operation.results.len() != instruction.outputs.len() {
        let (have, want) = (operation.results.len(), instruction.outputs.len());
        return Err(format!("{have} results, not {want}"));
    }
    let outputs = instruction.outputs.iter().enumerate();
    Ok(outputs.map(move |(k, output)| {
        let found = made(k).map_err(|e| e.to_string())?;
        let (have, want) = (found.sort(), output.term.sort());
        if have != want {
            return Err(format!("a result of {have}, not {want}"));
        }
        Ok((output, found))
    }))
}

/// What a member says: its own meaning and the operation's at its numbers are equal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Claimed {
    /// The operation's name.
    pub operation: String,
    /// The instruction's name in C.
    pub instruction: String,
    /// One pair for each result, or why there are none.
    pub pairs: Result<Vec<Pair>, String>,
}

/// Two terms that are said to be equal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pair {
    /// The instruction's own meaning.
    pub meaning: Term,
    /// The operation's, exactly as the dictionary has it.
    pub operation: Term,
    /// Bits of an element of the result; all of them where that is not told.
    pub element: u32,
}

/// What every member says, in the dictionary's order; nothing is simplified.
pub fn claims(dictionary: &Dictionary, instructions: &[Instruction]) -> Vec<Claimed> {
    let claimed = |(operation, member, instruction): Spoken| Claimed {
        operation: operation.name.clone(),
        instruction: member.name.clone(),
        pairs: match instruction {
            Some(instruction) => pairs(operation, member, instruction),
            None => Err("there is no such instruction".to_owned()),
        },
    };
    let members = spoken_of(dictionary, instructions);
    members.into_iter().map(claimed).collect()
}

fn pairs(
    operation: &Operation,
    member: &Member,
    instruction: &Instruction,
) -> Result<Vec<Pair>, String> {
    let results = results(operation, instruction, |k| member.as_written(operation, k))?;
    let pair = |(k, result): (usize, Result<(&Output, Term), String>)| {
        let (output, found) = result?;
        let reported = member.outputs.get(k).and_then(|r| r.element.width());
        Ok(Pair {
            meaning: output.term,
            operation: found,
            element: reported.or(found.sort().width()).unwrap_or(1),
        })
    };
    results.enumerate().map(pair).collect()
}

fn check(
    operation: &Operation,
    member: &Member,
    instruction: &Instruction,
    prover: &Prover,
) -> Finding {
    let results = match results(operation, instruction, |k| member.result(operation, k)) {
        Ok(results) => results,
        Err(why) => return Finding::NoMeaning(why),
    };
    let mut evidence = Evidence::default();
    for result in results {
        let (output, found) = match result {
            Ok(result) => result,
            Err(why) => return Finding::NoMeaning(why),
        };
        match prover.prove_equal(output.term, found) {
            Verdict::Proved(e) => evidence.add(&e),
            Verdict::Refuted(model) => return Finding::Different(model),
            Verdict::Unknown(reason) => return Finding::Unknown(reason),
        }
    }
    Finding::Proved(evidence)
}
