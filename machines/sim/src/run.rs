//! Running a program: registers, memory, one instruction after the other.
//!
//! In: a machine, a program, a memory. Out: the state afterwards and [`Counts`], or the
//! diagnostic that names the instruction at which the machine's rules were broken: a register
//! that was never written, an access that is not aligned or outside memory, registers that
//! must differ. What is undefined is an error, not a guess.

use crate::accelerator::timeline::Timeline;
use crate::accelerator::{Accelerator, Fault};
use crate::memory::Memory;
use crate::program::{MachineProgram, Placed};
use crate::unit::{Target, Unit};
use semantics::bits::Bits;
use semantics::diagnostic::Diagnostic;
use semantics::machine::{Machine, MachineInstruction, OperandKind};
use semantics::term::Term;
use semantics::value::Value;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

/// A machine with programs for its instructions.
#[derive(Clone, Debug)]
pub struct Simulator<'m> {
    machine: &'m Machine,
    /// Instructions made ready, by the values of their configuration.
    units: HashMap<(usize, Configuration), Unit>,
    registers: Vec<Vec<Option<Bits>>>,
    counter: u64,
    accelerator: Accelerator<'m>,
    /// Products of instructions on registers.
    products: u64,
    touched: Vec<Access>,
    /// Memory; set it before a run, look at it afterwards.
    pub memory: Memory,
}

/// What an instruction reads of registers that no operand names.
type Configuration = Vec<Bits>;

/// What a run did.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Instructions, by mnemonic.
    pub instructions: BTreeMap<String, u64>,
    /// Products that they computed.
    pub products: u64,
}

impl Counts {
    /// All instructions.
    pub fn total(&self) -> u64 {
        self.instructions.values().sum()
    }
}

/// An access to memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// Its first byte.
    pub address: u64,
    /// How many bytes.
    pub bytes: u32,
    /// Whether it writes them.
    pub writes: bool,
}

/// An instruction that was done.
#[derive(Clone, Copy, Debug)]
pub struct Done<'a> {
    /// Its position in the program.
    pub at: usize,
    /// Whether the next one is another than the one behind it.
    pub jumps: bool,
    /// What it touched of memory, in its order: reads, then writes. What instructions on
    /// declared state touch is not told.
    pub touched: &'a [Access],
}

/// Why a run ended early.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stopped {
    /// A rule of the machine was broken.
    Fault(Box<Diagnostic>),
    /// That many instructions ran and the program had not ended.
    Steps(u64),
}

impl<'m> Simulator<'m> {
    /// A machine at its start.
    pub fn new(machine: &'m Machine, memory: Memory) -> Simulator<'m> {
        let registers = machine.files.iter().map(|file| {
            let start = file.defined.then(|| Bits::zero(file.width));
            vec![start; file.count as usize]
        });
        Simulator {
            machine,
            units: HashMap::new(),
            registers: registers.collect(),
            counter: 0,
            accelerator: Accelerator::new(&machine.state, &machine.procedures),
            products: 0,
            touched: Vec::new(),
            memory,
        }
    }

    /// When what was done, for machines with queues.
    pub fn timeline(&self) -> &Timeline {
        &self.accelerator.timeline
    }

    /// Runs one instruction on declared state, with the values of its operands themselves:
    /// no register is read. The host spends the machine's cycles of issue.
    ///
    /// # Errors
    /// The rule of the machine that is broken.
    pub fn command(&mut self, instruction: usize, operands: &[i64]) -> Result<(), Box<Diagnostic>> {
        let machine = self.machine;
        let Some(procedure) = machine.instructions[instruction].procedure else {
            return Err(refused(machine, instruction, operands, no_command()));
        };
        self.accelerator.timeline.issue(self.machine.issue);
        let done = self
            .accelerator
            .perform(procedure, operands, &mut self.memory);
        done.map_err(|fault| refused(machine, instruction, operands, fault))
    }

    /// Sets the registers in which a function finds its arguments.
    pub fn arguments(&mut self, addresses: &[i64]) {
        let machine = self.machine;
        let Some(abi) = &machine.abi else { return };
        for (&register, &address) in abi.arguments.iter().zip(addresses) {
            let value = Bits::from_i128(machine.address, i128::from(address));
            self.set(abi.file, register, value);
        }
    }

    /// The host runs so many instructions that touch no declared state.
    pub fn host(&mut self, instructions: u64) {
        let cycles = instructions.saturating_mul(self.machine.issue);
        self.accelerator.timeline.issue(cycles);
    }

    /// Products of elements that instructions on declared state computed.
    pub fn products(&self) -> u64 {
        self.accelerator.products
    }

    /// Sets a register; what does not fit is cut off.
    pub fn set(&mut self, file: usize, register: u32, value: Bits) {
        let kind = &self.machine.files[file];
        if kind.zero != Some(register) {
            self.registers[file][register as usize] = Some(value);
        }
    }

    /// A register, when it was written.
    pub fn get(&self, file: usize, register: u32) -> Option<&Bits> {
        self.registers[file][register as usize].as_ref()
    }

    /// Runs a program from its first instruction until it goes past its last. `trace` is
    /// given a line for each instruction.
    ///
    /// # Errors
    /// When a rule of the machine is broken, or after `limit` instructions.
    pub fn run(
        &mut self,
        program: &MachineProgram,
        limit: u64,
        trace: &mut dyn FnMut(&str),
    ) -> Result<Counts, Stopped> {
        let mut tracer: Option<&mut dyn FnMut(&str)> = Some(trace);
        self.go(program, limit, &mut tracer, &mut |_| true)
    }

    /// The same without a trace.
    ///
    /// # Errors
    /// As [`Simulator::run`].
    pub fn run_quietly(&mut self, program: &MachineProgram, limit: u64) -> Result<Counts, Stopped> {
        self.go(program, limit, &mut None, &mut |_| true)
    }

    /// The same; `watch` is told of each instruction that was done.
    ///
    /// # Errors
    /// As [`Simulator::run`].
    pub fn run_watched(
        &mut self,
        program: &MachineProgram,
        limit: u64,
        watch: &mut dyn FnMut(&Done<'_>),
    ) -> Result<Counts, Stopped> {
        self.run_while(program, limit, &mut |done| {
            watch(done);
            true
        })
    }

    /// The same, for as long as `watch` wants more.
    ///
    /// # Errors
    /// As [`Simulator::run`]; that it did so many steps when no more was wanted.
    pub fn run_while(
        &mut self,
        program: &MachineProgram,
        limit: u64,
        watch: &mut dyn FnMut(&Done<'_>) -> bool,
    ) -> Result<Counts, Stopped> {
        self.go(program, limit, &mut None, watch)
    }

    fn go(
        &mut self,
        program: &MachineProgram,
        limit: u64,
        trace: &mut Option<&mut dyn FnMut(&str)>,
        watch: &mut dyn FnMut(&Done<'_>) -> bool,
    ) -> Result<Counts, Stopped> {
        self.begin(program);
        let mut times = vec![0_u64; self.machine.instructions.len()];
        let mut steps = 0;
        while let Some(at) = self.next(program)? {
            if steps == limit {
                return Err(Stopped::Steps(limit));
            }
            steps += 1;
            let placed = &program.code[at];
            times[placed.instruction] += 1;
            let address = self.counter;
            if !watch(&self.advance(program, at)?) {
                return Err(Stopped::Steps(steps));
            }
            if let Some(trace) = trace {
                trace(&self.traced(placed, address));
            }
        }
        Ok(self.counts(&times))
    }

    /// A program begins: registers hold what it says.
    pub(crate) fn begin(&mut self, program: &MachineProgram) {
        for setting in &program.settings {
            let width = self.machine.files[setting.file].width;
            let value = Bits::from_i128(width, i128::from(setting.value));
            self.set(setting.file, setting.register, value);
        }
        self.counter = 0;
    }

    /// The place in a program of what is done next; none when it has ended.
    pub(crate) fn next(&self, program: &MachineProgram) -> Result<Option<usize>, Stopped> {
        let word = u64::from(self.machine.word);
        let at = self.position();
        match self.counter.is_multiple_of(word) && at <= program.code.len() {
            true if at == program.code.len() => Ok(None),
            true => Ok(Some(at)),
            false => Err(Stopped::Fault(Box::new(self.astray(program)))),
        }
    }

    /// How many instructions lie before what is done next.
    pub(crate) fn position(&self) -> usize {
        let word = u64::from(self.machine.word);
        usize::try_from(self.counter / word).unwrap_or(usize::MAX)
    }

    /// Goes past the instruction at a place, after which registers, by file, hold zero.
    pub(crate) fn pass(
        &mut self,
        at: usize,
        registers: impl Iterator<Item = (usize, i64)>,
    ) -> Done<'_> {
        self.touched.clear();
        for (file, number) in registers {
            let zero = Bits::zero(self.machine.files[file].width);
            self.set(file, register(number), zero);
        }
        self.counter += u64::from(self.machine.word);
        Done {
            at,
            jumps: false,
            touched: &self.touched,
        }
    }

    /// Does the instruction at a place of a program, at which the counter is.
    pub(crate) fn advance(
        &mut self,
        program: &MachineProgram,
        at: usize,
    ) -> Result<Done<'_>, Stopped> {
        let (placed, address) = (&program.code[at], self.counter);
        self.touched.clear();
        self.step(placed).map_err(|fault| {
            Stopped::Fault(Box::new(self.reported(program, placed, address, fault)))
        })?;
        Ok(Done {
            at,
            jumps: self.counter != address + u64::from(self.machine.word),
            touched: &self.touched,
        })
    }

    fn counts(&self, times: &[u64]) -> Counts {
        let mut counts = Counts {
            products: self.accelerator.products + self.products,
            ..Counts::default()
        };
        for (k, &n) in times.iter().enumerate().filter(|(_, n)| **n > 0) {
            let name = self.machine.instructions[k].instruction.name.clone();
            counts.instructions.insert(name, n);
        }
        counts
    }

    fn astray(&self, program: &MachineProgram) -> Diagnostic {
        let message = format!("there is no instruction at the address {:#x}", self.counter);
        let whole = program.source.text().len();
        Diagnostic::error(message)
            .at(&program.source, semantics::span::Span::new(whole, whole))
            .hint("a program ends by going past its last instruction")
    }

    fn reported(
        &self,
        program: &MachineProgram,
        placed: &Placed,
        address: u64,
        fault: Fault,
    ) -> Diagnostic {
        let found = &self.machine.instructions[placed.instruction];
        let text = found.text(self.machine, &placed.values);
        Diagnostic::error(format!("`{text}`: {}", fault.0))
            .at(&program.source, placed.span)
            .label(format!("at the address {address:#x}"))
            .hint(fault.1)
    }

    fn step(&mut self, placed: &Placed) -> Result<(), Fault> {
        let machine = self.machine;
        let found = &machine.instructions[placed.instruction];
        self.separate(found, placed)?;
        self.accelerator.timeline.issue(machine.issue);
        if let Some(procedure) = found.procedure {
            return self.procedure(procedure, found, placed);
        }
        let key = (placed.instruction, self.configuration(found, placed)?);
        let mut unit = match self.units.remove(&key) {
            Some(unit) => unit,
            None => made(found, &key.1)?,
        };
        let done = self.with_unit(&mut unit, found, placed);
        self.products += unit.products;
        self.units.insert(key, unit);
        done
    }

    /// What an instruction reads of registers that no operand names.
    fn configuration(
        &self,
        found: &MachineInstruction,
        placed: &Placed,
    ) -> Result<Configuration, Fault> {
        let read = found.implicit.iter().filter(|i| i.read);
        let values = read.map(|i| self.held(i.file, i.number(&placed.values)).cloned());
        values.collect()
    }

    /// An instruction on declared state.
    fn procedure(
        &mut self,
        at: usize,
        found: &MachineInstruction,
        placed: &Placed,
    ) -> Result<(), Fault> {
        let values = placed.values.iter().enumerate();
        let values = values.map(|(k, &v)| {
            let bits = self.value(found, k, v)?;
            Ok(bits.sext(64.max(bits.width())).low_u64().cast_signed())
        });
        let values = values.collect::<Result<Vec<i64>, Fault>>()?;
        self.accelerator.perform(at, &values, &mut self.memory)?;
        self.counter += u64::from(self.machine.word);
        Ok(())
    }

    /// Registers that must differ do, and no erratum forbids an operand.
    fn separate(&self, found: &MachineInstruction, placed: &Placed) -> Result<(), Fault> {
        for &(a, b) in &found.distinct {
            if placed.values[a] == placed.values[b] {
                let (a, b) = (&found.operands[a].name, &found.operands[b].name);
                let message =
                    format!("`{a}` and `{b}` are one register, and then the result is undefined");
                return Err(Fault(message, format!("use another register for `{a}`")));
            }
        }
        match self.machine.erratum(placed.instruction, &placed.values) {
            None => Ok(()),
            Some(erratum) => {
                let what = self.machine.erratum_text(erratum);
                let (name, reason) = (&erratum.name, &erratum.reason);
                let message = format!("the erratum `{name}` forbids {what}: {reason}");
                let hint = "use another operand, or switch the erratum off in the manifest where the \
                            hardware does not have it";
                Err(Fault(message, hint.to_owned()))
            }
        }
    }

    fn with_unit(
        &mut self,
        unit: &mut Unit,
        found: &MachineInstruction,
        placed: &Placed,
    ) -> Result<(), Fault> {
        for k in 0..unit.inputs.len() {
            let value = match unit.inputs[k] {
                Some(operand) => self.value(found, operand, placed.values[operand])?,
                None => Bits::from_u64(self.machine.address, self.counter),
            };
            unit.set(k, &Value::Bv(value));
        }
        unit.find_addresses();
        for k in 0..unit.reads.len() {
            let (address, bytes) = (unit.address(k), unit.reads[k]);
            self.legal(address, bytes, "reads")?;
            self.accelerator.order.host_reads(address, bytes as usize)?;
            self.touched.push(Access {
                address,
                bytes,
                writes: false,
            });
            let mut word = [0; 8];
            let there = self.memory.get(address, bytes as usize).expect("checked");
            word[..there.len()].copy_from_slice(there);
            unit.set_read(k, u64::from_le_bytes(word));
        }
        unit.compute();
        if let Some(broken) = unit.broken() {
            let hint = "load another configuration before, or take other operands";
            return Err(Fault(broken.to_owned(), hint.to_owned()));
        }
        for k in 0..unit.writes.len() {
            let (address, bytes) = (unit.write(k).0, unit.writes[k]);
            self.legal(address, bytes, "writes")?;
            self.accelerator
                .order
                .host_writes(address, bytes as usize)?;
            self.touched.push(Access {
                address,
                bytes,
                writes: true,
            });
        }
        for k in 0..unit.writes.len() {
            let (address, value) = unit.write(k);
            let bytes = unit.writes[k] as usize;
            let there = self.memory.get_mut(address, bytes).expect("checked");
            there.copy_from_slice(&value.to_le_bytes()[..bytes]);
        }
        let mut next = self.counter + u64::from(self.machine.word);
        for (k, target) in unit.targets.iter().enumerate() {
            let value = unit.result(k);
            match target {
                Target::Counter => next = value.bits().low_u64(),
                Target::Implicit(k) => {
                    let implicit = &found.implicit[*k];
                    let number = implicit.number(&placed.values);
                    self.set(implicit.file, number, value.bits().clone());
                }
                Target::Operand(operand) => {
                    if let OperandKind::Register { file, .. } = found.operands[*operand].kind {
                        let number = register(placed.values[*operand]);
                        self.set(file, number, value.bits().clone());
                    }
                }
            }
        }
        self.counter = next;
        Ok(())
    }

    /// What an operand holds.
    fn value(&self, found: &MachineInstruction, k: usize, value: i64) -> Result<Bits, Fault> {
        match found.operands[k].kind {
            OperandKind::Immediate { width, .. } => Ok(Bits::from_i128(width, i128::from(value))),
            OperandKind::Register { file, .. } => self.held(file, register(value)).cloned(),
        }
    }

    /// What a register holds.
    fn held(&self, file: usize, number: u32) -> Result<&Bits, Fault> {
        self.get(file, number).ok_or_else(|| {
            let name = self.machine.files[file].name_of(number);
            let message = format!("the register {name} is read, and was never written");
            Fault(message, format!("load {name} or set it to zero before"))
        })
    }

    /// An access is aligned and inside memory.
    fn legal(&self, address: u64, bytes: u32, what: &str) -> Result<(), Fault> {
        if self.machine.aligned && !address.is_multiple_of(u64::from(bytes)) {
            let message = format!("it {what} {bytes} bytes at {address:#x}, which is not aligned");
            let down = address - address % u64::from(bytes);
            return Err(Fault(
                message,
                format!("addresses are multiples of {bytes}: {down:#x} is one"),
            ));
        }
        if self.memory.get(address, bytes as usize).is_none() {
            let size = self.memory.size();
            let message = format!("it {what} {bytes} bytes at {address:#x}, outside memory");
            return Err(Fault(
                message,
                format!("memory has {size:#x} bytes from 0; `--memory-size` gives it more"),
            ));
        }
        Ok(())
    }

    /// The line of a trace: address, text, and what was written.
    fn traced(&self, placed: &Placed, address: u64) -> String {
        let found = &self.machine.instructions[placed.instruction];
        let mut line = format!(
            "{address:6x}  {:28}",
            found.text(self.machine, &placed.values)
        );
        let now = self.configuration(found, placed).ok();
        let unit = now.and_then(|now| self.units.get(&(placed.instruction, now)));
        let Some(unit) = unit else {
            line.truncate(line.trim_end().len());
            return line;
        };
        for target in &unit.targets {
            let Target::Operand(k) = target else { continue };
            let OperandKind::Register { file, .. } = found.operands[*k].kind else {
                continue;
            };
            let number = register(placed.values[*k]);
            let kind = &self.machine.files[file];
            if let Some(bits) = self.get(file, number) {
                let _ = write!(line, " {} =", kind.name_of(number));
                let rows = (0..kind.width / kind.row).map(|i| bits.extract(i * kind.row, kind.row));
                rows.for_each(|row| line.push_str(&hex(&row)));
            }
        }
        for k in 0..unit.writes.len() {
            let (address, value) = unit.write(k);
            let digits = 2 * unit.writes[k] as usize;
            let _ = write!(line, " [{address:x}]={value:0digits$x}");
        }
        line.truncate(line.trim_end().len());
        line
    }
}

/// A fault of a command.
pub(crate) fn refused(
    machine: &Machine,
    instruction: usize,
    operands: &[i64],
    fault: Fault,
) -> Box<Diagnostic> {
    let name = &machine.instructions[instruction].instruction.name;
    let values: Vec<String> = operands.iter().map(|v| format!("{v:#x}")).collect();
    let message = format!("`{name} {}`: {}", values.join(", "), fault.0);
    Box::new(Diagnostic::error(message).hint(fault.1))
}

/// An instruction that is no command.
pub(crate) fn no_command() -> Fault {
    let message = "it is no instruction on declared state".to_owned();
    Fault(message, "run it in a program".to_owned())
}

/// An instruction made ready for a configuration.
fn made(found: &MachineInstruction, configuration: &[Bits]) -> Result<Unit, Fault> {
    let read = found.implicit.iter().filter(|i| i.read);
    let known = read.zip(configuration);
    let known = known.map(|(i, bits)| (i.name.as_str(), Term::bits(bits.clone())));
    Unit::new(found, &known.collect()).map_err(|reason| {
        Fault(
            format!("this instruction cannot be run: {reason}"),
            "change its pseudocode".into(),
        )
    })
}

fn register(value: i64) -> u32 {
    u32::try_from(value).expect("register numbers are small")
}

/// Bits in hexadecimal, the most significant first.
fn hex(bits: &Bits) -> String {
    let digits = bits
        .to_bytes()
        .iter()
        .rev()
        .fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        });
    format!(" {digits}")
}
