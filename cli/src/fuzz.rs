//! Mutated files of every kind that is read: each is understood or refused.
//!
//! In: seeds ([`formats`]) and changes of them ([`mutate`]). Out: test results. No mutant may
//! end the program, take long or take much memory. A few mutants of each kind are part of the
//! tests; `cargo xtask fuzz-input --seed S --count N` runs N of each, in processes of their own,
//! so that an abort is told with the mutant that caused it.

mod formats;
mod mutate;
mod shared;

use formats::{FORMATS, Format};
use semantics::random::Random;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use std::{env, fs};

/// What one mutant may take of a processor.
const LONGEST: Duration = Duration::from_secs(20);
/// The most memory of a process that runs mutants, in MB.
const MEMORY: u64 = 500;
/// Mutants that one process runs.
const BATCH: u64 = 500;
/// What of the time of the tests each kind may take.
const SHARE: Duration = Duration::from_millis(400);

/// The text of a mutant, and what it was made from.
fn mutant(format: &Format, seeds: &[String], seed: u64) -> String {
    let mut random = Random::new(seed ^ format.name.bytes().fold(0, |n, b| n * 31 + u64::from(b)));
    let mut tokens = mutate::tokens(random.pick::<String>(seeds));
    let other = mutate::tokens(random.pick::<String>(seeds));
    for _ in 0..1 + random.index(5) {
        mutate::change(&mut tokens, &other, &mut random);
    }
    tokens.concat()
}

/// Runs mutants of one kind one after the other, for so long when that is given; how many there
/// were, and how many of them were understood.
fn run(format: &Format, first: u64, count: u64, time: Option<Duration>) -> (u64, u64) {
    let folder = tempfile::tempdir().expect("there is room");
    let seeds = (format.seeds)();
    let mut reader = (format.reader)(folder.path());
    for seed in &seeds {
        assert!(
            reader(seed),
            "a seed of {} is not understood:\n{seed}",
            format.name
        );
    }
    let (mut done, mut understood) = (0, 0);
    let end = time.map(|time| Instant::now() + time);
    for seed in first..first + count {
        if done > 0 && end.is_some_and(|end| Instant::now() > end) {
            break;
        }
        let text = mutant(format, &seeds, seed);
        STARTED.store(now(), Ordering::Relaxed);
        RUNNING.store(seed, Ordering::Relaxed);
        understood += u64::from(reader(&text));
        done += 1;
        // The peak of a whole batch would not tell which mutant it was.
        assert!(
            time.is_some() || peak() <= MEMORY,
            "takes {} MB, more than {MEMORY}",
            peak()
        );
    }
    STARTED.store(0, Ordering::Relaxed);
    (done, understood)
}

/// The mutant that runs, and when it was begun as [`now`] tells; 0 for none.
static RUNNING: AtomicU64 = AtomicU64::new(0);
static STARTED: AtomicU64 = AtomicU64::new(0);

/// What this process has computed so far, in milliseconds, from 1: a machine that others use too
/// does not make a mutant slow.
fn now() -> u64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default();
    let ticks = fields.split_whitespace().skip(11).take(2);
    // A tick is 10 ms wherever Linux runs.
    1 + 10 * ticks.filter_map(|t| t.parse::<u64>().ok()).sum::<u64>()
}

/// The most memory that this process has had, in MB.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    let peak = peak.and_then(|l| l.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    peak.unwrap_or(0) / 1024
}

#[test]
fn mutated_files_are_understood_or_refused() {
    if env::var_os("ISAFORGE_FUZZ_SEED").is_some() || env::var_os(ONE).is_some() {
        return;
    }
    for format in FORMATS {
        let work = std::thread::Builder::new().stack_size(crate::STACK);
        let work = work.spawn(|| run(format, 0, 300, Some(SHARE)));
        let (done, _) = work.expect("it starts").join().expect("no mutant panics");
        assert!(done > 0, "{}: no mutant was run", format.name);
    }
}

/// Says which mutants a process of its own is to run: kind, first, count, a file for the number
/// of the one that runs.
const ONE: &str = "ISAFORGE_FUZZ_BATCH";

/// Not a test by itself: a process that [`many`] starts.
#[test]
fn batch() {
    let Ok(asked) = env::var(ONE) else { return };
    let words: Vec<&str> = asked.splitn(4, ':').collect();
    let format = FORMATS.iter().find(|f| f.name == words[0]).expect("a kind");
    let (first, count) = (
        words[1].parse().expect("a number"),
        words[2].parse().expect("a number"),
    );
    let place = PathBuf::from(words[3]);
    let told = place.clone();
    std::thread::spawn(move || {
        loop {
            let _ = fs::write(&told, RUNNING.load(Ordering::Relaxed).to_string());
            let started = STARTED.load(Ordering::Relaxed);
            if started > 0 && now() > started + LONGEST.as_millis() as u64 {
                eprintln!("takes longer than {} s", LONGEST.as_secs());
                std::process::abort();
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    });
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let _ = fs::write(&place, RUNNING.load(Ordering::Relaxed).to_string());
        hook(info);
        std::process::abort();
    }));
    let work = std::thread::Builder::new().stack_size(crate::STACK);
    let work = work.spawn(move || run(format, first, count, None));
    let (done, understood) = work.expect("it starts").join().expect("it ends");
    println!("\nbatch {done} {understood} {}", peak());
}

/// The command: `cargo xtask fuzz-input`.
#[test]
fn many() {
    let number = |name: &str| env::var(name).ok()?.parse::<u64>().ok();
    let Some(seed) = number("ISAFORGE_FUZZ_SEED") else {
        return;
    };
    let count = number("ISAFORGE_FUZZ_COUNT").unwrap_or(100_000);
    let only = env::var("ISAFORGE_FUZZ_FORMAT").ok();
    let folder = tempfile::tempdir().expect("there is room");
    let mut finds = 0;
    for format in FORMATS
        .iter()
        .filter(|f| only.as_deref().is_none_or(|o| o == f.name))
    {
        let start = Instant::now();
        let (mut at, mut understood, mut peak, mut found) = (0, 0, 0, 0);
        while at < count {
            let size = BATCH.min(count - at);
            let (done, good, most) = one(format, seed + at, size, &folder.path().join("place"));
            (understood, peak) = (understood + good, peak.max(most));
            found += u64::from(done < size);
            at += if done < size { done + 1 } else { size };
            if found >= 10 {
                break;
            }
        }
        println!(
            "{:<12} {at} mutants, {understood} understood, {found} finds, {peak} MB, {:.0} s",
            format.name,
            start.elapsed().as_secs_f64()
        );
        finds += found;
    }
    assert_eq!(
        finds, 0,
        "mutants that end the program, take long or take much memory"
    );
}

/// A batch in a process of its own: how many mutants were run to their end, how many were
/// understood, and the most memory in MB.
fn one(format: &Format, first: u64, count: u64, place: &Path) -> (u64, u64, u64) {
    let program = env::current_exe().expect("the test has a path");
    let asked = format!("{}:{first}:{count}:{}", format.name, place.display());
    let output = Command::new(program)
        .args(["--exact", "fuzz::batch", "--nocapture"])
        .env(ONE, asked)
        .env_remove("ISAFORGE_FUZZ_SEED")
        .output()
        .expect("the test starts again");
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let numbers = told.lines().find_map(|l| l.strip_prefix("batch "));
    let numbers: Vec<u64> = numbers
        .map(|l| l.split(' ').filter_map(|n| n.parse().ok()).collect())
        .unwrap_or_default();
    if let (true, [done, understood, peak]) = (output.status.success(), numbers.as_slice()) {
        return (*done, *understood, *peak);
    }
    let at: u64 = fs::read_to_string(place)
        .ok()
        .and_then(|t| t.parse().ok())
        .unwrap_or(first);
    let why = String::from_utf8_lossy(&output.stderr).into_owned();
    let text = mutant(format, &(format.seeds)(), at);
    let kept = env::temp_dir().join(format!("isaforge-fuzz-{}-{at}", format.name));
    let _ = fs::write(&kept, text);
    println!(
        "FOUND in {} at {at} ({}), see {}:\n{why}",
        format.name,
        output.status,
        kept.display()
    );
    (at.saturating_sub(first), 0, 0)
}
