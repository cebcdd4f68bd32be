//! That commands do what a kernel says, at the very sizes that they are for.
//!
//! In: a kernel, sizes, the commands for them, a machine. Out: that every element of the arrays that
//! are handed over is the kernel's, for whatever memory holds; or what was not shown. Kernel and
//! commands are executed with their loops as loops by [`induction`], so it takes no longer for large
//! sizes. It knows nothing of who made the commands.

use super::program::{Amount, Command, CommandProgram, Node};
use induction::engine::Engine;
use induction::equal::equal;
use induction::linear::Linear;
use induction::procedure::Procedures;
use induction::stop::Stop;
use induction::value::Leaves;
use kernel::ast::Direction;
use kernel::index::Symbol;
use kernel::tree::{Kernel, Role};
use semantics::machine::Machine;
use smt::prover::Prover;
use std::collections::BTreeMap;

/// Steps that are made for a proof at most.
const STEPS: u64 = 4_000_000;

/// Proves a program at its sizes: in how many groups elements were compared.
///
/// # Errors
/// What was not shown.
pub fn prove(
    kernel: &Kernel,
    sizes: &BTreeMap<Symbol, i64>,
    program: &CommandProgram,
    machine: &Machine,
    prover: &Prover,
) -> Result<usize, String> {
    let kernel = &kernel.at_sizes(sizes);
    let mut leaves = Leaves::default();
    let arrays = induction::kernel::arrays(kernel).map_err(|s| s.reason())?;
    let mut engine = Engine::new(&mut leaves, arrays.clone(), 0, STEPS);
    let ran = induction::kernel::run(kernel, &kernel.body, &mut engine);
    ran.map_err(|stop| format!("the kernel: {}", stop.reason()))?;
    let t = std::time::Instant::now();
    let wanted = engine.memory();
    let mut engine = Engine::new(&mut leaves, arrays, machine.state.field_count(), STEPS);
    let procedures = Procedures::new(machine, 0);
    procedures.reset(&mut engine);
    let mut walk = Walk {
        procedures,
        vars: vec![Linear::default(); program.vars],
    };
    let ran = walk.nodes(&program.body, &mut engine);
    ran.map_err(|stop| format!("the commands: {}", stop.reason()))?;
    if std::env::var("DBG").is_ok() { eprintln!("commands {:?} steps {}", t.elapsed(), engine.steps()); }
    let t = std::time::Instant::now();
    let found = engine.memory();
    let given = |k: &usize| match kernel.arrays[*k].role {
        Role::Param(Direction::In) | Role::Local => false,
        Role::Param(_) => true,
    };
    let given = (0..kernel.arrays.len()).filter(given);
    let given: Vec<u32> = given.filter_map(|k| u32::try_from(k).ok()).collect();
    let r = equal(&mut leaves, (&wanted, &found), &given, prover);
    if std::env::var("DBG").is_ok() { eprintln!("compare {:?}", t.elapsed()); }
    r.map_err(|different| {
        let array = &kernel.arrays[different.array as usize].name;
        format!("`{array}`: {}", different.reason)
    })
}

struct Walk<'m> {
    procedures: Procedures<'m>,
    vars: Vec<Linear>,
}

impl Walk<'_> {
    fn nodes(&mut self, nodes: &[Node], engine: &mut Engine<'_>) -> Result<(), Stop> {
        nodes.iter().try_for_each(|node| match node {
            Node::Loop { var, count, body } => engine.repeat(*count, &mut |engine, k| {
                self.vars[*var] = k.clone();
                self.nodes(body, engine)
            }),
            Node::Do(command) => self.command(command, engine),
        })
    }

    fn command(&self, command: &Command, engine: &mut Engine<'_>) -> Result<(), Stop> {
        let operands = command.operands.iter().map(|a| self.amount(a));
        let operands = operands.collect::<Result<Vec<_>, _>>()?;
        self.procedures.run(command.instruction, operands, engine)
    }

    fn amount(&self, amount: &Amount) -> Result<Linear, Stop> {
        let mut sum = Linear::constant(amount.constant);
        if let Some(array) = amount.array {
            sum = sum.plus(&Linear::array(u32::try_from(array).unwrap_or(u32::MAX)))?;
        }
        for (&var, &factor) in &amount.terms {
            sum = sum.plus(&self.vars[var].times(factor)?)?;
        }
        Ok(sum)
    }
}
