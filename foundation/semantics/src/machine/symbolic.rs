//! Procedures on terms: control is known, data is anything.
//!
//! In: a machine, operands that are known, cells and memory that hold terms. Out: terms in
//! cells and memory. Fields, addresses, bounds of loops and conditions must be known; what
//! flows through cells need not be. Operators become the operators of the table, so that
//! what a command does can be proved equal to what a kernel says.

pub mod operators;

pub use operators::term;

use super::Machine;
use super::arithmetic;
use super::procedure::{Action, Binary, Procedure, Value, ValueKind};
use crate::instruction::Element;
use crate::term::Term;
use operators::{binary, select, unary};
use std::collections::HashMap;

/// A value: known, or a term.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Sym {
    /// Known.
    Known(i64),
    /// A term of the width of its type; a truth value for a condition.
    Term(Term),
}

/// What main memory holds at the start: elements by address.
pub trait Source {
    /// The element at an address; nothing where there is none.
    fn element(&mut self, address: i64, element: Element) -> Option<Term>;
}

/// State with terms in it.
#[derive(Clone, Debug)]
pub struct Symbolic<'m> {
    machine: &'m Machine,
    fields: Vec<Option<i64>>,
    cells: HashMap<(usize, i64, i64), Sym>,
    /// What was written to memory, by address.
    pub written: HashMap<i64, Sym>,
}

struct Frame<'a> {
    operands: &'a [i64],
    slots: Vec<Sym>,
    /// Cells of the procedure's own arrays.
    own: HashMap<(usize, i64, i64), Sym>,
}

/// Whether an operator gives 0 where one side is 0; of floats none does.
fn nothing(op: Binary, element: Element) -> bool {
    op == Binary::Mul && !matches!(element, Element::Float(_))
}

impl<'m> Symbolic<'m> {
    /// State after a reset.
    pub fn new(machine: &'m Machine) -> Symbolic<'m> {
        let mut fields = vec![None; machine.state.field_count()];
        for field in &machine.state.fields {
            fields[field.first..field.first + field.count as usize].fill(field.reset);
        }
        Symbolic {
            machine,
            fields,
            cells: HashMap::new(),
            written: HashMap::new(),
        }
    }

    /// Sets a cell.
    pub fn set_cell(&mut self, array: usize, row: i64, column: i64, value: Term) {
        self.cells.insert((array, row, column), Sym::Term(value));
    }

    /// A cell, when it was written.
    pub fn cell_at(&self, array: usize, row: i64, column: i64) -> Option<Sym> {
        self.cells.get(&(array, row, column)).copied()
    }

    /// Every cell that was written, with its array, row and column.
    pub fn cells(&self) -> impl Iterator<Item = ((usize, i64, i64), Sym)> + '_ {
        self.cells.iter().map(|(at, value)| (*at, *value))
    }

    /// Runs an instruction.
    ///
    /// # Errors
    /// Why it has no meaning here.
    pub fn run(
        &mut self,
        instruction: usize,
        operands: &[i64],
        memory: &mut dyn Source,
    ) -> Result<(), String> {
        match self.machine.instructions[instruction].procedure {
            Some(at) => self.perform(at, operands, memory),
            None => Err("it does nothing to declared state".to_owned()),
        }
    }

    /// Runs a procedure, by its index.
    ///
    /// # Errors
    /// Why it has no meaning here.
    pub fn perform(
        &mut self,
        at: usize,
        operands: &[i64],
        memory: &mut dyn Source,
    ) -> Result<(), String> {
        let machine = self.machine;
        self.apply(&machine.procedures[at], operands, memory)
    }

    /// Runs a procedure that may be none of the machine's.
    ///
    /// # Errors
    /// Why it has no meaning here.
    pub fn apply(
        &mut self,
        procedure: &Procedure,
        operands: &[i64],
        memory: &mut dyn Source,
    ) -> Result<(), String> {
        let mut frame = Frame {
            operands,
            slots: vec![Sym::Known(0); procedure.slots],
            own: HashMap::new(),
        };
        self.block(&procedure.body, &mut frame, memory)
    }

    fn block(
        &mut self,
        body: &[Action],
        f: &mut Frame<'_>,
        m: &mut dyn Source,
    ) -> Result<(), String> {
        body.iter().try_for_each(|action| self.action(action, f, m))
    }

    fn action(
        &mut self,
        action: &Action,
        f: &mut Frame<'_>,
        m: &mut dyn Source,
    ) -> Result<(), String> {
        match action {
            Action::Let(slot, value) => f.slots[*slot] = self.value(value, f, m)?,
            Action::Field(first, index, value) => {
                let at = first + self.place(index, f, m)?;
                self.fields[at] = Some(self.known(value, f, m)?);
            }
            Action::Cell(array, row, column, value) => {
                let at = (*array, self.known(row, f, m)?, self.known(column, f, m)?);
                let value = self.value(value, f, m)?;
                match *array < self.machine.state.arrays.len() {
                    true => self.cells.insert(at, value),
                    false => f.own.insert(at, value),
                };
            }
            Action::Memory(address, value) => {
                let address = self.known(address, f, m)?;
                let value = self.value(value, f, m)?;
                self.written.insert(address, value);
            }
            Action::If(condition, then, other) => {
                return match self.known(condition, f, m)? {
                    0 => self.block(other, f, m),
                    _ => self.block(then, f, m),
                };
            }
            Action::For(slot, low, high, body) => {
                let (low, high) = (self.known(low, f, m)?, self.known(high, f, m)?);
                for k in low..high {
                    f.slots[*slot] = Sym::Known(k);
                    self.block(body, f, m)?;
                }
            }
            Action::Require(condition, message) => {
                if self.known(condition, f, m)? == 0 {
                    return Err(message.clone());
                }
            }
            Action::Perform(at, args) => {
                let args = args.iter().map(|a| self.known(a, f, m));
                let args = args.collect::<Result<Vec<_>, _>>()?;
                self.perform(*at, &args, m)?;
            }
            Action::Blank(array) => {
                let own = array - self.machine.state.arrays.len();
                f.own.retain(|at, _| at.0 != *array);
                // A row and a column that name no cell mark the array as zeros.
                f.own.insert((*array, -1, own as i64), Sym::Known(0));
            }
            Action::Spend(..) | Action::Settle => {}
        }
        Ok(())
    }

    fn place(
        &mut self,
        index: &Value,
        f: &mut Frame<'_>,
        m: &mut dyn Source,
    ) -> Result<usize, String> {
        let index = self.known(index, f, m)?;
        usize::try_from(index).map_err(|_| format!("there is no field {index}"))
    }

    fn known(&mut self, v: &Value, f: &mut Frame<'_>, m: &mut dyn Source) -> Result<i64, String> {
        match self.value(v, f, m)? {
            Sym::Known(n) => Ok(n),
            Sym::Term(_) => Err("what it does depends on data".to_owned()),
        }
    }

    fn value(&mut self, v: &Value, f: &mut Frame<'_>, m: &mut dyn Source) -> Result<Sym, String> {
        Ok(match &v.kind {
            ValueKind::Constant(n) => Sym::Known(*n),
            ValueKind::Local(slot) => f.slots[*slot],
            ValueKind::Operand(k) => Sym::Known(f.operands[*k]),
            ValueKind::Field(first, index) => {
                let at = first + self.place(index, f, m)?;
                let name = || self.machine.state.field_name(at);
                let value = self.fields.get(at).copied().flatten();
                Sym::Known(value.ok_or_else(|| format!("`{}` was never set", name()))?)
            }
            ValueKind::Cell(array, row, column) => {
                let at = (*array, self.known(row, f, m)?, self.known(column, f, m)?);
                self.cell(at, f)?
            }
            ValueKind::Memory(address) => {
                let address = self.known(address, f, m)?;
                if let Some(&written) = self.written.get(&address) {
                    return Ok(written);
                }
                let found = m.element(address, v.element);
                Sym::Term(found.ok_or_else(|| format!("nothing lies at {address:#x}"))?)
            }
            ValueKind::Unary(op, a) => match self.value(a, f, m)? {
                Sym::Known(n) => Sym::Known(arithmetic::unary(*op, n, a.element, v.element)),
                Sym::Term(t) => Sym::Term(unary(*op, t, a.element, v.element)?),
            },
            ValueKind::Binary(op, a, b) => {
                let (x, y) = (self.value(a, f, m)?, self.value(b, f, m)?);
                match (x, y) {
                    (Sym::Known(x), Sym::Known(y)) => {
                        Sym::Known(arithmetic::binary(*op, x, y, a.element))
                    }
                    (Sym::Known(0), _) | (_, Sym::Known(0)) if nothing(*op, a.element) => {
                        Sym::Known(0)
                    }
                    _ => Sym::Term(binary(*op, x, y, a.element)?),
                }
            }
            ValueKind::Select(c, a, b) => {
                let c = self.value(c, f, m)?;
                let (x, y) = (self.value(a, f, m)?, self.value(b, f, m)?);
                match c {
                    Sym::Known(0) => y,
                    Sym::Known(_) => x,
                    Sym::Term(c) => Sym::Term(select(c, x, y, a.element)),
                }
            }
        })
    }

    fn cell(&self, at: (usize, i64, i64), f: &Frame<'_>) -> Result<Sym, String> {
        let arrays = &self.machine.state.arrays;
        if let Some(array) = arrays.get(at.0) {
            let missing = || format!("the row {} of `{}` was never written", at.1, array.name);
            return self.cells.get(&at).copied().ok_or_else(missing);
        }
        let blank = (at.0, -1, (at.0 - arrays.len()) as i64);
        let zero = || f.own.get(&blank).copied();
        let found = f.own.get(&at).copied().or_else(zero);
        found.ok_or_else(|| "a cell of its own array was never written".to_owned())
    }
}
