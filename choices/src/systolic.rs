//! Schedules for machines with a systolic array and local memories, such as Gemmini.
//!
//! In: a [`Nest`], a machine with declared state. Out: [`Systolic`]: a space, its model, the
//! tiles of candidates.
//!
//! Choices: how many tiles of rows and of columns a block of results has. The right factor of a
//! block of columns stays in the scratchpad and the left one streams past it, so that more
//! columns mean fewer loads of the left factor, and more rows fewer preloads; both take rows of
//! the scratchpad and the accumulator. A finished candidate costs what its commands take in the
//! machine's model of queues; who runs them is the caller's.

use crate::nest::{Nest, Touched};
use autosched::bound::{Model, Term};
use autosched::search::Evaluate;
use autosched::space::{Candidate, Emptied, Space, Var};
use kernel::index::Symbol;
use kernel::tree::Kernel;
use semantics::diagnostic::Diagnostic;
use semantics::machine::Machine;
use smt::prover::Prover;
use std::collections::BTreeMap;
use tile::scratch::place::{Demands, map};
use tile::scratch::program::LoopProgram;

/// The most tiles of a side of a block.
const MOST_TILES: i64 = 16;

/// Buffers for the left factor, and for sums: one is filled while the other is used.
const BUFFERS: i64 = 2;

/// What the machine and the kernel say that bounds depend on.
#[derive(Clone, Copy, Debug)]
struct Facts {
    dim: i64,
    scratchpad: i64,
    accumulator: i64,
    /// Bytes that memory moves in a cycle, and cycles until the first is there.
    bus: i64,
    latency: u64,
    /// Rounds of all loops but those over columns and into the depth.
    rounds: i64,
    /// The longest loop over rows, and results without their columns.
    rows: i64,
    results: i64,
    /// Rounds of the loops that add, but for the depth.
    window: i64,
    columns: i64,
    depth: i64,
    /// Different rows of the left factor, at least.
    left: i64,
    /// Bytes of an element of the factors and of the results.
    small: i64,
    out: i64,
}

/// A space for a kernel on a machine.
pub struct Systolic {
    /// The nest.
    pub nest: Nest,
    /// The choices.
    pub space: Space,
    /// What they cost at least, in cycles.
    pub model: Model,
    sides: [Var; 2],
}

impl Systolic {
    /// The choices for a nest.
    ///
    /// # Errors
    /// What the machine or the kernel lacks.
    pub fn new(nest: Nest, machine: &Machine) -> Result<Systolic, Diagnostic> {
        let facts = facts(&nest, machine).map_err(|message| {
            Diagnostic::error(message)
                .at(&nest.kernel.source, nest.kernel.span)
                .hint("`isaforge map` without `--schedule auto` chooses blocks by an estimate")
        })?;
        let mut space = Space::new();
        let tiles = |n: i64| 1..=ceil(n, facts.dim).min(MOST_TILES);
        let rows = space.add("tiles of rows", tiles(facts.results));
        let columns = space.add("tiles of columns", tiles(facts.columns));
        let block = move |v: &[i64]| (v[0] * facts.dim).min(facts.rows);
        let held = [
            Term::new([rows], move |v| {
                (BUFFERS * facts.depth_tiles() * block(v)).unsigned_abs()
            }),
            Term::new([columns], move |v| {
                (facts.window * facts.depth_tiles() * v[0] * facts.dim).unsigned_abs()
            }),
        ];
        let name = format!(
            "both factors fit {} rows of the scratchpad",
            facts.scratchpad
        );
        space.at_most(name, facts.scratchpad.unsigned_abs(), held);
        let sums = Term::new([rows, columns], move |v| {
            (BUFFERS * v[1] * block(v)).unsigned_abs()
        });
        let name = format!("sums fit {} rows of the accumulator", facts.accumulator);
        space.at_most(name, facts.accumulator.unsigned_abs(), [sums]);
        let model = model(facts, columns);
        Ok(Systolic {
            nest,
            space,
            model,
            sides: [rows, columns],
        })
    }

    /// The candidate with these tiles of rows and of columns.
    ///
    /// # Errors
    /// What leaves no candidate.
    pub fn restricted(&self, tiles: Option<(i64, i64)>) -> Result<Candidate, Emptied> {
        let start = self.space.start()?;
        let Some((rows, columns)) = tiles else {
            return Ok(start);
        };
        let next = self.space.restrict(&start, self.sides[0], &[rows])?;
        self.space.restrict(&next, self.sides[1], &[columns])
    }

    /// The tiles of a candidate.
    pub fn tiles(values: &[i64]) -> (i64, i64) {
        (values[0], values[1])
    }
}

impl Facts {
    fn depth_tiles(&self) -> i64 {
        ceil(self.depth, self.dim)
    }

    /// Cycles of the array: each row of the left factor passes each tile of the right one.
    fn products(&self) -> i64 {
        self.rounds * ceil(self.columns, self.dim) * self.depth_tiles()
    }
}

fn ceil(a: i64, b: i64) -> i64 {
    (a + b - 1) / b
}

/// What every completion costs at least.
fn model(facts: Facts, columns: Var) -> Model {
    let mut model = Model::new();
    let constant = |n: i64| Term::constant(n.unsigned_abs());
    let array = model.resource("the array");
    model.uses(array, "products", constant(facts.products()));
    model.uses(array, "the first load", Term::constant(facts.latency));
    model.uses(array, "the last results", constant(2 * facts.dim));
    model.uses(array, "the last store", Term::constant(facts.latency));
    let load = model.resource("the load queue");
    let left = facts.left * ceil(facts.depth * facts.small, facts.bus);
    model.uses(
        load,
        "the left factor, once for each block of columns",
        Term::new([columns], move |v| {
            let blocks = ceil(ceil(facts.columns, facts.dim), v[0]);
            (blocks * left).unsigned_abs()
        }),
    );
    let right = facts.window * facts.depth * ceil(facts.columns * facts.small, facts.bus);
    model.uses(load, "the right factor", constant(right));
    model.uses(load, "the last store", Term::constant(facts.latency));
    let store = model.resource("the store queue");
    let stored = facts.results * ceil(facts.columns * facts.out, facts.bus);
    model.uses(store, "results", constant(stored));
    model.uses(store, "the first load", Term::constant(facts.latency));
    model
}

fn facts(nest: &Nest, machine: &Machine) -> Result<Facts, String> {
    let size = |name: &str| {
        let size = machine.parameter(name);
        size.ok_or_else(|| format!("{} has no `{name}`", machine.isa))
    };
    let rows = |name: &str| {
        let array = machine.state.arrays.iter().find(|a| a.name == name);
        let array = array.ok_or_else(|| format!("{} has no rows `{name}`", machine.isa))?;
        Ok::<i64, String>(i64::from(array.rows))
    };
    let [first, second] = &nest.sources[..] else {
        return Err("a sum of products of two arrays was expected".to_owned());
    };
    let along = |t: &Touched, l: usize| t.runs_along(nest.loops[l].var);
    let moves = |t: &Touched, l: usize| t.moves_with(nest.loops[l].var);
    let loops = 0..nest.loops.len();
    let columns = loops.clone().find_map(|l| {
        let sides = [(first, second), (second, first)];
        let right = sides
            .into_iter()
            .find(|(r, left)| along(r, l) && !moves(left, l));
        (along(&nest.target, l))
            .then_some(())
            .and(right)
            .map(|(_, left)| (l, left))
    });
    let (columns, left) = columns.ok_or("no loop runs along the results and one factor only")?;
    let depth = loops
        .clone()
        .find(|&l| nest.loops[l].adds && along(left, l));
    let depth = depth.ok_or("no loop that adds runs along the left factor")?;
    let length = |l: usize| nest.loops[l].length;
    let others = || loops.clone().filter(|&l| l != columns && l != depth);
    let across = || others().filter(|&l| !nest.loops[l].adds);
    // One loop for each dimension, and each loop once.
    let mut used = Vec::new();
    let mut distinct = 1;
    for index in &left.index {
        let movers = others().filter(|l| index.coefficient(nest.loops[*l].var) != 0);
        if let Some(most) = movers
            .filter(|l| !used.contains(l))
            .max_by_key(|&l| length(l))
        {
            distinct *= length(most);
            used.push(most);
        }
    }
    let bytes = |t: &Touched| i64::from(nest.kernel.arrays[t.array].elem.bits() / 8);
    let queues = machine.state.queues.iter();
    Ok(Facts {
        dim: size("DIM")?,
        bus: size("BUS")?,
        scratchpad: rows("spad")?,
        accumulator: rows("accumulator")?,
        latency: queues.map(|q| q.latency).min().unwrap_or(0),
        rounds: others().map(length).product(),
        rows: across().map(length).max().unwrap_or(1),
        results: across().map(length).product(),
        window: others()
            .filter(|&l| nest.loops[l].adds && moves_right(nest, left, l))
            .map(length)
            .product(),
        columns: length(columns),
        depth: length(depth),
        left: distinct,
        small: bytes(left),
        out: bytes(&nest.target),
    })
}

/// Whether a loop moves the factor that is not the left one.
fn moves_right(nest: &Nest, left: &Touched, l: usize) -> bool {
    let mut others = nest.sources.iter().filter(|s| s.array != left.array);
    others.any(|s| s.moves_with(nest.loops[l].var))
}

/// Runs the commands of a program; what they take, in cycles.
pub type Cycles<'a> = dyn Fn(&LoopProgram) -> Result<u64, String> + 'a;

/// Maps candidates and has their commands run.
pub struct Commander<'a> {
    /// The kernel.
    pub kernel: &'a Kernel,
    /// The values of sizes.
    pub sizes: &'a BTreeMap<Symbol, i64>,
    /// The machine.
    pub machine: &'a Machine,
    /// Who proves that stores do what is done to sums.
    pub prover: &'a Prover,
    /// What programs take.
    pub cycles: &'a Cycles<'a>,
}

impl Evaluate for Commander<'_> {
    fn cost(&mut self, _: &Space, values: &[i64]) -> Result<u64, String> {
        let demands = Demands {
            tile: Some(Systolic::tiles(values)),
            ..Demands::default()
        };
        let program = map(self.kernel, self.sizes, self.machine, self.prover, demands);
        let program = program.map_err(|wrong| {
            wrong
                .first()
                .map_or_else(String::new, |d| d.message.clone())
        })?;
        (self.cycles)(&program)
    }
}
