//! Debian's toolchain for RISC-V, as tests call it.
//!
//! In: a program's name without its prefix, arguments. Out: what it prints, or why a program
//! is not there.

use std::path::Path;
use std::process::Command;

/// The prefix of the programs that Debian's `gcc-riscv64-unknown-elf` installs.
const PREFIX: &str = "riscv64-unknown-elf-";
/// The variable that names their folder, where it is not on the PATH.
const FOLDER: &str = "ISAFORGE_RISCV";

/// A program of the toolchain.
fn program(name: &str) -> Command {
    let name = format!("{PREFIX}{name}");
    match std::env::var_os(FOLDER) {
        Some(folder) => Command::new(Path::new(&folder).join(name)),
        None => Command::new(name),
    }
}

/// Programs of the toolchain are there, or the first that is not.
pub(crate) fn there(names: &[&str]) -> Result<(), String> {
    let works = |name: &str| {
        let found = program(name).arg("--version").output();
        found.is_ok_and(|o| o.status.success())
    };
    match names.iter().find(|name| !works(name)) {
        None => Ok(()),
        Some(name) => Err(format!(
            "there is no {PREFIX}{name}; Debian has it in gcc-riscv64-unknown-elf"
        )),
    }
}

/// Runs a program of the toolchain, which must succeed; what it printed.
pub(crate) fn run(name: &str, arguments: &[&str]) -> String {
    let output = program(name).args(arguments).output();
    let output = output.expect("it was there");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name} {arguments:?}: {told}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The words of 32 bits of an object file, as the toolchain disassembles it.
pub(crate) fn words(object: &Path) -> Vec<u64> {
    let text = run("objdump", &["-d", &object.display().to_string()]);
    let word = |line: &str| {
        let (address, rest) = line.trim_start().split_once(":\t")?;
        let hexadecimal = address.bytes().all(|b| b.is_ascii_hexdigit());
        let word = rest.split_whitespace().next().filter(|_| hexadecimal)?;
        let word = (word.len() == 8).then_some(word)?;
        u64::from_str_radix(word, 16).ok()
    };
    text.lines().filter_map(word).collect()
}
