//! Two loops over all elements of a register, as maps.
//!
//! In: a loop over rows with a loop over columns in it, whose body gives the element there a value.
//! Out: the register as a map over both, without running them: of large tiles an element is computed
//! once instead of some hundred times. Where the body does anything else, nothing comes of it, and the
//! loops are run.

use super::super::ast::{Expr, ExprKind, Place, Statement};
use super::value::{self, Data, Index};
use super::{Execution, Operand};
use semantics::build as b;
use semantics::sort::Sort;
use semantics::span::Span;
use semantics::term::Term;

/// The element that a body gives a value.
#[derive(Clone, Debug)]
pub(super) struct Element {
    register: String,
    view: String,
    /// The names of the row and of the column.
    indices: [String; 2],
    /// Its value so far.
    value: Term,
    /// Where that was given, as long as nothing has read it.
    fresh: Option<Span>,
}

/// Statements for which it is worth it.
const MANY: i64 = 512;

impl Element {
    /// Whether a place is this element; none when it is another one of the register.
    pub(super) fn is(&self, place: &Place) -> Option<bool> {
        if place.name != self.register {
            return Some(false);
        }
        let view = place.view.as_deref() == Some(self.view.as_str());
        let names: Option<Vec<&str>> = place.indices.iter().map(plain).collect();
        let same = names.is_some_and(|n| n == [&self.indices[0], &self.indices[1]]);
        (view && same).then_some(true)
    }
}

/// The name that an expression is.
fn plain(e: &Expr) -> Option<&str> {
    match &e.kind {
        ExprKind::Place(p) if p.view.is_none() && p.indices.is_empty() => Some(&p.name),
        _ => None,
    }
}

/// The first place that is written in a body, of those that are asked for.
fn written<'s>(body: &'s [Statement], of: &dyn Fn(&Place) -> bool) -> Option<&'s Place> {
    body.iter().find_map(|s| match s {
        Statement::Assign { place, .. } => of(place).then_some(place),
        Statement::For { body, .. } => written(body, of),
        Statement::If { then, other, .. } => written(then, of).or_else(|| written(other, of)),
        _ => None,
    })
}

impl Execution<'_> {
    /// Runs a loop as a map, when it is one; whether it was.
    pub(super) fn rolled(&mut self, statement: &Statement) -> bool {
        let last = self.last.is_some_and(|s| std::ptr::eq(s, statement));
        if self.element.is_some() || self.condition.is_some() || !last {
            return false;
        }
        let before = (
            self.registers.clone(),
            self.locals.len(),
            self.requires.len(),
            self.steps,
            self.doubts.len(),
        );
        let done = self.as_map(statement);
        self.element = None;
        self.locals.truncate(before.1);
        if done.is_none() {
            self.registers = before.0;
            self.requires.truncate(before.2);
            self.condition = None;
            self.steps = before.3;
            self.doubts.truncate(before.4);
        }
        done.is_some()
    }

    fn as_map(&mut self, statement: &Statement) -> Option<()> {
        let Statement::For {
            name: row,
            low,
            high,
            body,
            ..
        } = statement
        else {
            return None;
        };
        let [
            Statement::For {
                name: column,
                low: first,
                high: last,
                body: inner,
                ..
            },
        ] = &body[..]
        else {
            return None;
        };
        let number = |machine: &mut Self, e| machine.number(e).ok();
        let (rows, columns) = (number(self, high)?, number(self, last)?);
        if number(self, low)? != 0 || number(self, first)? != 0 || rows < 2 || columns < 2 {
            return None;
        }
        let place = written(inner, &|p| !self.blanks.contains_key(&p.name))?;
        let view = place.view.clone()?;
        let Some(Operand::Register { width, row: bits }) = self.operand(&place.name).cloned()
        else {
            return None;
        };
        let each = value::width(value::element(&view, place.span).ok()?);
        let whole = i64::from(width / bits) == rows && i64::from(bits / each) == columns;
        let register = self.registers.get(&place.name)?.clone();
        if !whole || register.changed() {
            return None;
        }
        let index = |depth, count| Index {
            term: Term::bound(depth, Sort::Int),
            low: 0,
            high: count - 1,
        };
        let (row_at, column_at) = (index(1, rows), index(0, columns));
        let at = b::int_add(
            b::int_mul(row_at.term, Term::int(i64::from(bits))),
            b::int_mul(column_at.term, Term::int(i64::from(each))),
        );
        // What only the body has holds something that no element may depend on: what the element before
        // left. Behind the loops nothing reads it, as they are the last.
        let names: Vec<String> = self.blanks.keys().cloned().collect();
        for name in &names {
            let register = self.registers.get_mut(name)?;
            *register = register.unknown(name);
        }
        self.element = Some(Element {
            register: place.name.clone(),
            view,
            indices: [row.clone(), column.clone()],
            value: register.element(at, each)?,
            fresh: None,
        });
        self.locals.push((row.clone(), Data::Index(row_at)));
        self.locals.push((column.clone(), Data::Index(column_at)));
        let steps = self.steps;
        self.run(inner).ok()?;
        if (self.steps - steps) as i64 * rows * columns < MANY {
            return None;
        }
        let value = self.element.take()?.value;
        let free = semantics::subst::free_vars(value);
        let unknown = |v: &Term| names.iter().any(|n| v.as_var() == Some(n.as_str()));
        if free.iter().any(unknown) {
            return None;
        }
        let count = |n: i64| u32::try_from(n).ok();
        let whole = b::map(count(rows)?, b::map(count(columns)?, value));
        let span = place.span;
        self.registers.get_mut(&place.name)?.write(0, whole, span);
        Some(())
    }

    /// Gives the element a value; none when the place is another one.
    pub(super) fn write_element(&mut self, place: &Place, new: Term) -> Option<()> {
        let condition = self.condition;
        let element = self.element.as_mut()?;
        if element.is(place) != Some(true) {
            return None;
        }
        let lost = element.fresh.take();
        match condition {
            Some(condition) => element.value = b::ite(condition, new, element.value),
            None => {
                element.value = new;
                element.fresh = Some(place.span).filter(|_| new.as_bits().is_none());
                self.lost(lost, place);
            }
        }
        Some(())
    }

    /// The element's value, when a place is it; none when it is another one of its register.
    pub(super) fn read_element(&mut self, place: &Place) -> Option<Option<Term>> {
        let element = self.element.as_mut()?;
        let own = element.is(place)?;
        if own {
            element.fresh = None;
        }
        Some(own.then_some(element.value))
    }
}
