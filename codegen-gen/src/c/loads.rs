//! Vectors that are loaded once and read more than once.
//!
//! In: the windows of a block, in order, with their programs. Out: [`Loads`]: which loads are of what
//! an earlier window has loaded, and which of the others are to be held in a register. That they are
//! loaded at all, and by which instruction, is the programs' word. gcc reads a vector with two readers
//! from memory twice, as operands of both, and a register less is seldom worth a load more. Not held is
//! what no iteration of the innermost loop changes, which compilers load before it, and what would
//! take more than half of the registers.

use super::register::Registers;
use autoir::program::placed::{Placed, Residence};
use autoir::program::{Argument, Node as Step, Region, Value};
use kernel::index::{Index, Symbol};
use lowering::window::{Node, Source, Store, Window};
use std::collections::{BTreeMap, BTreeSet};

/// A value of the program of one of the windows of a block.
type Place = (usize, Value);

/// What becomes of the loads of a block.
#[derive(Debug, Default)]
pub(super) struct Loads {
    /// Those of what is loaded already, and by which.
    pub(super) again: BTreeMap<Place, Place>,
    /// Those that are held in a register.
    pub(super) held: BTreeSet<Place>,
}

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

impl Loads {
    /// Those of a block; `var` is the variable of the loop that it is the body of, if it is one whose
    /// rounds stay a loop.
    pub(super) fn of(
        nodes: &[Node],
        windows: &[(&Window, &Option<Placed>)],
        var: Option<Symbol>,
        registers: &Registers,
    ) -> Loads {
        let mut loads = Loads::default();
        // All, and which of them are still what the array has.
        let (mut all, mut open): (Vec<Load>, BTreeMap<_, usize>) = (Vec::new(), BTreeMap::new());
        let mut step = 0;
        for (at, node) in nodes.iter().enumerate() {
            let Node::Window { window, active } = node else {
                open.clear();
                continue;
            };
            let (window, placed) = windows[*window];
            if let (Some(placed), None) = (placed, active) {
                for load in loaded(window, placed, at, step) {
                    let of = (load.array, load.index, load.byte, load.width);
                    let first = *open.entry(of).or_insert(all.len());
                    match all.get_mut(first) {
                        Some(earlier) => {
                            loads.again.insert(load.place, earlier.place);
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
        loads.hold(all, registers);
        loads
    }

    /// Holds those that are needed for the shortest time first, as far as there are registers.
    fn hold(&mut self, mut loads: Vec<Load>, registers: &Registers) {
        loads.sort_by_key(|load| load.steps.1 - load.steps.0);
        let mut spans: Vec<(usize, usize)> = Vec::new();
        for load in loads {
            let (first, last) = load.steps;
            let beside = spans.iter().filter(|s| s.0 <= last && first <= s.1);
            if beside.count() < registers.loads(load.width) {
                spans.push(load.steps);
                self.held.insert(load.place);
            }
        }
    }
}

/// The loads of a window's program from arrays, whole vectors at once.
fn loaded<'a>(
    window: &'a Window,
    placed: &'a Placed,
    at: usize,
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
        let Step::Apply { args, .. } = program.node(value) else {
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
        (placed.inputs[name] == Residence::Memory).then(|| Load {
            place: (at, value),
            array: access.array,
            index: &access.index,
            byte: *byte,
            width: program.width(value),
            readers,
            steps: (step + value, step + last.max(value)),
        })
    })
}
