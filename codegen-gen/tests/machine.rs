//! Programs of RVM as text, assembled by a RISC-V toolchain and read back by our encodings.

use codegen_gen::machine::{c, function, lines, listing};
use kernel::data::{difference, fill, image as image_of, numbers};
use kernel::index::Symbol;
use kernel::tree::Kernel;
use riscv::{run, there, words};
use semantics::diagnostic::render;
use semantics::machine::{Machine, OperandKind};
use semantics::random::Random;
use semantics::span::Source;
use sim::memory::Memory;
use sim::program::{MachineProgram, Setting};
use sim::run::Simulator;
use smt::config::Config;
use smt::prover::Prover;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use test_support::need;
use tile::loop_codegen::map_loops;
use tile::program::{Function, Placed, TileProgram};

mod riscv;

const TARGET: [&str; 2] = ["-march=rv32im", "-mabi=ilp32"];

fn rvm() -> Machine {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../isa-specs/rvm/manifest.yaml");
    let (machine, wrong) = spec_parser::matrix::load::load(&path).expect("our specification");
    assert!(wrong.is_empty(), "our specification is right");
    machine
}

fn built(name: &str, extension: &str, text: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let source = folder.join(name).with_extension(extension);
    let object = folder.join(format!("{name}-{extension}.o"));
    std::fs::write(&source, text).expect("the test's folder can be written");
    let (from, to) = (source.display().to_string(), object.display().to_string());
    let mut arguments = vec![TARGET[0], TARGET[1], &from, "-o", &to];
    match extension {
        "c" => {
            arguments.extend(["-O2", "-Wall", "-Werror", "-c"]);
            run("gcc", &arguments);
        }
        _ => {
            run("as", &arguments);
        }
    }
    object
}

/// Every instruction several times, with values of all kinds.
fn samples(machine: &Machine) -> Vec<Placed> {
    let mut random = Random::new(1);
    let mut code = Vec::new();
    for (k, found) in machine.instructions.iter().enumerate() {
        for round in 0..12 {
            let value = |(n, o): (usize, &semantics::machine::MachineOperand)| {
                let any = random.next_bits() as i64;
                match o.kind {
                    OperandKind::Register { file, .. } => {
                        any.rem_euclid(i64::from(machine.files[file].count))
                    }
                    OperandKind::Immediate {
                        signed,
                        width,
                        target,
                    } => {
                        let (_, low) = found.encoding.extent(n);
                        let span = 1_i64 << width;
                        let value = match round {
                            0 => span / 2 - 1,
                            1 => span / 2,
                            _ => any.rem_euclid(span),
                        };
                        let value = if signed && value >= span / 2 {
                            value - span
                        } else {
                            value
                        };
                        // Compressed forms are off: targets are multiples of a word.
                        let step = if target { 4 } else { 1 << low };
                        value.div_euclid(step) * step
                    }
                }
            };
            code.push((k, found.operands.iter().enumerate().map(value).collect()));
        }
    }
    code
}

#[test]
fn a_toolchain_reads_every_instruction_as_it_was_meant() {
    need!(there(&["as", "objdump"]));
    let machine = rvm();
    let code = samples(&machine);
    let text = lines(&machine, &code).expect("every value fits").join("\n");
    let text = format!("\t.option norvc\n\t.text\nsamples:\n{text}\n");
    let found = words(&built("samples", "s", &text));
    assert_eq!(found.len(), code.len());
    for (word, meant) in found.iter().zip(&code) {
        let shown = machine.instructions[meant.0].text(&machine, &meant.1);
        assert_eq!(
            machine.decode(*word),
            Some(meant.clone()),
            "{word:#x}: {shown}"
        );
    }
}

/// A kernel with the values of its sizes, and its program.
struct Mapped {
    kernel: Kernel,
    sizes: BTreeMap<Symbol, i64>,
    program: Function,
}

fn read(text: &str) -> Vec<Kernel> {
    let (kernels, wrong) = kernel::read(&Source::new("test.kernel", text));
    assert!(wrong.is_empty(), "{}", render(&wrong));
    kernels
}

/// The kernels of our examples without loops.
fn unrolled(machine: &Machine) -> Vec<(Mapped, TileProgram)> {
    let prover = Prover::new(Config::default());
    let examples = [
        (
            include_str!("../../examples/rvm/product.kernel"),
            [8, 12, 32],
        ),
        (
            include_str!("../../examples/rvm/product.kernel"),
            [16, 16, 160],
        ),
        (include_str!("../../examples/rvm/conv1d.kernel"), [16, 8, 3]),
        (STAGED, [0; 3]),
    ];
    let blocks = tile::loop_codegen::Blocks::of(machine, &prover);
    let mapped = |(text, values): (&str, [i64; 3])| {
        let kernel = read(text).remove(0);
        let sizes = kernel.sizes().zip(values).collect();
        let tiles = tile::map::map((&scheduled(&kernel), &blocks), &sizes, machine, &prover);
        let tiles = tiles.unwrap_or_else(|wrong| panic!("{}", render(&wrong)));
        let mut at = 64;
        let place = |a: &tile::program::ArrayUse| {
            let here = at;
            at += (a.bytes + 63) / 64 * 64;
            here
        };
        let addresses: Vec<i64> = tiles.arrays.iter().map(place).collect();
        let program = tiles.place(machine, &addresses).expect("it has scalars");
        let mapped = Mapped {
            kernel,
            sizes,
            program,
        };
        (mapped, tiles)
    };
    examples.into_iter().map(mapped).collect()
}

/// A product that goes through an array of its own.
const STAGED: &str =
    "kernel staged(a: in i32[4, 8], b: in i32[4, 8], d: in i32[4, 4], c: out i32[4, 4]) {
  var t: i32[4, 4];
  for i in 0..4 { for j in 0..4 { t[i, j] = 0; } }
  for i in 0..4 { for j in 0..4 { for p in 0..4 { t[i, j] += a[i, p] * b[j, p]; } } }
  for i in 0..4 { for j in 0..4 { c[i, j] = 0; } }
  for i in 0..4 { for j in 0..4 { for p in 0..4 { c[i, j] += t[i, p] * d[j, p]; } } }
}";

#[test]
fn c_has_the_tile_instructions_in_order() {
    need!(there(&["gcc", "objdump"]));
    let machine = rvm();
    for (mapped, tiles) in unrolled(&machine) {
        let text = c(&machine, &mapped.program, &[])
            .expect("it has a form")
            .to_string();
        let is_tile = |k: usize| tiles.steps.iter().any(|s| s.instruction == k);
        let found: Vec<Placed> = words(&built(&mapped.program.name, "c", &text))
            .into_iter()
            .filter_map(|word| machine.decode(word))
            .filter(|(k, _)| is_tile(*k))
            .collect();
        assert_eq!(found.len(), tiles.steps.len());
        for ((k, values), step) in found.iter().zip(&tiles.steps) {
            assert_eq!(*k, step.instruction);
            for &(operand, register) in &step.tiles {
                assert_eq!(values[operand], register as i64, "{step:?}");
            }
        }
    }
}

/// A kernel with its schedule applied.
fn scheduled(kernel: &Kernel) -> schedule::Scheduled {
    schedule::apply(kernel).unwrap_or_else(|wrong| panic!("{}", render(&wrong)))
}

/// The case study's kernels with their loops.
fn study(machine: &Machine) -> Vec<Mapped> {
    let prover = Prover::new(Config::default());
    let mapped = |kernel: Kernel| {
        let sizes = kernel.sizes().zip([16, 8, 2]).collect();
        let named = schedule::with_parameters(&kernel, &machine.parameters);
        let scheduled = schedule::apply_at(&named, &sizes).map(schedule::At::scheduled);
        let scheduled = scheduled.unwrap_or_else(|wrong| panic!("{}", render(&wrong)));
        let program = map_loops(&scheduled, &sizes, machine, &prover, (64, 64));
        let program = program.unwrap_or_else(|wrong| panic!("{}", render(&wrong)));
        Mapped {
            kernel,
            sizes,
            program,
        }
    };
    let kernels = read(include_str!("../../examples/rvm/case_study.kernel"));
    kernels.into_iter().map(mapped).collect()
}

/// A function in C that calls a function with its own arguments.
fn caller(program: &Function) -> String {
    let arrays = program.arguments.iter().map(|a| &program.arrays[a.0]);
    let handed = arrays.filter(|a| !a.made).count();
    let list = |each: &str| {
        let all: Vec<String> = (0..handed)
            .map(|k| each.replace('#', &k.to_string()))
            .collect();
        all.join(", ")
    };
    let (types, given) = (list("void *p#"), list("p#"));
    let name = &program.name;
    format!("void {name}({types});\nvoid caller({types}) {{ {name}({given}); }}\n")
}

/// Calls a function of an object file from C in the simulator: arrays of the kernel lie where the
/// program has them, what the object has besides lies behind them. The kernel's results must be
/// the evaluator's, and registers that belong to the caller what they were.
fn called(machine: &Machine, object: &Path, mapped: &Mapped) {
    const DATA: i64 = 0x8000;
    const STACK: i64 = 0xf000;
    let Mapped {
        kernel,
        sizes,
        program,
    } = mapped;
    let calls = built(&format!("{}-calls", program.name), "c", &caller(program));
    let (linked, image) = (object.with_extension("elf"), object.with_extension("bin"));
    let path = |p: &Path| p.display().to_string();
    let places = ["-Ttext=0", "-Tbss=0x8000", "-e0", "-melf32lriscv"];
    let files = [&path(&calls), &path(object), "-o", &path(&linked)];
    run("ld", &[&places[..], &files[..]].concat());
    let only = ["-O", "binary", "-j", ".text"];
    run(
        "objcopy",
        &[&only[..], &[&path(&linked), &path(&image)]].concat(),
    );
    let words = std::fs::read(&image).expect("it was written");
    let mut code = MachineProgram::from_words(machine, "linked", &words)
        .unwrap_or_else(|wrong| panic!("{}: {}", program.name, render(&wrong)));
    let data = fill(kernel, sizes, &mut numbers(1));
    let expected = kernel::eval::run(kernel, &data).expect("it runs");
    let mut memory = Memory::new(0x1_0000);
    assert!(memory.put(&image_of(kernel, &program.addresses, &data)));
    let abi = machine.abi.as_ref().expect("a convention");
    let mut before = BTreeMap::from([(abi.stack, STACK)]);
    for (k, register) in abi.saved.iter().chain(&abi.frame).enumerate() {
        before.insert(*register, 0x5a5a_0000 + 7 * k as i64);
    }
    let mut start = before.clone();
    // It returns to behind its last instruction, and there the program ends.
    start.insert(abi.link, words.len() as i64);
    let handed = program
        .arguments
        .iter()
        .filter(|a| !program.arrays[a.0].made);
    for (&(array, _), register) in handed.zip(&abi.arguments) {
        assert!(program.addresses[array] + program.arrays[array].bytes <= DATA);
        start.insert(*register, program.addresses[array]);
    }
    code.settings = start
        .into_iter()
        .map(|(register, value)| Setting {
            file: abi.file,
            register,
            value,
        })
        .collect();
    let mut simulator = Simulator::new(machine, memory);
    if let Err(stopped) = simulator.run_quietly(&code, 1_000_000) {
        panic!("{}: {stopped:?}", program.name);
    }
    let there = |at, bytes| simulator.memory.get(at, bytes);
    let wrong = difference(kernel, &program.addresses, &expected, there);
    assert_eq!(wrong, None, "{}", program.name);
    for (register, value) in before {
        let now = simulator.get(abi.file, register).map(|b| b.low_u64());
        let name = machine.files[abi.file].name_of(register);
        assert_eq!(now, Some(value as u64), "{name} in {}", program.name);
    }
}

/// The words that were meant are there, one behind the other.
fn holds_as_meant(machine: &Machine, found: &[u64], program: &Function) {
    let meant = MachineProgram::new("meant", program.code.iter().cloned());
    let meant = meant.words(machine).expect("values have their bits");
    let first = found.windows(meant.len()).position(|w| w == meant);
    let first = first.unwrap_or_else(|| panic!("{}", program.name));
    for (word, code) in found[first..].iter().zip(&program.code) {
        assert_eq!(
            machine.decode(*word).as_ref(),
            Some(code),
            "{}",
            program.name
        );
    }
}

/// All programs, with loops and without.
fn all(machine: &Machine) -> Vec<Mapped> {
    let unrolled = unrolled(machine).into_iter().map(|m| m.0);
    unrolled.chain(study(machine)).collect()
}

#[test]
fn functions_in_assembly_are_called_from_c_and_keep_registers() {
    need!(there(&["gcc", "as", "objdump", "ld", "objcopy"]));
    let machine = rvm();
    for mapped in all(&machine) {
        let program = &mapped.program;
        let text = function(&machine, program).expect("every value fits");
        let object = built(&program.name, "s", &text);
        holds_as_meant(&machine, &words(&object), program);
        called(&machine, &object, &mapped);
    }
}

#[test]
fn functions_in_c_have_the_same_arguments_and_keep_registers() {
    need!(there(&["gcc", "objdump", "ld", "objcopy"]));
    let machine = rvm();
    for mapped in all(&machine) {
        let program = &mapped.program;
        let text = c(&machine, program, &[])
            .expect("every value fits")
            .to_string();
        let object = built(&program.name, "c", &text);
        holds_as_meant(&machine, &words(&object), program);
        called(&machine, &object, &mapped);
    }
}

#[test]
fn buffers_of_the_schedule_are_no_arguments() {
    let machine = rvm();
    for mapped in all(&machine) {
        let program = &mapped.program;
        let made: Vec<&str> = program
            .arguments
            .iter()
            .map(|a| &program.arrays[a.0])
            .filter(|a| a.made)
            .map(|a| a.name.as_str())
            .collect();
        let assembly = function(&machine, program).expect("every value fits");
        let c = c(&machine, program, &[])
            .expect("every value fits")
            .to_string();
        let parameters = c.split_once("void ").and_then(|c| c.1.split_once(") {"));
        let parameters = parameters.expect("a function").0;
        for name in &made {
            assert!(!parameters.ends_with(&format!("*{name}")), "{parameters}");
            assert!(
                assembly.contains(&format!(".local {}.{name}", program.name)),
                "{assembly}"
            );
        }
        assert_eq!(
            assembly.matches(" bytes\n").count(),
            parameters.matches('*').count()
        );
    }
    assert!(all(&machine).iter().any(|m| {
        m.program
            .arguments
            .iter()
            .any(|a| m.program.arrays[a.0].made)
    }));
}

#[test]
fn a_listing_is_the_text_of_the_instructions() {
    let machine = rvm();
    let code = unrolled(&machine).remove(0).0.program.code;
    let text = listing(&machine, &code);
    assert_eq!(text.lines().count(), code.len());
    assert!(text.contains("\nmmaqa.b m"), "{text}");
}
