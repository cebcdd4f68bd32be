//! Proofs of equality and solving for unknowns: the one place that orders the steps.
//!
//! In: terms, rolled or flat. Out: [`Verdict`] and [`Answer`]. A question of equality goes:
//! same node, cut into elements, elements that say the same asked once, normal forms,
//! evaluation on edge and random inputs, the embedded engine, the SMT solver. Every model is
//! run in the interpreter before it is believed. It does not search for programs.

use crate::blast::{self, Found};
use crate::config::Config;
use crate::elements::{self, Question};
use crate::normalise;
use crate::sample;
use crate::verdict::{Answer, Evidence, Model, Reason, Step, Verdict};
use semantics::build;
use semantics::term::Term;
use semantics::unroll::unroll;
use semantics::value::Value;
use std::collections::HashMap;

/// Answers questions about terms; shared between threads.
pub struct Prover {
    config: Config,
}

/// A question after the cheap steps.
enum Cheap {
    Settled(Step),
    Different(Model),
    /// Both sides in normal form, for the engines.
    Open(Term, Term),
}

impl Prover {
    /// A prover with these settings.
    pub fn new(config: Config) -> Prover {
        Prover { config }
    }

    /// The settings.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Whether two closed terms of one sort are equal for every input.
    pub fn prove_equal(&self, a: Term, b: Term) -> Verdict {
        self.prove_equal_live(a, b, &[(0, u32::MAX)])
    }

    /// Whether two closed terms of one sort agree on the live bits, for every input.
    ///
    /// `live` holds ranges: the first bit, and the bit after the last. They may reach past
    /// the width. Terms that are not bit vectors are compared whole.
    pub fn prove_equal_live(&self, a: Term, b: Term, live: &[(u32, u32)]) -> Verdict {
        if a.sort() != b.sort() {
            return Verdict::Unknown(Reason::Unsupported(format!(
                "equality of {} and {}",
                a.sort(),
                b.sort()
            )));
        }
        let (a, b) = (unroll(a), unroll(b));
        if a == b {
            return Verdict::Proved(Evidence::of(Step::Identical, 1));
        }
        self.ask_all(a, b, &questions(a, b, live))
    }

    fn ask_all(&self, a: Term, b: Term, questions: &[(Question, usize)]) -> Verdict {
        let mut evidence = Evidence::default();
        let mut open = Vec::new();
        for (question, count) in questions {
            match self.cheap(question) {
                Cheap::Settled(step) => evidence.add(&Evidence::of(step, *count)),
                Cheap::Different(model) => return confirmed(a, b, question, &model),
                Cheap::Open(x, y) => open.push((question, *count, x, y)),
            }
        }
        let mut left = None;
        for (question, count, x, y) in open {
            let (found, step, conflicts) = self.engines(x, y);
            evidence.conflicts += conflicts;
            match found {
                Found::Nothing => evidence.add(&Evidence::of(step, count)),
                Found::Model(model) => match confirmed(a, b, question, &model) {
                    Verdict::Unknown(reason) => left = left.or(Some(reason)),
                    verdict => return verdict,
                },
                Found::Unknown(reason) => left = left.or(Some(reason)),
            }
        }
        left.map_or(Verdict::Proved(evidence), Verdict::Unknown)
    }

    /// Everything that needs no engine.
    fn cheap(&self, question: &Question) -> Cheap {
        let (a, b) = (question.a, question.b);
        if a == b {
            return Cheap::Settled(Step::Identical);
        }
        let (x, y) = normalise::pair(a, b);
        if x == y {
            return Cheap::Settled(Step::NormalForm);
        }
        match sample::find_difference(a, b, self.config.seed, self.config.samples) {
            Some(model) => Cheap::Different(model),
            None => Cheap::Open(x, y),
        }
    }

    fn engines(&self, x: Term, y: Term) -> (Found, Step, u64) {
        let (found, conflicts) = blast::differ(x, y, self.limits());
        (found, Step::Sat, conflicts)
    }

    fn limits(&self) -> blast::Limits {
        blast::Limits {
            conflicts: self.config.conflicts,
            time: self.config.sat_time,
        }
    }

    /// An input that makes every constraint (a truth value) true.
    pub fn solve(&self, constraints: &[Term]) -> Answer {
        let flat: Vec<Term> = constraints
            .iter()
            .map(|&c| normalise::normalise(c))
            .collect();
        let (found, conflicts) = blast::satisfy(&flat, self.limits());
        match found {
            Found::Nothing => Answer::Unsat(Evidence {
                conflicts,
                ..Evidence::of(Step::Sat, 1)
            }),
            Found::Model(model) => {
                let values = sample::evaluate(constraints, &model);
                if values.is_some_and(|v| v.iter().all(|v| *v == Value::Bool(true))) {
                    Answer::Sat(model)
                } else {
                    Answer::Unknown(Reason::BadAnswer(
                        "the model does not satisfy the constraints".to_owned(),
                    ))
                }
            }
            Found::Unknown(reason) => Answer::Unknown(reason),
        }
    }
}

/// The distinct questions about the live pieces, each with the number of its pieces.
fn questions(a: Term, b: Term, live: &[(u32, u32)]) -> Vec<(Question, usize)> {
    let Some(_) = a.sort().width() else {
        return vec![(Question::new(a, b), 1)];
    };
    let pieces = elements::live(&elements::pieces(a, b), live);
    let mut questions: Vec<(Question, usize)> = Vec::new();
    let mut known: HashMap<(Term, Term), usize> = HashMap::new();
    for (lo, width) in pieces {
        let question = Question::new(build::extract(a, lo, width), build::extract(b, lo, width));
        match known.get(&(question.a, question.b)) {
            Some(&at) => questions[at].1 += 1,
            None => {
                known.insert((question.a, question.b), questions.len());
                questions.push((question, 1));
            }
        }
    }
    questions
}

/// A refutation, if the interpreter agrees that the terms differ there.
fn confirmed(a: Term, b: Term, question: &Question, model: &Model) -> Verdict {
    let differs = sample::evaluate(&[question.a, question.b], model).is_some_and(|v| v[0] != v[1]);
    let original = question.original(model);
    let differs = differs && sample::evaluate(&[a, b], &original).is_some_and(|v| v[0] != v[1]);
    if differs {
        Verdict::Refuted(original)
    } else {
        Verdict::Unknown(Reason::BadAnswer(
            "the interpreter sees no difference on its model".to_owned(),
        ))
    }
}
