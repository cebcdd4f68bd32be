//! From one question about registers to few questions about elements.
//!
//! In: two flat terms. Out: the pieces in which they are to be compared ([`pieces`]) and,
//! for each piece, the question with its inputs renamed to their order of appearance
//! ([`Question`]), so that lanes that say the same become one question. It asks nothing.

use crate::verdict::Model;
use semantics::bits::Bits;
use semantics::build;
use semantics::op::OpCode;
use semantics::sort::Sort;
use semantics::subst::rebuild;
use semantics::term::{Kind, Term};
use semantics::value::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The widest piece of a register whose bits are independent of each other.
const BITWISE_PIECE: u32 = 64;

/// Where a term may be cut without cutting through an operator.
#[derive(Clone)]
enum Cuts {
    /// Anywhere: whole inputs, constants, bitwise operators on such.
    Anywhere,
    /// At these bits (0 and the width not counted).
    At(BTreeSet<u32>),
}

fn cuts(t: Term, memo: &mut HashMap<Term, Cuts>) -> Cuts {
    if let Some(known) = memo.get(&t) {
        return known.clone();
    }
    let Some((op, args)) = t.as_app() else {
        return if matches!(t.kind(), Kind::Var { .. } | Kind::Bv(_)) {
            Cuts::Anywhere
        } else {
            Cuts::At(BTreeSet::new())
        };
    };
    let found = match op.code {
        OpCode::Concat => Cuts::At(concat_cuts(args, memo)),
        OpCode::BvNot | OpCode::BvAnd | OpCode::BvOr | OpCode::BvXor => common(args, memo),
        OpCode::Ite => common(&args[1..], memo),
        OpCode::Extract if matches!(args[0].kind(), Kind::Var { .. }) => Cuts::Anywhere,
        OpCode::Zext | OpCode::Sext => {
            let mut at = inner_cuts(args[0], 0, memo);
            if !at.is_empty() {
                at.insert(args[0].width());
            }
            Cuts::At(at)
        }
        _ => Cuts::At(BTreeSet::new()),
    };
    memo.insert(t, found.clone());
    found
}

fn concat_cuts(parts: &[Term], memo: &mut HashMap<Term, Cuts>) -> BTreeSet<u32> {
    let mut at = BTreeSet::new();
    let mut start = 0;
    for &part in parts.iter().rev() {
        at.extend(inner_cuts(part, start, memo));
        start += part.width();
        at.insert(start);
    }
    at.remove(&start);
    at
}

/// The cuts of a part that begins at some bit; one that may be cut anywhere is left whole.
fn inner_cuts(part: Term, start: u32, memo: &mut HashMap<Term, Cuts>) -> BTreeSet<u32> {
    match cuts(part, memo) {
        Cuts::Anywhere => BTreeSet::new(),
        Cuts::At(at) => at.into_iter().map(|c| c + start).collect(),
    }
}

/// Cuts that all terms allow.
fn common(terms: &[Term], memo: &mut HashMap<Term, Cuts>) -> Cuts {
    terms
        .iter()
        .fold(Cuts::Anywhere, |all, &t| match (all, cuts(t, memo)) {
            (Cuts::Anywhere, c) | (c, Cuts::Anywhere) => c,
            (Cuts::At(a), Cuts::At(b)) => Cuts::At(a.intersection(&b).copied().collect()),
        })
}

/// The pieces (first bit, width) in which two terms of one width are compared: the coarsest
/// ones that cut through no operator of either, or of one where they have none in common.
pub(crate) fn pieces(a: Term, b: Term) -> Vec<(u32, u32)> {
    let Sort::Bv(width) = a.sort() else {
        return Vec::new();
    };
    let mut memo = HashMap::new();
    let at = match (cuts(a, &mut memo), cuts(b, &mut memo)) {
        (Cuts::Anywhere, Cuts::Anywhere) => (1..width.div_ceil(BITWISE_PIECE))
            .map(|k| k * BITWISE_PIECE)
            .collect(),
        (Cuts::Anywhere, Cuts::At(c)) | (Cuts::At(c), Cuts::Anywhere) => c,
        (Cuts::At(c), Cuts::At(d)) => {
            let both: BTreeSet<u32> = c.intersection(&d).copied().collect();
            if both.is_empty() {
                c.union(&d).copied().collect()
            } else {
                both
            }
        }
    };
    let ends: Vec<u32> = at
        .into_iter()
        .filter(|&c| c > 0 && c < width)
        .chain([width])
        .collect();
    let starts = std::iter::once(0).chain(ends.iter().copied());
    starts.zip(&ends).map(|(lo, hi)| (lo, hi - lo)).collect()
}

/// The parts of pieces that lie in live ranges (first bit, bit after the last).
pub(crate) fn live(pieces: &[(u32, u32)], live: &[(u32, u32)]) -> Vec<(u32, u32)> {
    let mut out = Vec::new();
    for &(lo, width) in pieces {
        for &(from, to) in live {
            let (start, end) = (lo.max(from), (lo + width).min(to));
            if start < end {
                out.push((start, end - start));
            }
        }
    }
    out.sort_unstable();
    out.dedup();
    out
}

/// Where a renamed input is from.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Source {
    /// The variable.
    variable: Term,
    /// Its first bit there.
    lo: u32,
}

/// Two terms whose inputs are renamed by order of appearance.
pub(crate) struct Question {
    /// One side.
    pub(crate) a: Term,
    /// The other.
    pub(crate) b: Term,
    /// Where each renamed input is from, by its new name.
    sources: BTreeMap<String, Source>,
}

/// One use of some bits of an input.
type Slice = (u32, u32);

/// Collects, in order of appearance, which bits of which inputs are used.
#[derive(Default)]
struct Uses {
    seen: std::collections::HashSet<Term>,
    order: Vec<(Term, Slice)>,
}

impl Uses {
    fn visit(&mut self, t: Term) {
        if let Some((variable, lo, width)) = slice_of(t) {
            self.order.push((variable, (lo, lo + width)));
            return;
        }
        if self.seen.insert(t) {
            if matches!(t.kind(), Kind::Var { .. }) {
                self.order.push((t, (0, t.sort().width().unwrap_or(0))));
            }
            t.children().for_each(|c| self.visit(c));
        }
    }
}

/// Constant bits of a variable.
fn slice_of(t: Term) -> Option<(Term, u32, u32)> {
    let (op, args) = t.as_app().filter(|(op, _)| op.code == OpCode::Extract)?;
    let lo = u32::try_from(args[1].as_int()?).ok()?;
    let whole = args[0].sort().width()?;
    let inside = lo.checked_add(op.params[0])? <= whole;
    (args[0].as_var().is_some() && inside).then(|| (args[0], lo, op.params[0]))
}

impl Question {
    /// The question whether two terms are equal, its inputs renamed.
    pub(crate) fn new(a: Term, b: Term) -> Question {
        let mut uses = Uses::default();
        uses.visit(a);
        uses.visit(b);
        let mut hulls: BTreeMap<Term, Vec<Slice>> = BTreeMap::new();
        for &(variable, slice) in &uses.order {
            merge(hulls.entry(variable).or_default(), slice);
        }
        let mut names: BTreeMap<(Term, u32), (String, Slice)> = BTreeMap::new();
        let mut sources = BTreeMap::new();
        for &(variable, (lo, _)) in &uses.order {
            let hull = *hulls[&variable]
                .iter()
                .rev()
                .find(|h| h.0 <= lo)
                .expect("every use lies in a hull");
            let fresh = format!("x{}", names.len());
            let entry = names.entry((variable, hull.0)).or_insert((fresh, hull));
            sources.entry(entry.0.clone()).or_insert(Source {
                variable,
                lo: hull.0,
            });
        }
        let mut renaming = Renaming {
            hulls: &hulls,
            names: &names,
            memo: HashMap::new(),
        };
        Question {
            a: renaming.visit(a),
            b: renaming.visit(b),
            sources,
        }
    }

    /// The model in terms of the original inputs.
    pub(crate) fn original(&self, model: &Model) -> Model {
        let mut out = Model::new();
        for (name, value) in model {
            let Some(source) = self.sources.get(name) else {
                continue;
            };
            let variable = source
                .variable
                .as_var()
                .expect("sources are variables")
                .to_owned();
            match (value, source.variable.sort()) {
                (Value::Bv(bits), Sort::Bv(width)) => {
                    let known = out
                        .entry(variable)
                        .or_insert_with(|| Value::Bv(Bits::zero(width)));
                    let filled = known.bits().insert(source.lo, bits);
                    *known = Value::Bv(filled);
                }
                _ => {
                    out.insert(variable, value.clone());
                }
            }
        }
        out
    }
}

/// Adds a slice to disjoint slices in order, joining those that overlap.
fn merge(hulls: &mut Vec<Slice>, mut slice: Slice) {
    hulls.retain(|&(lo, hi)| {
        let overlaps = lo < slice.1 && slice.0 < hi || lo == slice.0 && hi == slice.1;
        if overlaps {
            slice = (slice.0.min(lo), slice.1.max(hi));
        }
        !overlaps
    });
    let at = hulls.partition_point(|h| h.0 < slice.0);
    hulls.insert(at, slice);
}

struct Renaming<'a> {
    hulls: &'a BTreeMap<Term, Vec<Slice>>,
    names: &'a BTreeMap<(Term, u32), (String, Slice)>,
    memo: HashMap<Term, Term>,
}

impl Renaming<'_> {
    fn visit(&mut self, t: Term) -> Term {
        if let Some(&done) = self.memo.get(&t) {
            return done;
        }
        let out = if let Some((variable, lo, width)) = slice_of(t) {
            self.slice(variable, lo, width)
        } else if matches!(t.kind(), Kind::Var { .. }) {
            match t.sort() {
                Sort::Bv(width) => self.slice(t, 0, width),
                sort => Term::var(&self.names[&(t, 0)].0, sort),
            }
        } else {
            rebuild(t, |child, _| self.visit(child))
        };
        self.memo.insert(t, out);
        out
    }

    fn slice(&self, variable: Term, lo: u32, width: u32) -> Term {
        let hull = self.hulls[&variable]
            .iter()
            .rev()
            .find(|h| h.0 <= lo)
            .expect("every use lies in a hull");
        let (name, (start, end)) = &self.names[&(variable, hull.0)];
        build::extract(Term::var(name, Sort::Bv(end - start)), lo - start, width)
    }
}
