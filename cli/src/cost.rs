//! Cost tables: `isa-specs/<isa>/cost/<model>.yaml`.
//!
//! In: a folder and a CPU model. Out: the [`CostTable`] that the search uses; the generic
//! one where the model has none. Files speak of cycles, the search of tenths of a cycle.

use crate::compile::read;
use semantics::diagnostic::{Diagnostic, suggest};
use semantics::instruction::Instruction;
use semantics::span::{Source, Span};
use semantics::spelling::is_like;
use serde::Deserialize;
use std::collections::BTreeSet;
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
    let file = parsed(&source)?;
    let wrong = |what: &str| {
        let message = format!("{}: {what}", path.display());
        Diagnostic::error(message).hint("cycles are numbers from 0 to 10000")
    };
    let mut rows = Vec::new();
    for row in file.rows {
        let names: Vec<String> = row.mnemonic.into_iter().chain(row.mnemonics).collect();
        let timing = timing(row.latency, row.throughput);
        let timing =
            timing.map_err(|what| wrong(&format!("{what} for `{}`", names.join("`, `"))))?;
        rows.extend(names.into_iter().map(|mnemonic| CostRow {
            mnemonic,
            width: row.width,
            timing,
            resource: row.resource.clone(),
        }));
    }
    Ok(CostTable {
        model: file.model,
        rule,
        default: timing(file.default.latency, file.default.throughput)
            .map_err(|what| wrong(&format!("{what} for all others")))?,
        rows,
    })
}

/// The file, as it is written.
fn parsed(source: &Source) -> Result<File, Diagnostic> {
    spec_parser::yaml::from_str(source.text()).map_err(|error| {
        let told = spec_parser::yaml::error(source, 0, &error);
        let guessed = told.hint.as_ref().is_some_and(|hint| hint.starts_with("did you"));
        match guessed {
            true => told,
            false => told.hint("a cost table has `model`, `default` and `rows` of `mnemonic` or `mnemonics`, `latency`, `throughput`, and perhaps `width` and `resource`"),
        }
    })
}

/// What the tables of a set say of instructions that it does not have: what was meant has the costs
/// of all others then.
pub(crate) fn idle(folder: &Path, instructions: &[Instruction]) -> Vec<Diagnostic> {
    let files = std::fs::read_dir(folder.join("cost")).into_iter().flatten();
    let mut paths: Vec<_> = files.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "yaml"));
    paths.sort();
    // As the search looks them up: the first word, in small letters.
    let mnemonic = |i: &Instruction| {
        let whole = i.mnemonic.as_deref().unwrap_or(&i.name);
        whole
            .split_whitespace()
            .next()
            .unwrap_or_default()
            .to_ascii_lowercase()
    };
    let names: BTreeSet<String> = instructions.iter().map(mnemonic).collect();
    let mut told = Vec::new();
    for source in paths.iter().filter_map(|path| read(path).ok()) {
        let Ok(file) = parsed(&source) else { continue };
        let rows = file.rows.iter();
        let patterns = rows.flat_map(|row| row.mnemonic.iter().chain(&row.mnemonics));
        for pattern in patterns.filter(|p| !names.iter().any(|name| is_like(p, name))) {
            let at = source.text().find(pattern.as_str()).unwrap_or(0);
            let message = format!("no instruction is called `{pattern}`");
            let near = suggest(pattern, names.iter().map(String::as_str));
            let hint = near.map_or("`*` stands for any text".to_owned(), |near| {
                format!("did you mean `{near}`?")
            });
            let place = Span::new(at, at + pattern.len());
            told.push(Diagnostic::warning(message).at(&source, place).hint(hint));
        }
    }
    told
}

fn timing(latency: f64, throughput: f64) -> Result<Timing, String> {
    Ok(Timing {
        latency: tenths("latency", latency)?,
        throughput: tenths("throughput", throughput)?,
    })
}

/// Cycles as tenths, or what is no number of cycles.
fn tenths(what: &str, cycles: f64) -> Result<Cost, String> {
    let tenths = (cycles * 10.0).round();
    match (0.0..=100_000.0).contains(&tenths) {
        true => Ok(tenths as Cost),
        false => Err(format!("`{what}: {cycles}` is no number of cycles")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_number_of_cycles_is_told() {
        let place = tempfile::tempdir().expect("there is room");
        std::fs::create_dir(place.path().join("cost")).expect("there is room");
        let read = |default: &str, row: &str| {
            let rows = format!("rows: [{{mnemonic: add, latency: {row}, throughput: 1}}]");
            let text =
                format!("model: m\ndefault: {{latency: 1, throughput: {default}}}\n{rows}\n");
            let path = place.path().join("cost/m.yaml");
            std::fs::write(path, text).expect("there is room");
            let table = table(place.path(), "m", Rule::Pressure);
            table.map(|table| table.rows.len()).map_err(|d| d.message)
        };
        assert_eq!(read("0.5", "0"), Ok(1));
        for wrong in [".nan", "-1", ".inf", "1e300", "10001"] {
            let of_row = read("1", wrong).expect_err(wrong);
            assert!(
                of_row.contains("is no number of cycles for `add`"),
                "{of_row}"
            );
            let of_others = read(wrong, "1").expect_err(wrong);
            assert!(of_others.contains("for all others"), "{of_others}");
        }
    }
}
