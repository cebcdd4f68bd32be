//! Operators on numbers give what the same operators as terms give: all values of small types,
//! edges and samples of others.

use super::*;
use crate::eval::{CompiledTerms, Input};
use crate::machine::arithmetic;
use crate::random::Random;
use crate::sort::Sort;

const BINARY: [Binary; 15] = [
    Binary::Add,
    Binary::Sub,
    Binary::Mul,
    Binary::And,
    Binary::Or,
    Binary::Xor,
    Binary::Shl,
    Binary::Shr,
    Binary::RoundShr,
    Binary::Min,
    Binary::Max,
    Binary::Equal,
    Binary::Below,
    Binary::AtMost,
    Binary::Div,
];

const OF_FLOATS: [Binary; 8] = [
    Binary::Add,
    Binary::Sub,
    Binary::Mul,
    Binary::Min,
    Binary::Max,
    Binary::Equal,
    Binary::Below,
    Binary::AtMost,
];

const F32: Element = Element::Float(32);

fn sort(element: Element) -> Sort {
    match element {
        Element::Mask => Sort::Bool,
        _ => Sort::Bv(width(element)),
    }
}

/// All values of a small type; edges and samples of a larger one.
fn values(element: Element) -> Vec<i64> {
    let mut random = Random::new(11);
    match element {
        Element::Mask => vec![0, 1],
        Element::Float(_) => {
            let edges = [
                0.0,
                1.0,
                0.5,
                1.5,
                2.5,
                127.5,
                128.0,
                2_147_483_648.0,
                1e30,
                f32::MIN_POSITIVE,
                1e-45,
                f32::MAX,
                f32::INFINITY,
            ];
            let signed = edges.iter().flat_map(|x: &f32| [*x, -*x]);
            let mut all: Vec<i64> = signed.map(|x| i64::from(x.to_bits())).collect();
            // NaNs of either sign, quiet and signalling.
            all.extend([0x7fc0_0000, 0xffc0_0000, 0x7f80_0001, 0xff80_1234]);
            all.extend((0..100).map(|_| i64::from(random.next_bits() as u32)));
            let near = (-300..300).map(|n| i64::from((n as f32 / 2.0).to_bits()));
            all.extend(near.step_by(7));
            all
        }
        _ if width(element) <= 6 => (0..1 << width(element))
            .map(|n| arithmetic::wrap(n, element))
            .collect(),
        _ => {
            let (low, high) = arithmetic::range(element);
            let small = (-3..40).chain([62, 63, 64, 65]);
            let mut all: Vec<i64> = small.map(|n| arithmetic::wrap(n, element)).collect();
            all.extend([low, low + 1, low / 2, high / 2, high - 1, high]);
            all.extend((0..40).map(|_| arithmetic::wrap(random.next_bits() as i64, element)));
            all
        }
    }
}

/// The bits of a value as a word of its width.
fn word(n: i64, element: Element) -> u64 {
    match width(element) {
        _ if element == Element::Mask => n as u64 & 1,
        64 => n as u64,
        w => n as u64 & !(u64::MAX << w),
    }
}

/// What a term of `x` and `y` gives for each pair of values.
fn found(t: Term, element: Element, pairs: &[(i64, i64)]) -> Vec<u64> {
    let input = |name: &str| Input {
        name: name.to_owned(),
        sort: sort(element),
    };
    let program = CompiledTerms::compile(&[t], &[input("x"), input("y")]).expect("it has a value");
    let mut frame = program.frame(pairs.len());
    for (k, pick) in [|p: &(i64, i64)| p.0, |p: &(i64, i64)| p.1]
        .iter()
        .enumerate()
    {
        let words = program.input_words(&mut frame, k);
        for (word_of, pair) in words.iter_mut().zip(pairs) {
            *word_of = word(pick(pair), element);
        }
    }
    program.execute(&mut frame);
    program.output_words(&frame, 0).to_vec()
}

fn variable(name: &str, element: Element) -> Term {
    Term::var(name, sort(element))
}

/// Compares what numbers give with what terms give; `result` is the type of results.
fn same(
    what: &str,
    t: Term,
    (element, result): (Element, Element),
    pairs: &[(i64, i64)],
    wanted: impl Fn(i64, i64) -> i64,
) {
    for (&(x, y), found) in pairs.iter().zip(found(t, element, pairs)) {
        let wanted = word(wanted(x, y), result);
        // Which NaN it is, numbers leave to the machine.
        let is_nan = |n: u64| result == F32 && f32::from_bits(n as u32).is_nan();
        if is_nan(found) && is_nan(wanted) {
            continue;
        }
        assert_eq!(
            found, wanted,
            "{what} of {x:#x} and {y:#x} as {element:?}: terms give {found:#x}, numbers {wanted:#x}"
        );
    }
}

fn pairs(element: Element) -> Vec<(i64, i64)> {
    let all = values(element);
    let of = |x: &i64| all.iter().map(|y| (*x, *y)).collect::<Vec<_>>();
    all.iter().flat_map(of).collect()
}

fn compared(op: Binary) -> bool {
    matches!(op, Binary::Equal | Binary::Below | Binary::AtMost)
}

fn integers() -> Vec<Element> {
    let widths = [4, 5, 6, 8, 16, 32, 64];
    let both = |w: &u32| [Element::Signed(*w), Element::Unsigned(*w)];
    let all = widths.iter().flat_map(both);
    // Numbers of 64 bits without a sign are not what a word with a sign holds.
    all.filter(|e| *e != Element::Unsigned(64)).collect()
}

#[test]
fn operators_on_two_integers_are_those_of_terms() {
    for element in integers() {
        let pairs = pairs(element);
        let (x, y) = (variable("x", element), variable("y", element));
        for op in BINARY {
            let result = if compared(op) { Element::Mask } else { element };
            let number = |a, b| arithmetic::binary(op, a, b, element);
            if op == Binary::RoundShr {
                let Element::Signed(w) = element else {
                    continue;
                };
                // How far is always known.
                for by in (-1..=i64::from(w)).chain([62, 63, 64]) {
                    let t = binary(op, Sym::Term(x), Sym::Known(by), element).expect("a term");
                    same("RoundShr", t, (element, result), &pairs, |a, _| {
                        arithmetic::binary(op, a, by, element)
                    });
                }
                continue;
            }
            match binary(op, Sym::Term(x), Sym::Term(y), element) {
                Ok(t) => same(&format!("{op:?}"), t, (element, result), &pairs, number),
                Err(reason) => assert!(op == Binary::Div, "{op:?}: {reason}"),
            }
        }
    }
}

#[test]
fn operators_on_two_floats_are_those_of_terms() {
    let pairs = pairs(F32);
    let (x, y) = (variable("x", F32), variable("y", F32));
    for op in OF_FLOATS {
        let result = if compared(op) { Element::Mask } else { F32 };
        let t = binary(op, Sym::Term(x), Sym::Term(y), F32).expect("a term");
        same(&format!("{op:?}"), t, (F32, result), &pairs, |a, b| {
            arithmetic::binary(op, a, b, F32)
        });
    }
}

/// A product with 1 is left out inside of what makes NaNs quiet anyway.
#[test]
fn a_product_with_one_is_no_other_number() {
    let one = i64::from(1.0_f32.to_bits());
    let pairs = pairs(F32);
    let scaled = |name| {
        let x = Sym::Term(variable(name, F32));
        Sym::Term(binary(Binary::Mul, x, Sym::Known(one), F32).expect("a term"))
    };
    for op in [Binary::Add, Binary::Sub, Binary::Mul] {
        let t = binary(op, scaled("x"), scaled("y"), F32).expect("a term");
        let times_one = |n| arithmetic::binary(Binary::Mul, n, one, F32);
        same(&format!("{op:?}"), t, (F32, F32), &pairs, |a, b| {
            arithmetic::binary(op, times_one(a), times_one(b), F32)
        });
    }
}

#[test]
fn operators_on_conditions_are_those_of_terms() {
    let element = Element::Mask;
    let (x, y) = (variable("x", element), variable("y", element));
    for op in [Binary::And, Binary::Or] {
        let t = binary(op, Sym::Term(x), Sym::Term(y), element).expect("a term");
        same(
            &format!("{op:?}"),
            t,
            (element, element),
            &pairs(element),
            |a, b| arithmetic::binary(op, a, b, element),
        );
    }
    let t = unary(Unary::Not, x, element, element).expect("a term");
    same("Not", t, (element, element), &pairs(element), |a, _| {
        arithmetic::unary(Unary::Not, a, element, element)
    });
}

#[test]
fn operators_on_one_value_are_those_of_terms() {
    let mut types = integers();
    types.push(F32);
    let mut compared = 0;
    for &from in &types {
        let pairs: Vec<(i64, i64)> = values(from).into_iter().map(|x| (x, 0)).collect();
        for &to in &types {
            for op in [Unary::Convert, Unary::Saturate, Unary::Not] {
                if op == Unary::Not && (from != to || is_float(from)) {
                    continue;
                }
                // What terms do not have they refuse; what they have is the same.
                let Ok(t) = unary(op, variable("x", from), from, to) else {
                    continue;
                };
                compared += 1;
                same(
                    &format!("{op:?} to {to:?}"),
                    t,
                    (from, to),
                    &pairs,
                    |a, _| arithmetic::unary(op, a, from, to),
                );
            }
        }
    }
    assert!(compared > 200, "{compared}");
}
