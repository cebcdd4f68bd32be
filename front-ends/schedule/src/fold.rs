//! Sums of sums: `s += a; s += b` becomes `s += a + b`.
//!
//! In: statements of one block, as unrolling makes them. Out: fewer statements with the same
//! effect: addition modulo 2^n is associative, and that of floats where the kernel leaves
//! the order open. Products that one instruction adds up come to
//! stand in one window in this way.

use kernel::tree::{Assign, Expr, ExprKind, Kernel, Op, Stmt, Target};
use kernel::types::Type;

/// Joins accumulations into the same register or elements where nothing in between reads or
/// writes them or changes what the earlier one adds.
pub(super) fn sums(kernel: &Kernel, body: Vec<Stmt>) -> Vec<Stmt> {
    let mut out: Vec<Stmt> = Vec::new();
    for stmt in body {
        let Stmt::Assign(later) = stmt else {
            out.push(stmt);
            continue;
        };
        let Some((at, first)) = earlier(kernel, &out, &later) else {
            out.push(Stmt::Assign(later));
            continue;
        };
        out.remove(at);
        let (ty, span) = (later.value.ty, later.span);
        let ty = Type {
            lanes: ty.lanes.max(first.ty.lanes),
            ..ty
        };
        let kind = ExprKind::Apply(Op::Add, vec![first, later.value]);
        out.push(Stmt::Assign(Assign {
            value: Expr { kind, ty, span },
            ..later
        }));
    }
    out
}

/// The last earlier accumulation into the same target that can be moved down: where it
/// stands and what it adds.
fn earlier(kernel: &Kernel, before: &[Stmt], later: &Assign) -> Option<(usize, Expr)> {
    let float = later.value.ty.elem.format().is_some();
    if !later.accumulate
        || float && !later.reassociate
        || reads(kernel, &later.value, &later.target)
    {
        return None;
    }
    for (at, stmt) in before.iter().enumerate().rev() {
        match stmt {
            Stmt::For(_) => return None,
            Stmt::Let(id) => {
                if reads(kernel, &kernel.locals[*id].value, &later.target) {
                    return None;
                }
            }
            Stmt::Assign(a) if a.target == later.target => {
                let movable = a.accumulate
                    && (!float || a.reassociate)
                    && !reads(kernel, &a.value, &a.target)
                    && unchanged(kernel, &a.value, &before[at + 1..]);
                return movable.then(|| (at, a.value.clone()));
            }
            Stmt::Assign(a) => {
                if overlaps(&a.target, &later.target) || reads(kernel, &a.value, &later.target) {
                    return None;
                }
            }
        }
    }
    None
}

/// Whether none of the statements writes what an expression reads.
fn unchanged(kernel: &Kernel, e: &Expr, stmts: &[Stmt]) -> bool {
    stmts.iter().all(|s| match s {
        Stmt::For(_) => false,
        Stmt::Let(_) => true,
        Stmt::Assign(a) => !reads(kernel, e, &a.target),
    })
}

/// Whether two targets can be the same place.
fn overlaps(a: &Target, b: &Target) -> bool {
    match (a, b) {
        (Target::Register(a), Target::Register(b)) => a == b,
        (Target::Array(a), Target::Array(b)) => a.array == b.array,
        _ => false,
    }
}

/// Whether an expression reads a target, through all names.
fn reads(kernel: &Kernel, e: &Expr, target: &Target) -> bool {
    kernel.reads(e, target, &|_| true)
}
