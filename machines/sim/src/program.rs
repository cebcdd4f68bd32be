//! A program: instructions with the values of their operands, in order.
//!
//! In: assembly text or words. Out: [`MachineProgram`]. Texts are read by the syntax that the
//! machine's description gives; what is wrong in them is told together.

use crate::assemble;
use semantics::diagnostic::Diagnostic;
use semantics::machine::{Machine, OperandKind};
use semantics::span::{Source, Span};

/// One instruction in its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Placed {
    /// Its index in [`Machine::instructions`].
    pub instruction: usize,
    /// The values of its operands, in the order of the text.
    pub values: Vec<i64>,
    /// Where it is written in the program's source.
    pub span: Span,
}

/// A scalar register's value at the start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Setting {
    /// The register's file.
    pub file: usize,
    /// Its number.
    pub register: u32,
    /// Its value, wrapped to its width.
    pub value: i64,
}

/// A program.
#[derive(Clone, Debug)]
pub struct MachineProgram {
    /// The text; a listing when it was read from words.
    pub source: Source,
    /// The instructions; the first is at address 0.
    pub code: Vec<Placed>,
    /// What `.set` says.
    pub settings: Vec<Setting>,
}

impl MachineProgram {
    /// Instructions by their index in [`Machine::instructions`], with the values of their
    /// operands; there is no text.
    pub fn new(name: &str, code: impl IntoIterator<Item = (usize, Vec<i64>)>) -> MachineProgram {
        let code = code.into_iter().map(|(instruction, values)| Placed {
            instruction,
            values,
            span: Span::default(),
        });
        MachineProgram {
            source: Source::new(name, ""),
            code: code.collect(),
            settings: Vec::new(),
        }
    }

    /// Reads assembly text.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn assemble(machine: &Machine, source: &Source) -> Result<MachineProgram, Vec<Diagnostic>> {
        assemble::assemble(machine, source)
    }

    /// Reads little-endian words; the source is a listing under `name`.
    ///
    /// # Errors
    /// Every word that is no instruction, and bytes that are left over.
    pub fn from_words(
        machine: &Machine,
        name: &str,
        bytes: &[u8],
    ) -> Result<MachineProgram, Vec<Diagnostic>> {
        let size = machine.word as usize;
        let (mut listing, mut code, mut wrong) = (String::new(), Vec::new(), Vec::new());
        for chunk in bytes.chunks(size) {
            let mut padded = [0; 8];
            padded[..chunk.len()].copy_from_slice(chunk);
            let word = u64::from_le_bytes(padded);
            let start = listing.len();
            let decoded = machine.decode(word).filter(|_| chunk.len() == size);
            listing.push_str(&match &decoded {
                Some((k, values)) => machine.instructions[*k].text(machine, values),
                None => format!(".word {word:#010x}"),
            });
            let span = Span::new(start, listing.len());
            listing.push('\n');
            match decoded {
                Some((instruction, values)) => code.push(Placed {
                    instruction,
                    values,
                    span,
                }),
                None => wrong.push(span),
            }
        }
        let source = Source::new(name, listing);
        if wrong.is_empty() {
            return Ok(MachineProgram {
                source,
                code,
                settings: Vec::new(),
            });
        }
        let reported = |span| {
            Diagnostic::error(format!("this word is no instruction of {}", machine.isa))
                .at(&source, span)
                .hint("words are little-endian, and the file holds nothing else")
        };
        Err(wrong.into_iter().map(reported).collect())
    }

    /// The words of the program.
    ///
    /// # Errors
    /// An operand whose value has no bits in its word.
    pub fn words(&self, machine: &Machine) -> Result<Vec<u64>, Diagnostic> {
        self.code.iter().map(|p| self.word(machine, p)).collect()
    }

    /// The words as they lie in memory, little-endian.
    ///
    /// # Errors
    /// As [`MachineProgram::words`].
    pub fn bytes(&self, machine: &Machine) -> Result<Vec<u8>, Diagnostic> {
        let size = machine.word as usize;
        let words = self.words(machine)?;
        let of = |word: u64| word.to_le_bytes().into_iter().take(size);
        Ok(words.into_iter().flat_map(of).collect())
    }

    fn word(&self, machine: &Machine, placed: &Placed) -> Result<u64, Diagnostic> {
        let found = &machine.instructions[placed.instruction];
        let signed = |k: usize| {
            let kind = &found.operands[k].kind;
            matches!(kind, OperandKind::Immediate { signed: true, .. })
        };
        found
            .encoding
            .word(&placed.values, signed)
            .map_err(|fault| {
                let name = &found.operands[fault.operand].name;
                Diagnostic::error(format!("{} does not fit into `{name}`", fault.value))
                    .at(&self.source, placed.span)
                    .hint(format!("the nearest value that does is {}", fault.nearest))
            })
    }
}
