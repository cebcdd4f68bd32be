//! Places that a loop writes in every iteration, in registers while it runs.
//!
//! In: a kernel that Halide has scheduled. Out: the same kernel, in which what a loop reads and writes
//! of an array at places that do not change while it runs is read before it into registers and written
//! behind it. Sums in an output buffer are such. Halide leaves this to LLVM; what C compilers make of
//! it differs, and only a sum in a register can be kept in lanes.

use super::accumulate::with_loops;
use super::normal::normal;
use super::value::{expr, least};
use kernel::index::Index;
use kernel::tree::{Access, Assign, ExprKind, For, Id, Kernel, Register, Stmt, SymbolKind, Target};
use kernel::types::Type;
use kernel::visit::{for_each_assign_mut, for_each_stmt, inner_loops};
use std::collections::BTreeMap;

/// The most bits that one loop keeps so: more is in memory again.
const MAX_BITS: u32 = 4096;

/// Changes the loops of a kernel.
pub(super) fn carry(kernel: &mut Kernel) {
    let body = std::mem::take(&mut kernel.body);
    kernel.body = with_loops(kernel, body, &nest_of);
}

/// A loop whose carried places are in registers.
fn nest_of(kernel: &mut Kernel, mut nest: For) -> Vec<Stmt> {
    let places = match repeats(&nest) {
        true => places(kernel, &nest),
        false => Vec::new(),
    };
    if places.is_empty() {
        nest.body = with_loops(kernel, nest.body, &nest_of);
        return vec![Stmt::For(nest)];
    }
    let mut registers: Vec<(Access, Id)> = Vec::new();
    for access in places {
        registers.push((access.clone(), kernel.registers.len()));
        kernel.registers.push(Register {
            name: format!("{}_carried", kernel.arrays[access.array].name),
            ty: Type {
                elem: kernel.arrays[access.array].elem,
                lanes: access.lanes,
            },
            parts: false,
        });
    }
    let register = |access: &Access| {
        let found = registers.iter().find(|(of, _)| same(of, access));
        found.map(|(_, id)| *id)
    };
    kernel.for_each_expr_mut(&mut nest.body, &mut |e| {
        if let ExprKind::Load(access) = &e.kind
            && let Some(id) = register(access)
        {
            e.kind = ExprKind::Register(id);
        }
    });
    for_each_assign_mut(&mut nest.body, &mut |a| {
        if let Target::Array(access) = &a.target
            && let Some(id) = register(access)
        {
            a.target = Target::Register(id);
        }
    });
    nest.body = with_loops(kernel, nest.body, &nest_of);
    vec![Stmt::For(guarded(kernel, &registers, nest))]
}

/// Whether a loop is one that runs more than once, for all that is known.
fn repeats(nest: &For) -> bool {
    let once = |hi: &Index| match hi {
        Index::Min(a, b) => [a, b].into_iter().any(|x| **x == Index::Const(1)),
        hi => *hi == Index::Const(1),
    };
    nest.at.is_none() && !nest.partial && !(nest.lo == Index::Const(0) && once(&nest.hi))
}

fn same(a: &Access, b: &Access) -> bool {
    a.array == b.array && a.lanes == b.lanes && a.index == b.index
}

/// The places of arrays that a loop carries.
fn places(kernel: &Kernel, nest: &For) -> Vec<Access> {
    let mut moving = inner_loops(&nest.body);
    moving.insert(nest.var);
    let mut arrays: BTreeMap<Id, Option<Vec<&Access>>> = BTreeMap::new();
    let mut written: BTreeMap<Id, bool> = BTreeMap::new();
    for_each_stmt(&nest.body, &mut |stmt, around| {
        let partial = around.iter().any(|f| f.partial);
        kernel.for_each_access(stmt, &mut |access, writes| {
            *written.entry(access.array).or_default() |= writes;
            let list = arrays
                .entry(access.array)
                .or_insert_with(|| Some(Vec::new()));
            let fixed = !partial
                && access.is_dense()
                && access.index.len() == 1
                && !moving.iter().any(|v| access.index[0].mentions(*v));
            match list {
                Some(known) if fixed => {
                    if !known.iter().any(|a| same(a, access)) {
                        known.push(access);
                    }
                }
                _ => *list = None,
            }
        });
    });
    let mut out: Vec<Access> = Vec::new();
    let mut bits = 0;
    for (array, list) in arrays {
        let Some(list) = list.filter(|l| written[&array] && apart(l)) else {
            continue;
        };
        let lanes: u32 = list.iter().map(|a| a.lanes).sum();
        let more = lanes * kernel.arrays[array].elem.bits();
        if bits + more <= MAX_BITS && list.iter().all(|a| is_certain(&nest.body, a)) {
            bits += more;
            out.extend(list.into_iter().cloned());
        }
    }
    out
}

/// Whether places are known to have no element in common.
fn apart(places: &[&Access]) -> bool {
    let disjoint = |a: &Access, b: &Access| {
        let from = normal(&b.index[0].minus(&a.index[0])).constant_value();
        from.is_some_and(|d| d >= i64::from(a.lanes) || -d >= i64::from(b.lanes))
    };
    let each = places.iter().enumerate();
    each.clone()
        .all(|(k, a)| places[k + 1..].iter().all(|b| disjoint(a, b)))
}

/// Whether a place is written in every iteration: it may not be touched otherwise.
fn is_certain(body: &[Stmt], place: &Access) -> bool {
    body.iter().any(|stmt| match stmt {
        Stmt::Assign(Assign {
            target: Target::Array(access),
            ..
        }) => same(access, place),
        Stmt::Assign(_) | Stmt::Let(_) => false,
        Stmt::For(inner) => {
            let rounds = normal(&inner.hi.minus(&inner.lo)).constant_value();
            inner.at.is_none() && rounds.is_some_and(|n| n > 0) && is_certain(&inner.body, place)
        }
    })
}

/// The loop with what is before and behind it, where it runs at all.
fn guarded(kernel: &mut Kernel, registers: &[(Access, Id)], nest: For) -> For {
    let span = nest.span;
    let moved = |id: Id, access: &Access, out: bool| {
        let ty = kernel.registers[id].ty;
        let (target, kind) = match out {
            true => (Target::Array(access.clone()), ExprKind::Register(id)),
            false => (Target::Register(id), ExprKind::Load(access.clone())),
        };
        Stmt::Assign(Assign {
            target,
            accumulate: false,
            reassociate: false,
            value: expr(kind, ty, access.span),
            span: access.span,
        })
    };
    let mut body: Vec<Stmt> = registers
        .iter()
        .map(|(a, id)| moved(*id, a, false))
        .collect();
    let behind: Vec<Stmt> = registers
        .iter()
        .map(|(a, id)| moved(*id, a, true))
        .collect();
    let rounds = normal(&nest.hi.minus(&nest.lo));
    body.push(Stmt::For(nest));
    body.extend(behind);
    let var = kernel.new_symbol("once".to_owned(), SymbolKind::Loop, span);
    For::new(
        var,
        (Index::Const(0), normal(&least(&rounds, &Index::Const(1)))),
        body,
        span,
    )
}
