//! The queries that are known to defeat solvers, each with its verdict.

use semantics::bits::Bits;
use semantics::build as b;
use semantics::sort::Sort;
use semantics::term::Term;
use smt::config::Config;
use smt::prover::Prover;
use smt::verdict::{Evidence, Model, Step, Verdict};
use std::time::{Duration, Instant};

fn reg(name: &str, width: u32) -> Term {
    Term::var(name, Sort::Bv(width))
}

/// Element `k` of a register.
fn el(t: Term, k: u32, width: u32) -> Term {
    b::extract(t, k * width, width)
}

/// A register from its elements, the first least significant.
fn lanes(count: u32, f: impl Fn(u32) -> Term) -> Term {
    let parts: Vec<Term> = (0..count).rev().map(f).collect();
    b::concat(&parts)
}

fn constant(element: Bits, count: u32) -> Term {
    lanes(count, |_| Term::bits(element.clone()))
}

fn proved(a: Term, c: Term) -> Evidence {
    let start = Instant::now();
    match Prover::new(Config::default()).prove_equal(a, c) {
        Verdict::Proved(evidence) => {
            let took = start.elapsed();
            assert!(took < Duration::from_secs(20), "{took:?}");
            evidence
        }
        other => panic!("{other:?}"),
    }
}

fn refuted(a: Term, c: Term) -> Model {
    match Prover::new(Config::default()).prove_equal(a, c) {
        Verdict::Refuted(model) => model,
        other => panic!("{other:?}"),
    }
}

fn by_normal_form(a: Term, c: Term, count: usize) {
    let evidence = proved(a, c);
    if evidence == Evidence::of(Step::Identical, 1) {
        return; // the smart constructors met already
    }
    assert!(evidence.hardest() <= Some(&Step::NormalForm), "{evidence}");
    assert_eq!(evidence.elements.values().sum::<usize>(), count, "{evidence}");
}

fn madd(a: Term, c: Term, k: u32, width: u32) -> Term {
    let product = |i| b::mul(b::sext(el(a, i, 16), width), b::sext(el(c, i, 16), width));
    b::add(product(2 * k), product(2 * k + 1))
}

#[test]
fn lanes_against_a_carry_suppressed_wide_sum() {
    let (x, y) = (reg("x", 512), reg("y", 512));
    let low = constant(Bits::from_u64(16, 0x7fff), 32);
    let high = constant(Bits::from_u64(16, 0x8000), 32);
    let sum = b::add(b::and(x, low), b::and(y, low));
    let wide = b::xor(sum, b::and(b::xor(x, y), high));
    by_normal_form(lanes(32, |k| b::add(el(x, k, 16), el(y, k, 16))), wide, 32);
}

#[test]
fn pmaddwd_with_operands_commuted() {
    let (x, y) = (reg("x", 512), reg("y", 512));
    by_normal_form(lanes(16, |k| madd(x, y, k, 32)), lanes(16, |k| madd(y, x, k, 32)), 16);
}

#[test]
fn pmaddwd_widened_first() {
    let (x, y) = (reg("x", 512), reg("y", 512));
    let wide = lanes(16, |k| b::extract(madd(x, y, k, 64), 0, 32));
    by_normal_form(lanes(16, |k| madd(x, y, k, 32)), wide, 16);
}

/// The 32-bit product of two 16-bit integers from high and low 16-bit halves of products.
fn halves(a: Term, c: Term) -> Term {
    let product = b::mul(b::sext(a, 32), b::sext(c, 32));
    b::concat(&[b::extract(product, 16, 16), b::mul(a, c)])
}

#[test]
fn pmaddwd_from_high_and_low_halves() {
    let (x, y) = (reg("x", 512), reg("y", 512));
    let by_halves = lanes(16, |k| {
        let product = |i| halves(el(x, i, 16), el(y, i, 16));
        b::add(product(2 * k), product(2 * k + 1))
    });
    by_normal_form(lanes(16, |k| madd(x, y, k, 32)), by_halves, 16);
}

#[test]
fn interleaved_dot_product_against_two_products() {
    let (acc, a1, b1, a2, b2) = (reg("acc", 512), reg("a1", 256), reg("b1", 256), reg("a2", 256), reg("b2", 256));
    let interleave = |p: Term, q: Term| lanes(32, |k| el(if k % 2 == 0 { p } else { q }, k / 2, 16));
    let (p, q) = (interleave(a1, a2), interleave(b1, b2));
    let dot = lanes(16, |k| b::add(el(acc, k, 32), madd(p, q, k, 32)));
    let product = |p, q, k| b::mul(b::sext(el(p, k, 16), 32), b::sext(el(q, k, 16), 32));
    let sums = lanes(16, |k| b::add(b::add(product(b2, a2, k), el(acc, k, 32)), product(a1, b1, k)));
    by_normal_form(dot, sums, 16);
}

#[test]
fn saturating_sum_two_ways() {
    let (x, y) = (reg("x", 512), reg("y", 512));
    let wide = lanes(32, |k| b::sat_ss(b::add(b::sext(el(x, k, 16), 32), b::sext(el(y, k, 16), 32)), 16));
    let by_overflow = lanes(32, |k| {
        let (a, c) = (el(x, k, 16), el(y, k, 16));
        let sum = b::add(a, c);
        let overflow = b::bit(b::and(b::xor(a, sum), b::xor(c, sum)), 15);
        let limit = b::ite(b::bit(a, 15), Term::bv(16, 0x8000), Term::bv(16, 0x7fff));
        b::ite(overflow, limit, sum)
    });
    let evidence = proved(wide, by_overflow);
    assert_eq!(evidence.elements.values().sum::<usize>(), 32);
    assert_eq!(evidence.questions, 1, "{evidence}");
}

#[test]
fn rounding_average_two_ways() {
    let (x, y) = (reg("x", 512), reg("y", 512));
    let wide = lanes(64, |k| {
        let sum = b::add(b::add(b::zext(el(x, k, 8), 16), b::zext(el(y, k, 8), 16)), Term::bv(16, 1));
        b::extract(b::lshr(sum, Term::bv(16, 1)), 0, 8)
    });
    let narrow = lanes(64, |k| {
        let (a, c) = (el(x, k, 8), el(y, k, 8));
        b::sub(b::or(a, c), b::lshr(b::xor(a, c), Term::bv(8, 1)))
    });
    let evidence = proved(wide, narrow);
    assert_eq!(evidence.questions, 1, "{evidence}");
}

#[test]
fn population_count_by_bit_tricks() {
    let x = reg("x", 512);
    let tricks = |x: Term| {
        let k = |n: i128| Term::bv(32, n);
        let masked = |t: Term, n: i128, m: i128| b::and(b::lshr(t, k(n)), k(m));
        let t = b::sub(x, masked(x, 1, 0x5555_5555));
        let t = b::add(b::and(t, k(0x3333_3333)), masked(t, 2, 0x3333_3333));
        let t = b::and(b::add(t, b::lshr(t, k(4))), k(0x0f0f_0f0f));
        b::lshr(b::mul(t, k(0x0101_0101)), k(24))
    };
    by_normal_form(lanes(16, |k| b::popcnt(el(x, k, 32))), lanes(16, |k| tricks(el(x, k, 32))), 16);
}

#[test]
fn product_from_eight_bit_halves() {
    let (x, y) = (reg("x", 16), reg("y", 16));
    let low = |t| b::zext(el(t, 0, 8), 32);
    let high = |t| b::sext(el(t, 1, 8), 32);
    let k = |n| Term::bv(32, n);
    let cross = b::add(b::mul(high(x), low(y)), b::mul(low(x), high(y)));
    let sum = b::add(b::mul(low(x), low(y)), b::mul(cross, k(256)));
    let sum = b::add(sum, b::shl(b::mul(high(x), high(y)), k(16)));
    by_normal_form(b::mul(b::sext(x, 32), b::sext(y, 32)), sum, 1);
}

#[test]
fn wrapping_against_saturating_dot_product() {
    let (x, y) = (reg("x", 512), reg("y", 512));
    let wrap = lanes(16, |k| madd(x, y, k, 32));
    let saturate = lanes(16, |k| b::sat_ss(madd(x, y, k, 64), 32));
    let model = refuted(wrap, saturate);
    // Only the least value four times in one pair of elements makes the sum overflow.
    let (x, y) = (model["x"].bits(), model["y"].bits());
    let least = Bits::from_u64(16, 0x8000);
    let hit = (0..16).any(|k| {
        (0..2).all(|j| {
            let lo = 32 * k + 16 * j;
            x.extract(lo, 16) == least && y.extract(lo, 16) == least
        })
    });
    assert!(hit, "{model:?}");
}

#[test]
fn rounded_high_product_against_its_saturating_kin() {
    let (x, y) = (reg("x", 512), reg("y", 512));
    let rounded = |k: u32| {
        let product = b::mul(b::sext(el(x, k, 16), 32), b::sext(el(y, k, 16), 32));
        b::ashr(b::add(product, Term::bv(32, 0x4000)), Term::bv(32, 15))
    };
    let instruction = lanes(32, |k| {
        let product = b::mul(b::sext(el(x, k, 16), 32), b::sext(el(y, k, 16), 32));
        let half = b::add(b::ashr(product, Term::bv(32, 14)), Term::bv(32, 1));
        b::extract(half, 1, 16)
    });
    by_normal_form(instruction, lanes(32, |k| b::extract(rounded(k), 0, 16)), 32);
    let model = refuted(instruction, lanes(32, |k| b::sat_ss(rounded(k), 16)));
    let least = Bits::from_u64(16, 0x8000);
    let (x, y) = (model["x"].bits(), model["y"].bits());
    assert!((0..32).any(|k| x.extract(16 * k, 16) == least && y.extract(16 * k, 16) == least), "{model:?}");
}

#[test]
fn dead_lanes_do_not_count() {
    let (x, y) = (reg("x", 512), reg("y", 512));
    let sum = lanes(16, |k| b::add(el(x, k, 32), el(y, k, 32)));
    let half = lanes(16, |k| if k < 8 { b::add(el(y, k, 32), el(x, k, 32)) } else { el(x, k, 32) });
    let prover = Prover::new(Config::default());
    assert!(prover.prove_equal_live(sum, half, &[(0, 256)]).is_proved());
    assert!(prover.prove_equal_live(sum, half, &[(0, 64), (128, 256)]).is_proved());
    assert!(prover.prove_equal_live(sum, half, &[(0, 257)]).is_refuted());
}

#[test]
fn absolute_difference_from_saturating_subtractions() {
    let (x, y) = (reg("x", 512), reg("y", 512));
    let subtract = |a: Term, c: Term| b::sat_su(b::sub(b::zext(a, 16), b::zext(c, 16)), 8);
    let joined = lanes(64, |k| b::or(subtract(el(x, k, 8), el(y, k, 8)), subtract(el(y, k, 8), el(x, k, 8))));
    let size = lanes(64, |k| {
        let d = b::sub(b::zext(el(x, k, 8), 16), b::zext(el(y, k, 8), 16));
        b::extract(b::abs(d), 0, 8)
    });
    assert_eq!(proved(joined, size).questions, 1);
}
