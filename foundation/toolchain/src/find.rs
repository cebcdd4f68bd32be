//! Where tools are.
//!
//! In: a tool's name. Out: the tool, or in one line why there is none and what brings it.
//! Variables of the environment name those that are not on the PATH; `cargo xtask` fetches
//! them and sets the variables.

use crate::process;
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The variable that names a Z3 program.
pub const Z3: &str = "ISAFORGE_Z3";
/// The variable that names folders with LLVM 19 below (`bin`, `lib`, `include`), with colons.
pub const LLVM: &str = "ISAFORGE_LLVM";
/// The variable that names the folder of a RISC-V toolchain.
pub const RISCV: &str = "ISAFORGE_RISCV";
/// The variable that names the folder of Exo's Python packages.
pub const EXO: &str = "ISAFORGE_EXO";

/// Where Debian installs LLVM 19.
const LLVM_INSTALLED: &str = "/usr/lib/llvm-19";
/// How the programs of Debian's `gcc-riscv64-unknown-elf` begin.
const RISCV_PREFIX: &str = "riscv64-unknown-elf-";

/// A program on the PATH, by its name.
///
/// # Errors
/// There is none.
pub fn on_path(name: &str) -> Result<PathBuf, String> {
    let path = env::var_os("PATH").unwrap_or_default();
    let mut places = env::split_paths(&path).map(|folder| folder.join(name));
    let found = places.find(|program| program.is_file());
    found.ok_or_else(|| format!("there is no `{name}` on the PATH"))
}

/// Z3: the one that the variable names, or the one on the PATH.
///
/// # Errors
/// There is none.
pub fn z3() -> Result<PathBuf, String> {
    if let Some(named) = env::var_os(Z3) {
        return Ok(named.into());
    }
    on_path("z3").map_err(|_| format!("there is no z3: set {Z3} or put it on the PATH"))
}

/// A program of LLVM 19, and the folder that it is below.
///
/// # Errors
/// There is none.
pub fn llvm(name: &str) -> Result<(PathBuf, PathBuf), String> {
    let folders = env::var(LLVM).unwrap_or_else(|_| LLVM_INSTALLED.to_owned());
    let mut folders = folders.split(':').map(PathBuf::from);
    let found = folders.find(|folder| folder.join("bin").join(name).exists());
    let absent = || format!("there is no `{name}` of LLVM 19; `cargo xtask tools` brings it");
    let folder = found.ok_or_else(absent)?;
    Ok((folder.join("bin").join(name), folder))
}

/// A program of the RISC-V toolchain, by its name without the prefix.
///
/// # Errors
/// There is none.
pub fn riscv(name: &str) -> Result<Command, String> {
    let name = format!("{RISCV_PREFIX}{name}");
    let program = match env::var_os(RISCV) {
        Some(folder) => Path::new(&folder).join(&name),
        None => PathBuf::from(&name),
    };
    match process::works(Command::new(&program)) {
        true => Ok(Command::new(program)),
        false => Err(format!(
            "there is no {name}; Debian has it in gcc-riscv64-unknown-elf"
        )),
    }
}

/// The folder of Exo's Python packages.
///
/// # Errors
/// The variable names none.
pub fn exo() -> Result<PathBuf, String> {
    let folder = env::var_os(EXO).map(PathBuf::from);
    folder.ok_or_else(|| format!("${EXO} names no folder with `exo-lang`"))
}

/// The processor has these flags, as Linux spells them.
///
/// # Errors
/// It lacks one, or nothing says what it has.
pub fn processor(flags: &[&str]) -> Result<(), String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("flags"));
    let words: Vec<&str> = line.unwrap_or_default().split_whitespace().collect();
    match flags.iter().find(|flag| !words.contains(flag)) {
        None => Ok(()),
        Some(flag) => Err(format!("this processor has no {flag}")),
    }
}

#[cfg(test)]
mod tests {
    use super::{on_path, processor};

    #[test]
    fn what_is_not_there_is_told_by_name() {
        assert!(on_path("sh").is_ok());
        let absent = on_path("no-such-tool").expect_err("it is not there");
        assert_eq!(absent, "there is no `no-such-tool` on the PATH");
        let absent = processor(&["no_such_flag"]).expect_err("no processor has it");
        assert_eq!(absent, "this processor has no no_such_flag");
    }
}
