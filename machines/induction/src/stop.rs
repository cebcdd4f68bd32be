//! Why an execution does not go on as it is.
//!
//! In: whoever meets what is not alike in all iterations. Out: [`Stop`]: how the iterations of a
//! counter are to be cut so that they are, or that nothing is known.

use crate::linear::{Counter, Linear};

/// Why something does not go on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stop {
    /// The rounds of a counter below a number, and those from there on, are to be looked at apart.
    Cut(Counter, i64),
    /// The rounds of a counter are to be counted in groups of so many.
    Group(Counter, i64),
    /// The first round is unlike the others.
    First(String),
    /// The rounds, which are few, are to be looked at one by one.
    Each,
    /// How often a loop runs depends on a counter, each of whose rounds is to be looked at by itself.
    Depends(Counter),
    /// It is not known.
    Because(String),
}

impl Stop {
    /// That something is not known.
    pub fn because(reason: impl Into<String>) -> Stop {
        Stop::Because(reason.into())
    }

    /// That a loop runs as often as a number says that is none; other than a counter's it is not
    /// known.
    pub fn depends(on: &Linear) -> Stop {
        match on.terms.last() {
            Some((counter, _)) if on.base.is_none() => Stop::Depends(*counter),
            _ => Stop::because("how often a loop runs is not known"),
        }
    }

    /// The reason, for people.
    pub fn reason(&self) -> String {
        match self {
            Stop::Cut(..) | Stop::Group(..) | Stop::Each => {
                "iterations are not alike where they should be".to_owned()
            }
            Stop::Depends(_) => "how often a loop runs depends on the one around it".to_owned(),
            Stop::First(reason) | Stop::Because(reason) => reason.clone(),
        }
    }
}
