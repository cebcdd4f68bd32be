//! One file of what `isaforge build` writes, and what its first lines say.
//!
//! In: made by the modules of the back ends, which take an [`Input`]. Out: [`Artefact`], a
//! path and what writes the text there. The text is written piece by piece, so that no file
//! is ever whole in memory. It opens no file: the command line does that, and puts all of
//! them in place together.

use crate::lowering::Row;
use autoir::dictionary::Dictionary;
use semantics::instruction::Instruction;
use semantics::spelling;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Writes a file's text; what it gives back is one line about it for the report, or nothing.
pub type Writer<'a> = Box<dyn Fn(&mut dyn Write) -> io::Result<String> + Send + Sync + 'a>;

/// One file.
pub struct Artefact<'a> {
    /// Below the output folder, with `/` between folders.
    pub path: String,
    /// Writes it.
    pub write: Writer<'a>,
}

impl<'a> Artefact<'a> {
    /// A file with what writes it.
    pub fn new(
        path: impl Into<String>,
        write: impl Fn(&mut dyn Write) -> io::Result<String> + Send + Sync + 'a,
    ) -> Artefact<'a> {
        Artefact {
            path: path.into(),
            write: Box::new(write),
        }
    }
}

/// What the files are made from.
pub struct Input<'a> {
    /// The operations.
    pub dictionary: &'a Dictionary,
    /// The instructions that it is of, by instruction set and name: pseudocode and origin are there.
    pub instructions: BTreeMap<(&'a str, &'a str), &'a Instruction>,
    /// The instruction sets, in the order in which they were asked for.
    pub isas: Vec<String>,
    /// Features of x86 as compilers spell them: `-mFLAG`.
    pub flags: BTreeMap<String, String>,
    /// Intrinsics that not every compiler has, with the condition of C's preprocessor under
    /// which it does.
    pub unknown: BTreeMap<String, String>,
    /// What LLVM makes of the intrinsics of x86.
    pub rows: BTreeMap<String, Row>,
    /// What made the files and from what, one sentence a line.
    pub about: Vec<String>,
}

impl Input<'_> {
    /// The lines about the origin as comments.
    pub fn header(&self, mark: &str) -> String {
        let about = self.about.iter().map(|line| spelling::line(line));
        let lines = about.map(|line| format!("{mark} {line}\n"));
        lines.collect()
    }
}
