//! The whole flow: specifications and a kernel in, proved code out.
//!
//! In: what was asked. Out: C files with a report, or diagnostics. Each step is one call of
//! one crate, in the order of the data; read `ARCHITECTURE.md` beside it.

use crate::auto::vectors::{self, Wish};
use crate::report::{KernelReport, WindowReport};
use crate::run;
use crate::target::{Target, Targets};
use crate::terminal;
use codegen_gen::{c, llvm};
use kernel::halide::{self, Form, Import};
use kernel::tree::Kernel;
use semantics::diagnostic::Diagnostic;
use semantics::span::Source;
use smt::prover::Prover;
use std::collections::BTreeSet;
use synth::cost::CostTable;
use synth::supply::Supply;

/// What a compilation needs to know.
pub(crate) struct Settings {
    /// All features and models.
    pub(crate) targets: Targets,
    /// The processor that code is made for.
    pub(crate) target: Target,
    /// The instructions that it has.
    pub(crate) supply: Supply,
    /// Who proves what is found.
    pub(crate) prover: Prover,
    /// Whether the report tells what the search did.
    pub(crate) explain: bool,
    /// What was found before.
    pub(crate) memo: Option<synth::memo::Memo>,
    /// Bounds on the search for each window.
    pub(crate) options: synth::compile::Options,
    /// What LLVM calls intrinsics, when LLVM IR is wanted.
    pub(crate) names: Option<llvm::Names>,
    /// Whether the code is to be run, and on data of which seed.
    pub(crate) run: Option<u64>,
    /// What instructions cost on the target.
    pub(crate) costs: CostTable,
    /// How a schedule is searched for, when it is.
    pub(crate) schedule: Option<Wish>,
}

/// A compiled kernel.
pub(crate) struct Compiled {
    /// The code: C or LLVM IR.
    pub(crate) code: String,
    /// What is told about it.
    pub(crate) report: KernelReport,
}

/// Compiles all kernels of a text; those with mistakes are left out and reported.
pub(crate) fn compile(source: &Source, settings: &Settings) -> (Vec<Compiled>, Vec<Diagnostic>) {
    let (kernels, mut diagnostics) = kernel::read(source);
    let mut compiled = Vec::new();
    for kernel in &kernels {
        match one(kernel, None, settings) {
            Ok(done) => compiled.push(done),
            Err(more) => diagnostics.extend(more),
        }
    }
    (compiled, diagnostics)
}

/// Compiles the pipeline that Halide has written as statements.
pub(crate) fn compile_pipeline(
    source: &Source,
    form: Form,
    settings: &Settings,
) -> (Vec<Compiled>, Vec<Diagnostic>) {
    let import = match halide::read(source, form) {
        Ok(import) => import,
        Err(diagnostics) => return (Vec::new(), diagnostics),
    };
    match one(&import.kernel, Some(&import), settings) {
        Ok(compiled) => (vec![compiled], import.warnings),
        Err(diagnostics) => (Vec::new(), diagnostics),
    }
}

/// The C code of a kernel, and the features that it needs.
pub(crate) fn code(
    kernel: &Kernel,
    settings: &Settings,
) -> Result<(String, BTreeSet<String>), Vec<Diagnostic>> {
    let mut lowered = kernel::lower::lower(kernel)?;
    let found = synth::compile::compile(
        &lowered,
        &settings.supply,
        &settings.prover,
        settings.options,
        settings.memo.as_ref(),
        &|_| {},
    );
    lowered.windows = found.windows;
    let code = c::emit(&lowered, &found.programs, &about(kernel, settings));
    let programs = found.programs.iter().flatten();
    Ok((code, programs.flat_map(c::features).collect()))
}

/// The compiler's flags for features, when this machine has them; otherwise why it has not.
pub(crate) fn runnable(
    needed: &BTreeSet<String>,
    settings: &Settings,
) -> Result<Vec<String>, String> {
    let needed = settings.targets.closure(needed);
    let host = settings.targets.host().map_err(|d| d.message)?;
    let missing: Vec<&str> = needed
        .difference(&host.features)
        .map(String::as_str)
        .collect();
    match missing.is_empty() {
        true => Ok(settings.targets.flags(&needed)),
        false => Err(format!("this machine does not have {}", missing.join(", "))),
    }
}

/// Compiles one kernel: lowered to windows, a proved program for each, C around them.
fn one(
    kernel: &Kernel,
    import: Option<&Import>,
    settings: &Settings,
) -> Result<Compiled, Vec<Diagnostic>> {
    let (kernel, schedule) = &match &settings.schedule {
        None => (kernel.clone(), None),
        Some(wish) => {
            let (kernel, told) = vectors::choose(kernel, wish, settings)?;
            (kernel, Some(told))
        }
    };
    let mut lowered = kernel::lower::lower(kernel)?;
    let bar = terminal::bar("windows", lowered.windows.len());
    let found = synth::compile::compile(
        &lowered,
        &settings.supply,
        &settings.prover,
        settings.options,
        settings.memo.as_ref(),
        &|_| bar.inc(1),
    );
    bar.finish_and_clear();
    lowered.windows = found.windows;
    let about_it = about(kernel, settings);
    let code = match import {
        None => c::emit(&lowered, &found.programs, &about_it),
        Some(import) => c::emit_pipeline(&lowered, &found.programs, &about_it, import),
    };
    let programs = found.programs.iter().flatten();
    let needed: BTreeSet<String> = programs.flat_map(c::features).collect();
    let run = settings
        .run
        .map(|seed| run_here(kernel, &code, &needed, settings, seed).into());
    let windows = lowered.windows.iter().zip(&found.reports);
    let report = KernelReport {
        name: kernel.name.clone(),
        schedule: schedule.clone(),
        windows: windows
            .map(|(window, report)| WindowReport::new(kernel, window, report, settings.explain))
            .collect(),
        output: None,
        run,
    };
    let code = match &settings.names {
        None => code,
        Some(names) => {
            let about = about(kernel, settings);
            llvm::emit(&lowered, &found.programs, names, &about)
                .map_err(|reason| vec![not_in_llvm(kernel, &reason)])?
                .text
        }
    };
    Ok(Compiled { code, report })
}

/// The message about a kernel that has no form in LLVM IR.
fn not_in_llvm(kernel: &Kernel, reason: &str) -> Diagnostic {
    let message = format!("`{}` cannot be written as LLVM IR: {reason}", kernel.name);
    Diagnostic::error(message)
        .at(&kernel.source, kernel.span)
        .hint("`--emit c` writes it as C")
}

/// What the first comment of the code says.
fn about(kernel: &Kernel, settings: &Settings) -> Vec<String> {
    let version = env!("CARGO_PKG_VERSION");
    let from = kernel.source.name();
    vec![format!(
        "Made by isaforge {version} from {from} for {}.",
        settings.target.name
    )]
}

/// Runs the code when this machine has the features that it needs.
fn run_here(
    kernel: &Kernel,
    code: &str,
    needed: &BTreeSet<String>,
    settings: &Settings,
    seed: u64,
) -> run::Outcome {
    match runnable(needed, settings) {
        Ok(flags) => run::run(kernel, code, &flags, seed),
        Err(why) => run::Outcome::Skipped(why),
    }
}
