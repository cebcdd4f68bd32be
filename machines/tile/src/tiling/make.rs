//! The loops of a sum in tiles.
//!
//! In: a sum and a plan. Out: statements: copies of factors where tiles cannot be loaded from where
//! they lie, then for each group of tiles of results what they begin with, products, stores.

use super::choose::{Factor, Plan, Shape, Tail, typed};
use super::{Part, Segment, Variant, fresh, segments};
use crate::products::Layout;
use crate::sum::{Dim, Sum, local};
use kernel::index::{Index, Symbol};
use kernel::tree::{
    Access, Array, Assign, Expr, ExprKind, For, Id, Kernel, Op, Role, Stmt, Target,
};
use kernel::types::{Elem, Type};
use semantics::span::Span;

/// Bytes that rows of copies are a multiple of.
const WORD: i64 = 4;

/// Elements that are copied in a round.
const COPIES: i64 = 4;

/// Where the tiles of a factor are.
pub(super) struct Source {
    /// Whole tiles of the depth.
    pub(super) main: Option<Access>,
    /// The last tile of the depth, when it is apart.
    pub(super) tail: Option<Access>,
    pub(super) row: Option<Symbol>,
    pub(super) elem: Elem,
    pub(super) layout: Layout,
}

/// The loop variables of blocks, and the position in the depth of a factor.
#[derive(Clone, Copy)]
struct Inside {
    row: Symbol,
    column: Symbol,
    deep: Symbol,
    /// Among neighbours in the depth that lie together.
    near: Symbol,
}

pub(super) struct Maker<'a> {
    pub(super) kernel: &'a mut Kernel,
    pub(super) sum: &'a Sum,
    pub(super) plan: &'a Plan,
    pub(super) memory: &'a str,
    pub(super) shape: Shape<'a>,
    inside: Inside,
    /// Stands for the position in the depth in accesses to sources; in those that have packs of
    /// neighbours for the number of the pack, beside the position in it.
    pub(super) at: Symbol,
    pub(super) near: Symbol,
    /// Where results are staged.
    pub(super) stage: Option<Buffer>,
    pub(super) variant: Variant,
    pub(super) span: Span,
}

/// Gives a sum that was added up elsewhere an array, and says what is done with that.
pub(super) fn after(kernel: &mut Kernel, sum: &mut Sum) -> Vec<Stmt> {
    let Some(after) = sum.after.take() else {
        return Vec::new();
    };
    let (elem, mut statement) = (sum.value.ty.elem, after.statement);
    let dims: Vec<i64> = sum.across.iter().map(|d| d.count).collect();
    let buffer = Buffer::new(kernel, elem, dims);
    let index: Vec<Index> = sum.across.iter().map(|d| Index::Sym(d.var)).collect();
    sum.target = buffer.at(&index, sum.span);
    sum.from_zero = true;
    if let Some(begin) = &mut sum.begin
        && begin.statement.target == Target::Register(after.register)
    {
        begin.statement.target = Target::Array(sum.target.clone());
        begin.statement.value = typed(begin.statement.value.clone(), elem);
        sum.from_zero = false;
    }
    let load = Expr {
        kind: ExprKind::Load(sum.target.clone()),
        ty: Type::scalar(elem),
        span: sum.span,
    };
    let load = typed(load, after.elem);
    let replaced = |e: &mut Expr| {
        if matches!(e.kind, ExprKind::Register(r) if r == after.register) {
            *e = load.clone();
        }
    };
    let mut replace = replaced;
    statement.value.for_each_mut(&mut replace);
    wrapped(&sum.across, vec![Stmt::Assign(statement)], sum.span)
}

/// What a sum begins with, in loops of its own.
pub(super) fn begin(sum: &Sum) -> Vec<Stmt> {
    let begin = sum.begin.iter();
    let all = begin.flat_map(|b| {
        let statement = vec![Stmt::Assign(b.statement.clone())];
        wrapped(&b.dims, statement, sum.span)
    });
    all.collect()
}

/// The statements of a sum.
pub(super) fn sum(
    kernel: &mut Kernel,
    sum: &Sum,
    plan: &Plan,
    (memory, shape): (&str, Shape<'_>),
    variant: Variant,
) -> Vec<Stmt> {
    let names = ["ii", "jj", "pp", "qq", "at", "near"];
    let [row, column, deep, within, at, near] = names.map(|n| fresh(kernel, n));
    let mut maker = Maker {
        kernel,
        sum,
        plan,
        memory,
        shape,
        inside: Inside {
            row,
            column,
            deep,
            near: within,
        },
        at,
        near,
        stage: None,
        variant,
        span: sum.span,
    };
    let mut out = Vec::new();
    let left = maker.source(&plan.left, 0, &mut out);
    let right = maker.source(&plan.right, plan.right.elem.zero_of_sums(), &mut out);
    let rows = segments(&plan.left, shape.rows, variant.down);
    let columns = segments(&plan.right, shape.rows, variant.along);
    let mut groups = Vec::new();
    for down in &rows {
        let (mut body, row) = (Vec::new(), maker.begin(down, "i"));
        for along in &columns {
            let column = maker.begin(along, "j");
            let inner = maker.group((&left, &right), (&row, down), (&column, along));
            body.extend(maker.rounds(along, &column, inner));
        }
        groups.extend(maker.rounds(down, &row, body));
    }
    out.extend(wrapped(&plan.outer, groups, sum.span));
    out
}

/// A part of an array in main memory that the mapper has made.
#[derive(Clone)]
pub(crate) struct Buffer {
    array: Id,
    first: i64,
    dims: Vec<i64>,
}

impl Buffer {
    /// A new one; those of one type share an array, so that there is one address to hand over.
    pub(crate) fn new(kernel: &mut Kernel, elem: Elem, dims: Vec<i64>) -> Buffer {
        let name = format!("made_{elem}");
        let unit = WORD * 8 / i64::from(elem.bits());
        let size = dims.iter().fold(1_i64, |n, d| n.saturating_mul(*d));
        let size = (size + unit - 1) / unit * unit;
        let made = |a: &Array| a.name == name && a.role == Role::Local && a.placement.unset;
        let known = kernel.arrays.iter().position(made);
        let array = known.unwrap_or_else(|| local(kernel, &name, elem, &[0], None));
        let length = &mut kernel.arrays[array].dims[0];
        let first = length.constant_value().unwrap_or(0);
        *length = Index::Const(first.saturating_add(size));
        Buffer { array, first, dims }
    }

    pub(crate) fn at(&self, index: &[Index], span: Span) -> Access {
        let each = index.iter().zip(&self.dims);
        let place = each.fold(Index::Const(0), |at, (i, n)| at.times(*n).plus(i));
        let place = vec![place.offset(self.first).simplified()];
        Access::element(self.array, place, span)
    }
}

fn repeat((var, lo, hi, step): (Symbol, i64, i64, i64), body: Vec<Stmt>, span: Span) -> Stmt {
    Stmt::For(For {
        step,
        ..For::new(var, (Index::Const(lo), Index::Const(hi)), body, span)
    })
}

/// Statements in loops, the outermost first.
pub(crate) fn wrapped(dims: &[Dim], body: Vec<Stmt>, span: Span) -> Vec<Stmt> {
    let around = |body, d: &Dim| vec![repeat((d.var, 0, d.count, 1), body, span)];
    dims.iter().rev().fold(body, around)
}

/// A statement with an index in place of a loop variable.
fn at_place(stmt: &Stmt, var: Symbol, at: &Index) -> Stmt {
    let mut stmt = stmt.clone();
    if let Stmt::Assign(assign) = &mut stmt {
        assign.value.for_each_index_mut(&mut |i| {
            *i = i.substitute(var, at).simplified();
        });
        if let Target::Array(access) = &mut assign.target {
            *access = with(access, &[(var, at.clone())]);
        }
    }
    stmt
}

/// An access with indices in place of loop variables.
pub(super) fn with(of: &Access, replaced: &[(Symbol, Index)]) -> Access {
    let mut of = of.clone();
    for index in &mut of.index {
        let all = replaced.iter();
        *index = all.fold(index.clone(), |i, (s, by)| i.substitute(*s, by));
        *index = index.clone().simplified();
    }
    of
}

impl Maker<'_> {
    pub(super) fn load(&self, access: Access) -> Expr {
        let elem = self.kernel.arrays[access.array].elem;
        Expr {
            kind: ExprKind::Load(access),
            ty: Type::scalar(elem),
            span: self.span,
        }
    }

    pub(super) fn constant(&self, value: i128, elem: Elem) -> Expr {
        Expr {
            kind: ExprKind::Const(vec![value]),
            ty: Type::scalar(elem),
            span: self.span,
        }
    }

    pub(super) fn assign(&self, target: Access, value: Expr, accumulate: bool) -> Stmt {
        Stmt::Assign(Assign {
            target: Target::Array(target),
            accumulate,
            reassociate: false,
            value,
            span: self.span,
        })
    }

    /// Elements of a row of a factor's tile.
    pub(super) fn wide(&self) -> i64 {
        self.plan.wide
    }

    /// Iterations that do not fill the depth of a tile.
    pub(super) fn left_over(&self) -> i64 {
        self.plan.length % self.wide()
    }

    /// Where the tiles of a factor are, with the statements that make them.
    fn source(&mut self, factor: &Factor, zero: i128, out: &mut Vec<Stmt>) -> Source {
        if let Layout::Packs(pack) = factor.layout {
            return self.source_in_packs(factor, pack, zero, out);
        }
        let (wide, left, length) = (self.wide(), self.left_over(), self.plan.length);
        let mut main = None;
        if length >= wide {
            main = Some(match &factor.direct {
                Some(access) => self.in_place(access),
                None => self.packed(factor, out),
            });
        }
        let tail = match factor.tail {
            Tail::None => None,
            Tail::Shift => main.as_ref().map(|main| {
                let by = Index::Sym(self.at).offset(length - wide);
                with(main, &[(self.at, by)])
            }),
            Tail::Copy => Some(self.tail(factor, main.as_ref(), (zero, wide - left), out)),
        };
        let row = factor.row.map(|d| d.var);
        let (elem, layout) = (factor.elem, factor.layout);
        Source {
            main,
            tail,
            row,
            elem,
            layout,
        }
    }

    /// A factor's access, with the position in the depth.
    fn in_place(&self, access: &Access) -> Access {
        let mut replaced: Vec<(Symbol, Index)> = Vec::new();
        let mut place = Index::Sym(self.at);
        for dim in self.plan.depth.iter().rev() {
            replaced.push((dim.var, std::mem::replace(&mut place, Index::Const(0))));
        }
        with(access, &replaced)
    }

    /// The dimensions of a copy of a factor and the index of an element of it.
    fn shape_of(&self, factor: &Factor, deep: i64) -> (Vec<i64>, Vec<Index>) {
        let mut dims: Vec<i64> = factor.others.iter().map(|d| d.count).collect();
        let mut index: Vec<Index> = factor.others.iter().map(|d| Index::Sym(d.var)).collect();
        dims.push(factor.row.map_or(1, |d| d.count.max(self.shape.rows)));
        index.push(factor.row.map_or(Index::Const(0), |d| Index::Sym(d.var)));
        dims.push(deep);
        (dims, index)
    }

    /// The position in the depth, in terms of its loops.
    fn place(&self) -> Index {
        let depth = self.plan.depth.iter();
        let add = |at: Index, d: &Dim| at.times(d.count).plus(&Index::Sym(d.var));
        depth.fold(Index::Const(0), add).simplified()
    }

    /// A factor that is copied as a whole.
    pub(super) fn packed(&mut self, factor: &Factor, out: &mut Vec<Stmt>) -> Access {
        let bytes = i64::from(factor.elem.bits()) / 8;
        let unit = (WORD / bytes).max(1);
        let deep = (self.plan.length + unit - 1) / unit * unit;
        let (dims, index) = self.shape_of(factor, deep);
        let (buffer, span) = (Buffer::new(self.kernel, factor.elem, dims), self.span);
        let to = |at: Index| buffer.at(&[index.as_slice(), &[at]].concat(), span);
        let target = to(self.place());
        let copied = self.assign(target, factor.value.clone(), false);
        out.extend(self.over(factor, &self.plan.depth.clone(), copied));
        to(Index::Sym(self.at))
    }

    /// A statement for each element of a factor, of some loops of its depth; several are written
    /// one behind the other.
    fn over(&self, factor: &Factor, depth: &[Dim], stmt: Stmt) -> Vec<Stmt> {
        let dims = factor.others.iter().chain(&factor.row).chain(depth);
        let mut dims: Vec<Dim> = dims.copied().collect();
        let Some(last) = dims.pop() else {
            return vec![stmt];
        };
        let copy = |at: Index| at_place(&stmt, last.var, &at);
        let rounds = last.count / COPIES;
        let mut body = Vec::new();
        if rounds > 1 {
            let each = (0..COPIES).map(|k| copy(Index::Sym(last.var).offset(k)));
            let range = (last.var, 0, rounds * COPIES, COPIES);
            body.push(repeat(range, each.collect(), self.span));
        }
        let done = if rounds > 1 { rounds * COPIES } else { 0 };
        body.extend((done..last.count).map(|k| copy(Index::Const(k))));
        wrapped(&dims, body, self.span)
    }

    /// The last tile of the depth: zeros, then what is left over.
    fn tail(
        &mut self,
        factor: &Factor,
        main: Option<&Access>,
        (zero, zeros): (i128, i64),
        out: &mut Vec<Stmt>,
    ) -> Access {
        let (wide, left) = (self.wide(), self.left_over());
        let (dims, index) = self.shape_of(factor, wide);
        let (buffer, span) = (Buffer::new(self.kernel, factor.elem, dims), self.span);
        let to = |at: Index| buffer.at(&[index.as_slice(), &[at]].concat(), span);
        let var = fresh(self.kernel, "q");
        let blank = Dim { var, count: zeros };
        let nothing = self.constant(zero, factor.elem);
        let nothing = self.assign(to(Index::Sym(var)), nothing, false);
        out.extend(self.over(factor, &[blank], nothing));
        match main {
            None => {
                let target = to(self.place().offset(zeros).simplified());
                let copied = self.assign(target, factor.value.clone(), false);
                out.extend(self.over(factor, &self.plan.depth.clone(), copied));
            }
            Some(main) => {
                let var = fresh(self.kernel, "q");
                let from = Index::Sym(var).offset(self.plan.length - left);
                let value = self.load(with(main, &[(self.at, from)]));
                let target = to(Index::Sym(var).offset(zeros));
                let copied = self.assign(target, value, false);
                out.extend(self.over(factor, &[Dim { var, count: left }], copied));
            }
        }
        to(Index::Sym(self.at))
    }

    /// Where a round of a segment begins: a variable, or a number.
    fn begin(&mut self, segment: &Segment, name: &str) -> Index {
        match segment.rounds {
            1 => Index::Const(segment.first),
            _ => Index::Sym(fresh(self.kernel, name)),
        }
    }

    fn rounds(&self, segment: &Segment, begin: &Index, body: Vec<Stmt>) -> Vec<Stmt> {
        let Index::Sym(var) = begin else { return body };
        let end = segment.first + segment.rounds * segment.step;
        let range = (*var, segment.first, end, segment.step);
        vec![repeat(range, body, self.span)]
    }

    /// A block of two loops.
    fn two(&self, (x, rows): (Symbol, i64), (y, columns): (Symbol, i64), stmt: Stmt) -> Stmt {
        let inner = repeat((y, 0, columns, 1), vec![stmt], self.span);
        repeat((x, 0, rows, 1), vec![inner], self.span)
    }

    /// A new tile of a factor, loaded.
    fn loaded(&mut self, source: &Source, begin: &Index, at: &Place) -> (Id, Stmt) {
        let (lines, wide, pack) = (self.shape.rows, self.wide(), source.layout.pack());
        let dims = match source.layout {
            Layout::Lines => [lines, wide],
            Layout::Packs(pack) => [wide / pack, lines * pack],
        };
        let tile = local(self.kernel, "f", source.elem, &dims, Some(self.memory));
        let Inside {
            row, deep, near, ..
        } = self.inside;
        let from = match at.tail {
            true => source.tail.as_ref(),
            false => source.main.as_ref(),
        };
        let depth = at.depth.times(self.plan.pack / pack);
        let depth = depth.plus(&Index::Sym(deep)).simplified();
        let mut replaced = vec![(self.at, depth), (self.near, Index::Sym(near))];
        replaced.extend(at.step.clone());
        replaced.extend(source.row.map(|r| (r, begin.plus(&Index::Sym(row)))));
        let from = with(from.expect("the depth has such a tile"), &replaced);
        let to = Access::element(tile, self.of_tile(source.layout, row), self.span);
        let stmt = self.assign(to, self.load(from), false);
        let block = match source.layout {
            Layout::Lines => self.two((row, lines), (deep, wide), stmt),
            Layout::Packs(pack) => {
                let inner = self.two((row, lines), (near, pack), stmt);
                repeat((deep, 0, wide / pack, 1), vec![inner], self.span)
            }
        };
        (tile, block)
    }

    /// The index of an element of a tile of a factor.
    fn of_tile(&self, layout: Layout, line: Symbol) -> Vec<Index> {
        let Inside { deep, near, .. } = self.inside;
        match layout {
            Layout::Lines => vec![Index::Sym(line), Index::Sym(deep)],
            Layout::Packs(pack) => {
                let column = Index::Sym(line).times(pack).plus(&Index::Sym(near));
                vec![Index::Sym(deep), column.simplified()]
            }
        }
    }

    /// What a product of tiles adds.
    fn product(&self, sums: Id, (left, right): (Id, Id)) -> Stmt {
        let Inside {
            row,
            column,
            deep,
            near,
        } = self.inside;
        let pack = self.plan.pack;
        let layouts = (self.plan.left.layout, self.plan.right.layout);
        let packed = layouts != (Layout::Lines, Layout::Lines);
        let of = |tile, layout: Layout, line| {
            let mut index = self.of_tile(layout, line);
            if layout == Layout::Lines && packed {
                let by = Index::Sym(deep).times(pack).plus(&Index::Sym(near));
                let by = by.simplified();
                index = index.iter().map(|i| i.substitute(deep, &by)).collect();
            }
            typed(
                self.load(Access::element(tile, index, self.span)),
                self.plan.sum,
            )
        };
        let (x, y) = (of(left, layouts.0, row), of(right, layouts.1, column));
        // In the order of the machine: products of integers and of floats commute.
        let value = Expr {
            kind: ExprKind::Apply(Op::Mul, vec![x, y]),
            ty: Type::scalar(self.plan.sum),
            span: self.span,
        };
        let index = vec![Index::Sym(row), Index::Sym(column)];
        let stmt = self.assign(Access::element(sums, index, self.span), value, true);
        let mut inner = stmt;
        if packed {
            inner = repeat((near, 0, pack, 1), vec![inner], self.span);
        }
        let inner = repeat((deep, 0, self.wide() / pack, 1), vec![inner], self.span);
        self.two((row, self.shape.rows), (column, self.shape.rows), inner)
    }

    /// Tiles of results with what they begin with, what is added, and where they go.
    fn group(
        &mut self,
        sources: (&Source, &Source),
        (row, down): (&Index, &Segment),
        (column, along): (&Index, &Segment),
    ) -> Vec<Stmt> {
        let mut tiles = Vec::new();
        for x in &down.tiles {
            for y in &along.tiles {
                tiles.push(self.result((row, *x), (column, *y), tiles.len()));
            }
        }
        for tile in tiles.iter_mut().filter(|t| t.staged) {
            tile.stage = Some(self.stage());
        }
        let mut out = Vec::new();
        if !self.sum.from_zero {
            out.extend(tiles.iter().filter_map(|t| self.staged(t, true)));
        }
        out.extend(tiles.iter().map(|t| self.first(t)));
        let starts = |begin: &Index, s: &Segment| {
            let all = s.tiles.iter().map(|t| begin.offset(t.offset).simplified());
            all.collect::<Vec<_>>()
        };
        let (rows, columns) = (starts(row, down), starts(column, along));
        let sums: Vec<Id> = tiles.iter().map(|t| t.tile).collect();
        out.extend(self.added(Tiles {
            sources,
            rows: &rows,
            columns: &columns,
            sums: &sums,
        }));
        out.extend(tiles.iter().map(|t| self.last(t)));
        out.extend(tiles.iter().filter_map(|t| self.staged(t, false)));
        out
    }

    /// The array through which results go that cannot be moved as tiles.
    fn stage(&mut self) -> Buffer {
        let most = self.variant.down * self.variant.along;
        let dims = vec![most, self.shape.rows, self.columns()];
        let sum = self.plan.sum;
        let stage = self.stage.take();
        let stage = stage.unwrap_or_else(|| Buffer::new(self.kernel, sum, dims));
        self.stage = Some(stage.clone());
        stage
    }

    /// Products over the loops that add.
    fn added(&mut self, tiles: Tiles<'_>) -> Vec<Stmt> {
        let wide = self.wide();
        let whole = self.plan.length / wide;
        let left = self.left_over() > 0;
        let many = self.variant.rounds;
        let (mut out, steps) = (Vec::new(), &self.plan.steps);
        // With one tile of depth the loop around it is that of the places.
        if let (Some((last, around)), true) = (steps.split_last(), whole + i64::from(left) == 1) {
            let at = |k: Index| Place {
                depth: Index::Const(0),
                tail: left,
                step: Some((last.var, k)),
            };
            self.places(tiles, (last.count, many), 1, &at, Vec::new(), &mut out);
            return wrapped(around, out, self.span);
        }
        let at = |depth: Index| Place {
            depth,
            tail: false,
            step: None,
        };
        let last = left.then(|| Place {
            tail: true,
            ..at(Index::Const(0))
        });
        let last = Vec::from_iter(last);
        let step = wide / self.plan.pack;
        self.places(tiles, (whole, many), step, &at, last, &mut out);
        wrapped(&self.plan.steps, out, self.span)
    }

    /// Products at so many places, several in a round, then at those that are left over.
    fn places(
        &mut self,
        tiles: Tiles<'_>,
        (count, many): (i64, i64),
        step: i64,
        at: &dyn Fn(Index) -> Place,
        last: Vec<Place>,
        out: &mut Vec<Stmt>,
    ) {
        let each = many.min(count.max(1));
        let mut done = 0;
        if count / each > 1 {
            done = count / each * each;
            let var = fresh(self.kernel, "p");
            let place = |k: i64| at(Index::Sym(var).offset(k * step).simplified());
            let places: Vec<Place> = (0..each).map(place).collect();
            let body = self.products(tiles, &places);
            let range = (var, 0, done * step, each * step);
            out.push(repeat(range, body, self.span));
        }
        let rest = (done..count).map(|k| at(Index::Const(k * step)));
        let places: Vec<Place> = rest.chain(last).collect();
        out.extend(self.products(tiles, &places));
    }

    /// Products at places of the depth; what the next one needs is loaded before each.
    fn products(&mut self, tiles: Tiles<'_>, places: &[Place]) -> Vec<Stmt> {
        let Tiles {
            sources,
            rows,
            columns,
            sums,
        } = tiles;
        let mut pieces: Vec<(Vec<Stmt>, Stmt)> = Vec::new();
        for at in places {
            let (mut left, mut right) = (vec![None; rows.len()], vec![None; columns.len()]);
            for x in 0..rows.len() {
                for y in 0..columns.len() {
                    let mut loads = Vec::new();
                    let mut tile = |known: &mut Option<Id>, source: &Source, begin: &Index| {
                        *known.get_or_insert_with(|| {
                            let (tile, load) = self.loaded(source, begin, at);
                            loads.push(load);
                            tile
                        })
                    };
                    let l = tile(&mut left[x], sources.0, &rows[x]);
                    let r = tile(&mut right[y], sources.1, &columns[y]);
                    let sum = sums[x * columns.len() + y];
                    pieces.push((loads, self.product(sum, (l, r))));
                }
            }
        }
        let mut out = Vec::new();
        let mut before: Option<Stmt> = None;
        for (loads, product) in pieces {
            out.extend(loads);
            out.extend(before.replace(product));
        }
        out.extend(before);
        out
    }

    fn columns(&self) -> i64 {
        self.shape.bytes * 8 / i64::from(self.plan.sum.bits())
    }

    /// A tile of results.
    fn result(
        &mut self,
        (row, x): (&Index, Part),
        (column, y): (&Index, Part),
        number: usize,
    ) -> Result {
        let dims = [self.shape.rows, self.columns()];
        let tile = local(self.kernel, "sum", self.plan.sum, &dims, Some(self.memory));
        let whole = |p: Part| p.to == self.shape.rows && (p.from == 0 || self.sum.from_zero);
        Result {
            tile,
            begins: (
                row.offset(x.offset).simplified(),
                column.offset(y.offset).simplified(),
            ),
            parts: (x, y),
            staged: !(self.plan.in_place && whole(x) && whole(y)),
            stage: None,
            number: number as i64,
        }
    }

    /// The element of the target that an element of a tile of results is.
    fn target(&self, of: &Result) -> Access {
        let Inside { row, column, .. } = self.inside;
        let mut replaced = Vec::new();
        let rows = (self.plan.left.row, &of.begins.0, row);
        let columns = (self.plan.right.row, &of.begins.1, column);
        for (dim, begin, var) in [rows, columns] {
            replaced.extend(dim.map(|d| (d.var, begin.plus(&Index::Sym(var)))));
        }
        with(&self.sum.target, &replaced)
    }

    /// An element of a tile of results, and of where it is staged.
    fn own(&self, of: &Result) -> (Access, Option<Access>) {
        let Inside { row, column, .. } = self.inside;
        let index = [Index::Sym(row), Index::Sym(column)];
        let stage = [&[Index::Const(of.number)], index.as_slice()].concat();
        let stage = of.stage.as_ref().map(|s| s.at(&stage, self.span));
        (Access::element(of.tile, index.to_vec(), self.span), stage)
    }

    /// What a tile of results begins with.
    fn first(&self, of: &Result) -> Stmt {
        let (tile, stage) = self.own(of);
        let value = match self.sum.from_zero {
            true => self.constant(0, self.plan.sum),
            false => self.load(stage.unwrap_or_else(|| self.target(of))),
        };
        self.tile_of_results(self.assign(tile, value, false))
    }

    /// Where it goes.
    fn last(&self, of: &Result) -> Stmt {
        let (tile, stage) = self.own(of);
        let target = stage.unwrap_or_else(|| self.target(of));
        self.tile_of_results(self.assign(target, self.load(tile), false))
    }

    fn tile_of_results(&self, stmt: Stmt) -> Stmt {
        let Inside { row, column, .. } = self.inside;
        self.two((row, self.shape.rows), (column, self.columns()), stmt)
    }

    /// Copies of the elements that are results, from the target or to it.
    fn staged(&self, of: &Result, fetch: bool) -> Option<Stmt> {
        let (x, y) = of.parts;
        let Inside { row, column, .. } = self.inside;
        let stage = self.own(of).1?;
        let target = self.target(of);
        let stmt = match fetch {
            true => self.assign(stage, self.load(target), false),
            false => self.assign(target, self.load(stage), false),
        };
        let each = (y.from..y.to).map(|k| at_place(&stmt, column, &Index::Const(k)));
        Some(repeat((row, x.from, x.to, 1), each.collect(), self.span))
    }
}

/// Tiles of results that are summed together: where their factors are, and where they begin.
#[derive(Clone, Copy)]
struct Tiles<'t> {
    sources: (&'t Source, &'t Source),
    rows: &'t [Index],
    columns: &'t [Index],
    sums: &'t [Id],
}

/// Where products are made: the position in the depth, in packs, whether that is its last tile, and the
/// iteration of a loop around.
struct Place {
    depth: Index,
    tail: bool,
    step: Option<(Symbol, Index)>,
}

/// A tile of results.
struct Result {
    tile: Id,
    /// Where it begins, down and along.
    begins: (Index, Index),
    parts: (Part, Part),
    /// Whether it goes through a copy, which one, and where there.
    staged: bool,
    stage: Option<Buffer>,
    number: i64,
}
