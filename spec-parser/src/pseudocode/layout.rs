//! What is blank in a body, and how deep it nests: what is told before a recursive parser goes down.
//!
//! In: a text. Out: the same text with blanks in it, every byte in its place, so that spans of the
//! tree point into the file; or the first bracket that nests deeper than [`MAX_DEPTH`], closes
//! another one than is open, or is left open.

use super::reading::{MAX_DEPTH, Refused};
use semantics::span::Span;

/// What is wrong with one byte of a text.
pub(crate) fn fault(message: impl Into<String>, at: usize, hint: impl Into<String>) -> Refused {
    Refused::new(Span::new(at, at + 1), message, hint)
}

pub(crate) fn too_deep(at: usize, what: &str, most: usize) -> Refused {
    let message = format!("{what} nest deeper than {most} levels");
    fault(message, at, "split the text into smaller steps")
}

/// Brackets that are open, with their places.
#[derive(Default)]
pub(crate) struct Brackets(Vec<(usize, u8)>);

impl Brackets {
    pub(crate) fn depth(&self) -> usize {
        self.0.len()
    }

    /// Opens or closes one.
    ///
    /// # Errors
    /// It does not close the last one that is open.
    pub(crate) fn bracket(&mut self, at: usize, byte: u8) -> Result<(), Refused> {
        let opens = match byte {
            b')' => b'(',
            b']' => b'[',
            b'}' => b'{',
            _ => {
                self.0.push((at, byte));
                return Ok(());
            }
        };
        let this = char::from(byte);
        match self.0.pop() {
            Some((_, opened)) if opened == opens => Ok(()),
            Some((_, opened)) => {
                let hint = format!("it was opened with `{}`", char::from(opened));
                let message = format!("`{this}` does not close this bracket");
                Err(fault(message, at, hint))
            }
            None => {
                let message = format!("`{this}` closes nothing that is open");
                Err(fault(message, at, "take it away, or open it before"))
            }
        }
    }

    /// The end of the text.
    ///
    /// # Errors
    /// One is still open; the hint says where it should be closed.
    pub(crate) fn end(&self, hint: &str) -> Result<(), Refused> {
        match self.0.last() {
            Some(&(at, byte)) => {
                let message = format!("`{}` is never closed", char::from(byte));
                Err(fault(message, at, hint))
            }
            None => Ok(()),
        }
    }
}

/// Blanks `// …` up to the end of the line.
pub(crate) fn blank_comments(bytes: &mut [u8]) {
    let mut at = 0;
    while at + 1 < bytes.len() {
        if &bytes[at..at + 2] == b"//" {
            while at < bytes.len() && bytes[at] != b'\n' {
                bytes[at] = b' ';
                at += 1;
            }
        } else {
            at += 1;
        }
    }
}

/// Blanks line feeds inside round and square brackets; the hint is of those that are left open.
///
/// # Errors
/// Brackets do not match, or nest too deep.
pub(crate) fn join_lines(bytes: &mut [u8], hint: &str) -> Result<(), Refused> {
    let mut open = Brackets::default();
    for (at, byte) in bytes.iter_mut().enumerate() {
        match *byte {
            b'(' | b'[' | b')' | b']' => open.bracket(at, *byte)?,
            b'\n' if open.depth() > 0 => *byte = b' ',
            _ => {}
        }
        if open.depth() > MAX_DEPTH {
            return Err(too_deep(at, "brackets", MAX_DEPTH));
        }
    }
    open.end(hint)
}
