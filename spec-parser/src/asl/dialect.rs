//! What the shared machine asks about ASL: operators, names and functions.
//!
//! In: names, operators and values. Out: values, or why there are none. Bits have a width and
//! are no integers; integers are unbounded and a shift by a negative count goes the other way;
//! floats are bits on which only functions work.

use super::tree::BOOLEAN;
use super::{builtin, float, parser};
use crate::pseudocode::Dialect;
use crate::pseudocode::ast::{BinaryOp, Block, Expr, Name};
use crate::pseudocode::lower::machine::{Execution, Run};
use crate::pseudocode::lower::value::{Computed, Value};
use semantics::build as b;
use semantics::diagnostic::Diagnostic;
use semantics::span::{Source, Span};
use semantics::term::Term;

/// Arm's notation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asl;

impl Dialect for Asl {
    fn name(&self) -> &'static str {
        "asl"
    }

    fn parse(&self, source: &Source, span: Span, _xml: bool) -> Result<Block, Vec<Diagnostic>> {
        parser::parse(source, span)
    }

    fn has_bits(&self) -> bool {
        true
    }

    fn results(&self) -> &'static [&'static str] {
        &["result"]
    }

    fn form(
        &self,
        machine: &mut Execution,
        name: &Name,
        args: &[Expr],
        _span: Span,
    ) -> Run<Option<Value>> {
        match (&**name, args) {
            (BOOLEAN, [x]) => machine.condition(x).map(|c| Some(Value::Truth(c))),
            _ => Ok(None),
        }
    }

    fn function(&self, _: &Execution, name: &str, args: &[Value]) -> Option<Computed<Value>> {
        builtin::call(name, args).or_else(|| float::call(name, args))
    }

    fn apply(
        &self,
        _machine: &Execution,
        op: BinaryOp,
        x: &Value,
        y: &Value,
    ) -> Option<Computed<Value>> {
        match (x.width(), y.width()) {
            (None, None) => builtin::on_integers(op, x, y),
            _ => Some(builtin::on_bits(op, x, y)),
        }
    }

    fn complement(&self, x: &Value) -> Option<Computed<Value>> {
        let width = x.width()?;
        Some(x.bits(width).map(|t| Value::of_bits(b::not(t))))
    }

    fn constant(&self, name: &Name) -> Option<Value> {
        match &**name {
            "TRUE" => Some(Value::Truth(Term::bool(true))),
            "FALSE" => Some(Value::Truth(Term::bool(false))),
            "FPCR" => Some(Value::Token(name.clone())),
            token if token.starts_with("FPRounding_") => Some(Value::Token(name.clone())),
            _ => None,
        }
    }

    fn functions(&self) -> Vec<&'static str> {
        builtin::NAMES.iter().chain(float::NAMES).copied().collect()
    }
}
