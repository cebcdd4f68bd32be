//! Sums over lanes that a loop accumulates, kept in lanes until the loop is over.
//!
//! In: a kernel that Halide has scheduled. Out: the same kernel, in which a loop that reduces
//! adjacent lanes in every iteration, `s = reduce_add(v) + s`, accumulates a whole vector
//! instead and reduces it once, behind the loop. The order of sums of integers, of minima and
//! maxima does not matter. Halide leaves the order open in which lanes of floats are added up
//! (`atomic` asks for that): they are kept in lanes as well, and lanes are added by halves.

use super::value::{constant, expr};
use kernel::tree::{
    Assign, Expr, ExprKind, For, Id, Kernel, Local, Op, Reduction, Register, Stmt, Target,
};
use kernel::types::Type;
use kernel::visit::for_each_assign_mut;

/// Changes the loops of a kernel; sums are kept in vectors of up to so many bits.
pub(super) fn accumulate(kernel: &mut Kernel, width: u32) {
    let body = std::mem::take(&mut kernel.body);
    kernel.body = with_loops(kernel, body, &|kernel, nest| nest_of(kernel, nest, width));
}

/// Statements with other ones in place of their loops; what is inside of a loop is left to who
/// changes it.
pub(super) fn with_loops(
    kernel: &mut Kernel,
    body: Vec<Stmt>,
    change: &dyn Fn(&mut Kernel, For) -> Vec<Stmt>,
) -> Vec<Stmt> {
    let mut out = Vec::new();
    for stmt in body {
        match stmt {
            Stmt::For(nest) => out.extend(change(kernel, nest)),
            other => out.push(other),
        }
    }
    out
}

/// A loop with what has to stand before and behind it.
fn nest_of(kernel: &mut Kernel, mut nest: For, width: u32) -> Vec<Stmt> {
    let inner = |kernel: &mut Kernel, nest| nest_of(kernel, nest, width);
    nest.body = with_loops(kernel, nest.body, &inner);
    if nest.at.is_some() {
        return vec![Stmt::For(nest)];
    }
    let (mut before, mut behind) = (Vec::new(), Vec::new());
    for at in 0..nest.body.len() {
        let Stmt::Assign(a) = &nest.body[at] else {
            continue;
        };
        let Some((register, reduction, vector, n)) = reduced(kernel, a) else {
            continue;
        };
        let others = nest.body.iter().enumerate().filter(|(k, _)| *k != at);
        if others
            .into_iter()
            .any(|(_, s)| touches(kernel, s, register))
            || mentions(kernel, &vector, register)
        {
            continue;
        }
        let Some(change) = Change::of(kernel, (register, width), reduction, vector, n) else {
            continue;
        };
        before.push(change.first(a));
        behind.push(change.last(a));
        nest.body[at] = Stmt::Assign(change.each(a));
    }
    before.push(Stmt::For(nest));
    before.extend(behind);
    before
}

/// The parts of `s = reduce(vector, n) + s`, where `s` is a register.
fn reduced(kernel: &Kernel, a: &Assign) -> Option<(Id, Reduction, Expr, u32)> {
    let Target::Register(register) = a.target else {
        return None;
    };
    let ExprKind::Apply(op, args) = &a.value.kind else {
        return None;
    };
    let is_register = |e: &Expr| matches!(e.kind, ExprKind::Register(r) if r == register);
    let other = match &args[..] {
        [s, e] if is_register(s) => e,
        [e, s] if is_register(s) => e,
        _ => return None,
    };
    let ExprKind::Reduce(reduction, vector, n) = &other.kind else {
        return None;
    };
    let same = matches!(
        (op, reduction),
        (Op::Add, Reduction::Add) | (Op::Min, Reduction::Min) | (Op::Max, Reduction::Max)
    );
    let whole = vector.ty.lanes == kernel.registers[register].ty.lanes * n;
    (same && whole).then(|| (register, *reduction, (**vector).clone(), *n))
}

/// How one accumulation is done otherwise.
struct Change {
    register: Id,
    lanes: Id,
    reduction: Reduction,
    op: Op,
    vector: Expr,
    /// Adjacent lanes that each iteration reduces, and those that are left for the end.
    inner: u32,
    outer: u32,
}

impl Change {
    fn of(
        kernel: &mut Kernel,
        (register, width): (Id, u32),
        reduction: Reduction,
        vector: Expr,
        n: u32,
    ) -> Option<Change> {
        let ty = kernel.registers[register].ty;
        let fits = |k: u32| n.is_multiple_of(k) && ty.width() * k <= width.max(ty.width());
        let outer = (1..=n).rev().find(|&k| fits(k)).filter(|&k| k > 1)?;
        let lanes = kernel.registers.len();
        let op = match reduction {
            Reduction::Add => Op::Add,
            Reduction::Min => Op::Min,
            Reduction::Max => Op::Max,
        };
        kernel.registers.push(Register {
            name: format!("{}_lanes", kernel.registers[register].name),
            ty: Type {
                elem: ty.elem,
                lanes: ty.lanes * outer,
            },
            parts: ty.lanes == 1 && ty.elem.is_int(),
        });
        Some(Change {
            register,
            lanes,
            reduction,
            op,
            vector,
            inner: n / outer,
            outer,
        })
    }

    fn ty(&self, like: &Assign) -> Type {
        Type {
            elem: like.value.ty.elem,
            lanes: self.vector.ty.lanes / self.inner,
        }
    }

    fn assign(like: &Assign, target: Id, value: Expr) -> Assign {
        Assign {
            target: Target::Register(target),
            value,
            ..like.clone()
        }
    }

    /// Before the loop: what changes nothing.
    fn first(&self, like: &Assign) -> Stmt {
        let elem = like.value.ty.elem;
        let neutral = match self.reduction {
            Reduction::Add => elem.zero_of_sums(),
            Reduction::Min => elem.extremes().1,
            Reduction::Max => elem.extremes().0,
        };
        let value = constant(Type::scalar(elem), neutral, like.span);
        Stmt::Assign(Change::assign(like, self.lanes, value))
    }

    /// In the loop: the lanes.
    fn each(&self, like: &Assign) -> Assign {
        let (ty, span) = (self.ty(like), like.span);
        let new = match self.inner {
            1 => self.vector.clone(),
            n => {
                let vector = Box::new(self.vector.clone());
                expr(ExprKind::Reduce(self.reduction, vector, n), ty, span)
            }
        };
        let old = expr(ExprKind::Register(self.lanes), ty, span);
        let sum = expr(ExprKind::Apply(self.op, vec![new, old]), ty, span);
        Change::assign(like, self.lanes, sum)
    }

    /// Behind the loop: the lanes as one.
    fn last(&self, like: &Assign) -> Stmt {
        let (ty, span) = (like.value.ty, like.span);
        let lanes = Box::new(expr(ExprKind::Register(self.lanes), self.ty(like), span));
        let new = expr(
            ExprKind::Reduce(self.reduction, lanes, self.outer),
            ty,
            span,
        );
        let old = expr(ExprKind::Register(self.register), ty, span);
        let sum = expr(ExprKind::Apply(self.op, vec![new, old]), ty, span);
        Stmt::Assign(Change::assign(like, self.register, sum))
    }
}

/// Sums of lanes of floats by halves: the upper half of the lanes that become one is added to the
/// lower, until one is left. Numbers of lanes that are no power of two are added one by one.
pub(super) fn trees(kernel: &mut Kernel) {
    let mut locals = Vec::new();
    let next = kernel.locals.len();
    let mut tree = |e: &mut Expr| {
        let ExprKind::Reduce(Reduction::Add, arg, n) = &e.kind else {
            return;
        };
        if e.ty.elem.is_int() || !n.is_power_of_two() {
            return;
        }
        let (mut sum, mut n) = ((**arg).clone(), *n);
        while n > 1 {
            let (ty, half) = (sum.ty, n / 2);
            locals.push(Local {
                name: "lanes".to_owned(),
                value: sum,
                stated: false,
            });
            let name = next + locals.len() - 1;
            let ends = Type {
                lanes: ty.lanes / 2,
                ..ty
            };
            let part = |from: u32| {
                let whole = expr(ExprKind::Local(name), ty, e.span);
                let order = (0..ends.lanes).map(|l| l / half * n + l % half + from);
                expr(
                    ExprKind::Shuffle(vec![whole], order.collect()),
                    ends,
                    e.span,
                )
            };
            let (low, high) = (part(0), part(half));
            sum = expr(ExprKind::Apply(Op::Add, vec![low, high]), ends, e.span);
            n = half;
        }
        *e = sum;
    };
    for_each_assign_mut(&mut kernel.body, &mut |a| a.value.for_each_mut(&mut tree));
    for local in &mut kernel.locals {
        local.value.for_each_mut(&mut tree);
    }
    kernel.locals.append(&mut locals);
}

/// Whether a statement reads or writes a register.
fn touches(kernel: &Kernel, stmt: &Stmt, register: Id) -> bool {
    match stmt {
        Stmt::For(nest) => nest.body.iter().any(|s| touches(kernel, s, register)),
        Stmt::Let(id) => mentions(kernel, &kernel.locals[*id].value, register),
        Stmt::Assign(a) => {
            a.target == Target::Register(register) || mentions(kernel, &a.value, register)
        }
    }
}

fn mentions(kernel: &Kernel, e: &Expr, register: Id) -> bool {
    kernel.reads(e, &Target::Register(register), &|_| true)
}
