//! Rust's target for WebAssembly, which guides need to have instructions tried: the one that is installed, else
//! rustup's.
//!
//! In: nothing. Out: whether it is there now, with the reason when it is not. Without it a build warns
//! and the tests of trying are skipped.

use crate::downloads::Download;
use crate::program::finished;
use std::path::Path;
use std::process::Command;

/// The target.
const TARGET: &str = "wasm32-unknown-unknown";

/// What it takes to download, in megabytes.
const MEGABYTES: u32 = 20;

/// Installs the target unless it is there.
///
/// # Errors
/// Why it cannot be had, in one line.
pub(crate) fn find_or_install() -> Result<(), String> {
    if is_there()? {
        return Ok(());
    }
    eprintln!("no {TARGET} beside rustc: rustup installs it, {MEGABYTES} MB");
    finished(Command::new("rustup").args(["target", "add", TARGET]))
}

/// What [`find_or_install`] would download.
pub(crate) fn missing() -> Option<Download> {
    let there = is_there().unwrap_or(true);
    (!there).then(|| Download::new(format!("Rust's target {TARGET} (rustup)"), MEGABYTES))
}

fn is_there() -> Result<bool, String> {
    let sysroot = Command::new("rustc").args(["--print", "sysroot"]).output();
    let sysroot = sysroot.map_err(|error| format!("rustc does not run: {error}"))?;
    let sysroot = String::from_utf8_lossy(&sysroot.stdout).trim().to_owned();
    let library = format!("lib/rustlib/{TARGET}/lib");
    Ok(Path::new(&sysroot).join(library).exists())
}
