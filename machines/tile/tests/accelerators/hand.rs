//! What is found for plain kernels beside schedules that were written by hand.
//!
//! In: the examples of RVM. Out: cycles of both at the same sizes; and that every example agrees on
//! machines of other shapes, with what its schedule makes where that fits the machine, without it
//! elsewhere.

use crate::board::{Board, described, described_with, kernels, loaded};
use crate::outcome::mapped_at;
use kernel::index::Symbol;
use kernel::tree::Kernel;
use semantics::random::Random;
use std::collections::BTreeMap;
use std::path::Path;
use tile::loop_codegen::Variant;
use tile::mapped::{Code, Loops};
use tile::program::Function;

fn example(name: &str) -> Vec<Kernel> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/rvm");
    let text = std::fs::read_to_string(folder.join(name)).expect("our example");
    kernels(&text)
}

/// A kernel as its schedule has it at these sizes, or as it is written.
fn map(
    board: &Board,
    kernel: &Kernel,
    sizes: &BTreeMap<Symbol, i64>,
    (scheduled, loops): (bool, Loops),
) -> Result<Function, String> {
    let kernel = &schedule::with_parameters(kernel, &board.machine.parameters);
    let made = match scheduled {
        true => schedule::apply_at(kernel, sizes).map(schedule::At::scheduled),
        false => schedule::apply_directives(kernel, &[]),
    };
    let mapped = made.and_then(|s| mapped_at(board, &s, sizes, loops));
    let mapped = mapped.map_err(|w| semantics::diagnostic::render(&w))?;
    match (mapped.code, mapped.untiled.is_empty()) {
        (Code::Function(function), true) => Ok(function),
        _ => Err(semantics::diagnostic::render(&mapped.untiled)),
    }
}

fn sizes(kernel: &Kernel, of: &BTreeMap<&str, i64>) -> BTreeMap<Symbol, i64> {
    let each = kernel.sizes();
    each.map(|s| (s, of[kernel.symbol_name(s).as_str()]))
        .collect()
}

/// Values of the sizes of our examples.
fn drawn(random: &mut Random, unit: i64) -> BTreeMap<&'static str, i64> {
    let mut by = |unit: i64, most: u64| {
        let n = 1 + random.below(most);
        unit * i64::try_from(n).expect("small")
    };
    BTreeMap::from([
        ("m", by(unit, 3)),
        ("n", by(unit, 3)),
        ("k", by(unit, 4)),
        ("oc", by(unit, 2)),
        ("ic", by(1, 6)),
    ])
}

#[test]
fn plain_kernels_cost_no_more_than_schedules_by_hand() {
    let board = Board::new(described("rvm"));
    let mut random = Random::new(crate::given("ISAFORGE_ACCELERATORS_SEED", 1));
    let pairs = [
        (example("product_plain.kernel"), "product.kernel"),
        (kernels(CONVOLUTION), "conv1d.kernel"),
        (example("product_rows.kernel"), "product_rows.kernel"),
        (example("case_study.kernel"), "case_study.kernel"),
    ];
    let mut slow = Vec::new();
    for (plain, hand) in pairs {
        for _ in 0..3 {
            let of = drawn(&mut random, 16);
            let run = |kernel: &Kernel, how| {
                let sizes = sizes(kernel, &of);
                let function = map(&board, kernel, &sizes, how).ok()?;
                Some(board.agrees(kernel, &sizes, &function, 1..2).total)
            };
            let found = GROUPS.iter().map(|&(down, along)| {
                let rounds = 4;
                let variant = Variant {
                    down,
                    along,
                    rounds,
                };
                (false, Loops::Tiles(Some(variant)))
            });
            let ways = found.chain([(false, Loops::Large)]);
            let own = ways.filter_map(|how| run(&plain[0], how)).min();
            let own = own.expect("one maps");
            let by_hand = example(hand);
            // Of several kernels those without a schedule are where the others began.
            let written = |k: &&Kernel| by_hand.len() == 1 || !k.schedule.is_empty();
            let best = by_hand.iter().filter(written);
            let best = best.filter_map(|k| run(k, (true, Loops::Large))).min();
            let best = best.expect("one maps");
            let ratio = own as f64 / best as f64;
            let log = format!("{hand} {of:?}: {own} cycles, by hand {best}: {ratio:.2}");
            println!("{log}");
            if ratio > MOST {
                slow.push(log);
            }
        }
    }
    assert!(slow.is_empty(), "{slow:#?}");
}

/// What `conv1d.kernel` computes, as one writes it down.
const CONVOLUTION: &str = "kernel conv1d(oc: size, n: size, ic: size, data: in i32[ic, n + 4], \
    weights: in i32[oc, ic, 4], result: out i32[oc, n]) { for i in 0..oc { for j in 0..n { \
    result[i, j] = 0; for c in 0..ic { for r in 0..4 { \
    result[i, j] += data[c, j + r] * weights[i, c, r]; } } } } }";

/// Groups of tiles among which `--schedule auto` searches.
const GROUPS: [(i64, i64); 6] = [(1, 1), (2, 1), (1, 2), (2, 2), (3, 1), (4, 1)];

/// How many times the cycles of a schedule by hand a plain kernel may take.
const MOST: f64 = 1.1;

#[test]
fn examples_agree_on_machines_of_other_shapes() {
    let examples = [
        "product_plain.kernel",
        "product.kernel",
        "conv1d_plain.kernel",
        "conv1d.kernel",
        "product_rows.kernel",
        "case_study.kernel",
    ];
    for (rows, row) in [(4, 128), (4, 256), (4, 512), (8, 256), (8, 512), (16, 512)] {
        let name = format!("rvm of {rows} rows of {row}");
        let edits = [
            ("ROWS: 4 ", format!("ROWS: {rows} ")),
            ("RLEN: 32 * ROWS", format!("RLEN: {row}")),
        ];
        let edits = edits.each_ref().map(|(from, to)| (*from, to.as_str()));
        let board = Board::new(described_with("rvm", &name, &edits));
        let mut tiles = 0;
        for file in examples {
            for kernel in example(file) {
                let of = drawn(&mut Random::new(rows), 16);
                let sizes = sizes(&kernel, &of);
                let large = Loops::Large;
                let function = map(&board, &kernel, &sizes, (true, large))
                    .or_else(|_| map(&board, &kernel, &sizes, (false, large)));
                let function = function.unwrap_or_else(|w| panic!("{name}: {file}: {w}"));
                tiles += usize::from(function.registers > 0);
                board.agrees(&kernel, &sizes, &function, 1..2);
            }
        }
        println!("{name}: {tiles} with tiles");
        assert!(tiles >= 5, "{name}: {tiles} with tiles");
    }
}

#[test]
fn rows_that_do_not_hold_a_line_of_results_are_told() {
    let edits = [("ROWS: 4 ", "ROWS: 8 "), ("RLEN: 32 * ROWS", "RLEN: 128")];
    let (_, wrong) = loaded("rvm", "rvm of short rows", &edits);
    let log = wrong.iter().filter(|w| w.message.contains("no column 4"));
    assert!(
        log.count() > 0,
        "elements of a result lie outside their row"
    );
}
