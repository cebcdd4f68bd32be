//! Blocks for a systolic array that are searched for, against those that an estimate chooses.

use autosched::report;
use autosched::search::{Ended, Found, Options, search};
use board::{machine, parse};
use kernel::data::{difference, fill, image, numbers};
use kernel::eval::Data;
use kernel::index::Symbol;
use kernel::tree::Kernel;
use schedule_space::systolic::{Commander, Decided, Systolic};
use semantics::machine::Machine;
use sim::memory::Memory;
use sim::run::Simulator;
use smt::config::Config;
use smt::prover::Prover;
use std::collections::BTreeMap;
use tile::systolic::place::{Constraints, map};
use tile::systolic::plan::{LoopOrder, Stationary};
use tile::systolic::program::CommandProgram;

mod board;

/// A layer of a quantised network.
const MATMUL: &str = "kernel matmul(
  m: size, n: size, k: size, a: in i8[m, k], b: in i8[k, n], bias: in i32[n], out: out i8[m, n],
) {
  for i in 0..m { for j in 0..n {
    var sum: i32 = bias[j];
    for p in 0..k { sum += i32(a[i, p]) * i32(b[p, j]); }
    out[i, j] = max(i8_sat(round_even(f32(sum) * 0.0078125)), 0);
  } }
}";

/// A convolution by 3 times 3.
const CONV: &str = "kernel conv(
  h: size, w: size, c: size, d: size,
  image: in i8[h + 2, w + 2, c], filter: in i8[3, 3, c, d], out: out i32[h, w, d],
) {
  for y in 0..h { for x in 0..w { for z in 0..d {
    var sum: i32 = 0;
    for dy in 0..3 { for dx in 0..3 { for p in 0..c {
      sum += i32(image[y + dy, x + dx, p]) * i32(filter[dy, dx, p, z]);
    } } }
    out[y, x, z] = sum;
  } } }
}";

/// Runs a program on data and compares its results with what is expected.
fn cycles(
    machine: &Machine,
    kernel: &Kernel,
    (data, expected): (&Data, &Data),
    program: &CommandProgram,
) -> Result<u64, String> {
    let (mut at, mut end) = (Vec::new(), 64_i64);
    for array in &program.arrays {
        at.push(end);
        end += (array.bytes + 63) / 64 * 64;
    }
    let mut memory = Memory::new(usize::try_from(end).expect("small"));
    assert!(memory.put(&image(kernel, &at, data)));
    let mut simulator = Simulator::new(machine, memory);
    let mut fault = None;
    program.for_each(&at, &mut |instruction, operands| {
        if let Err(found) = simulator.command(instruction, operands) {
            fault.get_or_insert(found.message.clone());
        }
    });
    let there = |at, bytes| simulator.memory.get(at, bytes);
    assert_eq!(difference(kernel, &at, expected, there), None);
    fault.map_or(Ok(simulator.timeline().cycles()), Err)
}

/// What is found, and what the estimate's choice costs.
fn found(text: &str, values: &[i64], decided: Decided, bounded: bool) -> (Found, u64) {
    let (kernel, machine) = (parse(text), machine("gemmini"));
    let prover = Prover::new(Config::default());
    let sizes: BTreeMap<Symbol, i64> = kernel.sizes().zip(values.iter().copied()).collect();
    let systolic = Systolic::new(&kernel, &sizes, &machine).expect("a product");
    let data = fill(&kernel, &sizes, &mut numbers(1));
    let expected = kernel::eval::run(&kernel, &data).expect("it runs");
    let run = |program: &CommandProgram| cycles(&machine, &kernel, (&data, &expected), program);
    let mut commander = Commander {
        kernel: &kernel,
        sizes: &sizes,
        machine: &machine,
        prover: &prover,
        cycles: &run,
    };
    let options = Options {
        from: Some(systolic.restricted(decided).expect("it fits")),
        bounded,
        ..Options::default()
    };
    let found = search(&systolic.space, &systolic.model, &mut commander, &options);
    let found = found.expect("candidates");
    println!(
        "{values:?}\n{}",
        report::text(&systolic.space, &found, "cycles")
    );
    let estimated = map(&kernel, &sizes, &machine, &prover, Constraints::default());
    let (estimated, _) = estimated.expect("it maps");
    let estimated = run(&estimated).expect("it runs");
    println!("  chosen by estimate: {estimated}");
    (found, estimated)
}

/// T1, T4 and T9 on Gemmini: no program costs less than its bound, and what is found with bounds
/// is what is found without, with fewer programs run.
#[test]
fn blocks_are_at_least_as_good_as_estimated_ones() {
    for (text, values) in [(MATMUL, vec![32, 48, 16]), (CONV, vec![2, 16, 8, 32])] {
        let (bounded, estimated) = found(text, &values, Decided::default(), true);
        assert_eq!((bounded.gap(), bounded.ended), (Some(0), Ended::Closed));
        assert!(bounded.best[0].cost <= estimated);
        let (all, _) = found(text, &values, Decided::default(), false);
        assert_eq!(
            (all.overstated, all.best[0].cost),
            (0, bounded.best[0].cost)
        );
        assert!(bounded.evaluated <= all.evaluated);
    }
}

/// What the user has decided is kept, and the rest is chosen.
#[test]
fn demands_are_kept() {
    let decided = Decided {
        tile: Some((2, 1)),
        outer: Some(LoopOrder::Rows),
        ..Decided::default()
    };
    let (one, _) = found(MATMUL, &[32, 48, 16], decided, true);
    assert_eq!(one.best[0].values[..3], [2, 1, 1]);
    let decided = Decided {
        buffers: Some(1),
        stationary: Some(Stationary::Outputs),
        ..Decided::default()
    };
    let (one, _) = found(MATMUL, &[32, 48, 16], decided, true);
    assert_eq!(one.best[0].values[3..], [1, 1]);
}

/// What does not fit is told with what it does not fit.
#[test]
fn what_does_not_fit_is_told() {
    let (kernel, machine) = (parse(MATMUL), machine("gemmini"));
    let systolic = |sizes: [i64; 3]| {
        let sizes: BTreeMap<Symbol, i64> = kernel.sizes().zip(sizes).collect();
        Systolic::new(&kernel, &sizes, &machine).expect("a product")
    };
    let decided = Decided {
        tile: Some((16, 16)),
        ..Decided::default()
    };
    let emptied = systolic([512, 512, 4096]).restricted(decided);
    let emptied = emptied.expect_err("it is too large").to_string();
    assert!(
        emptied.contains("it was to be 16, and what is left is"),
        "{emptied}"
    );
    let emptied = systolic([16, 16, 1 << 20]).space.start();
    let emptied = emptied.expect_err("it is too deep").to_string();
    assert!(emptied.contains("both factors fit 16384 rows"), "{emptied}");
}
