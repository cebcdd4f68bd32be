//! From a text in some notation to the pairs of its grammar, or to what is wrong with it.
//!
//! In: a range of a source, the notation's grammar, and the words in which it speaks of its rules.
//! Out: pairs, or a diagnostic that names what stands at the place, what could have stood there
//! and what the writer may have meant. What a dialect lays out before, and the tree that it
//! makes of the pairs, are its own ([`super::tree`] helps with that).

use pest::error::{Error, ErrorVariant, InputLocation};
use pest::iterators::Pair;
use pest::{Parser, RuleType};
use semantics::diagnostic::{Diagnostic, look_alike, suggest};
use semantics::span::{Source, Span};

/// The longest body that is read, in bytes.
const MAX_BYTES: usize = 1 << 16;

/// The deepest nesting of brackets, blocks and choices that is read: the parsers go down
/// recursively.
pub(crate) const MAX_DEPTH: usize = 48;

/// Why a text is refused, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Refused {
    pub(crate) message: String,
    pub(crate) span: Span,
    pub(crate) hint: String,
}

impl Refused {
    pub(crate) fn new(span: Span, message: impl Into<String>, hint: impl Into<String>) -> Refused {
        Refused {
            message: message.into(),
            span,
            hint: hint.into(),
        }
    }

    /// The same of a text that begins at byte `by` of its source.
    pub(crate) fn moved(self, by: usize) -> Refused {
        Refused {
            span: self.span.moved(by),
            ..self
        }
    }

    pub(crate) fn diagnostics(self, source: &Source) -> Vec<Diagnostic> {
        let diagnostic = Diagnostic::error(self.message).at(source, self.span);
        vec![diagnostic.hint(self.hint)]
    }
}

/// How a notation speaks of its grammar.
pub(crate) struct Words<R> {
    /// A rule in a few words; none where its parts say more.
    pub(crate) rule: fn(R) -> Option<&'static str>,
    /// What the writer may have meant: the text, the place in it, what was expected there.
    pub(crate) hint: fn(&str, usize, &str) -> Option<String>,
    /// Words that end a block; a statement that is one such word misspelt is told where it stands, not at
    /// the end of the text that it left open.
    pub(crate) ends: &'static [&'static str],
}

/// The text of a body.
///
/// # Errors
/// It is longer than any that is read.
pub(crate) fn text(source: &Source, span: Span) -> Result<&str, Vec<Diagnostic>> {
    let text = source.slice(span);
    if text.len() <= MAX_BYTES {
        return Ok(text);
    }
    let message = format!("this body has {} bytes", text.len());
    let hint = format!("at most {MAX_BYTES} are read");
    let start = Span::new(span.start, span.start + 1);
    Err(Refused::new(start, message, hint).diagnostics(source))
}

/// The pair of a grammar's first rule.
///
/// # Errors
/// `text`, which begins at byte `base` of `source`, is none of the grammar's.
pub(crate) fn pairs<'t, P: Parser<R>, R: RuleType>(
    rule: R,
    text: &'t str,
    (source, base): (&Source, usize),
    words: &Words<R>,
) -> Result<Pair<'t, R>, Vec<Diagnostic>> {
    let mut pairs = P::parse(rule, text)
        .map_err(|error| vec![describe(&error, text, (source, base), words)])?;
    let first = pairs.next();
    Ok(first.expect("the grammar's first rule gives one pair"))
}

/// A grammar error in words.
fn describe<R: RuleType>(
    error: &Error<R>,
    text: &str,
    (source, base): (&Source, usize),
    words: &Words<R>,
) -> Diagnostic {
    let at = match error.location {
        InputLocation::Pos(at) | InputLocation::Span((at, _)) => at.min(text.len()),
    };
    let rest = &text[at..];
    let length = match rest.find(|c| !is_word(c)).unwrap_or(rest.len()) {
        0 => rest.chars().next().map_or(0, char::len_utf8),
        word => word,
    };
    if rest.trim().is_empty()
        && let Some((at, word, end)) = misspelt_end(text, words.ends)
    {
        let place = Span::new(base + at, base + at + word.len());
        let message = format!("unexpected `{word}` in the pseudocode");
        let diagnostic = Diagnostic::error(message).at(source, place);
        let diagnostic = diagnostic.label(format!("expected `{end}`"));
        return diagnostic.hint(instead(end, word));
    }
    let alike = rest.chars().next().and_then(look_alike);
    let message = match rest[..length].trim() {
        "" if alike.is_some() => "unexpected character in the pseudocode".to_owned(),
        "" if rest.trim().is_empty() => "the pseudocode ends too early".to_owned(),
        "" => "the statement ends too early".to_owned(),
        token => format!("unexpected `{token}` in the pseudocode"),
    };
    let expected = match &error.variant {
        ErrorVariant::ParsingError { positives, .. } => expectation(positives, words.rule),
        ErrorVariant::CustomError { message } => message.clone(),
    };
    let place = Span::new(base + at, base + at + length.max(1));
    let diagnostic = Diagnostic::error(message)
        .at(source, place)
        .label(format!("expected {expected}"));
    match alike.or_else(|| (words.hint)(text, at, &expected)) {
        Some(hint) => diagnostic.hint(hint),
        None => diagnostic,
    }
}

/// The last line that is one word, near to one that ends a block.
fn misspelt_end<'t>(
    text: &'t str,
    ends: &[&'static str],
) -> Option<(usize, &'t str, &'static str)> {
    let lines = text.split('\n').rev();
    let words = lines.map(|l| l.trim_matches(|c: char| c.is_whitespace() || c == ';'));
    words
        .filter(|w| w.len() > 1 && w.chars().all(is_word))
        .find_map(|word| {
            let end = suggest(word, ends.iter().copied()).filter(|end| *end != word)?;
            Some((word.as_ptr() as usize - text.as_ptr() as usize, word, end))
        })
}

/// What the grammar would have taken, in a few words.
fn expectation<R: RuleType>(rules: &[R], in_words: fn(R) -> Option<&'static str>) -> String {
    let mut words: Vec<&str> = rules.iter().filter_map(|&rule| in_words(rule)).collect();
    words.sort_unstable();
    words.dedup();
    match words.as_slice() {
        [] => "a statement".to_owned(),
        [one] => (*one).to_owned(),
        [init @ .., last] => format!("{} or {last}", init.join(", ")),
    }
}

/// Whether a character belongs to words.
pub(crate) fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Where the line around a place begins and ends.
pub(crate) fn line(text: &str, at: usize) -> (usize, usize) {
    let start = text[..at].rfind('\n').map_or(0, |n| n + 1);
    let end = text[at..].find('\n').map_or(text.len(), |n| at + n);
    (start, end)
}

/// A keyword that a word of a line is but for the case of its letters.
pub(crate) fn keyword_in_other_case(line: &str, keywords: &[&'static str]) -> Option<String> {
    let words = line.split(|c| !is_word(c)).filter(|w| w.len() > 1);
    words.filter(|w| !keywords.contains(w)).find_map(|w| {
        let keyword = suggest(w, keywords.iter().copied())?;
        w.eq_ignore_ascii_case(keyword).then(|| instead(keyword, w))
    })
}

/// The hint that a keyword may have been meant.
pub(crate) fn instead(keyword: &str, word: &str) -> String {
    format!("did you mean `{keyword}` instead of `{word}`?")
}
