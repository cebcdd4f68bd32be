//! How deep a body nests, told before the recursive parser goes down.
//!
//! In: a text. Out: the first place where brackets, choices or prefixes nest deeper than
//! [`MAX_DEPTH`], or where a bracket does not close the one that is open.

use crate::pseudocode::layout::{Brackets, fault};
use crate::pseudocode::reading::{MAX_DEPTH, Refused};

/// Holds the nesting of a text under the limit.
pub(crate) fn check(text: &str) -> Result<(), Refused> {
    let mut open = Brackets::default();
    let mut nested = 0;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' | b'[' | b'{' | b')' | b']' | b'}' => open.bracket(at, byte)?,
            b';' => nested = 0,
            // Choices, and statements and prefixes without brackets around them.
            b'?' | b'!' | b'~' | b'-' => nested += 1,
            b'f' if is_word(text, at, "for") || is_word(text, at, "if") => nested += 1,
            b'i' if is_word(text, at, "if") => nested += 1,
            b'e' if is_word(text, at, "else") => nested += 1,
            _ => {}
        }
        if open.depth() + nested > MAX_DEPTH {
            let message = format!("this nests deeper than {MAX_DEPTH} levels");
            return Err(fault(message, at, "split the text into smaller steps"));
        }
    }
    open.end("close it in the same body")
}

fn is_word(text: &str, at: usize, word: &str) -> bool {
    let letter = |b: Option<&u8>| b.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    let bytes = text.as_bytes();
    let starts = bytes[at..].starts_with(word.as_bytes());
    starts && !letter(bytes.get(at + word.len())) && !letter(at.checked_sub(1).map(|n| &bytes[n]))
}
