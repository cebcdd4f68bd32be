//! Blocks of rows of which statements beside each other load the columns, loaded as they lie and turned.
//!
//! In: the statements of a block. Out: the same, where those that load neighbouring columns of the same rows
//! find them in registers, which the rows are turned into before the first of them: a transposition whose
//! loops are jammed and vectorised. Each column by itself is loaded an element at a time.
//!
//! A square of `n` rows is turned by interleaving rows `i` and `i + n/2` for all `i`, `log2(n)` times: each time
//! the bits of an element's place, row before column, go round by one (Stone, "Parallel Processing with
//! the Perfect Shuffle", 1971).

use crate::along::MOST_APART;
use crate::interleave::named;
use crate::share::{apart, each_load, until_written};
use kernel::index::Index;
use kernel::tree::{Access, Expr, ExprKind, Kernel, Stmt};
use kernel::types::{Elem, Type};
use std::borrow::Cow;

/// The fewest columns that are worth it.
const FEWEST: u32 = 4;

/// Columns that statements load, of the same rows.
struct Columns {
    /// The load of the first of them.
    first: Expr,
    /// How many there are beside each other, a power of two.
    count: u32,
    /// The last statement that loads one, counted from the first that does.
    last: usize,
}

/// The statements of a block with the columns that they load in registers, which are added to the kernel.
/// Of partial vectors some rows are not there.
pub(super) fn columns<'s>(
    kernel: &mut Kernel,
    body: Cow<'s, [Stmt]>,
    partial: bool,
) -> Cow<'s, [Stmt]> {
    let mut out = body;
    let mut at = 0;
    while at < out.len() && !partial {
        match found(kernel, &out[at..]) {
            Some(columns) => take(kernel, out.to_mut(), &columns, at),
            None => at += 1,
        }
    }
    out
}

/// The columns of which the first statement loads one, and how many beside it the others load before
/// anything is written to the array.
fn found(kernel: &Kernel, body: &[Stmt]) -> Option<Columns> {
    let Stmt::Assign(a) = &body[0] else {
        return None;
    };
    let mut of = None;
    each_load(kernel, &a.value, &mut |load, access| {
        if of.is_none() && is_column(kernel, load, access) {
            of = Some(access);
        }
    });
    let of = of?;
    // Columns with the statement that loads them last.
    let mut places: Vec<(i64, usize, Expr)> = Vec::new();
    until_written(kernel, body, of.array, &mut |k, load, other| {
        places.extend(distance(of, other).map(|place| (place, k, load.clone())));
    });
    let has = |place: i64| places.iter().any(|(p, ..)| *p == place);
    let low = (0..).take_while(|n| has(-n)).last()?;
    let high = (0..).take_while(|n| has(*n)).last()?;
    let beside = u32::try_from(low + high + 1).ok()?.min(of.lanes);
    let count = 1 << beside.ilog2();
    // The first statement's column is among them.
    let begin = -low.min(i64::from(count) - 1);
    let inside = |place: i64| (begin..begin + i64::from(count)).contains(&place);
    let last = places
        .iter()
        .filter(|(p, ..)| inside(*p))
        .map(|(_, k, _)| *k);
    let last = last.max()?;
    let (.., first) = places.iter().find(|(p, ..)| *p == begin)?.clone();
    (count >= FEWEST).then_some(Columns { first, count, last })
}

fn access(load: &Expr) -> Option<&Access> {
    match &load.kind {
        ExprKind::Load(access) => Some(access),
        _ => None,
    }
}

/// Whether the lanes of a load are of as many rows, too far apart to be loaded as registers.
fn is_column(kernel: &Kernel, load: &Expr, access: &Access) -> bool {
    let near = apart(kernel, access).is_some_and(|apart| apart <= MOST_APART.unsigned_abs());
    load.ty.elem != Elem::Bool
        && load.ty.lanes == access.lanes
        && access.lanes >= FEWEST
        && access.lanes.is_power_of_two()
        && !access.clamped
        && access.dim + 1 < access.index.len()
        && !near
}

/// How many columns behind the first an access is, to the same rows.
fn distance(first: &Access, other: &Access) -> Option<i64> {
    let last = first.index.len() - 1;
    let rows = |a: &Access| {
        let shape = (a.array, a.lanes, a.dim, a.stride, a.clamped);
        (shape, a.index[..last].to_vec())
    };
    let same = rows(first) == rows(other);
    same.then(|| other.index[last].minus(&first.index[last]).constant_value())?
}

/// Puts the columns into registers before statement `at`, and these into the statements that load them.
fn take(kernel: &mut Kernel, body: &mut Vec<Stmt>, columns: &Columns, at: usize) {
    let Some(of) = access(&columns.first).cloned() else {
        return;
    };
    let mut before = Vec::new();
    let blocks = of.lanes / columns.count;
    let turned: Vec<Vec<Expr>> = (0..blocks)
        .map(|block| {
            let rows = (0..columns.count).map(|row| {
                row_of(
                    &columns.first,
                    &of,
                    columns.count,
                    block * columns.count + row,
                )
            });
            let rows: Vec<Expr> = rows.collect();
            turn(kernel, rows, &mut before)
        })
        .collect();
    for stmt in &mut body[at..=at + columns.last] {
        let Stmt::Assign(a) = stmt else { continue };
        a.value.for_each_mut(&mut |e| {
            let place = access(e).and_then(|other| distance(&of, other));
            let place = place.and_then(|p| usize::try_from(p).ok());
            if let Some(place) = place.filter(|p| *p < columns.count as usize) {
                let parts: Vec<Expr> = turned.iter().map(|t| t[place].clone()).collect();
                *e = shuffled(e, parts, (0..of.lanes).collect());
            }
        });
    }
    body.splice(at..at, before);
}

/// The elements of a row that are in the columns.
fn row_of(load: &Expr, of: &Access, columns: u32, row: u32) -> Expr {
    let last = of.index.len() - 1;
    let mut access = of.clone();
    access.index[of.dim] =
        of.index[of.dim].plus(&Index::Const(i64::from(row).saturating_mul(of.stride)));
    access.lanes = columns;
    access.dim = last;
    access.stride = 1;
    Expr {
        kind: ExprKind::Load(access),
        ty: Type {
            lanes: columns,
            ..load.ty
        },
        span: load.span,
    }
}

/// The columns of as many rows.
fn turn(kernel: &mut Kernel, mut rows: Vec<Expr>, out: &mut Vec<Stmt>) -> Vec<Expr> {
    let count = rows.len();
    let lanes = u32::try_from(count).expect("lanes of a register");
    for _ in 0..count.ilog2() {
        rows = (0..count)
            .map(|k| {
                let (pair, half) = (k / 2, k as u32 % 2 * (lanes / 2));
                let parts = vec![rows[pair].clone(), rows[pair + count / 2].clone()];
                let order = (0..lanes).map(|j| half + j / 2 + j % 2 * lanes);
                let value = shuffled(&rows[pair], parts, order.collect());
                named(kernel, "turned", &value, lanes, out)
            })
            .collect();
    }
    rows
}

/// Lanes of parts in an order, of the type of an element of `like`; one part in its own order as it is.
fn shuffled(like: &Expr, mut parts: Vec<Expr>, order: Vec<u32>) -> Expr {
    let lanes = u32::try_from(order.len()).expect("lanes of a register");
    let same = order.iter().copied().eq(0..lanes);
    if parts.len() == 1 && parts[0].ty.lanes == lanes && same {
        return parts.remove(0);
    }
    Expr {
        ty: Type { lanes, ..like.ty },
        span: like.span,
        kind: ExprKind::Shuffle(parts, order),
    }
}
