//! What the shared machine asks about the manual's notation: operators, names and functions.
//!
//! In: names, operators and values. Out: values, or why there are none. Integers are unbounded
//! and exact; a shift by a negative count goes the other way.

use super::register::RESULTS;
use super::tree::{ELEMENTS, SIZE};
use super::{builtin, parser};
use crate::pseudocode::Dialect;
use crate::pseudocode::ast::{BinaryOp, Block, Expr, Name};
use crate::pseudocode::lower::machine::{Execution, Run, Slot, fault};
use crate::pseudocode::lower::shift;
use crate::pseudocode::lower::value::{Computed, Value};
use semantics::diagnostic::Diagnostic;
use semantics::span::{Source, Span};

/// The notation of the HVX manual.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hvx;

impl Dialect for Hvx {
    fn name(&self) -> &'static str {
        "hvx"
    }

    fn parse(&self, source: &Source, span: Span, _xml: bool) -> Result<Block, Vec<Diagnostic>> {
        parser::parse(source, span)
    }

    fn results(&self) -> &'static [&'static str] {
        &RESULTS
    }

    fn form(
        &self,
        machine: &mut Execution,
        name: &Name,
        args: &[Expr],
        span: Span,
    ) -> Run<Option<Value>> {
        let count = match (&**name, args) {
            (SIZE, [register]) => size(machine, register)?,
            (ELEMENTS, [width, register, vectors]) => {
                let (width, vectors) = (machine.known(width)?, machine.known(vectors)?);
                let size = size(machine, register)?;
                match width {
                    1.. => size / vectors / width,
                    _ => return fault("elements have at least one bit", span),
                }
            }
            _ => return Ok(None),
        };
        Ok(Some(Value::Int(count)))
    }

    fn function(&self, _: &Execution, name: &str, args: &[Value]) -> Option<Computed<Value>> {
        builtin::call(name, args)
    }

    fn apply(
        &self,
        _machine: &Execution,
        op: BinaryOp,
        x: &Value,
        y: &Value,
    ) -> Option<Computed<Value>> {
        match op {
            BinaryOp::Shl => Some(shift::both_ways(x, y, false)),
            BinaryOp::Shr => Some(shift::both_ways(x, y, true)),
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Lt | BinaryOp::Gt => {
                let late = |v: &Value| matches!(v, Value::Shifted(..));
                if !late(x) && !late(y) {
                    return None;
                }
                let exact = shift::exact(x).and_then(|x| Ok((x, shift::exact(y)?)));
                Some(
                    exact
                        .and_then(|(x, y)| crate::pseudocode::lower::expression::apply(op, &x, &y)),
                )
            }
            _ => None,
        }
    }

    fn functions(&self) -> Vec<&'static str> {
        builtin::NAMES.to_vec()
    }
}

/// The bits of a register that a name means.
fn size(machine: &Execution, register: &Expr) -> Run<i128> {
    let slot = register.as_name().and_then(|name| machine.slot(name));
    match slot {
        Some(Slot::Bits(bits)) => Ok(i128::from(bits.width())),
        _ => match register.as_name() {
            Some(name) => machine.unknown_name(name, register.span),
            None => fault("this is no register", register.span),
        },
    }
}
