//! Where in a manifest or an item something stands, and what is told there.
//!
//! In: sources, keys, and words of what is wrong. Out: places, as narrow as they are known;
//! diagnostics at them; sizes, whose formulas are read here.

use super::file::RawInstruction;
use super::{lower, parser};
use crate::family::Mapped;
use crate::family::file::Item;
use crate::manifest::scalar_text;
use crate::pseudocode::reading::Refused;
use semantics::diagnostic::Diagnostic;
use semantics::span::{Source, Span};
use serde_yaml::Value;
use std::collections::BTreeMap;

/// The place of a key in the manifest.
pub(super) fn place_of(source: &Source, key: &str) -> Span {
    let text = source.text();
    let found = text
        .match_indices(&format!("{key}:"))
        .map(|(at, _)| at)
        .find(|&at| text[..at].ends_with([' ', '\n', '{']) || at == 0);
    let at = found.unwrap_or(0);
    Span::new(at, at + key.len())
}

/// The place of a word of the manifest that stands somewhere behind a key; that of the key if there
/// is none.
pub(super) fn place_of_word(source: &Source, key: &str, word: &str) -> Span {
    let from = place_of(source, key);
    let text = source.text();
    let part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
    let mut places = text[from.end..].match_indices(word);
    let found = places.find(|(at, _)| {
        let at = from.end + at;
        !text[..at].ends_with(part) && !text[at + word.len()..].starts_with(part)
    });
    match found {
        Some((at, _)) if !word.is_empty() => Span::new(from.end + at, from.end + at + word.len()),
        _ => from,
    }
}

/// The place of a key that has this value, of the key if it is not written so.
pub(super) fn place_of_value(source: &Source, key: &str, value: &str) -> Span {
    let text = source.text();
    let told = |(at, _): (usize, &str)| {
        let start = at + key.len() + 1;
        let rest = text[start..].trim_start_matches([' ', '"']);
        let end = rest.strip_prefix(value)?;
        let ends = end.is_empty() || end.starts_with([',', '}', '"', ' ', '\n', '\r', '#']);
        let begins = at == 0 || text[..at].ends_with([' ', '\n', '{']);
        let from = text.len() - rest.len();
        (ends && begins).then(|| Span::new(from, from + value.len()))
    };
    let key_text = format!("{key}:");
    let mut keys = text.match_indices(&key_text);
    keys.find_map(told).unwrap_or_else(|| place_of(source, key))
}

/// A size: a number, or a formula over sizes that were named before.
pub(super) fn size(
    key: &str,
    value: &Value,
    parameters: &BTreeMap<String, i64>,
    source: &Source,
) -> Result<i64, Diagnostic> {
    let place = place_of(source, key);
    let text = scalar_text(value).ok_or_else(|| {
        Diagnostic::error(format!("`{key}` must be a number or a formula"))
            .at(source, place)
            .hint("write it as `32` or `32 * ROWS`")
    })?;
    parser::formula(&text)
        .and_then(|formula| lower::constant(&formula, parameters))
        .map_err(|refused| {
            Diagnostic::error(refused.message)
                .at(source, place_of_value(source, key, &text))
                .hint(refused.hint)
        })
}

/// The diagnostic for something refused in a key's text.
pub(super) fn refused(
    item: &Item<RawInstruction>,
    key: &str,
    text: &str,
    refused: Refused,
) -> Diagnostic {
    let mapped: Mapped = item.mapped(key, text);
    Diagnostic::error(refused.message)
        .at(&item.source, mapped.locate(refused.span))
        .hint(refused.hint)
}

pub(super) fn wrong(
    item: &Item<RawInstruction>,
    key: &str,
    message: String,
    hint: String,
) -> Diagnostic {
    let place = item.value_place(key);
    let place = named(item, place, &message).unwrap_or(place);
    Diagnostic::error(message)
        .at(&item.source, place)
        .hint(hint)
}

/// The place of what a message names first, in the value of a key.
fn named(item: &Item<RawInstruction>, value: Span, message: &str) -> Option<Span> {
    let name = message.split('`').nth(1).filter(|name| !name.is_empty())?;
    let text = &item.source.text()[..item.end()];
    let part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
    let mut places = text[value.start..].match_indices(name);
    let (at, _) = places.find(|(at, _)| {
        let at = value.start + at;
        !text[..at].ends_with(part) && !text[at + name.len()..].starts_with(part)
    })?;
    // Past the value there are other keys.
    let between = &text[value.start..value.start + at];
    let inside = !between.contains("\n  ") || between.lines().skip(1).all(|l| l.starts_with("   "));
    inside.then(|| Span::new(value.start + at, value.start + at + name.len()))
}
