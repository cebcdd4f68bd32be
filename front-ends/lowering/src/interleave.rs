//! Statements that store lanes by turns, as one that stores them all.
//!
//! In: the statements of a block. Out: the same, where those that each write every second (third,
//! fourth) element of one range compute their values where they stand, and the last of them writes the
//! range at once: red, green and blue of pixels, even and odd samples. What stands between them may touch
//! nothing that one before it writes: other rows, or elements of other turns.

use crate::along::{Along, MOST_APART};
use kernel::tree::{Access, Assign, Expr, ExprKind, Kernel, Op, Register, Stmt, Target};
use kernel::types::Type;
use std::borrow::Cow;

/// How many statements take turns; one alone has rows of one element.
const TURNS: std::ops::RangeInclusive<i64> = 1..=MOST_APART;

/// Stores that take turns.
struct Turns {
    /// Where they stand in the block, in their order there.
    members: Vec<usize>,
    /// How many elements each begins behind the first.
    places: Vec<i64>,
}

/// The statements of a block with those together that store by turns, where there are such; registers
/// for their values are added to the kernel. Of partial vectors only some lanes are loaded and stored.
pub(super) fn together<'s>(
    kernel: &mut Kernel,
    body: &'s [Stmt],
    partial: bool,
) -> Cow<'s, [Stmt]> {
    let mut out = Cow::Borrowed(body);
    let mut at = 0;
    while at < out.len() {
        let found = taking_turns(kernel, &out, at);
        if let Some((end, statements)) = found.and_then(|turns| {
            let statements = joined(kernel, &out[at..], at, &turns, partial)?;
            Some((turns.members.last()? + 1, statements))
        }) {
            out.to_mut().splice(at..end, statements);
        }
        at += 1;
    }
    out
}

/// The store at a place and those behind it that take turns with it, where they leave no element out.
fn taking_turns(kernel: &Kernel, body: &[Stmt], at: usize) -> Option<Turns> {
    let (_, first) = stored(&body[at])?;
    let lies = Along::of(kernel, first)?;
    let turns = lies.apart;
    if first.is_dense() || !TURNS.contains(&turns) {
        return None;
    }
    let (mut members, mut places) = (vec![at], vec![0]);
    let (mut low, mut high) = (0, 0);
    for (k, stmt) in body.iter().enumerate().skip(at + 1) {
        if i64::try_from(members.len()).ok()? == turns {
            break;
        }
        if matches!(stmt, Stmt::For(_)) {
            return None;
        }
        let place = stored(stmt).and_then(|(_, access)| distance(kernel, first, &lies, access));
        let place = place.filter(|p| !places.contains(p) && high.max(*p) - low.min(*p) < turns);
        if meets(kernel, stmt, first, &lies, &places) {
            return None;
        }
        if let Some(place) = place {
            members.push(k);
            places.push(place);
            (low, high) = (low.min(place), high.max(place));
        }
    }
    let all = i64::try_from(members.len()).ok()? == turns;
    all.then_some(Turns { members, places })
}

/// How many elements behind the first store's first lane that of an access is, whose lanes lie in the
/// same row and as far apart.
fn distance(kernel: &Kernel, first: &Access, lies: &Along, access: &Access) -> Option<i64> {
    // In one row, or places in it say nothing.
    let shape = |a: &Access| (a.array, a.lanes, a.dim, a.index[..a.dim].to_vec());
    if shape(first) != shape(access) {
        return None;
    }
    let along = Along::of(kernel, access).filter(|along| along.apart == lies.apart)?;
    along.first.minus(&lies.first).constant_value()
}

/// Whether a statement may touch an element of the stores that begin at some places: of these it knows
/// only what is in other rows, and what has another turn.
fn meets(kernel: &Kernel, stmt: &Stmt, first: &Access, lies: &Along, places: &[i64]) -> bool {
    let mut meets = false;
    kernel.for_each_access(stmt, &mut |access, _| {
        meets |= access.array == first.array
            && !other_row(first, access)
            && distance(kernel, first, lies, access).is_none_or(|d| {
                let turn = d.rem_euclid(lies.apart);
                places.iter().any(|p| p.rem_euclid(lies.apart) == turn)
            });
    });
    meets
}

/// Whether all lanes of another access to the array of a store are a constant away in a dimension before
/// that of its lanes: in these all stores that take turns are alike.
fn other_row(store: &Access, other: &Access) -> bool {
    (0..store.dim).any(|dim| {
        let fixed = other.lanes == 1 || other.dim != dim;
        let apart = || other.index[dim].minus(&store.index[dim]).constant_value();
        fixed && apart().is_some_and(|d| d != 0)
    })
}

/// The statements up to the last that takes turns, with values in the places of the stores, and behind
/// them one store. `body` begins at the first of them, which is statement `at` of the block.
fn joined(
    kernel: &mut Kernel,
    body: &[Stmt],
    at: usize,
    turns: &Turns,
    partial: bool,
) -> Option<Vec<Stmt>> {
    let all: Vec<(&Assign, &Access)> = turns
        .members
        .iter()
        .filter_map(|k| stored(&body[k - at]))
        .collect();
    let target = whole(kernel, &all, &turns.places)?;
    let accumulate = all.iter().all(|(a, _)| a.accumulate);
    let end = turns.members.last()? + 1 - at;
    let member = |k: usize| turns.members.iter().position(|m| *m == k + at);
    // What is only moved is one window; where something is computed, registers are moved.
    let computes = |value: &Expr| matches!(value.kind, ExprKind::Apply(..));
    let values: Vec<Expr> = all
        .iter()
        .map(|(a, access)| value(a, access, accumulate))
        .collect();
    let others = (0..end).any(|k| member(k).is_none() && !matches!(body[k], Stmt::Let(_)));
    let keeps = all.len() > 1 && (partial || others || values.iter().any(computes));
    let (mut out, mut parts) = (Vec::new(), Vec::new());
    for (k, stmt) in body[..end].iter().enumerate() {
        match member(k) {
            None => out.push(stmt.clone()),
            Some(m) if keeps => {
                let part = named(kernel, "turn", &values[m], all[m].1.lanes, &mut out);
                parts.push((turns.places[m], part));
            }
            Some(m) => parts.push((turns.places[m], values[m].clone())),
        }
    }
    parts.sort_by_key(|(place, _)| *place);
    let parts = parts.into_iter().map(|(_, part)| part).collect();
    out.push(Stmt::Assign(Assign {
        accumulate,
        value: by_turns(parts, target.lanes, all[0].0),
        target: Target::Array(target),
        ..all[0].0.clone()
    }));
    Some(out)
}

/// What a statement stores: where not all add to what is there, as a sum with that.
fn value(a: &Assign, access: &Access, all_accumulate: bool) -> Expr {
    if !a.accumulate || all_accumulate {
        return a.value.clone();
    }
    let ty = Type {
        lanes: access.lanes,
        ..a.value.ty
    };
    let span = a.span;
    let old = Expr {
        kind: ExprKind::Load(access.clone()),
        ty,
        span,
    };
    Expr {
        kind: ExprKind::Apply(Op::Add, vec![old, a.value.clone()]),
        ty,
        span,
    }
}

/// A store of several lanes.
fn stored(stmt: &Stmt) -> Option<(&Assign, &Access)> {
    match stmt {
        Stmt::Assign(a) => match &a.target {
            Target::Array(access) if access.lanes > 1 && !access.clamped => Some((a, access)),
            _ => None,
        },
        _ => None,
    }
}

/// What stores that begin at these places write together.
fn whole(kernel: &Kernel, all: &[(&Assign, &Access)], places: &[i64]) -> Option<Access> {
    let (_, k) = places.iter().zip(0..).min()?;
    let (_, least): (_, &Access) = all[k];
    let lies = Along::of(kernel, least)?;
    let turns = u32::try_from(all.len()).ok()?;
    lies.dense(kernel, least, &lies.first, least.lanes.checked_mul(turns)?)
}

/// A value that a register of so many lanes takes first, whose name begins with `name`.
pub(super) fn named(
    kernel: &mut Kernel,
    name: &str,
    value: &Expr,
    lanes: u32,
    out: &mut Vec<Stmt>,
) -> Expr {
    let register = kernel.registers.len();
    let ty = Type { lanes, ..value.ty };
    kernel.registers.push(Register {
        name: format!("{name}{register}"),
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
