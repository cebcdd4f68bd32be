//! Quotients and remainders.
//!
//! In: integers of up to 32 bits, wider ones by powers of two, in registers as their types say. Out:
//! instructions of the host, whose quotients are rounded to zero, and code behind them that makes a
//! remainder which is never negative, and 0 of what is divided by 0.

use super::exact::Shift;
use super::expression::no_such;
use super::{Emit, Reg};
use crate::error::MappingError;
use crate::host::{Binary, Branch};
use kernel::show::written;
use kernel::tree::{Expr, ExprKind, Op};
use kernel::types::Elem;
use semantics::span::Span;

/// The host's operation for a quotient, or what it leaves over.
fn of_words(op: Op, signed: bool) -> Binary {
    match (op, signed) {
        (Op::Div, true) => Binary::Quotient,
        (Op::Div, false) => Binary::QuotientUnsigned,
        (_, true) => Binary::Remainder,
        (_, false) => Binary::RemainderUnsigned,
    }
}

impl Emit<'_> {
    /// A register gets the quotient of two integers, or what it leaves over.
    pub(super) fn divided(
        &mut self,
        target: Reg,
        op: Op,
        args: &[Expr],
        span: Span,
    ) -> Result<(), MappingError> {
        let elem = args[0].ty.elem;
        let signed = elem.is_signed();
        let known = match &args[1].kind {
            ExprKind::Const(v) => i64::try_from(v[0]).ok(),
            _ => None,
        };
        match known {
            Some(0) => {
                self.constant_into(target, 0);
                return Ok(());
            }
            Some(by) if by > 0 && by.count_ones() == 1 => {
                self.value_into(target, &args[0])?;
                return self.by_power(target, op, (elem, by.trailing_zeros()), span);
            }
            _ => {}
        }
        // With signs the remainder says how a quotient is rounded.
        let mut needed = [Some(op), signed.then_some(Op::Rem)].into_iter().flatten();
        let host = self.host;
        if elem.bits() > 32 || !needed.all(|op| host.binary(of_words(op, signed)).is_some()) {
            let what = format!("computes `{}` of {elem}", written(op, elem));
            let hint = "divide by a power of two, or values of 32 bits where the machine describes \
                        `quotient(a, b)` and `remainder(a, b)` of these";
            return Err(MappingError {
                hint: hint.to_owned(),
                ..no_such(span, &what)
            });
        }
        let [x, y] = self.both(target, args, span)?;
        let other = if x == target { y } else { x };
        let result = self.take(span)?;
        match signed {
            true => self.with_signs(result, op, (x, y), known, span)?,
            false => self.binary(of_words(op, false), [result, x, y], span)?,
        }
        if known.is_none() {
            let (done, zero) = (self.label(), self.host.zero);
            self.branch(Branch::Different, (y, zero), done, span)?;
            self.constant_into(result, 0);
            self.here(done);
        }
        self.add_into(target, result, 0, span)?;
        self.give(result);
        self.give(other);
        self.wrap(target, elem, span)
    }

    /// The same by a power of two, of what is in the register.
    fn by_power(
        &mut self,
        target: Reg,
        op: Op,
        (elem, by): (Elem, u32),
        span: Span,
    ) -> Result<(), MappingError> {
        if op == Op::Rem {
            self.and_constant(target, (1 << by) - 1, span)?;
            return self.wrap(target, elem, span);
        }
        self.shifted(target, (i64::from(by), Shift::of(elem)), span)?;
        self.wrap(target, elem, span)
    }

    /// Of numbers with signs: where what is left over is negative, one divisor more is taken away; that may be
    /// known.
    fn with_signs(
        &mut self,
        result: Reg,
        op: Op,
        (x, y): (Reg, Reg),
        known: Option<i64>,
        span: Span,
    ) -> Result<(), MappingError> {
        let zero = self.host.zero;
        let rest = self.take(span)?;
        self.binary(Binary::Remainder, [rest, x, y], span)?;
        let done = self.label();
        match op {
            Op::Div => self.binary(Binary::Quotient, [result, x, y], span)?,
            _ => self.add_into(result, rest, 0, span)?,
        }
        self.branch(Branch::NotLess, (rest, zero), done, span)?;
        match known {
            Some(by) => self.one_more(result, (op, by < 0), y, span)?,
            None => {
                let positive = self.label();
                self.branch(Branch::NotLess, (y, zero), positive, span)?;
                self.one_more(result, (op, true), y, span)?;
                self.branch(Branch::Equal, (zero, zero), done, span)?;
                self.here(positive);
                self.one_more(result, (op, false), y, span)?;
            }
        }
        self.here(done);
        self.give(rest);
        Ok(())
    }

    /// A divisor more is taken away, which may be negative.
    fn one_more(
        &mut self,
        result: Reg,
        (op, negative): (Op, bool),
        y: Reg,
        span: Span,
    ) -> Result<(), MappingError> {
        match (op, negative) {
            (Op::Div, true) => self.add_into(result, result, 1, span),
            (Op::Div, false) => self.add_into(result, result, -1, span),
            (_, true) => self.binary(Binary::Sub, [result, result, y], span),
            (_, false) => self.binary(Binary::Add, [result, result, y], span),
        }
    }
}
