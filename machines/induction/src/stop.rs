//! Why an execution does not go on as it is.
//!
//! In: whoever meets what is not alike in all iterations. Out: [`Stop`]: how the iterations of a
//! counter are to be cut so that they are, or that nothing is known.

use crate::linear::Counter;

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
    /// It is not known.
    Because(String),
}

impl Stop {
    /// That something is not known.
    pub fn because(reason: impl Into<String>) -> Stop {
        Stop::Because(reason.into())
    }

    /// The reason, for people.
    pub fn reason(&self) -> String {
        match self {
            Stop::Cut(..) | Stop::Group(..) | Stop::Each => {
                "iterations are not alike where they should be".to_owned()
            }
            Stop::First(reason) | Stop::Because(reason) => reason.clone(),
        }
    }
}
