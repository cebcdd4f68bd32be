//! Candidates: choices with finite domains, and the constraints between them.
//!
//! In: choices with their values, constraints as predicates or as sums with a limit. Out:
//! [`Candidate`]s at the fixpoint of propagation, or [`Emptied`]: the constraint that left a
//! choice no value. It has no notion of cost and makes no decisions.
//!
//! Both kinds of propagation are monotone (a smaller candidate becomes a smaller one), so the
//! candidate after some decisions does not depend on their order.

use crate::bound::Term;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

/// The most values that a choice can have: a domain is a word of bits.
pub const MOST_VALUES: usize = 64;

/// A choice, by its number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Var(pub(crate) usize);

/// A choice: its name, and the values that it may have.
#[derive(Clone, Debug)]
struct Choice {
    name: String,
    values: Vec<i64>,
    /// What values are called, when a number says little.
    words: Vec<String>,
}

type Predicate = Arc<dyn Fn(&[i64]) -> bool + Send + Sync>;

#[derive(Clone)]
enum Rule {
    /// A predicate on the values of a scope: a value stays that some others go with.
    Holds(Vec<Var>, Predicate),
    /// The terms add up to at most this: a value stays that the least of the others go with.
    AtMost(u64, Vec<Term>),
}

#[derive(Clone)]
struct Constraint {
    name: String,
    scope: Vec<Var>,
    rule: Rule,
}

/// Choices and constraints.
#[derive(Clone, Default)]
pub struct Space {
    choices: Vec<Choice>,
    constraints: Vec<Constraint>,
    /// The constraints that mention a choice.
    watched: Vec<Vec<usize>>,
}

/// For each choice the values that are left, as bits; always at a fixpoint.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Candidate(pub(crate) Vec<u64>);

/// A space without candidates.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Emptied {
    /// The constraint that took the last value.
    pub constraint: String,
    /// The choice that has none left.
    pub choice: String,
}

impl fmt::Display for Emptied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (choice, constraint) = (&self.choice, &self.constraint);
        write!(f, "no value of `{choice}` is left by: {constraint}")
    }
}

impl Space {
    /// A space with one candidate.
    pub fn new() -> Space {
        Space::default()
    }

    /// A choice; equal values count once.
    ///
    /// # Panics
    /// With more than [`MOST_VALUES`] values: whoever describes a space thins them out.
    pub fn add(&mut self, name: impl Into<String>, values: impl IntoIterator<Item = i64>) -> Var {
        let values: BTreeSet<i64> = values.into_iter().collect();
        assert!(values.len() <= MOST_VALUES, "a domain is a word of bits");
        self.choices.push(Choice {
            name: name.into(),
            values: values.into_iter().collect(),
            words: Vec::new(),
        });
        self.watched.push(Vec::new());
        Var(self.choices.len() - 1)
    }

    /// A choice between words; its values are 0, 1 and so on.
    pub fn add_words(&mut self, name: impl Into<String>, words: &[&str]) -> Var {
        let var = self.add(name, (0..).take(words.len()));
        self.choices[var.0].words = words.iter().map(|w| (*w).to_owned()).collect();
        var
    }

    /// Requires something of the values of a scope.
    pub fn require(
        &mut self,
        name: impl Into<String>,
        scope: impl IntoIterator<Item = Var>,
        holds: impl Fn(&[i64]) -> bool + Send + Sync + 'static,
    ) {
        let scope: Vec<Var> = scope.into_iter().collect();
        let rule = Rule::Holds(scope.clone(), Arc::new(holds));
        self.constrain(name.into(), scope, rule);
    }

    /// Requires terms to add up to at most a limit.
    pub fn at_most(
        &mut self,
        name: impl Into<String>,
        limit: u64,
        terms: impl IntoIterator<Item = Term>,
    ) {
        let terms: Vec<Term> = terms.into_iter().collect();
        let scope: BTreeSet<Var> = terms.iter().flat_map(|t| t.scope.iter().copied()).collect();
        let scope = scope.into_iter().collect();
        self.constrain(name.into(), scope, Rule::AtMost(limit, terms));
    }

    fn constrain(&mut self, name: String, scope: Vec<Var>, rule: Rule) {
        let number = self.constraints.len();
        for var in &scope {
            self.watched[var.0].push(number);
        }
        self.constraints.push(Constraint { name, scope, rule });
    }

    /// All choices, in the order in which they were added.
    pub fn vars(&self) -> impl Iterator<Item = Var> {
        (0..self.choices.len()).map(Var)
    }

    /// A choice's name.
    pub fn name(&self, var: Var) -> &str {
        &self.choices[var.0].name
    }

    /// The choice of this name.
    pub fn find(&self, name: &str) -> Option<Var> {
        self.choices.iter().position(|c| c.name == name).map(Var)
    }

    /// All values that a choice had at the start.
    pub fn values(&self, var: Var) -> &[i64] {
        &self.choices[var.0].values
    }

    /// What a value is called.
    pub fn word(&self, var: Var, value: i64) -> String {
        let word = usize::try_from(value).ok();
        let word = word.and_then(|v| self.choices[var.0].words.get(v));
        word.map_or_else(|| value.to_string(), Clone::clone)
    }

    /// How many combinations of values there are, constraints apart, as a power of ten.
    pub fn combinations(&self) -> f64 {
        let counts = self.choices.iter().map(|c| c.values.len() as f64);
        counts.map(f64::log10).sum()
    }

    /// Nothing is decided.
    ///
    /// # Errors
    /// When no candidate is left.
    pub fn start(&self) -> Result<Candidate, Emptied> {
        for choice in &self.choices {
            if choice.values.is_empty() {
                return Err(Emptied {
                    constraint: "it has no values".to_owned(),
                    choice: choice.name.clone(),
                });
            }
        }
        let full = |c: &Choice| u64::MAX >> (MOST_VALUES - c.values.len());
        let mut candidate = Candidate(self.choices.iter().map(full).collect());
        self.propagate(&mut candidate, (0..self.constraints.len()).collect())?;
        Ok(candidate)
    }

    /// The candidate in which a choice has one of these values.
    ///
    /// # Errors
    /// When no candidate is left.
    pub fn restrict(
        &self,
        candidate: &Candidate,
        var: Var,
        wanted: &[i64],
    ) -> Result<Candidate, Emptied> {
        let values = self.choices[var.0].values.iter().enumerate();
        let mask = values.filter(|(_, v)| wanted.contains(v));
        let mask = mask.fold(0, |m, (k, _)| m | 1_u64 << k);
        let mut next = candidate.clone();
        next.0[var.0] &= mask;
        if next.0[var.0] == 0 {
            let words = |values: &[i64]| {
                let words: Vec<String> = values.iter().map(|&v| self.word(var, v)).collect();
                words.join(" or ")
            };
            let left = self.left(candidate, var);
            return Err(Emptied {
                constraint: format!(
                    "it was to be {}, and what is left is {}",
                    words(wanted),
                    words(&left)
                ),
                choice: self.name(var).to_owned(),
            });
        }
        if next != *candidate {
            let queue = self.watched[var.0].iter().copied().collect();
            self.propagate(&mut next, queue)?;
        }
        Ok(next)
    }

    /// The values that are left for a choice.
    pub fn left(&self, candidate: &Candidate, var: Var) -> Vec<i64> {
        let values = self.choices[var.0].values.iter().enumerate();
        let left = values.filter(|(k, _)| candidate.0[var.0] >> k & 1 == 1);
        left.map(|(_, &v)| v).collect()
    }

    /// The values of all choices when each has one.
    pub fn fixed(&self, candidate: &Candidate) -> Option<Vec<i64>> {
        let one = |(domain, choice): (&u64, &Choice)| {
            let at = domain.trailing_zeros() as usize;
            (domain.count_ones() == 1).then(|| choice.values[at])
        };
        candidate.0.iter().zip(&self.choices).map(one).collect()
    }

    /// Whether all constraints hold of values.
    pub fn allows(&self, values: &[i64]) -> bool {
        let fixed = self.start().and_then(|start| {
            self.vars()
                .zip(values)
                .try_fold(start, |c, (var, &value)| self.restrict(&c, var, &[value]))
        });
        fixed.is_ok()
    }

    /// Every candidate in which all is decided, in order of values.
    pub fn solutions(&self, from: &Candidate) -> Vec<Vec<i64>> {
        let Some(var) = self.vars().find(|v| from.0[v.0].count_ones() > 1) else {
            return self.fixed(from).into_iter().collect();
        };
        let each = self.left(from, var).into_iter();
        let next = each.filter_map(|value| self.restrict(from, var, &[value]).ok());
        next.flat_map(|c| self.solutions(&c)).collect()
    }

    fn propagate(&self, c: &mut Candidate, mut queue: BTreeSet<usize>) -> Result<(), Emptied> {
        while let Some(number) = queue.pop_first() {
            let constraint = &self.constraints[number];
            let supported = match &constraint.rule {
                Rule::Holds(scope, holds) => self.supported(c, scope, holds),
                Rule::AtMost(limit, terms) => self.affordable(c, &constraint.scope, *limit, terms),
            };
            for (var, values) in constraint.scope.iter().zip(supported) {
                let next = c.0[var.0] & values;
                if next == 0 {
                    return Err(Emptied {
                        constraint: constraint.name.clone(),
                        choice: self.name(*var).to_owned(),
                    });
                }
                if next != c.0[var.0] {
                    c.0[var.0] = next;
                    let others = self.watched[var.0].iter().filter(|&&n| n != number);
                    queue.extend(others);
                    if matches!(constraint.rule, Rule::AtMost(..)) {
                        queue.insert(number);
                    }
                }
            }
        }
        Ok(())
    }

    /// The values of a scope that occur where a predicate holds.
    fn supported(&self, c: &Candidate, scope: &[Var], holds: &Predicate) -> Vec<u64> {
        let mut supported = vec![0; scope.len()];
        self.each(c, scope, &mut |values, places| {
            if holds(values) {
                for (own, place) in supported.iter_mut().zip(places) {
                    *own |= 1 << place;
                }
            }
        });
        supported
    }

    /// The values with which the least of a sum is within a limit.
    fn affordable(&self, c: &Candidate, scope: &[Var], limit: u64, terms: &[Term]) -> Vec<u64> {
        let least: Vec<u64> = terms.iter().map(|t| self.least(c, t)).collect();
        let all = least.iter().fold(0_u64, |sum, &n| sum.saturating_add(n));
        let affords = |var: Var, place: u32| {
            let mut one = c.clone();
            one.0[var.0] = 1 << place;
            let more = terms
                .iter()
                .zip(&least)
                .filter(|(t, _)| t.scope.contains(&var));
            let more = more.map(|(t, &was)| self.least(&one, t) - was);
            more.fold(all, u64::saturating_add) <= limit
        };
        let affordable = |var: &Var| {
            let places = (0..64).filter(|k| c.0[var.0] >> k & 1 == 1);
            let values = places.filter(|&k| affords(*var, k));
            values.fold(0, |m, k| m | 1_u64 << k)
        };
        scope.iter().map(affordable).collect()
    }

    /// The least value of a term over what is left of its scope.
    pub(crate) fn least(&self, c: &Candidate, term: &Term) -> u64 {
        let mut least = u64::MAX;
        self.each(c, &term.scope, &mut |values, _| {
            least = least.min((term.amount)(values));
        });
        least
    }

    /// All combinations of what is left for a scope: the values, and their places in domains.
    fn each(&self, c: &Candidate, scope: &[Var], reported: &mut dyn FnMut(&[i64], &[u32])) {
        let (mut values, mut places) = (vec![0; scope.len()], vec![0; scope.len()]);
        self.each_from(c, scope, 0, &mut values, &mut places, reported);
    }

    fn each_from(
        &self,
        c: &Candidate,
        scope: &[Var],
        at: usize,
        values: &mut [i64],
        places: &mut [u32],
        reported: &mut dyn FnMut(&[i64], &[u32]),
    ) {
        let Some(var) = scope.get(at) else {
            return reported(values, places);
        };
        let mut rest = c.0[var.0];
        while rest != 0 {
            let place = rest.trailing_zeros();
            rest &= rest - 1;
            values[at] = self.choices[var.0].values[place as usize];
            places[at] = place;
            self.each_from(c, scope, at + 1, values, places, reported);
        }
    }
}
