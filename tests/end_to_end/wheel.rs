//! The Python package as a wheel, in an environment of its own without Rust: README's example and a
//! pipeline of Halide are compiled there.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use test_support::skip;

/// Runs a command where there is no Rust; what it writes, or the last that it says before it
/// fails.
fn run<S: AsRef<OsStr>>(program: &Path, arguments: &[S]) -> Result<String, String> {
    let cache = env!("CARGO_TARGET_TMPDIR");
    let home = Path::new(cache).join("home");
    let run = Command::new(program)
        .args(arguments)
        .current_dir(super::root())
        .env_clear()
        .envs(std::env::vars().filter(|(name, _)| name.starts_with("PIP_")))
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", home)
        .env("XDG_CACHE_HOME", cache)
        .env("ISAFORGE_BINARY", env!("CARGO_BIN_EXE_isaforge"))
        .output();
    let run = run.map_err(|error| format!("{}: {error}", program.display()))?;
    if run.status.success() {
        return Ok(String::from_utf8_lossy(&run.stdout).into_owned());
    }
    let log = String::from_utf8_lossy(&run.stderr);
    let last = log.lines().rev().find(|l| l.starts_with("ERROR"));
    Err(last.unwrap_or(&log).to_owned())
}

/// Copies the files of a package; what building left there stays behind.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let left = name == "build" || name == "__pycache__" || name.ends_with(".egg-info");
        if entry.path().is_dir() && !left {
            copy(&entry.path(), &to.join(&name));
        } else if !left {
            fs::copy(entry.path(), to.join(&name)).expect("it can be copied");
        }
    }
}

/// Python with the wheel in it, or why there is none.
fn installed(folder: &Path) -> Result<PathBuf, String> {
    let source = folder.join("source");
    copy(&super::root().join("python/isaforge"), &source);
    let venv = folder.join("venv");
    let here = Path::new("python3");
    run(
        here,
        &[OsStr::new("-m"), OsStr::new("venv"), venv.as_os_str()],
    )?;
    let python = venv.join("bin/python");
    let (source, wheels) = (source.display().to_string(), folder.join("wheels"));
    let to = wheels.display().to_string();
    run(
        &python,
        &["-m", "pip", "wheel", "-q", "--no-deps", "-w", &to, &source],
    )?;
    let mut made = fs::read_dir(&wheels).expect("pip made it").flatten();
    let wheel = made.next().expect("it has the wheel").path();
    let size = fs::metadata(&wheel).map_or(0, |m| m.len());
    println!("{}: {size} bytes", wheel.display());
    let wheel = wheel.display().to_string();
    run(
        &python,
        &["-m", "pip", "install", "-q", &format!("{wheel}[halide]")],
    )
    .or_else(|_| run(&python, &["-m", "pip", "install", "-q", &wheel]))?;
    Ok(python)
}

#[test]
fn a_wheel_works_without_rust() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("wheel");
    let _ = fs::remove_dir_all(&folder);
    let python = match installed(&folder) {
        Ok(python) => python,
        Err(reason) => {
            // Without a package index nothing can be installed; a wrong package is a failure.
            assert!(
                !reason.contains("setup.py") && !reason.contains("SetupError"),
                "{reason}"
            );
            skip!("{reason}");
        }
    };
    let program = python.with_file_name("isaforge");
    let code = folder.join("matmul.c").display().to_string();
    let arguments = [
        "compile",
        "examples/matmul.kernel",
        "--target",
        "znver4",
        "-o",
        &code,
    ];
    let log = run(&program, &arguments).expect("README's example compiles");
    assert!(log.contains("proved: "), "{log}");
    assert!(fs::read_to_string(&code).is_ok_and(|c| c.contains("_mm512_")));
    let script = "tests/end_to_end/wheel.py";
    let statement = "tests/end_to_end/halide/near.stmt";
    let log = run(&python, &[script, statement]).expect("the script runs");
    println!("{log}");
    assert!(
        log.contains("halide: a pipeline") || log.contains("statement: "),
        "{log}"
    );
    let _ = fs::remove_dir_all(&folder);
}
