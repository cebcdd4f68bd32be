//! Superwords: isomorphic operations on parts of registers that lie side by side in memory, done at once in a
//! wider register (Larsen and Amarasinghe, 2000).
//!
//! In: registers that were found. Out: others that hold the same for less, where what is computed in narrow
//! elements and then read in parts, to be extended say, fills a wider register: each register of a window is
//! searched for by itself, so that nobody before has seen what two of them compute alike.
//!
//! It proposes; what is chosen is claimed and proved like all else.

use super::Search;
use crate::cost::Cost;
use crate::goal::Goal;
use autoir::program::{Argument, Node, Value};
use semantics::bits::Bits;
use semantics::build as b;
use semantics::instruction::Role;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The most nodes that one register is computed of, as a tree.
const NODES: usize = 64;
/// Goals that may be spent on taking one part out of a register, and matches on all, whatever the search before
/// has left.
const GOALS: usize = 40;
const MATCHES: usize = 20_000;

/// A node of how a value is computed, as a tree written from its root on.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Shape {
    Operation(usize),
    Immediate(Bits),
    Input(String),
    /// The bits that are read of a constant.
    Constant(Bits),
    /// Another value, the same for all.
    Value(Value),
}

/// A value that is read in its lowest bits, so many, by what does not treat its lanes alike.
struct Part {
    value: Value,
    bits: u32,
    shape: Vec<Shape>,
    /// Where it reads inputs from, in order of the tree.
    reads: Vec<u32>,
}

/// Values whose lowest bits lie side by side in one register.
struct Superword {
    parts: Vec<Value>,
    /// Of each.
    bits: u32,
    width: u32,
}

impl Search<'_> {
    /// Registers that hold the same for less, where what they compute alike is computed at once.
    pub(super) fn in_superwords(&mut self, goal: &Goal, found: Vec<Value>) -> Vec<Value> {
        let words = self.superwords(&found);
        if words.is_empty() {
            return found;
        }
        let (bound, limits) = (self.bound, self.limits);
        self.bound = Cost::MAX;
        self.limits.matches = self.report.matches + MATCHES;
        let other = self.unspent(|search| search.by_superwords(&words, &found));
        (self.bound, self.limits) = (bound, limits);
        if let Some(other) = &other {
            let cost = self.estimate(other).cost;
            self.tried("what registers compute alike, at once", Some(cost));
        }
        let known = Some(found.clone());
        self.cheaper_registers(goal, known, other).unwrap_or(found)
    }

    /// A register seen through casts, and how many of its lowest bits are seen.
    fn uncast(&self, value: Value) -> (Value, u32) {
        let (mut value, mut bits) = (value, self.graph.width(value));
        while let Node::Cast { value: seen, .. } = *self.graph.node(value) {
            (value, bits) = (seen, bits.min(self.graph.width(seen)));
        }
        (value, bits)
    }

    /// The lanes that an operation on registers of one width treats alike and apart, as wide as all that it reads
    /// and gives.
    fn lanes_of(&self, operation: usize) -> Option<u32> {
        let c = &self.candidates.list[operation];
        let mut formals = c.instance.formals.iter();
        let alike = formals.all(|f| f.role != Role::Register || f.width == c.width);
        let held = alike && self.candidates.widths.is_vector(c.width);
        let mut widths = [8, 16, 32, 64].into_iter();
        widths.find(|width| held && c.is_by_lanes_of(*width))
    }

    /// The operation that does the same to each lane of a wider register.
    fn at_width(&self, operation: usize, width: u32) -> Option<usize> {
        let (c, lane) = (&self.candidates.list[operation], self.lanes_of(operation)?);
        let own = c.packed_lane(lane)?;
        let same = |&other: &usize| {
            let o = &self.candidates.list[other];
            let mut formals = c.instance.formals.iter().zip(&o.instance.formals);
            c.form == o.form
                && c.instance.formals.len() == o.instance.formals.len()
                && formals.all(|(f, g)| f.role == g.role && f.name == g.name)
                && self.lanes_of(other) == Some(lane)
                && o.packed_lane(lane).is_some_and(|other| {
                    other.term == own.term
                        && other.inputs == own.inputs
                        && other.immediates == own.immediates
                })
        };
        let all = self.candidates.by_width(width).iter().copied();
        let cost = |other: &usize| self.candidates.list[*other].cost;
        all.filter(same).min_by_key(cost)
    }

    /// What fills wider registers, of all that some registers rest on.
    fn superwords(&self, roots: &[Value]) -> Vec<Superword> {
        let mut alike: BTreeMap<(u32, Vec<Shape>), Vec<Part>> = BTreeMap::new();
        for (value, bits) in self.parts_read(roots) {
            let mut part = Part {
                value,
                bits,
                shape: Vec::new(),
                reads: Vec::new(),
            };
            if self.describe(value, &mut part).is_some() && !part.reads.is_empty() {
                let key = (bits, part.shape.clone());
                alike.entry(key).or_default().push(part);
            }
        }
        let mut words = Vec::new();
        for (_, mut parts) in alike {
            parts.sort_by(|x, y| x.reads.cmp(&y.reads));
            self.side_by_side(&parts, &mut words);
        }
        words
    }

    /// Computed values of which others than operations lane by lane on such registers read the lowest bits, with
    /// how many these are.
    fn parts_read(&self, roots: &[Value]) -> BTreeMap<Value, u32> {
        let mut read: BTreeMap<Value, u32> = BTreeMap::new();
        let mut note = |(value, bits): (Value, u32)| {
            let most = read.entry(value).or_default();
            *most = bits.max(*most);
        };
        for &root in roots {
            note(self.uncast(root));
        }
        for user in self.graph.needed(roots) {
            for value in self.read_otherwise(user) {
                note(value);
            }
        }
        let computed = |value: &Value| match self.graph.node(*value) {
            Node::Apply { operation, .. } => self.lanes_of(*operation).is_some(),
            _ => false,
        };
        read.retain(|value, _| computed(value));
        read
    }

    /// What a node reads that is not one of the registers that it treats lane by lane.
    fn read_otherwise(&self, user: Value) -> Vec<(Value, u32)> {
        let Node::Apply { operation, args } = self.graph.node(user) else {
            return Vec::new();
        };
        let lanes = self.lanes_of(*operation).map(|_| self.graph.width(user));
        let mut read = Vec::new();
        for (formal, argument) in args.iter().enumerate() {
            if let Argument::Value(value) = argument {
                let (value, bits) = self.uncast(*value);
                if lanes != Some(self.graph.width(value)) {
                    let most = self.candidates.bits_read(*operation, formal);
                    read.push((value, bits.min(most)));
                }
            }
        }
        read
    }

    /// How the lowest bits of a value are computed; none where that is long, or reads no whole lanes.
    fn describe(&self, value: Value, part: &mut Part) -> Option<()> {
        if part.shape.len() >= NODES {
            return None;
        }
        let (value, seen) = self.uncast(value);
        match self.graph.node(value) {
            Node::Input { name, lo, .. } if seen >= part.bits => {
                part.shape.push(Shape::Input(name.clone()));
                part.reads.push(*lo);
            }
            Node::Constant(bits) if seen >= part.bits => {
                let read = bits.extract(0, part.bits);
                part.shape.push(Shape::Constant(read));
            }
            Node::Apply { operation, args } => match self.lanes_of(*operation) {
                Some(lane) if part.bits.is_multiple_of(lane) && seen >= part.bits => {
                    part.shape.push(Shape::Operation(*operation));
                    for argument in args {
                        match argument {
                            Argument::Value(value) => self.describe(*value, part)?,
                            Argument::Immediate(bits) => {
                                part.shape.push(Shape::Immediate(bits.clone()));
                            }
                            Argument::Address(..) => return None,
                        }
                    }
                }
                _ => match self.brought(value, part.bits) {
                    Some((name, lo)) => {
                        part.shape.push(Shape::Input(name.to_owned()));
                        part.reads.push(lo);
                    }
                    None => part.shape.push(Shape::Value(value)),
                },
            },
            _ => return None,
        }
        Some(())
    }

    /// The bits of an input that movements bring to the lowest bits of a value.
    fn brought(&self, value: Value, bits: u32) -> Option<(&'static str, u32)> {
        let claims = self.claims.get(&value).into_iter().flatten();
        let low = |goal: &Goal| {
            let each = (bits / goal.element) as usize;
            let whole = bits.is_multiple_of(goal.element) && each <= goal.elements.len();
            let part = whole.then(|| goal.part(0, each))?;
            let live = part.elements.iter().all(Option::is_some);
            part.input_part().filter(|_| live)
        };
        claims.filter_map(low).next()
    }

    /// Groups of parts of one shape, in order of where they read, that fill registers.
    fn side_by_side(&self, parts: &[Part], words: &mut Vec<Superword>) {
        let mut rest = parts;
        while let [first, ..] = rest {
            let follows = |pair: &&[Part]| {
                let mut both = pair[0].reads.iter().zip(&pair[1].reads);
                both.all(|(x, y)| x + first.bits == *y)
            };
            let run = 1 + rest.windows(2).take_while(follows).count();
            let fills = |width: &u32| {
                let count = (width / first.bits) as usize;
                count > 1 && count <= run && width.is_multiple_of(first.bits)
            };
            let has_all = |width: &u32| {
                first.shape.iter().all(|shape| match shape {
                    Shape::Operation(operation) => self.at_width(*operation, *width).is_some(),
                    _ => true,
                })
            };
            let widths = self.candidates.widths.vectors();
            let fitting = widths.filter(|width| fills(width) && has_all(width));
            let width = fitting.max().unwrap_or(first.bits);
            let (taken, further) = rest.split_at((width / first.bits) as usize);
            rest = further;
            if taken.len() > 1 {
                words.push(Superword {
                    parts: taken.iter().map(|part| part.value).collect(),
                    bits: first.bits,
                    width,
                });
            }
        }
    }

    /// The same registers with these superwords in them.
    fn by_superwords(&mut self, words: &[Superword], roots: &[Value]) -> Option<Vec<Value>> {
        let mut parts: HashMap<Value, Value> = HashMap::new();
        for word in words {
            let whole = self.wide(word, &word.parts, &mut HashMap::new())?;
            for (at, &part) in word.parts.iter().enumerate() {
                let taken = self.taken_out(whole, word, at, part)?;
                parts.insert(part, taken);
            }
        }
        Some(self.with_parts(&parts, roots))
    }

    /// The register of what these values hold in their lowest bits.
    fn wide(
        &mut self,
        word: &Superword,
        values: &[Value],
        known: &mut HashMap<Vec<Value>, Value>,
    ) -> Option<Value> {
        if let Some(&done) = known.get(values) {
            return Some(done);
        }
        let width = word.width;
        let all: Vec<Value> = values.iter().map(|value| self.uncast(*value).0).collect();
        let one = all.iter().all(|value| *value == all[0]);
        let node = match self.graph.node(all[0]).clone() {
            Node::Input { name, lo, .. } => {
                self.loadable(&name, lo, width)?;
                Node::Input { name, lo, width }
            }
            Node::Constant(bits) => {
                let low = bits.extract(0, word.bits);
                Node::Constant(low.repeated(width / word.bits))
            }
            Node::Apply { operation, .. } if !one && self.lanes_of(operation).is_none() => {
                let (name, lo) = self.brought(all[0], word.bits)?;
                self.loadable(name, lo, width)?;
                let name = name.to_owned();
                Node::Input { name, lo, width }
            }
            Node::Apply { operation, args } if !one => {
                let mut wide = args.clone();
                for (k, argument) in wide.iter_mut().enumerate() {
                    if let Argument::Value(value) = argument {
                        let of = |one: &Value| match self.graph.node(*one) {
                            Node::Apply { args, .. } => match args.get(k) {
                                Some(Argument::Value(value)) => Some(*value),
                                _ => None,
                            },
                            _ => None,
                        };
                        let operands: Vec<Value> = all.iter().map(of).collect::<Option<_>>()?;
                        *value = self.wide(word, &operands, known)?;
                    }
                }
                Node::Apply {
                    operation: self.at_width(operation, width)?,
                    args: wide,
                }
            }
            _ => return self.in_each_part(all[0], word),
        };
        let made = self.graph.add(node);
        self.claim_all(made, &all, word.bits);
        known.insert(values.to_vec(), made);
        Some(made)
    }

    /// A register with the lowest bits of a value in each of its parts.
    fn in_each_part(&mut self, value: Value, word: &Superword) -> Option<Value> {
        if let Node::Apply { operation, .. } = self.graph.node(value)
            && self.graph.width(value) >= word.width
            && self.candidates.repeats_every(*operation, word.bits)
        {
            return Some(self.seen(value, word.width));
        }
        let element = [64, 32, 16, 8]
            .into_iter()
            .find(|e| word.bits.is_multiple_of(*e))?;
        let register = self.named(value);
        let each = word.bits / element;
        let at = |k: u32| Some(b::extract(register, k % each * element, element));
        let goal = Goal {
            element,
            elements: (0..word.width / element).map(at).collect(),
        };
        self.moved(&goal)
    }

    /// Says of a register what others hold in their lowest bits, side by side.
    fn claim_all(&mut self, made: Value, parts: &[Value], bits: u32) {
        let claims = |value: &Value| self.claims.get(value).cloned().unwrap_or_default();
        let of: Vec<Vec<Goal>> = parts.iter().map(claims).collect();
        for first in of.first().into_iter().flatten() {
            let each = (bits / first.element) as usize;
            let low = |claims: &Vec<Goal>| {
                let alike = claims.iter().filter(|goal| goal.element == first.element);
                let low = alike.filter_map(|goal| Some(goal.elements.get(..each)?.to_vec()));
                low.max_by_key(|elements| elements.iter().flatten().count())
            };
            let elements: Option<Vec<_>> = of.iter().map(low).collect();
            if let Some(elements) = elements.filter(|_| bits.is_multiple_of(first.element)) {
                let goal = Goal {
                    element: first.element,
                    elements: elements.concat(),
                };
                self.claim(made, &goal.widened(self.graph.width(made)));
            }
        }
    }

    /// One of the values of a superword, as wide as it was.
    fn taken_out(
        &mut self,
        whole: Value,
        word: &Superword,
        at: usize,
        part: Value,
    ) -> Option<Value> {
        let width = self.graph.width(part);
        if at == 0 {
            return Some(self.seen(whole, width));
        }
        let claims = self.claims.get(&part).into_iter().flatten();
        let elements = claims.map(|goal| goal.element).chain([64, 32, 16, 8]);
        let mut whole_ones = elements.filter(|element| word.bits.is_multiple_of(*element));
        let element = whole_ones.next()?;
        let register = self.named(whole);
        let from = at as u32 * word.bits;
        let one = |k: u32| Some(b::extract(register, from + k * element, element));
        let goal = Goal {
            element,
            elements: (0..word.bits / element).map(one).collect(),
        };
        let taken = self.moved(&goal.widened(width))?;
        self.claim_all(taken, &[part], word.bits);
        Some(taken)
    }

    fn moved(&mut self, goal: &Goal) -> Option<Value> {
        self.limits.goals = self.report.goals + GOALS;
        let found = self.solve(goal, 1);
        found.map(|(value, _)| value)
    }

    /// Registers where parts of superwords are read for the values that they stand for, by what reads no more.
    fn with_parts(&mut self, parts: &HashMap<Value, Value>, roots: &[Value]) -> Vec<Value> {
        let mut new: HashMap<Value, Value> = HashMap::new();
        let needed: BTreeSet<Value> = self.graph.needed(roots);
        for value in needed {
            let node = match self.graph.node(value).clone() {
                Node::Cast { value: seen, width } => {
                    let value = new[&seen];
                    Node::Cast { value, width }
                }
                Node::Apply {
                    operation,
                    mut args,
                } => {
                    let otherwise = self.read_otherwise(value);
                    for argument in &mut args {
                        if let Argument::Value(arg) = argument {
                            let (of, _) = self.uncast(*arg);
                            let outer = otherwise.iter().any(|(read, _)| *read == of);
                            let width = self.graph.width(*arg);
                            *arg = match parts.get(&of).filter(|_| outer) {
                                Some(part) => self.seen(*part, width),
                                None => new[arg],
                            };
                        }
                    }
                    Node::Apply { operation, args }
                }
                node => node,
            };
            let made = self.graph.add(node);
            for goal in self.claims.get(&value).cloned().unwrap_or_default() {
                self.claim(made, &goal);
            }
            new.insert(value, made);
        }
        let root = |root: &Value| match parts.get(&self.uncast(*root).0) {
            Some(part) => *part,
            None => new[root],
        };
        roots.iter().map(root).collect()
    }
}
