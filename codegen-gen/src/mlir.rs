//! An MLIR dialect in TableGen (ODS).
//!
//! In: a dictionary. Out: `autoir.td` with one op for each operation, its parameters and its
//! constant arguments as attributes, and `autoir.mlir` with each op once, in generic form, at
//! the numbers of its first member. `mlir-tblgen` reads the first, `mlir-opt` the second.
//! Types are not constrained: what fits a parameter is decided by the numbers.

use crate::artefact::{Artefact, Input};
use crate::variant::{Given, given, lettered, operand, returned};
use autoir::dictionary::{Binding, Member, Operation};
use semantics::instruction::{Element, Role};
use semantics::spelling::line;
use std::collections::BTreeSet;
use std::io::{self, Write};

/// The dialect and what its ops share.
const HEAD: &str = r#"
#ifndef AUTOIR_OPS
#define AUTOIR_OPS

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def AutoIR_Dialect : Dialect {
  let name = "autoir";
  let summary = "Operations that instructions of several instruction sets are.";
  let cppNamespace = "::autoir";
}

class AutoIR_Op<string mnemonic, list<Trait> traits> : Op<AutoIR_Dialect, mnemonic, traits>;
"#;

/// The files.
pub fn artefacts<'a>(input: &'a Input<'a>) -> Vec<Artefact<'a>> {
    vec![
        Artefact::new("mlir/autoir.td", move |out| ops(input, out)),
        Artefact::new("mlir/autoir.mlir", move |out| generic(input, out)),
    ]
}

fn ops(input: &Input<'_>, out: &mut dyn Write) -> io::Result<String> {
    write!(out, "{}", input.header("//"))?;
    out.write_all(HEAD.as_bytes())?;
    for operation in &input.dictionary.operations {
        op(operation, out)?;
    }
    out.write_all(b"\n#endif // AUTOIR_OPS\n")?;
    Ok(format!("{} ops", input.dictionary.operations.len()))
}

/// What an argument of an operation is to its op.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Operand,
    Attribute,
    State,
}

fn kind(operation: &Operation, argument: usize) -> Kind {
    let mut all = operation
        .members
        .iter()
        .filter_map(|m| constant(m, argument));
    match all.next() {
        None => Kind::State,
        Some(first) if first && all.all(|c| c) => Kind::Attribute,
        Some(_) => Kind::Operand,
    }
}

/// Whether the argument is a constant in a member; nothing when it is not a value there.
fn constant(member: &Member, argument: usize) -> Option<bool> {
    match &member.bindings[argument] {
        Binding::Zero => Some(false),
        Binding::Operand(name) => operand(member, name).map(|o| o.role.is_constant()),
    }
}

/// Names that are identifiers of C++ and differ.
fn names(operation: &Operation) -> Vec<String> {
    let mut taken: BTreeSet<String> = BTreeSet::new();
    let all = operation.arguments.iter().chain(&operation.parameters);
    let each = all.map(|name| {
        let mut name = name.clone();
        while KEYWORDS.contains(&name.as_str()) || !taken.insert(name.clone()) {
            name.push_str("_of");
        }
        name
    });
    each.collect()
}

/// Words that C++ or MLIR keep for themselves.
const KEYWORDS: [&str; 16] = [
    "signed", "unsigned", "int", "float", "double", "short", "long", "char", "bool", "mask",
    "operands", "results", "type", "types", "name", "context",
];

fn op(operation: &Operation, out: &mut dyn Write) -> io::Result<()> {
    let names = names(operation);
    let count = operation.arguments.len();
    let ins = (0..count).filter_map(|a| match kind(operation, a) {
        Kind::Operand => Some(format!("AnyType:${}", names[a])),
        Kind::Attribute => Some(format!("I64Attr:${}", names[a])),
        Kind::State => None,
    });
    let numbers = names[count..].iter().map(|name| format!("I64Attr:${name}"));
    let ins: Vec<String> = ins.chain(numbers).collect();
    let results = operation.members.iter().map(|m| returned(m).count());
    let results = results.max().unwrap_or(0);
    let outs: Vec<String> = (0..results).map(|k| format!("AnyType:$dst{k}")).collect();
    let members: Vec<&str> = operation.members.iter().map(|m| m.name.as_str()).collect();
    writeln!(
        out,
        "\ndef AutoIR_{}Op : AutoIR_Op<\"{}\", [{}]> {{",
        camel(&operation.name),
        operation.name,
        effects(operation)
    )?;
    writeln!(out, "  let summary = \"{} instructions\";", members.len())?;
    writeln!(
        out,
        "  let description = [{{\n    ```\n    {}\n    ```\n    Instructions: {}\n  }}];",
        line(&operation.formula).replace("}]", "} ]"),
        members.join(", ")
    )?;
    writeln!(out, "  let arguments = (ins {});", ins.join(", "))?;
    writeln!(out, "  let results = (outs {});\n}}", outs.join(", "))
}

fn effects(operation: &Operation) -> &'static str {
    let reads = (0..operation.arguments.len()).any(|a| kind(operation, a) == Kind::State);
    let mut results = operation.members.iter().flat_map(|m| &m.outputs);
    match (reads, results.any(|o| o.c_type == "void")) {
        (false, false) => "Pure",
        (true, false) => "MemoryEffects<[MemRead]>",
        (_, true) => "MemoryEffects<[MemRead, MemWrite]>",
    }
}

fn camel(name: &str) -> String {
    let parts = name.split('_').map(|part| {
        let mut letters = part.chars();
        let first = letters.next().map(|c| c.to_ascii_uppercase());
        let digit = part.starts_with(|c: char| c.is_ascii_digit());
        let mark = if digit { "_" } else { "" };
        format!(
            "{mark}{}{}",
            first.map_or(String::new(), String::from),
            letters.as_str()
        )
    });
    parts.collect()
}

/// Each op once.
fn generic(input: &Input<'_>, out: &mut dyn Write) -> io::Result<String> {
    write!(out, "{}", input.header("//"))?;
    out.write_all(b"module {\n")?;
    let mut count = 0;
    for operation in &input.dictionary.operations {
        if let Some(member) = whole(operation) {
            count += 1;
            example(input, operation, member, out)?;
        }
    }
    out.write_all(b"}\n")?;
    Ok(format!("{count} functions with one op each"))
}

/// The first member all of whose arguments are there, else the first.
fn whole(operation: &Operation) -> Option<&Member> {
    let complete = |m: &&Member| (0..m.bindings.len()).all(|a| given(m, a) != Given::Zero);
    let mut members = operation.members.iter();
    members.find(complete).or(operation.members.first())
}

fn example(
    input: &Input<'_>,
    operation: &Operation,
    member: &Member,
    out: &mut dyn Write,
) -> io::Result<()> {
    let names = names(operation);
    let count = operation.arguments.len();
    let (mut types, mut attributes, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for (a, name) in names.iter().enumerate().take(count) {
        match kind(operation, a) {
            Kind::State => {}
            Kind::Attribute => attributes.push(format!("{name} = 0 : i64")),
            Kind::Operand => {
                values.push(format!("%arg{}", values.len()));
                types.push(argument_type(member, a));
            }
        }
    }
    let numbers = names[count..].iter().zip(&member.values);
    attributes.extend(numbers.map(|(name, value)| format!("{name} = {value} : i64")));
    let results = returned(member).map(|result| {
        let width = input.width_of(&member.isa, &result.c_type);
        width.map_or_else(
            || "i32".to_owned(),
            |width| value_type(result.element, width),
        )
    });
    let results: Vec<String> = results.collect();
    let typed = values.iter().zip(&types).map(|(v, t)| format!("{v}: {t}"));
    let typed: Vec<String> = typed.collect();
    let back = results.join(", ");
    let bound = match results.len() {
        0 => String::new(),
        1 => "%0 = ".to_owned(),
        n => format!("%0:{n} = "),
    };
    let given: Vec<String> = match results.len() {
        1 => vec!["%0".to_owned()],
        n => (0..n).map(|k| format!("%0#{k}")).collect(),
    };
    writeln!(
        out,
        "  func.func @{}({}) -> ({back}) {{",
        operation.name,
        typed.join(", ")
    )?;
    let attributes = match attributes.is_empty() {
        true => String::new(),
        false => format!(" {{{}}}", attributes.join(", ")),
    };
    writeln!(
        out,
        "    {bound}\"autoir.{}\"({}){attributes} : ({}) -> ({back})",
        operation.name,
        values.join(", "),
        types.join(", ")
    )?;
    match given.is_empty() {
        true => writeln!(out, "    func.return\n  }}"),
        false => writeln!(out, "    func.return {} : {back}\n  }}", given.join(", ")),
    }
}

fn argument_type(member: &Member, argument: usize) -> String {
    match &member.bindings[argument] {
        Binding::Operand(name) => operand(member, name).map_or_else(
            || "i64".to_owned(),
            |o| match o.role {
                Role::Pointer { .. } => "!llvm.ptr".to_owned(),
                _ => value_type(o.element, o.width),
            },
        ),
        Binding::Zero => "i64".to_owned(),
    }
}

/// A type of MLIR.
fn value_type(element: Element, width: u32) -> String {
    let (letter, each) = lettered(element, width);
    match width / each.max(1) {
        0 | 1 => format!("{letter}{}", each.max(1)),
        count => format!("vector<{count}x{letter}{each}>"),
    }
}
