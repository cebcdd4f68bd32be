//! What a program costs.
//!
//! In: values of a [`Graph`] and what their instructions cost. Out: the larger of two times:
//! that of the longest chain of instructions that wait for each other, and that for which the
//! most used resource of the machine is taken. Or, by the other [`Rule`], the sum of all
//! latencies. Constants are made outside of loops and cost nothing here.

use crate::candidates::Candidates;
use crate::cost::{Cost, Rule};
use crate::graph::{Argument, Graph, Node, Value};
use std::collections::BTreeMap;

#[cfg(test)]
mod tests;

/// What loads compete for.
const LOADS: &str = "load";

/// What it costs to compute these values, common parts once.
pub fn cost(graph: &Graph, candidates: &Candidates, roots: &[Value]) -> Cost {
    match candidates.rule {
        Rule::LatencySum => graph.cost(roots),
        Rule::Pressure => {
            let (path, pressure) = times(graph, candidates, roots);
            path.max(pressure.values().copied().max().unwrap_or(0))
        }
    }
}

/// The longest path, and the time for which each resource is taken.
fn times<'a>(
    graph: &Graph,
    candidates: &'a Candidates,
    roots: &[Value],
) -> (Cost, BTreeMap<Option<&'a str>, Cost>) {
    let mut ready: BTreeMap<Value, Cost> = BTreeMap::new();
    let mut taken: BTreeMap<Option<&str>, Cost> = BTreeMap::new();
    // Values are made of values with smaller numbers.
    for value in graph.needed(roots) {
        let at = |v: &Value| ready.get(v).copied().unwrap_or(0);
        let done = match graph.node(value) {
            Node::Input { .. } => {
                *taken.entry(Some(LOADS)).or_default() += graph.own_cost(value);
                0
            }
            Node::Constant(_) => 0,
            Node::Cast { value: from, .. } => at(from) + graph.own_cost(value),
            Node::Apply { candidate, args } => {
                let weight = &candidates.list[*candidate].weight;
                let resource = weight.resource.as_deref();
                *taken.entry(resource).or_default() += weight.timing.throughput;
                let operands = args.iter().map(|a| match a {
                    Argument::Value(v) => at(v),
                    Argument::Immediate(_) => 0,
                });
                operands.max().unwrap_or(0) + weight.timing.latency
            }
        };
        ready.insert(value, done);
    }
    (ready.values().copied().max().unwrap_or(0), taken)
}
