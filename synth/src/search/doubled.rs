//! Operations on pairs of registers, for machines that have them on single registers only.
//!
//! In: candidates, and how pairs are joined and taken apart. Out: for each operation that treats
//! the lanes of one register alike, one that does the same to pairs ([`doubled`]), which the
//! search takes for one instruction; and programs in which these are two instructions on the
//! halves again ([`Doubled::expanded`]). That an operation on pairs is the one on both halves is
//! shown by their meanings, element by element, before it is a candidate.

use super::Search;
use crate::estimate::Estimate;
use crate::pairs::as_operands;
use autoir::program::{Argument, Formal, Instance, Node, Program, Value};
use semantics::build as b;
use semantics::instruction::{Element, Role};
use semantics::sort::Sort;
use semantics::subst::replace_vars;
use semantics::term::{Kind, Term};
use semantics::unroll::elements;
use std::collections::{BTreeMap, HashMap};

/// What is doubled, by the number of candidates.
#[derive(Default)]
pub(crate) struct Doubled {
    /// The operation on halves of each operation on pairs.
    pub(crate) halves: HashMap<usize, usize>,
    /// How pairs of a width are made.
    pub(crate) pairs: BTreeMap<u32, Halving>,
}

/// How pairs are made of halves, by the numbers of candidates.
pub(crate) struct Halving {
    pub(crate) join: usize,
    /// Which of its operands is the lower half.
    pub(crate) low: usize,
    pub(crate) high: usize,
}

/// The operation that does to both halves of pairs what this one does to registers of so many bits;
/// none where it does something else, or has operands that are not halved and no constants.
pub(crate) fn doubled(instance: &Instance, half: u32) -> Option<Instance> {
    let whole = |f: &&Formal| f.role == Role::Register && f.width == half;
    let shared = |f: &Formal| f.role.is_constant() || f.role == Role::Register;
    let formals = &instance.formals;
    let apart = formals
        .iter()
        .all(|f| f.element != Element::Mask && shared(f));
    if instance.width() != half || !apart || !formals.iter().any(|f| whole(&f)) {
        return None;
    }
    let pairs = formals.iter().filter(whole);
    let pairs: Vec<(&str, Term)> = pairs
        .map(|f| (f.name.as_str(), Term::var(&f.name, Sort::Bv(2 * half))))
        .collect();
    let of = |at: u32| {
        let parts = pairs
            .iter()
            .map(|&(name, pair)| (name, b::extract(pair, at, half)));
        elements(replace_vars(instance.term, &parts.collect()), UNIT)
    };
    let both = [of(0), of(half)].concat();
    let wide = replace_vars(instance.term, &pairs.iter().copied().collect());
    let term = match instance.term.kind() {
        // A map over as many lanes again; the others are whatever their width is.
        Kind::Map { count, .. } => match wide.kind() {
            Kind::Map { body, .. } => b::map(2 * *count, *body),
            _ => return None,
        },
        _ => wide,
    };
    if term.sort() != Sort::Bv(2 * half) || elements(term, UNIT) != both {
        return None;
    }
    let formal = |f: &Formal| Formal {
        width: if whole(&f) { 2 * half } else { f.width },
        ..f.clone()
    };
    Some(Instance {
        operation: format!("{} of both halves", instance.operation),
        formals: formals.iter().map(formal).collect(),
        term,
        ..instance.clone()
    })
}

/// What is compared at once.
const UNIT: u32 = 8;

impl Doubled {
    /// A program whose operations on pairs are operations on their halves; how wide its outputs are
    /// together, `kept` says.
    pub(crate) fn expanded(&self, program: &Program, kept: u32) -> Program {
        let mut expansion = Expansion {
            doubled: self,
            new: Program::over(program.operations.clone()),
            joined: HashMap::new(),
        };
        let mut images = Vec::new();
        for node in program.nodes() {
            let image = expansion.image(node, program, &images);
            images.push(image);
        }
        let mut outputs = Vec::new();
        let mut at = 0;
        for &output in &program.outputs {
            let width = program.width(output);
            match expansion.joined.get(&images[output]) {
                Some(&(low, high)) if at + width <= kept => outputs.extend([low, high]),
                _ => outputs.push(images[output]),
            }
            at += width;
        }
        expansion.new.outputs = outputs;
        expansion.new
    }
}

impl Search<'_> {
    /// The program of some values with its operations on pairs as those on their halves, whose results
    /// have so many bits together, and what it costs.
    pub(crate) fn expanded(&self, values: &[Value], kept: u32) -> (Program, Estimate) {
        let mut found = self.graph.clone();
        found.outputs = values.to_vec();
        let apart = self.candidates.doubled.expanded(&found, kept);
        let cost = self.estimator.window(&apart, &apart.outputs);
        (apart.extract(&apart.outputs), cost)
    }
}

/// A program that is being expanded.
struct Expansion<'a> {
    doubled: &'a Doubled,
    new: Program,
    /// The halves of pairs that were joined.
    joined: HashMap<Value, (Value, Value)>,
}

impl Expansion<'_> {
    fn image(&mut self, node: &Node, program: &Program, images: &[Value]) -> Value {
        match node {
            Node::Input { name, lo, width } if self.doubled.pairs.contains_key(width) => {
                let half = |lo: u32| Node::Input {
                    name: name.clone(),
                    lo,
                    width: width / 2,
                };
                let (low, high) = (half(*lo), half(lo + width / 2));
                let halves = (self.new.add(low), self.new.add(high));
                self.join(halves, *width)
            }
            Node::Cast { value, width } => {
                let value = images[*value];
                match self.joined.get(&value) {
                    Some(&(low, _)) if 2 * *width == self.new.width(value) => low,
                    _ => self.new.add(Node::Cast {
                        value,
                        width: *width,
                    }),
                }
            }
            Node::Apply { operation, args } => {
                let args: Vec<Argument> = args.iter().map(|arg| image(arg, images)).collect();
                self.apply(*operation, &args, program.operation(*operation).width())
            }
            other => self.new.add(other.clone()),
        }
    }

    fn apply(&mut self, operation: usize, args: &[Argument], width: u32) -> Value {
        let Some(&half) = self.doubled.halves.get(&operation) else {
            let taken = |halving: &Halving| halving.high == operation;
            if let [Argument::Value(value)] = args
                && self.doubled.pairs.values().any(taken)
                && let Some(&(_, high)) = self.joined.get(value)
            {
                return high;
            }
            let args = args.to_vec();
            let value = self.new.add(Node::Apply { operation, args });
            self.note_join(operation, value);
            return value;
        };
        let (mut low, mut high) = (Vec::new(), Vec::new());
        for arg in args {
            let halves = match arg {
                Argument::Value(value) if self.new.width(*value) == width => {
                    let (x, y) = self.halves(*value, width);
                    [x, y].map(Argument::Value)
                }
                other => [other.clone(), other.clone()],
            };
            let [x, y] = halves;
            low.push(x);
            high.push(y);
        }
        let halves = [low, high].map(|args| {
            self.new.add(Node::Apply {
                operation: half,
                args,
            })
        });
        self.join((halves[0], halves[1]), width)
    }

    /// Remembers of what a pair is made.
    fn note_join(&mut self, operation: usize, value: Value) {
        let joins = self.doubled.pairs.values().find(|h| h.join == operation);
        if let Some(halving) = joins
            && let Node::Apply { args, .. } = self.new.node(value)
            && let [Argument::Value(first), Argument::Value(second)] = args[..]
        {
            let [low, high] = as_operands(halving.low, [first, second]);
            self.joined.insert(value, (low, high));
        }
    }

    fn join(&mut self, (low, high): (Value, Value), width: u32) -> Value {
        let halving = &self.doubled.pairs[&width];
        let args = as_operands(halving.low, [low, high]);
        let value = self.new.add(Node::Apply {
            operation: halving.join,
            args: args.map(Argument::Value).to_vec(),
        });
        self.joined.insert(value, (low, high));
        value
    }

    /// The two registers of a pair.
    fn halves(&mut self, value: Value, width: u32) -> (Value, Value) {
        if let Some(&halves) = self.joined.get(&value) {
            return halves;
        }
        if let Node::Constant(bits) = self.new.node(value).clone() {
            let half = |at: u32| Node::Constant(bits.extract(at, width / 2));
            return (self.new.add(half(0)), self.new.add(half(width / 2)));
        }
        let low = self.new.add(Node::Cast {
            value,
            width: width / 2,
        });
        let high = self.new.add(Node::Apply {
            operation: self.doubled.pairs[&width].high,
            args: vec![Argument::Value(value)],
        });
        (low, high)
    }
}

fn image(argument: &Argument, images: &[Value]) -> Argument {
    match argument {
        Argument::Value(value) => Argument::Value(images[*value]),
        other => other.clone(),
    }
}
