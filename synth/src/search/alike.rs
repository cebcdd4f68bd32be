//! The halves of a goal: the second is often the first at other places of the inputs.
//!
//! In: a goal. Out: registers of its halves. Where two goals differ in nothing but how far on their
//! inputs are read, the second has the first one's program: nothing has to be searched for, and no part of
//! a window is done worse than another because a limit was reached before.

use super::Search;
use crate::cost::Cost;
use crate::estimate::Estimate;
use crate::fragment::rebuild;
use crate::goal::{Goal, leaf};
use autoir::program::{Node, Value};
use semantics::build;
use semantics::term::Term;
use std::collections::{BTreeMap, HashMap, HashSet};

impl Search<'_> {
    /// The halves of a goal, each by itself. Where the whole is known at a cost, the second half is
    /// only looked at when twice the first takes less of the machine, and both have to cost less.
    pub(super) fn solve_halves(
        &mut self,
        goal: &Goal,
        known: Option<Estimate>,
    ) -> Option<Vec<Value>> {
        let half = goal.elements.len() / 2;
        if half == 0
            || !goal.elements.len().is_multiple_of(2)
            || goal.width() <= self.candidates.widths.narrowest()
        {
            return None;
        }
        let (first, second) = (goal.part(0, half), goal.part(half, half));
        let mut both = self.solve_registers(&first)?;
        let worse = |busy: Cost| known.is_some_and(|known| busy >= known.busy);
        // What is loaded may hold what both need, and what is moved.
        let moved = self.moved_for(&both);
        let values: Vec<Value> = moved.iter().map(|(value, _)| *value).collect();
        let once = self.estimator.loads(&self.graph, &both) + self.cost_of_moves(&values);
        if worse((2 * self.estimate(&both).busy).saturating_sub(once)) {
            return None;
        }
        let other = self.as_before(&first, &both, &second);
        let before = self.moves.given.len();
        self.moves.given.extend(moved);
        let other = other.or_else(|| self.solve_registers(&second));
        self.moves.given.truncate(before);
        both.extend(other?);
        let cost = self.estimate(&both);
        if known.is_some() {
            self.tried("half by half", Some(cost.cost));
        }
        known.is_none_or(|known| cost < known).then_some(both)
    }

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
            let moved = match node {
                Node::Apply { operation, args } => self.applied(operation, args),
                node => self.graph.add(node),
            };
            place.insert(value, moved);
        }
        let mut known = HashMap::new();
        for (&value, &moved) in &place {
            for claimed in self.claims.get(&value).cloned().unwrap_or_default() {
                if let Some(claimed) = further.moved_goal(&claimed, &mut known) {
                    self.claim(moved, &claimed);
                }
            }
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
        let mut pairs = first.elements.iter().zip(&second.elements);
        let same = pairs.all(|pair| match pair {
            (Some(x), Some(y)) => further.follows(*x, *y, &mut seen),
            (x, y) => x.is_none() && y.is_none(),
        });
        same.then_some(further)
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

    /// A goal with its inputs read as much further on; none where one ends before.
    fn moved_goal(&self, goal: &Goal, known: &mut HashMap<Term, Term>) -> Option<Goal> {
        let moved = goal.elements.iter().map(|element| match element {
            Some(t) => self.moved(*t, known).map(Some),
            None => Some(None),
        });
        Some(Goal {
            element: goal.element,
            elements: moved.collect::<Option<_>>()?,
        })
    }

    fn moved(&self, t: Term, known: &mut HashMap<Term, Term>) -> Option<Term> {
        if let Some(&done) = known.get(&t) {
            return Some(done);
        }
        let moved = match leaf(t) {
            Some((name, lo)) => {
                let variable = t.children().next().unwrap_or(t);
                let lo = self.of(name, lo)?;
                let fits = lo + t.width() <= variable.width();
                fits.then(|| build::extract(variable, lo, t.width()))?
            }
            None => {
                let mut all = true;
                let moved = rebuild(t, |child| {
                    self.moved(child, known).unwrap_or_else(|| {
                        all = false;
                        child
                    })
                });
                all.then_some(moved)?
            }
        };
        known.insert(t, moved);
        Some(moved)
    }

    fn of(&self, name: &str, lo: u32) -> Option<u32> {
        let by = self.0.get(name).copied().unwrap_or(0);
        u32::try_from(i64::from(lo) + by).ok()
    }
}
