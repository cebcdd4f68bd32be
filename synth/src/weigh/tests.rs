//! What programs cost, by either rule.

use super::cost;
use crate::candidates::Candidates;
use crate::cost::{CostRow, CostTable, Rule, Timing};
use crate::graph::{Argument, Graph, Node};
use autoir::program::Machine;
use semantics::build as b;
use semantics::instruction::{Element, Form, Operand, Role};
use semantics::sort::Sort;
use semantics::term::Term;
use std::collections::BTreeSet;

fn machine(name: &str) -> (Machine, Form) {
    let operand = |name: &str| Operand {
        name: name.to_owned(),
        c_type: String::new(),
        element: Element::Unsigned(8),
        width: 128,
        role: Role::Register,
    };
    let var = |name| Term::var(name, Sort::Bv(128));
    let machine = Machine {
        operation: name.to_owned(),
        values: Vec::new(),
        intrinsic: name.to_owned(),
        mnemonic: Some(name.to_owned()),
        operands: vec![operand("a"), operand("b")],
        c_type: String::new(),
        features: Vec::new(),
        term: b::xor(var("a"), var("b")),
    };
    (machine, Form::Single)
}

/// `slow` waits for 40 and takes `multiplier` for 10; `quick` waits for 10 and takes what
/// nothing is known of for 5.
fn candidates(rule: Rule) -> Candidates {
    let timing = |latency, throughput| Timing {
        latency,
        throughput,
    };
    let slow = CostRow {
        mnemonic: "slow".to_owned(),
        width: None,
        timing: timing(40, 10),
        resource: Some("multiplier".to_owned()),
    };
    let costs = CostTable {
        model: "test".to_owned(),
        rule,
        rows: vec![slow],
        default: timing(10, 5),
    };
    Candidates::new(
        [machine("slow"), machine("quick")],
        &BTreeSet::new(),
        &costs,
    )
}

/// `count` applications of a candidate to inputs, added up by `quick`.
fn costs(rule: Rule, candidate: usize, count: u32) -> u32 {
    let candidates = candidates(rule);
    let mut graph = Graph::default();
    let own = |k: usize| candidates.list[k].cost;
    let apply = |candidate, x, y| Node::Apply {
        candidate,
        args: vec![Argument::Value(x), Argument::Value(y)],
    };
    let input = |k: u32| Node::Input {
        name: "x".to_owned(),
        lo: 128 * k,
        width: 128,
    };
    let mut roots = Vec::new();
    for k in 0..count {
        let (x, y) = (graph.add(input(2 * k), 5), graph.add(input(2 * k + 1), 5));
        roots.push(graph.add(apply(candidate, x, y), own(candidate)));
    }
    let sum = roots
        .iter()
        .copied()
        .reduce(|x, y| graph.add(apply(1, x, y), own(1)));
    let roots = [sum.expect("there are some")];
    cost(&graph, &candidates, &roots, None).cost
}

#[test]
fn the_longest_path_counts_where_it_is_longer() {
    // One product: 40. Two and their sum: 50, while the multiplier is taken for 20.
    assert_eq!(costs(Rule::Pressure, 0, 1), 40);
    assert_eq!(costs(Rule::Pressure, 0, 2), 50);
}

#[test]
fn the_busiest_resource_counts_where_it_is_busier() {
    // Nine products take the multiplier for 90; their chain of sums waits 40 + 8 * 10 = 120.
    assert_eq!(costs(Rule::Pressure, 0, 9), 120);
    // Thirty loads take 5 each; fifteen quick ones and 14 sums take 145, the chain 150.
    assert_eq!(costs(Rule::Pressure, 1, 15), 150);
    // Loads alone: 2 for each of 40 applications, 400 together, the chain 10 + 39 * 10.
    assert_eq!(costs(Rule::Pressure, 1, 40), 400);
}

#[test]
fn latencies_are_added_by_the_other_rule() {
    // Loads count 5 each.
    assert_eq!(costs(Rule::LatencySum, 0, 2), 2 * 40 + 10 + 4 * 5);
}

#[test]
fn what_the_next_round_waits_for_counts_alone() {
    let candidates = candidates(Rule::Pressure);
    let mut graph = Graph::default();
    let input = |name: &str| Node::Input {
        name: name.to_owned(),
        lo: 0,
        width: 128,
    };
    let apply = |candidate, x, y| Node::Apply {
        candidate,
        args: vec![Argument::Value(x), Argument::Value(y)],
    };
    let sum = graph.add(input("sum"), 0);
    let (x, y) = (graph.add(input("x"), 5), graph.add(input("y"), 5));
    let product = graph.add(apply(0, x, y), 40);
    let next = graph.add(apply(1, sum, product), 10);
    // The product and the sum: 50 once; in a loop 10 for the sum, as for the two loads and
    // the multiplier.
    assert_eq!(cost(&graph, &candidates, &[next], None).cost, 50);
    let carried = cost(&graph, &candidates, &[next], Some("sum"));
    assert_eq!((carried.cost, carried.busy), (10, 25));
}
