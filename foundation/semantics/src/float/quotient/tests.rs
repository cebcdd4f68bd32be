//! Quotients through floats and back, held against the interpreter.

use super::{by_floats, of_floats};
use crate::bits::Bits;
use crate::eval::{Input, Program};
use crate::float::Format;
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
fn program(terms: &[Term], w: u32) -> Program {
    let inputs = ["x", "y"].map(|name| Input {
        name: name.to_owned(),
        sort: Sort::Bv(w),
    });
    Program::compile(terms, &inputs).expect("both are closed")
}

fn agree(program: &Program, w: u32, x: u64, y: u64) {
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

#[test]
fn every_pair_of_bytes() {
    for code in ALL {
        let [x, y] = names(8);
        let whole = Term::raw_app(Op::new(code), &[x, y]).expect("of one width");
        let other = by_floats(Op::new(code), &[x, y]).expect("bytes are short");
        let program = program(&[whole, other], 8);
        for n in 0..1 << 16 {
            agree(&program, 8, n & 255, n >> 8);
        }
    }
}

#[test]
fn numbers_beside_multiples_of_the_divisor() {
    let mut random = Random::new(5);
    for (code, w) in ALL
        .iter()
        .flat_map(|&c| [12, 16, 23, 24, 32].map(|w| (c, w)))
    {
        let [x, y] = names(w);
        let whole = Term::raw_app(Op::new(code), &[x, y]).expect("of one width");
        let other = by_floats(Op::new(code), &[x, y]).expect("32 bits are short enough");
        let program = program(&[whole, other], w);
        for _ in 0..20_000 {
            let (x, y) = pair(&mut random, w);
            agree(&program, w, x, y);
        }
    }
}

#[test]
fn what_is_cut_off_is_a_quotient_of_integers() {
    let mut random = Random::new(7);
    for (code, w) in ALL.iter().flat_map(|&c| [8, 16, 23, 32].map(|w| (c, w))) {
        let [x, y] = names(w);
        let floats = cut_off(by_floats(Op::new(code), &[x, y]).expect("it is short"));
        let (op, args) = floats.as_app().expect("a conversion");
        let integers = of_floats(op, args).expect("of integers");
        let program = program(&[floats, integers], w);
        for _ in 0..20_000 {
            let (x, y) = pair(&mut random, w);
            agree(&program, w, x, y);
        }
    }
}

#[test]
fn a_guard_is_kept_but_for_what_is_zero_by_itself() {
    for (code, w) in ALL.iter().flat_map(|&c| [8, 16, 32].map(|w| (c, w))) {
        let [x, y] = names(w);
        let zero = Term::bv(w, 0);
        let inside = Term::raw_app(Op::new(code), &[x, y]).expect("of one width");
        for by_zero in [zero, Term::bv(w, 7), x] {
            let args = [crate::build::eq(y, zero), by_zero, inside];
            let whole = Term::raw_app(Op::new(OpCode::Ite), &args).expect("a choice");
            let other = by_floats(Op::new(OpCode::Ite), &args).expect("a guarded quotient");
            let program = program(&[whole, other], w);
            let mut random = Random::new(9);
            for k in 0..5_000 {
                let (x, y) = pair(&mut random, w);
                agree(&program, w, x, if k % 16 == 0 { 0 } else { y });
            }
        }
    }
}

#[test]
fn too_wide_for_the_format_or_rounded_otherwise_is_none() {
    let [x, y] = names(32);
    let float = |rounding: u32, of: Term| {
        let mut op = Op::new(OpCode::FFromSint);
        op.params[..2].copy_from_slice(&[2, rounding]);
        Term::raw_app(op, &[of]).expect("a float")
    };
    let divided = |rounding: u32, x: Term, y: Term| {
        let mut op = Op::new(OpCode::FDiv);
        op.params[..2].copy_from_slice(&[2, rounding]);
        Term::raw_app(op, &[float(0, x), float(0, y)]).expect("a quotient")
    };
    let cut = |rounding: u32, of: Term| {
        let mut op = Op::new(OpCode::FToSint);
        op.params[..3].copy_from_slice(&[2, 32, rounding]);
        of_floats(op, &[of])
    };
    let extended = |w: u32| ["x", "y"].map(|n| crate::build::sext(Term::var(n, Sort::Bv(w)), 32));
    let [a, b] = extended(23);
    assert!(cut(3, divided(0, a, b)).is_some());
    assert!(cut(0, divided(0, a, b)).is_none(), "rounded to the nearest");
    assert!(cut(3, divided(2, a, b)).is_none(), "divided upwards");
    let [a, b] = extended(25);
    assert!(cut(3, divided(0, a, b)).is_none(), "25 bits in 24");
    assert!(cut(3, divided(0, x, y)).is_none(), "32 bits in 24");
}

#[test]
fn constants_and_what_is_converted_by_halves_are_whole() {
    let [_, y] = names(16);
    for (format, n) in [
        (Format::F32, 65535u32),
        (Format::F32, 1),
        (Format::F64, u32::MAX),
    ] {
        let mut op = Op::new(OpCode::FFromUint);
        op.params[0] = format.code();
        let float = |of: Term| crate::build::app(op, &[of]);
        let mut divide = Op::new(OpCode::FDiv);
        divide.params[0] = format.code();
        let y = crate::build::zext(y, 32);
        let args = [
            float(Term::bv(32, n.into())),
            Term::raw_app(op, &[y]).expect("a float"),
        ];
        assert!(args[0].as_bits().is_some());
        let quotient = Term::raw_app(divide, &args).expect("a quotient");
        let mut cut = Op::new(OpCode::FToUint);
        cut.params[..3].copy_from_slice(&[format.code(), 32, 3]);
        let floats = Term::raw_app(cut, &[quotient]).expect("an integer");
        let integers = of_floats(cut, &[quotient]).expect("of integers");
        let program = program(&[floats, integers], 16);
        for k in 0..1 << 16 {
            agree(&program, 16, 0, k);
        }
    }
    let [x, y] = names(32);
    let mut convert = Op::new(OpCode::FFromUint);
    convert.params[0] = Format::F64.code();
    let float = |of: Term| super::super::wider::by_wider(convert, &[of]).expect("by halves");
    let mut divide = Op::new(OpCode::FDiv);
    divide.params[0] = Format::F64.code();
    let quotient = Term::raw_app(divide, &[float(x), float(y)]).expect("a quotient");
    let mut cut = Op::new(OpCode::FToUint);
    cut.params[..3].copy_from_slice(&[Format::F64.code(), 32, 3]);
    let floats = Term::raw_app(cut, &[quotient]).expect("an integer");
    let integers = of_floats(cut, &[quotient]).expect("of integers");
    let program = program(&[floats, integers], 32);
    let mut random = Random::new(11);
    for _ in 0..20_000 {
        let (x, y) = pair(&mut random, 32);
        agree(&program, 32, x, y);
    }
}
