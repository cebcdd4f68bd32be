//! What becomes of a kernel on a machine.
//!
//! In: a board, a kernel with sizes. Out: [`Outcome`]; [`Table`] counts them.

use crate::board::{Board, end};
use crate::draw::Drawn;
use kernel::data::{difference, fill, image};
use kernel::index::Symbol;
use semantics::diagnostic::Diagnostic;
use semantics::random::Random;
use sim::memory::Memory;
use sim::program::MachineProgram;
use sim::run::Simulator;
use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use tile::mapped::{self, Code, Loops, MappedProgram, Request};
use tile::program::Function;
use tile::systolic::place::Constraints;
use tile::systolic::program::{CommandProgram, Step};

/// What became of a kernel.
pub(crate) enum Outcome {
    /// It runs and agrees, in so many cycles of the model; and why it is not proved at its sizes.
    Agrees {
        by: &'static str,
        cycles: u64,
        limit: Option<String>,
    },
    /// There is no program; why.
    Refused(String),
    /// It does something else, or stops.
    Wrong(String),
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Agrees { by, cycles, limit } => {
                write!(f, "agrees, by {by}, {cycles} cycles")?;
                match limit {
                    None => f.write_str(", proved"),
                    Some(why) => write!(f, ", NOT PROVED: {why}"),
                }
            }
            Outcome::Refused(reason) => write!(f, "refused: {reason}"),
            Outcome::Wrong(reason) => write!(f, "WRONG: {reason}"),
        }
    }
}

/// Maps a kernel and runs it on data of a seed; every other one with loops even where it is small.
pub(crate) fn of(board: &Board, drawn: &Drawn, seed: u64) -> Outcome {
    let loops = match seed % 2 {
        0 => Loops::Large,
        _ => Loops::Tiles(None),
    };
    let mapped = match map(board, drawn, loops) {
        Ok(mapped) => mapped,
        Err(wrong) => return Outcome::Refused(reason(&wrong)),
    };
    let ran = AssertUnwindSafe(|| match &mapped.code {
        Code::Function(function) => {
            let by = match (function.registers, mapped.untiled.is_empty()) {
                (0, true) => "the host, more cheaply",
                (0, false) => "the host, where no tile instruction does it",
                _ => "tiles",
            };
            let cycles = function_runs(board, drawn, function, seed);
            let limit = mapped.verdict.limit().map(str::to_owned);
            Outcome::Agrees { by, cycles, limit }
        }
        Code::Commands(commands, _) => commands_run(board, drawn, (&mapped, commands), seed),
    });
    catch_unwind(ran).unwrap_or_else(|_| Outcome::Wrong("a check failed, see above".to_owned()))
}

fn map(board: &Board, drawn: &Drawn, loops: Loops) -> Result<MappedProgram, Vec<Diagnostic>> {
    mapped_at(board, &schedule::apply(&drawn.kernel)?, &drawn.sizes, loops)
}

/// A program on a board whose arrays begin at 64.
pub(crate) fn mapped_at(
    board: &Board,
    scheduled: &schedule::Scheduled,
    sizes: &BTreeMap<Symbol, i64>,
    loops: Loops,
) -> Result<MappedProgram, Vec<Diagnostic>> {
    let request = Request {
        first: 64,
        apart: 64,
        loops,
        constraints: Constraints::default(),
        machine_code: false,
    };
    mapped::map(scheduled, sizes, &board.machine, &board.prover, &request)
}

/// Why there is no program, in words that are the same for all kernels of a kind.
fn reason(wrong: &[Diagnostic]) -> String {
    let first = wrong.first().map_or("", |w| w.message.as_str());
    let mut out = String::new();
    for c in first.chars() {
        match c.is_ascii_digit() {
            true if out.ends_with('#') => {}
            true => out.push('#'),
            false => out.push(c),
        }
    }
    out
}

fn function_runs(board: &Board, drawn: &Drawn, function: &Function, seed: u64) -> u64 {
    let Drawn { kernel, sizes, .. } = drawn;
    let cycles = board.agrees(kernel, sizes, function, seed..seed + 1);
    cycles.total
}

fn commands_run(
    board: &Board,
    drawn: &Drawn,
    (mapped, commands): (&MappedProgram, &CommandProgram),
    seed: u64,
) -> Outcome {
    let Drawn { kernel, sizes, .. } = drawn;
    let data = fill(kernel, sizes, &mut Random::new(seed));
    let expected = kernel::eval::run(kernel, &data).expect("the data fit");
    let addresses = &mapped.addresses;
    let mut memory = Memory::new(end(&commands.arrays, addresses));
    assert!(memory.put(&image(kernel, addresses, &data)));
    let mut simulator = Simulator::new(&board.machine, memory);
    let mut fault = None;
    commands.for_each_step(addresses, &mut |step| {
        if fault.is_some() {
            return;
        }
        let done = match step {
            Step::Command(at, operands) => simulator.command(at, operands).map_err(|f| f.message),
            Step::Host(code) => {
                simulator.arguments(addresses);
                let program = MachineProgram::new("host.s", code.iter().cloned());
                let ran = simulator.run_quietly(&program, 1 << 26);
                ran.map(|_| ()).map_err(|stopped| format!("{stopped:?}"))
            }
        };
        fault = done.err();
    });
    if let Some(fault) = fault {
        return Outcome::Wrong(fault);
    }
    let there = |at, bytes| simulator.memory.get(at, bytes);
    match difference(kernel, addresses, &expected, there) {
        Some(wrong) => Outcome::Wrong(format!("{wrong:?}")),
        None => Outcome::Agrees {
            by: match (mapped.untiled.is_empty(), commands.host.is_empty()) {
                (true, true) => "commands",
                (true, false) => "commands and the host",
                (false, _) if commands.body.is_empty() => {
                    "the host, where no tile instruction does it"
                }
                (false, _) => "commands, and the host for some statements",
            },
            cycles: simulator.timeline().cycles(),
            limit: mapped.verdict.limit().map(str::to_owned),
        },
    }
}

/// What became of many.
#[derive(Default)]
pub(crate) struct Table {
    counts: BTreeMap<(String, &'static str), u64>,
    refused: BTreeMap<String, u64>,
    proved: BTreeMap<String, u64>,
}

impl Table {
    pub(crate) fn add(&mut self, machine: &str, drawn: &Drawn, outcome: &Outcome) {
        let what = match outcome {
            Outcome::Agrees { by, limit, .. } => {
                let of = match limit {
                    None => format!("{machine}: proved"),
                    Some(why) => format!("{machine}: not proved: {why}"),
                };
                *self.proved.entry(of).or_default() += 1;
                by
            }
            Outcome::Refused(reason) => {
                let of = format!("{machine}: {}: {reason}", drawn.kind);
                *self.refused.entry(of).or_default() += 1;
                "refused"
            }
            Outcome::Wrong(_) => "WRONG",
        };
        let of = (machine.to_owned(), what);
        *self.counts.entry(of).or_default() += 1;
    }

    /// How many have tiles or commands.
    pub(crate) fn with_tiles(&self) -> u64 {
        let of = self.counts.iter();
        let of =
            of.filter(|((_, what), _)| what.starts_with("tiles") || what.starts_with("commands"));
        of.map(|(_, n)| n).sum()
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for ((machine, what), n) in &self.counts {
            writeln!(f, "{n:6}  {machine}: {what}")?;
        }
        for (what, n) in &self.proved {
            writeln!(f, "{n:6}  {what}")?;
        }
        if !self.refused.is_empty() {
            writeln!(f, "refused:")?;
        }
        for (reason, n) in &self.refused {
            writeln!(f, "{n:6}  {reason}")?;
        }
        Ok(())
    }
}
