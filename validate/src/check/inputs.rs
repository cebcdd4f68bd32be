//! The inputs that instructions are checked on: edges of every element type, and random bits.
//!
//! In: an instruction, a seed, how many. Out: for each record the values of all operands and
//! the contents of memory, and the lists of immediates. The same seed and name give the same
//! inputs, whatever else is checked with them.

use super::edges::edge;
use super::memory::{self, Accesses, Extent, Place};
use codegen_gen::check_harness::{pointers, recorded};
use semantics::bits::Bits;
use semantics::instruction::{Constants, Element, Instruction, Operand};
use semantics::random::Random;
use semantics::value::{Memory, Value};

/// The most lists of immediates that are tried for one instruction.
const IMMEDIATES: usize = 256;

/// The fewest records for each list of immediates.
const PER_LIST: usize = 6;

/// The numbers of one instruction: the seed and the name (FNV-1a) choose them.
pub(crate) fn numbers(seed: u64, name: &str) -> Random {
    let hash = name.bytes().fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    });
    Random::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ hash)
}

/// What an instruction is run on.
#[derive(Clone, Debug)]
pub(crate) struct Inputs {
    /// The lists of immediates, one value for each immediate operand.
    pub(crate) immediates: Vec<Vec<u32>>,
    /// Bytes of the window of memory of each pointer.
    pub(crate) window: usize,
    /// The records.
    pub(crate) records: Vec<Record>,
}

/// One input.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    /// Which list of immediates.
    pub(crate) list: usize,
    /// The values of the other operands, in order.
    pub(crate) values: Vec<Bits>,
    /// For each pointer the address and the bytes of its window.
    pub(crate) windows: Vec<(u64, Vec<u8>)>,
}

impl Record {
    /// Memory before the instruction: 0 outside the windows.
    pub(crate) fn memory(&self) -> Memory {
        let mut memory = Memory::default();
        for (address, bytes) in &self.windows {
            memory.write(*address, bytes);
        }
        memory
    }

    /// The values of all operands in order, immediates included.
    pub(crate) fn operands(&self, instruction: &Instruction, immediates: &[Vec<u32>]) -> Vec<Bits> {
        let mut immediates = immediates[self.list].iter();
        let mut values = self.values.iter();
        let mut value = |o: &Operand| match o.role {
            role if role.is_constant() => {
                let immediate = immediates.next().expect("one for each immediate operand");
                Bits::from_u64(o.width, u64::from(*immediate))
            }
            _ => values.next().expect("one for each other operand").clone(),
        };
        instruction.operands.iter().map(&mut value).collect()
    }
}

/// The inputs of one instruction: at least `count` records.
///
/// # Errors
/// Why its pointers cannot be placed.
pub(crate) fn inputs(instruction: &Instruction, seed: u64, count: usize) -> Result<Inputs, String> {
    let mut random = numbers(seed, &instruction.name);
    let immediates = immediates(instruction, &mut random);
    let accesses = match pointers(instruction).next() {
        Some(_) => Some(Accesses::of(instruction)?),
        None => None,
    };
    let indices = accesses.iter().flat_map(|a| a.indices.iter().copied());
    let indices: Vec<usize> = indices.collect();
    let each = count.div_ceil(immediates.len()).max(PER_LIST.min(count));
    let mut records = Vec::with_capacity(each * immediates.len());
    for list in 0..immediates.len() {
        for number in 0..each {
            records.push(Record {
                list,
                values: values(instruction, &indices, &mut random, list + number),
                windows: Vec::new(),
            });
        }
    }
    let mut inputs = Inputs {
        immediates,
        window: 0,
        records,
    };
    if let Some(accesses) = accesses {
        place(instruction, &accesses, &mut inputs, &mut random)?;
    }
    Ok(inputs)
}

/// Chooses the pointers of all records, and fills their memory.
fn place(
    instruction: &Instruction,
    accesses: &Accesses,
    inputs: &mut Inputs,
    random: &mut Random,
) -> Result<(), String> {
    let value = |bits: Bits| Value::Bv(bits);
    let extents: Vec<Vec<Extent>> = inputs
        .records
        .iter()
        .map(|record| {
            let operands = record.operands(instruction, &inputs.immediates);
            let operands: Vec<Value> = operands.into_iter().map(value).collect();
            accesses.extents(&operands)
        })
        .collect();
    inputs.window = memory::window(&extents)?;
    for (number, (record, extents)) in inputs.records.iter_mut().zip(&extents).enumerate() {
        let place = Place::of(number);
        let mut put = Vec::new();
        for (k, operand) in pointers(instruction).enumerate() {
            let (pointer, at) = place.put(k, extents[k], inputs.window);
            let style = *random.pick(&STYLES);
            let contents = draw(operand, inputs.window as u32 * 8, random, style);
            put.push(Bits::from_u64(64, pointer));
            record.windows.push((at, contents));
        }
        let mut put = put.into_iter();
        for (value, operand) in record.values.iter_mut().zip(recorded(instruction)) {
            if operand.role.is_pointer() {
                *value = put.next().expect("one for each pointer");
            }
        }
    }
    Ok(())
}

/// All lists of immediates where there are at most [`IMMEDIATES`], else that many: the ends
/// and a sample.
fn immediates(instruction: &Instruction, random: &mut Random) -> Vec<Vec<u32>> {
    let ranges: Vec<Constants> = instruction
        .operands
        .iter()
        .filter_map(|o| o.role.constants())
        .collect();
    let all: u64 = ranges.iter().map(|r| r.count()).product();
    if all <= IMMEDIATES as u64 {
        return (0..all).map(|n| digits(n, &ranges)).collect();
    }
    let mut lists = vec![digits(0, &ranges), digits(all - 1, &ranges)];
    while lists.len() < IMMEDIATES {
        lists.push(digits(random.below(all), &ranges));
    }
    lists.sort();
    lists.dedup();
    lists
}

/// A number as one value of each range.
fn digits(mut number: u64, ranges: &[Constants]) -> Vec<u32> {
    let mut digit = |range: &Constants| {
        let digit = number % range.count();
        number /= range.count();
        range.nth(digit).expect("below the count")
    };
    ranges.iter().map(&mut digit).collect()
}

/// How the elements of one operand are drawn.
#[derive(Clone, Copy, Debug)]
enum Style {
    /// All bits at random.
    Bits,
    /// Every element an edge of its type.
    Edges,
    /// Edges and random elements.
    Mixed,
    /// Small numbers, as counts and indices are.
    Small,
    /// One small number at the bottom, zeros above: a count for all elements.
    Count,
    /// Few bits set, or few clear.
    Sparse,
    /// Zeros, or ones.
    Uniform,
    /// Indices on both sides of 0, each of few elements of memory.
    Near,
}

/// The bound on indices into memory: with the largest scale they stay inside a window.
const NEAR: u64 = 16;

const STYLES: [Style; 10] = [
    Style::Bits,
    Style::Edges,
    Style::Mixed,
    Style::Small,
    Style::Bits,
    Style::Edges,
    Style::Count,
    Style::Mixed,
    Style::Sparse,
    Style::Uniform,
];

/// Values for all operands but the immediates; pointers are the middles of their memories,
/// and indices small.
fn values(
    instruction: &Instruction,
    indices: &[usize],
    random: &mut Random,
    number: usize,
) -> Vec<Bits> {
    let mut values: Vec<Bits> = Vec::new();
    let mut pointer = 0;
    for (place, operand) in instruction.operands.iter().enumerate() {
        let width = operand.width;
        if operand.role.is_constant() {
            continue;
        }
        let same = values.iter().rev().find(|v| v.width() == width).cloned();
        let value = match same {
            _ if operand.role.is_pointer() => {
                pointer += 1;
                Bits::from_u64(64, memory::middle(pointer - 1))
            }
            _ if indices.contains(&place) => {
                Bits::from_bytes(width, &draw(operand, width, random, Style::Near))
            }
            // Comparisons need equal elements, which chance hardly gives.
            Some(same) if width >= 64 && random.below(6) == 0 => {
                let other = draw(operand, width, random, Style::Mixed);
                mingle(&same, &Bits::from_bytes(width, &other), random)
            }
            _ => {
                let style = if number < STYLES.len() && values.is_empty() {
                    STYLES[number]
                } else {
                    *random.pick(&STYLES)
                };
                Bits::from_bytes(width, &draw(operand, width, random, style))
            }
        };
        values.push(value);
    }
    values
}

/// Some bytes of one, the rest of the other.
fn mingle(a: &Bits, b: &Bits, random: &mut Random) -> Bits {
    let (left, right) = (a.to_bytes(), b.to_bytes());
    let size = 1 << random.below(4);
    let mut keep = true;
    let bytes: Vec<u8> = (0..left.len())
        .map(|i| {
            if i % size == 0 {
                keep = random.below(2) == 0;
            }
            if keep { left[i] } else { right[i] }
        })
        .collect();
    Bits::from_bytes(a.width(), &bytes)
}

/// The bytes of `width` bits, read as the elements of the operand.
fn draw(operand: &Operand, width: u32, random: &mut Random, style: Style) -> Vec<u8> {
    let element = match operand.element {
        Element::Untyped if matches!(style, Style::Near) => 32,
        Element::Untyped => width.min(*random.pick(&[8, 16, 32, 64])),
        Element::Mask => operand.width,
        other => other.width().unwrap_or(width),
    }
    .clamp(1, width.min(64));
    let mut bytes = vec![0_u8; (width as usize).div_ceil(8)];
    let uniform = random.below(2) == 0;
    for lane in 0..(width / element).max(1) {
        let word = match style {
            Style::Bits => random.next_bits(),
            Style::Edges => edge(operand.element, element, random),
            Style::Mixed if random.below(2) == 0 => edge(operand.element, element, random),
            Style::Mixed => random.next_bits(),
            Style::Small => random.below(u64::from(2 * element)),
            Style::Count if lane == 0 => random.below(u64::from(2 * element)),
            Style::Count => 0,
            Style::Sparse if uniform => {
                random.next_bits() & random.next_bits() & random.next_bits()
            }
            Style::Sparse => random.next_bits() | random.next_bits() | random.next_bits(),
            Style::Uniform => u64::from(uniform).wrapping_neg(),
            Style::Near => random.below(2 * NEAR).wrapping_sub(NEAR),
        };
        put(&mut bytes, lane * element, element, word);
    }
    bytes
}

/// Writes the low bits of a word at a bit offset; both are multiples of 8 or the element is
/// the whole.
fn put(bytes: &mut [u8], offset: u32, element: u32, word: u64) {
    let word = word.to_le_bytes();
    let from = (offset / 8) as usize;
    for (k, byte) in word.iter().take((element as usize).div_ceil(8)).enumerate() {
        bytes[from + k] = *byte;
    }
}
