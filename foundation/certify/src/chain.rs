//! Chains of named rewrites, made and vouched for.
//!
//! In: a claim that a solver did not answer for as it stands. Out: whether a chain of rewrites,
//! each small enough to be answered for, leads both sides to one term. The chain is proposed by
//! the code that makes normal forms; it is replayed by `checker`, and a solver vouches for each
//! step as it stands. What both sides of a step share is any value, and inputs are called by
//! their order, so that steps of many lanes are one question.

use crate::ask::{Asker, Claim, Outcome};
use checker::flat::flat;
use checker::replay::{Broken, Step, replay};
use semantics::build;
use semantics::rule;
use semantics::sort::Sort;
use semantics::subst::replace_parts;
use semantics::term::{Kind, Term};
use smt::normalise::Forms;
use std::collections::{HashMap, HashSet};

/// Terms with more nodes than this have no chain.
const MOST_NODES: usize = 20_000;

/// Makes chains, and remembers which steps hold.
#[derive(Default)]
pub struct Chains {
    known: HashMap<(Term, Term), bool>,
}

impl Chains {
    /// How many steps lead both sides of a claim to one term.
    ///
    /// # Errors
    /// Where the chain breaks.
    pub fn ask(&mut self, asker: &mut Asker, claim: &Claim) -> Result<usize, Broken> {
        let sides = [claim.a, claim.b].map(flat);
        let [Ok(a), Ok(b)] = sides else {
            let why = "an index depends on inputs".to_owned();
            return Err(Broken::Rolled(why));
        };
        let steps = steps(a, b).ok_or(Broken::Apart)?;
        replay(claim.a, claim.b, &steps, &mut |step| {
            self.holds(asker, step)
        })
    }

    fn holds(&mut self, asker: &mut Asker, step: &Step) -> bool {
        let (from, to) = shared(step.from, step.to);
        for (from, to) in [renamed(from, to), renamed(step.from, step.to)] {
            let known = self.known.get(&(from, to)).copied();
            let holds = known.unwrap_or_else(|| {
                let claim = Claim {
                    a: from,
                    b: to,
                    element: from.sort().width().unwrap_or(1),
                    live: Vec::new(),
                };
                matches!(asker.ask(&claim), Outcome::Holds { .. })
            });
            self.known.insert((from, to), holds);
            if holds {
                return true;
            }
        }
        false
    }
}

/// The steps that bring two flat terms to normal forms, from the leaves up.
fn steps(a: Term, b: Term) -> Option<Vec<Step>> {
    let mut maker = Maker {
        forms: Forms::of_both(a, b),
        done: HashMap::new(),
        steps: HashMap::new(),
    };
    maker.visit(a)?;
    maker.visit(b)?;
    let mut steps: Vec<Step> = maker.steps.into_values().collect();
    steps.sort_by_key(|step| step.from);
    Some(steps)
}

struct Maker {
    forms: Forms,
    done: HashMap<Term, Term>,
    steps: HashMap<Term, Step>,
}

impl Maker {
    fn visit(&mut self, t: Term) -> Option<Term> {
        if let Some(&done) = self.done.get(&t) {
            return Some(done);
        }
        if self.done.len() > MOST_NODES {
            return None;
        }
        let out = match t.kind() {
            Kind::App { op, args } => {
                let args = args.iter().map(|&a| self.visit(a));
                let args: Vec<Term> = args.collect::<Option<_>>()?;
                let from = Term::raw_app(*op, &args).ok()?;
                let built = rule::applied(*op, &args).map(|r| r.rule().name());
                let (to, normal) = self.forms.of(build::app(*op, &args));
                if to != from {
                    let rule = normal.map_or(built.unwrap_or("Arguments"), |r| r.name());
                    self.steps.insert(from, Step { rule, from, to });
                }
                to
            }
            _ => t,
        };
        self.done.insert(t, out);
        Some(out)
    }
}

/// A term and all that is within it.
pub(crate) fn within(t: Term) -> HashSet<Term> {
    let mut seen = HashSet::new();
    let mut open = vec![t];
    while let Some(t) = open.pop() {
        if seen.insert(t) {
            open.extend(t.children());
        }
    }
    seen
}

/// Both terms with the largest applications that they share as inputs.
fn shared(a: Term, b: Term) -> (Term, Term) {
    let (mut both, of_b) = (within(a), within(b));
    both.retain(|t| {
        let is_value = matches!(t.sort(), Sort::Bv(_) | Sort::Bool);
        of_b.contains(t) && is_value && t.as_app().is_some()
    });
    let name = |t: Term| {
        let shared = both.contains(&t);
        shared.then(|| Term::var(&format!("shared {:x}", t.id()), t.sort()))
    };
    (replace_parts(a, &name), replace_parts(b, &name))
}

/// Both terms with their inputs called by the order in which they appear.
fn renamed(a: Term, b: Term) -> (Term, Term) {
    let mut order: HashMap<Term, Term> = HashMap::new();
    for side in [a, b] {
        let mut seen = HashSet::new();
        let mut open = vec![side];
        while let Some(t) = open.pop() {
            if !seen.insert(t) {
                continue;
            }
            if t.as_var().is_some() {
                let next = Term::var(&format!("x{}", order.len()), t.sort());
                order.entry(t).or_insert(next);
            }
            let mut children: Vec<Term> = t.children().collect();
            children.reverse();
            open.extend(children);
        }
    }
    let name = |t: Term| order.get(&t).copied();
    (replace_parts(a, &name), replace_parts(b, &name))
}
