//! Commands in loops beside the same ones written out, and others.

use super::Trace;
use crate::linear::{Counter, Counters, For, Linear};

/// Commands in loops: how often each loop runs, what is added to an operand for its counter.
fn nested(counters: &mut Counters, loops: &[(i64, i64)], at: &Linear, into: &mut Trace) {
    let Some((&(rounds, by), inner)) = loops.split_first() else {
        into.command(0, &[at.clone(), Linear::array(1)]);
        into.command(1, &[at.offset(1).expect("small")]);
        return;
    };
    let counter: Counter = counters.idle(For::Loop, rounds);
    let from = into.len();
    let moved = Linear::counter(counter).times(by).expect("small");
    nested(counters, inner, &at.plus(&moved).expect("small"), into);
    into.in_loop(from, counter, rounds);
    counters.done(For::Loop, counter);
}

fn in_loops(counters: &mut Counters, loops: &[(i64, i64)]) -> Trace {
    let mut trace = Trace::default();
    nested(counters, loops, &Linear::default(), &mut trace);
    trace
}

/// The same, with the loops whose number is given written out.
fn written_out(counters: &mut Counters, loops: &[(i64, i64)], out: usize) -> Trace {
    let mut trace = Trace::default();
    go(counters, loops, out, &Linear::default(), &mut trace);
    return trace;

    fn go(
        counters: &mut Counters,
        loops: &[(i64, i64)],
        out: usize,
        at: &Linear,
        into: &mut Trace,
    ) {
        let Some((&(rounds, by), inner)) = loops.split_first() else {
            nested(counters, &[], at, into);
            return;
        };
        if out == 0 {
            for k in 0..rounds {
                let at = at.offset(k * by).expect("small");
                nested(counters, inner, &at, into);
            }
            return;
        }
        let counter = counters.idle(For::Loop, rounds);
        let from = into.len();
        let moved = Linear::counter(counter).times(by).expect("small");
        let at = at.plus(&moved).expect("small");
        go(counters, inner, out - 1, &at, into);
        into.in_loop(from, counter, rounds);
        counters.done(For::Loop, counter);
    }
}

fn follows(a: &Trace, b: &Trace) -> bool {
    let (there, back) = (a.follows(b), b.follows(a));
    let (there, back) = (there.expect("it is small"), back.expect("it is small"));
    assert_eq!(there, back, "either way it is the same question");
    there
}

const LOOPS: [(i64, i64); 3] = [(5, 100), (3, 7), (8, 2)];

#[test]
fn rounds_may_be_written_out() {
    let counters = &mut Counters::default();
    let loops = in_loops(counters, &LOOPS);
    assert!(follows(&loops, &in_loops(counters, &LOOPS)));
    for out in 0..LOOPS.len() {
        assert!(
            follows(&loops, &written_out(counters, &LOOPS, out)),
            "{out}"
        );
    }
}

#[test]
fn other_commands_are_told() {
    let counters = &mut Counters::default();
    let loops = in_loops(counters, &LOOPS);
    for other in 0..LOOPS.len() {
        for changed in [
            (LOOPS[other].0 + 1, LOOPS[other].1),
            (LOOPS[other].0, LOOPS[other].1 + 1),
        ] {
            let mut all = LOOPS;
            all[other] = changed;
            assert!(!follows(&loops, &in_loops(counters, &all)), "{all:?}");
            for out in 0..LOOPS.len() {
                assert!(
                    !follows(&loops, &written_out(counters, &all, out)),
                    "{all:?}"
                );
            }
        }
    }
    // The same loops the other way round are other commands.
    let mut turned = LOOPS;
    turned.swap(0, 1);
    assert!(!follows(&loops, &in_loops(counters, &turned)));
}

#[test]
fn what_is_gone_back_on_was_not_performed() {
    let counters = &mut Counters::default();
    let mut trace = Trace::default();
    let mark = trace.len();
    nested(counters, &LOOPS[1..], &Linear::constant(3), &mut trace);
    trace.back(mark);
    nested(counters, &LOOPS, &Linear::default(), &mut trace);
    assert!(follows(&trace, &in_loops(counters, &LOOPS)));
}
