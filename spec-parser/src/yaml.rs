//! YAML from strangers.
//!
//! In: a text. Out: what it says, or why not: [`from_str`], and [`error`] for what a person is told,
//! with its place. The reader of YAML takes time that grows with the square of how deep brackets
//! nest, before anybody asks how deep: that is asked here first.

use semantics::diagnostic::{Diagnostic, suggest};
use semantics::span::{Source, Span};
use semantics::spelling::shallow;
use serde::de::{DeserializeOwned, Error as _};

/// Reads a text.
///
/// # Errors
/// What the reader says, or that brackets nest too deeply.
pub fn from_str<T: DeserializeOwned>(text: &str) -> Result<T, serde_yaml::Error> {
    shallow(text).map_err(serde_yaml::Error::custom)?;
    serde_yaml::from_str(text)
}

/// What is to be done about an error.
enum Hint {
    /// What mends just this.
    Sure(String),
    /// What holds of any file.
    Usual(String),
}

/// A YAML error as a diagnostic; `start` is where the parsed text begins in the source.
pub fn error(source: &Source, start: usize, error: &serde_yaml::Error) -> Diagnostic {
    let (told, hint) = placed(source, start, error);
    match hint {
        Hint::Sure(hint) | Hint::Usual(hint) => told.hint(hint),
    }
}

/// As [`error`]; where nothing is known that mends just this, the hint says what the file should have.
pub fn error_of_format(source: &Source, error: &serde_yaml::Error, format: &str) -> Diagnostic {
    let (told, hint) = placed(source, 0, error);
    match hint {
        Hint::Sure(hint) => told.hint(hint),
        Hint::Usual(_) => told.hint(format),
    }
}

/// What an error is, at its place, and what is to be done about it.
fn placed(source: &Source, start: usize, error: &serde_yaml::Error) -> (Diagnostic, Hint) {
    let whole = error.to_string();
    let place = error.location().map_or(start, |place| {
        start + byte_at(&source.text()[start..], place.line(), place.column())
    });
    let text = source.text();
    let (line_start, line) = source.line_at(place);
    let indent = &line[..line.len() - line.trim_start().len()];
    // A tab is told at its own place: the reader notices it behind.
    if let Some(tab) = indent
        .find('\t')
        .filter(|_| whole.contains("tab character"))
    {
        let at = line_start + tab;
        let told = Diagnostic::error("a tab in the indentation");
        let hint = Hint::Sure("YAML indents by blanks only".to_owned());
        return (told.at(source, Span::new(at, at + 1)), hint);
    }
    let quoted: Vec<&str> = whole.split('`').skip(1).step_by(2).collect();
    if let (true, [key, ..]) = (whole.contains("duplicate field"), quoted.as_slice()) {
        let at = second(&text[place..], key).map_or(place, |n| place + n);
        let told = Diagnostic::error(format!("the key `{key}` is there twice"));
        let hint = Hint::Sure("leave one of them".to_owned());
        return (told.at(source, Span::new(at, at + key.len())), hint);
    }
    let (message, hint) = words(&plain(&whole), &quoted);
    let told = Diagnostic::error(message);
    (told.at(source, Span::new(place, place + 1)), hint)
}

/// The byte of a line and a column, both from 1 on.
fn byte_at(text: &str, line: usize, column: usize) -> usize {
    let lines = text.split_inclusive('\n').take(line.saturating_sub(1));
    let start: usize = lines.map(str::len).sum();
    let before = text[start..].chars().take(column.saturating_sub(1));
    let before = before.take_while(|&c| c != '\n').map(char::len_utf8);
    start + before.sum::<usize>()
}

/// Where a key stands for the second time, at the depth at which it stands first.
fn second(text: &str, key: &str) -> Option<usize> {
    let mut depth = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let bare = line.trim_start_matches([' ', '-']);
        let indent = line.len() - bare.len();
        let is_key = bare.strip_prefix(key).is_some_and(|r| r.starts_with(':'));
        match depth {
            Some(first) if is_key && first == indent => return Some(at + indent),
            None if is_key => depth = Some(indent),
            _ => {}
        }
        at += line.len();
    }
    None
}

/// What the reader says, without its own lines and columns: those count from the item's beginning.
fn plain(message: &str) -> String {
    let mut out = String::new();
    let mut rest = message;
    while let Some(n) = rest.find(" at line ") {
        out += &rest[..n];
        let number = |c: char| c.is_ascii_digit();
        let after = rest[n + " at line ".len()..].trim_start_matches(number);
        rest = match after.strip_prefix(" column ") {
            Some(column) => column.trim_start_matches(number),
            None => after,
        };
    }
    out + rest
}

/// What a YAML reader says, and a hint, in our words.
fn words(message: &str, quoted: &[&str]) -> (String, Hint) {
    let kinds = [("unknown field", "key"), ("unknown variant", "word")];
    let kind = kinds.iter().find(|(told, _)| message.contains(told));
    if let (Some((_, kind)), [unknown, known @ ..]) = (kind, quoted) {
        let hint = match suggest(unknown, known.iter().copied()) {
            Some(near) => Hint::Sure(format!("did you mean `{near}`?")),
            None => Hint::Usual(format!("the {kind}s here are {}", known.join(", "))),
        };
        return (format!("unknown {kind} `{unknown}`"), hint);
    }
    if message.contains("missing field")
        && let [missing] = quoted
    {
        let hint = Hint::Usual("every item of the file needs it".to_owned());
        return (format!("the key `{missing}` is missing"), hint);
    }
    let message = message.trim_start_matches(|c: char| !c.is_alphabetic());
    let told = format!("this is not the YAML that was expected: {message}");
    (told, Hint::Usual(hint(message).to_owned()))
}

/// What to do about what the reader says.
fn hint(message: &str) -> &'static str {
    const HINTS: &[(&str, &str)] = &[
        (
            "mapping values are not allowed",
            "indent this line as the one above, or put quotes around a value that holds `: `",
        ),
        (
            "a sequence, expected a string",
            "write it as one text, without brackets or indented lines",
        ),
        (
            "invalid type: sequence, expected a string",
            "write it as one text: `a UI8, b UI8`, without brackets",
        ),
        (
            "invalid type: map, expected a string",
            "write it as one text; a text that holds `: ` or begins with `{` has quotes around it",
        ),
        (
            "expected a sequence",
            "write it as a list: `[…]`, or a line with `- ` for each",
        ),
        (
            "invalid type",
            "the format is described in isa-specs/README.md",
        ),
        (
            "invalid value",
            "the format is described in isa-specs/README.md",
        ),
        (
            "unknown anchor",
            "a value that begins with `*` repeats one that an anchor names; put quotes around a text",
        ),
        (
            "cannot start any token",
            "put quotes around a text that begins with `%`, `@`, a backquote or a tab",
        ),
        (
            "parsing a flow sequence",
            "close the `[` of this line or of one above with `]`",
        ),
        (
            "parsing a flow mapping",
            "close the `{` of this line or of one above with `}`",
        ),
        (
            "scanning a quoted scalar",
            "a quotation mark above is never closed",
        ),
        (
            "more than one document",
            "leave out the line `---`: a file holds one document",
        ),
        ("brackets nest", "no specification needs that many brackets"),
    ];
    let known = HINTS.iter().find(|(told, _)| message.contains(told));
    known.map_or(
        "check the indentation of this line and of the one above: keys of one item start in one column",
        |(_, hint)| hint,
    )
}

#[cfg(test)]
mod tests {
    use super::{error, from_str};
    use semantics::span::Source;
    use serde_yaml::Value;
    use std::collections::BTreeMap;

    #[test]
    fn brackets_that_nest_too_deeply_are_not_read() {
        for open in ["{a: ", "[", "- [", "{"] {
            let start = std::time::Instant::now();
            let told = from_str::<Value>(&open.repeat(50_000)).expect_err("it is too deep");
            assert!(told.to_string().contains("more than 500 deep"), "{told}");
            assert!(start.elapsed().as_secs() < 5);
        }
        assert!(from_str::<Value>("a: [{b: [1, 2]}]").is_ok());
    }

    #[derive(serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "it is read and not looked at")]
    struct Item {
        family: String,
        returns: Option<String>,
        vary: Option<Vec<String>>,
        inner: Option<BTreeMap<String, String>>,
    }

    /// What is told of an item in the midst of a file, with the line and column.
    fn told(item: &str) -> String {
        let text = format!("# a head\n- family: before\n{item}");
        let source = Source::new("f.yaml".to_owned(), text);
        let start = source.text().find("- family: x").expect("it is there");
        let wrong = from_str::<[Item; 1]>(&source.text()[start..]);
        let wrong = wrong.err().expect("it is wrong");
        error(&source, start, &wrong).to_string()
    }

    #[test]
    fn what_is_wrong_is_told_at_its_own_place_with_a_hint_that_is_true() {
        for (item, wanted) in [
            (
                "- family: x\n  returns: a\n  returns: b\n",
                ["`returns` is there twice", "f.yaml:5:3", "leave one"],
            ),
            (
                "- family: x\n\treturns: a\n",
                ["a tab in the indentation", "f.yaml:4:1", "blanks only"],
            ),
            (
                "- family: x\n  returns: *o\n",
                ["unknown anchor", "f.yaml:4:12", "quotes around"],
            ),
            (
                "- family: x\n  returns: %o\n",
                ["cannot start any token", "f.yaml:4:12", "quotes around"],
            ),
            (
                "- family: x\n  vary: [a\n  returns: b\n",
                ["',' or ']'", "f.yaml:5:10", "close the `[`"],
            ),
            (
                "- family: x\n  vary: a\n",
                ["expected a sequence", "f.yaml:4:9", "as a list"],
            ),
            (
                "- family: x\n  returns: \"a\n",
                ["quoted scalar", "f.yaml:5:1", "never closed"],
            ),
            (
                "- family: x\n  returns: [a UI8, b UI8]\n",
                ["expected a string", "f.yaml:4:12", "as one text"],
            ),
        ] {
            let found = told(item);
            for part in wanted {
                assert!(found.contains(part), "no `{part}` in {found}");
            }
            assert!(
                !found.contains("at line"),
                "a line of the item's own in {found}"
            );
        }
    }
}
