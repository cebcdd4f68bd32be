//! Classes of instructions written by hand in different styles.

use semantics::build as b;
use semantics::instruction::{Element, Form, Instruction, Operand, Origin, Output, Role};
use semantics::sort::Sort;
use semantics::term::Term;
use similarity::class::{Apart, Classification};
use similarity::classify::classify;
use smt::config::Config;
use smt::prover::Prover;

fn v(name: &str, width: u32) -> Term {
    Term::var(name, Sort::Bv(width))
}

/// The `k`-th element, for a map index or a constant.
fn at(t: Term, w: u32, k: Term) -> Term {
    b::extract_at(t, b::int_mul(k, Term::int(i64::from(w))), w)
}

fn instruction(name: &str, term: Term) -> Instruction {
    let mut free = semantics::subst::free_vars(term);
    free.sort_by_key(|v| v.as_var());
    let operands = free.iter().map(|v| Operand {
        name: v.as_var().expect("a variable").to_owned(),
        c_type: "reg".to_owned(),
        element: Element::Untyped,
        width: v.width(),
        role: if v.as_var() == Some("k") {
            Role::Mask
        } else {
            Role::Register
        },
    });
    Instruction {
        name: name.to_owned(),
        isa: "test".to_owned(),
        mnemonic: None,
        operands: operands.collect(),
        outputs: vec![Output {
            name: "dst".to_owned(),
            c_type: "reg".to_owned(),
            element: Element::Untyped,
            term,
            undefined: Vec::new(),
        }],
        features: Vec::new(),
        form: Form::Single,
        pseudocode: String::new(),
        origin: Origin::default(),
    }
}

fn classes(instructions: &[Instruction]) -> Classification {
    let prover = Prover::new(Config::default());
    let found = classify(instructions, &prover, &|_, _, _| {});
    let members = found.classes.iter().flat_map(|c| &c.members);
    assert!(
        members.clone().all(|m| !m.evidence.is_empty()),
        "every member is proved"
    );
    assert_eq!(members.count(), instructions.len());
    found
}

/// The classes as lists of instruction names.
fn names(instructions: &[Instruction], found: &Classification) -> Vec<Vec<String>> {
    let list = |c: &similarity::class::EquivalenceClass| {
        let names = c
            .members
            .iter()
            .map(|m| instructions[m.instruction].name.clone());
        names.collect()
    };
    found.classes.iter().map(list).collect()
}

fn lanewise(total: u32, w: u32, f: impl Fn(Term) -> Term) -> Term {
    b::map(total / w, f(Term::index()))
}

fn straight(total: u32, w: u32, f: impl Fn(Term) -> Term) -> Term {
    let parts: Vec<Term> = (0..total / w)
        .rev()
        .map(|k| f(Term::int(i64::from(k))))
        .collect();
    b::concat(&parts)
}

#[test]
fn one_operation_at_all_widths_is_one_class() {
    let add = |total, w| {
        lanewise(total, w, |k| {
            b::add(at(v("a", total), w, k), at(v("b", total), w, k))
        })
    };
    let plain = |total, w| {
        straight(total, w, |k| {
            b::add(at(v("p", total), w, k), at(v("q", total), w, k))
        })
    };
    let all = [
        instruction("add_512_8", add(512, 8)),
        instruction("add_256_16", add(256, 16)),
        instruction("add_512_32", add(512, 32)),
        instruction("add_128_64", plain(128, 64)),
        instruction("add_64_64", add(64, 64)),
    ];
    let found = classes(&all);
    assert_eq!(found.classes.len(), 1);
    assert_eq!(found.classes[0].roles.len(), 2, "width and count");
}

/// Interleave of the halves of 128-bit lanes, as maps over lanes and pairs.
fn interleave(total: u32, w: u32, high: bool) -> Term {
    let start = if high { 64 } else { 0 };
    let (pairs, lanes) = (64 / w, total / 128);
    let lane_index = Term::bound(1, Sort::Int);
    let offset = |index: Term| {
        let lane = b::int_mul(lane_index, Term::int(128));
        let element = b::int_mul(index, Term::int(i64::from(w)));
        b::int_add(b::int_add(lane, element), Term::int(start))
    };
    let part = |name: &str| b::extract_at(v(name, total), offset(Term::index()), w);
    b::map(lanes, b::map(pairs, b::concat(&[part("b"), part("a")])))
}

#[test]
fn interleaves_of_low_and_high_halves_are_one_class() {
    let flat = semantics::unroll::unroll(interleave(256, 32, true));
    let all = [
        instruction("unpacklo_512_8", interleave(512, 8, false)),
        instruction("unpackhi_256_16", interleave(256, 16, true)),
        instruction("unpackhi_256_32", flat),
        instruction("unpacklo_128_8", interleave(128, 8, false)),
        instruction("unpacklo_512_64", interleave(512, 64, false)),
        instruction("unpackhi_128_64", interleave(128, 64, true)),
    ];
    let found = classes(&all);
    assert_eq!(names(&all, &found).len(), 1, "{:?}", names(&all, &found));
    assert!(
        found.classes[0].roles.len() <= 4,
        "{:?}",
        found.classes[0].roles
    );
}

/// A dot product of `n` neighbours with accumulator.
fn dot(total: u32, n: u32, signed_a: bool, style: bool) -> Term {
    let w = 32 / n;
    let element = |name: &str, k: Term, r: Term| {
        let index = b::int_add(b::int_mul(k, Term::int(i64::from(n))), r);
        at(v(name, total), w, index)
    };
    let product = |k: Term, r: Term| {
        let a = element("a", k, r);
        let a = if signed_a {
            b::sext(a, 32)
        } else {
            b::zext(a, 32)
        };
        b::mul(b::sext(element("b", k, r), 32), a)
    };
    let one = |k: Term| {
        let src = at(v("src", total), 32, k);
        if style {
            let iteration = Term::bound(1, Sort::Int);
            let outer = semantics::subst::shift(k, 2, 0);
            let body = b::add(Term::bound(0, Sort::Bv(32)), product(outer, iteration));
            return b::fold(n, src, body);
        }
        let sum = (0..n).map(|r| product(k, Term::int(i64::from(r))));
        b::add(sum.reduce(b::add).expect("products"), src)
    };
    lanewise(total, 32, one)
}

/// A dot product of four neighbours whose products and partial sums are as narrow as can be.
fn narrow_dot() -> Term {
    lanewise(128, 32, |k| {
        let element = |name: &str, r: i64| {
            let index = b::int_add(b::int_mul(k, Term::int(4)), Term::int(r));
            at(v(name, 128), 8, index)
        };
        let product = |r| {
            let (a, x) = (element("a", r), element("b", r));
            b::mul(b::zext(a, 17), b::sext(x, 17))
        };
        let pair = |r| b::add(b::sext(product(r), 18), b::sext(product(r + 1), 18));
        let sum = b::add(b::sext(pair(0), 19), b::sext(pair(2), 19));
        b::add(at(v("src", 128), 32, k), b::sext(sum, 32))
    })
}

#[test]
fn dot_products_differ_in_count_and_signedness_only() {
    let all = [
        instruction("dpwssd_512", dot(512, 2, true, false)),
        instruction("dpwssd_128", dot(128, 2, true, true)),
        instruction("dpbusd_512", dot(512, 4, false, false)),
        instruction("dpbusd_256", dot(256, 4, false, true)),
        instruction("dpbusd_128_narrow", narrow_dot()),
    ];
    let found = classes(&all);
    assert_eq!(names(&all, &found).len(), 1, "{:?}", names(&all, &found));
    assert!(
        found.classes[0].roles.len() <= 4,
        "{:?}",
        found.classes[0].roles
    );
}

#[test]
fn merge_and_zero_masks_are_one_class() {
    let masked = |total: u32, w: u32, zero: bool| {
        lanewise(total, w, |k| {
            let sum = b::sub(at(v("a", total), w, k), at(v("b", total), w, k));
            let bit = b::eq(at(v("k", total / w), 1, k), Term::bv(1, 1));
            let other = if zero {
                b::zero(w)
            } else {
                at(v("src", total), w, k)
            };
            b::ite(bit, sum, other)
        })
    };
    let all = [
        instruction("mask_sub_512_8", masked(512, 8, false)),
        instruction("maskz_sub_512_8", masked(512, 8, true)),
        instruction("maskz_sub_256_32", masked(256, 32, true)),
        instruction("mask_sub_128_16", masked(128, 16, false)),
    ];
    let found = classes(&all);
    assert_eq!(names(&all, &found).len(), 1, "{:?}", names(&all, &found));
    assert_eq!(found.classes[0].members[1].bindings[3], None);
    assert!(
        found.classes[0].roles.len() <= 2,
        "{:?}",
        found.classes[0].roles
    );
}

#[test]
fn operand_order_does_not_matter() {
    let choose = |first: &str, second: &str| {
        lanewise(256, 32, |k| {
            let bit = b::eq(at(v("k", 8), 1, k), Term::bv(1, 1));
            b::ite(bit, at(v(first, 256), 32, k), at(v(second, 256), 32, k))
        })
    };
    let all = [
        instruction("mov", choose("a", "b")),
        instruction("blend", choose("b", "a")),
    ];
    let found = classes(&all);
    assert_eq!(found.classes.len(), 1);
    let bound = |m: usize| found.classes[0].members[m].bindings.clone();
    assert_ne!(bound(0), bound(1));
}

#[test]
fn one_meaning_in_two_shapes_is_one_class() {
    let difference = |swapped: bool| {
        lanewise(128, 16, |k| {
            let (x, y) = (at(v("a", 128), 16, k), at(v("b", 128), 16, k));
            if swapped {
                b::add(x, b::neg(y))
            } else {
                b::sub(x, y)
            }
        })
    };
    let all = [
        instruction("sub", difference(false)),
        instruction("add_neg", difference(true)),
    ];
    let found = classes(&all);
    assert_eq!(found.classes.len(), 1);
    assert_eq!(found.report.joined, 1);
}

#[test]
fn near_duplicates_stay_apart() {
    let average = |one: i128, lane: Option<u32>| {
        straight(128, 8, |k| {
            let wide = |n: &str| b::zext(at(v(n, 128), 8, k), 9);
            let sum = b::add(wide("a"), wide("b"));
            let odd = lane.is_some_and(|l| k.as_int() == Some(i64::from(l)));
            let rounding = Term::bv(9, if odd { 1 - one } else { one });
            b::extract(b::add(sum, rounding), 1, 8)
        })
    };
    let all = [
        instruction("avg", average(1, None)),
        instruction("avg_but_lane_5", average(1, Some(5))),
        instruction("halving_add", average(0, None)),
    ];
    let found = classes(&all);
    let together = |x: &str, y: &str| {
        let lists = names(&all, &found);
        lists
            .iter()
            .any(|l| l.iter().any(|n| n == x) && l.iter().any(|n| n == y))
    };
    assert!(!together("avg", "avg_but_lane_5"));
    assert!(
        !found
            .report
            .apart
            .iter()
            .any(|(_, a)| matches!(a, Apart::Unknown(_)))
    );
}

#[test]
fn the_result_does_not_depend_on_threads() {
    let all = [
        instruction("a", interleave(512, 8, false)),
        instruction("b", dot(512, 2, true, false)),
        instruction("c", interleave(256, 32, true)),
    ];
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.expect("threads").install(|| classes(&all).classes)
    };
    assert_eq!(run(1), run(4));
}

#[test]
fn the_evidence_graph_has_an_edge_for_each_member() {
    let all = [
        instruction("a", interleave(512, 8, false)),
        instruction("b", interleave(256, 32, true)),
        instruction("c", dot(512, 2, true, false)),
    ];
    let graph = classes(&all).evidence_graph();
    assert_eq!((graph.node_count(), graph.edge_count()), (5, 3));
}
