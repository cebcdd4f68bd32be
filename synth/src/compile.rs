//! A lowered kernel to programs: the arrow `Kernel → Program` of the architecture.
//!
//! In: windows, candidates, a prover, limits. Out: [`Compiled`]: for each window a program
//! that was proved equal to it at full width, or none, and a report of what was done. A
//! window without a program is computed lane by lane by code generation: compilation always
//! ends with code.

use crate::candidates::Candidates;
use crate::cost::Cost;
use crate::goal::Goal;
use crate::graph::{self, Graph, Node};
use crate::lanes::Counterexamples;
use crate::limit::Limit;
use crate::memo::Memo;
use crate::prepare::prepare;
use crate::proof::{self, Found};
use crate::record;
use crate::search::{Grammar, Limits, Search, SearchReport, WindowInput};
use crate::supply::Supply;
use autoir::program::{Argument, Program, Step};
use kernel::window::{Input, Lowered, Node as Piece, Source, Store, Window};
use rayon::prelude::*;
use semantics::sort::Sort;
use semantics::subst::replace_vars;
use semantics::term::Term;
use smt::prover::Prover;
use smt::verdict::{Evidence, Reason, Verdict};
use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

/// Bounds for each window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Time for the search of one window; its proof has the prover's own limits.
    pub time: Duration,
    /// The most memory of the process while a window is searched for, in bytes.
    pub memory: u64,
    /// Expressions tried in one lane search.
    pub lane_evaluations: u64,
    /// Goals expanded.
    pub goals: usize,
    /// Which heuristics are used.
    pub grammar: Grammar,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            time: Duration::from_secs(30),
            memory: 8 << 30,
            lane_evaluations: 150_000,
            goals: 4_000,
            grammar: Grammar::default(),
        }
    }
}

/// Windows of the first wave; each next one has twice as many.
const FIRST_WAVE: usize = 4;

/// What became of one window.
#[derive(Clone, PartialEq, Debug)]
pub enum Outcome {
    /// A program, proved equal to the window.
    Proved(Evidence),
    /// Nothing was looked for: there is one lane, of scalars, which C computes as well.
    Scalar,
    /// Nothing was found, within which bounds (none: the search was complete).
    NotFound(Vec<&'static str>),
    /// What was found differs from the window on this input. The search proposes; this is
    /// where a wrong proposal ends.
    Refuted(smt::verdict::Model),
    /// What was found could not be proved.
    Unproved(Reason),
}

/// The report on one window.
#[derive(Clone, Debug)]
pub struct WindowReport {
    /// The window's name.
    pub name: String,
    /// What became of it.
    pub outcome: Outcome,
    /// The instructions, in order, by their names in C.
    pub instructions: Vec<String>,
    /// The cost of the program in tenths of a cycle.
    pub cost: Cost,
    /// Time of the search and of the proof.
    pub time: [Duration; 2],
    /// What the search did.
    pub search: SearchReport,
    /// Whether it was found in the memo.
    pub kept: bool,
}

/// A compiled kernel.
pub struct Compiled {
    /// The windows as prepared; they replace the lowered kernel's.
    pub windows: Vec<Window>,
    /// For each window its program, when one was found and proved.
    pub programs: Vec<Option<Program>>,
    /// For each window what was done.
    pub reports: Vec<WindowReport>,
}

/// Finds and proves a program for every window. `done` is called as windows are finished,
/// from several threads; the result does not depend on their order.
pub fn compile(
    lowered: &Lowered,
    supply: &Supply,
    prover: &Prover,
    options: Options,
    memo: Option<&Memo>,
    done: &(dyn Fn(&WindowReport) + Sync),
) -> Compiled {
    let tails = tails(&lowered.body);
    let windows: Vec<Window> = (0..lowered.windows.len())
        .into_par_iter()
        .map(|k| match tails.contains(&k) {
            true => lowered.windows[k].clone(),
            false => prepare(&lowered.windows[k]),
        })
        .collect();
    let shapes: Vec<Shape> = windows.iter().map(Shape::of).collect();
    let mut first: HashMap<&Shape, usize> = HashMap::new();
    let alike: Vec<usize> = (0..shapes.len())
        .map(|k| *first.entry(&shapes[k]).or_insert(k))
        .collect();
    let new: Vec<usize> = (0..windows.len())
        .filter(|&k| alike[k] == k && !is_scalar(&windows[k]))
        .collect();
    let book = Book::open(memo, supply, options, &windows, &shapes, &new);
    let mut solved: BTreeMap<usize, (Option<Program>, WindowReport)> = BTreeMap::new();
    let mut open = Vec::new();
    for k in (0..windows.len()).filter(|&k| alike[k] == k) {
        let known = match is_scalar(&windows[k]) {
            true => Some((None, WindowReport::scalar(&windows[k]))),
            false => book.found(k),
        };
        match known {
            Some(found) => {
                done(&found.1);
                solved.insert(k, found);
            }
            None => open.push(k),
        }
    }
    // The windows of a wave know what has refuted candidates in the waves before: neither the
    // number of threads nor their order changes what a window knows.
    let mut known = Counterexamples::default();
    let (mut rest, mut wave) = (open.as_slice(), FIRST_WAVE);
    while !rest.is_empty() {
        let (now, later) = rest.split_at(wave.min(rest.len()));
        let found: Vec<_> = now
            .par_iter()
            .map(|&k| {
                let candidates = supply.candidates();
                let found = compile_window(&windows[k], candidates, prover, options, &known);
                done(&found.1);
                (k, found)
            })
            .collect();
        for report in found.iter().flat_map(|(_, (_, r))| &r.search.lanes) {
            known.learn(report);
        }
        solved.extend(found);
        (rest, wave) = (later, 2 * wave);
    }
    book.keep(&solved);
    let mut compiled = Compiled {
        windows: Vec::new(),
        programs: Vec::new(),
        reports: Vec::new(),
    };
    for (k, window) in windows.iter().enumerate() {
        let (program, report) = &solved[&alike[k]];
        let mut report = report.clone();
        if alike[k] != k {
            report.name.clone_from(&window.name);
            report.time = [Duration::ZERO; 2];
            done(&report);
        }
        let renamed = |p: &Program| with_inputs(p, &windows[alike[k]], window);
        compiled.programs.push(program.as_ref().map(renamed));
        compiled.reports.push(report);
    }
    compiled.windows = windows;
    compiled
}

/// The memo as it concerns one kernel.
struct Book<'a> {
    memo: Option<&'a Memo>,
    windows: &'a [Window],
    /// The keys of windows.
    keys: BTreeMap<usize, String>,
    found: BTreeMap<usize, (Option<Program>, WindowReport)>,
}

impl<'a> Book<'a> {
    fn open(
        memo: Option<&'a Memo>,
        supply: &Supply,
        options: Options,
        windows: &'a [Window],
        shapes: &[Shape],
        wanted: &[usize],
    ) -> Book<'a> {
        let mut book = Book {
            memo,
            windows,
            keys: BTreeMap::new(),
            found: BTreeMap::new(),
        };
        let Some(memo) = memo else { return book };
        let setting = record::setting(supply, options);
        book.keys = wanted
            .iter()
            .map(|&k| (k, record::key(&setting, &shapes[k])))
            .collect();
        let keys: Vec<String> = book.keys.values().cloned().collect();
        let by_name = supply.index();
        for (&k, text) in book.keys.keys().zip(memo.find(&keys)) {
            let inputs = input_names(&windows[k]);
            let read = text
                .and_then(|text| record::read(&text, &windows[k].name, &inputs, supply, &by_name));
            book.found.extend(read.map(|found| (k, found)));
        }
        book
    }

    /// What was found for a window before.
    fn found(&self, k: usize) -> Option<(Option<Program>, WindowReport)> {
        self.found.get(&k).cloned()
    }

    /// Keeps what was found now.
    fn keep(&self, solved: &BTreeMap<usize, (Option<Program>, WindowReport)>) {
        let Some(memo) = self.memo else { return };
        let new = solved.iter().filter(|(k, _)| !self.found.contains_key(*k));
        let entries: Vec<(String, String)> = new
            .filter_map(|(k, (program, report))| {
                let inputs = input_names(&self.windows[*k]);
                let text = record::write(program.as_ref(), report, &inputs)?;
                Some((self.keys.get(k)?.clone(), text))
            })
            .collect();
        memo.keep(&entries);
    }
}

fn input_names(window: &Window) -> Vec<String> {
    window.inputs.iter().map(|i| i.name.clone()).collect()
}

/// What a window computes, whatever its operands are called and wherever they come from:
/// windows of one shape have one program.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Shape {
    /// The operands: the width of each, whether it lies in memory, and whether it is what
    /// the window adds to.
    pub inputs: Vec<(u32, bool, bool)>,
    /// Width of an element of the result, and their number.
    pub output: (u32, u32),
    /// The result over the operands by number.
    pub term: Term,
}

impl Shape {
    /// The shape of a window.
    pub fn of(window: &Window) -> Shape {
        let numbered: Vec<Term> = (0..window.inputs.len())
            .map(|k| {
                Term::var(
                    &format!("operand{k}"),
                    Sort::Bv(window.inputs[k].ty.width()),
                )
            })
            .collect();
        let names = window.inputs.iter().map(|i| i.name.as_str());
        let map = names.zip(numbered).collect();
        Shape {
            inputs: window
                .inputs
                .iter()
                .map(|i| (i.ty.width(), in_memory(i), carried(window, i)))
                .collect(),
            output: (window.output.elem.bits(), window.output.lanes),
            term: replace_vars(window.term, &map),
        }
    }
}

/// A program for one window as one for another of the same shape.
fn with_inputs(program: &Program, from: &Window, to: &Window) -> Program {
    let mut program = program.clone();
    for step in &mut program.steps {
        if let Step::Input { name, .. } = step
            && let Some(k) = from.inputs.iter().position(|i| i.name == *name)
        {
            name.clone_from(&to.inputs[k].name);
        }
    }
    program
}

/// Windows that somewhere run with only some of their lanes.
fn tails(nodes: &[Piece]) -> Vec<usize> {
    let mut out = Vec::new();
    for node in nodes {
        match node {
            Piece::Loop(l) => out.extend(tails(&l.body)),
            Piece::Window {
                window,
                active: Some(_),
            } => out.push(*window),
            Piece::Window { .. } => {}
        }
    }
    out
}

/// One window: search, then proof.
pub fn compile_window(
    window: &Window,
    candidates: &Candidates,
    prover: &Prover,
    options: Options,
    known: &Counterexamples,
) -> (Option<Program>, WindowReport) {
    if is_scalar(window) {
        return (None, WindowReport::scalar(window));
    }
    let inputs: Vec<WindowInput> = window
        .inputs
        .iter()
        .map(|i| WindowInput {
            name: i.name.clone(),
            width: i.ty.width(),
            in_memory: in_memory(i),
            carried: carried(window, i),
        })
        .collect();
    let start = Instant::now();
    let limits = Limits {
        limit: Limit {
            deadline: start + options.time,
            memory: options.memory,
        },
        lane_evaluations: options.lane_evaluations,
        goals: options.goals,
        grammar: options.grammar,
    };
    let mut search = Search::new(
        candidates,
        &inputs,
        semantics::unroll::unroll(window.term),
        prover,
        limits,
        known.clone(),
    );
    let found = search.solve_registers(&goal_of(window));
    let searched = start.elapsed();
    let mut report = WindowReport {
        name: window.name.clone(),
        outcome: Outcome::NotFound(search.report.stopped_by.iter().copied().collect()),
        instructions: Vec::new(),
        cost: 0,
        time: [searched, Duration::ZERO],
        search: search.report.clone(),
        kept: false,
    };
    let Some(values) = found else {
        return (None, report);
    };
    let program = program_of(&search.graph, candidates, &values);
    report.cost = search.weighed(&values).cost;
    report.instructions = instructions_of(&program);
    let proof = Instant::now();
    let parts = Found {
        graph: &search.graph,
        claims: search.claims(),
        roots: &values,
        candidates,
    };
    let verdict = proof::prove(window, &program, &parts, prover);
    report.time[1] = proof.elapsed();
    let (program, outcome) = match verdict {
        Verdict::Proved(evidence) => (Some(program), Outcome::Proved(evidence)),
        Verdict::Refuted(model) => (None, Outcome::Refuted(model)),
        Verdict::Unknown(reason) => (None, Outcome::Unproved(reason)),
    };
    report.outcome = outcome;
    (program, report)
}

/// Whether a window has one lane and reads only scalars and pairs: the rest of an unrolled
/// loop, which no vector instruction computes better.
fn is_scalar(window: &Window) -> bool {
    window.output.lanes == 1 && window.inputs.iter().all(|i| i.ty.lanes <= 2)
}

impl WindowReport {
    fn scalar(window: &Window) -> WindowReport {
        WindowReport {
            name: window.name.clone(),
            outcome: Outcome::Scalar,
            instructions: Vec::new(),
            cost: 0,
            time: [Duration::ZERO; 2],
            search: SearchReport::default(),
            kept: false,
        }
    }
}

/// The registers of a window's result; short results are padded with lanes that do not
/// matter.
fn goal_of(window: &Window) -> Goal {
    let element = window.output.elem.bits();
    let flat = semantics::unroll::elements(window.term, element);
    let mut elements: Vec<Option<Term>> = flat
        .into_iter()
        .map(|t| Some(crate::canonical::spread(t)))
        .collect();
    if element < 128 {
        let lanes = (128 / element as usize).max(elements.len().next_power_of_two());
        elements.resize(lanes, None);
    }
    Goal { element, elements }
}

/// Whether parts of an input can be loaded: elements of arrays, and values of several lanes
/// that are kept between windows.
fn in_memory(input: &Input) -> bool {
    match input.source {
        Source::Array(_) => true,
        Source::Register(_) => input.ty.lanes > 1,
        Source::Scalar(_) | Source::Index(_) => false,
    }
}

/// Whether an operand is the register that the window adds to, round after round.
fn carried(window: &Window, input: &Input) -> bool {
    match (&input.source, &window.store) {
        (Source::Register(from), Store::Register(to)) => window.accumulate && from == to,
        _ => false,
    }
}

/// The program that computes these values.
fn program_of(graph: &Graph, candidates: &Candidates, roots: &[graph::Value]) -> Program {
    let mut place: BTreeMap<graph::Value, usize> = BTreeMap::new();
    let mut program = Program::default();
    for v in graph.needed(roots) {
        let step = match graph.node(v) {
            Node::Input { name, lo, width } => Step::Input {
                name: name.clone(),
                lo: *lo,
                width: *width,
            },
            Node::Constant(bits) => Step::Constant(bits.clone()),
            Node::Cast { value, width } => Step::Cast {
                value: place[value],
                width: *width,
            },
            Node::Apply { candidate, args } => Step::Apply {
                instruction: candidates.list[*candidate].machine.clone(),
                args: args
                    .iter()
                    .map(|a| match a {
                        graph::Argument::Value(v) => Argument::Value(place[v]),
                        graph::Argument::Immediate(bits) => Argument::Immediate(bits.clone()),
                    })
                    .collect(),
            },
        };
        place.insert(v, program.steps.len());
        program.steps.push(step);
    }
    program.outputs = roots.iter().map(|v| place[v]).collect();
    program
}

/// The names in C of the instructions of a program, in order.
pub fn instructions_of(program: &Program) -> Vec<String> {
    let names = program.steps.iter().filter_map(|s| match s {
        Step::Apply { instruction, .. } => Some(instruction.intrinsic.clone()),
        _ => None,
    });
    names.collect()
}
