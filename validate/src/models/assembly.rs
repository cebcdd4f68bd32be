//! The instruction that a compiler made of a function, found in its assembly.
//!
//! In: assembly as clang prints it, the mnemonic that a specification gives. Out: the lines of
//! each function `wrap<number>`, and of one function the line that is the instruction. What
//! brings operands to where it wants them stands around it, so it is known by its name: assemblers
//! add letters for sizes, conditions and prefixes, and leave out none of a mnemonic.

use std::collections::BTreeMap;

/// An instruction in assembly.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Line {
    /// As it stands there.
    pub(super) text: String,
    /// Whether it is called as the specification calls it.
    pub(super) named: bool,
}

impl Line {
    /// Its first word.
    pub(super) fn mnemonic(&self) -> &str {
        first_word(&self.text)
    }
}

fn first_word(line: &str) -> &str {
    line.split_whitespace().next().unwrap_or_default()
}

/// The instructions of each function by its number.
pub(super) fn bodies(assembly: &str) -> BTreeMap<usize, Vec<String>> {
    let mut bodies: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    let mut here = None;
    for line in assembly.lines() {
        if let Some(label) = line.split(':').next().filter(|l| line.len() > l.len()) {
            let number = label
                .strip_prefix("wrap")
                .and_then(|n| n.parse::<usize>().ok());
            if let Some(number) = number {
                here = Some(number);
                bodies.insert(number, Vec::new());
                continue;
            }
        }
        let line = line.trim();
        if line.starts_with(".size") {
            here = None;
        }
        let code = !line.is_empty() && !line.starts_with(['.', '#', '/', '@']);
        if let Some(body) = here.filter(|_| code).and_then(|k| bodies.get_mut(&k)) {
            let comment = line.find(" # ").or_else(|| line.find(" // "));
            body.push(line[..comment.unwrap_or(line.len())].trim_end().to_owned());
        }
    }
    for body in bodies.values_mut() {
        // What comes back is the last; it belongs to every function.
        body.pop();
    }
    bodies
}

/// The line of a body that is the instruction with a mnemonic: the one that is called most like
/// it, or the only one there is.
pub(super) fn line(body: &[String], mnemonic: Option<&str>) -> Option<Line> {
    let wanted = mnemonic.map(|m| first_word(m).to_ascii_lowercase());
    let called = body.iter().filter_map(|text| {
        let (name, wanted) = (first_word(text), wanted.as_deref()?);
        let like = letters_of(wanted, name) || letters_of(name, wanted);
        like.then(|| (name.len().abs_diff(wanted.len()), text))
    });
    if let Some((_, text)) = called.min_by_key(|(far, _)| *far) {
        return Some(Line {
            text: text.clone(),
            named: true,
        });
    }
    match body {
        [only] => Some(Line {
            text: only.clone(),
            named: false,
        }),
        _ => None,
    }
}

/// Whether a word has all letters of a shorter one in their order, and few others.
fn letters_of(word: &str, longer: &str) -> bool {
    /// Letters that assemblers add: a prefix, a size, a condition.
    const ADDED: usize = 6;
    let mut rest = longer.chars();
    let found = word.chars().all(|c| rest.any(|l| l == c));
    !word.is_empty() && found && longer.len() - word.len() <= ADDED.min(word.len())
}
