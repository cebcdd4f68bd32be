//! From a text of ASL to its tree.
//!
//! In: a range of a source. Out: a [`Block`] or diagnostics. It checks only the grammar:
//! names, widths and values are checked by lowering.

use super::grammar::{Grammar, Rule};
use super::layout::lay_out;
use super::tree::Builder;
use crate::pseudocode::ast::Block;
use crate::pseudocode::notation::Notation as _;
use crate::pseudocode::reading::{self, Words};
use semantics::diagnostic::Diagnostic;
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

const WORDS: Words<Rule> = Words {
    rule: in_words,
    hint,
    ends: &[],
};

/// Reads a body.
///
/// # Errors
/// What is wrong with the text.
pub(super) fn parse(source: &Source, span: Span) -> Result<Block, Vec<Diagnostic>> {
    let text = reading::text(source, span)?;
    let laid_out = lay_out(text).map_err(|r| r.moved(span.start).diagnostics(source))?;
    let body = reading::pairs::<Grammar, _>(Rule::body, &laid_out, (source, span.start), &WORDS)?;
    let builder = Builder { base: span.start };
    builder.block(body).map_err(|r| r.diagnostics(source))
}

/// What the writer may have meant: another keyword of the line, a `;`, an indentation.
fn hint(text: &str, at: usize, expected: &str) -> Option<String> {
    let (start, end) = reading::line(text, at);
    let misspelt = reading::keyword_in_other_case(&text[start..end], KEYWORDS);
    if misspelt.is_some() {
        return misspelt;
    }
    if let Some(meant) = idiom(&text[start..end], at - start) {
        return Some(meant.to_owned());
    }
    if text[at..].starts_with('\n') || text[at..].trim().is_empty() {
        return Some("a statement ends with `;`".to_owned());
    }
    if expected.contains("indented") || text[start..at].trim().is_empty() {
        return Some("statements of one block begin in the same column".to_owned());
    }
    None
}

/// What somebody meant who writes ASL as C or another pseudocode: a line, and the place in it that is
/// none.
fn idiom(line: &str, at: usize) -> Option<&'static str> {
    let (before, rest) = (&line[..at], line[at..].trim_start());
    let has = |word: &str| line.split(|c| !reading::is_word(c)).any(|w| w == word);
    let first = line.trim_start();
    let word = &first[..first.find(|c| !reading::is_word(c)).unwrap_or(first.len())];
    Some(match () {
        () if line.contains(":=") || rest.starts_with("==") => "an assignment is written `=`",
        () if word == "for" && rest.starts_with('(') => {
            "loops are written `for e = 0 to 15`, what they repeat indented below"
        }
        () if rest.starts_with('?') => "a value is chosen by `if c then a else b`",
        () if rest.starts_with("++") || rest.starts_with("+=") || rest.starts_with("-=") => {
            "write `x = x + 1`"
        }
        () if rest.starts_with(['{', '}']) || before.trim_end().ends_with(['{', '}']) => {
            "blocks are told by their indentation, without braces"
        }
        () if word.starts_with("end") || word == "fi" || word == "done" => {
            "blocks are told by their indentation and have no word at the end"
        }
        () if has("then") && !has("else") && rest.starts_with(';') => {
            "of `if c then a else b` the `else` is missing"
        }
        () if before.trim_end().ends_with('.') || rest.starts_with('.') => {
            "numbers are whole: half of a step is added before a shift"
        }
        () if C_TYPES.contains(&word) || word.ends_with("_t") => {
            "names get their types by `integer x = 1;` or `bits(8) x = a;`"
        }
        () => return None,
    })
}

/// Types of C that somebody may write who means ASL's.
const C_TYPES: &[&str] = &[
    "int", "unsigned", "signed", "char", "short", "long", "float", "double", "bool", "const",
    "var", "let", "auto",
];

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
