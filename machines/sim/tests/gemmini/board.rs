//! A machine on which instructions are given one by one, with the values of their operands.

use semantics::bits::Bits;
use semantics::machine::Machine;
use semantics::random::Random;
use sim::memory::Memory;
use sim::program::MachineProgram;
use sim::run::{Simulator, Stopped};
use std::path::{Path, PathBuf};

pub(crate) const GARBAGE: u64 = 0xffff_ffff;
pub(crate) const SUMS: u64 = 0x8000_0000;
pub(crate) const ADDS: u64 = 0xc000_0000;
pub(crate) const FULL: u64 = 0xa000_0000;

/// The folder of our specification.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../isa-specs/gemmini")
}

pub(crate) fn machine() -> Machine {
    load(&folder())
}

fn load(folder: &Path) -> Machine {
    let loaded = spec_parser::matrix::load::load(&folder.join("manifest.yaml"));
    let (machine, wrong) = loaded.unwrap_or_else(|d| panic!("{d:#?}"));
    assert!(
        wrong.is_empty(),
        "{}",
        wrong.iter().map(ToString::to_string).collect::<String>()
    );
    machine
}

/// The specification with edits in its manifest.
pub(crate) fn edited(name: &str, edits: &[(&str, &str)]) -> Machine {
    let folder = std::env::temp_dir().join(format!("isaforge-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    for entry in std::fs::read_dir(self::folder()).expect("our specification") {
        let path = entry.expect("an entry").path();
        let mut text = std::fs::read_to_string(&path).expect("a text");
        let file = path.file_name().expect("a name");
        if file == "manifest.yaml" {
            for (from, to) in edits {
                assert!(text.contains(from), "{from}");
                text = text.replace(from, to);
            }
        }
        std::fs::write(folder.join(file), text).expect("written");
    }
    let machine = load(&folder);
    std::fs::remove_dir_all(&folder).expect("removed");
    machine
}

/// A machine that runs.
pub(crate) struct Board<'m> {
    pub(crate) machine: &'m Machine,
    pub(crate) sim: Simulator<'m>,
}

/// A scale as its bits.
pub(crate) fn scale(x: f32) -> u64 {
    u64::from(x.to_bits())
}

/// A local operand.
pub(crate) fn local(address: u64, rows: u64, columns: u64) -> u64 {
    rows << 48 | columns << 32 | address
}

impl<'m> Board<'m> {
    pub(crate) fn new(machine: &'m Machine) -> Board<'m> {
        Board {
            machine,
            sim: Simulator::new(machine, Memory::new(1 << 20)),
        }
    }

    /// Runs one instruction; the first line of what is wrong, and the hint.
    pub(crate) fn run(&mut self, name: &str, rs1: u64, rs2: u64) -> Result<(), String> {
        let at = self.machine.instructions.iter();
        let at = at.enumerate().find(|(_, i)| i.instruction.name == name);
        let (instruction, found) = at.unwrap_or_else(|| panic!("no {name}"));
        let values = [10, 11][..found.operands.len()].to_vec();
        let program = MachineProgram::new("board", [(instruction, values)]);
        self.sim.set(0, 10, Bits::from_u64(64, rs1));
        self.sim.set(0, 11, Bits::from_u64(64, rs2));
        match self.sim.run_quietly(&program, 1) {
            Ok(_) => Ok(()),
            Err(Stopped::Fault(d)) => {
                Err(format!("{} / {}", d.message, d.hint.unwrap_or_default()))
            }
            Err(Stopped::Steps(_)) => panic!("one instruction is one step"),
        }
    }

    pub(crate) fn ok(&mut self, name: &str, rs1: u64, rs2: u64) {
        if let Err(reason) = self.run(name, rs1, rs2) {
            panic!("{name}: {reason}");
        }
    }

    /// Weight-stationary, nothing turned, one row after the other.
    pub(crate) fn weights(&mut self) {
        self.ok("config", 4 | 1 << 16, 1 << 48);
    }

    /// Output-stationary with a shift.
    pub(crate) fn outputs(&mut self, shift: u64) {
        self.ok("config", 1 << 16, 1 << 48 | shift);
    }

    pub(crate) fn load_config(&mut self, id: u64, stride: u64, by: f32) {
        self.ok("config", 1 | id << 3 | 16 << 16 | scale(by) << 32, stride);
    }

    pub(crate) fn store_config(&mut self, stride: u64, act: u64, by: f32) {
        self.ok("config", 2 | act << 2, stride | scale(by) << 32);
    }

    pub(crate) fn poke(&mut self, at: u64, values: &[i8]) {
        let there = self.sim.memory.get_mut(at, values.len()).expect("memory");
        for (to, from) in there.iter_mut().zip(values) {
            *to = from.cast_unsigned();
        }
    }

    pub(crate) fn peek(&self, at: u64, count: usize) -> Vec<i8> {
        let there = self.sim.memory.get(at, count).expect("memory");
        there.iter().map(|b| b.cast_signed()).collect()
    }

    pub(crate) fn poke32(&mut self, at: u64, values: &[i32]) {
        for (k, v) in values.iter().enumerate() {
            let there = self.sim.memory.get_mut(at + 4 * k as u64, 4);
            there.expect("memory").copy_from_slice(&v.to_le_bytes());
        }
    }

    pub(crate) fn peek32(&self, at: u64, count: usize) -> Vec<i32> {
        let there = self.sim.memory.get(at, 4 * count).expect("memory");
        let words = there.chunks(4);
        words
            .map(|w| i32::from_le_bytes(w.try_into().expect("four bytes")))
            .collect()
    }
}

/// Bytes of all kinds, a quarter of them edges.
pub(crate) fn bytes(random: &mut Random, count: usize) -> Vec<i8> {
    let mut one = || match random.below(4) {
        0 => *random.pick(&[0, 1, -1, 127, -128]),
        _ => random.next_bits() as i8,
    };
    (0..count).map(|_| one()).collect()
}
