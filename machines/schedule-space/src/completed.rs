//! Schedules that are begun by hand, and completed.
//!
//! In: a space, the directives beside a kernel, what each of them decides. Out: the candidate in
//! which they are decided and the rest is open, or the directive that is wrong. What a directive
//! means is the space's.

use autosched::space::{Candidate, Emptied, Space};
use kernel::tree::Kernel;
use schedule::directive::{Directive, Located};
use semantics::diagnostic::Diagnostic;

/// What a directive makes of a candidate; nothing when it is no choice.
pub(crate) type Decides<'a> =
    dyn Fn(&Candidate, &Directive) -> Option<Result<Candidate, Emptied>> + 'a;

/// The candidate in which everything is as directives say.
///
/// # Errors
/// A directive that is no choice, with `hint`, or that leaves no candidate; what `empty` says
/// of a space without any.
pub(crate) fn completed(
    kernel: &Kernel,
    space: &Space,
    directives: &[Located],
    hint: &str,
    empty: &dyn Fn(&Emptied) -> Diagnostic,
    decides: &Decides,
) -> Result<Candidate, Diagnostic> {
    let wrong = |message: String, located: &Located, hint: &str| {
        let diagnostic = Diagnostic::error(message).at(&kernel.source, located.span);
        diagnostic.hint(hint)
    };
    let mut candidate = space.start().map_err(|emptied| empty(&emptied))?;
    for located in directives {
        let Some(next) = decides(&candidate, &located.directive) else {
            let message = format!("`{}` is no choice of this search", located.directive);
            return Err(wrong(message, located, hint));
        };
        candidate = next.map_err(|emptied| {
            let message = format!("this leaves no schedule: {emptied}");
            wrong(message, located, "leave it out, and it is chosen")
        })?;
    }
    Ok(candidate)
}

/// Why there is no candidate at all.
pub(crate) fn empty(kernel: &Kernel, emptied: &Emptied, hint: &str) -> Diagnostic {
    Diagnostic::error(format!("the search space is empty: {emptied}"))
        .at(&kernel.source, kernel.span)
        .hint(hint)
}
