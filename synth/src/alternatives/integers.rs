//! Operators on whole elements by simpler ones, for widths at which a machine lacks them.
//!
//! In: an application whose operands have widths that registers have. Out: equal terms over sums,
//! differences, products of halves, logic, shifts, comparisons and choices. Each row of
//! [`simpler`] is one identity of machine arithmetic, right at every width; which is cheapest is
//! not decided here.

use super::long_products::is_half;
use crate::fragment::constant_bits;
use crate::legal::{constant_last, raw, resize, rounded_up, two};
use crate::masks::mask;
use crate::matching::summands;
use semantics::bits::Bits;
use semantics::op::{Op, OpCode};
use semantics::range::{range, signed, unsigned};
use semantics::sort::Sort;
use semantics::term::Term;

/// Equal terms, likeliest first.
pub(crate) fn simpler(op: Op, args: &[Term], t: Term) -> Vec<Term> {
    use OpCode as C;
    let Sort::Bv(w) = t.sort() else {
        return Vec::new();
    };
    let found = match op.code {
        C::Smin => vec![extreme(two(C::BvSlt, args[0], args[1]), args)],
        C::Umin => vec![extreme(two(C::BvUlt, args[0], args[1]), args)],
        C::Smax => vec![extreme(two(C::BvSlt, args[1], args[0]), args)],
        C::Umax => vec![extreme(two(C::BvUlt, args[1], args[0]), args)],
        C::Abs => vec![absolute(args[0])],
        C::BvNeg => vec![two(C::BvSub, zero(w), args[0])],
        C::BvAshr => vec![
            arithmetic_shift(args[0], args[1]),
            signed_shift(args[0], args[1]),
        ],
        C::BvMul if w == 8 => {
            let factors = constant_last([args[0], args[1]]);
            vec![
                scaled(factors),
                nested(factors, false),
                nested(factors, true),
            ]
        }
        C::BvMul if w == 64 => vec![
            scaled(constant_last([args[0], args[1]])),
            product(args[0], args[1]),
        ],
        C::BvMul if w == 32 => vec![
            scaled(constant_last([args[0], args[1]])),
            product_by_halves(args[0], args[1]),
        ],
        C::Popcnt if w >= 16 => vec![population(args[0])],
        C::Clz if w < 32 => vec![zeros_of_wider(args[0])],
        C::Clz => vec![leading_zeros(args[0])],
        C::SatUU | C::SatSU | C::SatSS => vec![saturated(op, args[0])],
        C::Extract => match shifted_sum(args, t) {
            Some((sum, 1)) => average(sum, t),
            Some((sum, by)) => vec![rounded_shift(sum, by, t), average_shifted(sum, by, t)],
            None => Vec::new(),
        },
        C::Rotl | C::Rotr => [C::BvOr, C::BvAdd]
            .map(|join| rotated(op.code, args[0], args[1], join))
            .to_vec(),
        C::BvUdiv => vec![by_ones(args[0], args[1])],
        C::BvOr | C::BvXor => vec![disjoint_sum([args[0], args[1]])],
        _ => Vec::new(),
    };
    found.into_iter().flatten().collect()
}

fn not(x: Term) -> Option<Term> {
    two(OpCode::BvXor, x, ones(x.width()))
}

pub(crate) fn ones(w: u32) -> Term {
    Term::bits(Bits::ones(w))
}

pub(crate) fn zero(w: u32) -> Term {
    Term::bits(Bits::zero(w))
}

pub(crate) fn number(w: u32, n: u32) -> Term {
    Term::bv(w, n.into())
}

fn shifted(code: OpCode, x: Term, by: u32) -> Option<Term> {
    two(code, x, number(x.width(), by))
}

/// All ones where a value is negative, zeros elsewhere.
fn sign(x: Term) -> Option<Term> {
    let w = x.width();
    mask(two(OpCode::BvSlt, x, zero(w))?, w)
}

/// The first value where a condition holds, else the second.
fn extreme(first: Option<Term>, args: &[Term]) -> Option<Term> {
    raw(Op::new(OpCode::Ite), &[first?, args[0], args[1]])
}

fn absolute(x: Term) -> Option<Term> {
    let s = sign(x)?;
    two(OpCode::BvSub, two(OpCode::BvXor, x, s)?, s)
}

/// Shifts of a machine that go up or down, as the sign of a count says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BothWays {
    /// So many low bits count, the highest of them as a sign.
    pub count: u32,
    /// Whether it is a negative count that goes down.
    pub down_by_negative: bool,
    /// The operator that goes down.
    pub down: OpCode,
}

/// A shift by a number that is no constant as one up or down by a number with a sign.
pub(super) fn shift_both_ways(t: Term, ways: BothWays) -> Option<Term> {
    use OpCode as C;
    let (op, args) = t.as_app()?;
    if !matches!(op.code, C::BvShl | C::BvLshr | C::BvAshr) {
        return None;
    }
    let (x, by, w) = (args[0], args[1], args[0].width());
    if constant_bits(by).is_some() || w > 64 || op.code != C::BvShl && op.code != ways.down {
        return None;
    }
    let negative_goes = ways.down_by_negative == (op.code != C::BvShl);
    // Of negative counts there is one more, which all ones above it are for a positive one: it goes the
    // other way, where nothing is left of what is shifted up, or down without its sign.
    let room = (1u32 << (ways.count - 1)) - u32::from(!negative_goes);
    let other_is_signed = op.code == C::BvShl && ways.down == C::BvAshr;
    let end = room + u32::from(!negative_goes && room + 1 == w && !other_is_signed);
    let most = if op.code == C::BvAshr { w - 1 } else { w };
    let (least, greatest) = range(by);
    let by = match least >= 0 && greatest <= most.min(end).into() {
        true => by,
        false if most <= end => two(C::Umin, by, number(w, most))?,
        false => return None,
    };
    let count = match negative_goes {
        true => raw(Op::new(C::BvNeg), &[by])?,
        false => by,
    };
    let down = Op::new(ways.down);
    let low = raw(Op::with(C::Extract, ways.count), &[count, Term::int(0)])?;
    let negative = two(C::BvSlt, low, zero(ways.count))?;
    let less = resize(raw(Op::new(C::BvNeg), &[low])?, w, false)?;
    let more = resize(low, w, false)?;
    let [by_negative, by_positive] = match ways.down_by_negative {
        true => [raw(down, &[x, less])?, two(C::BvShl, x, more)?],
        false => [two(C::BvShl, x, less)?, raw(down, &[x, more])?],
    };
    raw(Op::new(C::Ite), &[negative, by_negative, by_positive])
}

/// A negative value is complemented before its zeros are shifted in, and after.
fn arithmetic_shift(x: Term, by: Term) -> Option<Term> {
    let s = sign(x)?;
    let all = u64::from(x.width() - 1);
    if by.as_bits().and_then(Bits::to_u64) == Some(all) {
        return Some(s);
    }
    let shifted = two(OpCode::BvLshr, two(OpCode::BvXor, x, s)?, by)?;
    two(OpCode::BvXor, shifted, s)
}

/// Shifted with zeros; the sign's place is taken for a number to be subtracted again.
fn signed_shift(x: Term, by: Term) -> Option<Term> {
    let w = x.width();
    let n = by.as_bits()?.to_u64().filter(|&n| n < u64::from(w))?;
    let place = Term::bits(Bits::from_u64(w, 1).shl_u32(w - 1 - u32::try_from(n).ok()?));
    let shifted = two(OpCode::BvLshr, x, by)?;
    two(OpCode::BvSub, two(OpCode::BvXor, shifted, place)?, place)
}

/// How many shifts a product by a constant may take: by halves it takes two products.
const MAX_DIGITS: usize = 3;

/// The digits of a number that are not 0, lowest first: whether each is -1, and its place. Those of the
/// non-adjacent form (Reitwiesner, 1960), of which no other form with signs has fewer, or without signs.
/// Nothing where there are none, or too many.
fn digits(number: Term, signed: bool) -> Option<Vec<(bool, u32)>> {
    let mut rest = u128::from(number.as_bits()?.to_u64()?);
    let (mut digits, mut place) = (Vec::new(), 0);
    while rest > 0 {
        if rest & 1 == 1 {
            let negative = signed && rest & 2 == 2;
            rest = if negative { rest + 1 } else { rest - 1 };
            // What lies above the width is nothing.
            digits.extend((place < number.width()).then_some((negative, place)));
        }
        rest >>= 1;
        place += 1;
    }
    (1..=MAX_DIGITS).contains(&digits.len()).then_some(digits)
}

/// A product by a constant as the sum of shifts of its digits.
fn scaled((x, by): (Term, Term)) -> Option<Term> {
    use OpCode as C;
    let w = x.width();
    let mut digits = digits(by, true)?;
    // A positive digit first: nothing has to be negated then.
    digits.sort_unstable();
    let mut sum = None;
    for (negative, place) in digits {
        let term = match place {
            0 => x,
            _ => shifted(C::BvShl, x, place)?,
        };
        sum = Some(match (sum, negative) {
            (None, false) => term,
            (None, true) => two(C::BvSub, zero(w), term)?,
            (Some(sum), false) => two(C::BvAdd, sum, term)?,
            (Some(sum), true) => two(C::BvSub, sum, term)?,
        });
    }
    sum
}

/// A product of narrow elements by a constant as Horner's scheme for its digits, doubled by sums: machines
/// have few shifts of bytes.
fn nested((x, by): (Term, Term), signed: bool) -> Option<Term> {
    let digits = digits(by, signed)?;
    let (&(negative, mut at), rest) = digits.split_last()?;
    if negative {
        return None;
    }
    let doubled = |sum: Term, times: u32| (0..times).try_fold(sum, |t, _| two(OpCode::BvAdd, t, t));
    let mut sum = x;
    for &(negative, place) in rest.iter().rev() {
        let add = if negative {
            OpCode::BvSub
        } else {
            OpCode::BvAdd
        };
        sum = two(add, doubled(sum, at - place)?, x)?;
        at = place;
    }
    doubled(sum, at)
}

/// The low half of a product by those of halves.
fn product(x: Term, y: Term) -> Option<Term> {
    let (w, half) = (x.width(), x.width() / 2);
    let low = |t: Term| match t.as_bits() {
        Some(bits) => raw(Op::with(OpCode::Zext, w), &[Term::bits(bits.trunc(half))]),
        None => resize(resize(t, half, false)?, w, false),
    };
    if [x, y]
        .iter()
        .all(|t| matches!(t.as_app(), Some((op, _)) if op.code == OpCode::Zext))
    {
        return None;
    }
    let high = |t: Term| match t.as_bits() {
        Some(bits) => Some(Term::bits(bits.lshr(&Bits::from_u64(w, half.into())))),
        None => shifted(OpCode::BvLshr, t, half),
    };
    let of = |x: Term, y: Term| two(OpCode::BvMul, low(x)?, low(y)?);
    let crossed = two(OpCode::BvAdd, of(high(x)?, y)?, of(x, high(y)?)?)?;
    two(
        OpCode::BvAdd,
        of(x, y)?,
        shifted(OpCode::BvShl, crossed, half)?,
    )
}

/// A product by the lower half of a factor, and by the upper half, of which the lower half counts.
fn product_by_halves(x: Term, y: Term) -> Option<Term> {
    use OpCode as C;
    let (w, half) = (x.width(), x.width() / 2);
    if is_half(x) || is_half(y) {
        return None;
    }
    let low = |t: Term, signed: bool| resize(resize(t, half, false)?, w, signed);
    let by_low = two(C::BvMul, x, low(y, false)?)?;
    let by_high = two(C::BvMul, low(x, true)?, shifted(C::BvAshr, y, half)?)?;
    two(C::BvAdd, by_low, shifted(C::BvShl, by_high, half)?)
}

/// A constant of one byte over and over.
fn repeated(w: u32, byte: u64) -> Term {
    Term::bits(Bits::from_u64(8, byte).repeated(w / 8))
}

/// The number of ones: of neighbours, of fours, of bytes, then of all of them.
fn population(x: Term) -> Option<Term> {
    use OpCode as C;
    let w = x.width();
    let masked = |t: Term, byte: u64| two(C::BvAnd, t, repeated(w, byte));
    let pairs = two(C::BvSub, x, masked(shifted(C::BvLshr, x, 1)?, 0x55)?)?;
    let fours = two(
        C::BvAdd,
        masked(pairs, 0x33)?,
        masked(shifted(C::BvLshr, pairs, 2)?, 0x33)?,
    )?;
    let bytes = two(C::BvAdd, fours, shifted(C::BvLshr, fours, 4)?)?;
    let mut sum = masked(bytes, 0x0f)?;
    let mut by = 8;
    while by < w {
        sum = two(C::BvAdd, sum, shifted(C::BvLshr, sum, by)?)?;
        by *= 2;
    }
    two(C::BvAnd, sum, number(w, 2 * w - 1))
}

/// In twice the width there are as many more leading zeros.
fn zeros_of_wider(x: Term) -> Option<Term> {
    let w = x.width();
    let wide = raw(Op::new(OpCode::Clz), &[resize(x, 2 * w, false)?])?;
    two(OpCode::BvSub, resize(wide, w, false)?, number(w, w))
}

/// Halving: where the upper half is zeros, they count, and the lower takes its place.
fn leading_zeros(x: Term) -> Option<Term> {
    use OpCode as C;
    let w = x.width();
    let (mut rest, mut count, mut half) = (x, zero(w), w / 2);
    while half > 0 {
        let upper = shifted(C::BvLshr, rest, w - half)?;
        let empty = two(C::Eq, upper, zero(w))?;
        let choose = |x: Term, y: Term| raw(Op::new(C::Ite), &[empty, x, y]);
        let more = choose(number(w, half), zero(w))?;
        count = match half == w / 2 {
            true => more,
            false => two(C::BvAdd, count, more)?,
        };
        rest = choose(shifted(C::BvShl, rest, half)?, rest)?;
        half /= 2;
    }
    // A value of zeros has one more than was counted.
    let none = two(C::Eq, x, zero(w))?;
    raw(Op::new(C::Ite), &[none, number(w, w), count])
}

/// The element of a width that a value is the extension of.
pub(super) fn element(t: Term, code: OpCode, w: u32) -> Option<Term> {
    if let Some(bits) = t.as_bits() {
        let low = bits.trunc(w);
        let back = match code {
            OpCode::Sext => low.sext(t.width()),
            _ => low.zext(t.width()),
        };
        return (back == *bits).then(|| Term::bits(low));
    }
    let (extension, inner) = t.as_app()?;
    let own = matches!(extension.code, OpCode::Zext | OpCode::Sext);
    match inner[0].sort().width().filter(|_| own)? {
        from if from == w && extension.code == code => Some(inner[0]),
        // A narrower value without sign is one of either kind.
        from if from < w && (extension.code == code || extension.code == OpCode::Zext) => {
            resize(inner[0], w, extension.code == OpCode::Sext)
        }
        _ => None,
    }
}

/// A sum or difference of two elements, clamped to their width, in that width.
fn saturated(op: Op, x: Term) -> Option<Term> {
    use OpCode as C;
    let w = op.params[0];
    let (inner, sides) = x.as_app()?;
    if let Some(bounded) = bounded_first(op, inner, sides) {
        return Some(bounded);
    }
    let both = |code: C| Some((element(sides[0], code, w)?, element(sides[1], code, w)?));
    match (op.code, inner.code) {
        (C::SatUU, C::BvAdd) => {
            let (x, y) = both(C::Zext)?;
            two(C::BvAdd, two(C::Umin, x, not(y)?)?, y)
        }
        (C::SatSU, C::BvSub) => {
            let (x, y) = both(C::Zext)?;
            two(C::BvSub, two(C::Umax, x, y)?, y)
        }
        (C::SatSS, C::BvAdd | C::BvSub) => {
            let (x, y) = both(C::Sext)?;
            let sum = two(inner.code, x, y)?;
            let apart = two(C::BvXor, x, y)?;
            let apart = if inner.code == C::BvAdd {
                not(apart)?
            } else {
                apart
            };
            let wraps = two(C::BvAnd, apart, two(C::BvXor, x, sum)?)?;
            let wraps = two(C::BvSlt, wraps, zero(w))?;
            let most = Term::bits(Bits::ones(w - 1).zext(w));
            let bound = two(C::BvXor, sign(x)?, most)?;
            raw(Op::new(C::Ite), &[wraps, bound, sum])
        }
        _ => None,
    }
}

/// A constant added and clamped: the value is bounded before by what leaves room for it.
fn bounded_first(op: Op, inner: Op, sides: &[Term]) -> Option<Term> {
    use OpCode as C;
    let w = op.params[0];
    let (x, y) = constant_last(sides.try_into().ok()?);
    let by = signed(y.as_bits()?).filter(|_| inner.code == C::BvAdd && w <= 64)?;
    let (extension, least, most) = match op.code {
        C::SatSS => (C::Sext, -(1 << (w - 1)), (1 << (w - 1)) - 1),
        C::SatSU => (C::Zext, 0, (1 << w) - 1),
        C::SatUU if by > 0 => (C::Zext, 0, (1 << w) - 1),
        _ => return None,
    };
    let (bound, room) = match (by > 0, op.code) {
        (true, C::SatSS) => (C::Smin, most - by),
        (true, _) => (C::Umin, most - by),
        (false, C::SatSS) => (C::Smax, least - by),
        (false, _) => (C::Umax, least - by),
    };
    let room = (least..=most).contains(&room).then(|| Term::bv(w, room))?;
    two(
        C::BvAdd,
        two(bound, element(x, extension, w)?, room)?,
        Term::bv(w, by),
    )
}

/// A wider value whose bits from some place on are taken, and the place.
pub(super) fn shifted_sum(args: &[Term], t: Term) -> Option<(Term, u32)> {
    let (w, x) = (t.width(), args[0]);
    match u32::try_from(args[1].as_int()?).ok()? {
        0 => {
            let (op, inner) = x.as_app()?;
            let by = inner.get(1)?.as_bits()?.to_u64();
            let by = by.and_then(|n| u32::try_from(n).ok())?;
            let all = op.code == OpCode::BvAshr
                || op.code == OpCode::BvLshr && by.checked_add(w)? <= x.width();
            (all && by > 0).then_some((inner[0], by))
        }
        by => Some((x, by)),
    }
    .filter(|(sum, _)| sum.width() > w)
}

/// A rounding shift of an element: the last bit that goes is added to the rest.
fn rounded_shift(sum: Term, by: u32, t: Term) -> Option<Term> {
    use OpCode as C;
    let w = t.width();
    let (x, half) = constant_last(sum.args_of(C::BvAdd)?.try_into().ok()?);
    if by >= w || half != Term::bits(Bits::from_u64(sum.width(), 1).shl_u32(by - 1)) {
        return None;
    }
    let (x, shift) = match element(x, C::Zext, w) {
        Some(x) => (x, C::BvLshr),
        None => (element(x, C::Sext, w)?, C::BvAshr),
    };
    rounded_up(shift, x, by)
}

/// Half of a sum of one bit more, by what both have and half of what one of them has; of signed
/// elements rounded up also by that of unsigned ones.
fn average(sum: Term, t: Term) -> Vec<Option<Term>> {
    let Some((x, y, code, up)) = averaged(sum, t.width()) else {
        return Vec::new();
    };
    let by_parts = average_by_parts(x, y, code, up);
    match (code, up) {
        (OpCode::Sext, true) => vec![by_parts, average_by_sign(x, y)],
        _ => vec![by_parts],
    }
}

/// What is the rounded average of two elements, or one shifted on, by averages of unsigned elements,
/// which machines have.
pub(super) fn averages(t: Term) -> Vec<Term> {
    let found = match t.as_app() {
        Some((op, args)) if op.code == OpCode::Extract => match shifted_sum(args, t) {
            Some((sum, 1)) => match averaged(sum, t.width()) {
                Some((x, y, OpCode::Sext, true)) => average_by_sign(x, y),
                Some((x, y, OpCode::Zext, false)) => average_by_rounded(x, y),
                _ => halved_difference(sum, t.width()),
            },
            _ => None,
        },
        Some((op, args)) if op.code == OpCode::BvLshr => rounded_by_average(args),
        _ => None,
    };
    found.into_iter().collect()
}

/// `((x >> n) + 1) >> 1` as the rounded average of `x` and `2^n - 1`, shifted on.
fn rounded_by_average(args: &[Term]) -> Option<Term> {
    use OpCode as C;
    let (sum, w) = (args[0], args[0].width());
    let one = |t: Term| t.as_bits().and_then(Bits::to_u64) == Some(1);
    let (down, added) = constant_last(sum.args_of(C::BvAdd)?.try_into().ok()?);
    let [x, by] = *down.args_of(C::BvLshr)? else {
        return None;
    };
    let n = u32::try_from(by.as_bits()?.to_u64()?).ok()?;
    if !one(args[1]) || !one(added) || n == 0 || n >= w {
        return None;
    }
    let less = Term::bits(Bits::ones(n).zext(w));
    shifted(C::BvLshr, average_of(x, less)?, n)
}

/// Bits of a sum of two elements from a later one on: those of half of it, which is an element.
fn average_shifted(sum: Term, by: u32, t: Term) -> Option<Term> {
    let (w, by) = (t.width(), by.checked_sub(1)?);
    let widths = [8, 16, 32].into_iter();
    let mut fitting = widths.filter(|n| *n >= by + w && *n < sum.width());
    let (n, code) = fitting.find_map(|n| Some((n, averaged(sum, n)?.2)))?;
    let shift = match code {
        OpCode::Sext => OpCode::BvAshr,
        _ => OpCode::BvLshr,
    };
    let half = resize(shifted(shift, sum, 1)?, n, false)?;
    resize(shifted(shift, half, by)?, w, false)
}

/// The two elements of a sum, how they are extended in it, and whether it has one more.
fn averaged(sum: Term, w: u32) -> Option<(Term, Term, OpCode, bool)> {
    use OpCode as C;
    let (mut sides, mut added) = (Vec::new(), None);
    for part in summands(sum) {
        match part.as_bits() {
            Some(bits) if added.is_none() => added = Some(bits.clone()),
            Some(_) => return None,
            None => sides.push(part),
        }
    }
    let extension = |code: C| {
        sides
            .iter()
            .all(|s| element(*s, code, w).is_some())
            .then_some(code)
    };
    let code = extension(C::Zext).or_else(|| extension(C::Sext))?;
    let part = |t: Term| element(t, code, w);
    let (x, y, up) = match (&sides[..], added) {
        (&[x, y], None) => (part(x)?, part(y)?, false),
        (&[x, y], Some(one)) if one.to_u64() == Some(1) => (part(x)?, part(y)?, true),
        (&[x], Some(number)) => match part(Term::bits(number.clone())) {
            Some(y) => (part(x)?, y, false),
            None => {
                let less = number.sub(&Bits::from_u64(number.width(), 1));
                (part(x)?, part(Term::bits(less))?, true)
            }
        },
        _ => return None,
    };
    Some((x, y, code, up))
}

/// The average by what both have and half of what one has.
fn average_by_parts(x: Term, y: Term, code: OpCode, up: bool) -> Option<Term> {
    use OpCode as C;
    let shift = match code {
        C::Sext => C::BvAshr,
        _ => C::BvLshr,
    };
    let half = shifted(shift, two(C::BvXor, x, y)?, 1)?;
    match up {
        true => two(C::BvSub, two(C::BvOr, x, y)?, half),
        false => two(C::BvAdd, two(C::BvAnd, x, y)?, half),
    }
}

/// The rounded average of signed elements by that of unsigned ones: their signs turned over.
fn average_by_sign(x: Term, y: Term) -> Option<Term> {
    use OpCode as C;
    let w = x.width();
    let top = Term::bits(Bits::from_u64(w, 1).shl_u32(w - 1));
    let turned = |t: Term| two(C::BvXor, t, top);
    turned(average_of(turned(x)?, turned(y)?)?)
}

/// Half of a difference, of the next greater or the next smaller one: by how much the rounded average lies
/// below the one element, or above the other.
fn halved_difference(difference: Term, w: u32) -> Option<Term> {
    use OpCode as C;
    // Of a number only as many bits count as half of the sum has, and the one that goes.
    let (mut more, mut less, mut added) = (Vec::new(), Vec::new(), Bits::zero(w + 1));
    for part in summands(difference) {
        match (part.as_bits(), part.args_of(C::BvNeg)) {
            (Some(bits), _) => added = added.add(&bits.trunc(w + 1)),
            (_, Some(&[y])) => less.push(y),
            _ => more.push(part),
        }
    }
    let (&[x], &[y]) = (&more[..], &less[..]) else {
        return None;
    };
    let both = |code: C| Some((code, element(x, code, w)?, element(y, code, w)?));
    let (code, x, y) = both(C::Zext).or_else(|| both(C::Sext))?;
    let top = Term::bits(Bits::from_u64(w, 1).shl_u32(w - 1));
    let turned = |t: Term| match code {
        C::Sext => two(C::BvXor, t, top),
        _ => Some(t),
    };
    let (x, y) = (turned(x)?, turned(y)?);
    let average = average_of(x, y)?;
    match added.to_i128()? {
        0 => two(C::BvSub, x, average),
        1 => two(C::BvSub, average, y),
        -1 => {
            let less = two(C::BvXor, y, Term::bits(Bits::ones(w)))?;
            two(C::BvAdd, average, less)
        }
        _ => None,
    }
}

/// The widest elements that machines average: of wider ones an average is no shorter by a rounded one.
const AVERAGED: u32 = 16;

/// The average of unsigned elements by the rounded one: both together are the sum.
fn average_by_rounded(x: Term, y: Term) -> Option<Term> {
    if x.width() > AVERAGED {
        return None;
    }
    let sum = two(OpCode::BvAdd, x, y)?;
    two(OpCode::BvSub, sum, average_of(x, y)?)
}

/// The rounded average of unsigned elements.
fn average_of(x: Term, y: Term) -> Option<Term> {
    half_of_sum(x, y, OpCode::Zext, true)
}

/// Half of the sum of two elements, of the next greater one where it is rounded up.
pub(super) fn half_of_sum(x: Term, y: Term, code: OpCode, up: bool) -> Option<Term> {
    use OpCode as C;
    let (w, signed) = (x.width(), code == C::Sext);
    let wide = |t: Term| resize(t, 2 * w, signed);
    let sum = two(C::BvAdd, wide(x)?, wide(y)?)?;
    let sum = match up {
        true => two(C::BvAdd, sum, number(2 * w, 1))?,
        false => sum,
    };
    let shift = if signed { C::BvAshr } else { C::BvLshr };
    resize(shifted(shift, sum, 1)?, w, false)
}

/// What is shifted up beside what fits below it, as a sum.
fn disjoint_sum([x, y]: [Term; 2]) -> Option<Term> {
    let below = |x: Term, y: Term| {
        let by = x.args_of(OpCode::BvShl)?[1].as_bits()?.to_u64()?;
        let (least, most) = range(y);
        (by < 127 && least >= 0 && most < 1 << by).then_some(())
    };
    below(x, y).or_else(|| below(y, x))?;
    two(OpCode::BvAdd, x, y)
}

/// A quotient by a number all of whose bits are ones, of a value of less than twice as many bits: what is
/// shifted down by so many of them is what the shift of all lacks.
fn by_ones(x: Term, divisor: Term) -> Option<Term> {
    let w = x.width();
    let bits = divisor.as_bits()?.to_u64()?.checked_add(1)?;
    let by = bits.trailing_zeros();
    let ones = bits.is_power_of_two() && by > 1 && 2 * by <= w && w <= 64;
    if !ones {
        return None;
    }
    let (_, most) = unsigned(x);
    let most_sum = most.checked_add(1)?.checked_add(most >> by)?;
    if most >= (1 << (2 * by)) - 1 || most_sum >= 1i128 << w {
        return None;
    }
    let more = two(OpCode::BvAdd, x, number(w, 1))?;
    let sum = two(OpCode::BvAdd, more, shifted(OpCode::BvLshr, x, by)?)?;
    shifted(OpCode::BvLshr, sum, by)
}

/// A rotation by a constant: two shifts, joined so or as a sum.
fn rotated(code: OpCode, x: Term, by: Term, join: OpCode) -> Option<Term> {
    use OpCode as C;
    let w = x.width();
    let n = u32::try_from(by.as_bits()?.to_u64()? % u64::from(w)).ok()?;
    let left = if code == C::Rotl { n } else { (w - n) % w };
    match left {
        0 => Some(x),
        _ => two(
            join,
            shifted(C::BvShl, x, left)?,
            shifted(C::BvLshr, x, w - left)?,
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use semantics::build as b;
    use smt::prover::Prover;

    #[test]
    fn half_of_a_difference_is_an_average() {
        let prover = Prover::new(Default::default());
        for signed in [false, true] {
            let [x, y] = ["x", "y"].map(|name| {
                let element = Term::var(name, Sort::Bv(8));
                resize(element, 32, signed).expect("a term")
            });
            let difference = two(OpCode::BvSub, x, y).expect("a term");
            let one = number(32, 1);
            let less = two(
                OpCode::BvSub,
                x,
                two(OpCode::BvAdd, y, one).expect("a term"),
            );
            // Bits above the ninth of a number are lost.
            let sums = [0, 1, -1, 0x1ff].map(|added| b::add(difference, Term::bv(32, added)));
            for of in sums.into_iter().chain(less) {
                let half = shifted(OpCode::BvAshr, of, 1).expect("a term");
                let t = resize(half, 8, false).expect("a term");
                let others = averages(t);
                assert!(!others.is_empty(), "{t}");
                for other in others {
                    assert!(prover.prove_equal(t, other).is_proved(), "{t}: {other}");
                }
            }
            let more = two(OpCode::BvAdd, difference, number(32, 5)).expect("a term");
            assert_eq!(halved_difference(more, 8), None);
        }
    }

    #[test]
    fn a_rounded_quotient_of_products_of_bytes_is_of_sums_and_shifts() {
        let [x, y] = ["x", "y"].map(|name| b::zext(Term::var(name, Sort::Bv(8)), 16));
        let prover = Prover::new(Default::default());
        let divisor = number(16, 255);
        for half in [0, 127, 128] {
            let sum = b::add(b::mul(x, y), number(16, half));
            let other = by_ones(sum, divisor).expect("it is below 65535");
            let quotient = two(OpCode::BvUdiv, sum, divisor).expect("a term");
            assert!(prover.prove_equal(quotient, other).is_proved(), "{half}");
        }
        let most = b::add(b::mul(x, y), number(16, 510));
        assert_eq!(by_ones(most, divisor), None);
    }

    #[test]
    fn a_shift_by_an_extended_constant_goes_one_way() {
        let [x, y] = ["x", "y"].map(|name| Term::var(name, Sort::Bv(16)));
        let constant = raw(Op::with(OpCode::Zext, 16), &[Term::bv(8, 2)]).expect("a term");
        let ways = BothWays {
            count: 8,
            down_by_negative: true,
            down: OpCode::BvLshr,
        };
        let by = |count| shift_both_ways(two(OpCode::BvLshr, x, count).expect("a shift"), ways);
        assert_eq!(by(constant), None);
        assert!(by(y).is_some());
    }
}
