//! Programs whose operations on pairs of registers are instructions.
//!
//! In: a program of the search with operations on pairs ([`super::doubled`]) and on lanes in their order
//! ([`super::orders`]). Out: the same as instructions on registers ([`Doubled::expanded`]). A pair is two
//! registers in whichever orders its lanes were computed or asked for; they are moved from one into
//! another where somebody needs them in it.

use super::Search;
use super::doubled::{Doubled, Half};
use super::orders::{Given, Order, Ordered, Source, dealt};
use crate::cost::Cost;
use crate::estimate::Estimate;
use crate::pairs::as_operands;
use autoir::program::{Argument, Node, Program, Value};
use semantics::bits::Bits;
use semantics::term::Term;
use std::collections::{BTreeMap, BTreeSet, HashMap};

impl Doubled {
    /// A program whose operations on pairs are operations on registers; how wide its outputs are
    /// together, `kept` says. Of orders that cost the same the plain one is taken, or another.
    fn expanded(&self, program: &Program, outputs: &[Value], kept: u32, plain: bool) -> Program {
        let mut expansion = Expansion {
            doubled: self,
            new: Program::over(program.operations.clone()),
            pairs: Vec::new(),
            of: HashMap::new(),
            plain,
        };
        let mut images = Images::new();
        for value in program.needed(outputs) {
            let image = expansion.image(program.node(value), program, &images);
            images.insert(value, image);
        }
        let mut registers = Vec::new();
        let mut at = 0;
        for &output in outputs {
            let (image, width) = (images[&output], program.width(output));
            match image {
                Image::Pair(pair) if at + width <= kept => {
                    registers.extend(expansion.registers(pair, Order::Plain));
                }
                _ => registers.push(expansion.whole(image)),
            }
            at += width;
        }
        expansion.new.outputs = registers;
        expansion.new
    }
}

impl Search<'_> {
    /// The program of some values with its operations on pairs as those on registers, whose results
    /// have so many bits together, and what it costs.
    pub(crate) fn expanded(&self, values: &[Value], kept: u32) -> (Program, Estimate) {
        let (apart, cost) = self.in_registers(values, kept);
        (apart.extract(&apart.outputs), cost)
    }

    /// All of it as instructions on registers, by the order of pairs that costs less.
    fn in_registers(&self, values: &[Value], kept: u32) -> (Program, Estimate) {
        let doubled = &self.candidates.doubled;
        let expanded = |plain: bool| {
            let apart = doubled.expanded(&self.graph, values, kept, plain);
            let cost = self.estimator.window(&apart, &apart.outputs);
            (apart, cost)
        };
        let (first, second) = (expanded(true), expanded(false));
        match second.1 < first.1 {
            true => second,
            false => first,
        }
    }

    /// What a window costs that these values hold, once operations on pairs are such on registers.
    pub fn estimate(&self, values: &[Value]) -> Estimate {
        let doubled = &self.candidates.doubled;
        let apart = |value: &Value| match self.graph.node(*value) {
            Node::Apply { operation, .. } => doubled.changes(*operation),
            _ => false,
        };
        if doubled.pairs.is_empty() || !self.graph.needed(values).iter().any(apart) {
            return self.estimator.window(&self.graph, values);
        }
        let kept = values.iter().map(|value| self.graph.width(*value)).sum();
        self.in_registers(values, kept).1
    }
}

/// What the values of the program are in the new one.
type Images = BTreeMap<Value, Image>;

/// What a value of the program is in the new one.
#[derive(Clone, Copy)]
enum Image {
    One(Value),
    /// A pair, by its number.
    Pair(usize),
}

/// A pair of registers.
struct Pair {
    width: u32,
    constant: Option<Bits>,
    /// It as one value, by the order in which lanes lie in it.
    whole: BTreeMap<Order, Value>,
    /// The registers, the lower one first, by the same.
    registers: BTreeMap<Order, [Value; 2]>,
}

/// A program that is being expanded.
struct Expansion<'a> {
    doubled: &'a Doubled,
    new: Program,
    pairs: Vec<Pair>,
    /// Pairs by their values as a whole.
    of: HashMap<Value, usize>,
    plain: bool,
}

impl<'a> Expansion<'a> {
    fn image(&mut self, node: &Node, program: &Program, images: &Images) -> Image {
        let is_pair = |width: &u32| self.doubled.pairs.contains_key(width);
        match node {
            Node::Input { name, lo, width } if is_pair(width) => {
                let half = |lo: u32| Node::Input {
                    name: name.clone(),
                    lo,
                    width: width / 2,
                };
                let halves = [half(*lo), half(lo + width / 2)].map(|half| self.new.add(half));
                self.pair(*width, Order::Plain, halves)
            }
            Node::Constant(bits) if is_pair(&bits.width()) => {
                let pair = self.new_pair(bits.width());
                self.pairs[pair].constant = Some(bits.clone());
                Image::Pair(pair)
            }
            Node::Cast { value, width } => match images[value] {
                Image::Pair(pair) if 2 * *width == self.pairs[pair].width => {
                    Image::One(self.registers(pair, Order::Plain)[0])
                }
                image => {
                    let (value, width) = (self.whole(image), *width);
                    let value = self.new.add(Node::Cast { value, width });
                    self.seen(value)
                }
            },
            Node::Apply { operation, args } => self.apply(*operation, args, program, images),
            other => {
                let value = self.new.add(other.clone());
                self.seen(value)
            }
        }
    }

    fn apply(
        &mut self,
        operation: usize,
        args: &[Argument],
        program: &Program,
        images: &Images,
    ) -> Image {
        let doubled = self.doubled;
        let given = |k: usize| match &args[k] {
            Argument::Value(value) => Some(images[value]),
            _ => None,
        };
        if let Some(&half) = doubled.halves.get(&operation) {
            let width = program.operation(operation).width();
            let args: Vec<Operand> = (args.iter().enumerate())
                .map(|(k, arg)| {
                    given(k).map_or_else(|| Operand::Other(arg.clone()), Operand::Image)
                })
                .collect();
            return self.both_halves(half, &args, width);
        }
        if let Some(ordered) = self.cheapest_alike(operation, &given) {
            return self.in_order(ordered, args, &given);
        }
        if let Some(&lane) = doubled.any_order.get(&operation) {
            return self.on_whole(operation, lane, args, &given);
        }
        let mut halvings = doubled.pairs.iter();
        let taken = halvings.find(|(_, h)| h.high == operation || h.join == operation);
        match (taken, args.len()) {
            (Some((_, h)), 1) if h.high == operation => {
                if let Some(Image::Pair(pair)) = given(0) {
                    return Image::One(self.registers(pair, Order::Plain)[1]);
                }
            }
            (Some((&width, h)), 2) if h.join == operation => {
                if let (Some(x), Some(y)) = (given(0), given(1)) {
                    let [low, high] = as_operands(h.low, [x, y]).map(|image| self.whole(image));
                    return self.pair(width, Order::Plain, [low, high]);
                }
            }
            _ => {}
        }
        let args = args.iter().enumerate().map(|(k, arg)| match given(k) {
            Some(image) => Argument::Value(self.whole(image)),
            None => arg.clone(),
        });
        let args = args.collect();
        let value = self.new.add(Node::Apply { operation, args });
        self.seen(value)
    }

    /// How an operation on lanes in their order is computed for the least, as its operands lie.
    fn cheapest_alike(
        &self,
        operation: usize,
        given: &impl Fn(usize) -> Option<Image>,
    ) -> Option<&'a Ordered> {
        let doubled = self.doubled;
        let own = [operation];
        let alike = doubled
            .alike
            .get(&operation)
            .map_or(&own[..], Vec::as_slice);
        let all = alike.iter().filter_map(|k| doubled.ordered.get(k));
        all.min_by_key(|ordered| {
            let moved = ordered.operands.iter().map(|source| match *source {
                Source::Pair(k, order) | Source::Half(k, order, false) => match given(k) {
                    Some(Image::Pair(pair)) => self.cost_of_order(pair, order),
                    _ => 0,
                },
                _ => 0,
            });
            ordered.cost + moved.sum::<Cost>()
        })
    }

    /// What it costs to move the lanes of a pair into an order.
    fn cost_of_order(&self, pair: usize, order: Order) -> Cost {
        let held = &self.pairs[pair];
        let there = held.constant.is_some()
            || held.registers.contains_key(&order)
            || held.whole.contains_key(&order);
        let turned = self.doubled.pairs[&held.width].turned.values();
        let cost = turned.map(|turned| turned.cost).max().unwrap_or(0);
        if there { 0 } else { cost }
    }

    /// An operation on lanes in their order, as its instruction.
    fn in_order(
        &mut self,
        ordered: &Ordered,
        args: &[Argument],
        given: &impl Fn(usize) -> Option<Image>,
    ) -> Image {
        let mut own = Vec::new();
        for source in &ordered.operands {
            own.push(match *source {
                Source::Same(k) => match given(k) {
                    Some(image) => Argument::Value(self.whole(image)),
                    None => args[k].clone(),
                },
                Source::Pair(k, order) => {
                    let pair = as_pair(given(k));
                    Argument::Value(self.joined(pair, order))
                }
                Source::Half(k, order, upper) => {
                    let halves = self.registers(as_pair(given(k)), order);
                    Argument::Value(halves[usize::from(upper)])
                }
                Source::Both(low, high) => {
                    let halves = [low, high]
                        .map(given)
                        .map(|image| image.expect("a register"));
                    let [low, high] = halves.map(|image| self.whole(image));
                    let width = 2 * self.new.width(low);
                    Argument::Value(self.join([low, high], width))
                }
            });
        }
        let operation = ordered.of;
        let value = self.new.add(Node::Apply {
            operation,
            args: own,
        });
        match ordered.given {
            Given::Register => self.seen(value),
            Given::Pair(order) => {
                let pair = self.new_pair(self.new.width(value));
                self.pairs[pair].whole.insert(order, value);
                Image::Pair(pair)
            }
            Given::Low => Image::One(self.taken_apart(value)[0]),
            Given::High => Image::One(self.taken_apart(value)[1]),
        }
    }

    /// An operation on whole pairs, in the order in which most of them lie.
    fn on_whole(
        &mut self,
        operation: usize,
        lane: u32,
        args: &[Argument],
        given: &impl Fn(usize) -> Option<Image>,
    ) -> Image {
        let held = |k: usize| match given(k) {
            Some(Image::Pair(pair)) => Some(pair),
            _ => None,
        };
        let pairs: Vec<usize> = (0..args.len()).filter_map(held).collect();
        let order = self.common_order(Some(lane), &pairs);
        let own = args.iter().enumerate().map(|(k, arg)| match held(k) {
            Some(pair) => Argument::Value(self.joined(pair, order)),
            None => arg.clone(),
        });
        let args = own.collect();
        let value = self.new.add(Node::Apply { operation, args });
        let pair = self.new_pair(self.new.width(value));
        self.pairs[pair].whole.insert(order, value);
        Image::Pair(pair)
    }

    /// An operation on both halves of pairs, in the order in which most of them lie.
    fn both_halves(&mut self, half: Half, args: &[Operand], width: u32) -> Image {
        let pairs: Vec<usize> = (args.iter())
            .filter_map(|arg| match arg {
                Operand::Image(Image::Pair(pair)) => Some(*pair),
                _ => None,
            })
            .collect();
        let order = self.common_order(half.lane, &pairs);
        let both = [0, 1].map(|k| {
            let own = args.iter().map(|arg| match arg {
                Operand::Other(arg) => arg.clone(),
                Operand::Image(image) => match *image {
                    Image::Pair(pair) => Argument::Value(self.registers(pair, order)[k]),
                    Image::One(value) => Argument::Value(value),
                },
            });
            let args = own.collect();
            self.new.add(Node::Apply {
                operation: half.of,
                args,
            })
        });
        let image = self.pair(width, order, both);
        // What is the same in all lanes is so in any order.
        if pairs.is_empty()
            && let Image::Pair(pair) = image
        {
            let orders = self.doubled.pairs[&width].turned.keys();
            let alike = orders.map(|order| (*order, both));
            self.pairs[pair].registers.extend(alike);
        }
        image
    }

    /// The order in which the fewest of these pairs would have to be moved.
    fn common_order(&self, lane: Option<u32>, pairs: &[usize]) -> Order {
        let keeps = |order: &Order| lane.is_none_or(|lane| order.keeps(lane));
        let known: BTreeSet<Order> = (pairs.iter())
            .flat_map(|pair| {
                let pair = &self.pairs[*pair];
                pair.registers.keys().chain(pair.whole.keys()).copied()
            })
            .chain([Order::Plain])
            .filter(keeps)
            .collect();
        let moved = |order: &Order| {
            let free = |pair: &&usize| {
                let pair = &self.pairs[**pair];
                pair.constant.is_some()
                    || pair.registers.contains_key(order)
                    || pair.whole.contains_key(order)
            };
            let last = (*order == Order::Plain) != self.plain;
            (pairs.len() - pairs.iter().filter(free).count(), last)
        };
        known.into_iter().min_by_key(moved).unwrap_or(Order::Plain)
    }

    fn new_pair(&mut self, width: u32) -> usize {
        self.pairs.push(Pair {
            width,
            constant: None,
            whole: BTreeMap::new(),
            registers: BTreeMap::new(),
        });
        self.pairs.len() - 1
    }

    fn pair(&mut self, width: u32, order: Order, registers: [Value; 2]) -> Image {
        let pair = self.new_pair(width);
        self.pairs[pair].registers.insert(order, registers);
        Image::Pair(pair)
    }

    /// A value of the new program, which may be a pair as a whole.
    fn seen(&mut self, value: Value) -> Image {
        let width = self.new.width(value);
        if !self.doubled.pairs.contains_key(&width) {
            return Image::One(value);
        }
        if let Some(&known) = self.of.get(&value) {
            return Image::Pair(known);
        }
        let pair = self.new_pair(width);
        self.pairs[pair].whole.insert(Order::Plain, value);
        self.of.insert(value, pair);
        Image::Pair(pair)
    }

    /// A value as one of the new program.
    fn whole(&mut self, image: Image) -> Value {
        match image {
            Image::One(value) => value,
            Image::Pair(pair) => self.joined(pair, Order::Plain),
        }
    }

    /// A pair as one value whose lanes lie in an order.
    fn joined(&mut self, pair: usize, order: Order) -> Value {
        if let Some(&whole) = self.pairs[pair].whole.get(&order) {
            return whole;
        }
        let width = self.pairs[pair].width;
        let constant = self.pairs[pair].constant.clone();
        let whole = match constant.filter(|_| order == Order::Plain) {
            Some(bits) => self.new.add(Node::Constant(bits)),
            None => {
                let registers = self.registers(pair, order);
                self.join(registers, width)
            }
        };
        self.pairs[pair].whole.insert(order, whole);
        whole
    }

    fn join(&mut self, registers: [Value; 2], width: u32) -> Value {
        // The two registers of a pair are that pair.
        if let [Node::Cast { value, .. }, Node::Apply { operation, args }] =
            registers.map(|value| self.new.node(value).clone())
            && operation == self.doubled.pairs[&width].high
            && args == [Argument::Value(value)]
        {
            return value;
        }
        let halving = &self.doubled.pairs[&width];
        let args = as_operands(halving.low, registers);
        self.new.add(Node::Apply {
            operation: halving.join,
            args: args.map(Argument::Value).to_vec(),
        })
    }

    /// The two registers of a pair that is one value.
    fn taken_apart(&mut self, value: Value) -> [Value; 2] {
        let width = self.new.width(value);
        let low = Node::Cast {
            value,
            width: width / 2,
        };
        let high = Node::Apply {
            operation: self.doubled.pairs[&width].high,
            args: vec![Argument::Value(value)],
        };
        [low, high].map(|node| self.new.add(node))
    }

    /// The registers of a pair in an order, moved into it where they lie in others.
    fn registers(&mut self, pair: usize, order: Order) -> [Value; 2] {
        if let Some(&known) = self.pairs[pair].registers.get(&order) {
            return known;
        }
        let width = self.pairs[pair].width;
        let found = if let Some(bits) = self.pairs[pair].constant.clone() {
            let both = dealt(Term::bits(bits), order, width / 2);
            both.map(|half| {
                let bits = half.as_bits().expect("parts of a constant are constants");
                self.new.add(Node::Constant(bits.clone()))
            })
        } else if let Some(&whole) = self.pairs[pair].whole.get(&order) {
            self.taken_apart(whole)
        } else if order != Order::Plain {
            let plain = self.registers(pair, Order::Plain);
            let into = self.doubled.pairs[&width].turned[&order].into;
            self.moved(into, plain)
        } else {
            let held = &self.pairs[pair];
            let known = held.registers.keys().chain(held.whole.keys()).next();
            let other = *known.expect("a pair lies in some order");
            let registers = self.registers(pair, other);
            let from = self.doubled.pairs[&width].turned[&other].from;
            self.moved(from, registers)
        };
        self.pairs[pair].registers.insert(order, found);
        found
    }

    fn moved(&mut self, (operation, low): (usize, usize), registers: [Value; 2]) -> [Value; 2] {
        let args = as_operands(low, registers).map(Argument::Value).to_vec();
        let value = self.new.add(Node::Apply { operation, args });
        self.taken_apart(value)
    }
}

/// The pair that an operand is: its width says that it is one.
fn as_pair(image: Option<Image>) -> usize {
    match image {
        Some(Image::Pair(pair)) => pair,
        _ => unreachable!("what is as wide as a pair is a pair"),
    }
}

/// An argument of an operation on pairs.
enum Operand {
    Image(Image),
    Other(Argument),
}
