//! Loads and stores: scaling, blocks, broadcasts, pooling.

use super::board::{ADDS, Board, FULL, SUMS, bytes, local, machine, scale};
use semantics::random::Random;

/// The nearest byte to a product in single precision, ties to even.
fn scaled(x: i32, by: f32) -> i8 {
    (x as f32 * by).round_ties_even().clamp(-128.0, 127.0) as i8
}

#[test]
fn loads_scale_and_stores_round_to_even() {
    let machine = machine();
    let mut random = Random::new(29);
    for by in [1.0_f32, 0.5, 0.1, -1.5, 300.0, 1e-9] {
        let values = bytes(&mut random, 16 * 16);
        let mut board = Board::new(&machine);
        board.poke(0x1000, &values);
        board.load_config(0, 16, by);
        board.store_config(16, 0, 1.0);
        board.ok("mvin", 0x1000, local(0, 16, 16));
        board.ok("mvout", 0x2000, local(0, 16, 16));
        let wanted: Vec<i8> = values.iter().map(|&v| scaled(i32::from(v), by)).collect();
        assert_eq!(board.peek(0x2000, 256), wanted, "a load by {by}");
    }
    let sums = [
        0,
        1,
        -1,
        3,
        5,
        -5,
        i32::MAX,
        i32::MIN,
        16_777_217,
        255,
        256,
        -257,
        2,
        6,
        10,
        1 << 24,
    ];
    for by in [1.0_f32, 0.5, 0.25, 1.0 / 3.0, 1e-7, -0.5] {
        let mut board = Board::new(&machine);
        board.poke32(0x1000, &sums);
        board.load_config(0, 64, 9.0);
        board.store_config(16, 0, by);
        // Sums of full width are not scaled by a load.
        board.ok("mvin", 0x1000, local(SUMS, 1, 16));
        board.ok("mvout", 0x2000, local(SUMS, 1, 16));
        let wanted: Vec<i8> = sums.iter().map(|&v| scaled(v, by)).collect();
        assert_eq!(board.peek(0x2000, 16), wanted, "a store by {by}");
    }
}

#[test]
fn wide_loads_are_blocks_of_rows() {
    let machine = machine();
    let mut random = Random::new(31);
    let values = bytes(&mut random, 5 * 50);
    let mut board = Board::new(&machine);
    board.poke(0x1000, &values);
    // Blocks 100 rows apart.
    board.ok("config", 1 | 100 << 16 | scale(1.0) << 32, 50);
    board.store_config(16, 0, 1.0);
    board.ok("mvin", 0x1000, local(7, 5, 50));
    for block in 0..4 {
        let columns = 16.min(50 - 16 * block);
        board.ok(
            "mvout",
            0x2000,
            local(7 + 100 * block as u64, 5, columns as u64),
        );
        for r in 0..5 {
            let wanted = &values[50 * r + 16 * block..][..columns];
            assert_eq!(board.peek(0x2000 + 16 * r as u64, columns), wanted);
        }
        board.ok("fence", 0, 0);
    }
}

#[test]
fn a_stride_of_zero_repeats_a_row_and_no_address_is_zeros() {
    let machine = machine();
    let mut board = Board::new(&machine);
    board.poke32(0x1000, &[1, -2, 3]);
    board.load_config(2, 0, 1.0);
    board.store_config(12, 0, 1.0);
    board.ok("mvin3", 0x1000, local(SUMS, 4, 3));
    board.ok("mvin3", 0x1000, local(ADDS | 1, 2, 3));
    board.ok("mvin3", 0, local(ADDS, 4, 3));
    board.ok("mvout", 0x2000, local(FULL, 4, 3));
    assert_eq!(
        board.peek32(0x2000, 12),
        [1, -2, 3, 2, -4, 6, 2, -4, 6, 1, -2, 3]
    );
    board.ok("mvin3", 0, local(SUMS, 2, 3));
    board.ok("mvout", 0x3000, local(FULL, 2, 3));
    assert_eq!(board.peek32(0x3000, 6), [0; 6]);
}

#[test]
fn pooling_takes_the_greatest_and_counts_what_is_outside_as_zero() {
    let machine = machine();
    let mut random = Random::new(37);
    // An image of 5 rows of 6 pixels with 3 channels, windows of 3 every 2, 1 of padding.
    let (h, w, c) = (5_usize, 6_usize, 3_usize);
    let image: Vec<i32> = bytes(&mut random, h * w * c)
        .iter()
        .map(|&x| i32::from(x) - 60)
        .collect();
    for act in [0_u64, 1] {
        let mut board = Board::new(&machine);
        board.poke32(0x1000, &image);
        board.load_config(0, 4 * c as u64, 1.0);
        for part in 0..2 {
            let rows = [16, 14][part as usize];
            let from = 0x1000 + part * 16 * 4 * c as u64;
            board.ok("mvin", from, local(SUMS | (16 * part), rows, c as u64));
        }
        let (oh, ow) = (3_u64, 3_u64);
        let rs1 = 2 | act << 2 | 2 << 4 | 3 << 6 | 1 << 8 | 1 << 10 | ow << 24 | oh << 32;
        let rs1 = rs1 | ow << 40 | (h as u64) << 48 | (w as u64) << 56;
        board.ok("config", rs1, c as u64 | scale(0.5) << 32);
        board.ok("mvout", 0x2000, local(SUMS, 0, c as u64));
        let got = board.peek(0x2000, 27);
        for (at, got) in got.iter().enumerate() {
            let (y, x, ch) = ((at / 9) as i64, (at / 3 % 3) as i64, at % 3);
            let pixel = |iy: i64, ix: i64| match (0..5).contains(&iy) && (0..6).contains(&ix) {
                false => 0,
                true => {
                    let value = scaled(image[((iy * 6 + ix) as usize) * 3 + ch], 0.5);
                    if act == 1 { value.max(0) } else { value }
                }
            };
            let window = (0..9).map(|k| pixel(2 * y - 1 + k / 3, 2 * x - 1 + k % 3));
            assert_eq!(*got, window.max().expect("nine"), "{y} {x} {ch}");
        }
    }
}

#[test]
fn pixels_are_repeated_towards_lower_rows() {
    let machine = machine();
    let mut board = Board::new(&machine);
    board.poke(0x1000, &[1, 2, 3, 4, 5, 6]);
    board.ok("config", 1 | 3 << 8 | 16 << 16 | scale(1.0) << 32, 2);
    board.store_config(16, 0, 1.0);
    board.ok("mvin", 0x1000, local(2, 3, 2));
    board.ok("mvout", 0x2000, local(2, 1, 6));
    assert_eq!(board.peek(0x2000, 6), [1, 2, 3, 4, 5, 6]);
}

#[test]
fn pixels_are_repeated_in_the_accumulator_too() {
    let machine = machine();
    let mut board = Board::new(&machine);
    board.poke32(0x1000, &[1, 2, 3, 4, 5, 6]);
    board.ok("config", 1 | 3 << 8 | 16 << 16 | scale(1.0) << 32, 8);
    board.store_config(32, 0, 1.0);
    board.ok("mvin", 0x1000, local(SUMS | 2, 3, 2));
    board.ok("mvout", 0x2000, local(FULL | 2, 1, 6));
    assert_eq!(board.peek32(0x2000, 6), [1, 2, 3, 4, 5, 6]);
    // Repeats add where the load adds, and zeros are repeated where it sets to zeros.
    board.ok("mvin", 0x1000, local(ADDS | 2, 3, 2));
    board.ok("mvout", 0x3000, local(FULL | 2, 1, 6));
    assert_eq!(board.peek32(0x3000, 6), [2, 4, 6, 8, 10, 12]);
    board.ok("mvin", 0, local(SUMS | 2, 3, 2));
    board.ok("mvout", 0x4000, local(FULL | 2, 1, 6));
    assert_eq!(board.peek32(0x4000, 6), [0; 6]);
    // Small elements, scaled; there is no row below the first one to repeat into.
    board.poke(0x1100, &[10, -20, 30, -40]);
    let rs1 = 1 | 1 << 2 | 4 << 8 | 16 << 16 | scale(0.5) << 32;
    board.ok("config", rs1, 2);
    board.ok("mvin", 0x1100, local(SUMS, 2, 2));
    board.ok("mvout", 0x5000, local(FULL, 1, 4));
    assert_eq!(board.peek32(0x5000, 4), [5, -10, 15, -20]);
    // A repeat past the last column is as undefined as in the scratchpad.
    let beyond = board.run("mvin", 0x1000, local(SUMS | 3, 2, 9));
    assert!(beyond.is_err(), "{beyond:?}");
}
