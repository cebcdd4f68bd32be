//! The sorts of terms.
//!
//! In: nothing. Out: [`Sort`], the type of every term. It deliberately knows no
//! element types (signedness, floats): those live in the operators.

use crate::table::MAX_WIDTH;
use std::fmt;
use std::str::FromStr;

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

/// Reads what [`Display`](fmt::Display) writes.
impl FromStr for Sort {
    type Err = String;

    fn from_str(text: &str) -> Result<Sort, String> {
        let width = || text.strip_prefix("bv")?.parse::<u32>().ok();
        match (text, width()) {
            ("bool", _) => Ok(Sort::Bool),
            ("int", _) => Ok(Sort::Int),
            ("mem", _) => Ok(Sort::Mem),
            (_, Some(w)) if (1..=MAX_WIDTH).contains(&w) => Ok(Sort::Bv(w)),
            _ => Err(format!(
                "`{text}` is no sort: there are bool, int, mem, and bv1 to bv{MAX_WIDTH}"
            )),
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
