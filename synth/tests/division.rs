//! Division by a constant: a product and a shift, for every divisor of bytes and for those
//! of 16 bits that need the longest factors.

use semantics::build as b;
use semantics::op::{Op, OpCode};
use semantics::sort::Sort;
use semantics::term::Term;
use synth::alternatives::alternatives;
use synth::exhaust::decide;
use synth::lanes::operators_of;

fn check(width: u32, divisor: i128) {
    let x = Term::var("x", Sort::Bv(width));
    let quotient =
        Term::raw_app(Op::new(OpCode::BvUdiv), &[x, Term::bv(width, divisor)]).expect("a quotient");
    let other = alternatives(quotient)[0];
    assert!(!operators_of(other).contains(&OpCode::BvUdiv), "{other}");
    assert_eq!(decide(quotient, other), Some(true), "{divisor}: {other}");
}

#[test]
fn every_divisor_of_bytes() {
    (2..256).for_each(|divisor| check(8, divisor));
}

#[test]
fn divisors_of_16_bits() {
    let hard = [
        3, 7, 9, 25, 49, 127, 255, 641, 1000, 4095, 32767, 32769, 65535,
    ];
    hard.into_iter().for_each(|divisor| check(16, divisor));
}

#[test]
fn a_wrong_factor_is_told_from_a_right_one() {
    let x = Term::var("x", Sort::Bv(16));
    let product = b::mul(b::zext(x, 32), Term::bv(32, 0xe38e));
    let wrong = b::extract(b::lshr(product, Term::bv(32, 19)), 0, 16);
    let right = b::udiv(x, Term::bv(16, 9));
    assert_eq!(decide(wrong, right), Some(false));
}
