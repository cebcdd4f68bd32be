//! Terms and their sorts, and conversations with solvers that do as they should and that do not.

use crate::conversation::{Answer, Conversation};
use crate::expression::Expression;
use crate::function::Function;
use semantics::sort::Sort;
use std::path::PathBuf;
use std::time::Duration;
use test_support::need;

fn names() -> Vec<(String, Sort)> {
    let of = |name: &str, sort| (name.to_owned(), sort);
    vec![
        of("x", Sort::Bv(8)),
        of("y", Sort::Bv(8)),
        of("p", Sort::Bool),
        of("m", Sort::Mem),
        of("at", Sort::Bv(64)),
    ]
}

fn read(text: &str) -> Result<Expression, String> {
    Expression::read(text, &names())
}

#[test]
fn what_is_read_has_the_sort_that_smt_lib_gives_it() {
    for (text, sort) in [
        ("x", Sort::Bv(8)),
        ("(bvadd x y x)", Sort::Bv(8)),
        ("(concat x (concat y #b101))", Sort::Bv(19)),
        ("((_ extract 6 2) x)", Sort::Bv(5)),
        ("((_ sign_extend 3) ((_ extract 0 0) x))", Sort::Bv(4)),
        ("(ite p x y)", Sort::Bv(8)),
        ("(and p (not p) (distinct x y))", Sort::Bool),
        ("(select (store m at x) at)", Sort::Bv(8)),
        ("(ite (= m m) m m)", Sort::Mem),
    ] {
        let found = read(text).unwrap_or_else(|wrong| panic!("{text}: {wrong}"));
        assert_eq!((found.sort(), found.to_string().as_str()), (sort, text));
    }
}

#[test]
fn what_has_no_sort_is_refused_before_a_solver_hears_of_it() {
    for text in [
        "",
        "(",
        ")",
        "()",
        "(x)",
        "(bvadd x)",
        "(bvadd x at)",
        "(bvadd x p)",
        "(bvsub x y x)",
        "(ite x x y)",
        "(ite p x p)",
        "(and p x)",
        "(not x)",
        "(concat x p)",
        "(= x p)",
        "(= x)",
        "((_ extract 8 0) x)",
        "((_ extract 0 1) x)",
        "((_ extract 1) x)",
        "((_ zero_extend 4294967295) x)",
        "(select m x)",
        "(store m at at)",
        "(bvfrob x y)",
        "z",
        "#b",
        "#b2",
        "(bvnot x) x",
        "((bvnot) x)",
        "((_ repeat 0) x)",
        "(let ((z x)) z)",
    ] {
        assert!(read(text).is_err(), "{text}: {:?}", read(text));
    }
    let index = Function::declared("i", Vec::new(), Sort::Int);
    assert!(index.is_err());
    let twice = vec![("a".to_owned(), Sort::Bv(8))];
    let twice = Function::defined("twice", twice, read("(bvadd x x)").expect("it has a sort"));
    let twice = twice.expect("bytes");
    let of = |text: &str| twice.call(vec![read(text).expect("it has a sort")]);
    assert!(of("x").is_ok_and(|e| e.sort() == Sort::Bv(8)));
    assert!(of("p").is_err() && twice.call(Vec::new()).is_err());
}

/// A solver, and what its process is called with.
fn z3() -> Result<Conversation, String> {
    let path = toolchain::find::z3()?;
    Conversation::start(&path, &["-in".to_owned(), "-smt2".to_owned()], true)
}

fn byte(conversation: &mut Conversation, name: &str) -> Expression {
    let function = Function::declared(name, Vec::new(), Sort::Bv(8)).expect("a byte");
    conversation.introduce(&function).expect("it listens");
    function.call(Vec::new()).expect("it takes nothing")
}

#[test]
fn scopes_assumptions_and_models() {
    let mut z3 = need!(z3());
    z3.option(":produce-models", "true").expect("it listens");
    z3.logic("QF_BV").expect("it listens");
    z3.push().expect("it listens");
    let x = byte(&mut z3, "x");
    let is = |text: &str| Expression::read(text, &names()).expect("it has a sort");
    z3.assert(&is("(bvult x #b00000010)")).expect("it listens");
    let [zero, one, two] = ["#b00000000", "#b00000001", "#b00000010"].map(|k| {
        z3.assumption(&is(&format!("(= x {k})")))
            .expect("it listens")
    });
    assert_eq!(z3.check_assuming(&two), Ok(Answer::Unsat));
    assert_eq!(z3.check_assuming(&one), Ok(Answer::Sat));
    let values = z3.values(std::slice::from_ref(&x)).expect("a model");
    assert_eq!(values[0].bits().to_u64(), Some(1));
    z3.drop_assumption(one).expect("it listens");
    assert_eq!(z3.check_assuming(&zero), Ok(Answer::Sat));
    z3.pop().expect("it listens");
    // The scope is gone, and its names.
    z3.push().expect("it listens");
    byte(&mut z3, "x");
    assert_eq!(z3.check(), Ok(Answer::Sat));
    z3.pop().expect("it listens");
    assert!(z3.is_in_step());
    assert!(z3.assert(&x).is_err(), "a byte is no truth value");
    let said = z3.transcript();
    assert!(
        said.contains("(check-sat-assuming (|rsmt2 actlit 2|))\n; <- unsat"),
        "{said}"
    );
    assert!(z3.transcript().is_empty());
}

/// A program that answers every question with a text.
fn saying(text: &str) -> (tempfile::TempDir, PathBuf) {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().expect("there is room");
    let path = folder.path().join("solver");
    let script = format!(
        "#!/bin/sh\nwhile read -r line; do case \"$line\" in\n'(check-sat)') printf '{text}' ;;\nesac; done\n"
    );
    std::fs::write(&path, script).expect("there is room");
    let all = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&path, all).expect("it is ours");
    (folder, path)
}

#[test]
fn who_says_the_same_to_everything_is_not_in_step() {
    for text in [
        "sat\\n",
        "unsat\\n",
        "unsat\\nsat\\n",
        "unsatisfiable\\n",
        "yes\\n",
        "\\n(\\n",
    ] {
        let (_folder, path) = saying(text);
        let started = Conversation::start(&path, &[], false);
        let mut conversation = started.expect("it starts");
        let killer = conversation.killer();
        let watch = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(500));
            killer.kill();
        });
        let _ = conversation.check();
        assert!(!conversation.is_in_step(), "{text}");
        watch.join().expect("it ends");
    }
}
