//! How wide the values are that a machine holds.
//!
//! In: the classes of vector registers that a target's data names. Out: [`Widths`]: which widths
//! are registers, which are numbers, how wide the register is that so many lanes take. No width of
//! any machine stands elsewhere in the search.

use semantics::instruction::WIDEST_NUMBER;
use target::RegisterClass;

/// Widths of numbers that are no vectors, in bits, as C and memory have them.
pub(crate) const NUMBERS: [u32; 4] = [8, 16, 32, WIDEST_NUMBER];

/// The widths of the values that programs for a target hold, in bits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Widths {
    /// Of vector registers, ascending.
    vectors: Vec<u32>,
    /// No numbers, and narrower than every vector register: what is loaded by itself into the low
    /// end of one, ascending.
    parts: Vec<u32>,
    /// Numbers that come into the narrowest vector register, from a number of C or from memory.
    numbers: Vec<u32>,
}

impl Widths {
    /// The widths of these classes of registers.
    pub fn of(registers: &[RegisterClass]) -> Widths {
        let mut vectors: Vec<u32> = registers.iter().map(|class| class.width).collect();
        vectors.sort_unstable();
        vectors.dedup();
        Widths {
            vectors,
            parts: Vec::new(),
            numbers: NUMBERS.to_vec(),
        }
    }

    /// The same, where so many bits can be loaded into the narrowest vector register, and numbers of
    /// up to so many brought there.
    pub fn with_parts(mut self, loaded: &[u32], brought: u32) -> Widths {
        let narrowest = self.narrowest();
        let part = |bits: &u32| *bits < narrowest && !NUMBERS.contains(bits);
        self.parts = loaded.iter().copied().filter(part).collect();
        self.numbers
            .retain(|bits| *bits <= brought || loaded.contains(bits));
        self.parts.sort_unstable();
        self.parts.dedup();
        self
    }

    /// The narrowest vector register; wider than anything where there is none.
    pub fn narrowest(&self) -> u32 {
        self.vectors.first().copied().unwrap_or(u32::MAX)
    }

    /// The widest vector register; 0 where there is none. Wider values are split.
    pub fn widest(&self) -> u32 {
        self.vectors.last().copied().unwrap_or(0)
    }

    /// The vector registers, the narrowest first.
    pub fn vectors(&self) -> impl DoubleEndedIterator<Item = u32> + '_ {
        self.vectors.iter().copied()
    }

    /// Whether so many bits are a vector register.
    pub fn is_vector(&self, width: u32) -> bool {
        self.vectors.contains(&width)
    }

    /// Whether one register may hold so many bits. Between registers whose widths are no powers of
    /// two, as accumulators have them, lie values that take several.
    pub fn is_one(&self, width: u32) -> bool {
        width <= self.narrowest() || self.is_vector(width)
    }

    /// What is narrower than every vector register and can be brought into one: numbers, and what
    /// is loaded by itself, the narrowest first.
    pub fn pieces(&self) -> impl Iterator<Item = u32> + '_ {
        let narrowest = self.narrowest();
        let numbers = self.numbers.iter().copied().filter(move |w| *w < narrowest);
        numbers.chain(self.parts.iter().copied())
    }

    /// Whether a number, a register or what is loaded into one by itself has so many bits.
    pub fn is_held(&self, width: u32) -> bool {
        NUMBERS.contains(&width) || self.is_vector(width) || self.parts.contains(&width)
    }

    /// The width of the value that holds so many lanes: a vector register, or a mask, which has a
    /// bit a lane.
    pub fn of_lanes(&self, lanes: u32, lane: u32) -> u32 {
        match lane {
            1 => lanes.max(NUMBERS[0]),
            _ => (lanes * lane).max(self.narrowest()),
        }
    }

    /// The lanes of so many bits that fill the narrowest vector register.
    pub fn least_lanes(&self, lane: u32) -> usize {
        (self.narrowest() / lane) as usize
    }
}
