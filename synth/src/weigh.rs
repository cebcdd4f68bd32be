//! What a program costs.
//!
//! In: values of a [`Graph`] and what their instructions cost. Out: the larger of two times:
//! that of the longest chain of instructions that wait for each other, and that for which the
//! most used resource of the machine is taken. Or, by the other [`Rule`], the sum of all
//! latencies. Constants are made outside of loops and cost nothing here.
//!
//! Where a window adds to a register round after round, what its next round waits for is that
//! register: only chains from it count, and all else of one round runs beside the last of
//! the one before.

use crate::candidates::Candidates;
use crate::cost::{Cost, Rule};
use crate::graph::{Argument, Graph, Node, Value};
use std::collections::BTreeMap;

#[cfg(test)]
mod tests;

/// What loads compete for.
const LOADS: &str = "load";

/// What a window costs; of two that cost the same, the one is better whose instructions
/// take less time of the machine in all.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Weighed {
    /// By the rule.
    pub cost: Cost,
    /// The time for which all resources are taken, added.
    pub busy: Cost,
}

/// What it costs to compute these values, common parts once. `carried` is the input that holds
/// what the round before has computed.
pub fn cost(
    graph: &Graph,
    candidates: &Candidates,
    roots: &[Value],
    carried: Option<&str>,
) -> Weighed {
    let (path, taken) = times(graph, candidates, roots, carried);
    let most = taken.values().copied().max().unwrap_or(0);
    Weighed {
        cost: match candidates.rule {
            Rule::LatencySum => graph.cost(roots),
            Rule::Pressure => path.max(most),
        },
        busy: taken.values().sum(),
    }
}

/// The longest path, and the time for which each resource is taken.
fn times<'a>(
    graph: &Graph,
    candidates: &'a Candidates,
    roots: &[Value],
    carried: Option<&str>,
) -> (Cost, BTreeMap<Option<&'a str>, Cost>) {
    // When a value is ready, after the input that is waited for; none when it waits for nothing.
    let mut ready: BTreeMap<Value, Option<Cost>> = BTreeMap::new();
    let mut taken: BTreeMap<Option<&str>, Cost> = BTreeMap::new();
    // Values are made of values with smaller numbers.
    for value in graph.needed(roots) {
        let at = |v: &Value| ready.get(v).copied().flatten();
        let done = match graph.node(value) {
            Node::Input { name, .. } => {
                *taken.entry(Some(LOADS)).or_default() += graph.own_cost(value);
                carried.is_none_or(|c| c == name).then_some(0)
            }
            Node::Constant(_) => None,
            Node::Cast { value: from, .. } => at(from).map(|t| t + graph.own_cost(value)),
            Node::Apply { candidate, args } => {
                let weight = &candidates.list[*candidate].weight;
                let resource = weight.resource.as_deref();
                *taken.entry(resource).or_default() += weight.timing.throughput;
                let operands = args.iter().filter_map(|a| match a {
                    Argument::Value(v) => at(v),
                    Argument::Immediate(_) => None,
                });
                operands.max().map(|t| t + weight.timing.latency)
            }
        };
        ready.insert(value, done);
    }
    let path = ready.values().copied().flatten().max();
    (path.unwrap_or(0), taken)
}
