//! Where clamped indices are not clamped.
//!
//! In: a loop, facts. Out: the range of the loop variable in which no `min` or `max` of an
//! index has an effect; indices with those taken away.

use super::Refusal;
use kernel::index::{Index, Symbol};
use kernel::lia::Facts;
use kernel::tree::{ExprKind, For, Kernel, Stmt};
use kernel::visit::{for_each_stmt, inner_loops};
use semantics::span::Span;
use std::collections::BTreeSet;

/// The range in which no clamp has an effect; none when there are no clamps.
///
/// # Errors
/// A clamp whose range cannot be written down before the loop.
pub(super) fn interior(
    kernel: &Kernel,
    f: &For,
    around: &Facts,
) -> Result<Option<(Index, Index)>, Refusal> {
    let mut bounds = Bounds {
        x: f.var,
        inner: inner_loops(&f.body),
        lows: Vec::new(),
        highs: Vec::new(),
    };
    let mut result = Ok(());
    each_index(kernel, &f.body, &mut |index, span| {
        if result.is_ok() {
            result = bounds.look(index, span);
        }
    });
    result?;
    if bounds.lows.is_empty() && bounds.highs.is_empty() {
        return Ok(None);
    }
    bounds.lows.insert(0, f.lo.clone());
    bounds.highs.insert(0, f.hi.clone());
    let lows = strongest(bounds.lows, |a, b| around.proves_at_most(a, b));
    let highs = strongest(bounds.highs, |a, b| around.proves_at_most(b, a));
    let first = "the loop's own bound is among them";
    Ok(Some((
        lows.into_iter().reduce(Index::larger).expect(first),
        highs.into_iter().reduce(Index::smaller).expect(first),
    )))
}

/// Those that no other one makes superfluous; `implied(a, b)`: `b` makes `a` superfluous.
fn strongest(all: Vec<Index>, implied: impl Fn(&Index, &Index) -> bool) -> Vec<Index> {
    let mut out: Vec<Index> = Vec::new();
    for new in all {
        if out.iter().any(|old| implied(&new, old)) {
            continue;
        }
        out.retain(|old| !implied(old, &new));
        out.push(new);
    }
    out
}

struct Bounds {
    x: Symbol,
    inner: BTreeSet<Symbol>,
    lows: Vec<Index>,
    highs: Vec<Index>,
}

impl Bounds {
    fn look(&mut self, index: &Index, span: Span) -> Result<(), Refusal> {
        if !index.mentions(self.x) {
            return Ok(());
        }
        match index {
            Index::Max(a, b) | Index::Min(a, b) => {
                let (moving, fixed) = if a.mentions(self.x) { (a, b) } else { (b, a) };
                let unclear = || {
                    Refusal::at(
                        span,
                        "it cannot be told before the loop where this index is clamped",
                    )
                };
                let core = core(moving, self.x)
                    .and_then(Index::linear)
                    .ok_or_else(unclear)?;
                let rest = core.to_index().minus(&Index::Sym(self.x));
                let bound = fixed.minus(&rest);
                let clear = core.coefficient(self.x) == 1 && !bound.mentions(self.x);
                if !clear || self.inner.iter().any(|&s| bound.mentions(s)) {
                    return Err(unclear());
                }
                if matches!(index, Index::Max(..)) {
                    self.lows.push(bound);
                } else {
                    self.highs.push(bound.offset(1));
                }
                self.look(moving, span)
            }
            Index::Add(a, b) | Index::Mul(a, b) | Index::Div(a, b) | Index::Mod(a, b) => {
                self.look(a, span)?;
                self.look(b, span)
            }
            Index::Const(_) | Index::Sym(_) => Ok(()),
        }
    }
}

/// What is clamped, without the clamps.
fn core(index: &Index, x: Symbol) -> Option<&Index> {
    match index {
        Index::Max(a, b) | Index::Min(a, b) => match (a.mentions(x), b.mentions(x)) {
            (true, false) => core(a, x),
            (false, true) => core(b, x),
            _ => None,
        },
        _ => Some(index),
    }
}

/// Calls `f` for each index of each access, also in names that no statement computes.
fn each_index(kernel: &Kernel, body: &[Stmt], f: &mut impl FnMut(&Index, Span)) {
    for_each_stmt(body, &mut |stmt, _| {
        kernel.for_each_access(stmt, &mut |access, _| {
            access.index.iter().for_each(|i| f(i, access.span));
        });
        if let Some(value) = kernel.value(stmt)
            && let ExprKind::Index(index) = &value.kind
        {
            f(index, value.span);
        }
    });
}
