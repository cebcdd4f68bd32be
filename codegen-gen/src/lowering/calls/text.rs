//! The few forms of LLVM IR that calls need: arguments, types, definitions.
//!
//! In: lines. Out: their parts. Brackets and quoted names are minded; nothing else is known
//! of the language.

use std::collections::BTreeMap;

/// An argument of a call.
pub(super) struct Argument<'t> {
    /// All of it.
    pub(super) text: &'t str,
    /// Its type.
    pub(super) ty: &'t str,
    /// What it is.
    pub(super) value: &'t str,
}

/// A function of a module.
pub(super) struct Definition {
    pub(super) result: String,
    pub(super) parameters: String,
    pub(super) body: String,
}

/// Whether what stands before a name makes it the function of a call.
pub(super) fn call_before(text: &str) -> bool {
    let mut words = text.split_whitespace();
    words.any(|word| word == "call")
}

/// The text between the brackets that follow, and what is behind them.
pub(super) fn list(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_prefix('(')?;
    let mut depth = 1;
    for (at, letter) in inner.char_indices() {
        depth += step(letter);
        if depth == 0 {
            return Some((&inner[..at], &inner[at + 1..]));
        }
    }
    None
}

fn step(letter: char) -> i32 {
    match letter {
        '(' | '<' | '[' | '{' => 1,
        ')' | '>' | ']' | '}' => -1,
        _ => 0,
    }
}

/// The pieces between commas outside of brackets.
fn pieces(text: &str) -> Vec<&str> {
    let (mut depth, mut from, mut all) = (0, 0, Vec::new());
    for (at, letter) in text.char_indices() {
        depth += step(letter);
        if letter == ',' && depth == 0 {
            all.push(text[from..at].trim());
            from = at + 1;
        }
    }
    all.push(text[from..].trim());
    all.retain(|piece| !piece.is_empty());
    all
}

/// The arguments of a call.
pub(super) fn split(text: &str) -> Vec<Argument<'_>> {
    let argument = |text| {
        let ty = leading(text);
        let value = text[ty.len()..].trim();
        Argument {
            text,
            ty,
            // Attributes stand before the value.
            value: value.rsplit(' ').next().unwrap_or(value),
        }
    };
    pieces(text).into_iter().map(argument).collect()
}

/// The type with which a text begins.
fn leading(text: &str) -> &str {
    let mut depth = 0;
    for (at, letter) in text.char_indices() {
        if letter == ' ' && depth == 0 {
            return &text[..at];
        }
        depth += step(letter);
    }
    text
}

/// The type with which a text ends.
fn trailing(text: &str) -> &str {
    let mut depth = 0;
    for (at, letter) in text.char_indices().rev() {
        if letter == ' ' && depth == 0 {
            return &text[at + 1..];
        }
        depth += step(letter);
    }
    text
}

/// The types of parameters.
pub(super) fn types(parameters: &str) -> Vec<String> {
    let all = pieces(parameters).into_iter();
    all.map(|piece| leading(piece).to_owned()).collect()
}

/// The functions `w0`, `w1`, … of a module, by number.
pub(super) fn defined(module: &str) -> BTreeMap<usize, Definition> {
    let mut found = BTreeMap::new();
    let mut open: Option<(usize, Definition)> = None;
    for line in module.lines() {
        if let Some((number, definition)) = &mut open {
            if line == "}" {
                let (number, definition) = (*number, open.take().map(|(_, d)| d));
                found.extend(definition.map(|d| (number, d)));
            } else {
                definition.body.push_str(plain(line));
                definition.body.push('\n');
            }
            continue;
        }
        let Some((before, after)) = line
            .strip_prefix("define ")
            .and_then(|l| l.split_once(" @w"))
        else {
            continue;
        };
        let digits = after.find('(').unwrap_or(0);
        let number = after[..digits].parse();
        if let (Ok(number), Some((parameters, _))) = (number, list(&after[digits..])) {
            let definition = Definition {
                result: trailing(before).to_owned(),
                parameters: parameters.to_owned(),
                body: String::new(),
            };
            open = Some((number, definition));
        }
    }
    found
}

/// A statement without what refers to the rest of its module.
fn plain(line: &str) -> &str {
    let line = line.split(", !").next().unwrap_or(line);
    match line.rsplit_once(" #") {
        Some((head, number)) if number.bytes().all(|b| b.is_ascii_digit()) => head,
        _ => line,
    }
}

#[cfg(test)]
mod tests {
    use super::{defined, list, split, types};

    #[test]
    fn calls_are_taken_apart() {
        let (inner, after) = list("(<4 x i32> %a, i32 7, ptr nonnull %p), !x !1").expect("it is");
        assert_eq!(after, ", !x !1");
        let all: Vec<_> = split(inner).iter().map(|a| (a.ty, a.value)).collect();
        assert_eq!(all, [("<4 x i32>", "%a"), ("i32", "7"), ("ptr", "%p")]);
    }

    #[test]
    fn definitions_lose_what_is_of_their_module() {
        let module = "define dso_local <4 x i32> @w3(<4 x i32> noundef %0, ptr %1) #0 {\n  \
                      %3 = call i32 @llvm.x(i32 1) #5, !range !2\n  ret <4 x i32> %0\n}\n";
        let found = defined(module);
        let one = &found[&3];
        assert_eq!(one.result, "<4 x i32>");
        assert_eq!(types(&one.parameters), ["<4 x i32>", "ptr"]);
        assert_eq!(
            one.body,
            "  %3 = call i32 @llvm.x(i32 1)\n  ret <4 x i32> %0\n"
        );
    }
}
