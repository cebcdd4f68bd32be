//! Programs of RVM as text, assembled by a RISC-V toolchain and read back by our encodings.

use codegen_gen::machine::{assembly, c, c_with_loops, function, listing};
use kernel::data::{difference, fill, image as image_of, numbers};
use kernel::index::Symbol;
use kernel::tree::Kernel;
use riscv::{run, there, words};
use semantics::diagnostic::render;
use semantics::machine::{Machine, OperandKind};
use semantics::random::Random;
use semantics::span::Source;
use sim::memory::Memory;
use sim::program::{Program, Setting};
use sim::run::Simulator;
use smt::config::Config;
use smt::prover::Prover;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use test_support::need;
use tile::looped::{LoopProgram, map_loops};
use tile::program::{Placed, TileProgram};

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

/// An int8 product of 8 by 8 by 32.
fn product(machine: &Machine) -> TileProgram {
    let text = "kernel product(a: in i8[8, 32], b: in i8[8, 32], c: out i32[8, 8]) {
      for i in 0..8 step 4 { for j in 0..8 step 4 {
        for ii in 0..4 { for jj in 0..4 { c[i + ii, j + jj] = 0; } }
        for p in 0..32 step 16 {
          for ii in 0..4 { for jj in 0..4 { for pp in 0..16 {
            c[i + ii, j + jj] += i32(a[i + ii, p + pp]) * i32(b[j + jj, p + pp]);
          } } }
        }
      } }
    }";
    let (kernels, wrong) = kernel::read(&Source::new("product.kernel", text));
    assert!(
        wrong.is_empty(),
        "{}",
        semantics::diagnostic::render(&wrong)
    );
    let prover = Prover::new(Config::default());
    tile::map::map(&kernels[0], &Default::default(), machine, &prover)
        .unwrap_or_else(|wrong| panic!("{}", semantics::diagnostic::render(&wrong)))
}

#[test]
fn a_toolchain_reads_every_instruction_as_it_was_meant() {
    need!(there(&["as", "objdump"]));
    let machine = rvm();
    let code = samples(&machine);
    let text = assembly(&machine, "samples", &code).expect("every value fits");
    let found = words(&built("samples", "s", &text));
    assert_eq!(found.len(), code.len() + 1, "the last is the return");
    for (word, meant) in found.iter().zip(&code) {
        let shown = machine.instructions[meant.0].text(&machine, &meant.1);
        assert_eq!(
            machine.decode(*word),
            Some(meant.clone()),
            "{word:#x}: {shown}"
        );
    }
}

#[test]
fn a_mapped_kernel_survives_the_assembler() {
    need!(there(&["as", "objdump"]));
    let machine = rvm();
    let program = product(&machine);
    let code = program
        .place(&machine, &[0x1000, 0x2000, 0x12340])
        .expect("it has scalars");
    let text = assembly(&machine, &program.name, &code).expect("every value fits");
    let found: Vec<Option<Placed>> = words(&built("product", "s", &text))
        .into_iter()
        .map(|word| machine.decode(word))
        .collect();
    let meant: Vec<Option<Placed>> = code.into_iter().map(Some).collect();
    assert_eq!(found[..meant.len()], meant[..]);
}

#[test]
fn c_has_the_tile_instructions_in_order() {
    need!(there(&["gcc", "objdump"]));
    let machine = rvm();
    let program = product(&machine);
    let text = c(&machine, &program, &[]).expect("it has a form");
    let is_tile = |k: usize| program.steps.iter().any(|s| s.instruction == k);
    let found: Vec<Placed> = words(&built("product", "c", &text))
        .into_iter()
        .filter_map(|word| machine.decode(word))
        .filter(|(k, _)| is_tile(*k))
        .collect();
    assert_eq!(found.len(), program.steps.len());
    for ((k, values), step) in found.iter().zip(&program.steps) {
        assert_eq!(*k, step.instruction);
        for &(operand, register) in &step.tiles {
            assert_eq!(values[operand], register as i64, "{step:?}");
        }
    }
}

/// The case study's kernels with their loops.
fn study(machine: &Machine) -> Vec<(Kernel, LoopProgram)> {
    let text = include_str!("../../examples/rvm/case_study.kernel");
    let (kernels, wrong) = kernel::read(&Source::new("case_study.kernel", text));
    assert!(wrong.is_empty(), "{}", render(&wrong));
    let prover = Prover::new(Config::default());
    let mapped = |kernel: Kernel| {
        let sizes = sizes(&kernel);
        let program = map_loops(&kernel, &sizes, machine, &prover, (64, 64));
        let program = program.unwrap_or_else(|wrong| panic!("{}", render(&wrong)));
        (kernel, program)
    };
    kernels.into_iter().map(mapped).collect()
}

fn sizes(kernel: &Kernel) -> BTreeMap<Symbol, i64> {
    kernel.sizes().zip([16, 8, 2]).collect()
}

/// Calls a function of an object file in the simulator: arrays lie where the program has them,
/// what the object has besides lies behind them. The kernel's results must be the evaluator's.
fn called(machine: &Machine, object: &Path, kernel: &Kernel, program: &LoopProgram) {
    const DATA: i64 = 0x8000;
    const STACK: i64 = 0xf000;
    let (linked, image) = (object.with_extension("elf"), object.with_extension("bin"));
    let path = |p: &Path| p.display().to_string();
    let places = ["-Ttext=0", "-Tbss=0x8000", "-e0", "-melf32lriscv"];
    let files = [&path(object), "-o", &path(&linked)];
    run("ld", &[&places[..], &files[..]].concat());
    let only = ["-O", "binary", "-j", ".text"];
    run(
        "objcopy",
        &[&only[..], &[&path(&linked), &path(&image)]].concat(),
    );
    let words = std::fs::read(&image).expect("it was written");
    let mut code = Program::from_words(machine, "linked", &words)
        .unwrap_or_else(|wrong| panic!("{}: {}", program.name, render(&wrong)));
    let data = fill(kernel, &sizes(kernel), &mut numbers(1));
    let expected = kernel::eval::run(kernel, &data).expect("it runs");
    let mut memory = Memory::new(0x1_0000);
    assert!(memory.put(&image_of(kernel, &program.addresses, &data)));
    let file = &machine.files[program.scalars];
    let mut set = |name: &str, value: i64| {
        let register = file.number_of(name).expect("a register");
        code.settings.push(Setting {
            file: program.scalars,
            register,
            value,
        });
    };
    for (k, &(array, _)) in program.arguments.iter().enumerate() {
        assert!(program.addresses[array] + program.arrays[array].bytes <= DATA);
        set(&format!("a{k}"), program.addresses[array]);
    }
    set("sp", STACK);
    // It returns to behind its last instruction, and there the program ends.
    set("ra", words.len() as i64);
    let mut simulator = Simulator::new(machine, memory);
    if let Err(stopped) = simulator.run_quietly(&code, 1_000_000) {
        panic!("{}: {stopped:?}", program.name);
    }
    let there = |at, bytes| simulator.memory.get(at, bytes);
    let wrong = difference(kernel, &program.addresses, &expected, there);
    assert_eq!(wrong, None, "{}", program.name);
    let sp = file.number_of("sp").expect("a register");
    let sp = simulator.get(program.scalars, sp).map(|b| b.low_u64());
    assert_eq!(sp, Some(STACK as u64), "{}", program.name);
}

/// The words that were meant are there, one behind the other.
fn holds_as_meant(machine: &Machine, found: &[u64], program: &LoopProgram) {
    let meant = Program::new("meant", program.code.iter().cloned());
    let meant = meant.words(machine).expect("values have their bits");
    assert!(
        found.windows(meant.len()).any(|w| w == meant),
        "{}",
        program.name
    );
    let first = found
        .windows(meant.len())
        .position(|w| w == meant)
        .unwrap_or(0);
    for (word, code) in found[first..].iter().zip(&program.code) {
        assert_eq!(
            machine.decode(*word).as_ref(),
            Some(code),
            "{}",
            program.name
        );
    }
}

#[test]
fn loops_survive_the_assembler_and_run() {
    need!(there(&["as", "objdump", "ld", "objcopy"]));
    let machine = rvm();
    for (kernel, program) in study(&machine) {
        let text = function(&machine, &program).expect("every value fits");
        let object = built(&program.name, "s", &text);
        holds_as_meant(&machine, &words(&object), &program);
        called(&machine, &object, &kernel, &program);
    }
}

#[test]
fn c_of_loops_is_a_function_of_pointers_that_runs() {
    need!(there(&["gcc", "objdump", "ld", "objcopy"]));
    let machine = rvm();
    for (kernel, program) in study(&machine) {
        let text = c_with_loops(&machine, &program).expect("every value fits");
        assert!(
            text.contains("(const void *data, const void *weights, void *result)"),
            "{text}"
        );
        let object = built(&program.name, "c", &text);
        holds_as_meant(&machine, &words(&object), &program);
        called(&machine, &object, &kernel, &program);
    }
}

#[test]
fn a_listing_is_the_text_of_the_instructions() {
    let machine = rvm();
    let code = product(&machine)
        .place(&machine, &[0, 0x100, 0x200])
        .expect("it has scalars");
    let text = listing(&machine, &code);
    assert_eq!(text.lines().count(), code.len());
    assert!(text.contains("\nmmaqa.b m"), "{text}");
}
