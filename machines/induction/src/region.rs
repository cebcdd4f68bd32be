//! Values of many places at once, and which of them a place is.
//!
//! In: where a value lies, as a function of counters. Out: [`Region`], whether a place is in it and
//! as which, or how counters must be cut so that it is for all of their rounds or for none.

use crate::linear::{Counter, Counters, Linear, Replaced, can_lie};
use crate::stop::Stop;
use crate::value::{Leaves, Value};

/// A counter of a region: how often it runs is known to [`Counters`], how many bits a round moves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Dim {
    pub(crate) counter: Counter,
    pub(crate) step: i64,
}

/// Values of places.
#[derive(Clone, Debug)]
pub(crate) struct Region {
    /// When it was written, in the order of execution.
    pub(crate) time: u64,
    /// The first bit, where the counters of the region are 0.
    pub(crate) at: Linear,
    /// The largest step first; steps are positive.
    pub(crate) dims: Vec<Dim>,
    /// Bits of a value.
    pub(crate) width: u32,
    /// The value, over the counters of the region and those of loops around; none where it is not
    /// known.
    pub(crate) value: Option<Value>,
    /// Whether it may be read by other queues.
    pub(crate) settled: bool,
}

/// Whether a place is in a region.
#[derive(Debug)]
pub(crate) enum Found {
    /// It is, with these sums for the region's counters, and so many bits into the value.
    There(Replaced, u32),
    /// For no value of any counter.
    Apart,
}

impl Region {
    /// One value.
    pub(crate) fn one(at: Linear, width: u32, value: Value) -> Region {
        Region {
            time: 0,
            at,
            dims: Vec::new(),
            width,
            value: Some(value),
            settled: true,
        }
    }

    /// Where it lies, as a function of its counters too.
    pub(crate) fn place(&self) -> Result<Linear, Stop> {
        self.dims.iter().try_fold(self.at.clone(), |at, d| {
            at.plus(&Linear::counter(d.counter).times(d.step)?)
        })
    }

    /// Bits from the first to behind the last.
    fn reach(&self, counters: &Counters) -> i128 {
        let each = |d: &Dim| i128::from(d.step) * i128::from(counters.rounds(d.counter) - 1);
        self.dims.iter().map(each).sum::<i128>() + i128::from(self.width)
    }

    /// Whether another one covers all its places in the same way.
    pub(crate) fn is_under(&self, other: &Region, leaves: &Leaves) -> bool {
        let rounds = |d: &Dim| leaves.counters.rounds(d.counter);
        let inside = |(a, b): (&Dim, &Dim)| a.step == b.step && rounds(a) <= rounds(b);
        let same = self.at == other.at && self.width == other.width;
        same && self.dims.len() == other.dims.len() && self.dims.iter().zip(&other.dims).all(inside)
    }

    /// Terms of where it lies, for [`can_lie`], with a sign.
    fn terms(&self, counters: &Counters, sign: i64, out: &mut Vec<(i64, i64)>) {
        let each = |d: &Dim| (sign * d.step, counters.rounds(d.counter) - 1);
        out.extend(self.dims.iter().map(each));
    }

    /// Whether bits from a place on may be in it, for some values of counters; what they have in
    /// common of loops around has one value.
    pub(crate) fn meets(
        &self,
        counters: &Counters,
        place: &Linear,
        width: u32,
    ) -> Result<bool, Stop> {
        self.meets_at(counters, &self.at, place, width)
    }

    fn meets_at(
        &self,
        counters: &Counters,
        at: &Linear,
        place: &Linear,
        width: u32,
    ) -> Result<bool, Stop> {
        let apart = place.minus(at)?;
        let rounds = |t: &(Counter, i64)| (t.1, counters.rounds(t.0) - 1);
        let mut terms: Vec<(i64, i64)> = apart.terms.iter().map(rounds).collect();
        self.terms(counters, -1, &mut terms);
        let constant = i128::from(apart.constant);
        let low = 1 - i128::from(width) - constant;
        let high = i128::from(self.width) - 1 - constant;
        Ok(can_lie(&terms, low, high))
    }

    /// Whether both may share a place, for the same values of counters of loops around.
    pub(crate) fn shares(&self, counters: &Counters, other: &Region) -> Result<bool, Stop> {
        let apart = other.at.minus(&self.at)?;
        let rounds = |t: &(Counter, i64)| (t.1, counters.rounds(t.0) - 1);
        let mut terms: Vec<(i64, i64)> = apart.terms.iter().map(rounds).collect();
        self.terms(counters, -1, &mut terms);
        other.terms(counters, 1, &mut terms);
        let constant = i128::from(apart.constant);
        let low = 1 - i128::from(other.width) - constant;
        let high = i128::from(self.width) - 1 - constant;
        Ok(can_lie(&terms, low, high))
    }

    /// Whether what it covers in an earlier round of a loop meets bits from a place on in a later
    /// one.
    pub(crate) fn meets_later(
        &self,
        counters: &Counters,
        round: Counter,
        (place, width): (&Linear, u32),
    ) -> Result<bool, Stop> {
        self.meets_between(counters, round, (place, &[], width))
    }

    /// The same of a whole region in a later round.
    pub(crate) fn meets_region(
        &self,
        counters: &Counters,
        round: Counter,
        other: &Region,
    ) -> Result<bool, Stop> {
        let place = (&other.at, &other.dims[..], other.width);
        self.meets_between(counters, round, place)
    }

    fn meets_between(
        &self,
        counters: &Counters,
        round: Counter,
        (place, dims, width): (&Linear, &[Dim], u32),
    ) -> Result<bool, Stop> {
        let rounds = counters.rounds(round);
        if rounds < 2 {
            return Ok(false);
        }
        // In round r of its own and r + 1 + d of the other.
        let apart = place.minus(&self.at)?;
        let later = place.factor(round);
        let mut common = Vec::new();
        for &(counter, factor) in apart.terms.iter().filter(|t| t.0 != round) {
            common.push((factor, counters.rounds(counter) - 1));
        }
        self.terms(counters, -1, &mut common);
        common.extend(
            dims.iter()
                .map(|d| (d.step, counters.rounds(d.counter) - 1)),
        );
        let possible = |own: [(i64, i64); 2], constant: i128| {
            let terms = [&own[..], &common].concat();
            let low = 1 - i128::from(width) - constant;
            let high = i128::from(self.width) - 1 - constant;
            can_lie(&terms, low, high)
        };
        let constant = i128::from(apart.constant);
        let ordered = [(later, rounds - 2), (apart.factor(round), rounds - 1)];
        // Both rounds for themselves, which are in range.
        let own = self.at.factor(round).checked_neg();
        let own = own.ok_or_else(|| Stop::because("a place is far away"))?;
        let free = [(later, rounds - 1), (own, rounds - 1)];
        Ok(possible(ordered, constant + i128::from(later)) && possible(free, constant))
    }

    /// Which of its values bits from a place on are.
    ///
    /// # Errors
    /// How counters must be cut, where that depends on them.
    pub(crate) fn find(
        &self,
        counters: &Counters,
        place: &Linear,
        width: u32,
    ) -> Result<Found, Stop> {
        self.find_at(counters, &self.at, place, width)
    }

    /// The same, if it began elsewhere.
    pub(crate) fn find_at(
        &self,
        counters: &Counters,
        at: &Linear,
        place: &Linear,
        width: u32,
    ) -> Result<Found, Stop> {
        if !self.meets_at(counters, at, place, width)? {
            return Ok(Found::Apart);
        }
        let found = self.digits_at(counters, at, place, width);
        let Err(Stop::Because(reason)) = found else {
            return found;
        };
        // Half of the rounds may be simpler.
        let terms = place.minus(at)?.terms;
        let rounds = terms.iter().map(|t| (counters.rounds(t.0), t.0));
        match rounds.filter(|r| r.0 > 1).min() {
            Some((rounds, counter)) => Err(Stop::Cut(counter, rounds / 2)),
            None => Err(Stop::Because(reason)),
        }
    }

    fn digits_at(
        &self,
        counters: &Counters,
        at: &Linear,
        place: &Linear,
        width: u32,
    ) -> Result<Found, Stop> {
        if width > self.width {
            return Err(Stop::because("more is read at once than was written"));
        }
        let mut rest = place.minus(at)?;
        if let Some(apart) = rest.as_constant() {
            return self.at_number(counters, apart, width);
        }
        let mut replaced = Vec::new();
        let mut beyond = self.reach(counters);
        // Whether rounds of the dimensions so far lie one behind the other, and none between others.
        let mut apart = true;
        for dim in &self.dims {
            let rounds = counters.rounds(dim.counter);
            beyond -= i128::from(dim.step) * i128::from(rounds - 1);
            let (round, left) = split(counters, &rest, dim.step)?;
            let (low, high) = counters.range(&left);
            let next = i128::from(dim.step) - i128::from(width);
            if low >= beyond && high <= next {
                return match apart {
                    true => Ok(Found::Apart),
                    false => Err(Stop::because("rounds of a loop write between each other")),
                };
            }
            apart &= beyond <= i128::from(dim.step);
            let most = beyond - i128::from(width);
            within(counters, &left, dim.step, most)?;
            inside(counters, &round, rounds)?;
            replaced.push((dim.counter, round));
            rest = left;
        }
        inside_value(counters, &rest, i64::from(self.width - width))?;
        let Some(low) = rest.as_constant() else {
            // The rounds of a counter, one by one.
            let counter = rest.terms[0].0;
            return Err(Stop::Cut(counter, 1));
        };
        let low = u32::try_from(low).map_err(|_| Stop::because("a place is before a value"))?;
        Ok(Found::There(Replaced::new(replaced), low))
    }
}

impl Region {
    /// Which value bits are that begin so far behind its beginning.
    fn at_number(&self, counters: &Counters, apart: i64, width: u32) -> Result<Found, Stop> {
        let dims: Vec<(i64, i64)> = self
            .dims
            .iter()
            .map(|d| (d.step, counters.rounds(d.counter)))
            .collect();
        let last = i64::from(self.width - width);
        let Some((digits, low)) = digits(&dims, apart, last) else {
            // Bits that begin in one value and end in another are in neither.
            let partly = (1 - i64::from(width)..i64::from(self.width))
                .any(|by| !(0..=last).contains(&by) && digits(&dims, apart - by, 0).is_some());
            return match partly {
                true => Err(Stop::because("a value is read across two others")),
                false => Ok(Found::Apart),
            };
        };
        let each = self.dims.iter().zip(digits);
        let replaced = each.map(|(d, n)| (d.counter, Linear::constant(n)));
        let low = u32::try_from(low).map_err(|_| Stop::because("a place is before a value"))?;
        Ok(Found::There(Replaced::new(replaced.collect()), low))
    }
}

/// The rounds of steps that add up to a number but for what is left, which is at most `last`.
fn digits(dims: &[(i64, i64)], of: i64, last: i64) -> Option<(Vec<i64>, i64)> {
    let Some((&(step, rounds), rest)) = dims.split_first() else {
        return (0..=last).contains(&of).then(|| (Vec::new(), of));
    };
    let beyond: i64 = rest.iter().map(|d| d.0 * (d.1 - 1)).sum::<i64>() + last;
    let first = (of - beyond + step - 1).div_euclid(step).max(0);
    let end = of.div_euclid(step).min(rounds - 1);
    (first..=end).find_map(|n| {
        let (mut digits, low) = digits(rest, of - n * step, last)?;
        digits.insert(0, n);
        Some((digits, low))
    })
}

/// Steps of so many bits in a sum, and what is left, which is from 0 to `most`.
pub(crate) fn divided(
    counters: &Counters,
    of: &Linear,
    step: i64,
    most: i128,
) -> Result<(Linear, Linear), Stop> {
    let (whole, left) = split(counters, of, step)?;
    within(counters, &left, step, most)?;
    Ok((whole, left))
}

/// Steps of so many bits in a sum, and what is left, which is at least 0.
fn split(counters: &Counters, of: &Linear, step: i64) -> Result<(Linear, Linear), Stop> {
    let (mut whole, mut left) = (Linear::default(), of.clone());
    for &(counter, factor) in &of.terms {
        if factor % step == 0 {
            whole = whole.plus(&Linear::counter(counter).times(factor / step)?)?;
        }
    }
    left = left.minus(&whole.times(step)?)?;
    let (low, _) = counters.range(&left);
    let by = i64::try_from(low.div_euclid(i128::from(step)));
    let by = by.map_err(|_| Stop::because("a place is far away"))?;
    whole = whole.offset(by)?;
    left = left.offset(
        by.checked_mul(-step)
            .ok_or_else(|| Stop::because("a place is far away"))?,
    )?;
    Ok((whole, left))
}

/// That what is left of a step is at most so much.
fn within(counters: &Counters, left: &Linear, step: i64, most: i128) -> Result<(), Stop> {
    let (_, high) = counters.range(left);
    if high <= most {
        return Ok(());
    }
    // Some counter goes past the end of a step.
    let reach =
        |t: &&(Counter, i64)| i128::from(t.1.unsigned_abs()) * i128::from(counters.rounds(t.0) - 1);
    let Some(&(counter, factor)) = left.terms.iter().max_by_key(reach) else {
        return Err(Stop::because("a value is read across two others"));
    };
    let size = factor.abs();
    if step % size == 0 && counters.rounds(counter) > step / size && step / size > 1 {
        return Err(Stop::Group(counter, step / size));
    }
    let mut others = left.clone();
    others.terms.retain(|t| t.0 != counter);
    let (low, high) = counters.range(&others);
    let rounds = i128::from(counters.rounds(counter));
    // Where it goes past the last place of a step, or comes to the first of the next.
    for limit in [most + 1, i128::from(step)] {
        // The first round that may be past it, and the first that surely is.
        let up = |n: i128| (n + i128::from(size) - 1).div_euclid(i128::from(size));
        let down = |n: i128| n.div_euclid(i128::from(size)) + 1;
        let cuts = match factor > 0 {
            true => [up(limit - high), up(limit - low)],
            false => [down(low - limit), down(high - limit)],
        };
        let cut = cuts.into_iter().find(|c| (1..rounds).contains(c));
        if let Some(cut) = cut.and_then(|c| i64::try_from(c).ok()) {
            return Err(Stop::Cut(counter, cut));
        }
    }
    Err(Stop::because("a value is read across two others"))
}

/// That a sum is from 0 to below a number.
pub(crate) fn inside(counters: &Counters, of: &Linear, below: i64) -> Result<(), Stop> {
    let (low, high) = counters.range(of);
    let last = i128::from(below) - 1;
    if low >= 0 && high <= last {
        return Ok(());
    }
    let mut terms = of.terms.clone();
    terms.sort_by_key(|t| {
        std::cmp::Reverse(
            t.1.unsigned_abs()
                .saturating_mul(counters.rounds(t.0).unsigned_abs()),
        )
    });
    for (counter, factor) in terms {
        let mut others = of.clone();
        others.terms.retain(|t| t.0 != counter);
        let (least, greatest) = counters.range(&others);
        let size = i128::from(factor.abs());
        let rounds = i128::from(counters.rounds(counter));
        let up = |n: i128| (n + size - 1).div_euclid(size);
        // Rounds where it may be, or surely is, at a bound.
        let cuts = match factor > 0 {
            true => [
                (last - greatest).div_euclid(size) + 1,
                (last - least).div_euclid(size) + 1,
                up(-least),
                up(-greatest),
            ],
            false => [
                up(least - last),
                up(greatest - last),
                least.div_euclid(size) + 1,
                greatest.div_euclid(size) + 1,
            ],
        };
        let (over, under) = (high > last, low < 0);
        let used = cuts[..2].iter().filter(|_| over);
        let used = used.chain(cuts[2..].iter().filter(|_| under));
        for &cut in used {
            if (1..rounds).contains(&cut)
                && let Ok(cut) = i64::try_from(cut)
            {
                return Err(Stop::Cut(counter, cut));
            }
        }
    }
    Err(Stop::because(
        "a place is only partly inside of what was written",
    ))
}

/// That what is left is inside of a value.
fn inside_value(counters: &Counters, of: &Linear, most: i64) -> Result<(), Stop> {
    inside(counters, of, most + 1)
}

impl Region {
    /// Orders its counters, and makes one of two where the first only goes on where the second ends.
    pub(crate) fn tidied(mut self, leaves: &mut Leaves) -> Result<Region, Stop> {
        for k in 0..self.dims.len() {
            // A step backwards counts from the other end.
            let Dim { counter, step } = self.dims[k];
            if step < 0 {
                let last = leaves.counters.rounds(counter) - 1;
                let turned = Linear::counter(counter).times(-1)?.offset(last)?;
                let by = Replaced::one(counter, turned);
                self.at = self.at.offset(step.checked_mul(last).ok_or_else(far)?)?;
                self.dims[k].step = -step;
                self.value = self.value.map(|v| leaves.value_with(&v, &by)).transpose()?;
            }
        }
        self.dims
            .sort_by(|a, b| (b.step, a.counter).cmp(&(a.step, b.counter)));
        let mut k = 0;
        while k + 1 < self.dims.len() {
            match self.joined(k, leaves)? {
                Some(joined) => {
                    self = joined;
                    k = k.saturating_sub(1);
                }
                None => k += 1,
            }
        }
        Ok(self)
    }

    fn joined(&self, k: usize, leaves: &mut Leaves) -> Result<Option<Region>, Stop> {
        let (outer, inner) = (self.dims[k], self.dims[k + 1]);
        let rounds = |d: Dim, l: &Leaves| l.counters.rounds(d.counter);
        let (many, few) = (rounds(outer, leaves), rounds(inner, leaves));
        if inner.step.checked_mul(few) != Some(outer.step) {
            return Ok(None);
        }
        let Some(all) = many.checked_mul(few) else {
            return Ok(None);
        };
        let pair = (outer.counter, inner.counter);
        if let Some(Value::Term(term)) = &self.value
            && !leaves.moves_with(*term, pair, few)
        {
            return Ok(None);
        }
        let counter = leaves.counters.fresh(all);
        let mut value = None;
        if let Some(old) = &self.value {
            // A function of the joint counter, which gives the old value back.
            let by = Replaced::new(vec![
                (outer.counter, Linear::default()),
                (inner.counter, Linear::counter(counter)),
            ]);
            let new = leaves.value_with(old, &by)?;
            let both = Linear::counter(outer.counter).times(few)?;
            let both = both.plus(&Linear::counter(inner.counter))?;
            let again = leaves.value_with(&new, &Replaced::one(counter, both))?;
            if again != *old {
                return Ok(None);
            }
            value = Some(new);
        }
        let mut joined = Region {
            value,
            ..self.clone()
        };
        joined.dims.remove(k);
        joined.dims[k] = Dim {
            counter,
            step: inner.step,
        };
        Ok(Some(joined))
    }

    /// One region of two that lie one behind the other and have values of one kind; none when they
    /// are not so.
    pub(crate) fn with_next(
        &self,
        next: &Region,
        leaves: &mut Leaves,
    ) -> Result<Option<Region>, Stop> {
        if self.width != next.width || self.settled != next.settled {
            return Ok(None);
        }
        let (Some(value), Some(other)) = (&self.value, &next.value) else {
            return Ok(None);
        };
        let Ok(apart) = next.at.minus(&self.at) else {
            return Ok(None);
        };
        let Some(apart) = apart.as_constant().filter(|n| *n > 0) else {
            return Ok(None);
        };
        for (k, dim) in self.dims.iter().enumerate() {
            let rounds = leaves.counters.rounds(dim.counter);
            if dim.step.checked_mul(rounds) != Some(apart) {
                continue;
            }
            let Some((own, more)) = same_dims(self, next, k, leaves) else {
                continue;
            };
            // The other's counters are this one's, moved on along this one.
            let later = match more {
                Some(_) => Linear::counter(dim.counter).offset(rounds)?,
                None => Linear::constant(rounds),
            };
            let more = more.unwrap_or(1);
            let later = Replaced::one(dim.counter, later);
            // The other's counters only get other names: its leaves begin where they did.
            if let (Value::Term(own), Value::Term(other)) = (value, other)
                && !leaves.may_be((*own, &later), *other)?
            {
                continue;
            }
            let wanted = leaves.value_with(value, &later)?;
            let found = leaves.value_with(other, &Replaced::new(own))?;
            if wanted != found {
                continue;
            }
            let counter = leaves.counters.fresh(rounds + more);
            let by = Replaced::one(dim.counter, Linear::counter(counter));
            let mut joined = self.clone();
            joined.value = Some(leaves.value_with(value, &by)?);
            joined.dims[k].counter = counter;
            return Ok(Some(joined));
        }
        Ok(None)
    }
}

impl Region {
    /// One region of two with the same counters whose values differ in where their elements are alone.
    pub(crate) fn paired(
        &self,
        other: &Region,
        leaves: &mut Leaves,
    ) -> Result<Option<Region>, Stop> {
        let rounds = |d: &Dim, l: &Leaves| l.counters.rounds(d.counter);
        let dims = self.dims.iter().zip(&other.dims);
        let alike =
            |(a, b): (&Dim, &Dim)| a.step == b.step && rounds(a, leaves) == rounds(b, leaves);
        let same = self.width == other.width
            && self.settled == other.settled
            && self.dims.len() == other.dims.len()
            && dims.clone().all(alike);
        let apart = other.at.minus(&self.at).ok().and_then(|n| n.as_constant());
        let (Some(apart), true, Some(value), Some(there)) =
            (apart.filter(|n| *n != 0), same, &self.value, &other.value)
        else {
            return Ok(None);
        };
        let own = dims.map(|(a, b)| (b.counter, Linear::counter(a.counter)));
        let there = leaves.value_with(there, &Replaced::new(own.collect()))?;
        let counter = leaves.counters.fresh(2);
        let value = match (value, there) {
            (a, b) if *a == b => b,
            (Value::Term(a), Value::Term(b)) => {
                match leaves.between(*a, b, counter, &mut Vec::new())? {
                    Some(term) => Value::Term(term),
                    None => return Ok(None),
                }
            }
            _ => return Ok(None),
        };
        let mut joined = self.clone();
        joined.value = Some(value);
        joined.dims.push(Dim {
            counter,
            step: apart,
        });
        Ok(Some(joined))
    }
}

/// What stands for counters.
type Renamed = Vec<(Counter, Linear)>;

/// The counters of the second region in terms of those of the first, when both differ along one
/// only, and how many rounds the second has of that, where it has a counter for it.
fn same_dims(
    first: &Region,
    second: &Region,
    along: usize,
    leaves: &Leaves,
) -> Option<(Renamed, Option<i64>)> {
    let counters = &leaves.counters;
    let (mut others, mut replaced, mut more) = (second.dims.iter().peekable(), Vec::new(), None);
    for (k, dim) in first.dims.iter().enumerate() {
        let same = others.next_if(|o| o.step == dim.step);
        match same {
            Some(o) => {
                let alike = counters.rounds(o.counter) == counters.rounds(dim.counter);
                if k == along {
                    more = Some(counters.rounds(o.counter));
                } else if !alike {
                    return None;
                }
                replaced.push((o.counter, Linear::counter(dim.counter)));
            }
            None if k == along => {}
            None => return None,
        }
    }
    others.next().is_none().then_some((replaced, more))
}

fn far() -> Stop {
    Stop::because("a place is far away")
}

#[cfg(test)]
mod tests;
