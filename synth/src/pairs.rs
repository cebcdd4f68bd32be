//! Registers that are pairs of registers.
//!
//! In: the operations of a target. Out: [`Pairs`]: for a width of a vector register what joins two
//! registers of half the width, and what takes the upper one out. They are asked for where nothing
//! loads or stores such a register whole ([`not_whole`]), and where the upper half is had for nothing,
//! as it is a register itself ([`side_by_side`]). That an instruction does so is shown by its meaning.
//! What takes the lower one out is a transfer like others.

use crate::cost::Cost;
use crate::operations::TargetOperations;
use autoir::instructions::{Implementation, Row};
use autoir::program::Instance;
use autoir::transfer::Transfer;
use semantics::build as b;
use semantics::instruction::{Form, Role};
use semantics::sort::Sort;
use semantics::term::Term;
use semantics::unroll::unroll;
use std::collections::BTreeMap;
use std::sync::Arc;

/// An operation and what implements it.
pub(crate) type Implemented = (Arc<Instance>, Implementation);

/// How a register is made of two.
pub(crate) struct Pair {
    /// What joins two registers.
    pub(crate) join: Implemented,
    /// Which of its operands is the lower register.
    pub(crate) low: usize,
    /// What takes the upper register out.
    pub(crate) high: Option<Implemented>,
}

/// By the width of the pair.
pub(crate) type Pairs = BTreeMap<u32, Pair>;

/// The operands of what joins two halves, the lower half first, in its order; and back.
pub(crate) fn as_operands<T>(low: usize, [first, second]: [T; 2]) -> [T; 2] {
    match low {
        0 => [first, second],
        _ => [second, first],
    }
}

/// The pairs of a target that nothing loads or stores whole.
pub(crate) fn not_whole(operations: &TargetOperations) -> Pairs {
    let transfers = operations.transfers();
    let whole = |w: u32| {
        transfers.contains_key(&(Transfer::Load(w), 0, w))
            && transfers.contains_key(&(Transfer::Store(w), w, 0))
    };
    pairs(operations, |w| !whole(w))
}

/// The pairs of a target of which both halves are registers.
pub(crate) fn side_by_side(operations: &TargetOperations) -> Pairs {
    let mut all = pairs(operations, |_| true);
    let free = |pair: &Pair| pair.high.as_ref().is_some_and(|h| h.1.form == Form::Free);
    all.retain(|_, pair| free(pair));
    all
}

fn pairs(operations: &TargetOperations, wanted: impl Fn(u32) -> bool) -> Pairs {
    let widths = operations.widths();
    let halved = |w: u32| w.is_multiple_of(2) && widths.is_vector(w / 2);
    let lacking: Vec<u32> = widths
        .vectors()
        .filter(|&w| halved(w) && wanted(w))
        .collect();
    if lacking.is_empty() {
        return Pairs::new();
    }
    let mut found: BTreeMap<(u32, Part), (Cost, String, Implemented)> = BTreeMap::new();
    for row in operations.rows() {
        let Some((key, cost, instance, by)) = read(operations, &row, &lacking) else {
            continue;
        };
        let name = by.instruction.clone();
        let known = found.get(&key).map(|(cost, name, _)| (*cost, name));
        if known.is_none_or(|known| (cost, &name) < known) {
            found.insert(key, (cost, name, (Arc::new(instance), by)));
        }
    }
    let mut take = |w: u32, part: Part| found.remove(&(w, part)).map(|(_, _, by)| by);
    let mut pair = |w: u32| {
        let high = take(w, Part::High);
        let (first, second) = (take(w, Part::Join(0)), take(w, Part::Join(1)));
        let (low, join) = first.map(|by| (0, by)).or(second.map(|by| (1, by)))?;
        Some((w, Pair { join, low, high }))
    };
    lacking.into_iter().filter_map(&mut pair).collect()
}

/// What an instruction does for a pair.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    /// Joins two registers, of which that operand is the lower one.
    Join(usize),
    /// Takes the upper register out.
    High,
}

type Read = ((u32, Part), Cost, Instance, Implementation);

/// What a row does for a pair of one of these widths.
fn read(operations: &TargetOperations, row: &Row<'_>, widths: &[u32]) -> Option<Read> {
    let i = row.implementation()?;
    if i.operands.iter().any(|o| o.role != Role::Register) {
        return None;
    }
    let given: Vec<u32> = i.operands.iter().map(|o| o.width).collect();
    let width = match given[..] {
        [x, y] if x == y && i.width == 2 * x => i.width,
        [x] if x == 2 * i.width => x,
        _ => return None,
    };
    if !widths.contains(&width) {
        return None;
    }
    let (instance, by) = operations.instruction(row)?;
    let part = part(&instance, width)?;
    Some(((width, part), operations.cost_of(&by), instance, by))
}

/// What an operation does for a pair of so many bits, by its meaning.
fn part(instance: &Instance, width: u32) -> Option<Part> {
    let formals = instance.formals.iter();
    let values: Vec<Term> = formals
        .map(|f| Term::var(&f.name, Sort::Bv(f.width)))
        .collect();
    let term = unroll(instance.term);
    let is = |wanted: Term| term == unroll(wanted);
    match values[..] {
        [x] if is(b::extract(x, width / 2, width / 2)) => Some(Part::High),
        [x, y] if is(b::concat(&[y, x])) => Some(Part::Join(0)),
        [x, y] if is(b::concat(&[x, y])) => Some(Part::Join(1)),
        _ => None,
    }
}
