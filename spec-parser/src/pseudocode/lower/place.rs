//! Places: the bits of a variable that an expression names.
//!
//! In: slices and fields over a name. Out: [`Place`]s to read and write. An offset may
//! depend on operands: a read then selects an element, a write chooses among positions.

use super::expression::{extent, of_piece};
use super::float;
use super::machine::{Execution, Run, Slot, as_bits, at, class_of, fault, fault_with_hint};
use super::memory::{self, Address};
use super::register::{Piece, Register};
use super::value::{self, Class, Computed, Sym, Value};
use super::{compare, select, state, unit};
use crate::pseudocode::ast::{BinaryOp, Expr, ExprKind, Name, field_width};
use semantics::build as b;
use semantics::span::Span;
use semantics::term::Term;
use std::rc::Rc;

/// The most positions among which a write chooses.
const POSITIONS: i128 = 256;
/// Bits of a slice whose reading counts as one more statement.
const WORK: u32 = 128;

/// Where the bits of a place end.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Width {
    /// That many bits.
    Bits(u32),
    /// Up to this bit, included, from a start that depends on operands.
    UpTo(u32),
    /// No bit.
    Empty,
    /// To the end of the register.
    Max,
    /// That many bits, written with the highest first.
    Reversed(u32),
}

/// The number of a bit, when a register may have that many.
pub(crate) fn bit_number(k: i128) -> Option<u32> {
    u32::try_from(k).ok().filter(|k| *k < 1 << 13)
}

/// Bits of a variable.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Place {
    pub(crate) name: Name,
    pub(crate) lo: Value,
    pub(crate) width: Width,
    /// The field alone was written: the variable is as wide as it.
    pub(crate) declares: bool,
    /// How a field says that it is read.
    pub(crate) class: Option<Class>,
}

impl Place {
    /// All of a variable.
    pub(crate) fn whole(name: &Name) -> Place {
        Place {
            name: name.clone(),
            lo: Value::Int(0),
            width: Width::Max,
            declares: false,
            class: None,
        }
    }
}

/// An offset that depends on operands.
pub(crate) enum Offset {
    /// Element `index` of `count` from bit `start` on.
    Element { start: u32, count: u32, index: Term },
    /// That many bits from the lowest.
    Bits(Term),
}

impl Offset {
    /// How `width` bits at an offset are found in `size` bits.
    pub(crate) fn of(lo: &Sym, width: u32, size: u32) -> Computed<Offset> {
        let Some((least, most)) = lo.bounds() else {
            return value::refuse("this offset is too wide");
        };
        if least < 0 {
            return value::refuse("this offset may be negative");
        }
        let w = i128::from(width);
        let start = bit_number(lo.offset);
        if let Some(start) =
            start.filter(|s| lo.scale > 0 && lo.scale % w == 0 && *s < size && !lo.signed)
        {
            let index = Sym {
                scale: lo.scale / w,
                offset: 0,
                ..lo.clone()
            }
            .plainly();
            let room = i128::from(size - start).div_euclid(w);
            let count = ((most - lo.offset) / w + 1).min(room.max(1));
            let count = u32::try_from(count).expect("at most the register's elements");
            return Ok(Offset::Element {
                start,
                count,
                index: index.term,
            });
        }
        Ok(Offset::Bits(lo.plainly().term))
    }
}

impl Execution {
    /// The place that an expression names; none when its base is not a name.
    pub(crate) fn place(&mut self, e: &Expr) -> Run<Option<Place>> {
        match &e.kind {
            ExprKind::Name(name) => Ok(Some(Place::whole(self.aliases.get(name).unwrap_or(name)))),
            ExprKind::Numbered(name, number) => {
                let name = self.numbered(name, number)?;
                Ok(Some(Place::whole(&name)))
            }
            ExprKind::Slice(base, hi, lo) => {
                let Some(outer) = self.outer(base)? else {
                    return Ok(None);
                };
                let (start, width) = self.bounds(hi, lo, e.span)?;
                Ok(Some(Place {
                    lo: at(value::add(&outer.lo, &start), e.span)?,
                    width,
                    declares: false,
                    class: None,
                    ..outer
                }))
            }
            ExprKind::Index(base, index) => {
                let (base, unit, class) = match &base.kind {
                    ExprKind::Field(inner, field) => match field_width(field) {
                        Some(width) => (inner, width, float::field(field)),
                        None => return Ok(None),
                    },
                    _ => (base, 1, None),
                };
                let Some(outer) = self.outer(base)? else {
                    return Ok(None);
                };
                if let (Some(to), true) = (unit::place(e), self.bytes) {
                    return self.element_at(to).map(Some);
                }
                let index = self.eval(index)?;
                let start = match unit {
                    1 => index,
                    _ => at(value::mul(&index, &Value::Int(i128::from(unit))), e.span)?,
                };
                Ok(Some(Place {
                    lo: at(value::add(&outer.lo, &start), e.span)?,
                    width: Width::Bits(unit),
                    declares: false,
                    class,
                    ..outer
                }))
            }
            ExprKind::Field(base, field) => {
                if let Some(state) = base.as_name().and_then(|n| state::field(n, field))
                    && self.slot(&state).is_some()
                {
                    return Ok(Some(Place::whole(&state)));
                }
                let Some(width) = field_width(field) else {
                    return Ok(None);
                };
                let declares = base.as_name().is_some();
                Ok(self.outer(base)?.map(|outer| Place {
                    width: Width::Bits(width),
                    declares,
                    class: float::field(field),
                    ..outer
                }))
            }
            _ => Ok(None),
        }
    }

    /// The place of which an expression is a part; bits of a pointer are those that it points at.
    fn outer(&mut self, base: &Expr) -> Run<Option<Place>> {
        let place = self.place(base)?;
        let pointed = place.as_ref().and_then(|p| match self.slot(&p.name) {
            Some(Slot::Scalar(Value::Address(to))) if self.pointers.contains_key(&p.name) => {
                Some(to.clone())
            }
            _ => None,
        });
        let Some(to) = pointed else {
            return Ok(place);
        };
        Ok(Some(Place {
            lo: Value::Address(Box::new(at(to.in_bits(), base.span)?)),
            ..Place::whole(&memory::NAME.into())
        }))
    }

    /// The element at a place in memory, where those are counted in bytes: as wide as it is far to
    /// the next, which a write does not tell.
    fn element_at(&mut self, to: &Expr) -> Run<Place> {
        let Value::Address(address) = self.eval(to)? else {
            return fault("this is no place in memory", to.span);
        };
        let width = unit::distance(to).map_or(Width::Max, |bytes| Width::Bits(8 * bytes));
        Ok(Place {
            lo: Value::Address(Box::new(at(address.in_bits(), to.span)?)),
            width,
            ..Place::whole(&memory::NAME.into())
        })
    }

    /// The start and width of `[hi:lo]`.
    fn bounds(&mut self, hi: &Expr, lo: &Expr, span: Span) -> Run<(Value, Width)> {
        let start = self.eval(lo)?;
        if hi.as_name().is_some_and(|n| &**n == "MAX") {
            return Ok((start, Width::Max));
        }
        let end = self.eval(hi)?;
        if let (Some(h), Some(l)) = (end.known(), start.known()) {
            if h == l - 1 {
                return Ok((start, Width::Empty));
            }
            if h < l && h >= 0 && bit_number(l).is_some() {
                let width = u32::try_from(l - h + 1).expect("just bounded");
                return Ok((end, Width::Reversed(width)));
            }
        } else if let (Some(h), None) = (end.known(), start.known()) {
            let top = bit_number(h);
            return match top {
                Some(top) => Ok((start, Width::UpTo(top))),
                None => fault("the end of this slice is out of range", span),
            };
        }
        let (start, width) = at(extent(&end, &start), span)?;
        Ok((start, Width::Bits(width)))
    }

    /// The bits of a place, read as its field says.
    pub(crate) fn read_place(&mut self, place: &Place, span: Span) -> Run<Value> {
        let v = self.read_bits(place, span)?;
        let (Some(class), Width::Bits(width)) = (place.class, &place.width) else {
            return Ok(v);
        };
        Ok(match v {
            Value::Sym(s) if s.plain() => of_piece(Piece {
                term: s.cut(*width),
                class,
                element: *width,
            }),
            _ => v,
        })
    }

    fn read_bits(&mut self, place: &Place, span: Span) -> Run<Value> {
        if &*place.name == memory::NAME {
            return self.read_memory(place, span);
        }
        let Some(slot) = self.slot(&place.name).cloned() else {
            if self.assigned.contains_key(&place.name) && !self.dialect.has_bits() {
                return Ok(Value::Int(0));
            }
            return self.unknown_name(&place.name, span);
        };
        let width = match place.width {
            Width::Bits(width) | Width::Reversed(width) => width,
            Width::Empty => {
                let hint = "the number of the highest bit comes first, and is not less than that of the lowest";
                return fault_with_hint("this slice has no bits", span, hint);
            }
            Width::UpTo(_) => return fault("the width of this slice depends on operands", span),
            Width::Max => match &slot {
                Slot::Scalar(v) => return Ok(v.clone()),
                Slot::Bits(register) => register.width().max(1),
            },
        };
        self.work(width / WORK, span)?;
        self.events.name(&place.name);
        let read = match (&slot, place.lo.known()) {
            (Slot::Scalar(v), _) => self.slice_value(v, &place.lo, width, span)?,
            (Slot::Bits(register), Some(lo)) => {
                let Some(lo) = bit_number(lo) else {
                    return fault("this slice lies outside every register", span);
                };
                self.inside(&place.name, register, (lo, width), span)?;
                self.events.read(&place.name, register, lo, width);
                of_piece(register.read(lo, width))
            }
            (Slot::Bits(register), None) => {
                self.dynamic(register.whole(), &place.lo, width, span)?
            }
        };
        if matches!(place.width, Width::Reversed(_)) {
            let term = at(read.bits(width), span)?;
            let bits: Vec<Term> = (0..width).map(|k| b::extract(term, k, 1)).collect();
            return Ok(Value::unsigned(b::concat(&bits)));
        }
        Ok(read)
    }

    /// `target := value`, or `target op= value`.
    pub(crate) fn assign(&mut self, target: &Expr, op: Option<BinaryOp>, value: &Expr) -> Run<()> {
        if let ExprKind::Index(base, number) = &target.kind
            && let (Some(name), None) = (base.as_name(), op)
            && state::is_numbered(name)
        {
            let (number, v) = (self.eval(number)?, self.eval(value)?);
            if let Some(written) = self.write_numbered(name, &number, &v) {
                return at(written, target.span);
            }
        }
        let Some(mut place) = self.place(target)? else {
            return fault(
                "only slices and fields of variables can be assigned",
                target.span,
            );
        };
        if let Width::UpTo(top) = place.width {
            return self.assign_from(&place, top, value, target.span);
        }
        if place.width == Width::Empty {
            return Ok(());
        }
        if let (Width::Max, None, Some((to, class))) = (&place.width, op, self.pointed(value)?) {
            // From here on the name is what is there, however much of it is looked at.
            let slot = Slot::Scalar(Value::Address(Box::new(to)));
            self.frame().slots.insert(place.name.clone(), slot);
            self.pointers.insert(place.name, class);
            return Ok(());
        }
        if self.bytes && unit::place(target).is_some() {
            let ExprKind::Slice(_, hi, lo) = &value.kind else {
                return fault("nothing says how much of memory this is", target.span);
            };
            (_, place.width) = self.bounds(hi, lo, value.span)?;
            let v = self.eval(value)?;
            return self.write_place(&place, &v, target.span);
        }
        let rest = matches!(target.kind, ExprKind::Slice(..));
        if place.width == Width::Max && rest {
            return self.assign_rest(&place, value, target.span);
        }
        let mut v = self.eval_open(value)?;
        if let Some(op) = op {
            let old = self.read_place(&place, target.span)?;
            v = at(self.apply(op, old, v), target.span)?;
        }
        let v = float::closed(&self.floats, v);
        self.write_place(&place, &v, target.span)
    }

    /// Where `MEM[address]` is, which says nothing of how much of it is meant, and how that is read.
    fn pointed(&mut self, value: &Expr) -> Run<Option<(Address, (Class, u32))>> {
        let Some(address) = unit::place(value).filter(|_| !self.bytes) else {
            return Ok(None);
        };
        let Value::Address(to) = self.eval(address)? else {
            return Ok(None);
        };
        let name = to.base.as_var().unwrap_or_default();
        let class = self.pointers.get(name).copied();
        Ok(Some((*to, class.unwrap_or((Class::Unsigned, 1)))))
    }

    fn register(&mut self, name: &Name) -> &mut Register {
        let outer = self.frames.first().and_then(|f| f.slots.get(name)).cloned();
        let is_body = self.frames.len() == 1;
        let slots = &mut self.frame().slots;
        let slot = slots.get(name);
        let register = match slot {
            Some(Slot::Bits(_)) => None,
            Some(s) => Some(as_bits(Some(s))),
            None if is_body => Some(Rc::default()),
            // A call that writes a slice of an outer name writes a copy of its own.
            None => Some(match outer {
                Some(Slot::Bits(register)) => {
                    let mut copy = (*register).clone();
                    copy.size = None;
                    Rc::new(copy)
                }
                other => as_bits(other.as_ref()),
            }),
        };
        if let Some(register) = register {
            slots.insert(name.clone(), Slot::Bits(register));
        }
        match slots.get_mut(name) {
            Some(Slot::Bits(register)) => Rc::make_mut(register),
            _ => unreachable!("the slot was just made bits"),
        }
    }

    /// The piece that a value becomes at a width; a temporary remembers how it was read.
    fn piece(&self, v: &Value, width: u32, span: Span) -> Run<Piece> {
        let term = at(v.bits(width), span)?;
        let (class, element) = match v {
            Value::Sym(s) if s.raw && s.plain() && width >= s.element => {
                (s.class, s.element.min(width))
            }
            Value::Sym(s) => (class_of(s.signed), width),
            Value::Int(k) => (class_of(*k < 0), width),
            _ => (class_of(false), width),
        };
        Ok(Piece {
            term,
            class,
            element,
        })
    }

    /// How many bits of which place in memory.
    fn memory_place(place: &Place, span: Span) -> Run<(Address, u32)> {
        match (&place.lo, &place.width) {
            (Value::Address(address), Width::Bits(width)) => Ok(((**address).clone(), *width)),
            _ => fault("this is no place in memory", span),
        }
    }

    fn read_memory(&mut self, place: &Place, span: Span) -> Run<Value> {
        let (address, width) = Self::memory_place(place, span)?;
        let term = at(self.frame().memory.read(&address, width), span)?;
        let name = address.base.as_var().unwrap_or_default();
        let (class, element) = self
            .pointers
            .get(name)
            .copied()
            .unwrap_or((Class::Unsigned, 1));
        Ok(of_piece(Piece {
            term,
            class: if width >= element {
                class
            } else {
                Class::Unsigned
            },
            element: element.min(width),
        }))
    }

    pub(crate) fn write_place(&mut self, place: &Place, v: &Value, span: Span) -> Run<()> {
        if &*place.name == memory::NAME {
            let (address, width) = Self::memory_place(place, span)?;
            self.fits(v, width, span)?;
            let piece = self.piece(v, width, span)?;
            return at(self.frame().memory.write(&address, piece), span);
        }
        let width = match place.width {
            Width::Bits(width) => width,
            Width::Max => match self.frame().slots.get(&place.name) {
                Some(Slot::Bits(r)) if r.size.is_some() => r.width(),
                _ => {
                    let slot = Slot::Scalar(v.clone());
                    self.frame().slots.insert(place.name.clone(), slot);
                    return Ok(());
                }
            },
            _ => return fault("this slice cannot be assigned", span),
        };
        self.fits(v, width, span)?;
        let piece = self.piece(v, width, span)?;
        if place.declares && self.is_temporary(&place.name) {
            let slot = Slot::Bits(Rc::new(Register::temporary(piece)));
            self.frame().slots.insert(place.name.clone(), slot);
            return Ok(());
        }
        match place.lo.known() {
            Some(lo) => {
                let Some(lo) = bit_number(lo) else {
                    return fault("this slice lies outside every register", span);
                };
                if let Some(Slot::Bits(register)) = self.slot(&place.name) {
                    self.inside(&place.name, register, (lo, width), span)?;
                }
                self.writing(&place.name, lo, piece.term);
                self.register(&place.name).write(lo, piece);
            }
            None => {
                let positions = at(positions(&place.lo, width), span)?;
                self.events.conditions += 1;
                for &(lo, _) in &positions {
                    self.writing(&place.name, lo, piece.term);
                }
                self.events.conditions -= 1;
                self.register(&place.name).scatter(&positions, piece);
            }
        }
        Ok(())
    }

    /// Refuses bits that an operand or the result does not have, where bits have a width: in other
    /// notations such bits read as zeros.
    fn inside(
        &self,
        name: &Name,
        register: &Register,
        (lo, width): (u32, u32),
        span: Span,
    ) -> Run<()> {
        let Some(size) = register.size.filter(|_| self.dialect.has_bits()) else {
            return Ok(());
        };
        if lo + width <= size {
            return Ok(());
        }
        let own = self.dialect.results().first();
        let own = own.filter(|_| &**name == super::RESULT);
        let name: &str = own.map_or(&**name, |own| own);
        let message = format!(
            "`{name}` has {size} bits, and bits {} to {lo} are not all among them",
            lo + width - 1
        );
        let hint = match size / width {
            0 => format!("its highest bit is number {}", size - 1),
            count => format!(
                "its last {width} bits are those from {} on, element {}",
                (count - 1) * width,
                count - 1
            ),
        };
        fault_with_hint(message, span, hint)
    }

    /// Notes that bits are about to be written.
    fn writing(&mut self, name: &Name, lo: u32, term: Term) {
        let result = &**name == super::RESULT && self.frames.len() == 1;
        if let Some(Slot::Bits(register)) = self.slot(name).cloned() {
            self.events.write((name, result), &register, lo, term);
        }
    }

    fn is_temporary(&self, name: &Name) -> bool {
        let slot = self.frames.last().and_then(|f| f.slots.get(name));
        !matches!(slot, Some(Slot::Bits(r)) if r.size.is_some())
    }

    /// `x[MAX:n] := 0`.
    fn assign_rest(&mut self, place: &Place, value: &Expr, span: Span) -> Run<()> {
        let v = self.known(value)?;
        let lo = match place.lo.known().and_then(bit_number) {
            Some(lo) if v == 0 => lo,
            _ => return fault("only zeros can be assigned up to `MAX`", span),
        };
        // The rest of what is no register of the machine does not exist.
        let fixed = self.slot(&place.name).and_then(|s| match s {
            Slot::Bits(r) => r.size,
            Slot::Scalar(_) => None,
        });
        if let Some(size) = fixed.filter(|size| lo < *size) {
            let piece = self.piece(&Value::Int(0), size - lo, span)?;
            self.writing(&place.name, lo, piece.term);
            self.register(&place.name).write(lo, piece);
        }
        Ok(())
    }

    /// `x[hi:m] := y[hi:m]` or `:= 0` with an `m` that depends on operands.
    fn assign_from(&mut self, place: &Place, top: u32, value: &Expr, span: Span) -> Run<()> {
        let start = at(place.lo.sym(), span)?;
        let unit = u32::try_from(start.scale).ok().filter(|u| {
            start.offset % i128::from((*u).max(1)) == 0 && (top + 1).is_multiple_of(*u)
        });
        let Some(unit) = unit else {
            return fault("the start of this slice is no multiple of a width", span);
        };
        let source = match self.place(value)? {
            Some(from) if from.width == place.width && from.lo == place.lo => Some(from.name),
            Some(_) => return fault("both slices must have the same bounds", value.span),
            None => None,
        };
        if source.is_none() && self.known(value)? != 0 {
            return fault("only a slice or zeros can be assigned here", value.span);
        }
        for lo in (0..=top - (unit - 1)).step_by(unit as usize) {
            let written = at(
                compare::at_most(&place.lo, &Value::Int(i128::from(lo))),
                span,
            )?;
            let here = |name: &Name| Place {
                name: name.clone(),
                lo: Value::Int(i128::from(lo)),
                width: Width::Bits(unit),
                declares: false,
                class: None,
            };
            let new = match &source {
                Some(name) => self.read_place(&here(name), span)?,
                None => Value::Int(0),
            };
            let target = here(&place.name);
            let old = self.read_place(&target, span)?;
            self.write_place(&target, &select::select(written, &new, &old), span)?;
        }
        Ok(())
    }
}

/// The positions that an offset may take, each with its condition.
fn positions(lo: &Value, width: u32) -> Computed<Vec<(u32, Term)>> {
    let s = lo.sym()?;
    let Some((least, most)) = s.range.filter(|r| r.1 - r.0 < POSITIONS) else {
        return value::refuse("this slice may start at too many places to be written");
    };
    if s.scale < i128::from(width) {
        return value::refuse("the places of this slice overlap");
    }
    let base = Value::Sym(Sym {
        scale: 1,
        offset: 0,
        ..s.clone()
    });
    (least..=most)
        .map(|k| {
            let place = k.checked_mul(s.scale).and_then(|p| p.checked_add(s.offset));
            let Some(place) = place.and_then(bit_number) else {
                return value::refuse("this slice may lie outside every register");
            };
            Ok((place, compare::equal(&base, &Value::Int(k))?))
        })
        .collect()
}
