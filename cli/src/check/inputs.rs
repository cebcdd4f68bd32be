//! The inputs that instructions are checked on: edges of every element type, and random bits.
//!
//! In: an instruction, a seed, how many. Out: for each record the values of all operands, and
//! the lists of immediates. The same seed and name give the same inputs, whatever else is
//! checked with them.

use semantics::bits::Bits;
use semantics::instruction::{Constants, Element, Instruction, Operand};

/// The most lists of immediates that are tried for one instruction.
const IMMEDIATES: usize = 256;

/// The fewest records for each list of immediates.
const PER_LIST: usize = 6;

/// A small generator of random numbers: SplitMix64 (Steele, Lea, Flood: Fast splittable
/// pseudorandom number generators, OOPSLA 2014).
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// A generator for one instruction: the seed and the name (FNV-1a) choose its numbers.
    pub(crate) fn new(seed: u64, name: &str) -> Random {
        let hash = name.bytes().fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
        });
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ hash)
    }

    /// 64 random bits.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which is at least 1.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// One of several.
    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }
}

/// What an instruction is run on.
#[derive(Clone, Debug)]
pub(crate) struct Inputs {
    /// The lists of immediates, one value for each immediate operand.
    pub(crate) immediates: Vec<Vec<u32>>,
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
}

/// The inputs of one instruction: at least `count` records.
pub(crate) fn inputs(instruction: &Instruction, seed: u64, count: usize) -> Inputs {
    let mut random = Random::new(seed, &instruction.name);
    let immediates = immediates(instruction, &mut random);
    let each = count.div_ceil(immediates.len()).max(PER_LIST.min(count));
    let mut records = Vec::with_capacity(each * immediates.len());
    for list in 0..immediates.len() {
        for number in 0..each {
            let values = values(instruction, &mut random, list + number);
            records.push(Record { list, values });
        }
    }
    Inputs {
        immediates,
        records,
    }
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
}

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

/// Values for all operands but the immediates.
fn values(instruction: &Instruction, random: &mut Random, number: usize) -> Vec<Bits> {
    let mut values: Vec<Bits> = Vec::new();
    for operand in codegen_gen::check_harness::recorded(instruction) {
        let same = values
            .iter()
            .rev()
            .find(|v| v.width() == operand.width)
            .cloned();
        let value = match same {
            // Comparisons need equal elements, which chance hardly gives.
            Some(same) if operand.width >= 64 && random.below(6) == 0 => {
                mingle(&same, &draw(operand, random, Style::Mixed), random)
            }
            _ => {
                let style = if number < STYLES.len() && values.is_empty() {
                    STYLES[number]
                } else {
                    random.pick(&STYLES)
                };
                draw(operand, random, style)
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

fn draw(operand: &Operand, random: &mut Random, style: Style) -> Bits {
    let width = operand.width;
    let element = match operand.element {
        Element::Untyped => random.pick(&[8, 16, 32, 64]).min(width),
        Element::Mask => width,
        other => other.width().unwrap_or(width),
    }
    .clamp(1, width.min(64));
    let mut bytes = vec![0_u8; (width as usize).div_ceil(8)];
    let uniform = random.below(2) == 0;
    for lane in 0..(width / element).max(1) {
        let word = match style {
            Style::Bits => random.next(),
            Style::Edges => edge(operand.element, element, random),
            Style::Mixed if random.below(2) == 0 => edge(operand.element, element, random),
            Style::Mixed => random.next(),
            Style::Small => random.below(u64::from(2 * element)),
            Style::Count if lane == 0 => random.below(u64::from(2 * element)),
            Style::Count => 0,
            Style::Sparse if uniform => random.next() & random.next() & random.next(),
            Style::Sparse => random.next() | random.next() | random.next(),
            Style::Uniform => u64::from(uniform).wrapping_neg(),
        };
        put(&mut bytes, lane * element, element, word);
    }
    Bits::from_bytes(width, &bytes)
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

/// An edge of an element type: for integers 0, ±1, the ends, powers of two ±1; for floats
/// also infinities, NaNs with a payload, denormals, halves.
fn edge(element: Element, width: u32, random: &mut Random) -> u64 {
    let top = 1_u64 << (width - 1);
    match element {
        Element::Float(_) | Element::Bfloat16 => float_edge(element, width, random),
        _ => match random.below(8) {
            0 => 0,
            1 => 1,
            2 => u64::MAX,
            3 => top,
            4 => top - 1,
            5 => 1 << random.below(u64::from(width)),
            6 => (1_u64 << random.below(u64::from(width))).wrapping_sub(1),
            _ => (1_u64 << random.below(u64::from(width))).wrapping_add(1),
        },
    }
}

fn float_edge(element: Element, width: u32, random: &mut Random) -> u64 {
    let fraction = match (element, width) {
        (Element::Bfloat16, _) => 7,
        (_, 16) => 10,
        (_, 64) => 52,
        _ => 23,
    };
    let exponent_bits = width - 1 - fraction;
    let infinity = ((1_u64 << exponent_bits) - 1) << fraction;
    let bias = (1_u64 << (exponent_bits - 1)) - 1;
    let sign = random.below(2) << (width - 1);
    let payload = random.next() & ((1 << fraction) - 1);
    let magnitude = match random.below(10) {
        0 => 0,
        1 => infinity,
        2 => infinity | payload | 1,
        3 => infinity | (1 << (fraction - 1)) | payload,
        4 => payload,
        5 => 1,
        6 => infinity - 1,
        7 => (bias + random.below(4)) << fraction,
        8 => ((bias + random.below(8)) << fraction) | (1 << random.below(u64::from(fraction))),
        _ => ((bias + random.below(u64::from(width))) << fraction) | payload,
    };
    sign | magnitude
}
