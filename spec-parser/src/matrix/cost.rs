//! What a manifest says for models of cost.
//!
//! In: the raw section, the machine's instructions, and the names of those that were refused.
//! Out: a [`CostModel`]. A refused instruction is told where it stands, not here.

use super::file::RawCost;
use super::place::{place_of, place_of_word, size};
use crate::manifest::scalar_text;
use semantics::diagnostic::{Diagnostic, suggest};
use semantics::machine::{Banks, CostModel, Machine, Unit};
use semantics::span::Source;
use semantics::spelling::Spelling;
use serde_yaml::Value;
use std::collections::BTreeMap;

/// The name of a model that has none.
pub(super) const USUAL: &str = "usual";

/// A model, all that is wrong with it otherwise.
pub(super) fn model(
    raw: &RawCost,
    machine: &Machine,
    refused: &[String],
    source: &Source,
) -> Result<CostModel, Vec<Diagnostic>> {
    let name = raw.model.as_deref().unwrap_or(USUAL);
    let named = called("a model of cost", "model", name, source);
    let units = units(raw, machine, refused, source);
    let banks = banks(raw, machine, source);
    let known: BTreeMap<String, i64> = machine.parameters.iter().cloned().collect();
    let holds = raw.holds.iter().map(|(key, value)| {
        let name = scalar_text(key).unwrap_or_default();
        match known.contains_key(&name) {
            true => Ok((name.clone(), size(&name, value, &BTreeMap::new(), source)?)),
            false => Err(Diagnostic::error(format!("`{name}` is no parameter"))
                .at(source, place_of_word(source, "holds", &name))
                .hint("a model holds for values of `parameters`")),
        }
    });
    let holds: Result<Vec<_>, _> = holds.collect();
    match (named, units, banks, holds) {
        (Ok(()), Ok((issue, taken, units)), Ok(banks), Ok(holds)) => Ok(CostModel {
            name: name.to_owned(),
            source: raw.source.clone().unwrap_or_default().trim_end().to_owned(),
            holds,
            issue,
            taken,
            units,
            banks,
        }),
        (named, units, banks, holds) => {
            let wrong = named
                .err()
                .into_iter()
                .chain(units.err())
                .chain(banks.err())
                .chain(holds.err());
            Err(wrong.collect())
        }
    }
}

/// Whether a name is spelt as one.
fn called(what: &str, key: &str, name: &str, source: &Source) -> Result<(), Diagnostic> {
    let checked = Spelling::Name.check(what, name);
    checked.map_err(|told| Diagnostic::error(told).at(source, place_of_word(source, key, name)))
}

/// Cycles of issue, and the units.
fn units(
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
                .at(source, place_of_word(source, "units", name))
                .hint(hint),
        )
    };
    let mut units = Vec::new();
    for unit in &raw.units {
        called("a unit", "units", &unit.unit, source)?;
        let taken = cycles("cycles", &unit.cycles)?;
        if taken == 0 {
            let message = format!("the unit `{}` takes no time for anything", unit.unit);
            return Err(Diagnostic::error(message)
                .at(source, place_of_word(source, "units", &unit.unit))
                .hint("`cycles` lie between two starts, at least 1; `latency` may be 0"));
        }
        units.push(Unit {
            name: unit.unit.clone(),
            cycles: taken,
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

/// The banks of memory, where the manifest has some.
fn banks(raw: &RawCost, machine: &Machine, source: &Source) -> Result<Option<Banks>, Diagnostic> {
    let Some(raw) = &raw.banks else {
        return Ok(None);
    };
    let known: BTreeMap<String, i64> = machine.parameters.iter().cloned().collect();
    let positive = |key: &str, value: &Value| {
        let n = size(key, value, &known, source)?;
        u64::try_from(n).ok().filter(|n| *n > 0).ok_or_else(|| {
            Diagnostic::error(format!("`{key}` is {n}"))
                .at(source, place_of(source, key))
                .hint("it must be at least 1")
        })
    };
    Ok(Some(Banks {
        count: positive("banks", &raw.count)?,
        stripe: positive("stripe", &raw.stripe)?,
        beat: positive("beat", &raw.beat)?,
    }))
}
