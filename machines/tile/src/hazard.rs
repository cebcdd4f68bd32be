//! Hazards: what a machine that retires out of order may get wrong.
//!
//! In: tile instructions in order, and how many of them may be in flight. Out: the first two
//! that may change places and must not. The machine honours true dependencies between tiles
//! and nothing else: not that a register is read before it is written again, not that it is
//! written twice in order, not that memory is stored before it is loaded. Two instructions
//! are in order when one depends on the other through tiles, or when so many lie between
//! them that the first has retired.

use crate::matching::Window;
use crate::program::TileProgram;
use petgraph::algo::has_path_connecting;
use petgraph::graph::{DiGraph, NodeIndex};
use semantics::machine::{Machine, OperandKind};
use std::collections::BTreeMap;
use std::fmt;

/// What must not change places.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A register is read, then written.
    WriteAfterRead,
    /// A register is written twice.
    WriteAfterWrite,
    /// Memory is accessed twice, at least once written.
    Memory,
}

/// Two instructions that may change places and must not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hazard {
    /// Which kind.
    pub kind: Kind,
    /// The position of the first.
    pub first: usize,
    /// The position of the second.
    pub second: usize,
}

impl fmt::Display for Hazard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            Kind::WriteAfterRead => "reads a register that the other writes",
            Kind::WriteAfterWrite => "writes a register that the other writes again",
            Kind::Memory => "accesses memory that the other accesses too",
        };
        write!(f, "instruction {} {what}: {}", self.first, self.second)
    }
}

/// What an instruction touches.
struct Touched {
    read: Vec<usize>,
    written: Vec<usize>,
    window: Option<(Window, bool)>,
}

/// The first hazard of a program, if there is one; at most `in_flight` instructions are under
/// way at once.
pub fn first(program: &TileProgram, machine: &Machine, in_flight: usize) -> Option<Hazard> {
    let touched: Vec<Touched> = (0..program.steps.len())
        .map(|n| of(program, machine, n))
        .collect();
    let mut graph: DiGraph<(), ()> = DiGraph::new();
    let nodes: Vec<NodeIndex> = touched.iter().map(|_| graph.add_node(())).collect();
    let mut writer: BTreeMap<usize, usize> = BTreeMap::new();
    for (n, t) in touched.iter().enumerate() {
        for register in &t.read {
            if let Some(&from) = writer.get(register) {
                graph.add_edge(nodes[from], nodes[n], ());
            }
        }
        writer.extend(t.written.iter().map(|&r| (r, n)));
        for before in n.saturating_sub(in_flight.saturating_sub(1))..n {
            let kind = conflict(&touched[before], t, program);
            let ordered = || has_path_connecting(&graph, nodes[before], nodes[n], None);
            if let Some(kind) = kind.filter(|_| !ordered()) {
                return Some(Hazard {
                    kind,
                    first: before,
                    second: n,
                });
            }
        }
    }
    None
}

fn of(program: &TileProgram, machine: &Machine, n: usize) -> Touched {
    let step = &program.steps[n];
    let found = &machine.instructions[step.instruction];
    let (mut read, mut written) = (Vec::new(), Vec::new());
    for &(operand, register) in &step.tiles {
        if let OperandKind::Register {
            read: r,
            written: w,
            ..
        } = found.operands[operand].kind
        {
            read.extend(r.then_some(register));
            written.extend(w.then_some(register));
        }
    }
    let stores = written.is_empty();
    Touched {
        read,
        written,
        window: step.window.map(|w| (w, stores)),
    }
}

fn conflict(a: &Touched, b: &Touched, program: &TileProgram) -> Option<Kind> {
    if a.read.iter().any(|r| b.written.contains(r)) {
        return Some(Kind::WriteAfterRead);
    }
    if a.written.iter().any(|r| b.written.contains(r)) {
        return Some(Kind::WriteAfterWrite);
    }
    let ((x, stores), (y, also)) = (a.window?, b.window?);
    let (row, rows) = program.extent;
    let starts = |w: Window| (0..rows).map(move |i| w.base + i * w.stride);
    let meet = || starts(x).any(|p| starts(y).any(|q| p < q + row && q < p + row));
    ((stores || also) && x.array == y.array && meet()).then_some(Kind::Memory)
}
