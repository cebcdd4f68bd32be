//! Whether boxes cover the same places, each as often.
//!
//! In: boxes of places, two lists. Out: whether they are the same places, however these are cut into
//! boxes. A place is a power of a variable for each coordinate, and a box that goes on by a step is a
//! geometric series: (x^(step * rounds) - 1) / (x^step - 1). Both lists, over the product of all of
//! their denominators, are polynomials of few terms, and are the same when these are: a divisor
//! whose first factor is 1 divides no other than zero into zero.

use crate::linear::Linear;
use crate::sums::{Box, Place, wrapped};
use std::collections::{BTreeMap, HashMap};

#[cfg(test)]
mod tests;

/// The most terms of a polynomial.
const MOST_TERMS: usize = 1 << 20;

/// Places of a list of boxes lie in the same arrays and are moved by the same counters: shapes.
type Shape = Vec<(Option<u32>, u32, Linear)>;

/// A polynomial: factors of powers.
type Polynomial = HashMap<(usize, Vec<i64>), i128>;

/// Whether boxes cover the same places, so often as numbers of so many bits.
pub(crate) fn same_places(a: &[Box], b: &[Box], width: u32) -> bool {
    if a == b {
        return true;
    }
    // What both have needs no looking at.
    let mut times: BTreeMap<Box, i128> = BTreeMap::new();
    for (boxes, sign) in [(a, 1), (b, -1)] {
        for of in boxes {
            let alone = Box {
                times: 1,
                ..of.clone()
            };
            let sum = times.entry(alone).or_default();
            *sum = wrapped(sum.wrapping_add(sign * of.times), width);
        }
    }
    times.retain(|_, n| *n != 0);
    is_nothing(&times, width) == Some(true)
}

/// Whether boxes, each so often, cover no place; none when there are too many or they lie too far away.
fn is_nothing(boxes: &BTreeMap<Box, i128>, width: u32) -> Option<bool> {
    let series = series(boxes)?;
    let mut shapes: HashMap<Shape, usize> = HashMap::new();
    let mut sum = Polynomial::new();
    for (of, &times) in boxes {
        let shape: Shape = of.places.iter().map(without_constant).collect();
        let next = shapes.len();
        let shape = *shapes.entry(shape).or_insert(next);
        let first: Vec<i64> = of.places.iter().map(|p| p.2.constant).collect();
        for (at, factor) in expanded(of, &series, (first, times))? {
            let known = sum.entry((shape, at)).or_default();
            *known = wrapped(known.wrapping_add(factor), width);
        }
    }
    Some(sum.values().all(|n| *n == 0))
}

/// The steps whose series are kept, and how many of each at most; the rounds of the others are few
/// enough to be written out. None when either makes too much.
fn series(boxes: &BTreeMap<Box, i128>) -> Option<BTreeMap<&[i64], usize>> {
    let mut all: BTreeMap<&[i64], (i64, usize)> = BTreeMap::new();
    for of in boxes.keys() {
        for (step, n) in often(of) {
            let most = all.entry(step).or_default();
            most.1 = n.max(most.1);
        }
        for side in &of.sides {
            let most = all.entry(&side.steps).or_default();
            most.0 = side.rounds.max(most.0);
        }
    }
    let mut by_rounds: Vec<(i64, usize, &[i64])> = all
        .into_iter()
        .map(|(s, (rounds, n))| (rounds, n, s))
        .collect();
    by_rounds.sort_unstable();
    let mut terms: Vec<(&Box, usize)> = boxes.keys().map(|b| (b, 1)).collect();
    let mut kept = BTreeMap::new();
    for (_, many, step) in by_rounds {
        let out = terms.iter().map(|(of, n)| {
            let own = of.sides.iter().filter(|s| s.steps == step);
            let rounds = own.map(|s| usize::try_from(s.rounds).unwrap_or(usize::MAX));
            rounds.fold(*n, usize::saturating_mul)
        });
        let out: Vec<usize> = out.collect();
        let doubled = 1_usize.checked_shl(u32::try_from(many).ok()?)?;
        let sum = terms.iter().map(|t| t.1).sum::<usize>();
        let written = out.iter().fold(0, |a: usize, n| a.saturating_add(*n));
        if written <= sum.saturating_mul(doubled) {
            terms.iter_mut().zip(out).for_each(|(t, n)| t.1 = n);
        } else {
            terms
                .iter_mut()
                .for_each(|t| t.1 = t.1.saturating_mul(doubled));
            kept.insert(step, many);
        }
        if written.min(sum.saturating_mul(doubled)) > MOST_TERMS {
            return None;
        }
    }
    Some(kept)
}

/// How often a box goes on by each of its steps.
fn often(of: &Box) -> BTreeMap<&[i64], usize> {
    let mut steps: BTreeMap<&[i64], usize> = BTreeMap::new();
    for side in &of.sides {
        *steps.entry(&side.steps).or_default() += 1;
    }
    steps
}

fn without_constant((array, bits, at): &Place) -> Place {
    let at = Linear {
        constant: 0,
        ..at.clone()
    };
    (*array, *bits, at)
}

/// The terms of a box over all denominators: of its own sides the numerators, of others the denominators;
/// rounds of steps without a series one by one.
fn expanded(
    of: &Box,
    series: &BTreeMap<&[i64], usize>,
    term: (Vec<i64>, i128),
) -> Option<Vec<(Vec<i64>, i128)>> {
    let mut terms = vec![term];
    let own = often(of);
    let one = |step: &[i64], rounds| (step.to_vec(), vec![(0, -1), (rounds, 1)]);
    let mut factors = Vec::new();
    for side in &of.sides {
        factors.push(match series.contains_key(side.steps.as_slice()) {
            true => one(&side.steps, side.rounds),
            false => (
                side.steps.clone(),
                (0..side.rounds).map(|k| (k, 1)).collect(),
            ),
        });
    }
    for (step, most) in series {
        let missing = most - own.get(step).copied().unwrap_or(0);
        factors.extend(std::iter::repeat_n(one(step, 1), missing));
    }
    for (step, factor) in factors {
        let mut next = Vec::with_capacity(terms.len() * factor.len());
        for (at, times) in &terms {
            for &(power, sign) in &factor {
                let moved = at.iter().zip(&step);
                let moved = moved.map(|(a, s)| a.checked_add(s.checked_mul(power)?));
                next.push((
                    moved.collect::<Option<Vec<i64>>>()?,
                    times.wrapping_mul(sign),
                ));
            }
        }
        terms = next;
    }
    Some(terms)
}
