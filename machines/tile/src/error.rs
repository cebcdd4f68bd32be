//! What is in the way of a mapping.
//!
//! In: a place in a kernel, what is wrong, how to mend it. Out: [`MappingError`], and of it the
//! diagnostic that a user reads. How much it says is a [`Detail`], so that of several errors about
//! one block the clearest is told.

use kernel::index::Symbol;
use kernel::tree::Kernel;
use semantics::diagnostic::Diagnostic;
use semantics::span::Span;
use std::collections::BTreeMap;

/// Why something of a kernel cannot be mapped.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MappingError {
    /// Why.
    pub message: String,
    /// Where; the default span for the whole kernel.
    pub span: Span,
    /// How to mend it.
    pub hint: String,
    /// How much this says.
    pub detail: Detail,
}

/// How much an error says of its block.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Detail {
    /// It is not what the host can do.
    NotForHost,
    /// It has another size than a tile.
    Size,
    /// Something else about it.
    Cause,
    /// The host has nothing that computes it.
    Lacking,
}

impl MappingError {
    pub(crate) fn new(
        span: Span,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> MappingError {
        MappingError {
            message: message.into(),
            span,
            hint: hint.into(),
            detail: Detail::Cause,
        }
    }

    /// The first of what is wrong with a kernel.
    pub(crate) fn of(kernel: &Kernel, wrong: &[Diagnostic]) -> MappingError {
        let first = wrong.first().cloned();
        let hint = first.as_ref().and_then(|w| w.hint.clone());
        let message = first.map(|w| w.message).unwrap_or_default();
        MappingError::new(kernel.span, message, hint.unwrap_or_default())
    }

    /// One that says only so much.
    pub(crate) fn saying(self, detail: Detail) -> MappingError {
        MappingError { detail, ..self }
    }

    /// What a user reads, at its place in the kernel.
    pub(crate) fn reported(self, kernel: &Kernel) -> Vec<Diagnostic> {
        let place = match self.span == Span::default() {
            true => kernel.span,
            false => self.span,
        };
        let diagnostic = Diagnostic::error(self.message).at(&kernel.source, place);
        vec![diagnostic.hint(self.hint)]
    }
}

/// Whether what a kernel requires holds for sizes.
pub(crate) fn preconditions(
    kernel: &Kernel,
    sizes: &BTreeMap<Symbol, i64>,
) -> Result<(), MappingError> {
    let value = |s: Symbol| sizes.get(&s).copied().unwrap_or(0);
    let broken = kernel.requires.iter().find(|c| !c.holds(&value));
    broken.map_or(Ok(()), |broken| {
        let message = "this precondition does not hold for these sizes";
        let hint = "take sizes for which it holds, or pad the arrays to such sizes";
        Err(MappingError::new(broken.span, message, hint))
    })
}
