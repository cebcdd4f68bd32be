//! The queries that are known to defeat solvers, each held to its verdict.

mod queries;

use queries::{Known, Query};
use semantics::bits::Bits;
use semantics::build as b;
use semantics::sort::Sort;
use semantics::term::Term;
use smt::config::Config;
use smt::prover::Prover;
use smt::verdict::{Evidence, Step, Verdict};
use std::time::{Duration, Instant};

fn proved(query: &Query) -> Evidence {
    let start = Instant::now();
    let verdict = Prover::new(Config::default()).prove_equal(query.a, query.b);
    let Verdict::Proved(evidence) = verdict else {
        panic!("{}: {verdict:?}", query.name)
    };
    let took = start.elapsed();
    assert!(took < Duration::from_secs(20), "{}: {took:?}", query.name);
    evidence
}

#[test]
fn every_query_has_its_verdict() {
    for query in queries::all() {
        assert_ne!(query.a, query.b, "{}: nothing to ask", query.name);
        match query.known {
            Known::NormalForm | Known::Equal => {
                let evidence = proved(&query);
                assert_eq!(
                    evidence.elements.values().sum::<usize>(),
                    query.elements,
                    "{}: {evidence}",
                    query.name
                );
                if query.known == Known::Equal {
                    assert_eq!(evidence.questions, 1, "{}: {evidence}", query.name);
                } else {
                    assert!(
                        evidence.elements.keys().next_back() <= Some(&Step::NormalForm),
                        "{}: {evidence}",
                        query.name
                    );
                }
            }
            Known::Different => {
                let verdict = Prover::new(Config::default()).prove_equal(query.a, query.b);
                let Verdict::Refuted(model) = verdict else {
                    panic!("{}: {verdict:?}", query.name)
                };
                // Here only the least value times itself overflows.
                let (x, y) = (model["x"].bits(), model["y"].bits());
                let least = Bits::from_u64(16, 0x8000);
                let at = |k: u32| x.extract(16 * k, 16) == least && y.extract(16 * k, 16) == least;
                assert!((0..x.width() / 16).any(at), "{}: {model:?}", query.name);
            }
        }
    }
}

#[test]
fn dead_lanes_do_not_count() {
    let (x, y) = (Term::var("x", Sort::Bv(512)), Term::var("y", Sort::Bv(512)));
    let el = |t: Term, k: u32| b::extract(t, 32 * k, 32);
    let lanes = |f: &dyn Fn(u32) -> Term| b::concat(&(0..16).rev().map(f).collect::<Vec<_>>());
    let sum = lanes(&|k| b::add(el(x, k), el(y, k)));
    let half = lanes(&|k| {
        if k < 8 {
            b::add(el(y, k), el(x, k))
        } else {
            el(x, k)
        }
    });
    let prover = Prover::new(Config::default());
    assert!(prover.prove_equal_live(sum, half, &[(0, 256)]).is_proved());
    assert!(
        prover
            .prove_equal_live(sum, half, &[(0, 64), (128, 256)])
            .is_proved()
    );
    assert!(prover.prove_equal_live(sum, half, &[(0, 257)]).is_refuted());
}

#[test]
fn terms_of_two_sorts_are_never_equal() {
    let (x, y) = (Term::var("x", Sort::Bv(8)), Term::var("y", Sort::Bv(9)));
    assert!(matches!(
        Prover::new(Config::default()).prove_equal(x, y),
        Verdict::Unknown(_)
    ));
}
