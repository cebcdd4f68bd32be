//! `isaforge map` for a machine with a systolic array.
//!
//! In: a mapped kernel. Out: a report of commands by kind, of configuration in
//! and outside loops, of cycles and of how busy the array is; with `--run` whether the result
//! is the evaluator's.

use super::outside;
use super::timing::{self, Untold};
use crate::args::{Keeps, Map, Outermost};
use crate::auto;
use crate::status::Status;
use kernel::data::{difference, fill, image, numbers};
use kernel::eval::Data;
use kernel::index::Symbol;
use kernel::tree::Kernel;
use schedule_space::systolic::{Cycles, Decided};
use semantics::diagnostic::Diagnostic;
use semantics::machine::Machine;
use sim::memory::Memory;
use sim::program::MachineProgram;
use sim::run::{Simulator, Stopped};
use sim::timing::Taken;
use smt::prover::Prover;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Instant;
use tile::mapped::Request;
use tile::systolic::place::Constraints;
use tile::systolic::plan::{LoopOrder, Stationary};
use tile::systolic::program::{CommandProgram, Step};

/// Tells of a program, and runs it: whether it agrees, where that is asked for.
pub(super) fn report(
    run: &super::Run<'_>,
    commands: &CommandProgram,
    asked: &Request,
    report: &mut String,
) -> Result<Status, Vec<Diagnostic>> {
    let _ = writeln!(report, "{}", run.heading());
    for choice in &commands.choices {
        let _ = writeln!(report, "  {choice}");
    }
    written(run.machine, commands, report);
    let (_, end) = asked.placed(&commands.arrays);
    Commands { run, commands }.report(end, report)
}

/// Constraints that were searched for; `cycles` runs a program.
pub(super) fn searched(
    request: &Map,
    (kernel, sizes): (&Kernel, &BTreeMap<Symbol, i64>),
    machine: &Machine,
    prover: &Prover,
    decided: Decided,
    cycles: &Cycles<'_>,
    report: &mut String,
) -> Result<Constraints, Vec<Diagnostic>> {
    if let Some(why) = tile::systolic::outline::settled(kernel, sizes) {
        let _ = writeln!(report, "schedule of {}: {why}", kernel.name);
        return Ok(decided.constraints());
    }
    let from = (decided, request.schedule_time);
    auto::systolic(kernel, sizes, machine, prover, from, cycles, report)
}

/// What the arguments decide.
pub(super) fn decided(request: &Map) -> Result<Decided, Vec<Diagnostic>> {
    Ok(Decided {
        tile: request.tile.as_deref().map(tile).transpose()?,
        outer: request.outer.map(|outer| match outer {
            Outermost::Columns => LoopOrder::Columns,
            Outermost::Rows => LoopOrder::Rows,
        }),
        buffers: request.buffers,
        stationary: request.stationary.map(|keeps| match keeps {
            Keeps::Weights => Stationary::Weights,
            Keeps::Outputs => Stationary::Outputs,
        }),
    })
}

/// What a program takes; on zeros where that depends on data.
pub(super) fn cycles(
    machine: &Machine,
    program: &CommandProgram,
    asked: &Request,
) -> Result<u64, String> {
    let (addresses, end) = asked.placed(&program.arrays);
    match timing::figures(machine, program, &addresses) {
        Ok(taken) => return Ok(taken.cycles),
        Err(Untold::Fault(fault)) => return Err(fault.message.clone()),
        Err(Untold::Unwritten(reason)) => return Err(reason),
        Err(Untold::Runs) => {}
    }
    let memory = Memory::new(usize::try_from(end).unwrap_or(usize::MAX));
    let (mut simulator, mut fault) = (Simulator::new(machine, memory), None);
    if !program.host.is_empty() {
        let mut times = vec![0; machine.instructions.len()];
        with_host(program, &addresses, (&mut simulator, &mut times))?;
        return Ok(simulator.timeline().cycles());
    }
    each_command(machine, program, &addresses, &mut |at, operands, host| {
        if fault.is_none() {
            simulator.host(host);
            fault = simulator.command(at, operands).err();
        }
    })?;
    match fault {
        Some(fault) => Err(fault.message.clone()),
        None => Ok(simulator.timeline().cycles()),
    }
}

/// Runs a program of which the host does a part, command by command; how often each ran, and how many
/// instructions of the host did.
fn with_host(
    program: &CommandProgram,
    addresses: &[i64],
    (simulator, times): (&mut Simulator<'_>, &mut [u64]),
) -> Result<u64, String> {
    let (mut instructions, mut fault) = (0, None);
    program.for_each_step(addresses, &mut |step| {
        if fault.is_some() {
            return;
        }
        match step {
            Step::Command(at, operands) => {
                times[at] += 1;
                let done = simulator.command(at, operands);
                fault = done.err().map(|f| f.message.clone());
            }
            Step::Host(code) => {
                simulator.arguments(addresses);
                let listing = MachineProgram::new(&program.name, code.iter().cloned());
                match simulator.run_quietly(&listing, super::MOST_STEPS) {
                    Ok(counts) => instructions += counts.total(),
                    Err(Stopped::Fault(f)) => fault = Some(f.message.clone()),
                    Err(Stopped::Steps(n)) => fault = Some(format!("more than {n} steps")),
                }
            }
        }
    });
    fault.map_or(Ok(instructions), Err)
}

/// Calls `f` for each command as it runs, with its operands and the instructions of the host that
/// were run for it, which are those of the printed assembly where the model of cost has a cycle
/// for each; where it has several for a command, they are in these.
fn each_command(
    machine: &Machine,
    program: &CommandProgram,
    addresses: &[i64],
    f: &mut dyn FnMut(usize, &[i64], u64),
) -> Result<(), String> {
    if counts_host(machine) {
        return tile::systolic::code::for_each_with_host(machine, program, addresses, f);
    }
    program.for_each(addresses, &mut |at, operands| f(at, operands, 0));
    Ok(())
}

/// Whether the model of cost counts every instruction of the host.
pub(super) fn counts_host(machine: &Machine) -> bool {
    machine.issue == 1
}

/// A fault of a command, at the statement that it is for.
fn at_statement(fault: Diagnostic, kernel: &Kernel, program: &CommandProgram) -> Diagnostic {
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
fn written(machine: &Machine, program: &CommandProgram, report: &mut String) {
    let configure = machine.roles.instruction("configure");
    let (mut all, mut outside, mut inside) = (0, 0, 0);
    program.for_each_written(&mut |command, depth| {
        all += 1;
        if configure == Ok(command.instruction) {
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

struct Commands<'a> {
    run: &'a super::Run<'a>,
    commands: &'a CommandProgram,
}

impl Commands<'_> {
    /// Counts and cycles: without running it where nobody asked for that and data decide nothing.
    fn report(&self, end: i64, report: &mut String) -> Result<Status, Vec<Diagnostic>> {
        let run = self.run;
        match &run.figures {
            Some(Ok(taken)) => {
                self.reported(taken, report);
                return Ok(Status::Done);
            }
            Some(Err(Untold::Fault(fault))) => {
                return Err(vec![at_statement(
                    (**fault).clone(),
                    run.kernel,
                    self.commands,
                )]);
            }
            Some(Err(Untold::Unwritten(reason))) => return Err(self.stopped(reason.clone())),
            Some(Err(Untold::Runs)) | None => {}
        }
        self.simulated(end, report)
    }

    /// Runs it on random data: counts, cycles, whether it agrees when that was asked.
    fn simulated(&self, end: i64, report: &mut String) -> Result<Status, Vec<Diagnostic>> {
        let machine = self.run.machine;
        let seed = self.run.request.run;
        let data = fill(
            self.run.kernel,
            self.run.sizes,
            &mut numbers(seed.unwrap_or(0)),
        );
        let mut memory = Memory::new(usize::try_from(end).unwrap_or(usize::MAX));
        if !memory.put(&image(self.run.kernel, &self.run.program.addresses, &data)) {
            return Err(vec![outside(self.run.kernel)]);
        }
        let mut simulator = Simulator::new(machine, memory);
        let mut times = vec![0_u64; machine.instructions.len()];
        let start = Instant::now();
        let (addresses, mut instructions) = (&self.run.program.addresses, 0_u64);
        if self.commands.host.is_empty() {
            self.each(&mut simulator, &mut times, &mut instructions)?;
        } else {
            let ran = with_host(self.commands, addresses, (&mut simulator, &mut times));
            instructions = ran.map_err(|reason| self.stopped(reason))?;
        }
        let seconds = start.elapsed().as_secs_f64();
        let timeline = simulator.timeline();
        let taken = Taken {
            cycles: timeline.cycles(),
            busy: timeline.busy(),
            commands: times,
            host: instructions,
            products: simulator.products(),
            ..Taken::default()
        };
        self.reported(&taken, report);
        let speed = taken.products as f64 / seconds.max(1e-9) / 1e6;
        let _ = writeln!(report, "  simulated: {speed:.1} million products a second");
        match seed {
            Some(_) => self.compared(&simulator, &data, report),
            None => Ok(Status::Done),
        }
    }

    /// Runs it command by command.
    fn each(
        &self,
        simulator: &mut Simulator<'_>,
        times: &mut [u64],
        instructions: &mut u64,
    ) -> Result<(), Vec<Diagnostic>> {
        let (machine, addresses) = (self.run.machine, &self.run.program.addresses);
        let mut fault = None;
        let ran = each_command(
            machine,
            self.commands,
            addresses,
            &mut |at, operands, host| {
                times[at] += 1;
                *instructions += host + 1;
                if fault.is_none() {
                    simulator.host(host);
                    fault = simulator.command(at, operands).err();
                }
            },
        );
        ran.map_err(|reason| self.stopped(reason))?;
        match fault {
            Some(fault) => Err(vec![at_statement(*fault, self.run.kernel, self.commands)]),
            None => Ok(()),
        }
    }

    fn stopped(&self, reason: String) -> Vec<Diagnostic> {
        let kernel = self.run.kernel;
        let hint = "take another model of cost, or smaller sizes";
        let diagnostic = Diagnostic::error(reason);
        vec![diagnostic.at(&kernel.source, kernel.span).hint(hint)]
    }

    fn compared(
        &self,
        simulator: &Simulator<'_>,
        data: &Data,
        report: &mut String,
    ) -> Result<Status, Vec<Diagnostic>> {
        let expected = kernel::eval::run(self.run.kernel, data).map_err(|error| {
            let diagnostic = Diagnostic::error(format!("the evaluator stops: {error}"));
            let placed = diagnostic.at(&self.run.kernel.source, self.run.kernel.span);
            vec![placed.hint("take other sizes")]
        })?;
        let there = |at, bytes| simulator.memory.get(at, bytes);
        let agrees = difference(
            self.run.kernel,
            &self.run.program.addresses,
            &expected,
            there,
        )
        .is_none();
        let (what, status) = match agrees {
            true => ("agrees with", Status::Done),
            false => ("DIFFERS from", Status::CheckFailed),
        };
        let _ = writeln!(report, "  result: {what} the evaluator");
        Ok(status)
    }

    /// Commands by kind, cycles in the model, how busy each queue is, how much of the array works.
    fn reported(&self, taken: &Taken, report: &mut String) {
        let machine = self.run.machine;
        let kinds = taken.commands.iter().enumerate().filter(|(_, n)| **n > 0);
        let kinds = kinds.map(|(k, n)| format!("{n} {}", machine.instructions[k].instruction.name));
        let kinds: Vec<String> = kinds.collect();
        let kinds = match kinds.is_empty() {
            true => "no commands".to_owned(),
            false => kinds.join(", "),
        };
        let _ = writeln!(report, "  run: {kinds}");
        if counts_host(machine) || !self.commands.host.is_empty() {
            let _ = writeln!(report, "  instructions of the host: {}", taken.host);
        }
        let cycles = taken.cycles.max(1);
        let part = |n: u64| 100.0 * n as f64 / cycles as f64;
        let busy = machine.state.queues.iter().zip(&taken.busy);
        let busy = busy.map(|(q, n)| format!("{} {n} ({:.1} %)", q.name, part(*n)));
        let busy = busy.collect::<Vec<_>>().join(", ");
        let _ = writeln!(
            report,
            "  cycles in the model{}: {cycles}; busy: {busy}",
            super::model(machine)
        );
        let dim = machine.parameter("DIM").unwrap_or(1).unsigned_abs();
        let _ = writeln!(
            report,
            "  products of the array: {}, {:.1} % of what it can in that time",
            taken.products,
            100.0 * taken.products as f64 / (cycles * dim * dim) as f64,
        );
    }
}
