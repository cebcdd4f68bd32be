//! What a program costs.
//!
//! In: values of a [`Program`], what the instructions that implement its operations cost, what is
//! known of its inputs. Out: the larger of two times: that of the longest chain of instructions
//! that wait for each other, and that for which the most used resource of the machine is taken.
//! Or, by the other [`Rule`], the sum of all latencies. Constants are made outside of loops and
//! cost nothing here. What loops around programs cost is in [`nest`], by the same demands of values.
//!
//! Where a window adds to a register round after round, what its next round waits for is that
//! register: only chains from it count, each for its part where several registers are changed side
//! by side, and all else of one round runs beside the last of the one before. Where it does not, rounds wait for nothing of each other, and as many are on
//! their way at a time as the processor holds: a chain counts for that part of its length.

use crate::cost::{Cost, CostTable, Rule, Weight};
use crate::widths::Widths;
use autoir::program::{Node, Program, Value};
use lowering::window::{Source, Window};
use std::collections::{BTreeMap, BTreeSet};
use target::processor::Processor;

pub mod nest;
#[cfg(test)]
mod tests;

/// What loads compete for, and stores.
const LOADS: &str = "load";
const STORES: &str = "store";

/// What a window costs; of two that cost the same, the one is better whose instructions
/// take less time of the machine in all.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Estimate {
    /// By the rule.
    pub cost: Cost,
    /// The time for which all resources are taken, added.
    pub busy: Cost,
}

/// What a program takes of the machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Usage {
    /// The longest chain that counts, in tenths of a cycle.
    pub chain: Cost,
    /// The time for which each resource is taken; that of none is what nothing is known of.
    pub taken: BTreeMap<Option<String>, Cost>,
}

/// An input of a window as costs and searches see it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WindowInput {
    /// Its name in the window's term.
    pub name: String,
    /// Its width in bits.
    pub width: u32,
    /// Whether it lies in memory, so that any whole bytes of it can be loaded.
    pub in_memory: bool,
    /// Whether it is a register of the kernel, of which a part above the lowest has to be taken out.
    pub held: bool,
    /// Where it is the register that the window changes round after round: how many such
    /// registers change side by side. 0 where it is not.
    pub chains: u32,
}

impl WindowInput {
    /// The inputs of a window.
    pub fn of(window: &Window) -> Vec<WindowInput> {
        let one = |input: &lowering::window::Input| WindowInput {
            name: input.name.clone(),
            width: input.ty.width(),
            in_memory: match input.source {
                Source::Array(_) => true,
                Source::Register(_) => input.ty.lanes > 1,
                Source::Scalar(_) | Source::Index(_) => false,
            },
            held: matches!(input.source, Source::Register(_)),
            chains: match (&input.source, window.carried()) {
                (Source::Register(from), Some(to)) if *from == to => window.chains,
                _ => 0,
            },
        };
        window.inputs.iter().map(one).collect()
    }
}

/// What a value takes of the machine.
#[derive(Clone, Copy, Default)]
struct Demand<'e> {
    /// For how long it takes which resources.
    taken: [(Option<&'e str>, Cost); 2],
    /// From what it is made of to its result.
    latency: Cost,
}

impl<'e> Demand<'e> {
    fn of(resource: Option<&'e str>, time: Cost, latency: Cost) -> Demand<'e> {
        Demand {
            taken: [(resource, time), (None, 0)],
            latency,
        }
    }
}

/// The one model of what programs cost.
pub struct Estimator<'a> {
    /// What the operations of the program weigh, by number.
    weights: Vec<&'a Weight>,
    rule: Rule,
    processor: &'a Processor,
    /// Values of at least so many bits are vectors, narrower ones numbers.
    narrowest_vector: u32,
    /// Registers are as wide as the widest vectors.
    widest_vector: u32,
    in_memory: BTreeSet<String>,
    held: BTreeSet<String>,
    carried: Option<(String, u32)>,
}

impl<'a> Estimator<'a> {
    /// A model for programs over operations of these weights and these inputs.
    pub fn new(
        weights: impl IntoIterator<Item = &'a Weight>,
        costs: &'a CostTable,
        widths: &Widths,
        inputs: &[WindowInput],
    ) -> Estimator<'a> {
        let memory = inputs.iter().filter(|i| i.in_memory);
        let held = inputs.iter().filter(|i| i.in_memory && i.held);
        let carried = inputs.iter().find(|i| i.chains > 0);
        Estimator {
            weights: weights.into_iter().collect(),
            rule: costs.rule,
            processor: &costs.processor,
            narrowest_vector: widths.narrowest(),
            widest_vector: widths.widest(),
            in_memory: memory.map(|i| i.name.clone()).collect(),
            held: held.map(|i| i.name.clone()).collect(),
            carried: carried.map(|i| (i.name.clone(), i.chains.min(costs.processor.chains))),
        }
    }

    /// Whether what counts is the work of the machine, and no round waits for another.
    pub fn is_by_work(&self) -> bool {
        self.rule == Rule::Pressure && self.carried.is_none()
    }

    /// What a value itself counts for in a search that adds.
    pub fn own(&self, program: &Program, value: Value) -> Cost {
        let processor = self.processor;
        match program.node(value) {
            node if self.is_taken_out(node) => processor.transfer,
            Node::Input { name, .. } if self.in_memory.contains(name) => processor.load,
            Node::Input { .. } => 0,
            Node::Constant(_) => processor.constant,
            Node::Cast { value: from, width } => {
                let vector = |width: u32| width >= self.narrowest_vector;
                match vector(*width) && !vector(program.width(*from)) {
                    true => processor.transfer,
                    false => 0,
                }
            }
            Node::Apply { operation, .. } => self.rule.share(self.weights[*operation]),
            Node::Active { .. } => processor.transfer,
            Node::Store { .. } => processor.store,
            Node::Copy { .. } => processor.load + processor.store,
        }
    }

    /// Whether a vector is a part of a register that does not lie at the low end of it.
    fn is_taken_out(&self, node: &Node) -> bool {
        match node {
            Node::Input { name, lo, width } => {
                let vector = *width >= self.narrowest_vector;
                vector && lo % self.widest_vector != 0 && self.held.contains(name)
            }
            _ => false,
        }
    }

    /// What the values that these need count for together, common parts once.
    pub fn sum(&self, program: &Program, roots: &[Value]) -> Cost {
        let needed = program.needed(roots);
        needed.iter().map(|&v| self.own(program, v)).sum()
    }

    /// What it costs to compute these values, common parts once.
    pub fn window(&self, program: &Program, roots: &[Value]) -> Estimate {
        let usage = self.usage(program, roots);
        let most = usage.taken.values().copied().max().unwrap_or(0);
        let chain = self.chain(&usage, program, roots);
        Estimate {
            cost: match self.rule {
                Rule::LatencySum => self.sum(program, roots),
                Rule::Pressure => chain.max(most),
            },
            busy: usage.taken.values().sum(),
        }
    }

    /// Whether rounds of a loop wait for each other longer than they take of the machine.
    pub fn waits(&self, program: &Program, roots: &[Value]) -> bool {
        let usage = self.usage(program, roots);
        let most = usage.taken.values().copied().max().unwrap_or(0);
        self.carried.is_some()
            && self.rule == Rule::Pressure
            && self.chain(&usage, program, roots) > most
    }

    /// The part of the longest chain that counts. Rounds that do not wait for each other are
    /// computed side by side, and so are chains from different registers.
    fn chain(&self, usage: &Usage, program: &Program, roots: &[Value]) -> Cost {
        match self.carried {
            Some((_, chains)) => usage.chain.div_ceil(chains),
            None => usage.chain * self.operations(program, roots) / self.processor.in_flight,
        }
    }

    /// How many operations there are.
    pub fn operations(&self, program: &Program, roots: &[Value]) -> Cost {
        let needed = program.needed(roots);
        let is_operation = |v: &&Value| matches!(program.node(**v), Node::Apply { .. });
        u32::try_from(needed.iter().filter(is_operation).count()).unwrap_or(Cost::MAX)
    }

    /// Whether a value is the result of an instruction that works on numbers.
    fn is_number(&self, program: &Program, value: Value) -> bool {
        match program.node(value) {
            Node::Apply { operation, .. } => self.weights[*operation].of_numbers,
            _ => false,
        }
    }

    /// Whether a value is the low end of a vector.
    fn leaves_vector(&self, program: &Program, value: Value) -> bool {
        match program.node(value) {
            Node::Cast { value: from, width } => {
                *width < self.narrowest_vector && program.width(*from) >= self.narrowest_vector
            }
            _ => false,
        }
    }

    /// The time that loads take.
    pub(crate) fn loads(&self, program: &Program, roots: &[Value]) -> Cost {
        let taken = self.usage(program, roots).taken;
        taken.get(&Some(LOADS.to_owned())).copied().unwrap_or(0)
    }

    /// What each value that these need takes of the machine, operands first.
    fn demands<'e>(
        &'e self,
        program: &Program,
        roots: &[Value],
        each: &mut dyn FnMut(Value, Demand<'e>),
    ) {
        // What was brought from vectors to where numbers are.
        let mut left: BTreeSet<Value> = BTreeSet::new();
        for value in program.needed(roots) {
            let own = || self.own(program, value);
            let demand = match program.node(value) {
                node @ Node::Input { .. } => {
                    let resource = Some(LOADS).filter(|_| !self.is_taken_out(node));
                    Demand::of(resource, own(), 0)
                }
                Node::Constant(_) => Demand::default(),
                Node::Active { .. } => Demand::of(None, own(), own()),
                Node::Store { .. } => Demand::of(Some(STORES), own(), 0),
                Node::Copy { .. } => Demand {
                    taken: [
                        (Some(LOADS), self.processor.load),
                        (Some(STORES), self.processor.store),
                    ],
                    latency: self.processor.forward,
                },
                Node::Cast { value: from, .. } => {
                    let moved = u32::from(self.is_number(program, *from));
                    Demand::of(None, moved * self.processor.transfer, own())
                }
                Node::Apply { operation, .. } => {
                    let weight = self.weights[*operation];
                    let timing = weight.timing;
                    let resource = weight.resource.as_deref();
                    let mut demand = Demand::of(resource, timing.throughput, timing.latency);
                    if weight.of_numbers {
                        let new = program
                            .uses(value)
                            .filter(|v| self.leaves_vector(program, *v));
                        let new = new.filter(|v| left.insert(*v)).count();
                        let new = u32::try_from(new).unwrap_or(Cost::MAX);
                        demand.taken[1].1 = new.saturating_mul(self.processor.transfer);
                    }
                    demand
                }
            };
            each(value, demand);
        }
    }

    /// The longest path, and the time for which each resource is taken.
    pub fn usage(&self, program: &Program, roots: &[Value]) -> Usage {
        // When a value is ready, after the input that is waited for; none when it waits for nothing.
        let mut ready: BTreeMap<Value, Option<Cost>> = BTreeMap::new();
        let mut taken: BTreeMap<Option<&str>, Cost> = BTreeMap::new();
        self.demands(program, roots, &mut |value, demand| {
            for (resource, time) in demand.taken.iter().filter(|(_, time)| *time > 0) {
                *taken.entry(*resource).or_default() += time;
            }
            let waits = program
                .uses(value)
                .filter_map(|v| ready.get(&v).copied().flatten());
            let waited = |name| self.carried.as_ref().is_none_or(|(c, _)| c == name);
            let done = match program.node(value) {
                Node::Input { name, .. } => waited(name).then_some(0),
                _ => waits.max().map(|t| t + demand.latency),
            };
            ready.insert(value, done);
        });
        let chain = ready.values().copied().flatten().max().unwrap_or(0);
        let taken = taken.into_iter().map(|(k, t)| (k.map(str::to_owned), t));
        Usage {
            chain,
            taken: taken.collect(),
        }
    }
}
