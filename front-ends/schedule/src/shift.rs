//! Tails by an overlap: a last vector that ends where the iterations do.
//!
//! In: a loop of which vectors are made, and where they begin and end. Out: the loops behind
//! the vectors, or why there are none such. Some iterations run twice, so what they compute
//! must be the same the second time: nothing that the loop stores may be read or added to by
//! it. Where there are fewer iterations than lanes they stay scalar.

use super::Refusal;
use super::access::{target_name, written_arrays};
use kernel::index::Index;
use kernel::tree::{For, Kernel, Stmt, Target};
use kernel::visit::for_each_stmt;

/// Whether iterations may run twice.
///
/// # Errors
/// What would be different the second time.
pub(super) fn check(kernel: &Kernel, f: &For) -> Result<(), Refusal> {
    let stored = written_arrays(&f.body);
    let mut read = None;
    for_each_stmt(&f.body, &mut |stmt, _| {
        let adds = matches!(stmt, Stmt::Assign(a) if a.accumulate);
        kernel.for_each_access(stmt, &mut |access, writes| {
            if (adds || !writes) && stored.contains(&access.array) {
                read = read.or(Some(access.array));
            }
        });
    });
    match read {
        None => Ok(()),
        Some(array) => {
            let name = &kernel.arrays[array].name;
            Err(twice(f, format!("reads `{name}`, which it stores")))
        }
    }
}

/// The refusal of a loop that accumulates.
pub(super) fn accumulates(kernel: &Kernel, f: &For, target: &Target) -> Refusal {
    let name = target_name(kernel, target);
    twice(f, format!("accumulates in `{name}`"))
}

/// The refusal of a loop that is not the same the second time.
fn twice(f: &For, why: String) -> Refusal {
    let message = format!("the last vector repeats iterations, and the loop {why}");
    Refusal::at(f.span, message).note("`tail mask` repeats none")
}

/// Where the last vector's loop begins and ends, which runs once or not at all, and where the
/// scalars behind it begin, for vectors of `count` iterations from `lo` to `hi`.
pub(super) fn bounds(lo: &Index, hi: &Index, count: i64) -> (Index, Index, Index) {
    let boxed = |a: &Index| Box::new(a.clone());
    let smaller = |a: Index, b: i64| Index::Min(Box::new(a), Box::new(Index::Const(b)));
    let larger = |a: Index, b: i64| Index::Max(Box::new(a), Box::new(Index::Const(b)));
    let length = larger(hi.minus(lo), 0);
    let rest = Index::Mod(boxed(&length), Box::new(Index::Const(count)));
    let vectors = Index::Div(boxed(&length), Box::new(Index::Const(count)));
    // 1 where there is a vector at all, and 1 where vectors from the start leave something.
    let any = smaller(vectors, 1);
    let once = Index::Mul(boxed(&any), Box::new(smaller(rest, 1)));
    let last = hi.offset(-count);
    let end = last.plus(&once);
    let behind = lo.plus(&Index::Mul(Box::new(any), Box::new(length)));
    (last, end, behind)
}
