//! Tests that were not run, as they record it themselves.
//!
//! In: the file that tests write (crate `test-support`: one line for each, how much, which
//! test, why). Out: how many were skipped, and a list by reason. What was skipped in part has
//! passed as far as it went, and is listed apart.

use crate::solver::target_dir;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The environment variable that names the file for the tests.
pub(crate) const VARIABLE: &str = "ISAFORGE_SKIPPED";

/// An empty file for the records of one run.
pub(crate) fn begin(root: &Path) -> PathBuf {
    let file = target_dir(root).join("skipped-tests");
    // Where it is not there, or cannot be removed, the tests complain themselves.
    let _ = std::fs::remove_file(&file);
    file
}

/// Tests by reason.
type Reasons = BTreeMap<String, BTreeSet<String>>;

/// What was not run.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Skipped {
    whole: Reasons,
    part: Reasons,
}

impl Skipped {
    /// The records of a run; no file is no record.
    pub(crate) fn read(file: &Path) -> Skipped {
        Skipped::parse(&std::fs::read_to_string(file).unwrap_or_default())
    }

    /// The records of a text.
    pub(crate) fn parse(text: &str) -> Skipped {
        let mut skipped = Skipped::default();
        for line in text.lines() {
            let fields: Vec<&str> = line.split('\t').collect();
            let (reasons, test, reason) = match fields[..] {
                ["skipped", test, reason] => (&mut skipped.whole, test, reason),
                ["skipped in part", test, reason] => (&mut skipped.part, test, reason),
                _ => continue,
            };
            let tests = reasons.entry(reason.to_owned()).or_default();
            tests.insert(test.to_owned());
        }
        skipped
    }

    /// How many tests were not run at all.
    pub(crate) fn count(&self) -> u64 {
        let tests: BTreeSet<&String> = self.whole.values().flatten().collect();
        tests.len() as u64
    }

    /// The tests with their reasons; nothing where all were run.
    pub(crate) fn list(&self) -> String {
        let mut text = String::new();
        for (how, reasons) in [("skipped", &self.whole), ("skipped in part", &self.part)] {
            for (reason, tests) in reasons {
                let _ = writeln!(text, "{how}: {reason}");
                for test in tests {
                    let _ = writeln!(text, "  {test}");
                }
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::Skipped;

    #[test]
    fn tests_are_listed_by_reason_and_counted_once() {
        let skipped = Skipped::parse(
            "skipped\tb::two\tno z3\nskipped in part\tc::three\tno clang\n\
             skipped\ta::one\tno z3\nskipped\ta::one\tno z3\nsomething else\n",
        );
        assert_eq!(skipped.count(), 2);
        assert_eq!(
            skipped.list(),
            "skipped: no z3\n  a::one\n  b::two\nskipped in part: no clang\n  c::three\n"
        );
        assert_eq!(Skipped::default().list(), "");
    }
}
