//! Claims as they stand: what holds, what does not, what nobody answers.

use certify::ask::{Asker, Claim, Outcome};
use certify::bits::Prover;
use certify::chain::Chains;
use certify::many::{NOT_ASKED, Plan, ask_all};
use certify::session::SolverProgram;
use checker::replay::Broken;
use semantics::build as b;
use semantics::op::{Op, OpCode};
use semantics::sort::Sort;
use semantics::term::Term;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use test_support::need;
use toolchain::find;

fn z3(path: PathBuf) -> SolverProgram {
    SolverProgram {
        path,
        ..SolverProgram::named("z3")
    }
}

fn asker(path: PathBuf) -> Asker {
    Asker::new(z3(path), Duration::from_secs(10))
}

fn claim(a: Term, b: Term, element: u32) -> Claim {
    Claim {
        a,
        b,
        element,
        live: Vec::new(),
    }
}

/// Four sums of elements; the order of what is added as told.
fn sums(swapped: bool) -> Term {
    let element = |name: &str| {
        let at = b::int_mul(Term::index(), Term::int(8));
        b::extract_at(Term::var(name, Sort::Bv(32)), at, 8)
    };
    let [x, y] = match swapped {
        false => [element("x"), element("y")],
        true => [element("y"), element("x")],
    };
    let sum = Term::raw_app(Op::new(OpCode::BvAdd), &[x, y]).expect("both are bytes");
    Term::raw_map(4, sum).expect("four bytes fit")
}

#[test]
fn what_is_rolled_is_asked_as_it_stands() {
    let mut asker = asker(need!(find::z3()));
    let outcome = asker.ask(&claim(sums(false), sums(true), 8));
    let holds = Outcome::Holds {
        elements: 4,
        questions: 1,
    };
    assert_eq!(outcome, holds);
}

#[test]
fn what_differs_is_shown_by_an_input_that_was_run() {
    let mut asker = asker(need!(find::z3()));
    let (x, y) = (Term::var("x", Sort::Bv(32)), Term::var("y", Sort::Bv(32)));
    let outcome = asker.ask(&claim(sums(false), b::add(x, y), 8));
    let Outcome::Fails(input) = outcome else {
        panic!("{outcome:?}")
    };
    assert!(
        input.contains_key("x") && input.contains_key("y"),
        "{input:?}"
    );
    // A part that does not matter may differ.
    let low = Claim {
        live: vec![(0, 8)],
        ..claim(sums(false), b::add(x, y), 8)
    };
    assert!(matches!(asker.ask(&low), Outcome::Holds { .. }));
}

#[test]
fn floats_are_functions_of_which_nothing_is_known() {
    let mut asker = asker(need!(find::z3()));
    let (x, y) = (Term::var("x", Sort::Bv(32)), Term::var("y", Sort::Bv(32)));
    let sum = |x, y| {
        let op = Op::with2(OpCode::FAdd, 2, 0);
        Term::raw_app(op, &[x, y]).expect("both are floats")
    };
    assert!(matches!(
        asker.ask(&claim(sum(x, y), sum(x, y), 32)),
        Outcome::Holds { .. }
    ));
    // Not equal of two NaN: it may not be said to hold, and no made-up function refutes it.
    let swapped = asker.ask(&claim(sum(x, y), sum(y, x), 32));
    assert!(!matches!(swapped, Outcome::Holds { .. }), "{swapped:?}");
}

#[test]
fn stores_are_equal_where_every_byte_is() {
    let mut asker = asker(need!(find::z3()));
    let (m, at) = (Term::var("m", Sort::Mem), Term::var("p", Sort::Bv(64)));
    let x = Term::var("x", Sort::Bv(16));
    let bytes = [b::extract(x, 0, 8), b::extract(x, 8, 8)];
    let apart = |first: usize| {
        let next = b::add(at, Term::bv(64, 1 - first as i128));
        let here = b::add(at, Term::bv(64, first as i128));
        b::write(b::write(m, here, bytes[first]), next, bytes[1 - first])
    };
    let whole = b::write(m, at, x);
    for first in [0, 1] {
        let outcome = asker.ask(&claim(whole, apart(first), 1));
        assert!(matches!(outcome, Outcome::Holds { .. }), "{outcome:?}");
    }
}

#[test]
fn a_solver_that_does_not_answer_answers_nothing() {
    let program = SolverProgram {
        path: PathBuf::from("/bin/cat"),
        arguments: Vec::new(),
        ..SolverProgram::named("z3")
    };
    let begun = Instant::now();
    let mut asker = Asker::new(program, Duration::from_millis(100));
    let outcome = asker.ask(&claim(sums(false), sums(true), 8));
    assert!(matches!(outcome, Outcome::Open { .. }), "{outcome:?}");
    assert!(begun.elapsed() < Duration::from_secs(20));
}

#[test]
fn what_comes_after_the_end_is_not_asked() {
    let plan = Plan {
        program: z3(need!(find::z3())),
        limit: Duration::from_secs(10),
        total: Some(Duration::ZERO),
        threads: 1,
        chains: false,
        conflicts: 0,
    };
    let found = ask_all(
        &[vec![claim(sums(false), sums(true), 8)]],
        &plan,
        &|_, _| (),
    );
    let [Outcome::Open { why, .. }] = &found[0].outcomes[..] else {
        panic!("{found:?}")
    };
    assert_eq!(why, NOT_ASKED);
}

/// Products of sums, multiplied out in two ways.
#[test]
fn a_chain_leads_to_one_term_by_steps_that_hold() {
    let program = z3(need!(find::z3()));
    let x = Term::var("x", Sort::Bv(32));
    let y = Term::var("y", Sort::Bv(32));
    let z = Term::var("z", Sort::Bv(32));
    let two = |code, x: Term, y: Term| {
        Term::raw_app(Op::new(code), &[x, y]).expect("both have one width")
    };
    let (add, mul) = (OpCode::BvAdd, OpCode::BvMul);
    let whole = two(mul, two(mul, two(add, x, y), two(add, x, z)), y);
    let apart = two(
        add,
        two(mul, two(mul, x, two(add, x, z)), y),
        two(mul, y, two(mul, y, two(add, z, x))),
    );
    let mut asker = Asker::new(program, Duration::from_secs(10));
    let mut chains = Chains::default();
    let steps = chains.ask(&mut asker, &claim(whole, apart, 32));
    assert!(matches!(steps, Ok(2..)), "{steps:?}");
    // Its steps hold, and do not lead to what is not so.
    let wrong = claim(whole, two(add, apart, y), 32);
    assert_eq!(chains.ask(&mut asker, &wrong), Err(Broken::Apart));
    // Nobody vouches for a step: nothing is equal.
    let mut silent = Asker::new(SolverProgram::named("/bin/true"), Duration::from_secs(1));
    let refused = Chains::default().ask(&mut silent, &claim(whole, apart, 32));
    assert!(matches!(refused, Err(Broken::Step(_))), "{refused:?}");
}

/// Halves of sums, and what they are by shifts: nothing that one circuit shows.
#[test]
fn what_no_solver_is_asked_is_shown_by_a_proof_that_is_checked() {
    let (x, y) = (Term::var("x", Sort::Bv(32)), Term::var("y", Sort::Bv(32)));
    let one = Term::bv(32, 1);
    let two = |code, x: Term, y: Term| {
        Term::raw_app(Op::new(code), &[x, y]).expect("both have one width")
    };
    let halves = two(
        OpCode::BvAdd,
        two(OpCode::BvAnd, x, y),
        two(OpCode::BvLshr, two(OpCode::BvXor, x, y), one),
    );
    let wide = |t| Term::raw_app(Op::with(OpCode::Zext, 33), &[t]).expect("one bit more");
    let sum = two(OpCode::BvAdd, wide(x), wide(y));
    let half = Term::raw_app(Op::with(OpCode::Extract, 32), &[sum, Term::int(1)]);
    let half = half.expect("the upper bits");
    let shown = Prover::new(20_000).show(&claim(halves, half, 32));
    assert!(shown.is_all() && shown.proofs == 1, "{shown:?}");
    assert_eq!(Prover::new(1).show(&claim(halves, half, 32)).elements, 0);
    let wrong = claim(two(OpCode::BvAdd, halves, one), half, 32);
    assert_eq!(Prover::new(20_000).show(&wrong).elements, 0);
    // A solver that says nothing does not matter then.
    let plan = Plan {
        program: SolverProgram::named("/bin/true"),
        limit: Duration::from_secs(1),
        total: None,
        threads: 1,
        chains: false,
        conflicts: 20_000,
    };
    let found = ask_all(
        &[vec![claim(halves, half, 32)], vec![wrong]],
        &plan,
        &|_, _| (),
    );
    assert_eq!(found[0].outcomes, [Outcome::Shown { elements: 1 }]);
    assert!(!found[1].outcomes[0].holds());
}

#[test]
fn functions_of_equal_bits_are_equal_and_of_memories_only_where_they_are_one() {
    let (x, y, z) = (
        Term::var("x", Sort::Bv(16)),
        Term::var("y", Sort::Bv(16)),
        Term::var("z", Sort::Bv(16)),
    );
    let p = Term::var("p", Sort::Bool);
    let app = |op, args: &[Term]| Term::raw_app(op, args).expect("the sorts are right");
    let sum = |x, y| app(Op::with2(OpCode::FAdd, 0, 0), &[x, y]);
    let choice = |x, y| app(Op::new(OpCode::Ite), &[p, x, y]);
    let mut prover = Prover::new(10_000);
    let mut shown = |a, b| prover.show(&claim(a, b, 16)).is_all();
    assert!(shown(sum(choice(x, y), z), choice(sum(x, z), sum(y, z))));
    assert!(!shown(sum(choice(x, y), z), choice(sum(y, z), sum(x, z))));
    assert!(!shown(sum(x, z), sum(y, z)));
    let (m, n) = (Term::var("m", Sort::Mem), Term::var("n", Sort::Mem));
    let at = Term::var("at", Sort::Bv(64));
    let read = |m| app(Op::with(OpCode::Read, 2), &[m, at]);
    assert!(!shown(read(m), read(n)));
    let equal = app(Op::new(OpCode::Eq), &[m, n]);
    let guarded = |a, b| app(Op::new(OpCode::Ite), &[equal, a, b]);
    assert!(!shown(guarded(read(m), x), guarded(read(n), y)));
}

fn two(code: OpCode, x: Term, y: Term) -> Term {
    Term::raw_app(Op::new(code), &[x, y]).expect("words of one width")
}

fn to(code: OpCode, width: u32, x: Term) -> Term {
    Term::raw_app(Op::with(code, width), &[x]).expect("a word")
}

/// A rounded product of words of sixteen bits with as many behind the point as fit, as a kernel
/// has it: in whole numbers, clamped.
fn rounded_as_written(x: Term, y: Term) -> Term {
    let [x, y] = [x, y].map(|t| to(OpCode::Sext, 48, t));
    let half = Term::bv(48, 0x4000);
    let sum = two(OpCode::BvAdd, two(OpCode::BvMul, x, y), half);
    to(
        OpCode::SatSS,
        16,
        two(OpCode::BvAshr, sum, Term::bv(48, 15)),
    )
}

/// The same as an instruction has it, which wraps around for one pair of factors; `mended` where
/// it does.
fn rounded_by_instruction(x: Term, y: Term, mended: bool) -> Term {
    let [x, y] = [x, y].map(|t| to(OpCode::Sext, 32, t));
    let high = two(OpCode::BvAshr, two(OpCode::BvMul, x, y), Term::bv(32, 14));
    let sum = two(OpCode::BvAdd, high, Term::bv(32, 1));
    let wrapped = Term::raw_app(Op::with(OpCode::Extract, 16), &[sum, Term::int(1)]);
    let wrapped = wrapped.expect("bits of a word");
    let least = two(OpCode::Eq, wrapped, Term::bv(16, 0x8000));
    let most = Term::bv(16, 0x7fff);
    let choice = Term::raw_app(Op::new(OpCode::Ite), &[least, most, wrapped]);
    if mended {
        choice.expect("words of one width")
    } else {
        wrapped
    }
}

#[test]
fn ranges_of_products_and_equal_parts_show_what_bits_alone_do_not() {
    let mut prover = Prover::new(1_000);
    let (x, y) = (Term::var("x", Sort::Bv(16)), Term::var("y", Sort::Bv(16)));
    let mut shown = |a, b| prover.show(&claim(a, b, 16)).is_all();
    let mended = |x, y| rounded_by_instruction(x, y, true);
    // The product is no free word of 31 bits: what the clamp is for is one value.
    assert!(shown(rounded_as_written(x, y), mended(x, y)));
    assert!(!shown(
        rounded_as_written(x, y),
        rounded_by_instruction(x, y, false)
    ));
    // It is that value for one pair of factors, as others know that it will be.
    let of_factors = |value: i128| {
        let [a, b] = [x, y].map(|t| two(OpCode::Eq, t, Term::bv(16, value)));
        let both = two(OpCode::And, a, b);
        let plain = rounded_by_instruction(x, y, false);
        let choice = [both, Term::bv(16, 0x7fff), plain];
        Term::raw_app(Op::new(OpCode::Ite), &choice).expect("words of one width")
    };
    assert!(shown(rounded_as_written(x, y), of_factors(-0x8000)));
    assert!(!shown(rounded_as_written(x, y), of_factors(-0x7fff)));
    // Products of products, of which only the inner ones make the outer ones comparable.
    let power = |by: &dyn Fn(Term, Term) -> Term| {
        let square = by(x, y);
        let cube = by(square, x);
        two(OpCode::BvAdd, by(cube, y), by(square, cube))
    };
    let written = power(&rounded_as_written);
    assert!(shown(written, power(&mended)));
    let wrong = power(&|x, y| rounded_by_instruction(x, y, false));
    assert!(!shown(written, wrong));
    let other = two(OpCode::BvAdd, power(&mended), Term::bv(16, 1));
    assert!(!shown(written, other));
    // Many lanes are no more work than one.
    let lanes = |by: &dyn Fn(Term, Term) -> Term| {
        let lane = |k: i64| {
            let part = [Term::var("v", Sort::Bv(48 * 16)), Term::int(16 * k)];
            let x = Term::raw_app(Op::with(OpCode::Extract, 16), &part).expect("a lane");
            by(by(x, y), y)
        };
        let all: Vec<Term> = (0..48).map(lane).collect();
        Term::raw_app(Op::new(OpCode::Concat), &all).expect("words")
    };
    assert!(shown(lanes(&rounded_as_written), lanes(&mended)));
}

/// Quotients of sums by products, as windows have them: one after the other, in every lane.
#[test]
fn quotients_are_shown_whatever_is_divided() {
    let mut prover = Prover::new(1_000);
    let lanes = |quotient: &dyn Fn(Term) -> Term, turned: bool| {
        let element = |name: &str, k: i64| {
            let part = [Term::var(name, Sort::Bv(8 * 16)), Term::int(16 * k)];
            Term::raw_app(Op::with(OpCode::Extract, 16), &part).expect("a lane")
        };
        let lane = |k: i64| {
            let mut all = ["a", "b", "c"].map(|name| element(name, k));
            if turned {
                all.reverse();
            }
            let sum = |x: Term, y: Term| two(OpCode::BvAdd, x, y);
            let inner = quotient(sum(sum(all[0], all[1]), all[2]));
            quotient(sum(inner, all[1]))
        };
        let all: Vec<Term> = (0..8).map(lane).collect();
        Term::raw_app(Op::new(OpCode::Concat), &all).expect("words")
    };
    let by_product = |factor: i128| {
        move |x: Term| {
            let product = two(OpCode::BvMul, to(OpCode::Zext, 32, x), Term::bv(32, factor));
            let moved = two(OpCode::BvLshr, product, Term::bv(32, 17));
            Term::raw_app(Op::with(OpCode::Extract, 16), &[moved, Term::int(0)]).expect("bits")
        }
    };
    let written = lanes(&|x| two(OpCode::BvUdiv, x, Term::bv(16, 3)), false);
    let mut shown = |made| prover.show(&claim(written, made, 16));
    let found = shown(lanes(&by_product(0xaaab), true));
    assert!(found.is_all() && found.tried < 4, "{found:?}");
    assert_eq!(shown(lanes(&by_product(0xaaaa), true)).elements, 0);
}

/// Differences of bytes times words, as written and by an instruction that saturates: what is shown
/// of the bits of one lane holds of others that have the same bits.
#[test]
fn what_is_shown_of_bits_holds_of_all_that_have_them() {
    let [x, z] = ["x", "z"].map(|name| Term::var(name, Sort::Bv(8)));
    let f = Term::var("f", Sort::Bv(16));
    let lane = |t: Term, lo: i64| {
        let twice = two(OpCode::Concat, t, t);
        Term::raw_app(Op::with(OpCode::Extract, 8), &[twice, Term::int(lo)]).expect("a lane")
    };
    let times = |t: Term| {
        two(
            OpCode::BvMul,
            to(OpCode::Sext, 32, t),
            to(OpCode::Sext, 32, f),
        )
    };
    let difference = |lo| {
        let [x, z] = [x, z].map(|t| to(OpCode::Zext, 16, lane(t, lo)));
        two(OpCode::BvSub, x, z)
    };
    let saturated = |by: i128| {
        let sides = [(x, 1), (z, by)];
        let [x, z] = sides.map(|(t, by)| {
            let by = to(OpCode::Sext, 17, Term::bv(8, by));
            two(OpCode::BvMul, to(OpCode::Zext, 17, t), by)
        });
        to(OpCode::SatSS, 16, two(OpCode::BvAdd, x, z))
    };
    // The first lane is met before what is multiplied, which is another term of the same bits.
    let both = |second: Term| {
        let first = to(OpCode::Sext, 32, difference(0));
        two(OpCode::Concat, times(second), first)
    };
    let shown = |by| {
        let claim = claim(both(difference(8)), both(saturated(by)), 32);
        Prover::new(20_000).show(&claim)
    };
    let equal = shown(0xff);
    assert!(equal.is_all() && equal.tried > 0, "{equal:?}");
    assert!(!shown(0xfe).is_all());
}

/// The same sums of other variables are not asked about again; sums of one variable are another
/// question, and what is wrong is shown by an input of its own variables.
#[test]
fn what_is_the_same_but_for_names_is_asked_once() {
    let plan = Plan {
        program: z3(need!(find::z3())),
        limit: Duration::from_secs(10),
        total: None,
        threads: 2,
        chains: false,
        conflicts: 0,
    };
    let two = |code, x: Term, y: Term| {
        Term::raw_app(Op::new(code), &[x, y]).expect("both have one width")
    };
    let var = |name: &str| Term::var(name, Sort::Bv(32));
    let sums = |x, y| claim(two(OpCode::BvAdd, x, y), two(OpCode::BvAdd, y, x), 8);
    let wrong = |x, y| claim(two(OpCode::BvSub, x, y), two(OpCode::BvSub, y, x), 8);
    let [x, y, z] = ["x", "y", "z"].map(var);
    let mut bytes = sums(y, z);
    bytes.element = 16;
    let things = [
        vec![sums(x, y)],
        vec![wrong(x, y)],
        vec![sums(z, x)],
        vec![wrong(y, z)],
        vec![sums(x, x)],
        vec![bytes],
        vec![sums(x, y), sums(y, z)],
    ];
    let found = ask_all(&things, &plan, &|_, _| ());
    let asked = |at: usize| match &found[at].outcomes[..] {
        [
            Outcome::Holds {
                elements,
                questions,
            },
        ] => Some((*elements, *questions)),
        _ => None,
    };
    assert_eq!(asked(0), Some((4, 1)));
    assert_eq!(asked(2), Some((4, 0)));
    assert_eq!(asked(4), Some((4, 1)));
    assert_eq!(asked(5), Some((2, 1)));
    assert_eq!(found[6].outcomes.len(), 2);
    for (at, names) in [(1, ["x", "y"]), (3, ["y", "z"])] {
        let [Outcome::Fails(input)] = &found[at].outcomes[..] else {
            panic!("{:?}", found[at])
        };
        assert!(input.keys().eq(names), "{input:?}");
    }
}
