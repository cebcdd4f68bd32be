//! Values that are known functions: other ways to write them, by the rules that come with the program.
//!
//! In: a value, the operations for a number of lanes. Out: equal terms, and the cover of a window by
//! them. What the value is a function of may lie anywhere below it: each border with one or two values
//! is looked at, the nearest first.

use super::Search;
use super::cover::{Choices, Cover, Expression, Style};
use crate::fragment::{Fragment, lane_width, regular};
use crate::goal::Goal;
use crate::identities::Identities;
use crate::library::Library;
use semantics::sort::Sort;
use semantics::term::Term;
use std::rc::Rc;

/// The most borders at which a value is written otherwise.
const BORDERS: usize = 4;

impl Search<'_> {
    /// Equal terms by rules, for a value of the expression that is chosen for.
    pub(super) fn by_rules(&mut self, choices: &Choices, t: Term) -> Rc<Vec<Term>> {
        if !self.limits.grammar.rules || !choices.own.contains(&t) {
            return Rc::default();
        }
        let key = (t, choices.lanes);
        if let Some(done) = self.memory.by_rules.get(&key) {
            return Rc::clone(done);
        }
        let found = Rc::new(self.look_up(&choices.lane_library, t));
        self.memory.by_rules.insert(key, Rc::clone(&found));
        found
    }

    /// Whether rules write any value of an expression otherwise.
    pub(super) fn has_rules(&mut self, choices: &Choices) -> bool {
        // In an order that is the same in every run: what is refuted on the way is reported.
        let mut own: Vec<Term> = choices.own.iter().copied().collect();
        own.sort();
        own.into_iter()
            .any(|t| !self.by_rules(choices, t).is_empty())
    }

    /// The cover of a window where known functions are written otherwise by rules, if any is.
    pub(super) fn cover_ruled(
        &mut self,
        e: &Expression,
        goal: &Goal,
        lanes: u32,
        usual: Option<&Choices>,
    ) -> Option<(Cover, Rc<Choices>)> {
        let none = |search: &mut Self| usual.is_some_and(|usual| !search.has_rules(usual));
        if !self.limits.grammar.rules || none(self) {
            return None;
        }
        let found = self.cover_in_style(e, goal, lanes, (Style::Rules, "by rules"))?;
        self.rewritten.extend(&found.0.values);
        Some(found)
    }

    fn look_up(&mut self, library: &Library, t: Term) -> Vec<Term> {
        let mut out: Vec<Term> = Vec::new();
        let mut borders = 0;
        if !regular(t) {
            return out;
        }
        for cut in self.memory.cuts.of(t) {
            let Some(identities) = width_of(&cut).and_then(Identities::of) else {
                continue;
            };
            let Some(piece) = self.fragment(t, &cut) else {
                continue;
            };
            let Some(known) = identities.find(piece.1) else {
                continue;
            };
            let fragment: &Fragment = &piece.0;
            let others = identities.terms(known, &cut, library);
            if others.is_empty()
                || !self.equal(&known.name(), known.meaning(fragment), fragment.term)
            {
                continue;
            }
            for other in others {
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
