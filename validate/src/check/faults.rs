//! What C compilers are known to do wrong.
//!
//! In: `compilers.yaml` of an instruction set and the compiler that is here. Out: for an
//! intrinsic the compiler's known mistake, to be told in place of a disagreement. A compiler
//! that cannot be identified has no known mistakes.

use semantics::diagnostic::Diagnostic;
use semantics::spelling::Spelling;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use toolchain::c::{self, Kind};

/// Known mistakes of the compiler that is used, by intrinsic.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    known: BTreeMap<String, String>,
}

/// The file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    faults: Vec<Fault>,
    #[serde(default)]
    missing: Vec<Missing>,
}

/// What a compiler lacks.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Missing {
    unless: String,
    intrinsics: Vec<String>,
}

/// One mistake; `evidence` is for people.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fault {
    compiler: String,
    seen: Vec<u32>,
    intrinsics: Vec<String>,
    fault: String,
    #[serde(rename = "evidence")]
    _evidence: String,
}

impl Faults {
    /// The mistakes of `compiler` that the folder's `compilers.yaml` knows; a folder without
    /// one knows none.
    ///
    /// # Errors
    /// When the file cannot be read or understood.
    pub fn load(folder: &Path, compiler: &str) -> Result<Faults, Diagnostic> {
        let found = c::kind(compiler).zip(File::load(folder)?);
        Ok(found.map_or_else(Faults::default, |(c, file)| file.of(&c)))
    }

    /// The same mistakes, of functions that are called otherwise.
    pub fn renamed(&self, names: &[(String, String)]) -> Faults {
        let told = |(name, intrinsic): &(String, String)| {
            let fault = self.known.get(intrinsic)?;
            Some((name.clone(), fault.clone()))
        };
        Faults {
            known: names.iter().filter_map(told).collect(),
        }
    }

    /// The known mistake with an intrinsic.
    pub fn of(&self, intrinsic: &str) -> Option<&str> {
        self.known.get(intrinsic).map(String::as_str)
    }
}

/// Intrinsics that not every compiler has, each with the condition under which it does.
///
/// # Errors
/// When the file cannot be read or understood.
pub fn missing(folder: &Path) -> Result<BTreeMap<String, String>, Diagnostic> {
    let missing = File::load(folder)?.map_or_else(Vec::new, |file| file.missing);
    for m in &missing {
        Spelling::Condition
            .check("`unless` of compilers.yaml", &m.unless)
            .map_err(Diagnostic::error)?;
    }
    let each = |m: Missing| {
        let names = m.intrinsics.into_iter();
        names.map(move |name| (name, m.unless.clone()))
    };
    Ok(missing.into_iter().flat_map(each).collect())
}

impl File {
    /// The folder's file, where it has one.
    fn load(folder: &Path) -> Result<Option<File>, Diagnostic> {
        let path = folder.join("compilers.yaml");
        if !path.exists() {
            return Ok(None);
        }
        let unreadable =
            |error| Diagnostic::error(format!("cannot read `{}`: {error}", path.display()));
        let text = std::fs::read_to_string(&path).map_err(unreadable)?;
        let wrong = |error| Diagnostic::error(format!("{}: {error}", path.display()));
        spec_parser::yaml::from_str(&text).map(Some).map_err(wrong)
    }

    fn of(&self, compiler: &Kind) -> Faults {
        let here = |f: &&Fault| f.compiler == compiler.name && f.seen.contains(&compiler.major);
        let told = |f: &Fault| {
            let text = format!("{} {}: {}", f.compiler, compiler.major, f.fault);
            let names = f.intrinsics.clone();
            names.into_iter().map(move |name| (name, text.clone()))
        };
        Faults {
            known: self.faults.iter().filter(here).flat_map(told).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{File, Kind};

    #[test]
    fn faults_belong_to_the_versions_that_had_them() {
        let text =
            "faults:\n  - {compiler: gcc, seen: [12], intrinsics: [f], fault: cut., evidence: e}\n";
        let file: File = serde_yaml::from_str(text).expect("the text is well formed");
        let faults = |name, major| file.of(&Kind { name, major });
        assert_eq!(faults("gcc", 12).of("f"), Some("gcc 12: cut."));
        assert_eq!(faults("gcc", 12).of("g"), None);
        assert_eq!(faults("gcc", 13).of("f"), None);
        assert_eq!(faults("clang", 12).of("f"), None);
    }
}
