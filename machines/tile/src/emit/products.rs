//! Products that are shifted and clamped, where a register has no room for them.
//!
//! In: products of two elements, by how many bits they are shifted to the right, rounded or not. Out:
//! instructions of the host that clamp to the range of the elements. Without signs a product of elements of half
//! the width of a register fills one; a product of elements that fill one lies in two, the lower half and the upper
//! one.

use super::exact::Shift;
use super::{Emit, Reg};
use crate::error::MappingError;
use crate::host::{Binary, Branch};
use kernel::tree::Expr;
use semantics::span::Span;

/// By how much a product is shifted, and whether it is rounded, halves upwards.
#[derive(Clone, Copy)]
pub(super) struct Scale {
    pub(super) by: i64,
    pub(super) rounded: bool,
}

impl Emit<'_> {
    /// A register gets such a product; none where it is another one, or the host has no instruction for it.
    pub(super) fn scaled(
        &mut self,
        target: Reg,
        args: &[Expr],
        scale: Scale,
        span: Span,
    ) -> Result<Option<()>, MappingError> {
        let (elem, width) = (args[0].ty.elem, self.host.width);
        if self.host.binary(Binary::ShiftRightLogical).is_none() {
            return Ok(None);
        }
        let high = match elem.is_signed() {
            true => Binary::HighProduct,
            false => Binary::HighProductUnsigned,
        };
        if !elem.is_signed() && 2 * elem.bits() <= width {
            return self.in_one(target, args, scale, span).map(Some);
        }
        match elem.bits() == width && self.host.binary(high).is_some() {
            true => self.in_two(target, args, (high, scale), span).map(Some),
            false => Ok(None),
        }
    }

    /// A product without a sign that fills a register.
    fn in_one(
        &mut self,
        target: Reg,
        args: &[Expr],
        scale: Scale,
        span: Span,
    ) -> Result<(), MappingError> {
        let elem = args[0].ty.elem;
        self.exactly(target, &args[0])?;
        let other = self.take(span)?;
        self.exactly(other, &args[1])?;
        self.binary(Binary::Mul, [target, target, other], span)?;
        if scale.rounded && scale.by > 0 {
            // Half of what is left when one bit less is lost, and the last bit of that.
            self.logical(target, (target, scale.by - 1), other, span)?;
            let last = self.take(span)?;
            self.constant_into(other, 1);
            self.binary(Binary::And, [last, target, other], span)?;
            self.logical(target, (target, 1), other, span)?;
            self.binary(Binary::Add, [target, target, last], span)?;
            self.give(last);
        } else {
            self.logical(target, (target, scale.by), other, span)?;
        }
        let (bits, part) = (i64::from(elem.bits()), self.take(span)?);
        self.logical(other, (target, bits), part, span)?;
        self.give(part);
        let (done, zero) = (self.label(), self.host.zero);
        self.branch(Branch::Equal, (other, zero), done, span)?;
        self.constant_into(target, (1 << bits) - 1);
        self.here(done);
        self.give(other);
        self.wrap(target, elem, span)
    }

    /// One register gets what another one holds, shifted to the right by a number, with zeros; `free` is used
    /// for that.
    fn logical(
        &mut self,
        target: Reg,
        (from, by): (Reg, i64),
        free: Reg,
        span: Span,
    ) -> Result<(), MappingError> {
        match by {
            0 => self.add_into(target, from, 0, span),
            by if by >= i64::from(self.host.width) => {
                self.constant_into(target, 0);
                Ok(())
            }
            by => {
                self.constant_into(free, by);
                self.binary(Binary::ShiftRightLogical, [target, from, free], span)
            }
        }
    }

    /// A product in two registers.
    fn in_two(
        &mut self,
        target: Reg,
        args: &[Expr],
        (code, scale): (Binary, Scale),
        span: Span,
    ) -> Result<(), MappingError> {
        let elem = args[0].ty.elem;
        let [x, y] = self.both(target, args, span)?;
        let other = if x == target { y } else { x };
        let (low, high) = (self.take(span)?, self.take(span)?);
        self.binary(Binary::Mul, [low, x, y], span)?;
        self.binary(code, [high, x, y], span)?;
        // Both operands are done with.
        let product = Double {
            low,
            high,
            signed: elem.is_signed(),
        };
        let (last, free) = (target, other);
        let rounds = scale.rounded && scale.by > 0;
        if rounds {
            self.bit_of(product, scale.by - 1, (last, free), span)?;
        }
        self.right(product, scale.by, free, span)?;
        if rounds {
            self.binary(Binary::Add, [low, low, last], span)?;
            // The upper half is one more where the lower one became 0 by that.
            let (done, zero) = (self.label(), self.host.zero);
            self.branch(Branch::Equal, (last, zero), done, span)?;
            self.branch(Branch::Different, (low, zero), done, span)?;
            self.add_into(high, high, 1, span)?;
            self.here(done);
        }
        self.clamped(target, product, free, span)?;
        self.give(high);
        self.give(low);
        self.give(other);
        Ok(())
    }

    /// A register gets one bit of a number in two.
    fn bit_of(
        &mut self,
        of: Double,
        at: i64,
        (target, free): (Reg, Reg),
        span: Span,
    ) -> Result<(), MappingError> {
        let width = i64::from(self.host.width);
        if at < width {
            self.logical(target, (of.low, at), free, span)?;
        } else if at < 2 * width {
            self.logical(target, (of.high, at - width), free, span)?;
        } else if of.signed {
            self.logical(target, (of.high, width - 1), free, span)?;
        } else {
            self.constant_into(target, 0);
        }
        self.constant_into(free, 1);
        self.binary(Binary::And, [target, target, free], span)
    }

    /// A number in two registers is shifted to the right.
    fn right(&mut self, of: Double, by: i64, free: Reg, span: Span) -> Result<(), MappingError> {
        let width = i64::from(self.host.width);
        if by >= width {
            self.add_into(of.low, of.high, 0, span)?;
            self.upper(of.high, (of.signed, width), free, span)?;
            return self.upper(of.low, (of.signed, by - width), free, span);
        }
        if by > 0 {
            self.logical(of.low, (of.low, by), free, span)?;
            let part = self.take(span)?;
            self.constant_into(free, width - by);
            self.binary(Binary::ShiftLeft, [part, of.high, free], span)?;
            self.binary(Binary::Or, [of.low, of.low, part], span)?;
            self.give(part);
        }
        self.upper(of.high, (of.signed, by), free, span)
    }

    /// The upper half is shifted to the right.
    fn upper(
        &mut self,
        register: Reg,
        (signed, by): (bool, i64),
        free: Reg,
        span: Span,
    ) -> Result<(), MappingError> {
        if !signed {
            return self.logical(register, (register, by), free, span);
        }
        self.shifted(register, (by, Shift::Signed), span)
    }

    /// A register gets the lower half of a number, or the end of the range that it has left.
    fn clamped(
        &mut self,
        target: Reg,
        of: Double,
        free: Reg,
        span: Span,
    ) -> Result<(), MappingError> {
        let (fits, width) = (self.label(), i64::from(self.host.width));
        if !of.signed {
            let zero = self.host.zero;
            self.add_into(target, of.low, 0, span)?;
            self.branch(Branch::Equal, (of.high, zero), fits, span)?;
            self.constant_into(target, -1);
            self.here(fits);
            return Ok(());
        }
        // The upper half is copies of the sign of the lower one.
        self.add_into(free, of.low, 0, span)?;
        self.upper(free, (true, width - 1), free, span)?;
        self.add_into(target, of.low, 0, span)?;
        self.branch(Branch::Equal, (free, of.high), fits, span)?;
        self.upper(of.high, (true, width - 1), free, span)?;
        self.constant_into(free, i64::MAX >> (64 - width));
        self.binary(Binary::Xor, [target, of.high, free], span)?;
        self.here(fits);
        Ok(())
    }
}

/// A number in two registers.
#[derive(Clone, Copy)]
struct Double {
    low: Reg,
    high: Reg,
    signed: bool,
}
