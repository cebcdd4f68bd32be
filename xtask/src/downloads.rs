//! What the tests download, told before anything is.
//!
//! In: the workspace root. Out: what is not here yet, with its size. Each of the modules that fetch says what
//! it would fetch; what cargo fetches is not among it.

use crate::{riscv, solver, tools, wasm};
use std::path::Path;

/// Something that is fetched once and kept.
#[derive(Debug, PartialEq)]
pub(crate) struct Download {
    /// What, and from where.
    what: String,
    megabytes: u32,
}

impl Download {
    pub(crate) fn new(what: String, megabytes: u32) -> Download {
        Download { what, megabytes }
    }
}

/// What the tests would download now.
pub(crate) fn missing(root: &Path) -> Vec<Download> {
    let mut all: Vec<Download> = solver::missing(root).into_iter().collect();
    all.extend(riscv::missing(root));
    all.extend(tools::missing(root));
    all.extend(wasm::missing());
    all
}

/// A line for each, and what they take together.
pub(crate) fn reported(all: &[Download]) -> String {
    if all.is_empty() {
        return "downloads: none, all tools are here".to_owned();
    }
    let total: u32 = all.iter().map(|d| d.megabytes).sum();
    let lines = all
        .iter()
        .map(|d| format!("\n  {:>4} MB  {}", d.megabytes, d.what));
    format!("downloads: {total} MB, once{}", lines.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::{Download, reported};

    #[test]
    fn what_is_missing_is_named_with_its_size() {
        assert_eq!(reported(&[]), "downloads: none, all tools are here");
        let all = [
            Download::new("z3 (PyPI)".to_owned(), 39),
            Download::new("gcc (Debian)".to_owned(), 140),
        ];
        assert_eq!(
            reported(&all),
            "downloads: 179 MB, once\n    39 MB  z3 (PyPI)\n   140 MB  gcc (Debian)"
        );
    }
}
