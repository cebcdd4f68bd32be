//! The commands of a machine with a systolic array, and how their operands are packed.
//!
//! In: a machine. Out: [`Units`]. Commands are found by mnemonic, and their operands are the
//! packing of that family: columns, rows and a local address in one register. Nothing here
//! is believed: [`super::proof`] runs what is made of it through the machine's procedures.

use super::program::{Amount, Command};
use kernel::tree::Kernel;
use semantics::diagnostic::Diagnostic;
use semantics::instruction::Element;
use semantics::machine::Machine;

/// The rows of the accumulator.
pub(crate) const SUMS: i64 = 0x8000_0000;
/// Adding to what is there.
pub(crate) const ADDS: i64 = 0x4000_0000;
/// Reading at full width.
pub(crate) const FULL: i64 = 0x2000_0000;
/// No operand.
pub(crate) const GARBAGE: i64 = 0xffff_ffff;

/// Commands and sizes.
#[derive(Clone, Debug)]
pub(crate) struct Units {
    configure: usize,
    loads: [usize; 3],
    store: usize,
    preload: usize,
    multiply: [usize; 2],
    pub(crate) fence: usize,
    /// Rows and columns of the array.
    pub(crate) dim: i64,
    pub(crate) spad_rows: i64,
    pub(crate) sum_rows: i64,
    /// Blocks of columns that one load moves.
    pub(crate) blocks: i64,
    /// What a cell of the scratchpad and of the accumulator is.
    pub(crate) small: Element,
    pub(crate) wide: Element,
}

impl Units {
    /// The commands of a machine for a kernel.
    ///
    /// # Errors
    /// What the machine lacks, at the kernel.
    pub(crate) fn of(kernel: &Kernel, machine: &Machine) -> Result<Units, Vec<Diagnostic>> {
        Units::new(machine).map_err(|reason| {
            let message = format!("{} has no array to map to: {reason}", machine.isa);
            let diagnostic = Diagnostic::error(message).at(&kernel.source, kernel.span);
            vec![diagnostic.hint("describe it in its specification")]
        })
    }

    /// The commands of a machine.
    ///
    /// # Errors
    /// What the machine lacks.
    pub(crate) fn new(machine: &Machine) -> Result<Units, String> {
        let find = |name: &str| {
            let mut all = machine.instructions.iter();
            let at = all.position(|i| i.instruction.name == name);
            at.ok_or_else(|| format!("it has no `{name}`"))
        };
        let size = |name: &str| {
            let size = machine.parameter(name);
            size.ok_or_else(|| format!("its manifest has no `{name}`"))
        };
        let array = |name: &str| {
            let array = machine.state.arrays.iter().find(|a| a.name == name);
            array.ok_or_else(|| format!("it has no rows `{name}`"))
        };
        let (spad, sums) = (array("spad")?, array("accumulator")?);
        Ok(Units {
            configure: find("config")?,
            loads: [find("mvin")?, find("mvin2")?, find("mvin3")?],
            store: find("mvout")?,
            preload: find("preload")?,
            multiply: [find("compute.preloaded")?, find("compute.accumulated")?],
            fence: find("fence")?,
            dim: size("DIM")?,
            spad_rows: i64::from(spad.rows),
            sum_rows: i64::from(sums.rows),
            blocks: size("BLOCKS")?,
            small: spad.element,
            wide: sums.element,
        })
    }

    pub(crate) fn bytes(element: Element) -> i64 {
        i64::from(element.width().unwrap_or(8) / 8)
    }

    fn command(instruction: usize, operands: [Amount; 2]) -> Command {
        Command {
            instruction,
            operands: operands.to_vec(),
        }
    }

    /// The array: what is stationary, rows of the left factor a stride apart.
    pub(crate) fn execute(&self, a_stride: i64, weights: bool) -> Command {
        let rs1 = Amount::of(i64::from(weights) << 2 | a_stride << 16);
        Units::command(self.configure, [rs1, Amount::of(1 << 48)])
    }

    /// One kind of loads.
    pub(crate) fn loading(
        &self,
        id: i64,
        stride: Amount,
        block: i64,
        (shrunk, scale): (bool, f32),
    ) -> Command {
        let scale = i64::from(scale.to_bits()) << 32;
        let rs1 = 1 | i64::from(shrunk) << 2 | id << 3 | block << 16 | scale;
        Units::command(self.configure, [Amount::of(rs1), stride])
    }

    /// Stores; `pool` is what is packed for pooling.
    pub(crate) fn storing(&self, stride: i64, relu: bool, scale: f32, pool: i64) -> Command {
        let rs1 = Amount::of(2 | i64::from(relu) << 2 | pool);
        let scale = i64::from(scale.to_bits()) << 32;
        Units::command(self.configure, [rs1, Amount::of(stride | scale)])
    }

    /// A local operand.
    pub(crate) fn local(row: &Amount, flags: i64, rows: i64, columns: i64) -> Amount {
        row.add(rows << 48 | columns << 32 | flags)
    }

    pub(crate) fn load(&self, id: usize, from: Amount, local: Amount) -> Command {
        Units::command(self.loads[id], [from, local])
    }

    pub(crate) fn store(&self, to: Amount, local: Amount) -> Command {
        Units::command(self.store, [to, local])
    }

    pub(crate) fn preload(&self, right: Amount, result: Amount) -> Command {
        Units::command(self.preload, [right, result])
    }

    /// A product; `stays` when the array keeps what it holds.
    pub(crate) fn multiply(&self, left: Amount, other: Amount, stays: bool) -> Command {
        Units::command(self.multiply[usize::from(stays)], [left, other])
    }

    /// An operand that is not there.
    pub(crate) fn nothing(&self) -> Amount {
        Amount::of(self.dim << 48 | self.dim << 32 | GARBAGE)
    }

    pub(crate) fn fence(&self) -> Command {
        Command {
            instruction: self.fence,
            operands: Vec::new(),
        }
    }
}
