//! Loops of commands to text.
//!
//! In: a [`LoopProgram`] and its machine. Out: host instructions with the commands among them
//! ([`code`]), for a listing or a simulator; a function in assembly; a function in C whose
//! commands are `.insn` statements, for a compiler that needs no header. Operands are
//! computed where they are used: a C compiler finds what to keep in registers.

use semantics::machine::{Machine, OperandKind};
use semantics::spelling;
use std::fmt::Write as _;
use tile::program::Placed;
use tile::scratch::program::{Amount, Command, LoopProgram, Node};

/// Where arrays are.
#[derive(Clone, Copy, Debug)]
pub enum Bases<'a> {
    /// At these addresses.
    Fixed(&'a [i64]),
    /// In the registers of a function's arguments.
    Arguments,
}

const ARGUMENTS: i64 = 10;
const OPERANDS: [i64; 2] = [5, 6];
const SCRATCH: i64 = 7;
/// Registers for loop variables.
const LOOPS: [i64; 12] = [8, 9, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27];

struct Host<'a> {
    machine: &'a Machine,
    bases: Bases<'a>,
    depth: usize,
    /// The register of each loop variable that runs.
    running: Vec<Option<i64>>,
    code: Vec<Placed>,
}

/// Host instructions and commands, in order.
///
/// # Errors
/// A host instruction that the machine lacks, more loops or arrays than there are registers.
pub fn code(
    machine: &Machine,
    program: &LoopProgram,
    bases: Bases<'_>,
) -> Result<Vec<Placed>, String> {
    if matches!(bases, Bases::Arguments) && program.arrays.len() > 8 {
        return Err("a function has at most 8 arrays in registers".to_owned());
    }
    let mut host = Host {
        machine,
        bases,
        depth: 0,
        running: vec![None; program.vars],
        code: Vec::new(),
    };
    host.block(&program.body)?;
    Ok(host.code)
}

impl Host<'_> {
    fn put(&mut self, name: &str, values: Vec<i64>) -> Result<(), String> {
        let all = &self.machine.instructions;
        let at = all.iter().position(|i| i.instruction.name == name);
        let at = at.ok_or_else(|| format!("its host has no `{name}`"))?;
        self.code.push((at, values));
        Ok(())
    }

    fn block(&mut self, body: &[Node]) -> Result<(), String> {
        for node in body {
            match node {
                Node::Do(command) => self.command(command)?,
                Node::Loop { var, count, body } => {
                    let register = *LOOPS
                        .get(self.depth)
                        .ok_or("more loops than registers for them")?;
                    self.depth += 1;
                    self.running[*var] = Some(register);
                    self.put("addi", vec![register, 0, 0])?;
                    let start = self.code.len();
                    self.block(body)?;
                    self.put("addi", vec![register, register, 1])?;
                    self.constant(SCRATCH, *count)?;
                    // Past the jump when it is done; a jump reaches farther than a branch.
                    let word = i64::from(self.machine.word);
                    self.put("bge", vec![register, SCRATCH, 2 * word])?;
                    let back = (start as i64 - self.code.len() as i64) * word;
                    self.put("jal", vec![0, back])?;
                    self.running[*var] = None;
                    self.depth -= 1;
                }
            }
        }
        Ok(())
    }

    fn command(&mut self, command: &Command) -> Result<(), String> {
        for (amount, register) in command.operands.iter().zip(OPERANDS) {
            self.amount(amount, register)?;
        }
        let registers = OPERANDS[..command.operands.len()].to_vec();
        self.code.push((command.instruction, registers));
        Ok(())
    }

    fn amount(&mut self, amount: &Amount, to: i64) -> Result<(), String> {
        let mut constant = amount.constant;
        if let (Some(array), Bases::Fixed(addresses)) = (amount.array, self.bases) {
            constant = constant.wrapping_add(addresses[array]);
        }
        self.constant(to, constant)?;
        if let (Some(array), Bases::Arguments) = (amount.array, self.bases) {
            self.put("add", vec![to, to, ARGUMENTS + array as i64])?;
        }
        for (&var, &factor) in &amount.terms {
            let register = self.running[var].ok_or("a loop variable is used outside its loop")?;
            if factor == 1 {
                self.put("add", vec![to, to, register])?;
                continue;
            }
            self.constant(SCRATCH, factor)?;
            self.put("mul", vec![SCRATCH, SCRATCH, register])?;
            self.put("add", vec![to, to, SCRATCH])?;
        }
        Ok(())
    }

    /// Sets a register: twelve bits at a time from the top.
    fn constant(&mut self, to: i64, value: i64) -> Result<(), String> {
        if (-2048..2048).contains(&value) {
            return self.put("addi", vec![to, 0, value]);
        }
        let low = (value << 52) >> 52;
        let high = value.wrapping_sub(low);
        if i32::try_from(value).is_ok() && i32::try_from(high).is_ok() {
            self.put("lui", vec![to, (high >> 12) & 0xf_ffff])?;
        } else {
            let zeros = high.trailing_zeros();
            self.constant(to, high >> zeros)?;
            self.put("slli", vec![to, to, i64::from(zeros)])?;
        }
        match low {
            0 => Ok(()),
            _ => self.put("addi", vec![to, to, low]),
        }
    }
}

/// The fields of a command's word: opcode, function of three bits, of seven.
fn functions(machine: &Machine, command: usize) -> (u64, u64, u64) {
    let bits = machine.instructions[command].encoding.bits;
    (bits & 0x7f, bits >> 12 & 7, bits >> 25)
}

/// Whether the command takes two registers, as `.insn r` has them.
fn is_pair(machine: &Machine, command: usize) -> bool {
    machine.instructions[command].operands.len() == 2
}

/// A function in assembly; arrays are its arguments.
///
/// # Errors
/// As [`code`].
pub fn assembly(machine: &Machine, program: &LoopProgram) -> Result<String, String> {
    let code = code(machine, program, Bases::Arguments)?;
    let name = &program.name;
    let mut text = format!("\t.option norvc\n\t.text\n\t.globl {name}\n{name}:\n");
    let saved: Vec<(i64, usize)> = LOOPS.iter().copied().zip(0..).collect();
    let _ = writeln!(text, "\taddi sp, sp, -{}", 8 * saved.len());
    for (register, at) in &saved {
        let _ = writeln!(text, "\tsd x{register}, {}(sp)", 8 * at);
    }
    for (at, values) in &code {
        let found = &machine.instructions[*at];
        if found.procedure.is_some() && is_pair(machine, *at) {
            let (opcode, three, seven) = functions(machine, *at);
            let _ = writeln!(
                text,
                "\t.insn r {opcode:#x}, {three}, {seven}, x0, x{}, x{}\t# {}",
                values[0], values[1], found.instruction.name
            );
            continue;
        }
        let _ = writeln!(
            text,
            "\t{}",
            crate::machine::assembled(machine, found, values)
        );
    }
    for (register, at) in &saved {
        let _ = writeln!(text, "\tld x{register}, {}(sp)", 8 * at);
    }
    let _ = writeln!(text, "\taddi sp, sp, {}\n\tret", 8 * saved.len());
    Ok(text)
}

/// A function in C for a compiler that targets a RISC-V of 64 bits.
///
/// # Errors
/// A command that `.insn r` cannot write.
pub fn c(machine: &Machine, program: &LoopProgram, about: &[String]) -> Result<String, String> {
    let mut text = String::new();
    for line in about {
        let _ = writeln!(text, "// {}", spelling::line(line));
    }
    text.push_str(
        "// A command takes two registers; commands stay in order, and the last statement waits \
         for them.\n#define COMMAND(opcode, three, seven, rs1, rs2) \\\n  __asm__ volatile(\".insn \
         r \" #opcode \", \" #three \", \" #seven \", x0, %0, %1\" \\\n                   :: \
         \"r\"(rs1), \"r\"(rs2) : \"memory\")\n\n",
    );
    let parameters = program.arrays.iter().map(|a| match a.written {
        true => format!("void *{}", a.name),
        false => format!("const void *{}", a.name),
    });
    let parameters = parameters.collect::<Vec<_>>().join(", ");
    let _ = writeln!(text, "void {}({parameters}) {{", program.name);
    statements(machine, program, &program.body, 1, &mut text)?;
    text.push_str("}\n");
    Ok(text)
}

fn statements(
    machine: &Machine,
    program: &LoopProgram,
    body: &[Node],
    depth: usize,
    text: &mut String,
) -> Result<(), String> {
    let indent = "  ".repeat(depth);
    for node in body {
        match node {
            Node::Loop { var, count, body } => {
                let _ = writeln!(
                    text,
                    "{indent}for (unsigned long v{var} = 0; v{var} < {count}; v{var}++) {{"
                );
                statements(machine, program, body, depth + 1, text)?;
                let _ = writeln!(text, "{indent}}}");
            }
            Node::Do(command) => {
                let found = &machine.instructions[command.instruction];
                let name = &found.instruction.name;
                let registers = found
                    .operands
                    .iter()
                    .all(|o| matches!(o.kind, OperandKind::Register { .. }));
                match command.operands.as_slice() {
                    [a, b] if registers => {
                        let (opcode, three, seven) = functions(machine, command.instruction);
                        let _ = writeln!(
                            text,
                            "{indent}COMMAND({opcode:#x}, {three}, {seven}, {}, {}); // {name}",
                            amount(program, a),
                            amount(program, b)
                        );
                    }
                    [] => {
                        let word = found.encoding.bits;
                        let _ = writeln!(
                            text,
                            "{indent}__asm__ volatile(\".word {word:#010x}\" ::: \"memory\"); // {name}"
                        );
                    }
                    _ => return Err(format!("`{name}` does not have the form of `.insn r`")),
                }
            }
        }
    }
    Ok(())
}

/// An operand as an expression; it wraps.
fn amount(program: &LoopProgram, amount: &Amount) -> String {
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
