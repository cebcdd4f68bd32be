//! Partial programs: the values that the search has made.
//!
//! In: inputs, constants, applications of candidates. Out: [`Graph`], in which equal values
//! are one node, so that common parts are computed and paid once.

use crate::cost::Cost;
use semantics::bits::Bits;
use std::collections::{BTreeSet, HashMap};

/// A value of a [`Graph`].
pub type Value = usize;

/// What an operand of an application is.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Argument {
    /// A computed value.
    Value(Value),
    /// A constant in the instruction.
    Immediate(Bits),
}

/// How a value is made.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Node {
    /// Consecutive bits of an input.
    Input {
        /// Its name.
        name: String,
        /// The lowest bit.
        lo: u32,
        /// Number of bits.
        width: u32,
    },
    /// A constant register.
    Constant(Bits),
    /// A register seen as a wider one (upper bits undefined) or its low bits; free.
    Cast {
        /// The register.
        value: Value,
        /// The new width.
        width: u32,
    },
    /// An instruction; the operands in C order.
    Apply {
        /// Index among the candidates.
        candidate: usize,
        /// The operands.
        args: Vec<Argument>,
    },
}

/// Values with their costs.
#[derive(Default)]
pub struct Graph {
    nodes: Vec<(Node, Cost)>,
    index: HashMap<Node, Value>,
}

impl Graph {
    /// The value of a node, made when it is not there yet; `cost` is its own.
    pub fn add(&mut self, node: Node, cost: Cost) -> Value {
        if let Some(&value) = self.index.get(&node) {
            return value;
        }
        self.nodes.push((node.clone(), cost));
        self.index.insert(node, self.nodes.len() - 1);
        self.nodes.len() - 1
    }

    /// How a value is made.
    pub fn node(&self, value: Value) -> &Node {
        &self.nodes[value].0
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is no value yet.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The values that a value needs, itself included, arguments before users.
    pub fn needed(&self, roots: &[Value]) -> BTreeSet<Value> {
        let mut seen = BTreeSet::new();
        let mut stack = roots.to_vec();
        while let Some(v) = stack.pop() {
            if seen.insert(v) {
                match self.node(v) {
                    Node::Cast { value, .. } => stack.push(*value),
                    Node::Apply { args, .. } => stack.extend(args.iter().filter_map(|a| match a {
                        Argument::Value(v) => Some(*v),
                        Argument::Immediate(_) => None,
                    })),
                    _ => {}
                }
            }
        }
        seen
    }

    /// What a value itself costs.
    pub fn own_cost(&self, value: Value) -> Cost {
        self.nodes[value].1
    }

    /// What the values that these need cost together, common parts once.
    pub fn cost(&self, roots: &[Value]) -> Cost {
        self.needed(roots).iter().map(|&v| self.nodes[v].1).sum()
    }
}
