//! Checking of expressions: names, operators, accesses, casts of what is expected.
//!
//! In: expressions of the syntax tree and the element type wanted by what surrounds them
//! (used for numbers only). Out: typed expressions.

use super::scope::TRUTHS;
use super::{Binding, Checker};
use crate::ast::{self, BinaryOp, UnaryOp};
use crate::literal;
use crate::tree::{Access, Expr, ExprKind, Op};
use crate::types::{Elem, Type};
use semantics::span::Span;

/// An application without checks.
pub(super) fn apply(op: Op, elem: Elem, args: Vec<Expr>, span: Span) -> Expr {
    let lanes = args.iter().map(|a| a.ty.lanes).max().unwrap_or(1);
    Expr {
        kind: ExprKind::Apply(op, args),
        ty: Type { elem, lanes },
        span,
    }
}

/// A number with a point or an exponent, with its sign.
fn decimal(e: &ast::Expr) -> Option<String> {
    match &e.kind {
        ast::ExprKind::Decimal(text) => Some(text.clone()),
        ast::ExprKind::Unary(UnaryOp::Neg, a) => Some(match decimal(a)?.strip_prefix('-') {
            Some(positive) => positive.to_owned(),
            None => format!("-{}", decimal(a)?),
        }),
        _ => None,
    }
}

impl<'a> Checker<'a> {
    /// The expression with its type; `want` is the type that a number takes.
    pub(super) fn expr(&mut self, e: &'a ast::Expr, want: Option<Elem>) -> Option<Expr> {
        if let Some(value) = self.constant(e) {
            return self.number(e.span, value, want);
        }
        if let Some(text) = decimal(e) {
            return self.decimal(e.span, &text, want);
        }
        match &e.kind {
            ast::ExprKind::Int(value) => self.number(e.span, *value, want),
            ast::ExprKind::Decimal(text) => self.decimal(e.span, text, want),
            ast::ExprKind::Name(name) => self.name(name, e),
            ast::ExprKind::Call { callee, args } => self.call(e, callee, args, want),
            ast::ExprKind::Access { base, subscript } => self.subscripted(e, base, subscript, want),
            ast::ExprKind::Vector(elements) => self.vector(e, elements, want),
            ast::ExprKind::Unary(op, a) => self.unary(e, *op, a, want),
            ast::ExprKind::Binary(op, a, b) => self.binary(e, *op, a, b, want),
        }
    }

    fn number(&mut self, span: Span, value: i128, want: Option<Elem>) -> Option<Expr> {
        if want.is_some_and(|e| e.format().is_some()) {
            return self.decimal(span, &value.to_string(), want);
        }
        let Some(elem) = want.filter(|e| e.is_int()) else {
            self.error_hint(
                span,
                "the type of this number is not known here",
                format!("write for example `i32({value})`"),
            );
            return None;
        };
        if elem.wrap(value) != value {
            let message = format!(
                "{value} does not fit {elem}, which holds {} to {}",
                elem.min(),
                elem.max()
            );
            self.error(span, message);
            return None;
        }
        Some(Expr {
            kind: ExprKind::Const(vec![value]),
            ty: Type::scalar(elem),
            span,
        })
    }

    /// A number as the nearest float; one without a point has to be one.
    fn decimal(&mut self, span: Span, text: &str, want: Option<Elem>) -> Option<Expr> {
        let Some(format) = want.and_then(Elem::format) else {
            let (message, hint) = match want {
                Some(elem) => (
                    format!("{text} is not of type {elem}"),
                    format!(
                        "numbers have the type beside them: `{elem}(f32(..) * {text})` computes with floats"
                    ),
                ),
                None => (
                    "the type of this number is not known here".to_owned(),
                    format!("write for example `f32({text})`"),
                ),
            };
            self.error_hint(span, message, hint);
            return None;
        };
        let elem = Elem::Float(format);
        let Some((pattern, exact)) = literal::pattern(format, text) else {
            self.error(span, format!("{text} is too large for {elem}"));
            return None;
        };
        if !exact && !text.contains(['.', 'e', 'E']) {
            let hint = format!("`{text}.0` is the nearest number that {elem} has");
            self.error_hint(span, format!("{text} is not a number of {elem}"), hint);
            return None;
        }
        Some(Expr {
            kind: ExprKind::Const(vec![elem.wrap(pattern)]),
            ty: Type::scalar(elem),
            span,
        })
    }

    /// Whether an expression is a number or numbers that take their type from elsewhere.
    pub(super) fn untyped(&self, e: &ast::Expr) -> bool {
        self.constant(e).is_some()
            || decimal(e).is_some()
            || matches!(e.kind, ast::ExprKind::Vector(_))
    }

    fn name(&mut self, name: &str, e: &ast::Expr) -> Option<Expr> {
        match self.scopes.get(name).cloned() {
            Some(Binding::Value(value)) => Some(Expr {
                span: e.span,
                ..value
            }),
            Some(Binding::Broken) => None,
            Some(Binding::Index(_)) => {
                let hint = format!("make it one of a sized type: `i32({name})`");
                self.error_hint(e.span, format!("`{name}` is an index, not a value"), hint);
                None
            }
            Some(Binding::Array(_)) => {
                let hint = format!("say which elements: `{name}[x]` or `{name}[x..+16]`");
                self.error_hint(e.span, format!("`{name}` is an array"), hint);
                None
            }
            Some(Binding::Function(_)) => {
                self.error(
                    e.span,
                    format!("`{name}` is a function; it needs arguments"),
                );
                None
            }
            None if TRUTHS.contains(&name) => Some(Expr {
                kind: ExprKind::Const(vec![i128::from(name == TRUTHS[1])]),
                ty: Type::scalar(Elem::Bool),
                span: e.span,
            }),
            None => {
                self.unknown_name(name, e.span);
                None
            }
        }
    }

    fn vector(
        &mut self,
        e: &'a ast::Expr,
        elements: &'a [ast::Expr],
        want: Option<Elem>,
    ) -> Option<Expr> {
        let mut values = Vec::new();
        for element in elements {
            if self.constant(element).is_none() && decimal(element).is_none() {
                let hint = "`concat` joins vectors that are computed";
                self.error_hint(element.span, "a constant vector holds numbers only", hint);
                return None;
            }
            if let ExprKind::Const(value) = self.expr(element, want)?.kind {
                values.extend(value);
            }
        }
        let lanes = u32::try_from(values.len())
            .ok()
            .filter(|&l| l <= crate::types::MAX_LANES);
        let (Some(lanes), Some(elem)) = (lanes, want) else {
            self.error(e.span, "this vector has too many elements");
            return None;
        };
        Some(Expr {
            kind: ExprKind::Const(values),
            ty: Type { elem, lanes },
            span: e.span,
        })
    }

    fn subscripted(
        &mut self,
        e: &'a ast::Expr,
        base: &'a ast::Expr,
        subscript: &'a ast::Subscript,
        want: Option<Elem>,
    ) -> Option<Expr> {
        if let ast::ExprKind::Name(name) = &base.kind
            && let Some(&Binding::Array(id)) = self.scopes.get(name)
        {
            let elem = self.kernel.arrays[id].elem;
            let load = |access: Access| Expr {
                ty: Type {
                    elem,
                    lanes: access.lanes,
                },
                kind: ExprKind::Load(access),
                span: e.span,
            };
            let rows = self.accesses(id, subscript)?.into_iter().map(load);
            let mut rows: Vec<Expr> = rows.collect();
            let load = match rows.len() {
                1 => rows.pop()?,
                _ => {
                    let lanes = rows.iter().map(|row| row.ty.lanes).sum();
                    self.shuffle(rows, (0..lanes).collect(), e.span)?
                }
            };
            let ty = load.ty;
            if self.truths.contains(&id) {
                let zero = Expr {
                    kind: ExprKind::Const(vec![0]),
                    ty: Type::scalar(ty.elem),
                    span: e.span,
                };
                return Some(apply(Op::Ne, Elem::Bool, vec![load, zero], e.span));
            }
            return Some(load);
        }
        let value = self.expr(base, want)?;
        let [entry] = &subscript.entries[..] else {
            self.error(subscript.span, "a vector has one dimension");
            return None;
        };
        let start = self.constant(&entry.start);
        let Some(start) = start
            .and_then(|s| i64::try_from(s).ok())
            .filter(|_| !subscript.clamped)
        else {
            self.error_hint(
                entry.span,
                "lanes of a vector are chosen by numbers",
                "for example `v[0..+16 by 2]`",
            );
            return None;
        };
        let (count, stride) = match &entry.range {
            None => (1, 1),
            Some((count, by)) => self.range(entry, *count, by.as_ref())?,
        };
        let lanes: Vec<i64> = (0..i64::from(count))
            .map(|j| start.saturating_add(j.saturating_mul(stride)))
            .collect();
        if let Some(outside) = lanes
            .iter()
            .find(|&&l| l < 0 || l >= i64::from(value.ty.lanes))
        {
            let message = format!("lane {outside} does not exist: this is {}", value.ty);
            self.error(entry.span, message);
            return None;
        }
        let lanes = lanes
            .into_iter()
            .map(|l| u32::try_from(l).expect("lanes were just checked"))
            .collect();
        self.shuffle(vec![value], lanes, e.span)
    }

    /// Lanes of the concatenation of the parts, all of one element type.
    pub(super) fn shuffle(
        &mut self,
        parts: Vec<Expr>,
        lanes: Vec<u32>,
        span: Span,
    ) -> Option<Expr> {
        let elem = parts.first()?.ty.elem;
        let count = u32::try_from(lanes.len())
            .ok()
            .filter(|&l| l <= crate::types::MAX_LANES);
        let Some(count) = count else {
            self.error(
                span,
                format!("a vector has at most {} lanes", crate::types::MAX_LANES),
            );
            return None;
        };
        if elem == Elem::Bool {
            self.error_hint(
                span,
                "truth values cannot be moved between lanes",
                "`select` numbers first",
            );
            return None;
        }
        Some(Expr {
            kind: ExprKind::Shuffle(parts, lanes),
            ty: Type { elem, lanes: count },
            span,
        })
    }

    fn unary(
        &mut self,
        e: &'a ast::Expr,
        op: UnaryOp,
        a: &'a ast::Expr,
        want: Option<Elem>,
    ) -> Option<Expr> {
        let a = self.expr(a, want)?;
        let (op, symbol, sound) = match op {
            UnaryOp::Neg => (Op::Neg, "-", a.ty.elem.is_number()),
            UnaryOp::Not => (Op::Not, "~", a.ty.elem.is_int()),
            UnaryOp::LogicalNot => (Op::Not, "!", a.ty.elem == Elem::Bool),
        };
        if !sound {
            self.error(e.span, format!("`{symbol}` does not apply to {}", a.ty));
            return None;
        }
        Some(apply(op, a.ty.elem, vec![a], e.span))
    }

    /// Two operands of which one may be a number that takes the other's type: of a number whose type is what
    /// is wrong beside it nothing is told.
    pub(super) fn pair(
        &mut self,
        a: &'a ast::Expr,
        b: &'a ast::Expr,
        want: Option<Elem>,
    ) -> Option<(Expr, Expr)> {
        if self.untyped(a) && !self.untyped(b) {
            let b = self.expr(b, want);
            let known = b.as_ref().map(|b| b.ty.elem).or(want)?;
            return Some((self.expr(a, Some(known))?, b?));
        }
        let a = self.expr(a, want);
        let known = a.as_ref().map(|a| a.ty.elem).or(want);
        if a.is_none() && known.is_none() && self.untyped(b) {
            return None;
        }
        let b = self.expr(b, known);
        Some((a?, b?))
    }

    /// Whether lanes go together: equal, or one of them is 1.
    pub(super) fn lanes_agree(&mut self, args: &[Expr], span: Span) -> Option<()> {
        let lanes = args.iter().map(|a| a.ty.lanes).max()?;
        match args.iter().find(|a| a.ty.lanes != lanes && a.ty.lanes != 1) {
            None => Some(()),
            Some(odd) => {
                let message = format!("{} lanes do not go with {lanes}", odd.ty.lanes);
                self.error_hint(
                    span,
                    message,
                    "operands have the same lanes, or one lane for all",
                );
                None
            }
        }
    }

    /// The one integer type of the operands.
    pub(super) fn same_type(&mut self, args: &[Expr], what: &str, span: Span) -> Option<Elem> {
        let elem = self.same_number(args, what, span)?;
        if !elem.is_int() {
            self.error(span, format!("`{what}` needs integers, not {}", args[0].ty));
            return None;
        }
        Some(elem)
    }

    /// The one type of the operands: integers, floats or truth values.
    pub(super) fn same_value(&mut self, args: &[Expr], what: &str, span: Span) -> Option<Elem> {
        if !args.iter().all(|a| a.ty.elem == Elem::Bool) {
            return self.same_number(args, what, span);
        }
        self.lanes_agree(args, span)?;
        Some(Elem::Bool)
    }

    /// The one type of the operands: integers or floats.
    pub(super) fn same_number(&mut self, args: &[Expr], what: &str, span: Span) -> Option<Elem> {
        let elem = args.first()?.ty.elem;
        if let Some(other) = args.iter().find(|a| a.ty.elem != elem) {
            let message = format!(
                "`{what}` needs operands of one type, not {} and {}",
                args[0].ty, other.ty
            );
            let wider = if other.ty.elem.bits() > elem.bits() {
                other.ty.elem
            } else {
                elem
            };
            self.error_hint(
                span,
                message,
                format!("convert one of them, for example `{wider}(..)`"),
            );
            return None;
        }
        if !elem.is_number() {
            self.error(span, format!("`{what}` needs numbers, not {}", args[0].ty));
            return None;
        }
        self.lanes_agree(args, span)?;
        Some(elem)
    }

    fn binary(
        &mut self,
        e: &'a ast::Expr,
        op: BinaryOp,
        a: &'a ast::Expr,
        b: &'a ast::Expr,
        want: Option<Elem>,
    ) -> Option<Expr> {
        use BinaryOp as B;
        let compares = matches!(op, B::Eq | B::Ne | B::Lt | B::Le | B::Gt | B::Ge);
        let (a, b) = self.pair(a, b, want.filter(|_| !compares))?;
        if matches!(op, B::LogicalAnd | B::LogicalOr) {
            return self.logical(e, op, a, b);
        }
        if matches!(op, B::Shl | B::Shr) {
            let op = if op == B::Shl { Op::Shl } else { Op::Shr };
            self.shift_types(&a, &b, e.span)?;
            return Some(apply(op, a.ty.elem, vec![a, b], e.span));
        }
        let mut args = vec![a, b];
        let elem = match op {
            B::Eq | B::Ne => self.same_value(&args, op.symbol(), e.span)?,
            B::Rem | B::And | B::Or | B::Xor => self.same_type(&args, op.symbol(), e.span)?,
            _ => self.same_number(&args, op.symbol(), e.span)?,
        };
        let (op, result) = match op {
            B::Add => (Op::Add, elem),
            B::Sub => (Op::Sub, elem),
            B::Mul => (Op::Mul, elem),
            B::Div => (Op::Div, elem),
            B::Rem => (Op::Rem, elem),
            B::And => (Op::And, elem),
            B::Or => (Op::Or, elem),
            B::Xor => (Op::Xor, elem),
            B::Eq => (Op::Eq, Elem::Bool),
            B::Ne => (Op::Ne, Elem::Bool),
            B::Lt | B::Gt => (Op::Lt, Elem::Bool),
            B::Le | B::Ge => (Op::Le, Elem::Bool),
            B::Shl | B::Shr | B::LogicalAnd | B::LogicalOr => return None,
        };
        if let ast::ExprKind::Binary(B::Gt | B::Ge, ..) = e.kind {
            args.reverse();
        }
        Some(apply(op, result, args, e.span))
    }

    fn logical(&mut self, e: &ast::Expr, op: BinaryOp, a: Expr, b: Expr) -> Option<Expr> {
        if a.ty.elem != Elem::Bool || b.ty.elem != Elem::Bool {
            let message = format!(
                "`{}` needs truth values, not {} and {}",
                op.symbol(),
                a.ty,
                b.ty
            );
            self.error_hint(e.span, message, "for numbers there are `&` and `|`");
            return None;
        }
        let args = vec![a, b];
        self.lanes_agree(&args, e.span)?;
        let op = if op == BinaryOp::LogicalAnd {
            Op::And
        } else {
            Op::Or
        };
        Some(apply(op, Elem::Bool, args, e.span))
    }

    /// A shifted value and its count: integers of one width.
    pub(super) fn shift_types(&mut self, a: &Expr, b: &Expr, span: Span) -> Option<()> {
        if !a.ty.elem.is_int() || a.ty.elem.as_unsigned() != b.ty.elem.as_unsigned() {
            let message = format!(
                "a shift needs a count of the value's width, not {} by {}",
                a.ty, b.ty
            );
            self.error_hint(
                span,
                message,
                format!("convert the count: `{}(..)`", a.ty.elem),
            );
            return None;
        }
        self.lanes_agree(&[a.clone(), b.clone()], span)
    }

    /// The value when it has that element type.
    pub(super) fn expect_elem(&mut self, value: Expr, elem: Elem) -> Option<Expr> {
        if value.ty.elem == elem {
            return Some(value);
        }
        let message = format!("expected {elem}, found {}", value.ty.elem);
        let integers = value.ty.elem.is_int() && elem.is_int();
        let hint = if integers && value.ty.elem.bits() > elem.bits() {
            format!("`{elem}(..)` keeps the low bits, `{elem}_sat(..)` clamps")
        } else {
            format!("convert it: `{elem}(..)`")
        };
        self.error_hint(value.span, message, hint);
        None
    }

    /// The value when it has that type or is a scalar of that element type.
    pub(super) fn expect(&mut self, value: Expr, ty: Type) -> Option<Expr> {
        let value = self.expect_elem(value, ty.elem)?;
        if value.ty.lanes == ty.lanes || value.ty.lanes == 1 {
            return Some(value);
        }
        let message = format!("expected {} lanes, found {}", ty.lanes, value.ty.lanes);
        self.error(value.span, message);
        None
    }
}
