//! What people and programs look instructions up in: tables, and the guide.
//!
//! In: a [`Dictionary`](autoir::dictionary::Dictionary) and what else is [known](record::Known)
//! of its instructions. Out: a [`record::Catalog`], and from it the text of files: the tables as
//! JSON with a schema, CSV and Markdown ([`tables`]), and a static website ([`guide`]). What is
//! drawn of an instruction comes from its meaning ([`flow`]). It opens no file and knows no
//! instruction by name.

pub mod flow;
pub mod guide;
pub mod kind;
pub mod record;
pub mod samples;
pub mod sense;
pub mod tables;

use std::io::{self, Write};

/// A file's text, written piece by piece; what comes back is one line about it.
type Writer<'a> = Box<dyn Fn(&mut dyn Write) -> io::Result<String> + Send + Sync + 'a>;

/// One file.
pub struct File<'a> {
    /// Below the output folder, with `/` between folders.
    pub path: String,
    /// Writes it.
    pub write: Writer<'a>,
}

impl<'a> File<'a> {
    /// A file with what writes it.
    fn new(
        path: impl Into<String>,
        write: impl Fn(&mut dyn Write) -> io::Result<String> + Send + Sync + 'a,
    ) -> File<'a> {
        File {
            path: path.into(),
            write: Box::new(write),
        }
    }
}

/// Every file of a catalogue.
pub fn files<'a>(catalog: &'a record::Catalog<'a>) -> Vec<File<'a>> {
    let mut files = tables::files(catalog);
    files.extend(guide::files(catalog));
    files
}
