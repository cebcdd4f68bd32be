//! Linear integer arithmetic on small systems.

use super::*;

fn sym(n: u32) -> Index {
    Index::Sym(Symbol(n))
}

#[test]
fn a_loop_with_a_step_that_divides_stays_inside() {
    let (n, x) = (sym(0), sym(1));
    let mut facts = Facts::default();
    facts.add_at_most(&Index::Const(0), &n);
    let rest = Index::Mod(Box::new(n.clone()), Box::new(Index::Const(16)));
    let mut without = facts.clone();
    facts.add_at_most(&rest, &Index::Const(0));
    for f in [&mut facts, &mut without] {
        f.add_loop(Symbol(1), &Index::Const(0), &n, 16);
    }
    assert!(facts.proves_at_most(&x.offset(16), &n));
    assert!(!facts.proves_at_most(&x.offset(17), &n));
    assert!(!without.proves_at_most(&x.offset(16), &n));
}

#[test]
fn clamped_indices_are_inside_a_dimension_that_is_not_empty() {
    let (w, x) = (sym(0), sym(1));
    let mut facts = Facts::default();
    facts.add_loop(Symbol(1), &Index::Const(0), &w, 1);
    let top = w.offset(-1);
    let low = Index::Max(Box::new(x.offset(-3)), Box::new(Index::Const(0)));
    let clamped = Index::Min(Box::new(low), Box::new(top.clone()));
    assert!(facts.proves_at_most(&clamped, &top));
    assert!(facts.proves_at_most(&Index::Const(0), &clamped));
    assert!(!facts.proves_at_most(&Index::Const(0), &x.offset(-3)));
}

#[test]
fn quotients_are_bounded() {
    let n = sym(0);
    let half = Index::Div(Box::new(n.clone()), Box::new(Index::Const(2)));
    let facts = Facts::default();
    assert!(facts.proves_at_most(&half.times(2), &n));
    assert!(facts.proves_at_most(&n, &half.times(2).offset(1)));
    assert!(!facts.proves_at_most(&n, &half.times(2)));
}

#[test]
fn many_choices_are_bounded() {
    let n = Index::Sym(Symbol(0));
    let clamped = |k: i64| {
        let up = Index::Max(Box::new(n.offset(k)), Box::new(Index::Const(k)));
        Index::Min(Box::new(up), Box::new(n.times(2)))
    };
    let sum = (0..60).fold(Index::Const(0), |sum, k| sum.plus(&clamped(k)));
    assert!(super::cases(&sum).len() <= 2 * super::MAX_CASES);
    let mut facts = Facts::default();
    facts.add_at_most(&sum, &Index::Const(1000));
    assert!(!facts.proves_at_most(&sum, &Index::Const(10)));
}
