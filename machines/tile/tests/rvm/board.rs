//! A machine with its memory, on which mapped kernels are run and compared.

use kernel::data::{difference, fill, image};
use kernel::eval::Data;
use kernel::index::Symbol;
use kernel::tree::Kernel;
use semantics::diagnostic::{Diagnostic, render};
use semantics::machine::Machine;
use semantics::random::Random;
use semantics::span::Source;
use sim::memory::Memory;
use sim::program::{MachineProgram, Setting};
use sim::retirement::{Safe, Unsafe};
use sim::run::Simulator;
use smt::config::Config;
use smt::prover::Prover;
use std::collections::BTreeMap;
use std::path::Path;
use tile::cost::{Clock, Cycles};
use tile::loop_codegen::map_loops;
use tile::program::{ArrayUse, Function, Placed};

/// Our specification of RVM.
pub(crate) fn rvm() -> Machine {
    described("rvm")
}

/// A machine of ours.
pub(crate) fn described(isa: &str) -> Machine {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../isa-specs");
    let path = folder.join(isa).join("manifest.yaml");
    let (machine, wrong) = spec_parser::matrix::load::load(&path).expect("our specification");
    assert!(wrong.is_empty(), "{}", render(&wrong));
    machine
}

/// A machine of ours whose manifest says something else; its name is that of the test's.
pub(crate) fn described_with(isa: &str, name: &str, edits: &[(&str, &str)]) -> Machine {
    let (machine, wrong) = loaded(isa, name, edits);
    assert!(wrong.is_empty(), "{}", render(&wrong));
    machine
}

/// The same, and what is wrong with it.
pub(crate) fn loaded(isa: &str, name: &str, edits: &[(&str, &str)]) -> (Machine, Vec<Diagnostic>) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../isa-specs")
        .join(isa);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("a folder for the test");
    for entry in std::fs::read_dir(from).expect("our specification") {
        let path = entry.expect("a file").path();
        let mut text = std::fs::read_to_string(&path).expect("text");
        let file = path.file_name().expect("it has a name");
        if file == "manifest.yaml" {
            for (from, to) in edits {
                assert!(text.contains(from), "the manifest says `{from}`");
                text = text.replacen(from, to, 1);
            }
        }
        std::fs::write(folder.join(file), text).expect("the test's folder can be written");
    }
    let loaded = spec_parser::matrix::load::load(&folder.join("manifest.yaml"));
    loaded.expect("the manifest is right")
}

/// The kernels of a text.
pub(crate) fn kernels(text: &str) -> Vec<Kernel> {
    let (kernels, wrong) = kernel::read(&Source::new("test.kernel", text));
    assert!(wrong.is_empty(), "{}", render(&wrong));
    kernels
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

    /// Runs code whose arrays lie at these addresses on data, and compares it with the kernel's
    /// evaluator; its words are safe in the order in which they may retire. Cycles.
    pub(crate) fn run(
        &self,
        kernel: &Kernel,
        (arrays, addresses): (&[ArrayUse], &[i64]),
        (code, start): (&[Placed], &[Setting]),
        data: &Data,
    ) -> Cycles {
        self.run_beside(kernel, (arrays, addresses), (code, start), (data, &[]))
    }

    /// The same, where memory holds something beside the data.
    pub(crate) fn run_beside(
        &self,
        kernel: &Kernel,
        (arrays, addresses): (&[ArrayUse], &[i64]),
        (code, start): (&[Placed], &[Setting]),
        (data, beside): (&Data, &[(u64, Vec<u8>)]),
    ) -> Cycles {
        let expected = kernel::eval::run(kernel, data).expect("the data fit");
        let mut memory = Memory::new(end(arrays, addresses));
        assert!(memory.put(&image(kernel, addresses, data)));
        assert!(memory.put(beside));
        let mut listed = MachineProgram::new("mapped", code.iter().cloned());
        listed.settings.extend_from_slice(start);
        let mut simulator = Simulator::new(&self.machine, memory);
        let mut clock = Clock::new(&self.machine, tile::map::in_flight(&self.machine));
        let ran = simulator.run_watched(&listed, 100_000_000, &mut |done| {
            let touched: Vec<u64> = done.touched.iter().map(|a| a.address).collect();
            clock.next(&code[done.at], done.jumps, &touched);
        });
        if let Err(stopped) = ran {
            panic!("{}: {stopped:?}", kernel.name);
        }
        let there = |at, bytes| simulator.memory.get(at, bytes);
        let wrong = difference(kernel, addresses, &expected, there);
        assert_eq!(wrong, None, "{}: {:?}", kernel.name, data.sizes);
        clock.cycles()
    }

    /// That a program with loops does on data of seeds what its kernel says, and that its words
    /// are safe in the order in which they may retire; the cycles of the last.
    pub(crate) fn agrees(
        &self,
        kernel: &Kernel,
        sizes: &BTreeMap<Symbol, i64>,
        program: &Function,
        seeds: std::ops::Range<u64>,
    ) -> Cycles {
        let arrays = (program.arrays.as_slice(), program.addresses.as_slice());
        let beside = program.image();
        let mut memory = Memory::new(end(arrays.0, arrays.1));
        assert!(memory.put(&beside));
        let order = self.order_in(&program.code, (&settings(program), memory));
        order.unwrap_or_else(|wrong| panic!("{wrong:?}"));
        let mut cycles = Cycles::default();
        for seed in seeds {
            let data = fill(kernel, sizes, &mut Random::new(seed));
            let code = (program.code.as_slice(), settings(program));
            let data = (&data, beside.as_slice());
            cycles = self.run_beside(kernel, arrays, (code.0, &code.1), data);
        }
        cycles
    }

    /// That the words of some code are safe in the order in which they may retire.
    pub(crate) fn safe(&self, code: &[Placed], at: (&[Setting], usize)) -> Safe {
        let order = self.order(code, at);
        order.unwrap_or_else(|wrong| panic!("{wrong:?}"))
    }

    /// What a check of the words of some code says; its arrays end at `end`.
    pub(crate) fn order(
        &self,
        code: &[Placed],
        (start, end): (&[Setting], usize),
    ) -> Result<Safe, Unsafe> {
        self.order_in(code, (start, Memory::new(end)))
    }

    /// The same, run in a memory.
    fn order_in(
        &self,
        code: &[Placed],
        (start, memory): (&[Setting], Memory),
    ) -> Result<Safe, Unsafe> {
        let listed = MachineProgram::new("mapped", code.iter().cloned());
        let words = listed.bytes(&self.machine).expect("values have their bits");
        let in_flight = tile::map::in_flight(&self.machine);
        let (words, at) = (("mapped", words.as_slice()), (start, memory));
        sim::retirement::check(&self.machine, words, at, in_flight, 1 << 24)
    }
}

/// The registers that hold where arrays begin.
pub(crate) fn settings(program: &Function) -> Vec<Setting> {
    let of = |&(array, register): &(usize, u32)| Setting {
        file: program.scalars,
        register,
        value: program.addresses[array],
    };
    program.arguments.iter().map(of).collect()
}

/// Where the last array ends.
pub(crate) fn end(arrays: &[ArrayUse], addresses: &[i64]) -> usize {
    let ends = arrays.iter().zip(addresses).map(|(a, at)| at + a.bytes);
    usize::try_from(ends.max().unwrap_or(0)).expect("small")
}

/// Maps a kernel with the schedule beside it; its arrays lie 64 bytes apart.
pub(crate) fn map_written(
    kernel: &Kernel,
    sizes: &BTreeMap<Symbol, i64>,
    machine: &Machine,
    prover: &Prover,
) -> Result<Function, Vec<Diagnostic>> {
    let kernel = &schedule::with_parameters(kernel, &machine.parameters);
    let scheduled = schedule::apply_at(kernel, sizes)?.scheduled();
    map_loops(&scheduled, sizes, machine, prover, (64, 64))
}
