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
    let last = hi.offset(-count);
    // 1 behind its start where vectors from `lo` are and leave something: of a least value each part is a
    // fact in the loop, so that it is known there where in the array it ends.
    let whole = Box::new(hi.minus(lo));
    let by = || Box::new(Index::Const(count));
    let vectors = last.plus(&Index::Div(whole.clone(), by()));
    let rest = last.plus(&Index::Mod(whole, by()));
    let end = Index::smaller(Index::smaller(vectors, rest), last.offset(1));
    let length = Index::larger(hi.minus(lo), Index::Const(0));
    let any = Index::smaller(Index::Div(Box::new(length.clone()), by()), Index::Const(1));
    let behind = lo.plus(&Index::Mul(Box::new(any), Box::new(length)));
    (last, end, behind)
}
