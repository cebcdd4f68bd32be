//! Calls the synthesiser: a kernel in, a proved program and C out.
//!
//! ```text
//! cargo run --release --example synthesise -- DIR/x86,rvm.dictionary \
//!     examples/average.kernel AVX AVX2 SSE2
//! ```
//!
//! finds code for a processor that has these features. Without any, all instructions of the
//! dictionary count.

use isaforge::semantics::span::Source;
use isaforge::{Compiler, Target, reported};
use std::collections::BTreeSet;
use std::process::ExitCode;

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

fn synthesise(dictionary: &str, kernels: &str, features: &[String]) -> Result<(), String> {
    let dictionary = isaforge::read_dictionary(dictionary)?;
    let all = dictionary.members().flat_map(|(_, m)| &m.features);
    let features: BTreeSet<String> = match features.is_empty() {
        true => all.cloned().collect(),
        false => features.iter().cloned().collect(),
    };
    let compiler = Compiler::new(&dictionary, Target::x86(features));
    println!("{} instructions to choose from", compiler.instructions());

    // Kernels become windows of terms; for each, a program is searched for and proved.
    let text = std::fs::read_to_string(kernels).map_err(|error| format!("{kernels}: {error}"))?;
    for kernel in compiler
        .compile(&Source::new(kernels, text))
        .map_err(reported)?
    {
        for window in &kernel.windows {
            println!("{}: {}", window.name, window.instructions.join(", "));
            if let Some(evidence) = &window.proof {
                println!("  proved: {evidence}");
            }
        }
        println!("{}", kernel.code);
    }
    Ok(())
}
