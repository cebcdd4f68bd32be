//! Two terms on every input, where inputs are few.

use crate::ask::Claim;
use semantics::eval::{Input, Program};
use semantics::sort::Sort;
use semantics::subst::free_vars;
use semantics::term::Term;

/// So many bits of inputs are few.
const BITS: u32 = 26;
/// Inputs at a time.
const LANES: usize = 256;

/// Whether two terms are equal on every input; nothing where there are too many, or where the
/// interpreter has no value for them.
pub(crate) fn equal(claim: &Claim) -> Option<bool> {
    let mut variables: Vec<Term> = [claim.a, claim.b].into_iter().flat_map(free_vars).collect();
    variables.sort();
    variables.dedup();
    let bits = variables.iter().map(|v| match v.sort() {
        Sort::Bool => Some(1),
        Sort::Bv(w) if w <= BITS => Some(w),
        _ => None,
    });
    let bits: Vec<u32> = bits.collect::<Option<_>>()?;
    let all: u32 = bits.iter().sum();
    let inputs = variables.iter().map(|v| Input {
        name: v.as_var().unwrap_or_default().to_owned(),
        sort: v.sort(),
    });
    let inputs: Vec<Input> = inputs.collect();
    let one_word = claim.a.sort().width().is_none_or(|w| w <= 64);
    if all > BITS || !one_word {
        return None;
    }
    let program = Program::compile(&[claim.a, claim.b], &inputs).ok()?;
    let lanes = LANES.min(1 << all);
    let mut frame = program.frame(lanes);
    for start in (0..1u64 << all).step_by(lanes) {
        let mut shift = 0;
        for (k, width) in bits.iter().enumerate() {
            let words = program.input_words(&mut frame, k);
            for (input, word) in (start..).zip(words.iter_mut()) {
                *word = input >> shift & ((1 << width) - 1);
            }
            shift += width;
        }
        program.execute(&mut frame);
        if program.output_words(&frame, 0) != program.output_words(&frame, 1) {
            return Some(false);
        }
    }
    Some(true)
}
