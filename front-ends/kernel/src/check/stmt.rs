//! Checking of statements.
//!
//! In: statements of the syntax tree. Out: checked statements; wrong ones are left out.

use super::expr::apply;
use super::{Binding, Checker};
use crate::ast::{self, Direction};
use crate::index::Index;
use crate::tree::{
    Access, Assign, Expr, ExprKind, For, Local, Op, Register, Role, Stmt, SymbolKind, Target,
};
use crate::types::{Elem, Type};
use semantics::span::Span;

impl<'a> Checker<'a> {
    /// The statements of a block, in the current scope.
    pub(super) fn block(&mut self, body: &'a [ast::Stmt]) -> Vec<Stmt> {
        let mut out = Vec::new();
        for stmt in body {
            let picked = match stmt {
                ast::Stmt::For { at: Some(e), .. } => self.picked(e),
                _ => None,
            };
            if let Some(rows) = self.rows(stmt) {
                out.extend(rows.into_iter().flatten());
                continue;
            }
            let made = self.statement(stmt);
            out.extend(picked.map(Stmt::Let));
            out.extend(made.map(|made| match made {
                Stmt::For(f) => Stmt::For(For { at: picked, ..f }),
                made => made,
            }));
        }
        out
    }

    /// The value that says which iteration of a loop is run.
    fn picked(&mut self, e: &'a ast::Expr) -> Option<usize> {
        let value = self.expr(e, None)?;
        if value.ty.lanes != 1 || !value.ty.elem.is_int() {
            let message = format!("the value behind `at` is of type {}", value.ty);
            let hint = "one iteration is chosen by one integer, as `i32` or `u8`";
            self.error_hint(e.span, message, hint);
            return None;
        }
        Some(self.local("at", value, true).1)
    }

    fn statement(&mut self, stmt: &'a ast::Stmt) -> Option<Stmt> {
        match stmt {
            ast::Stmt::For {
                var,
                lo,
                hi,
                step,
                body,
                ..
            } => self.for_loop(var, lo, hi, step.as_ref(), body),
            ast::Stmt::Let(l) => self.let_value(l, true).map(Stmt::Let),
            ast::Stmt::Var {
                name,
                ty,
                dims,
                init,
            } => self.variable(name, ty, dims, init.as_ref()),
            ast::Stmt::Function(f) => {
                self.function(f);
                None
            }
            ast::Stmt::Assign {
                target,
                subscript,
                accumulate,
                reassociate,
                value,
                span,
            } => {
                let mut out = self.assign(target, subscript.as_ref(), *accumulate, value, *span)?;
                if let Some(at) = reassociate {
                    self.may_reassociate(&out, *at)?;
                    out.reassociate = true;
                }
                Some(Stmt::Assign(out))
            }
        }
    }

    fn for_loop(
        &mut self,
        var: &'a ast::Ident,
        lo: &'a ast::Expr,
        hi: &'a ast::Expr,
        step: Option<&(i128, Span)>,
        body: &'a [ast::Stmt],
    ) -> Option<Stmt> {
        let (lo, hi) = (self.index(lo), self.index(hi));
        let step = match step {
            None => Some(1),
            Some((value, span)) => {
                let fits = i64::try_from(*value).ok().filter(|&s| s > 0);
                if fits.is_none() {
                    self.error(*span, "a step is at least 1");
                }
                fits
            }
        };
        let symbol = self.symbol(var, SymbolKind::Loop);
        self.scopes.push();
        self.declare(var, Binding::Index(Index::Sym(symbol)));
        self.depth += 1;
        let body = self.block(body);
        self.depth -= 1;
        self.scopes.pop();
        Some(Stmt::For(For {
            step: step?,
            ..For::new(symbol, (lo?, hi?), body, var.span)
        }))
    }

    /// Declares a local value; `stated` when a statement computes it.
    pub(super) fn let_value(&mut self, l: &'a ast::Let, stated: bool) -> Option<usize> {
        if l.ty.is_none() && self.is_index(&l.value) {
            let index = self.index(&l.value);
            self.declare(&l.name, index.map_or(Binding::Broken, Binding::Index));
            return None;
        }
        let ty = l.ty.as_ref().map(|t| self.any_type(t));
        let value = self.expr(&l.value, ty.flatten().map(|t| t.elem));
        let value = match (ty, value) {
            (Some(Some(ty)), Some(value)) => self.expect(value, ty),
            (Some(_), _) => None,
            (None, value) => value,
        };
        let Some(value) = value else {
            self.declare(&l.name, Binding::Broken);
            return None;
        };
        let (reference, id) = self.local(&l.name.name, value, stated);
        self.declare(&l.name, Binding::Value(reference));
        Some(id)
    }

    /// Gives a value a name; the expression that stands for it, and its number.
    pub(super) fn local(&mut self, name: &str, value: Expr, stated: bool) -> (Expr, usize) {
        let id = self.kernel.locals.len();
        let depth = self.depth_of(&value);
        if depth > super::MAX_DEPTH {
            let message = format!(
                "this value nests more than {} operations deep",
                super::MAX_DEPTH
            );
            let hint = "keep a part of it in a `var` or an array";
            self.error_hint(value.span, message, hint);
        }
        // A chain that was complained about is not complained about at each further link.
        self.depths
            .push(if depth > super::MAX_DEPTH { 0 } else { depth });
        let reference = Expr {
            kind: ExprKind::Local(id),
            ty: value.ty,
            span: value.span,
        };
        self.kernel.locals.push(Local {
            name: name.to_owned(),
            value,
            stated,
        });
        (reference, id)
    }

    /// How deep an expression nests, through local values.
    fn depth_of(&self, e: &Expr) -> u32 {
        let below = match &e.kind {
            ExprKind::Local(id) => self.depths[*id],
            _ => {
                let each = e.operands().iter().map(|operand| self.depth_of(operand));
                each.max().unwrap_or(0)
            }
        };
        below + 1
    }

    fn variable(
        &mut self,
        name: &'a ast::Ident,
        ty: &'a ast::Ident,
        dims: &'a ast::Dims,
        init: Option<&'a ast::Expr>,
    ) -> Option<Stmt> {
        if !dims.sizes.is_empty() {
            if self.depth > 0 {
                self.error_hint(
                    name.span,
                    "a local array cannot be declared inside a loop",
                    "declare it before the loop",
                );
            }
            if let Some(init) = init {
                self.error_hint(
                    init.span,
                    "a local array has no first value",
                    "fill it in a loop",
                );
            }
            let elem = self.array_type(ty);
            if self.array(name, elem, dims, Role::Local).is_none() {
                self.declare(name, Binding::Broken);
            }
            return None;
        }
        let ty = self.any_type(ty);
        let value = init.and_then(|init| self.expr(init, ty.map(|t| t.elem)));
        if init.is_none() {
            self.error_hint(
                name.span,
                "a variable needs a first value",
                "for example `var acc: i32x16 = 0;`",
            );
        }
        let Some(ty) = ty else {
            self.declare(name, Binding::Broken);
            return None;
        };
        let id = self.kernel.registers.len();
        self.kernel.registers.push(Register {
            name: name.name.clone(),
            ty,
            parts: false,
        });
        let reference = Expr {
            kind: ExprKind::Register(id),
            ty,
            span: name.span,
        };
        self.declare(name, Binding::Value(reference));
        let value = self.expect(value?, ty)?;
        Some(Stmt::Assign(Assign {
            target: Target::Register(id),
            accumulate: false,
            reassociate: false,
            value,
            span: name.span,
        }))
    }

    fn assign(
        &mut self,
        name: &'a ast::Ident,
        subscript: Option<&'a ast::Subscript>,
        accumulate: bool,
        value: &'a ast::Expr,
        span: Span,
    ) -> Option<Assign> {
        let target = self.target(name, subscript);
        if let Some((Target::Array(access), ty)) = &target
            && self.truths.contains(&access.array)
        {
            let (access, ty) = (access.clone(), *ty);
            return self.assign_truth(access, ty, accumulate, value, span);
        }
        let want = target.as_ref().map(|(_, ty)| ty.elem);
        if want.is_none() && self.constant(value).is_some() {
            return None;
        }
        let value = self.expr(value, want);
        let (target, ty) = target?;
        let value = self.expect(value?, ty)?;
        Some(Assign {
            target,
            accumulate,
            reassociate: false,
            value,
            span,
        })
    }

    /// A store into an array of truth values.
    fn assign_truth(
        &mut self,
        access: Access,
        ty: Type,
        accumulate: bool,
        value: &'a ast::Expr,
        span: Span,
    ) -> Option<Assign> {
        let value = self.expr(value, None)?;
        if accumulate || value.ty.elem != Elem::Bool {
            let name = &self.kernel.arrays[access.array].name;
            let message = format!("elements of `{name}` are truth values");
            let hint = "store a comparison, or what `&&`, `||` and `!` make of some: `x != 0`";
            self.error_hint(value.span, message, hint);
            return None;
        }
        let value = apply(Op::Cast, ty.elem, vec![value], span);
        let value = self.expect(value, ty)?;
        Some(Assign {
            target: Target::Array(access),
            accumulate,
            reassociate: false,
            value,
            span,
        })
    }

    /// Whether a statement accumulates floats, so that the order makes a difference.
    fn may_reassociate(&mut self, a: &Assign, at: Span) -> Option<()> {
        if a.value.ty.elem.is_int() {
            let message = "integers add up alike in any order";
            self.error_hint(at, message, "leave `reassociate` out");
            return None;
        }
        if a.accumulation().is_none() {
            let message = "`reassociate` is for statements that accumulate";
            let hint = "`s += e`, `s = fma(a, b, s)`, `s = min(s, e)` or `s = max(s, e)`";
            self.error_hint(at, message, hint);
            return None;
        }
        Some(())
    }

    fn target(
        &mut self,
        name: &'a ast::Ident,
        subscript: Option<&'a ast::Subscript>,
    ) -> Option<(Target, Type)> {
        match (self.scopes.get(&name.name).cloned(), subscript) {
            (Some(Binding::Array(id)), Some(subscript)) => {
                let access = self.access(id, subscript)?;
                self.may_write(id, name.span)?;
                if access.clamped || subscript.clamped {
                    self.error(
                        subscript.span,
                        "a store cannot be clamped: several iterations would write one element",
                    );
                    return None;
                }
                let ty = Type {
                    elem: self.kernel.arrays[id].elem,
                    lanes: access.lanes,
                };
                Some((Target::Array(access), ty))
            }
            (Some(Binding::Array(_)), None) => {
                self.error_hint(
                    name.span,
                    format!("`{}` is an array", name.name),
                    "say which element: `[..]`",
                );
                None
            }
            (
                Some(Binding::Value(Expr {
                    kind: ExprKind::Register(id),
                    ty,
                    ..
                })),
                None,
            ) => Some((Target::Register(id), ty)),
            (Some(Binding::Broken), _) => None,
            (Some(_), _) => {
                self.error_hint(
                    name.span,
                    format!("`{}` cannot be assigned to", name.name),
                    "only arrays and `var` can",
                );
                None
            }
            (None, _) => {
                self.unknown_name(&name.name, name.span);
                None
            }
        }
    }

    /// A store into a range of several dimensions: its value, and a store for each stretch of it; `None`
    /// for any other statement.
    fn rows(&mut self, stmt: &'a ast::Stmt) -> Option<Option<Vec<Stmt>>> {
        let ast::Stmt::Assign {
            target,
            subscript: Some(subscript),
            accumulate,
            reassociate,
            value,
            span,
        } = stmt
        else {
            return None;
        };
        let several = subscript
            .entries
            .iter()
            .filter(|e| e.range.is_some())
            .count()
            > 1;
        let &Binding::Array(id) = self.scopes.get(&target.name).filter(|_| several)? else {
            return None;
        };
        if subscript.clamped || self.truths.contains(&id) || reassociate.is_some() {
            let message = "a range of several dimensions is stored as numbers, as it is";
            self.error_hint(subscript.span, message, "store each row for itself");
            return Some(None);
        }
        Some(self.stored_rows(id, subscript, (*accumulate, value), (target.span, *span)))
    }

    fn stored_rows(
        &mut self,
        id: usize,
        subscript: &'a ast::Subscript,
        (accumulate, value): (bool, &'a ast::Expr),
        (name, span): (Span, Span),
    ) -> Option<Vec<Stmt>> {
        let rows = self.accesses(id, subscript)?;
        self.may_write(id, name)?;
        let (elem, each) = (self.kernel.arrays[id].elem, rows.first()?.lanes);
        let lanes = each * u32::try_from(rows.len()).ok()?;
        let value = self.expr(value, Some(elem))?;
        let value = self.expect(value, Type { elem, lanes })?;
        let (whole, local) = self.local("rows", value, true);
        let mut out = vec![Stmt::Let(local)];
        for (row, first) in rows.into_iter().zip((0..).step_by(each as usize)) {
            let part = match whole.ty.lanes {
                1 => whole.clone(),
                _ => self.shuffle(vec![whole.clone()], (first..first + each).collect(), span)?,
            };
            out.push(Stmt::Assign(Assign {
                target: Target::Array(row),
                accumulate,
                reassociate: false,
                value: part,
                span,
            }));
        }
        Some(out)
    }

    fn may_write(&mut self, id: usize, span: Span) -> Option<()> {
        let array = &self.kernel.arrays[id];
        if array.role == Role::Param(Direction::In) {
            let message = format!("`{}` is only read: it was declared `in`", array.name);
            let hint = format!(
                "declare it `{}: out {}[..]` or `inout`",
                array.name, array.elem
            );
            self.error_hint(span, message, hint);
            return None;
        }
        Some(())
    }

    /// The elements that a subscript names, with one range at most.
    fn access(&mut self, array: usize, subscript: &'a ast::Subscript) -> Option<Access> {
        let mut rows = self.accesses(array, subscript)?;
        match rows.len() {
            1 => rows.pop(),
            _ => {
                self.error(subscript.span, "only one dimension can be a range here");
                None
            }
        }
    }

    /// The stretches of elements that a subscript names, those of the last range in one.
    pub(super) fn accesses(
        &mut self,
        array: usize,
        subscript: &'a ast::Subscript,
    ) -> Option<Vec<Access>> {
        let dims = self.kernel.arrays[array].dims.clone();
        if subscript.entries.len() != dims.len() {
            let name = &self.kernel.arrays[array].name;
            let message = format!(
                "`{name}` has {} dimensions, not {}",
                dims.len(),
                subscript.entries.len()
            );
            self.error(subscript.span, message);
            return None;
        }
        let mut access = Access {
            array,
            index: Vec::new(),
            lanes: 1,
            dim: dims.len() - 1,
            stride: 1,
            clamped: false,
            span: subscript.span,
        };
        let last = subscript.entries.iter().rposition(|e| e.range.is_some());
        let (mut steps, mut total) = (Vec::new(), 1u32);
        let mut sound = true;
        for (d, (entry, dim)) in subscript.entries.iter().zip(&dims).enumerate() {
            let Some(mut index) = self.index(&entry.start) else {
                sound = false;
                continue;
            };
            if let Some((count, by)) = &entry.range {
                let (lanes, stride) = self.range(entry, *count, by.as_ref())?;
                total = total.saturating_mul(lanes);
                match last == Some(d) {
                    true => (access.lanes, access.stride) = (lanes, stride),
                    false => steps.push((d, lanes, stride)),
                }
                access.dim = last.unwrap_or(d);
                access.clamped = subscript.clamped;
            } else if subscript.clamped {
                index = clamped(index, dim);
            }
            access.index.push(index);
        }
        if total > crate::types::MAX_LANES {
            let most = crate::types::MAX_LANES;
            self.error(subscript.span, format!("a vector has at most {most} lanes"));
            return None;
        }
        let mut rows = vec![access];
        for (d, lanes, stride) in steps {
            let at = |row: &Access, lane: u32| {
                let mut row = row.clone();
                let index = row
                    .index
                    .get(d)?
                    .offset(stride.checked_mul(i64::from(lane))?);
                row.index[d] = match subscript.clamped {
                    true => clamped(index, &dims[d]),
                    false => index,
                };
                Some(row)
            };
            let each = rows
                .iter()
                .flat_map(|row| (0..lanes).map(move |l| (row, l)));
            let each = each.map(|(row, l)| at(row, l));
            rows = each.collect::<Option<Vec<_>>>()?;
        }
        sound.then_some(rows)
    }

    /// Lanes and stride of a range.
    pub(super) fn range(
        &mut self,
        entry: &'a ast::IndexEntry,
        count: i128,
        by: Option<&'a ast::Expr>,
    ) -> Option<(u32, i64)> {
        let lanes = u32::try_from(count)
            .ok()
            .filter(|l| (1..=crate::types::MAX_LANES).contains(l));
        if lanes.is_none() {
            self.error(
                entry.span,
                format!(
                    "a range has between 1 and {} elements",
                    crate::types::MAX_LANES
                ),
            );
        }
        let stride = by
            .map_or(Some(1), |by| self.constant(by))
            .and_then(|s| i64::try_from(s).ok());
        let stride = stride.filter(|&s| s != 0 && s.unsigned_abs() < 1 << 32);
        if stride.is_none() {
            self.error(
                entry.span,
                "the distance after `by` is a number other than 0",
            );
        }
        Some((lanes?, stride?))
    }
}

/// An index moved to the nearest one inside of a dimension.
fn clamped(index: Index, dim: &Index) -> Index {
    Index::smaller(Index::larger(index, Index::Const(0)), dim.offset(-1))
}
