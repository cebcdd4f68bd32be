//! Instructions on declared state as statements of an engine.
//!
//! In: the procedures of a machine, operands that are known as functions of counters. Out: what they
//! do to cells, configuration and memory. Configuration is numbers that decide what is done; a
//! condition that does not hold alike in all rounds cuts them.

use crate::engine::Engine;
use crate::kernel::{at_most, number};
use crate::linear::Linear;
use crate::region::divided;
use crate::space::Space;
use crate::stop::Stop;
use crate::value::Value;
use semantics::instruction::Element;
use semantics::machine::Machine;
use semantics::machine::arithmetic;
use semantics::machine::procedure::Value as Expression;
use semantics::machine::procedure::{Action, Binary, CellArray, Procedure, Unary, ValueKind};
use semantics::machine::symbolic::{Sym, operators};
use semantics::term::Term;

/// A machine whose instructions are executed.
#[derive(Clone, Copy, Debug)]
pub struct Procedures<'m> {
    machine: &'m Machine,
    /// The first place of its configuration.
    fields: usize,
}

/// A procedure that is performed.
struct Frame {
    operands: Vec<Linear>,
    slots: Vec<Value>,
    depth: u32,
}

/// How deep procedures perform others at most.
const DEPTH: u32 = 32;

impl<'m> Procedures<'m> {
    /// The procedures of a machine, whose fields lie in an engine's places from one on.
    pub fn new(machine: &'m Machine, fields: usize) -> Procedures<'m> {
        Procedures { machine, fields }
    }

    /// A machine's configuration as it is after a reset.
    pub fn reset(&self, engine: &mut Engine<'_>) {
        for field in &self.machine.state.fields {
            for k in 0..field.count as usize {
                if let Some(value) = field.reset {
                    engine.set_place(self.fields + field.first + k, Value::number(value));
                }
            }
        }
    }

    /// Runs an instruction.
    ///
    /// # Errors
    /// What it does is not known, or not allowed.
    pub fn run(
        &self,
        instruction: usize,
        operands: Vec<Linear>,
        engine: &mut Engine<'_>,
    ) -> Result<(), Stop> {
        let at = self.machine.instructions[instruction].procedure;
        let at =
            at.ok_or_else(|| Stop::because("an instruction does nothing to declared state"))?;
        if engine.records(instruction, &operands) {
            return Ok(());
        }
        self.perform(at, operands, 0, engine)
    }

    fn perform(
        &self,
        at: usize,
        operands: Vec<Linear>,
        depth: u32,
        engine: &mut Engine<'_>,
    ) -> Result<(), Stop> {
        if depth > DEPTH {
            return Err(Stop::because("procedures perform each other too deeply"));
        }
        let procedure = &self.machine.procedures[at];
        let mut frame = Frame {
            operands,
            slots: vec![Value::number(0); procedure.slots],
            depth,
        };
        let body = Body {
            of: *self,
            procedure,
        };
        body.block(&procedure.body, &mut frame, engine)
    }
}

/// The steps of a procedure.
#[derive(Clone, Copy)]
struct Body<'m> {
    of: Procedures<'m>,
    procedure: &'m Procedure,
}

impl Body<'_> {
    fn block(&self, body: &[Action], f: &mut Frame, e: &mut Engine<'_>) -> Result<(), Stop> {
        body.iter().try_for_each(|action| self.action(action, f, e))
    }

    fn action(&self, action: &Action, f: &mut Frame, e: &mut Engine<'_>) -> Result<(), Stop> {
        match action {
            Action::Let(slot, value) => f.slots[*slot] = self.value(value, f, e)?,
            Action::Field(first, index, value) => {
                let at = self.field(*first, index, f, e)?;
                let value = self.known(value, f, e)?;
                e.set_place(at, Value::Known(value));
            }
            Action::Cell(array, row, column, value) => {
                let (space, at, width) = self.cell(*array, (row, column), f, e)?;
                let value = self.value(value, f, e)?;
                e.write(space, &at, width, value)?;
            }
            Action::Memory(address, value) => {
                let width = value.element.width().unwrap_or(64);
                let (array, at) = self.address(address, f, e)?;
                let value = self.value(value, f, e)?;
                e.uses(array, true, true)?;
                e.write(Space::Array(array), &at, width, value)?;
            }
            Action::If(condition, then, other) => {
                let body = if self.holds(condition, f, e)? {
                    then
                } else {
                    other
                };
                self.block(body, f, e)?;
            }
            Action::For(slot, low, high, body) => {
                let (low, high) = (self.known(low, f, e)?, self.known(high, f, e)?);
                let rounds = high.minus(&low)?.as_constant();
                let rounds = rounds.ok_or_else(|| {
                    Stop::because("how often a loop of an instruction runs is not known")
                })?;
                e.repeat(rounds, &mut |e, k| {
                    f.slots[*slot] = Value::Known(low.plus(k)?);
                    self.block(body, f, e)
                })?;
            }
            Action::Require(condition, message) => {
                if !self.holds(condition, f, e)? {
                    return Err(Stop::because(message.clone()));
                }
            }
            Action::Perform(at, args) => {
                let args = args.iter().map(|a| self.known(a, f, e));
                let args = args.collect::<Result<Vec<_>, _>>()?;
                self.of.perform(*at, args, f.depth + 1, e)?;
            }
            Action::Blank(array) => {
                let (cells, space) = self.cells(*array, f);
                let (rows, columns) = (i64::from(cells.rows), i64::from(cells.columns));
                let width = cells.element.width().unwrap_or(64);
                e.blank(space, rows * columns, width)?;
            }
            Action::Spend(..) => {}
            Action::Settle => e.settle(),
        }
        Ok(())
    }

    fn field(
        &self,
        first: usize,
        index: &Expression,
        f: &mut Frame,
        e: &mut Engine<'_>,
    ) -> Result<usize, Stop> {
        let index = self.constant(index, f, e)?;
        let index = usize::try_from(index).map_err(|_| Stop::because("there is no such field"))?;
        Ok(self.of.fields + first + index)
    }

    fn cells(&self, array: usize, f: &Frame) -> (&CellArray, Space) {
        let all = &self.of.machine.state.arrays;
        match all.get(array) {
            Some(cells) => (cells, Space::Cells(number(array))),
            None => {
                let own = array - all.len();
                let space = Space::Own(f.depth, number(own));
                (&self.procedure.arrays[own], space)
            }
        }
    }

    /// Where a cell lies, and its bits.
    fn cell(
        &self,
        array: usize,
        (row, column): (&Expression, &Expression),
        f: &mut Frame,
        e: &mut Engine<'_>,
    ) -> Result<(Space, Linear, u32), Stop> {
        let (row, column) = (self.known(row, f, e)?, self.known(column, f, e)?);
        let (cells, space) = self.cells(array, f);
        let counters = &e.leaves.counters;
        crate::region::inside(counters, &row, i64::from(cells.rows))?;
        crate::region::inside(counters, &column, i64::from(cells.columns))?;
        let width = cells.element.width().unwrap_or(64);
        let at = row.times(i64::from(cells.columns))?.plus(&column)?;
        Ok((space, at.times(i64::from(width))?, width))
    }

    /// The array that an address is in, and where.
    fn address(
        &self,
        address: &Expression,
        f: &mut Frame,
        e: &mut Engine<'_>,
    ) -> Result<(u32, Linear), Stop> {
        let mut at = self.known(address, f, e)?;
        let array = at.base.take();
        let array = array.ok_or_else(|| Stop::because("an address is in no array"))?;
        Ok((array, at.times(8)?))
    }

    fn known(&self, v: &Expression, f: &mut Frame, e: &mut Engine<'_>) -> Result<Linear, Stop> {
        match self.value(v, f, e)? {
            Value::Known(n) => Ok(n),
            Value::Term(_) => Err(Stop::because("what an instruction does depends on data")),
        }
    }

    fn constant(&self, v: &Expression, f: &mut Frame, e: &mut Engine<'_>) -> Result<i64, Stop> {
        let known = self.known(v, f, e)?.as_constant();
        known.ok_or_else(|| Stop::because("a number depends on a loop"))
    }

    fn holds(&self, v: &Expression, f: &mut Frame, e: &mut Engine<'_>) -> Result<bool, Stop> {
        Ok(self.constant(v, f, e)? != 0)
    }

    fn value(&self, v: &Expression, f: &mut Frame, e: &mut Engine<'_>) -> Result<Value, Stop> {
        Ok(match &v.kind {
            ValueKind::Constant(n) => Value::number(*n),
            ValueKind::Local(slot) => f.slots[*slot].clone(),
            ValueKind::Operand(k) => Value::Known(f.operands[*k].clone()),
            ValueKind::Field(first, index) => {
                let at = self.field(*first, index, f, e)?;
                let name = || self.of.machine.state.field_name(at - self.of.fields);
                let value = e.place(at);
                value.ok_or_else(|| Stop::First(format!("`{}` was never set", name())))?
            }
            ValueKind::Cell(array, row, column) => {
                let (space, at, width) = self.cell(*array, (row, column), f, e)?;
                e.read(space, &at, width)?
            }
            ValueKind::Memory(address) => {
                let (array, at) = self.address(address, f, e)?;
                e.uses(array, true, false)?;
                e.read(Space::Array(array), &at, v.element.width().unwrap_or(64))?
            }
            ValueKind::Unary(op, a) => {
                let x = self.value(a, f, e)?;
                unary(*op, &x, a.element, v.element)?
            }
            ValueKind::Binary(op, a, b) => {
                let x = self.value(a, f, e)?;
                // A conjunction with something false, and its like, ends there.
                if v.element == Element::Mask
                    && let Some(decided) = decides(*op, &x)
                {
                    return Ok(decided);
                }
                let y = self.value(b, f, e)?;
                binary(*op, (&x, &y), a.element, v.element, e)?
            }
            ValueKind::Select(c, a, b) => match self.value(c, f, e)? {
                Value::Known(c) => {
                    let c = c.as_constant();
                    let c = c.ok_or_else(|| Stop::because("a condition is not known"))?;
                    self.value(if c == 0 { b } else { a }, f, e)?
                }
                Value::Term(c) => {
                    let (x, y) = (self.value(a, f, e)?, self.value(b, f, e)?);
                    let width = a.element.width().unwrap_or(64);
                    let (x, y) = (e.leaves.term(&x, width), e.leaves.term(&y, width));
                    Value::Term(crate::choice::chosen(c, x, y))
                }
            },
        })
    }
}

/// A condition whose second side does not matter.
fn decides(op: Binary, first: &Value) -> Option<Value> {
    let Value::Known(first) = first else {
        return None;
    };
    match (op, first.as_constant()?) {
        (Binary::And, 0) => Some(Value::number(0)),
        (Binary::Or, n) if n != 0 => Some(Value::number(1)),
        _ => None,
    }
}

fn unary(op: Unary, x: &Value, from: Element, to: Element) -> Result<Value, Stop> {
    match x {
        Value::Known(n) => match n.as_constant() {
            Some(n) => Ok(Value::number(arithmetic::unary(op, n, from, to))),
            None => Err(Stop::because("a number that a loop moves is converted")),
        },
        Value::Term(t) => {
            let term = operators::unary(op, *t, from, to).map_err(Stop::Because)?;
            Ok(Value::Term(term))
        }
    }
}

fn binary(
    op: Binary,
    (x, y): (&Value, &Value),
    element: Element,
    result: Element,
    e: &mut Engine<'_>,
) -> Result<Value, Stop> {
    if let (Value::Known(a), Value::Known(b)) = (x, y) {
        if let (Some(a), Some(b)) = (a.as_constant(), b.as_constant()) {
            return Ok(Value::number(arithmetic::binary(op, a, b, element)));
        }
        return of_numbers(op, (a, b), result, e).map(Value::Known);
    }
    let nothing = op == Binary::Mul && !matches!(element, Element::Float(_));
    let zero = |v: &Value| matches!(v, Value::Known(n) if n.as_constant() == Some(0));
    if nothing && (zero(x) || zero(y)) {
        return Ok(Value::number(0));
    }
    let width = element.width().unwrap_or(64);
    let mut sym = |v: &Value| match v {
        Value::Known(n) => match n.as_constant() {
            Some(n) => Sym::Known(n),
            None => Sym::Term(e.leaves.number(n, width)),
        },
        Value::Term(t) => Sym::Term(*t),
    };
    let (x, y) = (sym(x), sym(y));
    let term: Term = operators::binary(op, x, y, element).map_err(Stop::Because)?;
    Ok(Value::Term(term))
}

/// An operator on numbers that loops move; nothing wraps, or it is not known.
fn of_numbers(
    op: Binary,
    (a, b): (&Linear, &Linear),
    result: Element,
    e: &mut Engine<'_>,
) -> Result<Linear, Stop> {
    let unknown =
        || Stop::because("a number that a loop moves is computed in a way that is not followed");
    let counters = &e.leaves.counters;
    let found = match op {
        Binary::Add => a.plus(b)?,
        Binary::Sub => a.minus(b)?,
        Binary::Mul => match (a.as_constant(), b.as_constant()) {
            (_, Some(n)) => a.times(n)?,
            (Some(n), _) => b.times(n)?,
            _ => return Err(unknown()),
        },
        Binary::Div | Binary::Rem | Binary::Shr | Binary::And => {
            let by = b.as_constant().ok_or_else(unknown)?;
            let by = match op {
                Binary::Shr if (0..62).contains(&by) => 1 << by,
                Binary::And if by == -1 => return Ok(a.clone()),
                Binary::And if by > 0 && (by & by.wrapping_add(1)) == 0 => by + 1,
                Binary::Div | Binary::Rem if by > 0 => by,
                _ => return Err(unknown()),
            };
            if a.base.is_some() {
                return Err(unknown());
            }
            let (whole, left) = divided(counters, a, by, i128::from(by) - 1)?;
            match op {
                Binary::Div | Binary::Shr => whole,
                _ => left,
            }
        }
        Binary::Shl => {
            let by = b.as_constant().filter(|n| (0..62).contains(n));
            a.times(1 << by.ok_or_else(unknown)?)?
        }
        Binary::Min | Binary::Max => {
            let least = at_most(a, b, e)? == (op == Binary::Min);
            if least { a.clone() } else { b.clone() }
        }
        Binary::Equal => Linear::constant(i64::from(equal(a, b, e)?)),
        Binary::Below => Linear::constant(i64::from(!at_most(b, a, e)?)),
        Binary::AtMost => Linear::constant(i64::from(at_most(a, b, e)?)),
        Binary::Or | Binary::Xor | Binary::RoundShr => return Err(unknown()),
    };
    if result != Element::Mask && found.base.is_none() {
        let (low, high) = e.leaves.counters.range(&found);
        let (least, most) = arithmetic::range(result);
        if low < i128::from(least) || high > i128::from(most) {
            return Err(unknown());
        }
    }
    Ok(found)
}

/// Whether two numbers are equal. No array begins at 0.
fn equal(a: &Linear, b: &Linear, e: &Engine<'_>) -> Result<bool, Stop> {
    match (a.base, b.base) {
        (Some(_), None) if b.as_constant() == Some(0) => Ok(false),
        (None, Some(_)) if a.as_constant() == Some(0) => Ok(false),
        _ => Ok(at_most(a, b, e)? && at_most(b, a, e)?),
    }
}
