//! From flat elements to rolled terms, for every dialect.
//!
//! In: the pieces of a result, least significant first, flat. Out: an equal term in which
//! elements that are one expression with different numbers are a map over lanes: one level
//! (`map n body`), or several where lanes hold groups of elements (packs, unpacks). Numbers
//! may differ between elements only affinely. A map is built only when writing it out gives
//! back the very pieces, so nothing has to be believed. It does not search for reductions
//! and proves nothing.

use semantics::affine::Affine;
use semantics::bits::Bits;
use semantics::build as b;
use semantics::op::{Op, OpCode};
use semantics::sort::Sort;
use semantics::subst::{instantiate, rebuild, shift};
use semantics::term::{Kind, Term};
use semantics::unroll::unroll;
use std::collections::HashMap;

#[cfg(test)]
mod tests;

/// The fewest parts of a concatenation inside an element for which a map pays.
const FEWEST_PARTS: usize = 8;
/// The most elements for which groups of every size are tried.
const MOST_ELEMENTS: usize = 512;

/// The concatenation of the pieces, the first being least significant, rolled where elements
/// repeat.
///
/// # Panics
/// When there is no piece, or one is not a bit vector.
pub fn roll(pieces: &[Term]) -> Term {
    assert!(!pieces.is_empty(), "a result has at least one piece");
    let flat: Vec<Term> = pieces.iter().flat_map(|&p| parts_of(p)).collect();
    let outer = roll_flat(&flat);
    let inner = roll_inside(outer, &mut HashMap::new());
    if inner == outer || unroll(inner) == joined(&flat) {
        inner
    } else {
        outer
    }
}

/// The term with the concatenations inside it rolled.
fn roll_inside(t: Term, memo: &mut HashMap<Term, Term>) -> Term {
    if let Some(&done) = memo.get(&t) {
        return done;
    }
    let rebuilt = rebuild(t, |child, _| roll_inside(child, memo));
    let out = match rebuilt.args_of(OpCode::Concat) {
        Some(parts) if parts.len() >= FEWEST_PARTS => {
            let parts: Vec<Term> = parts.iter().rev().copied().collect();
            roll_flat(&parts)
        }
        _ => rebuilt,
    };
    memo.insert(t, out);
    out
}

/// The parts of a concatenation, least significant first; what an extension of one adds is a
/// part too.
fn parts_of(t: Term) -> Vec<Term> {
    if let Some(parts) = t.args_of(OpCode::Concat) {
        return parts.iter().rev().copied().collect();
    }
    match t.args_of(OpCode::Zext) {
        Some(inner) if inner[0].args_of(OpCode::Concat).is_some() => {
            let mut parts = parts_of(inner[0]);
            parts.push(b::zero(t.width() - inner[0].width()));
            parts
        }
        _ => vec![t],
    }
}

fn roll_flat(pieces: &[Term]) -> Term {
    if let [piece] = pieces {
        return *piece;
    }
    if let Some(elements) = regular_elements(pieces).filter(|e| e.len() > 1) {
        return roll_elements(&elements);
    }
    let zero = |t: &Term| t.as_bits().is_some_and(Bits::is_zero);
    let width: u32 = pieces.iter().map(|p| p.width()).sum();
    let used = pieces.iter().rposition(|p| !zero(p)).map_or(0, |n| n + 1);
    if used == 0 {
        return b::zero(width);
    }
    if used < pieces.len() {
        return b::zext(roll_flat(&pieces[..used]), width);
    }
    let mut parts = Vec::new();
    let mut rest = pieces;
    while let Some(first) = rest.first() {
        let same = |p: &&Term| p.width() == first.width();
        let length = rest.iter().take_while(same).count();
        parts.push(roll_elements(&rest[..length]));
        rest = &rest[length..];
    }
    joined(&parts)
}

/// The parts as one term; they are given least significant first.
fn joined(parts: &[Term]) -> Term {
    let reversed: Vec<Term> = parts.iter().rev().copied().collect();
    b::concat(&reversed)
}

/// The pieces as elements of the smallest width whose multiples are all piece boundaries.
fn regular_elements(pieces: &[Term]) -> Option<Vec<Term>> {
    let mut ends: Vec<u32> = Vec::with_capacity(pieces.len());
    let mut end = 0;
    for piece in pieces {
        end += piece.width();
        ends.push(end);
    }
    let width = *ends
        .iter()
        .find(|&&e| end % e == 0 && (1..=end / e).all(|k| ends.binary_search(&(k * e)).is_ok()))?;
    let mut elements = Vec::with_capacity((end / width) as usize);
    let mut from = 0;
    for (index, end) in ends.iter().enumerate() {
        if end % width == 0 {
            elements.push(joined(&pieces[from..=index]));
            from = index + 1;
        }
    }
    Some(elements)
}

/// Elements of one width, rolled.
fn roll_elements(elements: &[Term]) -> Term {
    let n = elements.len();
    if n == 1 {
        return elements[0];
    }
    if elements.iter().all(|e| e.as_bits().is_some()) {
        return joined(elements);
    }
    if let Some(body) = generalise(elements) {
        return map(n, body);
    }
    if n <= MOST_ELEMENTS {
        for group in (2..=n / 2).filter(|m| n.is_multiple_of(*m)) {
            if let Some(bodies) = generalise_groups(elements, group) {
                return map(n / group, roll_elements(&bodies));
            }
        }
    }
    let mut parts = Vec::new();
    let mut rest = elements;
    while !rest.is_empty() {
        let (length, part) = longest_run(rest);
        parts.push(part);
        rest = &rest[length..];
    }
    joined(&parts)
}

/// A map of that many elements.
fn map(count: usize, body: Term) -> Term {
    b::map(
        u32::try_from(count).expect("a register has fewer elements than bits"),
        body,
    )
}

/// The longest beginning that is one map, and that map; at least one element.
fn longest_run(elements: &[Term]) -> (usize, Term) {
    let inside = parts_of(elements[0]);
    let mut best = (1, elements[0]);
    if inside.len() > 1 {
        best.1 = roll_flat(&inside);
    }
    if elements[0].as_bits().is_some() {
        let constants = elements.iter().take_while(|e| e.as_bits().is_some());
        let run: Vec<Term> = constants.copied().collect();
        return (run.len(), joined(&run));
    }
    for length in 2..=elements.len() {
        match generalise(&elements[..length]) {
            Some(body) => best = (length, map(length, body)),
            None => break,
        }
    }
    best
}

/// One body for each place in a group, when all groups are alike.
fn generalise_groups(elements: &[Term], group: usize) -> Option<Vec<Term>> {
    (0..group)
        .map(|place| {
            let column: Vec<Term> = elements
                .iter()
                .skip(place)
                .step_by(group)
                .copied()
                .collect();
            generalise(&column)
        })
        .collect()
}

/// The body of a map that gives these elements, when there is one.
fn generalise(elements: &[Term]) -> Option<Term> {
    let body = Generaliser::default().visit(elements, 0)?;
    let given_back = elements
        .iter()
        .zip(0i64..)
        .all(|(&element, index)| instantiate(body, &[Term::int(index)]) == element);
    given_back.then_some(body)
}

/// Anti-unification over one new index.
#[derive(Default)]
struct Generaliser {
    memo: HashMap<(Vec<Term>, u32), Option<Term>>,
}

impl Generaliser {
    /// What the terms have in common, `depth` binders below the new index.
    fn visit(&mut self, terms: &[Term], depth: u32) -> Option<Term> {
        let first = terms[0];
        if terms.iter().all(|&t| t == first) {
            return Some(shift(first, 1, depth));
        }
        if terms.iter().any(|t| t.sort() != first.sort()) {
            return None;
        }
        match first.kind() {
            Kind::Int(_) => return affine(terms, depth),
            Kind::Bv(_) => return constants(terms, depth),
            Kind::App { op, .. } if is_index(op.code) => return affine(terms, depth),
            Kind::App { .. } | Kind::Map { .. } => {}
            _ => return self.moved(terms, depth),
        }
        let key = (terms.to_vec(), depth);
        if let Some(&done) = self.memo.get(&key) {
            return done;
        }
        let out = self
            .compound(terms, depth)
            .or_else(|| self.moved(terms, depth));
        self.memo.insert(key, out);
        out
    }

    /// Sums of one term and constants in an arithmetic progression, such as addresses: the
    /// first may be the term itself, for a sum with 0 is not written.
    fn moved(&mut self, terms: &[Term], depth: u32) -> Option<Term> {
        let width = terms[0].sort().width()?;
        let split = |t: Term| match t.args_of(OpCode::BvAdd) {
            Some(&[k, base]) if k.as_bits().is_some() => (base, k),
            Some(&[base, k]) if k.as_bits().is_some() => (base, k),
            _ => (t, b::zero(width)),
        };
        let (bases, steps): (Vec<Term>, Vec<Term>) = terms.iter().map(|&t| split(t)).unzip();
        if steps.iter().all(|&k| k == steps[0]) {
            return None;
        }
        Some(b::add(
            self.visit(&bases, depth)?,
            constants(&steps, depth)?,
        ))
    }

    fn compound(&mut self, terms: &[Term], depth: u32) -> Option<Term> {
        match terms[0].kind() {
            Kind::App { op, args } => {
                let arguments: Vec<&[Term]> = terms
                    .iter()
                    .map(|t| t.as_app().filter(|(o, a)| o == op && a.len() == args.len()))
                    .map(|app| app.map(|(_, a)| a))
                    .collect::<Option<_>>()?;
                let new: Vec<Term> = (0..args.len())
                    .map(|k| {
                        let column: Vec<Term> = arguments.iter().map(|a| a[k]).collect();
                        self.visit(&column, depth)
                    })
                    .collect::<Option<_>>()?;
                Term::raw_app(*op, &new).ok()
            }
            Kind::Map { count, .. } => {
                let bodies: Vec<Term> = terms
                    .iter()
                    .map(|t| match t.kind() {
                        Kind::Map { count: c, body } if c == count => Some(*body),
                        _ => None,
                    })
                    .collect::<Option<_>>()?;
                Term::raw_map(*count, self.visit(&bodies, depth + 1)?).ok()
            }
            _ => None,
        }
    }
}

fn is_index(code: OpCode) -> bool {
    matches!(code, OpCode::IntAdd | OpCode::IntMul)
}

/// Indices that differ by a multiple of the new index.
fn affine(terms: &[Term], depth: u32) -> Option<Term> {
    let forms: Vec<Affine> = terms.iter().map(|&t| Affine::of(t)).collect();
    let first = &forms[0];
    if forms.iter().any(|f| f.coefficients != first.coefficients) {
        return None;
    }
    let constants: Vec<i128> = forms.iter().map(|f| i128::from(f.constant)).collect();
    let step = i64::try_from(step(&constants)?).ok()?;
    Some(b::int_add(
        shift(terms[0], 1, depth),
        index_times(step, depth),
    ))
}

/// Bit-vector constants that differ by a multiple of the new index.
fn constants(terms: &[Term], depth: u32) -> Option<Term> {
    let values: Vec<i128> = terms
        .iter()
        .map(|t| t.as_bits()?.to_u64().map(i128::from))
        .collect::<Option<_>>()?;
    let step = i64::try_from(step(&values)?).ok()?;
    let start = i64::try_from(values[0]).ok()?;
    let index = b::int_add(index_times(step, depth), Term::int(start));
    Term::raw_app(Op::with(OpCode::IntToBv, terms[0].width()), &[index]).ok()
}

fn index_times(step: i64, depth: u32) -> Term {
    b::int_mul(Term::bound(depth, Sort::Int), Term::int(step))
}

/// The step of an arithmetic progression.
fn step(values: &[i128]) -> Option<i128> {
    let step = values[1] - values[0];
    values
        .windows(2)
        .all(|pair| pair[1] - pair[0] == step)
        .then_some(step)
}
