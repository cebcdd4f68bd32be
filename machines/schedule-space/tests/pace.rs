//! Cycles that are counted with rounds left out, beside those of running every instruction.

use board::{machine, parse};
use kernel::index::Symbol;
use kernel::tree::Kernel;
use schedule_space::pace;
use semantics::machine::Machine;
use semantics::random::Random;
use smt::config::Config;
use smt::prover::Prover;
use std::collections::BTreeMap;
use tile::cost::{Clock, Cycles};
use tile::loop_codegen::{Blocks, Variant, in_tiles};
use tile::program::Function;

mod board;

/// Sums in several forms, for types of both factors and of sums.
const KERNELS: [&str; 5] = [
    "kernel t(m: size, n: size, k: size, a: in L[m, k], b: in R[n, k], c: inout S[m, n]) { \
     for i in 0..m { for j in 0..n { for p in 0..k { c[i, j] += S(a[i, p]) * S(b[j, p]); } } } }",
    "kernel t(m: size, n: size, k: size, a: in L[k, m], b: in R[k, n], c: out S[m, n]) { \
     for i in 0..m { for j in 0..n { c[i, j] = 0; \
     for p in 0..k { c[i, j] += S(a[p, i]) * S(b[p, j]); } } } }",
    "kernel t(m: size, n: size, k: size, a: in L[m, k], b: in R[n, k], c: out S[m, n]) { \
     for i in 0..m { for j in 0..n { var s: S = 0; \
     for p in 0..k { s += S(a[i, p]) * S(b[j, p]); } c[i, j] = max(s, 7); } } }",
    "kernel t(m: size, n: size, k: size, d: in L[k, 2*n + 3], w: in R[m, k, 3], c: inout S[m, n]) { \
     for i in 0..m { for j in 0..n { for q in 0..k { for r in 0..3 { \
     c[i, j] += S(d[q, 2*j + r]) * S(w[i, q, r]); } } } } }",
    "kernel t(m: size, n: size, k: size, a: in L[m, m + k], b: in R[m + k, n], c: inout S[m, n]) { \
     for i in 0..m { for j in 0..n { for p in 0..i + 1 { c[i, j] += S(a[i, p]) * S(b[p, j]); } } } }",
];

/// The cycles of a function, of which each instruction is run.
fn run(machine: &Machine, function: &Function) -> Cycles {
    let (listed, mut simulator) = pace::loaded(machine, function).expect("the arrays fit");
    let mut clock = Clock::new(machine, tile::map::in_flight(machine));
    let ran = simulator.run_watched(&listed, 1 << 26, &mut |done| {
        let touched: Vec<u64> = done.touched.iter().map(|a| a.address).collect();
        clock.next(&function.code[done.at], done.jumps, &touched);
    });
    ran.expect("it ends");
    clock.cycles()
}

fn text(of: &str, random: &mut Random) -> String {
    let types = [
        ["i8", "i8", "i32"],
        ["u8", "i8", "i32"],
        ["i32", "i32", "i32"],
    ];
    let [l, r, s] = *random.pick(&types);
    let of = of
        .replace("L[", &format!("{l}["))
        .replace("R[", &format!("{r}["));
    let of = of
        .replace("S[", &format!("{s}["))
        .replace("s: S", &format!("s: {s}"));
    of.replace("S(", &format!("{s}(")).replace("0..i32", "0..i")
}

#[test]
fn rounds_that_are_left_out_take_what_they_take() {
    for (model, seed) in [(None, 1), (Some("measured"), 2)] {
        let machine = match model {
            None => machine("rvm"),
            Some(name) => machine("rvm").with_model(name).expect("it has this model"),
        };
        let scalars = pace::scalars(&machine).expect("it has a host");
        let prover = Prover::new(Config::default());
        let blocks = Blocks::of(&machine, &prover);
        let mut random = Random::new(seed);
        let (mut all, mut compared) = (0, 0);
        for _ in 0..30 {
            let kernel: Kernel = parse(&text(random.pick::<&str>(&KERNELS), &mut random));
            let mut size = |most: u64| 1 + i64::try_from(random.below(most)).expect("small");
            let most = [90, 70, 150];
            let sizes: BTreeMap<Symbol, i64> = kernel.sizes().zip(most.map(&mut size)).collect();
            let (down, along, rounds) = (size(3), size(2), size(4));
            let variant = Variant {
                down,
                along,
                rounds,
            };
            let plain = schedule::apply(&kernel).expect("it has no schedule");
            let tiles = in_tiles(&plain, &sizes, (&machine, &blocks), Some(variant));
            let Ok(Some(tiles)) = tiles else { continue };
            let Ok(function) = tiles.map(&sizes, &machine, &prover, (64, 64)) else {
                continue;
            };
            let mut steps = 0;
            let wanted = run(&machine, &function);
            let most = |n: u64| (n, None);
            let found = pace::cycles((&machine, &scalars), &function, most(1 << 26));
            assert_eq!(found, Some(wanted.clone()), "{sizes:?} {variant:?}");
            compared += 1;
            while pace::cycles((&machine, &scalars), &function, most(1 << steps)).is_none() {
                steps += 1;
            }
            println!("{} cycles, below 2^{steps} instructions run", wanted.total);
            all += usize::from(wanted.issued >> steps > 8);
        }
        assert!(compared > 10, "{compared}");
        assert!(all > 3, "rounds are left out: {all}");
    }
}
