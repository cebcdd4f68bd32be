//! Faults planted in rewrites: who finds them. `cargo xtask mutants` runs all.
//!
//! Each fault is one process: it may make the rewrites go round in circles. Builds without debug
//! assertions have no faults to plant.

#![cfg(debug_assertions)]

use certify::many::Plan;
use certify::rules::{Row, Source, sources, table};
use certify::session::SolverProgram;
use semantics::fault::{Kind, plant, planted_times};
use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use test_support::need;
use toolchain::find;

/// Which fault this process has, when it has one: the number of its kind, and the rewrite.
const PLANTED: &str = "ISAFORGE_FAULT";
/// Every so many rewrites have faults planted; all, when it is 1.
const EVERY: &str = "ISAFORGE_FAULTS_EVERY";
/// Rewrites between those of the sample.
const SAMPLE: usize = 23;
/// The widths at which rewrites are asked about.
const WIDTHS: [u32; 2] = [3, 8];
/// After so long a process has gone round in circles.
const LONGEST: Duration = Duration::from_secs(100);

/// What became of a fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Found {
    /// The table of rewrites has it as wrong, or as used nowhere.
    ByTable,
    /// The process ended with an assertion that does not hold.
    ByAssertion,
    /// The rewrites do not end.
    Endless,
    /// Nobody found it.
    Missed,
    /// There was nothing to change.
    Nothing,
}

impl Found {
    const ALL: [(Found, &str); 4] = [
        (Found::ByTable, "found by the table of rewrites"),
        (Found::ByAssertion, "ended by an assertion"),
        (Found::Endless, "endless"),
        (Found::Missed, "missed"),
    ];
}

/// The rewrites of one source that have that name, and no others.
fn only(name: &str) -> Vec<Source> {
    let mut all = sources();
    for source in &mut all {
        source
            .rules
            .retain(|(rule, _, argument)| *rule == name && argument.is_none());
    }
    all.retain(|source| !source.rules.is_empty());
    all
}

/// The process that has a fault: its last line says what became of it.
#[test]
fn one_fault() {
    let Ok(planted) = std::env::var(PLANTED) else {
        return;
    };
    let (kind, rule) = planted.split_once(' ').expect("a number and a name");
    let kind: usize = kind.parse().expect("a number");
    let z3 = need!(find::z3());
    plant(rule, Kind::ALL[kind]);
    let program = SolverProgram {
        path: z3,
        ..SolverProgram::named("z3")
    };
    let plan = Plan {
        program,
        limit: Duration::from_secs(5),
        total: None,
        threads: 1,
        chains: false,
        conflicts: 0,
    };
    let rows: Vec<Row> = table(&only(rule), &WIDTHS, &plan, &|_, _| ());
    let caught = rows.iter().any(|row| row.wrong.is_some());
    let found = match (caught, planted_times()) {
        (true, _) => "wrong",
        (false, 0) => "nothing",
        (false, _) => "missed",
    };
    println!("fault: {found}");
}

/// A fault in a process of its own.
fn tried(rule: &str, kind: usize) -> Found {
    let this = std::env::current_exe().expect("a running test has a file");
    let mut child = Command::new(this)
        .args(["one_fault", "--exact", "--nocapture"])
        .env(PLANTED, format!("{kind} {rule}"))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the test starts once more");
    let begun = Instant::now();
    let status = loop {
        match child.try_wait().expect("the child is ours") {
            Some(status) => break status,
            None if begun.elapsed() > LONGEST => {
                let _ = child.kill();
                let _ = child.wait();
                return Found::Endless;
            }
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    let mut said = String::new();
    let output = child.stdout.as_mut().expect("it is a pipe");
    output
        .read_to_string(&mut said)
        .expect("the child writes text");
    match said.lines().find_map(|line| line.split_once("fault: ")) {
        Some((_, "wrong")) => Found::ByTable,
        Some((_, "missed")) => Found::Missed,
        Some(_) => Found::Nothing,
        None if status.success() => Found::Missed,
        None => Found::ByAssertion,
    }
}

/// Every rewrite with every kind of fault, or some of them; each has to be found.
#[test]
fn faults_in_rewrites_are_found() {
    let _ = need!(find::z3());
    let every = std::env::var(EVERY).ok().and_then(|text| text.parse().ok());
    let names = sources()
        .into_iter()
        .take(2)
        .flat_map(|source| source.rules);
    let names: Vec<&str> = names.map(|(name, ..)| name).collect();
    let all: Vec<(&str, usize)> = names
        .iter()
        .flat_map(|&name| (0..Kind::ALL.len()).map(move |kind| (name, kind)))
        .step_by(every.unwrap_or(SAMPLE))
        .collect();
    let (next, rows) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(&(rule, kind)) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let found = tried(rule, kind);
                    let mut rows = rows.lock().unwrap_or_else(PoisonError::into_inner);
                    rows.push((found, rule, Kind::ALL[kind]));
                }
            });
        }
    });
    let rows = rows.into_inner().unwrap_or_else(PoisonError::into_inner);
    for (found, what) in Found::ALL {
        let of: Vec<_> = rows.iter().filter(|row| row.0 == found).collect();
        println!("{:>5}  {what}", of.len());
        for (_, rule, kind) in of {
            println!("           {rule}: {kind:?}");
        }
    }
    let found = rows.iter().filter(|row| row.0 != Found::Nothing).count();
    assert!(found >= all.len() / 4, "{found} faults of {}", all.len());
    assert!(rows.iter().all(|row| row.0 != Found::Missed), "see above");
}
