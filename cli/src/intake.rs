//! Where instructions come from: our specifications, and a vendor's own file beside them;
//! and the dictionary of their classes.
//!
//! In: the folder of an instruction set and perhaps a vendor's file. Out: [`Intake`], the
//! [`Dictionary`] and the [`Stock`], which are kept below the user's cache folder. An instruction that is in
//! both is ours; what is wrong with some stops no other.

use crate::compile::read;
use crate::{assets, terminal};
use autoir::dictionary::Dictionary;
use semantics::diagnostic::{Diagnostic, Severity};
use semantics::instruction::{Form, Instruction};
use sha2::{Digest, Sha256};
use similarity::class::Report;
use smt::prover::Prover;
use spec_parser::errata::{self, Errata};
use spec_parser::intel::guide::{self, Counts};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use synth::candidates::machines;
use synth::stock::Stock;

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

/// All instructions of an instruction set that have a meaning.
///
/// # Errors
/// When the manifest, the errata or the vendor's file cannot be read.
pub(crate) fn instructions(
    folder: &Path,
    vendor: Option<&Path>,
) -> Result<Intake, Vec<Diagnostic>> {
    let specs = spec_parser::specs::load(&folder.join("manifest.yaml"))?;
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
        let loaded = guide::load(&source, &errata).map_err(|diagnostic| vec![diagnostic])?;
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
    /// The dictionary.
    pub(crate) dictionary: Dictionary,
    /// What was done to make it; nothing when it was kept from an earlier run.
    pub(crate) report: Option<Report>,
    /// What went wrong with the file that keeps it.
    pub(crate) told: Vec<Diagnostic>,
}

/// The dictionary of some instructions: the one that was kept for exactly these, or a new
/// one. A kept file that cannot be read is told of and made anew.
pub(crate) fn dictionary(intake: &Intake, prover: &Prover) -> Made {
    let path = assets::cache_folder().join(format!("{:016x}.dictionary", fingerprint(intake)));
    let mut told = Vec::new();
    if let Ok(source) = read(&path) {
        match Dictionary::read(&source) {
            Ok(dictionary) => {
                return Made {
                    dictionary,
                    report: None,
                    told,
                };
            }
            Err(wrong) => told.extend(wrong.into_iter().take(1).map(|diagnostic| Diagnostic {
                severity: Severity::Warning,
                ..diagnostic.with_note("the dictionary is made anew")
            })),
        }
    }
    let (dictionary, report) = classify(intake, prover);
    if let Err(error) = assets::write_whole(&path, dictionary.to_string().as_bytes()) {
        let message = format!("the dictionary is not kept: `{}`: {error}", path.display());
        told.push(Diagnostic::warning(message));
    }
    Made {
        dictionary,
        report: Some(report),
        told,
    }
}

/// The instructions of an instruction set in the form that is read quickly: what was kept
/// for exactly these specifications and this program, or made anew by way of the dictionary.
///
/// # Errors
/// When the manifest, the errata or the vendor's file cannot be read.
pub(crate) fn stock(
    folder: &Path,
    vendor: Option<&Path>,
    prover: &Prover,
) -> Result<(Stock, Vec<Diagnostic>), Vec<Diagnostic>> {
    let path = stock_name(folder, vendor).map(|name| assets::cache_folder().join(name));
    let kept = path.as_ref().and_then(|path| fs::read(path).ok());
    if let Some(stock) = kept.and_then(|text| Stock::read(String::from_utf8(text).ok()?)) {
        return Ok((stock, Vec::new()));
    }
    let intake = instructions(folder, vendor)?;
    let Made {
        dictionary, told, ..
    } = dictionary(&intake, prover);
    let stock = Stock::of(&machines(&dictionary));
    let diagnostics = [intake.diagnostics, told].concat();
    // What is wrong is told every time.
    if let (Some(path), true) = (path, diagnostics.is_empty()) {
        // It was possible to keep the dictionary; a copy that is not kept is no harm.
        let _ = assets::write_whole(&path, stock.text().as_bytes());
    }
    Ok((stock, diagnostics))
}

/// What tells this very program from others: its version, its size, when it was made.
fn program() -> Option<String> {
    let file = fs::metadata(std::env::current_exe().ok()?).ok()?;
    let (version, modified) = (env!("CARGO_PKG_VERSION"), file.modified().ok()?);
    Some(format!("{version} {} {modified:?}\n", file.len()))
}

/// The name of the file with the stock of these specifications, made by this very program;
/// nothing when one of them cannot be read.
fn stock_name(folder: &Path, vendor: Option<&Path>) -> Option<String> {
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
        let contents = fs::read(&path).ok()?;
        let name = path.strip_prefix(folder).unwrap_or(&path);
        hash.update(format!("{} {}\n", name.display(), contents.len()));
        hash.update(contents);
    }
    Some(format!("{:.32}.stock", format!("{:x}", hash.finalize())))
}

/// Finds the classes of the instructions and makes their dictionary.
fn classify(intake: &Intake, prover: &Prover) -> (Dictionary, Report) {
    let bar = terminal::bar("classifying", intake.instructions.len());
    let progress = |step: &'static str, done: usize, all: usize| {
        bar.set_message(step);
        bar.set_length(all as u64);
        bar.set_position(done as u64);
    };
    let found = similarity::classify::classify(&intake.instructions, prover, &progress);
    bar.finish_and_clear();
    let dictionary = autoir::build::build(&found, &intake.instructions);
    (dictionary, found.report)
}

/// A number that tells instructions apart: FNV-1a, 64 bits, over all that the dictionary
/// is made from, and by.
fn fingerprint(intake: &Intake) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |text: &str| {
        for byte in text.bytes().chain([0]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    add(&program().unwrap_or_default());
    for instruction in &intake.instructions {
        add(&instruction.name);
        add(&instruction.pseudocode);
        add(&instruction.features.join(" "));
        for output in &instruction.outputs {
            add(&output.c_type);
            add(&output.term.to_string());
        }
    }
    hash
}
