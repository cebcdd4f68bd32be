//! Lane operations by what they do.
//!
//! In: candidates and a number of lanes. Out: [`Library`], the operations that work on
//! registers with so many lanes, found by their behaviour on fixed inputs. Registers are
//! packed from their low end; those with fewer bits than the smallest vector register are
//! the low end of that.

pub(crate) mod cached;
mod moves;

use crate::candidates::{Candidate, Candidates};
use crate::fragment::{self, Behaviour, Fragment};
use crate::lane_function::LaneFunction;
use crate::lanes::{self, LaneOp};
use crate::widths::Widths;
use semantics::bits::Bits;
use semantics::instruction::Constants;
use semantics::op::OpCode;
use semantics::sort::Sort;
use semantics::subst::replace_vars;
use semantics::term::Term;
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// An operation for a fragment: which, and for each operand the leaf that it takes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Entry {
    /// Index of the operation.
    pub op: usize,
    /// Leaves in the order of the operands.
    pub leaves: &'static [usize],
}

/// The operations for a number of lanes, at the numbers of a window.
pub(crate) struct Library {
    /// The operations, cheapest first.
    pub ops: Vec<Arc<LaneOp>>,
    index: HashMap<Behaviour, Vec<Entry>>,
}

/// An operation on lanes of a width.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    op: Arc<LaneOp>,
    lane: u32,
    taken: Arc<Taken>,
}

/// The operations for a number of lanes, at the numbers that are tried in every window. Of those that
/// do the same the cheapest, cheapest first.
#[derive(Clone)]
pub(crate) struct Base(Arc<[Known]>);

/// The widths of lanes.
const WIDTHS: [u32; 5] = [1, 8, 16, 32, 64];
/// Up to how many numbers of an immediate all are tried in every window.
const FEW: u64 = 32;
/// The most choices of immediates of one operation.
const MAX_CHOICES: usize = 512;
/// The most operations that are kept for one behaviour.
const ALIKE: usize = 4;

/// The numbers that are tried for an immediate in every window: all, where there are few, else the first.
fn usual(constants: Constants) -> impl Iterator<Item = u64> {
    let all = constants.count();
    let ranks = 0..if all <= FEW { all } else { 1 };
    ranks.filter_map(move |rank| constants.nth(rank).map(u64::from))
}

/// The numbers that are tried for an immediate in a window with these.
pub(crate) fn immediates(constants: Constants, numbers: &BTreeSet<u64>) -> Vec<u64> {
    let first: Vec<u64> = usual(constants).collect();
    let own = |n: &u64| !first.contains(n) && constants.contains(*n);
    let own = numbers.iter().copied().filter(own);
    first.iter().copied().chain(own).collect()
}

impl Base {
    /// What the operations of the candidates do to so many lanes.
    pub(crate) fn new(candidates: &Candidates, lanes: u32) -> Base {
        let mut all = collect(candidates, lanes, &|_| true, &|f| {
            all_choices(f, &|constants| usual(constants).collect())
        });
        all.extend(moves::moves(candidates, lanes));
        Base(cheapest(candidates, all).into())
    }
}

/// The choices of immediates of a function, where they are not too many.
fn all_choices(f: &LaneFunction, values: &dyn Fn(Constants) -> Vec<u64>) -> Vec<Vec<u64>> {
    let choices = f.immediates.iter().map(|i| values(i.2));
    let choices: Vec<Vec<u64>> = choices.collect();
    match choices.iter().map(Vec::len).product::<usize>() {
        0..=MAX_CHOICES => lanes::product(&choices),
        _ => Vec::new(),
    }
}

/// The operations with so many lanes of every width, at the choices of immediates that are tried.
fn collect(
    candidates: &Candidates,
    lanes: u32,
    wanted: &dyn Fn(&Candidate) -> bool,
    choices: &dyn Fn(&LaneFunction) -> Vec<Vec<u64>>,
) -> Vec<Known> {
    let mut all = Vec::new();
    let list = candidates.list.iter().enumerate();
    for (index, c) in list.filter(|(_, c)| wanted(c)) {
        for lane in WIDTHS {
            if !holds(&candidates.widths, c.width, lanes, lane) {
                continue;
            }
            let Some(f) = usable(c, &candidates.widths, lane, lanes) else {
                continue;
            };
            let fixed = choices(f).into_iter().filter_map(|values| {
                lanes::fix_immediates(index, &c.instruction, f, &values, c.cost)
            });
            let fixed = fixed.filter(|op| op.term.as_bits().is_none());
            let with_less = |op: LaneOp| {
                let less: Vec<LaneOp> = from_nothing(c, f, &op)
                    .into_iter()
                    .chain(beside_constants(c, f, &op))
                    .collect();
                std::iter::once(op).chain(less)
            };
            all.extend(fixed.flat_map(with_less).map(|op| Known {
                taken: candidates.taken((op.term, op.inputs.clone())),
                op: Arc::new(op),
                lane,
            }));
        }
    }
    all
}

/// What adds to an operand as what adds to nothing, where a machine may have it no other way: a product
/// by what multiplies and accumulates.
fn from_nothing(c: &Candidate, f: &LaneFunction, op: &LaneOp) -> Option<LaneOp> {
    let sum = op.term.args_of(OpCode::BvAdd)?;
    let number = |k: usize| op.inputs[k].0.as_str();
    let is_added = |k: &usize| sum.iter().any(|t| t.as_var() == Some(number(*k)));
    let at = (0..op.inputs.len())
        .filter(|_| op.inputs.len() > 2)
        .find(is_added)?;
    let zero = Bits::zero(op.inputs[at].1);
    with_constant(c, f, op, (at, zero))
}

/// What adds parts of a lane, each with or by one of another operand, as what adds those of one: from 0 it
/// takes differences as they are, by 1 products.
fn beside_constants(c: &Candidate, f: &LaneFunction, op: &LaneOp) -> Vec<LaneOp> {
    let sums = lanes::signature_of(OpCode::BvAdd);
    if op.inputs.len() != 2 || lanes::signature([op.term]) & sums == 0 {
        return Vec::new();
    }
    let mut found = Vec::new();
    for at in 0..2 {
        let (name, width) = &op.inputs[at];
        for part in widths_of_parts(op.term, name) {
            let ones = Bits::one(part).repeated(width / part);
            let both = [Bits::zero(*width), ones].into_iter();
            found.extend(both.filter_map(|bits| with_constant(c, f, op, (at, bits))));
        }
    }
    found.retain(|op| lanes::signature([op.term]) & sums != 0);
    found
}

/// The widths of parts of a variable, narrower than it, that a term reads.
fn widths_of_parts(t: Term, name: &str) -> BTreeSet<u32> {
    let (mut seen, mut work, mut widths) = (HashSet::new(), vec![t], BTreeSet::new());
    while let Some(t) = work.pop() {
        let of = t.args_of(OpCode::Extract).map(|args| args[0]);
        if of.is_some_and(|of| of.as_var() == Some(name) && of.width().is_multiple_of(t.width())) {
            widths.insert(t.width());
        }
        work.extend(t.children().filter(|child| seen.insert(*child)));
    }
    widths
}

/// An operation with a constant in all lanes of an operand.
fn with_constant(
    c: &Candidate,
    f: &LaneFunction,
    op: &LaneOp,
    (at, lane): (usize, Bits),
) -> Option<LaneOp> {
    let number = |k: usize| op.inputs[k].0.as_str();
    let (name, stride) = &f.inputs[at];
    let whole = lane.repeated(c.operand(name)?.width / stride);
    let mut map = HashMap::from([(number(at), Term::bits(lane))]);
    let mut inputs = op.inputs.clone();
    inputs.remove(at);
    for (k, (name, width)) in inputs.iter_mut().enumerate().skip(at) {
        *name = lanes::operand(k);
        map.insert(number(k + 1), Term::var(name, Sort::Bv(*width)));
    }
    let constant = [(name.clone(), whole)];
    Some(LaneOp {
        immediates: op.immediates.iter().cloned().chain(constant).collect(),
        term: replace_vars(op.term, &map),
        inputs,
        ..op.clone()
    })
}

/// A candidate, a width of lanes, and what it does to these, where it does the same to all.
type Open = (usize, u32, Option<&'static LaneFunction>);

/// What operations on so many lanes do that take more numbers than the usual ones.
fn open(candidates: &Candidates, lanes: u32) -> Vec<Open> {
    let more = |c: &Candidate| c.all_constants().any(|known| known.count() > FEW);
    let all = candidates.list.iter().enumerate().filter(|(_, c)| more(c));
    let of = |(index, c): (usize, &Candidate)| {
        let held = |lane: &u32| holds(&candidates.widths, c.width, lanes, *lane);
        let found = WIDTHS.into_iter().filter(held);
        let found = found.map(|lane| (index, lane, c.packed_lane(lane)));
        found.collect::<Vec<Open>>()
    };
    all.flat_map(of).collect()
}

/// Of operations that do the same the cheapest, cheapest first; of those that cost the same the one with
/// the wider result, which more may have a use for.
fn cheapest(candidates: &Candidates, mut all: Vec<Known>) -> Vec<Known> {
    let rank = |known: &Known| {
        let op = &known.op;
        let width = candidates.list[op.candidate].width;
        (
            op.cost,
            op.immediates.len(),
            Reverse(width),
            op.candidate,
            known.lane,
        )
    };
    let values = |known: &Known| -> Vec<Bits> {
        let all = known.op.immediates.iter();
        all.map(|(_, bits)| bits.clone()).collect()
    };
    all.sort_by(|x, y| {
        let first = rank(x).cmp(&rank(y));
        first.then_with(|| values(x).cmp(&values(y)))
    });
    let mut seen: HashSet<OperandFunction> = HashSet::new();
    all.retain(|known| seen.insert((known.op.term, known.op.inputs.clone())));
    all
}

impl Library {
    /// The operations of a base and those that only this window's numbers give.
    pub(crate) fn new(candidates: &Candidates, lanes: u32, numbers: &BTreeSet<u64>) -> Library {
        let base = candidates.base(lanes);
        // What takes no number but the usual ones is in the base.
        let more = |c: &Candidate| {
            let more = |known| usual(known).count() < immediates(known, numbers).len();
            c.all_constants().any(more)
        };
        let mut all = collect(candidates, lanes, &more, &|f| {
            let mut own = all_choices(f, &|constants| immediates(constants, numbers));
            let usual = f.immediates.iter().map(|i| usual(i.2).collect());
            let usual: Vec<Vec<u64>> = usual.collect();
            own.retain(|values| {
                values
                    .iter()
                    .zip(&usual)
                    .any(|(v, usual)| !usual.contains(v))
            });
            own
        });
        all.extend_from_slice(&base.0);
        let mut library = Library {
            ops: Vec::new(),
            index: HashMap::new(),
        };
        for known in cheapest(candidates, all) {
            for &(behaviour, leaves) in known.taken.iter() {
                let list = library.index.entry(behaviour).or_default();
                if list.len() < ALIKE {
                    list.push(Entry {
                        op: library.ops.len(),
                        leaves,
                    });
                }
            }
            library.ops.push(known.op);
        }
        library
    }

    /// The operations that do on the fixed inputs what a fragment does, cheapest first.
    pub(crate) fn find(&self, behaviour: Behaviour) -> &[Entry] {
        self.index.get(&behaviour).map_or(&[], Vec::as_slice)
    }

    /// The meaning of an entry over the fragment's variables.
    pub(crate) fn meaning(&self, entry: &Entry, fragment: &Fragment) -> Term {
        let op = &self.ops[entry.op];
        let widths = fragment.widths();
        let map = op
            .inputs
            .iter()
            .zip(entry.leaves)
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

/// Whether a value of so many bits is read of what holds lanes of a width: all of it, or a low end of which they
/// are the lowest part.
fn is_read(widths: &Widths, width: u32, lanes: u32, lane: u32) -> bool {
    let low_end = lane > 1 && lanes * lane < width && width < widths.narrowest();
    low_end && widths.is_held(width) || holds(widths, width, lanes, lane)
}

/// What a candidate does to lanes of a width, where so many lanes of its operands are held.
fn usable(c: &Candidate, widths: &Widths, lane: u32, lanes: u32) -> Option<&'static LaneFunction> {
    let enough = |f: &&LaneFunction| f.lanes >= lanes && f.lanes.is_power_of_two();
    let f = c.packed_lane(lane).filter(enough)?;
    let fits = |(name, stride): &(String, u32)| {
        WIDTHS.contains(stride)
            && c.operand(name)
                .is_some_and(|o| is_read(widths, o.width, lanes, *stride))
    };
    let few = (1..=fragment::MAX_LEAVES).contains(&f.inputs.len());
    (few && f.inputs.iter().all(fits)).then_some(f)
}

/// A function of operands, named by their places.
pub(crate) type OperandFunction = (Term, Vec<(String, u32)>);

/// What a function does on the fixed inputs, for each order in which it may take them.
pub(crate) type Taken = Vec<(Behaviour, &'static [usize])>;

/// What a function does in each order of its operands, and with one for two of them where it may be wanted of
/// one value twice.
pub(crate) fn taken((term, inputs): &OperandFunction) -> Taken {
    let squares = match inputs[..] {
        [(_, x), (_, y)] if x == y && takes_twice(*term) => SQUARE,
        _ => &[],
    };
    let given = orders(inputs.len()).iter().chain(squares);
    let given: Vec<&'static [usize]> = given.copied().collect();
    let found = fragment::behaviours(*term, inputs, &given);
    found.into_iter().zip(given).collect()
}

/// Whether a function may be wanted of one value twice: squares, tests for a NaN, doubles of bytes, which few
/// machines shift or multiply. Wider elements are shifted and multiplied by other units than those that add.
fn takes_twice(t: Term) -> bool {
    let twice = lanes::signature_of(OpCode::BvMul) | lanes::signature_of(OpCode::FUnord);
    let doubles = t.args_of(OpCode::BvAdd).is_some() && t.width() == 8;
    doubles || lanes::signature([t]) & twice != 0
}

/// One value as both operands.
const SQUARE: &[&[usize]] = &[&[0, 0]];

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
