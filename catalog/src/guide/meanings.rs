//! What instructions are computed with in the guide: their meanings as terms, and the interpreter.
//!
//! In: a catalogue. Out: `guide.meanings(n, "…")` for each page, packed, and `guide.interpreter("…")`, the
//! WebAssembly module in base64, which is empty when this program was built without. A meaning is
//! the term of a result at the instruction's own numbers, over its operands. Terms of a page differ in
//! numbers more than in words: each text without its numbers is there once.

use super::data::Table;
use super::pack;
use crate::record::{Catalog, Instruction};
use autoir::dictionary::{Operation, Returned};
use semantics::eval::{CompiledTerms, Input};
use semantics::subst::free_vars;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::ops::Range;

/// The module, as the build script compiled it.
const INTERPRETER: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/interpreter.wasm"));

/// Stands in a text where a number was.
const NUMBER: char = '#';

#[derive(Serialize)]
struct Page {
    texts: Vec<String>,
    /// Lists of numbers, each with blanks between them.
    numbers: Vec<String>,
    /// Of each operation its members, in order; nothing of one with a function that has no values.
    operations: BTreeMap<usize, Vec<Option<Meaning>>>,
}

/// For each result the text, the numbers, and bits that the vendor leaves undefined; then what is read
/// that is no operand, with its bits, 0 for a memory.
type Meaning = (Vec<Line>, BTreeMap<String, u32>);

/// A text, numbers, undefined bits.
type Line = (usize, usize, Vec<(u32, u32)>);

/// Writes the meanings of a page.
pub(super) fn page(
    catalog: &Catalog<'_>,
    shown: Range<usize>,
    page: usize,
    out: &mut dyn Write,
) -> io::Result<String> {
    let (mut texts, mut numbers) = (Table::default(), Table::default());
    let operations = shown.map(|k| {
        let entry = &catalog.operations[k];
        let members = catalog.members(entry).iter();
        let each = members.map(|i| meaning(entry.operation, i, &mut texts, &mut numbers));
        (k, each.collect())
    });
    let whole = Page {
        operations: operations.collect(),
        texts: texts.list,
        numbers: numbers.list,
    };
    pack::call(out, "meanings", page, &whole)?;
    Ok(String::new())
}

fn meaning(
    operation: &Operation,
    instruction: &Instruction<'_>,
    texts: &mut Table,
    numbers: &mut Table,
) -> Option<Meaning> {
    let member = instruction.member;
    let mut state = BTreeMap::new();
    let mut line = |(k, output): (usize, &Returned)| {
        let term = member.result(operation, k).ok()?;
        let inputs: Vec<Input> = { free_vars(term).into_iter() }
            .filter_map(|v| Some((v.as_var()?.to_owned(), v.sort())))
            .map(|(name, sort)| Input { name, sort })
            .collect();
        // A function of a library has no values.
        CompiledTerms::compile(&[term], &inputs).ok()?;
        for input in inputs {
            if !member.operands.iter().any(|o| o.name == input.name) {
                state.insert(input.name, input.sort.width().unwrap_or(0));
            }
        }
        let (text, found) = apart(&term.to_string());
        let undefined = output.undefined.clone();
        Some((texts.number(&text), numbers.number(&found), undefined))
    };
    let lines = member.outputs.iter().enumerate().map(&mut line);
    let lines: Option<Vec<Line>> = lines.collect();
    Some((lines?, state))
}

/// A text without its numbers, and these; as it is, without any, when there is a `#` in it. A number begins where neither a letter nor a digit is before it.
fn apart(text: &str) -> (String, String) {
    if text.contains(NUMBER) {
        return (text.to_owned(), String::new());
    }
    let (mut rest, mut numbers) = (String::with_capacity(text.len()), Vec::new());
    let mut before = ' ';
    let mut at = text.char_indices().peekable();
    while let Some((start, character)) = at.next() {
        let begins =
            character.is_ascii_digit() && !before.is_alphanumeric() && !"_|#".contains(before);
        if !begins {
            rest.push(character);
            before = character;
            continue;
        }
        let mut end = start + 1;
        while let Some(&(k, next)) = at.peek().filter(|(_, c)| c.is_ascii_alphanumeric()) {
            end = k + next.len_utf8();
            at.next();
        }
        numbers.push(&text[start..end]);
        rest.push(NUMBER);
        before = NUMBER;
    }
    (rest, numbers.join(" "))
}

/// Writes the interpreter.
pub(super) fn interpreter(out: &mut dyn Write) -> io::Result<String> {
    out.write_all(b"guide.interpreter(\"")?;
    pack::base64(out, INTERPRETER)?;
    out.write_all(b"\");\n")?;
    let missing =
        "no form to try instructions: this program was built without WebAssembly's target";
    Ok(if INTERPRETER.is_empty() { missing } else { "" }.to_owned())
}
