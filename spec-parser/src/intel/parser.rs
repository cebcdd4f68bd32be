//! From a text of pseudocode to its tree.
//!
//! In: a range of a source, and whether it is XML. Out: a [`Block`] or diagnostics. It checks
//! only the grammar: names, widths and values are checked by lowering.

use super::grammar::{Grammar, Rule};
use super::layout::{Fault, lay_out};
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
    "FOR", "ENDFOR", "IF", "ELSE", "FI", "CASE", "OF", "ESAC", "DEFINE", "RETURN", "DO", "WHILE",
    "OD", "BREAK", "TO", "downto", "AND", "OR", "XOR", "NOT",
];

/// The longest body that is read; the vendor's longest has 2,860 bytes.
const MAX_BYTES: usize = 1 << 16;

/// Reads a body of pseudocode.
///
/// `span` is where the body stands in `source`; `xml` says that it stands there undecoded.
/// Spans of the tree are places in `source`.
///
/// # Errors
/// What is wrong with the text.
pub fn parse(source: &Source, span: Span, xml: bool) -> Result<Block, Vec<Diagnostic>> {
    let text = source.slice(span);
    if text.len() > MAX_BYTES {
        let message = format!("this body has {} bytes", text.len());
        return Err(vec![
            Diagnostic::error(message)
                .at(source, Span::new(span.start, span.start + 1))
                .hint(format!("at most {MAX_BYTES} are read")),
        ]);
    }
    let fault = |fault: Fault| {
        vec![
            Diagnostic::error(fault.message)
                .at(source, fault.span.moved(span.start))
                .hint(fault.hint),
        ]
    };
    let laid_out = lay_out(text, xml).map_err(fault)?;
    let mut pairs = Grammar::parse(Rule::body, &laid_out)
        .map_err(|error| vec![describe(&error, &laid_out, source, span.start)])?;
    let body = pairs
        .next()
        .expect("the grammar's first rule gives one pair");
    Builder { base: span.start }.body(body).map_err(
        |Refused {
             message,
             span,
             hint,
         }| vec![Diagnostic::error(message).at(source, span).hint(hint)],
    )
}

/// A grammar error in words.
fn describe(error: &Error<Rule>, text: &str, source: &Source, base: usize) -> Diagnostic {
    let at = match error.location {
        InputLocation::Pos(at) | InputLocation::Span((at, _)) => at,
    };
    let (found, length) = token_at(text, at);
    let expected = match &error.variant {
        ErrorVariant::ParsingError { positives, .. } => expectation(positives),
        ErrorVariant::CustomError { message } => message.clone(),
    };
    let message = match found {
        Some(token) => format!("unexpected `{token}` in the pseudocode"),
        None if text[at.min(text.len())..].trim().is_empty() => {
            "the pseudocode ends too early".to_owned()
        }
        None => "the statement ends too early".to_owned(),
    };
    let near = line_words(text, at)
        .find_map(|word| {
            suggest(word, KEYWORDS.iter().copied())
                .filter(|k| *k != word)
                .map(|k| (word, k))
        })
        .map(|(word, keyword)| format!("did you mean `{keyword}` instead of `{word}`?"));
    let mut diagnostic = Diagnostic::error(message)
        .at(source, Span::new(base + at, base + at + length))
        .label(format!("expected {expected}"));
    if let Some(hint) = near.or_else(|| unclosed(text)) {
        diagnostic = diagnostic.hint(hint);
    }
    diagnostic
}

/// The word or character at a place, and its length; nothing at the end of a line.
fn token_at(text: &str, at: usize) -> (Option<&str>, usize) {
    let rest = &text[at.min(text.len())..];
    let word = rest
        .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .unwrap_or(rest.len());
    let length = if word > 0 {
        word
    } else {
        rest.chars().next().map_or(0, char::len_utf8)
    };
    let token = &rest[..length];
    if token.trim().is_empty() {
        (None, 1)
    } else {
        (Some(token), length)
    }
}

/// The words of the line around a place that begin before its end, nearest first.
fn line_words(text: &str, at: usize) -> impl Iterator<Item = &str> {
    let at = at.min(text.len());
    let start = text[..at].rfind('\n').map_or(0, |n| n + 1);
    let end = text[at..].find('\n').map_or(text.len(), |n| at + n);
    let line = &text[start..end];
    let mut words: Vec<(usize, &str)> = line
        .split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .filter(|w| w.len() > 1)
        .map(|w| (w.as_ptr() as usize - line.as_ptr() as usize + start, w))
        .collect();
    words.sort_by_key(|&(place, _)| place.abs_diff(at));
    words.into_iter().map(|(_, w)| w)
}

/// Which block is open, when one is.
fn unclosed(text: &str) -> Option<String> {
    let count = |word: &str| {
        text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
            .filter(|w| *w == word)
            .count()
    };
    [
        ("FOR", "ENDFOR"),
        ("CASE", "ESAC"),
        ("WHILE", "OD"),
        ("IF", "FI"),
    ]
    .into_iter()
    .find(|(open, close)| count(open) > count(close) && count("FI") <= count("IF"))
    .map(|(open, close)| format!("every `{open}` needs its `{close}`"))
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
        Rule::op_or
        | Rule::op_and
        | Rule::op_xor
        | Rule::op_rotl
        | Rule::op_shl
        | Rule::op_shr
        | Rule::op_eq
        | Rule::op_ne
        | Rule::op_le
        | Rule::op_ge
        | Rule::op_lt
        | Rule::op_gt
        | Rule::op_add
        | Rule::op_sub
        | Rule::op_mul
        | Rule::op_div
        | Rule::op_rem
        | Rule::op_variable
        | Rule::infix
        | Rule::choice => "an operator",
        Rule::postfix | Rule::slice | Rule::field | Rule::arguments => return None,
        Rule::assign_op => "`:=`",
        Rule::expr | Rule::operand | Rule::primary | Rule::prefix | Rule::number | Rule::name => {
            "an expression"
        }
        Rule::kw_endfor | Rule::kw_fi | Rule::kw_else | Rule::kw_esac | Rule::kw_od => {
            "the end of a block"
        }
        Rule::kw_of => "`OF`",
        Rule::kw_to | Rule::kw_downto | Rule::direction => "`to`",
        Rule::label | Rule::arm => "a label",
        Rule::field_name => "a field",
        _ => return None,
    })
}
