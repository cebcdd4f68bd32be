//! The embedded engine against known equalities and differences.

use super::*;
use semantics::build as b;
use semantics::sort::Sort;

fn limits() -> Limits {
    Limits {
        conflicts: 50_000,
        time: Duration::from_secs(20),
    }
}

fn var(name: &str, width: u32) -> Term {
    Term::var(name, Sort::Bv(width))
}

#[test]
fn sums_written_two_ways() {
    let (x, y) = (var("x", 32), var("y", 32));
    let other = b::add(b::xor(x, y), b::shl(b::and(x, y), Term::bv(32, 1)));
    assert_eq!(differ(b::add(x, y), other, limits()).0, Found::Nothing);
}

#[test]
fn a_difference_in_one_point() {
    let x = var("x", 16);
    let c = b::eq(x, Term::bv(16, 0x8000));
    let other = b::ite(c, Term::bv(16, 1), x);
    let (found, _) = differ(x, other, limits());
    let Found::Model(model) = found else {
        panic!("{found:?}")
    };
    assert_eq!(model["x"].bits().to_u64(), Some(0x8000));
}

#[test]
fn a_factor_is_solved_for() {
    let x = var("x", 16);
    let product = b::mul(b::zext(x, 32), Term::bv(32, 1234));
    let (found, _) = satisfy(&[b::eq(product, Term::bv(32, 1234 * 777))], limits());
    let Found::Model(model) = found else {
        panic!("{found:?}")
    };
    assert_eq!(model["x"].bits().to_u64(), Some(777));
}

#[test]
fn conflict_limit_holds() {
    let (x, y) = (var("x", 64), var("y", 64));
    let (z, w) = (var("z", 64), var("w", 64));
    let left = b::mul(b::mul(x, y), b::mul(z, w));
    let right = b::mul(b::mul(x, w), b::mul(z, y));
    let few = Limits {
        conflicts: 100,
        time: Duration::from_secs(20),
    };
    let (found, conflicts) = differ(left, right, few);
    assert_eq!(found, Found::Unknown(Reason::Conflicts(100)));
    assert!(conflicts <= 110, "{conflicts}");
}
