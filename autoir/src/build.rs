//! Classes to the dictionary: names, formulas, members with their signatures.
//!
//! In: a classification and the instructions that it is of. Out: [`Dictionary`], sorted by
//! name; the same for the same instructions, whatever the number of threads.

use crate::apart;
use crate::dictionary::{Binding, Dictionary, Evidence, Member, Operation, Returned};
use crate::formula::{formula, only_moves};
use crate::names;
use semantics::instruction::Instruction;
use similarity::class::{ClassMember, Classification, EquivalenceClass};
use smt::verdict::Evidence as Proved;

/// The dictionary of some classes.
pub fn build(classification: &Classification, instructions: &[Instruction]) -> Dictionary {
    let mut operations: Vec<Operation> = classification
        .classes
        .iter()
        .map(|class| operation(class, instructions))
        .collect();
    apart::tell_apart(&mut operations);
    operations.sort_by(|a, b| a.name.cmp(&b.name));
    Dictionary { operations }
}

fn operation(class: &EquivalenceClass, instructions: &[Instruction]) -> Operation {
    let parameters = names::parameters(&class.roles);
    let arguments = arguments(class);
    let first = class.skeletons.first();
    let formula = first.map_or_else(String::new, |s| formula(s, &parameters, &arguments));
    let mut members: Vec<Member> = class
        .members
        .iter()
        .map(|m| member(m, &instructions[m.instruction]))
        .collect();
    members.sort_by(|a, b| (&a.isa, &a.name).cmp(&(&b.isa, &b.name)));
    Operation {
        name: first.map_or_else(|| "nothing".to_owned(), names::operation),
        parameters,
        arguments,
        swizzle: class.skeletons.iter().all(only_moves),
        results: class.skeletons.clone(),
        formula,
        members,
    }
}

/// The operands' own name where all members agree on it, else letters.
fn arguments(class: &EquivalenceClass) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for a in 0..class.arguments {
        let mut bound = class.members.iter().filter_map(|m| m.bindings[a].as_ref());
        let first = bound.next().cloned();
        let agreed = first.filter(|name| bound.all(|b| b == name));
        let letter = |n: usize| char::from(b'a' + u8::try_from(n % 26).unwrap_or(0)).to_string();
        let mut name = agreed.unwrap_or_else(|| letter(a));
        while names.contains(&name) {
            name.push('_');
        }
        names.push(name);
    }
    names
}

fn member(m: &ClassMember, instruction: &Instruction) -> Member {
    Member {
        name: instruction.name.clone(),
        isa: instruction.isa.clone(),
        mnemonic: instruction.mnemonic.clone(),
        form: instruction.form,
        features: instruction.features.clone(),
        operands: instruction.operands.clone(),
        outputs: instruction
            .outputs
            .iter()
            .map(|o| Returned {
                name: o.name.clone(),
                c_type: o.c_type.clone(),
                element: o.element,
                undefined: o.undefined.clone(),
            })
            .collect(),
        values: m.values.clone(),
        bindings: m
            .bindings
            .iter()
            .map(|b| b.clone().map_or(Binding::Zero, Binding::Operand))
            .collect(),
        evidence: Evidence(m.evidence.iter().map(Proved::steps).collect()),
    }
}
