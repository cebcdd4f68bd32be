//! Sizes at which schedules are compared.
//!
//! In: a kernel, sizes that somebody gave. Out: values for all sizes that satisfy its
//! preconditions: those given, and for others a usual value, smaller where the kernel would run
//! long. It draws nothing at random but where a precondition leaves no other way.

use crate::args::Size;
use crate::map;
use kernel::data::samples;
use kernel::index::Symbol;
use kernel::tree::Kernel;
use schedule_space::loops::work;
use semantics::diagnostic::Diagnostic;
use std::collections::{BTreeMap, BTreeSet};

/// The value of a size that is not given.
const SIZE: i64 = 128;

/// Values that are tried where a precondition does not hold at that.
const OTHERS: [i64; 12] = [1, 2, 3, 4, 8, 16, 32, 64, 96, 192, 256, 512];

/// The most statements that a kernel runs at sizes that are not given.
const MOST: i64 = 1 << 20;
/// The least, as far as sizes make a difference: what runs shorter cannot be timed.
const LEAST: i64 = 1 << 12;
/// The most at which it is run by the evaluator.
pub(super) const MOST_RUN: i64 = 1 << 25;

/// Values of sizes.
type Sizes = BTreeMap<Symbol, i64>;

/// The sizes that were given and usual values for the others; nothing when none are found.
///
/// # Errors
/// What is wrong with those that were given.
pub(super) fn choose(kernel: &Kernel, given: &[Size]) -> Result<Option<Sizes>, Diagnostic> {
    let named: BTreeSet<&str> = given.iter().map(|(name, _)| name.as_str()).collect();
    let free: Vec<Symbol> = kernel
        .sizes()
        .filter(|&s| !named.contains(&*kernel.symbol_name(s)))
        .collect();
    let missing = free.iter().map(|&s| (kernel.symbol_name(s), SIZE));
    let missing: Vec<Size> = missing.collect();
    let mut sizes = map::sizes(kernel, &[given, &missing].concat())?;
    repair(kernel, &mut sizes, &free);
    if let Some(broken) = broken(kernel, &sizes).next() {
        if given.is_empty() {
            let drawn = samples(kernel, 0..64, 2 * SIZE).filter(|s| work(&kernel.body, s) <= MOST);
            return Ok(drawn.max_by_key(|s| work(&kernel.body, s)));
        }
        let message = "this precondition does not hold for the sizes of the search";
        return Err(Diagnostic::error(message)
            .at(&kernel.source, broken.span)
            .hint(format!("give sizes with `--size n=64`; others are {SIZE}")));
    }
    grow(kernel, &mut sizes, &free);
    shrink(kernel, &mut sizes, &free);
    Ok(Some(sizes))
}

/// The preconditions that do not hold.
fn broken<'k>(
    kernel: &'k Kernel,
    sizes: &Sizes,
) -> impl Iterator<Item = &'k kernel::tree::Condition> {
    let value = |s: Symbol| sizes.get(&s).copied().unwrap_or(0);
    let all = kernel.requires.iter().filter(|c| !c.holds(&value));
    all.collect::<Vec<_>>().into_iter()
}

/// Other values for some sizes, as long as each makes another precondition hold.
fn repair(kernel: &Kernel, sizes: &mut Sizes, free: &[Symbol]) {
    loop {
        let before = broken(kernel, sizes).count();
        let better = free.iter().flat_map(|&s| OTHERS.map(|value| (s, value)));
        let better = better.into_iter().find(|&(s, value)| {
            let mut other = sizes.clone();
            other.insert(s, value);
            broken(kernel, &other).count() < before
        });
        match better {
            Some((s, value)) => sizes.insert(s, value),
            None => return,
        };
    }
}

/// Doubles all sizes until the kernel runs for some time, if its preconditions allow.
fn grow(kernel: &Kernel, sizes: &mut Sizes, free: &[Symbol]) {
    while !free.is_empty() && work(&kernel.body, sizes) < LEAST {
        let mut larger = sizes.clone();
        for s in free {
            larger.entry(*s).and_modify(|value| *value *= 2);
        }
        let grows = work(&kernel.body, &larger) > work(&kernel.body, sizes);
        if !grows || broken(kernel, &larger).next().is_some() {
            return;
        }
        *sizes = larger;
    }
}

/// Halves sizes until the kernel ends soon, those along which memory runs last.
fn shrink(kernel: &Kernel, sizes: &mut Sizes, free: &[Symbol]) {
    let along = |s: Symbol| {
        let mut last = kernel.arrays.iter().filter_map(|a| a.dims.last());
        last.any(|d| d.mentions(s))
    };
    while work(&kernel.body, sizes) > MOST {
        let half = |s: Symbol| {
            let mut other = sizes.clone();
            other.insert(s, sizes[&s] / 2);
            let holds = broken(kernel, &other).next().is_none();
            (holds && sizes[&s] >= 8).then_some((along(s), -sizes[&s], other))
        };
        let smaller = free.iter().filter_map(|&s| half(s));
        match smaller.min_by_key(|(along, size, _)| (*along, *size)) {
            Some((_, _, other)) => *sizes = other,
            None => return,
        }
    }
}

/// Sizes one less than these, as far as preconditions allow: there vectors leave something over.
pub(super) fn near(kernel: &Kernel, sizes: &Sizes) -> Sizes {
    let mut near = sizes.clone();
    for (&s, &value) in sizes {
        near.insert(s, (value - 1).max(0));
        if broken(kernel, &near).next().is_some() {
            near.insert(s, value);
        }
    }
    near
}
