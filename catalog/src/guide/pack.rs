//! Data of the guide as short texts.
//!
//! In: what serde writes as JSON, or bytes. Out: a call of a script with them: JSON as raw DEFLATE in
//! base64, a tenth of what it is as it stands, which `guide.unpack` of `store.js` reads by the browser's own
//! `DecompressionStream`; bytes in base64. It knows nothing of what it packs.

use serde::Serialize;
use std::io::{self, Write};

/// How much work is put into packing, of 10: more makes it slower and hardly smaller.
const LEVEL: u8 = 6;

/// Writes `guide.WHAT(NUMBER,"…");`.
pub(super) fn call(
    out: &mut dyn Write,
    what: &str,
    number: usize,
    data: &impl Serialize,
) -> io::Result<()> {
    let text = serde_json::to_vec(data)?;
    let packed = miniz_oxide::deflate::compress_to_vec(&text, LEVEL);
    write!(out, "guide.{what}({number},\"")?;
    base64(out, &packed)?;
    out.write_all(b"\");\n")
}

/// Writes bytes in base64.
pub(super) fn base64(out: &mut dyn Write, bytes: &[u8]) -> io::Result<()> {
    let mut text = Vec::with_capacity(bytes.len().div_ceil(3) * 4);
    for piece in bytes.chunks(3) {
        text.extend(digits(piece));
    }
    out.write_all(&text)
}

/// Up to three bytes as four characters.
fn digits(bytes: &[u8]) -> [u8; 4] {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let word = { bytes.iter().chain([0; 2].iter()).take(3) }
        .fold(0, |word, &b| word << 8 | usize::from(b));
    std::array::from_fn(|k| match k > bytes.len() {
        true => b'=',
        false => DIGITS[word >> (18 - 6 * k) & 63],
    })
}
