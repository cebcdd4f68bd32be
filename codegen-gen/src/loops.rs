//! Loops of commands in C.
//!
//! In: a [`CommandProgram`] and its machine. Out: a function whose commands are inline assembly, for a
//! compiler that needs no header: it finds itself what to keep in registers. Their machine code is part of
//! a mapped program, and written as all machine code is.

use crate::back_end::{Code, Language};
use crate::command;
use semantics::machine::{Field, Machine, OperandKind};
use std::fmt::Write as _;
use tile::frame;
use tile::program::Placed;
use tile::systolic::program::{Amount, CommandNode, CommandProgram};

/// A statement that puts two registers into a command.
const COMMAND: &str = "\
#define COMMAND(text, a, b) __asm__ volatile(text :: \"r\"(a), \"r\"(b) : \"memory\")

";

/// A function in C for a compiler that targets the machine's host.
///
/// # Errors
/// A command that assemblers cannot be told of.
pub fn c(machine: &Machine, program: &CommandProgram, about: &[String]) -> Result<Code, String> {
    let note = "A command takes two registers; commands stay in order, and the last statement \
                waits for them.";
    let about = [about, &[note.to_owned()]].concat();
    let mut text = String::new();
    let parameters = program.arrays.iter().filter(|a| !a.made);
    let parameters = parameters.map(|a| match a.written {
        true => format!("void *{}", a.name),
        false => format!("const void *{}", a.name),
    });
    let parameters = parameters.collect::<Vec<_>>().join(", ");
    let _ = writeln!(text, "void {}({parameters}) {{", program.name);
    for a in program.arrays.iter().filter(|a| a.made) {
        text.push_str(&crate::machine::own_buffer(a));
    }
    for at in 0..=program.body.len() {
        for host in program.host.iter().filter(|h| h.before == at) {
            host_statement(machine, program, &host.code, &mut text)?;
        }
        let node = program.body.get(at..=at).unwrap_or_default();
        statements(machine, program, node, 1, &mut text)?;
    }
    text.push_str("}\n");
    let mut code = Code::of(Language::C, &about, text);
    code.head = vec![vec![COMMAND.to_owned()]];
    Ok(code)
}

/// Code of the host as inline assembly, with arrays where it looks for them.
fn host_statement(
    machine: &Machine,
    program: &CommandProgram,
    code: &[Placed],
    text: &mut String,
) -> Result<(), String> {
    let abi = frame::convention(machine)?;
    let file = &machine.files[abi.file];
    text.push_str("  {\n");
    let mut given = Vec::new();
    for (k, (array, register)) in program.arrays.iter().zip(&abi.arguments).enumerate() {
        let (name, at) = (&array.name, file.name_of(*register));
        let _ = writeln!(
            text,
            "    register const void *isaforge_{k} __asm__(\"{at}\") = {name};"
        );
        given.push(format!("\"r\"(isaforge_{k})"));
    }
    text.push_str("    __asm__ volatile(\n");
    // Every instruction is one word, as distances have it.
    let within = abi.enter.iter().chain(&abi.words).cloned();
    let lines = within.chain(crate::machine::lines(machine, code)?);
    for line in lines.chain(abi.leave.iter().cloned()) {
        let line = line.split('\t').next().unwrap_or_default();
        let _ = writeln!(text, "      \"{line}\\n\"");
    }
    let spoilt = frame::changed(machine, abi.file, code);
    let spoilt = spoilt
        .into_iter()
        .map(|r| format!(", \"{}\"", file.name_of(r)));
    let spoilt = spoilt.collect::<String>();
    let _ = writeln!(
        text,
        "      :: {} : \"memory\"{spoilt});\n  }}",
        given.join(", ")
    );
    Ok(())
}

fn statements(
    machine: &Machine,
    program: &CommandProgram,
    body: &[CommandNode],
    depth: usize,
    text: &mut String,
) -> Result<(), String> {
    let indent = "  ".repeat(depth);
    for node in body {
        match node {
            CommandNode::Loop { var, count, body } => {
                let _ = writeln!(
                    text,
                    "{indent}for (unsigned long v{var} = 0; v{var} < {count}; v{var}++) {{"
                );
                statements(machine, program, body, depth + 1, text)?;
                let _ = writeln!(text, "{indent}}}");
            }
            CommandNode::Do(command) => {
                let found = &machine.instructions[command.instruction];
                let name = &found.instruction.name;
                let given = |field: &Field, _: u32| match found.operands[field.operand].kind {
                    OperandKind::Register { .. } => Some(format!("%{}", field.operand)),
                    OperandKind::Immediate { .. } => None,
                };
                let wrong = || format!("assemblers cannot be told of `{name}`");
                match command.operands.as_slice() {
                    [a, b] => {
                        let statement = command::statement(machine, found, &given);
                        let statement = statement.ok_or_else(wrong)?;
                        let (a, b) = (amount(program, a), amount(program, b));
                        let _ = writeln!(
                            text,
                            "{indent}COMMAND(\"{statement}\", {a}, {b}); // {name}"
                        );
                    }
                    [] => {
                        let word = found.encoding.bits;
                        let _ = writeln!(
                            text,
                            "{indent}__asm__ volatile(\".word {word:#010x}\" ::: \"memory\"); // {name}"
                        );
                    }
                    _ => return Err(wrong()),
                }
            }
        }
    }
    Ok(())
}

/// An operand as an expression; it wraps.
fn amount(program: &CommandProgram, amount: &Amount) -> String {
    let mut text = match amount.array {
        Some(array) => format!("(unsigned long){} + ", program.arrays[array].name),
        None => String::new(),
    };
    let constant = amount.constant;
    let _ = match (0..1 << 16).contains(&constant) {
        true => write!(text, "{constant}ul"),
        false => write!(text, "{constant:#x}ul"),
    };
    for (var, factor) in &amount.terms {
        let _ = match *factor {
            1 => write!(text, " + v{var}"),
            f if f > 0 => write!(text, " + {f}ul * v{var}"),
            f => write!(text, " - {}ul * v{var}", f.unsigned_abs()),
        };
    }
    text
}
