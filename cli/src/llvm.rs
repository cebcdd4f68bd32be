//! What LLVM makes of intrinsics: `isa-specs/<isa>/llvm_members.yaml`.
//!
//! In: the folder of an instruction set. Out: a row for each intrinsic that the file names, as
//! `codegen_gen::lowering` reads it. A set without the file has none.

use crate::compile::read;
use codegen_gen::lowering;
use semantics::diagnostic::Diagnostic;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Members {
    rows: String,
}

/// What LLVM makes of each intrinsic of an instruction set; nothing without the file.
///
/// # Errors
/// A file that is not as described at its head.
pub(crate) fn rows(folder: &Path) -> Result<BTreeMap<String, lowering::Row>, Diagnostic> {
    let path = folder.join("llvm_members.yaml");
    if !path.exists() {
        return Ok(BTreeMap::new());
    }
    let source = read(&path)?;
    let wrong = |message: String| Diagnostic::error(format!("{}: {message}", path.display()));
    let file: Members =
        spec_parser::yaml::from_str(source.text()).map_err(|e| wrong(e.to_string()))?;
    lowering::rows(&file.rows).map_err(wrong)
}
