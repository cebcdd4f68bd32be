//! The words of this crate's text forms.
//!
//! In: S-expressions with their source. Out: numbers, names, element types, or a diagnostic
//! that points at the word. It knows no keywords of any one form.

use semantics::diagnostic::Diagnostic;
use semantics::sexpr::Sexpr;
use semantics::span::{Source, Span};
use std::str::FromStr;

/// The range after the first line, which must be the version.
///
/// # Errors
/// When the first line is another one.
pub(crate) fn header(source: &Source, version: &str, what: &str) -> Result<Span, Vec<Diagnostic>> {
    let text = source.text();
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    if first.trim_end() == version {
        return Ok(Span::new(text.len() - rest.len(), text.len()));
    }
    let words: Vec<&str> = version.split(' ').collect();
    let message = if first.split(' ').next() == words.first().copied() {
        format!("this is {what} of another version")
    } else {
        format!("this is not {what}")
    };
    Err(vec![
        Diagnostic::error(message)
            .at(source, Span::new(0, first.len()))
            .hint(format!("the first line must be `{version}`")),
    ])
}

/// An error at a place.
pub(crate) fn fail<T>(
    source: &Source,
    span: Span,
    message: impl Into<String>,
) -> Result<T, Diagnostic> {
    Err(Diagnostic::error(message).at(source, span))
}

/// A value in one word.
pub(crate) fn whole<T: FromStr>(source: &Source, e: &Sexpr) -> Result<T, Diagnostic> {
    match e.atom().and_then(|w| w.parse().ok()) {
        Some(value) => Ok(value),
        None => fail(source, e.span, "this value cannot be read"),
    }
}

/// A name.
pub(crate) fn name<'e>(source: &Source, e: &'e Sexpr) -> Result<&'e str, Diagnostic> {
    match e.name() {
        Some(word) => Ok(word),
        None => fail(source, e.span, "expected a name"),
    }
}
