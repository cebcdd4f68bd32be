//! What the values of a search hold: claims, which the proof of a program checks step by step.
//!
//! In: values with the goals that they solved. Out: goals about the window's inputs, of what matters in them. A claim
//! that is wrong costs the proof by steps, never its soundness.

use super::{NOTHING, Search};
use crate::goal::Goal;
use autoir::program::{Node, Value};
use semantics::bits::Bits;
use semantics::build as b;
use semantics::sort::Sort;
use semantics::subst::{Replacement, free_vars_of, replace};
use semantics::term::Term;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

/// Bits of the least parts of elements that may not matter.
const BYTE: u32 = 8;

fn is_nothing(v: Term) -> bool {
    v.as_var() == Some(NOTHING)
}

impl Search<'_> {
    /// Notes that a value holds a goal.
    pub(super) fn claim(&mut self, value: Value, goal: &Goal) {
        match *self.graph.node(value) {
            Node::Apply { .. } => {}
            Node::Cast { value: seen, .. } => {
                let mut goal = goal.clone();
                let width = self.graph.width(seen);
                if width.is_multiple_of(goal.element) {
                    let lanes = (width / goal.element) as usize;
                    goal.elements.resize(lanes, None);
                    self.claim(seen, &goal);
                }
                return;
            }
            _ => return,
        }
        let goal = self.in_inputs(goal);
        let claims = self.claims.entry(value).or_default();
        if !claims.contains(&goal) {
            claims.push(goal);
        }
    }

    /// What the values of the search hold, by what solved the goals: the proof checks it.
    pub fn claims(&self) -> &BTreeMap<Value, Vec<Goal>> {
        &self.claims
    }

    /// A goal about the elements of named values, as one about the window's inputs, of what matters in it.
    fn in_inputs(&self, goal: &Goal) -> Goal {
        let mut held: HashMap<&str, Term> = HashMap::new();
        let mut nothing = false;
        for variables in goal.live().map(|t| self.matching.facts.variables(t)) {
            for variable in variables.iter() {
                nothing |= is_nothing(*variable);
                let named = variable.as_var().filter(|name| !held.contains_key(name));
                if let Some((name, (value, _))) = named.and_then(|n| self.named.get_key_value(n)) {
                    held.extend(self.held(*value).map(|term| (name.as_str(), term)));
                }
            }
        }
        if held.is_empty() && !nothing {
            return goal.clone();
        }
        let mut replacement = Replacement::of(&held);
        let elements = goal.elements.iter();
        let elements = elements.map(|t| Some(replacement.within((*t)?)));
        self.that_matters(Goal {
            element: goal.element,
            elements: elements.collect(),
        })
    }

    /// A goal without bytes that rest on bits that do not matter.
    fn that_matters(&self, goal: Goal) -> Goal {
        let mentioned = free_vars_of(goal.live())
            .into_iter()
            .filter(|v| is_nothing(*v));
        let mentioned: Vec<(Term, u32)> = mentioned.map(|v| (v, v.width())).collect();
        if mentioned.is_empty() {
            return goal;
        }
        let held = [Bits::zero, Bits::ones].map(|bits| {
            let map = mentioned.iter().map(|(v, w)| (*v, Term::bits(bits(*w))));
            let map: Vec<(Term, Term)> = map.collect();
            goal.with_all(&mut |t| Some(replace(t, &map)))
        });
        let bytes =
            held.map(|goal| goal.and_then(|goal| goal.with_element(BYTE.min(goal.element))));
        let [Some(zeros), Some(ones)] = bytes else {
            return Goal {
                elements: vec![None; goal.elements.len()],
                ..goal
            };
        };
        let same = |(x, y): (&Option<Term>, &Option<Term>)| {
            let (x, y) = ((*x)?, (*y)?);
            (x == y || self.prover.equal_by_normal_form(x, y).is_some()).then_some(x)
        };
        Goal {
            elements: zeros
                .elements
                .iter()
                .zip(&ones.elements)
                .map(same)
                .collect(),
            element: zeros.element,
        }
    }

    /// What a value is known to hold, with bits of [`NOTHING`] where it does not matter.
    fn held(&self, value: Value) -> Option<Term> {
        let nothing = |width| Term::var(NOTHING, Sort::Bv(width));
        match self.graph.node(value) {
            Node::Constant(bits) => Some(Term::bits(bits.clone())),
            Node::Input { name, lo, width } => {
                let input = self.inputs.iter().find(|input| input.name == *name)?;
                let whole = Term::var(name, Sort::Bv(input.width));
                Some(b::extract(whole, *lo, *width))
            }
            Node::Cast { value, width } => {
                let held = self.held(*value)?;
                Some(match width.checked_sub(held.width()) {
                    None | Some(0) => b::extract(held, 0, *width),
                    Some(more) => b::concat(&[nothing(more), held]),
                })
            }
            Node::Apply { .. } => {
                let plainest = |c: &&Goal| (Reverse(c.live().count()), c.measure());
                let claim = self.claims.get(&value)?.iter().min_by_key(plainest)?;
                let live = claim.elements.iter().rev();
                let parts = live.map(|t| t.unwrap_or_else(|| nothing(claim.element)));
                Some(b::concat(&parts.collect::<Vec<_>>()))
            }
            _ => None,
        }
    }
}
