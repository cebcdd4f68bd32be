//! A RISC-V toolchain for the tests: the one on the PATH, else Debian's packages unpacked.
//!
//! In: the workspace root. Out: the folder of its programs, or the reason why there is none.
//! The packages go under the target directory and nowhere else; nothing is installed.

use crate::solver::target_dir;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Debian's packages.
const PACKAGES: [&str; 2] = ["binutils-riscv64-unknown-elf", "gcc-riscv64-unknown-elf"];

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
        fetch(&folder)?;
    }
    match works(Some(&programs)) {
        true => Ok(Some(programs)),
        false => Err(format!(
            "{} were unpacked, but do not run",
            PACKAGES.join(" and ")
        )),
    }
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

/// Unpacks the packages into `folder`.
fn fetch(folder: &Path) -> Result<(), String> {
    eprintln!(
        "no RISC-V toolchain on the PATH: unpacking {} into {}",
        PACKAGES.join(" and "),
        folder.display()
    );
    std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    run(folder, "apt-get", &["download", PACKAGES[0], PACKAGES[1]])?;
    let files = std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    for file in files.filter_map(Result::ok) {
        let path = file.path();
        if path.extension().is_some_and(|e| e == "deb") {
            run(
                folder,
                "dpkg-deb",
                &["-x", &path.display().to_string(), "."],
            )?;
        }
    }
    Ok(())
}

fn run(folder: &Path, program: &str, arguments: &[&str]) -> Result<(), String> {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .output();
    let output = output
        .map_err(|e| format!("no RISC-V toolchain on the PATH, and {program} does not run: {e}"))?;
    let text = String::from_utf8_lossy(&output.stderr);
    let last = text.lines().rev().find(|line| !line.trim().is_empty());
    match output.status.success() {
        true => Ok(()),
        false => Err(format!(
            "no RISC-V toolchain on the PATH, and {program} fails: {}",
            last.unwrap_or("it gave no reason")
        )),
    }
}
