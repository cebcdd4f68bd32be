//! How functions call each other on the host of a machine.
//!
//! In: built by the dialects of `spec-parser` from what a manifest names. Out: [`Abi`]: which
//! scalar registers hand over arguments, which a function keeps. It emits nothing.

use std::collections::BTreeMap;

/// A calling convention for functions whose arguments are addresses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Abi {
    /// The file of these registers, in [`super::Machine::files`].
    pub file: usize,
    /// In which the first arguments are, in order; a function may change them.
    pub arguments: Vec<u32>,
    /// Which a function may change besides.
    pub temporary: Vec<u32>,
    /// Which a function gives back as they were; the frame pointer is not among them.
    pub saved: Vec<u32>,
    /// The frame pointer, which is given back as it was, and which compilers do not let inline
    /// assembly change.
    pub frame: Option<u32>,
    /// The address to which a function returns.
    pub link: u32,
    /// The stack pointer.
    pub stack: u32,
    /// Bytes of which the stack pointer is a multiple.
    pub align: u32,
    /// The statement with which a function ends.
    pub ret: String,
    /// The statements after which `{register}` holds where `{symbol}` lies.
    pub address: Vec<String>,
    /// What assemblers are told so that each instruction is one word.
    pub words: Vec<String>,
    /// What stands around that within a text whose other instructions are as they were.
    pub enter: Vec<String>,
    /// The same behind it.
    pub leave: Vec<String>,
    /// How instructions are written that assemblers do not know.
    pub unknown: Option<Unknown>,
}

/// How assemblers take an instruction that they do not know: by the parts of its word.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unknown {
    /// The statement, with names of parts in braces.
    pub statement: String,
    /// Parts that are written as numbers: the first bit, and how many.
    pub numbers: BTreeMap<String, (u32, u32)>,
    /// Parts that are numbers of registers, the same.
    pub registers: BTreeMap<String, (u32, u32)>,
}

impl Abi {
    /// Registers for what a function computes, those first that need not be kept; `taken` hold
    /// arguments.
    pub fn free(&self, taken: &[u32]) -> Vec<u32> {
        let arguments = self.arguments.iter().filter(|r| !taken.contains(r));
        let free = self.temporary.iter().chain(arguments);
        let kept = self.saved.iter().chain(std::iter::once(&self.link));
        free.chain(kept).copied().collect()
    }

    /// Of some registers, those that a function must give back as they were.
    pub fn saved_among(&self, changed: impl Fn(u32) -> bool) -> Vec<u32> {
        let kept = self.saved.iter().chain(&self.frame);
        let kept = kept.chain(std::iter::once(&self.link)).copied();
        kept.filter(|r| changed(*r)).collect()
    }
}
