//! The meaning of a body: what every register, memory and the program counter hold after it.
//!
//! In: statements, the operands and the sizes of the machine. Out: [`Meaning`]: terms over
//! the operands, rolled. Loops have constant bounds and are run; elements are typed by the
//! view that reads them; two types never mix unless one is converted. What the machine does
//! about bad addresses and about registers that are the same is not told here.

mod rolled;
mod state;
mod value;

use super::ast::{Expr, ExprKind, Operator, Place, Statement};
use crate::pseudocode::reading::Refused;
use semantics::build as b;
use semantics::diagnostic::suggest;
use semantics::machine::Requirement;
use semantics::sort::Sort;
use semantics::span::Span;
use semantics::term::Term;
use state::Register;
use std::collections::BTreeMap;
use value::{Data, Index};

/// The most statements that one body may run.
const MAX_STEPS: usize = 1 << 17;

/// The most elements of a register that only a body has.
const MAX_BLANK: i64 = 1 << 16;

/// What a name in a body is.
#[derive(Clone, Debug)]
pub(crate) enum Operand {
    /// A register: its bits, the bits of a row, whether it has rows.
    Register { width: u32, row: u32 },
    /// A constant.
    Immediate { width: u32, signed: bool },
}

/// What a body may use.
#[derive(Clone, Debug)]
pub(crate) struct Scope<'a> {
    /// Sizes.
    pub(crate) parameters: &'a BTreeMap<String, i64>,
    /// The operands by name.
    pub(crate) operands: &'a BTreeMap<String, Operand>,
    /// Bits of an address.
    pub(crate) address: u32,
}

/// A register's part in a body.
#[derive(Clone, Debug)]
pub(crate) struct Used {
    /// Whether what it held matters.
    pub(crate) read: bool,
    /// What it holds afterwards, when it is written.
    pub(crate) after: Option<Term>,
}

/// What a body does.
#[derive(Clone, Debug)]
pub(crate) struct Meaning {
    /// By operand; immediates are read.
    pub(crate) operands: BTreeMap<String, Used>,
    /// Memory afterwards, when it is written.
    pub(crate) memory: Option<Term>,
    /// The next program counter, when it is set.
    pub(crate) counter: Option<Term>,
    /// What must hold before.
    pub(crate) requires: Vec<Requirement>,
    /// What has a meaning, and most likely not the one that was meant.
    pub(crate) doubts: Vec<Refused>,
}

/// The meaning of a body.
pub(crate) fn lower<'a>(body: &'a [Statement], scope: &'a Scope<'a>) -> Result<Meaning, Refused> {
    let registers = scope.operands.iter().map(|(name, operand)| {
        let (width, row) = match *operand {
            Operand::Register { width, row } => (width, row),
            Operand::Immediate { width, .. } => (width, width),
        };
        (name.clone(), Register::new(name, width, row))
    });
    let mut machine = Execution {
        scope,
        registers: registers.collect(),
        blanks: BTreeMap::new(),
        locals: Vec::new(),
        memory: Term::var(MEMORY, Sort::Mem),
        counter: None,
        condition: None,
        requires: Vec::new(),
        steps: 0,
        doubts: Vec::new(),
        element: None,
        last: body.last(),
    };
    machine.run(body)?;
    machine.doubt_partly_written();
    let blanks = machine.blanks;
    let operands = machine.registers.into_iter();
    let operands = operands.filter(|(name, _)| !blanks.contains_key(name));
    let memory = Some(machine.memory).filter(|m| m.as_var().is_none());
    Ok(Meaning {
        operands: operands
            .map(|(name, register)| {
                let used = Used {
                    read: register.was_read(),
                    after: register.after(),
                };
                (name, used)
            })
            .collect(),
        memory,
        counter: machine.counter,
        requires: machine.requires,
        doubts: machine.doubts,
    })
}

/// The value of a formula over the sizes alone.
pub(crate) fn constant(formula: &Expr, parameters: &BTreeMap<String, i64>) -> Result<i64, Refused> {
    let scope = Scope {
        parameters,
        operands: &BTreeMap::new(),
        address: 32,
    };
    let mut machine = Execution {
        scope: &scope,
        registers: BTreeMap::new(),
        blanks: BTreeMap::new(),
        locals: Vec::new(),
        memory: Term::var(MEMORY, Sort::Mem),
        counter: None,
        condition: None,
        requires: Vec::new(),
        steps: 0,
        doubts: Vec::new(),
        element: None,
        last: None,
    };
    machine.number(formula)
}

/// Memory's name.
pub(crate) const MEMORY: &str = "mem";
/// The program counter's name.
pub(crate) const COUNTER: &str = "pc";

struct Execution<'a> {
    scope: &'a Scope<'a>,
    registers: BTreeMap<String, Register>,
    /// Registers that only the body has.
    blanks: BTreeMap<String, Operand>,
    locals: Vec<(String, Data)>,
    memory: Term,
    counter: Option<Term>,
    /// Under what condition the present statement is done.
    condition: Option<Term>,
    requires: Vec<Requirement>,
    steps: usize,
    doubts: Vec<Refused>,
    /// The element that two loops run as maps give a value.
    element: Option<rolled::Element>,
    /// The last statement of the body.
    last: Option<&'a Statement>,
}

impl Execution<'_> {
    fn run(&mut self, body: &[Statement]) -> Result<(), Refused> {
        let known = self.locals.len();
        for statement in body {
            self.statement(statement)?;
        }
        self.locals.truncate(known);
        Ok(())
    }

    fn statement(&mut self, statement: &Statement) -> Result<(), Refused> {
        match statement {
            Statement::For {
                name,
                low,
                high,
                body,
                span,
            } => {
                if self.rolled(statement) {
                    return Ok(());
                }
                let (low, high) = (self.number(low)?, self.number(high)?);
                for k in low..high {
                    self.steps += 1;
                    if self.steps > MAX_STEPS {
                        let message = format!("this loop runs more than {MAX_STEPS} times");
                        let hint = "the sizes of the manifest may be too large";
                        return Err(Refused::new(*span, message, hint));
                    }
                    self.locals.push((name.clone(), Data::Int(k)));
                    let done = self.run(body);
                    self.locals.pop();
                    done?;
                }
                Ok(())
            }
            Statement::Let { name, value } => {
                let value = self.expression(value)?;
                self.locals.push((name.clone(), value));
                Ok(())
            }
            Statement::Assign { place, adds, value } => {
                self.steps += 1;
                let data = self.expression(value)?;
                let data = match adds {
                    true => {
                        let old = self.read(place)?;
                        value::binary(Operator::Add, old, data, place.span.to(value.span))?
                    }
                    false => data,
                };
                self.write(place, data, value.span)
            }
            Statement::If {
                condition,
                then,
                other,
                ..
            } => self.choice(condition, then, other),
            Statement::Require {
                condition, message, ..
            } => {
                let holds = self.truth(condition)?;
                let condition = match self.condition {
                    Some(around) => b::either(b::negate(around), holds),
                    None => holds,
                };
                self.requires.push(Requirement {
                    condition,
                    broken: message.clone(),
                });
                Ok(())
            }
            Statement::Blank {
                name,
                element,
                rows,
                columns,
                span,
            } => {
                let size = (self.number(rows)?, self.number(columns)?);
                self.blank(name, element, size, *span)
            }
            Statement::Spend { span, .. }
            | Statement::Perform { span, .. }
            | Statement::Settle { span } => Err(Refused::new(
                *span,
                "this is for instructions on declared state",
                "list the file under `procedures` in the manifest, or write `select(…)`",
            )),
        }
    }

    /// A register of zeros that only the body has.
    fn blank(
        &mut self,
        name: &str,
        view: &str,
        (rows, columns): (i64, i64),
        span: Span,
    ) -> Result<(), Refused> {
        let each = i64::from(value::width(value::element(view, span)?));
        let sizes = columns.checked_mul(each).zip(rows.checked_mul(columns));
        let sizes = sizes.filter(|s| s.0 > 0 && s.1 > 0 && s.1 <= MAX_BLANK);
        let sizes = sizes.and_then(|(row, n)| {
            let width = u32::try_from(n.checked_mul(each)?).ok()?;
            Some((u32::try_from(row).ok()?, width))
        });
        let taken = self.registers.contains_key(name) || name == MEMORY || name == COUNTER;
        let (Some((row, width)), false) = (sizes, taken) else {
            let message = match taken {
                true => format!("`{name}` is there already"),
                false => format!("`{name}` cannot have {rows} rows of {columns}"),
            };
            let hint = format!("give it another name, and 1 to {MAX_BLANK} elements");
            return Err(Refused::new(span, message, hint));
        };
        let register = Register::blank(name, width, row);
        self.registers.insert(name.to_owned(), register);
        let operand = Operand::Register { width, row };
        self.blanks.insert(name.to_owned(), operand);
        Ok(())
    }

    /// What a name in the body is.
    fn operand(&self, name: &str) -> Option<&Operand> {
        self.scope.operands.get(name).or(self.blanks.get(name))
    }

    /// One of two blocks: what the other writes is not written.
    fn choice(
        &mut self,
        condition: &Expr,
        then: &[Statement],
        other: &[Statement],
    ) -> Result<(), Refused> {
        let holds = self.truth(condition)?;
        let around = self.condition;
        for (holds, body) in [(holds, then), (b::negate(holds), other)] {
            let all = around.map_or(holds, |around| b::both(around, holds));
            match all.as_bool() {
                Some(false) => continue,
                Some(true) => self.condition = None,
                None => self.condition = Some(all),
            }
            let done = self.run(body);
            self.condition = around;
            done?;
        }
        Ok(())
    }

    fn truth(&mut self, e: &Expr) -> Result<Term, Refused> {
        match self.expression(e)? {
            Data::Truth(term) => Ok(term),
            _ => Err(Refused::new(
                e.span,
                "this is no condition",
                "compare two values",
            )),
        }
    }

    /// What a place holds after the present statement.
    fn under(&self, new: Term, old: impl FnOnce() -> Term) -> Term {
        match self.condition {
            None => new,
            Some(condition) => b::ite(condition, new, old()),
        }
    }

    fn expression(&mut self, e: &Expr) -> Result<Data, Refused> {
        match &e.kind {
            ExprKind::Number(n) => Ok(Data::Int(*n)),
            ExprKind::Place(place) => self.read(place),
            ExprKind::Negate(inner) => value::negate(self.expression(inner)?, e.span),
            ExprKind::Not(inner) => value::not(self.expression(inner)?, e.span),
            ExprKind::Binary(op, a, b) => {
                let (a, b) = (self.expression(a)?, self.expression(b)?);
                value::binary(*op, a, b, e.span)
            }
            ExprKind::Call(name, args) => {
                let args = args.iter().map(|a| self.expression(a));
                let args = args.collect::<Result<Vec<_>, _>>()?;
                value::call(name, args, e.span)
            }
        }
    }

    /// An expression that must be known when the instruction is described.
    fn number(&mut self, e: &Expr) -> Result<i64, Refused> {
        match self.expression(e)? {
            Data::Int(n) => Ok(n),
            _ => Err(Refused::new(
                e.span,
                "this must be a number that the description fixes",
                "loop bounds and indices of elements are made of sizes, numbers and loop variables",
            )),
        }
    }

    /// A number that the description fixes, or that moves with loops that are run as maps.
    fn index(&mut self, e: &Expr) -> Result<Index, Refused> {
        match self.expression(e)? {
            Data::Index(index) => Ok(index),
            Data::Int(n) => Ok(Index::number(n)),
            _ => self.number(e).map(Index::number),
        }
    }

    fn read(&mut self, place: &Place) -> Result<Data, Refused> {
        if place.name == MEMORY {
            let (element, address) = self.memory_access(place)?;
            let term = semantics::build::read(self.memory, address, value::bytes(element));
            return Ok(Data::Bits(term, element));
        }
        if place.name == COUNTER {
            let counter = Term::var(COUNTER, Sort::Bv(self.scope.address));
            let now = self.counter.unwrap_or(counter);
            return Ok(Data::Bits(now, value::unsigned(self.scope.address)));
        }
        if !self.registers.contains_key(&place.name) {
            return self.named(place);
        }
        let (low, element) = self.element(place)?;
        if self.element.is_some() {
            let own = self.read_element(place);
            if let Some(value) = own.ok_or_else(|| self.moving(place))? {
                return Ok(Data::Bits(value, element));
            }
        }
        let moves = self.moving(place);
        let register = self
            .registers
            .get_mut(&place.name)
            .expect("looked up above");
        let width = value::width(element);
        let value = match low.as_int().and_then(|n| u32::try_from(n).ok()) {
            Some(low) => register.read(low, width),
            None => register.read_at(low, width).ok_or(moves)?,
        };
        Ok(Data::Bits(value, element))
    }

    /// An element that moves with a loop where it may not.
    fn moving(&self, place: &Place) -> Refused {
        let message = format!(
            "which element of `{}` is meant depends on a loop",
            place.name
        );
        Refused::new(place.span, message, "write loops that are run")
    }

    /// A loop variable, a `let` or a size.
    fn named(&self, place: &Place) -> Result<Data, Refused> {
        let local = self.locals.iter().rev().find(|(n, _)| *n == place.name);
        let size = || {
            self.scope
                .parameters
                .get(&place.name)
                .map(|&n| Data::Int(n))
        };
        match local.map(|l| l.1.clone()).or_else(size) {
            Some(data) if place.view.is_none() && place.indices.is_empty() => Ok(data),
            Some(_) => Err(Refused::new(
                place.span,
                format!("`{}` is a value and has no elements", place.name),
                "operands and `mem` have elements",
            )),
            None => Err(self.unknown(place)),
        }
    }

    fn unknown(&self, place: &Place) -> Refused {
        let locals = self.locals.iter().map(|l| l.0.as_str());
        let names = locals
            .chain(self.registers.keys().map(String::as_str))
            .chain(self.scope.parameters.keys().map(String::as_str))
            .chain([MEMORY, COUNTER]);
        let hint = match suggest(&place.name, names.clone()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are {}", names.collect::<Vec<_>>().join(", ")),
        };
        Refused::new(place.span, format!("unknown name `{}`", place.name), hint)
    }

    fn write(&mut self, place: &Place, data: Data, span: Span) -> Result<(), Refused> {
        if place.name == MEMORY {
            let (element, address) = self.memory_access(place)?;
            let term = value::stored(data, element, span)?;
            let before = self.memory;
            self.memory = self.under(b::write(before, address, term), || before);
            return Ok(());
        }
        if place.name == COUNTER {
            let element = value::unsigned(self.scope.address);
            let new = value::stored(data, element, span)?;
            let counter = Term::var(COUNTER, Sort::Bv(self.scope.address));
            let before = self.counter.unwrap_or(counter);
            self.counter = Some(self.under(new, || before));
            return Ok(());
        }
        match self.operand(&place.name) {
            Some(Operand::Register { .. }) => {}
            Some(Operand::Immediate { .. }) => {
                let message = format!("`{}` is a constant", place.name);
                return Err(Refused::new(
                    place.span,
                    message,
                    "registers and `mem` are written",
                ));
            }
            None => {
                let known = self.named(place).is_ok();
                let message = format!("`{}` cannot be written", place.name);
                let hint = "registers, `mem` and `pc` are written; `let` makes a new name";
                return Err(match known {
                    true => Refused::new(place.span, message, hint),
                    false => self.unknown(place),
                });
            }
        }
        let (low, element) = self.element(place)?;
        let term = value::stored(data, element, span)?;
        if self.element.is_some() && !self.blanks.contains_key(&place.name) {
            let written = self.write_element(place, term);
            return written.ok_or_else(|| self.moving(place));
        }
        let low = low.as_int().and_then(|n| u32::try_from(n).ok());
        let low = low.ok_or_else(|| self.moving(place))?;
        let condition = self.condition;
        let register = self
            .registers
            .get_mut(&place.name)
            .expect("it is an operand");
        let term = match condition {
            None => term,
            Some(condition) => b::ite(condition, term, register.read(low, term.width())),
        };
        let lost = register.write(low, term, place.span);
        self.lost(lost, place);
        Ok(())
    }

    /// Doubts a value that another one takes the place of before anything has read it.
    fn lost(&mut self, lost: Option<Span>, place: &Place) {
        let Some(span) = lost.filter(|_| self.doubts.is_empty()) else {
            return;
        };
        let name = &place.name;
        let message =
            format!("an element of `{name}` is given another value before this one is read");
        let hint = match span == place.span {
            true => "`+=` adds to what is there; or should the place move with the loop?",
            false => "leave one of them out, or give it another place",
        };
        self.doubts.push(Refused::new(span, message, hint));
    }

    /// Doubts registers of which a part is written, and the rest is whatever it was.
    fn doubt_partly_written(&mut self) {
        for (name, register) in &self.registers {
            if let Some(span) = register.partly_written() {
                let message = format!(
                    "not all of `{name}` is written, and nothing says that the rest is kept"
                );
                let hint =
                    format!("write all rows and columns, or say so first: `{name} = {name}`");
                self.doubts.push(Refused::new(span, message, hint));
            }
        }
    }

    /// Where an element of a register lies, and how it is read.
    fn element(
        &mut self,
        place: &Place,
    ) -> Result<(Term, semantics::instruction::Element), Refused> {
        let (width, row, signed) = match *self.operand(&place.name).expect("it is a register") {
            Operand::Register { width, row } => (width, row, false),
            Operand::Immediate { width, signed } => (width, width, signed),
        };
        let Some(view) = &place.view else {
            let whole = match signed {
                true => semantics::instruction::Element::Signed(width),
                false => value::unsigned(width),
            };
            return match place.indices.is_empty() {
                true => Ok((Term::int(0), whole)),
                false => Err(Refused::new(
                    place.span,
                    format!("`{}` needs a view before its indices", place.name),
                    format!("write `{}.s32[…][…]`", place.name),
                )),
            };
        };
        let element = value::element(view, place.span)?;
        let [i, j] = place.indices.as_slice() else {
            return Err(Refused::new(
                place.span,
                format!("an element of `{}` has a row and a column", place.name),
                format!("write `{}.{view}[row][column]`", place.name),
            ));
        };
        let spans = (i.span, j.span);
        let (i, j) = (self.index(i)?, self.index(j)?);
        let each = value::width(element);
        let (rows, columns) = (i64::from(width / row), i64::from(row / each));
        for (what, at, all, span) in [("row", &i, rows, spans.0), ("column", &j, columns, spans.1)]
        {
            if at.low < 0 || at.high >= all {
                let message = format!(
                    "`{}` has no {what} {} of type {view}",
                    place.name,
                    if at.low < 0 { at.low } else { at.high }
                );
                let hint = format!("there are {all}, numbered from 0");
                return Err(Refused::new(span, message, hint));
            }
        }
        let of =
            |at: Index, bits: u32| semantics::build::int_mul(at.term, Term::int(i64::from(bits)));
        Ok((semantics::build::int_add(of(i, row), of(j, each)), element))
    }

    fn memory_access(
        &mut self,
        place: &Place,
    ) -> Result<(semantics::instruction::Element, Term), Refused> {
        let (Some(view), [address]) = (&place.view, place.indices.as_slice()) else {
            let message = "memory is read by type and address";
            return Err(Refused::new(
                place.span,
                message,
                "write `mem.u32[address]`",
            ));
        };
        let element = value::element(view, place.span)?;
        let expected = value::unsigned(self.scope.address);
        let at = self.expression(address)?;
        let term = value::stored(at, expected, address.span)?;
        Ok((element, semantics::build::zext(term, 64)))
    }
}
