//! What a body does to its operands' and its result's bits, for a check of specifications.
//!
//! In: an instruction, whose pseudocode is run again. Out: [`Trace`]: result bits that are
//! never written, those that are written twice, and slices that lie outside a register. A
//! value that is written under a condition, or computed from what it replaces, or that
//! replaces a constant or a bit of an operand that the result begins as (`result = r`, a register
//! that is read and written), is not written twice. It changes no meaning.

use super::register::Register;
use crate::signature::{Returned, Signature};
use semantics::diagnostic::Diagnostic;
use semantics::instruction::Instruction;
use semantics::op::OpCode;
use semantics::sort::Sort;
use semantics::span::{Source, Span};
use semantics::term::Term;
use std::collections::{BTreeSet, HashSet};

/// What a body does to bits.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Trace {
    /// Result bits that are never written: from, and to (exclusive).
    pub unwritten: Vec<(u32, u32)>,
    /// Result bits that are written twice.
    pub twice: Vec<(u32, u32)>,
    /// Slices that reach past a register: its name, the first bit and the one after the last.
    pub outside: BTreeSet<(String, u32, u32)>,
    /// The names of what is read.
    pub read: BTreeSet<String>,
    /// The operand that the result begins as, when it does.
    pub begins: Option<String>,
}

/// What is collected while a body runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Events {
    written: BTreeSet<u32>,
    /// Bits of the result that it still has from the operand that it begins as.
    begun: BTreeSet<u32>,
    begins: Option<&'static str>,
    twice: BTreeSet<u32>,
    outside: BTreeSet<(String, u32, u32)>,
    names: BTreeSet<String>,
    /// How many conditions that depend on operands surround the statement.
    pub(crate) conditions: u32,
}

impl Events {
    /// Something of that name is read.
    pub(crate) fn name(&mut self, name: &str) {
        if !self.names.contains(name) {
            self.names.insert(name.to_owned());
        }
    }

    /// A slice of a register is read, or about to be written.
    pub(crate) fn read(&mut self, name: &str, register: &Register, lo: u32, width: u32) {
        if register.size.is_some_and(|size| lo + width > size) {
            self.outside.insert((name.to_owned(), lo, lo + width));
        }
    }

    /// A slice of a register is written; `result` when it is the result.
    pub(crate) fn write(
        &mut self,
        (name, result): (&str, bool),
        register: &Register,
        lo: u32,
        term: Term,
    ) {
        let end = lo + term.width();
        self.read(name, register, lo, term.width());
        if !result {
            return;
        }
        let set = |bit: &u32| self.written.contains(bit) && !self.begun.contains(bit);
        if self.conditions == 0 && (lo..end).any(|bit| set(&bit)) {
            let old = register.read(lo, term.width()).term;
            if old.as_bits().is_none() && !uses(term, old) {
                let old = (lo..end).filter(set);
                self.twice.extend(old);
            }
        }
        let begins = term.as_var();
        let begins = begins.filter(|_| register.size == Some(term.width()));
        self.begins = self.begins.or(begins);
        for bit in lo..end {
            match begins.is_some() && self.written.insert(bit) {
                true => self.begun.insert(bit),
                false => self.begun.remove(&bit),
            };
        }
        self.written.extend(lo..end);
    }

    fn finish(self, width: u32) -> Trace {
        let unwritten = (0..width).filter(|bit| !self.written.contains(bit));
        Trace {
            unwritten: ranges(unwritten),
            twice: ranges(self.twice.into_iter()),
            outside: self.outside,
            read: self.names,
            begins: self.begins.map(str::to_owned),
        }
    }
}

/// Whether a term is computed from the other, or from one of the elements that it consists
/// of and that is no constant.
fn uses(term: Term, old: Term) -> bool {
    let whole = [old];
    let parts = old.args_of(OpCode::Concat).unwrap_or(&whole);
    let parts = parts.iter().filter(|part| part.as_bits().is_none());
    let parts: HashSet<Term> = parts.copied().collect();
    // What is no higher has none of them below it.
    let lowest = parts.iter().map(|part| part.height()).min().unwrap_or(0);
    let (mut seen, mut open) = (HashSet::new(), vec![term]);
    while let Some(term) = open.pop() {
        if parts.contains(&term) {
            return true;
        }
        if term.height() > lowest && seen.insert(term) {
            open.extend(term.children());
        }
    }
    false
}

/// Consecutive numbers as ranges.
fn ranges(numbers: impl Iterator<Item = u32>) -> Vec<(u32, u32)> {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for n in numbers {
        match ranges.last_mut() {
            Some((_, end)) if *end == n => *end = n + 1,
            _ => ranges.push((n, n + 1)),
        }
    }
    ranges
}

/// What the body of one of our own instructions does to bits, read in that dialect.
///
/// # Errors
/// What keeps the body from having a meaning.
pub fn trace(dialect: &str, instruction: &Instruction) -> Result<Trace, Vec<Diagnostic>> {
    let dialect = crate::pseudocode::dialect(dialect).ok_or_else(Vec::new)?;
    let result = instruction.outputs.first();
    let result = result.filter(|o| o.term.sort() != Sort::Mem && o.c_type != "void");
    let signature = Signature {
        name: instruction.name.clone(),
        isa: instruction.isa.clone(),
        returns: Returned {
            c_type: result.map_or("void".to_owned(), |o| o.c_type.clone()),
            element: result.map_or(semantics::instruction::Element::Untyped, |o| o.element),
            width: result.and_then(|o| o.term.sort().width()).unwrap_or(0),
        },
        operands: instruction.operands.clone(),
        features: instruction.features.clone(),
        mnemonic: instruction.mnemonic.clone(),
        form: instruction.form,
    };
    let text = instruction.pseudocode.clone();
    let whole = Span::new(0, text.len());
    let source = Source::new(instruction.name.clone(), text);
    let block = dialect.parse(&source, whole, false)?;
    let registers = super::state::named(source.slice(whole), &signature);
    let results = super::results(dialect, &signature, &block, whole, &registers)
        .map_err(|fault| vec![Diagnostic::error(fault.message).at(&source, fault.span)])?;
    let mut trace = results.events.finish(signature.returns.width);
    if results.returns {
        // A body that returns its value writes all of it at once.
        trace.unwritten.clear();
    }
    Ok(trace)
}
