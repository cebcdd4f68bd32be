//! Files of programs: those of a text of kernels, and that text.
//!
//! In: programs by the names of their windows, and what they were made for. Out: a text, and
//! back. What lies around the windows (loops, arrays, what is stored where) is the kernels' to say,
//! so their text stands at the end, as it was given.
//!
//! ```text
//! isaforge-autoir 1
//! (program average.0
//!   …)
//! (end 1)
//! --- kernels examples/average.kernel
//! kernel average(n: size, …) …
//! ```

use super::Program;
use super::text::{self, Resolve};
use crate::lex::{fail, header, whole};
use semantics::diagnostic::Diagnostic;
use semantics::sexpr;
use semantics::span::{Source, Span};
use std::collections::BTreeSet;

/// The first line.
pub const FILE_VERSION: &str = "isaforge-autoir 1";
/// What the line begins with behind which the kernels stand.
const MARK: &str = "--- ";

/// What the text at the end of a file is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Origin {
    /// The language: `kernels`, or another that the compiler reads.
    pub language: String,
    /// The name of the file that it was in.
    pub name: String,
    /// The text.
    pub text: String,
}

/// What a file has: the programs by the names of their windows, and what they were made for.
pub type File = (Vec<(String, Program)>, Origin);

/// A file's text, from the texts of its programs ([`item`]).
pub fn write(items: &[String], origin: &Origin) -> String {
    let programs: String = items.iter().map(|item| format!("{item}\n")).collect();
    let name = origin.name.replace('\n', " ");
    format!(
        "{FILE_VERSION}\n{programs}(end {})\n{MARK}{} {name}\n{}",
        items.len(),
        origin.language,
        origin.text
    )
}

/// The text of a window's program.
pub fn item(window: &str, program: &Program) -> String {
    format!(
        "(program {}\n{program})",
        semantics::print::variable(window)
    )
}

/// The programs by the names of their windows, and what they were made for.
///
/// # Errors
/// Diagnostics that point into the text.
pub fn read(source: &Source, resolve: &Resolve<'_>) -> Result<File, Vec<Diagnostic>> {
    let range = header(source, FILE_VERSION, "a file of AutoIR programs")?;
    let rest = &source.text()[range.start..range.end];
    let marked = rest
        .match_indices(MARK)
        .find(|(at, _)| rest[..*at].ends_with('\n'));
    let Some((at, _)) = marked else {
        let place = Span::new(range.end, range.end);
        return Err(vec![
            Diagnostic::error("the kernels are missing").at(source, place).hint(format!(
                "behind the programs stands `{MARK}kernels NAME`, and behind that line their text"
            )),
        ]);
    };
    let (line, text) = rest[at..].split_once('\n').unwrap_or((&rest[at..], ""));
    let (language, name) = line[MARK.len()..].split_once(' ').unwrap_or(("", ""));
    let origin = Origin {
        language: language.to_owned(),
        name: name.trim().to_owned(),
        text: text.to_owned(),
    };
    let items = sexpr::read(source, Span::new(range.start, range.start + at))?;
    let (mut programs, mut wrong, mut ended) = (Vec::new(), Vec::new(), None);
    let mut names = BTreeSet::new();
    for item in &items {
        if let Some([count]) = item.form("end") {
            ended = whole::<usize>(source, count).ok();
            continue;
        }
        match text::read(source, item, resolve) {
            Ok((name, program)) => {
                if !names.insert(name.clone()) {
                    let message = format!("there is already a program `{name}`");
                    wrong.extend(fail::<()>(source, item.span, message).err());
                }
                programs.push((name, program));
            }
            Err(more) => wrong.extend(more),
        }
    }
    if wrong.is_empty() && ended != Some(programs.len()) {
        let place = Span::new(range.start + at, range.start + at + line.len());
        let cut = fail::<()>(source, place, "not all programs are there");
        wrong.extend(
            cut.err()
                .map(|d| d.hint(format!("`(end {})`?", programs.len()))),
        );
    }
    match wrong.is_empty() {
        true => Ok((programs, origin)),
        false => Err(wrong),
    }
}
