//! A machine: the state that its instructions work on, their words and their assembly text.
//!
//! In: built by the dialects of `spec-parser` that describe whole machines. Out: [`Machine`],
//! which assemblers, simulators and generators of code share, so that none of them keeps a
//! table of its own. It runs nothing and reads no files.

mod abi;
pub mod arithmetic;
pub mod block;
pub mod effects;
mod encoding;
mod erratum;
pub mod procedure;
pub mod role;
pub mod symbolic;

pub use abi::{Abi, Unknown};
pub use encoding::{Encoding, Fault, Field};
pub use erratum::Erratum;

use crate::instruction::Instruction;
use crate::term::Term;
use procedure::{Procedure, State};

/// Registers of one kind.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RegisterFile {
    /// Its letter: registers are called `m0`, `m1`, ….
    pub name: String,
    /// How many there are.
    pub count: u32,
    /// Bits of one.
    pub width: u32,
    /// Bits of a row; rows are numbered from the least significant up.
    pub row: u32,
    /// The register that always reads 0, where there is one.
    pub zero: Option<u32>,
    /// Whether a register may be read before it was written.
    pub defined: bool,
    /// Whether common assemblers do not know such registers.
    pub foreign: bool,
    /// Other names, by number; shorter than `count` where there are none.
    pub aliases: Vec<String>,
}

impl RegisterFile {
    /// The name that is printed.
    pub fn name_of(&self, number: u32) -> String {
        match self.aliases.get(number as usize) {
            Some(alias) => alias.clone(),
            None => format!("{}{number}", self.name),
        }
    }

    /// The register of that name.
    pub fn number_of(&self, name: &str) -> Option<u32> {
        let alias = self.aliases.iter().position(|a| a == name);
        let numbered = || name.strip_prefix(&self.name)?.parse::<u32>().ok();
        let number = alias.and_then(|n| u32::try_from(n).ok()).or_else(numbered);
        number.filter(|&n| n < self.count)
    }
}

/// What an operand is in the word and in the text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OperandKind {
    /// A register of the file with this index in [`Machine::files`].
    Register {
        /// The file.
        file: usize,
        /// Whether its value matters.
        read: bool,
        /// Whether it has a new value afterwards.
        written: bool,
    },
    /// A constant.
    Immediate {
        /// Bits of it.
        width: u32,
        /// Whether it is a two's complement number.
        signed: bool,
        /// Whether it is the distance to an instruction.
        target: bool,
    },
}

/// One operand: the instruction's operand of the same name, in the order of the text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MachineOperand {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: OperandKind,
}

/// A register that an instruction works on beside its operands: no bits of its word and no part of
/// its text say which. What is read of such registers is configuration: meanings are looked at for
/// the values that it has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Implicit {
    /// Its name in the meaning.
    pub name: String,
    /// The file, in [`Machine::files`].
    pub file: usize,
    /// Which register.
    pub which: Which,
    /// Whether its value matters.
    pub read: bool,
    /// Whether it has a new value afterwards.
    pub written: bool,
}

/// Which register of a file is meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Which {
    /// That of this number.
    Number(u32),
    /// That with the number of the operand with this index.
    Of(usize),
}

impl Implicit {
    /// The number of the register where operands have these values.
    pub fn number(&self, values: &[i64]) -> u32 {
        match self.which {
            Which::Number(n) => n,
            Which::Of(k) => u32::try_from(values[k]).unwrap_or(u32::MAX),
        }
    }
}

/// What must hold before an instruction, or what it does is undefined.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Requirement {
    /// The condition, over operands and implicit registers.
    pub condition: Term,
    /// What is broken where it does not hold.
    pub broken: String,
}

/// How programs of a machine are written in C, where each instruction is a statement.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Spelt {
    /// Headers that are included.
    pub headers: Vec<String>,
    /// Flags of compilers that have the instructions.
    pub flags: Vec<String>,
    /// What stands before functions.
    pub prelude: String,
    /// The type of a scalar register.
    pub register: String,
}

/// What stands around a program that computes on tiles: their configuration, loaded from memory,
/// and what gives it up.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Setup {
    /// The instruction that loads it, and its operand that is the address.
    pub load: (usize, usize),
    /// What lies there.
    pub bytes: Vec<u8>,
    /// The instruction behind the program.
    pub leave: Option<usize>,
}

/// A piece of the assembly text after the mnemonic.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Syntax {
    /// These characters.
    Text(String),
    /// The operand with this index.
    Operand(usize),
}

/// A machine instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MachineInstruction {
    /// Its meaning; the name is the mnemonic.
    pub instruction: Instruction,
    /// Its operands in the order of the text.
    pub operands: Vec<MachineOperand>,
    /// Its word.
    pub encoding: Encoding,
    /// Its text after the mnemonic.
    pub syntax: Vec<Syntax>,
    /// Pairs of operands that must be different registers, or the result is undefined.
    pub distinct: Vec<(usize, usize)>,
    /// Registers that no operand names.
    pub implicit: Vec<Implicit>,
    /// What must hold before it.
    pub requires: Vec<Requirement>,
    /// The statement of C that it is, where programs of the machine are C.
    pub statement: Option<Vec<Syntax>>,
    /// The index in [`Machine::procedures`] of what it does to declared state; such an
    /// instruction has no results of its own.
    pub procedure: Option<usize>,
}

impl MachineInstruction {
    /// The index of the implicit register of that name.
    pub fn implicit(&self, name: &str) -> Option<usize> {
        self.implicit.iter().position(|i| i.name == name)
    }

    /// The index of the operand of that name.
    pub fn operand(&self, name: &str) -> Option<usize> {
        self.operands.iter().position(|o| o.name == name)
    }

    /// The text with these values; registers by name.
    pub fn text(&self, machine: &Machine, values: &[i64]) -> String {
        let mut text = self.instruction.name.clone();
        if !self.syntax.is_empty() {
            text.push(' ');
        }
        for piece in &self.syntax {
            match piece {
                Syntax::Text(t) => text.push_str(t),
                Syntax::Operand(k) => {
                    text.push_str(&machine.operand_text(&self.operands[*k], values[*k]))
                }
            }
        }
        text
    }
}

/// A part of the machine that works on one instruction at a time, beside the others.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unit {
    /// Its name.
    pub name: String,
    /// Cycles after which it can begin the next.
    pub cycles: u64,
    /// Cycles after which the result is there.
    pub latency: u64,
    /// What it works on: indices in [`Machine::instructions`].
    pub instructions: Vec<usize>,
}

/// Memory in parts that work beside each other, each on one word of 4 bytes a cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Banks {
    /// How many.
    pub count: u64,
    /// Neighbouring bytes that lie in one of them; the next lie in the next.
    pub stripe: u64,
    /// Words that units move in a cycle when each is in another bank.
    pub beat: u64,
}

impl Banks {
    /// Cycles for words at these addresses, which are moved in this order, a beat at a time: a
    /// bank takes as many as it has different words of a beat.
    pub fn cycles(&self, addresses: &[u64]) -> u64 {
        let beat = usize::try_from(self.beat.max(1)).unwrap_or(usize::MAX);
        let of = |beat: &[u64]| {
            let mut words: Vec<(u64, u64)> = beat
                .iter()
                .map(|a| (a / self.stripe.max(1) % self.count.max(1), a / 4))
                .collect();
            words.sort_unstable();
            words.dedup();
            let banks = words.chunk_by(|a, b| a.0 == b.0).map(<[_]>::len);
            banks.max().unwrap_or(0) as u64
        };
        addresses.chunks(beat).map(of).sum()
    }
}

/// What a machine's work takes, by one source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CostModel {
    /// Its name.
    pub name: String,
    /// Where its numbers are from.
    pub source: String,
    /// The parameters for which they hold; with others they say nothing.
    pub holds: Vec<(String, i64)>,
    /// As in [`Machine`].
    pub issue: u64,
    /// As in [`Machine`].
    pub taken: u64,
    /// As in [`Machine`].
    pub units: Vec<Unit>,
    /// As in [`Machine`].
    pub banks: Option<Banks>,
}

/// A machine.
#[derive(Clone, PartialEq, Debug)]
pub struct Machine {
    /// The name of the instruction set.
    pub isa: String,
    /// The sizes, in the order of the file.
    pub parameters: Vec<(String, i64)>,
    /// Registers.
    pub files: Vec<RegisterFile>,
    /// How functions call each other, where that is said.
    pub abi: Option<Abi>,
    /// How its programs are C, where they are.
    pub spelt: Option<Spelt>,
    /// What stands around programs on tiles.
    pub setup: Option<Setup>,
    /// Bits of an address.
    pub address: u32,
    /// Whether every access to memory must be a multiple of its own size.
    pub aligned: bool,
    /// Whether host and units see registers and memory in the order of the program.
    pub coherent: bool,
    /// Bytes of an instruction.
    pub word: u32,
    /// The name of the model of cost that is used: of it are `issue`, `taken`, `units`, `banks`.
    pub model: String,
    /// The other models of cost.
    pub models: Vec<CostModel>,
    /// Cycles in which the host issues an instruction; for models of cost.
    pub issue: u64,
    /// Cycles that a branch takes besides, when the next instruction is another than the one
    /// behind it; for models of cost.
    pub taken: u64,
    /// The instruction behind which all that was begun before is done, on a machine whose units
    /// share memory with the host without coherence.
    pub fence: Option<usize>,
    /// What hardware does not survive, those that are switched off among them.
    pub errata: Vec<Erratum>,
    /// What works beside the host; for models of cost.
    pub units: Vec<Unit>,
    /// The banks of memory, where there are such; for models of cost.
    pub banks: Option<Banks>,
    /// Instructions in the order of the files.
    pub instructions: Vec<MachineInstruction>,
    /// What instructions work on beside registers and memory.
    pub state: State,
    /// What instructions on declared state do; some are only performed by others.
    pub procedures: Vec<Procedure>,
    /// What sequences of instructions on declared state do to whole tiles, as functions of
    /// them; not instructions themselves.
    pub views: Vec<Instruction>,
    /// What sequences of them do to blocks of cells at addresses; for who schedules loops.
    pub blocks: Vec<block::Block>,
    /// What instructions and rows are for, for who maps loops to them.
    pub roles: role::Roles,
}

impl Machine {
    /// A parameter's value.
    pub fn parameter(&self, name: &str) -> Option<i64> {
        self.parameters.iter().find(|(n, _)| n == name).map(|p| p.1)
    }

    /// The machine with another of its models of cost.
    ///
    /// # Errors
    /// What there is instead of that name, or why the model does not hold.
    pub fn with_model(mut self, name: &str) -> Result<Machine, String> {
        if self.model == name {
            return Ok(self);
        }
        let Some(found) = self.models.iter().find(|m| m.name == name).cloned() else {
            let others = self.models.iter().map(|m| m.name.as_str());
            let all: Vec<&str> = std::iter::once(self.model.as_str()).chain(others).collect();
            return Err(format!("its models of cost are {}", all.join(", ")));
        };
        for (parameter, value) in &found.holds {
            let now = self.parameter(parameter);
            if now != Some(*value) {
                let now = now.map_or_else(|| "not there".to_owned(), |n| n.to_string());
                return Err(format!(
                    "the model `{name}` holds for {parameter} = {value}, which is {now}"
                ));
            }
        }
        self.model = found.name;
        (self.issue, self.taken) = (found.issue, found.taken);
        (self.units, self.banks) = (found.units, found.banks);
        Ok(self)
    }

    /// The instruction of that mnemonic.
    pub fn instruction(&self, name: &str) -> Option<&MachineInstruction> {
        self.instructions
            .iter()
            .find(|i| i.instruction.name == name)
    }

    /// The instruction of a word and the values of its operands.
    pub fn decode(&self, word: u64) -> Option<(usize, Vec<i64>)> {
        let at = self
            .instructions
            .iter()
            .position(|i| i.encoding.matches(word))?;
        let found = &self.instructions[at];
        let value = |(k, o): (usize, &MachineOperand)| {
            let raw = found.encoding.value(k, word);
            match o.kind {
                OperandKind::Immediate {
                    width,
                    signed: true,
                    ..
                } if width < 64 => (raw << (64 - width)) as i64 >> (64 - width),
                _ => raw as i64,
            }
        };
        Some((at, found.operands.iter().enumerate().map(value).collect()))
    }

    /// An operand's value as it is written in assembly.
    pub fn operand_text(&self, operand: &MachineOperand, value: i64) -> String {
        match operand.kind {
            OperandKind::Register { file, .. } => {
                let number = u32::try_from(value).unwrap_or(u32::MAX);
                self.files[file].name_of(number)
            }
            OperandKind::Immediate { .. } => value.to_string(),
        }
    }
}

#[cfg(test)]
mod tests;
