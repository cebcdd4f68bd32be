//! Shifts by what is no number, and bits that are counted.
//!
//! In: integers that registers hold, in these as their types say. Out: instructions of the host. Counts
//! are read without a sign; from the width of an element on nothing is left but the sign. Set bits are added up in
//! pairs, fours and bytes; zeros in front are looked for by halves (Warren, Hacker's Delight, 5-1 and 5-3).

use super::exact::Shift;
use super::{Emit, Reg};
use crate::error::MappingError;
use crate::host::{Binary, Branch};
use kernel::tree::{Expr, Op};
use semantics::span::Span;

/// Halves of groups of bits.
const HALVES: [u32; 6] = [1, 2, 4, 8, 16, 32];

impl Emit<'_> {
    /// A register gets a value that is shifted by another one.
    pub(super) fn shifted_by(
        &mut self,
        target: Reg,
        op: Op,
        args: &[Expr],
        span: Span,
    ) -> Result<(), MappingError> {
        let elem = args[0].ty.elem;
        let [x, by] = self.both(target, args, span)?;
        let other = if x == target { by } else { x };
        let (signed, bits) = (elem.is_signed(), i64::from(elem.bits()));
        if op != Op::Shl {
            self.zeros_above(x, elem, span)?;
        }
        let (far, done, zero) = (self.label(), self.label(), self.host.zero);
        let result = self.take(span)?;
        if op == Op::RoundShr {
            self.add_into(result, x, 0, span)?;
            self.branch(Branch::Equal, (by, zero), done, span)?;
            self.add_into(by, by, -1, span)?;
        }
        // A count with its highest bit set is far, too.
        self.branch(Branch::Less, (by, zero), far, span)?;
        self.constant_into(result, bits);
        self.branch(Branch::NotLess, (by, result), far, span)?;
        let code = match (op, !signed && self.host.width == elem.bits()) {
            (Op::Shl, _) => Binary::ShiftLeft,
            (_, true) => Binary::ShiftRightLogical,
            (_, false) => Binary::ShiftRight,
        };
        self.binary(code, [result, x, by], span)?;
        if op == Op::RoundShr {
            // Half of it, and the last bit that is lost.
            self.constant_into(by, 1);
            self.binary(Binary::And, [x, result, by], span)?;
            self.binary(code, [result, result, by], span)?;
            self.binary(Binary::Add, [result, result, x], span)?;
        }
        self.branch(Branch::Equal, (zero, zero), done, span)?;
        self.here(far);
        match op == Op::Shr && signed {
            true => {
                self.add_into(result, x, 0, span)?;
                self.shifted(result, (bits - 1, Shift::Signed), span)?;
            }
            false => self.constant_into(result, 0),
        }
        self.here(done);
        self.add_into(target, result, 0, span)?;
        self.give(result);
        self.give(other);
        self.wrap(target, elem, span)
    }

    /// A register gets how many bits of a value are set, or how many in front are not.
    pub(super) fn count_into(
        &mut self,
        target: Reg,
        op: Op,
        of: &Expr,
        span: Span,
    ) -> Result<(), MappingError> {
        let bits = of.ty.elem.bits();
        self.value_into(target, of)?;
        let part = self.take(span)?;
        if op == Op::Clz {
            self.zeros_in_front(target, part, bits, span)?;
        } else {
            self.masked(target, bits, span)?;
            self.pairs(target, part, bits, span)?;
        }
        self.give(part);
        Ok(())
    }

    /// How many bits in front of the first that is set are not: where the upper half is zero, those are so
    /// many, and the lower half is looked at; `part` is free.
    fn zeros_in_front(
        &mut self,
        target: Reg,
        part: Reg,
        bits: u32,
        span: Span,
    ) -> Result<(), MappingError> {
        let (value, zero, width) = (self.take(span)?, self.host.zero, self.host.width);
        // At the top of the register.
        self.shifted_left(value, (target, i64::from(width - bits)), span)?;
        self.constant_into(target, 0);
        for by in HALVES.into_iter().rev().filter(|by| *by < bits) {
            let some = self.label();
            self.moved_into(part, value, width - by, span)?;
            self.branch(Branch::Different, (part, zero), some, span)?;
            self.add_into(target, target, i64::from(by), span)?;
            self.shifted_left(value, (value, i64::from(by)), span)?;
            self.here(some);
        }
        let set = self.label();
        self.branch(Branch::Less, (value, zero), set, span)?;
        self.add_into(target, target, 1, span)?;
        self.here(set);
        self.give(value);
        Ok(())
    }

    /// One register gets what another one holds, shifted to the right.
    fn moved_into(
        &mut self,
        target: Reg,
        from: Reg,
        by: u32,
        span: Span,
    ) -> Result<(), MappingError> {
        self.add_into(target, from, 0, span)?;
        self.shifted(target, (i64::from(by), Shift::Signed), span)
    }

    /// The set bits of a register, in groups that become twice as long each time; `part` is free.
    fn pairs(&mut self, value: Reg, part: Reg, bits: u32, span: Span) -> Result<(), MappingError> {
        for by in HALVES.into_iter().filter(|by| *by < bits) {
            self.moved_into(part, value, by, span)?;
            // The lower half of each group.
            let group = (1_i64 << by) - 1;
            let all = (0..bits / (2 * by)).fold(0, |m, k| m | group << (2 * by * k));
            self.and_constant(part, all, span)?;
            self.and_constant(value, all, span)?;
            self.binary(Binary::Add, [value, value, part], span)?;
        }
        Ok(())
    }
}
