//! `isaforge verify`: a dictionary against the instructions that it speaks of.
//!
//! In: a dictionary's file, instructions. Out: what became of each member, counts, a status.
//! Nothing that the file or the cache of proofs says is believed: every member is proved
//! again.

mod independent;
mod rules;

pub(crate) use independent::windows;

use crate::args::{Specs, Verify};
use crate::status::Status;
use crate::{compile, inspect, terminal};
use autoir::dictionary::Dictionary;
use autoir::verify::{Checked, Finding, verify};
use semantics::diagnostic::Diagnostic;
use smt::verdict::Evidence;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use validate::check::against::listed;
use validate::check::summary::few;

/// `isaforge verify`.
pub(crate) fn command(request: &Verify) -> Status {
    let Some(file) = &request.dictionary else {
        return rules::command(request);
    };
    let read = compile::read(file)
        .map_err(|diagnostic| vec![diagnostic])
        .and_then(|source| Dictionary::read(&source));
    let dictionary = match read {
        Ok(dictionary) => dictionary,
        Err(diagnostics) => {
            terminal::complain(&diagnostics);
            return Status::WrongInput;
        }
    };
    let specs = Specs {
        isa: request.isa.clone().unwrap_or_else(|| sets(&dictionary)),
        isa_specs: request.isa_specs.clone(),
        vendor: request.vendor.clone(),
    };
    let (intake, wrong) = match inspect::load(&specs) {
        Ok(loaded) => loaded,
        Err(status) => return status,
    };
    if request.independent {
        return inspect::finish(wrong).max(independent::members(
            request,
            &dictionary,
            &intake.instructions,
        ));
    }
    let prover = match request.prover.without_cache(1) {
        Ok(prover) => prover,
        Err(diagnostic) => {
            terminal::complain(&[diagnostic]);
            return Status::WrongInput;
        }
    };
    let bar = terminal::bar("verifying", dictionary.members().count());
    let found = verify(&dictionary, &intake.instructions, &prover, &|| bar.inc(1));
    bar.finish_and_clear();
    let members: BTreeSet<&str> = found.iter().map(|c| c.instruction.as_str()).collect();
    let names = intake.instructions.iter().map(|i| i.name.as_str());
    let unclassed: Vec<&str> = names.filter(|name| !members.contains(name)).collect();
    terminal::print(&text(&found));
    if !unclassed.is_empty() {
        let message = format!(
            "{} instructions are in no class of `{}`: {}",
            unclassed.len(),
            file.display(),
            few(&unclassed)
        );
        let hint = "it was made from other specifications, or without `--vendor`";
        terminal::complain(&[Diagnostic::warning(message).hint(hint)]);
    }
    inspect::finish(wrong).max(status(&found))
}

/// The instruction sets that a dictionary's members are of, separated by commas; that with
/// the most members first.
fn sets(dictionary: &Dictionary) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, member) in dictionary.members() {
        *counts.entry(&member.isa).or_default() += 1;
    }
    let mut names: Vec<&str> = counts.keys().copied().collect();
    names.sort_by_key(|name| std::cmp::Reverse(counts[name]));
    names.join(",")
}

/// Whether all was proved.
fn status(found: &[Checked]) -> Status {
    let one = |checked: &Checked| match checked.finding {
        Finding::Proved(_) => Status::Done,
        Finding::Unknown(_) => Status::Limited,
        Finding::Different(_) | Finding::NoMeaning(_) | Finding::Missing => Status::CheckFailed,
    };
    found.iter().map(one).max().unwrap_or(Status::Done)
}

/// Members that are not what the dictionary says, and counts.
fn text(found: &[Checked]) -> String {
    let mut text = String::new();
    let mut evidence = Evidence::default();
    let (mut proved, mut wrong, mut unknown) = (0, 0, 0);
    for checked in found {
        let (class, name) = (&checked.operation, &checked.instruction);
        match &checked.finding {
            Finding::Proved(how) => {
                proved += 1;
                evidence.add(how);
                continue;
            }
            Finding::Unknown(reason) => {
                unknown += 1;
                let _ = writeln!(text, "{name} in {class}: not decided: {reason}");
                continue;
            }
            Finding::Different(model) => {
                let _ = writeln!(text, "{name} in {class}: another meaning, such as for");
                text.push_str(&listed(model.iter()));
            }
            Finding::NoMeaning(why) => {
                let _ = writeln!(text, "{name} in {class}: {why}");
            }
            Finding::Missing => {
                let _ = writeln!(text, "{name} in {class}: there is no such instruction");
            }
        }
        wrong += 1;
    }
    let _ = writeln!(text, "{:>9}  members", found.len());
    let _ = writeln!(text, "{proved:>9}  proved: {evidence}");
    let _ = writeln!(text, "{wrong:>9}  wrong");
    let _ = writeln!(text, "{unknown:>9}  not decided");
    text
}
