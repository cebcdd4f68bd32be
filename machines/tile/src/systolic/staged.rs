//! Kernels that are not commands as they stand, in pieces that are commands or code of the host.
//!
//! In: a kernel with the values of its sizes, and who says whether a piece is commands. Out:
//! [`Staged`]: a kernel of the same results in pieces. A factor that does not lie as the array loads
//! or transposes it is laid out anew by the host before; what no store does to a sum, and what no
//! load begins one with, the host does behind, with sums that are stored as they are. Of these mappings
//! the one with the fewest elements for the host is taken; where none is left, the host does all of
//! it, with the reason.
//! It proposes: [`super::place`] proves pieces, and that together they are the kernel.

use super::parts::{alone, one, summed, written};
use crate::error::MappingError;
use crate::sum::{After, Dim, Sum, flat, fresh};
use crate::tiling::{ADDED, Buffer, COPIED, factors, fits, mentions, rows_of, typed, wrapped};
use kernel::index::{Index, Symbol};
use kernel::tree::{Assign, Expr, ExprKind, Kernel, Op, Stmt, Target};
use kernel::types::{Elem, Type};
use std::collections::{BTreeMap, BTreeSet};

/// What statements become.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Mapping {
    /// So many of them are commands.
    Commands(usize),
    /// So many of them are a product, of which the host does a part.
    Staged(usize, Parts),
    /// One is the host's.
    Host,
}

/// What the host does of a product.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Parts {
    /// It lays out the left factor anew, and the right one.
    left: bool,
    right: bool,
    /// It does what is done with sums.
    behind: bool,
}

impl Parts {
    /// Every combination in which the host does something.
    fn all() -> impl Iterator<Item = Parts> {
        (1..8_u8).map(|n| Parts {
            left: n & 1 != 0,
            right: n & 2 != 0,
            behind: n & 4 != 0,
        })
    }
}

/// Who runs a piece.
#[derive(Clone, Debug)]
pub(crate) enum By {
    Commands,
    Host,
}

/// A kernel in pieces, each for statements of the kernel as it was.
pub(crate) struct Staged {
    /// With the arrays between pieces, and numbers for sizes.
    pub(crate) kernel: Kernel,
    pub(crate) parts: Vec<Part>,
}

/// What some statements became.
pub(crate) struct Part {
    /// As they were.
    pub(crate) stmts: Vec<Stmt>,
    pub(crate) pieces: Vec<(By, Vec<Stmt>)>,
    pub(crate) mapping: Mapping,
    /// Why the host does all of it.
    pub(crate) why: Option<MappingError>,
}

/// Says whether a kernel is commands.
type Accepts<'a> = dyn Fn(&Kernel) -> Result<(), MappingError> + 'a;

/// How pieces are found.
pub(crate) struct Choosing<'a> {
    pub(crate) accepts: &'a Accepts<'a>,
    /// Types of factors and of sums.
    pub(crate) elems: (Elem, Elem),
    /// Ways of parts that were refused afterwards.
    pub(crate) banned: &'a BTreeSet<(usize, Mapping)>,
}

/// A kernel in pieces, as `choosing` says.
pub(crate) fn chosen(
    kernel: &Kernel,
    sizes: &BTreeMap<Symbol, i64>,
    choosing: &Choosing<'_>,
) -> Staged {
    walk(kernel, sizes, &mut |kernel, stmts, number| {
        let mut why = None;
        let allowed = |mapping: &Mapping| !choosing.banned.contains(&(number, *mapping));
        for mapping in mappings(kernel, stmts, choosing.elems)
            .into_iter()
            .filter(allowed)
        {
            let Some((made, pieces)) = build(kernel, sizes, stmts, mapping, choosing.elems) else {
                continue;
            };
            let commands = pieces.iter().filter(|p| matches!(p.0, By::Commands));
            let refused = commands
                .map(|p| (choosing.accepts)(&alone(&made, &p.1)))
                .find_map(Result::err);
            match refused {
                None => return (made, part(stmts, mapping, pieces, why)),
                Some(reason) => why = why.or(Some(reason)),
            }
        }
        let pieces = vec![(By::Host, stmts[..1].to_vec())];
        (kernel.clone(), part(stmts, Mapping::Host, pieces, why))
    })
}

/// A kernel in the pieces that another one of other sizes has; none where it has no such ones.
pub(crate) fn alike(
    kernel: &Kernel,
    sizes: &BTreeMap<Symbol, i64>,
    mappings: &[Mapping],
    elems: (Elem, Elem),
) -> Option<Staged> {
    let mut all = true;
    let staged = walk(kernel, sizes, &mut |kernel, stmts, number| {
        let mapping = mappings.get(number).copied().unwrap_or(Mapping::Host);
        let built = build(kernel, sizes, stmts, mapping, elems);
        all &= built.is_some() && number < mappings.len();
        let pieces = vec![(By::Host, stmts[..1].to_vec())];
        let (made, pieces) = built.unwrap_or_else(|| (kernel.clone(), pieces));
        (made, part(stmts, mapping, pieces, None))
    });
    (all && staged.parts.len() == mappings.len()).then_some(staged)
}

fn part(
    stmts: &[Stmt],
    mapping: Mapping,
    pieces: Vec<(By, Vec<Stmt>)>,
    why: Option<MappingError>,
) -> Part {
    let taken = match mapping {
        Mapping::Commands(n) | Mapping::Staged(n, _) => n,
        Mapping::Host => 1,
    };
    Part {
        stmts: stmts[..taken.min(stmts.len())].to_vec(),
        pieces,
        mapping,
        why: why.filter(|_| mapping == Mapping::Host),
    }
}

/// Makes a part of the first statements that are left, until none are.
type Make<'a> = dyn FnMut(&Kernel, &[Stmt], usize) -> (Kernel, Part) + 'a;

fn walk(kernel: &Kernel, sizes: &BTreeMap<Symbol, i64>, make: &mut Make<'_>) -> Staged {
    let mut fixed = kernel.at_sizes(sizes);
    let body = std::mem::take(&mut fixed.body);
    let (mut parts, mut at) = (Vec::new(), 0);
    while at < body.len() {
        let (mut made, part) = make(&fixed, &body[at..], parts.len());
        made.body.clear();
        fixed = made;
        at += part.stmts.len();
        parts.push(part);
    }
    Staged {
        kernel: fixed,
        parts,
    }
}

/// What statements may become, the least for the host first.
fn mappings(kernel: &Kernel, stmts: &[Stmt], elems: (Elem, Elem)) -> Vec<Mapping> {
    let mut staged: Vec<(i64, Mapping)> = Vec::new();
    for n in [2, 1] {
        let Some(stmts) = stmts.get(..n) else {
            continue;
        };
        let mut own = alone(kernel, stmts);
        let Some(product) = Product::of(&mut own, stmts, elems) else {
            continue;
        };
        let cheaper = |parts: Parts| {
            let (host, all) = product.work(parts);
            let less = host.saturating_mul(COPIED) < all.saturating_mul(ADDED);
            less.then_some((host, Mapping::Staged(n, parts)))
        };
        staged.extend(Parts::all().filter_map(cheaper));
    }
    staged.sort_unstable();
    let whole = [2, 1].into_iter().filter(|n| *n <= stmts.len());
    let whole = whole.map(Mapping::Commands);
    whole.chain(staged.into_iter().map(|s| s.1)).collect()
}

/// A kernel and pieces of its statements, in order.
type Built = (Kernel, Vec<(By, Vec<Stmt>)>);

/// Pieces of statements, with the kernel that has the arrays between them.
fn build(
    kernel: &Kernel,
    sizes: &BTreeMap<Symbol, i64>,
    stmts: &[Stmt],
    mapping: Mapping,
    elems: (Elem, Elem),
) -> Option<Built> {
    match mapping {
        Mapping::Host => Some((kernel.clone(), vec![(By::Host, stmts.get(..1)?.to_vec())])),
        Mapping::Commands(n) => {
            let stmts = stmts.get(..n)?;
            let whole = (n == 1).then(|| alone(kernel, stmts));
            let mut made = one(kernel, sizes, stmts).or(whole)?;
            let body = std::mem::take(&mut made.body);
            Some((made, vec![(By::Commands, body)]))
        }
        Mapping::Staged(n, parts) => {
            let stmts = stmts.get(..n)?;
            let mut made = alone(kernel, stmts);
            let product = Product::of(&mut made, stmts, elems)?;
            let pieces = product.pieces(&mut made, parts, elems)?;
            Some((made, pieces))
        }
    }
}

/// A sum of products, and which of its loops move what.
struct Product {
    sum: Sum,
    left: Expr,
    right: Expr,
    /// Loops over results that move both factors or none, the left one, the right one.
    others: Vec<Dim>,
    rows: Vec<Dim>,
    columns: Vec<Dim>,
}

fn count(dims: &[Dim]) -> i64 {
    dims.iter().fold(1, |n, d| n.saturating_mul(d.count))
}

impl Product {
    fn of(kernel: &mut Kernel, stmts: &[Stmt], elems: (Elem, Elem)) -> Option<Product> {
        let sum = summed(kernel, stmts)?;
        let (mut left, mut right) = factors(&sum.value)?;
        let all = fits(&left, elems.0) && fits(&right, elems.0);
        if !all || sum.along.is_empty() || !sum.any_order {
            return None;
        }
        let of = sum.value.ty.elem;
        if !of.is_int() || of.bits() > elems.1.bits() {
            return None;
        }
        let target = flat(kernel, &sum.target)?;
        let near = sum.across.iter().find(|d| target.coefficient(d.var) == 1);
        if near.is_some_and(|d| mentions(&left, d.var) && !mentions(&right, d.var)) {
            std::mem::swap(&mut left, &mut right);
        }
        let (rows, columns) = (rows_of(&sum, &left, &right), rows_of(&sum, &right, &left));
        let others = sum.across.iter().copied();
        let others = others.filter(|d| !rows.contains(d) && !columns.contains(d));
        Some(Product {
            others: others.collect(),
            rows,
            columns,
            left,
            right,
            sum,
        })
    }

    /// Loops that move a factor once it is laid out anew.
    fn laid_out(&self, left: bool) -> Vec<Dim> {
        let own = if left { &self.left } else { &self.right };
        let others = self.others.iter().copied();
        let mut dims: Vec<Dim> = others.filter(|d| mentions(own, d.var)).collect();
        if left {
            dims.extend(&self.rows);
        }
        dims.extend(&self.sum.along);
        if !left {
            dims.extend(&self.columns);
        }
        dims
    }

    /// Elements that the host moves, and products.
    fn work(&self, parts: Parts) -> (i64, i64) {
        let of = |is: bool, dims: &[Dim]| if is { count(dims) } else { 0 };
        let host = of(parts.left, &self.laid_out(true))
            .saturating_add(of(parts.right, &self.laid_out(false)))
            .saturating_add(of(parts.behind, &self.sum.across));
        let all = count(&self.sum.across).saturating_mul(count(&self.sum.along));
        (host, all)
    }

    fn pieces(
        mut self,
        kernel: &mut Kernel,
        parts: Parts,
        (small, wide): (Elem, Elem),
    ) -> Option<Vec<(By, Vec<Stmt>)>> {
        self.sum.across = [&self.others[..], &self.rows, &self.columns].concat();
        let one = Dim {
            var: fresh(kernel, "one"),
            count: 1,
        };
        let behind = match parts.behind {
            true => self.behind(kernel, wide),
            false => Vec::new(),
        };
        let mut before = Vec::new();
        if parts.left {
            let dims = self.laid_out(true);
            self.left = self.anew(kernel, &self.left, &dims, small, &mut before);
        }
        if parts.right {
            let mut dims = self.laid_out(false);
            if self.columns.is_empty() {
                dims.push(one);
            }
            self.right = self.anew(kernel, &self.right, &dims, small, &mut before);
        }
        if self.columns.is_empty() {
            self.sum.across.push(one);
        }
        let ty = Type::scalar(self.sum.value.ty.elem);
        let factors = [&self.left, &self.right].map(|e| typed(e.clone(), ty.elem));
        self.sum.value = Expr {
            kind: ExprKind::Apply(Op::Mul, factors.to_vec()),
            ty,
            span: self.sum.span,
        };
        let sums = written(kernel, &self.sum)?;
        let pieces = [(By::Host, before), (By::Commands, sums), (By::Host, behind)];
        kernel.body.clear();
        Some(pieces.into_iter().filter(|p| !p.1.is_empty()).collect())
    }

    /// A factor in an array of its own, loop by loop.
    fn anew(
        &self,
        kernel: &mut Kernel,
        own: &Expr,
        dims: &[Dim],
        elem: Elem,
        out: &mut Vec<Stmt>,
    ) -> Expr {
        let span = self.sum.span;
        let buffer = Buffer::new(kernel, elem, dims.iter().map(|d| d.count).collect());
        let index: Vec<Index> = dims.iter().map(|d| Index::Sym(d.var)).collect();
        let access = buffer.at(&index, span);
        let copy = Stmt::Assign(Assign {
            target: Target::Array(access.clone()),
            accumulate: false,
            reassociate: false,
            value: typed(own.clone(), elem),
            span,
        });
        out.extend(wrapped(dims, vec![copy], span));
        Expr {
            kind: ExprKind::Load(access),
            ty: Type::scalar(elem),
            span,
        }
    }

    /// Sums get an array of their own; the statements that do with them what the kernel does.
    fn behind(&mut self, kernel: &mut Kernel, wide: Elem) -> Vec<Stmt> {
        let span = self.sum.span;
        let value = self.sum.value.clone();
        self.sum.elsewhere(kernel, value);
        let Some(After {
            register,
            elem,
            mut statement,
        }) = self.sum.after.take()
        else {
            return Vec::new();
        };
        let across = self.sum.across.clone();
        let buffer = Buffer::new(kernel, wide, across.iter().map(|d| d.count).collect());
        let index: Vec<Index> = across.iter().map(|d| Index::Sym(d.var)).collect();
        self.sum.target = buffer.at(&index, span);
        self.sum.from_zero = true;
        let value = &mut self.sum.value;
        *value = typed(value.clone(), wide);
        let load = Expr {
            kind: ExprKind::Load(self.sum.target.clone()),
            ty: Type::scalar(wide),
            span,
        };
        let mut held = typed(load, elem);
        let mut out = Vec::new();
        if let Some(begin) = self.sum.begin.take() {
            if begin.statement.target == Target::Register(register) {
                let first = typed(begin.statement.value, elem);
                held = Expr {
                    kind: ExprKind::Apply(Op::Add, vec![first, held]),
                    ty: Type::scalar(elem),
                    span,
                };
            } else {
                let set = vec![Stmt::Assign(begin.statement)];
                out = wrapped(&begin.dims, set, span);
            }
        }
        statement.value.for_each_mut(&mut |e: &mut Expr| {
            if matches!(e.kind, ExprKind::Register(r) if r == register) {
                *e = held.clone();
            }
        });
        out.extend(wrapped(&across, vec![Stmt::Assign(statement)], span));
        out
    }
}
