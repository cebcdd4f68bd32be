//! Ranges of values.
//!
//! In: a term of bits. Out: an interval of its signed value that holds whatever its inputs are,
//! found from its shape: by arithmetic on the ends, and, for a choice, with what its condition
//! says of the values that it compares; and what ranges decide: comparisons that always hold or
//! never, and choices that always take the same side. It does not follow single bits, nor
//! relations between values but those of the two sides of a sum that share variables.

mod corners;

pub use corners::at_corners;

use crate::bits::Bits;
use crate::build as b;
use crate::op::{Op, OpCode};
use crate::term::Term;
use std::collections::{HashMap, HashSet};

/// The least and the greatest value.
pub type Range = (i128, i128);

/// How many times the arms of choices are looked at anew, with what their conditions say.
const ASSUMPTIONS: u32 = 64;

/// A range of the signed value of a term, from its shape.
pub fn range(t: Term) -> Range {
    Ranges::default().of(t)
}

/// A range of the value of a term without sign, of fewer than 100 bits, from its shape.
pub fn unsigned(t: Term) -> Range {
    Ranges::default().unsigned(t)
}

/// Ranges found so far, each shared part looked at once.
#[derive(Default)]
pub struct Ranges {
    known: HashMap<Term, Range>,
    /// The same of values without sign.
    unsigned: HashMap<Term, Range>,
    /// Sums of more variables than are looked at together.
    many: HashSet<Term>,
    assumed: u32,
}

impl Ranges {
    /// A range of the signed value of a term.
    pub fn of(&mut self, t: Term) -> Range {
        if let Some(&done) = self.known.get(&t) {
            return done;
        }
        let width = t.sort().width().unwrap_or(0);
        let full = full(width);
        let found = match t.as_bits() {
            Some(bits) => signed(bits).map(|v| (v, v)),
            None if (1..100).contains(&width) => self.of_shape(t),
            None => None,
        };
        let found = found
            .filter(|(lo, hi)| full.0 <= *lo && *hi <= full.1 && lo <= hi)
            .unwrap_or(full);
        self.known.insert(t, found);
        found
    }

    /// A range of the value of a term without sign, of fewer than 100 bits.
    pub fn unsigned(&mut self, t: Term) -> Range {
        if let Some(&done) = self.unsigned.get(&t) {
            return done;
        }
        let w = t.sort().width().unwrap_or(0);
        let found = match self.of(t) {
            (lo, hi) if lo >= 0 || w >= 100 => (lo, hi),
            (lo, hi) if hi < 0 => (lo + (1 << w), hi + (1 << w)),
            _ => {
                let all = ends(w, false);
                let found = self.of_unsigned_shape(t);
                let within = |found: &Range| 0 <= found.0 && found.1 <= all.1;
                found.filter(within).unwrap_or(all)
            }
        };
        self.unsigned.insert(t, found);
        found
    }

    /// Notes what somebody else knows of a value, of fewer than 100 bits, with a sign or without.
    pub fn learn(&mut self, t: Term, signed: bool, (lo, hi): Range) {
        let full = ends(t.width(), signed);
        let known = match signed {
            true => &mut self.known,
            false => &mut self.unsigned,
        };
        let range = known.entry(t).or_insert(full);
        *range = (range.0.max(lo), range.1.min(hi));
        let positive = ends(t.width() - 1, false);
        if lo >= 0 && hi <= positive.1 {
            let other = match signed {
                true => &mut self.unsigned,
                false => &mut self.known,
            };
            let range = other.entry(t).or_insert(positive);
            *range = (range.0.max(lo), range.1.min(hi));
        }
    }

    fn of_unsigned_shape(&mut self, t: Term) -> Option<Range> {
        use OpCode as C;
        let (op, a) = t.as_app()?;
        match op.code {
            C::Ite => {
                let (x, y) = (self.unsigned(a[1]), self.unsigned(a[2]));
                return Some((x.0.min(y.0), x.1.max(y.1)));
            }
            C::FToUint => return crate::float::bounds::converted(op, a),
            C::BvLshr => return Some((0, self.unsigned(a[0]).1)),
            C::BvAdd | C::BvSub | C::BvMul | C::Umin | C::Umax => {}
            C::BvAnd | C::BvOr | C::BvXor => {}
            _ => return None,
        }
        let &[x, y] = a else { return None };
        let (x, y) = (self.unsigned(x), self.unsigned(y));
        match op.code {
            C::BvAdd | C::BvSub => {
                let together = corners::of(self, t);
                let together = together.filter(|found| found.1 < 1 << t.width());
                together.or_else(|| exactly(op.code, x, y))
            }
            C::Umin => Some((x.0.min(y.0), x.1.min(y.1))),
            C::Umax => Some((x.0.max(y.0), x.1.max(y.1))),
            C::BvAnd => Some((0, x.1.min(y.1))),
            C::BvOr | C::BvXor => Some(combined(op.code, x, y)),
            code => exactly(code, x, y),
        }
    }

    fn of_shape(&mut self, t: Term) -> Option<Range> {
        use OpCode as C;
        let (op, a) = t.as_app()?;
        let w = t.width();
        match op.code {
            C::Ite => return self.choice(a),
            C::FToSint | C::FToUint => return crate::float::bounds::converted(op, a),
            C::Popcnt | C::Clz | C::Ctz => return Some((0, i128::from(w))),
            _ => {}
        }
        let first = *a.first()?;
        let from = first.sort().width()?;
        let x = self.of(first);
        match op.code {
            C::Sext => Some(x),
            C::Zext => Some(self.unsigned(first)),
            C::BvNeg => Some((x.1.checked_neg()?, x.0.checked_neg()?)),
            C::BvNot => Some((-1 - x.1, -1 - x.0)),
            C::Abs => Some(match x {
                (0.., _) => x,
                (_, ..=0) => (-x.1, x.0.checked_neg()?),
                _ => (0, x.1.max(x.0.checked_neg()?)),
            }),
            C::Extract => {
                let by = u32::try_from(a[1].as_int()?).ok().filter(|by| *by < 127)?;
                let inside = by + w <= from;
                let x = if inside { x } else { self.unsigned(first) };
                Some((x.0 >> by, x.1 >> by))
            }
            C::SatSS | C::SatSU | C::SatUS | C::SatUU => {
                let (value, held) = self.saturation(op.code, first, w);
                Some(clamped(value, held))
            }
            C::BvAdd | C::BvSub => {
                let y = self.of(*a.get(1)?);
                self.of_sum(t, op.code, [x, y])
            }
            C::Umin | C::Umax | C::BvLshr | C::BvUdiv | C::BvUrem => {
                self.of_two_unsigned(op.code, first, *a.get(1)?)
            }
            _ => self.of_two(op.code, x, *a.get(1)?, from),
        }
    }

    /// By the ends of both sides, and where these depend on each other by corners.
    fn of_sum(&mut self, t: Term, code: OpCode, [x, y]: [Range; 2]) -> Option<Range> {
        let (least, most) = full(t.width());
        let fits = |found: &Range| least <= found.0 && found.1 <= most;
        let apart = exactly(code, x, y).filter(fits);
        let together = corners::of(self, t).filter(fits);
        match (apart, together) {
            (Some(x), Some(y)) => Some((x.0.max(y.0), x.1.min(y.1))),
            (one, other) => one.or(other),
        }
    }

    fn of_two(&mut self, code: OpCode, x: Range, second: Term, w: u32) -> Option<Range> {
        use OpCode as C;
        let y = self.of(second);
        let number = second.as_bits().and_then(signed);
        let count = number.filter(|by| (0..i128::from(w)).contains(by));
        match code {
            C::BvMul => exactly(code, x, y),
            C::BvShl => products(x, (1 << count?, 1 << count?)),
            C::BvAshr => Some((x.0 >> count?, x.1 >> count?)),
            C::BvAnd => match [x, y] {
                [(0.., x), (0.., y)] => Some((0, x.min(y))),
                [(0.., most), _] | [_, (0.., most)] => Some((0, most)),
                _ => Some(of_both(x, y)),
            },
            C::BvOr | C::BvXor if x.0 < 0 || y.0 < 0 => Some(of_both(x, y)),
            C::BvOr | C::BvXor => Some(combined(code, x, y)),
            C::Smin => Some((x.0.min(y.0), x.1.min(y.1))),
            C::Smax => Some((x.0.max(y.0), x.1.max(y.1))),
            C::BvSdiv => number.filter(|by| *by > 0).map(|by| (x.0 / by, x.1 / by)),
            C::BvSrem => {
                let most = number.filter(|by| *by != 0)?.abs() - 1;
                Some((x.0.max(-most).min(0), x.1.min(most).max(0)))
            }
            _ => None,
        }
    }

    /// Of what reads its operands without sign.
    fn of_two_unsigned(&mut self, code: OpCode, first: Term, second: Term) -> Option<Range> {
        use OpCode as C;
        let (x, y) = (self.unsigned(first), self.unsigned(second));
        let number = second.as_bits().and_then(signed);
        match code {
            C::Umin => Some((x.0.min(y.0), x.1.min(y.1))),
            C::Umax => Some((x.0.max(y.0), x.1.max(y.1))),
            C::BvLshr => match number {
                Some(by @ 0..100) => Some((x.0 >> by, x.1 >> by)),
                _ => Some((0, x.1)),
            },
            _ if y.0 <= 0 => None,
            C::BvUdiv => Some((x.0 / y.1, x.1 / y.0)),
            _ if x.1 < y.0 => Some(x),
            _ => Some((0, x.1.min(y.1 - 1))),
        }
    }

    /// The range of a value as a saturation reads it, and what its result holds.
    fn saturation(&mut self, code: OpCode, x: Term, to: u32) -> (Range, Range) {
        use OpCode as C;
        let value = match code {
            C::SatSS | C::SatSU => self.of(x),
            _ => self.unsigned(x),
        };
        (value, ends(to, matches!(code, C::SatSS | C::SatUS)))
    }

    /// Of either arm, with what the condition says there of the values that it compares.
    fn choice(&mut self, a: &[Term]) -> Option<Range> {
        let arms = [(a[1], true), (a[2], false)].map(|(arm, holds)| self.given(arm, a[0], holds));
        match arms {
            [Some(x), Some(y)] => Some((x.0.min(y.0), x.1.max(y.1))),
            [one, other] => one.or(other),
        }
    }

    /// The range of an arm where a condition holds or fails; none where it never does.
    fn given(&mut self, arm: Term, condition: Term, holds: bool) -> Option<Range> {
        let mut facts = HashMap::new();
        self.facts(condition, holds, &mut facts);
        if facts.values().any(|(lo, hi)| lo > hi) {
            return None;
        }
        if arm.as_bits().is_some() || facts.is_empty() || self.assumed >= ASSUMPTIONS {
            return Some(self.of(arm));
        }
        let mut inner = Ranges {
            known: facts,
            assumed: self.assumed + 1,
            ..Ranges::default()
        };
        let found = inner.of(arm);
        self.assumed = inner.assumed;
        Some(found)
    }

    /// What a condition says of the values that it compares, where it holds or fails.
    fn facts(&mut self, condition: Term, holds: bool, out: &mut HashMap<Term, Range>) {
        use OpCode as C;
        let Some((op, a)) = condition.as_app() else {
            return;
        };
        match (op.code, holds) {
            (C::Not, _) => self.facts(a[0], !holds, out),
            (C::And, true) | (C::Or, false) => {
                for &part in a {
                    self.facts(part, holds, out);
                }
            }
            (C::BvSlt | C::BvSle | C::BvUlt | C::BvUle, _) => {
                self.order(op, [a[0], a[1]], holds, out)
            }
            (C::Eq, true) if a[0].sort().width().is_some() => {
                let (x, y) = (self.of(a[0]), self.of(a[1]));
                let both = (x.0.max(y.0), x.1.min(y.1));
                also(out, a[0], both);
                also(out, a[1], both);
            }
            _ => {}
        }
    }

    fn order(&mut self, op: Op, [p, q]: [Term; 2], holds: bool, out: &mut HashMap<Term, Range>) {
        use OpCode as C;
        // `lesser + gap <= greater`.
        let strict = matches!(op.code, C::BvSlt | C::BvUlt);
        let (lesser, greater) = if holds { (p, q) } else { (q, p) };
        let gap = i128::from(strict == holds);
        let (mut low, mut high) = (self.of(lesser), self.of(greater));
        if matches!(op.code, C::BvUlt | C::BvUle) {
            // What is less than something without a sign bit has none.
            if high.0 < 0 {
                return;
            }
            low = if low.0 < 0 { (0, high.1) } else { low };
        }
        low.1 = low.1.min(high.1 - gap);
        high.0 = high.0.max(low.0 + gap);
        also(out, lesser, low);
        also(out, greater, high);
    }
}

/// What an application always is, whatever its inputs are.
pub fn decided(t: Term, ranges: &mut Ranges) -> Option<Term> {
    use OpCode as C;
    let (op, args) = t.as_app()?;
    if op.code == C::Abs {
        return match ranges.of(args[0]) {
            (0.., _) => Some(args[0]),
            (_, ..=0) => Some(b::neg(args[0])),
            _ => None,
        };
    }
    let unsigned = matches!(op.code, C::BvUlt | C::BvUle | C::Umin | C::Umax);
    let signed = matches!(op.code, C::BvSlt | C::BvSle | C::Smin | C::Smax | C::Eq);
    let &[x, y] = args else { return None };
    if !unsigned && !signed || x.sort().width().is_none() {
        return None;
    }
    let (p, q) = (ranges.of(x), ranges.of(y));
    if unsigned && (p.0 < 0 || q.0 < 0) {
        return None;
    }
    match op.code {
        C::BvSlt | C::BvUlt => less(p, q, 1).map(Term::bool),
        C::BvSle | C::BvUle => less(p, q, 0).map(Term::bool),
        C::Eq => (p.1 < q.0 || q.1 < p.0).then(|| Term::bool(false)),
        C::Smin | C::Umin => lesser(p, q).map(|first| if first { x } else { y }),
        C::Smax | C::Umax => lesser(p, q).map(|first| if first { y } else { x }),
        _ => None,
    }
}

/// What the bits of two numbers give when they are combined one by one: all that is above the wider
/// one's sign equals its sign.
fn of_both(x: Range, y: Range) -> Range {
    let bits = |v: i128| 129 - (v ^ (v >> 127)).leading_zeros();
    let most = [x.0, x.1, y.0, y.1].map(bits).into_iter().max();
    ends(most.unwrap_or(1), true)
}

/// What a disjunction of two positive numbers gives, or an exclusive one.
fn combined(code: OpCode, x: Range, y: Range) -> Range {
    let bits = 128 - x.1.max(y.1).leading_zeros();
    let least = if code == OpCode::BvOr {
        x.0.max(y.0)
    } else {
        0
    };
    (least, (1 << bits) - 1)
}

/// The low bits that a saturation always is, where its value is never beyond what they hold.
pub fn never_saturates(t: Term, ranges: &mut Ranges) -> Option<Term> {
    use OpCode as C;
    let (op, args) = t.as_app()?;
    let w = t.sort().width().filter(|w| *w < 100)?;
    if !matches!(op.code, C::SatSS | C::SatSU | C::SatUS | C::SatUU) {
        return None;
    }
    let x = *args.first()?;
    let (value, held) = ranges.saturation(op.code, x, w);
    let known = x.width() < 100 && held.0 <= value.0 && value.1 <= held.1;
    known.then(|| b::extract(x, 0, w))
}

/// Whether `p + gap <= q`, where that is always so or never.
fn less(p: Range, q: Range, gap: i128) -> Option<bool> {
    match (p.1.checked_add(gap)? <= q.0, p.0.checked_add(gap)? > q.1) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    }
}

/// Which of two is never the greater: the first, if that is true.
fn lesser(p: Range, q: Range) -> Option<bool> {
    match (p.1 <= q.0, q.1 <= p.0) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    }
}

/// One more thing that is known of a value.
fn also(facts: &mut HashMap<Term, Range>, of: Term, (lo, hi): Range) {
    facts
        .entry(of)
        .and_modify(|known| *known = (known.0.max(lo), known.1.min(hi)))
        .or_insert((lo, hi));
}

/// The least and the greatest number of a width below 127, with a sign or without.
pub fn ends(width: u32, signed: bool) -> Range {
    match signed {
        true => (-(1i128 << (width - 1)), (1i128 << (width - 1)) - 1),
        false => (0, (1i128 << width) - 1),
    }
}

/// All signed values of a width.
fn full(w: u32) -> Range {
    match w {
        1..100 => ends(w, true),
        _ => (i128::MIN, i128::MAX),
    }
}

fn clamped((lo, hi): Range, (least, most): Range) -> Range {
    (lo.clamp(least, most), hi.clamp(least, most))
}

/// The value with a sign, of fewer than 100 bits.
pub fn signed(bits: &Bits) -> Option<i128> {
    bits.to_i128().filter(|_| bits.width() < 100)
}

/// The range of a sum, difference or product that wraps nowhere.
pub fn exactly(code: OpCode, x: Range, y: Range) -> Option<Range> {
    match code {
        OpCode::BvAdd => Some((x.0.checked_add(y.0)?, x.1.checked_add(y.1)?)),
        OpCode::BvSub => Some((x.0.checked_sub(y.1)?, x.1.checked_sub(y.0)?)),
        _ => products(x, y),
    }
}

fn products(x: Range, y: Range) -> Option<Range> {
    let all = [
        x.0.checked_mul(y.0)?,
        x.0.checked_mul(y.1)?,
        x.1.checked_mul(y.0)?,
        x.1.checked_mul(y.1)?,
    ];
    Some((*all.iter().min()?, *all.iter().max()?))
}

#[cfg(test)]
mod tests;
