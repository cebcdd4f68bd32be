//! A kernel at sizes that are known.
//!
//! In: a kernel, values of its sizes. Out: the kernel with these numbers in its extents, bounds
//! and indices, and with the condition that the sizes are so.

use crate::index::{Index, Symbol};
use crate::tree::{Condition, For, Kernel, Relation, Stmt, Target};
use std::collections::BTreeMap;

impl Kernel {
    /// The kernel at these sizes.
    pub fn at_sizes(&self, sizes: &BTreeMap<Symbol, i64>) -> Kernel {
        let mut kernel = self.clone();
        let span = kernel.span;
        let known = sizes.iter().map(|(&size, &value)| Condition {
            relation: Relation::Eq,
            left: Index::Sym(size),
            right: Index::Const(value),
            span,
        });
        kernel.requires.extend(known);
        let number = |index: &mut Index| {
            let all = sizes.iter().fold(index.clone(), |i, (&size, &value)| {
                i.substitute(size, &Index::Const(value))
            });
            *index = all.simplified();
        };
        for array in &mut kernel.arrays {
            array.dims.iter_mut().for_each(number);
        }
        for local in &mut kernel.locals {
            local.value.for_each_index_mut(&mut |i| number(i));
        }
        kernel.body.iter_mut().for_each(|s| each_index(s, &number));
        kernel
    }

    /// The kernel without loops over blocks of one iteration, from where another loop stands: their bodies
    /// stand there.
    pub fn without_blocks_of_one(&self) -> Kernel {
        let mut kernel = self.clone();
        let mut only = BTreeMap::new();
        kernel.body = unlooped(&self.body, &mut only);
        if only.is_empty() {
            return kernel;
        }
        // A first value may name a loop around, which may run once, too.
        let value = |index: &mut Index| {
            while let Some((&var, first)) = only.iter().find(|(var, _)| index.mentions(**var)) {
                *index = index.substitute(var, first).simplified();
            }
        };
        for local in &mut kernel.locals {
            local.value.for_each_index_mut(&mut |i| value(i));
        }
        kernel.body.iter_mut().for_each(|s| each_index(s, &value));
        kernel
    }
}

/// Statements without loops that run once, whose variables have the values that are noted.
fn unlooped(body: &[Stmt], only: &mut BTreeMap<Symbol, Index>) -> Vec<Stmt> {
    let mut out = Vec::new();
    for stmt in body {
        let Stmt::For(f) = stmt else {
            out.push(stmt.clone());
            continue;
        };
        let inner = unlooped(&f.body, only);
        let length = f.hi.minus(&f.lo).constant_value();
        let once = length.is_some_and(|n| 0 < n && n <= f.step) && f.at.is_none() && !f.partial;
        if once && f.lo.constant_value().is_none() {
            only.insert(f.var, f.lo.clone());
            out.extend(inner);
        } else {
            out.push(Stmt::For(For {
                body: inner,
                ..f.clone()
            }));
        }
    }
    out
}

/// Calls `f` for each index of a statement, but for those in the values of names.
fn each_index(stmt: &mut Stmt, f: &impl Fn(&mut Index)) {
    match stmt {
        Stmt::For(looped) => {
            f(&mut looped.lo);
            f(&mut looped.hi);
            looped.body.iter_mut().for_each(|s| each_index(s, f));
        }
        Stmt::Let(_) => {}
        Stmt::Assign(assign) => {
            assign.value.for_each_index_mut(&mut |i| f(i));
            if let Target::Array(access) = &mut assign.target {
                access.index.iter_mut().for_each(f);
            }
        }
    }
}
