//! Probes stand for the right instructions.

use super::balance;

#[test]
fn copies_are_balanced_by_cost() {
    assert_eq!(balance(1.0, 1.0), (6, 6));
    assert_eq!(balance(2.0, 0.5), (3, 10));
    assert_eq!(balance(0.01, 50.0), (10, 1));
}
