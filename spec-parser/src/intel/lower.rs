//! The meaning of a body in Intel's notation.
//!
//! In: a signature and its pseudocode. Out: an instruction, or why there is none. The work is
//! done by [`crate::pseudocode::lower`].

#[cfg(test)]
mod tests;

use super::Intel;
use crate::lowering_cache::LoweringCache;
use crate::pseudocode::lower::lower_cached;
use crate::signature::Signature;
use semantics::diagnostic::Diagnostic;
use semantics::instruction::Instruction;
use semantics::span::{Source, Span};

/// The meaning of a body of pseudocode: the range `span` of `source`, undecoded when it is
/// `xml`.
///
/// # Errors
/// What keeps the body from having a meaning, with places in `source`.
pub fn lower_body(
    signature: &Signature,
    source: &Source,
    span: Span,
    xml: bool,
) -> Result<Instruction, Vec<Diagnostic>> {
    lower_cached(
        &Intel,
        signature,
        source,
        span,
        xml,
        &LoweringCache::default(),
    )
}
