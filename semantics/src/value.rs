//! Concrete values: what the interpreter computes with.
//!
//! In: nothing. Out: [`Value`], one variant per [`Sort`]. Arithmetic lives in
//! [`crate::bits`] and in the operator table, not here.

use crate::bits::Bits;
use crate::sort::Sort;
use std::collections::BTreeMap;

/// A concrete value of some [`Sort`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// A truth value.
    Bool(bool),
    /// An index.
    Int(i64),
    /// A bit vector.
    Bv(Bits),
    /// A memory.
    Mem(Memory),
}

/// A sparse byte memory; bytes never written read as `fill`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Memory {
    /// The bytes that were written, by address.
    pub bytes: BTreeMap<u64, u8>,
    /// What every other byte reads as.
    pub fill: u8,
}

impl Value {
    /// The sort of this value.
    pub fn sort(&self) -> Sort {
        match self {
            Value::Bool(_) => Sort::Bool,
            Value::Int(_) => Sort::Int,
            Value::Bv(b) => Sort::Bv(b.width()),
            Value::Mem(_) => Sort::Mem,
        }
    }

    /// The bits of a bit-vector value.
    ///
    /// # Panics
    /// When the value is not a bit vector: a sort error that the type rules exclude.
    pub fn bits(&self) -> &Bits {
        match self {
            Value::Bv(b) => b,
            other => panic!("expected a bit vector, found {other:?}"),
        }
    }

    /// The truth value.
    ///
    /// # Panics
    /// When the value is not a truth value.
    pub fn truth(&self) -> bool {
        match self {
            Value::Bool(b) => *b,
            other => panic!("expected a truth value, found {other:?}"),
        }
    }

    /// The index.
    ///
    /// # Panics
    /// When the value is not an index.
    pub fn int(&self) -> i64 {
        match self {
            Value::Int(i) => *i,
            other => panic!("expected an index, found {other:?}"),
        }
    }
}
