//! Ranges: every value lies in them, with numbers and with symbols for the bounds.

use crate::index::{Index, Symbol};
use semantics::random::Random;

const X: Symbol = Symbol(0);
const Y: Symbol = Symbol(1);
/// What bounds `Y` in the tests with symbols: `N - 3 <= Y <= N`.
const N: Symbol = Symbol(2);

fn drawn(random: &mut Random, depth: u32) -> Index {
    let part = |random: &mut Random| Box::new(drawn(random, depth - 1));
    match if depth == 0 {
        random.below(3)
    } else {
        random.below(9)
    } {
        0 => Index::Const(random.below(13) as i64 - 6),
        1 => Index::Sym(X),
        2 => Index::Sym(Y),
        3 => Index::Mul(part(random), part(random)),
        4 => Index::Div(
            part(random),
            Box::new(Index::Const(1 + random.below(5) as i64)),
        ),
        5 => Index::Mod(
            part(random),
            Box::new(Index::Const(1 + random.below(5) as i64)),
        ),
        6 => Index::Min(part(random), part(random)),
        7 => Index::Max(part(random), part(random)),
        _ => Index::Add(part(random), part(random)),
    }
}

/// Whether all values of an index lie between two others; how many were compared.
fn inside(index: &Index, low: &Index, high: &Index, n: i64) -> usize {
    let mut count = 0;
    for x in -2..=5 {
        for y in n - 3..=n {
            let value = |s: Symbol| {
                if s == X {
                    x
                } else if s == Y {
                    y
                } else {
                    n
                }
            };
            let [at, low, high] = [index, low, high].map(|i| i.eval(&value).expect("it is small"));
            assert!(
                low <= at && at <= high,
                "{index:?} at {x}, {y}: {low} {at} {high}"
            );
            count += 1;
        }
    }
    count
}

#[test]
fn every_value_lies_in_the_range() {
    let mut random = Random::new(1);
    let (mut known, mut compared) = (0, 0);
    for _ in 0..2000 {
        let index = drawn(&mut random, 3);
        let numbers = |s| Some(if s == X { (-2, 5) } else { (1, 4) });
        let (low, high) = index.number_range(&numbers).expect("all are numbers");
        compared += inside(&index, &Index::Const(low), &Index::Const(high), 4);
        let symbols = |s| match s == X {
            true => Some((Index::Const(-2), Index::Const(5))),
            false => Some((Index::Sym(N).offset(-3), Index::Sym(N))),
        };
        let Some((low, high)) = index.range(&symbols) else {
            continue;
        };
        known += 1;
        for n in [-7, 0, 4, 30] {
            compared += inside(&index, &low, &high, n);
        }
    }
    assert!(known > 1000 && compared > 100_000, "{known} {compared}");
}

#[test]
fn what_is_not_known_has_no_range() {
    let x = Index::Sym(X);
    let square = Index::Mul(Box::new(x.clone()), Box::new(x.clone()));
    assert_eq!(square.number_range(&|_| None), None);
    let far = |_| Some((0, i64::MAX));
    assert_eq!(square.number_range(&far), None);
    assert_eq!(x.offset(1).number_range(&far), None);
    let by_x = Index::Div(Box::new(Index::Const(8)), Box::new(x));
    assert_eq!(by_x.number_range(&|_| Some((1, 2))), None);
}
