//! Many small answers, some hundred to an object.
//!
//! In: questions as keys, answers of one line. Out: the answers, in this run or a later one.
//! Answers that are new are gathered and written as an object whose key is the digest of its
//! text; none is ever written to again, so that threads and processes need no lock. What took
//! long to find is written soon: a process that is ended loses the answers of its last second.
//! When there are many objects, one takes the place of all. Objects are read when the first
//! answer is looked for.

use crate::object::{Key, Kind, Store};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

#[cfg(test)]
mod tests;

/// New answers that are written together; fewer at the end, and of those that come slowly.
const GATHERED: usize = 256;
/// What comes later than this after the last was written does not wait.
const PATIENCE: Duration = Duration::from_secs(1);
/// Objects that become one.
const MANY: usize = 16;

/// The answers of a kind.
#[derive(Debug)]
pub struct Pack {
    store: Store,
    kind: Kind,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// All answers; nothing until one is looked for.
    known: Option<BTreeMap<Key, String>>,
    /// The objects that they are from.
    objects: Vec<Key>,
    /// Those that no object has.
    fresh: BTreeMap<Key, String>,
    /// When some were written last.
    written: Instant,
}

impl Pack {
    /// The answers of a kind in a store.
    pub fn open(store: Store, kind: Kind) -> Pack {
        Pack {
            store,
            kind,
            state: Mutex::new(State {
                known: None,
                objects: Vec::new(),
                fresh: BTreeMap::new(),
                written: Instant::now(),
            }),
        }
    }

    /// The answer to a question, if there is one.
    pub fn get(&self, question: &Key) -> Option<String> {
        let mut state = self.state();
        self.loaded(&mut state).get(question).cloned()
    }

    /// Keeps an answer. What is no line cannot be kept.
    pub fn put(&self, question: &Key, answer: &str) {
        if answer.contains('\n') {
            return;
        }
        let mut state = self.state();
        let known = self.loaded(&mut state);
        if known.insert(question.clone(), answer.to_owned()).is_some() {
            return;
        }
        state.fresh.insert(question.clone(), answer.to_owned());
        if state.fresh.len() >= GATHERED || state.written.elapsed() > PATIENCE {
            self.write(&mut state);
        }
    }

    /// Writes what is new.
    pub fn flush(&self) {
        self.write(&mut self.state());
    }

    fn loaded<'s>(&self, state: &'s mut State) -> &'s mut BTreeMap<Key, String> {
        let State { known, objects, .. } = state;
        known.get_or_insert_with(|| {
            let mut known = BTreeMap::new();
            for key in self.store.keys(self.kind) {
                if let Some(answers) = self.store.read(self.kind, &key, lines) {
                    known.extend(answers);
                    objects.push(key);
                }
            }
            known
        })
    }

    fn write(&self, state: &mut State) {
        if state.fresh.is_empty() {
            return;
        }
        let fresh = std::mem::take(&mut state.fresh);
        state.written = Instant::now();
        let replaced = match state.objects.len() >= MANY {
            true => std::mem::take(&mut state.objects),
            false => Vec::new(),
        };
        let written = match (&state.known, replaced.is_empty()) {
            (Some(all), false) => all,
            _ => &fresh,
        };
        let each = written.iter().map(|(q, a)| format!("{q} {a}\n"));
        let text: String = each.collect();
        let key = Key::of([&text]);
        if self.store.put(self.kind, &key, &text) {
            for old in replaced.iter().filter(|old| **old != key) {
                self.store.remove(self.kind, old);
            }
            state.objects.push(key);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Pack {
    fn drop(&mut self) {
        self.flush();
    }
}

/// The answers of an object.
fn lines(text: &str) -> Option<Vec<(Key, String)>> {
    let pair = |line: &str| {
        let (question, answer) = line.split_once(' ')?;
        Some((Key::read(question)?, answer.to_owned()))
    };
    text.lines().map(pair).collect()
}
