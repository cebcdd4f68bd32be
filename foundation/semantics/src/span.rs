//! Places in source texts.
//!
//! In: texts with names. Out: [`Source`] (shared, cheap to clone), [`Span`] (a byte range in
//! one), lines and columns. It reads no files.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// A text with a name, shared.
#[derive(Clone, PartialEq, Eq)]
pub struct Source(Arc<Inner>);

#[derive(PartialEq, Eq)]
struct Inner {
    name: String,
    text: String,
    /// The first byte of every line.
    lines: Vec<usize>,
}

/// A byte range in some source text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// A position as people count: both from 1, columns in characters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LineColumn {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

impl Span {
    /// The range from `start` to before `end`.
    pub fn new(start: usize, end: usize) -> Span {
        Span { start, end }
    }

    /// The smallest range that holds both.
    pub fn to(self, other: Span) -> Span {
        Span {
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }

    /// The same range in a text in which this one starts at `by`.
    pub fn moved(self, by: usize) -> Span {
        Span {
            start: self.start + by,
            end: self.end + by,
        }
    }
}

impl Source {
    /// A text under a name (usually a path).
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Source {
        let text = text.into();
        let ends = text.bytes().enumerate().filter(|&(_, b)| b == b'\n');
        let lines = std::iter::once(0).chain(ends.map(|(n, _)| n + 1)).collect();
        Source(Arc::new(Inner {
            name: name.into(),
            text,
            lines,
        }))
    }

    /// The text of a file under its path, without the mark of its encoding that some editors begin it with.
    pub fn of_file(path: &Path, text: String) -> Source {
        let text = match text.strip_prefix('\u{feff}') {
            Some(rest) => rest.to_owned(),
            None => text,
        };
        Source::new(path.display().to_string(), text)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// The text of a range; the part of it that exists.
    pub fn slice(&self, span: Span) -> &str {
        let text = self.text();
        let (start, end) = (self.boundary(span.start), self.boundary(span.end));
        text.get(start..end.max(start)).unwrap_or("")
    }

    /// The nearest character boundary at or before a byte.
    fn boundary(&self, at: usize) -> usize {
        let mut at = at.min(self.text().len());
        while !self.text().is_char_boundary(at) {
            at -= 1;
        }
        at
    }

    /// The line of a byte, from 1; quicker than [`Source::line_column`] where lines are long.
    pub fn line(&self, at: usize) -> usize {
        let at = at.min(self.text().len());
        self.0.lines.partition_point(|&start| start <= at)
    }

    /// Line and column of a byte.
    pub fn line_column(&self, at: usize) -> LineColumn {
        let at = self.boundary(at);
        let line = self.line(at);
        let start = self.0.lines[line - 1];
        LineColumn {
            line,
            column: self.text()[start..at].chars().count() + 1,
        }
    }

    /// The line that holds a byte, without its end, and where it starts.
    pub fn line_at(&self, at: usize) -> (usize, &str) {
        let at = self.boundary(at);
        let text = self.text();
        let start = text[..at].rfind('\n').map_or(0, |n| n + 1);
        let end = text[at..].find('\n').map_or(text.len(), |n| at + n);
        (start, text[start..end].trim_end_matches('\r'))
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Source({:?}, {} bytes)", self.name(), self.text().len())
    }
}

#[cfg(test)]
mod tests;
