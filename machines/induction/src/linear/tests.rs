//! Sums of counters beside what they are at each round.

use super::{Counters, For, Linear, Replaced, can_lie};
use semantics::random::Random;

#[test]
fn ranges_are_those_of_all_rounds() {
    let mut counters = Counters::default();
    let (x, y) = (counters.fresh(5), counters.fresh(1));
    let z = counters.fresh(7);
    let of = |c| Linear::counter(c);
    let sum = of(x).times(3).and_then(|s| s.plus(&of(y).times(100)?));
    let sum = sum.and_then(|s| s.minus(&of(z).times(2)?)).expect("small");
    let sum = sum.offset(4).expect("small");
    assert_eq!(counters.range(&sum), (4 - 12, 4 + 12));
    let each = Replaced::new(vec![
        (x, Linear::constant(4)),
        (y, Linear::default()),
        (z, Linear::constant(6)),
    ]);
    let at = sum.with(&each).expect("small");
    assert_eq!(at.as_constant(), Some(4 + 12 - 12));
}

#[test]
fn what_does_not_fit_or_is_no_number_is_refused() {
    let mut counters = Counters::default();
    let x = Linear::counter(counters.fresh(2));
    let far = x.times(i64::MAX).expect("it fits");
    assert!(far.plus(&far).is_err());
    assert!(far.times(2).is_err());
    assert!(Linear::constant(i64::MAX).offset(1).is_err());
    let (a, b) = (Linear::array(0), Linear::array(1));
    assert!(a.plus(&b).is_err());
    assert!(a.minus(&b).is_err());
    assert!(x.minus(&a).is_err());
    assert!(a.times(2).is_err());
    let apart = a.offset(64).and_then(|s| s.minus(&a));
    assert_eq!(apart.ok().and_then(|l| l.as_constant()), Some(64));
}

#[test]
fn a_sum_replaced_by_itself_leaves_no_term_of_zero() {
    let mut counters = Counters::default();
    let (x, y) = (counters.fresh(3), counters.fresh(3));
    let apart = Linear::counter(x)
        .minus(&Linear::counter(y))
        .expect("small");
    let same = apart.with(&Replaced::one(x, Linear::counter(y)));
    assert_eq!(same, Ok(Linear::default()));
}

/// All sums, one by one.
fn lies(terms: &[(i64, i64)], low: i128, high: i128) -> bool {
    match terms {
        [] => low <= 0 && 0 <= high,
        [(factor, most), rest @ ..] => (0..=*most).any(|x| {
            let by = i128::from(factor * x);
            lies(rest, low - by, high - by)
        }),
    }
}

#[test]
fn a_sum_is_said_to_lie_nowhere_only_where_it_does_not() {
    let mut random = Random::new(17);
    let (mut apart, mut close) = (0, 0);
    for _ in 0..4000 {
        let terms: Vec<(i64, i64)> = (0..random.below(4))
            .map(|_| (random.below(41) as i64 - 20, random.below(5) as i64))
            .collect();
        let low = i128::from(random.below(121)) - 60;
        let high = low + i128::from(random.below(6)) - 1;
        let (said, is) = (can_lie(&terms, low, high), lies(&terms, low, high));
        assert!(said || !is, "{terms:?} lies in {low}..={high}");
        apart += u32::from(!said);
        close += u32::from(said && !is);
    }
    // Small sums are decided, and not just taken for possible.
    assert!(apart > 1000, "{apart}");
    assert_eq!(close, 0);
}

/// Regions have the counters of loops that are done as theirs: no sum may take one of these.
#[test]
fn a_counter_that_is_done_is_the_next_one_of_its_rounds_and_purpose() {
    let mut counters = Counters::default();
    let (outer, inner) = (counters.idle(For::Loop, 5), counters.idle(For::Loop, 5));
    assert_ne!(outer, inner, "both are in use");
    counters.done(For::Loop, inner);
    counters.done(For::Loop, outer);
    let sum = counters.idle(For::Sum, 5);
    assert!(sum != outer && sum != inner);
    assert!(counters.idle(For::Loop, 4) != outer);
    assert_eq!(counters.idle(For::Loop, 5), outer);
    assert_eq!(counters.idle(For::Loop, 5), inner);
    assert_eq!(counters.rounds(inner), 5);
}
