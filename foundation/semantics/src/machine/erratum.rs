//! Errata of hardware: operands that an instruction must not have on real units.
//!
//! In: built by the dialects of `spec-parser` from a manifest. Out: [`Erratum`], and which of
//! them an instruction with its operands meets. What instructions mean is not changed by it.

use super::Machine;

/// A value of an operand that hardware does not survive.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Erratum {
    /// Its name.
    pub name: String,
    /// The instruction, in [`Machine::instructions`].
    pub instruction: usize,
    /// Its operand.
    pub operand: usize,
    /// The values that must not occur.
    pub values: Vec<i64>,
    /// What happens, and why.
    pub reason: String,
    /// How that is known.
    pub evidence: String,
    /// The revisions of the hardware that have it.
    pub revision: String,
    /// Whether it is to be kept out of programs.
    pub active: bool,
}

impl Machine {
    /// The erratum that forbids a value of an operand.
    pub fn forbids(&self, instruction: usize, operand: usize, value: i64) -> Option<&Erratum> {
        let meets = |e: &&Erratum| {
            (e.active && e.instruction == instruction && e.operand == operand)
                && e.values.contains(&value)
        };
        self.errata.iter().find(meets)
    }

    /// The erratum that an instruction with these values meets.
    pub fn erratum(&self, instruction: usize, values: &[i64]) -> Option<&Erratum> {
        let mut all = values.iter().enumerate();
        all.find_map(|(operand, value)| self.forbids(instruction, operand, *value))
    }

    /// What an erratum forbids, in words.
    pub fn erratum_text(&self, erratum: &Erratum) -> String {
        let found = &self.instructions[erratum.instruction];
        let operand = &found.operands[erratum.operand];
        let values = erratum.values.iter();
        let values: Vec<String> = values.map(|v| self.operand_text(operand, *v)).collect();
        format!(
            "{} as `{}` of `{}`",
            values.join(", "),
            operand.name,
            found.instruction.name
        )
    }
}
