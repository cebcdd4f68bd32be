//! The two engines and the interpreter must agree on every operator of the table.

use crate::blast::{self, Found, Limits};
use crate::config::SolverConfig;
use crate::sample::evaluate;
use crate::smtlib::{External, script};
use crate::verdict::{Model, Reason};
use semantics::build as b;
use semantics::op::{Op, OpInfo, Smt};
use semantics::random::Random;
use semantics::sort::Sort;
use semantics::table::OPERATORS;
use semantics::term::Term;
use semantics::value::Value;
use std::time::Duration;
use test_support::skip_part;
use toolchain::find;

/// Applications tried per operator.
const ROUNDS: u64 = 12;

/// The SMT solver that the environment offers; without one, a part of the test is skipped.
fn external() -> Option<External> {
    match find::z3() {
        Ok(program) => {
            let config = SolverConfig {
                program,
                ..SolverConfig::named("z3")
            };
            Some(External::new(config, None).0)
        }
        Err(reason) => {
            skip_part!("{reason}");
            None
        }
    }
}

/// An application of an operator to variables, with values for them.
struct Example {
    term: Term,
    inputs: Vec<(Term, Value)>,
}

fn sorts(info: &OpInfo, random: &mut Random) -> (Op, Vec<Sort>) {
    let widths = [1, 2, 3, 7, 8, 12, 16];
    loop {
        let mut op = Op::new(info.code);
        for k in 0..info.params.len() {
            op.params[k] = match info.params[k] {
                "polynomial" => 0x11b,
                _ => 1 + random.below(16) as u32,
            };
        }
        let arity = info.arity.unwrap_or(1 + random.below(3) as usize);
        let width = widths[random.below(7) as usize];
        let mut pick = || match random.below(12) {
            0 => Sort::Bool,
            1 => Sort::Int,
            2 => Sort::Mem,
            3 => Sort::Bv(64),
            4 => Sort::Bv(8 * (1 + random.below(3) as u32)),
            5 | 6 => Sort::Bv(widths[random.below(7) as usize]),
            _ => Sort::Bv(width),
        };
        let args: Vec<Sort> = (0..arity).map(|_| pick()).collect();
        if matches!(op.sort(&args), Ok(sort) if sort.width().is_none_or(|w| w <= 64)) {
            return (op, args);
        }
    }
}

/// The memory arguments are 20 known bytes at address 0; addresses lie below 4.
fn example(info: &OpInfo, random: &mut Random) -> Example {
    let (op, sorts) = sorts(info, random);
    let mut inputs = Vec::new();
    let mut fresh = |sort: Sort, value: Value| {
        let variable = Term::var(&format!("a{}", inputs.len()), sort);
        inputs.push((variable, value));
        variable
    };
    let addressed = sorts.contains(&Sort::Mem);
    let mut args = Vec::new();
    for &sort in &sorts {
        args.push(match sort {
            Sort::Bool => fresh(sort, Value::Bool(random.below(2) == 1)),
            Sort::Int => {
                let value = random.below(40) as i64 - 8;
                if info.name == "extract" {
                    Term::int(value)
                } else {
                    fresh(sort, Value::Int(value))
                }
            }
            Sort::Mem => {
                let bytes = fresh(Sort::Bv(160), Value::Bv(random.bits(160)));
                b::write(Term::var("memory", Sort::Mem), Term::bv(64, 0), bytes)
            }
            Sort::Bv(64) if addressed => {
                let at = semantics::bits::Bits::from_u64(64, random.below(4));
                fresh(sort, Value::Bv(at))
            }
            Sort::Bv(width) => {
                let small = semantics::bits::Bits::from_u64(width, random.below(20));
                let value = if random.below(2) == 0 {
                    small
                } else {
                    random.bits(width)
                };
                fresh(sort, Value::Bv(value))
            }
        });
    }
    let mut term = Term::raw_app(op, &args).expect("the sorts were accepted");
    if term.sort() == Sort::Mem {
        term = b::read(term, Term::bv(64, i128::from(random.below(4))), 2);
    }
    Example { term, inputs }
}

/// The constraints that fix the inputs, and then that the term has (not) this value.
fn constraints(example: &Example, expected: &Value, same: bool) -> Vec<Term> {
    let constant = |v: &Value| b::from_value(v).expect("inputs are not memories");
    let equal = |t: Term, v: &Value| {
        let pair = [t, constant(v)];
        Term::raw_app(Op::new(semantics::op::OpCode::Eq), &pair).expect("both have one sort")
    };
    let mut all: Vec<Term> = example.inputs.iter().map(|(t, v)| equal(*t, v)).collect();
    let result = equal(example.term, expected);
    all.push(if same { result } else { b::negate(result) });
    all
}

#[test]
fn engines_agree_on_every_operator() {
    let solver = external();
    let mut random = Random::new(3);
    let limits = Limits {
        conflicts: 100_000,
        time: Duration::from_secs(20),
    };
    let mut asked = 0;
    for info in OPERATORS
        .iter()
        .filter(|i| !matches!(i.smt, Smt::Uninterpreted) || i.name.starts_with('i'))
    {
        for round in 0..ROUNDS {
            let example = example(info, &mut random);
            let model: Model = example
                .inputs
                .iter()
                .map(|(t, v)| (t.as_var().expect("a variable").to_owned(), v.clone()))
                .collect();
            let expected = evaluate(&[example.term], &model)
                .expect("it can be evaluated")
                .remove(0);
            let (yes, no) = (
                constraints(&example, &expected, true),
                constraints(&example, &expected, false),
            );
            let log = |found: &Found| {
                format!(
                    "{}: {} is {expected:?} on {model:?}: {found:?}",
                    info.name, example.term
                )
            };
            let found = blast::satisfy(&yes, limits).0;
            assert!(
                matches!(found, Found::Model(_)),
                "embedded, {}",
                log(&found)
            );
            let found = blast::satisfy(&no, limits).0;
            assert_eq!(found, Found::Nothing, "embedded, {}", log(&found));
            let Some(solver) = solver.as_ref().filter(|_| round < 4) else {
                continue;
            };
            match (script(&yes), script(&no)) {
                (Ok(yes), Ok(no)) => {
                    let found = solver.ask(&yes);
                    assert!(matches!(found, Found::Model(_)), "solver, {}", log(&found));
                    assert_eq!(solver.ask(&no), Found::Nothing, "solver, {}", log(&found));
                    asked += 1;
                }
                (Err(Reason::Unsupported(what)), _) => {
                    assert_eq!(what, "index arithmetic", "{}", info.name)
                }
                (other, _) => panic!("{}: {other:?}", info.name),
            }
        }
    }
    assert!(
        solver.is_none() || asked > 100,
        "the solver was asked {asked} times"
    );
}

#[test]
fn provers_and_answers_cross_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<crate::prover::Prover>();
    shared::<crate::verdict::Verdict>();
    shared::<crate::config::Config>();
}

/// Memories written in two orders and in one wide piece; floats as unknown functions.
mod memories_and_floats {
    use crate::config::Config;
    use crate::prover::Prover;
    use crate::verdict::Verdict;
    use semantics::build as b;
    use semantics::op::{Op, OpCode};
    use semantics::sort::Sort;
    use semantics::term::Term;

    fn bits(name: &str, width: u32) -> Term {
        Term::var(name, Sort::Bv(width))
    }

    /// A masked store of 16 elements in some order, at offsets that `place` gives.
    fn store(order: impl Iterator<Item = u32>, place: impl Fn(u32) -> Term) -> Term {
        let (mask, data) = (bits("k", 16), bits("x", 512));
        order.fold(Term::var("mem", Sort::Mem), |memory, j| {
            let element = b::extract(data, 32 * j, 32);
            let address = b::add(bits("p", 64), place(j));
            let written = b::write(memory, address, element);
            b::ite(b::bit(mask, j), written, memory)
        })
    }

    fn ask(x: Term, y: Term) -> Verdict {
        Prover::new(Config::default()).prove_equal(x, y)
    }

    #[test]
    fn disjoint_writes_may_change_places() {
        let place = |j: u32| Term::bv(64, i128::from(4 * j));
        let (up, down) = (store(0..16, place), store((0..16).rev(), place));
        assert!(matches!(ask(up, down), Verdict::Proved(_)));
        let fewer = store(0..15, place);
        assert!(matches!(ask(up, fewer), Verdict::Refuted(_)));
    }

    #[test]
    fn overlapping_writes_may_not() {
        let place = |j: u32| b::sext(b::extract(bits("i", 512), 32 * j, 32), 64);
        let (up, down) = (store(0..16, place), store((0..16).rev(), place));
        assert!(matches!(ask(up, down), Verdict::Refuted(_)));
    }

    #[test]
    fn a_wide_write_is_two_narrow_ones() {
        let (memory, p) = (Term::var("mem", Sort::Mem), bits("p", 64));
        let (low, high) = (bits("a", 32), bits("c", 32));
        let up = b::add(p, Term::bv(64, 4));
        let narrow = b::write(b::write(memory, p, low), up, high);
        let wide = b::write(memory, p, b::concat(&[high, low]));
        assert!(matches!(ask(narrow, wide), Verdict::Proved(_)));
    }

    #[test]
    fn sums_of_floats_do_not_commute() {
        let sum = |x, y| b::app(Op::with2(OpCode::FAdd, 2, 0), &[x, y]);
        let (x, y) = (bits("a", 32), bits("c", 32));
        let Verdict::Refuted(model) = ask(sum(x, y), sum(y, x)) else {
            panic!("which NaN is returned depends on the order");
        };
        assert_eq!(model.len(), 2);
    }

    #[test]
    fn an_approximation_is_not_a_quotient() {
        let x = bits("x", 32);
        let one = Term::bv(32, 0x3f80_0000);
        let quotient = b::app(Op::with2(OpCode::FDiv, 2, 0), &[one, x]);
        let approximate = b::app(Op::with3(OpCode::FRcp, 2, 1, 14), &[x]);
        assert!(!matches!(ask(quotient, approximate), Verdict::Proved(_)));
        let coarser = b::app(Op::with3(OpCode::FRcp, 2, 3, 13), &[x]);
        assert!(!matches!(ask(approximate, coarser), Verdict::Proved(_)));
    }
}
