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
use mutate::Token;
use semantics::random::Random;
use std::io::Read as _;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use std::{env, fs};

/// What one mutant may take of a processor.
const LONGEST: Duration = Duration::from_secs(20);
/// The most memory of a process that runs mutants, in MB.
const MEMORY: u64 = 500;
/// Mutants that one process runs, if it stays small.
const BATCH: u64 = 20_000;
/// What a process may hold between mutants, in MB, before another one goes on: terms stay for ever.
const HELD: u64 = 200;
/// The most bytes that a change adds: to most mutants, and to one of so many.
const SMALL: usize = 4_000;
const LARGE: (usize, usize) = (200_000, 12);
/// What of the time of the tests each kind may take.
const SHARE: Duration = Duration::from_millis(400);

/// The text of a mutant, and what it was made from.
fn mutant(format: &Format, seeds: &[Vec<Token>], seed: u64) -> String {
    let mut random = Random::new(seed ^ format.name.bytes().fold(0, |n, b| n * 31 + u64::from(b)));
    let mut tokens = random.pick::<Vec<Token>>(seeds).clone();
    let other = random.pick::<Vec<Token>>(seeds);
    let most = match random.index(LARGE.1) {
        0 => LARGE.0,
        _ => SMALL,
    };
    for _ in 0..1 + random.index(5) {
        mutate::change(&mut tokens, other, most, &mut random);
    }
    tokens.iter().map(|t| &**t).collect()
}

/// The tokens of the seeds of a format.
fn parts(seeds: &[String]) -> Vec<Vec<Token>> {
    seeds.iter().map(|seed| mutate::tokens(seed)).collect()
}

/// How long mutants are run.
enum Until {
    /// For so long.
    Time(Duration),
    /// As long as the process stays small; the number of the one that runs stands in a file.
    Full(fs::File),
}

/// Runs mutants of one kind one after the other; how many there were, and how many of them were
/// understood.
fn run(format: &Format, first: u64, count: u64, until: &Until) -> (u64, u64) {
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
    let seeds = parts(&seeds);
    let (mut done, mut understood) = (0, 0);
    let (start, mut held) = (Instant::now(), 0);
    for seed in first..first + count {
        match until {
            Until::Time(time) if done > 0 && start.elapsed() > *time => break,
            Until::Full(_) if held > HELD => break,
            _ => (),
        }
        let text = mutant(format, &seeds, seed);
        STARTED.store(now(), Ordering::Relaxed);
        if let Until::Full(place) = until {
            place
                .write_all_at(&seed.to_le_bytes(), 0)
                .expect("there is room");
        }
        understood += u64::from(reader(&text));
        done += 1;
        // The peak of a whole batch would not tell which mutant it was.
        if matches!(until, Until::Full(_)) {
            let peak;
            [held, peak] = memory();
            assert!(peak <= MEMORY, "takes {peak} MB, more than {MEMORY}");
        }
    }
    STARTED.store(0, Ordering::Relaxed);
    (done, understood)
}

/// When the mutant that runs was begun as [`now`] tells; 0 for none.
static STARTED: AtomicU64 = AtomicU64::new(0);

/// What this process has computed so far, in milliseconds, from 1: a machine that others use too
/// does not make a mutant slow.
fn now() -> u64 {
    let stat = system("/proc/self/stat");
    let fields = stat.rsplit(')').next().unwrap_or_default();
    let ticks = fields.split_whitespace().skip(11).take(2);
    // A tick is 10 ms wherever Linux runs.
    1 + 10 * ticks.filter_map(|t| t.parse::<u64>().ok()).sum::<u64>()
}

/// The memory of this process in MB: what it has, and the most that it had.
fn memory() -> [u64; 2] {
    let status = system("/proc/self/status");
    ["VmRSS:", "VmHWM:"].map(|row| {
        let found = status.lines().find_map(|l| l.strip_prefix(row));
        let found = found.and_then(|l| l.trim().strip_suffix(" kB")?.parse::<u64>().ok());
        found.unwrap_or(0) / 1024
    })
}

/// A text of the system's about this process, by one read, as mutants may take less time than two.
fn system(path: &str) -> String {
    let mut bytes = [0; 4096];
    let read = fs::File::open(path).and_then(|mut file| file.read(&mut bytes));
    String::from_utf8_lossy(&bytes[..read.unwrap_or(0)]).into_owned()
}

#[test]
fn mutated_files_are_understood_or_refused() {
    if env::var_os("ISAFORGE_FUZZ_SEED").is_some() || env::var_os(ONE).is_some() {
        return;
    }
    for format in FORMATS {
        let work = std::thread::Builder::new().stack_size(crate::STACK);
        let work = work.spawn(|| run(format, 0, 300, &Until::Time(SHARE)));
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
    let place = fs::File::create(words[3]).expect("there is room");
    std::thread::spawn(watch);
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        hook(info);
        std::process::abort();
    }));
    let work = std::thread::Builder::new().stack_size(crate::STACK);
    let work = work.spawn(move || run(format, first, count, &Until::Full(place)));
    let (done, understood) = work.expect("it starts").join().expect("it ends");
    println!("\nbatch {done} {understood} {}", memory()[1]);
}

/// Ends the process when a mutant takes long, or more memory than the system should be asked for.
fn watch() {
    loop {
        let started = STARTED.load(Ordering::Relaxed);
        if started > 0 && now() > started + LONGEST.as_millis() as u64 {
            eprintln!("takes longer than {} s", LONGEST.as_secs());
            std::process::abort();
        }
        let [held, _] = memory();
        if held > 2 * MEMORY {
            eprintln!("takes {held} MB and more");
            std::process::abort();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
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
        let mut all = Batch::default();
        while all.done < count && all.finds < 10 {
            let size = BATCH.min(count - all.done);
            let one = batch_of(format, seed + all.done, size, &folder.path().join("place"));
            all.done += one.done;
            all.understood += one.understood;
            all.peak = all.peak.max(one.peak);
            all.finds += one.finds;
        }
        println!(
            "{:<12} {} mutants, {} understood, {} finds, {} MB, {:.0} s",
            format.name,
            all.done,
            all.understood,
            all.finds,
            all.peak,
            start.elapsed().as_secs_f64()
        );
        finds += all.finds;
    }
    assert_eq!(
        finds, 0,
        "mutants that end the program, take long or take much memory"
    );
}

/// What became of mutants.
#[derive(Default)]
struct Batch {
    /// How many were run.
    done: u64,
    /// How many of them were understood.
    understood: u64,
    /// The most memory, in MB.
    peak: u64,
    /// How many ended the process.
    finds: u64,
}

/// Mutants in a process of its own: at least one, until one of them ends it.
fn batch_of(format: &Format, first: u64, count: u64, place: &Path) -> Batch {
    let program = env::current_exe().expect("the test has a path");
    let asked = format!("{}:{first}:{count}:{}", format.name, place.display());
    let output = Command::new(program)
        .args(["--exact", "fuzz::batch", "--nocapture"])
        .env(ONE, asked)
        .env_remove("ISAFORGE_FUZZ_SEED")
        // Threads that wait for work take more of a small machine than they give.
        .env("RAYON_NUM_THREADS", "1")
        .output()
        .expect("the test starts again");
    let reported = String::from_utf8_lossy(&output.stdout).into_owned();
    let numbers = reported.lines().find_map(|l| l.strip_prefix("batch "));
    let numbers: Vec<u64> = numbers
        .map(|l| l.split(' ').filter_map(|n| n.parse().ok()).collect())
        .unwrap_or_default();
    if let (true, &[done, understood, peak]) = (output.status.success(), numbers.as_slice()) {
        return Batch {
            done,
            understood,
            peak,
            finds: 0,
        };
    }
    let at = fs::read(place).ok().and_then(|bytes| bytes.try_into().ok());
    let at = at.map_or(first, u64::from_le_bytes);
    let why = String::from_utf8_lossy(&output.stderr).into_owned();
    let text = mutant(format, &parts(&(format.seeds)()), at);
    let kept = env::temp_dir().join(format!("isaforge-fuzz-{}-{at}", format.name));
    let _ = fs::write(&kept, text);
    println!(
        "FOUND in {} at {at} ({}), see {}:\n{why}",
        format.name,
        output.status,
        kept.display()
    );
    Batch {
        done: at - first + 1,
        finds: 1,
        ..Batch::default()
    }
}
