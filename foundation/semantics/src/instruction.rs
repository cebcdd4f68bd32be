//! An instruction: operands, results, what each result means, where it is from.
//!
//! In: built by the dialects of `spec-parser`. Out: [`Instruction`], the artefact that
//! similarity classifies. It knows no vendor words: `features`, C types and names are
//! strings that only back ends and tables print.

use crate::sort::Sort;
use crate::term::Term;
use std::fmt;

/// The widest number that C and machines have beside vectors, in bits.
pub const WIDEST_NUMBER: u32 = 64;

/// How the elements of an operand are to be read.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Element {
    /// Two's complement integers of that many bits.
    Signed(u32),
    /// Unsigned integers of that many bits.
    Unsigned(u32),
    /// IEEE binary floats of that many bits (16, 32, 64).
    Float(u32),
    /// bfloat16.
    Bfloat16,
    /// One bit an element.
    Mask,
    /// Not told.
    Untyped,
}

impl Element {
    /// Bits of one element; `None` when it is not told.
    pub fn width(self) -> Option<u32> {
        match self {
            Element::Signed(w) | Element::Unsigned(w) | Element::Float(w) => Some(w),
            Element::Bfloat16 => Some(16),
            Element::Mask => Some(1),
            Element::Untyped => None,
        }
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Element::Signed(w) => write!(f, "i{w}"),
            Element::Unsigned(w) => write!(f, "u{w}"),
            Element::Float(w) => write!(f, "f{w}"),
            Element::Bfloat16 => f.write_str("bf16"),
            Element::Mask => f.write_str("mask"),
            Element::Untyped => f.write_str("bits"),
        }
    }
}

/// How an operand reaches the instruction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Role {
    /// A vector or scalar register, any value.
    Register,
    /// A mask register.
    Mask,
    /// A constant known when the code is compiled.
    Immediate {
        /// The largest value that C compilers accept; the smallest is 0.
        max: u32,
    },
    /// A constant known when the code is compiled whose smallest value is not 0.
    Range {
        /// The smallest value that C compilers accept.
        least: u32,
        /// The largest.
        max: u32,
    },
    /// The rounding direction of a form with static rounding, a constant: 4 the current
    /// direction (to nearest, ties to even), 8 to nearest, 9 down, 10 up, 11 towards zero.
    Rounding,
    /// Whether exceptions are suppressed, a constant: 4 no, 8 yes. It changes no result.
    Sae,
    /// What an index is multiplied with, a constant: 1, 2, 4 or 8.
    Scale,
    /// The address of memory.
    Pointer {
        /// What it is a multiple of, in bytes: the instruction faults elsewhere. 1 for any.
        align: u32,
    },
}

impl Role {
    /// The values that a constant operand may have, in order; `None` for other operands.
    pub fn constants(self) -> Option<Constants> {
        match self {
            Role::Immediate { max } => Some(Constants::UpTo(max)),
            Role::Range { least, max } => Some(Constants::Between(least, max)),
            Role::Rounding => Some(Constants::List(&[4, 8, 9, 10, 11])),
            Role::Sae => Some(Constants::List(&[4, 8])),
            Role::Scale => Some(Constants::List(&[1, 2, 4, 8])),
            Role::Register | Role::Mask | Role::Pointer { .. } => None,
        }
    }

    /// Whether it is an address.
    pub fn is_pointer(self) -> bool {
        matches!(self, Role::Pointer { .. })
    }

    /// Whether the operand is a constant when the code is compiled.
    pub fn is_constant(self) -> bool {
        self.constants().is_some()
    }
}

/// The values that a constant operand may have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Constants {
    /// Every value up to this one, inclusive.
    UpTo(u32),
    /// Every value from the first, which is not 0, up to the second, inclusive.
    Between(u32, u32),
    /// These values, least first.
    List(&'static [u32]),
}

impl Constants {
    /// How many there are.
    pub fn count(self) -> u64 {
        match self {
            Constants::UpTo(max) => u64::from(max) + 1,
            Constants::Between(least, max) => u64::from(max.saturating_sub(least)) + 1,
            Constants::List(list) => list.len() as u64,
        }
    }

    /// The value of that rank, from 0; `None` past the last.
    pub fn nth(self, rank: u64) -> Option<u32> {
        match self {
            Constants::UpTo(max) => u32::try_from(rank).ok().filter(|&v| v <= max),
            Constants::Between(least, max) => {
                let value = u32::try_from(rank).ok()?.checked_add(least)?;
                Some(value).filter(|&v| v <= max)
            }
            Constants::List(list) => list.get(usize::try_from(rank).ok()?).copied(),
        }
    }

    /// Whether the value is allowed.
    pub fn contains(self, value: u64) -> bool {
        match self {
            Constants::UpTo(max) => value <= u64::from(max),
            Constants::Between(least, max) => (u64::from(least)..=u64::from(max)).contains(&value),
            Constants::List(list) => list.iter().any(|&v| u64::from(v) == value),
        }
    }
}

/// One operand, in the order of the C signature.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Operand {
    /// Its name: the free variable of the result terms.
    pub name: String,
    /// Its type in C.
    pub c_type: String,
    /// How its elements are read.
    pub element: Element,
    /// Its width in bits: the sort of the free variable.
    pub width: u32,
    /// How it reaches the instruction.
    pub role: Role,
}

/// One result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Output {
    /// Its name: `dst` for a returned value, else the operand that is written through.
    pub name: String,
    /// Its type in C.
    pub c_type: String,
    /// How its elements are read.
    pub element: Element,
    /// What it is, over the operands as free variables; rolled.
    pub term: Term,
    /// Bits that the vendor leaves undefined: from (inclusive) and to (exclusive).
    pub undefined: Vec<(u32, u32)>,
}

/// What the C function is on the machine.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Form {
    /// One machine instruction.
    Single,
    /// A reinterpretation that costs nothing.
    Free,
    /// A sequence of instructions that the compiler writes.
    Sequence,
    /// A call of a library.
    Library,
}

/// Where a meaning is from.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Origin {
    /// The file.
    pub file: String,
    /// Line in it, from 1.
    pub line: u32,
    /// The family that it was expanded from.
    pub family: Option<String>,
    /// Names of the errata that were applied.
    pub errata: Vec<String>,
}

/// One instruction with its meaning.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instruction {
    /// Its name in C; unique within an instruction set.
    pub name: String,
    /// The instruction set.
    pub isa: String,
    /// The assembly mnemonic and operand form, where known.
    pub mnemonic: Option<String>,
    /// Operands in C order.
    pub operands: Vec<Operand>,
    /// Results; the first is the returned value unless the function returns nothing.
    pub outputs: Vec<Output>,
    /// Processor features that must all be there.
    pub features: Vec<String>,
    /// What it is on the machine.
    pub form: Form,
    /// The pseudocode that the meaning was read from, as written.
    pub pseudocode: String,
    /// Where the meaning is from.
    pub origin: Origin,
}

impl Operand {
    /// The free variable that stands for this operand in the result terms.
    pub fn var(&self) -> Term {
        Term::var(&self.name, Sort::Bv(self.width))
    }
}

impl Instruction {
    /// The operand of that name.
    pub fn operand(&self, name: &str) -> Option<&Operand> {
        self.operands.iter().find(|o| o.name == name)
    }

    /// The meaning of the returned value.
    ///
    /// # Panics
    /// When the instruction has no output; the dialects never build such a one.
    pub fn term(&self) -> Term {
        self.outputs
            .first()
            .expect("an instruction has an output")
            .term
    }
}
