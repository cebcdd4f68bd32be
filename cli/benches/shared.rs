//! What a shared store saves: `cargo bench -p cli --bench shared [-- STORE]`.
//!
//! In: every kernel under `kernels/`, and a store, a new folder where none is named. Out: what
//! compiling all of them takes on a machine with an empty cache that fills the store, on another
//! that takes what it can from it, proved, and on that one again; seconds of processors, which do not
//! depend on what else runs, and counts. It judges no time; code that differs is an error.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{fs, io};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// What one machine took and made.
struct Took {
    seconds: f64,
    code: Vec<Vec<u8>>,
    /// What was asked of the store, taken, refused and left there.
    counts: [usize; 4],
}

fn main() -> ExitCode {
    let folder = tempfile::tempdir().expect("a folder");
    let own = folder.path().join("store").display().to_string();
    let store = std::env::args().skip(1).find(|a| !a.starts_with('-'));
    let store = store.unwrap_or(own);
    let kernels = kernels().expect("the kernels are there");
    let [first, second] = ["first", "second"].map(|name| folder.path().join(name));
    let cold = machine(&first, &store, &kernels);
    let shared = machine(&second, &store, &kernels);
    let warm = machine(&second, &store, &kernels);
    println!(
        "{} kernels; asked for, proved and taken, refused, left there",
        kernels.len()
    );
    for (name, took) in [("cold", &cold), ("second", &shared), ("again", &warm)] {
        let share = 100.0 * took.seconds / cold.seconds;
        let counts = took.counts;
        println!(
            "{name:>7}: {:7.2} s of processors, {share:5.1} %  {counts:?}",
            took.seconds
        );
    }
    let same = cold.code == shared.code && cold.code == warm.code;
    if !same {
        println!("the code differs");
    }
    ExitCode::from(u8::from(!same))
}

fn kernels() -> io::Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    for entry in fs::read_dir(Path::new(ROOT).join("kernels"))? {
        let path = entry?.path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        // Those that Halide's own versions of are compared with are the same twice.
        if name.ends_with(".kernel") && !name.ends_with("_corrected.kernel") {
            all.push(path);
        }
    }
    all.sort();
    Ok(all)
}

/// Compiles all kernels on a machine.
fn machine(cache: &Path, store: &str, kernels: &[PathBuf]) -> Took {
    let mut took = Took {
        seconds: 0.0,
        code: Vec::new(),
        counts: [0; 4],
    };
    let before = children();
    for kernel in kernels {
        let output = Command::new(env!("CARGO_BIN_EXE_isaforge"))
            .args(["compile", "-o", "-", "--store", store])
            .arg(kernel)
            .env("XDG_CACHE_HOME", cache)
            .output()
            .expect("the program starts");
        took.code.push(output.stdout);
        let reported = String::from_utf8_lossy(&output.stderr).into_owned();
        let line = reported
            .lines()
            .find(|line| line.starts_with("note: the shared store"));
        let numbers = line
            .and_then(|line| line.rsplit("`: ").next())
            .unwrap_or_default();
        let numbers = numbers.split(|c: char| !c.is_ascii_digit());
        let numbers = numbers.filter_map(|n| n.parse::<usize>().ok());
        took.counts
            .iter_mut()
            .zip(numbers)
            .for_each(|(sum, n)| *sum += n);
    }
    took.seconds = children() - before;
    took
}

/// What the children of this process that have ended have computed, in seconds.
fn children() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default();
    let ticks = fields.split_whitespace().skip(13).take(2);
    // A tick is 10 ms wherever Linux runs.
    ticks.filter_map(|t| t.parse::<f64>().ok()).sum::<f64>() / 100.0
}
