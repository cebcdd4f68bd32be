//! Calls the synthesiser: a kernel in, a proved program and C out.
//!
//! ```text
//! cargo run --release --example synthesise -- DIR/x86,rvm.dictionary \
//!     examples/average.kernel AVX AVX2 SSE2
//! ```
//!
//! finds code for a processor that has these features. Without any, all instructions of the
//! dictionary count.

use autoir::dictionary::Dictionary;
use autoir::instructions::InstructionTable;
use autoir::program::Program;
use semantics::diagnostic::render;
use semantics::span::Source;
use smt::config::Config;
use smt::prover::Prover;
use std::collections::BTreeSet;
use std::process::ExitCode;
use std::time::Duration;
use synth::compile::{Options, Outcome, compile};
use synth::cost::{CostTable, Rule, Timing};
use synth::operations::TargetOperations;
use target::RegisterClass;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [dictionary, kernels, features @ ..] = arguments.as_slice() else {
        eprintln!("usage: synthesise DICTIONARY KERNELS [FEATURE …]");
        return ExitCode::FAILURE;
    };
    match synthesise(dictionary, kernels, features) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn read(path: &str) -> Result<Source, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    Ok(Source::new(path, text))
}

fn synthesise(dictionary: &str, kernels: &str, features: &[String]) -> Result<(), String> {
    let dictionary = Dictionary::read(&read(dictionary)?).map_err(|wrong| render(&wrong))?;

    // What the target has, and what it costs: here one cycle, whatever it is.
    let all = dictionary.members().flat_map(|(_, m)| &m.features);
    let features: BTreeSet<String> = match features.is_empty() {
        true => all.cloned().collect(),
        false => features.iter().cloned().collect(),
    };
    let one = Timing {
        latency: 10,
        throughput: 10,
    };
    let costs = CostTable {
        model: "one cycle each".to_owned(),
        rule: Rule::Pressure,
        default: one,
        rows: Vec::new(),
    };
    // How C has the registers.
    let class = |width: u32, needs: &str| RegisterClass {
        width,
        c_type: format!("__m{width}i"),
        needs: Some(needs.to_owned()),
        count: 16,
        held: None,
    };
    let classes = [class(128, "SSE2"), class(256, "AVX"), class(512, "AVX512F")];
    let registers = classes.into_iter();
    let registers = registers.filter(|c| c.needs.as_ref().is_none_or(|n| features.contains(n)));
    let registers = registers.collect();
    let table = InstructionTable::of_dictionary(&dictionary);
    let operations = TargetOperations::new(table, features, costs, registers);
    println!("{} instructions to choose from", operations.instructions());

    // Kernels become windows of terms; for each, a program is searched for and proved.
    let (kernels, wrong) = kernel::read(&read(kernels)?);
    if !wrong.is_empty() {
        return Err(render(&wrong));
    }
    let prover = Prover::new(Config::default());
    let options = Options {
        time: Duration::from_secs(60),
        ..Options::default()
    };
    for kernel in &kernels {
        let mut lowered = schedule::apply(kernel)
            .and_then(|s| lowering::lower(&s))
            .map_err(|wrong| render(&wrong))?;
        let mut found = compile(&lowered, &operations, &prover, options, None, &|_| {});
        lowered.windows = std::mem::take(&mut found.windows);
        let placement = found.place(&lowered, &operations);
        for (report, program) in found.reports.iter().zip(&found.programs) {
            let applied = program.iter().flat_map(Program::applied);
            let names = applied.map(|o| placement.selection.of(o).instruction.as_str());
            println!("{}: {}", report.name, names.collect::<Vec<_>>().join(", "));
            if let Outcome::Proved(evidence) = &report.outcome {
                println!("  proved: {evidence}");
            }
        }
        let unit = codegen_gen::c::Unit {
            lowered: &lowered,
            placement: &placement,
            registers: operations.registers(),
            headers: &["immintrin.h".to_owned()],
        };
        let about = [format!("Made of the kernel `{}`.", kernel.name)];
        println!("{}", codegen_gen::c::emit(&unit, &about, None));
    }
    Ok(())
}
