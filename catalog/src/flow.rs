//! Which element of an operand goes to which element of a result.
//!
//! In: an instruction of a dictionary. Out: [`Flow`]s, found from its meaning and from nothing
//! else: no name is looked at. A bit that is only moved is told from one that is computed, and
//! what decides (a mask, an index) from what is moved. A constant operand that decides where
//! elements go is given some values, and each of them has a flow of its own.

mod part;
#[cfg(test)]
mod tests;
mod walk;

use autoir::dictionary::{Member, Operation, Returned};
use part::{Part, Range, constant, join, slice};
use semantics::bits::Bits;
use semantics::instruction::{Constants, Operand, Role};
use semantics::term::Term;
use std::collections::{BTreeMap, BTreeSet};
use walk::{Abstract, Walk, Write};

/// The most elements of a result that are followed: pairs of registers of 1,024 bits have so many bytes, and
/// tiles of 16 rows so many elements.
const MAX_ELEMENTS: u32 = 256;

/// The same of results whose elements are single bits or a few.
const MAX_BITS: u32 = 64;

/// Deeper terms are not walked.
const MAX_HEIGHT: u32 = 4_000;

/// What memory at a place that is not known is called.
const MEMORY: &str = "memory";

/// The most values of a constant that are shown.
const SHOWN: usize = 3;

/// Which values of a constant are tried: those that turn and exchange four elements, and small
/// ones.
const RANKS: [u64; 9] = [0x1b, 0x4e, 1, 5, 0x39, 0, 2, 3, 4];

/// How an element takes part.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Way {
    /// Its bits are those of the result, or may be.
    Moved,
    /// The result is computed from it.
    Computed,
    /// It decides what the result is made from.
    Decides,
}

/// Some neighbouring elements of a source that an element of the result depends on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Edge {
    /// Which of [`Flow::sources`].
    pub source: usize,
    /// How.
    pub way: Way,
    /// The first element.
    pub first: u32,
    /// How many.
    pub count: u32,
}

/// An operand, or the memory that it points to (then the name begins with `*`).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Source {
    /// Its name.
    pub name: String,
    /// Bits of an element.
    pub width: u32,
    /// How many elements.
    pub count: u32,
}

/// An element of the result.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Element {
    /// Its value when it is always the same.
    pub constant: Option<Bits>,
    /// What it depends on.
    pub edges: Vec<Edge>,
}

/// The way of the elements to one result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Flow {
    /// The result, or the memory that it is written to.
    pub result: String,
    /// Bits of an element.
    pub width: u32,
    /// Where elements are from, in the order of the operands.
    pub sources: Vec<Source>,
    /// The elements, the least significant first.
    pub elements: Vec<Element>,
    /// Values of constant operands for which this holds; for all when there are none.
    pub given: Vec<(String, u32)>,
}

/// What a flow is like as a whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pattern {
    /// Element `i` of the result is from element `i` of each source, or computed with a single
    /// one.
    Lanewise,
    /// Elements only change their places.
    Moves,
    /// An element of the result is computed from several of a source.
    Gathers,
}

impl Flow {
    /// What it is like.
    pub fn pattern(&self) -> Pattern {
        let edges = || self.elements.iter().flat_map(|e| &e.edges);
        let straight = |(k, element): (usize, &Element)| {
            let fits = |e: &Edge| {
                let source = &self.sources[e.source];
                // A single value that goes to some place is worth a drawing; memory at a place
                // that nobody knows is not.
                let placed = e.way == Way::Moved && source.name != MEMORY;
                let single = source.count == 1 && (!placed || self.elements.len() == 1);
                single || (e.count == 1 && e.first as usize == k && source.count > 1)
            };
            element.edges.iter().all(fits)
        };
        if self.elements.iter().enumerate().all(straight) {
            Pattern::Lanewise
        } else if edges().all(|e| e.way != Way::Computed) {
            Pattern::Moves
        } else {
            Pattern::Gathers
        }
    }

    /// How many elements of other sources than these take part, over all elements.
    fn weight(&self, without: &[&str]) -> u64 {
        let edges = self.elements.iter().flat_map(|e| &e.edges);
        let counted = edges.filter(|e| !without.contains(&&*self.sources[e.source].name));
        counted.map(|e| u64::from(e.count)).sum()
    }

    /// How many elements are always the same.
    fn constants(&self) -> usize {
        self.elements
            .iter()
            .filter(|e| e.constant.is_some())
            .count()
    }
}

/// The flows of an instruction: one for each result, and for the first result one for each
/// value of a constant operand that decides where elements go. Results that cannot be followed
/// have none.
pub fn flows(operation: &Operation, member: &Member) -> Vec<Flow> {
    let mut all = Vec::new();
    for (k, output) in member.outputs.iter().enumerate() {
        let Ok(term) = member.result(operation, k) else {
            continue;
        };
        if term.height() > MAX_HEIGHT {
            continue;
        }
        let general = flow(member, output, term, &[]);
        let special = match &general {
            Some(flow) if flow.pattern() == Pattern::Lanewise => Vec::new(),
            _ => specialised(member, output, term, general.as_ref()),
        };
        match special.is_empty() {
            true => all.extend(general),
            false => all.extend(special),
        }
    }
    all
}

/// The flows for some values of the constant operands; none when these change nothing. Values
/// that move something come first, and of those the ones that leave most elements alive.
fn specialised(
    member: &Member,
    output: &Returned,
    term: Term,
    general: Option<&Flow>,
) -> Vec<Flow> {
    let chosen: Vec<(&Operand, Constants)> = member
        .operands
        .iter()
        .filter_map(|o| Some((o, o.role.constants()?)))
        .collect();
    let names: Vec<&str> = chosen.iter().map(|(o, _)| o.name.as_str()).collect();
    let mut found: Vec<Flow> = Vec::new();
    for rank in RANKS.iter().filter(|_| !chosen.is_empty()) {
        let given: Vec<(&str, u32, Bits)> = chosen
            .iter()
            .filter_map(|(o, c)| {
                let value = c.nth(rank % c.count())?;
                Some((&*o.name, value, Bits::from_u64(o.width, u64::from(value))))
            })
            .collect();
        let Some(flow) = flow(member, output, term, &given) else {
            return Vec::new();
        };
        if !found.iter().any(|f| f.elements == flow.elements) {
            found.push(flow);
        }
    }
    let most = general.map_or(u64::MAX, |flow| flow.weight(&names));
    if found.iter().all(|flow| flow.weight(&names) >= most) {
        return Vec::new();
    }
    found.sort_by_key(|flow| (flow.pattern() == Pattern::Lanewise, flow.constants()));
    found.truncate(SHOWN);
    found
}

/// The flow to one result, for these constants; nothing when it cannot be followed.
fn flow(
    member: &Member,
    output: &Returned,
    term: Term,
    given: &[(&str, u32, Bits)],
) -> Option<Flow> {
    let names: Vec<&str> = member.operands.iter().map(|o| o.name.as_str()).collect();
    let constants: Vec<(&str, Bits)> = given.iter().map(|g| (g.0, g.2.clone())).collect();
    let found = Walk::new(&names, &constants).of(term);
    let (parts, result) = match &*found {
        Abstract::Bits(parts) => (join(parts.clone()), output.name.clone()),
        Abstract::Mem(writes) => written(writes, &names)?,
        _ => return None,
    };
    let total: u32 = parts.iter().map(|p| p.width).sum();
    let typed = |o: &Operand| o.element.width().filter(|_| o.role == Role::Register);
    let other = || member.operands.iter().find_map(typed);
    let declared = output.element.width().or_else(other);
    let width = element_width(&parts, declared, total);
    let most = if width < 8 { MAX_BITS } else { MAX_ELEMENTS };
    if total == 0 || total / width > most {
        return None;
    }
    let pieces: Vec<Vec<Part>> = (0..total / width)
        .map(|k| join(slice(&parts, k * width, width)))
        .collect();
    let sources = Sources::of(member, &pieces, width)?;
    let elements = pieces.iter().map(|p| sources.element(p)).collect();
    Some(Flow {
        result,
        width,
        elements,
        sources: sources.list,
        given: given.iter().map(|g| (g.0.to_owned(), g.1)).collect(),
    })
}

/// The bytes that are written through one operand, when they have no gaps.
fn written(writes: &[Write], names: &[&str]) -> Option<(Vec<Part>, String)> {
    let mut pieces = BTreeMap::new();
    let (operand, _) = writes.first()?.at?;
    for write in writes {
        let (o, at) = write.at?;
        if o != operand || pieces.insert(at, &write.parts).is_some() {
            return None;
        }
    }
    let (mut parts, mut next) = (Vec::new(), 0);
    for (at, piece) in pieces {
        if at != next {
            return None;
        }
        next += i64::from(piece.iter().map(|p| p.width).sum::<u32>() / 8);
        parts.extend(piece.iter().cloned());
    }
    Some((join(parts), format!("*{}", names.get(operand)?)))
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Bits of an element: what the type says; for what is only moved, the largest pieces that
/// move as one, where these are smaller or the type says nothing.
fn element_width(parts: &[Part], declared: Option<u32>, total: u32) -> u32 {
    let mut pieces = total;
    let mut at = 0;
    for part in parts {
        at += part.width;
        pieces = gcd(pieces, at);
    }
    let declared = declared.filter(|w| total.is_multiple_of(*w));
    let only_moves = parts.iter().all(|p| p.moved);
    match declared {
        Some(w) if only_moves => gcd(w, pieces).max(1),
        Some(w) => w,
        None => gcd(pieces, 64),
    }
}

/// The sources of a flow, and which elements of them a range is.
struct Sources {
    /// Operand (or memory) to its place in the list.
    places: BTreeMap<usize, usize>,
    list: Vec<Source>,
}

impl Sources {
    fn of(member: &Member, pieces: &[Vec<Part>], width: u32) -> Option<Sources> {
        let mut used: BTreeMap<usize, Vec<Range>> = BTreeMap::new();
        for part in pieces.iter().flatten() {
            for range in part.from().into_iter().chain(part.by.iter().copied()) {
                used.entry(range.operand).or_default().push(range);
            }
        }
        let (mut places, mut list) = (BTreeMap::new(), Vec::new());
        for (operand, ranges) in used {
            places.insert(operand, list.len());
            list.push(source(member, operand, &ranges, width)?);
        }
        Some(Sources { places, list })
    }

    fn element(&self, parts: &[Part]) -> Element {
        let mut edges = BTreeSet::new();
        let way = match parts.iter().all(|p| p.moved) {
            true => Way::Moved,
            false => Way::Computed,
        };
        for part in parts {
            edges.extend(part.from().iter().map(|r| self.edge(r, way)));
            edges.extend(part.by.iter().map(|r| self.edge(r, Way::Decides)));
        }
        Element {
            constant: constant(parts),
            edges: runs(edges),
        }
    }

    fn edge(&self, range: &Range, way: Way) -> Edge {
        let source = self.places[&range.operand];
        let Source { width, count, .. } = self.list[source];
        let first = (range.lo / width).min(count - 1);
        let end = (range.lo + range.width).div_ceil(width).min(count);
        Edge {
            source,
            way,
            first,
            count: (end - first).max(1),
        }
    }
}

/// Neighbours that take part in the same way as one edge; what is moved stays apart, for there
/// several elements mean that it is one of them.
fn runs(edges: BTreeSet<Edge>) -> Vec<Edge> {
    let mut out: Vec<Edge> = Vec::with_capacity(edges.len());
    for edge in edges {
        match out.last_mut() {
            Some(last)
                if (last.source, last.way) == (edge.source, edge.way)
                    && edge.way != Way::Moved
                    && edge.first <= last.first + last.count =>
            {
                let end = (edge.first + edge.count).max(last.first + last.count);
                last.count = end - last.first;
            }
            _ => out.push(edge),
        }
    }
    out
}

/// An operand as elements: as its type says, in smaller ones where only parts are read.
fn source(member: &Member, operand: usize, ranges: &[Range], width: u32) -> Option<Source> {
    let operands = &member.operands;
    if operand == 2 * operands.len() {
        return Some(Source {
            name: MEMORY.to_owned(),
            width,
            count: 1,
        });
    }
    let pieces = ranges.iter().fold(0, |g, r| gcd(gcd(g, r.lo), r.width));
    if operand >= operands.len() {
        let pointer = operands.get(operand - operands.len())?;
        let end = ranges.iter().map(|r| r.lo + r.width).max()?;
        let width = gcd(width, pieces);
        return Some(Source {
            name: format!("*{}", pointer.name),
            width,
            count: end.checked_div(width)?.max(1),
        });
    }
    let operand = &operands[operand];
    let width = match (operand.element.width(), operand.role) {
        (_, role) if role.is_constant() => operand.width,
        (_, Role::Pointer { .. }) => operand.width,
        (Some(w), _) if operand.width.is_multiple_of(w) && pieces % w == 0 => w,
        (Some(w), _) if operand.width.is_multiple_of(w) => match gcd(w, pieces) {
            small if small >= 8 => small,
            _ => w,
        },
        _ if pieces < 8 => gcd(gcd(operand.width, whole_pieces(ranges)), 64),
        _ => gcd(gcd(operand.width, pieces), 64),
    };
    Some(Source {
        name: operand.name.clone(),
        width: width.max(1),
        count: operand.width.checked_div(width)?.max(1),
    })
}

/// The largest pieces that ranges are made of, without those that lie in others: where a number is extended,
/// its highest bit is read once more by itself.
fn whole_pieces(ranges: &[Range]) -> u32 {
    let mut sorted: Vec<(u32, u32)> = ranges.iter().map(|r| (r.lo, r.lo + r.width)).collect();
    sorted.sort_by_key(|&(lo, end)| (lo, std::cmp::Reverse(end)));
    let (mut pieces, mut reached) = (0, 0);
    for (lo, end) in sorted {
        if end > reached {
            pieces = gcd(gcd(pieces, lo), end - lo);
            reached = end;
        }
    }
    pieces
}
