//! What came of a check of many instructions, as a table.
//!
//! In: verdicts. Out: counts, and a text: the differences in full, then counts, then what was
//! not checked, by feature and by reason.

use super::Verdict;
use std::collections::BTreeMap;
use std::fmt;

/// What came of all.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Summary {
    /// Verdicts by name of the instruction.
    pub verdicts: BTreeMap<String, Verdict>,
    /// What else vouches for those that this processor lacks: for each name the witnesses.
    pub witnesses: BTreeMap<String, Vec<&'static str>>,
}

impl Summary {
    /// How many of each kind: agreed, disagreed or crashed, not checked.
    pub fn counts(&self) -> (usize, usize, usize) {
        self.verdicts
            .values()
            .fold((0, 0, 0), |(a, d, s), verdict| match verdict {
                Verdict::Agreed(_) => (a + 1, d, s),
                Verdict::Differs(_) | Verdict::Crashed(_) => (a, d + 1, s),
                Verdict::Compiler(_) | Verdict::Lacking(_) | Verdict::Skipped(_) => (a, d, s + 1),
            })
    }

    /// The names of those that were not run, by what the processor lacks.
    pub fn lacking(&self) -> BTreeMap<&str, Vec<&str>> {
        self.group(|verdict| match verdict {
            Verdict::Lacking(features) => Some(features),
            _ => None,
        })
    }

    /// The names of the skipped ones by reason.
    pub fn skipped(&self) -> BTreeMap<&str, Vec<&str>> {
        self.group(|verdict| match verdict {
            Verdict::Skipped(reason) => Some(reason),
            _ => None,
        })
    }

    /// The names of those that the C compiler is known to get wrong, by its mistake.
    pub fn compilers(&self) -> BTreeMap<&str, Vec<&str>> {
        self.group(|verdict| match verdict {
            Verdict::Compiler(mistake) => Some(mistake),
            _ => None,
        })
    }

    fn group(&self, key: fn(&Verdict) -> Option<&String>) -> BTreeMap<&str, Vec<&str>> {
        let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (name, verdict) in &self.verdicts {
            if let Some(key) = key(verdict) {
                groups.entry(key).or_default().push(name);
            }
        }
        groups
    }

    /// What else vouches for some instructions, with how many of them.
    fn vouched(&self, names: &[&str]) -> String {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for witness in names
            .iter()
            .filter_map(|n| self.witnesses.get(*n))
            .flatten()
        {
            *counts.entry(witness).or_default() += 1;
        }
        let all = names.len();
        let one = |(witness, n): (&&str, &usize)| format!("{witness}: {n} of {all}");
        match counts.is_empty() {
            true => "nothing else vouches for them".to_owned(),
            false => counts.iter().map(one).collect::<Vec<_>>().join(", "),
        }
    }
}

/// The most names that are printed for one reason to skip.
const NAMES: usize = 4;

/// The first few names.
pub fn few(names: &[&str]) -> String {
    let shown = names[..names.len().min(NAMES)].join(", ");
    let more = if names.len() > NAMES { ", …" } else { "" };
    format!("{shown}{more}")
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, verdict) in &self.verdicts {
            match verdict {
                Verdict::Differs(difference) => write!(f, "{name}: disagrees\n{difference}")?,
                Verdict::Crashed(how) => writeln!(f, "{name}: the program ended: {how}")?,
                Verdict::Agreed(_)
                | Verdict::Compiler(_)
                | Verdict::Lacking(_)
                | Verdict::Skipped(_) => {}
            }
        }
        let agreements: Vec<_> = self
            .verdicts
            .values()
            .filter_map(|v| match v {
                Verdict::Agreed(agreement) => Some(agreement),
                _ => None,
            })
            .collect();
        let (agreed, disagreed, unchecked) = self.counts();
        let inputs: usize = agreements.iter().map(|a| a.records).sum();
        writeln!(f, "{:>9}  intrinsics", self.verdicts.len())?;
        writeln!(f, "{agreed:>9}  agreed, on {inputs} inputs")?;
        let other_nan: Vec<_> = agreements.iter().map(|a| a.other_nan).collect();
        let near: Vec<_> = agreements.iter().map(|a| a.near).collect();
        for (kind, counts) in [
            ("up to which NaN is returned", other_nan),
            ("up to the stated error of an approximation", near),
        ] {
            let intrinsics = counts.iter().filter(|&&n| n > 0).count();
            let inputs: usize = counts.iter().sum();
            if intrinsics > 0 {
                writeln!(f, "{intrinsics:>15}  {kind}, on {inputs} inputs")?;
            }
        }
        let aligned = agreements.iter().filter(|a| a.unaligned > 0).count();
        if aligned > 0 {
            writeln!(f, "{aligned:>15}  fault when memory is not aligned")?;
        }
        writeln!(f, "{disagreed:>9}  disagreed")?;
        writeln!(f, "{unchecked:>9}  not checked")?;
        for (features, names) in self.lacking() {
            let (count, few, vouched) = (names.len(), few(&names), self.vouched(&names));
            writeln!(f, "{count:>15}  this processor lacks {features}: {few}")?;
            writeln!(f, "{:>15}  ({vouched})", "")?;
        }
        for (mistake, names) in self.compilers() {
            let (count, few) = (names.len(), few(&names));
            writeln!(f, "{count:>15}  mistaken by {mistake}: {few}")?;
        }
        for (reason, names) in self.skipped() {
            writeln!(f, "{:>15}  {reason}: {}", names.len(), few(&names))?;
        }
        Ok(())
    }
}
