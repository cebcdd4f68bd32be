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
    let divides = |t: &Term| operators_of(*t).contains(&OpCode::BvUdiv);
    let others = alternatives(quotient);
    assert!(!divides(&others[0]), "{}", others[0]);
    for other in others.into_iter().filter(|t| !divides(t)) {
        assert_eq!(decide(quotient, other), Some(true), "{divisor}: {other}");
    }
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

#[test]
fn only_a_difference_is_written_as_one_of_extremes() {
    let (x, y) = (Term::var("x", Sort::Bv(8)), Term::var("y", Sort::Bv(8)));
    let choice = |then, other| b::ite(b::ult(x, y), then, other);
    let difference = choice(b::sub(y, x), b::sub(x, y));
    let extremes = |t: Term| {
        let others = alternatives(t).into_iter();
        others
            .filter(|o| operators_of(*o).contains(&OpCode::Umax))
            .collect::<Vec<_>>()
    };
    let [written] = extremes(difference)[..] else {
        panic!("it is a difference of which the greater is the first");
    };
    assert_eq!(decide(difference, written), Some(true));
    assert_eq!(extremes(choice(b::sub(x, y), b::sub(y, x))), []);
    assert_eq!(extremes(choice(b::sub(y, x), x)), []);
}
