//! The commands of a product.
//!
//! In: a [`Layout`], what stores do to sums ([`Finish`]), the machine's commands. Out: loops
//! of work, each with the configuration that it needs. Here blocks are walked over, in the order
//! of the layout's plan; `loads` brings what they need, `stage` makes the products of one. With
//! two buffers the loads of a block stand among the products of the block before it, and each
//! result is stored after its last product, so that the queues work beside each other.

mod loads;
mod stage;

use super::form::{Place, Range};
use super::layout::{Layout, ceil};
use super::nodes::{Loops, Nodes};
use super::plan::LoopOrder;
use super::program::{Amount, CommandNode, Work};
use super::store::Finish;
use super::units::Units;
use stage::Among;

/// A block: where it is in the arrays, its rows, its buffer and its part of the accumulator.
#[derive(Clone)]
struct Block {
    left: Amount,
    out: Amount,
    init: Amount,
    rows: i64,
    buffer: Amount,
    half: Amount,
}

/// A block of columns.
#[derive(Clone)]
struct Columns {
    /// Bytes of the right factor, of results and of what sums begin with, before it.
    right: Amount,
    out: Amount,
    init: Amount,
    /// Tiles, and columns of the last one.
    tiles: i64,
    last: i64,
    buffer: Amount,
}

/// A step of a sequence: which one, its buffer, whether it is a whole one.
#[derive(Clone)]
struct Step {
    at: Amount,
    buffer: Amount,
    whole: bool,
}

/// A sequence: whole steps, and whether a smaller one follows.
#[derive(Clone, Copy)]
struct Steps {
    whole: i64,
    rest: bool,
}

impl Steps {
    fn all(self) -> i64 {
        self.whole + i64::from(self.rest)
    }
}

pub(crate) struct Emitter<'a> {
    pub(crate) layout: &'a Layout,
    pub(crate) units: &'a Units,
    pub(crate) finish: Finish,
    /// Loop variables so far.
    pub(crate) vars: usize,
}

impl Loops for Emitter<'_> {
    fn vars(&mut self) -> &mut usize {
        &mut self.vars
    }
}

/// What is made inside the loops over results: for a block there.
type Inside<'a> = dyn FnMut(&mut Emitter<'_>, &Block) -> Nodes + 'a;

/// What is made of a step and the one after it.
type Each<'a> = dyn FnMut(&mut Emitter<'_>, &Step, Option<&Step>) -> Nodes + 'a;

impl Emitter<'_> {
    /// All commands.
    pub(crate) fn program(&mut self) -> Nodes {
        let mut nodes = match self.layout.plan.outer {
            LoopOrder::Columns => self.columns_outermost(),
            LoopOrder::Rows => {
                let (others, block) = (self.layout.others.clone(), self.block());
                self.nested(&others, &block, &mut |e, b| e.rows_outermost(b))
            }
        };
        nodes.push(CommandNode::Do(Work {
            command: self.units.fence(),
            needs: Vec::new(),
        }));
        nodes
    }

    fn double(&self) -> bool {
        self.layout.plan.buffers > 1
    }

    /// The first block.
    fn block(&self) -> Block {
        let l = self.layout;
        let start = |p: &Place| Amount {
            array: Some(p.array),
            constant: p.constant,
            ..Amount::default()
        };
        Block {
            left: start(&l.left),
            out: start(&l.out),
            init: l.init.as_ref().map(start).unwrap_or_default(),
            rows: l.block_rows(),
            buffer: Amount::default(),
            half: Amount::default(),
        }
    }

    /// The blocks of columns.
    fn groups(&self) -> Steps {
        let l = self.layout;
        let whole = l.columns.extent / (l.tiles.1 * l.dim);
        Steps {
            whole,
            rest: whole * l.tiles.1 * l.dim < l.columns.extent,
        }
    }

    fn group(&self, step: &Step) -> Columns {
        let l = self.layout;
        let cells = l.tiles.1 * l.dim;
        let at = |p: &Place| step.at.times(cells * p.step(l.columns.symbol));
        let all = ceil(l.columns.extent, l.dim);
        let (tiles, last) = match step.whole {
            true => (l.tiles.1, l.dim),
            false => (
                all - self.groups().whole * l.tiles.1,
                l.columns.extent - (all - 1) * l.dim,
            ),
        };
        Columns {
            right: at(&l.right),
            out: at(&l.out),
            init: l.init.as_ref().map(at).unwrap_or_default(),
            tiles,
            last,
            buffer: step.buffer.clone(),
        }
    }

    /// The blocks of rows.
    fn blocks(&self) -> Steps {
        let (whole, rest) = self.layout.blocks();
        Steps {
            whole,
            rest: rest > 0,
        }
    }

    /// A block after so many others.
    fn block_at(&self, block: &Block, step: &Step) -> Block {
        let l = self.layout;
        let of = |p: &Place| match &l.stream {
            Some(stream) => {
                let pooled = l.pool.as_ref().map_or(1, |p| p.rows);
                pooled * p.step(stream.symbol)
            }
            None => l.tiles.0 * l.dim * p.step(l.rows.symbol),
        };
        let moved = |from: &Amount, p: &Place| from.plus(&step.at.times(of(p)));
        Block {
            left: moved(&block.left, &l.left),
            out: moved(&block.out, &l.out),
            init: l
                .init
                .as_ref()
                .map(|p| moved(&block.init, p))
                .unwrap_or_default(),
            rows: if step.whole { block.rows } else { l.blocks().1 },
            buffer: step.buffer.clone(),
            half: step.buffer.clone(),
        }
    }

    /// Steps from one on, each with the one that follows: those that are alike in loops, two at
    /// a time when there are two buffers.
    fn steps(&mut self, from: i64, of: Steps, each: &mut Each) -> Nodes {
        let double = self.double();
        let step = |at: i64| Step {
            at: Amount::of(at),
            buffer: Amount::of(if double { at % 2 } else { 0 }),
            whole: at < of.whole,
        };
        // Each of them is whole, and so is the one after it.
        let alike = (of.whole - 1 - from).max(0);
        let (rounds, by) = if double { (alike / 2, 2) } else { (alike, 1) };
        let mut nodes = self.in_loop(rounds, |e, v| {
            let first = v.times(by).add(from);
            e.in_loop(by, |e, w| {
                // Buffers in turn: `w` when the first is even, and `1 - w` when it is odd.
                let even = match (double, from % 2 == 0) {
                    (false, _) => Amount::default(),
                    (true, true) => w.clone(),
                    (true, false) => w.times(-1).add(1),
                };
                let odd = match double {
                    true => even.times(-1).add(1),
                    false => Amount::default(),
                };
                let at = first.plus(w);
                let next = Step {
                    at: at.add(1),
                    buffer: odd,
                    whole: true,
                };
                let now = Step {
                    at,
                    buffer: even,
                    whole: true,
                };
                each(e, &now, Some(&next))
            })
        });
        for at in from + rounds * by..of.all() {
            let next = (at + 1 < of.all()).then(|| step(at + 1));
            nodes.extend(each(self, &step(at), next.as_ref()));
        }
        nodes
    }

    /// The first of some steps with the one after it, and then the others.
    fn first_apart(&mut self, of: Steps, first: &mut Each, each: &mut Each) -> Nodes {
        let step = |at: i64, buffer: i64| Step {
            at: Amount::of(at),
            buffer: Amount::of(buffer),
            whole: at < of.whole,
        };
        let next = (of.all() > 1).then(|| step(1, i64::from(self.double())));
        let mut nodes = first(self, &step(0, 0), next.as_ref());
        nodes.extend(self.steps(1, of, each));
        nodes
    }

    /// The loops over results that are outside of blocks.
    fn nested(&mut self, others: &[Range], block: &Block, inside: &mut Inside) -> Nodes {
        let Some((first, rest)) = others.split_first() else {
            return inside(self, block);
        };
        let l = self.layout;
        self.in_loop(first.extent, |e, v| {
            let step = |a: &Amount, p: &Place| a.plus(&v.times(p.step(first.symbol)));
            let block = Block {
                left: step(&block.left, &l.left),
                out: step(&block.out, &l.out),
                init: l
                    .init
                    .as_ref()
                    .map(|p| step(&block.init, p))
                    .unwrap_or_default(),
                ..block.clone()
            };
            e.nested(rest, &block, inside)
        })
    }

    /// The right factor of a block of columns stays, and blocks of rows stream past it.
    fn columns_outermost(&mut self) -> Nodes {
        let groups = self.groups();
        let each = |e: &mut Emitter<'_>, at: &Amount, whole: bool| {
            let step = Step {
                at: at.clone(),
                buffer: Amount::default(),
                whole,
            };
            let c = e.group(&step);
            e.columns(&c)
        };
        let mut nodes = self.in_loop(groups.whole, |e, v| each(e, v, true));
        if groups.rest {
            nodes.extend(each(self, &Amount::of(groups.whole), false));
        }
        nodes
    }

    fn columns(&mut self, c: &Columns) -> Nodes {
        let others = self.layout.others.clone();
        // Inside of other loops it is there before them.
        let early = !others.is_empty();
        let mut nodes = Vec::new();
        if early {
            nodes.extend(self.load_right_all(c));
        }
        let block = self.block();
        nodes.extend(self.nested(&others, &block, &mut |e, b| e.stream(b, c, !early)));
        nodes
    }

    /// The first of blocks of rows.
    fn first_block(&self, block: &Block) -> Block {
        let first = Step {
            at: Amount::default(),
            buffer: Amount::default(),
            whole: self.blocks().whole > 0,
        };
        self.block_at(block, &first)
    }

    /// Blocks of rows, one after the other.
    fn stream(&mut self, block: &Block, c: &Columns, loads_right: bool) -> Nodes {
        let (blocks, double) = (self.blocks(), self.double());
        let first = self.first_block(block);
        let mut nodes = Vec::new();
        if double {
            nodes.extend(self.load_left_all(&first));
            nodes.extend(self.load_init(&first, c));
        }
        let one = |e: &mut Emitter<'_>, now: &Step, next: Option<&Step>, own: bool| {
            let b = e.block_at(block, now);
            let next = next.filter(|_| double).map(|n| e.block_at(block, n));
            let mut nodes = Vec::new();
            if !double {
                nodes.extend(e.load_left_all(&b));
                nodes.extend(e.load_init(&b, c));
            }
            let among = Among {
                left: next.as_ref(),
                init: next.as_ref(),
                own,
                right: None,
            };
            nodes.extend(e.stage(&b, c, &among));
            nodes
        };
        nodes.extend(match loads_right {
            true => self.first_apart(
                blocks,
                &mut |e, now, next| one(e, now, next, true),
                &mut |e, now, next| one(e, now, next, false),
            ),
            false => self.steps(0, blocks, &mut |e, now, next| one(e, now, next, false)),
        });
        nodes
    }

    /// The left factor of a block of rows stays, and blocks of columns stream past it.
    fn rows_outermost(&mut self, block: &Block) -> Nodes {
        let (blocks, double) = (self.blocks(), self.double());
        let first = self.first_block(block);
        let mut nodes = match double {
            true => self.load_left_all(&first),
            false => Vec::new(),
        };
        nodes.extend(self.steps(0, blocks, &mut |e, now, next| {
            let b = e.block_at(block, now);
            let next = next.filter(|_| double).map(|n| e.block_at(block, n));
            let mut nodes = match double {
                true => Vec::new(),
                false => e.load_left_all(&b),
            };
            nodes.extend(e.across(&b, next.as_ref()));
            nodes
        }));
        nodes
    }

    /// The blocks of columns of a block of rows; the next block of rows is loaded among the
    /// products of the last one.
    fn across(&mut self, block: &Block, left: Option<&Block>) -> Nodes {
        let double = self.double();
        let one = |e: &mut Emitter<'_>, now: &Step, next: Option<&Step>, own: bool| {
            let c = e.group(now);
            let b = Block {
                half: now.buffer.clone(),
                ..block.clone()
            };
            let right = next.filter(|_| double).map(|n| e.group(n));
            let mut nodes = e.load_init(&b, &c);
            let among = Among {
                left: left.filter(|_| next.is_none()),
                init: None,
                own: own || !double,
                right: right.as_ref(),
            };
            nodes.extend(e.stage(&b, &c, &among));
            nodes
        };
        self.first_apart(
            self.groups(),
            &mut |e, now, next| one(e, now, next, true),
            &mut |e, now, next| one(e, now, next, false),
        )
    }
}
