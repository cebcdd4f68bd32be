//! A kernel at sizes that are known.
//!
//! In: a kernel, values of its sizes. Out: the kernel with these numbers in its extents, bounds
//! and indices, and with the condition that the sizes are so.

use crate::index::{Index, Symbol};
use crate::tree::{Condition, Kernel, Relation, Stmt, Target};
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
