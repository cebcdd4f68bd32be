//! Things that are the same questions but for the names of their variables.
//!
//! In: things with their claims. Out: for each the first that is the same questions, itself where
//! there is none before it. A question numbers its variables as they appear, so that those of two
//! things are equal just when only names differ; equal digests are not believed.

use crate::ask::Claim;
use crate::ask::Outcome;
use crate::bits::Shown;
use crate::many::{Asked, on_deep_stacks};
use raw::question::Question;
use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::fmt::{self, Write as _};
use std::hash::{Hash, Hasher};
use std::time::Duration;

/// For each thing the first one that is the same, found by so many threads.
pub(crate) fn firsts(things: &[Vec<Claim>], threads: usize) -> Vec<usize> {
    let of = |(): &mut (), at: usize| questions(&things[at]).map(|own| digest(&things[at], &own));
    let digests = on_deep_stacks(things.len(), threads, &|| (), &of);
    let mut alike: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (at, digest) in digests.into_iter().enumerate() {
        if let Some(digest) = digest {
            alike.entry(digest).or_default().push(at);
        }
    }
    let alike: Vec<Vec<usize>> = alike.into_values().filter(|all| all.len() > 1).collect();
    let same = |(): &mut (), k: usize| same(things, &alike[k]);
    let found = on_deep_stacks(alike.len(), threads, &|| (), &same);
    let mut first: Vec<usize> = (0..things.len()).collect();
    for (at, other) in found.into_iter().flatten() {
        first[at] = other;
    }
    first
}

/// Of things with one digest those that are the same as one before, with the first of these.
fn same(things: &[Vec<Claim>], all: &[usize]) -> Vec<(usize, usize)> {
    let mut known: Vec<(usize, Vec<Question>)> = Vec::new();
    let mut found = Vec::new();
    for &at in all {
        let Some(own) = questions(&things[at]) else {
            continue;
        };
        let mut before = known.iter();
        match before.find(|(k, q)| asked_alike(&things[*k], &things[at]) && *q == own) {
            Some((other, _)) => found.push((at, *other)),
            None => known.push((at, own)),
        }
    }
    found
}

/// What is known of a thing by one that is the same: nothing was asked for it. Inputs that show a
/// difference have other names, so that those are found anew.
pub(crate) fn again(asked: &Asked) -> Option<Asked> {
    let outcome = |outcome: &Outcome| match outcome {
        Outcome::Fails(_) => None,
        Outcome::Holds { elements, .. } => Some(Outcome::Holds {
            elements: *elements,
            questions: 0,
        }),
        other => Some(other.clone()),
    };
    let shown = |shown: &Shown| Shown {
        elements: shown.elements,
        of: shown.of,
        ..Shown::default()
    };
    Some(Asked {
        outcomes: asked.outcomes.iter().map(outcome).collect::<Option<_>>()?,
        shown: asked.shown.iter().map(shown).collect(),
        time: Duration::ZERO,
    })
}

/// What is asked about a thing; nothing where some of it cannot be asked.
fn questions(claims: &[Claim]) -> Option<Vec<Question>> {
    let asked = claims.iter().map(|claim| Question::new(claim.a, claim.b));
    let asked: Vec<Question> = asked.collect::<Result<_, _>>().ok()?;
    // What variables are called is all that may differ.
    let nameless = |mut question: Question| {
        question.variables.clear();
        question
    };
    (!asked.is_empty()).then(|| asked.into_iter().map(nameless).collect())
}

/// Whether the same parts are asked about.
fn asked_alike(a: &[Claim], b: &[Claim]) -> bool {
    let parts = |claim: &Claim| (claim.element, claim.live.clone());
    a.len() == b.len() && a.iter().map(parts).eq(b.iter().map(parts))
}

fn digest(claims: &[Claim], questions: &[Question]) -> u64 {
    let mut text = Digested(DefaultHasher::new());
    for (claim, question) in claims.iter().zip(questions) {
        (claim.element, &claim.live, &question.sides).hash(&mut text.0);
        for function in &question.functions {
            // A digest takes any text.
            let _ = write!(text, "{function}");
        }
    }
    text.0.finish()
}

/// What is written is only digested.
struct Digested(DefaultHasher);

impl fmt::Write for Digested {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.write(text.as_bytes());
        Ok(())
    }
}
