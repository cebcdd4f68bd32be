//! Which orders of words are safe on a machine that retires out of order: each rule from both
//! sides.

use semantics::diagnostic::render;
use semantics::machine::Machine;
use semantics::span::Source;
use sim::memory::Memory;
use sim::program::MachineProgram;
use sim::retirement::{Kind, Safe, Unsafe, check};
use std::path::Path;

fn rvm() -> Machine {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../isa-specs/rvm/manifest.yaml");
    let (machine, wrong) = spec_parser::matrix::load::load(&path).expect("our specification");
    assert!(wrong.is_empty(), "our specification is right");
    machine
}

/// The check of a text: instructions are parted by `;`. `a0` to `a2` are 0x100, 0x200 and
/// 0x300, `a3` is a row of 16 bytes.
fn checked(text: &str) -> Result<Safe, Unsafe> {
    let machine = rvm();
    let start = "addi a0, zero, 0x100\naddi a1, zero, 0x200\naddi a2, zero, 0x300\n\
                 addi a3, zero, 16\n";
    let source = Source::new("test.s", format!("{start}{}", text.replace("; ", "\n")));
    let program = MachineProgram::assemble(&machine, &source);
    let program = program.unwrap_or_else(|wrong| panic!("{}", render(&wrong)));
    let words = program.bytes(&machine).expect("values have their bits");
    check(
        &machine,
        ("test.s", &words),
        (&[], Memory::new(0x400)),
        4,
        1000,
    )
}

fn safe(text: &str) {
    if let Err(wrong) = checked(text) {
        panic!("{text}: {wrong:?}");
    }
}

/// The positions are counted from the first instruction of the text.
fn hazard(text: &str, kind: Kind, first: usize, second: usize) {
    match checked(text) {
        Err(Unsafe::Hazard(found, log)) => {
            let got = (found.kind, found.first, found.second);
            assert_eq!(got, (kind, first + 4, second + 4), "{text}: {found}");
            assert!(log.message.starts_with("out of order"), "{log}");
        }
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn a_tile_that_is_read_is_not_written_before_it_has_been_read() {
    let start = "mzero m7; mzero m1; mzero m2; mmasa.w m2, m1, m7";
    hazard(
        &format!("{start}; mld.w m7, (a0), a3"),
        Kind::WriteAfterRead,
        3,
        4,
    );
    safe(&format!("{start}; fence; mld.w m7, (a0), a3"));
    // So many have followed that the product has retired.
    safe(&format!(
        "{start}; mzero m3; mzero m4; mzero m5; mld.w m7, (a0), a3"
    ));
    hazard(
        &format!("{start}; mzero m3; mzero m4; mld.w m7, (a0), a3"),
        Kind::WriteAfterRead,
        3,
        6,
    );
}

#[test]
fn a_tile_is_written_twice_in_order() {
    hazard("mzero m7; mld.w m7, (a0), a3", Kind::WriteAfterWrite, 0, 1);
    // The product waits for what it adds to.
    safe(
        "mzero m7; mzero m1; mzero m2; mmasa.w m7, m1, m2; mmasa.w m7, m1, m2; mst.w m7, (a0), a3",
    );
}

#[test]
fn units_touch_memory_in_order() {
    let start = "mzero m7; mst.w m7, (a0), a3";
    hazard(&format!("{start}; mld.w m1, (a0), a3"), Kind::Units, 1, 2);
    hazard(&format!("{start}; mst.w m7, (a0), a3"), Kind::Units, 1, 2);
    safe(&format!("{start}; mld.w m1, (a1), a3"));
    safe("mld.w m7, (a0), a3; mld.w m1, (a0), a3");
    // One byte in common is enough: rows of the second are 20 bytes apart.
    hazard(
        &format!("{start}; addi a3, zero, 20; addi a0, a0, 60; mld.w m1, (a0), a3"),
        Kind::Units,
        1,
        4,
    );
    // A load whose tile is stored to where it was: the store waits for the load.
    safe("mld.w m7, (a0), a3; mst.w m7, (a0), a3");
    hazard(
        "mld.w m7, (a0), a3; mzero m1; mst.w m1, (a0), a3",
        Kind::Units,
        0,
        2,
    );
}

#[test]
fn host_and_units_see_each_other_behind_a_fence_only() {
    hazard("sw zero, 4(a0); mld.w m7, (a0), a3", Kind::HostFirst, 0, 1);
    safe("sw zero, 4(a0); fence; mld.w m7, (a0), a3");
    safe("sw zero, 64(a0); mld.w m7, (a0), a3");
    safe("lw t0, 4(a0); mld.w m7, (a0), a3");
    // Other tile instructions are no fence.
    let others = "mzero m1; mzero m2; mzero m3; mzero m4; mzero m5";
    let store = "mzero m7; mst.w m7, (a0), a3";
    hazard(
        &format!("sw zero, 4(a0); {others}; mst.w m1, (a0), a3"),
        Kind::HostFirst,
        0,
        6,
    );
    hazard(
        &format!("{store}; {others}; lb t0, 7(a0)"),
        Kind::UnitFirst,
        1,
        7,
    );
    hazard(
        &format!("{store}; {others}; sb t0, 7(a0)"),
        Kind::UnitFirst,
        1,
        7,
    );
    safe(&format!("{store}; fence; lb t0, 7(a0)"));
    // What was loaded is loaded when the instruction has retired.
    hazard("mld.w m7, (a0), a3; sw zero, 0(a0)", Kind::UnitFirst, 0, 1);
    safe(&format!("mld.w m7, (a0), a3; {others}; sw zero, 0(a0)"));
    safe("mld.w m7, (a0), a3; lw t0, 0(a0)");
}

#[test]
fn loops_are_gone_round() {
    // Each round loads the tile that the round before has loaded and reads.
    let text = "mzero m1; mzero m2; addi t0, zero, 3; mld.w m7, (a0), a3; mmasa.w m2, m1, m7; \
                addi t0, t0, -1; bne t0, zero, -12";
    hazard(text, Kind::WriteAfterWrite, 3, 3);
    let fenced = text
        .replace("mld.w m7", "fence; mld.w m7")
        .replace("-12", "-16");
    match checked(&fenced) {
        Ok(safe) => assert_eq!((safe.fences, safe.units, safe.words), (3, 8, 12)),
        Err(wrong) => panic!("{wrong:?}"),
    }
}

#[test]
fn what_is_not_known_is_not_safe() {
    let machine = rvm();
    let words = |bytes: &[u8]| check(&machine, ("x", bytes), (&[], Memory::new(64)), 4, 10);
    assert!(matches!(words(&[0xff; 4]), Err(Unsafe::Words(_))));
    assert!(
        matches!(checked("mst.w m7, (a0), a3"), Err(Unsafe::Stopped(_))),
        "never written"
    );
    assert!(
        matches!(checked("jal zero, 0"), Err(Unsafe::Stopped(_))),
        "without end"
    );
}
