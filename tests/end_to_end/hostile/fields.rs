//! The fields of a file, each with a stranger's text behind what stands there.
//!
//! In: a text and the ending of its name. Out: what field, and the file with that field changed. Of lists only
//! the first item with a field is taken: what reads the others is the same.

use serde_yaml::Value;
use std::collections::BTreeSet;

/// The file with a changed field.
pub(super) struct Changed {
    pub(super) field: String,
    pub(super) text: String,
}

/// All of a file, with this text behind each.
pub(super) fn changed(ending: &str, text: &str, hostile: &str) -> Vec<Changed> {
    match ending {
        "yaml" => of_yaml(text, hostile),
        "xml" => of_xml(text, hostile),
        _ => of_words(text, hostile),
    }
}

/// Keys and values of YAML.
fn of_yaml(text: &str, hostile: &str) -> Vec<Changed> {
    let whole: Value = serde_yaml::from_str(text).expect("a file of ours is YAML");
    let (mut paths, mut seen) = (Vec::new(), BTreeSet::new());
    leaves(&whole, &mut Vec::new(), &mut paths);
    paths.retain(|(path, key)| {
        let names = path.iter().map(|step| match step {
            Step::Item(_) => "*".to_owned(),
            Step::Entry(_, name) => name.clone(),
        });
        seen.insert((names.collect::<Vec<_>>(), *key))
    });
    let with = |(path, key): &(Vec<Step>, bool)| {
        let mut whole = whole.clone();
        change(&mut whole, path, *key, hostile);
        let names: Vec<String> = path.iter().map(|step| format!("{step:?}")).collect();
        Changed {
            field: format!(
                "{}{}",
                names.join(" "),
                if *key { ", its name" } else { "" }
            ),
            text: serde_yaml::to_string(&whole).expect("it is YAML"),
        }
    };
    paths.iter().map(with).collect()
}

/// From a value to one in it.
#[derive(Clone, Debug)]
enum Step {
    Item(usize),
    /// The number of an entry of a mapping, and its name.
    Entry(usize, String),
}

/// All scalars, and with `true` the names of entries.
fn leaves(value: &Value, path: &mut Vec<Step>, out: &mut Vec<(Vec<Step>, bool)>) {
    match value {
        Value::Sequence(items) => {
            for (n, item) in items.iter().enumerate() {
                path.push(Step::Item(n));
                leaves(item, path, out);
                path.pop();
            }
        }
        Value::Mapping(entries) => {
            for (n, (name, item)) in entries.iter().enumerate() {
                path.push(Step::Entry(n, scalar(name)));
                out.push((path.clone(), true));
                leaves(item, path, out);
                path.pop();
            }
        }
        _ => out.push((path.clone(), false)),
    }
}

fn scalar(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => serde_yaml::to_string(other)
            .expect("it is YAML")
            .trim_end()
            .to_owned(),
    }
}

fn change(value: &mut Value, path: &[Step], key: bool, hostile: &str) {
    let longer = |value: &Value| Value::String(scalar(value) + hostile);
    match (value, path) {
        (Value::Mapping(entries), [Step::Entry(n, _)]) if key => {
            let entry = |(k, (name, item)): (usize, (&Value, &Value))| {
                let name = if k == *n { longer(name) } else { name.clone() };
                (name, item.clone())
            };
            *entries = entries.iter().enumerate().map(entry).collect();
        }
        (Value::Mapping(entries), [Step::Entry(n, _), rest @ ..]) => {
            let item = entries.iter_mut().nth(*n).expect("it is there").1;
            change(item, rest, key, hostile);
        }
        (Value::Sequence(items), [Step::Item(n), rest @ ..]) => {
            change(&mut items[*n], rest, key, hostile);
        }
        (value, _) => *value = longer(value),
    }
}

/// Attributes and texts of XML.
fn of_xml(text: &str, hostile: &str) -> Vec<Changed> {
    let mut escaped = String::new();
    for c in hostile.chars() {
        match c {
            '<' | '>' | '&' | '"' | '\'' | '\n' => escaped += &format!("&#{};", u32::from(c)),
            _ => escaped.push(c),
        }
    }
    let attributes = text.match_indices("=\"").map(|(at, _)| {
        let end = text[at + 2..].find('"').expect("a value ends");
        at + 2 + end
    });
    let texts = text.match_indices("</").map(|(at, _)| at);
    let with = |at: usize| Changed {
        field: text[..at]
            .rsplit(['<', ' '])
            .next()
            .unwrap_or_default()
            .to_owned(),
        text: [&text[..at], &escaped, &text[at..]].concat(),
    };
    attributes.chain(texts).map(with).collect()
}

/// Words and quoted texts, each wherever it stands.
fn of_words(text: &str, hostile: &str) -> Vec<Changed> {
    let word = |c: char| c.is_alphanumeric() || "_.".contains(c);
    let pieces = || text.split_inclusive(move |c: char| !word(c));
    let cut = |piece: &'_ str| piece.trim_end_matches(|c| !word(c)).to_owned();
    let words: BTreeSet<String> = pieces().map(cut).filter(|w| !w.is_empty()).collect();
    let with = |chosen: &String| {
        let each = |piece: &str| match piece.strip_prefix(chosen.as_str()) {
            Some(rest) if !rest.starts_with(word) => format!("{chosen}{hostile}{rest}"),
            _ => piece.to_owned(),
        };
        Changed {
            field: chosen.clone(),
            text: pieces().map(each).collect(),
        }
    };
    words.iter().map(with).collect()
}
