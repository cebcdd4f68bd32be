//! A kernel as the statements that a machine with an array runs one after the other.
//!
//! In: a kernel with the values of its sizes. Out: kernels of one product or one sum of two arrays
//! each, of the same arrays; sums that are cut, zeroed apart or added up in arrays are written as
//! [`super::form`] reads them. It proposes: what the commands of all parts do together is proved to be
//! the kernel as it was written.

use super::form;
use crate::block::Values;
use crate::sum::{self, Sum, fresh};
use kernel::index::{Index, Symbol};
use kernel::tree::{Assign, Expr, ExprKind, For, Kernel, Register, Stmt, Target};
use std::collections::BTreeMap;

/// The parts of a kernel, in order.
pub(crate) fn parts(kernel: &Kernel, sizes: &BTreeMap<Symbol, i64>) -> Vec<Kernel> {
    if is_sum(kernel, sizes) {
        return vec![kernel.clone()];
    }
    let fixed = kernel.at_sizes(sizes);
    let (mut out, mut at) = (Vec::new(), 0);
    while at < fixed.body.len() {
        // A sum together with what it begins with, in loops before it.
        let found = [2, 1].into_iter().find_map(|n| {
            let stmts = fixed.body.get(at..at + n)?;
            Some((n, one(&fixed, sizes, stmts)?))
        });
        let (taken, part) = found.unwrap_or_else(|| (1, alone(&fixed, &fixed.body[at..=at])));
        out.push(part);
        at += taken;
    }
    out
}

fn is_sum(kernel: &Kernel, sizes: &BTreeMap<Symbol, i64>) -> bool {
    let form = form::form(kernel, &Values::new(kernel, sizes));
    form.is_ok_and(|f| f.sum.is_some())
}

pub(crate) fn alone(kernel: &Kernel, stmts: &[Stmt]) -> Kernel {
    Kernel {
        body: stmts.to_vec(),
        ..kernel.clone()
    }
}

/// Statements that are one sum.
pub(crate) fn one(
    kernel: &Kernel,
    sizes: &BTreeMap<Symbol, i64>,
    stmts: &[Stmt],
) -> Option<Kernel> {
    let mut kernel = alone(kernel, stmts);
    if is_sum(&kernel, sizes) {
        return Some(kernel);
    }
    let sum = summed(&mut kernel, stmts)?;
    kernel.body = written(&mut kernel, &sum)?;
    Some(kernel)
}

/// The sum that statements are together.
pub(crate) fn summed(kernel: &mut Kernel, stmts: &[Stmt]) -> Option<Sum> {
    let var = fresh(kernel, "all");
    let together = For::new(
        var,
        (Index::Const(0), Index::Const(1)),
        stmts.to_vec(),
        kernel.span,
    );
    sum::sum(kernel, &together)
}

/// A sum in a register, in its loops.
pub(crate) fn written(kernel: &mut Kernel, sum: &Sum) -> Option<Vec<Stmt>> {
    let (ty, span) = (sum.value.ty, sum.span);
    let own = kernel.registers.len();
    let register = sum.after.as_ref().map_or(own, |a| a.register);
    if register == own {
        kernel.registers.push(Register {
            name: "sum".to_owned(),
            ty,
            parts: false,
        });
    }
    let assign = |target: Target, value: Expr, accumulate: bool| {
        Stmt::Assign(Assign {
            target,
            accumulate,
            reassociate: false,
            value,
            span,
        })
    };
    let of = |kind: ExprKind| Expr { kind, ty, span };
    let begin = match (&sum.begin, sum.from_zero) {
        (None, true) => of(ExprKind::Const(vec![0])),
        (None, false) => of(ExprKind::Load(sum.target.clone())),
        (Some(begin), _) => {
            let inside = |d: &sum::Dim| d.count == 1 || sum.across.contains(d);
            if !begin.dims.iter().all(inside) || begin.statement.accumulate {
                return None;
            }
            begin.statement.value.clone()
        }
    };
    let last = match &sum.after {
        Some(after) => Stmt::Assign(after.statement.clone()),
        None => {
            let target = Target::Array(sum.target.clone());
            assign(target, of(ExprKind::Register(register)), false)
        }
    };
    let place = Target::Register(register);
    let added = assign(place.clone(), sum.value.clone(), true);
    let mut body = vec![assign(place, begin, false)];
    body.extend(around(&sum.along, vec![added], sum));
    body.push(last);
    Some(around(&sum.across, body, sum))
}

/// Statements in loops, the outermost first.
fn around(dims: &[sum::Dim], body: Vec<Stmt>, sum: &Sum) -> Vec<Stmt> {
    dims.iter().rev().fold(body, |body, dim| {
        vec![Stmt::For(For::new(
            dim.var,
            (Index::Const(0), Index::Const(dim.count)),
            body,
            sum.span,
        ))]
    })
}
