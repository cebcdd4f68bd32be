//! Sums of any size as loops over tiles.
//!
//! In: a kernel, the values of its sizes, the tiles of a machine. Out: [`tiled`]: the kernel with
//! numbers for sizes, in which sums of products are whole tiles in the machine's registers, and
//! everything else is left to the host. What fills tiles is loaded from where it lies; what does
//! not is copied first, turned round or filled up with zeros where that is needed. Rows and
//! columns that are left over are the last whole tiles, which repeat some results, or tiles of
//! which not all is taken.
//!
//! That the kernel stays what it is rests on four facts, which are looked at here or in
//! [`crate::sum`]: iterations that move the target do not meet, so that their order is free; the
//! loops that add keep their order where it matters; a product with a zero of the other kind adds
//! nothing; the target is none of the arrays that are read. That blocks are instructions is
//! proved when the result is mapped, as for every kernel.

mod choose;
mod make;
mod packs;

pub(crate) use choose::{ADDED, COPIED, Shape, factors, fits, mentions, rows_of, typed};
pub(crate) use make::{Buffer, wrapped};

use crate::sum::{self, fresh};
use choose::{Choice, Factor, Plan};
use kernel::index::Symbol;
use kernel::tree::{For, Kernel, Stmt};
use std::collections::{BTreeMap, BTreeSet};

/// The kernel with its sums in tiles of registers of that name; sums for which the host
/// alone is cheaper stay what they are. None when it has no sums.
///
/// With a set of loops these alone are looked at.
pub(crate) fn tiled(
    kernel: &Kernel,
    sizes: &BTreeMap<Symbol, i64>,
    machine: TileMachine<'_>,
    only: Option<&BTreeSet<Symbol>>,
) -> Option<Tiled> {
    let mut kernel = kernel.at_sizes(sizes);
    let body = std::mem::take(&mut kernel.body);
    let mut made = Made::default();
    kernel.body = block(&mut kernel, body, machine, only, &mut made);
    (made.sums > 0).then_some(Tiled {
        kernel,
        products: made.products,
    })
}

/// The name of the registers of tiles, their shape, and how tiles are grouped, where that is
/// not left open.
pub(crate) type TileMachine<'a> = (&'a str, Shape<'a>, Option<Variant>);

/// A kernel with its sums in tiles.
pub(crate) struct Tiled {
    pub(crate) kernel: Kernel,
    /// How many products of tiles are run.
    pub(crate) products: i64,
}

/// What was found in a kernel.
#[derive(Default)]
struct Made {
    sums: usize,
    products: i64,
}

/// Statements with their sums in tiles.
fn block(
    kernel: &mut Kernel,
    body: Vec<Stmt>,
    machine: TileMachine<'_>,
    only: Option<&BTreeSet<Symbol>>,
    made: &mut Made,
) -> Vec<Stmt> {
    let mut out = Vec::new();
    for stmt in body {
        let Stmt::For(f) = stmt else {
            out.push(stmt);
            continue;
        };
        let only = only.filter(|o| !o.contains(&f.var));
        let tiles = match only {
            Some(_) => None,
            None => one(kernel, &f, machine),
        };
        match tiles {
            Some((stmts, products)) => {
                made.sums += 1;
                made.products = made.products.saturating_add(products);
                out.extend(stmts);
            }
            None => {
                let body = block(kernel, f.body.clone(), machine, only, made);
                out.push(Stmt::For(For { body, ..f }));
            }
        }
    }
    out
}

/// A loop that is a sum, in tiles.
fn one(kernel: &mut Kernel, f: &For, machine: TileMachine<'_>) -> Option<(Vec<Stmt>, i64)> {
    let (memory, shape, variant) = machine;
    let before = (kernel.symbols.len(), kernel.arrays.len());
    let made = sum::sum(kernel, f).and_then(|mut found| {
        choose::widen(kernel, &mut found, shape);
        let after = make::after(kernel, &mut found);
        let plan = match choose::choose(kernel, &found, shape) {
            Choice::Tiles(plan) => plan,
            Choice::Host => {
                kernel.arrays.truncate(before.1);
                return Some((vec![Stmt::For(f.clone())], 0));
            }
            Choice::None => return None,
        };
        let variant = variant.unwrap_or_else(|| usual(&plan, shape));
        let mut stmts = make::begin(&found);
        stmts.extend(make::sum(kernel, &found, &plan, (memory, shape), variant));
        stmts.extend(after);
        Some((stmts, plan.products))
    });
    if made.is_none() {
        kernel.symbols.truncate(before.0);
        kernel.arrays.truncate(before.1);
    }
    made
}

/// Tiles along one loop: so many rounds, each with tiles that begin there.
#[derive(Clone, Debug)]
struct Segment {
    first: i64,
    rounds: i64,
    step: i64,
    tiles: Vec<Part>,
}

/// A tile: where it begins in a round, and which of its rows are results for the first time.
#[derive(Clone, Copy, Debug)]
struct Part {
    offset: i64,
    from: i64,
    to: i64,
}

/// The tiles of a loop, up to so many at once.
fn segments(factor: &Factor, rows: i64, most: i64) -> Vec<Segment> {
    let one = |tiles: Vec<Part>, first| Segment {
        first,
        rounds: 1,
        step: 0,
        tiles,
    };
    let whole = |offset| Part {
        offset,
        from: 0,
        to: rows,
    };
    let count = factor.row.map_or(1, |d| d.count);
    if count < rows {
        let to = count;
        return vec![one(vec![Part { to, ..whole(0) }], 0)];
    }
    let (full, left) = (count / rows, count % rows);
    let groups = (full + most - 1) / most;
    let each = if full % groups == 0 {
        full / groups
    } else {
        most
    };
    let rounds = full / each;
    let mut out = vec![Segment {
        first: 0,
        rounds,
        step: each * rows,
        tiles: (0..each).map(|k| whole(k * rows)).collect(),
    }];
    let first = rounds * each * rows;
    let mut rest: Vec<Part> = (0..full % each).map(|k| whole(k * rows)).collect();
    if left > 0 {
        rest.push(Part {
            offset: count - rows - first,
            from: rows - left,
            to: rows,
        });
    }
    if rest.len() as i64 > most {
        let last = rest.split_off(rest.len() - 1);
        out.push(one(rest, first));
        rest = last;
    }
    if !rest.is_empty() {
        out.push(one(rest, first));
    }
    out
}

/// How tiles of a kernel are grouped.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Variant {
    /// Tiles of results that are summed together, down and along.
    pub down: i64,
    /// Along the columns.
    pub along: i64,
    /// Tiles of the depth in a round of the loop that adds.
    pub rounds: i64,
}

/// The usual variant: two tiles in the direction in which there are more, which leaves registers
/// for factors by turns, so that none is filled again while an instruction that reads it is under
/// way. Of those that are counted by a search it is most often the best.
fn usual(plan: &Plan, shape: Shape<'_>) -> Variant {
    let tiles = |f: &Factor| f.row.map_or(1, |d| (d.count + shape.rows - 1) / shape.rows);
    let (left, right) = (tiles(&plan.left), tiles(&plan.right));
    let most = (shape.registers - FACTORS).clamp(1, 2);
    Variant {
        down: if left >= right { most.min(left) } else { 1 },
        along: if left >= right { 1 } else { most.min(right) },
        rounds: 4,
    }
}

/// Registers for tiles of factors.
const FACTORS: i64 = 5;
