//! Rolled terms to flat ones.
//!
//! In: a closed term with maps and folds. Out: an equal term without binders, every element
//! written out and simplified. The interpreter and the solvers work on flat terms; the
//! rolled form is what similarity sees. A property test equates both.

use crate::build;
use crate::subst::{instantiate, rebuild};
use crate::term::{Kind, Term};
use hashbrown::{HashMap, HashSet};

/// The flat term equal to `t`.
///
/// # Panics
/// When `t` has bound variables without a binder.
pub fn unroll(t: Term) -> Term {
    assert_eq!(t.binders(), 0, "only closed terms can be unrolled");
    if is_flat(t) {
        return t;
    }
    visit(t, &mut HashMap::new())
}

/// Whether there is nothing to unroll; without recursion, for flat terms may be deep.
fn is_flat(t: Term) -> bool {
    let mut seen: HashSet<Term> = HashSet::from([t]);
    let mut stack = vec![t];
    while let Some(t) = stack.pop() {
        if matches!(t.kind(), Kind::Map { .. } | Kind::Fold { .. }) {
            return false;
        }
        stack.extend(t.children().filter(|&c| seen.insert(c)));
    }
    true
}

fn visit(t: Term, memo: &mut HashMap<Term, Term>) -> Term {
    if let Some(&done) = memo.get(&t) {
        return done;
    }
    let out = match t.kind() {
        Kind::Map { count, body } => {
            let parts: Vec<Term> = (0..*count)
                .rev()
                .map(|k| visit(instantiate(*body, &[Term::int(i64::from(k))]), memo))
                .collect();
            build::concat(&parts)
        }
        Kind::Fold { count, init, body } => {
            let init = visit(*init, memo);
            (0..*count).fold(init, |acc, k| {
                visit(instantiate(*body, &[acc, Term::int(i64::from(k))]), memo)
            })
        }
        _ => rebuild(t, |child, _| visit(child, memo)),
    };
    memo.insert(t, out);
    memo.insert(out, out);
    out
}

/// The elements of a closed term, least significant first, each flat.
///
/// # Panics
/// When the width does not divide the term's.
pub fn elements(t: Term, width: u32) -> Vec<Term> {
    assert_eq!(t.width() % width, 0, "elements fill the term");
    let flat = unroll(t);
    (0..t.width() / width)
        .map(|k| build::extract(flat, k * width, width))
        .collect()
}

#[cfg(test)]
mod tests;
