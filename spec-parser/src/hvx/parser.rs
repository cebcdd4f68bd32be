//! From a text in the manual's notation to its tree.
//!
//! In: a range of a source. Out: a [`Block`] or diagnostics. It checks only the grammar:
//! names, widths and values are checked by lowering.

use super::grammar::{Grammar, Rule};
use super::nesting;
use super::tree::Builder;
use crate::pseudocode::ast::Block;
use crate::pseudocode::reading::{self, Words};
use semantics::diagnostic::{Diagnostic, suggest};
use semantics::span::{Source, Span};

/// Words that a misspelt word may have been meant as.
const KEYWORDS: &[&str] = &["for", "if", "else", "int"];

const WORDS: Words<Rule> = Words {
    rule: in_words,
    hint: |text, at, _| hint(text, at),
    ends: &[],
};

/// Reads a body.
///
/// # Errors
/// What is wrong with the text.
pub(super) fn parse(source: &Source, span: Span) -> Result<Block, Vec<Diagnostic>> {
    let text = reading::text(source, span)?;
    nesting::check(text).map_err(|r| r.moved(span.start).diagnostics(source))?;
    let body = reading::pairs::<Grammar, _>(Rule::body, text, (source, span.start), &WORDS)?;
    let builder = Builder::new(text, span.start);
    builder.body(body).map_err(|r| r.diagnostics(source))
}

/// What the writer may have meant: a keyword, a `;`, an operator.
fn hint(text: &str, at: usize) -> Option<String> {
    let (start, end) = reading::line(text, at);
    let misspelt = reading::keyword_in_other_case(&text[start..end], KEYWORDS);
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
        return Some(reading::instead(keyword, word));
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
