//! That a program does what a kernel says, at the very sizes that it is for.
//!
//! In: a kernel, sizes, commands or machine code for them, a machine. Out: that every element of the
//! arrays that are handed over is the kernel's, for whatever memory holds; or what was not shown. Kernel
//! and program are executed with their loops as loops by [`induction`], so it takes no longer for large
//! sizes. It starts from what is written out in the end, and knows nothing of who made it.

use crate::program::{ArrayUse, Function};
use crate::systolic::program::{Amount, Command, CommandNode, CommandProgram};
use induction::Array;
use induction::code::{Code, places};
use induction::engine::Engine;
use induction::equal::{Memory, equal};
use induction::linear::Linear;
use induction::procedure::Procedures;
use induction::stop::Stop;
use induction::value::{Leaves, Value};
use kernel::ast::Direction;
use kernel::index::Symbol;
use kernel::tree::{Kernel, Role};
use semantics::machine::Machine;
use smt::prover::Prover;
use std::collections::BTreeMap;

/// Steps that are made for a proof at most.
const STEPS: u64 = 4_000_000;

/// What was not shown.
struct Failed {
    why: String,
    /// Whether there were loops of which it is not known what they leave.
    lost: bool,
}

/// A kernel whose programs are proved.
struct Wanted<'k> {
    kernel: &'k Kernel,
    /// Whether such loops are executed round by round.
    stepping: bool,
    lost: bool,
    leaves: Leaves,
    arrays: Vec<Array>,
    memory: Memory,
}

/// What a kernel, whose sizes are numbers, leaves: its arrays, what they hold, whether loops were lost.
fn left(
    kernel: &Kernel,
    stepping: bool,
    leaves: &mut Leaves,
) -> Result<(Vec<Array>, Memory, bool), Failed> {
    let arrays = induction::kernel::arrays(kernel);
    let arrays = arrays.map_err(|stop| Failed {
        why: stop.reason(),
        lost: false,
    })?;
    let mut engine = Engine::new(leaves, arrays.clone(), 0, STEPS).stepping(stepping);
    let ran = induction::kernel::run(kernel, &kernel.body, &mut engine);
    let lost = engine.lost();
    ran.map_err(|stop| Failed {
        why: format!("the kernel: {}", stop.reason()),
        lost,
    })?;
    Ok((arrays, engine.memory(), lost))
}

impl<'k> Wanted<'k> {
    /// What a kernel leaves.
    fn of(kernel: &'k Kernel, stepping: bool) -> Result<Wanted<'k>, Failed> {
        let mut leaves = Leaves::default();
        let (arrays, memory, lost) = left(kernel, stepping, &mut leaves)?;
        Ok(Wanted {
            kernel,
            stepping,
            lost,
            leaves,
            arrays,
            memory,
        })
    }

    /// Compares it with what something else leaves.
    fn compared(mut self, found: &Memory, prover: &Prover) -> Result<usize, Failed> {
        let lost = self.lost;
        let given = |k: &usize| match self.kernel.arrays[*k].role {
            Role::Param(Direction::In) | Role::Local => false,
            Role::Param(_) => true,
        };
        let given = (0..self.kernel.arrays.len()).filter(given);
        let given: Vec<u32> = given.filter_map(|k| u32::try_from(k).ok()).collect();
        let compared = equal(&mut self.leaves, (&self.memory, found), &given, prover);
        compared.map_err(|different| {
            let array = &self.kernel.arrays[different.array as usize].name;
            let why = format!("`{array}`: {}", different.reason);
            Failed { why, lost }
        })
    }

    /// Proves what runs with its arrays, of which the first are the kernel's.
    fn proved(
        mut self,
        used: &[ArrayUse],
        machine: &Machine,
        prover: &Prover,
        run: &mut dyn FnMut(&mut Engine<'_>) -> Result<(), Stop>,
        held: &dyn Fn(usize) -> Option<Vec<u8>>,
    ) -> Result<usize, Failed> {
        let mut arrays = Vec::new();
        for (k, array) in used.iter().enumerate() {
            arrays.push(match self.arrays.get(k) {
                // What nothing was written to holds anything.
                Some(known) => Array {
                    given: true,
                    ..known.clone()
                },
                // One of the program's own.
                None => Array {
                    bits: array.bits,
                    elements: array.bytes * 8 / i64::from(array.bits),
                    given: true,
                    written: array.made && held(k).is_none(),
                    holds: held(k),
                },
            });
        }
        let engine = Engine::new(&mut self.leaves, arrays, places(machine), STEPS);
        let mut engine = engine.stepping(self.stepping);
        Procedures::new(machine, 0).reset(&mut engine);
        let ran = run(&mut engine);
        let lost = self.lost || engine.lost();
        ran.map_err(|stop| Failed {
            why: format!("the program: {}", stop.reason()),
            lost,
        })?;
        let found = engine.memory();
        self.lost = lost;
        self.compared(&found, prover)
    }
}

/// Proves a program with its loops as loops; where it is not known what some of them leave, with
/// these round by round.
fn tried(
    kernel: &Kernel,
    prove: &mut dyn FnMut(Wanted<'_>) -> Result<usize, Failed>,
) -> Result<usize, String> {
    let mut once = |stepping| Wanted::of(kernel, stepping).and_then(&mut *prove);
    match once(false) {
        Ok(groups) => Ok(groups),
        Err(failed) if failed.lost => once(true).map_err(|_| failed.why),
        Err(failed) => Err(failed.why),
    }
}

/// Proves that two kernels with the same arrays leave the same in them at some sizes: in how many groups
/// elements were compared.
///
/// # Errors
/// What was not shown.
pub fn alike(
    kernel: &Kernel,
    other: &Kernel,
    sizes: &BTreeMap<Symbol, i64>,
    prover: &Prover,
) -> Result<usize, String> {
    let (kernel, other) = (&kernel.at_sizes(sizes), &other.at_sizes(sizes));
    tried(kernel, &mut |mut wanted| {
        let (_, found, lost) = left(other, wanted.stepping, &mut wanted.leaves)?;
        wanted.lost |= lost;
        wanted.compared(&found, prover)
    })
}

/// Proves commands, with the host's code among them, at their sizes: in how many groups elements were
/// compared.
///
/// # Errors
/// What was not shown.
pub fn commands(
    kernel: &Kernel,
    sizes: &BTreeMap<Symbol, i64>,
    program: &CommandProgram,
    machine: &Machine,
    prover: &Prover,
) -> Result<usize, String> {
    let kernel = &kernel.at_sizes(sizes);
    tried(kernel, &mut |wanted| {
        let mut walk = Walk {
            machine,
            vars: vec![Linear::default(); program.vars],
        };
        let mut run = |engine: &mut Engine<'_>| walk.program(program, engine);
        wanted.proved(&program.arrays, machine, prover, &mut run, &|_| None)
    })
}

/// Proves a function at its sizes: in how many groups elements were compared.
///
/// # Errors
/// What was not shown.
pub fn function(
    kernel: &Kernel,
    sizes: &BTreeMap<Symbol, i64>,
    function: &Function,
    machine: &Machine,
    prover: &Prover,
) -> Result<usize, String> {
    let kernel = &kernel.at_sizes(sizes);
    let held = |k: usize| {
        let constant = function.constants.iter().find(|c| c.array == k);
        constant.map(|c| c.bytes.clone())
    };
    tried(kernel, &mut |wanted| {
        let mut run = |engine: &mut Engine<'_>| called(function, machine, engine);
        wanted.proved(&function.arrays, machine, prover, &mut run, &held)
    })
}

/// Runs a function that is called with its arrays.
fn called(function: &Function, machine: &Machine, engine: &mut Engine<'_>) -> Result<(), Stop> {
    let code = Code::new(machine, &function.code, machine.state.relaxed);
    for &(array, register) in &function.arguments {
        let at = code.register(function.scalars, register);
        engine.set_place(at, Value::Known(Linear::array(number(array))));
    }
    code.run(engine)
}

/// Proves that a function performs the commands of a program, in their order, and nothing beside them; so
/// it leaves what they leave.
///
/// # Errors
/// What was not shown.
pub fn performs(
    function: &Function,
    program: &CommandProgram,
    machine: &Machine,
) -> Result<(), String> {
    let mut leaves = Leaves::default();
    let mut recorded = |run: &mut dyn FnMut(&mut Engine<'_>) -> Result<(), Stop>| {
        let engine = Engine::new(&mut leaves, Vec::new(), places(machine), STEPS);
        let mut engine = engine.recording();
        run(&mut engine).map(|()| engine.trace())
    };
    let mut walk = Walk {
        machine,
        vars: vec![Linear::default(); program.vars],
    };
    let commands = recorded(&mut |engine| walk.program(program, engine));
    let code = recorded(&mut |engine| called(function, machine, engine));
    let same = code.and_then(|code| code.follows(&commands?));
    match same.map_err(|stop| stop.reason())? {
        true => Ok(()),
        false => Err("its commands are others".to_owned()),
    }
}

fn number(k: usize) -> u32 {
    u32::try_from(k).unwrap_or(u32::MAX)
}

struct Walk<'m> {
    machine: &'m Machine,
    vars: Vec<Linear>,
}

impl Walk<'_> {
    fn program(&mut self, program: &CommandProgram, engine: &mut Engine<'_>) -> Result<(), Stop> {
        for at in 0..=program.body.len() {
            for host in program.host.iter().filter(|h| h.before == at) {
                let code = Code::new(self.machine, &host.code, self.machine.state.relaxed);
                self.arguments(program.arrays.len(), &code, engine)?;
                code.run(engine)?;
            }
            let node = program.body.get(at..=at).unwrap_or_default();
            self.nodes(node, engine)?;
        }
        Ok(())
    }

    /// The registers of arguments hold where arrays begin.
    fn arguments(
        &self,
        arrays: usize,
        code: &Code<'_>,
        engine: &mut Engine<'_>,
    ) -> Result<(), Stop> {
        let machine = self.machine;
        let scalars =
            |f: &semantics::machine::RegisterFile| f.zero.is_some() && f.width == machine.address;
        let file = machine.files.iter().position(scalars);
        let (Some(file), Some(abi)) = (file, &machine.abi) else {
            return Err(Stop::because("nobody says how functions are called"));
        };
        for (array, &register) in (0..arrays).zip(&abi.arguments) {
            let at = code.register(file, register);
            engine.set_place(at, Value::Known(Linear::array(number(array))));
        }
        Ok(())
    }

    fn nodes(&mut self, nodes: &[CommandNode], engine: &mut Engine<'_>) -> Result<(), Stop> {
        nodes.iter().try_for_each(|node| match node {
            CommandNode::Loop { var, count, body } => engine.repeat(*count, &mut |engine, k| {
                self.vars[*var] = k.clone();
                self.nodes(body, engine)
            }),
            CommandNode::Do(command) => self.command(command, engine),
        })
    }

    fn command(&self, command: &Command, engine: &mut Engine<'_>) -> Result<(), Stop> {
        let operands = command.operands.iter().map(|a| self.amount(a));
        let operands = operands.collect::<Result<Vec<_>, _>>()?;
        Procedures::new(self.machine, 0).run(command.instruction, operands, engine)
    }

    fn amount(&self, amount: &Amount) -> Result<Linear, Stop> {
        let mut sum = Linear::constant(amount.constant);
        if let Some(array) = amount.array {
            sum = sum.plus(&Linear::array(number(array)))?;
        }
        for (&var, &factor) in &amount.terms {
            sum = sum.plus(&self.vars[var].times(factor)?)?;
        }
        Ok(sum)
    }
}
