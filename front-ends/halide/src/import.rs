//! Statements of Halide to statements of a kernel.
//!
//! In: the parsed text. Out: the body of a [`Kernel`], with its arrays and loops. Names are
//! resolved as scopes open and close; a `let` of a number that does not depend on data is
//! replaced by it, others become values of the kernel. An `if` over such numbers is a loop that
//! runs once or not at all. What a lane at a time has to be moved (gathers, masks that are no
//! prefix) goes through a local array.

use super::Options;
use super::arguments::Arguments;
use super::chosen::Mask;
use super::normal::normal;
use super::operation::{self, Refused};
use super::scope::{may_write, repeats};
use super::syntax::{self, Kind, Stated, StmtKind};
use super::value::{I32, LANE, Number, Value, constant, expr, least};
use kernel::index::{Index, MAX_PARTS, Symbol};
use kernel::range::Range;
use kernel::tree::{
    Access, Array, Assign, Expr, ExprKind, For, Id, Kernel, Local, Op, Role, Stmt, SymbolKind,
    Target,
};
use kernel::types::{Elem, Type};
use semantics::diagnostic::Diagnostic;
use semantics::span::Span;
use std::collections::{BTreeMap, BTreeSet};

/// Why a text is refused.
#[derive(Debug)]
pub(super) struct Refusal(pub(super) Box<Diagnostic>);

pub(super) type Made<T> = Result<T, Refusal>;

/// What a name stands for.
#[derive(Clone, Debug)]
pub(super) enum Binding {
    Value(Value),
    /// The elements of a buffer or an allocation.
    Array(Id),
    /// What is passed to the iterations of a parallel loop.
    Struct(Vec<Binding>),
}

pub(super) struct Importer<'p> {
    pub(super) kernel: Kernel,
    pub(super) arguments: Arguments,
    pub(super) options: &'p Options<'p>,
    pub(super) program: &'p syntax::StatementText,
    /// Names in scope, innermost last.
    pub(super) names: Vec<(String, Binding)>,
    /// The loops around, with the least and the greatest value of each variable.
    loops: BTreeMap<Symbol, (Index, Index)>,
    /// What has to be done before the statement that is being read.
    pub(super) before: Vec<Stmt>,
    /// Whether products that are added to are rounded once.
    pub(super) fuses: bool,
    /// The mask of the next store.
    predicate: Option<Mask>,
    /// Masks of which all lanes are active in the statement that is being made, and those of which
    /// some are not.
    pub(super) active: Vec<Number>,
    pub(super) parted: Vec<Number>,
    /// The statement that is being read.
    pub(super) span: Span,
    pub(super) warnings: Vec<Diagnostic>,
    /// Whether the checks at the start are over.
    pub(super) computing: bool,
    /// Arrays and scalars that Halide has truth values in.
    pub(super) truths: BTreeSet<Id>,
    pub(super) true_scalars: BTreeSet<Id>,
    /// The symbols that have the values of data, by these, in the loops that are open.
    pub(super) chosen: Vec<(Id, Symbol)>,
    /// Whether one statement uses the value twice that is being named: it is computed in a
    /// statement of its own then, and not once for each use.
    repeated: bool,
    /// Whether what is being named is loaded from where nothing is written as long as it has the name.
    stays: bool,
    /// How many conditions the statement depends on.
    conditions: usize,
    /// The functions of parallel loops that are being read, and how many have been.
    pub(super) running: Vec<String>,
    pub(super) calls: usize,
    /// Lanes that are moved or computed one at a time, by their statements.
    pub(super) one_by_one: Vec<(Span, String)>,
    /// Float constants that were taken as they are printed.
    pub(super) printed: BTreeSet<String>,
}

impl<'p> Importer<'p> {
    pub(super) fn new(
        kernel: Kernel,
        arguments: Arguments,
        options: &'p Options<'p>,
        program: &'p syntax::StatementText,
    ) -> Importer<'p> {
        let span = program.span;
        Importer {
            fuses: super::fused::is_asked(kernel.source.text()),
            kernel,
            arguments,
            options,
            program,
            names: Vec::new(),
            loops: BTreeMap::new(),
            before: Vec::new(),
            predicate: None,
            active: Vec::new(),
            parted: Vec::new(),
            span,
            warnings: Vec::new(),
            computing: false,
            truths: BTreeSet::new(),
            true_scalars: BTreeSet::new(),
            chosen: Vec::new(),
            repeated: false,
            stays: false,
            conditions: 0,
            running: Vec::new(),
            calls: 0,
            one_by_one: Vec::new(),
            printed: BTreeSet::new(),
        }
    }

    pub(super) fn refuse<T>(&self, span: Span, message: impl Into<String>, hint: &str) -> Made<T> {
        let diagnostic = Diagnostic::error(message).at(&self.kernel.source, span);
        Err(Refusal(Box::new(diagnostic.hint(hint))))
    }

    pub(super) fn refused<T>(&self, span: Span, (message, hint): Refused) -> Made<T> {
        self.refuse(span, message, &hint)
    }

    /// A new loop variable.
    pub(super) fn variable(&mut self, name: &str) -> Symbol {
        let name = super::arguments::plain_name(name);
        self.kernel.new_symbol(name, SymbolKind::Loop, self.span)
    }

    pub(super) fn lookup(&self, name: &str) -> Option<&Binding> {
        self.names
            .iter()
            .rev()
            .find(|(n, _)| n == name)
            .map(|(_, b)| b)
    }

    /// Statements in a scope of their own.
    pub(super) fn scoped(&mut self, body: &[syntax::Stmt]) -> Made<Vec<Stmt>> {
        let depth = self.names.len();
        let out = self.block(body);
        self.names.truncate(depth);
        out
    }

    pub(super) fn block(&mut self, body: &[syntax::Stmt]) -> Made<Vec<Stmt>> {
        let mut out = Vec::new();
        for (at, stmt) in body.iter().enumerate() {
            self.span = stmt.span;
            let open = self.chosen.len();
            if let StmtKind::Let(name, value) = &stmt.kind {
                let rest = &body[at + 1..];
                self.repeated = repeats(rest, name);
                self.stays = matches!(&value.kind, Kind::Load(from, ..) if !may_write(rest, from));
            }
            let mut made = self.statement(stmt)?;
            let before = std::mem::take(&mut self.before);
            let named = matches!(stmt.kind, StmtKind::Let(..) | StmtKind::Allocate { .. });
            // What is named stays in sight of all that follows.
            let rest = named && self.chosen.len() > open;
            if rest {
                made.extend(self.block(&body[at + 1..])?);
            }
            self.chosen.truncate(open);
            out.extend(super::chosen::inside(before, made));
            if rest {
                break;
            }
        }
        Ok(out)
    }

    fn statement(&mut self, stmt: &syntax::Stmt) -> Made<Vec<Stmt>> {
        if self.predicate.is_some() && !matches!(stmt.kind, StmtKind::Store(..)) {
            return self.refuse(
                stmt.span,
                "a predicate stands before something that is no store",
                "the text is damaged: let Halide write it again",
            );
        }
        match &stmt.kind {
            StmtKind::Assert(condition, message) => {
                let opaque =
                    matches!(&condition.kind, Kind::Binary("==", a, _) if self.is_opaque(a));
                if opaque {
                    return Ok(Vec::new());
                }
                if super::arguments::error_of(message).as_deref() == Some("extern_stage_failed") {
                    return self.refuse(stmt.span, "an `extern` stage", "functions outside of the pipeline are not read: compute the values in a Func, or pass them as a buffer");
                }
                if self.computing && !self.at_the_top() {
                    return self.refuse(stmt.span, "a check in the middle of the computation", "checks are read that stand outside of loops and conditions: schedule without `bound_storage` and without a factor for `fold_storage` (what slides is folded by itself), `require` only what parameters and sizes decide, and compile without `check_unsafe_promises`");
                }
                self.check(condition, message)?;
                Ok(Vec::new())
            }
            StmtKind::Let(name, value) => self.let_statement(name, value),
            StmtKind::If(condition, then, otherwise) => self.condition(condition, then, otherwise),
            StmtKind::For {
                kind,
                name,
                min,
                extent,
                body,
            } => self.for_loop(kind, name, min, extent, body),
            StmtKind::Block(body) => {
                self.computing = true;
                self.scoped(body)
            }
            StmtKind::Allocate { name, ty, extents } => {
                self.allocate(name, *ty, extents)?;
                Ok(Vec::new())
            }
            StmtKind::Free => Ok(Vec::new()),
            StmtKind::Predicate(condition) => {
                self.predicate = Some(self.mask(condition)?);
                Ok(Vec::new())
            }
            StmtKind::Store(name, index, value) => self.store(name, index, value),
            StmtKind::Evaluate(value) => self.evaluate(value),
        }
    }

    fn evaluate(&mut self, value: &syntax::Expr) -> Made<Vec<Stmt>> {
        let ignored = match &value.kind {
            Kind::Number(_) => true,
            Kind::Call(name, _) => name == "prefetch",
            Kind::Typed(_, e) => matches!(&e.kind, Kind::Call(name, _) if name == "prefetch"),
            _ => false,
        };
        if ignored {
            return Ok(Vec::new());
        }
        let name = match &value.kind {
            Kind::Call(name, _) => name.clone(),
            Kind::Typed(_, e) => match &e.kind {
                Kind::Call(name, _) => name.clone(),
                _ => "this".to_owned(),
            },
            _ => "this".to_owned(),
        };
        self.refuse(value.span, format!("`{name}` is called for its effect"), "calls with effects (tracing, profiling, device copies, `extern` stages) are not read: compile without those features")
    }

    /// Whether a statement is run once, whatever the arguments.
    fn at_the_top(&self) -> bool {
        self.loops.is_empty() && self.chosen.is_empty() && self.conditions == 0
    }

    /// Whether a name stands for what no computation depends on.
    fn is_opaque(&self, e: &syntax::Expr) -> bool {
        let Kind::Name(name) = &e.kind else {
            return false;
        };
        self.computing && matches!(self.lookup(name), Some(Binding::Value(Value::Opaque)))
    }

    /// Whether whole numbers in several lanes are the result of operations.
    fn is_computed(e: &Expr) -> bool {
        e.ty.lanes > 1 && e.ty.elem.is_int() && matches!(e.kind, ExprKind::Apply(..))
    }

    fn let_statement(&mut self, name: &str, value: &syntax::Expr) -> Made<Vec<Stmt>> {
        let repeated = std::mem::take(&mut self.repeated);
        let stays = std::mem::take(&mut self.stays);
        if let Some(loops) = self.parallel(name, value)? {
            return Ok(loops);
        }
        if let Some(binding) = self.passed(value)? {
            self.names.push((name.to_owned(), binding));
            return Ok(Vec::new());
        }
        if let Some(binding) = self.field(value)? {
            self.names.push((name.to_owned(), binding));
            return Ok(Vec::new());
        }
        let value = self.value(value)?;
        let (value, made) = match value {
            Value::Data(e) if super::derived::whole(&e).is_some() => (Value::Data(e), None),
            Value::Data(e) if repeated && Self::is_computed(&e) => {
                (Value::Data(self.in_register(name, e)), None)
            }
            // It is loaded where it is used.
            Value::Data(e) if stays && e.ty.lanes > 1 && matches!(e.kind, ExprKind::Load(_)) => {
                (Value::Data(e), None)
            }
            Value::Data(e) => self.keep(name, e),
            other => (other, None),
        };
        self.names.push((name.to_owned(), Binding::Value(value)));
        Ok(made.into_iter().collect())
    }

    /// Data with a name: a value of the kernel that is computed here. A truth value is kept as
    /// 0 or 1.
    fn keep(&mut self, name: &str, e: Expr) -> (Value, Option<Stmt>) {
        let (ty, span) = (e.ty, e.span);
        let truth = ty.elem == Elem::Bool;
        let value = if truth {
            operation::data(
                &operation::convert(&Value::Data(e), Elem::unsigned(8), span),
                span,
            )
        } else {
            Some(e)
        };
        let value = value.expect("data stays data");
        let kept = value.ty;
        let id = self.kernel.locals.len();
        self.kernel.locals.push(Local {
            name: super::arguments::plain_name(name),
            value,
            stated: true,
        });
        let local = expr(ExprKind::Local(id), kept, span);
        let value = if truth {
            let zero = constant(Type::scalar(kept.elem), 0, span);
            expr(ExprKind::Apply(Op::Ne, vec![local, zero]), ty, span)
        } else {
            local
        };
        (Value::Data(value), Some(Stmt::Let(id)))
    }

    fn condition(
        &mut self,
        condition: &syntax::Expr,
        then: &[syntax::Stmt],
        otherwise: &[syntax::Stmt],
    ) -> Made<Vec<Stmt>> {
        if super::arguments::asks_for_bounds(condition) {
            let negated = matches!(condition.kind, Kind::Not(_));
            let run = if negated { then } else { otherwise };
            return self.scoped(run);
        }
        let truth = match self.value(condition)? {
            Value::Index(truth) => truth.index,
            Value::Data(e) if e.ty.lanes == 1 => self.truth(e),
            _ => {
                return self.refuse(
                    condition.span,
                    "this `if` has no truth value",
                    "the text is damaged: let Halide write it again",
                );
            }
        };
        let mut out = self.guarded(&truth, |importer| importer.scoped(then))?;
        if !otherwise.is_empty() {
            let not = super::value::not(&truth);
            out.extend(self.guarded(&not, |importer| importer.scoped(otherwise))?);
        }
        Ok(out)
    }

    /// Statements that run when a truth value holds: in a loop with one iteration or none.
    pub(super) fn guarded(
        &mut self,
        truth: &Index,
        body: impl FnOnce(&mut Self) -> Made<Vec<Stmt>>,
    ) -> Made<Vec<Stmt>> {
        match truth.constant_value() {
            Some(c) if c >= 1 => return body(self),
            Some(_) => return Ok(Vec::new()),
            None => {}
        }
        let var = self.variable("once");
        let hi = normal(&least(truth, &Index::Const(1)));
        let before = std::mem::take(&mut self.before);
        self.conditions += 1;
        let made = body(self);
        self.conditions -= 1;
        self.before = before;
        Ok(vec![self.loop_of(var, Index::Const(0), hi, made?)])
    }

    pub(super) fn loop_of(&self, var: Symbol, lo: Index, hi: Index, body: Vec<Stmt>) -> Stmt {
        Stmt::For(For::new(var, (lo, hi), body, self.span))
    }

    pub(super) fn for_loop(
        &mut self,
        kind: &str,
        name: &str,
        min: &syntax::Expr,
        extent: &syntax::Expr,
        body: &[syntax::Stmt],
    ) -> Made<Vec<Stmt>> {
        let span = self.span;
        match kind {
            "for" => {}
            "parallel" => {
                let warning = Diagnostic::warning(format!(
                    "the loop `{name}` is parallel in Halide; here it runs on one thread"
                ));
                self.warnings.push(warning.at(&self.kernel.source, span));
            }
            _ => {
                return self.refuse(
                    span,
                    format!("a `{kind}` loop"),
                    "only loops of the processor are read: schedule without GPU and other devices",
                );
            }
        }
        let (lo, extent) = (self.scalar(min)?, self.scalar(extent)?);
        self.counted(name, lo, &extent, |importer| importer.block(body))
    }

    /// A loop over `extent` numbers from `lo`; its variable has the name in the body.
    pub(super) fn counted(
        &mut self,
        name: &str,
        lo: Index,
        extent: &Index,
        body: impl FnOnce(&mut Self) -> Made<Vec<Stmt>>,
    ) -> Made<Vec<Stmt>> {
        let span = self.span;
        let hi = normal(&lo.plus(extent));
        let var = self.variable(name);
        self.loops.insert(var, (lo.clone(), hi.offset(-1)));
        let depth = self.names.len();
        self.names.push((
            name.to_owned(),
            Binding::Value(Value::number(Index::Sym(var), I32)),
        ));
        let before = std::mem::take(&mut self.before);
        let made = body(self);
        self.names.truncate(depth);
        self.loops.remove(&var);
        self.span = span;
        let made = made?;
        self.before = before;
        Ok(vec![self.loop_of(var, lo, hi, made)])
    }

    /// A number that loops, sizes and indices can be made of.
    pub(super) fn scalar(&mut self, e: &syntax::Expr) -> Made<Index> {
        match self.value(e)? {
            Value::Index(n) if n.ty.lanes == 1 && n.ty.elem != Elem::Bool => Ok(n.index),
            Value::Data(e) if e.ty.lanes == 1 && e.ty.elem.is_int() => {
                Ok(Index::Sym(self.picked(e)))
            }
            _ => self.refuse(
                e.span,
                "this is no whole number",
                "the text is damaged: let Halide write it again",
            ),
        }
    }

    fn allocate(&mut self, name: &str, ty: Stated, extents: &[syntax::Expr]) -> Made<()> {
        let Stated::Value(Type { elem, lanes: 1 }) = ty else {
            return self.refuse(
                self.span,
                "an allocation of this type",
                "only allocations of numbers are read",
            );
        };
        let mut each = Vec::new();
        for extent in extents.iter().flat_map(factors) {
            each.push(self.scalar(extent)?);
        }
        let Some(most) = self.most(&each) else {
            return self.refuse(
                self.span,
                "the size of this allocation depends on data, or on a loop variable in a way that has no bound",
                "use `compute_root`, `bound_extent` on the dimension, or `bound` and `clamp` what it depends on",
            );
        };
        if let Index::Const(..=-1) = most {
            return self.refuse(
                self.span,
                "an allocation of a negative size",
                "the text is damaged: let Halide write it again",
            );
        }
        let truth = elem == Elem::Bool;
        let elem = if truth { super::arguments::TRUTH } else { elem };
        let id = self.local_array(name, elem, most);
        if truth {
            self.truths.insert(id);
        }
        self.names.push((name.to_owned(), Binding::Array(id)));
        Ok(())
    }

    /// The greatest product of some extents while the loops around go round; of each extent for
    /// itself where that of the product is not found, since none is negative.
    fn most(&self, extents: &[Index]) -> Option<Index> {
        let times = |a: Index, b: &Index| normal(&super::value::product(&a, b));
        let whole = extents.iter().fold(Index::Const(1), times);
        if let Some((_, most)) = self.range(&whole) {
            return Some(normal(&most));
        }
        let mut product = Index::Const(1);
        for extent in extents {
            let (_, most) = self.range(extent)?;
            if most.constant_value().is_some_and(|c| c < 0) {
                return None;
            }
            product = times(product, &super::value::greatest(&most, &Index::Const(0)));
        }
        Some(product)
    }

    /// Between which indices over sizes an index lies while the loops around go round.
    fn range(&self, index: &Index) -> Option<Range> {
        index.range(&|symbol| match self.loops.get(&symbol) {
            None if self.chosen.iter().any(|(_, s)| *s == symbol) => None,
            Some((low, high)) => Some((self.range(low)?.0, self.range(high)?.1)),
            None => Some((Index::Sym(symbol), Index::Sym(symbol))),
        })
    }

    /// A local array.
    pub(super) fn local_array(&mut self, name: &str, elem: Elem, length: Index) -> Id {
        let length = match length.constant_value() {
            Some(_) => length,
            None => super::value::greatest(&length, &Index::Const(0)),
        };
        self.kernel.arrays.push(Array {
            name: super::arguments::plain_name(name),
            elem,
            dims: vec![length],
            pad: 1,
            role: Role::Local,
            // Halide computes whole vectors of what is only needed in part.
            placement: kernel::tree::Placement {
                unset: true,
                ..kernel::tree::Placement::default()
            },
            span: self.span,
        });
        self.kernel.arrays.len() - 1
    }

    fn store(&mut self, name: &str, index: &syntax::Expr, value: &syntax::Expr) -> Made<Vec<Stmt>> {
        let mask = self.predicate.take();
        self.under(mask.as_ref(), |importer, mask| {
            importer.store_under(name, index, value, mask)
        })
    }

    fn store_under(
        &mut self,
        name: &str,
        index: &syntax::Expr,
        value: &syntax::Expr,
        mask: Option<&Mask>,
    ) -> Made<Vec<Stmt>> {
        let array = self.array(name, index.span)?;
        let index = self.place(index)?;
        let (found, span) = (self.value(value)?, value.span);
        let Some(value) = operation::data(&found, span) else {
            return self.refuse(span, "an address is stored", "store numbers");
        };
        self.fits(&index, &[value.ty.lanes, mask.map_or(1, Mask::lanes)], span)?;
        let elem = self.kernel.arrays[array].elem;
        let value = match (value.ty.elem, elem) {
            (Elem::Bool, Elem::Int { bits: 8, .. }) => super::value::cast(value, elem),
            (a, b) if a == b => value,
            (a, b) => {
                return self.refuse(
                    span,
                    format!("a value of type {a} is stored into elements of type {b}"),
                    "the text is damaged: let Halide write it again",
                );
            }
        };
        Ok(self.stored(array, &index, value, mask))
    }

    pub(super) fn array(&self, name: &str, span: Span) -> Made<Id> {
        match self.lookup(name) {
            Some(Binding::Array(id)) => Ok(*id),
            _ => self.refuse(
                span,
                format!("`{name}` is no buffer here"),
                "the text is damaged: let Halide write it again",
            ),
        }
    }

    /// A stretch or a single element of an array.
    pub(super) fn access(&self, array: Id, index: Index, lanes: u32, stride: i64) -> Access {
        Access {
            array,
            index: vec![normal(&index)],
            lanes,
            dim: 0,
            stride,
            clamped: false,
            span: self.span,
        }
    }

    pub(super) fn assign(&self, target: Access, value: Expr) -> Stmt {
        Stmt::Assign(Assign {
            target: Target::Array(target),
            accumulate: false,
            reassociate: false,
            value,
            span: self.span,
        })
    }

    /// An expression. Names in it stand for whole values, so that what they mean together is
    /// bounded here.
    pub(super) fn value(&mut self, e: &syntax::Expr) -> Made<Value> {
        let value = self.unbounded(e)?;
        let (lanes, small) = match &value {
            Value::Index(n) => (n.ty.lanes, n.index.is_within(8 * MAX_PARTS)),
            Value::Data(e) => (e.ty.lanes, e.is_within(8 * MAX_PARTS)),
            Value::Opaque => (1, true),
        };
        match ((1..=kernel::types::MAX_LANES).contains(&lanes), small) {
            (true, true) => Ok(value),
            (false, _) => self.refuse(
                e.span,
                format!("a vector of {lanes} lanes"),
                "a vector has 1 to 4096 lanes: vectorise by less",
            ),
            (_, false) => self.refuse(
                e.span,
                format!("this value is made of more than {MAX_PARTS} parts"),
                "compute parts of the expression in a Func of their own",
            ),
        }
    }

    fn unbounded(&mut self, e: &syntax::Expr) -> Made<Value> {
        let span = self.span;
        match &e.kind {
            Kind::Number(c) => self.number(*c, Type::scalar(I32), e.span),
            Kind::Decimal(text) => {
                let elem = self.format_of(text);
                self.decimal(text, Type::scalar(Elem::Float(elem)), e.span)
            }
            Kind::Text | Kind::Task(_) => Ok(Value::Opaque),
            Kind::Name(name) => self.named(name, e.span),
            Kind::Typed(stated, inner) => self.typed(*stated, inner),
            Kind::Reinterpret(stated, inner) => self.reinterpreted(*stated, inner, e.span),
            Kind::Not(inner) => Ok(operation::negation(&self.value(inner)?, span)),
            Kind::Binary(symbol, a, b) => {
                let (a, b) = (self.value(a)?, self.value(b)?);
                let (a, b) = match *symbol {
                    "<" | "<=" | ">" | ">=" | "==" | "!=" => (self.apart(a), self.apart(b)),
                    _ => (a, b),
                };
                let value = operation::binary(symbol, &a, &b, span);
                value.map_or_else(|r| self.refused(e.span, r), |v| Ok(self.fused(v)))
            }
            Kind::Let(name, value, body) => {
                let value = self.value(value)?;
                let value = match value {
                    Value::Data(v) if Self::is_computed(&v) && body.repeats(name) => {
                        Value::Data(self.in_register(name, v))
                    }
                    Value::Data(v)
                        if matches!(
                            v.kind,
                            ExprKind::Apply(..)
                                | ExprKind::Load(_)
                                | ExprKind::Reduce(..)
                                | ExprKind::Shuffle(..)
                        ) =>
                    {
                        let (ty, id) = (v.ty, self.kernel.locals.len());
                        self.kernel.locals.push(Local {
                            name: super::arguments::plain_name(name),
                            value: v,
                            stated: false,
                        });
                        Value::Data(expr(ExprKind::Local(id), ty, span))
                    }
                    other => other,
                };
                self.names.push((name.clone(), Binding::Value(value)));
                let body = self.value(body);
                self.names.pop();
                body
            }
            Kind::Load(name, index, predicate) => self.load(name, index, predicate.as_deref()),
            Kind::Call(name, args) => self.called(name, None, args, e.span),
        }
    }

    fn number(&self, c: i128, ty: Type, span: Span) -> Made<Value> {
        match i64::try_from(c) {
            _ if ty.elem.format().is_some() => self.refuse(
                span,
                "a float without a point",
                "the text is damaged: let Halide write it again",
            ),
            Ok(c) => Ok(Value::Index(Number::scalar(&Index::Const(c), ty.elem))),
            Err(_) => Ok(Value::Data(constant(ty, c, span))),
        }
    }

    fn named(&mut self, name: &str, span: Span) -> Made<Value> {
        match self.lookup(name) {
            Some(Binding::Value(value)) => Ok(value.clone()),
            Some(Binding::Array(_) | Binding::Struct(_)) => Ok(Value::Opaque),
            None => match self.parameter(name) {
                Some(value) => Ok(value),
                None => self.refuse(
                    span,
                    format!("`{name}` is not defined"),
                    "the text is damaged, or names something outside of the pipeline",
                ),
            },
        }
    }

    fn typed(&mut self, stated: Stated, inner: &syntax::Expr) -> Made<Value> {
        let Stated::Value(ty) = stated else {
            // Only addresses have such types; the arguments of those calls do not matter.
            return Ok(Value::Opaque);
        };
        match &inner.kind {
            Kind::Number(c) => self.number(*c, ty, inner.span),
            Kind::Decimal(text) => self.decimal(text, ty, inner.span),
            Kind::Call(name, args) => self.called(name, Some(ty), args, inner.span),
            _ => self.value(inner),
        }
    }

    fn reinterpreted(&mut self, stated: Stated, inner: &syntax::Expr, span: Span) -> Made<Value> {
        let value = self.value(inner)?;
        match (stated, operation::data(&value, self.span)) {
            (Stated::Other, _) | (_, None) => Ok(Value::Opaque),
            (Stated::Value(to), Some(e))
                if to.elem.is_int() && e.ty.elem.is_int() && to.elem.bits() == e.ty.elem.bits() =>
            {
                Ok(operation::convert(&value, to.elem, self.span))
            }
            (Stated::Value(to), Some(e))
                if to.elem.is_number()
                    && e.ty.elem.is_number()
                    && to.elem.bits() == e.ty.elem.bits() =>
            {
                let same = to.elem == e.ty.elem;
                let bits = |e| super::value::apply(Op::Bits, to.elem, vec![e], self.span);
                Ok(Value::Data(if same { e } else { bits(e) }))
            }
            _ => self.refuse(
                span,
                "bits of several lanes are reinterpreted as one, or of one as several",
                "reinterpret values of one width: lanes are joined by `concat_bits` and taken apart by `extract_bits`",
            ),
        }
    }
}

/// The extents of an allocation, which the text writes as one product.
fn factors(e: &syntax::Expr) -> Vec<&syntax::Expr> {
    match &e.kind {
        Kind::Binary("*", a, b) => [factors(a), factors(b)].concat(),
        _ => vec![e],
    }
}

/// The index of one lane.
pub(super) fn at_lane(number: &Number, lane: Symbol) -> Index {
    normal(&number.index.substitute(LANE, &Index::Sym(lane)))
}
