//! What a function does before and after its own code, so that its caller's registers are kept.
//!
//! In: a machine with a calling convention, and which registers the code changes. Out:
//! [`Frame`]: instructions that put registers on the stack and back. The return itself is the
//! convention's statement, and not here.

use crate::host::Host;
use crate::program::Placed;
use semantics::machine::{Abi, Machine, OperandKind};
use std::collections::BTreeSet;

/// Instructions around the code of a function.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Frame {
    /// Before it.
    pub enter: Vec<Placed>,
    /// After it.
    pub leave: Vec<Placed>,
}

/// How a machine's functions are called.
///
/// # Errors
/// A machine that does not say so.
pub fn convention(machine: &Machine) -> Result<&Abi, String> {
    let abi = machine.abi.as_ref();
    abi.ok_or_else(|| format!("{} does not say how functions are called", machine.isa))
}

/// The scalar registers that some code changes.
pub fn changed(machine: &Machine, scalars: usize, code: &[Placed]) -> BTreeSet<u32> {
    let file = &machine.files[scalars];
    let mut changed = BTreeSet::new();
    for (k, values) in code {
        let operands = &machine.instructions[*k].operands;
        for (operand, &value) in operands.iter().zip(values) {
            if let OperandKind::Register {
                file: of,
                written: true,
                ..
            } = operand.kind
                && of == scalars
            {
                changed.extend(u32::try_from(value).ok().filter(|n| file.zero != Some(*n)));
            }
        }
    }
    changed
}

/// The frame of a function that changes these registers.
///
/// # Errors
/// What the machine lacks for it.
pub fn frame(machine: &Machine, changed: &BTreeSet<u32>) -> Result<Frame, String> {
    let abi = convention(machine)?;
    let kept = abi.saved_among(|r| changed.contains(&r));
    if kept.is_empty() {
        return Ok(Frame::default());
    }
    let host = Host::of(machine)?;
    let bytes = machine.files[abi.file].width / 8;
    let missing = "the host has no instructions that put a register on the stack and back";
    let store = host.store(bytes).ok_or(missing)?;
    let load = host.load(bytes, true).ok_or(missing)?;
    let stack = i64::from(abi.stack);
    let each = i64::from(bytes);
    let size = (each * kept.len() as i64 + i64::from(abi.align) - 1) & -i64::from(abi.align);
    let moved = |by: i64| host.add_constant.placed(&[stack, stack, by]);
    let places = || {
        (0_i64..)
            .zip(&kept)
            .map(|(k, r)| [i64::from(*r), stack, each * k])
    };
    let mut frame = Frame::default();
    frame.enter.push(moved(-size));
    frame
        .enter
        .extend(places().map(|given| store.placed(&given)));
    frame
        .leave
        .extend(places().map(|given| load.placed(&given)));
    frame.leave.push(moved(size));
    Ok(frame)
}
