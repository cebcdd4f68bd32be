//! Parts of two terms that seem equal: whoever shows these equal first has less left to ask.
//!
//! In: two flat terms. Out: pairs of a part of the first and a part of the second that have the same
//! value on every sample, small parts first. What is done alike to parts that are made in other ways
//! is too much for one question, and little where the parts are asked about by themselves (internal
//! equivalences: Kuehlmann and Krohm, "Equivalence checking using cuts and heaps", DAC 1997). It
//! proposes and proves nothing.

use crate::sample;
use semantics::sort::Sort;
use semantics::subst::parts_first;
use semantics::term::Term;
use std::collections::{HashMap, HashSet};

/// Samples on which parts are evaluated.
const SAMPLES: usize = 128;

/// Parts that a term has at most: its values are all kept.
const PARTS: usize = 1 << 10;

/// Pairs of parts that seem equal, the parts of the second in the order in which they are made.
pub(crate) fn alike(a: Term, b: Term, seed: u64) -> Vec<(Term, Term)> {
    let (own, others) = (parts(a), parts(b));
    if own.len() > PARTS || others.len() > PARTS {
        return Vec::new();
    }
    let known: HashSet<Term> = own.iter().copied().collect();
    let others: Vec<Term> = others.into_iter().filter(|t| !known.contains(t)).collect();
    let all: Vec<Term> = own.iter().chain(&others).copied().collect();
    let Some(values) = sample::words(&all, seed, SAMPLES) else {
        return Vec::new();
    };
    let (first, second) = values.split_at(own.len());
    let mut by_values: HashMap<(Sort, &[u64]), Term> = HashMap::new();
    for (part, values) in own.iter().zip(first) {
        by_values.entry((part.sort(), values)).or_insert(*part);
    }
    let pairs = others.iter().zip(second);
    let pair = |(part, values): (&Term, &Vec<u64>)| {
        let own = by_values.get(&(part.sort(), &values[..]))?;
        Some((*own, *part))
    };
    pairs.filter_map(pair).collect()
}

/// The parts of a term that are words made of others, those that they are made of first.
fn parts(term: Term) -> Vec<Term> {
    let word = |t: &Term| matches!(t.sort(), Sort::Bool | Sort::Bv(..=64)) && t.as_app().is_some();
    parts_first(&[term]).into_iter().filter(word).collect()
}

#[cfg(test)]
mod tests {
    use crate::config::Config;
    use crate::prover::Prover;
    use semantics::build as b;
    use semantics::sort::Sort;
    use semantics::term::Term;

    #[test]
    fn what_is_done_alike_to_parts_made_in_other_ways_is_proved_by_parts() {
        // How far a saturated difference and an average lie apart, each of them made in two ways.
        let (x, y) = (Term::var("x", Sort::Bv(32)), Term::var("y", Sort::Bv(32)));
        let minus = b::sub(x, y);
        let over = b::and(b::xor(minus, x), b::xor(x, y));
        let greatest = Term::bv(32, 0x7fff_ffff);
        let limit = b::xor(b::sext(b::extract(x, 31, 1), 32), greatest);
        let by_signs = b::ite(b::slt(over, b::zero(32)), limit, minus);
        let by_range = b::sat_ss(b::sub(b::sext(x, 33), b::sext(y, 33)), 32);
        let sum = b::add(b::sext(x, 33), b::sext(y, 33));
        let average = b::extract(b::add(sum, Term::bv(33, 1)), 1, 32);
        let halves = b::xor(b::extract(x, 1, 31), b::extract(y, 1, 31));
        let halves = b::sext(halves, 32);
        let apart = |p, q| b::ite(b::slt(p, q), b::sub(q, p), b::sub(p, q));
        let wanted = apart(by_range, average);
        let prover = Prover::new(Config::default());
        let found = apart(by_signs, b::sub(b::or(x, y), halves));
        assert!(prover.prove_equal(wanted, found).is_proved());
        // Without parts it is not.
        let plainly = prover.prove_equal_within(wanted, found, 20_000);
        assert!(!plainly.is_proved() && !plainly.is_refuted());
        let other = apart(by_signs, b::sub(b::and(x, y), halves));
        assert!(!prover.prove_equal(wanted, other).is_proved());
    }
}
