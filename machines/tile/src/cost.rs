//! How long a program takes: a model with overlap.
//!
//! In: machine instructions in order, and what the machine's description says of its units.
//! Out: [`Cycles`]. The host issues one instruction after the other and does not wait for
//! tile instructions, unless as many as the machine can have are under way, or at a fence for
//! all of them; each unit works on one at a time; an instruction waits for the tiles that it
//! reads. A branch that is taken has its price. A load or a store of a tile takes longer where
//! words of one beat lie in one bank of memory; that the host has a bank meanwhile is not
//! modelled.

use crate::program::Placed;
use semantics::machine::{Machine, MachineInstruction, OperandKind};
use semantics::sort::Sort;
use semantics::subst::free_vars;
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
/// Rows of tiles are taken to begin where a beat does.
pub fn cycles(machine: &Machine, code: &[Placed], in_flight: usize) -> Cycles {
    let mut clock = Clock::new(machine, in_flight);
    code.iter()
        .for_each(|placed| clock.next(placed, false, &[]));
    clock.cycles()
}

/// Counts cycles while a program runs: it is given each instruction as it is done.
#[derive(Clone, Debug)]
pub struct Clock<'m> {
    machine: &'m Machine,
    in_flight: usize,
    found: Cycles,
    free: Vec<u64>,
    ready: BTreeMap<(usize, i64), u64>,
    flying: VecDeque<u64>,
    now: u64,
}

impl Clock<'_> {
    /// A clock at 0.
    pub fn new(machine: &Machine, in_flight: usize) -> Clock<'_> {
        Clock {
            machine,
            in_flight,
            found: Cycles {
                busy: vec![0; machine.units.len()],
                ..Cycles::default()
            },
            free: vec![0; machine.units.len()],
            ready: BTreeMap::new(),
            flying: VecDeque::new(),
            now: 0,
        }
    }

    /// The next instruction, whether it is a branch that is taken, and the addresses of what it
    /// touches, in its order; none when they are not known.
    pub fn next(&mut self, (k, values): &Placed, taken: bool, touched: &[u64]) {
        let machine = self.machine;
        let issue = machine.issue + if taken { machine.taken } else { 0 };
        self.now += issue;
        self.found.issued += issue;
        if machine.fence == Some(*k) {
            let last = self.flying.drain(..).max().unwrap_or(0);
            self.now = self.now.max(last);
            return;
        }
        let unit = machine
            .units
            .iter()
            .position(|u| u.instructions.contains(k));
        let Some(at) = unit else {
            return;
        };
        if self.flying.len() >= self.in_flight.max(1)
            && let Some(oldest) = self.flying.pop_front()
        {
            self.now = self.now.max(oldest);
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
        let waits = waits.filter_map(|r| self.ready.get(&(r.0, r.1)).copied());
        let start = waits.chain([self.now, self.free[at]]).max();
        let start = start.unwrap_or(self.now);
        let unit = &machine.units[at];
        let late = self.late(*k, unit.cycles, touched);
        self.free[at] = start + unit.cycles + late;
        self.found.busy[at] += unit.cycles + late;
        let done = start + unit.latency + late;
        for &(file, value, _, _) in registers.iter().filter(|r| r.3) {
            self.ready.insert((file, value), done);
        }
        self.flying.push_back(done);
        self.found.total = self.found.total.max(done);
    }

    /// Cycles that are lost because words of one beat lie in one bank.
    fn late(&self, instruction: usize, cycles: u64, touched: &[u64]) -> u64 {
        let Some(banks) = &self.machine.banks else {
            return 0;
        };
        let taken = match touched {
            [] => {
                let beat: Vec<u64> = (0..banks.beat).map(|k| 4 * k).collect();
                let times = banks.cycles(&beat);
                let moves = || touches_memory(&self.machine.instructions[instruction]);
                if times > 1 && moves() {
                    cycles * times
                } else {
                    0
                }
            }
            words => banks.cycles(words),
        };
        taken.saturating_sub(cycles)
    }

    /// All that decides what follows takes, told from now on.
    pub fn standing(&self) -> Vec<u64> {
        let left = |then: u64| then.saturating_sub(self.now);
        let mut all: Vec<u64> = self.free.iter().map(|f| left(*f)).collect();
        all.push(left(self.found.total));
        all.push(self.flying.len() as u64);
        all.extend(self.flying.iter().map(|f| left(*f)));
        for (&(file, register), &ready) in self.ready.iter().filter(|r| *r.1 > self.now) {
            all.extend([file as u64, register.cast_unsigned(), left(ready)]);
        }
        all
    }

    /// What was done since an earlier time is done so many times more.
    pub fn again(&mut self, since: &Clock<'_>, times: u64) {
        let by = times * (self.now - since.now);
        let (now, then) = (&mut self.found, &since.found);
        now.issued += times * (now.issued - then.issued);
        for (now, then) in now.busy.iter_mut().zip(&then.busy) {
            *now += times * (*now - then);
        }
        let moved = self.free.iter_mut().chain(self.ready.values_mut());
        let moved = moved.chain(&mut self.flying);
        moved
            .chain([&mut self.now, &mut self.found.total])
            .for_each(|t| *t += by);
    }

    /// What of addresses decides what a load or a store takes; 0 where they decide nothing.
    pub fn decides(&self, instruction: usize, touched: &[u64]) -> u64 {
        let mut units = self.machine.units.iter();
        let waits = units.any(|u| u.instructions.contains(&instruction)) && !touched.is_empty();
        let Some(banks) = self.machine.banks.as_ref().filter(|_| waits) else {
            return 0;
        };
        // Words of one bank are told apart by more than their bank.
        let period = banks.count.max(1) * banks.stripe.max(4);
        let first = touched[0];
        let fold =
            |sum: u64, a: &u64| (sum ^ a.wrapping_sub(first)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        touched.iter().fold(first % period + 1, fold) | 1
    }

    /// What was counted so far.
    pub fn cycles(&self) -> Cycles {
        let mut found = self.found.clone();
        found.total = found.total.max(self.now);
        found
    }
}

fn touches_memory(found: &MachineInstruction) -> bool {
    let mut outputs = found.instruction.outputs.iter();
    outputs.any(|o| free_vars(o.term).iter().any(|v| v.sort() == Sort::Mem))
}
