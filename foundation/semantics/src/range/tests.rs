//! Every value of a random term lies in its range, and what ranges decide is so.

use super::{Ranges, decided, range, signed};
use crate::eval::{CompiledTerms, Input};
use crate::op::{Op, OpCode};
use crate::random::Random;
use crate::sort::Sort;
use crate::term::Term;
use crate::value::Value;
use OpCode as C;

const TWO: [OpCode; 17] = [
    C::BvAdd,
    C::BvSub,
    C::BvMul,
    C::BvAnd,
    C::BvOr,
    C::BvXor,
    C::BvShl,
    C::BvLshr,
    C::BvAshr,
    C::Smin,
    C::Smax,
    C::Umin,
    C::Umax,
    C::BvSdiv,
    C::BvSrem,
    C::BvUdiv,
    C::BvUrem,
];
const ONE: [OpCode; 6] = [C::BvNeg, C::BvNot, C::Abs, C::Popcnt, C::Clz, C::Ctz];
const RESIZED: [OpCode; 7] = [
    C::Sext,
    C::Zext,
    C::Extract,
    C::SatSS,
    C::SatSU,
    C::SatUS,
    C::SatUU,
];
const ORDER: [OpCode; 5] = [C::BvSlt, C::BvSle, C::BvUlt, C::BvUle, C::Eq];

fn made(op: Op, args: &[Term]) -> Option<Term> {
    Term::raw_app(op, args).ok()
}

/// A comparison, or two joined, or one that fails.
fn condition(random: &mut Random, pool: &[Term]) -> Option<Term> {
    let compared = |random: &mut Random| {
        let [x, y] = [*random.pick(pool), *random.pick(pool)];
        made(Op::new(*random.pick(&ORDER)), &[x, y])
    };
    let first = compared(random)?;
    match random.below(4) {
        0 => made(Op::new(C::Not), &[first]),
        1 => made(Op::new(C::And), &[first, compared(random)?]),
        2 => made(Op::new(C::Or), &[first, compared(random)?]),
        _ => Some(first),
    }
}

fn grown(random: &mut Random, pool: &[Term]) -> Option<Term> {
    let [x, y] = [*random.pick(pool), *random.pick(pool)];
    match random.below(10) {
        0..4 => made(Op::new(*random.pick(&TWO)), &[x, y]),
        4 => made(Op::new(*random.pick(&ONE)), &[x]),
        5 | 6 => {
            let op = Op::with(*random.pick(&RESIZED), 1 + random.below(9) as u32);
            match op.code {
                C::Extract => made(op, &[x, Term::int(random.below(4) as i64)]),
                _ => made(op, &[x]),
            }
        }
        _ => made(Op::new(C::Ite), &[condition(random, pool)?, x, y]),
    }
}

fn every_input(width: u32) -> impl Iterator<Item = [Value; 2]> {
    let all = 1u64 << width;
    let value = move |v| Value::Bv(crate::bits::Bits::from_u64(width, v));
    (0..all * all).map(move |k| [value(k % all), value(k / all)])
}

/// Checks a term at every input.
fn check(t: Term, width: u32) -> bool {
    let inputs = ["x", "y"].map(|name| Input {
        name: name.to_owned(),
        sort: Sort::Bv(width),
    });
    let mut ranges = super::Ranges::default();
    let known = decided(t, &mut ranges).or_else(|| super::never_saturates(t, &mut ranges));
    let program =
        CompiledTerms::compile(&[t, known.unwrap_or(t)], &inputs).expect("both are closed");
    let held = t.sort().width().map(|_| range(t));
    for values in every_input(width) {
        let results = program.run(&values);
        assert_eq!(results[0], results[1], "{t} is not {known:?} at {values:?}");
        if let (Some((lo, hi)), Value::Bv(bits)) = (held, &results[0]) {
            let value = signed(bits).expect("it is short");
            assert!(
                lo <= value && value <= hi,
                "{t} is {value}, not in {lo}..={hi}"
            );
        }
    }
    known.is_some()
}

#[test]
fn random_terms_stay_within_their_ranges() {
    let mut random = Random::new(11);
    let mut count = 0;
    for round in 0..600 {
        let width = 2 + round % 3;
        let mut pool = vec![
            Term::var("x", Sort::Bv(width)),
            Term::var("y", Sort::Bv(width)),
        ];
        for value in [0, 1, 2, -1, 3] {
            pool.push(Term::bv(width, value));
            pool.push(Term::bv(width + 2, value));
        }
        while pool.len() < 32 {
            let Some(t) = grown(&mut random, &pool) else {
                continue;
            };
            count += usize::from(check(t, width));
            pool.push(t);
            if let Some(c) = condition(&mut random, &pool) {
                count += usize::from(check(c, width));
            }
        }
    }
    assert!(count > 1000, "ranges decided only {count}");
}

#[test]
fn a_remainder_that_was_made_positive_is_known_to_be() {
    use crate::build as b;
    let x = Term::var("x", Sort::Bv(32));
    let rest = b::srem(x, Term::bv(32, 360));
    assert_eq!(range(rest), (-359, 359));
    let lifted = b::ite(
        b::slt(rest, b::zero(32)),
        b::add(rest, Term::bv(32, 360)),
        rest,
    );
    assert_eq!(range(lifted), (0, 359));
}

/// Bits of extended numbers that are combined are those of the numbers, signs included.
#[test]
fn bits_of_extended_numbers_stay_within_the_wider_one() {
    use crate::build as b;
    let x = b::sext(Term::var("x", Sort::Bv(8)), 64);
    let z = b::sext(Term::var("z", Sort::Bv(8)), 64);
    let y = b::sext(Term::var("y", Sort::Bv(16)), 64);
    for made in [b::xor, b::or, b::and] {
        assert_eq!(range(made(x, z)), (-128, 127));
        assert_eq!(range(made(x, y)), (-32768, 32767));
    }
    assert_eq!(range(b::and(y, Term::bv(64, 100))), (0, 100));
}

/// What is read from memory, and whatever else is of no bits, has all values.
#[test]
fn what_is_read_has_all_values() {
    use crate::build as b;
    let memory = Term::var("m", Sort::Mem);
    let at = Term::var("p", Sort::Bv(64));
    for t in [
        made(Op::with(C::Read, 4), &[memory, at]),
        made(Op::with(C::IntToBv, 8), &[Term::var("i", Sort::Int)]),
    ] {
        let t = t.expect("it has the sorts that its operator wants");
        let (lo, hi) = range(t);
        assert_eq!((lo, hi), super::full(t.width()), "{t}");
        assert_eq!(
            decided(b::slt(t, b::zero(t.width())), &mut super::Ranges::default()),
            None
        );
    }
}

/// Sums and products of extended elements may be read without sign where the sign bit is one of the value.
#[test]
fn a_value_without_sign_may_have_the_bit_of_the_sign() {
    use super::unsigned;
    use crate::build as b;
    let [x, y] = ["x", "y"].map(|name| b::zext(Term::var(name, Sort::Bv(8)), 16));
    let product = b::mul(x, y);
    assert_eq!(unsigned(product), (0, 65025));
    assert_eq!(unsigned(b::add(product, Term::bv(16, 127))), (127, 65152));
    assert_eq!(unsigned(b::add(product, Term::bv(16, 511))), (0, 65535));
    let z = Term::var("z", Sort::Bv(16));
    assert_eq!(unsigned(b::umin(z, Term::bv(16, 65000))), (0, 65000));
    assert_eq!(unsigned(b::umax(z, Term::bv(16, -2))), (65534, 65535));
    assert_eq!(unsigned(b::sub(x, y)), (0, 65535));
}

/// Of a sum of a sum of itself there are very many ways to each part.
#[test]
fn a_chain_of_doublings_is_gone_through_once() {
    let byte = crate::build::zext(Term::var("x", Sort::Bv(8)), 64);
    let chain = |n: u32| (0..n).fold(byte, |sum, _| crate::build::add(sum, sum));
    assert_eq!(range(chain(10)), (0, 255 << 10));
    let whole = (i128::from(i64::MIN), i128::from(i64::MAX));
    assert_eq!(range(chain(60)), whole);
    let one = Term::bv(64, 1);
    let odd = (0..60).fold(byte, |sum, _| {
        crate::build::sub(crate::build::add(sum, crate::build::mul(sum, byte)), one)
    });
    assert_eq!(range(odd), whole);
}

/// What is interpolated stays between its ends, in whatever width and spelling.
#[test]
fn interpolations_stay_between_their_ends() {
    use super::unsigned;
    use crate::build as b;
    let byte = |name: &str| Term::var(name, Sort::Bv(8));
    let [x, y, m] = ["x", "y", "m"].map(byte);
    for width in [17, 32, 64] {
        let wide = |t: Term| b::zext(t, width);
        let [from, to, part] = [x, y, m].map(wide);
        let rest = b::sub(Term::bv(width, 255), part);
        let blend = b::add(b::mul(from, part), b::mul(to, rest));
        assert_eq!(range(blend), (0, 65025), "{blend}");
        let difference = b::add(
            b::mul(b::sub(from, to), part),
            b::mul(to, Term::bv(width, 255)),
        );
        assert_eq!(range(difference), (0, 65025));
        let turned = b::add(b::mul(from, part), b::mul(to, wide(b::not(m))));
        assert_eq!(range(b::add(turned, Term::bv(width, 127))), (127, 65152));
    }
    let [from, to, part] = [x, y, m].map(|t| b::zext(t, 16));
    let rest = b::sub(Term::bv(16, 255), part);
    let blend = b::add(b::mul(from, part), b::mul(to, rest));
    assert_eq!(unsigned(blend), (0, 65025));
    assert_eq!(range(b::zext(blend, 32)), (0, 65025));
    let wide = b::add(b::zext(blend, 32), b::zext(part, 32));
    assert_eq!(range(wide), (0, 65280));
    // What wraps is not looked through.
    let wraps = b::zext(b::add(b::mul(from, part), b::mul(from, rest)), 32);
    assert_eq!(range(wraps).0, 0);
}

/// Values without sign are known by their shape where those with a sign are not, and what is learnt of a value is
/// known of all that rests on it.
#[test]
fn what_has_no_sign_and_what_is_learnt() {
    use super::unsigned;
    use crate::build as b;
    let [x, y] = ["x", "y"].map(|name| Term::var(name, Sort::Bv(8)));
    let number = |n| Term::bv(8, n);
    let less = b::ult(x, y);
    assert_eq!(unsigned(b::ite(less, number(200), number(100))), (100, 200));
    assert_eq!(unsigned(b::lshr(x, y)), (0, 255));
    assert_eq!(unsigned(b::lshr(b::umin(x, number(200)), y)), (0, 200));
    let udiv = |x, y| b::app(Op::new(OpCode::BvUdiv), &[x, y]);
    assert_eq!(unsigned(udiv(x, b::umax(y, number(3)))), (0, 85));
    let wide = b::zext(b::umin(x, number(200)), 16);
    assert_eq!(range(wide), (0, 200));
    let mut ranges = Ranges::default();
    ranges.learn(x, false, (3, 90));
    assert_eq!(ranges.of(x), (3, 90));
    assert_eq!(ranges.of(b::zext(x, 16)), (3, 90));
    ranges.learn(y, true, (-5, 200));
    assert_eq!(ranges.of(y), (-5, 127));
    ranges.learn(y, false, (0, 7));
    assert_eq!(ranges.of(y), (0, 7));
}
