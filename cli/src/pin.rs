//! What an instruction set's own folder says its table of instructions is: a digest of it.
//!
//! In: a folder of specifications. Out: [`Pin`], when the folder has one and it is about just these
//! families. A table that strangers left in a shared store cannot be proved for less than it costs to
//! make it; so the specifications, which are believed anyway, name it, as a lock file names what it
//! locks, and the table of that digest is taken from wherever it lies. `isaforge build --pin` writes
//! pins; a test holds that those of this program are right.

use crate::{assets, compile};
use autoir::dictionary::Dictionary;
use autoir::instructions::InstructionTable;
use semantics::diagnostic::Diagnostic;
use std::path::Path;
use store::local::write_whole;
use store::object::{Key, Kind};

/// The file of a folder that has its pin.
const FILE: &str = "pinned.yaml";

/// Texts by digests of themselves.
const PINNED: Kind = Kind {
    name: "pinned",
    version: 1,
    most: None,
};

/// A pin.
pub(crate) struct Pin {
    /// The digest of the table of instructions.
    table: Key,
}

impl Pin {
    /// The pin of a folder; nothing when it has none, or its families are others by now.
    pub(crate) fn of(folder: &Path) -> Option<Pin> {
        let source = compile::read_file(&folder.join(FILE)).ok()?;
        let text = source.text();
        let value = |name: &str| {
            let mut lines = text.lines();
            let line = lines.find_map(|l| l.strip_prefix(name)?.strip_prefix(": "));
            Key::read(line?)
        };
        let table = value("table")?;
        (value("families")? == families(folder)?).then_some(Pin { table })
    }

    /// The table, when somebody left it in the shared store.
    pub(crate) fn shared_table(&self) -> Option<String> {
        let shared = assets::store().shared()?;
        shared.proved(PINNED, &self.table, |text| {
            match Key::of([text]) == self.table {
                true => Ok(text.to_owned()),
                false => Err("it is not the table that the specifications name".to_owned()),
            }
        })
    }

    /// Leaves a table for others, if it is the one.
    pub(crate) fn share_table(&self, text: &str) {
        if let Some(shared) = assets::store()
            .shared()
            .filter(|_| Key::of([text]) == self.table)
        {
            shared.put(PINNED, &self.table, text);
        }
    }
}

/// A digest of all that a table is made from: the manifest and its families.
fn families(folder: &Path) -> Option<Key> {
    let path = folder.join("manifest.yaml");
    let manifest = spec_parser::manifest::load(&path).ok()?;
    let files = manifest.files.iter().map(|name| folder.join(name));
    let mut parts = Vec::new();
    for path in std::iter::once(path).chain(files) {
        parts.push(assets::contents(&path).ok()?);
    }
    Some(Key::of(parts))
}

/// Writes the pin of a folder whose dictionary was made; the line that tells of it.
///
/// # Errors
/// When its manifest has no families, or the folder cannot be written.
pub(crate) fn write(folder: &Path, dictionary: &Dictionary) -> Result<String, Diagnostic> {
    let shown = folder.join(FILE).display().to_string();
    let Some(families) = families(folder) else {
        let message = format!(
            "`{}` has no families that could be pinned",
            folder.display()
        );
        return Err(Diagnostic::error(message).hint("leave `--pin` out"));
    };
    let table = Key::of([InstructionTable::of_dictionary(dictionary).text()]);
    let text = format!(
        "# The digest of the table of instructions that is made of these families, and one of these \
         families.\n# `isaforge build --pin` writes this file; with it a table is taken from a store \
         that others share.\nfamilies: {families}\ntable: {table}\n"
    );
    write_whole(&folder.join(FILE), text.as_bytes())
        .map_err(|error| Diagnostic::error(format!("cannot write `{shown}`: {error}")))?;
    Ok(format!("pinned in {shown}\n"))
}
