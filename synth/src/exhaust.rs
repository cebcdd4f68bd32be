//! Equality by trying all inputs.
//!
//! In: two terms of a lane over few bits. Out: whether they are equal, decided by running
//! both on every input there is: what bit-blasting finds hard (division by a constant as a
//! product) is quick this way, because a lane's operands are narrow.

use crate::goal::leaf;
use semantics::eval::{CompiledTerms, Input};
use semantics::sort::Sort;
use semantics::subst::{free_vars, rebuild};
use semantics::term::Term;
use std::collections::{HashMap, HashSet};

/// The most bits of input that are run through where other ways are left.
pub(crate) const QUICK_BITS: u32 = 16;

/// The most that are run through at all: 0.1 s for a lane of ten operations.
pub(crate) const MOST_BITS: u32 = 24;

/// Bits of input that are run through together.
const AT_ONCE: u32 = 14;

/// Both terms over variables that are named by their order, one for each piece of an input that
/// they read, so that terms that differ in names only are one. A piece of a piece is read from that;
/// pieces that overlap otherwise become apart: what is equal then is equal, what is not may be.
pub fn renamed(x: Term, y: Term) -> (Term, Term) {
    let mut pieces = Vec::new();
    let mut seen = HashSet::new();
    let mut work = vec![y, x];
    while let Some(t) = work.pop() {
        if seen.insert(t) {
            match leaf(t) {
                Some((name, lo)) => pieces.push((t, name, lo)),
                None => work.extend(t.children()),
            }
        }
    }
    let width = |t: Term| t.sort().width().unwrap_or(0);
    let inside = |&(t, name, lo): &(Term, &str, u32), &(other, of, from): &(Term, &str, u32)| {
        name == of && from <= lo && lo + width(t) <= from + width(other) && width(t) < width(other)
    };
    let (parts, whole): (Vec<_>, Vec<_>) =
        (pieces.iter()).partition(|piece| pieces.iter().any(|other| inside(piece, other)));
    let named = |(k, (t, ..)): (usize, &&(Term, &str, u32))| {
        (*t, Term::var(&format!("input{k}"), t.sort()))
    };
    let mut map: HashMap<Term, Term> = whole.iter().enumerate().map(named).collect();
    for part in parts {
        let within = whole.iter().find(|other| inside(part, other));
        if let Some(&&(other, _, from)) = within {
            let read = semantics::build::extract(map[&other], part.2 - from, width(part.0));
            map.insert(part.0, read);
        }
    }
    let x = over(x, &mut map);
    (x, over(y, &mut map))
}

/// A term over what stands for its pieces.
fn over(t: Term, map: &mut HashMap<Term, Term>) -> Term {
    if let Some(&done) = map.get(&t) {
        return done;
    }
    let out = rebuild(t, |child, _| over(child, map));
    map.insert(t, out);
    out
}

/// Whether two terms are equal; nothing when there are too many inputs to try.
pub fn decide(x: Term, y: Term) -> Option<bool> {
    decide_within(x, y, QUICK_BITS)
}

/// The same for terms with at most so many bits of input.
pub(crate) fn decide_within(x: Term, y: Term, most: u32) -> Option<bool> {
    let mut inputs: Vec<Input> = Vec::new();
    for t in [x, y] {
        for v in free_vars(t) {
            let input = Input {
                name: v.as_var()?.to_owned(),
                sort: v.sort(),
            };
            if !inputs.contains(&input) {
                inputs.push(input);
            }
        }
    }
    let widths: Vec<u32> = inputs
        .iter()
        .map(|i| match i.sort {
            Sort::Bv(w) => Some(w),
            _ => None,
        })
        .collect::<Option<_>>()?;
    let bits: u32 = widths.iter().sum();
    if bits > most || x.sort() != y.sort() || x.sort().width().is_none_or(|w| w > 64) {
        return None;
    }
    let program = CompiledTerms::compile(&[x, y], &inputs).ok()?;
    let count = 1usize << bits.min(AT_ONCE);
    let mut frame = program.frame(count);
    let agree = |block: usize| {
        let mut lo = 0;
        for (k, &width) in widths.iter().enumerate() {
            let words = program.input_words(&mut frame, k);
            for (test, word) in words.iter_mut().enumerate() {
                *word = ((block * count + test) as u64 >> lo) & (u64::MAX >> (64 - width));
            }
            lo += width;
        }
        program.execute(&mut frame);
        program.output_words(&frame, 0) == program.output_words(&frame, 1)
    };
    Some((0..1usize << (bits - bits.min(AT_ONCE))).all(agree))
}

#[cfg(test)]
mod tests {
    use super::*;
    use semantics::build as b;
    use semantics::op::{Op, OpCode};

    #[test]
    fn three_bytes_are_run_through_in_blocks() {
        let wide = |name: &str| b::zext(Term::var(name, Sort::Bv(8)), 32);
        let [x, y, m] = ["x", "y", "m"].map(wide);
        let rest = b::sub(Term::bv(32, 255), m);
        let blend = b::add(b::mul(x, m), b::mul(y, rest));
        let sum = b::add(
            b::add(blend, Term::bv(32, 1)),
            b::lshr(blend, Term::bv(32, 8)),
        );
        let quotient = b::udiv(blend, Term::bv(32, 255));
        let shifted = |by: i128| b::lshr(sum, Term::bv(32, by));
        assert_eq!(decide_within(quotient, shifted(8), MOST_BITS), Some(true));
        // Only the greatest of all values tells these apart.
        let most = Term::bv(32, 65025);
        let other = b::ite(b::eq(blend, most), b::zero(32), quotient);
        assert_eq!(decide_within(quotient, other, MOST_BITS), Some(false));
        assert_eq!(decide(quotient, shifted(8)), None, "they are too many");
    }

    #[test]
    fn a_bit_of_an_element_is_read_from_the_element() {
        let input = Term::var("a", Sort::Bv(64));
        let sign = b::sext(b::extract(input, 31, 1), 16);
        let element = b::extract(input, 16, 16);
        let by = Term::bv(16, 15);
        let same = b::app(Op::new(OpCode::BvAshr), &[element, by]);
        let (x, y) = renamed(sign, same);
        assert_eq!(decide(x, y), Some(true));
        let other = b::app(Op::new(OpCode::BvLshr), &[element, by]);
        let (x, y) = renamed(sign, other);
        assert_eq!(decide(x, y), Some(false));
    }
}
