//! A Z3 program for the tests: the one on the PATH, else the one in a PyPI wheel.
//!
//! In: the workspace root. Out: the path of a program that answers `--version`, or the
//! reason why there is none. The wheel goes under the target directory and nowhere else.

use crate::downloads::Download;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The wheel, pinned so that every machine tests against the same solver.
const WHEEL: &str = "z3-solver==5.4.0.0";

/// What it takes to download, in megabytes.
const MEGABYTES: u32 = 39;

/// The environment variable that names a Z3 program for the tests.
pub(crate) const VARIABLE: &str = "ISAFORGE_Z3";

/// A working Z3: `$ISAFORGE_Z3`, `z3` on the PATH, the fetched one, or a fresh fetch.
///
/// # Errors
/// Why none can be had, in one line.
pub(crate) fn find_or_fetch(root: &Path) -> Result<PathBuf, String> {
    if let Some(named) = std::env::var_os(VARIABLE) {
        let named = PathBuf::from(named);
        return if works(&named) {
            Ok(named)
        } else {
            Err(format!(
                "${VARIABLE} names {}, which does not run",
                named.display()
            ))
        };
    }
    let on_path = PathBuf::from("z3");
    if works(&on_path) {
        return Ok(on_path);
    }
    let folder = target_dir(root).join("solver");
    let fetched = folder.join("bin").join("z3");
    if !works(&fetched) {
        fetch(&folder)?;
    }
    if works(&fetched) {
        Ok(fetched)
    } else {
        Err(format!(
            "{WHEEL} was installed, but {} does not run",
            fetched.display()
        ))
    }
}

/// What [`find_or_fetch`] would download, in megabytes.
pub(crate) fn missing(root: &Path) -> Option<Download> {
    let fetched = target_dir(root).join("solver").join("bin").join("z3");
    let there = std::env::var_os(VARIABLE).is_some() || works(Path::new("z3")) || works(&fetched);
    (!there).then(|| Download::new(format!("{WHEEL} (PyPI)"), MEGABYTES))
}

/// Where cargo builds.
pub(crate) fn target_dir(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from)
}

/// Whether the program is there and answers.
fn works(program: &Path) -> bool {
    Command::new(program)
        .arg("--version")
        .output()
        .is_ok_and(|output| output.status.success())
}

/// Installs the wheel into `folder`.
fn fetch(folder: &Path) -> Result<(), String> {
    eprintln!(
        "no z3 on the PATH: downloading {WHEEL}, {MEGABYTES} MB, into {}",
        folder.display()
    );
    let output = Command::new("python3")
        .args(["-m", "pip", "install", "--quiet", "--no-deps", "--upgrade"])
        .args([
            "--disable-pip-version-check",
            "--only-binary",
            ":all:",
            "--target",
        ])
        .arg(folder)
        .arg(WHEEL)
        .output()
        .map_err(|error| format!("no z3 on the PATH, and python3 does not run: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    let last = text.lines().rev().find(|line| !line.trim().is_empty());
    Err(format!(
        "no z3 on the PATH, and pip cannot install {WHEEL}: {}",
        last.unwrap_or("it gave no reason")
    ))
}
