//! A machine with its memory, on which mapped kernels are run and compared.

use kernel::data::fill;
use kernel::index::Symbol;
use kernel::tree::Kernel;
use semantics::machine::Machine;
use semantics::random::Random;
use semantics::span::{Source, Span};
use sim::memory::Memory;
use sim::program::{Placed, Program};
use sim::run::Simulator;
use smt::config::Config;
use smt::prover::Prover;
use std::collections::BTreeMap;
use std::path::Path;
use tile::cost::{Clock, Cycles};
use tile::looped::LoopProgram;

/// Our specification of RVM.
pub(crate) fn rvm() -> Machine {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../isa-specs/rvm/manifest.yaml");
    let (machine, wrong) = spec_parser::matrix::load::load(&path).expect("our specification");
    assert!(wrong.is_empty(), "our specification is right");
    machine
}

/// A machine and a prover.
pub(crate) struct Board {
    pub(crate) machine: Machine,
    pub(crate) prover: Prover,
}

impl Board {
    pub(crate) fn new(machine: Machine) -> Board {
        Board {
            machine,
            prover: Prover::new(Config::default()),
        }
    }

    /// Runs a program on data of a seed and compares it with the kernel's evaluator; cycles.
    pub(crate) fn run(
        &self,
        kernel: &Kernel,
        sizes: &BTreeMap<Symbol, i64>,
        program: &LoopProgram,
        seed: u64,
    ) -> Cycles {
        let data = fill(kernel, sizes, &mut Random::new(seed));
        let expected = kernel::eval::run(kernel, &data).expect("the data fit");
        let ends = program.arrays.iter().zip(&program.addresses);
        let size = ends.map(|(a, at)| at + a.bytes).max().unwrap_or(0);
        let mut memory = Memory::new(usize::try_from(size).expect("small"));
        for (array, &address) in kernel.arrays.iter().zip(&program.addresses) {
            let bytes = array.elem.bits() as usize / 8;
            for (k, value) in data.arrays[&array.name].iter().enumerate() {
                let place = memory.get_mut(address as u64 + (k * bytes) as u64, bytes);
                place
                    .expect("inside")
                    .copy_from_slice(&value.to_le_bytes()[..bytes]);
            }
        }
        let code = program.code.iter().map(|(instruction, values)| Placed {
            instruction: *instruction,
            values: values.clone(),
            span: Span::default(),
        });
        let listed = Program {
            source: Source::new("mapped", ""),
            code: code.collect(),
            settings: Vec::new(),
        };
        listed
            .words(&self.machine)
            .expect("every value has its bits");
        let mut simulator = Simulator::new(&self.machine, memory);
        let mut clock = Clock::new(&self.machine, tile::map::in_flight(&self.machine));
        let mut last: Option<usize> = None;
        let ran = simulator.run_watched(&listed, 100_000_000, &mut |at| {
            if let Some(before) = last {
                clock.next(&program.code[before], at != before + 1);
            }
            last = Some(at);
        });
        if let Err(stopped) = ran {
            panic!("{}: {stopped:?}", kernel.name);
        }
        for (array, &address) in kernel.arrays.iter().zip(&program.addresses) {
            let bytes = array.elem.bits() as usize / 8;
            for (k, value) in expected.arrays[&array.name].iter().enumerate() {
                let place = address as u64 + (k * bytes) as u64;
                let there = simulator.memory.get(place, bytes).expect("inside");
                assert_eq!(
                    there,
                    &value.to_le_bytes()[..bytes],
                    "{}: {}[{k}], {sizes:?}, seed {seed}",
                    kernel.name,
                    array.name
                );
            }
        }
        clock.cycles()
    }
}
