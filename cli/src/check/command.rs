//! The command around the check: which specifications, which machine, what is printed.
//!
//! In: the arguments. Out: a table on standard output, messages on standard error, a status.

use super::{Options, run};
use crate::args::Check;
use crate::status::Status;
use crate::target::{Target, Targets};
use crate::{assets, terminal};
use semantics::diagnostic::Diagnostic;
use semantics::instruction::Instruction;
use semantics::span::Source;
use spec_parser::{errata, intel, specs};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// Some instructions to check, and where they are from.
struct Set {
    title: String,
    instructions: Vec<Instruction>,
}

/// Runs the command.
pub(crate) fn command(request: &Check) -> Status {
    let (sets, targets, host, diagnostics) = match prepare(request) {
        Ok(ready) => ready,
        Err(diagnostics) => {
            terminal::complain(&diagnostics);
            return Status::WrongInput;
        }
    };
    let wrong = terminal::complain(&diagnostics);
    let options = Options {
        filter: request.filter.clone(),
        inputs: request.inputs.max(1),
        seed: request.seed,
    };
    let mut status = if wrong {
        Status::WrongInput
    } else {
        Status::Done
    };
    let mut found = 0;
    for set in &sets {
        let bar = terminal::bar("checking", set.instructions.len());
        let advance = |n: usize| bar.inc(n as u64);
        let summary = run(&set.instructions, &targets, &host, &options, &advance);
        bar.finish_and_clear();
        found += summary.verdicts.len();
        terminal::print(&format!("{}\n{summary}", set.title));
        if summary.counts().1 > 0 {
            status = status.max(Status::CheckFailed);
        }
    }
    if found == 0 {
        let filter = request.filter.as_deref().unwrap_or_default();
        let message = format!("no instruction has a name that contains `{filter}`");
        terminal::complain(&[Diagnostic::error(message)]);
        status = Status::WrongInput;
    }
    status
}

type Ready = (Vec<Set>, Targets, Target, Vec<Diagnostic>);

/// Loads what is to be checked.
fn prepare(request: &Check) -> Result<Ready, Vec<Diagnostic>> {
    let one = |diagnostic: Diagnostic| vec![diagnostic];
    let specs = &request.specs;
    let folder = assets::folder(&specs.isa, specs.isa_specs.as_deref()).map_err(one)?;
    let text = fs::read_to_string(folder.join("targets.yaml"))
        .map_err(|e| one(Diagnostic::error(format!("cannot read targets.yaml: {e}"))))?;
    let targets =
        Targets::parse(&text).map_err(|e| one(Diagnostic::error(format!("targets.yaml: {e}"))))?;
    let host = targets.host().map_err(one)?;
    let loaded = specs::load(&folder.join("manifest.yaml"))?;
    let mut diagnostics = loaded.diagnostics;
    let mut sets = vec![Set {
        title: format!("{}: {} families", specs.isa, loaded.families),
        instructions: loaded.instructions,
    }];
    if let Some(file) = &specs.vendor {
        let (set, more) = vendor(file, &folder)?;
        sets.push(set);
        diagnostics.extend(more);
    }
    Ok((sets, targets, host, diagnostics))
}

/// The instructions of the vendor's own file, errata applied.
fn vendor(file: &Path, folder: &Path) -> Result<(Set, Vec<Diagnostic>), Vec<Diagnostic>> {
    let text = fs::read_to_string(file).map_err(|e| {
        vec![
            Diagnostic::error(format!("cannot read `{}`: {e}", file.display()))
                .hint("`--vendor` names the data file of the Intrinsics Guide"),
        ]
    })?;
    let errata = errata::load(&folder.join("errata.yaml"))?;
    let source = Source::new(file.display().to_string(), text);
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
