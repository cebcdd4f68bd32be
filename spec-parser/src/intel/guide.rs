//! The whole data file of the Intrinsics Guide, with errata, to instructions.
//!
//! In: the XML text and errata. Out: [`Loaded`]: every instruction that has a meaning, a
//! diagnostic for each body that has none, counts, and which errata were applied to what.
//! Bodies are lowered in parallel; the order is that of the file.

use super::vendor::{Entry, read};
use super::{Intel, lower, parser};
use crate::errata::{Errata, Erratum, VendorText};
use crate::lowering_cache::{self, LoweringCache, Meaning};
use crate::pseudocode::Dialect as _;
use crate::pseudocode::ast::Block;
use crate::pseudocode::lower::{self as shared, state::is_of_the_machine};
use rayon::prelude::*;
use semantics::affine::Affine;
use semantics::diagnostic::Diagnostic;
use semantics::digest::Digest;
use semantics::instruction::{Form, Instruction, Role};
use semantics::op::OpCode;
use semantics::span::{Source, Span};
use semantics::subst::replace_vars;
use semantics::term::Term;
use semantics::unroll::unroll;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// What a data file gives.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// What has a meaning, in the order of the file; each name once. Calls of libraries and
    /// sequences of instructions are among them: see [`Instruction::form`].
    pub instructions: Vec<Instruction>,
    /// What reads or writes registers of the machine that no operand names, such as MXCSR: a
    /// meaning over these registers, but no function of operands.
    pub system: Vec<Instruction>,
    /// Entries without pseudocode: what they are called, and their category.
    pub silent: Vec<(String, String)>,
    /// What is wrong or was left out, in the order of the file.
    pub diagnostics: Vec<Diagnostic>,
    /// How many of what.
    pub counts: Counts,
    /// The intrinsics to which each erratum was applied.
    pub errata: BTreeMap<String, Vec<String>>,
}

/// How far the entries of a data file came.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Entries.
    pub entries: usize,
    /// Entries with pseudocode.
    pub bodies: usize,
    /// Bodies that the grammar takes.
    pub parsed: usize,
    /// Bodies with a meaning.
    pub lowered: usize,
    /// Of these, one instruction of the machine, or none at all.
    pub instructions: usize,
    /// Of these, sequences of instructions that compilers write.
    pub sequences: usize,
    /// Of these, calls of libraries.
    pub called: usize,
    /// Of these, what reads or writes registers of the machine that no operand names.
    pub system: usize,
    /// Bodies with a meaning whose name, technology and signature had been seen.
    pub repeated: usize,
    /// Bodies with a meaning whose name had been seen, but in another technology or with
    /// another signature: another encoding of the same function.
    pub alternatives: usize,
}

impl Counts {
    fn lowered(&mut self, form: Form) {
        self.lowered += 1;
        match form {
            Form::Single | Form::Free => self.instructions += 1,
            Form::Sequence => self.sequences += 1,
            Form::Library => self.called += 1,
        }
    }
}

/// Loads a data file.
///
/// # Errors
/// When the text is not XML.
pub fn load(source: &Source, errata: &Errata) -> Result<Loaded, Diagnostic> {
    load_cached(source, errata, &LoweringCache::default())
}

/// The same, lowering only bodies whose meanings are not cached.
///
/// # Errors
/// When the text is not XML.
pub fn load_cached(
    source: &Source,
    errata: &Errata,
    cached: &LoweringCache,
) -> Result<Loaded, Diagnostic> {
    let (entries, diagnostics) = read(source)?;
    let mut loaded = Loaded {
        diagnostics,
        ..Loaded::default()
    };
    loaded.counts.entries = entries.len();
    cached.deal(entries.iter().filter_map(|entry| {
        let text = source.slice(entry.operation?);
        Some((Digest::of(&(entry.name.as_str(), text)), text))
    }));
    let outcomes: Vec<Outcome> = entries
        .par_iter()
        .map(|entry| one(entry, source, errata, cached))
        .collect();
    let mut seen: BTreeMap<String, (&Entry, usize)> = BTreeMap::new();
    for (entry, outcome) in entries.iter().zip(outcomes) {
        loaded.counts.bodies += usize::from(outcome.body);
        loaded.counts.parsed += usize::from(outcome.parsed);
        loaded.diagnostics.extend(outcome.diagnostics);
        if !outcome.body {
            let named = (entry.name.clone(), entry.category.clone());
            loaded.silent.push(named);
        }
        let Some(instruction) = outcome.instruction else {
            continue;
        };
        if is_of_the_machine(&instruction) {
            loaded.counts.lowered += 1;
            loaded.counts.system += 1;
            loaded.system.push(instruction);
            continue;
        }
        loaded.counts.lowered(instruction.form);
        if let Some((first, place)) = seen.get(&instruction.name) {
            if first.tech == entry.tech && first.types() == entry.types() {
                loaded.counts.repeated += 1;
            } else {
                loaded.counts.alternatives += 1;
            }
            if !same_meaning(&loaded.instructions[*place], &instruction) {
                loaded.diagnostics.push(contradiction(entry, source));
            }
            continue;
        }
        let place = loaded.instructions.len();
        seen.insert(instruction.name.clone(), (entry, place));
        for erratum in &instruction.origin.errata {
            let list = loaded.errata.entry(erratum.clone()).or_default();
            list.push(instruction.name.clone());
        }
        loaded.instructions.push(instruction);
    }
    Ok(loaded)
}

/// Whether two functions of one name are the same function of their operands, whatever these
/// are called.
fn same_meaning(a: &Instruction, b: &Instruction) -> bool {
    let renamed: HashMap<&str, Term> = b
        .operands
        .iter()
        .zip(&a.operands)
        .map(|(of_b, of_a)| (of_b.name.as_str(), of_a.var()))
        .collect();
    let widths = |i: &Instruction| i.operands.iter().map(|o| o.width).collect::<Vec<_>>();
    widths(a) == widths(b)
        && a.outputs.len() == b.outputs.len()
        && a.outputs
            .iter()
            .zip(&b.outputs)
            .all(|(x, y)| x.term == replace_vars(y.term, &renamed))
}

fn contradiction(entry: &Entry, source: &Source) -> Diagnostic {
    let message = format!("`{}` is here a second time with another text", entry.name);
    Diagnostic::warning(message)
        .at(source, entry.span)
        .hint("the first one counts")
}

/// How far one entry came.
#[derive(Default)]
struct Outcome {
    body: bool,
    parsed: bool,
    instruction: Option<Instruction>,
    diagnostics: Vec<Diagnostic>,
}

/// A body that is well formed.
enum Body {
    /// Its meaning was cached.
    Known(Meaning),
    /// Its meaning is to be found.
    Tree(Block),
}

fn one(entry: &Entry, source: &Source, errata: &Errata, cached: &LoweringCache) -> Outcome {
    let Some(span) = entry.operation else {
        return Outcome::default();
    };
    let mut outcome = Outcome {
        body: true,
        ..Outcome::default()
    };
    let mut signature = entry.signature();
    let text = VendorText::of(source.slice(span), &signature);
    let errata = errata.of(&entry.name).iter();
    let errata: Vec<_> = errata.filter(|e| e.is_about(text)).cloned().collect();
    let errata = errata.as_slice();
    for erratum in errata {
        erratum.correct_signature(&mut signature);
    }
    if let Err(wrong) = signature.check() {
        let diagnostic = Diagnostic::error(wrong).at(source, entry.span);
        outcome.diagnostics = vec![diagnostic.hint("this entry is left out")];
        return outcome;
    }
    let digest = lowering_cache::digest(Intel.name(), &signature, source.slice(span), true);
    if !cached.is_wanted(Digest::of(&(entry.name.as_str(), source.slice(span)))) {
        return outcome;
    }
    let body = match cached.get(digest) {
        Some(meaning) => Ok(Body::Known(meaning)),
        None => parser::parse(source, span, true).map(Body::Tree),
    };
    let named = |d: Diagnostic| d.with_note(format!("in `{}`", entry.name));
    let body = body.map_err(|wrong| wrong.into_iter().map(named).collect::<Vec<_>>());
    let lowered = body.and_then(|body| {
        outcome.parsed = true;
        if let Some((erratum, why)) = errata.iter().find_map(|e| Some((e, e.refusal()?))) {
            return Err(vec![
                Diagnostic::error(format!("`{}` is not read: {why}", entry.name))
                    .at(source, entry.span)
                    .with_note(format!("erratum `{}`: {}", erratum.name, erratum.wrong)),
            ]);
        }
        let amended = amended(source.slice(span), errata);
        let replaced = match &amended {
            Some(text) => Some(lower_amended(&signature, text)),
            None => replaced(&signature, errata),
        };
        let instruction = match (replaced, body) {
            (Some(instruction), _) => instruction?,
            (None, Body::Known(meaning)) => shared::instruction(&signature, meaning, source, span),
            (None, Body::Tree(block)) => {
                let meaning = shared::lower(&Intel, &signature, &block, source, span)?;
                if !meaning.is_empty() {
                    cached.keep(digest, &meaning);
                }
                shared::instruction(&signature, meaning, source, span)
            }
        };
        Ok(finished(instruction, source, span, errata))
    });
    match lowered {
        Ok(instruction) => outcome.instruction = Some(instruction),
        Err(diagnostics) => outcome.diagnostics = diagnostics,
    }
    outcome
}

/// The text with all lines that errata mend, and the names of these; none where there are none.
fn amended(text: &str, errata: &[Arc<Erratum>]) -> Option<(String, String)> {
    let all = errata.iter().filter(|e| e.names_lines());
    let names: Vec<&str> = all.clone().map(|e| e.name.as_str()).collect();
    let mend = |text: String, e: &Arc<Erratum>| e.amended(&text).unwrap_or(text);
    let text = all.fold(text.to_owned(), mend);
    (!names.is_empty()).then(|| (names.join(", "), text))
}

/// The meaning of a text with lines of errata.
fn lower_amended(
    signature: &crate::signature::Signature,
    (names, text): &(String, String),
) -> Result<Instruction, Vec<Diagnostic>> {
    let source = Source::new(names.clone(), text.clone());
    lower::lower_body(signature, &source, Span::new(0, text.len()), true)
}

/// The meaning of an erratum's own text, when one has a text.
fn replaced(
    signature: &crate::signature::Signature,
    errata: &[Arc<Erratum>],
) -> Option<Result<Instruction, Vec<Diagnostic>>> {
    errata.iter().find_map(|erratum| {
        let text = match erratum.replacement(signature)? {
            Ok(text) => text,
            Err(diagnostic) => return Some(Err(vec![diagnostic])),
        };
        let source = Source::new(erratum.name.clone(), text.text.clone());
        let whole = Span::new(0, text.text.len());
        let lowered = lower::lower_body(signature, &source, whole, false);
        Some(lowered.map_err(|diagnostics| {
            diagnostics
                .into_iter()
                .map(|d| erratum.located(&text, d))
                .collect()
        }))
    })
}

/// The instruction with its origin, its errata and the largest values of its immediates.
fn finished(
    mut instruction: Instruction,
    source: &Source,
    span: Span,
    errata: &[Arc<Erratum>],
) -> Instruction {
    instruction.origin.file = source.name().to_owned();
    let line = source.line(span.start);
    instruction.origin.line = u32::try_from(line).unwrap_or(u32::MAX);
    for erratum in errata {
        erratum.correct(&mut instruction);
    }
    bound_immediates(&mut instruction);
    instruction
}

/// Lowers the largest value of an immediate to the bits that the meaning reads: compilers
/// refuse more for most intrinsics.
fn bound_immediates(instruction: &mut Instruction) {
    for operand in &mut instruction.operands {
        let Role::Immediate { max } = &mut operand.role else {
            continue;
        };
        let used = instruction
            .outputs
            .iter()
            .map(|o| bits_read(unroll(o.term), &operand.name))
            .max()
            .unwrap_or(0);
        if used < operand.width {
            *max = (*max).min((1 << used) - 1);
        }
    }
}

/// How many of the low bits of a variable a flat term reads.
fn bits_read(term: Term, name: &str) -> u32 {
    let mut seen = BTreeSet::new();
    let mut stack = vec![term];
    let mut most = 0;
    while let Some(t) = stack.pop() {
        if !seen.insert(t.id()) {
            continue;
        }
        if let Some(args) = t.args_of(OpCode::Extract)
            && args[0].as_var() == Some(name)
        {
            let lo = Affine::of(args[1]);
            let known = lo.coefficients.is_empty();
            let top = u32::try_from(lo.constant).ok().filter(|_| known);
            most = most.max(top.map_or(args[0].width(), |lo| lo + t.width()));
            continue;
        }
        if t.as_var() == Some(name) {
            most = most.max(t.width());
        }
        stack.extend(t.children());
    }
    most
}
