//! Which loop is which side of the array, how large blocks are, and where their rows lie.
//!
//! In: a `SumOfProducts` that is a product, the machine's sizes, tiles that are asked for. Out:
//! [`Layout`], or what does not fit and what would. The factor of the outer loop over blocks
//! stays in the scratchpad; the other one streams through the buffers in turn. The left factor
//! is a patch of neighbouring rows, so that windows that overlap are loaded once; sums alternate
//! between as many parts of the accumulator as there are buffers.

use super::form::{Place, Range, SumOfProducts};
use super::plan::{LoopOrder, Plan, Stationary};
use super::units::{TRANSPOSED, Transposed, Units};
use crate::error::MappingError;

/// Roles, sizes and rows.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub(crate) left: Place,
    pub(crate) right: Place,
    pub(crate) out: Place,
    pub(crate) init: Option<Place>,
    /// Rows, columns, and what is summed inside a tile.
    pub(crate) rows: Range,
    pub(crate) columns: Range,
    pub(crate) inner: Range,
    /// What the array transposes: a left factor whose rows are what is summed, a right one whose
    /// rows are columns.
    pub(crate) transposed: Transposed,
    /// Loops over results outside blocks.
    pub(crate) others: Vec<Range>,
    /// Loops around everything: each round has a right factor of its own.
    pub(crate) rounds: Vec<Range>,
    /// The loop whose rounds overlap, when it is not the one over blocks of rows.
    pub(crate) stream: Option<Range>,
    /// Rows of the left factor and bytes of the right one, for each place of a window.
    pub(crate) window: Vec<(i64, i64)>,
    pub(crate) pool: Option<Pool>,
    /// Bytes from one row of the left factor's patch to the next.
    pub(crate) pitch: i64,
    /// Tiles of a block: of rows and of columns.
    pub(crate) tiles: (i64, i64),
    /// How blocks are walked over.
    pub(crate) plan: Plan,
    pub(crate) dim: i64,
    /// Rows of the scratchpad where the right factor begins.
    pub(crate) right_at: i64,
    /// Rows of a patch.
    pub(crate) patch: i64,
    /// Rows of sums of one tile of columns.
    pub(crate) span: i64,
}

/// The greatest of a window of results.
#[derive(Clone, Debug)]
pub(crate) struct Pool {
    pub(crate) size: i64,
    pub(crate) stride: i64,
    /// Results in a row, and how many rows of results a block makes.
    pub(crate) columns: i64,
    pub(crate) rows: i64,
    /// Steps of the left factor for one row of unpooled results.
    pub(crate) left_step: i64,
    /// The loop over rows of results.
    pub(crate) y: Range,
}

impl Layout {
    /// Tiles of what is summed.
    pub(crate) fn depth(&self) -> i64 {
        ceil(self.inner.extent, self.dim)
    }

    /// Rows from one row of a tile to the next.
    pub(crate) fn a_stride(&self) -> i64 {
        match self.transposed[0] {
            true => 1,
            false => self.row_step() / self.pitch,
        }
    }

    /// Bytes of the left factor from one row to the next.
    fn row_step(&self) -> i64 {
        self.left.step(self.rows.symbol)
    }

    /// Rows of unpooled results in a block, beside each other.
    pub(crate) fn grid(&self) -> i64 {
        self.pool
            .as_ref()
            .map_or(1, |p| p.stride * (p.rows - 1) + p.size)
    }

    /// Rows of a patch for so many rows of a block.
    pub(crate) fn patch_of(&self, length: i64) -> i64 {
        if self.transposed[0] {
            return ceil(length, self.dim) * self.dim;
        }
        let window = self.window.iter().map(|w| w.0).max().unwrap_or(0);
        let down = self.pool.as_ref().map_or(0, |p| p.left_step / self.pitch);
        window + (length - 1) * self.a_stride() + (self.grid() - 1) * down + 1
    }

    /// How many rows of pooled results a block may have.
    pub(crate) fn pooled(&self) -> Vec<i64> {
        match &self.pool {
            Some(pool) => (1..=8).filter(|n| pool.y.extent % n == 0).collect(),
            None => vec![1],
        }
    }

    /// Rows of a block, when it is full.
    pub(crate) fn block_rows(&self) -> i64 {
        (self.tiles.0 * self.dim).min(self.rows.extent)
    }

    /// Blocks that follow each other: full ones, and rows of the last.
    pub(crate) fn blocks(&self) -> (i64, i64) {
        match &self.stream {
            Some(stream) => (stream.extent, 0),
            None => (
                self.rows.extent / self.block_rows(),
                self.rows.extent % self.block_rows(),
            ),
        }
    }

    /// Why sums of floats would be others than the kernel's, which adds one product after the
    /// other to what the sum begins with: nothing is re-associated.
    pub(crate) fn other_sums(&self) -> Option<(&'static str, &'static str)> {
        if self.init.is_some() {
            return Some((
                "what a sum of floats begins with would be added last",
                "begin with 0; the accumulator adds to what is there once products are summed",
            ));
        }
        let several = self.window.len() as i64 * self.depth() > 1;
        (several && self.plan.stationary == Stationary::Weights).then_some((
            "with stationary weights the products of each tile are summed before they are added",
            "take `--stationary outputs`, which adds one product of floats after the other",
        ))
    }

    /// Blocks of columns.
    pub(crate) fn groups(&self) -> i64 {
        ceil(ceil(self.columns.extent, self.dim), self.tiles.1)
    }

    /// Buffers of the right factor: it streams when blocks of rows are outermost.
    pub(crate) fn right_buffers(&self) -> i64 {
        match self.plan.outer {
            LoopOrder::Columns => 1,
            LoopOrder::Rows => self.plan.buffers,
        }
    }

    /// Rows of a block of the right factor.
    pub(crate) fn right_rows(&self) -> i64 {
        self.window.len() as i64 * self.depth() * self.tiles.1 * self.dim
    }

    pub(crate) fn spad_rows(&self) -> i64 {
        self.right_at + self.right_buffers() * self.right_rows()
    }

    pub(crate) fn sum_rows(&self) -> i64 {
        self.plan.buffers * self.tiles.1 * self.span
    }

    /// Cycles of the array for so many rows beside a tile of the right factor, a window and
    /// all that is summed; a new tile takes as many as it has rows.
    pub(crate) fn passes(&self, rows: i64) -> i64 {
        let (dim, steps) = (self.dim, self.window.len() as i64 * self.depth());
        let (full, rest) = (rows / dim, rows % dim);
        let grid = self.grid();
        // The array takes no less for a few rows.
        let part = if rest > 0 { rest.max(4) } else { 0 };
        match self.plan.stationary {
            Stationary::Weights => {
                let first = if full > 0 { 0 } else { dim - part };
                steps * (grid * (full * dim + part) + first)
            }
            Stationary::Outputs => {
                let begins = if rest > 0 { dim - part } else { 0 };
                grid * (steps * (full * dim + part) + begins)
            }
        }
    }

    /// What a program takes, roughly: the slower of moving and computing in each block.
    fn estimate(&self, units: &Units) -> i64 {
        let small = Units::bytes(units.small);
        let depth = self.depth();
        let (full, rest) = self.blocks();
        let blocks = full + i64::from(rest > 0);
        let rows = self.grid() * ceil(self.block_rows(), self.dim);
        let window = self.window.len() as i64;
        let compute = match self.plan.stationary {
            Stationary::Weights => rows * self.tiles.1 * window * depth * self.dim,
            Stationary::Outputs => self.tiles.1 * self.passes(self.block_rows()),
        };
        let sums = rows * self.tiles.1 * self.dim;
        let bias = if self.init.is_some() { sums } else { 0 };
        let load = depth * self.patch * ceil(self.dim * small, 16) + bias;
        let right = window * depth * self.tiles.1 * self.dim * ceil(self.dim * small, 16);
        let groups = self.groups();
        let others: i64 = self.others.iter().map(|o| o.extent).product();
        let left = if self.plan.buffers == 1 { load } else { 0 };
        match self.plan.outer {
            LoopOrder::Columns => {
                let stage = compute.max(load).max(sums) + left;
                groups * (right + others * (blocks * stage + load))
            }
            LoopOrder::Rows => {
                let stage = compute.max(right + load / groups).max(sums) + left / groups;
                others * (blocks * groups * stage + load)
            }
        }
    }
}

pub(crate) fn ceil(a: i64, b: i64) -> i64 {
    (a + b - 1) / b
}

/// Loops that are one: a round of the outer begins where the inner one ends.
pub(crate) fn fused(mut ranges: Vec<Range>, places: &[&Place]) -> Vec<Range> {
    ranges.retain(|r| r.extent > 1);
    loop {
        let found = (0..ranges.len()).find_map(|p| {
            let inner = (0..ranges.len()).find(|&q| {
                let (outer, inner) = (ranges[p], ranges[q]);
                p != q
                    && places
                        .iter()
                        .all(|x| x.step(outer.symbol) == inner.extent * x.step(inner.symbol))
            });
            inner.map(|q| (p, q))
        });
        let Some((p, q)) = found else {
            return ranges;
        };
        ranges[q].extent *= ranges[p].extent;
        ranges.remove(p);
    }
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a.abs() } else { gcd(b, a % b) }
}

/// A loop that runs once, for a side that has none.
pub(crate) fn once() -> Range {
    Range {
        symbol: kernel::index::Symbol(u32::MAX),
        extent: 1,
    }
}

/// Which factor is which side of the array, and the loops that say so.
struct Sides {
    columns: Range,
    inner: Range,
    left: Place,
    right: Place,
    transposed: Transposed,
}

/// The sides of a product: as factors lie where that is possible, else with the array's transposers.
fn sides(form: &SumOfProducts, units: &Units, bytes: (i64, i64)) -> Result<Sides, MappingError> {
    let possible = |t: &Transposed| {
        let kept = [Stationary::Weights, Stationary::Outputs];
        kept.iter().any(|k| units.transposes(*k, *t))
    };
    let mut first = None;
    for transposed in TRANSPOSED.into_iter().filter(possible) {
        match sides_of(form, bytes, transposed) {
            Ok(sides) => return Ok(sides),
            Err(refused) => first = first.or(Some(refused)),
        }
    }
    let (message, hint) = first.unwrap_or(NO_COLUMNS);
    Err(MappingError::new(form.span, message, hint))
}

/// A message and a hint.
type MessageAndHint = (&'static str, &'static str);

const NO_COLUMNS: MessageAndHint = (
    "no loop walks neighbours both of the result and of one factor",
    "exchange dimensions, so that the last one of the result is the last of a factor",
);
const NO_SUM: MessageAndHint = (
    "no loop over products walks neighbours of the left factor",
    "exchange dimensions, so that what is summed is the last one of the left factor",
);

/// The sides of a product of which these are transposed.
fn sides_of(
    form: &SumOfProducts,
    (small, out): (i64, i64),
    transposed: Transposed,
) -> Result<Sides, MessageAndHint> {
    let factors = [&form.sources[0].0, &form.sources[1].0];
    // The columns are neighbours in the result, and move one factor only; a loop that runs once is
    // where there is no other.
    let (single, several): (Vec<Range>, Vec<Range>) =
        form.outer.iter().partition(|r| r.extent == 1);
    let column = several.into_iter().chain(single).find_map(|r| {
        let neighbours = form.out.step(r.symbol) == out || r.extent == 1;
        let moves = |p: &Place| match transposed[1] {
            true => p.step(r.symbol) != 0,
            false => p.step(r.symbol) == small,
        };
        let right = (0..2).find(|&at| moves(factors[at]));
        right
            .filter(|at| neighbours && factors[1 - at].step(r.symbol) == 0)
            .map(|at| (r, at))
    });
    let (columns, at) = column.ok_or(NO_COLUMNS)?;
    let (left, right) = (factors[1 - at].clone(), factors[at].clone());
    let summed = |r: &&Range| {
        let (down, along) = (left.step(r.symbol), right.step(r.symbol));
        let left = if transposed[0] {
            down > 0
        } else {
            down == small
        };
        left && if transposed[1] {
            along == small
        } else {
            along != 0
        }
    };
    let inner = *form.reduce.iter().find(summed).ok_or(NO_SUM)?;
    if transposed[0] {
        // No windows: their rows overlap in the scratchpad only as they are stored.
        let alone = form
            .reduce
            .iter()
            .all(|r| r.symbol == inner.symbol || r.extent == 1);
        let rows = |r: &Range| {
            left.step(r.symbol) == small && right.step(r.symbol) == 0 && r.symbol != columns.symbol
        };
        if !alone || !form.pool.is_empty() || !form.outer.iter().any(rows) {
            return Err(NO_SUM);
        }
    }
    Ok(Sides {
        columns,
        inner,
        left,
        right,
        transposed,
    })
}

/// Roles without sizes of blocks.
pub(crate) fn roles(
    form: &SumOfProducts,
    units: &Units,
    sizes: [i64; 3],
) -> Result<Layout, MappingError> {
    let [small, wide, out_bytes] = sizes;
    let (mut outer, mut pool) = (form.outer.clone(), None);
    let mut rows_of_pool = None;
    let refuse =
        |message: &str, hint: &str| -> MappingError { MappingError::new(form.span, message, hint) };
    let Sides {
        columns,
        inner,
        left,
        right,
        transposed,
    } = sides(form, units, (small, out_bytes))?;
    outer.retain(|r| r.symbol != columns.symbol);
    if !form.pool.is_empty() {
        let (found, row, y) = pooling(form, &left, &outer).ok_or_else(|| {
            refuse(
                "this window of results is no pooling that a store does",
                "pool `max` over two loops of one size, with subscripts `stride * y + dy`",
            )
        })?;
        if right.step(y.symbol) != 0 || right.step(row.0.symbol) != 0 {
            return Err(refuse(
                "the factor that stays moves with the window of results",
                "pool results of one right factor",
            ));
        }
        outer.retain(|r| r.symbol != row.0.symbol && r.symbol != y.symbol);
        pool = Some(found);
        rows_of_pool = Some(row);
    }
    let mut places = vec![&left, &right, &form.out];
    places.extend(&form.init);
    let mut left = left.clone();
    let others: Vec<Range> = fused(outer, &places);
    let rows: Vec<Range> = match rows_of_pool {
        Some((range, step)) => {
            left.steps.insert(range.symbol, step);
            vec![range]
        }
        None => {
            let fits = |r: &&Range| {
                let down = match transposed[0] {
                    true => left.step(r.symbol) == small,
                    false => left.step(r.symbol) > 0,
                };
                down && right.step(r.symbol) == 0 && form.out.step(r.symbol) > 0
            };
            others.iter().filter(fits).copied().collect()
        }
    };
    let (rounds, others): (Vec<Range>, Vec<Range>) =
        others.into_iter().partition(|r| right.step(r.symbol) != 0);
    let mut window: Vec<Range> = form.reduce.clone();
    window.retain(|r| r.symbol != inner.symbol && r.extent > 1);
    let steps = left.steps.iter().filter(|(s, _)| **s != inner.symbol);
    let pitch = steps.map(|s| *s.1).fold(0, gcd);
    let pitch = if pitch == 0 {
        inner.extent * small
    } else {
        pitch
    };
    let negative = left
        .steps
        .values()
        .chain(right.steps.values())
        .any(|s| *s < 0);
    if negative {
        return Err(refuse("a subscript runs backwards", "turn the loop round"));
    }
    let mut places = vec![(0, 0)];
    for r in &window {
        places = places
            .iter()
            .flat_map(|&(x, y)| {
                let (p, q) = (left.step(r.symbol) / pitch, right.step(r.symbol));
                (0..r.extent).map(move |k| (x + k * p, y + k * q))
            })
            .collect();
    }
    let along = |p: &Place| columns.extent == 1 || p.step(columns.symbol) == wide;
    if !form.init.as_ref().is_none_or(along) {
        return Err(refuse(
            "what sums begin with does not lie along the columns of results, from which the \
             accumulator is loaded",
            "begin with an element for each column, or with 0",
        ));
    }
    let roles = Layout {
        left,
        right,
        out: form.out.clone(),
        init: form.init.clone(),
        rows: once(),
        columns,
        inner,
        transposed,
        others,
        rounds,
        stream: None,
        window: places,
        pool,
        pitch,
        tiles: (1, 1),
        plan: Plan::default(),
        dim: units.dim,
        right_at: 0,
        patch: 0,
        span: 0,
    };
    Ok(with_rows(roles, rows, units, form))
}

/// The loop over rows is the one with which a program takes least, roughly: the rows of its blocks
/// lie beside each other in a patch, and a loop whose rows lie far apart loads what is between.
fn with_rows(roles: Layout, mut rows: Vec<Range>, units: &Units, form: &SumOfProducts) -> Layout {
    rows.sort_by_key(|r| std::cmp::Reverse(r.extent));
    let of = |r: Range| {
        let mut layout = roles.clone();
        layout.rows = r;
        layout.others.retain(|o| o.symbol != r.symbol);
        layout
    };
    let takes = |l: &Layout| sized(l, units, None, form).map_or(i64::MAX, |l| l.estimate(units));
    let best = rows.into_iter().map(of).min_by_key(takes);
    best.unwrap_or_else(|| of(once()))
}

/// The window of a store with pooling, the unpooled row and the loop over rows of results.
fn pooling(
    form: &SumOfProducts,
    left: &Place,
    outer: &[Range],
) -> Option<(Pool, (Range, i64), Range)> {
    let [dy, dx] = form.pool[..] else { return None };
    let size = (dy.extent == dx.extent).then_some(dy.extent)?;
    // The loops of a window whose rows are the larger steps.
    let (dy, dx) = if left.step(dy.symbol) > left.step(dx.symbol) {
        (dy, dx)
    } else {
        (dx, dy)
    };
    let (x, stride, step) = outer.iter().copied().find_map(|r| {
        let (whole, step) = (left.step(r.symbol), left.step(dx.symbol));
        (step > 0 && whole % step == 0 && (1..=3).contains(&(whole / step)))
            .then(|| (r, whole / step, step))
    })?;
    let y = outer
        .iter()
        .copied()
        .find(|r| r.symbol != x.symbol && left.step(r.symbol) == stride * left.step(dy.symbol))?;
    let unpooled = Range {
        symbol: x.symbol,
        extent: stride * (x.extent - 1) + size,
    };
    let pool = Pool {
        size,
        stride,
        columns: x.extent,
        rows: 1,
        left_step: left.step(dy.symbol),
        y,
    };
    Some((pool, (unpooled, step), y))
}

/// Chooses blocks; `wanted` are tiles of rows, or with pooling rows of results, and tiles of
/// columns.
pub(crate) fn sized(
    roles: &Layout,
    units: &Units,
    wanted: Option<(i64, i64)>,
    form: &SumOfProducts,
) -> Result<Layout, MappingError> {
    let all_rows = ceil(roles.rows.extent, units.dim);
    let all_columns = ceil(roles.columns.extent, units.dim);
    let one = |tiles: (i64, i64), pooled: i64| one(roles, units, tiles, pooled);
    let fits = |l: &Layout| l.spad_rows() <= units.spad_rows && l.sum_rows() <= units.sum_rows;
    let pooled = roles.pooled();
    if let Some(tiles) = wanted {
        let rows = pooled.iter().rev().find(|n| **n <= tiles.0);
        let layout = one(
            (tiles.0.clamp(1, all_rows), tiles.1.clamp(1, all_columns)),
            rows.copied().unwrap_or(1),
        );
        if fits(&layout) {
            return Ok(layout);
        }
        return Err(over(&layout, &one((1, 1), 1), tiles, units, form));
    }
    let mut best: Option<(i64, Layout)> = None;
    for rows in 1..=all_rows.min(16) {
        for columns in 1..=all_columns.min(16) {
            for &pooled in &pooled {
                let layout = one((rows, columns), pooled);
                if !fits(&layout) {
                    continue;
                }
                let estimate = layout.estimate(units);
                if best.as_ref().is_none_or(|b| estimate < b.0) {
                    best = Some((estimate, layout));
                }
            }
        }
    }
    match best {
        Some((_, layout)) => Ok(layout),
        None => {
            let least = one((1, 1), 1);
            Err(over(&least, &least, (1, 1), units, form))
        }
    }
}

pub(crate) fn one(roles: &Layout, units: &Units, tiles: (i64, i64), pooled: i64) -> Layout {
    let mut layout = roles.clone();
    layout.tiles = tiles;
    if let Some(pool) = &mut layout.pool {
        pool.rows = pooled;
        layout.tiles.0 = ceil(roles.rows.extent, units.dim);
        layout.stream = Some(Range {
            symbol: pool.y.symbol,
            extent: pool.y.extent / pooled,
        });
    } else if layout.block_rows() == layout.rows.extent {
        // One block has all rows: another loop's rounds overlap.
        let longest = (0..layout.others.len()).max_by_key(|&k| layout.others[k].extent);
        layout.stream = Some(match longest {
            Some(k) => layout.others.remove(k),
            None => once(),
        });
    }
    layout.patch = layout.patch_of(layout.block_rows());
    layout.span = layout.grid() * layout.block_rows();
    layout.right_at = layout.plan.buffers * layout.depth() * layout.patch;
    layout
}

/// A tile that does not fit.
fn over(
    layout: &Layout,
    least: &Layout,
    tiles: (i64, i64),
    units: &Units,
    form: &SumOfProducts,
) -> MappingError {
    let message = format!(
        "a block of {} by {} tiles needs {} rows of the scratchpad and {} of the accumulator; \
         there are {} and {}",
        tiles.0,
        tiles.1,
        layout.spad_rows(),
        layout.sum_rows(),
        units.spad_rows,
        units.sum_rows
    );
    let fits = least.spad_rows() <= units.spad_rows && least.sum_rows() <= units.sum_rows;
    let hint = match fits {
        true => format!(
            "the smallest block, 1x1, fits: it needs {} and {}; take `--tile 1x1` or larger",
            least.spad_rows(),
            least.sum_rows()
        ),
        false => format!(
            "the smallest block, 1x1, needs {} and {}: take smaller sizes of what is summed, or \
             a machine with more rows",
            least.spad_rows(),
            least.sum_rows()
        ),
    };
    MappingError::new(form.span, message, hint)
}
