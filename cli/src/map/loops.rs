//! Kernels whose loops are kept: run, and told of one by one or side by side.
//!
//! In: a mapped kernel. Out: a [`Row`] of figures; cycles are counted while
//! the simulator runs it, so that loops count as often as they go round.

use super::{Run, end, ordered, outside};
use crate::status::Status;
use kernel::data::{difference, fill, image, numbers};
use semantics::diagnostic::Diagnostic;
use sim::memory::Memory;
use sim::program::{MachineProgram, Setting};
use sim::run::{Simulator, Stopped};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use tile::cost::{Clock, Cycles};
use tile::program::Function;

/// What became of one kernel.
pub(super) struct Row {
    name: String,
    heading: String,
    agrees: Option<bool>,
    /// What the check of the words' order says, and whether they are safe.
    order: (String, bool),
    seconds: f64,
    written: usize,
    registers: usize,
    fences: usize,
    /// Executed instructions, by mnemonic, and cycles; where it was run.
    ran: Option<(BTreeMap<String, u64>, Cycles)>,
    units: Vec<String>,
    /// The name of the model of cost, where there are several.
    model: String,
    arrays: Vec<(String, i64, i64)>,
}

impl Row {
    /// Whether the run agreed and the order is safe.
    pub(super) fn status(&self) -> Status {
        match self.agrees == Some(false) || !self.order.1 {
            true => Status::CheckFailed,
            false => Status::Done,
        }
    }
}

/// The figures of one kernel, which is run when that is asked for.
pub(super) fn row(run: &Run<'_>, function: &Function) -> Result<Row, Vec<Diagnostic>> {
    let machine = run.machine;
    let seed = run.request.run.or(run.request.table.then_some(1));
    let ran = seed.map(|seed| simulated(run, function, seed));
    let ran = ran.transpose()?;
    // The mapper has proved it; running it is a test of that.
    let order = match seed {
        Some(_) => ordered(machine, function).map_err(|d| vec![d])?,
        None => {
            let proved = "no hazard: proved from loops and addresses, without a run".to_owned();
            (proved, true)
        }
    };
    Ok(Row {
        order,
        name: function.name.clone(),
        heading: run.heading(),
        agrees: ran.as_ref().map(|r| r.2),
        seconds: run.seconds,
        written: function.code.len(),
        registers: function.registers,
        fences: function.fences,
        ran: ran.map(|r| (r.0, r.1)),
        model: super::model(machine),
        units: machine.units.iter().map(|u| u.name.clone()).collect(),
        arrays: function
            .arrays
            .iter()
            .zip(&function.addresses)
            .filter(|(a, _)| a.bytes > 0)
            .map(|(a, at)| (a.name.clone(), *at, a.bytes))
            .collect(),
    })
}

/// The registers that hold where arrays begin.
pub(super) fn settings(program: &Function) -> Vec<Setting> {
    let of = |&(array, register): &(usize, u32)| Setting {
        file: program.scalars,
        register,
        value: program.addresses[array],
    };
    program.arguments.iter().map(of).collect()
}

/// Runs a program on random data: instructions, cycles, whether it agrees with the evaluator.
pub(super) fn simulated(
    run: &Run<'_>,
    program: &Function,
    seed: u64,
) -> Result<(BTreeMap<String, u64>, Cycles, bool), Vec<Diagnostic>> {
    let (kernel, sizes, machine) = (run.kernel, run.sizes, run.machine);
    let data = fill(kernel, sizes, &mut numbers(seed));
    let expected = kernel::eval::run(kernel, &data).map_err(|error| {
        let diagnostic = Diagnostic::error(format!("the evaluator stops: {error}"));
        let diagnostic = diagnostic.at(&kernel.source, kernel.span);
        vec![diagnostic.hint("take other sizes")]
    })?;
    let mut memory = Memory::new(end(&program.arrays, &program.addresses));
    let beside = program.image();
    if !memory.put(&image(kernel, &program.addresses, &data)) || !memory.put(&beside) {
        return Err(vec![outside(kernel)]);
    }
    let code = program.code.iter().cloned();
    let mut listed = MachineProgram::new(&format!("{}.s", program.name), code);
    listed.settings = settings(program);
    let mut simulator = Simulator::new(machine, memory);
    let mut clock = Clock::new(machine, tile::map::in_flight(machine));
    let counts = simulator.run_watched(&listed, u64::MAX, &mut |done| {
        let touched: Vec<u64> = done.touched.iter().map(|a| a.address).collect();
        clock.next(&program.code[done.at], done.jumps, &touched);
    });
    let counts = match counts {
        Ok(counts) => counts,
        Err(Stopped::Fault(diagnostic)) => return Err(vec![*diagnostic]),
        Err(Stopped::Steps(_)) => unreachable!("it may take as many steps as it likes"),
    };
    let there = |at, bytes| simulator.memory.get(at, bytes);
    let agrees = difference(kernel, &program.addresses, &expected, there).is_none();
    Ok((counts.instructions, clock.cycles(), agrees))
}

/// The report.
pub(super) fn report(rows: &[Row], table: bool) -> String {
    let mut out = String::new();
    if !table {
        rows.iter().for_each(|row| one(row, &mut out));
        return out;
    }
    let tiles = |row: &Row| row.ran.as_ref().map_or(0, |r| r.1.busy.iter().sum::<u64>());
    let first = rows.first().and_then(|r| r.ran.as_ref()).map(|r| r.1.total);
    let _ = writeln!(
        out,
        "{:<12} {:>8} {:>10} {:>10} {:>10} {:>9} {:>7} {:>7} {:>6} {:>6}  run",
        "kernel",
        "written",
        "executed",
        "cycles",
        "tile busy",
        "against",
        "tiles",
        "fences",
        "order",
        "s"
    );
    for row in rows {
        let Some((kinds, cycles)) = &row.ran else {
            continue;
        };
        let against = first.map_or(0.0, |f| f as f64 / cycles.total.max(1) as f64);
        let agrees = match row.agrees {
            Some(true) => "agrees",
            _ => "DIFFERS",
        };
        let _ = writeln!(
            out,
            "{:<12} {:>8} {:>10} {:>10} {:>10} {:>8.1}x {:>7} {:>7} {:>6} {:>6.2}  {agrees}",
            row.name,
            row.written,
            kinds.values().sum::<u64>(),
            cycles.total,
            tiles(row),
            against,
            row.registers,
            row.fences,
            if row.order.1 { "safe" } else { "UNSAFE" },
            row.seconds,
        );
    }
    out
}

fn one(row: &Row, out: &mut String) {
    let _ = writeln!(out, "{}", row.heading);
    let _ = writeln!(
        out,
        "  {} instructions, {} of them fences; tile registers: {} hold something at once",
        row.written, row.fences, row.registers
    );
    if row.registers == 0 {
        let _ = writeln!(out, "  no tiles: the host does it all, element by element");
    }
    let _ = writeln!(out, "  order: {}", row.order.0);
    if let Some((kinds, cycles)) = &row.ran {
        let kinds: Vec<String> = kinds
            .iter()
            .map(|(name, n)| format!("{n} {name}"))
            .collect();
        let _ = writeln!(out, "  executed: {}", kinds.join(", "));
        let busy = row.units.iter().zip(&cycles.busy);
        let busy: Vec<String> = busy.map(|(name, n)| format!("{name} {n}")).collect();
        let _ = writeln!(
            out,
            "  cycles in the model{}: {} (host {}, {})",
            row.model,
            cycles.total,
            cycles.issued,
            busy.join(", ")
        );
    }
    for (name, at, bytes) in &row.arrays {
        let _ = writeln!(out, "  {name} at {at:#x}, {bytes} bytes");
    }
    if let Some(agrees) = row.agrees {
        let _ = writeln!(
            out,
            "  run: {}",
            if agrees {
                "agrees with the evaluator"
            } else {
                "DIFFERS from the evaluator"
            }
        );
    }
}
