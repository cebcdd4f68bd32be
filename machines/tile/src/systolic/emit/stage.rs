//! The products of a block, its results, and the loads that stand among them.
//!
//! In: a block of rows and one of columns, what is to be loaded meanwhile. Out: work. With
//! stationary weights a tile of the right factor is brought into the array and all rows of the
//! block pass it, so that sums lie in the accumulator while they grow; with stationary outputs
//! all that is summed passes a tile of results, which reaches the accumulator once.

use super::loads::{Group, tiles_of_columns};
use super::{Block, Columns, Emitter};
use crate::systolic::nodes::{Loops, Nodes};
use crate::systolic::plan::Stationary;
use crate::systolic::program::{Amount, Command, CommandNode, Work};
use crate::systolic::units::{FACTORS, Pooling, Rows, SUMS};

/// Where in the sum a product stands.
#[derive(Clone, Copy)]
struct Moment {
    window: usize,
    first: bool,
    last: bool,
}

/// What is loaded among the products of a block.
pub(super) struct Among<'a> {
    /// The left factor of a block, and what its sums begin with.
    pub(super) left: Option<&'a Block>,
    pub(super) init: Option<&'a Block>,
    /// Whether the right factor of these very products is to be loaded.
    pub(super) own: bool,
    /// That of other columns.
    pub(super) right: Option<&'a Columns>,
}

/// In how many pieces loads are put among products, at most.
const PIECES: i64 = 4;

impl Emitter<'_> {
    /// The products of a block, with loads among them.
    pub(super) fn stage(&mut self, b: &Block, c: &Columns, among: &Among) -> Nodes {
        let mut nodes = match among.init {
            Some(next) => self.load_init(next, c),
            None => Vec::new(),
        };
        nodes.extend(match self.layout.plan.stationary {
            Stationary::Weights => self.past_weights(b, c, among),
            Stationary::Outputs => self.towards_outputs(b, c, among),
        });
        if self.layout.pool.is_some() {
            nodes.extend(self.store_pooled(b, c));
        }
        nodes
    }

    fn past_weights(&mut self, b: &Block, c: &Columns, among: &Among) -> Nodes {
        let l = self.layout;
        let mut nodes = Vec::new();
        for window in 0..l.window.len() {
            // The first group begins the sums, the last ends them: both stand alone.
            let begins = window == 0 && l.init.is_none();
            let ends = window + 1 == l.window.len();
            nodes.extend(self.depths(begins, &mut |e, g| {
                let mut nodes = Vec::new();
                if let Some(next) = among.left.filter(|_| window == 0) {
                    nodes.extend(e.load_left(next, g));
                }
                if among.own {
                    nodes.extend(e.load_right(c, window, g));
                }
                if let Some(other) = among.right {
                    nodes.extend(e.load_right(other, window, g));
                }
                for tile in 0..g.tiles {
                    let moment = Moment {
                        window,
                        first: begins && g.begins && tile == 0,
                        last: ends && g.ends && tile + 1 == g.tiles,
                    };
                    let width = g.rows(tile, l.dim);
                    nodes.extend(e.products(b, c, &g.first.add(tile), width, moment));
                }
                nodes
            }));
        }
        nodes
    }

    /// One tile of what is summed against all tiles of a block.
    fn products(&mut self, b: &Block, c: &Columns, k: &Amount, width: i64, m: Moment) -> Nodes {
        let l = self.layout;
        let right = self.right_row(c, m.window, k);
        let added = Rows {
            adds: !m.first,
            ..SUMS
        };
        let mut nodes = Vec::new();
        for (first, count, columns) in tiles_of_columns(c, l.dim) {
            nodes.extend(self.in_loop(count, |e, j| {
                let j = j.add(first);
                let sums = e.sums(b, &j);
                let right = right.plus(&j.times(l.dim));
                e.tiles(b.rows, l.grid(), &mut |e, y, x, rows, begins| {
                    let row = sums.plus(&y.times(b.rows)).plus(x);
                    let operand = match begins {
                        true => e.units.local(&right, FACTORS, width, columns),
                        false => e.units.local(&e.units.no_row(), FACTORS, width, columns),
                    };
                    let result = e.units.local(&row, added, rows, columns);
                    let from = e.left_row(b, m.window, k, (y, x));
                    let from = e.units.local(&from, FACTORS, rows, width);
                    let mut nodes = vec![
                        e.preload(operand, result),
                        CommandNode::Do(Work {
                            command: e.units.multiply(from, e.units.nothing(), !begins),
                            needs: Vec::new(),
                        }),
                    ];
                    if m.last && l.pool.is_none() {
                        nodes.push(e.store((b, c), &j, x, &row, (rows, columns)));
                    }
                    nodes
                })
            }));
        }
        nodes
    }

    fn preload(&self, operand: Amount, result: Amount) -> CommandNode<Work> {
        let l = self.layout;
        let kept = l.plan.stationary;
        CommandNode::Do(Work {
            command: self.units.preload(operand, result),
            needs: vec![self.units.execute(l.a_stride(), kept, l.transposed)],
        })
    }

    /// Where rows of the left factor lie, for a tile of rows.
    fn left_row(&self, b: &Block, window: usize, k: &Amount, (y, x): (&Amount, &Amount)) -> Amount {
        let l = self.layout;
        let down = l.pool.as_ref().map_or(0, |p| p.left_step / l.pitch);
        k.times(l.patch)
            .add(l.window[window].0)
            .plus(&b.buffer.times(l.depth() * l.patch))
            .plus(&y.times(down))
            .plus(&x.times(l.a_stride()))
    }

    fn towards_outputs(&mut self, b: &Block, c: &Columns, among: &Among) -> Nodes {
        let mut ranges = Vec::new();
        for (first, count, columns) in tiles_of_columns(c, self.layout.dim) {
            // What is loaded for these products is loaded among those of the first tile.
            let apart = i64::from(among.own && first == 0 && count > 1);
            let parts = (count - apart).clamp(1, PIECES);
            if apart == 1 {
                ranges.push((0, 1, columns));
            }
            let at = |part: i64| first + apart + (count - apart) * part / parts;
            let part = |p: i64| (at(p), at(p + 1) - at(p), columns);
            ranges.extend((0..parts).map(part).filter(|r| r.1 > 0));
        }
        let parts = ranges.len() as i64;
        let mut nodes = Vec::new();
        for (part, range) in (0..).zip(ranges) {
            nodes.extend(self.piece(among, part, parts));
            let own = among.own && range.0 == 0;
            nodes.extend(self.results(b, c, range, own));
        }
        nodes
    }

    /// A part of the loads among products.
    fn piece(&mut self, among: &Among, part: i64, parts: i64) -> Nodes {
        let (groups, windows) = (self.group_count(), self.layout.window.len() as i64);
        let between = |n: i64| (n * part / parts, n * (part + 1) / parts);
        let mut nodes = Vec::new();
        if let Some(next) = among.left {
            let (low, high) = between(groups);
            nodes.extend(self.depths_between(low, high, &mut |e, g| e.load_left(next, g)));
        }
        let Some(other) = among.right else {
            return nodes;
        };
        let (low, high) = between(groups * windows);
        for window in 0..windows {
            let within = |n: i64| (n - window * groups).clamp(0, groups);
            let (low, high) = (within(low), within(high));
            nodes.extend(self.depths_between(low, high, &mut |e, g| {
                e.load_right(other, usize::try_from(window).unwrap_or(0), g)
            }));
        }
        nodes
    }

    /// Tiles of results, one after the other: all products of each.
    fn results(
        &mut self,
        b: &Block,
        c: &Columns,
        (first, count, columns): (i64, i64, i64),
        own: bool,
    ) -> Nodes {
        let l = self.layout;
        self.in_loop(count, |e, j| {
            let j = j.add(first);
            let sums = e.sums(b, &j);
            e.tiles(b.rows, l.grid(), &mut |e, y, x, rows, begins| {
                let row = sums.plus(&y.times(b.rows)).plus(x);
                let tile = Tile {
                    j: j.clone(),
                    at: (y.clone(), x.clone()),
                    size: (rows, columns),
                    row,
                };
                let mut nodes = e.result(b, c, &tile, own && begins);
                if l.pool.is_none() {
                    nodes.push(e.store((b, c), &j, x, &tile.row, tile.size));
                }
                nodes
            })
        })
    }

    /// The products of a tile of results; `own` when the right factor is loaded among them.
    fn result(&mut self, b: &Block, c: &Columns, tile: &Tile, own: bool) -> Nodes {
        let windows = self.layout.window.len();
        let mut nodes = Vec::new();
        for window in 0..windows {
            nodes.extend(self.depths(window == 0, &mut |e, g| {
                let mut nodes = Vec::new();
                if own {
                    nodes.extend(e.load_right(c, window, g));
                }
                for k in 0..g.tiles {
                    let moment = Moment {
                        window,
                        first: window == 0 && g.begins && k == 0,
                        last: window + 1 == windows && g.ends && k + 1 == g.tiles,
                    };
                    nodes.extend(e.added(b, c, tile, (g, k), moment));
                }
                nodes
            }));
        }
        nodes
    }

    /// One product that is added to what the array holds, which the last one sends to the
    /// accumulator.
    fn added(
        &self,
        b: &Block,
        c: &Columns,
        tile: &Tile,
        (g, k): (&Group, i64),
        m: Moment,
    ) -> [CommandNode<Work>; 2] {
        let (l, u) = (self.layout, self.units);
        let width = g.rows(k, l.dim);
        let k = g.first.add(k);
        let (rows, columns) = tile.size;
        let sums = Rows {
            adds: l.init.is_some(),
            ..SUMS
        };
        let result = match m.last {
            true => u.local(&tile.row, sums, rows, columns),
            false => u.nothing(),
        };
        let right = self.right_row(c, m.window, &k).plus(&tile.j.times(l.dim));
        let left = self.left_row(b, m.window, &k, (&tile.at.0, &tile.at.1));
        let command = u.multiply(
            u.local(&left, FACTORS, rows, width),
            u.local(&right, FACTORS, width, columns),
            !m.first,
        );
        let product = CommandNode::Do(Work {
            command,
            needs: Vec::new(),
        });
        [self.preload(u.nothing(), result), product]
    }

    fn store(
        &self,
        (b, c): (&Block, &Columns),
        j: &Amount,
        x: &Amount,
        row: &Amount,
        (rows, columns): (i64, i64),
    ) -> CommandNode<Work> {
        let l = self.layout;
        let stride = l.out.step(l.rows.symbol);
        let to = b
            .out
            .plus(&c.out)
            .plus(&j.times(l.dim * l.out.step(l.columns.symbol)))
            .plus(&x.times(stride));
        let sums = Rows {
            full: self.finish.full,
            ..SUMS
        };
        let local = self.units.local(row, sums, rows, columns);
        CommandNode::Do(Work {
            command: self.units.store(to, local),
            needs: vec![self.storing(stride, Pooling::default())],
        })
    }

    fn storing(&self, stride: i64, pool: Pooling) -> Command {
        let f = &self.finish;
        self.units.storing(stride, f.relu, f.scale, pool)
    }

    fn store_pooled(&mut self, b: &Block, c: &Columns) -> Nodes {
        let l = self.layout;
        let Some(pool) = &l.pool else {
            return Vec::new();
        };
        let pooling = [
            pool.stride,
            pool.size,
            pool.columns,
            pool.rows,
            pool.columns,
            l.grid(),
            b.rows,
        ];
        let stride = l.out.step(l.rows.symbol);
        let mut nodes = Vec::new();
        for (first, count, columns) in tiles_of_columns(c, l.dim) {
            nodes.extend(self.in_loop(count, |e, j| {
                let j = j.add(first);
                let to = b.out.plus(&c.out);
                let to = to.plus(&j.times(l.dim * l.out.step(l.columns.symbol)));
                let local = e.units.local(&e.sums(b, &j), SUMS, 0, columns);
                vec![CommandNode::Do(Work {
                    command: e.units.store(to, local),
                    needs: vec![e.storing(stride, pooling)],
                })]
            }));
        }
        nodes
    }
}

/// A tile of results.
struct Tile {
    /// Which one of its block of columns.
    j: Amount,
    /// Its first row: in the grid of a window, and beside it.
    at: (Amount, Amount),
    /// Rows and columns.
    size: (i64, i64),
    /// Its first row in the accumulator.
    row: Amount,
}
