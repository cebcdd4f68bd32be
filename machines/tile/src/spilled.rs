//! Values with names that scalar registers have no room for, in memory.
//!
//! In: a kernel. Out: the same with those of its values that are needed for longest as elements of arrays
//! of its own. Whether there is room for the others is found out by mapping it.

use crate::sum::local;
use kernel::index::Index;
use kernel::tree::{Access, Assign, ExprKind, Id, Kernel, Stmt, Target};
use kernel::types::Elem;
use kernel::visit::{for_each_stmt, for_each_stmt_mut};
use std::collections::BTreeMap;

/// Fewer values than these are not what registers are missing for.
const FEW: usize = 8;

/// The kernel with one value of so many in memory, at least; none where it has few.
pub(crate) fn spilled(kernel: &Kernel, of: usize) -> Option<Kernel> {
    let mut lives: Vec<(usize, Id)> = lives(kernel).into_iter().map(|(id, n)| (n, id)).collect();
    if lives.len() < FEW {
        return None;
    }
    lives.sort_by_key(|&(length, id)| (std::cmp::Reverse(length), id));
    lives.truncate(lives.len().div_ceil(of));
    let mut kernel = kernel.clone();
    let mut by: BTreeMap<Elem, Vec<Id>> = BTreeMap::new();
    for &(_, id) in &lives {
        let elem = kernel.locals[id].value.ty.elem;
        by.entry(elem).or_default().push(id);
    }
    let mut places = BTreeMap::new();
    for (elem, ids) in by {
        let count = i64::try_from(ids.len()).ok()?;
        let array = local(&mut kernel, "kept", elem, &[count], None);
        places.extend(ids.into_iter().zip((0..count).map(|at| (array, at))));
    }
    let span = kernel.span;
    let access = |&(array, at): &(Id, i64)| Access::element(array, vec![Index::Const(at)], span);
    let mut body = std::mem::take(&mut kernel.body);
    kernel.for_each_expr_mut(&mut body, &mut |e| {
        if let ExprKind::Local(id) = e.kind
            && let Some(place) = places.get(&id)
        {
            e.kind = ExprKind::Load(access(place));
        }
    });
    for_each_stmt_mut(&mut body, &mut |stmt| {
        if let Stmt::Let(id) = stmt
            && let Some(place) = places.get(id)
        {
            let value = kernel.locals[*id].value.clone();
            *stmt = Stmt::Assign(Assign {
                target: Target::Array(access(place)),
                accumulate: false,
                reassociate: false,
                span: value.span,
                value,
            });
        }
    });
    kernel.body = body;
    Some(kernel)
}

/// For how many statements each value is needed that a statement computes and that can be stored.
fn lives(kernel: &Kernel) -> BTreeMap<Id, usize> {
    let (mut at, mut begins, mut lengths) = (0_usize, BTreeMap::new(), BTreeMap::new());
    let unstated = |id: Id| !kernel.locals[id].stated;
    for_each_stmt(&kernel.body, &mut |stmt, _| {
        at += 1;
        if let Some(value) = kernel.value(stmt) {
            kernel.for_each_leaf(value, &unstated, &mut |leaf| {
                if let ExprKind::Local(id) = leaf.kind
                    && let Some(begin) = begins.get(&id)
                {
                    lengths.insert(id, at - *begin);
                }
            });
        }
        if let Stmt::Let(id) = stmt {
            let ty = kernel.locals[*id].value.ty;
            if ty.lanes == 1 && ty.elem.is_number() {
                begins.insert(*id, at);
            }
        }
    });
    // What chooses an iteration is no element.
    for_each_stmt(&kernel.body, &mut |stmt, _| {
        if let Stmt::For(f) = stmt
            && let Some(id) = f.at
        {
            lengths.remove(&id);
        }
    });
    lengths
}
