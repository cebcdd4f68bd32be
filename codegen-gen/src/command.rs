//! Instructions that assemblers do not know, as they take them.
//!
//! In: an instruction, and what stands for the numbers of its registers. Out: the statement that
//! the machine's convention has for such: see [`Unknown`](semantics::machine::Unknown). It chooses
//! no registers.

use semantics::machine::{Field, Machine, MachineInstruction};

/// The number that lies in a part of a word: its first bit, and how many.
pub(crate) fn bits(word: u64, (at, count): (u32, u32)) -> u64 {
    word >> at & ((1 << count) - 1)
}

/// The number of a register in a word that a field lies in.
pub(crate) fn place(machine: &Machine, field: &Field) -> Option<(u32, u32)> {
    let unknown = machine.abi.as_ref()?.unknown.as_ref()?;
    let mut places = unknown.registers.values().copied();
    places.find(|(at, count)| (*at..at + count).contains(&field.at))
}

/// The statement of an instruction. `given` says what stands for the register at a field, and gets
/// the first bit of the register's number there; nothing where the convention has no statement for
/// the instruction, or `given` nothing for a field.
pub(crate) fn statement(
    machine: &Machine,
    found: &MachineInstruction,
    given: &dyn Fn(&Field, u32) -> Option<String>,
) -> Option<String> {
    let abi = machine.abi.as_ref()?;
    let unknown = abi.unknown.as_ref()?;
    let fields = &found.encoding.fields;
    if fields.iter().any(|field| place(machine, field).is_none()) {
        return None;
    }
    let mut text = unknown.statement.clone();
    for (name, part) in &unknown.numbers {
        let number = format!("{:#x}", bits(found.encoding.bits, *part));
        text = text.replace(&format!("{{{name}}}"), &number);
    }
    for (name, part) in &unknown.registers {
        let own = |field: &&Field| place(machine, field) == Some(*part);
        let shown = match fields.iter().find(own) {
            Some(field) => given(field, part.0)?,
            None => {
                let file = &machine.files[abi.file].name;
                format!("{file}{}", bits(found.encoding.bits, *part))
            }
        };
        text = text.replace(&format!("{{{name}}}"), &shown);
    }
    Some(text)
}
