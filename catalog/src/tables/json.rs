//! The table as JSON: an object with one operation and one instruction a line.
//!
//! In: a catalogue. Out: text that keeps to `instructions.schema.json`, written a line at a
//! time.

use super::FORMAT;
use crate::record::{Catalog, Cost, Encoding, Entry, Instruction, Slot, form};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};

#[derive(Serialize)]
struct Operation<'a> {
    name: &'a str,
    kind: &'static str,
    parameters: &'a [String],
    arguments: &'a [String],
    formula: &'a str,
    moves_only: bool,
    instructions: usize,
}

#[derive(Serialize)]
struct Origin<'a> {
    file: &'a str,
    line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    family: Option<&'a str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    errata: &'a [String],
}

#[derive(Serialize)]
struct Row<'a> {
    name: &'a str,
    isa: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    mnemonic: Option<&'a str>,
    form: &'static str,
    features: &'a [String],
    operands: &'a [Slot],
    results: &'a [Slot],
    #[serde(skip_serializing_if = "Option::is_none")]
    encoding: Option<&'a Encoding>,
    class: &'a str,
    parameters: BTreeMap<&'a str, i64>,
    arguments: BTreeMap<&'a str, &'a str>,
    formula: &'a str,
    cost: &'a [Cost],
    evidence: String,
    checks: &'a [String],
    origin: Origin<'a>,
}

/// Writes the table.
pub(crate) fn write(catalog: &Catalog<'_>, out: &mut dyn Write) -> io::Result<String> {
    write!(
        out,
        "{{\"$schema\":\"instructions.schema.json\",\n\"format\":{},\n\"about\":{},\n\"isas\":{}",
        serde_json::to_string(FORMAT)?,
        serde_json::to_string(&catalog.about)?,
        serde_json::to_string(&catalog.isas)?
    )?;
    let operations = catalog.operations.iter().map(operation);
    list(out, "operations", operations)?;
    let rows = catalog
        .instructions
        .iter()
        .map(|i| row(i, catalog.operation(i)));
    list(out, "instructions", rows)?;
    out.write_all(b"}\n")?;
    let (i, o) = (catalog.instructions.len(), catalog.operations.len());
    Ok(format!("{i} instructions, {o} operations"))
}

/// A list, one item a line.
fn list<T: Serialize>(
    out: &mut dyn Write,
    name: &str,
    items: impl Iterator<Item = T>,
) -> io::Result<()> {
    write!(out, ",\n\"{name}\":[")?;
    for (k, item) in items.enumerate() {
        out.write_all(if k == 0 { b"\n" } else { b",\n" })?;
        serde_json::to_writer(&mut *out, &item)?;
    }
    out.write_all(b"]")
}

fn operation<'a>(entry: &'a Entry<'_>) -> Operation<'a> {
    let operation = entry.operation;
    Operation {
        name: &operation.name,
        kind: entry.kind.name(),
        parameters: &operation.parameters,
        arguments: &operation.arguments,
        formula: &operation.formula,
        moves_only: operation.swizzle,
        instructions: operation.members.len(),
    }
}

fn row<'a>(instruction: &'a Instruction<'_>, entry: &'a Entry<'_>) -> Row<'a> {
    let (member, known) = (instruction.member, &instruction.known);
    Row {
        name: &member.name,
        isa: &member.isa,
        mnemonic: member.mnemonic.as_deref(),
        form: form(member.form),
        features: &member.features,
        operands: &instruction.operands,
        results: &instruction.results,
        encoding: known.encoding.as_ref(),
        class: &entry.operation.name,
        parameters: instruction.parameters(entry).collect(),
        arguments: instruction.arguments(entry).collect(),
        formula: &instruction.formula,
        cost: &known.costs,
        evidence: member.evidence.to_string(),
        checks: &known.checks,
        origin: Origin {
            file: &known.origin.file,
            line: known.origin.line,
            family: known.origin.family.as_deref(),
            errata: &known.origin.errata,
        },
    }
}
