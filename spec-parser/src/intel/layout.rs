//! What is blank in a body of pseudocode, and how deep it nests.
//!
//! In: a text as it stands in its file. Out: a text *of the same length* in which comments,
//! continued line ends and line feeds inside brackets are blanks and, for XML, entities are
//! the characters that they stand for: every byte keeps its place, so that spans of the tree
//! point into the file. Texts that nest deeper than [`MAX_DEPTH`] or leave a bracket open are
//! refused here, so that the recursive parser after it cannot run out of stack.

use crate::pseudocode::layout::{blank_comments, join_lines, too_deep};
use crate::pseudocode::reading::{MAX_DEPTH, Refused, is_word};

/// Lays a text out for the grammar; `xml` when it stands in an XML file undecoded.
pub(crate) fn lay_out(text: &str, xml: bool) -> Result<String, Refused> {
    let mut bytes = text.as_bytes().to_vec();
    if xml {
        decode_entities(&mut bytes);
    }
    blank_comments(&mut bytes);
    blank_continued(&mut bytes);
    join_lines(&mut bytes, "close it on the same statement")?;
    let out = String::from_utf8(bytes).expect("only whole ASCII characters were replaced");
    check_blocks(&out)?;
    Ok(out)
}

/// Replaces entities by their characters, flush right, so that `&gt;&gt;` gives `>>`.
fn decode_entities(bytes: &mut [u8]) {
    const ENTITIES: [(&[u8], u8); 5] = [
        (b"&gt;", b'>'),
        (b"&lt;", b'<'),
        (b"&amp;", b'&'),
        (b"&quot;", b'"'),
        (b"&apos;", b'\''),
    ];
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        let mut run = Vec::new();
        while let Some((entity, char)) = ENTITIES.iter().find(|(e, _)| bytes[at..].starts_with(e)) {
            run.push(*char);
            at += entity.len();
        }
        if run.is_empty() {
            at += 1;
            continue;
        }
        let first = at - run.len();
        bytes[start..first].fill(b' ');
        bytes[first..at].copy_from_slice(&run);
    }
}

/// Blanks line feeds after `\`.
fn blank_continued(bytes: &mut [u8]) {
    for at in 0..bytes.len() {
        if bytes[at] != b'\\' {
            continue;
        }
        let rest = bytes[at + 1..].iter().position(|b| !b" \t\r".contains(b));
        if let Some(end) = rest.map(|n| at + 1 + n).filter(|&end| bytes[end] == b'\n') {
            bytes[at] = b' ';
            bytes[end] = b' ';
        }
    }
}

/// Holds the nesting of blocks and of choices under the limit.
fn check_blocks(text: &str) -> Result<(), Refused> {
    let mut depth = 0usize;
    let mut offset = 0;
    for line in text.split_inclusive(['\n', ';']) {
        if line.bytes().filter(|&b| b == b'?').count() > MAX_DEPTH {
            return Err(too_deep(offset, "choices", MAX_DEPTH));
        }
        let mut after_else = false;
        for (at, word) in words(line) {
            match word {
                "FOR" | "CASE" | "DEFINE" | "WHILE" => depth += 1,
                "IF" if !after_else => depth += 1,
                "FI" | "ENDFOR" | "ESAC" | "OD" | "}" => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth > MAX_DEPTH {
                return Err(too_deep(offset + at, "blocks", MAX_DEPTH));
            }
            after_else = word == "ELSE";
        }
        offset += line.len();
    }
    Ok(())
}

/// The words of a line, with their places; `}` counts as one.
fn words(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut rest = 0;
    std::iter::from_fn(move || {
        let start = rest + line[rest..].find(|c: char| is_word(c) || c == '}')?;
        let length = if line[start..].starts_with('}') {
            1
        } else {
            let tail = &line[start..];
            tail.find(|c: char| !is_word(c)).unwrap_or(tail.len())
        };
        rest = start + length;
        Some((start, &line[start..rest]))
    })
}
