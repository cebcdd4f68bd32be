//! Puts the texts under `isa-specs/` into the binary.
//!
//! In: the folder beside this crate. Out: `$OUT_DIR/isa_specs.rs`, a table of (path, text)
//! sorted by path. It looks at no text; loading is `spec-parser`'s.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("..");
    let specs = root.join("isa-specs");
    println!("cargo::rerun-if-changed={}", specs.display());
    let mut files = Vec::new();
    collect(&specs, &mut files)?;
    files.sort();
    let mut table = String::from("&[\n");
    for file in &files {
        let name = file.strip_prefix(&specs).expect("found under it");
        writeln!(table, "    ({name:?}, include_str!({file:?})),").expect("a string grows");
    }
    table.push_str("]\n");
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("isa_specs.rs"), table)
}

/// Whether files of a kind are read: specifications, and what a set has of a C library.
fn is_read(kind: &std::ffi::OsStr) -> bool {
    ["yaml", "c", "h", "a"].iter().any(|known| kind == *known)
}

/// All files under a folder whose text the program reads.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(is_read) {
            files.push(path);
        }
    }
    Ok(())
}
