//! Operators that the pseudocode spells out.
//!
//! In: terms. Out: equal terms with one operator: chains over the bits of a value that count
//! its leading zeros, choices among consecutive elements, a truth value in every bit. Each rule
//! checks the whole shape.

use semantics::bits::Bits;
use semantics::build as b;
use semantics::op::OpCode;
use semantics::subst::rebuild;
use semantics::term::Term;
use std::collections::HashMap;

/// A bit of a term: what it is extracted from, and where.
fn bit(t: Term) -> Option<(Term, u32)> {
    if t.sort().width() != Some(1) {
        return None;
    }
    match t.args_of(OpCode::Extract) {
        Some(args) => Some((args[0], u32::try_from(args[1].as_int()?).ok()?)),
        None => Some((t, 0)),
    }
}

/// The operator that a chain stands for, with the value of the chain as an unsigned integer;
/// it may be wider or narrower.
pub(crate) fn recognise(t: Term) -> Option<Term> {
    leading_zeros(t)
        .or_else(|| population(t))
        .or_else(|| plain_sum(t))
}

/// The most levels of sums that are looked through.
const MOST_SUMS: u32 = 300;

/// Bits added up: what they are bits of, and which; none when a sum might wrap.
fn sum_of_bits(t: Term, source: &mut Option<Term>, bits: &mut Vec<u32>) -> Option<()> {
    if t.height() > MOST_SUMS || bits.len() > 1 << 13 {
        return None;
    }
    if let Some(args) = t.args_of(OpCode::Zext) {
        return sum_of_bits(args[0], source, bits);
    }
    if let Some(args) = t.args_of(OpCode::BvAdd) {
        let before = bits.len();
        args.iter()
            .try_for_each(|&a| sum_of_bits(a, source, bits))?;
        let largest = bits.len() - before;
        let room = t.width() >= 32 || largest < 1 << t.width();
        return room.then_some(());
    }
    let (from, position) = bit(t)?;
    if *source.get_or_insert(from) != from {
        return None;
    }
    bits.push(position);
    Some(())
}

/// A loop that adds the bits of a value while any is left: `ite(x = 0, 0, ite(x >> 1 = 0,
/// bit 0, …))`. Every outcome is the sum of all bits, for those left out are 0.
fn population(t: Term) -> Option<Term> {
    let mut rest = match t.args_of(OpCode::Zext) {
        Some(args) => args[0],
        None => t,
    };
    let (mut source, mut tests, mut outcomes) = (None, Vec::new(), Vec::new());
    while let Some(args) = rest.args_of(OpCode::Ite) {
        let test = args[0].args_of(OpCode::Eq)?;
        let (left, done) = match test[1].as_bits()? {
            k if k.is_zero() => (args[2], args[1]),
            _ if test[0].width() == 1 => (args[1], args[2]),
            _ => return None,
        };
        tests.push(test[0]);
        outcomes.push(done);
        rest = left;
    }
    outcomes.push(rest);
    let mut all = Vec::new();
    sum_of_bits(rest, &mut source, &mut all)?;
    all.sort_unstable();
    let (source, lo) = (source?, *all.first()?);
    let count = u32::try_from(tests.len()).ok()?;
    if count < 4 || !all.iter().copied().eq(lo..lo + count) {
        return None;
    }
    for (k, (&test, &done)) in (0..).zip(tests.iter().zip(&outcomes)) {
        if test != b::extract(source, lo + k, count - k) {
            return None;
        }
        let (mut from, mut bits) = (Some(source), Vec::new());
        if k > 0 || done.as_bits().is_none_or(|v| !v.is_zero()) {
            sum_of_bits(done, &mut from, &mut bits)?;
        }
        bits.sort_unstable();
        if !bits.iter().copied().eq(lo..lo + k) {
            return None;
        }
    }
    Some(b::popcnt(b::extract(source, lo, count)))
}

/// The sum of all bits of a value.
fn plain_sum(t: Term) -> Option<Term> {
    let (mut source, mut bits) = (None, Vec::new());
    sum_of_bits(t, &mut source, &mut bits)?;
    bits.sort_unstable();
    let (lo, count) = (*bits.first()?, u32::try_from(bits.len()).ok()?);
    let all = count >= 4 && bits.iter().copied().eq(lo..lo + count);
    source
        .filter(|_| all)
        .map(|source| b::popcnt(b::extract(source, lo, count)))
}

fn is_zero(t: Term) -> bool {
    t.as_bits().is_some_and(Bits::is_zero)
}

/// What a count was before it was widened or clamped.
fn bare_count(t: Term) -> Term {
    let inner = t.args_of(OpCode::Zext).or_else(|| t.args_of(OpCode::SatUU));
    inner.map_or(t, |args| bare_count(args[0]))
}

/// A shift guarded against counts of the width or more: the shift alone, which gives zeros
/// (or the sign) for those.
pub(crate) fn guarded_shift(c: Term, x: Term, y: Term) -> Option<Term> {
    let (x, y, c) = match c.args_of(OpCode::Not) {
        Some(inner) => (y, x, inner[0]),
        None => (x, y, c),
    };
    let test = c.args_of(OpCode::BvUlt)?;
    let limit = |t: Term| t.as_bits().and_then(Bits::to_u64);
    // `count < n` chooses the shift, or `n - 1 < count` the filling.
    let (count, n, shifted, filled) = match (limit(test[0]), limit(test[1])) {
        (None, Some(n)) => (test[0], n, x, y),
        (Some(last), None) => (test[1], last.checked_add(1)?, y, x),
        _ => return None,
    };
    let (op, args) = shifted.as_app()?;
    let width = u64::from(shifted.width());
    if args.len() != 2 || bare_count(args[1]) != bare_count(count) || n < width {
        return None;
    }
    let fits = match op.code {
        OpCode::BvShl | OpCode::BvLshr => is_zero(filled),
        OpCode::BvAshr => filled == sign_fill(args[0]),
        _ => false,
    };
    fits.then_some(shifted)
}

/// The sign of a value at every bit, as the pseudocode spells it.
fn sign_fill(t: Term) -> Term {
    let width = t.width();
    let negative = b::bit(t, width - 1);
    b::ite(negative, Term::bv(width, -1), b::zero(width))
}

/// `(x << n) | (x >> (w - n))` or the other way round.
pub(crate) fn rotation(p: Term, q: Term) -> Option<Term> {
    let (left, right) = match (p.args_of(OpCode::BvShl), q.args_of(OpCode::BvShl)) {
        (Some(left), None) => (left, q.args_of(OpCode::BvLshr)?),
        (None, Some(left)) => (left, p.args_of(OpCode::BvLshr)?),
        _ => return None,
    };
    let width = left[0].width();
    let rest_of = |rest: Term, n: Term| {
        let small = n.width() < 32 && 1u32 << n.width() <= width;
        let difference = bare_count(rest).args_of(OpCode::BvSub);
        small
            && difference.is_some_and(|d| {
                d[0].as_bits().and_then(Bits::to_u64) == Some(u64::from(width))
                    && bare_count(d[1]) == n
            })
    };
    if left[0] != right[0] {
        return None;
    }
    let (n, m) = (bare_count(left[1]), bare_count(right[1]));
    if rest_of(m, n) {
        return Some(b::rotl(left[0], b::zext(n, width)));
    }
    rest_of(n, m).then(|| b::rotr(left[0], b::zext(m, width)))
}

/// The disjunction of high bits and low bits that do not meet: both side by side.
pub(crate) fn disjoint(p: Term, q: Term) -> Option<Term> {
    let meet = |high: Term, low: Term| -> Option<Term> {
        let parts = high.args_of(OpCode::Concat)?;
        let (last, rest) = parts.split_last()?;
        let low = low.args_of(OpCode::Zext)?[0];
        let fits = is_zero(*last) && low.width() <= last.width();
        fits.then(|| {
            let mut all = rest.to_vec();
            all.push(b::zext(low, last.width()));
            b::concat(&all)
        })
    };
    meet(p, q).or_else(|| meet(q, p))
}

/// `ite(bit n-1, 0, ite(bit n-2, 1, … ite(bit 0, n-1, n)))`.
fn leading_zeros(t: Term) -> Option<Term> {
    let width = t.sort().width()?;
    let mut rest = t;
    let mut source = None;
    let mut top = 0;
    let mut count = 0u32;
    while let Some(args) = rest.args_of(OpCode::Ite) {
        let condition = args[0].args_of(OpCode::Eq)?;
        if condition[1] != Term::bv(1, 1) || args[1] != Term::bv(width, i128::from(count)) {
            return None;
        }
        let (from, position) = bit(condition[0])?;
        if source.is_none() {
            (source, top) = (Some(from), position);
        }
        if source != Some(from) || position + count != top {
            return None;
        }
        count += 1;
        rest = args[2];
    }
    let fits = width >= 32 || count < 1 << width;
    if count < 4 || !fits || rest != Term::bv(width, i128::from(count)) {
        return None;
    }
    let value = b::extract(source?, top + 1 - count, count);
    Some(b::clz(value))
}

/// The element at an index, when the outcomes for index 0, 1, … are consecutive elements of
/// one term.
pub(crate) fn element_of(index: Term, terms: &[Term]) -> Option<Term> {
    let width = terms.first()?.sort().width()?;
    let place = |t: Term| -> Option<(Term, u32)> {
        let args = t.args_of(OpCode::Extract)?;
        Some((args[0], u32::try_from(args[1].as_int()?).ok()?))
    };
    let (source, first) = place(terms[0])?;
    for (k, &t) in (0u32..).zip(terms) {
        if t.sort().width() != Some(width) || place(t)? != (source, first + k * width) {
            return None;
        }
    }
    let count = u32::try_from(terms.len()).ok()?;
    Some(b::elem(
        b::extract(source, first, count * width),
        index,
        width,
    ))
}

/// The same pieces, where one truth value in all bits of an element is a choice between ones and
/// zeros: what other texts say of such a comparison.
pub(crate) fn whole_masks(pieces: &[Term]) -> Vec<Term> {
    let mut memo = HashMap::new();
    let parts = |t: &Term| match t.args_of(OpCode::Concat) {
        Some(parts) => parts.iter().rev().copied().collect(),
        None => vec![*t],
    };
    let inside = |t: Term| masks_inside(t, &mut memo);
    let flat: Vec<Term> = pieces.iter().flat_map(parts).map(inside).collect();
    joined_bits(&flat)
}

fn masks_inside(t: Term, memo: &mut HashMap<Term, Term>) -> Term {
    if let Some(&done) = memo.get(&t) {
        return done;
    }
    let rebuilt = rebuild(t, |child, _| masks_inside(child, memo));
    let out = match rebuilt.args_of(OpCode::Concat) {
        Some(parts) => {
            let low_first: Vec<Term> = parts.iter().rev().copied().collect();
            let mut joined = joined_bits(&low_first);
            joined.reverse();
            match joined.len() < parts.len() {
                true => b::concat(&joined),
                false => rebuilt,
            }
        }
        None => rebuilt,
    };
    memo.insert(t, out);
    out
}

/// Pieces, least significant first, where runs of one truth value that fill bytes are one piece.
fn joined_bits(pieces: &[Term]) -> Vec<Term> {
    let runs = pieces.chunk_by(|x, y| x == y);
    let join = |run: &[Term]| match truth_of_bit(run[0]).filter(|_| run.len().is_multiple_of(8)) {
        Some((c, holds)) => {
            let width = u32::try_from(run.len()).expect("a register has fewer bits");
            let (ones, zeros) = (Term::bits(Bits::ones(width)), b::zero(width));
            vec![if holds {
                b::ite(c, ones, zeros)
            } else {
                b::ite(c, zeros, ones)
            }]
        }
        None => run.to_vec(),
    };
    runs.flat_map(join).collect()
}

/// The condition that a bit is, and whether the bit is 1 where it holds.
fn truth_of_bit(t: Term) -> Option<(Term, bool)> {
    if let Some(&[inner]) = t.args_of(OpCode::BvNot) {
        return truth_of_bit(inner).map(|(c, holds)| (c, !holds));
    }
    let &[c, x, y] = t.args_of(OpCode::Ite)? else {
        return None;
    };
    let bit = |t: Term| t.as_bits().filter(|b| b.width() == 1).map(|b| !b.is_zero());
    (bit(x)? != bit(y)?).then_some((c, bit(x)?))
}
