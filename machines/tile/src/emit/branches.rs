//! Distances of branches, once all code is written.
//!
//! In: code, with the branches in it and the labels they go to. Out: the same with distances. A branch
//! that does not reach as far becomes its opposite over a jump, which does.

use super::Emit;
use crate::error::MappingError;
use crate::host::{Branch, Known};
use semantics::machine::{MachineInstruction, OperandKind};

impl Emit<'_> {
    /// Puts distances into branches.
    pub(super) fn patch(&mut self) -> Result<(), MappingError> {
        // A label behind the end is there.
        let end = self.code.len();
        self.labels
            .iter_mut()
            .for_each(|l| *l = Some(l.unwrap_or(end)));
        while let Some(far) = (0..self.jumps.len()).find(|k| !self.reaches(*k)) {
            self.over_a_jump(far)?;
        }
        Ok(())
    }

    /// Gives a branch its distance, if it reaches as far.
    fn reaches(&mut self, jump: usize) -> bool {
        let (at, label) = self.jumps[jump];
        let distance = self.distance(at, self.labels[label].unwrap_or(self.code.len()));
        let (k, values) = &mut self.code[at];
        let found = &self.machine.instructions[*k];
        if let Some(target) = target(found) {
            values[target] = distance;
        }
        let signed = |k: usize| {
            let kind = &found.operands[k].kind;
            matches!(kind, OperandKind::Immediate { signed: true, .. })
        };
        found.encoding.word(values, signed).is_ok()
    }

    fn distance(&self, from: usize, to: usize) -> i64 {
        (to as i64 - from as i64) * i64::from(self.machine.word)
    }

    /// A branch as its opposite over a jump.
    fn over_a_jump(&mut self, jump: usize) -> Result<(), MappingError> {
        let (at, label) = self.jumps[jump];
        let Some((opposite, farther)) = self.opposite(self.code[at].0) else {
            let message = "a loop's code is too long for a branch over it";
            return Err(MappingError::new(self.kernel.span, message, "unroll less"));
        };
        let known = self.branch_of(self.code[at].0).map(|b| b.1.clone());
        let values = &self.code[at].1;
        let side = |k: usize| known.as_ref().map_or(0, |known| values[known.operand(k)]);
        let over = self.distance(0, 2);
        self.code[at] = opposite.placed(&[side(0), side(1), over]);
        self.code
            .insert(at + 1, farther.placed(&[self.host.zero, 0]));
        let moved = |place: &mut usize| *place += usize::from(*place > at);
        self.labels.iter_mut().flatten().for_each(moved);
        self.jumps.iter_mut().for_each(|j| moved(&mut j.0));
        self.jumps[jump] = (at + 1, label);
        Ok(())
    }

    /// What an instruction compares, if it is a branch.
    fn branch_of(&self, instruction: usize) -> Option<(Branch, &Known)> {
        let all = [
            Branch::Equal,
            Branch::Different,
            Branch::Less,
            Branch::NotLess,
        ];
        let known = all
            .into_iter()
            .filter_map(|b| Some((b, self.host.branch(b)?)));
        known.into_iter().find(|k| k.1.instruction == instruction)
    }

    /// The opposite of a branch, and what goes farther.
    fn opposite(&self, instruction: usize) -> Option<(Known, Known)> {
        let opposite = match self.branch_of(instruction)?.0 {
            Branch::Equal => Branch::Different,
            Branch::Different => Branch::Equal,
            Branch::Less => Branch::NotLess,
            Branch::NotLess => Branch::Less,
        };
        Some((self.host.branch(opposite)?.clone(), self.host.jump.clone()?))
    }
}

/// The operand that is a distance.
fn target(found: &MachineInstruction) -> Option<usize> {
    let is = |kind: &OperandKind| matches!(kind, OperandKind::Immediate { target: true, .. });
    found.operands.iter().position(|o| is(&o.kind))
}
