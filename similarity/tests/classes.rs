//! Classes of instructions written by hand in different styles.

use semantics::build as b;
use semantics::instruction::{Element, Form, Instruction, Operand, Origin, Output, Role};
use semantics::sort::Sort;
use semantics::term::Term;
use similarity::class::{Apart, Classification};
use similarity::classify::classify;
use smt::config::Config;
use smt::prover::Prover;
use store::object::Store;

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
    free.retain(|v| v.sort().width().is_some());
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

/// Whether two instructions are told apart, by their classes or by numbers or operands in a
/// class; a counterexample says that they must be.
fn told_apart(all: &[Instruction], x: &str, y: &str) -> bool {
    let found = classes(all);
    let unknown = |a: &Apart| matches!(a, Apart::Unknown(_));
    assert!(!found.report.apart.iter().any(|(_, a)| unknown(a)));
    assert!(!found.report.unjoined.iter().any(|(_, _, a)| unknown(a)));
    let term = |name: &str| {
        let i = all.iter().find(|i| i.name == name).expect("an instruction");
        i.outputs[0].term
    };
    let verdict = Prover::new(Config::default()).prove_equal(term(x), term(y));
    assert!(verdict.is_refuted(), "{x} and {y}: {verdict:?}");
    let place = |name: &str| {
        let members = found.classes.iter().enumerate();
        let mut members = members.flat_map(|(c, class)| class.members.iter().map(move |m| (c, m)));
        let (c, m) = members
            .find(|(_, m)| all[m.instruction].name == name)
            .expect("every instruction is in a class");
        (c, m.values.clone(), m.bindings.clone())
    };
    place(x) != place(y)
}

/// An average of bytes with a rounding constant, another one in one lane.
fn average(one: i128, lane: Option<u32>) -> Term {
    straight(128, 8, |k| {
        let wide = |n: &str| b::zext(at(v(n, 128), 8, k), 9);
        let sum = b::add(wide("a"), wide("b"));
        let odd = lane.is_some_and(|l| k.as_int() == Some(i64::from(l)));
        let rounding = Term::bv(9, if odd { 1 - one } else { one });
        b::extract(b::add(sum, rounding), 1, 8)
    })
}

#[test]
fn one_lane_that_differs_keeps_instructions_apart() {
    let all = [
        instruction("avg", average(1, None)),
        instruction("avg_but_lane_5", average(1, Some(5))),
        instruction("halving_add", average(0, None)),
    ];
    assert!(told_apart(&all, "avg", "avg_but_lane_5"));
    assert!(told_apart(&all, "avg", "halving_add"));
    assert_eq!(classes(&all).classes.len(), 3);
}

#[test]
fn one_rounding_constant_is_another_number() {
    let rounded = |w: u32, constant: i128| {
        lanewise(256, w, |k| {
            let wide = |n: &str| b::sext(at(v(n, 256), w, k), 2 * w);
            let sum = b::add(b::mul(wide("a"), wide("b")), Term::bv(2 * w, constant));
            b::extract(sum, w - 1, w)
        })
    };
    let all = [
        instruction("round_16", rounded(16, 0x4000)),
        instruction("round_8", rounded(8, 0x40)),
        instruction("round_wrong", rounded(16, 0x2000)),
    ];
    assert!(told_apart(&all, "round_16", "round_wrong"));
}

#[test]
fn operand_order_at_one_width_shows_in_the_bindings() {
    let shifted = |w: u32, swapped: bool| {
        let (a, c) = if swapped { ("b", "a") } else { ("a", "b") };
        lanewise(256, w, |k| {
            b::sub(
                at(v(a, 256), w, k),
                b::shl(at(v(c, 256), w, k), Term::bv(w, 1)),
            )
        })
    };
    let all = [
        instruction("less_twice_8", shifted(8, false)),
        instruction("less_twice_16", shifted(16, false)),
        instruction("less_twice_32", shifted(32, true)),
        instruction("less_twice_32_right", shifted(32, false)),
    ];
    assert!(told_apart(&all, "less_twice_32", "less_twice_32_right"));
    assert_eq!(
        classes(&all).classes.len(),
        1,
        "the order is no other operation"
    );
}

#[test]
fn a_difference_at_the_extreme_value_only_keeps_instructions_apart() {
    let least = |w: u32| 1i128 << (w - 1);
    let absolute = |w: u32, saturates: bool| {
        lanewise(128, w, |k| {
            let x = at(v("a", 128), w, k);
            let extreme = b::eq(x, Term::bv(w, least(w)));
            let most = if saturates { least(w) - 1 } else { least(w) };
            b::ite(extreme, Term::bv(w, most), b::abs(x))
        })
    };
    // Unsigned and signed order of x and the largest signed number agree below the extreme.
    let above = |w: u32, signed: bool| {
        lanewise(128, w, |k| {
            let (x, top) = (
                b::and(at(v("a", 128), w, k), Term::bv(w, least(w))),
                b::zero(w),
            );
            let more = if signed {
                b::slt(top, x)
            } else {
                b::ult(top, x)
            };
            b::ite(more, Term::bv(w, 1), b::zero(w))
        })
    };
    let all = [
        instruction("abs_8", absolute(8, false)),
        instruction("abs_16", absolute(16, false)),
        instruction("abs_sat_8", absolute(8, true)),
        instruction("abs_sat_16", absolute(16, true)),
        instruction("above_8", above(8, false)),
        instruction("above_signed_8", above(8, true)),
    ];
    assert!(told_apart(&all, "abs_8", "abs_sat_8"));
    assert!(told_apart(&all, "abs_16", "abs_sat_16"));
    assert!(told_apart(&all, "above_8", "above_signed_8"));
}

#[test]
fn reductions_are_one_class_whatever_their_style_and_count() {
    let tree = |total: u32, w: u32, f: fn(Term, Term) -> Term| {
        let mut level: Vec<Term> = (0..total / w)
            .map(|k| at(v("a", total), w, Term::int(i64::from(k))))
            .collect();
        while level.len() > 1 {
            let half = level.len() / 2;
            level = (0..half).map(|k| f(level[k], level[k + half])).collect();
        }
        level[0]
    };
    let compared = |x: Term, y: Term| b::ite(b::ult(y, x), x, y);
    let all = [
        instruction("max_512_32", tree(512, 32, b::umax)),
        instruction("max_128_8", tree(128, 8, compared)),
        instruction("max_256_16", tree(256, 16, b::umax)),
    ];
    let found = classes(&all);
    assert_eq!(names(&all, &found).len(), 1, "{:?}", names(&all, &found));
    assert!(found.classes[0].roles.len() <= 2);
}

#[test]
fn masked_stores_of_any_count_are_one_class() {
    let store = |count: u32, w: u32| {
        let address = v("p", 64);
        let data = v("a", count * w);
        (0..count).fold(Term::var("mem", Sort::Mem), |memory, j| {
            let lane = Term::int(i64::from(j));
            let to = b::add(address, Term::bv(64, i128::from(j * w / 8)));
            let written = b::write(memory, to, at(data, w, lane));
            b::ite(
                b::eq(at(v("k", count.max(8)), 1, lane), Term::bv(1, 1)),
                written,
                memory,
            )
        })
    };
    let all = [
        instruction("store_16_32", store(16, 32)),
        instruction("store_64_8", store(64, 8)),
        instruction("store_2_64", store(2, 64)),
        instruction("store_1_32", store(1, 32)),
    ];
    let found = classes(&all);
    assert_eq!(names(&all, &found).len(), 1, "{:?}", names(&all, &found));
    assert!(found.report.apart.is_empty());
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
fn leading_zeros_written_as_choices_are_a_count() {
    let choices = |total: u32, w: u32| {
        let bits = w.ilog2() + 1;
        lanewise(total, w, |k| {
            let n = (0..w).fold(Term::bv(bits, i128::from(w)), |rest, h| {
                let place = b::int_mul(k, Term::int(i64::from(w)));
                let place = b::int_add(place, Term::int(i64::from(h)));
                let bit = b::extract_at(v("a", total), place, 1);
                let value = Term::bv(bits, i128::from(w - 1 - h));
                b::ite(b::eq(bit, Term::bv(1, 1)), value, rest)
            });
            b::zext(n, w)
        })
    };
    let counted = |total: u32, w: u32| lanewise(total, w, |k| b::clz(at(v("a", total), w, k)));
    let all = [
        instruction("lzcnt_256_32", choices(256, 32)),
        instruction("lzcnt_512_64", choices(512, 64)),
        instruction("lzcnt_128_16", counted(128, 16)),
        instruction("lzcnt_512_32", counted(512, 32)),
    ];
    let found = classes(&all);
    assert_eq!(names(&all, &found).len(), 1, "{:?}", names(&all, &found));
}

#[test]
fn kept_proofs_change_nothing_but_what_they_cost() {
    let plus = |w, n| {
        lanewise(256, w, move |k| {
            b::add(at(v("a", 256), w, k), Term::bv(w, n))
        })
    };
    let all: Vec<Instruction> = [8, 16, 32]
        .map(|w| instruction(&format!("increment_{w}"), plus(w, 1)))
        .to_vec();
    let folder = tempfile::tempdir().expect("there is room");
    let run = |all: &[Instruction]| {
        let prover = Prover::new(Config {
            cache: Some(Store::at(folder.path())),
            ..Config::default()
        });
        classify(all, &prover, &|_, _, _| {})
    };
    let (first, second) = (run(&all), run(&all));
    assert_eq!(first.report.proved.cached, 0);
    assert_eq!(second.report.proved.cached, all.len());
    assert_eq!(first.report.proved.elements, second.report.proved.elements);
    // Another meaning under a known name is proved, or refuted, anew.
    let mut other = all.clone();
    other[1].outputs[0].term = plus(16, 2);
    let third = run(&other);
    assert_eq!(
        third.report.proved.cached, 0,
        "the class's numbers differ too"
    );
}

/// `c + a * transposed b` of a tile with rows of as many 32-bit numbers.
fn tile(name: &str, rows: u32, element: u32) -> Instruction {
    let (row, width) = (32 * rows, 32 * rows * rows);
    let factor = |t: &str, i: u32, k: u32| {
        let part = b::extract(v(t, width), i * row + k * element, element);
        b::sext(part, 32)
    };
    let cell = |i: u32, j: u32| {
        let c = b::extract(v("c", width), i * row + j * 32, 32);
        (0..row / element).fold(c, |sum, k| {
            b::add(sum, b::mul(factor("a", i, k), factor("b", j, k)))
        })
    };
    let cells: Vec<Term> = (0..rows * rows)
        .rev()
        .map(|n| cell(n / rows, n % rows))
        .collect();
    instruction(name, b::concat(&cells))
}

#[test]
fn tile_products_of_all_widths_are_one_class_with_dot_products_of_lanes() {
    let dot = lanewise(256, 32, |i| {
        let factor = |t: &str, k: i64| {
            let at = b::int_add(b::int_mul(i, Term::int(32)), Term::int(16 * k));
            b::sext(b::extract_at(v(t, 256), at, 16), 32)
        };
        let product = |k| b::mul(factor("a", k), factor("b", k));
        let c = at(v("c", 256), 32, i);
        b::add(b::add(c, product(0)), product(1))
    });
    let all = [
        tile("bytes", 4, 8),
        tile("halves", 4, 16),
        tile("words", 4, 32),
        instruction("lanes", dot),
    ];
    let found = classes(&all);
    assert_eq!(names(&all, &found), [["bytes", "halves", "words", "lanes"]]);
}
