//! Whether two accesses to memory can meet, by their addresses alone.
//!
//! In: the distance between where two accesses begin, as a constant and terms that take evenly
//! spaced values; how long both are. Out: whether some values of the terms let them share a
//! byte. How often loops go round does not matter for the time that takes: terms with large
//! steps are tried first, and of each only the values that can still meet.

use kernel::index::{Index, Symbol};
use std::collections::BTreeMap;

/// A distance: a constant, and terms that are a step times a number below a count.
#[derive(Clone, Debug, Default)]
pub(crate) struct Distance {
    pub(crate) constant: i128,
    terms: Vec<(i128, i128)>,
}

/// Values that are tried at most before they are taken to meet.
const MOST_TRIED: u32 = 1 << 16;

impl Distance {
    /// Adds a step times each number below a count.
    pub(crate) fn add(&mut self, step: i64, count: i64) {
        if step != 0 && count > 1 {
            self.terms.push((i128::from(step), i128::from(count)));
        }
    }

    /// Adds a factor times a value.
    pub(crate) fn plus(&mut self, factor: i64, value: i64) {
        self.constant += i128::from(factor) * i128::from(value);
    }

    /// Adds a factor times a loop variable that may have any of its values.
    pub(crate) fn any(&mut self, factor: i64, range: Range) {
        self.plus(factor, range.low);
        self.add(factor.saturating_mul(range.step), range.count);
    }

    /// Whether the second access, which begins at this distance behind the first, shares a byte
    /// with it; it is taken to do so when that is not found out.
    pub(crate) fn meet(mut self, first: i64, second: i64) -> bool {
        self.terms.sort_by_key(|t| std::cmp::Reverse(t.0.abs()));
        let zone = (1 - i128::from(second), i128::from(first) - 1);
        reaches(self.constant, &self.terms, zone, &mut 0)
    }
}

/// Whether a sum can lie in a zone.
fn reaches(sum: i128, terms: &[(i128, i128)], zone: (i128, i128), tried: &mut u32) -> bool {
    *tried += 1;
    if *tried > MOST_TRIED {
        return true;
    }
    let Some((&(step, count), rest)) = terms.split_first() else {
        return (zone.0..=zone.1).contains(&sum);
    };
    let ends = |of: &[(i128, i128)]| {
        let add = |(low, high): (i128, i128), t: &(i128, i128)| {
            let far = t.0 * (t.1 - 1);
            (low + far.min(0), high + far.max(0))
        };
        of.iter().fold((0, 0), add)
    };
    // zone.0 <= sum + step * n + (low to high) <= zone.1
    let (low, high) = ends(rest);
    let (least, most) = (zone.0 - sum - high, zone.1 - sum - low);
    let (from, to) = match step > 0 {
        true => (-(-least).div_euclid(step), most.div_euclid(step)),
        false => (-(most.div_euclid(-step)), (-least).div_euclid(-step)),
    };
    let (mut n, to) = (from.max(0), to.min(count - 1));
    while n <= to {
        if reaches(sum + step * n, rest, zone, tried) {
            return true;
        }
        n += 1;
    }
    false
}

/// The values of a loop variable: from the lowest, a step apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Range {
    pub(crate) low: i64,
    pub(crate) step: i64,
    /// How many there are at most.
    pub(crate) count: i64,
    /// How often the loop goes round at least.
    pub(crate) least: i64,
}

impl Range {
    /// The range of a loop whose bounds lie between these.
    pub(crate) fn new(lo: (i64, i64), hi: (i64, i64), step: i64) -> Range {
        let rounds = |lo: i64, hi: i64| {
            hi.saturating_sub(lo).max(0).div_euclid(step)
                + i64::from(hi.saturating_sub(lo).max(0) % step != 0)
        };
        let exact = lo.0 == lo.1;
        Range {
            low: lo.0,
            step: if exact { step } else { 1 },
            count: match exact {
                true => rounds(lo.0, hi.1),
                false => hi.1.saturating_sub(lo.0).max(0),
            },
            least: rounds(lo.1, hi.0),
        }
    }

    /// Whether it always goes round as often, from the same value.
    pub(crate) fn exact(&self) -> bool {
        self.least == self.count
    }

    /// The least and the greatest value.
    pub(crate) fn ends(&self) -> (i64, i64) {
        let far = self.step.saturating_mul((self.count - 1).max(0));
        (self.low, self.low.saturating_add(far))
    }
}

/// The least and the greatest value of an index; nothing for symbols without a range.
pub(crate) fn ends(index: &Index, ranges: &BTreeMap<Symbol, Range>) -> Option<(i64, i64)> {
    index.number_range(&|s| ranges.get(&s).map(Range::ends))
}

#[cfg(test)]
mod tests {
    use super::{Distance, Range};
    use semantics::random::Random;

    #[test]
    fn accesses_meet_exactly_when_some_values_let_them() {
        let mut random = Random::new(1);
        for _ in 0..2000 {
            let mut number = |from: i64, to: i64| from + random.below((to - from) as u64) as i64;
            let constant = number(-60, 60);
            let terms: Vec<(i64, i64)> = (0..3).map(|_| (number(-20, 20), number(1, 5))).collect();
            let (first, second) = (number(1, 9), number(1, 9));
            let mut distance = Distance::default();
            distance.plus(1, constant);
            terms.iter().for_each(|t| distance.add(t.0, t.1));
            let mut found = false;
            for a in 0..terms[0].1 {
                for b in 0..terms[1].1 {
                    for c in 0..terms[2].1 {
                        let at = constant + a * terms[0].0 + b * terms[1].0 + c * terms[2].0;
                        found |= at < first && -at < second;
                    }
                }
            }
            assert_eq!(distance.meet(first, second), found, "{constant} {terms:?}");
        }
    }

    #[test]
    fn ranges_are_those_of_loops() {
        let range = Range::new((0, 0), (10, 10), 4);
        assert_eq!((range.count, range.least, range.ends()), (3, 3, (0, 8)));
        let range = Range::new((0, 4), (8, 12), 4);
        assert_eq!((range.count, range.least, range.step), (12, 1, 1));
        assert_eq!(Range::new((4, 4), (4, 4), 1).count, 0);
    }
}
