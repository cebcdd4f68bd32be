//! Small allocations as registers.
//!
//! In: a kernel that Halide has scheduled. Out: the same kernel, in which an allocation that is
//! only ever read and written in the same few pieces, at constant places, is a register for
//! each piece. Halide leaves this to LLVM; here accumulators stay in registers by construction.

use kernel::tree::{Access, Expr, ExprKind, Id, Kernel, Register, Role, Stmt, Target};
use kernel::types::Type;
use std::collections::{BTreeMap, BTreeSet};

/// More pieces than this stay in memory.
const MAX_PIECES: usize = 64;

/// A piece: first element and lanes.
type Piece = (i64, u32);

/// Replaces allocations by registers where that can be done.
pub(super) fn promote(kernel: &mut Kernel) {
    let mut pieces: BTreeMap<Id, Option<Vec<Piece>>> = BTreeMap::new();
    let mut note = |access: &Access| {
        let slot = pieces
            .entry(access.array)
            .or_insert_with(|| Some(Vec::new()));
        let piece = piece(access).filter(|_| access.is_dense());
        match (slot.as_mut(), piece) {
            (Some(list), Some(piece)) => {
                if !list.contains(&piece) {
                    list.push(piece);
                }
            }
            _ => *slot = None,
        }
    };
    for_each_access(&kernel.body, &mut note);
    for local in &kernel.locals {
        loads(&local.value, &mut note);
    }
    let mut registers: BTreeMap<(Id, Piece), Id> = BTreeMap::new();
    for (array, list) in pieces {
        let Some(mut list) = list.filter(|l| l.len() <= MAX_PIECES) else {
            continue;
        };
        list.sort_unstable();
        let apart = list
            .windows(2)
            .all(|w| w[0].0 + i64::from(w[0].1) <= w[1].0);
        if kernel.arrays[array].role != Role::Local || !apart {
            continue;
        }
        for piece in list {
            let ty = Type {
                elem: kernel.arrays[array].elem,
                lanes: piece.1,
            };
            let name = format!("{}_{}", kernel.arrays[array].name, piece.0);
            registers.insert((array, piece), kernel.registers.len());
            kernel.registers.push(Register { name, ty });
        }
    }
    if registers.is_empty() {
        return;
    }
    let mut body = std::mem::take(&mut kernel.body);
    rewrite_block(&mut body, &registers);
    kernel.body = body;
    for local in &mut kernel.locals {
        rewrite(&mut local.value, &registers);
    }
    let gone: BTreeSet<Id> = registers.keys().map(|(array, _)| *array).collect();
    remove(kernel, &gone);
}

/// Takes arrays out of the kernel that nothing uses.
fn remove(kernel: &mut Kernel, gone: &BTreeSet<Id>) {
    let number = |id: Id| id - gone.range(..id).count();
    let mut body = std::mem::take(&mut kernel.body);
    renumber_block(&mut body, &number);
    kernel.body = body;
    for local in &mut kernel.locals {
        renumber(&mut local.value, &number);
    }
    let mut id = 0;
    kernel.arrays.retain(|_| {
        id += 1;
        !gone.contains(&(id - 1))
    });
}

fn renumber_block(body: &mut [Stmt], number: &impl Fn(Id) -> Id) {
    for stmt in body {
        match stmt {
            Stmt::For(nest) => renumber_block(&mut nest.body, number),
            Stmt::Let(_) => {}
            Stmt::Assign(a) => {
                renumber(&mut a.value, number);
                if let Target::Array(access) = &mut a.target {
                    access.array = number(access.array);
                }
            }
        }
    }
}

fn renumber(e: &mut Expr, number: &impl Fn(Id) -> Id) {
    match &mut e.kind {
        ExprKind::Load(access) => access.array = number(access.array),
        ExprKind::Apply(_, args) | ExprKind::Shuffle(args, _) => {
            args.iter_mut().for_each(|a| renumber(a, number));
        }
        ExprKind::Reduce(_, arg, _) => renumber(arg, number),
        _ => {}
    }
}

fn piece(access: &Access) -> Option<Piece> {
    Some((access.index[0].constant_value()?, access.lanes))
}

fn for_each_access(body: &[Stmt], f: &mut impl FnMut(&Access)) {
    for stmt in body {
        match stmt {
            Stmt::For(nest) => for_each_access(&nest.body, f),
            Stmt::Let(_) => {}
            Stmt::Assign(a) => {
                loads(&a.value, f);
                if let Target::Array(access) = &a.target {
                    f(access);
                }
            }
        }
    }
}

fn loads(e: &Expr, f: &mut impl FnMut(&Access)) {
    match &e.kind {
        ExprKind::Load(access) => f(access),
        ExprKind::Apply(_, args) | ExprKind::Shuffle(args, _) => {
            args.iter().for_each(|a| loads(a, f))
        }
        ExprKind::Reduce(_, arg, _) => loads(arg, f),
        _ => {}
    }
}

fn rewrite_block(body: &mut [Stmt], registers: &BTreeMap<(Id, Piece), Id>) {
    for stmt in body {
        match stmt {
            Stmt::For(nest) => rewrite_block(&mut nest.body, registers),
            Stmt::Let(_) => {}
            Stmt::Assign(a) => {
                rewrite(&mut a.value, registers);
                if let Target::Array(access) = &a.target
                    && let Some(&id) = piece(access).and_then(|p| registers.get(&(access.array, p)))
                {
                    a.target = Target::Register(id);
                }
            }
        }
    }
}

fn rewrite(e: &mut Expr, registers: &BTreeMap<(Id, Piece), Id>) {
    match &mut e.kind {
        ExprKind::Load(access) => {
            if let Some(&id) = piece(access).and_then(|p| registers.get(&(access.array, p))) {
                e.kind = ExprKind::Register(id);
            }
        }
        ExprKind::Apply(_, args) | ExprKind::Shuffle(args, _) => {
            args.iter_mut().for_each(|a| rewrite(a, registers))
        }
        ExprKind::Reduce(_, arg, _) => rewrite(arg, registers),
        _ => {}
    }
}
