//! Quotients through floats and back, held against the interpreter.

use super::{by_floats, of_floats};
use crate::bits::Bits;
use crate::eval::{CompiledTerms, Input};
use crate::float::Format;
use crate::float::wider::by_wider;
use crate::op::{Op, OpCode};
use crate::random::Random;
use crate::sort::Sort;
use crate::term::Term;
use crate::value::Value;

const ALL: [OpCode; 4] = [
    OpCode::BvUdiv,
    OpCode::BvUrem,
    OpCode::BvSdiv,
    OpCode::BvSrem,
];

fn names(w: u32) -> [Term; 2] {
    ["x", "y"].map(|name| Term::var(name, Sort::Bv(w)))
}

/// Two terms as a program of `x` and `y`.
fn program(terms: &[Term], w: u32) -> CompiledTerms {
    let inputs = ["x", "y"].map(|name| Input {
        name: name.to_owned(),
        sort: Sort::Bv(w),
    });
    CompiledTerms::compile(terms, &inputs).expect("both are closed")
}

fn agree(program: &CompiledTerms, w: u32, x: u64, y: u64) {
    let values = [x, y].map(|n| Value::Bv(Bits::from_u64(w, n)));
    let results = program.run(&values);
    assert!(
        results.windows(2).all(|r| r[0] == r[1]),
        "{w} bits, {x} by {y}"
    );
}

/// Numbers near multiples of a divisor, near ends, or any.
fn pair(random: &mut Random, w: u32) -> (u64, u64) {
    let mask = u64::MAX >> (64 - w);
    let y = random.next_bits() >> random.below(u64::from(w)) & mask;
    let near = (random.next_bits() & mask) / y.max(1) * y;
    let x = match random.below(4) {
        0 => random.next_bits(),
        1 => near,
        2 => near.wrapping_sub(1),
        _ => [0, 1, mask, mask >> 1, (mask >> 1) + 1][random.below(5) as usize],
    };
    let y = if random.below(8) == 0 { mask } else { y };
    (x & mask, y)
}

/// The part of a term that cuts off a quotient of floats.
fn cut_off(t: Term) -> Term {
    let mut work = vec![t];
    while let Some(t) = work.pop() {
        let code = t.as_app().map(|(op, _)| op.code);
        if matches!(code, Some(OpCode::FToSint | OpCode::FToUint)) {
            return t;
        }
        work.extend(t.children());
    }
    panic!("nothing is cut off");
}

/// An operator's application to `x` and `y` of a width.
fn applied(code: OpCode, w: u32) -> Term {
    Term::raw_app(Op::new(code), &names(w)).expect("of one width")
}

/// An application, and it through floats.
fn all_of(whole: Term) -> Vec<Term> {
    let (op, args) = whole.as_app().expect("an operator");
    let others = by_floats(op, args);
    assert!(!others.is_empty(), "{whole:?}");
    [vec![whole], others].concat()
}

/// Terms that have to agree on pairs of a width.
fn agree_on_pairs(terms: &[Term], w: u32) {
    let program = program(terms, w);
    let mut random = Random::new(5);
    for k in 0..20_000 {
        let (x, y) = pair(&mut random, w);
        agree(&program, w, x, if k % 16 == 0 { 0 } else { y });
    }
}

/// A float that an integer of 32 bits without a sign is.
fn float(format: Format, x: Term) -> Term {
    crate::build::app(Op::with2(OpCode::FFromUint, format.code(), 0), &[x])
}

/// Two floats divided and cut off without a sign, and the quotient of integers that this is.
fn divided(format: Format, x: Term, y: Term) -> [Term; 2] {
    let divide = Op::with2(OpCode::FDiv, format.code(), 0);
    let quotient = Term::raw_app(divide, &[x, y]).expect("a quotient");
    let cut = Op::with3(OpCode::FToUint, format.code(), 32, 3);
    let floats = Term::raw_app(cut, &[quotient]).expect("an integer");
    [floats, of_floats(cut, &[quotient]).expect("of integers")]
}

#[test]
fn every_pair_of_bytes() {
    for code in ALL {
        let program = program(&all_of(applied(code, 8)), 8);
        for n in 0..1 << 16 {
            agree(&program, 8, n & 255, n >> 8);
        }
    }
}

#[test]
fn numbers_beside_multiples_of_the_divisor() {
    for code in ALL {
        for w in [12, 16, 23, 24, 32] {
            agree_on_pairs(&all_of(applied(code, w)), w);
        }
    }
}

#[test]
fn what_is_cut_off_is_a_quotient_of_integers() {
    for code in ALL {
        for w in [8, 16, 23, 32] {
            let floats = cut_off(all_of(applied(code, w))[1]);
            let (op, args) = floats.as_app().expect("a conversion");
            let integers = of_floats(op, args).expect("of integers");
            agree_on_pairs(&[floats, integers], w);
        }
    }
}

#[test]
fn a_guard_is_kept_but_for_what_is_zero_by_itself() {
    for code in ALL {
        for w in [8, 16, 32] {
            let [x, y] = names(w);
            let zero = Term::bv(w, 0);
            for by_zero in [zero, Term::bv(w, 7), x] {
                let args = [crate::build::eq(y, zero), by_zero, applied(code, w)];
                let whole = Term::raw_app(Op::new(OpCode::Ite), &args).expect("a choice");
                agree_on_pairs(&all_of(whole), w);
            }
        }
    }
}

#[test]
fn too_wide_for_the_format_or_rounded_otherwise_is_none() {
    let f32 = Format::F32.code();
    let [x, y] = names(32);
    let divided = |rounding: u32, x: Term, y: Term| {
        let float =
            |of: Term| Term::raw_app(Op::with2(OpCode::FFromSint, f32, 0), &[of]).expect("a float");
        let divide = Op::with2(OpCode::FDiv, f32, rounding);
        Term::raw_app(divide, &[float(x), float(y)]).expect("a quotient")
    };
    let cut =
        |rounding: u32, of: Term| of_floats(Op::with3(OpCode::FToSint, f32, 32, rounding), &[of]);
    let extended = |w: u32| names(w).map(|t| crate::build::sext(t, 32));
    let [a, b] = extended(23);
    assert!(cut(3, divided(0, a, b)).is_some());
    assert!(cut(0, divided(0, a, b)).is_none(), "rounded to the nearest");
    assert!(cut(3, divided(2, a, b)).is_none(), "divided upwards");
    let [a, b] = extended(25);
    assert!(cut(3, divided(0, a, b)).is_none(), "25 bits in 24");
    assert!(cut(3, divided(0, x, y)).is_none(), "32 bits in 24");
}

#[test]
fn constants_are_whole() {
    for (format, n) in [
        (Format::F32, 65535u32),
        (Format::F32, 1),
        (Format::F64, u32::MAX),
    ] {
        let y = float(format, crate::build::zext(names(16)[1], 32));
        let constant = float(format, Term::bv(32, n.into()));
        assert!(constant.as_bits().is_some());
        let program = program(&divided(format, constant, y), 16);
        for k in 0..1 << 16 {
            agree(&program, 16, 0, k);
        }
    }
}

#[test]
fn what_is_converted_by_halves_is_whole() {
    let convert = Op::with2(OpCode::FFromUint, Format::F64.code(), 0);
    let [x, y] = names(32).map(|t| by_wider(convert, &[t]).expect("by halves"));
    agree_on_pairs(&divided(Format::F64, x, y), 32);
}
