//! A kernel to a program with loops: host code with tile instructions where the schedule has
//! put arrays into tiles.
//!
//! In: a kernel, the values of its sizes, a machine, where arrays lie. Out: [`Function`]:
//! machine instructions with branches, whose order is proved safe and which find their arrays
//! by addresses in registers, or what is in the way and the change that helps. Without arrays in tiles it is plain host code.

use crate::block::{Effects, Values};
use crate::coherence;
use crate::emit::{Emit, Tight};
use crate::error::{self, MappingError};
use crate::host::host;
use crate::map::{in_flight, lengths};
use crate::matching::{Matcher, Proofs};
use crate::nest::{Builder, number, of_host};
use crate::program::{ArrayUse, Function, Placed, arguments};
use crate::setup;
use crate::shapes::{self, Shapes};
pub use crate::tiling::Variant;
use crate::tiling::{Shape, Tiled, tiled};
use crate::webs::{Chosen, choose};
use kernel::ast::Direction;
use kernel::index::Symbol;
use kernel::tree::{Kernel, Role, Stmt};
use schedule::Scheduled;
use semantics::diagnostic::Diagnostic;
use semantics::machine::{Machine, MachineOperand, OperandKind};
use smt::prover::Prover;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// Whether the schedule of a kernel has put arrays into tiles.
pub fn uses_tiles(scheduled: &Scheduled) -> bool {
    let arrays = &scheduled.kernel().arrays;
    arrays.iter().any(|a| a.placement.memory.is_some())
}

/// Maps a kernel; its arrays lie one after the other from an address on, each at a multiple
/// of `apart`.
///
/// # Errors
/// What is wrong, with its place.
pub fn map_loops(
    scheduled: &Scheduled,
    sizes: &BTreeMap<Symbol, i64>,
    machine: &Machine,
    prover: &Prover,
    (first, apart): (i64, i64),
) -> Result<Function, Vec<Diagnostic>> {
    let blocks = Blocks::of(machine, prover);
    let function = loops_of((scheduled, &blocks), sizes, machine, prover, (first, apart));
    function.map_err(|e| e.reported(scheduled.kernel()))
}

/// The same, with the tile instructions of the machine.
pub(crate) fn loops_of(
    (scheduled, blocks): (&Scheduled, &Blocks),
    sizes: &BTreeMap<Symbol, i64>,
    machine: &Machine,
    prover: &Prover,
    places: (i64, i64),
) -> Result<Function, MappingError> {
    let kernel = scheduled.kernel();
    error::preconditions(kernel, sizes)?;
    mapped((kernel, blocks), sizes, machine, prover, places)
}

/// The tile instructions of a machine, or why there are none, and what was found out of blocks of loops:
/// programs that are mapped one after the other, such as candidates of a search, are mostly of the same blocks.
pub struct Blocks {
    pub(crate) shapes: Result<Shapes, String>,
    pub(crate) found: RefCell<(Effects, Proofs)>,
}

impl Blocks {
    /// Those of a machine.
    pub fn of(machine: &Machine, prover: &Prover) -> Blocks {
        Blocks {
            shapes: shapes::shapes(machine, prover),
            found: RefCell::default(),
        }
    }

    /// What tiles multiply and add, as text: `i8 * i8 in i32`.
    pub(crate) fn products(&self) -> Vec<String> {
        let computes = self.shapes.as_ref().map(|s| s.computes.as_slice());
        let products = computes
            .unwrap_or_default()
            .iter()
            .filter_map(|c| c.product);
        let mut all: Vec<String> = products
            .map(|p| {
                let text = format!("{} * {} in {}", p.elems.0, p.elems.1, p.sum);
                match p.sum.format() {
                    Some(_) => {
                        format!("{text} (in the order and with the roundings of its instruction)")
                    }
                    None => text,
                }
            })
            .collect();
        all.sort();
        all.dedup();
        all
    }
}

/// A kernel whose sums are tiles in loops, made by [`in_tiles`].
pub struct InTiles<'b> {
    tiled: Tiled,
    blocks: &'b Blocks,
}

/// A kernel without arrays in tiles with its sums in tiles, grouped as is said; none when it has no sums of products,
/// or the machine no tiles. What the host alone does more cheaply is left to it.
///
/// # Errors
/// A precondition of the kernel that does not hold.
pub fn in_tiles<'b>(
    scheduled: &Scheduled,
    sizes: &BTreeMap<Symbol, i64>,
    (machine, blocks): (&Machine, &'b Blocks),
    variant: Option<Variant>,
) -> Result<Option<InTiles<'b>>, Vec<Diagnostic>> {
    let kernel = scheduled.kernel();
    error::preconditions(kernel, sizes).map_err(|e| e.reported(kernel))?;
    Ok(sums_in_tiles(
        kernel,
        sizes,
        (machine, blocks),
        variant,
        None,
    ))
}

/// A kernel with arrays in tiles in which sums over what does not fill them are tiles, too; none where
/// there is nothing left over.
pub(crate) fn left_in_tiles<'b>(
    scheduled: &Scheduled,
    sizes: &BTreeMap<Symbol, i64>,
    of: (&Machine, &'b Blocks),
) -> Option<InTiles<'b>> {
    let left = scheduled.left();
    if left.is_empty() {
        return None;
    }
    sums_in_tiles(scheduled.kernel(), sizes, of, None, Some(left))
}

/// Sums in tiles: those of some loops, or all.
fn sums_in_tiles<'b>(
    kernel: &Kernel,
    sizes: &BTreeMap<Symbol, i64>,
    (machine, blocks): (&Machine, &'b Blocks),
    variant: Option<Variant>,
    only: Option<&BTreeSet<Symbol>>,
) -> Option<InTiles<'b>> {
    let shapes = blocks.shapes.as_ref().ok()?;
    let file = &machine.files[shapes.file];
    let products = shapes.computes.iter().filter_map(|c| c.product);
    let products: Vec<_> = products.collect();
    let shape = Shape {
        products: &products,
        rows: i64::from(file.width / file.row),
        bytes: i64::from(file.row / 8),
        aligned: machine.aligned,
        registers: i64::from(file.count),
    };
    let tiled = tiled(kernel, sizes, (&file.name, shape, variant), only);
    tiled.map(|tiled| InTiles { tiled, blocks })
}

/// The least cycles for which a unit of the machine works on a tile that is computed of others, and
/// on one that is moved; 1 where nothing is said of it.
pub fn unit_cycles(machine: &Machine) -> (u64, u64) {
    let least = |wanted: &dyn Fn(usize) -> bool| {
        let units = machine.units.iter();
        let of = units.filter(|u| u.instructions.iter().any(|k| wanted(*k)));
        of.map(|u| u.cycles).min().unwrap_or(1)
    };
    let registers = |k: usize| {
        let operands = machine.instructions[k].operands.iter();
        let of = |o: &MachineOperand| match o.kind {
            OperandKind::Register { file, read, .. } => Some((file, read)),
            OperandKind::Immediate { .. } => None,
        };
        operands.filter_map(of).collect::<Vec<_>>()
    };
    let one = |r: &[(usize, bool)]| r.windows(2).all(|w| w[0].0 == w[1].0);
    let computes = |k: usize| {
        let r = registers(k);
        one(&r) && r.iter().filter(|r| r.1).count() > 1
    };
    let moves = |k: usize| !one(&registers(k));
    (least(&computes), least(&moves))
}

impl InTiles<'_> {
    /// How many products of tiles are run.
    pub fn products(&self) -> i64 {
        self.tiled.products
    }

    /// The kernel that is mapped, with numbers for sizes.
    pub fn kernel(&self) -> &Kernel {
        &self.tiled.kernel
    }

    /// Code for it, as [`map_loops`].
    ///
    /// # Errors
    /// What is wrong, with its place.
    pub fn map(
        &self,
        sizes: &BTreeMap<Symbol, i64>,
        machine: &Machine,
        prover: &Prover,
        places: (i64, i64),
    ) -> Result<Function, Vec<Diagnostic>> {
        let kernel = self.kernel();
        let function = mapped((kernel, self.blocks), sizes, machine, prover, places);
        function.map_err(|e| e.reported(kernel))
    }
}

fn mapped(
    (kernel, blocks): (&Kernel, &Blocks),
    sizes: &BTreeMap<Symbol, i64>,
    machine: &Machine,
    prover: &Prover,
    (first, apart): (i64, i64),
) -> Result<Function, MappingError> {
    let plain = |message: String| {
        let hint = "`isaforge check --lint` looks for what is wrong with its specification";
        MappingError::new(kernel.span, message, hint)
    };
    let kernel = &kernel.without_blocks_of_one();
    let shapes = blocks.shapes.as_ref();
    let shapes =
        shapes.map_err(|r| plain(format!("{} has no tile instructions: {r}", machine.isa)))?;
    let host = host(machine, prover)
        .map_err(|r| plain(format!("{} has no host that computes: {r}", machine.isa)))?;
    let file = &machine.files[shapes.file];
    known_memories(kernel, &file.name)?;
    let values = Values::new(kernel, sizes);
    let lengths = lengths(kernel, &values)?;
    let (effects, proofs) = blocks.found.take();
    let mut builder = Builder {
        matcher: Matcher {
            kernel,
            machine,
            shapes,
            prover,
            lengths: lengths.clone(),
            proofs,
        },
        values,
        effects,
        sizes,
        memory: &file.name,
        outer: Vec::new(),
    };
    let nodes = builder.block(&kernel.body);
    blocks
        .found
        .replace((builder.effects, builder.matcher.proofs));
    let mut nodes = nodes?;
    number(&mut nodes, &mut 0);
    let chosen = choose(kernel, machine, &nodes, file.count as usize)?;
    let extent = (i64::from(file.row / 8), i64::from(file.width / file.row));
    let fences = coherence::fences(
        (kernel, machine),
        sizes,
        (&nodes, &chosen),
        extent,
        in_flight(machine),
    )?;
    let (arrays, addresses) = placed(kernel, &file.name, &lengths, (first, apart));
    let operand = |n: usize| i64::try_from(n).unwrap_or(0);
    let scalars = BTreeMap::from([
        (0, operand(shapes.load.base)),
        (1, operand(shapes.store.base)),
    ]);
    let arguments = arguments(machine, &arrays).map_err(|reason| {
        let hint = "let buffers of the schedule live in tiles, or join arrays";
        MappingError::new(kernel.span, reason, hint)
    })?;
    let of = |&(array, register): &(usize, u32)| (array, i64::from(register));
    let bases = arguments.iter().map(of).collect();
    let emitted = |tight: Tight| {
        let emit = Emit::new(
            (kernel, machine, &host),
            sizes,
            &bases,
            &scalars,
            &chosen,
            &fences,
            tight,
        );
        emit.program(&nodes)
    };
    let code = emitted(Tight::No)
        .or_else(|_| emitted(Tight::Ends))
        .or_else(|_| emitted(Tight::All))?;
    let function = Function {
        name: kernel.name.clone(),
        arrays,
        addresses,
        arguments,
        constants: Vec::new(),
        scalars: host.file,
        code,
        registers: chosen.most,
        fences: fences.len(),
    };
    setup::around(function, machine).map_err(plain)
}

/// Statements as code of the host alone, which finds each array by its address in the register of the
/// argument of that number.
pub(crate) fn host_code(
    kernel: &Kernel,
    sizes: &BTreeMap<Symbol, i64>,
    machine: &Machine,
    prover: &Prover,
    body: &[Stmt],
) -> Result<Vec<Placed>, MappingError> {
    let plain = |message: String| {
        let hint = "`isaforge check --lint` looks for what is wrong with its specification";
        MappingError::new(kernel.span, message, hint)
    };
    let host = host(machine, prover)
        .map_err(|r| plain(format!("{} has no host that computes: {r}", machine.isa)))?;
    let arguments = machine.abi.as_ref().map_or(&[][..], |abi| &abi.arguments);
    let (many, most) = (kernel.arrays.len(), arguments.len());
    if many > most {
        let message = format!("{many} arrays are in main memory, and {most} can be handed over");
        return Err(MappingError::new(kernel.span, message, "join arrays"));
    }
    let bases = (0..many).zip(arguments.iter().map(|r| i64::from(*r)));
    let bases = bases.collect();
    let mut nodes = of_host(kernel, sizes, body);
    number(&mut nodes, &mut 0);
    let (none, chosen, fences) = (BTreeMap::new(), Chosen::default(), BTreeSet::new());
    let emitted = |tight: Tight| {
        let context = (kernel, machine, &host);
        Emit::new(context, sizes, &bases, &none, &chosen, &fences, tight).program(&nodes)
    };
    emitted(Tight::No)
        .or_else(|_| emitted(Tight::Ends))
        .or_else(|_| emitted(Tight::All))
}

/// Memories are the machine's.
fn known_memories(kernel: &Kernel, tiles: &str) -> Result<(), MappingError> {
    for array in &kernel.arrays {
        let Some(memory) = array.placement.memory.as_deref().filter(|m| *m != tiles) else {
            continue;
        };
        let message = format!(
            "`{}` is to live in `{memory}`, and there is no such memory",
            array.name
        );
        let hint = format!(
            "there are `{tiles}` and `main`: `set_memory {} in {tiles}`",
            array.name
        );
        return Err(MappingError::new(array.span, message, hint));
    }
    Ok(())
}

fn placed(
    kernel: &Kernel,
    tiles: &str,
    lengths: &[i64],
    (first, apart): (i64, i64),
) -> (Vec<ArrayUse>, Vec<i64>) {
    let (mut arrays, mut addresses, mut at) = (Vec::new(), Vec::new(), first);
    for (array, length) in kernel.arrays.iter().zip(lengths) {
        let bytes = match array.placement.memory.as_deref() == Some(tiles) {
            true => 0,
            false => length * i64::from(array.elem.bits()) / 8,
        };
        addresses.push(at);
        at += (bytes + apart - 1) / apart * apart;
        arrays.push(ArrayUse {
            name: array.name.clone(),
            bytes,
            bits: array.elem.bits(),
            written: array.role != Role::Param(Direction::In),
            made: array.role == Role::Local,
        });
    }
    (arrays, addresses)
}
