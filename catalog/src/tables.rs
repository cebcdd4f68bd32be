//! The tables of instructions.
//!
//! In: a [`Catalog`]. Out: `tables/instructions.json` with the schema that it keeps to,
//! `tables/instructions.csv`, and Markdown, a page for each kind of operation. Each says what
//! made it and from what.

mod csv;
mod json;
mod markdown;
#[cfg(test)]
mod tests;

use crate::File;
use crate::record::Catalog;

/// The version of the JSON and CSV tables: the schema's `format`.
pub const FORMAT: &str = "isaforge-instructions 1";

/// The schema of the JSON table.
pub const SCHEMA: &str = include_str!("tables/instructions.schema.json");

/// The files of the tables.
pub(crate) fn files<'a>(catalog: &'a Catalog<'a>) -> Vec<File<'a>> {
    let mut files = vec![
        File::new("tables/instructions.schema.json", |out| {
            out.write_all(SCHEMA.as_bytes())?;
            Ok("what instructions.json keeps to".to_owned())
        }),
        File::new("tables/instructions.json", |out| json::write(catalog, out)),
        File::new("tables/instructions.csv", |out| csv::write(catalog, out)),
    ];
    files.extend(markdown::files(catalog));
    files
}
