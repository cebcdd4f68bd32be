//! The commands of a machine with a systolic array, and how their operands are packed.
//!
//! In: a machine. Out: [`Units`]. Commands, rows and packed registers are those that the machine's
//! manifest names for their roles; no mnemonic and no position of a bit stands here. Nothing of
//! it is believed: [`super::proof`] runs what is made of it through the machine's procedures.

use super::plan::Stationary;
use super::program::{Amount, Command};
use kernel::tree::Kernel;
use semantics::diagnostic::Diagnostic;
use semantics::instruction::Element;
use semantics::machine::Machine;
use semantics::machine::role::{Packed, Roles};
use semantics::machine::symbolic::{Source, Symbolic};
use semantics::term::Term;

/// Which rows a local operand names, and how.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Rows {
    /// Those of sums, not those of factors.
    pub(crate) sums: bool,
    /// What is there is added to.
    pub(crate) adds: bool,
    /// They are read at full width.
    pub(crate) full: bool,
}

/// Rows of factors.
pub(crate) const FACTORS: Rows = Rows {
    sums: false,
    adds: false,
    full: false,
};
/// Rows of sums.
pub(crate) const SUMS: Rows = Rows {
    sums: true,
    ..FACTORS
};

/// Which factors the array transposes on their way in: the left one, the right one.
pub(crate) type Transposed = [bool; 2];

/// Every choice, those that transpose less first.
pub(crate) const TRANSPOSED: [Transposed; 4] =
    [[false, false], [false, true], [true, false], [true, true]];

/// What a store pools: stride, size, results of a row, rows, columns, rows and columns before.
pub(crate) type Pooling = [i64; 7];

/// Commands and sizes.
#[derive(Clone, Debug)]
pub(crate) struct Units {
    configure: usize,
    loads: [usize; 3],
    store: usize,
    preload: usize,
    multiply: [usize; 2],
    pub(crate) fence: usize,
    packings: Packings,
    /// Rows and columns of the array.
    pub(crate) dim: i64,
    pub(crate) spad_rows: i64,
    pub(crate) sum_rows: i64,
    /// The index of the rows of sums among the machine's arrays.
    pub(crate) sums: usize,
    /// Blocks of columns that one load moves.
    pub(crate) blocks: i64,
    /// What a cell of the scratchpad and of the accumulator is.
    pub(crate) small: Element,
    pub(crate) wide: Element,
    /// What the array may be set to: what it keeps, and what it transposes meanwhile.
    settings: Vec<(Stationary, Transposed)>,
}

/// No memory.
pub(crate) struct Nothing;

impl Source for Nothing {
    fn element(&mut self, _: i64, _: Element) -> Option<Term> {
        None
    }
}

/// Runs a command whose operands are constants.
pub(crate) fn run(
    state: &mut Symbolic<'_>,
    command: &Command,
    memory: &mut dyn Source,
) -> Result<(), String> {
    let operands: Vec<i64> = command.operands.iter().map(|a| a.constant).collect();
    state.run(command.instruction, &operands, memory)
}

#[derive(Clone, Debug)]
struct Packings {
    local: Packed<6>,
    nothing: Packed<0>,
    no_row: Packed<0>,
    execute: (Packed<2>, Packed<0>),
    /// Where the array can transpose factors: factors of both fields in `execute`.
    transposed: Transposes,
    load: Packed<4>,
    store: (Packed<8>, Packed<2>),
}

impl Packings {
    fn of(machine: &Machine) -> Result<Packings, String> {
        let roles = &machine.roles;
        let local = ["row", "rows", "columns", "sums", "adds", "full"];
        let store = [
            "relu",
            "pool_stride",
            "pool_size",
            "pool_out",
            "pool_rows",
            "pool_columns",
            "pool_in_rows",
            "pool_in_columns",
        ];
        let (execute, transposed) = execute(roles)?;
        Ok(Packings {
            local: roles.packing("local", local)?,
            nothing: roles.packing("nothing", [])?,
            no_row: roles.packing("no_row", [])?,
            execute: (execute, roles.packing("execute.second", [])?),
            transposed,
            load: roles.packing("load.first", ["kind", "shrunk", "block", "scale"])?,
            store: (
                roles.packing("store.first", store)?,
                roles.packing("store.second", ["stride", "scale"])?,
            ),
        })
    }
}

/// How the array is set, with the fields that say what it transposes: 0 where it cannot.
fn execute(roles: &Roles) -> Result<(Packed<2>, Transposes), String> {
    let (name, own) = ("execute.first", ["weights", "stride"]);
    let turned = ["left_transposed", "right_transposed"];
    if !turned.iter().any(|field| roles.packs(name, field)) {
        return Ok((roles.packing(name, own)?, [0, 0]));
    }
    let found = roles.packing(name, [own[0], own[1], turned[0], turned[1]])?;
    let [weights, stride, left, right] = found.factors;
    let own = Packed {
        constant: found.constant,
        factors: [weights, stride],
    };
    Ok((own, [left, right]))
}

/// Factors of the fields that say what is transposed.
type Transposes = [i64; 2];

/// What a register holds whose fields have these values.
pub(crate) fn packed<const N: usize>(packing: &Packed<N>, fields: [Amount; N]) -> Amount {
    let parts = fields.iter().zip(packing.factors);
    let add = |sum: Amount, (field, factor): (&Amount, i64)| sum.plus(&field.times(factor));
    parts.fold(Amount::of(packing.constant), add)
}

fn flag(set: bool) -> Amount {
    Amount::of(i64::from(set))
}

fn bits(scale: f32) -> Amount {
    Amount::of(i64::from(scale.to_bits()))
}

/// Why nothing can be mapped to the array of a machine that says what its commands are for.
pub fn without_array(machine: &Machine) -> Option<String> {
    let roles = &machine.roles;
    let some = !(roles.instructions.is_empty() && roles.arrays.is_empty());
    some.then(|| Units::new(machine).err()).flatten()
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
            vec![
                diagnostic
                    .hint("`isaforge check --lint` looks for what is wrong with its specification"),
            ]
        })
    }

    /// The commands of a machine.
    ///
    /// # Errors
    /// What the machine lacks.
    pub(crate) fn new(machine: &Machine) -> Result<Units, String> {
        let find = |role: &str| machine.roles.instruction(role);
        let size = |name: &str| {
            let size = machine.parameter(name);
            size.ok_or_else(|| format!("its manifest has no `{name}`"))
        };
        let sums = machine.roles.array("sums")?;
        let factors = &machine.state.arrays[machine.roles.array("factors")?];
        let mut units = Units {
            configure: find("configure")?,
            loads: [find("load")?, find("load.second")?, find("load.third")?],
            store: find("store")?,
            preload: find("preload")?,
            multiply: [find("multiply")?, find("multiply.again")?],
            fence: find("wait")?,
            packings: Packings::of(machine)?,
            dim: size("DIM")?,
            spad_rows: i64::from(factors.rows),
            sum_rows: i64::from(machine.state.arrays[sums].rows),
            sums,
            blocks: size("BLOCKS")?,
            small: factors.element,
            wide: machine.state.arrays[sums].element,
            settings: Vec::new(),
        };
        let kept = [Stationary::Weights, Stationary::Outputs];
        let all = kept.into_iter().flat_map(|s| TRANSPOSED.map(|t| (s, t)));
        units.settings = all.filter(|s| units.is_accepted(machine, *s)).collect();
        Ok(units)
    }

    /// Whether the machine takes a setting of the array: that is asked of its own procedure.
    fn is_accepted(&self, machine: &Machine, (kept, transposed): (Stationary, Transposed)) -> bool {
        let fields = transposed.iter().zip(self.packings.transposed);
        let can = fields.into_iter().all(|(&on, factor)| !on || factor != 0);
        let setting = self.execute(1, kept, transposed);
        can && run(&mut Symbolic::new(machine), &setting, &mut Nothing).is_ok()
    }

    /// Whether the array can transpose these factors while it keeps that.
    pub(crate) fn transposes(&self, stationary: Stationary, transposed: Transposed) -> bool {
        self.settings.contains(&(stationary, transposed))
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

    /// The array: what is stationary, rows of the left factor a stride apart, what is transposed.
    pub(crate) fn execute(
        &self,
        a_stride: i64,
        stationary: Stationary,
        transposed: Transposed,
    ) -> Command {
        let (first, second) = &self.packings.execute;
        let weights = flag(stationary == Stationary::Weights);
        let mut first = packed(first, [weights, Amount::of(a_stride)]);
        for (on, factor) in transposed.into_iter().zip(self.packings.transposed) {
            first = first.plus(&flag(on).times(factor));
        }
        Units::command(self.configure, [first, packed(second, [])])
    }

    /// One kind of loads.
    pub(crate) fn loading(
        &self,
        id: i64,
        stride: Amount,
        block: i64,
        (shrunk, scale): (bool, f32),
    ) -> Command {
        let fields = [Amount::of(id), flag(shrunk), Amount::of(block), bits(scale)];
        Units::command(
            self.configure,
            [packed(&self.packings.load, fields), stride],
        )
    }

    /// Stores.
    pub(crate) fn storing(&self, stride: i64, relu: bool, scale: f32, pool: Pooling) -> Command {
        let (first, second) = &self.packings.store;
        let [a, b, c, d, e, f, g] = pool.map(Amount::of);
        let first = packed(first, [flag(relu), a, b, c, d, e, f, g]);
        let second = packed(second, [Amount::of(stride), bits(scale)]);
        Units::command(self.configure, [first, second])
    }

    /// A local operand.
    pub(crate) fn local(&self, row: &Amount, how: Rows, rows: i64, columns: i64) -> Amount {
        let [rows, columns] = [rows, columns].map(Amount::of);
        let [sums, adds, full] = [how.sums, how.adds, how.full].map(flag);
        let fields = [row.clone(), rows, columns, sums, adds, full];
        packed(&self.packings.local, fields)
    }

    /// The row of an operand whose size alone matters.
    pub(crate) fn no_row(&self) -> Amount {
        packed(&self.packings.no_row, [])
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
        packed(&self.packings.nothing, [])
    }

    pub(crate) fn fence(&self) -> Command {
        Command {
            instruction: self.fence,
            operands: Vec::new(),
        }
    }
}
