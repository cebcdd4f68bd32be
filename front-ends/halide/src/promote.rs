//! Small allocations as registers.
//!
//! In: a kernel that Halide has scheduled. Out: the same kernel, in which an allocation that is
//! only ever read and written in the same few pieces, at constant places, is a register for
//! each piece. Halide leaves this to LLVM; here accumulators stay in registers by construction.

use kernel::tree::{Access, Expr, ExprKind, Id, Kernel, Register, Role, Target};
use kernel::types::Type;
use kernel::visit::{for_each_assign_mut, for_each_stmt};
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
    for_each_stmt(&kernel.body, &mut |stmt, _| {
        kernel.for_each_access(stmt, &mut |access, _| note(access));
    });
    for local in &kernel.locals {
        kernel.for_each_load(&local.value, &mut |access| note(access));
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
            kernel.registers.push(Register {
                name,
                ty,
                parts: false,
            });
        }
    }
    if registers.is_empty() {
        return;
    }
    let register = |access: &Access| {
        let of = |piece| registers.get(&(access.array, piece)).copied();
        piece(access).and_then(of)
    };
    let mut load = |e: &mut Expr| {
        if let ExprKind::Load(access) = &e.kind
            && let Some(id) = register(access)
        {
            e.kind = ExprKind::Register(id);
        }
    };
    for_each_assign_mut(&mut kernel.body, &mut |a| {
        a.value.for_each_mut(&mut load);
        if let Target::Array(access) = &a.target
            && let Some(id) = register(access)
        {
            a.target = Target::Register(id);
        }
    });
    for local in &mut kernel.locals {
        local.value.for_each_mut(&mut load);
    }
    let gone: BTreeSet<Id> = registers.keys().map(|(array, _)| *array).collect();
    remove(kernel, &gone);
}

/// Takes arrays out of the kernel that nothing uses.
fn remove(kernel: &mut Kernel, gone: &BTreeSet<Id>) {
    let number = |id: Id| id - gone.range(..id).count();
    let mut load = |e: &mut Expr| {
        if let ExprKind::Load(access) = &mut e.kind {
            access.array = number(access.array);
        }
    };
    for_each_assign_mut(&mut kernel.body, &mut |a| {
        a.value.for_each_mut(&mut load);
        if let Target::Array(access) = &mut a.target {
            access.array = number(access.array);
        }
    });
    for local in &mut kernel.locals {
        local.value.for_each_mut(&mut load);
    }
    let mut id = 0;
    kernel.arrays.retain(|_| {
        id += 1;
        !gone.contains(&(id - 1))
    });
}

fn piece(access: &Access) -> Option<Piece> {
    Some((access.index[0].constant_value()?, access.lanes))
}
