//! Two terms that are said to be equal, and what a solver says of them as they stand.
//!
//! In: pairs of terms with the width of an element. Out: [`Outcome`] for each. A result is
//! first asked about whole, which answers for all of its elements, and else element by element.

use crate::session::{Said, Session, SolverProgram};
use raw::question::Question;
use semantics::bits::Bits;
use semantics::eval::{self, Input};
use semantics::sort::Sort;
use semantics::term::Term;
use semantics::value::{Memory, Value};
use std::collections::BTreeMap;
use std::time::Duration;

/// Two terms that are said to be equal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Claim {
    /// The one.
    pub a: Term,
    /// The other.
    pub b: Term,
    /// Bits of an element of theirs.
    pub element: u32,
    /// The bits that matter: first, and after the last; all when there are none.
    pub live: Vec<(u32, u32)>,
}

/// What became of a claim.
#[derive(Clone, PartialEq, Debug)]
pub enum Outcome {
    /// It holds: elements that were answered for, and how many questions that took.
    Holds {
        /// Elements.
        elements: usize,
        /// Questions that the solver answered.
        questions: usize,
    },
    /// It holds: a proof of our own was checked where the solver had no answer.
    Shown {
        /// Elements.
        elements: usize,
    },
    /// It holds by a chain of so many rewrites, the solver answering for each.
    Chained {
        /// Elements.
        elements: usize,
        /// Rewrites, each as often as it is used in one result.
        steps: usize,
    },
    /// It does not, and an input that shows it.
    Fails(BTreeMap<String, Value>),
    /// Some element is not answered for.
    Open {
        /// Elements that are answered for.
        answered: usize,
        /// All elements.
        elements: usize,
        /// Why.
        why: String,
    },
}

impl Outcome {
    /// Whether the claim is known to hold.
    pub fn holds(&self) -> bool {
        !matches!(self, Outcome::Fails(_) | Outcome::Open { .. })
    }
}

/// Whoever asks: one process, started again when it ended.
pub struct Asker {
    program: SolverProgram,
    limit: Duration,
    session: Option<Session>,
}

impl Asker {
    /// Asks that program, which may take so long for each answer.
    pub fn new(program: SolverProgram, limit: Duration) -> Asker {
        Asker {
            program,
            limit,
            session: None,
        }
    }

    /// What the solver says of a claim.
    pub fn ask(&mut self, claim: &Claim) -> Outcome {
        let parts = parts(claim);
        let open = |why| Outcome::Open {
            answered: 0,
            elements: parts.len(),
            why,
        };
        let question = match Question::new(claim.a, claim.b) {
            Ok(question) => question,
            Err(why) => return open(why),
        };
        let outcome = match self.opened(&question) {
            Ok(session) => settle(session, &question, claim, &parts).unwrap_or_else(open),
            Err(why) => open(why),
        };
        let closed = self.session.as_mut().map_or(Ok(()), Session::close);
        match closed {
            Ok(()) => outcome,
            Err(why) => open(why),
        }
    }

    fn opened(&mut self, question: &Question) -> Result<&mut Session, String> {
        if self.session.as_ref().is_none_or(Session::is_over) {
            self.session = Some(Session::start(&self.program, self.limit)?);
        }
        let session = self.session.as_mut().ok_or("no session")?;
        session.open(question)?;
        Ok(session)
    }
}

/// The elements that matter: first bit and width; one for what has no bits.
pub(crate) fn parts(claim: &Claim) -> Vec<(u32, u32)> {
    let Sort::Bv(width) = claim.a.sort() else {
        return vec![(0, 0)];
    };
    let element = claim.element.clamp(1, width);
    let starts = (0..width).step_by(element as usize);
    let elements = starts.map(|lo| (lo, (lo + element).min(width)));
    let inside = |(lo, hi): (u32, u32)| {
        let all = [(0, width)];
        let live = if claim.live.is_empty() {
            &all[..]
        } else {
            &claim.live
        };
        let cut = live
            .iter()
            .map(move |&(from, to)| (lo.max(from), hi.min(to)));
        cut.collect::<Vec<_>>()
    };
    let cut = elements.flat_map(inside).filter(|(lo, hi)| lo < hi);
    cut.map(|(lo, hi)| (lo, hi - lo)).collect()
}

fn settle(
    session: &mut Session,
    question: &Question,
    claim: &Claim,
    parts: &[(u32, u32)],
) -> Result<Outcome, String> {
    let elements = parts.len();
    let whole = claim.live.is_empty() || elements == 1 && question.sort() == Sort::Bool;
    let mut questions = 0;
    let open = |answered, why| Outcome::Open {
        answered,
        elements,
        why,
    };
    if whole {
        questions += 1;
        match session.ask(question, &question.differ()?) {
            Said::Never => {
                return Ok(Outcome::Holds {
                    elements,
                    questions,
                });
            }
            Said::With(values) => return Ok(different(question, claim, &values, elements)),
            Said::Nothing(why) if elements == 1 || session.is_over() => return Ok(open(0, why)),
            Said::Nothing(_) => {}
        }
    }
    for (answered, &(lo, width)) in parts.iter().enumerate() {
        questions += 1;
        match session.ask(question, &question.differ_within(lo, width)?) {
            Said::Never => {}
            Said::With(values) => return Ok(different(question, claim, &values, elements)),
            Said::Nothing(why) => return Ok(open(answered, why)),
        }
    }
    Ok(Outcome::Holds {
        elements,
        questions,
    })
}

/// An input that is said to tell the terms apart, run.
fn different(
    question: &Question,
    claim: &Claim,
    values: &BTreeMap<String, Value>,
    elements: usize,
) -> Outcome {
    let named = question.variables.iter().filter_map(|(name, variable)| {
        let value = values.get(name)?.clone();
        Some((variable.as_var()?.to_owned(), value))
    });
    let input: BTreeMap<String, Value> = named.collect();
    match run(claim, question, &input) {
        Some(true) => Outcome::Fails(input),
        _ => Outcome::Open {
            answered: 0,
            elements,
            why: "an input that is said to tell them apart does not".to_owned(),
        },
    }
}

/// Whether an input tells the terms apart; nothing where they cannot be run.
fn run(claim: &Claim, question: &Question, input: &BTreeMap<String, Value>) -> Option<bool> {
    let inputs = question.variables.iter().filter_map(|(_, variable)| {
        Some(Input {
            name: variable.as_var()?.to_owned(),
            sort: variable.sort(),
        })
    });
    let inputs: Vec<Input> = inputs.collect();
    let program = eval::CompiledTerms::compile(&[claim.a, claim.b], &inputs).ok()?;
    let values = inputs.iter().map(|i| match (input.get(&i.name), i.sort) {
        (Some(value), _) => value.clone(),
        (None, Sort::Mem) => Value::Mem(Memory::default()),
        (None, Sort::Bv(w)) => Value::Bv(Bits::zero(w)),
        (None, Sort::Int) => Value::Int(0),
        (None, Sort::Bool) => Value::Bool(false),
    });
    let found = program.run(&values.collect::<Vec<_>>());
    let (Value::Bv(a), Value::Bv(b)) = (&found[0], &found[1]) else {
        return Some(found[0] != found[1]);
    };
    let parts = parts(claim);
    Some(
        parts
            .iter()
            .any(|&(lo, w)| a.extract(lo, w) != b.extract(lo, w)),
    )
}
