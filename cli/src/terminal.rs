//! What is written where: results to standard output, messages and progress to standard
//! error.
//!
//! In: texts and diagnostics. Out: bytes on the two streams. A reader that closes the pipe
//! ends the program quietly. Progress is drawn on a terminal only.

use indicatif::{ProgressBar, ProgressStyle};
use semantics::diagnostic::{Diagnostic, Severity};
use std::io::{self, Write};
use std::path::Path;

/// Writes a result.
pub(crate) fn print(text: &str) {
    let mut out = io::stdout().lock();
    if let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        if error.kind() != io::ErrorKind::BrokenPipe {
            eprintln!("error: cannot write to standard output: {error}");
        }
        std::process::exit(i32::from(error.kind() != io::ErrorKind::BrokenPipe));
    }
}

/// The file that is written; none where `-`, which is standard output, or nothing is named.
pub(crate) fn file(output: Option<&Path>) -> Option<&Path> {
    output.filter(|path| *path != Path::new("-"))
}

/// Writes messages; whether there was an error among them.
pub(crate) fn complain(diagnostics: &[Diagnostic]) -> bool {
    let text = semantics::diagnostic::render(diagnostics);
    // Nothing can be done about a standard error that cannot be written.
    let _ = io::stderr().lock().write_all(text.as_bytes());
    diagnostics
        .iter()
        .any(|diagnostic| diagnostic.severity == Severity::Error)
}

/// A bar for `length` steps of something.
pub(crate) fn bar(what: &'static str, length: usize) -> ProgressBar {
    let style =
        ProgressStyle::with_template("{msg:>14} [{bar:30}] {pos}/{len} {elapsed} (left: {eta})");
    let bar = ProgressBar::new(length as u64).with_message(what);
    bar.with_style(
        style
            .unwrap_or_else(|_| ProgressStyle::default_bar())
            .progress_chars("=> "),
    )
}
