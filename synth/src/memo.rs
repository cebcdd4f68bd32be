//! Values that are made when they are first asked for.
//!
//! In: keys, and how the value of one is made. Out: the value, the same for every thread. Nothing is
//! locked while one is made: two threads may both make it, and all are given the first.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Values by key.
pub(crate) struct Memo<K, V>(Mutex<HashMap<K, V>>);

impl<K, V> Default for Memo<K, V> {
    fn default() -> Memo<K, V> {
        Memo(Mutex::default())
    }
}

impl<K: Eq + Hash, V: Clone> Memo<K, V> {
    /// The value of a key.
    pub(crate) fn get_or(&self, key: K, make: impl FnOnce() -> V) -> V {
        if let Some(known) = self.values().get(&key) {
            return known.clone();
        }
        let made = make();
        self.values().entry(key).or_insert(made).clone()
    }

    /// The value of a key, where it has one.
    pub(crate) fn get_or_try(&self, key: K, make: impl FnOnce() -> Option<V>) -> Option<V> {
        if let Some(known) = self.values().get(&key) {
            return Some(known.clone());
        }
        let made = make()?;
        Some(self.values().entry(key).or_insert(made).clone())
    }

    fn values(&self) -> MutexGuard<'_, HashMap<K, V>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
