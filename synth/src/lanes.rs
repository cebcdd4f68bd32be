//! Search in one lane: counterexample-guided enumeration by cost.
//!
//! In: the function that every lane computes, and the lane functions of the candidates.
//! Out: the cheapest expression over them that equals it on all inputs, proved. Values are
//! told apart by what they are on a set of concrete inputs (observational equivalence), so
//! that each behaviour is kept once, in its cheapest form; expressions come up in order of
//! cost; the first that agrees with the goal everywhere it was tried is given to the
//! prover, and an input that refutes it joins the tests.
//!
//! Lanes are independent here: movement between lanes is [`crate::search`]'s matter.

mod counterexamples;
mod terms;

pub use counterexamples::Counterexamples;
pub(crate) use terms::is_within;
pub use terms::{computes_floats, contains, numbers_of, operators_of, signature, signature_of};

use crate::cost::Cost;
use crate::lane_function::LaneFunction;
use crate::limit::{Bound, Limit};
use semantics::bits::Bits;
use semantics::eval::{CompiledTerms, Input};
use semantics::sort::Sort;
use semantics::subst::replace_vars;
use semantics::term::Term;
use smt::verdict::Verdict;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap};
use std::fmt;

/// A lane function with its immediates given.
#[derive(Clone, Debug)]
pub struct LaneOp {
    /// Index among the candidates.
    pub candidate: usize,
    /// The instruction's name in C.
    pub name: String,
    /// Immediate operands and their values.
    pub immediates: Vec<(String, Bits)>,
    /// The vector operands in order: what the function calls them, and the width of a lane.
    pub inputs: Vec<(String, u32)>,
    /// The function. Two operations that do the same to a lane have the same.
    pub term: Term,
    /// What one application costs.
    pub cost: Cost,
}

/// The problem: a function of some leaves.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct LaneGoal {
    /// The leaves: variables with their widths.
    pub leaves: Vec<(String, u32)>,
    /// The function.
    pub term: Term,
}

/// An expression that was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LaneExpr {
    /// A leaf.
    Leaf(usize),
    /// A constant in every lane.
    Constant(Bits),
    /// An operation on expressions.
    Apply {
        /// Index among the operations given to the search.
        op: usize,
        /// The vector operands.
        args: Vec<LaneExpr>,
    },
}

/// Bounds of one search.
#[derive(Clone, Copy, Debug)]
pub struct LaneLimits {
    /// Candidates evaluated at most.
    pub evaluations: u64,
    /// Cost that a solution must stay below.
    pub below: Cost,
    /// What a constant costs.
    pub constant: Cost,
    /// Time and memory.
    pub limit: Limit,
}

/// Why a search ended, and what it did.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LaneReport {
    /// Candidates evaluated.
    pub evaluations: u64,
    /// Distinct behaviours kept.
    pub behaviours: usize,
    /// Candidates that agreed on all tests but were refuted by the prover.
    pub refuted: Vec<NearMiss>,
    /// When nothing was found: what agreed on the most tests, and where it does not.
    pub nearest: Option<NearMiss>,
    /// Which bound ended the search; none when it found something or ran out of candidates.
    pub stopped_by: Option<Bound>,
}

/// An expression that equals the goal on many inputs, but not on all.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NearMiss {
    /// The expression, in the candidates' C names over the leaves.
    pub expression: String,
    /// What the leaves are called.
    pub names: Vec<String>,
    /// An input on which it differs: the leaves' values.
    pub input: Vec<Bits>,
    /// What the goal is there.
    pub expected: Bits,
    /// What the expression is there.
    pub found: Bits,
    /// On how many of the tests it agrees, and how many there are.
    pub agrees: (usize, usize),
}

impl fmt::Display for NearMiss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let signed = |bits: &Bits| {
            bits.to_i128()
                .map_or_else(|| bits.to_string(), |v| v.to_string())
        };
        write!(
            f,
            "{} agrees on {} of {} inputs, but not at ",
            self.expression, self.agrees.0, self.agrees.1
        )?;
        for (k, (name, value)) in self.names.iter().zip(&self.input).enumerate() {
            write!(
                f,
                "{}{name} = {}",
                if k == 0 { "" } else { ", " },
                signed(value)
            )?;
        }
        write!(
            f,
            ": there it is {}, not {}",
            signed(&self.found),
            signed(&self.expected)
        )
    }
}

/// Number of concrete inputs that candidates are first compared on.
const TESTS: usize = 64;

/// Values of all leaves on all tests, by leaf.
struct Tests {
    leaves: Vec<Vec<u64>>,
}

/// A behaviour that was found, and how.
struct Entry {
    width: u32,
    words: Vec<u64>,
    how: How,
    cost: Cost,
}

#[derive(Clone, Debug)]
enum How {
    Leaf(usize),
    Constant(Bits),
    Apply { op: usize, args: Vec<usize> },
}

/// The cheapest proved expression below the cost bound, if there is one within the limits.
pub fn search(
    goal: &LaneGoal,
    ops: &[LaneOp],
    limits: LaneLimits,
    known: &Counterexamples,
    prove: &dyn Fn(Term, Term) -> Verdict,
) -> (Option<(LaneExpr, Cost)>, LaneReport) {
    let mut report = LaneReport::default();
    let mut tests = Tests::new(goal, known);
    loop {
        let mut round = Round::new(goal, ops, &tests, limits);
        let found = round.run();
        report.evaluations += round.evaluations;
        report.behaviours = round.entries.len();
        report.stopped_by = round.stopped_by;
        let Some((how, cost)) = found else {
            report.nearest = round.near_miss(&tests);
            return (None, report);
        };
        let expr = round.expr(&how);
        let term = expr_term(&expr, goal, ops);
        match prove(term, goal.term) {
            Verdict::Proved(_) => return (Some((expr, cost)), report),
            Verdict::Refuted(model) => {
                let agrees = (tests.count(), tests.count() + 1);
                let value = |name: &str| model.get(name).map_or(0, |v| v.bits().low_u64());
                for (leaf, (name, _)) in tests.leaves.iter_mut().zip(&goal.leaves) {
                    leaf.push(value(name));
                }
                let at = tests.input(goal, tests.count() - 1);
                report.refuted.push(NearMiss {
                    expression: describe(&expr, goal, ops),
                    names: leaf_names(goal),
                    expected: value_at(goal.term, goal, &at),
                    found: value_at(term, goal, &at),
                    input: at,
                    agrees,
                });
            }
            Verdict::Unknown(_) => {
                report.stopped_by = Some(Bound::Undecided);
                return (None, report);
            }
        }
        if report.refuted.len() > 40 {
            report.stopped_by = Some(Bound::Refuted);
            return (None, report);
        }
    }
}

/// The expression as a term over the goal's leaves.
pub fn expr_term(expr: &LaneExpr, goal: &LaneGoal, ops: &[LaneOp]) -> Term {
    match expr {
        LaneExpr::Leaf(k) => Term::var(&goal.leaves[*k].0, Sort::Bv(goal.leaves[*k].1)),
        LaneExpr::Constant(bits) => Term::bits(bits.clone()),
        LaneExpr::Apply { op, args } => {
            let op = &ops[*op];
            let values: Vec<Term> = args.iter().map(|a| expr_term(a, goal, ops)).collect();
            // Operand names may equal leaf names: replace all at once.
            let map: HashMap<&str, Term> = op
                .inputs
                .iter()
                .map(|(n, _)| n.as_str())
                .zip(values)
                .collect();
            replace_vars(op.term, &map)
        }
    }
}

fn leaf_names(goal: &LaneGoal) -> Vec<String> {
    goal.leaves.iter().map(|(name, _)| name.clone()).collect()
}

/// The value of a term over the goal's leaves on one input.
fn value_at(term: Term, goal: &LaneGoal, input: &[Bits]) -> Bits {
    let values = goal.leaves.iter().zip(input);
    let map: HashMap<&str, Term> = values
        .map(|((n, _), v)| (n.as_str(), Term::bits(v.clone())))
        .collect();
    let value = replace_vars(term, &map);
    value.as_bits().cloned().unwrap_or_else(|| {
        let run = CompiledTerms::of(value).run(&[]);
        run[0].bits().clone()
    })
}

fn describe(expr: &LaneExpr, goal: &LaneGoal, ops: &[LaneOp]) -> String {
    match expr {
        LaneExpr::Leaf(k) => goal.leaves[*k].0.clone(),
        LaneExpr::Constant(bits) => bits.to_string(),
        LaneExpr::Apply { op, args } => {
            let args: Vec<String> = args.iter().map(|a| describe(a, goal, ops)).collect();
            format!("{}({})", ops[*op].name, args.join(", "))
        }
    }
}

impl Tests {
    /// Edges, random values, and what has refuted others.
    fn new(goal: &LaneGoal, known: &Counterexamples) -> Tests {
        let mut state = 0x5851_f42d_4c95_7f2c_u64;
        let mut next = move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let x = state ^ (state >> 33);
            x.wrapping_mul(0xff51_afd7_ed55_8ccd) ^ (x >> 29)
        };
        let mut leaves: Vec<Vec<u64>> = vec![Vec::new(); goal.leaves.len()];
        for test in 0..TESTS {
            for (k, (_, width)) in goal.leaves.iter().enumerate() {
                let mask = u64::MAX >> (64 - width);
                let half = 1u64 << (width - 1);
                let edges = [
                    0,
                    mask,
                    half,
                    half.wrapping_sub(1),
                    1,
                    half + 1,
                    mask.wrapping_sub(1),
                ];
                let random = next();
                let edge = edges[(random >> 40) as usize % edges.len()];
                let value = if test < edges.len() {
                    edges[(test + 3 * k) % edges.len()]
                } else if test % 2 == 0 && random & 3 != 0 {
                    edge
                } else {
                    random >> (random >> 58 & 7)
                };
                leaves[k].push(value & mask);
            }
        }
        for input in known.of(goal) {
            for (leaf, &value) in leaves.iter_mut().zip(input) {
                leaf.push(value);
            }
        }
        Tests { leaves }
    }

    /// One test's input.
    fn input(&self, goal: &LaneGoal, test: usize) -> Vec<Bits> {
        let leaves = goal.leaves.iter().zip(&self.leaves);
        leaves
            .map(|((_, width), words)| Bits::from_u64(*width, words[test]))
            .collect()
    }

    fn count(&self) -> usize {
        self.leaves.first().map_or(1, Vec::len)
    }
}

/// For every width, the least cost of operations that lead from it to the goal's width; a
/// width that is absent leads nowhere.
fn remaining_costs(goal: u32, ops: &[LaneOp]) -> HashMap<u32, Cost> {
    let mut costs = HashMap::from([(goal, 0)]);
    loop {
        let mut changed = false;
        for op in ops {
            let Some(&after) = costs.get(&op.term.width()) else {
                continue;
            };
            for (_, w) in &op.inputs {
                let through = op.cost + after;
                if costs.get(w).is_none_or(|&c| c > through) {
                    costs.insert(*w, through);
                    changed = true;
                }
            }
        }
        if !changed {
            return costs;
        }
    }
}

/// A fingerprint of what a value is on all tests. Two behaviours that collide cost at most a
/// candidate, never correctness.
pub fn behaviour(head: u64, words: &[u64]) -> u128 {
    let mut low = head.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut high = !low;
    for &w in words {
        low = (low.rotate_left(29) ^ w).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        high = (high.rotate_left(37) ^ w).wrapping_mul(0x94d0_49bb_1331_11eb);
    }
    u128::from(low) << 64 | u128::from(high ^ (high >> 31))
}

/// Which arguments [`Round::each_choice`] is choosing: an operation, the widths of its
/// operands, and the place that the newest value takes.
struct Choice<'a> {
    op: usize,
    widths: &'a [u32],
    newest: usize,
    place: usize,
}

/// One enumeration over fixed tests.
struct Round<'a> {
    goal: &'a LaneGoal,
    ops: &'a [LaneOp],
    limits: LaneLimits,
    target: Vec<u64>,
    programs: Vec<(CompiledTerms, semantics::eval::Frame)>,
    entries: Vec<Entry>,
    by_width: HashMap<u32, Vec<usize>>,
    seen: HashMap<u128, Cost>,
    queue: BinaryHeap<Reverse<(Cost, usize)>>,
    pending: Vec<Option<Entry>>,
    evaluations: u64,
    /// No more evaluations than this; once there is a solution, twice what it took.
    budget: u64,
    /// The least cost from a value of a width to one of the goal's width.
    remaining: HashMap<u32, Cost>,
    /// The cheapest solution so far.
    found: Option<(How, Cost)>,
    /// What agrees with the goal on the most tests without agreeing on all.
    nearest: Option<(usize, How, Vec<u64>)>,
    stopped_by: Option<Bound>,
    tests: usize,
}

impl<'a> Round<'a> {
    fn new(goal: &'a LaneGoal, ops: &'a [LaneOp], tests: &Tests, limits: LaneLimits) -> Round<'a> {
        let count = tests.count();
        let inputs: Vec<Input> = goal
            .leaves
            .iter()
            .map(|(n, w)| Input {
                name: n.clone(),
                sort: Sort::Bv(*w),
            })
            .collect();
        let program =
            CompiledTerms::compile(&[goal.term], &inputs).expect("a goal reads only its leaves");
        let mut frame = program.frame(count);
        for (k, words) in tests.leaves.iter().enumerate() {
            program.input_words(&mut frame, k).copy_from_slice(words);
        }
        program.execute(&mut frame);
        let target = program.output_words(&frame, 0).to_vec();
        let programs = ops
            .iter()
            .map(|op| {
                let inputs: Vec<Input> = op
                    .inputs
                    .iter()
                    .map(|(n, w)| Input {
                        name: n.clone(),
                        sort: Sort::Bv(*w),
                    })
                    .collect();
                let program = CompiledTerms::compile(&[op.term], &inputs)
                    .expect("a lane function reads its operands");
                let frame = program.frame(count);
                (program, frame)
            })
            .collect();
        let mut round = Round {
            goal,
            ops,
            limits,
            target,
            programs,
            entries: Vec::new(),
            by_width: HashMap::new(),
            seen: HashMap::new(),
            queue: BinaryHeap::new(),
            pending: Vec::new(),
            evaluations: 0,
            budget: limits.evaluations,
            remaining: remaining_costs(goal.term.width(), ops),
            found: None,
            nearest: None,
            stopped_by: None,
            tests: count,
        };
        for (k, ((_, width), words)) in goal.leaves.iter().zip(&tests.leaves).enumerate() {
            round.offer(Entry {
                width: *width,
                words: words.clone(),
                how: How::Leaf(k),
                cost: 0,
            });
        }
        for bits in constants_for(goal, ops) {
            let words = vec![bits.low_u64(); count];
            let entry = Entry {
                width: bits.width(),
                words,
                how: How::Constant(bits),
                cost: limits.constant,
            };
            round.offer(entry);
        }
        round
    }

    fn offer(&mut self, entry: Entry) {
        let behaviour = behaviour(u64::from(entry.width), &entry.words);
        let Some(rest) = self.remaining.get(&entry.width) else {
            return;
        };
        if entry.cost + rest >= self.limits.below
            || self.seen.get(&behaviour).is_some_and(|&c| c <= entry.cost)
        {
            return;
        }
        self.seen.insert(behaviour, entry.cost);
        if entry.width == self.goal.term.width() && entry.words == self.target {
            // Nothing dearer can win any more, and what is cheaper is looked for only so long.
            self.limits.below = entry.cost;
            self.budget = self.budget.min(2 * self.evaluations + 20_000);
            self.found = Some((entry.how, entry.cost));
            return;
        }
        self.queue.push(Reverse((entry.cost, self.pending.len())));
        self.pending.push(Some(entry));
    }

    /// Settles behaviours in order of cost until none is left that could be part of
    /// something cheaper than the best solution.
    fn run(&mut self) -> Option<(How, Cost)> {
        while let Some(Reverse((_, slot))) = self.queue.pop() {
            let entry = self.pending[slot].take().expect("each slot is queued once");
            if self
                .seen
                .get(&behaviour(u64::from(entry.width), &entry.words))
                .is_some_and(|&c| c < entry.cost)
            {
                continue;
            }
            if entry.cost + self.remaining[&entry.width] >= self.limits.below {
                continue;
            }
            let index = self.entries.len();
            self.by_width.entry(entry.width).or_default().push(index);
            self.entries.push(entry);
            for op in 0..self.ops.len() {
                if !self.combine(op, index) {
                    return self.found.take();
                }
            }
        }
        self.found.take()
    }

    /// Applies an operation to every choice of settled arguments that includes the newest.
    fn combine(&mut self, op: usize, newest: usize) -> bool {
        let widths: Vec<u32> = self.ops[op].inputs.iter().map(|(_, w)| *w).collect();
        let Some(&rest) = self.remaining.get(&self.ops[op].term.width()) else {
            return true;
        };
        let base = self.ops[op].cost;
        if base + rest >= self.limits.below {
            return true;
        }
        let mut args = vec![0; widths.len()];
        let own = self.entries[newest].width;
        (0..widths.len())
            .rev()
            .filter(|&place| widths[place] == own)
            .all(|place| {
                let choice = Choice {
                    op,
                    widths: &widths,
                    newest,
                    place,
                };
                self.each_choice(&choice, base + rest, base, 0, &mut args)
            })
    }

    /// Gives operand `k` and those after it every settled value that keeps the cost below
    /// the bound; `least` is the cost so far and of what must still follow.
    fn each_choice(
        &mut self,
        choice: &Choice,
        least: Cost,
        cost: Cost,
        k: usize,
        args: &mut [usize],
    ) -> bool {
        if k == choice.widths.len() {
            return self.evaluate(choice.op, args, cost);
        }
        if k == choice.place {
            args[k] = choice.newest;
            let more = self.entries[choice.newest].cost;
            return least + more >= self.limits.below
                || self.each_choice(choice, least + more, cost + more, k + 1, args);
        }
        let count = self.by_width.get(&choice.widths[k]).map_or(0, Vec::len);
        for at in 0..count {
            let entry = self.by_width[&choice.widths[k]][at];
            let more = self.entries[entry].cost;
            // Values are settled in order of cost: those that follow cost no less.
            if least + more >= self.limits.below {
                break;
            }
            // After the newest one's place only older ones, so that each choice comes up once.
            if k > choice.place && entry == choice.newest {
                continue;
            }
            args[k] = entry;
            if !self.each_choice(choice, least + more, cost + more, k + 1, args) {
                return false;
            }
        }
        true
    }

    fn evaluate(&mut self, op: usize, args: &[usize], cost: Cost) -> bool {
        if args
            .iter()
            .all(|&a| matches!(self.entries[a].how, How::Constant(_)))
        {
            return true;
        }
        self.evaluations += 1;
        if self.evaluations >= self.budget {
            self.stopped_by = self.found.is_none().then_some(Bound::Candidates);
            return false;
        }
        if self.evaluations.is_multiple_of(1024)
            && let Some(passed) = self.limits.limit.passed()
        {
            self.stopped_by = Some(passed);
            return false;
        }
        let (program, frame) = &mut self.programs[op];
        for (k, &a) in args.iter().enumerate() {
            program
                .input_words(frame, k)
                .copy_from_slice(&self.entries[a].words);
        }
        program.execute(frame);
        let words = program.output_words(frame, 0);
        debug_assert_eq!(words.len(), self.tests);
        let width = self.ops[op].term.width();
        if self
            .seen
            .get(&behaviour(u64::from(width), words))
            .is_none_or(|&c| c > cost)
        {
            let how = How::Apply {
                op,
                args: args.to_vec(),
            };
            let words = words.to_vec();
            if width == self.goal.term.width() {
                self.compare(&how, &words);
            }
            self.offer(Entry {
                width,
                words,
                how,
                cost,
            });
        }
        true
    }

    /// Keeps what comes nearest to the goal without being it.
    fn compare(&mut self, how: &How, words: &[u64]) {
        let agrees = words
            .iter()
            .zip(&self.target)
            .filter(|(x, y)| x == y)
            .count();
        let nearer = self
            .nearest
            .as_ref()
            .is_none_or(|(most, ..)| agrees > *most);
        if nearer && agrees < self.tests && 2 * agrees > self.tests {
            self.nearest = Some((agrees, how.clone(), words.to_vec()));
        }
    }

    fn near_miss(&self, tests: &Tests) -> Option<NearMiss> {
        let (agrees, how, words) = self.nearest.as_ref()?;
        let test = (0..self.tests).find(|&k| words[k] != self.target[k])?;
        let width = self.goal.term.width();
        Some(NearMiss {
            expression: describe(&self.expr(how), self.goal, self.ops),
            names: leaf_names(self.goal),
            input: tests.input(self.goal, test),
            expected: Bits::from_u64(width, self.target[test]),
            found: Bits::from_u64(width, words[test]),
            agrees: (*agrees, self.tests),
        })
    }

    fn expr(&self, how: &How) -> LaneExpr {
        match how {
            How::Leaf(k) => LaneExpr::Leaf(*k),
            How::Constant(bits) => LaneExpr::Constant(bits.clone()),
            How::Apply { op, args } => LaneExpr::Apply {
                op: *op,
                args: args
                    .iter()
                    .map(|&a| self.expr(&self.entries[a].how))
                    .collect(),
            },
        }
    }
}

/// Constants worth trying: those of the goal with their neighbours and complements, and the
/// landmarks of every operand width.
fn constants_for(goal: &LaneGoal, ops: &[LaneOp]) -> Vec<Bits> {
    let widths: BTreeSet<u32> = ops
        .iter()
        .flat_map(|op| op.inputs.iter().map(|(_, w)| *w))
        .collect();
    let mut values: BTreeSet<i128> = BTreeSet::from([0, 1, -1]);
    for number in numbers_of(goal.term) {
        values.extend([number, number.wrapping_neg(), number - 1, number + 1]);
    }
    let mut out = BTreeSet::new();
    for &w in widths.iter().filter(|&&w| w > 1 && w <= 64) {
        let half = 1i128 << (w - 1);
        for &v in values.iter().chain(&[half, half - 1]) {
            if v >= -half && v < 2 * half {
                out.insert(Bits::from_i128(w, v));
            }
        }
    }
    out.into_iter().collect()
}

/// All choices of one value from each list.
pub fn product(choices: &[Vec<u64>]) -> Vec<Vec<u64>> {
    choices.iter().fold(vec![Vec::new()], |acc, list| {
        acc.iter()
            .flat_map(|head| list.iter().map(move |&v| [head.as_slice(), &[v]].concat()))
            .collect()
    })
}

/// A lane function with its immediates fixed to values, or nothing when a value is out of
/// range.
pub fn fix_immediates(
    candidate: usize,
    name: &str,
    f: &LaneFunction,
    values: &[u64],
    cost: Cost,
) -> Option<LaneOp> {
    let mut map = HashMap::new();
    let mut immediates = Vec::new();
    let mut inputs = Vec::new();
    for (k, (name, width)) in f.inputs.iter().enumerate() {
        let place = operand(k);
        map.insert(name.as_str(), Term::var(&place, Sort::Bv(*width)));
        inputs.push((place, *width));
    }
    for ((name, width, allowed), &value) in f.immediates.iter().zip(values) {
        if !allowed.contains(value) {
            return None;
        }
        let bits = Bits::from_u64(*width, value);
        map.insert(name.as_str(), Term::bits(bits.clone()));
        immediates.push((name.clone(), bits));
    }
    let term = replace_vars(f.term, &map);
    Some(LaneOp {
        candidate,
        name: name.to_owned(),
        immediates,
        inputs,
        term,
        cost,
    })
}

/// What a function of lanes calls its operand `k`.
pub(crate) fn operand(k: usize) -> String {
    format!("_{k}")
}
