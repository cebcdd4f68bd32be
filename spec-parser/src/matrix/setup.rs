//! What programs of a machine are in C, registers that no operand names, and what stands around
//! programs on tiles.
//!
//! In: the keys `c`, `state` and `setup` of a manifest and of instructions. Out: [`Spelt`],
//! [`Implicit`] registers, [`Setup`]. What an instruction's statement does in C is not looked at:
//! it is what the description says that it is.

use super::file::RawInstruction;
use super::load::pieces;
use super::place::{place_of, place_of_word, size, wrong};
use crate::family::file::Item;
use crate::manifest::scalar_text;
use semantics::diagnostic::{Diagnostic, suggest};
use semantics::machine::{
    Implicit, Machine, MachineOperand, OperandKind, Setup, Spelt, Syntax, Which,
};
use semantics::span::Source;
use semantics::spelling::Spelling;
use serde::Deserialize;
use serde_yaml::Value;
use std::collections::BTreeMap;

/// `c` of a manifest.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct RawSpelt {
    #[serde(default)]
    headers: Vec<String>,
    #[serde(default)]
    flags: Vec<String>,
    #[serde(default)]
    prelude: String,
    register: String,
}

/// `setup` of a manifest.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct RawSetup {
    instruction: String,
    bytes: Vec<RawBytes>,
    leave: Option<String>,
}

/// A number, so many bytes of it, so many times.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
struct RawBytes {
    value: Value,
    #[serde(default = "one")]
    bytes: u32,
    times: Option<Value>,
}

fn one() -> u32 {
    1
}

/// The most bytes of a configuration.
const MOST_BYTES: usize = 1 << 16;

/// How programs are C.
pub(super) fn spelt(raw: &RawSpelt, source: &Source) -> Result<Spelt, Diagnostic> {
    let refused = |message: String| {
        let hint = "these stand in the code that is made";
        Diagnostic::error(message)
            .at(source, place_of(source, "c"))
            .hint(hint)
    };
    for header in &raw.headers {
        Spelling::Feature
            .check("a header", &header.replace('/', "_"))
            .map_err(refused)?;
    }
    for flag in &raw.flags {
        let name = flag.strip_prefix('-').unwrap_or(flag);
        Spelling::Flag.check("a flag", name).map_err(refused)?;
    }
    Spelling::CType
        .check("the type of a register", &raw.register)
        .map_err(refused)?;
    for line in raw.prelude.lines() {
        Spelling::Statement
            .check("a line of the prelude", line)
            .map_err(refused)?;
    }
    Ok(Spelt {
        headers: raw.headers.clone(),
        flags: raw.flags.clone(),
        prelude: raw.prelude.clone(),
        register: raw.register.clone(),
    })
}

/// The statement of C that an instruction is.
pub(super) fn statement(
    item: &Item<RawInstruction>,
    machine: &Machine,
    operands: &[MachineOperand],
) -> Result<Option<Vec<Syntax>>, Diagnostic> {
    let Some(text) = &item.raw.c else {
        return Ok(None);
    };
    if machine.spelt.is_none() {
        let message = "the manifest does not say how programs are C".to_owned();
        let hint = "give it `c: {register: uint64_t}`".to_owned();
        return Err(wrong(item, "c", message, hint));
    }
    let names: Vec<String> = operands.iter().map(|o| o.name.clone()).collect();
    let made = pieces(text, &names, Spelling::Statement);
    made.map(Some).map_err(|(m, h)| wrong(item, "c", m, h))
}

/// The registers beside an instruction's operands.
pub(super) fn implicit(
    item: &Item<RawInstruction>,
    machine: &Machine,
    operands: &[MachineOperand],
) -> Result<Vec<Implicit>, Diagnostic> {
    let mut out: Vec<Implicit> = Vec::new();
    for (key, value) in &item.raw.state {
        let (name, what) = (scalar_text(key), scalar_text(value));
        let (name, what) = (name.unwrap_or_default(), what.unwrap_or_default());
        let refused = |message: String, hint: String| wrong(item, "state", message, hint);
        let parts = what.strip_suffix(']').and_then(|w| w.split_once('['));
        let Some((file, index)) = parts else {
            let message = format!("`{what}` is no register");
            let hint = "write `shape[td]` for that with the number of an operand, or `shape[0]`";
            return Err(refused(message, hint.to_owned()));
        };
        let taken = operands.iter().any(|o| o.name == name) || out.iter().any(|i| i.name == name);
        if taken {
            let message = format!("`{name}` is there twice");
            return Err(refused(message, "give one another name".to_owned()));
        }
        let Some(at) = machine.files.iter().position(|f| f.name == file) else {
            let names = machine.files.iter().map(|f| f.name.as_str());
            let all = names.clone().collect::<Vec<_>>().join(", ");
            let near = suggest(file, names).map(|n| format!("did you mean `{n}`?"));
            let hint = near.unwrap_or_else(|| format!("registers are {all}"));
            return Err(refused(format!("there are no registers `{file}`"), hint));
        };
        let count = machine.files[at].count;
        let fits = |k: &usize| match operands[*k].kind {
            OperandKind::Register { file, .. } => machine.files[file].count <= count,
            OperandKind::Immediate { width, signed, .. } => !signed && count.ilog2() >= width,
        };
        let named = operands.iter().position(|o| o.name == index).filter(fits);
        let number = index.parse().ok().filter(|n| *n < count);
        let which = match (named, number) {
            (Some(k), _) => Which::Of(k),
            (None, Some(n)) => Which::Number(n),
            (None, None) => {
                let message = format!("`{index}` says no register of `{file}`");
                let hint = format!(
                    "it is a number below {count}, or an operand whose numbers are below that"
                );
                return Err(refused(message, hint));
            }
        };
        out.push(Implicit {
            name,
            file: at,
            which,
            read: false,
            written: false,
        });
    }
    Ok(out)
}

/// What stands around programs on tiles; none when an instruction of it was refused.
pub(super) fn setup(
    raw: &RawSetup,
    machine: &Machine,
    missing: &[String],
    source: &Source,
) -> Result<Option<Setup>, Diagnostic> {
    let told = |message: String, hint: &str| {
        let at = place_of(source, "setup");
        Diagnostic::error(message).at(source, at).hint(hint)
    };
    let named = |name: &String| {
        let found = machine
            .instructions
            .iter()
            .position(|i| i.instruction.name == *name);
        match found {
            None if !missing.contains(name) => {
                let message = format!("`{name}` of `setup` is no instruction");
                let all = machine.instructions.iter();
                let near = suggest(name, all.map(|i| i.instruction.name.as_str()));
                let hint = near.map_or("name an instruction of the files".to_owned(), |n| {
                    format!("did you mean `{n}`?")
                });
                Err(Diagnostic::error(message)
                    .at(source, place_of_word(source, "setup", name))
                    .hint(hint))
            }
            found => Ok(found),
        }
    };
    let load = named(&raw.instruction)?;
    let leave = raw.leave.as_ref().map(named).transpose()?.flatten();
    let Some(load) = load else { return Ok(None) };
    if machine.instructions[load].operands.len() != 1 {
        let message = format!("`{}` does not take an address alone", raw.instruction);
        return Err(told(message, "what is loaded lies at the only operand"));
    }
    let parameters: BTreeMap<String, i64> = machine.parameters.iter().cloned().collect();
    let mut bytes = Vec::new();
    for part in &raw.bytes {
        let value = size("value", &part.value, &parameters, source)?;
        let times = part.times.as_ref();
        let times = times.map_or(Ok(1), |t| size("times", t, &parameters, source))?;
        let many = usize::try_from(times).unwrap_or(usize::MAX);
        let each = part.bytes as usize;
        let fits = (1..=8).contains(&each)
            && many.saturating_mul(each) <= MOST_BYTES
            && (each == 8 || value >> (8 * each) == 0);
        if !fits {
            let message = format!("{value} is not {times} times {each} bytes");
            return Err(told(message, "a part is a number of 1 to 8 bytes"));
        }
        let one = &value.to_le_bytes()[..each];
        (0..many).for_each(|_| bytes.extend_from_slice(one));
    }
    Ok(Some(Setup {
        load: (load, 0),
        bytes,
        leave,
    }))
}
