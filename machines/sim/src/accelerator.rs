//! Procedures on declared state, run.
//!
//! In: a machine's state and procedures, values of operands, memory. Out: the state
//! afterwards, how long its queues worked ([`timeline`]), or the rule that was broken: a
//! field that was never set, a cell that was never written, a row that does not exist, what
//! an instruction requires. Innermost loops whose rounds do not depend on each other are run
//! a row at a time (`code` decides, `lanes` runs them); that changes nothing but time. What takes
//! time is also known without the data (`outline`).

mod code;
mod lanes;
mod order;
pub(crate) mod outline;
pub(crate) mod range;
mod rows;
pub mod timeline;

use crate::memory::Memory;
use code::{Code, Expr, ExprKind};
use order::Order;
use rows::Rows;
use semantics::instruction::Element;
use semantics::machine::arithmetic;
use semantics::machine::procedure::{Action, Binary, Procedure, State};
use timeline::Timeline;

/// A broken rule, and how to keep it.
pub(crate) struct Fault(pub(crate) String, pub(crate) String);

/// Declared state while it runs.
#[derive(Clone, Debug)]
pub(crate) struct Accelerator<'m> {
    state: &'m State,
    procedures: &'m [Procedure],
    code: Vec<Vec<Code>>,
    arrays: Vec<Rows>,
    fields: Vec<Option<i64>>,
    pool: Vec<lanes::Lane>,
    /// What may be read and written before memory is settled.
    pub(crate) order: Order,
    /// When what is done.
    pub(crate) timeline: Timeline,
    /// Products of values that are no addresses.
    pub(crate) products: u64,
}

/// The values of one procedure's names.
struct Frame<'a> {
    operands: &'a [i64],
    slots: Vec<i64>,
    lanes: Vec<Option<lanes::Lane>>,
    arrays: Vec<Rows>,
}

impl<'m> Accelerator<'m> {
    pub(crate) fn new(state: &'m State, procedures: &'m [Procedure]) -> Accelerator<'m> {
        let code = procedures.iter().map(|p| code::compile(&p.body));
        let mut fields = vec![None; state.field_count()];
        for field in &state.fields {
            fields[field.first..field.first + field.count as usize].fill(field.reset);
        }
        Accelerator {
            state,
            procedures,
            code: code.collect(),
            arrays: state.arrays.iter().map(Rows::new).collect(),
            fields,
            pool: Vec::new(),
            order: Order::new(state.relaxed),
            timeline: Timeline::new(state),
            products: 0,
        }
    }

    /// Runs a procedure.
    pub(crate) fn perform(
        &mut self,
        at: usize,
        operands: &[i64],
        memory: &mut Memory,
    ) -> Result<(), Fault> {
        let procedure = &self.procedures[at];
        let mut frame = Frame {
            operands,
            slots: vec![0; procedure.slots],
            lanes: vec![None; procedure.slots],
            arrays: procedure.arrays.iter().map(Rows::new).collect(),
        };
        let code = std::mem::take(&mut self.code[at]);
        let done = self.block(&code, &mut frame, memory);
        self.code[at] = code;
        done
    }

    fn block(&mut self, code: &[Code], f: &mut Frame<'_>, m: &mut Memory) -> Result<(), Fault> {
        code.iter().try_for_each(|step| self.step(step, f, m))
    }

    fn step(&mut self, step: &Code, f: &mut Frame<'_>, m: &mut Memory) -> Result<(), Fault> {
        match step {
            Code::Let(slot, value) => f.slots[*slot] = self.value(value, f, m)?,
            Code::Field(first, index, value) => {
                let at = self.field(*first, index, f, m)?;
                self.fields[at] = Some(self.value(value, f, m)?);
            }
            Code::Cell(array, row, column, value) => {
                let value = self.value(value, f, m)?;
                let (row, column) = (self.value(row, f, m)?, self.value(column, f, m)?);
                self.reach(*array, row, true);
                self.rows(*array, f).put(row, column, value)?;
            }
            Code::Memory(address, value) => {
                let width = value.element.width().unwrap_or(64) as usize / 8;
                let (value, address) = (self.value(value, f, m)?, self.value(address, f, m)?);
                self.store(address, value, width, m)?;
            }
            Code::If(condition, then, other) => {
                return match self.value(condition, f, m)? != 0 {
                    true => self.block(then, f, m),
                    false => self.block(other, f, m),
                };
            }
            Code::For(slot, low, high, body) => {
                let (low, high) = (self.value(low, f, m)?, self.value(high, f, m)?);
                for k in low..high {
                    f.slots[*slot] = k;
                    self.block(body, f, m)?;
                }
            }
            Code::Lanes(slot, low, high, body) => {
                let (low, high) = (self.value(low, f, m)?, self.value(high, f, m)?);
                self.in_lanes(*slot, low, high, body, f, m)?;
            }
            Code::Require(condition, message) => {
                if self.value(condition, f, m)? == 0 {
                    return Err(required(message));
                }
            }
            Code::Spend(queue, cycles) => {
                let cycles = self.value(cycles, f, m)?.max(0).unsigned_abs();
                self.timeline.spend(*queue, cycles);
            }
            Code::Perform(at, args) => {
                let args = args.iter().map(|a| self.value(a, f, m));
                let args = args.collect::<Result<Vec<_>, _>>()?;
                self.perform(*at, &args, m)?;
            }
            Code::Settle => {
                self.order.settle();
                self.timeline.settle();
            }
            Code::Blank(array) => {
                let own = array - self.arrays.len();
                f.arrays[own].blank();
            }
        }
        Ok(())
    }

    fn rows<'f>(&'f mut self, array: usize, f: &'f mut Frame<'_>) -> &'f mut Rows {
        let own = self.arrays.len();
        match array < own {
            true => &mut self.arrays[array],
            false => &mut f.arrays[array - own],
        }
    }

    /// Notes that a row of the machine is read or written.
    fn reach(&mut self, array: usize, row: i64, written: bool) {
        if array < self.arrays.len() {
            self.timeline.touch(array, row, written);
        }
    }

    /// The place of a field among all.
    fn field(
        &mut self,
        first: usize,
        index: &Expr,
        f: &mut Frame<'_>,
        m: &mut Memory,
    ) -> Result<usize, Fault> {
        let index = self.value(index, f, m)?;
        place_of_field(self.state, first, index)
    }

    fn value(&mut self, e: &Expr, f: &mut Frame<'_>, m: &mut Memory) -> Result<i64, Fault> {
        Ok(match &e.kind {
            ExprKind::Constant(n) => *n,
            ExprKind::Local(slot) => f.slots[*slot],
            ExprKind::Operand(k) => f.operands[*k],
            ExprKind::Field(first, index) => {
                let at = self.field(*first, index, f, m)?;
                self.fields[at].ok_or_else(|| unset(self.state, self.procedures, at))?
            }
            ExprKind::Cell(array, row, column) => {
                let (row, column) = (self.value(row, f, m)?, self.value(column, f, m)?);
                self.reach(*array, row, false);
                self.rows(*array, f).get(row, column)?
            }
            ExprKind::Memory(address) => {
                let address = self.value(address, f, m)?;
                self.load(address, e.element, m)?
            }
            ExprKind::Unary(op, a) => {
                let value = self.value(a, f, m)?;
                arithmetic::unary(*op, value, a.element, e.element)
            }
            ExprKind::Binary(op, a, b) => {
                let (x, y) = (self.value(a, f, m)?, self.value(b, f, m)?);
                if *op == Binary::Mul && a.element != Element::Signed(64) {
                    self.products += 1;
                }
                arithmetic::binary(*op, x, y, a.element)
            }
            ExprKind::Select(c, a, b) => {
                let (c, a, b) = (
                    self.value(c, f, m)?,
                    self.value(a, f, m)?,
                    self.value(b, f, m)?,
                );
                if c != 0 { a } else { b }
            }
        })
    }

    fn load(&mut self, address: i64, element: Element, m: &Memory) -> Result<i64, Fault> {
        let bytes = element.width().unwrap_or(64) as usize / 8;
        let at = address.cast_unsigned();
        let there = m
            .get(at, bytes)
            .ok_or_else(|| outside(at, bytes, "reads", m))?;
        let mut word = [0; 8];
        word[..bytes].copy_from_slice(there);
        self.order.reads(at, bytes)?;
        Ok(arithmetic::wrap(i64::from_le_bytes(word), element))
    }

    fn store(
        &mut self,
        address: i64,
        value: i64,
        bytes: usize,
        m: &mut Memory,
    ) -> Result<(), Fault> {
        let at = address.cast_unsigned();
        if m.get(at, bytes).is_none() {
            return Err(outside(at, bytes, "writes", m));
        }
        self.order.writes(at, bytes)?;
        let there = m.get_mut(at, bytes).expect("checked");
        there.copy_from_slice(&value.to_le_bytes()[..bytes]);
        Ok(())
    }
}

fn outside(at: u64, bytes: usize, what: &str, m: &Memory) -> Fault {
    Fault(
        format!("it {what} {bytes} bytes at {at:#x}, outside memory"),
        format!(
            "memory has {:#x} bytes from 0; `--memory-size` gives it more",
            m.size()
        ),
    )
}

/// What an instruction requires does not hold.
fn required(message: &str) -> Fault {
    let hint = "the machine leaves undefined what happens then";
    Fault(message.to_owned(), hint.to_owned())
}

/// The place of a field among all.
fn place_of_field(state: &State, first: usize, index: i64) -> Result<usize, Fault> {
    let field = state.fields.iter().find(|f| f.first == first);
    let count = field.map_or(1, |f| i64::from(f.count));
    if !(0..count).contains(&index) {
        let name = field.map_or("", |f| f.name.as_str());
        let message = format!("there is no `{name}[{index}]`");
        return Err(Fault(message, format!("there are {count}, from 0")));
    }
    Ok(first + usize::try_from(index).expect("checked"))
}

/// A field is read that was never set.
fn unset(state: &State, procedures: &[Procedure], at: usize) -> Fault {
    let name = state.field_name(at);
    let mut fields = state.fields.iter();
    let field = fields.find(|f| (f.first..f.first + f.count as usize).contains(&at));
    let first = field.map_or(at, |f| f.first);
    let setters = procedures.iter().filter(|p| writes(&p.body, first));
    let setters: Vec<String> = setters.map(|p| format!("`{}`", p.name)).collect();
    let hint = match setters.as_slice() {
        [] => "no instruction sets it".to_owned(),
        some => format!("{} sets it; a reset does not", some.join(" or ")),
    };
    Fault(format!("`{name}` is read, and it was never set"), hint)
}

/// Whether a body writes a field.
fn writes(body: &[Action], field: usize) -> bool {
    body.iter().any(|action| match action {
        Action::Field(first, _, _) => *first == field,
        Action::If(_, a, b) => writes(a, field) || writes(b, field),
        Action::For(_, _, _, body) => writes(body, field),
        _ => false,
    })
}
