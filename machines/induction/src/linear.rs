//! Sums of loop counters with factors: where elements lie, as a function of the iteration.
//!
//! In: numbers and counters. Out: [`Linear`], its range, and whether such sums can meet. Every
//! counter runs from 0 to below its number of rounds, which [`Counters`] keeps. Nothing wraps: what
//! does not fit is refused.

use crate::stop::Stop;
use smallvec::{SmallVec, smallvec};
use std::collections::HashMap;

/// A counter of a loop, or of the rounds of a sum.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Counter(pub(crate) u32);

/// What counters are for. One is never for both: while what a loop left is looked at, counters of loops
/// inside, which are done, stand for any of their rounds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum For {
    /// A loop that is being executed; behind it regions have it as theirs.
    Loop,
    /// A sum whose rounds are looked at one by one: what becomes of it is a sum again.
    Sum,
}

/// How often each counter runs.
#[derive(Clone, Debug, Default)]
pub struct Counters {
    rounds: Vec<i64>,
    /// Those that stand for the rounds of sums: by how deep sums are inside, and the rounds.
    bound: HashMap<(u32, i64), Counter>,
    /// Those that are done, by what they were for and the rounds: the next that runs as often gets the last
    /// one, so that what is executed again makes the same terms.
    idle: HashMap<(For, i64), Vec<Counter>>,
}

impl Counters {
    /// A new counter of so many rounds, at least 1.
    pub fn fresh(&mut self, rounds: i64) -> Counter {
        let number = u32::try_from(self.rounds.len()).expect("fewer counters than that");
        self.rounds.push(rounds.max(1));
        Counter(number)
    }

    /// A counter of so many rounds that nobody uses for the same.
    pub(crate) fn idle(&mut self, purpose: For, rounds: i64) -> Counter {
        let idle = self.idle.get_mut(&(purpose, rounds.max(1)));
        let idle = idle.and_then(Vec::pop);
        idle.unwrap_or_else(|| self.fresh(rounds))
    }

    /// What such a counter was for is done.
    pub(crate) fn done(&mut self, purpose: For, counter: Counter) {
        let rounds = self.rounds(counter);
        self.idle
            .entry((purpose, rounds))
            .or_default()
            .push(counter);
    }

    /// The counter of sums of so many rounds with others so deep inside: always the same, so that
    /// equal sums are one.
    pub(crate) fn bound(&mut self, depth: u32, rounds: i64) -> Counter {
        if let Some(&known) = self.bound.get(&(depth, rounds)) {
            return known;
        }
        let new = self.fresh(rounds);
        self.bound.insert((depth, rounds), new);
        new
    }

    /// How often a counter runs.
    pub(crate) fn rounds(&self, counter: Counter) -> i64 {
        self.rounds[counter.0 as usize]
    }

    /// The least and the greatest value.
    pub(crate) fn range(&self, of: &Linear) -> (i128, i128) {
        self.range_of(&of.terms, i128::from(of.constant))
    }

    pub(crate) fn range_of(&self, terms: &[(Counter, i64)], constant: i128) -> (i128, i128) {
        let (mut low, mut high) = (constant, constant);
        for &(counter, factor) in terms {
            let most = i128::from(factor) * i128::from(self.rounds(counter) - 1);
            low += most.min(0);
            high += most.max(0);
        }
        (low, high)
    }
}

/// Counters with factors: few, mostly.
pub(crate) type Terms = SmallVec<[(Counter, i64); 4]>;

/// A constant, counters with factors, and perhaps where an array begins.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Linear {
    /// The array whose beginning is added.
    pub base: Option<u32>,
    /// The constant.
    pub constant: i64,
    /// By counter; no factor is 0.
    pub(crate) terms: Terms,
}

impl Linear {
    /// A constant.
    pub fn constant(constant: i64) -> Linear {
        Linear {
            constant,
            ..Linear::default()
        }
    }

    /// A counter.
    pub fn counter(counter: Counter) -> Linear {
        Linear {
            terms: smallvec![(counter, 1)],
            ..Linear::default()
        }
    }

    /// Where an array begins.
    pub fn array(array: u32) -> Linear {
        Linear {
            base: Some(array),
            ..Linear::default()
        }
    }

    /// The number that it is, when nothing else occurs.
    pub fn as_constant(&self) -> Option<i64> {
        (self.base.is_none() && self.terms.is_empty()).then_some(self.constant)
    }

    /// The factor of a counter.
    pub(crate) fn factor(&self, counter: Counter) -> i64 {
        let at = self.terms.binary_search_by_key(&counter, |t| t.0);
        at.map_or(0, |k| self.terms[k].1)
    }

    pub(crate) fn mentions(&self, counter: Counter) -> bool {
        self.factor(counter) != 0
    }

    /// The sum.
    ///
    /// # Errors
    /// Where numbers do not fit, or two addresses are added.
    pub fn plus(&self, other: &Linear) -> Result<Linear, Stop> {
        let base = match (self.base, other.base) {
            (Some(_), Some(_)) => return Err(Stop::because("two addresses are added")),
            (a, b) => a.or(b),
        };
        let constant = self.constant.checked_add(other.constant);
        let mut out = Linear {
            base,
            constant: constant.ok_or_else(too_large)?,
            terms: self.terms.clone(),
        };
        for &(counter, factor) in &other.terms {
            out.add_term(counter, factor)?;
        }
        Ok(out)
    }

    fn add_term(&mut self, counter: Counter, factor: i64) -> Result<(), Stop> {
        match self.terms.binary_search_by_key(&counter, |t| t.0) {
            Ok(k) => {
                let sum = self.terms[k].1.checked_add(factor).ok_or_else(too_large)?;
                match sum {
                    0 => drop(self.terms.remove(k)),
                    _ => self.terms[k].1 = sum,
                }
            }
            Err(k) if factor != 0 => self.terms.insert(k, (counter, factor)),
            Err(_) => {}
        }
        Ok(())
    }

    /// The sum with a constant.
    ///
    /// # Errors
    /// As [`Linear::plus`].
    pub fn offset(&self, constant: i64) -> Result<Linear, Stop> {
        self.plus(&Linear::constant(constant))
    }

    /// The difference; of two addresses in one array a number.
    ///
    /// # Errors
    /// As [`Linear::plus`].
    pub fn minus(&self, other: &Linear) -> Result<Linear, Stop> {
        let mut other = other.clone();
        let mut own = self.clone();
        if other.base.is_some() {
            if other.base != own.base {
                return Err(Stop::because("an address is taken away from a number"));
            }
            (other.base, own.base) = (None, None);
        }
        own.plus(&other.times(-1)?)
    }

    /// By how much it is more than another one, where that is a number.
    pub(crate) fn apart(&self, other: &Linear) -> Option<i64> {
        let alike = self.base == other.base && self.terms == other.terms;
        alike.then(|| self.constant.checked_sub(other.constant))?
    }

    /// The product with a constant.
    ///
    /// # Errors
    /// As [`Linear::plus`].
    pub fn times(&self, factor: i64) -> Result<Linear, Stop> {
        if factor == 0 {
            return Ok(Linear::default());
        }
        if self.base.is_some() && factor != 1 {
            return Err(Stop::because("an address is multiplied"));
        }
        let by = |n: i64| n.checked_mul(factor).ok_or_else(too_large);
        let terms = self.terms.iter().map(|&(c, f)| Ok((c, by(f)?)));
        Ok(Linear {
            base: self.base,
            constant: by(self.constant)?,
            terms: terms.collect::<Result<_, Stop>>()?,
        })
    }

    /// The sum with other sums in place of counters.
    pub(crate) fn with(&self, replaced: &Replaced) -> Result<Linear, Stop> {
        if !self.terms.iter().any(|t| replaced.by(t.0).is_some()) {
            return Ok(self.clone());
        }
        let mut out = Linear {
            terms: Terms::new(),
            ..*self
        };
        for &(counter, factor) in &self.terms {
            match replaced.by(counter) {
                Some(by) => out = out.plus(&by.times(factor)?)?,
                None => out.add_term(counter, factor)?,
            }
        }
        Ok(out)
    }
}

fn too_large() -> Stop {
    Stop::because("numbers do not fit 64 bits")
}

/// Sums that stand for counters.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Replaced(SmallVec<[(Counter, Linear); 1]>);

impl Replaced {
    pub(crate) fn one(counter: Counter, by: Linear) -> Replaced {
        Replaced(smallvec![(counter, by)])
    }

    pub(crate) fn new(all: Vec<(Counter, Linear)>) -> Replaced {
        Replaced(SmallVec::from_vec(all))
    }

    /// Its sums with others in place of counters.
    pub(crate) fn with(&self, by: &Replaced) -> Result<Replaced, Stop> {
        let all = self.0.iter().map(|(c, l)| Ok((*c, l.with(by)?)));
        Ok(Replaced(all.collect::<Result<_, Stop>>()?))
    }

    /// The same, and a sum for one counter more, or another one for it.
    pub(crate) fn and(&self, counter: Counter, by: Linear) -> Replaced {
        let mut all = self.clone();
        all.0.retain(|r| r.0 != counter);
        all.0.push((counter, by));
        all
    }

    /// Whether a number stands for a counter.
    pub(crate) fn is_number(&self) -> bool {
        self.0.iter().any(|r| r.1.terms.is_empty())
    }

    /// The counters for which something stands.
    pub(crate) fn counters(&self) -> impl Iterator<Item = Counter> {
        self.0.iter().map(|r| r.0)
    }

    pub(crate) fn by(&self, counter: Counter) -> Option<&Linear> {
        self.0.iter().find(|r| r.0 == counter).map(|r| &r.1)
    }
}

/// Whether a sum of products can lie between two numbers: `factor * x` for each term, `x` from 0
/// to its most. What takes too long to find out is possible.
pub(crate) fn can_lie(terms: &[(i64, i64)], low: i128, high: i128) -> bool {
    let (mut low, mut high) = (low, high);
    let mut all: Vec<(i128, i128)> = Vec::new();
    for &(factor, most) in terms {
        let (mut factor, most) = (i128::from(factor), i128::from(most));
        if factor == 0 || most <= 0 {
            continue;
        }
        // A negative factor counts from the other end.
        if factor < 0 {
            low -= factor * most;
            high -= factor * most;
            factor = -factor;
        }
        match all.iter_mut().find(|t| t.0 == factor) {
            Some(same) => same.1 += most,
            None => all.push((factor, most)),
        }
    }
    all.sort_unstable_by(|a, b| b.cmp(a));
    lies(&all, low, high, &mut 2000)
}

fn lies(terms: &[(i128, i128)], low: i128, high: i128, budget: &mut u32) -> bool {
    let total: i128 = terms.iter().map(|t| t.0 * t.1).sum();
    if high < 0 || low > total || low > high {
        return false;
    }
    if low <= 0 || high >= total || *budget == 0 {
        return true;
    }
    *budget -= 1;
    let Some((&(factor, most), rest)) = terms.split_first() else {
        return false;
    };
    let step = terms.iter().fold(0, |g, t| gcd(g, t.0));
    if high.div_euclid(step) * step < low {
        return false;
    }
    let beyond: i128 = rest.iter().map(|t| t.0 * t.1).sum();
    let first = (low - beyond + factor - 1).div_euclid(factor).max(0);
    let last = high.div_euclid(factor).min(most);
    if last - first > 64 {
        return true;
    }
    (first..=last).any(|x| lies(rest, low - factor * x, high - factor * x, budget))
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a.abs() } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests;
