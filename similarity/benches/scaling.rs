//! How the time of classification grows with the number of instructions.
//!
//! In: the instructions of isa-specs, and a vendor's file if one is given. Out, on standard
//! output: a row for each number of instructions, evenly spread over all of them: seconds
//! of each step, milliseconds for each instruction, classes.
//!
//! ```text
//! cargo bench -p similarity --bench scaling [-- vendor.xml]
//! ```

use semantics::diagnostic::Diagnostic;
use semantics::instruction::Instruction;
use semantics::span::Source;
use similarity::classify::classify;
use smt::config::Config;
use smt::prover::Prover;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

/// Numbers of instructions; as many as there are comes last.
const SIZES: [usize; 6] = [500, 1000, 2000, 3000, 4500, 6000];

fn main() -> ExitCode {
    // What `cargo bench` itself passes begins with a dash.
    let vendor = std::env::args().skip(1).find(|a| !a.starts_with('-'));
    match instructions(vendor.as_deref().map(Path::new)) {
        Ok(all) => {
            table(&all);
            ExitCode::SUCCESS
        }
        Err(wrong) => {
            wrong.iter().for_each(|d| eprintln!("{d}"));
            ExitCode::FAILURE
        }
    }
}

fn instructions(vendor: Option<&Path>) -> Result<Vec<Instruction>, Vec<Diagnostic>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../isa-specs/x86");
    let mut all = spec_parser::specs::load(&folder.join("manifest.yaml"))?.instructions;
    if let Some(vendor) = vendor {
        let errata = spec_parser::errata::load(&folder.join("errata.yaml"))?;
        let text = std::fs::read_to_string(vendor)
            .map_err(|e| vec![Diagnostic::error(format!("`{}`: {e}", vendor.display()))])?;
        let source = Source::new(vendor.display().to_string(), text);
        let loaded = spec_parser::intel::guide::load(&source, &errata).map_err(|d| vec![d])?;
        let ours: BTreeSet<String> = all.iter().map(|i| i.name.clone()).collect();
        let others = loaded.instructions.into_iter();
        all.extend(others.filter(|i| !ours.contains(&i.name)));
    }
    Ok(all)
}

fn table(all: &[Instruction]) {
    let sizes = SIZES.into_iter().filter(|&n| n < all.len());
    for n in sizes.chain([all.len()]) {
        let some: Vec<Instruction> = (0..n).map(|k| all[k * all.len() / n].clone()).collect();
        let prover = Prover::new(Config::default());
        let started = Instant::now();
        let found = classify(&some, &prover, &|_, _, _| {});
        let seconds = started.elapsed().as_secs_f64();
        let steps = found.report.times.iter();
        let steps: Vec<String> = steps
            .map(|(step, time)| format!("{step} {:.2}", time.as_secs_f64()))
            .collect();
        println!(
            "{n:5} instructions: {seconds:6.2} s, {:.2} ms each, {:4} classes, {} apart ({})",
            seconds * 1000.0 / n as f64,
            found.classes.len(),
            found.report.apart.len(),
            steps.join(", ")
        );
    }
}
