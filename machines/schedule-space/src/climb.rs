//! A schedule for any kernel: found step by step, with the best so far always there.
//!
//! In: a kernel, what is decided about it, the widths of a target's vectors, somebody who says what
//! directives cost ([`Evaluate`]), limits that are counts. Out: [`Found`]: the cheapest schedules,
//! the plain kernel among them when nothing is cheaper, and what was done.
//!
//! Every nest is looked at for itself, with the others as they are written: loops that may change
//! places, short loops that may be written out, loops that may become lanes and how many, iterations
//! side by side, elements kept in registers, tails. What is best for each is joined. A directive that is
//! refused makes no candidate: what is legal is decided where directives are applied, nowhere else.

use crate::loops::{Loop, Loops, operators, work};
use crate::nest::{orders, reordered};
use crate::plan::Plan;
use kernel::index::Symbol;
use kernel::tree::Kernel;
use kernel::types::MAX_LANES;
use schedule::directive::{Directive, Tail};
use semantics::span::Span;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

/// Who says what a schedule costs.
pub trait Evaluate {
    /// The cost of the kernel under some directives, in tenths of a cycle.
    ///
    /// # Errors
    /// Why there is none: a directive that is refused, most of all.
    fn cost(&mut self, directives: &[Directive]) -> Result<u64, String>;
}

/// The bits of the vectors that a target has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Vectors {
    /// Of the narrowest.
    pub narrowest: u32,
    /// Of the widest.
    pub widest: u32,
    /// Of elements of which only some can be loaded.
    pub masked: BTreeSet<u32>,
}

/// Where a search ends.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The most schedules of one nest whose cost is asked for.
    pub evaluations: usize,
    /// When it ends in any case.
    pub until: Option<Instant>,
    /// How many of the cheapest are told.
    pub keep: usize,
}

/// A schedule with what it costs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Candidate {
    /// In tenths of a cycle.
    pub cost: u64,
    /// The directives.
    pub directives: Vec<Directive>,
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The cheapest schedules, at least one; the cheapest first.
    pub best: Vec<Candidate>,
    /// What the kernel costs as it was given.
    pub given: u64,
    /// Schedules whose cost was found.
    pub evaluated: usize,
    /// Schedules that are none, and the reason of each with how often it was given.
    pub refused: BTreeMap<String, usize>,
    /// Nests, and those whose search ended at a limit.
    pub nests: (usize, usize),
    /// Nests that have no lanes: their outermost loops, and why.
    pub scalar: Vec<(Span, String)>,
}

/// How many iterations may run side by side, and how many are written out.
const SIDE_BY_SIDE: [i64; 5] = [2, 3, 4, 6, 8];
const WRITTEN_OUT: [i64; 3] = [2, 4, 8];

/// The most columns that are turned in registers together.
const BLOCK: i64 = 16;

/// The most iterations of a loop of constant length that are written out, all of them.
const SHORT: i64 = 8;

/// Tails that are tried in place of scalars; where one is better, the others are not looked at.
const TAILS: [Tail; 3] = [Tail::Shift, Tail::Round, Tail::Mask];

/// How many forms of a nest are refined, and how often all of its choices are gone through.
const REFINED: usize = 3;
const ROUNDS: usize = 3;

/// The most registers that the lanes of one value fill.
const WIDE: u32 = 8;

/// Finds schedules.
///
/// # Errors
/// Why the kernel has no cost as it was given.
pub fn search(
    kernel: &Kernel,
    given: &[Directive],
    sizes: &BTreeMap<Symbol, i64>,
    vectors: Vectors,
    evaluate: &mut dyn Evaluate,
    limits: Limits,
) -> Result<Found, String> {
    let mut climb = Climb {
        kernel,
        sizes,
        vectors,
        evaluate,
        limits,
        left: 0,
        share: 1000,
        no_lanes: None,
        known: BTreeMap::new(),
        found: Found::default(),
    };
    climb.found.given = climb.evaluate.cost(given)?;
    let base = Plan {
        shape: given.to_vec(),
        ..Plan::default()
    };
    let fused = climb.fused(&base);
    let mut best = climb.whole(&base);
    if fused.shape != base.shape {
        best.extend(climb.whole(&fused));
    }
    best.push(Candidate {
        cost: climb.found.given,
        directives: given.to_vec(),
    });
    best.sort_by_key(|c| weighted(c.cost, 10 * weight(&c.directives)));
    best.dedup_by(|a, b| a.directives == b.directives);
    climb.found.best = with_plain(best, limits.keep.max(1), |c| &c.directives);
    Ok(climb.found)
}

struct Climb<'a> {
    kernel: &'a Kernel,
    sizes: &'a BTreeMap<Symbol, i64>,
    vectors: Vectors,
    evaluate: &'a mut dyn Evaluate,
    limits: Limits,
    /// Evaluations that the nest that is looked at may still make.
    left: usize,
    /// Of a thousand statements that the kernel runs, those that this nest does.
    share: u64,
    /// Why a loop of the nest has no lanes: the first refusal.
    no_lanes: Option<String>,
    known: BTreeMap<Vec<Directive>, Option<u64>>,
    found: Found,
}

/// A plan with its cost.
type Priced = (u64, Plan);

/// A shape with how many operators are computed after it.
type Counted = (i64, Vec<Directive>);

/// A choice: the plans for its values.
type Choice = Vec<Plan>;

impl Climb<'_> {
    /// The loops after some directives; none when these are refused.
    fn loops(&self, shape: &[Directive]) -> Option<Loops> {
        let applied = schedule::apply_directives(self.kernel, shape).ok()?;
        Some(Loops::of(applied.kernel(), self.sizes))
    }

    /// What a plan costs, if it can be had, and something for each directive.
    fn price(&mut self, plan: &Plan, loops: &Loops) -> Option<u64> {
        let directives = plan.directives(loops);
        let part = weight(&directives) * self.share / 10;
        Some(weighted(self.cost(directives)?, part))
    }

    /// What a schedule costs, if it can be had.
    fn cost(&mut self, directives: Vec<Directive>) -> Option<u64> {
        if let Some(known) = self.known.get(&directives) {
            return *known;
        }
        if self.is_over() {
            return None;
        }
        self.left -= 1;
        let cost = match self.evaluate.cost(&directives) {
            Ok(cost) => Some(cost),
            Err(why) => {
                if matches!(directives.last(), Some(Directive::Vectorize { .. })) {
                    self.no_lanes.get_or_insert_with(|| why.clone());
                }
                *self.found.refused.entry(why).or_default() += 1;
                None
            }
        };
        self.found.evaluated += usize::from(cost.is_some());
        self.known.insert(directives, cost);
        cost
    }

    fn is_over(&self) -> bool {
        self.left == 0 || self.limits.until.is_some_and(|t| Instant::now() >= t)
    }

    /// The plan with all neighbouring loops as one that may be.
    fn fused(&self, base: &Plan) -> Plan {
        let mut plan = base.clone();
        let mut tried: BTreeSet<(String, String)> = BTreeSet::new();
        while let Some(loops) = self.loops(&plan.shape) {
            let pairs = neighbours(&loops);
            let Some(pair) = pairs.into_iter().find(|p| !tried.contains(p)) else {
                break;
            };
            tried.insert(pair.clone());
            let (first, second) = pair;
            let mut shape = plan.shape.clone();
            shape.push(Directive::Fuse { first, second });
            if schedule::apply_directives(self.kernel, &shape).is_ok() {
                plan.shape = shape;
            }
        }
        plan
    }

    /// The best for all nests of a kernel after a shape.
    fn whole(&mut self, base: &Plan) -> Vec<Candidate> {
        let Some(loops) = self.loops(&base.shape) else {
            return Vec::new();
        };
        let roots: Vec<String> = loops
            .roots
            .iter()
            .map(|&(l, _)| loops.all[l].name.clone())
            .collect();
        let mut nests: Vec<Vec<Priced>> = Vec::new();
        self.found.scalar.clear();
        let all = work(&self.kernel.body, self.sizes).max(1);
        for (root, &(first, at)) in roots.iter().zip(&loops.roots) {
            self.left = self.limits.evaluations;
            let mine = self
                .kernel
                .body
                .get(at)
                .map_or(all, |s| work(std::slice::from_ref(s), self.sizes));
            self.share = (1000.0 * mine as f64 / all as f64) as u64;
            let others = roots.iter().filter(|r| *r != root).cloned().collect();
            self.no_lanes = None;
            let nest = self.nest(base, &others);
            let lanes = nest
                .first()
                .is_some_and(|(_, plan)| !plan.vectors.is_empty());
            let within = loops.within(first);
            let given =
                |&l: &usize| loops.all[l].has_lanes || is_given(&base.shape, &loops.all[l].name);
            if !lanes && !within.iter().any(given) {
                let dearer = "with lanes it would take longer".to_owned();
                let why = self.no_lanes.take().unwrap_or(dearer);
                self.found.scalar.push((loops.all[first].span, why));
            }
            nests.push(nest);
            self.found.nests.0 += 1;
            self.found.nests.1 += usize::from(self.is_over());
        }
        (self.left, self.share) = (usize::MAX, 1000);
        self.joined(base, &loops, &nests)
    }

    /// The best of all nests together, and with the second best and so on of one of them.
    fn joined(&mut self, base: &Plan, loops: &Loops, nests: &[Vec<Priced>]) -> Vec<Candidate> {
        let mut plan = base.clone();
        let mut out = Vec::new();
        for (_, best) in nests.iter().filter_map(|n| n.first()) {
            let next = plan.clone().and(best);
            // What is legal for each nest is so for all: but if it is not, the others have theirs.
            if self.price(&next, loops).is_some() {
                plan = next;
            }
        }
        let mut all = vec![plan.clone()];
        for (n, nest) in nests.iter().enumerate() {
            for (_, other) in nest.iter().skip(1) {
                let chosen = nests
                    .iter()
                    .enumerate()
                    .filter_map(|(k, nest)| match k == n {
                        true => Some(other),
                        false => nest.first().map(|(_, plan)| plan),
                    });
                all.push(chosen.fold(base.clone(), Plan::and));
            }
        }
        for plan in all {
            let directives = plan.directives(loops);
            if let Some(cost) = self.cost(directives.clone()) {
                out.push(Candidate { cost, directives });
            }
        }
        out
    }

    /// The best plans for one nest, the best first; `others` are the outermost loops of the rest.
    fn nest(&mut self, base: &Plan, others: &BTreeSet<String>) -> Vec<Priced> {
        let mut forms: Vec<Priced> = Vec::new();
        let counted = |climb: &Self, shape: Vec<Directive>| Some((climb.operators(&shape)?, shape));
        let plain = self.written_out(&base.shape, others).into_iter();
        let mut shapes: Vec<Counted> = plain.filter_map(|shape| counted(self, shape)).collect();
        for shape in shapes.clone() {
            shapes.extend(self.computed(&shape, others));
        }
        for shape in of_few_operators(shapes) {
            forms.extend(self.form(base, shape, others));
        }
        sort(&mut forms);
        let mut forms = with_plain(forms, 2, |(_, plan)| &plan.shape);
        for (_, plan) in forms.clone() {
            for shape in self.reordered(&plan.shape, others) {
                forms.extend(self.form(base, shape, others));
            }
        }
        sort(&mut forms);
        self.with_computed(&mut forms, base, others);
        if let Some((_, plan)) = forms.first().cloned() {
            for shape in self.split_up(&plan, others) {
                forms.extend(self.form(base, shape, others));
            }
        }
        sort(&mut forms);
        let refined: Vec<Vec<Priced>> = with_plain(forms, REFINED, |(_, plan)| &plan.shape)
            .into_iter()
            .map(|form| self.refined(form, others))
            .collect();
        let mut best: Vec<Priced> = refined.into_iter().flatten().collect();
        sort(&mut best);
        with_plain(best, self.limits.keep, |(_, plan)| &plan.shape)
    }

    /// The loops of a nest after a shape, outer ones first.
    fn members(
        &self,
        shape: &[Directive],
        others: &BTreeSet<String>,
    ) -> Option<(Loops, Vec<usize>)> {
        let loops = self.loops(shape)?;
        let mine = |&&(l, _): &&(usize, usize)| !others.contains(&loops.all[l].name);
        let mine = loops.roots.iter().filter(mine);
        let members = mine.flat_map(|&(root, _)| loops.within(root)).collect();
        Some((loops, members))
    }

    /// The nest as it is, and with its short loops of constant length written out, from inside.
    fn written_out(&self, shape: &[Directive], others: &BTreeSet<String>) -> Vec<Vec<Directive>> {
        let mut all = vec![shape.to_vec()];
        let mut now = shape.to_vec();
        while let Some((loops, members)) = self.members(&now, others) {
            let short = |&&l: &&usize| {
                let inner = &loops.all[l];
                let length = inner.constant.is_some_and(|n| (1..=SHORT).contains(&n));
                inner.inner.is_empty() && length && inner.parent.is_some()
            };
            let Some(&short) = members.iter().rev().find(short) else {
                break;
            };
            let axis = loops.all[short].name.clone();
            now.push(Directive::Unroll { axis, by: None });
            if schedule::apply_directives(self.kernel, &now).is_err() {
                break;
            }
            all.push(now.clone());
        }
        all
    }

    /// The other orders of loops that are directly nested.
    fn reordered(&self, shape: &[Directive], others: &BTreeSet<String>) -> Vec<Vec<Directive>> {
        let Some((loops, members)) = self.members(shape, others) else {
            return Vec::new();
        };
        let starts = members.iter().filter(|&&l| {
            let parent = loops.all[l].parent;
            loops.all[l].only_a_loop && parent.is_none_or(|p| !loops.all[p].only_a_loop)
        });
        let mut all = Vec::new();
        for &start in starts {
            let mut chain = vec![start];
            while loops.all[chain[chain.len() - 1]].only_a_loop
                && let Some(&inner) = loops.all[chain[chain.len() - 1]].inner.first()
            {
                chain.push(inner);
            }
            let names: Vec<String> = chain.iter().map(|&l| loops.all[l].name.clone()).collect();
            for order in orders(names.len()).into_iter().skip(1) {
                let wanted: Vec<String> = order.iter().map(|&k| names[k].clone()).collect();
                all.push([shape, &reordered(names.clone(), &wanted)].concat());
            }
        }
        all
    }

    /// Adds forms with functions computed before they are asked for, one more as long as that is cheaper.
    fn with_computed(&mut self, forms: &mut Vec<Priced>, base: &Plan, others: &BTreeSet<String>) {
        while let Some((least, plan)) = forms.first().cloned() {
            let Some(before) = self.operators(&plan.shape) else {
                break;
            };
            let shapes = self.computed(&(before, plan.shape), others);
            for shape in of_few_operators(shapes) {
                forms.extend(self.form(base, shape, others));
            }
            sort(forms);
            if forms.first().is_none_or(|(cost, _)| *cost >= least) {
                break;
            }
        }
    }

    /// Functions computed for an iteration of a loop, or for all, where that leaves fewer operators.
    fn computed(&self, (before, shape): &Counted, others: &BTreeSet<String>) -> Vec<Counted> {
        let Some((loops, members)) = self.members(shape, others) else {
            return Vec::new();
        };
        let around = members.iter().map(|&l| &loops.all[l]);
        let around = around.filter(|l| !l.inner.is_empty());
        let places: Vec<Option<String>> = around.map(|l| Some(l.name.clone())).collect();
        let mut all = Vec::new();
        for function in self.kernel.definitions.iter().map(|d| &d.name) {
            for at in places.iter().rev().cloned().chain([None]) {
                let function = function.clone();
                let shape = [&shape[..], &[Directive::Compute { function, at }]].concat();
                let after = self.operators(&shape).filter(|after| after < before);
                all.extend(after.map(|after| (after, shape)));
            }
        }
        all
    }

    /// How many operators are computed after some directives; nothing when these are refused.
    fn operators(&self, shape: &[Directive]) -> Option<i64> {
        let applied = schedule::apply_directives(self.kernel, shape).ok()?;
        Some(operators(applied.kernel(), self.sizes))
    }

    /// Loops that have no lanes, as two one after the other.
    fn split_up(&self, plan: &Plan, others: &BTreeSet<String>) -> Vec<Vec<Directive>> {
        let Some((loops, members)) = self.members(&plan.shape, others) else {
            return Vec::new();
        };
        let mut all = Vec::new();
        for &l in &members {
            let has_lanes = |&v: &usize| plan.vectors.contains_key(&loops.all[v].name);
            let one = &loops.all[l];
            if !one.plain
                || members
                    .iter()
                    .any(|v| has_lanes(v) && loops.on_one_path(l, *v))
            {
                continue;
            }
            let parts = one.parts.split_last().map_or(&[][..], |(_, first)| first);
            for after in parts.iter().collect::<BTreeSet<_>>() {
                let names = [1, 2].map(|n| format!("{}_{n}", one.name));
                let [first, second] = names;
                all.push(plan.shape.clone());
                all.last_mut()
                    .expect("it was added")
                    .push(Directive::Fission {
                        axis: one.name.clone(),
                        after: after.clone(),
                        into: Some((first, second)),
                    });
            }
        }
        all
    }

    /// A nest after a shape, with what it accumulates in registers and the best lanes of its loops.
    fn form(
        &mut self,
        base: &Plan,
        shape: Vec<Directive>,
        others: &BTreeSet<String>,
    ) -> Option<Priced> {
        let (loops, members) = self.members(&shape, others)?;
        let plan = Plan {
            shape,
            ..base.clone()
        };
        let mut best = (self.price(&plan, &loops)?, plan);
        for &l in members.iter().rev() {
            for array in &loops.all[l].adds_to {
                let mut plan = best.1.clone();
                let stage = (array.clone(), loops.all[l].name.clone());
                plan.stages.insert(stage);
                self.better(&mut best, plan, &loops);
            }
        }
        for far in [false, true] {
            for &l in members.iter().rev() {
                let has_lanes = |&v: &usize| best.1.vectors.contains_key(&loops.all[v].name);
                let covered = members
                    .iter()
                    .any(|v| has_lanes(v) && loops.on_one_path(l, *v));
                if (loops.all[l].far > 0) == far && !(far && covered) {
                    for plan in self.lanes(&best.1, &loops, l) {
                        self.better(&mut best, plan, &loops);
                    }
                }
            }
        }
        Some(best)
    }

    /// Takes a plan that is cheaper than the best.
    fn better(&mut self, best: &mut Priced, plan: Plan, loops: &Loops) {
        if let Some(price) = self.price(&plan, loops).filter(|price| *price < best.0) {
            *best = (price, plan);
        }
    }

    /// A plan with the iterations of a loop as lanes, by how many.
    fn lanes(&self, plan: &Plan, loops: &Loops, l: usize) -> Choice {
        let one = &loops.all[l];
        let (Some(&least), Some(&most)) = (one.bits.first(), one.bits.last()) else {
            return Vec::new();
        };
        if !one.plain || is_given(&plan.shape, &one.name) {
            return Vec::new();
        }
        let room = one.constant.unwrap_or(i64::MAX);
        let whole = (self.vectors.widest / most).max(2);
        let from = match i64::from(whole) <= room {
            true => whole,
            false => (self.vectors.narrowest / most).max(2),
        };
        let to = (2 * self.vectors.widest / least).min(WIDE * self.vectors.widest / most);
        let lanes = std::iter::successors(Some(from), |n| n.checked_mul(2));
        let lanes = lanes.take_while(|n| *n <= to.min(MAX_LANES));
        let lanes = lanes.filter(|n| i64::from(*n) <= room);
        let with = |lanes: u32| {
            let mut plan = plan.clone();
            let apart = |name: &String| loops.find(name).is_none_or(|v| !loops.on_one_path(l, v));
            plan.vectors.retain(|name, _| apart(name));
            plan.unrolls.remove(&one.name);
            plan.jams.remove(&one.name);
            plan.vectors.insert(one.name.clone(), (lanes, Tail::Scalar));
            plan
        };
        let plans: Vec<Plan> = lanes.map(with).collect();
        let blocks = plans.iter().flat_map(|plan| in_blocks(plan, one));
        let blocks: Vec<Plan> = blocks.filter(|plan| self.may_jam(plan, loops)).collect();
        [plans, blocks].concat()
    }

    /// Whether nothing else is decided about the loops that are jammed, and they have as many iterations.
    fn may_jam(&self, plan: &Plan, loops: &Loops) -> bool {
        plan.jams.iter().all(|(name, by)| {
            let one = loops.find(name).map(|l| &loops.all[l]);
            let fits = one.is_some_and(|l| l.plain && l.constant.is_none_or(|n| n >= *by));
            fits && !plan.vectors.contains_key(name) && !is_given(&plan.shape, name)
        })
    }

    /// The plans that are reached from one by changing one choice at a time; the best first.
    fn refined(&mut self, start: Priced, others: &BTreeSet<String>) -> Vec<Priced> {
        let Some((loops, members)) = self.members(&start.1.shape, others) else {
            return Vec::new();
        };
        let mut seen = vec![start.clone()];
        let mut best = start;
        for _ in 0..ROUNDS {
            let before = best.clone();
            for n in 0.. {
                let mut choices = self.choices(&best.1, &loops, &members);
                if n >= choices.len() {
                    break;
                }
                for plan in choices.swap_remove(n) {
                    let known = best.clone();
                    self.better(&mut best, plan, &loops);
                    if best != known {
                        seen.push(best.clone());
                    }
                }
            }
            if best == before {
                break;
            }
        }
        sort(&mut seen);
        seen
    }

    /// What can be chosen otherwise, each with its other values.
    fn choices(&self, plan: &Plan, loops: &Loops, members: &[usize]) -> Vec<Choice> {
        let mut all = Vec::new();
        for &l in members {
            let (one, name) = (&loops.all[l], loops.all[l].name.clone());
            if is_given(&plan.shape, &name) {
                continue;
            }
            if let Some(&(lanes, tail)) = plan.vectors.get(&name) {
                // Without masks the leading lanes come one by one, as scalars do.
                let masks = one
                    .bits
                    .first()
                    .is_some_and(|b| self.vectors.masked.contains(b));
                for other in TAILS {
                    let open = tail == Tail::Scalar && (other != Tail::Mask || masks);
                    all.push(
                        open.then(|| with_tail(plan, &name, lanes, other))
                            .into_iter()
                            .collect(),
                    );
                }
                all.push(self.same_tail(plan, loops, l, tail));
            } else if one.inner.is_empty() {
                all.push(numbers(plan, &name, &WRITTEN_OUT, |p| &mut p.unrolls));
            } else {
                all.push(numbers(plan, &name, &SIDE_BY_SIDE, |p| &mut p.jams));
            }
        }
        all
    }

    fn same_tail(&self, plan: &Plan, loops: &Loops, l: usize, tail: Tail) -> Choice {
        let mut plans = self.lanes(plan, loops, l);
        for other in &mut plans {
            if let Some(chosen) = other.vectors.get_mut(&loops.all[l].name) {
                chosen.1 = tail;
            }
        }
        plans
    }
}

/// Plans in which lanes that are columns of something go with as many of these side by side as a block has that
/// is turned in registers.
fn in_blocks(plan: &Plan, one: &Loop) -> Vec<Plan> {
    let lanes = plan.vectors.get(&one.name).map_or(0, |(lanes, _)| *lanes);
    let with = |around: &String| {
        let mut plan = plan.clone();
        plan.jams
            .insert(around.clone(), i64::from(lanes).min(BLOCK));
        plan
    };
    one.columns.iter().map(with).collect()
}

/// A plan with another tail.
fn with_tail(plan: &Plan, name: &str, lanes: u32, tail: Tail) -> Plan {
    let mut plan = plan.clone();
    plan.vectors.insert(name.to_owned(), (lanes, tail));
    plan
}

/// Plans with so many iterations of a loop, and with none together.
fn numbers(
    plan: &Plan,
    name: &str,
    values: &[i64],
    of: fn(&mut Plan) -> &mut BTreeMap<String, i64>,
) -> Choice {
    let with = |by: Option<i64>| {
        let mut plan = plan.clone();
        match by {
            Some(by) => of(&mut plan).insert(name.to_owned(), by),
            None => of(&mut plan).remove(name),
        };
        plan
    };
    let values = values.iter().map(|&by| Some(by));
    std::iter::once(None).chain(values).map(with).collect()
}

/// What another order of loops has to bring: where arrays are larger than those of the search,
/// it may cost much more.
const FAR: u64 = 6;

/// Of a hundred, by how much some directives have to make a kernel cheaper: one for each, and one for
/// each time that they double what is written out, two where they double lanes. What the code is
/// longer for is nothing that costs know.
fn weight(directives: &[Directive]) -> u64 {
    let doubled = |n: i64| u64::from(n.max(1).ilog2());
    let each = directives.iter().map(|d| match d {
        Directive::Vectorize { lanes, .. } => 1 + 2 * doubled(i64::from(*lanes)),
        Directive::Interchange { .. } | Directive::Compute { at: None, .. } => FAR,
        Directive::Jam { by, .. } | Directive::Unroll { by: Some(by), .. } => 1 + doubled(*by),
        _ => 1,
    });
    each.sum()
}

/// A cost and so many ten thousandth parts of it.
fn weighted(cost: u64, parts: u64) -> u64 {
    cost.saturating_add(cost / 1000 * parts / 10)
}

/// Whether directives that come first say already what becomes of a loop's iterations.
fn is_given(shape: &[Directive], name: &str) -> bool {
    shape.iter().any(|d| match d {
        Directive::Vectorize { axis, .. } | Directive::Jam { axis, .. } => axis == name,
        Directive::Unroll { axis, by } => axis == name && by.is_some(),
        _ => false,
    })
}

/// Pairs of loops one behind the other that run alike.
fn neighbours(loops: &Loops) -> Vec<(String, String)> {
    let bodies = loops.all.iter().map(|l| {
        let at = |&i: &usize| Some((i, l.parts.iter().position(|p| *p == loops.all[i].name)?));
        l.inner.iter().filter_map(at).collect()
    });
    let bodies = std::iter::once(loops.roots.clone()).chain(bodies);
    let mut all = Vec::new();
    for body in bodies {
        for pair in body.windows(2) {
            let [(a, at), (b, next)] = pair else { continue };
            let (one, two) = (&loops.all[*a], &loops.all[*b]);
            if next - at == 1 && one.bounds == two.bounds {
                all.push((one.name.clone(), two.name.clone()));
            }
        }
    }
    all
}

/// Shapes that have not many more operators than another one: what rows side by side share does not make up
/// for that, and long statements are those for which code is looked for longest.
fn of_few_operators(shapes: Vec<Counted>) -> impl Iterator<Item = Vec<Directive>> {
    let least = shapes.iter().map(|(count, _)| *count).min().unwrap_or(0);
    let few = move |(count, shape): Counted| (count <= 2 * least).then_some(shape);
    shapes.into_iter().filter_map(few)
}

/// So many of the cheapest, in their order; the last one computes no function before it is asked for, where
/// there is one and those before do: how well that goes with caches and short rows is for the clock to say.
fn with_plain<T>(
    mut all: Vec<T>,
    most: usize,
    directives: impl Fn(&T) -> &Vec<Directive>,
) -> Vec<T> {
    let computes = |d: &Directive| matches!(d, Directive::Compute { .. });
    let plain = |one: &T| !directives(one).iter().any(computes);
    match all.iter().position(plain) {
        Some(first) if most > 0 && first >= most => all.swap(first, most - 1),
        _ => {}
    }
    all.truncate(most);
    all
}

fn sort(plans: &mut Vec<Priced>) {
    plans.sort_by_key(|plan| plan.0);
    plans.dedup();
}
