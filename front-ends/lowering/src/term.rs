//! Terms of windows.
//!
//! In: typed expressions. Out: a term per expression, and the operand registers that it
//! reads. Element `j` of an expression is a term over the index `j`, so that a window is
//! one rolled map over its lanes. A scalar operand of a vector expression becomes a
//! register that holds it in every lane.

use super::along::{Along, MOST_APART};
use super::float;
use crate::window::{Input, Source};
use kernel::index::Index;
use kernel::lia::Facts;
use kernel::tree::{Access, Expr, ExprKind, Id, Kernel, Reduction};
use kernel::types::{Elem, Type};
use semantics::build as b;
use semantics::sort::Sort;
use semantics::term::Term;
use std::collections::BTreeMap;

/// How lanes that are added up are dealt to those of the result.
#[derive(Clone, Copy)]
enum Dealt {
    /// To one after the other, so many neighbours at a time.
    InTurn(u32),
    /// All that so many lanes would get to the first of them.
    Gathered(u32),
}

/// The most bits of lanes of which the first gets all.
const GATHERED: u32 = 64;

/// Builds the term of one window.
pub(super) struct TermBuilder<'k> {
    kernel: &'k Kernel,
    /// Local values that are kept in registers.
    materialized: &'k BTreeMap<Id, Id>,
    /// What holds of the loop variables where the window stands; none where not all lanes
    /// may be loaded.
    facts: Option<&'k Facts>,
    inputs: Vec<Input>,
    memo: BTreeMap<(Id, Term, u32), Term>,
    /// The lanes of results to which lanes are dealt, and how; all neighbours are together otherwise.
    dealt: Option<(u32, Dealt)>,
}

impl<'k> TermBuilder<'k> {
    /// A builder without operands. `materialized` gives the register of each local value that an
    /// earlier window computed.
    pub(super) fn new(
        kernel: &'k Kernel,
        materialized: &'k BTreeMap<Id, Id>,
        facts: Option<&'k Facts>,
    ) -> Self {
        TermBuilder {
            kernel,
            materialized,
            facts,
            inputs: Vec::new(),
            memo: BTreeMap::new(),
            dealt: None,
        }
    }

    /// The operands, in order of first use.
    pub(super) fn into_inputs(self) -> Vec<Input> {
        self.inputs
    }

    /// All lanes of a value, spread over `ty.lanes`, plus what is there before if it is
    /// accumulated.
    pub(super) fn statement(&mut self, value: &Expr, ty: Type, old: Option<Source>) -> Term {
        let j = Term::index();
        let old = old.map(|source| {
            let register = self.operand(source, ty);
            element(register, j, ty.elem)
        });
        let new = self.elem(value, j, ty.lanes);
        let body = old.map_or(new, |old| combine(Reduction::Add, ty.elem, old, new));
        b::map(ty.lanes, body)
    }

    /// The same, with lanes that are reduced to those of the result dealt to them in turn, one at
    /// a time, two, four, …; and with sums of narrower elements in every second lane, every fourth, …, as
    /// instructions leave them that add many neighbours in a wide lane.
    pub(super) fn dealt(&mut self, value: &Expr, ty: Type, old: &Option<Source>) -> Vec<Term> {
        let mut terms = Vec::new();
        let most = self.most_reduced(value, ty.lanes);
        let doubled = |from: u32| std::iter::successors(Some(from), |n| n.checked_mul(2));
        let in_turn = doubled(1).take_while(|&n| n < most).map(Dealt::InTurn);
        let room = |n: &u32| n * ty.elem.bits() <= GATHERED && *n <= ty.lanes;
        let gathered = doubled(2).take_while(room).map(Dealt::Gathered);
        let adds = most > 1 && self.adds_extended(value);
        let gathered = gathered.filter(|_| adds);
        for dealt in in_turn.chain(gathered) {
            self.memo.clear();
            self.dealt = Some((ty.lanes, dealt));
            terms.push(self.statement(value, ty, old.clone()));
        }
        self.dealt = None;
        terms
    }

    /// Whether all that is reduced are sums of integers that were narrower.
    fn adds_extended(&self, value: &Expr) -> bool {
        let mut all = true;
        self.kernel.walk(value, &|_| true, &mut |e| {
            if let ExprKind::Reduce(reduction, arg, _) = &e.kind {
                let narrow = arg
                    .operands()
                    .iter()
                    .any(|of| of.ty.elem.bits() < arg.ty.elem.bits());
                all &= *reduction == Reduction::Add && arg.ty.elem.format().is_none() && narrow;
            }
            e.operands()
        });
        all
    }

    /// How many lanes become one of the result's, at most.
    fn most_reduced(&self, value: &Expr, lanes: u32) -> u32 {
        let mut most = 1;
        self.kernel.walk(value, &|_| true, &mut |e| {
            if let ExprKind::Reduce(_, arg, n) = &e.kind
                && arg.ty.lanes == n * lanes
            {
                most = most.max(*n);
            }
            e.operands()
        });
        most
    }

    fn operand(&mut self, source: Source, ty: Type) -> Term {
        let sort = Sort::Bv(ty.width());
        if let Some(input) = self
            .inputs
            .iter()
            .find(|i| i.source == source && i.ty == ty)
        {
            return Term::var(&input.name, sort);
        }
        let base = match &source {
            Source::Array(access) => self.kernel.arrays[access.array].name.clone(),
            Source::Scalar(id) => self.kernel.scalars[*id].name.clone(),
            Source::Register(id) => self.kernel.registers[*id].name.clone(),
            Source::Index(_) => "index".to_owned(),
        };
        let taken = |name: &str| self.inputs.iter().any(|i| i.name == name);
        let numbered = (1u32..).map(|n| format!("{base}_{n}"));
        let name = std::iter::once(base.clone())
            .chain(numbered)
            .find(|n| !taken(n));
        let name = name.expect("one of infinitely many names is free");
        let term = Term::var(&name, sort);
        self.inputs.push(Input { name, ty, source });
        term
    }

    /// Lane `j` of an operand; a source of one lane fills `lanes` of them.
    fn leaf(&mut self, source: Source, ty: Type, j: Term, lanes: u32) -> Term {
        let lanes = if ty.lanes == 1 { lanes } else { ty.lanes };
        let register = self.operand(
            source,
            Type {
                elem: ty.elem,
                lanes,
            },
        );
        element(register, j, ty.elem)
    }

    /// A load. Lanes that lie up to [`MOST_APART`] elements apart in memory, in either direction, come from as many
    /// dense registers as are needed, where those stay inside the array.
    fn load(&mut self, access: &Access, ty: Type, j: Term, lanes: u32) -> Term {
        match self.dense_parts(access) {
            Some((parts, apart, at)) => {
                let registers = parts.into_iter();
                let registers = registers.map(|part| self.operand(Source::Array(part), ty));
                let mut registers: Vec<Term> = registers.collect();
                registers.reverse();
                let lane = b::int_add(b::int_mul(j, Term::int(apart)), Term::int(at));
                element(b::concat(&registers), lane, ty.elem)
            }
            None => self.leaf(Source::Array(access.clone()), ty, j, lanes),
        }
    }

    /// Dense accesses that hold all lanes of one whose lanes lie apart and stay inside the array; how far
    /// apart the lanes are, and where in them the first is.
    fn dense_parts(&self, access: &Access) -> Option<(Vec<Access>, i64, i64)> {
        let along = Along::of(self.kernel, access)?;
        let apart = along.apart.abs();
        if access.is_dense() || !(1..=MOST_APART).contains(&apart) {
            return None;
        }
        let count = i64::from(access.lanes);
        let first = self.dense_cover(&along, count)?;
        let part =
            |n: i64| along.dense(self.kernel, access, &first.offset(n * count), access.lanes);
        let parts: Option<Vec<Access>> = (0..apart).map(part).collect();
        let at = along.first.minus(&first).linear();
        let at = at.filter(|l| l.terms.is_empty())?.constant;
        Some((parts?, along.apart, at))
    }

    /// The first element of a dense range of `count * |apart|` elements that holds all
    /// lanes and stays inside the array.
    fn dense_cover(&self, along: &Along, count: i64) -> Option<Index> {
        let facts = self.facts?;
        let apart = along.apart.abs();
        let low = along.first.offset((along.apart * (count - 1)).min(0));
        // Covers that start at a multiple of the distance come first: neighbouring phases
        // then share their registers.
        let phase = low.linear()?.constant.rem_euclid(apart);
        let candidates = (0..apart).map(|back| low.offset(-((phase + back) % apart)));
        candidates.into_iter().find(|first| {
            let end = first.offset(count * apart);
            facts.proves_at_most(&Index::Const(0), first)
                && facts.proves_at_most(&end, &along.count)
        })
    }

    /// All lanes of an expression; a truth value is a bit.
    fn full(&mut self, e: &Expr) -> Term {
        let mut body = self.elem(e, Term::index(), e.ty.lanes);
        if e.ty.elem == Elem::Bool {
            body = b::ite(body, Term::bv(1, 1), Term::bv(1, 0));
        }
        b::map(e.ty.lanes, body)
    }

    /// Lane `j` of an expression; a scalar is the same in each of `lanes` lanes.
    fn elem(&mut self, e: &Expr, j: Term, lanes: u32) -> Term {
        let elem = e.ty.elem;
        match &e.kind {
            ExprKind::Const(values) => {
                let lane = match &values[..] {
                    [value] => Term::bv(elem.bits(), *value),
                    _ => {
                        let parts = values.iter().rev().map(|&v| Term::bv(elem.bits(), v));
                        element(b::concat(&parts.collect::<Vec<Term>>()), j, elem)
                    }
                };
                truth(elem, lane)
            }
            ExprKind::Scalar(id) => self.leaf(Source::Scalar(*id), e.ty, j, lanes),
            ExprKind::Register(id) => self.leaf(Source::Register(*id), e.ty, j, lanes),
            ExprKind::Load(access) => self.load(access, e.ty, j, lanes),
            ExprKind::Index(index) => match index.constant_value() {
                Some(value) => Term::bv(elem.bits(), elem.wrap(i128::from(value))),
                None => self.leaf(Source::Index(index.clone()), e.ty, j, lanes),
            },
            ExprKind::Local(id) => self.local(*id, e, j, lanes),
            ExprKind::Apply(op, args) => {
                let terms: Vec<Term> = args.iter().map(|a| self.elem(a, j, lanes)).collect();
                let from: Vec<Elem> = args.iter().map(|a| a.ty.elem).collect();
                super::ops::in_lanes(*op, elem, &from, &terms)
            }
            ExprKind::Reduce(reduction, arg, n) => {
                let j = if e.ty.lanes == 1 { Term::int(0) } else { j };
                self.reduce(*reduction, arg, *n, j)
            }
            ExprKind::Shuffle(parts, order) => {
                let j = if e.ty.lanes == 1 { Term::int(0) } else { j };
                self.shuffle(e, parts, order, j)
            }
        }
    }

    fn local(&mut self, id: Id, e: &Expr, j: Term, lanes: u32) -> Term {
        if let Some(&register) = self.materialized.get(&id) {
            return self.leaf(Source::Register(register), e.ty, j, lanes);
        }
        if let Some(&done) = self.memo.get(&(id, j, lanes)) {
            return done;
        }
        let kernel = self.kernel;
        let term = self.elem(&kernel.locals[id].value, j, lanes);
        self.memo.insert((id, j, lanes), term);
        term
    }

    fn reduce(&mut self, reduction: Reduction, arg: &Expr, n: u32, j: Term) -> Term {
        let lanes = arg.ty.lanes / n;
        let together = match self.dealt {
            Some((of, Dealt::Gathered(each))) if of == lanes && j == Term::index() => {
                return self.gathered(arg, n, each);
            }
            Some((of, Dealt::InTurn(n_at_a_time)))
                if of == lanes && n.is_multiple_of(n_at_a_time) =>
            {
                n_at_a_time
            }
            _ => n,
        };
        let first = b::int_mul(j, Term::int(i64::from(together)));
        let parts: Vec<Term> = (0..n)
            .map(|r| {
                let turn = r / together * together * lanes + r % together;
                let lane = b::int_add(first, Term::int(i64::from(turn)));
                self.elem(arg, lane, arg.ty.lanes)
            })
            .collect();
        parts
            .into_iter()
            .reduce(|x, y| combine(reduction, arg.ty.elem, x, y))
            .expect("at least one lane is reduced")
    }

    /// Lane `j` of sums of which the first of so many lanes gets what all would.
    fn gathered(&mut self, arg: &Expr, n: u32, each: u32) -> Term {
        let (lanes, bits) = (arg.ty.lanes / n, arg.ty.elem.bits());
        let dealt = self.dealt.take();
        let sum = self.reduce(Reduction::Add, arg, n * each, Term::index());
        self.dealt = dealt;
        let whole = b::map(lanes / each, b::zext(sum, each * bits));
        element(whole, Term::index(), arg.ty.elem)
    }

    fn shuffle(&mut self, e: &Expr, parts: &[Expr], order: &[u32], j: Term) -> Term {
        let elem = e.ty.elem;
        if let [part] = parts {
            if let Some(access) = repeated(part, order) {
                let register = self.operand(Source::Array(access.clone()), e.ty);
                return element(register, j, elem);
            }
            if part.ty.lanes == 1 {
                return self.elem(part, j, e.ty.lanes);
            }
        }
        let wide: Vec<Term> = parts.iter().rev().map(|p| self.full(p)).collect();
        let whole = b::concat(&wide);
        let lane = match affine(order) {
            Some((start, stride)) => {
                let lane = b::int_add(b::int_mul(j, Term::int(stride)), Term::int(start));
                element(whole, lane, elem)
            }
            None => {
                let bits = elem.bits();
                let lanes: Vec<Term> = order
                    .iter()
                    .rev()
                    .map(|&l| b::extract(whole, l * bits, bits))
                    .collect();
                element(b::concat(&lanes), j, elem)
            }
        };
        truth(elem, lane)
    }
}

/// An element of a register as its type has it: a bit is a truth value.
fn truth(elem: Elem, lane: Term) -> Term {
    match elem {
        Elem::Bool => b::eq(lane, Term::bv(1, 1)),
        _ => lane,
    }
}

/// Two values of a reduction as one.
fn combine(reduction: Reduction, elem: Elem, x: Term, y: Term) -> Term {
    match (reduction, elem.format()) {
        (Reduction::Add, Some(format)) => float::add(format, x, y),
        (_, Some(format)) => float::extreme(format, reduction == Reduction::Max, x, y),
        (Reduction::Add, _) => b::add(x, y),
        (Reduction::Min, _) if elem.is_signed() => b::smin(x, y),
        (Reduction::Min, _) => b::umin(x, y),
        (Reduction::Max, _) if elem.is_signed() => b::smax(x, y),
        (Reduction::Max, _) => b::umax(x, y),
    }
}

/// Element `j` of a register.
fn element(register: Term, j: Term, elem: Elem) -> Term {
    let bits = elem.bits();
    if register.width() == bits {
        return register;
    }
    b::extract_at(register, b::int_mul(j, Term::int(i64::from(bits))), bits)
}

/// The access whose elements fill the vector again and again.
fn repeated<'e>(part: &'e Expr, order: &[u32]) -> Option<&'e Access> {
    let ExprKind::Load(access) = &part.kind else {
        return None;
    };
    let repeats = (0u32..).zip(order).all(|(i, &l)| l == i % access.lanes);
    (repeats && order.len().is_multiple_of(access.lanes as usize)).then_some(access)
}

/// Start and stride, when each lane is that much above the one before.
fn affine(order: &[u32]) -> Option<(i64, i64)> {
    let start = i64::from(*order.first()?);
    let stride = order.get(1).map_or(0, |&second| i64::from(second) - start);
    let fits = (0i64..)
        .zip(order)
        .all(|(i, &l)| i64::from(l) == start + i * stride);
    (fits && stride >= 0).then_some((start, stride))
}
