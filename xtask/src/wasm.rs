//! Rust's target for WebAssembly, which guides need to have instructions tried: the one that is installed, else
//! rustup's.
//!
//! In: nothing. Out: whether it is there now, with the reason when it is not. Without it a build warns
//! and the tests of trying are skipped.

use crate::program::finished;
use std::path::Path;
use std::process::Command;

/// The target.
const TARGET: &str = "wasm32-unknown-unknown";

/// Installs the target unless it is there.
///
/// # Errors
/// Why it cannot be had, in one line.
pub(crate) fn find_or_install() -> Result<(), String> {
    let sysroot = Command::new("rustc").args(["--print", "sysroot"]).output();
    let sysroot = sysroot.map_err(|error| format!("rustc does not run: {error}"))?;
    let sysroot = String::from_utf8_lossy(&sysroot.stdout).trim().to_owned();
    let library = format!("lib/rustlib/{TARGET}/lib");
    if Path::new(&sysroot).join(library).exists() {
        return Ok(());
    }
    eprintln!("no {TARGET} beside rustc: rustup installs it, 20 MB");
    finished(Command::new("rustup").args(["target", "add", TARGET]))
}
