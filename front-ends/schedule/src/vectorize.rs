//! Vectorisation: many iterations of a loop as lanes of one.
//!
//! In: a loop of scalar statements and a number of lanes. Out: a loop over full vectors,
//! and scalar loops for what is before and behind it. Legal when no two iterations touch
//! one element that one of them writes, except sums and extremes that the loop only
//! accumulates: these are kept in lanes and combined behind the loop, which is exact because
//! addition modulo 2^n, minimum and maximum of integers are associative and commutative. Of
//! floats they are not: the kernel has to leave the order open.
//!
//! Indices clamped into the array are no clamps in the interior; the vector loop runs over
//! the interior only.

mod lanes;

use super::Refusal;
use super::border;
use super::copy::{fresh, own_registers, substitute};
use super::depend;
use super::directive::Tail;
use super::round;
use super::shift;
use kernel::index::{Index, Symbol};
use kernel::lia::Facts;
use kernel::tree::{
    Access, Added, Assign, Expr, ExprKind, For, Id, Kernel, Local, Op, Reduction, Register, Stmt,
    Target,
};
use kernel::types::{Elem, Type};
use kernel::visit::{for_each_stmt, inner_loops};
use semantics::span::Span;
use std::collections::{BTreeMap, BTreeSet};

/// Vectorises a loop.
///
/// # Errors
/// Why the result would differ.
pub(super) fn vectorize(
    kernel: &mut Kernel,
    f: &For,
    lanes: u32,
    tail: Tail,
    around: &Facts,
) -> Result<Vec<Stmt>, Refusal> {
    if f.step != 1 {
        return Err(Refusal::at(f.span, "a loop is vectorised from a step of 1"));
    }
    let own = own_registers(kernel, &f.body);
    let reductions = reductions(kernel, f, &own)?;
    let reduced = |access: &Access| {
        reductions
            .iter()
            .any(|r| r.target == Target::Array(access.clone()))
    };
    depend::independent(kernel, f, around, &reduced)?;
    let mut ranges = Ranges::new(kernel, f, i64::from(lanes), around)?;
    if tail == Tail::Round && !ranges.full {
        if let Some(r) = reductions.first() {
            return Err(round::accumulates(kernel, f, &r.target));
        }
        round::check(kernel, f, i64::from(lanes), around)?;
        ranges.full = true;
    }
    if tail == Tail::Shift {
        if let Some(r) = reductions.first() {
            return Err(shift::accumulates(kernel, f, &r.target));
        }
        shift::check(kernel, f)?;
    }
    let mut facts = around.clone();
    facts.add_loop(f.var, &ranges.lo, &ranges.hi, 1);
    let mut lanes_of = Lanes {
        x: f.var,
        lanes,
        facts,
        symbols: BTreeMap::new(),
        registers: BTreeMap::new(),
        locals: BTreeMap::new(),
        reductions,
        live: None,
        before: Vec::new(),
        after: Vec::new(),
        kernel,
    };
    lanes_of.own_registers(&own)?;
    lanes_of.prepare_reductions(f, false);
    let main = lanes_of.body(f)?;
    let last = match tail {
        _ if ranges.full => Last::Scalars,
        Tail::Mask => Last::Masked(lanes_of.masked_body(f, &ranges.hi)?),
        Tail::Shift => Last::Shifted(lanes_of.masked_body(f, &ranges.hi)?),
        Tail::Scalar | Tail::Round => Last::Scalars,
    };
    let mut out = std::mem::take(&mut lanes_of.before);
    let after = std::mem::take(&mut lanes_of.after);
    out.extend(ranges.loops(kernel, f, main, last, around));
    out.extend(after);
    Ok(out)
}

/// A loop variable with the statements over lanes that it runs.
type Body = (Symbol, Vec<Stmt>);

/// What computes the iterations that vectors from the start leave over.
enum Last {
    Scalars,
    Masked(Body),
    Shifted(Body),
}

/// How the iterations of a loop are shared between vectors and scalars.
struct Ranges {
    /// Where vectors start.
    lo: Index,
    /// Where they end.
    hi: Index,
    /// Iterations in one vector.
    count: i64,
    /// Whether no iteration comes before them.
    from_start: bool,
    /// Whether no iteration comes behind `hi`.
    to_end: bool,
    /// Whether vectors hold all iterations.
    full: bool,
}

impl Ranges {
    fn new(kernel: &Kernel, f: &For, count: i64, around: &Facts) -> Result<Ranges, Refusal> {
        let interior = super::interior::interior(kernel, f, around)?;
        let (lo, hi) = interior.unwrap_or((f.lo.clone(), f.hi.clone()));
        let from_start = around.proves_at_most(&lo, &f.lo);
        let to_end = around.proves_at_most(&f.hi, &hi);
        let rest = Index::Mod(Box::new(f.hi.minus(&f.lo)), Box::new(Index::Const(count)));
        let full = from_start && to_end && around.proves_at_most(&rest, &Index::Const(0));
        Ok(Ranges {
            lo,
            hi,
            count,
            from_start,
            to_end,
            full,
        })
    }

    /// The loops: scalars before the vectors, vectors, and what is left behind them.
    fn loops(
        self,
        kernel: &mut Kernel,
        f: &For,
        main: Body,
        last: Last,
        around: &Facts,
    ) -> Vec<Stmt> {
        let Ranges { lo, hi, count, .. } = self;
        let vectors = |(var, body): Body, lo: &Index, hi: Index, partial: bool| {
            Stmt::For(For {
                step: count,
                partial,
                ..For::new(var, (lo.clone(), hi), body, f.span)
            })
        };
        let mut out = Vec::new();
        if !self.from_start {
            out.extend(border::before(kernel, f, &lo, around));
        }
        if self.full {
            out.push(vectors(main, &lo, hi, false));
            return out;
        }
        out.push(vectors(main, &lo, hi.offset(1 - count), false));
        let length = Index::larger(hi.minus(&lo), Index::Const(0));
        let done = Index::Div(Box::new(length), Box::new(Index::Const(count))).times(count);
        let behind = lo.plus(&done);
        match last {
            Last::Scalars => out.push(Stmt::For(border::over(
                kernel,
                f,
                (behind, hi.clone()),
                None,
                around,
            ))),
            Last::Masked(body) => out.push(vectors(body, &behind, hi.clone(), true)),
            Last::Shifted(body) => {
                let (last, end, behind) = shift::bounds(&lo, &hi, count);
                out.push(vectors(body, &last, end, false));
                // Only where there is no whole vector.
                let rest = border::over(kernel, f, (behind, hi.clone()), None, around);
                out.push(Stmt::For(For {
                    leftover: true,
                    ..rest
                }));
            }
        }
        if !self.to_end {
            out.extend(border::behind(kernel, f, &Index::larger(lo, hi), around));
        }
        out
    }
}

/// A sum or extreme that a loop accumulates.
#[derive(Clone)]
struct Reduced {
    target: Target,
    reduction: Reduction,
    ty: Type,
    /// Whether products are added to it before they are rounded.
    product: bool,
    /// The register of the lanes, once it is made.
    partial: Option<Id>,
}

/// What the loop accumulates in one place: `s += e`, `s = max(s, e)`, `s = min(s, e)` with an
/// `s` that is the same in all iterations and is not used otherwise in the loop.
fn reductions(kernel: &Kernel, f: &For, own: &BTreeSet<Id>) -> Result<Vec<Reduced>, Refusal> {
    let mut found: Vec<Reduced> = Vec::new();
    let inner = inner_loops(&f.body);
    let (mut problem, mut order) = (None, None);
    each_assign(&f.body, &mut |a| {
        let same = match &a.target {
            Target::Register(id) => !own.contains(id),
            Target::Array(access) => {
                let moves = |s: Symbol| access.index.iter().any(|i| i.mentions(s));
                !moves(f.var) && !inner.iter().any(|&s| moves(s))
            }
        };
        if !same {
            return;
        }
        match a.accumulation() {
            Some((reduction, added)) => {
                let ty = Type::scalar(a.value.ty.elem);
                let product = matches!(added, Added::Product(..));
                if ty.elem.format().is_some() && !a.reassociate {
                    order.get_or_insert((ty.elem, a.span));
                }
                match found.iter_mut().find(|r| r.target == a.target) {
                    Some(r) if r.reduction != reduction => problem = Some(a.span),
                    Some(r) => r.product |= product,
                    None => found.push(Reduced {
                        target: a.target.clone(),
                        reduction,
                        ty,
                        product,
                        partial: None,
                    }),
                }
            }
            None => problem = Some(a.span),
        }
    });
    let used = |r: &Reduced| uses_besides(kernel, f, r);
    problem = problem.or_else(|| found.iter().find_map(used));
    if let (None, Some((elem, span))) = (problem, order) {
        return Err(super::order_matters(elem, span));
    }
    match problem {
        Some(span) => Err(Refusal::at(span, "every iteration changes this one value, other than by adding to it")
            .note("sums `s += e`, and `s = min(s, e)` or `max`, can be kept in lanes, when the loop does not use `s` otherwise")),
        None => Ok(found),
    }
}

fn each_assign<'s>(body: &'s [Stmt], f: &mut impl FnMut(&'s Assign)) {
    for_each_stmt(body, &mut |stmt, _| {
        if let Stmt::Assign(a) = stmt {
            f(a);
        }
    });
}

/// What changes nothing when it is accumulated, and the operation.
fn neutral(reduction: Reduction, elem: Elem) -> (i128, Op) {
    let (least, greatest) = elem.extremes();
    match reduction {
        Reduction::Add => (elem.zero_of_sums(), Op::Add),
        Reduction::Min => (greatest, Op::Min),
        Reduction::Max => (least, Op::Max),
    }
}

/// Where the loop uses an accumulated value otherwise than to accumulate.
fn uses_besides(kernel: &Kernel, f: &For, r: &Reduced) -> Option<Span> {
    let mut found = None;
    let mut look = |e: &Expr| {
        kernel.for_each_leaf(e, &|_| true, &mut |leaf| match (&leaf.kind, &r.target) {
            (ExprKind::Register(id), Target::Register(t)) if id == t => found = Some(leaf.span),
            (ExprKind::Load(a), Target::Array(t)) if a.array == t.array => found = Some(leaf.span),
            _ => {}
        });
    };
    let mut elsewhere = None;
    each_assign(
        &f.body,
        &mut |a| match (a.accumulation(), &a.target, &r.target) {
            (Some((_, added)), _, _) if a.target == r.target => match added {
                Added::Value(e) => look(e),
                Added::Product(p, q) => {
                    look(p);
                    look(q);
                }
            },
            (_, Target::Array(a1), Target::Array(t)) if a1.array == t.array => {
                elsewhere = Some(a.span);
            }
            _ => look(&a.value),
        },
    );
    found.or(elsewhere)
}

/// Whether a value is a number as it is written, of some type.
fn is_constant(e: &Expr) -> bool {
    let other = |e: &Expr| match e.kind {
        ExprKind::Const(_) | ExprKind::Apply(Op::Cast, _) => None,
        _ => Some(()),
    };
    e.find(&other).is_none()
}

/// Turns scalar statements into statements over lanes.
struct Lanes<'k> {
    kernel: &'k mut Kernel,
    x: Symbol,
    lanes: u32,
    /// What holds of the loop variable in the vector loop.
    facts: Facts,
    /// What the loop variable and those of inner loops become.
    symbols: BTreeMap<Symbol, Index>,
    registers: BTreeMap<Id, Id>,
    locals: BTreeMap<Id, Id>,
    reductions: Vec<Reduced>,
    /// In a masked tail, how many leading lanes count.
    live: Option<Index>,
    before: Vec<Stmt>,
    after: Vec<Stmt>,
}

impl Lanes<'_> {
    /// The statements over lanes, under a loop variable of their own.
    fn body(&mut self, f: &For) -> Result<Body, Refusal> {
        let var = fresh(self.kernel, f.var);
        self.locals.clear();
        self.symbols = BTreeMap::from([(f.var, Index::Sym(var))]);
        let body = self.block(&f.body)?;
        Ok((var, body))
    }

    /// The statements once more, for a tail of which only leading lanes are used. What is
    /// accumulated there has registers of its own, as wide as the vector, in which unused
    /// lanes do not change.
    fn masked_body(&mut self, f: &For, hi: &Index) -> Result<Body, Refusal> {
        let var = fresh(self.kernel, f.var);
        self.locals.clear();
        self.symbols = BTreeMap::from([(f.var, Index::Sym(var))]);
        if !self.reductions.is_empty() {
            self.prepare_reductions(f, true);
            self.live = Some(hi.minus(&Index::Sym(var)));
        }
        let body = self.block(&f.body)?;
        Ok((var, body))
    }

    /// Which lanes are among the leading `count`, told by numbers as wide as the elements that
    /// they choose: a mask of those needs no other width.
    fn live_lanes(&self, count: Index, chosen: Elem, span: Span) -> Expr {
        let fits = |bits: &u32| i64::from(self.lanes) < 1 << (bits - 1);
        let widths = [8, 16, 32].into_iter().filter(fits);
        let bits = widths.chain([64]).find(|bits| *bits >= chosen.bits());
        let elem = Elem::signed(bits.unwrap_or(64));
        let typed = |kind, elem, lanes| Expr {
            kind,
            ty: Type { elem, lanes },
            span,
        };
        let numbers = (0..i128::from(self.lanes)).collect();
        let numbers = typed(ExprKind::Const(numbers), elem, self.lanes);
        let count = typed(ExprKind::Index(count), elem, 1);
        typed(
            ExprKind::Apply(Op::Lt, vec![numbers, count]),
            Elem::Bool,
            self.lanes,
        )
    }

    fn own_registers(&mut self, own: &BTreeSet<Id>) -> Result<(), Refusal> {
        for &id in own {
            let register = self.kernel.registers[id].clone();
            if register.ty.lanes > 1 {
                let message = format!("`{}` is a vector already", register.name);
                return Err(Refusal::at(self.kernel.span, message));
            }
            let ty = Type {
                lanes: self.lanes,
                ..register.ty
            };
            self.registers.insert(id, self.kernel.registers.len());
            self.kernel.registers.push(Register { ty, ..register });
        }
        Ok(())
    }

    fn block(&mut self, body: &[Stmt]) -> Result<Vec<Stmt>, Refusal> {
        body.iter().map(|s| self.stmt(s)).collect()
    }

    fn stmt(&mut self, stmt: &Stmt) -> Result<Stmt, Refusal> {
        match stmt {
            Stmt::For(f) => {
                if f.lo.mentions(self.x) || f.hi.mentions(self.x) {
                    return Err(Refusal::at(
                        f.span,
                        "the bounds of this inner loop differ between the lanes",
                    ));
                }
                let (lo, hi) = (
                    substitute(&f.lo, &self.symbols),
                    substitute(&f.hi, &self.symbols),
                );
                let var = fresh(self.kernel, f.var);
                let outside = self.facts.clone();
                self.facts.add_loop(f.var, &f.lo, &f.hi, f.step);
                self.symbols.insert(f.var, Index::Sym(var));
                let body = self.block(&f.body)?;
                self.facts = outside;
                Ok(Stmt::For(For {
                    var,
                    lo,
                    hi,
                    body,
                    ..f.clone()
                }))
            }
            Stmt::Let(id) => Ok(Stmt::Let(self.local(*id)?)),
            Stmt::Assign(a) => self.assign(a),
        }
    }

    fn assign(&mut self, a: &Assign) -> Result<Stmt, Refusal> {
        if let Some(r) = self
            .reductions
            .iter()
            .find(|r| r.target == a.target)
            .cloned()
        {
            return self.accumulate(a, &r);
        }
        let value = self.expr(&a.value)?;
        let target = match &a.target {
            Target::Register(id) => Target::Register(*self.registers.get(id).unwrap_or(id)),
            Target::Array(access) => {
                let access = self.access(access)?;
                if access.lanes == 1 {
                    let message = "every lane writes the same element";
                    return Err(Refusal::at(a.span, message));
                }
                Target::Array(access)
            }
        };
        Ok(Stmt::Assign(Assign {
            target,
            value,
            ..a.clone()
        }))
    }

    fn accumulate(&mut self, a: &Assign, r: &Reduced) -> Result<Stmt, Refusal> {
        let (_, added) = a
            .accumulation()
            .expect("a reduction was recognised by its accumulation");
        let id = r.partial.expect("every reduction was prepared");
        let ty = self.kernel.registers[id].ty;
        let span = a.span;
        let typed = |kind, ty| Expr { kind, ty, span };
        let lanes = typed(ExprKind::Register(id), ty);
        let apply = |op, args| typed(ExprKind::Apply(op, args), ty);
        let (accumulate, value) = match (added, r.reduction) {
            (Added::Product(p, q), _) => {
                let (p, q) = (self.broadcast(p)?, self.broadcast(q)?);
                (false, apply(Op::Fma, vec![p, q, lanes]))
            }
            (Added::Value(e), Reduction::Add) => {
                let value = self.broadcast(e)?;
                let n = self.lanes / ty.lanes;
                let kind = ExprKind::Reduce(Reduction::Add, Box::new(value.clone()), n);
                (true, if n == 1 { value } else { typed(kind, ty) })
            }
            (Added::Value(e), Reduction::Min) => {
                (false, apply(Op::Min, vec![lanes, self.broadcast(e)?]))
            }
            (Added::Value(e), Reduction::Max) => {
                (false, apply(Op::Max, vec![lanes, self.broadcast(e)?]))
            }
        };
        let live = self.live.clone();
        let value = match live.map(|count| self.live_lanes(count, ty.elem, span)) {
            Some(live) if !accumulate => {
                let old = typed(ExprKind::Register(id), ty);
                apply(Op::Select, vec![live, value, old])
            }
            Some(live) => {
                let none = ExprKind::Const(vec![neutral(r.reduction, ty.elem).0]);
                let none = typed(none, Type::scalar(ty.elem));
                apply(Op::Select, vec![live, value, none])
            }
            None => value,
        };
        Ok(Stmt::Assign(Assign {
            target: Target::Register(id),
            accumulate,
            reassociate: a.reassociate,
            value,
            span,
        }))
    }

    /// A value in every lane.
    fn broadcast(&mut self, e: &Expr) -> Result<Expr, Refusal> {
        let value = self.expr(e)?;
        if value.ty.lanes > 1 {
            return Ok(value);
        }
        let (elem, span) = (value.ty.elem, e.span);
        let order = vec![0; self.lanes as usize];
        Ok(Expr {
            kind: ExprKind::Shuffle(vec![value], order),
            ty: Type {
                elem,
                lanes: self.lanes,
            },
            span,
        })
    }

    fn local(&mut self, id: Id) -> Result<Id, Refusal> {
        if let Some(&done) = self.locals.get(&id) {
            return Ok(done);
        }
        let local = self.kernel.locals[id].clone();
        let value = self.expr(&local.value)?;
        let copy = self.kernel.locals.len();
        self.kernel.locals.push(Local { value, ..local });
        self.locals.insert(id, copy);
        Ok(copy)
    }

    /// An index of lane 0, and how much further each lane is.
    fn index(&self, index: &Index, span: Span) -> Result<(Index, i64), Refusal> {
        let index = if index.mentions(self.x) {
            self.facts.without_clamps(index)
        } else {
            index.clone()
        };
        let by = if index.mentions(self.x) {
            let linear = index.linear();
            let linear = linear.ok_or_else(|| {
                let text = self.kernel.index_text(&index);
                Refusal::at(
                    span,
                    format!("the lanes of `{text}` do not lie evenly apart"),
                )
            })?;
            linear.coefficient(self.x)
        } else {
            0
        };
        Ok((substitute(&index, &self.symbols), by))
    }

    fn access(&self, access: &Access) -> Result<Access, Refusal> {
        if access.lanes > 1 {
            return Err(Refusal::at(access.span, "this is a vector already"));
        }
        let mut out = access.clone();
        for (d, index) in access.index.iter().enumerate() {
            let (first, by) = self.index(index, access.span)?;
            out.index[d] = first;
            if by != 0 {
                if out.lanes > 1 {
                    return Err(Refusal::at(
                        access.span,
                        "the lanes go along two dimensions",
                    ));
                }
                (out.lanes, out.dim, out.stride) = (self.lanes, d, by);
            }
        }
        Ok(out)
    }

    fn expr(&mut self, e: &Expr) -> Result<Expr, Refusal> {
        let typed = |kind, lanes| Expr {
            kind,
            ty: Type {
                elem: e.ty.elem,
                lanes,
            },
            span: e.span,
        };
        match &e.kind {
            ExprKind::Const(_) | ExprKind::Scalar(_) => Ok(e.clone()),
            ExprKind::Register(id) => match self.registers.get(id) {
                Some(&laned) => Ok(typed(ExprKind::Register(laned), self.lanes)),
                None => Ok(e.clone()),
            },
            ExprKind::Local(id) => {
                if self.kernel.locals[*id].stated && !self.locals.contains_key(id) {
                    return Ok(e.clone());
                }
                let copy = self.local(*id)?;
                let lanes = self.kernel.locals[copy].value.ty.lanes;
                Ok(typed(ExprKind::Local(copy), lanes))
            }
            ExprKind::Load(access) => {
                let access = self.access(access)?;
                let lanes = access.lanes;
                Ok(typed(ExprKind::Load(access), lanes))
            }
            ExprKind::Index(index) => {
                let (first, by) = self.index(index, e.span)?;
                let first = typed(ExprKind::Index(first), 1);
                if by == 0 {
                    return Ok(first);
                }
                let steps = (0..i128::from(self.lanes))
                    .map(|j| e.ty.elem.wrap(j * i128::from(by)))
                    .collect();
                let steps = typed(ExprKind::Const(steps), self.lanes);
                Ok(typed(
                    ExprKind::Apply(Op::Add, vec![first, steps]),
                    self.lanes,
                ))
            }
            ExprKind::Apply(op, args) => {
                let args = args
                    .iter()
                    .map(|a| self.expr(a))
                    .collect::<Result<Vec<_>, _>>()?;
                let lanes = args.iter().map(|a| a.ty.lanes).max().unwrap_or(1);
                Ok(typed(ExprKind::Apply(*op, args), lanes))
            }
            ExprKind::Reduce(..) | ExprKind::Shuffle(..) => Err(Refusal::at(
                e.span,
                "this works on lanes already; a loop is vectorised from scalar statements",
            )),
        }
    }
}
