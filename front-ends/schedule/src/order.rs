//! Changes of the order of statements: loops cut in two and joined, statements that change
//! places, loops that do nothing but repeat.
//!
//! In: loops or neighbouring statements. Out: statements that do the same. What one part
//! writes and the other touches has to be apart in the iterations that change places; that is
//! proved, or the change is refused with two iterations that meet.

use super::Refusal;
use super::access::{flow, names, overwritten};
use super::copy::Copy;
use super::depend::{Meeting, crossing};
use kernel::data::samples;
use kernel::index::{Index, Symbol};
use kernel::lia::Facts;
use kernel::tree::{For, Kernel, Stmt};
use std::collections::BTreeMap;

/// A loop over its first statements, up to the first that is called `after`, and one over the
/// others.
///
/// # Errors
/// A part that is empty, a value that goes from one part to the other, iterations that meet.
pub(super) fn fission(
    kernel: &mut Kernel,
    f: &For,
    after: &str,
    into: Option<&(String, String)>,
    around: &Facts,
) -> Result<Vec<Stmt>, Refusal> {
    let at = match after.parse::<usize>() {
        Ok(n) => Some(n),
        Err(_) => f
            .body
            .iter()
            .position(|s| names(kernel, s).iter().any(|n| n == after))
            .map(|n| n + 1),
    };
    let Some(at) = at else {
        let message = format!("no statement of the loop writes `{after}`");
        return Err(Refusal::at(f.span, message));
    };
    if at == 0 || at >= f.body.len() {
        let message = "there is no statement behind it in this loop".to_owned();
        return Err(Refusal::at(f.span, message));
    }
    let (one, two) = f.body.split_at(at);
    if !repeats(kernel, f, (one, two)) {
        in_any_order(kernel, f, (one, two), around)?;
    }
    let first = For {
        body: one.to_vec(),
        ..f.clone()
    };
    let mut copy = Copy::with(kernel, f.var, Index::Sym(f.var));
    let var = super::copy::fresh(copy.kernel, f.var);
    copy.symbols.insert(f.var, Index::Sym(var));
    let body = copy.block(two);
    let second = For {
        var,
        body,
        ..f.clone()
    };
    if let Some((a, b)) = into {
        kernel.symbols[f.var.0 as usize].name.clone_from(a);
        kernel.symbols[var.0 as usize].name.clone_from(b);
    }
    Ok(vec![Stmt::For(first), Stmt::For(second)])
}

/// Whether the first part does the same in each iteration, and the second part changes nothing
/// that the first one touches: then every iteration of the second finds what it found before.
fn repeats(kernel: &Kernel, f: &For, (one, two): (&[Stmt], &[Stmt])) -> bool {
    let changed = super::access::written_arrays(two);
    super::access::mentions(kernel, one, f.var).is_none()
        && overwritten(kernel, one).is_none()
        && flow(kernel, one, two).is_none()
        && !changed
            .iter()
            .any(|&array| super::access::touches(kernel, one, array))
}

/// Whether all iterations of the first part may come before those of the second.
fn in_any_order(
    kernel: &Kernel,
    f: &For,
    (one, two): (&[Stmt], &[Stmt]),
    around: &Facts,
) -> Result<(), Refusal> {
    let x = kernel.symbol_name(f.var);
    if let Some((name, span)) = flow(kernel, one, two) {
        let message = format!("`{name}` goes from one part of the loop to the other");
        let note = format!("give each iteration its own: `expand_dim {name} by {x}` before this");
        return Err(Refusal::at(span, message).note(note));
    }
    match crossing(kernel, Some(f), around, (one, two), Meeting::Later) {
        None => Ok(()),
        Some(conflict) => {
            let array = &kernel.arrays[conflict.array];
            let message = format!(
                "the two parts may touch one element of `{}` in iterations that change places",
                array.name
            );
            let refusal = Refusal::at(conflict.span, message);
            let refusal = match conflict.example {
                Some(example) => refusal.note(example),
                None => refusal,
            };
            Err(match array.placement.inside {
                Some(_) => refusal.note(format!(
                    "give each iteration its own: `expand_dim {} by {x}` before this",
                    array.name
                )),
                None => refusal,
            })
        }
    }
}

/// Two neighbouring loops as one.
///
/// # Errors
/// Other bounds, a value that goes from one to the other, iterations that meet.
pub(super) fn fuse(
    kernel: &mut Kernel,
    f: &For,
    g: &For,
    around: &Facts,
) -> Result<Vec<Stmt>, Refusal> {
    for (a, b, what) in [(&f.lo, &g.lo, "begin"), (&f.hi, &g.hi, "end")] {
        if !around.proves_equal(a, b) {
            let (x, z) = (kernel.symbol_name(f.var), kernel.symbol_name(g.var));
            let message = format!("`{x}` and `{z}` do not {what} together");
            let differ = |env: &BTreeMap<Symbol, i64>| {
                let value = |i: &Index| i.eval(&|s| env.get(&s).copied().unwrap_or(0)).ok();
                (value(a) != value(b)).then(|| {
                    let text = |v: Option<i64>| v.map_or("?".to_owned(), |v| v.to_string());
                    format!(
                        "one at {} and the other at {}",
                        text(value(a)),
                        text(value(b))
                    )
                })
            };
            return Err(with_sizes(kernel, f, Refusal::at(g.span, message), &differ));
        }
    }
    if f.step != g.step || f.partial || g.partial {
        let message = format!("steps of {} and of {} are not alike", f.step, g.step);
        return Err(Refusal::at(g.span, message));
    }
    let second = Copy::with(kernel, g.var, Index::Sym(f.var)).block(&g.body);
    in_any_order(kernel, f, (&f.body, &second), around)?;
    let body = f.body.iter().cloned().chain(second).collect();
    Ok(vec![Stmt::For(For { body, ..f.clone() })])
}

/// Two neighbouring statements in the other order.
///
/// # Errors
/// A value that goes from one to the other, or an element that both touch.
pub(super) fn reorder(
    kernel: &Kernel,
    one: &Stmt,
    two: &Stmt,
    around: &Facts,
) -> Result<Vec<Stmt>, Refusal> {
    let parts = (std::slice::from_ref(one), std::slice::from_ref(two));
    if let Some((name, span)) = flow(kernel, parts.0, parts.1) {
        let message = format!("`{name}` goes from one statement to the other");
        return Err(Refusal::at(span, message));
    }
    match crossing(kernel, None, around, parts, Meeting::Same) {
        None => Ok(vec![two.clone(), one.clone()]),
        Some(conflict) => {
            let name = &kernel.arrays[conflict.array].name;
            let message = format!("the statements may touch one element of `{name}`");
            let refusal = Refusal::at(conflict.span, message);
            Err(match conflict.example {
                Some(example) => refusal.note(example),
                None => refusal,
            })
        }
    }
}

/// The body of a loop, once.
///
/// # Errors
/// A body in which the iteration matters, a loop that may not run, a body that changes
/// something when it is repeated.
pub(super) fn remove_loop(kernel: &Kernel, f: &For, around: &Facts) -> Result<Vec<Stmt>, Refusal> {
    let x = kernel.symbol_name(f.var);
    if let Some(span) = super::access::mentions(kernel, &f.body, f.var) {
        let message = format!("what the loop does depends on `{x}`");
        let note = format!("{x} = 0 and {x} = 1 do not do the same here");
        return Err(Refusal::at(span, message).note(note));
    }
    if !around.proves_at_most(&f.lo.offset(1), &f.hi) {
        let message = format!("it does not follow that `{x}` runs at least once");
        let empty = |env: &BTreeMap<Symbol, i64>| {
            let value = |i: &Index| i.eval(&|s| env.get(&s).copied().unwrap_or(0)).ok();
            (value(&f.lo)? >= value(&f.hi)?).then(|| "it does not run at all".to_owned())
        };
        let refusal = Refusal::at(f.span, message);
        return Err(with_sizes(kernel, f, refusal, &empty));
    }
    if let Some((name, span)) = overwritten(kernel, &f.body) {
        let message = format!("a second iteration finds `{name}` as the first one left it");
        return Err(Refusal::at(span, message).note(format!(
            "{x} = 0 changes `{name}` and {x} = 1 changes it again"
        )));
    }
    Ok(f.body.clone())
}

/// A refusal with sizes, and the first values of the loops around, for which it holds.
pub(super) fn with_sizes(
    kernel: &Kernel,
    f: &For,
    refusal: Refusal,
    shows: &dyn Fn(&BTreeMap<Symbol, i64>) -> Option<String>,
) -> Refusal {
    for sizes in samples(kernel, 0..60, 40) {
        let mut env = sizes.clone();
        super::depend::outer_minimum(&kernel.body, f.var, &mut env);
        if let Some(text) = shows(&env) {
            return match sizes.is_empty() {
                true => refusal.note(text),
                false => refusal.note(format!("at {}: {text}", kernel.values_text(&sizes))),
            };
        }
    }
    refusal
}
