//! The interpreter's results beside the machine's.
//!
//! In: an instruction, its inputs, the bytes that the machine gave. Out: a verdict; of the
//! first record that differs, what was expected and found. What may differ and still agree is
//! said in `tolerance.rs`.

use super::Verdict;
use super::inputs::{Inputs, Record};
use super::memory::variables;
use super::tolerance::{Likeness, Tolerance};
use codegen_gen::check_harness::{pointers, recorded, returned, value_bytes, writes};
use semantics::bits::Bits;
use semantics::eval::CompiledTerms;
use semantics::instruction::{Instruction, Role};
use semantics::sort::Sort;
use semantics::value::{Memory, Value};
use std::fmt;

/// Records that the interpreter takes at a time.
const LANES: usize = 64;

/// On how many records an instruction agreed, and how.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Agreement {
    /// All records.
    pub(crate) records: usize,
    /// Of these, those where another NaN was returned.
    pub(crate) other_nan: usize,
    /// Of these, those where an approximation was within its stated error, but not equal.
    pub(crate) near: usize,
    /// Records that fault because a pointer is not the multiple that it must be.
    pub(crate) unaligned: usize,
}

/// What came of one record, on either side.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Outcome {
    /// Whether the instruction accessed what it must not.
    pub(crate) fault: bool,
    /// The returned value.
    pub(crate) value: Option<Bits>,
    /// The windows of memory afterwards.
    pub(crate) windows: Vec<Vec<u8>>,
}

/// A record on which the two differ.
#[derive(Clone, PartialEq, Debug)]
pub struct Difference {
    /// Its number.
    pub(crate) number: usize,
    /// Every operand with its value.
    pub(crate) operands: Vec<(String, Bits)>,
    /// What the interpreter computes.
    pub(crate) expected: Outcome,
    /// What the machine computes.
    pub(crate) found: Outcome,
    /// Bits of one element of the result.
    pub(crate) element: u32,
    /// Records that differ, and all.
    pub(crate) of: (usize, usize),
    /// The smallest input that still differs, as a C program.
    pub(crate) program: Option<String>,
}

/// The records as the program reads them, and how many there are.
pub(crate) fn encode(records: &[Record]) -> (usize, Vec<u8>) {
    let mut bytes = Vec::new();
    for record in records {
        bytes.extend_from_slice(&(record.list as u16).to_le_bytes());
        for value in &record.values {
            bytes.extend_from_slice(&value.to_bytes());
        }
        for (address, window) in &record.windows {
            bytes.extend_from_slice(&address.to_le_bytes());
            bytes.extend_from_slice(window);
        }
    }
    (records.len(), bytes)
}

/// An instruction's meaning, ready to be compared.
pub(crate) struct Meaning<'a> {
    instruction: &'a Instruction,
    program: CompiledTerms,
    tolerance: Option<Tolerance>,
    defined: Bits,
}

impl<'a> Meaning<'a> {
    /// The meaning of an instruction.
    ///
    /// # Errors
    /// Why it cannot be interpreted.
    pub(crate) fn of(instruction: &'a Instruction) -> Result<Meaning<'a>, String> {
        let terms: Vec<_> = instruction.outputs.iter().map(|o| o.term).collect();
        let program = CompiledTerms::compile(&terms, &variables(instruction))
            .map_err(|error| format!("it cannot be interpreted: {error}"))?;
        let output = returned(instruction);
        let defined = output.map_or(Bits::zero(1), |output| {
            defined(output.term.sort().width().unwrap_or(1), &output.undefined)
        });
        Ok(Meaning {
            instruction,
            program,
            tolerance: output.map(Tolerance::of),
            defined,
        })
    }

    /// What the interpreter computes on each record.
    pub(crate) fn expected(&self, records: &[Record], immediates: &[Vec<u32>]) -> Vec<Outcome> {
        let mut outcomes = Vec::with_capacity(records.len());
        let mut frame = self.program.frame(LANES);
        let inputs = self.program.inputs().len();
        let reads_memory = pointers(self.instruction).next().is_some();
        for chunk in records.chunks(LANES) {
            for (lane, record) in chunk.iter().enumerate() {
                let operands = record.operands(self.instruction, immediates);
                for (input, value) in operands.into_iter().enumerate() {
                    self.program.set(&mut frame, input, lane, &Value::Bv(value));
                }
                if reads_memory {
                    let memory = Value::Mem(record.memory());
                    self.program.set(&mut frame, inputs - 1, lane, &memory);
                }
            }
            self.program.execute(&mut frame);
            for (lane, record) in chunk.iter().enumerate() {
                let mut outcome = Outcome {
                    fault: false,
                    value: None,
                    windows: Vec::new(),
                };
                for (output, sort) in self.program.output_sorts().into_iter().enumerate() {
                    match self.program.get(&frame, output, lane) {
                        Value::Mem(memory) => outcome.windows = windows(record, &memory),
                        Value::Bv(bits) if sort != Sort::Mem => outcome.value = Some(bits),
                        _ => {}
                    }
                }
                outcomes.push(outcome);
            }
        }
        outcomes
    }

    /// What the machine computed on each record, from the bytes that its program wrote.
    pub(crate) fn found(&self, records: &[Record], bytes: &[u8]) -> Vec<Outcome> {
        let size = value_bytes(self.instruction);
        let each = bytes.len() / records.len().max(1);
        let outcome = |(bytes, record): (&[u8], &Record)| {
            let (value, mut rest) = bytes[1..].split_at(size);
            let value = returned(self.instruction)
                .and_then(|o| o.term.sort().width())
                .map(|width| Bits::from_bytes(width, value));
            let mut windows = Vec::new();
            if writes(self.instruction) {
                for (_, before) in &record.windows {
                    let (window, more) = rest.split_at(before.len());
                    windows.push(window.to_vec());
                    rest = more;
                }
            }
            Outcome {
                fault: bytes[0] != 0,
                value,
                windows,
            }
        };
        bytes
            .chunks(each.max(1))
            .zip(records)
            .map(outcome)
            .collect()
    }

    /// How the two outcomes of one record compare.
    pub(crate) fn compare(&self, record: &Record, expected: &Outcome, found: &Outcome) -> Likeness {
        if found.fault || expected.windows != found.windows {
            return Likeness::Wrong;
        }
        match (&self.tolerance, &expected.value, &found.value) {
            (Some(tolerance), Some(e), Some(g)) => {
                tolerance.compare(self.instruction, record, e, g, &self.defined)
            }
            _ => Likeness::Same,
        }
    }

    /// The value that a program should be told to expect: what was found where the result is
    /// not defined.
    pub(crate) fn wanted(&self, expected: &Outcome, found: &Outcome) -> Option<Bits> {
        let (e, g) = (expected.value.as_ref()?, found.value.as_ref()?);
        Some(e.and(&self.defined).or(&g.and(&self.defined.not())))
    }

    /// Compares all the records of one instruction.
    pub(crate) fn verdict(&self, inputs: &Inputs, bytes: &[u8]) -> Verdict {
        let expected = self.expected(&inputs.records, &inputs.immediates);
        let found = self.found(&inputs.records, bytes);
        let mut agreement = Agreement::default();
        let (mut first, mut differing) = (None, 0);
        for (number, record) in inputs.records.iter().enumerate() {
            if found[number].fault && !is_aligned(record, self.instruction) {
                agreement.unaligned += 1;
                continue;
            }
            agreement.records += 1;
            match self.compare(record, &expected[number], &found[number]) {
                Likeness::Same => {}
                Likeness::Near => agreement.near += 1,
                Likeness::OtherNan => agreement.other_nan += 1,
                Likeness::Wrong => {
                    differing += 1;
                    first = first.or(Some(number));
                }
            }
        }
        let Some(number) = first else {
            return Verdict::Agreed(agreement);
        };
        let record = &inputs.records[number];
        Verdict::Differs(Box::new(Difference {
            of: (differing, inputs.records.len()),
            ..self.difference(
                number,
                record,
                &inputs.immediates,
                expected[number].clone(),
                found[number].clone(),
            )
        }))
    }

    /// One record that differs.
    fn difference(
        &self,
        number: usize,
        record: &Record,
        immediates: &[Vec<u32>],
        expected: Outcome,
        found: Outcome,
    ) -> Difference {
        let names = self.instruction.operands.iter().map(|o| o.name.clone());
        let values = record.operands(self.instruction, immediates);
        let width = expected.value.as_ref().map_or(8, Bits::width);
        let element = returned(self.instruction).and_then(|o| o.element.width());
        let value = self.wanted(&expected, &found);
        Difference {
            number,
            operands: names.zip(values).collect(),
            expected: Outcome { value, ..expected },
            found,
            element: element.unwrap_or(width).clamp(1, width),
            of: (1, 1),
            program: None,
        }
    }
}

/// The windows of a record in a memory.
fn windows(record: &Record, memory: &Memory) -> Vec<Vec<u8>> {
    let window = |(address, bytes): &(u64, Vec<u8>)| memory.read(*address, bytes.len() as u32);
    record.windows.iter().map(window).collect()
}

/// Whether every pointer of a record is a multiple of what the specification says.
fn is_aligned(record: &Record, instruction: &Instruction) -> bool {
    let mut operands = recorded(instruction).zip(&record.values);
    operands.all(|(o, v)| match o.role {
        Role::Pointer { align } => v.low_u64() % u64::from(align) == 0,
        _ => true,
    })
}

/// Ones where the result is defined.
fn defined(width: u32, undefined: &[(u32, u32)]) -> Bits {
    undefined
        .iter()
        .fold(Bits::ones(width), |mask, &(from, to)| {
            (from..to.min(width)).fold(mask, |mask, bit| mask.with_bit(bit, false))
        })
}

/// A value as hexadecimal digits in groups of 16.
pub(crate) fn hex(bits: &Bits) -> String {
    let limbs = bits.limbs().iter().rev().enumerate();
    let digits = |(k, limb): (usize, &u64)| {
        let width = if k == 0 {
            (bits.width() as usize - 1) % 64 / 4 + 1
        } else {
            16
        };
        format!("{limb:0width$x}")
    };
    limbs.map(digits).collect::<Vec<_>>().join("_")
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (differing, all) = self.of;
        writeln!(f, "  on {differing} of {all} inputs, the first of them:")?;
        for (name, value) in &self.operands {
            writeln!(f, "    {name:<8} = {}", hex(value))?;
        }
        if self.found.fault {
            writeln!(
                f,
                "    it accesses memory that it must not, or is not aligned"
            )?;
        } else if let (Some(expected), Some(found)) = (&self.expected.value, &self.found.value) {
            writeln!(f, "    expected = {}", hex(expected))?;
            writeln!(f, "    found    = {}", hex(found))?;
            let lane = expected.xor(found).trailing_zeros() / self.element;
            let at = lane * self.element;
            if at < expected.width() {
                let width = self.element.min(expected.width() - at);
                let (e, g) = (expected.extract(at, width), found.extract(at, width));
                let (e, g) = (hex(&e), hex(&g));
                let element = self.element;
                writeln!(
                    f,
                    "    element {lane} of {element} bits: expected {e}, found {g}"
                )?;
            }
        }
        for (k, (e, g)) in self
            .expected
            .windows
            .iter()
            .zip(&self.found.windows)
            .enumerate()
        {
            if let Some(at) = (0..e.len()).find(|&at| e[at] != g[at] && !self.found.fault) {
                writeln!(
                    f,
                    "    memory {k}, byte {at}: expected {:02x}, found {:02x}",
                    e[at], g[at]
                )?;
            }
        }
        if let Some(program) = &self.program {
            writeln!(f, "  the smallest input that shows it, as a C program:\n")?;
            for line in program.lines() {
                writeln!(f, "    {line}")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
