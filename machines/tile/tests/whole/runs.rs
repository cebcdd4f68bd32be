//! Programs that are run, though they may be wrong.
//!
//! In: a board, a program, a seed. Out: whether it does what the kernel says.

use crate::board::{Board, end, settings};
use kernel::data::{difference, fill, image};
use kernel::index::Symbol;
use kernel::tree::Kernel;
use semantics::random::Random;
use sim::memory::Memory;
use sim::program::MachineProgram;
use sim::run::Simulator;
use std::collections::BTreeMap;
use tile::mapped::Code;
use tile::systolic::program::Step;

/// Instructions that are run at most.
const STEPS: u64 = 20_000_000;

/// Whether a program does what its kernel says, and why not.
pub(crate) fn agrees(
    board: &Board,
    kernel: &Kernel,
    sizes: &BTreeMap<Symbol, i64>,
    addresses: &[i64],
    code: &Code,
    seed: u64,
) -> Result<(), String> {
    let data = fill(kernel, sizes, &mut Random::new(seed));
    let expected = kernel::eval::run(kernel, &data).expect("the data fit");
    let arrays = match code {
        Code::Commands(commands, _) => &commands.arrays,
        Code::Function(function) => &function.arrays,
    };
    let mut memory = Memory::new(end(arrays, addresses));
    assert!(memory.put(&image(kernel, addresses, &data)));
    if let Code::Function(function) = code {
        assert!(memory.put(&function.image()));
    }
    let mut simulator = Simulator::new(&board.machine, memory);
    match code {
        Code::Function(function) => {
            let mut listed = MachineProgram::new("mapped", function.code.iter().cloned());
            listed.settings = settings(function);
            let ran = simulator.run_quietly(&listed, STEPS);
            ran.map_err(|stopped| format!("{stopped:?}"))?;
        }
        Code::Commands(commands, _) => {
            let mut fault = None;
            commands.for_each_step(addresses, &mut |step| {
                if fault.is_some() {
                    return;
                }
                let done = match step {
                    Step::Command(at, operands) => {
                        let done = simulator.command(at, operands);
                        done.map_err(|f| f.message)
                    }
                    Step::Host(code) => {
                        simulator.arguments(addresses);
                        let program = MachineProgram::new("host.s", code.iter().cloned());
                        let ran = simulator.run_quietly(&program, STEPS);
                        ran.map(|_| ()).map_err(|stopped| format!("{stopped:?}"))
                    }
                };
                fault = done.err();
            });
            fault.map_or(Ok(()), Err)?;
        }
    }
    let there = |at, bytes| simulator.memory.get(at, bytes);
    match difference(kernel, addresses, &expected, there) {
        Some(wrong) => Err(format!("{wrong:?}")),
        None => Ok(()),
    }
}
