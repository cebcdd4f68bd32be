//! `isaforge explain` and `classes`: the commands that show instructions.
//!
//! In: their arguments. Out: text on standard output, a status.
//! The work is done by the crates that the pipeline uses too.

mod pair;

use crate::args::{self, Classes, Explain, Specs};
use crate::intake::{self, Intake};
use crate::status::Status;
use crate::{assets, compile, terminal};
use autoir::dictionary::{Binding, Dictionary, Member, Operation};
use autoir::graph;
use semantics::diagnostic::{Diagnostic, suggest};
use semantics::instruction::{Form, Instruction};
use smt::prover::Prover;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use store::local::write_whole;

/// The instructions of an instruction set, and whether some of our specifications are wrong;
/// messages are written.
pub(crate) fn load(specs: &Specs) -> Result<(Intake, bool), Status> {
    match several(specs, intake::instructions) {
        Ok(intake) => {
            let wrong = terminal::complain(&intake.diagnostics);
            Ok((intake, wrong))
        }
        Err(diagnostics) => {
            terminal::complain(&diagnostics);
            Err(Status::WrongInput)
        }
    }
}

/// The instructions of one or several instruction sets; the vendor's file belongs to the
/// first.
pub(crate) fn several(
    specs: &Specs,
    read: impl Fn(&Path, Option<&Path>) -> Result<Intake, Vec<Diagnostic>>,
) -> Result<Intake, Vec<Diagnostic>> {
    let mut all = Intake::default();
    let mut named = BTreeSet::new();
    for (k, isa) in specs.isa.split(',').enumerate() {
        if !named.insert(isa.trim()) {
            let message = format!("`{}` is named twice", isa.trim());
            let hint = "name each instruction set once";
            return Err(vec![Diagnostic::error(message).hint(hint)]);
        }
        let folder = assets::folder(isa.trim(), specs.isa_specs.as_deref()).map_err(|d| vec![d])?;
        let vendor = specs.vendor.as_deref().filter(|_| k == 0);
        let more = read(&folder, vendor)?;
        all.instructions.extend(more.instructions);
        all.diagnostics.extend(more.diagnostics);
        all.left_out.extend(more.left_out);
        all.counts = all.counts.or(more.counts);
    }
    Ok(all)
}

/// The prover that was asked for; a message is written when there is none.
pub(crate) fn prover(asked: &args::Prover) -> Result<Prover, Status> {
    asked.prover(1).map_err(|diagnostic| {
        terminal::complain(&[diagnostic]);
        Status::WrongInput
    })
}

/// The status of a command that did its work, on input that may have had mistakes.
pub(crate) fn finish(wrong: bool) -> Status {
    if wrong {
        Status::WrongInput
    } else {
        Status::Done
    }
}

/// `isaforge explain`.
pub(crate) fn explain(request: &Explain) -> Status {
    let (intake, wrong) = match load(&request.specs) {
        Ok(loaded) => loaded,
        Err(status) => return status,
    };
    let names = std::iter::once(&request.intrinsic).chain(&request.other);
    let named: Result<Vec<&Instruction>, Diagnostic> = names
        .map(|name| named(&intake.instructions, name))
        .collect();
    let named = match named {
        Ok(named) => named,
        Err(diagnostic) => {
            terminal::complain(&[diagnostic]);
            return Status::WrongInput;
        }
    };
    let prover = match prover(&request.prover) {
        Ok(prover) => prover,
        Err(status) => return status,
    };
    let dictionary = intake::dictionary(&intake, &prover);
    let text = match named.as_slice() {
        [a, b] => pair::explain((a, b), &dictionary, &prover),
        [one, ..] => {
            let mut text = describe(one);
            if let Some((operation, member)) = dictionary.member_in(&one.isa, &one.name) {
                membership(operation, member, &mut text);
            }
            text
        }
        [] => String::new(),
    };
    terminal::print(&text);
    finish(wrong)
}

/// The instruction of that name; `isa:name` where several sets have it.
fn named<'a>(instructions: &'a [Instruction], name: &str) -> Result<&'a Instruction, Diagnostic> {
    let (isa, plain) = name
        .split_once(':')
        .map_or((None, name), |(isa, plain)| (Some(isa), plain));
    let is = |i: &&Instruction| i.name == plain && isa.is_none_or(|isa| i.isa == isa);
    instructions.iter().find(is).ok_or_else(|| {
        let complaint = Diagnostic::error(format!("there is no intrinsic `{name}`"));
        let names = instructions.iter().map(|i| i.name.as_str());
        complaint.hint(match suggest(name, names) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`isaforge classes --filter TEXT` lists names that contain a text".to_owned(),
        })
    })
}

/// The facts about an instruction that need no other instruction.
fn describe(instruction: &Instruction) -> String {
    let operands: Vec<String> = instruction
        .operands
        .iter()
        .map(|o| format!("{} {}", o.c_type, o.name))
        .collect();
    let returned = instruction
        .outputs
        .first()
        .map_or("void", |o| o.c_type.as_str());
    let mut text = format!("{returned} {}({})\n", instruction.name, operands.join(", "));
    if let Some(mnemonic) = &instruction.mnemonic {
        let _ = writeln!(text, "instruction: {mnemonic}");
    }
    let _ = writeln!(text, "needs: {}", instruction.features.join(", "));
    let origin = &instruction.origin;
    let _ = write!(text, "from: {}:{}", origin.file, origin.line);
    if let Some(family) = &origin.family {
        let _ = write!(text, ", family {family}");
    }
    for erratum in &origin.errata {
        let _ = write!(text, ", erratum {erratum}");
    }
    text.push_str("\n\npseudocode:\n");
    for line in instruction.pseudocode.trim_end().lines() {
        let _ = writeln!(text, "    {line}");
    }
    text.push_str("\nmeaning:\n");
    for output in &instruction.outputs {
        let _ = writeln!(text, "    {} = {}", output.name, output.term);
    }
    text
}

/// The class of an instruction: operation, parameters, members.
fn membership(operation: &Operation, member: &Member, text: &mut String) {
    let _ = writeln!(text, "\nclass: {}: {}", operation.name, operation.formula);
    for (name, value) in operation.parameters.iter().zip(&member.values) {
        let _ = writeln!(text, "    {name} = {value}");
    }
    for (argument, binding) in operation.arguments.iter().zip(&member.bindings) {
        let what = match binding {
            Binding::Operand(name) => name.as_str(),
            Binding::Zero => "zeros",
        };
        let _ = writeln!(text, "    {argument} is {what}");
    }
    let _ = writeln!(text, "    proved: {}", member.evidence);
    let _ = writeln!(text, "\nmembers ({}):", operation.members.len());
    for other in &operation.members {
        let values: Vec<String> = other.values.iter().map(i64::to_string).collect();
        let _ = writeln!(text, "    {} [{}]", other.name, values.join(", "));
    }
}

/// `isaforge classes`.
pub(crate) fn classes(request: &Classes) -> Status {
    let (intake, wrong) = match load(&request.specs) {
        Ok(loaded) => loaded,
        Err(status) => return status,
    };
    let prover = match prover(&request.prover) {
        Ok(prover) => prover,
        Err(status) => return status,
    };
    let dictionary = intake::dictionary(&intake, &prover);
    let shown = |operation: &&Operation| match &request.filter {
        None => true,
        Some(filter) => operation.members.iter().any(|m| m.name.contains(filter)),
    };
    let mut text = String::new();
    for operation in dictionary.operations.iter().filter(shown) {
        let parameters = operation.parameters.join(", ");
        let count = operation.members.len();
        let _ = writeln!(
            text,
            "{}({parameters}): {count} members: {}",
            operation.name, operation.formula
        );
    }
    let forms = dictionary.members().map(|(_, member)| member.form);
    let _ = writeln!(text, "{}", counted(forms, dictionary.operations.len()));
    if let Some(path) = &request.graph {
        match draw(&dictionary, path) {
            Ok(()) => {
                let _ = writeln!(text, "drawn: {}", path.display());
            }
            Err(diagnostic) => {
                terminal::complain(&[diagnostic]);
                return Status::WrongInput;
            }
        }
    }
    terminal::print(&text);
    finish(wrong)
}

/// Writes the evidence graph in the form that the file's name asks for.
fn draw(dictionary: &Dictionary, path: &Path) -> Result<(), Diagnostic> {
    let graph = graph::graph(dictionary);
    let text = match path.extension().and_then(|e| e.to_str()) {
        Some("svg") => graph::svg(&graph),
        Some("dot") => graph::dot(&graph),
        _ => {
            let message = format!("`{}` is neither `.svg` nor `.dot`", path.display());
            return Err(Diagnostic::error(message).hint("the name says which form is written"));
        }
    };
    write_whole(path, text.as_bytes()).map_err(|e| compile::cannot_write(path, &e))
}

/// How many operations and members.
pub(crate) fn counted(forms: impl Iterator<Item = Form>, classes: usize) -> String {
    let s = if classes == 1 { "" } else { "es" };
    format!("{} in {classes} class{s}", intake::counted(forms))
}
