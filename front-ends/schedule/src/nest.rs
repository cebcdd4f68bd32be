//! Changes of loops that keep statements scalar or vector as they are: unrolling, and
//! unrolling with the inner loops joined.
//!
//! In: a loop and a number of copies. Out: statements that run the same iterations.

use super::Refusal;
use super::copy::{Copy, fresh, own_arrays, own_registers};
use super::depend;
use kernel::index::Index;
use kernel::lia::Facts;
use kernel::tree::{For, Kernel, Stmt};
use kernel::visit::for_each_stmt;

/// The most copies of a body that unrolling makes.
const MAX_COPIES: i64 = 64;

/// How often a loop runs, where that is a number.
pub(super) fn iterations(f: &For) -> Option<i64> {
    let length = f.hi.minus(&f.lo).constant_value()?;
    Some((length.max(0) + f.step - 1) / f.step)
}

/// All iterations, or `count` of them at a time, one after another.
///
/// # Errors
/// A loop without a constant number of iterations, or with too many, when no count is given.
pub(super) fn unroll(
    kernel: &mut Kernel,
    f: &For,
    count: Option<i64>,
    around: &Facts,
) -> Result<Vec<Stmt>, Refusal> {
    let Some(count) = count else {
        let lo = f.lo.clone();
        let Some(length) = iterations(f).filter(|&n| n <= MAX_COPIES) else {
            return Err(
                Refusal::at(f.span, "this loop has no constant number of iterations").note(
                    format!("without `by` all iterations are written out, at most {MAX_COPIES}"),
                ),
            );
        };
        let copies = (0..length).flat_map(|n| {
            let at = lo.offset(n * f.step);
            Copy::with(kernel, f.var, at).block(&f.body)
        });
        let copies = copies.collect();
        return Ok(super::fold::sums(kernel, copies));
    };
    Ok(repeated(kernel, f, count, around, |kernel, starts| {
        let copies = starts
            .iter()
            .flat_map(|at| Copy::with(kernel, f.var, at.clone()).block(&f.body))
            .collect();
        super::fold::sums(kernel, copies)
    }))
}

/// `count` iterations at a time, in a loop of their own inside a loop over such blocks; what
/// does not fill a block stays as it was. It never changes the order of iterations.
pub(super) fn split(
    kernel: &mut Kernel,
    f: &For,
    count: i64,
    outer: &str,
    around: &Facts,
) -> Vec<Stmt> {
    let mut out = repeated(kernel, f, count, around, |kernel, starts| {
        let var = fresh(kernel, f.var);
        let body = Copy::with(kernel, f.var, Index::Sym(var)).block(&f.body);
        vec![Stmt::For(For {
            var,
            lo: starts[0].clone(),
            hi: starts[0].offset(count * f.step),
            body,
            ..f.clone()
        })]
    });
    if let Some(Stmt::For(blocks)) = out.first_mut() {
        kernel.symbols[blocks.var.0 as usize].name = outer.to_owned();
    }
    out
}

/// `count` iterations at a time with their statements side by side: inner loops of the
/// copies become one. Registers of the body, and arrays that are made in it, get copies.
///
/// # Errors
/// Iterations that depend on each other.
pub(super) fn jam(
    kernel: &mut Kernel,
    f: &For,
    count: i64,
    around: &Facts,
) -> Result<Vec<Stmt>, Refusal> {
    let arrays = own_arrays(kernel, f);
    depend::independent(kernel, f, around, &|a| arrays.contains(&a.array))?;
    let own = own_registers(kernel, &f.body);
    if let Some(span) = shared_register(&f.body, &own) {
        return Err(Refusal::at(span, "every iteration changes this one value"));
    }
    Ok(repeated(kernel, f, count, around, |kernel, starts| {
        let copies: Vec<Vec<Stmt>> = starts
            .iter()
            .enumerate()
            .map(|(n, at)| {
                let mut copy = Copy::with(kernel, f.var, at.clone());
                copy.rename_registers(&own);
                if n > 0 {
                    copy.rename_arrays(&arrays);
                }
                copy.block(&f.body)
            })
            .collect();
        join(kernel, copies)
    }))
}

/// The first register written in the body that is not its own.
fn shared_register(
    body: &[Stmt],
    own: &std::collections::BTreeSet<usize>,
) -> Option<semantics::span::Span> {
    body.iter().find_map(|stmt| match stmt {
        Stmt::For(f) => shared_register(&f.body, own),
        Stmt::Let(_) => None,
        Stmt::Assign(a) => match a.target {
            kernel::tree::Target::Register(id) if !own.contains(&id) => Some(a.span),
            _ => None,
        },
    })
}

/// A loop over `count` iterations at a time, and one over what is left.
fn repeated(
    kernel: &mut Kernel,
    f: &For,
    count: i64,
    around: &Facts,
    body: impl FnOnce(&mut Kernel, &[Index]) -> Vec<Stmt>,
) -> Vec<Stmt> {
    let var = fresh(kernel, f.var);
    let starts: Vec<Index> = (0..count)
        .map(|n| Index::Sym(var).offset(n * f.step))
        .collect();
    let step = f.step * count;
    let length = f.hi.minus(&f.lo);
    let rest = Index::Mod(Box::new(length.clone()), Box::new(Index::Const(step)));
    let full = around.proves_at_most(&rest, &Index::Const(0));
    let hi = if full {
        f.hi.clone()
    } else {
        f.hi.offset(-(count - 1) * f.step)
    };
    let main = For {
        step,
        ..For::new(var, (f.lo.clone(), hi), body(kernel, &starts), f.span)
    };
    let mut out = vec![Stmt::For(main)];
    if !full {
        // Iterations in the main loop: (ceil(length / f.step)) div count * count.
        let positive = Index::larger(length, Index::Const(0));
        let all = Index::Div(
            Box::new(positive.offset(f.step - 1)),
            Box::new(Index::Const(f.step)),
        );
        let groups = Index::Div(Box::new(all.simplified()), Box::new(Index::Const(count)));
        let lo = f.lo.plus(&groups.times(step));
        let var = fresh(kernel, f.var);
        let body = Copy::with(kernel, f.var, Index::Sym(var)).block(&f.body);
        out.push(Stmt::For(For {
            step: f.step,
            ..For::new(var, (lo, f.hi.clone()), body, f.span)
        }));
    }
    out
}

/// The copies statement by statement; loops of the copies that run alike become one.
fn join(kernel: &mut Kernel, copies: Vec<Vec<Stmt>>) -> Vec<Stmt> {
    let mut rows: Vec<std::vec::IntoIter<Stmt>> = copies.into_iter().map(Vec::into_iter).collect();
    let mut out = Vec::new();
    loop {
        let row: Vec<Stmt> = rows.iter_mut().filter_map(Iterator::next).collect();
        if row.is_empty() {
            return out;
        }
        out.extend(join_row(kernel, row));
    }
}

fn join_row(kernel: &mut Kernel, row: Vec<Stmt>) -> Vec<Stmt> {
    let loops: Vec<&For> = row
        .iter()
        .filter_map(|s| match s {
            Stmt::For(f) => Some(f),
            _ => None,
        })
        .collect();
    let alike = loops
        .windows(2)
        .all(|w| w[0].lo == w[1].lo && w[0].hi == w[1].hi && w[0].step == w[1].step);
    let Some(&first) = loops.first().filter(|_| alike && loops.len() == row.len()) else {
        return row;
    };
    let (first, loops) = (
        first.clone(),
        loops.into_iter().cloned().collect::<Vec<For>>(),
    );
    let bodies = loops
        .into_iter()
        .map(|f| match f.var == first.var {
            true => f.body,
            false => Copy::with(kernel, f.var, Index::Sym(first.var)).block(&f.body),
        })
        .collect();
    vec![Stmt::For(For {
        body: join(kernel, bodies),
        ..first
    })]
}

/// The inner of two loops, one directly inside the other, outside.
///
/// # Errors
/// Bounds of the inner loop that depend on the outer, or iterations that depend on each
/// other in both loops.
pub(super) fn interchange(
    kernel: &mut Kernel,
    outer: &For,
    inner: &For,
    around: &Facts,
) -> Result<Vec<Stmt>, Refusal> {
    if inner.lo.mentions(outer.var) || inner.hi.mentions(outer.var) {
        return Err(Refusal::at(
            inner.span,
            "the bounds of the inner loop depend on the outer one",
        ));
    }
    let swapped = For {
        body: vec![Stmt::For(For {
            body: inner.body.clone(),
            ..outer.clone()
        })],
        ..inner.clone()
    };
    // Sums of integers may be added up in any order, those of floats where the kernel says so.
    let sums = |access: &kernel::tree::Access| only_added(kernel, &inner.body, access.array);
    let free = |f: &For| depend::conflict(kernel, f, around, &sums).is_none();
    let own = own_registers(kernel, &inner.body);
    let register = shared_register(&inner.body, &own);
    if register.is_some() || !free(outer) && !free(&swapped) {
        let conflict = depend::conflict(kernel, outer, around, &sums);
        let span = conflict.as_ref().map_or(outer.span, |c| c.span);
        let refusal = Refusal::at(
            register.unwrap_or(span),
            "the order of iterations matters in both loops",
        );
        let float = |c: &depend::Conflict| kernel.arrays[c.array].elem.format().is_some();
        let refusal = match &conflict {
            Some(c) if float(c) => {
                refusal.note("sums of floats keep their order unless they are marked `reassociate`")
            }
            _ => refusal,
        };
        return Err(match conflict.and_then(|c| c.example) {
            Some(example) => refusal.note(example),
            None => refusal,
        });
    }
    Ok(vec![Stmt::For(swapped)])
}

/// Whether statements like this one may run in any order.
pub(super) fn any_order(a: &kernel::tree::Assign) -> bool {
    a.accumulate && (a.value.ty.elem.is_int() || a.reassociate)
}

/// Whether an array is only ever added to by these statements, and never read.
fn only_added(kernel: &Kernel, body: &[Stmt], array: usize) -> bool {
    let mut only = true;
    for_each_stmt(body, &mut |stmt, _| {
        kernel.for_each_access(stmt, &mut |access, writes| {
            let added = writes && matches!(stmt, Stmt::Assign(a) if any_order(a));
            only &= access.array != array || added;
        });
    });
    only
}
