//! Kernels mapped to RVM and run in the simulator, against the kernel language's evaluator.

use crate::board::{Board, described_with, end, kernels, rvm, settings};
use kernel::data::fill;
use kernel::index::Symbol;
use kernel::tree::Kernel;
use schedule::Scheduled;
use semantics::diagnostic::{Diagnostic, render};
use semantics::machine::{Banks, Machine};
use semantics::random::Random;
use smt::config::Config;
use smt::prover::Prover;
use std::collections::BTreeMap;
use tile::loop_codegen::Blocks;
use tile::program::{ArrayUse, Function, TileProgram};

fn parse(text: &str) -> Kernel {
    kernels(text).remove(0)
}

fn sizes(kernel: &Kernel, values: &[i64]) -> BTreeMap<Symbol, i64> {
    kernel.sizes().zip(values.iter().copied()).collect()
}

/// A kernel on a machine of which nothing is known before.
fn map(
    scheduled: &Scheduled,
    sizes: &BTreeMap<Symbol, i64>,
    machine: &Machine,
    prover: &Prover,
) -> Result<TileProgram, Vec<Diagnostic>> {
    let blocks = Blocks::of(machine, prover);
    tile::map::map((scheduled, &blocks), sizes, machine, prover)
}

fn mapped(text: &str, values: &[i64]) -> Result<TileProgram, String> {
    let kernel = parse(text);
    let prover = Prover::new(Config::default());
    schedule::apply(&kernel)
        .and_then(|s| map(&s, &sizes(&kernel, values), &rvm(), &prover))
        .map_err(|wrong| render(&wrong))
}

/// A program whose arrays lie one after the other.
fn placed(machine: &Machine, program: &TileProgram) -> Function {
    let mut at = 64_i64;
    let place = |array: &ArrayUse| {
        let here = at;
        at += (array.bytes + 63) / 64 * 64;
        here
    };
    let addresses: Vec<i64> = program.arrays.iter().map(place).collect();
    program.place(machine, &addresses).expect("it has scalars")
}

/// A product with `k` in steps of as many as a row holds.
fn product(from: &str, to: &str, step: i64, zero: bool) -> String {
    let role = if zero { "out" } else { "inout" };
    let clear = "for ii in 0..4 { for jj in 0..4 { c[i + ii, j + jj] = 0; } }";
    let clear = if zero { clear } else { "" };
    let cast = |e: &str| {
        if from == to {
            e.to_owned()
        } else {
            format!("{to}({e})")
        }
    };
    let (x, y) = (cast("a[i + ii, p + pp]"), cast("b[j + jj, p + pp]"));
    format!(
        "kernel product(m: size, n: size, k: size, a: in {from}[m, k], b: in {from}[n, k], \
         c: {role} {to}[m, n]) requires m % 4 == 0, n % 4 == 0, k % {step} == 0 {{
           for i in 0..m step 4 {{ for j in 0..n step 4 {{ {clear}
             for p in 0..k step {step} {{
               for ii in 0..4 {{ for jj in 0..4 {{ for pp in 0..{step} {{
                 c[i + ii, j + jj] += {x} * {y};
               }} }} }}
             }}
           }} }}
         }}"
    )
}

fn agree(text: &str, steps: [i64; 3], times: u64) {
    agree_on(rvm(), text, steps, times);
}

fn agree_on(machine: Machine, text: &str, steps: [i64; 3], times: u64) {
    let board = Board::new(machine);
    let kernel = parse(text);
    for seed in 0..times {
        let mut random = Random::new(seed);
        let sizes = sizes(&kernel, &steps.map(|s| s * (1 + random.below(3) as i64)));
        let program =
            schedule::apply(&kernel).and_then(|s| map(&s, &sizes, &board.machine, &board.prover));
        let program = program.unwrap_or_else(|w| panic!("{}", render(&w)));
        let program = placed(&board.machine, &program);
        let data = fill(&kernel, &sizes, &mut random);
        let (arrays, start) = ((&*program.arrays, &*program.addresses), settings(&program));
        board.safe(&program.code, (&start, end(arrays.0, arrays.1)));
        board.run(&kernel, arrays, (&program.code, &start), &data);
    }
}

#[test]
fn int8_products_agree() {
    agree(&product("i8", "i32", 16, false), [4, 4, 16], 200);
}

#[test]
fn int16_products_agree() {
    agree(&product("i16", "i32", 8, true), [4, 4, 8], 200);
}

#[test]
fn int32_products_agree() {
    agree(&product("i32", "i32", 4, true), [4, 4, 4], 200);
}

#[test]
fn float_products_agree() {
    agree(&product("f32", "f32", 4, false), [4, 4, 4], 200);
}

/// The inner block of an int16 product, written in some way.
fn written(block: &str) -> String {
    format!(
        "kernel product(m: size, n: size, k: size, a: in i16[m, k], b: in i16[n, k], \
         c: inout i32[m, n]) requires m % 4 == 0, n % 4 == 0, k % 8 == 0 {{
           for i in 0..m step 4 {{ for p in 0..k step 8 {{ for j in 0..n step 4 {{ {block} }} }} }}
         }}"
    )
}

#[test]
fn what_counts_is_the_meaning() {
    let same = [
        "for ii in 0..4 { for jj in 0..4 { for pp in 0..8 {
           c[i + ii, j + jj] = i32(b[j + jj, p + pp]) * i32(a[i + ii, p + pp]) + c[i + ii, j + jj];
         } } }",
        "for pp in 0..8 { for jj in 0..4 { for ii in 0..4 {
           c[i + ii, j + jj] += i32(a[i + ii, p + pp]) * i32(b[j + jj, p + pp]);
         } } }",
        "for jj in 0..4 { for ii in 0..4 {
           var sum: i32 = 0;
           for pp in 0..8 { sum += widening_mul(a[i + ii, p + 7 - pp], b[j + jj, p + 7 - pp]); }
           c[i + ii, j + jj] += sum;
         } }",
        "for ii in 0..4 { for jj in 0..4 { for pp in 0..8 step 2 {
           let even = i32(a[i + ii, p + pp]) * i32(b[j + jj, p + pp]);
           let odd = i32(a[i + ii, p + pp + 1]) * i32(b[j + jj, p + pp + 1]);
           c[i + ii, j + jj] -= 0 - even - odd;
         } } }",
    ];
    for block in &same[..3] {
        agree(&written(block), [4, 4, 8], 20);
    }
    let block = same[3].replace("-= 0 - even - odd", "+= even + odd");
    agree(&written(&block), [4, 4, 8], 20);
}

#[test]
fn what_is_another_meaning_is_refused() {
    let cases = [
        (
            "i32(a[i + ii, p + pp]) * i32(b[j + jj, p + pp])",
            "i32(a[i + ii, p + pp]) * i32(b[j + ii, p + pp])",
        ),
        (
            "i32(a[i + ii, p + pp]) * i32(b[j + jj, p + pp])",
            "i32(a[i + ii, p + pp]) * i32(u16(b[j + jj, p + pp]))",
        ),
        (
            "i32(a[i + ii, p + pp]) * i32(b[j + jj, p + pp])",
            "i32(a[i + ii, p + pp]) * i32(b[j + jj, p + 7 - pp])",
        ),
        (
            "i32(a[i + ii, p + pp]) * i32(b[j + jj, p + pp])",
            "i32(a[i + ii, p + pp] * b[j + jj, p + pp])",
        ),
    ];
    let right = "for ii in 0..4 { for jj in 0..4 { for pp in 0..8 {
        c[i + ii, j + jj] += i32(a[i + ii, p + pp]) * i32(b[j + jj, p + pp]); } } }";
    assert!(mapped(&written(right), &[4, 4, 8]).is_ok());
    for (from, to) in cases {
        let wrong = mapped(&written(&right.replace(from, to)), &[4, 4, 8]);
        let message = wrong.expect_err(to);
        assert!(
            message.contains("tile instruction") && message.contains("= hint"),
            "{message}"
        );
    }
}

#[test]
fn what_cannot_be_is_told_with_the_change_that_helps() {
    // The second factor is not transposed.
    let text = product("i16", "i32", 8, false)
        .replace("b: in i16[n, k]", "b: in i16[k, n]")
        .replace("b[j + jj, p + pp]", "b[p + pp, j + jj]");
    let message = mapped(&text, &[8, 8, 8]).expect_err("not transposed");
    assert!(
        message.contains("no 8 neighbours") && message.contains("exchange the dimensions"),
        "{message}"
    );
    // Rows of 6 bytes.
    let text = product("i8", "i32", 16, false).replace("a: in i8[m, k]", "a: in i8[m, k + 2]");
    let message = mapped(&text, &[4, 4, 16]).expect_err("not aligned");
    assert!(
        message.contains("18 bytes apart") && message.contains("pad 4"),
        "{message}"
    );
    // A size that is no multiple.
    let message = mapped(&product("i8", "i32", 16, false), &[6, 4, 16]).expect_err("no multiple");
    assert!(
        message.contains("precondition") && message.contains("pad the arrays"),
        "{message}"
    );
    // Nine results are open at once.
    let text = "kernel product(m: size, n: size, k: size, a: in i32[m, k], b: in i32[n, k], \
         c: inout i32[m, n]) requires m % 4 == 0, n % 4 == 0, k % 4 == 0 {
           for p in 0..k step 4 { for i in 0..m step 4 { for j in 0..n step 4 {
             for ii in 0..4 { for jj in 0..4 { for pp in 0..4 {
               c[i + ii, j + jj] += a[i + ii, p + pp] * b[j + jj, p + pp];
             } } }
           } } }
         }";
    assert!(mapped(text, &[8, 8, 8]).is_ok(), "four results are open");
    let message = mapped(text, &[12, 12, 8]).expect_err("nine results are open");
    assert!(
        message.contains("too few tile registers") && message.contains("= hint"),
        "{message}"
    );
}

#[test]
fn results_stay_in_registers_and_rows_are_shared() {
    let machine = rvm();
    let program = mapped(&product("i32", "i32", 4, true), &[4, 4, 64]).expect("it maps");
    let count = |name: &str| {
        let of = |k: usize| machine.instructions[k].instruction.name == name;
        program.steps.iter().filter(|s| of(s.instruction)).count()
    };
    let counts = [
        count("mzero"),
        count("mld.w"),
        count("mmasa.w"),
        count("mst.w"),
    ];
    assert_eq!(counts, [1, 32, 16, 1]);
    assert!(tile::hazard::first(&program, &machine, 4).is_none());
}

#[test]
fn hazards_are_found_in_a_sequence_that_has_them() {
    let machine = rvm();
    let good = mapped(&product("i32", "i32", 4, true), &[4, 4, 64]).expect("it maps");
    // Everything that was in other source registers goes through two of them.
    let mut bad = good.clone();
    let loads: Vec<usize> = (0..bad.steps.len())
        .filter(|&n| {
            machine.instructions[bad.steps[n].instruction]
                .instruction
                .name
                == "mld.w"
        })
        .collect();
    let first = bad.steps[loads[0]].tiles[0].1;
    bad.steps[loads[2]].tiles[0].1 = first;
    let hazard = tile::hazard::first(&bad, &machine, 4).expect("a register is written too early");
    assert_ne!(hazard.kind, tile::hazard::Kind::Memory);
    assert_eq!(hazard.second, loads[2]);
    // A store that is loaded at once.
    let mut bad = good;
    let last = bad.steps.len() - 1;
    let mut load = bad.steps[loads[0]].clone();
    load.window = bad.steps[last].window;
    let recent: Vec<usize> = bad.steps[last - 4..]
        .iter()
        .flat_map(|s| &s.tiles)
        .map(|t| t.1)
        .collect();
    load.tiles[0].1 = (0..8).find(|r| !recent.contains(r)).expect("one rests");
    bad.steps.push(load);
    let hazard = tile::hazard::first(&bad, &machine, 4).expect("memory is read too early");
    assert_eq!(hazard.kind, tile::hazard::Kind::Memory);
}

/// A convolution whose kernels have as many taps as a tile has columns; the input is padded.
/// Several tiles of results stay open over one tile of the input.
fn convolution(shared: i64) -> String {
    format!(
        "kernel conv1d(oc: size, n: size, ic: size, data: in i32[ic, n + 4], \
         weights: in i32[oc, ic, 4], c: out i32[oc, n]) requires oc % {} == 0, n % 4 == 0 {{
           for i in 0..oc step {} {{ for j in 0..n step 4 {{
             for t in 0..{shared} {{ for ii in 0..4 {{ for jj in 0..4 {{
               c[i + 4*t + ii, j + jj] = 0;
             }} }} }}
             for k in 0..ic {{ for t in 0..{shared} {{
               for ii in 0..4 {{ for jj in 0..4 {{ for r in 0..4 {{
                 c[i + 4*t + ii, j + jj] += data[k, j + jj + r] * weights[i + 4*t + ii, k, r];
               }} }} }}
             }} }}
           }} }}
         }}",
        4 * shared,
        4 * shared
    )
}

#[test]
fn convolutions_agree() {
    agree(&convolution(1), [4, 4, 1], 100);
    agree(&convolution(4), [16, 4, 1], 100);
}

#[test]
fn one_tile_of_the_input_is_shared_by_four_results() {
    let machine = rvm();
    let cycles = |shared: i64| {
        let program = mapped(&convolution(shared), &[16, 16, 8]).expect("it maps");
        let loads = program.steps.iter().filter(|s| {
            let name = &machine.instructions[s.instruction].instruction.name;
            name == "mld.w" && s.window.is_some_and(|w| w.array == 0)
        });
        let placed = placed(&machine, &program);
        (
            loads.count(),
            tile::cost::cycles(&machine, &placed.code, 4).total,
        )
    };
    let (alone, shared) = (cycles(1), cycles(4));
    assert_eq!((alone.0, shared.0), (4 * 4 * 8, 4 * 8));
    assert!(shared.1 < alone.1, "{shared:?} against {alone:?}");
}

#[test]
fn cost_overlaps_units_and_waits_for_tiles() {
    let machine = rvm();
    let at = |name: &str| {
        let of = |i: &semantics::machine::MachineInstruction| i.instruction.name == name;
        machine
            .instructions
            .iter()
            .position(of)
            .expect("it is specified")
    };
    let total = |code: &[(usize, Vec<i64>)]| tile::cost::cycles(&machine, code, 4).total;
    let load = |m: i64| (at("mld.w"), vec![m, 10, 11]);
    let product = |d: i64, b: i64, a: i64| (at("mmasa.w"), vec![d, b, a]);
    // Issued at 1, done 5 later; the second load waits for the bus.
    assert_eq!(total(&[load(0)]), 6);
    assert_eq!(total(&[load(0), load(1)]), 10);
    // A product that needs the load begins when it is done, one that does not overlaps.
    assert_eq!(total(&[load(0), product(2, 1, 0)]), 6 + 8);
    assert_eq!(total(&[load(0), product(2, 1, 3)]), 2 + 8);
}

#[test]
fn banks_that_are_asked_for_several_words_take_longer() {
    let mut machine = rvm();
    let at = machine.instructions.iter();
    let load = at.enumerate().find(|(_, i)| i.instruction.name == "mld.w");
    let load = (load.expect("it is specified").0, vec![0, 10, 11]);
    let rows = |start: u64, stride: u64| -> Vec<u64> {
        (0..16)
            .map(|k| start + k / 4 * stride + k % 4 * 4)
            .collect()
    };
    let mut cycles = |count: u64, stripe: u64, touched: &[u64]| {
        machine.banks = Some(Banks {
            count,
            stripe,
            beat: 4,
        });
        let mut clock = tile::cost::Clock::new(&machine, 4);
        clock.next(&load, false, touched);
        clock.cycles().busy.iter().sum::<u64>()
    };
    // Striped by words: a row is one beat, wherever it begins and however far rows are apart.
    assert_eq!(cycles(4, 4, &rows(0, 16)), 4);
    assert_eq!(cycles(4, 4, &rows(12, 4096)), 4);
    // Half as many banks, half as fast; in one bank it is 4 times slower, as the study says.
    assert_eq!(cycles(2, 4, &rows(0, 16)), 8);
    assert_eq!(cycles(4, 0x8000, &rows(0, 16)), 16);
    assert_eq!(cycles(4, 0x8000, &[]), 16, "addresses that are not known");
    // A row over the border of two stripes: three words in one bank.
    assert_eq!(cycles(4, 16, &rows(4, 16)), 12);
}

#[test]
fn sizes_that_are_no_multiples_are_padded_in_the_kernel() {
    // Whole tiles of arrays whose rows, and whose numbers of rows, are rounded up.
    let text = "kernel product(m: size, n: size, k: size, \
         a: in i8[(m + 3)/4*4, (k + 15)/16*16], b: in i8[(n + 3)/4*4, (k + 15)/16*16], \
         c: inout i32[(m + 3)/4*4, (n + 3)/4*4]) {
           for i in 0..(m + 3)/4 { for j in 0..(n + 3)/4 { for p in 0..(k + 15)/16 {
             for ii in 0..4 { for jj in 0..4 { for pp in 0..16 {
               c[4*i + ii, 4*j + jj] += i32(a[4*i + ii, 16*p + pp]) * i32(b[4*j + jj, 16*p + pp]);
             } } }
           } } }
         }";
    agree(text, [3, 5, 7], 60);
}

#[test]
fn a_machine_of_another_size_is_mapped_to_as_well() {
    let machine = described_with("rvm", "eight-rows", &[("ROWS: 4 ", "ROWS: 8 ")]);
    let text = product("i8", "i32", 32, true)
        .replace("0..4", "0..8")
        .replace("step 4", "step 8")
        .replace("% 4", "% 8");
    agree_on(machine.clone(), &text, [8, 8, 32], 3);
    // However it is tiled for four rows, all of it is one product of eight; a part is none.
    let kernel = parse(&product("i8", "i32", 16, true));
    let mapped = |values: &[i64]| {
        let prover = Prover::new(Config::default());
        schedule::apply(&kernel)
            .and_then(|s| map(&s, &sizes(&kernel, values), &machine, &prover))
            .map_err(|wrong| render(&wrong))
    };
    let program = mapped(&[8, 8, 32]).expect("it is one tile");
    let product = |i: usize| machine.instructions[i].instruction.name == "mmaqa.b";
    assert_eq!(
        program
            .steps
            .iter()
            .filter(|s| product(s.instruction))
            .count(),
        1
    );
    let message = mapped(&[4, 4, 16]).expect_err("a quarter of a tile");
    assert!(message.contains("a tile has 8 rows of 8"), "{message}");
}
