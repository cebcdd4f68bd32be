//! Programs of a machine to text.
//!
//! In: machine instructions with values, or a [`TileProgram`] and its machine. Out: a listing
//! for `isaforge sim`, a function in assembly for a RISC-V assembler that does not know the
//! machine's own instructions, or the same in C with inline assembly. Instructions on
//! registers that common assemblers do not know are words there, with their text beside
//! them. It places nothing and chooses no registers.

use semantics::machine::{Machine, MachineInstruction, OperandKind, Syntax};
use semantics::spelling;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use tile::looped::LoopProgram;
use tile::program::{Placed, Step, TileProgram};

/// Whether common assemblers do not know the instruction.
fn is_foreign(machine: &Machine, found: &MachineInstruction) -> bool {
    let foreign = |kind: &OperandKind| match kind {
        OperandKind::Register { file, .. } => machine.files[*file].foreign,
        OperandKind::Immediate { .. } => false,
    };
    found.operands.iter().any(|o| foreign(&o.kind))
}

fn word(found: &MachineInstruction, values: &[i64]) -> Result<u64, String> {
    let signed = |k: usize| {
        let kind = &found.operands[k].kind;
        matches!(kind, OperandKind::Immediate { signed: true, .. })
    };
    found.encoding.word(values, signed).map_err(|fault| {
        let operand = &found.operands[fault.operand].name;
        format!("`{operand}` of `{}`: {fault}", found.instruction.name)
    })
}

/// The instructions, one a line, as `isaforge sim` reads them.
pub fn listing(machine: &Machine, code: &[Placed]) -> String {
    code.iter().fold(String::new(), |mut text, (k, values)| {
        let _ = writeln!(text, "{}", machine.instructions[*k].text(machine, values));
        text
    })
}

/// The text of an instruction; distances are from the instruction itself.
pub(crate) fn assembled(machine: &Machine, found: &MachineInstruction, values: &[i64]) -> String {
    let mut text = format!("{} ", found.instruction.name);
    for piece in &found.syntax {
        match piece {
            Syntax::Text(t) => text.push_str(t),
            Syntax::Operand(k) => match found.operands[*k].kind {
                OperandKind::Immediate { target: true, .. } => {
                    let _ = write!(text, ".{:+}", values[*k]);
                }
                _ => text.push_str(&machine.operand_text(&found.operands[*k], values[*k])),
            },
        }
    }
    text
}

/// A function in assembly; it returns to its caller, whose registers it does not keep.
///
/// # Errors
/// A value that has no bits in its word.
pub fn assembly(machine: &Machine, name: &str, code: &[Placed]) -> Result<String, String> {
    let mut text = format!("\t.option norvc\n\t.text\n\t.globl {name}\n{name}:\n");
    for line in lines(machine, code)? {
        let _ = writeln!(text, "\t{line}");
    }
    text.push_str("\tret\n");
    Ok(text)
}

/// Instructions as an assembler reads them that does not know all of them.
fn lines(machine: &Machine, code: &[Placed]) -> Result<Vec<String>, String> {
    let line = |(k, values): &Placed| {
        let found = &machine.instructions[*k];
        let word = word(found, values)?;
        Ok(match is_foreign(machine, found) {
            true => format!(".word {word:#010x}\t# {}", found.text(machine, values)),
            false => assembled(machine, found, values),
        })
    };
    code.iter().map(line).collect()
}

/// A program with loops, as `isaforge sim` reads it: where arrays begin, then instructions.
pub fn listing_with_loops(machine: &Machine, program: &LoopProgram) -> String {
    let mut text = String::new();
    for &(array, register) in &program.arguments {
        let name = machine.files[program.scalars].name_of(register);
        let _ = writeln!(text, ".set {name}, {:#x}", program.addresses[array]);
    }
    text + &listing(machine, &program.code)
}

/// A program with loops as a function in assembly by RISC-V's convention: its arguments are
/// the addresses of its arrays, then of the buffers that it needs; registers that belong to
/// the caller are kept.
///
/// # Errors
/// A value that has no bits in its word.
pub fn function(machine: &Machine, program: &LoopProgram) -> Result<String, String> {
    let name = &program.name;
    let mut text = String::new();
    for (k, &(array, _)) in program.arguments.iter().enumerate() {
        let array = &program.arrays[array];
        let _ = writeln!(
            text,
            "\t# argument {k}: {}, {} bytes",
            array.name, array.bytes
        );
    }
    let _ = write!(text, "\t.option norvc\n\t.text\n\t.globl {name}\n{name}:\n");
    let kept: Vec<String> = changed(machine, program)
        .into_iter()
        .filter(|r| r.starts_with('s') || r == "ra")
        .collect();
    let frame = (4 * kept.len()).next_multiple_of(16);
    if frame > 0 {
        let _ = writeln!(text, "\taddi sp, sp, -{frame}");
    }
    for (k, register) in kept.iter().enumerate() {
        let _ = writeln!(text, "\tsw {register}, {}(sp)", 4 * k);
    }
    for line in lines(machine, &program.code)? {
        let _ = writeln!(text, "\t{line}");
    }
    for (k, register) in kept.iter().enumerate() {
        let _ = writeln!(text, "\tlw {register}, {}(sp)", 4 * k);
    }
    if frame > 0 {
        let _ = writeln!(text, "\taddi sp, sp, {frame}");
    }
    text.push_str("\tret\n");
    Ok(text)
}

/// The names of the scalar registers that a program changes, sorted.
fn changed(machine: &Machine, program: &LoopProgram) -> BTreeSet<String> {
    let file = &machine.files[program.scalars];
    let mut changed = BTreeSet::new();
    for (k, values) in &program.code {
        let operands = &machine.instructions[*k].operands;
        for (operand, &value) in operands.iter().zip(values) {
            if let OperandKind::Register {
                file: of,
                written: true,
                ..
            } = operand.kind
                && of == program.scalars
            {
                let number = u32::try_from(value).unwrap_or(u32::MAX);
                if file.zero != Some(number) {
                    changed.insert(file.name_of(number));
                }
            }
        }
    }
    changed
}

/// A function in C for a compiler that targets RISC-V.
///
/// # Errors
/// An instruction whose word has no `.insn` form.
pub fn c(machine: &Machine, program: &TileProgram, about: &[String]) -> Result<String, String> {
    let mut text = String::new();
    for line in about {
        let _ = writeln!(text, "// {}", spelling::line(line));
    }
    text.push_str(
        "// The accelerator and the processor share memory without coherence: wait for the\n\
         // accelerator before the results are read.\n\n",
    );
    let parameters = program.arrays.iter().map(|a| match a.written {
        true => format!("void *{}", a.name),
        false => format!("const void *{}", a.name),
    });
    let parameters = parameters.collect::<Vec<_>>().join(", ");
    let _ = writeln!(text, "void {}({parameters}) {{", program.name);
    for step in &program.steps {
        text.push_str(&statement(machine, program, step)?);
    }
    text.push_str("}\n");
    Ok(text)
}

/// A program with loops as a function in C: arrays of the kernel are arguments, buffers that
/// the schedule has made are the function's own, so that it is not called twice at once.
///
/// # Errors
/// A value that has no bits in its word.
pub fn c_with_loops(machine: &Machine, program: &LoopProgram) -> Result<String, String> {
    let mut text = String::from(
        "// Arrays begin at multiples of 4. The accelerator and the processor share memory without\n\
         // coherence: a fence is needed before, and before the results are read.\n",
    );
    let file = &machine.files[program.scalars];
    let (mut parameters, mut own) = (Vec::new(), String::new());
    for (k, &(array, register)) in program.arguments.iter().enumerate() {
        let used = &program.arrays[array];
        let (name, bytes) = (&used.name, used.bytes);
        let constant = if used.written { "" } else { "const " };
        if used.made {
            let _ = writeln!(
                own,
                "  static unsigned char {name}[{bytes}] __attribute__((aligned(16)));"
            );
        } else {
            parameters.push(format!("{constant}void *{name}"));
        }
        let at = file.name_of(register);
        let _ = writeln!(
            own,
            "  register {constant}void *isaforge_{k} __asm__(\"{at}\") = {name};"
        );
    }
    let _ = write!(
        text,
        "void {}({}) {{\n{own}  __asm__ volatile(\n    \".option push\\n.option norvc\\n\"\n",
        program.name,
        parameters.join(", ")
    );
    for (line, (k, values)) in lines(machine, &program.code)?.iter().zip(&program.code) {
        let line = line.split('\t').next().unwrap_or_default();
        let shown = machine.instructions[*k].text(machine, values);
        let _ = writeln!(text, "    \"{line}\\n\" // {shown}");
    }
    let given: Vec<String> = (0..program.arguments.len())
        .map(|k| format!("\"r\"(isaforge_{k})"))
        .collect();
    let spoilt: Vec<String> = changed(machine, program)
        .iter()
        .map(|r| format!(", \"{r}\""))
        .collect();
    let _ = writeln!(
        text,
        "    \".option pop\"\n    :: {} : \"memory\"{});\n}}",
        given.join(", "),
        spoilt.concat()
    );
    Ok(text)
}

/// One instruction as a statement.
fn statement(machine: &Machine, program: &TileProgram, step: &Step) -> Result<String, String> {
    let found = &machine.instructions[step.instruction];
    let mut values = vec![0; found.operands.len()];
    for &(operand, register) in &step.tiles {
        values[operand] = register as i64;
    }
    let word = word(found, &values)?;
    let (Some(window), Some((base, stride))) = (step.window, program.scalars_of(machine, step))
    else {
        let shown = found.text(machine, &values);
        return Ok(format!(
            "  __asm__ volatile(\".word {word:#010x}\" ::: \"memory\"); // {shown}\n"
        ));
    };
    let register = |at: u32| format!("x{}", word >> at & 31);
    let mut places = [register(7), register(15), register(20)];
    for (operand, placeholder) in [(base, "%0"), (stride, "%1")] {
        let mut fields = found
            .encoding
            .fields
            .iter()
            .filter(|f| f.operand == operand);
        let at = fields
            .next()
            .filter(|f| f.width == 5 && f.from == 0)
            .map(|f| f.at);
        let slot = [7, 15, 20].iter().position(|p| Some(*p) == at);
        let slot = slot.ok_or_else(|| {
            let name = &found.operands[operand].name;
            format!(
                "`{name}` of `{}` is not where `.insn r` has a register",
                found.instruction.name
            )
        })?;
        places[slot] = placeholder.to_owned();
    }
    let [rd, rs1, rs2] = places;
    let (opcode, three, seven) = (word & 0x7f, word >> 12 & 7, word >> 25);
    let array = &program.arrays[window.array].name;
    let tile = step.tiles.first().map_or(0, |t| t.1);
    Ok(format!(
        "  __asm__ volatile(\".insn r {opcode:#x}, {three}, {seven:#x}, {rd}, {rs1}, {rs2}\"\n    \
         :: \"r\"((const char *){array} + {}), \"r\"({}) : \"memory\"); // {} {}{tile}\n",
        window.base,
        window.stride,
        found.instruction.name,
        machine
            .files
            .iter()
            .find(|f| f.row < f.width)
            .map_or("", |f| f.name.as_str()),
    ))
}
