//! Random kernels on machines with tiles, as `isaforge map --schedule auto --run` takes them.
//!
//! In: [`generate`]. Out: test results, and counts by kind of fault ([`Fault`]). Some kernels are part
//! of the tests; `cargo xtask fuzz --machine rvm --seed S --count N` takes as many as are asked for and
//! prints for each fault the smallest sizes that show it. Time is told and fails no test.

#[path = "accelerators/generate.rs"]
mod generate;

use generate::Drawn;
use std::collections::BTreeMap;
use std::env;
use std::path::Path;
use std::time::Instant;

/// What is wrong with what was made of a kernel, the worst first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Fault {
    /// It computes something else than the evaluator.
    Wrong,
    /// The command did not end as it should.
    Panic,
    /// There is no program.
    Refused,
    /// It was not proved at its sizes.
    Open,
    /// A sum of products was left to the host.
    Host,
    /// Mapping took more than a second of a processor.
    Slow,
}

/// A fault and what was told of it.
type Finding = (Fault, String);

/// A kernel that was mapped and run.
struct Ran {
    faults: Vec<Finding>,
    seconds: f64,
    cycles: u64,
}

/// Seconds of a processor that mapping may take.
const MOST_SECONDS: f64 = 1.0;
/// Kernels of the test, by machine.
const TESTED: [(&str, u64); 3] = [("rvm", 12), ("amx", 4), ("gemmini", 4)];
/// What is multiplied and added in one of the test, and of those that are asked for, at most.
const MOST_WORK: [u64; 2] = [1 << 15, 1 << 21];
/// How many of them may be not proved at their sizes: long sums of which several are copied together.
const MOST_OPEN: usize = 1;
/// How many faults of a kind are told with their smallest sizes.
const SHRUNK: usize = 4;

fn reported(drawn: &Drawn) -> String {
    let sizes = drawn
        .sizes
        .iter()
        .map(|(name, n)| format!(" --size {name}={n}"));
    format!(
        "{}:{}\n  {}",
        drawn.kind,
        sizes.collect::<String>(),
        drawn.text
    )
}

/// Maps a kernel, and runs what came of it.
fn run(machine: &str, drawn: &Drawn) -> Ran {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("t.kernel"), &drawn.text).expect("a kernel");
    let sizes = drawn.sizes.iter().map(|(name, n)| format!("{name}={n}"));
    let sizes: Vec<String> = sizes.collect();
    let mut arguments = vec!["map", "t.kernel", "--isa", machine, "--schedule", "auto"];
    sizes
        .iter()
        .for_each(|size| arguments.extend(["--size", size]));
    arguments.extend(["-o", "t.c"]);
    let (start, before) = (Instant::now(), busy());
    let mapped = mapped(&arguments, folder.path());
    let seconds = match (before, busy()) {
        (Some(before), Some(after)) => after - before,
        _ => start.elapsed().as_secs_f64(),
    };
    arguments.extend(["--run", "1"]);
    let (code, text) = self::mapped(&arguments, folder.path());
    let mut faults = Vec::new();
    let why = |of: &str| {
        text.lines()
            .find(|l| l.contains(of))
            .unwrap_or(&text)
            .to_owned()
    };
    match code {
        Some(0 | 3) if text.contains("agrees") => {}
        Some(0 | 3 | 4) if text.contains("DIFFERS") => faults.push((Fault::Wrong, why("DIFFERS"))),
        Some(1 | 2) => faults.push((Fault::Refused, why("error"))),
        _ => faults.push((Fault::Panic, why("panicked"))),
    }
    if mapped.0 != code {
        faults.push((
            Fault::Panic,
            format!("{:?} without a run, {code:?} with one", mapped.0),
        ));
    }
    if text.contains("not proved") {
        faults.push((Fault::Open, why("not proved")));
    }
    if drawn.sums && text.contains("without tiles") {
        faults.push((Fault::Host, why("without tiles")));
    }
    if seconds > MOST_SECONDS {
        faults.push((Fault::Slow, format!("{seconds:.1} s")));
    }
    let cycles = text.split("cycles in the model").nth(1);
    let cycles = cycles.and_then(|rest| rest.split_whitespace().find_map(|w| w.parse().ok()));
    Ran {
        faults,
        seconds,
        cycles: cycles.unwrap_or(0),
    }
}

/// Seconds that processors worked for programs that were started here and have ended, where the system
/// tells: others may work beside them.
fn busy() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    let rest = text.rsplit_once(')')?.1;
    // Behind the name: time of what was waited for is the 14th and the 15th number, in hundredths.
    let numbers = rest.split_whitespace().skip(13).take(2);
    let ticks: Vec<u64> = numbers.filter_map(|n| n.parse().ok()).collect();
    (ticks.len() == 2).then(|| ticks.iter().sum::<u64>() as f64 / 100.0)
}

/// The exit code of the command, and all that it prints.
fn mapped(arguments: &[&str], folder: &Path) -> (Option<i32>, String) {
    let output = super::isaforge(arguments, folder);
    let text = [output.stdout, output.stderr].concat();
    (
        output.status.code(),
        String::from_utf8_lossy(&text).into_owned(),
    )
}

/// The smallest sizes of a kernel that still show a fault.
fn shrunk(machine: &str, drawn: &Drawn, fault: Fault) -> Drawn {
    let shows = |of: &Drawn| run(machine, of).faults.iter().any(|f| f.0 == fault);
    let mut least = drawn.clone();
    loop {
        let smaller = (0..least.sizes.len()).flat_map(|k| {
            let n = least.sizes[k].1;
            [1, n / 2, n * 3 / 4, n.saturating_sub(8), n - 1].map(|to| (k, to))
        });
        let mut smaller = smaller.filter(|&(k, to)| 0 < to && to < least.sizes[k].1);
        let found = smaller.find_map(|(k, to)| {
            let mut next = least.clone();
            next.sizes[k].1 = to;
            shows(&next).then_some(next)
        });
        match found {
            Some(next) => least = next,
            None => return least,
        }
    }
}

#[test]
fn random_kernels_are_mapped_proved_and_agree() {
    let mut open = Vec::new();
    for (machine, count) in TESTED {
        for seed in 1..=count {
            let drawn = generate::kernel(seed, machine, MOST_WORK[0]);
            let ran = run(machine, &drawn);
            for (fault, why) in ran.faults.iter().filter(|f| f.0 < Fault::Slow) {
                let shown = format!("{machine}, {seed}: {fault:?}: {why}: {}", reported(&drawn));
                assert_eq!(*fault, Fault::Open, "{shown}");
                open.push(shown);
            }
        }
    }
    assert!(open.len() <= MOST_OPEN, "{open:#?}");
}

/// The command: `cargo xtask fuzz --machine M`.
#[test]
fn many() {
    let Ok(machine) = env::var("ISAFORGE_FUZZ_MACHINE") else {
        return;
    };
    let number = |name: &str| env::var(name).ok()?.parse::<u64>().ok();
    let seed = number("ISAFORGE_FUZZ_KERNELS").unwrap_or(1);
    let count = number("ISAFORGE_FUZZ_COUNT").unwrap_or(400);
    let (start, mut kinds) = (Instant::now(), BTreeMap::<Fault, Vec<(u64, String)>>::new());
    let (mut agree, mut slowest) = (0, 0.0_f64);
    for seed in seed..seed + count {
        let drawn = generate::kernel(seed, &machine, MOST_WORK[1]);
        let ran = run(&machine, &drawn);
        agree += u64::from(!ran.faults.iter().any(|f| f.0 <= Fault::Refused));
        slowest = slowest.max(ran.seconds);
        for (fault, why) in ran.faults {
            println!(
                "{fault:?} in {seed} ({} cycles): {why}: {}",
                ran.cycles,
                reported(&drawn)
            );
            kinds.entry(fault).or_default().push((seed, why));
        }
    }
    for (fault, all) in &kinds {
        for (seed, why) in all.iter().take(SHRUNK) {
            let drawn = generate::kernel(*seed, &machine, MOST_WORK[1]);
            let least = shrunk(&machine, &drawn, *fault);
            println!(
                "the smallest {fault:?} of {seed} ({why}): {}",
                reported(&least)
            );
        }
    }
    let faults = kinds
        .iter()
        .map(|(fault, all)| format!(", {} {fault:?}", all.len()));
    let faults: String = faults.collect();
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{machine}: {agree} of {count} kernels agree{faults}; the slowest took {slowest:.1} s, all {seconds:.0} s"
    );
    assert!(
        !kinds.keys().any(|fault| *fault <= Fault::Refused),
        "faults"
    );
}
