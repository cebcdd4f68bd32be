//! Errata of hardware in a manifest.
//!
//! In: the raw items, the machine with its instructions. Out: [`Erratum`]s. An item whose
//! instruction was refused is left out; it is told where the instruction stands.

use super::place::place_of_word;
use crate::manifest::scalar_text;
use semantics::diagnostic::{Diagnostic, suggest};
use semantics::machine::{Erratum, Machine, OperandKind};
use semantics::span::Source;
use semantics::spelling::Spelling;
use serde::Deserialize;
use serde_yaml::Value;

/// One item of `errata`.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct RawErratum {
    erratum: String,
    instruction: String,
    operand: String,
    not: Vec<Value>,
    active: bool,
    reason: String,
    evidence: String,
    revision: String,
}

/// An erratum; nothing when its instruction was refused.
///
/// # Errors
/// What it names and the machine lacks.
pub(super) fn erratum(
    raw: &RawErratum,
    machine: &Machine,
    refused: &[String],
    source: &Source,
) -> Result<Option<Erratum>, Diagnostic> {
    let name = &raw.erratum;
    let wrong = |message: String, word: &str, hint: String| {
        let at = place_of_word(source, &format!("erratum: {name}\n    instruction"), word);
        let at = match at.start {
            0 => place_of_word(source, "errata", word),
            _ => at,
        };
        Diagnostic::error(message)
            .at(source, at)
            .hint(hint)
            .with_note(format!("in the erratum `{name}`"))
    };
    Spelling::Name
        .check("an erratum", name)
        .map_err(|told| wrong(told, name, "name it in a word".to_owned()))?;
    let names = || {
        machine
            .instructions
            .iter()
            .map(|i| i.instruction.name.as_str())
    };
    let Some(instruction) = names().position(|n| n == raw.instruction) else {
        if refused.contains(&raw.instruction) {
            return Ok(None);
        }
        let hint = match suggest(&raw.instruction, names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "name an instruction of the files".to_owned(),
        };
        return Err(wrong(
            format!("`{}` is no instruction", raw.instruction),
            &raw.instruction,
            hint,
        ));
    };
    let found = &machine.instructions[instruction];
    let Some(operand) = found.operand(&raw.operand) else {
        let operands: Vec<&str> = found.operands.iter().map(|o| o.name.as_str()).collect();
        let message = format!("`{}` has no operand `{}`", raw.instruction, raw.operand);
        return Err(wrong(
            message,
            &raw.operand,
            format!("its operands are {}", operands.join(", ")),
        ));
    };
    let value = |value: &Value| {
        let text = scalar_text(value).unwrap_or_default();
        let number = match found.operands[operand].kind {
            OperandKind::Register { file, .. } => {
                machine.files[file].number_of(&text).map(i64::from)
            }
            OperandKind::Immediate { .. } => text.parse().ok(),
        };
        number.ok_or_else(|| {
            let message = format!("`{text}` is no value of `{}`", raw.operand);
            wrong(
                message,
                &text,
                "name registers, or numbers for a constant".to_owned(),
            )
        })
    };
    Ok(Some(Erratum {
        name: name.clone(),
        instruction,
        operand,
        values: raw.not.iter().map(value).collect::<Result<_, _>>()?,
        reason: raw.reason.trim_end().to_owned(),
        evidence: raw.evidence.trim_end().to_owned(),
        revision: raw.revision.trim_end().to_owned(),
        active: raw.active,
    }))
}
