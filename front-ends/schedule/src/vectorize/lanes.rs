//! What a vectorised loop accumulates, in lanes.
//!
//! In: the accumulations of a loop. Out: a register of partial results for each, its first value
//! before the loop, and behind it the combination of its lanes. Which accumulations there may be,
//! and what is added in each round, is the parent's.

use super::{Lanes, Reduced, each_assign, is_constant, neutral};
use kernel::tree::{Assign, Expr, ExprKind, For, Id, Op, Reduction, Register, Stmt, Target};
use kernel::types::{Elem, Type};
use semantics::span::Span;

impl Lanes<'_> {
    /// Makes the register in which each accumulated value is kept in lanes: as many lanes
    /// as fill a vector as wide as the narrowest one that is added, or all if that is asked.
    pub(super) fn prepare_reductions(&mut self, f: &For, full: bool) {
        for n in 0..self.reductions.len() {
            let r = self.reductions[n].clone();
            let narrow = if full || r.product {
                r.ty.elem.bits()
            } else {
                self.narrowest(f, &r)
            };
            let fewer = self.lanes * narrow / r.ty.elem.bits();
            let divides = fewer > 0 && self.lanes.is_multiple_of(fewer);
            let lanes = if r.reduction == Reduction::Add && divides {
                fewer
            } else {
                self.lanes
            };
            let ty = Type { lanes, ..r.ty };
            let name = crate::access::target_name(self.kernel, &r.target);
            let id = self.kernel.registers.len();
            self.kernel.registers.push(Register {
                name: format!("{name}_lanes"),
                ty,
                parts: r.ty.elem.is_int(),
            });
            self.reductions[n].partial = Some(id);
            self.around_reduction(&r, id, ty, f.span);
        }
    }

    /// The width of the narrowest value that is converted to the sum's type, or its own; truth
    /// values, and choices of two constants, are as wide as what they compare.
    fn narrowest(&self, f: &For, r: &Reduced) -> u32 {
        let mut narrow = r.ty.elem.bits();
        each_assign(&f.body, &mut |a| {
            if a.target != r.target {
                return;
            }
            self.kernel
                .walk(&a.value, &|_| true, &mut |e| match &e.kind {
                    ExprKind::Apply(Op::Select, args) if args[1..].iter().all(is_constant) => {
                        narrow = narrow.min(self.compared(&args[0]));
                        &[]
                    }
                    ExprKind::Apply(Op::Cast, args) if e.ty.elem == r.ty.elem => {
                        match args[0].ty.elem {
                            Elem::Bool => narrow = narrow.min(self.compared(&args[0])),
                            elem => narrow = narrow.min(elem.bits()),
                        }
                        &[]
                    }
                    _ => e.operands(),
                });
        });
        narrow.max(8)
    }

    /// The width of the narrowest numbers that a truth value is made of.
    fn compared(&self, e: &Expr) -> u32 {
        let mut narrow = u32::MAX;
        self.kernel.walk(e, &|_| true, &mut |e| match e.ty.elem {
            Elem::Bool => e.operands(),
            elem => {
                narrow = narrow.min(elem.bits());
                &[]
            }
        });
        narrow
    }

    /// The first value of the lanes, and their combination behind the loop.
    fn around_reduction(&mut self, r: &Reduced, id: Id, ty: Type, span: Span) {
        let elem = ty.elem;
        let (neutral, op) = neutral(r.reduction, elem);
        let neutral = Expr {
            kind: ExprKind::Const(vec![neutral]),
            ty: Type::scalar(elem),
            span,
        };
        self.before.push(set(id, neutral));
        let lanes = self.halved(op, id, ty, span);
        let total = match lanes.ty.lanes {
            1 => lanes,
            left => Expr {
                kind: ExprKind::Reduce(r.reduction, Box::new(lanes), left),
                ty: Type::scalar(elem),
                span,
            },
        };
        let accumulate = r.reduction == Reduction::Add;
        let value = if accumulate {
            total
        } else {
            let kind = match &r.target {
                Target::Register(id) => ExprKind::Register(*id),
                Target::Array(access) => ExprKind::Load(access.clone()),
            };
            let old = Expr {
                kind,
                ty: Type::scalar(elem),
                span,
            };
            Expr {
                kind: ExprKind::Apply(op, vec![old, total]),
                ty: Type::scalar(elem),
                span,
            }
        };
        self.after.push(Stmt::Assign(Assign {
            target: r.target.clone(),
            accumulate,
            reassociate: elem.format().is_some(),
            value,
            span,
        }));
    }

    /// The lanes of a register, of floats combined half with half behind the loop as long as they have
    /// halves: a chain of as many steps as there are lanes would wait for each. Of integers every order
    /// is found anyway.
    fn halved(&mut self, op: Op, id: Id, ty: Type, span: Span) -> Expr {
        let lanes = |id, ty| Expr {
            kind: ExprKind::Register(id),
            ty,
            span,
        };
        if ty.elem.is_int() || !ty.lanes.is_multiple_of(2) {
            return lanes(id, ty);
        }
        let half = Type {
            lanes: ty.lanes / 2,
            ..ty
        };
        let part = |from: u32| Expr {
            kind: ExprKind::Shuffle(vec![lanes(id, ty)], (from..from + half.lanes).collect()),
            ty: half,
            span,
        };
        let value = Expr {
            kind: ExprKind::Apply(op, vec![part(0), part(half.lanes)]),
            ty: half,
            span,
        };
        let register = Register {
            ty: half,
            ..self.kernel.registers[id].clone()
        };
        let next = self.kernel.registers.len();
        self.kernel.registers.push(register);
        self.after.push(set(next, value));
        self.halved(op, next, half, span)
    }
}

/// Gives a register a value.
fn set(id: Id, value: Expr) -> Stmt {
    Stmt::Assign(Assign {
        target: Target::Register(id),
        accumulate: false,
        reassociate: false,
        span: value.span,
        value,
    })
}
