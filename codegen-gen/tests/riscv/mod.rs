//! Debian's toolchain for RISC-V, as tests call it.
//!
//! In: a program's name without its prefix, arguments. Out: what it prints, or why a program
//! is not there.

use std::path::Path;
use toolchain::find;

/// Programs of the toolchain are there, or the first that is not.
pub(crate) fn there(names: &[&str]) -> Result<(), String> {
    names
        .iter()
        .try_for_each(|name| find::riscv(name).map(drop))
}

/// Runs a program of the toolchain, which must succeed; what it printed.
pub(crate) fn run(name: &str, arguments: &[&str]) -> String {
    let mut program = find::riscv(name).expect("it was there");
    let output = program.args(arguments).output();
    let output = output.expect("it was there");
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name} {arguments:?}: {log}");
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
