//! Scripts and the reading of answers; the solver itself is tried in the crate's `tests/`.

use super::answer::{Status, model, question, status};
use super::*;
use semantics::build as b;
use semantics::sort::Sort;
use semantics::term::Term;

fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

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
fn answers_must_be_one_word() {
    assert_eq!(status(&lines("sat")), Ok(Status::Sat));
    assert_eq!(status(&lines("unsat\n")), Ok(Status::Unsat));
    for bad in [
        "",
        "unsatisfiable",
        "unsat sat",
        "sat\nunsat",
        "(error \"no\")",
        "Unsat",
    ] {
        assert!(status(&lines(bad)).is_err(), "{bad}");
    }
}

#[test]
fn models_are_read_in_every_notation() {
    let script = example();
    let asked = question(&script).expect("there are variables");
    assert_eq!(
        asked,
        "(get-value ((select v0 v1) (select v0 t2) v1 v2 v1 t2))\n"
    );
    let answer = "(((select v0 v1) #x02) ((select v0 t2) #b00000000)\n (v1 (_ bv16 64)) (v2 true)\n (v1 #x0000000000000010) (t2 #x0000000000000011))";
    let found = model(&script, &lines(answer)).expect("it is well formed");
    assert_eq!(found["x"].bits().to_u64(), Some(16));
    assert!(found["p"].truth());
    let semantics::value::Value::Mem(memory) = &found["m"] else {
        panic!("a memory")
    };
    assert_eq!(
        memory
            .bytes
            .iter()
            .map(|(a, b)| (*a, *b))
            .collect::<Vec<_>>(),
        [(16, 2), (17, 0)]
    );
}

#[test]
fn damaged_models_are_errors() {
    let script = example();
    for bad in [
        "",
        "(",
        "sat",
        "((v0 #x0))",
        "((v0 #xzz) (t2 #b0))",
        "(error \"model is not available\")",
    ] {
        assert!(model(&script, &lines(bad)).is_err(), "{bad}");
    }
}
