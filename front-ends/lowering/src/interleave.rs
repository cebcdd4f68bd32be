//! Statements that store lanes by turns, as one that stores them all.
//!
//! In: the statements of a block. Out: the same, where neighbours that each write every second (third,
//! fourth) element of one range compute their values first, and then write the range at once: red, green and
//! blue of pixels, even and odd samples. Nothing else may come between, and of values only the first may
//! read the array; what a `let` read before may be in any.

use crate::along::Along;
use kernel::tree::{Access, Assign, Expr, ExprKind, Kernel, Register, Stmt, Target};
use kernel::types::Type;
use std::borrow::Cow;

/// How many statements take turns; one alone has rows of one element.
const TURNS: std::ops::RangeInclusive<usize> = 1..=4;

/// The statements of a block with those together that store by turns, where there are such; registers
/// for their values are added to the kernel.
pub(super) fn together<'s>(kernel: &mut Kernel, body: &'s [Stmt]) -> Cow<'s, [Stmt]> {
    let mut out = Cow::Borrowed(body);
    let mut at = 0;
    while at < out.len() {
        let found = TURNS
            .rev()
            .find_map(|turns| Some((turns, joined(kernel, out.get(at..at + turns)?)?)));
        at += match found {
            Some((turns, statements)) => {
                let count = statements.len();
                out.to_mut().splice(at..at + turns, statements);
                count
            }
            None => 1,
        };
    }
    out
}

/// Statements that take turns as values, and one that stores them.
fn joined(kernel: &mut Kernel, statements: &[Stmt]) -> Option<Vec<Stmt>> {
    let all: Option<Vec<(&Assign, &Access)>> = statements.iter().map(stored).collect();
    let all = all?;
    if let [(_, access)] = all[..]
        && access.is_dense()
    {
        return None;
    }
    let (target, order) = turns(kernel, &all)?;
    let mut out = Vec::new();
    let mut parts: Vec<Expr> = order.iter().map(|&(_, k)| all[k].0.value.clone()).collect();
    // What is only moved is one window; where something is computed, registers are moved.
    let computes = |value: &Expr| matches!(value.kind, ExprKind::Apply(..));
    if parts.len() > 1 && parts.iter().any(computes) {
        let lanes = all[0].1.lanes;
        for part in &mut parts {
            *part = named(kernel, part, lanes, &mut out);
        }
    }
    let value = by_turns(parts, target.lanes, all[0].0);
    out.push(Stmt::Assign(Assign {
        target: Target::Array(target),
        value,
        ..all[0].0.clone()
    }));
    Some(out)
}

/// A plain store of several lanes.
fn stored(stmt: &Stmt) -> Option<(&Assign, &Access)> {
    match stmt {
        Stmt::Assign(a) if !a.accumulate => match &a.target {
            Target::Array(access) if access.lanes > 1 && !access.clamped => Some((a, access)),
            _ => None,
        },
        _ => None,
    }
}

/// What the stores write together, and the turn of each; nothing where they leave elements out or read
/// what they write.
fn turns(kernel: &Kernel, all: &[(&Assign, &Access)]) -> Option<(Access, Vec<(i64, usize)>)> {
    let (_, first) = all[0];
    let turns = i64::try_from(all.len()).ok()?;
    let lies: Option<Vec<Along>> = all.iter().map(|(_, a)| Along::of(kernel, a)).collect();
    let lies = lies?;
    // In one row, or places in it say nothing.
    let shape = |a: &Access| (a.array, a.lanes, a.dim, a.index[..a.dim].to_vec());
    let own = shape(first);
    let alike = all.iter().all(|(_, a)| shape(a) == own);
    if !alike || lies.iter().any(|along| along.apart != turns) {
        return None;
    }
    let mut reads = false;
    for (a, _) in &all[1..] {
        kernel.for_each_load(&a.value, &mut |load| reads |= load.array == first.array);
    }
    if reads {
        return None;
    }
    let distance = |along: &Along| along.first.minus(&lies[0].first).constant_value();
    let places: Option<Vec<i64>> = lies.iter().map(distance).collect();
    let places = places?;
    let (least, k) = places.iter().zip(0..).min()?;
    let mut order: Vec<(i64, usize)> = places.iter().map(|p| p - least).zip(0..).collect();
    order.sort_unstable();
    if order.iter().zip(0..).any(|((turn, _), at)| *turn != at) {
        return None;
    }
    let lanes = first.lanes.checked_mul(u32::try_from(turns).ok()?)?;
    let target: Access = lies[k].dense(kernel, all[k].1, &lies[k].first, lanes)?;
    Some((target, order))
}

/// A value that a register of so many lanes takes first.
fn named(kernel: &mut Kernel, value: &Expr, lanes: u32, out: &mut Vec<Stmt>) -> Expr {
    let register = kernel.registers.len();
    let ty = Type { lanes, ..value.ty };
    kernel.registers.push(Register {
        name: format!("turn{register}"),
        ty,
        parts: false,
    });
    out.push(Stmt::Assign(Assign {
        target: Target::Register(register),
        accumulate: false,
        reassociate: false,
        value: value.clone(),
        span: value.span,
    }));
    Expr {
        kind: ExprKind::Register(register),
        ty,
        span: value.span,
    }
}

/// The lanes of values by turns; a value of one lane is the same in each.
fn by_turns(parts: Vec<Expr>, lanes: u32, a: &Assign) -> Expr {
    let each = lanes / u32::try_from(parts.len()).expect("a few");
    let (mut order, mut from) = (vec![0; lanes as usize], 0);
    for (turn, part) in parts.iter().enumerate() {
        for lane in 0..each {
            let of = if part.ty.lanes == 1 { 0 } else { lane };
            order[lane as usize * parts.len() + turn] = from + of;
        }
        from += part.ty.lanes;
    }
    let elem = a.value.ty.elem;
    Expr {
        kind: ExprKind::Shuffle(parts, order),
        ty: Type { elem, lanes },
        span: a.span,
    }
}
