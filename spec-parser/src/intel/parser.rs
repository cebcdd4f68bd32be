//! From a text of pseudocode to its tree.
//!
//! In: a range of a source, and whether it is XML. Out: a [`Block`] or diagnostics. It checks
//! only the grammar: names, widths and values are checked by lowering.

use super::grammar::{Grammar, Rule};
use super::layout::lay_out;
use super::tree::Builder;
use crate::pseudocode::ast::Block;
use crate::pseudocode::reading::{self, Words};
use semantics::diagnostic::{Diagnostic, suggest};
use semantics::span::{Source, Span};

#[cfg(test)]
mod tests;

/// Words that a misspelt word may have been meant as.
const KEYWORDS: &[&str] = &[
    "FOR", "ENDFOR", "IF", "ELSE", "FI", "CASE", "OF", "ESAC", "DEFINE", "RETURN", "DO", "WHILE",
    "OD", "BREAK", "TO", "downto", "AND", "OR", "XOR", "NOT",
];

const WORDS: Words<Rule> = Words {
    rule: in_words,
    hint: |text, at, _| hint(text, at),
    ends: &["ENDFOR", "FI", "ESAC", "OD"],
};

/// Reads a body of pseudocode.
///
/// `span` is where the body stands in `source`; `xml` says that it stands there undecoded.
/// Spans of the tree are places in `source`.
///
/// # Errors
/// What is wrong with the text.
pub fn parse(source: &Source, span: Span, xml: bool) -> Result<Block, Vec<Diagnostic>> {
    let text = reading::text(source, span)?;
    let laid_out = lay_out(text, xml).map_err(|r| r.moved(span.start).diagnostics(source))?;
    let body = reading::pairs::<Grammar, _>(Rule::body, &laid_out, (source, span.start), &WORDS)?;
    let builder = Builder { base: span.start };
    builder.body(body).map_err(|r| r.diagnostics(source))
}

/// What the writer may have meant: a keyword of the line, or the end of a block.
fn hint(text: &str, at: usize) -> Option<String> {
    let near = line_words(text, at).find_map(|word| {
        suggest(word, KEYWORDS.iter().copied())
            .filter(|keyword| *keyword != word)
            .map(|keyword| reading::instead(keyword, word))
    });
    near.or_else(|| unclosed(text))
}

/// The words of the line around a place that begin before its end, nearest first.
fn line_words(text: &str, at: usize) -> impl Iterator<Item = &str> {
    let (start, end) = reading::line(text, at);
    let line = &text[start..end];
    let mut words: Vec<(usize, &str)> = line
        .split(|c| !reading::is_word(c))
        .filter(|w| w.len() > 1)
        .map(|w| (w.as_ptr() as usize - line.as_ptr() as usize + start, w))
        .collect();
    words.sort_by_key(|&(place, _)| place.abs_diff(at));
    words.into_iter().map(|(_, w)| w)
}

/// Which block is open, when one is.
fn unclosed(text: &str) -> Option<String> {
    let count = |word: &str| {
        text.split(|c| !reading::is_word(c))
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
