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
use target::Llvm;

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

/// What compilers have to know of an instruction set: data of its folder.
#[derive(Clone, Debug, Default)]
pub struct Set {
    /// Its name.
    pub isa: String,
    /// The headers of C that declare its functions.
    pub headers: Vec<String>,
    /// Those of them that stand in the set's folder, with their texts.
    pub own_headers: BTreeMap<String, String>,
    /// Lines of C that stand behind them.
    pub prelude: Vec<String>,
    /// Types that not every compiler has, and what stands for them.
    pub spelt: BTreeMap<String, String>,
    /// Its C types besides C's own, with their widths in bits.
    pub types: BTreeMap<String, u32>,
    /// Memories of Exo: what elements are in Exo's C, and the type of a register with such.
    pub memories: BTreeMap<String, BTreeMap<String, String>>,
    /// What holds in C's preprocessor when a compiler may use a feature.
    pub conditions: BTreeMap<String, String>,
    /// Features as LLVM spells them: `+a,+b`.
    pub features: BTreeMap<String, String>,
    /// Intrinsics that not every compiler has, with the condition of C's preprocessor under
    /// which it does.
    pub unknown: BTreeMap<String, String>,
    /// What LLVM makes of its intrinsics.
    pub rows: BTreeMap<String, Row>,
    /// What LLVM has to know besides.
    pub llvm: Llvm,
}

impl Set {
    /// Bits of a value of a type of C; nothing of one that has none.
    pub fn width_of(&self, c_type: &str) -> Option<u32> {
        let plain = c_type.trim_end_matches(['*', ' ']);
        if let Some(width) = self.types.get(plain.trim()) {
            return Some(*width);
        }
        let plain = plain.trim_start_matches("unsigned ").trim();
        let sized = |prefix: &str| plain.strip_prefix(prefix)?.strip_suffix("_t")?.parse().ok();
        Some(match plain {
            "char" => 8,
            "short" | "_Float16" => 16,
            "int" | "float" | "unsigned" => 32,
            "long long" | "double" => 64,
            _ => return sized("int").or_else(|| sized("uint")),
        })
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
    /// What compilers have to know of each of them.
    pub sets: Vec<Set>,
    /// What made the files and from what, one sentence a line.
    pub about: Vec<String>,
}

impl Input<'_> {
    /// Bits of a value of a type of C in an instruction set.
    pub fn width_of(&self, isa: &str, c_type: &str) -> Option<u32> {
        let set = self.sets.iter().find(|set| set.isa == isa)?;
        set.width_of(c_type)
    }

    /// The lines about the origin as comments.
    pub fn header(&self, mark: &str) -> String {
        let about = self.about.iter().map(|line| spelling::line(line));
        let lines = about.map(|line| format!("{mark} {line}\n"));
        lines.collect()
    }
}
