//! Our classes beside somebody else's partition of the same instructions.
//!
//! In: the folder of an instruction set, a table of instructions by class (tab separated:
//! class, instruction, …; `#` starts the header), perhaps a vendor's file. Out, on standard
//! output: how many of our classes cover the table, which of its classes we split, which we
//! join, parameters of the classes, where the time went.
//!
//! ```text
//! cargo run --release -p autoir --example parity -- isa-specs/x86 classes.tsv [vendor.xml]
//! ```

use autoir::dictionary::{Dictionary, Operation};
use semantics::diagnostic::Diagnostic;
use semantics::instruction::Instruction;
use semantics::span::Source;
use smt::config::Config;
use smt::prover::Prover;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (folder, table, vendor) = match arguments.as_slice() {
        [folder, table] => (folder, table, None),
        [folder, table, vendor] => (folder, table, Some(vendor.as_str())),
        _ => {
            eprintln!("usage: parity FOLDER TABLE [VENDOR]");
            return ExitCode::FAILURE;
        }
    };
    match compare(Path::new(folder), Path::new(table), vendor.map(Path::new)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(wrong) => {
            wrong.iter().for_each(|d| eprintln!("{d}"));
            ExitCode::FAILURE
        }
    }
}

fn source(path: &Path) -> Result<Source, Vec<Diagnostic>> {
    let text = std::fs::read_to_string(path)
        .map_err(|e| vec![Diagnostic::error(format!("`{}`: {e}", path.display()))])?;
    Ok(Source::new(path.display().to_string(), text))
}

/// Our instructions and, after them, the vendor's others.
fn instructions(folder: &Path, vendor: Option<&Path>) -> Result<Vec<Instruction>, Vec<Diagnostic>> {
    let mut all = spec_parser::specs::load(&folder.join("manifest.yaml"))?.instructions;
    if let Some(vendor) = vendor {
        let errata = spec_parser::errata::load(&folder.join("errata.yaml"))?;
        let loaded = spec_parser::intel::guide::load(&source(vendor)?, &errata);
        let ours: BTreeSet<String> = all.iter().map(|i| i.name.clone()).collect();
        let others = loaded.map_err(|d| vec![d])?.instructions.into_iter();
        all.extend(others.filter(|i| !ours.contains(&i.name)));
    }
    Ok(all)
}

fn compare(folder: &Path, table: &Path, vendor: Option<&Path>) -> Result<(), Vec<Diagnostic>> {
    let instructions = instructions(folder, vendor)?;
    let table = source(table)?;
    let theirs: Vec<(&str, &str)> = table
        .text()
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| {
            let mut fields = line.split('\t');
            Some((fields.next()?, fields.next()?))
        })
        .collect();
    let prover = Prover::new(Config::default());
    let found = similarity::classify::classify(&instructions, &prover, &|_, _, _| {});
    let dictionary = autoir::build::build(&found, &instructions);
    for (step, time) in &found.report.times {
        println!("{step}: {:.1} s", time.as_secs_f64());
    }
    println!(
        "{} instructions in {} classes; {} apart from the class of their shape",
        instructions.len(),
        found.classes.len(),
        found.report.apart.len()
    );
    parameters(&dictionary);
    partition(&dictionary, &theirs);
    println!("\napart from the class of their shape:");
    for (at, why) in &found.report.apart {
        let why: String = format!("{why:?}").chars().take(160).collect();
        println!("{}: {why}", instructions[*at].name);
    }
    println!("\nclasses:");
    for o in &dictionary.operations {
        let (members, first) = (o.members.len(), &o.members[0].name);
        println!(
            "{members} {} ({}) {first}: {}",
            o.name,
            o.parameters.join(" "),
            o.formula
        );
    }
    Ok(())
}

fn parameters(dictionary: &Dictionary) {
    let operations = dictionary.operations.iter();
    let mut counts: Vec<usize> = operations.map(|o| o.parameters.len()).collect();
    counts.sort_unstable();
    let median = counts.get(counts.len() / 2).copied().unwrap_or(0);
    println!(
        "parameters of a class: median {median}, most {}",
        counts.last().copied().unwrap_or(0)
    );
    for o in dictionary
        .operations
        .iter()
        .filter(|o| o.parameters.len() > 12)
    {
        println!("  {} {}: {}", o.name, o.members.len(), o.parameters.len());
    }
}

fn partition(dictionary: &Dictionary, theirs: &[(&str, &str)]) {
    let place: BTreeMap<&str, &Operation> = dictionary
        .members()
        .map(|(o, m)| (m.name.as_str(), o))
        .collect();
    let mut split: BTreeMap<&str, BTreeMap<&str, Vec<&str>>> = BTreeMap::new();
    let mut joined: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
    let mut missing = Vec::new();
    for &(class, instruction) in theirs {
        let Some(ours) = place.get(instruction) else {
            missing.push(instruction);
            continue;
        };
        let parts = split.entry(class).or_default();
        parts.entry(&ours.name).or_default().push(instruction);
        *joined
            .entry(&ours.name)
            .or_default()
            .entry(class)
            .or_default() += 1;
    }
    println!(
        "{} instructions of the table in {} classes are in {} of ours; not described: {}",
        theirs.len() - missing.len(),
        split.len(),
        joined.len(),
        missing.join(" ")
    );
    println!("\nsplit:");
    for (class, parts) in split.iter().filter(|(_, parts)| parts.len() > 1) {
        println!("{class}");
        for (ours, members) in parts {
            println!("  {} {ours}: {}", members.len(), members.join(" "));
        }
    }
    println!("\njoined:");
    for (ours, classes) in joined.iter().filter(|(_, classes)| classes.len() > 1) {
        let list: Vec<String> = classes.iter().map(|(c, n)| format!("{c} ({n})")).collect();
        println!("{ours}: {}", list.join(", "));
    }
}
