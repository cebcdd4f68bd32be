//! Schedules for machines with a systolic array and local memories, such as Gemmini.
//!
//! In: a kernel with its sizes, a machine with declared state. Out: [`Systolic`]: a space, its
//! model, the constraints that make a candidate.
//!
//! Choices: how many tiles of rows and of columns a block of results has; which of the two loops
//! over blocks is outermost, so that its factor stays in the scratchpad while the other one
//! streams; one buffer or two for what streams and for sums; what the array keeps. More columns
//! mean fewer loads of the left factor, more rows fewer of the right one and fewer new weights;
//! all take rows of the scratchpad and the accumulator. What is counted here is counted by
//! [`tile::systolic::outline`], as the mapper would write it. A finished candidate costs what its
//! commands take in the machine's model of queues; who runs them is the caller's.

use autosched::bound::{Model, Term};
use autosched::search::Evaluate;
use autosched::space::{Candidate, Emptied, Space, Var};
use kernel::index::Symbol;
use kernel::tree::Kernel;
use semantics::diagnostic::Diagnostic;
use semantics::machine::Machine;
use smt::prover::Prover;
use std::collections::BTreeMap;
use std::sync::Arc;
use tile::systolic::outline::{Busy, Outline};
use tile::systolic::place::{Constraints, propose};
use tile::systolic::plan::{LoopOrder, Plan, Stationary};
use tile::systolic::program::CommandProgram;

/// The most tiles of a side of a block.
const MOST_TILES: i64 = 16;

/// What a user has decided; what is open is chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Decided {
    /// Tiles of rows and of columns.
    pub tile: Option<(i64, i64)>,
    /// The order of blocks.
    pub outer: Option<LoopOrder>,
    /// How many buffers.
    pub buffers: Option<i64>,
    /// What the array keeps.
    pub stationary: Option<Stationary>,
}

impl Decided {
    /// With the usual plan where nothing is decided.
    pub fn constraints(self) -> Constraints {
        let usual = Plan::default();
        Constraints {
            tile: self.tile,
            plan: Plan {
                outer: self.outer.unwrap_or(usual.outer),
                buffers: self.buffers.unwrap_or(usual.buffers),
                stationary: self.stationary.unwrap_or(usual.stationary),
            },
            keeps: self.stationary.is_some(),
            hardware_loop: false,
        }
    }
}

/// A space for a kernel on a machine.
pub struct Systolic {
    /// The choices.
    pub space: Space,
    /// What they cost at least, in cycles.
    pub model: Model,
    vars: Vars,
}

#[derive(Clone, Copy)]
struct Vars {
    rows: Var,
    columns: Var,
    outer: Var,
    buffers: Var,
    stationary: Var,
}

/// The plan of values of order, buffers and what is stationary.
fn plan(outer: i64, buffers: i64, stationary: i64) -> Plan {
    Plan {
        outer: [LoopOrder::Columns, LoopOrder::Rows][usize::from(outer == 1)],
        buffers,
        stationary: [Stationary::Weights, Stationary::Outputs][usize::from(stationary == 1)],
    }
}

impl Systolic {
    /// The choices for a kernel.
    ///
    /// # Errors
    /// What the machine or the kernel lacks.
    pub fn new(
        kernel: &Kernel,
        sizes: &BTreeMap<Symbol, i64>,
        machine: &Machine,
    ) -> Result<Systolic, Vec<Diagnostic>> {
        let outline = Outline::new(kernel, sizes, machine)?;
        let mut rows = outline.rows();
        rows.retain(|n| *n <= MOST_TILES);
        let columns = outline.columns().min(MOST_TILES);
        let mut space = Space::new();
        let vars = Vars {
            rows: space.add("tiles of rows", rows.iter().copied()),
            columns: space.add("tiles of columns", 1..=columns),
            outer: space.add_words("outermost", &["columns", "rows"]),
            buffers: space.add("buffers", [1, 2]),
            stationary: space.add_words("stationary", &["weights", "outputs"]),
        };
        let counted = Arc::new(Counted::new(&outline, &rows, columns));
        constrain(&mut space, vars, &counted, &outline);
        let latency = machine.state.queues.iter().map(|q| q.latency).min();
        let ends = [latency.unwrap_or(0), 2 * outline.dim().unsigned_abs()];
        let model = model(vars, &counted, ends);
        Ok(Systolic { space, model, vars })
    }

    /// The candidate in which everything is as a user has decided, and the rest open.
    ///
    /// # Errors
    /// What leaves no candidate.
    pub fn restricted(&self, decided: Decided) -> Result<Candidate, Emptied> {
        let v = self.vars;
        let wanted = [
            (v.rows, decided.tile.map(|t| t.0)),
            (v.columns, decided.tile.map(|t| t.1)),
            (
                v.outer,
                decided.outer.map(|o| i64::from(o == LoopOrder::Rows)),
            ),
            (v.buffers, decided.buffers),
            (
                v.stationary,
                decided
                    .stationary
                    .map(|s| i64::from(s == Stationary::Outputs)),
            ),
        ];
        let wanted = wanted.into_iter().filter_map(|(var, n)| Some((var, n?)));
        wanted
            .into_iter()
            .try_fold(self.space.start()?, |c, (var, n)| {
                self.space.restrict(&c, var, &[n])
            })
    }

    /// The constraints that make a candidate.
    pub fn constraints(values: &[i64]) -> Constraints {
        Constraints {
            tile: Some((values[0], values[1])),
            plan: plan(values[2], values[3], values[4]),
            keeps: true,
            hardware_loop: false,
        }
    }
}

/// What is counted of each choice, once: by tiles of rows and of columns, order, and buffers
/// for rows that are held, what is stationary for time.
struct Counted {
    held: BTreeMap<[i64; 4], (i64, i64)>,
    busy: BTreeMap<[i64; 4], Busy>,
}

impl Counted {
    fn new(outline: &Outline, rows: &[i64], columns: i64) -> Counted {
        let mut counted = Counted {
            held: BTreeMap::new(),
            busy: BTreeMap::new(),
        };
        for &r in rows {
            for c in 1..=columns {
                for (outer, other) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                    let held = outline.held((r, c), plan(outer, other + 1, 0));
                    counted.held.insert([r, c, outer, other + 1], held);
                    let busy = outline.busy((r, c), plan(outer, 2, other));
                    counted.busy.insert([r, c, outer, other], busy);
                }
            }
        }
        counted
    }

    fn held(&self, values: &[i64]) -> (i64, i64) {
        self.held.get(values).copied().unwrap_or_default()
    }
}

/// What fits, and what differs from another choice.
fn constrain(space: &mut Space, vars: Vars, counted: &Arc<Counted>, outline: &Outline) {
    let Vars {
        rows,
        columns,
        outer,
        buffers,
        stationary,
    } = vars;
    let all = [rows, columns, outer, buffers];
    let (spad, sums) = outline.room();
    let of = counted.clone();
    let factors = Term::new(all, move |v| of.held(v).0.unsigned_abs());
    let name = format!("both factors fit {spad} rows of the scratchpad");
    space.at_most(name, spad.unsigned_abs(), [factors]);
    let of = counted.clone();
    let results = Term::new(all, move |v| of.held(v).1.unsigned_abs());
    let name = format!("sums fit {sums} rows of the accumulator");
    space.at_most(name, sums.unsigned_abs(), [results]);
    let alike = [0, 1].map(|s| outline.serves(plan(0, 2, s)));
    let name = "sums of floats are the kernel's, and what is transposed can be";
    space.require(name, [stationary], move |v| alike[usize::from(v[0] == 1)]);
    let most = outline.columns();
    let name = "with one block of columns the order of blocks is none";
    space.require(name, [columns, outer], move |v| v[0] < most || v[1] == 0);
}

/// What every completion costs at least, with the latency of memory and of the array.
fn model(vars: Vars, counted: &Arc<Counted>, [latency, crossed]: [u64; 2]) -> Model {
    let mut model = Model::new();
    let all = [vars.rows, vars.columns, vars.outer, vars.stationary];
    // How long queues work does not depend on the number of buffers.
    let busy = |scope: Vec<Var>, of: fn(&Busy) -> i64| {
        let counted = counted.clone();
        let at: Vec<usize> = all
            .iter()
            .enumerate()
            .filter_map(|(k, v)| scope.contains(v).then_some(k))
            .collect();
        Term::new(scope, move |values| {
            let mut key = [1, 1, 0, 0];
            for (&k, &value) in at.iter().zip(values) {
                key[k] = value;
            }
            counted.busy.get(&key).map_or(0, of).unsigned_abs()
        })
    };
    let Vars {
        rows,
        columns,
        outer,
        stationary,
        ..
    } = vars;
    let begins = Term::constant(latency);
    let ends = Term::constant(latency);
    let array = model.resource("the array");
    model.uses(array, "products", busy(vec![rows, stationary], |b| b.array));
    model.uses(array, "the first load", begins.clone());
    model.uses(array, "the last results", Term::constant(crossed));
    model.uses(array, "the last store", ends.clone());
    let load = model.resource("the load queue");
    let left = busy(vec![rows, columns, outer], |b| b.left);
    model.uses(load, "the left factor", left);
    let right = busy(vec![rows, columns, outer], |b| b.right);
    model.uses(load, "the right factor", right);
    model.uses(load, "what sums begin with", busy(vec![], |b| b.init));
    model.uses(load, "the last store", ends.clone());
    let store = model.resource("the store queue");
    model.uses(store, "results", busy(vec![], |b| b.store));
    model.uses(store, "the first load", begins.clone());
    let host = model.resource("the host");
    model.uses(host, "commands for products", busy(vec![rows], |b| b.host));
    model.uses(host, "the last store", ends);
    model
}

/// Runs the commands of a program; what they take, in cycles.
pub type Cycles<'a> = dyn Fn(&CommandProgram) -> Result<u64, String> + 'a;

/// Maps candidates and has their commands run.
pub struct Commander<'a> {
    /// The kernel.
    pub kernel: &'a Kernel,
    /// The values of sizes.
    pub sizes: &'a BTreeMap<Symbol, i64>,
    /// The machine.
    pub machine: &'a Machine,
    /// Who proves that stores do what is done to sums; the program that is taken in the end is
    /// mapped again and proved as a whole.
    pub prover: &'a Prover,
    /// What programs take.
    pub cycles: &'a Cycles<'a>,
}

impl Evaluate for Commander<'_> {
    fn cost(&mut self, _: &Space, values: &[i64]) -> Result<u64, String> {
        let constraints = Systolic::constraints(values);
        let program = propose(
            self.kernel,
            self.sizes,
            self.machine,
            self.prover,
            constraints,
        );
        let program = program.map_err(|wrong| {
            wrong
                .first()
                .map_or_else(String::new, |d| d.message.clone())
        })?;
        (self.cycles)(&program)
    }
}
