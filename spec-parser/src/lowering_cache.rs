//! What is cached of bodies that earlier runs have lowered.
//!
//! In: the text of an earlier run, or nothing. Out: [`LoweringCache`], what each body of
//! pseudocode leaves behind, under a digest of the body and of its signature; and the text
//! for the next run. A body without a meaning is not kept: its diagnostics are found anew.
//! The text holds for the program that wrote it; whoever keeps it sees to that, and to its
//! integrity.

use crate::signature::Signature;
use semantics::digest::Digest;
use semantics::nodes::{Reader, Writer};
use semantics::term::Term;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};

#[cfg(test)]
mod tests;

/// Bodies above which only those of the last run are kept.
const MOST: usize = 30_000;

/// What a body leaves behind: the names of its results in order, and what each is.
pub(crate) type Meaning = Vec<(String, Term)>;

/// Meanings by the digests of their bodies.
#[derive(Default)]
pub struct LoweringCache {
    known: BTreeMap<Digest, Meaning>,
    fresh: Mutex<BTreeMap<Digest, Meaning>>,
    /// Which of how many parts of all bodies are looked at; all where there is none.
    part: Option<(usize, usize)>,
    /// The bodies of that part.
    dealt: Mutex<BTreeSet<Digest>>,
}

impl LoweringCache {
    /// Reads what [`LoweringCache::text`] writes; nothing when it is something else.
    pub fn read(text: &str) -> Option<LoweringCache> {
        let (first, body) = text.split_once('\n')?;
        let nodes: usize = first.parse().ok()?;
        let mut lines = body.split_terminator('\n');
        let terms = Reader::default().terms(lines.by_ref().take(nodes))?;
        if terms.len() < nodes {
            return None;
        }
        let entry = |line: &str| {
            let (digest, results) = line.split_once(' ').unwrap_or((line, ""));
            let result = |r: &str| {
                let (name, number) = r.split_once('=')?;
                let term = *terms.get(number.parse::<usize>().ok()?)?;
                Some((name.to_owned(), term))
            };
            let words = results.split(' ').filter(|r| !r.is_empty());
            let meaning = words.map(result).collect::<Option<Meaning>>()?;
            Some((digest.parse().ok()?, meaning))
        };
        Some(LoweringCache {
            known: lines.map(entry).collect::<Option<_>>()?,
            ..LoweringCache::default()
        })
    }

    /// Nothing is known, and of `of` parts of all bodies only the `part`th, from 0, is looked at:
    /// the others are left out without a word.
    pub fn part(part: usize, of: usize) -> LoweringCache {
        LoweringCache {
            part: Some((part, of)),
            ..LoweringCache::default()
        }
    }

    /// Adds what another knows.
    pub fn extend(&mut self, other: LoweringCache) {
        self.known.extend(other.known);
    }

    /// All that is known, for the next run; nothing when it is what was read.
    pub fn text(&self) -> Option<String> {
        let fresh = self.fresh.lock().unwrap_or_else(PoisonError::into_inner);
        if fresh.is_empty() {
            return None;
        }
        let few = self.known.len() + fresh.len() <= MOST;
        let known = self.known.iter().filter(|_| few);
        let (mut writer, mut lines) = (Writer::default(), String::new());
        for (digest, meaning) in known.chain(fresh.iter()) {
            let _ = write!(lines, "{digest}");
            for (name, term) in meaning {
                let _ = write!(lines, " {name}={}", writer.number(*term));
            }
            lines.push('\n');
        }
        let nodes = writer.count();
        Some(format!("{nodes}\n{}{lines}", writer.into_text()))
    }

    /// How many bodies were lowered in this run.
    pub fn fresh(&self) -> usize {
        let fresh = self.fresh.lock().unwrap_or_else(PoisonError::into_inner);
        fresh.len()
    }

    /// Deals bodies out to the parts: the largest first, each to whoever has least so far.
    pub(crate) fn deal<'b>(&self, bodies: impl Iterator<Item = (Digest, &'b str)>) {
        let Some((part, of)) = self.part else { return };
        let weighed: BTreeSet<(Reverse<u64>, Digest)> = bodies
            .map(|(digest, text)| (Reverse(weight(text)), digest))
            .collect();
        let mut loads = vec![0; of];
        let mut dealt = self.dealt.lock().unwrap_or_else(PoisonError::into_inner);
        for (Reverse(weight), digest) in weighed {
            let least = (0..of).min_by_key(|&k| loads[k]).unwrap_or(0);
            loads[least] += weight;
            if least == part {
                dealt.insert(digest);
            }
        }
    }

    /// Whether a body is looked at.
    pub(crate) fn is_wanted(&self, body: Digest) -> bool {
        let dealt = || self.dealt.lock().unwrap_or_else(PoisonError::into_inner);
        self.part.is_none() || dealt().contains(&body)
    }

    /// The meaning of a body, if it is known.
    pub(crate) fn get(&self, body: Digest) -> Option<Meaning> {
        self.known.get(&body).cloned()
    }

    /// Keeps the meaning of a body.
    pub(crate) fn keep(&self, body: Digest, meaning: &Meaning) {
        // A space or a line's end in a name would be taken for the end of it.
        if meaning.iter().any(|(n, _)| n.contains([' ', '=', '\n'])) {
            return;
        }
        let mut fresh = self.fresh.lock().unwrap_or_else(PoisonError::into_inner);
        fresh.insert(body, meaning.clone());
    }
}

/// What a body is known by: all that its meaning depends on.
pub(crate) fn digest(dialect: &str, signature: &Signature, body: &str, xml: bool) -> Digest {
    Digest::of(&(dialect, signature, body, xml))
}

/// What the work on a body is guessed to be before it is read: where loops are in loops, what is
/// computed bit by bit, the iterations of the two outermost; else little. Lines within a loop are
/// indented further than it.
fn weight(text: &str) -> u64 {
    let mut open: Vec<(usize, u64)> = Vec::new();
    let mut most = 0;
    for line in text.lines() {
        let depth = line.len() - line.trim_start().len();
        let mut words = line.split_whitespace();
        let is_loop = words.next().is_some_and(|w| w.eq_ignore_ascii_case("for"));
        let last = words.skip_while(|w| !w.eq_ignore_ascii_case("to")).nth(1);
        let Some(last) = last.and_then(|w| w.parse::<u64>().ok()).filter(|_| is_loop) else {
            continue;
        };
        open.retain(|(outer, _)| *outer < depth);
        open.push((depth, last.saturating_add(1)));
        if let [(_, outer), (_, inner), ..] = open[..] {
            most = most.max(outer.saturating_mul(inner));
        }
    }
    4 + most.min(1 << 20)
}
