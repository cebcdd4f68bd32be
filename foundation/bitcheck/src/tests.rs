//! Words against the interpreter, on every input of small widths; refutations, right and wrong.

use crate::circuit::{Circuit, Cone, Lit};
use crate::refutation::is_refuted;
use crate::words::Words;
use semantics::bits::Bits;
use semantics::op::{Op, OpCode, Smt};
use semantics::sort::Sort;
use semantics::table::OPERATORS;
use semantics::term::Term;
use semantics::value::Value;

/// The constants of a sort.
fn all_of(sort: Sort) -> Vec<(Term, Value)> {
    match sort {
        Sort::Bool => [false, true]
            .map(|p| (Term::bool(p), Value::Bool(p)))
            .to_vec(),
        Sort::Bv(w) => (0..1u64 << w)
            .map(|n| Bits::from_u64(w, n))
            .map(|bits| (Term::bits(bits.clone()), Value::Bv(bits)))
            .collect(),
        Sort::Int => (0..5).map(|n| (Term::int(n), Value::Int(n))).collect(),
        Sort::Mem => Vec::new(),
    }
}

/// Every way to pick one of each.
fn choices(of: &[Vec<(Term, Value)>]) -> Vec<Vec<(Term, Value)>> {
    of.iter().fold(vec![Vec::new()], |picked, choices| {
        let more = |one: &Vec<(Term, Value)>| {
            let longer = |c: &(Term, Value)| [one.clone(), vec![c.clone()]].concat();
            choices.iter().map(longer).collect::<Vec<_>>()
        };
        picked.iter().flat_map(more).collect()
    })
}

/// How many applications of an operator to constants of these sorts were compared.
fn compare(op: Op, sorts: &[Sort]) -> usize {
    let sort = op.sort(sorts).ok().filter(|&sort| sort != Sort::Int);
    let Some(sort) = sort else { return 0 };
    let of: Vec<Vec<(Term, Value)>> = sorts.iter().map(|&s| all_of(s)).collect();
    let inputs = choices(&of);
    for input in &inputs {
        let (terms, values): (Vec<Term>, Vec<Value>) = input.iter().cloned().unzip();
        let application = Term::raw_app(op, &terms).expect("the sorts were asked for");
        let (result, width) = match op.eval(&values) {
            Value::Bv(bits) => (Term::bits(bits), sort.width().unwrap_or(1)),
            Value::Bool(truth) => (Term::bool(truth), 1),
            other => panic!("{op} gave {other:?}"),
        };
        let differ = Words::default().differ(application, result, 0, width);
        assert_eq!(differ, Ok(Lit::FALSE), "{application} is {result}");
    }
    inputs.len()
}

#[test]
fn every_operator_is_the_interpreters_on_every_input() {
    let floats = |row: &str| row.starts_with('f');
    let widths = [1, 2, 3, 4].map(Sort::Bv);
    for row in OPERATORS.iter().filter(|row| !floats(row.name)) {
        let is_open = matches!(row.smt, Smt::Uninterpreted) || row.code == OpCode::GfInverse;
        let of_indices = row.name.starts_with('i') && row.arity == Some(2) && row.name != "insert";
        let elsewhere = [
            OpCode::IntToBv,
            OpCode::BvToInt,
            OpCode::Read,
            OpCode::Write,
        ];
        if is_open || of_indices || elsewhere.contains(&row.code) {
            continue;
        }
        let mut compared = 0;
        for parameter in 0..=6 {
            let op = Op::with(row.code, parameter);
            if parameter > 0 && row.params.is_empty() {
                break;
            }
            let mut sorts = widths.to_vec();
            sorts.extend([Sort::Bool, Sort::Int]);
            for &x in sorts.iter().filter(|&&x| x != Sort::Int) {
                compared += compare(op, &[x]);
                for &y in &sorts {
                    compared += compare(op, &[x, y]);
                    let third = if row.code == OpCode::Ite {
                        y
                    } else {
                        Sort::Bv(2)
                    };
                    compared += compare(op, &[x, y, third]);
                }
            }
        }
        assert!(compared >= 2, "{} was compared {compared} times", row.name);
    }
}

/// Four clauses that cannot all be true, and the step that shows it.
fn contradiction() -> (Cone, Vec<Lit>) {
    let l = |k, negated| Lit::new(k, negated);
    let (x, y) = (l(1, false), l(2, false));
    let all = vec![vec![x, y], vec![x, !y], vec![!x, y], vec![!x, !y]];
    let cone = Cone {
        variables: 3,
        clauses: all,
    };
    (cone, vec![x])
}

#[test]
fn a_refutation_is_checked_step_by_step() {
    let (cone, step) = contradiction();
    assert!(is_refuted(&cone, std::slice::from_ref(&step)));
    assert!(!is_refuted(&cone, &[]), "nothing follows at once");
    let mut fewer = cone.clone();
    fewer.clauses.pop();
    assert!(
        !is_refuted(&fewer, std::slice::from_ref(&step)),
        "these can all be true"
    );
    assert!(
        !is_refuted(&fewer, &[vec![]]),
        "the empty clause is not believed"
    );
    let unknown = vec![Lit::new(7, false)];
    assert!(
        !is_refuted(&cone, &[unknown, step]),
        "of a variable that is not there"
    );
}

#[test]
fn gates_are_what_their_clauses_say() {
    let mut circuit = Circuit::default();
    let (x, y) = (circuit.input(), circuit.input());
    // x xor y = (x or y) and not (x and y), and one that it is not.
    let (sum, any, both) = (circuit.xor(x, y), circuit.or(x, y), circuit.and(x, y));
    let other = circuit.and(any, !both);
    let differ = circuit.xor(sum, other);
    let wrong = circuit.xor(sum, any);
    // By cases of two variables, whatever they are.
    let by_cases = |root: Lit| {
        let cone = circuit.cone(root);
        let variables = || (1..cone.variables).map(|k| Lit::new(k, false));
        let mut pairs = variables().flat_map(|p| variables().map(move |q| (p, q)));
        pairs.any(|(p, q)| {
            let cases = [vec![p, q], vec![p, !q], vec![p], vec![!p, q], vec![!p]];
            is_refuted(&cone, &cases)
        })
    };
    assert!(by_cases(differ), "four cases show it");
    assert!(!by_cases(!differ));
    assert!(!by_cases(wrong), "both may be true");
}

#[test]
fn what_is_not_known_is_a_function() {
    let (x, y) = (Term::var("x", Sort::Bv(32)), Term::var("y", Sort::Bv(32)));
    let sum = |x, y| {
        let op = Op::with2(OpCode::FAdd, 2, 0);
        Term::raw_app(op, &[x, y]).expect("both are floats")
    };
    let mut words = Words::default();
    assert_eq!(words.differ(sum(x, y), sum(x, y), 0, 32), Ok(Lit::FALSE));
    assert_ne!(words.differ(sum(x, y), sum(y, x), 0, 32), Ok(Lit::FALSE));
}
