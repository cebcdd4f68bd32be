//! All the instructions of an instruction set, from our own specifications.
//!
//! In: the path of a manifest. Out: [`Specs`]: instructions with their meaning, and what is
//! wrong with the others, each message at the place where the text was written. This is what
//! the rest of the program calls; the steps are in [`crate::manifest`], [`crate::family`] and
//! the dialects.

use crate::family::{self, Member};
use crate::lowering_cache::{self, LoweringCache};
use crate::pseudocode::{self, Dialect, lower::lower_cached};
use crate::{manifest, matrix};
use rayon::prelude::*;
use semantics::diagnostic::Diagnostic;
use semantics::digest::Digest;
use semantics::instruction::Instruction;
use semantics::span::{Source, Span};
use std::collections::BTreeSet;
use std::path::Path;

#[cfg(test)]
mod tests;

/// The instructions of an instruction set.
#[derive(Clone, Debug, Default)]
pub struct Specs {
    /// In the order of the files.
    pub instructions: Vec<Instruction>,
    /// Number of families.
    pub families: usize,
    /// What is wrong; the rest was loaded.
    pub diagnostics: Vec<Diagnostic>,
}

/// Loads an instruction set.
///
/// # Errors
/// When the manifest itself cannot be read.
pub fn load(manifest: &Path) -> Result<Specs, Vec<Diagnostic>> {
    load_cached(manifest, &LoweringCache::default())
}

/// The same, lowering only bodies whose meanings are not cached.
///
/// # Errors
/// When the manifest itself cannot be read.
pub fn load_cached(manifest: &Path, cached: &LoweringCache) -> Result<Specs, Vec<Diagnostic>> {
    let dialect = manifest::dialect(manifest)?;
    if let Some(dialect) = pseudocode::dialect(&dialect) {
        return intrinsics(dialect, manifest, cached);
    }
    match dialect.as_str() {
        "matrix" => {
            let (machine, diagnostics) = matrix::load::load(manifest)?;
            let instructions = machine.instructions.into_iter().map(|i| i.instruction);
            let instructions = instructions.chain(machine.views);
            let instructions: Vec<Instruction> = instructions.collect();
            let named = |i: &Instruction| Digest::of(i.name.as_str());
            cached.deal(instructions.iter().map(|i| (named(i), "")));
            let wanted = |i: &Instruction| cached.is_wanted(named(i));
            Ok(Specs {
                families: 0,
                instructions: instructions.into_iter().filter(wanted).collect(),
                diagnostics,
            })
        }
        other => Err(vec![manifest::unknown_dialect(manifest, other)]),
    }
}

/// The instructions of families.
fn intrinsics(
    dialect: &'static dyn Dialect,
    manifest: &Path,
    cached: &LoweringCache,
) -> Result<Specs, Vec<Diagnostic>> {
    let manifest = manifest::load(manifest)?;
    let loaded = family::load(&manifest);
    let mut specs = Specs {
        families: loaded.families,
        diagnostics: loaded.diagnostics,
        ..Specs::default()
    };
    cached.deal(loaded.members.iter().map(|member| {
        let text = member.pseudocode.text.as_str();
        let digest = lowering_cache::digest(dialect.name(), &member.signature, text, false);
        (digest, text)
    }));
    let lowered: Vec<Result<Instruction, Vec<Refusal>>> = loaded
        .members
        .par_iter()
        .map(|member| lower(dialect, member, cached))
        .collect();
    let mut refused = Vec::new();
    for (member, result) in loaded.members.iter().zip(lowered) {
        match result {
            Ok(instruction) => specs.instructions.push(instruction),
            Err(diagnostics) => refused.extend(diagnostics.into_iter().map(|d| (member, d))),
        }
    }
    specs.diagnostics.extend(once(refused));
    Ok(specs)
}

/// One mistake of a family is told once, not once for each intrinsic; and where it is written, not where a
/// form of it that was made from the text goes wrong too.
fn once(refused: Vec<(&Member, Refusal)>) -> impl Iterator<Item = Diagnostic> {
    let family = |m: &Member| (m.source.name().to_owned(), m.place.start);
    let written = refused.iter().filter(|(_, r)| r.written);
    let written: BTreeSet<_> = written.map(|(m, _)| family(m)).collect();
    let mut places = BTreeSet::new();
    let told = refused.into_iter().filter(move |(m, r)| {
        let place = { r.diagnostic.place.as_ref() }.map(|(s, span)| (s.name().to_owned(), *span));
        (r.written || !written.contains(&family(m))) && places.insert(place)
    });
    told.map(|(_, r)| r.diagnostic)
}

/// Why a member has no meaning.
struct Refusal {
    diagnostic: Diagnostic,
    /// What is wrong stands in the file as it is.
    written: bool,
}

/// The meaning of one intrinsic.
fn lower(
    dialect: &'static dyn Dialect,
    member: &Member,
    cached: &LoweringCache,
) -> Result<Instruction, Vec<Refusal>> {
    let text = &member.pseudocode.text;
    let source = Source::new(member.signature.name.clone(), text.clone());
    let whole = Span::new(0, text.len());
    let mut instruction = lower_cached(dialect, &member.signature, &source, whole, false, cached)
        .map_err(|diagnostics| {
        let located = |d: Diagnostic| {
            let span = d.place.as_ref().map_or(whole, |(_, span)| *span);
            Refusal {
                written: member.pseudocode.stands(span.start),
                diagnostic: member.located(d, span),
            }
        };
        diagnostics.into_iter().map(located).collect::<Vec<_>>()
    })?;
    instruction.origin.file = member.source.name().to_owned();
    let line = member.source.line(member.place.start);
    instruction.origin.line = u32::try_from(line).unwrap_or(u32::MAX);
    instruction.origin.family = Some(member.family.clone());
    if let Some(output) = instruction.outputs.first_mut() {
        output.undefined = member.undefined.clone();
    }
    Ok(instruction)
}
