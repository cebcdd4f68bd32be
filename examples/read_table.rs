//! Loads the instruction table that `isaforge build` writes.
//!
//! ```text
//! cargo run --release --example read_table -- DIR/tables/instructions.json add
//! ```
//!
//! prints the instructions of an operation, the cheapest first, with their operands. The
//! format is in `instructions.schema.json` beside the table.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::process::ExitCode;

/// The parts of the table that are used here; what is not named is skipped.
#[derive(Deserialize)]
struct Table {
    format: String,
    isas: Vec<String>,
    instructions: Vec<Instruction>,
}

#[derive(Deserialize)]
struct Instruction {
    name: String,
    isa: String,
    class: String,
    operands: Vec<Operand>,
    parameters: BTreeMap<String, i64>,
    formula: String,
    cost: Vec<Cost>,
}

#[derive(Deserialize)]
struct Operand {
    name: String,
    element: String,
    bits: u32,
}

#[derive(Deserialize)]
struct Cost {
    cpu: String,
    latency: f64,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, class] = arguments.as_slice() else {
        eprintln!("usage: read_table instructions.json OPERATION");
        return ExitCode::FAILURE;
    };
    match show(path, class) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{path}: {message}");
            ExitCode::FAILURE
        }
    }
}

fn show(path: &str, class: &str) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let table: Table = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    if table.format != "isaforge-instructions 1" {
        return Err(format!("the format `{}` is not known here", table.format));
    }
    let mut members: Vec<&Instruction> = table
        .instructions
        .iter()
        .filter(|i| i.class == class)
        .collect();
    if members.is_empty() {
        return Err(format!("there is no operation `{class}`"));
    }
    let latency = |i: &Instruction| i.cost.first().map_or(f64::INFINITY, |c| c.latency);
    members.sort_by(|a, b| latency(a).total_cmp(&latency(b)));
    let (all, isas) = (table.instructions.len(), table.isas.join(", "));
    println!("{} of {all} instructions of {isas}", members.len());
    for i in members {
        let operands: Vec<String> = i
            .operands
            .iter()
            .map(|o| format!("{}: {} of {} bits", o.name, o.element, o.bits))
            .collect();
        println!("{} ({}) {}", i.name, i.isa, operands.join(", "));
        println!("  {:?} {}", i.parameters, i.formula);
        for c in &i.cost {
            println!("  {} cycles on {}", c.latency, c.cpu);
        }
    }
    Ok(())
}
