//! Regions whose rounds lie between each other.

use super::{Dim, Found, Region};
use crate::linear::{Counters, Linear};
use crate::stop::Stop;
use crate::value::Value;

/// Looks for a place, cut into pieces as is asked for, with places that are known in the end: whether
/// it is all there.
fn there(counters: &mut Counters, region: &Region, at: &Linear) -> bool {
    match region.find(counters, at, 8) {
        Ok(Found::There(..)) => true,
        Ok(Found::Apart) => false,
        Err(Stop::Cut(counter, first)) => {
            let (rounds, mut all) = (counters.rounds(counter), true);
            for (from, count) in [(0, first), (first, rounds - first)] {
                let own = match count {
                    1 => Linear::default(),
                    _ => Linear::counter(counters.fresh(count)),
                };
                let own = own.offset(from).expect("small");
                let by = crate::linear::Replaced::one(counter, own);
                let part = at.with(&by).expect("small");
                all &= there(counters, region, &part);
            }
            all
        }
        Err(stop) => panic!("{stop:?}"),
    }
}

#[test]
fn rounds_that_lie_between_others_are_found() {
    // Four times a half of a pack and the other half of the next one, in 17 columns of four bytes.
    let mut counters = Counters::default();
    let mut region = Region::one(Linear::default(), 8, Value::number(7));
    for (bytes, rounds) in [(68, 4), (66, 2), (4, 17), (1, 2)] {
        let counter = counters.fresh(rounds);
        let step = 8 * bytes;
        region.dims.push(Dim { counter, step });
    }
    let of = |counters: &mut Counters, rounds: i64, bytes: i64| {
        let counter = Linear::counter(counters.fresh(rounds));
        counter.times(8 * bytes).expect("small")
    };
    // One byte of all packs' second halves, and of some columns of one.
    for (packs, first, columns) in [(4, 66, 17), (1, 70, 16), (1, 138, 16), (3, 70, 16)] {
        for byte in 0..2 {
            let mut at = of(&mut counters, columns, 4);
            if packs > 1 {
                at = at.plus(&of(&mut counters, packs, 68)).expect("small");
            }
            let at = at.offset(8 * (first + byte)).expect("small");
            assert!(there(&mut counters, &region, &at), "{packs} {first} {byte}");
        }
    }
    // Behind the last one.
    let column = Linear::counter(counters.fresh(17));
    let at = column
        .times(32)
        .and_then(|at| at.offset(8 * (3 * 68 + 2 * 66 + 4)));
    assert!(!there(&mut counters, &region, &at.expect("small")));
}
