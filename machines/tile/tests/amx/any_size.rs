//! Sums of products of bytes: kernels of all layouts, of sizes that fill tiles and that do not.

use crate::board::{Board, described, kernels};
use kernel::index::Symbol;
use kernel::tree::Kernel;
use semantics::diagnostic::render;
use std::collections::BTreeMap;
use tile::mapped::{self, Code, Loops, Request};
use tile::program::Function;
use tile::systolic::place::Constraints;

fn map(board: &Board, kernel: &Kernel, sizes: &BTreeMap<Symbol, i64>) -> Function {
    let request = Request {
        first: 64,
        apart: 64,
        loops: Loops::Tiles(None),
        constraints: Constraints::default(),
        machine_code: false,
    };
    let scheduled = schedule::apply(kernel).expect("nothing is scheduled");
    let mapped = mapped::map(&scheduled, sizes, &board.machine, &board.prover, &request);
    let mapped = mapped.unwrap_or_else(|w| panic!("{}: {}", kernel.name, render(&w)));
    match mapped.code {
        Code::Function(function) => function,
        Code::Commands(..) => panic!("there is no array"),
    }
}

fn sizes(kernel: &Kernel, values: &[i64]) -> BTreeMap<Symbol, i64> {
    kernel.sizes().zip(values.iter().copied()).collect()
}

/// How many products of tiles a program has in its text.
fn products(board: &Board, function: &Function) -> usize {
    let name = |k: usize| board.machine.instructions[k].instruction.name.as_str();
    let of = function
        .code
        .iter()
        .filter(|(k, _)| name(*k).starts_with("tdp"));
    of.count()
}

/// A kernel of each layout: the factors' types, and how the right one lies.
const KERNELS: &str = "
kernel transposed(m: size, n: size, k: size, a: in i8[m, k], b: in i8[n, k], c: inout i32[m, n]) {
  for i in 0..m { for j in 0..n { for p in 0..k { c[i, j] += i32(a[i, p]) * i32(b[j, p]); } } }
}
kernel straight(m: size, n: size, k: size, a: in u8[m, k], b: in i8[k, n], c: out i32[m, n]) {
  for i in 0..m { for j in 0..n { c[i, j] = 0; for p in 0..k { c[i, j] += i32(a[i, p]) * i32(b[p, j]); } } }
}
kernel packed(m: size, n: size, k: size, a: in i8[m, 4*k], b: in u8[k, n, 4], c: inout i32[m, n]) {
  for i in 0..m { for j in 0..n { for p in 0..k { for q in 0..4 {
    c[i, j] += i32(a[i, 4*p + q]) * i32(b[p, j, q]); } } } }
}
kernel turned(m: size, n: size, k: size, a: in u8[k, m], b: in u8[k, n], c: inout u32[m, n]) {
  for i in 0..m { for j in 0..n { for p in 0..k { c[i, j] += u32(a[p, i]) * u32(b[p, j]); } } }
}
kernel conv(m: size, n: size, k: size, d: in i8[k, n + 4], w: in i8[m, k, 4], c: inout i32[m, n]) {
  for i in 0..m { for j in 0..n { for p in 0..k { for r in 0..4 {
    c[i, j] += i32(d[p, j + r]) * i32(w[i, p, r]); } } } }
}
kernel relu(m: size, n: size, k: size, a: in i8[m, k], b: in i8[k, n], c: out i32[m, n]) {
  for i in 0..m { for j in 0..n { var s: i32 = 0; for p in 0..k { s += i32(a[i, p]) * i32(b[p, j]); }
    c[i, j] = max(s, 0); } }
}
";

#[test]
fn six_kernels_agree_where_tiles_are_full_and_where_not() {
    let board = Board::new(described("amx"));
    for (n, kernel) in kernels(KERNELS).into_iter().enumerate() {
        // One that fills tiles, and one that does not.
        let full = [[16, 16, 64], [16, 32, 64]];
        for values in [full[n % 2], [21, 19, 70]] {
            let sizes = sizes(&kernel, &values);
            let function = map(&board, &kernel, &sizes);
            assert!(products(&board, &function) > 0, "{}: tiles", kernel.name);
            let cycles = board.agrees(&kernel, &sizes, &function, 1..2);
            println!("{} {values:?}: {} cycles", kernel.name, cycles.total);
        }
    }
}
