//! What compiling every kernel takes and gives: `cargo bench -p cli --bench kernels [-- NAME…]`.
//!
//! In: the kernels under `kernels/` and `examples/`, or those whose file has one of the names.
//! Out: one row for each file: windows by outcome, seconds cold (the dictionary is there, no
//! proof and no window is kept) and warm (everything is kept), what the costliest
//! windows of vectors became, their cost, and whether running the code agreed with the evaluator. It ends with the
//! geometric means. It judges no time; a disagreement or a failed compilation is an error.

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// What is timed in one file: seconds cold and warm.
type Seconds = (f64, f64);

fn main() -> ExitCode {
    let names: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| !a.starts_with('-'))
        .collect();
    let cache = tempfile::tempdir().expect("a folder for the caches");
    // Makes the dictionary.
    let first = Instant::now();
    compile(
        &cache,
        &Path::new(ROOT).join("examples/average.kernel"),
        &[],
    );
    println!(
        "the dictionary and a first kernel: {:.1} s",
        first.elapsed().as_secs_f64()
    );
    println!(
        "\n| kernel | windows | proved | scalar, left to C | fallbacks | cold s | warm ms | costliest windows of vectors (cost) | run |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let (mut times, mut wrong) = (Vec::new(), 0);
    for file in files(&names) {
        match measure(&cache, &file) {
            Ok((row, seconds)) => {
                println!("{row}");
                times.push(seconds);
            }
            Err(message) => {
                println!("| {} | {message} |", file.display());
                wrong += 1;
            }
        }
    }
    let mean = |pick: fn(&Seconds) -> f64| {
        let sum: f64 = times.iter().map(|t| pick(t).ln()).sum();
        (sum / times.len() as f64).exp()
    };
    let most = |pick: fn(&Seconds) -> f64| times.iter().map(pick).fold(0.0, f64::max);
    println!(
        "\n{} files; cold: geometric mean {:.2} s, most {:.2} s; warm: {:.0} ms, most {:.0} ms",
        times.len(),
        mean(|t| t.0),
        most(|t| t.0),
        1000.0 * mean(|t| t.1),
        1000.0 * most(|t| t.1),
    );
    ExitCode::from(u8::from(wrong > 0))
}

fn files(names: &[String]) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for folder in ["kernels", "examples"] {
        let entries = Path::new(ROOT)
            .join(folder)
            .read_dir()
            .expect("the folder is there");
        all.extend(entries.map(|e| e.expect("an entry").path()));
    }
    all.retain(|path| path.extension().is_some_and(|e| e == "kernel"));
    all.retain(|path| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        names.is_empty() || names.iter().any(|n| name.contains(n))
    });
    all.sort();
    all
}

/// The row of one file.
fn measure(cache: &tempfile::TempDir, file: &Path) -> Result<(String, Seconds), String> {
    forget(cache.path());
    let started = Instant::now();
    let report = report(cache, file, &[])?;
    let cold = started.elapsed().as_secs_f64();
    let mut warm: Vec<f64> = (0..5)
        .map(|_| {
            let started = Instant::now();
            compile(cache, file, &[]);
            started.elapsed().as_secs_f64()
        })
        .collect();
    warm.sort_by(f64::total_cmp);
    let run = self::report(cache, file, &["--run"])?;
    let mut outcomes: Vec<String> = list(&run["kernels"])
        .iter()
        .map(|k| k["run"]["outcome"].as_str().unwrap_or("not run").to_owned())
        .collect();
    outcomes.dedup();
    if outcomes.iter().any(|o| o != "agreed" && o != "skipped") {
        return Err(format!("running it: {}", outcomes.join(", ")));
    }
    let windows: Vec<&Value> = list(&report["kernels"])
        .iter()
        .flat_map(|k| list(&k["windows"]))
        .collect();
    let proved = windows.iter().filter(|w| !w["proof"].is_null()).count();
    let scalar = windows.iter().filter(|w| w["searched"] == false).count();
    let row = format!(
        "| {} | {} | {proved} | {scalar} | {} | {cold:.2} | {:.0} | {} | {} |",
        file.file_stem().unwrap_or_default().to_string_lossy(),
        windows.len(),
        windows.len() - proved - scalar,
        1000.0 * warm[2],
        found(&windows),
        outcomes.join(", "),
    );
    Ok((row, (cold, warm[2])))
}

/// The instructions of the costliest windows of vectors, each sequence once, at most two.
fn found(windows: &[&Value]) -> String {
    let mut reported: Vec<(f64, String)> = Vec::new();
    let vectors = windows
        .iter()
        .filter(|w| w["result"].as_str().is_some_and(|r| r.contains('x')));
    for window in vectors {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for name in list(&window["instructions"])
            .iter()
            .filter_map(Value::as_str)
        {
            *counts.entry(name).or_default() += 1;
        }
        let names: Vec<String> = counts
            .iter()
            .map(|(name, n)| match n {
                1 => (*name).to_owned(),
                n => format!("{n} {name}"),
            })
            .collect();
        let found = (window["cost"].as_f64().unwrap_or(0.0), names.join(" "));
        if !counts.is_empty() && !reported.contains(&found) {
            reported.push(found);
        }
    }
    reported.sort_by(|a, b| b.0.total_cmp(&a.0));
    reported.truncate(2);
    let texts: Vec<String> = reported
        .iter()
        .map(|(cost, names)| format!("{names} ({cost})"))
        .collect();
    texts.join("; ")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Removes proofs and windows; the dictionary stays.
fn forget(folder: &Path) {
    let Ok(entries) = folder.read_dir() else {
        return;
    };
    for path in entries.filter_map(|e| Some(e.ok()?.path())) {
        match path.file_name().and_then(|n| n.to_str()) {
            Some("proofs" | "windows") => std::fs::remove_dir_all(&path).expect("removed"),
            _ if path.is_dir() => forget(&path),
            _ => (),
        }
    }
}

fn report(cache: &tempfile::TempDir, file: &Path, more: &[&str]) -> Result<Value, String> {
    let text = compile(cache, file, &[&["--report", "json"], more].concat());
    serde_json::from_str(&text).map_err(|_| format!("it was not compiled: {text}"))
}

fn compile(cache: &tempfile::TempDir, file: &Path, more: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_isaforge"))
        .arg("compile")
        .arg(file)
        .args(more)
        .env("XDG_CACHE_HOME", cache.path())
        .output()
        .expect("the program starts");
    String::from_utf8_lossy(&output.stdout).into_owned()
}
