//! A kernel to a program of tile instructions.
//!
//! In: a kernel, the values of its sizes, a machine. Out: [`TileProgram`], whose hazards are
//! checked, or what cannot be mapped and the change that would make it possible. Outer loops
//! are run; each block of loops that is small enough is asked whether it is an instruction.

use crate::block::{self, Values};
use crate::hazard;
use crate::matching::{Matcher, Proofs, Tiled};
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

/// Maps a kernel.
///
/// # Errors
/// What is wrong, with its place.
pub fn map(
    scheduled: &Scheduled,
    sizes: &BTreeMap<Symbol, i64>,
    machine: &Machine,
    prover: &Prover,
) -> Result<TileProgram, Vec<Diagnostic>> {
    let kernel = scheduled.kernel();
    let diagnostics = |(message, hint): (String, String), span: Span| {
        vec![
            Diagnostic::error(message)
                .at(&kernel.source, span)
                .hint(hint),
        ]
    };
    let value = |s: Symbol| sizes.get(&s).copied().unwrap_or(0);
    if let Some(broken) = kernel.requires.iter().find(|c| !c.holds(&value)) {
        let message = "this precondition does not hold for these sizes".to_owned();
        let hint = "take sizes for which it holds, or pad the arrays to such sizes".to_owned();
        return Err(diagnostics((message, hint), broken.span));
    }
    let shapes = shapes::shapes(machine, prover).map_err(|reason| {
        let message = format!(
            "{} has no tile instructions to map to: {reason}",
            machine.isa
        );
        diagnostics(
            (message, "describe them in its specification".into()),
            kernel.span,
        )
    })?;
    let values = Values::new(kernel, sizes);
    let lengths = lengths(kernel, &values).map_err(|r| diagnostics((r.message, r.hint), r.span))?;
    let mut walk = Walk::new(Matcher {
        kernel,
        machine,
        shapes: &shapes,
        prover,
        lengths: lengths.clone(),
        proofs: Proofs::new(),
    });
    walk.block(&kernel.body, &mut values.clone())
        .map_err(|r| diagnostics((r.message, r.hint), r.span))?;
    let blocks = walk.blocks;
    aligned(kernel, machine, &blocks).map_err(|(reason, span)| diagnostics(reason, span))?;
    let program = program(kernel, machine, &shapes, &lengths, &blocks)
        .map_err(|(reason, span)| diagnostics(reason, span))?;
    match hazard::first(&program, machine, in_flight(machine)) {
        None => Ok(program),
        Some(hazard) => {
            let message = format!("the program would not be safe on this machine: {hazard}");
            let hint = "tile the loops so that fewer results are open at once".to_owned();
            Err(diagnostics((message, hint), kernel.span))
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
pub(crate) fn lengths(kernel: &Kernel, values: &Values) -> Result<Vec<i64>, block::Refused> {
    let length = |a: &kernel::tree::Array| {
        let dims = a.memory_dims();
        dims.iter()
            .try_fold(1_i64, |n, d| Ok(n.saturating_mul(values.of(d, a.span)?)))
    };
    kernel.arrays.iter().map(length).collect()
}

type Reason = (String, String);

/// Every window can be addressed.
fn aligned(
    kernel: &Kernel,
    machine: &Machine,
    blocks: &[(Tiled, Span)],
) -> Result<(), (Reason, Span)> {
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
                return Err(((message, hint), *span));
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
) -> Result<TileProgram, (Reason, Span)> {
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
            return Err(((message, hint.to_owned()), kernel.span));
        }
    }
    let arrays = kernel.arrays.iter().zip(lengths).map(|(a, n)| ArrayUse {
        name: a.name.clone(),
        bytes: n * i64::from(a.elem.bits()) / 8,
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
    blocks: Vec<(Tiled, Span)>,
    /// Loops that are no block.
    opened: BTreeSet<Symbol>,
    /// Why the first small block was no instruction.
    reason: Option<(String, Span)>,
    /// Statements of the largest block that can be an instruction.
    most: u64,
}

impl<'a> Walk<'a> {
    fn new(matcher: Matcher<'a>) -> Walk<'a> {
        let file = &matcher.machine.files[matcher.shapes.file];
        let rows = u64::from(file.width / file.row);
        Walk {
            most: 2 * rows * rows * u64::from(file.row / 8),
            matcher,
            blocks: Vec::new(),
            opened: BTreeSet::new(),
            reason: None,
        }
    }

    fn block(&mut self, body: &[Stmt], values: &mut Values) -> Result<(), block::Refused> {
        for stmt in body {
            match stmt {
                Stmt::For(f) => self.nest(stmt, f, values)?,
                Stmt::Let(id) => {
                    let local = &self.matcher.kernel.locals[*id];
                    let message = format!("`{}` is computed outside every block", local.name);
                    let hint = "write it inside the innermost loop";
                    return Err(block::Refused::new(local.value.span, message, hint));
                }
                Stmt::Assign(assign) => return Err(self.refuse(assign.span)),
            }
        }
        Ok(())
    }

    fn nest(&mut self, stmt: &Stmt, f: &For, values: &mut Values) -> Result<(), block::Refused> {
        let kernel = self.matcher.kernel;
        let small = self.statements(stmt, &mut values.clone())?;
        if small == 0 {
            return Ok(());
        }
        if small <= self.most && !self.opened.contains(&f.var) {
            let effect = block::effect(kernel, std::slice::from_ref(stmt), values);
            let found = effect.map_err(|r| (r.message, r.span));
            match found.and_then(|e| self.matcher.find(&e).map_err(|m| (m, f.span))) {
                Ok(tiled) => {
                    self.blocks.push((tiled, f.span));
                    return Ok(());
                }
                Err(reason) => {
                    // A block of the right size says more than one of another.
                    let vague = |r: &(String, Span)| r.0.starts_with("it writes");
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
                return Err(block::Refused::new(f.span, message, "take smaller sizes"));
            }
            at += f.step;
        }
        Ok(())
    }

    /// How many stores a statement makes; counting ends past the largest block.
    fn statements(&self, stmt: &Stmt, values: &mut Values) -> Result<u64, block::Refused> {
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

    /// No block that holds this statement is an instruction.
    fn refuse(&self, span: Span) -> block::Refused {
        let file = &self.matcher.machine.files[self.matcher.shapes.file];
        let (rows, words) = (file.width / file.row, file.row / 32);
        let hint = format!(
            "tile the loops: a block is {rows} rows of {words} sums, each over {} neighbours of 8 \
             bits, {} of 16 or {words} of 32; pad sizes that are no multiples",
            file.row / 8,
            file.row / 16
        );
        let message = "no block of loops around this statement is a tile instruction".to_owned();
        match &self.reason {
            Some((reason, at)) => {
                let hint = match reason.contains("its window spans") {
                    true => "exchange the dimensions of that array, so that what is summed lies together".to_owned(),
                    false => hint,
                };
                block::Refused::new(*at, format!("this is no tile instruction: {reason}"), hint)
            }
            None => block::Refused::new(span, message, hint),
        }
    }
}
