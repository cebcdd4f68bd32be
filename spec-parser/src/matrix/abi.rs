//! The calling convention that a manifest names or writes out.
//!
//! In: the value of `abi`, the machine's registers. Out: an [`Abi`]. Conventions that several
//! machines share stand once beside their folders and are known by name.

use super::place::{place_of, place_of_word};
use crate::manifest::scalar_text;
use semantics::diagnostic::{Diagnostic, suggest};
use semantics::machine::{Abi, RegisterFile, Unknown};
use semantics::span::Source;
use semantics::spelling::Spelling;
use serde::Deserialize;
use serde_yaml::Value;
use std::collections::BTreeMap;

/// Conventions by name.
const KNOWN: [(&str, &str); 1] = [("riscv", include_str!("../../../isa-specs/riscv.yaml"))];

/// What stands in a manifest or a file of conventions: names of registers.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
struct RawAbi {
    arguments: String,
    #[serde(default)]
    temporary: String,
    #[serde(default)]
    saved: String,
    frame: Option<String>,
    link: String,
    stack: String,
    #[serde(default = "one")]
    align: u32,
    #[serde(rename = "return")]
    ret: String,
    #[serde(default)]
    address: Vec<String>,
    #[serde(default)]
    words: Vec<String>,
    #[serde(default)]
    enter: Vec<String>,
    #[serde(default)]
    leave: Vec<String>,
    unknown: Option<RawUnknown>,
}

/// The statement of instructions that assemblers do not know.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
struct RawUnknown {
    statement: String,
    numbers: BTreeMap<String, (u32, u32)>,
    registers: BTreeMap<String, (u32, u32)>,
}

impl RawUnknown {
    /// The same, when its text is assembly and its parts lie in a word.
    fn checked(self) -> Result<Unknown, String> {
        Spelling::Assembly.check("the statement of `unknown`", &self.statement)?;
        for (name, &(at, count)) in self.numbers.iter().chain(&self.registers) {
            Spelling::Identifier.check("a part of `unknown`", name)?;
            if !(1..32).contains(&count) || at > 64 - count {
                return Err(format!("`{name}` of `unknown` is no part of a word"));
            }
        }
        Ok(Unknown {
            statement: self.statement,
            numbers: self.numbers,
            registers: self.registers,
        })
    }
}

fn one() -> u32 {
    1
}

/// The convention.
///
/// # Errors
/// A name that nobody knows, or a register that the machine lacks.
pub(super) fn abi(
    value: &Value,
    files: &[RegisterFile],
    source: &Source,
) -> Result<Abi, Diagnostic> {
    let wrong = |message: String, hint: String| {
        let at = place_of(source, "abi");
        Diagnostic::error(message).at(source, at).hint(hint)
    };
    let raw: Result<RawAbi, serde_yaml::Error> = match scalar_text(value) {
        None => serde_yaml::from_value(value.clone()),
        Some(name) => match KNOWN.iter().find(|(known, _)| *known == name) {
            Some((_, text)) => serde_yaml::from_str(text),
            None => {
                let names = KNOWN.iter().map(|(known, _)| *known);
                let all = names.clone().collect::<Vec<_>>().join(", ");
                let hint = match suggest(&name, names) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("known ones are: {all}; or write it out as a mapping"),
                };
                return Err(wrong(format!("unknown calling convention `{name}`"), hint));
            }
        },
    };
    let raw = raw.map_err(|error| {
        let hint = "it has `arguments`, `temporary`, `saved`, `frame`, `link`, `stack`, `align`, \
                    `return`, `address`, `words`, `enter`, `leave`, `unknown`";
        wrong(
            format!("`abi` is no calling convention: {error}"),
            hint.to_owned(),
        )
    })?;
    let found = files.iter().position(|f| f.number_of(&raw.stack).is_some());
    let unknown_register = |message: String, name: &str| {
        let at = place_of_word(source, "abi", name);
        let hint = match found {
            Some(file) => format!(
                "there are {} registers `{}`, the last is `{}`",
                files[file].count,
                files[file].name,
                files[file].name_of(files[file].count - 1)
            ),
            None => "name registers of one kind".to_owned(),
        };
        Diagnostic::error(message).at(source, at).hint(hint)
    };
    let Some(file) = found else {
        let message = format!("no register of the machine is called `{}`", raw.stack);
        return Err(unknown_register(message, &raw.stack));
    };
    let number = |name: &str| {
        files[file].number_of(name).ok_or_else(|| {
            let message = format!("no register `{}` is called `{name}`", files[file].name);
            unknown_register(message, name)
        })
    };
    let all = |names: &str| {
        names
            .split_whitespace()
            .map(number)
            .collect::<Result<Vec<_>, _>>()
    };
    if !raw.align.is_power_of_two() {
        let message = format!("the stack pointer is a multiple of {} bytes", raw.align);
        return Err(wrong(message, "`align` is a power of two".to_owned()));
    }
    let parts = "a part is `[first bit, how many]` of a word";
    for line in raw.words.iter().chain(&raw.enter).chain(&raw.leave) {
        let checked = Spelling::Assembly.check("what assemblers are told", line);
        checked.map_err(|message| wrong(message, "write a directive".to_owned()))?;
    }
    let unknown = raw.unknown.map(RawUnknown::checked).transpose();
    let unknown = unknown.map_err(|message| wrong(message, parts.to_owned()))?;
    Ok(Abi {
        file,
        arguments: all(&raw.arguments)?,
        temporary: all(&raw.temporary)?,
        saved: all(&raw.saved)?,
        frame: raw.frame.as_deref().map(number).transpose()?,
        link: number(&raw.link)?,
        stack: number(&raw.stack)?,
        align: raw.align,
        ret: raw.ret,
        address: raw.address,
        words: raw.words,
        enter: raw.enter,
        leave: raw.leave,
        unknown,
    })
}
