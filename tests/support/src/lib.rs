//! Tests that cannot run here say so and are counted.
//!
//! In: why a test cannot run, in whole or in part: a tool, a file, a feature of the processor
//! that is absent. Out: a line on standard error, past what the test harness captures, and a
//! record in the file that `$ISAFORGE_SKIPPED` names; `cargo xtask test` reads the records,
//! takes these tests from those that passed, and lists them with their reasons. The harness
//! itself knows only passed and failed on a stable compiler: what returns early has passed.
//!
//! Whether a tool is there is asked elsewhere: a function that looks for it gives the tool or
//! the reason why there is none, and [`need!`] takes one or the other.

use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

/// The environment variable that names the file of records.
pub const RECORDS: &str = "ISAFORGE_SKIPPED";

/// Ends the test: it is counted as skipped, for the reason that the arguments format.
#[macro_export]
macro_rules! skip {
    ($($reason:tt)+) => {{
        $crate::record($crate::How::Whole, module_path!(), &format!($($reason)+));
        return;
    }};
}

/// Goes on with the test, a part of which cannot run for the reason that the arguments format.
#[macro_export]
macro_rules! skip_part {
    ($($reason:tt)+) => {
        $crate::record($crate::How::Part, module_path!(), &format!($($reason)+))
    };
}

/// The value of a `Result`; where there is only the reason why not, the test is skipped.
#[macro_export]
macro_rules! need {
    ($found:expr) => {
        match $found {
            Ok(found) => found,
            Err(reason) => $crate::skip!("{reason}"),
        }
    };
}

/// How much of a test was not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// None of it was.
    Whole,
    /// Some of it was not.
    Part,
}

impl How {
    /// The word of a record.
    fn word(self) -> &'static str {
        match self {
            How::Whole => "skipped",
            How::Part => "skipped in part",
        }
    }
}

/// Says and records that the test of this thread was not run.
///
/// # Panics
/// When the record cannot be written: a count that leaves tests out is no count.
pub fn record(how: How, module: &str, reason: &str) {
    let line = line(how, &name(module), reason);
    // Past the harness, which shows what a test prints only when it fails.
    let _ = std::io::stderr().write_all(line.as_bytes());
    if let Some(path) = std::env::var_os(RECORDS) {
        append(Path::new(&path), &line).expect("the file of records can be written");
    }
}

/// A record: three fields with tabs between them, on one line.
fn line(how: How, name: &str, reason: impl Display) -> String {
    let words: Vec<String> = reason
        .to_string()
        .split_whitespace()
        .map(str::to_owned)
        .collect();
    format!("{}\t{name}\t{}\n", how.word(), words.join(" "))
}

/// The crate and the test. The harness names threads after their tests, unless it is told to
/// use one thread for all: then the module has to do.
fn name(module: &str) -> String {
    let thread = std::thread::current();
    match thread.name() {
        Some(test) if test != "main" => {
            let program = module.split("::").next().unwrap_or(module);
            format!("{program}::{test}")
        }
        _ => module.to_owned(),
    }
}

/// One write at the end of the file, so that records of several programs stay whole.
fn append(path: &Path, line: &str) -> std::io::Result<()> {
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    file.write_all(line.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::{How, line, name};

    #[test]
    fn a_record_is_one_line_of_three_fields() {
        let text = line(How::Part, "a::b", "there is\n\tno `z3`");
        assert_eq!(text, "skipped in part\ta::b\tthere is no `z3`\n");
    }

    #[test]
    fn a_test_has_the_name_of_its_thread() {
        let ask = || name("program::module");
        let thread = std::thread::Builder::new().name("module::test".to_owned());
        let handle = thread.spawn(ask).expect("a thread starts");
        assert_eq!(handle.join().expect("it ends"), "program::module::test");
    }
}
