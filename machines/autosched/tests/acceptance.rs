//! What a search under an optimistic bound has to keep to, on small spaces: bounds that hold for
//! every completion, decisions in any order, the optimum of an exhaustive search.

use autosched::bound::{Model, Term};
use autosched::estimate;
use autosched::report;
use autosched::search::{Ended, Evaluate, Options, Problem, search};
use autosched::space::{Candidate, Space, Var};
use semantics::random::Random;
use std::collections::BTreeSet;

/// A product of matrices of 32 * 32 * 32 with blocks, a loop outside, and memory for blocks.
fn product() -> (Space, Model) {
    let mut space = Space::new();
    let sides = [1, 2, 4, 8, 16, 32];
    let (i, j, k) = (
        space.add("i", sides),
        space.add("j", sides),
        space.add("k", sides),
    );
    let outer = space.add_words("outer", &["i", "j", "k"]);
    let twice = space.add_words("buffers", &["one", "two"]);
    let block =
        |x: Var, y: Var| Term::new([x, y, twice], |v| (v[0] * v[1] * (1 + v[2])).unsigned_abs());
    space.at_most(
        "blocks fit 256 elements",
        256,
        [block(i, k), block(k, j), block(i, j)],
    );
    space.require("a block is not deeper than wide", [j, k], |v| v[1] <= v[0]);
    let mut model = Model::new();
    let (memory, array) = (model.resource("memory"), model.resource("array"));
    let loads = |side: Var, kept: i64| {
        Term::new([side, outer, twice], move |v| {
            let blocks = (32 / v[0]).unsigned_abs();
            let again = if v[1] == kept { 1 } else { blocks };
            32 * 32 * again + if v[2] == 0 { 64 * blocks } else { 0 }
        })
    };
    model.uses(memory, "left matrix", loads(j, 0));
    model.uses(memory, "right matrix", loads(i, 1));
    model.uses(memory, "sums", loads(k, 2));
    model.uses(array, "products", Term::constant(4096));
    model.uses(
        array,
        "filling",
        Term::new([i, j, k], |v| {
            let blocks = (32 / v[0]) * (32 / v[1]) * (32 / v[2]);
            (blocks * 12).unsigned_abs()
        }),
    );
    (space, model)
}

/// A space and a model that nobody has thought about.
fn random(seed: u64) -> (Space, Model) {
    let mut stream = Random::new(seed);
    let mut space = Space::new();
    let vars: Vec<Var> = (0..5)
        .map(|n| {
            let count = 2 + stream.index(4) as i64;
            space.add(format!("choice {n}"), 1..=count)
        })
        .collect();
    let pick = |stream: &mut Random| vars[stream.index(vars.len())];
    for n in 0..4 {
        let (a, b, odd) = (pick(&mut stream), pick(&mut stream), stream.next_bits());
        if a != b {
            space.require(format!("pair {n}"), [a, b], move |v| {
                odd >> ((v[0] * 5 + v[1]) % 64) & 3 != 0
            });
        }
    }
    let terms: Vec<Term> = (0..3)
        .map(|_| {
            let (a, b) = (pick(&mut stream), pick(&mut stream));
            Term::new([a, b], |v| (v[0] * v[1]).unsigned_abs())
        })
        .collect();
    space.at_most("sum", 24, terms);
    let mut model = Model::new();
    for r in 0..3 {
        let resource = model.resource(format!("resource {r}"));
        for p in 0..3 {
            let (a, b, odd) = (pick(&mut stream), pick(&mut stream), stream.next_bits() | 1);
            let amount = move |v: &[i64]| {
                let mixed = odd.wrapping_mul((v[0] * 7 + v[1] * 3 + 1).unsigned_abs());
                mixed >> 56
            };
            model.uses(resource, format!("place {p}"), Term::new([a, b], amount));
        }
    }
    (space, model)
}

/// The spaces that have candidates.
fn spaces() -> Vec<(Space, Model)> {
    let random = (0..40)
        .map(random)
        .filter(|(space, _)| space.start().is_ok());
    let all: Vec<_> = std::iter::once(product()).chain(random).collect();
    assert!(all.len() > 20, "most random spaces have candidates");
    all
}

fn decide(space: &Space, from: &Candidate, values: &[i64], order: &[Var]) -> Option<Candidate> {
    let all: Vec<Var> = space.vars().collect();
    let value = |var: &Var| values[all.iter().position(|v| v == var).expect("one of them")];
    order.iter().try_fold(from.clone(), |c, var| {
        space.restrict(&c, *var, &[value(var)]).ok()
    })
}

fn shuffled(space: &Space, stream: &mut Random) -> Vec<Var> {
    let mut vars: Vec<Var> = space.vars().collect();
    for k in (1..vars.len()).rev() {
        vars.swap(k, stream.index(k + 1));
    }
    vars
}

/// Each candidate on a way down, with what is there at the end.
fn descents(space: &Space, stream: &mut Random, count: usize) -> Vec<(Vec<Candidate>, Vec<i64>)> {
    let start = space.start().expect("it has candidates");
    let mut all = Vec::new();
    for _ in 0..count {
        let mut way = vec![start.clone()];
        for var in shuffled(space, stream) {
            let at = way.last().expect("it begins with one").clone();
            let left = space.left(&at, var);
            match space.restrict(&at, var, &[left[stream.index(left.len())]]) {
                Ok(next) => way.push(next),
                Err(_) => break,
            }
        }
        if let Some(values) = way.last().and_then(|c| space.fixed(c)) {
            all.push((way, values));
        }
    }
    all
}

fn cost(space: &Space, model: &Model, values: &[i64]) -> u64 {
    model
        .clone()
        .cost(space, values)
        .expect("it is a candidate")
}

fn optimum(space: &Space, model: &Model) -> u64 {
    let start = space.start().expect("it has candidates");
    let all = space.solutions(&start);
    all.iter()
        .map(|v| cost(space, model, v))
        .min()
        .expect("there are candidates")
}

/// T1: a bound is at most the cost of every completion.
#[test]
fn bounds_hold_for_every_completion() {
    let mut stream = Random::new(1);
    let mut compared = 0;
    for (space, model) in spaces() {
        for (way, _) in descents(&space, &mut stream, 20) {
            let at = &way[stream.index(way.len())];
            let bound = model.explain(&space, at).value;
            for values in space.solutions(at).iter().take(50) {
                assert!(bound <= cost(&space, &model, values));
                compared += 1;
            }
        }
    }
    assert!(compared > 5000, "{compared} completions");
}

/// T2: a decision never lowers the bound, and when nothing is open it is the cost.
#[test]
fn bounds_grow_with_decisions_and_end_at_the_cost() {
    let mut stream = Random::new(2);
    for (space, model) in spaces() {
        for (way, values) in descents(&space, &mut stream, 20) {
            let bounds: Vec<u64> = way.iter().map(|c| model.explain(&space, c).value).collect();
            assert!(bounds.is_sorted(), "{bounds:?}");
            assert_eq!(bounds.last(), Some(&cost(&space, &model, &values)));
        }
    }
}

/// T3: decisions in another order leave the same candidate and the same solutions.
#[test]
fn decisions_commute() {
    let mut stream = Random::new(3);
    for (space, _) in spaces() {
        let start = space.start().expect("it has candidates");
        for (_, values) in descents(&space, &mut stream, 10) {
            let some = 1 + stream.index(space.vars().count());
            let one = shuffled(&space, &mut stream);
            let mut other = one[..some].to_vec();
            other.reverse();
            let first = decide(&space, &start, &values, &one[..some]).expect("it has a solution");
            let second = decide(&space, &start, &values, &other).expect("it has a solution");
            assert_eq!(first, second);
            assert_eq!(space.solutions(&first), space.solutions(&second));
        }
    }
}

/// Propagation takes no solution, and leaves none in which a constraint does not hold.
#[test]
fn propagation_keeps_every_solution() {
    let mut space = Space::new();
    let (a, b, c) = (
        space.add("a", 1..=6),
        space.add("b", 1..=6),
        space.add("c", 0..=3),
    );
    space.require("a divides b", [a, b], |v| v[1] % v[0] == 0);
    space.at_most(
        "a * c + b",
        9,
        [
            Term::new([a, c], |v| (v[0] * v[1]).unsigned_abs()),
            Term::new([b], |v| v[0].unsigned_abs()),
        ],
    );
    let mut right = Vec::new();
    for a in 1..=6 {
        for b in 1..=6 {
            right.extend(
                (0..=3)
                    .filter(|c| b % a == 0 && a * c + b <= 9)
                    .map(|c| vec![a, b, c]),
            );
        }
    }
    assert_eq!(
        space.solutions(&space.start().expect("it has candidates")),
        right
    );
    assert!(right.iter().all(|values| space.allows(values)));
    assert!(!space.allows(&[2, 3, 0]));
}

/// T4: what is found is the best there is, and the gap says so.
#[test]
fn the_best_is_that_of_an_exhaustive_search() {
    for (space, model) in spaces() {
        for keep in [1, 3] {
            let options = Options {
                keep,
                ..Options::default()
            };
            let found = search(&space, &model, &mut model.clone(), &options).expect("candidates");
            assert_eq!(found.best[0].cost, optimum(&space, &model));
            assert_eq!(
                (found.gap(), found.ended, found.overstated),
                (Some(0), Ended::Closed, 0)
            );
            let start = space.start().expect("it has candidates");
            let mut costs: Vec<u64> = space
                .solutions(&start)
                .iter()
                .map(|v| cost(&space, &model, v))
                .collect();
            costs.sort_unstable();
            costs.truncate(keep);
            let kept: Vec<u64> = found.best.iter().map(|leaf| leaf.cost).collect();
            assert_eq!(kept, costs);
        }
    }
}

/// T5: what somebody has chosen is a candidate, nothing above it is cut off before something at
/// least as good is found, and choices that are left are made.
#[test]
fn hand_made_candidates_are_members_and_partial_ones_are_completed() {
    let (space, model) = product();
    let hand = [8, 8, 8, 2, 0];
    assert!(space.allows(&hand));
    let found = search(&space, &model, &mut model.clone(), &Options::default()).expect("found");
    assert!(found.best[0].cost <= cost(&space, &model, &hand));
    let k = space.find("k").expect("its name");
    let start = space.start().expect("it has candidates");
    let from = space.restrict(&start, k, &[2]).expect("some are left");
    let options = Options {
        from: Some(from.clone()),
        ..Options::default()
    };
    let partial = search(&space, &model, &mut model.clone(), &options).expect("found");
    assert_eq!(partial.best[0].values[2], 2);
    let least = space
        .solutions(&from)
        .iter()
        .map(|v| cost(&space, &model, v))
        .min();
    assert_eq!(Some(partial.best[0].cost), least);
    assert!(partial.best[0].cost >= found.best[0].cost);
}

/// T6: the order of choices changes how much is looked at, and not what is found.
#[test]
fn the_order_of_choices_changes_only_the_work() {
    let (space, model) = product();
    let order: Vec<Var> = space.vars().collect();
    let reversed: Vec<Var> = order.iter().rev().copied().collect();
    let run = |order: Vec<Var>| {
        let options = Options {
            order,
            rollouts: 0,
            ..Options::default()
        };
        search(&space, &model, &mut model.clone(), &options).expect("found")
    };
    let (first, second) = (run(order), run(reversed));
    assert_eq!(first.best[0].cost, second.best[0].cost);
    let all = space
        .solutions(&space.start().expect("it has candidates"))
        .len() as u64;
    println!(
        "split: {} in order, {} reversed, of {all}",
        first.explored, second.explored
    );
    assert_ne!(first.explored, second.explored);
    assert!(first.explored.max(second.explored) < all);
}

/// T7: descents seldom end where nothing is left; the estimate of the size is right.
#[test]
fn descents_seldom_die_and_estimate_the_size() {
    let (space, _) = product();
    let start = space.start().expect("it has candidates");
    let order: Vec<Var> = space.vars().collect();
    let size = estimate::size(&space, &start, &order, 4000, 1);
    let all = space.solutions(&start).len() as f64;
    assert!(
        size.dead * 5 < size.descents,
        "{} of {}",
        size.dead,
        size.descents
    );
    assert!(
        (size.candidates - all).abs() < 2.0 * size.error,
        "{size:?} and {all}"
    );
}

/// T8: something is cut off before the last choice, and is told by depth.
#[test]
fn regions_are_cut_off_at_each_depth() {
    let (space, model) = product();
    let found = search(&space, &model, &mut model.clone(), &Options::default()).expect("found");
    let pruned: Vec<u64> = found.levels.iter().map(|l| l.pruned).collect();
    assert!(pruned[..3].iter().sum::<u64>() > 0, "{pruned:?}");
    let text = report::text(&space, &found, "cycles");
    for part in [
        "space: about",
        "depth 0:",
        "gap: 0",
        "bound of the best",
        "of memory",
        "left matrix",
    ] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
}

/// Counts what it is asked, as a solver would be.
struct Counted(Model, u64);

impl Evaluate for Counted {
    fn cost(&mut self, space: &Space, values: &[i64]) -> Result<u64, String> {
        self.1 += 1;
        // What the model leaves out makes everything dearer.
        Ok(self.0.cost(space, values)? + values.iter().map(|v| v.unsigned_abs()).sum::<u64>())
    }
}

/// T9: with bounds, what is dear to evaluate is evaluated seldom; the result is the same.
#[test]
fn bounds_save_evaluations() {
    let (mut with, mut without) = (0, 0);
    for (space, model) in spaces() {
        let run = |bounded| {
            let mut counted = Counted(model.clone(), 0);
            let options = Options {
                bounded,
                ..Options::default()
            };
            let found = search(&space, &model, &mut counted, &options).expect("candidates");
            (found.best[0].cost, counted.1)
        };
        let ((a, few), (b, all)) = (run(true), run(false));
        assert_eq!(a, b);
        let start = space.start().expect("it has candidates");
        assert_eq!(all, space.solutions(&start).len() as u64);
        (with, without) = (with + few, without + all);
    }
    println!("evaluated: {with} with bounds, {without} without");
    assert!(with * 2 < without, "{with} of {without}");
}

/// An empty space says which constraint emptied it; a search in no time is none.
#[test]
fn empty_spaces_and_no_time_are_told() {
    let (mut space, model) = product();
    let none = Options {
        time: Some(std::time::Duration::ZERO),
        ..Options::default()
    };
    let problem = search(&space, &model, &mut model.clone(), &none).expect_err("no time");
    assert_eq!(problem, Problem::NoTime);
    let (i, start) = (
        space.find("i").expect("i"),
        space.start().expect("candidates"),
    );
    let emptied = space.restrict(&start, i, &[3]).expect_err("3 is no side");
    assert_eq!(
        emptied.to_string(),
        "no value of `i` is left by: it was to be 3, and what is left is 1 or 2 or 4 or 8 or 16 or 32"
    );
    space.require("more rows than 32", [i], |v| v[0] > 32);
    let problem = search(&space, &model, &mut model.clone(), &Options::default());
    let problem = problem.expect_err("it is empty").to_string();
    assert_eq!(
        problem,
        "the search space is empty: no value of `i` is left by: more rows than 32"
    );
}

/// A limit leaves a gap, and the gap is told.
#[test]
fn limits_leave_a_gap() {
    let (space, model) = product();
    let options = Options {
        splits: 3,
        ..Options::default()
    };
    let found = search(&space, &model, &mut model.clone(), &options).expect("rollouts find some");
    assert_eq!(found.ended, Ended::Splits);
    assert!(found.bound <= optimum(&space, &model));
    let all: BTreeSet<u64> = found.best.iter().map(|l| l.cost).collect();
    assert!(all.first() >= Some(&optimum(&space, &model)));
}
