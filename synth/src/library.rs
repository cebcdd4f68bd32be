//! Lane operations by what they do.
//!
//! In: candidates and a number of lanes. Out: [`Library`], the operations that work on
//! registers with so many lanes, found by their behaviour on fixed inputs. Registers are
//! packed from their low end; those with fewer bits than the smallest vector register are
//! the low end of that.

use crate::candidates::{Candidate, Candidates};
use crate::fragment::{self, Behaviour, Fragment};
use crate::lane_function::LaneFunction;
use crate::lanes::{self, LaneOp};
use crate::widths::Widths;
use semantics::instruction::Constants;
use semantics::op::OpCode;
use semantics::term::Term;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// An operation for a fragment: which, and for each operand the leaf that it takes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Index of the operation.
    pub op: usize,
    /// Leaves in the order of the operands.
    pub leaves: Vec<usize>,
}

/// The operations for a number of lanes.
pub struct Library {
    /// The operations, cheapest first.
    pub ops: Vec<LaneOp>,
    index: HashMap<Behaviour, Vec<Entry>>,
}

/// The widths of lanes.
const WIDTHS: [u32; 5] = [1, 8, 16, 32, 64];

impl Library {
    /// The operations of the candidates with so many lanes; `values` gives the numbers that
    /// are tried for an immediate.
    pub fn new(
        candidates: &Candidates,
        lanes: u32,
        values: &dyn Fn(Constants) -> Vec<u64>,
    ) -> Library {
        let mut cheapest: BTreeMap<_, LaneOp> = BTreeMap::new();
        for (index, c) in candidates.list.iter().enumerate() {
            for width in WIDTHS {
                if !holds(&candidates.widths, c.width, lanes, width) {
                    continue;
                }
                for op in fixed((index, c), &candidates.widths, width, lanes, values) {
                    let key = lanes::anonymous(&op);
                    match cheapest.get(&key) {
                        Some(old)
                            if (old.cost, old.immediates.len())
                                <= (op.cost, op.immediates.len()) => {}
                        _ => {
                            cheapest.insert(key, op);
                        }
                    }
                }
            }
        }
        let mut ops: Vec<(LaneOp, Arc<Taken>)> = Vec::new();
        for (function, op) in cheapest {
            if op.term.as_bits().is_none() {
                ops.push((op, candidates.taken(function)));
            }
        }
        ops.sort_by_key(|(op, _)| (op.cost, op.immediates.len(), op.candidate));
        let mut library = Library {
            ops: Vec::new(),
            index: HashMap::new(),
        };
        for (op, taken) in ops {
            for (behaviour, leaves) in taken.iter() {
                let list = library.index.entry(*behaviour).or_default();
                if list.len() < 4 {
                    list.push(Entry {
                        op: library.ops.len(),
                        leaves: leaves.to_vec(),
                    });
                }
            }
            library.ops.push(op);
        }
        library
    }

    /// The operations that do on the fixed inputs what a fragment does, cheapest first.
    pub fn find(&self, behaviour: Behaviour) -> &[Entry] {
        self.index.get(&behaviour).map_or(&[], Vec::as_slice)
    }

    /// The meaning of an entry over the fragment's variables.
    pub fn meaning(&self, entry: &Entry, fragment: &Fragment) -> Term {
        let op = &self.ops[entry.op];
        let widths = fragment.widths();
        let map = op
            .inputs
            .iter()
            .zip(&entry.leaves)
            .map(|((name, _), &k)| (name.as_str(), fragment::variable(k, widths[k])))
            .collect();
        semantics::subst::replace_vars(op.term, &map)
    }
}

/// Whether lanes of a width are a value of so many bits: a register, or the low end of the narrowest
/// one, which some machines have as a register of its own.
fn holds(widths: &Widths, width: u32, lanes: u32, lane: u32) -> bool {
    let low_end = lane > 1 && width == lanes * lane && width < widths.narrowest();
    width == widths.of_lanes(lanes, lane) || low_end && widths.is_held(width)
}

/// The operations of a candidate on lanes of a width, one for each choice of immediates.
fn fixed(
    (index, c): (usize, &Candidate),
    widths: &Widths,
    width: u32,
    lanes: u32,
    values: &dyn Fn(Constants) -> Vec<u64>,
) -> Vec<LaneOp> {
    let enough = |f: &&LaneFunction| f.lanes >= lanes && f.lanes.is_power_of_two();
    let Some(f) = c.packed_lane(width).filter(enough) else {
        return Vec::new();
    };
    let fits = |(name, stride): &(String, u32)| {
        WIDTHS.contains(stride)
            && c.operand(name)
                .is_some_and(|o| holds(widths, o.width, lanes, *stride))
    };
    if f.inputs.is_empty() || f.inputs.len() > fragment::MAX_LEAVES || !f.inputs.iter().all(fits) {
        return Vec::new();
    }
    let choices: Vec<Vec<u64>> = f.immediates.iter().map(|i| values(i.2)).collect();
    if choices.iter().map(Vec::len).product::<usize>() > 512 {
        return Vec::new();
    }
    lanes::product(&choices)
        .iter()
        .filter_map(|values| lanes::fix_immediates(index, &c.instruction, f, values, c.cost))
        .collect()
}

/// A function of operands, named by their places.
pub(crate) type OperandFunction = (Term, Vec<(String, u32)>);

/// What a function does on the fixed inputs, for each order in which it may take them.
pub(crate) type Taken = Vec<(Behaviour, &'static [usize])>;

/// What a function does in each order of its operands, and with one for two of them where it may be wanted of
/// one value twice.
pub(crate) fn taken((term, inputs): &OperandFunction) -> Taken {
    let squares: &[&[usize]] = match inputs[..] {
        [(_, x), (_, y)] if x == y && takes_twice(*term) => &[&[0, 0]],
        _ => &[],
    };
    let given = orders(inputs.len()).iter().chain(squares);
    let given: Vec<&'static [usize]> = given.copied().collect();
    let found = fragment::behaviours(*term, inputs, &given);
    found.into_iter().zip(given).collect()
}

/// Whether a function may be wanted of one value twice: squares, tests for a NaN.
fn takes_twice(t: Term) -> bool {
    let twice = lanes::signature_of(OpCode::BvMul) | lanes::signature_of(OpCode::FUnord);
    lanes::signature([t]) & twice != 0
}

/// All orders of so many things.
pub(crate) fn orders(n: usize) -> &'static [&'static [usize]] {
    match n {
        1 => &[&[0]],
        2 => &[&[0, 1], &[1, 0]],
        _ => &[
            &[0, 1, 2],
            &[0, 2, 1],
            &[1, 0, 2],
            &[1, 2, 0],
            &[2, 0, 1],
            &[2, 1, 0],
        ],
    }
}
