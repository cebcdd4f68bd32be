//! State of the machine that no operand holds: control and status, segment bases, counters,
//! sources of random numbers, modes, bounds of pointers, and registers that an operand numbers.
//!
//! In: the text of a body. Out: which of them it names. Each is a free variable of the
//! meaning, and one that is written is an output of its name, as memory is; instructions that
//! use them are fault_with_hint apart by [`is_of_the_machine`], since their results are no functions of
//! their operands. What has a number (`MSR[n]`) is a memory of its own of 64-bit words. A field
//! (`q.LB`) is a variable whose name has `_` for the point. What is saved and restored as a
//! whole, and tiles, are not here.

use super::machine::Execution;
use super::value::{Computed, Value};
use super::{RESULT, memory};
use crate::pseudocode::ast::Name;
use crate::signature::Signature;
use semantics::build as b;
use semantics::instruction::Instruction;
use semantics::sort::Sort;
use semantics::subst::free_vars;
use semantics::term::Term;

/// A register: the name of its variable and its width.
pub(crate) type Register = (Name, u32);

/// Registers by the name that a text has for them. The lower half of a register of 512 bits is
/// what AVX calls by its name; a machine without the upper half has nothing there.
const REGISTERS: [(&str, u32); 29] = [
    ("MXCSR", 32),
    ("FS_Segment_Base_Register", 64),
    ("GS_Segment_Base_Register", 64),
    ("TimeStampCounter", 64),
    ("IA32_TSC_AUX", 32),
    ("SSP", 64),
    ("PerfMonMask", 64),
    ("RTM_ACTIVE", 1),
    ("HLE_ACTIVE", 1),
    ("HW_RND_GEN.ready", 1),
    ("HW_RND_GEN.data", 64),
    ("HW_NRND_GEN.ready", 1),
    ("HW_NRND_GEN.data", 64),
    ("YMM0", 512),
    ("YMM1", 512),
    ("YMM2", 512),
    ("YMM3", 512),
    ("YMM4", 512),
    ("YMM5", 512),
    ("YMM6", 512),
    ("YMM7", 512),
    ("YMM8", 512),
    ("YMM9", 512),
    ("YMM10", 512),
    ("YMM11", 512),
    ("YMM12", 512),
    ("YMM13", 512),
    ("YMM14", 512),
    ("YMM15", 512),
];

/// Registers of 64 bits that an operand numbers.
const FILES: [&str; 3] = ["XCR", "MSR", "PMC"];

/// What belongs to a pointer beside the address: the first and the last byte that may be touched.
const BOUNDS: [&str; 2] = ["LB", "UB"];

/// The registers that a text names; some may be named only where it has no effect.
pub(crate) fn named(text: &str, signature: &Signature) -> Vec<Register> {
    let all = REGISTERS.into_iter();
    let named = all.filter(|(name, _)| text.contains(name));
    let mut found: Vec<Register> = named.map(|(n, w)| (variable(n), w)).collect();
    let pointers = signature.operands.iter().filter(|o| o.role.is_pointer());
    let returned = signature.returns.c_type.contains('*').then_some(RESULT);
    for name in pointers.map(|o| o.name.as_str()).chain(returned) {
        let fields = BOUNDS.iter().map(|field| format!("{name}.{field}"));
        found.extend(
            fields
                .filter(|n| text.contains(n))
                .map(|n| (variable(&n), 64)),
        );
    }
    found
}

/// The name of the variable that stands for a register.
fn variable(name: &str) -> Name {
    name.replace('.', "_").into()
}

/// The name of the variable for a field, if it is one of the machine's state.
pub(crate) fn field(base: &str, field: &str) -> Option<Name> {
    let whole = format!("{base}.{field}");
    let known = BOUNDS.contains(&field) || REGISTERS.iter().any(|(name, _)| *name == whole);
    known.then(|| variable(&whole))
}

/// Whether a name is that of registers by number.
pub(crate) fn is_numbered(name: &str) -> bool {
    FILES.contains(&name)
}

/// The free variable that stands for a register before the instruction.
pub(crate) fn before((name, width): &Register) -> Term {
    Term::var(name, Sort::Bv(*width))
}

/// Whether an instruction reads or writes what no operand holds, or does nothing that its
/// meaning has.
pub(crate) fn is_of_the_machine(instruction: &Instruction) -> bool {
    let known =
        |name: &str| name == memory::MEMORY || instruction.operands.iter().any(|o| o.name == name);
    instruction.outputs.is_empty()
        || instruction.outputs.iter().any(|o| {
            let own = o.name == RESULT || o.name == memory::MEMORY;
            let mut free = free_vars(o.term).into_iter();
            !own || free.any(|v| !v.as_var().is_some_and(known))
        })
}

impl Execution {
    /// Registers by number as they are now, where the name is theirs.
    fn file(&mut self, name: &str) -> Option<Term> {
        let name = FILES.into_iter().find(|file| *file == name)?;
        if self.slot(&name.into()).is_some() {
            return None;
        }
        let files = &self.frame().files;
        Some(
            files
                .get(name)
                .copied()
                .unwrap_or_else(|| Term::var(name, Sort::Mem)),
        )
    }

    /// The register of that number; none where the name is not that of such registers.
    pub(crate) fn numbered_register(
        &mut self,
        name: &str,
        number: &Value,
    ) -> Option<Computed<Value>> {
        let file = self.file(name)?;
        let read = |at| Value::unsigned(b::read(file, at, 8));
        Some(place_of(number).map(read))
    }

    /// Writes the register of that number; none where the name is not that of such registers.
    pub(crate) fn write_numbered(
        &mut self,
        name: &Name,
        number: &Value,
        value: &Value,
    ) -> Option<Computed<()>> {
        let file = self.file(name)?;
        let written = || Ok(b::write(file, place_of(number)?, value.bits(64)?));
        Some(written().map(|after| {
            self.frame().files.insert(name.clone(), after);
        }))
    }
}

/// Where the register of a number is among the others.
fn place_of(number: &Value) -> Computed<Term> {
    Ok(b::concat(&[number.bits(61)?, b::zero(3)]))
}
