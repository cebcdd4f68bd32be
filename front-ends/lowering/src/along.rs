//! Accesses as memory sees them: lanes along any dimension, behind which lie constant ones, are lanes
//! along memory, evenly apart.
//!
//! In: accesses. Out: how far apart their lanes lie, and dense accesses that hold them; where rows are
//! shorter than these, they go on in the next row. Whether that is inside the array is asked of
//! facts by whoever loads more than was written.

use kernel::index::Index;
use kernel::tree::{Access, Kernel};

/// How far apart lanes may lie, in elements, that are loaded and stored as registers.
pub(super) const MOST_APART: i64 = 8;

/// How the lanes of an access lie in memory.
pub(super) struct Along {
    /// How many elements a lane is behind the one before.
    pub(super) apart: i64,
    /// The element of lane 0, counted from where all indices from the dimension of the lanes on are 0.
    pub(super) first: Index,
    /// How many elements there are so counted.
    pub(super) count: Index,
    /// Elements in one step of the dimension of the lanes.
    row: i64,
}

impl Along {
    /// How the lanes of an access lie; nothing where they are clamped, or behind their dimension are some
    /// whose extents are not constant.
    pub(super) fn of(kernel: &Kernel, access: &Access) -> Option<Along> {
        if access.clamped || access.lanes < 2 {
            return None;
        }
        let dims = kernel.arrays[access.array].memory_dims();
        let mut row = 1i64;
        let mut first = Index::Const(0);
        let inner = dims.iter().zip(&access.index).skip(access.dim + 1);
        for (extent, index) in inner.rev() {
            first = first.plus(&index.times(row));
            row = row.checked_mul(extent.constant_value()?)?;
        }
        Some(Along {
            apart: access.stride.checked_mul(row)?,
            first: first.plus(&access.index[access.dim].times(row)),
            count: dims[access.dim].times(row),
            row,
        })
    }

    /// So many neighbours from an element on, counted like [`Along::first`]; nothing where a row of the
    /// array, which is not all of it, could hold them: they would look like lanes of that.
    pub(super) fn dense(
        &self,
        kernel: &Kernel,
        access: &Access,
        from: &Index,
        lanes: u32,
    ) -> Option<Access> {
        let last = access.index.len() - 1;
        let mut dense = Access {
            lanes,
            dim: last,
            stride: 1,
            ..access.clone()
        };
        if access.dim == last {
            dense.index[last] = from.clone();
            return Some(dense);
        }
        let extent = kernel.arrays[access.array].memory_dims()[last].constant_value()?;
        if i64::from(lanes) <= extent {
            return None;
        }
        // Lane 0 of what was written is in a row that there is.
        dense.index[access.dim + 1..].fill(Index::Const(0));
        dense.index[last] = from.minus(&access.index[access.dim].times(self.row));
        Some(dense)
    }
}
