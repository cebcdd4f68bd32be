//! What is blank in a body of ASL, and how deep it nests.
//!
//! In: a text as it stands in its file. Out: a text *of the same length* in which comments,
//! blank lines and line feeds inside brackets are blanks, so that spans of the tree point into
//! the file and every line that is left begins a statement. Texts that nest deeper than
//! [`MAX_DEPTH`] or leave a bracket open are refused here, so that the recursive parser after
//! it cannot run out of stack.

use crate::pseudocode::layout::{blank_comments, fault, join_lines, too_deep};
use crate::pseudocode::reading::{MAX_DEPTH, Refused, is_word};

/// The most slices that may be open at a time: the grammar tries each `<` as a slice first.
const MOST_SLICES: usize = 8;

/// Lays a text out for the grammar.
pub(crate) fn lay_out(text: &str) -> Result<String, Refused> {
    if let Some(at) = text.find('\t') {
        let hint = "blocks are told by blanks at the beginnings of lines";
        return Err(fault("a tab in the pseudocode", at, hint));
    }
    let mut bytes = text.as_bytes().to_vec();
    blank_comments(&mut bytes);
    join_lines(&mut bytes, "close it in the same statement")?;
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
            return Err(too_deep(at, "slices", MOST_SLICES));
        }
        before = byte;
    }
    Ok(())
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
        let words = line.split(|c| !is_word(c));
        let nested = words.filter(|w| matches!(*w, "if" | "for" | "while" | "case"));
        let prefixes = line.bytes().filter(|b| matches!(b, b'!' | b'-' | b'<'));
        if open.len() + nested.count() > MAX_DEPTH {
            return Err(too_deep(offset + indent, "blocks", MAX_DEPTH));
        }
        if prefixes.count() > 4 * MAX_DEPTH {
            return Err(too_deep(offset + indent, "operators", MAX_DEPTH));
        }
        offset += line.len();
    }
    Ok(())
}
