//! Substitution: giving bound and free variables a value.
//!
//! In: terms. Out: terms, rebuilt through [`crate::build`] so that whatever becomes
//! constant is folded, but for [`replace_parts`]. Each shared subterm is visited once per binder depth.

use crate::build;
use crate::term::{Kind, Term};
use hashbrown::{HashMap, HashSet};

/// Replaces the innermost `values.len()` bound variables of `body` (as seen from outside
/// its binder) by `values`: `values[0]` for de Bruijn index 0 and so on.
///
/// Each value must have the sort of the variable that it replaces; other bound variables
/// move inwards accordingly.
pub fn instantiate(body: Term, values: &[Term]) -> Term {
    Substitution {
        values,
        memo: HashMap::new(),
    }
    .visit(body, 0)
}

struct Substitution<'a> {
    values: &'a [Term],
    memo: HashMap<(Term, u32), Term>,
}

impl Substitution<'_> {
    fn visit(&mut self, t: Term, depth: u32) -> Term {
        if t.binders() <= depth {
            return t;
        }
        if let Some(&done) = self.memo.get(&(t, depth)) {
            return done;
        }
        let out = match t.kind() {
            Kind::Bound { depth: d, sort } => {
                let outer = d - depth;
                match self.values.get(outer as usize) {
                    Some(&value) => shift(value, depth, 0),
                    None => Term::bound(d - self.values.len() as u32, *sort),
                }
            }
            _ => rebuild(t, |child, binders| self.visit(child, depth + binders)),
        };
        self.memo.insert((t, depth), out);
        out
    }
}

/// Raises every bound variable at or above `cutoff` by `by`: what a term needs when it
/// moves under `by` more binders.
pub fn shift(t: Term, by: u32, cutoff: u32) -> Term {
    if by == 0 || t.binders() <= cutoff {
        return t;
    }
    match t.kind() {
        Kind::Bound { depth, sort } => Term::bound(depth + by, *sort),
        _ => rebuild(t, |child, binders| shift(child, by, cutoff + binders)),
    }
}

/// Rebuilds a term from its children; `f` gets each child and the number of binders that
/// the term puts around it. Leaves come back as they are.
pub fn rebuild(t: Term, mut f: impl FnMut(Term, u32) -> Term) -> Term {
    match t.kind() {
        Kind::App { op, args } => {
            let new: Vec<Term> = args.iter().map(|&a| f(a, 0)).collect();
            if new[..] == args[..] {
                t
            } else {
                build::app(*op, &new)
            }
        }
        Kind::Map { count, body } => {
            let new = f(*body, 1);
            if new == *body {
                t
            } else {
                build::map(*count, new)
            }
        }
        Kind::Fold { count, init, body } => {
            let (new_init, new_body) = (f(*init, 0), f(*body, 2));
            if new_init == *init && new_body == *body {
                t
            } else {
                build::fold(*count, new_init, new_body)
            }
        }
        _ => t,
    }
}

/// All parts of terms, each once and behind those that it is made of.
pub fn parts_first(terms: &[Term]) -> Vec<Term> {
    let (mut seen, mut order) = (HashSet::new(), Vec::new());
    let mut open: Vec<(Term, bool)> = terms.iter().rev().map(|&t| (t, false)).collect();
    while let Some((t, children_done)) = open.pop() {
        if children_done {
            order.push(t);
        } else if seen.insert(t) {
            open.push((t, true));
            open.extend(t.children().map(|c| (c, false)));
        }
    }
    order
}

/// A flat term with parts replaced by others of their sorts, the outermost first; nothing is simplified.
pub fn replace_parts(t: Term, by: &dyn Fn(Term) -> Option<Term>) -> Term {
    fn visit(t: Term, by: &dyn Fn(Term) -> Option<Term>, done: &mut HashMap<Term, Term>) -> Term {
        if let Some(&known) = done.get(&t) {
            return known;
        }
        let out = by(t).unwrap_or_else(|| match t.kind() {
            Kind::App { op, args } => {
                let args: Vec<Term> = args.iter().map(|&a| visit(a, by, done)).collect();
                Term::raw_app(*op, &args).expect("what replaces a part has its sort")
            }
            _ => t,
        });
        done.insert(t, out);
        out
    }
    visit(t, by, &mut HashMap::new())
}

/// Replaces free variables by name; those not named stay. Values must be closed terms.
pub fn replace_vars(t: Term, values: &std::collections::HashMap<&str, Term>) -> Term {
    Replacement::of(values).within(t)
}

/// Nodes of a tree that is walked as such: what parts became is not remembered.
const FEW_NODES: u32 = 32;

/// Variables from which on they are looked up in a table.
const MANY_VARIABLES: usize = 8;

/// Replaces free variables, which are the terms themselves, each once; the others stay. Values must be closed
/// terms.
pub fn replace(t: Term, values: &[(Term, Term)]) -> Term {
    type By<'a> = &'a dyn Fn(Term) -> Option<Term>;
    fn visit(t: Term, by: By<'_>, done: &mut HashMap<Term, Term>) -> Term {
        if let Kind::Var { .. } = t.kind() {
            return by(t).unwrap_or(t);
        }
        if t.size() <= FEW_NODES {
            return rebuild(t, |child, _| visit(child, by, done));
        }
        if let Some(&known) = done.get(&t) {
            return known;
        }
        let out = rebuild(t, |child, _| visit(child, by, done));
        done.insert(t, out);
        out
    }
    let found = |t: Term| values.iter().find(|v| v.0 == t).map(|v| v.1);
    if values.len() < MANY_VARIABLES {
        return visit(t, &found, &mut HashMap::new());
    }
    let table: HashMap<Term, Term> = values.iter().copied().collect();
    visit(t, &|t| table.get(&t).copied(), &mut HashMap::new())
}

/// Free variables that are replaced in many terms: parts that these share are replaced once.
pub struct Replacement<'a> {
    values: &'a std::collections::HashMap<&'a str, Term>,
    memo: HashMap<Term, Term>,
}

impl<'a> Replacement<'a> {
    /// What replaces variables, by name; those not named stay. Values must be closed terms.
    pub fn of(values: &'a std::collections::HashMap<&'a str, Term>) -> Replacement<'a> {
        let memo = HashMap::new();
        Replacement { values, memo }
    }

    /// A term with its variables replaced.
    pub fn within(&mut self, t: Term) -> Term {
        if let Some(&done) = self.memo.get(&t) {
            return done;
        }
        let out = match t.kind() {
            Kind::Var { name, .. } => self.values.get(&**name).copied().unwrap_or(t),
            _ => rebuild(t, |child, _| self.within(child)),
        };
        self.memo.insert(t, out);
        out
    }
}

/// The free variables of a term, in structural order.
pub fn free_vars(t: Term) -> Vec<Term> {
    fn visit(t: Term, vars: &mut Vec<Term>) {
        match t.kind() {
            Kind::Var { .. } if !vars.contains(&t) => vars.push(t),
            _ => t.children().for_each(|child| visit(child, vars)),
        }
    }
    if t.size() > FEW_NODES {
        return free_vars_of([t]);
    }
    let mut vars = Vec::new();
    visit(t, &mut vars);
    vars.sort();
    vars
}

/// The free variables of terms, each once, in structural order.
pub fn free_vars_of(terms: impl IntoIterator<Item = Term>) -> Vec<Term> {
    let mut seen = hashbrown::HashSet::new();
    let mut vars = Vec::new();
    let mut stack: Vec<Term> = terms.into_iter().collect();
    while let Some(t) = stack.pop() {
        if seen.insert(t) {
            if matches!(t.kind(), Kind::Var { .. }) {
                vars.push(t);
            }
            stack.extend(t.children());
        }
    }
    vars.sort();
    vars
}
