//! What is known of a product of two numbers without its bits.
//!
//! In: the ranges of two factors. Out: the range of their product, where it has its ends, and how near
//! to an end it comes elsewhere. A product is linear in each factor: over a box it has its ends at
//! corners, and an end that only one corner has is nowhere else. Of whole numbers only; what gates say
//! of them is [`crate::words`]' own.

use crate::words::Word;

/// The least and the greatest number of some.
pub(crate) type Range = (i128, i128);

/// A product of two numbers, nothing being lost.
#[derive(Clone, Debug)]
pub(crate) struct Bounded {
    pub(crate) product: Word,
    pub(crate) factors: [Word; 2],
    /// The least and the greatest that it may be.
    pub(crate) ends: Range,
    pub(crate) corners: Vec<Corner>,
}

/// An end that one pair of factors has as its product, and no other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Corner {
    pub(crate) end: i128,
    pub(crate) pair: [i128; 2],
    /// The products of all other pairs are not beyond this one.
    pub(crate) next: i128,
}

impl Bounded {
    /// What is known of a product of factors in ranges; nothing where numbers are too large.
    pub(crate) fn new(product: Word, factors: [Word; 2], of: [Range; 2]) -> Option<Bounded> {
        Some(Bounded {
            product,
            factors,
            ends: range_of(of)?,
            corners: corners(of)?,
        })
    }
}

/// The range of products of numbers in two ranges; nothing where they are too large.
pub(crate) fn range_of([a, b]: [Range; 2]) -> Option<Range> {
    let products = [(a.0, b.0), (a.0, b.1), (a.1, b.0), (a.1, b.1)];
    let mut products = products.into_iter().map(|(x, y)| x.checked_mul(y));
    let first = products.next()??;
    products.try_fold((first, first), |(lo, hi), p| Some((lo.min(p?), hi.max(p?))))
}

/// The ends that only one corner has.
pub(crate) fn corners([a, b]: [Range; 2]) -> Option<Vec<Corner>> {
    let (lo, hi) = range_of([a, b])?;
    let mut found = Vec::new();
    if a.0 == a.1 || b.0 == b.1 || lo == hi {
        return Some(found);
    }
    for (pair, without) in [
        ([a.0, b.0], [(a.0 + 1, a.1), (b.0 + 1, b.1)]),
        ([a.0, b.1], [(a.0 + 1, a.1), (b.0, b.1 - 1)]),
        ([a.1, b.0], [(a.0, a.1 - 1), (b.0 + 1, b.1)]),
        ([a.1, b.1], [(a.0, a.1 - 1), (b.0, b.1 - 1)]),
    ] {
        let end = pair[0].checked_mul(pair[1])?;
        let rest = [range_of([without[0], b])?, range_of([a, without[1]])?];
        let next = match end == hi {
            true => rest[0].1.max(rest[1].1),
            false => rest[0].0.min(rest[1].0),
        };
        if (end == lo || end == hi) && next != end {
            found.push(Corner { end, pair, next });
        }
    }
    Some(found)
}
