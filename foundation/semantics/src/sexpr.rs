//! S-expressions with places: the shape of every text form in the workspace.
//!
//! In: a source and a range of it. Out: [`Sexpr`]s with spans, and diagnostics for brackets
//! that do not pair. It gives no meaning to atoms and keeps no comments (`;` to the end of
//! the line).

use crate::diagnostic::Diagnostic;
use crate::span::{Source, Span};
use pest::Parser as _;
use tokens::{Rule, Tokens};

/// The deepest accepted nesting of lists: what follows recurses over them.
pub const MAX_DEPTH: usize = 400;

/// The tokens, generated from the grammar.
mod tokens {
    #![allow(missing_docs)] // the derive writes an enum without documentation

    /// The lexer.
    #[derive(pest_derive::Parser)]
    #[grammar = "sexpr.pest"]
    pub(super) struct Tokens;
}

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
    match Tokens::parse(Rule::tokens, text) {
        Ok(mut pairs) => {
            let tokens = pairs.next().into_iter().flat_map(|p| p.into_inner());
            for token in tokens {
                let span = token.as_span();
                let span = Span::new(span.start(), span.end()).moved(range.start);
                reader.token(token.as_rule(), token.as_str(), span);
            }
        }
        Err(error) => {
            let at = match error.location {
                pest::error::InputLocation::Pos(at) => at,
                pest::error::InputLocation::Span((at, _)) => at,
            };
            let span = Span::new(at, at + 1).moved(range.start);
            reader.error("this text cannot be read", span, "unexpected");
        }
    }
    reader.finish()
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

    fn token(&mut self, rule: Rule, text: &str, span: Span) {
        match rule {
            Rule::open if self.open.len() == MAX_DEPTH => {
                if self.too_deep == 0 {
                    let message = format!("lists may nest {MAX_DEPTH} deep");
                    self.error(&message, span, "too deep");
                }
                self.too_deep += 1;
            }
            Rule::open => self.open.push((span, Vec::new())),
            Rule::close if self.too_deep > 0 => self.too_deep -= 1,
            Rule::close => match self.open.pop() {
                Some((start, members)) => self.add(start.to(span), Shape::List(members)),
                None => self.error(
                    "a closing bracket without an opening one",
                    span,
                    "closes nothing",
                ),
            },
            Rule::quoted => self.add(span, Shape::Quoted(text.trim_matches('|').to_owned())),
            Rule::stray => {
                self.error(
                    "a name that is not closed",
                    span,
                    "the closing `|` is missing",
                );
            }
            Rule::plain => self.add(span, Shape::Atom(text.to_owned())),
            _ => {}
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
