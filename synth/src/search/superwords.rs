//! Superwords: isomorphic operations on parts of registers that lie side by side in memory, done at once in a
//! wider register, or in one that was filled in part (Larsen and Amarasinghe, 2000).
//!
//! In: registers that were found. Out: others that hold the same for less, where what is computed in narrow
//! elements and then read in parts, to be extended say, fills a register: each register of a window is
//! searched for by itself, so that nobody before has seen what two of them compute alike.
//!
//! It proposes; what is chosen is claimed and proved like all else.

use super::Search;
use crate::cost::Cost;
use crate::estimate::Estimate;
use crate::goal::Goal;
use crate::lane_function::LaneFunction;
use crate::twins::Twin;
use autoir::program::{Argument, Node, Value};
use semantics::bits::Bits;
use semantics::build as b;
use semantics::instruction::Role;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The most nodes that one register is computed of, as a tree.
const NODES: usize = 64;
/// So often is looked for more in what was found: extensions in steps are.
const ROUNDS: usize = 4;
/// How many operations below an upper half are written as those of lower ones.
const DEPTH: usize = 3;
/// Goals that may be spent on taking one part out of a register, and matches on all, whatever the search before
/// has left.
const GOALS: usize = 40;
const MATCHES: usize = 20_000;
/// What it may cost, in the cheapest operations.
const MOVES: Cost = 8;

/// A node of how a value is computed, as a tree written from its root on.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Shape {
    /// An operation, and how many of its lowest bits are read.
    Operation(usize, u32),
    Immediate(Bits),
    Input(String),
    /// The bits that are read of a constant.
    Constant(Bits),
    /// Another value, the same for all.
    Value(Value),
}

/// A value of which only the lowest bits are read, so many.
struct Part {
    value: Value,
    bits: u32,
    shape: Vec<Shape>,
    /// Where it reads inputs from, and how much, in order of the tree.
    reads: Vec<(u32, u32)>,
}

/// Values whose lowest bits, so many of each, lie side by side in one register.
struct Superword {
    parts: Vec<Value>,
    bits: u32,
}

impl Superword {
    fn width(&self) -> u32 {
        self.bits * self.parts.len() as u32
    }
}

/// What an operation does to each lane of so many bits, all of which it treats alike and apart.
#[derive(Clone, Copy)]
struct Lanes {
    width: u32,
    function: &'static LaneFunction,
}

impl Search<'_> {
    /// Registers that hold the same for less, where what they compute alike is computed at once.
    pub(super) fn in_superwords(&mut self, goal: &Goal, found: Vec<Value>) -> Vec<Value> {
        let mut found = found;
        for _ in 0..ROUNDS {
            let plain = self.of_lower_halves(&found);
            let (bound, limits) = (self.bound, self.limits);
            self.bound = MOVES * self.processor().operation;
            self.limits.matches = self.report.matches + MATCHES;
            let other = self.unspent(|search| search.cheapest_superwords(&plain));
            (self.bound, self.limits) = (bound, limits);
            let Some((estimate, other)) = other else {
                break;
            };
            self.tried("what registers compute alike, at once", Some(estimate.cost));
            let known = found.clone();
            let cheaper = self.cheaper_registers(goal, Some(found), Some(other));
            found = cheaper.unwrap_or_else(|| known.clone());
            if found == known {
                break;
            }
        }
        found
    }

    /// The cheapest registers with superwords of at most one width or another, and what they cost.
    fn cheapest_superwords(&mut self, roots: &[Value]) -> Option<(Estimate, Vec<Value>)> {
        let widths: Vec<u32> = self.candidates.widths.vectors().collect();
        let needed = self.bits_needed(roots);
        let mut best: Option<(Estimate, Vec<Value>)> = None;
        for most in widths {
            let words = self.superwords(&needed, most);
            if !words.iter().any(|word| word.width() == most) {
                continue;
            }
            let Some(values) = self.by_superwords(&words, roots) else {
                continue;
            };
            let estimate = self.estimate(&values);
            if best.as_ref().is_none_or(|(least, _)| estimate < *least) {
                best = Some((estimate, values));
            }
        }
        best
    }

    /// A register seen through casts, and how many of its lowest bits are seen.
    pub(super) fn uncast(&self, value: Value) -> (Value, u32) {
        let (mut value, mut bits) = (value, self.graph.width(value));
        while let Node::Cast { value: seen, .. } = *self.graph.node(value) {
            (value, bits) = (seen, bits.min(self.graph.width(seen)));
        }
        (value, bits)
    }

    /// What an operation does to the lanes that fill its result, where each register that it reads has those.
    fn lanes_of(&self, operation: usize) -> Option<Lanes> {
        let c = &self.candidates.list[operation];
        if !self.candidates.widths.is_vector(c.width) {
            return None;
        }
        [8, 16, 32, 64].into_iter().find_map(|width| {
            let function = c.packed_lane(width)?;
            let mut formals = c.instance.formals.iter();
            let reads = |name: &str| {
                let of = |(input, stride): &(String, u32)| (input == name).then_some(*stride);
                function.inputs.iter().find_map(of)
            };
            let held = formals.all(|f| {
                f.role != Role::Register
                    || reads(&f.name).is_some_and(|stride| {
                        stride.is_multiple_of(8) && stride * function.lanes <= f.width
                    })
            });
            let fills = function.lanes * width == c.width;
            (held && fills).then_some(Lanes { width, function })
        })
    }

    /// How many bits lanes of an operand take that give so many of a result.
    fn bits_of(&self, operation: usize, lanes: Lanes, operand: usize, bits: u32) -> Option<u32> {
        let formals = &self.candidates.list[operation].instance.formals;
        let name = &formals.get(operand)?.name;
        let (_, stride) = lanes.function.inputs.iter().find(|(n, _)| n == name)?;
        Some(bits / lanes.width * stride)
    }

    /// The cheapest operation that does the same to each lane of a register at least so wide.
    fn at_width(&self, operation: usize, width: u32) -> Option<usize> {
        let c = &self.candidates.list[operation];
        if c.width == width {
            return Some(operation);
        }
        let own = self.lanes_of(operation)?;
        // The same operation at other numbers.
        let same = |&other: &usize| {
            let o = &self.candidates.list[other];
            let mut formals = c.instance.formals.iter().zip(&o.instance.formals);
            o.instance.operation == c.instance.operation
                && c.form == o.form
                && c.instance.formals.len() == o.instance.formals.len()
                && formals.all(|(f, g)| f.role == g.role && f.name == g.name)
                && self.lanes_of(other).is_some_and(|lanes| {
                    let (f, g) = (own.function, lanes.function);
                    lanes.width == own.width
                        && f.term == g.term
                        && f.inputs == g.inputs
                        && f.immediates == g.immediates
                })
        };
        let cost = |other: &usize| self.candidates.list[*other].cost;
        let mut widths = self.candidates.widths.vectors().filter(|w| *w >= width);
        widths.find_map(|width| {
            let all = self.candidates.by_width(width).iter().copied();
            all.filter(same).min_by_key(cost)
        })
    }

    /// How many of the lowest bits are read of all that some registers rest on, casts seen through.
    fn bits_needed(&self, roots: &[Value]) -> BTreeMap<Value, u32> {
        let mut needed: BTreeMap<Value, u32> = BTreeMap::new();
        let note = |needed: &mut BTreeMap<Value, u32>, (value, seen): (Value, u32), bits: u32| {
            let most = needed.entry(value).or_default();
            *most = (*most).max(bits.min(seen));
        };
        for &root in roots {
            note(&mut needed, self.uncast(root), u32::MAX);
        }
        // Users stand behind what they use.
        for &user in self.graph.needed(roots).iter().rev() {
            let (Node::Apply { operation, args }, Some(bits)) =
                (self.graph.node(user), needed.get(&user).copied())
            else {
                continue;
            };
            for (operand, argument) in args.iter().enumerate() {
                if let Argument::Value(value) = argument {
                    let read = self.candidates.bits_read(*operation, operand, bits);
                    note(&mut needed, self.uncast(*value), read);
                }
            }
        }
        needed
    }

    /// What fills registers of at most a width, of values of which so many bits are read: as high up as there is any.
    fn superwords(&self, needed: &BTreeMap<Value, u32>, most: u32) -> Vec<Superword> {
        let widest = self.candidates.widths.widest();
        let partly = |value: &Value| {
            let bits = *needed.get(value)?;
            let Node::Apply { operation, .. } = self.graph.node(*value) else {
                return None;
            };
            let lanes = self.lanes_of(*operation)?;
            (bits < widest && bits.is_multiple_of(lanes.width)).then_some(bits)
        };
        let mut top: BTreeSet<Value> = needed.keys().copied().collect();
        for &user in needed.keys().filter(|value| partly(value).is_some()) {
            let below = self.graph.uses(user).map(|value| self.uncast(value).0);
            below.for_each(|value| {
                top.remove(&value);
            });
        }
        let mut words: Vec<Superword> = Vec::new();
        let mut seen = BTreeSet::new();
        while !top.is_empty() {
            let parts = top.iter().filter_map(|v| Some((*v, partly(v)?)));
            let found = self.filled(parts.collect(), most);
            let taken: BTreeSet<Value> = found.iter().flat_map(|w| w.parts.clone()).collect();
            words.extend(found);
            seen.extend(top.iter().copied());
            let rest = top
                .iter()
                .filter(|v| !taken.contains(v) && partly(v).is_some());
            let below = rest.flat_map(|v| self.graph.uses(*v).map(|value| self.uncast(value).0));
            top = below.filter(|value| !seen.contains(value)).collect();
        }
        words
    }

    /// Groups of these values, of which so many bits are read, that fill registers of at most a width.
    fn filled(&self, values: Vec<(Value, u32)>, most: u32) -> Vec<Superword> {
        let mut alike: BTreeMap<(u32, Vec<Shape>), Vec<Part>> = BTreeMap::new();
        for (value, bits) in values {
            let mut part = Part {
                value,
                bits,
                shape: Vec::new(),
                reads: Vec::new(),
            };
            if self.describe(value, bits, &mut part).is_some() && !part.reads.is_empty() {
                let key = (bits, part.shape.clone());
                alike.entry(key).or_default().push(part);
            }
        }
        let mut words = Vec::new();
        for (_, mut parts) in alike {
            parts.sort_by(|x, y| x.reads.cmp(&y.reads));
            self.side_by_side(&parts, most, &mut words);
        }
        words
    }

    /// How the lowest bits of a value are computed; none where that is long, or reads no whole lanes.
    fn describe(&self, value: Value, bits: u32, part: &mut Part) -> Option<()> {
        if part.shape.len() >= NODES {
            return None;
        }
        let (value, seen) = self.uncast(value);
        if seen < bits || !bits.is_multiple_of(8) {
            return None;
        }
        match self.graph.node(value) {
            Node::Input { name, lo, .. } => {
                part.shape.push(Shape::Input(name.clone()));
                part.reads.push((*lo, bits));
            }
            Node::Constant(whole) => part.shape.push(Shape::Constant(whole.extract(0, bits))),
            Node::Apply { operation, args } => match self.lanes_of(*operation) {
                Some(lanes) if bits.is_multiple_of(lanes.width) => {
                    part.shape.push(Shape::Operation(*operation, bits));
                    for (operand, argument) in args.iter().enumerate() {
                        match argument {
                            Argument::Value(value) => {
                                let below = self.bits_of(*operation, lanes, operand, bits)?;
                                self.describe(*value, below, part)?;
                            }
                            Argument::Immediate(bits) => {
                                part.shape.push(Shape::Immediate(bits.clone()));
                            }
                            Argument::Address(..) => return None,
                        }
                    }
                }
                _ => match self.brought(value, bits) {
                    Some((name, lo)) => {
                        part.shape.push(Shape::Input(name.to_owned()));
                        part.reads.push((lo, bits));
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
    fn side_by_side(&self, parts: &[Part], most: u32, words: &mut Vec<Superword>) {
        let mut rest = parts;
        while let [first, ..] = rest {
            let follows = |pair: &&[Part]| {
                let mut both = pair[0].reads.iter().zip(&pair[1].reads);
                both.all(|((from, bits), (to, _))| from + bits == *to)
            };
            let run = 1 + rest.windows(2).take_while(follows).count();
            let fills = |width: &u32| {
                let count = (width / first.bits) as usize;
                count > 1 && count <= run && *width <= most && width.is_multiple_of(first.bits)
            };
            let has_all = |width: &u32| {
                first.shape.iter().all(|shape| match shape {
                    Shape::Operation(operation, bits) => {
                        let own = width / first.bits * bits;
                        self.at_width(*operation, own).is_some()
                    }
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
                });
            }
        }
    }

    /// The same registers with these superwords in them.
    fn by_superwords(&mut self, words: &[Superword], roots: &[Value]) -> Option<Vec<Value>> {
        let mut parts: HashMap<Value, Value> = HashMap::new();
        for word in words {
            let whole = self.wide(&word.parts, word.bits, &mut HashMap::new())?;
            for (at, &part) in word.parts.iter().enumerate() {
                let taken = self.taken_out(whole, word, at, part)?;
                parts.insert(part, taken);
            }
        }
        Some(self.with_parts(&parts, roots))
    }

    /// The register of what these values hold in their lowest bits, so many of each.
    fn wide(
        &mut self,
        values: &[Value],
        bits: u32,
        known: &mut HashMap<(Vec<Value>, u32), Value>,
    ) -> Option<Value> {
        let key = (values.to_vec(), bits);
        if let Some(&done) = known.get(&key) {
            return Some(done);
        }
        let width = bits * u32::try_from(values.len()).ok()?;
        let all: Vec<Value> = values.iter().map(|value| self.uncast(*value).0).collect();
        let one = all.iter().all(|value| *value == all[0]);
        let node = match self.graph.node(all[0]).clone() {
            Node::Input { name, lo, .. } => {
                self.loadable(&name, lo, width)?;
                Node::Input { name, lo, width }
            }
            Node::Constant(whole) => {
                let low = whole.extract(0, bits);
                Node::Constant(low.repeated(width / bits))
            }
            Node::Apply { .. } if one => return self.in_each_part(all[0], bits, width),
            Node::Apply { operation, args } => match self.lanes_of(operation) {
                Some(lanes) => {
                    let other = self.at_width(operation, width)?;
                    let mut wide = args.clone();
                    for (k, argument) in wide.iter_mut().enumerate() {
                        if let Argument::Value(value) = argument {
                            let below = self.bits_of(operation, lanes, k, bits)?;
                            let operands = self.operands(&all, k)?;
                            let made = self.wide(&operands, below, known)?;
                            let formal = &self.candidates.list[other].instance.formals[k];
                            *value = self.seen(made, formal.width);
                        }
                    }
                    Node::Apply {
                        operation: other,
                        args: wide,
                    }
                }
                None => {
                    let (name, lo) = self.brought(all[0], bits)?;
                    self.loadable(name, lo, width)?;
                    let name = name.to_owned();
                    Node::Input { name, lo, width }
                }
            },
            _ => return None,
        };
        let made = self.graph.add(node);
        self.claim_all(made, &all, bits);
        known.insert(key, made);
        Some(made)
    }

    /// An operand of each of some operations.
    fn operands(&self, all: &[Value], operand: usize) -> Option<Vec<Value>> {
        let of = |one: &Value| match self.graph.node(*one) {
            Node::Apply { args, .. } => match args.get(operand) {
                Some(Argument::Value(value)) => Some(*value),
                _ => None,
            },
            _ => None,
        };
        all.iter().map(of).collect()
    }

    /// A register with the lowest bits of a value in each of its parts.
    fn in_each_part(&mut self, value: Value, bits: u32, width: u32) -> Option<Value> {
        if let Node::Apply { operation, .. } = self.graph.node(value)
            && self.graph.width(value) >= width
            && self.candidates.repeats_every(*operation, bits)
        {
            return Some(self.seen(value, width));
        }
        let element = whole_element(bits)?;
        let register = self.named(value);
        let each = bits / element;
        let at = |k: u32| Some(b::extract(register, k % each * element, element));
        let goal = Goal {
            element,
            elements: (0..width / element).map(at).collect(),
        };
        let padded = self.padded(&goal);
        self.moved(&padded)
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

    /// One of the values of a superword, as wide as it was: taken out of the half of the register that it lies in.
    fn taken_out(
        &mut self,
        whole: Value,
        word: &Superword,
        at: usize,
        part: Value,
    ) -> Option<Value> {
        let claims = self.claims.get(&part).into_iter().flatten();
        let mut elements = claims.map(|goal| goal.element);
        let element = elements.find(|element| word.bits.is_multiple_of(*element));
        let element = element.or_else(|| whole_element(word.bits))?;
        let (mut held, mut at, mut count) = (whole, at, word.parts.len());
        while count > 1 {
            let half = count / 2;
            if at >= half {
                held = self.upper_part(held, (half, count), word.bits, element)?;
                at -= half;
                count -= half;
            } else {
                count = half;
            }
        }
        let taken = self.seen(held, self.graph.width(part));
        self.claim_all(taken, &[part], word.bits);
        Some(taken)
    }

    /// A register with those of so many parts that lie behind the first few of another.
    fn upper_part(
        &mut self,
        of: Value,
        (first, count): (usize, usize),
        bits: u32,
        element: u32,
    ) -> Option<Value> {
        let register = self.named(of);
        let from = first as u32 * bits;
        let all = (count - first) as u32 * bits;
        let one = |k: u32| Some(b::extract(register, from + k * element, element));
        let goal = Goal {
            element,
            elements: (0..all / element).map(one).collect(),
        };
        let goal = self.padded(&goal);
        let taken = self.moved(&goal)?;
        if from == all && 2 * from == self.graph.width(of) {
            self.uppers.insert(taken, of);
        }
        Some(taken)
    }

    fn moved(&mut self, goal: &Goal) -> Option<Value> {
        self.limits.goals = self.report.goals + GOALS;
        self.solve(goal, 1).map(|(value, _)| value)
    }

    /// Registers where parts of superwords are read for the values that they stand for.
    fn with_parts(&mut self, parts: &HashMap<Value, Value>, roots: &[Value]) -> Vec<Value> {
        self.rebuilt(roots, parts, &mut |search, value, args| {
            let Node::Apply { operation, .. } = *search.graph.node(value) else {
                return value;
            };
            // What reads the upper half of a register by itself needs no part of it.
            match search.of_upper_parts(operation, &args) {
                Some(made) => made,
                None => search.applied(operation, args),
            }
        })
    }

    /// An operation on upper halves that were taken out of registers, where another reads these where they are.
    fn of_upper_parts(&mut self, operation: usize, args: &[Argument]) -> Option<Value> {
        let (mut upper, mut wide) = (0u32, args.to_vec());
        for (k, argument) in wide.iter_mut().enumerate() {
            let Argument::Value(value) = argument else {
                continue;
            };
            let formal = self.candidates.list[operation].instance.formals[k].width;
            let Some(&whole) = self.uppers.get(&self.uncast(*value).0) else {
                continue;
            };
            if self.graph.width(whole) == 2 * formal {
                *value = whole;
                upper |= 1u32.checked_shl(u32::try_from(k).ok()?)?;
            }
        }
        let twin = self.candidates.twin(operation, Twin::Reads(upper))?;
        let no_more = self.candidates.cost_of(twin.operation) <= self.candidates.cost_of(operation);
        let node = Node::Apply {
            operation: twin.operation,
            args: wide,
        };
        (upper != 0 && no_more).then(|| self.graph.add(node))
    }

    /// The same registers, with what reads upper halves of inputs written as what reads lower ones.
    fn of_lower_halves(&mut self, roots: &[Value]) -> Vec<Value> {
        self.rebuilt(roots, &HashMap::new(), &mut |search, value, args| {
            let Node::Apply { operation, .. } = *search.graph.node(value) else {
                return value;
            };
            match search.of_lower_half(operation, &args) {
                Some(made) => made,
                None => search.graph.add(Node::Apply { operation, args }),
            }
        })
    }

    fn of_lower_half(&mut self, operation: usize, args: &[Argument]) -> Option<Value> {
        let count = u32::try_from(args.len()).ok().filter(|n| *n < 32)?;
        let all = (1u32 << count) - 1;
        let candidates = self.candidates;
        let formals = &candidates.list[operation].instance.formals;
        let reads_upper = |other: &&usize| {
            let halves = &candidates.list[**other].instance.formals;
            let mut pairs = formals.iter().zip(halves);
            // Most others are told apart without being looked up.
            halves.len() == formals.len()
                && pairs.all(|(whole, half)| whole.width == 2 * half.width)
                && (candidates.twin(**other, Twin::Reads(all)))
                    .is_some_and(|found| found.operation == operation)
        };
        let same_width = candidates.by_width(candidates.list[operation].width);
        let other = *same_width.iter().find(reads_upper)?;
        let lower = args.iter().map(|argument| match argument {
            Argument::Value(value) => {
                let half = self.graph.width(*value) / 2;
                let lower = self.lower_of_upper(*value, DEPTH)?;
                Some(Argument::Value(self.seen(lower, half)))
            }
            _ => None,
        });
        let args = lower.collect::<Option<_>>()?;
        Some(self.graph.add(Node::Apply {
            operation: other,
            args,
        }))
    }

    /// A value whose lower half is the upper half of another, which is an input or computed lane by lane of such.
    fn lower_of_upper(&mut self, value: Value, depth: usize) -> Option<Value> {
        let half = self.graph.width(value) / 2;
        let lower = match self.graph.node(value).clone() {
            Node::Input { name, lo, .. } => Node::Input {
                name,
                lo: lo + half,
                width: half,
            },
            Node::Constant(bits) => Node::Constant(bits.extract(half, half)),
            Node::Apply {
                operation,
                mut args,
            } => {
                let by_lanes = self.candidates.list[operation].is_by_lanes();
                let deeper = depth.checked_sub(1).filter(|_| by_lanes)?;
                for argument in &mut args {
                    if let Argument::Value(value) = argument {
                        let lower = self.lower_of_upper(*value, deeper)?;
                        *value = self.seen(lower, 2 * half);
                    }
                }
                Node::Apply { operation, args }
            }
            _ => return None,
        };
        Some(self.graph.add(lower))
    }

    /// Registers made anew: with other values for some, of which only lowest bits are the same, and of what operations
    /// become on their new operands, which is all the same.
    fn rebuilt(
        &mut self,
        roots: &[Value],
        others: &HashMap<Value, Value>,
        made_of: &mut dyn FnMut(&mut Self, Value, Vec<Argument>) -> Value,
    ) -> Vec<Value> {
        let mut new: HashMap<Value, Value> = HashMap::new();
        for value in self.graph.needed(roots) {
            if let Some(other) = others.get(&value) {
                new.insert(value, *other);
                continue;
            }
            let made = match self.graph.node(value).clone() {
                Node::Cast { value: seen, width } => {
                    let value = new[&seen];
                    self.graph.add(Node::Cast { value, width })
                }
                Node::Apply { mut args, .. } => {
                    for argument in &mut args {
                        if let Argument::Value(value) = argument {
                            *value = new[value];
                        }
                    }
                    made_of(self, value, args)
                }
                _ => value,
            };
            for goal in self.claims.get(&value).cloned().unwrap_or_default() {
                if self.graph.width(made) == self.graph.width(value) {
                    self.claim(made, &goal);
                }
            }
            new.insert(value, made);
        }
        roots.iter().map(|root| new[root]).collect()
    }
}

/// The widest elements that so many bits are whole ones of.
fn whole_element(bits: u32) -> Option<u32> {
    [64, 32, 16, 8]
        .into_iter()
        .find(|element| bits.is_multiple_of(*element))
}
