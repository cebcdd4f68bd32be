//! Families of instructions: our own specifications, expanded to one entry per intrinsic.
//!
//! In: a [`Manifest`] and the family files that it lists. Out: [`Member`]s, each a signature
//! and a body of pseudocode that remembers where it was written, ready for the dialect's
//! lowering; and diagnostics. The format is described in `isa-specs/README.md`. It gives no
//! meaning to the pseudocode.

mod expand;
pub(crate) mod expr;
pub(crate) mod file;
mod mask;
pub(crate) mod template;
#[cfg(test)]
mod tests;

pub use template::Mapped;

use crate::manifest::{Manifest, read};
use crate::signature::Signature;
use semantics::diagnostic::Diagnostic;
use semantics::span::{Source, Span};
use std::collections::BTreeMap;

/// One intrinsic of a family.
#[derive(Clone, Debug)]
pub struct Member {
    /// Its C function.
    pub signature: Signature,
    /// Its body, with the places of its characters in `source`.
    pub pseudocode: Mapped,
    /// Bits of the result that are left undefined: from (inclusive) and to (exclusive).
    pub undefined: Vec<(u32, u32)>,
    /// The name of the family.
    pub family: String,
    /// What the family does, in a sentence.
    pub doc: String,
    /// The family file.
    pub source: Source,
    /// The first line of the family in it.
    pub place: Span,
}

/// What a set of family files gives.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// The intrinsics, in the order of the files.
    pub members: Vec<Member>,
    /// Number of families that gave at least one of them.
    pub families: usize,
    /// What is wrong; the rest was loaded.
    pub diagnostics: Vec<Diagnostic>,
}

impl Member {
    /// A diagnostic on a range of the pseudocode, moved to where that was written.
    pub fn located(&self, mut diagnostic: Diagnostic, span: Span) -> Diagnostic {
        diagnostic.place = Some((self.source.clone(), self.pseudocode.locate(span)));
        // The note says which intrinsic, and of which family.
        let own = format!("in `{}`", self.signature.name);
        diagnostic.notes.retain(|note| *note != own);
        diagnostic.with_note(format!(
            "in `{}` of the family `{}`",
            self.signature.name, self.family
        ))
    }
}

/// Loads all the families of an instruction set.
pub fn load(manifest: &Manifest) -> Loaded {
    let mut loaded = Loaded {
        diagnostics: manifest.absent.clone(),
        ..Loaded::default()
    };
    let mut families = BTreeMap::new();
    let mut intrinsics = BTreeMap::new();
    for (n, name) in manifest.files.iter().enumerate() {
        // Told already, at its name in the manifest.
        if manifest.files[..n].contains(name) || !manifest.folder.join(name).exists() {
            continue;
        }
        let source = match read(&manifest.folder.join(name)) {
            Ok(source) => source,
            Err(diagnostic) => {
                loaded.diagnostics.push(diagnostic);
                continue;
            }
        };
        let (items, diagnostics) = file::items::<file::RawFamily>(&source);
        loaded.diagnostics.extend(diagnostics);
        for item in &items {
            if let Some(first) = families.insert(item.raw.family.clone(), item.place_name()) {
                loaded.diagnostics.push(
                    Diagnostic::error(format!("the family `{}` is there twice", item.raw.family))
                        .at(&source, item.place())
                        .with_note(format!("the first is at {first}"))
                        .hint("give one of them another name"),
                );
                continue;
            }
            let (members, diagnostics) = expand::family(item, manifest);
            loaded.diagnostics.extend(diagnostics);
            loaded.families += usize::from(!members.is_empty());
            add(members, &mut intrinsics, &mut loaded);
        }
    }
    loaded
}

/// Adds the members of one family, less those that are there already.
fn add(members: Vec<Member>, seen: &mut BTreeMap<String, String>, loaded: &mut Loaded) {
    let mut twice = Vec::new();
    for member in members {
        let name = member.signature.name.clone();
        if let Some(first) = seen.get(&name) {
            twice.push((member, first.clone()));
        } else {
            seen.insert(name, member.family.clone());
            loaded.members.push(member);
        }
    }
    if let Some((member, first)) = twice.first() {
        let mut diagnostic = Diagnostic::error(format!(
            "the intrinsic `{}` is there twice",
            member.signature.name
        ))
        .at(&member.source, member.place)
        .with_note(format!("the first is in the family `{first}`"))
        .hint("leave these rows out with `only`, or the form with `plain`");
        if twice.len() > 1 {
            diagnostic =
                diagnostic.with_note(format!("and {} more of this family", twice.len() - 1));
        }
        loaded.diagnostics.push(diagnostic);
    }
}
