//! The commands of a product.
//!
//! In: a [`Layout`], what stores do to sums ([`Finish`]), the machine's commands. Out: loops
//! of work, each with the configuration that it needs. The loads of a block stand among the
//! products of the block before it, and each result is stored after its last product, so
//! that the queues work beside each other.

use super::form::Place;
use super::layout::{Layout, ceil};
use super::program::{Amount, Command, Node, Work};
use super::store::Finish;
use super::units::{ADDS, FULL, GARBAGE, SUMS, Units};

type Nodes = Vec<Node<Work>>;

/// A block: where it is in the arrays, its rows, its buffer.
#[derive(Clone)]
struct Block {
    left: Amount,
    out: Amount,
    init: Amount,
    rows: i64,
    buffer: i64,
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
}

/// Where in the sum a product stands.
#[derive(Clone, Copy)]
struct Moment {
    window: usize,
    first: bool,
    last: bool,
}

pub(crate) struct Emitter<'a> {
    pub(crate) layout: &'a Layout,
    pub(crate) units: &'a Units,
    pub(crate) finish: Finish,
    /// Loop variables so far.
    pub(crate) vars: usize,
}

/// A loop, or its body alone when it runs once.
pub(crate) fn looped(
    vars: &mut usize,
    count: i64,
    body: impl FnOnce(&mut usize, &Amount) -> Nodes,
) -> Nodes {
    match count {
        ..=0 => Vec::new(),
        1 => body(vars, &Amount::default()),
        _ => {
            let var = *vars;
            *vars += 1;
            let body = body(vars, &Amount::var(var));
            vec![Node::Loop { var, count, body }]
        }
    }
}

impl Emitter<'_> {
    /// A loop, or its body alone when it runs once.
    fn looped(&mut self, count: i64, body: impl FnOnce(&mut Self, &Amount) -> Nodes) -> Nodes {
        match count {
            ..=0 => Vec::new(),
            1 => body(self, &Amount::default()),
            _ => {
                let var = self.vars;
                self.vars += 1;
                let body = body(self, &Amount::var(var));
                vec![Node::Loop { var, count, body }]
            }
        }
    }

    /// All commands.
    pub(crate) fn program(&mut self) -> Nodes {
        let l = self.layout;
        let all = ceil(l.columns.extent, l.dim);
        let whole = l.columns.extent / (l.tiles.1 * l.dim);
        let mut nodes = self.looped(whole, |e, v| {
            let columns = e.columns_at(v, l.tiles.1, l.dim);
            e.columns(&columns)
        });
        let done = whole * l.tiles.1;
        if done < all {
            let last = l.columns.extent - (all - 1) * l.dim;
            let columns = self.columns_at(&Amount::of(whole), all - done, last);
            nodes.extend(self.columns(&columns));
        }
        nodes.push(Node::Do(Work {
            command: self.units.fence(),
            needs: Vec::new(),
        }));
        nodes
    }

    fn columns_at(&self, v: &Amount, tiles: i64, last: i64) -> Columns {
        let l = self.layout;
        let cells = l.tiles.1 * l.dim;
        let at = |p: &Place| v.times(cells * p.step(l.columns.symbol));
        Columns {
            right: at(&l.right),
            out: at(&l.out),
            init: l.init.as_ref().map(at).unwrap_or_default(),
            tiles,
            last,
        }
    }

    fn columns(&mut self, c: &Columns) -> Nodes {
        let l = self.layout;
        let others = l.others.clone();
        let early = !others.is_empty();
        let mut nodes = Vec::new();
        if early {
            for window in 0..l.window.len() {
                nodes.extend(
                    self.depths(&mut |e, k, blocks, last| e.load_right(c, window, k, blocks, last)),
                );
            }
        }
        let start = |p: &Place| Amount {
            array: Some(p.array),
            constant: p.constant,
            ..Amount::default()
        };
        let block = Block {
            left: start(&l.left),
            out: start(&l.out).plus(&c.out),
            init: l
                .init
                .as_ref()
                .map(|p| start(p).plus(&c.init))
                .unwrap_or_default(),
            rows: l.block_rows(),
            buffer: 0,
        };
        nodes.extend(self.nested(&others, &block, c, !early));
        nodes
    }

    fn nested(
        &mut self,
        others: &[super::form::Range],
        block: &Block,
        c: &Columns,
        loads_right: bool,
    ) -> Nodes {
        let Some((first, rest)) = others.split_first() else {
            return self.stream(block, c, loads_right);
        };
        let l = self.layout;
        self.looped(first.extent, |e, v| {
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
            e.nested(rest, &block, c, loads_right)
        })
    }

    /// A block after so many others.
    fn block_at(&self, block: &Block, v: &Amount, rows: i64, buffer: i64) -> Block {
        let l = self.layout;
        let step = |p: &Place| match &l.stream {
            Some(stream) => {
                let pooled = l.pool.as_ref().map_or(1, |p| p.rows);
                pooled * p.step(stream.symbol)
            }
            None => l.tiles.0 * l.dim * p.step(l.rows.symbol),
        };
        Block {
            left: block.left.plus(&v.times(step(&l.left))),
            out: block.out.plus(&v.times(step(&l.out))),
            init: l
                .init
                .as_ref()
                .map(|p| block.init.plus(&v.times(step(p))))
                .unwrap_or_default(),
            rows,
            buffer,
        }
    }

    /// Blocks whose loads overlap the products of the one before.
    fn stream(&mut self, block: &Block, c: &Columns, loads_right: bool) -> Nodes {
        let l = self.layout;
        let (full, rest) = l.blocks();
        let all = full + i64::from(rest > 0);
        let rows_of = |t: i64| if t < full { block.rows } else { rest };
        let at = |e: &Self, t: i64| e.block_at(block, &Amount::of(t), rows_of(t), t % 2);
        let first = at(self, 0);
        let mut nodes = self.load_left_all(&first);
        nodes.extend(self.load_init(&first, c));
        // Rounds from `t` on that are alike: two at a time, for the two buffers.
        let mut t = 0;
        if loads_right && all > 1 {
            let (now, next) = (at(self, 0), at(self, 1));
            nodes.extend(self.stage(&now, Some(&next), c, true));
            t = 1;
        }
        let pairs = (full - 1 - t).max(0) / 2;
        let rows = block.rows;
        let base = t;
        nodes.extend(self.looped(pairs, |e, v| {
            let round = |e: &Self, k: i64| {
                e.block_at(block, &v.times(2).add(base + k), rows, (base + k) % 2)
            };
            let (a, b, d) = (round(e, 0), round(e, 1), round(e, 2));
            let mut body = e.stage(&a, Some(&b), c, false);
            body.extend(e.stage(&b, Some(&d), c, false));
            body
        }));
        t += 2 * pairs;
        while t < all {
            let now = at(self, t);
            let next = (t + 1 < all).then(|| at(self, t + 1));
            nodes.extend(self.stage(&now, next.as_ref(), c, loads_right && t == 0));
            t += 1;
        }
        nodes
    }

    /// The tiles of what is summed, in groups that one load brings.
    fn depths(&mut self, body: &mut dyn FnMut(&mut Self, &Amount, i64, i64) -> Nodes) -> Nodes {
        let l = self.layout;
        let group = self.units.blocks;
        let depth = l.depth();
        let last = l.inner.extent - (depth - 1) * l.dim;
        // The last group has the partial tile, and stands alone.
        let whole = (depth - 1) / group;
        let mut nodes = self.looped(whole, |e, v| body(e, &v.times(group), group, l.dim));
        let rest = depth - whole * group;
        nodes.extend(body(self, &Amount::of(whole * group), rest, last));
        nodes
    }

    fn load_left_all(&mut self, block: &Block) -> Nodes {
        let block = block.clone();
        self.depths(&mut |e, k, blocks, last| e.load_left(&block, k, blocks, last))
    }

    /// Some tiles of the patch of a block.
    fn load_left(&mut self, b: &Block, k: &Amount, blocks: i64, last: i64) -> Nodes {
        let l = self.layout;
        let patch = l.patch_of(b.rows);
        let columns = (blocks - 1) * l.dim + last;
        let base = b.buffer * l.depth() * l.patch;
        let small = Units::bytes(self.units.small);
        let one = |e: &Self, row: &Amount, rows: i64| {
            let from = b
                .left
                .plus(&row.times(l.pitch))
                .plus(&k.times(l.dim * small));
            let to = row.plus(&k.times(l.patch)).add(base);
            vec![Node::Do(Work {
                command: e.units.load(0, from, Units::local(&to, 0, rows, columns)),
                needs: vec![
                    e.units
                        .loading(0, Amount::of(l.pitch), l.patch, (false, 1.0)),
                ],
            })]
        };
        let mut nodes = self.looped(patch / l.dim, |e, v| one(e, &v.times(l.dim), l.dim));
        if patch % l.dim > 0 {
            nodes.extend(one(self, &Amount::of(patch - patch % l.dim), patch % l.dim));
        }
        nodes
    }

    /// Some tiles of the right factor, for a block of columns.
    fn load_right(
        &mut self,
        c: &Columns,
        window: usize,
        k: &Amount,
        blocks: i64,
        last: i64,
    ) -> Nodes {
        let l = self.layout;
        let group = self.units.blocks;
        let stride = l.right.step(l.inner.symbol);
        let small = Units::bytes(self.units.small);
        let start = Amount {
            array: Some(l.right.array),
            constant: l.right.constant + l.window[window].1,
            ..Amount::default()
        };
        let mut nodes = Vec::new();
        for tile in 0..blocks {
            let rows = if tile + 1 == blocks { last } else { l.dim };
            let k = k.add(tile);
            let from = start.plus(&c.right).plus(&k.times(l.dim * stride));
            let to = self.right_row(window, &k);
            for first in (0..c.tiles).step_by(group as usize) {
                let tiles = group.min(c.tiles - first);
                let ends = first + tiles == c.tiles;
                let columns = (tiles - 1) * l.dim + if ends { c.last } else { l.dim };
                let local = Units::local(&to.add(first * l.dim), 0, rows, columns);
                nodes.push(Node::Do(Work {
                    command: self.units.load(1, from.add(first * l.dim * small), local),
                    needs: vec![
                        self.units
                            .loading(1, Amount::of(stride), l.dim, (false, 1.0)),
                    ],
                }));
            }
        }
        nodes
    }

    /// Where a tile of the right factor lies, for the first tile of columns.
    fn right_row(&self, window: usize, k: &Amount) -> Amount {
        let l = self.layout;
        let before = window as i64 * l.depth();
        k.add(before).times(l.tiles.1 * l.dim).add(l.right_at)
    }

    /// Where sums begin, for a buffer and a tile of columns.
    fn sums(&self, buffer: i64, tile: &Amount) -> Amount {
        let l = self.layout;
        tile.times(l.span).add(buffer * l.tiles.1 * l.span)
    }

    /// Every tile of rows of a block: where it begins, how many rows it has, which is first.
    fn tiles(
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
            nodes.extend(e.looped(full - peeled, |e, v| {
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
        nodes.extend(self.looped(grid - 1, |e, v| line(e, &v.add(1), false)));
        nodes
    }

    /// What sums begin with.
    fn load_init(&mut self, b: &Block, c: &Columns) -> Nodes {
        let l = self.layout;
        let Some(init) = &l.init else {
            return Vec::new();
        };
        let stride = init.step(l.rows.symbol);
        let step = init.step(l.columns.symbol) * l.dim;
        let mut nodes = Vec::new();
        for (first, count, width) in tiles_of_columns(c, l.dim) {
            nodes.extend(self.looped(count, |e, j| {
                let j = j.add(first);
                let sums = e.sums(b.buffer, &j);
                e.tiles(b.rows, l.grid(), &mut |e, y, x, rows, _| {
                    let row = sums.plus(&y.times(b.rows)).plus(x);
                    let from = b.init.plus(&j.times(step)).plus(&x.times(stride));
                    vec![Node::Do(Work {
                        command: e.units.load(2, from, Units::local(&row, SUMS, rows, width)),
                        needs: vec![e.units.loading(2, Amount::of(stride), l.dim, (false, 1.0))],
                    })]
                })
            }));
        }
        nodes
    }

    /// The products of a block, with the loads of the next among them.
    fn stage(&mut self, b: &Block, next: Option<&Block>, c: &Columns, right: bool) -> Nodes {
        let l = self.layout;
        let windows = l.window.len();
        let mut nodes = match next {
            Some(next) => self.load_init(next, c),
            None => Vec::new(),
        };
        for window in 0..windows {
            let mut group = 0;
            let groups = ceil(l.depth(), self.units.blocks);
            let loop_of_groups = (l.depth() - 1) / self.units.blocks;
            // The first group begins the sums, the last ends them: both stand alone.
            let begins = window == 0 && l.init.is_none();
            let one = |e: &mut Self, k: &Amount, blocks: i64, last: i64, start: bool, end: bool| {
                let mut nodes = Vec::new();
                if let Some(next) = next.filter(|_| window == 0) {
                    nodes.extend(e.load_left(next, k, blocks, last));
                }
                if right {
                    nodes.extend(e.load_right(c, window, k, blocks, last));
                }
                for tile in 0..blocks {
                    let moment = Moment {
                        window,
                        first: start && tile == 0,
                        last: end && tile + 1 == blocks,
                    };
                    let width = if tile + 1 == blocks { last } else { l.dim };
                    nodes.extend(e.products(b, c, &k.add(tile), width, moment));
                }
                nodes
            };
            if begins && loop_of_groups > 0 {
                nodes.extend(one(
                    self,
                    &Amount::default(),
                    self.units.blocks,
                    l.dim,
                    true,
                    false,
                ));
                group = 1;
            }
            let size = self.units.blocks;
            nodes.extend(self.looped(loop_of_groups - group, |e, v| {
                one(e, &v.add(group).times(size), size, l.dim, false, false)
            }));
            let done = loop_of_groups * size;
            let last = l.inner.extent - (l.depth() - 1) * l.dim;
            let ends = window + 1 == windows;
            nodes.extend(one(
                self,
                &Amount::of(done),
                l.depth() - done,
                last,
                begins && groups == 1,
                ends,
            ));
        }
        if l.pool.is_some() {
            nodes.extend(self.store_pooled(b, c));
        }
        nodes
    }

    /// One tile of what is summed against all tiles of a block.
    fn products(&mut self, b: &Block, c: &Columns, k: &Amount, width: i64, m: Moment) -> Nodes {
        let l = self.layout;
        let right = self.right_row(m.window, k);
        let down = l.pool.as_ref().map_or(0, |p| p.left_step / l.pitch);
        let left = k
            .times(l.patch)
            .add(b.buffer * l.depth() * l.patch + l.window[m.window].0);
        let adds = if m.first { 0 } else { ADDS };
        let mut nodes = Vec::new();
        for (first, count, columns) in tiles_of_columns(c, l.dim) {
            nodes.extend(self.looped(count, |e, j| {
                let j = j.add(first);
                let sums = e.sums(b.buffer, &j);
                let right = right.plus(&j.times(l.dim));
                e.tiles(b.rows, l.grid(), &mut |e, y, x, rows, begins| {
                    let row = sums.plus(&y.times(b.rows)).plus(x);
                    let operand = match begins {
                        true => Units::local(&right, 0, width, columns),
                        false => Units::local(&Amount::of(GARBAGE), 0, width, columns),
                    };
                    let result = Units::local(&row, SUMS | adds, rows, columns);
                    let from = left.plus(&y.times(down)).plus(&x.times(l.a_stride()));
                    let mut nodes = vec![
                        Node::Do(Work {
                            command: e.units.preload(operand, result),
                            needs: vec![e.units.execute(l.a_stride())],
                        }),
                        Node::Do(Work {
                            command: e
                                .units
                                .multiply(Units::local(&from, 0, rows, width), !begins),
                            needs: Vec::new(),
                        }),
                    ];
                    if m.last && l.pool.is_none() {
                        nodes.push(e.store(b, &j, x, &row, (rows, columns)));
                    }
                    nodes
                })
            }));
        }
        nodes
    }

    fn store(
        &self,
        b: &Block,
        j: &Amount,
        x: &Amount,
        row: &Amount,
        (rows, columns): (i64, i64),
    ) -> Node<Work> {
        let l = self.layout;
        let stride = l.out.step(l.rows.symbol);
        let to = b
            .out
            .plus(&j.times(l.dim * l.out.step(l.columns.symbol)))
            .plus(&x.times(stride));
        let flags = SUMS | if self.finish.full { FULL } else { 0 };
        let local = Units::local(row, flags, rows, columns);
        Node::Do(Work {
            command: self.units.store(to, local),
            needs: vec![self.storing(stride, 0)],
        })
    }

    fn storing(&self, stride: i64, pool: i64) -> Command {
        let f = &self.finish;
        self.units.storing(stride, f.relu, f.scale, pool)
    }

    fn store_pooled(&mut self, b: &Block, c: &Columns) -> Nodes {
        let l = self.layout;
        let Some(pool) = &l.pool else {
            return Vec::new();
        };
        let shape = [pool.columns, pool.rows, pool.columns, l.grid(), b.rows];
        let shape = shape.iter().enumerate();
        let packed = shape.fold(pool.stride << 4 | pool.size << 6, |word, (k, n)| {
            word | n << (24 + 8 * k)
        });
        let stride = l.out.step(l.rows.symbol);
        let mut nodes = Vec::new();
        for (first, count, columns) in tiles_of_columns(c, l.dim) {
            nodes.extend(self.looped(count, |e, j| {
                let j = j.add(first);
                let to = b.out.plus(&j.times(l.dim * l.out.step(l.columns.symbol)));
                let local = Units::local(&e.sums(b.buffer, &j), SUMS, 0, columns);
                vec![Node::Do(Work {
                    command: e.units.store(to, local),
                    needs: vec![e.storing(stride, packed)],
                })]
            }));
        }
        nodes
    }
}

/// Tiles of columns that are alike: the first, how many, their columns.
fn tiles_of_columns(c: &Columns, dim: i64) -> Vec<(i64, i64, i64)> {
    match c.last == dim {
        true => vec![(0, c.tiles, dim)],
        false => vec![(0, c.tiles - 1, dim), (c.tiles - 1, 1, c.last)],
    }
}
