//! What the SMT solver is asked and says: agreement, time limits, broken solvers, transcript, cache.

use semantics::build as b;
use semantics::sort::Sort;
use semantics::term::Term;
use smt::config::{Config, SolverConfig};
use smt::prover::Prover;
use smt::verdict::{Answer, Reason, Step, Verdict};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use store::object::Store;
use test_support::need;
use toolchain::find;

fn with(program: PathBuf, time: Duration) -> Config {
    let solver = SolverConfig {
        program,
        time,
        ..SolverConfig::named("z3")
    };
    Config {
        solver: Some(solver),
        only_solver: true,
        samples: 0,
        ..Config::default()
    }
}

/// A program that answers what the test wants.
fn script(folder: &Path, body: &str) -> PathBuf {
    let path = folder.join("fake-solver");
    fs::write(&path, format!("#!/bin/sh\n{body}\n")).expect("the folder can be written");
    let mut rights = fs::metadata(&path).expect("it is there").permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut rights, 0o755);
    fs::set_permissions(&path, rights).expect("it is ours");
    path
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("there is room for temporary files")
}

/// A question that the normal form leaves to an engine, and whether it is so.
fn question(holds: bool) -> (Term, Term) {
    let (x, y) = (Term::var("x", Sort::Bv(16)), Term::var("y", Sort::Bv(16)));
    let sum = b::add(b::xor(x, y), b::shl(b::and(x, y), Term::bv(16, 1)));
    let rare = b::both(
        b::eq(x, Term::bv(16, 0x1234)),
        b::eq(y, Term::bv(16, 0x4321)),
    );
    let other = b::ite(rare, Term::bv(16, 7), b::add(x, y));
    (sum, if holds { b::add(x, y) } else { other })
}

fn ask(prover: &Prover, holds: bool) -> Verdict {
    let (a, c) = question(holds);
    prover.prove_equal(a, c)
}

fn hard() -> (Term, Term) {
    let v = |name| Term::var(name, Sort::Bv(48));
    let square = |t| b::mul(t, t);
    (
        b::urem(square(v("x")), v("y")),
        b::urem(square(b::urem(v("x"), v("y"))), v("y")),
    )
}

#[test]
fn z3_proves_and_refutes() {
    let z3 = need!(find::z3());
    let prover = Prover::new(with(z3, Duration::from_secs(20)));
    let Verdict::Proved(evidence) = ask(&prover, true) else {
        panic!("it holds")
    };
    let Some(Step::Solver(name)) = evidence.elements.keys().next_back() else {
        panic!("{evidence}")
    };
    assert!(
        name.starts_with("z3 4.") || name.starts_with("z3 5."),
        "{name}"
    );
    let Verdict::Refuted(model) = ask(&prover, false) else {
        panic!("it does not hold")
    };
    assert_eq!(model["x"].bits().to_u64(), Some(0x1234));
}

#[test]
fn z3_reads_memory() {
    let z3 = need!(find::z3());
    let prover = Prover::new(with(z3, Duration::from_secs(20)));
    let (m, p) = (Term::var("m", Sort::Mem), Term::var("p", Sort::Bv(64)));
    let next = b::add(p, Term::bv(64, 1));
    let word = b::read(m, p, 2);
    let bytes = b::concat(&[b::read(m, next, 1), b::read(m, p, 1)]);
    assert!(prover.prove_equal(word, bytes).is_proved());
    let written = b::write(m, p, Term::bv(16, 0x1234));
    let verdict = prover.prove_equal(b::read(written, next, 1), b::read(m, next, 1));
    assert!(verdict.is_refuted(), "{verdict:?}");
    let embedded = Prover::new(Config::default());
    assert!(embedded.prove_equal(word, bytes).is_proved());
    assert!(
        embedded
            .prove_equal(b::read(written, next, 1), b::read(m, next, 1))
            .is_refuted()
    );
}

#[test]
fn the_time_limit_holds_and_the_session_goes_on() {
    let z3 = need!(find::z3());
    let prover = Prover::new(with(z3, Duration::from_millis(700)));
    let start = Instant::now();
    let (a, c) = hard();
    let verdict = prover.prove_equal(a, c);
    assert_eq!(verdict, Verdict::Unknown(Reason::TimeLimit(700)));
    assert!(
        start.elapsed() < Duration::from_secs(8),
        "{:?}",
        start.elapsed()
    );
    assert!(ask(&prover, true).is_proved());
}

#[test]
fn a_solver_that_hangs_in_another_process_is_left_behind() {
    let folder = folder();
    let prover = Prover::new(with(
        script(folder.path(), "sleep 30"),
        Duration::from_millis(300),
    ));
    let start = Instant::now();
    assert_eq!(ask(&prover, true), Verdict::Unknown(Reason::TimeLimit(300)));
    assert!(
        start.elapsed() < Duration::from_secs(20),
        "{:?}",
        start.elapsed()
    );
}

#[test]
fn a_solver_that_dies_is_not_believed() {
    let folder = folder();
    for body in ["exit 0", "kill -9 $$", "read line; exit 3"] {
        let prover = Prover::new(with(script(folder.path(), body), Duration::from_secs(5)));
        let verdict = ask(&prover, true);
        assert!(
            matches!(verdict, Verdict::Unknown(Reason::SolverDied(_))),
            "{body}: {verdict:?}"
        );
    }
    let missing = Prover::new(with(
        PathBuf::from("no/such/solver"),
        Duration::from_secs(5),
    ));
    assert!(matches!(
        ask(&missing, true),
        Verdict::Unknown(Reason::SolverDied(_))
    ));
}

/// A fake solver that says something to the first `(check-sat)` after a logic was named, and
/// answers the others, which ask whether it is in step, as it should.
fn answering(check: &str, values: &str) -> String {
    format!(
        "while read -r line; do case \"$line\" in\n\
         '(set-logic'*) asked=yes ;;\n\
         '(reset)') asked= ;;\n\
         '(= mark '*) mark=${{line##* }} ;;\n\
         '(check-sat)') if [ $asked ]; then printf '{check}'; else echo sat; fi ;;\n\
         '(get-value'*) if [ $asked ]; then printf '{values}'; else echo \"((mark $mark)\"; fi ;;\n\
         esac; done"
    )
}

#[test]
fn nonsense_is_not_believed() {
    let folder = folder();
    let cases = [
        ("unsatisfiable\\n", ""),
        ("yes\\n", ""),
        ("unsat\\nsat\\n", ""),
        ("(error \"out of memory\")\\n", ""),
        ("sat\\n", "garbage\\n"),
        ("sat\\n", "((v0 #b0) (v1 #b1))\\n"),
        // well formed, but the terms are equal there
        ("sat\\n", "((v0 #x0000) (v1 #x0000))\\n"),
    ];
    for (check, values) in cases {
        let program = script(folder.path(), &answering(check, values));
        let verdict = ask(&Prover::new(with(program, Duration::from_secs(5))), false);
        assert!(
            matches!(verdict, Verdict::Unknown(Reason::BadAnswer(_))),
            "{check}: {verdict:?}"
        );
    }
    let silent = script(folder.path(), &answering("", ""));
    let verdict = ask(
        &Prover::new(with(silent, Duration::from_millis(300))),
        false,
    );
    assert_eq!(verdict, Verdict::Unknown(Reason::TimeLimit(300)));
    let program = script(folder.path(), &answering("unknown\\n", ""));
    let verdict = ask(&Prover::new(with(program, Duration::from_secs(5))), true);
    assert!(
        matches!(verdict, Verdict::Unknown(Reason::SolverUnknown(_))),
        "{verdict:?}"
    );
}

#[test]
fn the_transcript_holds_both_sides() {
    let folder = folder();
    let path = folder.path().join("transcript.smt2");
    let program = script(folder.path(), &answering("unsat\\n", ""));
    let config = Config {
        transcript: Some(path.clone()),
        ..with(program, Duration::from_secs(5))
    };
    assert!(ask(&Prover::new(config), true).is_proved());
    let text = fs::read_to_string(path).expect("it was written");
    let sent = text.find("(check-sat)").expect("what was sent");
    let received = text.find("; <- unsat").expect("what was received");
    assert!(
        text.contains("(set-logic QF_BV)") && sent < received,
        "{text}"
    );
}

#[test]
fn a_transcript_that_cannot_be_written_is_told() {
    let config = Config {
        transcript: Some("no/such/folder/t".into()),
        ..with("z3".into(), Duration::from_secs(1))
    };
    let prover = Prover::new(config);
    assert!(
        prover.problems()[0].message.contains("transcript"),
        "{:?}",
        prover.problems()
    );
}

fn cached(path: &Path) -> Prover {
    Prover::new(Config {
        cache: Some(Store::at(path)),
        samples: 0,
        ..Config::default()
    })
}

#[test]
fn the_cache_answers_across_runs_with_checked_models() {
    let folder = folder();
    let path = folder.path().join("cache");
    let first = (ask(&cached(&path), true), ask(&cached(&path), false));
    assert!(first.0.is_proved() && first.1.is_refuted(), "{first:?}");
    let again = cached(&path);
    let Verdict::Proved(evidence) = ask(&again, true) else {
        panic!("it holds")
    };
    assert_eq!((evidence.cached, evidence.conflicts), (1, 0));
    assert_eq!(ask(&again, false), first.1);
    assert!(again.problems().is_empty());
    assert_eq!(
        objects(&path).len(),
        2,
        "one for each prover that found something"
    );
}

#[test]
fn a_search_asks_with_few_conflicts_and_no_solver() {
    let folder = folder();
    let asked = folder.path().join("asked");
    let says = format!("touch {}; echo unsat", asked.display());
    let program = script(folder.path(), &says);
    let prover = Prover::new(with(program, Duration::from_secs(20)));
    let (a, c) = hard();
    let verdict = prover.prove_equal_within(a, c, 5);
    assert_eq!(verdict, Verdict::Unknown(Reason::Conflicts(5)));
    assert!(!asked.exists());
    prover.prove_equal(a, c);
    assert!(asked.exists(), "a proof asks the solver");
}

#[test]
fn unknown_is_never_kept() {
    let folder = folder();
    let path = folder.path().join("cache");
    let few = Config {
        cache: Some(Store::at(&path)),
        samples: 0,
        conflicts: 5,
        ..Config::default()
    };
    let (a, c) = hard();
    assert!(matches!(
        Prover::new(few).prove_equal(a, c),
        Verdict::Unknown(_)
    ));
    assert!(objects(&path).is_empty());
}

/// The files that hold answers.
fn objects(path: &Path) -> Vec<PathBuf> {
    let all = fs::read_dir(path.join("proofs"));
    let all = all.map_or(Vec::new(), |all| all.flatten().map(|e| e.path()).collect());
    let whole = |path: &PathBuf| path.extension().is_none();
    all.into_iter().filter(whole).collect()
}

#[test]
fn damaged_caches_are_set_aside() {
    let folder = folder();
    let path = folder.path().join("cache");
    assert!(ask(&cached(&path), true).is_proved());
    let file = objects(&path).remove(0);
    let good = fs::read_to_string(&file).expect("the cache was written");
    let damage = [
        good[..good.len() - 5].to_owned(),
        good.replacen("unsat", "unsas", 1),
        "something else\n".to_owned(),
    ];
    for (k, text) in damage.iter().enumerate() {
        fs::write(&file, text).expect("it is ours");
        let store = Store::at(&path);
        let prover = Prover::new(Config {
            cache: Some(store.clone()),
            samples: 0,
            ..Config::default()
        });
        let Verdict::Proved(evidence) = ask(&prover, true) else {
            panic!("it holds")
        };
        assert_eq!(evidence.cached, 0, "damage {k} is not believed");
        let log = store.problems();
        assert!(
            log.len() == 1 && log[0].message.ends_with("is damaged"),
            "{log:?}"
        );
        drop(prover);
        assert_eq!(
            fs::read_to_string(&file).ok().as_ref(),
            Some(&good),
            "begun anew"
        );
    }
}

#[test]
fn provers_share_a_cache_between_threads() {
    let folder = folder();
    let path = folder.path().join("cache");
    let provers = [cached(&path), cached(&path)];
    std::thread::scope(|scope| {
        for k in 0..8 {
            let prover = &provers[k % 2];
            scope.spawn(move || {
                for w in 4..10 {
                    let (x, y) = (Term::var("x", Sort::Bv(w)), Term::var("y", Sort::Bv(w)));
                    let sum = b::add(b::xor(x, y), b::shl(b::and(x, y), Term::bv(w, 1)));
                    assert!(prover.prove_equal(sum, b::add(x, y)).is_proved());
                }
            });
        }
    });
    assert!(cached(&path).problems().is_empty());
}

#[test]
fn constants_are_solved_for() {
    let x = Term::var("x", Sort::Bv(8));
    let prover = Prover::new(Config::default());
    let constraint = |c: i128| b::eq(b::mul(x, Term::bv(8, 3)), Term::bv(8, c));
    let Answer::Sat(model) = prover.solve(&[constraint(21)]) else {
        panic!("7 does it")
    };
    assert_eq!(model["x"].bits().to_u64(), Some(7));
    assert!(matches!(
        prover.solve(&[constraint(21), b::ult(x, Term::bv(8, 7))]),
        Answer::Unsat(_)
    ));
    assert!(matches!(prover.solve(&[]), Answer::Sat(_)));
}
