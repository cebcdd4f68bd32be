//! Products in both data flows, with and without transposes, against plain loops.

use super::board::{ADDS, Board, FULL, GARBAGE, SUMS, bytes, local, machine};
use semantics::random::Random;

struct Case {
    rows: usize,
    inner: usize,
    columns: usize,
}

const CASES: &[Case] = &[
    Case {
        rows: 16,
        inner: 16,
        columns: 16,
    },
    Case {
        rows: 1,
        inner: 1,
        columns: 1,
    },
    Case {
        rows: 5,
        inner: 16,
        columns: 3,
    },
    Case {
        rows: 16,
        inner: 7,
        columns: 11,
    },
];

/// `a` times `b` plus `d`, row by row.
fn plain(case: &Case, a: &[i8], b: &[i8], d: &[i32]) -> Vec<i32> {
    let mut out = Vec::new();
    for i in 0..case.rows {
        for j in 0..case.columns {
            let products = (0..case.inner)
                .map(|k| i32::from(a[i * case.inner + k]) * i32::from(b[k * case.columns + j]));
            out.push(d[i * case.columns + j].wrapping_add(products.sum()));
        }
    }
    out
}

#[test]
fn weight_stationary_products_are_plain_products() {
    let machine = machine();
    let mut random = Random::new(7);
    for case in CASES {
        let (m, k, n) = (case.rows, case.inner, case.columns);
        let (a, b) = (bytes(&mut random, m * k), bytes(&mut random, k * n));
        let d: Vec<i32> = bytes(&mut random, m * n)
            .iter()
            .map(|&x| i32::from(x) << 8)
            .collect();
        let mut board = Board::new(&machine);
        board.poke(0x1000, &a);
        board.poke(0x2000, &b);
        board.poke32(0x3000, &d);
        board.weights();
        board.load_config(0, k as u64, 1.0);
        board.load_config(1, n as u64, 1.0);
        board.load_config(2, 4 * n as u64, 1.0);
        board.store_config(4 * n as u64, 0, 1.0);
        let (m, k, n) = (m as u64, k as u64, n as u64);
        board.ok("mvin", 0x1000, local(0, m, k));
        board.ok("mvin2", 0x2000, local(16, k, n));
        board.ok("mvin3", 0x3000, local(SUMS, m, n));
        board.ok("preload", local(16, k, n), local(ADDS, m, n));
        board.ok("compute.preloaded", local(0, m, k), local(GARBAGE, 16, 16));
        board.ok("mvout", 0x4000, local(FULL, m, n));
        assert_eq!(board.peek32(0x4000, d.len()), plain(case, &a, &b, &d));
    }
}

#[test]
fn output_stationary_products_are_rounded_to_even() {
    let machine = machine();
    let mut random = Random::new(11);
    for case in CASES {
        for shift in [0_u64, 1, 5, 9] {
            let (m, k, n) = (case.rows, case.inner, case.columns);
            let (a, b) = (bytes(&mut random, m * k), bytes(&mut random, k * n));
            let mut board = Board::new(&machine);
            board.poke(0x1000, &a);
            board.poke(0x2000, &b);
            board.outputs(shift);
            board.load_config(0, k as u64, 1.0);
            board.load_config(1, n as u64, 1.0);
            board.store_config(n as u64, 0, 1.0);
            let (m, k, n) = (m as u64, k as u64, n as u64);
            board.ok("mvin", 0x1000, local(0, m, k));
            board.ok("mvin2", 0x2000, local(16, k, n));
            board.ok("preload", local(GARBAGE, m, n), local(32, m, n));
            board.ok("compute.preloaded", local(0, m, k), local(16, k, n));
            board.ok("mvout", 0x4000, local(32, m, n));
            let sums = plain(case, &a, &b, &vec![0; case.rows * case.columns]);
            let wanted: Vec<i8> = sums.iter().map(|&s| rounded(s, shift)).collect();
            assert_eq!(board.peek(0x4000, wanted.len()), wanted, "shift {shift}");
        }
    }
}

/// A quotient by a power of two to the nearest, ties to even, clamped.
fn rounded(x: i32, by: u64) -> i8 {
    let exact = f64::from(x) / f64::from(1_u32 << by);
    exact.round_ties_even().clamp(-128.0, 127.0) as i8
}

#[test]
fn factors_are_transposed_on_the_way() {
    let machine = machine();
    let mut random = Random::new(13);
    let (a, b) = (bytes(&mut random, 256), bytes(&mut random, 256));
    let turned = |x: &[i8]| -> Vec<i8> { (0..256).map(|e| x[e % 16 * 16 + e / 16]).collect() };
    let case = &CASES[0];
    // Data flow, then whether each factor is turned.
    for (flow, turn_a, turn_b) in [(1, 1, 0), (1, 0, 1), (0, 1, 0), (0, 1, 1)] {
        let mut board = Board::new(&machine);
        board.poke(0x1000, &a);
        board.poke(0x2000, &b);
        board.ok(
            "config",
            flow << 2 | turn_a << 8 | turn_b << 9 | 1 << 16,
            1 << 48,
        );
        board.load_config(0, 16, 1.0);
        board.store_config(64, 0, 1.0);
        board.ok("mvin", 0x1000, local(0, 16, 16));
        board.ok("mvin", 0x2000, local(16, 16, 16));
        let (right, garbage) = (local(16, 16, 16), local(GARBAGE, 16, 16));
        let (first, second) = if flow == 1 {
            (right, garbage)
        } else {
            (garbage, right)
        };
        board.ok("preload", first, local(SUMS, 16, 16));
        board.ok("compute.preloaded", local(0, 16, 16), second);
        board.ok("mvout", 0x4000, local(FULL, 16, 16));
        let left = if turn_a == 1 { turned(&a) } else { a.clone() };
        let right = if turn_b == 1 { turned(&b) } else { b.clone() };
        let wanted = plain(case, &left, &right, &[0; 256]);
        assert_eq!(
            board.peek32(0x4000, 256),
            wanted,
            "{flow} {turn_a} {turn_b}"
        );
    }
}

#[test]
fn what_the_array_holds_is_used_again() {
    let machine = machine();
    let mut random = Random::new(17);
    let (a, b) = (bytes(&mut random, 512), bytes(&mut random, 256));
    let case = &CASES[0];
    let mut board = Board::new(&machine);
    board.poke(0x1000, &a);
    board.poke(0x2000, &b);
    board.weights();
    board.load_config(0, 16, 1.0);
    board.store_config(64, 0, 1.0);
    board.ok("mvin", 0x1000, local(0, 16, 16));
    board.ok("mvin", 0x1100, local(16, 16, 16));
    board.ok("mvin", 0x2000, local(32, 16, 16));
    board.ok("preload", local(32, 16, 16), local(SUMS, 16, 16));
    board.ok(
        "compute.preloaded",
        local(0, 16, 16),
        local(GARBAGE, 16, 16),
    );
    board.ok("preload", local(GARBAGE, 16, 16), local(SUMS | 16, 16, 16));
    board.ok(
        "compute.accumulated",
        local(16, 16, 16),
        local(GARBAGE, 16, 16),
    );
    board.ok("mvout", 0x4000, local(FULL | 16, 16, 16));
    assert_eq!(
        board.peek32(0x4000, 256),
        plain(case, &a[256..], &b, &[0; 256])
    );
    // Output-stationary, sums stay in the array.
    let mut board = Board::new(&machine);
    board.poke(0x1000, &a);
    board.poke(0x2000, &b);
    board.outputs(0);
    board.load_config(0, 16, 1.0);
    board.store_config(64, 0, 1.0);
    board.ok("mvin", 0x1000, local(0, 16, 16));
    board.ok("mvin", 0x1100, local(16, 16, 16));
    board.ok("mvin", 0x2000, local(32, 16, 16));
    board.ok("preload", local(GARBAGE, 16, 16), local(GARBAGE, 16, 16));
    board.ok("compute.preloaded", local(0, 16, 16), local(32, 16, 16));
    board.ok("preload", local(GARBAGE, 16, 16), local(SUMS, 16, 16));
    board.ok("compute.accumulated", local(16, 16, 16), local(32, 16, 16));
    board.ok("mvout", 0x4000, local(FULL, 16, 16));
    let first = plain(case, &a[..256], &b, &[0; 256]);
    assert_eq!(
        board.peek32(0x4000, 256),
        plain(case, &a[256..], &b, &first)
    );
}

#[test]
fn the_hardware_loop_is_a_product_with_partial_tiles() {
    let machine = machine();
    let mut random = Random::new(19);
    // 37 rows, 50 of the sum, 21 columns: tiles are short by 11, 14 and 11.
    let (m, k, n) = (37_usize, 50_usize, 21_usize);
    let (a, b) = (bytes(&mut random, m * k), bytes(&mut random, k * n));
    let d: Vec<i32> = (0..n as i32).map(|j| 1000 * j - 5000).collect();
    let mut board = Board::new(&machine);
    board.poke(0x1000, &a);
    board.poke(0x4000, &b);
    board.poke32(0x8000, &d);
    board.weights();
    board.load_config(0, k as u64, 1.0);
    board.load_config(1, n as u64, 1.0);
    board.load_config(2, 0, 1.0);
    board.store_config(n as u64, 1, 1.0 / 256.0);
    for turn in 0..2_u64 {
        let to = 0x9000 + 0x1000 * turn;
        board.ok(
            "loop_bounds",
            11 | 11 << 16 | 14 << 32,
            3 | 2 << 16 | 4 << 32,
        );
        board.ok("loop_addresses_ab", 0x1000, 0x4000);
        board.ok("loop_addresses_dc", 0x8000, to);
        board.ok("loop_strides_ab", k as u64, n as u64);
        board.ok("loop_strides_dc", 0, n as u64);
        board.ok("loop_ws", 1, 0);
        let rows = d.repeat(m);
        let sums = plain(
            &Case {
                rows: m,
                inner: k,
                columns: n,
            },
            &a,
            &b,
            &rows,
        );
        let act = |&s: &i32| (s as f32 / 256.0).round_ties_even().clamp(0.0, 127.0) as i8;
        let wanted: Vec<i8> = sums.iter().map(act).collect();
        assert_eq!(board.peek(to, m * n), wanted, "half {turn}");
    }
}

#[test]
fn the_hardware_loop_adds_matrices() {
    let machine = machine();
    let mut random = Random::new(23);
    let (m, n) = (20_usize, 33_usize);
    let (a, b) = (bytes(&mut random, m * n), bytes(&mut random, m * n));
    let mut board = Board::new(&machine);
    board.poke(0x1000, &a);
    board.poke(0x2000, &b);
    // Small elements into the accumulator, scaled on the way.
    let one = 1 | 1 << 2 | 16 << 16;
    board.ok("config", one | super::board::scale(1.0) << 32, n as u64);
    board.ok(
        "config",
        one | 1 << 3 | super::board::scale(0.5) << 32,
        n as u64,
    );
    board.store_config(n as u64, 1, 1.0);
    board.ok("loop_bounds", 12 | 15 << 16, 2 | 3 << 16 | 1 << 32);
    board.ok("loop_addresses_ab", 0x1000, 0x2000);
    board.ok("loop_addresses_dc", 0, 0x4000);
    board.ok("loop_strides_ab", n as u64, n as u64);
    board.ok("loop_strides_dc", 0, n as u64);
    board.ok("loop_ws", 0, 4);
    let half = |x: i8| (f32::from(x) * 0.5).round_ties_even() as i32;
    let sum = |(&x, &y): (&i8, &i8)| (i32::from(x) + half(y)).clamp(0, 127) as i8;
    let wanted: Vec<i8> = a.iter().zip(&b).map(sum).collect();
    assert_eq!(board.peek(0x4000, m * n), wanted);
}
