//! A dictionary against the instructions that it speaks of.
//!
//! In: a dictionary (read from a file, not trusted), the instructions, a prover. Out: for
//! each member whether its own meaning is proved equal to the operation's at the member's
//! numbers. Nothing that the dictionary says of its evidence is believed.

use crate::dictionary::{Dictionary, Member, Operation};
use rayon::prelude::*;
use semantics::instruction::Instruction;
use smt::prover::Prover;
use smt::verdict::{Evidence, Model, Reason, Verdict};
use std::collections::BTreeMap;

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
    let known: BTreeMap<(&str, &str), &Instruction> = instructions
        .iter()
        .map(|i| ((i.isa.as_str(), i.name.as_str()), i))
        .collect();
    let members: Vec<(&Operation, &Member)> = dictionary.members().collect();
    members
        .par_iter()
        .map(|(operation, member)| {
            let finding = match known.get(&(member.isa.as_str(), member.name.as_str())) {
                Some(instruction) => check(operation, member, instruction, prover),
                None => Finding::Missing,
            };
            done();
            Checked {
                operation: operation.name.clone(),
                instruction: member.name.clone(),
                finding,
            }
        })
        .collect()
}

fn check(
    operation: &Operation,
    member: &Member,
    instruction: &Instruction,
    prover: &Prover,
) -> Finding {
    if operation.results.len() != instruction.outputs.len() {
        let (have, want) = (operation.results.len(), instruction.outputs.len());
        return Finding::NoMeaning(format!("{have} results, not {want}"));
    }
    let mut evidence = Evidence::default();
    for (k, output) in instruction.outputs.iter().enumerate() {
        let found = match member.result(operation, k) {
            Ok(found) => found,
            Err(e) => return Finding::NoMeaning(e.to_string()),
        };
        let (have, want) = (found.sort(), output.term.sort());
        if have != want {
            return Finding::NoMeaning(format!("a result of {have}, not {want}"));
        }
        match prover.prove_equal(output.term, found) {
            Verdict::Proved(e) => evidence.add(&e),
            Verdict::Refuted(model) => return Finding::Different(model),
            Verdict::Unknown(reason) => return Finding::Unknown(reason),
        }
    }
    Finding::Proved(evidence)
}
