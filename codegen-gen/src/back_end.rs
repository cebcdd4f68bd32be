//! What a back end is.
//!
//! In: a mapped kernel, as its windows with their placed programs ([`Windows`]) or as a program of a
//! machine with tiles ([`MappedProgram`](tile::mapped::MappedProgram)). Out: [`Code`]. Who has a
//! back end needs to know nothing else of it: C with intrinsics is [`crate::c::Intrinsics`], LLVM IR
//! [`crate::llvm::Ir`], the forms of a machine are in [`crate::machine`]. A back end chooses nothing:
//! each node of a program becomes what its instruction is called.

use autoir::program::placed::Placement;
use halide::Import;
use lowering::window::Lowered;
use semantics::spelling;
use std::collections::BTreeSet;
use std::fmt;

/// Writes programs of one kind as text.
pub trait BackEnd<P: ?Sized> {
    /// The code of a kernel; `about` goes into the comment before it, a line each.
    ///
    /// # Errors
    /// What cannot be written, in one line.
    fn code(&self, program: &P, about: &[String]) -> Result<Code, String>;
}

/// A kernel as loops around windows.
#[derive(Clone, Copy, Debug)]
pub struct Windows<'a> {
    /// The loops.
    pub lowered: &'a Lowered,
    /// What was found for the windows; one without a program is computed as its meaning.
    pub placement: &'a Placement,
    /// The pipeline of Halide that it came from, where it is also to be called as one.
    pub import: Option<&'a Import>,
}

/// The language of a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Language {
    /// C.
    C,
    /// LLVM IR, with what `llc` is told besides.
    Llvm(Vec<String>),
    /// Instructions of a machine, for an assembler or a simulator.
    Assembly,
}

impl Language {
    /// What begins a comment.
    fn comment(&self) -> &'static str {
        match self {
            Language::C => "//",
            Language::Llvm(_) => ";",
            Language::Assembly => "#",
        }
    }
}

/// A kernel's code: what several kernels of a file share, and its own.
#[derive(Clone, Debug)]
pub struct Code {
    /// What it is written in.
    pub language: Language,
    /// Comments, a line each.
    pub about: Vec<String>,
    /// What stands before all kernels of a file, each text once, one section after the other.
    pub head: Vec<Vec<String>>,
    /// Its own text.
    pub body: String,
    /// What stands behind all kernels of a file, each text once.
    pub behind: Vec<String>,
    /// The features of the target that it needs.
    pub features: BTreeSet<String>,
}

impl Code {
    /// Code of nothing but its own text.
    pub fn of(language: Language, about: &[String], body: String) -> Code {
        Code {
            language,
            about: about.to_vec(),
            head: Vec::new(),
            body,
            behind: Vec::new(),
            features: BTreeSet::new(),
        }
    }

    /// One file with several kernels: what several need stands in it once.
    pub fn joined<'c>(kernels: impl IntoIterator<Item = &'c Code>) -> String {
        let kernels: Vec<&Code> = kernels.into_iter().collect();
        let mut text = String::new();
        if let [one] = kernels[..] {
            one.comment(&mut text);
        }
        let sections = kernels.iter().map(|code| code.head.len()).max();
        for at in 0..sections.unwrap_or(0) {
            let section = kernels.iter().filter_map(|code| code.head.get(at));
            text.extend(distinct(section.flatten()).map(String::as_str));
        }
        for (at, code) in kernels.iter().enumerate() {
            if kernels.len() > 1 {
                if at > 0 {
                    text.push('\n');
                }
                code.comment(&mut text);
            }
            text.push_str(&code.body);
        }
        let behind = kernels.iter().flat_map(|code| &code.behind);
        text.extend(distinct(behind).map(String::as_str));
        text
    }

    fn comment(&self, text: &mut String) {
        let mark = self.language.comment();
        for line in &self.about {
            text.extend([mark, " ", &spelling::line(line), "\n"]);
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&Code::joined([self]))
    }
}

/// Texts in order, each once.
fn distinct<'t>(texts: impl Iterator<Item = &'t String>) -> impl Iterator<Item = &'t String> {
    let mut seen = BTreeSet::new();
    texts.filter(move |text| seen.insert(*text))
}
