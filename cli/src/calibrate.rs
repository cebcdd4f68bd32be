//! `isaforge calibrate`: what instructions cost on this processor, or by LLVM's models.
//!
//! In: the arguments. Out: a cost table as YAML, a status. How it is measured is the business
//! of [`validate::calibrate`], how models are asked that of [`validate::models`].

use crate::args::{Calibrate, Specs};
use crate::status::Status;
use crate::{assets, intake, terminal};
use codegen_gen::timing_harness::Dialect;
use indicatif::ProgressBar;
use semantics::diagnostic::Diagnostic;
use semantics::instruction::{Form, Instruction};
use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use store::local::write_whole;
use target::Targets;
use validate::calibrate::measure::Progress;
use validate::calibrate::{ThisMachine, table};
use validate::models::Language;

#[cfg(test)]
mod tests;

/// Runs the command.
pub(crate) fn command(request: &Calibrate) -> Status {
    let done = match request.models.is_empty() {
        true => calibrate(request),
        false => ask(request),
    };
    match done {
        Ok(()) => Status::Done,
        Err(diagnostics) => {
            terminal::complain(&diagnostics);
            Status::WrongInput
        }
    }
}

/// The features of a set, the headers of its instructions, and these.
fn read(specs: &Specs) -> Result<(Targets, Vec<String>, Vec<Instruction>), Vec<Diagnostic>> {
    let folder = assets::folder(&specs.isa, specs.isa_specs.as_deref()).map_err(one)?;
    let targets = Targets::load(&folder).map_err(one)?;
    let section = spec_parser::manifest::c_section(&folder.join("manifest.yaml"))?;
    let intake = intake::instructions(&folder, None)?;
    terminal::complain(&intake.diagnostics);
    Ok((targets, section.headers, intake.instructions))
}

fn one(diagnostic: Diagnostic) -> Vec<Diagnostic> {
    vec![diagnostic]
}

/// Reads the specifications, measures, and writes the table.
fn calibrate(request: &Calibrate) -> Result<(), Vec<Diagnostic>> {
    let (targets, headers, all) = read(&request.specs)?;
    let timing = targets.timing().ok_or_else(|| {
        let isa = &request.specs.isa;
        let missing = Diagnostic::error(format!("nothing says how `{isa}` is timed"));
        one(missing.hint("`timing` in its `targets.yaml` does"))
    })?;
    let host = targets.host().map_err(one)?;
    let compiler = toolchain::c::compiler().ok_or_else(|| {
        let missing = Diagnostic::error("there is no C compiler");
        one(missing.hint("install gcc, or name a compiler in $CC"))
    })?;
    let machine = ThisMachine {
        targets: &targets,
        host: &host,
        dialect: Dialect {
            timing,
            headers: &headers,
        },
        compiler: &compiler,
        all: &all,
        progress: &Bar::default(),
    };
    let measured = validate::calibrate::calibrate(&machine, request.filter.as_deref());
    let (kinds, costs) = (measured.kinds, measured.costs);
    write(request, &table::write(&host.model, &costs))?;
    let measured = costs.len();
    let missing = kinds - measured;
    let unchained = costs.values().filter(|c| c.latency.is_none()).count();
    let note = format!(
        "measured {measured} kinds of instructions; {missing} could not be compiled or run, \
         {unchained} without latency, {} resources",
        costs
            .values()
            .filter_map(|c| c.resource.as_ref())
            .collect::<BTreeSet<_>>()
            .len()
    );
    eprintln!("{note}");
    Ok(())
}

/// Asks LLVM's models, and writes what they say.
fn ask(request: &Calibrate) -> Result<(), Vec<Diagnostic>> {
    let (targets, headers, all) = read(&request.specs)?;
    let filter = request.filter.as_deref().unwrap_or_default();
    let asked: Vec<_> = all.iter().filter(|i| i.name.contains(filter)).collect();
    let language = Language {
        targets: &targets,
        headers: &headers,
    };
    let models = validate::models::ask(&asked, &language, &request.models)
        .map_err(|why| one(Diagnostic::error(why)))?;
    let names = request.models.join(",");
    let mut command = format!(
        "isaforge calibrate --isa {} --models {names}",
        request.specs.isa
    );
    if !filter.is_empty() {
        command.push_str(&format!(" --filter {filter}"));
    }
    write(request, &validate::models::write(&models, &command))?;
    let single = asked.iter().filter(|i| i.form == Form::Single).count();
    let known = models.instructions.len();
    let others = models.instructions.values();
    let others = others.filter(|f| f.stands.is_some()).count();
    eprintln!(
        "{}: {known} of {single} instructions, of which clang makes {others} by another; {} are not \
         compiled to one, or no model has them",
        models.source,
        single - known
    );
    for (k, name) in models.names.iter().enumerate() {
        let has = models.instructions.values().filter(|f| f.of[k].is_some());
        eprintln!("  {name}: {}", has.count());
    }
    Ok(())
}

/// Writes a table to where it is wanted.
fn write(request: &Calibrate, text: &str) -> Result<(), Vec<Diagnostic>> {
    match terminal::file(request.output.as_deref()) {
        Some(path) => write_whole(path, text.as_bytes()).map_err(|error| {
            let message = format!("cannot write `{}`: {error}", path.display());
            vec![Diagnostic::error(message)]
        }),
        None => {
            terminal::print(text);
            Ok(())
        }
    }
}

/// The bar of what is being measured.
#[derive(Default)]
struct Bar(Mutex<Option<ProgressBar>>);

impl Bar {
    fn bar(&self) -> MutexGuard<'_, Option<ProgressBar>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Progress for Bar {
    fn begin(&self, what: &'static str, steps: usize) {
        *self.bar() = Some(terminal::bar(what, steps));
    }

    fn advance(&self, steps: usize) {
        if let Some(bar) = &*self.bar() {
            bar.inc(steps as u64);
        }
    }

    fn end(&self) {
        if let Some(bar) = self.bar().take() {
            bar.finish_and_clear();
        }
    }
}
