//! Procedures without their data: what of them takes time.
//!
//! In: operands as [`Range`]s, configuration. Out: [`Effects`]: the rows that are touched, how
//! long queues work, what becomes of configuration. What cells and memory hold is not looked at,
//! nor is whether it was written; where a row, a bound or a condition depends on it, or on what is
//! only known to lie between two numbers, that is told ([`Stop::Open`]).

use super::code::{self, Code, Expr, ExprKind};
use super::range::{self, DATA, Range};
use super::rows::no_row;
use super::timeline::{Touched, touch};
use super::{Fault, unset};
use semantics::instruction::Element;
use semantics::machine::Machine;
use semantics::machine::effects::effects;
use semantics::machine::procedure::{Binary, State};
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

/// Why there is no answer.
pub(crate) enum Stop {
    /// A rule of the machine is broken.
    Fault(Fault),
    /// It depends on these variables of loops, or on data.
    Open(u64),
}

#[derive(Clone, Debug)]
pub(crate) enum Effect {
    Touch(Vec<Touched>),
    Spend(usize, u64),
    Settle,
    Field(usize, Range),
}

/// What a command does but for its data.
#[derive(Debug, Default)]
pub(crate) struct Effects {
    pub(crate) all: Vec<Effect>,
    /// Products of values that are no addresses.
    pub(crate) products: u64,
}

/// Procedures, and configuration.
pub(crate) struct Outline<'m> {
    machine: &'m Machine,
    code: Vec<Vec<Code>>,
    /// The fields that each procedure may read.
    reads: Vec<Vec<usize>>,
    pub(crate) fields: Vec<Option<Range>>,
    known: HashMap<Vec<i64>, Rc<Effects>>,
}

impl<'m> Outline<'m> {
    pub(crate) fn new(machine: &'m Machine) -> Outline<'m> {
        let procedures = &machine.procedures;
        let code = procedures.iter().map(|p| code::compile(&p.body));
        let all = 0..procedures.len();
        Outline {
            machine,
            code: code.collect(),
            reads: all.map(|p| fields_read(machine, p)).collect(),
            fields: reset(&machine.state),
            known: HashMap::new(),
        }
    }

    /// As after a reset.
    pub(crate) fn reset(&mut self) {
        self.fields = reset(&self.machine.state);
    }

    /// Runs a procedure.
    pub(crate) fn perform(&mut self, at: usize, operands: &[Range]) -> Result<Rc<Effects>, Stop> {
        let fields = self.reads[at].iter().map(|f| self.fields[*f]);
        let mut key = vec![at as i64];
        for value in operands.iter().map(|o| Some(*o)).chain(fields) {
            match value {
                Some(r) if r.from == 0 => key.extend([0, r.low]),
                Some(r) => key.extend([1, r.low, r.high, r.from.cast_signed()]),
                None => key.push(2),
            }
        }
        if let Some(known) = self.known.get(&key) {
            let known = Rc::clone(known);
            for effect in &known.all {
                if let Effect::Field(at, value) = effect {
                    self.fields[*at] = Some(*value);
                }
            }
            return Ok(known);
        }
        let mut run = Run {
            outline: self,
            effects: Effects::default(),
            touched: Vec::new(),
            first: true,
        };
        run.procedure(at, operands)?;
        run.flush();
        let effects = Rc::new(run.effects);
        self.known.insert(key, Rc::clone(&effects));
        Ok(effects)
    }
}

fn reset(state: &State) -> Vec<Option<Range>> {
    let mut fields = vec![None; state.field_count()];
    for field in &state.fields {
        let places = field.first..field.first + field.count as usize;
        fields[places].fill(field.reset.map(Range::of));
    }
    fields
}

/// The fields on which it depends what a procedure does, and how long it takes.
fn fields_read(machine: &Machine, procedure: usize) -> Vec<usize> {
    let operands = vec![None; machine.procedures[procedure].operands.len()];
    let found = effects(machine, procedure, &operands);
    let all = found.reads.into_iter().chain(found.checks);
    let all: BTreeSet<usize> = all.chain(found.times).collect();
    all.into_iter().collect()
}

/// A procedure that runs.
struct Run<'r, 'm> {
    outline: &'r mut Outline<'m>,
    effects: Effects,
    touched: Vec<Touched>,
    /// Whether what does not differ between rounds side by side is computed now.
    first: bool,
}

struct Frame<'a> {
    operands: &'a [Range],
    slots: Vec<Range>,
    /// How many rounds run side by side.
    lanes: u64,
}

impl Run<'_, '_> {
    fn procedure(&mut self, at: usize, operands: &[Range]) -> Result<(), Stop> {
        let mut frame = Frame {
            operands,
            slots: vec![Range::of(0); self.outline.machine.procedures[at].slots],
            lanes: 1,
        };
        let code = std::mem::take(&mut self.outline.code[at]);
        let done = self.block(&code, &mut frame);
        self.outline.code[at] = code;
        done
    }

    fn block(&mut self, code: &[Code], f: &mut Frame<'_>) -> Result<(), Stop> {
        code.iter().try_for_each(|step| self.step(step, f))
    }

    fn step(&mut self, step: &Code, f: &mut Frame<'_>) -> Result<(), Stop> {
        match step {
            Code::Let(slot, value) => f.slots[*slot] = self.value(value, f)?,
            Code::Field(first, index, value) => {
                let at = self.field(*first, index, f)?;
                let value = self.value(value, f)?;
                self.outline.fields[at] = Some(value);
                self.effects.all.push(Effect::Field(at, value));
            }
            Code::Cell(array, row, column, value) => {
                self.value(value, f)?;
                let row = self.value(row, f)?;
                self.value(column, f)?;
                self.reach(*array, row, true)?;
            }
            Code::Memory(address, value) => {
                self.value(value, f)?;
                self.value(address, f)?;
            }
            Code::If(condition, then, other) => {
                return match self.one(condition, f)? != 0 {
                    true => self.block(then, f),
                    false => self.block(other, f),
                };
            }
            Code::For(slot, low, high, body) => {
                for k in self.one(low, f)?..self.one(high, f)? {
                    f.slots[*slot] = Range::of(k);
                    self.block(body, f)?;
                }
            }
            Code::Lanes(slot, low, high, body) => {
                let (low, high) = (self.one(low, f)?, self.one(high, f)?);
                self.in_lanes(*slot, low, high, body, f)?;
            }
            Code::Require(condition, message) => {
                if self.one(condition, f)? == 0 {
                    return Err(Stop::Fault(super::required(message)));
                }
            }
            Code::Spend(queue, cycles) => {
                let cycles = self.one(cycles, f)?.max(0).unsigned_abs();
                self.flush();
                self.effects.all.push(Effect::Spend(*queue, cycles));
            }
            Code::Perform(at, args) => {
                let args = args.iter().map(|a| self.value(a, f));
                let args = args.collect::<Result<Vec<_>, _>>()?;
                self.procedure(*at, &args)?;
            }
            Code::Settle => self.effects.all.push(Effect::Settle),
            Code::Blank(_) => {}
        }
        Ok(())
    }

    /// Rounds that run side by side: as many at a time as the simulator has lanes, once for all of
    /// them where they touch the same rows.
    fn in_lanes(
        &mut self,
        slot: usize,
        low: i64,
        high: i64,
        body: &[Code],
        f: &mut Frame<'_>,
    ) -> Result<(), Stop> {
        let own = self.outline.machine.state.arrays.len();
        let apart = body.iter().any(|step| differs(step, own));
        let mut at = low;
        while at < high {
            let count = (high - at).min(super::lanes::LANES as i64);
            if apart {
                for k in at..at + count {
                    self.first = k == at;
                    f.slots[slot] = Range::of(k);
                    self.block(body, f)?;
                }
                self.first = true;
            } else {
                f.slots[slot] = Range::new(at, at + count - 1, DATA);
                f.lanes = count.unsigned_abs();
                let done = self.block(body, f);
                f.lanes = 1;
                done?;
            }
            at += count;
        }
        Ok(())
    }

    /// Notes that a row of the machine is read or written.
    fn reach(&mut self, array: usize, row: Range, written: bool) -> Result<(), Stop> {
        let Some(there) = self.outline.machine.state.arrays.get(array) else {
            return Ok(());
        };
        let row = row.one().map_err(Stop::Open)?;
        let found = usize::try_from(row)
            .ok()
            .filter(|r| *r < there.rows as usize);
        let Some(row) = found else {
            return Err(Stop::Fault(no_row(&there.name, row, there.rows as usize)));
        };
        touch(&mut self.touched, array, row, written);
        Ok(())
    }

    /// What was touched is told, each row once.
    fn flush(&mut self) {
        if self.touched.is_empty() {
            return;
        }
        let mut touched = std::mem::take(&mut self.touched);
        touched.sort_unstable();
        let mut all: Vec<Touched> = Vec::new();
        for next in touched {
            match all.last_mut() {
                Some(last)
                    if last.array == next.array
                        && last.written == next.written
                        && next.low <= last.high =>
                {
                    last.high = last.high.max(next.high);
                }
                _ => all.push(next),
            }
        }
        self.effects.all.push(Effect::Touch(all));
    }

    fn field(&mut self, first: usize, index: &Expr, f: &mut Frame<'_>) -> Result<usize, Stop> {
        let index = self.one(index, f)?;
        super::place_of_field(&self.outline.machine.state, first, index).map_err(Stop::Fault)
    }

    /// A value that decides something.
    fn one(&mut self, e: &Expr, f: &mut Frame<'_>) -> Result<i64, Stop> {
        self.value(e, f)?.one().map_err(Stop::Open)
    }

    fn value(&mut self, e: &Expr, f: &mut Frame<'_>) -> Result<Range, Stop> {
        Ok(match &e.kind {
            ExprKind::Constant(n) => Range::of(*n),
            ExprKind::Local(slot) => f.slots[*slot],
            ExprKind::Operand(k) => f.operands[*k],
            ExprKind::Field(first, index) => {
                let at = self.field(*first, index, f)?;
                let machine = self.outline.machine;
                let value = self.outline.fields[at];
                value.ok_or_else(|| Stop::Fault(unset(&machine.state, &machine.procedures, at)))?
            }
            ExprKind::Cell(array, row, column) => {
                let row = self.value(row, f)?;
                self.value(column, f)?;
                self.reach(*array, row, false)?;
                Range::any(e.element, DATA)
            }
            ExprKind::Memory(address) => {
                self.value(address, f)?;
                Range::any(e.element, DATA)
            }
            ExprKind::Unary(op, a) => {
                let value = self.value(a, f)?;
                range::unary(*op, value, a.element, e.element)
            }
            ExprKind::Binary(op, a, b) => {
                let (x, y) = (self.value(a, f)?, self.value(b, f)?);
                if *op == Binary::Mul && a.element != Element::Signed(64) {
                    self.effects.products += match e.varies {
                        true => f.lanes,
                        false => u64::from(self.first),
                    };
                }
                range::binary(*op, x, y, a.element)
            }
            ExprKind::Select(c, a, b) => {
                let (c, a, b) = (self.value(c, f)?, self.value(a, f)?, self.value(b, f)?);
                match c.one() {
                    Ok(0) => b,
                    Ok(_) => a,
                    Err(from) => a.or(b, from),
                }
            }
        })
    }
}

/// Whether rounds side by side touch other rows of the machine, of which there are so many arrays.
fn differs(step: &Code, own: usize) -> bool {
    match step {
        Code::Let(_, value) => reads_apart(value, own),
        Code::Cell(_, row, column, value) => {
            [row, column, value].iter().any(|e| reads_apart(e, own))
        }
        Code::Memory(address, value) => [address, value].iter().any(|e| reads_apart(e, own)),
        _ => true,
    }
}

fn reads_apart(e: &Expr, own: usize) -> bool {
    let parts = |all: &[&Expr]| all.iter().any(|e| reads_apart(e, own));
    match &e.kind {
        ExprKind::Cell(array, row, column) => *array < own && row.varies || parts(&[row, column]),
        ExprKind::Constant(_) | ExprKind::Local(_) | ExprKind::Operand(_) => false,
        ExprKind::Field(_, a) => a.varies || parts(&[a]),
        ExprKind::Memory(a) | ExprKind::Unary(_, a) => parts(&[a]),
        ExprKind::Binary(_, a, b) => parts(&[a, b]),
        ExprKind::Select(a, b, c) => parts(&[a, b, c]),
    }
}
