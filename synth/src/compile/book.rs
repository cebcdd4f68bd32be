//! What a store keeps of the windows of one kernel, and what others left there.
//!
//! In: windows, their shapes, a store. Out: [`Book`]: programs that were found before, those that
//! others left, each proved here; and what is found now goes into it. What the texts look like is
//! in [`crate::record`] and [`crate::shared`].

use super::{Options, Outcome, Shape, Solved, WindowReport};
use crate::estimate::WindowInput;
use crate::operations::TargetOperations;
use crate::record;
use crate::shared::{self, Claims};
use autoir::program::Program;
use lowering::window::Window;
use rayon::prelude::*;
use semantics::digest::Digests;
use smt::prover::Prover;
use std::collections::BTreeMap;
use std::time::Instant;
use store::object::{Key, Store};

/// What a store keeps of the windows of one kernel.
pub(super) struct Book<'a> {
    store: Option<&'a Store>,
    windows: &'a [&'a Window],
    /// The keys of windows.
    keys: BTreeMap<usize, Key>,
    found: BTreeMap<usize, Solved>,
}

impl<'a> Book<'a> {
    pub(super) fn open(
        store: Option<&'a Store>,
        operations: &TargetOperations,
        options: Options,
        windows: &'a [&'a Window],
        shapes: &[Shape],
        wanted: &[usize],
    ) -> Book<'a> {
        let mut book = Book {
            store,
            windows,
            keys: BTreeMap::new(),
            found: BTreeMap::new(),
        };
        let Some(store) = store else { return book };
        let setting = record::setting(operations, options);
        let mut digests = Digests::default();
        book.keys = wanted
            .iter()
            .map(|&k| (k, record::key(&setting, &shapes[k], &mut digests)))
            .collect();
        for (&k, key) in &book.keys {
            let inputs = input_names(windows[k]);
            // A text that is not understood is as good as none: the window is searched for.
            let read = |key: &Key| {
                let text = store.get(record::WINDOWS, key)?;
                record::read(&text, &windows[k].name, &inputs, operations)
            };
            let found = read(key).or_else(|| {
                let most = shapes[k].beside_most(operations.processor())?;
                let (program, report) = read(&record::key(&setting, &most, &mut digests))?;
                let waits = |p: &Program| operations.waits(p, &WindowInput::of(windows[k]));
                (!program.as_ref().is_some_and(waits)).then_some((program, report))
            });
            book.found.extend(found.map(|found| (k, found)));
        }
        book
    }

    /// What was found for a window before.
    pub(super) fn found(&self, k: usize) -> Option<Solved> {
        self.found.get(&k).cloned()
    }

    /// Keeps what was found now.
    pub(super) fn keep(&self, solved: &BTreeMap<usize, Solved>) {
        let Some(store) = self.store else { return };
        let new = solved.iter().filter(|(k, _)| !self.found.contains_key(*k));
        for (k, (program, report)) in new {
            let inputs = input_names(self.windows[*k]);
            let text = record::write(program.as_ref(), report, &inputs);
            if let (Some(key), Some(text)) = (self.keys.get(k), text) {
                store.put(record::WINDOWS, key, &text);
            }
        }
    }
}

/// What others have found.
impl Book<'_> {
    /// Programs that others left for some windows, each proved here.
    pub(super) fn taken(
        &self,
        open: &[usize],
        operations: &TargetOperations,
        prover: &Prover,
    ) -> BTreeMap<usize, Solved> {
        let Some(shared) = self.store.and_then(Store::shared) else {
            return BTreeMap::new();
        };
        let take = |&k: &usize| {
            let (window, key) = (self.windows[k], self.keys.get(&k)?);
            let start = Instant::now();
            let prove = |text: &str| shared::prove(text, window, operations, prover);
            let (program, evidence) = shared.proved(shared::PROGRAMS, key, prove)?;
            let mut report = WindowReport::scalar(window);
            report.outcome = Outcome::Proved(evidence);
            report.cost = operations.cost(&program, &WindowInput::of(window));
            report.time[1] = start.elapsed();
            report.cached = true;
            Some((k, (Some(program), report)))
        };
        open.par_iter().filter_map(take).collect()
    }

    /// Leaves for others what was found now and can be proved by its claims. A program whose cost
    /// another would compute differently stays here: what is made of it might differ.
    pub(super) fn share(
        &self,
        solved: &BTreeMap<usize, Solved>,
        claims: &BTreeMap<usize, Claims>,
        operations: &TargetOperations,
    ) {
        let Some(shared) = self.store.and_then(Store::shared) else {
            return;
        };
        for (k, claims) in claims {
            let (Some(key), (Some(program), report)) = (self.keys.get(k), &solved[k]) else {
                continue;
            };
            let window = self.windows[*k];
            if operations.cost(program, &WindowInput::of(window)) != report.cost {
                continue;
            }
            if let Some(text) = shared::write(program, claims, window) {
                shared.put(shared::PROGRAMS, key, &text);
            }
        }
    }
}

fn input_names(window: &Window) -> Vec<String> {
    window.inputs.iter().map(|i| i.name.clone()).collect()
}
