//! Bounds: every access stays inside its array, for all sizes and iterations.
//!
//! In: a checked kernel. Out: a diagnostic for each access that may leave its array, with
//! sizes and an iteration that show it when some are found. Proofs are by [`crate::lia`];
//! witnesses come from running the loops on small sizes. An access that is neither proved
//! nor refuted is refused too: nothing is assumed.

use crate::data::samples;
use crate::index::{Index, Symbol};
use crate::lia::Facts;
use crate::tree::{Access, ActiveLanes, Condition, For, Kernel, Relation, Stmt};
use semantics::diagnostic::Diagnostic;
use semantics::span::Span;
use std::collections::BTreeMap;

/// Checks all accesses of a kernel.
pub fn check(kernel: &Kernel) -> Vec<Diagnostic> {
    let facts = assumptions(kernel);
    if facts.contradictory() {
        let message = format!("no sizes satisfy the preconditions of `{}`", kernel.name);
        return vec![Diagnostic::error(message).at(&kernel.source, kernel.span)];
    }
    let mut out = dimensions(kernel, &facts);
    let mut suspects = BTreeMap::new();
    collect(kernel, &kernel.body, &facts, &mut suspects);
    if !suspects.is_empty() {
        let witnesses = search(kernel, &suspects);
        out.extend(suspects.into_iter().map(|(span, suspect)| {
            report(kernel, span, &suspect, witnesses.get(&span).map(|(_, w)| w))
        }));
    }
    out
}

/// The first access that leaves its array at some small sizes, if one is found: for kernels whose
/// bounds whoever made them has checked. What data choose is not looked at, and what is not reached
/// in a short time is taken to be right.
pub fn refuted(kernel: &Kernel) -> Option<Diagnostic> {
    let mut found = BTreeMap::new();
    let mut visits = FEW_VISITS;
    for sizes in samples(kernel, 0..FEW_SIZES, 40) {
        let mut walk = Walk {
            kernel,
            suspects: None,
            values: sizes,
            live: Vec::new(),
            visits,
            active: None,
            found: &mut found,
        };
        walk.block(&kernel.body);
        visits = walk.visits;
        if !found.is_empty() || visits == 0 {
            break;
        }
    }
    let (span, (access, witness)) = found.pop_first()?;
    let suspect = Suspect {
        dim: witness.dim,
        access,
    };
    Some(report(kernel, span, &suspect, Some(&witness)))
}

/// What holds of the sizes: none is negative, and the preconditions.
pub fn assumptions(kernel: &Kernel) -> Facts {
    let mut facts = Facts::default();
    for size in kernel.sizes() {
        facts.add_at_most(&Index::Const(0), &Index::Sym(size));
    }
    for Condition {
        relation,
        left,
        right,
        ..
    } in &kernel.requires
    {
        match relation {
            Relation::Eq => {
                facts.add_at_most(left, right);
                facts.add_at_most(right, left);
            }
            Relation::Le => facts.add_at_most(left, right),
            Relation::Lt => facts.add_at_most(&left.offset(1), right),
            Relation::Ne => {}
        }
    }
    facts
}

fn dimensions(kernel: &Kernel, facts: &Facts) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    for array in &kernel.arrays {
        for dim in &array.dims {
            if !facts.proves_at_most(&Index::Const(0), dim) {
                let text = kernel.index_text(dim);
                let message = format!("dimension `{text}` of `{}` may be negative", array.name);
                let hint = format!("add a precondition: `requires {text} >= 0`");
                out.push(
                    Diagnostic::error(message)
                        .at(&kernel.source, array.span)
                        .hint(hint),
                );
            }
        }
    }
    out
}

/// An access that was not proved, and the first dimension in question.
struct Suspect {
    access: Access,
    dim: usize,
}

fn collect(kernel: &Kernel, body: &[Stmt], facts: &Facts, out: &mut BTreeMap<Span, Suspect>) {
    for stmt in body {
        if let Stmt::For(f) = stmt {
            let mut inside = facts.clone();
            inside.add_loop(f.var, &f.lo, &f.hi, f.step);
            collect(kernel, &f.body, &inside, out);
        }
        kernel.for_each_access(stmt, &mut |access, _| {
            if let Some(dim) = unproved(kernel, access, facts) {
                out.entry(access.span).or_insert_with(|| Suspect {
                    access: access.clone(),
                    dim,
                });
            }
        });
    }
}

/// Whether an access stays inside its array where these facts hold.
pub fn is_inside(kernel: &Kernel, access: &Access, facts: &Facts) -> bool {
    unproved(kernel, access, facts).is_none()
}

/// The first dimension in which an access is not known to stay inside.
fn unproved(kernel: &Kernel, access: &Access, facts: &Facts) -> Option<usize> {
    let dims = &kernel.arrays[access.array].dims;
    (0..dims.len()).find(|&d| {
        let lanes = d == access.dim && access.lanes > 1;
        if lanes && access.clamped {
            return !facts.proves_at_most(&Index::Const(1), &dims[d]);
        }
        let first = &access.index[d];
        let last = if lanes {
            access.last_index()
        } else {
            first.clone()
        };
        let (low, high) = if access.stride < 0 {
            (&last, first)
        } else {
            (first, &last)
        };
        !(facts.proves_at_most(&Index::Const(0), low)
            && facts.proves_at_most(&high.offset(1), &dims[d]))
    })
}

/// An access outside its array: which index, how large the dimension is, where.
struct Witness {
    dim: usize,
    index: i64,
    len: i64,
    iteration: Vec<(String, i64)>,
}

/// How many assignments of sizes are searched for witnesses.
const SIZES: u64 = 60;
/// How many statements are visited for each.
const VISITS: u32 = 200_000;
/// How many assignments and statements are looked at where no access is suspected.
const FEW_SIZES: u64 = 24;
const FEW_VISITS: u32 = 20_000;

fn search(
    kernel: &Kernel,
    suspects: &BTreeMap<Span, Suspect>,
) -> BTreeMap<Span, (Access, Witness)> {
    let mut found = BTreeMap::new();
    for sizes in samples(kernel, 0..SIZES / 2, 40).chain(samples(kernel, 0..SIZES / 2, 200)) {
        let mut walk = Walk {
            kernel,
            suspects: Some(suspects),
            values: sizes,
            live: Vec::new(),
            visits: VISITS,
            active: None,
            found: &mut found,
        };
        walk.block(&kernel.body);
        if found.len() == suspects.len() {
            break;
        }
    }
    found
}

/// Runs the loops and looks at the suspects only; without some at all that data do not choose.
struct Walk<'a> {
    kernel: &'a Kernel,
    suspects: Option<&'a BTreeMap<Span, Suspect>>,
    values: BTreeMap<Symbol, i64>,
    live: Vec<Symbol>,
    visits: u32,
    /// Those of the partial loop around.
    active: Option<ActiveLanes>,
    found: &'a mut BTreeMap<Span, (Access, Witness)>,
}

impl Walk<'_> {
    fn block(&mut self, body: &[Stmt]) {
        for stmt in body {
            if self.visits == 0 {
                return;
            }
            self.visits -= 1;
            if let Stmt::For(f) = stmt {
                self.for_loop(f);
            }
            let mut outside = Vec::new();
            self.kernel.for_each_access(stmt, &mut |access, _| {
                let suspected = self.suspects.is_none_or(|s| s.contains_key(&access.span));
                if suspected && !self.found.contains_key(&access.span) {
                    let witness = self.outside(access);
                    outside.extend(witness.map(|w| (access.span, (access.clone(), w))));
                }
            });
            self.found.extend(outside);
        }
    }

    fn for_loop(&mut self, f: &For) {
        if f.at.is_some() && self.suspects.is_none() {
            return;
        }
        let value = |s: Symbol| self.values.get(&s).copied().unwrap_or(0);
        let (Ok(mut x), Ok(hi)) = (f.lo.eval(&value), f.hi.eval(&value)) else {
            return;
        };
        self.live.push(f.var);
        let around = self.active;
        while x < hi && self.visits > 0 {
            self.values.insert(f.var, x);
            if f.partial {
                let (active, of) = (hi.saturating_sub(x), f.step);
                self.active = Some(ActiveLanes { active, of });
            }
            self.block(&f.body);
            x = x.saturating_add(f.step);
        }
        self.active = around;
        self.live.pop();
    }

    fn outside(&self, access: &Access) -> Option<Witness> {
        let value = |s: Symbol| self.values.get(&s).copied().unwrap_or(0);
        let dims = &self.kernel.arrays[access.array].dims;
        for (d, dim) in dims.iter().enumerate() {
            let (first, len) = (access.index[d].eval(&value).ok()?, dim.eval(&value).ok()?);
            let lanes = match self.active {
                _ if d != access.dim => 1,
                Some(active) => i64::from(active.share(access.lanes)),
                None => i64::from(access.lanes),
            };
            let clamped = access.clamped && lanes > 1;
            let last = first.saturating_add(access.stride.saturating_mul(lanes - 1));
            let bad = [first, last]
                .into_iter()
                .find(|&i| if clamped { len < 1 } else { i < 0 || i >= len });
            if let Some(index) = bad {
                let sizes = self.kernel.sizes();
                let named = |s: Symbol| (self.kernel.symbol_name(s), value(s));
                let iteration = sizes.chain(self.live.iter().copied()).map(named).collect();
                return Some(Witness {
                    dim: d,
                    index,
                    len,
                    iteration,
                });
            }
        }
        None
    }
}

fn report(kernel: &Kernel, span: Span, suspect: &Suspect, witness: Option<&Witness>) -> Diagnostic {
    let name = &kernel.arrays[suspect.access.array].name;
    let diagnostic = match witness {
        Some(w) => {
            let at: Vec<String> = w
                .iteration
                .iter()
                .map(|(n, v)| format!("{n} = {v}"))
                .collect();
            let message = format!(
                "index {} is outside dimension {} of `{name}`, which has {} elements",
                w.index, w.dim, w.len
            );
            let found = Diagnostic::error(message);
            match at.is_empty() {
                true => found,
                false => found.with_note(format!("for example at {}", at.join(", "))),
            }
        }
        None => {
            let dim = kernel.index_text(&kernel.arrays[suspect.access.array].dims[suspect.dim]);
            let message = format!(
                "it does not follow that this stays inside dimension {} of `{name}` (`{dim}`)",
                suspect.dim
            );
            Diagnostic::error(message)
                .with_note("no sizes were found for which it leaves the array")
        }
    };
    let hint = match suspect.access.lanes {
        1 => "state what holds of the sizes in `requires`, or use `.clamped[..]`".to_owned(),
        n => format!(
            "state what holds of the sizes in `requires`, for example that they are multiples of {n}"
        ),
    };
    diagnostic.at(&kernel.source, span).hint(hint)
}

#[cfg(test)]
mod tests;
