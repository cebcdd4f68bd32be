//! Tails by rounding up: whether a last vector may run past the end of a loop.
//!
//! In: a loop and a number of lanes. Out: nothing, or why not. The iterations behind the end
//! compute from whatever lies there, which is harmless as every operation has a result; what
//! they read has to be memory of the array, and what they write has to be padding between its
//! rows.

use super::Refusal;
use kernel::data::samples;
use kernel::index::{Index, Symbol};
use kernel::lia::Facts;
use kernel::tree::{Access, For, Kernel, Stmt, Target};
use std::collections::BTreeMap;

/// The refusal of a loop that accumulates.
pub(super) fn accumulates(kernel: &Kernel, f: &For, target: &Target) -> Refusal {
    let name = super::access::target_name(kernel, target);
    let message = format!("what lies behind the end would be accumulated in `{name}`");
    Refusal::at(f.span, message).note("`tail mask` leaves it out")
}

/// Whether the iterations from the end up to the next multiple of `lanes` do no harm.
///
/// # Errors
/// The first access that leaves memory or overwrites an element, with sizes that show it
/// where some are found.
pub(super) fn check(kernel: &Kernel, f: &For, lanes: i64, around: &Facts) -> Result<(), Refusal> {
    if super::interior::interior(kernel, f, around)?.is_some() {
        let message = "indices of this loop are clamped: its vectors end before its last iteration";
        return Err(Refusal::at(f.span, message));
    }
    let length = f.hi.minus(&f.lo);
    let end = f.lo.plus(&length.rounded_up(lanes));
    let mut facts = around.clone();
    facts.add_at_most(&f.hi, &Index::Sym(f.var));
    facts.add_at_most(&f.lo, &Index::Sym(f.var));
    facts.add_at_most(&Index::Sym(f.var).offset(1), &end);
    // A multiple of the padding is one of the lanes too, where these divide it.
    for array in kernel.arrays.iter().filter(|a| a.pad % lanes == 0) {
        facts.add_at_most(&length.rounded_up(lanes), &length.rounded_up(array.pad));
    }
    let tail = Tail { kernel, f, lanes };
    tail.block(&f.body, &facts)
}

/// Whether an index is bad, given the values of symbols.
type Bad<'a> = dyn Fn(i64, &dyn Fn(Symbol) -> i64) -> bool + 'a;

/// A loop and how many of its iterations a vector holds.
struct Tail<'k> {
    kernel: &'k Kernel,
    f: &'k For,
    lanes: i64,
}

impl Tail<'_> {
    fn block(&self, body: &[Stmt], facts: &Facts) -> Result<(), Refusal> {
        for stmt in body {
            let mut result = Ok(());
            let mut touch = |access: &Access, writes: bool| {
                if result.is_ok() && access.index.iter().any(|i| i.mentions(self.f.var)) {
                    result = self.in_memory(access, facts);
                }
                if result.is_ok() && writes {
                    result = self.in_padding(access, facts);
                }
            };
            if let Stmt::For(inner) = stmt {
                let mut inside = facts.clone();
                inside.add_loop(inner.var, &inner.lo, &inner.hi, inner.step);
                self.block(&inner.body, &inside)?;
            }
            self.kernel.for_each_access(stmt, &mut touch);
            result?;
        }
        Ok(())
    }

    /// Whether an access behind the end stays in the array's memory.
    fn in_memory(&self, access: &Access, facts: &Facts) -> Result<(), Refusal> {
        let memory = self.kernel.arrays[access.array].memory_dims();
        let outside = (0..memory.len()).find(|&d| {
            !(facts.proves_at_most(&Index::Const(0), &access.index[d])
                && facts.proves_at_most(&access.index[d].offset(1), &memory[d]))
        });
        let Some(d) = outside else { return Ok(()) };
        let name = &self.kernel.arrays[access.array].name;
        let bad = |index: i64, sizes: &dyn Fn(Symbol) -> i64| {
            memory[d]
                .eval(&sizes)
                .is_ok_and(|len| index < 0 || index >= len)
        };
        let says = format!("the last vector leaves the memory of `{name}`");
        let unclear = format!("the last vector stays in the memory of `{name}`");
        let refusal = shown(access, &says, &unclear, self.example(access, d, &bad));
        Err(refusal.note(format!("padding is promised by `{name}: .. [.. pad 64]`")))
    }

    /// Whether a store behind the end only touches padding.
    fn in_padding(&self, access: &Access, facts: &Facts) -> Result<(), Refusal> {
        let array = &self.kernel.arrays[access.array];
        let last = array.dims.len() - 1;
        if facts.proves_at_most(&array.dims[last], &access.index[last]) {
            return Ok(());
        }
        let name = &array.name;
        let bad = |index: i64, sizes: &dyn Fn(Symbol) -> i64| {
            array.dims[last]
                .eval(&sizes)
                .is_ok_and(|len| index >= 0 && index < len)
        };
        let says = format!("the last vector overwrites elements of `{name}`");
        let unclear = format!("the last vector writes nothing but padding of `{name}`");
        Err(shown(
            access,
            &says,
            &unclear,
            self.example(access, last, &bad),
        ))
    }

    /// Sizes and the first iteration behind the end for which an index is bad.
    fn example(&self, access: &Access, dim: usize, bad: &Bad<'_>) -> Option<String> {
        for sizes in samples(self.kernel, 0..40, 40) {
            let mut env: BTreeMap<Symbol, i64> = sizes.clone();
            super::depend::outer_minimum(&self.kernel.body, self.f.var, &mut env);
            let Ok(end) = self.f.hi.eval(&|s| env.get(&s).copied().unwrap_or(0)) else {
                continue;
            };
            let start = self.f.lo.eval(&|s| env.get(&s).copied().unwrap_or(0));
            if start.is_ok_and(|start| (end - start) % self.lanes == 0 || end <= start) {
                continue;
            }
            env.insert(self.f.var, end);
            let value = |s: Symbol| env.get(&s).copied().unwrap_or(0);
            let Ok(index) = access.index[dim].eval(&value) else {
                continue;
            };
            if bad(index, &value) {
                let (x, name) = (
                    self.kernel.symbol_name(self.f.var),
                    &self.kernel.arrays[access.array].name,
                );
                return Some(format!(
                    "{x} = {end} touches index {index} in dimension {dim} of `{name}` (at {})",
                    self.kernel.values_text(&sizes)
                ));
            }
        }
        None
    }
}

/// A refusal that says what happens in the example, or what could not be proved.
fn shown(access: &Access, says: &str, unclear: &str, example: Option<String>) -> Refusal {
    match example {
        Some(example) => Refusal::at(access.span, format!("behind the end, {says}")).note(example),
        None => Refusal::at(
            access.span,
            format!("it does not follow that behind the end {unclear}"),
        ),
    }
}
