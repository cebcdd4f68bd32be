//! Changes of what a loop runs over: nests cut into tiles, ranges cut in two, conditions that
//! are decided by a range, addresses that move on.
//!
//! In: a loop or a nest. Out: loops over the same iterations. Where a condition on indices
//! follows from the range it is replaced by its value, and a clamp that has no effect goes.

use super::Refusal;
use super::copy::{Copy, fresh_named};
use super::nest;
use super::order::with_sizes;
use kernel::index::{Index, Symbol};
use kernel::lia::Facts;
use kernel::tree::{Access, Assign, Expr, ExprKind, For, Id, Kernel, Op, Stmt, Target};
use kernel::types::{Elem, Type};
use kernel::visit::for_each_stmt;
use std::collections::BTreeMap;

/// Blocks of a nest of loops: loops over blocks outside, loops in blocks inside.
///
/// # Errors
/// Loops that are not one directly inside the other, counts that leave a remainder, an order
/// that matters.
pub(super) fn tile(
    kernel: &mut Kernel,
    f: &For,
    names: &[String],
    counts: &[i64],
    outer: &[String],
    around: &Facts,
) -> Result<Vec<Stmt>, Refusal> {
    let mut nest = Vec::new();
    let mut at = f;
    for (n, name) in names.iter().enumerate() {
        if n > 0 {
            let [Stmt::For(inner)] = &at.body[..] else {
                return Err(not_nested(kernel, at, name));
            };
            at = inner;
        }
        if kernel.symbol_name(at.var) != *name {
            return Err(not_nested(kernel, at, name));
        }
        nest.push(at.clone());
    }
    let mut facts = around.clone();
    for (f, &count) in nest.iter().zip(counts) {
        divides(kernel, f, count, &facts)?;
        facts.add_loop(f.var, &f.lo, &f.hi, f.step);
    }
    let mut body = at.body.clone();
    for ((f, &count), name) in nest.iter().zip(counts).zip(outer).rev() {
        let block = fresh_named(kernel, f.var, name);
        let start = Index::Sym(block);
        let inner = For {
            lo: start.clone(),
            hi: start.offset(count * f.step),
            body,
            ..f.clone()
        };
        body = vec![Stmt::For(For {
            var: block,
            lo: f.lo.clone(),
            hi: f.hi.clone(),
            step: count * f.step,
            body: vec![Stmt::For(inner)],
            ..f.clone()
        })];
    }
    let Some(Stmt::For(whole)) = body.pop() else {
        return Err(not_nested(kernel, f, &names[0]));
    };
    let sunk = sink(kernel, whole, names.len(), around)?;
    Ok(vec![Stmt::For(sunk)])
}

fn not_nested(kernel: &Kernel, f: &For, name: &str) -> Refusal {
    let x = kernel.symbol_name(f.var);
    let message = format!("`{name}` is not the one statement of `{x}`");
    Refusal::at(f.span, message).note(format!(
        "put the other statements into a loop of their own first: `fission {x} after ..`"
    ))
}

/// A loop's length is a multiple.
fn divides(kernel: &Kernel, f: &For, count: i64, around: &Facts) -> Result<(), Refusal> {
    let length = f.hi.minus(&f.lo);
    let block = count * f.step;
    let rest = Index::Mod(Box::new(length.clone()), Box::new(Index::Const(block)));
    if around.proves_at_most(&rest, &Index::Const(0)) {
        return Ok(());
    }
    let (x, text) = (kernel.symbol_name(f.var), kernel.index_text(&length));
    let message = format!("it does not follow that {block} divides `{text}`, the length of `{x}`");
    let left = |env: &BTreeMap<Symbol, i64>| {
        let n = rest.eval(&|s| env.get(&s).copied().unwrap_or(0)).ok()?;
        (n != 0).then(|| format!("{n} iterations of `{x}` are left over"))
    };
    let refusal = with_sizes(kernel, f, Refusal::at(f.span, message), &left);
    Err(refusal.note(format!(
        "require it (`requires {text} % {block} == 0`, rows padded where they are not), or cut off the rest by `split {x} by {count} into ..`"
    )))
}

/// Brings the block loops of a nest of `count` pairs outside, one exchange after the other.
fn sink(kernel: &mut Kernel, f: For, count: usize, around: &Facts) -> Result<For, Refusal> {
    if count < 2 {
        return Ok(f);
    }
    let mut facts = around.clone();
    facts.add_loop(f.var, &f.lo, &f.hi, f.step);
    let promised = "a nest of loops was built";
    let [Stmt::For(inner)] = &f.body[..] else {
        unreachable!("{promised}");
    };
    let mut below = facts.clone();
    below.add_loop(inner.var, &inner.lo, &inner.hi, inner.step);
    let [Stmt::For(rest)] = &inner.body[..] else {
        unreachable!("{promised}");
    };
    let rest = sink(kernel, rest.clone(), count - 1, &below)?;
    let inner = For {
        body: vec![Stmt::For(rest)],
        ..inner.clone()
    };
    let body = lower(kernel, inner, count - 1, &facts)?;
    Ok(For {
        body: vec![Stmt::For(body)],
        ..f
    })
}

/// Moves a loop inside the next `count` loops.
fn lower(kernel: &mut Kernel, f: For, count: usize, around: &Facts) -> Result<For, Refusal> {
    if count == 0 {
        return Ok(f);
    }
    let [Stmt::For(inner)] = &f.body[..] else {
        return Ok(f);
    };
    let swapped = nest::interchange(kernel, &f, inner, around)?;
    let Some(Stmt::For(out)) = swapped.into_iter().next() else {
        return Ok(f);
    };
    let mut facts = around.clone();
    facts.add_loop(out.var, &out.lo, &out.hi, out.step);
    let [Stmt::For(moved)] = &out.body[..] else {
        return Ok(out);
    };
    let moved = lower(kernel, moved.clone(), count - 1, &facts)?;
    Ok(For {
        body: vec![Stmt::For(moved)],
        ..out
    })
}

/// A loop up to a point, and one from there on.
///
/// # Errors
/// A point that is not understood, or for which it does not follow that it lies in the range
/// and on a step of the loop.
pub(super) fn partition(
    kernel: &mut Kernel,
    f: &For,
    at: &[String],
    into: Option<&(String, String)>,
    stack: &[Symbol],
    around: &Facts,
) -> Result<Vec<Stmt>, Refusal> {
    let point = point(kernel, at, stack).map_err(|m| Refusal::at(f.span, m))?;
    let x = kernel.symbol_name(f.var);
    let text = at.join(" ");
    let apart = point.minus(&f.lo);
    let rest = Index::Mod(Box::new(apart), Box::new(Index::Const(f.step)));
    let checks = [
        (
            f.lo.clone(),
            point.clone(),
            format!("`{text}` is at least the first value of `{x}`"),
        ),
        (
            point.clone(),
            f.hi.clone(),
            format!("`{text}` is at most the end of `{x}`"),
        ),
        (
            rest,
            Index::Const(0),
            format!("`{text}` is one of the values of `{x}`"),
        ),
    ];
    for (low, high, what) in checks {
        if around.proves_at_most(&low, &high) {
            continue;
        }
        let message = format!("it does not follow that {what}");
        let broken = |env: &BTreeMap<Symbol, i64>| {
            let value = |i: &Index| i.eval(&|s| env.get(&s).copied().unwrap_or(0)).ok();
            (value(&low)? > value(&high)?).then(|| {
                let range = (value(&f.lo), value(&f.hi));
                let show = |v: Option<i64>| v.map_or("?".to_owned(), |v| v.to_string());
                format!(
                    "`{text}` is {} and `{x}` runs over {}..{}",
                    show(value(&point)),
                    show(range.0),
                    show(range.1)
                )
            })
        };
        return Err(with_sizes(kernel, f, Refusal::at(f.span, message), &broken));
    }
    let (first, second) = into.map_or((&x, &x), |(a, b)| (a, b));
    let parts = [
        (first, f.lo.clone(), point.clone()),
        (second, point, f.hi.clone()),
    ];
    let mut out = Vec::new();
    for (name, lo, hi) in parts {
        let var = fresh_named(kernel, f.var, name);
        let mut body = Copy::with(kernel, f.var, Index::Sym(var)).block(&f.body);
        let mut facts = around.clone();
        facts.add_loop(var, &lo, &hi, f.step);
        decide(kernel, &mut body, &facts);
        out.push(Stmt::For(For {
            var,
            lo,
            hi,
            body,
            ..f.clone()
        }));
    }
    Ok(out)
}

/// A sum of numbers, sizes and loop variables around, from words.
fn point(kernel: &Kernel, words: &[String], stack: &[Symbol]) -> Result<Index, String> {
    let value = |word: &String| {
        if let Ok(n) = word.parse::<i64>() {
            return Ok(Index::Const(n));
        }
        let named = |s: &&Symbol| kernel.symbol_name(**s) == *word;
        let sizes: Vec<Symbol> = kernel.sizes().collect();
        let found = stack
            .iter()
            .rev()
            .find(named)
            .or_else(|| sizes.iter().find(named));
        found
            .map(|s| Index::Sym(*s))
            .ok_or_else(|| format!("`{word}` is no number, no size and no loop around this one"))
    };
    let mut sum = Index::Const(0);
    let mut sign = 1;
    let mut words = words.iter();
    loop {
        let mut term = value(words.next().ok_or("a number or a name is missing")?)?;
        loop {
            let Some(word) = words.next() else {
                return Ok(sum.plus(&term.times(sign)));
            };
            match word.as_str() {
                "*" => {
                    let by = value(words.next().ok_or("a factor is missing")?)?;
                    term = Index::Mul(Box::new(term), Box::new(by)).simplified();
                }
                "/" => {
                    let by = value(words.next().ok_or("a divisor is missing")?)?;
                    term = Index::Div(Box::new(term), Box::new(by)).simplified();
                }
                "+" | "-" => {
                    sum = sum.plus(&term.times(sign));
                    sign = if word == "+" { 1 } else { -1 };
                    break;
                }
                other => return Err(format!("expected `+`, `-`, `*` or `/`, found `{other}`")),
            }
        }
    }
}

/// Replaces conditions that follow, and clamps that have no effect.
pub(super) fn decide(kernel: &mut Kernel, body: &mut [Stmt], facts: &Facts) {
    for stmt in body {
        match stmt {
            Stmt::For(f) => {
                let mut inside = facts.clone();
                inside.add_loop(f.var, &f.lo, &f.hi, f.step);
                decide(kernel, &mut f.body, &inside);
            }
            Stmt::Let(id) => {
                let mut value = kernel.locals[*id].value.clone();
                decide_value(kernel, &mut value, facts, &mut { MAX_DECIDED });
                kernel.locals[*id].value = value;
            }
            Stmt::Assign(a) => decide_value(kernel, &mut a.value, facts, &mut { MAX_DECIDED }),
        }
    }
}

/// The most names that are replaced by their values in one statement while conditions are
/// decided: a few names may stand for very much.
const MAX_DECIDED: usize = 1000;

fn decide_value(kernel: &Kernel, e: &mut Expr, facts: &Facts, left: &mut usize) {
    e.for_each_mut(&mut |e| match &mut e.kind {
        ExprKind::Apply(op, args) => {
            if let Some(truth) = holds(*op, args, facts) {
                e.kind = ExprKind::Const(vec![i128::from(truth); e.ty.lanes as usize]);
            } else if let Some(k) = chosen(*op, args).filter(|&k| args[k].ty == e.ty) {
                *e = args.swap_remove(k);
            }
        }
        ExprKind::Load(access) => {
            for index in &mut access.index {
                *index = facts.without_clamps(index);
            }
        }
        ExprKind::Local(id) if !kernel.locals[*id].stated && *left > 0 => {
            *left -= 1;
            let mut value = kernel.locals[*id].value.clone();
            decide_value(kernel, &mut value, facts, left);
            *e = value;
        }
        _ => {}
    });
}

/// Which operand a choice, a conjunction or a disjunction is, where a condition of it is decided.
fn chosen(op: Op, args: &[Expr]) -> Option<usize> {
    let truth = |e: &Expr| match &e.kind {
        ExprKind::Const(lanes) => {
            let (first, rest) = lanes.split_first()?;
            rest.iter().all(|t| t == first).then_some(*first != 0)
        }
        _ => None,
    };
    let logical = args.iter().all(|a| a.ty.elem == Elem::Bool);
    match (op, args) {
        (Op::Select, [condition, _, _]) => truth(condition).map(|t| if t { 1 } else { 2 }),
        // What is decided is the result, or has no say in it.
        (Op::And | Op::Or, [a, b]) if logical => match (truth(a), truth(b)) {
            (Some(t), _) => Some(usize::from(t == (op == Op::And))),
            (_, Some(t)) => Some(usize::from(t != (op == Op::And))),
            _ => None,
        },
        _ => None,
    }
}

/// The value of a comparison of indices, where it follows and no index wraps.
fn holds(op: Op, args: &[Expr], facts: &Facts) -> Option<bool> {
    let [a, b] = args else { return None };
    let number = |e: &Expr| match &e.kind {
        ExprKind::Index(i) if e.ty.elem.is_int() => Some(i.clone()),
        ExprKind::Const(values) if e.ty.elem.is_int() && e.ty.lanes == 1 => {
            i64::try_from(values[0]).ok().map(Index::Const)
        }
        _ => None,
    };
    let (x, y) = (number(a)?, number(b)?);
    let fits = |i: &Index, elem: Elem| {
        let (least, most) = (i64::try_from(elem.min()), i64::try_from(elem.max()));
        least.is_ok_and(|l| facts.proves_at_most(&Index::Const(l), i))
            && most.is_ok_and(|m| facts.proves_at_most(i, &Index::Const(m)))
    };
    if !fits(&x, a.ty.elem) || !fits(&y, b.ty.elem) {
        return None;
    }
    let less = |x: &Index, y: &Index| facts.proves_at_most(&x.offset(1), y);
    let at_most = |x: &Index, y: &Index| facts.proves_at_most(x, y);
    match op {
        Op::Lt if less(&x, &y) => Some(true),
        Op::Lt if at_most(&y, &x) => Some(false),
        Op::Le if at_most(&x, &y) => Some(true),
        Op::Le if less(&y, &x) => Some(false),
        Op::Eq | Op::Ne if facts.proves_equal(&x, &y) => Some(op == Op::Eq),
        Op::Eq | Op::Ne if less(&x, &y) || less(&y, &x) => Some(op == Op::Ne),
        _ => None,
    }
}

/// Chosen values by bits instead of branches: `select(c, a, b)` is `b ^ ((a ^ b) & -c)`.
///
/// # Errors
/// No choice in the loop, or one between floats.
pub(super) fn branch_free(kernel: &mut Kernel, f: &For) -> Result<Vec<Stmt>, Refusal> {
    let mut body = f.body.clone();
    let (mut count, mut float) = (0, None);
    kernel.for_each_expr_mut(&mut body, &mut |e| {
        let ExprKind::Apply(Op::Select, args) = &e.kind else {
            return;
        };
        if !e.ty.elem.is_int() {
            float = Some(e.span);
            return;
        }
        count += 1;
        *e = by_bits(e, args);
    });
    if let Some(span) = float {
        let message = "a choice between floats has no bits to work on in this language";
        return Err(
            Refusal::at(span, message).note("`partition` the loop where the choice changes")
        );
    }
    if count == 0 {
        return Err(Refusal::at(
            f.span,
            "nothing is chosen by a condition in this loop",
        ));
    }
    Ok(vec![Stmt::For(For { body, ..f.clone() })])
}

fn by_bits(e: &Expr, args: &[Expr]) -> Expr {
    let make = |ty: Type, kind| Expr {
        kind,
        ty,
        span: e.span,
    };
    let apply = |op: Op, ty: Type, args: Vec<Expr>| make(ty, ExprKind::Apply(op, args));
    let truth = apply(
        Op::Cast,
        Type {
            elem: e.ty.elem,
            lanes: args[0].ty.lanes,
        },
        vec![args[0].clone()],
    );
    let mask = apply(Op::Neg, truth.ty, vec![truth]);
    let zero = |e: &Expr| matches!(&e.kind, ExprKind::Const(v) if v.iter().all(|v| *v == 0));
    if zero(&args[2]) {
        return apply(Op::And, e.ty, vec![args[1].clone(), mask]);
    }
    let differ = apply(Op::Xor, e.ty, vec![args[1].clone(), args[2].clone()]);
    let chosen = apply(Op::And, e.ty, vec![differ, mask]);
    apply(Op::Xor, e.ty, vec![args[2].clone(), chosen])
}

/// Addresses that depend on the loop move on by a constant in each iteration.
///
/// # Errors
/// An access whose steps differ.
pub(super) fn increment(kernel: &mut Kernel, f: &For) -> Result<Vec<Stmt>, Refusal> {
    let mut uneven: Option<(Access, usize)> = None;
    let mut look = |access: &Access| {
        let bad = access
            .index
            .iter()
            .position(|i| i.mentions(f.var) && i.linear().is_none());
        if let (Some(d), None) = (bad, &uneven) {
            uneven = Some((access.clone(), d));
        }
    };
    accesses(kernel, &f.body, &mut look);
    let Some((access, d)) = uneven else {
        kernel.symbols[f.var.0 as usize].incremental = true;
        return Ok(vec![Stmt::For(f.clone())]);
    };
    let x = kernel.symbol_name(f.var);
    let (text, name) = (
        kernel.index_text(&access.index[d]),
        &kernel.arrays[access.array].name,
    );
    let message = format!("the address of `{name}` does not move on by the same amount each time");
    let refusal = Refusal::at(access.span, message).note(format!("its index is `{text}`"));
    let steps = |env: &BTreeMap<Symbol, i64>| {
        let at = |n: i64| {
            let value = |s: Symbol| match s == f.var {
                true => n,
                false => env.get(&s).copied().unwrap_or(0),
            };
            access.index[d].eval(&value).ok()
        };
        (0..40).find_map(|n| {
            let (a, b, c) = (at(n)?, at(n + 1)?, at(n + 2)?);
            (b - a != c - b).then(|| {
                format!(
                    "it is {a} at {x} = {n}, {b} at {x} = {}, {c} at {x} = {}",
                    n + 1,
                    n + 2
                )
            })
        })
    };
    Err(with_sizes(kernel, f, refusal, &steps)
        .note(format!("`partition {x}` where the steps change first")))
}

/// The accesses whose addresses are computed in each iteration: not those behind a condition.
fn accesses(kernel: &Kernel, body: &[Stmt], look: &mut dyn FnMut(&Access)) {
    let unstated = |id: Id| !kernel.locals[id].stated;
    for_each_stmt(body, &mut |stmt, _| {
        if let Some(value) = kernel.value(stmt) {
            kernel.walk(value, &unstated, &mut |e| match &e.kind {
                ExprKind::Apply(Op::Select, args) => &args[..1],
                ExprKind::Load(access) => {
                    look(access);
                    &[]
                }
                _ => e.operands(),
            });
        }
        if let Stmt::Assign(Assign {
            target: Target::Array(access),
            ..
        }) = stmt
        {
            look(access);
        }
    });
}
