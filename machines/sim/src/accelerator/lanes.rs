//! Loops whose rounds run side by side, a row of values at a time.
//!
//! In: the body of such a loop and its bounds. Out: what running the rounds one after the
//! other would do. Expressions that do not differ between rounds are computed once.

use super::code::{Code, Expr, ExprKind};
use super::{Accelerator, Fault, Frame};
use crate::memory::Memory;
use semantics::instruction::Element;
use semantics::machine::arithmetic;
use semantics::machine::procedure::{Binary, MAX_COLUMNS};

/// How many rounds run at once.
pub(super) const LANES: usize = MAX_COLUMNS as usize;

/// One value for each round.
pub(super) type Lane = Box<[i64; LANES]>;

/// The rounds of a loop that are under way.
#[derive(Clone, Copy)]
struct Rounds {
    slot: usize,
    low: i64,
    count: usize,
}

impl Accelerator<'_> {
    pub(super) fn in_lanes(
        &mut self,
        slot: usize,
        low: i64,
        high: i64,
        body: &[Code],
        f: &mut Frame<'_>,
        m: &mut Memory,
    ) -> Result<(), Fault> {
        let mut at = low;
        while at < high {
            let count = usize::try_from(high - at).unwrap_or(LANES).min(LANES);
            let rounds = Rounds {
                slot,
                low: at,
                count,
            };
            for step in body {
                self.lane_step(step, rounds, f, m)?;
            }
            at += count as i64;
        }
        Ok(())
    }

    fn lane(&mut self) -> Lane {
        self.pool.pop().unwrap_or_else(|| Box::new([0; LANES]))
    }

    fn lane_step(
        &mut self,
        step: &Code,
        r: Rounds,
        f: &mut Frame<'_>,
        m: &mut Memory,
    ) -> Result<(), Fault> {
        match step {
            Code::Let(slot, value) if value.varies => {
                let out = self.lanes(value, r, f, m)?;
                if let Some(old) = f.lanes[*slot].replace(out) {
                    self.pool.push(old);
                }
            }
            Code::Let(slot, value) => f.slots[*slot] = self.value(value, f, m)?,
            Code::Cell(array, row, column, value) => {
                let out = self.lanes(value, r, f, m)?;
                let row = self.value(row, f, m)?;
                let column = self.start(column, r, f, m)?;
                self.reach(*array, row, true);
                let cells = self.rows(*array, f).run_mut(row, column, r.count)?;
                cells.copy_from_slice(&out[..r.count]);
                self.pool.push(out);
            }
            Code::Memory(address, value) => {
                let bytes = value.element.width().unwrap_or(64) as usize / 8;
                let out = self.lanes(value, r, f, m)?;
                let at = self.lanes(address, r, f, m)?;
                for k in 0..r.count {
                    self.store(at[k], out[k], bytes, m)?;
                }
                self.pool.extend([out, at]);
            }
            other => self.step(other, f, m)?,
        }
        Ok(())
    }

    /// The first of neighbouring columns.
    fn start(
        &mut self,
        column: &Expr,
        r: Rounds,
        f: &mut Frame<'_>,
        m: &mut Memory,
    ) -> Result<i64, Fault> {
        Ok(match column.offset(r.slot) {
            Some(Some(more)) => r.low + self.value(more, f, m)?,
            _ => r.low,
        })
    }

    fn lanes(
        &mut self,
        e: &Expr,
        r: Rounds,
        f: &mut Frame<'_>,
        m: &mut Memory,
    ) -> Result<Lane, Fault> {
        let mut out = match &e.kind {
            ExprKind::Unary(_, a) | ExprKind::Binary(_, a, _) if e.varies => {
                self.lanes(a, r, f, m)?
            }
            _ => self.lane(),
        };
        let n = r.count;
        if !e.varies {
            let value = self.value(e, f, m)?;
            out[..n].fill(value);
            return Ok(out);
        }
        match &e.kind {
            ExprKind::Local(slot) if *slot == r.slot => {
                (r.low..).zip(&mut out[..n]).for_each(|(k, o)| *o = k);
            }
            ExprKind::Local(slot) => {
                if let Some(there) = &f.lanes[*slot] {
                    out[..n].copy_from_slice(&there[..n]);
                }
            }
            ExprKind::Cell(array, row, column) => {
                self.cells(*array, (row, column), r, f, m, &mut out)?;
            }
            ExprKind::Memory(address) => {
                let at = self.lanes(address, r, f, m)?;
                for k in 0..n {
                    out[k] = self.load(at[k], e.element, m)?;
                }
                self.pool.push(at);
            }
            ExprKind::Unary(op, a) => {
                for o in &mut out[..n] {
                    *o = arithmetic::unary(*op, *o, a.element, e.element);
                }
            }
            ExprKind::Binary(op, a, b) => {
                if *op == Binary::Mul && a.element != Element::Signed(64) {
                    self.products += n as u64;
                }
                if b.varies {
                    let other = self.lanes(b, r, f, m)?;
                    each(*op, &mut out[..n], &other[..n], a.element);
                    self.pool.push(other);
                } else {
                    let other = self.value(b, f, m)?;
                    let fixed = [other; LANES];
                    each(*op, &mut out[..n], &fixed[..n], a.element);
                }
            }
            ExprKind::Select(c, a, b) => {
                let (c, a) = (self.lanes(c, r, f, m)?, self.lanes(a, r, f, m)?);
                let b = self.lanes(b, r, f, m)?;
                for k in 0..n {
                    out[k] = if c[k] != 0 { a[k] } else { b[k] };
                }
                self.pool.extend([c, a, b]);
            }
            ExprKind::Constant(_) | ExprKind::Operand(_) | ExprKind::Field(..) => {
                let value = self.value(e, f, m)?;
                out[..n].fill(value);
            }
        }
        Ok(out)
    }

    fn cells(
        &mut self,
        array: usize,
        (row, column): (&Expr, &Expr),
        r: Rounds,
        f: &mut Frame<'_>,
        m: &mut Memory,
        out: &mut Lane,
    ) -> Result<(), Fault> {
        if !row.varies && column.offset(r.slot).is_some() {
            let row = self.value(row, f, m)?;
            let column = self.start(column, r, f, m)?;
            self.reach(array, row, false);
            let cells = self.rows(array, f).run(row, column, r.count)?;
            out[..r.count].copy_from_slice(cells);
            return Ok(());
        }
        let (rows, columns) = (self.lanes(row, r, f, m)?, self.lanes(column, r, f, m)?);
        for k in 0..r.count {
            self.reach(array, rows[k], false);
            out[k] = self.rows(array, f).get(rows[k], columns[k])?;
        }
        self.pool.extend([rows, columns]);
        Ok(())
    }
}

/// An operator on neighbours; the common ones are loops of their own.
fn each(op: Binary, a: &mut [i64], b: &[i64], element: Element) {
    let pairs = a.iter_mut().zip(b);
    match (op, element) {
        (Binary::Add, Element::Signed(32)) => {
            pairs.for_each(|(a, b)| *a = i64::from((*a as i32).wrapping_add(*b as i32)));
        }
        (Binary::Mul, Element::Signed(32)) => {
            pairs.for_each(|(a, b)| *a = i64::from((*a as i32).wrapping_mul(*b as i32)));
        }
        (Binary::Add, Element::Signed(64)) => {
            pairs.for_each(|(a, b)| *a = a.wrapping_add(*b));
        }
        _ => pairs.for_each(|(a, b)| *a = arithmetic::binary(op, *a, *b, element)),
    }
}
