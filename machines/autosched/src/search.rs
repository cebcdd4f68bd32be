//! The cheapest candidates: best first, with what cannot be cheaper cut off.
//!
//! In: a space, a model for bounds, an evaluator, limits. Out: [`Found`]: the cheapest ones, the
//! least that any other can cost, and what was done. The open candidate with the least bound is
//! split on the first open choice of the order; a candidate whose bound is not below the worst
//! of those that are kept is cut off with all below it. Ties are broken by depth and then by
//! age, so that the same input gives the same result, unless time ends it.

use crate::bound::{Bound, Bounds, Model};
use crate::estimate::{self, Size};
use crate::space::{Candidate, Emptied, Space, Var};
use semantics::random::Random;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::fmt;
use std::time::{Duration, Instant};

/// Who says what a candidate costs in which all is decided.
pub trait Evaluate {
    /// The cost, at least the model's bound, or why the candidate is none.
    ///
    /// # Errors
    /// Why nothing can be made of these values.
    fn cost(&mut self, space: &Space, values: &[i64]) -> Result<u64, String>;
}

/// The bound itself: what a model says when nothing is open.
impl Evaluate for Model {
    fn cost(&mut self, space: &Space, values: &[i64]) -> Result<u64, String> {
        let start = space.start().map_err(|e| e.to_string())?;
        let mut pairs = space.vars().zip(values);
        let fixed = pairs.try_fold(start, |c, (var, &v)| space.restrict(&c, var, &[v]));
        let fixed = fixed.map_err(|e| e.to_string())?;
        Ok(self.explain(space, &fixed).value)
    }
}

/// Limits and habits of a search.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which choices are made first; those that are missing come last, in the space's order.
    pub order: Vec<Var>,
    /// How many of the cheapest are kept.
    pub keep: usize,
    /// The most candidates that are evaluated.
    pub evaluations: usize,
    /// The most candidates that are split.
    pub splits: usize,
    /// How long it may take; once something is found, no evaluation is begun that would take
    /// longer than what is left, if it took as long as the longest before.
    pub time: Option<Duration>,
    /// Random descents before the search, each towards where there is most to gain.
    pub rollouts: usize,
    /// Whether bounds are used at all; without, every candidate is evaluated.
    pub bounded: bool,
    /// Where the search starts, when some choices are made.
    pub from: Option<Candidate>,
    /// Seed of the descents.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            order: Vec::new(),
            keep: 1,
            evaluations: usize::MAX,
            splits: 1 << 20,
            time: None,
            rollouts: 4,
            bounded: true,
            from: None,
            seed: 1,
        }
    }
}

/// Why no search was made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Problem {
    /// There are no candidates.
    Empty(Emptied),
    /// No time was given.
    NoTime,
    /// There are candidates, and nothing can be made of any; why, for the first.
    Nothing(String),
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Empty(emptied) => write!(f, "the search space is empty: {emptied}"),
            Problem::NoTime => write!(f, "a search in no time finds nothing"),
            Problem::Nothing(why) => write!(f, "no candidate can be made; of the first: {why}"),
        }
    }
}

/// A candidate with its cost.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Leaf {
    /// What it costs.
    pub cost: u64,
    /// The values, in the space's order.
    pub values: Vec<i64>,
}

/// Why a search ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// Nothing is left that could be cheaper.
    Closed,
    /// As many candidates were evaluated as were allowed.
    Evaluations,
    /// As many candidates were split as were allowed.
    Splits,
    /// The time was over.
    Time,
}

/// What happened at one depth of the tree.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Level {
    /// Candidates that propagation and bounds let through.
    pub open: u64,
    /// Candidates that were cut off by their bound.
    pub pruned: u64,
    /// Values that left another choice none.
    pub dead: u64,
}

/// What a search has found.
#[derive(Clone, Debug)]
pub struct Found {
    /// The cheapest, the cheapest first.
    pub best: Vec<Leaf>,
    /// What every candidate costs at least that is not among the best.
    pub bound: u64,
    /// The bound of all candidates before the search, and what it comes from.
    pub root: Bound,
    /// The bound of the cheapest one alone, and what it comes from.
    pub winner: Bound,
    /// Candidates that were split.
    pub explored: u64,
    /// Candidates that were evaluated.
    pub evaluated: u64,
    /// Candidates of which nothing could be made, and why, for the first.
    pub failed: (u64, Option<String>),
    /// Candidates that cost less than their bound: with any of them the model is wrong, and
    /// neither was what was cut off dearer, nor is the gap one.
    pub overstated: u64,
    /// By the number of choices that the order has made.
    pub levels: Vec<Level>,
    /// How many candidates there are.
    pub size: Size,
    /// Why it ended.
    pub ended: Ended,
}

impl Found {
    /// By how much the cheapest may be dearer than the best there is: 0 is a proof, by the
    /// model's bounds, that there is none better. None when nothing was found.
    pub fn gap(&self) -> Option<u64> {
        let best = self.best.first()?.cost;
        Some(best - best.min(self.bound))
    }
}

/// Descents for the estimate of the size.
const DESCENTS: usize = 1000;

/// Searches.
///
/// # Errors
/// When there is nothing to be found.
pub fn search(
    space: &Space,
    model: &Model,
    evaluate: &mut dyn Evaluate,
    options: &Options,
) -> Result<Found, Problem> {
    if options.time.is_some_and(|t| t.is_zero()) {
        return Err(Problem::NoTime);
    }
    let root = match &options.from {
        Some(from) => from.clone(),
        None => space.start().map_err(Problem::Empty)?,
    };
    let mut order = options.order.clone();
    order.extend(space.vars().filter(|v| !options.order.contains(v)));
    let mut search = Search {
        space,
        bounds: Bounds::new(space, model),
        evaluate,
        options,
        levels: vec![Level::default(); order.len() + 1],
        order,
        best: BTreeSet::new(),
        seen: BTreeSet::new(),
        failed: (0, None),
        overstated: 0,
        explored: 0,
        begin: Instant::now(),
        longest: Duration::ZERO,
    };
    search.rollouts(&root);
    let (ended, bound) = search.run(&root);
    let best: Vec<Leaf> = search.best.iter().cloned().collect();
    let Some(first) = best.first() else {
        let why = search
            .failed
            .1
            .unwrap_or_else(|| "a limit was reached before".to_owned());
        return Err(Problem::Nothing(why));
    };
    let mut pairs = space.vars().zip(&first.values);
    let winner = pairs.try_fold(root.clone(), |c, (v, &value)| {
        space.restrict(&c, v, &[value])
    });
    let winner = winner.map_err(Problem::Empty)?;
    Ok(Found {
        bound: bound.unwrap_or(first.cost),
        root: model.explain(space, &root),
        winner: model.explain(space, &winner),
        explored: search.explored,
        evaluated: search.seen.len() as u64,
        failed: search.failed,
        overstated: search.overstated,
        levels: search.levels,
        size: estimate::size(space, &root, &search.order, DESCENTS, options.seed),
        best,
        ended,
    })
}

struct Search<'a> {
    space: &'a Space,
    bounds: Bounds<'a>,
    evaluate: &'a mut dyn Evaluate,
    options: &'a Options,
    order: Vec<Var>,
    best: BTreeSet<Leaf>,
    /// The candidates that were evaluated.
    seen: BTreeSet<Vec<i64>>,
    failed: (u64, Option<String>),
    overstated: u64,
    explored: u64,
    levels: Vec<Level>,
    begin: Instant,
    /// The longest evaluation.
    longest: Duration,
}

/// An open candidate: bound, how many choices are still open, age, and itself.
type Open = Reverse<(u64, usize, u64, usize, Candidate)>;

impl Search<'_> {
    /// What a candidate has to cost less than.
    fn limit(&self) -> u64 {
        match self.best.len() < self.options.keep.max(1) || !self.options.bounded {
            true => u64::MAX,
            false => self.best.last().map_or(u64::MAX, |leaf| leaf.cost),
        }
    }

    fn stop(&self) -> Option<Ended> {
        if self.seen.len() >= self.options.evaluations {
            Some(Ended::Evaluations)
        } else if self.explored >= self.options.splits as u64 {
            Some(Ended::Splits)
        } else if self
            .options
            .time
            .is_some_and(|t| self.begin.elapsed() + self.next_takes() >= t)
        {
            Some(Ended::Time)
        } else {
            None
        }
    }

    /// What is kept back for the next evaluation, once something is found: the longest so far.
    fn next_takes(&self) -> Duration {
        match self.best.is_empty() {
            true => Duration::ZERO,
            false => self.longest,
        }
    }

    /// Evaluates; nothing is evaluated twice.
    fn leaf(&mut self, values: Vec<i64>, bound: u64) {
        if !self.seen.insert(values.clone()) {
            return;
        }
        let begin = Instant::now();
        let cost = self.evaluate.cost(self.space, &values);
        self.longest = self.longest.max(begin.elapsed());
        match cost {
            Ok(cost) => {
                self.overstated += u64::from(cost < bound);
                self.best.insert(Leaf { cost, values });
                if self.best.len() > self.options.keep.max(1) {
                    self.best.pop_last();
                }
            }
            Err(why) => {
                self.failed.0 += 1;
                self.failed.1.get_or_insert(why);
            }
        }
    }

    /// The first choice of the order, from a place on, that is open.
    fn next(&self, candidate: &Candidate, from: usize) -> usize {
        let open = |var: &Var| candidate.0[var.0].count_ones() > 1;
        let next = self.order[from..].iter().position(open);
        next.map_or(self.order.len(), |n| from + n)
    }

    /// What is left of a candidate for each value of a choice, with its bound.
    fn children(&mut self, candidate: &Candidate, at: usize, below: u64) -> Vec<(Candidate, u64)> {
        let var = self.order[at];
        let mut children = Vec::new();
        for value in self.space.left(candidate, var) {
            if let Ok(next) = self.space.restrict(candidate, var, &[value]) {
                let bound = self.bounds.of(&next).max(below);
                children.push((next, bound));
            }
        }
        children
    }

    /// Descents to first results: the first always to the least bound, the others by chance,
    /// likelier where the bound is lower.
    fn rollouts(&mut self, root: &Candidate) {
        let mut stream = Random::new(self.options.seed);
        for turn in 0..self.options.rollouts {
            if self.stop().is_some() {
                return;
            }
            let (mut at, mut bound, mut depth) = (root.clone(), 0, 0);
            loop {
                depth = self.next(&at, depth);
                if depth == self.order.len() {
                    break;
                }
                let children = self.children(&at, depth, bound);
                let most = children.iter().map(|w| w.1).max().unwrap_or(0);
                let best = match self.best.first() {
                    Some(best) => best.cost,
                    None => most.saturating_add(1),
                };
                let gains: Vec<u64> = children.iter().map(|w| best.saturating_sub(w.1)).collect();
                let chosen = match turn {
                    0 => (0..children.len()).min_by_key(|&k| children[k].1),
                    _ => weighted(&mut stream, &gains),
                };
                let Some((next, least)) = chosen.and_then(|k| children.into_iter().nth(k)) else {
                    break;
                };
                (at, bound) = (next, least);
            }
            if let Some(values) = self.space.fixed(&at) {
                self.leaf(values, bound);
            }
        }
    }

    /// The search; why it ended, and the least bound of what was not looked at.
    fn run(&mut self, root: &Candidate) -> (Ended, Option<u64>) {
        let mut heap: BinaryHeap<Open> = BinaryHeap::new();
        let mut age = 0;
        let first = self.next(root, 0);
        heap.push(Reverse((
            self.bounds.of(root),
            self.order.len() - first,
            age,
            first,
            root.clone(),
        )));
        // The least bound of what was cut off: all of it is at least as dear as what was kept.
        let mut cut: Option<u64> = None;
        while let Some(Reverse((bound, _, _, at, candidate))) = heap.pop() {
            if self.options.bounded && bound >= self.limit() {
                self.levels[at].pruned += 1 + heap.len() as u64;
                cut = Some(cut.map_or(bound, |c: u64| c.min(bound)));
                break;
            }
            if let Some(ended) = self.stop() {
                return (ended, Some(cut.map_or(bound, |c| c.min(bound))));
            }
            if at == self.order.len() {
                if let Some(values) = self.space.fixed(&candidate) {
                    self.leaf(values, bound);
                }
                continue;
            }
            self.explored += 1;
            let values = self.space.left(&candidate, self.order[at]).len();
            let children = self.children(&candidate, at, bound);
            self.levels[at].dead += (values - children.len()) as u64;
            for (next, bound) in children {
                if self.options.bounded && bound >= self.limit() {
                    self.levels[at].pruned += 1;
                    cut = Some(cut.map_or(bound, |c: u64| c.min(bound)));
                    continue;
                }
                self.levels[at].open += 1;
                let deeper = self.next(&next, at + 1);
                age += 1;
                heap.push(Reverse((
                    bound,
                    self.order.len() - deeper,
                    age,
                    deeper,
                    next,
                )));
            }
        }
        (Ended::Closed, cut)
    }
}

/// A place in a list of weights, each as likely as it is heavy; none when all are 0.
fn weighted(stream: &mut Random, weights: &[u64]) -> Option<usize> {
    let all: u128 = weights.iter().map(|&w| u128::from(w)).sum();
    let mut at = (u128::from(stream.next_bits()) * all) >> 64;
    let mut places = weights.iter().enumerate().filter(|(_, w)| **w > 0);
    places.find_map(|(k, &w)| match at < u128::from(w) {
        true => Some(k),
        false => {
            at -= u128::from(w);
            None
        }
    })
}
