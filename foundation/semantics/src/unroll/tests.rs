//! Flat forms; that they keep the meaning of random terms is tested with the interpreter.

use super::{elements, unroll};
use crate::bits::Bits;
use crate::build as b;
use crate::eval::CompiledTerms;
use crate::sort::Sort;
use crate::term::{Kind, Term};
use crate::value::Value;
use std::collections::HashSet;

fn has_binder(t: Term) -> bool {
    matches!(
        t.kind(),
        Kind::Map { .. } | Kind::Fold { .. } | Kind::Bound { .. }
    ) || t.children().any(has_binder)
}

/// Distinct nodes.
fn nodes(t: Term) -> usize {
    let (mut seen, mut stack) = (HashSet::new(), vec![t]);
    while let Some(t) = stack.pop() {
        if seen.insert(t) {
            stack.extend(t.children());
        }
    }
    seen.len()
}

#[test]
fn elements_are_those_of_the_map() {
    let x = Term::var("x", Sort::Bv(64));
    let at = b::int_mul(Term::index(), Term::int(16));
    let t = b::map(4, b::neg(b::extract_at(x, at, 16)));
    let flat = elements(t, 16);
    let expected: Vec<Term> = (0..4).map(|k| b::neg(b::extract(x, 16 * k, 16))).collect();
    assert_eq!(flat, expected);
    assert!(!has_binder(unroll(t)));
    assert_eq!(unroll(unroll(t)), unroll(t));
}

#[test]
fn maps_nest() {
    let x = Term::var("x", Sort::Bv(32));
    // Transposes a 4 by 4 matrix of bit pairs: element (i, j) is element (j, i).
    let (j, i) = (Term::bound(0, Sort::Int), Term::bound(1, Sort::Int));
    let source = b::int_add(b::int_mul(j, Term::int(8)), b::int_mul(i, Term::int(2)));
    let t = b::map(4, b::map(4, b::extract_at(x, source, 2)));
    assert_eq!(t.sort(), Sort::Bv(32));
    let value = Bits::from_u64(32, 0x89ab_cdef);
    let expected = (0..16).fold(Bits::zero(32), |sum, k| {
        let (i, j) = (k / 4, k % 4);
        sum.insert(2 * k, &value.extract(8 * j + 2 * i, 2))
    });
    assert_eq!(
        CompiledTerms::of(t).run(&[Value::Bv(value)]),
        [Value::Bv(expected)]
    );
}

#[test]
fn long_folds_stay_linear_and_shallow_on_the_stack() {
    let x = Term::var("x", Sort::Bv(32));
    let accumulator = Term::bound(0, Sort::Bv(32));
    let step = b::add(b::mul(accumulator, x), b::xor(accumulator, x));
    let count = 20_000;
    let flat = unroll(b::fold(count, x, step));
    assert!(nodes(flat) <= 3 * count as usize + 1);
    let expected = (0..count).fold(5u32, |a, _| a.wrapping_mul(5).wrapping_add(a ^ 5));
    let program = CompiledTerms::of(flat);
    let input = [Value::Bv(Bits::from_u64(32, 5))];
    assert_eq!(
        program.run(&input),
        [Value::Bv(Bits::from_u64(32, expected.into()))]
    );
}
