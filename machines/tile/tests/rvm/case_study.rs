//! The case study's five versions of one convolution, mapped, run and counted; and what cannot
//! be mapped.

use crate::board::{Board, kernels, map_written, rvm};
use expect_test::{Expect, expect};
use kernel::tree::Kernel;
use semantics::diagnostic::render;
use smt::config::Config;
use smt::prover::Prover;
use tile::cost::Cycles;

fn study() -> Vec<Kernel> {
    kernels(include_str!("../../../../examples/rvm/case_study.kernel"))
}

/// Runs a kernel with these sizes on data of some seeds; the cycles of the model.
fn agrees(board: &Board, kernel: &Kernel, sizes: &[i64], seeds: std::ops::Range<u64>) -> Cycles {
    let sizes = kernel.sizes().zip(sizes.iter().copied()).collect();
    let program = map_written(kernel, &sizes, &board.machine, &board.prover)
        .unwrap_or_else(|wrong| panic!("{}: {}", kernel.name, render(&wrong)));
    board.agrees(kernel, &sizes, &program, seeds)
}

#[test]
fn the_model_ranks_the_versions_as_the_study_measured() {
    let board = Board::new(rvm());
    let cycles: Vec<u64> = study()
        .iter()
        .map(|k| agrees(&board, k, &[16, 16, 4], 0..1).total)
        .collect();
    let [one, two, three, four, five, six] = cycles[..] else {
        panic!("five listings and the finished one");
    };
    let against = |n: u64| one as f64 / n as f64;
    println!("cycles {cycles:?}");
    // Copying first is no gain by itself; about 4 times, about 16 times, a little more.
    assert!(two > four && three > four, "{cycles:?}");
    assert!((3.0..6.0).contains(&against(four)), "{cycles:?}");
    assert!((11.0..22.0).contains(&against(five)), "{cycles:?}");
    assert!(six < five, "{cycles:?}");
}

#[test]
fn all_versions_agree_on_many_sizes() {
    let board = Board::new(rvm());
    for kernel in &study() {
        for n in [4, 8, 12, 16, 20] {
            for ic in 1..5 {
                agrees(&board, kernel, &[16, n, ic], 0..10);
            }
        }
        agrees(&board, kernel, &[32, 8, 2], 0..2);
    }
}

#[test]
fn fences_stand_where_host_and_tiles_share_memory() {
    let machine = rvm();
    let prover = Prover::new(Config::default());
    for kernel in &study() {
        let sizes = kernel.sizes().zip([16, 8, 2]).collect();
        let program = map_written(kernel, &sizes, &machine, &prover).expect("it maps");
        let named = schedule::with_parameters(kernel, &machine.parameters);
        let at = schedule::apply_at(&named, &sizes).map(schedule::At::scheduled);
        let tiles = at.is_ok_and(|s| tile::loop_codegen::uses_tiles(&s));
        assert_eq!(program.fences > 0, tiles, "{}", kernel.name);
        let mut without = machine.clone();
        without.fence = None;
        let wrong = map_written(kernel, &sizes, &without, &prover);
        match wrong {
            Err(wrong) if tiles => assert!(render(&wrong).contains("out of order")),
            Err(wrong) => panic!("{}: {}", kernel.name, render(&wrong)),
            Ok(_) => assert!(!tiles, "{} needs fences", kernel.name),
        }
    }
}

fn refuses(text: &str, sizes: &[i64], expected: Expect) {
    let kernel = &kernels(text)[0];
    let sizes = kernel.sizes().zip(sizes.iter().copied()).collect();
    let prover = Prover::new(Config::default());
    let wrong = map_written(kernel, &sizes, &rvm(), &prover);
    expected.assert_eq(&render(&wrong.expect_err("it cannot be mapped")));
}

/// A product whose rows of results are `rows` tiles high.
fn product(schedule: &str) -> String {
    format!(
        "kernel product(m: size, n: size, k: size, a: in i16[m, k], b: in i16[n, k], c: inout i32[m, n])
  requires m % 48 == 0, n % 4 == 0, k % 8 == 0 {{
  for i in 0..m {{
    for j in 0..n {{
      for p in 0..k {{
        c[i, j] += i32(a[i, p]) * i32(b[j, p]);
      }}
    }}
  }}
}} schedule {{
{schedule}
}}
"
    )
}

const WHOLE: &str = "  tile i, j, p by 4, 4, 8 into io, jo, po;
  stage_mem c over po as ct; stage_mem a over i as at; stage_mem b over i as bt;
  set_memory ct in m; set_memory at in m; set_memory bt in m;";

#[test]
fn a_product_by_schedule_agrees() {
    let board = Board::new(rvm());
    let kernel = &kernels(&product(WHOLE))[0];
    for sizes in [[48, 4, 8], [48, 8, 24], [96, 4, 16]] {
        agrees(&board, kernel, &sizes, 0..10);
    }
}

#[test]
fn an_operand_in_the_wrong_memory() {
    let text = product(&WHOLE.replace(" set_memory bt in m;", ""));
    refuses(
        &text,
        &[48, 4, 8],
        expect![[r#"
        error: `mmada.h` takes tiles of `m`, and `bt` lives in main memory
         --> test.kernel:3:7
          |
        3 |   for i in 0..m {
          |       ^
          = hint: put it there: `set_memory bt in m;`

    "#]],
    );
    let text = product(&WHOLE.replace("set_memory bt in m", "set_memory bt in scratch"));
    refuses(
        &text,
        &[48, 4, 8],
        expect![[r#"
        error: `bt` is to live in `scratch`, and there is no such memory
         --> test.kernel:3:7
          |
        3 |   for i in 0..m {
          |       ^
          = hint: there are `m` and `main`: `set_memory bt in m`

    "#]],
    );
}

#[test]
fn too_few_registers() {
    let text = product(
        "  tile i, j, p by 48, 4, 8 into io, jo, po;
  split i by 4 into t;
  stage_mem a over i as at; stage_mem c over i as ct; stage_mem b over t as bt;
  set_memory ct in m; set_memory at in m; set_memory bt in m;
  expand_dim at by t; lift_alloc at; fission t after at_i into ta, t; unroll ta; unroll t; unroll_buffer at;",
    );
    refuses(
        &text,
        &[48, 4, 8],
        expect![[r#"
        error: there are too few tile registers: 14 are needed at once (12 for `at`, 1 for `bt`, 1 for `ct`), there are 8, 6 missing
         --> test.kernel:3:7
          |
        3 |   for i in 0..m {
          |       ^
          = hint: let at most 6 tiles of `at` be there at once: a smaller number in the `split` or `tile` whose loop is unrolled over them, or `stage_mem` over a loop further inside

    "#]],
    );
}

#[test]
fn a_stride_that_no_instruction_has() {
    // Columns of `a`: neighbours of a row are not neighbours in memory.
    let text = product(WHOLE)
        .replace("a: in i16[m, k]", "a: in i16[k, m]")
        .replace("a[i, p]", "a[p, i]");
    refuses(
        &text,
        &[48, 4, 8],
        expect![[r#"
        error: this is no tile instruction: it writes several arrays
         --> test.kernel:4:9
          |
        4 |     for j in 0..n {
          |         ^
          = hint: a block is a whole tile: cut the loops around it by `tile`

    "#]],
    );
    // Rows of 18 bytes.
    let text = product(WHOLE).replace("a: in i16[m, k]", "a: in i16[m, k + 1]");
    refuses(
        &text,
        &[48, 4, 8],
        expect![[r#"
        error: a window of `a` has rows 18 bytes apart and does not always begin at a word: tiles are moved in words of 4
         --> test.kernel:3:7
          |
        3 |   for i in 0..m {
          |       ^
          = hint: pad the rows: `[…, … pad 2]`

    "#]],
    );
}

#[test]
fn a_size_that_is_no_multiple() {
    refuses(
        &product(WHOLE),
        &[48, 6, 8],
        expect![[r#"
        error: this precondition does not hold for these sizes
         --> test.kernel:2:25
          |
        2 |   requires m % 48 == 0, n % 4 == 0, k % 8 == 0 {
          |                         ^^^^^^^^^^
          = hint: take sizes for which it holds, or pad the arrays to such sizes

    "#]],
    );
    // Where the kernel does not require it, the schedule is for what fills tiles, and the rest is run behind it.
    let text = product(WHOLE).replace("m % 48 == 0, n % 4 == 0, k % 8 == 0", "m >= 1");
    let board = Board::new(rvm());
    for sizes in [[48, 6, 8], [5, 4, 10], [9, 7, 18], [3, 9, 8]] {
        agrees(&board, &kernels(&text)[0], &sizes, 0..2);
    }
}
