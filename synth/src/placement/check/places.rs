//! That inputs and the result are where a placed program has them, element for element.
//!
//! In: a window, the registers of its kernel, the placed program. Out: nothing, or what is wrong. It
//! looks at what is copied one by one before and after the program, at what is touched where only
//! leading lanes are active, and at whether each number and variable is read and written as a whole.
//! What is computed in between it does not ask.

use super::Lacks;
use crate::widths::NUMBERS;
use autoir::program::Node;
use autoir::program::placed::{Copied, Ends, Placed, Residence};
use kernel::tree::Access;
use lowering::window::{Input, Lowered, Source, Store, Window};
use semantics::unroll::elements;
use std::collections::{BTreeMap, HashSet};

/// Checks where a placed program has the ends of its window.
pub(super) fn check(
    lowered: &Lowered,
    window: &Window,
    active: bool,
    placed: &Placed,
) -> Lacks<()> {
    ends(lowered, window, active, &placed.ends)?;
    let program = &placed.program;
    for (value, node) in program.nodes().iter().enumerate() {
        let (at, (lo, width)) = match node {
            Node::Input { name, lo, width } => (placed.ends.inputs.get(name), (*lo, *width)),
            Node::Store { value, byte } => {
                (Some(&placed.ends.result), (8 * byte, program.width(*value)))
            }
            _ => continue,
        };
        if !at.is_some_and(|at| is_whole(*at, lo, width)) {
            return Err(format!("node {value} moves a part of a number"));
        }
    }
    Ok(())
}

/// Checks where the ends of a window are.
pub(in crate::placement) fn ends(
    lowered: &Lowered,
    window: &Window,
    active: bool,
    ends: &Ends,
) -> Lacks<()> {
    let leading = active.then_some(window.output.lanes);
    for input in &window.inputs {
        let at = ends.inputs.get(&input.name).copied();
        if !at.is_some_and(|at| is_input(lowered, input, leading, at)) {
            return Err(format!("`{}` is not where it is read", input.name));
        }
    }
    if !is_result(window, leading, ends.result) {
        return Err("the result is not where it goes".to_owned());
    }
    match active {
        true => lanes_stand_alone(window, ends),
        false => Ok(()),
    }
}

/// Whether an input is at a place: elements of a source that has fewer are repeated.
fn is_input(lowered: &Lowered, input: &Input, leading: Option<u32>, at: Residence) -> bool {
    let lanes = input.ty.lanes;
    let (own, array) = match &input.source {
        Source::Scalar(_) | Source::Index(_) => (1, None),
        Source::Register(id) => (lowered.kernel.registers[*id].ty.lanes, None),
        Source::Array(access) => (access.lanes, Some(access)),
    };
    let in_order = array.is_none_or(Access::is_dense) && own == lanes;
    match at {
        Residence::Number => own == 1,
        Residence::Memory => in_order,
        Residence::Variables(of) => {
            in_order && array.is_none() && input.ty.width().is_multiple_of(of)
        }
        Residence::Buffer(copied) => {
            let leading = leading.filter(|_| array.is_some());
            is_copy(copied, (input.ty.elem.bits(), lanes, own), leading)
        }
    }
}

/// The same of the result.
fn is_result(window: &Window, leading: Option<u32>, at: Residence) -> bool {
    let (lanes, element) = (window.output.lanes, window.output.elem.bits());
    match (at, &window.store) {
        (Residence::Number, _) => lanes == 1,
        (Residence::Memory, Store::Array(access)) => access.is_dense(),
        (Residence::Memory, Store::Register(_)) => true,
        (Residence::Variables(of), Store::Register(_)) => window.output.width().is_multiple_of(of),
        (Residence::Buffer(copied), Store::Array(_)) => {
            is_copy(copied, (element, lanes, lanes), leading)
        }
        (Residence::Variables(_), Store::Array(_)) | (Residence::Buffer(_), Store::Register(_)) => {
            false
        }
    }
}

/// Whether what is copied are so many elements of those outside, in order and repeated, and the
/// leading ones alone where others must not be touched.
fn is_copy(copied: Copied, (element, lanes, own): (u32, u32, u32), leading: Option<u32>) -> bool {
    (copied.element, copied.lanes) == (element, lanes)
        && (0..lanes).all(|l| l.checked_rem(copied.period) == l.checked_rem(own))
        && copied.active == leading
}

/// Whether bits that one statement reads or writes are all of a variable, or a number that lies in
/// memory, or the low ones of a number.
fn is_whole(at: Residence, lo: u32, width: u32) -> bool {
    match at {
        Residence::Variables(of) => lo.is_multiple_of(of) && width == of,
        Residence::Number => NUMBERS.contains(&width),
        Residence::Memory | Residence::Buffer(_) => {
            lo.is_multiple_of(8) && NUMBERS.contains(&width)
        }
    }
}

/// Whether each lane of a window needs only those elements of inputs that are loaded when it is the
/// last one that is active.
fn lanes_stand_alone(window: &Window, ends: &Ends) -> Lacks<()> {
    let mut loaded = BTreeMap::new();
    for input in &window.inputs {
        if matches!(&input.source, Source::Array(access) if access.lanes > 1) {
            let at = ends.inputs[&input.name];
            loaded.insert(input.name.as_str(), (input.ty.elem.bits(), at));
        }
    }
    let lanes = elements(window.term, window.output.elem.bits());
    for (active, term) in (1..).zip(lanes) {
        let (mut work, mut seen) = (vec![term], HashSet::new());
        while let Some(t) = work.pop() {
            if !seen.insert(t) {
                continue;
            }
            let Some(slot) = crate::matching::slot_of(t) else {
                work.extend(t.children());
                continue;
            };
            let Some((bits, at)) = loaded.get(slot.operand) else {
                continue;
            };
            let end = match at {
                Residence::Buffer(copied) => copied.elements(active),
                _ => active,
            };
            if slot.lo + slot.width > end * bits {
                return Err(format!(
                    "lane {} of the result needs more of `{}` than is loaded for it",
                    active - 1,
                    slot.operand
                ));
            }
        }
    }
    Ok(())
}
