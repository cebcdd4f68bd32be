//! A store that several people share, and that nobody has to trust.
//!
//! In: a [`Place`] where strangers may write, a kind, a key. Out: what somebody left there, as a
//! claim: [`Shared::proved`] hands it to its reader's own proof and to nobody else, so that what
//! was not proved is not there. An object is `KIND-VERSION/DI/DIGEST`, in the form that
//! [`crate::object`] gives it. What is wrong is dropped, named and counted; a place that fails once
//! is told of once and left alone for the rest of the run. What a text means is its owner's to know.

use crate::object::{Content, Key, Kind, closed, opened};
use semantics::diagnostic::Diagnostic;
use std::fmt;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

#[cfg(test)]
mod tests;

/// The most bytes of an object that are read: a stranger may have left any number.
const MOST_BYTES: u64 = 64 << 20;

/// Where objects lie that others wrote. Each of its calls comes back within seconds.
pub trait Place: Send + Sync {
    /// The bytes of an object, at most `most`; none when there is no such object.
    ///
    /// # Errors
    /// It cannot be told whether there is one, or it cannot be read, or has more bytes.
    fn read(&self, name: &str, most: u64) -> io::Result<Option<Vec<u8>>>;

    /// Writes an object, so that nobody ever reads half of it.
    ///
    /// # Errors
    /// It cannot be written.
    fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()>;

    /// What a person calls the place; no secret is in it.
    fn shown(&self) -> String;
}

/// What was done with a shared store.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Objects that were asked for.
    pub asked: usize,
    /// Those that were proved and taken.
    pub taken: usize,
    /// Those that were wrong and dropped.
    pub refused: usize,
    /// Objects that were left there.
    pub left: usize,
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counts {
            asked,
            taken,
            refused,
            left,
        } = self;
        write!(
            f,
            "{asked} asked for, {taken} proved and taken, {refused} refused, {left} left there"
        )
    }
}

/// A store that others write to.
pub struct Shared {
    place: Box<dyn Place>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    counts: Counts,
    problems: Vec<Diagnostic>,
    /// It failed: nothing is asked of it any more.
    gone: bool,
    /// Nothing can be written to it.
    read_only: bool,
}

impl State {
    fn warn(&mut self, message: String, note: &str) {
        let problem = Diagnostic::warning(message).with_note(note);
        self.problems.push(problem);
    }
}

impl Shared {
    /// The store at a place.
    pub fn new(place: Box<dyn Place>) -> Shared {
        Shared {
            place,
            state: Mutex::default(),
        }
    }

    /// What somebody left, when the reader proves it.
    ///
    /// `prove` gets a text that anybody may have written; what it returns is its own, and why not
    /// is told.
    pub fn proved<T>(
        &self,
        kind: Kind,
        key: &Key,
        prove: impl FnOnce(&str) -> Result<T, String>,
    ) -> Option<T> {
        let name = name(kind, key);
        let bytes = self.fetch(&name)?;
        let found = match opened(bytes, kind, key) {
            Content::Text(text) => prove(&text),
            Content::Other => Err("it is of another version".to_owned()),
            Content::Damaged => Err("it is damaged".to_owned()),
        };
        let mut state = self.state();
        match found {
            Ok(found) => {
                state.counts.taken += 1;
                Some(found)
            }
            Err(why) => {
                state.counts.refused += 1;
                let message = format!("`{name}` of {} is wrong: {why}", self.place.shown());
                let note = "it is not used; what it should hold is made anew";
                state.warn(message, note);
                None
            }
        }
    }

    /// Leaves a text for others.
    pub fn put(&self, kind: Kind, key: &Key, text: &str) {
        if self.state().gone || self.state().read_only {
            return;
        }
        let written = self
            .place
            .write(&name(kind, key), closed(kind, key, text).as_bytes());
        let mut state = self.state();
        match written {
            Ok(()) => state.counts.left += 1,
            Err(error) => self.cannot_write(&mut state, &error),
        }
    }

    /// What was done with it.
    pub fn counts(&self) -> Counts {
        self.state().counts
    }

    /// What a person calls it.
    pub fn shown(&self) -> String {
        self.place.shown()
    }

    /// What went wrong since this was asked last.
    pub fn problems(&self) -> Vec<Diagnostic> {
        std::mem::take(&mut self.state().problems)
    }

    fn fetch(&self, name: &str) -> Option<Vec<u8>> {
        {
            let mut state = self.state();
            if state.gone {
                return None;
            }
            state.counts.asked += 1;
        }
        match self.place.read(name, MOST_BYTES) {
            Ok(found) => found,
            Err(error) => {
                self.is_gone(&mut self.state(), &error);
                None
            }
        }
    }

    fn is_gone(&self, state: &mut State, error: &io::Error) {
        if std::mem::replace(&mut state.gone, true) {
            return;
        }
        let message = format!("{} does not serve: {error}", self.place.shown());
        let note = "this run goes on without it; nothing that was found is lost";
        state.warn(message, note);
    }

    /// What may only be read goes on being read.
    fn cannot_write(&self, state: &mut State, error: &io::Error) {
        use io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem, Unsupported};
        if !matches!(
            error.kind(),
            PermissionDenied | ReadOnlyFilesystem | Unsupported
        ) {
            return self.is_gone(state, error);
        }
        if std::mem::replace(&mut state.read_only, true) {
            return;
        }
        let message = format!("{} cannot be written: {error}", self.place.shown());
        let note = "what is found stays on this machine; the store is read all the same";
        state.warn(message, note);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "shared store at {}", self.place.shown())
    }
}

/// The name of an object. Programs that write another version of a kind do not get in each other's
/// way, and no folder has all objects.
pub fn name(kind: Kind, key: &Key) -> String {
    let key = key.to_string();
    format!("{}-{}/{}/{key}", kind.name, kind.version, &key[..2])
}
