//! From a text of ASL to its tree.
//!
//! In: a range of a source. Out: a [`Block`] or diagnostics. It checks only the grammar:
//! names, widths and values are checked by lowering.

use super::grammar::{Grammar, Rule};
use super::layout::lay_out;
use super::tree::{Builder, Refused};
use crate::pseudocode::ast::Block;
use pest::Parser;
use pest::error::{Error, ErrorVariant, InputLocation};
use semantics::diagnostic::{Diagnostic, suggest};
use semantics::span::{Source, Span};

#[cfg(test)]
mod tests;

/// Words that a misspelt word may have been meant as.
const KEYWORDS: &[&str] = &[
    "for",
    "to",
    "downto",
    "while",
    "do",
    "if",
    "then",
    "elsif",
    "else",
    "case",
    "of",
    "when",
    "otherwise",
    "return",
    "bits",
    "integer",
    "boolean",
    "AND",
    "OR",
    "EOR",
    "NOT",
    "DIV",
    "MOD",
];

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
        return Err(wrong(
            message,
            start,
            format!("at most {MAX_BYTES} are read"),
        ));
    }
    let laid_out = lay_out(text).map_err(|f| wrong(f.message, f.span.moved(span.start), f.hint))?;
    let mut pairs = Grammar::parse(Rule::body, &laid_out)
        .map_err(|error| vec![describe(&error, &laid_out, source, span.start)])?;
    let body = pairs
        .next()
        .expect("the grammar's first rule gives one pair");
    let refused = |r: Refused| wrong(r.message, r.span, r.hint.to_owned());
    Builder { base: span.start }.block(body).map_err(refused)
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
    let token = &rest[..length];
    let message = match token.trim() {
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
    match hint(text, at, &expected) {
        Some(hint) => diagnostic.hint(hint),
        None => diagnostic,
    }
}

/// What the writer may have meant: another keyword of the line, a `;`, an indentation.
fn hint(text: &str, at: usize, expected: &str) -> Option<String> {
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
    if text[start..end].contains(":=") {
        return Some("an assignment is written `=`".to_owned());
    }
    if text[at..].starts_with('\n') || text[at..].trim().is_empty() {
        return Some("a statement ends with `;`".to_owned());
    }
    if expected.contains("indented") || text[start..at].trim().is_empty() {
        return Some("statements of one block begin in the same column".to_owned());
    }
    None
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
        Rule::infix | Rule::linear => "an operator",
        Rule::expr
        | Rule::operand
        | Rule::atom
        | Rule::primary
        | Rule::prefix
        | Rule::number
        | Rule::bit_string
        | Rule::part
        | Rule::choice => "an expression",
        Rule::name => "a name",
        Rule::newline | Rule::EOI => "the end of the statement",
        Rule::enter => "an indented block",
        Rule::kw_then => "`then`",
        Rule::kw_of => "`of`",
        Rule::kw_to | Rule::kw_downto | Rule::direction => "`to`",
        Rule::label | Rule::arm => "a label",
        _ => return None,
    })
}
