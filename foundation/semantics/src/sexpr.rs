//! S-expressions with places: the shape of every text form in the workspace.
//!
//! In: a source and a range of it. Out: [`Sexpr`]s with spans, and diagnostics for brackets
//! that do not pair. It gives no meaning to atoms and keeps no comments (`;` to the end of
//! the line).

use crate::diagnostic::Diagnostic;
use crate::span::{Source, Span};

/// The deepest accepted nesting of lists: what follows recurses over them.
pub const MAX_DEPTH: usize = 400;

/// An S-expression and where it stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sexpr {
    /// The range that it covers, brackets included.
    pub span: Span,
    /// What it is.
    pub shape: Shape,
}

/// What an S-expression is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Shape {
    /// A word.
    Atom(String),
    /// A name written between bars, without them: never a keyword, a number or a local name.
    Quoted(String),
    /// Expressions in brackets.
    List(Vec<Sexpr>),
}

impl Sexpr {
    /// The word of an atom.
    pub fn atom(&self) -> Option<&str> {
        match &self.shape {
            Shape::Atom(word) => Some(word),
            _ => None,
        }
    }

    /// The word of an atom or a quoted name.
    pub fn name(&self) -> Option<&str> {
        match &self.shape {
            Shape::Atom(word) | Shape::Quoted(word) => Some(word),
            Shape::List(_) => None,
        }
    }

    /// The members of a list.
    pub fn list(&self) -> Option<&[Sexpr]> {
        match &self.shape {
            Shape::List(members) => Some(members),
            _ => None,
        }
    }

    /// The members of a list that starts with this keyword, the keyword left out.
    pub fn form(&self, keyword: &str) -> Option<&[Sexpr]> {
        let (head, rest) = self.list()?.split_first()?;
        (head.atom() == Some(keyword)).then_some(rest)
    }
}

/// Reads every expression in a range of a source.
///
/// # Errors
/// One diagnostic for each bracket without a partner, each name that is not closed and each
/// list nested deeper than [`MAX_DEPTH`].
pub fn read(source: &Source, range: Span) -> Result<Vec<Sexpr>, Vec<Diagnostic>> {
    let text = source.slice(range);
    let mut reader = Reader {
        source,
        open: Vec::new(),
        top: Vec::new(),
        too_deep: 0,
        diagnostics: Vec::new(),
    };
    let mut at = 0;
    while let Some((token, length)) = Token::first(&text[at..]) {
        let span = Span::new(at, at + length).moved(range.start);
        reader.token(token, &text[at..at + length], span);
        at += length;
    }
    reader.finish()
}

/// What a text starts with. Everything is some token: what does not fit is told of by the reader.
#[derive(Clone, Copy)]
enum Token {
    Open,
    Close,
    /// A name between bars.
    Quoted,
    /// A bar without a second one on its line, and what is behind it.
    Stray,
    /// A word.
    Plain,
    /// White space or a comment.
    Blank,
}

impl Token {
    /// The token and how many bytes it has; none where the text is at its end. What ends a token is
    /// one byte, so no character is cut.
    fn first(text: &str) -> Option<(Token, usize)> {
        let until = |ends: fn(u8) -> bool| {
            let more = text.bytes().skip(1).position(ends);
            more.map_or(text.len(), |more| more + 1)
        };
        let found = match text.bytes().next()? {
            b'(' => (Token::Open, 1),
            b')' => (Token::Close, 1),
            b'|' => {
                let end = until(|byte| matches!(byte, b'|' | b'\n'));
                match text.as_bytes().get(end) {
                    Some(b'|') => (Token::Quoted, end + 1),
                    _ => (Token::Stray, end),
                }
            }
            b';' => (Token::Blank, until(|byte| byte == b'\n')),
            b' ' | b'\t' | b'\r' | b'\n' => (Token::Blank, 1),
            _ => (Token::Plain, until(ends_word)),
        };
        Some(found)
    }
}

/// Whether a byte is not part of a word.
fn ends_word(byte: u8) -> bool {
    matches!(
        byte,
        b' ' | b'\t' | b'\r' | b'\n' | b'(' | b')' | b'|' | b';'
    )
}

struct Reader<'s> {
    source: &'s Source,
    /// Lists that are not closed yet: where each starts, and its members so far.
    open: Vec<(Span, Vec<Sexpr>)>,
    top: Vec<Sexpr>,
    /// How many lists are open beyond the deepest accepted nesting.
    too_deep: usize,
    diagnostics: Vec<Diagnostic>,
}

impl Reader<'_> {
    fn error(&mut self, message: &str, span: Span, label: &str) {
        let d = Diagnostic::error(message)
            .at(self.source, span)
            .label(label);
        self.diagnostics.push(d);
    }

    fn add(&mut self, span: Span, shape: Shape) {
        let to = self.open.last_mut().map_or(&mut self.top, |(_, m)| m);
        to.push(Sexpr { span, shape });
    }

    fn token(&mut self, token: Token, text: &str, span: Span) {
        match token {
            Token::Open if self.open.len() == MAX_DEPTH => {
                if self.too_deep == 0 {
                    let message = format!("lists may nest {MAX_DEPTH} deep");
                    self.error(&message, span, "too deep");
                }
                self.too_deep += 1;
            }
            Token::Open => self.open.push((span, Vec::new())),
            Token::Close if self.too_deep > 0 => self.too_deep -= 1,
            Token::Close => match self.open.pop() {
                Some((start, members)) => self.add(start.to(span), Shape::List(members)),
                None => self.error(
                    "a closing bracket without an opening one",
                    span,
                    "closes nothing",
                ),
            },
            Token::Quoted => self.add(span, Shape::Quoted(text.trim_matches('|').to_owned())),
            Token::Stray => {
                self.error(
                    "a name that is not closed",
                    span,
                    "the closing `|` is missing",
                );
            }
            Token::Plain => self.add(span, Shape::Atom(text.to_owned())),
            Token::Blank => {}
        }
    }

    fn finish(mut self) -> Result<Vec<Sexpr>, Vec<Diagnostic>> {
        for (span, _) in std::mem::take(&mut self.open) {
            self.error(
                "an opening bracket without a closing one",
                span,
                "never closed",
            );
        }
        if self.diagnostics.is_empty() {
            Ok(self.top)
        } else {
            Err(self.diagnostics)
        }
    }
}

#[cfg(test)]
mod tests;
