//! Operators that the pseudocode spells out.
//!
//! In: terms. Out: equal terms with one operator: chains over the bits of a value that count
//! its leading zeros, choices among consecutive elements. Each rule checks the whole shape.

use semantics::build as b;
use semantics::op::OpCode;
use semantics::term::Term;

/// A bit of a term: what it is extracted from, and where.
fn bit(t: Term) -> Option<(Term, u32)> {
    if t.sort().width() != Some(1) {
        return None;
    }
    match t.args_of(OpCode::Extract) {
        Some(args) => Some((args[0], u32::try_from(args[1].as_int()?).ok()?)),
        None => Some((t, 0)),
    }
}

/// The term with an operator in place of a chain, when it is one.
pub(super) fn recognise(t: Term) -> Option<Term> {
    leading_zeros(t)
}

/// `ite(bit n-1, 0, ite(bit n-2, 1, … ite(bit 0, n-1, n)))`.
fn leading_zeros(t: Term) -> Option<Term> {
    let width = t.sort().width()?;
    let mut rest = t;
    let mut source = None;
    let mut top = 0;
    let mut count = 0u32;
    while let Some(args) = rest.args_of(OpCode::Ite) {
        let condition = args[0].args_of(OpCode::Eq)?;
        if condition[1] != Term::bv(1, 1) || args[1] != Term::bv(width, i128::from(count)) {
            return None;
        }
        let (from, position) = bit(condition[0])?;
        if source.is_none() {
            (source, top) = (Some(from), position);
        }
        if source != Some(from) || position + count != top {
            return None;
        }
        count += 1;
        rest = args[2];
    }
    let fits = width >= 32 || count < 1 << width;
    if count < 4 || !fits || rest != Term::bv(width, i128::from(count)) {
        return None;
    }
    let value = b::extract(source?, top + 1 - count, count);
    let zeros = b::clz(value);
    Some(b::resize_unsigned(zeros, width))
}

/// The element at an index, when the outcomes for index 0, 1, … are consecutive elements of
/// one term.
pub(super) fn element_of(index: Term, terms: &[Term]) -> Option<Term> {
    let width = terms.first()?.sort().width()?;
    let place = |t: Term| -> Option<(Term, u32)> {
        let args = t.args_of(OpCode::Extract)?;
        Some((args[0], u32::try_from(args[1].as_int()?).ok()?))
    };
    let (source, first) = place(terms[0])?;
    for (k, &t) in (0u32..).zip(terms) {
        if t.sort().width() != Some(width) || place(t)? != (source, first + k * width) {
            return None;
        }
    }
    let count = u32::try_from(terms.len()).ok()?;
    Some(b::elem(b::extract(source, first, count * width), index, width))
}
