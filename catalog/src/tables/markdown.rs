//! The tables as Markdown: an index of the operations, and a page for each kind.
//!
//! In: a catalogue. Out: pages with a heading and a table for each operation, small enough for
//! web sites that show Markdown.

use crate::File;
use crate::kind::Kind;
use crate::record::{Catalog, Cost, Entry};
use semantics::spelling::{self, line};
use std::io::{self, Write};

/// The files.
pub(crate) fn files<'a>(catalog: &'a Catalog<'a>) -> Vec<File<'a>> {
    let mut files = vec![File::new("tables/README.md", |out| index(catalog, out))];
    for kind in Kind::ALL {
        if of(catalog, kind).next().is_some() {
            let path = format!("tables/{}", page(kind));
            files.push(File::new(path, move |out| write(catalog, kind, out)));
        }
    }
    files
}

fn page(kind: Kind) -> String {
    format!("{}.md", kind.name().replace(' ', "-"))
}

fn of<'a>(catalog: &'a Catalog<'a>, kind: Kind) -> impl Iterator<Item = &'a Entry<'a>> {
    catalog.operations.iter().filter(move |e| e.kind == kind)
}

fn about(catalog: &Catalog<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "<!--")?;
    for text in &catalog.about {
        writeln!(out, "{}", spelling::line(text).replace("--", "- -"))?;
    }
    writeln!(out, "-->\n")
}

fn index(catalog: &Catalog<'_>, out: &mut dyn Write) -> io::Result<String> {
    about(catalog, out)?;
    writeln!(
        out,
        "# Instructions\n\n{} instructions of {} in {} operations. Instructions of one operation \
         do the same with\ndifferent numbers, which was proved of each.\n",
        catalog.instructions.len(),
        catalog.isas.join(", "),
        catalog.operations.len()
    )?;
    for kind in Kind::ALL {
        let mut entries = of(catalog, kind).peekable();
        if entries.peek().is_none() {
            continue;
        }
        writeln!(out, "## [{}]({})\n", kind.name(), page(kind))?;
        for entry in entries {
            let (name, count) = (&entry.operation.name, entry.operation.members.len());
            writeln!(out, "- [{name}]({}#{name}) ({count})", page(kind))?;
        }
        writeln!(out)?;
    }
    Ok(format!("{} operations", catalog.operations.len()))
}

fn write(catalog: &Catalog<'_>, kind: Kind, out: &mut dyn Write) -> io::Result<String> {
    about(catalog, out)?;
    writeln!(out, "# {}\n", kind.name())?;
    let mut instructions = 0;
    for entry in of(catalog, kind) {
        instructions += entry.operation.members.len();
        operation(catalog, entry, out)?;
    }
    Ok(format!("{instructions} instructions"))
}

fn operation(catalog: &Catalog<'_>, entry: &Entry<'_>, out: &mut dyn Write) -> io::Result<()> {
    let operation = entry.operation;
    writeln!(out, "## {}\n", operation.name)?;
    let formula = line(&operation.formula).replace("```", "` ` `");
    writeln!(out, "```\n{formula}\n```\n")?;
    let parameters = operation.parameters.iter();
    let heads: Vec<&str> = ["instruction", "isa", "mnemonic", "features"]
        .into_iter()
        .chain(parameters.map(String::as_str))
        .chain(["cost", "proved"])
        .collect();
    writeln!(out, "| {} |", heads.join(" | "))?;
    writeln!(out, "|{}", "---|".repeat(heads.len()))?;
    for instruction in catalog.members(entry) {
        let member = instruction.member;
        let costs = instruction.known.costs.iter();
        // The others would be a line of their own; the other tables have them.
        let costs: Vec<String> = costs.filter(|c| c.source.is_none()).map(cost).collect();
        let values = member.values.iter().map(i64::to_string);
        let cells: Vec<String> = [
            format!("`{}`", member.name),
            member.isa.clone(),
            member.mnemonic.clone().unwrap_or_default(),
            member.features.join(", "),
        ]
        .into_iter()
        .chain(values)
        .chain([costs.join(", "), member.evidence.to_string()])
        .map(|cell| escaped(&cell))
        .collect();
        writeln!(out, "| {} |", cells.join(" | "))?;
    }
    writeln!(out)
}

/// A text as a cell of a table: nothing in it is a bar, a line or a tag.
fn escaped(cell: &str) -> String {
    let cell = line(cell).replace('&', "&amp;").replace('<', "&lt;");
    cell.replace('|', "\\|")
}

/// Latency and throughput in cycles.
fn cost(cost: &Cost) -> String {
    format!("{} {}/{}", cost.cpu, cost.latency, cost.throughput)
}
