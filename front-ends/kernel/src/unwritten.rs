//! Reads of elements that nothing has written: of arrays that hold nothing at first.
//!
//! In: a checked kernel. Out: a diagnostic for each array of `out` or of the kernel's own of which
//! an element is read before it is written, with sizes and an iteration that show it. Loops are
//! run on small sizes, without data: what is told is what the evaluator stops at for some data, so
//! no kernel that is right is refused. A read that is not reached on such sizes
//! is left to the evaluator.

use crate::ast::Direction;
use crate::data::{Limits, numbers, sizes};
use crate::index::{Index, Symbol};
use crate::tree::{Access, Expr, ExprKind, For, Id, Kernel, Op, Role, Stmt, Target};
use crate::types::Elem;
use crate::visit::for_each_stmt;
use semantics::diagnostic::Diagnostic;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// How many assignments of sizes are tried for an array.
const SIZES: u64 = 12;
/// How many elements are read and written, and iterations begun, for an array, of all sizes.
const VISITS: u32 = 200_000;
/// How many for all arrays.
const ALL_VISITS: u32 = 1_000_000;

/// Looks for reads of what was not written.
pub(crate) fn check(kernel: &Kernel) -> Vec<Diagnostic> {
    let mut read = BTreeSet::new();
    for_each_stmt(&kernel.body, &mut |stmt, _| {
        kernel.for_each_access(stmt, &mut |access, writes| {
            if !writes || accumulates(stmt) {
                read.insert(access.array);
            }
        });
    });
    let holds_nothing = |&id: &Id| {
        let array = &kernel.arrays[id];
        let empty = matches!(array.role, Role::Local | Role::Param(Direction::Out));
        empty && !array.placement.unset
    };
    let suspects: Vec<Id> = read.into_iter().filter(holds_nothing).collect();
    if suspects.is_empty() {
        return Vec::new();
    }
    let limits = Limits {
        size: 40,
        elements: i64::MAX,
    };
    let small = (0..SIZES).filter_map(|seed| sizes(kernel, &mut numbers(seed), &limits));
    let small: Vec<BTreeMap<Symbol, i64>> = small.collect();
    let mut left = ALL_VISITS;
    let mut of_array = |id: Id| {
        let mut visits = VISITS.min(left);
        left -= visits;
        let read = first_read(kernel, id, &small, &mut visits);
        left += visits;
        read.map(|read| report(kernel, id, &read))
    };
    suspects.into_iter().filter_map(&mut of_array).collect()
}

/// Whether a statement reads what it writes.
fn accumulates(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Assign(a) if a.accumulate)
}

/// A read of an element that was not written.
struct Read<'k> {
    access: &'k Access,
    accumulates: bool,
    place: Vec<i64>,
    iteration: Vec<(String, i64)>,
}

fn first_read<'k>(
    kernel: &'k Kernel,
    array: Id,
    small: &[BTreeMap<Symbol, i64>],
    visits: &mut u32,
) -> Option<Read<'k>> {
    let mut touching = vec![false; kernel.symbols.len()];
    for_each_stmt(&kernel.body, &mut |stmt, around| {
        kernel.for_each_access(stmt, &mut |access, _| {
            if access.array == array {
                around
                    .iter()
                    .for_each(|f| touching[f.var.0 as usize] = true);
            }
        });
    });
    small.iter().find_map(|sizes| {
        let mut walk = Walk {
            kernel,
            array,
            touching: &touching,
            values: vec![0; kernel.symbols.len()],
            dims: Vec::new(),
            live: Vec::new(),
            chosen: false,
            written: HashSet::new(),
            fresh: Vec::new(),
            visits: *visits,
        };
        for (symbol, &value) in sizes {
            walk.values[symbol.0 as usize] = value;
        }
        let dims = kernel.arrays[array].dims.iter();
        walk.dims = dims
            .map(|d| d.eval(&|s| walk.values[s.0 as usize]).ok())
            .collect::<Option<_>>()?;
        let read = walk.block(&kernel.body);
        *visits = walk.visits;
        match read {
            Err(Stop::Read(read)) => Some(*read),
            Ok(()) | Err(Stop::Spent) => None,
        }
    })
}

/// The type whose values an expression may all have, whatever else the data are: it is an element
/// that whoever calls the kernel gives, or one that is widened.
fn given(kernel: &Kernel, e: &Expr) -> Option<Elem> {
    match &e.kind {
        ExprKind::Scalar(_) => Some(e.ty.elem),
        ExprKind::Load(access) => {
            let input = kernel.arrays[access.array].role == Role::Param(Direction::In);
            input.then_some(e.ty.elem)
        }
        ExprKind::Local(id) => given(kernel, &kernel.locals[*id].value),
        ExprKind::Apply(Op::Cast, args) => {
            let from = given(kernel, args.first()?)?;
            let to = e.ty.elem;
            (to.min() <= from.min() && from.max() <= to.max()).then_some(from)
        }
        _ => None,
    }
}

/// Why a walk ends before the kernel does.
enum Stop<'k> {
    /// What was looked for is found.
    Read(Box<Read<'k>>),
    /// It has taken as long as it may, or an index has no value.
    Spent,
}

/// Runs the loops around accesses of one array.
struct Walk<'a, 'k> {
    kernel: &'k Kernel,
    array: Id,
    /// Of each loop's variable, whether the array is used in the loop.
    touching: &'a [bool],
    values: Vec<i64>,
    dims: Vec<i64>,
    live: Vec<Symbol>,
    /// Whether data have chosen the iteration of a loop around.
    chosen: bool,
    /// What has been written, or may have been where that depends on data.
    written: HashSet<Vec<i64>>,
    /// The places of `written`, in the order in which they came to it.
    fresh: Vec<Vec<i64>>,
    visits: u32,
}

impl<'k> Walk<'_, 'k> {
    fn block(&mut self, body: &'k [Stmt]) -> Result<(), Stop<'k>> {
        for stmt in body {
            match stmt {
                Stmt::For(f) if !self.touching[f.var.0 as usize] => {}
                Stmt::For(f) if f.at.is_some() => self.at(f)?,
                Stmt::For(f) => self.for_loop(f)?,
                Stmt::Let(_) | Stmt::Assign(_) => self.statement(stmt)?,
            }
        }
        Ok(())
    }

    fn spend(&mut self) -> Result<(), Stop<'k>> {
        self.visits = self.visits.checked_sub(1).ok_or(Stop::Spent)?;
        Ok(())
    }

    fn value(&self, index: &Index) -> Result<i64, Stop<'k>> {
        let value = index.eval(&|s| self.values[s.0 as usize]);
        value.map_err(|_| Stop::Spent)
    }

    fn for_loop(&mut self, f: &'k For) -> Result<(), Stop<'k>> {
        let (mut x, hi) = (self.value(&f.lo)?, self.value(&f.hi)?);
        self.live.push(f.var);
        while x < hi {
            self.spend()?;
            self.values[f.var.0 as usize] = x;
            self.block(&f.body)?;
            x = x.saturating_add(f.step);
        }
        self.live.pop();
        Ok(())
    }

    /// A loop that runs for the one value that data have: what it writes for any of them may have
    /// been written. What it reads is told where data may have that value, whatever they had
    /// before.
    fn at(&mut self, f: &'k For) -> Result<(), Stop<'k>> {
        let given =
            f.at.and_then(|id| given(self.kernel, &self.kernel.locals[id].value));
        let given = given.filter(|_| !self.chosen);
        let outer = std::mem::replace(&mut self.chosen, true);
        let before = self.fresh.len();
        let mut all = Vec::new();
        let (mut x, hi) = (self.value(&f.lo)?, self.value(&f.hi)?);
        self.live.push(f.var);
        let depth = self.live.len();
        while x < hi {
            self.spend()?;
            self.values[f.var.0 as usize] = x;
            let possible = given.is_some_and(|e| (e.min()..=e.max()).contains(&i128::from(x)));
            match self.block(&f.body) {
                Err(Stop::Read(_)) if !possible => self.live.truncate(depth),
                other => other?,
            }
            for place in self.fresh.drain(before..) {
                self.written.remove(&place);
                all.push(place);
            }
            x = x.saturating_add(f.step);
        }
        self.live.pop();
        self.chosen = outer;
        for place in all {
            self.write(place);
        }
        Ok(())
    }

    fn write(&mut self, place: Vec<i64>) {
        if self.written.insert(place.clone()) {
            self.fresh.push(place);
        }
    }

    fn statement(&mut self, stmt: &'k Stmt) -> Result<(), Stop<'k>> {
        let kernel = self.kernel;
        let mut reads = Vec::new();
        kernel.for_each_access(stmt, &mut |access, writes| {
            if access.array == self.array && !writes {
                reads.push(access);
            }
        });
        let target = match stmt {
            Stmt::Assign(a) => match &a.target {
                Target::Array(t) if t.array == self.array => Some(t),
                _ => None,
            },
            _ => None,
        };
        let added = target.filter(|_| accumulates(stmt));
        for access in reads.into_iter().chain(added) {
            let mut places = self.places(access)?.into_iter();
            if let Some(place) = places.find(|p| !self.written.contains(p)) {
                let sizes = kernel.sizes().chain(self.live.iter().copied());
                let named = |s: Symbol| (kernel.symbol_name(s), self.values[s.0 as usize]);
                return Err(Stop::Read(Box::new(Read {
                    access,
                    accumulates: added.is_some_and(|t| t.span == access.span),
                    place,
                    iteration: sizes.map(named).collect(),
                })));
            }
        }
        if let Some(target) = target {
            for place in self.places(target)? {
                self.write(place);
            }
        }
        Ok(())
    }

    /// The elements of an access.
    fn places(&mut self, access: &Access) -> Result<Vec<Vec<i64>>, Stop<'k>> {
        let mut first = Vec::with_capacity(access.index.len());
        for index in &access.index {
            first.push(self.value(index)?);
        }
        let mut out = Vec::new();
        for lane in 0..i64::from(access.lanes) {
            self.spend()?;
            let mut place = first.clone();
            let at = &mut place[access.dim];
            *at = at.saturating_add(lane.saturating_mul(access.stride));
            if access.clamped {
                *at = (*at).min(self.dims[access.dim] - 1).max(0);
            }
            out.push(place);
        }
        Ok(out)
    }
}

fn report(kernel: &Kernel, id: Id, read: &Read<'_>) -> Diagnostic {
    let array = &kernel.arrays[id];
    let name = &array.name;
    let list = |each: Vec<String>| each.join(", ");
    let place = list(read.place.iter().map(ToString::to_string).collect());
    let message = format!("`{name}[{place}]` is read before anything is written to it");
    let at = read.iteration.iter().map(|(n, v)| format!("{n} = {v}"));
    let first = match read.accumulates {
        true => "set it before it is added to",
        false => "write it before",
    };
    let hint = match array.role {
        Role::Param(_) => format!(
            "what an `out` array held does not matter: {first}, or declare `{name}` as `inout`"
        ),
        Role::Local => format!("an array of the kernel's own holds nothing at first: {first}"),
    };
    let found = Diagnostic::error(message).at(&kernel.source, read.access.span);
    let found = match list(at.collect()) {
        at if at.is_empty() => found,
        at => found.with_note(format!("for example at {at}")),
    };
    found.hint(hint)
}

#[cfg(test)]
mod tests;
