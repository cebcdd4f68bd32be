//! Readings of instructions that earlier runs have found.
//!
//! In: the text of an earlier run, or nothing. Out: [`CanonicalCache`], how each instruction is read
//! and what it does on sampled inputs, under a digest of what it means; and the text for the
//! next run. Layouts are not kept, only what tells them apart: classification asks for the
//! layout of one member of a class again. Nothing that is kept is believed: every member is
//! proved. The text holds for the program that wrote it; whoever keeps it sees to that, and
//! to its integrity.

use crate::canon::{Candidate, Canonical, Role};
use crate::classify::{Read, Sampled};
use semantics::digest::Digest;
use semantics::instruction::{self, Instruction};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};

#[cfg(test)]
mod tests;

/// Instructions above which only those of the last run are kept.
const MOST: usize = 30_000;

/// Readings by the digests of their instructions.
#[derive(Default)]
pub struct CanonicalCache {
    /// The digests of layouts and the roles of their numbers, by line.
    layouts: Vec<(Digest, Vec<Role>)>,
    known: BTreeMap<Digest, String>,
    /// What others have read.
    others: Vec<CanonicalCache>,
    fresh: Mutex<BTreeMap<Digest, Read>>,
}

impl CanonicalCache {
    /// Reads what [`CanonicalCache::text`] writes; nothing when it is something else.
    pub fn read(text: &str) -> Option<CanonicalCache> {
        let (first, body) = text.split_once('\n')?;
        let count: usize = first.parse().ok()?;
        let mut lines = body.split_terminator('\n');
        let layout = |line: &str| {
            let mut words = line.split(' ');
            let digest = words.next()?.parse().ok()?;
            let roles = words.map(|w| w.parse().ok()).collect::<Option<_>>()?;
            Some((digest, roles))
        };
        let layouts: Option<Vec<_>> = lines.by_ref().take(count).map(layout).collect();
        let layouts = layouts.filter(|all| all.len() == count)?;
        let entry = |line: &str| {
            let (digest, rest) = line.split_once(';')?;
            Some((digest.parse().ok()?, rest.to_owned()))
        };
        Some(CanonicalCache {
            layouts,
            known: lines.map(entry).collect::<Option<_>>()?,
            others: Vec::new(),
            fresh: Mutex::default(),
        })
    }

    /// What several have read. None of it is in [`CanonicalCache::text`].
    pub fn of(others: Vec<CanonicalCache>) -> CanonicalCache {
        CanonicalCache {
            others,
            ..CanonicalCache::default()
        }
    }

    /// All that is known, for the next run; nothing when it is what was read.
    pub fn text(&self) -> Option<String> {
        let fresh = self.fresh.lock().unwrap_or_else(PoisonError::into_inner);
        if fresh.is_empty() {
            return None;
        }
        let mut table = Table::default();
        let mut lines = String::new();
        if self.known.len() + fresh.len() <= MOST {
            for (layout, roles) in &self.layouts {
                table.number(*layout, roles);
            }
            for (key, rest) in &self.known {
                let _ = writeln!(lines, "{key};{rest}");
            }
        }
        for (key, read) in fresh.iter() {
            let _ = writeln!(lines, "{key};{}", write(read, &mut table));
        }
        Some(format!("{}\n{}{lines}", table.numbers.len(), table.text))
    }

    /// How many candidates were found in this run.
    pub fn fresh(&self) -> usize {
        let fresh = self.fresh.lock().unwrap_or_else(PoisonError::into_inner);
        fresh.len()
    }

    /// How an instruction is read, if it is known.
    pub(crate) fn get(&self, key: Digest) -> Option<Read> {
        let own = self
            .known
            .get(&key)
            .and_then(|line| read(line, &self.layouts));
        own.or_else(|| self.others.iter().find_map(|other| other.get(key)))
    }

    /// Keeps how an instruction is read.
    pub(crate) fn keep(&self, key: Digest, read: &Read) {
        let marks = [' ', ';', '\n'];
        if read.canonical.variables.iter().any(|v| v.contains(marks)) {
            return;
        }
        let mut fresh = self.fresh.lock().unwrap_or_else(PoisonError::into_inner);
        fresh.insert(key, read.clone());
    }
}

/// What an instruction is known by: all that its reading depends on. `meaning` has the
/// digests of its outputs.
pub(crate) fn key(instruction: &Instruction, meaning: &[Digest]) -> Digest {
    let operands = instruction.operands.iter();
    let operands = operands.map(|o| (o.name.as_str(), o.role == instruction::Role::Mask));
    Digest::of(&(operands.collect::<Vec<_>>(), meaning))
}

/// Lines of layouts, each once, by their numbers.
#[derive(Default)]
struct Table {
    numbers: HashMap<String, usize>,
    text: String,
}

impl Table {
    fn number(&mut self, layout: Digest, roles: &[Role]) -> usize {
        let mut line = layout.to_string();
        roles.iter().for_each(|role| {
            let _ = write!(line, " {role}");
        });
        if let Some(&known) = self.numbers.get(&line) {
            return known;
        }
        self.text.push_str(&line);
        self.text.push('\n');
        let number = self.numbers.len();
        self.numbers.insert(line, number);
        number
    }
}

/// Settled and direct; variables; what it does on inputs; the order of operands there;
/// candidates, each a layout, numbers, arguments, registers and widths.
fn write(read: &Read, table: &mut Table) -> String {
    let Read { canonical, sampled } = read;
    let mut text = format!(
        "{}{};{};",
        u8::from(canonical.settled),
        u8::from(canonical.direct),
        canonical.variables.join(" ")
    );
    if let Some(sampled) = sampled {
        let _ = write!(text, "{} {}", sampled.digest, sampled.order.join(" "));
    }
    for candidate in &canonical.candidates {
        let layout = table.number(candidate.layout, &candidate.roles);
        let _ = write!(text, ";{layout}");
        optional(&mut text, &candidate.numbers);
        optional(&mut text, &candidate.arguments);
        list(&mut text, candidate.registers.iter());
        list(&mut text, candidate.widths.iter());
    }
    text
}

fn list(text: &mut String, values: impl Iterator<Item = impl std::fmt::Display>) {
    text.push(':');
    for (n, value) in values.enumerate() {
        let space = if n == 0 { "" } else { " " };
        let _ = write!(text, "{space}{value}");
    }
}

fn optional<T: ToString>(text: &mut String, values: &[Option<T>]) {
    let word = |v: &Option<T>| v.as_ref().map_or_else(|| "_".to_owned(), T::to_string);
    list(text, values.iter().map(word));
}

fn read(line: &str, layouts: &[(Digest, Vec<Role>)]) -> Option<Read> {
    let mut parts = line.split(';');
    let (settled, direct) = match parts.next()? {
        "00" => (false, false),
        "01" => (false, true),
        "10" => (true, false),
        "11" => (true, true),
        _ => return None,
    };
    let variables: Vec<String> = words(parts.next()?).map(str::to_owned).collect();
    let mut sampled = words(parts.next()?);
    let sampled = match sampled.next() {
        None => None,
        Some(digest) => Some(Sampled {
            digest: digest.parse().ok()?,
            order: sampled.map(str::to_owned).collect(),
        }),
    };
    let candidates: Vec<Candidate> = parts
        .map(|text| candidate(text, layouts))
        .collect::<Option<_>>()?;
    let mut arguments = candidates.iter().flat_map(|r| &r.arguments).flatten();
    let known = arguments.all(|&v| v < variables.len());
    (known && !candidates.is_empty()).then_some(Read {
        canonical: Canonical {
            variables,
            candidates,
            settled,
            direct,
        },
        sampled,
    })
}

fn candidate(text: &str, layouts: &[(Digest, Vec<Role>)]) -> Option<Candidate> {
    let mut parts = text.split(':');
    let (layout, roles) = layouts.get(parts.next()?.parse::<usize>().ok()?)?;
    let numbers: Vec<Option<i64>> = words(parts.next()?).map(maybe).collect::<Option<_>>()?;
    (numbers.len() == roles.len()).then_some(Candidate {
        layout: *layout,
        numbers,
        roles: roles.clone(),
        arguments: words(parts.next()?).map(maybe).collect::<Option<_>>()?,
        registers: words(parts.next()?)
            .map(|w| w.parse().ok().filter(|&at| at < roles.len()))
            .collect::<Option<_>>()?,
        widths: words(parts.next()?)
            .map(|w| w.parse().ok())
            .collect::<Option<_>>()?,
    })
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(' ').filter(|word| !word.is_empty())
}

/// `_` is a value that is not there.
fn maybe<T: std::str::FromStr>(word: &str) -> Option<Option<T>> {
    match word {
        "_" => Some(None),
        _ => word.parse().ok().map(Some),
    }
}
