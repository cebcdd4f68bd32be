//! Where the inputs and results are of windows that have no program.
//!
//! In: a lowered kernel, the placed programs of its windows. Out: the [`Ends`] of those without, checked
//! like those of programs: in memory where elements lie side by side there, else copied one by one into
//! memory of the window's own, as numbers are into every lane.

use super::check::places;
use crate::compile::tails;
use autoir::program::placed::{Copied, Ends, Placed, Residence};
use kernel::tree::Access;
use kernel::types::Type;
use lowering::window::{Input, Lowered, Source, Store, Window};
use std::collections::BTreeMap;

/// The ends of the windows without a program, by their numbers. A window past the last has none.
pub(super) fn ends(lowered: &Lowered, placed: &[Option<Placed>]) -> BTreeMap<usize, Ends> {
    let tails = tails(&lowered.body);
    let windows = lowered.windows.iter().enumerate();
    let without = windows.filter(|(k, _)| !matches!(placed.get(*k), Some(Some(_))));
    let one = |(k, window): (usize, &Window)| {
        let active = tails.contains(&k);
        let ends = of(lowered, window, active);
        let right = places::ends(lowered, window, active, &ends);
        right.expect("a window reads and writes what it is lowered to");
        (k, ends)
    };
    without.map(one).collect()
}

/// The ends of a window of which all lanes are active, or only leading ones.
pub(super) fn of(lowered: &Lowered, window: &Window, active: bool) -> Ends {
    let leading = active.then_some(window.output.lanes);
    let at = |ty: Type, own: u32, array: Option<&Access>| {
        let active = leading.filter(|_| array.is_some() && ty.lanes > 1);
        match own == ty.lanes && array.is_none_or(Access::is_dense) && active.is_none() {
            true => Residence::Memory,
            false => Residence::Buffer(Copied {
                element: ty.elem.bits(),
                lanes: ty.lanes,
                period: own,
                active,
            }),
        }
    };
    let input = |input: &Input| {
        let at = match &input.source {
            Source::Array(access) => at(input.ty, access.lanes, Some(access)),
            Source::Register(id) => at(input.ty, lowered.kernel.registers[*id].ty.lanes, None),
            Source::Scalar(_) | Source::Index(_) => Residence::Number,
        };
        (input.name.clone(), at)
    };
    Ends {
        result: match &window.store {
            Store::Array(access) => at(window.output, access.lanes, Some(access)),
            Store::Register(_) => Residence::Memory,
        },
        inputs: window.inputs.iter().map(input).collect(),
    }
}
