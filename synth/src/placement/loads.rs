//! Vectors that are loaded once and read more than once.
//!
//! In: the loops of a kernel and the placed programs of their windows. Out: [`Loads`]: which loads are of
//! what an earlier window of the same block has loaded, and which of the others are to be held in a
//! register. That they are loaded at all, and by which operation, is the programs' word. gcc reads a vector
//! with two readers from memory twice, as operands of both, and a register less is seldom worth a load
//! more. Not held is what no iteration of the innermost loop changes, which compilers load before it, and
//! what would take more than half of the registers.

use autoir::program::placed::{Loads, Place, Placed, Residence};
use autoir::program::{Argument, Node, Region};
use kernel::index::{Index, Symbol};
use lowering::window::{Loop, Lowered, LoweredNode, Source, Store, Window};
use std::collections::BTreeMap;
use target::RegisterClass;

/// The most rounds of a loop that C compilers write out one after the other: what is held in a register
/// keeps them from it.
const MOST_PEELED: i64 = 16;

/// A load with its readers.
struct Load<'a> {
    place: Place,
    array: usize,
    index: &'a [Index],
    byte: u32,
    width: u32,
    readers: usize,
    /// The first and the last step of the block that knows it.
    steps: (usize, usize),
}

/// What becomes of the loads of a kernel.
pub(super) fn loads(
    lowered: &Lowered,
    placed: &[Option<Placed>],
    registers: &[RegisterClass],
) -> Loads {
    let mut all = Blocks {
        lowered,
        placed,
        registers,
        loads: Loads::default(),
    };
    all.block(&lowered.body, None);
    all.loads
}

struct Blocks<'a> {
    lowered: &'a Lowered,
    placed: &'a [Option<Placed>],
    registers: &'a [RegisterClass],
    loads: Loads,
}

impl<'a> Blocks<'a> {
    /// Those of a block and of the loops in it; `var` is the variable of the loop that it is the body of, if
    /// it is one whose rounds stay a loop.
    fn block(&mut self, nodes: &'a [LoweredNode], var: Option<Symbol>) {
        // All, and which of them are still what the array has.
        let (mut all, mut open): (Vec<Load>, BTreeMap<_, usize>) = (Vec::new(), BTreeMap::new());
        let mut step = 0;
        for node in nodes {
            let (id, active) = match node {
                LoweredNode::Window { window, active } => (*window, active),
                LoweredNode::Loop(nest) => {
                    let stays = nest.at.is_some() || !is_peeled(nest);
                    self.block(&nest.body, stays.then_some(nest.var));
                    open.clear();
                    continue;
                }
            };
            let window = &self.lowered.windows[id];
            let placed = self.placed.get(id).and_then(Option::as_ref);
            if let (Some(placed), None) = (placed, active) {
                for load in loaded(window, placed, id, step) {
                    let of = (load.array, load.index, load.byte, load.width);
                    let first = *open.entry(of).or_insert(all.len());
                    match all.get_mut(first) {
                        Some(earlier) => {
                            self.loads.again.insert(load.place, earlier.place);
                            earlier.readers += load.readers;
                            earlier.steps.1 = load.steps.1;
                        }
                        None => all.push(load),
                    }
                }
                step += placed.program.nodes().len();
            }
            if let Store::Array(access) = &window.store {
                open.retain(|(array, ..), _| *array != access.array);
            }
        }
        let changes = |load: &Load| var.is_some_and(|v| load.index.iter().any(|i| i.mentions(v)));
        all.retain(|load| load.readers > 1 && changes(load));
        self.hold(all);
    }

    /// Holds those of a block that are needed for the shortest time first, as far as there are registers.
    fn hold(&mut self, mut loads: Vec<Load>) {
        loads.sort_by_key(|load| load.steps.1 - load.steps.0);
        let mut spans: Vec<(usize, usize)> = Vec::new();
        for load in loads {
            let (first, last) = load.steps;
            let beside = spans.iter().filter(|s| s.0 <= last && first <= s.1);
            if beside.count() < self.registers_for_loads(load.width) {
                spans.push(load.steps);
                self.loads.held.insert(load.place);
            }
        }
    }

    /// How many registers of a width hold what is loaded once and read more than once: half of them,
    /// where C compilers have to be told.
    fn registers_for_loads(&self, width: u32) -> usize {
        let class = self.registers.iter().find(|class| class.width == width);
        let reported = class.filter(|c| c.held.as_ref().is_some_and(|held| held.loads));
        reported.map_or(0, |class| class.count / 2)
    }
}

/// Whether C compilers may write out all rounds of a loop.
fn is_peeled(nest: &Loop) -> bool {
    let rounds = (nest.lo.constant_value(), nest.hi.constant_value());
    matches!(rounds, (Some(lo), Some(hi)) if hi.saturating_sub(lo) <= MOST_PEELED.saturating_mul(nest.step))
}

/// The loads of a window's program from arrays, whole vectors at once.
fn loaded<'a>(
    window: &'a Window,
    placed: &'a Placed,
    id: usize,
    step: usize,
) -> impl Iterator<Item = Load<'a>> {
    let program = &placed.program;
    let mut readers = vec![(0, 0); program.nodes().len()];
    for user in 0..program.nodes().len() {
        for used in program.uses(user) {
            readers[used] = (readers[used].0 + 1, user);
        }
    }
    (0..program.nodes().len()).filter_map(move |value| {
        let Node::Apply { args, .. } = program.node(value) else {
            return None;
        };
        // Constants are those with which it is a plain load.
        let mut given = args
            .iter()
            .filter(|arg| !matches!(arg, Argument::Immediate(_)));
        let (Some(Argument::Address(Region::Input(name), byte)), None) =
            (given.next(), given.next())
        else {
            return None;
        };
        let input = window.inputs.iter().find(|input| input.name == *name)?;
        let Source::Array(access) = &input.source else {
            return None;
        };
        let (readers, last) = readers[value];
        (placed.ends.inputs[name] == Residence::Memory).then(|| Load {
            place: (id, value),
            array: access.array,
            index: &access.index,
            byte: *byte,
            width: program.width(value),
            readers,
            steps: (step + value, step + last.max(value)),
        })
    })
}
