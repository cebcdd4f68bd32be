//! Where values lie.
//!
//! In: nothing. Out: [`Space`]: no two overlap.

/// A space of bits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Space {
    /// An array in main memory.
    Array(u32),
    /// Cells of a machine.
    Cells(u32),
    /// Cells that a procedure of a machine has for itself: how deep it is performed, which.
    Own(u32, u32),
    /// A register of a kernel.
    Register(u32),
    /// A register of a machine that data lies in: the file, the number.
    Tile(u32, u32),
    /// One of the places for numbers, when data lies in it.
    Place(u32),
}
