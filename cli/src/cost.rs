//! Cost tables: `isa-specs/<isa>/cost/<model>.yaml`.
//!
//! In: a folder and a CPU model. Out: the [`CostTable`] that the search uses; the generic
//! one where the model has none. Files speak of cycles, the search of tenths of a cycle.

mod rows;

use crate::compile::read;
pub(crate) use rows::idle;
use semantics::diagnostic::Diagnostic;
use semantics::span::{Source, Span};
use semantics::spelling::Spelling;
use serde::Deserialize;
use serde_yaml::Mapping;
use std::path::Path;
use synth::cost::{Cost, CostRow, CostTable, Rule, Timing};
use target::processor::Processor;

/// The table for models that have none of their own.
const GENERIC: &str = "generic";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    model: String,
    default: Cycles,
    rows: Vec<Row>,
    /// What the processor takes besides, where that is not as in `isa-specs/processor.yaml`.
    #[serde(default)]
    processor: Mapping,
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

impl Row {
    /// The patterns of names that the row is for, in the order in which they are tried.
    fn names(&self) -> impl Iterator<Item = &str> {
        self.mnemonic
            .iter()
            .chain(&self.mnemonics)
            .map(String::as_str)
    }
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
        Diagnostic::error(message).hint("cycles are numbers from 0 to 10000; what a `processor` has stands in isa-specs/processor.yaml")
    };
    let resources = file.rows.iter().filter_map(|row| row.resource.as_deref());
    let called = std::iter::once(("the model", file.model.as_str()))
        .chain(resources.map(|resource| ("a resource", resource)));
    for (what, name) in called {
        let checked = Spelling::Name.check(what, name);
        let at = source.text().find(name).unwrap_or(0);
        let span = Span::new(at, at + name.len());
        checked.map_err(|told| Diagnostic::error(told).at(&source, span))?;
    }
    let mut said = of_all(folder)?;
    said.extend(file.processor);
    let processor =
        Processor::with(said).map_err(|error| wrong(&format!("`processor`: {error}")))?;
    let mut rows = Vec::new();
    for row in file.rows {
        let names: Vec<String> = row.names().map(str::to_owned).collect();
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
        processor,
    })
}

/// What is said of all processors beside the folders of sets, where these are not those that the program
/// has itself.
fn of_all(folder: &Path) -> Result<Mapping, Diagnostic> {
    let path = folder.with_file_name("processor.yaml");
    if !path.exists() {
        return Ok(Mapping::new());
    }
    let source = read(&path)?;
    let wrong = |error: &serde_yaml::Error| {
        let format =
            "its keys are those of isa-specs/processor.yaml; what it does not say is as there";
        spec_parser::yaml::error_of_format(&source, error, format)
    };
    let said: Mapping = spec_parser::yaml::from_str(source.text()).map_err(|e| wrong(&e))?;
    if let Err(error) = Processor::with(said.clone()) {
        // Read as it stands it has a place, and what is wrong is met before what is missing.
        let placed = spec_parser::yaml::from_str::<Processor>(source.text()).err();
        return Err(wrong(placed.as_ref().unwrap_or(&error)));
    }
    Ok(said)
}

/// The file, as it is written.
fn parsed(source: &Source) -> Result<File, Diagnostic> {
    spec_parser::yaml::from_str(source.text()).map_err(|error| {
        spec_parser::yaml::error_of_format(
            source,
            &error,
            "a cost table has `model`, `default` and `rows` of `mnemonic` or `mnemonics`, `latency`, `throughput`, and perhaps `width` and `resource`; it may have a `processor`",
        )
    })
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
    fn a_hint_says_what_mends_it_or_what_a_table_has() {
        let hint = |text: &str| {
            let wrong = parsed(&Source::new("m.yaml", text)).map(|file| file.model);
            wrong.expect_err(text).hint.unwrap_or_default()
        };
        assert_eq!(hint("modle: m\n"), "did you mean `model`?");
        assert_eq!(hint("model: m\nmodel: n\n"), "leave one of them");
        for other in ["model: m\n", "weather: m\n", "[]\n"] {
            assert!(hint(other).starts_with("a cost table has"), "{other}");
        }
    }

    #[test]
    fn a_table_says_what_its_processor_takes_besides() {
        let place = tempfile::tempdir().expect("there is room");
        std::fs::create_dir(place.path().join("cost")).expect("there is room");
        let read = |processor: &str| {
            let text = format!(
                "model: m\ndefault: {{latency: 1, throughput: 1}}\nrows: []\nprocessor: {processor}\n"
            );
            std::fs::write(place.path().join("cost/m.yaml"), text).expect("there is room");
            let table = table(place.path(), "m", Rule::Pressure);
            table.map(|t| t.processor).map_err(|d| d.message)
        };
        let other = read("{load: 1}").expect("a table");
        assert_eq!((other.load, Processor::default().load), (10, 5));
        assert_eq!(other.store, Processor::default().store);
        let wrong = read("{lod: 1}").expect_err("no such figure");
        assert!(
            wrong.contains("`processor`: unknown field `lod`"),
            "{wrong}"
        );
    }

    #[test]
    fn what_stands_beside_the_sets_is_of_all_of_them() {
        let place = tempfile::tempdir().expect("there is room");
        let set = place.path().join("set");
        std::fs::create_dir_all(set.join("cost")).expect("there is room");
        let text =
            "model: m\ndefault: {latency: 1, throughput: 1}\nrows: []\nprocessor: {load: 1}\n";
        std::fs::write(set.join("cost/m.yaml"), text).expect("there is room");
        let read = |all: &str| {
            std::fs::write(place.path().join("processor.yaml"), all).expect("there is room");
            table(&set, "m", Rule::Pressure).map(|t| t.processor)
        };
        let own = read("load: 2\nchains: 3\n").expect("a table");
        assert_eq!(
            (own.load, own.chains),
            (10, 3),
            "a model's own figures count"
        );
        assert_eq!(own.store, Processor::default().store);
        for (all, wanted) in [
            ("chians: 3\n", "chians"),
            ("chains: eight\n", "eight"),
            ("- 1\n", "sequence"),
        ] {
            let wrong = read(all).expect_err(all);
            assert!(wrong.message.contains(wanted), "{wrong:?}");
            assert!(wrong.hint.is_some(), "{wrong:?}");
        }
    }

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
