//! Where instructions come from: our specifications, and a vendor's own file beside them;
//! and the dictionary of their classes.
//!
//! In: the folder of an instruction set and perhaps a vendor's file. Out: [`Intake`], the
//! [`Dictionary`] and the [`InstructionTable`], which are kept, as is what they are made from. An instruction that is in
//! both is ours; what is wrong with some stops no other.

use crate::compile::read;
use crate::kept::{Kept, program};
use crate::{assets, terminal};
use autoir::dictionary::Dictionary;
use autoir::instructions::InstructionTable;
use semantics::diagnostic::Diagnostic;
use semantics::digest::{self, Digests};
use semantics::instruction::{Form, Instruction};
use semantics::span::Source;
use sha2::{Digest, Sha256};
use similarity::class::Report;
use similarity::classify::classify_kept;
use similarity::kept::Kept as Readings;
use smt::prover::Prover;
use spec_parser::errata::{self, Errata};
use spec_parser::intel::guide::{self, Counts};
use spec_parser::meanings::Meanings;
use spec_parser::specs;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Instructions, and what is known of their reading.
#[derive(Default)]
pub(crate) struct Intake {
    /// Ours first, then the vendor's others, each in the order of its files.
    pub(crate) instructions: Vec<Instruction>,
    /// What is wrong with our specifications.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// What of the vendor's file has no meaning, and why.
    pub(crate) left_out: Vec<Diagnostic>,
    /// How far the entries of the vendor's file came.
    pub(crate) counts: Option<Counts>,
}

/// How many C functions there are, told by what they are on the machine: only one kind of
/// them are instructions.
pub(crate) fn counted(forms: impl Iterator<Item = Form>) -> String {
    let mut counts: BTreeMap<Form, usize> = BTreeMap::new();
    for form in forms {
        *counts.entry(form).or_default() += 1;
    }
    let told = |(form, n): (&Form, &usize)| match form {
        Form::Single => many(*n, "instruction"),
        Form::Free => many(*n, "free cast"),
        Form::Sequence => many(*n, "sequence"),
        Form::Library => many(*n, "library function"),
    };
    let parts: Vec<String> = counts.iter().map(told).collect();
    match parts.is_empty() {
        true => many(0, "instruction"),
        false => parts.join(", "),
    }
}

/// A number of things.
fn many(n: usize, what: &str) -> String {
    let s = if n == 1 { "" } else { "s" };
    format!("{n} {what}{s}")
}

/// All instructions of an instruction set that have a meaning. Bodies that an earlier run
/// has lowered are not lowered again.
///
/// # Errors
/// When the manifest, the errata or the vendor's file cannot be read.
pub(crate) fn instructions(
    folder: &Path,
    vendor: Option<&Path>,
) -> Result<Intake, Vec<Diagnostic>> {
    let file = Kept::named("meanings");
    let mut told = Vec::new();
    let kept = file.read(Meanings::read, &mut told).unwrap_or_default();
    let specs = specs::load_kept(&folder.join("manifest.yaml"), &kept)?;
    let mut intake = Intake {
        instructions: specs.instructions,
        diagnostics: specs.diagnostics,
        ..Intake::default()
    };
    if let Some(vendor) = vendor {
        let source = read(vendor).map_err(|diagnostic| vec![diagnostic])?;
        let path = folder.join("errata.yaml");
        let errata = if path.exists() {
            errata::load(&path)?
        } else {
            Errata::default()
        };
        let loaded =
            guide::load_kept(&source, &errata, &kept).map_err(|diagnostic| vec![diagnostic])?;
        let ours: BTreeSet<String> = intake.instructions.iter().map(|i| i.name.clone()).collect();
        let others = loaded
            .instructions
            .into_iter()
            .filter(|i| !ours.contains(&i.name));
        intake.instructions.extend(others);
        intake.left_out = loaded.diagnostics;
        intake.counts = Some(loaded.counts);
    }
    if let Some(text) = kept.text() {
        file.write(&text, &mut told);
    }
    intake.diagnostics.extend(told);
    Ok(intake)
}

/// A dictionary, and how it came about.
pub(crate) struct Made {
    /// The dictionary as text.
    pub(crate) text: String,
    /// What was done to make it; nothing when it was kept from an earlier run.
    pub(crate) report: Option<Report>,
    /// What went wrong with the files that keep it.
    pub(crate) told: Vec<Diagnostic>,
    /// The dictionary itself, where it was made or asked for.
    dictionary: Option<Dictionary>,
}

/// The dictionary of some instructions, as text: the one that was kept for exactly these, or
/// a new one.
pub(crate) fn made(intake: &Intake, prover: &Prover) -> Made {
    let file = Kept::named(&format!("{}.dictionary", fingerprint(intake)));
    let mut told = Vec::new();
    if let Some(text) = file.read(|text| Some(text.to_owned()), &mut told) {
        return Made {
            text,
            report: None,
            told,
            dictionary: None,
        };
    }
    let (dictionary, report) = classify(intake, prover, &mut told);
    let text = dictionary.to_string();
    file.write(&text, &mut told);
    Made {
        text,
        report: Some(report),
        told,
        dictionary: Some(dictionary),
    }
}

/// The dictionary of some instructions, kept or made, and what went wrong with the files.
pub(crate) fn dictionary(intake: &Intake, prover: &Prover) -> (Dictionary, Vec<Diagnostic>) {
    read_made(made(intake, prover), intake, prover)
}

/// The dictionary itself, where its text is there.
pub(crate) fn read_made(
    made: Made,
    intake: &Intake,
    prover: &Prover,
) -> (Dictionary, Vec<Diagnostic>) {
    let mut told = made.told;
    if let Some(dictionary) = made.dictionary {
        return (dictionary, told);
    }
    match Dictionary::read(&Source::new("the kept dictionary", made.text)) {
        Ok(dictionary) => (dictionary, told),
        Err(_) => (classify(intake, prover, &mut told).0, told),
    }
}

/// The instructions of an instruction set in the form that is read quickly: what was kept
/// for exactly these specifications and this program, or made anew by way of the dictionary.
///
/// # Errors
/// When the manifest, the errata or the vendor's file cannot be read.
pub(crate) fn instruction_table(
    folder: &Path,
    vendor: Option<&Path>,
    prover: &Prover,
) -> Result<(InstructionTable, Vec<Diagnostic>), Vec<Diagnostic>> {
    let path = table_name(folder, vendor).map(|name| assets::cache_folder().join(name));
    let kept = path.as_ref().and_then(|path| fs::read(path).ok());
    let read = |text| InstructionTable::read(String::from_utf8(text).ok()?);
    if let Some(table) = kept.and_then(read) {
        return Ok((table, Vec::new()));
    }
    let intake = instructions(folder, vendor)?;
    let (dictionary, told) = dictionary(&intake, prover);
    let table = InstructionTable::of_dictionary(&dictionary);
    let diagnostics = [intake.diagnostics, told].concat();
    // What is wrong is told every time.
    if let (Some(path), true) = (path, diagnostics.is_empty()) {
        // It was possible to keep the dictionary; a copy that is not kept is no harm.
        let _ = assets::write_whole(&path, table.text().as_bytes());
    }
    Ok((table, diagnostics))
}

/// The name of the file with the table of these specifications, made by this very program;
/// nothing when one of them cannot be read.
fn table_name(folder: &Path, vendor: Option<&Path>) -> Option<String> {
    let mut hash = Sha256::new();
    hash.update(program()?);
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).ok()? {
            let path = entry.ok()?.path();
            match path.is_dir() {
                true => folders.push(path),
                false => files.push(path),
            }
        }
    }
    files.extend(vendor.map(Path::to_owned));
    files.sort();
    for path in files {
        let contents = assets::contents(&path).ok()?;
        let name = path.strip_prefix(folder).unwrap_or(&path);
        hash.update(format!("{} {}\n", name.display(), contents.len()));
        hash.update(contents);
    }
    Some(format!(
        "{:.32}.instructions",
        format!("{:x}", hash.finalize())
    ))
}

/// Finds the classes of the instructions and makes their dictionary. Readings that an
/// earlier run has found are not found again.
fn classify(intake: &Intake, prover: &Prover, told: &mut Vec<Diagnostic>) -> (Dictionary, Report) {
    let file = Kept::named("readings");
    let kept = file.read(Readings::read, told).unwrap_or_default();
    let bar = terminal::bar("classifying", intake.instructions.len());
    let progress = |step: &'static str, done: usize, all: usize| {
        bar.set_message(step);
        bar.set_length(all as u64);
        bar.set_position(done as u64);
    };
    let found = classify_kept(&intake.instructions, prover, &kept, &progress);
    bar.finish_and_clear();
    if let Some(text) = kept.text() {
        file.write(&text, told);
    }
    let dictionary = autoir::build::build(&found, &intake.instructions);
    (dictionary, found.report)
}

/// What tells instructions apart: a digest of all that the dictionary is made from.
fn fingerprint(intake: &Intake) -> digest::Digest {
    let mut digests = Digests::default();
    let all: Vec<_> = intake
        .instructions
        .iter()
        .map(|i| {
            let outputs = i.outputs.iter();
            let outputs: Vec<_> = outputs
                .map(|o| {
                    (
                        &o.name,
                        &o.c_type,
                        o.element,
                        &o.undefined,
                        digests.of(o.term),
                    )
                })
                .collect();
            let head = (&i.name, &i.isa, &i.mnemonic, i.form, &i.features);
            (head, &i.operands, outputs)
        })
        .collect();
    digest::Digest::of(&all)
}
