//! `isaforge calibrate`: what instructions cost on this processor.
//!
//! In: the arguments. Out: a cost table as YAML, a status. How it is measured is the business
//! of [`validate::calibrate`].

use crate::args::Calibrate;
use crate::status::Status;
use crate::{assets, intake, terminal};
use indicatif::ProgressBar;
use semantics::diagnostic::Diagnostic;
use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use store::local::write_whole;
use target::Targets;
use validate::calibrate::measure::Progress;
use validate::calibrate::{Machine, table};

#[cfg(test)]
mod tests;

/// Runs the command.
pub(crate) fn command(request: &Calibrate) -> Status {
    match calibrate(request) {
        Ok(()) => Status::Done,
        Err(diagnostics) => {
            terminal::complain(&diagnostics);
            Status::WrongInput
        }
    }
}

/// Reads the specifications, measures, and writes the table.
fn calibrate(request: &Calibrate) -> Result<(), Vec<Diagnostic>> {
    let one = |diagnostic: Diagnostic| vec![diagnostic];
    let specs = &request.specs;
    let folder = assets::folder(&specs.isa, specs.isa_specs.as_deref()).map_err(one)?;
    let targets = Targets::load(&folder).map_err(one)?;
    let host = targets.host().map_err(one)?;
    let intake = intake::instructions(&folder, None)?;
    terminal::complain(&intake.diagnostics);
    let compiler = toolchain::c::compiler().ok_or_else(|| {
        let missing = Diagnostic::error("there is no C compiler");
        one(missing.hint("install gcc, or name a compiler in $CC"))
    })?;
    let machine = Machine {
        targets: &targets,
        host: &host,
        compiler: &compiler,
        all: &intake.instructions,
        progress: &Bar::default(),
    };
    let measured = validate::calibrate::calibrate(&machine, request.filter.as_deref());
    let (kinds, costs) = (measured.kinds, measured.costs);
    let text = table::write(&host.model, &costs);
    match &request.output {
        Some(path) => write_whole(path, text.as_bytes()).map_err(|error| {
            let message = format!("cannot write `{}`: {error}", path.display());
            one(Diagnostic::error(message))
        })?,
        None => terminal::print(&text),
    }
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
