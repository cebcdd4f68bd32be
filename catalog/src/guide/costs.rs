//! What instructions cost, as a script of the guide: `guide.costs({…})`.
//!
//! In: a catalogue. Out: the processors, each list of figures once, and which instruction has
//! which. It is read when costs are shown or sorted by, not before: names are short as in
//! `data.rs`.

use crate::record::{Catalog, Cost};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// A processor, its instruction set, and who says what instructions cost on it.
type Model = (String, String, Option<String>);

#[derive(Serialize)]
struct Costs {
    models: Vec<Model>,
    /// Figures: model, latency, cycles between two starts, what it competes for, what stands for it.
    lists: Vec<Vec<Value>>,
    /// The list of each instruction, in the order of the index.
    of: Vec<usize>,
}

/// Writes what instructions cost.
pub(super) fn costs(catalog: &Catalog<'_>, out: &mut dyn Write) -> io::Result<String> {
    let mut models: Vec<Model> = Vec::new();
    let mut model = |cost: &Cost, isa: &str| {
        let this = (cost.cpu.clone(), isa.to_owned(), cost.source.clone());
        let known = models.iter().position(|m| *m == this);
        known.unwrap_or_else(|| {
            models.push(this);
            models.len() - 1
        })
    };
    let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
    let (mut lists, mut of) = (Vec::new(), Vec::new());
    for instruction in &catalog.instructions {
        let isa = &instruction.member.isa;
        let figures = instruction.known.costs.iter().map(|cost| {
            let number = model(cost, isa);
            json!([
                number,
                cost.latency,
                cost.throughput,
                cost.resource,
                cost.stands
            ])
        });
        let list: Vec<Value> = figures.collect();
        let text = Value::from(list.clone()).to_string();
        let number = *numbers.entry(text).or_insert_with(|| {
            lists.push(list);
            lists.len() - 1
        });
        of.push(number);
    }
    out.write_all(b"guide.costs(")?;
    serde_json::to_writer(&mut *out, &Costs { models, lists, of })?;
    out.write_all(b");\n")?;
    Ok(String::new())
}
