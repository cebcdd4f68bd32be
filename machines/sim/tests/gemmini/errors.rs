//! What a program must not do, and what is said of it.

use super::board::{ADDS, Board, FULL, GARBAGE, SUMS, local, machine, scale};

fn refused(board: &mut Board<'_>, name: &str, rs1: u64, rs2: u64, words: &[&str]) {
    match board.run(name, rs1, rs2) {
        Ok(()) => panic!("{name} went through; expected {words:?}"),
        Err(reason) => {
            for word in words {
                assert!(reason.contains(word), "{reason}: {word}");
            }
        }
    }
}

#[test]
fn configuration_is_set_before_it_is_used() {
    let machine = machine();
    let mut board = Board::new(&machine);
    // The order of the two loads of a row decides which field is missed first.
    let reason = board
        .run("mvin", 0x1000, local(0, 1, 1))
        .expect_err("unset");
    assert!(
        reason.contains("[0]` is read, and it was never set"),
        "{reason}"
    );
    board.load_config(1, 16, 1.0);
    refused(
        &mut board,
        "mvin",
        0x1000,
        local(0, 1, 1),
        &["never set", "`set_load` sets it"],
    );
    board.ok("mvin2", 0x1000, local(0, 1, 1));
    refused(
        &mut board,
        "mvout",
        0x1000,
        local(0, 1, 1),
        &["`pool_stride`", "`set_store`"],
    );
    board.ok("preload", local(GARBAGE, 1, 1), local(GARBAGE, 1, 1));
    let words = ["`dataflow` is read", "`set_execute`"];
    refused(
        &mut board,
        "compute.preloaded",
        local(0, 1, 1),
        local(GARBAGE, 1, 1),
        &words,
    );
}

#[test]
fn rows_are_written_before_they_are_read() {
    let machine = machine();
    let mut board = Board::new(&machine);
    board.store_config(16, 0, 1.0);
    let words = ["row 3 of `spad` is read", "cell 0 was never written"];
    refused(&mut board, "mvout", 0x1000, local(3, 1, 1), &words);
    board.load_config(0, 16, 1.0);
    board.ok("mvin", 0x1000, local(3, 1, 5));
    let words = ["row 3 of `spad`", "cell 5"];
    refused(&mut board, "mvout", 0x1000, local(3, 1, 16), &words);
    // The array holds nothing before its first operand.
    board.weights();
    board.ok("preload", local(GARBAGE, 1, 1), local(SUMS, 1, 1));
    let garbage = local(GARBAGE, 1, 1);
    refused(
        &mut board,
        "compute.accumulated",
        local(3, 1, 1),
        garbage,
        &["of `pe`"],
    );
}

#[test]
fn rows_and_blocks_stay_inside() {
    let machine = machine();
    let mut board = Board::new(&machine);
    board.load_config(0, 64, 1.0);
    let words = ["`spad` has no row 16384", "there are 16384"];
    refused(&mut board, "mvin", 0x1000, local(16380, 16, 16), &words);
    let words = ["`accumulator` has no row 1024"];
    refused(
        &mut board,
        "mvin",
        0x1000,
        local(SUMS | 1020, 16, 16),
        &words,
    );
    board.ok("mvin", 0x1000, local(0, 16, 64));
    refused(
        &mut board,
        "mvin",
        0x1000,
        local(0, 16, 65),
        &["wider than its limit of blocks"],
    );
    refused(
        &mut board,
        "mvin",
        0x1000,
        local(SUMS, 16, 17),
        &["wider than its limit"],
    );
    refused(
        &mut board,
        "mvin",
        0x1000,
        local(0, 17, 16),
        &["1 to DIM rows"],
    );
    refused(
        &mut board,
        "preload",
        local(0, 17, 1),
        local(0, 1, 1),
        &["at most DIM rows"],
    );
    refused(
        &mut board,
        "mvin",
        0xff_ffff,
        local(0, 1, 1),
        &["outside memory", "--memory-size"],
    );
}

#[test]
fn orders_that_hardware_leaves_undefined_are_refused() {
    let machine = machine();
    let mut board = Board::new(&machine);
    board.weights();
    board.load_config(0, 16, 1.0);
    board.ok("mvin", 0x1000, local(0, 16, 16));
    let garbage = local(GARBAGE, 16, 16);
    refused(
        &mut board,
        "compute.preloaded",
        local(0, 16, 16),
        garbage,
        &["no preload before it"],
    );
    board.ok("preload", local(0, 16, 16), local(SUMS, 16, 16));
    refused(
        &mut board,
        "preload",
        local(0, 16, 16),
        local(SUMS, 16, 16),
        &["two preloads"],
    );
    refused(
        &mut board,
        "config",
        4 | 1 << 16,
        1 << 48,
        &["between a preload and its compute"],
    );
    board.ok("compute.preloaded", local(0, 16, 16), garbage);
    refused(
        &mut board,
        "compute.accumulated",
        local(0, 16, 16),
        garbage,
        &["no preload"],
    );
}

#[test]
fn transposes_scales_and_kinds_are_checked() {
    let machine = machine();
    let mut board = Board::new(&machine);
    refused(
        &mut board,
        "config",
        4 | 3 << 8,
        0,
        &["weight-stationary, both"],
    );
    refused(
        &mut board,
        "config",
        2 << 8,
        0,
        &["only together with the left"],
    );
    board.ok("config", 3 << 8, 0);
    refused(&mut board, "config", 3, 0, &["normalisations"]);
    refused(&mut board, "config", 0, 32, &["at most 31 bits"]);
    for bad in [f32::NAN, f32::INFINITY] {
        refused(
            &mut board,
            "config",
            2,
            scale(bad) << 32,
            &["infinite or no number"],
        );
        refused(
            &mut board,
            "config",
            1 | scale(bad) << 32,
            0,
            &["infinite or no number"],
        );
    }
    refused(
        &mut board,
        "config",
        1 | 3 << 3,
        0,
        &["three configurations"],
    );
    board.weights();
    let words = ["from which the array does not read"];
    board.ok("preload", local(SUMS, 1, 1), local(ADDS, 1, 1));
    refused(
        &mut board,
        "compute.preloaded",
        local(0, 1, 1),
        local(GARBAGE, 1, 1),
        &words,
    );
    refused(
        &mut board,
        "mvin",
        0x1000,
        local(FULL & !SUMS, 1, 1),
        &["neither adds"],
    );
}

#[test]
fn hardware_loops_that_do_not_fit_are_refused() {
    let machine = machine();
    let mut board = Board::new(&machine);
    board.weights();
    for kind in 0..3 {
        board.load_config(kind, 16, 1.0);
    }
    board.store_config(16, 0, 1.0);
    board.ok("loop_addresses_ab", 0x1000, 0x1000);
    board.ok("loop_addresses_dc", 0, 0x2000);
    board.ok("loop_strides_ab", 16, 16);
    board.ok("loop_strides_dc", 16, 16);
    board.ok("loop_bounds", 0, 6 | 6 << 16 | 1 << 32);
    refused(&mut board, "loop_ws", 0, 0, &["half of the accumulator"]);
    board.ok("loop_bounds", 0, 5 | 6 << 16 | 64 << 32);
    refused(&mut board, "loop_ws", 0, 0, &["half of the scratchpad"]);
    refused(
        &mut board,
        "loop_ws",
        1 << 16,
        0,
        &["halves of the scratchpad"],
    );
}

#[test]
fn what_is_wrong_in_a_text_has_its_place() {
    use semantics::span::Source;
    use sim::memory::Memory;
    use sim::program::MachineProgram;
    use sim::run::{Simulator, Stopped};
    let machine = machine();
    let text =
        "# Rows before configuration.\n.set a0, 4096\n.set a1, 0x0001000100000000\n  mvin a0, a1\n";
    let source = Source::new("rows.s", text);
    let program = MachineProgram::assemble(&machine, &source).expect("a program");
    let mut simulator = Simulator::new(&machine, Memory::new(1 << 16));
    match simulator.run_quietly(&program, 10) {
        Err(Stopped::Fault(log)) => {
            let log = log.to_string();
            assert!(log.contains("rows.s:4:3"), "{log}");
            assert!(
                log.contains("never set") && log.contains("`set_load` sets it"),
                "{log}"
            );
        }
        other => panic!("{other:?}"),
    }
}
