//! Scripts and the reading of answers; the solver itself is tried in the crate's `tests/`.

use super::answer::{asked, model};
use super::*;
use semantics::build as b;
use semantics::sort::Sort;
use semantics::term::Term;

fn example() -> Script {
    let (x, m) = (Term::var("x", Sort::Bv(64)), Term::var("m", Sort::Mem));
    let read = b::read(m, x, 2);
    script(&[
        b::eq(b::mul(read, read), Term::bv(16, 4)),
        Term::var("p", Sort::Bool),
    ])
    .expect("it can be written")
}

#[test]
fn shared_terms_are_written_once() {
    expect_test::expect![[r#"
        (set-logic QF_ABV)
        (declare-fun v0 () (Array (_ BitVec 64) (_ BitVec 8)))
        (declare-fun v1 () (_ BitVec 64))
        (define-fun t2 () (_ BitVec 64) (bvadd v1 #b0000000000000000000000000000000000000000000000000000000000000001))
        (define-fun t3 () (_ BitVec 16) (concat (select v0 t2) (select v0 v1)))
        (define-fun t4 () (_ BitVec 16) (bvmul t3 t3))
        (define-fun t5 () Bool (= t4 #b0000000000000100))
        (assert t5)
        (declare-fun v2 () Bool)
        (assert v2)
    "#]]
    .assert_eq(&example().text());
}

#[test]
fn models_are_of_what_was_asked() {
    let script = example();
    let terms = asked(&script).expect("there are variables");
    let texts: Vec<String> = terms.iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        ["(select v0 v1)", "(select v0 t2)", "v1", "v2", "v1", "t2"]
    );
    let answers = [
        "#x02",
        "#b00000000",
        "(_ bv16 64)",
        "true",
        "#x0000000000000010",
        "#x0000000000000011",
    ];
    let values = terms.iter().zip(answers);
    let values = values.map(|(term, text)| smtlib::value::read(text, term.sort()));
    let values: Vec<_> = values
        .collect::<Result<_, _>>()
        .expect("they are of these sorts");
    let found = model(&script, values.clone()).expect("they are all");
    assert_eq!(found["x"].bits().to_u64(), Some(16));
    assert!(found["p"].truth());
    let semantics::value::Value::Mem(memory) = &found["m"] else {
        panic!("a memory")
    };
    let bytes: Vec<(u64, u8)> = memory.bytes.iter().map(|(a, b)| (*a, *b)).collect();
    assert_eq!(bytes, [(16, 2), (17, 0)]);
    assert!(model(&script, values[..5].to_vec()).is_err());
}
