//! Blocks: sequences of commands that do one thing to blocks of cells.
//!
//! In: built by the dialects of `spec-parser`. Out: the types. A block is to a machine with
//! declared state what an instruction is to one with registers: something that a scheduler
//! can put in the place of a loop nest. What it means is found by running its commands on
//! terms; nothing is claimed here.

use super::procedure::Procedure;
use crate::instruction::Element;

/// How many rows or columns there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extent {
    /// Always as many.
    Fixed(i64),
    /// As many as an operand says, by its index.
    Size(usize),
}

/// What an operand of a block is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BlockOperand {
    /// A number of rows or columns, from 1 to the most.
    Size(i64),
    /// A float of 32 bits, given to the procedure as its bits.
    Real,
    /// Cells, by their first row in an array; or elements of memory, by their first byte and
    /// the bytes from one row to the next.
    Tile {
        /// The array; nothing for memory.
        array: Option<usize>,
        /// What a cell holds.
        element: Element,
        /// Its rows.
        rows: Extent,
        /// Its columns.
        columns: Extent,
    },
}

/// A sequence of commands on blocks of cells.
#[derive(Clone, PartialEq, Debug)]
pub struct Block {
    /// Its name.
    pub name: String,
    /// What it does, in a sentence.
    pub doc: String,
    /// Its operands by name. Each is an operand of the procedure; one in memory is followed
    /// there by its stride.
    pub operands: Vec<(String, BlockOperand)>,
    /// The commands.
    pub procedure: Procedure,
}

/// The name of the procedure's operand for the stride of a tile in memory.
pub fn stride(name: &str) -> String {
    format!("{name}_stride")
}
