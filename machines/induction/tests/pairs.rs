//! Random programs of loops, in pairs: what is said of them beside what they do.
//!
//! In: nests of loops that move and add bytes between arrays and cells, and the same changed a little,
//! so that it does the same or not. Out: a program that is executed on terms reads only what was written,
//! and programs that are equal leave the same for data drawn by lot. `ISAFORGE_PAIRS` draws as many.

#[path = "pairs/change.rs"]
mod change;
#[path = "pairs/products.rs"]
mod products;
#[path = "pairs/program.rs"]
mod program;

use induction::engine::Engine;
use induction::equal::{Memory, equal};
use induction::value::Leaves;
use program::{At, Fault, How, Node, OUT, Program, Rounds, arrays};
use semantics::random::Random;
use smt::config::Config;
use smt::prover::Prover;

fn drawn() -> u64 {
    let text = std::env::var("ISAFORGE_PAIRS").ok();
    text.and_then(|t| t.parse().ok()).unwrap_or(500)
}

/// What a program leaves, if that is known; if it is, no run of it meets a fault.
fn left(program: &Program, leaves: &mut Leaves, what: &str) -> Option<Memory> {
    stepped(program, leaves, what, false)
}

/// The same, where loops of which it is not known what they leave may be executed round by round.
fn stepped(program: &Program, leaves: &mut Leaves, what: &str, stepping: bool) -> Option<Memory> {
    let mut engine = Engine::new(leaves, arrays(), 0, 1 << 16).stepping(stepping);
    let ran = program.execute(&mut engine);
    let memory = engine.memory();
    ran.ok()?;
    let fault = program.run(&mut Random::new(1)).err();
    assert!(
        fault.is_none(),
        "{what} is executed, and meets {fault:?}:\n{program}"
    );
    Some(memory)
}

#[test]
fn programs_that_are_proved_equal_do_the_same() {
    let prover = Prover::new(Config::default());
    let (mut faults, mut known, mut proved, mut missed) = (0, 0, 0, 0);
    for seed in 0..drawn() {
        let mut random = Random::new(seed);
        let first = Program::draw(&mut random);
        let second = change::changed(&first, &mut random);
        match first.run(&mut Random::new(1)) {
            Err(Fault::Unwritten | Fault::Outside) => faults += 1,
            Ok(_) => known += 1,
        }
        let mut leaves = Leaves::default();
        let name = format!("program {seed}");
        let stepping = seed % 2 == 1;
        let Some(wanted) = stepped(&first, &mut leaves, &name, stepping) else {
            continue;
        };
        let Some(found) = stepped(&second, &mut leaves, &name, stepping) else {
            continue;
        };
        let proof = equal(&mut leaves, (&wanted, &found), &[OUT], &prover).is_ok();
        match (proof, run_alike(&first, &second)) {
            (true, true) => proved += 1,
            (true, false) => panic!("{name} is proved to be another:\n{first}\nand\n{second}"),
            (false, true) => missed += 1,
            (false, false) => {}
        }
    }
    eprintln!(
        "{faults} with faults, {known} without, {proved} pairs proved, {missed} alike and not"
    );
    // Much is decided, and not just refused.
    assert!(proved * 4 > drawn(), "{proved} of {}", drawn());
    assert!(faults * 20 > drawn(), "{faults} of {}", drawn());
}

/// Whether two programs leave the same, of some data.
fn run_alike(first: &Program, second: &Program) -> bool {
    (0..3).all(|data| {
        let of = |p: &Program| p.run(&mut Random::new(data));
        of(first) == of(second)
    })
}

#[test]
fn products_of_products_are_proved_and_nothing_else_is() {
    let prover = Prover::new(Config::default());
    let draws = drawn().min(2000) / 4;
    let (mut proved, mut missed, mut other) = (0, 0, 0);
    for seed in 0..draws {
        let mut random = Random::new(seed);
        let first = products::draw(&mut random);
        let mut second = change::changed(&first, &mut random);
        if seed % 2 == 1 {
            second = change::changed(&second, &mut random);
        }
        let mut leaves = Leaves::default();
        let name = format!("products {seed}");
        let wanted = left(&first, &mut leaves, &name).expect("a product of a product is known");
        let Some(found) = left(&second, &mut leaves, &name) else {
            continue;
        };
        let proof = equal(&mut leaves, (&wanted, &found), &[OUT], &prover).is_ok();
        match (proof, run_alike(&first, &second)) {
            (true, true) => proved += 1,
            (true, false) => panic!("{name} is proved to be another:\n{first}\nand\n{second}"),
            (false, true) => missed += 1,
            (false, false) => other += 1,
        }
    }
    eprintln!("{proved} of {draws} proved, {missed} alike and not, {other} unlike");
    assert!(proved * 3 > draws && missed * 10 < proved && other > 0);
}

/// A byte of a space, moved by the first variable.
fn byte(space: usize, constant: i64, step: i64) -> At {
    let factors = match step {
        0 => Vec::new(),
        _ => vec![(0, step)],
    };
    At {
        space,
        constant,
        factors,
    }
}

#[test]
fn a_sum_does_not_go_on_in_another_array() {
    let adds = |rounds| {
        let parts = vec![byte(0, 1, 1), byte(0, 2, 1), byte(1, 3, 0)];
        let body = vec![Node::Set(byte(1, 3, 0), How::Sum, parts)];
        Program {
            body: vec![Node::Loop(0, Rounds::of(rounds), body)],
            vars: 1,
        }
    };
    let prover = Prover::new(Config::default());
    for (other, same) in [(4, true), (3, false), (5, false)] {
        let mut leaves = Leaves::default();
        let wanted = left(&adds(4), &mut leaves, "four").expect("it is a sum");
        let found = left(&adds(other), &mut leaves, "the other").expect("it is a sum");
        let equal = equal(&mut leaves, (&wanted, &found), &[OUT], &prover);
        assert_eq!(equal.is_ok(), same, "{other}: {equal:?}");
    }
}

#[test]
fn loops_that_run_as_others_say_are_proved_at_any_size() {
    // for v0 in 0..n { for v1 in 0..v0 + 1 { out[31 * v0 + v1] = in[v0 + v1] + in[v1]; } }
    let triangle = |more, by| {
        let at = |space, outer| At {
            space,
            constant: 0,
            factors: [(0, outer), (1, 1)]
                .into_iter()
                .filter(|f| f.1 != 0)
                .collect(),
        };
        let set = Node::Set(at(1, 31), How::Sum, vec![at(0, 1), at(0, by)]);
        let inner = Rounds {
            constant: more,
            factors: vec![(0, 1)],
        };
        let body = vec![Node::Loop(1, inner, vec![set])];
        Program {
            body: vec![Node::Loop(0, Rounds::of(31), body)],
            vars: 2,
        }
    };
    let prover = Prover::new(Config::default());
    for (more, by, same) in [(1, 0, true), (0, 0, false), (2, 0, false), (1, 1, false)] {
        let mut leaves = Leaves::default();
        let wanted = left(&triangle(1, 0), &mut leaves, "one").expect("it is known");
        let found = left(&triangle(more, by), &mut leaves, "the other").expect("it is known");
        let equal = equal(&mut leaves, (&wanted, &found), &[OUT], &prover);
        assert_eq!(equal.is_ok(), same, "{more} {by}: {equal:?}");
    }
}

#[test]
fn recurrences_are_proved_round_by_round() {
    // for v0 in 0..rounds { out[v0 + 1] = out[v0] + out[v0] + in[v0]; }, with another step.
    let recurrence = |step| {
        let parts = vec![byte(1, 0, 1), byte(1, 0, 1), byte(0, 0, step)];
        let set = Node::Set(byte(1, 1, 1), How::Sum, parts);
        Program {
            body: vec![
                Node::Set(byte(1, 0, 0), How::Sum, vec![byte(0, 0, 0)]),
                Node::Loop(0, Rounds::of(9), vec![set]),
            ],
            vars: 1,
        }
    };
    let prover = Prover::new(Config::default());
    for (step, stepping, same) in [(1, true, true), (2, true, false), (1, false, false)] {
        let mut leaves = Leaves::default();
        let wanted = stepped(&recurrence(1), &mut leaves, "one", stepping).expect("it is known");
        let found = stepped(&recurrence(step), &mut leaves, "other", stepping);
        let found = found.expect("it is known");
        let equal = equal(&mut leaves, (&wanted, &found), &[OUT], &prover);
        assert_eq!(equal.is_ok(), same, "{step} {stepping}: {equal:?}");
    }
}

#[test]
fn what_doubles_with_each_round_is_refused_before_it_is_too_large() {
    let sum = |k| {
        Node::Set(
            byte(1, k + 2, 0),
            How::Sum,
            vec![byte(1, k, 0), byte(1, k + 1, 0)],
        )
    };
    let program = Program {
        body: (0..30).map(sum).collect(),
        vars: 0,
    };
    let mut leaves = Leaves::default();
    let executed = program.execute(&mut Engine::new(&mut leaves, arrays(), 0, 1 << 16));
    let reason = executed.map_err(|stop| stop.reason());
    assert_eq!(reason, Err("a value is too large a term".to_owned()));
}
