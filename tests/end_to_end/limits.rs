//! What would take all memory is refused, by processes that may take little.
//!
//! The limits of each reader have tests beside it; here is what a person would type.

use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// The memory that a process may ask for, in kB: what it reserves and never uses is in it.
const ROOM: u64 = 3_000_000;
/// Far more than any of these needs, even where other work runs beside it.
const LONGEST: Duration = Duration::from_secs(120);

/// The binary in so much memory; whether it ended soon is looked at.
fn in_little_room(arguments: &[&str], folder: &Path) -> Output {
    let begun = Instant::now();
    let output = Command::new("sh")
        .args(["-c", &format!("ulimit -v {ROOM}; exec \"$0\" \"$@\"")])
        .arg(env!("CARGO_BIN_EXE_isaforge"))
        .args(arguments)
        .current_dir(folder)
        .env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"))
        .output()
        .expect("a shell starts");
    assert!(begun.elapsed() < LONGEST, "{arguments:?}");
    output
}

#[test]
fn files_without_end_are_refused_by_every_command_that_reads_one() {
    let folder = tempfile::tempdir().expect("there is room");
    let hole = std::fs::File::create(folder.path().join("hole")).expect("there is room");
    hole.set_len(1 << 36).expect("holes take no room");
    for file in ["/dev/zero", "hole"] {
        for arguments in [
            &["compile", file][..],
            &["compile", "--from-halide", file],
            &["map", file],
            &["schedule", file],
            &["sim", file, "--isa", "rvm"],
            &["lower", file, "--build", ".", "-o", "out"],
            &["verify", "--dictionary", file],
            &["build", "--vendor", file, "-o", "out"],
            &["build", "--merge", file, "-o", "out"],
        ] {
            let output = in_little_room(arguments, folder.path());
            let log = super::shown(&output);
            assert_eq!(output.status.code(), Some(1), "{arguments:?}: {log}");
            assert!(log.contains("more than 256 MiB"), "{arguments:?}: {log}");
        }
    }
}

#[test]
fn a_kernel_of_many_megabytes_is_refused_at_once() {
    let folder = tempfile::tempdir().expect("there is room");
    let statement = "  for x in 0..n { o[x] = a[x] + 1; }\n".repeat(1_300_000);
    let text = format!("kernel k(n: size, a: in i32[n], o: out i32[n]) {{\n{statement}}}\n");
    std::fs::write(folder.path().join("long.kernel"), &text).expect("there is room");
    let output = in_little_room(&["schedule", "long.kernel"], folder.path());
    let log = super::shown(&output);
    assert_eq!(output.status.code(), Some(1), "{log}");
    let bytes = format!("this text has {} bytes", text.len());
    assert!(log.contains(&bytes), "{log}");
}

/// It once took all memory to run a pipeline whose rows lie apart.
#[test]
fn pipelines_run_in_little_memory() {
    let texts = super::folder().join("end_to_end/halide");
    for name in ["scaled.stmt", "near.stmt"] {
        let arguments = ["compile", "--from-halide", name, "--run"];
        let output = in_little_room(&arguments, &texts);
        let log = super::shown(&output);
        assert!(matches!(output.status.code(), Some(0 | 3)), "{log}");
    }
}
