//! `isaforge check`: which specifications, which machine, what is printed.
//!
//! In: the arguments. Out: a table on standard output, messages on standard error, a status.

pub(crate) mod built;

use crate::args::Check;
use crate::status::Status;
use crate::{assets, compile, cost, intake, terminal, trust};
use semantics::diagnostic::Diagnostic;
use semantics::instruction::Instruction;
use spec_parser::{errata, intel, specs};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use target::Targets;
use validate::check::against::{self, Comparison};
use validate::check::faults::Faults;
use validate::check::judge::{self, Judge};
use validate::check::{Options, headers, lint, run};

/// Some instructions to check, and where they are from.
struct Set {
    title: String,
    instructions: Vec<Instruction>,
}

/// Runs the command.
pub(crate) fn command(request: &Check) -> Status {
    if let Some(folder) = &request.build {
        return built::check(request, folder);
    }
    if let Some(status) = crate::machine_lint::command(request) {
        return status;
    }
    let (sets, targets, judge, diagnostics) = match prepare(request) {
        Ok(ready) => ready,
        Err(diagnostics) => {
            terminal::complain(&diagnostics);
            return Status::WrongInput;
        }
    };
    let mut status = match terminal::complain(&diagnostics) {
        true => Status::WrongInput,
        false => Status::Done,
    };
    let wanted = |i: &&Instruction| {
        let filter = request.filter.as_ref();
        filter.is_none_or(|f| i.name.contains(f))
    };
    let found = sets.iter().flat_map(|s| &s.instructions).filter(wanted);
    if found.count() == 0 {
        // What is wrong with the descriptions was told; it may be why there is none.
        match &request.filter {
            None if status == Status::WrongInput => {}
            filter => {
                terminal::complain(&[none_found(filter.as_deref())]);
            }
        }
        return Status::WrongInput;
    }
    let mut witnesses = Witnesses::default();
    let chosen: Vec<&Instruction> = sets[0].instructions.iter().filter(wanted).collect();
    if let Some(file) = &request.against {
        match compare(request, file, &chosen) {
            Ok(comparison) => {
                terminal::print(&format!("against {}\n{comparison}", file.display()));
                let [_, different, unknown, signature, _] = comparison.counts();
                status = status.max(match (different + signature, unknown) {
                    (0, 0) => Status::Done,
                    (0, _) => Status::Limited,
                    _ => Status::CheckFailed,
                });
                witnesses.comparison = Some(comparison);
            }
            Err(diagnostics) => {
                terminal::complain(&diagnostics);
                return Status::WrongInput;
            }
        }
    }
    // Of a machine that nobody has, only the descriptions themselves can show a slip.
    let nobodys = judge.by_reference && !request.reference;
    if request.lint || nobodys {
        let report = linted(request, &chosen, &targets);
        if request.lint || report.counts().0 > 0 {
            terminal::print(&format!("lint\n{report}"));
        }
        if report.counts().0 > 0 {
            status = status.max(Status::CheckFailed);
        }
    }
    if request.headers {
        let bar = terminal::bar("compiling", chosen.len());
        let advance = |n: usize| bar.inc(n as u64);
        let report = headers::check(&chosen, &targets, &judge, &advance);
        bar.finish_and_clear();
        terminal::print(&format!("headers\n{report}"));
        if !report.is_clean() {
            status = status.max(Status::CheckFailed);
        }
    }
    let other = request.against.is_some() || request.lint || request.headers;
    if request.hardware || !other {
        let faults = match known_faults(request) {
            Ok(faults) => faults,
            Err(diagnostic) => {
                terminal::complain(&[diagnostic]);
                return Status::WrongInput;
            }
        };
        for set in &sets {
            status = status.max(hardware(
                request, set, &targets, &judge, &witnesses, &faults,
            ));
        }
    }
    status
}

/// The message that there is nothing to check.
pub(crate) fn none_found(filter: Option<&str>) -> Diagnostic {
    Diagnostic::error(match filter {
        Some(filter) => format!("no instruction has a name that contains `{filter}`"),
        None => "there are no instructions: the files under `files` in manifest.yaml have none"
            .to_owned(),
    })
}

/// What vouches for instructions beside the machine.
#[derive(Default)]
struct Witnesses {
    comparison: Option<Comparison>,
}

impl Witnesses {
    fn of(&self, name: &str, lint: &lint::Report) -> Vec<&'static str> {
        let mut found = Vec::new();
        if self.comparison.as_ref().is_some_and(|c| c.is_proved(name)) {
            found.push("proved equal to the vendor's text");
        }
        if lint.is_clean(name) {
            found.push("no fault found by lint");
        }
        found
    }
}

/// Looks for mistakes in the specifications themselves.
fn linted(request: &Check, chosen: &[&Instruction], targets: &Targets) -> lint::Report {
    let specs = &request.specs;
    let folder = assets::folder(&specs.isa, specs.isa_specs.as_deref()).ok();
    let dialect =
        folder.and_then(|f| spec_parser::manifest::dialect(&f.join("manifest.yaml")).ok());
    let dialect = dialect.unwrap_or_default();
    let bar = terminal::bar("reading", chosen.len());
    let advance = |n: usize| bar.inc(n as u64);
    let report = lint::lint(chosen, &dialect, targets, request.seed, &advance);
    bar.finish_and_clear();
    report
}

/// What the C compiler that is here is known to do wrong.
fn known_faults(request: &Check) -> Result<Faults, Diagnostic> {
    let specs = &request.specs;
    let folder = assets::folder(&specs.isa, specs.isa_specs.as_deref())?;
    let targets = Targets::load(&folder)?;
    let trusted = trust::trusted(&specs.isa, specs, request.trust_specs);
    let judge = trusted.and_then(|t| judge::of(&folder, &targets, request.reference, t));
    let judge = judge.map_err(|mut d| d.swap_remove(0))?;
    let compiler = judge.compiler.ok();
    compiler.map_or(Ok(Faults::default()), |c| Faults::load(&folder, &c.program))
}

/// Runs the instructions of one set on this machine.
fn hardware(
    request: &Check,
    set: &Set,
    targets: &Targets,
    judge: &Judge,
    witnesses: &Witnesses,
    faults: &Faults,
) -> Status {
    let options = Options {
        filter: request.filter.clone(),
        inputs: request.inputs as usize,
        seed: request.seed,
        faults: faults.clone(),
        flags: Vec::new(),
        judge: judge.clone(),
    };
    let bar = terminal::bar("checking", set.instructions.len());
    let advance = |n: usize| bar.inc(n as u64);
    let mut summary = run(&set.instructions, targets, &options, &advance);
    bar.finish_and_clear();
    let lacking = summary.lacking().into_values().flatten();
    let names: BTreeSet<String> = lacking.map(str::to_owned).collect();
    let unchecked = set.instructions.iter();
    let unchecked: Vec<_> = unchecked.filter(|i| names.contains(&i.name)).collect();
    let report = linted(request, &unchecked, targets);
    let vouched = |name: String| {
        let found = witnesses.of(&name, &report);
        (name, found)
    };
    summary.witnesses = names.into_iter().map(vouched).collect();
    terminal::print(&format!("{}\n{summary}", set.title));
    if judge.by_reference {
        terminal::print(
            "run by reference functions, which are made from these meanings: what agrees says that \
             the functions are right, not that a machine is\n",
        );
    }
    match summary.counts() {
        (_, 0, 1..) if judge.by_reference => Status::Limited,
        (0, 0, _) => {
            terminal::print("nothing was checked: no instruction could be run here\n");
            Status::Limited
        }
        (_, 0, _) => Status::Done,
        _ => Status::CheckFailed,
    }
}

/// Compares instructions with the vendor's text.
fn compare(
    request: &Check,
    file: &Path,
    chosen: &[&Instruction],
) -> Result<Comparison, Vec<Diagnostic>> {
    let specs = &request.specs;
    let folder = assets::folder(&specs.isa, specs.isa_specs.as_deref()).map_err(|d| vec![d])?;
    let (set, _) = vendor(file, &folder)?;
    let prover = request.prover.prover(request.seed).map_err(|d| vec![d])?;
    terminal::complain(prover.problems());
    let bar = terminal::bar("proving", chosen.len());
    let advance = |n: usize| bar.inc(n as u64);
    let comparison = against::compare(chosen, &set.instructions, &prover, &advance);
    bar.finish_and_clear();
    Ok(comparison)
}

type Ready = (Vec<Set>, Targets, Judge, Vec<Diagnostic>);

/// Loads what is to be checked.
fn prepare(request: &Check) -> Result<Ready, Vec<Diagnostic>> {
    let one = |diagnostic: Diagnostic| vec![diagnostic];
    let specs = &request.specs;
    let folder = assets::folder(&specs.isa, specs.isa_specs.as_deref()).map_err(one)?;
    let loaded = specs::load(&folder.join("manifest.yaml"))?;
    let targets = compile::targets(&folder).map_err(one)?;
    let trusted = trust::trusted(&specs.isa, specs, request.trust_specs)?;
    let judge = judge::of(&folder, &targets, request.reference, trusted)?;
    let mut diagnostics = loaded.diagnostics;
    // What no description could be read of has no costs either.
    if specs.isa_specs.is_some() && diagnostics.is_empty() {
        diagnostics.extend(cost::idle(&folder, &loaded.instructions));
    }
    let mut sets = vec![Set {
        title: format!(
            "{}: {} families: {}",
            specs.isa,
            loaded.families,
            intake::counted(loaded.instructions.iter().map(|i| i.form))
        ),
        instructions: loaded.instructions,
    }];
    if let Some(file) = &specs.vendor {
        let (set, more) = vendor(file, &folder)?;
        sets.push(set);
        diagnostics.extend(more);
    }
    Ok((sets, targets, judge, diagnostics))
}

/// The instructions of the vendor's own file, errata applied.
fn vendor(file: &Path, folder: &Path) -> Result<(Set, Vec<Diagnostic>), Vec<Diagnostic>> {
    let source = crate::compile::read(file).map_err(|d| {
        vec![d.hint("`--vendor` and `--against` name the data file of the Intrinsics Guide")]
    })?;
    let errata = errata::load(&folder.join("errata.yaml"))?;
    let loaded = intel::guide::load(&source, &errata).map_err(|d| vec![d])?;
    let counts = loaded.counts;
    let mut title = format!(
        "\n{}: {} entries, {} bodies, {} parsed, {} with a meaning",
        file.display(),
        counts.entries,
        counts.bodies,
        counts.parsed,
        counts.lowered
    );
    for (name, intrinsics) in &loaded.errata {
        write!(title, "\n  erratum {name}: {} intrinsics", intrinsics.len())
            .expect("a string grows");
    }
    let set = Set {
        title,
        instructions: loaded.instructions,
    };
    // What the vendor's file lacks is counted above; its own faults are no error of the user's.
    Ok((set, Vec::new()))
}
