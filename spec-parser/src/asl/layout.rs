//! What is blank in a body of ASL, and how deep it nests.
//!
//! In: a text as it stands in its file. Out: a text *of the same length* in which comments,
//! blank lines and line feeds inside brackets are blanks, so that spans of the tree point into
//! the file and every line that is left begins a statement. Texts that nest deeper than
//! [`MAX_DEPTH`] or leave a bracket open are refused here, so that the recursive parser after
//! it cannot run out of stack.

use crate::pseudocode::reading::{MAX_DEPTH, Refused};
use semantics::span::Span;

/// The most slices that may be open at a time: the grammar tries each `<` as a slice first.
const MOST_SLICES: usize = 8;

fn fault(message: impl Into<String>, at: usize, hint: impl Into<String>) -> Refused {
    Refused::new(Span::new(at, at + 1), message, hint)
}

/// Lays a text out for the grammar.
pub(crate) fn lay_out(text: &str) -> Result<String, Refused> {
    if let Some(at) = text.find('\t') {
        let hint = "blocks are told by blanks at the beginnings of lines";
        return Err(fault("a tab in the pseudocode", at, hint));
    }
    let mut bytes = text.as_bytes().to_vec();
    blank_comments(&mut bytes);
    join_lines(&mut bytes)?;
    blank_lines(&mut bytes);
    let out = String::from_utf8(bytes).expect("only whole ASCII characters were replaced");
    check_nesting(&out)?;
    check_slices(&out)?;
    Ok(out)
}

/// Holds the number of slices that are open in one statement under the limit.
fn check_slices(text: &str) -> Result<(), Refused> {
    let mut open = 0usize;
    let mut before = b' ';
    for (at, &byte) in text.as_bytes().iter().enumerate() {
        match byte {
            b'<' if before != b' ' => open += 1,
            b'>' => open = open.saturating_sub(1),
            b';' => open = 0,
            _ => {}
        }
        if open > MOST_SLICES {
            return Err(too_deep_by(at, "slices", MOST_SLICES));
        }
        before = byte;
    }
    Ok(())
}

/// Blanks `// …` up to the end of the line.
fn blank_comments(bytes: &mut [u8]) {
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

/// Blanks line feeds inside brackets.
fn join_lines(bytes: &mut [u8]) -> Result<(), Refused> {
    let mut open: Vec<usize> = Vec::new();
    for at in 0..bytes.len() {
        match bytes[at] {
            b'(' | b'[' => {
                open.push(at);
                if open.len() > MAX_DEPTH {
                    return Err(too_deep(at, "brackets"));
                }
            }
            b')' | b']' => {
                let closes = if bytes[at] == b')' { b'(' } else { b'[' };
                let this = char::from(bytes[at]);
                match open.pop() {
                    Some(o) if bytes[o] == closes => {}
                    Some(o) => {
                        let hint = format!("it was opened with `{}`", char::from(bytes[o]));
                        let message = format!("`{this}` does not close this bracket");
                        return Err(fault(message, at, hint));
                    }
                    None => {
                        let message = format!("`{this}` closes nothing that is open");
                        return Err(fault(message, at, "take it away, or open it before"));
                    }
                }
            }
            b'\n' if !open.is_empty() => bytes[at] = b' ',
            _ => {}
        }
    }
    match open.last() {
        Some(&at) => {
            let message = format!("`{}` is never closed", char::from(bytes[at]));
            Err(fault(message, at, "close it in the same statement"))
        }
        None => Ok(()),
    }
}

/// Blanks the line feeds before blank lines, the last one included.
fn blank_lines(bytes: &mut [u8]) {
    let mut next = bytes.len();
    for at in (0..bytes.len()).rev() {
        if bytes[at] != b'\n' {
            continue;
        }
        if bytes[at + 1..next]
            .iter()
            .all(|b| matches!(b, b' ' | b'\r'))
        {
            bytes[at] = b' ';
            if next < bytes.len() {
                continue;
            }
        }
        next = at;
    }
}

fn too_deep(at: usize, what: &str) -> Refused {
    too_deep_by(at, what, MAX_DEPTH)
}

fn too_deep_by(at: usize, what: &str, most: usize) -> Refused {
    let message = format!("{what} nest deeper than {most} levels");
    fault(message, at, "split the text into smaller steps")
}

/// Holds the nesting of blocks and the number of words that nest on one line under the limit.
fn check_nesting(text: &str) -> Result<(), Refused> {
    let mut open: Vec<usize> = Vec::new();
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        let indent = line.len() - line.trim_start_matches(' ').len();
        while open.last().is_some_and(|&o| o >= indent) {
            open.pop();
        }
        open.push(indent);
        let words = line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        let nested = words.filter(|w| matches!(*w, "if" | "for" | "while" | "case"));
        let prefixes = line.bytes().filter(|b| matches!(b, b'!' | b'-' | b'<'));
        if open.len() + nested.count() > MAX_DEPTH {
            return Err(too_deep(offset + indent, "blocks"));
        }
        if prefixes.count() > 4 * MAX_DEPTH {
            return Err(too_deep(offset + indent, "operators"));
        }
        offset += line.len();
    }
    Ok(())
}
