//! The interpreter's results beside the machine's.
//!
//! In: an instruction, its inputs, the bytes that the machine gave. Out: a verdict; of the
//! first record that differs, the operands, both results and the lowest element that differs.

use super::Verdict;
use super::inputs::Inputs;
use semantics::bits::Bits;
use semantics::eval::{Input, Program};
use semantics::instruction::Instruction;
use semantics::sort::Sort;
use semantics::value::Value;
use std::fmt;

/// Records that the interpreter takes at a time.
const LANES: usize = 64;

/// A record on which the two differ.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Difference {
    /// Every operand with its value.
    pub(crate) operands: Vec<(String, Bits)>,
    /// What the interpreter computes.
    pub(crate) expected: Bits,
    /// What the machine computes.
    pub(crate) found: Bits,
    /// Bits of one element of the result.
    pub(crate) element: u32,
    /// The lowest element that differs.
    pub(crate) lane: u32,
    /// Records that differ, and all.
    pub(crate) of: (usize, usize),
}

/// The records as the program reads them, and how many there are.
pub(crate) fn encode(inputs: &Inputs) -> (usize, Vec<u8>) {
    let mut bytes = Vec::new();
    for record in &inputs.records {
        bytes.extend_from_slice(&(record.list as u16).to_le_bytes());
        for value in &record.values {
            bytes.extend_from_slice(&value.to_bytes());
        }
    }
    (inputs.records.len(), bytes)
}

/// Compares all the records of one instruction.
pub(crate) fn verdict(instruction: &Instruction, inputs: &Inputs, bytes: &[u8]) -> Verdict {
    let output = &instruction.outputs[0];
    let Some(width) = output.term.sort().width() else {
        return Verdict::Skipped("its result is no bit vector".to_owned());
    };
    let variable = |o: &semantics::instruction::Operand| Input {
        name: o.name.clone(),
        sort: Sort::Bv(o.width),
    };
    let variables: Vec<Input> = instruction.operands.iter().map(variable).collect();
    let program = match Program::compile(&[output.term], &variables) {
        Ok(program) => program,
        Err(error) => return Verdict::Skipped(format!("it cannot be interpreted: {error}")),
    };
    let defined = defined(width, &output.undefined);
    let mut frame = program.frame(LANES);
    let (mut first, mut differing) = (None, 0);
    let size = width as usize / 8;
    for (chunk, records) in inputs.records.chunks(LANES).enumerate() {
        let values: Vec<Vec<Bits>> = (0..records.len())
            .map(|lane| operands(instruction, inputs, chunk * LANES + lane))
            .collect();
        for (lane, values) in values.iter().enumerate() {
            for (input, value) in values.iter().enumerate() {
                program.set(&mut frame, input, lane, &Value::Bv(value.clone()));
            }
        }
        program.execute(&mut frame);
        for (lane, values) in values.iter().enumerate() {
            let at = (chunk * LANES + lane) * size;
            let found = Bits::from_bytes(width, &bytes[at..at + size]);
            let expected = program.get(&frame, 0, lane).bits().clone();
            let wrong = expected.xor(&found).and(&defined);
            if wrong.is_zero() {
                continue;
            }
            differing += 1;
            if first.is_none() {
                let element = output.element.width().unwrap_or(width).min(width).max(1);
                let names = instruction.operands.iter().map(|o| o.name.clone());
                first = Some(Difference {
                    operands: names.zip(values.iter().cloned()).collect(),
                    expected,
                    found,
                    element,
                    lane: wrong.trailing_zeros() / element,
                    of: (0, inputs.records.len()),
                });
            }
        }
    }
    match first {
        None => Verdict::Agreed(inputs.records.len()),
        Some(mut difference) => {
            difference.of.0 = differing;
            Verdict::Differs(Box::new(difference))
        }
    }
}

/// The values of all operands of one record, immediates included.
fn operands(instruction: &Instruction, inputs: &Inputs, index: usize) -> Vec<Bits> {
    let record = &inputs.records[index];
    let mut immediates = inputs.immediates[record.list].iter();
    let mut values = record.values.iter();
    let mut value = |o: &semantics::instruction::Operand| match o.role {
        role if role.is_constant() => {
            let immediate = immediates.next().expect("one for each immediate operand");
            Bits::from_u64(o.width, u64::from(*immediate))
        }
        _ => values.next().expect("one for each other operand").clone(),
    };
    instruction.operands.iter().map(&mut value).collect()
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
fn hex(bits: &Bits) -> String {
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
        writeln!(f, "    expected = {}", hex(&self.expected))?;
        writeln!(f, "    found    = {}", hex(&self.found))?;
        let at = self.lane * self.element;
        let width = self.element.min(self.expected.width() - at);
        let (expected, found) = (
            self.expected.extract(at, width),
            self.found.extract(at, width),
        );
        writeln!(
            f,
            "    element {} of {} bits: expected {}, found {}",
            self.lane,
            self.element,
            hex(&expected),
            hex(&found)
        )
    }
}
