//! Schedules for RVM that are found, against those that are written by hand.

use autosched::report;
use autosched::search::{Ended, Found, Options, search};
use board::{machine, parse};
use kernel::data::{difference, fill, image, numbers};
use kernel::index::Symbol;
use kernel::tree::Kernel;
use schedule::Scheduled;
use schedule_space::nest::nest;
use schedule_space::tiles::{Mapper, Tiles};
use semantics::diagnostic::render;
use sim::memory::Memory;
use sim::program::{MachineProgram, Setting};
use sim::run::Simulator;
use smt::config::Config;
use smt::prover::Prover;
use std::collections::BTreeMap;
use tile::loop_codegen::Blocks;
use tile::program::TileProgram;

mod board;

/// The convolution as one would write it down.
const CONV1D: &str = "kernel conv1d(
  oc: size, n: size, ic: size,
  data: in i32[ic, n + 4], weights: in i32[oc, ic, 4], result: inout i32[oc, n],
) {
  for i in 0..oc { for j in 0..n { for c in 0..ic { for r in 0..4 {
    result[i, j] += data[c, j + r] * weights[i, c, r];
  } } } }
}";

/// The schedule of the case study: four tiles of results over one tile of the input.
const BY_HAND: &str = "kernel conv1d(
  oc: size, n: size, ic: size,
  data: in i32[ic, n + 4], weights: in i32[oc, ic, 4], result: inout i32[oc, n],
) requires oc % 16 == 0, n % 4 == 0 {
  for i in 0..oc step 16 { for j in 0..n step 4 { for c in 0..ic { for t in 0..4 {
    for ii in 0..4 { for jj in 0..4 { for r in 0..4 {
      result[i + 4*t + ii, j + jj] += data[c, j + jj + r] * weights[i + 4*t + ii, c, r];
    } } }
  } } } }
}";

const PRODUCT: &str = "kernel product(
  m: size, n: size, k: size, a: in i8[m, k], b: in i8[n, k], c: inout i32[m, n],
) {
  for i in 0..m { for j in 0..n { for p in 0..k {
    c[i, j] += i32(b[j, p]) * i32(a[i, p]);
  } } }
}";

fn sizes(kernel: &Kernel, values: &[i64]) -> BTreeMap<Symbol, i64> {
    kernel.sizes().zip(values.iter().copied()).collect()
}

fn addresses(program: &TileProgram) -> Vec<i64> {
    let mut at = 4096_i64;
    let place = |a: &tile::program::ArrayUse| {
        let here = at;
        at += (a.bytes + 63) / 64 * 64;
        here
    };
    program.arrays.iter().map(place).collect()
}

fn prover() -> Prover {
    Prover::new(Config::default())
}

fn tiles(kernel: &Kernel, sizes: &BTreeMap<Symbol, i64>) -> Tiles {
    let nest = nest(kernel, sizes).expect("one nest");
    Tiles::new(nest, &machine("rvm")).expect("a product of tiles")
}

/// What a search finds; how many programs were mapped for it.
fn found(kernel: &Kernel, values: &[i64], options: &Options) -> (Found, u64) {
    let (machine, prover, sizes) = (machine("rvm"), prover(), sizes(kernel, values));
    let tiles = tiles(kernel, &sizes);
    let blocks = Blocks::of(&machine, &prover);
    let mut mapper = Mapper {
        tiles: &tiles,
        sizes: &sizes,
        machine: &machine,
        prover: &prover,
        blocks: &blocks,
        addresses: &addresses,
        known: BTreeMap::new(),
    };
    let found = search(&tiles.space, &tiles.model, &mut mapper, options);
    let found = found.expect("candidates");
    println!("{}", report::text(&tiles.space, &found, "cycles"));
    println!("{:#?}", tiles.directives(&found.best[0].values));
    let best = mapper.scheduled(&found.best[0].values);
    let best = best.unwrap_or_else(|wrong| panic!("{}", render(&wrong)));
    assert_eq!(cycles(kernel, &best, values), found.best[0].cost);
    (found, mapper.known.len() as u64)
}

/// The cycles of a kernel with the schedule beside it.
fn written(kernel: &Kernel, values: &[i64]) -> u64 {
    cycles(
        kernel,
        &schedule::apply(kernel).expect("it applies"),
        values,
    )
}

/// The cycles of a kernel as it is scheduled; on data, it agrees with the evaluator.
fn cycles(kernel: &Kernel, scheduled: &Scheduled, values: &[i64]) -> u64 {
    let (machine, sizes) = (machine("rvm"), sizes(kernel, values));
    let prover = prover();
    let blocks = Blocks::of(&machine, &prover);
    let program = tile::map::map((scheduled, &blocks), &sizes, &machine, &prover);
    let program = program.unwrap_or_else(|wrong| panic!("{}", render(&wrong)));
    let placed = program
        .place(&machine, &addresses(&program))
        .expect("it has scalars");
    let in_flight = tile::map::in_flight(&machine);
    let total = tile::cost::cycles(&machine, &placed.code, in_flight).total;
    let data = fill(kernel, &sizes, &mut numbers(1));
    let expected = kernel::eval::run(kernel, &data).expect("it runs");
    let at = addresses(&program);
    let end = program
        .arrays
        .iter()
        .zip(&at)
        .map(|(a, at)| at + a.bytes)
        .max();
    let mut memory = Memory::new(usize::try_from(end.expect("arrays")).expect("small"));
    assert!(memory.put(&image(kernel, &at, &data)));
    let mut listed = MachineProgram::new("mapped", placed.code);
    let begin = |&(array, register): &(usize, u32)| Setting {
        file: placed.scalars,
        register,
        value: at[array],
    };
    listed.settings.extend(placed.arguments.iter().map(begin));
    let mut simulator = Simulator::new(&machine, memory);
    assert!(simulator.run_quietly(&listed, u64::MAX).is_ok(), "it ends");
    let there = |at, bytes| simulator.memory.get(at, bytes);
    assert_eq!(difference(kernel, &at, &expected, there), None);
    total
}

/// T5 on the machine of the case study: what is found is at least as good as the schedule by
/// hand, which is a candidate, and computes what the kernel says.
#[test]
fn a_convolution_is_at_least_as_good_as_by_hand() {
    let values = [16, 16, 4];
    let kernel = parse(CONV1D);
    let by_hand = written(&parse(BY_HAND), &values);
    let (found, _) = found(&kernel, &values, &Options::default());
    println!("by hand: {by_hand}");
    assert!(
        found.best[0].cost <= by_hand,
        "{} and {by_hand}",
        found.best[0].cost
    );
    assert_eq!(
        (found.gap(), found.ended, found.overstated),
        (Some(0), Ended::Closed, 0)
    );
}

/// What is decided beside the kernel stays, and the rest is chosen.
#[test]
fn a_part_of_a_schedule_is_completed() {
    let values = [16, 16, 4];
    let by_hand = written(&parse(BY_HAND), &values);
    let with = |schedule: &str| parse(&format!("{CONV1D} schedule {{ {schedule} }}"));
    let partial = with("split i by 16 into t; split j by 4 into u;");
    let tiles = tiles(&partial, &sizes(&partial, &values));
    let from = tiles
        .restricted(&schedule::directives(&partial).expect("they are understood"))
        .expect("it is a candidate");
    let options = Options {
        from: Some(from),
        ..Options::default()
    };
    let (completed, _) = found(&partial, &values, &options);
    assert_eq!(completed.best[0].cost, by_hand);
    let refused = |schedule: &str| {
        let kernel = with(schedule);
        let directives = schedule::directives(&kernel).expect("they are understood");
        let wrong = tiles.restricted(&directives).expect_err(schedule);
        format!("{} | {}", wrong.message, wrong.hint.unwrap_or_default())
    };
    let odd = refused("split i by 3 into t;");
    assert!(
        odd.starts_with("this leaves no schedule: no value of `block of i` is left"),
        "{odd}"
    );
    let large = refused("split i by 16 into t; split j by 16 into u;");
    assert!(
        large.contains("it was to be 16, and what is left is 4"),
        "{large}"
    );
    let unknown = refused("jam i by 2;");
    assert!(
        unknown.starts_with("`jam i by 2` is no choice of this search"),
        "{unknown}"
    );
}

/// T1 on the machine: of all programs of these spaces, none costs less than its bound.
#[test]
fn no_program_costs_less_than_its_bound() {
    for (text, values) in [(CONV1D, [16, 8, 4]), (PRODUCT, [8, 16, 32])] {
        let options = Options {
            bounded: false,
            ..Options::default()
        };
        let (found, _) = found(&parse(text), &values, &options);
        assert_eq!((found.gap(), found.overstated), (Some(0), 0));
    }
}

/// T8 and T9 on the machine: where sums are long, what is loaded decides, and regions are cut
/// off before their programs are mapped and proved.
#[test]
fn bounds_save_programs_where_sums_are_long() {
    let (kernel, values) = (parse(PRODUCT), [16, 16, 384]);
    let (found, mapped) = found(&kernel, &values, &Options::default());
    assert_eq!((found.gap(), found.overstated), (Some(0), 0));
    let tiles = tiles(&kernel, &sizes(&kernel, &values));
    let all = tiles
        .space
        .start()
        .map(|start| tiles.space.solutions(&start));
    let all = all.expect("it has candidates").len() as u64;
    println!("mapped: {mapped}, evaluated {} of {all}", found.evaluated);
    assert!(found.evaluated < all, "{} of {all}", found.evaluated);
    assert!(found.levels.iter().any(|l| l.pruned > 0));
}

/// A loop that no tile fits leaves no space, and what emptied it is told.
#[test]
fn a_loop_that_fits_no_tile_empties_the_space() {
    let kernel = parse(CONV1D);
    let tiles = tiles(&kernel, &sizes(&kernel, &[6, 16, 4]));
    let emptied = tiles.space.start().expect_err("6 is no multiple of 4");
    let log = tiles.empty(&emptied).message;
    assert_eq!(
        log,
        "the search space is empty: no value of `row loop` is left by: the loop down the rows of \
         a tile runs a multiple of 4 times"
    );
}
