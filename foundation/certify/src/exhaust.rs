//! Two terms on every input, where inputs are few.
//!
//! In: a claim. Out: whether both are equal on every input, or nothing, where there are too many
//! or the interpreter has no value for them. Of a variable that is only ever looked at in pieces
//! the bits between the first and the last of them are tried; nothing sees the others.

use crate::ask::Claim;
use crate::chain::within;
use semantics::eval::{CompiledTerms, Input};
use semantics::op::OpCode;
use semantics::sort::Sort;
use semantics::term::Term;
use std::collections::BTreeMap;
use std::ops::Range;

/// So many bits of inputs are few.
const BITS: u32 = 28;
/// Inputs at a time.
const LANES: usize = 256;

/// Whether two terms are equal on every input; nothing where there are too many, or where the
/// interpreter has no value for them.
pub(crate) fn equal(claim: &Claim) -> Option<bool> {
    let seen = seen([claim.a, claim.b]);
    let fit = |v: &Term| match v.sort() {
        Sort::Bool => true,
        Sort::Bv(w) => w <= 64,
        _ => false,
    };
    let all: u32 = seen.values().map(Range::len).map(|n| n as u32).sum();
    let one_word = claim.a.sort().width().is_none_or(|w| w <= 64);
    if all > BITS || !one_word || !seen.keys().all(fit) {
        return None;
    }
    let inputs = seen.keys().map(|v| Input {
        name: v.as_var().unwrap_or_default().to_owned(),
        sort: v.sort(),
    });
    let inputs: Vec<Input> = inputs.collect();
    let program = CompiledTerms::compile(&[claim.a, claim.b], &inputs).ok()?;
    let lanes = LANES.min(1 << all);
    let mut frame = program.frame(lanes);
    for start in (0..1u64 << all).step_by(lanes) {
        let mut shift = 0;
        for (k, bits) in seen.values().enumerate() {
            let words = program.input_words(&mut frame, k);
            for (input, word) in (start..).zip(words.iter_mut()) {
                *word = (input >> shift & ((1 << bits.len()) - 1)) << bits.start;
            }
            shift += bits.len();
        }
        program.execute(&mut frame);
        if program.output_words(&frame, 0) != program.output_words(&frame, 1) {
            return Some(false);
        }
    }
    Some(true)
}

/// The variables of terms, and of each the bits from the first to the last that anything looks at.
fn seen(terms: [Term; 2]) -> BTreeMap<Term, Range<u32>> {
    let whole = |v: Term| 0..v.sort().width().unwrap_or(1);
    let mut seen: BTreeMap<Term, Range<u32>> = BTreeMap::new();
    let mut look = |v: Term, bits: Range<u32>| {
        let all = seen.entry(v).or_insert_with(|| bits.clone());
        *all = all.start.min(bits.start)..all.end.max(bits.end);
    };
    for outer in terms {
        if outer.as_var().is_some() {
            look(outer, whole(outer));
        }
        let parts = within(outer).into_iter();
        let parts = parts.flat_map(|t| t.children().map(move |inner| (t, inner)));
        for (t, inner) in parts.filter(|(_, inner)| inner.as_var().is_some()) {
            look(inner, piece(t, inner).unwrap_or_else(|| whole(inner)));
        }
    }
    seen
}

/// The bits of a variable that a term takes, when that is all that it does with it.
fn piece(t: Term, variable: Term) -> Option<Range<u32>> {
    let args = t.args_of(OpCode::Extract)?;
    let low = u32::try_from(args[1].as_int()?).ok()?;
    let end = low + t.sort().width()?;
    let inside = args[0] == variable && end <= variable.sort().width()?;
    inside.then_some(low..end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use semantics::build as b;
    use semantics::op::Op;

    fn claim(a: Term, b: Term) -> Claim {
        Claim {
            a,
            b,
            element: a.width(),
            live: Vec::new(),
        }
    }

    #[test]
    fn bits_that_nothing_looks_at_are_not_tried_and_all_others_are() {
        let wide = Term::var("wide", Sort::Bv(64));
        let middle = b::extract(wide, 20, 8);
        let more = b::extract(wide, 24, 8);
        let twice = b::add(middle, middle);
        let shifted = b::mul(middle, Term::bv(8, 2));
        assert_eq!(equal(&claim(twice, shifted)), Some(true));
        // Right but where all twelve bits that are looked at have one value.
        for rare in [0i128, 0xfff, 0x800, 0x001, 0xa5a] {
            let low = Term::bv(8, rare & 0xff);
            let high = Term::bv(8, rare >> 4);
            let hit = [b::eq(middle, low), b::eq(more, high)];
            let hit = b::app(Op::new(OpCode::And), &hit);
            let wrong = b::ite(hit, b::not(shifted), shifted);
            assert_eq!(equal(&claim(twice, wrong)), Some(false), "{rare:x}");
        }
        // Seen as a whole in another place, or too wide for a word.
        let whole = b::bool_to_bit(b::eq(wide, Term::bv(64, 5)));
        let both = b::or(whole, b::extract(middle, 0, 1));
        assert_eq!(equal(&claim(both, both)), None);
        let vast = Term::var("vast", Sort::Bv(65));
        let bit = b::extract(vast, 64, 1);
        assert_eq!(equal(&claim(bit, bit)), None);
    }
}
