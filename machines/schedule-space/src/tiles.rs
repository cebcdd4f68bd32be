//! Schedules for machines with tile registers, such as RVM.
//!
//! In: a [`Nest`], a machine. Out: [`Tiles`]: a space, its model, directives for candidates.
//!
//! Choices: which loops go down the rows, along the columns and into the depth of a tile; how
//! many tiles a block of results has in each loop, whose registers stay filled while the block
//! is summed; the order of blocks, of the steps that are summed, and of the tiles in a step.
//!
//! The model knows loads, stores, products and instructions of the host. What is loaded is
//! bounded at every depth of the nest: when a round of the loops inside touches more windows than
//! there are registers, the rest has to be loaded in each round, however registers are assigned.

use crate::completed::{completed, empty};
use crate::nest::{Begins, Loop, Nest, Touched, divisors, orders, reordered};
use autosched::bound::{Model, Term};
use autosched::search::Evaluate;
use autosched::space::{Candidate, Emptied, Space, Var};
use kernel::index::Symbol;
use schedule::Scheduled;
use schedule::directive::{Directive, Located};
use semantics::diagnostic::Diagnostic;
use semantics::machine::{Machine, MachineInstruction, OperandKind, Unit};
use smt::prover::Prover;
use std::collections::BTreeMap;
use std::sync::Arc;
use tile::loop_codegen::Blocks;
use tile::program::TileProgram;

/// Registers that a product needs besides those of open results: one for each factor.
const FACTORS: i64 = 2;

/// What the machine and the kernel say that bounds depend on.
#[derive(Clone, Debug)]
struct Facts {
    /// Lengths of all loops.
    lengths: Vec<i64>,
    /// The loops that do not add, and those that do.
    across: Vec<usize>,
    along: Vec<usize>,
    /// All orders of those that do not add, and of those that do.
    orders: (Vec<Vec<usize>>, Vec<Vec<usize>>),
    /// For each array, the target first, the loops that move each dimension.
    arrays: Vec<Vec<Vec<usize>>>,
    /// Whether the target is set to zero before, and so never loaded.
    from_zero: bool,
    rows: i64,
    columns: i64,
    depth: i64,
    registers: i64,
    in_flight: u64,
    issue: u64,
    /// Cycles that a unit is busy, and cycles until a result is there.
    product: (u64, u64),
    load: (u64, u64),
    store: (u64, u64),
    zero: (u64, u64),
}

/// A loop of the nest that is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Level {
    /// Which of the kernel's loops.
    of: usize,
    /// How often it runs.
    count: i64,
}

/// A space for a kernel on a machine.
pub struct Tiles {
    /// The nest.
    pub nest: Nest,
    /// The choices.
    pub space: Space,
    /// What they cost at least, in cycles.
    pub model: Model,
    facts: Arc<Facts>,
}

impl Tiles {
    /// The choices for a nest.
    ///
    /// # Errors
    /// What the machine or the kernel lacks.
    pub fn new(nest: Nest, machine: &Machine) -> Result<Tiles, Diagnostic> {
        let facts = Arc::new(facts(&nest, machine).map_err(|message| {
            Diagnostic::error(message)
                .at(&nest.kernel.source, nest.kernel.span)
                .hint(
                    "`isaforge map` without `--schedule auto` takes what a schedule by hand makes",
                )
        })?);
        let space = space(&nest, &facts);
        let model = model(&space, &facts);
        Ok(Tiles {
            nest,
            space,
            model,
            facts,
        })
    }

    /// The candidate in which everything is as a kernel's own directives say, and the rest open.
    ///
    /// # Errors
    /// A directive that is no choice here, or that leaves no candidate.
    pub fn restricted(&self, directives: &[Located]) -> Result<Candidate, Diagnostic> {
        let hint = "a schedule that is completed has `split x by 16 into b` for the size of a block \
                    in a loop that does not add, and `interchange y, x`";
        let decides = |candidate: &Candidate, directive: &Directive| match directive {
            Directive::Split { axis, by, .. } => {
                let var = self.space.find(&format!("block of {axis}"))?;
                Some(self.space.restrict(candidate, var, &[*by]))
            }
            Directive::Interchange { outer, inner } => self.inside(candidate, inner, outer),
            _ => None,
        };
        let empty = |emptied: &Emptied| self.empty(emptied);
        let kernel = &self.nest.kernel;
        completed(kernel, &self.space, directives, hint, &empty, &decides)
    }

    /// Why there is no candidate at all.
    pub fn empty(&self, emptied: &Emptied) -> Diagnostic {
        let hint =
            "pad the arrays so that loops are multiples of a tile, or take another loop for it";
        empty(&self.nest.kernel, emptied, hint)
    }

    /// The candidate in which one loop is outside of another wherever both are ordered.
    fn inside(
        &self,
        c: &Candidate,
        outer: &str,
        inner: &str,
    ) -> Option<Result<Candidate, Emptied>> {
        let (facts, loops) = (&self.facts, &self.nest.loops);
        let at = |name: &str| loops.iter().position(|l| l.name == name);
        let (outer, inner) = (at(outer)?, at(inner)?);
        let both = |of: &[usize]| of.contains(&outer) && of.contains(&inner);
        let (blocks, steps) = (&facts.orders.0, &facts.orders.1);
        let (names, of, orders): (&[&str], _, _) = match (both(&facts.across), both(&facts.along)) {
            (true, _) => (
                &["order of blocks", "order of tiles"],
                &facts.across,
                blocks,
            ),
            (_, true) => (&["order of steps"], &facts.along, steps),
            _ => return None,
        };
        let place = |order: &[usize], l: usize| order.iter().position(|&k| of[k] == l);
        let right: Vec<i64> = (0..)
            .zip(orders)
            .filter(|(_, order)| place(order, outer) < place(order, inner))
            .map(|(n, _)| n)
            .collect();
        let vars: Option<Vec<Var>> = names.iter().map(|n| self.space.find(n)).collect();
        let next = vars?
            .into_iter()
            .try_fold(c.clone(), |c, v| self.space.restrict(&c, v, &right));
        Some(next)
    }

    /// The directives that make a candidate.
    pub fn directives(&self, values: &[i64]) -> Vec<Directive> {
        let (facts, loops) = (&self.facts, &self.nest.loops);
        let chosen = Chosen::new(facts, values);
        let name = |l: usize| loops[l].name.clone();
        let mut lines = Vec::new();
        let (mut now, mut blocks) = (Vec::new(), BTreeMap::new());
        for (l, of) in loops.iter().enumerate() {
            let size = chosen.block(l);
            self.split(
                l,
                (size, of.length),
                "block",
                &mut blocks,
                &mut lines,
                &mut now,
            );
            now.push(name(l));
        }
        let mut wanted = named(&facts.across, chosen.outer, &blocks);
        if facts.from_zero {
            let across = now.len() - facts.along.len();
            lines.extend(reordered(now[..across].to_vec(), &wanted));
            now = moved(now, &wanted);
            lines.extend(self.apart(&chosen, &blocks));
        }
        let (mut inside, mut tiles) = (Vec::new(), BTreeMap::new());
        for outer in now {
            let l = loops.iter().position(|of| of.name == outer);
            if let Some(l) = l.filter(|l| blocks.get(l) != Some(&outer)) {
                let sizes = (chosen.tile(l), chosen.block(l));
                self.split(l, sizes, "tile", &mut tiles, &mut lines, &mut inside);
            }
            inside.push(outer);
        }
        wanted.extend(named(&facts.along, chosen.steps, &tiles));
        wanted.extend(named(&facts.across, chosen.inner, &tiles));
        let axes = [chosen.row, chosen.column, chosen.depth];
        wanted.extend(axes.map(name));
        lines.extend(reordered(inside, &wanted));
        lines
    }

    /// A loop over pieces of a loop: the loop itself where they are single iterations, and none
    /// where the loop is one piece.
    fn split(
        &self,
        l: usize,
        (size, length): (i64, i64),
        suffix: &str,
        made: &mut BTreeMap<usize, String>,
        lines: &mut Vec<Directive>,
        now: &mut Vec<String>,
    ) {
        let name = &self.nest.loops[l].name;
        if size == 1 && length > 1 {
            made.insert(l, name.clone());
        } else if size < length {
            let fresh = fresh(&self.nest.loops, name, suffix);
            lines.push(Directive::Split {
                axis: name.clone(),
                by: size,
                into: fresh.clone(),
            });
            made.insert(l, fresh.clone());
            now.push(fresh);
        }
    }

    /// The zeros of a block in loops of their own, before the loops that add.
    fn apart(&self, chosen: &Chosen, blocks: &BTreeMap<usize, String>) -> Vec<Directive> {
        let (facts, loops) = (&self.facts, &self.nest.loops);
        let name = |l: usize| &loops[l].name;
        let across = facts.across.iter().copied();
        let inside: Vec<usize> = across.filter(|l| blocks.get(l) != Some(name(*l))).collect();
        let mut lines = Vec::new();
        let mut first = self.nest.kernel.arrays[self.nest.target.array].name.clone();
        let (mut now, mut tiles) = (Vec::new(), BTreeMap::new());
        for &l in inside.iter().rev() {
            let zero = fresh(loops, name(l), "zero");
            lines.push(Directive::Fission {
                axis: name(l).clone(),
                after: first,
                into: Some((zero.clone(), name(l).clone())),
            });
            first = zero;
        }
        for &l in &inside {
            let zero = fresh(loops, name(l), "zero");
            let (tile, block) = (chosen.tile(l), chosen.block(l));
            if tile == 1 && block > 1 {
                tiles.insert(l, zero.clone());
            } else if tile < block {
                let outer = format!("{zero}_tile");
                lines.push(Directive::Split {
                    axis: zero.clone(),
                    by: tile,
                    into: outer.clone(),
                });
                tiles.insert(l, outer.clone());
                now.push(outer);
            }
            now.push(zero);
        }
        let mut wanted = named(&facts.across, chosen.inner, &tiles);
        wanted.extend([chosen.row, chosen.column].map(|l| fresh(loops, name(l), "zero")));
        lines.extend(reordered(now, &wanted));
        lines
    }
}

/// The names of loops in an order, of those that there are.
fn named(of: &[usize], order: &[usize], made: &BTreeMap<usize, String>) -> Vec<String> {
    order
        .iter()
        .filter_map(|&k| made.get(&of[k]).cloned())
        .collect()
}

/// Names with some of them first.
fn moved(names: Vec<String>, first: &[String]) -> Vec<String> {
    let rest = names.into_iter().filter(|n| !first.contains(n));
    first.iter().cloned().chain(rest).collect()
}

/// A name for a new loop.
fn fresh(loops: &[Loop], name: &str, suffix: &str) -> String {
    let mut fresh = format!("{name}_{suffix}");
    while loops.iter().any(|l| l.name == fresh) {
        fresh.push('s');
    }
    fresh
}

/// A candidate's values, by what they mean.
struct Chosen<'a> {
    facts: &'a Facts,
    row: usize,
    column: usize,
    depth: usize,
    blocks: &'a [i64],
    outer: &'a [usize],
    steps: &'a [usize],
    inner: &'a [usize],
}

impl<'a> Chosen<'a> {
    /// From the values of all choices, in the space's order.
    fn new(facts: &'a Facts, values: &'a [i64]) -> Chosen<'a> {
        let at = |n: usize| usize::try_from(values[n]).unwrap_or(0);
        let across = facts.across.len();
        Chosen {
            facts,
            row: facts.across[at(0)],
            column: facts.across[at(1)],
            depth: facts.along[at(2)],
            blocks: &values[3..3 + across],
            outer: &facts.orders.0[at(3 + across)],
            steps: &facts.orders.1[at(4 + across)],
            inner: &facts.orders.0[at(5 + across)],
        }
    }

    /// Iterations of a loop in a block of results; of one that adds, all.
    fn block(&self, l: usize) -> i64 {
        let place = self.facts.across.iter().position(|&k| k == l);
        place.map_or(self.facts.lengths[l], |n| self.blocks[n])
    }

    /// Iterations of a loop in a tile.
    fn tile(&self, l: usize) -> i64 {
        match l {
            _ if l == self.row => self.facts.rows,
            _ if l == self.column => self.facts.columns,
            _ if l == self.depth => self.facts.depth,
            _ => 1,
        }
    }

    /// The loops over tiles, the outermost first: blocks, steps, tiles of a step.
    fn levels(&self) -> Vec<Level> {
        let facts = self.facts;
        let outer = self.outer.iter().map(|&k| facts.across[k]).map(|of| Level {
            of,
            count: facts.lengths[of] / self.block(of),
        });
        let steps = self.steps.iter().map(|&k| facts.along[k]).map(|of| Level {
            of,
            count: facts.lengths[of] / self.tile(of),
        });
        let inner = self.inner.iter().map(|&k| facts.across[k]).map(|of| Level {
            of,
            count: self.block(of) / self.tile(of),
        });
        outer.chain(steps).chain(inner).collect()
    }
}

impl Facts {
    /// Different windows of an array that loops touch, at least: in each dimension those of one
    /// loop, and each loop for one dimension.
    fn distinct(&self, array: usize, loops: &[Level]) -> u64 {
        let mut counts = vec![1_i64; self.lengths.len()];
        for level in loops {
            counts[level.of] *= level.count;
        }
        let (mut all, mut used) = (1_u64, Vec::new());
        for movers in &self.arrays[array] {
            let free = movers.iter().filter(|l| !used.contains(*l));
            if let Some(&most) = free.max_by_key(|l| counts[**l]) {
                all = all.saturating_mul(counts[most].unsigned_abs());
                used.push(most);
            }
        }
        all
    }

    /// Loads and stores, seen from a depth: a round of the loops inside touches so many windows,
    /// and finds at most as many of them in registers as can have stayed there.
    fn moves(&self, levels: &[Level], depth: usize) -> (u64, u64) {
        let rounds: i64 = levels[..depth].iter().map(|l| l.count).product();
        let rounds = rounds.unsigned_abs();
        let touched = |a: usize| rounds.saturating_mul(self.distinct(a, &levels[depth..]));
        let sources = 1..self.arrays.len();
        let once: u64 = sources.clone().map(|a| self.distinct(a, levels)).sum();
        let all: u64 = sources.map(touched).sum();
        let results = self.distinct(0, levels);
        let stayed = (rounds - 1).saturating_mul(self.stays(levels, depth));
        let read = once.max(all.saturating_sub(stayed));
        let loaded = if self.from_zero { read } else { read + results };
        (loaded, results)
    }

    /// How many windows of factors can stay in registers from one round to the next.
    ///
    /// From one block to the next, a window of any step but the last has to be there beside all
    /// open results and the factors when the last step of the one begins; a window of the last
    /// step, when the step before it ends in the other.
    fn stays(&self, levels: &[Level], depth: usize) -> u64 {
        let (across, along) = (self.across.len(), self.along.len());
        let (steps, tiles) = levels[across..].split_at(along);
        let many = steps.iter().map(|l| l.count).product::<i64>() > 1;
        let moved = |dims: &Vec<Vec<usize>>| {
            let moves = |l: &Level| l.count == 1 || dims.iter().any(|d| d.contains(&l.of));
            steps.iter().all(moves)
        };
        if depth > across || !many || !self.arrays[1..].iter().all(moved) {
            return self.registers.unsigned_abs();
        }
        let open = tiles.iter().map(|l| l.count).product::<i64>();
        let beside = (self.registers - open - FACTORS).max(0).unsigned_abs();
        let step: u64 = (1..self.arrays.len())
            .map(|a| self.distinct(a, tiles))
            .sum();
        beside + beside.min(step)
    }

    fn products(&self, levels: &[Level]) -> u64 {
        levels
            .iter()
            .map(|l| l.count)
            .product::<i64>()
            .unsigned_abs()
    }

    /// Tiles that are set to zero.
    fn zeros(&self, levels: &[Level]) -> u64 {
        if self.from_zero {
            self.distinct(0, levels)
        } else {
            0
        }
    }

    /// Addresses that the host computes: each window has another, and where its array begins one
    /// is handed over.
    fn addresses(&self, levels: &[Level]) -> u64 {
        (0..self.arrays.len())
            .map(|a| self.distinct(a, levels).saturating_sub(1))
            .sum()
    }

    /// Results that are open at once: those of a block, when it is summed in several steps.
    fn open(&self, chosen: &Chosen) -> i64 {
        let levels = chosen.levels();
        let (across, along) = (self.across.len(), self.along.len());
        let steps: i64 = levels[across..across + along]
            .iter()
            .map(|l| l.count)
            .product();
        let tiles: i64 = levels[across + along..].iter().map(|l| l.count).product();
        if steps > 1 { tiles } else { 1 }
    }
}

fn space(nest: &Nest, facts: &Arc<Facts>) -> Space {
    let mut space = Space::new();
    let names =
        |of: &[usize]| -> Vec<&str> { of.iter().map(|&l| nest.loops[l].name.as_str()).collect() };
    let row = space.add_words("row loop", &names(&facts.across));
    let column = space.add_words("column loop", &names(&facts.across));
    let depth = space.add_words("depth loop", &names(&facts.along));
    let blocks: Vec<Var> = facts
        .across
        .iter()
        .map(|&l| {
            let mut sizes = divisors(facts.lengths[l]);
            sizes.truncate(autosched::space::MOST_VALUES);
            space.add(format!("block of {}", nest.loops[l].name), sizes)
        })
        .collect();
    let mut order = |name: &str, of: &[usize]| {
        let words: Vec<String> = orders(of.len())
            .iter()
            .map(|order| {
                let names: Vec<&str> = order
                    .iter()
                    .map(|&k| nest.loops[of[k]].name.as_str())
                    .collect();
                names.join(" ")
            })
            .collect();
        space.add_words(name, &words.iter().map(String::as_str).collect::<Vec<_>>())
    };
    order("order of blocks", &facts.across);
    order("order of steps", &facts.along);
    order("order of tiles", &facts.across);
    axes(&mut space, nest, facts, [row, column, depth]);
    for (place, &var) in blocks.iter().enumerate() {
        let tiles = [
            (row, facts.rows, "rows"),
            (column, facts.columns, "columns"),
        ];
        for (axis, count, what) in tiles {
            let name = format!("a block is a multiple of the {count} {what} of a tile");
            space.require(name, [axis, var], move |v| {
                v[0] != place as i64 || v[1] % count == 0
            });
        }
    }
    let room = facts.registers - FACTORS;
    let name = format!(
        "the results of a block leave {FACTORS} of {} registers",
        facts.registers
    );
    let all: Vec<Var> = space.vars().collect();
    let facts = Arc::clone(facts);
    space.require(name, all, move |v| {
        facts.open(&Chosen::new(&facts, v)) <= room
    });
    space
}

/// Which loops can be the rows, the columns and the depth of a tile.
fn axes(space: &mut Space, nest: &Nest, facts: &Arc<Facts>, [row, column, depth]: [Var; 3]) {
    space.require("rows and columns are different loops", [row, column], |v| {
        v[0] != v[1]
    });
    let loops = |of: &[usize]| -> Vec<Loop> { of.iter().map(|&l| nest.loops[l].clone()).collect() };
    let (across, along) = (loops(&facts.across), loops(&facts.along));
    let target = nest.target.clone();
    let these = across.clone();
    space.require(
        "columns lie together in what is written",
        [column],
        move |v| target.runs_along(these[v[0].unsigned_abs() as usize].var),
    );
    let sources = nest.sources.clone();
    let these = along.clone();
    space.require(
        "what is summed lies together in what is read",
        [depth],
        move |v| {
            let var = these[v[0].unsigned_abs() as usize].var;
            sources.iter().all(|s| s.runs_along(var))
        },
    );
    let lengths = [
        (row, across.clone(), facts.rows, "down the rows"),
        (column, across, facts.columns, "along the columns"),
        (depth, along, facts.depth, "into the depth"),
    ];
    for (axis, loops, tile, what) in lengths {
        let name = format!("the loop {what} of a tile runs a multiple of {tile} times");
        space.require(name, [axis], move |v| {
            loops[v[0].unsigned_abs() as usize].length % tile == 0
        });
    }
}

/// What every completion costs at least.
fn model(space: &Space, facts: &Arc<Facts>) -> Model {
    let mut model = Model::new();
    let all: Vec<Var> = space.vars().collect();
    let term = |amount: fn(&Facts, &[Level], usize) -> u64, depth: usize| {
        let facts = Arc::clone(facts);
        Term::new(all.iter().copied(), move |v| {
            amount(&facts, &Chosen::new(&facts, v).levels(), depth)
        })
    };
    let array = model.resource("the array");
    model.uses(
        array,
        "products",
        term(|f, l, _| f.products(l) * f.product.0, 0),
    );
    let (across, along) = (facts.across.len(), facts.along.len());
    for depth in 0..2 * across + along {
        let seen = match depth {
            0 => "the whole".to_owned(),
            n if n < across => format!("a round of the {n} outermost loops over blocks"),
            n if n == across => "a block".to_owned(),
            n if n <= across + along => format!("{} loops of steps inside a block", n - across),
            n => format!("{} loops of tiles inside a step", n - across - along),
        };
        let memory = model.resource(format!("memory, seen from {seen}"));
        model.uses(
            memory,
            "loads",
            term(|f, l, d| f.moves(l, d).0 * f.load.0, depth),
        );
        model.uses(
            memory,
            "stores",
            term(|f, l, d| f.moves(l, d).1 * f.store.0, depth),
        );
        let host = model.resource(format!("the host, seen from {seen}"));
        model.uses(
            host,
            "products",
            term(|f, l, _| f.products(l) * f.issue, depth),
        );
        model.uses(
            host,
            "loads",
            term(|f, l, d| f.moves(l, d).0 * f.issue, depth),
        );
        model.uses(
            host,
            "stores",
            term(|f, l, d| f.moves(l, d).1 * f.issue, depth),
        );
        model.uses(host, "zeros", term(|f, l, _| f.zeros(l) * f.issue, depth));
        model.uses(
            host,
            "addresses",
            term(|f, l, _| f.addresses(l) * f.issue, depth),
        );
        let flight = model.resource(format!("what may be under way, seen from {seen}"));
        let waits = |f: &Facts, l: &[Level], d: usize| {
            let (loads, stores) = f.moves(l, d);
            let moved = loads * f.load.1 + stores * f.store.1;
            (moved + f.products(l) * f.product.1 + f.zeros(l) * f.zero.1) / f.in_flight
        };
        model.uses(flight, "loads, stores, products, zeros", term(waits, depth));
    }
    model
}

fn facts(nest: &Nest, machine: &Machine) -> Result<Facts, String> {
    let file = machine
        .files
        .iter()
        .enumerate()
        .find(|(_, f)| f.row < f.width);
    let (tiles, file) = file.ok_or_else(|| format!("{} has no tiles", machine.isa))?;
    let bits = |touched: &Touched| nest.kernel.arrays[touched.array].elem.bits();
    let [first, second] = &nest.sources[..] else {
        return Err("a sum of products of two arrays was expected".to_owned());
    };
    if nest.in_register || nest.begins == Begins::Otherwise {
        return Err(
            "sums in an array that begin with zero or with what it holds were expected".to_owned(),
        );
    }
    if bits(first) != bits(second) {
        return Err("the factors have different widths".to_owned());
    }
    let (across, along): (Vec<usize>, Vec<usize>) =
        (0..nest.loops.len()).partition(|&l| !nest.loops[l].adds);
    if across.len() < 2 || along.is_empty() {
        return Err("a product of tiles has rows, columns and a depth".to_owned());
    }
    let inside = across.last() < along.first();
    if matches!(nest.begins, Begins::Zero(depth) if depth != across.len() || !inside) {
        return Err("results are set to zero just outside of the loops that add".to_owned());
    }
    let moves = |touched: &Touched| {
        let movers = |d: usize| {
            let moved = |l: &usize| touched.index[d].coefficient(nest.loops[*l].var) != 0;
            (0..nest.loops.len()).filter(moved).collect()
        };
        (0..touched.index.len()).map(movers).collect()
    };
    let kinds = Kinds { machine, tiles };
    let least = |kind: fn(&Kinds, &MachineInstruction) -> bool| kinds.least(kind);
    Ok(Facts {
        lengths: nest.loops.iter().map(|l| l.length).collect(),
        orders: (orders(across.len()), orders(along.len())),
        across,
        along,
        arrays: [&nest.target, first, second].map(moves).into(),
        from_zero: nest.begins != Begins::AsItIs,
        rows: i64::from(file.width / file.row),
        columns: i64::from(file.row / bits(&nest.target)),
        depth: i64::from(file.row / bits(first)),
        registers: i64::from(file.count),
        in_flight: tile::map::in_flight(machine).max(1) as u64,
        issue: machine.issue,
        product: least(|k, i| k.tiles(i) > 1),
        load: least(|k, i| k.tiles(i) == 1 && k.scalars(i) && k.written(i)),
        store: least(|k, i| k.tiles(i) == 1 && k.scalars(i) && !k.written(i)),
        zero: least(|k, i| k.tiles(i) == 1 && !k.scalars(i)),
    })
}

/// Instructions by what they are on.
struct Kinds<'a> {
    machine: &'a Machine,
    tiles: usize,
}

impl Kinds<'_> {
    fn of_tiles<'i>(&self, i: &'i MachineInstruction) -> impl Iterator<Item = bool> + 'i {
        let tiles = self.tiles;
        i.operands.iter().filter_map(move |o| match o.kind {
            OperandKind::Register { file, written, .. } if file == tiles => Some(written),
            _ => None,
        })
    }

    fn tiles(&self, i: &MachineInstruction) -> usize {
        self.of_tiles(i).count()
    }

    fn scalars(&self, i: &MachineInstruction) -> bool {
        i.operands.len() > self.tiles(i)
    }

    fn written(&self, i: &MachineInstruction) -> bool {
        self.of_tiles(i).any(|written| written)
    }

    /// The least cycles and latency of instructions of a kind; what no unit does is free.
    fn least(&self, kind: fn(&Kinds, &MachineInstruction) -> bool) -> (u64, u64) {
        let of_kind = |u: &&Unit| {
            u.instructions
                .iter()
                .any(|&k| kind(self, &self.machine.instructions[k]))
        };
        let units = self.machine.units.iter().filter(of_kind);
        let least = units
            .map(|u| (u.cycles, u.latency))
            .reduce(|a, b| (a.0.min(b.0), a.1.min(b.1)));
        least.unwrap_or((0, 0))
    }
}

/// Maps candidates: what they cost is what the program takes in the machine's own model.
pub struct Mapper<'a> {
    /// The choices.
    pub tiles: &'a Tiles,
    /// The values of sizes.
    pub sizes: &'a BTreeMap<Symbol, i64>,
    /// The machine.
    pub machine: &'a Machine,
    /// Who proves that blocks are instructions.
    pub prover: &'a Prover,
    /// Its tile instructions, and what was found out of blocks.
    pub blocks: &'a Blocks,
    /// Where the arrays of a program lie.
    pub addresses: &'a dyn Fn(&TileProgram) -> Vec<i64>,
    /// What was mapped before, by directives.
    pub known: BTreeMap<Vec<Directive>, Result<u64, String>>,
}

impl Mapper<'_> {
    /// The kernel with the schedule of a candidate applied.
    ///
    /// # Errors
    /// What is refused of the schedule.
    pub fn scheduled(&self, values: &[i64]) -> Result<Scheduled, Vec<Diagnostic>> {
        schedule::apply_directives(&self.tiles.nest.kernel, &self.tiles.directives(values))
    }

    fn cycles(&self, directives: &[Directive]) -> Result<u64, String> {
        let first = |wrong: Vec<Diagnostic>| {
            wrong
                .first()
                .map_or_else(String::new, |d| d.message.clone())
        };
        let scheduled = schedule::apply_directives(&self.tiles.nest.kernel, directives);
        let mapped =
            |s: Scheduled| tile::map::map((&s, self.blocks), self.sizes, self.machine, self.prover);
        let program = scheduled.and_then(mapped).map_err(first)?;
        let placed = program.place(self.machine, &(self.addresses)(&program))?;
        let in_flight = tile::map::in_flight(self.machine);
        Ok(tile::cost::cycles(self.machine, &placed.code, in_flight).total)
    }
}

impl Evaluate for Mapper<'_> {
    fn cost(&mut self, _: &Space, values: &[i64]) -> Result<u64, String> {
        let directives = self.tiles.directives(values);
        if let Some(known) = self.known.get(&directives) {
            return known.clone();
        }
        let cost = self.cycles(&directives);
        self.known.insert(directives, cost.clone());
        cost
    }
}
