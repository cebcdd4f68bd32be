//! What a run says to pipes, by its exit code and in place of files: interrupted, with nothing
//! checked, with `-` for a file, with brackets without end.

use super::{isaforge, root, run, written};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use test_support::skip_part;

/// The bit of `SIGINT` among the signals that a process handles.
const SIGINT: u64 = 1 << 1;

/// Whether a process has its own answer to Ctrl-C, as the system tells it.
fn answers(process: u32) -> Option<bool> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("SigCgt:"))?;
    let caught = u64::from_str_radix(line.trim(), 16).ok()?;
    Some(caught & SIGINT != 0)
}

#[test]
fn an_interrupted_run_says_so_to_a_pipe_without_escape_sequences() {
    if !Path::new("/proc/self/status").exists() {
        skip_part!("signals: there is no /proc here");
        return;
    }
    // A pipe that nobody writes: the run reads it until it is interrupted.
    let started = Command::new(env!("CARGO_BIN_EXE_isaforge"))
        .args(["compile", "/dev/stdin", "--target", "x86-64-v3"])
        .env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut process = started.expect("the binary starts");
    let _held = process.stdin.take();
    let begun = Instant::now();
    while answers(process.id()) == Some(false) && begun.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(10));
    }
    let id = process.id().to_string();
    let sent = Command::new("kill").args(["-INT", &id]).status();
    assert!(sent.expect("`kill` starts").success());
    let output = process.wait_with_output().expect("it ends");
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{text}");
    assert!(
        text.contains("interrupted; no result was written"),
        "{text}"
    );
    let is_plain = |bytes: &[u8]| !bytes.contains(&0x1b);
    assert!(
        is_plain(&output.stderr) && is_plain(&output.stdout),
        "{text:?}"
    );
}

/// HVX runs by an emulator and a compiler, and there are none in an empty path.
#[test]
fn a_check_of_nothing_says_so_and_ends_with_3() {
    let output = Command::new(env!("CARGO_BIN_EXE_isaforge"))
        .args(["check", "--isa", "hvx", "--filter", "Q6_Q_and_QQ"])
        .env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"))
        .env("PATH", "/nonexistent")
        .output()
        .expect("the binary starts");
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(text.contains("        0  agreed"), "{text}");
    assert!(text.contains("nothing was checked"), "{text}");
}

#[test]
fn a_dash_is_standard_output_and_never_a_file() {
    let at = tempfile::tempdir().expect("a folder");
    let kernel = root().join("examples/average.kernel").display().to_string();
    let run = |arguments: &[&str]| {
        let output = isaforge(arguments, at.path());
        assert!(!at.path().join("-").exists(), "{arguments:?}");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (
            text(&output.stdout),
            text(&output.stderr),
            output.status.code(),
        )
    };
    let (code, log, status) = run(&["compile", &kernel, "--target", "x86-64-v3", "-o", "-"]);
    assert_eq!(status, Some(0), "{log}");
    assert!(code.contains("#include <immintrin.h>"), "{code}");
    let (_, log, status) = run(&["compile", &kernel, "--target", "x86-64-v3", "--html", "-"]);
    assert_eq!(status, Some(1), "{log}");
    assert!(
        log.contains("cannot write `-`: standard output is not written here"),
        "{log}"
    );
    let product = root().join("examples/rvm/product.kernel");
    let product = product.display().to_string();
    let sizes = ["--size", "m=4", "--size", "n=4", "--size", "k=16"];
    let arguments = [&["map", &product, "--isa", "rvm", "-o", "-"][..], &sizes].concat();
    let (code, log, status) = run(&arguments);
    assert_eq!(status, Some(0), "{log}");
    assert!(!code.is_empty() && !code.contains("written:"), "{code}");
}

#[test]
fn brackets_of_a_dictionary_without_end_are_told() {
    for deep in [500, 200_000] {
        let text = [
            "isaforge-dictionary 1\n",
            &"(".repeat(deep),
            &")".repeat(deep),
        ]
        .concat();
        let path = written(&format!("deep_{deep}.autoir"), &text);
        let (out, log, status) = run(&["verify", "--dictionary", &path]);
        assert_eq!(status, Some(1), "{out}{log}");
        assert!(log.contains("lists may nest 400 deep"), "{log}");
    }
}
