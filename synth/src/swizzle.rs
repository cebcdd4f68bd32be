//! Data movement: which pieces of which registers an instruction can bring where.
//!
//! In: candidates whose results are pieces of their operands, chosen by constants (index
//! vectors, immediates, controls of networks). Out: [`MoveTable`]s, read off the meaning: for every result
//! element and every value of the few index bits that it looks at, the operand piece that
//! comes out; where it looks at many, each in turn, the ways that lead to pieces ([`network`]). With
//! them [`solve_index`] finds the constants that make one instruction bring
//! given registers into a given order. No movement instruction is known by name.

mod network;

use crate::candidates::Candidate;
use crate::goal::{Goal, leaf};
use crate::matching::{Slot, slot_of};
use network::Network;
use semantics::bits::Bits;
use semantics::build as b;
use semantics::op::OpCode;
use semantics::sort::Sort;
use semantics::subst::{free_vars, rebuild, replace_vars};
use semantics::term::Term;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

impl MoveTable {
    /// The operands of a candidate, of which some choose; no elements.
    fn of(candidate: &Candidate, choosers: &BTreeSet<&'static str>) -> Option<MoveTable> {
        let width = |n: &&str| candidate.operand(n).map(|o| (n.to_string(), o.width));
        let index = choosers.iter().map(width).collect::<Option<_>>()?;
        let formals = candidate.instance.formals.iter();
        let data: Vec<String> = formals
            .filter(|o| !choosers.contains(o.name.as_str()) && !o.role.is_constant())
            .map(|o| o.name.clone())
            .collect();
        (!data.is_empty()).then_some(MoveTable {
            data,
            index,
            elements: Vec::new(),
        })
    }
}

/// Bits of a result.
enum Piece {
    /// A slice of an operand.
    Slot(Slot),
    /// A constant.
    Constant(Bits),
}

/// What comes out of one result element.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Brought {
    /// An element of an operand, by its place in [`MoveTable::data`].
    Element {
        /// The operand.
        data: usize,
        /// The number of the element.
        at: usize,
    },
    /// A constant.
    Constant(Bits),
}

/// A bit of an index operand.
pub(crate) type IndexBit = (&'static str, u32);

/// One result element: what its index bits bring, by ways, which are numbered.
#[derive(Clone, Debug)]
pub(crate) struct ElementMoves {
    /// How index bits lead there.
    pub(crate) ways: Ways,
    /// What comes out. Elements that do the same with their own bits share it.
    pub(crate) pieces: Arc<Pieces>,
}

/// How index bits lead to what comes out.
#[derive(Clone, Debug)]
pub(crate) enum Ways {
    /// Each value of the bits that an element looks at, the least significant first, is a way.
    Table(Vec<IndexBit>),
    /// Each path through a network of choices, of which each looks at one bit, is a way: how the bits
    /// on it are set.
    Network(Vec<Vec<(IndexBit, bool)>>),
}

/// What comes out of an element.
#[derive(Debug)]
pub(crate) struct Pieces {
    /// By way; `None` for anything else.
    pub(crate) by_way: Vec<Option<Brought>>,
    /// By what ways an element of an operand comes out, in order: by operand and element.
    to_element: Vec<Vec<Vec<usize>>>,
    /// By what ways a constant does.
    to_constant: Vec<(Bits, Vec<usize>)>,
}

impl Pieces {
    fn new(by_way: Vec<Option<Brought>>) -> Pieces {
        let mut to_element: Vec<Vec<Vec<usize>>> = Vec::new();
        let mut to_constant: Vec<(Bits, Vec<usize>)> = Vec::new();
        for (way, piece) in by_way.iter().enumerate() {
            match piece {
                Some(Brought::Element { data, at }) => {
                    grown(grown(&mut to_element, *data), *at).push(way);
                }
                Some(Brought::Constant(bits)) => {
                    match to_constant.iter_mut().find(|(known, _)| known == bits) {
                        Some((_, ways)) => ways.push(way),
                        None => to_constant.push((bits.clone(), vec![way])),
                    }
                }
                None => {}
            }
        }
        Pieces {
            by_way,
            to_element,
            to_constant,
        }
    }

    fn ways_to_element(&self, data: usize, at: usize) -> &[usize] {
        let ways = self.to_element.get(data).and_then(|of| of.get(at));
        ways.map_or(&[], Vec::as_slice)
    }

    fn ways_to_constant(&self, wanted: Term) -> &[usize] {
        let bits = wanted.as_bits();
        let known = bits.and_then(|bits| self.to_constant.iter().find(|(known, _)| known == bits));
        known.map_or(&[], |(_, ways)| ways.as_slice())
    }
}

/// A place in a list that is made as long as that needs.
fn grown<T: Default>(list: &mut Vec<T>, at: usize) -> &mut T {
    if list.len() <= at {
        list.resize_with(at + 1, T::default);
    }
    &mut list[at]
}

impl ElementMoves {
    fn ways(&self) -> usize {
        self.pieces.by_way.len()
    }

    /// What comes out by a way.
    fn brought(&self, way: usize) -> Option<&Brought> {
        self.pieces.by_way[way].as_ref()
    }

    /// The ways by which a wanted element comes out of what the data operands hold, in order.
    fn ways_to(&self, sources: &[&Goal], wanted: Term) -> Vec<usize> {
        let mut ways = self.pieces.ways_to_constant(wanted).to_vec();
        for (data, source) in sources.iter().enumerate() {
            let elements = source.elements.iter().enumerate();
            for (at, _) in elements.filter(|(_, t)| **t == Some(wanted)) {
                ways.extend(self.pieces.ways_to_element(data, at));
            }
        }
        ways.sort_unstable();
        ways
    }

    /// Whether an element of a data operand can come out.
    pub(crate) fn brings(&self, data: usize, at: usize) -> bool {
        !self.pieces.ways_to_element(data, at).is_empty()
    }

    /// Whether a wanted element is a constant that can come out.
    pub(crate) fn brings_constant(&self, wanted: Term) -> bool {
        !self.pieces.ways_to_constant(wanted).is_empty()
    }

    /// What comes out when index bits are set so.
    pub(crate) fn brought_by(&self, is_set: impl Fn(IndexBit) -> bool) -> Option<&Brought> {
        self.brought(self.way_by(is_set)?)
    }

    /// The way that is taken when index bits are set so.
    fn way_by(&self, is_set: impl Fn(IndexBit) -> bool) -> Option<usize> {
        match &self.ways {
            Ways::Table(support) => {
                let bits = support.iter().enumerate();
                Some(bits.fold(0, |way, (k, bit)| way | usize::from(is_set(*bit)) << k))
            }
            Ways::Network(paths) => {
                let taken = |path: &Vec<_>| path.iter().all(|(bit, set)| is_set(*bit) == *set);
                paths.iter().position(taken)
            }
        }
    }

    /// Of some ways the first that no settled bit contradicts.
    fn first_free(&self, fixed: &Fixed, ways: impl Iterator<Item = usize>) -> Option<usize> {
        let mut ways = ways;
        match &self.ways {
            Ways::Table(support) => {
                let (known, set) = already(fixed, support);
                ways.find(|way| way & known == set)
            }
            Ways::Network(paths) => {
                let is_free =
                    |(bit, set): &(IndexBit, bool)| fixed.get(bit).is_none_or(|f| f == set);
                ways.find(|way| paths[*way].iter().all(is_free))
            }
        }
    }

    /// Settles the bits of a way.
    fn fix(&self, fixed: &mut Fixed, way: usize) {
        match &self.ways {
            Ways::Table(support) => {
                let bits = support.iter().enumerate();
                fixed.extend(bits.map(|(k, &bit)| (bit, way >> k & 1 == 1)));
            }
            Ways::Network(paths) => fixed.extend(paths[way].iter().copied()),
        }
    }
}

/// Everything that an instruction can move, at one element width.
#[derive(Clone, Debug)]
pub(crate) struct MoveTable {
    /// Operands whose pieces come out.
    pub data: Vec<String>,
    /// Operands that choose, with their widths.
    pub index: Vec<(String, u32)>,
    /// By result element.
    pub elements: Vec<ElementMoves>,
}

/// The most index bits that one element may look at.
const MAX_SUPPORT: usize = 8;
/// The variable that stands for these.
const SUPPORT: &str = "support";

/// Whether a candidate moves elements by a network of choices.
pub(crate) fn is_network(candidate: &Candidate) -> bool {
    let choosers = index_operands(candidate.term());
    let operands = MoveTable::of(candidate, &choosers);
    operands.is_some_and(|table| Network::of(candidate, &choosers, &table.data).is_some())
}

/// The table of a candidate at an element width, when the candidate only moves data.
pub(crate) fn move_table(candidate: &Candidate, element: u32) -> Option<MoveTable> {
    if !candidate.width.is_multiple_of(element) {
        return None;
    }
    // With its loops as loops: written out a network is large.
    let choosers = index_operands(candidate.term());
    if let Some(table) = MoveTable::of(candidate, &choosers)
        && let Some(network) = Network::of(candidate, &choosers, &table.data)
    {
        // Wider elements are moved in parts.
        let natural = element == candidate.natural;
        let elements = natural.then(|| network.elements())??;
        return Some(MoveTable { elements, ..table });
    }
    let choosers = index_operands(semantics::unroll::unroll(candidate.term()));
    let table = MoveTable::of(candidate, &choosers)?;
    // Most that cannot be moved so is seen at the first element.
    let all = (0..candidate.width / element).map(|k| candidate.element(element, k));
    let mut alike = HashMap::new();
    let elements = all.map(|t| element_moves(t, &choosers, &table.data, &mut alike));
    let elements = elements.collect::<Option<_>>()?;
    Some(MoveTable { elements, ..table })
}

/// Operands that stand where an index, an offset or a condition is read.
fn index_operands(t: Term) -> BTreeSet<&'static str> {
    let mut out = BTreeSet::new();
    let mut seen = HashSet::new();
    let mut stack = vec![t];
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

/// What comes out of an element; `alike` has what does of terms over their index bits.
fn element_moves(
    t: Term,
    choosers: &BTreeSet<&'static str>,
    data: &[String],
    alike: &mut HashMap<Term, Arc<Pieces>>,
) -> Option<ElementMoves> {
    let support = support_of(t, choosers)?;
    let own = over_support(t, &support, &mut HashMap::new());
    let pieces = alike
        .entry(own)
        .or_insert_with(|| Arc::new(pieces_of(own, support.len() as u32, data)));
    let any = pieces.by_way.iter().any(Option::is_some);
    any.then(|| ElementMoves {
        ways: Ways::Table(support),
        pieces: Arc::clone(pieces),
    })
}

/// A term with its index bits as those of one variable.
fn over_support(t: Term, support: &[(&'static str, u32)], known: &mut HashMap<Term, Term>) -> Term {
    if let Some(&done) = known.get(&t) {
        return done;
    }
    let first = slot_of(t).and_then(|slot| {
        let first = |(operand, bit): &(&str, u32)| *operand == slot.operand && *bit == slot.lo;
        support.iter().position(first)
    });
    let out = match first {
        Some(at) => {
            let all = Term::var(SUPPORT, Sort::Bv(support.len() as u32));
            b::extract(all, at as u32, t.width())
        }
        None => rebuild(t, |child, _| over_support(child, support, known)),
    };
    known.insert(t, out);
    out
}

/// What comes out of a term over so many index bits, by their value.
fn pieces_of(t: Term, bits: u32, data: &[String]) -> Pieces {
    let element = t.width();
    let brought = |piece| match piece {
        Piece::Constant(bits) => Some(Brought::Constant(bits)),
        Piece::Slot(slot) => Some(Brought::Element {
            data: data.iter().position(|name| name == slot.operand)?,
            at: slot
                .lo
                .is_multiple_of(element)
                .then_some(slot.lo / element)? as usize,
        }),
    };
    let resolved = |value| match bits {
        0 => piece(t),
        _ => resolve(t, &Bits::from_u64(bits, value)),
    };
    let all = (0..1 << bits).map(|value| brought(resolved(value)?));
    Pieces::new(all.collect())
}

/// What a term is when its index bits are these. The usual shapes (a choice, an
/// element at an index, parts of such, several side by side) are followed without building the
/// rest of the term.
fn resolve(t: Term, chosen: &Bits) -> Option<Piece> {
    if let Some(slot) = slot_of(t).filter(|slot| slot.operand != SUPPORT) {
        return Some(Piece::Slot(slot));
    }
    let Some((op, args)) = t.as_app() else {
        return piece(given(t, chosen));
    };
    match op.code {
        OpCode::Ite => {
            if let Some(choice) = truth(args[0], chosen) {
                return resolve(if choice { args[1] } else { args[2] }, chosen);
            }
        }
        OpCode::Concat => {
            return args
                .iter()
                .rev()
                .map(|&part| resolve(part, chosen))
                .reduce(above)?;
        }
        OpCode::Zext => {
            let Piece::Constant(bits) = resolve(args[0], chosen)? else {
                return None;
            };
            return Some(Piece::Constant(bits.zext(t.width())));
        }
        OpCode::Extract => {
            if let (Some(lo), None) = (args[1].as_int(), args[0].as_var()) {
                return resolve(args[0], chosen).map(|of| of.part(lo as u32, t.width()));
            }
        }
        OpCode::Elem => {
            if let Some(at) = number(args[1], chosen) {
                let one = b::app(op, &[args[0], Term::bv(args[1].width(), at.into())]);
                if one.args_of(OpCode::Elem).is_none() {
                    return resolve(one, chosen);
                }
            }
        }
        _ => {}
    }
    piece(given(t, chosen))
}

/// Two pieces as one, the second above the first.
fn above(low: Option<Piece>, high: Option<Piece>) -> Option<Piece> {
    match (low?, high?) {
        (Piece::Constant(low), Piece::Constant(high)) => Some(Piece::Constant(high.concat(&low))),
        (Piece::Slot(low), Piece::Slot(high)) => {
            let follows = low.operand == high.operand && low.lo + low.width == high.lo;
            let width = low.width + high.width;
            follows.then_some(Piece::Slot(Slot { width, ..low }))
        }
        _ => None,
    }
}

impl Piece {
    /// Bits of a piece.
    fn part(self, lo: u32, width: u32) -> Piece {
        match self {
            Piece::Constant(bits) => Piece::Constant(bits.extract(lo, width)),
            Piece::Slot(of) => {
                let lo = of.lo + lo;
                Piece::Slot(Slot { lo, width, ..of })
            }
        }
    }
}

/// A term with its index bits in it.
fn given(t: Term, chosen: &Bits) -> Term {
    replace_vars(t, &HashMap::from([(SUPPORT, Term::bits(chosen.clone()))]))
}

/// The number that a term over index bits is.
fn number(t: Term, chosen: &Bits) -> Option<u64> {
    if let Some(slot) = slot_of(t).filter(|slot| slot.operand == SUPPORT) {
        return chosen.extract(slot.lo, slot.width).to_u64();
    }
    match (t.as_bits(), t.args_of(OpCode::Zext)) {
        (Some(bits), _) => bits.to_u64(),
        (_, Some(inner)) => number(inner[0], chosen),
        _ => given(t, chosen).as_bits().and_then(Bits::to_u64),
    }
}

/// Whether a condition over index bits holds.
fn truth(t: Term, chosen: &Bits) -> Option<bool> {
    let sides = t.as_app().and_then(|(op, args)| match *args {
        [x, y] if x.sort().width().is_some_and(|w| w <= 64) => Some((op.code, x, y)),
        _ => None,
    });
    match sides {
        Some((OpCode::Eq, x, y)) => Some(number(x, chosen)? == number(y, chosen)?),
        Some((OpCode::BvUlt, x, y)) => Some(number(x, chosen)? < number(y, chosen)?),
        _ => given(t, chosen).as_bool(),
    }
}

fn piece(t: Term) -> Option<Piece> {
    t.as_bits()
        .map(|b| Piece::Constant(b.clone()))
        .or_else(|| slot_of(t).map(Piece::Slot))
}

/// The bits of choosers that a term looks at; nothing where it looks at one in a way that is not by
/// constant bits, or at too many.
fn support_of(t: Term, choosers: &BTreeSet<&'static str>) -> Option<Vec<(&'static str, u32)>> {
    let (mut bits, mut seen, mut work) = (BTreeSet::new(), HashSet::new(), vec![t]);
    while let Some(t) = work.pop() {
        if t.as_int().is_some() || !seen.insert(t) {
            continue;
        }
        match slot_of(t) {
            Some(slot) if choosers.contains(slot.operand) => {
                let all = (slot.lo..slot.lo + slot.width).take(MAX_SUPPORT + 1);
                bits.extend(all.map(|bit| (slot.operand, bit)));
                (bits.len() <= MAX_SUPPORT).then_some(())?;
            }
            Some(_) => {}
            None => work.extend(t.children()),
        }
    }
    Some(bits.into_iter().collect())
}

/// The constants for the index operands that bring the wanted elements, given what each data
/// operand holds (goals of the same element width, in the table's order); elements outside are never matched.
pub(crate) fn solve_index(
    table: &MoveTable,
    sources: &[&Goal],
    goal: &Goal,
) -> Option<BTreeMap<String, Bits>> {
    if table.elements.len() != goal.elements.len() {
        return None;
    }
    let wanted = table.elements.iter().zip(&goal.elements);
    let mut choices = Vec::new();
    for (moves, wanted) in wanted.filter_map(|(moves, wanted)| Some((moves, (*wanted)?))) {
        let ways = moves.ways_to(sources, wanted);
        if ways.is_empty() {
            return None;
        }
        choices.push((moves, ways));
    }
    // What one element alone decides for all is found by beginning with the one that leaves least.
    choices.sort_by_key(|(_, ways)| ways.len());
    let Some(((first, ways), others)) = choices.split_first() else {
        return Some(index_of(table, &Fixed::new()));
    };
    ways.iter().find_map(|&way| {
        let mut fixed = Fixed::new();
        first.fix(&mut fixed, way);
        for (moves, ways) in others {
            let way = moves.first_free(&fixed, ways.iter().copied())?;
            moves.fix(&mut fixed, way);
        }
        Some(index_of(table, &fixed))
    })
}

/// The same constants for the wanted elements, with those that nobody wants made the rest of what is moved, in
/// order; and all that is brought so: another register that wants that too finds it there.
pub(crate) fn with_the_rest(
    table: &MoveTable,
    sources: &[&Goal],
    goal: &Goal,
    index: &BTreeMap<String, Bits>,
) -> (BTreeMap<String, Bits>, Goal) {
    let all = || table.elements.iter().zip(&goal.elements);
    let mut fixed = Fixed::new();
    let mut brought: Vec<&Brought> = Vec::new();
    let is_set = |(operand, bit): IndexBit| index.get(operand).is_some_and(|b| b.bit(bit));
    for (moves, _) in all().filter(|(_, wanted)| wanted.is_some()) {
        if let Some(way) = moves.way_by(is_set) {
            moves.fix(&mut fixed, way);
            brought.extend(moves.brought(way));
        }
    }
    for (moves, _) in all().filter(|(_, wanted)| wanted.is_none()) {
        let is_new = |way: &usize| {
            let piece = moves.brought(*way);
            piece.is_some_and(|piece| !brought.contains(&piece))
        };
        if let Some(way) = moves.first_free(&fixed, (0..moves.ways()).filter(is_new)) {
            moves.fix(&mut fixed, way);
            brought.extend(moves.brought(way));
        }
    }
    let index = index_of(table, &fixed);
    let is_set = |bit: IndexBit| fixed.get(&bit).copied().unwrap_or(false);
    let element = |moves: &ElementMoves| match *moves.brought_by(is_set)? {
        Brought::Element { data, at } => sources[data].elements.get(at).copied().flatten(),
        Brought::Constant(ref bits) => Some(Term::bits(bits.clone())),
    };
    let elements = table.elements.iter().map(element).collect();
    let whole = Goal {
        element: goal.element,
        elements,
    };
    (index, whole)
}

/// Index bits that elements have settled.
type Fixed = BTreeMap<IndexBit, bool>;

/// Which of some index bits are settled, and what they are.
fn already(fixed: &Fixed, support: &[IndexBit]) -> (usize, usize) {
    let (mut known, mut set) = (0, 0);
    for (k, key) in support.iter().enumerate() {
        if let Some(&bit) = fixed.get(key) {
            known |= 1 << k;
            set |= usize::from(bit) << k;
        }
    }
    (known, set)
}

/// The index operands of which those bits are settled; the others are zero.
fn index_of(table: &MoveTable, fixed: &Fixed) -> BTreeMap<String, Bits> {
    let zero = table.index.iter().map(|(n, w)| (n.clone(), Bits::zero(*w)));
    let mut index: BTreeMap<String, Bits> = zero.collect();
    for (&(operand, bit), _) in fixed.iter().filter(|(_, set)| **set) {
        if let Some(bits) = index.get_mut(operand) {
            *bits = bits.insert(bit, &Bits::ones(1));
        }
    }
    index
}

/// The inputs that a goal's elements are pieces of, in order of first use.
pub(crate) fn inputs_of(goal: &Goal) -> Vec<&'static str> {
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
