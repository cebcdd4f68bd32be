//! Sums in nests of loops, however the loops are cut.
//!
//! In: a kernel whose sizes are numbers, and statements of it. Out: [`Sum`]: `t[…] += f` in loops
//! that count from 0 by 1, of which some move the target and some add; loops that only cut
//! another one in pieces are one loop again. What a sum begins with, zero or another value, is
//! known to be set just before, so that all of it may be set first; what is taken away is a sum that
//! is taken away at the end. Nothing is said about machines here.

use kernel::index::{Index, Linear, Symbol};
use kernel::tree::{
    Access, Added, Array, Assign, Expr, ExprKind, For, Id, Kernel, Op, Placement, Reduction, Role,
    Stmt, SymbolInfo, SymbolKind, Target,
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
    /// What the target is set to before, where that is not zero.
    pub(crate) begin: Option<Begin>,
    /// What is done with the sum when it was added up elsewhere.
    pub(crate) after: Option<After>,
    pub(crate) span: Span,
}

/// What a sum begins with: a statement in loops, the outermost first.
#[derive(Clone, Debug)]
pub(crate) struct Begin {
    pub(crate) dims: Vec<Dim>,
    pub(crate) statement: Assign,
}

/// What is done with a sum that is added up in a place of its own.
#[derive(Clone, Debug)]
pub(crate) struct After {
    /// Stands for the sum in the statement.
    pub(crate) register: Id,
    /// Its type.
    pub(crate) elem: Elem,
    pub(crate) statement: Assign,
}

/// What the target of a sum holds before.
enum Before {
    Zero,
    Set(Box<Begin>),
    /// What it held anyway.
    Kept,
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
    let sums: Vec<&Placed<'_>> = all.iter().filter(added).collect();
    let sum = match sums[..] {
        [sum] => sum,
        // What is summed in a register may be added to its place.
        [sum, last] if last.assign.accumulate && passes_on(kernel, sum.assign, last.assign) => sum,
        _ => return None,
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
    let minus = accumulated(sum.assign)?.1;
    let found = match &sum.assign.target {
        Target::Array(access) if after.is_none() => {
            let mut found = reader.in_array(kernel, access, sum, before)?;
            if minus {
                found.take_away(kernel);
            }
            found
        }
        Target::Register(id) if !minus => reader.in_register(kernel, *id, sum, before?, after?)?,
        _ => return None,
    };
    found.apart(kernel).then_some(found)
}

/// Whether a statement does something with the register of another, into an array.
fn passes_on(kernel: &Kernel, sum: &Assign, last: &Assign) -> bool {
    let (Target::Register(id), Target::Array(_)) = (&sum.target, &last.target) else {
        return false;
    };
    let mut reads = false;
    kernel.for_each_leaf(&last.value, &|_| true, &mut |leaf| {
        reads |= matches!(leaf.kind, ExprKind::Register(r) if r == *id);
    });
    reads
}

/// What a statement adds to its target, or takes away from it.
fn accumulated(assign: &Assign) -> Option<(&Expr, bool)> {
    if assign.value.ty.lanes != 1 {
        return None;
    }
    match assign.accumulation() {
        Some((Reduction::Add, Added::Value(value))) => return Some((value, false)),
        Some(_) => return None,
        None => {}
    }
    let ExprKind::Apply(Op::Sub, args) = &assign.value.kind else {
        return None;
    };
    let own = match (&args[0].kind, &assign.target) {
        (ExprKind::Register(r), Target::Register(t)) => r == t,
        (ExprKind::Load(access), Target::Array(t)) => access == t,
        _ => false,
    };
    (own && assign.value.ty.elem.is_int()).then_some((&args[1], true))
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
        if let Some(before) = before {
            found.begins(self.set_before(kernel, &found, before)?);
        }
        if found.begin.is_some() && !distinct(kernel, &found.target, &found.across) {
            return None;
        }
        found.merge();
        Some(found)
    }

    fn found(&self, kernel: &Kernel, target: Access, sum: &Placed<'k>) -> Option<Sum> {
        let value = self.value(kernel, accumulated(sum.assign)?.0, 0)?;
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
            begin: None,
            after: None,
            span: sum.assign.span,
        })
    }

    /// What each element is set to once, just before what is added to it.
    fn set_before(&self, kernel: &mut Kernel, sum: &Sum, before: &Placed<'k>) -> Option<Before> {
        let Target::Array(access) = &before.assign.target else {
            return None;
        };
        if before.assign.accumulation().is_some() || access.array != sum.target.array {
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
        if !(same && once && outside(&zeroed) == outside(&summed)) {
            return None;
        }
        let target = own.access(access)?;
        own.before(kernel, before.assign, Target::Array(target))
    }

    /// What a statement sets a target to that it does not read.
    fn before(&self, kernel: &Kernel, of: &Assign, target: Target) -> Option<Before> {
        if is_zero(&of.value) {
            return Some(Before::Zero);
        }
        let value = self.value(kernel, &of.value, 0)?;
        let mut own = false;
        kernel.for_each_load(&value, &mut |a| {
            own |= matches!(&target, Target::Array(t) if t.array == a.array);
        });
        let statement = Assign {
            target,
            accumulate: false,
            value,
            ..of.clone()
        };
        let dims = self.dims.iter().map(|d| d.0).collect();
        (!own).then(|| Before::Set(Box::new(Begin { dims, statement })))
    }

    /// The same of a register whose value goes to a place.
    fn register_before(
        &self,
        kernel: &Kernel,
        of: &Assign,
        (place, after): (&Access, &Assign),
        plain: bool,
    ) -> Option<Before> {
        let value = self.value(kernel, &of.value, 0)?;
        let kept = matches!(&value.kind, ExprKind::Load(from) if from == place);
        let dims: Vec<Dim> = self.dims.iter().map(|d| d.0).collect();
        let alone = distinct(kernel, place, &dims);
        if kept && plain && alone && !after.accumulate {
            return Some(Before::Kept);
        }
        let mut touched = false;
        kernel.for_each_load(&value, &mut |a| touched |= a.array == place.array);
        if touched && !(kept && alone) {
            return None;
        }
        let target = match plain {
            true => Target::Array(place.clone()),
            false => of.target.clone(),
        };
        match self.before(kernel, of, target)? {
            Before::Set(mut begin) if plain => {
                begin.statement.accumulate = after.accumulate;
                alone.then_some(Before::Set(begin))
            }
            before => Some(before),
        }
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
        let own = before.assign.target == Target::Register(id);
        let set = own && before.assign.accumulation().is_none();
        if !around || !set || !same(&sum.loops[..depth], &before.loops) {
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
        let plain = plain && all && none && !(float && added);
        let outside = Reader {
            loops: self.loops[..depth].to_vec(),
            dims: self.dims[..depth].to_vec(),
        };
        let set = outside.register_before(kernel, before.assign, (&target, after.assign), plain)?;
        let mut found = self.found(kernel, target, sum)?;
        if plain {
            match set {
                Before::Zero => found.from_zero = !after.assign.accumulate,
                set => found.begins(set),
            }
            found.merge();
            return Some(found);
        }
        let mut statement = after.assign.clone();
        statement.value = self.value(kernel, &statement.value, 0)?;
        statement.target = Target::Array(self.access(access)?);
        (found.across, found.along) = (
            self.dims[..depth].iter().map(|d| d.0).collect(),
            self.dims[depth..].iter().map(|d| d.0).collect(),
        );
        found.begins(set);
        found.after = Some(After {
            register: id,
            elem: sum.assign.value.ty.elem,
            statement,
        });
        Some(found)
    }
}

fn is_zero(e: &Expr) -> bool {
    matches!(&e.kind, ExprKind::Const(v) if v[..] == [0])
}

/// Whether different iterations of these loops mean different elements.
fn distinct(kernel: &Kernel, access: &Access, dims: &[Dim]) -> bool {
    let Some(at) = flat(kernel, access) else {
        return false;
    };
    let steps = dims.iter().map(|d| (at.coefficient(d.var), d.count));
    let mut reach = 0;
    let positive = dims
        .iter()
        .all(|d| at.coefficient(d.var) > 0 || d.count == 1);
    let apart = extents(steps.collect()).iter().all(|(step, count)| {
        let beyond = *step > reach;
        reach += step * (count - 1);
        beyond
    });
    positive && apart
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

/// A local array.
pub(crate) fn local(
    kernel: &mut Kernel,
    name: &str,
    elem: Elem,
    dims: &[i64],
    memory: Option<&str>,
) -> Id {
    let taken = |n: &str| kernel.arrays.iter().any(|a| a.name == n);
    let mut fresh = name.to_owned();
    let mut number = 2;
    while taken(&fresh) {
        fresh = format!("{name}_{number}");
        number += 1;
    }
    kernel.arrays.push(Array {
        name: fresh,
        elem,
        dims: dims.iter().map(|n| Index::Const(*n)).collect(),
        pad: 1,
        role: Role::Local,
        placement: Placement {
            inside: None,
            memory: memory.map(str::to_owned),
            unset: true,
        },
        span: kernel.span,
    });
    kernel.arrays.len() - 1
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
        if let Some(after) = &self.after {
            // The sums have an array of their own.
            let Target::Array(access) = &after.statement.target else {
                return false;
            };
            return !reads.contains(&access.array);
        }
        distinct(kernel, &self.target, &self.across) && !reads.contains(&self.target.array)
    }

    /// Says what the target holds before.
    fn begins(&mut self, before: Before) {
        match before {
            Before::Zero => self.from_zero = true,
            Before::Set(begin) => self.begin = Some(*begin),
            Before::Kept => {}
        }
    }

    /// The sum is taken away from its target, and has a place of its own.
    fn take_away(&mut self, kernel: &Kernel) {
        let (own, ty) = (self.own_register(kernel), self.value.ty);
        let target = match self.from_zero {
            true => ExprKind::Const(vec![0]),
            false => ExprKind::Load(self.target.clone()),
        };
        let args = [target, ExprKind::Register(own)];
        let args = args.map(|kind| Expr {
            kind,
            ty,
            span: self.span,
        });
        self.goes_on(own, ExprKind::Apply(Op::Sub, args.to_vec()), false);
    }

    /// The sum, of elements of another type that add up to the same, is added up in a place of its own.
    pub(crate) fn elsewhere(&mut self, kernel: &Kernel, value: Expr) {
        if self.after.is_none() {
            let own = self.own_register(kernel);
            self.goes_on(own, ExprKind::Register(own), !self.from_zero);
        }
        self.value = value;
    }

    /// A register that the kernel does not have; it stands for the sum until that has a place.
    fn own_register(&self, kernel: &Kernel) -> Id {
        kernel.registers.len()
    }

    /// What is stored of a sum in a place of its own.
    fn goes_on(&mut self, register: Id, kind: ExprKind, accumulate: bool) {
        let (ty, span) = (self.value.ty, self.span);
        self.after = Some(After {
            register,
            elem: ty.elem,
            statement: Assign {
                target: Target::Array(self.target.clone()),
                accumulate,
                reassociate: false,
                value: Expr { kind, ty, span },
                span,
            },
        });
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
