//! Other arrays are edits of the manifest: half the size, and floats.

use super::board::{ADDS, Board, FULL, GARBAGE, SUMS, bytes, edited, local};
use semantics::random::Random;

#[test]
fn an_array_of_eight() {
    let machine = edited("dim8", &[("DIM: 16 ", "DIM: 8 ")]);
    let mut random = Random::new(41);
    let (a, b) = (bytes(&mut random, 64), bytes(&mut random, 64));
    let mut board = Board::new(&machine);
    board.poke(0x1000, &a);
    board.poke(0x2000, &b);
    board.weights();
    board.load_config(0, 8, 1.0);
    board.store_config(32, 0, 1.0);
    board.ok("mvin", 0x1000, local(0, 8, 8));
    board.ok("mvin", 0x2000, local(8, 8, 8));
    board.ok("preload", local(8, 8, 8), local(SUMS, 8, 8));
    board.ok("compute.preloaded", local(0, 8, 8), local(GARBAGE, 8, 8));
    board.ok("mvout", 0x4000, local(FULL, 8, 8));
    let product = |i: usize, j: usize| -> i32 {
        (0..8)
            .map(|k| i32::from(a[8 * i + k]) * i32::from(b[8 * k + j]))
            .sum()
    };
    let wanted: Vec<i32> = (0..64).map(|e| product(e / 8, e % 8)).collect();
    assert_eq!(board.peek32(0x4000, 64), wanted);
    let reason = board.run("mvin", 0x1000, local(0, 9, 8));
    assert!(reason.is_err_and(|r| r.contains("1 to DIM rows")));
}

#[test]
fn an_array_of_floats() {
    let machine = edited(
        "fp32",
        &[
            ("elem: s8", "elem: f32"),
            ("acc: s32", "acc: f32"),
            ("BLOCKS: 64 / DIM ", "BLOCKS: 1 "),
        ],
    );
    let mut random = Random::new(43);
    let mut floats = |n: usize| -> Vec<f32> {
        (0..n)
            .map(|_| (random.next_bits() % 2001) as f32 / 7.0 - 140.0)
            .collect()
    };
    let (a, b, d) = (floats(4 * 16), floats(16 * 5), floats(5));
    let bits = |x: &[f32]| -> Vec<i32> { x.iter().map(|v| v.to_bits().cast_signed()).collect() };
    let mut board = Board::new(&machine);
    board.poke32(0x1000, &bits(&a));
    board.poke32(0x2000, &bits(&b));
    board.poke32(0x3000, &bits(&d));
    board.weights();
    board.load_config(0, 64, 1.0);
    board.load_config(1, 20, 1.0);
    board.load_config(2, 0, 1.0);
    board.store_config(20, 1, 0.5);
    board.ok("mvin", 0x1000, local(0, 4, 16));
    board.ok("mvin2", 0x2000, local(16, 16, 5));
    board.ok("mvin3", 0x3000, local(SUMS, 4, 5));
    board.ok("preload", local(16, 16, 5), local(ADDS, 4, 5));
    board.ok("compute.preloaded", local(0, 4, 16), local(GARBAGE, 16, 16));
    board.ok("mvout", 0x4000, local(SUMS, 4, 5));
    let mut wanted = Vec::new();
    for i in 0..4 {
        for j in 0..5 {
            let mut sum = 0.0_f32;
            (0..16).for_each(|k| sum += a[16 * i + k] * b[5 * k + j]);
            // Half, exactly; relu.
            wanted.push(((d[j] + sum) * 0.5).max(0.0));
        }
    }
    assert_eq!(board.peek32(0x4000, 20), bits(&wanted));
}
