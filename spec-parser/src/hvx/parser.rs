//! From a text in the manual's notation to its tree.
//!
//! In: a range of a source. Out: a [`Block`] or diagnostics. It checks only the grammar:
//! names, widths and values are checked by lowering.

use super::grammar::{Grammar, Rule};
use super::nesting;
use super::tree::{Builder, Refused};
use crate::pseudocode::ast::Block;
use pest::Parser;
use pest::error::{Error, ErrorVariant, InputLocation};
use semantics::diagnostic::{Diagnostic, suggest};
use semantics::span::{Source, Span};

/// Words that a misspelt word may have been meant as.
const KEYWORDS: &[&str] = &["for", "if", "else", "int"];

/// The longest body that is read.
const MAX_BYTES: usize = 1 << 16;

/// Reads a body.
///
/// # Errors
/// What is wrong with the text.
pub(super) fn parse(source: &Source, span: Span) -> Result<Block, Vec<Diagnostic>> {
    let text = source.slice(span);
    let wrong = |message: String, span: Span, hint: String| {
        vec![Diagnostic::error(message).at(source, span).hint(hint)]
    };
    if text.len() > MAX_BYTES {
        let message = format!("this body has {} bytes", text.len());
        let start = Span::new(span.start, span.start + 1);
        let hint = format!("at most {MAX_BYTES} are read");
        return Err(wrong(message, start, hint));
    }
    nesting::check(text).map_err(|f| wrong(f.message, f.span.moved(span.start), f.hint))?;
    let mut pairs = Grammar::parse(Rule::body, text)
        .map_err(|error| vec![describe(&error, text, source, span.start)])?;
    let body = pairs
        .next()
        .expect("the grammar's first rule gives one pair");
    let refused = |r: Refused| wrong(r.message, r.span, r.hint);
    Builder::new(text, span.start).body(body).map_err(refused)
}

/// A grammar error in words.
fn describe(error: &Error<Rule>, text: &str, source: &Source, base: usize) -> Diagnostic {
    let at = match error.location {
        InputLocation::Pos(at) | InputLocation::Span((at, _)) => at.min(text.len()),
    };
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let rest = &text[at..];
    let word = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
    let length = match word {
        0 => rest.chars().next().map_or(0, char::len_utf8),
        word => word,
    };
    let message = match rest[..length].trim() {
        "" if rest.trim().is_empty() => "the pseudocode ends too early".to_owned(),
        "" => "the statement ends too early".to_owned(),
        token => format!("unexpected `{token}` in the pseudocode"),
    };
    let expected = match &error.variant {
        ErrorVariant::ParsingError { positives, .. } => expectation(positives),
        ErrorVariant::CustomError { message } => message.clone(),
    };
    let place = Span::new(base + at, base + at + length.max(1));
    let diagnostic = Diagnostic::error(message)
        .at(source, place)
        .label(format!("expected {expected}"));
    match hint(text, at) {
        Some(hint) => diagnostic.hint(hint),
        None => diagnostic,
    }
}

/// What the writer may have meant: a keyword, a `;`, an operator.
fn hint(text: &str, at: usize) -> Option<String> {
    let start = text[..at].rfind('\n').map_or(0, |n| n + 1);
    let end = text[at..].find('\n').map_or(text.len(), |n| at + n);
    let words = text[start..end].split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    let misspelt = words
        .filter(|w| w.len() > 1 && !KEYWORDS.contains(w))
        .find_map(|w| {
            let keyword = suggest(w, KEYWORDS.iter().copied())?;
            w.eq_ignore_ascii_case(keyword)
                .then(|| format!("did you mean `{keyword}` instead of `{w}`?"))
        });
    if misspelt.is_some() {
        return misspelt;
    }
    // What begins a statement before a bracket, and is no call.
    let line = text[start..end].trim_start();
    let first = line.split(|c: char| !c.is_ascii_alphabetic()).next();
    let first = first.filter(|w| w.len() > 1 && line[w.len()..].trim_start().starts_with('('));
    if let Some(word) = first.filter(|w| !KEYWORDS.contains(w))
        && let Some(keyword) = suggest(word, KEYWORDS.iter().copied())
    {
        return Some(format!("did you mean `{keyword}` instead of `{word}`?"));
    }
    if text[start..end].contains(":=") {
        return Some("an assignment is written `=`".to_owned());
    }
    let before = text[..at].trim_end();
    let ends = before.ends_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, ')' | ']'));
    let fresh = text[before.len()..at].contains('\n') || text[at..].trim_start().starts_with('}');
    (ends && (fresh || text[at..].trim().is_empty()))
        .then(|| "a statement ends with `;`".to_owned())
}

/// What the grammar would have taken, in a few words.
fn expectation(rules: &[Rule]) -> String {
    let mut words: Vec<&str> = rules.iter().filter_map(|&rule| in_words(rule)).collect();
    words.sort_unstable();
    words.dedup();
    match words.as_slice() {
        [] => "a statement".to_owned(),
        [one] => (*one).to_owned(),
        [init @ .., last] => format!("{} or {last}", init.join(", ")),
    }
}

fn in_words(rule: Rule) -> Option<&'static str> {
    Some(match rule {
        Rule::infix | Rule::becomes => "an operator",
        Rule::postfix | Rule::index | Rule::field | Rule::arguments => "a part",
        Rule::expr | Rule::infixed | Rule::operand | Rule::primary | Rule::number => {
            "an expression"
        }
        Rule::name => "a name",
        Rule::below => "`<` or `<=`",
        Rule::step => "`i++`",
        Rule::EOI => "the end",
        _ => return None,
    })
}
