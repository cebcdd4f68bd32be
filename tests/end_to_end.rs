//! Runs of the binary as a user starts it.
//!
//! Each module is one kind of run. Expected texts are files beside the inputs; after a
//! change on purpose, write them anew with `UPDATE_EXPECT=1` and read the difference.

#[path = "end_to_end/accelerators.rs"]
mod accelerators;
#[path = "end_to_end/amx.rs"]
mod amx;
#[path = "end_to_end/arm.rs"]
mod arm;
#[path = "end_to_end/auto.rs"]
mod auto;
#[path = "end_to_end/back_ends.rs"]
mod back_ends;
#[path = "end_to_end/bad_input.rs"]
mod bad_input;
#[path = "end_to_end/browser.rs"]
mod browser;
#[path = "end_to_end/chains.rs"]
mod chains;
#[path = "end_to_end/choices.rs"]
mod choices;
#[path = "end_to_end/compile.rs"]
mod compile;
#[path = "end_to_end/compositions.rs"]
mod compositions;
#[path = "end_to_end/contrast.rs"]
mod contrast;
#[path = "end_to_end/costs.rs"]
mod costs;
#[path = "end_to_end/dictionary.rs"]
mod dictionary;
#[path = "end_to_end/exo.rs"]
mod exo;
#[path = "end_to_end/faults.rs"]
mod faults;
#[path = "end_to_end/fuzz.rs"]
mod fuzz;
#[path = "end_to_end/guide.rs"]
mod guide;
#[path = "end_to_end/halide.rs"]
mod halide;
#[path = "end_to_end/hostile.rs"]
mod hostile;
#[path = "end_to_end/hvx.rs"]
mod hvx;
#[path = "end_to_end/interleaved.rs"]
mod interleaved;
#[path = "end_to_end/limits.rs"]
mod limits;
#[path = "end_to_end/lower.rs"]
mod lower;
#[path = "end_to_end/machine.rs"]
mod machine;
#[path = "end_to_end/modules.rs"]
mod modules;
#[path = "end_to_end/own.rs"]
mod own;
#[path = "end_to_end/page.rs"]
mod page;
#[path = "end_to_end/partial.rs"]
mod partial;
#[path = "end_to_end/programs.rs"]
mod programs;
#[path = "end_to_end/store.rs"]
mod store;
#[path = "end_to_end/streams.rs"]
mod streams;
#[path = "end_to_end/trial.rs"]
mod trial;
#[path = "end_to_end/tutorials.rs"]
mod tutorials;
#[path = "end_to_end/wheel.rs"]
mod wheel;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use test_support::skip_part;

/// The folder of these tests.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests")
}

/// The binary, started in a folder, with a cache folder of the tests' own.
fn isaforge(arguments: &[&str], folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_isaforge"))
        .args(arguments)
        .current_dir(folder)
        .env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"))
        .output()
        .expect("the binary starts")
}

/// The root of the project.
fn root() -> PathBuf {
    folder().join("..")
}

/// What a command writes to standard output and to standard error, and its exit code.
fn run(arguments: &[&str]) -> (String, String, Option<i32>) {
    let output = isaforge(arguments, &root());
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        text(&output.stdout),
        text(&output.stderr),
        output.status.code(),
    )
}

/// A file of the tests' own.
fn written(name: &str, text: &str) -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).expect("the test's folder can be written");
    path.display().to_string()
}

/// Records the runs that a report says were skipped.
fn tell_skipped_runs(name: &str, report: &str) {
    for text in report.split("\"outcome\": \"skipped\"").skip(1) {
        let why = text
            .lines()
            .find_map(|l| l.trim().strip_prefix("\"why\": "));
        skip_part!("{name} is not run: {}", why.unwrap_or_default());
    }
}

/// All that a run shows: exit code, standard output, standard error. Times and the number
/// of instructions, which differ from run to run or change often, are left out.
fn shown(output: &Output) -> String {
    let code = output
        .status
        .code()
        .map_or("none".to_owned(), |code| code.to_string());
    let text = |bytes: &[u8]| {
        String::from_utf8_lossy(bytes)
            .lines()
            .map(steady)
            .collect::<String>()
    };
    format!(
        "exit code {code}\n--- standard output\n{}--- standard error\n{}",
        text(&output.stdout),
        text(&output.stderr)
    )
}

/// A line without what differs from run to run.
fn steady(line: &str) -> String {
    let line = match (line.rfind(" ("), line.strip_suffix(" s)")) {
        (Some(at), Some(_)) => &line[..at],
        _ => line,
    };
    match line.strip_suffix(" instructions to choose from") {
        Some(head) => format!("{}:\n", head.split(':').next().unwrap_or_default()),
        None => format!("{line}\n"),
    }
}
