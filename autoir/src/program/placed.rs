//! Programs with all that moves data in them: loads, stores, constants, changes of width.
//!
//! In: nothing; the pass that places programs makes them. Out: [`Placed`]. Its nodes are numbers
//! of up to 64 bits that C has itself, and operations that instructions implement: one statement
//! each, and nothing that whoever writes them down has to choose. It knows no kernel: inputs and
//! the result are names.

use super::{Program, Value};
use crate::instructions::Selection;
use semantics::bits::Bits;
use std::collections::{BTreeMap, BTreeSet};

/// Where the bits of an input, or of the result, are outside of the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Residence {
    /// In memory, one element after the other, in an array or a register of the kernel.
    Memory,
    /// In memory of the window's own, into which elements are gathered before, or from which
    /// they are scattered after.
    Buffer(Copied),
    /// In variables of so many bits each.
    Variables(u32),
    /// In a variable of one element, which is the same in every lane.
    Number,
}

/// Elements that are copied one by one, between a buffer and where they are outside of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Copied {
    /// Bits of an element.
    pub element: u32,
    /// Elements of the buffer. Of an input those that are not copied are 0.
    pub lanes: u32,
    /// The element of number `l` is that of number `l % period` outside.
    pub period: u32,
    /// Where only leading lanes of the result are active: of how many, and as large a part of the
    /// elements is copied, rounded up. All are where this is none.
    pub active: Option<u32>,
}

impl Copied {
    /// How many elements are copied when so many lanes are active.
    pub fn elements(&self, active: u32) -> u32 {
        self.active
            .map_or(self.lanes, |of| (active * self.lanes).div_ceil(of))
    }
}

/// Where what a window reads and writes is outside of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ends {
    /// Where each input is.
    pub inputs: BTreeMap<String, Residence>,
    /// Where the result goes.
    pub result: Residence,
}

/// A program that has been placed, and where its inputs and its result are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Placed {
    /// The program. It has no outputs: what it computes it stores.
    pub program: Program,
    /// Where its inputs and its result are.
    pub ends: Ends,
    /// The tables of constants, each with the width of the elements that it is written as.
    pub tables: BTreeMap<Bits, u32>,
}

/// The programs of a kernel, placed.
#[derive(Clone, Debug, Default)]
pub struct Placement {
    /// For each window its program, if it has one that the target can place. A window past the
    /// last has none.
    pub programs: Vec<Option<Placed>>,
    /// The ends of the windows without one, for back ends that write these as their meaning.
    pub unplaced: BTreeMap<usize, Ends>,
    /// Which instruction implements each operation.
    pub selection: Selection,
    /// The registers of the kernel that are variables of vectors, of so many bits each.
    pub variables: BTreeMap<usize, u32>,
    /// The windows whose program could not be placed, and why.
    pub refused: BTreeMap<usize, String>,
    /// What becomes of loads that have several readers.
    pub loads: Loads,
    /// How many rounds of a loop, by the number of its variable, are written out one after the other
    /// where that is more than one.
    pub unrolled: BTreeMap<u32, u32>,
}

/// A window's number, and a value of its program.
pub type Place = (usize, Value);

/// What becomes of loads that have several readers.
#[derive(Clone, Debug, Default)]
pub struct Loads {
    /// Those of what an earlier window of the same block has loaded, and by which.
    pub again: BTreeMap<Place, Place>,
    /// Those that are held in a register.
    pub held: BTreeSet<Place>,
}
