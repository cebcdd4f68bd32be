//! Chains that hold, and every way in which one breaks.

use crate::flat::flat;
use crate::replay::{Broken, Step, replay};
use semantics::op::{Op, OpCode};
use semantics::sort::Sort;
use semantics::term::Term;

fn x(name: &str) -> Term {
    Term::var(name, Sort::Bv(8))
}

fn two(code: OpCode, x: Term, y: Term) -> Term {
    Term::raw_app(Op::new(code), &[x, y]).expect("both are bytes")
}

/// `(a + b) * c`, and the same with the sum turned.
fn turned() -> (Term, Term, Step) {
    let (from, to) = (
        two(OpCode::BvAdd, x("b"), x("a")),
        two(OpCode::BvAdd, x("a"), x("b")),
    );
    let step = Step {
        rule: "turned",
        from,
        to,
    };
    let times = |t| two(OpCode::BvMul, t, x("c"));
    (times(from), times(to), step)
}

#[test]
fn equals_replace_equals_within_terms() {
    let (a, b, step) = turned();
    assert_eq!(replay(a, b, &[step], &mut |_| true), Ok(1));
    assert_eq!(replay(a, a, &[], &mut |_| true), Ok(0));
}

#[test]
fn a_step_that_nobody_vouches_for_is_not_taken() {
    let (a, b, step) = turned();
    let refused = replay(a, b, &[step], &mut |_| false);
    assert_eq!(refused, Err(Broken::Step("turned")));
}

#[test]
fn what_does_not_meet_is_apart() {
    let (a, b, step) = turned();
    assert_eq!(replay(a, b, &[], &mut |_| true), Err(Broken::Apart));
    let other = two(OpCode::BvMul, a, a);
    let steps = [step];
    assert_eq!(replay(a, other, &steps, &mut |_| true), Err(Broken::Apart));
}

#[test]
fn a_step_may_not_change_the_sort() {
    let (a, b, step) = turned();
    let to = Term::var("wide", Sort::Bv(16));
    let step = Step { to, ..step };
    let refused = replay(a, b, &[step], &mut |_| true);
    assert_eq!(refused, Err(Broken::Sorts("turned")));
}

#[test]
fn maps_and_folds_are_written_out_as_they_stand() {
    let wide = Term::var("v", Sort::Bv(16));
    let at = Term::raw_app(Op::new(OpCode::IntMul), &[Term::index(), Term::int(8)]);
    let part = |at| Term::raw_app(Op::with(OpCode::Extract, 8), &[wide, at]).expect("a byte");
    let element = part(at.expect("indices multiply"));
    let map = Term::raw_map(2, element).expect("two bytes");
    let parts = [part(Term::int(8)), part(Term::int(0))];
    let written = Term::raw_app(Op::new(OpCode::Concat), &parts).expect("two bytes");
    assert_eq!(flat(map), Ok(written));
    let body = two(OpCode::BvMul, Term::bound(0, Sort::Bv(8)), x("c"));
    let fold = Term::raw_fold(2, x("a"), body).expect("bytes");
    let once = two(OpCode::BvMul, x("a"), x("c"));
    assert_eq!(flat(fold), Ok(two(OpCode::BvMul, once, x("c"))));
}
