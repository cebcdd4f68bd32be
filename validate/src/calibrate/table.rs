//! Measured costs as a table that `--target` reads.
//!
//! In: the CPU model and what was measured. Out: YAML, kinds of equal cost in one row, rows
//! in the order of their widths and figures, with the largest spread of a row as a comment.

use super::{Cost, Key};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A row's figures: hundredths of a cycle, so that equal ones meet.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Row {
    width: u32,
    resource: Option<String>,
    latency: u32,
    throughput: u32,
}

/// Cycles as hundredths, rounded to a quarter of a cycle where they are that near.
fn hundredths(cycles: f64) -> u32 {
    /// How far from a quarter a figure counts as that quarter: the spread of good runs.
    const NEAR: f64 = 0.08;
    let quarter = (cycles * 4.0).round() / 4.0;
    let settled = if (cycles - quarter).abs() < NEAR {
        quarter
    } else {
        cycles
    };
    // Beyond a quarter, what is left is noise: one decimal.
    let kept = if settled == quarter { 100.0 } else { 10.0 };
    ((settled * kept).round() * 100.0 / kept).max(0.0) as u32
}

/// The text of the table.
pub fn write(model: &str, costs: &BTreeMap<Key, Cost>) -> String {
    let mut rows: BTreeMap<Row, (Vec<&str>, f64)> = BTreeMap::new();
    for (key, cost) in costs {
        let name = |k: &Key| format!("{}.{}", k.mnemonic, k.width);
        let latency = cost.latency.unwrap_or(cost.throughput);
        let row = Row {
            width: key.width,
            resource: cost.resource.as_ref().map(name),
            latency: hundredths(latency.cycles).max(1),
            throughput: hundredths(cost.throughput.cycles).max(1),
        };
        let (names, spread) = rows.entry(row).or_default();
        names.push(&key.mnemonic);
        *spread = spread.max(cost.throughput.spread).max(latency.spread);
    }
    let mut text = format!(
        "# Measured by `isaforge calibrate`. Units are cycles: `latency` until the result is\n\
         # there, over the slowest operand, `throughput` between two starts of independent ones,\n\
         # both the least of several runs; the comment is how much larger the median was.\n\
         # Kinds with one `resource` compete for all of their time; it is named after the first.\n\
         model: {model}\n\
         default: {{latency: 1, throughput: 0.5}}\n\
         rows:\n"
    );
    for (row, (names, spread)) in rows {
        let cycles = |hundredths: u32| f64::from(hundredths) / 100.0;
        let resource = row
            .resource
            .map_or_else(String::new, |r| format!(", resource: {r}"));
        writeln!(
            text,
            "  - {{width: {}, latency: {}, throughput: {}{resource}, mnemonics: [{}]}} # {:.0} %",
            row.width,
            cycles(row.latency),
            cycles(row.throughput),
            names.join(", "),
            spread * 100.0
        )
        .expect("a string grows");
    }
    text
}
