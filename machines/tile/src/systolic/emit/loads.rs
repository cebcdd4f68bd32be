//! What blocks need of memory: patches of the left factor, tiles of the right one, what sums
//! begin with.
//!
//! In: a block, a block of columns, which tiles of what is summed. Out: loads. When they are
//! issued is `stage`'s and the walk's.

use super::{Block, Columns, Emitter};
use crate::systolic::layout::ceil;
use crate::systolic::nodes::{Loops, Nodes};
use crate::systolic::program::{Amount, CommandNode, Work};
use crate::systolic::units::{FACTORS, SUMS, Units};

/// Tiles of what is summed that one load brings.
pub(super) struct Group {
    /// The first.
    pub(super) first: Amount,
    pub(super) tiles: i64,
    /// Rows of the last one.
    pub(super) last: i64,
    /// Whether they are the first of all, and the last.
    pub(super) begins: bool,
    pub(super) ends: bool,
}

impl Group {
    /// Rows of a tile.
    pub(super) fn rows(&self, tile: i64, dim: i64) -> i64 {
        if tile + 1 == self.tiles {
            self.last
        } else {
            dim
        }
    }
}

/// What is made of a group.
pub(super) type OfGroup<'a> = dyn FnMut(&mut Emitter<'_>, &Group) -> Nodes + 'a;

impl Emitter<'_> {
    /// How many groups of tiles are summed.
    pub(super) fn group_count(&self) -> i64 {
        ceil(self.layout.depth(), self.units.blocks)
    }

    /// The tiles of what is summed, in groups; the first may stand apart.
    pub(super) fn depths(&mut self, apart: bool, body: &mut OfGroup) -> Nodes {
        let count = self.group_count();
        match apart && count > 1 {
            true => {
                let mut nodes = self.depths_between(0, 1, body);
                nodes.extend(self.depths_between(1, count, body));
                nodes
            }
            false => self.depths_between(0, count, body),
        }
    }

    /// Some of the groups.
    pub(super) fn depths_between(&mut self, low: i64, high: i64, body: &mut OfGroup) -> Nodes {
        let (l, size, count) = (self.layout, self.units.blocks, self.group_count());
        // The last of all has the partial tile, and stands alone.
        let whole = high.min(count - 1) - low;
        let mut nodes = self.in_loop(whole, |e, v| {
            let group = Group {
                first: v.add(low).times(size),
                tiles: size,
                last: l.dim,
                begins: low == 0 && whole == 1,
                ends: false,
            };
            body(e, &group)
        });
        if high == count {
            let group = Group {
                first: Amount::of((count - 1) * size),
                tiles: l.depth() - (count - 1) * size,
                last: l.inner.extent - (l.depth() - 1) * l.dim,
                begins: count == 1,
                ends: true,
            };
            nodes.extend(body(self, &group));
        }
        nodes
    }

    pub(super) fn load_left_all(&mut self, block: &Block) -> Nodes {
        self.depths(false, &mut |e, g| e.load_left(block, g))
    }

    pub(super) fn load_right_all(&mut self, c: &Columns) -> Nodes {
        let windows = 0..self.layout.window.len();
        let mut nodes = Vec::new();
        for window in windows {
            nodes.extend(self.depths(false, &mut |e, g| e.load_right(c, window, g)));
        }
        nodes
    }

    /// Some tiles of the patch of a block.
    pub(super) fn load_left(&mut self, b: &Block, g: &Group) -> Nodes {
        let l = self.layout;
        if l.transposed[0] {
            let tiles = ceil(b.rows, l.dim);
            let across = (tiles, b.rows - (tiles - 1) * l.dim);
            let base = b.buffer.times(l.depth() * l.patch);
            let to = |k: &Amount| k.times(l.patch).plus(&base);
            return self.load_summed_down(
                (0, &b.left),
                l.left.step(l.inner.symbol),
                g,
                across,
                &to,
            );
        }
        let patch = l.patch_of(b.rows);
        let columns = (g.tiles - 1) * l.dim + g.last;
        let base = b.buffer.times(l.depth() * l.patch);
        let small = Units::bytes(self.units.small);
        let one = |e: &Self, row: &Amount, rows: i64| {
            let from = b
                .left
                .plus(&row.times(l.pitch))
                .plus(&g.first.times(l.dim * small));
            let to = row.plus(&g.first.times(l.patch)).plus(&base);
            vec![CommandNode::Do(Work {
                command: e
                    .units
                    .load(0, from, e.units.local(&to, FACTORS, rows, columns)),
                needs: vec![
                    e.units
                        .loading(0, Amount::of(l.pitch), l.patch, (false, 1.0)),
                ],
            })]
        };
        let mut nodes = self.in_loop(patch / l.dim, |e, v| one(e, &v.times(l.dim), l.dim));
        if patch % l.dim > 0 {
            nodes.extend(one(self, &Amount::of(patch - patch % l.dim), patch % l.dim));
        }
        nodes
    }

    /// Some tiles of the right factor, for a block of columns.
    pub(super) fn load_right(&mut self, c: &Columns, window: usize, g: &Group) -> Nodes {
        let l = self.layout;
        let start = Amount {
            array: Some(l.right.array),
            constant: l.right.constant + l.window[window].1,
            ..Amount::default()
        };
        let start = start.plus(&c.right);
        match l.transposed[1] {
            true => self.load_columns_down(&start, c, window, g),
            false => {
                let to = |k: &Amount| self.right_row(c, window, k);
                let stride = l.right.step(l.inner.symbol);
                self.load_summed_down((1, &start), stride, g, (c.tiles, c.last), &to)
            }
        }
    }

    /// Tiles whose rows are what is summed: so many beside each other, the last of so many columns.
    fn load_summed_down(
        &self,
        (id, start): (i64, &Amount),
        stride: i64,
        g: &Group,
        (across, last): (i64, i64),
        to: &dyn Fn(&Amount) -> Amount,
    ) -> Nodes {
        let (l, u) = (self.layout, self.units);
        let small = Units::bytes(u.small);
        let mut nodes = Vec::new();
        for tile in 0..g.tiles {
            let rows = g.rows(tile, l.dim);
            let k = g.first.add(tile);
            let from = start.plus(&k.times(l.dim * stride));
            let to = to(&k);
            for first in (0..across).step_by(u.blocks as usize) {
                let tiles = u.blocks.min(across - first);
                let ends = first + tiles == across;
                let columns = (tiles - 1) * l.dim + if ends { last } else { l.dim };
                let local = u.local(&to.add(first * l.dim), FACTORS, rows, columns);
                let from = from.add(first * l.dim * small);
                nodes.push(self.loaded(id, from, local, (stride, l.dim)));
            }
        }
        nodes
    }

    /// Tiles of the right factor whose rows are columns of the product: the array transposes them.
    fn load_columns_down(&self, start: &Amount, c: &Columns, window: usize, g: &Group) -> Nodes {
        let (l, u) = (self.layout, self.units);
        let stride = l.right.step(l.columns.symbol);
        let summed = (g.tiles - 1) * l.dim + g.last;
        let start = start.plus(&g.first.times(l.dim * Units::bytes(u.small)));
        let to = self.right_row(c, window, &g.first);
        let one = |j: i64| {
            let rows = if j + 1 == c.tiles { c.last } else { l.dim };
            let local = u.local(&to.add(j * l.dim), FACTORS, rows, summed);
            let from = start.add(j * l.dim * stride);
            self.loaded(1, from, local, (stride, l.tiles.1 * l.dim))
        };
        (0..c.tiles).map(one).collect()
    }

    /// A load of factors: bytes from one row to the next, local rows from one tile beside it to the next.
    fn loaded(
        &self,
        id: i64,
        from: Amount,
        to: Amount,
        (stride, block): (i64, i64),
    ) -> CommandNode<Work> {
        let u = self.units;
        let setting = u.loading(id, Amount::of(stride), block, (false, 1.0));
        CommandNode::Do(Work {
            command: u.load(id as usize, from, to),
            needs: vec![setting],
        })
    }

    /// Where a tile of the right factor lies, for the first tile of columns.
    pub(super) fn right_row(&self, c: &Columns, window: usize, k: &Amount) -> Amount {
        let l = self.layout;
        let before = window as i64 * l.depth();
        k.add(before)
            .times(l.tiles.1 * l.dim)
            .plus(&c.buffer.times(l.right_rows()))
            .add(l.right_at)
    }

    /// Where sums of a block begin, for a tile of columns.
    pub(super) fn sums(&self, b: &Block, tile: &Amount) -> Amount {
        let l = self.layout;
        tile.times(l.span).plus(&b.half.times(l.tiles.1 * l.span))
    }

    /// Every tile of rows of a block: where it begins, how many rows it has, which is first.
    pub(super) fn tiles(
        &mut self,
        rows: i64,
        grid: i64,
        body: &mut dyn FnMut(&mut Self, &Amount, &Amount, i64, bool) -> Nodes,
    ) -> Nodes {
        let dim = self.layout.dim;
        let (full, rest) = (rows / dim, rows % dim);
        let zero = Amount::default();
        let mut line = |e: &mut Self, y: &Amount, first: bool| {
            let mut nodes = Vec::new();
            let peeled = i64::from(first && full > 0);
            if peeled == 1 {
                nodes.extend(body(e, y, &zero, dim, true));
            }
            nodes.extend(e.in_loop(full - peeled, |e, v| {
                body(e, y, &v.add(peeled).times(dim), dim, false)
            }));
            if rest > 0 {
                nodes.extend(body(
                    e,
                    y,
                    &Amount::of(full * dim),
                    rest,
                    first && full == 0,
                ));
            }
            nodes
        };
        let mut nodes = line(self, &zero, true);
        nodes.extend(self.in_loop(grid - 1, |e, v| line(e, &v.add(1), false)));
        nodes
    }

    /// What sums begin with.
    pub(super) fn load_init(&mut self, b: &Block, c: &Columns) -> Nodes {
        let l = self.layout;
        let Some(init) = &l.init else {
            return Vec::new();
        };
        let stride = init.step(l.rows.symbol);
        let step = init.step(l.columns.symbol) * l.dim;
        let mut nodes = Vec::new();
        for (first, count, width) in tiles_of_columns(c, l.dim) {
            nodes.extend(self.in_loop(count, |e, j| {
                let j = j.add(first);
                let sums = e.sums(b, &j);
                e.tiles(b.rows, l.grid(), &mut |e, y, x, rows, _| {
                    let row = sums.plus(&y.times(b.rows)).plus(x);
                    let from = b.init.plus(&c.init).plus(&j.times(step));
                    let from = from.plus(&x.times(stride));
                    vec![CommandNode::Do(Work {
                        command: e
                            .units
                            .load(2, from, e.units.local(&row, SUMS, rows, width)),
                        needs: vec![e.units.loading(2, Amount::of(stride), l.dim, (false, 1.0))],
                    })]
                })
            }));
        }
        nodes
    }
}

/// Tiles of columns that are alike: the first, how many, their columns.
pub(super) fn tiles_of_columns(c: &Columns, dim: i64) -> Vec<(i64, i64, i64)> {
    match c.last == dim {
        true => vec![(0, c.tiles, dim)],
        false => vec![(0, c.tiles - 1, dim), (c.tiles - 1, 1, c.last)],
    }
}
