//! What is chosen about a product besides the tiles of a block.
//!
//! In: nothing. Out: [`Plan`]: the order of blocks, which factor stays, how many buffers there
//! are, what the array keeps. It decides nothing: who asks for a plan or searches for one does.

/// The loop over blocks that is outermost. The factor that it moves stays in the scratchpad
/// while the loop inside runs; the other one is loaded in each of its rounds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum LoopOrder {
    /// Blocks of columns: the right factor stays.
    #[default]
    Columns,
    /// Blocks of rows: the left factor stays.
    Rows,
}

/// What the array keeps from one product to the next.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Stationary {
    /// Tiles of the right factor; rows of the left one pass them.
    #[default]
    Weights,
    /// Sums, until a result is finished; the tiles of both factors pass them.
    Outputs,
}

/// How blocks are walked over.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Plan {
    /// The order of loops over blocks.
    pub outer: LoopOrder,
    /// Buffers for what streams, and for sums: with 2 one is filled while the other is used.
    pub buffers: i64,
    /// What the array keeps.
    pub stationary: Stationary,
}

impl Default for Plan {
    fn default() -> Plan {
        Plan {
            outer: LoopOrder::Columns,
            buffers: 2,
            stationary: Stationary::Weights,
        }
    }
}
