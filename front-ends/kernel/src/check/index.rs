//! Checking of index expressions and of numbers without a type.
//!
//! In: expressions of the syntax tree. Out: [`Index`], or the value of a constant.

use super::{Binding, Checker};
use crate::ast::{BinaryOp, Expr, ExprKind, UnaryOp};
use crate::index::{Index, MAX_PARTS};

impl<'a> Checker<'a> {
    /// An expression as an index.
    pub(super) fn index(&mut self, e: &'a Expr) -> Option<Index> {
        let index = self.raw_index(e)?;
        if !index.is_within(MAX_PARTS) {
            let message = format!("this index is made of more than {MAX_PARTS} parts");
            let hint = "names in it stand for whole indices: make fewer of them from each other";
            self.error_hint(e.span, message, hint);
            return None;
        }
        Some(index.simplified())
    }

    fn raw_index(&mut self, e: &'a Expr) -> Option<Index> {
        match &e.kind {
            ExprKind::Int(value) => match i64::try_from(*value) {
                Ok(value) => Some(Index::Const(value)),
                Err(_) => {
                    self.error(e.span, "an index does not fit 64 bits");
                    None
                }
            },
            ExprKind::Name(name) => match self.scopes.get(name) {
                Some(Binding::Index(index)) => Some(index.clone()),
                Some(Binding::Broken) => None,
                Some(Binding::Value(value))
                    if matches!(value.kind, crate::tree::ExprKind::Scalar(_)) =>
                {
                    let message = "this is data, and an index must not depend on data";
                    let hint =
                        format!("a number that is fixed for a run is declared `{name}: size`");
                    self.error_hint(e.span, message, hint);
                    None
                }
                Some(_) => self.data_in_index(e),
                None => {
                    self.unknown_size(name, e.span);
                    None
                }
            },
            ExprKind::Unary(UnaryOp::Neg, a) => Some(self.raw_index(a)?.times(-1)),
            ExprKind::Binary(op, a, b) => {
                let (x, y) = (self.raw_index(a), self.raw_index(b));
                let (x, y) = (Box::new(x?), Box::new(y?));
                match op {
                    BinaryOp::Add => Some(Index::Add(x, y)),
                    BinaryOp::Sub => Some(Index::Add(x, Box::new(y.times(-1)))),
                    BinaryOp::Mul => Some(Index::Mul(x, y)),
                    BinaryOp::Div => Some(Index::Div(x, y)),
                    BinaryOp::Rem => Some(Index::Mod(x, y)),
                    _ => {
                        self.error(
                            e.span,
                            format!("`{}` is not an operation on indices", op.symbol()),
                        );
                        None
                    }
                }
            }
            ExprKind::Call { callee, args }
                if matches!(callee.name.as_str(), "min" | "max" | "clamp") =>
            {
                let values: Option<Vec<Index>> = args.iter().map(|a| self.raw_index(a)).collect();
                self.index_call(e, &callee.name, values?)
            }
            _ => self.data_in_index(e),
        }
    }

    fn index_call(&mut self, e: &Expr, name: &str, values: Vec<Index>) -> Option<Index> {
        let count = values.len();
        let mut values = values.into_iter();
        match (name, count) {
            ("min", 2..) => values.reduce(Index::smaller),
            ("max", 2..) => values.reduce(Index::larger),
            ("clamp", 3) => {
                let (x, lo, hi) = (values.next()?, values.next()?, values.next()?);
                Some(Index::smaller(Index::larger(x, lo), hi))
            }
            _ => {
                self.error(e.span, format!("`{name}` does not take {count} indices"));
                None
            }
        }
    }

    fn data_in_index(&mut self, e: &Expr) -> Option<Index> {
        let hint = "indices are made of sizes, loop variables, numbers, + - * / % min max clamp; \
                    where data choose, `for i in 0..n at e { … a[i] … }` runs once, with `i` equal \
                    to the data `e`";
        self.error_hint(
            e.span,
            "this is data, and an index must not depend on data",
            hint,
        );
        None
    }

    /// Whether an expression is made of indices, at least one of them named.
    pub(super) fn is_index(&self, e: &Expr) -> bool {
        self.names_only_indices(e) && self.constant(e).is_none()
    }

    fn names_only_indices(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Int(_) => true,
            ExprKind::Name(name) => matches!(self.scopes.get(name), Some(Binding::Index(_))),
            ExprKind::Unary(UnaryOp::Neg, a) => self.names_only_indices(a),
            ExprKind::Binary(op, a, b) => {
                let arithmetic = matches!(
                    op,
                    BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem
                );
                arithmetic && self.names_only_indices(a) && self.names_only_indices(b)
            }
            ExprKind::Call { callee, args } => {
                matches!(callee.name.as_str(), "min" | "max" | "clamp")
                    && args.iter().all(|a| self.names_only_indices(a))
            }
            _ => false,
        }
    }

    /// The value of an expression that is made of numbers only.
    pub(super) fn constant(&self, e: &Expr) -> Option<i128> {
        match &e.kind {
            ExprKind::Int(value) => Some(*value),
            ExprKind::Unary(UnaryOp::Neg, a) => self.constant(a)?.checked_neg(),
            ExprKind::Binary(op, a, b) => {
                let (a, b) = (self.constant(a)?, self.constant(b)?);
                match op {
                    BinaryOp::Add => a.checked_add(b),
                    BinaryOp::Sub => a.checked_sub(b),
                    BinaryOp::Mul => a.checked_mul(b),
                    BinaryOp::Shl if (0..100).contains(&b) && a.unsigned_abs() < 1 << 27 => {
                        Some(a << b)
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }
}
