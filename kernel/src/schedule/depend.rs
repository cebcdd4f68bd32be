//! Dependences between iterations.
//!
//! In: a loop of a kernel and what holds around it. Out: whether two different iterations
//! can touch one element of an array, one of them writing it. Proved by [`crate::lia`];
//! where that fails, small sizes are searched for two such iterations, to show them.

use super::Refusal;
use super::copy::fresh;
use crate::data::{Limits, numbers, sizes};
use crate::index::{Index, Symbol};
use crate::lia::Facts;
use crate::tree::{Access, For, Id, Kernel, Stmt, Target};
use semantics::span::Span;
use std::collections::BTreeMap;

/// An access of a loop's body with the loops around it inside the body.
struct Touch {
    access: Access,
    writes: bool,
    loops: Vec<For>,
}

/// Two accesses that may meet in different iterations.
pub(super) struct Conflict {
    /// The array.
    pub(super) array: Id,
    /// The access that writes.
    pub(super) span: Span,
    /// An example, when one was found.
    pub(super) example: Option<String>,
}

/// Whether no two iterations of a loop conflict.
///
/// # Errors
/// The first conflict, as a reason to refuse a change of the loop.
pub(super) fn independent(
    kernel: &Kernel,
    f: &For,
    around: &Facts,
    ignore: &impl Fn(&Access) -> bool,
) -> Result<(), Refusal> {
    let Some(conflict) = conflict(kernel, f, around, ignore) else {
        return Ok(());
    };
    let name = &kernel.arrays[conflict.array].name;
    let message =
        format!("two iterations may touch one element of `{name}`, and one of them writes it");
    let refusal = Refusal::at(conflict.span, message);
    Err(match conflict.example {
        Some(example) => refusal.note(example),
        None => refusal,
    })
}

/// The first conflict between different iterations of a loop. Accumulations into elements
/// for which `ignore` holds are left out.
pub(super) fn conflict(
    kernel: &Kernel,
    f: &For,
    around: &Facts,
    ignore: &impl Fn(&Access) -> bool,
) -> Option<Conflict> {
    let mut touches = Vec::new();
    collect(kernel, &f.body, &mut Vec::new(), &mut touches);
    touches.retain(|t| !(t.writes && ignore(&t.access)));
    for writer in touches.iter().filter(|t| t.writes) {
        for other in touches
            .iter()
            .filter(|t| t.access.array == writer.access.array)
        {
            if !apart(kernel, f, around, writer, other) {
                let array = writer.access.array;
                let example = example(kernel, f, writer, other);
                return Some(Conflict {
                    array,
                    span: writer.access.span,
                    example,
                });
            }
        }
    }
    None
}

fn collect(kernel: &Kernel, body: &[Stmt], loops: &mut Vec<For>, out: &mut Vec<Touch>) {
    for stmt in body {
        let mut read = |access: &Access| {
            out.push(Touch {
                access: access.clone(),
                writes: false,
                loops: loops.clone(),
            });
        };
        match stmt {
            Stmt::For(f) => {
                loops.push(For {
                    body: Vec::new(),
                    ..f.clone()
                });
                collect(kernel, &f.body, loops, out);
                loops.pop();
            }
            Stmt::Let(id) => kernel.for_each_load(&kernel.locals[*id].value, &mut read),
            Stmt::Assign(a) => {
                kernel.for_each_load(&a.value, &mut read);
                if let Target::Array(access) = &a.target {
                    out.push(Touch {
                        access: access.clone(),
                        writes: true,
                        loops: loops.clone(),
                    });
                }
            }
        }
    }
}

/// Whether two accesses are proved never to meet in different iterations.
fn apart(kernel: &Kernel, f: &For, around: &Facts, one: &Touch, two: &Touch) -> bool {
    let mut names = kernel.clone();
    let mut facts = around.clone();
    let first = instance(&mut names, f, one, &mut facts);
    let second = instance(&mut names, f, two, &mut facts);
    for d in 0..one.access.index.len() {
        let (a, b) = (&one.access.index[d], &two.access.index[d]);
        let lanes = |t: &Touch| d == t.access.dim && (t.access.lanes > 1 || t.access.clamped);
        if lanes(one) || lanes(two) {
            continue;
        }
        let (a, b) = (
            super::copy::substitute(a, &first),
            super::copy::substitute(b, &second),
        );
        facts.add_at_most(&a, &b);
        facts.add_at_most(&b, &a);
    }
    let (x, y) = (&first[&f.var], &second[&f.var]);
    let ordered = |a: &Index, b: &Index| {
        let mut facts = facts.clone();
        facts.add_at_most(&a.offset(1), b);
        facts.contradictory()
    };
    ordered(x, y) && ordered(y, x)
}

/// Fresh names for the loop variable and the loops inside, and what holds of them.
fn instance(
    names: &mut Kernel,
    f: &For,
    touch: &Touch,
    facts: &mut Facts,
) -> BTreeMap<Symbol, Index> {
    let mut by = BTreeMap::new();
    for l in std::iter::once(f).chain(&touch.loops) {
        let (lo, hi) = (
            super::copy::substitute(&l.lo, &by),
            super::copy::substitute(&l.hi, &by),
        );
        let var = fresh(names, l.var);
        facts.add_loop(var, &lo, &hi, l.step);
        by.insert(l.var, Index::Sym(var));
    }
    by
}

/// Two iterations that touch one element, from small sizes.
fn example(kernel: &Kernel, f: &For, one: &Touch, two: &Touch) -> Option<String> {
    for seed in 0..20 {
        let limits = Limits {
            size: 40,
            ..Limits::default()
        };
        let Some(sizes) = sizes(kernel, &mut numbers(seed), &limits) else {
            continue;
        };
        let mut places: BTreeMap<Vec<i64>, i64> = BTreeMap::new();
        let mut env = sizes.clone();
        outer_minimum(&kernel.body, f.var, &mut env);
        let mut found = None;
        visit(f, one, &env, &mut |x, place| {
            places.entry(place).or_insert(x);
            false
        });
        visit(f, two, &env, &mut |y, place| match places.get(&place) {
            Some(&x) if x != y => {
                let name = kernel.symbol_name(f.var);
                let array = &kernel.arrays[one.access.array].name;
                found = Some(format!(
                    "{name} = {x} and {name} = {y} both touch {array}{place:?}"
                ));
                true
            }
            _ => false,
        });
        if let Some(found) = found {
            let at: Vec<String> = sizes
                .iter()
                .map(|(&s, v)| format!("{} = {v}", kernel.symbol_name(s)))
                .collect();
            return Some(format!("{found} (at {})", at.join(", ")));
        }
    }
    None
}

/// Gives the loops around a loop their first values.
pub(super) fn outer_minimum(body: &[Stmt], var: Symbol, env: &mut BTreeMap<Symbol, i64>) -> bool {
    body.iter().any(|stmt| match stmt {
        Stmt::For(f) if f.var == var => true,
        Stmt::For(f) => {
            let lo =
                f.lo.eval(&|s| env.get(&s).copied().unwrap_or(0))
                    .unwrap_or(0);
            env.insert(f.var, lo);
            outer_minimum(&f.body, var, env)
        }
        _ => false,
    })
}

/// Calls `f` with the loop variable and the place of each instance of an access, until it
/// says stop; at most a few thousand of them.
fn visit(
    l: &For,
    touch: &Touch,
    env: &BTreeMap<Symbol, i64>,
    f: &mut impl FnMut(i64, Vec<i64>) -> bool,
) {
    let mut work = vec![(env.clone(), 0usize)];
    let mut budget = 5000;
    let loops: Vec<&For> = std::iter::once(l).chain(&touch.loops).collect();
    while let Some((env, depth)) = work.pop() {
        let value = |s: Symbol| env.get(&s).copied().unwrap_or(0);
        let Some(inner) = loops.get(depth) else {
            let place: Option<Vec<i64>> = touch
                .access
                .index
                .iter()
                .map(|i| i.eval(&value).ok())
                .collect();
            let Some(place) = place else { continue };
            if f(value(l.var), place) {
                return;
            }
            continue;
        };
        let (Ok(mut x), Ok(hi)) = (inner.lo.eval(&value), inner.hi.eval(&value)) else {
            continue;
        };
        while x < hi && budget > 0 {
            budget -= 1;
            let mut next = env.clone();
            next.insert(inner.var, x);
            work.push((next, depth + 1));
            x = x.saturating_add(inner.step);
        }
    }
}
