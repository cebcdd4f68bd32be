//! The Python package as a wheel with the program in it.
//!
//! In: the workspace. Out: a file under `target/wheels` that `pip install` takes where there is no
//! Rust. The package is copied first, because building one leaves files beside its source.

use crate::program::finished;
use crate::solver::target_dir;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

/// Builds the program and the wheel; the path and its size in bytes.
///
/// # Errors
/// Why it cannot be made, in one line.
pub(crate) fn make(root: &Path) -> Result<(PathBuf, u64), String> {
    if let Err(reason) = crate::wasm::find_or_install() {
        eprintln!("guides that it makes will have no form to try instructions in: {reason}");
    }
    let build = [
        "build",
        "--release",
        "--package",
        "cli",
        "--bin",
        "isaforge",
    ];
    let status = Command::new("cargo").args(build).current_dir(root).status();
    if !status.is_ok_and(|s| s.success()) {
        return Err("cargo does not build the program".to_owned());
    }
    let target = target_dir(root);
    let folder = target.join("wheels");
    let source = folder.join("source");
    let unreadable = |error: io::Error| format!("{}: {error}", folder.display());
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(unreadable)?;
    }
    copy(&root.join("python/isaforge"), &source).map_err(unreadable)?;
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir"])
        .args([&folder, &source])
        .env("ISAFORGE_BINARY", target.join("release").join(program()));
    finished(&mut pip)?;
    fs::remove_dir_all(&source).map_err(unreadable)?;
    let mut files = fs::read_dir(&folder).map_err(unreadable)?.flatten();
    let made = files.find(|f| f.path().extension().is_some_and(|e| e == "whl"));
    let path = made.ok_or("pip makes no wheel")?.path();
    let size = fs::metadata(&path).map_err(unreadable)?.len();
    Ok((path, size))
}

fn program() -> &'static str {
    if cfg!(windows) {
        "isaforge.exe"
    } else {
        "isaforge"
    }
}

/// Copies the files of a package; what building left there stays behind.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name == "build" || name == "__pycache__" || name.ends_with(".egg-info") {
            continue;
        }
        if entry.path().is_dir() {
            copy(&entry.path(), &to.join(&name))?;
        } else {
            fs::copy(entry.path(), to.join(&name))?;
        }
    }
    Ok(())
}
