//! Where instructions come from: our specifications, and a vendor's own file beside them;
//! and the dictionary of their classes.
//!
//! In: the folder of an instruction set and perhaps a vendor's file. Out: [`Intake`], the
//! [`Dictionary`] and the [`InstructionTable`], which are kept, as is what they are made from. An instruction that is in
//! both is ours; what is wrong with some stops no other.

use crate::compile::read;
use crate::pin::Pin;
use crate::{assets, terminal};
use autoir::dictionary::Dictionary;
use autoir::instructions::InstructionTable;
use semantics::diagnostic::Diagnostic;
use semantics::digest::{Digest, Digests};
use semantics::instruction::{Form, Instruction};
use semantics::span::Source;
use similarity::cached::CanonicalCache;
use similarity::class::Report;
use similarity::classify::classify_cached;
use similarity::shard::Proofs;
use smt::prover::Prover;
use spec_parser::errata::{self, Errata};
use spec_parser::intel::guide::{self, Counts};
use spec_parser::lowering_cache::LoweringCache;
use spec_parser::specs;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use store::local::program;
use store::object::{Key, Kind};

/// What bodies of pseudocode mean. An object has all that a program has lowered.
const LOWERED: Kind = Kind {
    name: "lowered",
    version: 1,
    most: Some(4),
};
/// How instructions are read. An object has all that a program has read.
const CANONICAL: Kind = Kind {
    name: "canonical",
    version: 1,
    most: Some(4),
};
/// Dictionaries, by all that they are made from.
const DICTIONARIES: Kind = Kind {
    name: "dictionaries",
    version: 1,
    most: Some(16),
};
/// Tables of instructions, by the files of their instruction set.
const TABLES: Kind = Kind {
    name: "instruction-tables",
    version: 1,
    most: Some(16),
};

/// A text that only this very program may read: another may lower or read differently.
struct Cached {
    kind: Kind,
    /// Nothing when the program is not known.
    key: Option<Key>,
}

impl Cached {
    fn of<P: AsRef<[u8]>>(kind: Kind, parts: &[P]) -> Cached {
        let key = |program: String| {
            let parts = parts.iter().map(AsRef::as_ref);
            Key::of(std::iter::once(program.as_bytes()).chain(parts))
        };
        Cached {
            kind,
            key: program().map(key),
        }
    }

    /// What was left, understood; what cannot be is set aside.
    fn read<T>(&self, understood: impl FnOnce(&str) -> Option<T>) -> Option<T> {
        assets::store().read(self.kind, self.key.as_ref()?, understood)
    }

    /// What was left.
    fn get(&self) -> Option<String> {
        assets::store().get(self.kind, self.key.as_ref()?)
    }

    fn put(&self, text: &str) {
        if let Some(key) = &self.key {
            assets::store().put(self.kind, key, text);
        }
    }
}

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
    let reported = |(form, n): (&Form, &usize)| match form {
        Form::Single => many(*n, "instruction"),
        Form::Free => many(*n, "free cast"),
        Form::Sequence => many(*n, "sequence"),
        Form::Library => many(*n, "library function"),
    };
    let parts: Vec<String> = counts.iter().map(reported).collect();
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
    let place = Cached::of::<&str>(LOWERED, &[]);
    let cached = place.read(LoweringCache::read).unwrap_or_default();
    let intake = instructions_known(folder, vendor, &cached)?;
    if let Some(text) = cached.text() {
        place.put(&text);
    }
    Ok(intake)
}

/// The same, where the meanings of some bodies are known.
///
/// # Errors
/// When the manifest, the errata or the vendor's file cannot be read.
pub(crate) fn instructions_known(
    folder: &Path,
    vendor: Option<&Path>,
    cached: &LoweringCache,
) -> Result<Intake, Vec<Diagnostic>> {
    let specs = specs::load_cached(&folder.join("manifest.yaml"), cached)?;
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
            guide::load_cached(&source, &errata, cached).map_err(|diagnostic| vec![diagnostic])?;
        let ours: BTreeSet<String> = intake.instructions.iter().map(|i| i.name.clone()).collect();
        let others = loaded
            .instructions
            .into_iter()
            .filter(|i| !ours.contains(&i.name));
        intake.instructions.extend(others);
        intake.left_out = loaded.diagnostics;
        intake.counts = Some(loaded.counts);
    }
    Ok(intake)
}

/// A dictionary, and how it came about.
pub(crate) struct Made {
    /// The dictionary as text.
    pub(crate) text: String,
    /// What was done to make it; nothing when it was kept from an earlier run.
    pub(crate) report: Option<Report>,
    /// The dictionary itself, where it was made or asked for.
    dictionary: Option<Dictionary>,
}

/// The dictionary of some instructions, as text: the one that was kept for exactly these, or
/// a new one.
pub(crate) fn made(intake: &Intake, prover: &Prover) -> Made {
    let cached = Cached::of(DICTIONARIES, &[&fingerprint(intake).to_string()]);
    if let Some(text) = cached.get() {
        return Made {
            text,
            report: None,
            dictionary: None,
        };
    }
    let (dictionary, report) = classify(intake, prover);
    let text = dictionary.to_string();
    cached.put(&text);
    Made {
        text,
        report: Some(report),
        dictionary: Some(dictionary),
    }
}

/// The dictionary of some instructions, kept or made.
pub(crate) fn dictionary(intake: &Intake, prover: &Prover) -> Dictionary {
    read_made(made(intake, prover), intake, prover)
}

/// The dictionary itself, where its text is there.
pub(crate) fn read_made(made: Made, intake: &Intake, prover: &Prover) -> Dictionary {
    let read = || Dictionary::read(&Source::new("the kept dictionary", made.text));
    made.dictionary
        .or_else(|| read().ok())
        .unwrap_or_else(|| classify(intake, prover).0)
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
    let files = files(folder, vendor).unwrap_or_default();
    let parts: Vec<&[u8]> = files.iter().map(Vec::as_slice).collect();
    let cached = Cached::of(TABLES, &parts);
    let known = !files.is_empty();
    if let Some(table) = cached
        .get()
        .filter(|_| known)
        .and_then(InstructionTable::read)
    {
        return Ok((table, Vec::new()));
    }
    let pin = Pin::of(folder).filter(|_| vendor.is_none());
    if let Some(text) = pin.as_ref().and_then(Pin::shared_table) {
        cached.put(&text);
        if let Some(table) = InstructionTable::read(text) {
            return Ok((table, Vec::new()));
        }
    }
    let intake = instructions(folder, vendor)?;
    let table = InstructionTable::of_dictionary(&dictionary(&intake, prover));
    if let Some(pin) = pin {
        pin.share_table(table.text());
    }
    // What is wrong is told every time.
    if known && intake.diagnostics.is_empty() {
        cached.put(table.text());
    }
    Ok((table, intake.diagnostics))
}

/// The names and contents of all files that a table is made from; nothing when one of them
/// cannot be read.
pub(crate) fn files(folder: &Path, vendor: Option<&Path>) -> Option<Vec<Vec<u8>>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    // A link may lead back; pipes and devices are no part of a specification.
    let mut seen = BTreeSet::new();
    while let Some(folder) = folders.pop() {
        if !seen.insert(folder.canonicalize().ok()?) {
            continue;
        }
        let entries = fs::read_dir(&folder)
            .ok()?
            .map(|entry| Some(entry.ok()?.path()));
        let mut paths: Vec<_> = entries.collect::<Option<_>>()?;
        paths.sort();
        for path in paths {
            match fs::metadata(&path) {
                Ok(about) if about.is_dir() => folders.push(path),
                Ok(about) if about.is_file() => files.push(path),
                _ => {}
            }
        }
    }
    files.extend(vendor.map(Path::to_owned));
    files.sort();
    let mut parts = Vec::new();
    for path in files {
        let name = path.strip_prefix(folder).unwrap_or(&path);
        parts.push(name.display().to_string().into_bytes());
        parts.push(assets::contents(&path).ok()?);
    }
    Some(parts)
}

/// Finds the classes of the instructions and makes their dictionary. Readings that an
/// earlier run has found are not found again.
fn classify(intake: &Intake, prover: &Prover) -> (Dictionary, Report) {
    let place = Cached::of::<&str>(CANONICAL, &[]);
    let cached = place.read(CanonicalCache::read).unwrap_or_default();
    let found = classify_known(intake, prover, &cached, &Proofs::default());
    if let Some(text) = cached.text() {
        place.put(&text);
    }
    found
}

/// The same, where some candidates and proofs are known.
pub(crate) fn classify_known(
    intake: &Intake,
    prover: &Prover,
    cached: &CanonicalCache,
    proofs: &Proofs,
) -> (Dictionary, Report) {
    let bar = terminal::bar("classifying", intake.instructions.len());
    let progress = |step: &'static str, done: usize, all: usize| {
        bar.set_message(step);
        bar.set_length(all as u64);
        bar.set_position(done as u64);
    };
    let found = classify_cached(&intake.instructions, prover, cached, proofs, &progress);
    bar.finish_and_clear();
    let dictionary = autoir::build::build(&found, &intake.instructions);
    (dictionary, found.report)
}

/// What tells instructions apart: a digest of all that the dictionary is made from.
fn fingerprint(intake: &Intake) -> Digest {
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
    Digest::of(&all)
}
