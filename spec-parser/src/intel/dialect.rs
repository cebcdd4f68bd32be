//! What the shared machine asks about Intel's notation: operators, names and functions.
//!
//! In: names, operators and values. Out: values, or that there are none. Bits are integers
//! here, read as the elements of their operand are; floats are numbers.

use super::{builtin, constants};
use crate::pseudocode::ast::{BinaryOp, Block, Expr, ExprKind, Name};
use crate::pseudocode::lower::machine::{Execution, Run, at};
use crate::pseudocode::lower::value::{self, Computed, Value};
use crate::pseudocode::lower::{compare, float};
use crate::pseudocode::{Dialect, Effect};
use semantics::build as b;
use semantics::diagnostic::Diagnostic;
use semantics::instruction::Operand;
use semantics::span::{Source, Span};
use semantics::term::Term;

/// Intel's notation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Intel;

impl Dialect for Intel {
    fn name(&self) -> &'static str {
        "intel"
    }

    fn parse(&self, source: &Source, span: Span, xml: bool) -> Result<Block, Vec<Diagnostic>> {
        super::parser::parse(source, span, xml)
    }

    fn results(&self) -> &'static [&'static str] {
        &["dest", "DEST", "Dst"]
    }

    fn form(
        &self,
        machine: &mut Execution,
        name: &Name,
        args: &[Expr],
        span: Span,
    ) -> Run<Option<Value>> {
        // SignExtendN(x >> n) is an arithmetic shift whatever the element type says.
        if let (Some(_), [arg]) = (builtin::sign_extension(name), args)
            && let ExprKind::Binary(BinaryOp::Shr, x, n) = &arg.kind
        {
            let (v, n) = (machine.eval(x)?, machine.eval(n)?);
            let raw = matches!(&v, Value::Sym(s) if s.raw || s.plain());
            let own = match &v {
                Value::Sym(s) if raw => at(value::sign_extend(&v, s.term.width()), span)?,
                _ => v,
            };
            return at(value::shift_right(&own, &n), span).map(Some);
        }
        if let ("Carry" | "Borrow", [arg]) = (&**name, args) {
            let bits = builtin::carry::of(machine, arg)?;
            return at(bits.out(&**name == "Borrow"), span).map(Some);
        }
        if let ("ReadPMC", [number]) = (&**name, args) {
            let number = machine.eval(number)?;
            if let Some(counter) = machine.numbered_register("PMC", &number) {
                return at(counter, span).map(Some);
            }
        }
        if let ("REMAINDER", [arg]) = (&**name, args)
            && let ExprKind::Binary(BinaryOp::Div, x, y) = &arg.kind
        {
            let (x, y) = (machine.eval(x)?, machine.eval(y)?);
            return at(value::divide(&x, &y, true), span).map(Some);
        }
        let is_euler = |a: &Expr| a.as_name().is_some_and(|e| &**e == "e");
        if builtin::library::takes_euler(name) && args.iter().any(is_euler) {
            let value = |a: &Expr| match is_euler(a) {
                true => Ok(Value::Real(std::f64::consts::E)),
                false => machine.eval(a),
            };
            let values: Vec<Value> = args.iter().map(value).collect::<Run<_>>()?;
            return machine.function(name, &values, span).map(Some);
        }
        Ok(None)
    }

    fn function(&self, machine: &Execution, name: &str, args: &[Value]) -> Option<Computed<Value>> {
        builtin::float::call(&machine.floats, name, args)
            .or_else(|| builtin::library::call(&machine.floats, name, args))
            .or_else(|| builtin::call(name, args))
    }

    fn effect(&self, name: &str, arguments: &[Value]) -> Option<Effect> {
        match (name, arguments) {
            ("CacheLineEvict", [_, _]) | ("BlockThread", [_]) => Some(Effect::Nothing),
            ("SetPerfMonMask", [mask]) => Some(Effect::Becomes("PerfMonMask", mask.clone())),
            _ => None,
        }
    }

    fn apply(
        &self,
        machine: &Execution,
        op: BinaryOp,
        x: &Value,
        y: &Value,
    ) -> Option<Computed<Value>> {
        float::apply(&machine.floats, op, x, y)
    }

    fn overrides(&self, function: &str) -> bool {
        builtin::float::overrides(function)
    }

    fn compare(
        &self,
        machine: &Execution,
        operator: &Value,
        x: &Value,
        y: &Value,
    ) -> Computed<Term> {
        compare_by(&machine.floats, operator, x, y)
    }

    fn look_up(&self, table: &[i128], index: &Value) -> Computed<Value> {
        look_up(table, index)
    }

    fn constant(&self, name: &Name) -> Option<Value> {
        match &**name {
            "TRUE" | "true" => return Some(Value::Int(1)),
            "FALSE" | "false" => return Some(Value::Int(0)),
            // Pointers have 64 bits.
            "_64_BIT_MODE" => return Some(Value::Int(1)),
            "_32_BIT_MODE" => return Some(Value::Int(0)),
            _ => {}
        }
        if let Some(number) = constants::number(name) {
            return Some(Value::Int(number));
        }
        let nan = name.eq_ignore_ascii_case("NaN");
        let token = nan || name.starts_with("_MM_") || name.starts_with("_CMP_");
        token.then(|| Value::Token(name.clone()))
    }

    fn is_enumeration(&self, operand: &Operand) -> bool {
        constants::most(&operand.c_type).is_some()
    }

    fn functions(&self) -> Vec<&'static str> {
        builtin::names().collect()
    }
}

/// The comparison that a variable holds.
fn compare_by(
    context: &float::Context,
    operator: &Value,
    x: &Value,
    y: &Value,
) -> value::Computed<Term> {
    match operator {
        Value::Choice(c, p, q) => {
            let (p, q) = (compare_by(context, p, x, y)?, compare_by(context, q, x, y)?);
            Ok(b::ite(*c, p, q))
        }
        Value::Token(name) => {
            if let Some(comparison) = float::predicate(context, name, x, y) {
                return comparison;
            }
            let Some(kind) = name.strip_prefix("_MM_CMPINT_") else {
                return value::refuse(format!("the comparison `{name}` is not described"));
            };
            let negated = |c: value::Computed<Term>| c.map(b::negate);
            match kind {
                "EQ" => compare::equal(x, y),
                "NE" | "NEQ" => negated(compare::equal(x, y)),
                "LT" => compare::less(x, y),
                "LE" => compare::at_most(x, y),
                "NLT" | "GE" => compare::at_most(y, x),
                "NLE" | "GT" => compare::less(y, x),
                "FALSE" => Ok(Term::bool(false)),
                "TRUE" => Ok(Term::bool(true)),
                _ => value::refuse(format!("the comparison `{name}` is not described")),
            }
        }
        _ => value::refuse("`OP` holds no comparison"),
    }
}

/// An entry of a table of bytes.
fn look_up(table: &[i128], index: &Value) -> value::Computed<Value> {
    if let Some(k) = index.known() {
        let entry = usize::try_from(k).ok().and_then(|k| table.get(k));
        return entry.map_or_else(
            || value::refuse("this index lies outside the table"),
            |k| Ok(Value::Int(*k)),
        );
    }
    let s = index.sym()?.plainly();
    if let Some(term) = builtin::galois::substituted(table, s.term) {
        return Ok(Value::unsigned(term));
    }
    let parts: Vec<Term> = table.iter().rev().map(|&k| Term::bv(8, k)).collect();
    let inside = s
        .bounds()
        .is_some_and(|(lo, hi)| lo >= 0 && hi < table.len() as i128);
    if !inside {
        return value::refuse("this index may lie outside the table");
    }
    Ok(Value::unsigned(b::elem(b::concat(&parts), s.term, 8)))
}
