//! Evaluates the expressions of a body.
//!
//! In: an expression and the variables. Out: a [`Value`]. Slices of registers keep how their
//! elements are read; slices of other values are unsigned. Products of floats stay open until
//! what they are added to is known. Places in memory are read by [`super::place`].

use super::float;
use super::machine::{Execution, Fault, Run, Slot, at, fault, fault_with_hint};
use super::place::Offset;
use super::register::Piece;
use super::value::{self, Class, Sym, Value};
use super::{compare, select, state};
use crate::pseudocode::ast::{BinaryOp, Expr, ExprKind, Name, UnaryOp, field_width};
use crate::pseudocode::tree::{BOTH, EITHER};
use semantics::build as b;
use semantics::diagnostic::suggest;
use semantics::op::OpCode;
use semantics::span::Span;

impl Execution {
    /// The value of an expression.
    pub(crate) fn eval(&mut self, e: &Expr) -> Run<Value> {
        let v = self.eval_open(e)?;
        Ok(float::closed(&self.floats, v))
    }

    /// The value of an expression, whose products may still be fused with a sum.
    pub(crate) fn eval_open(&mut self, e: &Expr) -> Run<Value> {
        let v = match &e.kind {
            ExprKind::Int(k) => at(value::moderate(Some(*k)).map(Value::Int), e.span)?,
            ExprKind::Decimal(text) if text.chars().all(|c| matches!(c, '0' | '.')) => {
                Value::Int(0)
            }
            ExprKind::Decimal(text) => match text.parse() {
                Ok(number) => Value::Real(number),
                Err(_) => return fault("this is not a number", e.span),
            },
            ExprKind::Name(name) => self.name(name, e.span)?,
            ExprKind::Unary(op, x) => self.unary(*op, x, e.span)?,
            ExprKind::Binary(op, x, y) => self.binary(*op, x, y, e.span)?,
            ExprKind::Variable(x, y) => self.variable_operator(x, y, e.span)?,
            ExprKind::Choice(c, x, y) => self.choice(c, x, y)?,
            ExprKind::Slice(..) | ExprKind::Index(..) | ExprKind::Field(..) => self.part(e)?,
            ExprKind::Call(name, args) => self.calling(name, args, e.span)?,
            ExprKind::Numbered(name, number) => {
                let name = self.numbered(name, number)?;
                self.name(&name, e.span)?
            }
        };
        if v.is_unwieldy() {
            return fault("this value is made of too many parts", e.span);
        }
        Ok(match v.width() {
            Some(_) if self.dialect.has_bits() => Value::of_bits(at(v.sym(), e.span)?.term),
            _ => v.settled(),
        })
    }

    /// The slot that a name refers to: of the call, else of the body around it.
    pub(crate) fn slot(&self, name: &Name) -> Option<&Slot> {
        let name = self.aliases.get(name).unwrap_or(name);
        let inner = self.frames.last()?;
        inner
            .slots
            .get(name)
            .or_else(|| self.frames.first()?.slots.get(name))
    }

    fn name(&mut self, name: &Name, span: Span) -> Run<Value> {
        self.events.name(name);
        if let Some(slot) = self.slot(name) {
            return Ok(match slot {
                Slot::Scalar(v) => v.clone(),
                Slot::Bits(register) => of_piece(register.whole()),
            });
        }
        if let Some(k) = self.constants.get(name) {
            return Ok(Value::Int(*k));
        }
        if let Some(v) = self.dialect.constant(name) {
            return Ok(v);
        }
        // Where bits have a width, what was never written has none.
        if self.assigned.contains_key(name) && !self.dialect.has_bits() {
            return Ok(Value::Int(0));
        }
        self.unknown_name(name, span)
    }

    /// The name that `name{number}` is.
    pub(crate) fn numbered(&mut self, name: &Name, number: &Expr) -> Run<Name> {
        let number = self.known(number)?;
        Ok(Name::from(format!("{name}{number}")))
    }

    /// A name that nothing gives a value.
    pub(crate) fn unknown_name<T>(&self, name: &Name, span: Span) -> Run<T> {
        let known = self
            .frames
            .iter()
            .flat_map(|f| f.slots.keys())
            .chain(self.assigned.keys());
        let hint = suggest(name, known.map(|n| &**n));
        Err(Box::new(Fault {
            message: format!("`{name}` has no value"),
            span,
            hint: hint.map(|h| format!("did you mean `{h}`?")),
        }))
    }

    fn unary(&mut self, op: UnaryOp, x: &Expr, span: Span) -> Run<Value> {
        match op {
            UnaryOp::LogicalNot => self.condition(x).map(|c| Value::Truth(b::negate(c))),
            UnaryOp::Plus => self.eval(x),
            UnaryOp::Negate if matches!(&x.kind, ExprKind::Decimal(_)) => {
                let ExprKind::Decimal(text) = &x.kind else {
                    unreachable!("just matched")
                };
                Ok(Value::Real(-text.parse::<f64>().unwrap_or_default()))
            }
            UnaryOp::Negate => {
                let v = self.eval_open(x)?;
                if let Some(negated) = float::negate(&v) {
                    return Ok(negated);
                }
                at(value::neg(&v), span)
            }
            UnaryOp::Not => {
                let v = self.eval(x)?;
                let own = self.dialect.complement(&v);
                at(own.unwrap_or_else(|| value::complement(&v)), span)
            }
        }
    }

    fn binary(&mut self, op: BinaryOp, x: &Expr, y: &Expr, span: Span) -> Run<Value> {
        let left = self.eval_open(x)?;
        // A known side that decides leaves the other one unread, as in a condition.
        match (op, left.known()) {
            (BinaryOp::And, Some(0)) => return Ok(Value::Int(0)),
            (BinaryOp::Or, Some(k)) if k != 0 && matches!(left, Value::Truth(_)) => {
                return Ok(left);
            }
            _ => {}
        }
        let right = self.eval_open(y)?;
        if let (Some(k), Some(other)) = (below_zero(y), opposite(op)) {
            let message = format!("this shifts by {k}");
            return fault_with_hint(message, y.span, format!("write `{other} {}`", -k));
        }
        at(self.apply(op, left, right), span)
    }

    /// Applies an infix operator, to floats where one side is one.
    pub(crate) fn apply(&self, op: BinaryOp, x: Value, y: Value) -> value::Computed<Value> {
        let (x, y) = match op {
            BinaryOp::Add | BinaryOp::Sub => (x, y),
            _ => (
                float::closed(&self.floats, x),
                float::closed(&self.floats, y),
            ),
        };
        let own = self.dialect.apply(self, op, &x, &y);
        own.unwrap_or_else(|| apply(op, &x, &y))
    }

    fn variable_operator(&mut self, x: &Expr, y: &Expr, span: Span) -> Run<Value> {
        let (left, right) = (self.eval(x)?, self.eval(y)?);
        let operator = self.name(&Name::from("OP"), span)?;
        let c = at(self.dialect.compare(self, &operator, &left, &right), span)?;
        Ok(Value::Truth(c))
    }

    fn choice(&mut self, c: &Expr, x: &Expr, y: &Expr) -> Run<Value> {
        let condition = self.condition(c)?;
        match condition.as_bool() {
            Some(true) => self.eval(x),
            Some(false) => self.eval(y),
            None => {
                let (v, w) = (self.eval(x)?, self.eval(y)?);
                if let Some(width) = v.width() {
                    self.fits(&w, width, y.span)?;
                }
                Ok(select::select(condition, &v, &w))
            }
        }
    }

    fn calling(&mut self, name: &Name, args: &[Expr], span: Span) -> Run<Value> {
        if let (BOTH | EITHER, [x, y]) = (&**name, args) {
            return self.decided(&**name == EITHER, x, y).map(Value::Truth);
        }
        match self.functions.get(name).cloned() {
            Some(f) if !self.dialect.overrides(name) => return self.call(&f, args, span),
            _ => {}
        }
        if let Some(value) = self.dialect.form(self, name, args, span)? {
            return Ok(value);
        }
        let values: Vec<Value> = args.iter().map(|a| self.eval(a)).collect::<Run<_>>()?;
        self.function(name, &values, span)
    }

    /// The value of a function of the dialect, or an entry of a table.
    pub(crate) fn function(&self, name: &Name, args: &[Value], span: Span) -> Run<Value> {
        if let [index] = args
            && let Some(entry) = self.entry(name, index, span)
        {
            return entry;
        }
        match self.dialect.function(self, name, args) {
            Some(result) => at(result, span),
            None => self.unknown_function(name, span),
        }
    }

    /// An entry of a table that the body declares; none when it declares none of that name.
    fn entry(&self, table: &Name, index: &Value, span: Span) -> Option<Run<Value>> {
        let table = self.tables.get(table)?;
        Some(at(self.dialect.look_up(table, index), span))
    }

    /// A call of what is no function, or does not work on these values.
    fn unknown_function(&self, name: &Name, span: Span) -> Run<Value> {
        let mut known: Vec<&str> = self.dialect.functions();
        known.extend(self.functions.keys().map(|n| &**n));
        if known.contains(&&**name) {
            return fault(format!("`{name}` does not work on these values"), span);
        }
        let hint = suggest(name, known).map(|h| format!("did you mean `{h}`?"));
        Err(Box::new(Fault {
            message: format!("the function `{name}` is not described"),
            span,
            hint,
        }))
    }

    /// A slice, a bit, an element or a field.
    fn part(&mut self, e: &Expr) -> Run<Value> {
        if let ExprKind::Index(base, number) = &e.kind
            && let Some(name) = base.as_name()
            && state::is_numbered(name)
        {
            let number = self.eval(number)?;
            if let Some(read) = self.numbered_register(name, &number) {
                return at(read, e.span);
            }
        }
        if let Some(place) = self.place(e)? {
            if self.tables.contains_key(&place.name)
                && let ExprKind::Index(_, index) = &e.kind
            {
                let index = self.eval(index)?;
                let entry = self.entry(&place.name, &index, e.span);
                return entry.expect("the table was just found");
            }
            return self.read_place(&place, e.span);
        }
        match &e.kind {
            ExprKind::Slice(base, hi, lo) => {
                let v = self.eval(base)?;
                let (hi, lo) = (self.eval(hi)?, self.eval(lo)?);
                let (lo, width) = at(extent(&hi, &lo), e.span)?;
                self.slice_value(&v, &lo, width, e.span)
            }
            ExprKind::Index(base, index) => {
                if let ExprKind::Field(inner, field) = &base.kind
                    && let Some(width) = field_width(field)
                {
                    let v = self.eval(inner)?;
                    let index = self.eval(index)?;
                    let lo = at(value::mul(&index, &Value::Int(i128::from(width))), e.span)?;
                    return self.slice_value(&v, &lo, width, e.span);
                }
                let v = self.eval(base)?;
                let lo = self.eval(index)?;
                self.slice_value(&v, &lo, 1, e.span)
            }
            ExprKind::Field(base, field) => match field_width(field) {
                Some(width) => {
                    let v = self.eval(base)?;
                    self.slice_value(&v, &Value::Int(0), width, e.span)
                }
                None => fault(format!("the field `.{field}` is not described"), e.span),
            },
            _ => fault("expected a slice", e.span),
        }
    }

    /// A slice of a value that is not a register.
    pub(crate) fn slice_value(
        &mut self,
        v: &Value,
        lo: &Value,
        width: u32,
        span: Span,
    ) -> Run<Value> {
        let part = self.integer_slice(v, lo, width, span)?;
        if self.dialect.has_bits() {
            return Ok(Value::of_bits(at(part.bits(width), span)?));
        }
        Ok(part)
    }

    /// A slice as an integer, read as the elements of what it is of.
    fn integer_slice(&mut self, v: &Value, lo: &Value, width: u32, span: Span) -> Run<Value> {
        match lo.known() {
            Some(k) => {
                let Some(lo) = super::place::bit_number(k) else {
                    return fault("this slice lies outside every register", span);
                };
                if let Some(known) = v.known().filter(|_| width < 127) {
                    let shifted = known >> lo.min(127);
                    return Ok(Value::Int(shifted & ((1 << width) - 1)));
                }
                if let Value::Sym(s) = v
                    && s.plain()
                    && s.raw
                {
                    return Ok(of_piece(part_of(s, lo, width)));
                }
                let term = at(v.bits(lo + width), span)?;
                Ok(Value::unsigned(b::extract(term, lo, width)))
            }
            None => {
                let s = at(v.sym(), span)?.plainly();
                let piece = Piece {
                    term: s.term,
                    class: s.class,
                    element: s.element,
                };
                self.dynamic(piece, lo, width, span)
            }
        }
    }

    /// Bits from an offset that depends on operands.
    pub(crate) fn dynamic(
        &mut self,
        from: Piece,
        lo: &Value,
        width: u32,
        span: Span,
    ) -> Run<Value> {
        let lo = at(lo.sym(), span)?;
        let term = match at(Offset::of(&lo, width, from.term.width()), span)? {
            Offset::Element {
                start,
                count,
                index,
            } => b::elem(b::extract(from.term, start, count * width), index, width),
            Offset::Bits(offset) => b::slice(from.term, offset, width),
        };
        let class = if width >= from.element {
            from.class
        } else {
            Class::Unsigned
        };
        let element = from.element.min(width);
        Ok(of_piece(Piece {
            term,
            class,
            element,
        }))
    }
}

/// Bits of a register as a value.
pub(crate) fn of_piece(piece: Piece) -> Value {
    let mut s = Sym::new(piece.term, piece.class == Class::Signed);
    (s.class, s.element, s.raw) = (piece.class, piece.element, true);
    if s.is_float() {
        // Its bits are not the number.
        s.range = None;
    }
    Value::Sym(s)
}

/// A part of bits that were read from a register. A slice at least as wide as an element
/// is read as the elements are.
fn part_of(s: &Sym, lo: u32, width: u32) -> Piece {
    let reads = width >= s.element;
    Piece {
        term: b::extract(s.term, lo, width),
        class: if reads { s.class } else { Class::Unsigned },
        element: s.element.min(width),
    }
}

/// The lowest bit and the width of a slice `[hi:lo]`.
pub(crate) fn extent(hi: &Value, lo: &Value) -> value::Computed<(Value, u32)> {
    let difference = value::sub(hi, lo)?;
    let Some(d) = difference.known() else {
        return value::refuse("the width of this slice depends on operands");
    };
    match u32::try_from(d + 1) {
        Ok(width) if width > 0 && width <= 1 << 13 => Ok((lo.clone(), width)),
        _ => value::refuse("this slice has no bits"),
    }
}

/// A number that is written as one below 0.
fn below_zero(e: &Expr) -> Option<i128> {
    let number = match &e.kind {
        ExprKind::Unary(UnaryOp::Negate, inner) => match inner.kind {
            ExprKind::Int(k) => -k,
            _ => return None,
        },
        ExprKind::Int(k) => *k,
        _ => return None,
    };
    (number < 0).then_some(number)
}

/// The shift in the other direction.
fn opposite(op: BinaryOp) -> Option<&'static str> {
    match op {
        BinaryOp::Shl => Some(">>"),
        BinaryOp::Shr => Some("<<"),
        _ => None,
    }
}

/// Applies an infix operator to integers.
pub(crate) fn apply(op: BinaryOp, x: &Value, y: &Value) -> value::Computed<Value> {
    match op {
        BinaryOp::Add => value::add(x, y),
        BinaryOp::Sub => value::sub(x, y),
        BinaryOp::Mul => value::mul(x, y),
        BinaryOp::Div => value::divide(x, y, false),
        BinaryOp::Rem => value::divide(x, y, true),
        BinaryOp::Shl => value::shift_left(x, y),
        BinaryOp::Shr => value::shift_right(x, y),
        BinaryOp::Rotl => rotate(x, y),
        BinaryOp::And => value::bitwise(OpCode::BvAnd, x, y),
        BinaryOp::Or => value::bitwise(OpCode::BvOr, x, y),
        BinaryOp::Xor => value::bitwise(OpCode::BvXor, x, y),
        BinaryOp::Eq => compare::equal(x, y).map(Value::Truth),
        BinaryOp::Ne => compare::equal(x, y).map(|c| Value::Truth(b::negate(c))),
        BinaryOp::Lt => compare::less(x, y).map(Value::Truth),
        BinaryOp::Le => compare::at_most(x, y).map(Value::Truth),
        BinaryOp::Gt => compare::less(y, x).map(Value::Truth),
        BinaryOp::Ge => compare::at_most(y, x).map(Value::Truth),
    }
}

/// `x <<< n`: a rotation of the bits as wide as they are.
fn rotate(x: &Value, n: &Value) -> value::Computed<Value> {
    let s = x.sym()?.plainly();
    let width = s.term.width();
    let count = n.bits(width)?;
    Ok(Value::unsigned(b::rotl(s.term, count)))
}
