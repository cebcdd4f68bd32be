//! The sorts of terms.
//!
//! In: nothing. Out: [`Sort`], the type of every term. It deliberately knows no
//! element types (signedness, floats): those live in the operators.

use std::fmt;

/// What kind of value a term denotes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Sort {
    /// Truth values.
    Bool,
    /// Mathematical integers, used only for indices and offsets (64 bits in practice).
    Int,
    /// Bit vectors of the given width in bits, at least 1.
    Bv(u32),
    /// Byte-addressed memory with 64-bit addresses.
    Mem,
}

impl Sort {
    /// The width in bits of a bit-vector sort.
    pub fn width(self) -> Option<u32> {
        match self {
            Sort::Bv(w) => Some(w),
            _ => None,
        }
    }
}

impl fmt::Display for Sort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sort::Bool => f.write_str("bool"),
            Sort::Int => f.write_str("int"),
            Sort::Bv(w) => write!(f, "bv{w}"),
            Sort::Mem => f.write_str("mem"),
        }
    }
}
