//! Sums in nests of loops, however the loops are cut.
//!
//! In: a kernel whose sizes are numbers, and statements of it. Out: [`Sum`]: `t[…] += f` in loops
//! that count from 0 by 1, of which some move the target and some add; loops that only cut
//! another one in pieces are one loop again. What is zeroed before is known to be zeroed just
//! before. Nothing is said about machines here.

use kernel::index::{Index, Linear, Symbol};
use kernel::tree::{
    Access, Added, Assign, Expr, ExprKind, For, Id, Kernel, Reduction, Stmt, SymbolInfo,
    SymbolKind, Target,
};
use kernel::types::Elem;
use semantics::span::Span;

/// The most parts of a value when names in it are written out.
const MOST_PARTS: usize = 4000;

/// A loop from 0 on, by 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Dim {
    pub(crate) var: Symbol,
    pub(crate) count: i64,
}

/// A sum for each element of a target.
#[derive(Clone, Debug)]
pub(crate) struct Sum {
    /// The loops that move the target, and those that add, each the outermost first.
    pub(crate) across: Vec<Dim>,
    pub(crate) along: Vec<Dim>,
    pub(crate) target: Access,
    /// What is added.
    pub(crate) value: Expr,
    /// Whether any order of additions is right.
    pub(crate) any_order: bool,
    /// Whether the target is zeroed before.
    pub(crate) from_zero: bool,
    /// What is done with the sum when it was added up in a register: the register, its type, and
    /// the statement.
    pub(crate) after: Option<(Id, Elem, Assign)>,
    pub(crate) span: Span,
}

/// A statement with the loops around it, the outermost first, and its place in the text.
struct Placed<'k> {
    loops: Vec<&'k For>,
    assign: &'k Assign,
}

/// The sum that a loop is, if it is one.
pub(crate) fn sum(kernel: &mut Kernel, stmt: &For) -> Option<Sum> {
    let mut all = Vec::new();
    gather(stmt, &mut Vec::new(), &mut all)?;
    let added = |p: &&Placed<'_>| accumulated(p.assign).is_some();
    let mut sums = all.iter().filter(added);
    let (sum, None) = (sums.next()?, sums.next()) else {
        return None;
    };
    let reader = Reader::new(kernel, sum)?;
    let (before, after) = match all.iter().position(|p| std::ptr::eq(p, sum))? {
        0 => (None, all.get(1)),
        1 => (Some(&all[0]), all.get(2)),
        _ => return None,
    };
    if all.len() > 1 + usize::from(before.is_some()) + usize::from(after.is_some()) {
        return None;
    }
    let found = match &sum.assign.target {
        Target::Array(access) if after.is_none() => reader.in_array(kernel, access, sum, before)?,
        Target::Register(id) => reader.in_register(kernel, *id, sum, before?, after?)?,
        Target::Array(_) => return None,
    };
    found.apart(kernel).then_some(found)
}

/// What a statement adds to its target.
fn accumulated(assign: &Assign) -> Option<&Expr> {
    match assign.accumulation() {
        Some((Reduction::Add, Added::Value(value))) if assign.value.ty.lanes == 1 => Some(value),
        _ => None,
    }
}

/// The statements of a loop, names aside.
fn gather<'k>(f: &'k For, around: &mut Vec<&'k For>, all: &mut Vec<Placed<'k>>) -> Option<()> {
    if f.partial || f.at.is_some() {
        return None;
    }
    around.push(f);
    for stmt in &f.body {
        match stmt {
            Stmt::For(inner) => gather(inner, around, all)?,
            Stmt::Let(_) => {}
            Stmt::Assign(assign) => all.push(Placed {
                loops: around.clone(),
                assign,
            }),
        }
    }
    around.pop();
    Some(())
}

/// Reads statements in terms of loops that count from 0.
struct Reader<'k> {
    loops: Vec<&'k For>,
    /// The new variable of each loop, what the old one is, and how often it runs.
    dims: Vec<(Dim, Index)>,
}

impl<'k> Reader<'k> {
    fn new(kernel: &mut Kernel, of: &Placed<'k>) -> Option<Reader<'k>> {
        let mut reader = Reader {
            loops: Vec::new(),
            dims: Vec::new(),
        };
        of.loops.iter().try_for_each(|f| reader.add(kernel, f))?;
        Some(reader)
    }

    fn add(&mut self, kernel: &mut Kernel, f: &'k For) -> Option<()> {
        let (lo, hi) = (f.lo.constant_value()?, f.hi.constant_value()?);
        let count = (hi - lo + f.step - 1).div_euclid(f.step);
        if count < 1 {
            return None;
        }
        let var = fresh(kernel, &kernel.symbol_name(f.var));
        let is = Index::Sym(var).times(f.step).offset(lo).simplified();
        self.loops.push(f);
        self.dims.push((Dim { var, count }, is));
        Some(())
    }

    fn index(&self, index: &Index) -> Index {
        let with = |i: Index, (f, d): (&&For, &(Dim, Index))| i.substitute(f.var, &d.1);
        let index = self.loops.iter().zip(&self.dims).fold(index.clone(), with);
        index.simplified()
    }

    fn access(&self, access: &Access) -> Option<Access> {
        let mut access = access.clone();
        if access.lanes != 1 || access.clamped {
            return None;
        }
        for index in &mut access.index {
            *index = self.index(index);
        }
        Some(access)
    }

    /// A value with names written out.
    fn value(&self, kernel: &Kernel, e: &Expr, depth: usize) -> Option<Expr> {
        let mut e = e.clone();
        match &mut e.kind {
            ExprKind::Local(id) if depth < 32 => {
                return self.value(kernel, &kernel.locals[*id].value, depth + 1);
            }
            ExprKind::Load(access) => *access = self.access(access)?,
            ExprKind::Index(index) => *index = self.index(index),
            ExprKind::Apply(_, args) => {
                for arg in args {
                    *arg = self.value(kernel, arg, depth + 1)?;
                }
            }
            ExprKind::Const(_) | ExprKind::Register(_) | ExprKind::Scalar(_) => {}
            _ => return None,
        }
        (e.ty.lanes == 1 && e.is_within(MOST_PARTS)).then_some(e)
    }

    fn in_array(
        &self,
        kernel: &mut Kernel,
        access: &Access,
        sum: &Placed<'k>,
        before: Option<&Placed<'k>>,
    ) -> Option<Sum> {
        let target = self.access(access)?;
        let mut found = self.found(kernel, target, sum)?;
        found.from_zero = match before {
            Some(before) => self.zeroed(kernel, &found, before)?,
            None => false,
        };
        found.merge();
        Some(found)
    }

    fn found(&self, kernel: &Kernel, target: Access, sum: &Placed<'k>) -> Option<Sum> {
        let value = self.value(kernel, accumulated(sum.assign)?, 0)?;
        let dims = self.dims.iter().map(|d| d.0);
        let (across, along) = dims.partition(|d| target.index.iter().any(|i| i.mentions(d.var)));
        let float = value.ty.elem.format().is_some();
        Some(Sum {
            across,
            along,
            target,
            value,
            any_order: !float || sum.assign.reassociate,
            from_zero: false,
            after: None,
            span: sum.assign.span,
        })
    }

    /// Whether each element is set to zero once, just before what is added to it.
    fn zeroed(&self, kernel: &mut Kernel, sum: &Sum, before: &Placed<'k>) -> Option<bool> {
        let Target::Array(access) = &before.assign.target else {
            return None;
        };
        let zero = matches!(&before.assign.value.kind, ExprKind::Const(v) if v[..] == [0]);
        if !zero || before.assign.accumulate || access.array != sum.target.array {
            return None;
        }
        let both = self.loops.iter().zip(&before.loops);
        let shared = both.take_while(|(a, b)| std::ptr::eq(**a, **b)).count();
        let mut own = Reader {
            loops: self.loops[..shared].to_vec(),
            dims: self.dims[..shared].to_vec(),
        };
        let inner = before.loops[shared..].iter();
        inner.clone().try_for_each(|f| own.add(kernel, f))?;
        let (zeroed, summed) = (
            flat(kernel, &own.access(access)?)?,
            flat(kernel, &sum.target)?,
        );
        let together = |d: &(Dim, Index)| {
            let c = zeroed.coefficient(d.0.var);
            c == summed.coefficient(d.0.var) && (c != 0 || d.0.count == 1)
        };
        if !self.dims[..shared].iter().all(together) {
            return None;
        }
        let shape = |of: &Linear, dims: &[(Dim, Index)]| {
            let dims = dims.iter().map(|d| (of.coefficient(d.0.var), d.0.count));
            extents(dims.collect())
        };
        let outside = |l: &Linear| {
            let mut l = l.clone();
            l.terms.retain(|s, _| {
                let mine = own.dims.iter().chain(&self.dims);
                !mine.into_iter().any(|d| d.0.var == *s)
            });
            l
        };
        let same = shape(&zeroed, &own.dims[shared..]) == shape(&summed, &self.dims[shared..]);
        let once = own.dims[shared..]
            .iter()
            .all(|d| d.0.count == 1 || zeroed.coefficient(d.0.var) != 0);
        (same && once && outside(&zeroed) == outside(&summed)).then_some(true)
    }

    /// A sum in a register that is set to zero before and used once behind.
    fn in_register(
        &self,
        kernel: &mut Kernel,
        id: Id,
        sum: &Placed<'k>,
        before: &Placed<'k>,
        after: &Placed<'k>,
    ) -> Option<Sum> {
        let depth = before.loops.len();
        let same = |a: &[&For], b: &[&For]| {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| std::ptr::eq(*a, *b))
        };
        let around = same(&before.loops, &after.loops) && sum.loops.len() > depth;
        let zero = matches!(&before.assign.value.kind, ExprKind::Const(v) if v[..] == [0]);
        let own = before.assign.target == Target::Register(id) && !before.assign.accumulate;
        if !around || !zero || !own || !same(&sum.loops[..depth], &before.loops) {
            return None;
        }
        let Target::Array(access) = &after.assign.target else {
            return None;
        };
        let target = self.access(access)?;
        let plain = matches!(after.assign.value.kind, ExprKind::Register(r) if r == id);
        let float = after.assign.value.ty.elem.format().is_some();
        let moves = |d: &(Dim, Index)| target.index.iter().any(|i| i.mentions(d.0.var));
        let all = self.dims[..depth]
            .iter()
            .all(|d| moves(d) || d.0.count == 1);
        let none = !self.dims[depth..].iter().any(moves);
        let added = after.assign.accumulation().is_some();
        if plain && all && none && !(float && added) {
            let mut found = self.found(kernel, target, sum)?;
            found.from_zero = !after.assign.accumulate;
            found.merge();
            return Some(found);
        }
        let mut found = self.found(kernel, target, sum)?;
        let mut statement = after.assign.clone();
        statement.value = self.value(kernel, &statement.value, 0)?;
        statement.target = Target::Array(self.access(access)?);
        (found.across, found.along) = (
            self.dims[..depth].iter().map(|d| d.0).collect(),
            self.dims[depth..].iter().map(|d| d.0).collect(),
        );
        found.from_zero = true;
        found.after = Some((id, sum.assign.value.ty.elem, statement));
        Some(found)
    }
}

/// A new loop variable.
pub(crate) fn fresh(kernel: &mut Kernel, name: &str) -> Symbol {
    let number = u32::try_from(kernel.symbols.len()).unwrap_or(u32::MAX);
    kernel.symbols.push(SymbolInfo {
        name: name.to_owned(),
        kind: SymbolKind::Loop,
        incremental: true,
        span: kernel.span,
    });
    Symbol(number)
}

/// Where an access lies, in elements from the beginning of its array.
pub(crate) fn flat(kernel: &Kernel, access: &Access) -> Option<Linear> {
    let dims = kernel.arrays[access.array].memory_dims();
    let mut at = Index::Const(0);
    for (index, dim) in access.index.iter().zip(&dims) {
        at = at.times(dim.constant_value()?).plus(index);
    }
    at.simplified().linear()
}

/// Steps and counts, the largest first; what only continues another is part of it.
fn extents(mut steps: Vec<(i64, i64)>) -> Vec<(i64, i64)> {
    steps.retain(|s| s.0 != 0 && s.1 != 1);
    steps.sort_unstable_by(|a, b| b.cmp(a));
    let mut out: Vec<(i64, i64)> = Vec::new();
    for (step, count) in steps.into_iter().rev() {
        match out.last_mut() {
            Some(last) if last.0 * last.1 == step => last.1 *= count,
            _ => out.push((step, count)),
        }
    }
    out
}

impl Sum {
    /// Whether different iterations of the loops that move the target move it elsewhere, and it is
    /// not read.
    fn apart(&self, kernel: &Kernel) -> bool {
        let mut reads = Vec::new();
        kernel.for_each_load(&self.value, &mut |a| reads.push(a.array));
        if let Some((_, _, after)) = &self.after {
            // The sums have an array of their own.
            let Target::Array(access) = &after.target else {
                return false;
            };
            return !reads.contains(&access.array);
        }
        let Some(at) = flat(kernel, &self.target) else {
            return false;
        };
        let steps = self.across.iter().map(|d| (at.coefficient(d.var), d.count));
        let mut reach = 0;
        let positive = self.across.iter().all(|d| at.coefficient(d.var) > 0);
        let apart = extents(steps.collect()).iter().all(|(step, count)| {
            let beyond = *step > reach;
            reach += step * (count - 1);
            beyond
        });
        positive && apart && !reads.contains(&self.target.array)
    }

    fn indices(&self) -> Vec<Index> {
        fn of(e: &Expr, out: &mut Vec<Index>) {
            match &e.kind {
                ExprKind::Load(access) => out.extend(access.index.iter().cloned()),
                ExprKind::Index(index) => out.push(index.clone()),
                _ => {}
            }
            e.operands().iter().for_each(|e| of(e, out));
        }
        let mut out = self.target.index.clone();
        of(&self.value, &mut out);
        out
    }

    /// Makes one loop of two where the first only says which piece of the second it is.
    fn merge(&mut self) {
        loop {
            let indices = self.indices();
            let pair = |dims: &[Dim], ordered: bool| {
                let all = (0..dims.len()).flat_map(|a| (0..dims.len()).map(move |b| (a, b)));
                let next = |(a, b): &(usize, usize)| a != b && (!ordered || a + 1 == *b);
                let mut fit = all.filter(next).filter(|&(a, b)| {
                    let all = indices.iter().all(|i| continues(i, dims[a], dims[b]));
                    all && indices.iter().any(|i| i.mentions(dims[a].var))
                });
                fit.next()
            };
            let (at, across) = match pair(&self.across, false) {
                Some(pair) => (pair, true),
                None => match pair(&self.along, !self.any_order) {
                    Some(pair) => (pair, false),
                    None => return,
                },
            };
            let dims = match across {
                true => &mut self.across,
                false => &mut self.along,
            };
            let gone = dims[at.0];
            dims[at.1].count *= gone.count;
            dims.remove(at.0);
            self.without(gone.var);
        }
    }

    /// A loop that is part of another now.
    fn without(&mut self, var: Symbol) {
        let out = |i: &mut Index| *i = i.substitute(var, &Index::Const(0)).simplified();
        self.target.index.iter_mut().for_each(out);
        self.value.for_each_index_mut(&mut |i| out(i));
    }
}

/// Whether one round of `inner` takes an index as far as one step of `outer`.
fn continues(index: &Index, outer: Dim, inner: Dim) -> bool {
    if let Some(linear) = index.linear() {
        let (far, near) = (linear.coefficient(outer.var), linear.coefficient(inner.var));
        return far == near * inner.count;
    }
    match index {
        Index::Const(_) | Index::Sym(_) => false,
        Index::Add(a, b)
        | Index::Mul(a, b)
        | Index::Div(a, b)
        | Index::Mod(a, b)
        | Index::Min(a, b)
        | Index::Max(a, b) => continues(a, outer, inner) && continues(b, outer, inner),
    }
}
