//! Times of the queries that are known to defeat solvers.
//!
//! `cargo bench -p smt` prints one line per query: milliseconds with the embedded engine
//! alone, and (with `ISAFORGE_Z3`, or `z3` on the PATH) of the SMT solver on the two terms
//! as they are, without normal forms, elements or evaluation.

#[path = "../tests/queries/mod.rs"]
mod queries;

use semantics::build as b;
use smt::config::{Config, SolverConfig};
use smt::prover::Prover;
use smt::verdict::{Answer, Verdict};
use std::time::{Duration, Instant};
use toolchain::find::z3;

fn main() {
    let prover = Prover::new(Config::default());
    let solver = z3().ok().map(|program| {
        let solver = SolverConfig {
            program,
            time: Duration::from_secs(20),
            ..SolverConfig::named("z3")
        };
        Prover::new(Config {
            solver: Some(solver),
            only_solver: true,
            ..Config::default()
        })
    });
    println!("{:62} {:>9}  {:44} solver alone", "query", "ms", "verdict");
    for query in queries::all() {
        let start = Instant::now();
        let verdict = prover.prove_equal(query.a, query.b);
        let took = start.elapsed();
        let reported = match &verdict {
            Verdict::Proved(evidence) => evidence.to_string(),
            Verdict::Refuted(_) => "refuted".to_owned(),
            Verdict::Unknown(reason) => reason.to_string(),
        };
        let expected = match query.known {
            queries::Known::Different => verdict.is_refuted(),
            queries::Known::NormalForm | queries::Known::Equal => verdict.is_proved(),
        };
        assert!(
            expected,
            "{}, {} elements: {reported}",
            query.name, query.elements
        );
        let alone = solver.as_ref().map_or_else(String::new, |s| raw(s, &query));
        println!(
            "{:62} {:9.2}  {reported:44} {alone}",
            query.name,
            took.as_secs_f64() * 1e3
        );
    }
}

/// The SMT solver on the question as it stands.
fn raw(solver: &Prover, query: &queries::Query) -> String {
    let start = Instant::now();
    let answer = solver.solve_as_written(&[b::negate(b::eq(query.a, query.b))]);
    let reported = match answer {
        Answer::Sat(_) => "different",
        Answer::Unsat(_) => "equal",
        Answer::Unknown(_) => "unknown",
    };
    format!("{reported} {:.2} s", start.elapsed().as_secs_f64())
}
