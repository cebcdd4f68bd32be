//! Functions of bodies on declared state.
//!
//! In: a name and arguments. Out: a value. A type's name converts; `sat(TYPE, x)` clamps and
//! rounds; `bits(x, high, low)` cuts out a number; `as_f32`, `finite`, `min`, `max`,
//! `select`, `round_shr`, `bytes(TYPE)` and `least(TYPE)` are what they say.

use super::{Data, Lowering, WIDE, expect, typed};
use crate::matrix::ast::{Expr, ExprKind};
use crate::pseudocode::reading::Refused;
use semantics::diagnostic::suggest;
use semantics::instruction::Element;
use semantics::machine::procedure::{Binary, Unary, Value, ValueKind};
use semantics::span::Span;

const FUNCTIONS: &[(&str, usize)] = &[
    ("sat", 2),
    ("bits", 3),
    ("as_f32", 1),
    ("finite", 1),
    ("bytes", 1),
    ("least", 1),
    ("min", 2),
    ("max", 2),
    ("round_shr", 2),
    ("select", 3),
];

impl Lowering<'_> {
    pub(super) fn call(&mut self, name: &str, args: &[Expr], span: Span) -> Result<Data, Refused> {
        let wanted = FUNCTIONS.iter().find(|f| f.0 == name).map(|f| f.1);
        let Some(wanted) = wanted else {
            return self.convert(name, args, span);
        };
        if wanted != args.len() {
            let message = format!(
                "`{name}` has {wanted} arguments, and here are {}",
                args.len()
            );
            return Err(Refused::new(span, message, "see isa-specs/README.md"));
        }
        match name {
            "bytes" => {
                let element = self.type_named(&args[0])?;
                Ok(Data::Int(i64::from(element.width().unwrap_or(8) / 8)))
            }
            "least" => {
                let element = self.type_named(&args[0])?;
                let value = match element {
                    Element::Float(_) => i64::from(f32::NEG_INFINITY.to_bits()),
                    _ => semantics::machine::arithmetic::range(element).0,
                };
                Ok(typed(ValueKind::Constant(value), element))
            }
            "sat" => {
                let element = self.type_named(&args[0])?;
                let value = self.value(&args[1])?;
                Ok(unary(Unary::Saturate, value, element))
            }
            "bits" => self.bits(args),
            "as_f32" => {
                let value = self.value(&args[0])?;
                Ok(unary(Unary::AsFloat, value, Element::Float(32)))
            }
            "finite" => {
                let value = self.value(&args[0])?;
                let value = expect(Data::Value(value), Element::Float(32), args[0].span)?;
                Ok(unary(Unary::IsFinite, value, Element::Mask))
            }
            "select" => {
                let condition = self.condition(&args[0])?;
                let both = (self.expression(&args[1])?, self.expression(&args[2])?);
                let (a, b, element) = of_one_type(both, [args[1].span, args[2].span])?;
                let parts = [condition, a, b].map(Box::new);
                let [c, a, b] = parts;
                Ok(typed(ValueKind::Select(c, a, b), element))
            }
            _ => self.chosen(name, args, span),
        }
    }

    /// `min`, `max`, `round_shr`.
    fn chosen(&mut self, name: &str, args: &[Expr], span: Span) -> Result<Data, Refused> {
        let both = (self.expression(&args[0])?, self.expression(&args[1])?);
        if let (Data::Int(a), Data::Int(b)) = &both {
            return match name {
                "min" => Ok(Data::Int(*a.min(b))),
                "max" => Ok(Data::Int(*a.max(b))),
                _ => Err(Refused::new(
                    span,
                    "a number that is fixed is not rounded",
                    "write it",
                )),
            };
        }
        let (a, b, element) = of_one_type(both, [args[0].span, args[1].span])?;
        let op = match name {
            "min" => Binary::Min,
            "max" => Binary::Max,
            _ => Binary::RoundShr,
        };
        let kind = ValueKind::Binary(op, Box::new(a), Box::new(b));
        Ok(typed(kind, element))
    }

    fn value(&mut self, e: &Expr) -> Result<Value, Refused> {
        match self.expression(e)? {
            Data::Value(value) => Ok(value),
            Data::Int(n) => Ok(Value::number(n)),
        }
    }

    fn bits(&mut self, args: &[Expr]) -> Result<Data, Refused> {
        let (high, low) = (self.number(&args[1])?, self.number(&args[2])?);
        if !(0..=high).contains(&low) || high > 63 {
            let message = format!("there are no bits {high} to {low}");
            let hint = "the higher comes first, and the highest is 63";
            return Err(Refused::new(args[1].span, message, hint));
        }
        let value = self.wide(&args[0])?;
        let apply = |op, a: Value, n: i64| Value {
            kind: ValueKind::Binary(op, Box::new(a), Box::new(Value::number(n))),
            element: WIDE,
        };
        let mask = if high - low == 63 {
            -1
        } else {
            !(-1 << (high - low + 1))
        };
        Ok(Data::Value(apply(
            Binary::And,
            apply(Binary::Shr, value, low),
            mask,
        )))
    }

    fn type_named(&self, e: &Expr) -> Result<Element, Refused> {
        match &e.kind {
            ExprKind::Place(place) => self.element(&place.name, e.span),
            _ => Err(Refused::new(e.span, "a type is expected", "write its name")),
        }
    }

    fn convert(&mut self, name: &str, args: &[Expr], span: Span) -> Result<Data, Refused> {
        let element = self.element(name, span).map_err(|refused| {
            let near = suggest(name, FUNCTIONS.iter().map(|f| f.0));
            Refused {
                message: format!("there is no function `{name}`"),
                hint: match near {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => refused.hint,
                },
                ..refused
            }
        })?;
        let [arg] = args else {
            let message = format!("`{name}` converts one value");
            return Err(Refused::new(span, message, "give it one"));
        };
        match self.expression(arg)? {
            Data::Int(n) => Ok(Data::Value(expect(Data::Int(n), element, span)?)),
            Data::Value(v) if v.element == element => Ok(Data::Value(v)),
            Data::Value(v) if v.element == Element::Mask => Err(Refused::new(
                span,
                "a condition is no number",
                "choose between two: `select(condition, 1, 0)`",
            )),
            Data::Value(v)
                if matches!(v.element, Element::Float(_))
                    && !matches!(element, Element::Float(_)) =>
            {
                Err(Refused::new(
                    span,
                    "a float does not simply become an integer",
                    format!("`sat({name}, …)` rounds and clamps"),
                ))
            }
            Data::Value(v) => Ok(unary(Unary::Convert, v, element)),
        }
    }
}

fn unary(op: Unary, value: Value, element: Element) -> Data {
    typed(ValueKind::Unary(op, Box::new(value)), element)
}

/// Two values of one type.
fn of_one_type(
    (x, y): (Data, Data),
    [at_x, at_y]: [Span; 2],
) -> Result<(Value, Value, Element), Refused> {
    let element = match (&x, &y) {
        (Data::Value(v), _) | (_, Data::Value(v)) => v.element,
        _ => WIDE,
    };
    Ok((
        expect(x, element, at_x)?,
        expect(y, element, at_y)?,
        element,
    ))
}
