//! Schedules for machines with vector registers, such as AVX-512.
//!
//! In: a [`Nest`], what the machine has ([`Machine`]). Out: [`Vectors`]: a space, its model,
//! directives for candidates, and what a candidate costs once somebody has found the code for
//! its innermost statement.
//!
//! Choices: the loop whose iterations become lanes, and how many; the tail; how many iterations
//! of each loop run side by side; how many steps of the sum are one statement; the order of the
//! loops that do not add. What a statement costs is not known before its code is found, so that
//! the bound takes the least that any code can: an instruction makes one register of at most
//! three. Statements depend on lanes and steps alone, so few of them are ever looked for.
//!
//! Times are tenths of a cycle. Caches are bounded as registers of tiles are: what a round of
//! loops touches beyond the size of the cache comes from outside in every round.

use crate::completed::{completed, empty};
use crate::nest::{Loop, Nest, orders, reordered};
use autosched::bound::{Model, Term};
use autosched::space::{Candidate, Emptied, Space, Var};
use schedule::directive::{Directive, Located, Tail};
use semantics::diagnostic::Diagnostic;
use std::sync::Arc;

/// What bounds need to know of a machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Machine {
    /// Bits of a vector register.
    pub width: u32,
    /// Vector registers.
    pub registers: i64,
    /// Tenths of a cycle that one vector instruction takes a pipe, at least.
    pub instruction: u64,
    /// Tenths of a cycle between two loads of a whole register, and between two stores.
    pub load: u64,
    /// Between two stores.
    pub store: u64,
    /// Bytes of the first cache, and tenths of a cycle for 64 bytes from the next.
    pub cache: (u64, u64),
}

/// What the code of one execution of the innermost statement takes, in tenths of a cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Usage {
    /// The busiest pipes.
    pub pipes: u64,
    /// From the sum before to the sum after.
    pub chain: u64,
}

/// The statement that code is looked for: equal ones have equal code.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Statement {
    /// The loop whose iterations are lanes.
    pub vector: String,
    /// How many.
    pub lanes: i64,
    /// The loop of which steps are joined, and how many.
    pub steps: (String, i64),
}

impl Statement {
    /// The directives that make it of the loops as they are written.
    pub fn directives(&self) -> Vec<Directive> {
        let mut directives = vec![Directive::Vectorize {
            axis: self.vector.clone(),
            lanes: vector_lanes(self.lanes),
            tail: Tail::Mask,
        }];
        if self.steps.1 > 1 {
            directives.push(Directive::Unroll {
                axis: self.steps.0.clone(),
                by: Some(self.steps.1),
            });
        }
        directives
    }
}

fn vector_lanes(lanes: i64) -> u32 {
    u32::try_from(lanes).expect("lanes are at most those of two registers")
}

#[derive(Debug)]
struct Facts {
    machine: Machine,
    lengths: Vec<i64>,
    across: Vec<usize>,
    /// The innermost loop that adds.
    last: usize,
    /// Bits of an element of each array, and for each loop whether it moves it; target first.
    bits: Vec<u64>,
    moves: Vec<Vec<bool>>,
    /// Whether the innermost loop that adds runs from neighbour to neighbour of the array.
    along: Vec<bool>,
    /// For each array, the loops that move each dimension.
    dims: Vec<Vec<Vec<usize>>>,
    elements: u64,
    /// All orders of the loops that do not add.
    orders: Vec<Vec<usize>>,
}

/// A space for a kernel on a machine.
pub struct Vectors {
    /// The nest.
    pub nest: Nest,
    /// The choices.
    pub space: Space,
    /// What they cost at least, in tenths of a cycle.
    pub model: Model,
    facts: Arc<Facts>,
}

/// The most statements that are written out.
const MOST_COPIES: i64 = 64;

/// What becomes of iterations that do not fill a vector.
const TAILS: [Tail; 2] = [Tail::Scalar, Tail::Mask];

/// How many iterations run side by side, and how many steps are one statement.
const SIDE_BY_SIDE: [i64; 6] = [1, 2, 3, 4, 6, 8];
const STEPS: [i64; 4] = [1, 2, 4, 8];

/// A candidate's values, by what they mean.
struct Chosen<'a> {
    vector: usize,
    lanes: i64,
    tail: i64,
    steps: i64,
    /// By loops that do not add.
    jams: &'a [i64],
    order: &'a [usize],
}

impl<'a> Chosen<'a> {
    fn new(facts: &'a Facts, values: &'a [i64]) -> Chosen<'a> {
        let at = |n: usize| usize::try_from(values[n]).unwrap_or(0);
        let across = facts.across.len();
        Chosen {
            vector: facts.across[at(0)],
            lanes: values[1],
            tail: values[2],
            steps: values[3],
            jams: &values[4..4 + across],
            order: &facts.orders[at(4 + across)],
        }
    }
}

impl Facts {
    /// Rounds of the innermost statement: sums of `lanes` elements over `steps`.
    fn rounds(&self, c: &Chosen) -> u64 {
        let rounds = |l: usize| {
            let by = match l {
                _ if l == c.vector => c.lanes,
                _ if l == self.last => c.steps,
                _ => 1,
            };
            ((self.lengths[l] + by - 1) / by).unsigned_abs()
        };
        (0..self.lengths.len()).map(rounds).product()
    }

    /// Registers for the lanes of an array's elements.
    fn registers(&self, array: usize, lanes: i64) -> u64 {
        let bits = self.bits[array] * lanes.unsigned_abs();
        bits.div_ceil(u64::from(self.machine.width))
    }

    /// Rounds that run side by side.
    fn together(c: &Chosen) -> u64 {
        c.jams.iter().product::<i64>().unsigned_abs()
    }

    /// What the code for one round takes at least: it makes its registers of so many.
    fn least(&self, c: &Chosen) -> u64 {
        let sums = self.registers(0, c.lanes);
        let read = |a: usize| {
            let vectors = match self.moves[a][c.vector] {
                true => self.registers(a, c.lanes) * c.steps.unsigned_abs(),
                false if self.along[a] => 1,
                false => c.steps.unsigned_abs(),
            };
            vectors.max(1)
        };
        let all: u64 = sums + (1..self.bits.len()).map(read).sum::<u64>();
        let narrow = self.bits[0] * c.lanes.unsigned_abs() <= u64::from(self.machine.width) / 2;
        let each = if narrow {
            self.machine.instruction / 2
        } else {
            self.machine.instruction
        };
        (all - sums).div_ceil(2).max(sums) * each
    }

    /// Loads of an array: rounds side by side that it does not move with share them.
    fn loads(&self, c: &Chosen, array: usize) -> u64 {
        if !self.moves[array][self.last] {
            return 0;
        }
        let shared: i64 = self
            .across
            .iter()
            .zip(c.jams)
            .filter(|(l, _)| !self.moves[array][**l])
            .map(|(_, jam)| jam)
            .product();
        let half = self.machine.load / 2;
        let (loads, each) = match self.moves[array][c.vector] {
            true => {
                let bits = self.bits[array] * c.lanes.unsigned_abs();
                let narrow = bits <= u64::from(self.machine.width) / 2;
                let each = if narrow { half } else { self.machine.load };
                (
                    self.registers(array, c.lanes) * c.steps.unsigned_abs(),
                    each,
                )
            }
            false if self.along[array] => (1, half),
            false => (c.steps.unsigned_abs(), half),
        };
        self.rounds(c) * loads * each / shared.unsigned_abs()
    }

    /// Bytes from beyond the first cache, in lines, seen from inside so many loops.
    fn lines(&self, c: &Chosen, depth: usize) -> u64 {
        let mut levels: Vec<(usize, i64)> = c
            .order
            .iter()
            .map(|&k| {
                let l = self.across[k];
                let by = if l == c.vector { c.lanes } else { 1 } * c.jams[k];
                (l, (self.lengths[l] + by - 1) / by)
            })
            .collect();
        let inside = levels.split_off(depth);
        let rounds: i64 = levels.iter().map(|l| l.1).product();
        let mut counts = self.lengths.clone();
        for (k, &l) in self.across.iter().enumerate() {
            let block = if l == c.vector { c.lanes } else { 1 } * c.jams[k];
            counts[l] = match inside.iter().any(|i| i.0 == l) {
                true => self.lengths[l],
                false => block.min(self.lengths[l]),
            };
        }
        let bytes: u64 = (0..self.bits.len()).map(|a| self.touched(a, &counts)).sum();
        let (size, line) = self.machine.cache;
        let again = (rounds.unsigned_abs() - 1) * bytes.saturating_sub(size);
        (again + bytes) / 64 * line
    }

    /// Bytes of an array that are touched at least.
    fn touched(&self, array: usize, counts: &[i64]) -> u64 {
        let (mut all, mut used) = (self.bits[array] / 8, Vec::new());
        for movers in &self.dims[array] {
            let free = movers.iter().filter(|l| !used.contains(*l));
            if let Some(&most) = free.max_by_key(|l| counts[**l]) {
                all *= counts[most].unsigned_abs();
                used.push(most);
            }
        }
        all
    }
}

impl Vectors {
    /// The choices for a nest.
    ///
    /// # Errors
    /// What the kernel lacks.
    pub fn new(nest: Nest, machine: Machine) -> Result<Vectors, Diagnostic> {
        let facts = Arc::new(facts(&nest, machine).map_err(|message| {
            Diagnostic::error(message)
                .at(&nest.kernel.source, nest.kernel.span)
                .hint("write the schedule by hand")
        })?);
        let space = space(&nest, &facts);
        let model = model(&space, &facts);
        Ok(Vectors {
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
        let hint = "a schedule that is completed has `vectorize x by 16 tail mask`, `jam y by 4`, \
                    `unroll p by 2` and `interchange y, x`";
        let decides = |candidate: &Candidate, directive: &Directive| {
            let decided = self.decided(directive)?;
            let next = decided
                .into_iter()
                .try_fold(candidate.clone(), |c, (var, values)| {
                    self.space.restrict(&c, var, &values)
                });
            Some(next)
        };
        let empty = |emptied: &Emptied| self.empty(emptied);
        let kernel = &self.nest.kernel;
        completed(kernel, &self.space, directives, hint, &empty, &decides)
    }

    /// Why there is no candidate at all.
    pub fn empty(&self, emptied: &Emptied) -> Diagnostic {
        let hint = "a loop whose iterations become lanes writes neighbours, `c[.., x]`";
        empty(&self.nest.kernel, emptied, hint)
    }

    /// What a directive decides.
    fn decided(&self, directive: &Directive) -> Option<Vec<(Var, Vec<i64>)>> {
        let (facts, loops) = (&self.facts, &self.nest.loops);
        let at = |name: &str| loops.iter().position(|l| l.name == name);
        let across = |name: &str| {
            let l = at(name)?;
            facts.across.iter().position(|&k| k == l)
        };
        let var = |name: &str| self.space.find(name);
        match directive {
            Directive::Vectorize { axis, lanes, tail } => {
                let tail = TAILS.iter().position(|t| t == tail)?;
                let place = i64::try_from(across(axis)?).ok()?;
                Some(vec![
                    (var("vector loop")?, vec![place]),
                    (var("lanes")?, vec![i64::from(*lanes)]),
                    (var("tail")?, vec![i64::try_from(tail).ok()?]),
                ])
            }
            Directive::Jam { axis, by } => {
                Some(vec![(var(&format!("{axis} side by side"))?, vec![*by])])
            }
            Directive::Unroll { axis, by: Some(by) } if at(axis) == Some(facts.last) => {
                Some(vec![(var("steps")?, vec![*by])])
            }
            Directive::Interchange { outer, inner } => {
                let (outer, inner) = (across(inner)?, across(outer)?);
                let place = |order: &[usize], k: usize| order.iter().position(|&o| o == k);
                let right = (0..)
                    .zip(&facts.orders)
                    .filter(|(_, order)| place(order, outer) < place(order, inner))
                    .map(|(n, _)| n);
                Some(vec![(var("order of loops")?, right.collect())])
            }
            _ => None,
        }
    }

    /// The directives that make a candidate.
    pub fn directives(&self, values: &[i64]) -> Vec<Directive> {
        let (facts, loops) = (&self.facts, &self.nest.loops);
        let chosen = Chosen::new(facts, values);
        let name = |l: usize| loops[l].name.clone();
        let now: Vec<String> = facts.across.iter().map(|&l| name(l)).collect();
        let wanted: Vec<String> = chosen
            .order
            .iter()
            .map(|&k| name(facts.across[k]))
            .collect();
        let mut directives = reordered(now, &wanted);
        let jam = |l: usize| {
            let place = facts.across.iter().position(|&k| k == l);
            let by = place.map_or(1, |n| chosen.jams[n]);
            let axis = name(l);
            (by > 1).then_some(Directive::Jam { axis, by })
        };
        let others = facts.across.iter().filter(|&&l| l != chosen.vector);
        directives.extend(others.filter_map(|&l| jam(l)));
        let tail = usize::try_from(chosen.tail).unwrap_or(0);
        directives.push(Directive::Vectorize {
            axis: name(chosen.vector),
            lanes: vector_lanes(chosen.lanes),
            tail: TAILS[tail],
        });
        directives.extend(jam(chosen.vector));
        if chosen.steps > 1 {
            directives.push(Directive::Unroll {
                axis: name(facts.last),
                by: Some(chosen.steps),
            });
        }
        directives
    }

    /// The statement of a candidate.
    pub fn statement(&self, values: &[i64]) -> Statement {
        let chosen = Chosen::new(&self.facts, values);
        Statement {
            vector: self.nest.loops[chosen.vector].name.clone(),
            lanes: chosen.lanes,
            steps: (self.nest.loops[self.facts.last].name.clone(), chosen.steps),
        }
    }

    /// What a candidate costs whose statement has code that takes so much.
    pub fn cost(&self, values: &[i64], usage: Usage) -> u64 {
        let facts = &self.facts;
        let chosen = Chosen::new(facts, values);
        let rounds = facts.rounds(&chosen);
        let decided = self.space.start().and_then(|start| {
            let mut pairs = self.space.vars().zip(values);
            pairs.try_fold(start, |c, (v, &value)| self.space.restrict(&c, v, &[value]))
        });
        let bound = decided.map_or(0, |c| self.model.explain(&self.space, &c).value);
        let chain = rounds / Facts::together(&chosen).max(1) * usage.chain;
        bound.max(rounds * usage.pipes).max(chain)
    }
}

fn space(nest: &Nest, facts: &Arc<Facts>) -> Space {
    let mut space = Space::new();
    let name = |l: usize| nest.loops[l].name.as_str();
    let names: Vec<&str> = facts.across.iter().map(|&l| name(l)).collect();
    let vector = space.add_words("vector loop", &names);
    let widest = i64::from(facts.machine.width) / facts.bits[0].max(1).cast_signed();
    let lanes = space.add("lanes", [widest / 2, widest, 2 * widest]);
    let tail = space.add_words("tail", &TAILS.map(Tail::word));
    let fits = |most: i64| move |n: &i64| *n <= most;
    let steps = STEPS.into_iter().filter(fits(facts.lengths[facts.last]));
    let steps = space.add("steps", steps);
    let mut jams = Vec::new();
    for &l in &facts.across {
        let sizes = SIDE_BY_SIDE.into_iter().filter(fits(facts.lengths[l]));
        jams.push(space.add(format!("{} side by side", name(l)), sizes));
    }
    let all = &facts.orders;
    let words: Vec<String> = all
        .iter()
        .map(|order| {
            order
                .iter()
                .map(|&k| names[k])
                .collect::<Vec<_>>()
                .join(" ")
        })
        .collect();
    space.add_words(
        "order of loops",
        &words.iter().map(String::as_str).collect::<Vec<_>>(),
    );
    let (target, loops) = (nest.target.clone(), nest.loops.clone());
    let across = facts.across.clone();
    space.require(
        "lanes are neighbours in what is written",
        [vector],
        move |v| target.runs_along(loops[across[v[0].unsigned_abs() as usize]].var),
    );
    let (lengths, across) = (facts.lengths.clone(), facts.across.clone());
    space.require(
        "there are as many iterations as lanes side by side",
        [vector, lanes].into_iter().chain(jams.iter().copied()),
        move |v| {
            let place = v[0].unsigned_abs() as usize;
            v[1] * v[2 + place] <= lengths[across[place]]
        },
    );
    // A tail matters when there is one.
    let (lengths, across) = (facts.lengths.clone(), facts.across.clone());
    space.require(
        "a mask is for iterations that are left over",
        [vector, lanes, tail],
        move |v| v[2] == 1 || lengths[across[v[0].unsigned_abs() as usize]] % v[1] == 0,
    );
    // A masked vector adds to the one sum of its rows.
    let scope = [vector, tail].into_iter().chain(jams.iter().copied());
    space.require("masked vectors do not run side by side", scope, |v| {
        v[1] == 0 || v[2 + v[0].unsigned_abs() as usize] == 1
    });
    let copies = jams.iter().copied().chain([steps]);
    space.require(
        format!("at most {MOST_COPIES} statements are written out"),
        copies,
        |v| v.iter().product::<i64>() <= MOST_COPIES,
    );
    let room = facts.machine.registers;
    let name = format!("sums and what is added fit {room} registers");
    let everything: Vec<Var> = space.vars().collect();
    let facts = Arc::clone(facts);
    space.require(name, everything, move |v| {
        let c = Chosen::new(&facts, v);
        let sums = Facts::together(&c) * facts.registers(0, c.lanes);
        sums + 2 <= room.unsigned_abs()
    });
    space
}

/// What every completion costs at least.
fn model(space: &Space, facts: &Arc<Facts>) -> Model {
    let mut model = Model::new();
    let across = facts.across.len();
    let all: Vec<Var> = space.vars().collect();
    let any: Vec<i64> = all.iter().map(|&v| space.values(v)[0]).collect();
    type Amount = Box<dyn Fn(&Facts, &Chosen) -> u64 + Send + Sync>;
    // A term of the choices in these places.
    let term = |places: &[usize], amount: Amount| {
        let (facts, any, places) = (Arc::clone(facts), any.clone(), places.to_vec());
        let scope: Vec<Var> = places.iter().map(|&p| all[p]).collect();
        Term::new(scope, move |v| {
            let mut values = any.clone();
            for (&place, &value) in places.iter().zip(v) {
                values[place] = value;
            }
            amount(&facts, &Chosen::new(&facts, &values))
        })
    };
    let jams: Vec<usize> = (4..4 + across).collect();
    let with = |places: &[usize], last: &[usize]| [places, &jams, last].concat();
    let pipes = model.resource("the vector pipes");
    let least = term(&[0, 1, 3], Box::new(|f, c| f.rounds(c) * f.least(c)));
    model.uses(pipes, "the innermost statement, whatever its code", least);
    let loads = model.resource("the load ports");
    for array in 1..facts.bits.len() {
        let place = format!("loads of array {array}");
        let loaded = term(
            &with(&[0, 1, 3], &[]),
            Box::new(move |f, c| f.loads(c, array)),
        );
        model.uses(loads, place, loaded);
    }
    let chain = model.resource("the chain of sums");
    let waits = Box::new(|f: &Facts, c: &Chosen| f.rounds(c) / Facts::together(c).max(1) * 10);
    model.uses(
        chain,
        "one cycle for each step",
        term(&with(&[0, 1, 3], &[]), waits),
    );
    let stores = model.resource("the store port");
    let stored = Box::new(|f: &Facts, c: &Chosen| {
        f.elements / c.lanes.unsigned_abs() * f.registers(0, c.lanes) * f.machine.store
    });
    model.uses(stores, "results", term(&[1], stored));
    for depth in 0..across {
        let seen = match depth {
            0 => "the whole".to_owned(),
            n => format!("a round of the {n} outermost loops"),
        };
        let cache = model.resource(format!("the second cache, seen from {seen}"));
        let lines = Box::new(move |f: &Facts, c: &Chosen| f.lines(c, depth));
        model.uses(cache, "lines", term(&with(&[0, 1], &[4 + across]), lines));
    }
    model
}

fn facts(nest: &Nest, machine: Machine) -> Result<Facts, String> {
    let numbers = 0..nest.loops.len();
    let (across, along): (Vec<usize>, Vec<usize>) = numbers.partition(|&l| !nest.loops[l].adds);
    let last = *along.last().ok_or("no loop adds anything up")?;
    if across.is_empty() || along.first() < across.last() {
        return Err("the loops that add are expected inside of those that do not".to_owned());
    }
    let arrays: Vec<_> = std::iter::once(&nest.target).chain(&nest.sources).collect();
    let moved = |l: &Loop, d: &kernel::index::Linear| d.coefficient(l.var) != 0;
    let each = arrays.iter();
    Ok(Facts {
        machine,
        lengths: nest.loops.iter().map(|l| l.length).collect(),
        last,
        bits: each
            .clone()
            .map(|a| u64::from(nest.kernel.arrays[a.array].elem.bits()))
            .collect(),
        moves: each
            .clone()
            .map(|a| nest.loops.iter().map(|l| a.moves_with(l.var)).collect())
            .collect(),
        along: each
            .clone()
            .map(|a| a.runs_along(nest.loops[last].var))
            .collect(),
        dims: each
            .map(|a| {
                let movers = |d| {
                    let moving = |l: &usize| moved(&nest.loops[*l], d);
                    (0..nest.loops.len()).filter(moving).collect()
                };
                a.index.iter().map(movers).collect()
            })
            .collect(),
        elements: across
            .iter()
            .map(|&l| nest.loops[l].length.unsigned_abs())
            .product(),
        orders: orders(across.len()),
        across,
    })
}
