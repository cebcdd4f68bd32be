//! Calls in a statement text.
//!
//! In: a name, the type that the text states, operands. Out: their [`Value`], or a refusal. What
//! needs more than its operands is done here: vectors, values with names, functions that Halide's
//! run time has. The others are rows of [`operation`].

use super::import::{Importer, Made};
use super::narrow::{in_fewer_bits, rounded};
use super::operation;
use super::syntax::{self, Stated};
use super::value::{I32, Number, Value, apply, cast, expr};
use kernel::index::Index;
use kernel::tree::{Assign, Expr, ExprKind, Id, Local, Op, Register, Stmt, Target};
use kernel::types::{Elem, Type};
use semantics::float::Format;
use semantics::span::Span;

impl Importer<'_> {
    /// A call, of which the type is stated before it, or that of 32-bit integers is meant.
    pub(super) fn called(
        &mut self,
        name: &str,
        stated: Option<Type>,
        args: &[syntax::Expr],
        span: Span,
    ) -> Made<Value> {
        let lanes = name.strip_prefix('x').and_then(|n| n.parse::<u32>().ok());
        if let (Some(lanes), [arg]) = (lanes, args) {
            let value = self.value(arg)?;
            let have = match &value {
                Value::Index(n) => n.ty.lanes,
                Value::Data(e) => e.ty.lanes,
                Value::Opaque => 1,
            };
            self.lanes(Some(lanes), have, span)?;
            return Ok(operation::broadcast(&value, lanes, self.span));
        }
        if let Some(Stated::Value(to)) = syntax::stated(name).filter(|_| args.len() == 1) {
            let value = self.value(&args[0])?;
            let have = match &value {
                Value::Index(n) => n.ty.lanes,
                Value::Data(e) => e.ty.lanes,
                Value::Opaque => to.lanes,
            };
            if have != to.lanes {
                let message = format!("{have} lanes are converted to {}", to.lanes);
                let hint = "the text is damaged: let Halide write it again";
                return self.refuse(span, message, hint);
            }
            let value = self.narrowed(value, to.elem);
            return Ok(operation::convert(&value, to.elem, self.span));
        }
        // The function is not called for bounds: they are asked of Halide.
        if name == "_halide_buffer_is_bounds_query" {
            return Ok(Value::number(Index::Const(0), Elem::Bool));
        }
        if name == "prefetch" || name.starts_with("_halide_buffer_") {
            return Ok(Value::Opaque);
        }
        let mut values = Vec::new();
        for arg in args {
            values.push(self.value(arg)?);
        }
        match (name, &values[..]) {
            (
                "ramp",
                [
                    Value::Index(base),
                    Value::Index(stride),
                    Value::Index(lanes),
                ],
            ) => {
                let lanes = self.lanes(count(lanes), base.ty.lanes, span)?;
                Ok(Value::Index(operation::ramp(base, stride, lanes)))
            }
            ("ramp", [Value::Data(base), Value::Index(stride), Value::Index(lanes)])
                if base.ty == Type::scalar(I32) && stride.ty.lanes == 1 =>
            {
                let lanes = self.lanes(count(lanes), 1, span)?;
                let first = Index::Sym(self.picked(base.clone()));
                let first = Number::scalar(&first, I32);
                Ok(Value::Index(operation::ramp(&first, stride, lanes)))
            }
            ("ramp", [base, stride, Value::Index(lanes)]) => {
                let lanes = self.lanes(count(lanes), 1, span)?;
                let steps = Value::Index(operation::ramp(
                    &Number::scalar(&Index::Const(0), I32),
                    &Number::scalar(&Index::Const(1), I32),
                    lanes,
                ));
                self.data_ramp(base, stride, &steps, span)
            }
            (
                "concat_vectors" | "interleave_vectors" | "slice_vectors" | "extract_element"
                | "shuffle",
                _,
            ) => self.shuffled(name, &values, span),
            (
                "vector_reduce_mul"
                | "vector_reduce_and"
                | "vector_reduce_or"
                | "vector_reduce_saturating_add",
                [value],
            ) => self.reduced(name, stated, value, span),
            ("lerp", [_, _, _]) => self.lerp(stated, &values, span),
            ("saturating_cast", [Value::Data(e)]) if Self::float_to_few(e, stated).is_some() => {
                let to = stated.map_or(I32, |ty| ty.elem);
                let inside = self.bounded(e, to);
                Ok(self.narrowed(Value::Data(inside), to))
            }
            ("saturating_cast", [Value::Data(e)])
                if let Some(fewer) =
                    stated.and_then(|to| in_fewer_bits(&self.kernel, e, to.elem)) =>
            {
                operation::call(name, stated, &[Value::Data(fewer)], self.span)
                    .or_else(|r| self.refused(span, r))
            }
            ("rounding_shift_right", [Value::Data(value), by])
                if let Some(rounded) = self.rounded(stated, value, by) =>
            {
                Ok(Value::Data(rounded))
            }
            ("rounding_shift_right", [Value::Data(sum), by]) if is_wide_sum(sum) => {
                let sum = Value::Data(self.in_register("sum", sum.clone()));
                operation::call(name, stated, &[sum, by.clone()], self.span)
                    .or_else(|r| self.refused(span, r))
            }
            ("mux", [which, several @ .., last]) => self.mux(which, several, last, span),
            _ if super::derived::library(name).is_some() => self.of_library(name, &values, span),
            _ => {
                operation::call(name, stated, &values, self.span).or_else(|r| self.refused(span, r))
            }
        }
    }

    /// A number of lanes, of as many each, when it is possible.
    fn lanes(&self, lanes: Option<u32>, each: u32, span: Span) -> Made<u32> {
        let fits = |l: &u32| (1..=kernel::types::MAX_LANES).contains(&l.saturating_mul(each));
        match lanes.filter(fits) {
            Some(lanes) => Ok(lanes),
            None => self.refuse(span, "too many lanes", "vectorise by less"),
        }
    }

    /// A ramp from a number that is data.
    fn data_ramp(&self, base: &Value, stride: &Value, steps: &Value, span: Span) -> Made<Value> {
        let elem = match base {
            Value::Data(e) => e.ty.elem,
            _ => I32,
        };
        let steps = operation::convert(steps, elem, self.span);
        let scaled = operation::binary("*", stride, &steps, self.span);
        let sum = scaled.and_then(|s| operation::binary("+", base, &s, self.span));
        sum.or_else(|r| self.refused(span, r))
    }

    /// The value that a number chooses, the last where there is none of that number.
    fn mux(&self, which: &Value, several: &[Value], last: &Value, span: Span) -> Made<Value> {
        let elem = match which {
            Value::Index(n) => n.ty.elem,
            Value::Data(e) => e.ty.elem,
            Value::Opaque => I32,
        };
        let mut chosen = last.clone();
        for (at, value) in several.iter().enumerate().rev() {
            let at = Index::Const(i64::try_from(at).expect("a call has fewer operands"));
            let at = Value::Index(Number::scalar(&at, elem));
            let made = operation::binary("==", which, &at, self.span).and_then(|is| match is {
                Value::Index(truth) if truth.constant().is_some_and(|c| c >= 1) => {
                    Ok(value.clone())
                }
                Value::Index(truth) if truth.constant().is_some() => Ok(chosen.clone()),
                is => {
                    let three = [is, value.clone(), chosen.clone()];
                    operation::call("select", None, &three, self.span)
                }
            });
            chosen = made.or_else(|r| self.refused(span, r))?;
        }
        Ok(chosen)
    }

    /// A vector between two others: the sum of the products is a statement of its own, so that
    /// what divides it is searched for and proved alone.
    fn lerp(&mut self, stated: Option<Type>, values: &[Value], span: Span) -> Made<Value> {
        let lanes = stated.map_or(1, |ty| ty.lanes);
        let three = |all: Vec<Expr>| <[Expr; 3]>::try_from(all).ok();
        let Some([a, b, weight]) = self.operands(values).and_then(three) else {
            return self.refuse(
                span,
                "an address is used as a number",
                "compute with the elements of buffers, not with their addresses",
            );
        };
        let here = self.span;
        if a.ty.elem != b.ty.elem || !a.ty.elem.is_number() || !weight.ty.elem.is_number() {
            return self.refuse(
                span,
                format!("`lerp` of {}, {} and {}", a.ty, b.ty, weight.ty),
                "the text is damaged: let Halide write it again",
            );
        }
        let (sum, elem) = super::derived::weighted(&a, &b, &weight, here);
        if elem.format().is_some() {
            return Ok(Value::Data(sum));
        }
        if lanes == 1 || sum.ty.lanes != lanes {
            return Ok(Value::Data(super::derived::divided(sum, elem, here)));
        }
        let sum = self.in_register("weighted", sum);
        Ok(Value::Data(super::derived::divided(sum, elem, here)))
    }

    /// Floats that become integers of which all are floats exactly.
    fn float_to_few(e: &Expr, stated: Option<Type>) -> Option<Elem> {
        let to = stated?.elem;
        let exact = matches!(e.ty.elem, Elem::Float(Format::F32 | Format::F64));
        (exact && to.is_int() && to.bits() <= 16).then_some(to)
    }

    /// Floats moved to the nearest that a type has; the NaN to the least.
    fn bounded(&self, e: &Expr, to: Elem) -> Expr {
        let elem = e.ty.elem;
        let end = |value: i128| {
            let bits = match elem {
                Elem::Float(Format::F64) => i128::from((value as f64).to_bits()),
                _ => i128::from((value as f32).to_bits()),
            };
            super::value::constant(Type::scalar(elem), bits, self.span)
        };
        let above = apply(Op::Max, elem, vec![e.clone(), end(to.min())], self.span);
        apply(Op::Min, elem, vec![above, end(to.max())], self.span)
    }

    /// A float that is about to become an integer of less than 32 bits, as one of 32. Halide leaves
    /// open what becomes of a float that the type has not: processors convert to 32 bits, and
    /// narrow those; where nothing is out of the type's range, it saturates, which processors do in one
    /// step.
    fn narrowed(&mut self, value: Value, to: Elem) -> Value {
        let value = match value {
            Value::Data(e) => Value::Data(in_fewer_bits(&self.kernel, &e, to).unwrap_or(e)),
            other => other,
        };
        match value {
            Value::Data(e) if e.ty.elem.format().is_some() && to.is_int() && to.bits() < 32 => {
                let inside = is_within(&e, to);
                let whole = cast(e, I32);
                let op = if inside { Op::SatCast } else { Op::Cast };
                Value::Data(apply(op, to, vec![whole], self.span))
            }
            Value::Data(e) if is_long_way(&e, to) => Value::Data(self.in_register("wide", e)),
            other => other,
        }
    }

    /// A rounding shift in the type of its value, where nothing wraps.
    fn rounded(&self, stated: Option<Type>, value: &Expr, by: &Value) -> Option<Expr> {
        let same = stated.is_none_or(|to| to.elem == value.ty.elem);
        let by = operation::data(by, self.span).filter(|_| same && value.ty.lanes > 1)?;
        rounded(&self.kernel.locals, value, &by)
    }

    /// An operand of a comparison: what is computed of floats is a statement of its own, since what
    /// the truth values choose may have elements of another width.
    pub(super) fn apart(&mut self, value: Value) -> Value {
        match value {
            Value::Data(e)
                if e.ty.lanes > 1
                    && e.ty.elem.format().is_some()
                    && matches!(e.kind, ExprKind::Apply(..)) =>
            {
                Value::Data(self.in_register("compared", e))
            }
            other => other,
        }
    }

    /// A value that is computed before the statement that is being read.
    pub(super) fn in_register(&mut self, name: &str, value: Expr) -> Expr {
        let (ty, register) = (value.ty, self.kernel.registers.len());
        self.kernel.registers.push(Register {
            name: super::arguments::plain_name(name),
            ty,
            parts: false,
        });
        let stmt = self.set(register, value);
        self.before.push(stmt);
        expr(ExprKind::Register(register), ty, self.span)
    }

    /// The statement that gives a register a value.
    pub(super) fn set(&self, register: Id, value: Expr) -> Stmt {
        Stmt::Assign(Assign {
            target: Target::Register(register),
            accumulate: false,
            reassociate: false,
            value,
            span: self.span,
        })
    }

    /// A function of the C library, on each lane.
    fn of_library(&mut self, name: &str, values: &[Value], span: Span) -> Made<Value> {
        let found = super::derived::library(name);
        let operands = self.operands(values);
        match (found, operands) {
            (Some((function, elem)), Some(args))
                if args.len() == function.arity() && args.iter().all(|a| a.ty.elem == elem) =>
            {
                if let Some(value) = self.elementary(function, &args) {
                    return Ok(Value::Data(value));
                }
                let here = self.span;
                let call = |args| apply(Op::Call(function), elem, args, here);
                Ok(Value::Data(self.lane_by_lane(&args, elem, call)))
            }
            _ => self.refuse(
                span,
                format!("`{name}` has operands that are not understood"),
                "the text is damaged: let Halide write it again",
            ),
        }
    }

    /// Adjacent lanes as one, by halves: the upper half of them with the lower, until one is
    /// left; by turns where they cannot be halved.
    fn reduced(
        &mut self,
        name: &str,
        stated: Option<Type>,
        value: &Value,
        span: Span,
    ) -> Made<Value> {
        let to = stated.unwrap_or(Type::scalar(I32));
        let whole = self.full(value);
        let Some(whole) = whole.filter(|e| to.lanes > 0 && e.ty.lanes.is_multiple_of(to.lanes))
        else {
            return self.refuse(
                span,
                format!("`{name}` has an operand that is not understood"),
                "the text is damaged: let Halide write it again",
            );
        };
        let op = match name {
            "vector_reduce_mul" => Op::Mul,
            "vector_reduce_and" => Op::And,
            "vector_reduce_or" => Op::Or,
            _ => Op::SatAdd,
        };
        // Lanes of truth values are moved as bytes.
        let truth = whole.ty.elem == Elem::Bool;
        let whole = if truth {
            cast(whole, super::arguments::TRUTH)
        } else {
            whole
        };
        let (mut rest, n) = (whole, to.lanes);
        let mut count = rest.ty.lanes / n;
        while count > 1 {
            let part = if count % 2 == 0 { count / 2 } else { 1 };
            let kept = self.unstated("lanes", rest.clone());
            let lanes = |from: u32, of: u32| {
                let ty = Type {
                    lanes: n * of,
                    ..rest.ty
                };
                let order = (0..n * of)
                    .map(|l| l / of * count + l % of + from)
                    .collect();
                expr(ExprKind::Shuffle(vec![kept.clone()], order), ty, self.span)
            };
            // An odd one is taken with the first of the others, which stay as they are.
            rest = if count % 2 == 0 {
                apply(
                    op,
                    rest.ty.elem,
                    vec![lanes(0, part), lanes(part, part)],
                    self.span,
                )
            } else {
                let ends = vec![lanes(0, 1), lanes(count - 1, 1)];
                let first = apply(op, rest.ty.elem, ends, self.span);
                let others = count - 2;
                let order = (0..n).flat_map(|l| {
                    let behind = (0..others).map(move |k| n + l * others + k);
                    std::iter::once(l).chain(behind)
                });
                let ty = Type {
                    lanes: n * (count - 1),
                    ..rest.ty
                };
                let parts = vec![first, lanes(1, others)];
                expr(ExprKind::Shuffle(parts, order.collect()), ty, self.span)
            };
            count = if count % 2 == 0 { part } else { count - 1 };
        }
        Ok(Value::Data(if truth {
            cast(rest, Elem::Bool)
        } else {
            rest
        }))
    }

    /// A value with a name, so that it is computed once; what is short stays as it is.
    fn unstated(&mut self, name: &str, value: Expr) -> Expr {
        let (ty, id) = (value.ty, self.kernel.locals.len());
        self.kernel.locals.push(Local {
            name: name.to_owned(),
            value,
            stated: false,
        });
        expr(ExprKind::Local(id), ty, self.span)
    }
}

/// A number of lanes that is stated.
fn count(lanes: &Number) -> Option<u32> {
    u32::try_from(lanes.constant()?).ok()
}

/// Whether a float is clamped to what a type has, by constants.
fn is_within(e: &Expr, to: Elem) -> bool {
    let (mut low, mut high, mut e) = (false, false, e);
    while let ExprKind::Apply(op @ (Op::Min | Op::Max), args) = &e.kind {
        let end = |e: &Expr| match (&e.kind, e.ty.elem) {
            (ExprKind::Const(bits), Elem::Float(format)) if bits.len() == 1 => match format {
                Format::F32 => Some(f64::from(f32::from_bits(u32::try_from(bits[0]).ok()?))),
                Format::F64 => Some(f64::from_bits(u64::try_from(bits[0]).ok()?)),
                _ => None,
            },
            _ => None,
        };
        let inside = |end: f64| (to.min() as f64..=to.max() as f64).contains(&end);
        let (inner, known) = match (end(&args[0]), end(&args[1])) {
            (_, Some(known)) => (&args[0], known),
            (Some(known), _) => (&args[1], known),
            _ => return false,
        };
        // The outermost bound holds; what is inside of it may pass it, but not the other.
        match op {
            Op::Min => high |= inside(known),
            _ => low |= inside(known),
        }
        e = inner;
    }
    low && high
}

/// Whether a value is a sum or difference in lanes of 32 bits or more: with what is rounded off it, it
/// would be searched for in lanes twice as wide.
fn is_wide_sum(e: &Expr) -> bool {
    e.ty.lanes > 1
        && e.ty.elem.is_int()
        && e.ty.elem.bits() >= 32
        && matches!(e.kind, ExprKind::Apply(Op::Add | Op::Sub, _))
}

/// More operations than this before a value is cut to half its bits are a statement of their own: no
/// instruction does so many, and what is cut off is searched for in lanes of both widths otherwise.
const MAX_BEFORE_CUT: usize = 8;

/// Whether whole numbers of several lanes are computed in many steps before they are cut.
fn is_long_way(e: &Expr, to: Elem) -> bool {
    let whole = e.ty.elem.is_int() && to.is_int() && to.bits() < e.ty.elem.bits();
    let (mut work, mut steps) = (vec![e], 0);
    while let Some(e) = work.pop().filter(|_| steps <= MAX_BEFORE_CUT) {
        steps += usize::from(matches!(e.kind, ExprKind::Apply(..)));
        work.extend(e.operands());
    }
    e.ty.lanes > 1 && whole && steps > MAX_BEFORE_CUT
}
