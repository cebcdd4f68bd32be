//! What programs of a product take at least, for those who choose among them.
//!
//! In: a kernel that is a product, its sizes, a machine. Out: [`Outline`]: tiles that there may
//! be, local rows and time of queues for each choice. It counts what the emitter would write,
//! without writing it: rows and cycles are those of the program, waiting is left out.

use super::form::{self, SumOfProducts};
use super::layout::{self, Layout, ceil};
use super::parts;
use super::plan::{LoopOrder, Plan};
use super::units::Units;
use crate::block::Values;
use crate::error::MappingError;
use kernel::index::Symbol;
use kernel::tree::Kernel;
use semantics::diagnostic::Diagnostic;
use semantics::instruction::Element;
use semantics::machine::Machine;
use std::collections::BTreeMap;

/// A product, before anything is chosen.
#[derive(Clone, Debug)]
pub struct Outline {
    roles: Layout,
    units: Units,
    /// Bytes of an element of the result, and whether sums are stored at full width.
    out: i64,
    bus: i64,
    issue: i64,
}

/// Cycles that the host issues and each queue works.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Busy {
    /// Loads of the left factor.
    pub left: i64,
    /// Loads of the right factor.
    pub right: i64,
    /// Loads of what sums begin with.
    pub init: i64,
    /// Products.
    pub array: i64,
    /// Results.
    pub store: i64,
    /// Commands for products and results.
    pub host: i64,
}

impl Busy {
    /// So many rounds of it.
    fn times(self, rounds: i64) -> Busy {
        Busy {
            left: rounds * self.left,
            right: rounds * self.right,
            init: rounds * self.init,
            array: rounds * self.array,
            store: rounds * self.store,
            host: rounds * self.host,
        }
    }
}

impl Outline {
    /// The outline of a kernel.
    ///
    /// # Errors
    /// Why it is no product of this machine.
    pub fn new(
        kernel: &Kernel,
        sizes: &BTreeMap<Symbol, i64>,
        machine: &Machine,
    ) -> Result<Outline, Vec<Diagnostic>> {
        let parts = parts::parts(kernel, sizes);
        let kernel = match &parts[..] {
            [only] => only,
            _ => kernel,
        };
        let values = Values::new(kernel, sizes);
        let units = Units::of(kernel, machine)?;
        let found = form::form(kernel, &values).and_then(|form| {
            let roles = roles(kernel, &form, &units)?;
            Ok((form, roles))
        });
        let (form, roles) = found.map_err(|e| e.reported(kernel))?;
        Ok(Outline {
            roles,
            units,
            out: i64::from(kernel.arrays[form.out.array].elem.bits() / 8),
            bus: machine.parameter("BUS").unwrap_or(1).max(1),
            issue: i64::try_from(machine.issue).unwrap_or(1),
        })
    }

    /// How many tiles of rows a block may have, or with pooling rows of results.
    pub fn rows(&self) -> Vec<i64> {
        match self.roles.pool {
            Some(_) => self.roles.pooled(),
            None => (1..=ceil(self.roles.rows.extent, self.roles.dim)).collect(),
        }
    }

    /// Tiles of columns.
    pub fn columns(&self) -> i64 {
        ceil(self.roles.columns.extent, self.roles.dim)
    }

    /// Rows of the scratchpad and of the accumulator.
    pub fn room(&self) -> (i64, i64) {
        (self.units.spad_rows, self.units.sum_rows)
    }

    /// Whether a plan sums as the kernel does, of integers all do, and the array transposes what it
    /// has to meanwhile.
    pub fn serves(&self, plan: Plan) -> bool {
        let float = matches!(self.units.wide, Element::Float(_));
        let alike = !float || self.layout((1, 1), plan).other_sums().is_none();
        alike
            && self
                .units
                .transposes(plan.stationary, self.roles.transposed)
    }

    /// Rows and columns of the array.
    pub fn dim(&self) -> i64 {
        self.roles.dim
    }

    fn layout(&self, tile: (i64, i64), plan: Plan) -> Layout {
        let roles = Layout {
            plan,
            ..self.roles.clone()
        };
        layout::one(&roles, &self.units, tile, tile.0)
    }

    /// Rows of the scratchpad and of the accumulator that a choice takes.
    pub fn held(&self, tile: (i64, i64), plan: Plan) -> (i64, i64) {
        let layout = self.layout(tile, plan);
        (layout.spad_rows(), layout.sum_rows())
    }

    /// For how long queues work.
    pub fn busy(&self, tile: (i64, i64), plan: Plan) -> Busy {
        let l = self.layout(tile, plan);
        let rounds: i64 = l.others.iter().map(|o| o.extent).product();
        let (full, rest) = l.blocks();
        let blocks = full + i64::from(rest > 0);
        let each = |of: &dyn Fn(i64) -> i64| {
            let last = if rest > 0 { of(rest) } else { 0 };
            rounds * (full * of(l.block_rows()) + last)
        };
        let wide = Units::bytes(self.units.wide);
        let (again, passes) = match plan.outer {
            LoopOrder::Columns => (l.groups(), 1),
            LoopOrder::Rows => (1, rounds * blocks),
        };
        let columns = self.columns();
        let tiles = |rows: i64| l.grid() * ceil(rows, l.dim);
        let results = rounds * (full * l.block_rows() + rest) * l.grid();
        let begins = match &l.init {
            Some(init) if init.step(l.rows.symbol) == 0 => columns * results,
            Some(_) => self.beats(l.columns.extent, 1, wide) * results,
            None => 0,
        };
        let steps = l.window.len() as i64 * l.depth();
        let stored = match &l.pool {
            Some(pool) => {
                rounds * full * pool.rows * pool.columns * columns * pool.size * pool.size
            }
            None => results * self.beats(l.columns.extent, 1, self.out),
        };
        let small = Units::bytes(self.units.small);
        let beats = self.beats(l.inner.extent, self.units.blocks, small);
        let busy = Busy {
            left: match l.transposed[0] {
                false => again * beats * each(&|rows| l.patch_of(rows)),
                true => again * l.inner.extent * each(&|r| self.beats(r, self.units.blocks, small)),
            },
            right: passes * self.right(&l),
            init: begins,
            array: columns * each(&|rows| l.passes(rows)),
            store: stored,
            host: self.issue * columns * each(&|rows| tiles(rows) * 2 * steps),
        };
        busy.times(l.rounds.iter().map(|r| r.extent).product())
    }

    /// Cycles of the bus for a row of so many elements, loaded so many tiles at a time.
    fn beats(&self, elements: i64, tiles: i64, bytes: i64) -> i64 {
        let whole = tiles * self.roles.dim;
        let (full, rest) = (elements / whole, elements % whole);
        full * ceil(whole * bytes, self.bus) + ceil(rest * bytes, self.bus)
    }

    /// Cycles for the right factor, once.
    fn right(&self, l: &Layout) -> i64 {
        let small = Units::bytes(self.units.small);
        let block = |columns: i64| self.beats(columns, self.units.blocks, small);
        if l.transposed[1] {
            return l.window.len() as i64 * l.columns.extent * block(l.inner.extent);
        }
        let cells = l.tiles.1 * l.dim;
        let (full, rest) = (l.columns.extent / cells, l.columns.extent % cells);
        l.window.len() as i64 * l.inner.extent * (full * block(cells) + block(rest))
    }
}

/// Why there is nothing to choose about a kernel, if there is not: a sum of two arrays has no blocks, and of
/// several statements each keeps its own.
pub fn settled(kernel: &Kernel, sizes: &BTreeMap<Symbol, i64>) -> Option<&'static str> {
    let [only] = &parts::parts(kernel, sizes)[..] else {
        return Some("each of several statements has the blocks that the mapper takes");
    };
    let form = form::form(only, &Values::new(only, sizes));
    form.is_ok_and(|form| form.sum.is_none())
        .then_some("a sum of two arrays leaves nothing to choose")
}

/// What loops are to the array.
pub(super) fn roles(
    kernel: &Kernel,
    form: &SumOfProducts,
    units: &Units,
) -> Result<Layout, MappingError> {
    if form.sum.is_none() {
        return Err(MappingError::new(
            form.span,
            "a sum of two arrays leaves nothing to choose",
            "leave `--schedule auto` out",
        ));
    }
    let sizes = [
        Units::bytes(units.small),
        Units::bytes(units.wide),
        i64::from(kernel.arrays[form.out.array].elem.bits() / 8),
    ];
    layout::roles(form, units, sizes)
}
