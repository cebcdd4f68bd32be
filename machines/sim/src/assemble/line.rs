//! The words of a line of assembly text.
//!
//! In: a line and where it begins. Out: words, characters and numbers with their places.

use semantics::span::Span;

/// What is wrong with a line.
pub(super) struct Fault {
    pub(super) message: String,
    pub(super) span: Span,
    pub(super) hint: String,
}

impl Fault {
    pub(super) fn new(span: Span, message: impl Into<String>, hint: impl Into<String>) -> Fault {
        Fault {
            message: message.into(),
            span,
            hint: hint.into(),
        }
    }
}

/// A place in a line.
pub(super) struct Cursor<'a> {
    line: &'a str,
    base: usize,
    at: usize,
    last: Span,
}

fn in_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.')
}

impl<'a> Cursor<'a> {
    pub(super) fn new(line: &'a str, base: usize) -> Cursor<'a> {
        Cursor {
            line,
            base,
            at: 0,
            last: Span::new(base, base),
        }
    }

    fn skip(&mut self) -> &'a str {
        let rest = &self.line[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        &self.line[self.at..]
    }

    fn take(&mut self, length: usize) -> (&'a str, Span) {
        let text = &self.line[self.at..self.at + length];
        self.last = Span::new(self.base + self.at, self.base + self.at + length);
        self.at += length;
        (text, self.last)
    }

    /// The next word, if there is one.
    pub(super) fn word(&mut self) -> Option<(&'a str, Span)> {
        let rest = self.skip();
        let length = rest.find(|c| !in_word(c)).unwrap_or(rest.len());
        (length > 0).then(|| self.take(length))
    }

    pub(super) fn expect_word(&mut self, what: &str) -> Result<(&'a str, Span), Fault> {
        match self.word() {
            Some(word) => Ok(word),
            None => Err(self.missing(what)),
        }
    }

    /// Whether a name, not a number, comes next.
    pub(super) fn at_name(&mut self) -> bool {
        self.skip()
            .starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '.'))
    }

    /// The character, when it comes next.
    pub(super) fn eat(&mut self, c: char) -> bool {
        let there = self.skip().starts_with(c);
        if there {
            self.take(c.len_utf8());
        }
        there
    }

    pub(super) fn number(&mut self) -> Result<(i64, Span), Fault> {
        let minus = self.eat('-');
        let start = self.last;
        let (word, span) = self.expect_word("a number")?;
        let span = if minus { start.to(span) } else { span };
        let value = match word.strip_prefix("0x") {
            Some(hex) => i128::from_str_radix(hex, 16),
            None => word.parse(),
        };
        let value = value.map(|v| if minus { -v } else { v });
        let value = value.ok().and_then(|v| i64::try_from(v).ok());
        let number = value.ok_or_else(|| {
            Fault::new(
                span,
                format!("`{word}` is no number"),
                "numbers are written 42, -42 or 0x2a",
            )
        })?;
        Ok((number, span))
    }

    /// The place of what was taken last.
    pub(super) fn last(&self) -> Span {
        self.last
    }

    /// Something was expected here that is not there.
    pub(super) fn missing(&mut self, what: &str) -> Fault {
        let rest = self.skip();
        let at = self.base + self.at;
        let found = match rest.chars().next() {
            Some(c) => format!("found `{}`", c.escape_debug()),
            None => "the line ends".to_owned(),
        };
        let message = format!(
            "expected {}, but {found}",
            match what.len() {
                1 => format!("`{what}`"),
                _ => what.to_owned(),
            }
        );
        Fault::new(
            Span::new(at, at + 1),
            message,
            "operands are written as the specification's `syntax` says",
        )
    }

    /// The line must end here.
    pub(super) fn end(&mut self, otherwise: &str) -> Result<(), Fault> {
        let rest = self.skip();
        if rest.is_empty() {
            return Ok(());
        }
        let at = self.base + self.at;
        let hint = "one instruction a line; `#` begins a comment";
        Err(Fault::new(
            Span::new(at, at + rest.trim_end().len()),
            otherwise,
            hint,
        ))
    }
}
