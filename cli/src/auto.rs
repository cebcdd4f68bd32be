//! `--schedule auto`: schedules that are searched for.
//!
//! In: a kernel, the values of its sizes, a machine. Out: the kernel with the schedule that was
//! found, and what the search did in words. The crate `schedule-space` says what can be chosen,
//! `autosched` searches; schedules for vectors are timed in [`vectors`].

pub(crate) mod loops;
mod sizes;
pub(crate) mod vectors;

use autosched::report;
use autosched::search::{Options, Problem, search};
use autosched::space::Emptied;
use kernel::index::Symbol;
use kernel::tree::Kernel;
use schedule::Scheduled;
use schedule::directive::Directive;
use schedule_space::nest::nest;
use schedule_space::systolic::{Commander, Cycles, Decided, Systolic};
use schedule_space::tiles::{Mapper, Tiles};
use semantics::diagnostic::Diagnostic;
use semantics::machine::Machine;
use smt::prover::Prover;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::{Duration, Instant};
use tile::loop_codegen::Blocks;
use tile::program::TileProgram;
use tile::systolic::place::Constraints;

/// Whether there is something to choose about a kernel on a machine with tiles.
///
/// # Errors
/// What there is not.
pub(crate) fn chooses(
    kernel: &Kernel,
    sizes: &BTreeMap<Symbol, i64>,
    machine: &Machine,
) -> Result<(), Diagnostic> {
    let tiles = nest(kernel, sizes).and_then(|nest| Tiles::new(nest, machine));
    tiles.map(|_| ())
}

/// Finds a schedule for a machine with tiles, and what it takes; what the search did goes into the report.
pub(crate) fn tiles(
    kernel: &Kernel,
    sizes: &BTreeMap<Symbol, i64>,
    (machine, blocks): (&Machine, &Blocks),
    prover: &Prover,
    addresses: &dyn Fn(&TileProgram) -> Vec<i64>,
    time: Option<f64>,
    log: &mut String,
) -> Result<(Scheduled, u64), Vec<Diagnostic>> {
    let begin = Instant::now();
    let tiles = nest(kernel, sizes).and_then(|nest| Tiles::new(nest, machine));
    let tiles = tiles.map_err(|d| vec![d])?;
    let from = tiles.restricted(&schedule::directives(kernel)?);
    let options = Options {
        from: Some(from.map_err(|d| vec![d])?),
        time: time.map(Duration::from_secs_f64),
        ..Options::default()
    };
    let mut mapper = Mapper {
        tiles: &tiles,
        sizes,
        machine,
        prover,
        blocks,
        addresses,
        known: BTreeMap::new(),
    };
    let found = search(&tiles.space, &tiles.model, &mut mapper, &options);
    let found = found.map_err(|problem| {
        vec![match &problem {
            Problem::Empty(emptied) => tiles.empty(emptied),
            _ => Diagnostic::error(problem.to_string())
                .at(&kernel.source, kernel.span)
                .hint(
                    "`isaforge map` without `--schedule auto` says what a schedule by hand lacks",
                ),
        }]
    })?;
    let _ = writeln!(
        log,
        "schedule of {}: {} programs mapped in {:.2} s",
        kernel.name,
        mapper.known.len(),
        begin.elapsed().as_secs_f64()
    );
    log.push_str(&report::text(&tiles.space, &found, "cycles"));
    let best = &found.best[0];
    written(log, &tiles.directives(&best.values));
    Ok((mapper.scheduled(&best.values)?, best.cost))
}

/// Finds blocks and their order for a machine with a systolic array; `cycles` runs a program.
pub(crate) fn systolic(
    kernel: &Kernel,
    sizes: &BTreeMap<Symbol, i64>,
    machine: &Machine,
    prover: &Prover,
    (decided, time): (Decided, Option<f64>),
    cycles: &Cycles,
    log: &mut String,
) -> Result<Constraints, Vec<Diagnostic>> {
    let begin = Instant::now();
    let systolic = match Systolic::new(kernel, sizes, machine) {
        Ok(systolic) => systolic,
        Err(wrong) => {
            let why = wrong.first().map_or("", |w| w.message.as_str());
            let _ = writeln!(log, "schedule of {}: as written: {why}", kernel.name);
            return Ok(decided.constraints());
        }
    };
    let empty = |emptied: &Emptied| {
        let diagnostic = Diagnostic::error(format!("the search space is empty: {emptied}"))
            .at(&kernel.source, kernel.span)
            .hint(
                "take smaller sizes of what is summed, smaller tiles, or a machine with more rows",
            );
        vec![diagnostic]
    };
    let options = Options {
        from: Some(systolic.restricted(decided).map_err(|e| empty(&e))?),
        time: time.map(Duration::from_secs_f64),
        ..Options::default()
    };
    let mut commander = Commander {
        kernel,
        sizes,
        machine,
        prover,
        cycles,
    };
    let found = search(&systolic.space, &systolic.model, &mut commander, &options);
    let found = match found {
        Ok(found) => found,
        Err(Problem::Empty(emptied)) => return Err(empty(&emptied)),
        // What the array does not do whole goes through its host, about which nothing is chosen.
        Err(problem) => {
            let _ = writeln!(log, "schedule of {}: as written: {problem}", kernel.name);
            return Ok(decided.constraints());
        }
    };
    let _ = writeln!(
        log,
        "schedule of {}: {} programs run in {:.2} s",
        kernel.name,
        found.evaluated,
        begin.elapsed().as_secs_f64()
    );
    log.push_str(&report::text(&systolic.space, &found, "cycles"));
    Ok(Systolic::constraints(&found.best[0].values))
}

/// A schedule as it would stand beside the kernel.
fn written(log: &mut String, directives: &[Directive]) {
    let _ = writeln!(log, "  schedule {{");
    for directive in directives {
        let _ = writeln!(log, "    {directive};");
    }
    let _ = writeln!(log, "  }}");
}
