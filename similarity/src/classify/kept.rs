//! Proofs of members that earlier runs have made.
//!
//! In: a class, a member, the instruction. Out: the evidence that was kept for exactly this
//! class's terms, these numbers and this meaning, or that of a proof made now. What the
//! instruction is called does not matter. [`super::prove`] believes nothing that was kept.

use super::prove;
use crate::class::{Apart, ClassMember, EquivalenceClass, own_outputs};
use semantics::instruction::Instruction;
use semantics::term::{Kind, Term};
use smt::prover::Prover;
use smt::verdict::Evidence;
use std::collections::HashMap;
use std::fmt::Write as _;

/// The evidence for a member; `class_text` is [`text_of`] its class.
pub(super) fn evidence(
    class: &EquivalenceClass,
    class_text: &str,
    member: &ClassMember,
    instruction: &Instruction,
    prover: &Prover,
) -> Result<Vec<Evidence>, Apart> {
    if !prover.keeps() {
        return prove(class, member, instruction, prover);
    }
    let (values, bindings) = (&member.values, &member.bindings);
    let mut what = format!("{class_text}{values:?} {bindings:?}\n");
    for output in own_outputs(instruction) {
        write_graph(output, &mut what);
    }
    let outputs = instruction.outputs.len();
    let kept: Option<Vec<Evidence>> = (0..outputs)
        .map(|output| prover.kept(&format!("{what}{output}")))
        .collect();
    if let Some(kept) = kept {
        return Ok(kept);
    }
    let found = prove(class, member, instruction, prover)?;
    for (output, evidence) in found.iter().enumerate() {
        prover.keep(&format!("{what}{output}"), evidence);
    }
    Ok(found)
}

/// The terms of a class as text.
pub(super) fn text_of(class: &EquivalenceClass) -> String {
    let mut text = String::new();
    for skeleton in &class.skeletons {
        for node in &skeleton.nodes {
            let _ = writeln!(text, "{node}");
        }
        text.push('\n');
    }
    text
}

/// A term as text, each node once: its size is that of the graph.
fn write_graph(term: Term, text: &mut String) {
    let mut numbers: HashMap<Term, usize> = HashMap::new();
    let mut open = vec![term];
    while let Some(&next) = open.last() {
        let before = open.len();
        if !numbers.contains_key(&next) {
            open.extend(next.children().filter(|c| !numbers.contains_key(c)));
        }
        if open.len() > before {
            continue;
        }
        open.pop();
        if numbers.contains_key(&next) {
            continue;
        }
        let _ = match next.kind() {
            Kind::App { op, .. } => write!(text, "{op}"),
            Kind::Map { count, .. } => write!(text, "map {count}"),
            Kind::Fold { count, .. } => write!(text, "fold {count}"),
            Kind::Var { name, sort } => write!(text, "var {name} {sort}"),
            Kind::Bound { depth, sort } => write!(text, "bound {depth} {sort}"),
            Kind::Bv(_) | Kind::Bool(_) | Kind::Int(_) => write!(text, "{next}"),
        };
        for child in next.children() {
            let _ = write!(text, " %{}", numbers[&child]);
        }
        text.push('\n');
        numbers.insert(next, numbers.len());
    }
    text.push('\n');
}
