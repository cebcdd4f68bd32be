//! Mapping a kernel and running it: as commands, and as a listing.

use kernel::data::{difference, fill, image, numbers};
use kernel::eval::Data;
use kernel::index::Symbol;
use kernel::tree::Kernel;
use semantics::diagnostic::{Diagnostic, render};
use semantics::machine::Machine;
use semantics::span::Source;
use sim::memory::Memory;
use sim::program::MachineProgram;
use sim::run::Simulator;
use smt::config::Config;
use smt::prover::Prover;
use std::collections::BTreeMap;
use std::path::Path;
use tile::mapped::Verdict;
use tile::systolic::code::function;
use tile::systolic::outline::Outline;
use tile::systolic::place::{Constraints, map, map_beside_host, propose};
use tile::systolic::program::CommandProgram;

pub(crate) fn gemmini() -> Machine {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../isa-specs/gemmini/manifest.yaml");
    let (machine, wrong) = spec_parser::matrix::load::load(&path).expect("our specification");
    assert!(wrong.is_empty(), "{}", render(&wrong));
    machine
}

/// The specification with edits in its manifest, which are right.
pub(crate) fn edited(edits: &[(&str, &str)]) -> Machine {
    let (machine, wrong) = reported(edits);
    assert!(wrong.is_empty(), "{}", render(&wrong));
    machine
}

/// The specification with edits in its manifest, and what is wrong with it.
pub(crate) fn reported(edits: &[(&str, &str)]) -> (Machine, Vec<Diagnostic>) {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../isa-specs/gemmini");
    let folder = tempfile::tempdir().expect("a folder");
    for entry in std::fs::read_dir(own).expect("our specification") {
        let path = entry.expect("an entry").path();
        let mut text = std::fs::read_to_string(&path).expect("a text");
        let file = path.file_name().expect("a name");
        for (from, to) in edits.iter().filter(|_| file == "manifest.yaml") {
            assert!(text.contains(from), "{from}");
            text = text.replace(from, to);
        }
        std::fs::write(folder.path().join(file), text).expect("written");
    }
    let manifest = folder.path().join("manifest.yaml");
    spec_parser::matrix::load::load(&manifest).expect("it is a manifest")
}

pub(crate) fn parse(text: &str) -> Kernel {
    let (mut kernels, wrong) = kernel::read(&Source::new("test.kernel", text));
    assert!(wrong.is_empty(), "{}", render(&wrong));
    kernels.remove(0)
}

pub(crate) fn sizes(kernel: &Kernel, values: &[i64]) -> BTreeMap<Symbol, i64> {
    kernel.sizes().zip(values.iter().copied()).collect()
}

pub(crate) fn mapped(
    machine: &Machine,
    text: &str,
    values: &[i64],
    constraints: Constraints,
) -> Result<(CommandProgram, Verdict), String> {
    let kernel = parse(text);
    let prover = Prover::new(Config::default());
    let sizes = sizes(&kernel, values);
    map(&kernel, &sizes, machine, &prover, constraints).map_err(|d| render(&d))
}

/// A program of which the host does a part, after its listing was run and compared.
pub(crate) fn beside_host(machine: &Machine, text: &str, values: &[i64]) -> CommandProgram {
    let kernel = parse(text);
    let prover = Prover::new(Config::default());
    let sizes = sizes(&kernel, values);
    let constraints = Constraints::default();
    let mapped = map_beside_host(&kernel, &sizes, machine, &prover, constraints, &|_| ());
    let ((program, ..), ()) = mapped.unwrap_or_else(|d| panic!("{}", render(&d)));
    let data = fill(&kernel, &sizes, &mut numbers(7));
    let expected = kernel::eval::run(&kernel, &data).expect("it runs");
    let (memory, addresses) = laid_out(&kernel, &program, &data);
    let mut simulator = Simulator::new(machine, memory);
    let function = function(machine, &program, &addresses).expect("a host");
    simulator.arguments(&addresses);
    let ran = simulator.run_quietly(&MachineProgram::new("t.s", function.code), 1 << 24);
    ran.unwrap_or_else(|stopped| panic!("{stopped:?}"));
    let different = wrong(&kernel, &simulator.memory, &addresses, &expected);
    assert_eq!(different, None, "{values:?}");
    program
}

/// Compares what would be proved on data of one seed.
pub(crate) fn proposal_agrees(
    machine: &Machine,
    text: &str,
    values: &[i64],
    constraints: Constraints,
) {
    let kernel = parse(text);
    let sizes = sizes(&kernel, values);
    let program = proposed(machine, &kernel, &sizes, constraints);
    let data = fill(&kernel, &sizes, &mut numbers(7));
    let expected = kernel::eval::run(&kernel, &data).expect("it runs");
    let (simulator, addresses) = simulated(machine, &kernel, &program, &data);
    let different = wrong(&kernel, &simulator.memory, &addresses, &expected);
    assert_eq!(different, None, "{values:?}, {:?}", program.choices);
    counted(machine, &kernel, &sizes, constraints, &simulator);
}

/// Cycles of the model that a proposal takes.
pub(crate) fn cycles(machine: &Machine, text: &str, values: &[i64]) -> u64 {
    let kernel = parse(text);
    let sizes = sizes(&kernel, values);
    let program = proposed(machine, &kernel, &sizes, Constraints::default());
    let data = fill(&kernel, &sizes, &mut numbers(7));
    let (simulator, _) = simulated(machine, &kernel, &program, &data);
    simulator.timeline().cycles()
}

fn proposed(
    machine: &Machine,
    kernel: &Kernel,
    sizes: &BTreeMap<Symbol, i64>,
    constraints: Constraints,
) -> CommandProgram {
    let prover = Prover::new(Config::default());
    let program = propose(kernel, sizes, machine, &prover, constraints);
    program.unwrap_or_else(|d| panic!("{}", render(&d)))
}

/// The machine after all commands, and where the arrays lie.
fn simulated<'m>(
    machine: &'m Machine,
    kernel: &Kernel,
    program: &CommandProgram,
    data: &Data,
) -> (Simulator<'m>, Vec<i64>) {
    let (memory, addresses) = laid_out(kernel, program, data);
    let mut simulator = Simulator::new(machine, memory);
    program.for_each(&addresses, &mut |at, operands| {
        if let Err(fault) = simulator.command(at, operands) {
            panic!("{:?} {:?}: {fault}", data.sizes, program.choices);
        }
    });
    (simulator, addresses)
}

/// What is counted of a choice is what its program keeps the queues busy with; configuration
/// takes a cycle each time.
fn counted(
    machine: &Machine,
    kernel: &Kernel,
    sizes: &BTreeMap<Symbol, i64>,
    constraints: Constraints,
    simulator: &Simulator,
) {
    let outline = Outline::new(kernel, sizes, machine).expect("a product");
    let busy = outline.busy(constraints.tile.expect("tiles"), constraints.plan);
    let counted = [busy.left + busy.right + busy.init, busy.array, busy.store];
    let found = simulator.timeline().busy();
    for (counted, found) in counted.into_iter().zip(found) {
        let configured = i64::try_from(found).expect("small") - counted;
        assert!(
            (0..4).contains(&configured),
            "{constraints:?} {busy:?}: {found}"
        );
    }
}

/// Memory with a kernel's arrays, and where they are.
fn laid_out(kernel: &Kernel, program: &CommandProgram, data: &Data) -> (Memory, Vec<i64>) {
    let mut addresses = Vec::new();
    let mut at = 64_i64;
    for array in &program.arrays {
        addresses.push(at);
        at += (array.bytes + 63) / 64 * 64;
    }
    let mut memory = Memory::new(usize::try_from(at).expect("small"));
    assert!(memory.put(&image(kernel, &addresses, data)));
    (memory, addresses)
}

/// An element that differs from what the evaluator gives.
fn wrong(
    kernel: &Kernel,
    memory: &Memory,
    addresses: &[i64],
    expected: &Data,
) -> Option<(String, usize)> {
    difference(kernel, addresses, expected, |at, n| memory.get(at, n))
}

/// Maps a kernel, runs it on random and edge data both ways, and compares.
pub(crate) fn agrees(machine: &Machine, text: &str, values: &[i64], tile: Option<(i64, i64)>) {
    let constraints = Constraints {
        tile,
        ..Constraints::default()
    };
    agrees_with(machine, text, values, constraints);
}

/// The same, as is asked.
pub(crate) fn agrees_with(machine: &Machine, text: &str, values: &[i64], constraints: Constraints) {
    let program = mapped(machine, text, values, constraints);
    let (program, _) = program.unwrap_or_else(|d| panic!("{d}"));
    let kernel = parse(text);
    let sizes = sizes(&kernel, values);
    for seed in 0..3 {
        let data = fill(&kernel, &sizes, &mut numbers(seed));
        let expected = kernel::eval::run(&kernel, &data).expect("it runs");
        let (memory, addresses) = laid_out(&kernel, &program, &data);
        let mut simulator = Simulator::new(machine, memory.clone());
        program.for_each(&addresses, &mut |at, operands| {
            if let Err(fault) = simulator.command(at, operands) {
                panic!("{values:?}: {fault}");
            }
        });
        let different = wrong(&kernel, &simulator.memory, &addresses, &expected);
        assert_eq!(
            different, None,
            "{values:?}, seed {seed}, {:?}",
            program.choices
        );
        if seed == 0 {
            let listed = function(machine, &program, &addresses).expect("a host");
            let listed = MachineProgram::new("mapped", listed.code);
            listed.words(machine).expect("every value has its bits");
            let mut simulator = Simulator::new(machine, memory);
            simulator.arguments(&addresses);
            if let Err(stopped) = simulator.run_quietly(&listed, u64::MAX) {
                panic!("{values:?}: {stopped:?}");
            }
            let different = wrong(&kernel, &simulator.memory, &addresses, &expected);
            assert_eq!(different, None, "the listing, {values:?}");
        }
    }
}
