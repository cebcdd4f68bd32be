//! Bodies on declared state: names resolved, every expression typed.
//!
//! In: statements, the machine's state, sizes, types, and the procedures that may be
//! performed. Out: a [`Procedure`]. Operands and variables of loops are signed numbers of 64
//! bits; a literal takes the type of what it meets; two types never mix unless one is
//! converted. Nothing is run.

mod call;

use super::ast::{Expr, ExprKind, Operator, Place, Statement};
use crate::pseudocode::reading::Refused;
use semantics::diagnostic::suggest;
use semantics::instruction::Element;
use semantics::machine::procedure::{
    Action, Binary, CellArray, Procedure, State, Unary, Value, ValueKind,
};
use semantics::span::Span;
use std::collections::BTreeMap;

/// Numbers that the description fixes, and everything else.
#[derive(Clone, Debug)]
pub(super) enum Data {
    /// Fixed, and of any type.
    Int(i64),
    /// Typed.
    Value(Value),
}

/// What a body may use.
#[derive(Clone, Debug)]
pub(crate) struct Scope<'a> {
    /// Sizes.
    pub(crate) parameters: &'a BTreeMap<String, i64>,
    /// Types by name.
    pub(crate) types: &'a BTreeMap<String, Element>,
    /// Arrays, fields, queues.
    pub(crate) state: &'a State,
    /// What may be performed.
    pub(crate) procedures: &'a [Procedure],
}

pub(super) const WIDE: Element = Element::Signed(64);
const MEMORY: &str = "mem";

/// The procedure of a body.
pub(crate) fn lower(
    name: &str,
    operands: &[String],
    body: &[Statement],
    scope: &Scope<'_>,
) -> Result<Procedure, Refused> {
    let mut lowering = Lowering {
        scope,
        operands,
        names: Vec::new(),
        slots: 0,
        arrays: Vec::new(),
    };
    let body = lowering.block(body)?;
    Ok(Procedure {
        name: name.to_owned(),
        operands: operands.to_vec(),
        slots: lowering.slots,
        arrays: lowering.arrays,
        body,
    })
}

struct Lowering<'a> {
    scope: &'a Scope<'a>,
    operands: &'a [String],
    names: Vec<(String, Data)>,
    slots: usize,
    arrays: Vec<CellArray>,
}

pub(super) fn typed(kind: ValueKind, element: Element) -> Data {
    Data::Value(Value { kind, element })
}

fn spelled(element: Element) -> String {
    match element {
        Element::Signed(w) => format!("s{w}"),
        Element::Mask => "a condition".to_owned(),
        other => other.to_string(),
    }
}

/// Data as a value of that type.
pub(super) fn expect(data: Data, element: Element, span: Span) -> Result<Value, Refused> {
    match data {
        Data::Value(value) if value.element == element => Ok(value),
        Data::Value(value) => {
            let (own, wanted) = (spelled(value.element), spelled(element));
            let message = format!("this is {own}, and {wanted} is expected");
            Err(Refused::new(
                span,
                message,
                format!("convert it: `{wanted}(…)`"),
            ))
        }
        Data::Int(n) => {
            let fits = match element {
                Element::Float(_) => n == 0,
                Element::Mask => false,
                _ => semantics::machine::arithmetic::wrap(n, element) == n,
            };
            if !fits {
                let message = format!("{n} is no {}", spelled(element));
                let hint = "only 0 is a number of every type, and of no condition";
                return Err(Refused::new(span, message, hint));
            }
            Ok(Value {
                kind: ValueKind::Constant(n),
                element,
            })
        }
    }
}

impl Lowering<'_> {
    fn block(&mut self, body: &[Statement]) -> Result<Vec<Action>, Refused> {
        let known = self.names.len();
        let mut actions = Vec::new();
        for statement in body {
            actions.extend(self.statement(statement)?);
        }
        self.names.truncate(known);
        Ok(actions)
    }

    fn slot(&mut self, name: &str, element: Element) -> usize {
        let slot = self.slots;
        self.slots += 1;
        let local = typed(ValueKind::Local(slot), element);
        self.names.push((name.to_owned(), local));
        slot
    }

    fn wide(&mut self, e: &Expr) -> Result<Value, Refused> {
        let data = self.expression(e)?;
        expect(data, WIDE, e.span)
    }

    fn condition(&mut self, e: &Expr) -> Result<Value, Refused> {
        let data = self.expression(e)?;
        expect(data, Element::Mask, e.span)
    }

    fn number(&mut self, e: &Expr) -> Result<i64, Refused> {
        match self.expression(e)? {
            Data::Int(n) => Ok(n),
            Data::Value(_) => Err(Refused::new(
                e.span,
                "this must be a number that the description fixes",
                "write a number or a size of the manifest",
            )),
        }
    }

    fn statement(&mut self, statement: &Statement) -> Result<Option<Action>, Refused> {
        Ok(Some(match statement {
            Statement::For {
                name,
                low,
                high,
                body,
                ..
            } => {
                let (low, high) = (self.wide(low)?, self.wide(high)?);
                let slot = self.slot(name, WIDE);
                let body = self.block(body)?;
                self.names.pop();
                Action::For(slot, low, high, body)
            }
            Statement::Let { name, value } => match self.expression(value)? {
                Data::Value(value) => {
                    let slot = self.slot(name, value.element);
                    Action::Let(slot, value)
                }
                fixed => {
                    self.names.push((name.clone(), fixed));
                    return Ok(None);
                }
            },
            Statement::Assign { place, adds, value } => self.assign(place, *adds, value)?,
            Statement::If {
                condition,
                then,
                other,
                ..
            } => Action::If(
                self.condition(condition)?,
                self.block(then)?,
                self.block(other)?,
            ),
            Statement::Require {
                condition, message, ..
            } => Action::Require(self.condition(condition)?, message.clone()),
            Statement::Spend {
                queue,
                cycles,
                span,
            } => Action::Spend(self.queue(queue, *span)?, self.wide(cycles)?),
            Statement::Perform {
                name,
                arguments,
                span,
            } => self.perform(name, arguments, *span)?,
            Statement::Settle { .. } => Action::Settle,
            Statement::Blank {
                name,
                element,
                rows,
                columns,
                span,
            } => {
                let element = self.element(element, *span)?;
                let (rows, columns) = (self.number(rows)?, self.number(columns)?);
                self.blank(name, element, (rows, columns), *span)?
            }
        }))
    }

    fn queue(&self, name: &str, span: Span) -> Result<usize, Refused> {
        let queues = &self.scope.state.queues;
        queues.iter().position(|q| q.name == name).ok_or_else(|| {
            let names: Vec<&str> = queues.iter().map(|q| q.name.as_str()).collect();
            let hint = format!("the manifest has {}", names.join(", "));
            Refused::new(span, format!("there is no queue `{name}`"), hint)
        })
    }

    fn perform(&mut self, name: &str, args: &[Expr], span: Span) -> Result<Action, Refused> {
        let procedures = self.scope.procedures;
        let Some(at) = procedures.iter().position(|p| p.name == name) else {
            let hint = match suggest(name, procedures.iter().map(|p| p.name.as_str())) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "it must stand before this one".to_owned(),
            };
            let message = format!("there is no procedure `{name}`");
            return Err(Refused::new(span, message, hint));
        };
        let wanted = procedures[at].operands.len();
        if wanted != args.len() {
            let message = format!(
                "`{name}` has {wanted} operands, and here are {}",
                args.len()
            );
            let hint = procedures[at].operands.join(", ");
            return Err(Refused::new(span, message, hint));
        }
        let args = args.iter().map(|a| self.wide(a));
        Ok(Action::Perform(at, args.collect::<Result<_, _>>()?))
    }

    fn blank(
        &mut self,
        name: &str,
        element: Element,
        (rows, columns): (i64, i64),
        span: Span,
    ) -> Result<Action, Refused> {
        let most = i64::from(semantics::machine::procedure::MAX_COLUMNS);
        if !(1..=1 << 20).contains(&rows) || !(1..=most).contains(&columns) {
            let message = format!("an array of {rows} rows of {columns} cannot be");
            return Err(Refused::new(
                span,
                message,
                format!("a row has 1 to {most} cells"),
            ));
        }
        let size = |n: i64| u32::try_from(n).expect("bounded above");
        self.arrays.push(CellArray {
            name: name.to_owned(),
            rows: size(rows),
            columns: size(columns),
            element,
        });
        Ok(Action::Blank(
            self.scope.state.arrays.len() + self.arrays.len() - 1,
        ))
    }

    fn array(&self, name: &str) -> Option<(usize, Element)> {
        let all = self.scope.state.arrays.iter().chain(&self.arrays);
        let found = all.enumerate().filter(|(_, a)| a.name == name).last()?;
        Some((found.0, found.1.element))
    }

    pub(super) fn element(&self, name: &str, span: Span) -> Result<Element, Refused> {
        self.scope.types.get(name).copied().ok_or_else(|| {
            let names = self.scope.types.keys().map(String::as_str);
            let hint = match suggest(name, names.clone()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("there are {}", names.collect::<Vec<_>>().join(", ")),
            };
            Refused::new(span, format!("there is no type `{name}`"), hint)
        })
    }

    fn assign(&mut self, place: &Place, adds: bool, value: &Expr) -> Result<Action, Refused> {
        let mut data = self.expression(value)?;
        if adds {
            let old = self.place(place)?;
            data = self.binary(Operator::Add, old, data, value.span)?;
        }
        if place.name == MEMORY {
            let (element, address) = self.memory(place)?;
            return Ok(Action::Memory(address, expect(data, element, value.span)?));
        }
        if let Some((array, element)) = self.array(&place.name) {
            let (row, column) = self.cell(place)?;
            let value = expect(data, element, value.span)?;
            return Ok(Action::Cell(array, row, column, value));
        }
        if let Some(at) = self.field(&place.name) {
            let (first, element) = {
                let f = &self.scope.state.fields[at];
                (f.first, f.element)
            };
            let index = self.index(place, at)?;
            let value = expect(data, element, value.span)?;
            return Ok(Action::Field(first, index, value));
        }
        let message = format!("`{}` cannot be written", place.name);
        let hint = "arrays, fields and `mem` are written; `let` makes a new name";
        Err(Refused::new(place.span, message, hint))
    }

    fn field(&self, name: &str) -> Option<usize> {
        self.scope.state.fields.iter().position(|f| f.name == name)
    }

    fn index(&mut self, place: &Place, at: usize) -> Result<Value, Refused> {
        let count = self.scope.state.fields[at].count;
        match place.indices.as_slice() {
            [] if count == 1 => Ok(Value::number(0)),
            [index] if count > 1 => self.wide(index),
            _ => Err(Refused::new(
                place.span,
                format!("there are {count} of `{}`", place.name),
                "one is written by its name, several with a number: `name[0]`",
            )),
        }
    }

    fn cell(&mut self, place: &Place) -> Result<(Value, Value), Refused> {
        match place.indices.as_slice() {
            [row, column] if place.view.is_none() => Ok((self.wide(row)?, self.wide(column)?)),
            _ => Err(Refused::new(
                place.span,
                format!("a cell of `{}` has a row and a column", place.name),
                format!("write `{}[row][column]`", place.name),
            )),
        }
    }

    fn memory(&mut self, place: &Place) -> Result<(Element, Value), Refused> {
        let (Some(view), [address]) = (&place.view, place.indices.as_slice()) else {
            let message = "memory is read by type and address";
            return Err(Refused::new(place.span, message, "write `mem.s8[address]`"));
        };
        Ok((self.element(view, place.span)?, self.wide(address)?))
    }

    fn place(&mut self, place: &Place) -> Result<Data, Refused> {
        if place.name == MEMORY {
            let (element, address) = self.memory(place)?;
            return Ok(typed(ValueKind::Memory(Box::new(address)), element));
        }
        let plain = place.view.is_none() && place.indices.is_empty();
        let local = self.names.iter().rev().find(|(n, _)| *n == place.name);
        if let Some((_, data)) = local.filter(|_| plain) {
            return Ok(data.clone());
        }
        if let Some((array, element)) = self.array(&place.name) {
            let (row, column) = self.cell(place)?;
            let kind = ValueKind::Cell(array, Box::new(row), Box::new(column));
            return Ok(typed(kind, element));
        }
        if let Some(at) = self.field(&place.name) {
            let index = self.index(place, at)?;
            let field = &self.scope.state.fields[at];
            let kind = ValueKind::Field(field.first, Box::new(index));
            return Ok(typed(kind, field.element));
        }
        if let Some(k) = self.operands.iter().position(|o| *o == place.name)
            && plain
        {
            return Ok(typed(ValueKind::Operand(k), WIDE));
        }
        if let Some(&n) = self.scope.parameters.get(&place.name).filter(|_| plain) {
            return Ok(Data::Int(n));
        }
        Err(self.unknown(place))
    }

    fn unknown(&self, place: &Place) -> Refused {
        let state = self.scope.state;
        let names = (self.names.iter().map(|n| n.0.as_str()))
            .chain(self.operands.iter().map(String::as_str))
            .chain(state.arrays.iter().map(|a| a.name.as_str()))
            .chain(state.fields.iter().map(|f| f.name.as_str()))
            .chain(self.scope.parameters.keys().map(String::as_str));
        let hint = match suggest(&place.name, names.clone()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are {}", names.collect::<Vec<_>>().join(", ")),
        };
        Refused::new(place.span, format!("unknown name `{}`", place.name), hint)
    }

    fn expression(&mut self, e: &Expr) -> Result<Data, Refused> {
        match &e.kind {
            ExprKind::Number(n) => Ok(Data::Int(*n)),
            ExprKind::Place(place) => self.place(place),
            ExprKind::Negate(inner) => match self.expression(inner)? {
                Data::Int(n) => Ok(Data::Int(n.wrapping_neg())),
                value => self.binary(Operator::Sub, Data::Int(0), value, e.span),
            },
            ExprKind::Not(inner) => match self.expression(inner)? {
                Data::Int(n) => Ok(Data::Int(!n)),
                Data::Value(v) => {
                    let element = v.element;
                    Ok(typed(ValueKind::Unary(Unary::Not, Box::new(v)), element))
                }
            },
            ExprKind::Binary(op, a, b) => {
                let (a, b) = (self.expression(a)?, self.expression(b)?);
                self.binary(*op, a, b, e.span)
            }
            ExprKind::Call(name, args) => self.call(name, args, e.span),
        }
    }

    fn binary(&self, op: Operator, a: Data, b: Data, span: Span) -> Result<Data, Refused> {
        let element = match (&a, &b) {
            (Data::Int(x), Data::Int(y)) => return fixed(op, *x, *y, span),
            (Data::Value(v), _) | (_, Data::Value(v)) => v.element,
        };
        let (a, b) = (expect(a, element, span)?, expect(b, element, span)?);
        let (op, swapped, negated) = operator(op);
        let joins = matches!(op, Binary::And | Binary::Or | Binary::Equal);
        if element == Element::Mask && !joins {
            let message = "conditions are joined by `&` and `|`";
            return Err(Refused::new(span, message, "or compared by `==`"));
        }
        let (a, b) = if swapped { (b, a) } else { (a, b) };
        let kind = ValueKind::Binary(op, Box::new(a), Box::new(b));
        if !op.compares() {
            return Ok(typed(kind, element));
        }
        let value = Value {
            kind,
            element: Element::Mask,
        };
        Ok(Data::Value(match negated {
            true => Value {
                kind: ValueKind::Unary(Unary::Not, Box::new(value)),
                element: Element::Mask,
            },
            false => value,
        }))
    }
}

/// The operator, whether its sides are exchanged, whether its result is turned over.
fn operator(op: Operator) -> (Binary, bool, bool) {
    use Operator as O;
    match op {
        O::Shl => (Binary::Shl, false, false),
        O::Shr => (Binary::Shr, false, false),
        O::Equal => (Binary::Equal, false, false),
        O::Differs => (Binary::Equal, false, true),
        O::AtMost => (Binary::AtMost, false, false),
        O::Below => (Binary::Below, false, false),
        O::AtLeast => (Binary::AtMost, true, false),
        O::Above => (Binary::Below, true, false),
        O::Or => (Binary::Or, false, false),
        O::Xor => (Binary::Xor, false, false),
        O::And => (Binary::And, false, false),
        O::Add => (Binary::Add, false, false),
        O::Sub => (Binary::Sub, false, false),
        O::Mul => (Binary::Mul, false, false),
        O::Div => (Binary::Div, false, false),
        O::Rem => (Binary::Rem, false, false),
    }
}

/// An operator on numbers that the description fixes.
fn fixed(op: Operator, x: i64, y: i64, span: Span) -> Result<Data, Refused> {
    let (op, swapped, negated) = operator(op);
    let (x, y) = if swapped { (y, x) } else { (x, y) };
    if matches!(op, Binary::Div | Binary::Rem) && y == 0 {
        return Err(Refused::new(span, "this divides by 0", "take another size"));
    }
    let n = semantics::machine::arithmetic::binary(op, x, y, WIDE);
    match op.compares() {
        false => Ok(Data::Int(n)),
        true => Ok(typed(
            ValueKind::Constant(n ^ i64::from(negated)),
            Element::Mask,
        )),
    }
}
