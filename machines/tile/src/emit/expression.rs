//! Values of statements in scalar registers.
//!
//! In: expressions on integers that registers hold, and indices. Out: instructions that compute
//! them. A value of fewer bits lies in its register extended as its type says.

use super::exact::{Shift, is_turned};
use super::{Emit, Reg};
use crate::error::{Detail, MappingError};
use crate::host::{Binary, Branch};
use kernel::index::Index;
use kernel::lia::Facts;
use kernel::show::written;
use kernel::tree::{Access, Expr, ExprKind, Kernel, Op};
use kernel::types::Elem;
use semantics::span::Span;

/// The host cannot do it.
pub(super) fn no_such(span: Span, what: &str) -> MappingError {
    let message = format!("no instruction of the host {what}");
    let hint = "scalar code has the operations on integers of up to 32 bits, and most on those that fill a \
                register";
    MappingError::new(span, message, hint).saying(Detail::Lacking)
}

/// The host does not compute with such elements.
pub(super) fn no_such_of(span: Span, what: &str, elem: Elem) -> MappingError {
    let error = no_such(span, &format!("{what} {elem}"));
    let hint = if elem.format().is_some() {
        "it computes with integers of up to 32 bits: scale a sum by a shift, as in \
         `i8_sat(rounding_shr(sum, 7))`; floats are multiplied and added by tiles alone"
    } else if elem.bits() > 32 {
        "take results of 32 bits: `i32(a) * i32(b)`, whose sums wrap, or `mul_shr(a, b, s)` and \
         `rounding_mul_shr(a, b, s)`, whose products do not"
    } else {
        return error;
    };
    let hint = hint.to_owned();
    MappingError { hint, ..error }
}

/// A function is handed arrays.
fn scalar(span: Span) -> MappingError {
    let message = "functions for this machine are handed arrays, and this is a scalar parameter";
    let hint = "hand it over as an array of one element: `x: in i32[1]`, and `x[0]` here";
    MappingError::new(span, message, hint)
}

/// What holds when a comparison of indices does, or does not.
pub(super) fn assume(kernel: &Kernel, (condition, holds): (&Expr, bool), facts: &mut Facts) {
    let ExprKind::Apply(op, args) = &condition.kind else {
        return;
    };
    let [a, b] = &args[..] else { return };
    let index = |e: &Expr| match &e.kind {
        ExprKind::Index(i) => Some(i.clone()),
        ExprKind::Const(v) => i64::try_from(v[0]).ok().map(Index::Const),
        ExprKind::Local(id) if !kernel.locals[*id].stated => match &kernel.locals[*id].value.kind {
            ExprKind::Index(i) => Some(i.clone()),
            _ => None,
        },
        _ => None,
    };
    let (Some(x), Some(y)) = (index(a), index(b)) else {
        return;
    };
    // Only where neither wraps do the indices compare as their values do.
    let fits = |i: &Index, elem: Elem| {
        let bound = |v: i128| i64::try_from(v).map(Index::Const);
        bound(elem.min()).is_ok_and(|l| facts.proves_at_most(&l, i))
            && bound(elem.max()).is_ok_and(|m| facts.proves_at_most(i, &m))
    };
    if !fits(&x, a.ty.elem) || !fits(&y, b.ty.elem) {
        return;
    }
    match (op, holds) {
        (Op::Lt, true) => facts.add_at_most(&x.offset(1), &y),
        (Op::Lt, false) => facts.add_at_most(&y, &x),
        (Op::Le, true) => facts.add_at_most(&x, &y),
        (Op::Le, false) => facts.add_at_most(&y.offset(1), &x),
        _ => {}
    }
}

/// By how many bits a value is shifted, where that is a number.
fn shift_by(value: &Expr, by: &Expr) -> Option<i64> {
    let ExprKind::Const(by) = &by.kind else {
        return None;
    };
    let elem = value.ty.elem;
    let within = elem.is_int() && by[0] >= 0 && by[0] < i128::from(elem.bits());
    within.then(|| i64::try_from(by[0]).ok())?
}

/// How many registers a value takes, where each part with more is computed first.
fn needed(e: &Expr) -> usize {
    match (&e.kind, e.operands()) {
        (ExprKind::Apply(..), parts) => {
            let mut all: Vec<usize> = parts.iter().map(needed).collect();
            all.sort_unstable_by_key(|n| std::cmp::Reverse(*n));
            let held = all.iter().enumerate().map(|(k, n)| n + k);
            held.max().unwrap_or(1)
        }
        _ => 1,
    }
}

/// The most instructions of the host: names stand for values that are computed at each use.
const MAX_CODE: usize = 1 << 16;

impl Emit<'_> {
    /// The address of an element: a register, a constant, whether the register is given back.
    pub(super) fn address_of(&mut self, access: &Access) -> Result<(Reg, i64, bool), MappingError> {
        if access.lanes != 1 || access.clamped {
            return Err(no_such(access.span, "has lanes"));
        }
        if let Some(linear) = self.linear(access, &self.facts) {
            return self.address(access.array, &linear, access.span);
        }
        // No sum of loop variables: dimension by dimension.
        let span = access.span;
        let register = self.take(span)?;
        self.constant_into(register, 0);
        let dims = self.kernel.arrays[access.array].memory_dims();
        for (index, dim) in access.index.iter().zip(&dims) {
            let dim = crate::nest::sized(self.kernel, self.sizes, dim);
            self.times_into(register, register, dim.constant_value().unwrap_or(1), span)?;
            let part = self.take(span)?;
            let index = self.facts.without_clamps(index);
            self.index_into(part, &index, span)?;
            self.binary(Binary::Add, [register, register, part], span)?;
            self.give(part);
        }
        let bytes = i64::from(self.kernel.arrays[access.array].elem.bits() / 8);
        self.times_into(register, register, bytes, span)?;
        let base = self.bases[&access.array];
        self.binary(Binary::Add, [register, register, base], span)?;
        Ok((register, 0, true))
    }

    /// A register gets the value of an index.
    pub(super) fn index_into(
        &mut self,
        target: Reg,
        index: &Index,
        span: Span,
    ) -> Result<(), MappingError> {
        let index = crate::nest::sized(self.kernel, self.sizes, index);
        if let Some(value) = index.constant_value() {
            self.constant_into(target, value);
            return Ok(());
        }
        if let Some(linear) = index.linear() {
            let terms: Vec<_> = linear.terms.iter().map(|(s, c)| (*s, *c)).collect();
            let zero = self.host.zero;
            return self.sum_into(target, zero, &terms, linear.constant, span);
        }
        let (a, b) = match &index {
            Index::Min(a, b) | Index::Max(a, b) | Index::Add(a, b) | Index::Mul(a, b) => (a, b),
            _ => return Err(no_such(span, "divides indices")),
        };
        let other = self.take(span)?;
        self.index_into(target, a, span)?;
        self.index_into(other, b, span)?;
        match &index {
            Index::Add(..) => self.binary(Binary::Add, [target, target, other], span)?,
            Index::Mul(..) => self.binary(Binary::Mul, [target, target, other], span)?,
            _ => {
                let pair = match &index {
                    Index::Min(..) => (target, other),
                    _ => (other, target),
                };
                let done = self.label();
                self.branch(Branch::Less, pair, done, span)?;
                self.add_into(target, other, 0, span)?;
                self.here(done);
            }
        }
        self.give(other);
        Ok(())
    }

    pub(super) fn load_into(
        &mut self,
        target: Reg,
        elem: Elem,
        base: Reg,
        constant: i64,
        span: Span,
    ) -> Result<(), MappingError> {
        let host = self.host;
        let bytes = elem.bits() / 8;
        if elem.bits() > host.width {
            return Err(no_such_of(span, "loads", elem));
        }
        let exact = host.load(bytes, elem.is_signed() || bytes >= 4);
        let Some(load) = exact.or_else(|| host.load(bytes, true)) else {
            return Err(no_such_of(span, "loads", elem));
        };
        self.put(load, &[target, base, constant]);
        match exact.is_some() || elem.format().is_some() {
            true => Ok(()),
            false => self.wrap(target, elem, span),
        }
    }

    /// Extends a value as its type says.
    pub(super) fn wrap(
        &mut self,
        register: Reg,
        elem: Elem,
        span: Span,
    ) -> Result<(), MappingError> {
        let bits = elem.bits();
        let host = self.host;
        if bits >= host.width || elem == Elem::Bool {
            return Ok(());
        }
        // Of 32 bits in a wider register the sign is copied, whatever the type.
        if elem.is_signed() || bits == 32 {
            let by = i64::from(host.width - bits);
            self.shifted_left(register, (register, by), span)?;
            return self.shifted(register, (by, Shift::Signed), span);
        }
        self.masked(register, bits, span)
    }

    /// Of a register only so many bits are left.
    pub(super) fn masked(
        &mut self,
        register: Reg,
        bits: u32,
        span: Span,
    ) -> Result<(), MappingError> {
        match bits < self.host.width {
            true => self.and_constant(register, (1 << bits) - 1, span),
            false => Ok(()),
        }
    }

    /// Of a register only the bits of a constant are left.
    pub(super) fn and_constant(
        &mut self,
        register: Reg,
        bits: i64,
        span: Span,
    ) -> Result<(), MappingError> {
        let mask = self.take(span)?;
        self.constant_into(mask, bits);
        self.binary(Binary::And, [register, register, mask], span)?;
        self.give(mask);
        Ok(())
    }

    /// A register gets what another one holds, shifted to the left by a number.
    pub(super) fn shifted_left(
        &mut self,
        target: Reg,
        (from, by): (Reg, i64),
        span: Span,
    ) -> Result<(), MappingError> {
        if by == 0 {
            return self.add_into(target, from, 0, span);
        }
        let host = self.host;
        let shift = host.shift_left.as_ref();
        let shift = shift.ok_or_else(|| no_such(span, "shifts"))?;
        self.put(shift, &[target, from, by]);
        Ok(())
    }

    /// A register gets the value of an expression.
    pub(super) fn value_into(&mut self, target: Reg, e: &Expr) -> Result<(), MappingError> {
        let (kernel, span) = (self.kernel, e.span);
        // Floats are bits that are moved; nothing computes with them.
        let moved = matches!(
            e.kind,
            ExprKind::Const(_)
                | ExprKind::Load(_)
                | ExprKind::Local(_)
                | ExprKind::Apply(Op::Select, _)
        );
        let float = e.ty.elem.format().is_some() && !moved;
        if e.ty.lanes != 1 || float || e.ty.elem.bits() > self.host.width {
            return Err(no_such_of(span, "computes", e.ty.elem));
        }
        if self.code.len() > MAX_CODE {
            let what = format!("runs more than {MAX_CODE} instructions for a block");
            return Err(no_such(span, &what));
        }
        match &e.kind {
            ExprKind::Const(values) => {
                // The highest of 32 bits is copied upwards, whatever the type.
                let value = values[0] as i64;
                self.constant_into(
                    target,
                    match e.ty.elem.bits() > 32 {
                        true => value,
                        false => i64::from(value as i32),
                    },
                );
                Ok(())
            }
            ExprKind::Register(id) => match self.registers.get(id).copied() {
                Some(register) => self.add_into(target, register, 0, span),
                None => Err(no_such(span, "knows this variable: it is not set here")),
            },
            ExprKind::Local(id) => match self.locals.get(id).copied() {
                Some(register) => self.add_into(target, register, 0, span),
                None => self.value_into(target, &kernel.locals[*id].value),
            },
            ExprKind::Load(access) => {
                let (base, constant, own) = self.address_of(access)?;
                self.load_into(target, e.ty.elem, base, constant, span)?;
                if own {
                    self.give(base);
                }
                Ok(())
            }
            ExprKind::Index(index) => {
                self.index_into(target, index, span)?;
                self.wrap(target, e.ty.elem, span)
            }
            ExprKind::Apply(op, args) => self.apply_into(target, *op, args, e),
            ExprKind::Scalar(_) => Err(scalar(span)),
            ExprKind::Reduce(..) | ExprKind::Shuffle(..) => Err(no_such(span, "has lanes")),
        }
    }

    fn apply_into(
        &mut self,
        target: Reg,
        op: Op,
        args: &[Expr],
        e: &Expr,
    ) -> Result<(), MappingError> {
        let span = e.span;
        let simple = match op {
            Op::Add => Some(Binary::Add),
            Op::Sub => Some(Binary::Sub),
            Op::Mul => Some(Binary::Mul),
            Op::And => Some(Binary::And),
            Op::Or => Some(Binary::Or),
            Op::Xor => Some(Binary::Xor),
            _ => None,
        };
        match op {
            Op::Select => return self.select_into(target, args),
            Op::Cast => {
                self.value_into(target, &args[0])?;
                let from = args[0].ty.elem;
                if from.bits() < e.ty.elem.bits() {
                    self.zeros_above(target, from, span)?;
                }
                return self.wrap(target, e.ty.elem, span);
            }
            Op::Neg => {
                self.value_into(target, &args[0])?;
                let zero = self.host.zero;
                self.binary(Binary::Sub, [target, zero, target], span)?;
                return self.wrap(target, e.ty.elem, span);
            }
            Op::SatCast if args[0].ty.elem.is_int() && !is_turned(args[0].ty.elem) => {
                self.value_into(target, &args[0])?;
                self.clamp(target, (args[0].ty.elem, e.ty.elem), span)?;
                return match is_turned(e.ty.elem) {
                    true => self.wrap(target, e.ty.elem, span),
                    false => Ok(()),
                };
            }
            Op::Shl | Op::Shr => {
                if let Some(by) = shift_by(&args[0], &args[1]) {
                    self.value_into(target, &args[0])?;
                    if op == Op::Shr {
                        let kind = Shift::of(args[0].ty.elem);
                        self.shifted(target, (by, kind), span)?;
                    } else {
                        self.shifted_left(target, (target, by), span)?;
                    }
                    return self.wrap(target, e.ty.elem, span);
                }
                return self.shifted_by(target, op, args, span);
            }
            Op::RoundShr if !matches!(args[1].kind, ExprKind::Const(_)) => {
                return self.shifted_by(target, op, args, span);
            }
            Op::Div | Op::Rem if e.ty.elem.is_int() => {
                return self.divided(target, op, args, span);
            }
            Op::Clz | Op::Popcount => return self.count_into(target, op, &args[0], span),
            Op::Lt | Op::Le | Op::Min | Op::Max if args[0].ty.elem.is_int() => {
                return self.ordered(target, op, args);
            }
            Op::Not => {
                let all = if e.ty.elem == Elem::Bool { 1 } else { -1 };
                let other = self.take(span)?;
                self.value_into(target, &args[0])?;
                self.constant_into(other, all);
                self.binary(Binary::Xor, [target, target, other], span)?;
                self.give(other);
                return self.wrap(target, e.ty.elem, span);
            }
            _ => {}
        }
        if self.exact(target, op, args, e)?.is_some() {
            return Ok(());
        }
        if matches!(op, Op::Eq | Op::Ne) && args[0].ty.elem.is_int() {
            let done = self.label();
            let no = self.label();
            self.unless(e, no)?;
            self.constant_into(target, 1);
            let zero = self.host.zero;
            self.branch(Branch::Equal, (zero, zero), done, span)?;
            self.here(no);
            self.constant_into(target, 0);
            self.here(done);
            return Ok(());
        }
        let Some(simple) = simple else {
            let float = args.iter().find(|a| a.ty.elem.format().is_some());
            let of = float.map_or(e.ty, |a| a.ty);
            let what = format!("computes `{}` of", written(op, e.ty.elem));
            return Err(no_such_of(span, &what, of.elem));
        };
        let [left, right] = self.both(target, args, span)?;
        self.binary(simple, [target, left, right], span)?;
        self.give(if left == target { right } else { left });
        self.wrap(target, e.ty.elem, span)
    }

    /// Two values, one of them in the target and the other one in a register that is taken. What takes more
    /// registers is first, so that long sums take few.
    pub(super) fn both(
        &mut self,
        target: Reg,
        args: &[Expr],
        span: Span,
    ) -> Result<[Reg; 2], MappingError> {
        let first = usize::from(needed(&args[1]) > needed(&args[0]));
        self.value_into(target, &args[first])?;
        let other = self.take(span)?;
        self.value_into(other, &args[1 - first])?;
        Ok(match first {
            0 => [target, other],
            _ => [other, target],
        })
    }

    /// A comparison by size, the lesser or the greater of two.
    fn ordered(&mut self, target: Reg, op: Op, args: &[Expr]) -> Result<(), MappingError> {
        let span = args[0].span;
        self.value_into(target, &args[0])?;
        let other = self.take(span)?;
        self.value_into(other, &args[1])?;
        let turned = is_turned(args[0].ty.elem);
        let bits = args[0].ty.elem.bits();
        if turned {
            self.turned(target, bits, span)?;
            self.turned(other, bits, span)?;
        }
        match op {
            Op::Lt => self.binary(Binary::Less, [target, target, other], span)?,
            Op::Le => {
                self.binary(Binary::Less, [target, other, target], span)?;
                self.constant_into(other, 1);
                self.binary(Binary::Xor, [target, target, other], span)?;
            }
            _ => self.extreme(target, other, op == Op::Min, span)?,
        }
        self.give(other);
        match turned && matches!(op, Op::Min | Op::Max) {
            true => self.turned(target, bits, span),
            false => Ok(()),
        }
    }

    /// The lesser of two values with a sign, or the greater.
    pub(super) fn extreme(
        &mut self,
        target: Reg,
        other: Reg,
        lesser: bool,
        span: Span,
    ) -> Result<(), MappingError> {
        let pair = match lesser {
            true => (target, other),
            false => (other, target),
        };
        let done = self.label();
        self.branch(Branch::Less, pair, done, span)?;
        self.add_into(target, other, 0, span)?;
        self.here(done);
        Ok(())
    }

    /// A value in the range of a type.
    fn clamp(
        &mut self,
        target: Reg,
        (from, to): (Elem, Elem),
        span: Span,
    ) -> Result<(), MappingError> {
        let bounds = [
            (to.min(), from.min() < to.min(), false),
            (to.max(), from.max() > to.max(), true),
        ];
        for (bound, _, above) in bounds.into_iter().filter(|b| b.1) {
            let Ok(bound) = i64::try_from(bound) else {
                continue;
            };
            let other = self.take(span)?;
            self.constant_into(other, bound);
            self.extreme(target, other, above, span)?;
            self.give(other);
        }
        Ok(())
    }

    /// One of two values, behind a branch.
    fn select_into(&mut self, target: Reg, args: &[Expr]) -> Result<(), MappingError> {
        let span = args[0].span;
        let (no, done) = (self.label(), self.label());
        let before = self.facts.clone();
        self.unless(&args[0], no)?;
        assume(self.kernel, (&args[0], true), &mut self.facts);
        self.value_into(target, &args[1])?;
        self.facts.clone_from(&before);
        let zero = self.host.zero;
        self.branch(Branch::Equal, (zero, zero), done, span)?;
        self.here(no);
        assume(self.kernel, (&args[0], false), &mut self.facts);
        self.value_into(target, &args[2])?;
        self.facts = before;
        self.here(done);
        Ok(())
    }

    /// Goes to a label unless a condition holds.
    fn unless(&mut self, condition: &Expr, label: usize) -> Result<(), MappingError> {
        let span = condition.span;
        if let ExprKind::Apply(op, args) = &condition.kind
            && let [a, b] = &args[..]
            && a.ty.elem.is_int()
            && let Some(when) = match op {
                Op::Lt if !is_turned(a.ty.elem) => Some((Branch::NotLess, false)),
                Op::Le if !is_turned(a.ty.elem) => Some((Branch::Less, true)),
                Op::Eq => Some((Branch::Different, false)),
                Op::Ne => Some((Branch::Equal, false)),
                _ => None,
            }
        {
            let (x, y) = (self.take(span)?, self.take(span)?);
            self.value_into(x, a)?;
            self.value_into(y, b)?;
            let pair = if when.1 { (y, x) } else { (x, y) };
            self.branch(when.0, pair, label, span)?;
            self.give(y);
            self.give(x);
            return Ok(());
        }
        match &condition.kind {
            ExprKind::Apply(Op::And, args) => args.iter().try_for_each(|a| self.unless(a, label)),
            ExprKind::Local(id) if !self.kernel.locals[*id].stated => {
                let kernel = self.kernel;
                self.unless(&kernel.locals[*id].value, label)
            }
            ExprKind::Const(v) => {
                if v[0] == 0 {
                    let zero = self.host.zero;
                    self.branch(Branch::Equal, (zero, zero), label, span)?;
                }
                Ok(())
            }
            _ => {
                let register = self.take(span)?;
                self.value_into(register, condition)?;
                let zero = self.host.zero;
                self.branch(Branch::Equal, (register, zero), label, span)?;
                self.give(register);
                Ok(())
            }
        }
    }
}
