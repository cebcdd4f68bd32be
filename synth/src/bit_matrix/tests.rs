//! What is factored is the function that was given, and as short as people write it.

use super::*;
use semantics::build as b;
use semantics::eval::CompiledTerms;
use semantics::random::Random;
use semantics::subst::replace_vars;
use semantics::value::Value;

fn x(w: u32) -> Term {
    Term::var("x", Sort::Bv(w))
}

/// The value at an argument.
fn at(t: Term, value: u64) -> u64 {
    let program = CompiledTerms::of(t);
    let width = program.inputs()[0].sort.width().expect("bits");
    let out = program.run(&[Value::Bv(Bits::from_u64(width, value))]);
    out[0].bits().low_u64()
}

fn assert_same(t: Term, other: Term, random: &mut Random) {
    let single = (0..64).map(|i| 1 << i);
    let some: Vec<u64> = (0..40).map(|_| random.next_bits()).collect();
    for value in single.chain(some).chain([0, u64::MAX]) {
        assert_eq!(at(t, value), at(other, value), "{t}\n{other} at {value:#x}");
    }
}

/// Different operations of a term.
fn operations(t: Term) -> usize {
    let (mut seen, mut work) = (HashSet::new(), vec![t]);
    while let Some(t) = work.pop() {
        if t.as_app().is_some() && seen.insert(t) {
            work.extend(t.children());
        }
    }
    seen.len()
}

fn all(t: Term) -> Vec<Term> {
    let found = factored(t);
    let counted = found.counted.map(|(_, whole)| whole);
    found.terms.into_iter().chain(counted).collect()
}

fn shortest(t: Term) -> usize {
    let found = all(t);
    let mut random = Random::new(3);
    found
        .iter()
        .for_each(|other| assert_same(t, *other, &mut random));
    let own = operations(t);
    found.into_iter().map(operations).min().unwrap_or(own)
}

/// Shifts by halves of the width, combined by an operation.
fn folded(mut now: Term, shift: fn(Term, Term) -> Term, sum: fn(Term, Term) -> Term) -> Term {
    let w = now.width();
    let mut by = w / 2;
    while by > 0 {
        now = sum(now, shift(now, Term::bv(w, i128::from(by))));
        by /= 2;
    }
    now
}

#[test]
fn what_people_write_by_halves_is_found_again() {
    for (w, steps) in [(8, 3), (16, 4), (32, 5), (64, 6)] {
        let down = folded(x(w), b::lshr, b::xor);
        assert_eq!(shortest(down), 2 * steps);
        assert!(factored(down).much, "much shorter at {w} bits");
        assert_eq!(shortest(folded(x(w), b::shl, b::xor)), 2 * steps);
    }
    for w in [16, 32, 64] {
        // Counted: zeros above the first one, and a shift; or a difference, and a sum.
        assert_eq!(shortest(folded(x(w), b::lshr, b::or)), 2);
        assert_eq!(shortest(folded(x(w), b::shl, b::or)), 2);
    }
}

#[test]
fn a_parity_is_folded_or_counted() {
    let odd = |w| b::and(folded(x(w), b::lshr, b::xor), Term::bv(w, 1));
    assert!(shortest(odd(32)) <= 4);
    let found = factored(odd(64)).terms;
    assert!(operations(found[0]) <= 13, "{}", found[0]);
}

#[test]
fn a_reversal_is_exchanges_of_groups() {
    for (w, most) in [(16, 18), (32, 23), (64, 28)] {
        let bits: Vec<Term> = (0..w).map(|i| b::extract(x(w), i, 1)).collect();
        assert!(shortest(b::concat(&bits)) <= most);
    }
}

#[test]
fn a_round_of_random_numbers_stays_short() {
    let step = |x: Term, by: i128| match by {
        0.. => b::xor(x, b::shl(x, Term::bv(x.width(), by))),
        _ => b::xor(x, b::lshr(x, Term::bv(x.width(), -by))),
    };
    let mixed = [3, -5, 7].into_iter().fold(x(64), step);
    assert!(shortest(mixed) <= 6);
}

#[test]
fn all_of_some_bits_is_none_of_their_opposites() {
    let all = folded(x(32), b::lshr, b::and);
    let found = self::all(all);
    let mut random = Random::new(5);
    found.iter().for_each(|t| assert_same(all, *t, &mut random));
}

/// Random steps: what comes out is the same function, at every width.
#[test]
fn random_matrices_keep_what_they_do() {
    let mut random = Random::new(11);
    let mut shorter = 0;
    for _ in 0..400 {
        let w = *random.pick(&[8, 16, 32, 64]);
        let or = random.below(2) == 0;
        let mut now = x(w);
        for _ in 0..2 + random.below(4) {
            let by = Term::bv(w, i128::from(1 + random.below(u64::from(w) - 1)));
            let other = match random.below(2) {
                0 => b::shl(now, by),
                _ => b::lshr(now, by),
            };
            now = match random.below(6) {
                0 => b::and(now, Term::bits(random.bits(w))),
                1 => b::not(now),
                _ if or => b::or(now, other),
                _ => b::xor(now, other),
            };
        }
        let found = all(now);
        shorter += usize::from(!found.is_empty());
        found.iter().for_each(|t| assert_same(now, *t, &mut random));
    }
    assert!(shorter > 40, "{shorter}");
}

#[test]
fn of_two_values_that_are_treated_differently_nothing_is_said() {
    let y = Term::var("y", Sort::Bv(32));
    let of = |t: Term| b::xor(t, b::lshr(t, Term::bv(32, 3)));
    assert!(all(b::xor(of(of(x(32))), of(y))).is_empty());
    assert!(all(b::add(x(32), y)).is_empty());
}

/// What is shifted once more is a matrix too.
#[test]
fn a_shifted_smear_is_found_again() {
    for (w, steps) in [(16, 4), (32, 5), (64, 6)] {
        let smear = folded(x(w), b::lshr, b::or);
        let shifted = b::lshr(smear, Term::bv(w, 1));
        assert!(shortest(shifted) <= 2 * steps + 1, "{w} bits");
    }
}

/// What treats all of its arguments alike is a matrix of their sum.
#[test]
fn arguments_that_are_treated_alike_are_added_first() {
    let y = |w| Term::var("y", Sort::Bv(w));
    for (code, sum) in [
        (OpCode::BvXor, b::xor as fn(Term, Term) -> Term),
        (OpCode::BvOr, b::or),
    ] {
        let folded = folded(sum(x(32), y(32)), b::lshr, sum);
        let found = factored(folded);
        assert!(found.much, "{folded}");
        let (argument, _) = found.matrix.expect("it is one");
        assert!(argument.args_of(code).is_some(), "{argument}");
        for term in found.terms {
            assert!(operations(term) <= 11, "{term}");
            let of = |y: Term| {
                let map = [("y", y)].into_iter().collect();
                let (a, b) = (replace_vars(folded, &map), replace_vars(term, &map));
                assert_same(a, b, &mut Random::new(7));
            };
            of(Term::bv(32, 0));
            of(Term::bv(32, 0x1234_5678));
            of(b::shl(x(32), Term::bv(32, 9)));
        }
    }
}
