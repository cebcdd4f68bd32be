//! How a command ended, as the exit code says it.
//!
//! In: the statuses of a command's parts. Out: the worst of them, and its exit code.

use std::process::ExitCode;

/// How a command ended; later ones are worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Status {
    /// All was done.
    Done,
    /// A limit was reached; the report says what was done instead.
    Limited,
    /// A check failed.
    CheckFailed,
    /// The input is wrong.
    WrongInput,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> ExitCode {
        ExitCode::from(match status {
            Status::Done => 0,
            Status::WrongInput => 1,
            Status::CheckFailed => 2,
            Status::Limited => 3,
        })
    }
}
