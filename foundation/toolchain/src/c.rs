//! Compilers of C: which is here, and what it says of a text.
//!
//! In: the name of a compiler, arguments, a folder. Out: a program in the folder, and how it ended, or the
//! compiler's messages; and of messages, which pieces of a text they are about.

use crate::process;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::process::{Command, Stdio};

/// Why nothing is compiled where [`compiler`] finds none.
pub const MISSING: &str = "there is no C compiler: gcc, cc, clang or $CC";

/// The C compiler: `$CC`, or the first of the usual ones that runs.
pub fn compiler() -> Option<String> {
    let named = std::env::var("CC").ok().filter(|name| !name.is_empty());
    let usual = ["gcc", "cc", "clang"].map(str::to_owned);
    let mut all = named.into_iter().chain(usual);
    all.find(|name| process::works(Command::new(name)))
}

/// Why there is no program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The compiler does not run: why, with its name.
    Absent(String),
    /// It refuses: its messages, untranslated, those of standard error first.
    Refused(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Failure::Absent(why) | Failure::Refused(why)) = self;
        f.write_str(why)
    }
}

/// Runs a compiler in a folder.
///
/// # Errors
/// It does not run, or it refuses.
pub fn compile<S: AsRef<OsStr>>(
    compiler: &str,
    arguments: impl IntoIterator<Item = S>,
    folder: &Path,
) -> Result<(), Failure> {
    let output = Command::new(compiler)
        .args(arguments)
        .current_dir(folder)
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| Failure::Absent(format!("{compiler} does not run: {error}")))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(Failure::Refused(process::text(&output))),
    }
}

/// Runs a program of a folder in it, and gives what it wrote.
///
/// # Errors
/// Why it does not start, or how it ended, with what it said.
pub fn run<S: AsRef<OsStr>>(
    program: &str,
    arguments: impl IntoIterator<Item = S>,
    folder: &Path,
) -> Result<String, String> {
    let output = Command::new(folder.join(program))
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{program} does not start: {error}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!("{}: {}", output.status, process::text(&output))),
    }
}

/// The pieces of a file, by their lines, that messages are about; each with the first message.
pub fn complaints(messages: &str, file: &str, pieces: &[Range<usize>]) -> BTreeMap<usize, String> {
    let mut found: BTreeMap<usize, String> = BTreeMap::new();
    let mut message = None;
    for line in messages.lines() {
        if let Some((_, error)) = line.split_once("error: ") {
            message = Some(error.to_owned());
        }
        let (Some(number), Some(message)) = (line_number(line, file), &message) else {
            continue;
        };
        if let Some(index) = pieces.iter().position(|lines| lines.contains(&number)) {
            found.entry(index).or_insert_with(|| message.clone());
        }
    }
    found
}

/// The line of a file that a message names.
fn line_number(message: &str, file: &str) -> Option<usize> {
    let (before, after) = message.split_once(file)?;
    let part_of_a_name = before.ends_with(|c: char| c.is_alphanumeric() || "_-.".contains(c));
    let rest = after.strip_prefix(':').filter(|_| !part_of_a_name)?;
    let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok()
}

/// A compiler, as its macros tell it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Kind {
    /// `gcc` or `clang`.
    pub name: &'static str,
    /// Its major version.
    pub major: u32,
}

/// Which compiler a command is, by what it predefines.
pub fn kind(compiler: &str) -> Option<Kind> {
    let output = Command::new(compiler)
        .args(["-dM", "-E", "-x", "c", "/dev/null"])
        .stdin(Stdio::null())
        .output()
        .ok()?;
    predefined(&String::from_utf8_lossy(&output.stdout))
}

/// The flag by which a compiler tells all errors of a text.
pub fn all_errors(compiler: &str) -> &'static str {
    match kind(compiler) {
        Some(Kind { name: "clang", .. }) => "-ferror-limit=0",
        _ => "-fmax-errors=0",
    }
}

/// Which compiler predefines these macros.
fn predefined(macros: &str) -> Option<Kind> {
    let value = |name: &str| {
        let mut lines = macros.lines();
        let line = lines.find_map(|l| l.strip_prefix("#define ")?.strip_prefix(name))?;
        line.trim().parse().ok()
    };
    let of = |name, version| {
        let major = value(version)?;
        Some(Kind { name, major })
    };
    of("clang", "__clang_major__ ").or_else(|| of("gcc", "__GNUC__ "))
}

#[cfg(test)]
mod tests {
    use super::{Failure, Kind, compile, complaints, predefined};
    use std::path::Path;

    #[test]
    fn compilers_are_told_apart() {
        let gcc = "#define __GNUC_MINOR__ 2\n#define __GNUC__ 12\n";
        let clang = "#define __GNUC__ 4\n#define __clang_major__ 19\n";
        let of = |name, major| Some(Kind { name, major });
        assert_eq!(predefined(gcc), of("gcc", 12));
        assert_eq!(predefined(clang), of("clang", 19));
        assert_eq!(predefined(""), None);
    }

    #[test]
    fn messages_belong_to_the_pieces_whose_lines_they_name() {
        let messages = "check.c: In function 'one':\n\
                        check.c:12:3: error: unknown type name 'x'\n\
                        check.c:13:1: error: expected ';'\n\
                        intrin.h:7:1: error: inlining failed in call to 'f'\n\
                        check.c:25:9: note: called from here\n\
                        recheck.c:2:1: error: another file\n";
        let found = complaints(messages, "check.c", &[1..10, 10..20, 20..30]);
        let found: Vec<_> = found.iter().map(|(k, m)| (*k, m.as_str())).collect();
        assert_eq!(
            found,
            [
                (1, "unknown type name 'x'"),
                (2, "inlining failed in call to 'f'")
            ]
        );
    }

    #[test]
    fn a_compiler_that_is_not_there_is_told_by_name() {
        let failure = compile("no-such-compiler", ["-c"], Path::new("/"));
        let Err(Failure::Absent(why)) = failure else {
            panic!("{failure:?}");
        };
        assert!(why.starts_with("no-such-compiler does not run: "), "{why}");
    }
}
