//! What a sum or a difference hands on to the next place: `Carry(a + b + c)`, `Borrow(a - b - c)`.
//!
//! In: the sum as it is written. Out: whether it needs a bit more than its widest summand has, or
//! is less than zero. All are read without a sign, as carries are, however they are declared.

use crate::pseudocode::ast::{BinaryOp, Expr, ExprKind};
use crate::pseudocode::lower::compare;
use crate::pseudocode::lower::machine::{Execution, Run, at, fault};
use crate::pseudocode::lower::value::{self, Computed, Value};

/// An exact sum, and the bits of its widest summand.
pub(crate) struct Sum {
    value: Value,
    width: u32,
}

impl Sum {
    /// What does not fit: upwards, or downwards for a borrow.
    pub(crate) fn out(&self, borrow: bool) -> Computed<Value> {
        let past = match borrow {
            true => compare::less(&self.value, &Value::Int(0)),
            false => compare::at_most(&Value::Int(1 << self.width), &self.value),
        };
        past.map(Value::Truth)
    }
}

/// The widest summand.
const WIDEST: u32 = 64;

/// The sum that an expression is.
pub(crate) fn of(machine: &mut Execution, e: &Expr) -> Run<Sum> {
    if let ExprKind::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), x, y) = &e.kind {
        let (x, y) = (of(machine, x)?, of(machine, y)?);
        let value = match op {
            BinaryOp::Add => value::add(&x.value, &y.value),
            _ => value::sub(&x.value, &y.value),
        };
        return Ok(Sum {
            value: at(value, e.span)?,
            width: x.width.max(y.width),
        });
    }
    let summand = machine.eval(e)?;
    let computed = matches!(e.kind, ExprKind::Binary(..) | ExprKind::Unary(..));
    let width = match &summand {
        _ if computed => return fault("a carry is of a sum of bits", e.span),
        Value::Sym(s) if s.plain() => s.term.width(),
        Value::Truth(_) => 1,
        Value::Int(k) if *k >= 0 => 128 - k.leading_zeros(),
        _ => return fault("a carry is of a sum of bits", e.span),
    };
    if width > WIDEST {
        return fault(format!("a carry is of at most {WIDEST} bits"), e.span);
    }
    let value = match &summand {
        Value::Sym(_) => Value::unsigned(at(summand.bits(width), e.span)?),
        _ => summand,
    };
    Ok(Sum { value, width })
}
