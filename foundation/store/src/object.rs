//! Texts by kind and key.
//!
//! In: a [`Kind`], a [`Key`], a text. Out: the text that some run left under that key. Each
//! object begins with a line that has the version of this layout, the kind with its version,
//! the key and a digest of the rest: a text under a wrong name is as damaged as one that is cut
//! off, and one of another version is not there. What goes wrong is told by
//! [`Store::problems`], a failure to write once for each store.

use crate::backend::{Backend, Folder, Memory};
use crate::shared::Shared;
use semantics::diagnostic::Diagnostic;
use sha2::{Digest, Sha256};
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

#[cfg(test)]
mod tests;

/// How every object of every version begins.
const MARK: &str = "isaforge store ";
/// The version of the layout.
const VERSION: u32 = 1;
/// The digits of a key.
const DIGITS: usize = 64;
/// What the name of a damaged object ends with.
const ASIDE: &str = ".set-aside";

/// A kind of texts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Kind {
    /// Its name: the folder.
    pub name: &'static str,
    /// Raised when what its texts say changes.
    pub version: u32,
    /// How many objects stay, the newest; all of them where there is no number.
    pub most: Option<usize>,
}

/// What a text is known by: a digest of all that it depends on.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Key(String);

impl Key {
    /// The digest of some texts; where one ends and the next begins makes a difference.
    pub fn of<P: AsRef<[u8]>>(parts: impl IntoIterator<Item = P>) -> Key {
        let mut hash = Sha256::new();
        for part in parts {
            let part = part.as_ref();
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        Key(format!("{:x}", hash.finalize()))
    }

    /// A key from its digits.
    pub fn read(digits: &str) -> Option<Key> {
        let digit = |b: u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
        let whole = digits.len() == DIGITS && digits.bytes().all(digit);
        whole.then(|| Key(digits.to_owned()))
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A store; clones are the same store.
#[derive(Clone)]
pub struct Store(Arc<Inner>);

struct Inner {
    backend: Box<dyn Backend>,
    shared: Option<Shared>,
    reported: Mutex<Problems>,
}

/// What went wrong.
#[derive(Default)]
struct Problems {
    problems: Vec<Diagnostic>,
    cannot_write: bool,
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "store at {}", self.0.backend.shown(""))
    }
}

impl PartialEq for Store {
    fn eq(&self, other: &Store) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Store {}

impl Store {
    /// The store below a folder, which need not be there.
    pub fn at(folder: &Path) -> Store {
        Store::with(Box::new(Folder::new(folder)), None)
    }

    /// A store that ends with the program.
    pub fn in_memory() -> Store {
        Store::with(Box::new(Memory::default()), None)
    }

    /// A store of this machine, and one beside it that others share.
    pub fn with(backend: Box<dyn Backend>, shared: Option<Shared>) -> Store {
        Store(Arc::new(Inner {
            backend,
            shared,
            reported: Mutex::default(),
        }))
    }

    /// The store that others share. Nothing moves between both by itself: what lies there is
    /// proved by whoever asks for it, and left here by whoever has proved it.
    pub fn shared(&self) -> Option<&Shared> {
        self.0.shared.as_ref()
    }

    /// The text that was left; what is damaged is set aside and told of.
    pub fn get(&self, kind: Kind, key: &Key) -> Option<String> {
        let name = name(kind, key);
        // What cannot be read is not there: it is made anew, and writing it tells why not.
        match opened(self.0.backend.read(&name).ok()??, kind, key) {
            Content::Text(text) => Some(text),
            Content::Other => None,
            Content::Damaged => {
                self.set_aside(&name);
                None
            }
        }
    }

    /// The text that was left, understood; what cannot be is damaged.
    pub fn read<T>(
        &self,
        kind: Kind,
        key: &Key,
        understood: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let read = understood(&self.get(kind, key)?);
        if read.is_none() {
            self.set_aside(&name(kind, key));
        }
        read
    }

    /// Leaves a text for later runs; whether it could be left.
    pub fn put(&self, kind: Kind, key: &Key, text: &str) -> bool {
        let name = name(kind, key);
        let object = closed(kind, key, text);
        match self.0.backend.write(&name, object.as_bytes()) {
            Ok(()) => {
                self.trim(kind);
                true
            }
            Err(error) => {
                self.cannot_write(&name, &error);
                false
            }
        }
    }

    /// What went wrong since this was asked last.
    pub fn problems(&self) -> Vec<Diagnostic> {
        let mut problems = std::mem::take(&mut self.reported().problems);
        problems.extend(self.shared().into_iter().flat_map(Shared::problems));
        problems
    }

    /// The keys of the objects of a kind, the oldest first.
    pub(crate) fn keys(&self, kind: Kind) -> Vec<Key> {
        // What cannot be listed is not there.
        let names = self.0.backend.list(kind.name).unwrap_or_default();
        let key = |name: String| Key::read(name.rsplit('/').next()?);
        names.into_iter().filter_map(key).collect()
    }

    /// Removes an object.
    pub(crate) fn remove(&self, kind: Kind, key: &Key) {
        // What stays is read again, which does no harm.
        let _ = self.0.backend.remove(&name(kind, key));
    }

    fn set_aside(&self, name: &str) {
        let backend = &self.0.backend;
        let aside = format!("{name}{ASIDE}");
        let note = match backend.rename(name, &aside) {
            Ok(()) => format!(
                "it is now `{}`; what it held is made anew",
                backend.shown(&aside)
            ),
            Err(error) => format!("it cannot be set aside: {error}"),
        };
        let message = format!("`{}` is damaged", backend.shown(name));
        let problem = Diagnostic::warning(message).with_note(note);
        self.reported().problems.push(problem);
    }

    /// Lets go of the oldest objects of a kind that has too many.
    fn trim(&self, kind: Kind) {
        let Some(most) = kind.most else { return };
        let keys = self.keys(kind);
        for key in keys.iter().rev().skip(most) {
            self.remove(kind, key);
        }
    }

    fn cannot_write(&self, name: &str, error: &std::io::Error) {
        let mut reported = self.reported();
        if std::mem::replace(&mut reported.cannot_write, true) {
            return;
        }
        let message = format!("`{}` cannot be kept: {error}", self.0.backend.shown(name));
        let hint = "set XDG_CACHE_HOME to a folder of your own that can be written";
        reported
            .problems
            .push(Diagnostic::warning(message).hint(hint));
    }

    fn reported(&self) -> std::sync::MutexGuard<'_, Problems> {
        self.0
            .reported
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// The name of an object.
fn name(kind: Kind, key: &Key) -> String {
    format!("{}/{key}", kind.name)
}

/// What the first line of every object of a kind begins with.
fn mark(kind: Kind) -> String {
    format!("{MARK}{VERSION} {} {} ", kind.name, kind.version)
}

/// The first line up to the digest.
fn head(kind: Kind, key: &Key) -> String {
    format!("{}{key} ", mark(kind))
}

/// The bytes of an object.
pub(crate) fn closed(kind: Kind, key: &Key, text: &str) -> String {
    [&head(kind, key), &digest(text), "\n", text].concat()
}

/// What the bytes of an object are.
pub(crate) enum Content {
    Text(String),
    /// Of another version.
    Other,
    Damaged,
}

pub(crate) fn opened(bytes: Vec<u8>, kind: Kind, key: &Key) -> Content {
    let Ok(mut object) = String::from_utf8(bytes) else {
        return Content::Damaged;
    };
    if object.starts_with(MARK) && !object.starts_with(&mark(kind)) {
        return Content::Other;
    }
    let body = object.strip_prefix(&head(kind, key)).and_then(|rest| {
        let (reported, body) = rest.split_once('\n')?;
        (digest(body) == reported).then_some(body)
    });
    match body.map(str::len) {
        Some(length) => {
            object.drain(..object.len() - length);
            Content::Text(object)
        }
        None => Content::Damaged,
    }
}

/// The digest of a text.
fn digest(text: &str) -> String {
    format!("{:x}", Sha256::digest(text.as_bytes()))
}
