//! The search for one window: registers to be filled, from the window's meaning down to its
//! inputs.
//!
//! In: goals, candidates, limits. Out: values of a [`Program`] that hold the goals. For each
//! goal, in turn: constants and pieces of inputs are there for the taking; instructions
//! whose meaning matches give smaller goals for their operands; where every lane computes
//! the same function, [`crate::lanes`] enumerates expressions; data movement is solved from
//! the instructions' own move tables; what is too wide, or not found whole, is split.
//! Solutions are kept per goal.
//!
//! It proposes programs; [`crate::compile`] proves them.

mod alike;
pub(crate) mod bilinear;
mod bytes;
mod carried;
mod claims;
mod common;
mod cover;
mod crossing;
mod dealt;
mod decompositions;
mod defined;
pub(crate) mod doubled;
mod expansion;
mod extended;
mod extremes;
mod fields;
mod fold;
mod halves;
mod identified;
mod in_words;
mod lanewise;
mod least;
mod limits;
mod loads;
mod matrices;
mod merge;
mod movement;
mod narrowed;
pub(crate) mod orders;
mod others;
mod pack;
mod paired_products;
mod pairs;
mod place;
mod saturate;
pub(crate) mod signs;
mod staged;
mod superwords;
mod tables;
mod views;
mod whole;

pub(crate) use narrowed::Lanes;
use paired_products::adds_products;

use crate::alternatives;
use crate::candidates::{Action, Candidates};
use crate::cost::Cost;
use crate::estimate::{Estimator, WindowInput};
use crate::goal::Goal;
use crate::lanes::{self, Counterexamples, LaneExpr, LaneGoal, LaneReport, NearMiss};
use crate::limit::{Bound, Limit};
use autoir::program::{Program, Value};
use semantics::sort::Sort;
use semantics::term::Term;
use smt::prover::Prover;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;
use target::processor::Processor;

/// The variable for bits that do not matter.
const NOTHING: &str = "@nothing";
/// How many of a window's numbers are tried as immediates.
const MAX_NUMBERS: usize = 24;
/// The largest function that lane search is tried on.
const MAX_LANE_SIZE: u32 = 60;
/// The size up to which a function is enumerated before it is taken apart.
const SMALL: u32 = 24;
/// What a program of one register may cost at most that is looked for first, and then, in the cheapest
/// operations, and with how many goals each.
const LOW_BOUNDS: [Cost; 3] = [4, 12, 36];
const LOW_GOALS: usize = 256;
/// Goals that are spent on what may cost less than one instruction that computes a window.
const BESIDE_ONE: usize = 512;
/// Matches of instructions after which no further goal is looked at.
pub(crate) const MATCHES: usize = 200_000;
/// Depth of operands below operands.
const MAX_DEPTH: usize = 12;

/// Which heuristics the search uses; all of them unless one is to be measured.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Grammar {
    /// Only operations whose operators occur in the window, or are simple.
    pub operators: bool,
    /// No operations on elements narrower than the goal's.
    pub elements: bool,
    /// Only the likeliest instructions that match a goal.
    pub likeliest: bool,
    /// Expressions that every lane computes are covered lane by lane.
    pub lanewise: bool,
    /// Expressions are covered at the number of lanes that fits best, not only at their own.
    pub scaling: bool,
    /// Covers are also chosen among all ways to write all values at once.
    pub saturation: bool,
    /// Values that are known functions are written otherwise by the rules that come with the program.
    pub rules: bool,
}

impl Default for Grammar {
    fn default() -> Grammar {
        Grammar {
            operators: true,
            elements: true,
            likeliest: true,
            lanewise: true,
            scaling: true,
            saturation: true,
            rules: true,
        }
    }
}

/// Bounds on one window.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Time and memory.
    pub limit: Limit,
    /// Expressions tried in one lane search.
    pub lane_evaluations: u64,
    /// Goals expanded.
    pub goals: usize,
    /// Instructions matched against goals.
    pub matches: usize,
    /// Which heuristics are used.
    pub grammar: Grammar,
}

/// What happened.
#[derive(Clone, Debug, Default)]
pub struct SearchReport {
    /// Goals expanded.
    pub goals: usize,
    /// Instructions matched against goals.
    pub matches: usize,
    /// Lane searches, with what each did.
    pub lanes: Vec<LaneReport>,
    /// What agreed with the whole window on most inputs, where nothing agreed on all.
    pub near_misses: Vec<NearMiss>,
    /// The ways to compute the whole window that were compared, and what each costs.
    pub tried: Vec<(String, Option<Cost>)>,
    /// Operations that agree with a piece of the window on all fixed inputs and yet are not
    /// equal to it: with the input that shows it.
    pub refuted: Vec<String>,
    /// Bounds that were reached.
    pub stopped_by: BTreeSet<Bound>,
}

impl SearchReport {
    /// The bounds because of which goals were left out: something cheaper may be among them.
    pub fn left_out(&self) -> impl Iterator<Item = Bound> {
        let bounds = self.stopped_by.iter().copied();
        bounds.filter(|bound| bound.leaves_out())
    }
}

/// The search over one window.
pub struct Search<'a> {
    candidates: &'a Candidates,
    inputs: Vec<WindowInput>,
    /// Values that stand for inputs in goals about how their elements move.
    named: BTreeMap<String, (Value, Term)>,
    /// Upper halves that were taken out of registers.
    uppers: HashMap<Value, Value>,
    /// What values hold, for the proof.
    claims: BTreeMap<Value, Vec<Goal>>,
    memory: cover::Memory,
    /// Registers that rules and equality saturation gave.
    rewritten: BTreeSet<Value>,
    /// Whether the goal at hand is a sum that is looked for across lanes.
    across: bool,
    prover: &'a Prover,
    limits: Limits,
    /// The values made so far.
    pub graph: Program,
    estimator: Estimator<'a>,
    /// Registers that hold a goal too, found in another way: for when the cheaper ones cannot be proved.
    second: Option<(Goal, Vec<Value>)>,
    /// What happened.
    pub report: SearchReport,
    solved: HashMap<(bool, Goal), Solved>,
    /// What the goal at hand may cost at most to be of use: whoever asks for it knows as good.
    bound: Cost,
    /// Whether the goal at hand is an operand of a movement: movements are at most two deep.
    moving: bool,
    /// Whether elements stay as wide as they are.
    undivided: bool,
    /// Lane searches by goal and number of lanes: the bound on the cost, and the answer.
    lane_answers: HashMap<(LaneGoal, u32), (Cost, LaneAnswer)>,
    /// What has refuted candidates before, here and in other windows.
    known: Counterexamples,
    /// Numbers in the window that may be immediates.
    numbers: BTreeSet<u64>,
    open: HashSet<Goal>,
    choosers: tables::Choosers,
    /// Whether the value at hand is a number that is looked up.
    indexing: bool,
    packings: HashMap<(u32, u32), Rc<Vec<pack::Packing>>>,
    moves: movement::Moves,
    crossings: HashMap<(u32, u32), Rc<Vec<crossing::Crossing>>>,
    matching: decompositions::Memory,
}

/// The cheapest value that was found for a goal, where one below a bound was looked for.
#[derive(Clone, Copy)]
struct Solved {
    found: Option<(Value, Cost)>,
    bound: Cost,
}

impl Solved {
    /// Whether a search below another bound would find no other.
    fn holds_below(self, bound: Cost) -> bool {
        bound <= self.bound || self.found.is_some_and(|(_, cost)| cost < self.bound)
    }
}

/// What a lane search found, and whether it was complete.
type LaneAnswer = (Option<(LaneExpr, Cost)>, bool);

impl<'a> Search<'a> {
    /// What is taken by what is no operation.
    fn processor(&self) -> &'a Processor {
        &self.candidates.costs.processor
    }

    /// A bound that is no lower, one of few: what was looked for below one is not looked for again below
    /// each that is a little higher.
    fn coarse(&self, bound: Cost) -> Cost {
        let step = self.processor().operation;
        let steps = bound.div_ceil(step).checked_next_power_of_two();
        steps.map_or(Cost::MAX, |steps| steps.saturating_mul(step))
    }

    /// A search over a window with these inputs and this meaning.
    pub fn new(
        candidates: &'a Candidates,
        inputs: &[WindowInput],
        term: Term,
        prover: &'a Prover,
        limits: Limits,
        known: Counterexamples,
    ) -> Search<'a> {
        Search {
            candidates,
            inputs: inputs.to_vec(),
            named: BTreeMap::new(),
            uppers: HashMap::new(),
            claims: BTreeMap::new(),
            memory: cover::Memory::default(),
            rewritten: BTreeSet::new(),
            across: false,
            prover,
            limits,
            graph: Program::over(Arc::clone(&candidates.instances)),
            estimator: Estimator::new(
                candidates.list.iter().map(|c| &c.weight),
                &candidates.costs,
                &candidates.widths,
                inputs,
            ),
            second: None,
            report: SearchReport::default(),
            solved: HashMap::new(),
            bound: Cost::MAX,
            moving: false,
            undivided: false,
            lane_answers: HashMap::new(),
            known,
            numbers: lanes::numbers_of(term)
                .into_iter()
                .filter_map(|n| u64::try_from(n).ok())
                .take(MAX_NUMBERS)
                .chain(alternatives::immediates(term))
                .collect(),
            open: HashSet::new(),
            choosers: HashMap::new(),
            indexing: false,
            packings: HashMap::new(),
            moves: movement::Moves::default(),
            crossings: HashMap::new(),
            matching: decompositions::Memory::default(),
        }
    }

    /// Only what costs less is of use from now on, where something is given.
    pub fn look_below(&mut self, bound: Option<Cost>) {
        self.bound = bound.unwrap_or(Cost::MAX);
    }

    /// Registers that together hold the window, least significant first.
    pub fn solve_window(&mut self, goal: &Goal) -> Option<Vec<Value>> {
        let found = self.solve_registers(goal)?;
        Some(self.in_superwords(goal, found))
    }

    /// Registers that together hold a goal, each as it is found by itself: a cover by lanes, or
    /// one register where it fits and is found, else halves.
    fn solve_registers(&mut self, goal: &Goal) -> Option<Vec<Value>> {
        if self.is_beyond(goal) {
            return None;
        }
        if let Some(found) = self.joined_to_one(goal) {
            return Some(found);
        }
        let found = match self.each_by_one(goal) {
            Some(found) => found,
            None => self.solve_at_any_width(goal)?,
        };
        if !self.estimator.waits(&self.graph, &found) {
            return Some(found);
        }
        let (known, second) = (self.estimate(&found), self.second.take());
        Some(match self.carried_last(goal, &found, known) {
            Some(faster) => {
                self.second = Some((goal.clone(), found));
                faster
            }
            None => {
                self.second = second;
                found
            }
        })
    }

    /// Whether a goal needs a division or an operator of floats that no operation of the target
    /// computes with, and that is written in no other way: nothing is searched for then.
    fn is_beyond(&self, goal: &Goal) -> bool {
        let (mut seen, mut work) = (HashSet::new(), goal.live().collect::<Vec<_>>());
        while let Some(t) = work.pop() {
            if !seen.insert(t) {
                continue;
            }
            work.extend(t.children());
            let other = || [alternatives::alternatives(t), alternatives::variants(t)].concat();
            if self.candidates.lack(t) && other().is_empty() {
                return true;
            }
        }
        false
    }

    fn solve_in_registers(&mut self, goal: &Goal) -> Option<Vec<Value>> {
        let fits = goal.width() <= self.candidates.widths.widest();
        let (outer, all) = (self.bound, self.limits.goals);
        let one = self.one_instruction(goal);
        if let Some((value, _)) = one.filter(|(value, _)| self.is_enough(goal, *value)) {
            return Some(vec![value]);
        }
        if let Some((_, cost)) = one {
            self.bound = outer.min(cost);
            self.limits.goals = all.min(self.report.goals + BESIDE_ONE);
        }
        let further = self.solve_further(goal, fits && one.is_some());
        (self.bound, self.limits.goals) = (outer, all);
        match (one, further) {
            (Some((value, _)), Some(values)) => {
                let cheaper = self.estimate(&values) < self.estimate(&[value]);
                Some(if cheaper { values } else { vec![value] })
            }
            (Some((value, _)), None) => Some(vec![value]),
            (None, further) => further,
        }
    }

    /// Registers that hold a goal that no single least instruction computes; where one is known, halves
    /// are not looked for. What reads whole elements is looked for last, for what is known not to be
    /// displaced within the search, which goes by latencies.
    fn solve_further(&mut self, goal: &Goal, known: bool) -> Option<Vec<Value>> {
        let found = self.solve_plainly(goal, known);
        let found = self.in_two_stages(goal, found);
        let wholes = self.cover_wholes(goal).map(|(values, _)| values);
        self.cheaper_registers(goal, found, wholes)
    }

    fn solve_plainly(&mut self, goal: &Goal, known: bool) -> Option<Vec<Value>> {
        let fits = goal.width() <= self.candidates.widths.widest();
        let covered = self.cover_window(goal).map(|(values, _)| values);
        let (outer, given) = (self.bound, covered.is_some());
        let beside = |search: &Self, covered: &Option<Vec<Value>>| {
            let known = covered
                .as_ref()
                .map(|v| search.estimator.sum(&search.graph, v));
            known.map_or(outer, |known| outer.min(known * 3 / 2))
        };
        self.bound = beside(self, &covered);
        let paired = self.in_paired_products(goal);
        let covered = self.cheaper_registers(goal, covered, paired);
        self.bound = beside(self, &covered);
        let covered = covered.map(|values| {
            let cost = self.estimate(&values);
            (values, cost)
        });
        // A matrix of bits that is written out at length matches in many ways that lead nowhere.
        let steps = given && self.is_matrix(goal);
        let whole = match fits && !steps {
            true => {
                let all = self.limits.goals;
                if given {
                    self.limits.goals = all.min(self.goals_beside_a_cover(goal));
                }
                let found = self.solve_deeper(goal);
                self.limits.goals = all;
                found
            }
            false => None,
        };
        self.bound = outer;
        let whole = whole.map(|(value, _)| (value, self.estimate(&[value])));
        if fits {
            let cost = whole.map(|(_, estimate)| estimate.cost);
            self.tried("by what instructions mean, one register", cost);
        }
        match (covered, whole) {
            (Some((values, cost)), Some((value, other))) if cost <= other => {
                self.second = Some((goal.clone(), vec![value]));
                Some(values)
            }
            (None, Some((value, cost))) if self.moves_at_length(goal, value) => {
                let apart = self.solve_halves(goal, Some(cost));
                Some(apart.unwrap_or_else(|| vec![value]))
            }
            (covered, Some((value, _))) => {
                self.second = covered.map(|(values, _)| (goal.clone(), values));
                Some(vec![value])
            }
            (Some((values, cost)), None) if !fits => {
                let apart = self.solve_halves(goal, Some(cost));
                if apart.is_some() {
                    self.second = Some((goal.clone(), values.clone()));
                }
                Some(apart.unwrap_or(values))
            }
            (Some((values, _)), None) => Some(values),
            (None, None) if known => None,
            (None, None) => self.crossed_or_halves(goal),
        }
    }

    /// Whether elements are brought to their places by more movements than there are registers half as
    /// wide.
    fn moves_at_length(&self, goal: &Goal, value: Value) -> bool {
        goal.only_moves() && self.estimator.operations(&self.graph, &[value]) > 2
    }

    /// The cheapest value found for a goal, looked for below one low bound after another with few goals
    /// each, where what costs little is found (Korf, 1985); then without one, with all goals.
    fn solve_deeper(&mut self, goal: &Goal) -> Option<(Value, Cost)> {
        let (end, all) = (self.bound, self.limits.goals);
        let stopped = self.report.stopped_by.clone();
        let first = self.report.goals;
        let bounds = LOW_BOUNDS.map(|most| most * self.processor().operation);
        for bound in bounds.into_iter().filter(|bound| *bound < end) {
            self.limits.goals = all.min(self.report.goals + LOW_GOALS);
            self.bound = bound;
            let found = self.solve(goal, 0).filter(|(_, cost)| *cost < bound);
            let ended = self.report.goals < self.limits.goals;
            (self.bound, self.limits.goals) = (end, all);
            if found.is_some() {
                return found;
            }
            if !ended {
                // What was not found then may be there.
                self.solved.clear();
                self.report.stopped_by.clone_from(&stopped);
                break;
            }
        }
        self.limits.goals = all + (self.report.goals - first);
        let found = self.solve(goal, 0);
        self.limits.goals = all;
        found
    }

    /// Notes a way to compute the window.
    fn tried(&mut self, what: &str, cost: Option<Cost>) {
        self.report.tried.push((what.to_owned(), cost));
    }

    /// A variable for a value, to say how its elements move.
    fn named(&mut self, value: Value) -> Term {
        let width = self.graph.width(value);
        let name = format!("@value{value}");
        let term = Term::var(&name, Sort::Bv(width));
        self.named.insert(name, (value, term));
        term
    }

    /// The input of that name, or the value.
    fn input(&self, name: &str) -> Option<WindowInput> {
        if let Some((_, term)) = self.named.get(name) {
            return Some(WindowInput {
                name: name.to_owned(),
                width: term.width(),
                in_memory: false,
                held: false,
                chains: 0,
            });
        }
        self.inputs.iter().find(|i| i.name == name).cloned()
    }

    /// The cheapest value found for a goal, among those below the bound.
    fn solve(&mut self, goal: &Goal, depth: usize) -> Option<(Value, Cost)> {
        if let Some(value) = self.held_by_a_move(goal) {
            return Some((value, 0));
        }
        let (key, bound) = ((self.moving, goal.clone()), self.bound);
        if let Some(done) = self.solved.get(&key).filter(|s| s.holds_below(bound)) {
            return done.found;
        }
        if depth > MAX_DEPTH || self.open.contains(goal) {
            return None;
        }
        for (met, limit) in [
            (self.report.goals >= self.limits.goals, Bound::Goals),
            (self.report.matches >= self.limits.matches, Bound::Matches),
        ] {
            if met {
                self.report.stopped_by.insert(limit);
                return None;
            }
        }
        if let Some(passed) = self.limits.limit.passed() {
            self.report.stopped_by.insert(passed);
            return None;
        }
        self.report.goals += 1;
        self.open.insert(goal.clone());
        self.bound = self.coarse(bound);
        let found = self.expand(goal, depth);
        self.open.remove(goal);
        self.bound = bound;
        let found = found.map(|(value, cost)| (value, self.whole_cost(goal, value, cost)));
        if let Some((value, _)) = found {
            self.claim(value, goal);
        }
        let bound = self.coarse(bound);
        self.solved.insert(key, Solved { found, bound });
        found
    }

    /// What a value costs with all that it rests on: of registers that were named on the way only what
    /// is made of them was counted. A goal about such registers is made of them.
    fn whole_cost(&self, goal: &Goal, value: Value, cost: Cost) -> Cost {
        let named = |v: &Term| v.as_var().is_some_and(|name| self.named.contains_key(name));
        let rests = |t: Term| self.matching.facts.variables(t).iter().any(named);
        match goal.live().any(rests) {
            true => cost,
            false => cost.max(self.estimator.sum(&self.graph, &[value])),
        }
    }

    /// The cheaper of two; only what costs less still is looked for from now on.
    fn narrow(
        &mut self,
        best: Option<(Value, Cost)>,
        found: Option<(Value, Cost)>,
    ) -> Option<(Value, Cost)> {
        let best = cheaper(best, found);
        self.bound = best.map_or(self.bound, |(_, cost)| cost.min(self.bound));
        best
    }

    fn expand(&mut self, goal: &Goal, depth: usize) -> Option<(Value, Cost)> {
        if let Some(v) = self.given(goal) {
            return Some(v);
        }
        let defined = self.defined(goal);
        if defined.is_some_and(|(value, _)| self.is_least(value)) {
            return defined;
        }
        let mut best = self.narrow(None, defined);
        let low = self.low_half(goal, depth);
        best = self.narrow(best, low);
        if goal.only_moves() {
            let loaded = self.loaded_in_pieces(goal);
            let moved = loaded.or_else(|| self.move_once(goal));
            best = self.narrow(best, moved);
            if best.is_none_or(|(value, _)| !self.is_least(value)) {
                let repeated = self.repeated(goal);
                best = self.narrow(best, repeated);
            }
            if best.is_none() {
                best = (self.half_of_wider(goal)).or_else(|| self.move_by_network(goal));
            }
            if best.is_none()
                && let Some(bytes) = bytes::in_bytes(goal)
            {
                best = self.solve(&bytes, depth + 1);
            }
            // Several movements in a row only where one will not do.
            let one_will_not = best.is_none();
            if one_will_not && !self.moving {
                let crossed = self.crossed(goal);
                best = self.narrow(best, crossed);
                let merged = self.merged(goal, depth);
                best = self.narrow(best, merged);
                self.moving = true;
                let moved = self.match_candidates(goal, depth, best, Action::Movement);
                best = self.narrow(best, moved);
                self.moving = false;
            }
            if one_will_not && self.takes_ends(goal) {
                best = cheaper(best, self.packed(goal, depth));
            }
            return best.or_else(|| self.repeated_in_wider(goal, depth));
        }
        let (sums, will_do) = self.sums_defined(goal, depth);
        best = self.narrow(best, sums);
        if will_do {
            return best;
        }
        if let Some(moved) = bytes::by_bytes(goal) {
            let moved = self.solve(&moved, depth + 1);
            best = self.narrow(best, moved);
        }
        if let Some(paired) = pairs::by_pairs(goal) {
            let paired = self.solve(&paired, depth + 1);
            best = self.narrow(best, paired);
        }
        if self.across {
            let products = self.products_in_pairs(goal, depth);
            best = self.narrow(best, products);
        }
        let parts = self.by_fields(goal, depth);
        best = self.narrow(best, parts);
        let turned = self.by_other_signs(goal, depth);
        best = self.narrow(best, turned);
        let folded = self.fold(goal, depth);
        if folded.is_some() {
            return cheaper(best, folded);
        }
        let covered = self.cover_whole(goal, depth);
        best = self.narrow(best, covered.map(|(value, cost, _)| (value, cost)));
        // Elements wider than the result lie in more registers, which instructions bring
        // together, where none does that as well by itself.
        let narrows = !covered.is_some_and(|(.., filled)| filled) && self.narrows(goal);
        // Where lanes stay in their places there is nothing for movements to gain.
        let apart = covered.is_some()
            && !narrows
            && self.lanes_stay(goal)
            && !goal.live().next().is_some_and(adds_products);
        // Small functions are enumerated first, large ones taken apart first: what comes
        // second has a bound to stay below.
        let small = goal.live().next().is_some_and(|t| t.size() <= SMALL);
        if small {
            let (found, complete) = self.one_lane(goal, depth, best);
            best = self.narrow(best, found);
            if best.is_some() && (complete && !narrows || apart) {
                return best;
            }
        }
        if apart {
            return best;
        }
        let matched = self.match_candidates(goal, depth, best, Action::Computation);
        best = self.narrow(best, matched);
        if narrows {
            best = cheaper(best, self.packed(goal, depth));
        }
        if !small && covered.is_none() {
            best = cheaper(best, self.one_lane(goal, depth, best).0);
        }
        if best.is_none() && depth < 2 {
            best = self.match_candidates(goal, depth, best, Action::Movement);
        }
        best
    }
}

fn cheaper(a: Option<(Value, Cost)>, b: Option<(Value, Cost)>) -> Option<(Value, Cost)> {
    match (a, b) {
        (Some(x), Some(y)) => Some(if y.1 < x.1 { y } else { x }),
        (x, y) => x.or(y),
    }
}
