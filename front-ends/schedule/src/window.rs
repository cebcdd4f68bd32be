//! Windows of arrays with a place of their own: what a loop touches of an array is copied to
//! a new array before it, and back behind it.
//!
//! In: a loop and an array. Out: copy, loop, copy. What the loop touches has to be a block of
//! constant extents whose corner does not depend on the loops inside; it is found by running
//! the loops that move the accesses, symbols staying symbols. The copies go where they are
//! needed: nothing is copied in that is written before it is read.

use super::Refusal;
use super::access::touches;
use super::copy::{fresh, fresh_named};
use kernel::index::{Index, Symbol};
use kernel::lia::Facts;
use kernel::tree::{
    Access, Array, Assign, Expr, ExprKind, For, Id, Kernel, Placement, Role, Stmt, Target,
};
use kernel::types::Type;
use std::collections::{BTreeMap, BTreeSet};

/// The most elements of a window, and the most accesses that are looked at.
const MOST: usize = 1 << 14;

/// An element of the window: its offsets from the corner.
type Place = Vec<i64>;

/// How a loop uses an array.
struct Use<'k> {
    kernel: &'k Kernel,
    array: Id,
    /// The indices of the first access, at the first iteration of the loops inside.
    corner: Option<Vec<Index>>,
    all: BTreeSet<Place>,
    written: bool,
    /// Whether something is read that was not written before for sure.
    before: bool,
    budget: usize,
}

/// Gives what a loop touches of an array a place of its own.
///
/// # Errors
/// A window of no constant extent, one that leaves the array, a name that is taken.
pub(super) fn stage(
    kernel: &mut Kernel,
    f: &For,
    array: &str,
    new: &str,
    around: &Facts,
) -> Result<Vec<Stmt>, Refusal> {
    let Some(id) = kernel.arrays.iter().position(|a| a.name == array) else {
        return Err(Refusal::no_array(kernel, f.span, array));
    };
    if kernel.arrays.iter().any(|a| a.name == new) {
        return Err(Refusal::at(
            f.span,
            format!("there is an array `{new}` already"),
        ));
    }
    let only = [Stmt::For(f.clone())];
    if !touches(kernel, &only, id) {
        return Err(Refusal::at(
            f.span,
            format!("the loop does not touch `{array}`"),
        ));
    }
    let mut found = Use {
        kernel,
        array: id,
        corner: None,
        all: BTreeSet::new(),
        written: false,
        before: false,
        budget: MOST,
    };
    let mut sure = BTreeSet::new();
    found.block(&only, &mut BTreeMap::new(), &mut sure)?;
    let (corner, low, extent) = found.window();
    let (written, before, touched) = (found.written, found.before, found.all.len());
    let base: Vec<Index> = corner.iter().zip(&low).map(|(c, &l)| c.offset(l)).collect();
    inside(kernel, f, id, (&base, &extent), around)?;
    let whole = extent.iter().product::<i64>();
    let copy_in = before || written && sure.len() < usize::try_from(whole).unwrap_or(usize::MAX);
    debug_assert!(touched > 0, "the loop touches it");
    let staged = kernel.arrays.len();
    let elem = kernel.arrays[id].elem;
    let around_loop = super::access::loops_around(&kernel.body, &|s| holds(s, f.var));
    let parent = around_loop.iter().rev().nth(1).copied();
    kernel.arrays.push(Array {
        name: new.to_owned(),
        elem,
        dims: extent.iter().map(|&n| Index::Const(n)).collect(),
        pad: 1,
        role: Role::Local,
        placement: Placement {
            inside: parent,
            memory: None,
            unset: false,
        },
        span: f.span,
    });
    let mut body = only.to_vec();
    let swap = |access: &mut Access| {
        if access.array == id {
            access.array = staged;
            for (index, base) in access.index.iter_mut().zip(&base) {
                *index = index.minus(base);
            }
        }
    };
    kernel.for_each_access_mut(&mut body, &mut |access| swap(access));
    let mut out = Vec::new();
    if copy_in {
        out.push(copy(kernel, f, (staged, id), (&base, &extent), false));
    }
    out.extend(body);
    if written {
        out.push(copy(kernel, f, (staged, id), (&base, &extent), true));
    }
    Ok(out)
}

/// Whether statements hold the loop with that variable.
fn holds(body: &[Stmt], var: Symbol) -> bool {
    body.iter().any(|s| match s {
        Stmt::For(f) => f.var == var || holds(&f.body, var),
        _ => false,
    })
}

/// Loops that copy between the window and its place.
fn copy(
    kernel: &mut Kernel,
    f: &For,
    (staged, array): (Id, Id),
    (base, extent): (&[Index], &[i64]),
    back: bool,
) -> Stmt {
    let names: Vec<Symbol> = (0..extent.len())
        .map(|d| {
            let like = fresh(kernel, f.var);
            let letter = ["i", "j", "k", "l"]
                .get(d)
                .map_or_else(|| d.to_string(), |l| (*l).to_owned());
            let name = format!("{}_{letter}", kernel.arrays[staged].name);
            fresh_named(kernel, like, &name)
        })
        .collect();
    let access = |array: Id, index: Vec<Index>| Access::element(array, index, f.span);
    let near = access(staged, names.iter().map(|s| Index::Sym(*s)).collect());
    let far = names.iter().zip(base);
    let far = access(array, far.map(|(s, b)| b.plus(&Index::Sym(*s))).collect());
    let (target, source) = if back { (far, near) } else { (near, far) };
    let ty = Type::scalar(kernel.arrays[array].elem);
    let mut stmt = Stmt::Assign(Assign {
        target: Target::Array(target),
        accumulate: false,
        reassociate: false,
        value: Expr {
            kind: ExprKind::Load(source),
            ty,
            span: f.span,
        },
        span: f.span,
    });
    for (&var, &n) in names.iter().zip(extent).rev() {
        stmt = Stmt::For(For::new(
            var,
            (Index::Const(0), Index::Const(n)),
            vec![stmt],
            f.span,
        ));
    }
    stmt
}

/// The window is in the array even when the loops do not run, since it is copied whole.
fn inside(
    kernel: &Kernel,
    f: &For,
    array: Id,
    (base, extent): (&[Index], &[i64]),
    around: &Facts,
) -> Result<(), Refusal> {
    let dims = &kernel.arrays[array].dims;
    for d in 0..dims.len() {
        let end = base[d].offset(extent[d]);
        let fits = around.proves_at_most(&Index::Const(0), &base[d])
            && around.proves_at_most(&end, &dims[d]);
        if fits {
            continue;
        }
        let name = &kernel.arrays[array].name;
        let message = format!(
            "it does not follow that the window of {} elements in dimension {d} is inside `{name}`",
            extent[d]
        );
        let outside = |env: &BTreeMap<Symbol, i64>| {
            let value = |i: &Index| i.eval(&|s| env.get(&s).copied().unwrap_or(0)).ok();
            let (low, high, len) = (value(&base[d])?, value(&end)?, value(&dims[d])?);
            (low < 0 || high > len).then(|| format!("it would be {low}..{high} of {len} elements"))
        };
        let refusal = Refusal::at(f.span, message);
        return Err(super::order::with_sizes(kernel, f, refusal, &outside));
    }
    Ok(())
}

impl Use<'_> {
    /// The corner, the least offset from it and the extent, for each dimension.
    fn window(&self) -> (Vec<Index>, Vec<i64>, Vec<i64>) {
        let corner = self.corner.clone().unwrap_or_default();
        let each = |d: usize| self.all.iter().map(move |p| p[d]);
        let low: Vec<i64> = (0..corner.len())
            .map(|d| each(d).min().unwrap_or(0))
            .collect();
        let extent = (0..corner.len())
            .map(|d| each(d).max().unwrap_or(0) - low[d] + 1)
            .collect();
        (corner, low, extent)
    }

    /// Runs those loops that move accesses; `sure` is what has been written.
    fn block(
        &mut self,
        body: &[Stmt],
        values: &mut BTreeMap<Symbol, Index>,
        sure: &mut BTreeSet<Place>,
    ) -> Result<(), Refusal> {
        let kernel = self.kernel;
        for stmt in body {
            if !touches(kernel, std::slice::from_ref(stmt), self.array) {
                continue;
            }
            match stmt {
                Stmt::For(f) => self.for_loop(f, values, sure)?,
                Stmt::Let(id) => self.reads(&kernel.locals[*id].value, values, sure)?,
                Stmt::Assign(a) => {
                    self.reads(&a.value, values, sure)?;
                    if let Target::Array(access) = &a.target
                        && access.array == self.array
                    {
                        let place = self.place(access, values)?;
                        self.before |= a.accumulate && !sure.contains(&place);
                        self.written = true;
                        sure.insert(place);
                    }
                }
            }
        }
        Ok(())
    }

    fn for_loop(
        &mut self,
        f: &For,
        values: &mut BTreeMap<Symbol, Index>,
        sure: &mut BTreeSet<Place>,
    ) -> Result<(), Refusal> {
        let moves = super::access::mentions_in(self.kernel, &f.body, f.var, self.array);
        let Some(span) = moves else {
            // It moves nothing, and may not run.
            return self.block(&f.body, values, &mut sure.clone());
        };
        let put = |i: &Index, values: &BTreeMap<Symbol, Index>| super::copy::substitute(i, values);
        let (lo, hi) = (put(&f.lo, values), put(&f.hi, values));
        let Some(length) = hi.minus(&lo).constant_value() else {
            let (x, name) = (
                self.kernel.symbol_name(f.var),
                &self.kernel.arrays[self.array].name,
            );
            let message =
                format!("how much of `{name}` the loop touches depends on how often `{x}` runs");
            return Err(Refusal::at(span, message).note(format!(
                "stage inside `{x}`, or cut it into blocks of a constant number: `tile {x} by 4 into {x}o`"
            )));
        };
        let mut at = 0;
        while at < length {
            values.insert(f.var, lo.offset(at));
            self.block(&f.body, values, sure)?;
            at += f.step;
        }
        values.remove(&f.var);
        Ok(())
    }

    fn reads(
        &mut self,
        e: &Expr,
        values: &BTreeMap<Symbol, Index>,
        sure: &BTreeSet<Place>,
    ) -> Result<(), Refusal> {
        let mut accesses = Vec::new();
        self.kernel.for_each_load(e, &mut |a| {
            if a.array == self.array {
                accesses.push(a.clone());
            }
        });
        for access in accesses {
            let place = self.place(&access, values)?;
            self.before |= !sure.contains(&place);
        }
        Ok(())
    }

    /// The offsets of an element from the corner.
    fn place(
        &mut self,
        access: &Access,
        values: &BTreeMap<Symbol, Index>,
    ) -> Result<Place, Refusal> {
        let name = &self.kernel.arrays[self.array].name;
        let span = access.span;
        self.budget = self.budget.checked_sub(1).ok_or_else(|| {
            Refusal::at(
                span,
                format!("the loop makes more than {MOST} accesses to `{name}`"),
            )
        })?;
        if access.lanes != 1 || access.clamped {
            let message = format!("`{name}` is accessed by vectors or clamped here");
            return Err(Refusal::at(span, message));
        }
        let index = access
            .index
            .iter()
            .map(|i| super::copy::substitute(i, values));
        let index: Vec<Index> = index.collect();
        let corner = self.corner.get_or_insert_with(|| index.clone());
        let offsets = index
            .iter()
            .zip(&*corner)
            .map(|(i, c)| i.minus(c).constant_value());
        let offsets: Option<Place> = offsets.collect();
        let Some(place) = offsets else {
            let text = |index: &[Index]| {
                let parts: Vec<String> = index.iter().map(|i| self.kernel.index_text(i)).collect();
                format!("{name}[{}]", parts.join(", "))
            };
            let message =
                format!("what the loop touches of `{name}` is no block of a constant size");
            return Err(Refusal::at(span, message).note(format!(
                "one iteration touches {} and another {}",
                text(&self.corner.clone().unwrap_or_default()),
                text(&index)
            )));
        };
        self.all.insert(place.clone());
        Ok(place)
    }
}
