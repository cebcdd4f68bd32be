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
        let (elem, filled) = (args[0].ty.elem, Shift::Logical(self.host.width));
        self.exactly(target, &args[0])?;
        let other = self.take(span)?;
        self.exactly(other, &args[1])?;
        self.binary(Binary::Mul, [target, target, other], span)?;
        match scale.rounded {
            true => self.rounded(target, (scale.by, filled), span)?,
            false => self.shifted(target, (scale.by, filled), span)?,
        }
        // What is above the bits of an element is too much.
        let bits = i64::from(elem.bits());
        self.add_into(other, target, 0, span)?;
        self.shifted(other, (bits, filled), span)?;
        let (done, zero) = (self.label(), self.host.zero);
        self.branch(Branch::Equal, (other, zero), done, span)?;
        self.constant_into(target, (1 << bits) - 1);
        self.here(done);
        self.give(other);
        self.wrap(target, elem, span)
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
        self.give(other);
        let product = Double {
            low,
            high,
            kind: Shift::of(elem),
        };
        let rounds = scale.rounded && scale.by > 0;
        if rounds {
            self.bit_of(product, scale.by - 1, target, span)?;
        }
        self.right(product, scale.by, span)?;
        if rounds {
            self.binary(Binary::Add, [low, low, target], span)?;
            // The upper half is one more where the lower one became 0 by that.
            let (done, zero) = (self.label(), self.host.zero);
            self.branch(Branch::Equal, (target, zero), done, span)?;
            self.branch(Branch::Different, (low, zero), done, span)?;
            self.add_into(high, high, 1, span)?;
            self.here(done);
        }
        self.clamped(target, product, span)?;
        self.give(high);
        self.give(low);
        Ok(())
    }

    /// A register gets one bit of a number in two.
    fn bit_of(&mut self, of: Double, at: i64, target: Reg, span: Span) -> Result<(), MappingError> {
        let width = i64::from(self.host.width);
        let (half, at) = match at < width {
            true => (of.low, at),
            false => (of.high, at - width),
        };
        self.add_into(target, half, 0, span)?;
        self.shifted(target, (at, of.kind), span)?;
        self.and_constant(target, 1, span)
    }

    /// A number in two registers is shifted to the right.
    fn right(&mut self, of: Double, by: i64, span: Span) -> Result<(), MappingError> {
        let width = self.host.width;
        let beyond = by - i64::from(width);
        if beyond >= 0 {
            self.add_into(of.low, of.high, 0, span)?;
            self.shifted(of.high, (i64::from(width), of.kind), span)?;
            return self.shifted(of.low, (beyond, of.kind), span);
        }
        if by > 0 {
            self.shifted(of.low, (by, Shift::Logical(width)), span)?;
            let part = self.take(span)?;
            self.shifted_left(part, (of.high, -beyond), span)?;
            self.binary(Binary::Or, [of.low, of.low, part], span)?;
            self.give(part);
        }
        self.shifted(of.high, (by, of.kind), span)
    }

    /// A register gets the lower half of a number, or the end of the range that it has left.
    fn clamped(&mut self, target: Reg, of: Double, span: Span) -> Result<(), MappingError> {
        let (fits, width) = (self.label(), i64::from(self.host.width));
        let sign = (width - 1, Shift::Signed);
        self.add_into(target, of.low, 0, span)?;
        if of.kind != Shift::Signed {
            self.branch(Branch::Equal, (of.high, self.host.zero), fits, span)?;
            self.constant_into(target, -1);
            self.here(fits);
            return Ok(());
        }
        // The upper half is copies of the sign of the lower one.
        self.shifted(of.low, sign, span)?;
        self.branch(Branch::Equal, (of.low, of.high), fits, span)?;
        self.shifted(of.high, sign, span)?;
        self.constant_into(target, i64::MAX >> (64 - width));
        self.binary(Binary::Xor, [target, target, of.high], span)?;
        self.here(fits);
        Ok(())
    }
}

/// A number in two registers, and how its upper half is shifted.
#[derive(Clone, Copy)]
struct Double {
    low: Reg,
    high: Reg,
    kind: Shift,
}
