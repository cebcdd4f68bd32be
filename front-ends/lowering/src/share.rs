//! Loads of elements that lie apart, which several statements of a block make, are made once.
//!
//! In: the statements of a block. Out: the same, where such a load is a register that the first of them
//! finds filled: the real parts of complex numbers, the reds of pixels. Nothing writes the array between.
//! Neighbours of two and four integers stay with each statement: there are instructions that add them or
//! their products.

use crate::along::{Along, MOST_APART};
use crate::interleave::named;
use kernel::tree::{Access, Assign, Expr, ExprKind, Id, Kernel, Stmt, Target};
use kernel::types::Elem;
use semantics::float::Format;
use std::borrow::Cow;

/// How far apart lanes lie that instructions may pick or add.
const NEAR: u64 = 4;

/// Where a statement has more loads of lanes further apart, they are picked before anything else, even for it
/// alone: together they are too much for one window.
const FEW: usize = 4;

/// The statements of a block with what they load again and again in registers, which are added to the
/// kernel.
pub(super) fn loads<'s>(kernel: &mut Kernel, body: Cow<'s, [Stmt]>) -> Cow<'s, [Stmt]> {
    let mut out = body;
    let (mut at, mut many) = (0, false);
    while at < out.len() {
        many |= far_loads(kernel, &out[at]) > FEW;
        match shared(kernel, &out[at..], many) {
            Some((load, users)) => take(kernel, out.to_mut(), &load, at, users),
            None => {
                many &= is_load(&out[at]);
                at += 1;
            }
        }
    }
    out
}

/// A load of the first statement that others make too, and behind which of these nothing is the same.
fn shared(kernel: &Kernel, body: &[Stmt], many: bool) -> Option<(Expr, usize)> {
    let Stmt::Assign(first) = &body[0] else {
        return None;
    };
    let mut candidates: Vec<&Expr> = Vec::new();
    each_load(kernel, &first.value, &mut |load, access| {
        if is_apart(kernel, load, access) {
            candidates.push(load);
        }
    });
    candidates.into_iter().find_map(|load| {
        let ExprKind::Load(access) = &load.kind else {
            return None;
        };
        let mut last = 0;
        until_written(kernel, body, access.array, &mut |k, _, other| {
            if other == access {
                last = k;
            }
        });
        let far = apart(kernel, access).is_some_and(|apart| apart > NEAR);
        (last > 0 || far && many && !is_load(&body[0])).then(|| (load.clone(), last))
    })
}

/// Calls `f` for each load in the statements of a block before another loop and before anything is written to an
/// array, with the statement's number.
pub(super) fn until_written<'e>(
    kernel: &'e Kernel,
    body: &'e [Stmt],
    array: Id,
    f: &mut impl FnMut(usize, &'e Expr, &'e Access),
) {
    for (k, stmt) in body.iter().enumerate() {
        match stmt {
            Stmt::For(_) => break,
            Stmt::Let(_) => {}
            Stmt::Assign(a) => {
                each_load(kernel, &a.value, &mut |load, access| f(k, load, access));
                if matches!(&a.target, Target::Array(to) if to.array == array) {
                    break;
                }
            }
        }
    }
}

/// Puts a load into a register before statement `at`, and that into the statements up to the last of
/// `users` behind it.
fn take(kernel: &mut Kernel, body: &mut Vec<Stmt>, load: &Expr, at: usize, users: usize) {
    let mut before = Vec::new();
    let register = named(kernel, "turn", load, load.ty.lanes, &mut before);
    let ExprKind::Load(access) = &load.kind else {
        return;
    };
    for stmt in &mut body[at..=at + users] {
        if let Stmt::Assign(Assign { value, .. }) = stmt {
            value.for_each_mut(&mut |e| {
                if matches!(&e.kind, ExprKind::Load(other) if other == access) {
                    *e = register.clone();
                }
            });
        }
    }
    body.splice(at..at, before);
}

/// Calls `f` for each load that is written in an expression itself.
pub(super) fn each_load<'e>(
    kernel: &'e Kernel,
    e: &'e Expr,
    f: &mut impl FnMut(&'e Expr, &'e Access),
) {
    kernel.for_each_leaf(e, &|_| false, &mut |leaf| {
        if let ExprKind::Load(access) = &leaf.kind {
            f(leaf, access);
        }
    });
}

/// Whether a load takes its lanes from more registers than it fills, and no instruction adds what lies
/// between them.
fn is_apart(kernel: &Kernel, load: &Expr, access: &Access) -> bool {
    let pairs = !matches!(load.ty.elem, Elem::Float(Format::F32 | Format::F64));
    let far = |apart: u64| match apart {
        2..=NEAR => !(pairs && apart.is_power_of_two()),
        _ => (NEAR + 1..=MOST_APART.unsigned_abs()).contains(&apart),
    };
    load.ty.elem != Elem::Bool
        && load.ty.lanes == access.lanes
        && !access.is_dense()
        && apart(kernel, access).is_some_and(far)
}

/// Whether a statement only loads.
fn is_load(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Assign(a) if matches!(a.value.kind, ExprKind::Load(_)))
}

/// How many loads of a statement have lanes further apart than [`NEAR`].
fn far_loads(kernel: &Kernel, stmt: &Stmt) -> usize {
    let mut count = 0;
    if let Stmt::Assign(a) = stmt {
        each_load(kernel, &a.value, &mut |load, access| {
            let far = apart(kernel, access).is_some_and(|apart| apart > NEAR);
            count += usize::from(far && is_apart(kernel, load, access));
        });
    }
    count
}

/// How many elements lanes lie apart.
pub(super) fn apart(kernel: &Kernel, access: &Access) -> Option<u64> {
    Along::of(kernel, access).map(|along| along.apart.unsigned_abs())
}
