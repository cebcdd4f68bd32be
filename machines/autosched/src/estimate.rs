//! How large a space is, estimated.
//!
//! In: a space, an order of choices. Out: [`Size`]. Knuth's method: the product of how many children
//! there are, at each step of a random descent, is on average the number of ends;
//! descents that end nowhere count nothing.

use crate::space::{Candidate, Space, Var};
use semantics::random::Random;

/// An estimate.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Size {
    /// The mean: candidates in which all is decided.
    pub candidates: f64,
    /// Half of the interval that holds the right number 19 times of 20.
    pub error: f64,
    /// Descents.
    pub descents: usize,
    /// Descents that ended where no value was left.
    pub dead: usize,
}

/// Estimates the size of what is below a candidate.
pub fn size(space: &Space, from: &Candidate, order: &[Var], descents: usize, seed: u64) -> Size {
    let mut stream = Random::new(seed);
    let mut found = Vec::with_capacity(descents);
    for _ in 0..descents {
        found.push(descent(space, from, order, &mut stream));
    }
    let dead = found.iter().filter(|n| **n == 0.0).count();
    let count = descents.max(1) as f64;
    let mean = found.iter().sum::<f64>() / count;
    let variance = found.iter().map(|n| (n - mean).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
    Size {
        candidates: mean,
        error: 1.96 * (variance / count).sqrt(),
        descents,
        dead,
    }
}

/// One descent: the product of the numbers of children, or 0 at a dead end.
fn descent(space: &Space, from: &Candidate, order: &[Var], stream: &mut Random) -> f64 {
    let (mut at, mut product) = (from.clone(), 1.0);
    for &var in order {
        let left = space.left(&at, var);
        product *= left.len() as f64;
        let value = left[stream.index(left.len())];
        match space.restrict(&at, var, &[value]) {
            Ok(next) => at = next,
            Err(_) => return 0.0,
        }
    }
    product
}
