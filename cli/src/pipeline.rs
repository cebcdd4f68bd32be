//! The whole flow: specifications and a kernel in, proved code out.
//!
//! In: what was asked. Out: C files with a report, or diagnostics. Each step is one call of
//! one crate, in the order of the data; read `ARCHITECTURE.md` beside it.

use crate::auto::vectors::{self, ScheduleRequest};
use crate::report::spent::Spent;
use crate::report::{KernelReport, WindowReport};
use crate::terminal;
use autoir::program::placed::{Placed, Placement, Residence};
use autoir::program::{Program, file};
use codegen_gen::back_end::{BackEnd, Code, Windows};
use codegen_gen::c;
use halide::{Constants, Convention, Import, Options};
use kernel::tree::{Access, Kernel};
use lowering::window::{self, Lowered, Window};
use schedule::Scheduled;
use semantics::diagnostic::Diagnostic;
use semantics::span::{Source, Span};
use smt::prover::Prover;
use std::collections::{BTreeMap, BTreeSet};
use store::object::Store;
use synth::compile::{Compiled as Found, Outcome};
use synth::cost::CostTable;
use synth::estimate::nest;
use synth::limit::Bound;
use synth::operations::TargetOperations;
use target::{Target, Targets};
use validate::check::judge::Judge;
use validate::check::machine::Compiler;
use validate::{disassembly, run};

/// What a compilation needs to know.
pub(crate) struct Settings {
    /// Who runs the code, and the headers that it needs.
    pub(crate) judge: Judge,
    /// All features and models.
    pub(crate) targets: Targets,
    /// The processor that code is made for.
    pub(crate) target: Target,
    /// The operations that it has.
    pub(crate) operations: TargetOperations,
    /// What instructions cost.
    pub(crate) costs: CostTable,
    /// Who proves what is found.
    pub(crate) prover: Prover,
    /// Whether the report tells what the search did.
    pub(crate) explain: bool,
    /// Where windows lie that were found before.
    pub(crate) store: Option<Store>,
    /// Bounds on the search for each window.
    pub(crate) options: synth::compile::Options,
    /// What is written; the programs of windows where there is none.
    pub(crate) back_end: Option<Box<dyn ForWindows>>,
    /// C, which a kernel is run as where what is written does not run.
    pub(crate) c: c::Intrinsics,
    /// Programs that were made before, by the names of their windows, in place of a search.
    pub(crate) programs: Option<BTreeMap<String, Program>>,
    /// What they were made for, as their file has it.
    pub(crate) origin: Option<file::Origin>,
    /// Whether the code is to be run, and on data of which seed.
    pub(crate) run: Option<u64>,
    /// How a schedule is searched for, when it is.
    pub(crate) schedule: Option<ScheduleRequest>,
}

/// A back end of kernels in windows.
pub(crate) trait ForWindows: for<'w> BackEnd<Windows<'w>> + Send + Sync {}

impl<B: for<'w> BackEnd<Windows<'w>> + Send + Sync> ForWindows for B {}

/// A compiled kernel.
pub(crate) struct Compiled {
    /// The code; nothing where programs are written.
    pub(crate) code: Option<Code>,
    /// What is told about it.
    pub(crate) report: KernelReport,
    /// The windows that have programs.
    pub(crate) programs: Vec<(Window, Program)>,
    /// What is computed element by element: what it is, where, and why.
    scalar: Vec<Plain>,
}

/// What is computed element by element: what it is, where, and why.
type Plain = (&'static str, Source, Span, String);

/// What is computed element by element: a window of several lanes, a nest without lanes; and what is
/// moved so, though it is computed in vectors.
const VECTOR: &str = "this vector is computed element by element";
const MOVED: &str = "elements of this vector are moved one at a time";
const NEST: &str = "no iterations of these loops became lanes";

impl Compiled {
    /// The messages about what is computed element by element: one for each place, with the first of its windows.
    pub(crate) fn scalar(&self, denied: bool) -> impl Iterator<Item = Diagnostic> + '_ {
        let mut at: Vec<(&Plain, usize)> = Vec::new();
        for one in &self.scalar {
            let same = |(first, _): &&mut (&Plain, usize)| {
                (first.0, first.1.name(), first.2) == (one.0, one.1.name(), one.2)
            };
            match at.iter_mut().find(same) {
                Some((_, more)) => *more += 1,
                None => at.push((one, 0)),
            }
        }
        at.into_iter()
            .map(move |((message, source, span, why), more)| {
                let diagnostic = match denied {
                    true => Diagnostic::error(*message),
                    false => Diagnostic::warning(*message),
                };
                let reported = diagnostic.at(source, *span).with_note(why.clone());
                match more {
                    0 => reported,
                    _ => reported
                        .with_note(format!("so it is with {more} more that are made of this")),
                }
            })
    }
}

/// The windows of several lanes that have no program, and why.
fn scalar(kernel: &Kernel, lowered: &Lowered, found: &Found, placement: &Placement) -> Vec<Plain> {
    let windows = lowered.windows.iter().zip(&found.reports);
    let why = |(window, report): (&Window, &synth::compile::WindowReport)| {
        let why = match &report.outcome {
            Outcome::Proved(_) | Outcome::Scalar => return None,
            // One number of a whole register is no loop over lanes.
            Outcome::Elements(_) if window.output.lanes == 1 => return None,
            Outcome::Elements(vectors) => format!(
                "the C compiler is left a loop over them, which costs {:.1}; the cheapest vectors found, {:.1}",
                f64::from(report.cost) / 10.0,
                f64::from(*vectors) / 10.0
            ),
            Outcome::NotFound(limits) if limits.is_empty() => {
                "no instructions of the target were found that compute it".to_owned()
            }
            Outcome::NotFound(limits) => {
                format!(
                    "the search ended at {}",
                    Bound::names(limits.iter().copied())
                )
            }
            Outcome::Refuted(_) => "what was found was refuted".to_owned(),
            Outcome::Unproved(reason) => format!("what was found could not be proved: {reason}"),
            Outcome::NotPlaced(why) => why.clone(),
        };
        let lanes = window.output.lanes;
        let why = format!("`{}`, {lanes} elements at a time: {why}", window.name);
        Some((VECTOR, kernel.source.clone(), window.span, why))
    };
    let mut all: Vec<_> = windows.filter_map(why).collect();
    let programs = lowered.windows.iter().zip(&placement.programs);
    for (window, placed) in programs {
        if let Some(why) = placed.as_ref().and_then(|placed| moved(window, placed)) {
            all.push((MOVED, kernel.source.clone(), window.span, why));
        }
    }
    all
}

/// Which elements a program takes from, or brings to, places that are not beside each other.
fn moved(of: &Window, placed: &Placed) -> Option<String> {
    let apart = |access: &Access| access.lanes > 1 && !access.is_dense();
    let gathered = |input: &&window::Input| {
        let buffer = matches!(
            placed.ends.inputs.get(&input.name),
            Some(Residence::Buffer(_))
        );
        buffer && matches!(&input.source, window::Source::Array(access) if apart(access))
    };
    let inputs: u32 = (of.inputs.iter().filter(gathered))
        .map(|i| i.ty.lanes)
        .sum();
    let buffer = matches!(placed.ends.result, Residence::Buffer(_));
    let stored = match &of.store {
        window::Store::Array(access) if buffer && apart(access) => access.lanes,
        _ => 0,
    };
    let what = match (inputs, stored) {
        (0, 0) => return None,
        (n, 0) => format!("{n} are loaded from"),
        (0, n) => format!("{n} are stored to"),
        (n, m) => format!("{n} are loaded from and {m} stored to"),
    };
    let name = &of.name;
    Some(format!(
        "`{name}`: {what} places that are not beside each other"
    ))
}

/// Compiles all kernels of a text; those with mistakes are left out and reported.
pub(crate) fn compile(source: &Source, settings: &Settings) -> (Vec<Compiled>, Vec<Diagnostic>) {
    let (kernels, mut diagnostics) = kernel::read(source);
    if let Some(clash) = codegen_gen::c::clash(&kernels) {
        diagnostics.push(clash);
        return (Vec::new(), diagnostics);
    }
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
    convention: Convention,
    constants: &Constants,
    settings: &Settings,
) -> (Vec<Compiled>, Vec<Diagnostic>) {
    let options = Options {
        masked: settings.operations.masked_elements(),
        sums: settings.operations.processor().sums,
        ..Options::new(convention, constants)
    };
    let import = match halide::read(source, &options) {
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
    scheduled: &Scheduled,
    settings: &Settings,
) -> Result<(String, BTreeSet<String>), Vec<Diagnostic>> {
    let kernel = scheduled.kernel();
    let (mut lowered, mut found) = cheapest(scheduled, settings, &|lowered| {
        Ok(search(lowered, settings, &|| {}))
    })?;
    lowered.windows = std::mem::take(&mut found.windows);
    let placement = found.place(&lowered, &settings.operations);
    let windows = Windows {
        lowered: &lowered,
        placement: &placement,
        import: None,
    };
    let code = emitted(&settings.c, kernel, &windows, settings)?;
    Ok((code.to_string(), code.features))
}

/// What a back end writes of a kernel.
fn emitted(
    back_end: &dyn for<'w> BackEnd<Windows<'w>>,
    kernel: &Kernel,
    windows: &Windows<'_>,
    settings: &Settings,
) -> Result<Code, Vec<Diagnostic>> {
    let code = back_end.code(windows, &about(kernel, settings));
    code.map_err(|reason| {
        let message = format!("`{}` cannot be written {reason}", kernel.name);
        let wrong = Diagnostic::error(message).at(&kernel.source, kernel.span);
        vec![wrong.hint("`--emit c` writes it as C")]
    })
}

/// The programs of a kernel's windows, searched for.
pub(crate) fn search(lowered: &Lowered, settings: &Settings, done: &(dyn Fn() + Sync)) -> Found {
    synth::compile::compile(
        lowered,
        &settings.operations,
        &settings.prover,
        settings.options,
        settings.store.as_ref(),
        &|_| done(),
    )
}

/// The programs of a kernel's windows: those that were given, else searched for.
fn programs(
    kernel: &Kernel,
    lowered: &Lowered,
    settings: &Settings,
) -> Result<Found, Vec<Diagnostic>> {
    if let Some(programs) = &settings.programs {
        let mine = |name: &String| name.rsplit_once('.').is_some_and(|(k, _)| k == kernel.name);
        let mine = programs.iter().filter(|(name, _)| mine(name));
        let mine = mine.map(|(name, program)| (name.clone(), program.clone()));
        let adopted = synth::adopt::adopt(
            lowered,
            &mine.collect(),
            &settings.operations,
            (&settings.prover, settings.options),
        );
        let wrong = |why| Diagnostic::error(why).at(&kernel.source, kernel.span);
        return adopted.map_err(|all| all.into_iter().map(wrong).collect());
    }
    let bar = terminal::bar("windows", lowered.windows.len());
    let found = search(lowered, settings, &|| bar.inc(1));
    bar.finish_and_clear();
    Ok(found)
}

/// A kernel's windows with their programs: as its statements are written, or with what these have in
/// common formed once, whichever costs less.
fn cheapest(
    scheduled: &Scheduled,
    settings: &Settings,
    find: &dyn Fn(&Lowered) -> Result<Found, Vec<Diagnostic>>,
) -> Result<(Lowered, Found), Vec<Diagnostic>> {
    let (plain, common) = lowering::lower_both(scheduled)?;
    let found = find(&plain);
    let Some(common) = common else {
        return Ok((plain, found?));
    };
    let (found, other) = match (found, find(&common)) {
        (Ok(found), Ok(other)) => (found, other),
        // Programs that were given are those of one of them.
        (Ok(found), Err(_)) => return Ok((plain, found)),
        (Err(_), Ok(other)) => return Ok((common, other)),
        (Err(wrong), Err(other)) if wrong.len() <= other.len() => return Err(wrong),
        (Err(_), Err(other)) => return Err(other),
    };
    let cost = |lowered: &Lowered, found: &Found| {
        let operations = &settings.operations;
        let programs = found.windows.iter().zip(&found.programs);
        let codes: Vec<Option<nest::Code>> = programs
            .map(|(window, program)| Some(nest::Code::new(window, program.clone()?, operations)))
            .collect();
        let codes: Vec<Option<&nest::Code>> = codes.iter().map(Option::as_ref).collect();
        nest::cost_of_rounds(lowered, &found.windows, &codes, operations)
    };
    match cost(&common, &other) < cost(&plain, &found) {
        true => Ok((common, other)),
        false => Ok((plain, found)),
    }
}

/// What compiles and runs programs that need some features, with the compiler's flags for them,
/// when this machine or the emulator of another has them; otherwise why not.
pub(crate) fn runnable<'a>(
    needed: &BTreeSet<String>,
    settings: &'a Settings,
) -> Result<(&'a Compiler, Vec<String>), String> {
    let needed = settings.targets.closure(needed);
    let judge = &settings.judge;
    let compiler = judge.compiler.as_ref().map_err(String::clone)?;
    let missing: Vec<&str> = needed
        .difference(&judge.host.features)
        .map(String::as_str)
        .collect();
    match missing.is_empty() {
        true if judge.by_reference => Ok((compiler, Vec::new())),
        true => Ok((compiler, settings.targets.flags(&needed))),
        false => Err(format!("this machine does not have {}", missing.join(", "))),
    }
}

/// Compiles one kernel: lowered to windows, a proved program for each, C around them.
fn one(
    kernel: &Kernel,
    import: Option<&Import>,
    settings: &Settings,
) -> Result<Compiled, Vec<Diagnostic>> {
    let (scheduled, schedule, plain) = match &settings.schedule {
        None => (schedule::apply(kernel)?, None, Vec::new()),
        Some(request) => {
            let chosen = vectors::choose(kernel, request, settings)?;
            (chosen.scheduled, Some(chosen.reported), chosen.scalar)
        }
    };
    let find = |lowered: &Lowered| programs(kernel, lowered, settings);
    let (mut lowered, mut found) = cheapest(&scheduled, settings, &find)?;
    lowered.windows = std::mem::take(&mut found.windows);
    let placement = found.place(&lowered, &settings.operations);
    let windows = Windows {
        lowered: &lowered,
        placement: &placement,
        import,
    };
    let write =
        |back_end: &dyn for<'w> BackEnd<Windows<'w>>| emitted(back_end, kernel, &windows, settings);
    let back_end = settings.back_end.as_ref();
    let code = back_end
        .map(|back_end| write(back_end.as_ref()))
        .transpose()?;
    let run = match settings.run {
        None => None,
        Some(seed) => {
            let sampled = import.map(Import::on_samples);
            let kernel = sampled.as_ref().unwrap_or(kernel);
            // Where nothing is written that runs, C is.
            let ran = match &code {
                Some(code) => run_here(kernel, &lowered, code, settings, seed),
                None => run_here(kernel, &lowered, &write(&settings.c)?, settings, seed),
            };
            Some(ran.into())
        }
    };
    let report = KernelReport {
        name: kernel.name.clone(),
        schedule,
        windows: (0..lowered.windows.len())
            .map(|number| window_report(kernel, &lowered, &found, &placement, number, settings))
            .collect(),
        output: None,
        run,
    };
    let mut scalar = scalar(kernel, &lowered, &found, &placement);
    let plain = plain.into_iter();
    scalar.extend(plain.map(|(span, why)| (NEST, kernel.source.clone(), span, why)));
    let lanes = import.into_iter().flat_map(|import| &import.one_by_one);
    scalar.extend(lanes.map(|(span, why)| (MOVED, kernel.source.clone(), *span, why.clone())));
    let programs = lowered.windows.into_iter().zip(found.programs);
    let programs = programs.filter_map(|(window, program)| Some((window, program?)));
    Ok(Compiled {
        code,
        report,
        programs: programs.collect(),
        scalar,
    })
}

/// What is told of a window.
fn window_report(
    kernel: &Kernel,
    lowered: &Lowered,
    found: &Found,
    placement: &Placement,
    number: usize,
    settings: &Settings,
) -> WindowReport {
    let (window, report) = (&lowered.windows[number], &found.reports[number]);
    let selection = &placement.selection;
    let program = found.programs[number].as_ref();
    let names = program.into_iter().flat_map(Program::applied);
    let names = names.map(|o| selection.of(o).instruction.clone());
    let placed = placement.programs.get(number).and_then(Option::as_ref);
    let spent = program.zip(placed).map(|(program, placed)| {
        let found = (window, program, report.cost);
        let operations = (&settings.operations, &settings.costs);
        Spent::of(found, placed, operations, selection)
    });
    let instructions = (names.collect(), spent);
    WindowReport::new(kernel, window, report, instructions, settings.explain)
}

/// What a compiler makes of the C of a kernel, or why nothing.
pub(crate) fn assembly(
    compiled: &Compiled,
    settings: &Settings,
) -> Result<Vec<disassembly::Instruction>, String> {
    let code = compiled.code.as_ref();
    let code = code.ok_or_else(|| "what was written is no C".to_owned())?;
    let judge = &settings.judge;
    let compiler = judge.compiler.as_ref().map_err(String::clone)?;
    let flags = match judge.by_reference {
        true => Vec::new(),
        false => settings
            .targets
            .flags(&settings.targets.closure(&code.features)),
    };
    disassembly::of(code, (compiler, &flags))
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
    lowered: &Lowered,
    code: &Code,
    settings: &Settings,
    seed: u64,
) -> run::Outcome {
    match runnable(&code.features, settings) {
        Ok((compiler, flags)) => {
            let lanes = lowered.windows.iter().map(|w| w.output.lanes).max();
            run::run(kernel, lanes.unwrap_or(1), code, (compiler, &flags), seed)
        }
        Err(why) => run::Outcome::Skipped(why),
    }
}
