//! Boxes that are cut anyhow cover what the whole covers, and nothing else does.

use super::same_places;
use crate::linear::Linear;
use crate::sums::{Box, Side};
use semantics::random::Random;

/// A box of one or two sides in two arrays.
fn drawn(random: &mut Random) -> Box {
    let mut number = |most: u64| i64::try_from(random.below(most)).expect("small");
    let place = |array, at| (Some(array), 8, Linear::constant(at));
    let mut side = |step: i64| Side {
        steps: vec![step, number(3) * step + 1],
        rounds: 2 + number(40),
    };
    let sides = vec![side(1), side(50)];
    Box {
        places: vec![place(0, number(9)), place(1, number(9))],
        sides,
        times: 1,
    }
}

/// So many rounds of a side from one on, every so many.
fn part(of: &Box, side: usize, (first, every, rounds): (i64, i64, i64)) -> Box {
    let mut out = of.clone();
    let moved = out.sides.remove(side);
    for (place, step) in out.places.iter_mut().zip(&moved.steps) {
        place.2 = place.2.offset(step * first).expect("it fits");
    }
    let steps = moved.steps.iter().map(|s| s * every).collect();
    if rounds > 1 {
        out.sides.push(Side { steps, rounds });
    }
    out
}

/// The same places in other boxes: cut at a round, or into rounds that are so far apart.
fn cut(random: &mut Random, boxes: Vec<Box>) -> Vec<Box> {
    let mut out = Vec::new();
    for of in boxes {
        let many = of.sides.len();
        if many == 0 || random.below(3) == 0 {
            out.push(of);
            continue;
        }
        let side = usize::try_from(random.below(many as u64)).expect("small");
        let rounds = of.sides[side].rounds;
        let by = 1 + i64::try_from(random.below(rounds.unsigned_abs())).expect("small");
        if random.below(2) == 0 {
            out.push(part(&of, side, (0, 1, by)));
            if by < rounds {
                out.push(part(&of, side, (by, 1, rounds - by)));
            }
        } else {
            let each = (0..by).map(|k| part(&of, side, (k, by, (rounds - k + by - 1) / by)));
            out.extend(each);
        }
    }
    out
}

#[test]
fn boxes_that_are_cut_cover_the_same() {
    let mut random = Random::new(5);
    for _ in 0..100 {
        let whole = vec![drawn(&mut random), drawn(&mut random)];
        let mut other = whole.clone();
        for _ in 0..2 {
            other = cut(&mut random, other);
        }
        assert!(same_places(&whole, &other, 32), "{whole:?} {other:?}");
        assert!(same_places(&other, &whole, 32));
        let at = usize::try_from(random.below(other.len() as u64)).expect("small");
        let mut moved = other.clone();
        let place = &mut moved[at].places[0].2;
        *place = place.offset(1).expect("it fits");
        assert!(!same_places(&whole, &moved, 32), "one is moved");
        let mut twice = other.clone();
        twice.push(other[at].clone());
        assert!(!same_places(&whole, &twice, 32), "one is there twice");
        twice.push(Box {
            times: (1 << 32) - 1,
            ..other[at].clone()
        });
        assert!(same_places(&whole, &twice, 32), "and is taken away");
        other.remove(at);
        assert!(!same_places(&whole, &other, 32), "one is missing");
    }
}
