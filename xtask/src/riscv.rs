//! A RISC-V toolchain for the tests: the one on the PATH, else Debian's packages unpacked.
//!
//! In: the workspace root. Out: the folder of its programs, or the reason why there is none.
//! The packages go under the target directory and nowhere else; nothing is installed.

use crate::downloads::Download;
use crate::program;
use crate::solver::target_dir;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Debian's packages.
const PACKAGES: [&str; 2] = ["binutils-riscv64-unknown-elf", "gcc-riscv64-unknown-elf"];

/// What they take to download, in megabytes.
const MEGABYTES: u32 = 40;

/// The environment variable that names the folder of the programs for the tests.
pub(crate) const VARIABLE: &str = "ISAFORGE_RISCV";

/// A working toolchain: `$ISAFORGE_RISCV`, the one on the PATH (then no folder is named), the
/// unpacked one, or a fresh download.
///
/// # Errors
/// Why none can be had, in one line.
pub(crate) fn find_or_fetch(root: &Path) -> Result<Option<PathBuf>, String> {
    if let Some(named) = std::env::var_os(VARIABLE) {
        let named = PathBuf::from(named);
        return match works(Some(&named)) {
            true => Ok(Some(named)),
            false => Err(format!(
                "${VARIABLE} names {}, which has none",
                named.display()
            )),
        };
    }
    if works(None) {
        return Ok(None);
    }
    let folder = target_dir(root).join("riscv");
    let programs = folder.join("usr").join("bin");
    if !works(Some(&programs)) {
        program::unpack(&folder, &PACKAGES, MEGABYTES)
            .map_err(|reason| format!("no RISC-V toolchain on the PATH, and {reason}"))?;
    }
    match works(Some(&programs)) {
        true => Ok(Some(programs)),
        false => Err(format!(
            "{} were unpacked, but do not run",
            PACKAGES.join(" and ")
        )),
    }
}

/// What [`find_or_fetch`] would download.
pub(crate) fn missing(root: &Path) -> Option<Download> {
    let fetched = target_dir(root).join("riscv").join("usr").join("bin");
    let there = std::env::var_os(VARIABLE).is_some() || works(None) || works(Some(&fetched));
    (!there).then(|| Download::new(format!("{} (Debian)", PACKAGES.join(", ")), MEGABYTES))
}

/// Whether assembler, disassembler and compiler answer.
fn works(folder: Option<&Path>) -> bool {
    ["as", "objdump", "gcc"].iter().all(|name| {
        let name = format!("riscv64-unknown-elf-{name}");
        let program = folder.map_or(PathBuf::from(&name), |f| f.join(&name));
        let output = Command::new(program).arg("--version").output();
        output.is_ok_and(|output| output.status.success())
    })
}
