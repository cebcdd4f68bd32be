//! The tools that read what a build writes: LLVM 19, MLIR 19 and Exo.
//!
//! In: the workspace root. Out: the folder of LLVM's programs and that of the Python package
//! `exo-lang`, or the reasons why there are none. Programs that are installed are taken;
//! others are unpacked from Debian's packages, Exo comes from PyPI. All of it goes under the
//! target directory and nowhere else; nothing is installed.

use crate::downloads::Download;
use crate::program;
use crate::solver::target_dir;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The environment variable that names folders with LLVM 19 below (`bin`, `lib`, `include`),
/// between colons, for the tests.
pub(crate) const LLVM: &str = "ISAFORGE_LLVM";

/// The environment variable that names the folder of the Python packages for the tests.
pub(crate) const EXO: &str = "ISAFORGE_EXO";

/// Where Debian installs LLVM 19.
const INSTALLED: &str = "/usr/lib/llvm-19";

/// Debian's packages, the program for which each group is wanted, and how many megabytes are downloaded.
const PACKAGES: [(&str, &[&str], u32); 2] = [
    (
        "llvm-tblgen",
        &["libllvm19", "llvm-19", "llvm-19-dev", "llvm-19-tools"],
        86,
    ),
    (
        "mlir-opt",
        &["libllvm19", "libmlir-19", "libmlir-19-dev", "mlir-19-tools"],
        111,
    ),
];

/// The wheel, pinned so that every machine tests against the same package.
const WHEEL: &str = "exo-lang==1.0.0";

/// What it and its packages take to download, in megabytes.
const EXO_SIZE: u32 = 40;

/// The folders of LLVM and MLIR, as the tests look for them, and why some is missing.
pub(crate) fn llvm(root: &Path) -> (String, Vec<String>) {
    let folder = target_dir(root).join("llvm");
    let fetched = folder.join("usr").join("lib").join("llvm-19");
    let mut reasons = Vec::new();
    for (name, packages, size) in PACKAGES {
        let there = |place: &Path| place.join("bin").join(name).exists();
        if there(Path::new(INSTALLED)) || there(&fetched) {
            continue;
        }
        if let Err(reason) = program::unpack(&folder, packages, size) {
            reasons.push(format!("no {name}: {reason}"));
        }
    }
    // Nobody here links with LLVM: without what is for that, it takes half of the place.
    drop_archives(&fetched.join("lib"));
    (format!("{INSTALLED}:{}", fetched.display()), reasons)
}

/// What [`llvm`] and [`exo`] would download.
pub(crate) fn missing(root: &Path) -> Vec<Download> {
    let fetched = target_dir(root).join("llvm/usr/lib/llvm-19");
    let there = |name| {
        let places = [Path::new(INSTALLED), &fetched];
        places
            .iter()
            .any(|place| place.join("bin").join(name).exists())
    };
    let programs = PACKAGES.iter().filter(|(name, ..)| !there(name));
    let packages = programs
        .map(|(_, list, size)| Download::new(format!("{} (Debian)", list.join(", ")), *size));
    let exo = !target_dir(root).join("exo/exo/__init__.py").exists();
    let exo = exo.then(|| Download::new(format!("{WHEEL} and what it needs (PyPI)"), EXO_SIZE));
    packages.chain(exo).collect()
}

/// Removes the static libraries in a folder.
fn drop_archives(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|e| e == "a") {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// The folder of the Python packages of Exo.
///
/// # Errors
/// Why it cannot be had, in one line.
pub(crate) fn exo(root: &Path) -> Result<PathBuf, String> {
    let folder = target_dir(root).join("exo");
    if !folder.join("exo").join("__init__.py").exists() {
        eprintln!(
            "downloading {WHEEL} and what it needs, {EXO_SIZE} MB, into {}",
            folder.display()
        );
        let target = folder.display().to_string();
        let arguments = ["-m", "pip", "install", "--quiet", "--upgrade"];
        let more = ["--disable-pip-version-check", "--target", &target, WHEEL];
        let mut install = Command::new("python3");
        program::finished(install.args(arguments).args(more).current_dir(root))?;
    }
    Ok(folder)
}
