//! What a solver answered, as values.
//!
//! In: lines of text. Out: [`Status`] and models. Whatever is not exactly an answer of the
//! expected shape is an error, never a guess.

use super::encode::Script;
use crate::verdict::Model;
use rsmt2::parse::SmtParser;
use semantics::bits::Bits;
use semantics::sort::Sort;
use semantics::value::{Memory, Value};

/// The answer to `(check-sat)`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Status {
    /// `sat`.
    Sat,
    /// `unsat`.
    Unsat,
    /// `unknown`.
    Unknown,
}

/// Reads the answer to `(check-sat)`: one line, one word.
pub(crate) fn status(lines: &[String]) -> Result<Status, String> {
    match lines {
        [line] => match line.trim() {
            "sat" => Ok(Status::Sat),
            "unsat" => Ok(Status::Unsat),
            "unknown" => Ok(Status::Unknown),
            other => Err(format!("expected sat or unsat, found `{}`", shorten(other))),
        },
        [] => Err("no answer to (check-sat)".to_owned()),
        more => Err(format!(
            "{} lines in answer to (check-sat), the first `{}`",
            more.len(),
            shorten(&more[0])
        )),
    }
}

fn shorten(text: &str) -> String {
    text.chars().take(120).collect()
}

/// The command that asks for the values that [`model`] reads.
pub(crate) fn question(script: &Script) -> Option<String> {
    let mut asked: Vec<String> = Vec::new();
    for (name, variable) in &script.variables {
        match variable.sort() {
            Sort::Mem => asked.extend(
                script
                    .addresses
                    .iter()
                    .map(|at| format!("(select {name} {at})")),
            ),
            _ => asked.push(name.clone()),
        }
    }
    asked.extend(script.addresses.iter().cloned());
    (!asked.is_empty()).then(|| format!("(get-value ({}))\n", asked.join(" ")))
}

/// Reads the values that [`question`] asked for.
pub(crate) fn model(script: &Script, lines: &[String]) -> Result<Model, String> {
    let text = lines.join("\n");
    let mut parser = SmtParser::of_str(&text);
    let pairs: Vec<(String, String)> = parser
        .get_values((), ())
        .map_err(|e| shorten(&e.to_string()))?;
    let mut values = pairs.into_iter().map(|(_, value)| value);
    let mut next = || {
        values
            .next()
            .ok_or_else(|| "fewer values than were asked for".to_owned())
    };
    let mut model = Model::new();
    let mut bytes: Vec<(String, Vec<Bits>)> = Vec::new();
    for (_, variable) in &script.variables {
        let name = variable
            .as_var()
            .expect("scripts list variables")
            .to_owned();
        match variable.sort() {
            Sort::Mem => {
                let read = script
                    .addresses
                    .iter()
                    .map(|_| bits(&next()?, 8))
                    .collect::<Result<Vec<_>, _>>()?;
                bytes.push((name, read));
            }
            Sort::Bool => {
                let value = next()?;
                let truth = value
                    .trim()
                    .parse()
                    .map_err(|_| format!("`{}` is no truth value", shorten(&value)))?;
                model.insert(name, Value::Bool(truth));
            }
            sort => {
                let width = sort.width().ok_or("an index in the model")?;
                model.insert(name, Value::Bv(bits(&next()?, width)?));
            }
        }
    }
    let addresses = script
        .addresses
        .iter()
        .map(|_| bits(&next()?, 64))
        .collect::<Result<Vec<_>, _>>()?;
    for (name, read) in bytes {
        let mut memory = Memory::default();
        for (at, byte) in addresses.iter().zip(read) {
            memory.bytes.insert(at.low_u64(), byte.low_u64() as u8);
        }
        model.insert(name, Value::Mem(memory));
    }
    Ok(model)
}

/// A bit-vector literal: `#b…`, `#x…`, `(_ bvN w)`.
fn bits(text: &str, width: u32) -> Result<Bits, String> {
    let text = text.trim();
    let bad = || format!("`{}` is no bit vector of {width} bits", shorten(text));
    let digits = |digits: &str, each: u32| -> Option<Bits> {
        if u32::try_from(digits.len()).ok()? * each != width {
            return None;
        }
        let mut out = Bits::zero(width);
        for (k, c) in (0u32..).zip(digits.chars().rev()) {
            let digit = c.to_digit(1 << each)?;
            out = out.insert(k * each, &Bits::from_u64(each, u64::from(digit)));
        }
        Some(out)
    };
    if let Some(rest) = text.strip_prefix("#b") {
        return digits(rest, 1).ok_or_else(bad);
    }
    if let Some(rest) = text.strip_prefix("#x") {
        return digits(rest, 4).ok_or_else(bad);
    }
    let decimal = text
        .strip_prefix("(_ bv")
        .and_then(|t| t.strip_suffix(')'))
        .and_then(|t| t.split_once(' '));
    let (value, stated) = decimal.ok_or_else(bad)?;
    let value: num_bigint::BigUint = value.parse().map_err(|_| bad())?;
    if stated.trim().parse() != Ok(width) || value.bits() > u64::from(width) {
        return Err(bad());
    }
    let mut bytes = value.to_bytes_le();
    bytes.resize(width.div_ceil(8) as usize, 0);
    Ok(Bits::from_bytes(width, &bytes))
}
