//! Parts of two terms that are equal, found by running them, from the leaves up.
//!
//! In: two flat terms. Out: for each part, in an order in which parts come before what is made of
//! them, an earlier one that has the same values on all samples ([`Alike`]). Alike is not equal:
//! whoever uses it proves it.

use semantics::bits::Bits;
use semantics::eval::{CompiledTerms, Input};
use semantics::random::Random;
use semantics::sort::Sort;
use semantics::subst::parts_first;
use semantics::term::Term;
use semantics::value::Value;
use std::collections::HashMap;

/// Inputs that are run.
const SAMPLES: usize = 128;
/// Terms with more parts than this are not run.
const MOST_PARTS: usize = 20_000;
/// Numbers of sixteen bits at which arithmetic turns.
const EDGES: [u64; 8] = [0, 1, 0x7f, 0x80, 0x7fff, 0x8000, 0x8001, 0xffff];

/// A part of at most 64 bits, and an earlier one that may be the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Alike {
    pub part: Term,
    pub earlier: Term,
}

/// The parts of two flat terms that are alike on samples; none where they cannot be run.
pub(crate) fn alike(a: Term, b: Term) -> Vec<Alike> {
    let order = parts_first(&[a, b]);
    let words = |t: &&Term| matches!(t.sort(), Sort::Bv(1..=64)) && t.as_app().is_some();
    let parts: Vec<Term> = order.iter().filter(words).copied().collect();
    let variables = order.iter().filter(|t| t.as_var().is_some());
    let inputs: Vec<Input> = variables
        .map(|t| Input {
            name: t.as_var().unwrap_or_default().to_owned(),
            sort: t.sort(),
        })
        .collect();
    let values = |i: &Input| matches!(i.sort, Sort::Bv(_) | Sort::Bool);
    if parts.len() > MOST_PARTS || !inputs.iter().all(values) {
        return Vec::new();
    }
    let Ok(program) = CompiledTerms::compile(&parts, &inputs) else {
        return Vec::new();
    };
    let (mut frame, mut random) = (program.frame(SAMPLES), Random::new(1));
    for (at, input) in inputs.iter().enumerate() {
        for sample in 0..SAMPLES {
            let value = drawn(&mut random, input.sort, sample);
            program.set(&mut frame, at, sample, &value);
        }
    }
    program.execute(&mut frame);
    let mut first: HashMap<(Sort, Vec<u64>), Term> = HashMap::new();
    let mut found = Vec::new();
    for (at, &part) in parts.iter().enumerate() {
        let key = (part.sort(), program.output_words(&frame, at).to_vec());
        match first.get(&key) {
            Some(&earlier) => found.push(Alike { part, earlier }),
            None => {
                first.insert(key, part);
            }
        }
    }
    found
}

/// Any value, one of edges, small numbers side by side, or one of few bits: a number by which is
/// shifted has to be below the width, or all that is shifted is alike.
fn drawn(random: &mut Random, sort: Sort, sample: usize) -> Value {
    let Sort::Bv(width) = sort else {
        return Value::Bool(random.below(2) == 1);
    };
    let style = sample % 4;
    if style == 0 || style == 3 && width > 64 {
        return Value::Bv(random.bits(width));
    }
    let mut bits = Bits::zero(width);
    for lo in (0..width).step_by(16) {
        let size = 16.min(width - lo);
        let piece = match style {
            1 => *random.pick(&EDGES),
            3 if lo > 0 => 0,
            _ => random.below(64),
        };
        bits = bits.insert(lo, &Bits::from_u64(16, piece).trunc(size));
    }
    Value::Bv(bits)
}

#[cfg(test)]
mod tests {
    use super::alike;
    use semantics::op::{Op, OpCode};
    use semantics::sort::Sort;
    use semantics::term::Term;

    /// Of numbers of 32 bits nearly all shift everything out: what is shifted would be alike.
    #[test]
    fn what_is_shifted_by_any_number_is_not_alike() {
        let [a, b, by] = ["a", "b", "by"].map(|name| Term::var(name, Sort::Bv(32)));
        for code in [OpCode::BvAshr, OpCode::BvLshr, OpCode::BvShl] {
            let shifted = |x| Term::raw_app(Op::new(code), &[x, by]).expect("words of one width");
            assert_eq!(alike(shifted(a), shifted(b)), []);
            assert_eq!(alike(shifted(a), shifted(a)), []);
        }
    }
}
