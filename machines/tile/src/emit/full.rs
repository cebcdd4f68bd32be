//! Operations on numbers that fill a register, whose results would need a bit more on the way.
//!
//! In: sums and differences that are clamped, averages and absolute differences of elements as wide as
//! the host's registers. Out: instructions of the host. That a sum leaves its range is told by signs: both
//! operands have the one that the sum has not; without signs, by the sum being less than what was added. Averages are
//! of the bits that both have and half of those that one has (Warren, Hacker's Delight, 2-5 and 2-13).

use super::exact::Shift;
use super::{Emit, Reg};
use crate::error::MappingError;
use crate::host::{Binary, Branch};
use kernel::tree::{Expr, Op};
use semantics::span::Span;

impl Emit<'_> {
    /// A register gets the value of an operation on two such numbers; none where it is another one.
    pub(super) fn full(
        &mut self,
        target: Reg,
        op: Op,
        args: &[Expr],
        span: Span,
    ) -> Result<Option<()>, MappingError> {
        if !matches!(
            op,
            Op::SatAdd | Op::SatSub | Op::Avg | Op::AvgFloor | Op::Absd
        ) || args[0].ty.elem.bits() != self.host.width
        {
            return Ok(None);
        }
        let signed = args[0].ty.elem.is_signed();
        let [x, y] = self.both(target, args, span)?;
        let other = if x == target { y } else { x };
        match (op, signed) {
            (Op::Avg | Op::AvgFloor, _) => self.average(target, (x, y), (op, signed), span)?,
            (Op::Absd, _) => self.apart(target, (x, y), signed, span)?,
            (_, true) => self.in_range(target, (x, y), op, span)?,
            (_, false) => self.in_range_unsigned(target, (x, y), op, span)?,
        }
        self.give(other);
        Ok(Some(()))
    }

    /// The sum or difference of two numbers with signs; where it leaves the range, the end of that on the side of
    /// the first.
    fn in_range(
        &mut self,
        target: Reg,
        (x, y): (Reg, Reg),
        op: Op,
        span: Span,
    ) -> Result<(), MappingError> {
        let (sum, mark) = (self.take(span)?, self.take(span)?);
        let (code, odd) = match op {
            Op::SatAdd => (Binary::Add, sum),
            _ => (Binary::Sub, x),
        };
        self.binary(code, [sum, x, y], span)?;
        // A sum has another sign than both; a difference another one than the first, and so has the second.
        self.binary(Binary::Xor, [y, y, odd], span)?;
        self.binary(Binary::Xor, [mark, x, sum], span)?;
        self.binary(Binary::And, [mark, mark, y], span)?;
        let (fits, done, zero) = (self.label(), self.label(), self.host.zero);
        self.branch(Branch::NotLess, (mark, zero), fits, span)?;
        let width = i64::from(self.host.width);
        self.add_into(target, x, 0, span)?;
        self.shifted(target, (width - 1, Shift::Signed), span)?;
        self.constant_into(mark, i64::MAX >> (64 - width));
        self.binary(Binary::Xor, [target, target, mark], span)?;
        self.branch(Branch::Equal, (zero, zero), done, span)?;
        self.here(fits);
        self.add_into(target, sum, 0, span)?;
        self.here(done);
        self.give(mark);
        self.give(sum);
        Ok(())
    }

    /// The same of numbers without a sign.
    fn in_range_unsigned(
        &mut self,
        target: Reg,
        (x, y): (Reg, Reg),
        op: Op,
        span: Span,
    ) -> Result<(), MappingError> {
        let (sum, less) = (self.take(span)?, self.take(span)?);
        // Where the result does not fit, the sum is less than an operand, or the first than what is taken away.
        let (code, pair, end) = match op {
            Op::SatAdd => (Binary::Add, (sum, x), -1),
            _ => (Binary::Sub, (x, y), 0),
        };
        self.binary(code, [sum, x, y], span)?;
        self.less_unsigned(less, pair, span)?;
        let (done, zero) = (self.label(), self.host.zero);
        self.add_into(target, sum, 0, span)?;
        self.branch(Branch::Equal, (less, zero), done, span)?;
        self.constant_into(target, end);
        self.here(done);
        self.give(less);
        self.give(sum);
        Ok(())
    }

    /// How far two numbers are apart.
    fn apart(
        &mut self,
        target: Reg,
        (x, y): (Reg, Reg),
        signed: bool,
        span: Span,
    ) -> Result<(), MappingError> {
        let (less, back) = (self.take(span)?, self.take(span)?);
        match signed {
            true => self.binary(Binary::Less, [less, x, y], span)?,
            false => self.less_unsigned(less, (x, y), span)?,
        }
        self.binary(Binary::Sub, [back, y, x], span)?;
        self.binary(Binary::Sub, [target, x, y], span)?;
        let (done, zero) = (self.label(), self.host.zero);
        self.branch(Branch::Equal, (less, zero), done, span)?;
        self.add_into(target, back, 0, span)?;
        self.here(done);
        self.give(back);
        self.give(less);
        Ok(())
    }

    /// Half of a sum, halves upwards or downwards.
    fn average(
        &mut self,
        target: Reg,
        (x, y): (Reg, Reg),
        (op, signed): (Op, bool),
        span: Span,
    ) -> Result<(), MappingError> {
        let (whole, half) = (self.take(span)?, self.take(span)?);
        let (bits, code) = match op {
            Op::AvgFloor => (Binary::And, Binary::Add),
            _ => (Binary::Or, Binary::Sub),
        };
        let kind = match signed {
            true => Shift::Signed,
            false => Shift::Logical(self.host.width),
        };
        self.binary(bits, [whole, x, y], span)?;
        self.binary(Binary::Xor, [half, x, y], span)?;
        self.shifted(half, (1, kind), span)?;
        self.binary(code, [target, whole, half], span)?;
        self.give(half);
        self.give(whole);
        Ok(())
    }

    /// A register gets whether a number without a sign is less than another one.
    fn less_unsigned(
        &mut self,
        target: Reg,
        (x, y): (Reg, Reg),
        span: Span,
    ) -> Result<(), MappingError> {
        let other = self.take(span)?;
        self.add_into(target, x, 0, span)?;
        self.add_into(other, y, 0, span)?;
        let bits = self.host.width;
        self.turned(target, bits, span)?;
        self.turned(other, bits, span)?;
        self.binary(Binary::Less, [target, target, other], span)?;
        self.give(other);
        Ok(())
    }
}
