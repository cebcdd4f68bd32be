//! Data movement: which pieces of which registers an instruction can bring where.
//!
//! In: candidates whose results are pieces of their operands, chosen by constants (index
//! vectors, immediates). Out: [`MoveTable`]s, read off the meaning: for every result
//! element and every value of the few index bits that it looks at, the operand piece that
//! comes out. With them [`solve_index`] finds the constants that make one instruction bring
//! given registers into a given order. No movement instruction is known by name.

use crate::candidates::Candidate;
use crate::goal::{Goal, leaf};
use crate::matching::{Slot, slot_of};
use semantics::bits::Bits;
use semantics::op::OpCode;
use semantics::subst::{free_vars, replace_vars};
use semantics::term::Term;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// What comes out of one result element.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Piece {
    /// A slice of an operand.
    Slot(Slot),
    /// A constant.
    Constant(Bits),
}

/// One result element: which index bits it looks at, and what each value of them brings.
#[derive(Clone, Debug)]
pub struct ElementMoves {
    /// Index bits: operand and bit, least significant first.
    pub support: Vec<(&'static str, u32)>,
    /// What comes out, by the value of the support bits; `None` for anything else.
    pub pieces: Vec<Option<Piece>>,
}

/// Everything that an instruction can move, at one element width.
#[derive(Clone, Debug)]
pub struct MoveTable {
    /// Operands whose pieces come out.
    pub data: Vec<String>,
    /// Operands that choose, with their widths.
    pub index: Vec<(String, u32)>,
    /// By result element.
    pub elements: Vec<ElementMoves>,
}

/// The most index bits that one element may look at.
const MAX_SUPPORT: usize = 8;

/// The table of a candidate at an element width, when the candidate only moves data.
pub fn move_table(candidate: &Candidate, element: u32) -> Option<MoveTable> {
    if !candidate.width.is_multiple_of(element) {
        return None;
    }
    let choosers = index_operands(candidate.term());
    let known = |n: &str| candidate.operand(n);
    let index: Vec<(String, u32)> = choosers
        .iter()
        .map(|n| known(n).map(|o| (n.to_string(), o.width)))
        .collect::<Option<_>>()?;
    let data: Vec<String> = candidate
        .instance
        .formals
        .iter()
        .filter(|o| !choosers.contains(o.name.as_str()) && !o.role.is_constant())
        .map(|o| o.name.clone())
        .collect();
    if data.is_empty() {
        return None;
    }
    let elements: Option<Vec<ElementMoves>> = candidate
        .elements(element)
        .into_iter()
        .map(|t| element_moves(t, &choosers))
        .collect();
    Some(MoveTable {
        data,
        index,
        elements: elements?,
    })
}

/// Operands that stand where an index, an offset or a condition is read.
fn index_operands(t: Term) -> BTreeSet<&'static str> {
    let mut out = BTreeSet::new();
    let mut seen = HashSet::new();
    let mut stack = vec![semantics::unroll::unroll(t)];
    while let Some(t) = stack.pop() {
        if !seen.insert(t) {
            continue;
        }
        if let Some((op, args)) = t.as_app() {
            let chooser = match op.code {
                OpCode::Elem | OpCode::Slice => Some(args[1]),
                OpCode::Ite => Some(args[0]),
                _ => None,
            };
            if let Some(c) = chooser {
                out.extend(free_vars(c).iter().filter_map(|v| v.as_var()));
            }
        }
        stack.extend(t.children());
    }
    out
}

fn element_moves(t: Term, choosers: &BTreeSet<&'static str>) -> Option<ElementMoves> {
    let mut bits: BTreeSet<(&'static str, u32)> = BTreeSet::new();
    if !collect_support(t, choosers, &mut bits) || bits.len() > MAX_SUPPORT {
        return None;
    }
    let support: Vec<(&'static str, u32)> = bits.into_iter().collect();
    let widths: HashMap<&'static str, u32> = free_vars(t)
        .into_iter()
        .filter_map(|v| v.as_var().map(|n| (n, v.width())))
        .collect();
    let mut pieces = Vec::with_capacity(1 << support.len());
    for value in 0..1u64 << support.len() {
        let mut chosen: HashMap<&str, Bits> = HashMap::new();
        for (k, &(operand, bit)) in support.iter().enumerate() {
            let entry = chosen
                .entry(operand)
                .or_insert_with(|| Bits::zero(widths[operand]));
            if value >> k & 1 == 1 {
                *entry = entry.insert(bit, &Bits::ones(1));
            }
        }
        let map: HashMap<&str, Term> = chosen
            .into_iter()
            .map(|(n, b)| (n, Term::bits(b)))
            .collect();
        pieces.push(resolve(t, &map));
    }
    pieces
        .iter()
        .any(Option::is_some)
        .then_some(ElementMoves { support, pieces })
}

/// What a term is when the choosers have these values. The usual shapes (a choice, an
/// element at an index) are followed without building the rest of the term.
fn resolve(t: Term, chosen: &HashMap<&str, Term>) -> Option<Piece> {
    if chosen.is_empty() {
        return piece(t);
    }
    if let Some(args) = t.args_of(OpCode::Ite)
        && let Some(choice) = replace_vars(args[0], chosen).as_bool()
    {
        return resolve(if choice { args[1] } else { args[2] }, chosen);
    }
    let shape = t
        .as_app()
        .filter(|(op, a)| op.code == OpCode::Elem && a[0].as_var().is_some());
    if let Some((op, args)) = shape {
        let index = replace_vars(args[1], chosen)
            .as_bits()
            .and_then(Bits::to_u64);
        if let Some(lo) = index.and_then(|n| u32::try_from(n).ok()?.checked_mul(op.params[0])) {
            return piece(semantics::build::extract(args[0], lo, op.params[0]));
        }
    }
    piece(replace_vars(t, chosen))
}

fn piece(t: Term) -> Option<Piece> {
    t.as_bits()
        .map(|b| Piece::Constant(b.clone()))
        .or_else(|| slot_of(t).map(Piece::Slot))
}

/// Collects the bits of choosers that a term looks at; false when it does arithmetic on
/// data, or looks at a chooser in a way that is not by constant bits.
fn collect_support(
    t: Term,
    choosers: &BTreeSet<&'static str>,
    out: &mut BTreeSet<(&'static str, u32)>,
) -> bool {
    if let Some(slot) = slot_of(t) {
        if choosers.contains(slot.operand) {
            if slot.width as usize > MAX_SUPPORT {
                return false;
            }
            out.extend((slot.lo..slot.lo + slot.width).map(|b| (slot.operand, b)));
        }
        return true;
    }
    t.children()
        .filter(|c| c.as_int().is_none())
        .all(|c| collect_support(c, choosers, out))
}

/// The constants for the index operands that bring the wanted elements, given what each data
/// operand holds (as goals of the same element width); elements outside are never matched.
pub fn solve_index(
    table: &MoveTable,
    sources: &BTreeMap<&str, &Goal>,
    goal: &Goal,
) -> Option<BTreeMap<String, Bits>> {
    let mut index: BTreeMap<String, Bits> = table
        .index
        .iter()
        .map(|(n, w)| (n.clone(), Bits::zero(*w)))
        .collect();
    let mut fixed: BTreeMap<(&str, u32), bool> = BTreeMap::new();
    if table.elements.len() != goal.elements.len() {
        return None;
    }
    for (moves, wanted) in table.elements.iter().zip(&goal.elements) {
        let Some(wanted) = wanted else { continue };
        let agrees = |value: usize| {
            moves.support.iter().enumerate().all(|(k, key)| {
                fixed
                    .get(key)
                    .is_none_or(|&bit| bit == (value >> k & 1 == 1))
            })
        };
        let value = (0..moves.pieces.len()).find(|&value| {
            let brings = moves.pieces[value]
                .as_ref()
                .is_some_and(|p| holds(p, sources, *wanted, goal.element));
            brings && agrees(value)
        })?;
        for (k, &key) in moves.support.iter().enumerate() {
            fixed.insert(key, value >> k & 1 == 1);
        }
    }
    for ((operand, bit), _) in fixed.into_iter().filter(|&(_, set)| set) {
        let bits = index.get_mut(operand)?;
        *bits = bits.insert(bit, &Bits::ones(1));
    }
    Some(index)
}

fn holds(piece: &Piece, sources: &BTreeMap<&str, &Goal>, wanted: Term, element: u32) -> bool {
    match piece {
        Piece::Constant(bits) => wanted.as_bits() == Some(bits),
        Piece::Slot(slot) => {
            let Some(source) = sources.get(slot.operand) else {
                return false;
            };
            slot.lo % element == 0
                && source
                    .elements
                    .get((slot.lo / element) as usize)
                    .copied()
                    .flatten()
                    == Some(wanted)
        }
    }
}

/// The inputs that a goal's elements are pieces of, in order of first use.
pub fn inputs_of(goal: &Goal) -> Vec<&'static str> {
    let mut names = Vec::new();
    for t in goal.live() {
        if let Some((name, _)) = leaf(t)
            && !names.contains(&name)
        {
            names.push(name);
        }
    }
    names
}
