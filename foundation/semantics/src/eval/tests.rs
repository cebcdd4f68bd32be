//! Row forms against the operator table, rolled against flat, batch against single.

use super::{CompiledTerms, Input};
use crate::bits::Bits;
use crate::build as b;
use crate::op::{Op, OpCode};
use crate::random::Random;
use crate::sort::Sort;
use crate::table::OPERATORS;
use crate::term::{Kind, Term};
use crate::testing::{Terms, any_value, edgy_bits, operators, random_inputs, value_of};
use crate::unroll::unroll;
use crate::value::{Memory, Value};
use std::collections::BTreeMap;

/// Argument sorts that an operator accepts, from a list of likely ones.
fn accepted_sorts(op: Op, width: u32) -> Option<Vec<Sort>> {
    let choices = [
        Sort::Bool,
        Sort::Int,
        Sort::Bv(width),
        Sort::Mem,
        Sort::Bv(64),
        Sort::Bv(8),
    ];
    let arity = op.info().arity.unwrap_or(3);
    let mut counters = vec![0usize; arity];
    loop {
        let sorts: Vec<Sort> = counters.iter().map(|&c| choices[c]).collect();
        if op.sort(&sorts).is_ok() {
            return Some(sorts);
        }
        let step = counters.iter().position(|&c| c + 1 < choices.len())?;
        counters[..step].fill(0);
        counters[step] += 1;
    }
}

#[test]
fn every_row_form_equals_the_table() {
    let mut random = Random::new(1);
    let mut checked = 0;
    for row in OPERATORS {
        for width in [1, 2, 7, 8, 16, 31, 32, 33, 63, 64, 65, 100, 128, 200] {
            for op in operators(row) {
                let Some(sorts) = accepted_sorts(op, width) else {
                    continue;
                };
                check_operator(op, &sorts, &mut random);
                checked += 1;
            }
        }
    }
    assert!(checked > 500, "only {checked} operators were checked");
}

fn check_operator(op: Op, sorts: &[Sort], random: &mut Random) {
    let inputs: Vec<Input> = sorts
        .iter()
        .enumerate()
        .map(|(k, &sort)| Input {
            name: format!("x{k}"),
            sort,
        })
        .collect();
    let vars: Vec<Term> = inputs.iter().map(|i| Term::var(&i.name, i.sort)).collect();
    let raw = Term::raw_app(op, &vars).expect("the sorts are accepted");
    let program = CompiledTerms::compile(&[raw], &inputs).expect("all variables are inputs");
    for _ in 0..40 {
        let values: Vec<Value> = sorts.iter().map(|&s| any_value(random, s)).collect();
        let expected = op.eval(&values);
        assert_eq!(
            program.run(&values),
            std::slice::from_ref(&expected),
            "{op} {values:?}"
        );
        let constants: Option<Vec<Term>> = values.iter().map(b::from_value).collect();
        if let (Some(c), Some(e)) = (constants, b::from_value(&expected)) {
            assert_eq!(b::app(op, &c), e);
        }
    }
}

/// Expansions for solvers mean the same as the concrete functions.
#[test]
fn expansions_equal_the_table() {
    let mut random = Random::new(2);
    for row in OPERATORS {
        let crate::op::Smt::Defined(expand) = row.smt else {
            continue;
        };
        for width in [1, 2, 3, 8, 16, 32, 33, 64, 100] {
            for op in operators(row) {
                if op.params()[..].iter().any(|&p| p > 64) && row.params != ["polynomial"] {
                    continue;
                }
                let Some(sorts) = accepted_sorts(op, width) else {
                    continue;
                };
                let inputs: Vec<Input> = sorts
                    .iter()
                    .enumerate()
                    .map(|(k, &sort)| Input {
                        name: format!("x{k}"),
                        sort,
                    })
                    .collect();
                let vars: Vec<Term> = inputs.iter().map(|i| Term::var(&i.name, i.sort)).collect();
                let program =
                    CompiledTerms::compile(&[expand(op.params(), &vars)], &inputs).expect("closed");
                for _ in 0..20 {
                    let values: Vec<Value> =
                        sorts.iter().map(|&s| any_value(&mut random, s)).collect();
                    assert_eq!(program.run(&values), [op.eval(&values)], "{op} {values:?}");
                }
            }
        }
    }
}

/// `pmaddwd` on 512 bits, rolled.
fn madd() -> Term {
    let (x, y) = (Term::var("a", Sort::Bv(512)), Term::var("b", Sort::Bv(512)));
    let at = |t: Term, k: i64| {
        let lo = b::int_add(b::int_mul(Term::index(), Term::int(32)), Term::int(16 * k));
        b::sext(b::extract_at(t, lo, 16), 32)
    };
    b::map(
        16,
        b::add(b::mul(at(x, 0), at(y, 0)), b::mul(at(x, 1), at(y, 1))),
    )
}

#[test]
fn multiply_add_equals_plain_arithmetic() {
    let program = CompiledTerms::of(madd());
    let mut random = Random::new(3);
    for _ in 0..50 {
        let (x, y) = (edgy_bits(&mut random, 512), edgy_bits(&mut random, 512));
        let lane = |v: &Bits, k: u32| i64::from(v.extract(16 * k, 16).low_u64() as u16 as i16);
        let expected = (0..16).rev().map(|k| {
            let sum = lane(&x, 2 * k) * lane(&y, 2 * k) + lane(&x, 2 * k + 1) * lane(&y, 2 * k + 1);
            Bits::from_i128(32, i128::from(sum))
        });
        let expected = expected
            .reduce(|hi, lo| hi.concat(&lo))
            .expect("sixteen lanes");
        assert_eq!(
            program.run(&[Value::Bv(x), Value::Bv(y)]),
            [Value::Bv(expected)]
        );
    }
}

#[test]
fn a_batch_equals_single_runs() {
    let program = CompiledTerms::of(madd());
    let mut random = Random::new(4);
    let inputs: Vec<[Value; 2]> = (0..7)
        .map(|_| {
            [
                Value::Bv(edgy_bits(&mut random, 512)),
                Value::Bv(edgy_bits(&mut random, 512)),
            ]
        })
        .collect();
    let mut frame = program.frame(7);
    for (lane, values) in inputs.iter().enumerate() {
        program.set(&mut frame, 0, lane, &values[0]);
        program.set(&mut frame, 1, lane, &values[1]);
    }
    for _ in 0..2 {
        program.execute(&mut frame);
        for (lane, values) in inputs.iter().enumerate() {
            assert_eq!([program.get(&frame, 0, lane)], *program.run(values));
        }
    }
}

#[test]
fn folds_iterate() {
    let x = Term::var("x", Sort::Bv(32));
    let acc = Term::bound(0, Sort::Bv(8));
    let lo = b::int_mul(Term::bound(1, Sort::Int), Term::int(8));
    let sum = b::fold(4, b::zero(8), b::add(acc, b::extract_at(x, lo, 8)));
    let value = Value::Bv(Bits::from_u64(32, 0x0102_0304));
    assert_eq!(
        CompiledTerms::of(sum).run(&[value]),
        [Value::Bv(Bits::from_u64(8, 10))]
    );
}

#[test]
fn a_free_variable_that_is_no_input_is_refused() {
    let t = b::add(Term::var("x", Sort::Bv(8)), Term::var("y", Sort::Bv(8)));
    let inputs = [Input {
        name: "x".to_owned(),
        sort: Sort::Bv(8),
    }];
    let error = CompiledTerms::compile(&[t], &inputs).expect_err("y is free");
    assert_eq!(error.message, "`y` is not an input");
    let wrong = [
        inputs[0].clone(),
        Input {
            name: "y".to_owned(),
            sort: Sort::Bv(9),
        },
    ];
    let error = CompiledTerms::compile(&[t], &wrong).expect_err("y has another width");
    assert_eq!(error.message, "`y` has sort bv8 here, but bv9 as an input");
}

#[test]
fn a_map_of_wide_elements_extracts_across_rows() {
    let x = Term::var("x", Sort::Bv(300));
    let raw = |lo: i64, w: u32| {
        Term::raw_app(Op::with(OpCode::Extract, w), &[x, Term::int(lo)]).expect("sorts fit")
    };
    let mut random = Random::new(5);
    for (lo, w) in [
        (0, 64),
        (3, 64),
        (60, 64),
        (63, 130),
        (250, 50),
        (250, 60),
        (299, 1),
        (300, 5),
        (-4, 3),
    ] {
        let program = CompiledTerms::of(raw(lo, w));
        let bits = edgy_bits(&mut random, 300);
        let expected =
            Op::with(OpCode::Extract, w).eval(&[Value::Bv(bits.clone()), Value::Int(lo)]);
        assert_eq!(program.run(&[Value::Bv(bits)]), [expected], "{lo} {w}");
    }
}

/// The value of a term as the compiled program gives it.
fn run(t: Term, values: &BTreeMap<String, Value>) -> Value {
    let program = CompiledTerms::of(t);
    let inputs: Vec<Value> = program
        .inputs()
        .iter()
        .map(|i| values[&i.name].clone())
        .collect();
    program.run(&inputs).swap_remove(0)
}

/// Unrolling, simplifying and compiling together keep the meaning of random rolled terms.
#[test]
fn programs_of_random_terms_equal_the_definition() {
    for seed in 100..160 {
        let mut terms = Terms::raw(seed);
        for _ in 0..30 {
            let t = terms.term();
            for _ in 0..6 {
                let values = random_inputs(&mut terms.random);
                let expected = value_of(t, &values, &mut Vec::new());
                assert_eq!(run(t, &values), expected, "{t:#}\n{values:?}");
                assert_eq!(
                    value_of(unroll(t), &values, &mut Vec::new()),
                    expected,
                    "{t:#}"
                );
            }
        }
    }
}

/// The same for terms that are built by the simplifying constructors throughout.
#[test]
fn simplifying_constructors_keep_the_meaning() {
    for seed in 200..400 {
        let mut raw = Terms::raw(seed);
        for _ in 0..30 {
            let t = raw.term();
            let simple = simplified(t, raw.random.next_bits());
            for _ in 0..6 {
                let values = random_inputs(&mut raw.random);
                let expected = value_of(t, &values, &mut Vec::new());
                let found = value_of(simple, &values, &mut Vec::new());
                assert_eq!(found, expected, "{t:#}\n{simple:#}\n{values:?}");
            }
        }
    }
}

/// A term rebuilt from its leaves by the simplifying constructors, save for subterms left
/// as they are (chosen by `keep`), so that the rules also meet terms in no normal form.
fn simplified(t: Term, keep: u64) -> Term {
    if t.structural_hash().wrapping_mul(keep | 1) >> 60 == 0 {
        return t;
    }
    match t.kind() {
        Kind::App { op, args } => {
            let args: Vec<Term> = args.iter().map(|&a| simplified(a, keep)).collect();
            b::app(*op, &args)
        }
        Kind::Map { count, body } => b::map(*count, simplified(*body, keep)),
        Kind::Fold { count, init, body } => {
            b::fold(*count, simplified(*init, keep), simplified(*body, keep))
        }
        _ => t,
    }
}

#[test]
fn gathering_at_an_index_equals_the_table() {
    let mut random = Random::new(6);
    for (code, size, width) in [
        (OpCode::Elem, 8, 200),
        (OpCode::Elem, 24, 200),
        (OpCode::Elem, 64, 512),
        (OpCode::Slice, 8, 130),
        (OpCode::Slice, 64, 200),
        (OpCode::Slice, 33, 64),
    ] {
        let op = Op::with(code, size);
        let (x, at) = (Term::var("x", Sort::Bv(width)), Term::var("y", Sort::Bv(8)));
        let program = CompiledTerms::of(Term::raw_app(op, &[x, at]).expect("sorts fit"));
        for k in 0..256 {
            let values = [
                any_value(&mut random, Sort::Bv(width)),
                Value::Bv(Bits::from_u64(8, k)),
            ];
            assert_eq!(program.run(&values), [op.eval(&values)], "{op} {k}");
        }
    }
}

#[test]
fn memory_is_little_endian_and_wraps() {
    let (m, at) = (Term::var("m", Sort::Mem), Term::var("at", Sort::Bv(64)));
    let x = Term::var("x", Sort::Bv(32));
    let written = b::write(m, at, x);
    let next = b::add(at, Term::bv(64, 1));
    let inputs = ["m", "at", "x"].map(|n| n.to_owned());
    let inputs: Vec<Input> = inputs
        .into_iter()
        .zip([Sort::Mem, Sort::Bv(64), Sort::Bv(32)])
        .map(|(name, sort)| Input { name, sort })
        .collect();
    let outputs = [b::read(written, next, 4), written, b::eq(written, m)];
    let program = CompiledTerms::compile(&outputs, &inputs).expect("all variables are inputs");
    let memory = Memory {
        bytes: [(1, 0xaa)].into(),
        fill: 0x55,
    };
    let values = [
        Value::Mem(memory.clone()),
        Value::Bv(Bits::from_i128(64, -2)),
        Value::Bv(Bits::from_u64(32, 0xaa44_3322)),
    ];
    let found = program.run(&values);
    assert_eq!(found[0], Value::Bv(Bits::from_u64(32, 0x55aa_4433)));
    let Value::Mem(after) = &found[1] else {
        panic!("the second output is a memory")
    };
    assert_eq!(after.read(u64::MAX - 1, 4), [0x22, 0x33, 0x44, 0xaa]);
    assert_eq!(found[2], Value::Bool(false));
    let mut same = memory.clone();
    same.write(7, &[0x55]);
    assert_eq!(same, memory, "writing what was there changes nothing");
}

/// A function of a library is never given a value, not even on constants.
#[test]
fn functions_of_libraries_have_no_value() {
    let sine = Op::with2(
        OpCode::FLibrary,
        2,
        crate::float::library::number("sin").expect("known"),
    );
    let constant = b::app(sine, &[Term::bv(32, 0)]);
    assert_eq!(constant.to_string(), "(f_library[f32,sin] 0x00000000:32)");
    let refused = CompiledTerms::compile(&[constant], &[]).expect_err("there is no value");
    assert_eq!(refused.message, "a function of a library has no value here");
    let two = sine
        .sort(&[Sort::Bv(32), Sort::Bv(32)])
        .expect_err("sin takes one");
    assert_eq!(two, "`sin` takes 1 arguments, not 2");
}
