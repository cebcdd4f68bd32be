//! Which loops of a sum go down the rows, along the columns and into the depth of tiles, and how
//! its factors get there.
//!
//! In: a [`Sum`], the shape of tiles. Out: the [`Plan`] that takes least by an estimate, or none
//! where the host alone is cheaper. Where tiles of main memory hold what a factor needs, they are
//! loaded from there; else the factor is copied into rows that have it so.

use crate::products::{Layout, Product};
use crate::sum::{Dim, Sum, flat};
use kernel::index::{Linear, Symbol};
use kernel::tree::{Access, Expr, ExprKind, Kernel, Op};
use kernel::types::{Elem, Type};
use kernel::values::{Values, within};

/// Rows of a tile, and bytes of one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape<'m> {
    /// The products that the machine has.
    pub(crate) products: &'m [Product],
    pub(crate) rows: i64,
    pub(crate) bytes: i64,
    /// Whether tiles begin at words.
    pub(crate) aligned: bool,
    /// Tile registers.
    pub(crate) registers: i64,
}

/// Bytes of a word of memory that tiles are moved in.
const WORD: i64 = 4;

/// Cycles of the host for an element that is copied, for one that is multiplied and added, and
/// for a product of tiles with its loads, about.
pub(crate) const COPIED: i64 = 8;
pub(crate) const ADDED: i64 = 12;
const PRODUCT: i64 = 7;

/// One factor of what is added.
#[derive(Clone, Debug)]
pub(crate) struct Factor {
    /// Its elements, of the type that tiles have.
    pub(crate) value: Expr,
    /// Where it lies, when tiles are loaded from there.
    pub(crate) direct: Option<Access>,
    /// The loop of which there is a row for each iteration.
    pub(crate) row: Option<Dim>,
    /// Other loops that move it, without those of the depth.
    pub(crate) others: Vec<Dim>,
    /// How its last iterations of the depth get into a tile.
    pub(crate) tail: Tail,
    /// The type of its elements in tiles, and how they lie there.
    pub(crate) elem: Elem,
    pub(crate) layout: Layout,
}

/// What becomes of the iterations that do not fill the depth of a tile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Tail {
    /// There are none.
    None,
    /// The last whole tile, of which some was used before: the other factor is 0 there.
    Shift,
    /// A copy that begins with zeros.
    Copy,
}

/// How a sum is made of tiles.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// What is down the rows of results, and what is along their columns.
    pub(crate) left: Factor,
    pub(crate) right: Factor,
    /// The loops of the depth, of which the last moves fastest, and how often they run together.
    pub(crate) depth: Vec<Dim>,
    pub(crate) length: i64,
    /// The other loops that add, and the other loops that move results.
    pub(crate) steps: Vec<Dim>,
    pub(crate) outer: Vec<Dim>,
    /// How many products of elements a product of tiles sums for each result.
    pub(crate) wide: i64,
    /// Neighbours in the depth that lie together in a factor's tile.
    pub(crate) pack: i64,
    /// The type of sums.
    pub(crate) sum: Elem,
    /// Whether results are loaded and stored where they lie.
    pub(crate) in_place: bool,
    /// How many products of tiles there are.
    pub(crate) products: i64,
    cycles: i64,
}

/// What becomes of a sum.
pub(crate) enum Choice {
    /// Tiles.
    Tiles(Box<Plan>),
    /// Code of the host, which is cheaper.
    Host,
    /// It is no sum of products.
    None,
}

/// The cheapest plan.
pub(crate) fn choose(kernel: &Kernel, sum: &Sum, shape: Shape<'_>) -> Choice {
    let Some((first, second)) = factors(&sum.value) else {
        return Choice::None;
    };
    let orders = [(&first, &second), (&second, &first)];
    let all = orders.iter().flat_map(|&(left, right)| {
        let products = shape.products.iter();
        products.filter_map(move |p| takes(p, sum, (left, right)).then_some((p, left, right)))
    });
    // The narrowest elements that hold both: more of them fill a tile.
    let narrow = all.clone().map(|(p, ..)| p.elems.0.bits()).min();
    let all = all.filter(|(p, ..)| Some(p.elems.0.bits()) == narrow);
    let mut best: Option<Plan> = None;
    let none = || std::iter::once(None);
    for (product, left, right) in all {
        let elems = match product.elems.0.bits() == sum.value.ty.elem.bits() {
            true => (sum.value.ty.elem, sum.value.ty.elem),
            false => product.elems,
        };
        let product = &Product { elems, ..*product };
        let left = &typed(left.clone(), elems.0);
        let right = &typed(right.clone(), elems.1);
        let rows = rows_of(sum, left, right);
        let columns = rows_of(sum, right, left);
        for row in rows.iter().copied().map(Some).chain(none()) {
            for column in columns.iter().copied().map(Some).chain(none()) {
                for depth in depths(sum) {
                    let of = Of {
                        kernel,
                        sum,
                        shape,
                        product,
                    };
                    let plan = of.plan((left, row), (right, column), depth);
                    if let Some(plan) = plan
                        && best.as_ref().is_none_or(|b| plan.cycles < b.cycles)
                    {
                        best = Some(plan);
                    }
                }
            }
        }
    }
    let all = sum.across.iter().chain(&sum.along);
    let host = all.fold(ADDED, |n, d| n.saturating_mul(d.count));
    let float = sum.value.ty.elem.format().is_some();
    match best {
        Some(plan) if float || plan.cycles < host => Choice::Tiles(Box::new(plan)),
        Some(_) => Choice::Host,
        None => Choice::None,
    }
}

/// Sums of integers that no product of tiles has are those of the next wider type that one has: both
/// wrap, and the lower bits of a sum do not know of the others.
pub(crate) fn widen(kernel: &Kernel, sum: &mut Sum, shape: Shape<'_>) {
    let elem = sum.value.ty.elem;
    let sums = shape.products.iter().map(|p| p.sum);
    let sums = sums.filter(|s| s.is_int() && s.bits() >= elem.bits());
    let Some(wide) = sums.min_by_key(|s| s.bits()) else {
        return;
    };
    if !elem.is_int() || wide.bits() == elem.bits() {
        return;
    }
    if let Some((x, y)) = factors(&sum.value) {
        let value = Expr {
            kind: ExprKind::Apply(Op::Mul, vec![typed(x, wide), typed(y, wide)]),
            ty: Type::scalar(wide),
            span: sum.value.span,
        };
        sum.elsewhere(kernel, value);
    }
}

/// Whether a product of tiles adds products of these factors to such sums.
fn takes(product: &Product, sum: &Sum, (left, right): (&Expr, &Expr)) -> bool {
    let of = sum.value.ty.elem;
    let same = match of.is_int() {
        // Sums wrap, and the sign is in who reads them.
        true => product.sum.is_int() && product.sum.bits() == of.bits(),
        false => product.sum == of,
    };
    let holds = |e: &Expr, elem: Elem| fits(e, elem) || wraps(e, elem, of);
    same && holds(left, product.elems.0) && holds(right, product.elems.1)
}

/// Whether the type of elements is as wide as that of sums: then the sign does not matter.
fn wraps(e: &Expr, to: Elem, sum: Elem) -> bool {
    let bits = sum.bits();
    e.ty.elem.is_int() && to.is_int() && to.bits() == bits && e.ty.elem.bits() <= bits
}

/// The two factors of a product, without changes to wider types.
pub(crate) fn factors(value: &Expr) -> Option<(Expr, Expr)> {
    let one = |like: &Expr| Expr {
        kind: ExprKind::Const(vec![1]),
        ty: like.ty,
        span: like.span,
    };
    let (x, y) = match &value.kind {
        ExprKind::Apply(Op::Mul, args) => (args[0].clone(), args[1].clone()),
        ExprKind::Apply(Op::Cast, args) => match &args[0].kind {
            // A product in a type that has room for it is the product in a wider one.
            ExprKind::Apply(Op::Mul, inner) if args[0].ty.elem.is_int() => {
                let narrow: Vec<&Expr> = inner.iter().map(narrowed).collect();
                let bits: u32 = narrow.iter().map(|e| e.ty.elem.bits()).sum();
                if bits > args[0].ty.elem.bits() {
                    return None;
                }
                (narrow[0].clone(), narrow[1].clone())
            }
            _ => (value.clone(), one(value)),
        },
        _ if value.ty.elem.is_int() => (value.clone(), one(value)),
        _ => return None,
    };
    Some((narrowed(&x).clone(), narrowed(&y).clone()))
}

/// Whether a value is one of a type.
pub(crate) fn fits(e: &Expr, to: Elem) -> bool {
    if e.ty.elem.format().is_some() {
        return e.ty.elem == to || e.ty.elem.widened() == Some(to);
    }
    let range = Values::of(&[]).range(e);
    range.is_some_and(|range| within(range, to))
}

/// What is behind changes to a wider type.
fn narrowed(e: &Expr) -> &Expr {
    match &e.kind {
        ExprKind::Apply(Op::Cast, args) if e.ty.elem.is_int() && fits(&args[0], e.ty.elem) => {
            narrowed(&args[0])
        }
        // A float of a wider format is the same number.
        ExprKind::Apply(Op::Cast, args) if args[0].ty.elem.widened() == Some(e.ty.elem) => {
            match args[0].ty.elem.format() {
                Some(_) => narrowed(&args[0]),
                None => e,
            }
        }
        _ => e,
    }
}

/// The value with another type that holds it.
pub(crate) fn typed(e: Expr, elem: Elem) -> Expr {
    if e.ty.elem == elem {
        return e;
    }
    let ty = Type::scalar(elem);
    let span = e.span;
    let kind = match &e.kind {
        ExprKind::Const(values) => ExprKind::Const(values.clone()),
        _ => ExprKind::Apply(Op::Cast, vec![e]),
    };
    Expr { kind, ty, span }
}

/// Whether a value depends on a loop.
pub(crate) fn mentions(e: &Expr, var: Symbol) -> bool {
    let own = match &e.kind {
        ExprKind::Load(access) => access.index.iter().any(|i| i.mentions(var)),
        ExprKind::Index(index) => index.mentions(var),
        _ => false,
    };
    own || e.operands().iter().any(|e| mentions(e, var))
}

/// Loops that move results and one factor, and not the other.
pub(crate) fn rows_of(sum: &Sum, own: &Expr, other: &Expr) -> Vec<Dim> {
    let only = |d: &&Dim| mentions(own, d.var) && !mentions(other, d.var);
    sum.across.iter().filter(only).copied().collect()
}

/// What may be the depth: one loop, or the last ones together; and what is left.
fn depths(sum: &Sum) -> Vec<(Vec<Dim>, Vec<Dim>)> {
    let along = &sum.along;
    let mut all = Vec::new();
    for from in 0..along.len() {
        all.push((along[from..].to_vec(), along[..from].to_vec()));
    }
    if sum.any_order {
        for at in 0..along.len().saturating_sub(1) {
            let mut rest = along.clone();
            let one = rest.remove(at);
            all.push((vec![one], rest));
        }
    }
    if all.is_empty() {
        all.push((Vec::new(), Vec::new()));
    }
    all
}

struct Of<'a> {
    kernel: &'a Kernel,
    sum: &'a Sum,
    shape: Shape<'a>,
    product: &'a Product,
}

impl Of<'_> {
    fn plan(
        &self,
        (left, row): (&Expr, Option<Dim>),
        (right, column): (&Expr, Option<Dim>),
        (depth, steps): (Vec<Dim>, Vec<Dim>),
    ) -> Option<Plan> {
        let sum = self.sum;
        let (wide, elems, layouts) = (self.product.deep, self.product.elems, self.product.layouts);
        let length = depth.iter().map(|d| d.count).product::<i64>();
        let taken = |d: &&Dim| Some(**d) != row && Some(**d) != column;
        let outer: Vec<Dim> = sum.across.iter().filter(taken).copied().collect();
        let rest: Vec<Dim> = outer.iter().chain(&steps).copied().collect();
        let factor = |value: &Expr, row: Option<Dim>, (elem, layout): (Elem, Layout)| Factor {
            value: value.clone(),
            direct: self.direct((value, elem, layout), row, &depth, &rest),
            elem,
            layout,
            row,
            others: rest
                .iter()
                .filter(|d| mentions(value, d.var))
                .copied()
                .collect(),
            tail: Tail::None,
        };
        let (mut left, mut right) = (
            factor(left, row, (elems.0, layouts.0)),
            factor(right, column, (elems.1, layouts.1)),
        );
        if length % wide != 0 {
            self.tails(&mut left, &mut right, length, wide);
        }
        let mut plan = Plan {
            left,
            right,
            depth,
            length,
            steps,
            outer,
            wide,
            pack: layouts.0.pack().max(layouts.1.pack()),
            sum: sum.value.ty.elem,
            in_place: self.in_place(row, column),
            products: 0,
            cycles: 0,
        };
        (plan.products, plan.cycles) = self.cycles(&plan);
        Some(plan)
    }

    /// Of the factors, one may take what it has where the other is zero.
    fn tails(&self, left: &mut Factor, right: &mut Factor, length: i64, wide: i64) {
        let shifts = |f: &Factor| {
            let bytes = i64::from(f.elem.bits()) / 8;
            let even = !self.shape.aligned || (length - wide) * bytes % WORD == 0;
            let whole = (length - wide) % f.layout.pack() == 0;
            f.elem.is_int() && f.direct.is_some() && length >= wide && even && whole
        };
        let count = |f: &Factor| f.row.map_or(1, |d| d.count);
        let larger = count(left) >= count(right);
        (left.tail, right.tail) = match (shifts(left), shifts(right)) {
            (true, other) if larger || !other => (Tail::Shift, Tail::Copy),
            (_, true) => (Tail::Copy, Tail::Shift),
            _ => (Tail::Copy, Tail::Copy),
        };
    }

    /// The access, when windows of its array are what tiles of the factor hold.
    fn direct(
        &self,
        (value, elem, layout): (&Expr, Elem, Layout),
        row: Option<Dim>,
        depth: &[Dim],
        rest: &[Dim],
    ) -> Option<Access> {
        let ExprKind::Load(access) = &value.kind else {
            return None;
        };
        let wide = self.product.deep;
        let at = flat(self.kernel, access)?;
        if access.lanes != 1 || access.clamped || value.ty.elem != elem {
            return None;
        }
        if let Layout::Packs(pack) = layout {
            let packed = self.in_packs(&at, pack, row?, depth, rest);
            return packed.then(|| access.clone());
        }
        let mut step = 1;
        for dim in depth.iter().rev() {
            if at.coefficient(dim.var) != step {
                return None;
            }
            step *= dim.count;
        }
        let whole = step >= wide && row.is_none_or(|d| d.count >= self.shape.rows);
        let bytes = i64::from(elem.bits()) / 8;
        let even = |n: i64| !self.shape.aligned || n * bytes % WORD == 0;
        let dims = row.iter().chain(rest);
        let mut within = dims.clone().map(|d| at.coefficient(d.var));
        let deep = |s: &Symbol| depth.iter().any(|d| d.var == *s);
        let others = at.terms.iter().filter(|t| !deep(t.0));
        let all = within.all(|c| c >= 0) && others.into_iter().all(|t| even(*t.1));
        (whole && all && even(at.constant)).then(|| access.clone())
    }

    /// Whether an array has packs of neighbours in the depth as tiles have them: the loop over the
    /// neighbours of a pack, or none where there is one, inside that over packs.
    fn in_packs(&self, at: &Linear, pack: i64, row: Dim, depth: &[Dim], rest: &[Dim]) -> bool {
        let (packs, inside) = match depth {
            [packs] if pack == 1 => (packs, true),
            [packs, one] => (packs, one.count == pack && at.coefficient(one.var) == 1),
            _ => return false,
        };
        let moved = rest.iter().all(|d| at.coefficient(d.var) >= 0);
        let whole = packs.count * pack >= self.product.deep && row.count >= self.shape.rows;
        let lines = at.coefficient(row.var) == pack;
        let apart = at.coefficient(packs.var) >= pack * self.shape.rows;
        inside && moved && whole && lines && apart && !self.shape.aligned
    }

    /// Whether tiles of results can be loaded and stored where the results lie.
    fn in_place(&self, row: Option<Dim>, column: Option<Dim>) -> bool {
        let (Some(row), Some(column)) = (row, column) else {
            return false;
        };
        let sum = self.sum;
        let columns = self.shape.bytes * 8 / i64::from(sum.value.ty.elem.bits());
        let array = &self.kernel.arrays[sum.target.array];
        let at: Option<Linear> = flat(self.kernel, &sum.target);
        sum.after.is_none()
            && array.elem == sum.value.ty.elem
            && columns == self.shape.rows
            && row.count >= self.shape.rows
            && column.count >= columns
            && at.is_some_and(|at| at.coefficient(column.var) == 1)
    }

    /// Products of tiles, and cycles of the whole, about.
    fn cycles(&self, plan: &Plan) -> (i64, i64) {
        let rows = self.shape.rows;
        let wide = plan.wide;
        let tiles = |f: &Factor| {
            let count = f.row.map_or(1, |d| d.count);
            (count, (count + rows - 1) / rows)
        };
        let ((m, left), (n, right)) = (tiles(&plan.left), tiles(&plan.right));
        let many = |dims: &[Dim]| dims.iter().fold(1_i64, |n, d| n.saturating_mul(d.count));
        let outer = many(&plan.outer);
        let steps = outer.saturating_mul(many(&plan.steps));
        let deep = (plan.length + wide - 1) / wide;
        let products = steps.saturating_mul(left * right).saturating_mul(deep);
        let copied = |f: &Factor, count: i64| {
            let whole = match f.direct {
                Some(_) => 0,
                None => plan.length,
            };
            let tail = match f.tail {
                Tail::Copy => wide,
                _ => 0,
            };
            many(&f.others)
                .saturating_mul(count)
                .saturating_mul(whole + tail)
        };
        let results = outer.saturating_mul(left * right);
        let moved = match plan.in_place {
            true => 8,
            false => rows * rows * COPIED + 60,
        };
        let factors = copied(&plan.left, m).saturating_add(copied(&plan.right, n));
        let cycles = products
            .saturating_mul(PRODUCT)
            .saturating_add(factors.saturating_mul(COPIED))
            .saturating_add(results.saturating_mul(moved));
        (products, cycles.saturating_add(40))
    }
}
