//! How often loops run, beside loops that are run.

use super::{Goes, rounds};
use crate::linear::{Counters, Linear};

/// Rounds until the condition at the end does not hold; none where that takes very long.
fn counted(goes: Goes, apart: i64, moves: i64) -> Option<i64> {
    let mut apart = apart;
    (1..2000).find(|_| {
        let on = match goes {
            Goes::Below => apart > 0,
            Goes::AtMost => apart >= 0,
            Goes::Unlike => apart != 0,
        };
        apart += moves;
        !on
    })
}

#[test]
fn loops_run_as_often_as_is_said() {
    let mut known = 0;
    for goes in [Goes::Below, Goes::AtMost, Goes::Unlike] {
        for apart in -40..=40 {
            for moves in -9..=9 {
                let said = rounds(goes, &Linear::constant(apart), moves);
                let counted = counted(goes, apart, moves);
                assert_eq!(said.ok(), counted, "{goes:?} {apart} {moves}");
                known += u32::from(counted.is_some());
            }
        }
    }
    assert!(known > 2000, "{known}");
}

#[test]
fn a_loop_that_depends_on_the_one_around_it_is_not_known() {
    let mut counters = Counters::default();
    let around = Linear::counter(counters.fresh(4));
    assert!(rounds(Goes::Below, &around, -1).is_err());
}
