//! Why two instructions are one operation, or what keeps them apart.
//!
//! In: two instructions, the dictionary, a prover. Out: text. Within a class: the parameters
//! side by side, with both proofs. Otherwise: where the classes' terms part, and whether the
//! instructions mean the same, with an input that tells them apart.

use autoir::contrast::contrast;
use autoir::dictionary::{Dictionary, Member, Operation};
use semantics::instruction::Instruction;
use semantics::value::Value;
use similarity::class::Apart;
use smt::prover::Prover;
use std::fmt::Write as _;
use validate::check::against::{Answer, equal, listed};

/// The explanation.
pub(super) fn explain(
    (a, b): (&Instruction, &Instruction),
    dictionary: &Dictionary,
    prover: &Prover,
) -> String {
    let mut text = String::new();
    match (
        dictionary.member_in(&a.isa, &a.name),
        dictionary.member_in(&b.isa, &b.name),
    ) {
        (Some((x, m)), Some((y, n))) if x.name == y.name => together(x, m, n, &mut text),
        (Some((x, _)), Some((y, _))) => {
            for (instruction, class) in [(a, x), (b, y)] {
                let (name, class, formula) = (&instruction.name, &class.name, &class.formula);
                let _ = writeln!(text, "{name}\n    class {class}: {formula}");
            }
            let _ = match contrast(x, y) {
                Some(contrast) => writeln!(text, "\nThe classes part at: {contrast}"),
                None => writeln!(text, "\nThe classes' terms differ in their numbers only."),
            };
            alone(a, b, prover, &mut text);
            meaning(a, b, prover, &mut text);
        }
        (x, _) => {
            let name = if x.is_none() { &a.name } else { &b.name };
            let _ = writeln!(text, "{name} is in no class");
        }
    }
    text
}

/// Two members of one class.
fn together(operation: &Operation, a: &Member, b: &Member, text: &mut String) {
    let (class, formula) = (&operation.name, &operation.formula);
    let _ = writeln!(text, "Both are {class}: {formula}\n");
    let rows = operation
        .parameters
        .iter()
        .zip(a.values.iter().zip(&b.values));
    let width = operation.parameters.iter().map(String::len).max();
    let width = width.unwrap_or(0).max("parameter".len());
    let named = |m: &Member| match a.name == b.name {
        true => format!("{}:{}", m.isa, m.name),
        false => m.name.clone(),
    };
    let (first, second) = (named(a), named(b));
    let _ = writeln!(text, "    {:<width$}  {first}  {second}", "parameter");
    for (name, (x, y)) in rows {
        let (w, mark) = (first.len(), if x == y { "" } else { "  differs" });
        let _ = writeln!(text, "    {name:<width$}  {x:<w$}  {y}{mark}");
    }
    for (name, member) in [(first, a), (second, b)] {
        let _ = writeln!(text, "\n{name} is proved: {}", member.evidence);
    }
}

/// What is said when only these two are to be classified.
fn alone(a: &Instruction, b: &Instruction, prover: &Prover, text: &mut String) {
    let both = [a.clone(), b.clone()];
    let found = similarity::classify::classify(&both, prover, &|_, _, _| ());
    let apart = found.report.apart.iter().map(|(_, why)| why);
    let unjoined = found.report.unjoined.iter().map(|(_, _, why)| why);
    for why in apart.chain(unjoined) {
        let _ = match why {
            Apart::Different(model) => writeln!(
                text,
                "One at the other's numbers differs on:\n{}",
                listed(model.iter()).trim_end()
            ),
            Apart::Unknown(reason) => writeln!(text, "It was not decided: {reason}"),
            Apart::NoMeaning(why) => {
                writeln!(text, "One has no meaning at the other's numbers: {why}")
            }
        };
    }
    if found.classes.len() == 1 {
        text.push_str("Without the others they would be one class.\n");
    }
}

/// Whether they mean the same, operand by operand.
fn meaning(a: &Instruction, b: &Instruction, prover: &Prover, text: &mut String) {
    let _ = match equal(a, b, prover) {
        Answer::Proved => writeln!(text, "They are proved to mean the same for every input."),
        Answer::Different(values) => {
            // The two results come last.
            let (operands, results) = values.split_at(values.len().saturating_sub(2));
            let of = |name: &String, (_, value): &(String, Value)| (name.clone(), value.clone());
            let results: Vec<_> = [&a.name, &b.name].into_iter().zip(results).collect();
            let results: Vec<_> = results.into_iter().map(|(n, v)| of(n, v)).collect();
            let reported = operands.iter().chain(&results).map(|(n, v)| (n, v));
            let reported = listed(reported);
            writeln!(
                text,
                "They mean different things, such as for\n{}",
                reported.trim_end()
            )
        }
        Answer::Unknown(why) => writeln!(text, "Whether they mean the same was not decided: {why}"),
        Answer::Signature(why) => {
            writeln!(text, "They take or return different things: {why}")
        }
        Answer::Absent => Ok(()),
    };
}
