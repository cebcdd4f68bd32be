//! What models say, as the text that is kept beside an instruction set: `llvm_costs.yaml`.
//!
//! In: [`Models`] or their text. Out: the other. Instructions of the same figures are one row:
//! latency and cycles between two starts of each model with a bar between, `-` where a model has
//! none; then what stands for them, or `=`; then their names.

use super::{Figure, Figures, Models};
use semantics::spelling::Spelling;
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    source: String,
    models: Vec<String>,
    rows: String,
}

/// The text; `command` is what makes it.
pub fn write(models: &Models, command: &str) -> String {
    let mut rows: BTreeMap<(String, &str), Vec<&str>> = BTreeMap::new();
    for (name, figures) in &models.instructions {
        let each: Vec<String> = figures.of.iter().map(figure).collect();
        let stands = figures.stands.as_deref().unwrap_or("=");
        let row = rows.entry((each.join(" "), stands)).or_default();
        row.push(name);
    }
    let mut text = format!(
        "# What LLVM's scheduling models say that instructions cost, in cycles: latency and, after the\n\
         # bar, cycles between two starts, for each model in their order; `-` where it has no such\n\
         # instruction. Then `=`, or the instruction that clang makes in its place. Made by\n\
         # `{command}`.\n\
         source: {}\n\
         models: [{}]\n\
         rows: |\n",
        models.source,
        models.names.join(", ")
    );
    for ((figures, stands), names) in rows {
        text.push_str(&format!("  {figures} {stands} {}\n", names.join(" ")));
    }
    text
}

fn figure(figure: &Figure) -> String {
    match figure {
        None => "-".to_owned(),
        Some((latency, throughput)) => format!("{}|{}", rounded(*latency), rounded(*throughput)),
    }
}

/// A number with at most two digits after the point.
fn rounded(cycles: f64) -> f64 {
    (cycles * 100.0).round() / 100.0
}

/// Reads the text.
///
/// # Errors
/// It has another form: where, in one line.
pub fn read(text: &str) -> Result<Models, String> {
    let file: File = serde_yaml::from_str(text).map_err(|e| e.to_string())?;
    let mut models = file.models.iter();
    models.try_for_each(|model| Spelling::Name.check("a model", model))?;
    let mut instructions = BTreeMap::new();
    for row in file.rows.lines() {
        let mut words = row.split_whitespace();
        let of: Result<Vec<Figure>, String> = file
            .models
            .iter()
            .map(|model| {
                let word = words.next();
                parse(word.ok_or_else(|| format!("`{row}` has no figure of {model}"))?)
            })
            .collect();
        let of = of?;
        let stands = match words.next() {
            Some("=") => None,
            Some(other) => Some(other.to_owned()),
            None => return Err(format!("`{row}` names no instruction")),
        };
        for name in words {
            let figures = Figures {
                stands: stands.clone(),
                of: of.clone(),
            };
            if instructions.insert(name.to_owned(), figures).is_some() {
                return Err(format!("`{name}` is there twice"));
            }
        }
    }
    Ok(Models {
        source: file.source,
        names: file.models,
        instructions,
    })
}

fn parse(word: &str) -> Result<Figure, String> {
    if word == "-" {
        return Ok(None);
    }
    let numbers = word.split_once('|');
    let cycles = |text: &str| text.parse().ok().filter(|c| (0.0..1e6).contains(c));
    let both = numbers.and_then(|(l, t)| Some((cycles(l)?, cycles(t)?)));
    both.map(Some)
        .ok_or_else(|| format!("`{word}` is no figure like `3|0.5`"))
}
