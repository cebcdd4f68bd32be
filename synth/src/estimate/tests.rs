//! What programs cost, by either rule.

use super::{Estimator, WindowInput};
use crate::cost::{CostTable, Rule, Timing, Weight};
use crate::tests::{operation, widths};
use autoir::program::{Argument, Node, Program, Value};
use semantics::build as b;
use semantics::sort::Sort;
use semantics::term::Term;
use std::sync::Arc;

/// `slow` waits for 40 and takes `multiplier` for 10; `quick` waits for 10 and takes what
/// nothing is known of for 5.
fn weights() -> [Weight; 2] {
    let weight = |latency, throughput, resource: Option<&str>| Weight {
        timing: Timing {
            latency,
            throughput,
        },
        resource: resource.map(str::to_owned),
        of_numbers: false,
    };
    [weight(40, 10, Some("multiplier")), weight(10, 5, None)]
}

fn table(rule: Rule) -> CostTable {
    CostTable {
        rule,
        ..CostTable::uniform("", 0, 0)
    }
}

fn program() -> Program {
    let var = |name| Term::var(name, Sort::Bv(128));
    let both = b::xor(var("a"), var("b"));
    let make = |name| Arc::new(operation(name, &[("a", 128), ("b", 128)], both).0);
    Program::over(["slow", "quick"].map(make).into())
}

fn apply(operation: usize, x: Value, y: Value) -> Node {
    Node::Apply {
        operation,
        args: vec![Argument::Value(x), Argument::Value(y)],
    }
}

fn input(name: &str, lo: u32) -> Node {
    Node::Input {
        name: name.to_owned(),
        lo,
        width: 128,
    }
}

fn loaded(name: &str, in_memory: bool, chains: u32) -> WindowInput {
    WindowInput {
        name: name.to_owned(),
        width: 1 << 20,
        in_memory,
        held: false,
        chains,
    }
}

/// `count` applications of an operation to inputs, added up by `quick`.
fn costs(rule: Rule, operation: usize, count: u32) -> u32 {
    let mut program = program();
    let mut roots = Vec::new();
    for k in 0..count {
        let x = program.add(input("x", 256 * k));
        let y = program.add(input("x", 256 * k + 128));
        roots.push(program.add(apply(operation, x, y)));
    }
    let sum = roots
        .into_iter()
        .reduce(|x, y| program.add(apply(1, x, y)))
        .expect("there are some");
    let (weights, table) = (weights(), table(rule));
    let estimator = Estimator::new(&weights, &table, &widths(), &[loaded("x", true, 0)]);
    estimator.window(&program, &[sum]).cost
}

#[test]
fn the_longest_path_counts_where_rounds_do_not_fit_side_by_side() {
    // One product: two loads. Two and their sum: the multiplier is taken for 20, and four loads.
    assert_eq!(costs(Rule::Pressure, 0, 1), 10);
    assert_eq!(costs(Rule::Pressure, 0, 2), 20);
    // 159 operations are more than are under way: their chain of 10 + 79 * 10 counts for 159 / 128.
    assert_eq!(costs(Rule::Pressure, 1, 80), 993);
}

#[test]
fn the_busiest_resource_counts_where_it_is_busier() {
    // Nine products take the multiplier for 90; their chain of sums is 40 + 8 * 10.
    assert_eq!(costs(Rule::Pressure, 0, 9), 90);
    // Thirty loads take 5 each; fifteen quick ones and 14 sums take 145.
    assert_eq!(costs(Rule::Pressure, 1, 15), 150);
    // Loads alone: 2 for each of 40 applications, 400 together.
    assert_eq!(costs(Rule::Pressure, 1, 40), 400);
}

#[test]
fn what_lies_above_the_low_end_of_a_register_is_moved_and_not_loaded() {
    let mut program = program();
    let parts = [0, 128, 256, 512].map(|lo| program.add(input("x", lo)));
    let (weights, table) = (weights(), table(Rule::Pressure));
    let taken = |held| {
        let mut of = loaded("x", true, 0);
        of.held = held;
        let estimator = Estimator::new(&weights, &table, &widths(), &[of]);
        let taken = estimator.usage(&program, &parts).taken;
        [Some("load".to_owned()), None].map(|resource| taken.get(&resource).copied().unwrap_or(0))
    };
    assert_eq!(taken(false), [20, 0], "of an array all is loaded");
    // Registers are of 512 bits: two parts stand at the low end of one, two have to be taken out.
    assert_eq!(taken(true), [10, 20]);
}

#[test]
fn latencies_are_added_by_the_other_rule() {
    // Loads count 5 each.
    assert_eq!(costs(Rule::LatencySum, 0, 2), 2 * 40 + 10 + 4 * 5);
}

#[test]
fn what_the_next_round_waits_for_counts_alone() {
    let mut program = program();
    let sum = program.add(input("sum", 0));
    let (x, y) = (program.add(input("x", 0)), program.add(input("y", 0)));
    let product = program.add(apply(0, x, y));
    let next = program.add(apply(1, sum, product));
    let (weights, table) = (weights(), table(Rule::Pressure));
    let estimate = |chains| {
        let inputs = [
            loaded("sum", false, chains),
            loaded("x", true, 0),
            loaded("y", true, 0),
        ];
        Estimator::new(&weights, &table, &widths(), &inputs).window(&program, &[next])
    };
    // 10 for the two loads and the multiplier where rounds wait for nothing; else for the sum too.
    assert_eq!(estimate(0).cost, 10);
    assert_eq!((estimate(1).cost, estimate(1).busy), (10, 25));
}

#[test]
fn chains_from_different_registers_run_side_by_side() {
    let mut program = program();
    let (x, sum) = (program.add(input("x", 0)), program.add(input("sum", 0)));
    let next = program.add(apply(0, sum, x));
    let (weights, table) = (weights(), table(Rule::Pressure));
    let cost = |chains| {
        let inputs = [loaded("sum", false, chains), loaded("x", true, 0)];
        let estimator = Estimator::new(&weights, &table, &widths(), &inputs);
        (
            estimator.window(&program, &[next]).cost,
            estimator.waits(&program, &[next]),
        )
    };
    // A product takes 40, and the multiplier for 10.
    assert_eq!(cost(1), (40, true));
    assert_eq!(cost(3), (14, true));
    assert_eq!(cost(4), (10, false));
}

/// What moves to where numbers or masks are and back takes two transfers; as much of vectors none.
#[test]
fn values_change_registers_at_a_cost() {
    let var = |name| Term::var(name, Sort::Bv(32));
    let number = operation(
        "number",
        &[("a", 32), ("b", 32)],
        b::xor(var("a"), var("b")),
    )
    .0;
    let var = |name| Term::var(name, Sort::Bv(128));
    let vector = operation(
        "vector",
        &[("a", 128), ("b", 128)],
        b::add(var("a"), var("b")),
    )
    .0;
    let mut program = Program::over([number, vector].map(Arc::new).into());
    let (x, y) = (program.add(input("x", 0)), program.add(input("x", 128)));
    let sum = program.add(apply(1, x, y));
    let low = program.add(Node::Cast {
        value: sum,
        width: 32,
    });
    let turned = program.add(apply(0, low, low));
    let back = program.add(Node::Cast {
        value: turned,
        width: 128,
    });
    let busy = |of_numbers| {
        let (mut weights, table) = (weights(), table(Rule::Pressure));
        weights[0].of_numbers = of_numbers;
        let inputs = [loaded("x", true, 0)];
        let estimator = Estimator::new(&weights, &table, &widths(), &inputs);
        estimator.window(&program, &[back]).busy
    };
    assert_eq!(
        busy(true) - busy(false),
        2 * table(Rule::Pressure).processor.transfer
    );
}

#[test]
fn what_a_program_stores_and_copies_counts_like_what_it_loads() {
    let (weights, table) = (weights(), table(Rule::Pressure));
    let inputs = [loaded("x", true, 0)];
    let estimator = Estimator::new(&weights, &table, &widths(), &inputs);
    let mut program = program();
    let value = program.add(input("x", 0));
    let store = program.add(Node::Store { value, byte: 0 });
    let copy = program.add(Node::Copy { byte: 16, bytes: 4 });
    let taken = |roots: &[Value]| {
        let taken = estimator.usage(&program, roots).taken;
        ["load", "store"].map(|of| taken.get(&Some(of.to_owned())).copied().unwrap_or(0))
    };
    let [load, stored] = [table.processor.load, table.processor.store];
    assert!(load > 0 && stored > 0);
    assert_eq!(taken(&[value]), [load, 0]);
    assert_eq!(taken(&[store]), [load, stored]);
    assert_eq!(taken(&[store, copy]), [2 * load, 2 * stored]);
    assert_eq!(estimator.window(&program, &[store, copy]).cost, 2 * stored);
}
