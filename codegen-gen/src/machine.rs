//! Programs of a machine to text: the [`BackEnd`]s of machines with tiles.
//!
//! In: a mapped program, or machine instructions with values. Out: a listing
//! for `isaforge sim`, a function in assembly for an assembler that does not know the
//! machine's own instructions, or the same in C with inline assembly. Instructions on
//! registers that common assemblers do not know are words there, with their text beside
//! them. It places nothing and chooses no registers.

use crate::back_end::{BackEnd, Code, Language};
use crate::c as written;
use crate::loops;
use crate::statements;
use semantics::machine::{Abi, Machine, MachineInstruction, OperandKind, Syntax};
use std::fmt::Write as _;
use tile::frame;
use tile::mapped::{self, MappedProgram};
use tile::program::{ArrayUse, Function, Placed};

/// Whether common assemblers do not know the instruction: it works on registers or on state that
/// they do not know.
fn is_foreign(machine: &Machine, found: &MachineInstruction) -> bool {
    let foreign = |kind: &OperandKind| match kind {
        OperandKind::Register { file, .. } => machine.files[*file].foreign,
        OperandKind::Immediate { .. } => false,
    };
    found.operands.iter().any(|o| foreign(&o.kind))
        || found.procedure.is_some() && !found.operands.is_empty()
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

/// Instructions as an assembler reads them that does not know all of them.
///
/// # Errors
/// A value that has no bits in its word.
pub fn lines(machine: &Machine, code: &[Placed]) -> Result<Vec<String>, String> {
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

/// How mapped programs are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TextForm {
    /// A function in C.
    C,
    /// A function in assembly.
    Assembly,
    /// Instructions, as `isaforge sim` reads them.
    Listing,
}

/// A machine's programs in one of their forms.
#[derive(Clone, Copy, Debug)]
pub struct Tiles<'m> {
    /// The machine.
    pub machine: &'m Machine,
    /// How its programs are written.
    pub form: TextForm,
}

impl BackEnd<MappedProgram> for Tiles<'_> {
    fn code(&self, program: &MappedProgram, about: &[String]) -> Result<Code, String> {
        let machine = self.machine;
        let program = &match self.form {
            TextForm::C | TextForm::Assembly => named(program),
            TextForm::Listing => program.clone(),
        };
        let code = match (&program.code, self.form) {
            (mapped::Code::Commands(code, _), TextForm::C) => {
                return loops::c(machine, code, about);
            }
            (mapped::Code::Commands(_, code), _) => code.as_ref().map_err(String::clone)?,
            (mapped::Code::Function(code), _) => code,
        };
        let text = match (self.form, &machine.spelt) {
            (TextForm::C, _) => return c(machine, code, about),
            (TextForm::Assembly, Some(_)) => {
                let isa = &machine.isa;
                return Err(format!("programs of {isa} are C: `--emit c` writes them"));
            }
            (TextForm::Assembly, None) => function(machine, code)?,
            (TextForm::Listing, _) => listing_of(machine, code),
        };
        Ok(Code::of(Language::Assembly, &[], text))
    }
}

/// A program whose function and arrays have names that C can have.
fn named(program: &MappedProgram) -> MappedProgram {
    let mut program = program.clone();
    let (name, arrays) = match &mut program.code {
        mapped::Code::Function(code) => (&mut code.name, &mut code.arrays),
        mapped::Code::Commands(code, _) => (&mut code.name, &mut code.arrays),
    };
    let around = |name: &str| {
        let number = name.strip_prefix('v').map(str::parse::<usize>);
        number.is_some_and(|n| n.is_ok()) || name == "COMMAND"
    };
    // What begins so is the code's own, whatever number is appended.
    let own = |name: &str| name.replace("isaforge_", "own_");
    let own_arrays: Vec<String> = arrays.iter().map(|a| own(&a.name)).collect();
    let own_arrays = own_arrays.iter().map(String::as_str);
    let (function, fresh) = written::names_of(&own(name), own_arrays, &around);
    *name = function;
    for (array, fresh) in arrays.iter_mut().zip(fresh) {
        array.name = fresh;
    }
    if let mapped::Code::Commands(commands, Ok(code)) = &mut program.code {
        code.name.clone_from(&commands.name);
        code.arrays.clone_from(&commands.arrays);
    }
    program
}

/// A function, as `isaforge sim` reads it: where arrays begin, then instructions.
pub fn listing_of(machine: &Machine, program: &Function) -> String {
    let mut text = String::new();
    for &(array, register) in &program.arguments {
        let name = machine.files[program.scalars].name_of(register);
        let _ = writeln!(text, ".set {name}, {:#x}", program.addresses[array]);
    }
    text + &listing(machine, &program.code)
}

/// A function in assembly by the machine's convention. Its arguments are the addresses of the
/// kernel's arrays, as in C; buffers that the schedule has made are its own, so that it is not
/// called twice at once; registers that belong to the caller are kept.
///
/// # Errors
/// A value that has no bits in its word, a machine without a convention.
pub fn function(machine: &Machine, program: &Function) -> Result<String, String> {
    let name = &program.name;
    let abi = frame::convention(machine)?;
    let mut registers = program.arguments.iter().map(|(_, register)| register);
    if !registers.all(|register| abi.arguments.contains(register)) {
        let most = abi.arguments.len();
        return Err(format!("a function has at most {most} arrays in registers"));
    }
    let file = &machine.files[program.scalars];
    let (mut text, mut own) = (String::new(), Vec::new());
    for &(array, register) in &program.arguments {
        let array = &program.arrays[array];
        let at = file.name_of(register);
        if !array.made {
            let _ = writeln!(text, "\t# {at}: {}, {} bytes", array.name, array.bytes);
            continue;
        }
        let (common, set) = own_array(abi, name, array, &at);
        text.push_str(&common);
        own.extend(set);
    }
    let changed = frame::changed(machine, program.scalars, &program.code);
    let frame = frame::frame(machine, &changed)?;
    let enter = lines(machine, &frame.enter)?.into_iter().chain(own);
    let code = enter.chain(lines(machine, &program.code)?);
    let code = code.chain(lines(machine, &frame.leave)?);
    Ok(text + &assembly(abi, name, code))
}

/// An array of a function's own in assembly, and the lines after which a register holds where it is.
pub(crate) fn own_array(
    abi: &Abi,
    function: &str,
    array: &ArrayUse,
    register: &str,
) -> (String, Vec<String>) {
    let (symbol, bytes) = (format!("{function}.{}", array.name), array.bytes);
    let common = format!("\t.local {symbol}\n\t.comm {symbol}, {bytes}, {BUFFER}\n");
    let put = |line: &String| {
        line.replace("{register}", register)
            .replace("{symbol}", &symbol)
    };
    (common, abi.address.iter().map(put).collect())
}

/// The same in C.
pub(crate) fn own_buffer(array: &ArrayUse) -> String {
    let (name, bytes) = (&array.name, array.bytes);
    format!("  static unsigned char {name}[{bytes}] __attribute__((aligned({BUFFER})));\n")
}

/// A function of these lines, with its label and its end.
pub(crate) fn assembly(abi: &Abi, name: &str, lines: impl Iterator<Item = String>) -> String {
    let words = abi.words.iter().map(|line| format!("\t{line}\n"));
    let mut text: String = words.collect();
    let _ = write!(text, "\t.text\n\t.globl {name}\n{name}:\n");
    for line in lines {
        let _ = writeln!(text, "\t{line}");
    }
    let _ = writeln!(text, "\t{}", abi.ret);
    text
}

/// Bytes of which a buffer's address is a multiple.
const BUFFER: u32 = 16;

/// A function in C with the arguments of [`function`]: arrays of the kernel; buffers that the
/// schedule has made are its own, so that it is not called twice at once. Its instructions are statements
/// where the machine says how they are spelt, else assembly within it.
///
/// # Errors
/// A value that has no bits in its word; an instruction that has no statement.
pub fn c(machine: &Machine, program: &Function, about: &[String]) -> Result<Code, String> {
    if let Some(spelt) = &machine.spelt {
        return statements::c(machine, spelt, program, about);
    }
    let notes = [
        "Arrays begin at multiples of 4. The accelerator and the processor share memory without",
        "coherence: a fence is needed before, and before the results are read.",
    ];
    let about = [about, &notes.map(str::to_owned)].concat();
    let abi = frame::convention(machine)?;
    let within = |lines: &[String]| -> String {
        let lines = lines.iter().map(|line| format!("{line}\\n"));
        lines.collect()
    };
    let mut text = String::new();
    let file = &machine.files[program.scalars];
    let (mut parameters, mut own) = (Vec::new(), String::new());
    for (k, &(array, register)) in program.arguments.iter().enumerate() {
        let used = &program.arrays[array];
        let name = &used.name;
        let constant = if used.written { "" } else { "const " };
        if used.made {
            own.push_str(&own_buffer(used));
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
        "void {}({}) {{\n{own}  __asm__ volatile(\n    \"{}\"\n",
        program.name,
        parameters.join(", "),
        within(&[&abi.enter[..], &abi.words].concat())
    );
    for (line, (k, values)) in lines(machine, &program.code)?.iter().zip(&program.code) {
        let line = line.split('\t').next().unwrap_or_default();
        let shown = machine.instructions[*k].text(machine, values);
        let _ = writeln!(text, "    \"{line}\\n\" // {shown}");
    }
    let given: Vec<String> = (0..program.arguments.len())
        .map(|k| format!("\"r\"(isaforge_{k})"))
        .collect();
    let changed = frame::changed(machine, program.scalars, &program.code);
    let spoilt: Vec<String> = changed
        .into_iter()
        .map(|r| format!(", \"{}\"", file.name_of(r)))
        .collect();
    let _ = writeln!(
        text,
        "    \"{}\"\n    :: {} : \"memory\"{});\n}}",
        within(&abi.leave),
        given.join(", "),
        spoilt.concat()
    );
    Ok(Code::of(Language::C, &about, text))
}
