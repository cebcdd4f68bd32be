//! A family file cut into its items, with the place of every key.
//!
//! In: the text of a YAML file that is one list, of families or of anything else. Out: [`Item`]s, each parsed on its own, so
//! that a slip in one costs only that one. It knows where values stand, not what they mean.

use super::template::Mapped;
use crate::yaml::error as yaml_error;
use semantics::diagnostic::Diagnostic;
use semantics::span::{Source, Span};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_yaml::{Mapping, Value};

/// What a family file says about one family, before anything is made of it.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawFamily {
    pub(crate) family: String,
    pub(crate) doc: String,
    #[serde(default)]
    pub(crate) vary: Vec<RawAxis>,
    pub(crate) only: Option<Value>,
    pub(crate) intrinsic: String,
    pub(crate) instruction: Option<String>,
    pub(crate) form: Option<String>,
    #[serde(default)]
    pub(crate) features: Vec<String>,
    pub(crate) legacy: Option<Vec<String>>,
    pub(crate) plain: Option<Value>,
    pub(crate) returns: String,
    pub(crate) undefined: Option<String>,
    #[serde(default)]
    pub(crate) operands: String,
    pub(crate) mask: Option<Value>,
    pub(crate) pseudocode: String,
}

/// An axis: the name of one in the manifest, or its rows.
#[derive(Deserialize, Clone, Debug)]
#[serde(untagged)]
pub(crate) enum RawAxis {
    Named(String),
    Rows(Vec<Mapping>),
}

/// One item of the list, and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Item<R = RawFamily> {
    pub(crate) raw: R,
    pub(crate) source: Source,
    /// The first byte of the item.
    start: usize,
    /// One past its last byte.
    end: usize,
}

/// The items of a file, and what is wrong with the others.
pub(crate) fn items<R: DeserializeOwned>(source: &Source) -> (Vec<Item<R>>, Vec<Diagnostic>) {
    let mut items = Vec::new();
    let mut diagnostics = Vec::new();
    let text = source.text();
    let mut starts = Vec::new();
    let mut before = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.starts_with("- ") {
            starts.push(at);
        } else if starts.is_empty() && !blank(line) {
            before = before.or(Some(Span::new(at, at + line.trim_end().len())));
        }
        at += line.len();
    }
    // One line stands for all: of a file that is none of items each would be told.
    if let Some(span) = before {
        let message = "this line stands before the first item";
        let hint =
            "an item begins with `- ` in the first column: `- family: NAME`, `- instruction: NAME`";
        diagnostics.push(Diagnostic::error(message).at(source, span).hint(hint));
    }
    for (index, &start) in starts.iter().enumerate() {
        let end = starts.get(index + 1).copied().unwrap_or(text.len());
        match crate::yaml::from_str::<[R; 1]>(&text[start..end]) {
            Ok([raw]) => items.push(Item {
                raw,
                source: source.clone(),
                start,
                end,
            }),
            Err(error) => diagnostics.push(yaml_error(source, start, &error)),
        }
    }
    (items, diagnostics)
}

fn blank(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with('#')
}

impl<R> Item<R> {
    /// The first line of the item.
    pub(crate) fn place(&self) -> Span {
        let line = self.source.line_at(self.start).1;
        Span::new(self.start, self.start + line.len())
    }

    /// The place of the item as `file:line`.
    pub(crate) fn place_name(&self) -> String {
        let line = self.source.line(self.start);
        format!("{}:{line}", self.source.name())
    }

    /// Where a key's value begins in the file; the start of the item if the key is not there.
    fn value_start(&self, key: &str) -> Option<usize> {
        let mut at = self.start;
        for line in self.source.text()[self.start..self.end].split_inclusive('\n') {
            if let Some(rest) = line.get(2..).and_then(|l| l.strip_prefix(key))
                && let Some(value) = rest.strip_prefix(':')
            {
                let blank = value.len() - value.trim_start_matches(' ').len();
                return Some(at + 2 + key.len() + 1 + blank);
            }
            at += line.len();
        }
        None
    }

    /// Where the item ends in its source.
    pub(crate) fn end(&self) -> usize {
        self.end
    }

    /// The range of a key's value on its first line.
    pub(crate) fn value_place(&self, key: &str) -> Span {
        match self.value_start(key) {
            Some(start) => {
                let (line_start, line) = self.source.line_at(start);
                let end = line_start + line.trim_end().len();
                Span::new(start, end.max(start + 1))
            }
            None => self.place(),
        }
    }

    /// A key's text with the places of its characters.
    pub(crate) fn mapped(&self, key: &str, text: &str) -> Mapped {
        let place = self.value_place(key);
        let Some(start) = self.value_start(key) else {
            return derived(text, place);
        };
        let rest = &self.source.text()[start..self.end];
        if rest.starts_with('|') {
            return self.block(text, start, place);
        }
        let quote = usize::from(rest.starts_with(['"', '\'']));
        if rest[quote..].starts_with(text) {
            return Mapped::verbatim(text, start + quote);
        }
        derived(text, place)
    }

    /// A literal block: each line of the text is a line of the file less its indentation.
    fn block(&self, text: &str, start: usize, place: Span) -> Mapped {
        let whole = self.source.text();
        let mut at = start + whole[start..].find('\n').map_or(0, |n| n + 1);
        let mut mapped = Mapped::default();
        for line in text.split_inclusive('\n') {
            let raw = whole[at..self.end]
                .split_inclusive('\n')
                .next()
                .unwrap_or("");
            match raw.trim_end().len().checked_sub(line.trim_end().len()) {
                Some(indent) if raw.trim_end().ends_with(line.trim_end()) => {
                    mapped.push_verbatim(line, at + indent);
                }
                _ => mapped.push_derived(line, place),
            }
            at += raw.len();
        }
        mapped
    }
}

fn derived(text: &str, place: Span) -> Mapped {
    let mut mapped = Mapped::default();
    mapped.push_derived(text, place);
    mapped
}
