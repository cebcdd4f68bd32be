//! Programs with all that moves data in them.
//!
//! In: a lowered kernel, the programs of its windows, what a target moves data by. Out: for each
//! program a [`Placed`] one: its inputs are loaded, its constants made, its values brought to the
//! widths and kinds of registers that their users want, its results stored, each by an operation
//! that an instruction of the target implements or by a number of up to 64 bits that C has itself.
//! What is made is checked against the program, node by node (`check`). It decides where the
//! values of registers of the kernel are (`variables`) and emits nothing.

mod check;
mod loads;
mod moves;
mod tables;
mod unplaced;
mod unrolling;
mod variables;

use crate::compile::tails;
use crate::operations::TargetOperations;
use crate::pairs::as_operands;
use crate::widths::NUMBERS;
use autoir::program::placed::{Copied, Ends, Placed, Placement, Residence};
use autoir::program::{Argument, Instance, Node, Program, Region, Value};
use autoir::transfer::{Transfer, first_constant};
use lowering::window::{Input, Lowered, Source, Store, Window};
use moves::{Joint, Move, Moves};
use semantics::bits::Bits;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// Places the programs of a kernel's windows.
///
/// # Panics
/// When the programs were not compiled for this target.
pub fn place(
    lowered: &Lowered,
    programs: &[Option<Program>],
    operations: &TargetOperations,
) -> Placement {
    let moves = Moves::of(operations);
    let chosen = operations.select(programs.iter().flatten());
    let chosen = chosen.expect("programs are made of the operations that the target has");
    let tails = tails(&lowered.body);
    let mut programs = programs.to_vec();
    let mut refused = BTreeMap::new();
    // Where registers are depends on all programs: without one that cannot be placed, anew.
    let (variables, placed) = loop {
        let variables = variables::widths(lowered, &programs, &moves);
        let windows = lowered.windows.iter().zip(&programs).enumerate();
        let one = |(k, (window, program)): (usize, (&Window, &Option<Program>))| {
            let placer = program.as_ref().map(|program| Placer {
                window,
                old: program,
                moves: &moves,
                active: tails.contains(&k),
                variables: &variables,
                lowered,
                new: Program::default(),
                operations: program.operations.to_vec(),
                inputs: BTreeMap::new(),
            });
            let placed = placer.map(Placer::run).transpose();
            placed.map_err(|why| (k, why))
        };
        match windows.map(one).collect::<Result<Vec<_>, _>>() {
            Ok(placed) => break (variables, placed),
            Err((k, why)) => {
                programs[k] = None;
                refused.insert(k, why);
            }
        }
    };
    let used: HashSet<&Arc<Instance>> = (placed.iter().flatten())
        .flat_map(|placed| placed.program.applied())
        .collect();
    let found = |instance: &Arc<Instance>| {
        let by = moves.implementation(instance);
        (
            (**instance).clone(),
            by.unwrap_or_else(|| chosen.of(instance)).clone(),
        )
    };
    let selection = used.into_iter().map(found).collect();
    let loads = loads::loads(lowered, &placed, operations.registers());
    let unrolled = unrolling::unrolled(lowered, &placed, operations.registers());
    Placement {
        unplaced: unplaced::ends(lowered, &placed),
        programs: placed,
        selection,
        variables,
        refused,
        loads,
        unrolled,
    }
}

/// A kernel of which no window has a program.
pub fn without_programs(lowered: &Lowered) -> Placement {
    Placement {
        unplaced: unplaced::ends(lowered, &[]),
        ..Placement::default()
    }
}

/// A target that lacks a move.
type Lacks<T> = Result<T, String>;

/// One program on its way.
struct Placer<'a> {
    window: &'a Window,
    old: &'a Program,
    moves: &'a Moves<'a>,
    /// Whether only leading lanes are loaded and stored.
    active: bool,
    variables: &'a BTreeMap<usize, u32>,
    lowered: &'a Lowered,
    new: Program,
    operations: Vec<Arc<Instance>>,
    inputs: BTreeMap<String, Residence>,
}

impl Placer<'_> {
    fn run(mut self) -> Lacks<Placed> {
        for input in &self.window.inputs {
            let residence = self.residence(input);
            self.inputs.insert(input.name.clone(), residence);
        }
        let mut images: Vec<Value> = Vec::new();
        let numbers = self.numbers();
        for (k, node) in self.old.nodes().iter().enumerate() {
            let value = match node {
                Node::Input { name, lo, width } => {
                    self.input(name, *lo, *width, numbers.contains(&k))?
                }
                Node::Constant(bits) => self.constant(bits)?,
                Node::Cast { value, width } => match self.old.node(*value) {
                    Node::Input {
                        name,
                        lo,
                        width: from,
                    } if numbers.contains(value) => {
                        let register = self.input(name, *lo, *from, false)?;
                        self.resized(register, *width)?
                    }
                    _ => self.resized(images[*value], *width)?,
                },
                Node::Apply { operation, args } => self.new.add(Node::Apply {
                    operation: *operation,
                    args: args.iter().map(|arg| image(arg, &images)).collect(),
                }),
                Node::Active { .. } | Node::Store { .. } | Node::Copy { .. } => {
                    return Err("the program is placed already".to_owned());
                }
            };
            images.push(value);
        }
        let result = self.result();
        self.store(&images, result)?;
        let mut program = self.new;
        program.operations = self.operations.into();
        let placed = Placed {
            tables: tables::elements(&program),
            program,
            ends: Ends {
                inputs: self.inputs,
                result,
            },
        };
        let window = (self.window, self.active);
        check::check(self.lowered, window, self.old, &images, &placed)?;
        Ok(placed)
    }

    /// Parts of inputs that an operation takes as numbers, where they could be loaded into the low
    /// end of a register too.
    fn numbers(&self) -> HashSet<Value> {
        let applied = self.old.nodes().iter().flat_map(|node| match node {
            Node::Apply { args, .. } => args.as_slice(),
            _ => &[],
        });
        let taken = applied.filter_map(|arg| match arg {
            Argument::Value(value) => Some(*value),
            _ => None,
        });
        taken
            .filter(|&value| match self.old.node(value) {
                Node::Input { width, .. } => NUMBERS.contains(width),
                _ => false,
            })
            .collect()
    }

    /// Where an input is before the window.
    fn residence(&self, input: &Input) -> Residence {
        let lanes = input.ty.lanes;
        match &input.source {
            Source::Scalar(_) | Source::Index(_) => Residence::Number,
            Source::Register(id) => match self.lowered.kernel.registers[*id].ty.lanes {
                _ if self.variables.contains_key(id) => Residence::Variables(self.variables[id]),
                1 => Residence::Number,
                own if own == lanes => Residence::Memory,
                own => gathered(input, own, None),
            },
            Source::Array(access) if access.lanes == 1 => Residence::Number,
            Source::Array(access) if access.is_dense() && access.lanes == lanes => {
                let element = input.ty.elem.bits();
                match self.active {
                    false => Residence::Memory,
                    true if lanes == self.window.output.lanes
                        && self.loads_masked(&input.name, element) =>
                    {
                        Residence::Memory
                    }
                    true => gathered(input, lanes, self.leading()),
                }
            }
            Source::Array(access) => gathered(input, access.lanes, self.leading()),
        }
    }

    /// Of how many lanes of the result some are active, if not all are.
    fn leading(&self) -> Option<u32> {
        self.active.then_some(self.window.output.lanes)
    }

    /// Whether each part of an input that is used can be loaded under a mask.
    fn loads_masked(&self, input: &str, element: u32) -> bool {
        self.old.nodes().iter().all(|node| match node {
            Node::Input { name, width, .. } if name == input => {
                let load = Transfer::LoadMasked(element);
                self.moves.masked(load, *width).is_some()
            }
            _ => true,
        })
    }

    /// Where the result goes after the window.
    fn result(&self) -> Residence {
        let lanes = self.window.output.lanes;
        let scattered = || {
            Residence::Buffer(Copied {
                element: self.window.output.elem.bits(),
                lanes,
                period: lanes,
                active: self.leading(),
            })
        };
        match &self.window.store {
            Store::Register(id) => match self.variables.get(id) {
                Some(&width) => Residence::Variables(width),
                None if lanes == 1 => Residence::Number,
                None => Residence::Memory,
            },
            Store::Array(_) if lanes == 1 && !self.active => Residence::Number,
            Store::Array(access) if access.is_dense() => match self.active {
                true if !self.stores_masked() => scattered(),
                _ => Residence::Memory,
            },
            Store::Array(_) => scattered(),
        }
    }

    /// Whether all of the result can be stored under masks.
    fn stores_masked(&self) -> bool {
        let element = self.window.output.elem.bits();
        let widths = || self.old.outputs.iter().map(|&v| self.old.width(v));
        let masked = Transfer::StoreMasked(element);
        widths().sum::<u32>() == self.window.output.width()
            && widths().all(|width| self.moves.masked(masked, width).is_some())
    }

    /// The node that applies an operation.
    fn apply(&mut self, instance: &Arc<Instance>, args: Vec<Argument>) -> Value {
        let known = self.operations.iter().position(|o| o == instance);
        let operation = known.unwrap_or_else(|| {
            self.operations.push(Arc::clone(instance));
            self.operations.len() - 1
        });
        self.new.add(Node::Apply { operation, args })
    }

    /// The width of a value, of which the operation may be new.
    fn width(&self, value: Value) -> u32 {
        match self.new.node(value) {
            Node::Apply { operation, .. } => self.operations[*operation].width(),
            _ => self.new.width(value),
        }
    }

    /// A move of one value.
    fn moved(&mut self, by: &Move, value: Value) -> Value {
        self.apply(&by.instance, vec![Argument::Value(value)])
    }

    fn find(&self, transfer: Transfer, from: u32, to: u32) -> Lacks<Move> {
        let found = self.moves.find(transfer, from, to);
        found.cloned().ok_or_else(|| {
            format!("the target has no instruction for `{transfer}` from {from} to {to} bits")
        })
    }

    /// What loads or stores so many bits under a mask, and the width of the mask.
    fn masked(&self, transfer: Transfer, width: u32) -> Lacks<(Move, u32)> {
        let found = self.moves.masked(transfer, width);
        let (by, mask) = found.ok_or_else(|| {
            format!("the target has no instruction for `{transfer}` of {width} bits")
        })?;
        Ok((by.clone(), mask))
    }

    /// Consecutive bits of an input, as a number or wherever they are loaded best.
    fn input(&mut self, name: &str, lo: u32, width: u32, number: bool) -> Lacks<Value> {
        let input = self.window.inputs.iter().find(|i| i.name == name);
        let input = input.ok_or_else(|| format!("there is no input `{name}`"))?;
        let element = input.ty.elem.bits();
        let bits = |lo, width| Node::Input {
            name: name.to_owned(),
            lo,
            width,
        };
        match self.inputs[name] {
            Residence::Memory if self.active && matches!(input.source, Source::Array(_)) => {
                let (load, lanes) = self.masked(Transfer::LoadMasked(element), width)?;
                let mask = self.new.add(Node::Active {
                    first: lo / element,
                    lanes,
                });
                let region = Region::Input(name.to_owned());
                Ok(self.access(&load.instance, &[mask], region, lo / 8))
            }
            Residence::Memory | Residence::Buffer(_) if self.moves.is_vector(width) => {
                if let Some(joint) = self.in_two(Transfer::Load(width), 0, width) {
                    let mut half = |at: u32| self.input(name, lo + at, joint.half, number);
                    let (low, high) = (half(0)?, half(joint.half)?);
                    return Ok(self.joined(&joint, low, high));
                }
                let load = self.find(Transfer::Load(width), 0, width)?;
                let region = Region::Input(name.to_owned());
                Ok(self.access(&load.instance, &[], region, lo / 8))
            }
            Residence::Memory | Residence::Buffer(_) => match self.moves.low_end(width).cloned() {
                Some(load) if !number => {
                    let region = Region::Input(name.to_owned());
                    Ok(self.access(&load.instance, &[], region, lo / 8))
                }
                _ => Ok(self.new.add(bits(lo, width))),
            },
            Residence::Variables(whole) => {
                let variable = self.new.add(bits(lo / whole * whole, whole));
                self.part(variable, lo % whole, width)
            }
            Residence::Number if width <= element => Ok(self.new.add(bits(lo % element, width))),
            Residence::Number => {
                let number = self.new.add(bits(0, element));
                self.everywhere(number, element, width)
            }
        }
    }

    /// What makes a register of two, where no move does at once.
    fn in_two(&self, transfer: Transfer, from: u32, to: u32) -> Option<Joint> {
        let known = self.moves.find(transfer, from, to).is_some();
        self.moves.joint(from.max(to)).filter(|_| !known).cloned()
    }

    /// Two registers as one.
    fn joined(&mut self, joint: &Joint, low: Value, high: Value) -> Value {
        let args = as_operands(joint.low, [low, high]);
        self.apply(&joint.join, args.map(Argument::Value).to_vec())
    }

    /// A number in every element of a register.
    fn everywhere(&mut self, number: Value, element: u32, width: u32) -> Lacks<Value> {
        let wide = self.moves.vectors().find(|w| *w >= width);
        let wide = wide.ok_or_else(|| format!("no register has {width} bits"))?;
        let broadcast = self.moves.broadcast(element, wide);
        if let Some(joint) = self
            .moves
            .joint(wide)
            .filter(|_| broadcast.is_none())
            .cloned()
        {
            let half = self.everywhere(number, element, joint.half)?;
            let value = self.joined(&joint, half, half);
            return self.resized(value, width);
        }
        let broadcast = broadcast
            .cloned()
            .ok_or_else(|| format!("no instruction has {element} bits in each place of {wide}"))?;
        let number = self.resized(number, broadcast.from)?;
        let value = self.moved(&broadcast, number);
        self.resized(value, width)
    }

    /// A constant in a register.
    fn constant(&mut self, bits: &Bits) -> Lacks<Value> {
        let width = bits.width();
        if !self.moves.is_vector(width) {
            return Ok(self.new.add(Node::Constant(bits.clone())));
        }
        if bits.is_zero()
            && let Some(zero) = self.moves.find(Transfer::Zero, 0, width).cloned()
        {
            return Ok(self.apply(&zero.instance, Vec::new()));
        }
        let known = |unit: &u32| {
            let joint = self.moves.joint(width).map(|joint| joint.half);
            let half = joint.and_then(|half| self.moves.broadcast(*unit, half));
            self.moves.broadcast(*unit, width).or(half).is_some()
        };
        let mut units = NUMBERS.into_iter().filter(|unit| repeats(bits, *unit));
        if let Some(unit) = units.find(known) {
            let number = self.new.add(Node::Constant(bits.extract(0, unit)));
            return self.everywhere(number, unit, width);
        }
        if let Some(joint) = self.in_two(Transfer::Load(width), 0, width) {
            let mut half = |at: u32| self.constant(&bits.extract(at, joint.half));
            let (low, high) = (half(0)?, half(joint.half)?);
            return Ok(self.joined(&joint, low, high));
        }
        let load = self.find(Transfer::Load(width), 0, width)?;
        Ok(self.access(&load.instance, &[], Region::Table(bits.clone()), 0))
    }

    /// A value at another width: upper bits not defined, or cut off.
    fn resized(&mut self, value: Value, width: u32) -> Lacks<Value> {
        let from = self.width(value);
        let steps = self
            .moves
            .path(from, width)
            .ok_or_else(|| format!("no instructions bring {from} bits to a register of {width}"))?;
        Ok(steps.iter().fold(value, |value, step| match step {
            moves::Step::Number(width) => self.new.add(Node::Cast {
                value,
                width: *width,
            }),
            moves::Step::Move(by) => self.moved(by, value),
            moves::Step::Twice(joint) => self.joined(joint, value, value),
        }))
    }

    /// Some bits of a register.
    fn part(&mut self, value: Value, lo: u32, width: u32) -> Lacks<Value> {
        let from = self.width(value);
        if lo == 0 {
            return self.resized(value, width);
        }
        if let Some(part) = self.moves.part(from, width).cloned() {
            let value = self.numbered(&part, value, lo / width);
            return self.resized(value, width);
        }
        let joint = self.moves.joint(from).filter(|joint| lo >= joint.half);
        if let Some((half, high)) = joint.and_then(|j| Some((j.half, Arc::clone(j.high.as_ref()?))))
        {
            let upper = self.apply(&high, vec![Argument::Value(value)]);
            return self.part(upper, lo - half, width);
        }
        // A part of a part, which holds it whole.
        let mut between = self.moves.vectors().filter(|w| *w < from && *w > width);
        let wide = between.find(|w| lo / w == (lo + width - 1) / w);
        let wide = wide.ok_or_else(|| {
            format!("no instruction takes {width} bits out of {from}, from bit {lo} on")
        })?;
        let outer = self.part(value, lo / wide * wide, wide)?;
        self.part(outer, lo % wide, width)
    }

    /// The part of that number.
    fn numbered(&mut self, part: &Move, value: Value, number: u32) -> Value {
        let args = part
            .instance
            .formals
            .iter()
            .map(|formal| match formal.role.is_constant() {
                true => Argument::Immediate(Bits::from_u64(formal.width, u64::from(number))),
                false => Argument::Value(value),
            });
        let args = args.collect();
        self.apply(&part.instance, args)
    }

    /// An access to memory: the address where it belongs among the other operands.
    fn access(
        &mut self,
        instance: &Arc<Instance>,
        values: &[Value],
        region: Region,
        byte: u32,
    ) -> Value {
        let mut values = values.iter();
        let args = instance
            .formals
            .iter()
            .filter_map(|formal| match formal.role.is_pointer() {
                true => Some(Argument::Address(region.clone(), byte)),
                false => first_constant(formal)
                    .map(Argument::Immediate)
                    .or_else(|| values.next().map(|v| Argument::Value(*v))),
            });
        let args = args.collect();
        self.apply(instance, args)
    }

    /// The outputs to where the result goes.
    fn store(&mut self, images: &[Value], result: Residence) -> Lacks<()> {
        let total = self.window.output.width();
        let masked = self.active && matches!(self.window.store, Store::Array(_));
        let mut at = 0;
        for &output in &self.old.outputs {
            let value = images[output];
            let kept = self.width(value).min(total - at);
            match result {
                Residence::Variables(width) => {
                    let value = self.resized(value, width)?;
                    self.new.add(Node::Store {
                        value,
                        byte: at / 8,
                    });
                }
                Residence::Number => {
                    let value = self.resized(value, total)?;
                    self.new.add(Node::Store { value, byte: 0 });
                }
                Residence::Memory if masked => self.store_masked(value, at)?,
                Residence::Memory | Residence::Buffer(_) => self.store_bits(value, kept, at)?,
            }
            at += kept;
        }
        Ok(())
    }

    /// The active elements of a register.
    fn store_masked(&mut self, value: Value, at: u32) -> Lacks<()> {
        let (element, width) = (self.window.output.elem.bits(), self.width(value));
        let (by, lanes) = self.masked(Transfer::StoreMasked(element), width)?;
        let mask = self.new.add(Node::Active {
            first: at / element,
            lanes,
        });
        let is_mask = |k: &usize| by.instance.formals[*k].width == lanes;
        let first = (0..by.instance.formals.len()).find(is_mask);
        let pointer = |k: &usize| by.instance.formals[*k].role.is_pointer();
        let others = (0..by.instance.formals.len()).filter(|k| !pointer(k));
        let values: Vec<Value> = others
            .map(|k| if Some(k) == first { mask } else { value })
            .collect();
        self.access(&by.instance, &values, Region::Result, at / 8);
        Ok(())
    }

    /// The low bits of a register, in as few pieces as there are stores for; nothing past them is
    /// written.
    fn store_bits(&mut self, value: Value, kept: u32, at: u32) -> Lacks<()> {
        let pieces = self.moves.pieces(kept);
        let mark = self.new.clone();
        let mut lo = 0;
        for width in pieces {
            let whole = self.moves.is_vector(width);
            let store = self
                .moves
                .find(Transfer::Store(width), self.width(value), 0);
            if let Some(store) = store.filter(|_| lo == 0 && !whole).cloned() {
                self.access(&store.instance, &[value], Region::Result, at / 8);
                lo += width;
                continue;
            }
            match self.part(value, lo, width) {
                Ok(part) => self.store_whole(part, Region::Result, (at + lo) / 8)?,
                Err(_) => {
                    // What no instruction takes out goes through memory.
                    self.new = mark;
                    self.store_whole(value, Region::Scratch, 0)?;
                    self.new.add(Node::Copy {
                        byte: at / 8,
                        bytes: kept / 8,
                    });
                    return Ok(());
                }
            }
            lo += width;
        }
        Ok(())
    }

    fn store_whole(&mut self, value: Value, region: Region, byte: u32) -> Lacks<()> {
        let width = self.width(value);
        if self.moves.is_vector(width) {
            let by = self.find(Transfer::Store(width), width, 0)?;
            self.access(&by.instance, &[value], region, byte);
            return Ok(());
        }
        match region {
            Region::Result => {
                self.new.add(Node::Store { value, byte });
                Ok(())
            }
            _ => Err(format!("a number of {width} bits has no part to store")),
        }
    }
}

/// An input in a buffer, its elements gathered from so many.
fn gathered(input: &Input, period: u32, active: Option<u32>) -> Residence {
    Residence::Buffer(Copied {
        element: input.ty.elem.bits(),
        lanes: input.ty.lanes,
        period,
        active,
    })
}

/// Whether a register is one number in every element.
fn repeats(bits: &Bits, unit: u32) -> bool {
    let first = bits.extract(0, unit);
    (1..bits.width() / unit).all(|k| bits.extract(k * unit, unit) == first)
}

fn image(argument: &Argument, images: &[Value]) -> Argument {
    match argument {
        Argument::Value(value) => Argument::Value(images[*value]),
        other => other.clone(),
    }
}
