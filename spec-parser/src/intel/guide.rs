//! The whole data file of the Intrinsics Guide, with errata, to instructions.
//!
//! In: the XML text and errata. Out: [`Loaded`]: every instruction that has a meaning, a
//! diagnostic for each body that has none, counts, and which errata were applied to what.
//! Bodies are lowered in parallel; the order is that of the file.

use super::vendor::{Entry, read};
use super::{lower, parser};
use crate::errata::{Errata, Erratum};
use rayon::prelude::*;
use semantics::affine::Affine;
use semantics::diagnostic::Diagnostic;
use semantics::instruction::{Instruction, Role};
use semantics::op::OpCode;
use semantics::span::{Source, Span};
use semantics::term::Term;
use semantics::unroll::unroll;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What a data file gives.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// The instructions, in the order of the file; each name once.
    pub instructions: Vec<Instruction>,
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
    /// Entries whose name had been seen with the same operands, or with a meaning.
    pub repeated: usize,
}

/// Loads a data file.
///
/// # Errors
/// When the text is not XML.
pub fn load(source: &Source, errata: &Errata) -> Result<Loaded, Diagnostic> {
    let (entries, diagnostics) = read(source)?;
    let mut loaded = Loaded {
        diagnostics,
        ..Loaded::default()
    };
    loaded.counts.entries = entries.len();
    let outcomes: Vec<Outcome> = entries
        .par_iter()
        .map(|entry| one(entry, source, errata))
        .collect();
    let mut seen = BTreeSet::new();
    for outcome in outcomes {
        loaded.counts.bodies += usize::from(outcome.body);
        loaded.counts.parsed += usize::from(outcome.parsed);
        loaded.diagnostics.extend(outcome.diagnostics);
        let Some(instruction) = outcome.instruction else {
            continue;
        };
        loaded.counts.lowered += 1;
        if !seen.insert(instruction.name.clone()) {
            loaded.counts.repeated += 1;
            continue;
        }
        for erratum in &instruction.origin.errata {
            let list = loaded.errata.entry(erratum.clone()).or_default();
            list.push(instruction.name.clone());
        }
        loaded.instructions.push(instruction);
    }
    Ok(loaded)
}

/// How far one entry came.
#[derive(Default)]
struct Outcome {
    body: bool,
    parsed: bool,
    instruction: Option<Instruction>,
    diagnostics: Vec<Diagnostic>,
}

fn one(entry: &Entry, source: &Source, errata: &Errata) -> Outcome {
    let Some(span) = entry.operation else {
        return Outcome::default();
    };
    let mut outcome = Outcome {
        body: true,
        ..Outcome::default()
    };
    let errata = errata.of(&entry.name);
    let lowered = parser::parse(source, span, true).and_then(|block| {
        outcome.parsed = true;
        if let Some((erratum, why)) = errata.iter().find_map(|e| Some((e, e.refusal()?))) {
            return Err(vec![
                Diagnostic::error(format!("`{}` is not read: {why}", entry.name))
                    .at(source, entry.span)
                    .with_note(format!("erratum `{}`: {}", erratum.name, erratum.wrong)),
            ]);
        }
        let mut signature = entry.signature();
        for erratum in errata {
            erratum.correct_signature(&mut signature);
        }
        let instruction = match replaced(&signature, errata) {
            Some(instruction) => instruction,
            None => lower::lower(&signature, &block, source, span),
        };
        instruction.map(|i| finished(i, source, span, errata))
    });
    match lowered {
        Ok(instruction) => outcome.instruction = Some(instruction),
        Err(diagnostics) => outcome.diagnostics = diagnostics,
    }
    outcome
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
    let line = source.line_column(span.start).line;
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
