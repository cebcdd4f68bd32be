//! Rolled terms, by example.

use super::roll;
use expect_test::{Expect, expect};
use semantics::build as b;
use semantics::sort::Sort;
use semantics::term::Term;
use semantics::unroll::unroll;

fn var(name: &str, width: u32) -> Term {
    Term::var(name, Sort::Bv(width))
}

/// Rolls, checks that writing out gives the pieces back, and compares the text form.
fn check(pieces: &[Term], expected: &Expect) {
    let term = roll(pieces);
    let flat: Vec<Term> = pieces.iter().rev().copied().collect();
    assert_eq!(unroll(term), b::concat(&flat));
    expected.assert_eq(&term.to_string());
}

#[test]
fn one_level() {
    let (x, y) = (var("a", 128), var("b", 128));
    let pieces: Vec<Term> = (0..8)
        .map(|k| b::add(b::extract(x, 16 * k, 16), b::extract(y, 16 * k, 16)))
        .collect();
    check(
        &pieces,
        &expect!["(map 8 (i1) (bvadd (extract[16] a (imul i1 16)) (extract[16] b (imul i1 16))))"],
    );
}

#[test]
fn masks_count_with_the_element() {
    let (x, k) = (var("a", 64), var("k", 8));
    let pieces: Vec<Term> = (0..4)
        .map(|j| b::ite(b::bit(k, j), b::extract(x, 16 * j, 16), b::zero(16)))
        .collect();
    check(
        &pieces,
        &expect![
            "(map 4 (i1) (ite (= (extract[1] k i1) 0x1:1) (extract[16] a (imul i1 16)) 0x0000:16))"
        ],
    );
}

#[test]
fn lanes_of_interleaved_pairs() {
    let (x, y) = (var("a", 256), var("b", 256));
    let mut pieces = Vec::new();
    for lane in 0..2 {
        for k in 0..4 {
            pieces.push(b::extract(x, 128 * lane + 16 * k, 16));
            pieces.push(b::extract(y, 128 * lane + 16 * k, 16));
        }
    }
    check(
        &pieces,
        &expect![
            "(map 2 (i1) (map 4 (i2) (let ((t0 (iadd (imul i2 16) (imul i1 128)))) (concat (extract[16] b t0) (extract[16] a t0)))))"
        ],
    );
}

#[test]
fn lanes_of_two_halves() {
    let (x, y) = (var("a", 256), var("b", 256));
    let mut pieces = Vec::new();
    for lane in 0..2 {
        for source in [x, y] {
            pieces
                .extend((0..4).map(|k| b::sat_ss(b::extract(source, 128 * lane + 32 * k, 32), 16)));
        }
    }
    check(
        &pieces,
        &expect![
            "(map 2 (i1) (concat (map 4 (i2) (sat_ss[16] (extract[32] b (iadd (imul i2 32) (imul i1 128))))) (map 4 (i3) (sat_ss[16] (extract[32] a (iadd (imul i3 32) (imul i1 128)))))))"
        ],
    );
}

#[test]
fn what_is_cleared_is_an_extension() {
    let x = var("a", 128);
    let mut pieces: Vec<Term> = (0..4).map(|k| b::extract(x, 32 * k, 16)).collect();
    pieces.push(b::zero(64));
    check(
        &pieces,
        &expect!["(zext[128] (map 4 (i1) (extract[16] a (imul i1 32))))"],
    );
}

#[test]
fn a_copy_is_the_register() {
    let x = var("a", 128);
    let pieces: Vec<Term> = (0..16).map(|k| b::extract(x, 8 * k, 8)).collect();
    check(&pieces, &expect!["a"]);
}

#[test]
fn what_does_not_repeat_stays() {
    let (x, y) = (var("a", 64), var("b", 64));
    let pieces = [
        b::extract(x, 0, 32),
        b::not(b::extract(y, 32, 16)),
        b::extract(x, 7, 16),
    ];
    check(
        &pieces,
        &expect!["(concat (extract[16] a 7) (bvnot (extract[16] b 32)) (extract[32] a 0))"],
    );
}

#[test]
fn pieces_of_one_element_stay_together() {
    let (x, y) = (var("a", 64), var("b", 64));
    let mut pieces = Vec::new();
    for k in 0..2 {
        pieces.push(b::extract(x, 32 * k, 8));
        pieces.push(b::not(b::extract(y, 32 * k + 8, 24)));
    }
    check(
        &pieces,
        &expect![
            "(map 2 (i1) (concat (bvnot (extract[24] b (iadd (imul i1 32) 8))) (extract[8] a (imul i1 32))))"
        ],
    );
}

#[test]
fn addresses_count_from_the_first() {
    let (mem, p) = (Term::var("mem", Sort::Mem), var("p", 64));
    let pieces: Vec<Term> = (0..4)
        .map(|k| b::read(mem, b::add(p, Term::bv(64, 4 * k)), 4))
        .collect();
    check(
        &pieces,
        &expect!["(map 4 (i1) (read[4] mem (bvadd (int2bv[64] (imul i1 4)) p)))"],
    );
}
