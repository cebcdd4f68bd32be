//! Search on hand-made instructions: each test gives a small machine and a window.

use crate::candidates::Candidates;
use crate::cost::{CostRow, CostTable, Timing};
use crate::estimate::WindowInput;
use crate::goal::Goal;
use crate::lanes::Counterexamples;
use crate::library::cached::LibraryCache;
use crate::limit::Limit;
use crate::search::{Limits, Search};
use crate::swizzle::{Brought, Ways};
use crate::widths::Widths;
use autoir::instructions::{Implementation, OperandSource};
use autoir::program::{Argument, Bound, Formal, Instance, Node, Program, Value};
use semantics::build as b;
use semantics::instruction::{Element, Form, Operand, Role};
use semantics::sort::Sort;
use semantics::subst::replace_vars;
use semantics::term::Term;
use smt::prover::Prover;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};
use target::RegisterClass;

fn costs() -> CostTable {
    let timing = |latency, throughput| Timing {
        latency,
        throughput,
    };
    let row = |m: &str, t| CostRow {
        mnemonic: m.to_owned(),
        width: None,
        timing: t,
        resource: None,
    };
    CostTable {
        rows: vec![
            row("vpmulld", timing(100, 20)),
            row("vperm*", timing(30, 10)),
            row("vpmov*", timing(40, 20)),
            row("vpdp*", timing(50, 10)),
        ],
        ..CostTable::uniform("test", 10, 5)
    }
}

/// Registers of 128, 256 and 512 bits.
pub(crate) fn widths() -> Widths {
    let class = |width| RegisterClass {
        width,
        c_type: format!("v{width}"),
        needs: None,
        count: 16,
        unrolled: None,
        held: None,
    };
    Widths::of(&[128, 256, 512].map(class))
}

fn var(name: &str, width: u32) -> Term {
    Term::var(name, Sort::Bv(width))
}

/// An instruction whose operands are the arguments of an operation of its own.
pub(crate) fn operation(
    name: &str,
    operands: &[(&str, u32)],
    term: Term,
) -> (Instance, Implementation) {
    let named = |k: usize| Term::var(&format!("x{k}"), Sort::Bv(operands[k].1));
    let map = (0..operands.len()).map(|k| (operands[k].0, named(k)));
    let instance = Instance {
        operation: name.to_owned(),
        values: Vec::new(),
        arguments: vec![Bound::Open; operands.len()],
        formals: (0..operands.len())
            .map(|k| Formal {
                name: format!("x{k}"),
                element: Element::Untyped,
                width: operands[k].1,
                role: Role::Register,
            })
            .collect(),
        undefined: Vec::new(),
        transfer: None,
        term: replace_vars(term, &map.collect()),
    };
    let operand = |&(n, width): &(&str, u32)| Operand {
        name: n.to_owned(),
        c_type: String::new(),
        element: Element::Untyped,
        width,
        role: Role::Register,
    };
    let implementation = Implementation {
        instruction: name.to_owned(),
        mnemonic: None,
        form: Form::Single,
        features: Vec::new(),
        operands: operands.iter().map(operand).collect(),
        sources: (0..operands.len()).map(OperandSource::Formal).collect(),
        c_type: String::new(),
        element: Element::Untyped,
        width: term.width(),
    };
    (instance, implementation)
}

/// Element `k` of width `w` of an operand inside a map.
fn at(x: Term, w: u32, stride: i64, offset: i64) -> Term {
    let lo = b::int_add(
        b::int_mul(Term::index(), Term::int(stride)),
        Term::int(offset),
    );
    b::extract_at(x, lo, w)
}

fn lanewise(name: &str, w: u32, n: u32, f: fn(Term, Term) -> Term) -> (Instance, Implementation) {
    let (x, y) = (
        at(var("a", w * n), w, i64::from(w), 0),
        at(var("b", w * n), w, i64::from(w), 0),
    );
    operation(name, &[("a", w * n), ("b", w * n)], b::map(n, f(x, y)))
}

fn dot(
    name: &str,
    w: u32,
    n: u32,
    ways: u32,
    first: fn(Term, u32) -> Term,
) -> (Instance, Implementation) {
    let total = w * ways * n;
    let (src, x, y) = (var("src", total), var("a", total), var("b", total));
    let wide = w * ways;
    let product = |k: u32| {
        let at = |t| at(t, w, i64::from(wide), i64::from(w * k));
        b::mul(first(at(x), wide), b::sext(at(y), wide))
    };
    let sum = (0..ways)
        .map(product)
        .fold(at(src, wide, i64::from(wide), 0), b::add);
    operation(
        name,
        &[("src", total), ("a", total), ("b", total)],
        b::map(n, sum),
    )
}

fn permute2(name: &str, w: u32, n: u32) -> (Instance, Implementation) {
    let total = w * n;
    let (x, y, idx) = (var("a", total), var("b", total), var("idx", total));
    let bits = n.trailing_zeros();
    let select = at(idx, bits, i64::from(w), 0);
    let which = b::eq(at(idx, 1, i64::from(w), i64::from(bits)), Term::bv(1, 1));
    let body = b::ite(which, b::elem(y, select, w), b::elem(x, select, w));
    operation(
        name,
        &[("a", total), ("idx", total), ("b", total)],
        b::map(n, body),
    )
}

fn convert(
    name: &str,
    from: u32,
    to: u32,
    n: u32,
    f: fn(Term, u32) -> Term,
) -> (Instance, Implementation) {
    let x = at(var("a", from * n), from, i64::from(from), 0);
    operation(name, &[("a", from * n)], b::map(n, f(x, to)))
}

pub(crate) fn machine() -> Vec<(Instance, Implementation)> {
    let average = |x: Term, y: Term| {
        let w = x.width();
        let sum = b::add(
            b::add(b::zext(x, w + 1), b::zext(y, w + 1)),
            Term::bv(w + 1, 1),
        );
        b::extract(sum, 1, w)
    };
    let subs = |x: Term, y: Term| {
        let w = x.width();
        b::sat_su(b::sub(b::zext(x, w + 1), b::zext(y, w + 1)), w)
    };
    let mulhrs = |x: Term, y: Term| {
        let p = b::mul(b::sext(x, 32), b::sext(y, 32));
        let shifted = b::add(b::extract(p, 14, 18), Term::bv(18, 1));
        b::extract(shifted, 1, 16)
    };
    let mut ops = vec![
        dot("vpdpwssd", 16, 16, 2, b::sext),
        dot("vpdpbusd", 8, 16, 4, b::zext),
        permute2("vpermi2w", 16, 32),
        convert("vpmovsxwd", 16, 32, 16, b::sext),
        convert("vpmovuswb", 16, 8, 32, b::sat_uu),
        convert("vpmovwb", 16, 8, 32, |x, w| b::extract(x, 0, w)),
        lanewise("vpmulld", 32, 16, b::mul),
        lanewise("vpaddd", 32, 16, b::add),
        lanewise("vpmulhrsw", 16, 32, mulhrs),
    ];
    for (w, n) in [(8, 64), (16, 32), (16, 16)] {
        ops.push(lanewise(&format!("vpavg{w}"), w, n, average));
        ops.push(lanewise(&format!("vpsubus{w}"), w, n, subs));
        ops.push(lanewise(&format!("vpsub{w}"), w, n, b::sub));
        ops.push(lanewise(&format!("vpadd{w}"), w, n, b::add));
        ops.push(lanewise(&format!("vpor{w}"), w, n, b::or));
        ops.push(lanewise(&format!("vpxor{w}"), w, n, b::xor));
        ops.push(lanewise(&format!("vpsrlv{w}"), w, n, b::lshr));
        ops.push(lanewise(&format!("vpmaxs{w}"), w, n, b::smax));
        ops.push(lanewise(&format!("vpmins{w}"), w, n, b::smin));
        ops.push(lanewise(&format!("vpmaxu{w}"), w, n, b::umax));
        ops.push(lanewise(&format!("vpminu{w}"), w, n, b::umin));
    }
    ops
}

/// The candidates of a machine.
pub(crate) fn candidates(
    machine: Vec<(Instance, Implementation)>,
    kept: Option<LibraryCache>,
) -> Candidates {
    Candidates::new(machine, &BTreeSet::new(), &costs(), widths(), kept)
}

/// The text of a value, for assertions.
fn show(graph: &Program, v: Value) -> String {
    match graph.node(v) {
        Node::Input { name, lo, width } => format!("{name}[{lo}+:{width}]"),
        Node::Constant(_) => "const".to_owned(),
        Node::Cast { value, width } => format!("cast{width}({})", show(graph, *value)),
        Node::Apply { operation, args } => {
            let args: Vec<String> = args
                .iter()
                .map(|a| match a {
                    Argument::Value(v) => show(graph, *v),
                    Argument::Immediate(bits) => bits.to_string(),
                    Argument::Address(..) => unreachable!("the search accesses no memory"),
                })
                .collect();
            let name = &graph.operation(*operation).operation;
            format!("{name}({})", args.join(", "))
        }
        other => unreachable!("the search makes no {other:?}"),
    }
}

fn solve(inputs: &[(&str, u32)], element: u32, term: Term) -> String {
    let candidates = candidates(machine(), None);
    let prover = Prover::new(smt::config::Config::default());
    let inputs: Vec<WindowInput> = inputs
        .iter()
        .map(|&(n, width)| WindowInput {
            name: n.to_owned(),
            width,
            in_memory: true,
            held: false,
            chains: 0,
        })
        .collect();
    let flat: Vec<Term> = semantics::unroll::elements(term, element)
        .into_iter()
        .map(crate::canonical::sink_extensions)
        .collect();
    let goal = Goal {
        element,
        elements: flat.into_iter().map(Some).collect(),
    };
    let limits = Limits {
        limit: Limit {
            deadline: Instant::now() + Duration::from_secs(20),
            memory: u64::MAX,
        },
        lane_evaluations: 300_000,
        goals: 2000,
        matches: crate::search::MATCHES,
        grammar: crate::search::Grammar::default(),
    };
    let mut search = Search::new(
        &candidates,
        &inputs,
        term,
        &prover,
        limits,
        Counterexamples::default(),
    );
    let start = Instant::now();
    let found = search.solve_window(&goal);
    println!("{:?} {:?}", start.elapsed(), search.report);
    found.map_or_else(
        || "nothing".to_owned(),
        |values| {
            values
                .iter()
                .map(|&v| show(&search.graph, v))
                .collect::<Vec<_>>()
                .join(" ; ")
        },
    )
}

#[test]
fn a_pairwise_dot_product_is_one_instruction() {
    let (acc, x, y) = (var("acc", 512), var("x", 512), var("y", 512));
    let product = |k: i64| {
        b::mul(
            b::sext(at(x, 16, 32, 16 * k), 32),
            b::sext(at(y, 16, 32, 16 * k), 32),
        )
    };
    let term = b::map(
        16,
        b::add(b::add(product(0), product(1)), at(acc, 32, 32, 0)),
    );
    let found = solve(&[("acc", 512), ("x", 512), ("y", 512)], 32, term);
    assert_eq!(found, "vpdpwssd(acc[0+:512], x[0+:512], y[0+:512])");
}

#[test]
fn two_products_are_interleaved_and_multiplied_at_once() {
    let half = |n| at(var(n, 256), 16, 16, 0);
    let product = |a, c| b::mul(b::sext(half(a), 32), b::sext(half(c), 32));
    let term = b::map(
        16,
        b::add(
            b::add(at(var("acc", 512), 32, 32, 0), product("a1", "b1")),
            product("a2", "b2"),
        ),
    );
    let found = solve(
        &[
            ("acc", 512),
            ("a1", 256),
            ("a2", 256),
            ("b1", 256),
            ("b2", 256),
        ],
        32,
        term,
    );
    assert_eq!(
        found,
        "vpdpwssd(acc[0+:512], vpermi2w(cast512(a2[0+:256]), const, cast512(a1[0+:256])), \
         vpermi2w(cast512(b2[0+:256]), const, cast512(b1[0+:256])))"
    );
}

#[test]
fn a_fourfold_dot_product_is_one_instruction() {
    let (acc, x, y) = (var("acc", 512), var("x", 512), var("y", 512));
    let product = |k: i64| {
        b::mul(
            b::zext(at(x, 8, 32, 8 * k), 32),
            b::sext(at(y, 8, 32, 8 * k), 32),
        )
    };
    let term = b::map(16, (0..4).map(product).fold(at(acc, 32, 32, 0), b::add));
    let found = solve(&[("acc", 512), ("x", 512), ("y", 512)], 32, term);
    assert_eq!(found, "vpdpbusd(acc[0+:512], x[0+:512], y[0+:512])");
}

#[test]
fn a_clamp_and_cut_is_a_saturating_narrowing() {
    let x = at(var("x", 512), 16, 16, 0);
    let clamped = b::smin(b::smax(x, Term::bv(16, 0)), Term::bv(16, 255));
    let found = solve(&[("x", 512)], 8, b::map(32, b::extract(clamped, 0, 8)));
    assert_eq!(found, "vpmovuswb(vpmaxs16(x[0+:512], const))");
}

#[test]
fn a_widened_average_is_one_instruction() {
    let (x, y) = (at(var("x", 512), 8, 8, 0), at(var("y", 512), 8, 8, 0));
    let sum = b::add(b::add(b::zext(x, 16), b::zext(y, 16)), Term::bv(16, 1));
    let found = solve(
        &[("x", 512), ("y", 512)],
        8,
        b::map(64, b::extract(b::lshr(sum, Term::bv(16, 1)), 0, 8)),
    );
    assert_eq!(found, "vpavg8(x[0+:512], y[0+:512])");
}

#[test]
fn an_absolute_difference_takes_three_instructions() {
    for (w, n) in [(8, 64), (16, 32)] {
        let (x, y) = (
            at(var("x", 512), w, i64::from(w), 0),
            at(var("y", 512), w, i64::from(w), 0),
        );
        let term = b::map(n, b::ite(b::ult(x, y), b::sub(y, x), b::sub(x, y)));
        let found = solve(&[("x", 512), ("y", 512)], w, term);
        assert_eq!(found.matches("vp").count(), 3, "{found}");
    }
}

#[test]
fn rounding_high_multiplication_is_one_instruction_unless_it_saturates() {
    let (x, y) = (at(var("x", 512), 16, 16, 0), at(var("y", 512), 16, 16, 0));
    let sum = b::add(b::mul(b::sext(x, 32), b::sext(y, 32)), Term::bv(32, 0x4000));
    let shifted = b::ashr(sum, Term::bv(32, 15));
    let inputs = [("x", 512), ("y", 512)];
    assert_eq!(
        solve(&inputs, 16, b::map(32, b::extract(shifted, 0, 16))),
        "vpmulhrsw(x[0+:512], y[0+:512])"
    );
    let saturated = solve(&inputs, 16, b::map(32, b::sat_ss(shifted, 16)));
    assert!(
        saturated != "vpmulhrsw(x[0+:512], y[0+:512])",
        "{saturated}"
    );
}

#[test]
fn even_elements_are_gathered_by_a_solved_permutation() {
    let even = |n: &str| b::map(16, at(var(n, 512), 16, 32, 0));
    let found = solve(
        &[("x", 512), ("y", 512)],
        16,
        b::concat(&[even("y"), even("x")]),
    );
    assert_eq!(found, "vpermi2w(y[0+:512], const, x[0+:512])");
}

#[test]
fn three_registers_are_merged_by_two_solved_permutations() {
    let element = |name: &str, k: u32| b::extract(var(name, 512), 16 * k, 16);
    let parts = (0..32).rev().map(|lane| {
        let name = ["x", "y", "z"][lane as usize % 3];
        element(name, lane / 3)
    });
    let interleaved = b::concat(&parts.collect::<Vec<_>>());
    let found = solve(&[("x", 512), ("y", 512), ("z", 512)], 16, interleaved);
    assert_eq!(
        found,
        "vpermi2w(z[0+:512], const, vpermi2w(y[0+:512], const, x[0+:512]))"
    );
    // Of four, one with a constant: three.
    let filled = (0..32).rev().map(|lane| match lane % 4 {
        3 => Term::bv(16, 255),
        k => element(["x", "y", "z"][k as usize], lane / 4),
    });
    let filled = b::concat(&filled.collect::<Vec<_>>());
    let found = solve(&[("x", 512), ("y", 512), ("z", 512)], 16, filled);
    assert_eq!(found.matches("vpermi2w").count(), 3, "{found}");
}

#[test]
fn every_third_element_of_memory_is_gathered_from_stretches_of_it() {
    let third = |k: u32| b::extract(var("x", 1536), 48 * k, 16);
    let parts = (0..32).rev().map(third).collect::<Vec<_>>();
    let found = solve(&[("x", 1536)], 16, b::concat(&parts));
    assert_eq!(found.matches("vpermi2w").count(), 2, "{found}");
}

#[test]
fn a_rounding_shift_and_a_signed_average_are_unsigned_averages() {
    let (x, y) = (at(var("x", 512), 16, 16, 0), at(var("y", 512), 16, 16, 0));
    let rounded = b::lshr(b::add(b::zext(x, 17), Term::bv(17, 128)), Term::bv(17, 8));
    let inputs = [("x", 512), ("y", 512)];
    let found = solve(&inputs, 16, b::map(32, b::extract(rounded, 0, 16)));
    assert!(found.contains("vpavg16(x[0+:512], const)"), "{found}");
    let sum = b::add(b::add(b::sext(x, 17), b::sext(y, 17)), Term::bv(17, 1));
    let found = solve(&inputs, 16, b::map(32, b::extract(sum, 1, 16)));
    assert!(found.contains("vpavg16("), "{found}");
}

/// What each index brings is found once, for the elements that choose alike by bits of their own.
#[test]
fn elements_that_choose_alike_share_what_they_choose() {
    let all = candidates(vec![permute2("permute", 16, 8)], None);
    let table = all.move_table(0, 16).expect("it only moves");
    let mut elements = table.elements.iter().map(|moves| match &moves.ways {
        Ways::Table(support) => (support, &moves.pieces),
        Ways::Network(_) => panic!("few bits choose"),
    });
    let (first, pieces) = elements.next().expect("it has elements");
    for (k, (other, same)) in (1..).zip(elements) {
        assert!(Arc::ptr_eq(pieces, same));
        let next = |(operand, bit): &(&'static str, u32)| (*operand, bit + 16 * k);
        let support: Vec<_> = first.iter().map(next).collect();
        assert_eq!(support, *other);
    }
    let all = (0..16).map(|v| {
        Some(Brought::Element {
            data: v / 8,
            at: v % 8,
        })
    });
    assert_eq!(pieces.by_way, all.collect::<Vec<_>>());
}
