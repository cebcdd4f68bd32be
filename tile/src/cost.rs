//! How long a program takes: a model with overlap.
//!
//! In: machine instructions in order, and what the machine's description says of its units.
//! Out: [`Cycles`]. The host issues one instruction after the other and does not wait for
//! tile instructions, unless as many as the machine can have are under way; each unit works
//! on one at a time; an instruction waits for the tiles that it reads. Branches and the
//! host's own memory are not modelled.

use crate::program::Placed;
use semantics::machine::{Machine, OperandKind};
use std::collections::{BTreeMap, VecDeque};

/// What a program takes, in cycles.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Cycles {
    /// From the first issue to the last result.
    pub total: u64,
    /// Cycles for which the host issued.
    pub issued: u64,
    /// Cycles for which each unit worked, by the machine's order of units.
    pub busy: Vec<u64>,
}

/// The cycles of a straight-line program; `in_flight` tile instructions are under way at once.
pub fn cycles(machine: &Machine, code: &[Placed], in_flight: usize) -> Cycles {
    let mut found = Cycles {
        busy: vec![0; machine.units.len()],
        ..Cycles::default()
    };
    let mut free = vec![0_u64; machine.units.len()];
    let mut ready: BTreeMap<(usize, i64), u64> = BTreeMap::new();
    let mut flying: VecDeque<u64> = VecDeque::new();
    let mut now = 0;
    for (k, values) in code {
        now += machine.issue;
        found.issued += machine.issue;
        let unit = machine
            .units
            .iter()
            .position(|u| u.instructions.contains(k));
        let Some(at) = unit else {
            continue;
        };
        if flying.len() >= in_flight.max(1)
            && let Some(oldest) = flying.pop_front()
        {
            now = now.max(oldest);
        }
        let operands = machine.instructions[*k].operands.iter().zip(values);
        let registers: Vec<(usize, i64, bool, bool)> = operands
            .filter_map(|(o, &value)| match o.kind {
                OperandKind::Register {
                    file,
                    read,
                    written,
                } => Some((file, value, read, written)),
                OperandKind::Immediate { .. } => None,
            })
            .collect();
        let waits = registers.iter().filter(|r| r.2);
        let waits = waits.filter_map(|r| ready.get(&(r.0, r.1)).copied());
        let start = waits.chain([now, free[at]]).max().unwrap_or(now);
        let unit = &machine.units[at];
        free[at] = start + unit.cycles;
        found.busy[at] += unit.cycles;
        let done = start + unit.latency;
        for &(file, value, _, _) in registers.iter().filter(|r| r.3) {
            ready.insert((file, value), done);
        }
        flying.push_back(done);
        found.total = found.total.max(done);
    }
    found.total = found.total.max(now);
    found
}
