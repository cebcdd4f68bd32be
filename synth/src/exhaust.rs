//! Equality by trying all inputs.
//!
//! In: two terms of a lane over few bits. Out: whether they are equal, decided by running
//! both on every input there is: what bit-blasting finds hard (division by a constant as a
//! product) is quick this way, because a lane's operands are narrow.

use crate::goal::leaf;
use semantics::eval::{Input, Program};
use semantics::sort::Sort;
use semantics::subst::{free_vars, rebuild};
use semantics::term::Term;
use std::collections::HashMap;

/// The most bits of input that are run through.
const MAX_BITS: u32 = 16;

/// Both terms over variables that are named by their order, one for each piece of an input that
/// they read, so that terms that differ in names only are one. Pieces that overlap become apart:
/// what is equal then is equal, what is not may be.
pub fn renamed(x: Term, y: Term) -> (Term, Term) {
    let mut map: HashMap<Term, Term> = HashMap::new();
    let x = apart(x, &mut map);
    (x, apart(y, &mut map))
}

/// A term over a variable for each piece of an input.
fn apart(t: Term, map: &mut HashMap<Term, Term>) -> Term {
    if let Some(&done) = map.get(&t) {
        return done;
    }
    let out = match leaf(t) {
        Some(_) => {
            let pieces = map.keys().filter(|t| leaf(**t).is_some());
            Term::var(&format!("input{}", pieces.count()), t.sort())
        }
        None => rebuild(t, |child, _| apart(child, map)),
    };
    map.insert(t, out);
    out
}

/// Whether two terms are equal; nothing when there are too many inputs to try.
pub fn decide(x: Term, y: Term) -> Option<bool> {
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
    if bits > MAX_BITS || x.sort() != y.sort() || x.sort().width().is_none_or(|w| w > 64) {
        return None;
    }
    let count = 1usize << bits;
    let program = Program::compile(&[x, y], &inputs).ok()?;
    let mut frame = program.frame(count);
    let mut lo = 0;
    for (k, &width) in widths.iter().enumerate() {
        let words = program.input_words(&mut frame, k);
        for (test, word) in words.iter_mut().enumerate() {
            *word = (test as u64 >> lo) & (u64::MAX >> (64 - width));
        }
        lo += width;
    }
    program.execute(&mut frame);
    Some(program.output_words(&frame, 0) == program.output_words(&frame, 1))
}
