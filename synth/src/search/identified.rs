//! Values that are known functions: other ways to write them, by the rules that come with the program.
//!
//! In: a value, the operations for a number of lanes. Out: equal terms. What the value is a function of may lie
//! anywhere below it: each border with one or two values is looked at, the nearest first.

use super::Search;
use super::cover::Choices;
use crate::fragment::{Fragment, lane_width, regular};
use crate::identities::Identities;
use semantics::sort::Sort;
use semantics::term::Term;

/// The most borders at which a value is written otherwise.
const BORDERS: usize = 4;

impl Search<'_> {
    /// Equal terms by rules, for a value of the expression that is chosen for.
    pub(super) fn by_rules(&mut self, choices: &Choices, t: Term) -> Vec<Term> {
        if !regular(t) || !self.limits.grammar.rules || !choices.own.contains(&t) {
            return Vec::new();
        }
        let library = &choices.lane_library;
        let mut out: Vec<Term> = Vec::new();
        let mut borders = 0;
        for cut in self.memory.cuts.of(t) {
            let Some(identities) = width_of(&cut).and_then(Identities::of) else {
                continue;
            };
            let piece = self.fragment(t, &cut);
            let Some(known) = identities.find(piece.1) else {
                continue;
            };
            let fragment: &Fragment = &piece.0;
            if !self.equal(&known.name(), known.meaning(fragment), fragment.term) {
                continue;
            }
            for other in identities.terms(known, &cut, library) {
                if other != t && other.sort() == t.sort() && !out.contains(&other) {
                    out.push(other);
                }
            }
            borders += 1;
            if borders == BORDERS {
                break;
            }
        }
        out
    }
}

/// The width of the elements at a border of one or two.
fn width_of(cut: &[Term]) -> Option<u32> {
    let (&first, rest) = cut.split_first()?;
    let alike = rest.len() < 2 && rest.iter().all(|t| t.sort() == first.sort());
    (alike && matches!(first.sort(), Sort::Bv(_))).then(|| lane_width(first))
}
