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

/// A sparse byte memory; bytes never written read as `fill`. Two memories are equal when
/// every byte reads the same, whether it was written or not.
#[derive(Clone, Eq, Debug, Default)]
pub struct Memory {
    /// The bytes that were written, by address.
    pub bytes: BTreeMap<u64, u8>,
    /// What every other byte reads as.
    pub fill: u8,
}

impl Memory {
    /// One byte.
    pub fn byte(&self, address: u64) -> u8 {
        self.bytes.get(&address).copied().unwrap_or(self.fill)
    }

    /// `count` bytes from an address up, which wraps at the top of the address space.
    pub fn read(&self, address: u64, count: u32) -> Vec<u8> {
        (0..u64::from(count))
            .map(|k| self.byte(address.wrapping_add(k)))
            .collect()
    }

    /// Writes bytes from an address up, which wraps at the top of the address space.
    pub fn write(&mut self, address: u64, bytes: &[u8]) {
        for (k, &byte) in (0u64..).zip(bytes) {
            self.bytes.insert(address.wrapping_add(k), byte);
        }
    }

    /// The bytes that differ from those never written.
    fn differing(&self) -> impl Iterator<Item = (&u64, &u8)> {
        self.bytes.iter().filter(|&(_, &byte)| byte != self.fill)
    }
}

impl PartialEq for Memory {
    fn eq(&self, other: &Memory) -> bool {
        self.fill == other.fill && self.differing().eq(other.differing())
    }
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
