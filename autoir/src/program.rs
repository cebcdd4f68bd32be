//! Programs: graphs of operations of the dictionary.
//!
//! In: inputs, constants, operations at numbers. Out: [`Program`], straight-line code in which
//! equal values are one node, so that common parts are computed and paid once. Search, proof,
//! cost, the cache and emission all work on this one type; its text form is in [`text`].
//! It knows no instruction: [`crate::instructions`] says which implements an operation.

pub mod file;
pub mod placed;
pub mod text;

use crate::transfer::Transfer;
use semantics::bits::Bits;
use semantics::build as b;
use semantics::instruction::{Element, Role};
use semantics::sort::Sort;
use semantics::subst::replace_vars;
use semantics::term::Term;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A value of a program: the number of its node.
pub type Value = usize;

/// What an argument of an operation is in an instance.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Bound {
    /// Given by the node.
    Open,
    /// Zeros.
    Zero,
    /// The same value as the argument of that number.
    Same(usize),
    /// The memory as it is.
    Memory,
}

/// An argument that a node gives.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Formal {
    /// The free variable of the meaning: `x0`, `x1`, … by the number of the argument.
    pub name: String,
    /// How the elements are read.
    pub element: Element,
    /// Width in bits.
    pub width: u32,
    /// Whether it is a register, a mask or a constant in the code.
    pub role: Role,
}

/// An operation of the dictionary at numbers, with the form of its arguments.
#[derive(Clone, Debug)]
pub struct Instance {
    /// The operation's name.
    pub operation: String,
    /// The values of its parameters.
    pub values: Vec<i64>,
    /// What each of its arguments is.
    pub arguments: Vec<Bound>,
    /// The open arguments, in order.
    pub formals: Vec<Formal>,
    /// Bits of the result that may be anything: from (inclusive) and to (exclusive). They are bits
    /// of [`UNDEFINED`] in the meaning.
    pub undefined: Vec<(u32, u32)>,
    /// What it moves, when it only does that; it follows from the meaning.
    pub transfer: Option<Transfer>,
    /// What it computes, over the open arguments.
    pub term: Term,
}

/// The variable whose bits stand for those that may be anything.
pub const UNDEFINED: &str = "undefined";

impl Instance {
    /// What tells this instance from others: all but how elements are read, and the term,
    /// which follow.
    fn key(&self) -> impl Hash + PartialEq + '_ {
        let formals: Vec<(u32, Role)> = self.formals.iter().map(|f| (f.width, f.role)).collect();
        let open = (&self.arguments, formals, &self.undefined);
        (&self.operation, &self.values, open)
    }

    /// Width of the result in bits; 0 of one that only writes memory.
    pub fn width(&self) -> u32 {
        self.term.sort().width().unwrap_or(0)
    }

    /// Whether it reads or writes memory.
    pub fn accesses_memory(&self) -> bool {
        self.arguments.contains(&Bound::Memory)
    }
}

impl PartialEq for Instance {
    fn eq(&self, other: &Instance) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Instance {}

impl Hash for Instance {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

/// What a node gives for an open argument.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Argument {
    /// A computed value.
    Value(Value),
    /// A constant in the code.
    Immediate(Bits),
    /// The address of a byte.
    Address(Region, u32),
}

/// Memory that a program accesses.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Region {
    /// The input of that name, its elements one after the other.
    Input(String),
    /// A table of constants.
    Table(Bits),
    /// Where the result goes, its elements one after the other.
    Result,
    /// Memory of the program's own.
    Scratch,
}

/// How a value is made.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Node {
    /// Consecutive bits of an input of the window.
    Input {
        /// The input's name.
        name: String,
        /// The lowest bit.
        lo: u32,
        /// Number of bits.
        width: u32,
    },
    /// A constant register.
    Constant(Bits),
    /// A register seen as a wider one, its upper bits not defined, or its low bits; free.
    Cast {
        /// The register.
        value: Value,
        /// The new width in bits.
        width: u32,
    },
    /// An operation.
    Apply {
        /// Which of the program's [`Program::operations`].
        operation: usize,
        /// The open arguments in order.
        args: Vec<Argument>,
    },
    /// For so many lanes of the result from one on a bit: whether it is loaded and stored.
    Active {
        /// The first lane.
        first: u32,
        /// Number of lanes, and of bits.
        lanes: u32,
    },
    /// A value to where the result goes; it is no value itself.
    Store {
        /// What is stored.
        value: Value,
        /// The first byte of the result that it is.
        byte: u32,
    },
    /// Leading bytes of the scratch memory to where the result goes; it is no value.
    Copy {
        /// The first byte of the result.
        byte: u32,
        /// Number of bytes.
        bytes: u32,
    },
}

/// A graph of operations.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Program {
    /// The operations that nodes apply.
    pub operations: Arc<[Arc<Instance>]>,
    nodes: Vec<Node>,
    index: HashMap<Node, Value>,
    /// The registers that together are the window's result, least significant first.
    pub outputs: Vec<Value>,
}

impl Program {
    /// A program without nodes over these operations.
    pub fn over(operations: Arc<[Arc<Instance>]>) -> Program {
        Program {
            operations,
            ..Program::default()
        }
    }

    /// The value of a node, made when it is not there yet.
    pub fn add(&mut self, node: Node) -> Value {
        if let Some(&value) = self.index.get(&node) {
            return value;
        }
        self.nodes.push(node.clone());
        self.index.insert(node, self.nodes.len() - 1);
        self.nodes.len() - 1
    }

    /// How a value is made.
    pub fn node(&self, value: Value) -> &Node {
        &self.nodes[value]
    }

    /// All nodes; each uses earlier ones only.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The operation of that number.
    pub fn operation(&self, number: usize) -> &Instance {
        &self.operations[number]
    }

    /// The operations that are applied, in order of the nodes.
    pub fn applied(&self) -> impl Iterator<Item = &Arc<Instance>> {
        self.nodes.iter().filter_map(|node| match node {
            Node::Apply { operation, .. } => Some(&self.operations[*operation]),
            _ => None,
        })
    }

    /// The number of bits of a value; 0 of what is none.
    pub fn width(&self, value: Value) -> u32 {
        match &self.nodes[value] {
            Node::Input { width, .. } | Node::Cast { width, .. } => *width,
            Node::Constant(bits) => bits.width(),
            Node::Apply { operation, .. } => self.operations[*operation].width(),
            Node::Active { lanes, .. } => *lanes,
            Node::Store { .. } | Node::Copy { .. } => 0,
        }
    }

    /// The values that a node uses.
    pub fn uses(&self, value: Value) -> impl Iterator<Item = Value> + '_ {
        let (cast, args) = match &self.nodes[value] {
            Node::Cast { value, .. } | Node::Store { value, .. } => (Some(*value), &[][..]),
            Node::Apply { args, .. } => (None, args.as_slice()),
            Node::Input { .. } | Node::Constant(_) | Node::Active { .. } | Node::Copy { .. } => {
                (None, &[][..])
            }
        };
        let values = args.iter().filter_map(|a| match a {
            Argument::Value(value) => Some(*value),
            Argument::Immediate(_) | Argument::Address(..) => None,
        });
        cast.into_iter().chain(values)
    }

    /// The values that some values need, themselves included, arguments before users.
    pub fn needed(&self, roots: &[Value]) -> BTreeSet<Value> {
        let mut seen = BTreeSet::new();
        let mut stack = roots.to_vec();
        while let Some(v) = stack.pop() {
            if seen.insert(v) {
                stack.extend(self.uses(v));
            }
        }
        seen
    }

    /// The part that computes some values, which are its outputs.
    pub fn extract(&self, roots: &[Value]) -> Program {
        let mut place: BTreeMap<Value, Value> = BTreeMap::new();
        let mut numbers: BTreeMap<usize, usize> = BTreeMap::new();
        let mut operations = Vec::new();
        let mut part = Program::default();
        for v in self.needed(roots) {
            let node = self.nodes[v].moved(&place, &mut |operation| {
                *numbers.entry(operation).or_insert_with(|| {
                    operations.push(Arc::clone(&self.operations[operation]));
                    operations.len() - 1
                })
            });
            place.insert(v, part.add(node));
        }
        part.operations = operations.into();
        part.outputs = roots.iter().map(|v| place[v]).collect();
        part
    }

    /// This program and another one, what both compute once, with this one's outputs; and the other's.
    #[must_use]
    pub fn beside(&self, other: &Program) -> (Program, Vec<Value>) {
        let (mut both, mut operations) = (self.clone(), self.operations.to_vec());
        let mut place: BTreeMap<Value, Value> = BTreeMap::new();
        for (value, node) in other.nodes.iter().enumerate() {
            let node = node.moved(&place, &mut |operation| {
                let own = &other.operations[operation];
                let known = operations.iter().position(|o| o == own);
                known.unwrap_or_else(|| {
                    operations.push(Arc::clone(own));
                    operations.len() - 1
                })
            });
            place.insert(value, both.add(node));
        }
        both.operations = operations.into();
        (both, other.outputs.iter().map(|v| place[v]).collect())
    }

    /// The same program over inputs of other names.
    pub fn renamed(&self, name_of: &dyn Fn(&str) -> String) -> Program {
        let mut program = Program::over(Arc::clone(&self.operations));
        for node in &self.nodes {
            let mut node = node.clone();
            match &mut node {
                Node::Input { name, .. } => *name = name_of(name),
                Node::Apply { args, .. } => {
                    for arg in args {
                        if let Argument::Address(Region::Input(name), _) = arg {
                            *name = name_of(name);
                        }
                    }
                }
                _ => {}
            }
            program.add(node);
        }
        program.outputs.clone_from(&self.outputs);
        program
    }

    /// The meaning of each output over the window's inputs, free variables of the given
    /// widths. Bits that a cast leaves undefined are fresh variables.
    pub fn results(&self, inputs: &HashMap<String, u32>) -> Vec<Term> {
        let mut terms: Vec<Term> = Vec::new();
        for value in 0..self.nodes.len() {
            terms.push(self.meaning(value, inputs, &|v| terms[v]));
        }
        self.outputs.iter().map(|&value| terms[value]).collect()
    }

    /// The meaning of a value, from those of the values that it uses. Of a load it is what the
    /// region holds, all lanes active.
    ///
    /// # Panics
    /// For what is no value.
    pub fn meaning(
        &self,
        value: Value,
        inputs: &HashMap<String, u32>,
        of: &dyn Fn(Value) -> Term,
    ) -> Term {
        match &self.nodes[value] {
            Node::Input { name, lo, width } => {
                let whole = inputs.get(name).copied().unwrap_or(lo + width);
                b::extract(Term::var(name, Sort::Bv(whole)), *lo, *width)
            }
            Node::Constant(bits) => Term::bits(bits.clone()),
            Node::Cast { value: from, width } => cast(of(*from), *width, value),
            Node::Apply { operation, args } => {
                let instance = &self.operations[*operation];
                if instance.accesses_memory() {
                    return self.loaded(instance, args, inputs);
                }
                let values = args.iter().filter_map(|arg| match arg {
                    Argument::Value(value) => Some(of(*value)),
                    Argument::Immediate(bits) => Some(Term::bits(bits.clone())),
                    Argument::Address(..) => None,
                });
                let names = instance.formals.iter().map(|f| f.name.as_str());
                let mut map: HashMap<&str, Term> = names.zip(values).collect();
                if !instance.undefined.is_empty() {
                    let unknown = format!("{UNDEFINED}.{value}");
                    map.insert(UNDEFINED, Term::var(&unknown, Sort::Bv(instance.width())));
                }
                replace_vars(instance.term, &map)
            }
            Node::Active { lanes, .. } => Term::bits(Bits::ones(*lanes)),
            Node::Store { .. } | Node::Copy { .. } => panic!("a store is no value"),
        }
    }

    /// What a load gives when all lanes are active: bits of its region, the rest zeros.
    fn loaded(
        &self,
        instance: &Instance,
        args: &[Argument],
        inputs: &HashMap<String, u32>,
    ) -> Term {
        let address = args.iter().find_map(|arg| match arg {
            Argument::Address(region, byte) => Some((region, *byte)),
            _ => None,
        });
        let (region, byte) = address.expect("what reads memory has an address");
        let held = match region {
            Region::Input(name) => {
                let width = inputs.get(name).copied().unwrap_or(0);
                Term::var(name, Sort::Bv(width.max(1)))
            }
            Region::Table(bits) => Term::bits(bits.clone()),
            Region::Result | Region::Scratch => panic!("nothing is loaded from there"),
        };
        let bits = match instance.transfer {
            Some(Transfer::Load(bits)) => bits,
            Some(Transfer::LoadMasked(_)) => instance.width(),
            _ => panic!("what reads memory is a load"),
        };
        assert!(
            8 * byte + bits <= held.width(),
            "a load stays within its region"
        );
        b::zext(b::extract(held, 8 * byte, bits), instance.width())
    }
}

impl Node {
    /// The node with its values at other places, and its operation with another number.
    pub fn moved(
        &self,
        place: &BTreeMap<Value, Value>,
        number: &mut dyn FnMut(usize) -> usize,
    ) -> Node {
        match self {
            Node::Cast { value, width } => Node::Cast {
                value: place[value],
                width: *width,
            },
            Node::Store { value, byte } => Node::Store {
                value: place[value],
                byte: *byte,
            },
            Node::Apply { operation, args } => Node::Apply {
                operation: number(*operation),
                args: args.iter().map(|a| a.moved(place)).collect(),
            },
            other => other.clone(),
        }
    }
}

impl Argument {
    /// The argument with its value at another place.
    pub fn moved(&self, place: &BTreeMap<Value, Value>) -> Argument {
        match self {
            Argument::Value(v) => Argument::Value(place[v]),
            other => other.clone(),
        }
    }
}

/// A register at another width.
fn cast(term: Term, width: u32, number: Value) -> Term {
    match width.checked_sub(term.width()) {
        None => b::extract(term, 0, width),
        Some(0) => term,
        Some(more) => {
            let unknown = Term::var(&format!("undefined.{number}"), Sort::Bv(more));
            b::concat(&[unknown, term])
        }
    }
}
