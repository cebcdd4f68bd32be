//! The embedded engine: bit-blasting into a SAT solver in process.
//!
//! In: flat terms. Out: [`differ`] and [`satisfy`], under limits of conflicts and time. The
//! models that it returns have not been checked: the prover runs them in the interpreter.

mod encode;
mod gates;
mod sat;
mod words;

#[cfg(test)]
mod tests;

use crate::verdict::{Model, Reason};
use encode::Encoder;
use gates::Lit;
use sat::{Outcome, Session};
use semantics::term::Term;
use std::time::Duration;

/// What the engine found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Found {
    /// An assignment.
    Model(Model),
    /// There is none.
    Nothing,
    /// Not decided.
    Unknown(Reason),
}

/// Limits of one question.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Limits {
    /// Conflicts.
    pub(crate) conflicts: u64,
    /// Time.
    pub(crate) time: Duration,
}

/// Looks for an input on which the two terms differ; also says how many conflicts it took.
///
/// Bits are asked from the least significant one up, and each equality found is told to the
/// solver before the next: carries make higher bits depend on lower ones.
pub(crate) fn differ(a: Term, b: Term, limits: Limits) -> (Found, u64) {
    let mut encoder = Encoder::new();
    let words = encoder.word(a).and_then(|x| Ok((x, encoder.word(b)?)));
    let (x, y) = match words {
        Ok(pair) => pair,
        Err(reason) => return (Found::Unknown(reason), 0),
    };
    let differences: Vec<Lit> = x
        .iter()
        .zip(y.iter())
        .map(|(&p, &q)| encoder.gates.xor(p, q))
        .collect();
    let mut session = Session::new(limits.conflicts, limits.time);
    for &condition in &encoder.conditions {
        session.assert(&encoder.gates, condition);
    }
    for difference in differences {
        match session.solve(&encoder.gates, &[difference]) {
            Outcome::Unsat => session.assert(&encoder.gates, !difference),
            other => return (found(&other, &session, &encoder), session.conflicts()),
        }
    }
    (Found::Nothing, session.conflicts())
}

/// Looks for an input that makes every constraint true.
pub(crate) fn satisfy(constraints: &[Term], limits: Limits) -> (Found, u64) {
    let mut encoder = Encoder::new();
    let literals = constraints
        .iter()
        .map(|&c| encoder.truth(c))
        .collect::<Result<Vec<_>, _>>();
    let literals = match literals {
        Ok(literals) => literals,
        Err(reason) => return (Found::Unknown(reason), 0),
    };
    let mut session = Session::new(limits.conflicts, limits.time);
    for &condition in encoder.conditions.iter().chain(&literals) {
        session.assert(&encoder.gates, condition);
    }
    let outcome = session.solve(&encoder.gates, &literals);
    (found(&outcome, &session, &encoder), session.conflicts())
}

fn found(outcome: &Outcome, session: &Session, encoder: &Encoder) -> Found {
    match outcome {
        Outcome::Sat => {
            let values = session.values(&encoder.gates);
            Found::Model(encoder.model(|l| values[l.node()] != l.complemented()))
        }
        Outcome::Unsat => Found::Nothing,
        Outcome::Unknown(reason) => Found::Unknown(reason.clone()),
    }
}
