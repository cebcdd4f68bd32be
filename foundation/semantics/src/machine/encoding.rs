//! Words of instructions: fixed bits and fields.
//!
//! In: fixed bits and, for each operand, where its bits go. Out: [`Encoding`]: words from
//! values and values from words.

use std::fmt;

/// Some bits of an operand in the word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Field {
    /// The operand's index.
    pub operand: usize,
    /// The lowest bit in the word.
    pub at: u32,
    /// How many bits.
    pub width: u32,
    /// The lowest bit of the operand's value.
    pub from: u32,
}

/// How an instruction is a word.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Encoding {
    /// The fixed bits.
    pub bits: u64,
    /// Which bits are fixed.
    pub mask: u64,
    /// The others.
    pub fields: Vec<Field>,
}

/// Why values have no word.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The operand's index.
    pub operand: usize,
    /// The value that does not fit.
    pub value: i64,
    /// The nearest value that does.
    pub nearest: i64,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} does not fit; the nearest that does is {}",
            self.value, self.nearest
        )
    }
}

fn ones(width: u32) -> u64 {
    if width >= 64 {
        u64::MAX
    } else {
        (1 << width) - 1
    }
}

impl Encoding {
    /// Whether the fixed bits are those of the word.
    pub fn matches(&self, word: u64) -> bool {
        word & self.mask == self.bits
    }

    /// A word that both match, if there is one.
    pub fn overlap(&self, other: &Encoding) -> Option<u64> {
        let apart = (self.bits ^ other.bits) & self.mask & other.mask;
        (apart == 0).then_some(self.bits | other.bits)
    }

    /// The bits of an operand, without a sign.
    pub fn value(&self, operand: usize, word: u64) -> u64 {
        let own = self.fields.iter().filter(|f| f.operand == operand);
        own.fold(0, |v, f| v | (word >> f.at & ones(f.width)) << f.from)
    }

    /// How far an operand's bits reach, and below which bit all are 0.
    pub fn extent(&self, operand: usize) -> (u32, u32) {
        let own = || self.fields.iter().filter(|f| f.operand == operand);
        let high = own().map(|f| f.from + f.width).max().unwrap_or(0);
        (high, own().map(|f| f.from).min().unwrap_or(0))
    }

    /// The word of these values; `signed` says of an operand whether its top bit is a sign.
    ///
    /// # Errors
    /// The first operand whose value has no bits in the word.
    pub fn word(&self, values: &[i64], signed: impl Fn(usize) -> bool) -> Result<u64, Fault> {
        for (operand, &value) in values.iter().enumerate() {
            let (high, low) = self.extent(operand);
            let (least, most) = match signed(operand) {
                true => (
                    -(1_i64 << (high.max(1) - 1)),
                    (1_i64 << (high.max(1) - 1)) - 1,
                ),
                false => (0, ones(high.min(63)) as i64),
            };
            let step = 1_i64 << low;
            let nearest = value.clamp(least, most).div_euclid(step) * step;
            if nearest != value {
                return Err(Fault {
                    operand,
                    value,
                    nearest,
                });
            }
        }
        let put = |word: u64, f: &Field| {
            word | (values[f.operand] as u64 >> f.from & ones(f.width)) << f.at
        };
        Ok(self.fields.iter().fold(self.bits, put))
    }
}
