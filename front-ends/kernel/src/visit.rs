//! The walks over kernels: expressions with the names in them, statements with the loops around.
//!
//! In: an expression or statements, and what is to be called. Out: nothing but the calls, in the
//! order in which things are written. The value of a name is gone through once in a walk,
//! however often the name is used: a few names may stand for very much.

use crate::index::{Index, Symbol};
use crate::tree::{Access, Assign, Expr, ExprKind, For, Id, Kernel, Stmt, Target};
use std::collections::{BTreeMap, BTreeSet};
use std::slice;

impl Expr {
    /// The expressions that it is computed from, but for the value of a name.
    pub fn operands(&self) -> &[Expr] {
        match &self.kind {
            ExprKind::Apply(_, args) | ExprKind::Shuffle(args, _) => args,
            ExprKind::Reduce(_, arg, _) => slice::from_ref(&**arg),
            ExprKind::Const(_)
            | ExprKind::Scalar(_)
            | ExprKind::Register(_)
            | ExprKind::Local(_)
            | ExprKind::Load(_)
            | ExprKind::Index(_) => &[],
        }
    }

    /// [`Expr::operands`], to be changed.
    pub fn operands_mut(&mut self) -> &mut [Expr] {
        match &mut self.kind {
            ExprKind::Apply(_, args) | ExprKind::Shuffle(args, _) => args,
            ExprKind::Reduce(_, arg, _) => slice::from_mut(&mut **arg),
            ExprKind::Const(_)
            | ExprKind::Scalar(_)
            | ExprKind::Register(_)
            | ExprKind::Local(_)
            | ExprKind::Load(_)
            | ExprKind::Index(_) => &mut [],
        }
    }

    /// The first that `f` gives of it and the expressions below it; not of the values of names.
    pub fn find<T>(&self, f: &impl Fn(&Expr) -> Option<T>) -> Option<T> {
        f(self).or_else(|| self.operands().iter().find_map(|e| e.find(f)))
    }

    /// Calls `f` for each expression in it, operands first; not for the values of names.
    pub fn for_each_mut(&mut self, f: &mut impl FnMut(&mut Expr)) {
        for operand in self.operands_mut() {
            operand.for_each_mut(f);
        }
        f(self);
    }

    /// Calls `f` for each index in it, as [`Expr::for_each_mut`] does.
    pub fn for_each_index_mut(&mut self, f: &mut impl FnMut(&mut Index)) {
        self.for_each_mut(&mut |e| match &mut e.kind {
            ExprKind::Load(access) => access.index.iter_mut().for_each(&mut *f),
            ExprKind::Index(index) => f(index),
            _ => {}
        });
    }
}

impl Kernel {
    /// Calls `f` for `e` and each expression below it, also in the values of the names for which
    /// `through` holds; `f` gives the operands that are gone on with.
    pub fn walk<'e>(
        &'e self,
        e: &'e Expr,
        through: &impl Fn(Id) -> bool,
        f: &mut impl FnMut(&'e Expr) -> &'e [Expr],
    ) {
        let mut seen = BTreeSet::new();
        let mut work = vec![e];
        while let Some(e) = work.pop() {
            work.extend(f(e).iter().rev());
            if let ExprKind::Local(id) = e.kind
                && through(id)
                && seen.insert(id)
            {
                work.push(&self.locals[id].value);
            }
        }
    }

    /// What `of` makes of `e` and of what it has made of its operands, names as their values, each once;
    /// of what `first` gives something for, that, and it is not gone into.
    pub fn fold<T: Clone>(
        &self,
        e: &Expr,
        first: &mut dyn FnMut(&Expr) -> Option<T>,
        of: &mut dyn FnMut(&Expr, Vec<T>) -> Option<T>,
    ) -> Option<T> {
        self.folded(e, first, of, &mut BTreeMap::new())
    }

    fn folded<T: Clone>(
        &self,
        e: &Expr,
        first: &mut dyn FnMut(&Expr) -> Option<T>,
        of: &mut dyn FnMut(&Expr, Vec<T>) -> Option<T>,
        known: &mut BTreeMap<Id, T>,
    ) -> Option<T> {
        if let Some(found) = first(e) {
            return Some(found);
        }
        let ExprKind::Local(id) = e.kind else {
            let parts = e.operands().iter();
            let parts = parts.map(|part| self.folded(part, first, of, known));
            let parts = parts.collect::<Option<_>>()?;
            return of(e, parts);
        };
        if !known.contains_key(&id) {
            let found = self.folded(&self.locals[id].value, first, of, known)?;
            known.insert(id, found);
        }
        known.get(&id).cloned()
    }

    /// An expression with the values of names that no statement computes in place of them, and of each part
    /// what `made` makes of it, operands first; nothing where that gives nothing, or where there are more
    /// than so many parts `left`, which it counts down.
    pub fn written_out(
        &self,
        e: &Expr,
        left: &mut usize,
        made: &dyn Fn(Expr) -> Option<Expr>,
    ) -> Option<Expr> {
        *left = left.checked_sub(1)?;
        if let ExprKind::Local(id) = e.kind
            && !self.locals[id].stated
        {
            return self.written_out(&self.locals[id].value, left, made);
        }
        let mut out = e.clone();
        for part in out.operands_mut() {
            *part = self.written_out(part, left, made)?;
        }
        made(out)
    }

    /// Calls `f` for each expression without operands below `e`, also in the values of the
    /// names for which `through` holds, but not for these names.
    pub fn for_each_leaf<'e>(
        &'e self,
        e: &'e Expr,
        through: &impl Fn(Id) -> bool,
        f: &mut impl FnMut(&'e Expr),
    ) {
        self.walk(e, through, &mut |e| {
            let operands = e.operands();
            let passed = matches!(e.kind, ExprKind::Local(id) if through(id));
            if operands.is_empty() && !passed {
                f(e);
            }
            operands
        });
    }

    /// Calls `f` for each load that an expression makes when it is computed, also in the
    /// values of names that no statement computes.
    pub fn for_each_load<'e>(&'e self, e: &'e Expr, f: &mut impl FnMut(&'e Access)) {
        let unstated = |id: Id| !self.locals[id].stated;
        self.for_each_leaf(e, &unstated, &mut |leaf| {
            if let ExprKind::Load(access) = &leaf.kind {
                f(access);
            }
        });
    }

    /// Whether computing an expression reads what a statement writes, through the names for
    /// which `through` holds.
    pub fn reads(&self, e: &Expr, target: &Target, through: &impl Fn(Id) -> bool) -> bool {
        let mut found = false;
        self.for_each_leaf(e, through, &mut |leaf| {
            found |= match (&leaf.kind, target) {
                (ExprKind::Register(id), Target::Register(t)) => id == t,
                (ExprKind::Load(access), Target::Array(t)) => access.array == t.array,
                _ => false,
            };
        });
        found
    }

    /// What a statement computes; nothing for a loop.
    pub fn value<'e>(&'e self, stmt: &'e Stmt) -> Option<&'e Expr> {
        match stmt {
            Stmt::For(_) => None,
            Stmt::Let(id) => Some(&self.locals[*id].value),
            Stmt::Assign(a) => Some(&a.value),
        }
    }

    /// Calls `f` for each access of a statement itself, not of the body of a loop; the last,
    /// for which the second argument is true, writes.
    pub fn for_each_access<'e>(&'e self, stmt: &'e Stmt, f: &mut impl FnMut(&'e Access, bool)) {
        if let Some(value) = self.value(stmt) {
            self.for_each_load(value, &mut |access| f(access, false));
        }
        if let Stmt::Assign(Assign {
            target: Target::Array(access),
            ..
        }) = stmt
        {
            f(access, true);
        }
    }

    /// Calls `f` for each expression of statements, operands first, also in the values that they
    /// use. A value that no statement computes must be used in these statements alone.
    pub fn for_each_expr_mut(&mut self, body: &mut [Stmt], f: &mut impl FnMut(&mut Expr)) {
        let mut used = BTreeSet::new();
        for_each_stmt(body, &mut |stmt, _| {
            if let Stmt::Let(id) = stmt {
                used.insert(*id);
            }
            let Some(value) = self.value(stmt) else {
                return;
            };
            let unstated = |id: Id| !self.locals[id].stated;
            self.walk(value, &unstated, &mut |e| {
                if let ExprKind::Local(id) = e.kind
                    && unstated(id)
                {
                    used.insert(id);
                }
                e.operands()
            });
        });
        for id in used {
            self.locals[id].value.for_each_mut(f);
        }
        for_each_assign_mut(body, &mut |a| a.value.for_each_mut(f));
    }

    /// Calls `f` for each access of statements, as [`Kernel::for_each_expr_mut`] does.
    pub fn for_each_access_mut(&mut self, body: &mut [Stmt], f: &mut impl FnMut(&mut Access)) {
        self.for_each_expr_mut(body, &mut |e| {
            if let ExprKind::Load(access) = &mut e.kind {
                f(access);
            }
        });
        for_each_assign_mut(body, &mut |a| {
            if let Target::Array(access) = &mut a.target {
                f(access);
            }
        });
    }
}

/// Calls `f` for each statement, a loop before its body, with the loops around it, the outermost
/// first.
pub fn for_each_stmt<'s>(body: &'s [Stmt], f: &mut impl FnMut(&'s Stmt, &[&'s For])) {
    fn inside<'s>(
        body: &'s [Stmt],
        around: &mut Vec<&'s For>,
        f: &mut impl FnMut(&'s Stmt, &[&'s For]),
    ) {
        for stmt in body {
            f(stmt, around);
            if let Stmt::For(l) = stmt {
                around.push(l);
                inside(&l.body, around, f);
                around.pop();
            }
        }
    }
    inside(body, &mut Vec::new(), f);
}

/// The variables of the loops among statements.
pub fn inner_loops(body: &[Stmt]) -> BTreeSet<Symbol> {
    let mut out = BTreeSet::new();
    for_each_stmt(body, &mut |stmt, _| {
        if let Stmt::For(f) = stmt {
            out.insert(f.var);
        }
    });
    out
}

/// Calls `f` for each statement, a loop before its body.
pub fn for_each_stmt_mut(body: &mut [Stmt], f: &mut impl FnMut(&mut Stmt)) {
    for stmt in body {
        f(stmt);
        if let Stmt::For(l) = stmt {
            for_each_stmt_mut(&mut l.body, f);
        }
    }
}

/// Calls `f` for each statement that stores, also in loops.
pub fn for_each_assign_mut(body: &mut [Stmt], f: &mut impl FnMut(&mut Assign)) {
    for_each_stmt_mut(body, &mut |stmt| {
        if let Stmt::Assign(a) = stmt {
            f(a);
        }
    });
}

#[cfg(test)]
mod tests;
