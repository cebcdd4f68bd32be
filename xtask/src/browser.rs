//! A Chromium for the tests of the guide: the one on the PATH, else Debian's package.
//!
//! In: nothing. Out: whether a program is there now, with the reason when it is not. Unlike the
//! other tools this one is installed into the system, because a browser needs a hundred libraries:
//! so only `cargo xtask browser` does it, and the tests skip where nobody has.

use crate::program::finished;
use std::process::Command;

/// Debian's package, and its program.
const PACKAGE: &str = "chromium";

/// Installs Chromium unless it is there.
///
/// # Errors
/// Why it cannot be had, in one line.
pub(crate) fn find_or_install() -> Result<String, String> {
    if let Some(version) = version() {
        return Ok(version);
    }
    eprintln!("no {PACKAGE} on the PATH: installing Debian's package");
    apt_get(&["update", "-qq"])?;
    apt_get(&["install", "-y", "-qq", "--no-install-recommends", PACKAGE])?;
    version().ok_or_else(|| format!("{PACKAGE} was installed, but does not run"))
}

/// What the program says of itself.
fn version() -> Option<String> {
    let output = Command::new(PACKAGE).arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}

fn apt_get(arguments: &[&str]) -> Result<(), String> {
    let mut command = Command::new("apt-get");
    let command = command
        .args(arguments)
        .env("DEBIAN_FRONTEND", "noninteractive");
    finished(command).map_err(|reason| format!("no {PACKAGE} on the PATH, and {reason}"))
}
