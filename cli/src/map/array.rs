//! `isaforge map` for a machine with a systolic array.
//!
//! In: a kernel with its sizes. Out: code; a report of commands by kind, of configuration in
//! and outside loops, of cycles and of how busy the array is; with `--run` whether the result
//! is the evaluator's.

use super::{APART, outside};
use crate::args::{Keeps, Map, MapEmit, Outermost, Which};
use crate::auto;
use crate::status::Status;
use codegen_gen::loops::{self, Bases};
use kernel::data::{difference, fill, image, numbers};
use kernel::eval::Data;
use kernel::index::Symbol;
use kernel::tree::Kernel;
use schedule_space::systolic::Decided;
use semantics::diagnostic::Diagnostic;
use semantics::machine::Machine;
use sim::memory::Memory;
use sim::run::Simulator;
use smt::prover::Prover;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Instant;
use tile::scratch::place::{Demands, map};
use tile::scratch::plan::{Outer, Stationary};
use tile::scratch::program::LoopProgram;

/// Maps one kernel: its code, and whether it agrees.
pub(super) fn one(
    request: &Map,
    kernel: &Kernel,
    sizes: &BTreeMap<Symbol, i64>,
    machine: &Machine,
    prover: &Prover,
    report: &mut String,
) -> Result<(String, Status), Vec<Diagnostic>> {
    let decided = decided(request)?;
    let demands = match request.schedule {
        Which::Written => Demands {
            hardware_loop: request.hardware_loop,
            ..decided.demands()
        },
        Which::Auto if !tile::scratch::outline::chooses(kernel, sizes) => {
            let name = &kernel.name;
            let _ = writeln!(
                report,
                "schedule of {name}: a sum of two arrays leaves nothing to choose"
            );
            decided.demands()
        }
        Which::Auto => {
            let demanded = (decided, request.schedule_time);
            let run = |program: &LoopProgram| cycles(request, machine, program);
            auto::systolic(kernel, sizes, machine, prover, demanded, &run, report)?
        }
    };
    let start = Instant::now();
    let program = map(kernel, sizes, machine, prover, demands)?;
    let seconds = start.elapsed().as_secs_f64();
    let _ = writeln!(report, "kernel {}: mapped in {seconds:.2} s", program.name);
    for choice in &program.choices {
        let _ = writeln!(report, "  {choice}");
    }
    let (addresses, at) = placed(request, &program);
    written(machine, &program, report);
    let status = Run {
        request,
        kernel,
        sizes,
        machine,
        program: &program,
        addresses: &addresses,
    }
    .report(at, report)?;
    let diagnostics = |message: String| {
        let diagnostic = Diagnostic::error(message).at(&kernel.source, kernel.span);
        vec![diagnostic.hint("take smaller sizes, or another form with `--emit`")]
    };
    let code = match request.emit {
        MapEmit::C => {
            let version = env!("CARGO_PKG_VERSION");
            let about = format!("Made by isaforge {version} from {}.", kernel.source.name());
            loops::c(machine, &program, &[about])
        }
        MapEmit::Asm => loops::assembly(machine, &program),
        MapEmit::Listing => loops::code(machine, &program, Bases::Fixed(&addresses))
            .map(|code| codegen_gen::machine::listing(machine, &code)),
    };
    Ok((code.map_err(diagnostics)?, status))
}

/// What the arguments decide.
fn decided(request: &Map) -> Result<Decided, Vec<Diagnostic>> {
    Ok(Decided {
        tile: request.tile.as_deref().map(tile).transpose()?,
        outer: request.outer.map(|outer| match outer {
            Outermost::Columns => Outer::Columns,
            Outermost::Rows => Outer::Rows,
        }),
        buffers: request.buffers,
        stationary: request.stationary.map(|keeps| match keeps {
            Keeps::Weights => Stationary::Weights,
            Keeps::Outputs => Stationary::Outputs,
        }),
    })
}

/// Where the arrays of a program lie, and where they end.
fn placed(request: &Map, program: &LoopProgram) -> (Vec<i64>, i64) {
    let mut at = i64::from(request.address);
    let addresses = program.arrays.iter().map(|a| {
        let here = at;
        at += (a.bytes + APART - 1) / APART * APART;
        here
    });
    (addresses.collect(), at)
}

/// What a program takes, on zeros.
fn cycles(request: &Map, machine: &Machine, program: &LoopProgram) -> Result<u64, String> {
    let (addresses, end) = placed(request, program);
    let memory = Memory::new(usize::try_from(end).unwrap_or(usize::MAX));
    let (mut simulator, mut fault) = (Simulator::new(machine, memory), None);
    program.for_each(&addresses, &mut |at, operands| {
        if fault.is_none() {
            fault = simulator.command(at, operands).err();
        }
    });
    match fault {
        Some(fault) => Err(fault.message.clone()),
        None => Ok(simulator.timeline().cycles()),
    }
}

/// A fault of a command, at the statement that it is for.
fn at_statement(fault: Diagnostic, kernel: &Kernel, program: &LoopProgram) -> Diagnostic {
    match fault.place {
        None => fault.at(&kernel.source, program.span),
        Some(_) => fault,
    }
}

/// `4x2`.
fn tile(text: &str) -> Result<(i64, i64), Vec<Diagnostic>> {
    let parts = text.split_once('x');
    let parts = parts.and_then(|(a, b)| Some((a.trim().parse().ok()?, b.trim().parse().ok()?)));
    parts.filter(|(a, b)| *a > 0 && *b > 0).ok_or_else(|| {
        let message = format!("`{text}` is no tile");
        let hint = "write `--tile 4x2`: tiles of rows and of columns, at least 1";
        vec![Diagnostic::error(message).hint(hint)]
    })
}

/// The commands as they are written, and where configuration stands.
fn written(machine: &Machine, program: &LoopProgram, report: &mut String) {
    let (mut all, mut outside, mut inside) = (0, 0, 0);
    program.for_each_written(&mut |command, depth| {
        all += 1;
        if machine.instructions[command.instruction].instruction.name == "config" {
            *(if depth == 0 {
                &mut outside
            } else {
                &mut inside
            }) += 1;
        }
    });
    let _ = writeln!(
        report,
        "  written: {all} commands; configuration: {outside} outside loops, {inside} inside"
    );
}

struct Run<'a> {
    request: &'a Map,
    kernel: &'a Kernel,
    sizes: &'a BTreeMap<Symbol, i64>,
    machine: &'a Machine,
    program: &'a LoopProgram,
    addresses: &'a [i64],
}

impl Run<'_> {
    /// Runs it on random data: counts, cycles, whether it agrees when that was asked.
    fn report(&self, end: i64, report: &mut String) -> Result<Status, Vec<Diagnostic>> {
        let machine = self.machine;
        let seed = self.request.run;
        let data = fill(self.kernel, self.sizes, &mut numbers(seed.unwrap_or(0)));
        let mut memory = Memory::new(usize::try_from(end).unwrap_or(usize::MAX));
        if !memory.put(&image(self.kernel, self.addresses, &data)) {
            return Err(vec![outside(self.kernel)]);
        }
        let mut simulator = Simulator::new(machine, memory);
        let (mut times, mut fault) = (vec![0_u64; machine.instructions.len()], None);
        let start = Instant::now();
        self.program.for_each(self.addresses, &mut |at, operands| {
            times[at] += 1;
            if fault.is_none() {
                fault = simulator.command(at, operands).err();
            }
        });
        if let Some(fault) = fault {
            return Err(vec![at_statement(*fault, self.kernel, self.program)]);
        }
        let seconds = start.elapsed().as_secs_f64();
        let kinds = times.iter().enumerate().filter(|(_, n)| **n > 0);
        let kinds = kinds.map(|(k, n)| format!("{n} {}", machine.instructions[k].instruction.name));
        let kinds: Vec<String> = kinds.collect();
        let _ = writeln!(report, "  run: {}", kinds.join(", "));
        self.times(&simulator, seconds, report);
        match seed {
            Some(_) => self.compared(&simulator, &data, report),
            None => Ok(Status::Done),
        }
    }

    fn compared(
        &self,
        simulator: &Simulator<'_>,
        data: &Data,
        report: &mut String,
    ) -> Result<Status, Vec<Diagnostic>> {
        let expected = kernel::eval::run(self.kernel, data).map_err(|error| {
            let diagnostic = Diagnostic::error(format!("the evaluator stops: {error}"));
            let placed = diagnostic.at(&self.kernel.source, self.kernel.span);
            vec![placed.hint("take other sizes")]
        })?;
        let there = |at, bytes| simulator.memory.get(at, bytes);
        let agrees = difference(self.kernel, self.addresses, &expected, there).is_none();
        let (what, status) = match agrees {
            true => ("agrees with", Status::Done),
            false => ("DIFFERS from", Status::CheckFailed),
        };
        let _ = writeln!(report, "  result: {what} the evaluator");
        Ok(status)
    }

    /// Cycles in the model, how busy each queue is, how much of the array works.
    fn times(&self, simulator: &Simulator<'_>, seconds: f64, report: &mut String) {
        let timeline = simulator.timeline();
        let cycles = timeline.cycles().max(1);
        let part = |n: u64| 100.0 * n as f64 / cycles as f64;
        let busy = self.machine.state.queues.iter().zip(timeline.busy());
        let busy = busy.map(|(q, n)| format!("{} {n} ({:.1} %)", q.name, part(n)));
        let busy = busy.collect::<Vec<_>>().join(", ");
        let _ = writeln!(report, "  cycles in the model: {cycles}; busy: {busy}");
        let products = simulator.products();
        let dim = self.machine.parameter("DIM").unwrap_or(1).unsigned_abs();
        let _ = writeln!(
            report,
            "  products of the array: {products}, {:.1} % of what it can in that time; simulated \
             {:.1} million a second",
            100.0 * products as f64 / (cycles * dim * dim) as f64,
            products as f64 / seconds.max(1e-9) / 1e6
        );
    }
}
