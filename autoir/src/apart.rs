//! Names for operations whose computation alone has one name.
//!
//! In: operations with the names of what they compute. Out: names that differ. Of those that
//! share a name the one with most members keeps it (or the one whose member is called so); each other one gets a word of its
//! members' own names, the word that tells it from the others and that few operations of the
//! whole dictionary have (`add` of 52-bit products: `add_madd52hi`), or two. No list of words
//! is needed: a type or a width stands in the names of many operations, what an instruction
//! is called in few. Only where words do not tell them apart is there a number.

use crate::dictionary::Operation;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Words of the members' names, and how many members have each.
type Words = BTreeMap<String, usize>;

/// Gives operations of one name different ones.
pub(crate) fn tell_apart(operations: &mut [Operation]) {
    let words: Vec<Words> = operations.iter().map(words).collect();
    let mut spread: BTreeMap<&str, usize> = BTreeMap::new();
    for word in words.iter().flat_map(BTreeMap::keys) {
        *spread.entry(word).or_default() += 1;
    }
    let mut taken: BTreeSet<String> = operations.iter().map(|o| o.name.clone()).collect();
    for (name, group) in groups(operations) {
        let within: Vec<&Words> = group.iter().map(|&at| &words[at]).collect();
        for &at in group.iter().skip(1) {
            let members = operations[at].members.len();
            let mut base = name.clone();
            for word in telling(&words[at], members, &name, &within, &spread) {
                base = format!("{base}_{word}");
            }
            let numbered = |n: usize| match n {
                1 => base.clone(),
                n => format!("{base}_{n}"),
            };
            let free = (1..).map(numbered).find(|n| !taken.contains(n));
            operations[at].name = free.expect("numbers do not end");
            taken.insert(operations[at].name.clone());
        }
    }
}

/// Operations of each name: one that has a member of that very name first, then the one with
/// most members.
fn groups(operations: &[Operation]) -> BTreeMap<String, Vec<usize>> {
    let mut groups: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, o) in operations.iter().enumerate() {
        groups.entry(o.name.clone()).or_default().push(at);
    }
    for group in groups.values_mut() {
        group.sort_by(|&a, &b| {
            let key = |o: &Operation| {
                let own = o.members.iter().any(|m| m.name == o.name);
                (!own, Reverse(o.members.len()), o.formula.clone())
            };
            let (a, b) = (&operations[a], &operations[b]);
            key(a).cmp(&key(b)).then_with(|| a.results.cmp(&b.results))
        });
    }
    groups
}

/// The words of the members' names and their instruction sets, and how many members have them.
fn words(operation: &Operation) -> Words {
    let mut count = BTreeMap::new();
    for member in &operation.members {
        let name = member.name.to_lowercase();
        let parts = name.split(|c: char| !c.is_ascii_alphanumeric());
        let parts = parts.chain([member.isa.as_str()]);
        for word in parts.filter(|w| !w.is_empty()).collect::<BTreeSet<_>>() {
            *count.entry(word.to_owned()).or_default() += 1;
        }
    }
    count
}

/// The words, at most two, that tell an operation from the others of its group. At least half
/// of its members have them; of such it is the one that the fewest operations of the group
/// have, then the fewest of all, then the longest. The second is of those that have the first.
fn telling<'a>(
    own: &'a Words,
    members: usize,
    name: &str,
    group: &[&Words],
    spread: &BTreeMap<&str, usize>,
) -> Vec<&'a str> {
    let mut group = group.to_vec();
    let mut found: Vec<&str> = Vec::new();
    while found.len() < 2 && group.len() > 1 {
        let near = |word: &str| group.iter().filter(|w| w.contains_key(word)).count();
        let said = |word: &str| found.contains(&word) || name.split('_').any(|w| w == word);
        let likely = own.iter().filter(|&(_, &n)| 2 * n >= members);
        let best = likely
            .map(|(word, _)| word.as_str())
            .filter(|word| !said(word))
            .min_by_key(|word| (near(word), spread[word], Reverse(word.len()), *word));
        let Some(word) = best.filter(|word| near(word) < group.len()) else {
            break;
        };
        group.retain(|w| w.contains_key(word));
        found.push(word);
    }
    found
}

#[cfg(test)]
mod tests;
