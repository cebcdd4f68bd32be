//! The guide: a static website in which instructions and operations are looked up.
//!
//! In: a [`Catalog`]. Out: `guide/index.html` with its style and scripts, which are the same for
//! every catalogue, and the data that they read: an index that is there at once, and a file for
//! some operations each, which is read when one of them is shown. Data is in scripts, because
//! a page that was opened from a disk may read no other file.

mod costs;
mod data;
mod meanings;
mod pack;
#[cfg(test)]
mod tests;

use crate::File;
use crate::record::Catalog;
use data::Plan;
use std::io::Write;
use std::sync::Arc;

/// What is the same in every guide: path and text.
const FIXED: [(&str, &str); 18] = [
    ("index.html", include_str!("guide/index.html")),
    ("style.css", include_str!("guide/style.css")),
    ("store.js", include_str!("guide/store.js")),
    ("words.js", include_str!("guide/words.js")),
    ("thesaurus.js", include_str!("guide/thesaurus.js")),
    ("search.js", include_str!("guide/search.js")),
    ("expression.js", include_str!("guide/expression.js")),
    ("match.js", include_str!("guide/match.js")),
    ("sequence.js", include_str!("guide/sequence.js")),
    ("costs.js", include_str!("guide/costs.js")),
    ("filters.js", include_str!("guide/filters.js")),
    ("folded.js", include_str!("guide/folded.js")),
    ("drawing.js", include_str!("guide/drawing.js")),
    ("values.js", include_str!("guide/values.js")),
    ("interpret.js", include_str!("guide/interpret.js")),
    ("try.js", include_str!("guide/try.js")),
    ("detail.js", include_str!("guide/detail.js")),
    ("app.js", include_str!("guide/app.js")),
];

/// The files of the guide.
pub(crate) fn files<'a>(catalog: &'a Catalog<'a>) -> Vec<File<'a>> {
    let mut files: Vec<File<'a>> = FIXED
        .iter()
        .map(|&(path, text)| {
            File::new(format!("guide/{path}"), move |out: &mut dyn Write| {
                out.write_all(text.as_bytes())?;
                let first = path == "index.html";
                Ok(if first { "open this" } else { "" }.to_owned())
            })
        })
        .collect();
    let plan = Arc::new(Plan::new(catalog));
    for page in 0..plan.pages() {
        let own = plan.clone();
        files.push(File::new(format!("guide/data/{page}.js"), move |out| {
            data::page(catalog, &own, page, out)
        }));
        let own = plan.clone();
        files.push(File::new(
            format!("guide/data/meanings/{page}.js"),
            move |out| meanings::page(catalog, own.shown(page), page, out),
        ));
    }
    files.push(File::new(
        "guide/data/interpreter.js",
        meanings::interpreter,
    ));
    files.push(File::new("guide/data/values.js", move |out| {
        data::values(catalog, out)
    }));
    files.push(File::new("guide/data/costs.js", move |out| {
        costs::costs(catalog, out)
    }));
    files.push(File::new("guide/data/index.js", move |out| {
        data::index(catalog, &plan, out)
    }));
    files
}
