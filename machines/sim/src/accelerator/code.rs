//! Procedures made ready to run.
//!
//! In: steps of a procedure. Out: [`Code`], in which every loop whose rounds may run side by
//! side is marked, and every expression knows whether it differs between them.

use semantics::instruction::Element;
use semantics::machine::procedure::{Action, Binary, Unary, Value, ValueKind};

#[derive(Clone, Debug)]
pub(super) enum Code {
    Let(usize, Expr),
    Field(usize, Expr, Expr),
    Cell(usize, Expr, Expr, Expr),
    Memory(Expr, Expr),
    If(Expr, Vec<Code>, Vec<Code>),
    For(usize, Expr, Expr, Vec<Code>),
    /// A loop whose rounds run side by side.
    Lanes(usize, Expr, Expr, Vec<Code>),
    Require(Expr, String),
    Spend(usize, Expr),
    Perform(usize, Vec<Expr>),
    Settle,
    Blank(usize),
}

#[derive(Clone, Debug)]
pub(super) struct Expr {
    pub(super) kind: ExprKind,
    pub(super) element: Element,
    /// Whether it differs between the rounds that run side by side.
    pub(super) varies: bool,
}

#[derive(Clone, Debug)]
pub(super) enum ExprKind {
    Constant(i64),
    Local(usize),
    Operand(usize),
    Field(usize, Box<Expr>),
    Cell(usize, Box<Expr>, Box<Expr>),
    Memory(Box<Expr>),
    Unary(Unary, Box<Expr>),
    Binary(Binary, Box<Expr>, Box<Expr>),
    Select(Box<Expr>, Box<Expr>, Box<Expr>),
}

pub(super) fn compile(body: &[Action]) -> Vec<Code> {
    block(body, &mut Vec::new())
}

/// `varying`: the slots that differ between rounds; empty outside such loops.
fn block(body: &[Action], varying: &mut Vec<usize>) -> Vec<Code> {
    body.iter().map(|action| step(action, varying)).collect()
}

fn step(action: &Action, varying: &mut Vec<usize>) -> Code {
    let e = |v: &Value, varying: &[usize]| expr(v, varying);
    match action {
        Action::Let(slot, value) => {
            let value = e(value, varying);
            if value.varies {
                varying.push(*slot);
            }
            Code::Let(*slot, value)
        }
        Action::Field(first, a, b) => Code::Field(*first, e(a, varying), e(b, varying)),
        Action::Cell(array, a, b, c) => {
            Code::Cell(*array, e(a, varying), e(b, varying), e(c, varying))
        }
        Action::Memory(a, b) => Code::Memory(e(a, varying), e(b, varying)),
        Action::If(c, a, b) => Code::If(e(c, varying), block(a, varying), block(b, varying)),
        Action::For(slot, low, high, body) => {
            let (low, high) = (e(low, varying), e(high, varying));
            if !independent(*slot, body) {
                return Code::For(*slot, low, high, block(body, varying));
            }
            let mut inner = vec![*slot];
            Code::Lanes(*slot, low, high, block(body, &mut inner))
        }
        Action::Require(c, message) => Code::Require(e(c, varying), message.clone()),
        Action::Spend(queue, cycles) => Code::Spend(*queue, e(cycles, varying)),
        Action::Perform(at, args) => {
            Code::Perform(*at, args.iter().map(|a| e(a, varying)).collect())
        }
        Action::Settle => Code::Settle,
        Action::Blank(array) => Code::Blank(*array),
    }
}

fn expr(v: &Value, varying: &[usize]) -> Expr {
    let boxed = |v: &Value| Box::new(expr(v, varying));
    let kind = match &v.kind {
        ValueKind::Constant(n) => ExprKind::Constant(*n),
        ValueKind::Local(slot) => ExprKind::Local(*slot),
        ValueKind::Operand(k) => ExprKind::Operand(*k),
        ValueKind::Field(first, a) => ExprKind::Field(*first, boxed(a)),
        ValueKind::Cell(array, a, b) => ExprKind::Cell(*array, boxed(a), boxed(b)),
        ValueKind::Memory(a) => ExprKind::Memory(boxed(a)),
        ValueKind::Unary(op, a) => ExprKind::Unary(*op, boxed(a)),
        ValueKind::Binary(op, a, b) => ExprKind::Binary(*op, boxed(a), boxed(b)),
        ValueKind::Select(a, b, c) => ExprKind::Select(boxed(a), boxed(b), boxed(c)),
    };
    Expr {
        kind,
        element: v.element,
        varies: varying.iter().any(|slot| v.mentions(*slot)),
    }
}

/// Whether the rounds of a loop may run side by side: each writes its own column of fixed
/// rows, reads of what is written only that column, and writes memory once without reading it.
fn independent(slot: usize, body: &[Action]) -> bool {
    let mut written: Vec<(usize, &Value, &Value)> = Vec::new();
    let mut values: Vec<&Value> = Vec::new();
    let mut stores = 0;
    let mut names = vec![slot];
    for action in body {
        match action {
            Action::Let(name, value) => {
                names.push(*name);
                values.push(value);
            }
            Action::Cell(array, row, column, value) => {
                if names.iter().any(|n| row.mentions(*n)) || !follows(column, slot, &names) {
                    return false;
                }
                written.push((*array, row, column));
                values.push(value);
            }
            Action::Memory(address, value) => {
                stores += 1;
                values.extend([address, value]);
            }
            _ => return false,
        }
    }
    let clash = |array: usize, row: &Value, column: &Value| {
        let mut own = written.iter().filter(|w| w.0 == array);
        own.any(|w| w.1 != row || w.2 != column)
    };
    let alone = written.iter().all(|w| !clash(w.0, w.1, w.2));
    let reads_memory = values
        .iter()
        .any(|v| any(v, &|v| matches!(v.kind, ValueKind::Memory(_))));
    let reads_others = values.iter().any(|v| {
        any(v, &|v| match &v.kind {
            ValueKind::Cell(array, row, column) => clash(*array, row, column),
            _ => false,
        })
    });
    alone && !reads_others && (stores == 0 || stores == 1 && !reads_memory)
}

fn any(v: &Value, holds: &impl Fn(&Value) -> bool) -> bool {
    let mut found = holds(v);
    v.for_each_part(&mut |part| found |= any(part, holds));
    found
}

/// Whether a column is the variable of the loop, or that and something fixed.
fn follows(column: &Value, slot: usize, names: &[usize]) -> bool {
    let fixed = |v: &Value| !names.iter().any(|n| v.mentions(*n));
    match &column.kind {
        ValueKind::Local(s) => *s == slot,
        ValueKind::Binary(Binary::Add, a, b) => {
            a.kind == ValueKind::Local(slot) && fixed(b)
                || b.kind == ValueKind::Local(slot) && fixed(a)
        }
        _ => false,
    }
}

impl Expr {
    /// What is added to the variable of the loop, when it is a sum of it and something fixed.
    pub(super) fn offset(&self, slot: usize) -> Option<Option<&Expr>> {
        match &self.kind {
            ExprKind::Local(s) if *s == slot => Some(None),
            ExprKind::Binary(Binary::Add, a, b) => match (&a.kind, &b.kind) {
                (ExprKind::Local(s), _) if *s == slot && !b.varies => Some(Some(b)),
                (_, ExprKind::Local(s)) if *s == slot && !a.varies => Some(Some(a)),
                _ => None,
            },
            _ => None,
        }
    }
}
