//! What the host and the tile units must not see out of order, in a nest.
//!
//! In: nodes with registers and addresses, for given sizes. Out: the nodes before which a
//! fence stands, and the proof that with these nothing is out of order: every iteration is
//! gone through. The host runs in order; a tile instruction may retire until as many as the
//! machine can have under way have followed, in any order that true dependences between tiles
//! allow; host and units see each other's stores after a fence only.

use crate::block::{Refused, Values};
use crate::matching::Window;
use crate::nest::{Node, TileOp, accesses, place};
use crate::webs::Chosen;
use kernel::index::{Index, Symbol};
use kernel::tree::{Id, Kernel};
use semantics::span::Span;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

/// Instances of nodes that are gone through at most.
const MOST_STEPS: usize = 8_000_000;

/// What a nest needs to be gone through.
pub(crate) struct Run<'a> {
    pub(crate) kernel: &'a Kernel,
    pub(crate) sizes: &'a BTreeMap<Symbol, i64>,
    pub(crate) chosen: &'a Chosen,
    /// Bytes of a row of a tile, and rows.
    pub(crate) extent: (i64, i64),
    pub(crate) in_flight: usize,
    pub(crate) fences: BTreeSet<usize>,
    touched: BTreeMap<usize, Vec<Touched>>,
}

/// What a statement of the host touches: the array, the byte in it, whether it writes.
type Touched = (Id, Index, bool);

/// A tile instruction under way.
struct Flying {
    path: Vec<usize>,
    read: Vec<usize>,
    written: Vec<usize>,
    window: Option<(Window, bool)>,
    number: usize,
    after: BTreeSet<usize>,
}

/// What has happened since the last fence.
struct State {
    flying: VecDeque<Flying>,
    /// Words that the host has stored, with the path of the statement.
    stored: HashMap<(Id, i64), Vec<usize>>,
    /// The same of the units.
    moved: HashMap<(Id, i64), Vec<usize>>,
    /// The instruction that wrote a register, and what it depends on.
    writer: BTreeMap<usize, usize>,
    number: usize,
    steps: usize,
    values: Values,
    /// The nodes around, and the one at hand.
    path: Vec<usize>,
}

/// Two nodes between which there must be a fence: the paths to them.
struct Clash {
    first: Vec<usize>,
    second: Vec<usize>,
}

enum Stop {
    Clash(Clash),
    Refused(Refused),
}

impl From<Refused> for Stop {
    fn from(refused: Refused) -> Stop {
        Stop::Refused(refused)
    }
}

impl<'a> Run<'a> {
    /// A run without fences.
    pub(crate) fn new(
        kernel: &'a Kernel,
        sizes: &'a BTreeMap<Symbol, i64>,
        chosen: &'a Chosen,
        extent: (i64, i64),
        in_flight: usize,
    ) -> Run<'a> {
        Run {
            kernel,
            sizes,
            chosen,
            extent,
            in_flight,
            fences: BTreeSet::new(),
            touched: BTreeMap::new(),
        }
    }

    /// Finds where fences must stand; without any left to find, it is proved that no others
    /// are needed.
    pub(crate) fn settle(&mut self, nodes: &[Node], can: bool) -> Result<(), Refused> {
        if count(nodes) == 0 {
            return Ok(());
        }
        self.look(nodes);
        loop {
            let mut state = State {
                flying: VecDeque::new(),
                stored: HashMap::new(),
                moved: HashMap::new(),
                writer: BTreeMap::new(),
                number: 0,
                steps: 0,
                values: Values::new(self.kernel, self.sizes),
                path: Vec::new(),
            };
            let mut first = 0;
            let clash = match self.nodes(nodes, &mut state, &mut first) {
                Ok(()) => return Ok(()),
                Err(Stop::Refused(refused)) => return Err(refused),
                Err(Stop::Clash(clash)) => clash,
            };
            let shared = clash
                .first
                .iter()
                .zip(&clash.second)
                .take_while(|(a, b)| a == b)
                .count();
            // One statement that meets itself in another iteration has the fence before it.
            let at = clash.second[shared.min(clash.second.len() - 1)];
            if !can || !self.fences.insert(at) {
                let message =
                    "the host and the tile units would see memory or registers out of order";
                let hint = "describe the machine's fence: `memory: {fence: NAME}` in its manifest";
                return Err(Refused::new(self.kernel.span, message, hint));
            }
        }
    }

    /// What the statements of the host touch.
    fn look(&mut self, nodes: &[Node]) {
        for node in nodes {
            match node {
                Node::Loop(l) => self.look(&l.body),
                Node::Tile(_) => {}
                Node::Scalar(s) => {
                    let (kernel, sizes) = (self.kernel, self.sizes);
                    let mut found = Vec::new();
                    let only = std::slice::from_ref(&s.stmt);
                    accesses(kernel, only, &mut Vec::new(), &mut |a, _, writes| {
                        let bytes = i64::from(kernel.arrays[a.array].elem.bits() / 8);
                        let at = place(kernel, sizes, a).times(bytes).simplified();
                        found.push((a.array, at, writes));
                    });
                    self.touched.insert(s.id, found);
                }
            }
        }
    }

    /// Goes through nodes; `op` is the position of the next tile instruction in the text.
    fn nodes(&self, nodes: &[Node], state: &mut State, op: &mut usize) -> Result<(), Stop> {
        for node in nodes {
            let id = match node {
                Node::Loop(l) => l.id,
                Node::Tile(t) => t.id,
                Node::Scalar(s) => s.id,
            };
            if self.fences.contains(&id) {
                state.flying.clear();
                state.stored.clear();
                state.moved.clear();
                state.writer.clear();
            }
            state.steps += 1;
            if state.steps > MOST_STEPS {
                let message =
                    format!("it takes more than {MOST_STEPS} steps to go through these loops");
                let refused = Refused::new(Span::default(), message, "take smaller sizes");
                return Err(Stop::Refused(refused));
            }
            state.path.push(id);
            match node {
                Node::Loop(l) => {
                    let (lo, hi) = (
                        state.values.of(&l.lo, l.span)?,
                        state.values.of(&l.hi, l.span)?,
                    );
                    let (mut at, begin) = (lo, *op);
                    let mut end = begin + count(&l.body);
                    while at < hi {
                        state.values.set(l.var, at);
                        *op = begin;
                        self.nodes(&l.body, state, op)?;
                        end = *op;
                        at += l.step;
                    }
                    *op = end;
                }
                Node::Tile(t) => {
                    self.tile(t, *op, state)?;
                    *op += 1;
                }
                Node::Scalar(s) => self.host(s.id, self.kernel.span, state)?,
            }
            state.path.pop();
        }
        Ok(())
    }

    fn tile(&self, op: &TileOp, at: usize, state: &mut State) -> Result<(), Stop> {
        let (mut read, mut written) = (Vec::new(), Vec::new());
        for &(operand, _, r, w) in &op.tiles {
            let register = self.chosen.registers[&(at, operand)];
            read.extend(r.then_some(register));
            written.extend(w.then_some(register));
        }
        let window = match &op.moved {
            None => None,
            Some(moved) => Some((
                Window {
                    array: moved.array,
                    base: state.values.of(&moved.base, op.span)?,
                    stride: moved.stride,
                },
                moved.stores,
            )),
        };
        let mut after = BTreeSet::new();
        for register in &read {
            if let Some(&writer) = state.writer.get(register) {
                after.insert(writer);
                if let Some(f) = state.flying.iter().find(|f| f.number == writer) {
                    after.extend(f.after.iter().copied());
                }
            }
        }
        if let Some((window, _)) = window {
            for word in self.words(window) {
                if let Some(first) = state.stored.get(&(window.array, word)) {
                    return Err(Stop::Clash(Clash {
                        first: first.clone(),
                        second: state.path.clone(),
                    }));
                }
            }
        }
        for before in &state.flying {
            let clash = before.read.iter().any(|r| written.contains(r))
                || before.written.iter().any(|r| written.contains(r))
                || self.meet(before.window, window);
            if clash && !after.contains(&before.number) {
                return Err(Stop::Clash(Clash {
                    first: before.path.clone(),
                    second: state.path.clone(),
                }));
            }
        }
        if let Some((window, true)) = window {
            for word in self.words(window) {
                state.moved.insert((window.array, word), state.path.clone());
            }
        }
        let number = state.number;
        state.number += 1;
        for &register in &written {
            state.writer.insert(register, number);
        }
        state.flying.push_back(Flying {
            path: state.path.clone(),
            read,
            written,
            window,
            number,
            after,
        });
        // One more may be issued while so many are under way.
        while state.flying.len() >= self.in_flight.max(1) {
            state.flying.pop_front();
        }
        Ok(())
    }

    fn words(&self, window: Window) -> impl Iterator<Item = i64> + use<> {
        let (row, rows) = self.extent;
        (0..rows).flat_map(move |i| {
            let start = window.base + i * window.stride;
            start.div_euclid(4)..(start + row + 3).div_euclid(4)
        })
    }

    fn meet(&self, a: Option<(Window, bool)>, b: Option<(Window, bool)>) -> bool {
        let (Some((x, stores)), Some((y, also))) = (a, b) else {
            return false;
        };
        if x.array != y.array || !(stores || also) {
            return false;
        }
        let first: BTreeSet<i64> = self.words(x).collect();
        self.words(y).any(|w| first.contains(&w))
    }

    fn host(&self, id: usize, span: Span, state: &mut State) -> Result<(), Stop> {
        let touched = self.touched.get(&id).map_or(&[][..], Vec::as_slice);
        for (array, place, writes) in touched {
            let word = state.values.of(place, span)?.div_euclid(4);
            let (array, writes) = (*array, *writes);
            // A unit has read when it has retired; what it stored is seen behind a fence only.
            let loads = |f: &&Flying| {
                let window = f.window.filter(|w| writes && w.0.array == array);
                window.is_some_and(|w| self.words(w.0).any(|w| w == word))
            };
            let loading = || state.flying.iter().find(loads).map(|f| &f.path);
            if let Some(first) = state.moved.get(&(array, word)).or_else(loading) {
                return Err(Stop::Clash(Clash {
                    first: first.clone(),
                    second: state.path.clone(),
                }));
            }
            if writes {
                state.stored.insert((array, word), state.path.clone());
            }
        }
        Ok(())
    }
}

/// Tile instructions in a text.
fn count(nodes: &[Node]) -> usize {
    let of = |n: &Node| match n {
        Node::Loop(l) => count(&l.body),
        Node::Tile(_) => 1,
        Node::Scalar(_) => 0,
    };
    nodes.iter().map(of).sum()
}
