//! Declared state from a manifest, and the procedures on it.
//!
//! In: the sections `types`, `arrays`, `fields`, `queues`, and files of instructions. Out: a
//! [`State`], the names of types, [`Procedure`]s. Only the notation of
//! [`super::procedure`] is known here, no instruction by name.

use super::file::{RawArray, RawField, RawInstruction, RawMachine, RawQueue};
use super::parser;
use super::place::{place_of, refused, size, wrong};
use super::procedure::{self, Scope};
use crate::family::file::Item;
use crate::manifest::scalar_text;
use semantics::diagnostic::{Diagnostic, suggest};
use semantics::instruction::Element;
use semantics::machine::Machine;
use semantics::machine::procedure::{CellArray, ConfigField, MAX_COLUMNS, Procedure, Queue, State};
use semantics::span::Source;
use semantics::spelling::Spelling;
use serde_yaml::Value;
use std::collections::BTreeMap;

/// What an item that is no instruction of its own has for its encoding.
pub(super) const INTERNAL: &str = "internal";

/// Sizes and types by name.
pub(super) struct Names {
    pub(super) parameters: BTreeMap<String, i64>,
    pub(super) types: BTreeMap<String, Element>,
}

fn diagnostic(source: &Source, key: &str, message: String, hint: impl Into<String>) -> Diagnostic {
    Diagnostic::error(message)
        .at(source, place_of(source, key))
        .hint(hint)
}

/// The types that are always there.
fn plain() -> BTreeMap<String, Element> {
    let signed = [8, 16, 32, 64].map(|w| (format!("s{w}"), Element::Signed(w)));
    let unsigned = [8, 16, 32].map(|w| (format!("u{w}"), Element::Unsigned(w)));
    let float = [("f32".to_owned(), Element::Float(32))];
    signed.into_iter().chain(unsigned).chain(float).collect()
}

/// The state, and the names that bodies may use.
pub(super) fn state(
    raw: &RawMachine,
    parameters: BTreeMap<String, i64>,
    source: &Source,
) -> Result<(State, Names), Diagnostic> {
    let mut types = plain();
    for (key, value) in &raw.types {
        let (key, value) = (
            scalar_text(key).unwrap_or_default(),
            scalar_text(value).unwrap_or_default(),
        );
        let element = known_type(&types, &value, &key, source)?;
        types.insert(key, element);
    }
    let names = Names { parameters, types };
    let mut state = State {
        relaxed: raw.memory.relaxed,
        ..State::default()
    };
    for (key, value) in &raw.arrays {
        let key = named(key, source)?;
        state.arrays.push(array(&key, value, &names, source)?);
    }
    for (key, value) in &raw.fields {
        let key = named(key, source)?;
        let first = state.field_count();
        state
            .fields
            .push(field(&key, value, first, &names, source)?);
    }
    for (key, value) in &raw.queues {
        let key = named(key, source)?;
        state.queues.push(queue(&key, value, &names, source)?);
    }
    Ok((state, names))
}

/// The name of an array, a field or a queue.
fn named(key: &Value, source: &Source) -> Result<String, Diagnostic> {
    let name = scalar_text(key).unwrap_or_default();
    let hint = "this name stands in the code that is made";
    match Spelling::Identifier.check("a name of the state", &name) {
        Ok(()) => Ok(name),
        Err(message) => Err(diagnostic(source, &name, message, hint)),
    }
}

fn queue(name: &str, value: &Value, names: &Names, source: &Source) -> Result<Queue, Diagnostic> {
    let raw: RawQueue = serde_yaml::from_value(value.clone()).map_err(|e| {
        let message = format!("the queue `{name}` is not what was expected: {e}");
        diagnostic(
            source,
            name,
            message,
            "write `load: {latency: 40, entries: 8}`",
        )
    })?;
    let latency = size(name, &raw.latency, &names.parameters, source)?;
    let entries = size(name, &raw.entries, &names.parameters, source)?;
    match (u64::try_from(latency), usize::try_from(entries)) {
        (Ok(latency), Ok(entries)) if entries > 0 => Ok(Queue {
            name: name.to_owned(),
            latency,
            entries,
        }),
        _ => {
            let message = format!("`{name}` has {entries} entries and {latency} cycles of latency");
            Err(diagnostic(
                source,
                name,
                message,
                "at least one entry and 0 cycles",
            ))
        }
    }
}

fn known_type(
    types: &BTreeMap<String, Element>,
    name: &str,
    key: &str,
    source: &Source,
) -> Result<Element, Diagnostic> {
    types.get(name).copied().ok_or_else(|| {
        let hint = match suggest(name, types.keys().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => types.keys().cloned().collect::<Vec<_>>().join(", "),
        };
        diagnostic(source, key, format!("there is no type `{name}`"), hint)
    })
}

fn array(
    name: &str,
    value: &Value,
    names: &Names,
    source: &Source,
) -> Result<CellArray, Diagnostic> {
    let raw: RawArray = serde_yaml::from_value(value.clone()).map_err(|e| {
        let message = format!("the array `{name}` is not what was expected: {e}");
        diagnostic(
            source,
            name,
            message,
            "write `spad: {rows: 4096, columns: DIM, type: s8}`",
        )
    })?;
    let rows = size(name, &raw.rows, &names.parameters, source)?;
    let columns = size(name, &raw.columns, &names.parameters, source)?;
    if !(1..=1 << 24).contains(&rows) || !(1..=i64::from(MAX_COLUMNS)).contains(&columns) {
        let message = format!("`{name}` cannot have {rows} rows of {columns}");
        let hint = format!("a row has 1 to {MAX_COLUMNS} cells, and there is at least one row");
        return Err(diagnostic(source, name, message, hint));
    }
    let number = |n: i64| u32::try_from(n).expect("bounded above");
    Ok(CellArray {
        name: name.to_owned(),
        rows: number(rows),
        columns: number(columns),
        element: known_type(&names.types, &raw.element, name, source)?,
    })
}

fn field(
    name: &str,
    value: &Value,
    first: usize,
    names: &Names,
    source: &Source,
) -> Result<ConfigField, Diagnostic> {
    let raw = match scalar_text(value) {
        Some(element) => RawField {
            element,
            count: None,
            reset: None,
        },
        None => serde_yaml::from_value(value.clone()).map_err(|e| {
            let message = format!("the field `{name}` is not what was expected: {e}");
            diagnostic(
                source,
                name,
                message,
                "write `stride: s64` or `stride: {type: s64, count: 3}`",
            )
        })?,
    };
    let count = match &raw.count {
        Some(count) => size(name, count, &names.parameters, source)?,
        None => 1,
    };
    let count = u32::try_from(count)
        .ok()
        .filter(|n| (1..=1024).contains(n))
        .ok_or_else(|| {
            let message = format!("there cannot be {count} of `{name}`");
            diagnostic(source, name, message, "1 to 1024")
        })?;
    Ok(ConfigField {
        name: name.to_owned(),
        count,
        element: known_type(&names.types, &raw.element, name, source)?,
        reset: raw.reset,
        first,
    })
}

/// The procedure of an item.
pub(super) fn procedure(
    item: &Item<RawInstruction>,
    operands: &[String],
    machine: &Machine,
    names: &Names,
) -> Result<Procedure, Diagnostic> {
    let name = &item.raw.instruction;
    if machine.procedures.iter().any(|p| p.name == *name) {
        let message = format!("`{name}` is there twice");
        return Err(wrong(
            item,
            "instruction",
            message,
            "give one another name".into(),
        ));
    }
    let scope = Scope {
        parameters: &names.parameters,
        types: &names.types,
        state: &machine.state,
        procedures: &machine.procedures,
    };
    let text = &item.raw.pseudocode;
    parser::body(text)
        .and_then(|body| procedure::lower(name, operands, &body, &scope))
        .map_err(|r| refused(item, "pseudocode", text, r))
}
