//! Programs of Intel AMX on a processor that has it: what C computes there is what the meanings in
//! `isa-specs/amx` compute in the simulator.
//!
//! Random programs run each instruction on tiles of all shapes, and mapped kernels run whole. Elsewhere
//! the tests are skipped.

use codegen_gen::machine::c;
use kernel::data::{fill, image, numbers};
use kernel::index::Symbol;
use semantics::diagnostic::render;
use semantics::machine::Machine;
use semantics::random::Random;
use semantics::span::Source;
use sim::memory::Memory;
use sim::program::{MachineProgram, Setting};
use sim::run::Simulator;
use smt::config::Config;
use smt::prover::Prover;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use test_support::need;
use tile::mapped::{self, Code, Loops, Request};
use tile::program::{ArrayUse, Function, Placed};
use tile::systolic::place::Constraints;
use toolchain::find;

/// Bytes of the memory of a program.
const BYTES: usize = 1 << 16;
/// Where the array of a random program begins, and its registers: that address, and two to use.
const DATA: i64 = 64;
const BASE: i64 = 1;
const PLACE: i64 = 17;
const STRIDE: i64 = 18;
/// Random programs, and instructions on tiles in each.
const PROGRAMS: usize = 60;
const ROUNDS: usize = 6;
/// What a program says with its exit code where the operating system gives it no tiles.
const NO_TILES: i32 = 77;
const NOT_GIVEN: &str = "the operating system gives no tiles";

fn amx() -> Machine {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../isa-specs/amx/manifest.yaml");
    let (machine, wrong) = spec_parser::matrix::load::load(&path).expect("our specification");
    assert!(wrong.is_empty(), "our specification is right");
    machine
}

/// A program and its memory.
struct Case {
    program: Function,
    memory: Vec<u8>,
}

impl Case {
    /// What the kernel's arrays hold behind it in the simulator.
    fn simulated(&self, machine: &Machine) -> Vec<u8> {
        let mut code = MachineProgram::new(&self.program.name, self.program.code.iter().cloned());
        let settings = self
            .program
            .arguments
            .iter()
            .map(|&(array, register)| Setting {
                file: self.program.scalars,
                register,
                value: self.program.addresses[array],
            });
        code.settings = settings.collect();
        let mut memory = Memory::new(BYTES);
        assert!(memory.put(&[(0, self.memory.clone())]));
        assert!(memory.put(&self.program.image()), "constants have room");
        let mut simulator = Simulator::new(machine, memory);
        if let Err(stopped) = simulator.run_quietly(&code, 10_000_000) {
            panic!("{}: {stopped:?}", self.program.name);
        }
        let all = simulator.memory.get(0, BYTES).expect("all of it");
        self.handed(all)
    }

    /// The arrays that the caller has, one behind the other.
    fn handed(&self, memory: &[u8]) -> Vec<u8> {
        let at = |k: usize| usize::try_from(self.program.addresses[k]).expect("a place");
        let bytes = |a: &ArrayUse| usize::try_from(a.bytes).expect("a size");
        let arrays = self.program.arrays.iter().enumerate();
        let handed = arrays.filter(|(_, a)| !a.made);
        handed
            .flat_map(|(k, a)| memory[at(k)..at(k) + bytes(a)].iter().copied())
            .collect()
    }
}

/// What it holds on this processor, all cases in one program of C; none where that is given no tiles.
fn run(machine: &Machine, cases: &[Case]) -> Option<Vec<Vec<u8>>> {
    let folder = tempfile::tempdir().expect("a folder");
    let mut text = String::new();
    let mut calls = String::new();
    for (k, Case { program, .. }) in cases.iter().enumerate() {
        let code = c(machine, program, &[]).expect("it has a form").to_string();
        // Headers and types are said once.
        let from = if k == 0 {
            0
        } else {
            code.find("\nvoid ").expect("a function")
        };
        text.push_str(&code[from..]);
        let handed = program
            .arguments
            .iter()
            .filter(|a| !program.arrays[a.0].made);
        let handed: Vec<String> = handed
            .map(|(array, _)| format!("at + {}", program.addresses[*array]))
            .collect();
        let _ = writeln!(
            calls,
            "  {}({}); at += {BYTES};",
            program.name,
            handed.join(", ")
        );
    }
    let _ = write!(
        text,
        r#"
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
static unsigned char memory[{}];
int main(void) {{
  // Linux gives tile data (component 18) to who asks for it.
  if (syscall(SYS_arch_prctl, 0x1023, 18)) return {NO_TILES};
  FILE *in = fopen("in", "rb");
  if (!in || fread(memory, 1, sizeof memory, in) != sizeof memory) return 1;
  unsigned char *at = memory;
{calls}  FILE *out = fopen("out", "wb");
  return !out || fwrite(memory, 1, sizeof memory, out) != sizeof memory || fclose(out);
}}
"#,
        cases.len() * BYTES
    );
    fs::write(folder.path().join("main.c"), text).expect("a folder");
    let memory = cases.iter().flat_map(|case| case.memory.iter().copied());
    fs::write(folder.path().join("in"), memory.collect::<Vec<u8>>()).expect("a folder");
    let flags = &machine.spelt.as_ref().expect("its programs are C").flags;
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    let all = [
        &["-std=gnu11", "-O1"][..],
        &flags,
        &["main.c", "-o", "program"],
    ]
    .concat();
    if let Err(messages) = toolchain::c::compile("gcc", all, folder.path()) {
        panic!("{messages}");
    }
    let status = std::process::Command::new(folder.path().join("program"))
        .current_dir(folder.path())
        .status()
        .expect("it runs");
    if status.code() == Some(NO_TILES) {
        return None;
    }
    assert!(status.success(), "{status}");
    let out = fs::read(folder.path().join("out")).expect("it was written");
    let each = out.chunks(BYTES).zip(cases).map(|(m, case)| case.handed(m));
    Some(each.collect())
}

/// The processor has the instructions.
fn there() -> Result<(), String> {
    find::on_path("gcc")?;
    find::processor(&["amx_tile", "amx_int8", "amx_bf16"])
}

/// A random program under construction.
struct Draw<'m> {
    machine: &'m Machine,
    random: Random,
    code: Vec<Placed>,
}

impl Draw<'_> {
    fn below(&mut self, most: u64) -> i64 {
        self.random.below(most) as i64
    }

    fn push(&mut self, name: &str, operands: &[i64]) {
        let is = |i: &semantics::machine::MachineInstruction| i.instruction.name == name;
        let at = self.machine.instructions.iter().position(is);
        let at = at.unwrap_or_else(|| panic!("{name}"));
        self.code.push((at, operands.to_vec()));
    }

    /// A tile of these bytes in a row is moved at a random place of a region and a random stride.
    fn moves(&mut self, name: &str, tile: i64, row: i64, region: i64) {
        let stride = row + 4 * self.below(12);
        let place = region + 4 * self.below(64);
        self.push("addi", &[PLACE, BASE, place]);
        self.push("addi", &[STRIDE, 0, stride]);
        self.push(name, &[tile, PLACE, STRIDE]);
    }
}

/// A program with one of the products, on tiles of random shapes; `float` says whose elements it has.
fn drawn(machine: &Machine, n: usize, float: bool) -> Case {
    const INPUTS: i64 = 64;
    const RESULTS: i64 = 8192;
    let mut draw = Draw {
        machine,
        random: Random::new(n as u64 + 1),
        code: Vec::new(),
    };
    let [rows, columns, depth] = [(); 3].map(|()| 1 + draw.below(16));
    // Two results, two left and two right factors, one of another shape, one of none.
    let other = (1 + draw.below(16), 4 * (1 + draw.below(16)));
    let (result, left, right) = ((rows, 4 * columns), (rows, 4 * depth), (depth, 4 * columns));
    let shapes = [result, result, left, left, right, right, other, (0, 0)];
    let products: &[&str] = match float {
        true => &["tdpbf16ps"],
        false => &["tdpbssd", "tdpbsud", "tdpbusd", "tdpbuud"],
    };
    draw.push("addi", &[PLACE, BASE, 0]);
    draw.push("ldtilecfg", &[PLACE]);
    for round in 0..ROUNDS {
        let [td, ta, tb] = [draw.below(2), 2 + draw.below(2), 4 + draw.below(2)];
        match draw.below(4) {
            0 => draw.push("tilezero", &[td]),
            1 => draw.moves("tileloadd", td, result.1, INPUTS),
            _ => {}
        }
        draw.moves("tileloadd", ta, left.1, INPUTS);
        draw.moves("tileloadd", tb, right.1, INPUTS);
        let product = products[draw.random.index(products.len())];
        draw.push(product, &[td, ta, tb]);
        let kept = if draw.below(8) == 0 { 6 } else { td };
        if kept == 6 {
            draw.moves("tileloadd", kept, other.1, INPUTS);
        }
        let region = RESULTS + 4096 * round as i64;
        draw.moves("tilestored", kept, shapes[kept as usize].1, region);
    }
    draw.push("tilerelease", &[]);
    let mut memory: Vec<u8> = (0..BYTES)
        .map(|_| (draw.random.next_bits() >> 24) as u8)
        .collect();
    if float {
        memory.chunks_exact_mut(2).for_each(|half| {
            half.copy_from_slice(&bf16(&mut draw.random, n.is_multiple_of(2)).to_le_bytes());
        });
    }
    let at = DATA as usize;
    memory[at..at + 64].fill(0);
    memory[at] = 1;
    for (k, (rows, bytes)) in shapes.into_iter().enumerate() {
        memory[at + 16 + 2 * k] = bytes as u8;
        memory[at + 48 + k] = rows as u8;
    }
    let scalars = machine.abi.as_ref().expect("a convention").file;
    let data = ArrayUse {
        name: "data".to_owned(),
        bytes: BYTES as i64 - DATA,
        bits: 8,
        written: true,
        made: false,
    };
    let program = Function {
        name: format!("drawn_{n}"),
        arrays: vec![data],
        addresses: vec![DATA],
        arguments: vec![(0, BASE as u32)],
        constants: Vec::new(),
        scalars,
        code: draw.code,
        registers: 8,
        fences: 0,
    };
    Case { program, memory }
}

/// A bf16: mostly of a size that keeps sums finite and inexact, or products at the edge of what has
/// all its bits; sometimes any bits.
fn bf16(random: &mut Random, small: bool) -> u16 {
    let bits = (random.next_bits() >> 16) as u16;
    let least = if small { 56 } else { 119 };
    match bits % 16 {
        0 => (random.next_bits() >> 16) as u16,
        k => (bits & 0x807f) | ((least + k) << 7),
    }
}

/// The first place at which two memories differ as words, where all NaNs are one.
fn difference(found: &[u8], expected: &[u8]) -> Option<usize> {
    let is_nan = |w: &[u8]| f32::from_le_bytes([w[0], w[1], w[2], w[3]]).is_nan();
    let mut words = found.chunks_exact(4).zip(expected.chunks_exact(4));
    words.position(|(a, b)| a != b && !(is_nan(a) && is_nan(b)))
}

fn agree(float: bool) {
    need!(there());
    let machine = amx();
    let cases: Vec<Case> = (0..PROGRAMS).map(|n| drawn(&machine, n, float)).collect();
    let found = need!(run(&machine, &cases).ok_or(NOT_GIVEN));
    for (case, found) in cases.iter().zip(found) {
        let expected = case.simulated(&machine);
        let wrong = match float {
            true => difference(&found, &expected),
            false => found.iter().zip(&expected).position(|(a, b)| a != b),
        };
        if let Some(k) = wrong {
            let text: Vec<String> = case
                .program
                .code
                .iter()
                .map(|(k, values)| machine.instructions[*k].text(&machine, values))
                .collect();
            panic!("{} at {k}:\n{}", case.program.name, text.join("\n"));
        }
    }
}

#[test]
fn products_of_bytes_are_what_the_processor_computes() {
    agree(false);
}

#[test]
fn products_of_bf16_are_what_the_processor_computes() {
    agree(true);
}

/// The kernels of a file, mapped at sizes that fill tiles and at some that do not, with their arrays.
fn mapped(machine: &Machine, text: &str) -> Vec<Case> {
    const SIZES: [[i64; 3]; 4] = [[16, 32, 64], [21, 19, 70], [1, 37, 5], [33, 1, 66]];
    let prover = Prover::new(Config::default());
    let (kernels, wrong) = kernel::read(&Source::new("amx.kernel", text));
    assert!(wrong.is_empty(), "{}", render(&wrong));
    let each = kernels.iter().flat_map(|k| SIZES.map(|sizes| (k, sizes)));
    each.map(|(kernel, values)| {
        let sizes: BTreeMap<Symbol, i64> = kernel.sizes().zip(values).collect();
        let scheduled = schedule::apply(kernel).expect("nothing is scheduled");
        let request = Request {
            first: 64,
            apart: 64,
            loops: Loops::Tiles(None),
            constraints: Constraints::default(),
            machine_code: false,
        };
        let mapped = mapped::map(&scheduled, &sizes, machine, &prover, &request)
            .unwrap_or_else(|w| panic!("{} at {values:?}: {}", kernel.name, render(&w)));
        let Code::Function(mut program) = mapped.code else {
            panic!("{}: there is no array of cells", kernel.name);
        };
        let [m, n, k] = values;
        program.name = format!("{}_{m}_{n}_{k}", program.name);
        let data = fill(kernel, &sizes, &mut numbers(7));
        let mut memory = Memory::new(BYTES);
        assert!(memory.put(&image(kernel, &program.addresses, &data)));
        let memory = memory.get(0, BYTES).expect("all of it").to_vec();
        Case { program, memory }
    })
    .collect()
}

#[test]
fn mapped_kernels_are_what_the_processor_computes() {
    need!(there());
    let machine = amx();
    let files = [
        include_str!("../../examples/amx/product.kernel"),
        include_str!("../../examples/amx/conv.kernel"),
    ];
    let cases = files.iter().flat_map(|text| mapped(&machine, text));
    let cases: Vec<Case> = cases.collect();
    let found = need!(run(&machine, &cases).ok_or(NOT_GIVEN));
    for (case, found) in cases.iter().zip(found) {
        let same = found == case.simulated(&machine);
        assert!(same, "{}", case.program.name);
    }
}
