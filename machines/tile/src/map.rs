//! A kernel to a program of tile instructions.
//!
//! In: a kernel, the values of its sizes, a machine. Out: [`TileProgram`], whose hazards are
//! checked, or what cannot be mapped and the change that would make it possible. Outer loops
//! are run; each block of loops that is small enough is asked whether it is an instruction.

use crate::block::{Alike, Effect, Effects, Values};
use crate::error::{self, Detail, MappingError};
use crate::hazard;
use crate::loop_codegen::Blocks;
use crate::matching::{Matcher, Mismatch, Tiled};
use crate::program::{ArrayUse, TileProgram};
use crate::registers::Registers;
use crate::shapes::{self, Shapes};
use kernel::ast::Direction;
use kernel::index::Symbol;
use kernel::tree::{For, Kernel, Role, Stmt};
use schedule::Scheduled;
use semantics::diagnostic::Diagnostic;
use semantics::machine::Machine;
use semantics::span::Span;
use smt::prover::Prover;
use std::collections::{BTreeMap, BTreeSet};

/// The most tile instructions that a program may have.
const MOST_BLOCKS: usize = 1 << 16;

/// The parameter of a machine that says how many tile instructions may be under way.
const IN_FLIGHT: &str = "IN_FLIGHT";

/// Maps a kernel, with the tile instructions of the machine and what was found out of blocks before.
///
/// # Errors
/// What is wrong, with its place.
pub fn map(
    (scheduled, blocks): (&Scheduled, &Blocks),
    sizes: &BTreeMap<Symbol, i64>,
    machine: &Machine,
    prover: &Prover,
) -> Result<TileProgram, Vec<Diagnostic>> {
    let kernel = scheduled.kernel();
    error::preconditions(kernel, sizes).map_err(|e| e.reported(kernel))?;
    mapped((kernel, blocks), sizes, machine, prover).map_err(|e| e.reported(kernel))
}

/// Why nothing can be mapped to the tiles of a machine; none when something can, or it has none.
pub fn without_tiles(machine: &Machine, prover: &Prover) -> Option<String> {
    let tiles = machine.files.iter().any(|f| f.row < f.width);
    tiles
        .then(|| shapes::shapes(machine, prover).err())
        .flatten()
}

fn mapped(
    (kernel, alike): (&Kernel, &Blocks),
    sizes: &BTreeMap<Symbol, i64>,
    machine: &Machine,
    prover: &Prover,
) -> Result<TileProgram, MappingError> {
    let shapes = alike.shapes.as_ref().map_err(|reason| {
        let isa = &machine.isa;
        let message = format!("{isa} has no tile instructions to map to: {reason}");
        MappingError::new(
            kernel.span,
            message,
            "`isaforge check --lint` looks for what is wrong with its specification",
        )
    })?;
    let values = Values::new(kernel, sizes);
    let lengths = lengths(kernel, &values)?;
    let (effects, proofs) = alike.found.take();
    let matcher = Matcher {
        kernel,
        machine,
        shapes,
        prover,
        lengths: lengths.clone(),
        proofs,
    };
    let mut walk = Walk::new(matcher, effects);
    let walked = walk.block(&kernel.body, &mut values.clone());
    alike.found.replace((walk.effects, walk.matcher.proofs));
    walked?;
    let blocks = walk.blocks;
    aligned(kernel, machine, &blocks)?;
    let program = program(kernel, machine, shapes, &lengths, &blocks)?;
    let hazard = match machine.coherent {
        true => None,
        false => hazard::first(&program, machine, in_flight(machine)),
    };
    match hazard {
        None => Ok(program),
        Some(hazard) => {
            let message = format!("the program would not be safe on this machine: {hazard}");
            let hint = "tile the loops so that fewer results are open at once";
            Err(MappingError::new(kernel.span, message, hint))
        }
    }
}

/// How many tile instructions may be under way at once.
pub fn in_flight(machine: &Machine) -> usize {
    let given = machine
        .parameter(IN_FLIGHT)
        .and_then(|n| usize::try_from(n).ok());
    given.unwrap_or(1)
}

/// Elements of every array as they lie in memory.
pub(crate) fn lengths(kernel: &Kernel, values: &Values) -> Result<Vec<i64>, MappingError> {
    let length = |a: &kernel::tree::Array| {
        let dims = a.memory_dims();
        dims.iter()
            .try_fold(1_i64, |n, d| Ok(n.saturating_mul(values.of(d, a.span)?)))
    };
    kernel.arrays.iter().map(length).collect()
}

/// Every window can be addressed.
fn aligned(
    kernel: &Kernel,
    machine: &Machine,
    blocks: &[(Tiled, Span)],
) -> Result<(), MappingError> {
    if !machine.aligned {
        return Ok(());
    }
    for (block, span) in blocks {
        for window in block.sources.iter().chain([&block.target]) {
            let odd = |n: i64| n % 4 != 0;
            if odd(window.base) || odd(window.stride) {
                let array = &kernel.arrays[window.array];
                let (name, pad) = (&array.name, 32 / array.elem.bits());
                let message = format!(
                    "a window of `{name}` begins at byte {} and its rows lie {} bytes apart: \
                     tiles are moved in words of 4",
                    window.base, window.stride
                );
                let hint = format!("pad the rows: `[…, … pad {pad}]`");
                return Err(MappingError::new(*span, message, hint));
            }
        }
    }
    Ok(())
}

fn program(
    kernel: &Kernel,
    machine: &Machine,
    shapes: &Shapes,
    lengths: &[i64],
    blocks: &[(Tiled, Span)],
) -> Result<TileProgram, MappingError> {
    let file = &machine.files[shapes.file];
    let extent = (i64::from(file.row / 8), i64::from(file.width / file.row));
    let registers = Registers::new((kernel, machine), shapes, extent);
    let (steps, most) = registers.place(blocks)?;
    for step in &steps {
        let forbids = |&(operand, register): &(usize, usize)| {
            machine.forbids(step.instruction, operand, register as i64)
        };
        if let Some(erratum) = step.tiles.iter().find_map(forbids) {
            let message = format!(
                "the erratum `{}` forbids {}",
                erratum.name,
                machine.erratum_text(erratum)
            );
            let hint = "let fewer results be open at once, or switch the erratum off where the \
                        hardware does not have it";
            return Err(MappingError::new(kernel.span, message, hint));
        }
    }
    let arrays = kernel.arrays.iter().zip(lengths).map(|(a, n)| ArrayUse {
        name: a.name.clone(),
        bytes: n * i64::from(a.elem.bits()) / 8,
        bits: a.elem.bits(),
        written: a.role != Role::Param(Direction::In),
        made: a.role == Role::Local,
    });
    Ok(TileProgram {
        name: kernel.name.clone(),
        arrays: arrays.collect(),
        steps,
        extent,
        scalars: [
            (shapes.load.base, shapes.load.stride),
            (shapes.store.base, shapes.store.stride),
        ],
        registers: most,
    })
}

struct Walk<'a> {
    matcher: Matcher<'a>,
    effects: Effects,
    blocks: Vec<(Tiled, Span)>,
    /// Loops that are no block.
    opened: BTreeSet<Symbol>,
    /// Why the first small block was no instruction.
    reason: Option<MappingError>,
    /// Statements of the largest block that can be an instruction.
    most: u64,
}

impl<'a> Walk<'a> {
    fn new(matcher: Matcher<'a>, effects: Effects) -> Walk<'a> {
        let file = &matcher.machine.files[matcher.shapes.file];
        let rows = u64::from(file.width / file.row);
        Walk {
            most: 2 * rows * rows * u64::from(file.row / 8),
            matcher,
            effects,
            blocks: Vec::new(),
            opened: BTreeSet::new(),
            reason: None,
        }
    }

    fn block(&mut self, body: &[Stmt], values: &mut Values) -> Result<(), MappingError> {
        for stmt in body {
            match stmt {
                Stmt::For(f) => self.nest(stmt, f, values)?,
                Stmt::Let(id) => {
                    let local = &self.matcher.kernel.locals[*id];
                    let message = format!("`{}` is computed outside every block", local.name);
                    let hint = "write it inside the innermost loop";
                    return Err(MappingError::new(local.value.span, message, hint));
                }
                Stmt::Assign(assign) => return Err(self.refuse(assign.span)),
            }
        }
        Ok(())
    }

    fn nest(&mut self, stmt: &Stmt, f: &For, values: &mut Values) -> Result<(), MappingError> {
        let kernel = self.matcher.kernel;
        let small = self.statements(stmt, &mut values.clone())?;
        if small == 0 {
            return Ok(());
        }
        if small <= self.most && !self.opened.contains(&f.var) {
            let body = std::slice::from_ref(stmt);
            let effect = self.effects.of(kernel, body, values);
            let found = effect.map_err(|r| self.no_tile(&r.message, r.span));
            match found.and_then(|e| self.found(e, f.span)) {
                Ok(tiled) => {
                    self.blocks.push((tiled, f.span));
                    return Ok(());
                }
                Err(reason) => {
                    // A block of the right size says more than one of another.
                    let vague = |r: &MappingError| r.detail < Detail::Cause;
                    if self.reason.as_ref().is_none_or(vague) {
                        self.reason = Some(reason);
                    }
                }
            }
            self.opened.insert(f.var);
        }
        let (lo, hi) = (values.of(&f.lo, f.span)?, values.of(&f.hi, f.span)?);
        let mut at = lo;
        while at < hi {
            values.set(f.var, at);
            self.block(&f.body, values)?;
            if self.blocks.len() > MOST_BLOCKS {
                let message = format!("these sizes need more than {MOST_BLOCKS} tile instructions");
                return Err(MappingError::new(f.span, message, "take smaller sizes"));
            }
            at += f.step;
        }
        Ok(())
    }

    /// How many stores a statement makes; counting ends past the largest block.
    fn statements(&self, stmt: &Stmt, values: &mut Values) -> Result<u64, MappingError> {
        let Stmt::For(f) = stmt else {
            return Ok(u64::from(matches!(stmt, Stmt::Assign(_))));
        };
        let (lo, hi) = (values.of(&f.lo, f.span)?, values.of(&f.hi, f.span)?);
        let (mut at, mut all) = (lo, 0);
        while at < hi && all <= self.most {
            values.set(f.var, at);
            for inner in &f.body {
                all += self.statements(inner, values)?;
            }
            at += f.step;
        }
        Ok(all)
    }

    /// The instruction that a block is.
    fn found(
        &mut self,
        (effect, alike): (Effect, Option<Alike>),
        span: Span,
    ) -> Result<Tiled, MappingError> {
        // No array is a tile.
        let form = alike.map(|a| ((a.form, vec![None; a.origins.len()]), a.origins));
        let known = form
            .as_ref()
            .and_then(|(form, at)| self.matcher.known(form, at));
        if let Some(tiled) = known {
            return Ok(tiled);
        }
        let found = self.matcher.find(&effect);
        if let (Some((form, origins)), Ok(tiled)) = (form, &found) {
            let known = (origins, tiled.clone());
            self.matcher.proofs.forms.insert(form, known);
        }
        found.map_err(|reason| {
            let refused = self.no_tile(&reason, span).saying(reason.detail());
            let hint =
                "exchange the dimensions of that array, so that what is summed lies together";
            match reason {
                Mismatch::Spans { .. } => MappingError {
                    hint: hint.to_owned(),
                    ..refused
                },
                _ => refused,
            }
        })
    }

    /// A block that is no instruction.
    fn no_tile(&self, reason: &dyn std::fmt::Display, span: Span) -> MappingError {
        let message = format!("this is no tile instruction: {reason}");
        MappingError::new(span, message, self.usual())
    }

    /// What a tile is.
    fn usual(&self) -> String {
        let file = &self.matcher.machine.files[self.matcher.shapes.file];
        let (rows, words) = (file.width / file.row, file.row / 32);
        format!(
            "tile the loops: a block is {rows} rows of {words} sums, each over {} neighbours of 8 \
             bits, {} of 16 or {words} of 32; pad sizes that are no multiples",
            file.row / 8,
            file.row / 16
        )
    }

    /// No block that holds this statement is an instruction.
    fn refuse(&self, span: Span) -> MappingError {
        let message = "no block of loops around this statement is a tile instruction";
        let unknown = || MappingError::new(span, message, self.usual());
        self.reason.clone().unwrap_or_else(unknown)
    }
}
