//! Parts that two terms have in common, of whatever width, as one variable.
//!
//! In: two terms over variables. Out: evidence that they are equal whatever these parts are. A part
//! of one that on fixed inputs is a part of the other, extended, is proved to be that, and then stands in
//! both as a variable of as many bits as its range has: a sum of counted bits that is computed in words is
//! proved without counting any. It is what equivalence checkers of circuits do at their cut points
//! (Kuehlmann, Krohm: "Equivalence checking using cuts and heaps", 1997), on terms.

use super::{MAX_PARTS, in_a_word, parts};
use crate::fragment::{Behaviour, behaviours, replace_below};
use crate::goal::leaf;
use semantics::build as b;
use semantics::range::range;
use semantics::sort::Sort;
use semantics::subst::free_vars;
use semantics::term::Term;
use smt::prover::Prover;
use smt::verdict::{Evidence, Verdict};
use std::collections::{HashMap, HashSet};

/// Two parts that are equal, the narrower one first.
type Cut = (Term, Term);

/// Evidence that two terms are equal for all values of what they have in common.
pub(super) fn equal(is: Term, wanted: Term, prover: &Prover) -> Option<Evidence> {
    let mut evidence = Evidence::default();
    let cuts = Common::of(is, wanted)?.cuts(wanted, prover, &mut evidence);
    let mut map: HashMap<Term, Term> = HashMap::new();
    for (k, (narrow, wide)) in cuts.into_iter().enumerate() {
        // One part of one side may be several of the other, of several widths.
        let any = *map.entry(narrow).or_insert_with(|| {
            let most = range(b::zext(narrow, narrow.width() + 1)).1;
            let bits = (i128::BITS - most.leading_zeros()).clamp(1, narrow.width());
            let any = Term::var(&format!("cut{k}"), Sort::Bv(bits));
            b::zext(any, narrow.width())
        });
        map.insert(wide, b::zext(any, wide.width()));
    }
    if map.is_empty() {
        return None;
    }
    let [is, wanted] = [is, wanted].map(|side| replace_below(side, &mut map.clone()));
    match prover.prove_equal(is, wanted) {
        Verdict::Proved(rest) => {
            evidence.add(&rest);
            Some(evidence)
        }
        _ => None,
    }
}

/// What parts of one side do on fixed inputs.
struct Common {
    inputs: Vec<(String, u32)>,
    order: Vec<usize>,
    /// The narrowest part that does something.
    parts: HashMap<Behaviour, Term>,
}

impl Common {
    /// The parts of the first of two terms; nothing where there are too many, or what they read is too wide.
    fn of(is: Term, wanted: Term) -> Option<Common> {
        let all = parts(&[is, wanted]);
        let mut inputs: Vec<(String, u32)> = Vec::new();
        for input in free_vars(b::concat(&[is, wanted])) {
            inputs.push((input.as_var()?.to_owned(), input.sort().width()?));
        }
        let fits = inputs.iter().all(|(_, width)| *width <= u64::BITS);
        if all.len() > MAX_PARTS || !fits {
            return None;
        }
        let mut common = Common {
            order: (0..inputs.len()).collect(),
            inputs,
            parts: HashMap::new(),
        };
        for part in parts(&[is])
            .into_iter()
            .filter(|t| *t != is && is_value(*t))
        {
            let known = common.parts.entry(common.behaviour(part)).or_insert(part);
            if part.width() < known.width() {
                *known = part;
            }
        }
        Some(common)
    }

    fn behaviour(&self, part: Term) -> Behaviour {
        behaviours(b::zext(part, u64::BITS), &self.inputs, &[&self.order])[0]
    }

    /// The largest parts of a term that are such a part.
    fn cuts(&self, wanted: Term, prover: &Prover, evidence: &mut Evidence) -> Vec<Cut> {
        let (mut cuts, mut seen) = (Vec::new(), HashSet::from([wanted]));
        let mut work: Vec<Term> = wanted.children().collect();
        while let Some(t) = work.pop() {
            if t.as_app().is_none() || !seen.insert(t) {
                continue;
            }
            let other = is_value(t).then(|| self.parts.get(&self.behaviour(t)));
            let same = other.flatten().filter(|other| other.width() <= t.width());
            let proved = same.and_then(|&other| {
                let equal = prover.prove_equal(b::zext(other, t.width()), t);
                match equal {
                    Verdict::Proved(found) => Some((other, found)),
                    _ => None,
                }
            });
            match proved {
                Some((other, found)) => {
                    evidence.add(&found);
                    cuts.push((other, t));
                }
                None => work.extend(t.children()),
            }
        }
        cuts
    }
}

/// Whether a part is computed, in a machine word.
fn is_value(t: Term) -> bool {
    in_a_word(t) && leaf(t).is_none() && t.as_app().is_some()
}

#[cfg(test)]
mod tests {
    use super::equal;
    use semantics::build as b;
    use semantics::sort::Sort;
    use semantics::term::Term;
    use smt::config::Config;
    use smt::prover::Prover;

    /// A sum of 64 bits and counted bits in words, with or without its carry, and of which words bits are counted.
    fn in_words(sum: Term, x: Term, carries: bool, counted: [u32; 2]) -> Term {
        let word = |t: Term, k: u32| b::extract(t, 32 * k, 32);
        let [first, second] = counted.map(|k| b::popcnt(word(x, k)));
        let low = b::add(word(sum, 0), b::add(first, second));
        let one = |n| Term::bv(32, n);
        let carry = match carries {
            true => b::ite(b::ult(low, word(sum, 0)), one(1), one(0)),
            false => one(0),
        };
        b::concat(&[b::add(word(sum, 1), carry), low])
    }

    #[test]
    fn counted_bits_are_added_in_words_without_counting_them() {
        let prover = Prover::new(Config::default());
        let [sum, x] = ["sum", "x"].map(|name| Term::var(name, Sort::Bv(64)));
        let wanted = b::add(sum, b::popcnt(x));
        let found = equal(in_words(sum, x, true, [0, 1]), wanted, &prover);
        assert!(found.is_some_and(|evidence| evidence.questions > 1));
        assert!(equal(in_words(sum, x, false, [0, 1]), wanted, &prover).is_none());
        assert!(equal(in_words(sum, x, true, [0, 0]), wanted, &prover).is_none());
    }
}
