//! Texts with placeholders, and texts that know where each part of them was written.
//!
//! In: a piece of a specification file. Out: [`Template`], rendered once per expansion to a
//! [`Mapped`] text whose byte ranges can be traced back to that file.

use super::expr::{Bindings, Expr, Fault, Value};
use semantics::span::Span;

/// A text that was put together from pieces of a file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Mapped {
    /// The text.
    pub text: String,
    /// Where each piece is from, in order of `at`.
    marks: Vec<Mark>,
}

/// From `at` on, the text is from `source` of the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Mark {
    at: usize,
    source: Span,
    /// The piece is the text at `source` letter for letter.
    verbatim: bool,
}

impl Mapped {
    /// A text that stands in the file as it is, from byte `start` on.
    pub(crate) fn verbatim(text: &str, start: usize) -> Mapped {
        let mut mapped = Mapped::default();
        mapped.push_verbatim(text, start);
        mapped
    }

    /// Adds a piece that stands in the file as it is.
    pub(crate) fn push_verbatim(&mut self, text: &str, start: usize) {
        self.mark(Span::new(start, start + text.len()), true);
        self.text.push_str(text);
    }

    /// Adds a piece that was made from a range of the file.
    pub(crate) fn push_derived(&mut self, text: &str, from: Span) {
        self.mark(from, false);
        self.text.push_str(text);
    }

    /// Adds a range of another mapped text.
    pub(crate) fn push_mapped(&mut self, other: &Mapped, range: Span) {
        let mut at = range.start;
        while at < range.end {
            let index = other.marks.partition_point(|m| m.at <= at);
            let stop = other
                .marks
                .get(index)
                .map_or(range.end, |next| next.at.min(range.end));
            let piece = &other.text[at..stop];
            match index.checked_sub(1).map(|i| other.marks[i]) {
                Some(mark) if mark.verbatim => {
                    self.push_verbatim(piece, mark.source.start + (at - mark.at));
                }
                Some(mark) => self.push_derived(piece, mark.source),
                None => self.push_derived(piece, Span::default()),
            }
            at = stop;
        }
    }

    fn mark(&mut self, source: Span, verbatim: bool) {
        self.marks.push(Mark {
            at: self.text.len(),
            source,
            verbatim,
        });
    }

    /// The range of the file that a range of this text was written in.
    pub fn locate(&self, span: Span) -> Span {
        let last = span.end.max(span.start + 1) - 1;
        self.locate_byte(span.start).to(self.locate_byte(last))
    }

    /// Whether a place of this text stands in the file as it is.
    pub(crate) fn stands(&self, at: usize) -> bool {
        let index = self.marks.partition_point(|m| m.at <= at);
        let mark = index.checked_sub(1).map(|i| self.marks[i]);
        mark.is_some_and(|mark| mark.verbatim)
    }

    fn locate_byte(&self, at: usize) -> Span {
        let index = self.marks.partition_point(|m| m.at <= at);
        let Some(mark) = index.checked_sub(1).map(|i| self.marks[i]) else {
            return Span::default();
        };
        if mark.verbatim {
            let byte = mark.source.start + (at - mark.at);
            Span::new(byte, byte + 1)
        } else {
            mark.source
        }
    }

    /// The lines, each with its range in the text, without line ends.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (Span, &str)> {
        let mut at = 0;
        self.text.split_inclusive('\n').map(move |line| {
            let span = Span::new(at, at + line.len());
            at += line.len();
            (span, line.trim_end_matches('\n'))
        })
    }
}

/// A text with placeholders.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    text: Mapped,
    parts: Vec<Part>,
}

#[derive(Clone, Debug)]
enum Part {
    Literal(Span),
    Placeholder(Span, Expr),
}

/// What is wrong in a template, and where in the file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Problem {
    /// A sentence.
    pub(crate) message: String,
    /// The range of the file.
    pub(crate) span: Span,
    /// The variable that nothing binds, if that is what is wrong.
    pub(crate) unknown: Option<String>,
    /// How to mend it.
    pub(crate) hint: Option<String>,
}

/// The most placeholders of a text: each is worked out for every row, and where it came from is kept.
const MOST_PLACEHOLDERS: usize = 1_000;

impl Template {
    /// Finds the placeholders. A `{` that ends its line opens a block of the notation and is
    /// no placeholder; nor is a `}` without one.
    pub(crate) fn parse(text: Mapped) -> Result<Template, Problem> {
        let mut parts = Vec::new();
        let mut at = 0;
        let whole = text.text.as_str();
        while let Some(open) = whole[at..].find('{').map(|n| at + n) {
            let line_end = whole[open..].find('\n').map_or(whole.len(), |n| open + n);
            let after = &whole[open + 1..line_end];
            if after.trim().is_empty() || after.trim_start().starts_with("//") {
                parts.push(Part::Literal(Span::new(at, open + 1)));
                at = open + 1;
                continue;
            }
            let problem = |message: String, from: usize, to: usize| Problem {
                message,
                span: text.locate(Span::new(from, to)),
                unknown: None,
                hint: None,
            };
            if parts.len() > 2 * MOST_PLACEHOLDERS {
                let message = format!("this has more than {MOST_PLACEHOLDERS} placeholders");
                return Err(problem(message, open, open + 1));
            }
            let Some(length) = after.find('}') else {
                let message = "the placeholder has no closing `}`".to_owned();
                return Err(problem(message, open, line_end));
            };
            let close = open + 1 + length;
            let expr = Expr::parse(&whole[open + 1..close]).map_err(|(message, offset)| {
                let from = open + 1 + offset;
                problem(message, from, close.max(from + 1))
            })?;
            parts.push(Part::Literal(Span::new(at, open)));
            parts.push(Part::Placeholder(Span::new(open, close + 1), expr));
            at = close + 1;
        }
        parts.push(Part::Literal(Span::new(at, whole.len())));
        Ok(Template { text, parts })
    }

    /// The text for one choice of the variables.
    pub(crate) fn render(&self, bindings: &Bindings) -> Result<Mapped, Problem> {
        let mut out = Mapped::default();
        for part in &self.parts {
            match part {
                Part::Literal(span) => out.push_mapped(&self.text, *span),
                Part::Placeholder(span, expr) => {
                    let from = self.text.locate(*span);
                    let value = expr.eval(bindings).map_err(|f| problem_of(&f, from))?;
                    out.push_derived(&value.to_string(), from);
                }
            }
        }
        Ok(out)
    }

    /// The value for one choice of the variables: a number where the whole text is one
    /// placeholder or an integer.
    pub(crate) fn value(&self, bindings: &Bindings) -> Result<Value, Problem> {
        let text = self.render(bindings)?.text;
        Ok(text.parse().map_or(Value::Text(text), Value::Int))
    }
}

/// The problem of an expression that has no value.
pub(crate) fn problem_of(fault: &Fault, span: Span) -> Problem {
    Problem {
        message: fault.to_string(),
        span,
        unknown: match fault {
            Fault::Unknown(name) => Some(name.clone()),
            _ => None,
        },
        hint: None,
    }
}
