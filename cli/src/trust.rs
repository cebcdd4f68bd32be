//! Whether what a manifest names may be run: compilers, flags, emulators, files and lines of C.
//!
//! In: the set, the folder that was named for it, whether the caller trusts it. Out: yes for our own
//! sets, for copies that name the same, and where the caller says so. Families and names are read
//! safely whoever wrote them; this is what no reader can make safe.

use crate::args::Specs;
use crate::assets;
use semantics::diagnostic::Diagnostic;
use spec_parser::manifest::c_section;
use std::fs;

/// Whether programs that the manifest names may be run.
///
/// # Errors
/// When the manifest cannot be read.
pub(crate) fn trusted(isa: &str, specs: &Specs, asked: bool) -> Result<bool, Vec<Diagnostic>> {
    let Some(named) = specs.isa_specs.as_deref().filter(|_| !asked) else {
        return Ok(true);
    };
    let theirs = assets::folder(isa, Some(named)).map_err(|d| vec![d])?;
    let section = c_section(&theirs.join("manifest.yaml"))?;
    let Ok(ours) = assets::folder(isa, None) else {
        return Ok(section.code().is_empty());
    };
    let own = c_section(&ours.join("manifest.yaml"))?;
    let same = |name: &String| {
        let [a, b] = [&theirs, &ours].map(|folder| fs::read(folder.join(name)).ok());
        a.is_some() && a == b
    };
    Ok(section.code().is_empty() || section == own && section.files.iter().all(same))
}
