//! Lowering: checked kernels to loops around windows.
//!
//! In: a kernel with its schedule applied. Out: [`Lowered`]: each statement becomes a [`Window`]
//! with operand registers, a rolled term, and a store. Values named by `let` are merged
//! into the one statement of the same block that uses them; those used by several, or in
//! an inner loop, and vectors computed in wider elements than all the rest of the statement,
//! are kept in a register that a window of their own computes.

mod along;
mod common;
mod float;
mod interleave;
mod ops;
pub mod replay;
mod share;
mod term;
mod turned;
pub mod window;

use crate::window::{Loop, Lowered, LoweredNode, Source, Store, Window};
use kernel::bounds::assumptions;
use kernel::index::Index;
use kernel::lia::Facts;
use kernel::tree::{Assign, Expr, ExprKind, Id, Kernel, Op, Register, Stmt, Target};
use kernel::types::{Elem, Type};
use schedule::Scheduled;
use semantics::diagnostic::Diagnostic;
use semantics::span::Span;
use semantics::term::Term;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use term::TermBuilder;

/// The most windows that one kernel may have: each is searched for and proved alone.
const MOST_WINDOWS: usize = 2048;

/// Lowers a kernel.
///
/// # Errors
/// A truth value that would have to be kept in a register, because what it was computed from
/// changes before it is used; more than 2,048 statements after unrolling.
pub fn lower(scheduled: &Scheduled) -> Result<Lowered, Vec<Diagnostic>> {
    Ok(lowered(scheduled, false)?.0)
}

/// Lowers a kernel as its statements are written and, where statements beside each other have parts of
/// sums and extremes in common, with these formed once.
///
/// # Errors
/// As [`lower`].
pub fn lower_both(scheduled: &Scheduled) -> Result<(Lowered, Option<Lowered>), Vec<Diagnostic>> {
    match lowered(scheduled, true) {
        Ok((plain, false)) => Ok((plain, None)),
        // What has too many statements with its common parts may be lowered without.
        common => Ok((lower(scheduled)?, common.ok().map(|(lowered, _)| lowered))),
    }
}

/// A kernel that is lowered, and whether common parts were looked for and found.
fn lowered(scheduled: &Scheduled, common: bool) -> Result<(Lowered, bool), Vec<Diagnostic>> {
    let kernel = scheduled.kernel();
    let mut lowering = Lowering {
        kernel: kernel.clone(),
        materialized: BTreeMap::new(),
        windows: Vec::new(),
        active: None,
        leftover: false,
        common: common.then_some(false),
        diagnostics: Vec::new(),
    };
    let facts = assumptions(kernel);
    let body = lowering.block(&kernel.body, &facts);
    if lowering.diagnostics.is_empty() {
        window::count_chains(&body, &mut lowering.windows);
        let found = lowering.common == Some(true);
        let lowered = Lowered {
            kernel: lowering.kernel,
            body,
            windows: lowering.windows,
            materialized: lowering.materialized,
        };
        Ok((lowered, found))
    } else {
        Err(lowering.diagnostics)
    }
}

/// The term of one operation on one lane: what [`lower`] makes of it.
///
/// # Panics
/// When the operands do not fit the operation: the checker excludes it.
pub fn operation(op: Op, to: Elem, from: &[Elem], operands: &[Term]) -> Term {
    ops::term(op, to, from, operands)
}

struct Lowering {
    /// The kernel, with registers added.
    kernel: Kernel,
    /// The registers of local values that are kept.
    materialized: BTreeMap<Id, Id>,
    windows: Vec<Window>,
    /// How many lanes are in use, and of how many, inside a loop whose last iteration is partial.
    active: Option<(Index, i64)>,
    /// Whether the loop around is for what vectors leave over.
    leftover: bool,
    /// Where parts that statements have in common are looked for: whether any were found.
    common: Option<bool>,
    diagnostics: Vec<Diagnostic>,
}

impl Lowering {
    fn block(&mut self, body: &[Stmt], facts: &Facts) -> Vec<LoweredNode> {
        let together = interleave::together(&mut self.kernel, body, self.active.is_some());
        let body = share::loads(&mut self.kernel, together);
        let mut body = turned::columns(&mut self.kernel, body, self.active.is_some());
        if let Some(found) = &mut self.common
            && let Some(formed) = common::parts(&mut self.kernel, &body)
        {
            *found = true;
            body = Cow::Owned(formed);
        }
        let body = &*body;
        self.plan_lets(body);
        let mut nodes = Vec::new();
        for stmt in body {
            match stmt {
                Stmt::For(f) => {
                    let mut inside = facts.clone();
                    inside.add_loop(f.var, &f.lo, &f.hi, f.step);
                    if let Some(id) = f.at.filter(|id| !self.materialized.contains_key(id)) {
                        self.keep(id);
                    }
                    let around = (self.active.clone(), self.leftover);
                    if f.partial {
                        self.active = Some((f.hi.minus(&Index::Sym(f.var)), f.step));
                    }
                    self.leftover = f.leftover;
                    let body = self.block(&f.body, &inside);
                    (self.active, self.leftover) = around;
                    nodes.push(LoweredNode::Loop(Loop {
                        var: f.var,
                        lo: f.lo.clone(),
                        hi: f.hi.clone(),
                        step: f.step,
                        at: f.at.map(|id| self.materialized[&id]),
                        body,
                    }));
                }
                Stmt::Let(id) => {
                    if let Some(&register) = self.materialized.get(id) {
                        let value = self.kernel.locals[*id].value.clone();
                        let ty = value.ty;
                        let window = self.window(
                            &value,
                            ty,
                            None,
                            Store::Register(register),
                            value.span,
                            facts,
                        );
                        nodes.push(window);
                    }
                }
                Stmt::Assign(a) => nodes.push(self.assign(a, facts)),
            }
        }
        nodes
    }

    fn assign(&mut self, a: &Assign, facts: &Facts) -> LoweredNode {
        let (store, source, lanes) = match &a.target {
            Target::Register(id) => (
                Store::Register(*id),
                Source::Register(*id),
                self.kernel.registers[*id].ty.lanes,
            ),
            Target::Array(access) => (
                Store::Array(access.clone()),
                Source::Array(access.clone()),
                access.lanes,
            ),
        };
        let ty = Type {
            elem: a.value.ty.elem,
            lanes,
        };
        self.window(
            &a.value,
            ty,
            a.accumulate.then_some(source),
            store,
            a.span,
            facts,
        )
    }

    fn window(
        &mut self,
        value: &Expr,
        ty: Type,
        old: Option<Source>,
        store: Store,
        span: Span,
        facts: &Facts,
    ) -> LoweredNode {
        let mut builder = TermBuilder::new(
            &self.kernel,
            &self.materialized,
            self.active.is_none().then_some(facts),
        );
        let term = builder.statement(value, ty, old.clone());
        let parts = matches!(store, Store::Register(id) if self.kernel.registers[id].parts);
        let dealt = match parts {
            true => builder.dealt(value, ty, &old),
            false => Vec::new(),
        };
        let inputs = builder.into_inputs();
        let window = self.windows.len();
        if window == MOST_WINDOWS {
            let message = format!(
                "`{}` has more than {MOST_WINDOWS} statements",
                self.kernel.name
            );
            let hint = "write a loop, unroll less, or make several kernels of it";
            let diagnostic = Diagnostic::error(message).at(&self.kernel.source, span);
            self.diagnostics.push(diagnostic.hint(hint));
        }
        let name = format!("{}.{window}", self.kernel.name);
        let (value, accumulate) = (value.clone(), old.is_some());
        let mut made = Window {
            name,
            span,
            inputs,
            output: ty,
            term,
            store,
            value,
            accumulate,
            chains: 0,
            dealt: Vec::new(),
            leftover: self.leftover,
        };
        let others = dealt.into_iter().filter(|other| *other != term);
        made.dealt = others
            .map(|term| Window {
                term,
                ..made.clone()
            })
            .collect();
        self.windows.push(made);
        // What is stored by turns has several elements for each lane.
        let active = self.active.as_ref().map(|(active, of)| {
            let turns = i64::from(ty.lanes).checked_div(*of).unwrap_or(1);
            active.times(turns.max(1))
        });
        LoweredNode::Window { window, active }
    }

    /// Decides which of a block's local values are kept in registers. Goes backwards, so
    /// that for each value it is known where what uses it ends up.
    fn plan_lets(&mut self, body: &[Stmt]) {
        let mut end: BTreeMap<Id, usize> = BTreeMap::new();
        let mut all_users = self.users(body);
        let is_let = |n: &usize| matches!(body[*n], Stmt::Let(_));
        let changing: Vec<usize> = (0..body.len()).filter(|n| !is_let(n)).collect();
        for (at, stmt) in body.iter().enumerate().rev() {
            let Stmt::Let(id) = *stmt else { continue };
            let mut users = all_users.remove(&id).unwrap_or_default();
            users.retain(|&n| n > at);
            let ends: Vec<usize> = users
                .iter()
                .filter_map(|&n| match &body[n] {
                    Stmt::For(_) => None,
                    Stmt::Let(other) if !self.materialized.contains_key(other) => {
                        end.get(other).copied()
                    }
                    _ => Some(n),
                })
                .collect();
            let elem = self.kernel.locals[id].value.ty.elem;
            let (Some(&last), true) = (ends.iter().max(), ends.len() == users.len()) else {
                let chooses = |n: &usize| matches!(&body[*n], Stmt::For(f) if f.at == Some(id));
                if users.iter().any(chooses) || !users.is_empty() && !self.constant(id) {
                    self.keep(id);
                }
                continue;
            };
            let between = &changing[changing.partition_point(|&n| n <= at)..];
            let mut between = between.iter().take_while(|&&n| n < last);
            let changed = between.any(|&n| self.changes_input_of(&body[n], id));
            let merge = self.constant(id)
                || elem == Elem::Bool
                || users.len() == 1 && !self.widens(id, &body[last]);
            if merge && !changed {
                end.insert(id, last);
            } else {
                self.keep(id);
            }
        }
    }

    /// Whether a vector is computed in wider elements than the rest of the statement that it
    /// would be merged into, and than its own: the rest would need as many more registers.
    fn widens(&self, id: Id, user: &Stmt) -> bool {
        let value = &self.kernel.locals[id].value;
        let rest = match user {
            Stmt::For(_) => return false,
            Stmt::Let(other) => &self.kernel.locals[*other].value,
            Stmt::Assign(a) => &a.value,
        };
        let inside = self.widest(value, None);
        value.ty.lanes > 1 && inside > value.ty.elem.bits() && inside > self.widest(rest, Some(id))
    }

    /// The width of the widest element in an expression and in the values merged into it,
    /// but for that of `besides`.
    fn widest(&self, e: &Expr, besides: Option<Id>) -> u32 {
        let merged = |id: Id| !self.materialized.contains_key(&id) && besides != Some(id);
        let mut widest = 0;
        self.kernel.walk(e, &merged, &mut |e| {
            widest = widest.max(e.ty.elem.bits());
            e.operands()
        });
        widest
    }

    fn keep(&mut self, id: Id) {
        let local = &self.kernel.locals[id];
        if local.value.ty.elem == Elem::Bool {
            let message = format!(
                "`{}` is a truth value that is needed after or inside other statements",
                local.name
            );
            let diagnostic = Diagnostic::error(message).at(&self.kernel.source, local.value.span);
            self.diagnostics.push(
                diagnostic.hint("compute it where it is used, or `select` numbers by it first"),
            );
            return;
        }
        let register = Register {
            name: local.name.clone(),
            ty: local.value.ty,
            parts: false,
        };
        self.materialized.insert(id, self.kernel.registers.len());
        self.kernel.registers.push(register);
    }

    /// Whether a local value is a constant, a scalar parameter or an index.
    fn constant(&self, id: Id) -> bool {
        let kind = &self.kernel.locals[id].value.kind;
        matches!(kind, ExprKind::Const(_) | ExprKind::Scalar(_))
    }

    /// Which statements of a block mention a local value.
    fn users(&self, body: &[Stmt]) -> BTreeMap<Id, Vec<usize>> {
        let mut users: BTreeMap<Id, Vec<usize>> = BTreeMap::new();
        for (at, stmt) in body.iter().enumerate() {
            let mut mentioned = BTreeSet::new();
            self.mentioned(stmt, &mut mentioned);
            for id in mentioned {
                users.entry(id).or_default().push(at);
            }
        }
        users
    }

    /// The local values that a statement mentions.
    fn mentioned(&self, stmt: &Stmt, found: &mut BTreeSet<Id>) {
        let value = match stmt {
            Stmt::For(f) => {
                found.extend(f.at);
                f.body.iter().for_each(|s| self.mentioned(s, found));
                return;
            }
            Stmt::Let(other) => &self.kernel.locals[*other].value,
            Stmt::Assign(a) => &a.value,
        };
        let unstated = |l: Id| !self.kernel.locals[l].stated;
        self.kernel.for_each_leaf(value, &unstated, &mut |leaf| {
            if let ExprKind::Local(id) = leaf.kind {
                found.insert(id);
            }
        });
    }

    /// Whether a statement writes something that a local value is computed from.
    fn changes_input_of(&self, stmt: &Stmt, id: Id) -> bool {
        match stmt {
            Stmt::For(f) => f.body.iter().any(|s| self.changes_input_of(s, id)),
            Stmt::Let(_) => false,
            Stmt::Assign(a) => {
                let merged = |l: Id| !self.materialized.contains_key(&l);
                self.kernel
                    .reads(&self.kernel.locals[id].value, &a.target, &merged)
            }
        }
    }
}

#[cfg(test)]
mod tests;
