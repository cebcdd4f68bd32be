//! Programs of RVM: every product against plain loops, and every rule of the machine.

use semantics::diagnostic::Diagnostic;
use semantics::machine::Machine;
use semantics::random::Random;
use semantics::span::Source;
use sim::memory::Memory;
use sim::program::MachineProgram;
use sim::run::{Simulator, Stopped};
use std::path::Path;

fn rvm() -> Machine {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../isa-specs/rvm/manifest.yaml");
    let (machine, wrong) = spec_parser::matrix::load::load(&path).expect("our specification");
    assert!(wrong.is_empty(), "our specification is right");
    machine
}

fn assemble(machine: &Machine, text: &str) -> MachineProgram {
    let source = Source::new("test.s", text);
    MachineProgram::assemble(machine, &source)
        .unwrap_or_else(|wrong| panic!("{}", semantics::diagnostic::render(&wrong)))
}

fn run(machine: &Machine, text: &str, memory: Memory) -> Result<Memory, Box<Diagnostic>> {
    let program = assemble(machine, text);
    let words = program.words(machine).expect("it was assembled");
    let bytes: Vec<u8> = words
        .iter()
        .flat_map(|w| (*w as u32).to_le_bytes())
        .collect();
    let again = MachineProgram::from_words(machine, "test.bin", &bytes).expect("they are words");
    let code = |p: &MachineProgram| {
        p.code
            .iter()
            .map(|c| (c.instruction, c.values.clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(code(&again), code(&program), "words and text say the same");
    let mut simulator = Simulator::new(machine, memory);
    match simulator.run_quietly(&program, 100_000) {
        Ok(_) => Ok(simulator.memory),
        Err(Stopped::Fault(diagnostic)) => Err(diagnostic),
        Err(Stopped::Steps(n)) => panic!("it did not end in {n} steps"),
    }
}

/// Memory of which some bytes are at the edges of their type.
fn random_memory(random: &mut Random) -> Memory {
    let mut memory = Memory::new(0x400);
    let bytes = memory.get_mut(0, 0x400).expect("all of it");
    let edges = [0x00, 0xff, 0x80, 0x7f];
    for byte in bytes {
        let x = random.next_bits();
        *byte = if x.is_multiple_of(3) {
            edges[(x >> 8) as usize % 4]
        } else {
            (x >> 16) as u8
        };
    }
    memory
}

fn integer(memory: &Memory, at: usize, size: usize) -> i32 {
    let bytes = memory.get(at as u64, size).expect("inside");
    match size {
        1 => i32::from(bytes[0] as i8),
        2 => i32::from(i16::from_le_bytes([bytes[0], bytes[1]])),
        _ => i32::from_le_bytes(bytes.try_into().expect("4 bytes")),
    }
}

#[test]
fn products_are_plain_loops() {
    let machine = rvm();
    let mut random = Random::new(1);
    for (name, size) in [("mmasa.w", 4), ("mmada.h", 2), ("mmaqa.b", 1)] {
        for _ in 0..40 {
            let before = random_memory(&mut random);
            // A at 0x40 with rows of 32 bytes, B at 0x100 with rows of 16, C at 0x200.
            let text = format!(
                ".set a0, 0x40\n.set a1, 32\n.set a2, 0x100\n.set a3, 16\n.set a4, 0x200\n\
                 mld.w m0, (a0), a1\nmld.w m1, (a2), a3\nmld.w m2, (a4), a3\n\
                 {name} m2, m1, m0\nmst.w m2, (a4), a3\n"
            );
            let after = run(&machine, &text, before.clone()).expect("it is legal");
            for i in 0..4 {
                for j in 0..4 {
                    let c = 0x200 + 16 * i + 4 * j;
                    let mut sum = integer(&before, c, 4);
                    for k in 0..16 / size {
                        let a = integer(&before, 0x40 + 32 * i + size * k, size);
                        let b = integer(&before, 0x100 + 16 * j + size * k, size);
                        sum = sum.wrapping_add(a.wrapping_mul(b));
                    }
                    assert_eq!(integer(&after, c, 4), sum, "{name} at {i}, {j}");
                }
            }
        }
    }
}

#[test]
fn floats_round_each_product_and_each_sum() {
    let machine = rvm();
    let mut random = Random::new(5);
    let mut fused_differs = false;
    for _ in 0..40 {
        let mut memory = random_memory(&mut random);
        let float = |x: u64| (x % 20_001) as f32 / 9.0 - 1000.0;
        let values: Vec<f32> = (0..48).map(|_| float(random.next_bits())).collect();
        for (k, value) in values.iter().enumerate() {
            memory
                .get_mut(4 * k as u64, 4)
                .expect("inside")
                .copy_from_slice(&value.to_le_bytes());
        }
        let text = ".set a1, 16\n.set a2, 64\n.set a3, 128\nmld.w m0, (x0), a1\n\
                    mld.w m1, (a2), a1\nmld.w m2, (a3), a1\nfmmacc.s m2, m1, m0\nmst.w m2, (a3), a1\n";
        let after = run(&machine, text, memory).expect("it is legal");
        for i in 0..4 {
            for j in 0..4 {
                let (mut sum, mut fused) = (values[32 + 4 * i + j], values[32 + 4 * i + j]);
                for k in 0..4 {
                    sum += values[4 * i + k] * values[16 + 4 * j + k];
                    fused = values[4 * i + k].mul_add(values[16 + 4 * j + k], fused);
                }
                fused_differs |= fused.to_bits() != sum.to_bits();
                let got = integer(&after, 128 + 16 * i + 4 * j, 4);
                assert_eq!(got as u32, sum.to_bits());
            }
        }
    }
    assert!(fused_differs, "the data tells one rounding from two");
}

#[test]
fn loops_and_scalars_run() {
    let machine = rvm();
    // The sum of 1 to 10, by a loop; then bytes and halves with their signs.
    let text = "  addi t0, zero, 10\n  addi t1, zero, 0\nloop:\n  add t1, t1, t0\n  addi t0, t0, -1\n\
                \x20 bne t0, zero, loop\n  sw t1, 0(zero)\n  lui t2, 0xfffff\n  sb t2, 4(zero)\n\
                \x20 addi t2, zero, -2\n  sh t2, 6(zero)\n  lh t3, 6(zero)\n  srai t3, t3, 1\n\
                \x20 sw t3, 8(zero)\n  sltiu t4, zero, 1\n  sub t4, zero, t4\n  and t4, t4, t1\n\
                \x20 sw t4, 12(zero)\n  jal ra, done\n  sw zero, 0(zero)\ndone:\n  sw ra, 16(zero)\n\
                \x20 addi zero, zero, 5\n  sw zero, 20(zero)\n  mul t5, t1, t2\n  sw t5, 24(zero)\n";
    let after = run(&machine, text, Memory::new(64)).expect("it is legal");
    let word = |at| integer(&after, at, 4);
    assert_eq!((word(0), word(8), word(12)), (55, -1, 55));
    assert_eq!(integer(&after, 6, 2), -2);
    assert_eq!((word(16), word(20), word(24)), (18 * 4, 0, -110));
}

#[test]
fn broken_rules_name_the_instruction() {
    let machine = rvm();
    let start = ".set a0, 16\n.set a1, 16\nmld.w m0, (a0), a1\nmld.w m1, (a0), a1\nmzero m2\n";
    let cases = [
        ("mmasa.w m2, m3, m0", "m3 is read, and was never written"),
        ("mmasa.w m4, m1, m0", "m4 is read, and was never written"),
        ("mst.w m7, (a0), a1", "m7 is read, and was never written"),
        ("mmaqa.b m0, m1, m0", "`md` and `ms1` are one register"),
        ("fmmacc.s m1, m1, m0", "`md` and `ms2` are one register"),
        (
            "addi a0, a0, 2\nmld.w m2, (a0), a1",
            "at 0x12, which is not aligned",
        ),
        (
            "addi a1, a1, 1\nmld.w m2, (a0), a1",
            "at 0x21, which is not aligned",
        ),
        (
            "addi a1, a1, 1000\nmst.w m2, (a0), a1",
            "at 0x408, outside memory",
        ),
        ("lui a0, 0x80000\nmld.w m2, (a0), a1", "outside memory"),
        (
            "beq zero, zero, -64",
            "there is no instruction at the address",
        ),
    ];
    for (text, expected) in cases {
        let wrong = run(&machine, &format!("{start}{text}\n"), Memory::new(0x400));
        let message = wrong.expect_err(text).to_string();
        assert!(message.contains(expected), "{text}: {message}");
        assert!(message.contains("  = hint: "), "{message}");
        if !text.starts_with("beq") {
            let last = text.lines().last().expect("a line");
            assert!(
                message.contains(&format!("error: `{last}`")),
                "{text}: {message}"
            );
        }
    }
    // One register may be both sources; mzero makes a tile readable.
    let legal = "mmasa.w m2, m0, m0\nmst.w m2, (a0), a1\n";
    run(&machine, &format!("{start}{legal}"), Memory::new(0x400)).expect("it is legal");
}

#[test]
fn nothing_is_written_when_a_store_faults() {
    let machine = rvm();
    let program = assemble(
        &machine,
        ".set a0, 0x3e0\n.set a1, 16\nmld.w m1, (x0), a1\nmst.w m1, (a0), a1\n",
    );
    let before = random_memory(&mut Random::new(2));
    let mut simulator = Simulator::new(&machine, before.clone());
    assert!(
        simulator.run_quietly(&program, 100).is_err(),
        "two rows lie outside"
    );
    assert_eq!(simulator.memory, before);
}

#[test]
fn endless_programs_are_stopped_and_traces_say_what_happened() {
    let machine = rvm();
    let mut simulator = Simulator::new(&machine, Memory::new(64));
    let program = assemble(&machine, "loop: beq zero, zero, loop\n");
    assert_eq!(simulator.run_quietly(&program, 50), Err(Stopped::Steps(50)));
    let program = assemble(&machine, "addi t0, zero, 7\nsw t0, 4(zero)\nmzero m1\n");
    let mut lines = Vec::new();
    simulator
        .run(&program, 50, &mut |line| lines.push(line.to_owned()))
        .expect("it is legal");
    assert!(
        lines[0].contains("addi t0, zero, 7") && lines[0].ends_with("t0 = 00000007"),
        "{lines:?}"
    );
    assert!(lines[1].ends_with("[4]=00000007"), "{lines:?}");
    assert!(
        lines[2].contains("m1 = 00000000000000000000000000000000 0"),
        "{lines:?}"
    );
}

#[test]
fn mistakes_in_text_are_told() {
    let machine = rvm();
    let cases = [
        ("mmasa m0, m1, m2", "did you mean `mmasa.w`?"),
        ("mmasa.w m0, m1", "expected `,`"),
        ("mmasa.w m0, m1, m8", "there are m0 to m7"),
        ("mmasa.w m0, m1, a0", "is no register of the kind `m`"),
        ("mmasa.w m0, m1, m2, m3", "there is more on this line"),
        ("mld.w m0, a0, a1", "expected `(`"),
        ("addi a0, a0, 2048", "the nearest value that does is 2047"),
        ("bne a0, a1, there", "there is no label `there`"),
        ("a: addi a0, a0, 1\na: addi a0, a0, 1", "is there twice"),
        (".word 0xffffffff", "is no instruction of rvm"),
        (".set m0, 4", "tiles are loaded from memory"),
        ("addi a0, a0, 1q", "`1q` is no number"),
        ("?", "an instruction, a label or a directive"),
    ];
    for (text, expected) in cases {
        let wrong = MachineProgram::assemble(&machine, &Source::new("test.s", text));
        let message = semantics::diagnostic::render(&wrong.expect_err(text));
        assert!(message.contains(expected), "{text}: {message}");
        assert!(
            message.contains("test.s:") && message.contains("= hint"),
            "{message}"
        );
    }
}

#[test]
fn an_erratum_is_refused_by_its_name_and_can_be_switched_off() {
    let text = ".set a1, 16\nmld.w m0, (x0), a1\nmst.w m0, (x0), a1\n";
    let run = |machine: &Machine| {
        let source = Source::new("test.s", text);
        let program = MachineProgram::assemble(machine, &source).expect("it is right");
        Simulator::new(machine, Memory::new(0x400)).run_quietly(&program, 10)
    };
    let mut machine = rvm();
    let Err(Stopped::Fault(log)) = run(&machine) else {
        panic!("m0 is stored");
    };
    let message = "`mst.w m0, (zero), a1`: the erratum `store-of-m0` forbids m0 as `ms` of `mst.w`";
    assert!(log.message.starts_with(message), "{log}");
    let store = machine.instruction("mst.w").expect("it is there");
    assert_eq!(store.instruction.origin.errata, ["store-of-m0"]);
    machine.errata[0].active = false;
    assert!(run(&machine).is_ok());
}
