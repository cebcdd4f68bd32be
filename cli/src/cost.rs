//! Cost tables: `isa-specs/<isa>/cost/<model>.yaml`.
//!
//! In: a folder and a CPU model. Out: the [`CostTable`] that the search uses; the generic
//! one where the model has none. Files speak of cycles, the search of tenths of a cycle.

use crate::compile::read;
use semantics::diagnostic::Diagnostic;
use serde::Deserialize;
use std::path::Path;
use synth::cost::{Cost, CostRow, CostTable, Rule, Timing};

/// The table for models that have none of their own.
const GENERIC: &str = "generic";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    model: String,
    default: Cycles,
    rows: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cycles {
    latency: f64,
    throughput: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    #[serde(default)]
    mnemonic: Option<String>,
    #[serde(default)]
    mnemonics: Vec<String>,
    latency: f64,
    throughput: f64,
    width: Option<u32>,
    #[serde(default)]
    resource: Option<String>,
}

/// The table of a CPU model, from the instruction set's folder.
///
/// # Errors
/// When neither the model nor `generic` has a table that can be read.
pub(crate) fn table(folder: &Path, model: &str, rule: Rule) -> Result<CostTable, Diagnostic> {
    let own = folder.join("cost").join(format!("{model}.yaml"));
    let path = if own.exists() {
        own
    } else {
        folder.join("cost").join(format!("{GENERIC}.yaml"))
    };
    let source = read(&path)?;
    let file: File = spec_parser::yaml::from_str(source.text()).map_err(|error| {
        Diagnostic::error(format!("{}: {error}", path.display()))
            .hint("a cost table has `model`, `default` and `rows` of `mnemonic` or `mnemonics`, `latency`, `throughput`, and perhaps `width` and `resource`")
    })?;
    Ok(CostTable {
        model: file.model,
        rule,
        default: timing(file.default.latency, file.default.throughput),
        rows: file
            .rows
            .into_iter()
            .flat_map(|row| {
                let timing = timing(row.latency, row.throughput);
                let names = row.mnemonic.into_iter().chain(row.mnemonics);
                names.map(move |mnemonic| CostRow {
                    mnemonic,
                    width: row.width,
                    timing,
                    resource: row.resource.clone(),
                })
            })
            .collect(),
    })
}

fn timing(latency: f64, throughput: f64) -> Timing {
    Timing {
        latency: tenths(latency),
        throughput: tenths(throughput),
    }
}

/// Cycles as tenths; what is no sensible number of cycles counts as the largest.
fn tenths(cycles: f64) -> Cost {
    let tenths = (cycles * 10.0).round();
    if (0.0..=100_000.0).contains(&tenths) {
        tenths as Cost
    } else {
        100_000
    }
}
