//! Random kernels: compiled, proved, and run beside the evaluator where the machine can.
//!
//! In: [`generate`]. Out: test results, and counts by kind of fault ([`Fault`]). 100 kernels are
//! part of the tests; `cargo xtask fuzz --seed S --count N --target T` runs as many as are asked
//! for, prints what each fault is, and the smallest kernel ([`shrink`]) that shows it.

#[path = "fuzz/generate.rs"]
mod generate;
#[path = "fuzz/operators.rs"]
mod operators;
#[path = "fuzz/shrink.rs"]
mod shrink;

use generate::Loop;
use serde_json::Value;
use std::collections::BTreeMap;
use std::env;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use target::Targets;
use test_support::skip_part;

/// Kernels that are loops of one kernel, so that they share a process and a compiler's run.
const BATCH: usize = 10;
/// Runs at once.
const WORKERS: usize = 2;
/// How many faults of a kind are shrunk.
const SHRUNK: usize = 3;
/// Kernels of the test.
const TESTED: u64 = 100;
/// Of so many operators at types one is in the test.
const SHARE: usize = 26;

/// What is wrong with the code for a kernel, the worst first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Fault {
    /// It computes something else than the evaluator.
    Wrong,
    /// The compiler did not end as it should.
    Panic,
    /// A C compiler refuses the code.
    NotC,
    /// The kernel is refused.
    Refused,
    /// A window is computed element by element though it divides nothing.
    Scalar,
    /// The search for such a window ended at a limit.
    Limit,
}

/// A fault and what was told of it.
type Finding = (Fault, String);

/// What the kernels are compiled for.
struct Setting {
    target: String,
    /// Seconds that the search for one window may take.
    seconds: &'static str,
    /// The flags for a C compiler, when the code is only built.
    flags: Option<Vec<String>>,
    /// The C compiler, where there is one.
    compiler: Option<String>,
}

impl Setting {
    fn new(target: &str, seconds: &'static str) -> Setting {
        let folder = super::root().join("isa-specs/x86");
        let targets = Targets::load(&folder).expect("the targets are read");
        let features = |name| targets.find(name).expect("there is such a target").features;
        let runs = features(target).is_subset(&features("host"));
        let flags = || targets.flags(&features(target));
        let compiler = toolchain::c::compiler();
        if !runs && compiler.is_none() {
            skip_part!("C for {target} is not built: {}", toolchain::c::MISSING);
        }
        Setting {
            target: target.to_owned(),
            seconds,
            flags: (!runs).then(flags),
            compiler,
        }
    }

    /// What is wrong with each of some kernels, at their places.
    fn faults(&self, loops: &[Loop]) -> BTreeMap<usize, Finding> {
        match self.compiled(loops) {
            Ok(found) => found,
            Err((fault, why)) if loops.len() == 1 => BTreeMap::from([(0, (fault, why))]),
            Err(_) => {
                let alone = |at: usize| self.faults(&loops[at..=at]).remove(&0).map(|f| (at, f));
                (0..loops.len()).filter_map(alone).collect()
            }
        }
    }

    /// The windows that have no program, when nothing is wrong otherwise.
    fn compiled(&self, loops: &[Loop]) -> Result<BTreeMap<usize, Finding>, Finding> {
        let folder = tempfile::tempdir().expect("a folder");
        let text = generate::text(loops);
        std::fs::write(folder.path().join("random.kernel"), text).expect("a kernel");
        let mut arguments = vec!["compile", "random.kernel", "--target", &self.target];
        arguments.extend(["--report", "json", "--no-memo"]);
        arguments.extend(["--time-limit", self.seconds]);
        arguments.extend(match self.flags {
            None => &["--run"][..],
            Some(_) => &["-o", "random.c"],
        });
        let output = super::isaforge(&arguments, folder.path());
        let log = String::from_utf8_lossy(&output.stderr).into_owned();
        let report: Value = match serde_json::from_slice(&output.stdout) {
            Ok(report) => report,
            Err(_) => return Err((Fault::Panic, log)),
        };
        let Some(kernel) = report["kernels"].get(0) else {
            return Err((Fault::Refused, log));
        };
        match &self.flags {
            None => ran(&kernel["run"])?,
            Some(flags) => self.builds(folder.path(), flags)?,
        }
        let windows = kernel["windows"].as_array().into_iter().flatten();
        let found = windows.filter_map(|window| {
            let at = (0..loops.len()).find(|&at| window["line"] == generate::line(at))?;
            Some((at, scalar(window, &loops[at])?))
        });
        Ok(found.collect())
    }

    /// Whether the C compiler takes the code; [`Setting::new`] tells when there is none.
    fn builds(&self, folder: &Path, flags: &[String]) -> Result<(), Finding> {
        let Some(compiler) = &self.compiler else {
            return Ok(());
        };
        let first = ["-std=gnu11", "-O1", "-c", "random.c", "-o", "random.o"];
        let arguments = first.into_iter().chain(flags.iter().map(String::as_str));
        match toolchain::c::compile(compiler, arguments, folder) {
            Ok(_) => Ok(()),
            Err(toolchain::c::Failure::Refused(messages)) => Err((Fault::NotC, messages)),
            Err(toolchain::c::Failure::Absent(why)) => Err((Fault::Refused, why)),
        }
    }
}

/// What came of running the code.
fn ran(run: &Value) -> Result<(), Finding> {
    let text = |of: &Value| of.as_str().unwrap_or_default().to_owned();
    match run["outcome"].as_str() {
        Some("agreed") => Ok(()),
        Some("disagreed") if text(&run["what"]).contains("refuses the code") => {
            Err((Fault::NotC, text(&run["what"])))
        }
        Some("disagreed") => Err((Fault::Wrong, text(&run["what"]))),
        _ => Err((Fault::Refused, format!("not run: {}", text(&run["why"])))),
    }
}

/// What is wrong with a window that has no program, and no cost at which C is better.
fn scalar(window: &Value, of: &Loop) -> Option<Finding> {
    if window["searched"] != true || !window["cost"].is_null() || of.divides() {
        return None;
    }
    let result = window["result"].as_str().unwrap_or_default();
    let notes = window["notes"].as_array().into_iter().flatten();
    let notes: Vec<&str> = notes.filter_map(Value::as_str).collect();
    match window["limit"].as_str() {
        Some(limit) => Some((Fault::Limit, format!("{result}: {limit}"))),
        None => Some((Fault::Scalar, format!("{result}: {}", notes.join("; ")))),
    }
}

/// What is wrong with the kernels from a seed on, by their seeds.
fn faults(setting: &Setting, first: u64, count: u64) -> BTreeMap<u64, Finding> {
    let loops: Vec<Loop> = (first..first + count).map(Loop::random).collect();
    let found = faults_of(setting, &loops).into_iter();
    found
        .map(|(at, finding)| (first + at as u64, finding))
        .collect()
}

/// What is wrong with some kernels, by their places.
fn faults_of(setting: &Setting, loops: &[Loop]) -> BTreeMap<usize, Finding> {
    let (next, found) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(batch) = loops.chunks(BATCH).nth(number) else {
                return;
            };
            let wrong = setting.faults(batch).into_iter();
            let wrong = wrong.map(|(at, finding)| (number * BATCH + at, finding));
            found.lock().expect("no worker panics").extend(wrong);
        }
    };
    std::thread::scope(|scope| (0..WORKERS).for_each(|_| drop(scope.spawn(work))));
    found.into_inner().expect("no worker panics")
}

/// Whether faults of a kind end a run as failed.
fn counts(fault: Fault) -> bool {
    fault <= Fault::Refused
}

#[test]
fn random_kernels_agree_with_the_evaluator() {
    let setting = Setting::new("x86-64-v3", "2");
    let found = faults(&setting, 1, TESTED);
    let wrong = found.iter().filter(|(_, (fault, _))| counts(*fault));
    let wrong: Vec<String> = wrong
        .map(|(seed, (fault, why))| format!("{fault:?}: {why}\n{}", Loop::random(*seed).text()))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let vectors = TESTED as usize - found.len();
    assert!(vectors >= 50, "{vectors} of {TESTED} in vectors");
    skip_part!("a sample is run: more by `cargo xtask fuzz`");
}

/// What is wrong with the loops among those of every operator.
fn operators_with_faults(setting: &Setting, loops: &[Loop]) -> Vec<String> {
    let found = faults_of(setting, loops).into_iter();
    found
        .map(|(at, (fault, why))| format!("{fault:?}: {why}\n{}", loops[at].text()))
        .collect()
}

/// A share of all; the whole is `cargo xtask operators`.
#[test]
fn operators_of_the_language_are_vectors() {
    let setting = Setting::new("x86-64-v3", "20");
    let some: Vec<Loop> = operators::all().into_iter().step_by(SHARE).collect();
    let wrong = operators_with_faults(&setting, &some);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    skip_part!("one of {SHARE} is run: all by `cargo xtask operators`");
}

/// The command: `cargo xtask operators`.
#[test]
fn every_operator() {
    let Some(target) = env::var("ISAFORGE_OPERATORS").ok() else {
        return;
    };
    let (all, start) = (operators::all(), Instant::now());
    let wrong = operators_with_faults(&Setting::new(&target, "60"), &all);
    let seconds = start.elapsed().as_secs_f64();
    println!("{}", wrong.join("\n"));
    println!(
        "{target}: {} operators at types, {} with a fault, {seconds:.0} s",
        all.len(),
        wrong.len()
    );
    assert!(wrong.is_empty(), "faults");
}

/// The command: `cargo xtask fuzz`.
#[test]
fn many() {
    let number = |name: &str| env::var(name).ok()?.parse::<u64>().ok();
    let Some(seed) = number("ISAFORGE_FUZZ_KERNELS") else {
        return;
    };
    let count = number("ISAFORGE_FUZZ_COUNT").unwrap_or(2_000);
    let target = env::var("ISAFORGE_FUZZ_TARGET").unwrap_or("x86-64-v3".to_owned());
    let (setting, start) = (Setting::new(&target, "60"), Instant::now());
    let found = faults(&setting, seed, count);
    let seconds = start.elapsed().as_secs_f64();
    let mut kinds: BTreeMap<Fault, Vec<(u64, &str)>> = BTreeMap::new();
    for (seed, (fault, why)) in &found {
        kinds.entry(*fault).or_default().push((*seed, why));
    }
    for (fault, all) in &kinds {
        for (at, (seed, why)) in all.iter().enumerate() {
            let mut kernel = Loop::random(*seed);
            if at < SHRUNK {
                let same = |other: &Loop| {
                    let shown = setting.faults(std::slice::from_ref(other));
                    shown.get(&0).is_some_and(|(shown, _)| shown == fault)
                };
                kernel = shrink::shrink(&kernel, &mut { same });
            }
            println!("{fault:?} in {seed}: {why}\n{}", kernel.text());
        }
    }
    let log = kinds
        .iter()
        .map(|(fault, all)| format!(", {} {fault:?}", all.len()));
    let log: String = log.collect();
    println!("{target}: {count} kernels{log}, {seconds:.0} s");
    assert!(!kinds.keys().any(|fault| counts(*fault)), "faults");
}
