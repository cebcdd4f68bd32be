//! What runs leave for later runs: files below the user's cache folder.
//!
//! In: a name, what the text depends on besides its name. Out: the text that an earlier run
//! of this very program left there, or nothing. The first line of a file names the program
//! and has a digest of the rest. What another program left is replaced without a word; a
//! damaged file is told of, set aside and made anew. What is in a file is none of this
//! module's business.

use crate::assets;
use semantics::diagnostic::Diagnostic;
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};

#[cfg(test)]
mod tests;

/// The first line up to the program.
const VERSION: &str = "isaforge kept 1";

/// What tells this very program from others: its version, its size, when it was made.
pub(crate) fn program() -> Option<String> {
    let file = fs::metadata(std::env::current_exe().ok()?).ok()?;
    let (version, modified) = (env!("CARGO_PKG_VERSION"), file.modified().ok()?);
    Some(format!("{version} {} {modified:?}\n", file.len()))
}

/// A file of the cache folder.
pub(crate) struct Kept {
    path: PathBuf,
    /// The first line up to the digest; nothing when the program is not known.
    mark: Option<String>,
}

impl Kept {
    /// The file of that name.
    pub(crate) fn named(name: &str) -> Kept {
        Kept::at(&assets::cache_folder().join(name), program().as_deref())
    }

    fn at(path: &Path, program: Option<&str>) -> Kept {
        let mark = |program: &str| format!("{VERSION} {:.32} ", hex(program));
        Kept {
            path: path.to_owned(),
            mark: program.map(mark),
        }
    }

    /// What was left, understood; what cannot be is set aside and told of.
    pub(crate) fn read<T>(
        &self,
        understood: impl FnOnce(&str) -> Option<T>,
        told: &mut Vec<Diagnostic>,
    ) -> Option<T> {
        let text = fs::read(&self.path).ok()?;
        let mark = self.mark.as_ref()?;
        if text.starts_with(VERSION.as_bytes()) && !text.starts_with(mark.as_bytes()) {
            return None;
        }
        let whole = String::from_utf8(text).ok().and_then(|text| {
            let (digest, body) = text.strip_prefix(mark)?.split_once('\n')?;
            (hex(body) == digest).then(|| understood(body))?
        });
        if whole.is_none() {
            told.push(self.set_aside());
        }
        whole
    }

    /// Leaves a text for later runs.
    pub(crate) fn write(&self, body: &str, told: &mut Vec<Diagnostic>) {
        let Some(mark) = &self.mark else { return };
        let text = [mark, hex(body).as_str(), "\n", body].concat();
        if let Err(error) = assets::write_whole(&self.path, text.as_bytes()) {
            let message = format!("`{}` cannot be kept: {error}", self.path.display());
            told.push(
                Diagnostic::warning(message)
                    .hint("set XDG_CACHE_HOME to a folder that can be written"),
            );
        }
    }

    fn set_aside(&self) -> Diagnostic {
        let mut aside = self.path.clone().into_os_string();
        aside.push(".set-aside");
        let message = format!("`{}` is damaged", self.path.display());
        let note = match fs::rename(&self.path, &aside) {
            Ok(()) => format!("it is now `{}`; what it held is made anew", aside.display()),
            Err(error) => format!("it cannot be set aside: {error}"),
        };
        Diagnostic::warning(message).with_note(note)
    }
}

/// The digest of a text.
fn hex(text: &str) -> String {
    format!("{:x}", Sha256::digest(text.as_bytes()))
}
