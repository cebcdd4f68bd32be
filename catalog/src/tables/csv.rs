//! The table as CSV: one instruction a line.
//!
//! In: a catalogue. Out: RFC 4180 with `\n` between lines. A value with several parts has
//! `; ` between them. Lines before the header begin with `#` and say what made the file.

use crate::record::{Catalog, Instruction, Slot, form};
use std::fmt::Write as _;
use std::io::{self, Write};

const COLUMNS: &str = "name,isa,mnemonic,form,kind,features,operands,results,class,parameters,\
arguments,formula,encoding,cost,evidence,checks,origin";

/// Writes the table.
pub(crate) fn write(catalog: &Catalog<'_>, out: &mut dyn Write) -> io::Result<String> {
    for line in &catalog.about {
        writeln!(out, "# {}", semantics::spelling::line(line))?;
    }
    writeln!(out, "{COLUMNS}")?;
    for instruction in &catalog.instructions {
        let cells = cells(catalog, instruction);
        let cells: Vec<String> = cells.iter().map(|c| quoted(c)).collect();
        writeln!(out, "{}", cells.join(","))?;
    }
    Ok(format!("{} instructions", catalog.instructions.len()))
}

fn cells(catalog: &Catalog<'_>, instruction: &Instruction<'_>) -> Vec<String> {
    let (member, known) = (instruction.member, &instruction.known);
    let entry = catalog.operation(instruction);
    let costs = known.costs.iter().map(|c| {
        let source = c.source.iter().map(|s| format!(" ({s})"));
        let source: String = source.collect();
        format!("{}{source}: {}/{}", c.cpu, c.latency, c.throughput)
    });
    let parameters = instruction
        .parameters(entry)
        .map(|(n, v)| format!("{n}={v}"));
    let arguments = instruction
        .arguments(entry)
        .map(|(n, v)| format!("{n}={v}"));
    let origin = &known.origin;
    let mut from = format!("{}:{}", origin.file, origin.line);
    if let Some(family) = &origin.family {
        let _ = write!(from, " {family}");
    }
    let encoding = known.encoding.as_ref();
    vec![
        member.name.clone(),
        member.isa.clone(),
        member.mnemonic.clone().unwrap_or_default(),
        form(member.form).to_owned(),
        entry.kind.name().to_owned(),
        member.features.join("; "),
        several(instruction.operands.iter().map(slot)),
        several(instruction.results.iter().map(slot)),
        entry.operation.name.clone(),
        several(parameters),
        several(arguments),
        instruction.formula.clone(),
        encoding.map_or_else(String::new, |e| format!("{} mask {}", e.bits, e.mask)),
        several(costs),
        member.evidence.to_string(),
        known.checks.join("; "),
        from,
    ]
}

fn slot(slot: &Slot) -> String {
    format!("{} {}: {}", slot.c_type, slot.name, slot.element)
}

fn several(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join("; ")
}

/// A cell, between quotes where it needs them.
fn quoted(cell: &str) -> String {
    match cell.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.to_owned(),
    }
}
