//! Smaller kernels that show the same.
//!
//! In: a kernel, and a question that it answers with yes. Out: one that does too, and none of
//! whose neighbours does that are smaller by one step.

use super::generate::{Expr, Loop, Store};

/// How often the question is asked.
const QUESTIONS: usize = 200;

/// The smallest kernel found for which `shows` holds.
pub(super) fn shrink(found: &Loop, shows: &mut impl FnMut(&Loop) -> bool) -> Loop {
    let (mut now, mut asked) = (found.clone(), 0);
    loop {
        let next = smaller(&now).into_iter().find(|other| {
            asked += 1;
            asked <= QUESTIONS && shows(other)
        });
        match next {
            Some(next) => now = next,
            None => return now,
        }
    }
}

/// Kernels that are smaller by one step, the largest steps first.
fn smaller(of: &Loop) -> Vec<Loop> {
    let mut out = Vec::new();
    // A part that is stored itself.
    let parts = of.value.all();
    let mut parts: Vec<&Expr> = parts
        .into_iter()
        .skip(1)
        .filter(|e| e.ty != "bool")
        .collect();
    parts.sort_by_key(|e| e.all().len());
    let stored = |value: &Expr| Loop {
        value: value.clone(),
        store: Store::Element,
        ..of.clone()
    };
    out.extend(parts.into_iter().filter(|e| !e.args.is_empty()).map(stored));
    if of.store != Store::Element {
        out.push(stored(&of.value));
    }
    if of.tail.is_some() {
        out.push(Loop {
            tail: None,
            ..of.clone()
        });
    }
    let values = simpler(&of.value);
    out.extend(values.into_iter().map(|value| Loop {
        value,
        ..of.clone()
    }));
    for lanes in [16, 8, 4] {
        if lanes < of.lanes {
            out.push(Loop {
                lanes,
                ..of.clone()
            });
        }
    }
    out
}

/// An expression with one part of it made simpler.
fn simpler(e: &Expr) -> Vec<Expr> {
    let mut out = Vec::new();
    let plain = Expr::plain(e.ty);
    if e.ty != "bool" && *e != plain && (!e.args.is_empty() || e.load.is_some()) {
        out.push(plain);
    }
    let same = e.all().into_iter().skip(1).filter(|part| part.ty == e.ty);
    out.extend(same.cloned());
    for (k, arg) in e.args.iter().enumerate() {
        for other in simpler(arg) {
            let mut new = e.clone();
            new.args[k] = other;
            out.push(new);
        }
    }
    out
}

#[test]
fn what_remains_is_what_shows_it() {
    let shows = |l: &Loop| l.value.all().iter().any(|e| e.form.starts_with("clz"));
    let found = (0..)
        .map(Loop::random)
        .find(|l| shows(l) && l.value.all().len() > 6);
    let found = found.expect("some kernel counts zeros");
    let small = shrink(&found, &mut { shows });
    assert!(small.value.all().len() <= 2, "{}", small.text());
}
