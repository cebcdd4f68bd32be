//! What the host and the tile units must not see out of order, in a nest.
//!
//! In: nodes with registers and addresses, for given sizes. Out: the nodes before which a
//! fence stands, and with these the proof that nothing is out of order. It is a proof over
//! the structure of loops and the form of addresses: nothing is run, and how often loops go
//! round does not matter. The host runs in order; a tile instruction may retire until as many as
//! the machine can have under way have followed, in any order that true dependences between tiles
//! allow; host and units see each other's stores after a fence only. So there are two questions:
//! [`near`], of instructions that may be under way at once, and [`far`], of the host and a unit
//! with no fence between them.

mod apart;
mod far;
mod near;

use crate::error::MappingError;
use crate::nest::{NestNode, accesses, place, sized};
use crate::webs::Chosen;
use apart::{Distance, Range, ends};
use kernel::index::{Index, Linear, Symbol};
use kernel::tree::{Id, Kernel};
use semantics::machine::Machine;
use std::collections::{BTreeMap, BTreeSet};

/// Where an access begins, in bytes from the beginning of its array.
#[derive(Clone, Debug)]
enum Start {
    /// A sum of loop variables.
    Sum(Linear),
    /// Somewhere from the first to the second.
    Between(i64, i64),
    /// Nobody knows.
    Anywhere,
}

/// Rows of bytes that are touched together.
#[derive(Clone, Debug)]
struct Touch {
    array: Id,
    start: Start,
    /// From one row to the next, and how many rows.
    stride: i64,
    rows: i64,
    /// Bytes of a row.
    bytes: i64,
    writes: bool,
}

/// What a node is.
#[derive(Clone, Debug)]
enum Kind {
    Loop(Symbol, Vec<usize>),
    /// Registers that are read and written, and what is moved.
    Tile(Vec<usize>, Vec<usize>, Option<Touch>),
    Host(Vec<Touch>),
}

/// A node among the others, in the order of the text.
#[derive(Clone, Debug)]
struct Part {
    /// Its number among the nodes of the nest.
    id: usize,
    kind: Kind,
    /// The loops around it, the outermost first.
    around: Vec<usize>,
}

/// A nest as it is looked at.
struct Text {
    parts: Vec<Part>,
    ranges: BTreeMap<Symbol, Range>,
    /// Nodes on the top level.
    top: Vec<usize>,
    in_flight: usize,
    /// By how many bytes two accesses may miss each other and still share a word.
    slack: i64,
}

/// Two parts that may be out of order.
type Clash = (usize, usize);

/// Fences that a nest needs.
///
/// # Errors
/// When the machine has no fence and one is needed.
pub(crate) fn fences(
    (kernel, machine): (&Kernel, &Machine),
    sizes: &BTreeMap<Symbol, i64>,
    (nodes, chosen): (&[NestNode], &Chosen),
    extent: (i64, i64),
    in_flight: usize,
) -> Result<BTreeSet<usize>, MappingError> {
    let mut reader = Reader {
        kernel,
        sizes,
        chosen,
        extent,
        ops: 0,
        text: Text {
            parts: Vec::new(),
            ranges: BTreeMap::new(),
            top: Vec::new(),
            in_flight,
            slack: if machine.aligned { 0 } else { 3 },
        },
    };
    let top = reader.nodes(nodes, &[]);
    let text = Text { top, ..reader.text };
    let mut fences = BTreeSet::new();
    if reader.ops == 0 || machine.coherent {
        return Ok(fences);
    }
    while let Some(clash) = near::clash(&text, &fences).or_else(|| far::clash(&text, &fences)) {
        let at = text.between(clash);
        if machine.fence.is_none() || !fences.insert(text.parts[at].id) {
            let message = "the host and the tile units would see memory or registers out of order";
            let hint = "describe the machine's fence: `memory: {fence: NAME}` in its manifest";
            return Err(MappingError::new(kernel.span, message, hint));
        }
    }
    Ok(fences)
}

struct Reader<'a> {
    kernel: &'a Kernel,
    sizes: &'a BTreeMap<Symbol, i64>,
    chosen: &'a Chosen,
    extent: (i64, i64),
    /// Tile instructions so far.
    ops: usize,
    text: Text,
}

impl Reader<'_> {
    fn nodes(&mut self, nodes: &[NestNode], around: &[usize]) -> Vec<usize> {
        nodes.iter().map(|node| self.node(node, around)).collect()
    }

    fn node(&mut self, node: &NestNode, around: &[usize]) -> usize {
        let at = self.text.parts.len();
        let (id, kind) = match node {
            NestNode::Loop(l) => (l.id, Kind::Loop(l.var, Vec::new())),
            NestNode::Tile(op) => {
                let (mut read, mut written) = (Vec::new(), Vec::new());
                for &(operand, _, r, w) in &op.tiles {
                    let register = self.chosen.registers[&(self.ops, operand)];
                    read.extend(r.then_some(register));
                    written.extend(w.then_some(register));
                }
                self.ops += 1;
                let (bytes, rows) = self.extent;
                let moved = op.moved.as_ref().map(|m| Touch {
                    array: m.array,
                    start: self.start(&m.base),
                    stride: m.stride,
                    rows,
                    bytes,
                    writes: m.stores,
                });
                (op.id, Kind::Tile(read, written, moved))
            }
            NestNode::Scalar(s) => {
                let mut touched = Vec::new();
                let only = std::slice::from_ref(&s.stmt);
                accesses(self.kernel, only, &mut |a, _, writes| {
                    let bytes = i64::from(self.kernel.arrays[a.array].elem.bits() / 8);
                    let at = place(self.kernel, self.sizes, a).times(bytes).simplified();
                    touched.push(Touch {
                        array: a.array,
                        start: self.start(&at),
                        stride: 0,
                        rows: 1,
                        bytes,
                        writes,
                    });
                });
                (s.id, Kind::Host(touched))
            }
        };
        self.text.parts.push(Part {
            id,
            kind,
            around: around.to_vec(),
        });
        if let NestNode::Loop(l) = node {
            let bound = |index: &Index| {
                let index = sized(self.kernel, self.sizes, index);
                ends(&index, &self.text.ranges).unwrap_or((-FAR, FAR))
            };
            let range = Range::new(bound(&l.lo), bound(&l.hi), l.step);
            self.text.ranges.insert(l.var, range);
            let inside: Vec<usize> = around.iter().copied().chain([at]).collect();
            let body = self.nodes(&l.body, &inside);
            self.text.parts[at].kind = Kind::Loop(l.var, body);
        }
        at
    }

    fn start(&self, index: &Index) -> Start {
        let known = |l: &Linear| l.terms.keys().all(|s| self.text.ranges.contains_key(s));
        match index.linear().filter(known) {
            Some(linear) => Start::Sum(linear),
            None => match ends(index, &self.text.ranges) {
                Some((from, to)) => Start::Between(from, to),
                None => Start::Anywhere,
            },
        }
    }
}

/// A bound that nobody knows.
const FAR: i64 = 1 << 40;

/// What is known of the variable of a loop when the second of two accesses is made.
#[derive(Clone, Copy, Debug)]
enum Later {
    /// It has moved on by so much since the first.
    By(i64),
    /// It has gone round at least once more.
    Further,
    /// It has this value.
    Is(i64),
    /// It may have any.
    Any,
}

impl Text {
    /// The loop's variable.
    fn var(&self, of: usize) -> Symbol {
        match self.parts[of].kind {
            Kind::Loop(var, _) => var,
            _ => unreachable!("only loops are around others"),
        }
    }

    fn range(&self, of: usize) -> Range {
        self.ranges[&self.var(of)]
    }

    /// A part with the loops around it.
    fn path(&self, of: usize) -> Vec<usize> {
        let around = self.parts[of].around.iter().copied();
        around.chain([of]).collect()
    }

    /// How many loops are around both.
    fn shared(&self, a: usize, b: usize) -> usize {
        let both = self.parts[a].around.iter().zip(&self.parts[b].around);
        both.take_while(|(a, b)| a == b).count()
    }

    /// Where a fence keeps two parts in order: the largest part with the second and not the
    /// first. One that meets itself in another iteration has the fence before it.
    fn between(&self, (first, second): Clash) -> usize {
        let (a, b) = (self.path(first), self.path(second));
        let shared = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
        b[shared.min(b.len() - 1)]
    }

    /// Whether two accesses may share a word, the second made when variables are as `later`
    /// says and those of the first have any value, or the one that `first` says.
    fn meet(
        &self,
        (a, b): (&Touch, &Touch),
        first: &dyn Fn(Symbol) -> Option<i64>,
        later: &dyn Fn(Symbol) -> Later,
    ) -> bool {
        if a.array != b.array || !(a.writes || b.writes) {
            return false;
        }
        let mut distance = Distance::default();
        let mut terms = BTreeMap::new();
        for (touch, second) in [(a, false), (b, true)] {
            let sign = if second { 1 } else { -1 };
            match &touch.start {
                Start::Anywhere => return true,
                Start::Between(from, to) => {
                    distance.plus(sign, *from);
                    distance.add(sign, to - from + 1);
                }
                Start::Sum(linear) => {
                    distance.plus(sign, linear.constant);
                    for (&symbol, &c) in &linear.terms {
                        let both: &mut (i64, i64) = terms.entry(symbol).or_default();
                        *(if second { &mut both.1 } else { &mut both.0 }) = c;
                    }
                }
            }
            distance.add(sign * touch.stride, touch.rows);
        }
        for (symbol, (before, after)) in terms {
            let range = self.ranges[&symbol];
            let mut start = |factor: i64| match first(symbol) {
                Some(value) => distance.plus(factor, value),
                None => distance.any(factor, range),
            };
            match later(symbol) {
                Later::By(by) => {
                    start(after - before);
                    distance.plus(after, by);
                }
                Later::Further => {
                    start(after - before);
                    distance.plus(after, range.step);
                    distance.add(after.saturating_mul(range.step), range.count - 1);
                }
                Later::Is(value) => {
                    start(-before);
                    distance.plus(after, value);
                }
                Later::Any => {
                    start(-before);
                    distance.any(after, range);
                }
            }
        }
        distance.meet(a.bytes + self.slack, b.bytes + self.slack)
    }
}
