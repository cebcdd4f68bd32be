//! What is blank in a body of pseudocode, and how deep it nests.
//!
//! In: a text as it stands in its file. Out: a text *of the same length* in which comments,
//! continued line ends and line feeds inside brackets are blanks and, for XML, entities are
//! the characters that they stand for: every byte keeps its place, so that spans of the tree
//! point into the file. Texts that nest deeper than [`MAX_DEPTH`] or leave a bracket open are
//! refused here, so that the recursive parser after it cannot run out of stack.

use crate::pseudocode::reading::{MAX_DEPTH, Refused};
use semantics::span::Span;

fn fault(message: impl Into<String>, at: usize, length: usize, hint: impl Into<String>) -> Refused {
    Refused::new(Span::new(at, at + length), message, hint)
}

/// Lays a text out for the grammar; `xml` when it stands in an XML file undecoded.
pub(crate) fn lay_out(text: &str, xml: bool) -> Result<String, Refused> {
    let mut bytes = text.as_bytes().to_vec();
    if xml {
        decode_entities(&mut bytes);
    }
    blank_comments(&mut bytes);
    join_lines(&mut bytes)?;
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

/// Blanks line feeds after `\` and inside brackets.
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
                let expected = if bytes[at] == b')' { b'(' } else { b'[' };
                match open.pop() {
                    Some(o) if bytes[o] == expected => {}
                    Some(o) => {
                        let hint = format!("it was opened with `{}`", char::from(bytes[o]));
                        let message =
                            format!("`{}` does not close this bracket", char::from(bytes[at]));
                        return Err(fault(message, at, 1, hint));
                    }
                    None => {
                        let message =
                            format!("`{}` closes nothing that is open", char::from(bytes[at]));
                        return Err(fault(message, at, 1, "take it away, or open it before"));
                    }
                }
            }
            b'\n' if !open.is_empty() => bytes[at] = b' ',
            b'\\' => {
                let rest = bytes[at + 1..].iter().position(|b| !b" \t\r".contains(b));
                if let Some(end) = rest.map(|n| at + 1 + n).filter(|&end| bytes[end] == b'\n') {
                    bytes[at] = b' ';
                    bytes[end] = b' ';
                }
            }
            _ => {}
        }
    }
    match open.last() {
        Some(&at) => {
            let message = format!("`{}` is never closed", char::from(bytes[at]));
            Err(fault(message, at, 1, "close it on the same statement"))
        }
        None => Ok(()),
    }
}

fn too_deep(at: usize, what: &str) -> Refused {
    let message = format!("{what} nest deeper than {MAX_DEPTH} levels");
    fault(message, at, 1, "split the text into smaller steps")
}

/// Holds the nesting of blocks and of choices under the limit.
fn check_blocks(text: &str) -> Result<(), Refused> {
    let mut depth = 0usize;
    let mut offset = 0;
    for line in text.split_inclusive(['\n', ';']) {
        if line.bytes().filter(|&b| b == b'?').count() > MAX_DEPTH {
            return Err(too_deep(offset, "choices"));
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
                return Err(too_deep(offset + at, "blocks"));
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
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
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
