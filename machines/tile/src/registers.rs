//! Tile registers for blocks: which window is where, and when.
//!
//! In: blocks in order. Out: [`Step`]s: loads, computations and stores with registers. A
//! window stays in its register as long as it will be used again and there is room; one that
//! will not be needed for longest makes room. Results are stored once, after their last use,
//! and never while they are unfinished: when all registers hold unfinished results, that is
//! told. A register is given anew only so long after its last use that the machine, which
//! retires instructions out of order, is done with it. Registers that errata forbid are not
//! chosen; what is never stored takes those first that a store must not have.

use crate::error::MappingError;
use crate::map::in_flight;
use crate::matching::{Tiled, Window};
use crate::program::Step;
use crate::shapes::{Move, Shapes};
use kernel::tree::Kernel;
use semantics::machine::Machine;
use semantics::span::Span;
use std::collections::BTreeMap;

/// A register's state.
#[derive(Clone, Debug, Default)]
struct Slot {
    window: Option<Window>,
    /// Whether memory does not have what it holds.
    open: bool,
    /// The position of the last instruction that used it.
    last: Option<usize>,
}

/// An instruction and the operand of it that a register is to be.
type Use = (usize, usize);

/// Why there are no registers: the message, and how to mend it.
pub(crate) type Reason = (String, String);

/// Puts blocks into registers.
pub(crate) struct Registers<'a> {
    kernel: &'a Kernel,
    machine: &'a Machine,
    shapes: &'a Shapes,
    slots: Vec<Slot>,
    gap: usize,
    steps: Vec<Step>,
    /// The blocks that use a window, the next last.
    uses: BTreeMap<Window, Vec<usize>>,
    /// Bytes of a row of a tile, and rows.
    extent: (i64, i64),
    most: usize,
}

impl<'a> Registers<'a> {
    pub(crate) fn new(
        (kernel, machine): (&'a Kernel, &'a Machine),
        shapes: &'a Shapes,
        extent: (i64, i64),
    ) -> Registers<'a> {
        Registers {
            kernel,
            machine,
            shapes,
            slots: vec![Slot::default(); machine.files[shapes.file].count as usize],
            gap: if machine.coherent {
                1
            } else {
                in_flight(machine)
            },
            steps: Vec::new(),
            uses: BTreeMap::new(),
            extent,
            most: 0,
        }
    }

    /// The instructions of the blocks, and how many registers hold something at once.
    pub(crate) fn place(
        mut self,
        blocks: &[(Tiled, Span)],
    ) -> Result<(Vec<Step>, usize), MappingError> {
        for (n, (block, _)) in blocks.iter().enumerate().rev() {
            for window in block.sources.iter().chain([&block.target]) {
                let uses = self.uses.entry(*window).or_default();
                if uses.last() != Some(&n) {
                    uses.push(n);
                }
            }
        }
        for (n, (block, span)) in blocks.iter().enumerate() {
            self.block(n, block)
                .map_err(|(message, hint)| MappingError::new(*span, message, hint))?;
        }
        Ok((self.steps, self.most))
    }

    fn block(&mut self, n: usize, block: &Tiled) -> Result<(), Reason> {
        let shapes = self.shapes;
        let compute = &shapes.computes[block.compute];
        let mut tiles = Vec::new();
        let mut pinned: Vec<usize> = Vec::new();
        for (&operand, window) in compute.sources.iter().zip(&block.sources) {
            let uses = [self.load(), (compute.instruction, operand)];
            let register = self.held(*window, &pinned, &uses)?;
            pinned.push(register);
            tiles.push((operand, register));
        }
        let store = (shapes.store.instruction, shapes.store.tile);
        let mut uses = vec![(compute.instruction, compute.target), store];
        let mut resident = self.find(block.target);
        if let Some(old) = resident.filter(|r| !self.may(&uses, *r) && !self.slots[*r].open) {
            self.slots[old].window = None;
            resident = None;
        }
        self.forget_overlaps(block.target)?;
        let target = match resident {
            Some(register) if compute.updates && !block.from_zero => register,
            _ if compute.updates && !block.from_zero => {
                uses.push(self.load());
                self.held(block.target, &pinned, &uses)?
            }
            // What it held does not matter, but the same register must not wait for itself.
            _ => {
                if let Some(old) = resident {
                    self.slots[old].window = None;
                    self.slots[old].open = false;
                }
                let zeros = shapes.zeros().filter(|_| block.from_zero);
                uses.extend(zeros.map(|z| (z.instruction, z.target)));
                let register = self.free(&pinned, &uses)?;
                if block.from_zero {
                    self.zero(register)?;
                }
                register
            }
        };
        tiles.push((compute.target, target));
        self.slots[target].window = Some(block.target);
        self.slots[target].open = true;
        self.emit(compute.instruction, tiles, None);
        for window in block.sources.iter().chain([&block.target]) {
            if let Some(uses) = self.uses.get_mut(window)
                && uses.last() == Some(&n)
            {
                uses.pop();
            }
        }
        if self.next(block.target).is_none() {
            self.moved(&shapes.store, target, block.target);
            self.slots[target].open = false;
        }
        Ok(())
    }

    fn next(&self, window: Window) -> Option<usize> {
        self.uses.get(&window).and_then(|u| u.last().copied())
    }

    fn find(&self, window: Window) -> Option<usize> {
        self.slots.iter().position(|s| s.window == Some(window))
    }

    /// The register that holds a window; it is loaded when none does.
    fn held(&mut self, window: Window, pinned: &[usize], uses: &[Use]) -> Result<usize, Reason> {
        if let Some(register) = self.find(window) {
            return Ok(register);
        }
        let open = self
            .slots
            .iter()
            .filter(|s| s.open)
            .filter_map(|s| s.window);
        for other in open.collect::<Vec<_>>() {
            if self.overlap(window, other) {
                return Err(self.overlapping(window));
            }
        }
        let register = self.free(pinned, uses)?;
        self.slots[register].window = Some(window);
        self.moved(&self.shapes.load, register, window);
        Ok(register)
    }

    fn load(&self) -> Use {
        (self.shapes.load.instruction, self.shapes.load.tile)
    }

    /// Whether no erratum forbids a register for any of these operands.
    fn may(&self, uses: &[Use], register: usize) -> bool {
        let forbids = |u: &Use| self.machine.forbids(u.0, u.1, register as i64).is_some();
        !uses.iter().any(forbids)
    }

    /// A register that may be written and used so: of those whose window is not needed for
    /// longest, one that cannot be stored, and of these the one that rests longest.
    fn free(&self, pinned: &[usize], uses: &[Use]) -> Result<usize, Reason> {
        let now = self.steps.len();
        let rested = |s: &Slot| s.last.is_none_or(|last| now >= last + self.gap);
        let usable = |k: &usize| {
            let slot = &self.slots[*k];
            !slot.open && !pinned.contains(k) && rested(slot) && self.may(uses, *k)
        };
        let store = [(self.shapes.store.instruction, self.shapes.store.tile)];
        let order = |k: &usize| {
            let slot = &self.slots[*k];
            let next = slot.window.and_then(|w| self.next(w)).unwrap_or(usize::MAX);
            let rests = std::cmp::Reverse(slot.last.map_or(0, |l| l + 1));
            (next, !self.may(&store, *k), rests)
        };
        (0..self.slots.len())
            .filter(usable)
            .max_by_key(order)
            .ok_or_else(|| {
                let open = self.slots.iter().filter(|s| s.open).count();
                let all = self.slots.len();
                let message = format!(
                    "there are too few tile registers: of {all}, {open} hold results that are not \
                 finished, and the others were used by the {} instructions before",
                    self.gap
                );
                let hint = "let fewer results be open at once: move the loop over what is summed \
                        inside, or tile the loops around it by fewer blocks";
                (message, hint.to_owned())
            })
    }

    /// The register holds zeros.
    fn zero(&mut self, register: usize) -> Result<(), Reason> {
        let Some(zeros) = self.shapes.zeros() else {
            let message = "no instruction sets a tile to zeros".to_owned();
            return Err((message, "describe one".to_owned()));
        };
        self.emit(zeros.instruction, vec![(zeros.target, register)], None);
        Ok(())
    }

    /// Copies of what is about to change are no longer good.
    fn forget_overlaps(&mut self, target: Window) -> Result<(), Reason> {
        for k in 0..self.slots.len() {
            let Some(window) = self.slots[k].window.filter(|w| *w != target) else {
                continue;
            };
            if self.overlap(window, target) {
                if self.slots[k].open {
                    return Err(self.overlapping(target));
                }
                self.slots[k].window = None;
            }
        }
        Ok(())
    }

    fn overlapping(&self, window: Window) -> Reason {
        let name = &self.kernel.arrays[window.array].name;
        let message = format!("two windows of `{name}` share elements while one is changed");
        (
            message,
            format!("tile the loops over `{name}` so that blocks share none"),
        )
    }

    fn overlap(&self, a: Window, b: Window) -> bool {
        let (row, rows) = self.extent;
        let starts = |w: Window| (0..rows).map(move |i| w.base + i * w.stride);
        a.array == b.array && starts(a).any(|x| starts(b).any(|y| x < y + row && y < x + row))
    }

    fn moved(&mut self, by: &Move, register: usize, window: Window) {
        self.emit(by.instruction, vec![(by.tile, register)], Some(window));
    }

    fn emit(&mut self, instruction: usize, tiles: Vec<(usize, usize)>, window: Option<Window>) {
        let at = self.steps.len();
        tiles
            .iter()
            .for_each(|&(_, r)| self.slots[r].last = Some(at));
        self.steps.push(Step {
            instruction,
            tiles,
            window,
        });
        let held = self.slots.iter().filter(|s| s.window.is_some()).count();
        self.most = self.most.max(held);
    }
}
