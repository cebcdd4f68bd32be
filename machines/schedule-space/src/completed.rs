//! Schedules that are begun by hand, and completed.
//!
//! In: a space, the directives beside a kernel, what each of them decides. Out: the candidate in
//! which they are decided and the rest is open, or the directive that is wrong. What a directive
//! means is the space's.

use autosched::space::{Candidate, Emptied, Space};
use kernel::ast::Directive;
use kernel::tree::Kernel;
use semantics::diagnostic::Diagnostic;

/// What a directive makes of a candidate; nothing when it is no choice.
pub(crate) type Decides<'a> =
    dyn Fn(&Candidate, &[&str]) -> Option<Result<Candidate, Emptied>> + 'a;

/// The candidate in which everything is as directives say.
///
/// # Errors
/// A directive that is no choice, told with `hint`, or that leaves no candidate; what `empty` says
/// of a space without any.
pub(crate) fn completed(
    kernel: &Kernel,
    space: &Space,
    directives: &[Directive],
    hint: &str,
    empty: &dyn Fn(&Emptied) -> Diagnostic,
    decides: &Decides,
) -> Result<Candidate, Diagnostic> {
    let told = |message: String, directive: &Directive, hint: &str| {
        let diagnostic = Diagnostic::error(message).at(&kernel.source, directive.span);
        diagnostic.hint(hint)
    };
    let mut candidate = space.start().map_err(|emptied| empty(&emptied))?;
    for directive in directives {
        let words: Vec<&str> = directive.words.iter().map(|w| w.name.as_str()).collect();
        let Some(next) = decides(&candidate, &words) else {
            let message = format!("`{}` is no choice of this search", words.join(" "));
            return Err(told(message, directive, hint));
        };
        candidate = next.map_err(|emptied| {
            let message = format!("this leaves no schedule: {emptied}");
            told(message, directive, "leave it out, and it is chosen")
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
