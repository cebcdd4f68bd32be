//! Operations whose results are clamped, averaged or rounded: nothing in between wraps.
//!
//! In: an operation on integers. Out: instructions of the host, in registers that have room for every
//! value in between; where they have none, the operation is not the host's. Of 32 bits without a sign,
//! which lie in wider registers with their highest bit copied, the order is found by turning the highest bit
//! over.

use super::expression::no_such;
use super::products::Scale;
use super::{Emit, Reg};
use crate::error::MappingError;
use crate::host::Binary;
use kernel::show::written;
use kernel::tree::{Expr, ExprKind, Op};
use kernel::types::Elem;
use semantics::span::Span;

/// What comes in from the left.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shift {
    /// Copies of the sign.
    Signed,
    /// Zeros, of values of so many bits that fill a register or have copies of their highest bit above them.
    Logical(u32),
}

impl Shift {
    /// How elements that lie in registers as their types say are shifted.
    pub(super) fn of(elem: Elem) -> Shift {
        match is_turned(elem) {
            true => Shift::Logical(elem.bits()),
            false => Shift::Signed,
        }
    }
}

/// Whether elements without a sign lie in registers as if they had one: where there are no zeros above them.
pub(super) fn is_turned(elem: Elem) -> bool {
    !elem.is_signed() && elem.bits() >= 32
}

impl Emit<'_> {
    /// A register gets the value of an operation that does not wrap in between; none where it is no
    /// such operation.
    pub(super) fn exact(
        &mut self,
        target: Reg,
        op: Op,
        args: &[Expr],
        e: &Expr,
    ) -> Result<Option<()>, MappingError> {
        let (from, to, span) = (args[0].ty.elem, e.ty.elem, e.span);
        if !from.is_int() || !to.is_int() {
            return Ok(None);
        }
        let bits = from.bits() + u32::from(!from.is_signed());
        let needed = match op {
            Op::SatAdd | Op::SatSub | Op::Avg | Op::AvgFloor | Op::Absd => bits + 1,
            Op::MulShr | Op::RoundMulShr => 2 * bits - 1,
            Op::RoundShr if from.is_signed() => from.bits(),
            Op::RoundShr | Op::SatCast => bits,
            Op::Abs => from.bits(),
            _ => return Ok(None),
        };
        if needed > self.host.width && from.bits() <= self.host.width && is_turned(from) {
            match op {
                Op::SatCast => return self.least_unsigned(target, &args[0], e).map(Some),
                Op::RoundShr => {
                    let by = count(op, &args[1])?;
                    self.value_into(target, &args[0])?;
                    return self.rounded(target, (by, Shift::of(from)), span).map(Some);
                }
                _ => {}
            }
        }
        if needed > self.host.width {
            if self.full(target, op, args, span)?.is_some() {
                return Ok(Some(()));
            }
            if matches!(op, Op::MulShr | Op::RoundMulShr) {
                let (by, rounded) = (count(op, &args[2])?, op == Op::RoundMulShr);
                let scale = Scale { by, rounded };
                if self.scaled(target, args, scale, span)?.is_some() {
                    return Ok(Some(()));
                }
            }
            let width = self.host.width;
            let name = written(op, to);
            let what = format!("computes `{name}` of {from} in registers of {width} bits");
            let hint = format!(
                "it takes {needed} bits: compute with narrower elements, or only shift, as in \
                 `rounding_shr(sum, 7)`"
            );
            return Err(MappingError {
                hint,
                ..no_such(span, &what)
            });
        }
        self.exactly(target, &args[0])?;
        match op {
            Op::RoundShr => {
                let by = count(op, &args[1])?;
                self.rounded(target, (by, Shift::Signed), span)?;
                self.wrap(target, to, span)?;
            }
            Op::SatCast => self.bounded(target, to, span)?,
            Op::Abs if !from.is_signed() => self.wrap(target, to, span)?,
            Op::Abs => {
                let other = self.take(span)?;
                let zero = self.host.zero;
                self.binary(Binary::Sub, [other, zero, target], span)?;
                self.extreme(target, other, false, span)?;
                self.give(other);
                self.wrap(target, to, span)?;
            }
            _ => self.of_two(target, op, args, e)?,
        }
        Ok(Some(()))
    }

    /// The same of two values, of which the register has the first.
    fn of_two(&mut self, target: Reg, op: Op, args: &[Expr], e: &Expr) -> Result<(), MappingError> {
        let (to, span) = (e.ty.elem, e.span);
        let other = self.take(span)?;
        self.exactly(other, &args[1])?;
        let both = [target, target, other];
        match op {
            Op::SatAdd | Op::Avg | Op::AvgFloor => self.binary(Binary::Add, both, span)?,
            Op::SatSub | Op::Absd => self.binary(Binary::Sub, both, span)?,
            _ => self.binary(Binary::Mul, both, span)?,
        }
        match op {
            Op::Avg => {
                self.add_into(target, target, 1, span)?;
                self.shifted(target, (1, Shift::Signed), span)?;
            }
            Op::AvgFloor => self.shifted(target, (1, Shift::Signed), span)?,
            Op::Absd => {
                let zero = self.host.zero;
                self.binary(Binary::Sub, [other, zero, target], span)?;
                self.extreme(target, other, false, span)?;
            }
            Op::MulShr => self.shifted(target, (count(op, &args[2])?, Shift::Signed), span)?,
            Op::RoundMulShr => {
                self.rounded(target, (count(op, &args[2])?, Shift::Signed), span)?;
            }
            _ => {}
        }
        self.give(other);
        match op {
            Op::Avg | Op::AvgFloor | Op::Absd => self.wrap(target, to, span),
            _ => self.bounded(target, to, span),
        }
    }

    /// A register gets a value as a number with a sign.
    pub(super) fn exactly(&mut self, target: Reg, e: &Expr) -> Result<(), MappingError> {
        self.value_into(target, e)?;
        self.zeros_above(target, e.ty.elem, e.span)
    }

    /// Above the bits of an element without a sign a register gets zeros.
    pub(super) fn zeros_above(
        &mut self,
        register: Reg,
        elem: Elem,
        span: Span,
    ) -> Result<(), MappingError> {
        match is_turned(elem) {
            true => self.masked(register, elem.bits(), span),
            false => Ok(()),
        }
    }

    /// Shifts to the right. Without a sign the copies of the highest bit are cut off.
    pub(super) fn shifted(
        &mut self,
        target: Reg,
        (by, kind): (i64, Shift),
        span: Span,
    ) -> Result<(), MappingError> {
        if by == 0 {
            return Ok(());
        }
        let zeros = match kind {
            Shift::Logical(bits) => Some(i64::from(bits)),
            Shift::Signed => None,
        };
        if zeros.is_some_and(|bits| by >= bits) {
            self.constant_into(target, 0);
            return Ok(());
        }
        let by = by.min(i64::from(self.host.width) - 1);
        let host = self.host;
        let shift = host.shift_right.as_ref();
        let shift = shift.ok_or_else(|| no_such(span, "shifts"))?;
        self.put(shift, &[target, target, by]);
        match zeros {
            Some(bits) => self.and_constant(target, i64::MAX >> (63 - bits + by), span),
            None => Ok(()),
        }
    }

    /// The same to the nearest, halves upwards: the last bit that is lost is added.
    pub(super) fn rounded(
        &mut self,
        target: Reg,
        (by, kind): (i64, Shift),
        span: Span,
    ) -> Result<(), MappingError> {
        if by == 0 {
            return Ok(());
        }
        let last = self.take(span)?;
        self.add_into(last, target, 0, span)?;
        self.shifted(last, (by - 1, kind), span)?;
        self.and_constant(last, 1, span)?;
        self.shifted(target, (by, kind), span)?;
        self.binary(Binary::Add, [target, target, last], span)?;
        self.give(last);
        Ok(())
    }

    /// A number without a sign that fills a register, at most the greatest of a type.
    fn least_unsigned(&mut self, target: Reg, of: &Expr, e: &Expr) -> Result<(), MappingError> {
        self.value_into(target, of)?;
        let (to, span, bits) = (e.ty.elem, e.span, of.ty.elem.bits());
        if to.max() < of.ty.elem.max() {
            let other = self.take(span)?;
            let greatest = i64::try_from(to.max()).unwrap_or(0);
            self.constant_into(other, greatest.wrapping_add(highest(bits)));
            self.turned(target, bits, span)?;
            self.extreme(target, other, true, span)?;
            self.turned(target, bits, span)?;
            self.give(other);
        }
        self.wrap(target, to, span)
    }

    /// A number in the range of a type.
    fn bounded(&mut self, target: Reg, to: Elem, span: Span) -> Result<(), MappingError> {
        let room = 1_i128 << (self.host.width - 1);
        for (bound, above) in [(to.min(), false), (to.max(), true)] {
            if !(-room..room).contains(&bound) {
                continue;
            }
            let other = self.take(span)?;
            self.constant_into(other, i64::try_from(bound).unwrap_or(0));
            self.extreme(target, other, above, span)?;
            self.give(other);
        }
        self.wrap(target, to, span)
    }

    /// Turns the highest of so many bits over, so that order with signs is order without.
    pub(super) fn turned(
        &mut self,
        register: Reg,
        bits: u32,
        span: Span,
    ) -> Result<(), MappingError> {
        let other = self.take(span)?;
        self.constant_into(other, highest(bits));
        self.binary(Binary::Xor, [register, register, other], span)?;
        self.give(other);
        Ok(())
    }
}

/// The highest of so many bits, with its copies above.
fn highest(bits: u32) -> i64 {
    i64::MIN >> (64 - bits)
}

/// By how many bits an operation shifts.
fn count(op: Op, by: &Expr) -> Result<i64, MappingError> {
    let known = match &by.kind {
        ExprKind::Const(v) => i64::try_from(v[0]).ok().filter(|n| *n >= 0),
        _ => None,
    };
    known.ok_or_else(|| {
        no_such(
            by.span,
            &format!(
                "computes `{}` by what is no number",
                written(op, by.ty.elem)
            ),
        )
    })
}
