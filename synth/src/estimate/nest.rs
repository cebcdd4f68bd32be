//! What a lowered kernel costs at some sizes, before any C compiler has seen it.
//!
//! In: a lowered kernel, for each window its program with what its values take by the
//! [`Estimator`], values of sizes, the target. Out: tenths of a cycle. A round of a loop takes as long as the resource that it
//! needs most, or as the chain of what it carries to the next round; equal values are computed
//! once in a round, and outside of the loops that do not change them, as a C compiler does it. To
//! that the time is added in which lines come from further caches. It knows no code but the
//! programs: windows without one count by their expressions.

use super::{Estimator, LOADS, STORES, WindowInput};
use crate::operations::TargetOperations;
use autoir::program::{Argument, Node, Program, Value};
use kernel::index::{Index, Symbol};
use kernel::tree::{Access, Expr, ExprKind, Id};
use lowering::window::{Loop, Lowered, LoweredNode, Source, Store, Window};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use target::processor::Processor;

/// For how long which resources are taken.
type Taken = Vec<(Option<String>, f64)>;

/// The program of a window and what it takes.
pub struct Code {
    /// The program.
    pub program: Program,
    /// What its values take of which resources, operands first.
    demands: Vec<(Value, Taken)>,
    /// Names of the inputs, in the order of the window's.
    inputs: Vec<String>,
    /// From what a window adds to, to the result.
    chain: f64,
}

impl Code {
    /// A program of a target for a window.
    pub fn new(window: &Window, program: Program, operations: &TargetOperations) -> Code {
        let mut demands = Vec::new();
        let inputs = WindowInput::of(window);
        operations.estimated(&program, &inputs, |e: &Estimator<'_>| {
            e.demands(&program, &program.outputs, &mut |value, demand| {
                let taken = demand.taken.iter().filter(|(_, time)| *time > 0);
                let taken = taken.map(|(name, time)| (name.map(str::to_owned), f64::from(*time)));
                demands.push((value, taken.collect()));
            });
        });
        let carried = added_to(window).map(|name| WindowInput {
            name: name.to_owned(),
            width: 0,
            in_memory: false,
            held: false,
            chains: 1,
        });
        let chain = carried.map_or(0, |input| operations.usage(&program, &[input]).chain);
        Code {
            demands,
            inputs: inputs.into_iter().map(|input| input.name).collect(),
            chain: f64::from(chain),
            program,
        }
    }
}

/// The input that holds the sum so far, of a window that adds to it.
fn added_to(window: &Window) -> Option<&str> {
    let same = |source: &Source| match (source, &window.store) {
        (Source::Register(from), Store::Register(to)) => from == to,
        (Source::Array(from), Store::Array(to)) => from == to,
        _ => false,
    };
    let input = window.inputs.iter().find(|i| same(&i.source))?;
    Some(&input.name)
}

/// What the model knows of the target.
#[derive(Clone, Copy)]
struct Figures<'a> {
    processor: &'a Processor,
    /// Vector registers.
    registers: usize,
    /// Bits of the widest.
    width: u32,
}

/// What a kernel costs.
pub fn cost(
    lowered: &Lowered,
    windows: &[Window],
    codes: &[Option<&Code>],
    sizes: &BTreeMap<Symbol, i64>,
    operations: &TargetOperations,
) -> u64 {
    let mut walk = Walk::new(lowered, (windows, codes), operations);
    walk.values = sizes.iter().map(|(&s, &v)| (s, v)).collect();
    let time = walk.all() + walk.lines();
    time.min(1e15) as u64
}

/// What a kernel costs whose loops all have one round, wherever its data lie: for two ways to compute
/// the same in the same loops.
pub fn cost_of_rounds(
    lowered: &Lowered,
    windows: &[Window],
    codes: &[Option<&Code>],
    operations: &TargetOperations,
) -> u64 {
    let mut walk = Walk::new(lowered, (windows, codes), operations);
    walk.once = true;
    walk.all().min(1e15) as u64
}

/// A loop that is gone through, or all around the outermost ones.
#[derive(Default)]
struct Frame {
    var: Option<Symbol>,
    rounds: f64,
    step: i64,
    /// Registers and arrays that are written in it.
    written: BTreeSet<Place>,
    /// How long each resource is taken in one round.
    taken: HashMap<String, f64>,
    /// The chain of each register or element that is carried to the next round.
    chains: HashMap<Place, f64>,
    /// Values that are there already.
    known: HashSet<u64>,
    /// Registers full of what inner loops use, and of what is added up.
    held: f64,
    /// Loops inside.
    time: f64,
}

impl Frame {
    fn take(&mut self, resource: &str, time: f64) {
        *self.taken.entry(resource.to_owned()).or_default() += time;
    }

    /// The time of one round.
    fn round(&self, figures: Figures<'_>) -> f64 {
        let most = self.taken.values().copied().fold(0.0, f64::max);
        let chain = self.chains.values().copied().fold(0.0, f64::max);
        let over = self.held + 2.0 - figures.registers as f64;
        most.max(chain) + self.time + over.max(0.0) * f64::from(figures.processor.spill)
    }
}

/// What statements write.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Place {
    Register(Id),
    Array(Id),
}

/// An access in its loops: elements apart by a round of each loop in each dimension.
struct Touched {
    array: Id,
    lanes: i64,
    bytes: f64,
    /// The loops, the outermost first: rounds, and by how much each dimension is moved.
    loops: Vec<(f64, Vec<i64>)>,
    /// Where it begins: accesses of one array that do not move otherwise are near each other.
    start: Vec<i64>,
}

struct Walk<'a> {
    lowered: &'a Lowered,
    windows: &'a [Window],
    codes: &'a [Option<&'a Code>],
    figures: Figures<'a>,
    values: HashMap<Symbol, i64>,
    frames: Vec<Frame>,
    /// How often a place has been written: what is read after that is another value.
    versions: HashMap<Place, u64>,
    touched: Vec<Touched>,
    /// Whether each loop has one round.
    once: bool,
}

impl<'a> Walk<'a> {
    fn new(
        lowered: &'a Lowered,
        (windows, codes): (&'a [Window], &'a [Option<&'a Code>]),
        operations: &'a TargetOperations,
    ) -> Walk<'a> {
        let figures = Figures {
            processor: operations.processor(),
            registers: operations.registers().last().map_or(0, |class| class.count),
            width: operations.widths().widest(),
        };
        Walk {
            lowered,
            windows,
            codes,
            figures,
            values: HashMap::new(),
            frames: vec![Frame::default()],
            versions: HashMap::new(),
            touched: Vec::new(),
            once: false,
        }
    }
}

impl Walk<'_> {
    /// The time of all loops and statements.
    fn all(&mut self) -> f64 {
        self.block(&self.lowered.body);
        let outside = self.frames.pop().expect("it was there before all loops");
        outside.round(self.figures)
    }

    /// What the processor takes for something.
    fn figure(&self, of: fn(&Processor) -> u32) -> f64 {
        f64::from(of(self.figures.processor))
    }

    fn value(&self, index: &Index) -> i64 {
        let of = |s: Symbol| self.values.get(&s).copied().unwrap_or(0);
        index.eval(&of).unwrap_or(0)
    }

    fn here(&mut self) -> &mut Frame {
        self.frames
            .last_mut()
            .expect("there is one around all loops")
    }

    fn block(&mut self, body: &[LoweredNode]) {
        for node in body {
            match node {
                LoweredNode::Loop(l) => self.enter(l),
                LoweredNode::Window { window, active } => self.window(*window, active.is_some()),
            }
        }
    }

    fn enter(&mut self, l: &Loop) {
        let (lo, hi) = (self.value(&l.lo), self.value(&l.hi));
        let rounds = ((hi - lo).max(0) + l.step - 1) / l.step;
        if rounds == 0 && !self.once {
            self.here().time += self.figure(|p| p.round);
            return;
        }
        let rounds = if l.at.is_some() || self.once {
            1
        } else {
            rounds
        };
        self.values.insert(l.var, lo + (rounds - 1) / 2 * l.step);
        self.frames.push(Frame {
            var: Some(l.var),
            rounds: rounds as f64,
            step: l.step,
            written: written(self.windows, &l.body),
            ..Frame::default()
        });
        self.block(&l.body);
        let frame = self.frames.pop().expect("it was entered");
        for place in &frame.written {
            *self.versions.entry(*place).or_default() += 1;
        }
        let time = frame.rounds * (frame.round(self.figures) + self.figure(|p| p.round));
        let time = time + self.figure(|p| p.enter);
        self.here().time += time;
    }

    fn window(&mut self, number: Id, partial: bool) {
        let (windows, codes) = (self.windows, self.codes);
        let window = &windows[number];
        let carried = self.carried(window);
        match &codes[number] {
            Some(code) => self.code(window, code, partial),
            None => self.scalar(window),
        }
        self.store(window, partial);
        if let Some(place) = carried {
            let forwarded = match place {
                Place::Register(_) => 0.0,
                Place::Array(_) => self.figure(|p| p.forward),
            };
            let chained = || self.figure(|p| p.chained);
            let chain = forwarded + codes[number].map_or_else(chained, |code| code.chain);
            let fills = registers(window.output.width(), self.figures);
            let frame = self.here();
            let of = frame.chains.entry(place).or_default();
            if *of == 0.0 {
                frame.held += fills;
            }
            *frame.chains.entry(place).or_default() += chain;
        }
    }

    /// What a window adds to that the loop around it carries to the next round.
    fn carried(&self, window: &Window) -> Option<Place> {
        let frame = self.frames.last()?;
        let var = frame.var?;
        let from = |place| {
            window.inputs.iter().any(|i| match (&i.source, place) {
                (Source::Register(id), Place::Register(to)) => *id == to,
                (Source::Array(access), Place::Array(to)) => access.array == to,
                _ => false,
            })
        };
        let place = place(&window.store);
        let still = match &window.store {
            Store::Register(_) => true,
            Store::Array(access) => !access.index.iter().any(|i| i.mentions(var)),
        };
        (still && from(place)).then_some(place)
    }

    /// The number of loops that change a value of a source; that of the innermost at most.
    fn level(&self, source: &Source) -> usize {
        let mentions = |index: &Index, f: &Frame| f.var.is_some_and(|v| index.mentions(v));
        let changes = |f: &Frame| match source {
            Source::Array(a) => {
                f.written.contains(&Place::Array(a.array)) || a.index.iter().any(|i| mentions(i, f))
            }
            Source::Register(id) => f.written.contains(&Place::Register(*id)),
            Source::Scalar(_) => false,
            Source::Index(index) => mentions(index, f),
        };
        self.frames.iter().rposition(changes).unwrap_or(0)
    }

    fn version(&self, source: &Source) -> u64 {
        let place = match source {
            Source::Array(a) => Place::Array(a.array),
            Source::Register(id) => Place::Register(*id),
            Source::Scalar(_) | Source::Index(_) => return 0,
        };
        self.versions.get(&place).copied().unwrap_or(0)
    }

    /// Adds what a value takes to the loop that it is computed in, once.
    fn compute(&mut self, key: u64, level: usize, resources: &[(&str, f64)], fills: f64) {
        if self.frames[..=level].iter().any(|f| f.known.contains(&key)) {
            return;
        }
        let inside = level + 1 < self.frames.len();
        let issue = self.figure(|p| p.issue);
        let frame = &mut self.frames[level];
        frame.known.insert(key);
        for &(resource, time) in resources {
            frame.take(resource, time);
        }
        frame.take("issue", issue);
        if inside {
            self.here().held += fills;
        }
    }

    /// A window that has a program.
    fn code(&mut self, window: &Window, code: &Code, partial: bool) {
        let program = &code.program;
        let mut values: HashMap<Value, (u64, usize)> = HashMap::new();
        for (value, taken) in &code.demands {
            let (value, node) = (*value, program.node(*value));
            let mut taken = taken
                .iter()
                .map(|(resource, time)| (resource.as_deref().unwrap_or("unknown"), *time))
                .collect::<Vec<_>>();
            let mut hasher = DefaultHasher::new();
            let (mut level, fills) = (0, registers(program.width(value), self.figures));
            if let Node::Input { name, lo, width } = node {
                let input = code.inputs.iter().position(|n| n == name);
                let Some(input) = input.and_then(|n| window.inputs.get(n)) else {
                    continue;
                };
                let level = self.level(&input.source);
                let version = self.version(&input.source);
                (spanless(&input.source), lo, width, version).hash(&mut hasher);
                let key = hasher.finish();
                values.insert(value, (key, level));
                self.load(&input.source, key, level, (*width, fills), (partial, taken));
                continue;
            }
            for used in program.uses(value) {
                let (key, of) = values.get(&used).copied().unwrap_or_default();
                key.hash(&mut hasher);
                level = level.max(of);
            }
            match node {
                Node::Apply { operation, args } => {
                    let instance = program.operation(*operation);
                    (&instance.operation, &instance.values).hash(&mut hasher);
                    let given = args.iter().filter(|a| !matches!(a, Argument::Value(_)));
                    given.for_each(|a| a.hash(&mut hasher));
                    taken.push(("unknown", 0.0));
                }
                other => format!("{other:?}").hash(&mut hasher),
            }
            let key = hasher.finish();
            if !taken.is_empty() {
                self.compute(key, level, &taken, fills);
            }
            values.insert(value, (key, level));
        }
    }

    /// A part of an input comes into a register.
    fn load(
        &mut self,
        source: &Source,
        key: u64,
        level: usize,
        (width, fills): (u32, f64),
        (partial, whole): (bool, Vec<(&str, f64)>),
    ) {
        let Source::Array(access) = source else {
            let inside = level + 1 < self.frames.len();
            if inside && self.frames[level].known.insert(key) {
                self.here().held += fills;
            }
            return;
        };
        let bits = self.lowered.kernel.arrays[access.array].elem.bits().max(8);
        let elements = f64::from(width / bits).max(1.0);
        let costs = match (access.is_dense(), partial) {
            (true, false) => whole,
            (true, true) => vec![(LOADS, self.figure(|p| p.partial))],
            (false, _) => vec![
                (LOADS, elements * self.figure(|p| p.load)),
                ("shuffle", elements * self.figure(|p| p.element)),
            ],
        };
        self.compute(key, level, &costs, fills);
        self.touch(access, access.lanes);
    }

    /// A window that C computes element by element.
    fn scalar(&mut self, window: &Window) {
        let lanes = f64::from(window.output.lanes);
        let (mut operations, mut loads) = (0.0, 0.0);
        let kernel = &self.lowered.kernel;
        let through = |id: Id| !self.lowered.materialized.contains_key(&id);
        kernel.walk(&window.value, &through, &mut |e: &Expr| {
            match &e.kind {
                ExprKind::Apply(..) => operations += 1.0,
                ExprKind::Reduce(_, of, _) => operations += f64::from(of.ty.lanes) / lanes,
                ExprKind::Load(_) => loads += 1.0,
                _ => {}
            }
            e.operands()
        });
        operations += f64::from(u8::from(window.accumulate));
        // Elements of vectors go through memory.
        let moved = if lanes > 1.0 { 2.0 } else { 1.0 };
        let called = if window.value.called().is_some() {
            self.figure(|p| p.call)
        } else {
            0.0
        };
        let each = operations * self.figure(|p| p.scalar) * moved
            + loads * self.figure(|p| p.load)
            + called;
        for input in &window.inputs {
            if let Source::Array(access) = &input.source {
                self.touch(access, access.lanes);
            }
        }
        self.here().take("issue", lanes * each);
    }

    fn store(&mut self, window: &Window, partial: bool) {
        let place = place(&window.store);
        *self.versions.entry(place).or_default() += 1;
        let Store::Array(access) = &window.store else {
            return;
        };
        let lanes = f64::from(access.lanes);
        let fills = registers(window.output.width(), self.figures);
        let time = match (access.is_dense(), partial) {
            (true, false) => fills * self.figure(|p| p.store),
            (true, true) => fills * (self.figure(|p| p.store) + self.figure(|p| p.partial)),
            (false, _) => lanes * self.figure(|p| p.element),
        };
        let issued = fills.max(if access.is_dense() { 1.0 } else { lanes });
        let issue = issued * self.figure(|p| p.issue);
        let frame = self.here();
        frame.take(STORES, time);
        frame.take("issue", issue);
        self.touch(access, access.lanes);
    }

    /// Notes an access for the caches.
    fn touch(&mut self, access: &Access, lanes: u32) {
        let start: Vec<i64> = access.index.iter().map(|i| self.value(i)).collect();
        let mut loops = Vec::new();
        for frame in &self.frames {
            let Some(var) = frame.var else { continue };
            let here = |s: Symbol| self.values.get(&s).copied().unwrap_or(0);
            let next = |s: Symbol| here(s) + if s == var { frame.step } else { 0 };
            let by = access
                .index
                .iter()
                .map(|i| match (i.eval(&here), i.eval(&next)) {
                    (Ok(a), Ok(b)) => b - a,
                    _ => 0,
                });
            loops.push((frame.rounds, by.collect()));
        }
        let bits = self.lowered.kernel.arrays[access.array].elem.bits().max(8);
        let lanes = i64::from(lanes) * access.stride.max(1);
        self.touched.push(Touched {
            array: access.array,
            lanes: if access.dim + 1 == access.index.len() {
                lanes
            } else {
                1
            },
            bytes: f64::from(bits) / 8.0,
            loops,
            start,
        });
    }

    /// Bytes of a line.
    fn line(&self) -> f64 {
        self.figure(|p| p.line)
    }

    /// The time in which lines come from where they are.
    fn lines(&self) -> f64 {
        // Accesses that move alike and begin near each other touch the same lines.
        let mut apart: Vec<&Touched> = Vec::new();
        for t in &self.touched {
            let near = |o: &&Touched| {
                let pairs = o.start.iter().zip(&t.start);
                o.array == t.array
                    && o.loops == t.loops
                    && pairs.clone().all(|(a, b)| (a - b).abs() <= 16)
            };
            if !apart.iter().any(near) {
                apart.push(t);
            }
        }
        let mut time = 0.0;
        for t in &apart {
            for cache in &self.figures.processor.caches {
                let missed = t.misses(&apart, f64::from(cache.bytes), self.line());
                time += missed * f64::from(cache.miss);
            }
        }
        time
    }
}

impl Touched {
    /// Lines that all rounds of the loops from `depth` inwards touch.
    fn lines(&self, depth: usize, line: f64) -> f64 {
        let dimensions = self.start.len();
        let inner = self.loops.get(depth..).unwrap_or(&[]);
        let mut all = 1.0;
        for d in 0..dimensions {
            let moving = inner.iter().filter(|(_, by)| by[d] != 0);
            let count: f64 = moving.clone().map(|(rounds, _)| rounds).product();
            let last = d + 1 == dimensions;
            let extent: f64 = moving
                .map(|(rounds, by)| (rounds - 1.0) * by[d].unsigned_abs() as f64)
                .sum();
            all *= match last {
                true => {
                    let bytes = (extent + self.lanes as f64) * self.bytes;
                    (bytes / line)
                        .ceil()
                        .min(count * (self.lanes as f64 * self.bytes / line).ceil())
                }
                false => count.min(extent + 1.0),
            };
        }
        all
    }

    /// Lines that are not in a cache of so many bytes when they are touched, in the whole kernel:
    /// those of each round of the loops around the largest part that fits.
    fn misses(&self, all: &[&Touched], bytes: f64, line: f64) -> f64 {
        for depth in 0..=self.loops.len() {
            // What runs inside the same loops up to that depth shares the cache with it.
            let rounds = |t: &Touched| {
                t.loops
                    .iter()
                    .map(|(n, _)| *n)
                    .take(depth)
                    .collect::<Vec<_>>()
            };
            let mine = rounds(self);
            let beside = all
                .iter()
                .filter(|t| t.loops.len() >= depth && rounds(t) == mine);
            let together: f64 = beside.map(|t| t.lines(depth, line)).sum();
            if together * line <= bytes {
                // Nothing is missed but the first time where all fits.
                let outside: f64 = mine.iter().product();
                return if depth == 0 {
                    0.0
                } else {
                    self.lines(depth, line) * outside
                };
            }
        }
        0.0
    }
}

/// Registers that so many bits fill.
fn registers(bits: u32, figures: Figures<'_>) -> f64 {
    f64::from(bits.div_ceil(figures.width.max(1)).max(1))
}

fn place(store: &Store) -> Place {
    match store {
        Store::Register(id) => Place::Register(*id),
        Store::Array(access) => Place::Array(access.array),
    }
}

/// What is written in some nodes.
fn written(windows: &[Window], body: &[LoweredNode]) -> BTreeSet<Place> {
    let mut all = BTreeSet::new();
    for node in body {
        match node {
            LoweredNode::Loop(l) => all.extend(written(windows, &l.body)),
            LoweredNode::Window { window, .. } => {
                all.insert(place(&windows[*window].store));
            }
        }
    }
    all
}

/// A source as a text that is the same wherever it was written.
fn spanless(source: &Source) -> String {
    match source {
        Source::Array(a) => {
            let plain = (a.array, &a.index, a.lanes, a.dim, a.stride, a.clamped);
            format!("{plain:?}")
        }
        other => format!("{other:?}"),
    }
}
