//! Every other spelling that probes of reachability use is equal to what it stands for.

use semantics::bits::Bits;
use semantics::build as b;
use semantics::sort::Sort;
use semantics::term::Term;
use smt::config::Config;
use smt::prover::Prover;
use smt::verdict::Verdict;
use std::collections::HashMap;
use synth::canonical::sink_extensions;
use synth::matching::{Facts, match_element};
use synth::reach::identities::{spellings, written};

fn var(name: &str, width: u32) -> Term {
    Term::var(name, Sort::Bv(width))
}

/// Applications of every operator that has other spellings.
fn applications(w: u32) -> Vec<Term> {
    let (x, y) = (var("x", w), var("y", w));
    let two = [
        b::add,
        b::sub,
        b::and,
        b::or,
        b::xor,
        b::smin,
        b::smax,
        b::umin,
        b::umax,
    ];
    let mut all: Vec<Term> = two.iter().map(|f| f(x, y)).collect();
    all.extend([b::not(x), b::neg(x), b::abs(x), b::ite(b::ult(x, y), x, y)]);
    all.extend([b::zext(x, 2 * w), b::sat_ss(b::mul(x, y), w / 2)]);
    all.extend([
        b::sat_su(b::add(x, y), w / 2),
        b::sat_uu(b::add(x, y), w / 2),
    ]);
    for n in [1, w - 1] {
        let by = Term::bits(Bits::from_u64(w, n.into()));
        all.extend([b::shl(x, by), b::lshr(x, by), b::rotl(x, by)]);
    }
    all
}

#[test]
fn spellings_are_equal() {
    let prover = Prover::new(Config::default());
    for t in [8, 16, 32].into_iter().flat_map(applications) {
        let (op, args) = t.as_app().expect("an application");
        let others = spellings(op, args, t);
        assert!(!others.is_empty(), "{t} has no other spelling");
        for other in others {
            let verdict = prover.prove_equal(t, other);
            assert!(
                matches!(verdict, Verdict::Proved(_)),
                "{t} and {other}: {verdict:?}"
            );
        }
    }
}

#[test]
fn several_steps_stay_equal() {
    let prover = Prover::new(Config::default());
    for (seed, t) in applications(8).into_iter().enumerate() {
        let whole = b::smax(t, b::extract(b::sext(t, 64), 0, t.width()));
        if let Some(other) = written(whole, 3, seed as u64) {
            let plain = prover.prove_equal(other, sink_extensions(other));
            assert!(matches!(plain, Verdict::Proved(_)), "{other}: {plain:?}");
            let verdict = prover.prove_equal(whole, other);
            assert!(
                matches!(verdict, Verdict::Proved(_)),
                "{other}: {verdict:?}"
            );
        }
    }
}

/// What the search begins with is the operator, however it was spelled, and equal to it.
#[test]
fn spellings_become_plain() {
    let prover = Prover::new(Config::default());
    let mut kept = Vec::new();
    for t in applications(16) {
        let (op, args) = t.as_app().expect("an application");
        for other in spellings(op, args, t) {
            let plain = sink_extensions(other);
            let verdict = prover.prove_equal(t, plain);
            assert!(
                matches!(verdict, Verdict::Proved(_)),
                "{other} is not {plain}"
            );
            if plain != sink_extensions(t) {
                kept.push(t.to_string());
            }
        }
    }
    // Products, quotients and shifts by constants are left to what costs decide.
    let known = |t: &String| {
        ["(bvshl", "(rotl", "(zext[16] (extract"]
            .iter()
            .any(|k| t.starts_with(k))
    };
    kept.retain(|t| !known(t));
    assert!(kept.is_empty(), "not plain: {kept:?}");
}

/// Conditions match like values: this once asked a truth value for its width.
#[test]
fn conjunctions_match() {
    let less = |x, y| b::ult(var(x, 8), var(y, 8));
    let pattern = b::both(b::both(less("p", "q"), less("q", "r")), less("r", "p"));
    let goal = b::both(b::both(less("x", "y"), less("y", "z")), less("z", "x"));
    let bool_to_bit = |c| b::ite(c, Term::bv(8, 1), Term::bv(8, 0));
    let (pattern, goal) = (bool_to_bit(pattern), bool_to_bit(goal));
    let found = match_element(pattern, goal, &HashMap::new(), &Facts::default());
    assert!(!found.is_empty());
}
