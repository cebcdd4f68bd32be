//! Parts of a goal that are the same function of other places of the inputs.
//!
//! In: two goals and the registers of the first. Out: registers of the second, by the same program with
//! its inputs read so much further on, where that is all in which the goals differ: nothing has to be
//! searched for, and no part of a window is done worse than another because a limit was reached before.

use super::Search;
use crate::goal::{Goal, leaf};
use autoir::program::{Node, Value};
use semantics::term::Term;
use std::collections::{BTreeMap, HashMap, HashSet};

impl Search<'_> {
    /// The registers of a goal that is another one further on.
    pub(super) fn as_before(
        &mut self,
        first: &Goal,
        found: &[Value],
        second: &Goal,
    ) -> Option<Vec<Value>> {
        let further = Further::between(first, second)?;
        let needed = self.graph.needed(found);
        let mut place: BTreeMap<Value, Value> = BTreeMap::new();
        for value in needed {
            let node = match self.graph.node(value) {
                Node::Input { name, lo, width } => {
                    let (name, width) = (name.clone(), *width);
                    let lo = further.of(&name, *lo)?;
                    self.loadable(&name, lo, width)?;
                    Node::Input { name, lo, width }
                }
                node => node.moved(&place, &mut |operation| operation),
            };
            let moved = self.graph.add(node);
            place.insert(value, moved);
        }
        let values: Vec<Value> = found.iter().map(|v| place[v]).collect();
        let part = second.elements.len() / values.len().max(1);
        for (k, &value) in values.iter().enumerate() {
            self.claim(value, &self.padded(&second.part(k * part, part)));
        }
        Some(values)
    }
}

/// How many bits further on each input is read.
struct Further(HashMap<String, i64>);

impl Further {
    fn between(first: &Goal, second: &Goal) -> Option<Further> {
        if first.element != second.element || first.elements.len() != second.elements.len() {
            return None;
        }
        let (mut further, mut seen) = (Further(HashMap::new()), HashSet::new());
        let pairs = first.elements.iter().zip(&second.elements);
        let same = |(x, y): (&Option<Term>, &Option<Term>)| match (x, y) {
            (Some(x), Some(y)) => further.follows(*x, *y, &mut seen),
            (x, y) => x.is_none() && y.is_none(),
        };
        pairs
            .into_iter()
            .map(same)
            .all(|same| same)
            .then_some(further)
    }

    /// Whether a term is another one of inputs further on, as those are that were compared before.
    fn follows(&mut self, x: Term, y: Term, seen: &mut HashSet<(Term, Term)>) -> bool {
        if seen.contains(&(x, y)) {
            return true;
        }
        let same = match (leaf(x), leaf(y)) {
            (Some((name, lo)), Some((other, further))) => {
                let by = i64::from(further) - i64::from(lo);
                name == other
                    && x.width() == y.width()
                    && *self.0.entry(name.to_owned()).or_insert(by) == by
            }
            (None, None) => match (x.as_app(), y.as_app()) {
                (Some((op, args)), Some((other, others))) => {
                    let pairs = || args.iter().zip(others);
                    op == other
                        && args.len() == others.len()
                        && pairs().all(|(x, y)| self.follows(*x, *y, seen))
                }
                _ => x == y,
            },
            _ => false,
        };
        if same {
            seen.insert((x, y));
        }
        same
    }

    fn of(&self, name: &str, lo: u32) -> Option<u32> {
        let by = self.0.get(name).copied().unwrap_or(0);
        u32::try_from(i64::from(lo) + by).ok()
    }
}
