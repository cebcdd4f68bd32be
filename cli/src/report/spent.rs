//! What a window's cost is made of: its instructions by what they are for, and what bounds it.
//!
//! In: a program as it was found and as it was placed, with what the target says that operations weigh. Out:
//! [`Spent`], in cycles. The cost itself is the search's; nothing is estimated again here.

use autoir::instructions::Selection;
use autoir::program::placed::Placed;
use autoir::program::{Instance, Node, Program};
use lowering::window::{Source, Window};
use semantics::op::OpCode;
use semantics::term::{Kind, Term};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use synth::cost::{Cost, CostTable, Rule};
use synth::estimate::WindowInput;
use synth::operations::TargetOperations;

/// What an instruction is for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Purpose {
    /// Memory to registers.
    Load,
    /// Registers to memory.
    Store,
    /// Elements to other places, none changed.
    Move,
    /// All else.
    Arithmetic,
}

impl Purpose {
    /// All of them, in the order of reports.
    pub(crate) const ALL: [Purpose; 4] = [
        Purpose::Load,
        Purpose::Store,
        Purpose::Arithmetic,
        Purpose::Move,
    ];

    /// As it heads a column.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Purpose::Load => "loads",
            Purpose::Store => "stores",
            Purpose::Move => "moves",
            Purpose::Arithmetic => "arithmetic",
        }
    }

    fn of(instance: &Instance) -> Purpose {
        match (instance.accesses_memory(), instance.width()) {
            (true, 0) => Purpose::Store,
            (true, _) => Purpose::Load,
            _ if instance.transfer.is_some() => Purpose::Move,
            _ if moves(instance.term, &mut HashMap::new()) == Some(true) => Purpose::Move,
            _ => Purpose::Arithmetic,
        }
    }
}

/// Whether the elements of a term are elements of its variables or constants, some of a variable;
/// nothing when something is computed.
fn moves(term: Term, known: &mut HashMap<Term, Option<bool>>) -> Option<bool> {
    if let Some(&found) = known.get(&term) {
        return found;
    }
    let found = match term.kind() {
        Kind::Var { .. } => Some(true),
        Kind::Bv(_) => Some(false),
        Kind::Map { body, .. } => moves(*body, known),
        Kind::App { op, args } => {
            let values: &[Term] = match op.code {
                OpCode::Slice | OpCode::Elem | OpCode::Extract => &args[..1],
                OpCode::Ite => &args[1..],
                OpCode::Concat => args,
                OpCode::Insert => &[args[0], args[2]],
                _ => &[],
            };
            let mut each = values.iter().map(|&value| moves(value, known));
            let first = each.next().flatten();
            each.fold(first, |all, one| Some(all? | one?))
        }
        _ => None,
    };
    known.insert(term, found);
    found
}

/// An instruction of a window.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Part {
    /// The intrinsic.
    pub(crate) instruction: String,
    /// What it is for.
    pub(crate) purpose: Purpose,
    /// Cycles until its result is there.
    pub(crate) latency: f64,
    /// Cycles until the next of its kind can start.
    pub(crate) throughput: f64,
    /// What it competes for, where that is known.
    pub(crate) resource: Option<String>,
}

/// What a window costs, split.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Spent {
    /// Its instructions, with all that move data, in order.
    pub(crate) parts: Vec<Part>,
    /// What the cost is bound by, in a sentence.
    pub(crate) bound: String,
}

fn cycles(cost: Cost) -> f64 {
    f64::from(cost) / 10.0
}

impl Spent {
    /// What is told of a program whose cost was found.
    pub(crate) fn of(
        (window, program, cost): (&Window, &Program, Cost),
        placed: &Placed,
        (operations, costs): (&TargetOperations, &CostTable),
        selection: &Selection,
    ) -> Spent {
        let part = |node: &Node| {
            let Node::Apply { operation, .. } = node else {
                return None;
            };
            let instance = placed.program.operation(*operation);
            let chosen = selection.of(instance);
            let weight = costs.of(chosen);
            Some(Part {
                instruction: chosen.instruction.clone(),
                purpose: Purpose::of(instance),
                latency: cycles(weight.timing.latency),
                throughput: cycles(weight.timing.throughput),
                resource: weight.resource,
            })
        };
        Spent {
            parts: placed.program.nodes().iter().filter_map(part).collect(),
            bound: bound((window, program, cost), operations, costs, selection),
        }
    }

    /// How many instructions are for a purpose, and the cycles for which they take what they compete
    /// for.
    pub(crate) fn share(&self, purpose: Purpose) -> (usize, f64) {
        let of = self.parts.iter().filter(|part| part.purpose == purpose);
        (of.clone().count(), of.map(|part| part.throughput).sum())
    }

    /// How many instructions are for which purpose, with the cycles that they take, and what the cost
    /// is bound by; nothing where there are no instructions.
    pub(crate) fn reported(&self) -> Option<String> {
        let share = |purpose: Purpose| {
            let (count, cycles) = self.share(purpose);
            (count > 0).then(|| format!("{} {count} ({cycles:.1})", purpose.name()))
        };
        let shares: Vec<String> = Purpose::ALL.into_iter().filter_map(share).collect();
        (!shares.is_empty()).then(|| format!("{}; bound by {}", shares.join(", "), self.bound))
    }
}

/// Whether some vector that a window reads is a variable, which is no load of the code but one to the
/// model.
fn reads_registers(window: &Window) -> bool {
    let mut inputs = window.inputs.iter();
    inputs.any(|input| matches!(input.source, Source::Register(_)) && input.ty.lanes > 1)
}

/// The instructions of a program of which the table does not say what they compete for, those that
/// take longest first.
fn unnamed(program: &Program, costs: &CostTable, selection: &Selection) -> String {
    let mut taken: BTreeMap<&str, Cost> = BTreeMap::new();
    for instance in program.applied() {
        let chosen = selection.of(instance);
        let weight = costs.of(chosen);
        if weight.resource.is_none() && weight.timing.throughput > 0 {
            *taken.entry(&chosen.instruction).or_default() += weight.timing.throughput;
        }
    }
    let mut taken: Vec<(&str, Cost)> = taken.into_iter().collect();
    taken.sort_by_key(|&(_, cost)| std::cmp::Reverse(cost));
    let more = match taken.len().saturating_sub(MOST_TOLD) {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    let each = taken.iter().take(MOST_TOLD);
    let each = each.map(|(name, cost)| format!("`{name}` {:.1}", cycles(*cost)));
    format!("{}{more}", each.collect::<Vec<_>>().join(", "))
}

/// How many instructions are named as those that take the longest.
const MOST_TOLD: usize = 3;

/// What the cost of a program is: the longest chain, or the resource that is taken the longest.
fn bound(
    (window, program, cost): (&Window, &Program, Cost),
    operations: &TargetOperations,
    costs: &CostTable,
    selection: &Selection,
) -> String {
    if costs.rule == Rule::LatencySum {
        return "the sum of all latencies".to_owned();
    }
    let usage = operations.usage(program, &WindowInput::of(window));
    let most = usage.taken.iter().max_by_key(|(_, taken)| **taken);
    match most {
        _ if cost == 0 => "nothing that the model counts".to_owned(),
        Some((resource, &taken)) if taken >= cost => match resource.as_deref() {
            Some("load") if reads_registers(window) => format!(
                "inputs, which take {:.1} cycles: a register counts as a load",
                cycles(taken)
            ),
            Some("load") => format!("loads, which take {:.1} cycles", cycles(taken)),
            Some(name) => format!(
                "port {name}, which is taken for {:.1} cycles",
                cycles(taken)
            ),
            None => format!(
                "throughput, {:.1} cycles: {}, which count as sharing a port, as the costs of {} name none for them",
                cycles(taken),
                unnamed(program, costs, selection),
                costs.model
            ),
        },
        _ => {
            let waits = WindowInput::of(window).iter().any(|input| input.chains > 0);
            let chain = cycles(usage.chain);
            match waits {
                true => format!(
                    "latency: rounds wait for each other along a chain of {chain:.1} cycles"
                ),
                false => format!(
                    "latency: a chain of {chain:.1} cycles, of which rounds side by side hide a part"
                ),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Part, Purpose, Spent};

    fn part(purpose: Purpose, throughput: f64) -> Part {
        Part {
            instruction: "some".to_owned(),
            purpose,
            latency: 1.0,
            throughput,
            resource: None,
        }
    }

    #[test]
    fn a_split_is_a_line_of_what_there_is() {
        let parts = vec![
            part(Purpose::Arithmetic, 0.5),
            part(Purpose::Load, 0.5),
            part(Purpose::Load, 1.0),
        ];
        let bound = "loads, which take 1.5 cycles".to_owned();
        assert_eq!(
            Spent { parts, bound }.reported().as_deref(),
            Some("loads 2 (1.5), arithmetic 1 (0.5); bound by loads, which take 1.5 cycles")
        );
        let nothing = Spent {
            parts: Vec::new(),
            bound: "nothing".to_owned(),
        };
        assert_eq!(nothing.reported(), None);
    }
}
