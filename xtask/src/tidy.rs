//! The house rules that a program can check.
//!
//! In: the files that git tracks (and new ones that it does not ignore). Out: one line per
//! breach, `file:line: what`, and whether there was none. It checks text only; what clippy
//! and rustdoc check is left to them.

use std::fs;
use std::path::Path;
use std::process::Command;

/// The longest source file, in lines. Files under `tables` or named so may be longer.
const MAX_LINES: usize = 800;

/// The largest file that may be committed, in bytes.
const MAX_BYTES: u64 = 2 << 20;

/// Marks of unfinished work, written in two parts so that this file does not break the rule.
const UNFINISHED: [&str; 6] = [
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("to", "do!("),
    concat!("unimple", "mented!("),
    concat!("#[ig", "nore"),
    concat!("dbg", "!("),
];

/// The rooms in which a target is data: no word of one instruction set stands in their code.
const NEUTRAL: [&str; 9] = [
    "foundation/",
    "similarity/src/",
    "autoir/src/",
    "synth/src/",
    "front-ends/",
    "catalog/src/",
    "codegen-gen/src/c",
    "codegen-gen/src/llvm",
    "codegen-gen/src/loops",
];

/// Words of instruction sets: beginnings of intrinsics and types, headers, features, names.
const VENDORS: [&str; 14] = [
    "_mm",
    "__m1",
    "__m2",
    "__m5",
    "immintrin",
    "AVX",
    "avx",
    "SSE",
    "arm_neon",
    "NEON",
    "uint8x",
    "mvin",
    "preload",
    "config_",
];

/// How a test could say by itself that it does not run, and be counted as passed all the same.
const UNCOUNTED: [&str; 2] = ["println!(\"skipped", "println!(\"not run"];

/// Checks every file; prints what breaks a rule.
pub(crate) fn run(root: &Path) -> bool {
    let files = match tracked(root) {
        Ok(files) => files,
        Err(reason) => {
            eprintln!("error: {reason}");
            return false;
        }
    };
    let machine = machine_paths(root);
    let mut breaches = Vec::new();
    for file in &files {
        check_file(root, file, &machine, &mut breaches);
    }
    for breach in &breaches {
        println!("{breach}");
    }
    println!("{} files, {} breaches", files.len(), breaches.len());
    breaches.is_empty()
}

/// The files of the project, as git knows them, sorted.
fn tracked(root: &Path) -> Result<Vec<String>, String> {
    let output = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .map_err(|error| format!("git does not run: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let mut files: Vec<String> = text.lines().map(str::to_owned).collect();
    files.sort();
    files.dedup();
    Ok(files)
}

/// Folders of this machine that no file may name: the one the checkout stands in, and home.
fn machine_paths(root: &Path) -> Vec<String> {
    let around = root.parent().map(Path::to_path_buf);
    let home = std::env::var_os("HOME").map(Into::into);
    [around, home]
        .into_iter()
        .flatten()
        .map(|path| format!("{}/", path.display()))
        .filter(|path| path.len() > "/tmp/".len())
        .collect()
}

/// Checks one file.
fn check_file(root: &Path, file: &str, machine: &[String], breaches: &mut Vec<String>) {
    let path = root.join(file);
    let Ok(meta) = fs::metadata(&path) else {
        return; // deleted, not yet committed
    };
    if meta.len() > MAX_BYTES {
        breaches.push(format!(
            "{file}:1: {} bytes; at most {MAX_BYTES}",
            meta.len()
        ));
        return;
    }
    let Ok(text) = fs::read_to_string(&path) else {
        return; // not text
    };
    for (number, line) in text.lines().enumerate() {
        if let Some(folder) = machine.iter().find(|folder| line.contains(folder.as_str())) {
            breaches.push(format!("{file}:{}: names {folder}", number + 1));
        }
    }
    if file.ends_with(".rs") {
        check_source(file, &text, breaches);
    }
    if let Some(folder) = file.strip_suffix("Cargo.toml") {
        check_examples(root, folder, &text, breaches);
    }
}

/// Checks that the examples in a crate's documentation are run: reading a crate for examples that it
/// has not takes seconds, so crates without any say so.
fn check_examples(root: &Path, folder: &str, manifest: &str, breaches: &mut Vec<String>) {
    let library = root.join(folder).join("src/lib.rs");
    if !library.exists() {
        return;
    }
    let mut texts = Vec::new();
    sources(&root.join(folder).join("src"), &mut texts);
    let examples = texts.iter().any(|text| has_example(text));
    let run = !manifest
        .lines()
        .any(|line| line.trim() == "doctest = false");
    match (examples, run) {
        (true, false) => breaches.push(format!(
            "{folder}Cargo.toml:1: `doctest = false`, and its documentation has examples"
        )),
        (false, true) => breaches.push(format!(
            "{folder}Cargo.toml:1: its documentation has no examples: `[lib] doctest = false`"
        )),
        _ => {}
    }
}

/// Whether the documentation in a source has a block of code.
fn has_example(text: &str) -> bool {
    let lines = text.lines().map(str::trim_start);
    let mut told = lines.filter_map(|l| l.strip_prefix("//!").or_else(|| l.strip_prefix("///")));
    told.any(|line| line.trim_start().starts_with("```"))
}

/// The Rust sources below a folder.
fn sources(folder: &Path, texts: &mut Vec<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, texts);
        } else if path.extension().is_some_and(|e| e == "rs") {
            texts.extend(fs::read_to_string(&path));
        }
    }
}

/// Checks the rules for Rust sources.
fn check_source(file: &str, text: &str, breaches: &mut Vec<String>) {
    let first = text.lines().next().unwrap_or_default();
    if !first.starts_with("//!") {
        breaches.push(format!("{file}:1: does not open with //! (what it is)"));
    }
    let lines = text.lines().count();
    if lines > MAX_LINES && !file.contains("table") {
        breaches.push(format!("{file}:1: {lines} lines; at most {MAX_LINES}"));
    }
    let is_test = file.contains("tests");
    if !is_test {
        check_neutral(file, text, breaches);
    }
    for (number, line) in text.lines().enumerate() {
        let uncounted = |mark: &&&str| is_test && line.contains(**mark);
        if let Some(mark) = UNCOUNTED.iter().find(uncounted) {
            breaches.push(format!("{file}:{}: `{mark}`: use `skip!`", number + 1));
        }
        if let Some(mark) = UNFINISHED.iter().find(|mark| line.contains(*mark)) {
            breaches.push(format!("{file}:{}: `{mark}`", number + 1));
        }
    }
}

/// Checks that code of a neutral room names no instruction set. Comments may, and lists of names
/// that C has taken.
fn check_neutral(file: &str, text: &str, breaches: &mut Vec<String>) {
    if !NEUTRAL.iter().any(|room| file.starts_with(room)) {
        return;
    }
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    for (number, line) in code.lines().enumerate() {
        let line = line.split("//").next().unwrap_or_default();
        if let Some(word) = VENDORS.iter().find(|word| line.contains(*word)) {
            breaches.push(format!(
                "{file}:{}: `{word}`: what belongs to a target is data in isa-specs",
                number + 1
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn breaches(file: &str, text: &str) -> Vec<String> {
        let mut found = Vec::new();
        check_source(file, text, &mut found);
        found
    }

    #[test]
    fn a_module_without_a_first_line_is_found() {
        assert_eq!(breaches("a.rs", "fn main() {}\n").len(), 1);
        assert!(breaches("a.rs", "//! What it is.\n").is_empty());
    }

    #[test]
    fn a_word_of_an_instruction_set_is_found_in_neutral_code() {
        let code = "//! What it is, for example of _mm_add_epi8.\nconst X: &str = \"_mm_add\";\n";
        assert_eq!(breaches("synth/src/a.rs", code).len(), 1);
        assert_eq!(breaches("validate/src/a.rs", code).len(), 0);
        assert_eq!(breaches("synth/src/tests.rs", code).len(), 0);
    }

    #[test]
    fn unfinished_work_is_found_with_its_line() {
        let text = format!("//! A module.\n\n// {}: later\n", UNFINISHED[0]);
        assert_eq!(
            breaches("a.rs", &text),
            [format!("a.rs:3: `{}`", UNFINISHED[0])]
        );
    }

    #[test]
    fn examples_that_are_not_run_are_found() {
        assert!(has_example("//! One.\n//!\n//! ```\n//! f();\n//! ```\n"));
        assert!(!has_example("//! One.\nconst X: &str = \"```\";\n"));
        let root = tempfolder("examples");
        let manifest = |doctest: &str| format!("[lib]\n{doctest}\n");
        fs::write(root.join("src/lib.rs"), "//! ```\n//! f();\n//! ```\n").expect("a file");
        for (doctest, count) in [("doctest = false", 1), ("", 0)] {
            let mut found = Vec::new();
            check_examples(&root, "", &manifest(doctest), &mut found);
            assert_eq!(found.len(), count, "{found:?}");
        }
        fs::write(root.join("src/lib.rs"), "//! None.\n").expect("a file");
        for (doctest, count) in [("doctest = false", 0), ("", 1)] {
            let mut found = Vec::new();
            check_examples(&root, "", &manifest(doctest), &mut found);
            assert_eq!(found.len(), count, "{found:?}");
        }
        fs::remove_dir_all(&root).expect("it is ours");
    }

    /// An empty crate of this process alone.
    fn tempfolder(name: &str) -> std::path::PathBuf {
        let name = format!("isaforge-tidy-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(folder.join("src")).expect("a folder");
        folder
    }

    #[test]
    fn a_test_that_is_skipped_is_counted() {
        let text = "//! Tests.\nprintln!(\"skipped: no z3\");\n";
        assert_eq!(breaches("a/tests/b.rs", text).len(), 1);
        assert!(breaches("a/benches/b.rs", text).is_empty());
    }

    #[test]
    fn a_long_file_is_found_unless_it_is_a_table() {
        let text = format!("//! Long.\n{}", "//\n".repeat(MAX_LINES));
        assert_eq!(breaches("a.rs", &text).len(), 1);
        assert!(breaches("foundation/semantics/src/table.rs", &text).is_empty());
    }
}
