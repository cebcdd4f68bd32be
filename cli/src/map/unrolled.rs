//! Kernels that are tile instructions without loops: run, and told of.
//!
//! In: a mapped kernel. Out: a report of instructions by kind, cycles and registers; with `--run`
//! what the simulator says of it.

use super::{Run, loops, model, ordered};
use crate::status::Status;
use semantics::diagnostic::Diagnostic;
use semantics::machine::Machine;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use tile::program::Function;

/// Tells of a program, and runs it where that is asked for.
pub(super) fn report(
    run: &Run<'_>,
    function: &Function,
    report: &mut String,
) -> Result<Status, Vec<Diagnostic>> {
    let _ = writeln!(report, "{}", run.heading());
    figures(run.machine, function, report);
    // The mapper has proved it; running it is a test of that.
    let Some(seed) = run.request.run else {
        let _ = writeln!(report, "  order: no hazard: proved without a run");
        return Ok(Status::Done);
    };
    let (reported, safe) = ordered(run.machine, function).map_err(|d| vec![d])?;
    let _ = writeln!(report, "  order: {reported}");
    let (_, _, agrees) = loops::simulated(run, function, seed)?;
    let how = match agrees {
        true => "agrees with",
        false => "DIFFERS from",
    };
    let _ = writeln!(report, "  run: {how} the evaluator");
    Ok(match safe && agrees {
        true => Status::Done,
        false => Status::CheckFailed,
    })
}

/// Instructions by kind, cycles, registers, arrays.
fn figures(machine: &Machine, program: &Function, report: &mut String) {
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for (k, _) in &program.code {
        *kinds
            .entry(&machine.instructions[*k].instruction.name)
            .or_default() += 1;
    }
    let kinds: Vec<String> = kinds
        .iter()
        .map(|(name, n)| format!("{n} {name}"))
        .collect();
    let _ = writeln!(report, "  instructions: {}", kinds.join(", "));
    let _ = writeln!(
        report,
        "  tile registers: {} hold something at once",
        program.registers
    );
    let cycles = tile::cost::cycles(machine, &program.code, tile::map::in_flight(machine));
    let busy = machine
        .units
        .iter()
        .zip(&cycles.busy)
        .map(|(u, n)| format!("{} {n}", u.name));
    let busy = busy.collect::<Vec<_>>().join(", ");
    let _ = writeln!(
        report,
        "  cycles in the model{}: {} (host {}, {busy})",
        model(machine),
        cycles.total,
        cycles.issued
    );
    for (array, address) in program.arrays.iter().zip(&program.addresses) {
        let _ = writeln!(
            report,
            "  {} at {address:#x}, {} bytes",
            array.name, array.bytes
        );
    }
}
