//! Parts of sums, minima and maxima that several statements of a block have in common are formed once.
//!
//! In: the statements of a block, as rows that are jammed or unrolled beside each other. Out: the same
//! statements with registers, each filled once, before the first that needs it: the sums along a row
//! that the rows above and below take too, also where they take a multiple of it. Integers only, whose
//! sums may be formed in any order. A sum whose values fit into narrower elements is kept in these.
//! What saves the most operations is taken first, again and again, as common subexpressions of sums are
//! found in hardware synthesis (Hosangadi, Fallah and Kastner 2006). Whether it pays is not asked here:
//! a statement that is apart may have had a better instruction.

use crate::interleave::named;
use kernel::tree::{Assign, Expr, ExprKind, Kernel, Op, Stmt};
use kernel::types::{Elem, Type};
use kernel::values::{Values, within};
use std::collections::BTreeMap;

/// Larger expressions are left as they are.
const MOST_PARTS: usize = 4000;

/// More sums and extremes side by side are not compared with each other.
const MOST_FORMS: usize = 96;

/// Where less than one of so many operations is saved, nothing is: registers are wanted for it, and
/// another search.
const ONE_OF: usize = 4;

/// What is formed of its parts in any order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// Sums modulo 2^bits of parts with factors.
    Sum,
    /// The least or the greatest of parts: `Op::Min` or `Op::Max`.
    Extreme(Op),
}

/// What is formed how, in which type, of which leaves with which factors.
type Part = (Kind, Type, BTreeMap<usize, i128>);

/// Parts with their factors (of extremes, 1), and for a sum what is added to them.
#[derive(Clone, Debug)]
struct Form {
    kind: Kind,
    ty: Type,
    parts: BTreeMap<usize, i128>,
    added: i128,
    /// The first statement that needs it.
    at: usize,
    /// Whether it is no longer what was written.
    changed: bool,
}

impl Form {
    fn of(kind: Kind, ty: Type, at: usize) -> Form {
        Form {
            kind,
            ty,
            parts: BTreeMap::new(),
            added: 0,
            at,
            changed: false,
        }
    }

    /// The parts that an expression has in it, which is no leaf of it then.
    fn parts_of<'e>(&self, e: &'e Expr) -> Option<Vec<(&'e Expr, i128)>> {
        (e.ty == self.ty).then(|| parts_of(e, self.kind)).flatten()
    }

    /// By what `part` has to be multiplied to be contained in this one.
    fn contains(&self, part: &BTreeMap<usize, i128>) -> Option<i128> {
        let mut by = None;
        for (leaf, factor) in part {
            let own = self.parts.get(leaf)?;
            (own % factor == 0 && *by.get_or_insert(own / factor) == own / factor).then_some(())?;
        }
        by
    }
}

/// The statements with their common parts in registers, which are added to the kernel; nothing where
/// there are none.
pub(super) fn parts(kernel: &mut Kernel, body: &[Stmt]) -> Option<Vec<Stmt>> {
    let mut out = Vec::new();
    let mut found = false;
    for run in body.chunk_by(|a, b| !matches!(a, Stmt::For(_)) && !matches!(b, Stmt::For(_))) {
        match (run.len() > 1).then(|| Common::of(kernel, run)).flatten() {
            Some(common) => {
                found = true;
                out.extend(common.statements(kernel, run));
            }
            None => out.extend_from_slice(run),
        }
    }
    found.then_some(out)
}

/// Statements without loops, and what they have in common.
#[derive(Default)]
struct Common {
    /// What forms are made of in the statements.
    leaves: Vec<Expr>,
    /// Those of the statements, in the order in which they are come upon, and behind these the common
    /// ones. A common form is a leaf of others: the first is the one behind `leaves`, and so on.
    forms: Vec<Form>,
    written: usize,
    /// The registers of the common forms, once they are filled, in the elements of the forms.
    filled: Vec<Option<Expr>>,
    /// The statements' values, with names as what they stand for.
    values: Vec<Option<Expr>>,
}

impl Common {
    fn of(kernel: &Kernel, run: &[Stmt]) -> Option<Common> {
        let mut this = Common::default();
        let values = Values::of(&kernel.locals);
        let spread = |e| Some(spread(&values, e));
        for (at, stmt) in run.iter().enumerate() {
            let value = kernel.value(stmt).and_then(|value| {
                let mut left = MOST_PARTS;
                kernel.written_out(value, &mut left, &spread)
            });
            if let Some(value) = &value {
                this.collect(value, at);
            }
            this.values.push(value);
        }
        this.written = this.forms.len();
        if this.written > MOST_FORMS {
            return None;
        }
        let changes = |leaf: &Expr| {
            run.iter().any(|stmt| match stmt {
                Stmt::Assign(a) => kernel.reads(leaf, &a.target, &|_| true),
                _ => false,
            })
        };
        let fixed: Vec<bool> = this.leaves.iter().map(|leaf| !changes(leaf)).collect();
        let all: usize = this.forms.iter().map(|f| f.parts.len().max(1) - 1).sum();
        let mut saved = 0;
        while let Some((fewer, part)) = this.best(&fixed) {
            saved += fewer;
            this.take(part);
        }
        (saved > 0 && saved * ONE_OF >= all).then_some(this)
    }

    /// Adds the forms in an expression.
    fn collect(&mut self, e: &Expr, at: usize) {
        let Some(kind) = kind(e) else {
            e.operands().iter().for_each(|part| self.collect(part, at));
            return;
        };
        let mut form = Form::of(kind, e.ty, at);
        let mut below = Vec::new();
        self.add(e, 1, &mut form, &mut below);
        form.parts.retain(|_, factor| *factor != 0);
        self.forms.push(form);
        for leaf in below {
            leaf.operands()
                .iter()
                .for_each(|part| self.collect(part, at));
        }
    }

    /// Adds an expression, times a factor, to a form; its leaves go to `below`.
    fn add<'e>(&mut self, e: &'e Expr, by: i128, form: &mut Form, below: &mut Vec<&'e Expr>) {
        let elem = form.ty.elem;
        if let Some(parts) = form.parts_of(e) {
            for (part, factor) in parts {
                self.add(part, near_zero(by * factor, elem), form, below);
            }
            return;
        }
        if let (Kind::Sum, Some(number)) = (form.kind, e.same_constant()) {
            form.added = near_zero(form.added + by * number, elem);
            return;
        }
        below.push(e);
        let leaf = self.leaf(e);
        match form.kind {
            Kind::Sum => {
                let factor = form.parts.entry(leaf).or_default();
                *factor = near_zero(*factor + by, elem);
            }
            Kind::Extreme(_) => {
                form.parts.insert(leaf, 1);
            }
        }
    }

    fn leaf(&mut self, e: &Expr) -> usize {
        let known = self.leaves.iter().position(|leaf| same(leaf, e));
        known.unwrap_or_else(|| {
            self.leaves.push(e.clone());
            self.leaves.len() - 1
        })
    }

    /// The part that saves the most operations when it is formed once, and how many.
    fn best(&self, fixed: &[bool]) -> Option<(usize, Part)> {
        let mut best: Option<(usize, Part)> = None;
        for (n, a) in self.forms.iter().enumerate() {
            for b in &self.forms[n + 1..] {
                if (a.kind, a.ty) != (b.kind, b.ty) {
                    continue;
                }
                for part in shared(a, b) {
                    let usable = |leaf: &usize| match self.leaves.get(*leaf) {
                        Some(e) => fixed[*leaf] && e.ty.lanes == a.ty.lanes,
                        None => true,
                    };
                    let part: BTreeMap<_, _> =
                        part.into_iter().filter(|(l, _)| usable(l)).collect();
                    if part.len() < 2 {
                        continue;
                    }
                    let alike = |f: &&Form| (f.kind, f.ty) == (a.kind, a.ty);
                    let users = self.forms.iter().filter(alike);
                    let users = users.filter(|f| f.contains(&part).is_some()).count();
                    let saved = (users - 1) * (part.len() - 1);
                    if best.as_ref().is_none_or(|(most, ..)| saved > *most) {
                        best = Some((saved, (a.kind, a.ty, part)));
                    }
                }
            }
        }
        best
    }

    /// Makes a part a form of its own, and a leaf of those that contain it.
    fn take(&mut self, (kind, ty, parts): Part) {
        let leaf = self.leaf_of(self.forms.len());
        let mut at = usize::MAX;
        for form in &mut self.forms {
            if (form.kind, form.ty) != (kind, ty) {
                continue;
            }
            let Some(by) = form.contains(&parts) else {
                continue;
            };
            form.parts.retain(|leaf, _| !parts.contains_key(leaf));
            form.parts.insert(leaf, by);
            form.changed = true;
            at = at.min(form.at);
        }
        self.forms.push(Form {
            parts,
            changed: true,
            ..Form::of(kind, ty, at)
        });
    }

    /// The leaf that a common form is.
    fn leaf_of(&self, common: usize) -> usize {
        self.leaves.len() + common - self.written
    }

    /// The common forms that are parts of a form.
    fn common_parts(&self, form: usize) -> Vec<usize> {
        let parts = self.forms[form].parts.keys();
        let common = parts.filter_map(|leaf| leaf.checked_sub(self.leaves.len()));
        common.map(|k| self.written + k).collect()
    }

    /// The statements, with the registers before those that first need them.
    fn statements(mut self, kernel: &mut Kernel, run: &[Stmt]) -> Vec<Stmt> {
        self.settle();
        self.filled = vec![None; self.forms.len() - self.written];
        let mut out = Vec::new();
        let mut next = 0;
        for (at, stmt) in run.iter().enumerate() {
            for common in self.written..self.forms.len() {
                if self.forms[common].at == at {
                    self.fill(kernel, common, &mut out);
                }
            }
            let Some(value) = self.values[at].take() else {
                out.push(stmt.clone());
                continue;
            };
            let value = self.rewritten(value, &mut next);
            out.push(match stmt {
                Stmt::Assign(a) => Stmt::Assign(Assign { value, ..a.clone() }),
                Stmt::Let(id) => {
                    kernel.locals[*id].value = value;
                    stmt.clone()
                }
                Stmt::For(_) => stmt.clone(),
            });
        }
        out
    }

    /// Common parts are formed no later than those that they are parts of.
    fn settle(&mut self) {
        for _ in self.written..self.forms.len() {
            for n in 0..self.forms.len() {
                let at = self.forms[n].at;
                for part in self.common_parts(n) {
                    self.forms[part].at = self.forms[part].at.min(at);
                }
            }
        }
    }

    /// Fills the register of a common form, and before it those of its parts; each once.
    fn fill(&mut self, kernel: &mut Kernel, common: usize, out: &mut Vec<Stmt>) {
        if self.filled[common - self.written].is_some() {
            return;
        }
        for part in self.common_parts(common) {
            self.fill(kernel, part, out);
        }
        let (form, none) = (&self.forms[common], BTreeMap::new());
        let value = self.expression(form, None, &none);
        let narrow = narrower(kernel, &value, form);
        let kept = narrow.map_or(value, |elem| self.expression(form, Some(elem), &none));
        let register = named(kernel, "common", &kept, form.ty.lanes, out);
        self.filled[common - self.written] = Some(cast(register, form.ty.elem));
    }

    /// An expression with the forms in it as they are now; `next`: the first form in it.
    fn rewritten(&self, mut e: Expr, next: &mut usize) -> Expr {
        if kind(&e).is_none() {
            for part in e.operands_mut() {
                *part = self.rewritten(part.clone(), next);
            }
            return e;
        }
        let form = &self.forms[*next];
        *next += 1;
        let mut below = BTreeMap::new();
        self.rewrite_leaves(&mut e, form, next, &mut below);
        match form.changed {
            true => self.expression(form, None, &below),
            false => e,
        }
    }

    /// Rewrites what is in the leaves of a form, in the order of [`Common::collect`]; `below`: what each
    /// becomes.
    fn rewrite_leaves(
        &self,
        e: &mut Expr,
        form: &Form,
        next: &mut usize,
        below: &mut BTreeMap<usize, Expr>,
    ) {
        if form.parts_of(e).is_some() {
            for part in e.operands_mut() {
                self.rewrite_leaves(part, form, next, below);
            }
            return;
        }
        if form.kind == Kind::Sum && e.same_constant().is_some() {
            return;
        }
        let leaf = self.leaves.iter().position(|leaf| same(leaf, e));
        for part in e.operands_mut() {
            *part = self.rewritten(part.clone(), next);
        }
        below.extend(leaf.map(|leaf| (leaf, e.clone())));
    }

    /// A form as an expression, in its own elements or in narrower ones; `below`: leaves that are
    /// not as they were.
    fn expression(&self, form: &Form, narrow: Option<Elem>, below: &BTreeMap<usize, Expr>) -> Expr {
        let elem = narrow.unwrap_or(form.ty.elem);
        let ty = Type { elem, ..form.ty };
        let span = self.leaves[0].span;
        let apply = |op, args| Expr {
            kind: ExprKind::Apply(op, args),
            ty,
            span,
        };
        let number = |n: i128| Expr {
            kind: ExprKind::Const(vec![elem.wrap(n)]),
            ty: Type::scalar(elem),
            span,
        };
        let mut sum: Option<Expr> = None;
        // Those that are subtracted come last.
        let mut parts: Vec<(usize, i128)> = form.parts.iter().map(|(l, f)| (*l, *f)).collect();
        parts.sort_by_key(|(_, factor)| *factor < 0);
        for (leaf, factor) in parts {
            let part = match leaf.checked_sub(self.leaves.len()) {
                Some(k) => self.filled[k].as_ref().expect("it is needed here"),
                None => below.get(&leaf).unwrap_or(&self.leaves[leaf]),
            };
            let part = cast(part.clone(), elem);
            let times = |n| match n {
                1 => part.clone(),
                n => apply(Op::Mul, vec![part.clone(), number(n)]),
            };
            sum = Some(match (sum, form.kind) {
                (None, _) => times(factor),
                (Some(sum), Kind::Extreme(op)) => apply(op, vec![sum, part]),
                (Some(sum), Kind::Sum) if factor < 0 => apply(Op::Sub, vec![sum, times(-factor)]),
                (Some(sum), Kind::Sum) => apply(Op::Add, vec![sum, times(factor)]),
            });
        }
        let sum = sum.unwrap_or_else(|| number(0));
        match form.added {
            0 => sum,
            n => apply(Op::Add, vec![sum, number(n)]),
        }
    }
}

/// What an expression is formed as, of vectors of integers.
fn kind(e: &Expr) -> Option<Kind> {
    let vectors = e.ty.elem.is_int() && e.ty.lanes > 1;
    let ExprKind::Apply(op, _) = &e.kind else {
        return None;
    };
    let kind = match op {
        Op::Min | Op::Max => Kind::Extreme(*op),
        _ => Kind::Sum,
    };
    (vectors && parts_of(e, kind).is_some()).then_some(kind)
}

/// The parts of one operation, with their factors.
fn parts_of(e: &Expr, kind: Kind) -> Option<Vec<(&Expr, i128)>> {
    let ExprKind::Apply(op, args) = &e.kind else {
        return None;
    };
    let number = |k: usize| args[k].same_constant();
    let bits = i128::from(e.ty.elem.bits());
    Some(match (kind, op) {
        (Kind::Extreme(of), op) if of == *op => vec![(&args[0], 1), (&args[1], 1)],
        (Kind::Sum, Op::Add) => vec![(&args[0], 1), (&args[1], 1)],
        (Kind::Sum, Op::Sub) => vec![(&args[0], 1), (&args[1], -1)],
        (Kind::Sum, Op::Neg) => vec![(&args[0], -1)],
        (Kind::Sum, Op::Mul) => match (number(0), number(1)) {
            (_, Some(n)) => vec![(&args[0], n)],
            (Some(n), None) => vec![(&args[1], n)],
            _ => return None,
        },
        (Kind::Sum, Op::Shl) => {
            let count = number(1).filter(|n| (0..bits).contains(n))?;
            vec![(&args[0], 1 << count)]
        }
        _ => return None,
    })
}

/// A factor modulo 2^bits, as near to 0 as it can be.
fn near_zero(n: i128, elem: Elem) -> i128 {
    let bits = elem.bits();
    Elem::Int { bits, signed: true }.wrap(n)
}

/// Parts that two forms share, each with factors that have no common divisor: those with the same
/// ratio of their factors.
fn shared(a: &Form, b: &Form) -> Vec<BTreeMap<usize, i128>> {
    let mut by_ratio: BTreeMap<(i128, i128), BTreeMap<usize, i128>> = BTreeMap::new();
    for (leaf, &x) in &a.parts {
        let Some(&y) = b.parts.get(leaf) else {
            continue;
        };
        let common = divisor(x, y) * y.signum();
        let group = by_ratio.entry((x / common, y / common)).or_default();
        group.insert(*leaf, x);
    }
    let reduced = |group: BTreeMap<usize, i128>| {
        let all = group.values().fold(0, |d, &n| divisor(d, n));
        let first = group.values().next().map_or(1, |n| n.signum());
        group
            .into_iter()
            .map(|(leaf, n)| (leaf, n / all * first))
            .collect()
    };
    by_ratio.into_values().map(reduced).collect()
}

/// The greatest common divisor.
fn divisor(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.abs(), b.abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Whether expressions are the same, wherever they were written.
fn same(a: &Expr, b: &Expr) -> bool {
    let kinds = match (&a.kind, &b.kind) {
        (ExprKind::Const(x), ExprKind::Const(y)) => x == y,
        (ExprKind::Scalar(x), ExprKind::Scalar(y))
        | (ExprKind::Register(x), ExprKind::Register(y))
        | (ExprKind::Local(x), ExprKind::Local(y)) => x == y,
        (ExprKind::Load(x), ExprKind::Load(y)) => x == y,
        (ExprKind::Index(x), ExprKind::Index(y)) => x == y,
        (ExprKind::Apply(x, _), ExprKind::Apply(y, _)) => x == y,
        (ExprKind::Reduce(x, _, n), ExprKind::Reduce(y, _, m)) => (x, n) == (y, m),
        (ExprKind::Shuffle(_, x), ExprKind::Shuffle(_, y)) => x == y,
        _ => false,
    };
    let (of_a, of_b) = (a.operands(), b.operands());
    let mut parts = of_a.iter().zip(of_b);
    a.ty == b.ty && kinds && of_a.len() == of_b.len() && parts.all(|(x, y)| same(x, y))
}

/// What is widened after it was added up or multiplied without wrapping, as a sum or a product of what is
/// widened before: products in 16 bits are parts of a sum in 32 with their factors then.
fn spread(values: &Values<'_>, e: Expr) -> Expr {
    let inner = match &e.kind {
        ExprKind::Apply(Op::Cast, args) if args[0].ty.elem.is_int() && e.ty.elem.is_int() => {
            &args[0]
        }
        _ => return e,
    };
    let (narrow, wide) = (inner.ty.elem, e.ty.elem);
    if narrow.bits() >= wide.bits() {
        return e;
    }
    let widened = |part: &Expr| {
        let ty = Type {
            elem: wide,
            ..part.ty
        };
        let kind = ExprKind::Apply(Op::Cast, vec![part.clone()]);
        let span = part.span;
        match part.ty.elem == wide {
            true => part.clone(),
            false => spread(values, Expr { kind, ty, span }),
        }
    };
    let exact = |op, args: &[Expr]| {
        let range = values.of_operation(op, args, narrow);
        range.is_some_and(|range| within(range, narrow))
    };
    match &inner.kind {
        ExprKind::Const(_) => Expr {
            ty: e.ty,
            ..inner.clone()
        },
        ExprKind::Apply(Op::Cast, args) if args[0].ty.elem.is_int() && exact(Op::Cast, args) => {
            widened(&args[0])
        }
        ExprKind::Apply(op @ (Op::Add | Op::Sub | Op::Mul), args) if exact(*op, args) => Expr {
            kind: ExprKind::Apply(*op, args.iter().map(widened).collect()),
            ..e
        },
        _ => e,
    }
}

/// The narrowest elements that hold all values of a sum, where these are narrower than its own.
fn narrower(kernel: &Kernel, value: &Expr, form: &Form) -> Option<Elem> {
    let narrow = Values::of(&kernel.locals).narrower_elements(value);
    narrow.filter(|_| form.kind == Kind::Sum)
}

/// A value in other elements. What narrower ones hold and was widened before is taken as it was.
fn cast(e: Expr, elem: Elem) -> Expr {
    if e.ty.elem == elem {
        return e;
    }
    let narrows = elem.bits() <= e.ty.elem.bits();
    let from = match e.kind {
        ExprKind::Apply(Op::Cast, ref args)
            if narrows && args[0].ty.elem.is_int() && args[0].ty.elem.bits() <= elem.bits() =>
        {
            args[0].clone()
        }
        _ => e,
    };
    if from.ty.elem == elem {
        return from;
    }
    Expr {
        ty: Type { elem, ..from.ty },
        span: from.span,
        kind: ExprKind::Apply(Op::Cast, vec![from]),
    }
}
