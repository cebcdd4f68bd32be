//! Registers of the machine that no operand names: control and status, segment bases,
//! counters.
//!
//! In: the text of a body. Out: which of them it names. Each is a free variable of the
//! meaning, and one that is written is an output of its name, as memory is; instructions that
//! use them are told apart by [`is_of_the_machine`], since their results are no functions of
//! their operands. Registers that are chosen by an operand (XCR, MSR) and tiles are not here.

use semantics::instruction::Instruction;
use semantics::sort::Sort;
use semantics::subst::free_vars;
use semantics::term::Term;

/// A register: its name in the pseudocode and its width.
pub(crate) type Register = (&'static str, u32);

const REGISTERS: [Register; 6] = [
    ("MXCSR", 32),
    ("FS_Segment_Base_Register", 64),
    ("GS_Segment_Base_Register", 64),
    ("TimeStampCounter", 64),
    ("IA32_TSC_AUX", 32),
    ("SSP", 64),
];

/// The registers that a text names; some may be named only where it has no effect.
pub(crate) fn named(text: &str) -> impl Iterator<Item = Register> {
    REGISTERS
        .into_iter()
        .filter(move |(name, _)| text.contains(name))
}

/// The free variable that stands for a register before the instruction.
pub(crate) fn before((name, width): Register) -> Term {
    Term::var(name, Sort::Bv(width))
}

/// Whether an instruction reads or writes a register of the machine that no operand names.
pub(crate) fn is_of_the_machine(instruction: &Instruction) -> bool {
    named(&instruction.pseudocode).any(|register| {
        instruction
            .outputs
            .iter()
            .any(|o| o.name == register.0 || free_vars(o.term).contains(&before(register)))
    })
}
