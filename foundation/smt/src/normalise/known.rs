//! What is known of terms: which are normal, and what the others become.
//!
//! In: terms, and rewrites with their names. Out: normal forms, and, when somebody watches,
//! every rewrite that was made. A term can become another one by a [`Named`] rewrite only.

use super::rule::{Rule, Step};
use semantics::fault;
use semantics::term::Term;
use std::collections::HashMap;

/// An equal term, and the rule that made it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Named {
    rule: Rule,
    to: Term,
}

impl Rule {
    /// The term that this rule makes.
    pub(super) fn gives(self, to: Term) -> Named {
        let to = fault::made(self.name(), to);
        Named { rule: self, to }
    }
}

/// Normal forms.
#[derive(Default)]
pub(super) struct Known {
    known: HashMap<Term, Term>,
    /// Rewrites in the order in which they were made, when somebody watches.
    steps: Option<Vec<Step>>,
    /// By which rule a term became another one, when somebody watches.
    rules: HashMap<Term, Rule>,
}

impl Known {
    /// The normal form, when it is known.
    pub(super) fn of(&self, t: Term) -> Option<Term> {
        self.known.get(&t).copied()
    }

    /// The term is normal.
    pub(super) fn stays(&mut self, t: Term) -> Term {
        self.known.insert(t, t);
        t
    }

    /// The term is normal, unless it is known to become another one.
    pub(super) fn stays_unless_known(&mut self, t: Term) {
        self.known.entry(t).or_insert(t);
    }

    /// The term becomes another one, by that rule.
    pub(super) fn becomes(&mut self, from: Term, Named { rule, to }: Named) -> Term {
        self.known.insert(from, to);
        if let Some(steps) = self.steps.as_mut().filter(|_| from != to) {
            steps.push(Step { rule, from, to });
            self.rules.insert(from, rule);
        }
        to
    }

    /// The rule by which a term became another one, when rewrites are kept.
    pub(super) fn rule_of(&self, from: Term) -> Option<Rule> {
        self.rules.get(&from).copied()
    }

    /// Rewrites are kept from now on.
    pub(super) fn watch(&mut self) {
        self.steps = Some(Vec::new());
    }

    /// The rewrites that were kept.
    pub(super) fn watched(self) -> Vec<Step> {
        self.steps.unwrap_or_default()
    }
}
