//! What stores do to sums, found by proof.
//!
//! In: what a kernel stores of a sum, the machine. Out: [`Finish`]: the configuration of
//! stores whose meaning, run through the machine's procedure on a sum that may be anything,
//! is equal to it. Scales are those that the kernel names; all combinations are asked.

use super::units::{Nothing, Pooling, Rows, SUMS, Units, run};
use kernel::tree::{Expr, ExprKind, Id, Kernel};
use kernel::types::Elem;
use lowering::operation;
use semantics::float::Format;
use semantics::instruction::Element;
use semantics::machine::Machine;
use semantics::machine::symbolic::{Source, Symbolic, term};
use semantics::sort::Sort;
use semantics::term::Term;
use smt::prover::Prover;
use smt::verdict::Verdict;

/// What stores do.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Finish {
    /// The sum as it is.
    pub(crate) full: bool,
    /// Negative results become 0.
    pub(crate) relu: bool,
    pub(crate) scale: f32,
}

/// The scales that an expression names, and 1.
pub(crate) fn scales(kernel: &Kernel, e: &Expr) -> Vec<f32> {
    let mut found = vec![1.0];
    kernel.for_each_leaf(e, &|_| true, &mut |leaf| {
        if let (ExprKind::Const(values), Elem::Float(Format::F32)) = (&leaf.kind, leaf.ty.elem) {
            let scale = f32::from_bits(values[0] as u32);
            if !found.contains(&scale) {
                found.push(scale);
            }
        }
    });
    found
}

/// The term of an expression of one register and loads.
pub(crate) fn meaning(
    kernel: &Kernel,
    e: &Expr,
    leaf: &mut dyn FnMut(&Expr) -> Option<Term>,
) -> Option<Term> {
    kernel.fold(e, leaf, &mut |e, terms| match &e.kind {
        ExprKind::Const(values) => Some(Term::bv(e.ty.elem.bits(), values[0])),
        ExprKind::Apply(op, args) => {
            let from: Vec<Elem> = args.iter().map(|a| a.ty.elem).collect();
            Some(operation(*op, e.ty.elem, &from, &terms))
        }
        _ => None,
    })
}

/// What a machine stores of a sum.
fn stored(machine: &Machine, units: &Units, finish: Finish, sum: Term) -> Option<Term> {
    let mut state = Symbolic::new(machine);
    state.set_cell(units.sums, 0, 0, sum);
    let setting = units.storing(64, finish.relu, finish.scale, Pooling::default());
    let sums = Rows {
        full: finish.full,
        ..SUMS
    };
    let local = units.local(&super::program::Amount::default(), sums, 1, 1);
    let store = units.store(super::program::Amount::default(), local);
    for command in [setting, store] {
        run(&mut state, &command, &mut Nothing).ok()?;
    }
    let element = if finish.full { units.wide } else { units.small };
    state.written.get(&0).map(|v| term(*v, element))
}

/// The configuration of stores that does what a kernel says of the register `sum`.
pub(crate) fn finish(
    kernel: &Kernel,
    (e, sum): (&Expr, Id),
    machine: &Machine,
    units: &Units,
    prover: &Prover,
) -> Option<Finish> {
    let width = units.wide.width().unwrap_or(32);
    let anything = Term::var("sum", Sort::Bv(width));
    let wanted = meaning(kernel, e, &mut |leaf| match leaf.kind {
        ExprKind::Register(id) if id == sum => Some(anything),
        _ => None,
    })?;
    for scale in scales(kernel, e) {
        for (full, relu) in [(true, false), (false, false), (false, true)] {
            let finish = Finish { full, relu, scale };
            let Some(found) = stored(machine, units, finish, anything) else {
                continue;
            };
            let same = found.sort() == wanted.sort()
                && (found == wanted
                    || matches!(prover.prove_equal(wanted, found), Verdict::Proved(_)));
            if same {
                return Some(finish);
            }
        }
    }
    None
}

/// Scales of two addends, and what a store does to their sum.
pub(crate) fn addition(
    kernel: &Kernel,
    e: &Expr,
    machine: &Machine,
    units: &Units,
    prover: &Prover,
) -> Option<([f32; 2], Finish)> {
    let width = units.small.width().unwrap_or(8);
    let mut arrays: Vec<Id> = Vec::new();
    kernel.for_each_leaf(e, &|_| true, &mut |leaf| {
        if let ExprKind::Load(access) = &leaf.kind {
            arrays.push(access.array);
        }
    });
    arrays.sort_unstable();
    let anything = [0, 1].map(|k| Term::var(&format!("x{k}"), Sort::Bv(width)));
    let wanted = meaning(kernel, e, &mut |leaf| match &leaf.kind {
        ExprKind::Load(access) => arrays
            .iter()
            .position(|a| *a == access.array)
            .map(|k| anything[k.min(1)]),
        _ => None,
    })?;
    let scales = scales(kernel, e);
    let loaded = |x: Term, scale: f32| loaded(machine, units, x, scale);
    for &a in &scales {
        for &b in &scales {
            let (x, y) = (loaded(anything[0], a)?, loaded(anything[1], b)?);
            let sum = semantics::build::add(x, y);
            for &scale in &scales {
                for (full, relu) in [(true, false), (false, false), (false, true)] {
                    let finish = Finish { full, relu, scale };
                    let Some(found) = stored(machine, units, finish, sum) else {
                        continue;
                    };
                    let same = found.sort() == wanted.sort()
                        && (found == wanted
                            || matches!(prover.prove_equal(wanted, found), Verdict::Proved(_)));
                    if same {
                        return Some(([a, b], finish));
                    }
                }
            }
        }
    }
    None
}

/// One element, whatever the address.
struct One(Term);

impl Source for One {
    fn element(&mut self, _: i64, _: Element) -> Option<Term> {
        Some(self.0)
    }
}

/// What a scaled load of a small element leaves in the accumulator.
fn loaded(machine: &Machine, units: &Units, x: Term, scale: f32) -> Option<Term> {
    use super::program::Amount;
    let mut state = Symbolic::new(machine);
    let setting = units.loading(0, Amount::of(1), 1, (true, scale));
    let load = units.load(
        0,
        Amount::of(64),
        units.local(&Amount::default(), SUMS, 1, 1),
    );
    for command in [setting, load] {
        run(&mut state, &command, &mut One(x)).ok()?;
    }
    state.cell_at(units.sums, 0, 0).map(|v| term(v, units.wide))
}
