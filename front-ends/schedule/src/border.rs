//! What vectors leave to scalars: iterations in which a clamped index is clamped, and those of the
//! interior that fill no vector.
//!
//! In: a loop, a range of its iterations, facts. Out: the loop over that range, whose conditions and
//! clamps are decided by it. Where the clamped iterations on a side are few for all sizes, as those
//! of a stencil are, each is a loop of its own that runs once or not at all: most of what is clamped
//! there is a number then, and places that are read twice are read once.

use super::copy::{Copy, fresh};
use super::range;
use kernel::index::Index;
use kernel::lia::Facts;
use kernel::tree::{For, Kernel, Stmt};

/// The most iterations on one side that are apart.
const MOST_APART: i64 = 4;

/// The loop over a range; `is`: what the loop variable is in the one iteration that it has then.
pub(super) fn over(
    kernel: &mut Kernel,
    f: &For,
    (lo, hi): (Index, Index),
    is: Option<Index>,
    around: &Facts,
) -> For {
    let (lo, hi) = (around.without_clamps(&lo), around.without_clamps(&hi));
    let var = fresh(kernel, f.var);
    let leftover = is.is_some();
    let value = is.unwrap_or(Index::Sym(var));
    let mut body = Copy::with(kernel, f.var, value).block(&f.body);
    let mut facts = around.clone();
    facts.add_loop(var, &lo, &hi, 1);
    range::decide(kernel, &mut body, &facts);
    For {
        leftover,
        ..For::new(var, (lo, hi), body, f.span)
    }
}

/// The iterations before `interior`.
pub(super) fn before(kernel: &mut Kernel, f: &For, interior: &Index, around: &Facts) -> Vec<Stmt> {
    let end = Index::smaller(interior.clone(), f.hi.clone());
    let few = (1..=MOST_APART).find(|&n| around.proves_at_most(&end, &f.lo.offset(n)));
    let Some(few) = few else {
        return vec![Stmt::For(over(
            kernel,
            f,
            (f.lo.clone(), end),
            None,
            around,
        ))];
    };
    let one = |n| {
        let at = f.lo.offset(n).simplified();
        let next = at.offset(1);
        let inside = around.proves_at_most(&next, interior);
        let end = Index::smaller(if inside { f.hi.clone() } else { end.clone() }, next);
        Stmt::For(over(kernel, f, (at.clone(), end), Some(at), around))
    };
    (0..few).map(one).collect()
}

/// The iterations from `interior` on, which is where no clamp has an effect any more.
pub(super) fn behind(kernel: &mut Kernel, f: &For, start: &Index, around: &Facts) -> Vec<Stmt> {
    let few = (1..=MOST_APART).find(|&n| around.proves_at_most(&f.hi.offset(-n), start));
    let Some(few) = few else {
        let range = (start.clone(), f.hi.clone());
        return vec![Stmt::For(over(kernel, f, range, None, around))];
    };
    let one = |n| {
        let at = f.hi.offset(n - few).simplified();
        let start = Index::larger(start.clone(), at.clone());
        let range = (start, at.offset(1).simplified());
        Stmt::For(over(kernel, f, range, Some(at), around))
    };
    (0..few).map(one).collect()
}
