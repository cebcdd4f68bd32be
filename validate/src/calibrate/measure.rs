//! Compiling timing programs and running them one at a time.
//!
//! In: probes. Out: for each a [`Figure`], or none where it does not compile or run. Programs
//! are compiled side by side and run alone, so that they do not disturb each other.

use codegen_gen::timing_harness::{Dialect, Probe, emit};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use toolchain::{c, folder};

/// Probes in one program.
const BATCH: usize = 100;

/// What was measured.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Figure {
    /// The least of the repetitions, in cycles: whatever disturbs a run makes it longer.
    pub cycles: f64,
    /// By how much of it the median is larger.
    pub spread: f64,
}

impl Figure {
    /// One of so many equal parts.
    pub(super) fn divided(self, by: f64) -> Figure {
        Figure {
            cycles: self.cycles / by,
            ..self
        }
    }

    /// The figure of some repetitions: pairs of the ticks of a cycle and of a probe. Each
    /// has its own least value, for either may be disturbed.
    fn of(ticks: &[f64]) -> Option<Figure> {
        let sorted = |which: usize| {
            let mut all: Vec<f64> = ticks.iter().copied().skip(which).step_by(2).collect();
            all.sort_by(f64::total_cmp);
            all
        };
        let (cycle, probe) = (sorted(0), sorted(1));
        let median = probe.get(probe.len() / 2)?;
        Some(Figure {
            cycles: probe.first()? / cycle.first()?,
            spread: median / probe.first()? - 1.0,
        })
    }
}

/// Is told how far measuring is, from several threads.
pub trait Progress: Sync {
    /// So many steps of something begin.
    fn begin(&self, what: &'static str, steps: usize);
    /// Some of them are done.
    fn advance(&self, steps: usize);
    /// All of them are.
    fn end(&self);
}

/// Measures probes, in their order.
pub(super) fn run(
    (compiler, dialect): (&str, Dialect<'_>),
    what: &'static str,
    probes: &[Probe<'_>],
    progress: &dyn Progress,
) -> Vec<Option<Figure>> {
    progress.begin(what, probes.len());
    let alone = Mutex::new(());
    let figures = probes
        .par_chunks(BATCH)
        .flat_map_iter(|batch| {
            let figures = batch_figures((compiler, dialect), batch, &alone);
            progress.advance(batch.len());
            figures
        })
        .collect();
    progress.end();
    figures
}

/// The figures of one program; none at all where nothing can be compiled.
fn batch_figures(
    by: (&str, Dialect<'_>),
    batch: &[Probe<'_>],
    alone: &Mutex<()>,
) -> Vec<Option<Figure>> {
    let mut figures = vec![None; batch.len()];
    let Ok(folder) = folder::temporary() else {
        return figures;
    };
    let mut kept: Vec<usize> = (0..batch.len()).collect();
    loop {
        let probes: Vec<Probe<'_>> = kept.iter().map(|&k| batch[k].clone()).collect();
        let Some(refused) = compile(by, &probes, folder.path()) else {
            return figures;
        };
        if refused.is_empty() {
            break;
        }
        let mut index = 0..;
        kept.retain(|_| !index.next().is_some_and(|k| refused.contains(&k)));
    }
    let turn = alone.lock();
    let output = Command::new(folder.path().join("program"))
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    drop(turn);
    let Ok(output) = output else { return figures };
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let mut words = line.split_whitespace();
        let index = words.next().and_then(|w| w.parse::<usize>().ok());
        let Some(&place) = index.and_then(|k| kept.get(k)) else {
            continue;
        };
        let ticks: Vec<f64> = words.filter_map(|w| w.parse().ok()).collect();
        figures[place] = Figure::of(&ticks);
    }
    figures
}

/// Compiles; the probes that the compiler refuses, or none when nothing can be made of it.
fn compile(
    (compiler, dialect): (&str, Dialect<'_>),
    probes: &[Probe<'_>],
    folder: &Path,
) -> Option<BTreeSet<usize>> {
    let harness = emit(probes, dialect);
    fs::write(folder.join("timing.c"), &harness.text).ok()?;
    let first = ["-std=gnu11", "-O2", "-w", c::all_errors(compiler)];
    let arguments = first.into_iter().chain(["-o", "program", "timing.c"]);
    let messages = match c::compile(compiler, arguments, folder) {
        Ok(()) => return Some(BTreeSet::new()),
        Err(c::Failure::Absent(_)) => return None,
        Err(c::Failure::Refused(messages)) => messages,
    };
    let refused = c::complaints(&messages, "timing.c", &harness.lines);
    (!refused.is_empty()).then(|| refused.into_keys().collect())
}
