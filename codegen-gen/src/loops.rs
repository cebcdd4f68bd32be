//! Loops of commands to text.
//!
//! In: a [`CommandProgram`] and its machine. Out: host instructions with the commands among them
//! ([`code`]), for a listing or a simulator; a function in assembly; a function in C whose
//! commands are `.insn` statements, for a compiler that needs no header. Operands are
//! computed where they are used: a C compiler finds what to keep in registers.

use semantics::machine::{Machine, OperandKind};
use semantics::spelling;
use std::fmt::Write as _;
use tile::frame;
use tile::host::{Binary, Branch, Host, Known};
use tile::program::Placed;
use tile::systolic::program::{Amount, Command, CommandProgram, Node};

/// Where arrays are.
#[derive(Clone, Copy, Debug)]
pub enum Bases<'a> {
    /// At these addresses.
    Fixed(&'a [i64]),
    /// In the registers of a function's arguments.
    Arguments,
}

/// Registers for what is computed: two operands, and one in between.
const COMPUTED: usize = 3;

struct Writer<'a> {
    machine: &'a Machine,
    host: Host,
    bases: Bases<'a>,
    arguments: Vec<i64>,
    operands: [i64; 2],
    between: i64,
    /// Registers for loop variables that are free, the next last.
    free: Vec<i64>,
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
    program: &CommandProgram,
    bases: Bases<'_>,
) -> Result<Vec<Placed>, String> {
    let abi = crate::machine::convention(machine)?;
    let registers = |of: &[u32]| of.iter().map(|r| i64::from(*r)).collect::<Vec<_>>();
    let arguments = registers(&abi.arguments);
    if matches!(bases, Bases::Arguments) && program.arrays.len() > arguments.len() {
        let most = arguments.len();
        return Err(format!("a function has at most {most} arrays in registers"));
    }
    let computed = registers(&abi.temporary);
    let &[a, b, between] = computed.get(..COMPUTED).unwrap_or_default() else {
        return Err("there are too few registers that a function may change".to_owned());
    };
    let kept: Vec<u32> = abi.frame.iter().chain(&abi.saved).copied().collect();
    let mut free = registers(&kept);
    free.reverse();
    let mut writer = Writer {
        machine,
        host: Host::of(machine)?,
        bases,
        arguments,
        operands: [a, b],
        between,
        free,
        running: vec![None; program.vars],
        code: Vec::new(),
    };
    writer.block(&program.body)?;
    Ok(writer.code)
}

/// What a loop needs.
fn needed<'k>(known: Option<&'k Known>, what: &str) -> Result<&'k Known, String> {
    known.ok_or_else(|| format!("its host has no instruction that {what}"))
}

impl Writer<'_> {
    fn block(&mut self, body: &[Node]) -> Result<(), String> {
        for node in body {
            match node {
                Node::Do(command) => self.command(command)?,
                Node::Loop { var, count, body } => {
                    let register = self.free.pop();
                    let register = register.ok_or("more loops than registers for them")?;
                    self.running[*var] = Some(register);
                    let counted = &self.host.add_constant;
                    let (begin, next) = (
                        counted.placed(&[register, self.host.zero, 0]),
                        counted.placed(&[register, register, 1]),
                    );
                    self.code.push(begin);
                    let start = self.code.len();
                    self.block(body)?;
                    self.code.push(next);
                    self.constant(self.between, *count);
                    // Past the jump when it is done; a jump reaches farther than a branch.
                    let word = i64::from(self.machine.word);
                    let done = self.host.branch(Branch::NotLess);
                    let done = needed(done, "branches when not less")?;
                    let done = done.placed(&[register, self.between, 2 * word]);
                    self.code.push(done);
                    let back = (start as i64 - self.code.len() as i64) * word;
                    let jump = needed(self.host.jump.as_ref(), "jumps")?;
                    let jump = jump.placed(&[self.host.zero, back]);
                    self.code.push(jump);
                    self.running[*var] = None;
                    self.free.push(register);
                }
            }
        }
        Ok(())
    }

    fn command(&mut self, command: &Command) -> Result<(), String> {
        let operands = self.operands;
        for (amount, register) in command.operands.iter().zip(operands) {
            self.amount(amount, register)?;
        }
        let registers = operands[..command.operands.len()].to_vec();
        self.code.push((command.instruction, registers));
        Ok(())
    }

    fn binary(&mut self, op: Binary, values: [i64; 3]) -> Result<(), String> {
        let known = needed(self.host.binary(op), &format!("computes `{op:?}`"))?;
        let placed = known.placed(&values);
        self.code.push(placed);
        Ok(())
    }

    fn amount(&mut self, amount: &Amount, to: i64) -> Result<(), String> {
        let mut constant = amount.constant;
        if let (Some(array), Bases::Fixed(addresses)) = (amount.array, self.bases) {
            constant = constant.wrapping_add(addresses[array]);
        }
        self.constant(to, constant);
        if let (Some(array), Bases::Arguments) = (amount.array, self.bases) {
            self.binary(Binary::Add, [to, to, self.arguments[array]])?;
        }
        let between = self.between;
        for (&var, &factor) in &amount.terms {
            let register = self.running[var].ok_or("a loop variable is used outside its loop")?;
            if factor == 1 {
                self.binary(Binary::Add, [to, to, register])?;
                continue;
            }
            self.constant(between, factor);
            self.binary(Binary::Mul, [between, between, register])?;
            self.binary(Binary::Add, [to, to, between])?;
        }
        Ok(())
    }

    fn constant(&mut self, to: i64, value: i64) {
        self.code.extend(self.host.constant(to, value));
    }
}

/// The fields of a command's word: opcode, function of three bits, of seven.
fn functions(machine: &Machine, command: usize) -> (u64, u64, u64) {
    let bits = machine.instructions[command].encoding.bits;
    (bits & 0x7f, bits >> 12 & 7, bits >> 25)
}

/// A function in assembly; arrays are its arguments, and its caller's registers are kept.
///
/// # Errors
/// As [`code`].
pub fn assembly(machine: &Machine, program: &CommandProgram) -> Result<String, String> {
    let abi = crate::machine::convention(machine)?;
    let code = code(machine, program, Bases::Arguments)?;
    let frame = frame::frame(machine, &frame::changed(machine, abi.file, &code))?;
    let name = &program.name;
    let mut text = format!("\t.option norvc\n\t.text\n\t.globl {name}\n{name}:\n");
    for part in [&frame.enter, &code, &frame.leave] {
        for line in crate::machine::lines(machine, part)? {
            let _ = writeln!(text, "\t{line}");
        }
    }
    let _ = writeln!(text, "\t{}", abi.ret);
    Ok(text)
}

/// A function in C for a compiler that targets a RISC-V of 64 bits.
///
/// # Errors
/// A command that `.insn r` cannot write.
pub fn c(machine: &Machine, program: &CommandProgram, about: &[String]) -> Result<String, String> {
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
    program: &CommandProgram,
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
