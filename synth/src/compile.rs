//! A lowered kernel to programs: the arrow `Kernel → Program` of the architecture.
//!
//! In: windows, candidates, a prover, limits. Out: [`Compiled`]: for each window a program
//! that was proved equal to it at full width, or none, and a report of what was done. A
//! window without a program is computed lane by lane by code generation: compilation always
//! ends with code.

mod beside;
mod book;

use crate::candidates::Candidates;
use crate::cost::Cost;
use crate::elements;
use crate::estimate::WindowInput;
use crate::goal::Goal;
use crate::lanes::Counterexamples;
use crate::limit::{Bound, Limit};
use crate::operations::TargetOperations;
use crate::placement;
use crate::prepare::{prepare, prepare_tail};
use crate::proof::{self, Found};
use crate::search::{Grammar, Limits, MATCHES, Search, SearchReport};
use crate::shared::{self, Claims};
use crate::widths::Widths;
use autoir::program::placed::Placement;
use autoir::program::{Node, Program};
use beside::Beside;
use book::Book;
use lowering::window::{Lowered, LoweredNode, Window};
use rayon::prelude::*;
use semantics::sort::Sort;
use semantics::subst::replace_vars;
use semantics::term::Term;
use smt::prover::Prover;
use smt::verdict::{Evidence, Reason, Verdict};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::time::{Duration, Instant};
use store::object::Store;
use target::processor::Processor;

/// Bounds for each window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Time for the search of one window, for safety: counts end it before, on a busy machine too,
    /// or what is found would depend on the load. Its proof has the prover's own limits.
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

/// For safety, see [`Options::time`].
pub const TIME_LIMIT: Duration = Duration::from_secs(180);

impl Default for Options {
    fn default() -> Options {
        Options {
            time: TIME_LIMIT,
            memory: 8 << 30,
            lane_evaluations: 150_000,
            goals: 5_000,
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
    /// A program was found that costs more than the elements one by one, which are left to C.
    Elements(Cost),
    /// Nothing was found, within which bounds (none: the search was complete).
    NotFound(Vec<Bound>),
    /// What was found differs from the window on this input. The search proposes; this is
    /// where a wrong proposal ends.
    Refuted(smt::verdict::Model),
    /// What was found could not be proved.
    Unproved(Reason),
    /// Values of vectors cannot be held, loaded, moved or stored by the target as a program needs it, and why.
    NotPlaced(String),
}

/// The report on one window.
#[derive(Clone, Debug)]
pub struct WindowReport {
    /// The window's name.
    pub name: String,
    /// What became of it.
    pub outcome: Outcome,
    /// The cost of the program in tenths of a cycle.
    pub cost: Cost,
    /// Time of the search and of the proof.
    pub time: [Duration; 2],
    /// What the search did.
    pub search: SearchReport,
    /// Whether it was found before.
    pub cached: bool,
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

impl Compiled {
    /// The programs with all that moves data in them. A program that cannot be placed is none any
    /// more: its window is computed element by element, and its report says so.
    pub fn place(&mut self, lowered: &Lowered, operations: &TargetOperations) -> Placement {
        let placement = placement::place(lowered, &self.programs, operations);
        for (&window, why) in &placement.refused {
            self.programs[window] = None;
            self.reports[window].outcome = Outcome::NotPlaced(why.clone());
        }
        placement
    }
}

/// Finds and proves a program for every window. `done` is called as windows are finished,
/// from several threads; the result does not depend on their order.
pub fn compile(
    lowered: &Lowered,
    operations: &TargetOperations,
    prover: &Prover,
    options: Options,
    store: Option<&Store>,
    done: &(dyn Fn(&WindowReport) + Sync),
) -> Compiled {
    let mut windows = prepared(lowered);
    let (own, dealt) = (windows.len(), with_dealt(&mut windows));
    let work = Work {
        windows: &windows,
        operations,
        prover,
        options,
        store,
    };
    let mut choice = Choice {
        windows: &windows,
        dealt: &dealt,
        alike: BTreeMap::new(),
        solved: BTreeMap::new(),
        operations,
    };
    let least = work.solve_all(own, done, &mut choice);
    let mut compiled = Compiled {
        windows: Vec::new(),
        programs: Vec::new(),
        reports: Vec::new(),
    };
    for k in 0..own {
        let (window, program, report) = choice.of(k);
        if least.contains(&k) || choice.alike[&k] != k {
            done(&report);
        }
        compiled.programs.push(program);
        compiled.reports.push(report);
        compiled.windows.push(window);
    }
    compiled
}

/// Windows, and all that is used to solve them.
#[derive(Clone, Copy)]
struct Work<'a> {
    windows: &'a [Window],
    operations: &'a TargetOperations,
    prover: &'a Prover,
    options: Options,
    store: Option<&'a Store>,
}

impl Work<'_> {
    /// Solves the first so many windows, with those that are as good as some of them; those of them that cost the
    /// least that any can.
    fn solve_all(
        self,
        own: usize,
        done: &(dyn Fn(&WindowReport) + Sync),
        choice: &mut Choice<'_>,
    ) -> BTreeSet<usize> {
        // Where one of several that are as good costs the least that any can, nothing is searched for.
        let several = |k: &usize| !choice.dealt[*k].is_empty();
        let group = |k: usize| std::iter::once(k).chain(choice.dealt[k].clone());
        let all = (0..own).filter(several).flat_map(group);
        let all: Vec<(usize, Sought)> = all.map(|k| (k, Sought::Least)).collect();
        self.solve(&all, &|_| {}, choice);
        choice.leave_out_unsolved();
        let solved = |k: &usize| group(*k).any(|k| choice.has(k));
        let least: BTreeSet<usize> = (0..own).filter(solved).collect();
        let open = || (0..own).filter(|k| !least.contains(k));
        let any: Vec<(usize, Sought)> = open().map(|k| (k, Sought::Any)).collect();
        self.solve(&any, done, choice);
        // Those that are as good have to cost less.
        let mut others = Vec::new();
        for k in open().filter(several) {
            let below = Sought::Below(choice.sum(k));
            others.extend(choice.dealt[k].clone().map(|other| (other, below)));
        }
        self.solve(&others, &|_| {}, choice);
        least
    }

    /// Solves windows, each by what is known of its shape or by a search.
    fn solve(
        self,
        which: &[(usize, Sought)],
        done: &(dyn Fn(&WindowReport) + Sync),
        choice: &mut Choice<'_>,
    ) {
        if which.is_empty() {
            return;
        }
        let windows: Vec<&Window> = which.iter().map(|(k, _)| &self.windows[*k]).collect();
        let shapes = windows
            .iter()
            .zip(which)
            .map(|(window, &(_, sought))| Shape {
                sought,
                ..Shape::of(window, self.operations.processor())
            });
        let shapes: Vec<Shape> = shapes.collect();
        let mut first: HashMap<&Shape, usize> = HashMap::new();
        let alike: Vec<usize> = (0..shapes.len())
            .map(|k| *first.entry(&shapes[k]).or_insert(k))
            .collect();
        let solved = self.solve_shapes(&windows, &shapes, &alike, done);
        let places = which.iter().zip(&alike);
        let places = places.map(|((k, _), &first)| (*k, which[first].0));
        choice.alike.extend(places);
        let moved = solved.into_iter().map(|(k, found)| (which[k].0, found));
        choice.solved.extend(moved);
    }

    /// The first window of each shape.
    fn solve_shapes(
        self,
        windows: &[&Window],
        shapes: &[Shape],
        alike: &[usize],
        done: &(dyn Fn(&WindowReport) + Sync),
    ) -> BTreeMap<usize, Solved> {
        let firsts = || (0..windows.len()).filter(|&k| alike[k] == k);
        let new: Vec<usize> = firsts().filter(|&k| !is_scalar(windows[k])).collect();
        let book = Book::open(
            self.store,
            self.operations,
            self.options,
            windows,
            shapes,
            &new,
        );
        let mut solved: BTreeMap<usize, Solved> = BTreeMap::new();
        let mut open = Vec::new();
        for k in firsts() {
            let known = match is_scalar(windows[k]) {
                true => Some((None, WindowReport::scalar(windows[k]))),
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
        let shares = self.store.and_then(Store::shared).is_some();
        let search = |k: usize, known: &Counterexamples| {
            let given = Given {
                known,
                sought: shapes[k].sought,
                with_claims: shares,
            };
            let candidates = self.operations.candidates();
            let found = compile_window(windows[k], candidates, self.prover, self.options, given);
            done(&found.1);
            found
        };
        let beside = Beside {
            windows,
            shapes,
            operations: self.operations,
        };
        let (mut known, mut claims) = (Counterexamples::default(), BTreeMap::new());
        loop {
            let good = beside.as_good(&open, &solved);
            good.values().for_each(|(_, report)| done(report));
            solved.extend(good);
            open.retain(|k| !solved.contains_key(k));
            if open.is_empty() {
                break;
            }
            let mut most = beside.with_most(&open);
            let taken = book.taken(&most, self.operations, self.prover);
            most.retain(|k| !taken.contains_key(k));
            taken.values().for_each(|(_, report)| done(report));
            solved.extend(taken);
            let (found, claimed) = in_waves(&most, &mut known, search);
            solved.extend(found);
            claims.extend(claimed);
            open.retain(|k| !solved.contains_key(k));
        }
        book.keep(&solved);
        book.share(&solved, &claims, self.operations);
        solved
    }
}

/// What was found for a window.
type Solved = (Option<Program>, WindowReport);

/// Solves windows side by side, in waves: those of a wave know what has refuted candidates in the
/// waves before. Neither the number of threads nor their order changes what a window knows.
fn in_waves(
    open: &[usize],
    known: &mut Counterexamples,
    solve: impl Fn(usize, &Counterexamples) -> (Option<Program>, WindowReport, Option<Claims>) + Sync,
) -> (BTreeMap<usize, Solved>, BTreeMap<usize, Claims>) {
    let (mut solved, mut claims) = (BTreeMap::new(), BTreeMap::new());
    let (mut rest, mut wave) = (open, FIRST_WAVE);
    while !rest.is_empty() {
        let (now, later) = rest.split_at(wave.min(rest.len()));
        let found: Vec<_> = now.par_iter().map(|&k| (k, solve(k, known))).collect();
        for report in found.iter().flat_map(|(_, (_, r, _))| &r.search.lanes) {
            known.learn(report);
        }
        for (k, (program, report, claimed)) in found {
            claims.extend(claimed.map(|claimed| (k, claimed)));
            solved.insert(k, (program, report));
        }
        (rest, wave) = (later, 2 * wave);
    }
    (solved, claims)
}

/// What was found for windows, some of which stand for others.
struct Choice<'a> {
    windows: &'a [Window],
    /// For each window those that are as good.
    dealt: &'a [Range<usize>],
    /// For each window that was looked at the first of its shape.
    alike: BTreeMap<usize, usize>,
    solved: BTreeMap<usize, Solved>,
    operations: &'a TargetOperations,
}

impl Choice<'_> {
    fn cost(&self, k: usize) -> Cost {
        let (program, report) = &self.solved[&self.alike[&k]];
        program.as_ref().map_or(Cost::MAX, |_| report.cost)
    }

    /// Whether a window was looked at.
    fn has(&self, k: usize) -> bool {
        self.alike.contains_key(&k)
    }

    /// Windows without a program are as if nobody had looked at them.
    fn leave_out_unsolved(&mut self) {
        let solved = &self.solved;
        self.alike.retain(|_, first| solved[first].0.is_some());
        self.solved.retain(|_, (program, _)| program.is_some());
    }

    /// What the operations of a window's program count for together, where it has one.
    fn sum(&self, k: usize) -> Option<Cost> {
        let (program, _) = &self.solved[&self.alike[&k]];
        let inputs = || WindowInput::of(&self.windows[self.alike[&k]]);
        program.as_ref().map(|p| self.operations.sum(p, &inputs()))
    }

    /// The cheapest of a window and those that are as good, unless its elements one by one
    /// cost clearly less.
    fn of(&self, k: usize) -> (Window, Option<Program>, WindowReport) {
        let others = std::iter::once(k).chain(self.dealt[k].clone());
        let others = others.filter(|&k| self.has(k));
        let chosen = others.min_by_key(|&k| self.cost(k)).unwrap_or(k);
        let (window, first) = (&self.windows[chosen], self.alike[&chosen]);
        let (program, report) = &self.solved[&first];
        let mut report = report.clone();
        if first != k {
            report.name.clone_from(&window.name);
            report.time = [Duration::ZERO; 2];
        }
        let clearly_less = |cost: &Cost| cost + cost / 4 < report.cost;
        let numbers = &self.operations.processor().number;
        let by_elements = elements::cost(window, numbers).filter(clearly_less);
        let program = program.as_ref().filter(|_| by_elements.is_none());
        if let Some(cost) = by_elements {
            report.outcome = Outcome::Elements(std::mem::replace(&mut report.cost, cost));
        }
        let renamed = program.map(|p| with_inputs(p, &self.windows[first], window));
        (window.clone(), renamed, report)
    }
}

/// Adds to windows those that are as good as some of them; where, for each.
fn with_dealt(windows: &mut Vec<Window>) -> Vec<Range<usize>> {
    let mut at = Vec::new();
    for k in 0..windows.len() {
        let others = std::mem::take(&mut windows[k].dealt);
        at.push(windows.len()..windows.len() + others.len());
        windows.extend(others);
    }
    at
}

/// The windows of a kernel as programs are made for them.
pub fn prepared(lowered: &Lowered) -> Vec<Window> {
    let tails = tails(&lowered.body);
    (0..lowered.windows.len())
        .into_par_iter()
        .map(|k| {
            let one: fn(&Window) -> Window = match tails.contains(&k) {
                true => prepare_tail,
                false => prepare,
            };
            let mut window = one(&lowered.windows[k]);
            window.dealt = window.dealt.iter().map(one).collect();
            window
        })
        .collect()
}

/// Whether a program takes just what a window has and gives as much as it wants, in registers.
pub(crate) fn fits(program: &Program, window: &Window, widths: &Widths) -> Result<(), String> {
    for node in program.nodes() {
        let Node::Input { name, lo, width } = node else {
            continue;
        };
        let input = window.inputs.iter().find(|i| i.name == *name);
        let Some(input) = input else {
            return Err(format!("there is no input `{name}`"));
        };
        let within = lo
            .checked_add(*width)
            .is_some_and(|end| end <= input.ty.width());
        if !within || lo % 8 != 0 || !widths.is_held(*width) {
            return Err(format!(
                "bits {lo} to {lo} + {width} of `{name}` are no register"
            ));
        }
    }
    let given: u32 = program.outputs.iter().map(|&v| program.width(v)).sum();
    match given >= window.output.width() {
        true => Ok(()),
        false => Err(format!(
            "{given} bits of {} are returned",
            window.output.width()
        )),
    }
}

/// What a window computes, whatever its operands are called and wherever they come from:
/// windows of one shape have one program.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Shape {
    /// The operands: the width of each, whether it lies in memory, and, of what the window
    /// changes round after round, how many such registers there are.
    pub inputs: Vec<(u32, bool, u32)>,
    /// Width of an element of the result, and their number.
    pub output: (u32, u32),
    /// Whether the result is read as a whole: it goes to a register, and is none that a loop changes.
    pub whole: bool,
    /// The result over the operands by number.
    pub term: Term,
    /// What is looked for.
    pub sought: Sought,
}

/// What is looked for in a window.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Sought {
    /// A program, the cheaper the better.
    Any,
    /// One than which none takes less of the machine.
    Least,
    /// One that costs less than another, where one is known.
    Below(Option<Cost>),
}

impl Shape {
    /// The shape of a window for a processor, which tells only so many chains apart.
    pub fn of(window: &Window, processor: &Processor) -> Shape {
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
            inputs: WindowInput::of(window)
                .iter()
                .map(|i| (i.width, i.in_memory, i.chains.min(processor.chains)))
                .collect(),
            output: (window.output.elem.bits(), window.output.lanes),
            whole: window.names_a_value(),
            term: replace_vars(window.term, &map),
            sought: Sought::Any,
        }
    }
}

/// A program for one window as one for another of the same shape.
fn with_inputs(program: &Program, from: &Window, to: &Window) -> Program {
    program.renamed(&|name| {
        let place = from.inputs.iter().position(|i| i.name == name);
        place.map_or(name.to_owned(), |k| to.inputs[k].name.clone())
    })
}

/// Windows that are as good as one that was solved are looked for with this part of the goals.
const FEWER_GOALS: usize = 8;

/// Windows that somewhere run with only some of their lanes.
pub(crate) fn tails(nodes: &[LoweredNode]) -> Vec<usize> {
    let mut out = Vec::new();
    for node in nodes {
        match node {
            LoweredNode::Loop(l) => out.extend(tails(&l.body)),
            LoweredNode::Window {
                window,
                active: Some(_),
            } => out.push(*window),
            LoweredNode::Window { .. } => {}
        }
    }
    out
}

/// What else is known of a window, and asked.
#[derive(Clone, Copy)]
pub(crate) struct Given<'a> {
    /// What has refuted candidates before.
    pub known: &'a Counterexamples,
    /// What is looked for.
    pub sought: Sought,
    /// Whether what the steps of the proof rest on is wanted.
    pub with_claims: bool,
}

/// One window: search, then proof; and what the steps of the proof rest on, when it was one of steps
/// and that is wanted.
pub(crate) fn compile_window(
    window: &Window,
    candidates: &Candidates,
    prover: &Prover,
    options: Options,
    given: Given<'_>,
) -> (Option<Program>, WindowReport, Option<Claims>) {
    if is_scalar(window) {
        return (None, WindowReport::scalar(window), None);
    }
    if candidates.widths.widest() == 0 {
        let mut report = WindowReport::scalar(window);
        report.outcome = Outcome::NotPlaced("the target has no vector registers".to_owned());
        return (None, report, None);
    }
    let inputs = WindowInput::of(window);
    let start = Instant::now();
    let limits = Limits {
        limit: Limit {
            deadline: start + options.time,
            memory: options.memory,
        },
        lane_evaluations: options.lane_evaluations,
        goals: match given.sought {
            Sought::Below(Some(_)) => options.goals / FEWER_GOALS,
            _ => options.goals,
        },
        matches: MATCHES,
        grammar: options.grammar,
    };
    let mut search = Search::new(
        candidates,
        &inputs,
        semantics::unroll::unroll(window.term),
        prover,
        limits,
        given.known.clone(),
    );
    let goal = goal_of(window, &candidates.widths);
    let mut found = match given.sought {
        Sought::Least => search.least_registers(&goal),
        Sought::Any => search.solve_window(&goal),
        Sought::Below(bound) => {
            search.look_below(bound);
            search.solve_window(&goal)
        }
    };
    // What is read as a whole is not put together in memory.
    if window.names_a_value() {
        found = found.map(|values| search.in_widest(values, &goal));
    }
    let searched = start.elapsed();
    let mut report = WindowReport {
        name: window.name.clone(),
        outcome: Outcome::NotFound(search.report.stopped_by.iter().copied().collect()),
        cost: 0,
        time: [searched, Duration::ZERO],
        search: search.report.clone(),
        cached: false,
    };
    let mut claims = None;
    let mut program = None;
    // Where the cheapest cannot be proved, what was found in another way may be.
    for values in found.into_iter().chain(search.second_of(&goal)) {
        report.cost = search.estimate(&values).cost;
        let proof = Instant::now();
        let found = Found {
            program: &search.graph,
            claims: search.claims(),
            roots: &values,
        };
        let whole = search.graph.extract(&values);
        let steps = proof::prove_by_steps(window, &found, prover);
        if steps.is_none() && search.is_rewritten(&values) {
            // Rules are believed by nobody: the search without what they gave.
            let mut options = options;
            options.grammar.saturation = false;
            options.grammar.rules = false;
            return compile_window(window, candidates, prover, options, given);
        }
        let needed = || search.graph.needed(&values);
        claims = (given.with_claims && steps.is_some())
            .then(|| shared::claims_of(search.claims(), needed()));
        let verdict = match steps {
            Some(evidence) => Verdict::Proved(evidence),
            None => proof::prove_whole(window, &whole, prover),
        };
        report.time[1] += proof.elapsed();
        report.outcome = match verdict {
            Verdict::Proved(evidence) => Outcome::Proved(evidence),
            Verdict::Refuted(model) => Outcome::Refuted(model),
            Verdict::Unknown(reason) => Outcome::Unproved(reason),
        };
        match report.outcome {
            Outcome::Unproved(_) => {
                let what = "found, but not proved".to_owned();
                report.search.tried.push((what, Some(report.cost)));
            }
            Outcome::Proved(_) if candidates.doubled.halves.is_empty() => {
                program = Some(whole);
                break;
            }
            Outcome::Proved(_) => {
                // What was proved of operations on pairs holds of those on their halves: their
                // meanings are the same. Claims are about values that are there no more.
                let (apart, estimate) = search.expanded(&values, window.output.width());
                report.cost = estimate.cost;
                program = Some(apart);
                claims = None;
                break;
            }
            _ => break,
        }
    }
    (program, report, claims)
}

/// Whether a window has one lane and runs seldom, or reads only scalars and pairs: the rest of an
/// unrolled loop, which no vector instruction computes better.
pub(crate) fn is_scalar(window: &Window) -> bool {
    let few = || window.inputs.iter().all(|i| i.ty.lanes <= 2);
    window.output.lanes == 1 && (window.leftover || few())
}

impl WindowReport {
    pub(crate) fn scalar(window: &Window) -> WindowReport {
        WindowReport {
            name: window.name.clone(),
            outcome: Outcome::Scalar,
            cost: 0,
            time: [Duration::ZERO; 2],
            search: SearchReport::default(),
            cached: false,
        }
    }
}

/// The registers of a window's result; short results are padded with lanes that do not
/// matter.
fn goal_of(window: &Window, widths: &Widths) -> Goal {
    let element = window.output.elem.bits();
    let flat = semantics::unroll::elements(window.term, element);
    let mut elements: Vec<Option<Term>> = flat
        .into_iter()
        .map(|t| Some(crate::canonical::sink_extensions(t)))
        .collect();
    if element < widths.narrowest() {
        let least = widths.least_lanes(element);
        let lanes = least.max(elements.len().next_power_of_two());
        elements.resize(lanes, None);
    }
    Goal { element, elements }
}
