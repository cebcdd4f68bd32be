//! Sums of terms over counters, in a form in which equal ones are found to be so.
//!
//! In: a term that adds, sums over rounds of loops among its parts. Out: [`Sums`]: for each kind of
//! part the boxes of places at which it is added. How loops are nested, cut in pieces or written out
//! does not show: boxes that lie one behind the other are one. Integers that wrap are added in any
//! order. What is added may be a function of sums, as in a product of a product: these are parts of a
//! kind by their shape, and their places move with the rest (module `nested`).

pub(crate) mod nested;
mod written;

use crate::linear::{Counter, Linear, Replaced};
use crate::places::same_places;
use crate::stop::Stop;
use crate::value::{Leaf, Leaves, NUMBER};
use semantics::bits::Bits;
use semantics::build as b;
use semantics::op::OpCode;
use semantics::subst::{free_vars, replace_vars};
use semantics::term::Term;
use std::collections::BTreeMap;

/// An element that a part is made of: its array, its bits, which one. A number that a loop moves is
/// an element of no array.
pub(crate) type Place = (Option<u32>, u32, Linear);

/// A counter of a box: its rounds, and by how much they move each place.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Side {
    pub(crate) steps: Vec<i64>,
    pub(crate) rounds: i64,
}

/// Places at which a kind of part is added.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Box {
    pub(crate) places: Vec<Place>,
    pub(crate) sides: Vec<Side>,
    /// How often, as a number that wraps.
    pub(crate) times: i128,
}

/// A sum of constants and of parts of several kinds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sums {
    pub(crate) width: u32,
    pub(crate) constant: i128,
    /// By kind: the part with variables for its places.
    pub(crate) kinds: BTreeMap<Term, Vec<Box>>,
}

/// A part with the counters over which it is added.
#[derive(Clone)]
struct Part {
    term: Term,
    counters: Vec<Counter>,
    times: i128,
}

/// The most parts that are told apart.
const MOST_PARTS: usize = 1 << 16;

/// The form of a term that adds.
///
/// # Errors
/// When it has too many parts, or one of them is not a function of elements.
pub(crate) fn sums(leaves: &mut Leaves, term: Term) -> Result<Sums, Stop> {
    sums_in(leaves, term, &[])
}

/// The same inside of a part that is added over some counters.
fn sums_in(leaves: &mut Leaves, term: Term, around: &[Counter]) -> Result<Sums, Stop> {
    let width = term.width();
    let mut out = Sums {
        width,
        ..Sums::default()
    };
    let mut work = vec![Part {
        term,
        counters: Vec::new(),
        times: 1,
    }];
    let mut count = 0;
    while let Some(part) = work.pop() {
        count += 1;
        if count > MOST_PARTS {
            return Err(Stop::because("a sum has too many parts"));
        }
        if let Some(more) = taken_apart(leaves, &part)? {
            work.extend(more);
            continue;
        }
        if let Some(bits) = part.term.as_bits() {
            let rounds = part
                .counters
                .iter()
                .map(|c| i128::from(leaves.counters.rounds(*c)));
            let times = rounds.fold(part.times, |a, b| wrapped(a.wrapping_mul(b), width));
            let more =
                multiple(bits, times).ok_or_else(|| Stop::because("a constant is too wide"))?;
            out.constant = wrapped(out.constant.wrapping_add(more), width);
            continue;
        }
        let (kind, found) = boxed(leaves, part, around, width)?;
        out.kinds.entry(kind).or_default().push(found);
    }
    for boxes in out.kinds.values_mut() {
        joined(boxes, width);
    }
    out.kinds.retain(|_, boxes| !boxes.is_empty());
    Ok(out)
}

pub(crate) fn wrapped(n: i128, width: u32) -> i128 {
    match width {
        128.. => n,
        _ => n.rem_euclid(1_i128 << width),
    }
}

/// So many times a constant, as a number that wraps at 128 bits; none of more bits.
fn multiple(bits: &Bits, times: i128) -> Option<i128> {
    Some(times.wrapping_mul(bits.to_u128()?.cast_signed()))
}

/// The parts of a part, where it is a sum, a difference or a multiple.
fn taken_apart(leaves: &mut Leaves, part: &Part) -> Result<Option<Vec<Part>>, Stop> {
    let of = |term: Term, times: i128| Part {
        term,
        counters: part.counters.clone(),
        times,
    };
    let width = part.term.width();
    if let Some(args) = part.term.args_of(OpCode::BvAdd) {
        return Ok(Some(args.iter().map(|a| of(*a, part.times)).collect()));
    }
    if let Some([x, y]) = part.term.args_of(OpCode::BvSub) {
        return Ok(Some(vec![
            of(*x, part.times),
            of(*y, wrapped(-part.times, width)),
        ]));
    }
    if let Some([x]) = part.term.args_of(OpCode::BvNeg) {
        return Ok(Some(vec![of(*x, wrapped(-part.times, width))]));
    }
    if let Some([x, y]) = part.term.args_of(OpCode::BvMul)
        && let Some(n) = y.as_bits().filter(|_| width <= 64)
        && adds(leaves, *x)
    {
        let times = part.times.wrapping_mul(i128::from(n.low_u64()));
        return Ok(Some(vec![of(*x, wrapped(times, width))]));
    }
    if let Some(Leaf::Sum(bound, body)) = leaves.leaf(part.term).cloned() {
        let rounds = leaves.counters.rounds(bound);
        let counter = leaves.counters.fresh(rounds);
        let body = leaves.with(body, &Replaced::one(bound, Linear::counter(counter)))?;
        let mut inner = of(body, part.times);
        inner.counters.push(counter);
        return Ok(Some(vec![inner]));
    }
    // The low bits of a sum are the sum of low bits.
    if let Some((op, [x, low])) = part.term.as_app()
        && op.code == OpCode::Extract
        && low.as_int() == Some(0)
        && adds(leaves, *x)
    {
        let parts = match leaves.leaf(*x).cloned() {
            Some(Leaf::Sum(bound, body)) => {
                let rounds = leaves.counters.rounds(bound);
                let counter = leaves.counters.fresh(rounds);
                let body = leaves.with(body, &Replaced::one(bound, Linear::counter(counter)))?;
                let mut inner = of(b::extract(body, 0, width), part.times);
                inner.counters.push(counter);
                vec![inner]
            }
            _ => {
                let args = x.args_of(OpCode::BvAdd).unwrap_or_default();
                let low = args
                    .iter()
                    .map(|a| of(b::extract(*a, 0, width), part.times));
                low.collect()
            }
        };
        return Ok(Some(parts));
    }
    Ok(None)
}

/// Whether a term is a sum.
pub(crate) fn adds(leaves: &Leaves, term: Term) -> bool {
    let sum = matches!(leaves.leaf(term), Some(Leaf::Sum(..)));
    let code = |code| term.args_of(code).is_some();
    let negated = term
        .args_of(OpCode::BvNeg)
        .is_some_and(|a| adds(leaves, a[0]));
    sum || code(OpCode::BvAdd) || code(OpCode::BvSub) || negated
}

/// Whether sums over rounds occur in a part only as what is added; `strict` says that no sum may occur
/// otherwise.
pub(crate) fn linear(leaves: &Leaves, part: Term, strict: bool) -> bool {
    if matches!(leaves.leaf(part), Some(Leaf::Sum(..))) {
        return true;
    }
    let inner = match part.as_app() {
        Some((op, [x])) if op.code == OpCode::BvNeg => Some(*x),
        Some((op, [x, low])) if op.code == OpCode::Extract && low.as_int() == Some(0) => Some(*x),
        Some((op, [x, by])) if op.code == OpCode::BvMul && by.as_bits().is_some() => Some(*x),
        _ => None,
    };
    if inner.is_some_and(|x| adds(leaves, x) && linear(leaves, x, strict)) {
        return true;
    }
    if let Some(args) = part.args_of(OpCode::BvAdd) {
        return args.iter().all(|a| linear(leaves, *a, strict));
    }
    if strict {
        let (mut seen, mut work) = (std::collections::HashSet::new(), vec![part]);
        while let Some(next) = work.pop() {
            if adds(leaves, next) {
                return false;
            }
            work.extend(next.children().filter(|c| seen.insert(*c)));
        }
        return true;
    }
    let variables = leaves.variables(part);
    !variables
        .iter()
        .any(|v| matches!(leaves.leaf(*v), Some(Leaf::Sum(..))))
}

/// What a part is made of, with the places where that lies.
struct Piece {
    /// Its variable in the part.
    variable: Term,
    /// The shape of the sum that it is; none of an element.
    shape: Option<u32>,
    places: Vec<Place>,
}

/// What a part is a function of: elements, and sums inside of it.
fn pieces(
    leaves: &mut Leaves,
    part: &Part,
    around: &[Counter],
) -> Result<(Term, Vec<Piece>), Stop> {
    let (term, mut out) = nested::taken_out(leaves, part.term, around)?;
    for variable in free_vars(term) {
        let place = match leaves.leaf(variable) {
            Some(Leaf::Element(array, at, bits)) => (Some(*array), *bits, at.clone()),
            Some(Leaf::Number(at)) => (None, NUMBER, at.clone()),
            _ => {
                if part.counters.iter().any(|c| leaves.mentions(variable, *c)) {
                    return Err(Stop::because("what a loop carries is added up"));
                }
                continue;
            }
        };
        out.push(Piece {
            variable,
            shape: None,
            places: vec![place],
        });
    }
    Ok((term, out))
}

/// Pieces in an order that is the same however rounds are cut or written out: as they lie in the first
/// one, where factors of one array are told apart by what moves them.
fn in_order(pieces: Vec<Piece>, counters: &[Counter]) -> Result<Vec<Piece>, Stop> {
    let mut sorted = Vec::new();
    for piece in pieces {
        let mut firsts = Vec::new();
        for place in &piece.places {
            let mut first = place.2.clone();
            for counter in counters {
                first = first.with(&Replaced::one(*counter, Linear::default()))?;
            }
            firsts.push((place.0, place.1, first.base, first.terms, first.constant));
        }
        sorted.push(((piece.shape, firsts), piece));
    }
    sorted.sort_by(|a, b| (&a.0, a.1.variable).cmp(&(&b.0, b.1.variable)));
    Ok(sorted.into_iter().map(|s| s.1).collect())
}

/// A part as a kind and the places where it is added.
fn boxed(
    leaves: &mut Leaves,
    part: Part,
    around: &[Counter],
    width: u32,
) -> Result<(Term, Box), Stop> {
    let around = [around, &part.counters].concat();
    let (term, all) = pieces(leaves, &part, &around)?;
    let (mut names, mut places) = (Vec::new(), Vec::new());
    for piece in in_order(all, &around)? {
        let own = match piece.shape {
            None => Term::var(&format!("%{}", places.len()), piece.variable.sort()),
            Some(shape) => nested::variable(shape, places.len(), piece.variable.width()),
        };
        names.extend(piece.variable.as_var().map(|name| (name, own)));
        places.extend(piece.places);
    }
    let kind = replace_vars(term, &names.into_iter().collect());
    let (mut sides, mut times) = (Vec::new(), part.times);
    for counter in part.counters {
        let rounds = leaves.counters.rounds(counter);
        let steps: Vec<i64> = places.iter().map(|p| p.2.factor(counter)).collect();
        match steps.iter().all(|s| *s == 0) {
            true => times = wrapped(times.wrapping_mul(i128::from(rounds)), width),
            false => sides.push(Side { steps, rounds }),
        }
        let first = Replaced::one(counter, Linear::default());
        for place in &mut places {
            place.2 = place.2.with(&first)?;
        }
    }
    let found = Box {
        places,
        sides,
        times,
    };
    Ok((kind, found.tidied()?))
}

impl Box {
    /// Whether a number that loops move is among its places.
    fn has_numbers(&self) -> bool {
        self.places.iter().any(|p| p.0.is_none())
    }

    /// Steps forward, none that only goes on where another ends, in order.
    fn tidied(mut self) -> Result<Box, Stop> {
        for side in &mut self.sides {
            let first = side.steps.iter().find(|s| **s != 0);
            if first.is_some_and(|s| *s < 0) {
                for (place, step) in self.places.iter_mut().zip(&mut side.steps) {
                    let by = step.checked_mul(side.rounds - 1);
                    let by = by.ok_or_else(|| Stop::because("a place is far away"))?;
                    place.2 = place.2.offset(by)?;
                    *step = -*step;
                }
            }
        }
        self.sides.retain(|s| s.rounds > 1);
        loop {
            self.sides.sort();
            let all =
                (0..self.sides.len()).flat_map(|p| (0..self.sides.len()).map(move |q| (p, q)));
            let mut goes_on = all.filter(|&(p, q)| p != q).filter(|&(p, q)| {
                let (outer, inner) = (&self.sides[p], &self.sides[q]);
                let far = inner.steps.iter().map(|s| s.checked_mul(inner.rounds));
                outer.steps.iter().zip(far).all(|(s, f)| f == Some(*s))
            });
            let Some((p, q)) = goes_on.next() else {
                return Ok(self);
            };
            let more = self.sides[p].rounds;
            self.sides[q].rounds = self.sides[q].rounds.saturating_mul(more);
            self.sides.remove(p);
        }
    }

    /// How often it goes on along such steps, and its other sides.
    fn along(&self, steps: &[i64]) -> (i64, Vec<&Side>) {
        let rounds = self
            .sides
            .iter()
            .find(|s| s.steps == steps)
            .map_or(1, |s| s.rounds);
        (
            rounds,
            self.sides.iter().filter(|s| s.steps != steps).collect(),
        )
    }

    /// How many steps another one begins behind it, when it does.
    fn steps_to(&self, other: &Box, steps: &[i64]) -> Option<i64> {
        let mut found = None;
        for ((a, b), step) in self.places.iter().zip(&other.places).zip(steps) {
            // One array goes nowhere on where another one ends.
            if (a.0, a.1) != (b.0, b.1) {
                return None;
            }
            let apart = b.2.apart(&a.2)?;
            let count = match step {
                0 if apart == 0 => continue,
                0 => return None,
                step if apart % step != 0 => return None,
                step => apart / step,
            };
            if *found.get_or_insert(count) != count {
                return None;
            }
        }
        found
    }

    /// Both as one, when the other one goes on where it ends.
    fn with_next(&self, other: &Box, steps: &[i64]) -> Option<Box> {
        // Most lie elsewhere, which is asked first.
        let far = self.steps_to(other, steps)?;
        let ((own, sides), (more, others)) = (self.along(steps), other.along(steps));
        if self.times != other.times || far != own || sides != others {
            return None;
        }
        let mut joined = self.clone();
        joined.sides.retain(|s| s.steps != steps);
        joined.sides.push(Side {
            steps: steps.to_vec(),
            rounds: own + more,
        });
        joined.tidied().ok()
    }
}

/// Boxes that lie one behind the other become one, along their own sides.
fn joined(boxes: &mut Vec<Box>, width: u32) {
    let each = boxes.iter().flat_map(|b| &b.sides);
    let mut sides: Vec<Vec<i64>> = each.map(|s| s.steps.clone()).collect();
    // Innermost first: whole lines before whole planes.
    let size = |s: &Vec<i64>| s.iter().map(|n| n.unsigned_abs()).max();
    sides.sort_by(|a, b| (size(a), a).cmp(&(size(b), b)));
    sides.dedup();
    loop {
        let before = boxes.len();
        same(boxes, width);
        for steps in &sides {
            join_along(boxes, steps);
        }
        if boxes.len() == before {
            boxes.sort();
            return;
        }
    }
}

/// Equal boxes are one, so often.
fn same(boxes: &mut Vec<Box>, width: u32) {
    boxes.sort();
    let mut out: Vec<Box> = Vec::new();
    for next in boxes.drain(..) {
        match out
            .last_mut()
            .filter(|b| b.places == next.places && b.sides == next.sides)
        {
            Some(last) => last.times = wrapped(last.times + next.times, width),
            None => out.push(next),
        }
    }
    out.retain(|b| b.times != 0);
    *boxes = out;
}

fn join_along(boxes: &mut Vec<Box>, steps: &[i64]) {
    let mut at = 0;
    while at < boxes.len() {
        let next = (0..boxes.len())
            .filter(|k| *k != at)
            .find_map(|k| Some((k, boxes[at].with_next(&boxes[k], steps)?)));
        match next {
            Some((k, joined)) => {
                boxes[at] = joined;
                boxes.remove(k);
                at -= usize::from(k < at);
            }
            None => at += 1,
        }
    }
}

impl Sums {
    /// The same, taken away.
    pub(crate) fn negated(&self) -> Sums {
        let mut out = self.clone();
        for of in out.kinds.values_mut().flatten() {
            of.times = wrapped(-of.times, self.width);
        }
        out.constant = wrapped(-out.constant, self.width);
        out
    }

    /// Whether both may be equal but for constants: they have as many parts, or numbers that may be
    /// constants.
    pub(crate) fn may_be(&self, other: &Sums) -> bool {
        if self.has_numbers() || other.has_numbers() {
            return true;
        }
        let parts = |s: &Sums| {
            let boxes = s.kinds.values().flatten();
            let sizes = boxes.map(|b| {
                let rounds = b.sides.iter().map(|s| i128::from(s.rounds));
                b.times.wrapping_mul(rounds.product::<i128>())
            });
            wrapped(sizes.fold(0, i128::wrapping_add), s.width)
        };
        let first = |s: &Sums| s.kinds.values().flatten().map(|b| b.places.clone()).min();
        parts(self) == parts(other) && first(self) == first(other)
    }

    /// Whether numbers that loops move are added, or multiply what is.
    pub(crate) fn has_numbers(&self) -> bool {
        self.kinds.values().flatten().any(Box::has_numbers)
    }

    /// The constant that is more in this one, where both add the same but for constants; `alike` says
    /// whether two kinds are one.
    pub(crate) fn more_than(
        &self,
        other: &Sums,
        alike: &mut dyn FnMut(Term, Term) -> bool,
    ) -> Option<i128> {
        let more = |a: &Sums, b: &Sums| wrapped(a.constant - b.constant, a.width);
        if self.adds_alike(other, alike) {
            return Some(more(self, other));
        }
        if !self.has_numbers() && !other.has_numbers() {
            return None;
        }
        let (a, b) = (self.written_out()?, other.written_out()?);
        a.adds_alike(&b, alike).then(|| more(&a, &b))
    }

    fn adds_alike(&self, other: &Sums, alike: &mut dyn FnMut(Term, Term) -> bool) -> bool {
        if self.width != other.width || self.kinds.len() != other.kinds.len() {
            return false;
        }
        let mut left: Vec<Term> = other.kinds.keys().copied().collect();
        self.kinds.iter().all(|(kind, boxes)| {
            let mut candidates = left.iter().enumerate();
            let found = candidates.find(|(_, k)| {
                let (a, b) = (boxes, &other.kinds[k]);
                same_places(a, b, self.width) && (*k == kind || alike(*kind, **k))
            });
            let Some(at) = found.map(|f| f.0) else {
                return false;
            };
            left.swap_remove(at);
            true
        })
    }
}
