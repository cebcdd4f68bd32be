//! Loops of commands as machine code.
//!
//! In: a [`CommandProgram`] and its machine. Out: host instructions with the commands among them, as a
//! [`Function`]; how many instructions of the host stand around each command. What is used most in a
//! loop is kept in registers while it runs, and moved on by its rounds (`resident`); other operands are
//! made of what a register holds just then, by as few instructions as that takes. Whether the code does what
//! the commands do is proved by who maps a kernel; it proves nothing.

mod resident;
mod short;

use super::program::{Amount, Command, CommandNode, CommandProgram};
use crate::frame::convention;
use crate::host::{Binary, Branch, Host, Known};
use crate::program::{Function, Placed};
use resident::{Looked, Resident};
use semantics::machine::Machine;
use std::collections::BTreeSet;

/// Registers for what is computed: two operands, and one in between.
const COMPUTED: usize = 3;

struct Writer<'a> {
    machine: &'a Machine,
    host: Host,
    /// The register that holds where each array begins.
    arguments: Vec<i64>,
    operands: [i64; 2],
    between: i64,
    /// Registers for loops and for what is kept that are free, the next last.
    free: Vec<i64>,
    /// The register of each loop variable that runs.
    running: Vec<Option<i64>>,
    /// Loop variables that are asked for, as far as is known; the others count down.
    asked: BTreeSet<usize>,
    /// Those that were asked for.
    needed: BTreeSet<usize>,
    /// Amounts that are in registers while loops run.
    resident: Vec<Resident>,
    /// What the registers of operands hold, where that is known.
    held: [Option<Amount>; 2],
    code: Vec<Placed>,
}

/// Instructions of the host around commands: of each node of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Around {
    /// Before a command.
    Do(u64),
    /// Of a loop: before it, at the end of each round, behind it. The last round of one that is too long
    /// for a branch runs one less.
    Loop([u64; 3], Vec<Around>),
}

/// The machine code of a program, which finds its arrays in the registers of a function's arguments, and
/// those that are more in others, which no caller sets. They lie at these addresses when it is run by itself.
///
/// # Errors
/// A host instruction that the machine lacks, more loops or arrays than there are registers.
pub fn function(
    machine: &Machine,
    program: &CommandProgram,
    addresses: &[i64],
) -> Result<Function, String> {
    let Written {
        arguments, code, ..
    } = written(machine, program)?;
    Ok(Function {
        name: program.name.clone(),
        arrays: program.arrays.clone(),
        addresses: addresses.to_vec(),
        arguments: (0..).zip(arguments).collect(),
        constants: Vec::new(),
        scalars: convention(machine)?.file,
        code,
        registers: 0,
        fences: 0,
    })
}

/// Calls `f` for each command as it runs, with the values of its operands and how many
/// instructions of the host were run for it.
///
/// # Errors
/// As [`function`].
pub fn for_each_with_host(
    machine: &Machine,
    program: &CommandProgram,
    addresses: &[i64],
    f: &mut dyn FnMut(usize, &[i64], u64),
) -> Result<(), String> {
    let (body, around) = around(machine, program)?;
    let mut walk = Walk {
        addresses,
        vars: vec![0; program.vars],
        host: 0,
        f,
    };
    walk.block(&body, &around);
    Ok(())
}

/// The nodes of a program as its code has them, with how many instructions of the host stand around each.
///
/// # Errors
/// As [`function`].
pub fn around(
    machine: &Machine,
    program: &CommandProgram,
) -> Result<(Vec<CommandNode>, Vec<Around>), String> {
    if !program.host.is_empty() {
        return Err("what code of the host takes is known only where it runs".to_owned());
    }
    let written = written(machine, program)?;
    Ok((written.body, written.around))
}

/// What is written of a program.
struct Written {
    arguments: Vec<u32>,
    code: Vec<Placed>,
    body: Vec<CommandNode>,
    around: Vec<Around>,
}

struct Walk<'a> {
    addresses: &'a [i64],
    vars: Vec<i64>,
    /// Instructions of the host since the last command.
    host: u64,
    f: &'a mut dyn FnMut(usize, &[i64], u64),
}

impl Walk<'_> {
    fn block(&mut self, body: &[CommandNode], around: &[Around]) {
        for (node, around) in body.iter().zip(around) {
            match (node, around) {
                (
                    CommandNode::Loop { var, count, body },
                    Around::Loop([before, end, behind], inner),
                ) => {
                    self.host += before;
                    for k in 0..*count {
                        self.vars[*var] = k;
                        self.block(body, inner);
                        self.host += end;
                    }
                    self.vars[*var] = 0;
                    self.host += behind;
                }
                (CommandNode::Do(command), Around::Do(before)) => {
                    let operands = command.operands.iter();
                    let values = operands.map(|a| a.value(self.addresses, &self.vars));
                    let values: Vec<i64> = values.collect();
                    let host = std::mem::take(&mut self.host) + before;
                    (self.f)(command.instruction, &values, host);
                }
                _ => unreachable!("both are the same program"),
            }
        }
    }
}

fn written(machine: &Machine, program: &CommandProgram) -> Result<Written, String> {
    let abi = convention(machine)?;
    let body = short::written_out(&program.body);
    let registers = |of: &[u32]| of.iter().map(|r| i64::from(*r)).collect::<Vec<_>>();
    let computed = registers(&abi.temporary);
    let &[a, b, between] = computed.get(..COMPUTED).unwrap_or_default() else {
        return Err("there are too few registers that a function may change".to_owned());
    };
    let arrays = program.arrays.len();
    let mut arguments: Vec<u32> = abi.arguments.iter().copied().take(arrays).collect();
    let mut free = registers(&abi.free(&arguments));
    free.retain(|r| ![a, b, between].contains(r));
    // Code of the host looks for arrays where arguments are.
    let more = arrays - arguments.len();
    if more > free.len() || more > 0 && !program.host.is_empty() {
        return Err("more arrays than registers for them".to_owned());
    }
    let others = free.split_off(free.len() - more);
    arguments.extend(others.into_iter().filter_map(|r| u32::try_from(r).ok()));
    free.reverse();
    let mut writer = Writer {
        machine,
        host: Host::of(machine)?,
        arguments: registers(&arguments),
        operands: [a, b],
        between,
        free,
        running: vec![None; program.vars],
        asked: BTreeSet::new(),
        needed: BTreeSet::new(),
        resident: Vec::new(),
        held: [None, None],
        code: Vec::new(),
    };
    // Which variables are asked for is seen from what is written, and decides little of it.
    loop {
        let around = writer.program(program, &body)?;
        if writer.needed.is_subset(&writer.asked) {
            let code = writer.code;
            return Ok(Written {
                arguments,
                code,
                body,
                around,
            });
        }
        writer.asked.append(&mut writer.needed);
        writer.code.clear();
        writer.held = [None, None];
    }
}

/// What a loop needs.
fn needed<'k>(known: Option<&'k Known>, what: &str) -> Result<&'k Known, String> {
    known.ok_or_else(|| format!("its host has no instruction that {what}"))
}

impl Writer<'_> {
    /// All nodes, with the code of the host that stands before each.
    fn program(
        &mut self,
        program: &CommandProgram,
        body: &[CommandNode],
    ) -> Result<Vec<Around>, String> {
        let mut out = Vec::new();
        for at in 0..=body.len() {
            for host in program.host.iter().filter(|h| h.before == at) {
                self.code.extend(host.code.iter().cloned());
                self.held = [None, None];
            }
            out.append(&mut self.block(body.get(at..=at).unwrap_or_default())?);
        }
        Ok(out)
    }

    fn block(&mut self, body: &[CommandNode]) -> Result<Vec<Around>, String> {
        let mut out = Vec::new();
        for node in body {
            out.push(match node {
                CommandNode::Do(command) => {
                    let start = self.code.len();
                    self.command(command)?;
                    Around::Do((self.code.len() - start) as u64 - 1)
                }
                CommandNode::Loop { var, count, body } => self.repeat(*var, *count, body)?,
            });
        }
        Ok(out)
    }

    /// A loop: it counts down, but where its variable is asked for.
    fn repeat(&mut self, var: usize, count: i64, body: &[CommandNode]) -> Result<Around, String> {
        let register = self.free.pop();
        let register = register.ok_or("more loops than registers for them")?;
        let start = self.code.len();
        let outer = self.keep(var, count, body)?;
        let asked = self.asked.contains(&var);
        let first = if asked { 0 } else { count };
        self.constant(register, first);
        self.running[var] = Some(register);
        let top = self.code.len();
        let before = (top - start) as u64;
        self.held = [None, None];
        let inner = self.block(body)?;
        let end = self.code.len();
        for k in outer..self.resident.len() {
            let by = self.resident[k].amount.terms.get(&var).copied();
            self.add(self.resident[k].register, by.unwrap_or(0))?;
        }
        let next = if asked { 1 } else { -1 };
        self.add(register, next)?;
        let limit = if asked { self.between } else { self.host.zero };
        if asked {
            self.constant(limit, count);
        }
        self.back(register, limit, top)?;
        let rounds = [before, (self.code.len() - end) as u64, 0];
        self.running[var] = None;
        let resident = self.resident.drain(outer..).rev().map(|k| k.register);
        self.free.extend(resident);
        self.free.push(register);
        // Behind it operands are those of the last round.
        for held in self.held.iter_mut().flatten() {
            let by = held.terms.remove(&var).unwrap_or(0);
            let last = by.wrapping_mul(count.wrapping_sub(1));
            held.constant = held.constant.wrapping_add(last);
        }
        Ok(Around::Loop(rounds, inner))
    }

    /// What is kept while a loop runs comes into registers; how much was kept before.
    fn keep(&mut self, var: usize, count: i64, body: &[CommandNode]) -> Result<usize, String> {
        let outer = self.resident.len();
        let looked = Looked {
            host: &self.host,
            var,
            count,
            body,
        };
        let taken = resident::depth(body) + looked.reserved();
        let room = self.free.len().saturating_sub(taken);
        let near = |amount: &Amount| self.resident.iter().any(|k| self.is_near(k, amount));
        let chosen = looked.chosen(&near, room);
        for amount in &chosen {
            let Some(register) = self.free.pop() else {
                break;
            };
            let mut begin = amount.clone();
            begin.terms.remove(&var);
            self.computed(&begin, register)?;
            self.resident.push(Resident {
                amount: begin,
                register,
            });
        }
        for (resident, amount) in self.resident[outer..].iter_mut().zip(chosen) {
            resident.amount = amount;
        }
        Ok(outer)
    }

    /// Whether an amount is what a register holds but for a constant that one instruction adds.
    fn is_near(&self, resident: &Resident, amount: &Amount) -> bool {
        let alike = resident.amount.array == amount.array && resident.amount.terms == amount.terms;
        let by = amount.constant.wrapping_sub(resident.amount.constant);
        alike && self.host.fits(by)
    }

    /// Back to the beginning of a loop unless two registers are equal; a jump reaches farther
    /// than a branch.
    fn back(&mut self, register: i64, limit: i64, top: usize) -> Result<(), String> {
        let word = i64::from(self.machine.word);
        let far = (self.code.len() - top) as i64 * word;
        if self.host.fits(2 * far) {
            let again = needed(
                self.host.branch(Branch::Different),
                "branches when different",
            )?;
            let again = again.placed(&[register, limit, -far]);
            self.code.push(again);
            return Ok(());
        }
        let done = needed(self.host.branch(Branch::Equal), "branches when equal")?;
        let done = done.placed(&[register, limit, 2 * word]);
        self.code.push(done);
        let jump = needed(self.host.jump.as_ref(), "jumps")?;
        let jump = jump.placed(&[self.host.zero, -far - word]);
        self.code.push(jump);
        Ok(())
    }

    fn command(&mut self, command: &Command) -> Result<(), String> {
        let mut registers = Vec::new();
        for (k, amount) in command
            .operands
            .iter()
            .enumerate()
            .take(self.operands.len())
        {
            registers.push(self.operand(k, amount)?);
        }
        self.code.push((command.instruction, registers));
        Ok(())
    }

    /// The register of an operand.
    fn operand(&mut self, k: usize, amount: &Amount) -> Result<i64, String> {
        if let Some(resident) = self
            .resident
            .iter()
            .find(|resident| resident.amount == *amount)
        {
            return Ok(resident.register);
        }
        // The second may be where the first is, but not the other way round: it is made later.
        let mut earlier = (0..=k).rev();
        if let Some(there) = earlier.find(|e| self.held[*e].as_ref() == Some(amount)) {
            return Ok(self.operands[there]);
        }
        let register = self.operands[k];
        self.computed(amount, register)?;
        self.held[k] = Some(amount.clone());
        Ok(register)
    }

    /// Computes an amount, from what some register holds where that is quicker.
    fn computed(&mut self, amount: &Amount, to: i64) -> Result<(), String> {
        let resident = self.resident.iter().map(|k| (k.register, &k.amount));
        let held = self.operands.iter().zip(&self.held);
        let held = held.filter_map(|(register, held)| Some((*register, held.as_ref()?)));
        let near = resident.chain(held).filter_map(|(register, from)| {
            let apart = resident::apart(from, amount)?;
            Some((resident::steps(&self.host, &apart), register, apart))
        });
        let best = near.min_by_key(|n| n.0);
        match best.filter(|b| b.0 <= resident::computed(&self.host, amount)) {
            Some((_, from, apart)) => self.moved(from, &apart, to),
            None => self.amount(amount, to),
        }
    }

    /// Adds an amount to what a register holds.
    fn moved(&mut self, from: i64, by: &Amount, to: i64) -> Result<(), String> {
        let mut from = from;
        if self.host.fits(by.constant) {
            if by.constant != 0 || by.terms.is_empty() {
                let sum = self.host.add_constant.placed(&[to, from, by.constant]);
                self.code.push(sum);
                from = to;
            }
        } else {
            self.constant(self.between, by.constant);
            self.binary(Binary::Add, [to, from, self.between])?;
            from = to;
        }
        self.multiples(by, from, to)
    }

    /// Adds a constant to a register.
    fn add(&mut self, register: i64, value: i64) -> Result<(), String> {
        if value == 0 {
            return Ok(());
        }
        if self.host.fits(value) {
            let sum = self.host.add_constant.placed(&[register, register, value]);
            self.code.push(sum);
            return Ok(());
        }
        self.constant(self.between, value);
        self.binary(Binary::Add, [register, register, self.between])
    }

    fn binary(&mut self, op: Binary, values: [i64; 3]) -> Result<(), String> {
        let known = needed(self.host.binary(op), &format!("computes `{op:?}`"))?;
        let placed = known.placed(&values);
        self.code.push(placed);
        Ok(())
    }

    fn amount(&mut self, amount: &Amount, to: i64) -> Result<(), String> {
        self.constant(to, amount.constant);
        if let Some(array) = amount.array {
            self.binary(Binary::Add, [to, to, self.arguments[array]])?;
        }
        self.multiples(amount, to, to)
    }

    /// Adds multiples of loop variables to what a register holds.
    fn multiples(&mut self, of: &Amount, from: i64, to: i64) -> Result<(), String> {
        let (mut from, between) = (from, self.between);
        for (&var, &factor) in &of.terms {
            let register = self.running[var].ok_or("a loop variable is used outside its loop")?;
            self.needed.insert(var);
            let by = match factor {
                1 => register,
                _ => {
                    self.constant(between, factor);
                    self.binary(Binary::Mul, [between, between, register])?;
                    between
                }
            };
            self.binary(Binary::Add, [to, from, by])?;
            from = to;
        }
        Ok(())
    }

    fn constant(&mut self, to: i64, value: i64) {
        self.code.extend(self.host.constant(to, value));
    }
}
