//! What statements mention: names, registers, values, loop variables.
//!
//! In: statements. Out: whether a value goes from some of them to others other than through
//! arrays, whether a loop variable matters in them, whether repeating them changes anything.

use kernel::index::{Index, Symbol};
use kernel::tree::{Assign, Expr, ExprKind, Id, Kernel, Stmt, Target};
use kernel::visit::for_each_stmt;
use semantics::span::Span;
use std::collections::{BTreeMap, BTreeSet};

/// What a statement can be called by: its loop variable, what it writes.
pub(super) fn names(kernel: &Kernel, stmt: &Stmt) -> Vec<String> {
    match stmt {
        Stmt::For(f) => {
            let inner = f.body.iter().flat_map(|s| names(kernel, s));
            std::iter::once(kernel.symbol_name(f.var))
                .chain(inner)
                .collect()
        }
        Stmt::Let(id) => vec![kernel.locals[*id].name.clone()],
        Stmt::Assign(a) => vec![target_name(kernel, &a.target)],
    }
}

/// The name of what is written.
pub(super) fn target_name(kernel: &Kernel, target: &Target) -> String {
    match target {
        Target::Register(id) => kernel.registers[*id].name.clone(),
        Target::Array(access) => kernel.arrays[access.array].name.clone(),
    }
}

/// Registers and values that statements mention, with the first place where they are read.
#[derive(Default)]
struct Mentions {
    written: BTreeMap<Id, Span>,
    read: BTreeMap<Id, Span>,
    stated: BTreeSet<Id>,
    used: BTreeMap<Id, Span>,
}

impl Mentions {
    fn block(&mut self, kernel: &Kernel, body: &[Stmt]) {
        for_each_stmt(body, &mut |stmt, _| {
            match stmt {
                Stmt::Let(id) => {
                    self.stated.insert(*id);
                }
                Stmt::Assign(Assign {
                    target: Target::Register(id),
                    span,
                    ..
                }) => {
                    self.written.insert(*id, *span);
                }
                _ => {}
            }
            if let Some(value) = kernel.value(stmt) {
                self.value(kernel, value);
            }
        });
    }

    fn value(&mut self, kernel: &Kernel, e: &Expr) {
        let unstated = |id: Id| !kernel.locals[id].stated;
        kernel.for_each_leaf(e, &unstated, &mut |leaf| match leaf.kind {
            ExprKind::Register(id) => {
                self.read.entry(id).or_insert(leaf.span);
            }
            ExprKind::Local(id) => {
                self.used.entry(id).or_insert(leaf.span);
            }
            _ => {}
        });
    }
}

/// A register or value that goes from one part to the other, in whatever direction.
pub(super) fn flow(kernel: &Kernel, one: &[Stmt], two: &[Stmt]) -> Option<(String, Span)> {
    let (mut a, mut b) = (Mentions::default(), Mentions::default());
    a.block(kernel, one);
    b.block(kernel, two);
    let registers = |a: &Mentions, b: &Mentions| {
        let found = a.written.keys().find_map(|id| {
            let span = b.read.get(id).or_else(|| b.written.get(id))?;
            Some((*id, *span))
        });
        found.map(|(id, span)| (kernel.registers[id].name.clone(), span))
    };
    let values = |a: &Mentions, b: &Mentions| {
        let found = b.used.iter().find(|(id, _)| a.stated.contains(id));
        found.map(|(id, span)| (kernel.locals[*id].name.clone(), *span))
    };
    registers(&a, &b)
        .or_else(|| registers(&b, &a))
        .or_else(|| values(&a, &b))
        .or_else(|| values(&b, &a))
}

/// Where statements mention a symbol.
pub(super) fn mentions(kernel: &Kernel, body: &[Stmt], symbol: Symbol) -> Option<Span> {
    let mut found = None;
    let value = |kernel: &Kernel, e: &Expr| {
        let unstated = |id: Id| !kernel.locals[id].stated;
        let mut seen = None;
        kernel.for_each_leaf(e, &unstated, &mut |leaf| {
            let here = match &leaf.kind {
                ExprKind::Load(access) => access.index.iter().any(|i| i.mentions(symbol)),
                ExprKind::Index(index) => index.mentions(symbol),
                _ => false,
            };
            if here {
                seen = Some(leaf.span);
            }
        });
        seen
    };
    for stmt in body {
        found = found.or_else(|| match stmt {
            Stmt::For(f) if f.lo.mentions(symbol) || f.hi.mentions(symbol) => Some(f.span),
            Stmt::For(f) => mentions(kernel, &f.body, symbol),
            Stmt::Let(id) => value(kernel, &kernel.locals[*id].value),
            Stmt::Assign(a) => value(kernel, &a.value).or_else(|| match &a.target {
                Target::Array(access) if access.index.iter().any(|i| i.mentions(symbol)) => {
                    Some(access.span)
                }
                _ => None,
            }),
        });
    }
    found
}

/// What a second run of statements would find changed by the first: something they write and
/// read without having written it anew before.
pub(super) fn overwritten(kernel: &Kernel, body: &[Stmt]) -> Option<(String, Span)> {
    let mut written = Vec::new();
    let mut all = BTreeSet::new();
    let mut registers = BTreeSet::new();
    targets(body, &mut all, &mut registers);
    stale(kernel, body, (&all, &registers), &mut written)
}

/// The arrays that statements write.
pub(super) fn written_arrays(body: &[Stmt]) -> BTreeSet<Id> {
    let (mut arrays, mut registers) = (BTreeSet::new(), BTreeSet::new());
    targets(body, &mut arrays, &mut registers);
    arrays
}

fn targets(body: &[Stmt], arrays: &mut BTreeSet<Id>, registers: &mut BTreeSet<Id>) {
    for_each_stmt(body, &mut |stmt, _| {
        if let Stmt::Assign(a) = stmt {
            match &a.target {
                Target::Register(id) => registers.insert(*id),
                Target::Array(access) => arrays.insert(access.array),
            };
        }
    });
}

fn stale(
    kernel: &Kernel,
    body: &[Stmt],
    all: (&BTreeSet<Id>, &BTreeSet<Id>),
    written: &mut Vec<Target>,
) -> Option<(String, Span)> {
    for stmt in body {
        let old = |e: &Expr, written: &[Target]| {
            let mut found = None;
            let unstated = |id: Id| !kernel.locals[id].stated;
            kernel.for_each_leaf(e, &unstated, &mut |leaf| {
                let target = match &leaf.kind {
                    ExprKind::Register(id) if all.1.contains(id) => Target::Register(*id),
                    ExprKind::Load(a) if all.0.contains(&a.array) => Target::Array(a.clone()),
                    _ => return,
                };
                if !written.contains(&target) {
                    found = Some((target_name(kernel, &target), leaf.span));
                }
            });
            found
        };
        let found = match stmt {
            Stmt::For(f) => {
                let before = written.len();
                let found = stale(kernel, &f.body, all, written);
                written.truncate(before);
                found
            }
            Stmt::Let(id) => old(&kernel.locals[*id].value, written),
            Stmt::Assign(a) => {
                let added = a.accumulate && !written.contains(&a.target);
                let found = match added {
                    true => Some((target_name(kernel, &a.target), a.span)),
                    false => old(&a.value, written),
                };
                written.push(a.target.clone());
                found
            }
        };
        if found.is_some() {
            return found;
        }
    }
    None
}

/// Whether statements touch an array.
pub(super) fn touches(kernel: &Kernel, body: &[Stmt], array: Id) -> bool {
    let mut found = false;
    for_each_stmt(body, &mut |stmt, _| {
        kernel.for_each_access(stmt, &mut |access, _| found |= access.array == array);
    });
    found
}

/// The loops around all statements for which `f` holds, the outermost first.
pub(super) fn loops_around(body: &[Stmt], f: &dyn Fn(&[Stmt]) -> bool) -> Vec<Symbol> {
    let mut out = Vec::new();
    let mut body = body;
    loop {
        let holding: Vec<&Stmt> = body
            .iter()
            .filter(|s| f(std::slice::from_ref(*s)))
            .collect();
        let [Stmt::For(only)] = holding[..] else {
            return out;
        };
        out.push(only.var);
        body = &only.body;
    }
}

/// Where statements touch an array at an index that depends on a symbol, or on the variable of a
/// loop between whose bounds do.
pub(super) fn mentions_in(
    kernel: &Kernel,
    body: &[Stmt],
    symbol: Symbol,
    array: Id,
) -> Option<Span> {
    let mut found = None;
    for_each_stmt(body, &mut |stmt, around| {
        let mut moved = BTreeSet::from([symbol]);
        for f in around {
            if moved.iter().any(|s| f.lo.mentions(*s) || f.hi.mentions(*s)) {
                moved.insert(f.var);
            }
        }
        kernel.for_each_access(stmt, &mut |access, _| {
            let moves = |i: &Index| moved.iter().any(|s| i.mentions(*s));
            if access.array == array && access.index.iter().any(moves) {
                found = Some(access.span);
            }
        });
    });
    found
}
