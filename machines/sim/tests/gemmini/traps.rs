//! Where descriptions of Gemmini disagree: what the specification chose holds.

use super::board::{ADDS, Board, FULL, GARBAGE, SUMS, local, machine, scale};

/// A product of one row and one column, 100 times 2, at the row 0 of the accumulator.
fn two_hundred(board: &mut Board<'_>) {
    board.poke(0x1000, &[100]);
    board.poke(0x1010, &[2]);
    board.load_config(0, 16, 1.0);
    board.ok("mvin", 0x1000, local(0, 1, 1));
    board.ok("mvin", 0x1010, local(16, 1, 1));
    board.ok("preload", local(16, 1, 1), local(SUMS, 1, 1));
    board.ok("compute.preloaded", local(0, 1, 1), local(GARBAGE, 1, 1));
}

#[test]
fn one_the_scale_of_results_is_that_of_stores() {
    let machine = machine();
    let mut board = Board::new(&machine);
    // A scale of 0.25 in config_ex is ignored, and so is what it might activate there.
    board.ok("config", 4 | 1 << 16 | scale(0.25) << 32, 1 << 48);
    two_hundred(&mut board);
    board.store_config(1, 0, 0.5);
    board.ok("mvout", 0x2000, local(SUMS, 1, 1));
    assert_eq!(board.peek(0x2000, 1), [100]);
}

#[test]
fn two_a_stride_of_zero_puts_all_rows_on_one() {
    let machine = machine();
    let mut board = Board::new(&machine);
    board.weights();
    board.poke(0x1000, &[1, 2, 3]);
    board.poke(0x1010, &[10]);
    board.load_config(0, 1, 1.0);
    board.store_config(4, 0, 1.0);
    board.ok("mvin", 0x1000, local(0, 3, 1));
    board.ok("mvin", 0x1010, local(16, 1, 1));
    // Only strides change: the data flow stays as it was, though the word names the other.
    board.ok("config", 1 << 7 | 1 << 16, 0);
    board.ok("preload", local(16, 1, 1), local(SUMS, 3, 1));
    board.ok("compute.preloaded", local(0, 3, 1), local(GARBAGE, 1, 1));
    board.ok("mvout", 0x2000, local(FULL, 1, 1));
    assert_eq!(
        board.peek32(0x2000, 1),
        [30],
        "the last row is what is left"
    );
    let reason = board.run("mvout", 0x2000, local(FULL, 2, 1));
    assert!(reason.is_err_and(|r| r.contains("row 1 of `accumulator`")));
}

#[test]
fn three_a_shift_on_the_way_to_the_accumulator_is_undefined() {
    let machine = machine();
    let mut board = Board::new(&machine);
    board.outputs(1);
    board.poke(0x1000, &[1]);
    board.load_config(0, 1, 1.0);
    board.ok("mvin", 0x1000, local(0, 1, 1));
    board.ok("preload", local(GARBAGE, 1, 1), local(SUMS, 1, 1));
    let reason = board.run("compute.preloaded", local(0, 1, 1), local(0, 1, 1));
    assert!(reason.is_err_and(|r| r.contains("differ about a shift")));
    let mut board = Board::new(&machine);
    board.outputs(0);
    board.poke(0x1000, &[7]);
    board.load_config(0, 1, 1.0);
    board.store_config(4, 0, 1.0);
    board.ok("mvin", 0x1000, local(0, 1, 1));
    board.ok("preload", local(GARBAGE, 1, 1), local(SUMS, 1, 1));
    board.ok("compute.preloaded", local(0, 1, 1), local(0, 1, 1));
    board.ok("mvout", 0x2000, local(FULL, 1, 1));
    assert_eq!(board.peek32(0x2000, 1), [49]);
}

#[test]
fn four_relu_needs_a_positive_scale() {
    let machine = machine();
    let mut board = Board::new(&machine);
    for by in [-1.0, 0.0] {
        let reason = board.run("config", 2 | 1 << 2, scale(by) << 32);
        assert!(reason.is_err_and(|r| r.contains("unless the scale is positive")));
    }
    board.ok("config", 2, scale(-1.0) << 32);
}

#[test]
fn five_full_width_knows_neither_scale_nor_activation() {
    let machine = machine();
    let mut board = Board::new(&machine);
    board.weights();
    two_hundred(&mut board);
    board.poke(0x1020, &[-2]);
    board.ok("mvin", 0x1020, local(17, 1, 1));
    board.ok("preload", local(17, 1, 1), local(SUMS | 1, 1, 1));
    board.ok("compute.preloaded", local(0, 1, 1), local(GARBAGE, 1, 1));
    board.store_config(4, 1, 0.5);
    board.ok("mvout", 0x2000, local(FULL, 2, 1));
    assert_eq!(board.peek32(0x2000, 2), [200, -200]);
    board.ok("mvout", 0x2020, local(SUMS, 2, 1));
    assert_eq!([board.peek(0x2020, 1), board.peek(0x2024, 1)], [[100], [0]]);
}

#[test]
fn six_there_is_no_relu6() {
    let machine = machine();
    let mut board = Board::new(&machine);
    let store = board.run("config", 2 | 2 << 2, scale(1.0) << 32);
    assert!(store.is_err_and(|r| r.contains("0 is none, 1 relu")));
    let array = board.run("config", 2 << 3, 0);
    assert!(array.is_err_and(|r| r.contains("0 is none, 1 relu")));
}

#[test]
fn seven_a_garbage_left_factor_is_undefined() {
    let machine = machine();
    let mut board = Board::new(&machine);
    board.weights();
    board.ok("preload", local(GARBAGE, 1, 1), local(SUMS, 1, 1));
    let reason = board.run(
        "compute.preloaded",
        local(GARBAGE, 1, 1),
        local(GARBAGE, 1, 1),
    );
    assert!(reason.is_err_and(|r| r.contains("whose value is undefined")));
}

#[test]
fn eight_what_was_stored_is_loaded_after_a_fence() {
    let machine = machine();
    let mut board = Board::new(&machine);
    board.weights();
    two_hundred(&mut board);
    board.store_config(4, 0, 1.0);
    board.ok("mvout", 0x2000, local(FULL, 1, 1));
    let reason = board.run("mvin", 0x2000, local(1, 1, 1));
    assert!(reason.is_err_and(|r| r.contains("since the last fence") && r.contains("`fence`")));
    // The accelerator's own fence does nothing.
    board.ok("fence.rocc", 0, 0);
    assert!(board.run("mvin", 0x2000, local(1, 1, 1)).is_err());
    board.ok("fence", 0, 0);
    board.ok("mvin", 0x2000, local(1, 1, 1));
    // What is being loaded is not overwritten either.
    let reason = board.run("mvout", 0x2000, local(FULL, 1, 1));
    assert!(reason.is_err_and(|r| r.contains("writes memory that was read")));
}

#[test]
fn nine_the_functions_of_the_hardware_loop_are_its_own() {
    let machine = machine();
    for (function, name) in [
        (8, "loop_ws"),
        (9, "loop_bounds"),
        (10, "loop_addresses_ab"),
        (11, "loop_addresses_dc"),
        (12, "loop_strides_ab"),
        (13, "loop_strides_dc"),
        (14, "mvin3"),
    ] {
        let word = function << 25 | 11 << 20 | 10 << 15 | 3 << 12 | 0x7b;
        let (at, values) = machine.decode(word).expect("an instruction");
        assert_eq!(machine.instructions[at].instruction.name, name);
        assert_eq!(values, [10, 11]);
    }
    for alias in [15_u64, 16, 17] {
        let word = alias << 25 | 11 << 20 | 10 << 15 | 3 << 12 | 0x7b;
        assert_eq!(machine.decode(word), None, "{alias}");
    }
}

#[test]
fn adding_to_what_was_never_written_is_an_error() {
    let machine = machine();
    let mut board = Board::new(&machine);
    board.weights();
    two_hundred(&mut board);
    board.ok("preload", local(16, 1, 1), local(ADDS | 5, 1, 1));
    let reason = board.run("compute.preloaded", local(0, 1, 1), local(GARBAGE, 1, 1));
    assert!(reason.is_err_and(|r| r.contains("row 5 of `accumulator`")));
}
