//! Other ways to write a value, for when no instruction computes it as it is written.
//!
//! In: a term whose value has a width that registers have. Out: equal terms over the same
//! operands: the operation in wider lanes, a narrowing in two steps, a field by a shift, a
//! saturation by two bounds, a division by a constant as a product and a shift; and what `integers`
//! and `floats` know of each operator, so that none is without a form in vectors. Who uses one
//! proves it.

mod blended;
mod clamps;
pub(crate) mod fewer_bits;
pub(crate) mod floats;
pub(crate) mod integers;
mod intervals;
mod long_products;
mod products;
mod shifted_products;
mod uncut;
mod wide_lanes;

use crate::fragment::regular;
use crate::legal::{constant_last, raw, resize, rounded_up, rounding};
use crate::masks::by_masks;
use crate::words::by_words;
pub(crate) use fewer_bits::multiplies;
pub use integers::BothWays;
pub(crate) use intervals::one_comparison;
pub use long_products::by_halves;
pub(crate) use products::identities;
use semantics::bits::Bits;
use semantics::build as b;
use semantics::op::{Op, OpCode};
use semantics::range::range;
use semantics::sort::Sort;
use semantics::term::Term;
pub use shifted_products::by_upper_half;
use smt::quotient::{by_constant, euclidean};
use std::collections::{BTreeSet, HashSet};
pub(crate) use uncut::uncut;
pub(crate) use wide_lanes::{halves_of_wide, products_in_pairs};

/// Equal terms, likeliest first.
pub fn alternatives(t: Term) -> Vec<Term> {
    let mut out = Vec::new();
    if let Some((op, args)) = t.as_app() {
        out.extend(by_constant(op, args));
        out.extend(field(op, args, t));
        if args.first().is_some_and(|of| !regular(*of)) {
            out.extend(extended_field(op, args, t));
        }
        out.extend(extended_constants(t, EXTENDED));
        out.extend(narrowed(op, args));
        out.extend(stepwise_extension(op, args));
        out.extend(wider(op, args, t));
        out.extend(chosen(op, args));
        out.extend(raised(op, args, t));
        out.extend(by_masks(t));
        out.extend(integers::simpler(op, args, t));
        out.extend(by_words(op, args, t));
        out.extend(floats::simpler(op, args));
    }
    out.retain(|&other| other != t && other.sort() == t.sort());
    out
}

/// A shift by what is no constant, for machines whose shifts go both ways.
pub fn shifted_both_ways(t: Term, ways: BothWays) -> Option<Term> {
    integers::shift_both_ways(t, ways).filter(|&other| other != t)
}

/// How often other ways are followed to find what numbers they need.
const DEPTH: usize = 3;

/// Numbers that other ways to write the parts of a term need as immediates, where its own do not
/// do: counts of shifts, codes of roundings.
pub fn immediates(t: Term) -> BTreeSet<u64> {
    let (mut out, mut seen, mut kinds) = (BTreeSet::new(), HashSet::new(), HashSet::new());
    let mut work = vec![(t, 0)];
    while let Some((t, depth)) = work.pop() {
        if !seen.insert(t) {
            continue;
        }
        work.extend(t.children().map(|c| (c, depth)));
        let Some((op, args)) = t.as_app() else {
            continue;
        };
        let code = op.code;
        if code == OpCode::FRound {
            // With and without telling of what is inexact.
            out.extend([op.params[1], op.params[1] | 8].map(u64::from));
        }
        if code == OpCode::Extract {
            let counts = rounding(op, args).map(|(_, n, _)| [n, n - 1, 1].map(u64::from));
            out.extend(counts.into_iter().flatten());
        }
        let shifts = matches!(code, OpCode::BvShl | OpCode::BvLshr | OpCode::BvAshr);
        if depth > 0 && shifts {
            out.extend(args[1].as_bits().and_then(Bits::to_u64).filter(|&n| n < 64));
        }
        let numbers = args.iter().map(|a| a.as_bits().cloned().ok_or(a.sort()));
        let kind = (op, numbers.collect::<Vec<_>>());
        if depth < DEPTH && is_rare(code, t) && kinds.insert(kind) {
            let others = alternatives(t).into_iter().chain(variants(t));
            let by_halves = by_upper_half(t).into_iter().map(|(other, _)| other);
            work.extend(others.chain(by_halves).map(|other| (other, depth + 1)));
        }
    }
    out
}

/// How far below a value constants are looked for that instructions extend themselves.
const EXTENDED: usize = 2;

/// Constants beside extended elements, as elements that are extended too: what instructions that
/// extend both sides take. What is added may be less than 0, where it is subtracted.
fn extended_constants(t: Term, depth: usize) -> Option<Term> {
    let (op, args) = t.as_app()?;
    if let &[x, y] = args
        && y.as_bits().is_some()
        && let Some((extension, of)) = x.as_app()
        && matches!(extension.code, OpCode::Zext | OpCode::Sext)
        // The parts of a concatenation have widths of their own.
        && x.width() == y.width()
    {
        let like = |y: Term| {
            let low = crate::matching::narrowed(extension.code, y, of[0].width())?;
            raw(extension, &[low])
        };
        if let Some(y) = like(y) {
            return raw(op, &[x, y]);
        }
        let negative = (op.code == OpCode::BvAdd)
            .then(|| like(b::neg(y)))
            .flatten()?;
        return raw(Op::new(OpCode::BvSub), &[x, negative]);
    }
    let inner = args
        .iter()
        .map(|a| extended_constants(*a, depth.checked_sub(1)?));
    let inner: Vec<Option<Term>> = inner.collect();
    inner.iter().any(Option::is_some).then_some(())?;
    let args: Vec<Term> = args
        .iter()
        .zip(inner)
        .map(|(a, new)| new.unwrap_or(*a))
        .collect();
    raw(op, &args)
}

/// Whether machines may lack an operator at a width.
fn is_rare(code: OpCode, t: Term) -> bool {
    use OpCode as C;
    let w = t.sort().width();
    match code {
        C::BvMul => matches!(w, Some(8 | 64)) || doubled(t).is_some(),
        C::Abs => w == Some(64),
        C::BvAshr => matches!(w, Some(8 | 64)),
        C::Clz | C::Popcnt | C::Rotl | C::Rotr => true,
        C::BvUdiv | C::BvUrem | C::BvSdiv | C::BvSrem => true,
        // Averages, rounded shifts, upper halves of products.
        C::Extract => t.as_app().is_some_and(|(op, args)| {
            integers::shifted_sum(args, t).is_some() || upper_shifted(op, args, t).is_some()
        }),
        C::Sext | C::Zext => !by_upper_half(t).is_empty(),
        C::Ite => t
            .as_app()
            .is_some_and(|(op, args)| euclidean(op, args).is_some()),
        C::SatSS => true,
        _ => code.info().params.contains(&"format"),
    }
}

/// Other ways to write a value that may be cheaper even where one is known.
pub fn variants(t: Term) -> Vec<Term> {
    let new = [
        t.as_app().and_then(|(op, args)| euclidean(op, args)),
        t.as_app().and_then(|(op, args)| upper_shifted(op, args, t)),
        halves(t),
        part_of_element(t),
        same_elements(t),
        rounded_product(t),
        nothing_cleared(t),
        floats::converted(t),
        one_comparison(t),
        doubled(t),
        extended_first(t),
        fewer_bits::shifted_in_half(t),
        fewer_bits::extended_last(t),
        fewer_bits::rounded_element(t),
        fewer_bits::elements_of_sum(t),
        fewer_bits::product_of_elements(t),
        fewer_bits::saturated_again(t),
        fewer_bits::clamped_before(t),
        clamps::clamped_after(t),
        blended::chosen_bytes(t),
        fewer_bits::difference_of_other_sign(t),
        fewer_bits::halved_sum(t),
        fewer_bits::nothing_masked(t),
        fewer_bits::extended_after(t),
    ];
    let new = new
        .into_iter()
        .chain(chosen_otherwise(t).into_iter().flatten());
    let new = new.flatten().chain(hardly_clipped(t));
    let new = new.chain(integers::averages(t));
    new.filter(|&new| new != t).collect()
}

/// A saturation that changes nothing, or one value only, the one behind the greatest: that one
/// wraps to the least, which is nothing else's, and is mended. A rounded shift is written without
/// the bits that it loses; where nothing changes also as it is, for products of which another half is taken.
fn hardly_clipped(t: Term) -> Vec<Term> {
    let Some((op, args)) = t.as_app().filter(|(op, _)| op.code == OpCode::SatSS) else {
        return Vec::new();
    };
    let (x, w) = (args[0], op.params[0]);
    let Some(half) = w.checked_sub(1).filter(|&n| n < 64).map(|n| 1i128 << n) else {
        return Vec::new();
    };
    let (least, most) = range(x);
    if most > half || least < -half || most == half && least == -half {
        return Vec::new();
    }
    let x = element_constant(x, w).unwrap_or(x);
    let rounded = rounded_first(x);
    if most < half {
        let plain = Some(x).filter(|_| rounded.is_none() || by_upper_half_of(x, w));
        let forms = [rounded, plain].into_iter().flatten();
        return forms.filter_map(|x| resize(x, w, false)).collect();
    }
    let mended = || {
        let wrapped = resize(rounded.unwrap_or(x), w, false)?;
        let is_least = raw(Op::new(OpCode::Eq), &[wrapped, Term::bv(w, -half)])?;
        let most = Term::bv(w, half - 1);
        raw(Op::new(OpCode::Ite), &[is_least, most, wrapped])
    };
    mended().into_iter().collect()
}

/// Whether the low element of a value is a product of elements that is shifted down.
fn by_upper_half_of(x: Term, w: u32) -> bool {
    resize(x, w, false).is_some_and(|low| !by_upper_half(low).is_empty())
}

/// The least power of two by which a product is a shift: by a smaller one it is a few sums, for which
/// machines have more units than for shifts.
const LEAST_SHIFTED: u64 = 16;

/// A product by a power of two as a shift.
fn doubled(t: Term) -> Option<Term> {
    let (x, number) = constant_last(t.args_of(OpCode::BvMul)?.try_into().ok()?);
    let factor = number.as_bits()?.to_u64().filter(|n| n.is_power_of_two())?;
    if factor < LEAST_SHIFTED {
        return None;
    }
    let by = Term::bv(t.width(), factor.trailing_zeros().into());
    raw(Op::new(OpCode::BvShl), &[x, by])
}

/// An element that is shifted down and then extended, extended first: machines have more shifts of
/// wide elements than of narrow ones.
fn extended_first(t: Term) -> Option<Term> {
    let (extension, args) = t.as_app()?;
    let (code, signed) = match extension.code {
        OpCode::Zext => (OpCode::BvLshr, false),
        OpCode::Sext => (OpCode::BvAshr, true),
        _ => return None,
    };
    let [x, by] = *args[0].args_of(code)? else {
        return None;
    };
    let by = Term::bits(by.as_bits()?.zext(t.width()));
    raw(Op::new(code), &[resize(x, t.width(), signed)?, by])
}

/// A value shifted up, and down by no less, that has none of the bits that this clears.
fn nothing_cleared(t: Term) -> Option<Term> {
    let (op, args) = t.as_app()?;
    let (x, by) = down_only(op.code, args)?;
    match by {
        0 => Some(x),
        _ => raw(op, &[x, Term::bv(t.width(), by.into())]),
    }
}

/// What is shifted up first, and by how much it comes down in all, where nothing is lost above.
fn down_only(code: OpCode, args: &[Term]) -> Option<(Term, u32)> {
    let &[up, by] = args else { return None };
    let count = |t: Term| {
        t.as_bits()
            .and_then(Bits::to_u64)
            .and_then(|n| u32::try_from(n).ok())
    };
    let &[x, first] = up.args_of(OpCode::BvShl)? else {
        return None;
    };
    let (first, by) = (count(first)?, count(by)?);
    let rest = x
        .width()
        .checked_sub(first)
        .filter(|n| (1..127).contains(n))?;
    let end = 1i128 << (rest - u32::from(code == OpCode::BvAshr));
    let least = match code {
        OpCode::BvLshr => 0,
        OpCode::BvAshr => -end,
        _ => return None,
    };
    let (from, to) = range(x);
    (least <= from && to < end).then_some((x, by.checked_sub(first)?))
}

/// The low half of a rounded shift of a product by a constant, the constant as an element.
fn rounded_product(t: Term) -> Option<Term> {
    let [x, lo] = *t.args_of(OpCode::Extract)? else {
        return None;
    };
    if lo.as_int() != Some(0) {
        return None;
    }
    let x = element_constant(x, t.width())?;
    resize(rounded_first(x)?, t.width(), false)
}

/// A shifted sum with a product of an extended element and a constant, the constant as an
/// element that is extended too.
fn element_constant(x: Term, w: u32) -> Option<Term> {
    let (op, args) = x.as_app()?;
    let &[first, second] = args else { return None };
    match op.code {
        OpCode::BvAshr | OpCode::BvAdd if second.as_bits().is_some() => {
            raw(op, &[element_constant(first, w)?, second])
        }
        OpCode::BvAdd if first.as_bits().is_some() => {
            raw(op, &[first, element_constant(second, w)?])
        }
        OpCode::BvMul => {
            let (y, number) = match second.as_bits() {
                Some(_) => (first, second),
                None => (second, first),
            };
            let element = y.args_of(OpCode::Sext)?.first()?.width() == w;
            let half = 1i128 << (w - 1);
            let (value, _) = range(number);
            if !element || number.as_bits().is_none() || !(-half..half).contains(&value) {
                return None;
            }
            let number = raw(Op::with(OpCode::Sext, x.width()), &[Term::bv(w, value)])?;
            raw(op, &[y, number])
        }
        _ => None,
    }
}

/// A sum or difference that saturates to values without sign, with an operand that is narrower than
/// the result: extended to the result's width first, as operations on such elements take it.
fn same_elements(t: Term) -> Option<Term> {
    let (op, args) = t.as_app().filter(|(op, _)| op.code == OpCode::SatSU)?;
    let (w, wide) = (op.params[0], args[0].width());
    let (inner, sides) = args[0].as_app()?;
    if !matches!(inner.code, OpCode::BvAdd | OpCode::BvSub) {
        return None;
    }
    let mut changed = false;
    let sides: Option<Vec<Term>> = sides
        .iter()
        .map(|&side| match side.args_of(OpCode::Zext) {
            Some(&[y]) if y.width() < w && w < wide => {
                changed = true;
                let element = raw(Op::with(OpCode::Zext, w), &[y])?;
                raw(Op::with(OpCode::Sext, wide), &[element])
            }
            _ => Some(side),
        })
        .collect();
    let sum = raw(inner, &sides?)?;
    changed.then(|| raw(op, &[sum])).flatten()
}

/// `(y + 2^(n-1)) >> n` as `((y >> (n-1)) + 1) >> 1`, for a value of which few low bits count.
fn rounded_first(x: Term) -> Option<Term> {
    let [sum, by] = *x.args_of(OpCode::BvAshr)? else {
        return None;
    };
    let n = by.as_bits()?.to_u64().filter(|n| (1..64).contains(n))?;
    let n = u32::try_from(n).ok()?;
    let (y, half) = constant_last(sum.args_of(OpCode::BvAdd)?.try_into().ok()?);
    if half != Term::bv(x.width(), 1 << (n - 1)) {
        return None;
    }
    rounded_up(OpCode::BvAshr, y, n)
}

/// Another way to write a value that only one operation is to compute: a saturation of a rounded shift
/// whose sum wraps for no value, as what rounds and narrows computes it.
pub fn at_once(t: Term) -> Option<Term> {
    let (op, args) = t.as_app()?;
    let [x] = *args else { return None };
    if !matches!(op.code, OpCode::SatSS | OpCode::SatSU) {
        return None;
    }
    let [sum, _] = *x.args_of(OpCode::BvAshr)? else {
        return None;
    };
    let (y, half) = constant_last(sum.args_of(OpCode::BvAdd)?.try_into().ok()?);
    let half = i128::from(half.as_bits()?.to_u64()?);
    let most = (1i128 << (sum.width().min(64) - 1)) - 1;
    let inside = sum.width() <= 64 && half <= most && range(y).1 <= most - half;
    raw(op, &[rounded_first(x).filter(|_| inside)?])
}

/// A product of values that fit in the low halves reads only these.
fn halves(t: Term) -> Option<Term> {
    let factors = t.args_of(OpCode::BvMul).filter(|_| t.width() == 64)?;
    let is_half = |x: Term| {
        let inner = x.as_app().and_then(|(_, inner)| inner.first());
        inner.is_some_and(|y| y.sort() == Sort::Bv(32) && y.args_of(OpCode::Extract).is_some())
    };
    if factors.iter().all(|x| is_half(*x)) {
        return None;
    }
    let within = |least: i128, most: i128| {
        let fits = |x: &Term| (least..=most).contains(&range(*x).0) && range(*x).1 <= most;
        factors.iter().all(fits)
    };
    let signed = match within(0, (1 << 32) - 1) {
        true => false,
        false => within(-(1 << 31), (1 << 31) - 1).then_some(true)?,
    };
    // What a shift fills in above is not read: not every machine has one that fills in the sign.
    let without_sign = |x: Term| -> Option<Term> {
        let &[y, by] = x.args_of(OpCode::BvAshr)? else {
            return None;
        };
        by.as_bits()?.to_u64().filter(|by| *by <= 32)?;
        raw(Op::new(OpCode::BvLshr), &[y, by])
    };
    let low = |x: Term| match is_half(x) {
        true => Some(x),
        false => resize(resize(without_sign(x).unwrap_or(x), 32, false)?, 64, signed),
    };
    let parts = [low(factors[0])?, low(factors[1])?];
    raw(Op::new(OpCode::BvMul), &parts)
}

/// Bits from the middle: shifted down, then the low ones.
fn field(op: Op, args: &[Term], t: Term) -> Option<Term> {
    let x = *args.first()?;
    if op.code != OpCode::Extract || args[1].as_int()? == 0 {
        return None;
    }
    let by = Term::bv(x.width(), i128::from(args[1].as_int()?));
    resize(raw(Op::new(OpCode::BvLshr), &[x, by])?, t.width(), false)
}

/// A part of an element, extended to the element's width again: nothing has to move. So is a part of what is
/// computed of fewer bits of elements than they have, as simplification leaves it of `(a + b) << 16 >> 25`.
fn part_of_element(t: Term) -> Option<Term> {
    let (op, args) = t.as_app()?;
    let part = *args.first()?;
    if let Some(&[x, _]) = part.args_of(OpCode::Extract)
        && x.sort() == t.sort()
    {
        return extended_field(op, args, t);
    }
    let shift = match op.code {
        OpCode::Zext => OpCode::BvLshr,
        OpCode::Sext => OpCode::BvAshr,
        _ => return None,
    };
    let (x, lo, width) = shifted_part(part, shift)?;
    let whole = uncut(x)?.args_of(OpCode::Extract)?[0];
    let fits = whole.sort() == t.sort();
    let field = Op::with(OpCode::Extract, width);
    let part = fits.then(|| raw(field, &[whole, Term::int(lo.into())]))??;
    extended_field(op, &[part], t)
}

/// What a value is a part of, from which bit on, and how many bits it has that are not the extension of these.
fn shifted_part(t: Term, shift: OpCode) -> Option<(Term, u32, u32)> {
    let (x, lo) = match t.args_of(OpCode::Extract) {
        Some(&[x, lo]) => (x, u32::try_from(lo.as_int()?).ok()?),
        _ => (t, 0),
    };
    let &[y, by] = x.args_of(shift).unwrap_or(&[x, x]) else {
        return None;
    };
    let by = match y == x {
        true => 0,
        false => u32::try_from(by.as_bits()?.to_u64()?).ok()?,
    };
    let lo = lo + by;
    let width = t.width().min(y.width().checked_sub(lo).filter(|n| *n > 0)?);
    Some((y, lo, width))
}

/// A field, extended: shifted to the low end with the bits above
/// it cleared, or to the high end and back with its sign.
fn extended_field(op: Op, args: &[Term], t: Term) -> Option<Term> {
    let signed = op.code == OpCode::Sext;
    let of = *args.first().filter(|_| signed || op.code == OpCode::Zext)?;
    let [x, lo] = *of.args_of(OpCode::Extract)? else {
        return None;
    };
    if !regular(x) || !regular(t) {
        return None;
    }
    let (n, w, lo) = (of.width(), x.width(), u32::try_from(lo.as_int()?).ok()?);
    let shifted = |code: OpCode, x: Term, by: u32| match by {
        0 => Some(x),
        _ => raw(Op::new(code), &[x, Term::bv(w, by.into())]),
    };
    let field = if signed {
        let top = shifted(OpCode::BvShl, x, w - lo - n)?;
        shifted(OpCode::BvAshr, top, w - n)?
    } else {
        let low = shifted(OpCode::BvLshr, x, lo)?;
        match lo + n == w {
            true => low,
            false => raw(
                Op::new(OpCode::BvAnd),
                &[low, Term::bits(Bits::ones(n).zext(w))],
            )?,
        }
    };
    resize(field, t.width(), signed)
}

/// Narrowing by half first; a saturation as two bounds.
fn narrowed(op: Op, args: &[Term]) -> Vec<Term> {
    let Some(&x) = args.first().filter(|x| regular(**x)) else {
        return Vec::new();
    };
    let (Some(w), to) = (x.sort().width(), op.params[0]) else {
        return Vec::new();
    };
    let half = halved(op, args, x, w, to);
    let found = [half, positive(op, x), bounded(op, x, w, to)];
    found.into_iter().flatten().collect()
}

/// A saturation to values without sign as one of values without sign.
fn positive(op: Op, x: Term) -> Option<Term> {
    if op.code != OpCode::SatSU {
        return None;
    }
    let none = Term::bits(Bits::zero(x.width()));
    let positive = raw(Op::new(OpCode::Smax), &[x, none])?;
    raw(Op::with(OpCode::SatUU, op.params[0]), &[positive])
}

fn halved(op: Op, args: &[Term], x: Term, w: u32, to: u32) -> Option<Term> {
    use OpCode as C;
    if to == 0 || to * 2 >= w {
        return None;
    }
    let code = match op.code {
        C::Extract if args[1].as_int() == Some(0) => {
            return resize(resize(x, w / 2, false)?, to, false);
        }
        C::SatSS | C::SatSU => C::SatSS,
        C::SatUS | C::SatUU => C::SatUU,
        _ => return None,
    };
    raw(op, &[raw(Op::with(code, w / 2), &[x])?])
}

fn bounded(op: Op, x: Term, w: u32, to: u32) -> Option<Term> {
    use OpCode as C;
    if to < 2 || to >= w {
        return None;
    }
    let most = |ones: u32| Term::bits(Bits::ones(ones).zext(w));
    let least = Term::bits(Bits::ones(w).shl(&Bits::from_u64(w, u64::from(to - 1))));
    let two = |a: C, x: Term, y: Term| raw(Op::new(a), &[x, y]);
    let clamped = match op.code {
        C::SatSS => two(C::Smin, two(C::Smax, x, least)?, most(to - 1)),
        C::SatSU => two(
            C::Smin,
            two(C::Smax, x, Term::bits(Bits::zero(w)))?,
            most(to),
        ),
        C::SatUS => two(C::Umin, x, most(to - 1)),
        C::SatUU => two(C::Umin, x, most(to)),
        _ => None,
    };
    resize(clamped?, to, false)
}

/// A long extension in two steps.
fn stepwise_extension(op: Op, args: &[Term]) -> Option<Term> {
    let x = *args.first()?;
    let w = x.sort().width()?;
    if !matches!(op.code, OpCode::Sext | OpCode::Zext) || op.params[0] <= 2 * w || w < 8 {
        return None;
    }
    raw(op, &[raw(Op::with(op.code, op.params[0] / 2), &[x])?])
}

/// The same operation in lanes of twice the width.
fn wider(op: Op, args: &[Term], t: Term) -> Option<Term> {
    use OpCode as C;
    let w = args.first()?.sort().width()?;
    if !matches!(w, 8 | 16 | 32) || args.iter().any(|a| a.sort() != Sort::Bv(w)) {
        return None;
    }
    let same = |signed: bool| -> Option<Term> {
        let parts: Option<Vec<Term>> = args.iter().map(|&a| resize(a, 2 * w, signed)).collect();
        raw(op, &parts?)
    };
    let whole = match op.code {
        C::BvAdd | C::BvSub | C::BvMul | C::Umin | C::Umax | C::BvLshr | C::BvShl => same(false),
        C::BvUlt | C::BvUle | C::Eq | C::Popcnt => same(false),
        C::Smin | C::Smax | C::BvNeg | C::Abs | C::BvSlt | C::BvSle => same(true),
        C::BvAshr => raw(
            op,
            &[
                resize(args[0], 2 * w, true)?,
                resize(args[1], 2 * w, false)?,
            ],
        ),
        _ => None,
    }?;
    match t.sort() {
        Sort::Bool => Some(whole),
        _ => resize(whole, t.width(), false),
    }
}

/// A value above zeros: extended, then shifted up.
fn raised(op: Op, args: &[Term], t: Term) -> Option<Term> {
    let [x, low] = *args else { return None };
    if op.code != OpCode::Concat || low.as_bits()?.to_u64()? != 0 || !regular(t) {
        return None;
    }
    let by = Term::bv(t.width(), i128::from(low.width()));
    raw(Op::new(OpCode::BvShl), &[resize(x, t.width(), false)?, by])
}

/// A choice by an order without a sign, by what the lesser is not and by what is left of a clamped
/// difference: the other side first, where a machine compares with a sign only and negates no truth.
fn chosen_otherwise(t: Term) -> Option<[Option<Term>; 2]> {
    use OpCode as C;
    let [test, then, otherwise] = *t.args_of(C::Ite)? else {
        return None;
    };
    let [x, y] = *test.args_of(C::BvUlt).filter(|s| s[0].width() < 64)? else {
        return None;
    };
    let w = x.width();
    let unless = |value: Option<Term>, is: Term| {
        let equal = raw(Op::new(C::Eq), &[value?, is])?;
        raw(Op::new(C::Ite), &[equal, otherwise, then])
    };
    let wide = |t: Term| resize(t, w + 1, false);
    let left = raw(Op::new(C::BvSub), &[wide(y)?, wide(x)?]);
    let left = left.and_then(|left| raw(Op::with(C::SatSU, w), &[left]));
    let least = raw(Op::new(C::Umin), &[x, y]);
    Some([unless(least, y), unless(left, Term::bv(w, 0))])
}

/// A difference of which the greater is the first: bounds in place of a choice.
fn chosen(op: Op, args: &[Term]) -> Option<Term> {
    use OpCode as C;
    let (test, sides) = args.first()?.as_app().filter(|_| op.code == C::Ite)?;
    if sides.len() != 2 || sides[0].sort() != args[1].sort() {
        return None;
    }
    let [most, least] = match test.code {
        C::BvUlt | C::BvUle => [C::Umax, C::Umin],
        C::BvSlt | C::BvSle => [C::Smax, C::Smin],
        _ => return None,
    };
    let difference = |t: Term, x: Term, y: Term| t.args_of(C::BvSub) == Some(&[x, y][..]);
    let (x, y) = (sides[0], sides[1]);
    if !difference(args[1], y, x) || !difference(args[2], x, y) {
        return None;
    }
    let bound = |code: C| raw(Op::new(code), sides);
    raw(Op::new(C::BvSub), &[bound(most)?, bound(least)?])
}

/// What lies above the lower half of a product, shifted further, as the upper half, shifted as it
/// is: where one instruction gives the upper half.
fn upper_shifted(op: Op, args: &[Term], t: Term) -> Option<Term> {
    if op.code != OpCode::Extract || args[1].as_int() != Some(0) {
        return None;
    }
    let w = t.width();
    let (shift, inner) = args[0].as_app()?;
    let arithmetic = shift.code == OpCode::BvAshr;
    if !arithmetic && shift.code != OpCode::BvLshr {
        return None;
    }
    let product = *inner.first()?;
    product
        .args_of(OpCode::BvMul)
        .filter(|_| product.width() == 2 * w)?;
    let further = inner[1].as_bits()?.to_u64()?.checked_sub(u64::from(w))?;
    if further == 0 || further >= u64::from(w) {
        return None;
    }
    let by = |width, n: u64| Term::bv(width, i128::from(n));
    let upper = raw(shift, &[product, by(2 * w, u64::from(w))])?;
    raw(shift, &[resize(upper, w, false)?, by(w, further)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use smt::prover::Prover;

    /// A rounded shift of a value of 16 bits, clamped to 8.
    fn rounded(x: Term, by: i128) -> Term {
        let half = Term::bv(16, 1 << (by - 1));
        let sum = raw(Op::new(OpCode::BvAdd), &[x, half]).expect("a sum");
        let down = raw(Op::new(OpCode::BvAshr), &[sum, Term::bv(16, by)]).expect("a shift");
        raw(Op::with(OpCode::SatSS, 8), &[down]).expect("a saturation")
    }

    #[test]
    fn an_operand_is_extended_in_two_steps_where_it_is_extended_fourfold() {
        let [x, y] = ["x", "y"].map(|name| b::zext(Term::var(name, Sort::Bv(8)), 32));
        let z = Term::var("z", Sort::Bv(32));
        let prover = Prover::new(Default::default());
        for t in [b::add(x, z), b::sub(x, y), b::mul(z, y)] {
            let (other, of) = fewer_bits::extended_in_steps(t).expect("it is one");
            assert!(of.iter().any(|x| x.width() == 16), "{other}");
            assert!(prover.prove_equal(other, t).is_proved(), "{other}");
        }
        assert!(fewer_bits::extended_in_steps(b::add(z, z)).is_none());
        let twice = b::zext(Term::var("x", Sort::Bv(16)), 32);
        assert!(fewer_bits::extended_in_steps(b::add(twice, z)).is_none());
    }

    #[test]
    fn a_rounded_shift_is_written_without_its_sum_where_that_wraps_for_no_value() {
        let [x, y] = ["x", "y"].map(|name| b::sext(Term::var(name, Sort::Bv(8)), 16));
        let product = raw(Op::new(OpCode::BvMul), &[x, y]).expect("a product");
        let prover = Prover::new(Default::default());
        for by in [1, 5, 7, 14] {
            let one = rounded(product, by);
            let other = at_once(one).expect("no product is so large");
            assert!(prover.prove_equal(one, other).is_proved(), "by {by}");
        }
        assert_eq!(at_once(rounded(Term::var("z", Sort::Bv(16)), 7)), None);
    }
    #[test]
    fn a_choice_by_an_unsigned_order_is_one_by_an_equality() {
        let [x, y, z] = ["x", "y", "z"].map(|name| Term::var(name, Sort::Bv(8)));
        let choice = |code: OpCode| {
            let test = raw(Op::new(code), &[x, y]).expect("a comparison");
            raw(Op::new(OpCode::Ite), &[test, z, x]).expect("a choice")
        };
        let prover = Prover::new(Default::default());
        let all = chosen_otherwise(choice(OpCode::BvUlt)).expect("it has no sign");
        for other in all.map(|other| other.expect("a term")) {
            let one = choice(OpCode::BvUlt);
            assert!(prover.prove_equal(one, other).is_proved(), "{other}");
        }
        assert!(chosen_otherwise(choice(OpCode::BvSlt)).is_none());
    }
}
