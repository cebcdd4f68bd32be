//! Programs of tile instructions.
//!
//! In: built by [`crate::map`]. Out: [`TileProgram`], and of it a [`Function`]: machine
//! instructions in which scalar registers are set as they are needed, from the arguments that
//! say where arrays begin. The scalar instructions for that are found by their meaning.

use crate::frame::convention;
use crate::host::{Binary, Host, host_as_written};
pub use crate::matching::Window;
use semantics::machine::{Machine, MachineOperand, OperandKind};
use std::collections::BTreeMap;

/// One tile instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// Its index in [`Machine::instructions`].
    pub instruction: usize,
    /// Registers, each with the index of its operand.
    pub tiles: Vec<(usize, usize)>,
    /// What a load or a store moves.
    pub window: Option<Window>,
}

/// An array of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ArrayUse {
    /// Its name.
    pub name: String,
    /// Its bytes.
    pub bytes: i64,
    /// Bits of an element.
    pub bits: u32,
    /// Whether the program may write it.
    pub written: bool,
    /// Whether the schedule has made it: nobody hands it over.
    pub made: bool,
}

/// Tile instructions in order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TileProgram {
    /// The kernel's name.
    pub name: String,
    /// The kernel's arrays, by their index.
    pub arrays: Vec<ArrayUse>,
    /// The instructions.
    pub steps: Vec<Step>,
    /// Bytes of a row of a tile, and how many rows there are.
    pub extent: (i64, i64),
    /// The operands of loads and of stores that are address and stride.
    pub scalars: [(usize, usize); 2],
    /// How many registers hold something at once.
    pub registers: usize,
}

/// A machine instruction: its index and the values of its operands.
pub type Placed = (usize, Vec<i64>);

impl TileProgram {
    /// The operands of a step that are address and stride, when it moves a window.
    pub fn scalars_of(&self, machine: &Machine, step: &Step) -> Option<(usize, usize)> {
        step.window?;
        let written = step.tiles.iter().any(|&(operand, _)| {
            let kind = &machine.instructions[step.instruction].operands[operand].kind;
            matches!(kind, OperandKind::Register { written: true, .. })
        });
        Some(self.scalars[usize::from(!written)])
    }

    /// The program as a function that is run with its arrays at these addresses: it computes
    /// where windows lie from its arguments.
    ///
    /// # Errors
    /// When the machine lacks what sets scalar registers, or registers for its arrays.
    pub fn place(&self, machine: &Machine, addresses: &[i64]) -> Result<Function, String> {
        let arguments = arguments(machine, &self.arrays)?;
        let host = host_as_written(machine)?;
        let mut setter = Setter::new(machine, &host, &arguments)?;
        for step in &self.steps {
            let found = &machine.instructions[step.instruction];
            let mut values = vec![0; found.operands.len()];
            for &(operand, register) in &step.tiles {
                values[operand] = register as i64;
            }
            if let (Some(window), Some((base, stride))) =
                (step.window, self.scalars_of(machine, step))
            {
                values[stride] = setter.set(None, window.stride)?;
                values[base] = setter.set(Some(window.array), window.base)?;
            }
            setter.code.push((step.instruction, values));
        }
        let function = Function {
            name: self.name.clone(),
            arrays: self.arrays.clone(),
            addresses: addresses.to_vec(),
            code: setter.code,
            arguments,
            constants: Vec::new(),
            scalars: host.file,
            registers: self.registers,
            fences: 0,
        };
        crate::setup::around(function, machine)
    }
}

/// An array that nobody hands over and that holds something from the beginning.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Constant {
    /// Its index.
    pub array: usize,
    /// What it holds.
    pub bytes: Vec<u8>,
}

/// Machine code that is called as the machine's convention says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function {
    /// The kernel's name.
    pub name: String,
    /// Its arrays by their index, those that the schedule has made among them; one that lives
    /// in tiles has no bytes.
    pub arrays: Vec<ArrayUse>,
    /// Where they lie, when the program is run by itself.
    pub addresses: Vec<i64>,
    /// The arrays that have bytes, each with the scalar register that holds where it begins:
    /// those of the kernel, then those that nobody hands over. The code does not change these
    /// registers.
    pub arguments: Vec<(usize, u32)>,
    /// What arrays of its own hold from the beginning.
    pub constants: Vec<Constant>,
    /// The file of these registers.
    pub scalars: usize,
    /// The instructions.
    pub code: Vec<Placed>,
    /// How many tile registers hold something at once.
    pub registers: usize,
    /// How many fences there are.
    pub fences: usize,
}

impl Function {
    /// What lies in memory when the program is run by itself, beside its kernel's arrays.
    pub fn image(&self) -> Vec<(u64, Vec<u8>)> {
        let place = |c: &Constant| (self.addresses[c.array].cast_unsigned(), c.bytes.clone());
        self.constants.iter().map(place).collect()
    }

    /// Whether the code has loops: an instruction that goes somewhere else.
    pub fn has_loops(&self, machine: &Machine) -> bool {
        let jumps =
            |o: &MachineOperand| matches!(o.kind, OperandKind::Immediate { target: true, .. });
        let operands = |k: usize| &machine.instructions[k].operands;
        self.code
            .iter()
            .any(|(k, _)| operands(*k).iter().any(jumps))
    }
}

/// Arrays in main memory with the registers that hold where they begin.
pub(crate) fn arguments(
    machine: &Machine,
    arrays: &[ArrayUse],
) -> Result<Vec<(usize, u32)>, String> {
    let abi = convention(machine)?;
    let there = |made: bool| {
        (0..arrays.len()).filter(move |&k| arrays[k].bytes > 0 && arrays[k].made == made)
    };
    let there: Vec<usize> = there(false).chain(there(true)).collect();
    let (many, most) = (there.len(), abi.arguments.len());
    if many > most {
        return Err(format!(
            "{many} arrays are in main memory, and {most} can be handed over"
        ));
    }
    Ok(there
        .into_iter()
        .zip(abi.arguments.iter().copied())
        .collect())
}

/// What a register holds: so much behind where an array begins, or a constant.
type Held = (Option<usize>, i64);

/// Sets scalar registers to addresses and constants.
struct Setter<'a> {
    host: &'a Host,
    /// The register that holds where an array begins.
    bases: BTreeMap<usize, i64>,
    /// What registers hold, the most recently used last: so much behind where an array begins,
    /// or a constant.
    held: Vec<(i64, Option<Held>)>,
    code: Vec<Placed>,
}

/// Scalar registers that are used for addresses and strides.
const SCALARS: usize = 8;

impl<'a> Setter<'a> {
    fn new(
        machine: &Machine,
        host: &'a Host,
        arguments: &[(usize, u32)],
    ) -> Result<Setter<'a>, String> {
        let abi = machine
            .abi
            .as_ref()
            .ok_or("nobody says which registers are free")?;
        let taken: Vec<u32> = arguments.iter().map(|a| a.1).collect();
        let free = abi.free(&taken).into_iter().take(SCALARS);
        Ok(Setter {
            host,
            bases: arguments.iter().map(|&(a, r)| (a, i64::from(r))).collect(),
            held: free.map(|r| (i64::from(r), None)).collect(),
            code: Vec::new(),
        })
    }

    /// The register that holds a place in an array, or a constant.
    fn set(&mut self, array: Option<usize>, value: i64) -> Result<i64, String> {
        let host = self.host;
        let base = match array {
            Some(array) => self.bases[&array],
            None => host.zero,
        };
        if value == 0 {
            return Ok(base);
        }
        let wanted = Some((array, value));
        let known = self.held.iter().position(|h| h.1 == wanted);
        let near = |h: &(i64, Option<(Option<usize>, i64)>)| {
            let by = h.1.filter(|w| w.0 == array).map(|w| value - w.1)?;
            host.fits(by).then_some((h.0, by))
        };
        let near = match host.fits(value) {
            true => Some((base, value)),
            false => self.held.iter().rev().find_map(near),
        };
        let (register, _) = self.held.remove(known.unwrap_or(0));
        self.held.push((register, wanted));
        if known.is_some() {
            return Ok(register);
        }
        if let Some((from, by)) = near {
            self.code
                .push(host.add_constant.placed(&[register, from, by]));
            return Ok(register);
        }
        self.code.extend(host.constant(register, value));
        if array.is_some() {
            let add = host.binary(Binary::Add);
            let add = add.ok_or("no instruction adds two scalar registers")?;
            self.code.push(add.placed(&[register, register, base]));
        }
        Ok(register)
    }
}
