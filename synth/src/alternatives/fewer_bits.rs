//! Values in as few bits as they need.
//!
//! In: a value of which few bits count, computed in elements of twice as many or more, as products
//! and sums of extended elements are. Out: the same in elements of half the width, where nothing
//! that is shifted or clamped exceeds them; and a rounding shift of a value that is an element,
//! extended, as machines take it; a weighted sum that is shifted down as averages of elements; sums
//! that saturate as sums of elements that do. The ranges are those of [`semantics::range`].

use super::down_only;
use super::integers::{element, half_of_sum};
use crate::fragment::constant_bits;
use crate::legal::{constant_last, raw, resize};
use crate::matching::{factors, summands};
use semantics::op::{Op, OpCode};
use semantics::range::{ends, exactly, range, signed};
use semantics::term::Term;
use std::collections::{HashMap, HashSet};

/// Elements of a width, with sign or without.
#[derive(Clone, Copy)]
pub(super) struct Element {
    pub(super) bits: u32,
    pub(super) signed: bool,
}

impl Element {
    /// Half as wide as a value, with the sign that holds it.
    fn that_holds(value: Term) -> Option<Element> {
        let bits = value.sort().width()? / 2;
        let of = |signed| Element { bits, signed };
        [of(true), of(false)].into_iter().find(|e| e.holds(value))
    }

    fn holds(self, x: Term) -> bool {
        let (least, most) = range(x);
        let end = 1i128 << (self.bits - u32::from(self.signed));
        least >= if self.signed { -end } else { 0 } && most < end
    }

    fn extension(self) -> OpCode {
        match self.signed {
            true => OpCode::Sext,
            false => OpCode::Zext,
        }
    }

    /// A short value that is one of them when it is extended, computed in them.
    pub(super) fn of(self, x: Term) -> Option<Term> {
        let short = x.as_bits().is_some() || self.is_short(x, &mut { SHORT });
        self.low(x).filter(|_| short && self.holds(x))
    }

    /// Whether few nodes lie above the elements that a value is made of.
    fn is_short(self, x: Term, left: &mut u32) -> bool {
        *left = left.saturating_sub(1);
        let Some((op, args)) = x.as_app() else {
            return *left > 0;
        };
        let extends = matches!(op.code, OpCode::Sext | OpCode::Zext);
        let is_element = extends && args[0].width() <= self.bits;
        *left > 0 && (is_element || args.iter().all(|part| self.is_short(*part, left)))
    }

    /// The low bits of a value, computed in them. What is shifted is held.
    fn low(self, x: Term) -> Option<Term> {
        self.low_once(x, &mut HashMap::new())
    }

    /// The same, of what is used several times once.
    fn low_once(self, x: Term, done: &mut HashMap<Term, Option<Term>>) -> Option<Term> {
        if let Some(&known) = done.get(&x) {
            return known;
        }
        let low = self.low_anew(x, done);
        done.insert(x, low);
        low
    }

    fn low_anew(self, x: Term, done: &mut HashMap<Term, Option<Term>>) -> Option<Term> {
        use OpCode as C;
        if x.as_bits().is_some() {
            return resize(x, self.bits, false);
        }
        let (op, args) = x.as_app()?;
        let mut both = || Some([self.low_once(args[0], done)?, self.low_once(args[1], done)?]);
        match op.code {
            C::Sext | C::Zext if args[0].width() <= self.bits => {
                resize(args[0], self.bits, op.code == C::Sext)
            }
            C::BvAdd | C::BvSub | C::BvMul | C::BvAnd | C::BvOr | C::BvXor => raw(op, &both()?),
            C::BvAshr | C::BvLshr if self.holds(args[0]) => {
                args[1]
                    .as_bits()?
                    .to_u64()
                    .filter(|&n| n < self.bits.into())?;
                let code = if self.signed { C::BvAshr } else { C::BvLshr };
                raw(Op::new(code), &both()?)
            }
            _ => None,
        }
    }
}

/// A value that is cut from or clamped of one that is shifted down: by what, and the shift with
/// what is shifted and by how much.
struct Taken {
    by: Op,
    shift: Op,
    of: Term,
    n: u32,
}

impl Taken {
    fn of(t: Term) -> Option<Taken> {
        use OpCode as C;
        let (by, args) = t.as_app()?;
        let cut = by.code == C::Extract && args[1].as_int() == Some(0);
        let clamped = matches!(by.code, C::SatSS | C::SatSU | C::SatUS | C::SatUU);
        let wide = args.first()?.sort().width()?;
        let (shift, inner) = args[0].as_app()?;
        let down = matches!(shift.code, C::BvAshr | C::BvLshr);
        let fits = wide.is_multiple_of(16) && t.sort().width()? <= wide / 2;
        if !((cut || clamped) && down && fits) {
            return None;
        }
        let given = || {
            let n = inner[1].as_bits()?.to_u64()?;
            Some((inner[0], u32::try_from(n).ok()?))
        };
        let (of, n) = down_only(shift.code, inner).or_else(given)?;
        let fits = (1..wide / 2).contains(&n);
        fits.then_some(Taken { by, shift, of, n })
    }

    /// Of `value` for what is shifted.
    fn instead(&self, shift: OpCode, value: Term, to: u32) -> Option<Term> {
        let by = Term::bv(value.width(), self.n.into());
        let shifted = raw(Op::new(shift), &[value, by])?;
        match self.by.code {
            OpCode::Extract => resize(shifted, to, false),
            _ => raw(self.by, &[shifted]),
        }
    }
}

/// What is cut or clamped of a shifted value, with the shift in elements of half the width.
pub(super) fn shifted_in_half(t: Term) -> Option<Term> {
    use OpCode as C;
    let mut taken = Taken::of(t)?;
    let wide = taken.of.width();
    let element = Element::that_holds(taken.of)?;
    // Zeros that come down beside a sign are none of what is taken.
    let cut = taken.by.code == C::Extract && taken.n + t.width() <= wide;
    if taken.shift.code == C::BvLshr && range(taken.of).0 < 0 && !cut {
        return None;
    }
    taken.by.code = match (taken.by.code, element.signed) {
        (C::SatSS, false) => C::SatUS,
        (C::SatSU, false) => C::SatUU,
        // Read without sign, a negative value is another one in fewer bits.
        (C::SatUS | C::SatUU, true) if range(taken.of).0 < 0 => return None,
        (code, _) => code,
    };
    // A clamp of elements to themselves is no operation.
    if taken.by.code != C::Extract && t.width() == element.bits {
        return None;
    }
    let shift = match element.signed {
        true => C::BvAshr,
        false => C::BvLshr,
    };
    taken.instead(shift, element.low(taken.of)?, t.width())
}

/// A sum of products that is an element half as wide, extended: it is computed in such elements.
pub(super) fn extended_last(t: Term) -> Option<Term> {
    use OpCode as C;
    let (op, _) = t.as_app()?;
    let wide = t.sort().width()?;
    let sums = matches!(
        op.code,
        C::BvAdd | C::BvSub | C::BvMul | C::BvAshr | C::BvLshr
    );
    if !sums || !matches!(wide, 32 | 64) || !multiplies(t) {
        return None;
    }
    let element = Element::that_holds(t)?;
    raw(Op::with(element.extension(), wide), &[element.low(t)?])
}

/// A value that holds an element, half as wide or less, as that element, extended; and the element, which is
/// nothing else than the low bits of the value.
pub(crate) fn as_element(t: Term) -> Vec<(Term, Term)> {
    use OpCode as C;
    let computes = |(op, _): (Op, &[Term])| {
        let moves = [C::Sext, C::Zext, C::Extract, C::Concat];
        !moves.contains(&op.code) && t.sort().width().is_some_and(|w| matches!(w, 16 | 32 | 64))
    };
    if !t.as_app().is_some_and(computes) {
        return Vec::new();
    }
    let wide = t.width();
    let (least, most) = range(t);
    // Of what a mask leaves, the mask is none of the element.
    let masked = |x: Term| {
        let (x, mask) = constant_last(x.args_of(C::BvAnd)?.try_into().ok()?);
        low_mask(mask).map(|_| x)
    };
    let x = masked(t).unwrap_or(t);
    let of = |bits: u32| {
        let signed = least < 0;
        let (lo, hi) = ends(bits, signed);
        let low = || raw(Op::with(C::Extract, bits), &[x, Term::int(0)]);
        let low = (lo <= least && most <= hi).then(low)??;
        let extension = if signed { C::Sext } else { C::Zext };
        Some((raw(Op::with(extension, wide), &[low])?, low))
    };
    let narrower = [8, 16, 32].into_iter().filter(|bits| *bits < wide);
    narrower.filter_map(of).collect()
}

/// A sum, difference or product with an operand that is extended fourfold, which is extended in two steps: with what
/// it is computed of then, for operations that take the second step too.
pub(crate) fn extended_in_steps(t: Term) -> Option<(Term, [Term; 2])> {
    use OpCode as C;
    let (op, args) = t.as_app()?;
    let &[x, y] = args else { return None };
    if !matches!(op.code, C::BvAdd | C::BvSub | C::BvMul) {
        return None;
    }
    let half = t.width() / 2;
    let first = |x: Term| {
        let (extension, inner) = x.as_app()?;
        let fourfold = inner.first()?.sort().width()? * 4 == t.width();
        let extends = matches!(extension.code, C::Sext | C::Zext);
        let step = (extends && fourfold).then(|| raw(Op::with(extension.code, half), &[inner[0]]));
        Some((step??, extension))
    };
    let steps = [x, y].map(first);
    if steps.iter().all(Option::is_none) {
        return None;
    }
    let whole = |k: usize| match steps[k] {
        Some((step, extension)) => raw(extension, &[step]),
        None => Some(args[k]),
    };
    let other = raw(op, &[whole(0)?, whole(1)?])?;
    let of = [0, 1].map(|k| steps[k].map_or(args[k], |(step, _)| step));
    Some((other, of))
}

/// The extension of what an operator gives of elements, where it is written on their extensions: extremes, bits one
/// by one, choices.
pub(super) fn extended_after(t: Term) -> Option<Term> {
    use OpCode as C;
    let (op, args) = t.as_app()?;
    let first = usize::from(op.code == C::Ite);
    let computed = args.get(first..)?.iter().find(|x| x.as_bits().is_none())?;
    let (extension, inner) = computed.as_app()?;
    let code = match (op.code, extension.code) {
        (C::Smin, C::Zext) => C::Umin,
        (C::Smax, C::Zext) => C::Umax,
        (C::Smin | C::Smax, C::Sext) => op.code,
        (C::Umin | C::Umax | C::BvAnd | C::BvOr | C::BvXor | C::Ite, C::Sext | C::Zext) => op.code,
        _ => return None,
    };
    let bits = inner[0]
        .sort()
        .width()
        .filter(|w| matches!(w, 8 | 16 | 32))?;
    let low = |x: Term| match x.args_of(extension.code) {
        Some(&[y]) if y.width() == bits => Some(y),
        _ => {
            let whole = x.as_bits()?;
            let low = whole.extract(0, bits);
            let again = match extension.code {
                C::Sext => low.sext(t.width()),
                _ => low.zext(t.width()),
            };
            (again == *whole).then(|| Term::bits(low))
        }
    };
    let lows = args[first..].iter().map(|x| low(*x));
    let lows = lows.collect::<Option<Vec<Term>>>()?;
    let all: Vec<Term> = args[..first].iter().copied().chain(lows).collect();
    raw(
        Op::with(extension.code, t.width()),
        &[raw(Op { code, ..op }, &all)?],
    )
}

/// A value of which a mask takes nothing away.
pub(super) fn nothing_masked(t: Term) -> Option<Term> {
    let (x, mask) = constant_last(t.args_of(OpCode::BvAnd)?.try_into().ok()?);
    let mask = low_mask(mask)?;
    let (least, most) = range(x);
    (0 <= least && most <= mask).then_some(x)
}

/// The greatest number of so many bits, which a mask leaves.
fn low_mask(mask: Term) -> Option<i128> {
    let mask = mask.as_bits().and_then(signed)?;
    let low = mask > 0 && (mask + 1).count_ones() == 1;
    low.then_some(mask)
}

/// Whether products of the width of a value are in it.
pub(crate) fn multiplies(t: Term) -> bool {
    let (mut seen, mut work) = (HashSet::from([t]), vec![t]);
    while let Some(x) = work.pop() {
        if x.args_of(OpCode::BvMul).is_some() {
            return true;
        }
        let same = x.children().filter(|y| y.sort() == t.sort());
        work.extend(same.filter(|y| seen.insert(*y)));
    }
    false
}

/// A shift of a sum with half of what is cut off, of a value that is an element, extended; and
/// what is clamped of it again.
pub(super) fn rounded_element(t: Term) -> Option<Term> {
    if let Some((op, args)) = t.as_app()
        && matches!(op.code, OpCode::SatSS | OpCode::SatSU | OpCode::SatUU)
        && let Some(inner) = rounded(args[0])
    {
        return raw(op, &[inner]);
    }
    rounded(t)
}

fn rounded(t: Term) -> Option<Term> {
    let taken = Taken::of(t)?;
    let (value, half) = constant_last(taken.of.args_of(OpCode::BvAdd)?.try_into().ok()?);
    let is_extended = |code| value.args_of(code).is_some();
    if half != Term::bv(value.width(), 1 << (taken.n - 1))
        || is_extended(OpCode::Sext)
        || is_extended(OpCode::Zext)
    {
        return None;
    }
    let element = Element::that_holds(value)?;
    let low = element.low(value)?;
    let value = raw(Op::with(element.extension(), value.width()), &[low])?;
    let sum = raw(Op::new(OpCode::BvAdd), &[value, half])?;
    taken.instead(taken.shift.code, sum, t.width())
}

/// A saturating sum or difference of values that fit in elements of its result's width, each an
/// element that is extended, as operations on such elements take it.
pub(super) fn elements_of_sum(t: Term) -> Option<Term> {
    let (op, args) = t.as_app()?;
    let bits = t.sort().width()?;
    let signed = match op.code {
        OpCode::SatSS => true,
        OpCode::SatSU | OpCode::SatUU => false,
        _ => return None,
    };
    let kind = Element { bits, signed };
    let (inner, sides) = args[0].as_app()?;
    if !matches!(inner.code, OpCode::BvAdd | OpCode::BvSub) || args[0].width() <= bits {
        return None;
    }
    let extended = |side: Term| {
        let is_element = side.as_bits().is_some()
            || side
                .args_of(kind.extension())
                .is_some_and(|x| x[0].width() == bits);
        if is_element {
            return Some(side);
        }
        let low = kind.low(side).filter(|_| kind.holds(side))?;
        raw(Op::with(kind.extension(), side.width()), &[low])
    };
    let sides = [extended(sides[0])?, extended(sides[1])?];
    let sum = raw(inner, &sides).filter(|sum| *sum != args[0])?;
    raw(op, &[sum])
}

/// The longest factor that is computed in an element, in nodes: quotients by words have products of long
/// ones, whose ways to be written are too many.
const SHORT: u32 = 12;

/// A product of values that fit in half its width, each as an element that is extended, as operations
/// that multiply such elements take it.
pub(super) fn product_of_elements(t: Term) -> Option<Term> {
    use OpCode as C;
    let args = t.args_of(C::BvMul)?;
    // Of products by constants there are many, and other ways to compute them.
    if args.iter().any(|side| constant_bits(*side).is_some()) {
        return None;
    }
    let bits = t.sort().width().filter(|w| w.is_multiple_of(16))? / 2;
    let product = |signed: bool| {
        let kind = Element { bits, signed };
        let extended = |side: Term| {
            let fits = |x: &[Term]| x[0].width() == bits;
            if side.args_of(kind.extension()).is_some_and(fits) {
                return Some(side);
            }
            if side.size() > SHORT {
                return None;
            }
            let low = kind.low(side).filter(|_| kind.holds(side))?;
            raw(Op::with(kind.extension(), side.width()), &[low])
        };
        let sides = [extended(args[0])?, extended(args[1])?];
        raw(Op::new(C::BvMul), &sides).filter(|new| *new != t)
    };
    [false, true].into_iter().find_map(product)
}

/// The most times that one operand is added or taken away by saturating sums.
const MOST_REPEATED: u64 = 3;

/// `sat(x + n·y)` as `sat(sat(x + y) + (n-1)·y)`, and so for differences: both go the same way. Twice
/// the width holds the whole sum.
pub(super) fn saturated_again(t: Term) -> Option<Term> {
    let (op, args) = t.as_app()?;
    let bits = t.sort().width()?;
    let (inner, sides) = args[0].as_app()?;
    let code = match (op.code, inner.code) {
        (OpCode::SatSS, _) => OpCode::Sext,
        (OpCode::SatUU, OpCode::BvAdd) | (OpCode::SatSU, OpCode::BvSub) => OpCode::Zext,
        _ => return None,
    };
    let times = |side: Term| {
        let &[y, number] = &factors(side)[..] else {
            return None;
        };
        let (y, number) = constant_last([y, number]);
        let n = number.as_bits()?.to_u64()?;
        (2..=MOST_REPEATED).contains(&n).then_some((y, n))
    };
    let (x, (y, n)) = match inner.code {
        OpCode::BvAdd => match times(sides[0]) {
            Some(found) => (sides[1], found),
            None => (sides[0], times(sides[1])?),
        },
        OpCode::BvSub => (sides[0], times(sides[1])?),
        _ => return None,
    };
    let wide = args[0].width();
    if wide < 2 * bits {
        return None;
    }
    let (x, y) = (element(x, code, bits)?, element(y, code, bits)?);
    let mut sum = x;
    for _ in 0..n {
        let both = [sum, y].map(|t| resize(t, wide, code == OpCode::Sext));
        sum = raw(op, &[raw(inner, &[both[0]?, both[1]?])?])?;
    }
    Some(sum)
}

/// What is clamped of the sum or difference of a value and a small one: of the value clamped to half its
/// width first, which keeps all that the clamp does not cut off.
pub(super) fn clamped_before(t: Term) -> Option<Term> {
    use OpCode as C;
    let (op, args) = t.as_app()?;
    let (least, most) = match op.code {
        C::SatSS => ends(op.params[0], true),
        C::SatSU => ends(op.params[0], false),
        _ => return None,
    };
    let (inner, sides) = args[0].as_app()?;
    let &[x, y] = sides else { return None };
    let (wide, signed) = (args[0].width(), true);
    let bits = wide / 2;
    let half = Element { bits, signed };
    if !matches!(inner.code, C::BvAdd | C::BvSub)
        || !matches!(wide, 32 | 64)
        || op.params[0] >= bits
        || half.holds(x) == half.holds(y)
    {
        return None;
    }
    let (from, end) = exactly(inner.code, range(x), range(y))?;
    let (lowest, highest) = ends(wide, signed);
    let first = half.holds(y);
    // The least and the greatest that is left of what is clamped, whatever stands beside it.
    let held = ends(bits, signed);
    let at = |bound: i128| match first {
        true => exactly(inner.code, (bound, bound), range(y)),
        false => exactly(inner.code, range(x), (bound, bound)),
    };
    let (low, high) = match first || inner.code == C::BvAdd {
        true => (at(held.0)?, at(held.1)?),
        false => (at(held.1)?, at(held.0)?),
    };
    if from < lowest || end > highest || low.1 > least || high.0 < most {
        return None;
    }
    let clamped = |t: Term| {
        let low = raw(Op::with(C::SatSS, bits), &[t])?;
        raw(Op::with(C::Sext, wide), &[low])
    };
    let sides = match first {
        true => [clamped(x)?, y],
        false => [x, clamped(y)?],
    };
    raw(op, &[raw(inner, &sides)?])
}

/// A clamped difference of elements of the other sign: of both less half their range, which keeps it.
pub(super) fn difference_of_other_sign(t: Term) -> Option<Term> {
    let (op, args) = t.as_app()?;
    let (from, to) = match op.code {
        OpCode::SatSS => (OpCode::Zext, OpCode::Sext),
        OpCode::SatSU => (OpCode::Sext, OpCode::Zext),
        _ => return None,
    };
    let (bits, wide) = (t.width(), args[0].width());
    if wide <= bits {
        return None;
    }
    let &[x, y] = args[0].args_of(OpCode::BvSub)? else {
        return None;
    };
    let half = Term::bv(bits, 1i128 << (bits - 1));
    let shifted = |x: Term| {
        let x = element(x, from, bits)?;
        let shifted = raw(Op::new(OpCode::BvXor), &[x, half])?;
        resize(shifted, wide, to == OpCode::Sext)
    };
    let difference = raw(Op::new(OpCode::BvSub), &[shifted(x)?, shifted(y)?])?;
    raw(op, &[difference])
}

/// The parts of a sum with the factors that they have, and the constant in it.
fn weighted(sum: Term) -> Option<(Vec<(Term, i128)>, i128)> {
    let (mut parts, mut constant): (Vec<(Term, i128)>, i128) = (Vec::new(), 0);
    for part in summands(sum) {
        if let Some(bits) = part.as_bits() {
            constant = constant.checked_add(signed(bits)?)?;
            continue;
        }
        let (mut weight, mut others) = (1i128, Vec::new());
        for factor in factors(part) {
            match factor.as_bits() {
                Some(bits) => weight = weight.checked_mul(signed(bits)?)?,
                None => others.push(factor),
            }
        }
        let (of, weight) = match others[..] {
            [of] => (of, weight),
            _ => (part, 1),
        };
        match parts.iter_mut().find(|(t, _)| *t == of) {
            Some((_, known)) => *known = known.checked_add(weight)?,
            None => parts.push((of, weight)),
        }
    }
    Some((parts, constant))
}

/// A weighted sum that is shifted down, with half of the two parts of odd weight taken first:
/// `(x + y + 2·z) >> n` as `(((x + y) >> 1) + z) >> (n-1)`, where the inner one is an average of
/// elements. What is cut off of it would not have counted.
pub(super) fn halved_sum(t: Term) -> Option<Term> {
    use OpCode as C;
    let taken = Taken::of(t).filter(|taken| taken.by.code == C::Extract && taken.n >= 2)?;
    let (wide, narrow) = (taken.of.width(), t.width());
    let (least, most) = range(taken.of);
    let end = 1i128 << (wide - 1).min(126);
    if least <= -end || most >= end - 1 || taken.shift.code == C::BvLshr && least < 0 {
        return None;
    }
    let (parts, constant) = weighted(taken.of)?;
    let odd: Vec<Term> = parts
        .iter()
        .filter(|(_, n)| n % 2 != 0)
        .map(|(t, _)| *t)
        .collect();
    let &[x, y] = &odd[..] else { return None };
    let (code, x, y) = [C::Zext, C::Sext]
        .into_iter()
        .find_map(|code| Some((code, element(x, code, narrow)?, element(y, code, narrow)?)))?;
    let two = |code: C, x: Term, y: Term| raw(Op::new(code), &[x, y]);
    let up = constant.rem_euclid(2);
    let average = half_of_sum(x, y, code, up == 1)?;
    let mut whole = resize(average, wide, code == C::Sext)?;
    for (part, weight) in parts {
        let half = weight.div_euclid(2);
        let part = match half {
            0 => continue,
            1 => part,
            _ => two(C::BvMul, part, Term::bv(wide, half))?,
        };
        whole = two(C::BvAdd, whole, part)?;
    }
    let constant = (constant - up) / 2;
    if constant != 0 {
        whole = two(C::BvAdd, whole, Term::bv(wide, constant))?;
    }
    let by = Term::bv(wide, (taken.n - 1).into());
    resize(raw(taken.shift, &[whole, by])?, narrow, false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use semantics::build as b;
    use semantics::sort::Sort;
    use smt::prover::Prover;

    #[test]
    fn what_is_clamped_of_a_sum_is_clamped_before_where_that_cuts_off_no_more() {
        let long = Term::var("x", Sort::Bv(32));
        let value = b::ashr(long, Term::bv(32, 2));
        let short = b::sext(Term::var("y", Sort::Bv(8)), 32);
        let prover = Prover::new(Default::default());
        let sum = |code: OpCode, sides: [Term; 2]| raw(Op::new(code), &sides).expect("a sum");
        for inner in [
            sum(OpCode::BvAdd, [value, Term::bv(32, 3)]),
            sum(OpCode::BvAdd, [short, value]),
            sum(OpCode::BvSub, [value, short]),
            sum(OpCode::BvSub, [Term::bv(32, 64), value]),
            sum(OpCode::BvAdd, [value, Term::bv(32, -32000)]),
        ] {
            for code in [OpCode::SatSS, OpCode::SatSU] {
                let t = raw(Op::with(code, 8), &[inner]).expect("a clamp");
                let other = clamped_before(t).expect("it is small");
                assert!(prover.prove_equal(t, other).is_proved(), "{t}");
            }
        }
        for by in [-32700, 32700] {
            let far = sum(OpCode::BvAdd, [value, Term::bv(32, by)]);
            let t = raw(Op::with(OpCode::SatSS, 8), &[far]).expect("a clamp");
            assert_eq!(clamped_before(t), None, "more is cut off");
        }
        let wraps = sum(OpCode::BvAdd, [long, short]);
        let t = raw(Op::with(OpCode::SatSS, 8), &[wraps]).expect("a clamp");
        assert_eq!(clamped_before(t), None, "the sum may wrap");
    }
}
