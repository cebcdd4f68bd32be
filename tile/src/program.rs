//! Programs of tile instructions.
//!
//! In: built by [`crate::map`]. Out: [`TileProgram`], and with addresses for its arrays a
//! list of machine instructions in which scalar registers are set as they are needed. The
//! scalar instructions for that are found by their meaning.

pub use crate::matching::Window;
use semantics::build as b;
use semantics::machine::{Machine, MachineInstruction, OperandKind};
use semantics::sort::Sort;
use semantics::term::Term;

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

    /// The program with its arrays at these addresses.
    ///
    /// # Errors
    /// When the machine has no instructions that set a scalar register.
    pub fn place(&self, machine: &Machine, addresses: &[i64]) -> Result<Vec<Placed>, String> {
        let mut setter = Setter::new(machine)?;
        let mut code = Vec::new();
        for step in &self.steps {
            let found = &machine.instructions[step.instruction];
            let mut values = vec![0; found.operands.len()];
            for &(operand, register) in &step.tiles {
                values[operand] = register as i64;
            }
            if let (Some(window), Some((base, stride))) =
                (step.window, self.scalars_of(machine, step))
            {
                let address = addresses[window.array] + window.base;
                values[stride] = setter.set(window.stride, &mut code);
                values[base] = setter.set(address, &mut code);
            }
            code.push((step.instruction, values));
        }
        Ok(code)
    }
}

/// Sets scalar registers to constants.
struct Setter {
    add: usize,
    upper: usize,
    /// Operands of the addition: target, source, constant; of the other: target, constant.
    add_operands: [usize; 3],
    upper_operands: [usize; 2],
    shift: u32,
    low: u32,
    zero: i64,
    /// What registers hold, the most recently used last.
    held: Vec<(i64, Option<i64>)>,
}

/// Scalar registers that are used for addresses and strides.
const SCALARS: usize = 8;

impl Setter {
    fn new(machine: &Machine) -> Result<Setter, String> {
        let all = || machine.instructions.iter().enumerate();
        let (add, (add_operands, low)) = all()
            .find_map(|(k, i)| Some((k, addition(i)?)))
            .ok_or("no instruction adds a constant to a scalar register")?;
        let (upper, (upper_operands, shift)) = all()
            .find_map(|(k, i)| Some((k, upper(i)?)))
            .ok_or("no instruction sets the upper bits of a scalar register")?;
        let OperandKind::Register { file, .. } =
            machine.instructions[add].operands[add_operands[0]].kind
        else {
            return Err("the sum is in no register".to_owned());
        };
        let file = &machine.files[file];
        let zero = file.zero.ok_or("no scalar register is zero")?;
        let last = i64::from(file.count);
        let held = (last - SCALARS as i64..last).map(|r| (r, None)).collect();
        Ok(Setter {
            add,
            upper,
            add_operands,
            upper_operands,
            shift,
            low,
            zero: i64::from(zero),
            held,
        })
    }

    /// The register that holds a constant.
    fn set(&mut self, value: i64, code: &mut Vec<Placed>) -> i64 {
        if value == 0 {
            return self.zero;
        }
        let known = self.held.iter().position(|h| h.1 == Some(value));
        let (register, _) = self.held.remove(known.unwrap_or(0));
        self.held.push((register, Some(value)));
        if known.is_some() {
            return register;
        }
        let half = 1 << (self.low - 1);
        let low = (value + half).rem_euclid(2 * half) - half;
        let high = (value - low) >> self.shift & 0xf_ffff;
        let mut from = self.zero;
        if high != 0 {
            let mut values = vec![0; 2];
            values[self.upper_operands[0]] = register;
            values[self.upper_operands[1]] = high;
            code.push((self.upper, values));
            from = register;
        }
        if low != 0 || high == 0 {
            let mut values = vec![0; 3];
            let parts = [register, from, low];
            for (operand, part) in self.add_operands.into_iter().zip(parts) {
                values[operand] = part;
            }
            code.push((self.add, values));
        }
        register
    }
}

/// The operands of `rd = rs + constant`, and the bits of the constant.
fn addition(found: &MachineInstruction) -> Option<([usize; 3], u32)> {
    let (target, imm, width) = parts(found)?;
    let source = (0..found.operands.len()).find(|&k| k != target && k != imm)?;
    let OperandKind::Register { read: true, .. } = found.operands[source].kind else {
        return None;
    };
    let term = found.instruction.term();
    let var = |k: usize, w: u32| Term::var(&found.operands[k].name, Sort::Bv(w));
    let sum = b::add(
        var(source, term.width()),
        b::sext(var(imm, width), term.width()),
    );
    (found.operands.len() == 3 && term == sum).then_some(([target, source, imm], width))
}

/// The operands of `rd = constant << shift`, and the shift.
fn upper(found: &MachineInstruction) -> Option<([usize; 2], u32)> {
    let (target, imm, width) = parts(found)?;
    let term = found.instruction.term();
    let constant = Term::var(&found.operands[imm].name, Sort::Bv(width));
    let shift = term.width().checked_sub(width)?;
    let wide = b::zext(constant, term.width());
    let shifted = b::shl(wide, Term::bv(term.width(), i128::from(shift)));
    (found.operands.len() == 2 && term == shifted).then_some(([target, imm], shift))
}

/// The only result, a scalar register, and the only constant.
fn parts(found: &MachineInstruction) -> Option<(usize, usize, u32)> {
    let [output] = found.instruction.outputs.as_slice() else {
        return None;
    };
    let target = found.operand(&output.name)?;
    let mut constants = found
        .operands
        .iter()
        .enumerate()
        .filter_map(|(k, o)| match o.kind {
            OperandKind::Immediate {
                width,
                target: false,
                ..
            } => Some((k, width)),
            _ => None,
        });
    let (imm, width) = constants.next()?;
    (output.term.width() <= 64 && constants.next().is_none()).then_some((target, imm, width))
}
