//! Values of odd widths become values of usual ones, and stay equal.

use semantics::build as b;
use semantics::sort::Sort;
use semantics::term::Term;
use smt::config::Config;
use smt::prover::Prover;
use smt::verdict::Verdict;
use synth::fragment::{operands, regular};
use synth::legal::legalize;

fn var(name: &str, width: u32) -> Term {
    Term::var(name, Sort::Bv(width))
}

fn only_usual_widths(t: Term) -> bool {
    (regular(t) || t.sort() == Sort::Bv(1)) && operands(t).all(only_usual_widths)
}

fn check(t: Term) {
    let prover = Prover::new(Config::default());
    let new = legalize(t, &prover);
    assert!(only_usual_widths(new), "{new}");
    let verdict = prover.prove_equal(new, t);
    assert!(matches!(verdict, Verdict::Proved(_)), "{verdict:?}");
}

#[test]
fn a_saturating_sum_of_bytes() {
    let sum = b::add(b::zext(var("x", 8), 9), b::zext(var("y", 8), 9));
    check(b::sat_uu(sum, 8));
}

#[test]
fn a_rounding_shift_by_a_constant_needs_no_wider_values() {
    let x = var("x", 32);
    let sum = b::add(b::sext(x, 33), Term::bv(33, 0x8000));
    let rounded = b::extract(b::ashr(sum, Term::bv(33, 16)), 0, 32);
    check(rounded);
    let widest = |t: Term| operands(t).map(Term::width).max();
    assert_eq!(
        widest(legalize(rounded, &Prover::new(Config::default()))),
        Some(32)
    );
}

#[test]
fn a_rounding_shift_by_a_variable() {
    let (x, s) = (b::sext(var("x", 32), 34), b::zext(var("s", 32), 34));
    let number = |n: i128| Term::bv(34, n);
    let half = b::shl(number(1), b::sub(s, number(1)));
    let rounded = b::ashr(b::add(x, half), s);
    let near = b::ite(b::eq(s, number(0)), x, rounded);
    let far = b::ult(number(32), s);
    check(b::extract(b::ite(far, number(0), near), 0, 32));
}

#[test]
fn a_field_of_a_long_sum_of_an_odd_width() {
    let taps = (0..9).map(|k| {
        let x = b::zext(var(&format!("x{k}"), 8), 12);
        b::mul(x, Term::bv(12, [1, 2, 4][k % 3]))
    });
    let sum = taps.reduce(b::add).expect("there are taps");
    check(b::extract(b::add(sum, Term::bv(12, 8)), 4, 8));
}
