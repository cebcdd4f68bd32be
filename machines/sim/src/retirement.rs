//! Whether a program is safe on a machine whose units retire out of order: read from its words.
//!
//! In: words, memory, and how many instructions of the units may be under way. Out: [`Safe`],
//! what was gone through, or the first [`Hazard`] with the two instructions that may change
//! places and must not. The words are decoded and run; what an instruction reads and writes
//! is what its meaning says, where it touches memory is what the run does. Nothing is taken
//! from whoever made the program, so this is a check of it. It holds for this run: for other
//! sizes, and where branches depend on data for other data, run it again.
//!
//! The rules: the host works in order and an access of its own is done before its next
//! instruction. An instruction of a unit retires at any time until as many as may be under
//! way have followed; only what it needs of other tiles holds it back. Host and units see what
//! the other has stored behind a fence only; a unit has read memory when it has retired.

use crate::memory::Memory;
use crate::program::{MachineProgram, Setting};
use crate::run::{Access, Done, Simulator, Stopped};
use semantics::diagnostic::Diagnostic;
use semantics::machine::{Machine, MachineInstruction, OperandKind};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::fmt;

/// What must not change places.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// A tile is read, then written.
    WriteAfterRead,
    /// A tile is written twice.
    WriteAfterWrite,
    /// Two units touch one word of memory, at least one writes it.
    Units,
    /// The host stores what a unit then touches.
    HostFirst,
    /// The host touches what a unit has stored, or stores what a unit has loaded.
    UnitFirst,
}

/// Two instructions that may change places and must not.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hazard {
    /// Which kind.
    pub kind: Kind,
    /// The position of the first in the program.
    pub first: usize,
    /// The position of the second.
    pub second: usize,
    /// The tile, or the address.
    pub place: String,
}

impl fmt::Display for Hazard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = &self.place;
        match self.kind {
            Kind::WriteAfterRead => write!(f, "{place} may be written before it has been read"),
            Kind::WriteAfterWrite => write!(f, "{place} may be written in the other order"),
            Kind::Units => write!(f, "the word at {place} may be touched in the other order"),
            Kind::HostFirst => write!(f, "the host's store at {place} may not be seen yet"),
            Kind::UnitFirst => write!(f, "the unit may not be done with the word at {place}"),
        }
    }
}

/// What was gone through without a hazard.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Safe {
    /// Words of the program.
    pub words: usize,
    /// Instructions that were run.
    pub executed: u64,
    /// Those of units among them.
    pub units: u64,
    /// Fences among them.
    pub fences: u64,
}

/// Why a program was not shown to be safe.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unsafe {
    /// Words that are no instructions.
    Words(Vec<Diagnostic>),
    /// Two instructions that may change places, as a message.
    Hazard(Hazard, Box<Diagnostic>),
    /// It did not come to its end.
    Stopped(Stopped),
}

/// Decodes words, runs them from registers that hold `start`, and looks for hazards; at most `in_flight` instructions of units
/// are under way at once, and at most `limit` instructions are run.
///
/// # Errors
/// Why it is not safe, or why that is not known.
pub fn check(
    machine: &Machine,
    (name, words): (&str, &[u8]),
    (start, memory): (&[Setting], Memory),
    in_flight: usize,
    limit: u64,
) -> Result<Safe, Unsafe> {
    let mut program = MachineProgram::from_words(machine, name, words).map_err(Unsafe::Words)?;
    program.settings.extend_from_slice(start);
    let mut watcher = Watcher::new(machine, &program, in_flight);
    let mut simulator = Simulator::new(machine, memory);
    let ran = simulator.run_watched(&program, limit, &mut |done| watcher.done(done));
    if let Some(hazard) = watcher.found.filter(|_| !machine.coherent) {
        let reported = reported(machine, &program, &hazard);
        return Err(Unsafe::Hazard(hazard, Box::new(reported)));
    }
    match ran {
        Ok(_) => Ok(watcher.safe),
        Err(stopped) => Err(Unsafe::Stopped(stopped)),
    }
}

fn reported(machine: &Machine, program: &MachineProgram, hazard: &Hazard) -> Diagnostic {
    let (first, second) = (&program.code[hazard.first], &program.code[hazard.second]);
    let text = machine.instructions[first.instruction].text(machine, &first.values);
    Diagnostic::error(format!("out of order: {hazard}"))
        .at(&program.source, second.span)
        .label(format!("`{text}`, word {}, is before it", hazard.first))
        .hint("a fence between them, or another tile, keeps them in order")
}

/// An instruction of a unit that may not have retired.
struct Flying {
    at: usize,
    number: u64,
    read: Vec<Tile>,
    written: Vec<Tile>,
    loads: BTreeSet<u64>,
    stores: BTreeSet<u64>,
    /// What it waits for, as far as that is still under way.
    after: BTreeSet<u64>,
}

/// A register file and a number in it.
type Tile = (usize, i64);

struct Watcher<'a> {
    machine: &'a Machine,
    program: &'a MachineProgram,
    in_flight: usize,
    /// Whether the host hands an instruction to a unit and goes on.
    of_units: Vec<bool>,
    flying: VecDeque<Flying>,
    /// The last writer of a tile since the last fence.
    writer: BTreeMap<Tile, u64>,
    /// Words that were stored since the last fence, with the instruction.
    by_host: HashMap<u64, usize>,
    by_units: HashMap<u64, usize>,
    safe: Safe,
    found: Option<Hazard>,
}

impl<'a> Watcher<'a> {
    fn new(machine: &'a Machine, program: &'a MachineProgram, in_flight: usize) -> Watcher<'a> {
        Watcher {
            machine,
            program,
            in_flight,
            of_units: of_units(machine),
            flying: VecDeque::new(),
            writer: BTreeMap::new(),
            by_host: HashMap::new(),
            by_units: HashMap::new(),
            safe: Safe {
                words: program.code.len(),
                ..Safe::default()
            },
            found: None,
        }
    }

    fn done(&mut self, done: &Done<'_>) {
        let instruction = self.program.code[done.at].instruction;
        self.safe.executed += 1;
        if self.machine.fence == Some(instruction) {
            self.safe.fences += 1;
            self.flying.clear();
            self.writer.clear();
            self.by_host.clear();
            self.by_units.clear();
        } else if self.of_units[instruction] {
            self.safe.units += 1;
            self.unit(done);
        } else {
            self.host(done);
        }
    }

    fn unit(&mut self, done: &Done<'_>) {
        let (read, written) = self.tiles(done.at);
        let waits = read.iter().filter_map(|r| self.writer.get(r).copied());
        let mut after: BTreeSet<u64> = waits.collect();
        for before in &self.flying {
            if after.contains(&before.number) {
                after.extend(&before.after);
            }
        }
        let next = Flying {
            at: done.at,
            number: self.safe.units,
            read,
            written,
            loads: words(done.touched, false),
            stores: words(done.touched, true),
            after,
        };
        for word in next.loads.union(&next.stores) {
            if let Some(&first) = self.by_host.get(word) {
                self.keep(hazard(Kind::HostFirst, first, done.at, *word));
            }
        }
        let unordered = |f: &&Flying| !next.after.contains(&f.number);
        let mut before = self.flying.iter().filter(unordered);
        let clash = before.find_map(|f| Some((f.at, self.conflict(f, &next)?)));
        if let Some((first, (kind, place))) = clash {
            self.keep(Hazard {
                kind,
                first,
                second: done.at,
                place,
            });
        }
        for tile in &next.written {
            self.writer.insert(*tile, next.number);
        }
        self.by_units
            .extend(next.stores.iter().map(|w| (*w, done.at)));
        self.flying.push_back(next);
        while self.flying.len() >= self.in_flight.max(1) {
            self.flying.pop_front();
        }
    }

    /// Tiles that an instruction reads, and those that it writes.
    fn tiles(&self, at: usize) -> (Vec<Tile>, Vec<Tile>) {
        let placed = &self.program.code[at];
        let operands = &self.machine.instructions[placed.instruction].operands;
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        for (operand, &value) in operands.iter().zip(&placed.values) {
            if let OperandKind::Register {
                file,
                read,
                written,
            } = operand.kind
                && self.machine.files[file].foreign
            {
                reads.extend(read.then_some((file, value)));
                writes.extend(written.then_some((file, value)));
            }
        }
        (reads, writes)
    }

    fn conflict(&self, a: &Flying, b: &Flying) -> Option<(Kind, String)> {
        let name = |&(file, number): &Tile| {
            let number = u32::try_from(number).unwrap_or(u32::MAX);
            self.machine.files[file].name_of(number)
        };
        if let Some(tile) = a.read.iter().find(|t| b.written.contains(t)) {
            return Some((Kind::WriteAfterRead, name(tile)));
        }
        if let Some(tile) = a.written.iter().find(|t| b.written.contains(t)) {
            return Some((Kind::WriteAfterWrite, name(tile)));
        }
        let mut words = a.stores.intersection(&b.stores);
        let word = words
            .next()
            .or_else(|| a.stores.intersection(&b.loads).next())
            .or_else(|| a.loads.intersection(&b.stores).next());
        word.map(|w| (Kind::Units, address(*w)))
    }

    fn host(&mut self, done: &Done<'_>) {
        for access in done.touched {
            for word in words(std::slice::from_ref(access), access.writes) {
                let loads = |f: &&Flying| access.writes && f.loads.contains(&word);
                let loading = self.flying.iter().find(loads).map(|f| f.at);
                if let Some(first) = self.by_units.get(&word).copied().or(loading) {
                    self.keep(hazard(Kind::UnitFirst, first, done.at, word));
                }
                if access.writes {
                    self.by_host.insert(word, done.at);
                }
            }
        }
    }

    /// Keeps the first hazard of the run.
    fn keep(&mut self, hazard: Hazard) {
        self.found.get_or_insert(hazard);
    }
}

/// For each instruction, whether the host hands it to a unit and goes on.
fn of_units(machine: &Machine) -> Vec<bool> {
    let tiles = |kind: &OperandKind| match kind {
        OperandKind::Register { file, .. } => machine.files[*file].foreign,
        OperandKind::Immediate { .. } => false,
    };
    let is_one = |(k, instruction): (usize, &MachineInstruction)| {
        let mut units = machine.units.iter();
        units.any(|u| u.instructions.contains(&k))
            || instruction.operands.iter().any(|o| tiles(&o.kind))
    };
    machine
        .instructions
        .iter()
        .enumerate()
        .map(is_one)
        .collect()
}

fn hazard(kind: Kind, first: usize, second: usize, word: u64) -> Hazard {
    Hazard {
        kind,
        first,
        second,
        place: address(word),
    }
}

/// Bytes of a word of memory.
const WORD: u64 = 4;

fn address(word: u64) -> String {
    format!("{:#x}", word * WORD)
}

/// The words that are read, or written.
fn words(touched: &[Access], writes: bool) -> BTreeSet<u64> {
    let those = touched.iter().filter(|a| a.writes == writes);
    let of = |a: &Access| a.address / WORD..=(a.address + u64::from(a.bytes) - 1) / WORD;
    those.flat_map(of).collect()
}
