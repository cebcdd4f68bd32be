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
const NEUTRAL: [&str; 7] = [
    "foundation/",
    "similarity/src/",
    "autoir/src/",
    "synth/src/",
    "front-ends/",
    "catalog/src/",
    "codegen-gen/src/",
];

/// Files in such rooms that name one set on purpose, with why.
const OF_ONE_SET: [(&str, &str); 1] = [(
    "foundation/toolchain/src/find.rs",
    "looks for tools by their names, among them a toolchain for RISC-V",
)];

/// Words of instruction sets: beginnings of intrinsics and types, headers, features, names.
const VENDORS: [&str; 21] = [
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
    "int8x",
    "float32x",
    "Q6_",
    "x86",
    "amx",
    "riscv",
    "gemmini",
    "mvin",
    "preload",
    "config_",
];

/// What stands before an item that only tests have.
const TEST_ONLY: &str = "\n#[cfg(test)]\n";

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
    let mut reported =
        lines.filter_map(|l| l.strip_prefix("//!").or_else(|| l.strip_prefix("///")));
    reported.any(|line| line.trim_start().starts_with("```"))
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
        let next = || text.lines().nth(number + 1).unwrap_or_default();
        let call = match line.ends_with('(') {
            true => format!("{line}{}", next().trim_start()),
            false => line.to_owned(),
        };
        let uncounted = |mark: &&&str| is_test && call.contains(**mark);
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
    let of_one_set = OF_ONE_SET.iter().any(|(name, _)| *name == file);
    if of_one_set || !NEUTRAL.iter().any(|room| file.starts_with(room)) {
        return;
    }
    for (number, line) in without_tests(text).lines().enumerate() {
        let line = line.split("//").next().unwrap_or_default();
        if let Some(word) = VENDORS.iter().find(|word| begins_in(line, word)) {
            breaches.push(format!(
                "{file}:{}: `{word}`: what belongs to a target is data in isa-specs",
                number + 1
            ));
        }
    }
}

/// Whether a word stands in a line with neither letter nor digit before it.
fn begins_in(line: &str, word: &str) -> bool {
    let starts = line.match_indices(word).map(|(at, _)| &line[..at]);
    let mut last = starts.map(|before| before.chars().next_back());
    last.any(|last| last.is_none_or(|c| !c.is_alphanumeric()))
}

/// A source in which the items that only tests have are empty lines.
fn without_tests(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(TEST_ONLY) {
        let (before, from) = rest.split_at(at);
        let (item, after) = from.split_at(TEST_ONLY.len() + item_length(&from[TEST_ONLY.len()..]));
        code.push_str(before);
        code.extend(item.chars().filter(|c| *c == '\n'));
        rest = after;
    }
    code + rest
}

/// How long the item is that a text begins with: to its semicolon, or to the end of its braces.
fn item_length(text: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        if depth < 0 {
            return at; // the attribute of a field: its braces end here
        }
        at += quoted_length(rest).unwrap_or(c.len_utf8());
        if depth == 0 && matches!(c, ';' | '}') {
            return at;
        }
    }
    text.len()
}

/// How long the comment, string or character is that a text begins with, if it begins with one.
fn quoted_length(text: &str) -> Option<usize> {
    let to = |from: usize, mark: &str| {
        let length = text[from..].find(mark);
        length.map_or(text.len(), |l| from + l + mark.len())
    };
    if text.starts_with("//") {
        return Some(to(2, "\n"));
    }
    if let Some(raw) = text.strip_prefix('r') {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        let opens = raw[hashes..].starts_with('"');
        return opens.then(|| to(hashes + 2, &format!("\"{}", "#".repeat(hashes))));
    }
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let mut letters = text.char_indices().skip(1);
    let mut length = 0;
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => drop(letters.next()),
            c if c == quote => return Some(at + 1),
            _ => {}
        }
        length += 1;
        if quote == '\'' && length > 1 {
            return None; // a lifetime
        }
    }
    None
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
        assert_eq!(breaches(OF_ONE_SET[0].0, code).len(), 0);
        let within = "//! What it is.\nconst X: &str = \"duint8x NAVX pramx\";\n";
        assert_eq!(breaches("synth/src/a.rs", within).len(), 0);
    }

    #[test]
    fn only_the_items_of_tests_may_name_an_instruction_set() {
        let named = "const X: &str = \"_mm_add\";\n";
        let items = [
            "mod tests;\n",
            "use a::{b, _mm};\n",
            "fn f(a: [_mm; 3]) -> char {\n    '{'\n}\n",
            "mod tests {\n    // it's _mm {\n    const A: &str = \"\n}\n\\\"}\";\n    use _mm;\n}\n",
            "mod tests {\n    const A: &str = r#\"}\"}\"#;\n    fn a<'a>(_: &'a _mm) {}\n}\n",
        ];
        for item in items {
            let hidden = format!("//! A module.\n\n#[cfg(test)]\n{item}");
            assert_eq!(breaches("synth/src/a.rs", &hidden).len(), 0, "{item}");
            let text = format!("{hidden}{named}");
            let line = text.lines().count();
            let found = breaches("synth/src/a.rs", &text);
            assert_eq!(found.len(), 1, "{item}");
            let place = format!("synth/src/a.rs:{line}: `_mm`");
            assert!(found[0].starts_with(&place), "{found:?}");
        }
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
        let longer = "//! Tests.\n    println!(\n        \"skipped: {why}\"\n    );\n";
        let found = breaches("a/tests/b.rs", longer);
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("a/tests/b.rs:2: "), "{found:?}");
        assert!(breaches("a/benches/b.rs", text).is_empty());
    }

    #[test]
    fn a_long_file_is_found_unless_it_is_a_table() {
        let text = format!("//! Long.\n{}", "//\n".repeat(MAX_LINES));
        assert_eq!(breaches("a.rs", &text).len(), 1);
        assert!(breaches("foundation/semantics/src/table.rs", &text).is_empty());
    }
}
