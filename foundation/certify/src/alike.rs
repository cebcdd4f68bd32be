//! Things that are the same questions but for the names of their variables.
//!
//! In: things with their claims. Out: for each the first that is the same questions, itself where
//! there is none before it. A question numbers its variables as they appear, so that those of two
//! things are equal just when only names differ; equal digests are not believed.

use crate::ask::Claim;
use crate::ask::Outcome;
use crate::bits::Shown;
use crate::many::Asked;
use raw::question::Question;
use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::fmt::{self, Write as _};
use std::hash::{Hash, Hasher};
use std::time::Duration;

/// For each thing the first one that is the same.
pub(crate) fn firsts(things: &[Vec<Claim>]) -> Vec<usize> {
    let mut known: HashMap<u64, Vec<usize>> = HashMap::new();
    let mut first = Vec::with_capacity(things.len());
    for (at, claims) in things.iter().enumerate() {
        let Some(own) = questions(claims) else {
            first.push(at);
            continue;
        };
        let before = known.entry(digest(claims, &own)).or_default();
        let same = |&other: &usize| {
            let other = &things[other];
            asked_alike(other, claims) && questions(other).is_some_and(|q| q == own)
        };
        match before.iter().copied().find(same) {
            Some(other) => first.push(other),
            None => {
                before.push(at);
                first.push(at);
            }
        }
    }
    first
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
