//! What a manifest says for models of cost.
//!
//! In: the raw section, the machine's instructions, and the names of those that were refused.
//! Out: cycles of issue, and units. A refused instruction is told where it stands, not here.

use super::file::RawCost;
use super::load::{place_of, size};
use semantics::diagnostic::{Diagnostic, suggest};
use semantics::machine::{Machine, Unit};
use semantics::span::Source;
use serde_yaml::Value;
use std::collections::BTreeMap;

/// Cycles of issue, and the units.
pub(super) fn units(
    raw: &RawCost,
    machine: &Machine,
    refused: &[String],
    source: &Source,
) -> Result<(u64, u64, Vec<Unit>), Diagnostic> {
    let known: BTreeMap<String, i64> = machine.parameters.iter().cloned().collect();
    let cycles = |key: &str, value: &Value| {
        let n = size(key, value, &known, source)?;
        u64::try_from(n).map_err(|_| {
            Diagnostic::error(format!("`{key}` is {n} cycles"))
                .at(source, place_of(source, key))
                .hint("cycles are at least 0")
        })
    };
    let index = |name: &String| {
        let names = || {
            machine
                .instructions
                .iter()
                .map(|i| i.instruction.name.as_str())
        };
        if let Some(k) = names().position(|n| n == name) {
            return Ok(Some(k));
        }
        if refused.contains(name) {
            return Ok(None);
        }
        let hint = match suggest(name, names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "name instructions of the files".to_owned(),
        };
        Err(
            Diagnostic::error(format!("a unit works on `{name}`, which is no instruction"))
                .at(source, place_of(source, "units"))
                .hint(hint),
        )
    };
    let mut units = Vec::new();
    for unit in &raw.units {
        units.push(Unit {
            name: unit.unit.clone(),
            cycles: cycles("cycles", &unit.cycles)?,
            latency: cycles("latency", &unit.latency)?,
            instructions: unit
                .instructions
                .iter()
                .filter_map(|name| index(name).transpose())
                .collect::<Result<_, _>>()?,
        });
    }
    let taken = raw.taken.as_ref().map(|v| cycles("taken", v)).transpose()?;
    Ok((cycles("issue", &raw.issue)?, taken.unwrap_or(0), units))
}
