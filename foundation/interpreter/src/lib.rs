//! The interpreter of terms for programs in other languages: text in, text out.
//!
//! In: a question, the values of some inputs by name and terms over them, a line each:
//!
//! ```text
//! bits a 128 00000000000000010000000000000002
//! memory mem 1000:0a0b0c 2000:ff
//! term dst (bvadd a (extract[128] …))
//! ```
//!
//! Numbers are hexadecimal but for widths; bytes of memory stand from the address up, and others
//! are 0. Out: a line for each term, `bits WIDTH HEX`, `memory ADDRESS:HEX …` with the bytes that are
//! no longer as they were given, `truth true` or `index 3`; or one line `wrong …`. It computes nothing itself:
//! [`semantics::eval`] does.
//!
//! ```
//! let question = "bits a 16 00ff\nbits b 16 0101\nterm sum (bvadd a b)\n";
//! assert_eq!(interpreter::answer(question), "bits 16 0200\n");
//! assert!(interpreter::answer("term sum (bvadd a b)").starts_with("wrong "));
//! ```
//!
//! For WebAssembly, with `exports`, it is the module that the guide has.

#[cfg(target_arch = "wasm32")]
pub mod exports;
#[cfg(test)]
mod tests;

use semantics::bits::Bits;
use semantics::eval::{CompiledTerms, Input};
use semantics::parse;
use semantics::sort::Sort;
use semantics::span::{Source, Span};
use semantics::table::MAX_WIDTH;
use semantics::term::Term;
use semantics::value::{Memory, Value};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The answer to a question.
pub fn answer(question: &str) -> String {
    match evaluate(question) {
        Ok(lines) => lines,
        Err(why) => format!("wrong {}\n", why.replace('\n', " ")),
    }
}

/// What a question gives.
#[derive(Default)]
struct Question {
    inputs: Vec<Input>,
    values: Vec<Value>,
    terms: Vec<Term>,
}

fn evaluate(question: &str) -> Result<String, String> {
    let mut asked = Question::default();
    for line in question.lines() {
        asked.line(line).map_err(|why| format!("{why}: `{line}`"))?;
    }
    let program =
        CompiledTerms::compile(&asked.terms, &asked.inputs).map_err(|error| error.to_string())?;
    let given = asked.values.iter().find_map(|value| match value {
        Value::Mem(memory) => Some(memory.clone()),
        _ => None,
    });
    let given = given.unwrap_or_default();
    let results = program.run(&asked.values);
    Ok(results.iter().map(|value| written(value, &given)).collect())
}

impl Question {
    fn line(&mut self, line: &str) -> Result<(), String> {
        let (kind, rest) = line.split_once(' ').ok_or("a line has several words")?;
        let (name, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        let value = match kind {
            "bits" => Value::Bv(bits(rest)?),
            "memory" => Value::Mem(memory(rest)?),
            "term" => return self.term(rest),
            _ => return Err("a line begins with `bits`, `memory` or `term`".to_owned()),
        };
        if self.inputs.iter().any(|input| input.name == name) {
            return Err(format!("`{name}` is given twice"));
        }
        let (name, sort) = (name.to_owned(), value.sort());
        self.inputs.push(Input { name, sort });
        self.values.push(value);
        Ok(())
    }

    fn term(&mut self, text: &str) -> Result<(), String> {
        let sorts: BTreeMap<String, Sort> = { self.inputs.iter() }
            .map(|i| (i.name.clone(), i.sort))
            .collect();
        let source = Source::new("term", text);
        let term = parse::term(&source, Span::new(0, text.len()), &sorts);
        let term = term.map_err(|diagnostics| {
            let reported = diagnostics.first().map(ToString::to_string);
            reported.unwrap_or_else(|| "it is no term".to_owned())
        })?;
        self.terms.push(term);
        Ok(())
    }
}

/// `WIDTH HEX`.
fn bits(text: &str) -> Result<Bits, String> {
    let (width, digits) = text
        .split_once(' ')
        .ok_or("a width and digits are missing")?;
    let width: u32 = width.parse().map_err(|_| "the width is no number")?;
    if width == 0 || width > MAX_WIDTH {
        return Err(format!("the width is 1 to {MAX_WIDTH}"));
    }
    let mut bytes = bytes(digits)?;
    bytes.reverse();
    bytes.resize(width.div_ceil(8) as usize, 0);
    Ok(Bits::from_bytes(width, &bytes))
}

/// `ADDRESS:HEX …`.
fn memory(text: &str) -> Result<Memory, String> {
    let mut memory = Memory::default();
    for piece in text.split_whitespace() {
        let (address, digits) = piece.split_once(':').ok_or("an address has a colon")?;
        let address = u64::from_str_radix(address, 16).map_err(|_| "the address is no number")?;
        memory.write(address, &bytes(digits)?);
    }
    Ok(memory)
}

/// Bytes as they are written, two digits each.
fn bytes(digits: &str) -> Result<Vec<u8>, String> {
    if !digits.len().is_multiple_of(2) || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Err("a byte has two hexadecimal digits".to_owned());
    }
    let each = (0..digits.len()).step_by(2);
    let byte = |at| u8::from_str_radix(&digits[at..at + 2], 16);
    each.map(|at| byte(at).map_err(|error| error.to_string()))
        .collect()
}

/// A value as a line; of a memory what differs from the one that was given.
fn written(value: &Value, given: &Memory) -> String {
    match value {
        Value::Bool(truth) => format!("truth {truth}\n"),
        Value::Int(index) => format!("index {index}\n"),
        Value::Bv(bits) => {
            let digits = bits.to_bytes();
            let mut line = format!("bits {} ", bits.width());
            for byte in digits.iter().rev() {
                write!(line, "{byte:02x}").expect("a string grows");
            }
            line + "\n"
        }
        Value::Mem(memory) => changed(memory, given),
    }
}

/// Runs of bytes that a memory has and the given one has not.
fn changed(memory: &Memory, given: &Memory) -> String {
    let mut line = String::from("memory");
    let mut next = None;
    for (&address, &byte) in &memory.bytes {
        if byte == given.byte(address) {
            continue;
        }
        if next != Some(address) {
            write!(line, " {address:x}:").expect("a string grows");
        }
        write!(line, "{byte:02x}").expect("a string grows");
        next = address.checked_add(1);
    }
    line + "\n"
}
